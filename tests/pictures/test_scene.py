"""Scenes: what is drawn is where the observables say, and looks as it should."""

from itertools import pairwise

import numpy as np
import pytest

import phlexible as ph
from mechanisms import grounded
from phlexible.bodies.skin import tube_skin
from phlexible.pictures.scene import SymbolKind, scene_at_start, scene_of
from phlexible.shapes.surfaces import Triangulation, circle, enclosed_moments, open_edges
from results.samples import sample

ALUMINIUM = ph.Material(7e10, 2700.0)


def test_drawn_points_are_where_the_observables_say():
    motion = sample()
    instants = np.array([0, 7, 20])
    arm, _, ball = scene_of(motion.run, instants).bodies
    assert arm.nodes()[:, -1] == pytest.approx(motion.position(motion["arm"].end)[instants])
    assert ball.nodes()[:, 0] == pytest.approx(motion.position(motion["ball"].origin)[instants])
    vertex = np.flatnonzero((arm.skin.vertex_nodes == len(arm.skin.positions) - 1) & (arm.skin.offsets[:, 1] > 0))
    place = arm.skin.offsets[vertex[0]]
    off_axis = motion["arm"].point((0.5, place[1], place[2]))
    assert arm.vertices()[:, vertex[0]] == pytest.approx(motion.position(off_axis)[instants], abs=1e-12)
    twice, stiff = arm.nodes(scale=2.0), arm.nodes(scale=0.0)
    assert twice - arm.nodes() == pytest.approx(arm.nodes() - stiff, abs=1e-14)
    assert np.linalg.norm(stiff[:, -1] - stiff[:, 0], axis=1) == pytest.approx(np.full(3, 0.5))


def test_symbols_turn_with_what_carries_them():
    model = ph.Model()
    arm = model.add(ph.RigidBody.box((1.0, 0.1, 0.1), 100.0, (0.5, 0, 0)), "arm", angular_velocity=(0, 2.0, 0))
    tip = model.add(ph.RigidBody.sphere(0.1, 100.0), "tip", position=(1, 0, 0))
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.origin, axis=(0, 1, 0)))
    model.connect(ph.Revolute(arm.point((1, 0, 0)), tip.origin, axis=(1, 0, 0)))
    model.apply(hinge.motor(lambda t, measured: 0.0))
    model.apply(ph.Force(arm.point((1, 0, 0)), (0.0, 0.0, 3.0), axes="body"))
    cart = model.add(ph.RigidBody.sphere(0.1, 100.0), "cart", position=(0, 1, 0))
    rail = model.connect(ph.Prismatic(model.ground.at((0, 1, 0)), cart.origin))
    model.apply(rail.force(1.0))
    motion = model.simulate(0.5, 0.01, progress=False)
    drawn = scene_of(motion.run, np.array([0, 25]))
    kinds = [symbol.kind for symbol in drawn.symbols]
    joints = [SymbolKind.GROUND, SymbolKind.PIN, SymbolKind.PIN, SymbolKind.RAIL]
    assert kinds == [*joints, SymbolKind.MOTOR, SymbolKind.ACTUATOR]
    pin = drawn.symbols[2]
    assert drawn.positions(pin.anchor)[1] == pytest.approx(motion.position(tip.origin)[25], abs=1e-9)
    assert drawn.directions(pin.anchor, pin.axis)[1] == pytest.approx(motion.rotation(arm)[25, :, 0])
    assert drawn.arrows[0].values[1] == pytest.approx(3.0 * motion.rotation(arm)[25, :, 2])
    assert drawn.greatest_load == (pytest.approx(3.0), 0.0)


@pytest.mark.parametrize(
    ("joint", "kind"),
    [
        (ph.Revolute, SymbolKind.PIN),
        (ph.Prismatic, SymbolKind.RAIL),
        (ph.Planar, SymbolKind.PLANE),
        (ph.Universal, SymbolKind.CROSS),
        (ph.Fixed, SymbolKind.FIXED),
        (ph.Spherical, SymbolKind.BALL),
    ],
)
def test_each_joint_has_its_symbol(joint, kind):
    model, *_ = grounded(ph.RigidBody.sphere(0.1, 100.0), joint, name="ball")
    assert scene_at_start(model).symbols[-1].kind is kind


