"""Edges that cross edges, pieces of lines between their nodes on solids: energy, momenta, closed forms, rest."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from description.interactions.test_contact_of_many import solution_error

GRAVITY = 9.81
BESIDE = 0.02  # of half an edge: where places and pieces are beside it
TILT, ACROSS = (Rotation.from_rotvec(turn).as_matrix() for turn in ((np.pi / 4, 0, 0), (0, 0, np.pi / 2)))
BAR = ph.Box((0.4, 0.1, 0.1))
PLANK = (0.5, 0.08, 0.04)
LOG = ph.RigidBody.cylinder(0.05, 0.5, 500.0, axis=(1, 0, 0))


def bar(kind):
    if kind == "box":
        return ph.RigidBody.box(BAR.size, 500.0)
    surface = BAR.centred()
    return ph.RigidBody.from_mesh(surface.vertices, surface.triangles, 500.0)


def crossing(kinds=("box", "box"), friction=0.0, beside=(0.03, 0.02), moving=((0, 0, -1.0), (0, 0, 0))):
    """Two free bars, an edge of one over an edge of the other, at right angles."""
    model, (speed, spin) = ph.Model(), moving
    low = model.add(bar(kinds[0]), rotation=TILT)
    place = {"position": (*beside, 0.145), "rotation": ACROSS @ TILT}
    high = model.add(bar(kinds[1]), **place, velocity=speed, angular_velocity=spin)
    model.apply(ph.Contact([low, high], stiffness=1e4, friction=friction, restitution=1))
    return model, low, high


def blade(line, radius, friction):
    """A free line that flies on a free bar, edge up, which is thinner than its pieces are long."""
    model = ph.Model()
    rod = ph.Rod(0.9, ph.CircularSection(0.01), ph.Material(1e7, 1000.0), elements=3)
    string = ph.String(0.9, 0.1, 3, ph.LinearLaw(1e3))
    beam = ph.Beam(0.9, ph.CircularSection(0.01), ph.Material(1e8, 1000.0), elements=3)
    body = {"rod": rod, "string": string, "beam": beam}[line]
    start = {"shape": [(-0.45, 0, 0.1), (0.45, 0, 0.1)], "velocity": (0, 0, -2.0)}
    placed = model.add(body, line, **(start if line == "string" else {"position": (-0.45, 0, 0.1)}))
    moving = {"velocity": (0, 0, 0 if line == "string" else 2.0), "angular_velocity": (0, 0, 1.0)}
    box = ph.RigidBody.box((0.4, 0.05, 0.05), 2000.0)
    thin = model.add(box, position=(0.03, 0.01, 0.03), rotation=ACROSS @ TILT, **moving)
    model.apply(ph.Contact([placed], [thin], radius=radius, stiffness=2e3, friction=friction, restitution=1))
    return model, placed, thin


CASES = {
    "boxes": lambda friction: crossing(friction=friction, moving=((0.2, 0.1, -1), (1, 2, -1.0))),
    "meshes": lambda friction: crossing(("mesh", "mesh"), friction),
    "mesh on box": lambda friction: crossing(("box", "mesh"), friction),
    # the foot leaves the end of an edge in the middle of the contact
    "off the end": lambda f: crossing(friction=f, beside=(0.18, 0.0), moving=((1.2, 0, -1), (0, 0, 0))),
    "rod": lambda friction: blade("rod", 5e-3, friction),
    "beam": lambda friction: blade("beam", 5e-3, friction),
    "string": lambda friction: blade("string", 0.0, friction),
}


@pytest.mark.filterwarnings(
    "ignore::phlexible.errors.SlackStringWarning", "ignore::phlexible.LargeDeflectionWarning"
)
@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_newtons_matrix_has_the_pairs(kind, friction):
    """But for how normals turn, the depth over the length; ``tests/fuzz`` holds the models to all laws."""
    model, *_ = CASES[kind](friction)
    motion = model.simulate(0.05, 1e-3, progress=False)
    assert motion.contact_steps[-1] > 8
    assert (motion.energy.dissipated[-1] > 1e-6) == (friction > 0)
    if friction:
        assert solution_error(model, motion, 1e-3) <= 1e-3
    else:
        assert solution_error(model, motion, 2e-3) <= (3e-3 if kind in ("rod", "beam", "string") else 3e-4)


def test_edges_that_cross_bounce_as_on_a_spring():
    """Four places each push with k x, x = z / sqrt(2): a spring of 2 k between the centres, both pass their speed.

    Where both bars touch is known: places are beside the edges.
    """
    model, low, high = crossing(beside=(0.0, 0.0))
    motion = model.simulate(0.05, 1e-4, progress=False)
    mass = high.body.mass
    assert motion.velocity(low.origin)[-1] == pytest.approx((0, 0, -1), abs=1e-5)
    assert motion.velocity(high.origin)[-1] == pytest.approx((0, 0, 0), abs=1e-5)
    omega = np.sqrt(2e4 / (mass / 2))
    height = (motion.position(high.origin) - motion.position(low.origin))[:, 2]
    assert height.min() == pytest.approx(0.1 * np.sqrt(2) - BESIDE * 0.05 / np.sqrt(2) - 1 / omega, abs=2e-5)
    assert np.ptp(motion.time[motion.energy.spring > 1e-9]) == pytest.approx(np.pi / omega, abs=3e-4)


def test_edges_push_each_other_where_they_cross():
    """The impulse of the slow impact turns the lower bar by the lever of the crossing, what power cannot see."""
    model, low, _ = crossing(beside=(0.12, 0.0), moving=(np.array([0, 0, -0.1]), np.zeros(3)))
    motion = model.simulate(0.09, 1e-3, progress=False)
    impulse = low.body.mass * motion.velocity(low.origin)[-1]
    assert motion.energy.spring[-1] == 0 and impulse[2] < -0.05
    inertia = TILT @ np.asarray(low.body.inertia) @ TILT.T
    lever = np.cross((0.12, 0.0, np.sqrt(0.5) * 0.1), impulse)
    assert inertia @ motion.angular_velocity(low)[-1] == pytest.approx(lever, abs=0.02 * np.linalg.norm(lever))


def test_a_plank_rocks_on_a_cylinder_as_in_textbooks():
    """T = 2 pi sqrt((l^2 + 4 t^2) / (12 g (R - t / 2))): its edges are on the round, its corners do not touch."""
    length, thick, radius = 1.0, 0.04, 0.2
    model = ph.Model(gravity=(0, 0, -GRAVITY))
    box, moving = ph.RigidBody.box((length, 0.1, thick), 500.0), {"angular_velocity": (0, 0.05, 0)}
    plank = model.add(box, position=(0, 0, radius + thick / 2), velocity=(0, 0, 0), **moving)
    drum = ph.Surface(model.ground.at((0, 0, 0)), ph.Cylinder(radius, 1.0, axis=(0, 1, 0)))
    model.apply(ph.Contact([plank], drum, stiffness=2e5, friction=1.0, longest_part=1.0))
    motion = model.simulate(2.4, 4e-3, progress=False)
    rate = motion.angular_velocity(plank)[:, 1]
    falls = np.flatnonzero((rate[:-1] > 0) & (rate[1:] <= 0))
    times = motion.time[falls] + 4e-3 * rate[falls] / (rate[falls] - rate[falls + 1])
    period = 2 * np.pi * np.sqrt((length**2 + 4 * thick**2) / (12 * GRAVITY * (radius - thick / 2)))
    assert np.diff(times) == pytest.approx(period, rel=0.01)


def test_logs_rest_across_each_other():
    """They touch on their sides."""
    stiffness, model = 1e4, ph.Model(gravity=(0, 0, -GRAVITY))
    pipe, log = (
        model.add(LOG, position=(1, 0, z), rotation=turned, velocity=(0, 0, 0))
        for z, turned in ((0.05, np.eye(3)), (0.15, ACROSS))
    )
    for each in (pipe, log):
        model.connect(ph.Prismatic(model.ground.at((1, 0, 0)), each.origin, axis=(0, 0, 1)))
    floor = ph.Plane(model.ground.at((0, 0, 0)))
    model.apply(ph.Contact([pipe, log, floor], stiffness=stiffness, friction=0.4, damping=1e5))
    motion = model.simulate(0.4, 2e-3, progress=False)
    found = motion.position(log.origin)[-1] - motion.position(pipe.origin)[-1]
    assert found[2] == pytest.approx(0.1 - LOG.mass * GRAVITY / stiffness / 2, abs=2e-5)
    assert found[:2] == pytest.approx((0, 0), abs=1e-6)
    assert motion.momentum.linear[-1] == pytest.approx((0, 0, 0), abs=2e-3)


@pytest.mark.parametrize(
    "shape", [ph.Box((0.02, 0.4, 0.02)), ph.Cylinder(0.01, 0.4, axis=(0, 1, 0))], ids=["box", "tube"]
)
@pytest.mark.filterwarnings("ignore::phlexible.errors.SlackStringWarning")
def test_a_string_does_not_fall_through_a_thin_bar_between_two_nodes(shape):
    model = ph.Model(gravity=(0, 0, -GRAVITY))
    rope = model.add(ph.String(1.0, 0.1, 9, ph.LinearLaw(1e4)), shape=[(-0.5, 0, 0.1), (0.5, 0, 0.1)])
    rail = ph.Surface(model.ground.at((0, 0, 0)), shape)
    model.apply(ph.Contact([rope], [rail], radius=3e-3, stiffness=1e4, damping=1e4))
    motion = model.simulate(0.3, 2e-3, progress=False)
    assert motion.position(rope.at(0.5))[:, 2].min() > 0.0
    assert motion.position(rope.start)[-1, 2] < -0.1


def test_a_string_that_wraps_a_drum_finely_touches_by_its_nodes_alone():
    """So that its friction is that of its nodes: pieces that are shorter than half a radius do not push."""
    model = ph.Model(gravity=(0, 0, -GRAVITY))
    rope = model.add(ph.String(1.0, 0.1, 40, ph.LinearLaw(1e4)), shape=[(-0.5, 0, 0.11), (0.5, 0, 0.11)])
    drum = ph.Surface(model.ground.at((0, 0, 0)), ph.Cylinder(0.1, 0.4, axis=(0, 1, 0)))
    contact = model.apply(ph.Contact([rope], [drum], radius=3e-3, stiffness=1e4))
    pieces = [each for each in contact.members() if each.size[0] and not each.kind.is_solid]
    (tube,) = (each for each in contact.members() if each.kind.is_solid)
    assert len(pieces) == 40 and not any(tube.touches_segment(each) for each in pieces)


def test_edges_that_start_inside_each_other_are_refused_with_the_depth():
    model = ph.Model()
    for place, own in (((0, 0, 0), np.eye(3)), ((0, 0, 0.09), ACROSS)):
        model.add(bar("box"), position=place, rotation=own @ TILT)
    with pytest.raises(ph.ModelError, match=r"starts 0\.0\d+ m deep, rigid body"):
        model.apply(ph.Contact(list(model.bodies), stiffness=1e4))
    for apart, depth in ((0.0, "0.02"), (0.03, "0.01")):  # all corners are outside, or on the other's sides
        crossed = ph.Model()
        one = crossed.add(ph.RigidBody.box(PLANK, 500.0), "one")
        other = crossed.add(ph.RigidBody.box(PLANK, 500.0), "other", position=(0, 0, apart), rotation=ACROSS)
        with pytest.raises(ph.ModelError, match=f"starts {depth} m deep, o"):
            crossed.apply(ph.Contact([one, other], stiffness=1e4))


def test_a_line_and_one_thin_surface_are_searched_and_what_cannot_be_is_warned_of():
    """Longer pieces than it is thick: without a list, too."""
    model = ph.Model(gravity=(0, 0, -GRAVITY))
    rope = model.add(ph.String(1.0, 0.1, 9, ph.LinearLaw(1e4)), shape=[(-0.5, 0, 0.1), (0.5, 0, 0.1)])
    thin, thick = (
        ph.Surface(model.ground.at((0, 0, 0)), ph.Cylinder(r, 0.4, axis=(0, 1, 0))) for r in (0.02, 0.08)
    )
    assert ph.Contact(rope, thin, stiffness=1e4, restitution=0.5).is_contact_group
    assert not ph.Contact(rope, thick, stiffness=1e4).is_contact_group
    for bristle in (None, 0):
        assert ph.Contact(rope, thin, 1e4, friction=0.2, exponent=1.5, bristle=bristle).is_contact_group


@pytest.mark.filterwarnings("ignore::phlexible.errors.SlackStringWarning")
def test_lines_without_thickness_meet_balls_of_lists():
    model = ph.Model(gravity=(0, 0, -GRAVITY))
    rope = model.add(ph.String(1.0, 0.1, 9, ph.LinearLaw(1e4)), shape=[(-0.5, 0, 0.1), (0.5, 0, 0.1)])
    ball = model.add(ph.RigidBody.sphere(0.05, 500.0), position=(0, 0, 0.16), velocity=(0, 0, -1.0))
    model.apply(ph.Contact([rope, ball], stiffness=1e4))
    motion = model.simulate(0.03, 1e-3, progress=False)
    assert motion.contact_steps[-1] > 0
