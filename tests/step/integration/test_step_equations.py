"""Derivatives of the equations of a step by dual numbers, against differences: of every family of forces, at rest.

At rest, and where nothing has changed, derivatives get lost without a trace: products with zeros that are left out,
quotients that have a limit but no derivative in their code.
"""

import numpy as np
import pytest

import phlexible as ph
from laws.cases import LAW_CASES, SOFT_LAWS, Scale, random_soft_body, random_string
from mechanisms import grounded
from phlexible.derivatives.variations import Variation, move, pose_sizes, pose_tangents, strain_indices
from phlexible.state.initial_state import initial_state
from phlexible.state.system import system_of
from phlexible.step.integration.step_equations import StepEquations
from phlexible.step.tables.declarations import BRISTLE
from step.kernels.newton import Newton

SCALE, STEP, DAMPING, SHARE = Scale(1.0, 0.01, 1000.0, 1e7), 1e-3, 0.1, 2e-4
POTENTIAL = ph.Potential(lambda x: 40 * np.cosh(x), lambda x: 40 * np.sinh(x))
RELAXATION = ph.Maxwell([(300.0, 0.03), (100.0, 0.5)])


def string(law):
    rng, model = np.random.default_rng(2), ph.Model()
    body = random_string(rng, SCALE, 3, law=LAW_CASES[law](10.0), relaxation=RELAXATION, elements=2)
    placed = model.add(body, shape=lambda s: (1.2 * s, 0.0, 0.0))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), placed.start))
    return model


def soft(law):
    model = ph.Model()
    body = random_soft_body(np.random.default_rng(3), SCALE, 3, law=SOFT_LAWS[law](1e6, 0.3), relaxation=RELAXATION)
    placed = model.add(body)
    if law is ph.NeoHookean:
        model.apply(ph.Pressure(placed, 1e3))
    return model


def sheet(law):
    model = ph.Model(dimension=2)
    model.add(random_soft_body(np.random.default_rng(3), SCALE, 2, law=SOFT_LAWS[law](1e6, 0.3), plane="stress"))
    return model


def springs():
    model = ph.Model()
    bob = model.add(ph.RigidBody(1.0, (0.01, 0.02, 0.03)), position=(1.1, 0, 0))
    fixed = model.ground.at((0, 0, 0))
    model.apply(ph.SpringDamper(fixed, bob.origin, 100.0, 1.0, potential=POTENTIAL, relaxation=RELAXATION))
    wheel = model.add(ph.RigidBody(0.5, (0.02, 0.03, 0.04)), position=(1.1, 0, 0))
    joint = model.connect(ph.Revolute(bob.origin, wheel.origin, axis=(0, 0.6, 0.8)))
    model.apply(joint.spring(2.0))
    model.apply(joint.friction(0.1, coefficient=0.2, radius=0.1, bristle=30.0))
    model.apply(ph.Force(bob.point((0, 0.1, 0)), (1.0, 2.0, 3.0), axes="body"))
    return model


def rod():
    model = ph.Model()
    material = ph.Material(4e7, 1e3, relaxation=RELAXATION)
    placed = model.add(ph.Rod(0.3, ph.RectangularSection(0.02, 0.01), material, elements=2))
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), placed.start))
    return model


def contact(bristle):
    """A box that rests on four corners, in two of which restitution acts."""
    model = ph.Model()
    floor = ph.Plane(model.ground.at((0, 0, 0)), normal=(0, 0, 1))
    box = model.add(ph.RigidBody.box((0.2, 0.2, 0.1), 500.0), position=(0, 0, 0.0499))
    for x in (-0.1, 0.1):
        for y in (-0.1, 0.1):
            loss = {"restitution": 0.5} if x < 0 else {"damping": 1.0}
            model.apply(ph.Contact(box.point((x, y, -0.05)), floor, 1e5, friction=0.3, bristle=bristle, **loss))
    return model


def drum():
    model, pulley, _ = grounded(ph.RigidBody(0.5, (1e-3, 1e-3, 1e-3)), ph.Revolute, axis=(0, 1, 0))
    ball = model.add(ph.RigidBody.sphere(0.05, 500.0), position=(0.0, 0.0, 0.1499))
    surface = ph.Surface(pulley.origin, ph.Cylinder(0.1, 0.2, axis=(0, 1, 0)))
    model.apply(ph.Contact(ball.origin, surface, 1e4, friction=0.3, radius=0.05, bristle=1e4))
    return model


