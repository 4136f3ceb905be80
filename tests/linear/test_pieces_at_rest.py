"""Equilibria and linear models of edges that cross and lines between their nodes on solids: runs are theirs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.linear import equilibria
from phlexible.state.small_motions import centring_matrix, world_matrix

GRAVITY = 9.81
ACROSS, TILT = (Rotation.from_rotvec(turn).as_matrix() for turn in ((0, 0, np.pi / 2), (np.pi / 4, 0, 0)))
PLANK = (0.5, 0.08, 0.04)


def planks(kind, friction, height=0.06):
    """One lies across another on the floor; all corners of both are beside the other."""
    shape, model = ph.Box(PLANK).centred(), ph.Model(gravity=(0, 0, -GRAVITY))
    plank = ph.RigidBody.box(PLANK, 500.0)
    if kind == "mesh":
        plank = ph.RigidBody.from_mesh(shape.vertices, shape.triangles, 500.0)
    low = model.add(plank, "low", position=(0, 0, 0.02))
    high = model.add(plank, "high", position=(0, 0, height), rotation=ACROSS)
    model.apply(ph.Contact([low, high, ph.Plane(model.ground.at((0, 0, 0)))], stiffness=1e4, friction=friction))
    return model, [high.origin, high.point((0.2, 0.03, 0.02)), low.point((0.2, 0.03, 0.02))]


def edges(friction):
    """A bar on springs, edge down, lies on the edge of another."""
    model, place = ph.Model(gravity=(0, 0, -GRAVITY)), (0.01, 0.02, 0.1408)
    body = ph.RigidBody.box((0.4, 0.1, 0.1), 500.0)
    low = model.add(body, "low", rotation=TILT)
    high = model.add(body, "high", position=place, rotation=ACROSS @ TILT)
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), low.origin))
    model.apply(ph.Bushing(model.ground.at(place), high.origin, 50.0, rotational_stiffness=5.0))
    model.apply(ph.Contact([low, high], stiffness=1e4, friction=friction))
    return model, [high.origin, high.point((0.2, 0.03, 0.02))]


def line(kind):
    """A beam or rope over a bar that is thinner than its elements are long."""
    model = ph.Model(gravity=(0, 0, -GRAVITY))
    block = model.add(ph.RigidBody.box((0.04, 0.3, 0.04), 2000.0), "bar", position=(0.01, 0, 0))
    model.connect(ph.Fixed(model.ground.at((0.01, 0, 0)), block.origin))
    if kind == "beam":
        body = ph.Beam(0.6, ph.CircularSection(0.01), ph.Material(1e8, 1000.0), elements=5)
        placed = model.add(body, "line", position=(-0.3, 0, 0.025))
        model.connect(ph.Fixed(model.ground.at((-0.3, 0, 0.025)), placed.start))
        radius, ports = 5e-3, [placed.end, placed.at(0.3)]
    else:
        body, radius = ph.String(1.0, 0.1, 9, ph.LinearLaw(200.0)), 0.0
        placed = model.add(body, "line", shape=[(-0.5, 0, 0.02), (0.5, 0, 0.02)])
        for port, x in ((placed.start, -0.5), (placed.end, 0.5)):
            model.connect(ph.Spherical(model.ground.at((x, 0, 0.02)), port))
        ports = [placed.at(4 / 9), placed.at(3 / 9)]
    model.apply(ph.Contact([placed], [block], radius=radius, stiffness=1e3, friction=0.4, restitution=1))
    return model, ports


def rods():
    """A clamped rod bends over another, and rubs along it."""
    model, material = ph.Model(gravity=(0, 0, -GRAVITY)), ph.Material(1e8, 1000.0)
    rod = ph.Rod(0.6, ph.CircularSection(0.01), material, elements=3)
    one = model.add(rod, "one", position=(-0.3, 0, 0.0101))
    other = model.add(rod, "other", position=(0.02, -0.3, 0), rotation=ACROSS)
    for port in (one.start, other.start, other.end):
        model.connect(ph.Fixed(model.ground.at(port.initial_position()), port))
    model.apply(ph.Contact([one], [other], radius=5e-3, stiffness=1e4, friction=0.4))
    return model, [one.end, one.at(0.3), other.at(0.3)]


def offset():
    """A box on a box, offset along both edges and turned: two corners alone do not carry it."""
    model, shape = ph.Model(gravity=(0, 0, -GRAVITY)), ph.RigidBody.box((0.2, 0.2, 0.1), 500.0)
    low = model.add(shape, "low", position=(0, 0, 0.05))
    around = Rotation.from_rotvec((0, 0, 0.4)).as_matrix()
    high = model.add(shape, "high", position=(-0.05, 0.03, 0.15), rotation=around)
    model.apply(ph.Contact([low, high, ph.Plane(model.ground.at((0, 0, 0)))], stiffness=1e5, friction=0.4))
    return model, [high.origin]


def pile():
    """Two logs between walls, and a third one on them, a little aside."""
    model, radius, length = ph.Model(gravity=(0, 0, -GRAVITY)), 0.05, 0.4
    shape = ph.RigidBody.cylinder(radius, length, 500.0, axis=(0, 1, 0))
    logs = [
        model.add(shape, name, position=place)
        for name, place in (("a", (-0.052, 0, 0.05)), ("b", (0.052, 0, 0.05)), ("c", (2e-4, 0.006, 0.1354)))
    ]
    walls = [
        ph.Plane(model.ground.at(place), normal)
        for place, normal in (((0, 0, 0), (0, 0, 1)), ((-0.102, 0, 0), (1, 0, 0)), ((0.102, 0, 0), (-1, 0, 0)))
    ]
    round_ends = [ph.Capsule(log.point((0, -length / 2, 0)), log.point((0, length / 2, 0)), radius) for log in logs]
    model.apply(ph.Contact([*round_ends, *walls], stiffness=1e5, friction=0.4))
    return model, [logs[2].origin]


def round_ones():
    """Balls that springs press against a ring and the rim of a drum."""
    model = ph.Model(gravity=(0, 0, -GRAVITY))
    shape, springs = ph.RigidBody.sphere(0.05, 500.0), {"stiffness": 200.0, "rotational_stiffness": 5.0}
    places = {"ring": (0.24, 0.1, 0.14), "drum": (0.235, 1.0, 0.1355)}
    balls = [model.add(shape, name, position=place) for name, place in places.items()]
    for ball, place in zip(balls, places.values(), strict=True):
        model.apply(ph.Bushing(model.ground.at(place), ball.origin, **springs))
    ring = ph.Surface(model.ground.at((0.0, 0.0, 0.06)), ph.Torus(0.2, 0.05))
    drum = model.add(ph.RigidBody.cylinder(0.2, 0.2, 500.0), "still", position=(0, 1.0, 0))
    model.connect(ph.Fixed(model.ground.at((0, 1.0, 0)), drum.origin))
    model.apply(ph.Contact(balls, [ring, drum], stiffness=1e4, friction=0.4))
    return model, [ball.origin for ball in balls]


def kicked(model, rest, sensors, modes):
    """The state at rest that moves along the sum of its first modes, and readings of the linear model by time."""
    linear = model.linearize([], sensors, about=rest)
    free, size = linear.eliminate_constraints(), linear.mechanics.size
    A = np.linalg.solve(free.descriptor.toarray(), free.system_matrix.toarray())
    kick = 1e-6 * linear.modes(modes).shapes.sum(axis=1).real
    system = linear.linearization.system
    turned = world_matrix(system, rest.state) @ centring_matrix(system, rest.state) @ kick
    start = np.zeros(linear.state_size)
    start[size : 2 * size] = kick
    names = dict(zip(linear.state_names, start, strict=True))
    x = np.array([names[name] for name in free.state_names])
    return replace(rest.state, velocity=turned), lambda time: free.output_matrix @ expm(A * time) @ x


def misses(model, rest, ports, duration=0.01, step=1e-4):
    """How far a small motion of the step is from that of the linear model, over its size."""
    start, readings = kicked(model, rest, [ph.Velocity(port, axis) for port in ports for axis in np.eye(3)], 6)
    motion, wanted = model.simulate(duration, step, initial=start, progress=False), readings(duration)
    found = np.concatenate([motion.velocity(port)[-1] for port in ports])
    return np.linalg.norm(found - wanted) / np.linalg.norm(wanted)


@pytest.mark.parametrize(("friction", "start"), [(0.3, (1e-4, 0, 1e-4)), (0.0, (2.4e-3, 5.8e-3, 2.3e-3))])
def test_a_ball_rests_on_a_ring(friction, start):
    """From beside its axis, about which Newton's iterates take turns."""
    model = ph.Model(gravity=(0, 0, -9.81))
    body = ph.RigidBody.sphere(0.1, 500.0)
    height = np.sqrt(0.12**2 - 0.08**2)
    ball = model.add(body, "ball", position=np.array([0, 0, height]) + start)
    ring = ph.Surface(model.ground.at((0, 0, 0)), ph.Torus(0.08, 0.02))
    model.apply(ph.Contact(ball, ring, stiffness=1e5, friction=friction))
    depth = body.mass * 9.81 / 1e5 / (height / 0.12) ** 2
    sunk = model.equilibrium().position(ball.origin) - (0, 0, height)
    assert sunk[:2] == pytest.approx([0, 0], abs=1e-15)
    assert sunk[2] == pytest.approx(-depth, rel=0.01)


