"""Derivatives of readings over time, the direct way."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.derivatives import sensitivity
from phlexible.derivatives.parameters import Recipe
from phlexible.state.initial_state import InitialKind


def pendulum(p):
    """A point on a massless rod, from rest, with small swings."""
    model = ph.Model(gravity=(0, -p["gravity"], 0), dimension=2)
    start = 1e-4 * p["length"]
    bob = model.add(ph.PointMass(1.0), "bob", position=(start, -np.sqrt(p["length"] ** 2 - start**2), 0))
    model.connect(ph.Distance(model.ground.at((0, 0, 0)), bob.origin))
    return model


def place(model):
    return ph.Position(model["bob"].origin)


def test_a_swing_answers_to_gravity_and_length_as_its_closed_form():
    """x = 1e-4 L cos(w t) with w = sqrt(g / L): dx/dg = -1e-4 L t sin(w t) w / 2g."""
    p = {"gravity": 9.81, "length": 2.0}
    motion = pendulum(p).simulate(duration=2.0, step=1e-3)
    found = motion.sensitivity(pendulum, p, place)
    t, w = motion.time, np.sqrt(9.81 / 2.0)
    assert found.readings[0] == pytest.approx(motion.position(motion["bob"].origin), rel=1e-12)
    to_gravity, to_length = found.derivatives[0]["gravity"][:, 0], found.derivatives[0]["length"][:, 0]
    assert to_gravity == pytest.approx(-2e-4 * t * np.sin(w * t) * w / (2 * 9.81), abs=2e-10)
    assert to_length == pytest.approx(1e-4 * (np.cos(w * t) + t * w / 2 * np.sin(w * t)), abs=1e-9)


def test_other_motions_are_refused():
    p = {"gravity": 9.81, "length": 2.0}
    motion = pendulum(p).simulate(duration=0.1, step=1e-2)
    with pytest.raises(ph.ParameterError, match="began with another position"):
        motion.sensitivity(pendulum, {**p, "length": 2.1}, place)
    with pytest.raises(ph.ParameterError, match="do not give this motion again"):
        motion.sensitivity(pendulum, {**p, "gravity": 9.0}, place)
    with pytest.raises(ph.ParameterError, match="do not give this motion again"):
        pendulum(p).simulate(duration=0.1, step=1e-2, every=2).sensitivity(pendulum, p, place)


def test_steps_that_a_motion_holds_are_not_taken_again(monkeypatch):
    """Multipliers and forces of each step follow from their means; all else is recorded."""

    def build(p):
        model = ph.gallery.crank_slider(elements=2, crank_speed=p["speed"])
        model.apply(ph.SpringDamper(model.ground.at((0.6, 0.1, 0)), model["slider"].origin, p["stiffness"], 0.5))
        return model

    def middle(model):
        return ph.Displacement(model["coupler"].at(0.15), (0, 1, 0))

    p = {"speed": 150.0, "stiffness": 40.0}
    motion = build(p).simulate(duration=4e-3, step=5e-5)
    taken = []
    take_again = sensitivity._repeated_run
    monkeypatch.setattr(sensitivity, "_repeated_run", lambda *given: taken.append(given) or take_again(*given))
    recorded = motion.sensitivity(build, p, middle).derivatives[0]
    assert not taken
    monkeypatch.setattr(sensitivity, "logged_run", lambda *given: None)
    again = motion.sensitivity(build, p, middle).derivatives[0]
    assert len(taken) == 1
    for name in p:
        assert recorded[name] == pytest.approx(again[name], rel=1e-9, abs=1e-9 * np.abs(again[name]).max())


def test_models_beside_one_another_share_what_is_equal(monkeypatch):
    """Numbers of bodies, the elimination, tables of integers: those of a damper's model are those of a new one."""

    def build(p):
        model = ph.gallery.chain(8, elements=2)
        model.apply(model.joints[1].damper(p["damping"]))
        return model

    recipe = Recipe(build, InitialKind.UNDEFORMED, lambda model: [], "cost")
    own, calls = recipe.build_model({"damping": 1e-3}), []
    monkeypatch.setattr(ph.Beam, "discretize", lambda *given: calls.append(given))
    other = recipe.build_model({"damping": 2e-3}, own)
    monkeypatch.undo()
    alone, found = recipe.build_model({"damping": 2e-3}).assembly.memory, other.assembly.memory
    assert not calls
    assert found.system_tables["visit_node"] is own.assembly.memory.system_tables["visit_node"]
    assert all(np.array_equal(found[name], table) for name, table in alone.system_tables.items())
    longer = Recipe(lambda p: ph.gallery.chain(9, elements=2), InitialKind.UNDEFORMED, lambda model: [], "cost")
    assert longer.build_model({}, own).assembly.memory.counts["frames"] == 9
