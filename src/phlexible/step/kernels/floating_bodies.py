"""Floating bodies over one step: moments, inertia, elastic force, damping (docs/theory.md, 2 to 4)."""

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.dense import add_multiple, add_rows, copy, fill, matrix_vector, product
from phlexible.step.compilation.notation import (
    Integers,
    Matrix,
    Reals,
    Tables,
    Vector,
    Vectors,
    along,
    any_of,
    cross,
    dot,
    is_nonzero,
    matrix,
    row,
    transposed,
    vector,
)
from phlexible.step.kernels.blocks import centre_moments, set_border
from phlexible.step.kernels.branches import dashpot_loss, update_relaxation
from phlexible.step.tables.declarations import FRAME_ENERGIES

AT_ONCE = 4  # strains that are added to a block at once

# Moments of a body's functions psi_i with its points and velocities (docs/theory.md, 2).
#
# A material point is at r = sum_i xi_i psi_i in the frame and moves at u = sum_i dxi_i psi_i there, xi_0 = 1. All
# that inertia needs of it are, for each function and axes p, q (2.8)::
#
#     N_pq,i = int rho psi_i,p r_q = W_pq,ij xi_j        D_pq,i = int rho psi_i,p u_q = W_pq,ij dxi_j
#
# They lie in planes (p, q) of number q d + p, each along i, so that loops over i are vectorised. W is made of dense
# patches, outside of which it is zero. In the plane only W_xx + W_yy and W_yx - W_xy matter; they stand in place of
# W_xx and W_yx, and there are no other planes.


@compiled
def unit(axis: int) -> Vector:
    """Return the unit vector along axis 0 (x), 1 (y) or 2 (z)."""
    return vector(1.0 if axis == 0 else 0.0, 1.0 if axis == 1 else 0.0, 1.0 if axis == 2 else 0.0)


@compiled
def rotation_axis(k: int, axes: int) -> int:
    """Return the body axis, 0 (x), 1 (y) or 2 (z), about which component k of the angular velocity of a body
    rotates. ``axes`` is the number of components: if it is 1 (plane) the axis is always z, if it is 3 (space) it
    is k."""
    return 2 if axes == 1 else k


@compiled
def eye() -> Matrix:
    """Return the 3 x 3 unit matrix."""
    return matrix(unit(0), unit(1), unit(2))


@compiled
def skew_of(a: Vector) -> Matrix:
    """Return the skew-symmetric matrix [a] of a vector, with [a] b = a x b."""
    return matrix(vector(0.0, -a.z, a.y), vector(a.z, 0.0, -a.x), vector(-a.y, a.x, 0.0))


@compiled
def cross_of_dyads(M: Matrix) -> Vector:
    """Return the sum of cross products u x v for a 3 x 3 matrix M that is a sum of dyads u v^T."""
    x, y, z = row(M, 0), row(M, 1), row(M, 2)
    return vector(y.z - z.y, z.x - x.z, x.y - y.x)


@compiled
def trace(M: Matrix) -> float:
    """Return the trace (sum of the diagonal) of a 3 x 3 matrix M."""
    return row(M, 0).x + row(M, 1).y + row(M, 2).z


@compiled
def compute_moments(t: Tables, b: int, x: Reals, N: Reals) -> None:
    """Compute the mass moments N_pq,i = sum_j W_pq,ij x_j of floating body b for axes p, q and each shape function
    i. W are constant second moments of mass; x = (1, eta) are the body's coordinates, or their rates with 0 in
    place of 1. x and N contain the values of all bodies; those of body b are read and overwritten. Nothing is
    written for rigid bodies. ``t`` contains all arrays of the model and its state.
    """
    kind, d, c = t.type_of[b], t.dimension, t.coordinates_begin[b]
    m = t.elastic_count[kind] + 1
    if m == 1:
        return
    x, N = x + c, N + 9 * c
    fill(N, t.planes * m, 0.0)
    for s in range(t.patches_begin[kind], t.stiffness_patch[kind]):
        W, rows, columns = t.type_value + t.patch_number[s], t.patch_rows[s], t.patch_columns[s]
        plane = N + ((t.patch_second[s] * d + t.patch_first[s]) * m + t.patch_row[s])
        add_rows(x + t.patch_column[s], columns, W, rows, plane, rows)
    if t.first_moment[kind] >= 0:
        centre_moments(t, b, x, N)


@compiled
def add_contraction(t: Tables, target: Reals, C: Matrix, N: Reals, m: int) -> None:
    """Add the sum over p and q of C_pq N_pq,i to ``target[i]`` for each of the m shape functions i of a floating
    body. C is a 3 x 3 matrix; N are the second mass moments of the body times its coordinates. In the plane N has
    two rows, N_00 + N_11 and N_10 - N_01, and C has the form [[a, -b], [b, a]]. ``t`` contains all arrays of the
    model and its state."""
    c, x, y, z = t.coefficient, row(C, 0), row(C, 1), row(C, 2)
    c[0], c[1] = x.x, y.x
    if t.planes == 9:
        c[2] = z.x
        c[3], c[4], c[5] = x.y, y.y, z.y
        c[6], c[7], c[8] = x.z, y.z, z.z
    add_rows(c, t.planes, N, m, target, m)


@compiled
def add_skew_contraction(t: Tables, target: Reals, a: Vector, N: Reals, m: int) -> None:
    """Add the sum over axes p and q of [a]_pq N_pq,i to ``target[i]`` for each of the m shape functions i of a
    floating body. [a] is the skew-symmetric matrix of the vector a; N are the body's mass moments. In plane models
    only a.z counts. ``t`` contains all arrays of the model and its state."""
    if t.planes == 2:
        add_multiple(target, a.z, N + m, m)
        return
    _add_difference(target, a.x, N + 5 * m, N + 7 * m, m)
    _add_difference(target, a.y, N + 6 * m, N + 2 * m, m)
    _add_difference(target, a.z, N + m, N + 3 * m, m)


@compiled
def _add_difference(target: Reals, factor: float, plus: Reals, minus: Reals, m: int) -> None:
    if any_of(is_nonzero(factor)):
        for i in range(m):
            target[i] += factor * (plus[i] - minus[i])


