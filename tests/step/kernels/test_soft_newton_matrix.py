"""Newton's matrix of soft bodies is the derivative of their equations: all laws, viscosity, pressure, joints."""

import numpy as np
import pytest
import skfem

import phlexible as ph
from phlexible.state.initial_velocity import undeformed
from phlexible.state.system import system_of
from step.kernels.newton import Newton, largest_slope_error

MOONEY = ph.InvariantLaw(
    (lambda I: 4.0 * (I - 3), lambda I: 4.0 + 0 * I),
    (lambda I: 2.0 * (I - 3), lambda I: 2.0 + 0 * I),
    (lambda I: 5.0 * np.log(I) ** 2 - 8.0 * np.log(I), lambda I: (10.0 * np.log(I) - 8.0) / I),
)
TETRAHEDRA, TRIANGLES = skfem.MeshTet.init_tensor(*[np.linspace(0, 1, 2)] * 3), skfem.MeshTri()
SHEET = {"thickness": 0.1}
CASES = {
    "Venant": (TETRAHEDRA, ph.StVenantKirchhoff(30.0, 0.3), {}),
    "neo-Hookean": (skfem.MeshHex(), ph.NeoHookean(30.0, 0.3), {"viscosity": 0.02}),
    "Mooney": (TETRAHEDRA, MOONEY, {"order": 1}),
    "membrane": (TRIANGLES, ph.NeoHookean(30.0, 0.4), SHEET),
    "incompressible": (TRIANGLES, ph.NeoHookean(30.0, 0.5), SHEET),
    "Venant's membrane": (skfem.MeshQuad(), ph.StVenantKirchhoff(30.0, 0.3), SHEET),
    "plane strain": (TRIANGLES, MOONEY, {**SHEET, "plane": "strain"}),
}


@pytest.mark.parametrize("case", CASES)
def test_soft_bodies(case):
    mesh, law, options = CASES[case]
    body = ph.SoftBody(mesh, law, density=3.0, interfaces={"all": lambda x: x[0] > -1}, **options)
    model = ph.Model(gravity=(0, 0, -9.0))
    bend = np.array([[1.2, 0.1, 0.0], [0.0, 0.9, 0.2], [0.1, 0.0, 1.1]])
    placed = model.add(body, "body", shape=lambda x: bend @ x + [0, 0, 0.1 * x[0] ** 2])
    rigid = model.add(ph.RigidBody(2.0, (1, 2, 2.5)), "rigid", position=(0.3, 0.2, 0.1))
    model.connect(ph.Spherical(rigid.point((0.1, 0.2, 0.3)), placed.node(0)))
    model.connect(ph.Distance(rigid.origin, placed["all"]))
    model.apply(ph.Pressure(placed, lambda t: 7.0))
    system, rng = system_of(model), np.random.default_rng(3)
    newton = Newton(model, undeformed(system), 0.05, 0.1)
    assert largest_slope_error(newton, rng.normal(size=newton.velocities + newton.rows)) <= 1e-12
