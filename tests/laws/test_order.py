"""Steps have the order that their scheme declares: halving a small step divides errors by four, not three."""

from itertools import pairwise

import numpy as np
import pytest

import phlexible as ph
from laws.models import Wishes, random_mechanism

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
    """The motions with H_OMEGA and three halvings of the step."""
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
