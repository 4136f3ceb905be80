"""Descriptions: materials, sections, bodies, laws."""

import numpy as np
from skfem import MeshTri

import phlexible as ph
from bad_inputs.outcomes import (
    COUNT,
    FINITE,
    FLAG,
    NON_NEGATIVE,
    NONE,
    NUMBER_FUNCTION,
    POSITIVE,
    REFUSED,
    VECTOR,
    VECTOR_FUNCTION,
    Call,
)
from bad_inputs.wrong_values import ROD, ROPE, STEEL

DIMENSION = REFUSED
PAIR = frozenset({"(1, 2)"})
SHAPE = NONE | VECTOR_FUNCTION


def description(name, make, good, takes, ends="(?!)"):
    return Call(name, lambda s: make, lambda s: good, takes, ends=ends)


BODIES = [
    description(
        "Material",
        ph.Material,
        {"youngs_modulus": 2e11, "density": 7800.0},
        {
            "youngs_modulus": POSITIVE,
            "density": POSITIVE,
            "poissons_ratio": frozenset({"0", "0.5"}),
            "viscosity": NON_NEGATIVE,
            "relaxation": NONE,
        },
    ),
    description("Maxwell", ph.Maxwell, {"branches": [(1.0, 0.1)]}, {"branches": frozenset({"(1, 2)"})}),
    description(
        "CircularSection",
        ph.CircularSection,
        {"diameter": 0.1},
        {"diameter": POSITIVE, "shear_coefficient": POSITIVE | NONE},
    ),
    description(
        "RectangularSection",
        ph.RectangularSection,
        {"width": 0.1, "height": 0.1},
        {"width": POSITIVE, "height": POSITIVE, "shear_coefficient": POSITIVE | NONE},
    ),
    description(
        "Section",
        ph.Section,
        {"area": 1e-4, "second_moment_y": 1e-8},
        {
            "area": POSITIVE,
            "second_moment_y": POSITIVE,
            "second_moment_z": POSITIVE | NONE,
            "torsion_constant": POSITIVE | NONE,
            "shear_area_y": POSITIVE | NONE,
            "shear_area_z": POSITIVE | NONE,
            "shear_center": PAIR,
            "mass_center": PAIR,
        },
    ),
    description(
        "VaryingSection",
        ph.VaryingSection,
        {"places": (0.0, 1.0), "sections": 2 * [ph.CircularSection(0.1)]},
        {"places": PAIR, "sections": REFUSED, "breaks": NONE},
    ),
    description(
        "GeneralSection",
        ph.GeneralSection,
        {"stiffness": np.eye(6), "mass": np.diag([1.0, 1.0, 1.0, 2.0, 1.0, 1.0])},
        {"stiffness": REFUSED, "mass": REFUSED, "viscosity": NON_NEGATIVE, "relaxation": NONE},
    ),
    description(
        "LumpedMass",
        ph.LumpedMass,
        {"x": 0.0, "mass": 1.0},
        {"x": FINITE, "mass": POSITIVE, "inertia": NON_NEGATIVE | VECTOR, "offset": PAIR},
    ),
    description(
        "Beam",
        ph.Beam,
        {"length": 1.0, "section": ph.CircularSection(0.01), "material": STEEL},
        {
            "length": POSITIVE,
            "section": REFUSED,
            "material": REFUSED,
            "elements": COUNT,
            "frame": REFUSED,
            "strain": REFUSED,
            "rotary_inertia": FLAG,
            "modes": COUNT | NONE | {"2 x 2", "3 x 3"},
            "damping_ratio": NON_NEGATIVE,
            "theory": REFUSED,
            "masses": {"()"},
            "color": NONE,
        },
    ),
    description(
        "Plate",
        ph.Plate,
        {"length": 1.0, "width": 1.0, "thickness": 0.1, "material": STEEL, "elements": (1, 1), "modes": 1},
        {
            "length": POSITIVE,
            "width": POSITIVE,
            "thickness": POSITIVE,
            "material": REFUSED,
            "elements": REFUSED,
            "element": REFUSED,
            "theory": REFUSED,
            "interfaces": NONE | {"{}"},
            "modes": COUNT | {"0"},
            "frame": REFUSED,
            "strain": REFUSED,
            "damping_ratio": NON_NEGATIVE,
            "moments": FLAG,
            "inertial_shapes": FLAG,
            "color": NONE,
            "large": FLAG,
        },
    ),
    description("Beam.split", ROD.split, {"parts": 2}, {"parts": COUNT, "elements": COUNT | NONE}),
    description(
        "Beam.craig_bampton_basis",
        ph.Beam(1.0, ph.CircularSection(0.01), STEEL, elements=3).craig_bampton_basis,
        {"modes": 1},
        {"modes": COUNT, "dimension": DIMENSION, "axial": REFUSED},
    ),
    description(
        "Beam.with_axial",
        ph.Beam(1.0, ph.CircularSection(0.01), STEEL, elements=1, frame="cantilever").with_axial,
        {"basis": np.eye(3), "dimension": 2},
        {"basis": frozenset({"3 x 3"}), "dimension": DIMENSION, "axial": REFUSED},
    ),
    description(
        "Beam.port_hamiltonian",
        ROD.port_hamiltonian,
        {},
        {"variant": REFUSED, "dimension": DIMENSION, "gravity": VECTOR, "stress": REFUSED, "ports": NONE | {"{}"}},
    ),
    description(
        "Cylinder",
        ph.Cylinder,
        {"radius": 0.1, "length": 1.0},
        {"radius": POSITIVE, "length": POSITIVE, "axis": VECTOR, "center": NONE | VECTOR},
    ),
    description("Sphere", ph.Sphere, {"radius": 0.1}, {"radius": POSITIVE, "center": NONE | VECTOR}),
    description(
        "Torus",
        ph.Torus,
        {"radius": 9.0, "tube_radius": 0.02},
        {"radius": POSITIVE, "tube_radius": POSITIVE, "axis": VECTOR, "center": NONE | VECTOR},
    ),
    description("PointMass", ph.PointMass, {"mass": 1.0}, {"mass": POSITIVE, "color": NONE}),
    description(
        "RigidBody",
        ph.RigidBody,
        {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)},
        {
            "mass": POSITIVE,
            "inertia": POSITIVE | VECTOR | {"3 x 3"},
            "center": VECTOR,
            "shape": NONE,
            "color": NONE,
        },
    ),
    description(
        "RigidBody.box",
        ph.RigidBody.box,
        {"size": (1.0, 1.0, 1.0), "density": 1.0},
        {"size": VECTOR, "density": POSITIVE, "center": VECTOR, "color": NONE},
    ),
    description(
        "RigidBody.cylinder",
        ph.RigidBody.cylinder,
        {"radius": 1.0, "length": 1.0, "density": 1.0},
        {"radius": POSITIVE, "length": POSITIVE, "density": POSITIVE, "center": VECTOR, "axis": VECTOR},
    ),
    description(
        "RigidBody.sphere",
        ph.RigidBody.sphere,
        {"radius": 1.0, "density": 1.0},
        {"radius": POSITIVE, "density": POSITIVE, "center": VECTOR},
    ),
    description(
        "RigidBody.from_stl",
        ph.RigidBody.from_stl,
        {"path": "there_is_no.stl", "density": 1.0},
        {"path": REFUSED, "density": POSITIVE, "scale": POSITIVE},
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
        {"vertices": REFUSED, "triangles": REFUSED, "density": POSITIVE, "color": NONE},
    ),
    description("Box", ph.Box, {"size": (1.0, 1.0, 1.0)}, {"size": VECTOR, "center": VECTOR | NONE}),
    description(
        "TriangleMesh",
        ph.TriangleMesh,
        {"vertices": np.eye(3), "triangles": [[0, 1, 2]]},
        {"vertices": frozenset({"3 x 3"}), "triangles": frozenset({"3 x 3"})},
    ),
    description(
        "Rod",
        ph.Rod,
        {"length": 1.0, "section": ph.CircularSection(0.01), "material": STEEL, "elements": 2},
        {
            "length": POSITIVE,
            "section": REFUSED,
            "material": REFUSED,
            "elements": COUNT,
            "order": frozenset({"1"}),
            "stress_free": REFUSED,
            "color": NONE,
        },
    ),
    description(
        "Rod.port_hamiltonian",
        ph.Rod(1.0, ph.CircularSection(0.01), STEEL, 2).port_hamiltonian,
        {},
        {
            "dimension": COUNT,
            "gravity": VECTOR,
            "shape": NONE,
            "velocity": SHAPE | VECTOR | {"3 x 3"},
            "angular_velocity": NONE | VECTOR,
            "start": REFUSED,
            "end": REFUSED,
        },
    ),
    *(
        description(
            law.__name__,
            law,
            {"youngs_modulus": 1e6, "poissons_ratio": 0.3},
            {"youngs_modulus": POSITIVE, "poissons_ratio": frozenset({"0", "0.5"})},
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
        {"first": REFUSED, "second": REFUSED, "third": REFUSED},
    ),
    description(
        "SoftBody",
        ph.SoftBody,
        {"mesh": MeshTri(), "law": ph.NeoHookean(1e6, 0.3), "density": 1e3, "thickness": 0.1},
        {
            "mesh": REFUSED,
            "law": REFUSED,
            "density": POSITIVE,
            "thickness": POSITIVE,
            "order": COUNT,
            "plane": REFUSED,
            "viscosity": NON_NEGATIVE,
            "relaxation": NONE,
            "interfaces": NONE | {"{}", "()"},
            "color": NONE,
        },
    ),
    description(
        "String",
        ph.String,
        {"length": 1.0, "line_density": 0.1, "elements": 2, "law": ph.LinearLaw(1.0)},
        {
            "length": POSITIVE,
            "line_density": POSITIVE,
            "elements": COUNT,
            "law": REFUSED,
            "order": COUNT,
            "viscosity": NON_NEGATIVE,
            "relaxation": NONE,
            "diameter": POSITIVE | NONE,
            "color": NONE,
            "tension_only": FLAG,
        },
    ),
    description(
        "String.hanging",
        ROPE.hanging,
        {"start": (0, 0, 0), "end": (1.0, 0, 0), "gravity": (0, -9.81, 0)},
        {"start": VECTOR, "end": VECTOR, "gravity": VECTOR},
    ),
    description(
        "String.port_hamiltonian",
        ROPE.port_hamiltonian,
        {},
        {
            "dimension": COUNT,
            "gravity": VECTOR,
            "shape": SHAPE | {"3 x 3"},
            "velocity": SHAPE | VECTOR | {"3 x 3"},
            "start": REFUSED,
            "end": REFUSED,
        },
    ),
    *(
        description(law.__name__, law, {}, {"axial_stiffness": POSITIVE})
        for law in (ph.LinearLaw, ph.LogarithmicLaw, ph.StVenantKirchhoffLaw)
    ),
    description("Law", ph.Law, {"W": lambda C: 0.0, "dW": lambda C: 0.0}, {"W": NUMBER_FUNCTION, "dW": REFUSED}),
    description(
        "Potential",
        ph.Potential,
        {"energy": lambda x: 0.0, "slope": lambda x: 0.0},
        {"energy": NUMBER_FUNCTION, "slope": REFUSED, "around": frozenset({"(1, 2)"})},
    ),
]
assert FINITE
