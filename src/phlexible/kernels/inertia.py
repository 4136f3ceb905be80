"""Inertia of a floating body over one step: momenta, balance and its exact derivative.

Everything is in the body frame. With a = h mean(w) / 2, A = R_n (I - [a])^-1 and N = I - a a^T / (1 + a.a)
the balances of formulation 4, the translational one multiplied by A^-1, read::

    delta(pi_t)   + 2 a x mean(pi_t)                                   = h sum A^-1 f
    delta(pi_r)   + 2 a x mean(pi_r) - h N ((mean(pi_t) + a x delta(pi_t) / 2) x mean(v))
                                                                       = h sum N (c x A^-1 f)
    delta(pi_eta) - h nu_n^T dM/deta(mean eta) nu_{n+1} / 2            = h sum P^T A^-1 f - h (elastic)

because A x cross A y = det(A) A^-T (x cross y) and det(A) A^-1 A^-T = N.
"""

from phlexible.kernels import tables as at
from phlexible.kernels.compiled import compiled
from phlexible.kernels.dense import multiply


@compiled
def axis_of(k, axes):
    """Body axis of rotation number k: z in the plane, x, y, z in space."""
    return 2 if axes == 1 else k


@compiled
def start_of(ints, b):
    """Start of a body's m numbers."""
    return ints[ints[at.ELASTIC_START] + b] + b


@compiled
def momenta(ints, reals, b, v, w, xi, rate, linear, angular, elastic_, moment, z_rate, z_xi, y_xi):
    """pi = M(eta) nu of body b, with the products that the balance needs again."""
    kind = ints[ints[at.TYPE_OF] + b]
    n = ints[ints[at.ELASTIC_COUNT] + kind]
    m = n + 1
    axes = ints[ints[at.AXIS_COUNT] + kind]
    x0 = start_of(ints, b)
    first = ints[ints[at.FIRST_MOMENT] + kind]
    mass = reals[ints[at.MASS] + kind]
    for i in range(3):
        s = 0.0
        t = 0.0
        for j in range(m):
            s += reals[first + i * m + j] * reals[xi + x0 + j]
            t += reals[first + i * m + j] * reals[rate + x0 + j]
        reals[moment + 3 * b + i] = s
        reals[linear + 3 * b + i] = mass * reals[v + 3 * b + i] + t
    s0, s1, s2 = reals[moment + 3 * b], reals[moment + 3 * b + 1], reals[moment + 3 * b + 2]
    v0, v1, v2 = reals[v + 3 * b], reals[v + 3 * b + 1], reals[v + 3 * b + 2]
    w0, w1, w2 = reals[w + 3 * b], reals[w + 3 * b + 1], reals[w + 3 * b + 2]
    reals[linear + 3 * b] += w1 * s2 - w2 * s1
    reals[linear + 3 * b + 1] += w2 * s0 - w0 * s2
    reals[linear + 3 * b + 2] += w0 * s1 - w1 * s0
    multiply(reals, ints[ints[at.DEFORMATION_MASS] + kind], m, m, rate + x0, elastic_ + x0)
    for j in range(m):
        reals[elastic_ + x0 + j] += (
            reals[first + j] * v0 + reals[first + m + j] * v1 + reals[first + 2 * m + j] * v2
        )
    reals[angular + 3 * b] = s1 * v2 - s2 * v1
    reals[angular + 3 * b + 1] = s2 * v0 - s0 * v2
    reals[angular + 3 * b + 2] = s0 * v1 - s1 * v0
    for k in range(axes):
        axis = axis_of(k, axes)
        z = ints[ints[at.GYROSCOPIC] + kind] + k * m * m
        multiply(reals, z, m, m, rate + x0, z_rate + 3 * x0 + k * m)
        multiply(reals, z, m, m, xi + x0, z_xi + 3 * x0 + k * m)
        s = 0.0
        for j in range(m):
            reals[z_xi + 3 * x0 + k * m + j] = -reals[z_xi + 3 * x0 + k * m + j]
            reals[elastic_ + x0 + j] += reals[w + 3 * b + axis] * reals[z_xi + 3 * x0 + k * m + j]
            s += reals[xi + x0 + j] * reals[z_rate + 3 * x0 + k * m + j]
        reals[angular + 3 * b + axis] += s
    pair = 0
    for k in range(axes):
        for l in range(k, axes):
            y = 6 * x0 + pair * m
            multiply(reals, ints[ints[at.ROTATIONAL] + kind] + pair * m * m, m, m, xi + x0, y_xi + y)
            s = 0.0
            for j in range(m):
                s += reals[xi + x0 + j] * reals[y_xi + y + j]
            p, q = axis_of(k, axes), axis_of(l, axes)
            reals[angular + 3 * b + p] += s * reals[w + 3 * b + q]
            if k != l:
                reals[angular + 3 * b + q] += s * reals[w + 3 * b + p]
            pair += 1


