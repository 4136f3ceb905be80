"""Laws of contacts among many that those of two have too: restitution, resistance to rolling and drilling."""

import numpy as np
import pytest

import phlexible as ph

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
    """Without it balls roll on."""
    fastest = []
    for law in ({"rolling": 2e-3, "drilling": 5e-3}, {}):
        motion = heap(restitution=0.3, **law).simulate(1.5, 2e-3, every=10, progress=False)
        assert np.abs(motion.energy.balance_error).max() <= 1e-12
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
