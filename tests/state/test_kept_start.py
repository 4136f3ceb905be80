"""The start of a model is made once, and anew where what moves by itself begins in another way."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.state.initial_state import InitialKind, InitialStateCache
from phlexible.state.system import system_of

INERTIA, ARM = 0.1, 0.5


def rod_on_a_pin(speed: list[float]) -> ph.Model:
    """A rod of 1 kg whose end is moved across it."""
    model = ph.Model(dimension=2)
    rod = model.add(ph.RigidBody(1.0, INERTIA * np.eye(3)), "rod", position=(ARM, 0.0, 0.0))
    pin = model.ground.moving(
        lambda t: (0 * t, speed[0] * t, 0 * t), velocity=lambda t: (0 * t, speed[0] + 0 * t, 0)
    )
    model.connect(ph.Revolute(pin, rod.point((-ARM, 0.0, 0.0))))
    return model


def test_a_pin_that_begins_faster_makes_another_start():
    """Struck at its end a rod moves with the share J / (J + m r^2) of the speed there."""
    speed = [2.0]
    model = rod_on_a_pin(speed)
    for each in (2.0, 2.0, 3.0):
        speed[0] = each
        motion = model.simulate(1e-3, 1e-4, progress=False)
        assert motion.recording.velocity[0, 1] == pytest.approx(each * INERTIA / (INERTIA + ARM**2))


def test_the_start_of_a_system_is_made_once():
    system, kept = system_of(rod_on_a_pin([2.0])), InitialStateCache()
    first, second = (kept.of(system, InitialKind.UNDEFORMED)[0] for _ in range(2))
    assert second is first


def test_each_run_warns_of_redundant_joints():
    model = ph.gallery.bricard()
    for _ in range(2):
        with pytest.warns(ph.RedundancyWarning) as found:
            model.simulate(1e-3, 1e-3, progress=False)
        assert [each.filename for each in found] == [__file__]


@pytest.mark.parametrize("has_spring", [False, True])
def test_other_loads_make_another_deformed_start(has_spring):
    """A cantilever under a force at its tip bends by F L^3 / (3 E I + k L^3)."""
    force, stiffness = [1.0], 300.0 * has_spring
    model = ph.Model(dimension=2)
    beam = model.add(ph.Beam(1.0, ph.CircularSection(0.02), ph.Material(7e10, 2700.0), 2), "beam")
    model.connect(ph.Fixed(model.ground.at((0.0, 0.0, 0.0)), beam.start))
    model.apply(ph.Force(beam.end, lambda t: (0 * t, force[0] + 0 * t, 0 * t)))
    if has_spring:
        model.apply(ph.SpringDamper(model.ground.at((1.0, -1.0, 0.0)), beam.end, stiffness))
    for each in (1.0, 1.0, 3.0):
        force[0] = each
        motion = model.simulate(1e-3, 1e-3, initial="quasi_static", progress=False)
        bent = each / (3 * 7e10 * np.pi * 0.02**4 / 64 + stiffness)
        assert motion.elastic_displacement(beam.end)[0, 1] == pytest.approx(bent, rel=1e-5)
