"""Contact with round and cornered shapes and pieces of lines, friction of what turns: closed forms, momenta."""

import numpy as np
import pytest

import phlexible as ph

G = 9.81


def ball_of(mass=2.0, radius=0.1):
    return ph.RigidBody(mass, (0.4 * mass * radius**2,) * 3)


def test_a_ball_that_slides_begins_to_roll_with_five_sevenths_of_its_speed():
    """Whatever the friction: the angular momentum about a point of the plane is conserved."""
    model = ph.Model(gravity=(0, 0, -G))
    ball = model.add(ball_of(), "ball", position=(0, 0, 0.1 - 2 * G / 1e5), velocity=(1.0, 0.5, 0))
    plane = ph.Plane(model.ground.at((0, 0, 0)))
    model.apply(ph.Contact(ball.origin, plane, stiffness=1e5, radius=0.1, friction=0.2))
    motion = model.simulate(0.7, 5e-3, progress=False)
    assert motion.velocity(ball.origin)[-1] == pytest.approx([5 / 7, 2.5 / 7, 0], abs=1e-9)
    assert motion.angular_velocity(ball)[-1] == pytest.approx([-25 / 7, 50 / 7, 0], abs=1e-8)
    assert motion.energy.dissipated[-1] == pytest.approx(1.25 / 7 * 2, rel=1e-9)


def surfaces(model):
    ground = model.ground
    return {
        "sphere": (ph.Surface(ground.at((0, 0, 0)), ph.Sphere(0.2)), 0.2),
        "cylinder": (ph.Surface(ground.at((0, 0, 0)), ph.Cylinder(0.2, 1.0)), 0.2),
        "edge of a box": (ph.Surface(ground.at((-0.3, -0.2, 0)), ph.Box((0.6, 0.4, 1.0))), 0.0),
        "end of a piece": (ph.Capsule(ground.at((-1, 0, 0)), ground.at((0, 0, 0)), 0.2), 0.2),
    }


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("name", ["sphere", "cylinder", "edge of a box", "end of a piece"])
def test_a_ball_that_meets_a_normal_of_45_degrees_flies_off_at_a_right_angle(name, dimension):
    """Without loss and without friction the velocity is mirrored."""
    model = ph.Model(dimension=dimension)
    surface, radius = surfaces(model)[name]
    place = ((radius + 0.1) / np.sqrt(2), 1.0, 0)
    ball = model.add(ph.PointMass(1.0), "ball", position=place, velocity=(0, -2.0, 0))
    model.apply(ph.Contact(ball.origin, surface, stiffness=1e9, radius=0.1, restitution=1))
    motion = model.simulate(1.0, 1e-2, progress=False)
    assert motion.velocity(ball.origin)[-1] == pytest.approx([2.0, 0, 0], abs=5e-3)
    assert np.ptp(motion.energy.total) <= 1e-11


@pytest.mark.parametrize(("friction", "factor"), [(0.0, 1.0), (0.5, 7 / 5)])
@pytest.mark.parametrize("shape", [ph.Sphere(0.3), ph.Cylinder(0.3, 1.0)])
def test_a_ball_in_a_bowl_swings_as_a_pendulum_and_slower_where_it_rolls(shape, friction, factor):
    """Period 2 pi sqrt((R - r) / g), times sqrt(7/5) of a ball that rolls."""
    model, angle = ph.Model(gravity=(0, -G, 0)), 0.05
    depth = 2 * G / 1e5
    reach = 0.2 + depth
    ball = model.add(ball_of(), "ball", position=(reach * np.sin(angle), -reach * np.cos(angle), 0))
    bowl = ph.Surface(model.ground.at((0, 0, 0)), shape, inside=True)
    model.apply(ph.Contact(ball.origin, bowl, stiffness=1e5, radius=0.1, friction=friction))
    motion = model.simulate(1.5, 1e-2, progress=False)
    x, t = motion.position(ball.origin)[:, 0], motion.time
    k = np.flatnonzero(x[:-1] * x[1:] < 0)
    zeros = t[k] - x[k] * (t[k + 1] - t[k]) / (x[k + 1] - x[k])
    period = 2 * np.pi * np.sqrt(reach / G * factor) * (1 + angle**2 / 16)
    assert 2 * np.diff(zeros).mean() == pytest.approx(period, rel=3e-3)


def test_what_cannot_touch_is_refused_by_name():
    model = ph.Model()
    ball, ground = model.add(ball_of(), "ball"), model.ground.at((0, 0, 0))
    with pytest.raises(ph.ParameterError, match="friction needs the point of contact on the surface"):
        ph.Contact(ball.origin, ground, stiffness=1.0, radius=0.1, friction=0.2)
    with pytest.raises(ph.ModelError, match=r"starts 0.2 m deep at ball.origin"):
        model.apply(ph.Contact(ball.origin, ph.Surface(ground, ph.Cylinder(0.2, 1.0)), stiffness=1.0))
    with pytest.raises(ph.ModelError, match="coincide"):
        ph.Capsule(ground, model.ground.at((0, 0, 0)), 0.1)
    with pytest.raises(ph.ModelError, match="shape must be one such as Sphere"):
        ph.Surface(ground, ph.Plane(ground))
    with pytest.raises(ph.ModelError, match="has center=; leave it out"):
        ph.Surface(ground, ph.Sphere(0.1, center=(0, 0, 1)))
    with pytest.raises(ph.ModelError, match="ball has no shape for contacts"):
        ph.Contact(ball, ph.Plane(ground), stiffness=1.0)
    plane = ph.Model(dimension=2)
    disc = plane.add(ph.PointMass(1.0), "disc", position=(1, 0, 0))
    with pytest.raises(ph.ParameterError, match="must be z in the plane"):
        pipe = ph.Cylinder(0.1, 1.0, axis=(1, 0, 0))
        plane.apply(ph.Contact(disc.origin, ph.Surface(plane.ground.at((0, 0, 0)), pipe), stiffness=1.0))


@pytest.mark.parametrize(
    ("gap", "values"),
    [
        ("edge", [0.7, -0.5, 0.9]),
        ("face", [0.7, 0.1, -0.2]),
        ("piece", [2.0, 0.6, 1.5]),
        ("end of a piece", [4.0, 2.0, 1.5]),
    ],
)
def test_slopes_and_curvatures_of_gaps_are_those_of_their_values(gap, values):
    """Of shapes with corners and of pieces of lines, from their functions, against differences."""
    model = ph.Model()
    one, other = (model.add(ball_of(), name, position=(k, 0.2, 0.3)) for k, name in enumerate(("one", "other")))
    surface = ph.Surface(one.origin, ph.Box((0.6, 0.4, 1.0)))
    if "piece" in gap:
        surface = ph.Capsule(one.origin, one.point((0, 1.0, 0)), 0.1)
    coordinate, y, step = surface.gaps(other.origin, 3)[0].coordinate, np.array(values), 1e-5
    assert len(coordinate.functions()) == len(y)
    sides = [(y + step * axis, y - step * axis) for axis in np.eye(len(y))]
    slopes = [(coordinate.value(up) - coordinate.value(down)) / (2 * step) for up, down in sides]
    curves = [(coordinate.gradient(up) - coordinate.gradient(down)) / (2 * step) for up, down in sides]
    assert coordinate.gradient(y) == pytest.approx(np.array(slopes), abs=1e-8)
    assert coordinate.hessian(y) == pytest.approx(np.array(curves), abs=1e-8)
