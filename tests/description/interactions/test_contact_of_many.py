"""One contact of lists, whole bodies and solids: energy, momenta, closed forms, all pairs, what is refused."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq

import phlexible as ph
from mechanisms import grounded
from phlexible.step.assembly import families as contact_groups
from phlexible.step.kernels.many.pairs_in_matrix import ROWS
from step.kernels.newton import Newton

GRAVITY = 9.81
# A bracket, an L of 0.3 m by 0.2 m, 0.1 m thick, whose inner edge is a valley:
OUTLINE = np.array([[-0.1, -0.1], [0.2, -0.1], [0.2, 0.0], [0.0, 0.0], [0.0, 0.1], [-0.1, 0.1]])
BRACKET = np.array([[x, y, z] for z in (-0.05, 0.05) for x, y in OUTLINE])
CAPS = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]])
AROUND = [[k, (k + 1) % 6, k + 6] for k in range(6)] + [[(k + 1) % 6, (k + 1) % 6 + 6, k + 6] for k in range(6)]
SIDES = np.concatenate([CAPS[:, ::-1], CAPS + 6, AROUND])


def ledger(motion):
    return np.ptp(motion.energy.total + motion.energy.dissipated) / motion.energy.total[0]


SHAPES = {
    "ball": (ph.Sphere(0.2), {}, (0.3, 0.1, 0.05)),
    "in a ball": (ph.Sphere(0.4), {"inside": True}, (0.05, 0.0, 0.0)),
    "tube": (ph.Cylinder(0.2, 0.3), {}, (0.4, 0.0, 0.05)),
    "in a tube": (ph.Cylinder(0.3, 0.3, axis=(0, 1, 0)), {"inside": True}, (0.1, 0.0, 0.05)),
    "drum": (ph.Cylinder(0.2, 0.1), None, (0.3, 0.05, 0.08)),
    "box": (ph.Box((0.3, 0.3, 0.3)), {}, (0.4, 0.12, 0.16)),
    "in a box": (ph.Box((0.5, 0.5, 0.5)), {"inside": True}, (0.05, 0.0, 0.0)),
    "hole of a torus": (ph.Torus(0.3, 0.1), {}, (0.05, 0.0, 0.0)),
    "mesh": (ph.TriangleMesh(BRACKET, SIDES), None, (0.4, 0.12, 0.12)),
}


def ball_that_meets(kind, friction, radius=0.05):
    """A ball that flies to a free body of a shape; ``tests/fuzz`` holds them to all laws."""
    shape, inside, place = SHAPES[kind]
    model = ph.Model()
    shaped = {"shape": shape} if inside is None else {}
    big = model.add(ph.RigidBody(3.0, (0.1, 0.12, 0.08), **shaped), "big", angular_velocity=(0.3, 0.2, 0.5))
    moving = {"velocity": (-1.2, -0.1, -0.3), "angular_velocity": (1, 2, 3)}
    ball = model.add(ph.RigidBody.sphere(radius, 500.0), position=place, **moving)
    other = big if inside is None else ph.Surface(big.origin, shape, **inside)
    law = {"friction": friction, "static_friction": 0.5 if friction else None, "restitution": 1}
    model.apply(ph.Contact([ball], other, stiffness=1e4, **law))
    return model, ball


def solution_error(model, motion, h):
    """Of Newton's matrix with pairs: J (J^-1 r) by differences against r, relative, beside one without pairs.

    Where most pairs push in the run; the end of the step is a little beside the one that was found.
    """
    k = int(np.argmax(np.diff(motion.contact_steps))) + 1
    newton, rng = Newton(model, motion.recording.state(k), h), np.random.default_rng(2)
    unknowns = np.r_[motion.recording.velocity[k], np.zeros(newton.rows)]
    unknowns[: newton.velocities] += 1e-3 * rng.normal(size=newton.velocities)
    missed = newton.residual(unknowns)
    way = newton.solution(unknowns)
    assert newton.memory["held_count"][0] > 0
    assert newton.memory["pair_products"].size >= ROWS * ROWS + 3 * ROWS  # products, right side, cosines, sines
    small = 1e-6 * np.abs(unknowns).max() / np.abs(way).max()
    differences = (newton.residual(unknowns + small * way) - newton.residual(unknowns - small * way)) / (2 * small)
    return np.abs(differences - missed).max() / np.abs(missed).max()


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_newtons_matrix_has_a_ball_and_the_free_body_that_it_meets(kind, friction):
    """But for how the normal turns, the depth over the radius, and a thousandth that iterations leave;
    without what couples both bodies a twentieth is missing.
    """
    model, ball = ball_that_meets(kind, friction)
    motion = model.simulate(0.6, 2e-3, progress=False)
    before, after = (np.linalg.norm(motion.velocity(ball.origin)[k]) for k in (0, -1))
    assert motion.contact_steps[-1] > 0 and abs(before - after) > 1e-3  # they met
    assert (motion.energy.dissipated[-1] > 1e-6) == (friction > 0)
    assert solution_error(model, motion, 2e-3) <= 2e-3


@pytest.mark.parametrize("dimension", [2, 3])
def test_newtons_matrix_has_discs_in_the_plane_points_and_balls_beside_their_centres(dimension):
    """Bodies of three rows, of six, and points, one of them touched beside its centre of mass."""
    model = ph.Model(dimension=dimension)
    body = ph.RigidBody(1.0, 4e-3 if dimension == 2 else (4e-3, 5e-3, 6e-3))
    placed = [
        model.add(body, position=(x, 0.02 * k, 0), velocity=(-4 * x, 0, 0), angular_velocity=(0, 0, 4.0 - k))
        for k, x in enumerate((-0.11, 0.11))
    ]
    beside = (0.02, 0.01, 0.0) if dimension == 2 else (0.02, 0.01, 0.03)
    stone = model.add(ph.PointMass(0.5), position=(0.0, 0.19, 0.0), velocity=(0, -1, 0))
    members = [placed[0].origin, placed[1].point(beside), stone.origin]
    model.apply(ph.Contact(members, radius=0.1, stiffness=1e4, friction=0.3, bristle=8e3))
    motion = model.simulate(0.1, 2e-3, progress=False)
    assert ledger(motion) <= 1e-12
    assert solution_error(model, motion, 2e-3) <= 2e-3


@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
def test_newtons_method_converges_where_a_bent_beam_rubs():
    """Directions of a cross-section that slopes are longer than 1, and stretch: the normal force does not see it.

    With arms along the normal in Newton's matrix it took 6.5 iterations a part, and stalled for thin beams end on.
    """
    model, beam, _ = grounded(ph.Beam(0.2, ph.CircularSection(0.01), ph.Material(1e7, 1000.0, poissons_ratio=0.3)))
    box = ph.RigidBody.box((0.2, 0.1, 0.1), 1000.0)
    moving = model.add(box, position=(0.2, 0, 0.0995), velocity=(0, 0, -4))  # meets it within a step
    model.apply(ph.Contact(beam, moving, radius=0.01, stiffness=7e3, friction=1.0, damping=2e4))
    motion = model.simulate(0.016, 1e-3, progress=False)
    assert motion.position(beam.end)[-1, 2] < -0.02  # bent
    assert motion.iterations[-1] <= 4.5 * motion.contact_steps[-1] and ledger(motion) <= 1e-12


def test_the_centre_of_a_ball_touches_by_its_radius():
    """On a surface, on another ball and in lists; a port beside it, or with a radius, is what it says."""
    seen = []
    for way in ("body", "centre", "list", "radius"):
        model = ph.Model(gravity=(0, 0, -9.81))
        body = ph.RigidBody.sphere(0.1, 500.0)
        low, high = (model.add(body, name, position=(0, 0, z)) for name, z in (("low", 0.11), ("high", 0.32)))
        floor = ph.Plane(model.ground.at((0, 0, 0)))
        low, high = (low, high) if way == "body" else (low.origin, high.origin)
        radius, options = 0.1 * (way == "radius"), {"stiffness": 1e5}
        second = ph.Surface(low, ph.Sphere(0.1)) if radius else low
        many = way == "list"
        model.apply(ph.Contact([high] if many else high, [second] if many else second, radius=radius, **options))
        model.apply(ph.Contact([low] if many else low, floor, radius=radius, **options))
        seen.append(model.simulate(0.1, 2e-3, progress=False).recording.position[-1])
    assert seen[0][0, 2] < 0.11
    for each in seen[1:]:
        assert each == pytest.approx(seen[0], abs=1e-9)
    assert ph.Contact(model.bodies[0].point((0.0, 0.0, -0.1)), floor, stiffness=1e5).radius == 0


@pytest.mark.parametrize("kind", ["box", "beam"])
def test_joint_forces_at_both_ends_of_a_run_have_the_pairs_that_push(kind):
    """Normal forces and friction: those of runs that begin there, or go on and have means of two steps."""
    part = ph.RigidBody.box((2, 2, 0.1), 5.0)
    model, plate, joint = grounded(part, at=(0, 0, -0.05), gravity=(1.0, 0.5, -GRAVITY), position=(0, 0, -0.05))
    if kind == "box":
        body = model.add(ph.RigidBody.box((0.2, 0.2, 0.1), 500.0), position=(0, 0, 0.049), velocity=(0.1, 0, 0))
    else:
        beam = ph.Beam(0.4, ph.CircularSection(0.02), ph.Material(1e9, 1200.0))
        body = model.add(beam, position=(0, 0, 0.018), velocity=(0, 0.1, 0))
    radius = 0.0 if kind == "box" else 0.02
    model.apply(ph.Contact([body], plate, radius=radius, stiffness=2e3, damping=2e3, friction=0.5))
    whole, first = (model.simulate(count * 1e-4, 1e-4, progress=False) for count in (60, 40))
    expected, weight = whole.reaction(joint)[40], -2.0 * np.array([1.0, 0.5, -GRAVITY])
    pushed = first.reaction(joint)[-1] - weight
    assert pushed[2] > 1 and np.linalg.norm(pushed[:2]) > 0.1  # both rub
    assert pushed == pytest.approx(expected - weight, abs=1e-3 * np.linalg.norm(pushed))
    resumed = model.simulate(10 * 1e-4, 1e-4, initial=first.at(0.004), progress=False).reaction(joint)[0]
    assert resumed == pytest.approx(first.reaction(joint)[-1], rel=1e-6)


def heap():
    rng, model = np.random.default_rng(3), ph.Model(gravity=(0, 0, -GRAVITY))
    ball = ph.RigidBody.sphere(0.05, 500.0)
    places = 0.11 * (np.stack(np.meshgrid(*[np.arange(3)] * 3), -1).reshape(-1, 3) - (1, 1, 0))
    balls = [model.add(ball, position=x + (0, 0, 0.06), velocity=2 * rng.normal(size=3)) for x in places]
    rod = ph.Rod(0.4, ph.CircularSection(0.02), ph.Material(1e7, 1000.0), elements=4)
    log = model.add(rod, "log", position=(-0.2, 0.0, 0.5))
    walls = ph.Surface(model.ground.at((0, 0, 0.5)), ph.Box((0.5, 0.5, 1.0)), inside=True)
    law = {"stiffness": 2e4, "friction": 0.3, "damping": 1e4}
    model.apply(ph.Contact([*balls, log], [*balls, log, walls], radius=0.01, **law))
    return model, balls


def test_pairs_that_are_near_give_the_digits_of_all_pairs_and_runs_go_on_with_their_bristles(monkeypatch):
    motions = [heap()[0].simulate(0.06, 2e-3, progress=False)]
    assert motions[0].contact_steps[-1] > 100 and ledger(motions[0]) <= 1e-12
    model, balls = heap()
    model = model.replace()
    first = model.simulate(0.03, 2e-3, progress=False)
    assert len({*first.recording.branches[-1].nonzero()[0].tolist()}) > 8
    on = model.simulate(0.03, 2e-3, initial=first.recording.state(-1), progress=False)
    assert on.position(balls[0].origin)[-1] == pytest.approx(motions[0].position(balls[0].origin)[-1], abs=1e-9)
    monkeypatch.setattr(contact_groups, "SKIN", 1e12)
    motions.append(heap()[0].simulate(0.06, 2e-3, progress=False))
    for name in ("position", "velocity", "contact_steps", "iterations", "branches"):
        assert np.array_equal(*(getattr(each.recording, name) for each in motions)), name


LEG, BEND = 0.15, 0.02


def hairpin(s):
    """Two legs along x that a half circle joins, which rises by its tenth."""
    turn = np.clip((s - LEG) / BEND, 0.0, np.pi)
    x = max(LEG - s, 0.0) + max(s - LEG - np.pi * BEND, 0.0) - BEND * np.sin(turn)
    return x, BEND * np.cos(turn), 0.1 * BEND * turn


@pytest.mark.parametrize("kind", ["rod", "string"])
@pytest.mark.filterwarnings("ignore::phlexible.errors.SlackStringWarning")
def test_the_legs_of_a_hairpin_meet_and_stay_apart(kind):
    """A line that touches itself: energy, momenta, and what the ends do."""
    length, radius, model = 2 * LEG + np.pi * BEND, 5e-3, ph.Model()
    rod = ph.Rod(length, ph.CircularSection(2 * radius), ph.Material(2e6, 1200.0), elements=22, order=2)
    string = ph.String(length, 0.1, 44, ph.LinearLaw(1e3))

    def closing(s):
        x, y, _ = hairpin(s)
        return 0.0, -5.0 * y / BEND * max(x, 0.0), 0.1 * x

    line = model.add(rod if kind == "rod" else string, kind, shape=hairpin, velocity=closing)
    friction = 0.2 if kind == "rod" else 0.0
    model.apply(ph.Contact(line, line, radius=radius, stiffness=1e4, friction=friction, restitution=1))
    motion = model.simulate(0.06, 1e-3, progress=False)
    apart = np.linalg.norm(motion.position(line.start) - motion.position(line.end), axis=1)
    assert motion.contact_steps[-1] > 0 and apart.min() == pytest.approx(2 * radius, rel=0.05)
    assert ledger(motion) <= 1e-12
    assert (motion.energy.dissipated[-1] > 1e-6) == (friction > 0)
    for momentum in (motion.momentum.linear, motion.momentum.angular):
        assert np.ptp(momentum, axis=0) == pytest.approx(0, abs=1e-13)


def test_equilibria_and_linear_models_see_the_pairs_that_touch():
    """A ball on a ball on the floor, in guides, and a box on its corners: weights over stiffnesses, frequencies."""
    model, stiffness = ph.Model(gravity=(0, 0, -GRAVITY)), 1e4
    low = model.add(ph.RigidBody.sphere(0.1, 500.0), "low", position=(0, 0, 0.1))
    high = model.add(ph.RigidBody.sphere(0.05, 500.0), "high", position=(0, 0, 0.25))
    box = model.add(ph.RigidBody.box((0.2, 0.2, 0.1), 500.0), "box", position=(1, 0, 0.05))
    for each in (low, high):
        model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), each.origin, axis=(0, 0, 1)))
    floor = ph.Plane(model.ground.at((0, 0, 0)))
    model.apply(ph.Contact([low, high, box, floor], stiffness=stiffness, friction=0.3, restitution=1))
    masses = [each.body.mass for each in (low, high, box)]
    rest = model.equilibrium()
    first = 0.1 - (masses[0] + masses[1]) * GRAVITY / stiffness
    heights = [first, first + 0.15 - masses[1] * GRAVITY / stiffness, 0.05 - masses[2] * GRAVITY / stiffness / 4]
    found = [rest.position(each.origin)[2] for each in (low, high, box)]
    assert found == pytest.approx(heights, abs=1e-12) and rest.is_stable and rest.slipped == ()
    two = eigh(stiffness * np.array([[2, -1], [-1, 1]]), np.diag(masses[:2]), eigvals_only=True)
    # up and down, and about its height, held by bristles at its corners:
    of_box = 4 * stiffness / masses[2] * np.array([1.0, 12 * 0.1**2 / (0.2**2 + 0.2**2) * 2])
    frequencies = model.linearize(about=rest).modes(8).frequencies ** 2
    for each in (*two, *of_box):
        assert np.abs(frequencies / each - 1).min() <= 1e-9
    assert np.abs(model.simulate(0.02, 1e-3, initial=rest.state, progress=False).recording.velocity).max() <= 1e-9


def test_bodies_that_start_inside_each_other_are_refused_with_the_depth():
    model = ph.Model()
    ball = model.add(ph.RigidBody.sphere(0.1, 500.0), "ball", position=(0, 0, 0.05))
    box = model.add(ph.RigidBody.box((0.2, 0.2, 0.2), 500.0), "box", position=(1, 0, 0.05))
    floor = ph.Plane(model.ground.at((0, 0, 0)))
    with pytest.raises(ph.ModelError, match=r"starts 0.05 m deep, ball.* and ground.at"):
        model.apply(ph.Contact([ball], [floor], stiffness=1e4))
    with pytest.raises(ph.ModelError, match=r"starts 0.05 m deep, box.* and ground.at"):
        model.apply(ph.Contact(box, floor, stiffness=1e4))
    with pytest.raises(ph.ModelError, match="pin has no shape for contacts"):
        pin = model.add(ph.RigidBody(1.0, (1, 1, 1)), "pin", position=(5, 0, 0))
        ph.Contact([pin, ball], floor, stiffness=1e4)
    with pytest.raises(ph.ParameterError, match="tube_radius must be less than radius=0.1"):
        ph.Torus(0.1, 0.1)


def test_a_ball_that_settles_in_a_ring_rests_on_its_axis():
    """The nearest side of the ring turns to the opposite one there; k depth z / L = m g in closed form."""
    model, (r, R, tube, k, mass) = ph.Model(gravity=(0, 0, -GRAVITY)), (0.1, 0.08, 0.02, 1e5, 2.0)
    z = np.sqrt((r + tube) ** 2 - R**2)
    ball = model.add(ph.RigidBody(mass, (8e-3,) * 3, shape=ph.Sphere(r)), "ball", position=(1e-4, 0, z + 1e-4))
    ring = ph.Surface(model.ground.at((0, 0, 0)), ph.Torus(R, tube))
    model.apply(ph.Contact(ball, ring, stiffness=k, friction=0.3, damping=1e6))
    height = brentq(lambda h: k * (r + tube - np.hypot(R, h)) * h / np.hypot(R, h) - mass * GRAVITY, z / 2, z)
    motion = model.simulate(0.5, 1e-3, progress=False)
    assert motion.halvings[-1] == 0
    assert motion.position(ball.origin)[-1] == pytest.approx([0, 0, height], abs=1e-8)


def test_a_box_slides_on_a_belt_until_it_has_its_speed():
    """It gains the way v^2 / (2 mu g) on the box; the joint that drives the belt carries box and belt."""
    speed, friction, gravity = 1.0, 0.3, 9.81
    model = ph.Model(gravity=(0, 0, -gravity))
    box = model.add(ph.RigidBody.box((0.2, 0.2, 0.1), 500.0), position=(0, 0, 0.05))
    with pytest.raises(ph.ParameterError, match="point, ball or line .* for other shapes, move a body with it"):
        ph.Contact(box, ph.Plane(model.ground.moving(lambda t: (speed * t, 0, 0))), friction=friction)
    belt = model.add(ph.RigidBody(1.0, (1.0, 1.0, 1.0)))
    rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), belt.origin, axis=(1, 0, 0)))
    model.apply(rail.drive(position=lambda t: speed * t))
    touch = model.apply(ph.Contact(box, ph.Plane(belt.origin), friction=friction))
    motion = model.simulate(0.5, 2e-3)
    assert motion.velocity(box.origin)[100, 0] == pytest.approx(0.2 * friction * gravity, rel=1e-6)
    assert motion.velocity(box.origin)[-1, 0] == pytest.approx(speed, rel=1e-4)
    way = speed * 0.5 - speed**2 / (2 * friction * gravity)
    assert motion.position(box.origin)[-1, 0] == pytest.approx(way, rel=1e-4)
    assert motion.reaction(rail)[100] == pytest.approx(
        [2 * friction * gravity, 0, (1 + 2) * gravity], rel=1e-6, abs=1e-6
    )
    with pytest.raises(ph.ModelError, match="put the surface on a body, and take motion.reaction"):
        motion.element_force(touch)
