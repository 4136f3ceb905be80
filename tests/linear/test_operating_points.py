"""Static equilibria and steady rotations against closed forms; refusals; rotations left out at rest."""

import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from mechanisms import grounded

# Out-of-plane frequencies of a cantilever on a hub of radius 0 (Wright et al. 1982), by rotation speed.
FLAP = {
    0: (3.5160, 22.0345, 61.6972),
    4: (5.5850, 24.2734, 63.9668),
    8: (9.2568, 29.9954, 70.2930),
    12: (13.1702, 37.6031, 79.6145),
}


@pytest.mark.parametrize("speed", FLAP)
def test_rotating_cantilever(speed):
    modes = ph.gallery.rotating_cantilever(float(speed)).linearize(at="steady_rotation").modes(6)
    flap = np.array(FLAP[speed])
    assert modes.frequencies == pytest.approx(np.sort([*flap, *np.sqrt(flap**2 - speed**2)]), rel=1e-3)
    assert np.abs(modes.eigenvalues.real).max() <= 1e-9 * modes.frequencies.max()


def test_a_blade_that_is_stiff_along_its_axis_keeps_its_bending_modes():
    """EA L^2 / EI = 10^10: the highest mode is 10^12 times the lowest in omega^2; none is lost."""
    blade = ph.gallery.rotating_cantilever(4.0, slenderness=1e5, elements=16)
    modes = blade.linearize(at="steady_rotation").modes(2)
    assert modes.rigid_modes == 0
    assert modes.frequencies == pytest.approx([np.sqrt(5.5850**2 - 16), 5.5850], rel=1e-3)
    for count in (2, 1000):
        with pytest.warns(ph.errors.LeftOutWarning, match="rotation of beam at 4 rad/s"):
            still = blade.linearize().modes(count)
        assert still.rigid_modes == 0
        assert still.frequencies[:2] == pytest.approx([3.5160, 3.5160], rel=1e-4)


def test_spinning_shaft_in_its_own_axes():
    modes = ph.gallery.spinning_shaft(speed=100.0).linearize(at="steady_rotation").modes(5)
    omega = np.pi**2 * np.array([1, 4]) * np.sqrt(2.1e11 * 0.005**2 / 7850)
    seen = np.sort(np.concatenate([omega - 100, omega + 100]))
    assert modes.rigid_modes == 1  # it may spin faster
    assert modes.frequencies[1:] == pytest.approx(seen, rel=1e-4)
    assert not modes.eigenvalues.real.any()


def test_linear_models_without_contact_and_friction_need_no_tables_of_the_step(monkeypatch):
    monkeypatch.delattr("phlexible.linear.sticking.assemble")
    monkeypatch.delattr("phlexible.linear.equilibria.assemble")
    assert ph.gallery.spinning_shaft().linearize(at="steady_rotation").modes(5).rigid_modes == 1
    assert ph.gallery.four_bar().linearize().modes(3).rigid_modes == 0


def test_parts_that_do_not_turn_must_be_isotropic():
    """A rotor on springs to the ground or a housing: omega and omega -+ Omega, else periodic coefficients."""
    place, k, speed = np.array([3.0, 1.0, -7.0]), 1e6, 300.0

    def rotor(k_z=k, gravity=(0.0, 0.0, 0.0), has_housing=False):
        model = ph.Model(gravity=gravity)
        body = model.add(ph.RigidBody(30.0, (0.1, 0.2, 0.15)), "rotor", place, angular_velocity=(0, speed, 0))
        port = body.origin
        if has_housing:
            port = model.add(ph.RigidBody(5.0, (1, 1, 1)), "housing", place).origin
            model.connect(ph.Revolute(port, body.origin, axis=(0, 1, 0)))
        model.apply(ph.Bushing(model.ground.at(place), port, stiffness=(k, k, k_z)))
        return model

    omega = np.sqrt(k / 30.0)
    found = rotor().linearize(at="steady_rotation").modes(12).frequencies
    assert np.abs(found[:, None] - [omega, speed - omega, speed + omega]).min(axis=0) == pytest.approx(
        0.0, abs=1e-6
    )
    for case in ({"k_z": 1.2e6}, {"has_housing": True}, {"gravity": (0, 0, -9.81)}):
        with pytest.raises(ph.EquilibriumError, match="coefficients of the linear model change .* rotor"):
            rotor(**case).linearize(at="steady_rotation")


def rotor_in_dampers(damping=0.0, law=None, relaxation=None):
    """A rotor of 10 kg at 120 rad/s about y, whose centre isotropic springs and dampers hold."""
    model = ph.Model()
    rotor = model.add(ph.RigidBody(10.0, (0.2, 0.1, 0.15)), "rotor", angular_velocity=(0, 120.0, 0))
    bearing = {"stiffness": 1e6, "damping": damping, "relaxation": relaxation}
    model.apply(ph.Bushing(model.ground.at((0, 0, 0)), rotor.origin, **bearing))
    if law is not None:
        model.apply(ph.StateForce(law, of=[rotor.origin], on=[rotor.origin]))
    return model


