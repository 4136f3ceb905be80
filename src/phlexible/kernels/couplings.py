"""Joint functions over one step: residuals, forces, and their blocks in Newton's matrix.

Links are joints and drives, whose functions vanish at the end of the step, and elements, whose
multipliers follow from their functions (``forces.py``).
"""

from phlexible.kernels import tables as at
from phlexible.kernels.compiled import compiled
from phlexible.kernels.forces import element_residual


@compiled
def dot(reals, x, y):
    """x . y of two 3-vectors."""
    return reals[x] * reals[y] + reals[x + 1] * reals[y + 1] + reals[x + 2] * reals[y + 2]


@compiled
def origin_of(ints, reals, row):
    """Where a row measures its points from: far from the world's origin squares would cancel."""
    k = ints[ints[at.ROW_ORIGIN] + row]
    if k < 0:
        return 0.0, 0.0, 0.0
    x = ints[at.X0] + 3 * k
    return reals[x], reals[x + 1], reals[x + 2]


@compiled
def measured(ints, reals, x, k, o0, o1, o2):
    """Vector k of the table x; points measured from o."""
    p = x + 3 * k
    if ints[ints[at.VECTOR_IS_POINT] + k] == 1:
        return reals[p] - o0, reals[p + 1] - o1, reals[p + 2] - o2
    return reals[p], reals[p + 1], reals[p + 2]


@compiled
def row_value(ints, reals, row, x):
    """Sum of the terms of a row at the vectors of table x, and the sum of their sizes."""
    o0, o1, o2 = origin_of(ints, reals, row)
    total, size = 0.0, 0.0
    for t in range(ints[ints[at.ROW_TERM_START] + row], ints[ints[at.ROW_TERM_START] + row + 1]):
        a0, a1, a2 = measured(ints, reals, x, ints[ints[at.TERM_FIRST] + t], o0, o1, o2)
        b0, b1, b2 = measured(ints, reals, x, ints[ints[at.TERM_SECOND] + t], o0, o1, o2)
        term = reals[ints[at.TERM_END] + t] * (a0 * b0 + a1 * b1 + a2 * b2)
        total += term
        size += abs(term)
    return total, size


@compiled
def begin_links(ints, reals):
    """Coefficients and constants that are functions of time; functions of elements at t_n."""
    for t in range(ints[ints[at.ROW_TERM_START] + ints[at.ROWS]]):
        time, c = ints[ints[at.TERM_TIME] + t], reals[ints[at.TERM_COEFFICIENT] + t]
        reals[ints[at.TERM_END] + t] = c
        reals[ints[at.TERM_MEAN] + t] = c
        if time >= 0:
            end = c * reals[ints[at.MOVING1] + time]
            reals[ints[at.TERM_END] + t] = end
            reals[ints[at.TERM_MEAN] + t] = 0.5 * (end + c * reals[ints[at.MOVING0] + time])
    for row in range(ints[at.ROWS]):
        time = ints[ints[at.ROW_TIME] + row]
        reals[ints[at.ROW_END] + row] = reals[ints[at.ROW_CONSTANT] + row]
        if time >= 0:
            reals[ints[at.ROW_END] + row] += reals[ints[at.MOVING1] + time]
    for j in range(ints[at.JOINTS] - ints[at.FORCES], ints[at.JOINTS]):
        for row in range(ints[ints[at.JOINT_ROW_START] + j], ints[ints[at.JOINT_ROW_START] + j + 1]):
            reals[ints[at.ROW_VALUE0] + row], _ = row_value(ints, reals, row, ints[at.X0])


