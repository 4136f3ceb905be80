"""Links whose length is a function of time, and ropes that do not push, against closed forms."""

import pickle

import numpy as np
import pytest

import phlexible as ph

FALL = 9.81


def hanging(length, position=(0.0, 0.0, -3.0), gravity=FALL, **known):
    model = ph.Model(gravity=(0, 0, -gravity))
    load = model.add(ph.PointMass(2.0), "load", position=position, **known)
    link = model.connect(ph.Distance(model.ground.at((0, 0, 0)), load.origin, length=length, name="hoist"))
    return model, load, link


def lifted(speed):
    return hanging(lambda t: 3.0 - speed * t)[0]


def test_a_hoist_supplies_what_the_weight_gains_and_survives_files_and_pickles(tmp_path):
    motion = pickle.loads(pickle.dumps(hanging(lambda t: 3.0 - 0.5 * t)[0])).simulate(2.0, 0.01)
    np.testing.assert_allclose(motion.velocity(motion.run.mechanism["load"].origin)[0], (0, 0, 0.5), atol=1e-12)
    np.testing.assert_allclose(motion.energy.work["hoist"][-1], 2.0 * FALL * 1.0, rtol=1e-12)
    motion.save(tmp_path / "hoist.h5")
    loaded = ph.Motion.load(tmp_path / "hoist.h5")
    np.testing.assert_allclose(loaded.reaction(loaded.run.mechanism.joints[0])[-1], (0, 0, 2.0 * FALL), rtol=1e-5)


def test_a_shortened_pendulum_keeps_its_angular_momentum():
    model, bob, _ = hanging(lambda t: 1.0 - 0.3 * np.sin(t) ** 2, (1.0, 0, 0), gravity=0.0, velocity=(0, 0.7, 0))
    motion = model.simulate(1.5, 0.01)
    x, v, energy = motion.position(bob.origin), motion.velocity(bob.origin), motion.energy
    np.testing.assert_allclose(np.cross(x, v)[:, 2], 0.7, rtol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(x[-1]), 1.0 - 0.3 * np.sin(1.5) ** 2, rtol=1e-13)
    np.testing.assert_allclose(energy.supplied, energy.total - energy.total[0], atol=1e-13)


def test_gradients_batches_and_the_papers_equations_take_a_hoist():
    def height(model):
        return ph.Cost.final(ph.Position(model["load"].origin), lambda place: place[:, 2])

    value, slope = ph.gradient(lambda given: lifted(**given), height, {"speed": 0.5}, duration=0.2, step=0.02)
    np.testing.assert_allclose((value, slope["speed"]), (-2.9, 0.2), rtol=1e-9)
    runs = ph.batch(lifted, {"speed": [0.1, 0.2, 0.3, 0.4]}).simulate(
        0.2, 0.02, lambda model: {"place": ph.Position(model["load"].origin)}
    )
    np.testing.assert_allclose(runs["place"][:, -1, 2], -3.0 + 0.2 * np.array([0.1, 0.2, 0.3, 0.4]), rtol=1e-12)
    model, load, _ = hanging(lambda t: np.sqrt(9.25) - 0.5 * t, (0.5, 0, -3.0))
    form = ph.MechanismModel(model)
    states = ph.integrate(form, form.initial_state, None, 0.2, 0.01).states
    end = model.simulate(0.2, 0.01).position(load.origin)[-1]
    np.testing.assert_allclose(states[-1][:3], end, atol=1e-4)


@pytest.mark.parametrize(
    ("length", "said"),
    [
        (lambda t: 2.0, "distance is off by 1 m"),
        (lambda t: 3.0 - 6.0 * t, "length of hoist must be positive, got 0.0 at t = 0.5 s"),
        (lambda t: 3.0 if t < 0.2 else 2.0, "length of hoist jumps from 3 to 2 at t = 0.2 s"),
        (lambda t: np.nan, "length of hoist at t = 0 must be finite"),
        (-1.0, "length must be positive"),
    ],
)
def test_lengths_that_are_none_are_refused(length, said):
    with pytest.raises((ph.ParameterError, ph.JointGapError), match=said):
        hanging(length)[0].simulate(1.0, 0.01)


@pytest.mark.parametrize("damping", [0.0, 100.0])
def test_a_rope_is_slack_until_it_catches_and_never_pushes(damping):
    model = ph.Model(gravity=(0, 0, -FALL))
    load = model.add(ph.PointMass(2.0), "load", position=(0, 0, -1.0))
    link = ph.Distance(model.ground.at((0, 0, 0)), load.origin, length=2.0)
    rope = model.apply(link.spring(1e4, damping=damping, tension_only=True))
    motion = model.simulate(1.0, 1e-3)
    time, height, energy = motion.time, motion.position(load.origin)[:, 2], motion.energy
    falls = time < np.sqrt(2.0 / FALL)
    np.testing.assert_allclose(height[falls], -1.0 - FALL / 2 * time[falls] ** 2, rtol=1e-13)
    assert (motion.element_force(rope) <= 0).all()
    np.testing.assert_allclose(energy.total + energy.dissipated - energy.total[0], 0.0, atol=1e-12)
    weight, k = 2.0 * FALL, 1e4
    if damping:
        assert (np.diff(energy.dissipated) >= 0).all() and energy.dissipated[-1] > 5.0
        assert height.max() <= -1.0
    else:  # m g (1 + d) = k d^2 / 2
        deepest = (weight + np.sqrt(weight**2 + 2 * k * weight)) / k
        np.testing.assert_allclose(height.min(), -2.0 - deepest, atol=2e-5)
    np.testing.assert_allclose(model.equilibrium().position(load.origin)[2], -2.0 - weight / k, rtol=1e-9)


def test_a_string_that_goes_slack_carries_no_compression():
    model = ph.Model(gravity=(0, 0, -FALL))
    rope = ph.String(2.0, 5e-3, 4, ph.LinearLaw(1e4), viscosity=1e-3, tension_only=True)
    placed = model.add(rope, "rope", shape=((0, 0, 0), (0, 0, -1.0)))
    load = model.add(ph.PointMass(2.0), "load", position=(0, 0, -1.0))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), placed.start))
    model.connect(ph.Spherical(placed.end, load.origin))
    motion = model.simulate(0.7, 1e-3)
    time, height, energy = motion.time, motion.position(load.origin)[:, 2], motion.energy
    free = -1.0 - FALL / 2 * time**2
    np.testing.assert_allclose(height[time < 0.4], free[time < 0.4], atol=1e-4)
    assert motion.tension(placed).min() >= 0 and motion.tension(placed).max() > 300
    assert height.min() > -2.1
    np.testing.assert_allclose(energy.total + energy.dissipated, energy.total[0], atol=1e-11)


def test_what_a_rope_cannot_be_is_refused():
    model = ph.Model()
    load = model.add(ph.PointMass(2.0), "load", position=(0, 0, -1.0))
    ends = model.ground.at((0, 0, 0)), load.origin
    with pytest.raises(ph.ParameterError, match=r"a spring has a constant length.*ph\.Tendon\("):
        ph.Distance(*ends, length=lambda t: 1.0).spring(1e3)
    with pytest.raises(ph.ParameterError, match="tension_only needs stiffness"):
        ph.SpringDamper(*ends, damping=1.0, tension_only=True)
    with pytest.raises(ph.ParameterError, match="without relaxation"):
        ph.String(1.0, 1.0, 2, ph.LinearLaw(1e3), tension_only=True, relaxation=ph.Maxwell((1.0, 1.0)))
