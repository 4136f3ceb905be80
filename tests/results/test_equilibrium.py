"""Equilibria against closed forms; what starts in one stays; what starts in a state goes on as it would have."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from scipy.special import ellipe, ellipk

import phlexible as ph
from mechanisms import grounded
from phlexible.errors import LeftOutWarning
from phlexible.results.live_rows import LiveRows
from refusals import refused

STEEL = ph.Material(2e11, 7800.0)


def test_a_cantilever_under_its_weight():
    """w = q L^4 / 8 EI, q L and q L^2 / 2 at the clamp."""
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    section = ph.RectangularSection(0.02, 0.01)
    beam = model.add(ph.Beam(1.0, section, STEEL, elements=4, strain="linear"), "beam")
    clamp = model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
    rest = model.equilibrium()
    weight, stiffness = 7800.0 * 2e-4 * 9.81, 2e11 * 0.01 * 0.02**3 / 12
    assert rest.is_stable and rest.growth_rate == 0.0
    assert rest.elastic_displacement(beam.end)[1] == pytest.approx(-weight / (8 * stiffness), rel=1e-9)
    assert rest.reaction(clamp) == pytest.approx([0.0, weight, 0.0], rel=1e-9, abs=1e-9)
    assert rest.reaction_moment(clamp)[2] == pytest.approx(weight / 2, rel=1e-9)
    assert rest[ph.Reaction(clamp)] == pytest.approx(rest.reaction(clamp))
    motion = model.simulate(0.1, 1e-4, initial=rest, progress=False)
    assert np.abs(motion.position(beam.end) - rest.position(beam.end)).max() <= 1e-12
    about = model.linearize([beam.end], about=rest).modes(1).frequencies
    assert about == pytest.approx(model.linearize([beam.end], at="static").modes(1).frequencies, rel=1e-12)


@pytest.mark.parametrize("body", [ph.PointMass(2.0), ph.RigidBody(2.0, (0.1, 0.1, 0.1))])
def test_a_mass_on_a_spring(body):
    """m g / c below; no force of a joint or a body is there to compare with."""
    model = ph.Model(gravity=(0.0, -9.81, 0.0))
    mass = model.add(body, "mass")
    slides = ph.Slider if isinstance(body, ph.PointMass) else ph.Prismatic
    rail = model.connect(slides(model.ground.at((0, 0, 0)), mass.origin, axis=(0, 1, 0)))
    model.apply(rail.spring(100.0))
    assert model.equilibrium().position(mass.origin)[1] == pytest.approx(-2.0 * 9.81 / 100.0, rel=1e-9)


@pytest.mark.parametrize("stiffness", [1e2, 1e5, 1e9])
def test_a_hanging_string_is_the_chain_of_its_elements(stiffness):
    """Straight elements of length l (1 + N / EA), pulled by one horizontal force and the weight below each; from a
    shape that is far too long, however stiff they are."""
    length, span, density, count = 1.2, 1.0, 0.1, 20
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    rope = ph.String(length, density, count, ph.LinearLaw(stiffness))
    shape = lambda s: (s * span / length, -0.5 * np.sin(np.pi * s / length), 0.0)  # noqa: E731
    rope = model.add(rope, "rope", shape=shape)
    for end, x in ((rope.start, 0.0), (rope.end, span)):
        model.connect(ph.Spherical(model.ground.at((x, 0, 0)), end))
    rest = model.equilibrium()
    part = length / count
    below = density * 9.81 * part * (np.arange(count) - (count - 1) / 2)

    def elements(pull):
        tension = np.hypot(pull, below)
        return part * (1 + tension / stiffness) * np.array([np.full(count, pull), below]) / tension

    pull = brentq(lambda pull: elements(pull)[0].sum() - span, 1e-3, 10.0, xtol=1e-14)
    lowest = elements(pull)[1][: count // 2].sum()
    assert rest.position(rope.at(length / 2))[1] == pytest.approx(lowest, rel=1e-9)
    assert rest.is_stable


def test_a_hundred_links_that_start_aslant_hang_straight_down():
    model, way = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2), np.array([0.008, -0.006, 0.0])
    before = model.ground.at((0, 0, 0))
    for k in range(100):
        link = model.add(ph.RigidBody(0.01, 0.01 * 0.01**2 / 12), f"link {k}", position=(k + 0.5) * way)
        model.connect(ph.Revolute(before, link.point(-way / 2)))
        before = link.point(way / 2)
    rest = model.equilibrium()
    assert rest.position(before) == pytest.approx([0, -1, 0], abs=1e-12) and rest.is_stable


GROUND, CRANK, COUPLER, FOLLOWER, SPRING, START = 1.0, 0.4, 0.9, 0.7, 2.0, -0.5


def linkage(angle):
    """Where crank and coupler, coupler and follower meet, as complex numbers; the loop hangs below the ground."""
    tip = CRANK * (np.cos(angle) + 1j * np.sin(angle))
    line = GROUND - tip
    d = np.abs(line)
    inner = np.arccos((d**2 + COUPLER**2 - FOLLOWER**2) / (2 * d * COUPLER))
    return tip, tip + COUPLER * line / d * np.exp(-1j * inner)


def four_bar():
    """Uniform rigid links of 2 kg/m, a spring at the crank that is relaxed at the start."""
    tip, knee = linkage(START)
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    points = [np.array([z.real, z.imag, 0.0]) for z in (0j, tip, knee, GROUND + 0j)]
    ports = [model.ground.at(points[0])]
    for name, first, second in zip(("crank", "coupler", "follower"), points, points[1:], strict=False):
        length = np.linalg.norm(second - first)
        link = ph.RigidBody(2.0 * length, length**3 / 6, center=(length / 2, 0.0, 0.0))
        body = model.add(link, name, first, float(np.arctan2(*(second - first)[1::-1])))
        model.connect(ph.Revolute(ports[-1], body.origin, name=f"pin of {name}"))
        ports.append(body.point((length, 0.0, 0.0)))
    model.connect(ph.Revolute(ports[-1], model.ground.at(points[3]), name="last pin"))
    model.apply(model.joint("pin of crank").spring(SPRING))
    return model


def test_a_four_bar_linkage_hangs_where_its_energy_is_least():
    """Of three centers of mass and a spring over the crank's angle."""

    def energy(angle):
        tip, knee = linkage(angle)
        heights = (CRANK * tip.imag + COUPLER * (tip + knee).imag + FOLLOWER * knee.imag) / 2
        return 2.0 * 9.81 * heights + SPRING * (angle - START) ** 2 / 2

    def slope(angle):
        h = 1e-4  # differences of order 8
        shares = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
        return sum(c * (energy(angle + k * h) - energy(angle - k * h)) for k, c in enumerate(shares, 1)) / h

    model = four_bar()
    rest = model.equilibrium()
    expected = brentq(slope, -1.5, -0.3, xtol=1e-14)
    assert rest.is_stable
    assert START + rest.angle(model.joint("pin of crank")) == pytest.approx(expected, abs=1e-9)


