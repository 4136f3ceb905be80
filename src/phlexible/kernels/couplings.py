"""Joint functions over one step: residuals, forces, and their blocks in Newton's matrix."""

from phlexible.kernels import tables as at
from phlexible.kernels.compiled import compiled


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
def row_value(ints, reals, row):
    """g(x_{n+1}) of a row, and the sum of the sizes of its terms."""
    o0, o1, o2 = origin_of(ints, reals, row)
    g = -reals[ints[at.ROW_CONSTANT] + row]
    size = abs(g)
    for t in range(ints[ints[at.ROW_TERM_START] + row], ints[ints[at.ROW_TERM_START] + row + 1]):
        a0, a1, a2 = measured(ints, reals, ints[at.X1], ints[ints[at.TERM_FIRST] + t], o0, o1, o2)
        b0, b1, b2 = measured(ints, reals, ints[at.X1], ints[ints[at.TERM_SECOND] + t], o0, o1, o2)
        term = reals[ints[at.TERM_COEFFICIENT] + t] * (a0 * b0 + a1 * b1 + a2 * b2)
        g += term
        size += abs(term)
    return g, size


@compiled
def joint_residuals(ints, reals, h):
    """g(x_{n+1}) / h into the joints' rows; partner rows are zero, their means follow the state."""
    for j in range(ints[at.JOINTS]):
        place = ints[at.RESIDUAL] + ints[ints[at.JOINT_NODE_ROW] + j]
        begin = ints[ints[at.JOINT_ROW_START] + j]
        rows = ints[ints[at.JOINT_ROW_START] + j + 1] - begin
        for r in range(rows):
            g, _ = row_value(ints, reals, begin + r)
            reals[place + r] = g / h
        for r in range(rows, ints[ints[at.NODE_SIZE] + ints[at.BODIES] + j]):
            reals[place + r] = 0.0


@compiled
def joint_forces(ints, reals):
    """Add lambda dg/dx at the mean vectors to the force on each vector."""
    for row in range(ints[at.ROWS]):
        o0, o1, o2 = origin_of(ints, reals, row)
        for t in range(ints[ints[at.ROW_TERM_START] + row], ints[ints[at.ROW_TERM_START] + row + 1]):
            c = reals[ints[at.TERM_COEFFICIENT] + t] * reals[ints[at.MULTIPLIER] + row]
            k, l = ints[ints[at.TERM_FIRST] + t], ints[ints[at.TERM_SECOND] + t]
            for vector, other in ((k, l), (l, k)):
                x0, x1, x2 = measured(ints, reals, ints[at.X_MEAN], other, o0, o1, o2)
                f = ints[at.VECTOR_FORCE] + 3 * vector
                reals[f] += c * x0
                reals[f + 1] += c * x1
                reals[f + 2] += c * x2


@compiled
def joint_blocks(ints, reals, h):
    """All blocks of the joints: how they constrain bodies and how their forces vary."""
    nodes = ints[at.BODIES]
    dim = ints[at.DIMENSION]
    for j in range(ints[at.JOINTS]):
        size = ints[ints[at.NODE_SIZE] + nodes + j]
        begin = ints[ints[at.JOINT_ROW_START] + j]
        rows = ints[ints[at.JOINT_ROW_START] + j + 1] - begin
        for r in range(rows):
            for t in range(
                ints[ints[at.ROW_TERM_START] + begin + r], ints[ints[at.ROW_TERM_START] + begin + r + 1]
            ):
                c = reals[ints[at.TERM_COEFFICIENT] + t]
                k, l = ints[ints[at.TERM_FIRST] + t], ints[ints[at.TERM_SECOND] + t]
                _term_blocks(
                    ints,
                    reals,
                    h,
                    c,
                    begin + r,
                    k,
                    l,
                    r,
                    size,
                    ints[ints[at.TERM_FIRST_UPPER] + t],
                    ints[ints[at.TERM_FIRST_LOWER] + t],
                    ints[ints[at.TERM_SECOND_COLUMN] + t],
                )
                _term_blocks(
                    ints,
                    reals,
                    h,
                    c,
                    begin + r,
                    l,
                    k,
                    r,
                    size,
                    ints[ints[at.TERM_SECOND_UPPER] + t],
                    ints[ints[at.TERM_SECOND_LOWER] + t],
                    ints[ints[at.TERM_FIRST_COLUMN] + t],
                )
        diagonal = ints[ints[at.NODE_DIAGONAL] + nodes + j]
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
def _term_blocks(ints, reals, h, c, row, k, l, r, size, upper, lower, column):
    """Blocks of term c x_k . x_l of a row, seen from vector k; ``column``: that of the mean of x_l, or -1."""
    b = ints[ints[at.VECTOR_BODY] + k]
    if b < 0:
        return
    width = _width(ints, b)
    start = ints[ints[at.VECTOR_WORK_START] + k]
    o0, o1, o2 = origin_of(ints, reals, row)
    x0, x1, x2 = measured(ints, reals, ints[at.X1], l, o0, o1, o2)
    jacobian, lever = ints[at.VECTOR_JACOBIAN], ints[at.VECTOR_LEVER]
    place = lower + r * width
    for i in range(width):
        reals[place + i] += (c / h) * (
            x0 * reals[jacobian + start + i]
            + x1 * reals[jacobian + start + width + i]
            + x2 * reals[jacobian + start + 2 * width + i]
        )
    x0, x1, x2 = measured(ints, reals, ints[at.X_MEAN], l, o0, o1, o2)
    for i in range(width):
        q = start + 3 * i
        reals[upper + i * size + r] -= (h * c) * (
            x0 * reals[lever + q] + x1 * reals[lever + q + 1] + x2 * reals[lever + q + 2]
        )
    x = h * c * reals[ints[at.MULTIPLIER] + row]
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
