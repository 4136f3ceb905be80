"""Forces and moments on attachments over one step, their work, and the weights of the bodies.

A moment t on a triad d_i applies f_i = t' x mean(d_i) with sum_i (|m_i|^2 I - m_i m_i^T) t' = t,
m_i = mean(d_i) (formulation, section 4). Follower loads are given in the mean triad.
"""

from phlexible.kernels import tables as at
from phlexible.kernels.compiled import compiled
from phlexible.kernels.couplings import add_product


@compiled
def load_forces(ints, reals):
    """Add loads and weights to the force on each vector."""
    for q in range(ints[at.WEIGHTS]):
        for i in range(3):
            reals[ints[at.VECTOR_FORCE] + 3 * ints[ints[at.WEIGHT_POINT] + q] + i] += reals[
                ints[at.WEIGHT] + 3 * q + i
            ]
    for q in range(ints[at.LOADS]):
        kind = ints[ints[at.LOAD_KIND] + q]
        if kind == at.FORCE:
            for i in range(3):
                reals[ints[at.VECTOR_FORCE] + 3 * ints[ints[at.LOAD_POINT] + q] + i] += reals[
                    ints[at.LOAD_VALUE] + 3 * q + i
                ]
        elif kind == at.FOLLOWER_FORCE:
            for d in range(3):
                for i in range(3):
                    reals[ints[at.VECTOR_FORCE] + 3 * ints[ints[at.LOAD_POINT] + q] + i] += (
                        reals[ints[at.LOAD_VALUE] + 3 * q + d]
                        * reals[ints[at.X_MEAN] + 3 * (ints[ints[at.LOAD_TRIAD] + q] + d) + i]
                    )
        else:
            t0, t1, t2 = torque_vector(ints, reals, q)
            for d in range(3):
                k = ints[ints[at.LOAD_TRIAD] + q] + d
                m0, m1, m2 = (
                    reals[ints[at.X_MEAN] + 3 * k],
                    reals[ints[at.X_MEAN] + 3 * k + 1],
                    reals[ints[at.X_MEAN] + 3 * k + 2],
                )
                reals[ints[at.VECTOR_FORCE] + 3 * k] += t1 * m2 - t2 * m1
                reals[ints[at.VECTOR_FORCE] + 3 * k + 1] += t2 * m0 - t0 * m2
                reals[ints[at.VECTOR_FORCE] + 3 * k + 2] += t0 * m1 - t1 * m0


@compiled
def torque_vector(ints, reals, q):
    """t' of load q."""
    value = ints[at.LOAD_VALUE] + 3 * q
    t0, t1, t2 = reals[value], reals[value + 1], reals[value + 2]
    if ints[ints[at.LOAD_KIND] + q] == at.FOLLOWER_TORQUE:
        t0, t1, t2 = in_triad(ints, reals, q)
    return solve_triad(ints, reals, ints[ints[at.LOAD_TRIAD] + q], t0, t1, t2)


@compiled
def in_triad(ints, reals, q):
    """World vector of a follower load: its three numbers in the mean triad."""
    value = ints[at.LOAD_VALUE] + 3 * q
    m = ints[at.X_MEAN] + 3 * ints[ints[at.LOAD_TRIAD] + q]
    f0, f1, f2 = reals[value], reals[value + 1], reals[value + 2]
    return (
        f0 * reals[m] + f1 * reals[m + 3] + f2 * reals[m + 6],
        f0 * reals[m + 1] + f1 * reals[m + 4] + f2 * reals[m + 7],
        f0 * reals[m + 2] + f1 * reals[m + 5] + f2 * reals[m + 8],
    )


