"""Exact derivative of the inertia balance of ``inertia.py`` with respect to nu_{n+1}."""

from phlexible.kernels import tables as at
from phlexible.kernels.compiled import compiled
from phlexible.kernels.inertia import axis_of, rate_product, start_of


@compiled
def inertia_tangent(ints, reals, b, h, start):
    """Write the body's (velocities, velocities) block at ``start``."""
    kind = ints[ints[at.TYPE_OF] + b]
    n = ints[ints[at.ELASTIC_COUNT] + kind]
    m = n + 1
    axes = ints[ints[at.AXIS_COUNT] + kind]
    dim = ints[at.DIMENSION]
    rigid = dim + axes
    width = rigid + n
    x0 = start_of(ints, b)
    first = ints[ints[at.FIRST_MOMENT] + kind]
    mass = reals[ints[at.MASS] + kind]
    q = 0.25 * h
    s0, s1, s2 = (
        reals[ints[at.MOMENT1] + 3 * b],
        reals[ints[at.MOMENT1] + 3 * b + 1],
        reals[ints[at.MOMENT1] + 3 * b + 2],
    )
    for c in range(dim):
        e0, e1, e2 = 1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0
        _rigid_rows(
            ints,
            reals,
            b,
            h,
            start,
            width,
            c,
            mass * e0,
            mass * e1,
            mass * e2,
            s1 * e2 - s2 * e1,
            s2 * e0 - s0 * e2,
            s0 * e1 - s1 * e0,
            0.0,
            0.0,
            0.0,
            0.5 * e0,
            0.5 * e1,
            0.5 * e2,
        )
        w0, w1, w2 = (
            reals[ints[at.W0] + 3 * b],
            reals[ints[at.W0] + 3 * b + 1],
            reals[ints[at.W0] + 3 * b + 2],
        )
        t0, t1, t2 = e1 * w2 - e2 * w1, e2 * w0 - e0 * w2, e0 * w1 - e1 * w0
        for i in range(1, m):
            g = reals[first + i] * t0 + reals[first + m + i] * t1 + reals[first + 2 * m + i] * t2
            reals[start + (rigid + i - 1) * width + c] = reals[first + c * m + i] - 0.5 * h * g
    for l in range(axes):
        axis = axis_of(l, axes)
        e0, e1, e2 = 1.0 if axis == 0 else 0.0, 1.0 if axis == 1 else 0.0, 1.0 if axis == 2 else 0.0
        j0, j1, j2 = _inertia_column(ints, reals, b, l, axes, x0, m)
        _rigid_rows(
            ints,
            reals,
            b,
            h,
            start,
            width,
            dim + l,
            e1 * s2 - e2 * s1,
            e2 * s0 - e0 * s2,
            e0 * s1 - e1 * s0,
            j0,
            j1,
            j2,
            q * e0,
            q * e1,
            q * e2,
            0.0,
            0.0,
            0.0,
        )
        v0, v1, v2 = (
            reals[ints[at.V0] + 3 * b],
            reals[ints[at.V0] + 3 * b + 1],
            reals[ints[at.V0] + 3 * b + 2],
        )
        t0, t1, t2 = v1 * e2 - v2 * e1, v2 * e0 - v0 * e2, v0 * e1 - v1 * e0
        z = 3 * x0 + l * m
        for i in range(1, m):
            g = reals[first + i] * t0 + reals[first + m + i] * t1 + reals[first + 2 * m + i] * t2
            g += reals[ints[at.Z_RATE0] + z + i]
            for k in range(axes):
                y = 6 * x0 + _pair(k, l, axes) * m
                g += reals[ints[at.W0] + 3 * b + axis_of(k, axes)] * (
                    reals[ints[at.Y_XI0] + y + i] + reals[ints[at.Y_XI1] + y + i]
                )
            reals[start + (rigid + i - 1) * width + dim + l] = reals[ints[at.Z_XI] + z + i] - 0.5 * h * g
    if n > 0:
        _elastic_columns(ints, reals, b, h, start, width)