@compiled
def moment_matrix(t: Tables, x: Reals, N: Reals, m: int) -> Matrix:
    """Return the 3 x 3 matrix sum_i x_i N_pq,i of the mass moments N of a floating body. The sum is over its m
    shape functions i with the weights x. ``t`` contains all arrays of the model and its state."""
    if t.planes == 2:
        return matrix(product(x, N, m) * unit(0), product(x, N + m, m) * unit(0), vector(0.0, 0.0, 0.0))
    u, v = _three_products(x, N, m), _three_products(x, N + 3 * m, m)
    return transposed(matrix(u, v, _three_products(x, N + 6 * m, m)))


@compiled
def _three_products(x: Reals, N: Reals, m: int) -> Vector:
    """Return the scalar products of x, shape (m,), with three consecutive rows of N, shape (3, m), as a
    vector."""
    u, v, w = 0.0, 0.0, 0.0
    for i in range(m):
        u += x[i] * N[i]
        v += x[i] * N[m + i]
        w += x[i] * N[2 * m + i]
    return vector(u, v, w)


@compiled
def add_moment_block(t: Tables, b: int, C: Matrix) -> None:
    """Add the matrix M with entries M_ij = sum_pq C_pq W_pq,ij to the block of the elastic coordinates of floating
    body b in Newton's matrix. W are the second mass moments of the body for its axes p and q and elastic
    coordinates i and j, C is a 3 x 3 matrix. If the body is stored in segments, terms of its first moments are
    written too. ``t`` contains all arrays of the model and its state.

    Column i of W_qp is row i of W_pq. With segments W is that of the frame's point, and y = S x / sqrt(m) an
    unknown in the border, by which S^T C S / m is subtracted.
    """
    kind, line, c = t.type_of[b], t.line + (t.elastic_begin[b] - 1), t.coefficient
    s, last = t.patches_begin[kind], t.stiffness_patch[kind]
    while s < last:
        i, j, length, count = t.patch_column[s], t.patch_row[s], t.patch_rows[s], t.patch_alike[s]
        for k in range(count):  # those of several p, q go together: the block is passed over once for all of them
            c[k] = along(row(C, t.patch_second[s + k]), t.patch_first[s + k])
        skip, size = 1 if j == 0 else 0, length * t.patch_columns[s]
        for k in range(1 if i == 0 else 0, t.patch_columns[s]):
            W = t.type_value + (t.patch_number[s] + k * length + skip)
            own = t.blocks + (line[i + k] + j + skip - 1)
            if count == 1:  # in space, where moments of modes have no patches in common
                add_multiple(own, c[0], W, length - skip)
            else:
                add_rows(c, count, W, size, own, length - skip)
        s += count
    if t.first_moment[kind] >= 0:
        set_border(t, b, C)


# Inertia of floating bodies over one step (docs/theory.md, 2 and 4).
#
# Translation is that of the centre of mass and apart from the rest: m delta(V). Rotation and deformation::
#
#     delta(pi_r) + a x (pi_r,n + pi_r,n+1)                        = h A^-1 (sum of moments)         (4.7)
#     delta(pi_eta) - h/2 (w, deta/dt)_n . dM/deta (w, deta/dt)_n+1 = h (forces on eta)              (4.8)
#
# with dM/deta at mean(eta), in the moments N and D of above. Each balance is followed by its exact derivative
# to nu_{n+1}.


@compiled
def write_rotation_vector(target: Reals, v: Vector, count: int) -> None:
    """Store a rotation vector v (such as an angular velocity) in the first ``count`` entries of ``target``. All
    three components are stored for ``count`` 3, z alone, in plane models, for 1, and none for 0."""
    if count == 1:
        target[0] = v.z
    elif count > 1:
        target[0] = v.x
        target[1] = v.y
        if count == 3:
            target[2] = v.z


@compiled
def read_rotation_vector(source: Reals, count: int) -> Vector:
    """Return a rotation vector (such as an angular velocity) that is stored in the first ``count`` entries of
    ``source``. These are three components (``count`` 3), z alone in the plane (1), or none (0); other components
    are zero."""
    if count == 1:
        return vector(0.0, 0.0, source[0])
    if count == 0:
        return vector(0.0, 0.0, 0.0)
    return vector(source[0], source[1], source[2])


@compiled
def angular_momentum(t: Tables, b: int, w: Vector, xi: Reals, N: Reals, D: Reals) -> Vector:
    """Return the angular momentum of floating body b about its centre of mass, in body axes: J w plus the integral
    of rho r x u. J is the inertia tensor of the deformed body, w its angular velocity, r and u are positions and
    deformation velocities of its points. xi are its coordinates (1, eta), N and D the mass moments of coordinates
    and rates. See docs/theory.md, 4, (4.5). ``t`` contains all arrays of the model and its state."""
    kind, c = t.type_of[b], t.coordinates_begin[b]
    m = t.elastic_count[kind] + 1
    if m == 1 and t.dimension == 2:
        return vector(0.0, 0.0, row(t.rigid_inertia[kind], 2).z * w.z)
    if m == 1:
        return t.rigid_inertia[kind] @ w
    return inertia_tensor(t, xi + c, N + 9 * c, m) @ w + cross_of_dyads(moment_matrix(t, xi + c, D + 9 * c, m))


@compiled
def inertia_tensor(t: Tables, x: Reals, N: Reals, m: int) -> Matrix:
    """Return the inertia tensor J = int rho (|r|^2 I - r r^T) of a floating body in body axes [kg m2]. It follows
    from its m coordinates x = (1, eta) and its mass moments N. ``t`` contains all arrays of the model and its
    state."""
    spread = moment_matrix(t, x, N, m)
    return trace(spread) * eye() - spread


