"""Quality of a motion, by balances, joints, lengths of steps and limits of the models (docs/theory.md, 4)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.caching import cached_on_owner
from phlexible.algebra.sparse import as_array, linked_groups, lu_factors, nearest_point
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.beam.strain import Strain, linear_stiffness
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import elastic_mass, undeformed_mass
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.contact_members import Member, signed_distances
from phlexible.description.interactions.force_elements import CoordinateForce
from phlexible.description.interactions.functions import DirectionOf, PointOf
from phlexible.description.interactions.joint_limits import JointStop
from phlexible.description.interactions.loads import Load
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.mechanism.membership import Part, ports_of
from phlexible.description.ports import Attachment, PlacedBody, Port
from phlexible.errors import (
    LargeDeflectionWarning,
    LargeStrainWarning,
    SlackStringWarning,
    StepWarning,
    StiffeningWarning,
)
from phlexible.measure.deformation_limits import large_deflections, large_strains
from phlexible.measure.energy import Energy, energy_of
from phlexible.measure.reactions import slack_parts, sliders_out_of_balance
from phlexible.state.forces import coordinate_row
from phlexible.state.recorded_run import RecordedRun, RecordedStates
from phlexible.state.redundancy import redundancies, redundancy_text
from phlexible.state.system import ScalarForce, System
from phlexible.step.tables.declarations import MOST_PARTS, MemberKind

# Strings whose waves run along an element many times in a step (docs/theory.md, 4).

MANY_TIMES = 1e3
"""Ratio of a step to a wave time, above which a warning comes.

