"""Which element of a string a failed step pressed together most."""

import numpy as np

from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.kernels import tables as at
from phlexible.system.assembly import Assembly
from phlexible.time_integration.packing import PackedSystem


def most_pressed(assembly: Assembly, system: PackedSystem) -> str:
    """A clause for an error message, with what a user's law raised; empty where there are no strings."""
    count = len(assembly.absolute.weight)
    if not count:
        return ""
    before, change = (system.table(name, count) for name in (at.QUADRATIC0, at.QUADRATIC_CHANGE))
    C = np.where(np.isfinite(change), before + change, 0.0)
    worst = int(C.argmin())
    elements = [
        (placed.name, int(element))
        for placed in assembly.mechanism.bodies
        if isinstance(placed.data, AbsoluteBody)
        for group in placed.data.strains
        for element in group.elements
    ]
    name, element = elements[worst]
    known = [f"; a function of a law raised {error!r}" for f in system.functions for error in f.errors[:1]]
    return "".join(known[:1]) + (
        f"; of all strings element {element} of {name} was pressed together most,"
        f" to C = |dr/ds|^2 = {max(float(C[worst]), 0.0):.3g} in the last try"
    )
