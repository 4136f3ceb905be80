"""Choice of conjugate gradients or elimination for the linear systems of a step (docs/theory.md, 5)."""

import numpy as np

from phlexible.step.tables.memory import Memory

LEAST_PRODUCTS = 250
"""Products that an elimination has to cost, so that conjugate gradients are tried first: measured on cubes, for
Newton's method, which eliminates less often than it iterates."""

A_SHAPE, A_POINT, A_MASS = 60, 120, 12
"""Operations of a product with the matrix: of a shape function at a point, of a point, of a pair of masses."""


def most_iterations(memory: Memory) -> int:
    """Return how many products with Newton's matrix of a soft-body model cost as much as one elimination.
    ``memory`` holds its tables. The number limits iterations of conjugate gradients; 0 if these are not used
    for the model.

    They need models of soft bodies alone, whose constraints each contain one node, and are used if the number is
    large enough. It follows from sizes of tables alone: the same in all runs.
    """
    counts = memory.counts
    others = counts["forces"] or counts["auxiliaries"] or counts["product_elements"]
    if not counts["soft_elements"] or others or not _fixes_nodes(memory):
        return 0
    rows = memory["visit_size"].astype(np.float64)
    sums = np.concatenate([[0], np.cumsum(memory["neighbour_size"])])
    later = np.diff(sums[memory["neighbours_begin"]]).astype(np.float64)
    elimination = (2 / 3 * rows**3 + 2 * rows**2 * later + 2 * rows * later**2).sum()
    points, shapes = memory["soft_points_count"], memory["soft_nodes_count"]
    product = (points * (A_POINT + A_SHAPE * shapes)).sum() + A_MASS * counts["mass_pairs"]
    found = int(elimination / product)
    return found if found >= LEAST_PRODUCTS else 0


def _fixes_nodes(memory: Memory) -> bool:
    """Return whether each joint of the model (with the tables ``memory``) acts on one node only, and no two
    joints on the same one. Conjugate gradients need it."""
    carrier, held = memory["vector_carrier"], list[int]()
    functions, parts = memory["functions_begin"], memory["function_parts_begin"]
    for i in range(memory.counts["constraints"]):
        first, end = functions[i : i + 2]
        own = set(carrier[memory["part_vector"][parts[first] : parts[end]]].tolist())
        if len(own) != 1 or end - first > memory.counts["dimension"]:
            return False
        held += own
    return len(set(held)) == len(held)
