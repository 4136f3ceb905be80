"""What a motion has to obey: the laws, time reversal, and the same motion elsewhere and in other units."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.linalg import eigvalsh
from scipy.spatial.transform import Rotation

import phlexible as ph
from fuzz.case import EQUILIBRIUM, Case
from fuzz.copies import Change, copied
from fuzz.twins import Places, Twin
from laws.figures import center_of_mass_path, energy_scale, joint_gaps, momentum_errors, orthogonality_error
from phlexible.algebra.sparse import as_array
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.description.ports import MovingFrame
from phlexible.state.forces import stiffness_matrix
from phlexible.state.recorded_run import ARRAYS
from phlexible.state.system import moving_frames
from phlexible.step.integration.composition import check_lossless

LIMIT = 1e-10
AT_REST = 1e-6  # of the reach, by which something may creep in a run
UNPREDICTABLE = (
    1e-3  # of the reach: where a kick of 1e-9 grows to more, or an equilibrium is sought, round-off may do so
)
SAVED, RESUMED = 4, 8  # each fourth seed is saved and read, each eighth is resumed from its file
DIFFERENCES = 1e3  # by which starts are worse where rates of paths are differences, in windows of some seconds
UNITS = {
    "millimetres": Change(length=1e3),
    "millimetres and tonnes": Change(length=1e3, mass=1e-3),
    "milliseconds": Change(time=1e3),
    "micrometres, milligrams and milliseconds": Change(length=1e6, mass=1e6, time=1e3),
    "kilometres and minutes": Change(length=1e-3, time=1 / 60),
}


def failures(case: Case, motion: ph.Motion, seed: int) -> Iterator[tuple[str, str]]:
    """What the motion of a case does not obey, and by how much."""
    if seed % SAVED == 1:
        yield from file_failures(motion)
    if seed % RESUMED == 0:
        yield from resume_failures(case, motion)
    for name, error in law_errors(case, motion):
        if not error <= LIMIT:
            yield name, f"{error:.2g} of its scale"
    if motion.halvings[-1]:  # twins halve no steps
        return
    is_at_rest = case.options.get("initial") == EQUILIBRIUM and is_reversible(case, motion)
    if is_at_rest and is_constant(motion, [0.0, *middles(motion)]):
        way = float(np.abs(motion.recording.position - motion.recording.position[0]).max())
        if not way <= AT_REST * motion.run.system.reach:
            yield "rest", f"it moves by {way:.2g} m from its equilibrium"
    twin, here = Twin(case, motion), (motion.recording.position, motion.recording.rotation)
    if is_reversible(case, motion) and not motion.contact_steps[-1]:  # parts are counted at the start of a step
        start = here[0][:-1], here[1][:-1]
        back = twin.there_and_back
        yield from _apart("time reversal", motion, start, back(), lambda: back(is_kicked=True))
    ends, rng = (here[0][1:], here[1][1:]), np.random.default_rng([seed, 2])
    is_timed = bool(
        motion.mechanism.drives or moving_frames(motion.mechanism)
    )  # by differences in windows of seconds
    known = [name for name, change in UNITS.items() if change.time == 1 or not is_timed]
    units = known[rng.integers(len(known))]
    drawn = ("another place", elsewhere(case.model, rng)), (units, UNITS[units])
    changes = case.changes or drawn
    for name, change in [changes[seed % len(changes)]] if case.is_small else changes:
        kicked = (lambda: None) if motion.events else twin.kicked  # which knows of no events
        is_sought = case.options.get("initial") == EQUILIBRIUM
        if is_sought and not case.changes:  # random mechanisms have several equilibria
            continue
        other = changed(case, change)
        if other.halvings[-1]:
            continue
        limit = UNPREDICTABLE if is_sought else LIMIT
        yield from _apart(name, motion, ends, places_seen_back(other, change), kicked, limit)


def file_failures(motion: ph.Motion) -> Iterator[tuple[str, str]]:
    """A file of the motion from which it cannot be read again; errors of reading are raised."""
    with TemporaryDirectory() as folder:
        motion.save(path := Path(folder) / "motion.h5")
        found = ph.Motion.load(path)
    for name in ARRAYS:
        if not np.array_equal(getattr(found.recording, name), getattr(motion.recording, name), equal_nan=True):
            yield "file", f"{name} is read in another way than it was saved"
    if [str(event) for event in found.events] != [str(event) for event in motion.events]:
        yield "file", "its events are not those that were saved"


def resume_failures(case: Case, motion: ph.Motion) -> Iterator[tuple[str, str]]:
    """Digits that differ where the run ends in its middle and is taken up again from a file."""
    half, options = case.steps // 2, {name: case.options[name] for name in case.options if name != "initial"}
    if not half or (case.end is not None and case.end <= half * case.step):
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "motion.h5"
        replace(case, model=case.placed, steps=half, is_assembled=False).run().save(path)
        whole = case.placed.resume(path, case.steps * case.step, case.step, stop=case.stop, **options)
    for name in ARRAYS:
        if not np.array_equal(getattr(whole.recording, name), getattr(motion.recording, name), equal_nan=True):
            yield "resume", f"{name} of a run that was resumed is another"


def law_errors(case: Case, motion: ph.Motion) -> Iterator[tuple[str, float]]:
    """Dimensionless errors of the laws that hold for the motion."""
    reach = motion.run.system.reach
    extent = max(reach, float(np.abs(motion.recording.position).max()))
    mass = sum(placed.data.mass for placed in motion.mechanism.bodies)
    yield "energy balance", balance_error(motion)
    yield "joints", max(joint_gaps(motion)) / (extent / reach)
    yield "rotations", orthogonality_error(motion)
    model, path = motion.mechanism, center_of_mass_path(motion)
    momenta = motion.momentum.linear
    if case.options.get("order", 2) == 2 and not motion.halvings[-1]:
        way = np.diff(motion.time)[:, None] * (momenta[1:] + momenta[:-1]) / 2 / mass
        whole = np.diff(motion.contact_steps) == 0  # steps around contacts are taken in parts
        whole &= case.end is None or motion.time[1:] < case.end - case.step  # where the end is found
        for event in motion.events:  # and those with a lock or a release in them
            whole &= (motion.time[1:] < event.time - case.step) | (motion.time[:-1] > event.time + case.step)
        missed = np.abs(np.diff(path, axis=0) - way)[whole]
        yield "way of the centre of mass", float(missed.max(initial=0.0)) / extent
    if is_free(model):
        time = motion.time[:, None]
        flight = path[0] + time * momenta[0] / mass + time**2 / 2 * model.gravity
        yield "flight of the centre of mass", float(np.abs(path - flight).max()) / extent
        linear, angular = momentum_errors(motion, creep=AT_REST * reach / float(motion.time[-1]))
        yield "momentum", float(linear)
        if not model.gravity.any():
            yield "angular momentum", float(angular)


def balance_error(motion: ph.Motion) -> float:
    """Of the energy, relative to what is in it, what creeps and round-off."""
    system, duration = motion.run.system, float(motion.time[-1])
    extent = max(system.reach, float(np.abs(motion.recording.position).max()))
    mass = sum(placed.data.mass for placed in motion.mechanism.bodies)
    scale = energy_scale(motion) + mass * (AT_REST * system.reach / duration) ** 2
    rounded = _round_off_of_rods(motion) + _round_off_of_work(motion, extent) + _round_off_of_places(motion, extent)
    scale += rounded / LIMIT
    return float(np.abs(motion.energy.balance_error).max()) / scale


def _round_off_of_rods(motion: ph.Motion) -> float:
    """Strains of rods are stretches less 1: round-off of these does work with the forces in stiff rods [J]."""
    rods = [each.handle.body for each in motion.mechanism.rods]
    stiffness = sum(float(rod.stiffness_at(np.zeros(1)).max()) * rod.length for rod in rods)
    force = np.sqrt(2 * float(motion.energy.strain.max(initial=0.0)) * stiffness)
    return float(np.finfo(float).eps * force * len(motion.time))


def _round_off_of_places(motion: ph.Motion, extent: float) -> float:
    """Energies that the last digits of places give to the fastest vibration of each body, in each iteration [J]."""
    run, digit = motion.run, float(np.finfo(float).eps) * extent
    stiffness = 0.0
    for index, placed in enumerate(run.system.bodies):
        eta, first = run.elastic(index)[0], -placed.data.elastic_count
        if first:
            mass = as_array(run.system.body_mass(run.recording.state(0), index))[first:, first:]
            rigidity = as_array(stiffness_matrix(placed.data, eta))[first:, first:]
            stiffness += placed.data.mass * float(eigvalsh(rigidity, mass)[-1])
    return int(motion.recording.iterations[-1]) * stiffness * digit**2


def _round_off_of_work(motion: ph.Motion, extent: float) -> float:
    """Weights and loads act over differences of places, which are round numbers of the reach [J]."""
    model, times = motion.mechanism, motion.time
    force = sum(placed.data.mass for placed in model.bodies) * float(np.linalg.norm(model.gravity))
    for load in model.loads:
        force += sum(float(np.linalg.norm(entry.at_time(float(times[-1])))) for entry in load.entries())
    return float(np.finfo(float).eps * force * extent * len(times))


def is_free(model: ph.Model) -> bool:
    ports = [port for joint in model.joints for port in (joint.first, joint.second)]
    ports += [port for part in (*model.elements, *model.relations) for port in part.ports]
    return not model.loads and not any(isinstance(port, MovingFrame) for port in ports)


def is_reversible(case: Case, motion: ph.Motion) -> bool:
    """Whether nothing is lost and nothing but the state depends on time."""
    model = motion.mechanism
    if case.options.get("numerical_damping") or model.drives or moving_frames(model) or motion.events:
        return False
    if any(callable(each.value) or getattr(each, "path", None) is not None for each in model.elements):
        return False
    try:
        check_lossless(model, 0.0)
    except ph.ModelError:
        return False
    return is_constant(motion, middles(motion))


def middles(motion: ph.Motion) -> list[float]:
    """Times in the middle of steps, where loads are asked."""
    return [float(time) for time in (motion.time[1:] + motion.time[:-1]) / 2]


def is_constant(motion: ph.Motion, times: list[float]) -> bool:
    entries = [entry for load in motion.mechanism.loads for entry in load.entries()]
    return all(np.ptp([entry.at_time(time) for time in times], axis=0).max() == 0 for entry in entries)


def elsewhere(model: ph.Model, rng: np.random.Generator) -> Change:
    """A turn and a shift of the whole scene; by right angles where there are bushings, with axes of the world."""
    space = model.dimension == 3
    if any(isinstance(element, ph.Bushing) for element in model.elements):
        right = Rotation.create_group("O")[int(rng.integers(24))] if space else Rotation.from_euler("z", np.pi / 2)
        matrix = np.rint(right.as_matrix())
    else:
        angle = Rotation.from_euler("z", rng.uniform(-np.pi, np.pi))
        matrix = (Rotation.from_quat(rng.normal(size=4)) if space else angle).as_matrix()
    shift = rng.normal(size=3) * (1, 1, space)
    return Change(matrix, shift * max(placed.data.size for placed in model.bodies))


def changed(case: Case, change: Change) -> ph.Motion:
    """The motion after a change of the scene.

    From the same pose: the nearest closed one is known to 1e-5 or so where bodies are nearly free to turn.
    """
    model = copied(case.placed, change)
    step = change.time * case.step
    end = None if case.end is None else change.time * case.end
    other = replace(case, model=model, step=step, is_assembled=False, end=end)
    return other.run()


def places_seen_back(motion: ph.Motion, change: Change) -> Places:
    """Where bodies are at the ends of the steps of a changed scene, in the original one."""
    positions, rotations = motion.recording.position[1:], motion.recording.rotation[1:]
    bodies = [placed.data for placed in motion.run.system.bodies]
    moves = [np.ones(motion.run.system.layout.frames)]  # directors of shells do not move along
    moves += [data.translations for data in bodies if isinstance(data, AbsoluteBody)]
    shift = np.concatenate(moves)[:, None] * change.shift
    return (positions / change.length - shift) @ change.rotation, change.rotation.T @ rotations


def _apart(
    name: str,
    motion: ph.Motion,
    here: Places,
    there: Places | None,
    kicked: Callable[[], Places | None],
    limit: float = LIMIT,
) -> Iterator[tuple[str, str]]:
    """Names a difference beyond round-off and beyond what becomes of a kick of 1e-9."""
    if there is None:
        return
    error = _distance(motion, here, there)
    if error <= limit:
        return
    other = kicked()
    spread = np.inf if other is None else _distance(motion, here, other)
    if motion.mechanism.drives or moving_frames(motion.mechanism):
        spread *= DIFFERENCES
    if not error <= spread and spread < UNPREDICTABLE:
        yield name, f"{error:.2g} of the reach; a kick of 1e-9 moves it by {spread:.2g}"


def _distance(motion: ph.Motion, here: Places, there: Places) -> float:
    reach = max(motion.run.system.reach, float(np.abs(motion.recording.position).max()))
    turns = [data.rotates for data in motion.run.system.frames]
    turned = np.abs(here[1] - there[1])[:, turns].max(initial=0.0)
    return float(max(np.abs(here[0] - there[0]).max() / reach, turned))