@compiled
def rotational_energy(t: Tables, b: int, w: Vectors, rate: Reals, angular: Vectors, N: Reals, D: Reals) -> float:
    """Return the kinetic energy of rotation and deformation of floating body b, (w . pi_r + deta/dt . pi_eta) / 2
    [J]. w are the angular velocities in body axes and ``angular`` the angular momenta pi_r of all bodies, ``rate``
    the elastic rates deta/dt. The elastic momenta pi_eta follow from the mass moments N and from D, the mass
    moments of the rates. ``t`` contains all arrays of the model and its state."""
    c = t.coordinates_begin[b]
    m = t.elastic_count[t.type_of[b]] + 1
    energy = 0.5 * dot(w[b], angular[b])
    if m > 1:
        fill(t.scratch, m, 0.0)
        add_contraction(t, t.scratch, eye(), D + 9 * c, m)
        add_skew_contraction(t, t.scratch, w[b], N + 9 * c, m)
        energy += 0.5 * product(rate + c, t.scratch, m)
    return energy


@compiled
def compute_end_rotation(t: Tables, b: int, h: float) -> None:
    """Compute the rotation matrix (body to world axes) of floating body b at the end of a time step of length h
    [s], in ``t.rotation1``. It is the Cayley transform of the mean angular velocity in body axes. The vector h / 2
    times this angular velocity is stored in ``t.half_turn``, the inverse of the mean rotation matrix in
    ``t.inverse_mean``. See docs/theory.md, 4, (4.1, 4.3). ``t`` contains all arrays of the model and its state."""
    a = (0.25 * h) * (t.spin0[b] + t.spin1[b])
    R = t.rotation[b]
    t.half_turn[b] = a
    turn = skew_of(a)
    A = R @ ((1.0 / (1.0 + dot(a, a))) * (eye() + turn + matrix(a.x * a, a.y * a, a.z * a)))
    t.inverse_mean[b] = (eye() - turn) @ transposed(R)
    t.rotation1[b] = 2.0 * A - R


@compiled
def inertia_balance(t: Tables, b: int, h: float) -> None:
    """Write the inertia terms of floating body b over a time step of length h into ``t.residual``, without forces.
    They are the change of the angular momentum in body axes, docs/theory.md, 4, (4.7), and of the momenta of the
    elastic coordinates, (4.8). ``t`` contains all arrays of the model and its state."""
    axes, c = t.axes_of[b], t.coordinates_begin[b]
    rows = t.residual + (t.velocities_begin[b] + t.dimension)
    a, p0, p1 = t.half_turn[b], t.angular0[b], t.angular1[b]
    write_rotation_vector(rows, p1 - p0 + cross(a, p0 + p1), axes)
    m = t.elastic_count[t.type_of[b]] + 1
    if m == 1:
        return
    f, w0, w1, C = t.scratch, skew_of(t.spin0[b]), skew_of(t.spin1[b]), centrifugal_matrix(t, b, h)
    fill(f, m, 0.0)
    add_contraction(t, f, (0.5 * h) * w0 + eye(), t.moment_rate1 + 9 * c, m)  # pi_eta is 1 : D + [w] : N
    add_contraction(t, f, (0.5 * h) * w1 - eye(), t.moment_rate0 + 9 * c, m)
    add_contraction(t, f, C + w1, t.moment1 + 9 * c, m)
    add_contraction(t, f, C - w0, t.moment0 + 9 * c, m)
    copy(f + 1, rows + axes, m - 1)


@compiled
def centrifugal_matrix(t: Tables, b: int, h: float) -> Matrix:
    """Return the 3 x 3 matrix of the centrifugal forces on the elastic coordinates of floating body b over a time
    step of length h. It is h/4 ([w_n] [w_n+1] + [w_n+1] [w_n]) with the angular velocities w at both ends, to be
    contracted with the body's moments. ``t`` contains all arrays of the model and its state."""
    first, second = skew_of(t.spin0[b]), skew_of(t.spin1[b])
    return (0.25 * h) * (first @ second + second @ first)


@compiled
def inertia_tangent(t: Tables, b: int, h: float, moves: float) -> None:
    """Add the derivatives of the inertia terms of floating body b to its diagonal block of Newton's matrix in
    ``t.blocks``. They are derivatives of docs/theory.md, 4, (4.7) and (4.8) with respect to angular velocity and
    elastic rates at the end of a time step of length h [s]. With ``moves`` = 1 they are exact; with 0 the change
    of the elastic coordinates is neglected. ``t`` contains all arrays of the model and its state."""
    kind, axes, d, across = t.type_of[b], t.axes_of[b], t.dimension, t.corner_stride[b]
    c = t.coordinates_begin[b]
    m, half, own = t.elastic_count[kind] + 1, 0.5 * h, 9 * c
    corner = t.blocks + (t.node_diagonal[b] + d * (across + 1))
    side, bottom = t.blocks + (t.side[b] + d), t.blocks + (t.bottom[b] + d * t.bottom_stride[b])
    a, p, w0, w1 = t.half_turn[b], t.angular0[b] + t.angular1[b], skew_of(t.spin0[b]), skew_of(t.spin1[b])
    N0, N1, D0, D1 = t.moment0 + own, t.moment1 + own, t.moment_rate0 + own, t.moment_rate1 + own
    J = inertia_tensor(t, t.xi1 + c, t.moment1 + own, m) if m > 1 else t.rigid_inertia[kind]
    pi = t.scratch
    for l in range(axes):
        e = unit(rotation_axis(l, axes))
        add_column(corner + l, across, J @ e + cross(a, J @ e) + (0.25 * h) * cross(e, p), axes)
        if m == 1:
            continue
        E = skew_of(e)
        slope, C = pi + l * m, (moves * half) * (E @ w1 + w1 @ E)
        fill(slope, m, 0.0)  # dpi_r . e to deta/dt
        add_contraction(t, slope, E - C, N1, m)
        add_skew_contraction(t, slope, (-moves * half) * e, D1, m)
        slope, C = pi + 3 * m, 0.5 * half * (E @ w0 + w0 @ E)
        fill(slope, m, 0.0)  # rows of eta to w . e
        add_contraction(t, slope, E + C, N1, m)
        add_contraction(t, slope, C, N0, m)
        add_skew_contraction(t, slope, half * e, D0, m)
        for j in range(1, m):
            side[(j - 1) * t.side_stride[b] + l] += slope[j]
    if m == 1:
        return
    for j in range(1, m):
        dpi = vector(0.0, 0.0, pi[j]) if axes == 1 else vector(pi[j], pi[m + j], pi[2 * m + j])
        add_column(bottom + (j - 1), t.bottom_stride[b], dpi + cross(a, dpi), axes)
    C = eye() + half * (w0 + moves * w1) + (moves * half) * centrifugal_matrix(t, b, h)
    add_moment_block(t, b, C)


