"""Mass matrix, elastic force and momentum balances of one floating body, as in the theory (docs/theory.md, 2,
3).
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, read_only
from phlexible.algebra.caching import cached_on_owner
from phlexible.algebra.rotations import cross, cross_matrix
from phlexible.algebra.sparse import Matrix, as_array, scaled_rows, transposed
from phlexible.bodies.floating_body import FloatingBody, LocalMoments
from phlexible.errors import SingularMassError

# Mass matrix and elastic force of one body (docs/theory.md, 2 and 3).
#
# For reading, checking and single evaluations; the time loop has its own compiled form.

SINGULAR, CLEARLY = 1e-12, 1e-10
TOGETHER = 64  # elastic coordinates that are changed in one call
IDENTITY = np.eye(3)


def mass_matrix(body: FloatingBody, eta: Array) -> Matrix:
    """Return the mass matrix M(eta) of a floating body for its N velocities nu, shape (..., N, N), at elastic
    coordinates eta (..., n). nu are linear and angular velocity in body axes and elastic rates; the kinetic energy
    is nu.M.nu / 2. The matrix is sparse for a body with sparse mass integrals at one eta.

    nu = (v_x, v_y, v_z, w_x, w_y, w_z, deta/dt) without the components that the body does not have: v_z in the
    plane, all w but ``body.rotation_axes``. v is the velocity of the origin in body axes; of a body about its
    centre of mass (``centred``) the velocity of this centre in any axes. The matrix of a long body about its origin
    is sparse (for eta of one instant); about its centre of mass all coordinates are coupled.
    """
    n, rigid, components = body.elastic_count, body.rigid_count, velocity_components(body)
    rows = rigid_rows(body, eta).take(components[:rigid], -2).take(components, -1)
    if isinstance(body.second_moments, LocalMoments) and body.second_moments.is_sparse and eta.ndim == 1:
        blocks = [[rows[:, :rigid], rows[:, rigid:]], [rows[:, rigid:].T, elastic_mass(body)]]
        return sparse.csr_array(sparse.block_array(blocks, format="csr"))
    if not n:
        return rows
    result = np.empty((*eta.shape[:-1], rigid + n, rigid + n))
    result[..., :rigid, :] = rows
    result[..., rigid:, :rigid] = np.swapaxes(rows[..., rigid:], -1, -2)
    result[..., rigid:, rigid:] = elastic_mass(body)
    return result


@cached_on_owner
def undeformed_mass(body: FloatingBody) -> Matrix:
    """Return the mass matrix M(0) of an undeformed floating body, shape (velocities, velocities), sparse for a long
    body. It is computed once for each body, cached and read-only."""
    mass = mass_matrix(body, np.zeros(body.elastic_count))
    return read_only(mass) if isinstance(mass, np.ndarray) else mass


def rigid_rows(body: FloatingBody, eta: Array) -> Array:
    """Return the six rows of a floating body's mass matrix that give linear and angular momentum from velocities,
    shape (..., 6, 6 + n). Both are in body axes; angular momentum is about the body's origin. Columns are for
    linear velocity, angular velocity and elastic rates deta/dt. The rows depend on the elastic coordinates eta
    (..., n)."""
    n = body.elastic_count
    xi = np.concatenate([np.ones((*eta.shape[:-1], 1)), eta], axis=-1)
    center = cross_matrix(xi @ body.first_moments.T)
    products = moment_products(body, xi)
    spread = np.einsum("...abi,...i->...ab", products, xi)
    rows = np.zeros((*eta.shape[:-1], 6, 6 + n))
    rows[..., :3, :3] = body.mass * IDENTITY
    rows[..., :3, 3:6], rows[..., 3:, :3] = -center, center
    rows[..., 3:, 3:6] = spread.trace(axis1=-2, axis2=-1)[..., None, None] * IDENTITY - spread
    if n:
        rows[..., :3, 6:] = body.first_moments[:, 1:]
        rows[..., 3:, 6:] = cross_products(products)[..., 1:]
    return rows


def moment_products(body: FloatingBody, xi: Array) -> Array:
    """Return the products W[a, b] xi of the second mass moments of a floating body, shape (..., 3, 3, n + 1). The
    vectors xi = (1, eta) have the shape (..., n + 1) for elastic coordinates eta. W[a, b] = int rho Psi_a^T Psi_b
    for axes a and b; the columns of Psi are position and displacement shapes."""
    if isinstance(body.second_moments, LocalMoments):
        return body.second_moments.times(xi)
    size = xi.shape[-1]
    return (xi @ body.second_moments.reshape(-1, size).T).reshape(*xi.shape[:-1], 3, 3, size)


def cross_products(products: Array) -> Array:
    """Return the integrals int rho X x Psi_j of the position field X = Psi xi of a body with each of its shape
    functions; shape (..., 3, n + 1). ``products`` are W[a, b] xi, second mass moments times xi."""
    flat = products.reshape(*products.shape[:-3], 9, products.shape[-1])
    return np.asarray(flat.take((7, 2, 3), -2) - flat.take((5, 6, 1), -2))  # W[2, 1] - W[1, 2] and so on


def elastic_mass(body: FloatingBody) -> Matrix:
    """Return the constant mass matrix int rho Phi^T Phi of a floating body with n displacement shapes Phi, shape
    (n, n). It is the sum over axes a of the stored moments W[a, a] without first row and column. It is sparse for
    long bodies with sparse moments, otherwise dense."""
    if isinstance(body.second_moments, LocalMoments):
        return body.second_moments.elastic_mass()
    return np.asarray(sum(body.second_moments[a, a, 1:, 1:] for a in range(len(body.second_moments))))


def mass_diagonal(body: FloatingBody) -> Array:
    """Return the diagonal of the mass matrix of an undeformed floating body, shape (velocity_count,), without
    computing the matrix. Its entries are the mass for each translation and the moment of inertia about the body's
    origin for each rotation. The mass of each elastic coordinate follows."""
    spread, moments = body.undeformed_spread.diagonal(), body.second_moments
    rigid = [body.mass] * body.dimension + [spread.sum() - spread[axis] for axis in body.rotation_axes]
    own = moments.elastic_diagonal() if isinstance(moments, LocalMoments) else np.einsum("aaii->i", moments)[1:]
    return np.concatenate([rigid, own])


def mass_solutions(body: FloatingBody, eta: Array, right: Array) -> Array:
    """Solve M(eta) x = right for the mass matrix M of a floating body at T instants. Shapes are (T, n) for elastic
    coordinates eta, (T, N, k) for ``right`` and the returned x. The constant elastic block is factored once
    (Cholesky) and eliminated; a dense rotational system remains. ``body`` must be given about its centre of mass,
    so that translation is decoupled; this is not checked.

    Args:
        body: about its centre of mass.
        eta: shape (T, n).
        right: shape (T, velocity_count, k).
    """
    d, rigid, axes = body.dimension, body.rigid_count, [3 + axis for axis in body.rotation_axes]
    count = len(right)
    result = np.empty_like(right)
    result[:, :d] = right[:, :d] / body.mass
    if not body.elastic_count and not axes:
        return result
    turning = rigid_rows(body, eta)[:, axes]
    inertia, mixed = turning[:, :, axes], turning[:, :, 6:]
    forces = right[:, d:rigid]
    if body.elastic_count:
        from scipy.linalg import cho_solve

        lower = np.linalg.cholesky(as_array(elastic_mass(body)))

        def elastic_solutions(columns: Array) -> Array:
            flat = cho_solve((lower, True), columns.transpose(1, 0, 2).reshape(len(lower), -1), check_finite=False)
            return np.asarray(flat.reshape(len(lower), count, -1).transpose(1, 0, 2))

        uncoupled, coupled = elastic_solutions(right[:, rigid:]), elastic_solutions(mixed.transpose(0, 2, 1))
        inertia, forces = inertia - mixed @ coupled, forces - mixed @ uncoupled
    result[:, d:rigid] = np.linalg.solve(inertia, forces)
    if body.elastic_count:
        result[:, rigid:] = uncoupled - coupled @ result[:, d:rigid]
    return result


@cached_on_owner
def check_mass(body: FloatingBody) -> None:
    """Raise ``SingularMassError`` if some motion of the undeformed floating body has no kinetic energy. This is so
    if a diagonal entry of its mass matrix is not positive. It is also so if the matrix, scaled to unit diagonal,
    has an eigenvalue below 1e-12 of the largest. The message names the velocities of this motion. Point masses are
    not checked.

    Raises:
        SingularMassError: M(0), scaled to a unit diagonal, has an eigenvalue below 1e-12 of the
            largest; the message names the velocities in it.
    """
    if not body.rotates and not body.elastic_count:
        return  # a point mass, which is positive
    matrix = undeformed_mass(body)
    diagonal = matrix.diagonal()
    names = [*("v_x v_y v_z w_x w_y w_z").split(), *(f"deta_{i}/dt" for i in range(body.elastic_count))]
    components = [names[i] for i in velocity_components(body)]
    if not diagonal.min() > 0:
        empty = [name for name, entry in zip(components, diagonal, strict=True) if not entry > 0]
        raise SingularMassError(f"the mass matrix is singular: no inertia in the direction of {', '.join(empty)}")
    scale = 1 / np.sqrt(diagonal)
    scaled = scaled_rows(scale, scaled_rows(scale, matrix).T)
    if isinstance(scaled, np.ndarray) and _is_above(scaled, CLEARLY * len(scaled)):
        return  # its largest eigenvalue is not above the sum of its diagonal, one each
    least, direction = _least_value(scaled)
    if least <= SINGULAR:
        motion = direction / np.abs(direction).max()
        shares = zip(motion, components, strict=True)
        shown = " ".join(f"{share:+.2g} {name}" for share, name in shares if abs(share) > 0.1)
        raise SingularMassError(
            f"the mass matrix is singular (relative {least:.1e}) in the direction {shown} "
            "(each scaled to unit kinetic energy): shape functions must not contain rigid motion "
            "or depend on each other"
        )


def _is_above(matrix: Array, number: float) -> bool:
    """Return whether all eigenvalues of a symmetric matrix are greater than ``number``, by a Cholesky
    factorization."""
    try:
        np.linalg.cholesky(matrix - number * np.eye(len(matrix)))
    except np.linalg.LinAlgError:
        return False
    return True


def _least_value(matrix: Matrix) -> tuple[float, Array]:
    """Return the least eigenvalue of a symmetric matrix divided by its largest, and its unit eigenvector. Of a
    sparse matrix, both are approximate (Lanczos), and the largest eigenvalue is replaced by the largest absolute
    row sum."""
    if isinstance(matrix, np.ndarray):
        values, vectors = np.linalg.eigh(matrix)
        return float(values[0] / values[-1]), vectors[:, 0]
    from scipy.sparse.linalg import eigsh

    largest = float(abs(matrix).sum(axis=1).max())  # not below the largest eigenvalue
    start = np.ones(matrix.shape[0])
    values, vectors = eigsh(matrix, k=1, sigma=-SINGULAR * largest, v0=start, tol=1e-3)
    return float(values[0]) / largest, vectors[:, 0]


def strains(body: FloatingBody, eta: Array) -> Array:
    """Return the s scalar strains of a floating body at elastic coordinates eta (..., n), shape (..., s). A strain
    is a linear function of eta plus weighted halves of squares of linear functions (slopes), as in von Karman
    strain."""
    strain = body.strain
    result = np.asarray(strain.rows @ eta.T)
    half_squares = strain.factors * (strain.squares @ eta.T).T ** 2 / 2
    np.add.at(result, strain.square_strain, half_squares.T)
    return result.T


def strain_energy(body: FloatingBody, eta: Array) -> float:
    """Return the strain energy of a floating body at elastic coordinates eta (n,) [J]. It is half the sum of eta .
    stiffness eta and of the squared scalar strains times their stiffnesses."""
    return float(eta @ body.strain.stiffness @ eta + body.strain.weights @ strains(body, eta) ** 2) / 2


def strain_rows(body: FloatingBody, eta: Array) -> Matrix:
    """Return the derivatives of the s scalar strains of a floating body with respect to its elastic coordinates,
    at eta (n,), shape (s, n). They are the constant linear part plus the weighted derivative of each square of a
    linear function of eta. They are sparse for bodies with sparse strain matrices. With dense matrices, eta may
    have more leading axes."""
    strain = body.strain
    if not isinstance(strain.rows, np.ndarray):
        shape = (len(strain.weights), len(strain.factors))
        weights = strain.factors * (strain.squares @ eta)
        sums = sparse.coo_array((weights, (strain.square_strain, np.arange(shape[1]))), shape).tocsr()
        return sparse.csr_array(strain.rows + sums @ strain.squares)
    sums = np.zeros((*eta.shape[:-1], len(strain.weights), len(strain.factors)))
    sums[..., strain.square_strain, np.arange(len(strain.factors))] = strain.factors * (strain.squares @ eta.T).T
    return np.asarray(strain.rows + sums @ strain.squares)


def is_vectorized(body: FloatingBody) -> bool:
    """Return whether forces and tangents of this floating body can be computed for elastic coordinates of many
    instants, shape (..., n), in one call. This needs dense matrices; long bodies have sparse ones."""
    strain = body.strain
    return all(isinstance(matrix, np.ndarray) for matrix in (strain.stiffness, strain.rows, strain.squares))


def elastic_force(body: FloatingBody, eta: Array) -> Array:
    """Return the gradient dV/deta of the strain energy V of a floating body at elastic coordinates eta (n,), shape
    (n,). The elastic force on the coordinates is minus this gradient. For dense matrices eta may have more leading
    axes."""
    stress, rows = body.strain.weights * strains(body, eta), strain_rows(body, eta)
    return np.asarray((body.strain.stiffness @ eta.T).T + (transposed(rows) @ stress[..., None])[..., 0])


def viscous_matrix(body: FloatingBody, eta: Array) -> Matrix:
    """Return the damping matrix C of the viscous force -C deta/dt of a floating body at elastic coordinates
    eta, shape (n, n). It is the modal damping plus the material's viscosity times stiffness without its
    geometric part. For dense matrices eta may have more leading axes."""
    rows = strain_rows(body, eta)
    material = body.strain.stiffness + transposed(rows) @ scaled_rows(body.strain.weights, rows)
    return body.damping + body.viscosity * material


def elastic_tangent(body: FloatingBody, eta: Array) -> Matrix:
    """Return the tangent stiffness d2V/deta2 of a floating body at elastic coordinates eta, symmetric, shape (n,
    n). It is the sum of the constant stiffness, the gradients of scalar strains times their stiffness, and a
    geometric part: the stress times second derivatives of these strains."""
    strain, rows = body.strain, strain_rows(body, eta)
    stress = strain.weights * strains(body, eta)
    curvatures = scaled_rows(strain.factors * stress[..., strain.square_strain], strain.squares)
    return strain.stiffness + transposed(rows) @ scaled_rows(strain.weights, rows) + strain.squares.T @ curvatures


def velocity_components(body: FloatingBody) -> list[int]:
    """Return the indices of the velocities of this body in the full list (v, w, deta/dt) of 6 + n entries,
    ascending. A planar body, for example, has no v_z, w_x and w_y."""
    rigid = [*body.linear_axes, *(3 + axis for axis in body.rotation_axes)]
    return rigid + list(range(6, 6 + body.elastic_count))


def split_velocity(body: FloatingBody, nu: Array) -> tuple[Array, Array, Array]:
    """Return the velocities nu of a floating body as linear velocity v (..., 3), angular velocity w (..., 3) and
    elastic rates deta/dt (..., n). Components that the body does not have are zero."""
    full = np.zeros((*nu.shape[:-1], 6 + body.elastic_count), dtype=nu.dtype)
    full[..., velocity_components(body)] = nu
    return full[..., :3], full[..., 3:6], full[..., 6:]


ROUND_OFF, CLEAR = 1e-12, 1e-10  # relative to the bound by the diagonal: round-off, if none is between


def centred(body: FloatingBody) -> tuple[FloatingBody, Array]:
    """Return the floating body with its mass integrals about its centre of mass, where translation is decoupled.
    Return also the matrix (3, n + 1) [m] that, times (1, eta), gives the centre's position in the original body
    frame. The body's material points are not changed.

    The position is S xi / m in body axes, a linear function of xi = (1, eta). The returned body has S = 0 and W[a,
    b] minus S_a^T S_b / m, so that translation is decoupled from rotation and deformation. Its points are those of
    the original body: their users subtract the position.

    Returns:
        The body, and S / m, shape (3, n + 1) [m].
    """
    return _centred(body) if body.first_moments.any() else (body, np.zeros_like(body.first_moments))


@cached_on_owner
def _centred(body: FloatingBody) -> tuple[FloatingBody, Array]:
    center = body.first_moments / body.mass
    if isinstance(body.second_moments, LocalMoments):
        moments: Array | LocalMoments = replace(body.second_moments, removed=np.sqrt(body.mass) * center)
    else:  # odd modes do not move it, but for round-off
        weights = np.sqrt(np.einsum("aaii->i", body.second_moments) / body.mass)
        center = np.where(np.abs(center) > ROUND_OFF * weights, center, 0.0)
        moments = body.second_moments - body.mass * np.einsum("ai,bj->abij", center, center)
    return replace(body, first_moments=np.zeros_like(center), second_moments=moments), center


@cached_on_owner
def without_round_off(body: FloatingBody) -> FloatingBody:
    """Return the floating body with zeros in place of round-off entries of its second mass moments, damping,
    stiffness and strain matrices. An entry is round-off if it is small against the geometric mean of its diagonal
    entries. If some entries of a matrix are not clearly one or the other, it is unchanged. Bodies with sparse
    matrices are returned unchanged; the result is cached.

    Beams that differ in numbers alone, such as a width, then have the same sparsity pattern, which lanes and
    libraries with parameters need. Bodies from meshes, whose entries are of all sizes, are not changed.
    """
    if isinstance(body.second_moments, LocalMoments) or not isinstance(body.strain.stiffness, np.ndarray):
        return body
    weights = np.sqrt(np.einsum("aaii->i", body.second_moments))
    moments = _without_small(body.second_moments, np.outer(weights, weights))
    if not body.elastic_count:
        return body if np.array_equal(moments, body.second_moments) else replace(body, second_moments=moments)
    strain = body.strain.with_arrays()
    stretched = np.sqrt(np.diag(strain.stiffness) + strain.weights @ strain.rows**2)
    damped = np.sqrt(np.diag(as_array(body.damping)))
    return replace(
        body,
        second_moments=moments,
        damping=_without_small(as_array(body.damping), np.outer(damped, damped)),
        strain=replace(
            body.strain,
            stiffness=_without_small(strain.stiffness, np.outer(stretched, stretched)),
            squares=_without_small(strain.squares, np.abs(strain.squares).max(axis=0, initial=0.0)),
        ),
    )


def _without_small(matrix: Array, bound: Array) -> Array:
    """Return a matrix with zeros in place of the entries that are round-off relative to ``bound`` (of the same
    shape). If some entries are neither clearly round-off nor clearly larger, the matrix is returned unchanged."""
    if not matrix.any():
        return matrix
    size = np.abs(matrix)
    is_clear = size > ROUND_OFF * bound
    return matrix if (is_clear & (size < CLEAR * bound)).any() else np.where(is_clear, matrix, 0.0)


# Momentum balances of one floating body in continuous time (docs/theory.md, 2).
#
#     dpi_t/dt = pi_t x w + R^T f,  dpi_r/dt = pi_r x w + pi_t x v + m,
#     dpi_eta/dt = d/deta (nu.M(eta).nu)/2 - dV/deta - C deta/dt + port forces
#
# with ``pi = M(eta) nu`` (2.9), read as ``M dnu/dt = h(eta, nu) + forces`` (2.10). Everything is in the body frame.


def quadratic_velocity_forces(body: FloatingBody, eta: Array, nu: Array) -> Array:
    """Return the centrifugal, Coriolis and gyroscopic forces h(eta, nu) of a floating body, shape (..., N) [N, N
    m, ...]. They are on the right-hand side: M dnu/dt = h + other forces. Velocities nu (..., N) have linear and
    angular velocity in body axes and elastic rates. Elastic coordinates eta (..., n) and nu may be those of many
    instants; they are broadcast together.

    Each row is the right-hand side above at zero forces minus (dM/dt) nu.
    """
    v, w, rate = split_velocity(body, nu)
    first = body.first_moments
    one, zero = np.ones((*eta.shape[:-1], 1)), np.zeros((*rate.shape[:-1], 1))
    xi, dxi = np.concatenate([one, eta], axis=-1), np.concatenate([zero, rate], axis=-1)
    products, d_products = moment_products(body, xi), moment_products(body, dxi)  # W xi and W dxi/dt
    spread = np.einsum("...abi,...i->...ab", products, xi)
    mixed = np.einsum("...abi,...i->...ab", products, dxi)
    gyro = -cross_products(d_products)
    position, position_rate = xi @ first.T, dxi @ first.T

    linear = body.mass * v + cross(w, position) + position_rate
    angular = cross(position, v) + _inertia_times(spread, w) + (gyro @ xi[..., None])[..., 0]
    linear_change = cross(w, position_rate)
    angular_change = cross(position_rate, v) + _inertia_times(mixed + np.swapaxes(mixed, -1, -2), w)
    kinetic_gradient = (
        cross(v, w) @ first
        + (w * w).sum(axis=-1)[..., None] * np.einsum("...aai->...i", products)
        - np.einsum("...a,...b,...abi->...i", w, w, products)
        + 2 * np.einsum("...k,...ki->...i", w, gyro)  # with its part of (dM/dt) nu
    )
    full = np.concatenate(
        [
            cross(linear, w) - linear_change,
            cross(angular, w) + cross(linear, v) - angular_change,
            kinetic_gradient[..., 1:],
        ],
        axis=-1,
    )
    return np.asarray(full[..., velocity_components(body)])


def _inertia_times(spread: Array, w: Array) -> Array:
    """Return (tr(A) I - A) w for second moments A of mass, ``spread`` (..., 3, 3), and vectors w (..., 3): the
    inertia tensor times w, shape (..., 3)."""
    return np.asarray(np.einsum("...aa->...", spread)[..., None] * w - (spread @ w[..., None])[..., 0])


# Inertial forces of a body about its centre of mass with constant elastic coordinates (docs/theory.md, 6).


def rigid_motion_forces(body: FloatingBody, eta: Array, nu: Array, acceleration: Array) -> Array:
    """Return the inertial forces M dnu/dt - h(eta, nu) of a floating body in rigid motion, shape (...,
    velocity_count). Elastic rates in the velocities nu and in the ``acceleration`` dnu/dt are taken as zero; eta
    (..., n) may be those of many instants. Without rotation it is mass times acceleration. ``body`` must be given
    about its centre of mass.

    Args:
        body: about its centre of mass (``centred``), in whose frame its translation has no part in h.
        eta: shape (..., n).
        nu, acceleration: whose components of deta/dt are ignored, shape (velocity_count,).
    """
    d, rigid, components = body.dimension, body.rigid_count, velocity_components(body)
    if not (nu[d:rigid].any() or acceleration[d:rigid].any()):
        result = np.zeros((*eta.shape[:-1], body.velocity_count))
        result[..., :d] = body.mass * acceleration[:d]
        return result
    turning = np.zeros(body.velocity_count)
    turning[d:rigid] = nu[d:rigid]
    rows = rigid_rows(body, eta).take(components[:rigid], -2).take(components, -1)
    return np.asarray(acceleration[:rigid] @ rows - quadratic_velocity_forces(body, eta, turning))


def rigid_motion_tangent(body: FloatingBody, eta: Array, nu: Array, acceleration: Array) -> Array:
    """Return the derivative of the inertial forces of a floating body in rigid motion with respect to its elastic
    coordinates eta, shape (velocity_count, n). It is a central difference, exact since the forces are quadratic in
    eta. nu are the velocities, ``acceleration`` is dnu/dt."""
    return quadratic_slopes(lambda at: rigid_motion_forces(body, at, nu, acceleration), eta, body.size)


def quadratic_slopes(function: Callable[[Array], Array], x: Array, size: float) -> Array:
    """Return the derivative of a quadratic ``function`` at x (n,), shape (values, n), by central differences with
    steps of ``size``. For a quadratic function they are exact but for round-off. The function is called with
    arrays (k, n) of perturbed x, for some coordinates at a time, and returns (k, values). The result is zero for
    size 0."""
    sides = (
        [function(x + sign * change) for sign in (1, -1)]
        for change in np.array_split(size * np.eye(len(x)), 1 + len(x) // TOGETHER)
    )
    return np.concatenate([(more - less) / (2 * size or 1.0) for more, less in sides]).T