def test_a_plank_that_starts_above_another_rests_across_it():
    """Two edges of each push; F is 1e-6 of an edge more than the distance."""
    model, (place, *_) = planks("box", 0.4, 0.0601)
    rest = model.equilibrium()
    weight = 500 * np.prod(PLANK) * GRAVITY
    beside = 1e-6 * 0.98 * PLANK[0]
    assert rest.position(place)[2] == pytest.approx(0.06 - beside - 2 * weight / 4e4 - weight / 4e4, abs=1e-8)
    assert rest.is_stable and rest.slipped == ()


def test_what_starts_above_thin_bars_rests_on_them():
    """Not on the floor below, nor below the bars: who comes near on the way is looked for."""
    model, thick = ph.Model(gravity=(0, 0, -GRAVITY)), 0.004
    box = model.add(ph.RigidBody.box((0.2, 0.2, 0.1), 500.0), "box", position=(0, 0, 0.172))
    bars = [ph.Surface(model.ground.at((x, 0, 0.1)), ph.Box((0.01, 0.5, thick))) for x in (-0.05, 0.05)]
    model.apply(ph.Contact([box, *bars, ph.Plane(model.ground.at((0, 0, 0)))], stiffness=1e5, friction=0.3))
    height = model.equilibrium().position(box.origin)[2]
    weight, beside = 500 * 0.2 * 0.2 * 0.1 * GRAVITY, 0.02 * 0.05 * 0.1
    assert 0.152 - weight / 1e5 < height < 0.152 - beside / 10


