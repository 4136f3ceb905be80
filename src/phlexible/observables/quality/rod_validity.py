"""Finds rods that bent further than their elements follow (docs/theory.md, 8)."""

import numpy as np

from phlexible.bodies.rod.curve import GREATEST_GOOD_TURN, GREATEST_TURN
from phlexible.observables.run import RecordedRun

INSTANTS = 2000  # at most so many are looked at


def coarse_rods(run: RecordedRun) -> list[tuple[str, str]]:
    """Names of rods whose neighbouring sections turn too far against each other, and how far, in words."""
    found: list[tuple[str, str]] = []
    if not run.mechanism.rods:
        return found
    rows = np.unique(np.linspace(0, run.count - 1, min(run.count, INSTANTS)).astype(np.int64))
    time = run.recording.time[rows]
    for rod in run.mechanism.rods:
        numbers = [run.system.index[placed] for placed in rod.handle.parts]
        rotation = run.recording.rotation[rows][:, numbers]
        cosine = (np.einsum("tkij,tkij->tk", rotation[:, 1:], rotation[:, :-1]) - 1) / 2
        turn = np.arccos(np.clip(cosine, -1.0, 1.0)).max(axis=1, initial=0.0)
        beyond = np.flatnonzero(turn > GREATEST_GOOD_TURN)
        if len(beyond):
            most = float(turn.max())
            count = int(np.ceil(rod.handle.body.elements * most / GREATEST_GOOD_TURN))
            far = "" if most < GREATEST_TURN else f"; beyond {GREATEST_TURN:g} rad they grow soft and fold"
            text = (
                f"{rod.handle.name} bends further than its elements follow, from t = {time[beyond[0]]:.4g} s on:"
                f" neighbouring sections turn by up to {most:.2g} rad against each other (good to"
                f" {GREATEST_GOOD_TURN:g}{far}): take elements={count} or more, or check its material and loads"
            )
            found.append((rod.handle.name, text))
    return found
