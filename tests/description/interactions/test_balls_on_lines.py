"""Balls on the nodes of lines: the pieces that meet there push once together (docs/theory.md, 8)."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.description.interactions.contact_members import far_ends
from phlexible.linear.sticking import PairsAtRest, RestEquations
from phlexible.state.initial_state import initial_state
from phlexible.state.system import system_of

STIFFNESS, REACH = 1e4, 0.06
pytestmark = pytest.mark.filterwarnings("ignore::phlexible.errors.SlackStringWarning")


def ball_on(nodes, place, **options):
    """A ball that touches a free string through nodes, shape (k, 3)."""
    model, lengths = ph.Model(), np.linalg.norm(np.diff(nodes, axis=0), axis=1)
    line = model.add(ph.String(float(lengths.sum()), 0.1, len(lengths), ph.LinearLaw(10.0)), "line", shape=nodes)
    velocity = options.pop("velocity", None)
    ball = model.add(ph.RigidBody.sphere(0.05, 500.0), "ball", position=place, velocity=velocity)
    return model, ball, model.apply(ph.Contact(ball, line, stiffness=STIFFNESS, radius=0.01, **options))


def straight(count):
    return np.stack([np.linspace(-0.5, 0.5, count + 1), *np.zeros((2, count + 1))], axis=1)


def bent(seed):
    """A zigzag of pieces that are long and short beside the ball."""
    return straight(20) + 0.03 * np.random.default_rng(seed).normal(size=(21, 3))


def stored(nodes, place, **options):
    return float(ball_on(nodes, place, **options)[0].simulate(1e-9, 1e-9, progress=False).energy.spring[0])


@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_a_straight_line_stores_the_same_wherever_a_ball_is(exponent):
    """At nodes, beside these and between; the ball reaches none or several nodes."""
    for count, depth in ((10, 5e-4), (100, 5e-3)):
        energy = STIFFNESS * depth ** (exponent + 1) / (exponent + 1)
        for x in (0.1, 0.1001, 0.102, 0.1049, 0.11, 0.125):
            found = stored(straight(count), (x, 0, REACH - depth), exponent=exponent)
            assert found == pytest.approx(energy, rel=1e-9)


def test_at_the_end_of_a_line_and_in_a_valley_each_piece_pushes():
    line = straight(10)
    assert stored(line, (-0.51, 0, 0.056)) == pytest.approx(STIFFNESS / 2 * (REACH - np.hypot(0.01, 0.056)) ** 2)
    line[:, 2] = np.abs(line[:, 0])  # the ball touches both sides, the corner is too deep
    depth = REACH - 0.08 / np.sqrt(2)
    assert stored(line, (0, 0, 0.08)) == pytest.approx(2 * STIFFNESS / 2 * depth**2, rel=1e-9)


LAWS = ({"restitution": 1}, {"restitution": 1, "friction": 0.4}, {"restitution": 0.5}, {"damping": 200.0})


def ball_and_line(**law):
    """A ball that meets a free line, which is a rod where it rubs; ``tests/fuzz`` holds them to all laws."""
    if "friction" not in law:
        return ball_on(bent(0), (0.05, 0.0, 0.1), velocity=(0.1, 0.2, -2.0), **law)[0]
    model = ph.Model()
    rod = ph.Rod(0.4, ph.CircularSection(0.01), ph.Material(1e7, 1000.0), elements=8)
    line = model.add(rod, "line", position=(-0.2, 0, 0))
    ball = model.add(ph.RigidBody.sphere(0.05, 500.0), position=(0.051, 0.01, 0.062), velocity=(0.3, 0, -1.0))
    model.apply(ph.Contact(ball, line, stiffness=STIFFNESS, radius=0.01, **law))
    return model


def test_forces_on_bent_lines_are_slopes_of_one_energy():
    """With corners on both sides of the ball; forces at rest and their derivatives against differences."""
    rng, found = np.random.default_rng(1), []
    for seed in range(6):
        x, noise = rng.uniform(-0.1, 0.1), 1e-3 * rng.normal(size=(21, 3))
        bowl = (2.0 if seed % 2 else -2.0) * np.array([0, 0, 1])
        nodes, place = straight(20) + noise + np.outer(straight(20)[:, 0] ** 2, bowl), bowl * x**2 + (x, 0, 0.058)
        model, ball, _ = ball_on(nodes, place)
        system = system_of(model)
        state, pairs = initial_state(system), PairsAtRest(RestEquations(system))
        own = system.layout.span(system.index[ball])
        force = pairs.forces(state)[own][:3]
        stiffness = pairs.tangents(state, True).stiffness.toarray()[own, own][:3, :3]
        slopes, bends = np.zeros(3), np.zeros((3, 3))
        for k, move in enumerate(1e-6 * np.eye(3)):
            slopes[k] = (stored(nodes, place + move) - stored(nodes, place - move)) / 2e-6
            sides = [ball_on(nodes, place + sign * move)[0] for sign in (1, -1)]
            pairs = [PairsAtRest(RestEquations(system_of(side))) for side in sides]
            pushes = [each.forces(initial_state(each.equations.system))[own][:3] for each in pairs]
            bends[:, k] = (pushes[0] - pushes[1]) / 2e-6
        assert force == pytest.approx(-slopes, rel=1e-6, abs=1e-5)
        assert stiffness == pytest.approx(-bends, rel=1e-4, abs=1e-2)
        found.append(float(np.abs(force).max()))
    assert min(found) > 0


@pytest.mark.parametrize("elements", [10, pytest.param(40, marks=pytest.mark.thorough)])
def test_a_ball_rests_on_a_node_as_beside_it(elements):
    depths = []
    for x in (0.25, 0.251, 0.2625):
        model = ph.Model(gravity=(0, 0, -9.81))
        steel = ph.Material(2e14, 7800.0)
        bar = model.add(ph.Rod(0.5, ph.CircularSection(0.02), steel, elements=elements), "bar")
        model.connect(ph.Fixed(model.ground.at((0, 0, 0)), bar.start))
        ball = model.add(ph.RigidBody.sphere(0.05, 1000.0), "ball", position=(x, 0, 0.07))
        model.connect(ph.Prismatic(model.ground.at((x, 0, 0.07)), ball.origin, axis=(0, 0, 1)))
        model.apply(ph.Contact(ball, bar, stiffness=STIFFNESS, radius=0.01))
        rest = model.equilibrium()
        depths.append((REACH - rest.position(ball.origin)[2]) * STIFFNESS / (ball.data.mass * 9.81))
    assert depths == pytest.approx(3 * [1.0], rel=3e-4)
    if elements == 10:
        assert np.abs(model.simulate(0.02, 1e-3, initial=rest, progress=False).velocity(ball.origin)).max() < 1e-9


def test_neighbours_are_those_of_the_line():
    angles = np.linspace(0, 2 * np.pi, 9)
    ring = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    ring[-1] = ring[0]
    _, _, contact = ball_on(ring, (1.055, 0.0, 0.0))
    first = contact.members().index(next(each for each in contact.members() if each.start is not each.end))
    found = far_ends([(0, each) for each in contact.members()], ())
    expected = [(first + (k + move) % 8, end) for k in range(8) for end, move in enumerate((-1, 1))]
    assert found[2 * first : 2 * first + 16] == expected


@pytest.mark.parametrize("kind", ["rods", "strings", "capsules", "rods end to end", "rods on a hinge"])
def test_segments_that_are_joined_push_once(kind):
    """Energy over k d^2 / 2 of a ball at the seam of two lines, beside it and far from it."""
    depth, steel = 5e-4, ph.Material(2e14, 7800.0)
    rod = ph.Rod(0.25, ph.CircularSection(0.02), steel, elements=5)
    for x in (0.25, 0.2501, 0.252, 0.26, 0.275):
        model = ph.Model()
        if kind == "strings":
            places = [[(a, 0, 0), (a + 0.25, 0, 0)] for a in (0, 0.25)]
            parts = [model.add(ph.String(0.25, 0.1, 5, ph.LinearLaw(10.0)), shape=each) for each in places]
            model.connect(ph.Spherical(parts[0].end, parts[1].start))
        elif kind == "capsules":
            ends = [(model.ground.at((a, 0, 0)), model.ground.at((a + 0.25, 0, 0))) for a in (0, 0.25)]
            parts = [ph.Capsule(*each, 0.01) for each in ends]
        else:
            turn = np.pi * np.array([0, 0, kind == "rods end to end"])
            place = (0.25 + 0.25 * (kind == "rods end to end"), 0, 0)
            second = model.add(rod, "second", position=place, rotation=Rotation.from_rotvec(turn))
            parts = [model.add(rod, "first"), second]
            ports = parts[0].end, second.end if kind == "rods end to end" else second.start
            model.connect(ph.Revolute(*ports) if kind == "rods on a hinge" else ph.Fixed(*ports))
        ball = model.add(ph.RigidBody.sphere(0.05, 500.0), position=(x, 0, REACH - depth))
        model.apply(ph.Contact([ball], parts, stiffness=STIFFNESS, radius=0.01))
        energy = model.simulate(1e-9, 1e-9, progress=False).energy.spring[0]
        assert energy == pytest.approx(STIFFNESS / 2 * depth**2, rel=1e-6)
