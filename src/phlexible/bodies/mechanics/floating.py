"""Mass matrix, elastic force and momentum balances of one floating body, written out (docs/theory.md, 2 and 3)."""

from dataclasses import replace

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.kept import kept
from phlexible.algebra.rotations import cross, cross_matrix
from phlexible.algebra.sparse import Matrix, as_array, scaled_rows, transposed
from phlexible.bodies.floating_body import FloatingBody, LocalMoments
from phlexible.errors import SingularMassError

# Mass matrix and elastic force of one body, written out (docs/theory.md, 2 and 3).
#
# For reading, checking and single evaluations; the time loop has its own compiled form.

SINGULAR, CLEARLY = 1e-12, 1e-10


def mass_matrix(body: FloatingBody, eta: Array) -> Matrix:
    """M(eta) with kinetic energy nu.M.nu / 2, from eta (..., n); shape (..., N, N), N = body.velocity_count.

    nu = (v_x, v_y, v_z, w_x, w_y, w_z, deta/dt) without the components that the body does not keep: v_z in the
    plane, all w but ``body.rotation_axes``. v is the velocity of the origin in body axes, or in any axes of that
    of the centre of mass where the body is given about it (``centred``). Sparse of a long body about its origin
    (for eta of one instant); about its centre of mass every two coordinates are coupled.
    """
    n, rigid, kept = body.elastic_count, body.rigid_count, kept_velocities(body)
    rows = rigid_rows(body, eta)[..., kept[:rigid], :][..., kept]
    if isinstance(body.second_moments, LocalMoments) and body.second_moments.is_sparse and eta.ndim == 1:
        blocks = [[rows[:, :rigid], rows[:, rigid:]], [rows[:, rigid:].T, elastic_mass(body)]]
        return sparse.csr_array(sparse.block_array(blocks, format="csr"))
    result = np.empty((*eta.shape[:-1], rigid + n, rigid + n))
    result[..., :rigid, :] = rows
    result[..., rigid:, :rigid] = np.swapaxes(rows[..., rigid:], -1, -2)
    result[..., rigid:, rigid:] = elastic_mass(body)
    return result


