"""Steps have the order that their scheme declares: halving a small step divides errors by two to its power."""

from itertools import pairwise

import numpy as np
import pytest

import phlexible as ph
from laws.models import Wishes, random_mechanism
from phlexible.step.integration.composition import SUBSTEPS

STEPS = 24
H_OMEGA = 0.3
SHAKE = 2e-4  # of a body's length, about the way that the extra load moves it in a step
GROUNDS = ["free", "fixed"]


def ports(model):
    return [
        port
        for placed in model.bodies
        for port in ([placed.start, placed.end] if isinstance(placed.body, ph.Beam) else [placed.origin])
    ]


def orders(results):
    """log2 of the ratio of the last two changes between results whose steps are halved."""
    changes = [np.linalg.norm(b - a) for a, b in pairwise(results)]
    return np.log2(changes[-2] / changes[-1])


def shaken(sample):
    """The sample with one more load, which changes fast enough to show when in a step it is taken."""
    body = sample.model.bodies[0]
    size = body.data.mass * sample.scale.length * (SHAKE / sample.step) ** 2
    rate = 0.2 / sample.step
    force = ph.Force(body.origin, lambda time: (size * np.sin(rate * time), size * np.cos(rate * time), 0))
    sample.model.apply(force)
    return sample


def halved(sample):
    return [
        sample.model.simulate(
            STEPS * sample.step, sample.step / 2**k, initial=sample.initial, every=STEPS * 2**k // 4, progress=False
        )
        for k in range(4)
    ]


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(k, marks=pytest.mark.thorough) for k in (2, 3))])
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("dimension", [2, 3])
def test_positions_projected_velocities_and_reactions_are_of_order_two(dimension, ground, seed):
    """Random mechanisms of two to four bodies, so that joints are between moving bodies.

    Reactions are taken within the run, where steps before and after take part.
    """
    wishes = Wishes(dimension, H_OMEGA, ground, gravity=True, loads=2, flexible=seed % 2 == 0)
    motions = halved(shaken(random_mechanism(seed, wishes)))
    here = motions[0].mechanism
    positions = [np.array([m.position(port)[-1] for port in ports(here)]) for m in motions]
    velocities = [np.array([m.velocity(port)[-1] for port in ports(here)]) for m in motions]
    assert 1.9 <= orders(positions) <= 2.1
    reactions = [m.recording.multipliers[1:-1] for m in motions]
    assert 1.9 <= orders(velocities) <= 2.1
    assert 1.85 <= orders(reactions) <= 2.15


@pytest.mark.parametrize("order", [order for order in SUBSTEPS if order > 2])
def test_composed_steps_have_the_order_of_their_shares(order):
    """Positions and projected velocities of a double pendulum of spherical joints."""
    model = ph.Model(gravity=(0, 0, -9.81))
    one = model.add(ph.RigidBody(1.0, (0.02, 0.05, 0.06), center=(0.5, 0.1, 0)))
    two = model.add(ph.RigidBody(0.7, (0.01, 0.03, 0.03), center=(0.3, 0, 0.1)), position=(1, 0, 0))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), one.origin))
    model.connect(ph.Spherical(one.point((1, 0, 0)), two.origin))
    model.apply(ph.SpringDamper(one.point((0.2, 0.2, 0)), two.point((0.3, 0, 0.1)), 20.0))
    found = []
    for step in (0.05, 0.025, 0.0125):
        motion = model.simulate(1.0, step, order=order, progress=False)
        found.append(np.concatenate([motion.position(two.origin)[-1], motion.velocity(two.origin)[-1]]))
        assert np.abs(motion.energy.balance_error).max() < 1e-12
    assert orders(found) == pytest.approx(order, abs=0.15)
