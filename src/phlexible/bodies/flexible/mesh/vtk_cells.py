"""Elements with all their displacement nodes in the order of VTK."""

import numpy as np

from phlexible.algebra.arrays import IntArray
from phlexible.bodies.flexible.mesh.element_mesh import CellKind, ElementMesh
from phlexible.bodies.flexible.mesh.given_mesh import hexahedron_order

NAMES = {
    (CellKind.TRIANGLE, 1): "triangle",
    (CellKind.TRIANGLE, 2): "triangle6",
    (CellKind.QUADRILATERAL, 1): "quad",
    (CellKind.QUADRILATERAL, 2): "quad9",
    (CellKind.TETRAHEDRON, 1): "tetra",
    (CellKind.TETRAHEDRON, 2): "tetra10",
    (CellKind.HEXAHEDRON, 1): "hexahedron",
    (CellKind.HEXAHEDRON, 2): "hexahedron27",
}


def vtk_cells(mesh: ElementMesh) -> list[tuple[str, IntArray]]:
    """One block for meshio: name of the cells and their nodes."""
    nodes = mesh.element_nodes
    if mesh.kind is CellKind.HEXAHEDRON:
        order = hexahedron_order()[: nodes.shape[1]]
        nodes = nodes[:, np.argsort(order)]
    return [(NAMES[mesh.kind, mesh.order], nodes)]