@compiled
def add_components(target: Reals, stride: int, v: Vector, count: int) -> None:
    """Add the first ``count`` components of a vector v to entries of ``target`` that are ``stride`` apart."""
    for i in range(count):
        target[i * stride] += along(v, i)


@compiled
def components_of(source: Reals, count: int) -> Vector:
    """Return the vector whose first ``count`` components (1, 2 or 3) are those of ``source``; the others are
    zero."""
    return vector(source[0], source[1] if count > 1 else 0.0, source[2] if count > 2 else 0.0)


@compiled
def add_column(block: Reals, width: int, v: Vector, count: int) -> None:
    """Add the components of a vector v to a column of a dense matrix block whose rows have ``width`` entries.
    All three are added for ``count`` = 3, z alone for 1, none else; ``block`` points to the first entry of the
    column."""
    if count == 1:
        block[0] += v.z
    elif count == 3:
        block[0] += v.x
        block[width] += v.y
        block[2 * width] += v.z


@compiled
def accept_pose(t: Tables, b: int) -> None:
    """Copy the elastic coordinates and the rotation matrix of floating body b from the end of the time step to
    ``t.eta`` and ``t.rotation``. The rotation matrix R is replaced by R (3 I - R^T R) / 2, which is orthogonal to
    second order. See docs/theory.md, 4, (4.14). ``t`` contains all arrays of the model and its state."""
    n, c = t.elastic_count[t.type_of[b]], t.coordinates_begin[b]
    copy(t.xi1 + (c + 1), t.eta + t.elastic_begin[b], n)
    R = t.rotation1[b]
    t.rotation[b] = 1.5 * R - 0.5 * (R @ (transposed(R) @ R))


# Elastic force, damping and their exact derivative over one step (docs/theory.md, 3 and 4).
#
# The quadratic part of a strain is a sum of weighted squares of slopes L_g.eta, or eta.C eta / 2 with a matrix,
# whose rows then stand in place of the L_g: one row for each coordinate in the support of the strain (3.1).
#
# The stress is D (mean(eps) + gamma delta(eps)) with gamma = tau / h + numerical damping: a step loses
# exactly gamma delta(eps)^T D delta(eps) (3.4). Matrices of a type are dense patches, which hold their columns one
# after the other, and zero outside of these: those of long bodies are banded.


@compiled
def strain_value(t: Tables, s: int, eta: Reals, slopes: Reals) -> float:
    """Return scalar strain s of a floating body at the elastic coordinates eta, a quadratic function whose square
    is stored energy. It is a linear function plus the sum of c_g (L_g . eta)^2 / 2 with factors c_g and rows L_g.
    A strain with a full matrix L adds eta . L eta / 2 instead. The values L_g . eta are also written to
    ``slopes``. ``t`` contains all arrays of the model and its state."""
    first, last = t.strain_first[s], t.strain_last[s]
    value = product(t.type_value + (t.strain_row[s] + first), eta + first, last - first)
    start, end = t.squares_begin[s], t.squares_end[s]
    g = start
    while g < end:
        count, begin = t.square_alike[g], t.square_first[g]
        L, length = t.type_value + (t.square_row[g] + begin), t.square_last[g] - begin
        matrix_vector(L, count, length, eta + begin, slopes + g)
        g += count
    for k in range(start, end):
        if t.strain_has_matrix[s] == 1:
            value += 0.5 * eta[first + k - start] * slopes[k]
        else:
            value += 0.5 * t.square_factor[k] * slopes[k] * slopes[k]
    return value


@compiled
def strain_gradient(t: Tables, s: int, slopes_a: Reals, slopes_b: Reals, out: Reals) -> None:
    """Write the gradient of scalar strain s of a floating body with respect to its elastic coordinates, as a mean
    of two states, into ``out``. The strain has a linear part and squares of functions L_g . eta. Its gradient is
    that of the linear part plus the sum of c_g m_g L_g, where m_g is the mean of L_g . eta in both states, read
    from ``slopes_a`` and ``slopes_b``, which ``strain_value`` has written. For a strain with a full matrix, these
    are the products of matrix and eta.
    """
    for i in range(t.strain_first[s], t.strain_last[s]):
        out[i] = t.type_value[t.strain_row[s] + i]
    g, end = t.squares_begin[s], t.squares_end[s]
    if t.strain_has_matrix[s] == 1:
        for k in range(g, end):
            out[t.strain_first[s] + k - g] += 0.5 * (slopes_a[k] + slopes_b[k])
        return
    weighted = t.coefficient
    while g < end:
        count, begin = t.square_alike[g], t.square_first[g]
        L, length = t.type_value + (t.square_row[g] + begin), t.square_last[g] - begin
        for k in range(count):
            weighted[k] = 0.5 * t.square_factor[g + k] * (slopes_a[g + k] + slopes_b[g + k])
        add_rows(weighted, count, L, length, out + begin, length)
        g += count


@compiled
def strain_energy(t: Tables, b: int, eta: Reals, strain: Reals) -> float:
    """Return the strain energy of floating body b at elastic coordinates eta [J]. It is eta . K eta / 2 with the
    stiffness matrix K, plus half the weighted squares of scalar strains, nonlinear functions of eta. The strains
    are read from ``strain``, not computed. ``t`` contains all arrays of the model and its state."""
    kind = t.type_of[b]
    own = strain + t.frame_strain[b]
    energy = 0.5 * bilinear_form(t, t.stiffness_patch[kind], t.damping_patch[kind], eta, eta)
    for s in range(t.strains_begin[kind], t.strains_end[kind]):
        energy += 0.5 * t.strain_weight[s] * own[s] * own[s]
    return energy


