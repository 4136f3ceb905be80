"""Modal derivatives: what a body gives way by to the squares of its own displacements (docs/theory.md, 3)."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.flexible.interfaces import Interface
from phlexible.bodies.flexible.mesh.assembly import quadratic_loads
from phlexible.bodies.flexible.mesh.element_mesh import ElementMesh
from phlexible.bodies.flexible.mesh.materials import ElementMaterials
from phlexible.bodies.flexible.rigid_interfaces import TiedStructure, turning_displacements
from phlexible.bodies.flexible.structure import HeldStructure
from phlexible.bodies.flexible.unknowns import Unknowns

FELT = 0.1
"""Derivative, of the greatest one, all of shapes of unit energy, that is left out."""


def derivative_loads(
    mesh: ElementMesh,
    materials: ElementMaterials,
    unknowns: Unknowns,
    interfaces: tuple[Interface, ...],
    tied: TiedStructure,
    held: HeldStructure,
    shapes: Array,
) -> Array:
    """Loads (q, m) whose answers are the derivatives of shapes (q, n) that matter most, as of (3.17).

    Derivatives of all pairs are ordered by the energy that they take at unit energies of the shapes.
    """
    d = mesh.dimension
    turned = np.zeros((len(interfaces), 3, shapes.shape[1]))
    turned[:, unknowns.spin_axes] = np.array([(tied.rows[each.name] @ shapes)[d:] for each in interfaces])
    fields = unknowns.vectors(np.asarray(tied.columns @ shapes), mesh.node_count)[:, :d]
    missing = tied.untied.stiffness @ turning_displacements(interfaces, unknowns, turned)
    first, second = np.triu_indices(shapes.shape[1])
    times = np.where(first == second, 1.0, np.sqrt(2.0))
    loads = np.asarray(tied.columns.T @ (quadratic_loads(mesh, materials, fields) - missing)) * times
    energies = loads.T @ held.answers(loads)
    values, vectors = np.linalg.eigh((energies + energies.T) / 2)
    return np.asarray(loads @ vectors[:, values > FELT**2 * values[-1]])
