"""Descriptions: materials, sections, bodies, laws."""

import numpy as np
from skfem import MeshTri

import phlexible as ph
from bad_inputs.outcomes import Call
from bad_inputs.usual import COUNT, FINITE, MATRIX, NONE, POSITIVE, REFUSED, VECTOR, VECTOR_FUNCTION, usual
from bad_inputs.wrong_values import ROD, ROPE, STEEL

SHAPE = NONE | VECTOR_FUNCTION


def description(name, make, good, takes, ends="(?!)"):
    return Call(name, lambda s: make, lambda s: good, takes, ends=ends)


BODIES = [
    description(
        "Material",
        ph.Material,
        {"youngs_modulus": 2e11, "density": 7800.0},
        usual("youngs_modulus density poissons_ratio viscosity relaxation"),
    ),
    description("Maxwell", ph.Maxwell, {"branches": [(1.0, 0.1)]}, usual("branches")),
    description("CircularSection", ph.CircularSection, {"diameter": 0.1}, usual("diameter shear_coefficient")),
    description(
        "RectangularSection",
        ph.RectangularSection,
        {"width": 0.1, "height": 0.1},
        usual("width height shear_coefficient"),
    ),
    description(
        "Section",
        ph.Section,
        {"area": 1e-4, "second_moment_y": 1e-8},
        usual(
            "area second_moment_y second_moment_z torsion_constant shear_area_y shear_area_z"
            " shear_center mass_center"
        ),
    ),
    description(
        "VaryingSection",
        ph.VaryingSection,
        {"places": (0.0, 1.0), "sections": 2 * [ph.CircularSection(0.1)]},
        usual("places sections breaks"),
    ),
    description(
        "GeneralSection",
        ph.GeneralSection,
        {"stiffness": np.eye(6), "mass": np.diag([1.0, 1.0, 1.0, 2.0, 1.0, 1.0])},
        usual("viscosity relaxation", stiffness=REFUSED, mass=REFUSED),
    ),
    description("LumpedMass", ph.LumpedMass, {"x": 0.0, "mass": 1.0}, usual("mass inertia offset", x=FINITE)),
    description(
        "Beam",
        ph.Beam,
        {"length": 1.0, "section": ph.CircularSection(0.01), "material": STEEL},
        usual(
            ("length section material elements frame strain rotary_inertia damping_ratio theory masses color"),
            modes=COUNT | NONE | {"2 x 2", "3 x 3"},
        ),
    ),
    description(
        "Plate",
        ph.Plate,
        {"length": 1.0, "width": 1.0, "thickness": 0.1, "material": STEEL, "elements": (1, 1), "modes": 1},
        usual(
            "length width thickness material element theory interfaces modes frame strain"
            " damping_ratio moments inertial_shapes color large",
            elements=REFUSED,
        ),
    ),
    description("Beam.split", ROD.split, {"parts": 2}, usual("parts", elements=COUNT | NONE)),
    description(
        "Beam.craig_bampton_basis",
        ph.Beam(1.0, ph.CircularSection(0.01), STEEL, elements=3).craig_bampton_basis,
        {"modes": 1},
        usual("dimension axial", modes=COUNT),
    ),
    description(
        "Beam.with_axial",
        ph.Beam(1.0, ph.CircularSection(0.01), STEEL, elements=1, frame="cantilever").with_axial,
        {"basis": np.eye(3), "dimension": 2},
        usual("basis dimension axial"),
    ),
    description(
        "Beam.port_hamiltonian",
        ROD.port_hamiltonian,
        {},
        usual("variant dimension gravity stress", ports=NONE | {"{}"}),
    ),
    description("Cylinder", ph.Cylinder, {"radius": 0.1, "length": 1.0}, usual("radius length axis center")),
    description("Sphere", ph.Sphere, {"radius": 0.1}, usual("radius center")),
    description("Torus", ph.Torus, {"radius": 9.0, "tube_radius": 0.02}, usual("radius tube_radius axis center")),
    description("PointMass", ph.PointMass, {"mass": 1.0}, usual("mass color")),
    description(
        "RigidBody",
        ph.RigidBody,
        {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)},
        usual("mass shape color", inertia=POSITIVE | VECTOR | {"3 x 3"}, center=VECTOR),
    ),
    description(
        "RigidBody.box",
        ph.RigidBody.box,
        {"size": (1.0, 1.0, 1.0), "density": 1.0},
        usual("size density color", center=VECTOR),
    ),
    description(
        "RigidBody.cylinder",
        ph.RigidBody.cylinder,
        {"radius": 1.0, "length": 1.0, "density": 1.0},
        usual("radius length density axis", center=VECTOR),
    ),
    description(
        "RigidBody.sphere",
        ph.RigidBody.sphere,
        {"radius": 1.0, "density": 1.0},
        usual("radius density", center=VECTOR),
    ),
    description(
        "RigidBody.from_stl",
        ph.RigidBody.from_stl,
        {"path": "there_is_no.stl", "density": 1.0},
        usual("path density scale"),
        ends="path: cannot read there_is_no.stl",
    ),
    description(
        "RigidBody.from_mesh",
        ph.RigidBody.from_mesh,
        {
            "vertices": np.concatenate([np.zeros((1, 3)), np.eye(3)]),
            "triangles": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
            "density": 1.0,
        },
        usual("vertices triangles density color"),
    ),
    description("Box", ph.Box, {"size": (1.0, 1.0, 1.0)}, usual("size center")),
    description(
        "TriangleMesh",
        ph.TriangleMesh,
        {"vertices": np.eye(3), "triangles": [[0, 1, 2]]},
        usual(vertices=MATRIX, triangles=MATRIX),
    ),
    description(
        "Rod",
        ph.Rod,
        {"length": 1.0, "section": ph.CircularSection(0.01), "material": STEEL, "elements": 2},
        usual("length section material elements stress_free color", order=COUNT),
    ),
    description(
        "Rod.port_hamiltonian",
        ph.Rod(1.0, ph.CircularSection(0.01), STEEL, 2).port_hamiltonian,
        {},
        usual("gravity shape angular_velocity start end", dimension=COUNT, velocity=SHAPE | VECTOR | {"3 x 3"}),
    ),
    *(
        description(
            law.__name__,
            law,
            {"youngs_modulus": 1e6, "poissons_ratio": 0.3},
            usual("youngs_modulus poissons_ratio"),
        )
        for law in (ph.StVenantKirchhoff, ph.NeoHookean)
    ),
    description(
        "InvariantLaw",
        ph.InvariantLaw,
        {
            "first": (lambda I: I - 3, lambda I: 1.0),
            "second": (lambda I: I - 3, lambda I: 1.0),
            "third": (lambda I: -3 * np.log(I) + 2 * np.log(I) ** 2, lambda I: (4 * np.log(I) - 3) / I),
        },
        usual("third", first=REFUSED, second=REFUSED),
    ),
    description(
        "SoftBody",
        ph.SoftBody,
        {"mesh": MeshTri(), "law": ph.NeoHookean(1e6, 0.3), "density": 1e3, "thickness": 0.1},
        usual(
            "mesh law density thickness plane viscosity relaxation color",
            order=COUNT,
            interfaces=NONE | {"{}", "()"},
        ),
    ),
    description(
        "String",
        ph.String,
        {"length": 1.0, "line_density": 0.1, "elements": 2, "law": ph.LinearLaw(1.0)},
        usual(
            "length line_density elements law viscosity relaxation color tension_only",
            order=COUNT,
            diameter=POSITIVE | NONE,
        ),
    ),
    description(
        "String.hanging",
        ROPE.hanging,
        {"start": (0, 0, 0), "end": (1.0, 0, 0), "gravity": (0, -9.81, 0)},
        usual("gravity", start=VECTOR, end=VECTOR),
    ),
    description(
        "String.port_hamiltonian",
        ROPE.port_hamiltonian,
        {},
        usual("gravity start end", dimension=COUNT, shape=SHAPE | {"3 x 3"}, velocity=SHAPE | VECTOR | {"3 x 3"}),
    ),
    *(
        description(law.__name__, law, {}, usual("axial_stiffness"))
        for law in (ph.LinearLaw, ph.LogarithmicLaw, ph.StVenantKirchhoffLaw)
    ),
    description("Law", ph.Law, {"W": lambda C: 0.0, "dW": lambda C: 0.0}, usual("W dW")),
    description(
        "Potential", ph.Potential, {"energy": lambda x: 0.0, "slope": lambda x: 0.0}, usual("energy slope around")
    ),
]
assert FINITE
