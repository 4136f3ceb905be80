"""Inertia of floating bodies over one step; (4.n) are equations of docs/theory.md.

Translation is that of the centre of mass and apart from the rest: m delta(V). Rotation and deformation::

    delta(pi_r) + a x (pi_r,n + pi_r,n+1)                        = h A^-1 (sum of moments)         (4.7)
    delta(pi_eta) - h/2 (w, deta/dt)_n . dM/deta (w, deta/dt)_n+1 = h (forces on eta)              (4.8)

with M taken at mean(eta). Each balance is followed by its exact derivative to nu_{n+1}.
"""

from phlexible.compilation.compiled import compiled
from phlexible.compilation.notation import (
    Reals,
    Tables,
    Vector,
    Vectors,
    along,
    cross,
    dot,
    matrix,
    transposed,
    vector,
)
from phlexible.kernels.dense import copy, multiply, product


@compiled
def unit(axis: int) -> Vector:
    """Unit vector along axis 0, 1 or 2."""
    return vector(1.0 if axis == 0 else 0.0, 1.0 if axis == 1 else 0.0, 1.0 if axis == 2 else 0.0)


@compiled
def axis_of(k: int, axes: int) -> int:
    """Body axis of rotation number k: z in the plane, x, y, z in space."""
    return 2 if axes == 1 else k


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
    """The vector whose first ``count`` components, or whose z alone, are given."""
    if count == 1:
        return vector(0.0, 0.0, source[0])
    if count == 0:
        return vector(0.0, 0.0, 0.0)
    return vector(source[0], source[1], source[2] if count == 3 else 0.0)


@compiled
def momenta(
    t: Tables, b: int, w: Vector, xi: Reals, rate: Reals, elastic: Reals, z_rate: Reals, y_xi: Reals
) -> Vector:
    """pi_r, and pi_eta with the products that the balance needs again (4.5)."""
    kind, axes = t.type_of[b], t.axes_of[b]
    n = t.elastic_count[kind]
    if n == 0:
        return t.rigid_inertia[kind] @ w
    m, c = n + 1, t.coordinate_start[b]
    x, dx, p = xi + c, rate + c, elastic + c
    pi = vector(0.0, 0.0, 0.0)
    multiply(t.type_number + t.elastic_mass[kind], m, m, dx, p)
    pair = 0
    for k in range(axes):
        w_k, e_k = along(w, axis_of(k, axes)), unit(axis_of(k, axes))
        Z = t.type_number + (t.gyroscopic[kind] + k * m * m)
        zr, zx = z_rate + (3 * c + k * m), t.z_xi + (3 * c + k * m)
        multiply(Z, m, m, dx, zr)
        multiply(Z, m, m, x, zx)
        for i in range(m):
            zx[i] = -zx[i]  # Z is skew
            p[i] += w_k * zx[i]
        pi += product(x, zr, m) * e_k
        for l in range(k, axes):
            y = y_xi + (6 * c + pair * m)
            multiply(t.type_number + (t.rotational[kind] + pair * m * m), m, m, x, y)
            J, e_l = product(x, y, m), unit(axis_of(l, axes))
            pi += (J * along(w, axis_of(l, axes))) * e_k
            if k != l:
                pi += (J * w_k) * e_l
            pair += 1
    return pi


@compiled
def rotational_energy(t: Tables, b: int, w: Vectors, rate: Reals, angular: Vectors, elastic: Reals) -> float:
    """Kinetic energy of rotation and deformation, (w . pi_r + deta/dt . pi_eta) / 2."""
    n, c = t.elastic_count[t.type_of[b]], t.coordinate_start[b] + 1
    return 0.5 * (dot(w[b], angular[b]) + product(rate + c, elastic + c, n))


@compiled
def end_rotation(t: Tables, b: int, h: float) -> None:
    """a, A, A^-1 and R_{n+1} from the spins at both ends (4.1, 4.3)."""
    a = (0.25 * h) * (t.spin0[b] + t.spin1[b])
    R = t.rotation[b]
    turn = matrix(vector(0.0, -a.z, a.y), vector(a.z, 0.0, -a.x), vector(-a.y, a.x, 0.0))  # [a]
    one = matrix(unit(0), unit(1), unit(2))
    t.half_turn[b] = a
    A = R @ ((1.0 / (1.0 + dot(a, a))) * (one + turn + matrix(a.x * a, a.y * a, a.z * a)))
    t.inverse_mean[b] = (one - turn) @ transposed(R)
    t.rotation1[b] = 2.0 * A - R


@compiled
def inertia_balance(t: Tables, b: int, h: float) -> None:
    """Left sides of (4.7) and (4.8) into the rows of the residual."""
    kind, axes = t.type_of[b], t.axes_of[b]
    row_of = t.residual + (t.velocity_start[b] + t.dimension)
    a, p0, p1 = t.half_turn[b], t.angular0[b], t.angular1[b]
    write(row_of, p1 - p0 + cross(a, p0 + p1), axes)
    n, c = t.elastic_count[kind], t.coordinate_start[b]
    m = n + 1
    f = row_of + (axes - 1)
    for i in range(1, m):
        f[i] = t.elastic1[c + i] - t.elastic0[c + i]
    pair = 0
    for k in range(axes if n > 0 else 0):
        p = axis_of(k, axes)
        z0, z1 = t.z_rate0 + (3 * c + k * m), t.z_rate1 + (3 * c + k * m)
        w0, w1 = 0.5 * h * along(t.spin0[b], p), 0.5 * h * along(t.spin1[b], p)
        for i in range(1, m):
            f[i] -= w0 * z1[i] + w1 * z0[i]
        for l in range(k, axes):
            ww = 0.5 * h * spin_product(t, b, p, axis_of(l, axes))
            y0, y1 = t.y_xi0 + (6 * c + pair * m), t.y_xi1 + (6 * c + pair * m)
            for i in range(1, m):
                f[i] -= ww * (y0[i] + y1[i])
            pair += 1


