"""What a model keeps from run to run: its numbers, as long as it stays as it is."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.state.system import SystemCache
from phlexible.step.integration import schemes


def crank(start):
    model = ph.Model(dimension=2)
    rod = model.add(ph.RigidBody(1.0, 0.1 * np.eye(3)), "rod", position=(1.0, 0.0, 0.0))
    pin = model.ground.moving(lambda t: (start[0] + 0 * t, 0 * t, 0 * t))
    model.connect(ph.Revolute(pin, rod.origin))
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
