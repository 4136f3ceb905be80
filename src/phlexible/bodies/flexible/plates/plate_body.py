"""The floating body of a plate (docs/theory.md, 2 and 3)."""

import numpy as np
from scipy import sparse

from phlexible.bodies.flexible.condensation import Choice, condensed, interface_motion
from phlexible.bodies.flexible.files.kept_on_disk import Folder, KeptShapes
from phlexible.bodies.flexible.inertia import mesh_moments
from phlexible.bodies.flexible.interfaces import Interface
from phlexible.bodies.flexible.mesh.assembly import mass_matrix
from phlexible.bodies.flexible.mesh.element_mesh import ElementMesh
from phlexible.bodies.flexible.mesh.materials import ElementMaterials
from phlexible.bodies.flexible.plates.assembly import (
    plate_geometric_stiffness,
    plate_mass,
    plate_stiffness,
    plate_unknowns,
)
from phlexible.bodies.flexible.plates.points import PlatePoints, surface_shapes
from phlexible.bodies.flexible.plates.section import PlateSection
from phlexible.bodies.flexible.plates.surface_strain import surface_strains
from phlexible.bodies.flexible.retained_body import retained_body
from phlexible.bodies.flexible.stiffening import MeshStrain, condensed_strain, linear_strain
from phlexible.bodies.floating_body import FloatingBody


def body_of_plate(
    mesh: ElementMesh,
    materials: ElementMaterials,
    section: PlateSection,
    interfaces: tuple[Interface, ...],
    choice: Choice,
    folder: Folder,
) -> tuple[FloatingBody, KeptShapes]:
    """The data of the body, and what was kept.

    Raises:
        ParameterError: a frame that does not hold the body, more modes than it has, or a mechanism.
    """
    nodal_mass, unknowns, h = mass_matrix(mesh, materials), plate_unknowns(mesh), section.thickness
    is_linear = choice.strain is MeshStrain.LINEAR

    def make() -> KeptShapes:
        found = condensed(
            plate_mass(nodal_mass, section), plate_stiffness(mesh, section), unknowns, interfaces, choice
        )
        if is_linear:
            return KeptShapes.of(found)
        stretched = surface_strains(mesh, section, found.shapes, found.kept.frequencies, found.relaxed)
        return KeptShapes.of(found, plate_geometric_stiffness(mesh, section, found.shapes), stretched)

    found = folder.kept((mesh, section, interfaces, choice), make)
    frequencies = found.frequencies
    if is_linear:
        strain = linear_strain(frequencies)
    else:
        strain = condensed_strain(frequencies, found.geometric, unrelaxed=found.unrelaxed)
    apart = h / np.sqrt(12.0)  # two sheets of half the mass have the inertia of the plate
    sheets = sparse.csr_array(sparse.block_diag([nodal_mass / 2, nodal_mass / 2]))
    places = np.vstack([mesh.nodes + (0, 0, apart), mesh.nodes - (0, 0, apart)])
    moments = mesh_moments(sheets, places, surface_shapes(unknowns, found.shapes, mesh.node_count, apart))
    points = PlatePoints(
        surface_shapes(unknowns, found.shapes, mesh.node_count, h / 2),
        interface_motion(interfaces, found.moved, found.turned),
        mesh,
        h,
    )
    damping = np.diag(2 * choice.damping_ratio * frequencies)
    return retained_body(3, mesh.nodes, moments, strain, damping, section.viscosity, points), found
