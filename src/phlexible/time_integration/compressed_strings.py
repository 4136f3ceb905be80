"""Which element of a string a failed step compressed most."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.assembly.assembly import Assembly
from phlexible.bodies.absolute_body import AbsoluteBody


def most_compressed(assembly: Assembly) -> str:
    """A clause for an error message; empty where there are no strings."""
    elements = [
        (placed.name, int(element))
        for placed in assembly.system.bodies
        if isinstance(placed.data, AbsoluteBody)
        for group in placed.data.strains
        for element in group.elements
    ]
    own = slice(assembly.element_forces, assembly.element_forces + len(elements))
    if not elements:
        return ""
    before: Array = assembly.memory["theta0"][own]
    change: Array = assembly.memory["theta_change"][own]
    C: Array = np.where(np.isfinite(change), before + change, 0.0)
    worst = int(C.argmin())
    name, element = elements[worst]
    return (
        f"; of all strings element {element} of {name} was compressed most,"
        f" to C = |dr/ds|^2 = {max(float(C[worst]), 0.0):.3g} in the last try"
    )
