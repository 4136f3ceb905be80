"""Meshes of triangles that touch: boxes as meshes, valleys, rest, turned axes, what is refused."""

import numpy as np
import pytest

import phlexible as ph

GRAVITY = 9.81


def mesh(shape):
    surface = shape.centred()
    return ph.TriangleMesh(surface.vertices, surface.triangles)


def body(shape, density=500.0):
    return ph.RigidBody.from_mesh(shape.vertices, shape.triangles, density)


def groove(angle):
    """A block whose upper side has a valley along y, both sides of it inclined by an angle."""
    outline = np.array([[-1.0, -0.5], [1.0, -0.5], [1.0, np.tan(angle)], [0.0, 0.0], [-1.0, np.tan(angle)]])
    places = np.array([[x, y, z] for y in (1.0, -1.0) for x, z in outline])
    cap = np.array([[0, 1, 3], [1, 2, 3], [0, 3, 4]])
    sides = [[k, (k + 1) % 5, k + 5] for k in range(5)] + [[(k + 1) % 5, (k + 1) % 5 + 5, k + 5] for k in range(5)]
    return ph.TriangleMesh(places, np.concatenate([cap[:, ::-1], cap + 5, sides]))


def test_heights_over_a_mesh_are_those_over_its_box():
    size, w = np.array([0.3, 0.2, 0.1]), np.random.default_rng(0).uniform(-0.16, 0.16, (500, 3))
    tree = mesh(ph.Box(size)).tree()
    q = np.abs(w) - size / 2
    out = np.linalg.norm(np.maximum(q, 0.0), axis=1)
    is_near = out < 0.04 * tree.size
    assert is_near.sum() > 100
    exact = np.where(out > 0, out, q.max(axis=1))
    assert tree.signed_distances(w)[is_near] == pytest.approx(exact[is_near], abs=1e-14)


@pytest.mark.parametrize(
    ("place", "velocity", "close"),
    [
        ((0.03, 0.02, 0.2), (0.1, 0.05, -1.0), 1e-12),
        ((0.16, 0.01, 0.2), (0, 0, -1.0), 1e-3),
        ((0.0, 0.0, 0.2), (0, 0, -1.0), 1e-12),
    ],
    ids=["side", "edge", "above the middle of a diagonal"],
)
def test_a_ball_on_a_mesh_of_a_box_moves_as_on_the_box(place, velocity, close):
    """Sides that are alone have the same digits; edges are rounded by 1/3000 of the radius."""
    found = []
    for shape in (ph.Box((0.3, 0.2, 0.1)), mesh(ph.Box((0.3, 0.2, 0.1)))):
        model = ph.Model(gravity=(0, 0, -GRAVITY))
        ball = model.add(ph.RigidBody.sphere(0.05, 500.0), position=place, velocity=velocity)
        model.apply(ph.Contact([ball], ph.Surface(model.ground.at((0, 0, 0)), shape), stiffness=1e5, friction=0.3))
        motion = model.simulate(0.3, 2e-3, progress=False)
        assert motion.contact_steps[-1] > 0
        found.append(motion.position(ball.origin)[-1])
    assert found[1] == pytest.approx(found[0], abs=close)