def loaded_cantilever():
    body = ph.Beam(1.0, ph.RectangularSection(0.02, 0.01), STEEL, elements=4)
    model, *_ = grounded(body, gravity=(0.0, -9.81, 0.0), dimension=2, name="beam")
    return model


def sprung_pendulum():
    body = ph.RigidBody(2.0, 0.1, center=(0.5, 0.0, 0.0))
    model, _, pin = grounded(body, ph.Revolute, gravity=(0.0, -9.81, 0.0), dimension=2, name="rod")
    model.apply(pin.spring(8.0))
    return model


def catenary():
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    law = ph.LinearLaw(axial_stiffness=1e4)
    rope = model.add(ph.String(1.0, 0.3, 10, law), "rope", shape=lambda s: (0.8 * s, -1.4 * s * (1 - s), 0.0))
    for end, x in ((rope.start, 0.0), (rope.end, 0.8)):
        model.connect(ph.Spherical(model.ground.at((x, 0.0, 0.0)), end))
    return model


@pytest.mark.parametrize("build", [four_bar, loaded_cantilever, sprung_pendulum, catenary])
def test_nothing_moves_in_ten_thousand_steps(build):
    model = build()
    motion = model.simulate(10.0, 1e-3, initial=model.equilibrium(), every=100, progress=False)
    moved = [
        motion.position(port) - motion.position(port)[0]
        for body in model.bodies
        for port in ([body.start, body.at(0.5), body.end] if hasattr(body.body, "length") else [body.origin])
    ]
    assert np.abs(moved).max() <= 1e-12