@compiled
def kinetic_energy(ints, reals, b, v, w, rate, linear, angular, elastic_):
    """nu . pi / 2 of body b."""
    x0 = start_of(ints, b)
    n = ints[ints[at.ELASTIC_COUNT] + ints[ints[at.TYPE_OF] + b]]
    s = 0.0
    for i in range(3):
        s += (
            reals[v + 3 * b + i] * reals[linear + 3 * b + i]
            + reals[w + 3 * b + i] * reals[angular + 3 * b + i]
        )
    for j in range(1, n + 1):
        s += reals[rate + x0 + j] * reals[elastic_ + x0 + j]
    return 0.5 * s


@compiled
def end_pose(ints, reals, b, h):
    """a, A, R_{n+1} and r_{n+1} of body b from the velocities at both ends (Cayley map)."""
    a0 = 0.25 * h * (reals[ints[at.W0] + 3 * b] + reals[ints[at.W1] + 3 * b])
    a1 = 0.25 * h * (reals[ints[at.W0] + 3 * b + 1] + reals[ints[at.W1] + 3 * b + 1])
    a2 = 0.25 * h * (reals[ints[at.W0] + 3 * b + 2] + reals[ints[at.W1] + 3 * b + 2])
    (
        reals[ints[at.HALF_TURN] + 3 * b],
        reals[ints[at.HALF_TURN] + 3 * b + 1],
        reals[ints[at.HALF_TURN] + 3 * b + 2],
    ) = a0, a1, a2
    f = 1.0 / (1.0 + a0 * a0 + a1 * a1 + a2 * a2)
    c00, c01, c02 = f * (1 + a0 * a0), f * (a0 * a1 - a2), f * (a0 * a2 + a1)
    c10, c11, c12 = f * (a1 * a0 + a2), f * (1 + a1 * a1), f * (a1 * a2 - a0)
    c20, c21, c22 = f * (a2 * a0 - a1), f * (a2 * a1 + a0), f * (1 + a2 * a2)
    vb0 = 0.5 * (reals[ints[at.V0] + 3 * b] + reals[ints[at.V1] + 3 * b])
    vb1 = 0.5 * (reals[ints[at.V0] + 3 * b + 1] + reals[ints[at.V1] + 3 * b + 1])
    vb2 = 0.5 * (reals[ints[at.V0] + 3 * b + 2] + reals[ints[at.V1] + 3 * b + 2])
    for i in range(3):
        r0, r1, r2 = (
            reals[ints[at.STATE_ROTATION] + 9 * b + 3 * i],
            reals[ints[at.STATE_ROTATION] + 9 * b + 3 * i + 1],
            reals[ints[at.STATE_ROTATION] + 9 * b + 3 * i + 2],
        )
        m0 = r0 * c00 + r1 * c10 + r2 * c20
        m1 = r0 * c01 + r1 * c11 + r2 * c21
        m2 = r0 * c02 + r1 * c12 + r2 * c22
        (
            reals[ints[at.MEAN_ROTATION] + 9 * b + 3 * i],
            reals[ints[at.MEAN_ROTATION] + 9 * b + 3 * i + 1],
            reals[ints[at.MEAN_ROTATION] + 9 * b + 3 * i + 2],
        ) = m0, m1, m2
        reals[ints[at.ROTATION1] + 9 * b + 3 * i] = 2 * m0 - r0
        reals[ints[at.ROTATION1] + 9 * b + 3 * i + 1] = 2 * m1 - r1
        reals[ints[at.ROTATION1] + 9 * b + 3 * i + 2] = 2 * m2 - r2
        reals[ints[at.POSITION1] + 3 * b + i] = reals[ints[at.STATE_POSITION] + 3 * b + i] + h * (
            m0 * vb0 + m1 * vb1 + m2 * vb2
        )