def rigid_rows(body: FloatingBody, eta: Array) -> Array:
    """The rows of M(eta) that give pi_t and pi_r of (v, w, deta/dt), shape (..., 6, 6 + n) (2.5)."""
    n = body.elastic_count
    xi = np.concatenate([np.ones((*eta.shape[:-1], 1)), eta], axis=-1)
    center = cross_matrix(xi @ body.first_moments.T)
    products = moment_products(body, xi)
    spread = np.einsum("...abi,...i->...ab", products, xi)
    rows = np.zeros((*eta.shape[:-1], 6, 6 + n))
    rows[..., :3, :3] = body.mass * np.eye(3)
    rows[..., :3, 3:6], rows[..., 3:, :3] = -center, center
    rows[..., 3:, 3:6] = np.trace(spread, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - spread
    rows[..., :3, 6:] = body.first_moments[:, 1:]
    rows[..., 3:, 6:] = cross_products(products)[..., 1:]
    return rows


def moment_products(body: FloatingBody, xi: Array) -> Array:
    """W[a, b] xi for xi (..., n + 1), shape (..., 3, 3, n + 1)."""
    if isinstance(body.second_moments, LocalMoments):
        return body.second_moments.times(xi)
    size = xi.shape[-1]
    return (xi @ body.second_moments.reshape(-1, size).T).reshape(*xi.shape[:-1], 3, 3, size)


def cross_products(products: Array) -> Array:
    """int rho X x Psi_j of a field X = Psi xi from W xi (``moment_products``), shape (..., 3, n + 1)."""
    return np.stack([products[..., b, a, :] - products[..., a, b, :] for a, b in ((1, 2), (2, 0), (0, 1))], -2)


def elastic_mass(body: FloatingBody) -> Matrix:
    """sum_a W[a, a] of the elastic coordinates, shape (n, n)."""
    if isinstance(body.second_moments, LocalMoments):
        return body.second_moments.elastic_mass()
    return np.asarray(np.einsum("aaij->ij", body.second_moments)[1:, 1:])


def mass_diagonal(body: FloatingBody) -> Array:
    """The diagonal of M(0), shape (velocity_count,)."""
    spread, moments = body.undeformed_spread.diagonal(), body.second_moments
    rigid = [body.mass] * body.dimension + [spread.sum() - spread[axis] for axis in body.rotation_axes]
    if isinstance(moments, LocalMoments):
        return np.concatenate([rigid, moments.elastic_diagonal()])
    return np.concatenate([rigid, np.einsum("aaii->i", moments)[1:]])


def mass_answers(body: FloatingBody, eta: Array, right: Array) -> Array:
    """M(eta)^-1 right of a body about its centre of mass (``centred``), shape (T, velocity_count, k).

    The part of M that belongs to eta is constant and factored once for all instants.

    Args:
        body: whose mass it is.
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

        def answers(columns: Array) -> Array:
            flat = cho_solve((lower, True), columns.transpose(1, 0, 2).reshape(len(lower), -1), check_finite=False)
            return np.asarray(flat.reshape(len(lower), count, -1).transpose(1, 0, 2))

        alone, followed = answers(right[:, rigid:]), answers(mixed.transpose(0, 2, 1))
        inertia, forces = inertia - mixed @ followed, forces - mixed @ alone
    result[:, d:rigid] = np.linalg.solve(inertia, forces)
    if body.elastic_count:
        result[:, rigid:] = alone - followed @ result[:, d:rigid]
    return result


def check_mass(body: FloatingBody) -> None:
    """Refuses a body with a motion that carries no kinetic energy in the undeformed state.

    Raises:
        SingularMassError: M(0), scaled to a unit diagonal, has an eigenvalue below 1e-12 of the
            largest; the message names the velocities in it.
    """
    names = [*("v_x v_y v_z w_x w_y w_z").split(), *(f"deta_{i}/dt" for i in range(body.elastic_count))]
    kept = [names[i] for i in kept_velocities(body)]
    matrix = mass_matrix(body, np.zeros(body.elastic_count))
    diagonal = matrix.diagonal()
    empty = [name for name, entry in zip(kept, diagonal, strict=True) if not entry > 0]
    if empty:
        raise SingularMassError(f"the mass matrix is singular: no inertia in the direction of {', '.join(empty)}")
    scale = np.sqrt(diagonal)
    scaled = scaled_rows(1 / scale, scaled_rows(1 / scale, matrix).T)
    if isinstance(scaled, np.ndarray) and _is_above(scaled, CLEARLY * len(scaled)):
        return  # its largest eigenvalue is not above the sum of its diagonal, one each
    least, direction = _least_value(scaled)
    if least <= SINGULAR:
        motion = direction / np.abs(direction).max()
        parts = zip(motion, kept, strict=True)
        shown = " ".join(f"{part:+.2g} {name}" for part, name in parts if abs(part) > 0.1)
        raise SingularMassError(
            f"the mass matrix is singular (relative {least:.1e}) in the direction {shown} "
            "(each scaled to unit kinetic energy): shape functions must not contain rigid motion "
            "or depend on each other"
        )


def _is_above(matrix: Array, number: float) -> bool:
    """Whether all eigenvalues of a symmetric matrix are above a number."""
    try:
        np.linalg.cholesky(matrix - number * np.eye(len(matrix)))
    except np.linalg.LinAlgError:
        return False
    return True


def _least_value(matrix: Matrix) -> tuple[float, Array]:
    """Least eigenvalue of a symmetric matrix over its largest, and its eigenvector; of a sparse one nearly so."""
    if isinstance(matrix, np.ndarray):
        values, vectors = np.linalg.eigh(matrix)
        return float(values[0] / values[-1]), vectors[:, 0]
    from scipy.sparse.linalg import eigsh

    largest = float(abs(matrix).sum(axis=1).max())  # not below the largest eigenvalue
    start = np.ones(matrix.shape[0])
    values, vectors = eigsh(matrix, k=1, sigma=-SINGULAR * largest, v0=start, tol=1e-3)
    return float(values[0]) / largest, vectors[:, 0]


def strains(body: FloatingBody, eta: Array) -> Array:
    """The scalar strains eps(eta) for eta (..., n), shape (..., s)."""
    strain = body.strain
    result = np.asarray(strain.rows @ eta.T)
    half_squares = strain.factors * (strain.squares @ eta.T).T ** 2 / 2
    np.add.at(result, strain.square_strain, half_squares.T)
    return result.T


def strain_energy(body: FloatingBody, eta: Array) -> float:
    """V(eta) [J]."""
    eps = strains(body, eta)
    return float(eta @ body.strain.stiffness @ eta + body.strain.weights @ eps**2) / 2


def strain_rows(body: FloatingBody, eta: Array) -> Matrix:
    """d eps / d eta, shape (s, n); where it is an array for eta (..., n), too, (..., s, n)."""
    strain = body.strain
    if not isinstance(strain.rows, np.ndarray):
        shape = (len(strain.weights), len(strain.factors))
        weights = strain.factors * (strain.squares @ eta)
        sums = sparse.coo_array((weights, (strain.square_strain, np.arange(shape[1]))), shape).tocsr()
        return sparse.csr_array(strain.rows + sums @ strain.squares)
    sums = np.zeros((*eta.shape[:-1], len(strain.weights), len(strain.factors)))
    sums[..., strain.square_strain, np.arange(len(strain.factors))] = strain.factors * (strain.squares @ eta.T).T
    return np.asarray(strain.rows + sums @ strain.squares)


def are_evaluated_together(body: FloatingBody) -> bool:
    """Whether forces and their slopes are those of many eta at once; those of long bodies are of one."""
    strain = body.strain
    return all(isinstance(each, np.ndarray) for each in (strain.stiffness, strain.rows, strain.squares))


def elastic_force(body: FloatingBody, eta: Array) -> Array:
    """dV / d eta, shape (n,); where ``are_evaluated_together`` for eta (..., n), too."""
    stress, rows = body.strain.weights * strains(body, eta), strain_rows(body, eta)
    return np.asarray((body.strain.stiffness @ eta.T).T + (transposed(rows) @ stress[..., None])[..., 0])


def viscous_matrix(body: FloatingBody, eta: Array) -> Matrix:
    """C of the force -C deta/dt: of the material (3.4) and ``body.damping``, shape (n, n)."""
    rows = strain_rows(body, eta)
    material = body.strain.stiffness + rows.T @ scaled_rows(body.strain.weights, rows)
    return body.damping + body.viscosity * material


def elastic_tangent(body: FloatingBody, eta: Array) -> Matrix:
    """d2V / d eta2, shape (n, n), symmetric; where ``are_evaluated_together`` for eta (..., n), too."""
    strain, rows = body.strain, strain_rows(body, eta)
    stress = strain.weights * strains(body, eta)
    bent = scaled_rows(strain.factors * stress[..., strain.square_strain], strain.squares)
    return strain.stiffness + transposed(rows) @ scaled_rows(strain.weights, rows) + strain.squares.T @ bent


def kept_velocities(body: FloatingBody) -> list[int]:
    """Which of the 6 + n components of (v, w, deta/dt) the body keeps in nu."""
    rigid = [*body.linear_axes, *(3 + axis for axis in body.rotation_axes)]
    return rigid + list(range(6, 6 + body.elastic_count))


def split_velocity(body: FloatingBody, nu: Array) -> tuple[Array, Array, Array]:
    """v (..., 3), w (..., 3) and deta/dt (..., n) from the components that the body keeps."""
    full = np.zeros((*nu.shape[:-1], 6 + body.elastic_count), dtype=nu.dtype)
    full[..., kept_velocities(body)] = nu
    return full[..., :3], full[..., 3:6], full[..., 6:]


ROUND_OFF, CLEAR = 1e-12, 1e-10  # of what the diagonal bounds entries by: less is round-off, where none is between


@kept
def centred(body: FloatingBody) -> tuple[FloatingBody, Array]:
    """The body with the place of its centre of mass subtracted from all points, and that place (2.6).

    The place is S xi / m in body axes, a linear function of xi = (1, eta); of the body returned S = 0 and
    W[a, b] has lost S_a^T S_b / m, so that translation is apart from rotation and deformation. Its points are
    those of the body itself: whoever uses them subtracts the place.

    Returns:
        The body, and S / m, shape (3, n + 1) [m].
    """
    place = body.first_moments / body.mass
    if not place.any():
        return body, place
    if isinstance(body.second_moments, LocalMoments):
        moments: Array | LocalMoments = replace(body.second_moments, taken=np.sqrt(body.mass) * place)
    else:  # odd modes do not move it, but for round-off
        weights = np.sqrt(np.einsum("aaii->i", body.second_moments) / body.mass)
        place = np.where(np.abs(place) > ROUND_OFF * weights, place, 0.0)
        moments = body.second_moments - body.mass * np.einsum("ai,bj->abij", place, place)
    return replace(body, first_moments=np.zeros_like(place), second_moments=moments), place


@kept
def without_round_off(body: FloatingBody) -> FloatingBody:
    """The body with zeros for what only rounding left in the matrices of its coordinates.

    Beams that differ in numbers alone, such as a width, then have entries in the same places, which is what lanes,
    and libraries with parameters, ask for. Meshes, in which entries of all sizes are found, stay as they are.
    """
    if isinstance(body.second_moments, LocalMoments) or not isinstance(body.strain.stiffness, np.ndarray):
        return body
    strain = body.strain.with_arrays()
    weights = np.sqrt(np.einsum("aaii->i", body.second_moments))
    stretched = np.sqrt(np.diag(strain.stiffness) + strain.weights @ strain.rows**2)
    damped = np.sqrt(np.diag(as_array(body.damping)))
    return replace(
        body,
        second_moments=_cleared(body.second_moments, np.outer(weights, weights)),
        damping=_cleared(as_array(body.damping), np.outer(damped, damped)),
        strain=replace(
            body.strain,
            stiffness=_cleared(strain.stiffness, np.outer(stretched, stretched)),
            squares=_cleared(strain.squares, np.abs(strain.squares).max(axis=0, initial=0.0)),
        ),
    )


def _cleared(matrix: Array, bound: Array) -> Array:
    size = np.abs(matrix)
    if ((size > ROUND_OFF * bound) & (size < CLEAR * bound)).any():
        return matrix
    return np.where(size > ROUND_OFF * bound, matrix, 0.0)


# Momentum balances of one floating body in continuous time (docs/theory.md, 2).
#
#     dpi_t/dt = pi_t x w + R^T f,  dpi_r/dt = pi_r x w + pi_t x v + m,
#     dpi_eta/dt = d/deta (nu.M(eta).nu)/2 - dV/deta - C deta/dt + port forces
#
# with ``pi = M(eta) nu`` (2.9), read as ``M dnu/dt = h(eta, nu) + forces`` (2.10). Everything is in the body frame.


def quadratic_velocity_forces(body: FloatingBody, eta: Array, nu: Array) -> Array:
    """h(eta, nu): centrifugal, Coriolis and gyroscopic forces, shape (..., velocity_count) [N, N m, ...].

    For eta (..., n) and one nu.

    Each row is the right-hand side above at zero forces less (dM/dt) nu.
    """
    v, w, rate = split_velocity(body, nu)
    first = body.first_moments
    one, zero = np.ones((*eta.shape[:-1], 1)), np.zeros((*rate.shape[:-1], 1))
    xi, dxi = np.concatenate([one, eta], axis=-1), np.concatenate([zero, rate], axis=-1)
    products, d_products = moment_products(body, xi), moment_products(body, dxi)  # W xi and W dxi/dt
    spread = np.einsum("...abi,...i->...ab", products, xi)
    mixed = np.einsum("...abi,...i->...ab", products, dxi)
    gyro = -cross_products(d_products)
    place, d_place = xi @ first.T, dxi @ first.T

    linear = body.mass * v + cross(w, place) + d_place
    angular = cross(place, v) + _about(spread, w) + (gyro @ xi[..., None])[..., 0]
    linear_change = cross(w, d_place)
    angular_change = cross(d_place, v) + _about(mixed + np.swapaxes(mixed, -1, -2), w)
    kinetic_slope = (
        cross(v, w) @ first
        + (w @ w) * np.einsum("...aai->...i", products)
        - np.einsum("a,b,...abi->...i", w, w, products)
        + 2 * np.einsum("k,...ki->...i", w, gyro)  # with what dM/dt takes away
    )
    full = np.concatenate(
        [
            cross(linear, w) - linear_change,
            cross(angular, w) + cross(linear, v) - angular_change,
            kinetic_slope[..., 1:],
        ],
        axis=-1,
    )
    return np.asarray(full[..., kept_velocities(body)])


def _about(spread: Array, w: Array) -> Array:
    """(tr(A) I - A) w."""
    return np.asarray(np.einsum("...aa->...", spread)[..., None] * w - spread @ w)


# While a body about its centre of mass turns and is accelerated without bending (docs/theory.md, 6).
#
# Its points have the accelerations E r, E = [dw/dt] + [w]^2, about the centre of mass, so that with P = W : xi xi
#
#     M dnu/dt - h(eta, nu) = (m dV/dt, J dw/dt + w x J w, E : W xi),  J = tr(P) I - P
#
# for deta/dt = 0 and d2eta/dt2 = 0.


def turning_forces(body: FloatingBody, eta: Array, nu: Array, acceleration: Array) -> Array:
    """What forces must balance then, shape (velocity_count,).

    Args:
        body: about its centre of mass (``centred``).
        eta: shape (n,).
        nu, acceleration: of which deta/dt and its rate are not looked at, shape (velocity_count,).
    """
    d, rigid, axes = body.dimension, body.rigid_count, list(body.rotation_axes)
    result = np.zeros(body.velocity_count)
    result[:d] = body.mass * acceleration[:d]
    if not axes:
        return result
    w, faster, form = _turning(body, nu, acceleration)
    if form.any():
        xi = np.concatenate([[1.0], eta])
        products = moment_products(body, xi)
        spread = products @ xi
        result[d:rigid] = (_about(spread, faster) + cross(w, _about(spread, w)))[axes]
        result[rigid:] = form.ravel() @ products.reshape(9, -1)[:, 1:]
    return result


def turning_slope(body: FloatingBody, eta: Array, nu: Array, acceleration: Array) -> Array:
    """d(turning_forces)/deta, shape (velocity_count, n)."""
    d, rigid, axes = body.dimension, body.rigid_count, list(body.rotation_axes)
    result = np.zeros((body.velocity_count, body.elastic_count))
    if not axes:
        return result
    w, faster, form = _turning(body, nu, acceleration)
    if form.any():
        products = moment_products(body, np.concatenate([[1.0], eta]))
        slopes = (products + products.transpose(1, 0, 2))[:, :, 1:].transpose(2, 0, 1)  # of P
        result[d:rigid] = (_about(slopes, faster) + cross(w, _about(slopes, w)))[:, axes].T
        result[rigid:] = moments_along(body, form)[1:, 1:]
    return result


def _turning(body: FloatingBody, nu: Array, acceleration: Array) -> tuple[Array, Array, Array]:
    """w, dw/dt and E."""
    own, axes = slice(body.dimension, body.rigid_count), list(body.rotation_axes)
    w, faster = np.zeros((2, 3))
    w[axes], faster[axes] = nu[own], acceleration[own]
    crossed = cross_matrix(w)
    return w, faster, cross_matrix(faster) + crossed @ crossed


def moments_along(body: FloatingBody, form: Array) -> Array:
    """Sum of form[a, b] W[a, b], shape (n + 1, n + 1)."""
    moments = body.second_moments
    if isinstance(moments, LocalMoments):
        return moments.along(form)
    return np.asarray((form.ravel() @ moments.reshape(9, -1)).reshape(moments.shape[2:]))