def test_a_rope_that_sags_onto_a_bar_rests_on_it_and_does_not_fall_through():
    model, _ = line("rope")
    rest, bar = model.equilibrium(), model.bodies[0]
    beside = [node for node in rest.state.position[1:] if abs(node[0] - 0.01) < 0.1]
    assert rest.position(bar.origin)[2] == pytest.approx(0.0, abs=1e-15) and min(node[2] for node in beside) > 0.0


def test_a_search_that_took_rough_steps_ends_with_exact_ones(monkeypatch):
    """Whether shorter steps of the rope fail too depends on the last digit of its weight."""
    monkeypatch.setattr(equilibria, "LOST", 1.0)  # so that each step that fails is followed by rough ones
    model, _ = line("rope")
    motion = model.simulate(0.01, 1e-3, initial=model.equilibrium().state, progress=False)
    assert np.abs(motion.recording.velocity).max() <= 1e-10


@pytest.mark.parametrize("options", [{"damping": 300.0}, {"damping": 300.0, "exponent": 1.5}, {"restitution": 0.4}])
def test_what_damps_a_contact_damps_its_linear_model(options):
    """The force k x^p of a weight at depth x has the damping d x^p: of a contact of two and of lists."""
    k, body = 1e4, ph.RigidBody.sphere(0.05, 1000.0)
    weight, exponent = body.mass * GRAVITY, options.get("exponent", 1.0)
    depth, found = (weight / k) ** (1 / exponent), []
    for is_searched in (False, True):
        model = ph.Model(gravity=(0, 0, -GRAVITY))
        ball = model.add(body, "ball", position=(0, 0, 0.05 - depth))
        model.connect(ph.Prismatic(model.ground.at((0, 0, 0.05 - depth)), ball.origin, axis=(0, 0, 1)))
        floor = ph.Plane(model.ground.at((0, 0, 0)))
        touched = ([ball], [floor]) if is_searched else (ball.origin, floor)
        radius = {} if is_searched else {"radius": 0.05}
        contact = model.apply(ph.Contact(*touched, stiffness=k, **radius, **options))
        mechanics = model.linearize(about=model.equilibrium()).mechanics
        law = contact.normal_law()
        damping = law.damping if law.restitution is None else law.impact_damping / law.slowest
        assert mechanics.damping.toarray()[2, 2] == pytest.approx(damping * depth**exponent, rel=1e-6)
        slope = exponent * k * depth ** (exponent - 1)
        assert mechanics.stiffness.toarray()[2, 2] == pytest.approx(slope, rel=1e-6)
        found.append(mechanics.damping.toarray()[2, 2])
    assert found[0] > 0.1 and found[1] == pytest.approx(found[0], rel=1e-6)


def test_a_box_that_just_touches_has_no_stiffness():
    """Without weight its corners push in one half of all small motions; tilting it makes nothing unstable."""
    model = ph.Model()
    box = model.add(ph.RigidBody.box((0.2, 0.2, 0.1), 500.0), position=(0, 0, 0.05))
    model.apply(ph.Contact([box, ph.Plane(model.ground.at((0, 0, 0)))], stiffness=1e5, friction=0.3))
    assert not model.linearize(at="static").mechanics.stiffness.nnz


