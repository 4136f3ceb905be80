"""Which motion of a beam counts as elastic: what ties the body frame to the beam (docs/theory.md, 2 and 3)."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.beam.mesh import BeamMesh, Component, Family


class Frame(StrEnum):
    """How the body frame follows the beam; the undeformed beam lies on 0 <= x <= length in each.

    CANTILEVER: frame clamped to the start. SIMPLY_SUPPORTED: origin at the start, x axis through
    the end, no twist at the start. MEAN_AXIS: elastic motion carries neither linear nor angular
    momentum of the straight beam. AUTO: CANTILEVER where a ``Fixed`` joint holds the start, else
    SIMPLY_SUPPORTED; outside of a model, and of beams with a basis, CANTILEVER.
    """

    AUTO = "auto"
    CANTILEVER = "cantilever"
    SIMPLY_SUPPORTED = "simply_supported"
    MEAN_AXIS = "mean_axis"


@dataclass(frozen=True, eq=False)
class BeamBasis:
    """Elastic coordinates: coordinates of the free beam are ``columns @ eta``.

    Attributes:
        columns: shape (mesh.size, n).
        families: family of each elastic coordinate, shape (n,).
    """

    columns: Array
    families: IntArray


def frame_basis(frame: Frame, mesh: BeamMesh, gyration_y: float, gyration_z: float) -> BeamBasis:
    """The elastic coordinates of a frame, node after node, so that strains touch neighbours only.

    Args:
        gyration_y: int z^2 / A that takes part in bending inertia in the xz plane [m2].
        gyration_z: int y^2 / A that takes part in bending inertia in the xy plane [m2].
    """
    match frame:
        case Frame.CANTILEVER | Frame.AUTO:
            removed = [mesh.index(0, component) for component in _components(mesh)]
        case Frame.SIMPLY_SUPPORTED | Frame.MEAN_AXIS:
            removed = _chord(mesh)
    kept = np.setdiff1d(np.arange(mesh.size), removed)
    columns = np.eye(mesh.size)[:, kept]
    families = mesh.families()
    if frame is Frame.MEAN_AXIS:
        for family, conditions in _momentum_conditions(mesh, gyration_y, gyration_z).items():
            dependent = [i for i in removed if families[i] == family]
            columns[dependent] = -np.linalg.solve(conditions[:, dependent], conditions[:, kept])
    return BeamBasis(columns, families[kept])


def clamped_coordinates(columns: Array, basis: BeamBasis, mesh: BeamMesh) -> Array:
    """Deformations in the coordinates of ``basis`` as coordinates of CANTILEVER, shape (n, k).

    The beam is moved as a rigid body until its start is where the frame wants it.
    """
    deformed = basis.columns @ columns
    clamped = [mesh.index(0, component) for component in _components(mesh)]
    kept = np.setdiff1d(np.arange(mesh.size), clamped)
    return np.asarray((deformed - _rigid_motions(mesh) @ deformed[clamped])[kept])


def _rigid_motions(mesh: BeamMesh) -> Array:
    """Coordinates of the mesh when the start moves by one of its coordinates, shape (mesh.size, node_size)."""
    count, x = mesh.node_size, np.linspace(0.0, mesh.length, mesh.elements + 1)
    motions = np.tile(np.eye(count), (len(x), 1))
    for deflection, slope in (
        (Component.DEFLECTION_Y, Component.SLOPE_Y),
        (Component.DEFLECTION_Z, Component.SLOPE_Z),
    ):
        if slope < count:
            motions[deflection::count, slope] = x
    return motions


def coordinate_units(mesh: BeamMesh, columns: Array, others: str) -> tuple[str, ...]:
    """Units of coordinates: of those that are a displacement or a turn of one node, and of all others."""
    nodal = np.flatnonzero((columns != 0).sum(axis=1) == 1)
    result = [others] * columns.shape[1]
    for row in nodal[::-1]:
        column = int(np.argmax(columns[row] != 0))
        if columns[row, column] == 1:
            turns = row % mesh.node_size in (Component.SLOPE_Y, Component.SLOPE_Z, Component.TWIST)
            result[column] = "rad" if turns else "m"
    return tuple(result)


def _components(mesh: BeamMesh) -> list[Component]:
    return list(Component)[: mesh.node_size]


def _chord(mesh: BeamMesh) -> list[int]:
    """u = v = 0 and w = theta = 0 at the start, v = 0 and w = 0 at the end."""
    start = [Component.AXIAL, Component.DEFLECTION_Y, Component.DEFLECTION_Z, Component.TWIST]
    end = [Component.DEFLECTION_Y, Component.DEFLECTION_Z]
    present = _components(mesh)
    return [mesh.index(0, each) for each in start if each in present] + [
        mesh.index(-1, each) for each in end if each in present
    ]


def _momentum_conditions(mesh: BeamMesh, gyration_y: float, gyration_z: float) -> dict[Family, Array]:
    """Momenta over rho A of the straight beam per family, rows of shape (mesh.size,), to vanish.

    Linear: int u, int v, int w. Angular: int x v + i_z^2 v', int x w + i_y^2 w', int theta.
    These are S[:, 1:] of (2.2) and Z_k[0, 1:] of (2.4); the conditions of one family do not
    touch the others.
    """
    x, weights = mesh.gauss_points(3)
    at = mesh.fields(x, np.eye(mesh.size))
    conditions = {
        Family.AXIAL: np.array([weights @ at.axial]),
        Family.BENDING_Y: np.array(
            [weights @ at.deflection_y, (weights * x) @ at.deflection_y + gyration_z * weights @ at.slope_y]
        ),
    }
    if mesh.dimension == 3:
        conditions[Family.BENDING_Z] = np.array(
            [weights @ at.deflection_z, (weights * x) @ at.deflection_z + gyration_y * weights @ at.slope_z]
        )
        conditions[Family.TORSION] = np.array([weights @ at.twist])
    return conditions
