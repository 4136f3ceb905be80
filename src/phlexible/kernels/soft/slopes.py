"""Slopes of a field of vectors at nodes, of elements and of faces (docs/theory.md, 5)."""

from phlexible.compilation.compiled import compiled
from phlexible.compilation.notation import Integers, Vector, Vectors, along, vector


@compiled
def slope_along(values: Vectors, nodes: Integers, slopes: Vectors, count: int, a: int) -> Vector:
    """sum_i (slopes_i)_a x_i of so many nodes, of differences from the first one: the sum of all slopes is zero."""
    found = vector(0.0, 0.0, 0.0)
    for i in range(1, count):
        found += along(slopes[i], a) * (values[nodes[i]] - values[nodes[0]])
    return found
