"""World vectors over one step: values, derivatives and how forces on them enter the balances.

With c = mean(rho) + a x delta(rho) / 2 a force f (world axes) on the vector r + R rho or R rho enters as
A^-1 f (points only), N (c x A^-1 f) and P^T A^-1 f (see ``inertia.py``), where A^-1 = (I - [a]) R_n^T.
"""

from phlexible.kernels import tables as at
from phlexible.kernels.compiled import compiled
from phlexible.kernels.inertia import start_of


@compiled
def body_vector(ints, reals, k, xi, x0, n, out):
    """rho = base + shapes eta of vector k into out[k]."""
    for i in range(3):
        s = reals[ints[at.VECTOR_BASE] + 3 * k + i]
        start = ints[ints[at.VECTOR_SHAPES] + k] + i * n
        for j in range(ints[ints[at.VECTOR_FIRST] + k], ints[ints[at.VECTOR_LAST] + k]):
            s += reals[start + j] * reals[xi + x0 + 1 + j]
        reals[out + 3 * k + i] = s


@compiled
def world_vector(ints, reals, k, rho, rotation, position, b, out):
    """R rho, for points plus r, into out[k]."""
    for i in range(3):
        s = (
            reals[rotation + 9 * b + 3 * i] * reals[rho + 3 * k]
            + reals[rotation + 9 * b + 3 * i + 1] * reals[rho + 3 * k + 1]
            + reals[rotation + 9 * b + 3 * i + 2] * reals[rho + 3 * k + 2]
        )
        if ints[ints[at.VECTOR_IS_POINT] + k] == 1:
            s += reals[position + 3 * b + i]
        reals[out + 3 * k + i] = s


@compiled
def end_vectors(ints, reals):
    """x_{n+1} and mean(x) of all vectors on bodies."""
    for k in range(ints[at.VECTORS]):
        b = ints[ints[at.VECTOR_BODY] + k]
        if b >= 0:
            n = ints[ints[at.ELASTIC_COUNT] + ints[ints[at.TYPE_OF] + b]]
            body_vector(ints, reals, k, ints[at.XI1], start_of(ints, b), n, ints[at.RHO1])
            world_vector(
                ints, reals, k, ints[at.RHO1], ints[at.ROTATION1], ints[at.POSITION1], b, ints[at.X1]
            )
            for i in range(3):
                reals[ints[at.X_MEAN] + 3 * k + i] = 0.5 * (
                    reals[ints[at.X0] + 3 * k + i] + reals[ints[at.X1] + 3 * k + i]
                )


@compiled
def lever_arm(ints, reals, k, b):
    """c = mean(rho) + a x delta(rho) / 2 of vector k."""
    a0, a1, a2 = (
        reals[ints[at.HALF_TURN] + 3 * b],
        reals[ints[at.HALF_TURN] + 3 * b + 1],
        reals[ints[at.HALF_TURN] + 3 * b + 2],
    )
    d0 = 0.5 * (reals[ints[at.RHO1] + 3 * k] - reals[ints[at.RHO0] + 3 * k])
    d1 = 0.5 * (reals[ints[at.RHO1] + 3 * k + 1] - reals[ints[at.RHO0] + 3 * k + 1])
    d2 = 0.5 * (reals[ints[at.RHO1] + 3 * k + 2] - reals[ints[at.RHO0] + 3 * k + 2])
    return (
        reals[ints[at.RHO0] + 3 * k] + d0 + a1 * d2 - a2 * d1,
        reals[ints[at.RHO0] + 3 * k + 1] + d1 + a2 * d0 - a0 * d2,
        reals[ints[at.RHO0] + 3 * k + 2] + d2 + a0 * d1 - a1 * d0,
    )


@compiled
def to_body(ints, reals, b, f0, f1, f2):
    """A^-1 f = (I - [a]) R_n^T f, and R_n^T f."""
    r = ints[at.STATE_ROTATION]
    a0, a1, a2 = (
        reals[ints[at.HALF_TURN] + 3 * b],
        reals[ints[at.HALF_TURN] + 3 * b + 1],
        reals[ints[at.HALF_TURN] + 3 * b + 2],
    )
    g0 = reals[r + 9 * b] * f0 + reals[r + 9 * b + 3] * f1 + reals[r + 9 * b + 6] * f2
    g1 = reals[r + 9 * b + 1] * f0 + reals[r + 9 * b + 3 + 1] * f1 + reals[r + 9 * b + 6 + 1] * f2
    g2 = reals[r + 9 * b + 2] * f0 + reals[r + 9 * b + 3 + 2] * f1 + reals[r + 9 * b + 6 + 2] * f2
    return (g0 - a1 * g2 + a2 * g1, g1 - a2 * g0 + a0 * g2, g2 - a0 * g1 + a1 * g0, g0, g1, g2)


@compiled
def project(a0, a1, a2, y0, y1, y2):
    """N y with N = I - a a^T / (1 + a.a)."""
    s = (a0 * y0 + a1 * y1 + a2 * y2) / (1.0 + a0 * a0 + a1 * a1 + a2 * a2)
    return (y0 - a0 * s, y1 - a1 * s, y2 - a2 * s)


@compiled
def apply_force(ints, reals, h, k):
    """Subtract h times the generalized force of the force on vector k from the balances of its body."""
    b = ints[ints[at.VECTOR_BODY] + k]
    kind = ints[ints[at.TYPE_OF] + b]
    n = ints[ints[at.ELASTIC_COUNT] + kind]
    axes = ints[ints[at.AXIS_COUNT] + kind]
    dim = ints[at.DIMENSION]
    row = ints[at.RESIDUAL] + ints[ints[at.VELOCITY_START] + b]
    f0, f1, f2, _, _, _ = to_body(
        ints,
        reals,
        b,
        reals[ints[at.VECTOR_FORCE] + 3 * k],
        reals[ints[at.VECTOR_FORCE] + 3 * k + 1],
        reals[ints[at.VECTOR_FORCE] + 3 * k + 2],
    )
    if ints[ints[at.VECTOR_IS_POINT] + k] == 1:
        reals[row] -= h * f0
        reals[row + 1] -= h * f1
        if dim == 3:
            reals[row + 2] -= h * f2
    row += dim
    if axes > 0:
        c0, c1, c2 = lever_arm(ints, reals, k, b)
        y0, y1, y2 = project(
            reals[ints[at.HALF_TURN] + 3 * b],
            reals[ints[at.HALF_TURN] + 3 * b + 1],
            reals[ints[at.HALF_TURN] + 3 * b + 2],
            c1 * f2 - c2 * f1,
            c2 * f0 - c0 * f2,
            c0 * f1 - c1 * f0,
        )
        if axes == 1:
            reals[row] -= h * y2
        else:
            reals[row] -= h * y0
            reals[row + 1] -= h * y1
            reals[row + 2] -= h * y2
    row += axes
    shapes = ints[ints[at.VECTOR_SHAPES] + k]
    for j in range(ints[ints[at.VECTOR_FIRST] + k], ints[ints[at.VECTOR_LAST] + k]):
        reals[row + j] -= h * (
            reals[shapes + j] * f0 + reals[shapes + n + j] * f1 + reals[shapes + 2 * n + j] * f2
        )