def test_pairs_that_touch_are_stresses():
    """A ball on a plane; two balls, whose normal turns, push each other aside."""
    model = ph.Model()
    ball, floor = model.add(ph.RigidBody.sphere(0.05, 500.0), position=(0, 0, 0.0499)), model.ground.at((0, 0, 0))
    model.apply(ph.Contact([ball], [ph.Plane(floor)], stiffness=1e4, friction=0.3, restitution=1))
    forms = ("displacement", "stress")
    one, other = (model.linearize(at="unloaded", form=form).modes(6).frequencies for form in forms)
    assert one == pytest.approx(other, rel=1e-9, abs=1e-4)
    assert np.abs(one / np.sqrt(1e4 / ball.data.mass) - 1).min() < 1e-9
    model = ph.Model()
    balls = [model.add(ph.RigidBody.sphere(0.05, 500.0), position=(0.0999 * k, 0, 0)) for k in range(2)]
    model.apply(ph.Contact(balls, stiffness=1e4))
    with pytest.raises(ph.EquilibriumError, match="pushes away from rest"):
        model.linearize(at="unloaded", form="stress")


def test_what_linear_models_of_contacts_among_many_do_not_have_is_said():
    """Parallel logs, whose friction wanders; a rotation in which bodies touch."""
    with pytest.warns(match="friction of contacts without potential, which only modes have"):
        model = pile()[0]
        model.linearize(about=model.equilibrium())
    model = ph.Model()
    balls = [model.add(ph.RigidBody.sphere(0.05, 500.0), position=(0.0999 * k, 0, 0)) for k in range(2)]
    model.apply(ph.Contact(balls, stiffness=1e4))
    with pytest.raises(ph.EquilibriumError, match="bodies of a contact among many touch in the rotation"):
        model.linearize(at="steady_rotation")


def test_what_slides_off_without_friction_is_refused_with_the_reason():
    """A stone on a floor that leans by 2 degrees."""
    model = ph.Model(gravity=(0, 0, -GRAVITY))
    stone = model.add(ph.PointMass(1.0), "stone")
    model.apply(ph.Contact(stone.origin, ph.Plane(model.ground.at((0, 0, 0)), (0.03, 0, 1)), stiffness=1e5))
    with pytest.raises(ph.EquilibriumError, match="what touches without friction slides off all that leans"):
        model.equilibrium()


@pytest.mark.parametrize(
    ("build", "stays", "close"),
    [
        (lambda: planks("box", 0.4), 1e-13, 1e-3),
        (lambda: planks("mesh", 0.4), 5e-12, None),
        (lambda: edges(0.4), 1e-11, 1e-3),
        pytest.param(lambda: edges(0.1), 1e-9, None, marks=pytest.mark.thorough),  # slips, as the beam does
        (lambda: line("rope"), 1e-10, 1e-4),
        (lambda: line("beam"), 1e-9, None),  # which slips
        (rods, 1e-7, None),
        (offset, 1e-9, None),
        pytest.param(pile, 1e-8, None, marks=pytest.mark.thorough),
        (round_ones, 1e-9, None),
    ],
    ids=[
        *("planks", "meshes", "edges", "edges that slip", "rope", "beam", "rods"),
        *("offset boxes", "logs in a pile", "balls on rims"),
    ],
)
@pytest.mark.filterwarnings(
    "ignore::phlexible.errors.SlackStringWarning", "ignore::phlexible.LargeDeflectionWarning"
)
def test_a_run_from_rest_stays_and_swings_as_the_linear_model(build, stays, close):
    """Bristles stay as far bent as they hold."""
    model, ports = build()
    rest = model.equilibrium()
    assert np.abs(model.simulate(0.01, 1e-3, initial=rest.state, progress=False).recording.velocity).max() <= stays
    if close:
        assert misses(model, rest, ports) <= close


@pytest.mark.parametrize("time", [0.1, 1e-2, 1e-3, 1e-6])
def test_contact_stays_stiff_beside_laws_that_creep_fast(time):
    """Two balls on a floor, joined by a spring that creeps, vibrate on contacts as with a plain one."""

    def balls(**more):
        model = ph.Model(gravity=(0, 0, -9.81))
        floor = ph.Plane(model.ground.at((0, 0, 0)), normal=(0, 0, 1))
        shape = ph.RigidBody.sphere(0.1, density=500.0)
        pair = [model.add(shape, f"ball {x}", position=(x, 0, 0.1)) for x in (0.0, 0.3)]
        model.apply(ph.Contact(pair, [*pair, floor], stiffness=1e5, friction=0.4, bristle=1e5))
        model.apply(ph.SpringDamper(pair[0].origin, pair[1].origin, stiffness=1e3, length=0.3, **more))
        return model.linearize(at="static").modes(12).frequencies

    plain, creeping = balls(), balls(relaxation=ph.Maxwell([(2e3, time)]))
    for number in plain[plain > 100.0]:  # of contact and bristles across the spring
        assert np.abs(creeping - number).min() < 1e-3 * number