@pytest.mark.parametrize("model", [rotor_in_dampers(200.0), rotor_in_dampers(law=lambda t, x, v: -200.0 * v)])
def test_dampers_that_do_not_turn_damp_both_whirls_alike(model):
    """m z'' + c z' + k z = 0 in axes of the ground; in those of the rotor z turns by -i Omega t."""
    with pytest.warns(ph.LeftOutWarning, match="dampers of rotors"):
        found = model.linearize(at="steady_rotation").modes(12).eigenvalues
    whirl = -10 + 1j * np.sqrt(1e5 - 100)
    wanted = np.array([whirl, whirl - 120j, whirl + 120j])
    assert np.abs(found[:, None] - wanted).min(axis=0) == pytest.approx(0.0, abs=1e-6)


def test_a_bushing_that_lets_a_rotor_spin_holds_its_axis_at_any_angle():
    """I w^2 -+ I_z Omega w = k in world axes; frequencies in body axes are Omega less or more."""
    speed, k, stiffness = 50.0, 10.0, {"stiffness": 1e3, "rotational_stiffness": (10.0, 10.0, 0.0)}
    model, body = ph.Model(), ph.RigidBody.cylinder(0.1, 0.05, 1000.0, axis=(0, 0, 1))
    rotor = model.add(body, "rotor", angular_velocity=(0, 0, speed))
    model.apply(ph.Bushing(model.ground.at((0, 0, 0)), rotor.origin, **stiffness))
    found = model.linearize(at="steady_rotation").modes(6).frequencies
    inertia, spin = body.mass * (3 * 0.1**2 + 0.05**2) / 12, body.mass * 0.1**2 / 2 * speed
    root = np.sqrt(spin**2 + 4 * inertia * k)
    for wanted in ((root + spin) / (2 * inertia) - speed, (root - spin) / (2 * inertia) + speed):
        assert np.abs(found - wanted).min() < 1e-6 * wanted


def test_springs_that_creep_beside_a_rotor_are_refused():
    model = rotor_in_dampers(relaxation=ph.Maxwell([(0.5, 0.01)]))
    with pytest.raises(ph.EquilibriumError, match="coefficients of the linear model change .* rotor"):
        model.linearize(at="steady_rotation")


def test_a_column_loses_its_stiffness_under_a_load():
    """A clamped column under P has omega^2 = omega_0^2 (1 - P / P_crit), nearly; beyond, it is refused."""
    critical = np.pi**2 / 4

    def first(load):
        body = ph.Beam(1.0, ph.Section(1.0, 1e-6), ph.Material(1e6, 1.0), 12, rotary_inertia=False)
        model, column, _ = grounded(body, dimension=2, name="column")
        model.apply(ph.Force(column.end, (-load * critical, 0, 0)))
        return model.linearize(at="static").modes(1).frequencies[0]

    bare = first(1e-9)
    assert bare == pytest.approx(1.8751**2, rel=1e-4)
    assert first(0.5) == pytest.approx(bare * np.sqrt(0.5), rel=0.02)
    assert first(0.99) < 0.11 * bare
    assert first(-1.0) > 1.3 * bare
    with pytest.raises(ph.EquilibriumError, match="unstable"):
        first(1.02)


@pytest.mark.parametrize(("size", "place"), [(1.0, 0.0), (1e-3, 1e3), (1e3, -5.0)])
def test_forces_count_at_the_given_pose(size, place):
    """A rod that hangs or stands, far away and of other units; a pose off balance is refused."""

    def rod(angle):
        model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
        mass, end = size**3, (place, place / 3, 0)
        body = ph.RigidBody(mass, mass * size**2 / 12, center=(size / 2, 0, 0))
        bar = model.add(body, "bar", position=end, rotation=angle)
        model.connect(ph.Revolute(model.ground.at(end), bar.origin))
        return model

    omega = np.sqrt(1.5 * 9.81 / size)
    assert rod(-np.pi / 2).linearize().modes(1).eigenvalues == pytest.approx([1j * omega])
    assert rod(-1.5708).linearize().modes(1).frequencies == pytest.approx([omega])
    assert rod(np.pi / 2).linearize().modes(1).eigenvalues == pytest.approx([omega])
    with pytest.raises(ph.EquilibriumError, match=r'N m on bar stay .*at="static" .*at="unloaded"'):
        rod(-1.5).linearize()
    assert rod(-1.5).linearize(at="unloaded").modes(1).rigid_modes == 1


