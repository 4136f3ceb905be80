"""Finds bodies that deform further than their strain or their elements follow (docs/theory.md, 3 and 8)."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.caching import cached_on_owner
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.beam.mesh import BeamFields
from phlexible.bodies.beam.points import BeamPoints
from phlexible.bodies.flexible.flexible_body import FlexibleBody
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.rod import LARGEST_ACCURATE_ROTATION, LARGEST_ROTATION, excess_bending
from phlexible.bodies.shell.shell import Shell
from phlexible.description.mechanism.wholes import RodInModel
from phlexible.measure.section_forces import rod_forces
from phlexible.state.recorded_run import RecordedRun

INSTANTS = 2000  # at most so many are looked at


def some_instants(run: RecordedRun) -> IntArray:
    """Return the indices of at most 2000 evenly spread recorded instants of a run, at which its quality is
    checked."""
    return np.arange(n) if (n := run.count) <= INSTANTS else np.linspace(0, n - 1, INSTANTS).astype(np.int64)


# Finds beams that bent or stretched further than their strain measure holds (docs/theory.md, 3).

TOGETHER = 4096  # instants of equal beams
GREATEST_SLOPE = 0.2
GREATEST_DEFLECTION = 0.1  # of the length
MOST_PARTS_NAMED = 32  # of a beam, beyond which cutting it is no remedy
GREATEST_STRAIN = 0.1


def large_deflections(run: RecordedRun) -> list[str]:
    """Return warning messages about bodies of a run that deform more than their strain measure allows. For beams
    these are slopes above 0.2 or deflections above a tenth of the length, relative to their frames. Messages of
    meshed bodies, rods and shells follow. At most 2000 instants are checked."""
    found: dict[int, str] = {}
    for beams, time, ratios in _beams_beyond(run, _deflection_ratios):
        slopes, ways = beams.largest(ratios[0]), beams.largest(ratios[1])
        is_far = np.maximum(slopes, ways) > 1
        for k in np.flatnonzero(is_far.any(axis=1)).tolist():
            index, far, beyond = beams.bodies[k], (slopes[k].max(), ways[k].max()), np.flatnonzero(is_far[k])
            parts = int(np.ceil(2 * max(far))) + 1
            name = run.system.bodies[index].name
            remedy = f"cut the beam, model.add(beam.split({parts}), ...), or check its material"
            if parts > MOST_PARTS_NAMED:
                remedy = "check its material (units?), its loads and whether the motion is stable"
            found[index] = (
                f"{name} bends further than small slopes allow, from t = {time[beyond[0]]:.4g} s on: slope up "
                f"to {GREATEST_SLOPE * far[0]:.2g}, deflection up to {GREATEST_DEFLECTION * far[1]:.2g} of its "
                f"length in its frame (good to {GREATEST_SLOPE:g} and {GREATEST_DEFLECTION:g}); energy and momenta "
                f"are exact but not the shape: {remedy}"
            )
    messages = (found[index] for index in sorted(found))
    return [*messages, *large_turns(run), *coarse_rods(run), *coarse_shells(run)]


def large_strains(run: RecordedRun) -> list[str]:
    """Return a warning message for each beam whose strain exceeds 0.1 (where no material is linear) at one of at
    most 2000 checked instants. The strain is axial plus bending at the radius of gyration, or shear if larger. A
    message says the largest strain and since when."""
    found: dict[int, str] = {}
    for beams, time, ratios in _beams_beyond(run, _strain_ratios):
        strains = beams.largest(ratios[0])
        is_far = strains > 1
        for k in np.flatnonzero(is_far.any(axis=1)).tolist():
            index, begin, made = beams.bodies[k], time[np.flatnonzero(is_far[k])[0]], beams.beam.material
            name = run.system.bodies[index].name
            cause = f"material (Young's modulus is {made.youngs_modulus:.4g} Pa)" if made else "stiffness matrix"
            found[index] = (
                f"{name} is strained by up to {100 * GREATEST_STRAIN * strains[k].max():.3g} %, from"
                f" t = {begin:.4g} s on by more than {100 * GREATEST_STRAIN:.0f} %, where no material is linear;"
                f" check its {cause} and its loads"
            )
    return [found[index] for index in sorted(found)]


def _deflection_ratios(beams: "_EqualBeams", fields: BeamFields, eta: Array) -> Array:
    """Return slopes and deflections at the stations of ``beams``, each divided by its limit, shape (2, rows,
    stations). Stations are positions along a beam. ``fields`` are slopes and deflections there per unit elastic
    coordinate, ``eta`` the elastic coordinates, shape (rows, n)."""
    slopes = np.hypot(eta @ fields.slope_y.T, eta @ fields.slope_z.T)
    ways = np.hypot(eta @ fields.deflection_y.T, eta @ fields.deflection_z.T)
    return np.array([slopes / GREATEST_SLOPE, ways / (GREATEST_DEFLECTION * beams.beam.length)])


def _strain_ratios(beams: "_EqualBeams", fields: BeamFields, eta: Array) -> Array:
    """Return the largest strain at the stations of ``beams`` (positions along a beam) divided by its limit, shape
    (1, rows, stations) for ``rows`` states. The strain is axial strain plus bending strain at the radii of
    gyration, or shear strain if that is larger. ``fields`` are strains per unit elastic coordinate, ``eta`` (rows,
    n) the values of the n elastic coordinates."""
    slopes = (eta @ fields.slope_y.T) ** 2 + (eta @ fields.slope_z.T) ** 2
    axial = np.abs(eta @ fields.stretch.T + slopes / 2)
    radius_y, radius_z = beams.beam.radii_of_gyration(beams.points.stations)  # less than the half height
    bending = radius_y * np.abs(eta @ fields.curvature_y.T) + radius_z * np.abs(eta @ fields.curvature_z.T)
    shear = np.hypot(eta @ fields.shear_y.T, eta @ fields.shear_z.T)
    return np.asarray(np.maximum(axial + bending, shear)[None] / GREATEST_STRAIN)


@dataclass(frozen=True, eq=False)
class _EqualBeams:
    """Bodies that are copies of the same beam, whose elastic coordinates are checked together.

    Attributes:
        beam, points: beam and stations of each body.
        bodies: indices of the bodies.
        sizes: largest absolute value of each elastic coordinate in the run, shape (1, n).
    """

    beam: Beam
    points: BeamPoints
    bodies: list[int]
    sizes: Array

    def largest(self, values: Array) -> Array:
        """Return the largest value along each beam of this group at each instant, shape (bodies, instants).
        ``values`` has one row for each beam and instant, beam after beam, and one column for each station along the
        beam."""
        return np.asarray(values.max(axis=1, initial=0.0).reshape(len(self.bodies), -1))


@cached_on_owner
def _equal_beams(run: RecordedRun) -> list[_EqualBeams]:
    """Return the beams of a run in groups of equal description, so that equal beams are checked together; cached.
    A group has the indices of its bodies and the largest absolute value of each elastic coordinate over the
    checked instants. It has at most about 4096 rows (bodies times instants)."""
    rows = some_instants(run)
    most = max(1, TOGETHER // len(rows))
    counted, found = Counter[int](), dict[tuple[int, int], _EqualBeams]()
    for index, placed in enumerate(run.system.bodies):
        beam, data = placed.resolved, placed.data
        if isinstance(beam, Beam) and isinstance(data, FloatingBody) and isinstance(data.points, BeamPoints):
            group = id(data), counted[id(data)] // most
            own = found.setdefault(group, _EqualBeams(beam, data.points, [], np.zeros((1, data.elastic_count))))
            np.maximum(own.sizes, np.abs(run.elastic(index)[rows]).max(axis=0, initial=0.0), out=own.sizes)
            own.bodies.append(index)
            counted[id(data)] += 1
    return list(found.values())


def _beams_beyond(
    run: RecordedRun, ratios: "Callable[[_EqualBeams, BeamFields, Array], Array]"
) -> Iterator[tuple[_EqualBeams, Array, Array]]:
    """Yield (group, times, ratios) for groups of equal beams of a ``run`` that may exceed a limit; ``times`` are
    at most 2000 recorded instants [s]. The function ``ratios`` returns quantities divided by their limits, shape
    (limits, bodies * instants, stations). It is first called with the largest absolute coordinates, which gives a
    bound: groups below 1 there are skipped."""
    for beams in _equal_beams(run):
        if not ratios(beams, beams.points.station_sizes, beams.sizes).max(initial=0.0) <= 1:
            rows = some_instants(run)
            eta = np.concatenate([run.elastic(index)[rows] for index in beams.bodies])
            yield beams, run.recording.time[rows], ratios(beams, beams.points.station_fields, eta)


# Finds meshed bodies that turned further in their frame than their strain holds (docs/theory.md, 3).

GREATEST_TURN_IN_FRAME = 0.2  # of an interface relative to the frame [rad]
GREATEST_LINEAR_TURN = 0.05
GREATEST_DEFLECTION_IN_FRAME = 0.5  # of the size of a body


def large_turns(run: RecordedRun) -> Iterator[str]:
    """Yield a warning message for each meshed body of a run that deforms beyond the limits of its strain measure.
    The limits, relative to its frame, are interface rotations of 0.2 rad (linear strain: 0.05) and displacements
    of half its size (linear strain: a tenth). A message says how much, since when, and what to do. At most 2000
    instants are checked."""
    for index, placed in enumerate(run.system.bodies):
        body = placed.resolved
        if not isinstance(body, FlexibleBody):
            continue
        rows = some_instants(run)
        eta = run.elastic(index)[rows]
        turns = np.einsum("kcn,tn->tkc", body.points.interfaces.rotations, eta)
        sizes = np.linalg.norm(turns, axis=2).max(axis=1, initial=0.0)
        is_linear = not len(body.data.strain.factors)
        most = GREATEST_LINEAR_TURN if is_linear else GREATEST_TURN_IN_FRAME
        ways = _deflections_of_mesh(body, eta) / placed.data.size
        farthest = GREATEST_DEFLECTION if is_linear else GREATEST_DEFLECTION_IN_FRAME
        beyond = np.flatnonzero((sizes > most) | (ways > farthest))
        if not len(beyond):
            continue
        begin = run.recording.time[rows[beyond[0]]]
        reached = f"an interface turns by up to {sizes.max():.2g} rad in its frame (good to {most:g})"
        if not (sizes > most).any():
            reached = f"it deflects by up to {ways.max():.2g} of its size in its frame (good to {farthest:g})"
        remedy = (
            'strain="green_lagrange" (or geometric_stiffness=)' if is_linear else 'frame="mean_axis" or a chord'
        )
        yield (
            f"{placed.name} deforms further than its strain holds, from t = {begin:.4g} s on: {reached};"
            f" energy and momenta are exact but not the shape: take {remedy}, several bodies in a row, or check its"
            " material"
        )


def _deflections_of_mesh(body: FlexibleBody, eta: Array) -> Array:
    """Return the largest displacement of a node of a meshed body by its n elastic coordinates ``eta`` (instants,
    n), shape (instants,) [m]. Only the nodes are checked at which one of the n shape functions has its largest
    component. The result is zero without elastic coordinates."""
    shapes = body.points.shapes
    if not shapes.size:
        return np.zeros(len(eta))
    nodes = np.unique(np.abs(shapes).argmax(axis=0))
    moved = np.einsum("kcn,tn->tkc", shapes[nodes], eta)
    return np.asarray(np.linalg.norm(moved, axis=2).max(axis=1))


# Finds rods that bent further than their elements follow (docs/theory.md, 8).

MARGIN = 1.2
"""Times the elements that the greatest tension so far asks for."""


def coarse_rods(run: RecordedRun) -> Iterator[str]:
    """Yield a warning message for each rod of a run in which neighbouring sections rotate against each other by
    more than elements represent accurately. A message says how much, when, and how many elements to use. At most
    2000 instants are checked."""
    if not run.mechanism.rods:
        return
    rows = some_instants(run)
    for rod in run.mechanism.rods:
        rotation = run.recording.rotation[rows][:, [run.system.index[placed] for placed in rod.handle.parts]]
        cosine = (np.einsum("tkij,tkij->tk", rotation[:, 1:], rotation[:, :-1]) - 1) / 2
        turn = np.arccos(np.clip(cosine, -1.0, 1.0)).max(axis=1, initial=0.0)
        body, limit = rod.handle.body, LARGEST_ACCURATE_ROTATION[rod.handle.body.order]
        if len(beyond := np.flatnonzero(turn > limit)):
            most = float(turn.max())
            excess = 100 * excess_bending(body.order, most, bool(rod.stress_free[..., 3:].any()))
            count = int(np.ceil(body.elements * excess ** (1 / (2 * body.order))))
            pull, carried, separated = _rod_tension(run, rod, int(rows[beyond[0]]) + 1)
            because = f"(an error below 1 %){', order=2,' * (body.order == 1)} or check its material and loads"
            if pull > carried:
                count = int(np.ceil(MARGIN * body.elements * (pull / carried) ** 0.5))
                because = (
                    f"or a String: it is pulled by {pull:.3g} N, and beyond {carried:.3g} N sections that are"
                    f" {separated:.3g} m separated turn to and fro"
                )
            yield (
                f"{rod.handle.name} bends further than its elements follow, from t ="
                f" {run.recording.time[rows[beyond[0]]]:.4g} s on:"
                f" neighbouring sections turn by up to {most:.2g} rad against each other (good to {limit:g}, and"
                f" beyond {LARGEST_ROTATION:g} rad they grow soft and fold), so that a moment bends it about"
                f" {excess:.2g} % too far: take elements={count} or more {because}"
            )


def _rod_tension(run: RecordedRun, rod: RodInModel, count: int) -> tuple[float, float, float]:
    """Return the largest tension of a rod in the first ``count`` instants of a run, a limit of tension, and the
    distance of sections. The units are N, N and m. Beyond the limit, 4 times the least bending stiffness over the
    squared distance, the sections oscillate.

    Sections that rotate by phi to alternating sides shorten their mean direction by phi^2 / 2: the work of the
    tension N is N l phi^2 / 2, the bending energy 2 EI phi^2 / l.
    """
    bending = min(float(stiffness.diagonal()[4:].min()) for each in rod.elements for stiffness in each.stiffness)
    body = rod.handle.body
    distance = body.length / (body.elements * body.order)
    return float(rod_forces(run, rod)[:count, :, 0].max()), 4 * bending / distance**2, distance


# Finds shells that bent further than their elements follow (docs/shells.md).

ALLOWED_EXCESS, ADVISED_EXCESS = 0.025, 0.01  # of the bending by a moment; as of rods at 0.2 rad


def coarse_shells(run: RecordedRun) -> Iterator[str]:
    """Yield a warning message for each shell of a run that bends by more than 2.5 % too far under a moment. It does
    where directors of neighbouring nodes are at large angles. A message says how much, when, and how many more
    elements to use. At most 2000 instants are checked."""
    for index, placed in enumerate(run.system.bodies):
        shell = placed.body
        if not isinstance(shell, Shell):
            continue
        rows = some_instants(run)
        vectors = run.elastic(index)[rows].reshape(len(rows), -1, 3)
        worst = [shell.largest_excess_bending(each) for each in vectors]
        excess, angle = max(worst)
        if excess > ALLOWED_EXCESS:
            begin = next(row for row, found in zip(rows, worst, strict=True) if found[0] > ALLOWED_EXCESS)
            yield (
                f"{placed.name} bends further than its elements follow, from t = {run.time[begin]:.4g} s on:"
                f" directors of neighbouring nodes turn by up to {angle:.2g} rad against each other, where a"
                f" moment bends it about {100 * excess:.2g} % too far: take {(excess / ADVISED_EXCESS) ** 0.5:.2g}"
                " times as many elements along it (an error below 1 %), or check its material and loads"
            )
