"""Derivatives of motions of laws that creep against differences of whole runs (docs/theory.md, 8; (8.39))."""

import numpy as np
import pytest
import skfem
from scipy.spatial.transform import Rotation

import phlexible as ph
from derivatives.whole_runs import by_differences

PARAMETERS = {"mass": 1.0, "stiffness": 1.0, "share": 1.0, "time": 0.03}
STEP, DURATION = 0.01, 0.1


def law(p, stiffness):
    return ph.Maxwell([(stiffness * p["share"], p["time"]), (0.3 * stiffness, 0.5)])


def springs(p):
    """A mass on a spring, and a wheel that hangs on it and winds a spring up; no other law."""
    model = ph.Model(dimension=2, gravity=(0, -9.81, 0))
    bob = model.add(ph.RigidBody(p["mass"], 0.01), "bob", position=(1.1, 0, 0), angular_velocity=(0, 0, 3.0))
    hook, stiffness = model.ground.at((0, 0, 0)), 100.0 * p["stiffness"]
    model.apply(ph.SpringDamper(hook, bob.origin, stiffness, 1.0, relaxation=law(p, 300.0)))
    wheel = model.add(ph.RigidBody(0.5, 0.02), "wheel", position=(1.1, 0, 0))
    model.apply(model.connect(ph.Revolute(bob.origin, wheel.origin)).spring(2.0, relaxation=law(p, 4.0)))
    return model, wheel.point((0.1, 0.2, 0))


def string(p):
    model = ph.Model(gravity=(0, 0, -9.81))
    rope = ph.String(0.5, 0.1 * p["mass"], 3, ph.LinearLaw(200.0 * p["stiffness"]), relaxation=law(p, 300.0))
    placed = model.add(rope, "rope", shape=lambda s: (1.2 * s, 0, 0))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), placed.start))
    return model, placed.end


def material(p):
    return ph.Material(4e7 * p["stiffness"], 1e3 * p["mass"], relaxation=law(p, 5e7))


def rod(p):
    model = ph.Model(gravity=(0, 0, -9.81))
    placed = model.add(ph.Rod(0.3, ph.RectangularSection(0.02, 0.01), material(p), elements=2), "rod")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), placed.start))
    return model, placed.end


def beam(p):
    """Of quadratic strains; it turns about an axis that is none of the world's."""
    model, turn = ph.Model(gravity=(0, 0, -9.81)), Rotation.from_rotvec((0.1, 0.2, 0.3))
    body = ph.Beam(0.3, ph.RectangularSection(0.02, 0.01), material(p), elements=2, frame="cantilever")
    placed = model.add(body, "beam", rotation=turn)
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), placed.start, axis=(0.3, 1, 0)))
    return model, placed.end


def soft(p):
    model = ph.Model(gravity=(0, 0, -9.81))
    corner = skfem.MeshTet(0.2 * np.eye(3, 4, 1), np.arange(4)[:, None])
    elastic = ph.NeoHookean(1e4 * p["stiffness"], 0.4)
    body = ph.SoftBody(corner, elastic, 1e3 * p["mass"], order=1, relaxation=law(p, 3e4))
    placed = model.add(body, "jelly", velocity=lambda x: (3 * x[1], 2 * x[2], x[0] - x[1]))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), placed.node(0)))
    return model, placed.node(3)


def tip_velocity(build, axis):
    """A function that builds the model, and one that reads the velocity of its tip along an axis."""
    tips = {}

    def made(p):
        model, tip = build(p)
        tips[id(model)] = tip
        return model

    return made, lambda model: ph.Velocity(tips[id(model)], axis)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("build", [springs, string, rod, beam, soft])
def test_gradients_are_differences_of_whole_runs(build):
    made, sensor = tip_velocity(build, (0.6, 0.8, 0.0) if build is springs else (0.48, 0.6, 0.64))

    def cost(model):
        return ph.Cost.final(sensor(model))

    _, slopes = ph.gradient(made, cost, PARAMETERS, duration=DURATION, step=STEP)
    wanted = by_differences(made, cost, PARAMETERS, DURATION, STEP)
    motion = made(PARAMETERS).simulate(DURATION, STEP, progress=False)
    forwards = motion.sensitivity(made, PARAMETERS, lambda model: [sensor(model)]).derivatives[0]
    assert [*slopes.values()] == pytest.approx(wanted, rel=1e-6)
    assert [forwards[name][-1] for name in slopes] == pytest.approx([*slopes.values()], rel=1e-7)
    assert np.abs(wanted).min() > 1e-5


def test_steps_of_several_sizes():
    made, sensor = tip_velocity(springs, (1, 0, 0))

    def cost(model):
        return ph.Cost.final(sensor(model))

    _, slopes = ph.gradient(made, cost, PARAMETERS, duration=0.055, step=STEP)
    assert [*slopes.values()] == pytest.approx(by_differences(made, cost, PARAMETERS, 0.055, STEP), rel=1e-6)


@pytest.mark.filterwarnings("ignore::phlexible.StepWarning")
def test_energies_of_laws_that_creep_are_refused():
    with pytest.raises(ph.ModelError, match="energies of viscoelastic laws and bristles have no derivatives"):
        total = ph.Cost.final(ph.EnergyOf("total"))
        ph.gradient(lambda p: string(p)[0], lambda model: total, PARAMETERS, duration=DURATION, step=STEP)