@compiled
def _elastic_columns(ints, reals, b, h, start, width):
    kind = ints[ints[at.TYPE_OF] + b]
    m = ints[ints[at.ELASTIC_COUNT] + kind] + 1
    axes = ints[ints[at.AXIS_COUNT] + kind]
    dim = ints[at.DIMENSION]
    rigid = dim + axes
    x0 = start_of(ints, b)
    first = ints[ints[at.FIRST_MOMENT] + kind]
    w0, w1, w2 = reals[ints[at.W1] + 3 * b], reals[ints[at.W1] + 3 * b + 1], reals[ints[at.W1] + 3 * b + 2]
    v0, v1, v2 = reals[ints[at.V1] + 3 * b], reals[ints[at.V1] + 3 * b + 1], reals[ints[at.V1] + 3 * b + 2]
    half = 0.5 * h
    for j in range(1, m):
        s0, s1, s2 = reals[first + j], reals[first + m + j], reals[first + 2 * m + j]
        r0, r1, r2 = half * (s1 * v2 - s2 * v1), half * (s2 * v0 - s0 * v2), half * (s0 * v1 - s1 * v0)
        for k in range(axes):
            z = 3 * x0 + k * m + j
            g = reals[ints[at.Z_XI] + z] + half * reals[ints[at.Z_RATE1] + z]
            for l in range(axes):
                y = 6 * x0 + _pair(k, l, axes) * m + j
                g += h * reals[ints[at.W1] + 3 * b + axis_of(l, axes)] * reals[ints[at.Y_XI1] + y]
            axis = axis_of(k, axes)
            if axis == 0:
                r0 += g
            elif axis == 1:
                r1 += g
            else:
                r2 += g
        _rigid_rows(
            ints,
            reals,
            b,
            h,
            start,
            width,
            rigid + j - 1,
            s0 + half * (w1 * s2 - w2 * s1),
            s1 + half * (w2 * s0 - w0 * s2),
            s2 + half * (w0 * s1 - w1 * s0),
            r0,
            r1,
            r2,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
        )
    mass = ints[ints[at.DEFORMATION_MASS] + kind]
    for i in range(1, m):
        row = start + (rigid + i - 1) * width + rigid - 1
        for j in range(1, m):
            reals[row + j] = reals[mass + i * m + j]
    pair = 0
    for k in range(axes):
        p = axis_of(k, axes)
        z = ints[ints[at.GYROSCOPIC] + kind] + k * m * m
        c = half * (reals[ints[at.W0] + 3 * b + p] + reals[ints[at.W1] + 3 * b + p])
        for i in range(1, m):
            row = start + (rigid + i - 1) * width + rigid - 1
            for j in range(1, m):
                reals[row + j] -= c * reals[z + i * m + j]
        for l in range(k, axes):
            y = ints[ints[at.ROTATIONAL] + kind] + pair * m * m
            c2 = half * half * rate_product(ints, reals, b, p, axis_of(l, axes))
            for i in range(1, m):
                row = start + (rigid + i - 1) * width + rigid - 1
                for j in range(1, m):
                    reals[row + j] -= c2 * reals[y + i * m + j]
            pair += 1


