"""Descriptions: materials, sections, bodies, laws."""

import numpy as np
from skfem import MeshQuad, MeshTri

import phlexible as ph
from bad_inputs.outcomes import call_of
from bad_inputs.usual import COUNT, FINITE, MATRIX, NONE, POSITIVE, REFUSED, VECTOR, VECTOR_FUNCTION
from bad_inputs.wrong_values import ROD, ROPE, STEEL

SHEET, SIDES, SMALL = {"thickness": 0.1, "material": STEEL}, {"length": 1.0, "width": 1.0}, {"0"}
SHAPE = NONE | VECTOR_FUNCTION


def description(name, make, good, names=None, /, ends="(?!)", **takes):
    return call_of(name, lambda s: make, lambda s: good, names, takes, ends=ends)


def described(kind, good, names=None, /, **takes):
    """A class under its own name."""
    return description(kind.__qualname__, kind, good, names, **takes)


BODIES = [
    described(ph.Material, {"youngs_modulus": 2e11, "density": 7800.0}),
    described(ph.Maxwell, {"branches": [(1.0, 0.1)]}),
    described(ph.CircularSection, {"diameter": 0.1}),
    described(ph.RectangularSection, {"width": 0.1, "height": 0.1}),
    described(ph.Section, {"area": 1e-4, "second_moment_y": 1e-8}),
    described(ph.VaryingSection, {"stations": (0.0, 1.0), "sections": 2 * [ph.CircularSection(0.1)]}),
    described(
        ph.GeneralSection,
        {"stiffness": np.eye(6), "mass": np.diag([1.0, 1.0, 1.0, 2.0, 1.0, 1.0])},
        stiffness=REFUSED,
        mass=REFUSED,
    ),
    described(ph.LumpedMass, {"x": 0.0, "mass": 1.0}, x=FINITE),
    described(
        ph.Beam,
        {"length": 1.0, "section": ph.CircularSection(0.01), "material": STEEL},
        modes=COUNT | NONE | {"2 x 2", "3 x 3"},
    ),
    described(
        ph.Plate,
        {"length": 1.0, "width": 1.0, "thickness": 0.1, "material": STEEL, "elements": (1, 1), "modes": 1},
        elements=REFUSED,
    ),
    description("Beam.split", ROD.split, {"parts": 2}, elements=COUNT | NONE),
    description(
        "Beam.craig_bampton_basis",
        ph.Beam(1.0, ph.CircularSection(0.01), STEEL, elements=3).craig_bampton_basis,
        {"modes": 1},
        modes=COUNT,
    ),
    description(
        "Beam.with_axial",
        ph.Beam(1.0, ph.CircularSection(0.01), STEEL, elements=1, frame="cantilever").with_axial,
        {"basis": np.eye(3), "dimension": 2},
    ),
    description("Beam.port_hamiltonian", ROD.port_hamiltonian, {}, ports=NONE | {"{}"}),
    described(ph.Cylinder, {"radius": 0.1, "length": 1.0}),
    described(ph.Sphere, {"radius": 0.1}),
    described(ph.Torus, {"radius": 9.0, "tube_radius": 0.02}),
    described(ph.PointMass, {"mass": 1.0}),
    described(
        ph.RigidBody,
        {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)},
        inertia=POSITIVE | VECTOR | {"3 x 3"},
        center=VECTOR,
    ),
    described(ph.RigidBody.box, {"size": (1.0, 1.0, 1.0), "density": 1.0}, center=VECTOR),
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
    ),
    described(ph.Box, {"size": (1.0, 1.0, 1.0)}),
    described(
        ph.TriangleMesh, {"vertices": np.eye(3), "triangles": [[0, 1, 2]]}, "", vertices=MATRIX, triangles=MATRIX
    ),
    described(
        ph.Rod, {"length": 1.0, "section": ph.CircularSection(0.01), "material": STEEL, "elements": 2}, order=COUNT
    ),
    description(
        "Rod.port_hamiltonian",
        ph.Rod(1.0, ph.CircularSection(0.01), STEEL, 2).port_hamiltonian,
        {},
        dimension=COUNT,
        velocity=SHAPE | VECTOR | {"3 x 3"},
    ),
    *(
        described(law, {"youngs_modulus": 1e6, "poissons_ratio": 0.3})
        for law in (ph.StVenantKirchhoff, ph.NeoHookean)
    ),
    described(
        ph.InvariantLaw,
        {
            "first": (lambda I: I - 3, lambda I: 1.0),
            "second": (lambda I: I - 3, lambda I: 1.0),
            "third": (lambda I: -3 * np.log(I) + 2 * np.log(I) ** 2, lambda I: (4 * np.log(I) - 3) / I),
        },
        first=REFUSED,
        second=REFUSED,
    ),
    described(
        ph.OrthotropicMaterial,
        {
            "youngs_modulus": 1.0,
            "transverse_modulus": 1.0,
            "shear_modulus": 0.5,
            "poissons_ratio": 0.0,
            "density": 1.0,
        },
    ),
    described(ph.Laminate, {"layers": [(STEEL, 0.1, 0.0)]}, layers=REFUSED, axis=NONE | VECTOR),
    described(ph.Shell, SHEET | {"mesh": MeshQuad()}, offset=SMALL),
    description("Shell.plate", ph.Shell.plate, SHEET | SIDES, elements=REFUSED, offset=SMALL),
    description(
        "Shell.cylinder", ph.Shell.cylinder, SHEET | {"radius": 1.0, "length": 1.0}, elements=REFUSED, offset=SMALL
    ),
    description(
        "Shell.flexible_body",
        ph.Shell.plate(1.0, 1.0, 0.1, STEEL, (2, 2)).flexible_body,
        {"modes": 1},
        modes=COUNT | {"0"},
    ),
    description("Shell.sphere", ph.Shell.sphere, SHEET | {"radius": 1.0, "elements": 2}, offset=SMALL),
    description(
        "Shell.of",
        ph.Shell.of,
        SHEET | {"surface": lambda u, v: (u, v, 0.0), "elements": (1, 1)},
        elements=REFUSED,
        offset=SMALL,
    ),
    described(
        ph.SoftBody,
        {"mesh": MeshTri(), "law": ph.NeoHookean(1e6, 0.3), "density": 1e3, "thickness": 0.1},
        order=COUNT,
        interfaces=NONE | {"{}", "()"},
    ),
    described(
        ph.String,
        {"length": 1.0, "line_density": 0.1, "elements": 2, "law": ph.LinearLaw(1.0)},
        order=COUNT,
        diameter=POSITIVE | NONE,
    ),
    description(
        "String.hanging",
        ROPE.hanging,
        {"start": (0, 0, 0), "end": (1.0, 0, 0), "gravity": (0, -9.81, 0)},
        start=VECTOR,
        end=VECTOR,
    ),
    description(
        "String.port_hamiltonian",
        ROPE.port_hamiltonian,
        {},
        dimension=COUNT,
        shape=SHAPE | {"3 x 3"},
        velocity=SHAPE | VECTOR | {"3 x 3"},
    ),
    *(described(law, {}) for law in (ph.LinearLaw, ph.LogarithmicLaw, ph.StVenantKirchhoffLaw)),
    described(ph.Law, {"W": lambda C: 0.0, "dW": lambda C: 0.0}),
    described(ph.Potential, {"energy": lambda x: 0.0, "slope": lambda x: 0.0}),
]
assert FINITE
