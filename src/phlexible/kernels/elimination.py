"""Block LU of Newton's matrix: bodies first, then the Schur complement on the joints (formulation, 4)."""

from phlexible.kernels import tables as at
from phlexible.kernels.compiled import compiled
from phlexible.kernels.dense import factor, solve, solve_vector, subtract_product


@compiled
def relax(ints, reals, relaxation):
    """Enlarge the multipliers' diagonal in the Schur complement on the joints by a small fraction.

    Where joints hold a motion twice the complement is singular. Newton's residual stays exact, so that
    iterating with the relaxed matrix closes the joints all the same, and multipliers that move nothing
    stay where they are.
    """
    for j in range(ints[at.JOINTS] - ints[at.FORCES]):
        node = ints[at.BODIES] + j
        size, diagonal = ints[ints[at.NODE_SIZE] + node], ints[ints[at.NODE_DIAGONAL] + node]
        begin = ints[ints[at.JOINT_ROW_START] + j]
        for r in range(ints[ints[at.JOINT_ROW_START] + j + 1] - begin):
            added = relaxation * abs(reals[diagonal + r * size + r])
            reals[diagonal + r * size + r] += added
            reals[ints[at.ROW_RELAXATION] + begin + r] = added


@compiled
def eliminate(ints, reals, relaxation):
    """Factor all blocks in place along the schedule; False where a node is singular.

    ``relaxation`` of the joints, relative: 0, or what redundant joints need; see ``relax``.
    """
    waits = relaxation > 0.0
    for index in range(ints[at.NODES]):
        node = ints[ints[at.NODE_ORDER] + index]
        if waits and node >= ints[at.BODIES]:  # bodies come first in the schedule
            relax(ints, reals, relaxation)
            waits = False
        n = ints[ints[at.NODE_SIZE] + node]
        if not factor(
            ints,
            reals,
            ints[ints[at.NODE_DIAGONAL] + node],
            n,
            ints[at.PIVOTS] + ints[ints[at.NODE_ROW] + node],
        ):
            return False
        begin, end = (
            ints[ints[at.NODE_NEIGHBOUR_START] + node],
            ints[ints[at.NODE_NEIGHBOUR_START] + node + 1],
        )
        for i in range(begin, end):
            solve(
                ints,
                reals,
                ints[ints[at.NODE_DIAGONAL] + node],
                n,
                ints[at.PIVOTS] + ints[ints[at.NODE_ROW] + node],
                ints[ints[at.NODE_UPPER] + i],
                ints[ints[at.NODE_SIZE] + ints[ints[at.NODE_NEIGHBOUR] + i]],
            )
        target = ints[ints[at.NODE_TARGET_START] + node]
        for i in range(begin, end):
            rows = ints[ints[at.NODE_SIZE] + ints[ints[at.NODE_NEIGHBOUR] + i]]
            for j in range(begin, end):
                columns = ints[ints[at.NODE_SIZE] + ints[ints[at.NODE_NEIGHBOUR] + j]]
                subtract_product(
                    reals,
                    ints[ints[at.NODE_LOWER] + i],
                    rows,
                    n,
                    ints[ints[at.NODE_UPPER] + j],
                    columns,
                    ints[ints[at.NODE_TARGET] + target],
                )
                target += 1
    return True


@compiled
def substitute(ints, reals, b):
    """Solve with the factors of ``eliminate`` for the flat right-hand side b, in place."""
    nodes = ints[at.NODES]
    for index in range(nodes):
        node = ints[ints[at.NODE_ORDER] + index]
        n = ints[ints[at.NODE_SIZE] + node]
        start = ints[ints[at.NODE_ROW] + node]
        solve_vector(ints, reals, ints[ints[at.NODE_DIAGONAL] + node], n, ints[at.PIVOTS] + start, b + start)
        for i in range(
            ints[ints[at.NODE_NEIGHBOUR_START] + node], ints[ints[at.NODE_NEIGHBOUR_START] + node + 1]
        ):
            other = ints[ints[at.NODE_NEIGHBOUR] + i]
            subtract_product(
                reals,
                ints[ints[at.NODE_LOWER] + i],
                ints[ints[at.NODE_SIZE] + other],
                n,
                b + start,
                1,
                b + ints[ints[at.NODE_ROW] + other],
            )
    for index in range(nodes - 1, -1, -1):
        node = ints[ints[at.NODE_ORDER] + index]
        start = ints[ints[at.NODE_ROW] + node]
        for i in range(
            ints[ints[at.NODE_NEIGHBOUR_START] + node], ints[ints[at.NODE_NEIGHBOUR_START] + node + 1]
        ):
            other = ints[ints[at.NODE_NEIGHBOUR] + i]
            subtract_product(
                reals,
                ints[ints[at.NODE_UPPER] + i],
                ints[ints[at.NODE_SIZE] + node],
                ints[ints[at.NODE_SIZE] + other],
                b + ints[ints[at.NODE_ROW] + other],
                1,
                b + start,
            )