@pytest.mark.parametrize(("thickness", "fine"), [(0.01, 1), (0.01, 6), (3e-5, 1)])
@pytest.mark.parametrize("gravity", [0.1, 9.81])
def test_a_small_weight_of_a_stiff_sheet_counts_at_the_given_pose(thickness, fine, gravity):
    """A thin plate of steel hangs from its edge. As placed it carries no tension yet, and does not swing. Foils are
    stiff across their thickness, and hang like a chain."""
    model = ph.Model(gravity=(gravity, 0, 0))
    sheet = ph.Shell.plate(0.5, 0.2, thickness, ph.Material(2.1e11, 7850.0), elements=(6 * fine, 2 * fine))
    body = model.add(sheet, "body")
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body["start"], axis=(0, 1, 0)))
    with pytest.raises(ph.EquilibriumError, match="do not balance at the given pose"):
        model.linearize()
    swing = model.linearize(at="static").modes(1).frequencies[0]
    square, error = (1.5, 1e-3) if thickness == 0.01 else (1.4458, 2e-2)  # 1.2024^2, six elements of a chain
    assert swing == pytest.approx(np.sqrt(square * gravity / 0.5), rel=error)


def test_nothing_holds_a_falling_body():
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    model.add(ph.PointMass(1.0), "mass")
    with pytest.raises(ph.EquilibriumError, match="nothing may hold the model"):
        model.linearize(at="static")


def test_a_tumbling_body_does_not_rotate_steadily():
    model = ph.Model()
    model.add(ph.RigidBody(1.0, (1.0, 2.0, 2.5)), "body", angular_velocity=(1.0, 2.0, 3.0))
    with pytest.raises(ph.EquilibriumError, match="no steady rotation"):
        model.linearize(at="steady_rotation")


@pytest.mark.parametrize("kind", ["mean_axis", "simply_supported", "cantilever", "rod"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_free_bar_spins_about_its_middle(kind, dimension):
    """It stretches, which moves its middle, and the sections of a rod, off the places of the given velocities."""
    model, speed = ph.Model(dimension=dimension), 50.0
    shared = (1.0, ph.CircularSection(0.02), ph.Material(7e10, 2700.0))
    body = ph.Rod(*shared, elements=20, order=2) if kind == "rod" else ph.Beam(*shared, elements=8, frame=kind)
    model.add(body, position=(-0.5, 0, 0), velocity=(0, -0.5 * speed, 0), angular_velocity=(0, 0, speed))
    frequencies = model.linearize(at="steady_rotation").modes(2 * dimension + 1).frequencies
    rigid = [0, speed, speed] if dimension == 2 else [0, 0, 0, speed, speed, speed]
    assert frequencies[: len(rigid)] == pytest.approx(rigid, abs=2e-5 * speed)
    assert frequencies[len(rigid)] == pytest.approx(573.868, rel=1e-3 if kind == "rod" else 1e-5)


def test_a_point_mass_that_goes_around_has_no_axes_that_turn():
    model = ph.Model(dimension=2)
    hub = model.ground.moving(lambda t: (0, 0, 0), rotation=lambda t: 3 * t)
    bead = model.add(ph.PointMass(2.0), "bead", position=(25 / 32, 0, 0))
    model.apply(model.connect(ph.Slider(hub, bead.origin, axis=(1, 0, 0))).spring(50.0, rest=0.5))
    with pytest.raises(ph.EquilibriumError, match="take a RigidBody with small inertia for bead"):
        model.linearize(at="steady_rotation")


@pytest.mark.parametrize(("load", "flutters"), [(20.0, False), (20.1, True)])
def test_becks_column_flutters_beyond_its_critical_load(load, flutters):
    """P = 20.05 EI / L^2 at the tip, which follows the column: two frequencies become one there."""
    body = ph.Beam(1.0, ph.Section(1.0, 1e-6), ph.Material(1e6, 1.0), 4)
    model, column, _ = grounded(body, dimension=2, name="column")
    model.apply(ph.Force(column.end, (-load, 0, 0), axes="body"))
    if flutters:
        with pytest.raises(ph.EquilibriumError, match="unstable: an undamped motion grows"):
            model.linearize(at="static")
        with pytest.warns(ph.UnstableEquilibriumWarning):
            rest = model.equilibrium()
    else:
        rest = model.equilibrium()
    with pytest.warns(ph.LeftOutWarning, match="loads that follow bodies.* which only modes have"):
        modes = model.linearize(state=rest.state).modes(2)
    growth = modes.eigenvalues.real.max()
    assert rest.is_stable is not flutters
    assert growth == pytest.approx(rest.growth_rate, abs=1e-8) and bool(growth > 0.01) is flutters


def test_a_speck_beside_a_column_under_a_follower_load_costs_no_warning():
    """Their masses and stiffnesses differ by 1e18, so that a matrix of both is ill-conditioned."""
    model = ph.Model(dimension=2)
    column = model.add(ph.Beam(1.0, ph.Section(1.0, 1e-6), ph.Material(1e6, 1.0), 4), "column")
    speck = model.add(ph.PointMass(1e-18), "speck", position=(2, 0, 0))
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), column.start))
    model.apply(ph.Force(column.end, (-10.0, 0, 0), axes="body"))
    model.apply(model.connect(ph.Slider(model.ground.at((2, 0, 0)), speck.origin, axis=(1, 0, 0))).spring(1e-18))
    assert model.equilibrium().is_stable