@compiled
def sum_of_strain_energy_terms(t: Tables, b: int, eta: Reals, strain: Reals, slopes: Reals) -> float:
    """Return the sum of the absolute values of all terms whose sum is the strain energy of floating body b [J]. It
    is a scale of round-off, many times the energy where terms cancel. ``strain`` and ``slopes`` are read; they
    must have been computed for eta, which is not checked. ``t`` contains all arrays of the model and its state."""
    kind, own = t.type_of[b], strain + t.frame_strain[b]
    total, at = 0.0, slopes + t.frame_square[b]
    for k in range(t.stiffness_patch[kind], t.damping_patch[kind]):
        A, length = t.type_value + t.patch_number[k], t.patch_rows[k]
        for j in range(t.patch_columns[k]):
            x = abs(eta[t.patch_column[k] + j])
            for i in range(length):
                total += 0.5 * x * abs(A[j * length + i] * eta[t.patch_row[k] + i])
    for s in range(t.strains_begin[kind], t.strains_end[kind]):
        parts, stress, start = 0.0, t.strain_weight[s] * abs(own[s]), t.squares_begin[s]
        for i in range(t.strain_first[s], t.strain_last[s]):
            parts += abs(t.type_value[t.strain_row[s] + i] * eta[i])
        for g in range(start, start + t.squares_count[s]):
            factor = (
                eta[t.strain_first[s] + g - start] if t.strain_has_matrix[s] == 1 else t.square_factor[g] * at[g]
            )
            for i in range(t.square_first[g], t.square_last[g]):
                parts += abs(factor * t.type_value[t.square_row[g] + i] * eta[i])
        total += stress * parts
    return total


@compiled
def elastic_forces(t: Tables, b: int, h: float, damping: float) -> None:
    """Compute the mean elastic and damping force on the elastic coordinates eta of floating body b over a time
    step of length h [s]. It is stored in ``t.elastic_force`` and positive for positive deformation: K eta without
    damping and strains, opposite to the body's resistance. Scalar strains at the end are written to ``t.strain1``,
    their changes to ``t.strain_change``. ``damping`` is numerical damping, a multiple of the stiffness. See
    docs/theory.md, 4, (4.8). ``t`` contains all arrays of the model and its state."""
    kind, c = t.type_of[b], t.coordinates_begin[b] + 1
    n = t.elastic_count[kind]
    gamma, mean, force = t.viscosity[kind] / h + damping, t.elastic_mean + c, t.elastic_force + c
    grown = t.scratch
    for i in range(n):
        grown[i] = 0.5 * h * (t.rate0[c + i] + t.rate1[c + i])
        mean[i] = (0.5 + gamma) * grown[i] + frame_branch_mean(t, b, i, grown[i], h)
    copy(t.start_force + c, force, n)
    add_patch_product(t, t.stiffness_patch[kind], t.damping_patch[kind], mean, force)
    slopes0, slopes1, gradient = t.slope0 + t.frame_square[b], t.slope1 + t.frame_square[b], t.gradient + c
    for s in range(t.strains_begin[kind], t.strains_end[kind]):
        k = t.frame_strain[b] + s
        t.strain1[k] = strain_value(t, s, t.xi1 + c, slopes1)
        strain_gradient(t, s, slopes0, slopes1, gradient)
        first, count = t.strain_first[s], t.strain_last[s] - t.strain_first[s]
        change = product(gradient + first, grown + first, count)
        t.strain_change[k] = change
        inner = frame_branch_mean(t, b, n + s - t.strains_begin[kind], change, h)
        stress = t.strain_weight[s] * (t.strain0[k] + (0.5 + gamma) * change + inner)
        add_multiple(force + first, stress, gradient + first, count)
    if t.damping_patch[kind] < t.patches_end[kind]:
        for i in range(n):
            mean[i] = 0.5 * (t.rate0[c + i] + t.rate1[c + i])
        add_patch_product(t, t.damping_patch[kind], t.patches_end[kind], mean, force)


@compiled
def elastic_tangent(t: Tables, b: int, h: float, damping: float) -> None:
    """Add the derivative of h times the elastic and damping forces of floating body b to its block of elastic
    rates in ``t.blocks``, Newton's matrix. It contains stiffness, damping and Maxwell branches, and the geometric
    stiffness of scalar strains. Nothing is added for a rigid body. h is the length of the time step [s],
    ``damping`` numerical damping, a multiple of the stiffness. ``t`` contains all arrays of the model and its
    state."""
    kind, lines = t.type_of[b], t.line + t.elastic_begin[b]
    n = t.elastic_count[kind]
    if n == 0:
        return
    gamma = t.viscosity[kind] / h + damping
    whole = gamma + frame_branch_gain(t, b, h)
    _add_matrix(t, lines, t.stiffness_patch[kind], t.damping_patch[kind], 0.5 * h * h * (0.5 + whole))
    _add_matrix(t, lines, t.damping_patch[kind], t.patches_end[kind], 0.5 * h)
    s, last = t.strains_begin[kind], t.strains_end[kind]
    while s < last:
        count = 1  # strains that end at one coordinate go together: the block is passed over once for all of them
        while count < AT_ONCE and s + count < last and t.strain_last[s + count] == t.strain_last[s]:
            count += 1
        _add_stiffness_of_strains(t, b, s, count, 0.5 * h * h * (0.5 + whole))
        for k in range(s, s + count):
            change = t.strain_change[t.frame_strain[b] + k]
            inner = frame_branch_mean(t, b, n + k - t.strains_begin[kind], change, h)
            total = t.strain0[t.frame_strain[b] + k] + (0.5 + gamma) * change + inner
            _add_curvature(t, k, lines, 0.25 * h * h * t.strain_weight[k] * total)
        s += count


