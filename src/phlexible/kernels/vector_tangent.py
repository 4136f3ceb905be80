"""How world vectors and the forces on them change with nu_{n+1}: the exact derivatives of ``vectors.py``."""

from phlexible.kernels import tables as at
from phlexible.kernels.compiled import compiled
from phlexible.kernels.inertia import axis_of
from phlexible.kernels.inertia_tangent import projected_derivative
from phlexible.kernels.vectors import lever_arm, project, to_body


@compiled
def vector_derivatives(ints, reals, h, k):
    """X = dx_{n+1}/dnu_{n+1} (3, velocities) and Q (velocities, 3), the lever of a force on vector k."""
    b = ints[ints[at.VECTOR_BODY] + k]
    kind = ints[ints[at.TYPE_OF] + b]
    n = ints[ints[at.ELASTIC_COUNT] + kind]
    axes = ints[ints[at.AXIS_COUNT] + kind]
    dim = ints[at.DIMENSION]
    width = dim + axes + n
    start = ints[ints[at.VECTOR_WORK_START] + k]
    jacobian, lever = ints[at.VECTOR_JACOBIAN], ints[at.VECTOR_LEVER]
    a0, a1, a2 = (
        reals[ints[at.HALF_TURN] + 3 * b],
        reals[ints[at.HALF_TURN] + 3 * b + 1],
        reals[ints[at.HALF_TURN] + 3 * b + 2],
    )
    mean = ints[at.MEAN_ROTATION]
    c0, c1, c2 = lever_arm(ints, reals, k, b)
    for i in range(3):
        f0, f1, f2, _, _, _ = to_body(
            ints, reals, b, 1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0
        )
        point = float(ints[ints[at.VECTOR_IS_POINT] + k])
        reals[lever + start + i] = point * f0
        reals[lever + start + 3 + i] = point * f1
        if dim == 3:
            reals[lever + start + 6 + i] = point * f2
        y0, y1, y2 = project(a0, a1, a2, c1 * f2 - c2 * f1, c2 * f0 - c0 * f2, c0 * f1 - c1 * f0)
        if axes == 1:
            reals[lever + start + 3 * dim + i] = y2
        elif axes == 3:
            reals[lever + start + 9 + i] = y0
            reals[lever + start + 12 + i] = y1
            reals[lever + start + 15 + i] = y2
        shapes = ints[ints[at.VECTOR_SHAPES] + k]
        row = start + 3 * (dim + axes)
        for j in range(n):
            reals[lever + row + 3 * j + i] = (
                reals[shapes + j] * f0 + reals[shapes + n + j] * f1 + reals[shapes + 2 * n + j] * f2
            )
    u0, u1, u2 = (
        2 * reals[ints[at.RHO1] + 3 * k],
        2 * reals[ints[at.RHO1] + 3 * k + 1],
        2 * reals[ints[at.RHO1] + 3 * k + 2],
    )
    if ints[ints[at.VECTOR_IS_POINT] + k] == 1:
        u0 += 0.5 * h * (reals[ints[at.V0] + 3 * b] + reals[ints[at.V1] + 3 * b])
        u1 += 0.5 * h * (reals[ints[at.V0] + 3 * b + 1] + reals[ints[at.V1] + 3 * b + 1])
        u2 += 0.5 * h * (reals[ints[at.V0] + 3 * b + 2] + reals[ints[at.V1] + 3 * b + 2])
    s = a0 * u0 + a1 * u1 + a2 * u2
    f = 1.0 / (1.0 + a0 * a0 + a1 * a1 + a2 * a2)
    u0, u1, u2 = (
        f * (u0 + a1 * u2 - a2 * u1 + a0 * s),
        f * (u1 + a2 * u0 - a0 * u2 + a1 * s),
        f * (u2 + a0 * u1 - a1 * u0 + a2 * s),
    )
    for i in range(3):
        m0, m1, m2 = (
            reals[mean + 9 * b + 3 * i],
            reals[mean + 9 * b + 3 * i + 1],
            reals[mean + 9 * b + 3 * i + 2],
        )
        row = start + i * width
        reals[jacobian + row] = 0.5 * h * m0 * ints[ints[at.VECTOR_IS_POINT] + k]
        reals[jacobian + row + 1] = 0.5 * h * m1 * ints[ints[at.VECTOR_IS_POINT] + k]
        if dim == 3:
            reals[jacobian + row + 2] = 0.5 * h * m2 * ints[ints[at.VECTOR_IS_POINT] + k]
        for l in range(axes):
            axis = axis_of(l, axes)
            if axis == 0:
                x = m2 * u1 - m1 * u2
            elif axis == 1:
                x = m0 * u2 - m2 * u0
            else:
                x = m1 * u0 - m0 * u1
            reals[jacobian + row + dim + l] = 0.25 * h * x
        r0, r1, r2 = (
            reals[ints[at.ROTATION1] + 9 * b + 3 * i],
            reals[ints[at.ROTATION1] + 9 * b + 3 * i + 1],
            reals[ints[at.ROTATION1] + 9 * b + 3 * i + 2],
        )
        shapes = ints[ints[at.VECTOR_SHAPES] + k]
        row += dim + axes
        for j in range(n):
            reals[jacobian + row + j] = (
                0.5
                * h
                * (r0 * reals[shapes + j] + r1 * reals[shapes + n + j] + r2 * reals[shapes + 2 * n + j])
            )