@pytest.mark.parametrize("axes", ["world", "body"])
def test_a_moment_in_space_has_a_potential_where_joints_leave_its_axis_alone(axes):
    for has_joint in (True, False):
        model = ph.Model()
        shaft = model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.1)), "shaft")
        place = model.ground.at((0, 0, 0))
        model.apply(ph.Torque(shaft.origin, (0, 0, 1.0), axes=axes))
        if has_joint:
            model.apply(model.connect(ph.Revolute(place, shaft.origin)).spring(10.0))
            assert model.linearize(at="static").modes(1).frequencies == pytest.approx([10.0])
        else:
            model.apply(ph.Bushing(place, shaft.origin, 10.0, rotational_stiffness=10.0))
            with pytest.raises(ph.EquilibriumError, match=r"grows with exp\(0.25"):  # m / (4 sqrt(k J))
                model.linearize(at="static")


def test_a_rod_under_a_force_and_a_moment_becomes_a_helix():
    """Both act at its end along z, fixed in the world; the tip is that of a shooting program."""
    section = ph.GeneralSection(np.diag([1e4, 1e4, 1e4, 1e2, 1e2, 1e2]), np.diag([1, 1, 1, 1, 0.5, 0.5]))
    model, rod, _ = grounded(ph.Rod(10.0, section, elements=4, order=2), name="rod")
    model.apply(ph.Force(rod.end, (0, 0, 0.5)))
    model.apply(ph.Torque(rod.end, (0, 0, 5.0 * np.pi)))
    assert model.equilibrium().position(rod.end) == pytest.approx([6.36525, 6.25655, 1.27402], abs=2e-3)


def test_a_mass_at_the_end_of_a_stiff_rod_rests_kilometres_away():
    """A joint carries the round-off of the rod's forces to the mass: E A times that of positions."""
    model, place = ph.Model(gravity=(-9.81, 0, 0)), np.array([1900.0, -700.0, 1300.0])
    section, steel = ph.RectangularSection(0.02, 0.03), ph.Material(2.1e11, 7850.0)
    rod = model.add(ph.Rod(1.0, section, steel, elements=4, order=2), "rod", place, np.diag([-1.0, -1.0, 1.0]))
    mass = model.add(ph.PointMass(0.5), "mass", place - (1, 0, 0))
    model.connect(ph.Fixed(model.ground.at(place), rod.start))
    model.connect(ph.Spherical(rod.end, mass.origin))
    stretch = 9.81 * (0.5 + 7850.0 * section.area / 2) / (2.1e11 * section.area)
    fall = place[0] - 1 - model.equilibrium().position(mass.origin)[0]
    assert fall == pytest.approx(stretch, abs=1e-11)


def cart_and_pendulum(angle):
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    cart = model.add(ph.RigidBody(3.0, 0.1), "cart")
    pole = model.add(ph.RigidBody(2.0, 0.3, center=(0.5, 0, 0)), "pole", rotation=angle)
    model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin, axis=(1, 0, 0)))
    model.connect(ph.Revolute(cart.origin, pole.origin))
    return model


def test_an_inverted_pendulum_is_unstable_although_its_cart_may_roll():
    """(M + m) x'' = m l a'', (J + m l^2) a'' - m l x'' = m g l a: a rigid motion does not hide it."""
    rate = np.sqrt(9.81 / (0.3 + 0.5 - (2.0 * 0.5) ** 2 / 5.0))
    with pytest.raises(ph.EquilibriumError, match=rf"unstable: an undamped motion grows with exp\({rate:.4g} t\)"):
        cart_and_pendulum(np.pi / 2).linearize(at="static")
    hanging = cart_and_pendulum(-np.pi / 2).linearize(at="static").modes(2)
    assert hanging.rigid_modes == 1
    assert hanging.frequencies == pytest.approx([0.0, rate])


def test_a_spinning_rigid_body_in_its_own_axes():
    """Euler's equations: about the largest inertia it wobbles, about the middle one it tumbles.

    Translation at rest in the world turns at the speed in these axes, so does a tilt of the axis.
    """

    def spun(velocity):
        model = ph.Model()
        model.add(ph.RigidBody(1.0, (1.0, 2.0, 2.5)), "body", angular_velocity=velocity)
        return model.linearize(at="steady_rotation").modes(12)

    stable = spun((0, 0, 3.0))
    wobble = 3 * np.sqrt((2.5 - 1) * (2.5 - 2) / (1 * 2))
    assert stable.frequencies == pytest.approx([0, 0, wobble, 3, 3, 3], abs=1e-6)
    assert spun((0, 3.0, 0)).eigenvalues.real.max() == pytest.approx(3 * np.sqrt((2 - 1) * (2.5 - 2) / (1 * 2.5)))