def test_an_upright_pendulum_is_unstable():
    """It grows with sqrt(m g l / I)."""
    body = ph.RigidBody(2.0, 0.1, center=(0.0, -0.5, 0.0))
    model, *_ = grounded(body, ph.Revolute, gravity=(0.0, 9.81, 0.0), dimension=2, name="rod")
    with pytest.warns(ph.UnstableEquilibriumWarning, match=r"grows with exp\(4.044 t\)"):
        upright = model.equilibrium()
    assert not upright.is_stable
    assert upright.growth_rate == pytest.approx(np.sqrt(2.0 * 9.81 * 0.5 / (0.1 + 2.0 * 0.25)), rel=1e-9)
    refused(ph.EquilibriumError, "unstable", lambda: model.linearize(about=upright))


@pytest.mark.parametrize("elements", [1, 2, 4, 8, 20])
@pytest.mark.parametrize("beside", [None, 1e6, 1e10])
def test_a_body_upside_down_on_a_stiff_beam_is_unstable_for_every_mesh(elements, beside):
    """A rigid pendulum of 0.6 m on a pin, whose lower 0.1 m are a beam of steel."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    beam = ph.Beam(0.1, ph.CircularSection(0.02), ph.Material(2.1e11, 7850.0), elements=elements)
    pole = model.add(beam, rotation=np.pi / 2)
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), pole.start))
    head = model.add(ph.RigidBody(1.0, 0.1, center=(0, 0.5, 0)), position=(0, 0.1, 0))
    model.connect(ph.Fixed(pole.end, head.origin))
    if beside:
        mass = model.add(ph.PointMass(0.01), position=(1, 0, 0))
        model.apply(ph.SpringDamper(model.ground.at((1, 1, 0)), mass.origin, beside))
        model.connect(ph.Slider(model.ground.at((1, 0, 0)), mass.origin, axis=(0, 1, 0)))
    with pytest.warns(ph.UnstableEquilibriumWarning):
        rest = model.equilibrium()
    steel = 7850 * np.pi * 0.01**2 * 0.1
    rate = np.sqrt(9.81 * (0.6 + steel * 0.05) / (0.1 + 0.6**2 + steel * 0.1**2 / 3))
    assert rest.growth_rate == pytest.approx(rate, rel=1e-4) and not rest.is_stable
    refused(ph.EquilibriumError, "unstable", lambda: model.linearize(at="static"))


@pytest.mark.parametrize(("links", "beside"), [(3, None), (12, None), (12, 1e-6), (12, -1e-6)])
def test_links_that_spin_freely_hide_no_instability_and_make_none(links, beside):
    """Stiffness against their spins is round-off of either sign; a rotor with its centre ``beside`` above its axis
    falls with exp(0.0099 t)."""
    model = ph.Model(gravity=(0, 0, -9.81))
    last = model.ground.at((0, 0, 0))
    for k in range(links):
        turn = Rotation.from_rotvec([0.0, 0.0, 0.3 * k])
        rod = model.add(ph.RigidBody(0.1, (1e-4, 1e-4, 1e-5)), position=(0, 0, -0.1 * k - 0.05), rotation=turn)
        model.connect(ph.Spherical(last, rod.point((0, 0, 0.05))))
        last = rod.point((0, 0, -0.05))
    if beside is not None:
        rotor = model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.1), center=(0, 0, beside)), "rotor", position=(1, 0, 0))
        model.connect(ph.Revolute(model.ground.at((1, 0, 0)), rotor.origin, axis=(1, 0, 0)))
    if beside is None or beside < 0:
        assert model.equilibrium().growth_rate == 0.0
        return
    with pytest.warns(ph.UnstableEquilibriumWarning):
        assert model.equilibrium().growth_rate == pytest.approx(np.sqrt(9.81e-6 / 0.1), rel=1e-3)


def test_a_chain_of_long_links_hangs_at_rest():
    assert ph.gallery.chain(10, dimension=3).linearize(at="static").modes(1).frequencies[0] < 1e-6


@pytest.mark.parametrize("angle", [0.2, 0.05, 1e-3])
def test_a_pole_that_leans_falls_and_one_that_stands_stays(angle):
    """Long steps to rest would climb back to the upright pose from beside it."""
    model = ph.gallery.flexible_pole(angle=angle)
    hanging = model.equilibrium()
    assert hanging.is_stable
    assert hanging.position(model["tip"].origin)[1] == pytest.approx(-1.0, abs=1e-5)
    with pytest.warns(ph.UnstableEquilibriumWarning):
        assert ph.gallery.flexible_pole(angle=0.0).equilibrium().state.position[-1, 1] > 0.99


def test_a_run_goes_on_from_a_state():
    """From the middle of another run, with a driven pin and an angle of more than a turn on a spring."""
    model = ph.Model(dimension=2)
    wheel = model.add(ph.RigidBody(1.0, 0.2), "wheel", angular_velocity=(0, 0, 15.0))
    pin = model.connect(ph.Revolute(model.ground.moving(lambda t: (0.1 * np.sin(t), 0.0, 0.0)), wheel.origin))
    model.apply(pin.spring(0.3))
    whole = model.simulate(1.0, 1e-3, progress=False)
    rest = model.simulate(0.5, 1e-3, initial=whole.at(0.5), progress=False)
    assert rest.time[0] == 0.5 and rest.time[-1] == pytest.approx(1.0)
    assert whole.angle(pin)[-1] > 2 * np.pi
    assert rest.rate(pin)[-1] == pytest.approx(whole.rate(pin)[-1], rel=1e-9)
    assert rest.position(wheel.origin)[-1] == pytest.approx(whole.position(wheel.origin)[-1], abs=1e-12)


def test_an_equilibrium_of_a_later_instant_has_its_values_and_is_drawn():
    """Functions of time are those of the state's time."""
    pytest.importorskip("matplotlib")
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    rod = model.add(ph.RigidBody(2.0, 0.1, center=(0.0, -0.5, 0.0)), "rod")
    model.connect(ph.Revolute(model.ground.moving(lambda t: (t, 0.0, 0.0)), rod.origin))
    later = model.equilibrium(model.simulate(0.5, 0.01, progress=False).at(0.5))
    assert later.position(rod.origin) == pytest.approx([0.5, 0.0, 0.0], abs=1e-12)
    assert later.plot().axes


