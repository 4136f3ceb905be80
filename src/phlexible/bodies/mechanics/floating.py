"""Mass matrix and elastic force of one body, written out (formulation, sections 2 and 3).

For reading, checking and single evaluations; the time loop has its own compiled form.
"""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.floating_body import FloatingBody
from phlexible.errors import SingularMassError

SINGULAR = 1e-12


def mass_matrix(body: FloatingBody, eta: Array) -> Array:
    """M(eta) with kinetic energy nu.M.nu / 2, shape (N, N), N = body.velocity_count.

    nu = (v_x, v_y, v_z, w_x, w_y, w_z, deta/dt) in the body frame, without the components that
    the body does not keep: v_z in the plane, all w but ``body.rotation_axes``.
    """
    moments, n = body.second_moments, body.elastic_count
    xi = np.concatenate([[1.0], eta])
    center = _cross(body.first_moments @ xi)
    spread = np.einsum("i,abij,j->ab", xi, moments, xi)
    gyro = [(xi @ (moments[a, b] - moments[b, a]))[1:] for a, b in ((1, 2), (2, 0), (0, 1))]

    full = np.zeros((6 + n, 6 + n))
    full[:3, :3] = body.mass * np.eye(3)
    full[3:6, :3], full[:3, 3:6] = center, center.T
    full[3:6, 3:6] = np.trace(spread) * np.eye(3) - spread
    full[:3, 6:], full[6:, :3] = body.first_moments[:, 1:], body.first_moments[:, 1:].T
    full[3:6, 6:], full[6:, 3:6] = gyro, np.transpose(gyro)
    full[6:, 6:] = np.einsum("aaij->ij", moments)[1:, 1:]
    kept = kept_velocities(body)
    return full[np.ix_(kept, kept)]


def check_mass(body: FloatingBody) -> None:
    """Refuses a body with a motion that carries no kinetic energy in the undeformed state.

    Raises:
        SingularMassError: M(0), scaled to a unit diagonal, has an eigenvalue below 1e-12 of the
            largest; the message names the velocities in it.
    """
    names = [*("v_x v_y v_z w_x w_y w_z").split(), *(f"deta_{i}/dt" for i in range(body.elastic_count))]
    kept = [names[i] for i in kept_velocities(body)]
    matrix = mass_matrix(body, np.zeros(body.elastic_count))
    diagonal = np.diag(matrix)
    empty = [name for name, entry in zip(kept, diagonal, strict=True) if not entry > 0]
    if empty:
        raise SingularMassError(
            f"the mass matrix is singular: no inertia in the direction of {', '.join(empty)}"
        )
    scale = np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    if values[0] <= SINGULAR * values[-1]:
        motion = vectors[:, 0] / np.abs(vectors[:, 0]).max()
        parts = zip(motion, kept, strict=True)
        shown = " ".join(f"{part:+.2g} {name}" for part, name in parts if abs(part) > 0.1)
        raise SingularMassError(
            f"the mass matrix is singular (relative {values[0] / values[-1]:.1e}) in the direction {shown} "
            "(each scaled to unit kinetic energy): shape functions must not contain rigid motion "
            "or depend on each other"
        )


def strains(body: FloatingBody, eta: Array) -> Array:
    """The scalar strains eps(eta), shape (s,)."""
    strain = body.strain
    half_squares = strain.factors * (strain.squares @ eta) ** 2 / 2
    return strain.rows @ eta + np.bincount(
        strain.square_strain, weights=half_squares, minlength=len(strain.weights)
    )


def strain_energy(body: FloatingBody, eta: Array) -> float:
    """V(eta) [J]."""
    eps = strains(body, eta)
    return float(eta @ body.strain.stiffness @ eta + body.strain.weights @ eps**2) / 2


def strain_rows(body: FloatingBody, eta: Array) -> Array:
    """d eps / d eta, shape (s, n)."""
    strain = body.strain
    rows = strain.rows.copy()
    np.add.at(rows, strain.square_strain, (strain.factors * (strain.squares @ eta))[:, None] * strain.squares)
    return rows


def elastic_force(body: FloatingBody, eta: Array) -> Array:
    """dV / d eta, shape (n,)."""
    stress = body.strain.weights * strains(body, eta)
    return body.strain.stiffness @ eta + strain_rows(body, eta).T @ stress


def elastic_tangent(body: FloatingBody, eta: Array) -> Array:
    """d2V / d eta2, shape (n, n), symmetric."""
    strain, rows = body.strain, strain_rows(body, eta)
    stress = strain.weights * strains(body, eta)
    geometric = (strain.factors * stress[strain.square_strain])[:, None] * strain.squares
    return strain.stiffness + rows.T @ (strain.weights[:, None] * rows) + strain.squares.T @ geometric


def kept_velocities(body: FloatingBody) -> list[int]:
    """Which of the 6 + n components of (v, w, deta/dt) the body keeps in nu."""
    rigid = [*body.linear_axes, *(3 + axis for axis in body.rotation_axes)]
    return rigid + list(range(6, 6 + body.elastic_count))


def _cross(a: Array) -> Array:
    """[a] with [a] b = a x b."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
