"""Shells of small strain and curvature in a floating frame: reduced finite element models (docs/theory.md, 3)."""

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.rotations import cross_matrix
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.flexible.inertia import nodal_moments
from phlexible.bodies.flexible.interfaces import InterfaceKind, MeshInterface, refuse_shared_nodes
from phlexible.bodies.flexible.points import NodePoints
from phlexible.bodies.flexible.retained import Condensed, ShapeOptions, condense, interface_motion, retained_body
from phlexible.bodies.flexible.stiffening import MeshStrain, condensed_strain, linear_strain, projected_stiffness
from phlexible.bodies.flexible.structure import mesh_unknowns
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.product_elements import elastic_tangent, geometric_stiffness
from phlexible.bodies.shell.mesh import ShellMesh
from phlexible.bodies.shell.ports import EdgeKind, ShellInterface
from phlexible.errors import ParameterError

# Unknowns are displacements of the nodes, and of the ends of directors as long as an element: all are points, whose
# rigid motions are those of a body, and digits of the thickness are not lost in differences.


def body_of_shell(
    data: AbsoluteBody, mesh: ShellMesh, groups: tuple[ShellInterface, ...], choice: ShapeOptions, viscosity: float
) -> tuple[FloatingBody, Condensed]:
    """Return the floating body of a shell with small displacements in its frame, and the reduced model with its
    displacement shapes. Directors are replaced by points near the nodes; then ``condense`` reduces the linear
    matrices of the undeformed shell. ``data`` has masses and elements, ``groups`` the interfaces, ``choice`` the
    user's options, ``viscosity`` the material's time [s]. Geometric stiffness is included unless the strain is
    linear.

    Raises:
        ParameterError: interfaces without orientation, or of a kind other than average and rigid.
    """
    undeformed, count = mesh.vectors(mesh.points[mesh.used], mesh.gyration * mesh.directors), len(mesh.nodes)
    ends, length = mesh.director_at, float(np.sqrt(mesh.elements.areas.sum(axis=1).mean()))
    share = np.ones(count)
    share[ends] = mesh.gyration / length
    vectors = sparse.lil_array(sparse.diags_array(share))  # of the shell, by those of the points
    vectors[ends, mesh.node_at[mesh.director_nodes]] = -share[ends]
    points = undeformed / share[:, None]
    points[ends] += undeformed[mesh.node_at[mesh.director_nodes]]
    vectors = sparse.csr_array(vectors)
    full = sparse.csr_array(sparse.kron(vectors, sparse.eye_array(3)))
    unknowns = mesh_unknowns(points, 3, 3)
    mass = sparse.csr_array(full.T @ sparse.kron(data.nodal_mass, sparse.eye_array(3)) @ full)
    stiffness = sum(full.T @ elastic_tangent(group, undeformed) @ full for group in data.products)
    ports = tuple(_interface(group, mesh, undeformed, vectors) for group in groups)
    refuse_shared_nodes(ports)
    condensed = condense(mass, sparse.csr_array(stiffness), unknowns, ports, choice)
    shapes, frequencies = condensed.shapes, condensed.basis.frequencies

    def matrix_of(shape: Array) -> sparse.csr_array:
        change = (full @ shape).reshape(-1, 3)
        return sparse.csr_array(
            sum(full.T @ geometric_stiffness(group, undeformed, change) @ full for group in data.products)
        )

    strain = linear_strain(frequencies)
    if choice.strain is not MeshStrain.LINEAR:
        strain = condensed_strain(frequencies, projected_stiffness(shapes, matrix_of) + condensed.tied_work)
    moved = interface_motion(ports, condensed.displacements, condensed.rotations)
    nodes = mesh.node_at[mesh.used]
    node_points = NodePoints(unknowns.vectors(shapes, count)[nodes], moved, points[nodes], None)
    moments, damping = nodal_moments(mass, unknowns, shapes), choice.damping(frequencies)
    return retained_body(3, points[nodes], moments, strain, damping, viscosity, None, node_points), condensed


def _interface(
    group: ShellInterface, mesh: ShellMesh, undeformed: Array, vectors: sparse.csr_array
) -> MeshInterface:
    """Return an edge or patch of a shell (``group``) as an interface of its reduced model, with matrix rows for its
    mean displacement and rotation. The rows multiply displacements of the model's points. Those of the rotation are
    half the sum of cross products of three material directions with their changes. ``undeformed`` are positions and
    directors of the ``mesh``; the matrix ``vectors`` computes both from the model's points. Raise
    ``ParameterError`` unless the group is of kind average or rigid and has an orientation."""
    directions = group.directions(mesh)
    if directions is None or group.kind not in (EdgeKind.AVERAGE, EdgeKind.RIGID):
        raise ParameterError(
            f"interface {group.name!r}: a flexible body has edges and patches with an orientation, average or rigid"
        )
    mean, axes = group.weights(mesh), directions @ undeformed
    turns = [0.5 * np.kron(row @ vectors, cross_matrix(axis)) for row, axis in zip(directions, axes, strict=True)]
    rows = np.concatenate([np.kron(mean @ vectors, np.eye(3)), sum(turns, np.zeros((3, 3 * len(mean))))])
    own = np.flatnonzero(np.isin(np.concatenate([mesh.used, mesh.director_nodes]), group.points))
    members = np.sort(mesh.unknown[own])
    return MeshInterface(group.name, InterfaceKind(group.kind), mean @ undeformed, members, np.zeros(3), rows)