@compiled
def spin_product(t: Tables, b: int, p: int, q: int) -> float:
    """Coefficient of Y_pq in w_n . J w_{n+1}."""
    w0, w1 = t.spin0[b], t.spin1[b]
    first = along(w0, p) * along(w1, q)
    return first if p == q else first + along(w1, p) * along(w0, q)


@compiled
def pair_of(k: int, l: int, axes: int) -> int:
    """Number of the pair (k, l) among (0,0), (0,1), (0,2), (1,1), (1,2), (2,2)."""
    p, q = (k, l) if k <= l else (l, k)
    return p * axes - p * (p - 1) // 2 + q - p


@compiled
def inertia_tangent(t: Tables, b: int, h: float, block: Reals) -> None:
    """Write the derivative of (4.7) and (4.8) into the carrier's block (width, width)."""
    kind, axes, d = t.type_of[b], t.axes_of[b], t.dimension
    width, rigid, c = t.width_of[b], t.rigid_of[b], t.coordinate_start[b]
    n, m = width - rigid, width - rigid + 1
    half = 0.5 * h
    a, p = t.half_turn[b], t.angular0[b] + t.angular1[b]
    for l in range(axes):  # to w: dpi_r = J e, da = h e / 4
        e = unit(axis_of(l, axes))
        J = t.rigid_inertia[kind] @ e if n == 0 else inertia_column(t, b, l)
        column(block + (d * width + d + l), width, J + cross(a, J) + (0.25 * h) * cross(e, p), axes)
        z, zx = t.z_rate0 + (3 * c + l * m), t.z_xi + (3 * c + l * m)
        for i in range(1, m):
            f = z[i]
            for k in range(axes):
                y = 6 * c + pair_of(k, l, axes) * m + i
                f += along(t.spin0[b], axis_of(k, axes)) * (t.y_xi0[y] + t.y_xi1[y])
            block[(rigid + i - 1) * width + d + l] = zx[i] - half * f
    if n == 0:
        return
    for j in range(1, m):  # to deta/dt: dpi_r = (Z^T xi + h/2 (Z dxi + 2 J' w))_j
        dpi = vector(0.0, 0.0, 0.0)
        for k in range(axes):
            g = t.z_xi[3 * c + k * m + j] + half * t.z_rate1[3 * c + k * m + j]
            for l in range(axes):
                y = t.y_xi1[6 * c + pair_of(k, l, axes) * m + j]
                g += h * along(t.spin1[b], axis_of(l, axes)) * y
            dpi += g * unit(axis_of(k, axes))
        column(block + (d * width + rigid + j - 1), width, dpi + cross(a, dpi), axes)
    corner = block + (rigid - 1) * (width + 1)
    add_scaled(corner, width, 1.0, t.type_number + t.elastic_mass[kind], m)
    pair = 0
    for k in range(axes):
        q = axis_of(k, axes)
        mean = half * along(t.spin0[b] + t.spin1[b], q)
        add_scaled(corner, width, -mean, t.type_number + (t.gyroscopic[kind] + k * m * m), m)
        for l in range(k, axes):
            ww = half * half * spin_product(t, b, q, axis_of(l, axes))
            add_scaled(corner, width, -ww, t.type_number + (t.rotational[kind] + pair * m * m), m)
            pair += 1


@compiled
def column(block: Reals, width: int, v: Vector, count: int) -> None:
    """The components of a vector, as ``write``, below each other."""
    if count == 1:
        block[0] = v.z
    elif count == 3:
        block[0], block[width], block[2 * width] = v.x, v.y, v.z


@compiled
def inertia_column(t: Tables, b: int, l: int) -> Vector:
    """Column l of J(eta_{n+1})."""
    axes, c = t.axes_of[b], t.coordinate_start[b]
    m = t.elastic_count[t.type_of[b]] + 1
    J = vector(0.0, 0.0, 0.0)
    for k in range(axes):
        y = t.y_xi1 + (6 * c + pair_of(k, l, axes) * m)
        J += product(t.xi1 + c, y, m) * unit(axis_of(k, axes))
    return J


@compiled
def add_scaled(corner: Reals, width: int, factor: float, M: Reals, m: int) -> None:
    """Add factor times M without its first row and column; ``corner``: one row and column before."""
    for i in range(1, m):
        target, source = corner + i * width, M + i * m
        for j in range(1, m):
            target[j] += factor * source[j]


@compiled
def end_inertia(t: Tables, b: int) -> None:
    """Accept the step: eta, and R made orthogonal again: R (3 I - R^T R) / 2 (4.14)."""
    n, c = t.elastic_count[t.type_of[b]], t.coordinate_start[b]
    copy(t.xi1 + (c + 1), t.eta + t.elastic_start[b], n)
    R = t.rotation1[b]
    t.rotation[b] = 1.5 * R - 0.5 * (R @ (transposed(R) @ R))
