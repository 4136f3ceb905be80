"""Contact among many: closed forms, exact energy and momenta, the distance itself, pairs that nobody misses."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.step.assembly import families as contact_groups
from refusals import refused


def capsule(model, name, place, turn, length=1.0, **moving):
    """A rigid rod with round ends about its middle."""
    half = (length / 2, 0, 0)
    body = model.add(ph.RigidBody(2.0, (0.01, 0.3, 0.3)), name, position=place, rotation=turn, **moving)
    return ph.Capsule(body.point(tuple(-np.array(half))), body.point(half), 0.05), body


def test_crossed_capsules_push_as_the_impact_of_two_levers():
    """At a quarter of both lengths: v_n turns round, by an impulse 2 v_n / (2/m + 2 a^2/J)."""
    model, arm, speed = ph.Model(), 0.25, 2.0
    one, first = capsule(model, "one", (0, 0, 0), np.eye(3))
    other, second = capsule(
        model, "other", (arm, arm, 0.1001), Rotation.from_euler("z", 90, degrees=True), velocity=(0, 0, -speed)
    )
    model.apply(ph.Contact([one], [other], radius=0.05, stiffness=1e9, restitution=1))
    motion = model.simulate(0.002, 1e-4, progress=False)
    impulse = 2 * speed / (2 / 2.0 + 2 * arm**2 / 0.3)
    assert motion.velocity(second.origin)[-1, 2] == pytest.approx(-speed + impulse / 2.0, rel=2e-3)
    assert motion.angular_velocity(first)[-1] == pytest.approx([0, impulse * arm / 0.3, 0], rel=3e-3, abs=2e-3)
    assert np.ptp(motion.energy.total) <= 1e-12


def test_the_distance_of_pieces_is_the_least_over_both():
    """Of random pieces that overlap: energy of the law at the least of (8.32) in docs/theory.md, 8."""
    rng = np.random.default_rng(5)
    for _ in range(12):
        model = ph.Model()
        ends = rng.normal(size=(2, 2, 3))
        if rng.integers(2):  # parallel pieces
            ends[1] = ends[0] + rng.normal(size=3) * 0.3

        def squared(q, ends=ends):
            s, t = q
            u, v = ends[:, 1] - ends[:, 0]
            e = ends[0, 0] - ends[1, 0] + s * u - t * v
            return e @ e + 1e-4 * (u @ u * (s - 0.5) ** 2 + v @ v * (t - 0.5) ** 2)

        starts = [(s, t) for s in (0.0, 0.5, 1.0) for t in (0.0, 0.5, 1.0)]
        found = [minimize(squared, q, bounds=[(0, 1)] * 2, tol=1e-15, options={"gtol": 1e-13}) for q in starts]
        least = np.sqrt(min(each.fun for each in found))
        bodies = [model.add(ph.RigidBody(1.0, (1, 1, 1)), position=each.mean(axis=0)) for each in ends]
        pieces = [
            ph.Capsule(*(body.point(end - each.mean(axis=0)) for end in each), 0.51 * least)
            for body, each in zip(bodies, ends, strict=True)
        ]
        model.apply(ph.Contact(pieces, radius=1.0, stiffness=1e4))
        motion = model.simulate(1e-6, 1e-6, progress=False)
        assert motion.energy.spring[0] == pytest.approx(0.5e4 * (0.02 * least) ** 2, rel=1e-9)


@pytest.mark.parametrize("angle", [90.0, 3.0, 0.0])
def test_rods_that_fall_on_each_other_keep_energy_and_momenta(angle):
    model, rod = ph.Model(), ph.Rod(1.0, ph.CircularSection(0.04), ph.Material(1e8, 1000.0), elements=6)
    one = model.add(rod, "one", position=(-0.5, 0, 0))
    turn = Rotation.from_euler("z", angle, degrees=True)
    place = np.array([0.03, 0.01, 0.05]) - turn.apply([0.5, 0, 0])
    other = model.add(rod, "other", position=place, rotation=turn, velocity=(0, 0, -1.0))
    contacts = model.apply(ph.Contact([one], [other], radius=0.02, stiffness=1e5, restitution=1))
    motion = model.simulate(0.1, 5e-3, progress=False)
    assert motion.contact_steps[-1] > 0 and motion.energy.kinetic.min() < 0.999 * motion.energy.kinetic[0]
    assert np.ptp(motion.energy.total) <= 1e-12
    assert np.ptp(motion.momentum.linear, axis=0) == pytest.approx(0, abs=1e-14)
    assert np.ptp(motion.momentum.angular, axis=0) == pytest.approx(0, abs=1e-14)
    assert motion.iterations[-1] <= 8 * motion.contact_steps[-1]
    again = model.replace().simulate(0.1, 5e-3, progress=False)
    assert np.array_equal(again.recording.position, motion.recording.position)
    refused(ph.ModelError, "no force along a coordinate", lambda: motion.element_force(contacts))


@pytest.mark.filterwarnings("ignore::phlexible.errors.SlackStringWarning")
@pytest.mark.filterwarnings("ignore::phlexible.errors.StepWarning")
def test_pairs_near_each_other_give_the_digits_of_all_pairs(monkeypatch):
    """Fast balls and a rope, steps in which they fly further than they are wide."""

    def model():
        rng, made = np.random.default_rng(3), ph.Model()
        rope = made.add(ph.String(2.0, 0.1, 20, ph.LinearLaw(1e3)), "rope", position=(-1, 0, 0.3))
        places = 0.25 * np.stack(np.meshgrid(np.arange(8) - 4, np.arange(5) - 2, [0]), -1).reshape(-1, 3)
        balls = [made.add(ph.PointMass(1.0), position=x, velocity=40 * rng.normal(size=3)) for x in places]
        made.apply(ph.Contact([*(ball.origin for ball in balls), rope], radius=0.05, stiffness=1e5, restitution=1))
        return made

    motions = [model().simulate(0.02, 4e-3, progress=False)]
    monkeypatch.setattr(contact_groups, "SKIN", 1e12)
    motions.append(model().simulate(0.02, 4e-3, progress=False))
    assert motions[0].contact_steps[-1] > 100
    for name in ("position", "velocity", "contact_steps", "iterations"):
        assert np.array_equal(*(getattr(each.recording, name) for each in motions)), name
    assert np.ptp(motions[0].energy.total) <= 1e-12 * motions[0].energy.total[0]


@pytest.mark.filterwarnings("ignore::phlexible.errors.UnusedPartWarning")
def test_what_is_no_contact_group_is_refused_by_name():
    model = ph.Model()
    one = model.add(ph.PointMass(1.0), "one")
    other = model.add(ph.PointMass(1.0), "other", position=(0.1, 0, 0))
    with pytest.raises(ph.ModelError, match=r"starts 0.1 m deep, one.origin and other.origin"):
        model.apply(ph.Contact([one.origin, other.origin], radius=0.1, stiffness=1.0))
    refused(ph.ModelError, "no pairs of bodies", lambda: ph.Contact([one.origin], radius=0.1, stiffness=1.0))
    with pytest.raises(ph.ModelError, match="second is missing; give what one.origin can touch"):
        ph.Contact(one.origin, radius=0.1, stiffness=1.0)
    with pytest.raises(ph.ModelError, match=r"takes ports, bodies, surfaces or lists of them, got 3"):
        ph.Contact([one.origin, 3], radius=0.1, stiffness=1.0)
    with pytest.raises(ph.ParameterError, match="contact between points and lines needs a thickness"):
        ph.Contact([one.origin, other.origin], stiffness=1.0)
    with pytest.raises(ph.ParameterError, match="drilling needs friction; give friction=, too"):
        ph.Contact([one.origin, other.origin], radius=0.1, drilling=0.5)
    with pytest.raises(ph.ModelError, match=r"one.origin and other.origin have no orientation"):
        ph.Contact([one.origin, other.origin], radius=0.1, stiffness=1.0, friction=0.1)
    with pytest.raises(ph.ParameterError, match="moves as a function of time"):
        ph.Contact([one.origin, model.ground.moving(lambda t: (t, 0.0, 0.0))], radius=0.1, stiffness=1.0)
    near = model.apply(ph.Contact([one.origin, other.origin], radius=0.01, stiffness=1.0, damping=0.1))
    refused(ph.ModelError, "lossless models", lambda: model.simulate(0.1, 1e-2, order=4))
    assert str(near) == "Contact(2 parts)"
