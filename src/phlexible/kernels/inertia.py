"""Inertia of floating bodies over one step (docs/theory.md, 2 and 4).

Translation is that of the centre of mass and apart from the rest: m delta(V). Rotation and deformation::

    delta(pi_r) + a x (pi_r,n + pi_r,n+1)                        = h A^-1 (sum of moments)         (4.7)
    delta(pi_eta) - h/2 (w, deta/dt)_n . dM/deta (w, deta/dt)_n+1 = h (forces on eta)              (4.8)

with dM/deta at mean(eta), in moments N and D of ``moments.py``. Each balance is followed by its exact derivative
to nu_{n+1}.
"""

from phlexible.compilation.compiled import compiled
from phlexible.compilation.dense import copy, fill, product
from phlexible.compilation.notation import (
    Matrix,
    Reals,
    Tables,
    Vector,
    Vectors,
    cross,
    dot,
    matrix,
    transposed,
    vector,
)
from phlexible.kernels.moments import (
    add_moments,
    axis_of,
    contract,
    contract_crossing,
    crossed,
    crossing,
    one,
    total,
    trace,
    unit,
)


@compiled
def write(target: Reals, v: Vector, count: int) -> None:
    """The first ``count`` components of a vector, or z alone."""
    if count == 1:
        target[0] = v.z
    elif count > 1:
        target[0] = v.x
        target[1] = v.y
        if count == 3:
            target[2] = v.z


@compiled
def read(source: Reals, count: int) -> Vector:
    """The rotation vector of which all three components, z alone, or none are given."""
    if count == 1:
        return vector(0.0, 0.0, source[0])
    if count == 0:
        return vector(0.0, 0.0, 0.0)
    return vector(source[0], source[1], source[2])


@compiled
def angular_momentum(t: Tables, b: int, w: Vector, xi: Reals, N: Reals, D: Reals) -> Vector:
    """pi_r = J w + int rho r x u (4.5), from the moments N of r and D of u."""
    kind, c = t.type_of[b], t.coordinate_start[b]
    m = t.elastic_count[kind] + 1
    if m == 1:
        return t.rigid_inertia[kind] @ w
    return inertia(t, xi + c, N + 9 * c, m) @ w + crossed(total(t, xi + c, D + 9 * c, m))


@compiled
def inertia(t: Tables, x: Reals, N: Reals, m: int) -> Matrix:
    """J = int rho (|r|^2 - r r^T)."""
    spread = total(t, x, N, m)
    return trace(spread) * one() - spread


@compiled
def rotational_energy(t: Tables, b: int, w: Vectors, rate: Reals, angular: Vectors, N: Reals, D: Reals) -> float:
    """Kinetic energy of rotation and deformation, (w . pi_r + deta/dt . pi_eta) / 2."""
    c = t.coordinate_start[b]
    m = t.elastic_count[t.type_of[b]] + 1
    energy = 0.5 * dot(w[b], angular[b])
    if m > 1:
        fill(t.scratch, m, 0.0)
        contract(t, t.scratch, one(), D + 9 * c, m)
        contract_crossing(t, t.scratch, w[b], N + 9 * c, m)
        energy += 0.5 * product(rate + c, t.scratch, m)
    return energy


@compiled
def end_rotation(t: Tables, b: int, h: float) -> None:
    """a, A, A^-1 and R_{n+1} from the spins at both ends (4.1, 4.3)."""
    a = (0.25 * h) * (t.spin0[b] + t.spin1[b])
    R = t.rotation[b]
    turn = crossing(a)
    t.half_turn[b] = a
    A = R @ ((1.0 / (1.0 + dot(a, a))) * (one() + turn + matrix(a.x * a, a.y * a, a.z * a)))
    t.inverse_mean[b] = (one() - turn) @ transposed(R)
    t.rotation1[b] = 2.0 * A - R


