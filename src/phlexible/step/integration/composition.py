"""Composition of conserving steps to higher orders, and which models allow it (docs/theory.md, 4)."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.errors import ModelError

_OUTER = 1 / (4 - 4 ** (1 / 3))
_FIRST_FOUR = (0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981, 0.08221359629355080023)


def _in_halves(*shares: float) -> tuple[float, ...]:
    return tuple(share / 2 for share in shares for _ in range(2))


SUBSTEPS = {
    2: (1.0,),
    4: _in_halves(_OUTER, _OUTER, 1 - 4 * _OUTER, _OUTER, _OUTER),
    6: _in_halves(*_FIRST_FOUR, 1 - 2 * sum(_FIRST_FOUR), *reversed(_FIRST_FOUR)),
}
"""Shares of a step by the order (4.17): symmetric steps of order 2 make one of order 4, five of them (M. Suzuki,
Physics Letters A 146, 1990), or of order 6, nine (W. Kahan, R.-C. Li, Mathematics of Computation 66, 1997). Each is
taken in two halves: alone it turns round the part of the velocities along the joints, which costs the order."""


def substep_times(instants: Array, step: float, substeps: Array) -> tuple[Array, Array]:
    """Return the ends and the middles [s] of all substeps of the time steps that begin and end at ``instants``.
    Steps have the length ``step`` [s]; ``substeps`` are the lengths of their substeps as fractions of it, which may
    be negative in methods of higher order. The shapes are (steps * substeps + 1,) and (steps * substeps,).
    """
    if len(substeps) == 1:
        return instants, instants[:-1] + step * 0.5
    ends = np.cumsum([0.0, *substeps])
    middles = (ends[:-1] + ends[1:]) / 2
    starts = instants[:-1, None]
    inner = (starts + step * ends[None, 1:-1]).ravel()
    all_ends = np.empty((len(instants) - 1) * len(substeps) + 1)
    all_ends[:: len(substeps)] = instants
    is_inner = np.ones(len(all_ends), dtype=bool)
    is_inner[:: len(substeps)] = False
    all_ends[is_inner] = inner
    return all_ends, (starts + step * middles).ravel()


def check_lossless(mechanism: Mechanism, numerical_damping: float) -> None:
    """Raise ``ModelError`` if a mechanism has damping (viscosity, lossy elements, ``numerical_damping``) or
    controllers. Time integration of order above 2 has substeps that go backwards in time, in which damping would
    feed energy in. The message lists everything that was found.

    Raises:
        ModelError: names what loses energy, or the controller.
    """
    losing = ["numerical_damping"] if numerical_damping else []
    for placed in mechanism.bodies:
        data = placed.data
        if isinstance(data, AbsoluteBody):
            is_losing = any(each.viscosity or each.relaxation for each in data.strains)
            is_losing |= any(each.viscosity or each.relaxation for each in data.elements)
            is_losing |= any(each.viscosity > 0 for each in data.products)
        else:
            is_losing = bool(data.viscosity or data.relaxation or np.any(data.damping))
        if is_losing:
            losing.append(f"damping of {placed.name}")
    for element in mechanism.elements:
        if element.is_lossy(mechanism.dimension):
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
            "orders beyond 2 are for lossless models: some of their substeps go backwards in time, where damping"
            f" would feed energy in; this model has {', '.join(losing)}; use order=2"
        )