@compiled
def solve_triad(ints, reals, k, t0, t1, t2):
    """(sum_i |m_i|^2 I - m_i m_i^T)^-1 t for the mean triad that starts at vector k."""
    m = ints[at.X_MEAN]
    a00 = reals[m + 3 * k] ** 2 + reals[m + 3 * (k + 1)] ** 2 + reals[m + 3 * (k + 2)] ** 2
    a11 = reals[m + 3 * k + 1] ** 2 + reals[m + 3 * (k + 1) + 1] ** 2 + reals[m + 3 * (k + 2) + 1] ** 2
    a22 = reals[m + 3 * k + 2] ** 2 + reals[m + 3 * (k + 1) + 2] ** 2 + reals[m + 3 * (k + 2) + 2] ** 2
    a01 = -(
        reals[m + 3 * k] * reals[m + 3 * k + 1]
        + reals[m + 3 * (k + 1)] * reals[m + 3 * (k + 1) + 1]
        + reals[m + 3 * (k + 2)] * reals[m + 3 * (k + 2) + 1]
    )
    a02 = -(
        reals[m + 3 * k] * reals[m + 3 * k + 2]
        + reals[m + 3 * (k + 1)] * reals[m + 3 * (k + 1) + 2]
        + reals[m + 3 * (k + 2)] * reals[m + 3 * (k + 2) + 2]
    )
    a12 = -(
        reals[m + 3 * k + 1] * reals[m + 3 * k + 2]
        + reals[m + 3 * (k + 1) + 1] * reals[m + 3 * (k + 1) + 2]
        + reals[m + 3 * (k + 2) + 1] * reals[m + 3 * (k + 2) + 2]
    )
    b00, b11, b22 = a11 + a22, a00 + a22, a00 + a11
    c00, c01, c02 = b11 * b22 - a12 * a12, a02 * a12 - a01 * b22, a01 * a12 - a02 * b11
    c11, c12, c22 = b00 * b22 - a02 * a02, a01 * a02 - b00 * a12, b00 * b11 - a01 * a01
    f = 1.0 / (b00 * c00 + a01 * c01 + a02 * c02)
    return (
        f * (c00 * t0 + c01 * t1 + c02 * t2),
        f * (c01 * t0 + c11 * t1 + c12 * t2),
        f * (c02 * t0 + c12 * t1 + c22 * t2),
    )


@compiled
def load_work(ints, reals, q):
    """Work of load q in the step: f . delta(x), for moments sum f_i . delta(d_i)."""
    kind = ints[ints[at.LOAD_KIND] + q]
    total = 0.0
    if kind == at.FORCE or kind == at.FOLLOWER_FORCE:
        p = ints[ints[at.LOAD_POINT] + q]
        for i in range(3):
            f = reals[ints[at.LOAD_VALUE] + 3 * q + i]
            if kind == at.FOLLOWER_FORCE:
                k = ints[ints[at.LOAD_TRIAD] + q]
                f = (
                    reals[ints[at.LOAD_VALUE] + 3 * q] * reals[ints[at.X_MEAN] + 3 * k + i]
                    + reals[ints[at.LOAD_VALUE] + 3 * q + 1] * reals[ints[at.X_MEAN] + 3 * (k + 1) + i]
                    + reals[ints[at.LOAD_VALUE] + 3 * q + 2] * reals[ints[at.X_MEAN] + 3 * (k + 2) + i]
                )
            total += f * (reals[ints[at.X1] + 3 * p + i] - reals[ints[at.X0] + 3 * p + i])
        return total
    t0, t1, t2 = torque_vector(ints, reals, q)
    for d in range(3):
        k = ints[ints[at.LOAD_TRIAD] + q] + d
        m0, m1, m2 = (
            reals[ints[at.X_MEAN] + 3 * k],
            reals[ints[at.X_MEAN] + 3 * k + 1],
            reals[ints[at.X_MEAN] + 3 * k + 2],
        )
        total += (t1 * m2 - t2 * m1) * (reals[ints[at.X1] + 3 * k] - reals[ints[at.X0] + 3 * k])
        total += (t2 * m0 - t0 * m2) * (reals[ints[at.X1] + 3 * k + 1] - reals[ints[at.X0] + 3 * k + 1])
        total += (t0 * m1 - t1 * m0) * (reals[ints[at.X1] + 3 * k + 2] - reals[ints[at.X0] + 3 * k + 2])
    return total


