"""Joints that slide along rods and strings: invariants, order, closed forms, Exudyn, and what runs do with them."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from derivatives.whole_runs import by_differences
from phlexible.description.interactions.functions import initial_vector
from phlexible.description.joints.sliding import line_of
from phlexible.errors import ConvergenceError, ModelError
from phlexible.state.initial_velocity import undeformed
from phlexible.state.system import system_of
from step.kernels.newton import Newton, largest_slope_error

BEND = 0.3  # curvature of the rods and strings [1/m]
TURNED = Rotation.from_rotvec([0, 0, 0.3])


def arc(s):
    return np.sin(BEND * s) / BEND, (1 - np.cos(BEND * s)) / BEND, 0.0


def rod_in(model, shape=arc, elements=5, modulus=1e7, **options):
    body = ph.Rod(1.0, ph.CircularSection(0.02), ph.Material(modulus, 1000.0), elements=elements, **options)
    return model.add(body, "line", shape=shape)


def string_in(model, shape=arc, elements=8, **options):
    body = ph.String(1.0, 0.3, elements, ph.LogarithmicLaw(200.0), **options)
    return model.add(body, "line", shape=lambda s: 1.02 * np.array(shape(s)))


def beam_in(model, elements=5, modulus=1e7, **options):
    beam = ph.Beam(1.0, ph.CircularSection(0.02), ph.Material(modulus, 1000.0), elements=elements, **options)
    return model.add(beam, "line", rotation=TURNED)


def split_beam_in(model):
    part = ph.Beam(1.0, ph.CircularSection(0.02), ph.Material(1e7, 1000.0), elements=6)
    return model.add(part.split(2), "line", rotation=TURNED)


def place_and_tangent(line, s):
    line = line_of(line)
    vectors = np.array([initial_vector(each) for each in line.vectors])
    return (line.weights_at(s) @ vectors)[:2]


def bead(model, line, s, speed=1.0, mass=0.2, spin=None):
    """A point mass, or a body if it has a spin, that slides."""
    place, tangent = place_and_tangent(line, s)
    body = ph.PointMass(mass) if spin is None else ph.RigidBody(mass, (2e-4, 3e-4, 1e-4), (0.01, 0.02, 0))
    velocity = None if speed is None else speed * tangent
    placed = model.add(body, "bead", place, velocity=velocity, angular_velocity=spin)
    return placed, model.connect(ph.Sliding(placed.origin, line))


def fixed_rod(model, shape, elements=10, **options):
    rod = rod_in(model, shape, elements, **options)
    for node in rod.nodes():
        model.connect(ph.Fixed(model.ground.at(node.initial_position()), node))
    return rod


FREE = [
    (rod_in, None, 3),
    (rod_in, None, 2),
    (rod_in, (1.0, 2.0, -3.0), 3),
    (rod_in, (0.0, 0.0, 3.0), 2),
    (string_in, None, 3),
    (string_in, (1.0, 2.0, -3.0), 3),
    (string_in, (0.0, 0.0, 3.0), 2),
    (beam_in, (1.0, 2.0, -3.0), 3),
    (beam_in, (0.0, 0.0, 3.0), 2),
    (split_beam_in, (1.0, 2.0, -3.0), 3),
]


def bead_in_flight(line_in, spin, dimension):
    """Over three borders of pieces in 0.5 s; ``tests/fuzz`` holds the models to all laws."""
    model = ph.Model(dimension=dimension)
    bead(model, line_in(model), 0.21, spin=spin)
    return model


@pytest.mark.parametrize(("line_in", "spin", "dimension"), FREE)
@pytest.mark.parametrize("at", [0.21, 0.2500001, 0.6, 0.01])
def test_newtons_matrix_is_that_of_dual_numbers(line_in, spin, dimension, at):
    model = ph.Model(gravity=(0, 0, 0), dimension=dimension)
    _, slide = bead(model, line_in(model), at, spin=spin)
    model.apply(slide.spring(4.0, rest=0.3))
    model.apply(slide.friction(coefficient=0.2, bristle=1e3))
    if at == 0.6:
        model.apply(slide.drive(position=lambda t: 0.6 + t))
    start = undeformed(system_of(model))
    rng = np.random.default_rng(1)
    before, change = rng.normal(size=(2, len(start.velocity)))
    newton = Newton(model, replace(start, velocity=before), 2e-3, 0.1)
    unknowns = np.concatenate([before + 0.3 * change, 10.0 * rng.normal(size=newton.rows)])
    assert largest_slope_error(newton, unknowns) < 1e-12


@pytest.mark.parametrize("line_in", [rod_in, string_in])
@pytest.mark.filterwarnings("ignore::phlexible.errors.SlackStringWarning")
@pytest.mark.filterwarnings("ignore::phlexible.errors.LargeDeflectionWarning")
def test_steps_are_of_second_order_across_borders(line_in):
    def end(step):
        model = ph.Model(gravity=(0, -9.81, 0))
        soft = {"modulus": 1e6, "elements": 10} if line_in is rod_in else {"order": 2, "viscosity": 0.02}
        line = line_in(model, **soft)
        for port in (line.start, line.end):
            model.connect(ph.Spherical(model.ground.at(port.initial_position()), port))
        placed, slide = bead(model, line, 0.27 if line_in is rod_in else 0.21, speed=None)
        motion = model.simulate(0.2, step=step)
        return np.append(motion.position(placed.origin)[-1], motion[ph.JointPosition(slide)][-1])

    ends = [end(step) for step in (4e-3, 2e-3, 1e-3, 2.5e-4)]
    errors = [np.abs(each - ends[-1]).max() for each in ends[:-1]]
    assert errors[1] / errors[2] > 3 and errors[0] / errors[2] > 9


def test_a_bead_on_a_fixed_circle_keeps_its_speed_and_feels_the_centripetal_force():
    model = ph.Model(gravity=(0, 0, 0), dimension=2)
    rod = fixed_rod(model, lambda s: (np.sin(2 * s) / 2, (1 - np.cos(2 * s)) / 2, 0.0), 16)
    placed, slide = bead(model, rod, 0.05, speed=1.0, mass=0.3)
    motion = model.simulate(0.8, step=2e-3)
    speed = np.linalg.norm(motion.velocity(placed.origin), axis=1)
    assert np.abs(speed - 1.0).max() < 1e-4  # velocities at instants are projected
    assert motion[ph.JointPosition(slide)][-1] == pytest.approx(0.85, abs=2e-4)
    assert np.abs(motion.energy.balance_error).max() < 1e-15
    middle, half = motion.reaction(slide)[200], motion.position(placed.origin)[200] - [0, 0.5, 0]
    assert middle == pytest.approx(-0.3 * half / 0.25, abs=6e-3)  # m v^2 / R towards the centre


def test_a_bead_on_a_whirling_stiff_rod_runs_out_like_cosh():
    model = ph.Model(gravity=(0, 0, 0), dimension=2)
    rod = rod_in(model, None, 4, modulus=2e12)
    hub = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), rod.start))
    model.apply(hub.drive(angle=lambda t: 2.0 * t, rate=lambda t: 2.0))
    _, slide = bead(model, rod, 0.1, speed=None, mass=1e-4)
    motion = model.simulate(1.0, step=1e-3)
    assert motion[ph.JointPosition(slide)] == pytest.approx(0.1 * np.cosh(2.0 * motion.time), abs=2e-6)


@pytest.mark.parametrize("size", [None, 0.02])
@pytest.mark.parametrize("kind", ["rod", "string", "beam"])
def test_a_bead_that_starts_from_rest_slides_as_coulomb_says(kind, size):
    """By the friction spring that is chosen for it, which is stretched first: a t^2 / 2 after 0.39 m."""
    slope, mu, down = 0.6, 0.3, np.array([np.cos(0.6), -np.sin(0.6), 0.0])
    model = ph.Model(gravity=(0, -9.81, 0))
    if kind == "rod":
        line = fixed_rod(model, [(0, 0, 0), down])
    elif kind == "beam":
        stiff = ph.Beam(2.0, ph.CircularSection(0.02), ph.Material(2e13, 1000.0))
        line = model.add(stiff, "line", rotation=Rotation.from_rotvec((0, 0, -slope)))
        model.connect(ph.Fixed(model.ground.at((0, 0, 0)), line.start))
    else:
        rope = ph.String(2.0, 0.01, 6, ph.StVenantKirchhoffLaw(1e4))
        line = model.add(rope, "line", shape=[(0, 0, 0), 2 * down])
        for s in rope.mesh.nodes:
            port = line.at(float(s))
            model.connect(ph.Spherical(model.ground.at(port.initial_position()), port))
    bead = ph.PointMass(0.2) if size is None else ph.RigidBody(0.2, 1e-4 * np.ones(3), shape=ph.Sphere(size))
    slide = model.connect(ph.Sliding(model.add(bead, "bead", 0.1 * down).origin, line))
    model.apply(slide.friction(coefficient=mu))
    motion = model.simulate(0.5, step=1e-3, progress=False)
    way = 9.81 * (np.sin(slope) - mu * np.cos(slope)) * 0.5**2 / 2
    assert motion[ph.JointPosition(slide)][-1] - 0.1 == pytest.approx(way, rel=3e-3)


def test_a_bead_rests_on_the_stop_of_its_rope():
    """The weight of the bead bends the stop, not that of a node of the rope."""
    model = ph.Model(gravity=(0, -9.81, 0))
    rope = ph.String(1.0, 0.01, 6, ph.StVenantKirchhoffLaw(1e4))
    placed = model.add(rope, "rope", shape=[(0, 0, 0), (0, -1, 0)])
    for s in rope.mesh.nodes:
        port = placed.at(float(s))
        model.connect(ph.Spherical(model.ground.at(port.initial_position()), port))
    slide = model.connect(ph.Sliding(model.add(ph.PointMass(0.5), "bead", (0, -0.5, 0)).origin, placed))
    model.apply(slide.stop(upper=0.6))
    model.apply(slide.damper(5.0))
    motion = model.simulate(0.6, step=2e-3, progress=False)
    assert motion[ph.JointPosition(slide)][-1] == pytest.approx(0.6, abs=1e-4)


@pytest.mark.parametrize("coefficient", [0.3, 0.0])
def test_friction_on_a_stretched_string_brakes_as_on_the_way_in_space(coefficient):
    """By the force across the line, or by a constant force, on a string that is held at its nodes."""
    model = ph.Model(gravity=(0, -9.81, 0))
    rope = ph.String(1.0, 0.01, 6, ph.StVenantKirchhoffLaw(10.0))
    placed = model.add(rope, "rope", shape=np.linspace((0, 0, 0), (1.5, 0, 0), 7))
    for s in rope.mesh.nodes:
        port = placed.at(float(s))
        model.connect(ph.Spherical(model.ground.at(port.initial_position()), port))
    bob = model.add(ph.PointMass(0.2), "bob", position=(0.3, 0, 0), velocity=(1.2, 0, 0))
    slide = model.connect(ph.Sliding(bob.origin, placed))
    limit = 0.2 * 9.81 * 0.3
    coulomb = 0.0 if coefficient else limit
    model.apply(slide.friction(coulomb, coefficient=coefficient, bristle=1e5, bristle_damping=5.0))
    motion = model.simulate(0.2, step=1e-3)
    speed = motion.velocity(bob.origin)[:, 0]
    assert (speed[180] - speed[20]) / 0.16 == pytest.approx(-limit / 0.2, rel=1e-6)
    way = motion.position(bob.origin)[[20, 180], 0]
    assert np.diff(motion.energy.dissipated[[20, 180]]) == pytest.approx(limit * np.diff(way), rel=1e-6)


@pytest.mark.parametrize("case", ["free", "friction", "driven", "moving"])
def test_a_rod_moves_through_an_eyelet_under_gravity(case):
    model = ph.Model(gravity=(0, -2.0, 0))
    rod = rod_in(model, elements=8)
    place, _ = place_and_tangent(rod, 0.7)
    eyelet = model.ground.at(place)
    if case == "moving":
        eyelet = model.ground.moving(lambda t: place + [0.1 * np.sin(3 * t) ** 2, 0.1 * np.sin(5 * t) ** 2, 0])
    slide = model.connect(ph.Sliding(eyelet, rod))
    if case == "friction":
        model.apply(slide.friction(coefficient=0.3))
    if case == "driven":
        drive = model.apply(slide.drive(position=lambda t: 0.7 - 0.5 * np.sin(2 * t) ** 2))
    motion = model.simulate(0.4, step=2e-3)
    energy = motion.energy
    assert np.diff(energy.dissipated).min() >= 0 and (energy.dissipated[-1] > 0) == (case == "friction")
    assert (abs(energy.supplied[-1]) > 1e-3) == (case in ("driven", "moving"))
    if case == "driven":
        assert motion[ph.JointPosition(slide)] == pytest.approx(0.7 - 0.5 * np.sin(2 * motion.time) ** 2, abs=1e-12)
        assert energy.work[str(drive)][-1] == energy.supplied[-1]


def collar_on_a_cantilever(values=None):
    values = {"modulus": 1e9, "mass": 0.2} | (values or {})
    model = ph.Model(gravity=(0, -9.81, 0))
    rod = rod_in(model, None, 6, modulus=values["modulus"])
    _, slide = bead(model, rod, 0.47, speed=None, mass=values["mass"])
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), rod.start))
    model.apply(slide.spring(50.0))
    model.apply(slide.damper(0.2))
    return model, slide


def test_the_force_along_a_line_is_an_input_of_linear_models():
    """Its static response is the difference of equilibria under small forces, of a collar on a rod that sags."""
    model, slide = collar_on_a_cantilever()
    response = model.linearize(at="static", inputs=[slide], outputs=[ph.JointPosition(slide)])
    places = []
    for force in (1e-3, -1e-3):
        model, slide = collar_on_a_cantilever()
        model.apply(slide.force(force))
        places.append(model.equilibrium()[ph.JointPosition(slide)])
    slope = (places[0] - places[1]) / 2e-3
    assert response.frequency_response([1e-6]).values.real.ravel() == pytest.approx([slope], rel=1e-6)


def test_equilibria_and_modes_have_the_sliding_as_a_free_direction():
    model = ph.Model(gravity=(0, 0, 0))
    _, slide = bead(model, fixed_rod(model, None), 0.47, mass=0.2)
    assert model.linearize().modes(1).frequencies[0] == 0.0
    model.apply(slide.spring(50.0))
    assert model.linearize().modes(1).frequencies[0] == pytest.approx(np.sqrt(50.0 / 0.2), rel=1e-9)


def test_a_bead_at_the_bottom_of_a_circle_swings_like_a_pendulum():
    model = ph.Model(gravity=(0, -9.81, 0))
    angle = lambda s: 2 * (s - 0.5)  # noqa: E731
    bead(model, fixed_rod(model, lambda s: (np.sin(angle(s)) / 2, -np.cos(angle(s)) / 2, 0.0), 20), 0.5, speed=None)
    assert model.linearize().modes(1).frequencies[0] == pytest.approx(np.sqrt(9.81 / 0.5), rel=2e-3)


def test_runs_that_start_at_rest_stay_there():
    model, slide = collar_on_a_cantilever()
    rest = model.equilibrium()
    place = model.simulate(0.1, step=2e-3, initial=rest)[ph.JointPosition(slide)]
    assert place[0] > 0.4705 and np.abs(place - rest[ph.JointPosition(slide)]).max() < 1e-9
    assert np.linalg.norm(rest.reaction(slide)) == pytest.approx(0.2 * 9.81, rel=5e-3)  # across the rod


def test_gradients_are_those_of_whole_runs():
    def build(values):
        return collar_on_a_cantilever(values)[0]

    def cost(model):
        return ph.Cost.final(ph.JointPosition(model.joints[0]), lambda x: x)

    values = {"modulus": 1e9, "mass": 0.2}
    _, found = ph.gradient(build, cost, values, duration=0.2, step=2e-3)
    assert list(found.values()) == pytest.approx(by_differences(build, cost, values, 0.2, 2e-3, 1e-4), rel=1e-5)


def test_a_bead_that_leaves_an_end_ends_the_run_and_a_stop_holds_it():
    def model():
        found = ph.Model(gravity=(0, 0, 0))
        return found, bead(found, fixed_rod(found, arc), 0.5, speed=2.0)[1]

    loose, _ = model()
    with pytest.raises(ConvergenceError, match=r"bead.origin left its line at .* 0 .. 1 m: .*slide.stop"):
        loose.simulate(1.0, step=5e-3)
    held, slide = model()
    held.apply(slide.stop(lower=0.0, upper=1.0))
    motion = held.simulate(0.5, step=5e-3)
    assert motion[ph.JointPosition(slide)].max() == pytest.approx(1.0, abs=5e-3)  # between two instants
    assert motion[ph.JointRate(slide)][-1] < -0.5


@pytest.mark.parametrize("law", ["none", "spring", "friction"])
def test_a_released_bead_falls_off_the_end_and_far_from_its_line(law):
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    rod = rod_in(model, None, 4, modulus=1e9)
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), rod.start))
    placed, slide = bead(model, rod, 0.5, speed=2.0)
    if law != "none":
        model.apply(slide.spring(1.0, rest=0.8) if law == "spring" else slide.friction(coefficient=0.05))
    model.at(ph.When(ph.JointPosition(slide), above=0.95), release=slide)
    motion = model.simulate(1.0, step=2e-3)
    late = motion.time > 0.35
    speed, place = motion.velocity(placed.origin)[late], motion.position(placed.origin)[-1]
    assert np.diff(speed, axis=0) / np.diff(motion.time[late])[:, None] == pytest.approx(
        np.tile([0, -9.81, 0], (late.sum() - 1, 1)), abs=1e-8
    )
    assert place[1] < -2 and np.abs(motion.energy.balance_error).max() < 1e-12


@pytest.mark.parametrize("kind", ["relation", "drive", "lock"])
def test_a_slide_whose_position_is_prescribed_is_released_after_what_prescribes_it(kind):
    """Or the row would keep the last position, which stands still once the joint is gone."""

    def driven():
        model = ph.Model(gravity=(0, 0, 0))
        rod = rod_in(model, None, 4, modulus=1e9)
        hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), rod.start, axis=(0, 0, 1)))
        _, slide = bead(model, rod, 0.3, speed=0.5)
        if kind == "relation":
            return model, slide, model.connect(ph.Relation([(slide, "position", 1.0), (hinge, "angle", -1.0)]))
        if kind == "drive":
            return model, slide, model.apply(slide.drive(position=lambda t: 0.3 + t, rate=lambda t: 1.0))
        return model, slide, model.at(0.01, lock=slide)

    model, slide, part = driven()
    with pytest.raises(ph.ModelError, match=r"release of Sliding.* without the position of Slid.*release .* first"):
        model.at(0.05, release=slide)
    model.at(0.05, release=part)
    model.at(0.05, release=slide)
    motion = model.simulate(0.1, step=5e-3)
    assert len(motion.events) == (3 if kind == "lock" else 2)

    late, slide, part = driven()
    late.at(0.08, release=part)
    late.at(ph.When(ph.JointPosition(slide), above=0.0), release=slide)  # never
    late.at(0.05, release=slide)
    with pytest.raises(ph.ModelError, match=r"release of Sliding.*at t = 0.05 s leaves .* first, by another event"):
        late.simulate(0.1, step=5e-3)


@pytest.mark.parametrize("options", [{}, {"modes": 6}, {"frame": "simply_supported"}])
def test_a_bead_bends_a_beam_on_two_supports_as_tables_say(options):
    """Deflection under a load at a, b from the supports: P a^2 b^2 / (3 E I L)."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    beam = ph.Beam(1.0, ph.CircularSection(0.02), ph.Material(1e9, 1e-3), elements=8, strain="linear", **options)
    line = model.add(beam, "line")
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), line.start))
    model.connect(ph.Slider(model.ground.at((1, 0, 0)), line.end, axis=(1, 0, 0)))
    placed, slide = bead(model, line, 0.35, speed=None, mass=0.01)
    model.apply(slide.drive(position=lambda t: 0.35))
    a, b, stiffness = 0.35, 0.65, 1e9 * np.pi * 0.01**4 / 4
    found = model.equilibrium().position(placed.origin)[1]
    assert found == pytest.approx(-0.01 * 9.81 * a**2 * b**2 / (3 * stiffness), rel=2e-3)