@compiled
def _add_stiffness_of_strains(t: Tables, b: int, s: int, count: int, factor: float) -> None:
    """Add the stiffness of ``count`` strains, from strain s on, to the block of Newton's matrix of the elastic
    coordinates of floating body b. It is ``factor`` times the sum of D a b^T over the strains with their moduli D.
    The vectors a and b are gradients of a strain with respect to the elastic coordinates, a the discrete one of
    the time step and b at its end. ``t`` contains all arrays of the model and its state."""
    n, begin, end = t.elastic_count[t.type_of[b]], t.strain_first[s], t.strain_last[s]
    slopes0, slopes1 = t.slope0 + t.frame_square[b], t.slope1 + t.frame_square[b]
    means, ends, gradient = t.scratch, t.scratch + count * n, t.gradient + (t.coordinates_begin[b] + 1)
    for k in range(count):
        begin = min(begin, t.strain_first[s + k])
    for k in range(count):
        first, weight, own = t.strain_first[s + k], factor * t.strain_weight[s + k], ends + k * n
        strain_gradient(t, s + k, slopes0, slopes1, gradient)
        strain_gradient(t, s + k, slopes1, slopes1, own)
        fill(own + begin, first - begin, 0.0)
        fill(gradient + begin, first - begin, 0.0)
        for i in range(begin, end):
            means[i * count + k] = weight * gradient[i]
    for i in range(begin, end):
        line = t.blocks + (t.line[t.elastic_begin[b] + i] + begin)
        add_rows(means + i * count, count, ends + begin, n, line, end - begin)


@compiled
def _add_curvature(t: Tables, s: int, lines: Integers, stress: float) -> None:
    """Add the geometric stiffness of scalar strain s to the block of Newton's matrix of its body's elastic
    coordinates. It is ``stress`` times the second derivatives of the strain with respect to the elastic
    coordinates, from one stored symmetric matrix or from squares of linear functions. ``lines`` are offsets of the
    block's rows. ``t`` contains all arrays of the model and its state."""
    g, end = t.squares_begin[s], t.squares_end[s]
    if t.strain_has_matrix[s] == 1:
        for k in range(g, end):
            begin = t.square_first[k]
            line = t.blocks + (lines[t.strain_first[s] + k - g] + begin)
            add_multiple(line, stress, t.type_value + (t.square_row[k] + begin), t.square_last[k] - begin)
        return
    while g < end:
        begin, length, count = t.square_first[g], t.square_last[g] - t.square_first[g], t.square_alike[g]
        slopes, weighted = t.type_value + (t.square_row[g] + begin), t.scratch
        for i in range(length):
            for k in range(count):
                weighted[k] = stress * t.square_factor[g + k] * slopes[k * length + i]
            add_rows(weighted, count, slopes, length, t.blocks + (lines[begin + i] + begin), length)
        g += count


@compiled
def _add_matrix(t: Tables, lines: Integers, begin: int, end: int, factor: float) -> None:
    """Add ``factor`` times a symmetric matrix, such as stiffness or damping of a body, to the block of its elastic
    coordinates in Newton's matrix. The matrix consists of the dense rectangles ``begin`` .. ``end`` - 1; ``lines``
    are offsets of the block's rows. ``t`` contains all arrays of the model and its state."""
    for s in range(begin, end):
        length = t.patch_rows[s]
        for k in range(t.patch_columns[s]):
            A = t.type_value + (t.patch_number[s] + k * length)
            add_multiple(t.blocks + (lines[t.patch_column[s] + k] + t.patch_row[s]), factor, A, length)


@compiled
def dissipation(t: Tables, b: int, h: float, damping: float) -> float:
    """Return the energy that floating body b loses in a time step of length h to viscosity, damping matrix and
    numerical damping [J]. Losses of Maxwell branches are not included. Changes of scalar strains are those of the
    last evaluated residual. See docs/theory.md, 3, (3.4). ``t`` contains all arrays of the model and its state."""
    kind, c = t.type_of[b], t.coordinates_begin[b] + 1
    n, lost = t.elastic_count[kind], 0.0
    gamma = t.viscosity[kind] / h + damping
    if any_of(gamma != 0.0):
        change = t.elastic_mean + c
        for i in range(n):
            change[i] = t.xi1[c + i] - t.xi0[c + i]
        lost += gamma * bilinear_form(t, t.stiffness_patch[kind], t.damping_patch[kind], change, change)
        for s in range(t.strains_begin[kind], t.strains_end[kind]):
            change_of_strain = t.strain_change[t.frame_strain[b] + s]
            lost += gamma * t.strain_weight[s] * change_of_strain * change_of_strain
    if t.damping_patch[kind] < t.patches_end[kind]:
        mean = t.elastic_mean + c
        for i in range(n):
            mean[i] = 0.5 * (t.rate0[c + i] + t.rate1[c + i])
        lost += h * bilinear_form(t, t.damping_patch[kind], t.patches_end[kind], mean, mean)
    return lost


@compiled
def add_patch_product(t: Tables, begin: int, end: int, x: Reals, y: Reals) -> None:
    """Compute y += A x in place for a matrix A of a body type that is zero outside some rectangular dense blocks.
    These are the patches ``begin`` .. ``end`` - 1. Each multiplies contiguous entries of x and is added to
    contiguous entries of y. ``t`` contains all arrays of the model and its state."""
    for s in range(begin, end):
        A, rows = t.type_value + t.patch_number[s], t.patch_rows[s]
        add_rows(x + t.patch_column[s], t.patch_columns[s], A, rows, y + t.patch_row[s], rows)


@compiled
def bilinear_form(t: Tables, begin: int, end: int, x: Reals, y: Reals) -> float:
    """Return the bilinear form x . A y for a matrix A of a body type that is zero outside some rectangular dense
    blocks. These are the patches ``begin`` .. ``end`` - 1. ``t`` contains all arrays of the model and its state."""
    total = 0.0
    for s in range(begin, end):
        A, rows = t.type_value + t.patch_number[s], t.patch_rows[s]
        for k in range(t.patch_columns[s]):
            total += x[t.patch_column[s] + k] * product(A + k * rows, y + t.patch_row[s], rows)
    return total


# Frames over one step.