@compiled
def load_tangent(ints, reals, h):
    """Add how follower forces and moments change with the mean triad to the bodies' blocks.

    The change at constant world force is in ``force_tangent``.
    """
    for q in range(ints[at.LOADS]):
        kind = ints[ints[at.LOAD_KIND] + q]
        if kind == at.FORCE:
            continue
        k = ints[ints[at.LOAD_TRIAD] + q]
        b = ints[ints[at.VECTOR_BODY] + k]
        place = ints[ints[at.NODE_DIAGONAL] + b]
        width = ints[ints[at.VELOCITY_START] + b + 1] - ints[ints[at.VELOCITY_START] + b]
        if kind == at.FOLLOWER_FORCE:
            lever = ints[ints[at.VECTOR_WORK_START] + ints[ints[at.LOAD_POINT] + q]]
            for d in range(3):
                add_product(
                    ints,
                    reals,
                    place,
                    width,
                    0.5 * h * reals[ints[at.LOAD_VALUE] + 3 * q + d],
                    lever,
                    ints[ints[at.VECTOR_WORK_START] + k + d],
                )
        else:
            _torque_tangent(ints, reals, q, h, place, width)


@compiled
def _torque_tangent(ints, reals, q, h, place, width):
    k = ints[ints[at.LOAD_TRIAD] + q]
    t0, t1, t2 = torque_vector(ints, reals, q)
    jacobian, lever, m, scratch = (
        ints[at.VECTOR_JACOBIAN],
        ints[at.VECTOR_LEVER],
        ints[at.X_MEAN],
        ints[at.SCRATCH],
    )
    for j in range(width):
        r0, r1, r2 = 0.0, 0.0, 0.0
        for d in range(3):
            start = ints[ints[at.VECTOR_WORK_START] + k + d]
            x0, x1, x2 = (
                0.5 * reals[jacobian + start + j],
                0.5 * reals[jacobian + start + width + j],
                0.5 * reals[jacobian + start + 2 * width + j],
            )
            m0, m1, m2 = reals[m + 3 * (k + d)], reals[m + 3 * (k + d) + 1], reals[m + 3 * (k + d) + 2]
            mx = 2.0 * (m0 * x0 + m1 * x1 + m2 * x2)
            mt = m0 * t0 + m1 * t1 + m2 * t2
            xt = x0 * t0 + x1 * t1 + x2 * t2
            r0 += m0 * xt + x0 * mt - mx * t0
            r1 += m1 * xt + x1 * mt - mx * t1
            r2 += m2 * xt + x2 * mt - mx * t2
            if ints[ints[at.LOAD_KIND] + q] == at.FOLLOWER_TORQUE:
                r0 += reals[ints[at.LOAD_VALUE] + 3 * q + d] * x0
                r1 += reals[ints[at.LOAD_VALUE] + 3 * q + d] * x1
                r2 += reals[ints[at.LOAD_VALUE] + 3 * q + d] * x2
        s0, s1, s2 = solve_triad(ints, reals, k, r0, r1, r2)
        reals[scratch + 3 * j], reals[scratch + 3 * j + 1], reals[scratch + 3 * j + 2] = s0, s1, s2
    for d in range(3):
        start = ints[ints[at.VECTOR_WORK_START] + k + d]
        m0, m1, m2 = reals[m + 3 * (k + d)], reals[m + 3 * (k + d) + 1], reals[m + 3 * (k + d) + 2]
        for j in range(width):
            x0, x1, x2 = (
                0.5 * reals[jacobian + start + j],
                0.5 * reals[jacobian + start + width + j],
                0.5 * reals[jacobian + start + 2 * width + j],
            )
            s0, s1, s2 = reals[scratch + 3 * j], reals[scratch + 3 * j + 1], reals[scratch + 3 * j + 2]
            f0 = s1 * m2 - s2 * m1 + t1 * x2 - t2 * x1
            f1 = s2 * m0 - s0 * m2 + t2 * x0 - t0 * x2
            f2 = s0 * m1 - s1 * m0 + t0 * x1 - t1 * x0
            for i in range(width):
                p = start + 3 * i
                reals[place + i * width + j] -= h * (
                    reals[lever + p] * f0 + reals[lever + p + 1] * f1 + reals[lever + p + 2] * f2
                )