@compiled
def inertia_balance(t: Tables, b: int, h: float) -> None:
    """Left sides of (4.7) and (4.8) into the rows of the residual."""
    axes, c = t.axes_of[b], t.coordinate_start[b]
    rows = t.residual + (t.velocity_start[b] + t.dimension)
    a, p0, p1 = t.half_turn[b], t.angular0[b], t.angular1[b]
    write(rows, p1 - p0 + cross(a, p0 + p1), axes)
    m = t.elastic_count[t.type_of[b]] + 1
    if m == 1:
        return
    f, w0, w1, C = t.scratch, crossing(t.spin0[b]), crossing(t.spin1[b]), centrifugal(t, b, h)
    fill(f, m, 0.0)
    contract(t, f, (0.5 * h) * w0 + one(), t.moment_rate1 + 9 * c, m)  # pi_eta is 1 : D + [w] : N
    contract(t, f, (0.5 * h) * w1 - one(), t.moment_rate0 + 9 * c, m)
    contract(t, f, C + w1, t.moment1 + 9 * c, m)
    contract(t, f, C - w0, t.moment0 + 9 * c, m)
    copy(f + 1, rows + axes, m - 1)


@compiled
def centrifugal(t: Tables, b: int, h: float) -> Matrix:
    """h/4 ([w_n] [w_n+1] + [w_n+1] [w_n]): -h/4 psi_i . dJ/dr w_n . w_n+1 as a bilinear form of psi_i and r."""
    first, second = crossing(t.spin0[b]), crossing(t.spin1[b])
    return (0.25 * h) * (first @ second + second @ first)


@compiled
def inertia_tangent(t: Tables, b: int, h: float, moves: float) -> None:
    """Write the derivative of (4.7) and (4.8) into the block of frame b; ``moves`` 0: at constant eta, 1: exact."""
    kind, axes, d, across = t.type_of[b], t.axes_of[b], t.dimension, t.corner_stride[b]
    c = t.coordinate_start[b]
    m, half, own = t.elastic_count[kind] + 1, 0.5 * h, 9 * c
    corner = t.blocks + (t.node_diagonal[b] + d * (across + 1))
    side, bottom = t.blocks + (t.side[b] + d), t.blocks + (t.bottom[b] + d * t.bottom_stride[b])
    a, p, w0, w1 = t.half_turn[b], t.angular0[b] + t.angular1[b], crossing(t.spin0[b]), crossing(t.spin1[b])
    N0, N1, D0, D1 = t.moment0 + own, t.moment1 + own, t.moment_rate0 + own, t.moment_rate1 + own
    J = inertia(t, t.xi1 + c, t.moment1 + own, m) if m > 1 else t.rigid_inertia[kind]
    pi = t.scratch
    for l in range(axes):
        e = unit(axis_of(l, axes))
        add_column(corner + l, across, J @ e + cross(a, J @ e) + (0.25 * h) * cross(e, p), axes)
        if m == 1:
            continue
        E = crossing(e)
        slope, C = pi + l * m, (moves * half) * (E @ w1 + w1 @ E)
        fill(slope, m, 0.0)  # dpi_r . e to deta/dt
        contract(t, slope, E - C, N1, m)
        contract_crossing(t, slope, (-moves * half) * e, D1, m)
        slope, C = pi + 3 * m, 0.5 * half * (E @ w0 + w0 @ E)
        fill(slope, m, 0.0)  # rows of eta to w . e
        contract(t, slope, E + C, N1, m)
        contract(t, slope, C, N0, m)
        contract_crossing(t, slope, half * e, D0, m)
        for j in range(1, m):
            side[(j - 1) * t.side_stride[b] + l] = slope[j]
    if m == 1:
        return
    for j in range(1, m):
        dpi = vector(0.0, 0.0, pi[j]) if axes == 1 else vector(pi[j], pi[m + j], pi[2 * m + j])
        add_column(bottom + (j - 1), t.bottom_stride[b], dpi + cross(a, dpi), axes)
    C = one() + half * (w0 + moves * w1) + (moves * half) * centrifugal(t, b, h)
    add_moments(t, b, C)


@compiled
def add_column(block: Reals, width: int, v: Vector, count: int) -> None:
    """Add the components of a vector, or z alone, below each other."""
    if count == 1:
        block[0] += v.z
    elif count == 3:
        block[0] += v.x
        block[width] += v.y
        block[2 * width] += v.z


@compiled
def end_inertia(t: Tables, b: int) -> None:
    """Accept the step: eta, and R made orthogonal again: R (3 I - R^T R) / 2 (4.14)."""
    n, c = t.elastic_count[t.type_of[b]], t.coordinate_start[b]
    copy(t.xi1 + (c + 1), t.eta + t.elastic_start[b], n)
    R = t.rotation1[b]
    t.rotation[b] = 1.5 * R - 0.5 * (R @ (transposed(R) @ R))