STEEL = ph.Material(youngs_modulus=2.1e11, density=7850.0)


def held_blade(first: ph.Model, port: object) -> ph.Model:
    blade = first.add(ph.Beam(0.8, ph.RectangularSection(0.05, 0.01), STEEL, elements=4), "blade")
    first.connect(ph.Fixed(port, blade.start))
    return first


def on_a_frame(rotation: object) -> ph.Model:
    model = ph.Model(dimension=2)
    return held_blade(model, model.ground.moving(lambda t: (0.0, 0.0, 0.0), rotation=rotation))


def on_a_hub(speed: float, is_driven: bool) -> ph.Model:
    model = ph.Model(dimension=2)
    hub = model.add(ph.RigidBody(1.0, 0.1), "hub", angular_velocity=None if is_driven else (0.0, 0.0, speed))
    axle = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), hub.origin))
    if is_driven:
        model.apply(axle.drive(angle=lambda t: speed * t))
    return held_blade(model, hub.origin)


def kicked_pendulum(speed: float) -> ph.Model:
    model = ph.Model(dimension=2, gravity=(0.0, -9.81, 0.0))
    bob = model.add(ph.RigidBody(1.0, 0.1, center=(0, -0.5, 0)), "bob", angular_velocity=(0.0, 0.0, speed))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bob.origin))
    return model


@pytest.mark.parametrize("at", ["given", "static", "unloaded"])
@pytest.mark.parametrize(
    "turning", [on_a_frame(lambda t: 140.0 * t), on_a_hub(140.0, is_driven=True), on_a_hub(140.0, is_driven=False)]
)
def test_models_at_rest_say_that_they_leave_a_rotation_out(turning, at):
    """Centrifugal stiffening is missing: the blade in its plane of rotation has 410 rad/s for 414 at 140 rad/s."""
    with pytest.warns(ph.errors.LeftOutWarning, match='rotation of .* at 140 rad/s; .* at="steady_rotation"'):
        still = turning.linearize(at=at).modes(2).frequencies[-1]
    assert turning.linearize(at="steady_rotation").modes(2).frequencies[-1] > 1.005 * still


def test_vibrations_at_the_start_are_no_rotation_that_is_left_out():
    """A frame that shakes and a pendulum that was kicked stay near the pose; one that turns over does not."""
    on_a_frame(lambda t: 0.01 * np.sin(50.0 * t)).linearize()
    swinging = kicked_pendulum(0.3).linearize().modes(1).frequencies
    assert swinging == pytest.approx(np.sqrt(9.81 * 0.5 / (0.1 + 0.25)))
    with pytest.warns(ph.errors.LeftOutWarning, match="rotation of bob at 20 rad/s"):
        kicked_pendulum(20.0).linearize()
    spun = kicked_pendulum(20.0)
    spun.linearize(about=spun.equilibrium())  # rest is meant