def test_what_cannot_slide_is_refused_by_name():
    model = ph.Model()
    section, material = ph.CircularSection(0.02), ph.Material(1e9, 1000.0)
    plate = model.add(ph.Plate(1.0, 1.0, 0.01, material), "plate", (0, 0, 3))
    short = model.add(ph.String(1.0, 0.3, 2, ph.LogarithmicLaw(200.0)), "short")
    rod = model.add(ph.Rod(1.0, section, material, elements=4), "rod")
    mass = model.add(ph.PointMass(1.0), "mass", (0.5, 0.1, 0))
    far = model.add(ph.PointMass(1.0), "far", (1.5, 0, 0))
    for line, words in [
        (plate, "a Plate has no line to slide along"),
        (short, "short has 3 nodes, and a line along a string needs 4"),
        (rod.start, "line must be a rod, beam or string that model.add returned"),
        (mass, "a PointMass has no line"),
    ]:
        with pytest.raises(ModelError, match=words):
            ph.Sliding(far.origin, line)
    with pytest.raises(ModelError, match="is on rod itself"):
        ph.Sliding(rod.end, rod)
    with pytest.raises(ModelError, match="far.origin is beyond an end of rod"):
        model.connect(ph.Sliding(far.origin, rod))
    model.connect(ph.Sliding(mass.origin, rod))
    with pytest.raises(ModelError, match=r"point across the line, direction . is off by -?0.1 m"):
        model.simulate(0.1, step=1e-2)
    line = ph.Model(dimension=1)
    rod = line.add(ph.Rod(1.0, section, material, elements=4), "rod")
    with pytest.raises(ModelError, match="needs the plane or space"):
        line.connect(ph.Sliding(line.add(ph.PointMass(1.0), "mass", (0.5, 0, 0)).origin, rod))


