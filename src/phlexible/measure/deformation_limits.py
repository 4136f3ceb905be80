"""Finds bodies that deform further than their strain or their elements follow (docs/theory.md, 3 and 8)."""

from collections.abc import Iterator

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.flexible.flexible_body import FlexibleBody
from phlexible.bodies.rod import LARGEST_ACCURATE_ROTATION, LARGEST_ROTATION, excess_bending
from phlexible.bodies.shell.shell import Shell
from phlexible.description.mechanism.wholes import RodInModel
from phlexible.measure.section_forces import rod_forces
from phlexible.state.recorded_run import RecordedRun

# Finds meshed bodies that turned further in their frame than their strain holds (docs/theory.md, 3).

GREATEST_TURN_IN_FRAME = 0.2  # of an interface relative to the frame [rad]
GREATEST_LINEAR_TURN = 0.05
GREATEST_DEFLECTION = 0.1  # of the length
GREATEST_DEFLECTION_IN_FRAME = 0.5  # of the size of a body
INSTANTS = 2000  # at most so many are looked at


def some_instants(run: RecordedRun) -> IntArray:
    """Return the indices of at most 2000 evenly spread recorded instants of a run, at which its quality is
    checked."""
    return np.arange(n) if (n := run.count) <= INSTANTS else np.linspace(0, n - 1, INSTANTS).astype(np.int64)


def coarse_or_far(run: RecordedRun) -> list[str]:
    """Return warning messages about meshed bodies of a run that deform beyond the limits of their strain measure.
    Messages about rods and shells whose elements are too coarse for their bending follow."""
    return [*large_turns(run), *coarse_rods(run), *coarse_shells(run)]


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