@pytest.mark.parametrize("rest, leaves_out", [(1.0, True), (1.1, False)])
def test_linear_models_name_ropes_that_are_neither_taut_nor_slack(rest, leaves_out):
    model = ph.Model(dimension=2)
    bob = model.add(ph.PointMass(1.0), "bob", position=(1, 0, 0))
    hook = model.ground.at((0, 0, 0))
    model.apply(ph.SpringDamper(hook, bob.origin, 100.0, 0.0, rest, tension_only=True, name="rope"))
    model.apply(ph.Tendon([hook, bob.origin], stiffness=100.0, rest_length=rest, name="tendon"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.linearize()
    told = " ".join(str(each.message) for each in caught)
    assert [f"{name}, at the very place where it begins to act" in told for name in ("rope", "tendon")] == [
        leaves_out
    ] * 2


def test_equilibria_follow_functions_of_time():
    """A bob of 2 kg on a hoist and under a force that grows sideways, each from the equilibrium before."""
    model = ph.Model(gravity=(0, 0, -10.0))
    bob = model.add(ph.PointMass(2.0), "bob", position=(0, 0, -1))
    hoist = model.connect(ph.Distance(model.ground.at((0, 0, 0)), bob.origin, length=lambda t: 1 + 0.5 * t))
    model.apply(ph.Force(bob.origin, lambda t: (20.0 * t, 0, 0)))
    rest = None
    for time in (0.0, 1.0, 3.0, 0.5):
        rest = model.equilibrium(rest, time=time)
        down = np.array([time, 0, -1]) / np.hypot(time, 1)
        assert rest.state.time == time and rest.is_stable
        assert rest.position(bob.origin) == pytest.approx((1 + 0.5 * time) * down, abs=1e-9)
        assert rest.reaction(hoist) == pytest.approx(-20 * np.hypot(time, 1) * down, abs=1e-6)
    with pytest.raises(ph.ParameterError, match="time must be"):
        model.equilibrium(time=[1.0, 2.0])
    model.connect(ph.Distance(model.ground.at((0, 0, -3)), bob.origin))
    with pytest.raises(ph.JointGapError, match="does not close"):  # 26 m of the hoist do not reach 5 m
        model.equilibrium(time=50.0)


@pytest.mark.parametrize("moved_by", ["drive", "frame"])
def test_equilibria_follow_driven_angles_over_full_turns(moved_by):
    """A beam of 1 m that is turned about the vertical sags by w L^4 / (8 EI) at every angle, also where the drive
    does not begin at zero."""
    for angle in (0.0, 0.3, 1.5, 3.0, 4.0, 9.0):
        model = ph.Model(gravity=(0, 0, -9.81))
        beam = model.add(ph.Beam(1.0, ph.CircularSection(0.01), ph.Material(210e9, 7850.0)), "beam")
        if moved_by == "frame":
            frame = model.ground.moving(lambda t: (0, 0, t), rotation=lambda t, angle=angle: angle * t)
            model.connect(ph.Fixed(frame, beam.start))
        else:
            hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), beam.start, axis=(0, 0, 1)))
            model.apply(hinge.drive(angle=lambda t, angle=angle: 0.3 + (angle - 0.3) * t))
            assert model.equilibrium().position(beam.end)[:2] == pytest.approx([np.cos(0.3), np.sin(0.3)], abs=1e-4)
            with pytest.raises(ph.JointGapError, match=r"starts at 0.3 rad.*equilibrium\(\) moves them there"):
                model.linearize()
        end = model.equilibrium(time=1.0).position(beam.end)
        sag = -7.33e-3 + (moved_by == "frame")
        assert end == pytest.approx([np.cos(angle), np.sin(angle), sag], abs=1e-4)


def test_equilibria_and_linear_models_count_full_turns():
    """A drive of 7 rad turns a gear of ratio 2 by 3.5 rad; a moment of 100 N m winds a spring up by 10 rad."""
    model = ph.Model()
    bodies = [
        model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.1)), name, position=(x, 0, 0)) for x, name in enumerate("abc")
    ]
    hinges = [
        model.connect(ph.Revolute(model.ground.at((x, 0, 0)), body.origin, axis=(0, 1, 0)))
        for x, body in enumerate(bodies)
    ]
    model.connect(ph.Gear(*hinges[:2], 2.0))
    model.apply(hinges[0].drive(angle=lambda t: t))
    spring = model.apply(hinges[2].spring(10.0, damping=3.0))
    model.apply(hinges[2].torque(100.0))
    motion = model.simulate(7.0, step=1e-2)
    for rest in (model.equilibrium(time=7.0), model.equilibrium(motion.at(7.0))):
        assert np.remainder(rest.angle(hinges[1]), 2 * np.pi) == pytest.approx(3.5)
        assert rest[ph.ElementForce(spring)] == pytest.approx(-100.0)
        assert model.linearize(about=rest).modes().frequencies == pytest.approx(
            (3 + np.sqrt(5) * np.array([-1, 1])) / 0.2
        )
    assert model.simulate(0.1, step=1e-2, initial=rest).angle(hinges[1])[-1] == pytest.approx(3.55 - 2 * np.pi)


@pytest.mark.parametrize("kind", ["spring", "bushing", "tendon", "joint"])
def test_dampers_of_supports_that_move_have_no_force_at_rest(kind):
    """A weight on a damped spring whose support rises: dampers are without force in the equilibrium of a time."""
    model = ph.Model(gravity=(0, 0, -10.0))
    rising = model.ground.moving(lambda t: (0, 0, 0.5 * t))
    body = model.add(ph.RigidBody(2.0, (0.1, 0.1, 0.1)), "body", position=(0, 0, -1))
    if kind == "spring":
        spring = model.apply(ph.SpringDamper(rising, body.origin, 1e3, 30.0))
    elif kind == "bushing":
        spring = model.apply(ph.Bushing(rising, body.origin, stiffness=1e3, damping=30.0, rotational_stiffness=1.0))
    elif kind == "tendon":
        guides = [model.ground.at((0, 1, 0)), model.ground.at((0, 0, 0)), body.origin]
        spring = model.apply(ph.Tendon(guides, 1e3, lambda t: 2.0 - 0.5 * t, damping=30.0))
    else:
        rail = model.connect(ph.Prismatic(rising, body.origin, axis=(0, 0, 1)))
        spring = model.apply(rail.spring(1e3, damping=30.0))
    rest = model.equilibrium(time=0.4)
    softness = (2.0 - 0.2) / 2.0 / 1e3 if kind == "tendon" else 1e-3
    assert rest.position(body.origin) == pytest.approx([0, 0, -1 + 0.2 - 20 * softness], abs=1e-9)
    force = rest[ph.Tension(spring) if kind == "tendon" else ph.ElementForce(spring)]
    assert np.abs(force).max() == pytest.approx(20.0)
    assert model.linearize(at="static").modes(6).damping_ratios.max() > 0.1  # small motions are damped