@compiled
def force_tangent(ints, reals, h, k, start):
    """Add the derivative of ``apply_force`` at constant world force to the block of the vector's body."""
    b = ints[ints[at.VECTOR_BODY] + k]
    kind = ints[ints[at.TYPE_OF] + b]
    n = ints[ints[at.ELASTIC_COUNT] + kind]
    axes = ints[ints[at.AXIS_COUNT] + kind]
    if axes == 0:
        return
    dim = ints[at.DIMENSION]
    width = dim + axes + n
    q = 0.25 * h
    a0, a1, a2 = (
        reals[ints[at.HALF_TURN] + 3 * b],
        reals[ints[at.HALF_TURN] + 3 * b + 1],
        reals[ints[at.HALF_TURN] + 3 * b + 2],
    )
    f0, f1, f2, g0, g1, g2 = to_body(
        ints,
        reals,
        b,
        reals[ints[at.VECTOR_FORCE] + 3 * k],
        reals[ints[at.VECTOR_FORCE] + 3 * k + 1],
        reals[ints[at.VECTOR_FORCE] + 3 * k + 2],
    )
    c0, c1, c2 = lever_arm(ints, reals, k, b)
    y0, y1, y2 = c1 * f2 - c2 * f1, c2 * f0 - c0 * f2, c0 * f1 - c1 * f0
    d0 = 0.5 * (reals[ints[at.RHO1] + 3 * k] - reals[ints[at.RHO0] + 3 * k])
    d1 = 0.5 * (reals[ints[at.RHO1] + 3 * k + 1] - reals[ints[at.RHO0] + 3 * k + 1])
    d2 = 0.5 * (reals[ints[at.RHO1] + 3 * k + 2] - reals[ints[at.RHO0] + 3 * k + 2])
    shapes = ints[ints[at.VECTOR_SHAPES] + k]
    for l in range(axes):
        axis = axis_of(l, axes)
        e0, e1, e2 = (
            q * (1.0 if axis == 0 else 0.0),
            q * (1.0 if axis == 1 else 0.0),
            q * (1.0 if axis == 2 else 0.0),
        )
        df0, df1, df2 = g1 * e2 - g2 * e1, g2 * e0 - g0 * e2, g0 * e1 - g1 * e0
        dc0, dc1, dc2 = e1 * d2 - e2 * d1, e2 * d0 - e0 * d2, e0 * d1 - e1 * d0
        column = start + dim + l
        if ints[ints[at.VECTOR_IS_POINT] + k] == 1:
            reals[column] -= h * df0
            reals[column + width] -= h * df1
            if dim == 3:
                reals[column + 2 * width] -= h * df2
        dy0 = dc1 * f2 - dc2 * f1 + c1 * df2 - c2 * df1
        dy1 = dc2 * f0 - dc0 * f2 + c2 * df0 - c0 * df2
        dy2 = dc0 * f1 - dc1 * f0 + c0 * df1 - c1 * df0
        z0, z1, z2 = projected_derivative(a0, a1, a2, e0, e1, e2, y0, y1, y2, dy0, dy1, dy2)
        row = column + dim * width
        if axes == 1:
            reals[row] -= h * z2
        else:
            reals[row] -= h * z0
            reals[row + width] -= h * z1
            reals[row + 2 * width] -= h * z2
        row += axes * width
        for j in range(ints[ints[at.VECTOR_FIRST] + k], ints[ints[at.VECTOR_LAST] + k]):
            s = reals[shapes + j] * df0 + reals[shapes + n + j] * df1 + reals[shapes + 2 * n + j] * df2
            reals[row + j * width] -= h * s
    for j in range(ints[ints[at.VECTOR_FIRST] + k], ints[ints[at.VECTOR_LAST] + k]):
        p0, p1, p2 = q * reals[shapes + j], q * reals[shapes + n + j], q * reals[shapes + 2 * n + j]
        dc0, dc1, dc2 = p0 + a1 * p2 - a2 * p1, p1 + a2 * p0 - a0 * p2, p2 + a0 * p1 - a1 * p0
        z0, z1, z2 = project(a0, a1, a2, dc1 * f2 - dc2 * f1, dc2 * f0 - dc0 * f2, dc0 * f1 - dc1 * f0)
        row = start + dim * width + dim + axes + j
        if axes == 1:
            reals[row] -= h * z2
        else:
            reals[row] -= h * z0
            reals[row + width] -= h * z1
            reals[row + 2 * width] -= h * z2
