"""Descriptions: materials, sections, bodies, laws."""

import numpy as np
from skfem import MeshTri

import phlexible as ph
from bad_inputs.outcomes import Call
from bad_inputs.usual import COUNT, FINITE, MATRIX, NONE, POSITIVE, REFUSED, VECTOR, VECTOR_FUNCTION, usual
from bad_inputs.wrong_values import ROD, ROPE, STEEL

SHAPE = NONE | VECTOR_FUNCTION


def description(name, make, good, names="", /, ends="(?!)", **takes):
    return Call(name, lambda s: make, lambda s: good, usual(names, **takes), ends=ends)


def described(kind, good, names="", /, **takes):
    """A class under its own name."""
    return description(kind.__qualname__, kind, good, names, **takes)


BODIES = [
    described(
        ph.Material,
        {"youngs_modulus": 2e11, "density": 7800.0},
        "youngs_modulus density poissons_ratio viscosity relaxation",
    ),
    described(ph.Maxwell, {"branches": [(1.0, 0.1)]}, "branches"),
    described(ph.CircularSection, {"diameter": 0.1}, "diameter shear_coefficient"),
    described(ph.RectangularSection, {"width": 0.1, "height": 0.1}, "width height shear_coefficient"),
    described(
        ph.Section,
        {"area": 1e-4, "second_moment_y": 1e-8},
        "area second_moment_y second_moment_z torsion_constant shear_area_y shear_area_z shear_center mass_center",
    ),
    described(
        ph.VaryingSection,
        {"places": (0.0, 1.0), "sections": 2 * [ph.CircularSection(0.1)]},
        "places sections breaks",
    ),
    described(
        ph.GeneralSection,
        {"stiffness": np.eye(6), "mass": np.diag([1.0, 1.0, 1.0, 2.0, 1.0, 1.0])},
        "viscosity relaxation",
        stiffness=REFUSED,
        mass=REFUSED,
    ),
    described(ph.LumpedMass, {"x": 0.0, "mass": 1.0}, "mass inertia offset", x=FINITE),
    described(
        ph.Beam,
        {"length": 1.0, "section": ph.CircularSection(0.01), "material": STEEL},
        "length section material elements frame strain rotary_inertia damping_ratio theory masses color",
        modes=COUNT | NONE | {"2 x 2", "3 x 3"},
    ),
    described(
        ph.Plate,
        {"length": 1.0, "width": 1.0, "thickness": 0.1, "material": STEEL, "elements": (1, 1), "modes": 1},
        "length width thickness material element theory interfaces modes frame strain"
        " damping_ratio moments inertial_shapes color large",
        elements=REFUSED,
    ),
    description("Beam.split", ROD.split, {"parts": 2}, "parts", elements=COUNT | NONE),
    description(
        "Beam.craig_bampton_basis",
        ph.Beam(1.0, ph.CircularSection(0.01), STEEL, elements=3).craig_bampton_basis,
        {"modes": 1},
        "dimension axial",
        modes=COUNT,
    ),
    description(
        "Beam.with_axial",
        ph.Beam(1.0, ph.CircularSection(0.01), STEEL, elements=1, frame="cantilever").with_axial,
        {"basis": np.eye(3), "dimension": 2},
        "basis dimension axial",
    ),
    description(
        "Beam.port_hamiltonian", ROD.port_hamiltonian, {}, "variant dimension gravity stress", ports=NONE | {"{}"}
    ),
    described(ph.Cylinder, {"radius": 0.1, "length": 1.0}, "radius length axis center"),
    described(ph.Sphere, {"radius": 0.1}, "radius center"),
    described(ph.Torus, {"radius": 9.0, "tube_radius": 0.02}, "radius tube_radius axis center"),
    described(ph.PointMass, {"mass": 1.0}, "mass color"),
    described(
        ph.RigidBody,
        {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)},
        "mass shape color",
        inertia=POSITIVE | VECTOR | {"3 x 3"},
        center=VECTOR,
    ),
    described(ph.RigidBody.box, {"size": (1.0, 1.0, 1.0), "density": 1.0}, "size density color", center=VECTOR),
    described(
        ph.RigidBody.cylinder,
        {"radius": 1.0, "length": 1.0, "density": 1.0},
        "radius length density axis",
        center=VECTOR,
    ),
    described(ph.RigidBody.sphere, {"radius": 1.0, "density": 1.0}, "radius density", center=VECTOR),
    described(
        ph.RigidBody.from_stl,
        {"path": "there_is_no.stl", "density": 1.0},
        "path density scale",
        ends="path: cannot read there_is_no.stl",
    ),
    described(
        ph.RigidBody.from_mesh,
        {
            "vertices": np.concatenate([np.zeros((1, 3)), np.eye(3)]),
            "triangles": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
            "density": 1.0,
        },
        "vertices triangles density color",
    ),
    described(ph.Box, {"size": (1.0, 1.0, 1.0)}, "size center"),
    described(
        ph.TriangleMesh, {"vertices": np.eye(3), "triangles": [[0, 1, 2]]}, vertices=MATRIX, triangles=MATRIX
    ),
    described(
        ph.Rod,
        {"length": 1.0, "section": ph.CircularSection(0.01), "material": STEEL, "elements": 2},
        "length section material elements stress_free color",
        order=COUNT,
    ),
    description(
        "Rod.port_hamiltonian",
        ph.Rod(1.0, ph.CircularSection(0.01), STEEL, 2).port_hamiltonian,
        {},
        "gravity shape angular_velocity start end",
        dimension=COUNT,
        velocity=SHAPE | VECTOR | {"3 x 3"},
    ),
    *(
        described(law, {"youngs_modulus": 1e6, "poissons_ratio": 0.3}, "youngs_modulus poissons_ratio")
        for law in (ph.StVenantKirchhoff, ph.NeoHookean)
    ),
    described(
        ph.InvariantLaw,
        {
            "first": (lambda I: I - 3, lambda I: 1.0),
            "second": (lambda I: I - 3, lambda I: 1.0),
            "third": (lambda I: -3 * np.log(I) + 2 * np.log(I) ** 2, lambda I: (4 * np.log(I) - 3) / I),
        },
        "third",
        first=REFUSED,
        second=REFUSED,
    ),
    described(
        ph.SoftBody,
        {"mesh": MeshTri(), "law": ph.NeoHookean(1e6, 0.3), "density": 1e3, "thickness": 0.1},
        "mesh law density thickness plane viscosity relaxation color",
        order=COUNT,
        interfaces=NONE | {"{}", "()"},
    ),
    described(
        ph.String,
        {"length": 1.0, "line_density": 0.1, "elements": 2, "law": ph.LinearLaw(1.0)},
        "length line_density elements law viscosity relaxation color tension_only",
        order=COUNT,
        diameter=POSITIVE | NONE,
    ),
    description(
        "String.hanging",
        ROPE.hanging,
        {"start": (0, 0, 0), "end": (1.0, 0, 0), "gravity": (0, -9.81, 0)},
        "gravity",
        start=VECTOR,
        end=VECTOR,
    ),
    description(
        "String.port_hamiltonian",
        ROPE.port_hamiltonian,
        {},
        "gravity start end",
        dimension=COUNT,
        shape=SHAPE | {"3 x 3"},
        velocity=SHAPE | VECTOR | {"3 x 3"},
    ),
    *(described(law, {}, "axial_stiffness") for law in (ph.LinearLaw, ph.LogarithmicLaw, ph.StVenantKirchhoffLaw)),
    described(ph.Law, {"W": lambda C: 0.0, "dW": lambda C: 0.0}, "W dW"),
    described(ph.Potential, {"energy": lambda x: 0.0, "slope": lambda x: 0.0}, "energy slope around"),
]
assert FINITE