@pytest.mark.parametrize(("kind", "order"), [("ring", 1), ("ring", 2), ("lowest", 2), ("held", 1)])
def test_equilibria_tell_of_rings_that_nodes_of_a_string_hold(kind, order):
    """A ring beside the lowest place, one at the lowest place, and one that a spring holds on its way."""
    model = ph.Model(gravity=(0, 0, -9.81))
    rope = model.add(
        ph.String(2.1, 0.02, 8, ph.LogarithmicLaw(5e4), order=order),
        "rope",
        shape=lambda s: (1.9 * s / 2.1, 0, -0.42 * 4 * s / 2.1 * (1 - s / 2.1)),
    )
    for x, port in ((0.0, rope.start), (1.9, rope.end)):
        model.connect(ph.Spherical(model.ground.at((x, 0, 0)), port))
    along = 0.5 if kind == "lowest" else 0.25
    ring = model.add(ph.PointMass(1.0), "ring", (1.9 * along, 0, -0.42 * 4 * along * (1 - along)))
    slide = model.connect(ph.Sliding(ring.origin, rope))
    if kind == "held":
        model.apply(slide.spring(1e4))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rest = model.equilibrium()
    told = [str(each.message) for each in caught if "ring.origin slides along rope" in str(each.message)]
    assert len(told) == (kind == "ring")
    assert not told or "true place: the tension is" in told[0]
    assert (abs(rest.position(ring.origin)[0] - 0.95) < 1e-3) == (kind == "lowest")


