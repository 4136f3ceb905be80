"""Stress spaces of a beam: bending moments, torque and normal force as states.

Sections 4.3 and 6 of Brugnoli et al. (2020), in the plane and in space. The normal force with von
Karman strain works on ``u' + (v'^2 + w'^2)/2``.
"""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.beam.mesh import BeamFields, BeamMesh, Component
from phlexible.bodies.beam.strain import SLOPE_POINTS, Strain
from phlexible.bodies.forms.stress_space import Stress, StressSpace
from phlexible.bodies.material import Material
from phlexible.elements.sections import CrossSection

MOMENT_POINTS = 4  # products of cubics


def beam_stress(
    mesh: BeamMesh, basis: Array, section: CrossSection, material: Material, strain: Strain, kind: Stress
) -> StressSpace:
    """Stress coordinates in the order moment about z, (moment about y, torque,) normal force.

    Discontinuous: two Gauss values an element of the moments, one of torque and normal force [N m, N].
    Hermite: nodal values and slopes of the moments, nodal values of the others.
    """
    from scipy.linalg import block_diag

    parts = _discontinuous(mesh) if kind is Stress.DISCONTINUOUS else _hermite(mesh)
    bending = material.youngs_modulus
    stiffness = {
        "curvature_y": bending * section.second_moment_z,
        "curvature_z": bending * section.second_moment_y,
        "twist_rate": material.shear_modulus * section.torsion_constant,
        "stretch": bending * section.area,
    }
    names = ["curvature_y", "stretch"] if mesh.dimension == 2 else list(stiffness)
    compliances: list[Array] = []
    rows: list[Array] = []
    for name in names:
        x, weights, functions = parts[name]
        compliances.append((functions.T * weights) @ functions / stiffness[name])
        rate: Array = getattr(_fields(mesh, basis, x), name)
        rows.append((functions.T * weights) @ rate)
    n, count = basis.shape[1], sum(map(len, compliances))
    squares, factors = np.zeros((0, n)), np.zeros((count, 0))
    if strain is Strain.VON_KARMAN:
        squares, factors = _squares(mesh, basis, parts["stretch"][2].shape[1], kind, count)
    return StressSpace(block_diag(*compliances), np.concatenate(rows), squares, factors)


def _squares(mesh: BeamMesh, basis: Array, forces: int, kind: Stress, count: int) -> tuple[Array, Array]:
    """Slopes at Gauss points (g, n) and their factors (count, g) in the normal force's strain."""
    points = SLOPE_POINTS if kind is Stress.DISCONTINUOUS else MOMENT_POINTS
    x, weights = mesh.gauss_points(points)
    at = _fields(mesh, basis, x)
    slopes = [at.slope_y] if mesh.dimension == 2 else [at.slope_y, at.slope_z]
    functions = _constant(mesh, points) if kind is Stress.DISCONTINUOUS else _linear(mesh, x)
    factors = np.zeros((count, len(slopes) * len(x)))
    factors[count - forces :] = np.tile(functions.T * weights, len(slopes))
    return np.concatenate(slopes), factors


def _discontinuous(mesh: BeamMesh) -> dict[str, tuple[Array, Array, Array]]:
    """Points, weights and stress functions (points, s) for each strain rate."""
    two, one = mesh.gauss_points(2), mesh.gauss_points(1)
    moment = (*two, np.eye(len(two[0])))
    force = (*one, np.eye(len(one[0])))
    return {"curvature_y": moment, "curvature_z": moment, "twist_rate": force, "stretch": force}


def _hermite(mesh: BeamMesh) -> dict[str, tuple[Array, Array, Array]]:
    x, weights = mesh.gauss_points(MOMENT_POINTS)
    nodes = range(mesh.elements + 1)
    pairs = [mesh.index(k, c) for k in nodes for c in (Component.DEFLECTION_Y, Component.SLOPE_Y)]
    moment = (x, weights, mesh.fields(x, np.eye(mesh.size)).deflection_y[:, pairs])
    force = (x, weights, _linear(mesh, x))
    return {"curvature_y": moment, "curvature_z": moment, "twist_rate": force, "stretch": force}


def _linear(mesh: BeamMesh, x: Array) -> Array:
    """Continuous linear functions of the nodes at x, shape (k, nodes)."""
    nodes = [mesh.index(k, Component.AXIAL) for k in range(mesh.elements + 1)]
    return mesh.fields(x, np.eye(mesh.size)).axial[:, nodes]


def _constant(mesh: BeamMesh, points: int) -> Array:
    """One function an element at its Gauss points, shape (elements * points, elements)."""
    return np.asarray(np.kron(np.eye(mesh.elements), np.ones((points, 1))), dtype=np.float64)


def _fields(mesh: BeamMesh, basis: Array, x: Array) -> BeamFields:
    return mesh.fields(x, basis)
