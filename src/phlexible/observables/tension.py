"""Stretch and tension of strings over time, and whether parts of them were slack."""

from typing import NamedTuple

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import AbsoluteBody, QuadraticStrains
from phlexible.bodies.string.law import StringLaw
from phlexible.errors import ModelError
from phlexible.observables.run import RecordedRun
from phlexible.ports.attachments import PlacedBody

SLACK = 1e-2  # a part is slack where it is pressed by more than this part of the largest tension
ROUND_OFF = 1e-9  # of EA: tensions that are none
SAMPLES = 65  # of the strains, in which the law is looked at
CHUNK_NUMBERS = 4_000_000
"""About this many numbers are held at a time."""


class SlackPart(NamedTuple):
    """Where a string was slack first."""

    name: str
    element: int
    time: float

    @property
    def text(self) -> str:
        """What it means."""
        return (
            f"{self.name}: element {self.element} is slack from t = {self.time:.4g} s on; energy and "
            "momenta stay exact, but slack parts have no unique limit as step and mesh are refined: "
            "a real string has some bending stiffness or viscosity there"
        )


def stretch(run: RecordedRun, placed: PlacedBody) -> Array:
    """|dr/ds| = sqrt(C) at the quadrature points, from s = 0 on, shape (N + 1, points).

    Raises:
        ModelError: a body that is no string.
    """
    return np.concatenate([np.sqrt(C) for _, C in _strains(run, placed)], axis=1)


def tension(run: RecordedRun, placed: PlacedBody) -> Array:
    """N = S sqrt(C) of Kinon et al. (2, 10) at the quadrature points, shape (N + 1, points) [N].

    Without the viscous part. Raises:
        ModelError: a body that is no string.
    """
    found = [group.law.tension(C) for group, C in _strains(run, placed)]
    if not found:
        raise ModelError(f"{placed.name} is no string and has no tension; ask for its stress")
    return np.concatenate(found, axis=1)


def slack_parts(run: RecordedRun) -> list[SlackPart]:
    """The first slack element of every string that has one; on a line none can be slack: there they are rods."""
    found: list[SlackPart] = []
    if run.system.dimension == 1:
        return found
    for placed in run.system.bodies:
        if placed.nodes is None:
            continue
        for group, C in _strains(run, placed):
            threshold = _slack_strain(group.law, float(C.min()), float(C.max()))
            if threshold is not None:
                instant, place = np.argwhere(C < threshold)[0]
                time = float(run.recording.time[instant])
                found.append(SlackPart(placed.name, int(group.elements[place]), time))
    return found


def _slack_strain(law: StringLaw, lowest: float, highest: float) -> float | None:
    """C below which a string with C between these two is slack; None: it never is."""
    from scipy.optimize import brentq

    strains = np.linspace(lowest, highest, SAMPLES)
    tensions = law.tension(strains)
    limit = -max(SLACK * float(np.abs(tensions).max()), ROUND_OFF * law.modulus)
    pressed = np.flatnonzero(tensions < limit)
    if not len(pressed):
        return None
    last = int(pressed[-1])
    if last == SAMPLES - 1:
        return float(np.nextafter(highest, np.inf))
    root: float = brentq(lambda C: float(law.tension(C)) - limit, strains[last], strains[last + 1])
    return max(root, float(np.nextafter(lowest, np.inf)))


def _strains(run: RecordedRun, placed: PlacedBody) -> list[tuple[QuadraticStrains, Array]]:
    """Groups of strains, each with C, shape (N + 1, g)."""
    from phlexible.bodies.mechanics.absolute import strain_values

    index = run.body_index(placed)
    data = run.system.bodies[index].data
    if not isinstance(data, AbsoluteBody):
        raise ModelError(
            f"{run.system.bodies[index].name} is no string and has no tension; ask for its section forces"
        )
    nodes = run.elastic(index).reshape(run.count, -1, data.dimension)
    step = max(1, CHUNK_NUMBERS // (6 * data.node_count))
    chunks = [nodes[k : k + step] for k in range(0, run.count, step)]
    return [(group, np.concatenate([strain_values(group, c) for c in chunks])) for group in data.strains]
