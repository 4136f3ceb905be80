"""Stress on both surfaces of a plate (docs/theory.md, 3)."""

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.flexible.plates.points import PlatePoints
from phlexible.bodies.flexible.plates.section import PlateSection
from phlexible.bodies.flexible.plates.strains import UNKNOWNS, strain_matrices

PART = 256  # elements at once


def plate_stress_shapes(points: PlatePoints, section: PlateSection, nodes: IntArray) -> Array:
    """Linear stress of the retained shapes at nodes of both surfaces, shape (k, 6, n) [Pa].

    The mean of the elements there; xx, yy, zz, yz, xz, xy, of which those with z vanish on a free surface.
    """
    mesh, h = points.mesh, section.thickness
    n = points.shapes.shape[2]
    unknowns = np.zeros((mesh.node_count, UNKNOWNS, n))
    unknowns[:, :3], unknowns[:, 3:] = points.middle, points.turns[:, :2]
    wanted = np.zeros(mesh.node_count, dtype=bool)
    wanted[nodes % mesh.node_count] = True
    total, count = np.zeros((mesh.node_count, 2, 3, n)), np.zeros(mesh.node_count)
    touched = np.flatnonzero(wanted[mesh.element_nodes].any(axis=1))
    local = np.asarray(mesh.element.doflocs).T
    for first in range(0, len(touched), PART):
        elements = touched[first : first + PART]
        numbers = mesh.element_nodes[elements]
        own = unknowns[numbers].reshape(len(elements), -1, n)
        strains = strain_matrices(mesh, section, elements, local) @ own[:, None]
        for side, height in enumerate((h / 2, -h / 2)):
            there = strains[:, :, :3] + height * strains[:, :, 3:6]
            stress = section.membrane[elements, None] @ there / h
            np.add.at(total[:, side], numbers, stress)
        np.add.at(count, numbers, 1)
    result = np.zeros((len(nodes), 6, n))
    at = nodes % mesh.node_count
    result[:, [0, 1, 5]] = total[at, nodes // mesh.node_count] / count[at, None, None]
    return result
