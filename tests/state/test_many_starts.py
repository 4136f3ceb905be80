"""Starts of mechanisms of one structure: those that each has alone, and none where one needs a closer look."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.state.initial_state import InitialKind, InitialStateCache
from phlexible.state.many_starts import batched_starts
from phlexible.state.system import system_of


def crank_slider(length=0.3, speed=150.0):
    steel = ph.Material(youngs_modulus=2.0e11, density=7870.0)
    section = ph.CircularSection(diameter=6e-3)
    model = ph.Model(dimension=2)
    coupler = model.add(ph.Beam(length, section, steel, elements=4, modes=2), "coupler", position=(0.15, 0, 0))
    slider = model.add(ph.PointMass(0.033), "slider", position=(0.15 + length, 0, 0))
    pin = model.ground.moving(lambda t: (0.15 * np.cos(speed * t), 0.15 * np.sin(speed * t), 0.0 * t))
    model.connect(ph.Revolute(pin, coupler.start))
    model.connect(ph.Revolute(coupler.end, slider.origin))
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), slider.origin, axis=(1, 0, 0)))
    return model


def pendulum(height=0.0, gap=0.0, spin=2.0, slip=0.0):
    """Box on a pin in space; a second pin on its axis makes joints redundant."""
    model = ph.Model(gravity=(0, 0, -9.81))
    moving = {"velocity": (slip, spin / 2, 0), "angular_velocity": (0, 0, spin)}
    box = model.add(ph.RigidBody(1.0, (0.1, 0.2, 0.3)), "box", position=(0.5 + gap, 0, height), **moving)
    model.connect(ph.Revolute(model.ground.at((0, 0, height)), box.point((-0.5, 0, 0)), axis=(0, 0, 1)))
    return model


def hinged_twice():
    model = pendulum()
    model.connect(ph.Revolute(model.ground.at((0, 0, 1)), model["box"].point((-0.5, 0, 1)), axis=(0, 0, 1)))
    return model


@pytest.mark.parametrize(
    "models",
    [
        [crank_slider(length, speed) for length, speed in ((0.3, 150.0), (0.35, 150.0), (0.3, -40.0))],
        [pendulum(height, spin=spin) for height, spin in ((0.0, 2.0), (1.0, 2.0), (0.0, -1.0))],
    ],
)
def test_starts_are_those_of_each_mechanism_alone(models):
    systems = [system_of(model) for model in models]
    for model, start in zip(models, batched_starts(systems), strict=True):
        state, at, is_redundant = InitialStateCache().of(system_of(model), InitialKind.UNDEFORMED)
        assert start is not None
        assert start[2] is is_redundant is False
        for name in ("position", "rotation", "eta", "velocity"):
            expected = pytest.approx(getattr(state, name), rel=1e-12, abs=1e-13)
            assert getattr(start[0], name) == expected
            assert getattr(start[1], name)[0] == expected
        assert start[1].prescribed.frames == pytest.approx(at.prescribed.frames)


def test_open_joints_other_velocities_structures_and_redundant_joints_are_looked_at_alone():
    open_one, fast, plain, other = pendulum(gap=1e-3), pendulum(slip=1.0), pendulum(height=0.5), crank_slider()
    found = batched_starts([system_of(each) for each in (plain, open_one, fast, other, pendulum())])
    assert [start is None for start in found] == [False, True, True, True, False]
    assert batched_starts([system_of(hinged_twice()), system_of(hinged_twice())]) == [None, None]
