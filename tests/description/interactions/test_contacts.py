"""Contact among many: closed forms, exact energy and momenta, distances, pairs that nobody misses, resistances."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.step.assembly import families as contact_groups
from refusals import refused


def capsule(model, name, place, turn, length=1.0, **moving):
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
    refused(ph.ModelError, "no pairs of bodies", lambda: ph.Contact([one.origin], radius=0.1, stiffness=1.0))
    with pytest.raises(ph.ModelError, match="second is missing; give what one.origin can touch"):
        ph.Contact(one.origin, radius=0.1, stiffness=1.0)
    with pytest.raises(ph.ModelError, match=r"takes ports, bodies, surfaces or lists of them, got 3"):
        ph.Contact([one.origin, 3], radius=0.1, stiffness=1.0)
    with pytest.raises(ph.ParameterError, match="contact between points and lines needs a thickness; give radius="):
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
    motion = model.simulate(1e-3, 1e-3, progress=False)
    refused(ph.ModelError, "no force along a coordinate", lambda: motion.element_force(near))


GRAVITY = 9.81
TURNS = {"friction": 0.3, "bristle": 2e4, "rolling": 2e-3}


def lists(is_searched, one, other, **law):
    """A contact of two, or one of the same as lists."""
    return ph.Contact([one], [other], **law) if is_searched else ph.Contact(one, other, **law)


RESISTANCES = ({}, {"rolling": 2e-3}, {"drilling": 1e-2}, {"rolling": 2e-3, "drilling": 1e-2})


def free_balls(**law):
    """Three balls that fly at each other, resist turns and lose speed; ``tests/fuzz`` holds them to all laws."""
    model = ph.Model()
    small, large = (ph.RigidBody.sphere(radius, 1000.0) for radius in (0.05, 0.07))
    bodies = [model.add(small, velocity=(0.3, 0, 0), angular_velocity=(3.0, 1.0, 5.0))]
    for place in ((0.13, 0.03, 0.02), (0.2, 0.12, 0.1)):
        bodies.append(model.add(large, position=place, velocity=(-0.3, 0.1, 0), angular_velocity=(-3, 2, 8.0)))
    law = {"friction": 0.3, "restitution": 0.7, "static_friction": 0.4, **law}
    model.apply(ph.Contact(bodies, stiffness=2e3, **law))
    return model


def heap(**law):
    """A pyramid of fourteen balls that fall on each other and on a floor, and part."""
    model, rng = ph.Model(gravity=(0, 0, -GRAVITY)), np.random.default_rng(3)
    body, places = ph.RigidBody.sphere(0.02, 2000.0), []
    for layer in range(3):
        side = np.arange(3 - layer) - (2 - layer) / 2
        places += [(0.042 * x, 0.042 * y, 0.021 + 0.031 * layer) for x in side for y in side]
    balls = [model.add(body, position=np.array(place) + rng.uniform(-4e-4, 4e-4, 3)) for place in places]
    model.apply(ph.Contact([*balls, ph.Plane(model.ground.at((0, 0, 0)))], stiffness=5e3, friction=0.5, **law))
    return model


def test_a_heap_with_resistance_to_rolling_comes_to_rest():
    fastest = []
    for law in ({"rolling": 2e-3, "drilling": 5e-3}, {}):
        motion = heap(restitution=0.3, **law).simulate(1.5, 2e-3, every=10, progress=False)
        fastest.append(np.linalg.norm(motion.recording.velocity[-1].reshape(-1, 6)[:, :3], axis=1).max())
    assert fastest[0] < 1e-4
    assert fastest[1] > 0.05


def test_laws_of_turns_are_refused_where_nothing_turns():
    model = ph.Model()
    point, box = model.add(ph.PointMass(1.0), "point"), model.add(ph.RigidBody.box((0.1, 0.1, 0.1), 500.0), "box")
    floor = ph.Plane(model.ground.at((0, 0, -1)))
    law = {"stiffness": 1.0, "rolling": 0.1}
    with pytest.raises(ph.ParameterError, match="rolling needs friction; give friction=, too"):
        ph.Contact([point.origin], [floor], radius=0.1, **law)
    with pytest.raises(ph.ParameterError, match="rolling needs spheres that can rotate; leave it out"):
        ph.Contact([point.origin, box], [floor], friction=0.1, **law)
    with pytest.raises(ph.ParameterError, match="restitution takes the place of damping"):
        ph.Contact([box], [floor], restitution=0.1, damping=1.0)


def test_equilibria_and_linear_models_have_the_laws_of_pairs():
    """As of a contact of two: a ball on a slope that resistance to rolling holds, and its modes."""
    found = []
    for is_searched in (False, True):
        model = ph.Model(gravity=(0.2, 0, -GRAVITY))
        body = ph.RigidBody.sphere(0.05, 1000.0)
        sunk = 0.05 - body.mass * GRAVITY / 2e4  # where friction holds from the start
        ball = model.add(body, "ball", position=(0, 0, sunk))
        law = {**TURNS, "stiffness": 2e4, "restitution": 0.5, "drilling": 1e-2}
        model.apply(lists(is_searched, ball, ph.Plane(model.ground.at((0, 0, 0))), **law))
        rest = model.equilibrium()
        modes = model.linearize(about=rest).modes()
        # of equal modes any may be first
        found.append([*np.sort(modes.frequencies), *np.sort(modes.damping_ratios)])
        motion = model.simulate(0.05, 1e-3, initial=rest, progress=False)
        assert np.abs(motion.velocity(ball.origin)[-1]).max() < 1e-2  # it settles, and does not roll away
    assert found[1] == pytest.approx(found[0], rel=1e-9)


@pytest.mark.parametrize("is_searched", [False, True])
def test_what_rests_rolls_or_slides_steadily_takes_no_parts_and_a_hit_takes_them(is_searched):
    """Its forces stay what they are, in steps of any length; a ball that falls on it is resolved."""
    model, body = ph.Model(gravity=(0, 0, -GRAVITY)), ph.RigidBody.sphere(0.05, 1000.0)
    stiffness = 1e5
    low = 0.05 - body.mass * GRAVITY / stiffness
    rolls = {"velocity": (0.5, 0, 0), "angular_velocity": (0, 0.5 / low, 0)}
    floor = ph.Plane(model.ground.at((0, 0, 0)))
    balls = [
        model.add(body, position=(0, 1.0 * k, low), **moving)
        for k, moving in enumerate(({"velocity": (0, 0, 0)}, rolls, {"velocity": (5.0, 0, 0)}))
    ]
    for ball in balls:
        model.apply(lists(is_searched, ball, floor, stiffness=stiffness, friction=0.2, bristle=stiffness))
    motion = model.simulate(0.2, 1e-2, progress=False)
    assert motion.contact_steps[-1] <= 80  # where the third begins to slide; 16 each step if all is resolved
    assert motion.velocity(balls[2].origin)[-1, 0] == pytest.approx(5.0 - 0.2 * GRAVITY * 0.2, rel=1e-3)
    assert motion.velocity(balls[1].origin)[-1, 0] == pytest.approx(0.5, rel=1e-3)
    assert np.ptp(motion.position(balls[0].origin)[:, 2]) <= 1e-9
    seen = []
    for step in (1e-2, 1e-4):
        model = ph.Model(gravity=(0, 0, -GRAVITY))
        falls = model.add(body, position=(0, 0, 0.06), velocity=(0, 0, -1.0))
        model.apply(lists(is_searched, falls, ph.Plane(model.ground.at((0, 0, 0))), stiffness=stiffness))
        motion = model.simulate(0.03, step, progress=False)
        seen.append(motion.velocity(falls.origin)[-1, 2])
    assert seen[0] == pytest.approx(seen[1], abs=2e-3)