@compiled
def unpack_velocity(t: Tables, b: int, nu: Reals, linear: Vectors, spin: Vectors, rate: Reals) -> None:
    """Copy the velocities of carrier b, a floating body or a node, from ``nu`` to separate arrays. The linear
    velocity goes to ``linear``; for a floating body the angular velocity in body axes goes to ``spin``, the
    elastic rates go to ``rate``. ``t`` contains all arrays of the model and its state."""
    own, d = nu + t.velocities_begin[b], t.dimension
    linear[b] = components_of(own, d)
    if b < t.frames:
        spin[b] = read_rotation_vector(own + d, t.axes_of[b])
        copy(own + t.rigid_of[b], rate + (t.coordinates_begin[b] + 1), t.velocities_count[b] - t.rigid_of[b])


@compiled
def begin_frame(t: Tables, b: int, continues: bool) -> None:
    """Compute the quantities of floating body b at the start of the time step that follow from its elastic
    coordinates and velocities. They are mass moments, angular momentum (``t.angular0``), linear elastic force
    (``t.start_force``) and scalar strains (``t.strain0``), whose squares are stored energy. Linear functions
    inside of the strains go to ``t.slope0``. If the step ``continues`` an accepted one, strains and moments of the
    rates are copied from its end. ``t`` contains all arrays of the model and its state.

    The force stays the same while Newton's method changes the end of the step, and so does its round-off, which is
    that of large forces that cancel.
    """
    compute_moments(t, b, t.xi0, t.moment0)
    if continues:
        moments = 9 * t.coordinates_begin[b]
        copy(t.moment_rate1 + moments, t.moment_rate0 + moments, t.planes * (t.elastic_count[t.type_of[b]] + 1))
    else:
        compute_moments(t, b, t.rate0, t.moment_rate0)
    t.angular0[b] = angular_momentum(t, b, t.spin0[b], t.xi0, t.moment0, t.moment_rate0)
    kind, c, slopes = t.type_of[b], t.coordinates_begin[b] + 1, t.slope0 + t.frame_square[b]
    fill(t.start_force + c, t.elastic_count[kind], 0.0)
    add_patch_product(t, t.stiffness_patch[kind], t.damping_patch[kind], t.xi0 + c, t.start_force + c)
    first, last = t.strains_begin[kind], t.strains_end[kind]
    if continues:
        own, begin, end = t.frame_strain[b] + first, t.squares_begin[first], t.squares_begin[last]
        copy(t.strain1 + own, t.strain0 + own, last - first)
        copy(t.slope1 + (t.frame_square[b] + begin), slopes + begin, end - begin)
        return
    for s in range(first, last):
        t.strain0[t.frame_strain[b] + s] = strain_value(t, s, t.xi0 + c, slopes)


@compiled
def move_frame(t: Tables, b: int, h: float, damping: float) -> None:
    """Compute the pose of floating body b at the end of a time step of length h [s] from its velocities at both
    ends. The trapezoidal rule is used. Results are elastic coordinates ``t.xi1``, mass moments ``t.moment1``,
    angular momentum ``t.angular1`` and rotation ``t.rotation1`` at the end; the mean elastic and damping force goes
    to ``t.elastic_force``. The centre of mass is moved elsewhere. ``damping`` is numerical damping, a multiple of
    the stiffness. ``t`` contains all arrays of the model and its state.
    """
    c, n = t.coordinates_begin[b], t.velocities_count[b] - t.rigid_of[b]
    if n > 0:
        for j in range(c + 1, c + 1 + n):
            t.xi1[j] = t.xi0[j] + 0.5 * h * (t.rate0[j] + t.rate1[j])
        compute_moments(t, b, t.rate1, t.moment_rate1)
        for i in range(9 * c, 9 * c + t.planes * (n + 1)):  # (4.4)
            t.moment1[i] = t.moment0[i] + 0.5 * h * (t.moment_rate0[i] + t.moment_rate1[i])
        elastic_forces(t, b, h, damping)
    t.angular1[b] = angular_momentum(t, b, t.spin1[b], t.xi1, t.moment1, t.moment_rate1)
    compute_end_rotation(t, b, h)


@compiled
def balance_frame(t: Tables, b: int, h: float) -> None:
    """Write the balances of rotation (in body axes) and deformation of floating body b over a time step of length
    h into ``t.residual``. They are the change of momenta plus h times the elastic force ``t.elastic_force``;
    external forces are subtracted elsewhere. ``t`` contains all arrays of the model and its state."""
    inertia_balance(t, b, h)
    c, n = t.coordinates_begin[b] + 1, t.velocities_count[b] - t.rigid_of[b]
    if n > 0:
        add_multiple(t.residual + (t.velocities_begin[b] + t.rigid_of[b]), h, t.elastic_force + c, n)


KINETIC, STRAIN, LOSS, PARTS = 0, 2, 4, 5
"""Indices into ``frame_energies``; kinetic and strain energy have two numbers, at start and end of a step."""


@compiled
def frame_energies(t: Tables, b: int, h: float, damping: float, with_parts: bool, energy: Reals) -> None:
    """Write six energies of floating body b to ``energy`` [J]. They are kinetic energy of rotation and deformation
    at start and end of the time step, strain energy at start and end, and the loss. The sixth is the sum of
    absolute terms if ``with_parts``, a scale of round-off, else 0. h is the length of the time step [s],
    ``damping`` numerical damping. ``t`` contains all arrays of the model and its state."""
    energy[0] = rotational_energy(t, b, t.spin0, t.rate0, t.angular0, t.moment0, t.moment_rate0)
    energy[1] = rotational_energy(t, b, t.spin1, t.rate1, t.angular1, t.moment1, t.moment_rate1)
    fill(energy + STRAIN, FRAME_ENERGIES - STRAIN, 0.0)
    if t.velocities_count[b] == t.rigid_of[b]:
        return
    eta0, eta1 = t.xi0 + (t.coordinates_begin[b] + 1), t.xi1 + (t.coordinates_begin[b] + 1)
    energy[2], energy[3] = strain_energy(t, b, eta0, t.strain0), strain_energy(t, b, eta1, t.strain1)
    energy[LOSS] = dissipation(t, b, h, damping)
    if with_parts:
        energy[PARTS] = sum_of_strain_energy_terms(t, b, eta0, t.strain0, t.slope0)
        energy[PARTS] += sum_of_strain_energy_terms(t, b, eta1, t.strain1, t.slope1)