@compiled
def joint_residuals(ints, reals, h):
    """g(x_{n+1}) / h into the rows of joints and drives, lambda - F w into those of elements.

    Partner rows are zero, their means follow the state.
    """
    for j in range(ints[at.JOINTS]):
        place = ints[at.RESIDUAL] + ints[ints[at.JOINT_NODE_ROW] + j]
        begin = ints[ints[at.JOINT_ROW_START] + j]
        rows = ints[ints[at.JOINT_ROW_START] + j + 1] - begin
        is_constraint = ints[ints[at.JOINT_LAW] + j] == at.CONSTRAINT
        for r in range(rows):
            value, _ = row_value(ints, reals, begin + r, ints[at.X1])
            if is_constraint:
                reals[place + r] = (value - reals[ints[at.ROW_END] + begin + r]) / h
            else:
                reals[ints[at.ROW_VALUE1] + begin + r] = value
        if not is_constraint:
            element_residual(ints, reals, j, h)
        for r in range(rows, ints[ints[at.NODE_SIZE] + ints[at.BODIES] + j]):
            reals[place + r] = 0.0


@compiled
def joint_forces(ints, reals):
    """Add lambda dg/dx at the mean vectors to the force on each vector."""
    for row in range(ints[at.ROWS]):
        o0, o1, o2 = origin_of(ints, reals, row)
        for t in range(ints[ints[at.ROW_TERM_START] + row], ints[ints[at.ROW_TERM_START] + row + 1]):
            c = reals[ints[at.TERM_MEAN] + t] * reals[ints[at.MULTIPLIER] + row]
            k, l = ints[ints[at.TERM_FIRST] + t], ints[ints[at.TERM_SECOND] + t]
            for vector, other in ((k, l), (l, k)):
                x0, x1, x2 = measured(ints, reals, ints[at.X_MEAN], other, o0, o1, o2)
                f = ints[at.VECTOR_FORCE] + 3 * vector
                reals[f] += c * x0
                reals[f + 1] += c * x1
                reals[f + 2] += c * x2


@compiled
def joint_blocks(ints, reals, h):
    """All blocks of the links: how they constrain bodies and how their forces vary."""
    nodes = ints[at.BODIES]
    dim = ints[at.DIMENSION]
    for j in range(ints[at.JOINTS]):
        size = ints[ints[at.NODE_SIZE] + nodes + j]
        begin = ints[ints[at.JOINT_ROW_START] + j]
        rows = ints[ints[at.JOINT_ROW_START] + j + 1] - begin
        is_constraint = ints[ints[at.JOINT_LAW] + j] == at.CONSTRAINT
        diagonal = ints[ints[at.NODE_DIAGONAL] + nodes + j]
        for s in range(rows):
            row = begin + s
            for t in range(ints[ints[at.ROW_TERM_START] + row], ints[ints[at.ROW_TERM_START] + row + 1]):
                mean, end = reals[ints[at.TERM_MEAN] + t], reals[ints[at.TERM_END] + t]
                # Both vectors of the term; a loop, so that each helper is compiled into one place only.
                k, l = ints[ints[at.TERM_FIRST] + t], ints[ints[at.TERM_SECOND] + t]
                upper, column = ints[ints[at.TERM_FIRST_UPPER] + t], ints[ints[at.TERM_SECOND_COLUMN] + t]
                lower = ints[ints[at.TERM_FIRST_LOWER] + t]
                for _ in range(2):
                    _force_blocks(ints, reals, h * mean, row, k, l, s, size, upper, column)
                    for r in range(s if is_constraint else 0, s + 1 if is_constraint else rows):
                        slope = 1.0 / h if is_constraint else reals[ints[at.ROW_SLOPE] + 2 * (begin + r) + s]
                        _row_block(ints, reals, end * slope, row, k, l, r, lower)
                    k, l = l, k
                    upper, column = ints[ints[at.TERM_SECOND_UPPER] + t], ints[ints[at.TERM_FIRST_COLUMN] + t]
                    lower = ints[ints[at.TERM_SECOND_LOWER] + t]
            if not is_constraint:
                reals[diagonal + s * size + s] += 1.0
        for p in range(ints[ints[at.JOINT_PARTNER_START] + j], ints[ints[at.JOINT_PARTNER_START] + j + 1]):
            k = ints[ints[at.PARTNER] + p]
            width = _width(ints, ints[ints[at.VECTOR_BODY] + k])
            place = rows + (p - ints[ints[at.JOINT_PARTNER_START] + j]) * dim
            for i in range(dim):
                reals[diagonal + (place + i) * size + place + i] = 1.0
                lower = ints[ints[at.PARTNER_LOWER] + p] + (place + i) * width
                source = ints[ints[at.VECTOR_WORK_START] + k] + i * width
                for c2 in range(width):
                    reals[lower + c2] -= 0.5 * reals[ints[at.VECTOR_JACOBIAN] + source + c2]