@compiled
def inertia_balance(ints, reals, b, h):
    """Left sides of the three balances of body b, without elastic terms, into its rows of the residual."""
    kind = ints[ints[at.TYPE_OF] + b]
    n = ints[ints[at.ELASTIC_COUNT] + kind]
    m = n + 1
    axes = ints[ints[at.AXIS_COUNT] + kind]
    x0 = start_of(ints, b)
    row = ints[at.RESIDUAL] + ints[ints[at.VELOCITY_START] + b]
    a0, a1, a2 = (
        reals[ints[at.HALF_TURN] + 3 * b],
        reals[ints[at.HALF_TURN] + 3 * b + 1],
        reals[ints[at.HALF_TURN] + 3 * b + 2],
    )
    d0 = reals[ints[at.LINEAR1] + 3 * b] - reals[ints[at.LINEAR0] + 3 * b]
    d1 = reals[ints[at.LINEAR1] + 3 * b + 1] - reals[ints[at.LINEAR0] + 3 * b + 1]
    d2 = reals[ints[at.LINEAR1] + 3 * b + 2] - reals[ints[at.LINEAR0] + 3 * b + 2]
    p0 = 0.5 * (reals[ints[at.LINEAR1] + 3 * b] + reals[ints[at.LINEAR0] + 3 * b])
    p1 = 0.5 * (reals[ints[at.LINEAR1] + 3 * b + 1] + reals[ints[at.LINEAR0] + 3 * b + 1])
    p2 = 0.5 * (reals[ints[at.LINEAR1] + 3 * b + 2] + reals[ints[at.LINEAR0] + 3 * b + 2])
    reals[row] = d0 + 2 * (a1 * p2 - a2 * p1)
    reals[row + 1] = d1 + 2 * (a2 * p0 - a0 * p2)
    if ints[at.DIMENSION] == 3:
        reals[row + 2] = d2 + 2 * (a0 * p1 - a1 * p0)
    row += ints[at.DIMENSION]
    if axes > 0:
        q0 = p0 + 0.5 * (a1 * d2 - a2 * d1)
        q1 = p1 + 0.5 * (a2 * d0 - a0 * d2)
        q2 = p2 + 0.5 * (a0 * d1 - a1 * d0)
        u0 = 0.5 * (reals[ints[at.V0] + 3 * b] + reals[ints[at.V1] + 3 * b])
        u1 = 0.5 * (reals[ints[at.V0] + 3 * b + 1] + reals[ints[at.V1] + 3 * b + 1])
        u2 = 0.5 * (reals[ints[at.V0] + 3 * b + 2] + reals[ints[at.V1] + 3 * b + 2])
        y0, y1, y2 = q1 * u2 - q2 * u1, q2 * u0 - q0 * u2, q0 * u1 - q1 * u0
        s = (a0 * y0 + a1 * y1 + a2 * y2) / (1.0 + a0 * a0 + a1 * a1 + a2 * a2)
        r0 = reals[ints[at.ANGULAR1] + 3 * b] + reals[ints[at.ANGULAR0] + 3 * b]
        r1 = reals[ints[at.ANGULAR1] + 3 * b + 1] + reals[ints[at.ANGULAR0] + 3 * b + 1]
        r2 = reals[ints[at.ANGULAR1] + 3 * b + 2] + reals[ints[at.ANGULAR0] + 3 * b + 2]
        z = (
            reals[ints[at.ANGULAR1] + 3 * b + 2]
            - reals[ints[at.ANGULAR0] + 3 * b + 2]
            + a0 * r1
            - a1 * r0
            - h * (y2 - a2 * s)
        )
        if axes == 1:
            reals[row] = z
        else:
            reals[row] = (
                reals[ints[at.ANGULAR1] + 3 * b]
                - reals[ints[at.ANGULAR0] + 3 * b]
                + a1 * r2
                - a2 * r1
                - h * (y0 - a0 * s)
            )
            reals[row + 1] = (
                reals[ints[at.ANGULAR1] + 3 * b + 1]
                - reals[ints[at.ANGULAR0] + 3 * b + 1]
                + a2 * r0
                - a0 * r2
                - h * (y1 - a1 * s)
            )
            reals[row + 2] = z
    row += axes
    if n == 0:
        return
    first = ints[ints[at.FIRST_MOMENT] + kind]
    t0, t1, t2 = _velocity_products(ints, reals, b)
    for i in range(1, m):
        g = 0.5 * (reals[first + i] * t0 + reals[first + m + i] * t1 + reals[first + 2 * m + i] * t2)
        reals[(row + i - 1)] = reals[ints[at.ELASTIC1] + x0 + i] - reals[ints[at.ELASTIC0] + x0 + i] - h * g
    pair = 0
    for k in range(axes):
        p = axis_of(k, axes)
        c0, c1 = 0.5 * h * reals[ints[at.W0] + 3 * b + p], 0.5 * h * reals[ints[at.W1] + 3 * b + p]
        z = 3 * x0 + k * m
        for i in range(1, m):
            reals[(row + i - 1)] -= (
                c0 * reals[ints[at.Z_RATE1] + z + i] + c1 * reals[ints[at.Z_RATE0] + z + i]
            )
        for l in range(k, axes):
            c = 0.5 * h * rate_product(ints, reals, b, p, axis_of(l, axes))
            y = 6 * x0 + pair * m
            for i in range(1, m):
                reals[(row + i - 1)] -= c * (reals[ints[at.Y_XI0] + y + i] + reals[ints[at.Y_XI1] + y + i])
            pair += 1