def test_targets_of_servos_have_no_rate_in_equilibria():
    """An arm of weight m g L rests where kp (target - angle) balances it, however fast the target moves then."""
    body = ph.RigidBody(2.0, (0.1, 0.1, 0.1), center=(0.5, 0, 0))
    model, _, hinge = grounded(body, ph.Revolute, axis=(0, -1, 0), gravity=(0, 0, -10.0), name="arm")
    servo = model.apply(hinge.servo(100.0, 2.0, angle=lambda t: 0.4 * np.sin(2 * t)))
    for time in (0.0, 0.5):
        rest = model.equilibrium(time=time)
        angle = rest.angle(hinge)
        assert 100 * (0.4 * np.sin(2 * time) - angle) == pytest.approx(10 * np.cos(angle))
        assert rest[ph.ElementForce(servo)] == pytest.approx(10 * np.cos(angle))
        about = model.linearize(about=rest)
        assert about.modes().frequencies == pytest.approx(np.sqrt((100 - 10 * np.sin(angle)) / 0.6), rel=1e-6)
        assert about.modes().damping_ratios > 0.1  # of small motions


def beside_weights(kind, others):
    """Return a bob on a stiff link or a column under three times its buckling load, beside weights on springs."""
    model = ph.Model(gravity=(0, 0, -9.81))
    for x in range(others):
        weight = model.add(ph.PointMass(1.0), f"weight {x}", (x, 0, 0))
        model.apply(ph.SpringDamper(model.ground.at((x, 0, 10)), weight.origin, stiffness=9.81 / 9.0, length=1.0))
    if kind == "bob":
        bob = model.add(ph.PointMass(1.0), "bob", (0, 5, 0.01))
        model.connect(ph.Distance(model.ground.at((0, 5, 0)), bob.origin))
        return model
    body = ph.Beam(1.0, ph.CircularSection(0.01), ph.Material(2e9, 1000.0), elements=6)
    column = model.add(body, "column", (0, 5, 0), [[0, 0, -1], [0, 1, 0], [1, 0, 0]])
    model.connect(ph.Fixed(model.ground.at((0, 5, 0)), column.start))
    model.apply(ph.Force(column.end, (0, 0, -3 * np.pi**2 / 4 * 2e9 * np.pi * 0.01**4 / 4)))
    return model


@pytest.mark.parametrize("kind", ["bob", "column"])
@pytest.mark.parametrize("others", [2, 30, 60])
def test_unstable_equilibria_are_found_among_many_soft_oscillators(kind, others):
    """A bob falls at sqrt(g / L), and a column as it does alone, however many weights hang on springs nearby."""
    with pytest.warns(ph.errors.UnstableEquilibriumWarning):
        falls = np.sqrt(9.81 / 0.01) if kind == "bob" else beside_weights(kind, 0).equilibrium().growth_rate
        rest = beside_weights(kind, others).equilibrium()
    assert falls > 20 and rest.growth_rate == pytest.approx(falls, rel=1e-6) and not rest.is_stable


def test_models_that_nothing_moves_have_no_modes():
    """A driven body with a damper along its drive has no free motion."""
    part = ph.RigidBody(2.0, (0.1, 0.1, 0.1))
    model, _, rail = grounded(part, ph.Prismatic, axis=(0, 0, 1), gravity=(0, 0, -9.81))
    model.apply(rail.drive(position=lambda t: 0.1 * t))
    model.apply(rail.damper(10.0))
    assert model.linearize(at="static").modes(3).frequencies.size == 0


def balanced_free_body(kind: str, size: float) -> ph.Model:
    """A body without supports under loads that follow it and balance each other."""
    model, steel = ph.Model(), ph.Material(2e11, 7800.0, 0.3)
    if kind == "tube":
        tube = model.add(ph.Shell.cylinder(0.5, 1.0, 5e-3, ph.Material(2e9, 1000.0, 0.3), (2, 8)), "tube")
        model.apply(ph.Pressure(tube, 1e4 * size))
        return model
    rod = model.add(ph.Rod(1.0, ph.CircularSection(0.02), steel, elements=8, order=2), "rod")
    for port, sign in ((rod.start, 1.0), (rod.end, -1.0)):
        load = (sign * 1e4 * size, 0, 0) if kind == "pushed" else (0, sign * 1e3 * size, 0)
        model.apply((ph.Force if kind == "pushed" else ph.Torque)(port, load, axes="body"))
    return model