def test_states_that_do_not_fit_are_refused():
    model, motion = ph.gallery.double_pendulum(), ph.gallery.dzhanibekov().simulate(0.1, 0.05, progress=False)
    with pytest.raises(ph.ModelError, match="take a state of the same model"):
        model.simulate(0.1, 0.01, initial=motion.at(0.05), progress=False)
    refused(ph.ParameterError, "the nearest ones are 0, 0.05", lambda: motion.at(0.03))
    with pytest.raises(ph.ParameterError, match="about= takes the place"):
        model.linearize(about=model.equilibrium(), at="static")
    refused(ph.ParameterError, "give it as about=", lambda: model.linearize(at=model.equilibrium()))


@pytest.mark.parametrize(
    ("load", "aside"), [(1.1, 1.0), (1.8, -5.0), pytest.param(2.5, 1e-3, marks=pytest.mark.thorough)]
)
def test_a_rod_beyond_its_critical_load_buckles_to_the_side_of_a_small_load(load, aside):
    """Its tip is at 2 p / k and 2 E(p) / k - L of the elastica, with k L = K(p)."""
    square, bending = ph.RectangularSection(0.02, 0.02), 100.0
    model = ph.Model(dimension=2)
    rod = ph.Rod(1.0, square, ph.Material(bending * 12 / 0.02**4, 1000.0), elements=20)
    column = model.add(rod, "column", rotation=np.pi / 2)
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), column.start))
    model.apply(ph.Force(column.end, (aside, -load * np.pi**2 * bending / 4, 0)))
    rest = model.equilibrium()
    k = np.sqrt(load) * np.pi / 2
    p = np.sqrt(brentq(lambda m: ellipk(m) - k, 1e-9, 1 - 1e-9))
    elastica = (np.sign(aside) * 2 * p / k, 2 * ellipe(p**2) / k - 1, 0)
    assert rest.is_stable and rest.position(column.end) == pytest.approx(elastica, abs=0.03)