@compiled
def _width(ints, b):
    return ints[ints[at.VELOCITY_START] + b + 1] - ints[ints[at.VELOCITY_START] + b]


@compiled
def _row_block(ints, reals, c, row, k, l, r, lower):
    """Derivative of term c x_k . x_l of a row at t_{n+1}, in row r of the node, to the velocities of x_k."""
    b = ints[ints[at.VECTOR_BODY] + k]
    if b < 0:
        return
    width = _width(ints, b)
    jacobian = ints[at.VECTOR_JACOBIAN] + ints[ints[at.VECTOR_WORK_START] + k]
    o0, o1, o2 = origin_of(ints, reals, row)
    x0, x1, x2 = measured(ints, reals, ints[at.X1], l, o0, o1, o2)
    place = lower + r * width
    for i in range(width):
        reals[place + i] += c * (
            x0 * reals[jacobian + i] + x1 * reals[jacobian + width + i] + x2 * reals[jacobian + 2 * width + i]
        )


@compiled
def _force_blocks(ints, reals, c, row, k, l, r, size, upper, column):
    """How the impulse c lambda mean(x_l) on x_k varies; ``column``: that of the mean of x_l, or -1."""
    b = ints[ints[at.VECTOR_BODY] + k]
    if b < 0:
        return
    width = _width(ints, b)
    start = ints[ints[at.VECTOR_WORK_START] + k]
    lever = ints[at.VECTOR_LEVER]
    o0, o1, o2 = origin_of(ints, reals, row)
    x0, x1, x2 = measured(ints, reals, ints[at.X_MEAN], l, o0, o1, o2)
    for i in range(width):
        q = start + 3 * i
        reals[upper + i * size + r] -= c * (
            x0 * reals[lever + q] + x1 * reals[lever + q + 1] + x2 * reals[lever + q + 2]
        )
    x = c * reals[ints[at.MULTIPLIER] + row]
    if column >= 0:
        for i in range(width):
            for d in range(ints[at.DIMENSION]):
                reals[upper + i * size + column + d] -= x * reals[lever + start + 3 * i + d]
    elif ints[ints[at.VECTOR_BODY] + l] == b:
        add_product(
            ints,
            reals,
            ints[ints[at.NODE_DIAGONAL] + b],
            width,
            0.5 * x,
            start,
            ints[ints[at.VECTOR_WORK_START] + l],
        )


@compiled
def add_product(ints, reals, place, width, x, lever_start, jacobian_start):
    """Subtract x Q_k X_l from a body's block: a force x dx_l on vector k of the same body."""
    lever, jacobian = ints[at.VECTOR_LEVER], ints[at.VECTOR_JACOBIAN]
    for i in range(width):
        q0, q1, q2 = (
            x * reals[lever + lever_start + 3 * i],
            x * reals[lever + lever_start + 3 * i + 1],
            x * reals[lever + lever_start + 3 * i + 2],
        )
        row = place + i * width
        for j in range(width):
            reals[row + j] -= (
                q0 * reals[jacobian + jacobian_start + j]
                + q1 * reals[jacobian + jacobian_start + width + j]
                + q2 * reals[jacobian + jacobian_start + 2 * width + j]
            )
