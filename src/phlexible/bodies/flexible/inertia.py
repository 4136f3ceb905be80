"""Inertia of a finite element model, and the frame conditions that define its rigid motion (docs/theory.md, 2,
3).
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.rotations import cross_matrix
from phlexible.bodies.flexible.structure import ElasticStructure, Unknowns
from phlexible.errors import ParameterError

# Frame conditions, which define the rigid motion of a meshed body (docs/theory.md, 3).

MEAN_AXIS = "mean_axis"


def frame_rows(
    frame: str | Sequence[str], structure: ElasticStructure, rows: dict[str, Array], positions: dict[str, Array]
) -> Array:
    """Return the conditions F u = 0 on displacements u (N,) that define the body frame of a finite element body,
    matrix F (r, N). "mean_axis": u has no momentum; the name of an interface: its mean motion is zero. Two names:
    the first does not move, the second only along the line; in space also no rotation about the line. Raise
    ``ParameterError`` for other names.

    "mean_axis": u has neither linear nor angular momentum. The name of an interface: it does not move. Two names:
    the first does not move nor rotate about the line to the second, which stays on that line.

    Args:
        rows, positions: of the interfaces by name; rows give displacement and rotation, shape (r, N).

    Raises:
        ParameterError: no such interface.
    """
    if isinstance(frame, str) and frame == MEAN_AXIS:
        return np.asarray((structure.mass @ structure.rigid).T)
    names = [frame] if isinstance(frame, str) else list(frame) if isinstance(frame, tuple | list) else [str(frame)]
    for name in names:
        if name not in rows:
            known = ", ".join(map(repr, rows)) or "none"
            raise ParameterError(
                f'frame must be "{MEAN_AXIS}", the name of an interface ({known}), or two of them for the '
                f"line between, got {frame!r}"
            )
    if len(names) == 1:
        return rows[names[0]]
    if len(names) != 2 or names[0] == names[1]:
        raise ParameterError(f"frame: a line needs two different interfaces, got {frame!r}")
    first, second = (rows[name] for name in names)
    along = positions[names[1]] - positions[names[0]]
    length = np.linalg.norm(along)
    if not length > 0:
        raise ParameterError(f"frame: interfaces {names[0]!r} and {names[1]!r} have the same position, no line")
    d = structure.dimension
    if d == 2:
        across = cross_matrix(np.array([0.0, 0.0, 1.0])) @ along / length
        return np.vstack([first[:2], across[None, :2] @ second[:2]])
    _, _, axes = np.linalg.svd((along / length)[None])  # the line and two axes across it
    return np.vstack([first[:3], axes[1:] @ second[:3], axes[:1] @ first[3:]])


# First and second moments of a finite element model (docs/theory.md, 2).

MOMENTUM_ERROR = 1e-4
"""Largest error of the momentum of rigid motions, relative to mass times size."""


def mesh_moments(mass: sparse.csr_array, positions: Array, shapes: Array) -> tuple[float, Array, Array]:
    """Return the mass integrals of a finite element body with density rho: mass [kg], S = int rho Psi, shape (3, n
    + 1), and W[a, b] = int rho Psi_a^T Psi_b. W has the shape (3, 3, n + 1, n + 1) for axes a, b. The columns of
    Psi are the position and n displacement ``shapes``. The integrals are products with the nodal ``mass`` matrix.

    Args:
        mass: of the nodes, shape (N, N) [kg].
        positions: of the nodes, shape (N, 3) [m].
        shapes: nodal fields, shape (N, 3, n).
    """
    fields = np.concatenate([positions[:, :, None], shapes], axis=2)  # Psi at the nodes, (N, 3, n + 1)
    size = fields.shape[2]
    momenta = (mass @ fields.reshape(len(positions), -1)).reshape(fields.shape)
    second = np.einsum("Nai,Nbj->abij", fields, momenta, optimize=True)
    second = (second + second.transpose(1, 0, 3, 2)) / 2
    return float(mass.sum()), momenta.sum(axis=0).reshape(3, size), second


def nodal_moments(mass: sparse.csr_array, unknowns: Unknowns, shapes: Array) -> tuple[float, Array, Array]:
    """Return the mass integrals of a finite element body known by its mass matrix: mass [kg], S = int rho Psi and
    W[a, b] = int rho Psi_a^T Psi_b. Shapes are (3, n + 1) and (3, 3, n + 1, n + 1). The columns of Psi are
    position and n ``shapes`` of unit mass. W follows from rigid rotations of each column, so that rotational
    kinetic energies agree with the matrix.

    Args:
        mass: shape (N, N).
        shapes: retained shapes, shape (N, n).

    Raises:
        ParameterError: rigid motions do not have the momentum of a rigid body.
    """
    n = shapes.shape[1]
    translations = [unknowns.translation(axis) for axis in unknowns.translation_axes]
    total, center = rigid_momenta(mass, unknowns)
    first = np.zeros((3, n + 1))
    first[:, 0] = center
    for axis, translation in zip(unknowns.translation_axes, translations, strict=True):
        first[axis, 1:] = (mass @ translation) @ shapes
    turned = {axis: _rotation_velocities(unknowns, shapes, axis) for axis in unknowns.spin_axes}  # R_k, (N, n + 1)
    elastic_shapes = np.column_stack([np.zeros(len(shapes)), shapes])
    elastic = np.diag([0.0, *np.ones(n)])  # unit mass, also of shapes that answer statically
    second = np.zeros((3, 3, n + 1, n + 1))
    if unknowns.dimension == 2:
        spread = turned[2].T @ (mass @ turned[2])
        spread[1:, 1:] = elastic[1:, 1:]
        second[0, 0] = second[1, 1] = spread / 2
        second[0, 1] = _skew_completed(turned[2].T @ (mass @ elastic_shapes)) / 2
        second[1, 0] = second[0, 1].T
        return total, first, second
    spin = {(k, l): _symmetric(turned[k].T @ (mass @ turned[l])) for k in range(3) for l in range(3)}
    half = sum((spin[k, k] for k in range(3)), np.zeros((n + 1, n + 1))) / 2
    rest = np.zeros_like(half)
    rest[1:, 1:] = (elastic - half)[1:, 1:] / 3
    for k in range(3):
        l, m = (k + 1) % 3, (k + 2) % 3
        second[k, k] = half - spin[k, k] + rest
        second[l, m] = -(spin[l, m] + spin[m, l]) / 2 + _skew_completed(turned[k].T @ (mass @ elastic_shapes)) / 2
        second[m, l] = second[l, m].T
    return total, first, second


def rigid_momenta(mass: sparse.csr_array, unknowns: Unknowns) -> tuple[float, Array]:
    """Return the mass [kg], and mass times centre of mass (3,) [kg m], of a body with the mass matrix ``mass``.
    They are computed from the momenta of its rigid motions. Raise ``ParameterError`` for mass zero or negative, a
    mass that depends on the direction, or momenta in rotations that no rigid body has. ``unknowns`` has node,
    component and position of each unknown."""
    moves = np.column_stack([unknowns.translation(axis) for axis in unknowns.translation_axes])
    masses = moves.T @ (mass @ moves)
    total = float(np.trace(masses)) / unknowns.dimension
    if not total > 0:
        raise ParameterError("mass: rigid translations carry no kinetic energy; are mass and stiffness exchanged?")
    if np.abs(masses - total * np.eye(len(masses))).max() > MOMENTUM_ERROR * total:
        shown = ", ".join(f"{value:.6g}" for value in np.diag(masses))
        raise ParameterError(
            f"mass: it differs with the direction ({shown} kg along the axes): unknowns are missing, fixed or in "
            "local axes; a body needs the matrix of all unknowns, free, in one set of axes"
        )
    turns = np.column_stack([unknowns.rotation(axis) for axis in unknowns.spin_axes])
    momenta = moves.T @ (mass @ turns)  # e_k x S in column k
    center = np.zeros(3)
    if unknowns.dimension == 2:
        center[:2] = momenta[1, 0], -momenta[0, 0]
        return total, center
    center = np.array([momenta[1, 2], momenta[2, 0], momenta[0, 1]])
    center = (center - np.array([momenta[2, 1], momenta[0, 2], momenta[1, 0]])) / 2
    exact = np.array([np.cross(axis, center) for axis in np.eye(3)]).T
    size = np.abs(unknowns.positions).max() * total
    if np.abs(momenta - exact).max() > MOMENTUM_ERROR * size:
        raise ParameterError(
            "mass: turning about an axis does not carry the momentum of a rigid body (by "
            f"{np.abs(momenta - exact).max() / size:.1e} of mass times size): masses off their nodes; give such "
            "a mass a separate node, tied by a rigid interface"
        )
    return total, center


def _rotation_velocities(unknowns: Unknowns, shapes: Array, axis: int) -> Array:
    """Return the velocities of all N unknowns of a finite element model when the body rotates at 1 rad/s about a
    coordinate ``axis``. In the result (N, n + 1), the first column is the velocity of the undeformed body. The
    other n columns are the axis vector crossed with each displacement shape in ``shapes`` (N, n). They are zero
    for unknowns that are no translations."""
    result = np.zeros((len(shapes), shapes.shape[1] + 1))
    result[:, 0] = unknowns.rotation(axis)
    count = int(unknowns.node.max(initial=-1)) + 1
    vectors = unknowns.vectors(shapes, count)  # (k, 3, n)
    crossed = np.cross(np.eye(3)[axis], vectors, axisb=1, axisc=1)
    moves = np.flatnonzero((unknowns.component >= 0) & (unknowns.component < 3))
    result[moves, 1:] = crossed[unknowns.node[moves], unknowns.component[moves]]
    return result


def _symmetric(matrix: Array) -> Array:
    """Return the symmetric part (A + A^T) / 2 of a square matrix A."""
    return np.asarray((matrix + matrix.T) / 2)


def _skew_completed(matrix: Array) -> Array:
    """Return the skew-symmetric part (Z - Z^T) / 2 of a square matrix Z whose first column is unknown. The first
    row of the result is the first row of Z itself, the first column its negative, and the first entry 0."""
    result = (matrix - matrix.T) / 2
    result[0], result[:, 0] = matrix[0], -matrix[0]
    result[0, 0] = 0.0
    return np.asarray(result)