@pytest.mark.parametrize(("unit", "mass"), [(1.0, 1.0), (1e3, 1e-3)], ids=["metres", "millimetres and tonnes"])
def test_round_off_neither_spins_nor_topples_a_rod(unit, mass):
    """Nothing holds the spin of a rod on ball joints, and an upright pendulum on a rod has no side to fall to."""
    steel = ph.Material(2.1e11 * mass / unit, 7850.0 * mass / unit**3)
    place, axes = unit * np.array([-0.3, 0.2, 0.7]), [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    section = ph.RectangularSection(0.02 * unit, 0.03 * unit)
    model = ph.Model(gravity=(0, 9.81 * unit, 0))
    hanging = model.add(ph.Rod(unit, section, steel, elements=4, order=2), position=place, rotation=axes)
    tip = model.add(ph.PointMass(0.5 * mass), position=place + (0, unit, 0))
    model.connect(ph.Spherical(model.ground.at(place), hanging.start))
    model.connect(ph.Spherical(hanging.end, tip.origin))
    assert model.equilibrium().state.rotation[0] == pytest.approx(np.array(axes), abs=1e-6)

    start, end, turned = unit * np.array([1.0, 0, 0]), unit * np.array([1.8, 0.6, 0]), np.arctan2(0.6, 0.8)
    model = ph.Model(gravity=-9.81 * unit * np.array([0.8, 0.6, 0]), dimension=2)
    rod = model.add(ph.Rod(unit, section, steel, elements=4), position=start, rotation=turned)
    bob = model.add(ph.RigidBody(0.5 * mass, mass * unit**2 / 100, (unit / 5, 0, 0)), position=end, rotation=turned)
    model.connect(ph.Fixed(model.ground.at(start), rod.start))
    model.connect(ph.Spherical(model.ground.at(end), rod.end))
    model.connect(ph.Revolute(rod.end, bob.origin))
    with pytest.warns(ph.UnstableEquilibriumWarning):
        rest = model.equilibrium()
    assert rest.state.rotation[-1][:2, 0] == pytest.approx((0.8, 0.6), abs=1e-5)


def test_a_run_from_an_equilibrium_locks_a_wound_joint():
    model, _, hinge = grounded(ph.RigidBody(1.0, 0.1), ph.Revolute, dimension=2, name="wheel")
    model.apply(hinge.spring(2.0, rest=7.0))
    model.apply(hinge.torque(-4.0))
    model.at(0.01, lock=hinge)
    motion = model.simulate(0.02, 1e-3, initial=model.equilibrium(), progress=False)
    assert np.ptp(motion.angle(hinge)) < 1e-9 and motion.energy.spring[-1] == pytest.approx(4.0)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("moment", [1.0, 4.0, -7.5, 20.0])
def test_angles_of_an_equilibrium_are_those_of_its_springs_over_full_turns(dimension, moment):
    """As the motion that comes to rest there, and in the axle of a copy."""
    model = ph.Model(dimension=dimension)
    inertia = 0.1 if dimension == 2 else (0.1, 0.1, 0.1)
    wheel = model.add(ph.RigidBody(1.0, inertia), "wheel")
    axle = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), wheel.origin, axis=(0, 0, 1), name="axle"))
    for part in (axle.spring(1.0), axle.damper(1.0), axle.torque(moment)):
        model.apply(part)
    rest = model.equilibrium()
    assert rest.angle(axle) == pytest.approx(moment, rel=1e-9)
    assert rest[ph.JointPosition(axle)] == pytest.approx(moment, rel=1e-9)
    assert model.simulate(20.0, 2e-2, progress=False).angle(axle)[-1] == pytest.approx(moment, rel=1e-4)