# Branches of bodies that creep (docs/theory.md, 8): shares of the elasticity in series with dashpots. The strains e
# of a branch are those of all elastic coordinates, whose energy is e . K e / 2, then those of the scalar strains.


@compiled
def frame_branch_size(t: Tables, b: int) -> int:
    """Return the number of strains that are stored for one Maxwell branch (spring and dashpot in series) of
    floating body b: its elastic coordinates and its scalar strains. ``t`` contains all arrays of the model and its
    state."""
    return t.elastic_count[t.type_of[b]] + t.strains_count[t.type_of[b]]


@compiled
def frame_branch_mean(t: Tables, b: int, k: int, change: float, h: float) -> float:
    """Return the mean spring strain of the Maxwell branches of floating body b over a time step, for one of its
    strains. It is the sum over the branches, weighted by their stiffness relative to the body's. k counts the
    elastic coordinates, then the scalar strains; the strain k of the body changes by ``change`` in the step of
    length h [s]. A branch is a spring and a dashpot in series. ``t`` contains all arrays of the model and its
    state.
    """
    kind, total = t.type_of[b], 0.0
    for i in range(t.inner_branches_count[kind]):
        n = t.inner_branches_begin[kind] + i
        at = t.inner_fading[n]
        update_relaxation(t, at, h)
        e = t.inner_strain[t.inner_strains_begin[b] + i * frame_branch_size(t, b) + k]
        total += t.inner_share[n] * (t.fading_mean[at] * e + t.fading_gain[at] * change)
    return total


@compiled
def frame_branch_gain(t: Tables, b: int, h: float) -> float:
    """Return the derivative of the mean strain in the Maxwell branches of floating body b with respect to its
    strain change in a time step. The mean strain is that of ``frame_branch_mean``; a Maxwell branch is a spring
    and a dashpot in series. h is the length of the time step [s]. ``t`` contains all arrays of the model and its
    state."""
    kind, total = t.type_of[b], 0.0
    for n in range(t.inner_branches_begin[kind], t.inner_branches_end[kind]):
        update_relaxation(t, t.inner_fading[n], h)
        total += t.inner_share[n] * t.fading_gain[t.inner_fading[n]]
    return total


@compiled
def frame_branch_work(t: Tables, b: int, h: float) -> float:
    """Return the work [J] that the deformation of floating body b does on its Maxwell branches in a time step of
    length h [s]. It is the mean branch force, stiffness times mean spring strain, times the change of elastic
    coordinates and strains. The branches, springs and dashpots in series, store some of it and dissipate the rest.
    0 if the body has none. ``t`` contains all arrays of the model and its state."""
    kind, c = t.type_of[b], t.coordinates_begin[b] + 1
    if t.inner_branches_count[kind] == 0:
        return 0.0
    n, mean, change = t.elastic_count[kind], t.elastic_mean + c, t.gradient + c
    for i in range(n):
        change[i] = t.xi1[c + i] - t.xi0[c + i]
        mean[i] = frame_branch_mean(t, b, i, change[i], h)
    work = bilinear_form(t, t.stiffness_patch[kind], t.damping_patch[kind], mean, change)
    for s in range(t.strains_begin[kind], t.strains_end[kind]):
        grown = t.strain_change[t.frame_strain[b] + s]
        work += t.strain_weight[s] * grown * frame_branch_mean(t, b, n + s - t.strains_begin[kind], grown, h)
    return work


@compiled
def frame_branch_energy(t: Tables, b: int) -> float:
    """Return the elastic energy [J] in the springs of the Maxwell branches (spring and dashpot in series) of
    floating body b at the present state. It is half the quadratic form of the body's stiffness and strain moduli
    in the spring strains, times each branch's relative stiffness. ``t`` contains all arrays of the model and its
    state."""
    kind, total = t.type_of[b], 0.0
    n, first = t.elastic_count[kind], t.strains_begin[kind]
    for i in range(t.inner_branches_count[kind]):
        e = t.inner_strain + (t.inner_strains_begin[b] + i * frame_branch_size(t, b))
        twice = bilinear_form(t, t.stiffness_patch[kind], t.damping_patch[kind], e, e)
        for s in range(t.strains_count[kind]):
            twice += t.strain_weight[first + s] * e[n + s] * e[n + s]
        total += 0.5 * t.inner_share[t.inner_branches_begin[kind] + i] * twice
    return total


@compiled
def advance_frame_branches(t: Tables, b: int, h: float) -> float:
    """Replace the spring strains of the Maxwell branches of floating body b by their values at the end of the time
    step. A Maxwell branch is a spring and a dashpot in series; the strains decay and follow the change of the
    elastic coordinates and strains. They are stored in ``t.inner_strain``. Return the energy that the dashpots
    lose [J]. h is the length of the step [s]. ``t`` contains all arrays of the model and its state."""
    kind, c = t.type_of[b], t.coordinates_begin[b] + 1
    n, first, lost = t.elastic_count[kind], t.strains_begin[kind], 0.0
    change, K, end = t.gradient + c, t.stiffness_patch[kind], t.damping_patch[kind]
    for i in range(t.inner_branches_count[kind]):
        m = t.inner_branches_begin[kind] + i
        at, e = t.inner_fading[m], t.inner_strain + (t.inner_strains_begin[b] + i * frame_branch_size(t, b))
        update_relaxation(t, at, h)
        left, mean = t.fading_left[at], t.fading_mean[at]
        for j in range(n):
            change[j] = t.xi1[c + j] - t.xi0[c + j]
        stored, both = bilinear_form(t, K, end, e, e), bilinear_form(t, K, end, e, change)
        own = dashpot_loss(t, at, stored, both, bilinear_form(t, K, end, change, change))
        for j in range(n):
            e[j] = left * e[j] + mean * change[j]
        for s in range(t.strains_count[kind]):
            x, grown = e[n + s], t.strain_change[t.frame_strain[b] + first + s]
            own += t.strain_weight[first + s] * dashpot_loss(t, at, x * x, x * grown, grown * grown)
            e[n + s] = left * x + mean * grown
        lost += t.inner_share[m] * own
    return lost