Newton's method has been seen to fail from 1e4 on, with 12 halvings, and rarely.
"""


def wave_time(body: AbsoluteBody) -> float:
    """Return the shortest time [s] that a longitudinal wave takes along one element of an undeformed string
    (``body``). It is the element length over the wave speed, the root of axial stiffness EA over mass per length.
    Elements with viscosity do not count; without other elements it is infinite."""
    shortest = np.inf
    line_density = body.mass / sum(float(group.weights.sum()) for group in body.strains) if body.strains else 0.0
    for group in body.strains:
        if group.viscosity == 0.0:
            slowness = float(np.sqrt(line_density / group.law.modulus))
            spacing = 2.0 / np.abs(group.first).sum(axis=1).max()  # r' is a difference of nodes over it
            shortest = min(shortest, slowness * float(spacing))
    return shortest


def stiff_strings(system: System, step: float) -> list[str]:
    """Return a warning message for each string of a system whose longitudinal waves pass an element more than a
    thousand times in one time step. ``step`` is the time step [s]. The list is empty without such a string."""
    return [
        f"a step is {step / time:.0f} times as long as a wave takes along an element of {placed.name}"
        f" ({time:.2g} s): where the string slackens or is plucked, Newton's method needs many halved steps and"
        " may fail; take a smaller step, or give the string viscosity or less stiffness"
        for placed in system.bodies
        if isinstance(placed.data, AbsoluteBody) and step > MANY_TIMES * (time := wave_time(placed.data))
    ]


# Bodies under gravity that nothing holds, joints that cannot move: a joint that was forgotten, or one too many.


def falling_bodies(run: RecordedRun) -> list[str]:
    """Return a warning message for each group of connected bodies that falls because nothing supports it. All its
    bodies are at rest at the start of the run, and no joint, force element or load acts between the group and the
    ground. The list is empty without gravity."""
    mechanism = run.mechanism
    if not np.any(mechanism.gravity):
        return []
    first = run.at(slice(0, 1)).recording
    at_rest = {
        placed
        for index, placed in enumerate(run.system.bodies)
        if not first.velocity[0, run.system.layout.span(index)].any()
    }
    groups = [group for group in _unsupported_groups(mechanism) if group <= at_rest]
    return [
        f"nothing holds {', '.join(placed.name for placed in mechanism.bodies if placed in group)}: no joint, force"
        " element or load acts between it and the world, and it falls; connect it, or leave out gravity"
        for group in groups
    ]


def redundant_joints(run: RecordedRun) -> list[str]:
    """Return a list with one message about redundant joint constraints at the first instant of a run, and about
    joints that they lock; an empty list if there are none."""
    if not run.has_redundant_joints:
        return []
    state, begin = run.recording.state(0), run.at(slice(0, 1)).instants
    system = run.system.phase(run.recording.locked_at[0]).system
    return [redundancy_text(system, state, redundancies(system, state, begin), begin)]


def _unsupported_groups(mechanism: Mechanism) -> list[set[PlacedBody]]:
    """Return the groups (sets) of bodies that neither the ground, a moving frame nor a load supports. A group is a
    connected component by joints, drives, force elements and rods, or a single body."""
    number = {placed: k for k, placed in enumerate(mechanism.bodies)}
    links = [(set(whole.parts), False) for whole in mechanism.wholes.values()]
    parts: tuple[Part, ...] = (*mechanism.joints, *mechanism.drives, *mechanism.elements, *mechanism.loads)
    links += [_bodies_of_part(part) for part in parts]
    pairs = [(number[a], number[b]) for own, _ in links for a, b in pairwise(own)]
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    labels = linked_groups(ends, len(number))
    groups: dict[int, set[PlacedBody]] = {}
    for placed, label in zip(mechanism.bodies, labels.tolist(), strict=True):
        groups.setdefault(label, set()).add(placed)
    for own, is_held in links:
        for placed in own if is_held else ():
            groups.pop(int(labels[number[placed]]), None)
    return list(groups.values())


def _bodies_of_part(part: Part) -> tuple[set[PlacedBody], bool]:
    """Return the bodies on which ``part`` (joint, element, drive or load) acts, and whether it supports them. It
    does if it is a load, if one of its ports is on the ground, or if it acts on fewer than two bodies."""
    ports = list(ports_of(part))
    own = {port.placed for port in ports if isinstance(port, Attachment)}
    return own, len(own) < 2 or any(not isinstance(port, Attachment) for port in ports) or isinstance(part, Load)


# Dampers and servos that are too strong for the step: the rate that they shall stop swings about zero instead.
#
# A damper d takes a rate down by exp(-d c h) in a step h, where c is the rate that a unit impulse along its
# coordinate gives. Midpoint steps leave (2 - d c h) / (2 + d c h) of it: beyond d c h = 2 with the other sign, far
# beyond for long.

WINDOW = 33  # instants that follow each other, at the start, in the middle and at the end of a run
LEAST_WINDOW = 6
MOST_FORCES = 300  # with dampers; of more none is looked at
TURNS = 2.0  # d c h from which on a rate changes its sign in each step
CLEARLY = 2.0  # times that
SHARE = 0.25  # of the squares of a rate, in what changes its sign from instant to instant
ENERGY = 1e-2  # of the greatest kinetic energy, in that part: less is seen in rates of light parts only
NEGLIGIBLE = 1e-9  # of all energies, and of what weight does over the size of a body


def ringing_dampers(run: RecordedRun) -> list[str]:
    """Return a warning message for each damper or servo of a run that is too strong for the time step. The rate
    that it damps must change its sign at every recorded instant of a window at the start, in the middle or at the
    end. Its damping must be large for the mass that it moves and the interval between instants, and the energy of
    the oscillation not negligible. Dampers of strains, of several rates, or more than 300 are not checked."""
    laws = [each for each in run.system.forces if each.force.damping > 0 and not each.force.is_strain]
    damped = [each for each in laws if not each.force.coordinate.history_variable_count]  # of several rates
    if not damped or len(damped) > MOST_FORCES:
        return []
    record, energy = run.recording, energy_of(run.recording)
    mass = sum(placed.data.mass for placed in run.system.bodies)
    weight = mass * float(np.linalg.norm(run.mechanism.gravity)) * run.system.body_length
    least = max(ENERGY * float(record.kinetic.max()), NEGLIGIBLE * (float(energy.absolute.max()) + weight))
    found: dict[str, str] = {}
    for rows in _instant_windows(record.time):
        part = run.at(rows)
        interval = float(part.recording.time[1] - part.recording.time[0])
        for each, rates in zip(damped, _rates(part, damped).T, strict=True):
            swing = (rates[2:] - 2 * rates[1:-1] + rates[:-2]) / 4
            name = str(each.element)
            if name in found or not _alternates(swing, rates[1:-1]):
                continue
            worst = int(np.argmax(np.abs(swing))) + 1
            compliance, body = _impulse_response(run.system, part, worst, each)
            strength = each.force.damping * compliance
            if strength * interval > CLEARLY * TURNS and swing[worst - 1] ** 2 / (2 * compliance) > least:
                found[name] = _message(each, body, strength, interval, float(part.recording.time[worst]))
    return list(found.values())


def _message(force: ScalarForce, body: str, strength: float, interval: float, time: float) -> str:
    return (
        f"{force.element} damps too strongly for the step: damping over the inertia that it moves, mostly that of"
        f" {body}, is {strength:.3g} 1/s, {strength * interval:.3g} in the {interval:.3g} s between instants;"
        f" beyond {TURNS:g} a decaying rate changes its sign in each step, as near t = {time:.4g} s. Take"
        f" steps of {TURNS / strength:.2g} s or less damping; use a drive, a lock or Fixed to prevent a motion"
    )


def _instant_windows(time: Array) -> Iterator[slice]:
    """Yield slices of 33 consecutive, evenly spaced instants at the start, in the middle and at the end of a
    run. ``time`` are its times [s]."""
    last = len(time)
    for begin in sorted({0, max(0, (last - WINDOW) // 2), max(0, last - WINDOW)}):
        intervals = np.diff(time[begin : begin + WINDOW])
        if len(intervals) >= LEAST_WINDOW and np.ptp(intervals) < 1e-6 * intervals[0]:
            yield slice(begin, begin + WINDOW)


def _rates(run: RecordedRun, forces: Sequence[ScalarForce]) -> Array:
    """Return the rates of the joint coordinates along which the given force elements act, at all instants of a run:
    shape (instants, forces) [rad/s or m/s]."""
    rows = run.system.coordinate_rows([force.force.coordinate for force in forces])
    return rows.rates(run.instants, run.recording.velocity)


def _alternates(swing: Array, rates: Array) -> bool:
    """Return whether a rate changes its sign from each instant to the next, judged by sums over the instants. It
    does if the squares of its alternating part ``swing`` exceed a quarter of the squares of ``rates``. Also,
    products of neighbouring ``swing`` values must be below minus a quarter of the squares of ``swing``."""
    square = float((swing**2).sum())
    changes = float((swing[1:] * swing[:-1]).sum())
    return square > SHARE * float((rates**2).sum()) > 0 and changes < -SHARE * square


def _impulse_response(system: System, run: RecordedRun, instant: int, force: ScalarForce) -> tuple[float, str]:
    """Return the rate of a force element's coordinate (``force``) that a unit impulse along it causes while all
    joints stay closed. It is the inverse effective mass, by a sparse solution at one recorded ``instant`` of a run
    of ``system``. The second result is the name of the body that gets most kinetic energy."""
    own = slice(instant, instant + 1)
    at, state = run.instants.at(own), run.recording.state(instant)
    system = system.phase(run.recording.locked_at[instant]).system
    row = coordinate_row(system, at, force.force.coordinate)[0]
    mass, joints = system.mass(state), sparse.csr_array(system.rows.matrix(at))
    velocities, _ = nearest_point(mass, joints).solve(row)
    momentum = mass @ velocities
    indices = [system.layout.span(index) for index in range(len(system.bodies))]
    shares = [float(velocities[offset] @ momentum[offset]) for offset in indices]
    return float(row @ velocities), system.bodies[int(np.argmax(shares))].name


# Finds runs that went astray because linear strain knows no geometric stiffening (docs/theory.md, 3).

FAR = 0.3  # of a beam's length; small deflections are far below
FAST = 0.3  # of the lowest frequency; slower rotation changes stiffness by less than a tenth


def missing_stiffening(run: RecordedRun) -> list[str]:
    """Return a warning message for each fast spinning beam with linear strain that bent by more than 0.3 of its
    length in a run. Linear strain lacks centrifugal stiffening, which would straighten the beam. The spin until
    then is compared with a multiple of the beam's lowest angular frequency in its frame.

    The centrifugal force pulls a bent beam straight, but only through the square of the slope in its
    strain; without it the same force pushes the beam out, past its lowest frequency without bound
    ((3.7); T. R. Kane, R. R. Ryan, A. K. Banerjee, 1987).
    """
    found = []
    for index, placed in enumerate(run.system.bodies):
        beam = placed.body
        if not isinstance(beam, Beam) or beam.strain is not Strain.LINEAR:
            continue
        away = np.maximum(*(_deflections(run, index, x) for x in (beam.length / 2, beam.length)))
        far = np.flatnonzero(~(away <= FAR * beam.length))
        if not len(far):
            continue
        spins = replace(run, is_projected=False).spin(index)[0]
        spin = float(np.linalg.norm(spins[: far[0] + 1], axis=1).max())
        assert isinstance(placed.data, FloatingBody), "beams have a frame"
        lowest = _lowest_frequency(placed.data)
        if spin > FAST * lowest:
            found.append(
                f"{placed.name} left its axis by {100 * FAR:.0f} % of its length at"
                f" t = {run.recording.time[far[0]]:.4g} s and by {away.max() / beam.length:.3g} lengths at"
                f" most, while it turned at up to {spin:.3g} rad/s (its lowest frequency in its frame is"
                f' {lowest:.3g} rad/s): strain="linear" has no geometric stiffening, so the centrifugal force'
                ' pushes it out instead of pulling it straight; use strain="von_karman"'
            )
    return found


def _deflections(run: RecordedRun, index: int, x: float) -> Array:
    """Return the transverse elastic displacement of the axis point at ``x`` [m] of a beam in its frame. It is given
    at all instants of a run, shape (instants,) [m]. ``index`` is the number of the body."""
    shapes = run.system.bodies[index].at(x).point.shapes[1:]
    return np.asarray(np.linalg.norm(run.elastic(index) @ shapes.T, axis=1))


def _lowest_frequency(data: FloatingBody) -> float:
    """Return the lowest angular natural frequency [rad/s] of a flexible body (``data``) whose frame is fixed. The
    eigenvalue problem of linear stiffness and mass is solved dense or, for sparse matrices, by shift-invert."""
    stiffness, mass = linear_stiffness(data.strain), elastic_mass(data)
    if isinstance(stiffness, np.ndarray):
        from scipy.linalg import eigh

        square = eigh(stiffness, mass, eigvals_only=True, subset_by_index=(0, 0))[0]
    else:
        from scipy.sparse.linalg import eigsh

        square = eigsh(stiffness.tocsc(), 1, sparse.csc_array(mass), sigma=0, return_eigenvectors=False)[0]
    return float(np.sqrt(max(float(square), 0.0)))


# Contacts too stiff for the shortest parts of a step: energy stays exact, the bounce comes late (theory, 8).

LONGEST = 0.3  # step times frequency: a rebound comes 0.023 / omega late


def _contact_coordinates(run: RecordedRun) -> Iterator[tuple[object, CoordinateForce, Array]]:
    """Yield each contact of two and each stop of a run with its force law and the values of its coordinate. These
    are gaps, or joint coordinates, at all recorded instants, shape (instants,) [m or rad]."""
    for number, (element, force) in enumerate(run.system.forces):
        if force.contact is not None:
            theta = run.recording.theta[:, number]
            if isinstance(element, Contact):  # of which none is stored
                theta = run.system.coordinate_rows([force.coordinate]).values(run.instants)[:, 0]
            yield element, force, theta


def sunk_contacts(run: RecordedRun) -> Iterator[str]:
    """Yield a warning message for each contact of two and each stop into which a body sank deep because its
    stiffness was guessed. It was guessed from the weight, and a load or a hard impact presses much deeper."""
    for element, force, theta in _contact_coordinates(run):
        if force.contact is None or not isinstance(element, Contact | JointStop) or not element.guessed_depth:
            continue
        deepest = float((force.contact.side * (force.rest - theta)).max())
        if (times := deepest / element.guessed_depth) > SUNK:
            unit = "rad" if force.coordinate.is_angle else "m"
            yield (
                f"{element} gives way by {deepest:.3g} {unit}, {times:.3g} times as far as under the weight from"
                " which its stiffness was guessed: give the stiffness= of what is pressed there"
            )


def long_contact_steps(run: RecordedRun, step: float) -> list[str]:
    """Return a warning message for each contact or stop of a run that bounced too fast for time steps of the size
    ``step`` [s]. The angular frequency of its spring and effective mass at the deepest penetration is compared
    with the step. The list is empty unless a recorded interval has as many substeps as are allowed.

    If no step had the largest number of substeps, there are none: substeps follow from a bound of the frequency
    (8.23).
    """
    record, messages, reported = run.recording, [], set()
    counts = record.contact_steps
    if counts[-1] - counts[0] < MOST_PARTS or np.diff(counts).max() < MOST_PARTS:
        return []
    for element, force, theta in _contact_coordinates(run):
        contact = force.contact
        if contact is None or element in reported:
            continue
        depth = contact.side * (force.rest - theta)
        deepest = int(np.argmax(depth))
        if not depth[deepest] > 0:
            continue
        state = record.state(deepest)
        row, _ = coordinate_row(run.system, run.instants.at(slice(deepest, deepest + 1)), force.coordinate)
        compliance = row @ lu_factors(run.system.mass(state)).solve(row)
        slope = -contact.force_derivative(float(theta[deepest]), force.rest)
        ratio = step * float(np.sqrt(slope * compliance))
        if ratio > LONGEST * MOST_PARTS:
            reported.add(element)
            messages.append(
                f"the step is {ratio:.2g} times 1/omega of {element}, too long for the {MOST_PARTS} parts that it"
                " is taken in at most: its bounces are late and imprecise, whatever the energy says; take steps of"
                f" {LONGEST * MOST_PARTS / ratio * step:.2g} s"
            )
    return messages


# Finds runs whose steps were too long, or too short, for what moved in them (docs/theory.md, 4).

GREATEST_ERROR = 1e-2  # of a step, (4.22)
SUNK = 300.0  # times the depth under weight from which a stiffness was guessed: 0.3 of the size, or 0.3 rad
ALTERNATING = 0.05  # of the energy
NOTICEABLE = 1e-9  # errors of a step below it are noise
MANY_ITERATIONS = 15  # a step
AT_REST = 1e-6  # energies below this share of the round-off of a step are those of nothing that moves
LOST = 1e-10  # of the energy, in round-off of positions


def long_steps(run: RecordedRun, steps: int | None = None) -> list[str]:
    """Return warning messages about time steps of a run that are too long or too short. Too long: an estimated
    error above 0.01 of the longest body, alternating rates, more than 15 Newton iterations, passed contacts. Too
    short: round-off changes the energy. ``steps`` is the number of time steps; with None only errors, passed
    contacts and damped rates are checked.

    Args:
        steps: number of steps, or of substeps of composed steps, between the first and the last instant; None:
            unknown.
    """
    record, messages = run.recording, []
    worst = int(np.argmax(record.step_error))
    error = float(record.step_error[worst])
    if error > GREATEST_ERROR:
        messages.append(
            f"the steps are too long: near t = {record.time[worst]:.4g} s a step has an error of about {error:.2g} "
            "of the longest body (motion.step_error), though energy is conserved; take smaller steps, or tolerance="
        )
    is_complete = steps is not None and steps + 1 == len(record.time)
    if is_complete and error > NOTICEABLE and (share := alternating_share(run, ALTERNATING)) > ALTERNATING:
        messages.append(
            f"{100 * share:.0f} % of the energy is in elastic rates that change their sign in every step: "
            'vibrations much faster than the step. Start with initial="quasi_static", give viscosity or '
            "numerical_damping, or take a smaller step"
        )
    taken = (steps or 0) + int(record.contact_steps[-1] - record.contact_steps[0])
    if steps and (mean := (record.iterations[-1] - record.iterations[0]) / taken) > MANY_ITERATIONS:
        messages.append(
            f"Newton's method needs {mean:.0f} iterations a step: the steps are too long for the motion, or the "
            "bodies too soft for the loads; take a smaller step"
        )
    if steps:
        messages += long_contact_steps(run, float(record.time[-1] - record.time[0]) / steps)
    if steps and (lost := round_off_energy_share(run, steps, LOST)) > LOST:
        messages.append(
            f"the motion is too slow for such short steps: round-off of positions changes about {lost:.1g} of "
            "its energy; take longer steps, or place the model closer to the origin"
        )
    return [*messages, *passage_warnings(run), *ringing_dampers(run)]


@cached_on_owner
def _stored_energy(run: RecordedRun) -> Array:
    """Return the kinetic energy of a run plus the absolute values of strain and spring energies, shape (instants,)
    [J]."""
    record = run.recording
    return record.kinetic + np.abs(record.strain) + np.abs(record.spring)


def round_off_energy_share(run: RecordedRun, steps: int, least: float = 0.0) -> float:
    """Return an estimate of the share of the energy of a run that numerical round-off of positions adds in all its
    time steps. Round-off enters when joints are closed to the last digit; the share is 0 without joints and at
    rest. If a quick bound from the kinetic energy is at most ``least``, return ``least``."""
    record, system = run.recording, run.system
    duration = float(record.time[-1] - record.time[0])
    if not system.owners or not duration:
        return 0.0
    mass = sum(placed.data.mass for placed in system.bodies)
    digit = float(np.finfo(float).eps * np.abs(record.position).max())
    noise = mass * (digit * steps / duration) ** 2  # of one step
    if steps * noise <= least * float(record.kinetic.max()):
        return least
    stored = _stored_energy(run)
    weight = mass * float(np.linalg.norm(system.mechanism.gravity)) * system.body_length
    given = weight + float(np.abs(record.work).max(axis=0).sum())
    wandered = 4.0 * digit * steps**1.5  # four deviations of what such digits in every step add up to
    stays = float(np.ptp(record.position, axis=0).max(initial=0.0)) <= wandered
    if stored[0] + given <= AT_REST * noise or (record.kinetic[0] <= noise and not given and stays):
        return 0.0
    return steps * noise / (float(stored.max()) + given)


def alternating_share(run: RecordedRun, least: float = 0.0) -> float:
    """Return the share of the energy of a run that is in elastic rates which change their sign in every time step.
    It is computed from second differences of recorded velocities; zero for fewer than three instants. A large
    share shows vibrations faster than the time step. If a quick upper bound is at most ``least``, return the
    bound.

    A hinge or a spring gives the frame a part that alternates against it: what both have together counts where it
    is less. The frame may seem to alternate alone where a body turns by radians in a step.
    """
    record = run.recording
    if len(record.time) < 3 or not record.kinetic.any():
        return 0.0
    found: list[tuple[FloatingBody, FloatingBody, Array, Array]] = []
    for index, body in enumerate(run.system.frames):
        data = run.system.bodies[index].data
        if not isinstance(data, FloatingBody) or not data.elastic_count:
            continue
        own = record.velocity[:, run.system.layout.span(index)]
        bent = _alternating(own[:, data.rigid_count :])
        found.append((data, body, own, np.einsum("ti,ti->t", bent, bent @ elastic_mass(data))))
    moving, most = float(record.kinetic[1:-1].sum()), 0.5 * sum(float(each[-1].sum()) for each in found)
    if most <= least * moving:
        return most / (moving or 1.0)
    total = float(_stored_energy(run)[1:-1].sum())
    wholes = (float(np.minimum(each[-1], _whole_energies(*each)).sum()) for each in found)
    return 0.5 * sum(wholes) / total


def _alternating(values: Array) -> Array:
    """Return the part of recorded ``values`` that changes its sign in every step, a quarter of second differences,
    shape (instants - 2, k)."""
    return (values[:-2] - 2 * values[1:-1] + values[2:]) / 4


def _whole_energies(body: FloatingBody, about_centre: FloatingBody, velocities: Array, elastic: Array) -> Array:
    """Return twice the kinetic energy [J] of the part of a floating body's ``velocities`` that changes its sign at
    every instant. The result has the shape (instants - 2,), ``velocities`` (instants, velocities). ``elastic`` is
    twice the energy of the elastic rates alone [J]. ``about_centre`` is the body with its centre of mass as
    reference point."""
    d, rigid, nu = body.dimension, body.rigid_count, _alternating(velocities)
    velocity, turn, bent = nu[:, :d], nu[:, d:rigid], nu[:, rigid:]
    rows = as_array(undeformed_mass(about_centre)[d:rigid])
    inertia, mixed = rows[:, d:rigid], rows[:, rigid:]
    moved = ((bent @ body.first_moments[:, 1:].T) ** 2).sum(axis=1) / body.mass
    turned = (turn * (turn @ inertia + 2 * bent @ mixed.T)).sum(axis=1)
    return np.asarray(elastic - moved + turned + body.mass * (velocity**2).sum(axis=1))


# Finds runs whose energies do not add up: by far more than the tolerance of steps and round-off leave.

GREATEST_IMBALANCE = 1e-6  # of all energies; 1e-9 and less is what thousands of steps leave
ROUND_OFF = 1e-14  # of the parts that energies are made of, in each iteration of a step


def energy_scale(run: RecordedRun) -> float:
    """Return a scale of energies of a run [J]: largest sum of joint and element forces times moment arms, plus a
    term for rounded positions. Round-off in the energy is 1e-14 of this scale in each iteration of a step."""
    record, system = run.recording.inner, run.system
    reach = system.largest_length + float(np.abs(record.position).max(initial=0.0))
    arms = np.where(system.angle_rows, 1.0, reach)
    joints, forces = np.abs(record.multipliers) @ arms, np.abs(record.forces) * (reach + np.abs(record.theta))
    parts = float((joints + forces.sum(axis=1)).max())
    duration = float(np.ptp(run.recording.time)) or np.inf
    digit = iterations(run.recording) * float(np.finfo(float).eps) * reach / duration  # of places, in a step [m/s]
    mass = sum(placed.data.mass for placed in system.bodies)
    return float(parts + mass * digit**2 / ROUND_OFF)


def iterations(record: RecordedStates) -> int:
    """Return the number of Newton iterations in a whole run, at least one. ``record`` are its recorded states."""
    return max(1, int(record.iterations[-1]))


def balance_faults(run: RecordedRun, scale: float, parts: float) -> list[str]:
    """Return a list with one message if the energy balance of a run is violated, else an empty list. The largest
    balance error may be 1e-6 of ``scale`` (size of the energies), plus 1e-14 of ``parts`` (size of the terms that
    round off) times the number of iterations in the run. All are in joules.

    Args:
        run: run to be checked.
        scale: scale of the energies [J].
        parts: scale of their round-off, see ``energy_scale`` [J].
    """
    record = run.recording
    error = np.abs(energy_of(record).balance_error)
    worst = int(np.argmax(error))
    floor = iterations(record) * ROUND_OFF * parts
    if error[worst] <= GREATEST_IMBALANCE * scale + floor:
        return []
    return [
        f"the energies do not add up: at t = {record.time[worst]:.4g} s {error[worst]:.2g} J are missing or too"
        f" much, {error[worst] / scale:.1g} of all energies, and round-off explains at most {floor:.1g} J; the"
        " motion is not to be trusted: try a shorter step, and please report it"
    ]


@dataclass(frozen=True)
class MotionCheck:
    """Result of the check of a motion: errors of balances and joints, numbers of iterations, and the problems
    found. Printing it gives one line for each.

    Attributes:
        balance_error: error of the energy balance, relative to the energies in it or, where these nearly vanish (a
            body at rest has none), to the amounts whose difference they are.
        joint_gap: greatest gap of a joint or drive, relative to the largest body.
        step_error: greatest estimated error of a step (4.22).
        halvings: steps that were halved.
        iterations: Newton iterations in all.
        findings: problems, the warnings of the run among them, in words; empty where there are none.
    """

    balance_error: float
    joint_gap: float
    step_error: float
    halvings: int
    iterations: int
    findings: tuple[str, ...]

    @property
    def is_clean(self) -> bool:
        """Whether the check of a motion found no problems."""
        return not self.findings

    @property
    def rows(self) -> tuple[tuple[str, str, str], ...]:
        """Name, number and meaning of each figure of this check, as texts for tables."""
        return (
            ("energy balance", f"{self.balance_error:.1e}", "of the energies in it"),
            ("joints", f"{self.joint_gap:.1e}", "greatest gap over the largest body"),
            ("error of a step", f"{self.step_error:.1e}", "greatest estimate, of the longest body"),
            ("Newton iterations", f"{self.iterations}", f"{self.halvings} halved steps"),
        )

    def __str__(self) -> str:
        lines = (f"{name:<17} {value:>9}  {words}" for name, value, words in self.rows)
        return "\n".join([*lines, *(f"- {text}" for text in self.findings or ("no problems found",))])


def energies_in(energy: Energy) -> float:
    """Return a scale of the energies of a run [J]: the largest stored energy (with absolute values of its parts)
    plus the largest absolute work of each load and drive."""
    return float(energy.absolute.max()) + sum(float(np.abs(work).max()) for work in energy.work.values())


def balance_error(run: RecordedRun) -> float:
    """Return the largest error of the energy balance of a run divided by the scale of its energies
    (dimensionless). The scale of round-off (``energy_scale``) is used if it is larger; if both are zero, the error
    itself is returned [J]."""
    energy = energy_of(run.recording)
    return float(np.abs(energy.balance_error).max()) / (max(energies_in(energy), energy_scale(run)) or 1.0)


def findings(run: RecordedRun, steps: int | None = None) -> list[tuple[str, type[Warning]]]:
    """Return all warning messages about a run as pairs of message and warning class. They concern time steps that
    are too long, missing stiffening, large deflections, large strains, and slack strings. ``steps`` is the number
    of time steps of the run, None if it is unknown.

    Args:
        run: run with its recording.
        steps: number of steps, see ``long_steps``.
    """
    texts: dict[type[Warning], list[str]] = {
        StepWarning: long_steps(run, steps),
        StiffeningWarning: missing_stiffening(run),
        LargeDeflectionWarning: [*large_deflections(run), *sunk_contacts(run), *sliders_out_of_balance(run)],
        LargeStrainWarning: large_strains(run),
        SlackStringWarning: [part.text for part in slack_parts(run)],
    }
    return [(text, category) for category, own in texts.items() for text in own]


def motion_check(run: RecordedRun) -> MotionCheck:
    """Return a ``MotionCheck`` of a ``run``. It has the error of the energy balance, the largest joint gap
    relative to the body size (1 for angles), the largest step error, the numbers of halved steps and of Newton
    iterations, and the texts of all problems (empty if there are none)."""
    record, scale, parts = run.recording, energies_in(energy_of(run.recording)), energy_scale(run)
    gaps = np.abs(run.gaps()) / run.system.gap_lengths
    limits = [text for text, _ in findings(run)]
    texts = *run.warnings, *balance_faults(run, scale, parts), *limits, *falling_bodies(run), *redundant_joints(run)
    return MotionCheck(
        balance_error(run),
        float(gaps.max(initial=0.0)),
        float(record.step_error.max()),
        int(record.halvings[-1]),
        int(record.iterations[-1]),
        tuple(dict.fromkeys(texts)),
    )


# Bodies that went through others between two stored instants (docs/theory.md, 8).

STRAIGHT = 0.1  # of a velocity: what touches changes it by more
MOST_PAIRS = 1000  # of a contact are looked at
MOST_PLACES = 200  # along a displacement
AT_ONCE = 100_000  # positions that are looked at together


def passage_warnings(run: RecordedRun) -> list[str]:
    """Return a warning for each contact of a run in which a ball or point went through another body without
    touching it. Passages are sought between neighbouring recorded instants. There is at most one message for each
    contact."""
    if run.count < 2:
        return []
    contacts = [each for each in run.mechanism.elements if isinstance(each, Contact)]
    return [text for contact in contacts if (text := _Crossings(run, contact).message())]


class _Crossings:
    """Search for undetected passages in one contact: members that pass through each other between two stored
    instants.

    Args:
        run: run that is searched.
        contact: contact whose members are searched.
    """

    def __init__(self, run: RecordedRun, contact: Contact) -> None:
        self._run, self._contact = run, contact
        self._members = _members(contact, run.system.dimension)

    def message(self) -> str:
        """Return a warning message about a ball that passed through another shape of this contact between two
        recorded instants without touching it. Pairs are tested in descending order of the ball's displacement, up
        to a fixed number; the first such pair is reported. The text is empty if there is none."""
        for i, j in islice(self._candidates(self._largest_moves()), MOST_PAIRS):
            ball, other = self._members[i], self._members[j]
            x, y = self._positions([ball.start])[:, 0], self._positions([other.start])[:, 0]
            rows = self._passages(ball, other, x, y)
            if len(rows):
                time, row = self._run.recording.time, int(rows[0])
                chord = np.diff((x - y)[row : row + 2], axis=0)
                way, thick = float(np.linalg.norm(chord)), _thickness(ball, other)
                step = float(time[row + 1] - time[row])
                return (
                    f"{self._contact}: {ball.start} passes through {other.start} between t = {time[row]:.6g} s and"
                    f" {time[row + 1]:.6g} s without touching it: it moves by {way:.3g} m, and both together are"
                    f" {thick:.3g} m thick; take steps of {0.25 * thick / way * step:.2g} s, or a thicker body"
                )
        return ""

    def _largest_moves(self) -> Array:
        """Return the largest displacement of each shape of the tested contact (sphere, segment, solid) between two
        neighbouring recorded instants, shape (shapes,) [m]. Only the world position of a shape's start point
        counts, not its rotation. Instants are evaluated in chunks to limit memory."""
        vectors = self._run.system.vectors([PointOf(each.start) for each in self._members])
        moved, count = np.zeros(len(self._members)), max(2, AT_ONCE // len(self._members))
        for begin in range(0, self._run.count - 1, count - 1):
            positions = vectors.values(self._run.instants.at(slice(begin, begin + count)))
            moved = np.maximum(moved, np.linalg.norm(np.diff(positions, axis=0), axis=2).max(axis=0))
        return moved

    def _positions(self, ports: Sequence[Port]) -> Array:
        """Return the world positions of ports (points of bodies or of the ground) at all recorded instants of the
        run, shape (instants, ports, 3) [m]."""
        return np.asarray(self._run.system.vectors([PointOf(port) for port in ports]).values(self._run.instants))

    def _candidates(self, moved: Array) -> Iterator[tuple[int, int]]:
        """Yield pairs of indices (ball, other) of contact shapes on different bodies that may have passed through
        each other, fastest balls (spheres, points) first. ``moved`` [m], shape (shapes,), are the largest
        displacements between two recorded instants. Both together exceed both thicknesses."""
        members = self._members
        balls = [i for i, each in enumerate(members) if not each.kind.is_solid and each.start is each.end]
        thick = np.array([each.thickness if each.kind.is_solid else 2.0 * each.radius for each in members])
        for i in sorted(balls, key=lambda i: -moved[i]):
            for j in np.flatnonzero(moved[i] + moved > thick + 2.0 * members[i].radius).tolist():
                if _can_touch(members[i], members[j]):
                    yield i, j

    def _passages(self, ball: Member, other: Member, x: Array, y: Array) -> IntArray:
        """Return the indices of the recorded instants after which a ball passed through another contact shape
        (``other``) without touching it at either instant. ``x`` and ``y`` are their positions, shape (instants, 3)
        [m]. Relative motion between two instants counts as straight; the distance is sampled at a limited number
        of positions. Intervals with short or clearly bent motion are skipped."""
        ends = y if other.start is other.end else self._positions([other.end])[:, 0]
        relative = x - y
        axes = None
        if other.kind.is_solid and other.axes is not None:
            directions = self._run.system.vectors([DirectionOf(other.start, axis) for axis in other.axes.T])
            axes = directions.values(self._run.instants)
            relative = np.einsum("tij,tj->ti", axes, relative)
        chords = np.diff(relative, axis=0)
        sizes = np.linalg.norm(chords, axis=1)
        rates = chords / np.diff(self._run.recording.time)[:, None]
        turns = np.linalg.norm(np.diff(rates, axis=0), axis=1)
        speeds = np.linalg.norm(rates, axis=1)
        bends = np.zeros(len(chords))
        bends[:-1], bends[1:] = np.maximum(bends[:-1], turns), np.maximum(bends[1:], turns)
        rows = np.flatnonzero((sizes > _thickness(ball, other)) & (bends < STRAIGHT * speeds))
        if not len(rows):
            return rows
        count = min(int(np.ceil(4 * sizes[rows].max() / _thickness(ball, other))), MOST_PLACES)
        shares = np.linspace(0.0, 1.0, count + 1)[:, None, None]
        w = relative[rows] + shares * chords[rows]
        if axes is not None:
            apart = signed_distances(other, w.reshape(-1, 3)).reshape(w.shape[:2]) - ball.radius
        else:
            u = (ends - y)[rows] + shares * np.diff(ends - y, axis=0)[rows]
            square = np.maximum((u * u).sum(axis=2), np.finfo(float).tiny)
            along = np.clip((w * u).sum(axis=2) / square, 0.0, 1.0)
            apart = np.linalg.norm(w - along[:, :, None] * u, axis=2) - ball.radius - other.radius
        return np.asarray(rows[(apart.min(axis=0) < 0) & (apart[0] > 0) & (apart[-1] > 0)])


def _members(contact: Contact, dimension: int) -> tuple[Member, ...]:
    """Return the shapes of a contact (spheres, line segments, solids) whose distance from others this module can
    compute. Rims (circular edges) are left out. ``dimension`` is the number of space dimensions of the model (1, 2
    or 3)."""
    return tuple(member for member in contact.members(dimension) if member.kind is not MemberKind.RIM)


def _thickness(ball: Member, other: Member) -> float:
    """Return the diameter of a ball plus the thickness of another contact shape, ``other`` [m]: of a solid its
    thickness, otherwise twice its radius. A ball that moves further than this between two instants may pass through
    without touching."""
    return 2.0 * ball.radius + (other.thickness if other.kind.is_solid else 2.0 * other.radius)


def _can_touch(ball: Member, other: Member) -> bool:
    """Return whether a ``ball`` and another contact shape (``other``) can touch. They must be on different bodies
    and on opposite sides of the contact, and ``other`` must be solid or one of the radii positive."""
    is_opposed = ball.owner != other.owner and ball.side | other.side == 3
    return is_opposed and (other.kind.is_solid or ball.radius + other.radius > 0)