@pytest.mark.parametrize("dimension", [2, 3])
def test_all_that_read_a_run_from_a_wound_equilibrium_begin_with_its_turns(dimension):
    """Three turns of a spring: motions, conditions, controllers, samples, laws, live runs and many of them."""
    moment, seen = 6 * np.pi + 1.0, {"plain": [], "sampled": [], "law": []}
    model = ph.Model(dimension=dimension)
    inertia = 0.1 if dimension == 2 else (0.1, 0.1, 0.1)
    wheel = model.add(ph.RigidBody(1.0, inertia), "wheel")
    axle = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), wheel.origin, axis=(0, 0, 1), name="axle"))
    for part in (axle.spring(1.0), axle.damper(0.5), axle.torque(moment)):
        model.apply(part)
    rest, angle = model.equilibrium(), ph.JointPosition(axle)
    still = model.simulate(0.1, 1e-2, initial=rest, progress=False)
    for found in (still[angle], still.angle(axle), still[angle][:1]):
        assert found == pytest.approx(np.full(len(found), moment), rel=1e-9)
    stopped = model.simulate(0.1, 1e-2, initial=rest, stop=ph.When(angle, above=moment - np.pi), progress=False)
    assert stopped.time[-1] == pytest.approx(0.1)  # it was met from the start on
    live = model.start(1e-2, initial=rest)
    for _ in range(2):
        assert live.read(angle) == pytest.approx(moment, rel=1e-9)
        assert live.motion[angle] == pytest.approx(np.full(live.steps + 1, moment), rel=1e-9)
        live.step(3)
    runs = LiveRows([model.start(1e-2, initial=rest) for _ in range(2)], [[0, 1]], 2, 1)
    assert runs.read("angle", [angle, angle]) == pytest.approx([moment, moment], rel=1e-9)
    for name, options in (("plain", {}), ("sampled", {"period": 2e-2})):
        law = ph.Feedback(lambda t, y, name=name: seen[name].append(y[0]) or 0.0, [axle], on=[axle], **options)
        model.apply(law)
    model.apply(ph.StateForce(lambda t, x, v: seen["law"].append(x) or 0.0, of=[axle], on=[axle]))
    model.simulate(0.1, 1e-2, initial=rest, progress=False)
    for values in map(np.ravel, seen.values()):
        assert len(values) and values == pytest.approx(np.full(len(values), moment), rel=1e-9)


@pytest.mark.parametrize("kind", ["motor", "feedback", "state"])
def test_controllers_that_are_left_out_are_named(kind):
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    bar = model.add(ph.RigidBody(2.0, 0.1, center=(0.4, 0, 0)), "bar")
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bar.origin, name="hinge"))
    if kind == "motor":
        model.apply(hinge.motor(lambda t, y: 80 * (0.3 - y[0]) - 3 * y[1]))
    elif kind == "feedback":
        model.apply(ph.Feedback(lambda t, y: 80 * (0.3 - y[0]), [ph.JointPosition(hinge)], on=[hinge], period=0.01))
    else:
        model.apply(ph.StateForce(lambda t, x, v: 80 * (0.3 - x) - 3 * v, of=[hinge], on=[hinge]))
        assert model.equilibrium().angle(hinge) == pytest.approx(0.203933, abs=2e-6)  # no warning
        return
    with pytest.warns(LeftOutWarning, match=r"equilibrium\(\) leaves out controllers.*hinge"):
        assert model.equilibrium().angle(hinge) == pytest.approx(-np.pi / 2)


@pytest.mark.parametrize("kind", ["lock", "delay", "plain"])
def test_states_of_motions_begin_what_has_memory_anew(kind):
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    bar = model.add(ph.RigidBody(2.0, 0.1, center=(0.4, 0, 0)), "bar")
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bar.origin, name="hinge"))
    position = ph.JointPosition(hinge)
    if kind == "lock":
        model.at(ph.When(position, below=-0.1), lock=hinge)
    else:
        options = {"delay": 0.02} if kind == "delay" else {}
        model.apply(ph.Feedback(lambda t, y: -y[0], [position], on=[hinge], period=0.01, **options))
    state = model.simulate(0.1, 1e-3).at(0.1)
    if kind == "plain":
        model.simulate(0.1, 1e-3, initial=state)  # no warning
        return
    with pytest.warns(LeftOutWarning, match="hinge.* begin anew; model.resume"):
        model.simulate(0.1, 1e-3, initial=state)


def test_a_motion_is_no_initial_state():
    model = ph.gallery.crank_slider()
    with pytest.raises(ph.ParameterError, match=r"give motion.at\(motion.time\[-1\]\)"):
        model.simulate(1e-4, 1e-4, initial=model.simulate(1e-4, 1e-4))