@pytest.mark.parametrize("kind", ["tube", "pushed", "bent"])
@pytest.mark.parametrize("size", [1e-7, 1e-4, 1e-3, 0.1])
@pytest.mark.filterwarnings("ignore::phlexible.errors.LeftOutWarning")  # of other forms than modes
def test_free_bodies_under_small_loads_that_follow_are_stable(kind, size):
    """Rotations with the loads cost nothing: the skew part of the stiffness takes back what its other part does."""
    assert balanced_free_body(kind, size).equilibrium().is_stable
    modes = balanced_free_body(kind, size).linearize(at="static").modes(8)
    assert modes.frequencies[:6] == pytest.approx(np.zeros(6), abs=1e-6) and modes.frequencies[6] > 20


@pytest.mark.parametrize("elements", [1, 4, 8])
def test_a_flap_on_a_stiff_beam_that_turns_slowly_swings(elements):
    """A pendulum in centrifugal force, with the root of the distance of its pin times m c / I."""
    model = ph.Model(dimension=2)
    hub = model.ground.moving(lambda t: (0, 0, 0), rotation=lambda t: 2.0 * t)
    beam = model.add(ph.Beam(0.1, ph.CircularSection(0.02), ph.Material(2.1e11, 7850.0), elements=elements))
    flap = model.add(
        ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0)),
        position=(0.1, 0, 0),
        angular_velocity=(0, 0, 2.0),
        velocity=(0, 0.2, 0),
    )
    model.connect(ph.Fixed(hub, beam.start))
    model.connect(ph.Revolute(beam.end, flap.origin))
    modes = model.linearize(at="steady_rotation").modes(2)
    assert modes.rigid_modes == 0
    assert modes.frequencies[0] == pytest.approx(2.0 * np.sqrt(0.1 * 0.5 / 0.35), rel=1e-5)


@pytest.mark.parametrize(("load", "turn"), [((10.0, 0, 0), 7.8820e-3), ((0, 10.0, 0), 6.0630e-3)])
def test_equilibria_of_shafts_that_deform_without_moving_their_frame(load, turn):
    """T L / (G J) and M L / (E I) of a steel shaft with a diameter of 20 mm and a length of 1 m."""
    model = ph.Model()
    shaft = model.add(ph.Beam(1.0, ph.CircularSection(0.02), ph.Material(210e9, 7850.0)), "shaft")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), shaft.start))
    model.apply(ph.Torque(shaft.end, load))
    angle = model.equilibrium().rotation(shaft.end)[:, 2 if load[0] else 0]
    assert np.linalg.norm(angle - np.eye(3)[2 if load[0] else 0]) == pytest.approx(turn, rel=1e-4)


@pytest.mark.parametrize("order", [1, 2])
def test_rod_at_rest_is_a_steady_rotation_with_and_without_weight(order):
    """A rod that does not turn keeps its bending frequency, whichever way it is turned; a falling one has none."""
    section, material = ph.RectangularSection(0.05, 0.01), ph.Material(2.1e11, 7850.0, 0.3)
    tilted = Rotation.from_euler("xyz", [0.3, 0.5, -1.0])
    euler = 3.5160153 / 0.8**2 * np.sqrt(2.1e11 * 0.01**2 / 12 / 7850)
    for rotation, gravity in ((None, 0.0), (tilted, 0.0), (tilted, -9.81)):
        model = ph.Model(gravity=(0, 0, gravity))
        rod = model.add(ph.Rod(0.8, section, material, elements=16, order=order), "rod", (5, -7, 3), rotation)
        if gravity:
            with pytest.raises(ph.EquilibriumError, match="would change at 9.81 m/s2"):
                model.linearize(at="steady_rotation")
        model.connect(ph.Fixed(model.ground.at((5, -7, 3)), rod.start))
        assert model.linearize(at="steady_rotation").modes(1).frequencies == pytest.approx([euler], rel=5e-3)


def test_a_rotation_by_round_off_is_none():
    """Sweeps of speeds from negative to positive values pass zero at 1e-16."""

    def blade(speed):
        model = ph.Model()
        hub = model.ground.moving(lambda t: (0, 0, 0), rotation=lambda t: speed * t)
        rod = model.add(
            ph.Rod(0.8, ph.RectangularSection(0.05, 0.01), ph.Material(2.1e11, 7850.0), elements=8), "rod"
        )
        model.connect(ph.Fixed(hub, rod.start))
        return model.linearize(at="steady_rotation").modes(1).frequencies

    assert blade(1e-16) == pytest.approx(blade(0.0), rel=1e-9)
