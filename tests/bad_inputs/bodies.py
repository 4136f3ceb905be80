"""Descriptions: materials, sections, bodies, laws."""

import numpy as np
from skfem import MeshQuad, MeshTri

import phlexible as ph
from bad_inputs.outcomes import call_of
from bad_inputs.usual import COUNT, FINITE, MATRIX, NONE, POSITIVE, REFUSED, VECTOR, VECTOR_FUNCTION
from bad_inputs.wrong_values import ROD, ROPE, STEEL

SHEET, SIDES, SMALL = dict(thickness=0.1, material=STEEL), dict(length=1.0, width=1.0), {"0"}
SHAPE, ROUND = NONE | VECTOR_FUNCTION, ph.CircularSection(0.01)


def made(kind, good, names=None, /, ends="(?!)", **takes):
    """A class, or a method of something that is described, under its own name."""
    return call_of(kind.__qualname__, lambda s: kind, lambda s: good, names, takes, ends=ends)


BODIES = [
    made(ph.Material, dict(youngs_modulus=2e11, density=7800.0)),
    made(ph.Maxwell, dict(branches=[(1.0, 0.1)])),
    made(ph.CircularSection, dict(diameter=0.1)),
    made(ph.RectangularSection, dict(width=0.1, height=0.1)),
    made(ph.Section, dict(area=1e-4, second_moment_y=1e-8)),
    made(ph.VaryingSection, dict(stations=(0.0, 1.0), sections=2 * [ROUND])),
    made(
        ph.GeneralSection,
        dict(stiffness=np.eye(6), mass=np.diag([1.0, 1.0, 1.0, 2.0, 1.0, 1.0])),
        stiffness=REFUSED,
        mass=REFUSED,
    ),
    made(ph.LumpedMass, dict(x=0.0, mass=1.0), x=FINITE),
    made(ph.Beam, dict(length=1.0, section=ROUND, material=STEEL), modes=COUNT | NONE | {"2 x 2", "3 x 3"}),
    made(
        ph.Plate,
        dict(length=1.0, width=1.0, thickness=0.1, material=STEEL, elements=(1, 1), modes=1),
        elements=REFUSED,
    ),
    made(ROD.split, dict(parts=2), elements=COUNT | NONE),
    made(ph.Beam(1.0, ROUND, STEEL, elements=3).craig_bampton_basis, dict(modes=1), modes=COUNT),
    made(ph.Beam(1.0, ROUND, STEEL, elements=1, frame="cantilever").with_axial, dict(basis=np.eye(3), dimension=2)),
    made(ROD.port_hamiltonian, {}, ports=NONE | {"{}"}),
    made(ph.Cylinder, dict(radius=0.1, length=1.0)),
    made(ph.Sphere, dict(radius=0.1)),
    made(ph.Torus, dict(radius=9.0, tube_radius=0.02)),
    made(ph.PointMass, dict(mass=1.0)),
    made(ph.RigidBody, dict(mass=1.0, inertia=(1, 1, 1)), inertia=POSITIVE | VECTOR | {"3 x 3"}, center=VECTOR),
    made(ph.RigidBody.box, dict(size=(1.0, 1.0, 1.0), density=1.0), center=VECTOR),
    made(ph.RigidBody.cylinder, dict(radius=1, length=1, density=1), "radius length density axis", center=VECTOR),
    made(ph.RigidBody.sphere, dict(radius=1.0, density=1.0), "radius density", center=VECTOR),
    made(
        ph.RigidBody.from_stl,
        dict(path="there_is_no.stl", density=1.0),
        "path density scale",
        ends="path: cannot read there_is_no.stl",
    ),
    made(
        ph.RigidBody.from_mesh,
        dict(
            vertices=np.concatenate([np.zeros((1, 3)), np.eye(3)]),
            triangles=[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
            density=1.0,
        ),
    ),
    made(ph.Box, dict(size=(1.0, 1.0, 1.0))),
    made(ph.TriangleMesh, dict(vertices=np.eye(3), triangles=[[0, 1, 2]]), "", vertices=MATRIX, triangles=MATRIX),
    made(ph.Rod, dict(length=1.0, section=ROUND, material=STEEL, elements=2), order=COUNT),
    made(ph.Rod(1.0, ROUND, STEEL, 2).port_hamiltonian, {}, dimension=COUNT, velocity=SHAPE | VECTOR | {"3 x 3"}),
    *(made(law, dict(youngs_modulus=1e6, poissons_ratio=0.3)) for law in (ph.StVenantKirchhoff, ph.NeoHookean)),
    made(
        ph.InvariantLaw,
        dict(
            first=(lambda I: I - 3, lambda I: 1.0),
            second=(lambda I: I - 3, lambda I: 1.0),
            third=(lambda I: -3 * np.log(I) + 2 * np.log(I) ** 2, lambda I: (4 * np.log(I) - 3) / I),
        ),
        first=REFUSED,
        second=REFUSED,
    ),
    made(
        ph.OrthotropicMaterial,
        dict(youngs_modulus=1.0, transverse_modulus=1.0, shear_modulus=0.5, poissons_ratio=0.0, density=1.0),
    ),
    made(ph.Laminate, dict(layers=[(STEEL, 0.1, 0.0)]), layers=REFUSED, axis=NONE | VECTOR),
    made(ph.Shell, SHEET | dict(mesh=MeshQuad()), offset=SMALL),
    made(ph.Shell.plate, SHEET | SIDES, elements=REFUSED, offset=SMALL),
    made(ph.Shell.cylinder, SHEET | dict(radius=1.0, length=1.0, elements=(1, 4)), elements=REFUSED, offset=SMALL),
    made(ph.Shell.plate(1.0, 1.0, 0.1, STEEL, (2, 2)).flexible_body, dict(modes=1), modes=COUNT | {"0"}),
    made(ph.Shell.sphere, SHEET | dict(radius=1.0, elements=2), offset=SMALL),
    made(
        ph.Shell.of, SHEET | dict(surface=lambda u, v: (u, v, 0.0), elements=(1, 1)), elements=REFUSED, offset=SMALL
    ),
    made(
        ph.SoftBody,
        dict(mesh=MeshTri(), law=ph.NeoHookean(1e6, 0.3), density=1e3, thickness=0.1),
        order=COUNT,
        interfaces=NONE | {"{}", "()"},
    ),
    made(
        ph.String,
        dict(length=1.0, line_density=0.1, elements=2, law=ph.LinearLaw(1.0)),
        order=COUNT,
        diameter=POSITIVE | NONE,
    ),
    made(ROPE.hanging, dict(start=(0, 0, 0), end=(1.0, 0, 0), gravity=(0, -9.81, 0)), start=VECTOR, end=VECTOR),
    made(ROPE.port_hamiltonian, {}, dimension=COUNT, shape=SHAPE | {"3 x 3"}, velocity=SHAPE | VECTOR | {"3 x 3"}),
    *(made(law, {}) for law in (ph.LinearLaw, ph.LogarithmicLaw, ph.StVenantKirchhoffLaw)),
    made(ph.Law, dict(W=lambda C: 0.0, dW=lambda C: 0.0)),
    made(ph.Potential, dict(energy=lambda x: 0.0, slope=lambda x: 0.0)),
]
