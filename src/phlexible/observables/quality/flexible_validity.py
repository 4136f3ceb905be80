"""Finds meshed bodies that turned further in their frame than their strain holds (docs/theory.md, 3)."""

from collections.abc import Iterator

import numpy as np

from phlexible.bodies.flexible.flexible_body import FlexibleBody
from phlexible.observables.run import RecordedRun

GREATEST_TURN = 0.2  # of an interface relative to the frame [rad]
GREATEST_LINEAR_TURN = 0.05
INSTANTS = 2000  # at most so many are looked at


def large_turns(run: RecordedRun) -> Iterator[tuple[str, str]]:
    """Name of each body whose interfaces turn too far in its frame, and how far, when, and what to do."""
    count = len(run.recording.time)
    for index, placed in enumerate(run.system.bodies):
        body = placed.held
        if not isinstance(body, FlexibleBody) or not body.interfaces:
            continue
        rows = np.unique(np.linspace(0, count - 1, min(count, INSTANTS)).astype(int))
        turns = np.einsum("kcn,tn->tkc", body.points.interfaces.rotations, run.elastic(index)[rows])
        sizes = np.linalg.norm(turns, axis=2).max(axis=1)
        is_linear = not len(body.data.strain.factors)
        most = GREATEST_LINEAR_TURN if is_linear else GREATEST_TURN
        beyond = np.flatnonzero(sizes > most)
        if not len(beyond):
            continue
        begin = run.recording.time[rows[beyond[0]]]
        remedy = (
            'strain="green_lagrange" (or geometric_stiffness=)' if is_linear else 'frame="mean_axis" or a chord'
        )
        yield (
            placed.name,
            f"{placed.name} deforms further than its strain holds, from t = {begin:.4g} s on: an interface turns "
            f"by up to {sizes.max():.2g} rad in its frame (good to {most:g}); energy and momenta are exact but not "
            f"the shape: take {remedy}, several bodies in a row, or check its material",
        )
