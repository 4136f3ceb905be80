"""Large soft bodies have conjugate gradients in place of elimination (docs/theory.md, 5), with the same steps."""

import numpy as np
import pytest
from skfem import MeshTet

import phlexible as ph
from phlexible.state.system import system_of
from phlexible.step.assembly.assembly import assemble
from phlexible.step.integration import stepper
from phlexible.step.programs import LEAST_PRODUCTS, most_iterations

VENANT, NEO = ph.StVenantKirchhoff(1.7e7, 0.3), ph.NeoHookean(1.7e7, 0.3)


def cube(cells, law, joint=ph.Spherical, creep=None):
    """Held at z = 0 and sheared by its velocities."""
    line = np.linspace(0, 1, cells + 1)
    body = ph.SoftBody(
        MeshTet.init_tensor(line, line, line), law, 1100.0, order=1, viscosity=1e-4, relaxation=creep
    )
    model = ph.Model(gravity=(0, 0, -9.81))
    placed = model.add(body, "cube", velocity=lambda x: (30 * x[2], 0, 0))
    for number in body.points_where(lambda x: x[2] < 1e-9):
        node = placed.node(int(number))
        model.connect(joint(model.ground.at(node.initial_position()), node))
    return model


CREEP = ph.Maxwell([(5e7, 1e-3), (1e7, 0.1)])


@pytest.mark.parametrize(
    ("law", "joint", "creep"),
    [(NEO, ph.Spherical, CREEP), (VENANT, ph.Slider, None)],
    ids=["creeping, points", "lines"],
)
def test_newtons_method_ends_where_elimination_does(law, joint, creep, monkeypatch):
    """Places, multipliers and the ledger, with few iterations; of nodes on lines what their rows leave free."""
    model, found = cube(10, law, joint, creep), []
    for is_iterative in (True, False):
        if not is_iterative:
            monkeypatch.setattr(stepper, "most_iterations", lambda memory: 0)
        motion = model.simulate(2e-3, 1e-3, progress=False)
        found.append(motion.recording)
    assert found[0].position == pytest.approx(found[1].position, abs=1e-13)
    size = np.abs(found[1].multipliers).max()
    assert found[0].multipliers[1:] == pytest.approx(found[1].multipliers[1:], abs=1e-10 * size)
    assert (found[0].position != found[1].position).any()  # by another way
    assert found[0].iterations[-1] <= found[1].iterations[-1] + 5


def test_sizes_of_tables_choose():
    """Not small bodies, and none where a joint is between bodies or a spring is there."""
    model = cube(10, VENANT)
    assert most_iterations(assemble(system_of(model)).memory) > LEAST_PRODUCTS
    assert most_iterations(assemble(system_of(cube(7, VENANT))).memory) == 0
    node = model["cube"].node(500)
    stone = model.add(ph.PointMass(1.0), "stone", position=node.initial_position())
    model.connect(ph.Spherical(node, stone.origin))
    assert most_iterations(assemble(system_of(model)).memory) == 0