def test_symbols_turn_with_beams_that_bend():
    body = ph.Beam(1.0, ph.CircularSection(0.02), ALUMINIUM, elements=4)
    model, beam, _ = grounded(body, dimension=2, name="beam")
    model.apply(ph.Force(beam.end, (0.0, 30.0, 0.0)))
    rest = model.equilibrium()
    drawn = scene_of(rest.run, np.array([0]))
    end = next(arrow.anchor for arrow in drawn.arrows)
    bent = drawn.directions(end, np.array([1.0, 0.0, 0.0]))[0]
    assert bent[1] > 0.02 and bent == pytest.approx(rest.rotation(beam.end)[:, 0], abs=1e-3)


def test_a_model_is_drawn_as_it_was_put_together_and_stays_open_to_changes():
    """A look does not settle the frames of beams, which a joint added later may choose."""
    model = ph.Model(dimension=2)
    beam = model.add(ph.Beam(1.0, ph.CircularSection(0.02), ALUMINIUM), "beam", (0, 1, 0), np.pi / 2)
    rope = model.add(ph.String(1.0, 0.1, 4, ph.LinearLaw(20.0)), "rope", shape=((0, 2, 0), (1, 2, 0)))
    drawn = scene_at_start(model)
    model.connect(ph.Fixed(model.ground.at((0, 1, 0)), beam.start))
    assert beam.resolved.frame.value == "cantilever"
    assert drawn.bodies[0].nodes()[0, -1] == pytest.approx([0, 2, 0], abs=1e-15)
    assert drawn.bodies[1].nodes()[0, [0, -1]] == pytest.approx(np.array([[0, 2, 0], [1, 2, 0]]))
    assert rope.name == "rope" and drawn.size == pytest.approx(1.02, abs=0.02)


def test_a_beam_in_parts_has_one_colour_and_no_symbols_at_its_cuts():
    part = ph.Beam(1.0, ph.CircularSection(0.02), ALUMINIUM, elements=2).split(3)
    model, *_ = grounded(part, ph.Revolute, dimension=2, name="arm")
    drawn = scene_at_start(model)
    assert {body.whole for body in drawn.bodies} == {"arm"}
    assert len({body.color for body in drawn.bodies}) == 1
    assert [symbol.kind for symbol in drawn.symbols] == [SymbolKind.GROUND, SymbolKind.PIN]


@pytest.mark.parametrize("section", [ph.CircularSection(0.1), ph.RectangularSection(0.1, 0.2)], ids=str)
def test_a_beam_is_a_closed_prism_of_its_section(section):
    body = ph.Beam(2.0, section, ALUMINIUM, elements=2)
    skin = body.skin(body.discretize(3), np.zeros((0, 3)))
    surface = Triangulation(skin.positions[skin.vertex_nodes] + skin.offsets, skin.triangles)
    assert open_edges(surface) == 0
    assert enclosed_moments(surface).volume == pytest.approx(2.0 * section.area, rel=0.05)
    along = np.einsum("ti,tki->tk", surface.normals(), skin.normals[skin.triangles])
    assert along.min() > 0.9  # of a polygon the corners point elsewhere than the sides
    tube = tube_skin(np.zeros((2, 3)), np.zeros((2, 3, 0)), np.zeros((2, 3, 0)), 2 * [circle(0.1)])
    assert tube.width == pytest.approx((0.2, 0.2))


def test_rigid_bodies_of_unknown_shape():
    """A block held at its sides is a block; a rod is a rod; the rotor of a gear is no giant box."""
    center = np.zeros(3)
    sides = np.array([[0.5, 0, 0], [-0.5, 0, 0]])
    block = ph.RigidBody(6.0, (1.0, 1.0, 1.0))
    skin = block.skin(block.discretize(3), sides)
    assert np.ptp(skin.offsets, axis=0) == pytest.approx([1.0, 1.0, 1.0])
    rod = ph.RigidBody(12.0, (0.01, 1.0, 1.0))
    assert not rod.skin(rod.discretize(3), sides).has_surface
    assert len(rod.skin(rod.discretize(3), sides).lines) == 2
    rotor = ph.RigidBody(1.0, (1.0, 1.0, 1.0))
    assert not rotor.skin(rotor.discretize(3), 0.1 * sides).has_surface
    assert not rotor.skin(rotor.discretize(3), center[None]).lines
    assert rotor.skin(rotor.discretize(3), np.zeros((0, 3))).has_surface


