"""Which motion of a beam counts as elastic: what ties the body frame to the beam (docs/theory.md, 2 and 3)."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.beam.inertia import BeamInertia, momentum_rows
from phlexible.bodies.beam.mesh import BeamMesh, Component


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


def frame_basis(frame: Frame, mesh: BeamMesh, inertia: BeamInertia) -> BeamBasis:
    """The elastic coordinates of a frame, node after node, so that strains touch neighbours only.

    Args:
        inertia: what the mean axis weighs motions with.
    """
    match frame:
        case Frame.CANTILEVER | Frame.AUTO:
            removed = [mesh.index(0, component) for component in mesh.components()]
        case Frame.SIMPLY_SUPPORTED | Frame.MEAN_AXIS:
            removed = _chord(mesh)
    kept = np.setdiff1d(np.arange(mesh.size), removed)
    columns = np.eye(mesh.size)[:, kept]
    if frame is Frame.MEAN_AXIS:
        conditions = momentum_rows(mesh, inertia)
        columns[removed] = -np.linalg.solve(conditions[:, removed], conditions[:, kept])
    return BeamBasis(columns, mesh.families()[kept])


def clamped_coordinates(columns: Array, basis: BeamBasis, mesh: BeamMesh) -> Array:
    """Deformations in the coordinates of ``basis`` as coordinates of CANTILEVER, shape (n, k).

    The beam is moved as a rigid body until its start is where the frame wants it.
    """
    deformed = basis.columns @ columns
    clamped = [mesh.index(0, component) for component in mesh.components()]
    kept = np.setdiff1d(np.arange(mesh.size), clamped)
    return np.asarray((deformed - mesh.rigid_motions() @ deformed[clamped])[kept])


def coordinate_units(mesh: BeamMesh, columns: Array, others: str) -> tuple[str, ...]:
    """Units of coordinates: of those that are a displacement or a turn of one node, and of all others."""
    nodal = np.flatnonzero((columns != 0).sum(axis=1) == 1)
    result, turns = [others] * columns.shape[1], mesh.turns()
    for row in nodal[::-1]:
        column = int(np.argmax(columns[row] != 0))
        if columns[row, column] == 1:
            result[column] = "rad" if turns[row] else "m"
    return tuple(result)


def _chord(mesh: BeamMesh) -> list[int]:
    """u = v = 0 and w = theta = 0 at the start, v = 0 and w = 0 at the end."""
    start = [Component.AXIAL, Component.DEFLECTION_Y, Component.DEFLECTION_Z, Component.TWIST]
    end = [Component.DEFLECTION_Y, Component.DEFLECTION_Z]
    present = mesh.components()
    return [mesh.index(0, each) for each in start if each in present] + [
        mesh.index(-1, each) for each in end if each in present
    ]
