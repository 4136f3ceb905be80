"""Moments of a body's functions psi_i with its points and velocities (docs/theory.md, 2).

A material point is at r = sum_i xi_i psi_i in the frame and moves at u = sum_i dxi_i psi_i there, xi_0 = 1. All
that inertia needs of it are, for each function and axes p, q (2.8)::

    N_pq,i = int rho psi_i,p r_q = W_pq,ij xi_j        D_pq,i = int rho psi_i,p u_q = W_pq,ij dxi_j

They lie in planes (p, q) of number q d + p, each along i, so that loops over i are vectorised. W is made of dense
patches, outside of which it is zero. In the plane only W_xx + W_yy and W_yx - W_xy matter; they stand in place of
W_xx and W_yx, and there are no other planes.
"""

from phlexible.compilation.compiled import compiled
from phlexible.compilation.dense import add_multiple, add_rows, fill, product
from phlexible.compilation.notation import Matrix, Reals, Tables, Vector, along, matrix, row, transposed, vector
from phlexible.kernels.segments import add_border, centre_moments


@compiled
def unit(axis: int) -> Vector:
    """Unit vector along axis 0, 1 or 2."""
    return vector(1.0 if axis == 0 else 0.0, 1.0 if axis == 1 else 0.0, 1.0 if axis == 2 else 0.0)


@compiled
def axis_of(k: int, axes: int) -> int:
    """Body axis of rotation number k: z in the plane, x, y, z in space."""
    return 2 if axes == 1 else k


@compiled
def one() -> Matrix:
    """The unit matrix."""
    return matrix(unit(0), unit(1), unit(2))


@compiled
def crossing(a: Vector) -> Matrix:
    """[a] with [a] b = a x b."""
    return matrix(vector(0.0, -a.z, a.y), vector(a.z, 0.0, -a.x), vector(-a.y, a.x, 0.0))


@compiled
def crossed(M: Matrix) -> Vector:
    """sum of u x v for M = sum of u v^T."""
    x, y, z = row(M, 0), row(M, 1), row(M, 2)
    return vector(y.z - z.y, z.x - x.z, x.y - y.x)


@compiled
def trace(M: Matrix) -> float:
    """M_xx + M_yy + M_zz."""
    return row(M, 0).x + row(M, 1).y + row(M, 2).z


@compiled
def moments(t: Tables, b: int, x: Reals, N: Reals) -> None:
    """N_pq,i = sum_j W_pq,ij x_j of frame b."""
    kind, d, c = t.type_of[b], t.dimension, t.coordinate_start[b]
    m = t.elastic_count[kind] + 1
    if m == 1:
        return
    x, N = x + c, N + 9 * c
    fill(N, t.planes * m, 0.0)
    for s in range(t.patch_start[kind], t.patch_start[kind] + t.patch_count[kind]):
        W, rows, columns = t.type_number + t.patch_number[s], t.patch_rows[s], t.patch_columns[s]
        plane = N + ((t.patch_second[s] * d + t.patch_first[s]) * m + t.patch_row[s])
        add_rows(x + t.patch_column[s], columns, W, rows, plane, rows)
    if t.first_moment[kind] >= 0:
        centre_moments(t, t.type_number + t.first_moment[kind], x, N, m)


@compiled
def moments_at_end(t: Tables, b: int, h: float) -> None:
    """Those of the points at t_n+1, N + h mean(D): eta moves with the mean of its rate (4.4)."""
    m, own = t.elastic_count[t.type_of[b]] + 1, 9 * t.coordinate_start[b]
    if m == 1:
        return
    N0, D0, D1, N1 = t.moment0 + own, t.moment_rate0 + own, t.moment_rate1 + own, t.moment1 + own
    for i in range(t.planes * m):
        N1[i] = N0[i] + 0.5 * h * (D0[i] + D1[i])


@compiled
def contract(t: Tables, target: Reals, C: Matrix, N: Reals, m: int) -> None:
    """target_i += sum_pq C_pq N_pq,i."""
    c, x, y, z = t.coefficient, row(C, 0), row(C, 1), row(C, 2)
    c[0], c[1] = x.x, y.x
    if t.planes == 9:
        c[2] = z.x
        c[3], c[4], c[5] = x.y, y.y, z.y
        c[6], c[7], c[8] = x.z, y.z, z.z
    add_rows(c, t.planes, N, m, target, m)


@compiled
def contract_crossing(t: Tables, target: Reals, a: Vector, N: Reals, m: int) -> None:
    """target_i += sum_pq [a]_pq N_pq,i: two planes for each component that is not zero."""
    if t.planes == 2:
        add_multiple(target, a.z, N + m, m)
        return
    _add_difference(target, a.x, N + 5 * m, N + 7 * m, m)
    _add_difference(target, a.y, N + 6 * m, N + 2 * m, m)
    _add_difference(target, a.z, N + m, N + 3 * m, m)


@compiled
def _add_difference(target: Reals, factor: float, plus: Reals, minus: Reals, m: int) -> None:
    if factor != 0.0:
        for i in range(m):
            target[i] += factor * (plus[i] - minus[i])


@compiled
def total(t: Tables, x: Reals, N: Reals, m: int) -> Matrix:
    """sum_i x_i N_pq,i."""
    if t.planes == 2:
        return matrix(product(x, N, m) * unit(0), product(x, N + m, m) * unit(0), vector(0.0, 0.0, 0.0))
    u, v = _products(x, N, m), _products(x, N + 3 * m, m)
    return transposed(matrix(u, v, _products(x, N + 6 * m, m)))


@compiled
def _products(x: Reals, N: Reals, m: int) -> Vector:
    """x with each of three planes."""
    return vector(product(x, N, m), product(x, N + m, m), product(x, N + 2 * m, m))


@compiled
def add_moments(t: Tables, b: int, C: Matrix) -> None:
    """Add sum_pq C_pq W_pq,ij without i = 0 and j = 0 to the block (eta, eta) of frame b.

    Column i of W_qp is row i of W_pq. Where there are segments W is that of the frame's point, and y =
    S x / sqrt(m) an unknown in the border, with which it loses S^T C S / m.
    """
    kind, line = t.type_of[b], t.line + (t.elastic_start[b] - 1)
    for s in range(t.patch_start[kind], t.patch_start[kind] + t.patch_count[kind]):
        i, j, length = t.patch_column[s], t.patch_row[s], t.patch_rows[s]
        c = along(row(C, t.patch_second[s]), t.patch_first[s])
        skip = 1 if j == 0 else 0
        for k in range(1 if i == 0 else 0, t.patch_columns[s]):
            W = t.type_number + (t.patch_number[s] + k * length + skip)
            add_multiple(t.blocks + (line[i + k] + j + skip - 1), c, W, length - skip)
    if t.first_moment[kind] >= 0:
        add_border(t, b, C)