@compiled
def _rigid_rows(
    ints, reals, b, h, start, width, column, t0, t1, t2, r0, r1, r2, da0, da1, da2, dv0, dv1, dv2
):
    """Rows of both rigid balances in one column.

    t, r: derivatives of pi_t and pi_r at the end of the step; da, dv: of a and of mean(v).
    """
    a0, a1, a2 = (
        reals[ints[at.HALF_TURN] + 3 * b],
        reals[ints[at.HALF_TURN] + 3 * b + 1],
        reals[ints[at.HALF_TURN] + 3 * b + 2],
    )
    p0 = reals[ints[at.LINEAR1] + 3 * b] + reals[ints[at.LINEAR0] + 3 * b]
    p1 = reals[ints[at.LINEAR1] + 3 * b + 1] + reals[ints[at.LINEAR0] + 3 * b + 1]
    p2 = reals[ints[at.LINEAR1] + 3 * b + 2] + reals[ints[at.LINEAR0] + 3 * b + 2]
    at0, at1, at2 = a1 * t2 - a2 * t1, a2 * t0 - a0 * t2, a0 * t1 - a1 * t0
    reals[start + column] = t0 + at0 + da1 * p2 - da2 * p1
    reals[start + width + column] = t1 + at1 + da2 * p0 - da0 * p2
    if ints[at.DIMENSION] == 3:
        reals[start + 2 * width + column] = t2 + at2 + da0 * p1 - da1 * p0
    axes = ints[ints[at.AXIS_COUNT] + ints[ints[at.TYPE_OF] + b]]
    if axes == 0:
        return
    d0 = 0.5 * (reals[ints[at.LINEAR1] + 3 * b] - reals[ints[at.LINEAR0] + 3 * b])
    d1 = 0.5 * (reals[ints[at.LINEAR1] + 3 * b + 1] - reals[ints[at.LINEAR0] + 3 * b + 1])
    d2 = 0.5 * (reals[ints[at.LINEAR1] + 3 * b + 2] - reals[ints[at.LINEAR0] + 3 * b + 2])
    q0, q1, q2 = 0.5 * p0 + a1 * d2 - a2 * d1, 0.5 * p1 + a2 * d0 - a0 * d2, 0.5 * p2 + a0 * d1 - a1 * d0
    dq0 = 0.5 * (t0 + at0) + da1 * d2 - da2 * d1
    dq1 = 0.5 * (t1 + at1) + da2 * d0 - da0 * d2
    dq2 = 0.5 * (t2 + at2) + da0 * d1 - da1 * d0
    u0 = 0.5 * (reals[ints[at.V0] + 3 * b] + reals[ints[at.V1] + 3 * b])
    u1 = 0.5 * (reals[ints[at.V0] + 3 * b + 1] + reals[ints[at.V1] + 3 * b + 1])
    u2 = 0.5 * (reals[ints[at.V0] + 3 * b + 2] + reals[ints[at.V1] + 3 * b + 2])
    y0, y1, y2 = q1 * u2 - q2 * u1, q2 * u0 - q0 * u2, q0 * u1 - q1 * u0
    dy0 = dq1 * u2 - dq2 * u1 + q1 * dv2 - q2 * dv1
    dy1 = dq2 * u0 - dq0 * u2 + q2 * dv0 - q0 * dv2
    dy2 = dq0 * u1 - dq1 * u0 + q0 * dv1 - q1 * dv0
    ny0, ny1, ny2 = projected_derivative(a0, a1, a2, da0, da1, da2, y0, y1, y2, dy0, dy1, dy2)
    r20 = reals[ints[at.ANGULAR1] + 3 * b] + reals[ints[at.ANGULAR0] + 3 * b]
    r21 = reals[ints[at.ANGULAR1] + 3 * b + 1] + reals[ints[at.ANGULAR0] + 3 * b + 1]
    r22 = reals[ints[at.ANGULAR1] + 3 * b + 2] + reals[ints[at.ANGULAR0] + 3 * b + 2]
    row = start + ints[at.DIMENSION] * width + column
    z = r2 + a0 * r1 - a1 * r0 + da0 * r21 - da1 * r20 - h * ny2
    if axes == 1:
        reals[row] = z
    else:
        reals[row] = r0 + a1 * r2 - a2 * r1 + da1 * r22 - da2 * r21 - h * ny0
        reals[row + width] = r1 + a2 * r0 - a0 * r2 + da2 * r20 - da0 * r22 - h * ny1
        reals[row + 2 * width] = z


@compiled
def projected_derivative(a0, a1, a2, da0, da1, da2, y0, y1, y2, dy0, dy1, dy2):
    """Derivative of N y with N = I - a a^T / (1 + a.a)."""
    f = 1.0 / (1.0 + a0 * a0 + a1 * a1 + a2 * a2)
    ay = (a0 * y0 + a1 * y1 + a2 * y2) * f
    day = (da0 * y0 + da1 * y1 + da2 * y2 + a0 * dy0 + a1 * dy1 + a2 * dy2) * f
    day -= 2.0 * ay * f * (a0 * da0 + a1 * da1 + a2 * da2)
    return (dy0 - da0 * ay - a0 * day, dy1 - da1 * ay - a1 * day, dy2 - da2 * ay - a2 * day)


@compiled
def _inertia_column(ints, reals, b, l, axes, x0, m):
    """Column l of Jrot(eta_{n+1}) as a 3-vector in body axes."""
    j0, j1, j2 = 0.0, 0.0, 0.0
    for k in range(axes):
        y = 6 * x0 + _pair(k, l, axes) * m
        s = 0.0
        for j in range(m):
            s += reals[ints[at.XI1] + x0 + j] * reals[ints[at.Y_XI1] + y + j]
        axis = axis_of(k, axes)
        if axis == 0:
            j0 = s
        elif axis == 1:
            j1 = s
        else:
            j2 = s
    return (j0, j1, j2)


@compiled
def _pair(k, l, axes):
    """Number of the pair (k, l) among (0,0), (0,1), (0,2), (1,1), (1,2), (2,2)."""
    p, q = (k, l) if k <= l else (l, k)
    return p * axes - p * (p - 1) // 2 + q - p