def test_nodes_of_a_long_beam_that_the_collar_does_not_touch_cost_nothing():
    """Their blocks above the diagonal of Newton's matrix are zero, and left out of products of the elimination."""
    model, section = ph.Model(dimension=2, gravity=(0, -9.81, 0)), ph.RectangularSection(0.02, 0.02)
    beam = model.add(ph.Beam(2.0, section, ph.Material(2e11, 7800.0), elements=60), "beam")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
    collar = model.add(ph.RigidBody(0.2, 1e-4), "collar", position=(0.5, 0, 0))
    model.connect(ph.Sliding(collar.origin, beam))
    run = model.start(1e-3)
    run.step()
    memory, auxiliaries = run.stepper.memory, run.stepper.memory.counts["auxiliaries"]
    visit = int(np.flatnonzero(memory["visit_node"] == system_of(model).index[beam])[0])
    begin, end = memory["neighbours_begin"][visit : visit + 2]
    left_out = memory["upper_is_zero"][begin:end].sum()
    assert end - begin >= auxiliaries > 100
    assert auxiliaries - 10 <= left_out < end - begin


BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture
def sliding(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from published import sliding

    return sliding


@pytest.mark.parametrize("is_driven", [False, True], ids=["free", "driven"])
def test_a_mass_moves_along_a_cantilever_as_on_sliding_and_moving_elements(sliding, is_driven):
    expected = sliding.DRIVEN if is_driven else sliding.FREE
    motion, ports = sliding.on_a_cantilever(sliding.at_two_metres_a_second if is_driven else None)
    moved = np.hypot(0.86, 0.16)
    for port, place in zip(ports, np.reshape(expected, (2, 2)), strict=True):
        assert np.linalg.norm(motion.position(port)[-1, :2] - place) < 1e-3 * moved


def test_a_rod_falls_through_an_eyelet_as_a_cable_through_a_sliding_joint(sliding):
    motion, ports = sliding.through_an_eyelet()
    for port, place in zip(ports, np.reshape(sliding.EYELET, (2, 2)), strict=True):
        assert motion.position(port)[-1, :2] == pytest.approx(place, abs=1e-4)