def test_a_ball_on_a_mesh_of_a_box_rests_and_swings_as_on_the_box():
    """Within a side: rest, frequencies, and a run from there stays."""
    found = []
    for shape in (ph.Box((0.3, 0.2, 0.1)), mesh(ph.Box((0.3, 0.2, 0.1)))):
        model = ph.Model(gravity=(0, 0, -GRAVITY))
        ball = model.add(ph.RigidBody.sphere(0.05, 500.0), position=(0.03, 0.02, 0.1))
        table = ph.Surface(model.ground.at((0, 0, 0)), shape)
        model.apply(ph.Contact([ball], table, stiffness=1e4, friction=0.3, bristle=8e3))
        rest = model.equilibrium()
        depth = ball.body.mass * GRAVITY / 1e4
        assert rest.position(ball.origin) == pytest.approx((0.03, 0.02, 0.1 - depth), abs=1e-12)
        motion = model.simulate(0.02, 1e-3, initial=rest.state, progress=False)
        assert np.abs(motion.recording.velocity).max() <= 1e-9
        found.append(model.linearize(about=rest).modes(6).frequencies)
    assert found[0][-1] == pytest.approx(np.sqrt(3.5 * 8e3 / ball.body.mass), rel=1e-9)
    assert found[1] == pytest.approx(found[0], rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("angle", [0.1, 0.8])
def test_a_ball_lies_in_a_valley_between_both_sides(angle):
    """The smooth distance pushes once, both sides share it: k (r - F) cos(angle) = m g, F = 2^(-1/3000) z cos."""
    model, stiffness, radius = ph.Model(gravity=(0, 0, -GRAVITY)), 1e4, 0.1
    ball = model.add(ph.RigidBody.sphere(radius, 500.0), "ball", position=(0, 0, radius / np.cos(angle)))
    model.apply(ph.Contact([ball], ph.Surface(model.ground.at((0, 0, 0)), groove(angle)), stiffness=stiffness))
    rest = model.equilibrium()
    x, y, z = rest.position(ball.origin)
    depth = ball.body.mass * GRAVITY / np.cos(angle) / stiffness
    assert (x, y) == pytest.approx([0, 0], abs=1e-12) and rest.is_stable
    assert 2 ** (-1 / 3000) * z * np.cos(angle) == pytest.approx(radius - depth, abs=1e-3 * depth)
    assert np.abs(model.simulate(0.02, 1e-3, initial=rest, progress=False).recording.velocity).max() <= 1e-9


@pytest.mark.parametrize(("kind", "carries"), [("box", 8), ("mesh", 12), ("drum", 48)])
def test_stacks_of_boxes_meshes_and_drums_have_equilibria(kind, carries):
    """Corners on the plane, places of both bodies between them; a run from there stays."""
    block = {
        "box": ph.RigidBody.box((0.1, 0.1, 0.1), 500.0),
        "mesh": body(mesh(ph.Box((0.1, 0.1, 0.1)))),
        "drum": ph.RigidBody.cylinder(0.05, 0.1, 500.0),
    }[kind]
    model, stiffness = ph.Model(gravity=(0, 0, -GRAVITY)), 2e3
    low, high = (model.add(block, position=(0, 0, z)) for z in (0.05, 0.15))
    floor = ph.Plane(model.ground.at((0, 0, 0)))
    model.apply(ph.Contact([low, high, floor], stiffness=stiffness, friction=0.4, restitution=1))
    below = 1 if kind == "drum" else 4  # a rim presses a plane once, others at corners
    rest, first = model.equilibrium(), 2 * block.mass * GRAVITY / stiffness / below
    sunk = [0.1 * k + 0.05 - rest.position(each.origin)[2] for k, each in enumerate((low, high))]
    assert sunk == pytest.approx([first, first + block.mass * GRAVITY / stiffness / carries], rel=1e-9)
    assert rest.is_stable and rest.slipped == ()
    up = stiffness / block.mass * np.linalg.eigvalsh([[below + carries, -carries], [-carries, carries]])
    squares = model.linearize(about=rest).modes(12).frequencies ** 2
    for square in up:
        assert np.abs(squares / square - 1).min() <= 1e-9
    assert np.abs(model.simulate(0.02, 1e-3, initial=rest.state, progress=False).recording.velocity).max() <= 1e-9


def test_meshes_that_are_no_solids_are_refused_by_name():
    open_one = mesh(ph.Box((1, 1, 1)))
    open_one = ph.TriangleMesh(open_one.vertices, np.asarray(open_one.triangles)[1:])
    ground = ph.Model().ground.at((0, 0, 0))
    words = "is not closed: 3 edges have no triangle on one side; contacts need"
    with pytest.raises(ph.ParameterError, match=words):
        ph.Surface(ground, open_one)
    with pytest.raises(ph.ParameterError, match="is 9.9998e-06 m thin, 7e-06 of its size"):
        ph.Surface(ground, mesh(ph.Box((1, 1, 1e-5))))
    with pytest.raises(ph.ModelError, match="outside of a TriangleMesh; leave out inside="):
        ph.Surface(ground, mesh(ph.Box((1, 1, 1))), inside=True)
    flat = ph.Model(dimension=2)
    with pytest.raises(ph.ParameterError, match="cannot touch in the plane"):
        disc = flat.add(ph.PointMass(1.0), position=(0, 2, 0))
        flat.apply(
            ph.Contact(disc.origin, ph.Surface(flat.ground.at((0, 0, 0)), mesh(ph.Box((1, 1, 1)))), radius=0.1)
        )
