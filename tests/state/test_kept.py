"""Numbers and starts of a system are made once, and anew after each change."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.state.initial_state import InitialKind, InitialStateCache
from phlexible.state.system import SystemCache, system_of
from phlexible.step.integration import schemes


def crank(start):
    model = ph.Model(dimension=2)
    rod = model.add(ph.RigidBody(1.0, 0.1 * np.eye(3)), "rod", position=(1.0, 0.0, 0.0))
    model.connect(ph.Revolute(model.ground.moving(lambda t: (start[0] + 0 * t, 0 * t, 0 * t)), rod.origin))
    return model, rod


def test_numbers_are_made_once_and_anew_after_each_change():
    model, rod = crank([1.0])
    kept = SystemCache()
    systems = [kept.of(model)]
    assert kept.of(model) is systems[0]
    model.apply(ph.Force(rod.origin, (1.0, 0.0, 0.0)))
    systems.append(kept.of(model))
    model.connect(ph.Distance(model.ground.at((0, 0, 0)), rod.point((0.5, 0, 0))))
    systems.append(kept.of(model))
    assert len({id(system) for system in systems}) == 3
    assert kept.of(model) is systems[-1]
    assert [len(system.loads) for system in systems] == [0, 1, 1]


def test_a_frame_that_starts_elsewhere_makes_new_numbers():
    start = [1.0]
    model, rod = crank(start)
    model.connect(ph.Distance(model.joints[0].first, rod.point((0.5, 0, 0))))  # as long as it is at t = 0
    kept = SystemCache()
    first = kept.of(model).owners[-1].row.constant
    start[0] = 0.75
    assert kept.of(model).owners[-1].row.constant != first


def test_runs_of_one_model_and_of_its_copy_have_the_same_digits():
    model = ph.gallery.crank_slider(modes=3)
    first = model.simulate(1e-3, 1e-4)
    second = model.simulate(1e-3, 1e-4)
    fresh = ph.gallery.crank_slider(modes=3).simulate(1e-3, 1e-4)
    for other in (second, fresh):
        assert np.array_equal(first.run.recording.velocity, other.run.recording.velocity)
        assert np.array_equal(first.run.recording.multipliers, other.run.recording.multipliers)


def test_a_potential_that_reads_another_number_acts_in_the_next_run(monkeypatch):
    """Tables with functions of users are made for each run, and once for it."""
    stiffness, made, assemble = [1.0], [], schemes.assemble
    monkeypatch.setattr(schemes, "assemble", lambda system: made.append(system) or assemble(system))
    model = ph.Model(dimension=2)
    slider = model.add(ph.RigidBody(1.0, 1.0), "slider", velocity=(1.0, 0.0, 0.0))
    rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), slider.origin))
    potential = ph.Potential(lambda x: stiffness[0] * x**2 / 2, lambda x: stiffness[0] * x)
    model.apply(rail.spring(0.0, potential=potential))
    for stiffness[0] in (1.0, 4.0):
        motion = model.simulate(0.5, 1e-2, progress=False)
        rate = np.sqrt(stiffness[0])
        assert motion.position(slider.origin)[-1, 0] == pytest.approx(np.sin(rate * 0.5) / rate, rel=1e-4)
    assert len(made) == 2


INERTIA, ARM = 0.1, 0.5


def rod_on_a_pin(speed: list[float]) -> ph.Model:
    """A rod of 1 kg whose end is moved across it."""
    model = ph.Model(dimension=2)
    rod = model.add(ph.RigidBody(1.0, INERTIA * np.eye(3)), "rod", position=(ARM, 0.0, 0.0))
    velocity = lambda t: (0 * t, speed[0] + 0 * t, 0)  # noqa: E731
    pin = model.ground.moving(lambda t: (0 * t, speed[0] * t, 0 * t), velocity=velocity)
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


def test_a_start_is_made_anew_when_a_constant_of_a_function_changes():
    speed = 1.0

    def path(time):
        return 1.0 + speed * time, 0.0 * time, 0.0 * time

    def initial_speed():
        return model.start(1e-3).state.velocity[0]

    model = ph.Model(dimension=2)
    stone = model.add(ph.PointMass(1.0), "stone", position=(1.0, 0.0, 0.0))
    model.connect(ph.Spherical(model.ground.moving(path), stone.origin))
    assert [initial_speed(), initial_speed()] == pytest.approx([1.0, 1.0], rel=1e-6)
    speed = 2.0
    assert initial_speed() == pytest.approx(2.0, rel=1e-6)
