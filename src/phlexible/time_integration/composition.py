"""Composition of conserving steps to order 4, and which models allow it (docs/theory.md, 4)."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.errors import ModelError
from phlexible.interactions.feedback import Feedback
from phlexible.mechanism.mechanism import Mechanism

_OUTER = 1 / (2 - 2 ** (1 / 3))

SUBSTEPS = {2: (1.0,), 4: (_OUTER, 1 - 2 * _OUTER, _OUTER)}
"""Shares of a step by the order: three symmetric steps of order 2 make one of order 4 (Yoshida 1990) (4.17)."""


def substep_times(instants: Array, step: float, substeps: Array) -> tuple[Array, Array]:
    """Ends of all substeps, shape (steps substeps + 1,), and their middles, shape (steps substeps,) [s]."""
    ends = np.cumsum([0.0, *substeps])
    middles = (ends[:-1] + ends[1:]) / 2
    starts = instants[:-1, None]
    inner = (starts + step * ends[None, 1:-1]).ravel()
    all_ends = np.empty((len(instants) - 1) * len(substeps) + 1)
    all_ends[:: len(substeps)] = instants
    if len(substeps) > 1:
        is_inner = np.ones(len(all_ends), dtype=bool)
        is_inner[:: len(substeps)] = False
        all_ends[is_inner] = inner
    return all_ends, (starts + step * middles).ravel()


def check_lossless(mechanism: Mechanism, numerical_damping: float) -> None:
    """Refuses order 4 where a step backwards in time, which it contains, would feed energy in.

    Raises:
        ModelError: names what loses energy, or the controller.
    """
    losing = ["numerical_damping"] if numerical_damping else []
    for placed in mechanism.bodies:
        data = placed.data
        if isinstance(data, AbsoluteBody):
            is_losing = any(strains.viscosity for strains in data.strains)
        else:
            is_losing = bool(data.viscosity or np.any(data.damping))
        if is_losing:
            losing.append(f"damping of {placed.name}")
    for element in mechanism.elements:
        if any(force.damping for force in element.forces(mechanism.dimension)):
            losing.append(str(element))
        if isinstance(element.value, Feedback):
            losing.append(f"{element} (a controller)")
    losing += [
        f"{load} (a controller)"
        for load in (entry for each in mechanism.loads for entry in each.entries())
        if isinstance(load.value, Feedback)
    ]
    if losing:
        raise ModelError(
            "order=4 is for lossless models: one of its substeps goes backwards in time, where damping"
            f" would feed energy in; this model has {', '.join(losing)}; use order=2"
        )