@compiled
def rate_product(ints, reals, b, p, q):
    """Coefficient of Y_pq in w_n . Jrot w_{n+1}."""
    if p == q:
        return reals[ints[at.W0] + 3 * b + p] * reals[ints[at.W1] + 3 * b + p]
    return (
        reals[ints[at.W0] + 3 * b + p] * reals[ints[at.W1] + 3 * b + q]
        + reals[ints[at.W1] + 3 * b + p] * reals[ints[at.W0] + 3 * b + q]
    )


@compiled
def _velocity_products(ints, reals, b):
    """v_n x w_{n+1} + v_{n+1} x w_n."""
    v00, v01, v02 = reals[ints[at.V0] + 3 * b], reals[ints[at.V0] + 3 * b + 1], reals[ints[at.V0] + 3 * b + 2]
    v10, v11, v12 = reals[ints[at.V1] + 3 * b], reals[ints[at.V1] + 3 * b + 1], reals[ints[at.V1] + 3 * b + 2]
    w00, w01, w02 = reals[ints[at.W0] + 3 * b], reals[ints[at.W0] + 3 * b + 1], reals[ints[at.W0] + 3 * b + 2]
    w10, w11, w12 = reals[ints[at.W1] + 3 * b], reals[ints[at.W1] + 3 * b + 1], reals[ints[at.W1] + 3 * b + 2]
    return (
        v01 * w12 - v02 * w11 + v11 * w02 - v12 * w01,
        v02 * w10 - v00 * w12 + v12 * w00 - v10 * w02,
        v00 * w11 - v01 * w10 + v10 * w01 - v11 * w00,
    )