def test_looks_are_kept_in_files_and_do_not_keep_a_run_from_going_on(tmp_path):
    def model(color):
        made = ph.Model(dimension=2, gravity=(0, -9.81, 0))
        made.add(ph.RigidBody(1.0, 0.1, shape=ph.Sphere(0.2), color=color), "ball")
        made.add(ph.PointMass(1.0, color="red"), "mass", position=(1, 0, 0))
        return made

    path = tmp_path / "run.h5"
    model("red").simulate(0.1, 0.01, output=path, progress=False)
    loaded = ph.Motion.load(path)
    assert loaded["ball"].body.color == loaded["mass"].body.color == "#b03a5b"
    assert loaded["ball"].body.shape.radius == 0.2
    assert model(None).resume(path, 0.2, 0.01, progress=False).time[-1] == pytest.approx(0.2)


def test_the_path_of_a_moving_frame_is_a_curve_however_few_instants_are_stored():
    """A circle through five instants is drawn round, also from a file, which holds no functions."""
    model = ph.Model(dimension=2)
    mass = model.add(ph.PointMass(1.0), position=(0.2, 0, 0))
    pin = model.ground.moving(lambda t: (0.2 * np.cos(2 * np.pi * t), 0.2 * np.sin(2 * np.pi * t), 0.0))
    model.connect(ph.Revolute(pin, mass.origin))
    paths = scene_of(model.simulate(1.0, 0.01, every=25, progress=False).run, np.arange(5)).paths
    assert paths.shape[0] > 200 and paths.shape[1:] == (1, 3)
    assert np.linalg.norm(paths[:, 0], axis=1) == pytest.approx(0.2, rel=0.03)
    assert paths[0, 0] == pytest.approx([0.2, 0, 0]) and paths[-1, 0] == pytest.approx([0.2, 0, 0])


def test_what_bodies_touch_is_drawn_where_it_is_and_once():
    """A floor under all that moves, a disc that turns with its carrier, a capsule; not what a body shows anyway."""
    model = ph.Model(gravity=(0, 0, -9.81))
    ball = model.add(ph.RigidBody.sphere(0.1, 1000.0), "ball", position=(2, 0, 0.5), velocity=(3.0, 0, 0))
    disc = model.add(ph.RigidBody(1.0, (1, 1, 1.5)), "disc", (0, 0, 1), angular_velocity=(0, 0, 2.0))
    floor = ph.Plane(model.ground.at((0, 0, 0)), normal=(0, 0, 2))
    rail = ph.Capsule(model.ground.at((0, 1, 0)), model.ground.at((2, 1, 0)), 0.25)
    touched = [floor, floor, ph.Surface(disc.point((0, 0, 0.3)), ph.Cylinder(0.2, 0.1, axis=(1, 0, 0))), rail]
    for each in touched:
        model.apply(ph.Contact(ball.origin, each, stiffness=1e5, radius=0.1))
    model.apply(ph.Contact(disc.origin, ph.Surface(ball.origin, ph.Sphere(0.1)), stiffness=1.0, radius=0.1))
    motion = model.simulate(0.1, 0.01, progress=False)
    drawn = scene_of(motion.run, np.array([0, 10]))
    assert not drawn.symbols
    slab, wheel, tube = drawn.surfaces
    assert slab.vertices()[1, :, 2].max() == pytest.approx(0.0, abs=1e-12)
    assert slab.vertices()[1, :, 0].max() > drawn.bodies[0].vertices()[1, :, 0].max()
    places = motion.position(disc.point((0, 0, 0.3)))[[0, 10]]
    assert wheel.vertices().mean(axis=1) == pytest.approx(places, abs=1e-12)
    width = np.abs((wheel.vertices()[1] - places[1]) @ motion.rotation(disc)[10, :, 0])
    assert width == pytest.approx(np.full(len(width), 0.05), abs=1e-12)
    volume = np.pi * 0.25**2 * 2 + 4 / 3 * np.pi * 0.25**3
    surface = Triangulation(tube.skin.offsets, tube.skin.triangles)
    assert enclosed_moments(surface).volume == pytest.approx(volume, rel=0.03)
    assert open_edges(surface) == 0


def test_a_rod_is_as_long_as_it_is_and_its_pieces_leave_no_gaps_where_it_bends() -> None:
    """Two neighbours that are bent by 0.3 rad about the middle between them meet at the outer side."""
    model = ph.Model()
    rod = model.add(ph.Rod(1.0, ph.RectangularSection(0.1, 0.02), ALUMINIUM, 4), "rod")
    places = [body.vertices()[0, :, 0] for body in scene_at_start(model).bodies if body.whole == rod.name]
    assert min(x.min() for x in places) == pytest.approx(0.0, abs=1e-15)
    assert max(x.max() for x in places) == pytest.approx(1.0)
    laps = [before.max() - after.min() for before, after in pairwise(places)]
    assert min(laps) / 2 > 0.05 * np.tan(0.15)