def crowd():
    model = ph.Model()
    floor = ph.Plane(model.ground.at((0, 0, 0)), normal=(0, 0, 1))
    balls = [model.add(ph.RigidBody.sphere(0.05, 500.0), position=(0.0998 * k, 0, 0.0499)) for k in range(2)]
    model.apply(ph.Contact([*balls, floor], stiffness=1e4, friction=0.3, damping=1.0, rolling=0.01, drilling=0.01))
    return model


def wheel():
    """A cylinder aslant on a floor, which touches it at the lowest point of a rim."""
    model = ph.Model()
    floor = ph.Plane(model.ground.at((0, 0, 0)), normal=(0, 0, 1))
    turned = ((1.0, 0.0, 0.0), (0.0, 0.8, -0.6), (0.0, 0.6, 0.8))
    body = model.add(ph.RigidBody.cylinder(0.05, 0.1, 500.0), position=(0, 0, 0.0698), rotation=turned)
    model.apply(ph.Contact(body, floor, stiffness=1e4, friction=0.3, damping=1.0))
    return model


def planks():
    """A plank that lies across another: edges cross flat sides, and what is deepest is in the middle of them."""
    model = ph.Model()
    for height, turn in ((0.02, np.eye(3)), (0.0599, ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)))):
        model.add(ph.RigidBody.box((0.5, 0.08, 0.04), 500.0), position=(0, 0, height), rotation=turn)
    model.apply(ph.Contact(model.bodies, stiffness=1e4, friction=0.3, damping=1.0))
    return model


MODELS = {
    "joints and a beam": lambda: ph.gallery.four_bar(),
    **{f"string of {law.__name__}": lambda law=law: string(law) for law in LAW_CASES},
    **{f"soft body of {law.__name__}": lambda law=law: soft(law) for law in SOFT_LAWS},
    "sheet of NeoHookean": lambda: sheet(ph.NeoHookean),
    "springs": springs,
    "rod": rod,
    "box that creeps": lambda: contact(None),
    "box that sticks": lambda: contact(1e5),
    "ball that sticks to a drum": drum,
    "balls among many": crowd,
    "wheel": wheel,
    "plank across another": planks,
}


@pytest.mark.parametrize("is_moving", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_derivatives_are_differences(name, is_moving):
    """Of the equations and of what laws remember, along pose, velocities, multipliers and what they remember."""
    model, rng = MODELS[name](), np.random.default_rng(1)
    system = system_of(model)
    newton = Newton(model, initial_state(system), STEP)
    memory, layout = newton.memory, system.layout
    pair = np.stack([memory.state] * 2)
    rows = memory.rows(pair)
    rows["velocity"][:] = 0.0
    sizes = pose_sizes(system, system.largest_length, memory["velocity_weight"])
    if is_moving:
        rows["velocity"][:] = 1e-2 * sizes * rng.normal(size=(2, len(sizes)))
    direction, places = np.zeros_like(pair), strain_indices(newton.assembly)
    changes, along = 1e-3 * sizes * rng.normal(size=(3, len(sizes))), memory.rows(direction)
    along["velocity"][:] = changes[1:] / STEP
    along["multiplier"][1] = rng.normal(size=newton.rows)
    direction[0, places] = 1e-3 * rng.normal(size=len(places))
    bristles = memory.rows(direction)["bristle"].reshape(2, -1, BRISTLE)
    bristles[:, :, 2:] = 0.0  # bristles stay in their planes, and normals that are not yet known stay so
    tangents = np.zeros((len(sizes), pair.shape[1]))
    pose_tangents(layout, memory.rows(pair[:1]), memory.rows(tangents))
    equations = StepEquations(memory, DAMPING)
    moving, loads = np.stack([memory["moving0"], memory["moving1"]]), memory["load_value"]
    whole = direction.copy()
    whole[0] += changes[0] @ tangents

    def result(share):
        """Equations, and what laws remember, of a state beside this one."""
        beside = pair + share * direction
        move(layout, memory.rows(beside[:1]), Variation(share * changes[:1], np.zeros((1, len(sizes)))))
        missed, end = equations.residual(beside[None], np.array([STEP]), moving, loads, with_ends=True)
        return missed[0], end[0, places]

    missed, ends = equations.derivative(pair, STEP, moving, loads, whole[None])
    assert np.abs(missed).max() > 0
    for k, exact in enumerate((missed[0], ends[0, places])):
        near, far = (result(m * SHARE)[k] - result(-m * SHARE)[k] for m in (1, 2))
        differences = (8 * near - far) / (12 * SHARE)
        round_off = 4e-16 * np.abs(result(0.0)[k]).max(initial=0.0) / SHARE
        np.testing.assert_allclose(
            exact, differences, atol=1e-8 * np.abs(exact).max(initial=0.0) + round_off, rtol=0
        )
