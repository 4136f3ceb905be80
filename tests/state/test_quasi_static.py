"""Quasi-static deformation: closed forms, balances, and independence of the floating frame."""

import numpy as np
import pytest

import phlexible as ph
from mechanisms import ROD, beam, crank_slider
from phlexible.bodies.mechanics.floating import (
    elastic_force,
    mass_matrix,
    quadratic_velocity_forces,
    split_velocity,
    velocity_components,
)
from phlexible.description.interactions.functions import PointOf
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.state import quasi_static
from phlexible.state.forces import applied_forces
from phlexible.state.initial_pose import rigid_moments
from phlexible.state.initial_state import InitialKind, initial_state
from phlexible.state.initial_velocity import reference_velocity, undeformed
from phlexible.state.quasi_static import quasi_static_motion
from phlexible.state.small_motions import centring_matrix, world_matrix
from phlexible.state.system import system_of

AREA, BENDING, LENGTH = ROD.area, 2e11 * np.pi * 3e-3**4 / 4, 0.3
LINE_DENSITY = 7870.0 * AREA
FRAMES = ["cantilever", "simply_supported", "mean_axis"]


def deformed(model):
    return initial_state(system_of(model), InitialKind.QUASI_STATIC)


def places(model, *ports):
    return places_at(system_of(model), deformed(model), *ports)


def places_at(system, state, *ports):
    return system.vectors([PointOf(port) for port in ports]).values(system.at(state))[0]


def clamped(frame="cantilever", gravity=10.0, dimension=2, strain="von_karman", both=False):
    model = Mechanism(gravity=(0, -gravity, 0), dimension=dimension)
    body = model.add(beam(8, frame, strain))
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), body.start))
    if both:
        model.connect(ph.Fixed(model.ground.at((LENGTH, 0, 0)), body.end))
    return model


def test_loads_are_raised_in_small_shares_where_large_ones_find_nothing():
    """A cantilever that bends by six lengths in its frame: raised by quarters its weight comes to three of them."""
    tip = places(model := clamped(gravity=1e5), model.bodies[0].end)[0]
    assert tip[1] == pytest.approx(-LINE_DENSITY * 1e5 * LENGTH**4 / (8 * BENDING), rel=1e-5)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_beam_clamped_at_both_ends_sags_under_gravity(dimension):
    """Statically indeterminate: more reactions than rigid motions."""
    model = clamped(dimension=dimension, both=True)
    middle = places(model, model.bodies[0].at(LENGTH / 2))[0]
    assert middle[1] == pytest.approx(-LINE_DENSITY * 10 * LENGTH**4 / (384 * BENDING), rel=1e-5)


def test_pins_at_both_ends_pull_a_heavy_beam_straight():
    """Von Karman: the sag of a string-like beam grows far slower than its load."""
    sags = []
    for gravity in (10.0, 1e4):
        model = Mechanism(gravity=(0, -gravity, 0), dimension=2)
        body = model.add(beam(8, "simply_supported"))
        model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.start))
        model.connect(ph.Revolute(body.end, model.ground.at((LENGTH, 0, 0))))
        sags.append(-places(model, body.at(LENGTH / 2))[0, 1])
    assert sags[0] == pytest.approx(5 * LINE_DENSITY * 10 * LENGTH**4 / (384 * BENDING), rel=1e-4)
    # Cubic law of the first sine, good to 2 %: EI (pi/L)^4 w + EA (pi/L)^4 w^3 / 4 = 4 q / pi
    load, stretch = 4 / np.pi * LINE_DENSITY * 1e4 * (LENGTH / np.pi) ** 4, 2e11 * AREA / 4
    cubic = np.roots([stretch, 0, BENDING, -load])
    assert sags[1] == pytest.approx(cubic[np.isreal(cubic)].real[0], rel=2e-2)


def papers_motion(system, state, acceleration, index):
    """nu and dnu/dt of the reference point in body axes, from those of the centre of mass, at deta/dt = 0."""
    data, own, turn = system.bodies[index].data, system.layout.span(index), state.rotation[index]
    V, w, rate = split_velocity(data, state.velocity[own])
    dV, dw, _ = split_velocity(data, acceleration[own])
    centre = data.first_moments @ [1, *system.elastic(state, index)] / data.mass
    v = turn.T @ V - np.cross(w, centre)
    dv = turn.T @ dV - np.cross(w, turn.T @ V) - np.cross(dw, centre)
    kept = velocity_components(data)
    return np.concatenate([v, w, rate])[kept], np.concatenate([dv, dw, rate])[kept]


def check_balance(model):
    """Every demand of the quasi-static start; momentum balances about the reference points, as in the papers."""
    system = system_of(model)
    motion = quasi_static_motion(system, initial_state(system))
    state, at = motion.state, system.at(motion.state)
    matrix = system.rows.matrix(at)
    to_papers = (world_matrix(system, state) @ centring_matrix(system, state)).T
    forces = to_papers @ (applied_forces(system, state) + matrix.T @ motion.multipliers)
    scale = 0.0
    for index, placed in enumerate(system.bodies):
        own, data, eta = system.layout.span(index), placed.data, system.elastic(state, index)
        nu, change = papers_motion(system, state, motion.acceleration, index)
        inertia = mass_matrix(data, eta) @ change - quadratic_velocity_forces(data, eta, nu)
        forces[own] -= inertia
        forces[own][data.rigid_count :] -= elastic_force(data, eta)
        assert not state.velocity[own][data.rigid_count :].any()
        assert not motion.acceleration[own][data.rigid_count :].any()
        scale = max(scale, np.abs(inertia).max())
    assert np.abs(forces).max() < 1e-9 * scale
    assert np.abs(system.rows.values(at)).max(initial=0) < 1e-12
    change = system.rows.accelerations(at)[0]
    allowed = 1e-9 * (abs(matrix) @ np.abs(motion.acceleration)).max(initial=0)
    assert np.abs(matrix @ motion.acceleration + change).max(initial=0) <= allowed
    rate = system.rows.drift(at)[0]
    assert np.abs(matrix @ state.velocity + rate).max(initial=0) < 1e-9 * np.abs(rate).max(initial=1e-3)
    moments = rigid_moments(system, state, undeformed(system))
    nearest = (moments + matrix.T @ motion.pose_multipliers)[system.layout.is_rigid]
    assert np.abs(nearest).max() < 1e-9 * sum(placed.data.mass for placed in model.bodies)
    return system, state


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(("spin", "push"), [(50.0, 0.0), (50.0, 3.0), (0.0, 3.0)])
def test_a_free_beam_that_falls_and_spins_balances_in_any_frame(frame, spin, push):
    """It is stretched about its middle by its spin, rho w^2 L^3 / 12 E, and bent by a push alone.

    Each half is bent as a cantilever from the middle by its inertia. Spin stiffens it by the order of
    (spin / lowest frequency)^2 = 7e-4.
    """
    model = Mechanism(gravity=(0, -10, 0), dimension=2)
    body = model.add(beam(8, frame), velocity=(0, -spin * LENGTH / 2, 0), angular_velocity=(0, 0, spin))
    model.apply(ph.Force(body.at(LENGTH / 2), (0, push, 0)))
    system, state = check_balance(model)
    start, middle, end = places_at(system, state, body.start, body.at(LENGTH / 2), body.end)
    if not push:
        assert end[0] - start[0] - LENGTH == pytest.approx(7870.0 * spin**2 * LENGTH**3 / (12 * 2e11), rel=1e-5)
    bend = push / LENGTH * (LENGTH / 2) ** 4 / (8 * BENDING)
    assert middle[1] - np.array([start[1], end[1]]) == pytest.approx(bend, rel=2e-3 if spin else 1e-4, abs=1e-12)


@pytest.mark.parametrize("strain", ["linear", "von_karman"])
@pytest.mark.parametrize("angle", [0.0, 0.5, 1.6])
def test_the_crank_slider_balances(strain, angle):
    model = crank_slider(strain, angle)
    _, state = check_balance(model)
    if angle == 0:
        # The slider's deceleration compresses or pulls: axial displacement of the order of m a L / EA.
        stretch = (model["coupler"].end.point.shapes @ state.eta)[0]
        assert 1e-6 < abs(stretch) < 1e-4
        assert state.position[1, 0] == pytest.approx(0.45 + stretch, abs=1e-12)
    else:
        assert np.abs(state.eta).max() > 1e-4


@pytest.mark.parametrize("links", [10, 60])
def test_a_chain_with_gravity_and_a_moving_end(links):
    model = Mechanism(gravity=(0, -10, 0), dimension=2)
    end = model.ground.moving(lambda t: (np.sin(t), t**2, 0))
    for number in range(links):
        link = model.add(beam(2), position=(LENGTH * number, 0, 0))
        model.connect(ph.Revolute(end, link.start))
        end = link.end
    check_balance(model)


def test_spatial_loads_and_a_follower():
    model = Mechanism(gravity=(0, 0, -10))
    body = model.add(beam(4, "simply_supported"), rotation=None)
    model.connect(ph.Fixed(model.ground.moving(lambda t: (0, 0, 0), rotation=lambda t: 20 * t), body.start))
    bob = model.add(ph.RigidBody(0.01, (1e-5,) * 3), position=(LENGTH, 0, 0))
    model.connect(ph.Spherical(body.end, bob.origin))
    model.apply(ph.Force(body.at(0.2), (0, 0.3, 0.2), axes="body"))
    model.apply(ph.Torque(body.end, (0.01, 0.02, 0.03)))
    model.apply(ph.Torque(body.end, (0.01, 0.02, 0.03), axes="body"))
    check_balance(model)


def test_the_pose_that_joints_leave_free_stays():
    """A pendulum bends as it begins to fall, and its pin does not open."""
    model = Mechanism(gravity=(0, -10, 0), dimension=2)
    body = model.add(beam(8), rotation=0.3)
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.start))
    system, state = check_balance(model)
    pin, chord = places_at(system, state, body.start, body.end)
    assert pin == pytest.approx(np.zeros(3), abs=1e-14)
    assert np.arctan2(chord[1], chord[0]) == pytest.approx(0.3, abs=1e-4)
    assert np.abs(state.eta).max() > 1e-6


@pytest.mark.filterwarnings("ignore::phlexible.errors.UnitWarning")
@pytest.mark.parametrize("frame", FRAMES)
def test_no_unit_of_time_matters(frame):
    """A beam clamped in its middle that carries another one on a rail, in seconds and in microseconds."""
    found = []
    for second in (1.0, 1e6):
        rubber = ph.Material(1e6 / second**2, 1000.0)
        model = Mechanism(gravity=(0, -1e-2 / second**2, 0), dimension=3)
        body = ph.Beam(LENGTH, ROD, rubber, 2, frame=frame)
        first, other = (model.add(body, position=(x, 0, 0)) for x in (0.0, LENGTH))
        model.connect(ph.Fixed(model.ground.at((LENGTH / 2, 0, 0)), first.at(LENGTH / 2)))
        model.connect(ph.Prismatic(first.end, other.start, axis=(0, 0, 1)))
        found.append(deformed(model).eta)
    assert np.abs(found[0]).max() > 1e-4 * LENGTH
    assert found[1] == pytest.approx(found[0], abs=1e-9 * np.abs(found[0]).max())


def rod_model(gravity, joint, dimension=3, **placed):
    """A steel rod of 1 m along x, with joints to the ground at its start."""
    model = ph.Model(gravity=(0, -gravity, 0), dimension=dimension)
    steel = ph.Material(youngs_modulus=2e11, density=7850.0)
    body = model.add(ph.Rod(1.0, ph.CircularSection(0.01), steel, elements=8, order=2), "rod", **placed)
    hinge = model.connect(joint(model.ground.at((0, 0, 0)), body.start)) if joint else None
    return model, body, hinge


def test_a_rod_that_falls_about_a_pin_does_not_ring():
    """Its weight less its inertia, w (1 - 3 s / 2 L), bends it as a bar that begins to fall about a pin.

    M(s) = w s (L - s)^2 / (4 L), so that the strain energy is w^2 L^5 / (3360 E I).
    """
    model, _, _ = rod_model(9.81, ph.Spherical)
    bent, straight = (
        model.simulate(0.05, 1e-3, initial=each).energy.strain for each in ("quasi_static", "undeformed")
    )
    weight, bending = 7850.0 * np.pi * 0.005**2 * 9.81, 2e11 * np.pi * 0.005**4 / 4
    assert bent[0] == pytest.approx(weight**2 / (3360 * bending), rel=2e-3)
    assert np.ptp(bent) < 0.02 * np.ptp(straight)


def test_a_driven_rod_is_stretched_as_it_turns():
    """By rho w^2 L^3 / (3 E), and goes on turning so."""
    model, body, _ = rod_model(0.0, None)
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.start, axis=(0, 0, 1)))
    model.apply(hinge.drive(angle=lambda t: 100 * t))
    radius = np.linalg.norm(model.simulate(0.02, 1e-4, initial="quasi_static").position(body.end), axis=1)
    assert radius[0] - 1 == pytest.approx(7850.0 * 100**2 / (3 * 2e11), rel=1e-3)
    assert np.ptp(radius) < 2e-5 * (radius[0] - 1)


def test_rigid_models_stay_as_they_are():
    model = Mechanism(gravity=(0, -10, 0), dimension=2)
    model.add(ph.RigidBody(1.0, 1.0), position=(1, 2, 0), velocity=(1, 0, 0))
    one, other = initial_state(system_of(model)), deformed(model)
    assert (one.position == other.position).all() and (one.velocity == other.velocity).all()


def test_what_elastic_forces_cannot_hold_is_refused():
    model = clamped("simply_supported", gravity=1e15)
    with pytest.raises(ph.ModelError, match="found: even small shares .* balances miss by"):
        deformed(model)


def test_newtons_method_is_quadratic(monkeypatch):
    """A sag of 18 % in at most 9 iterations, the last ones to round-off."""
    errors = []

    def noted(*arguments):
        errors.append((residual := measure(*arguments)).error)
        return residual

    measure = quasi_static._residual
    monkeypatch.setattr(quasi_static, "_residual", noted)
    deformed(clamped("simply_supported", gravity=3e3))
    late = [error for error in errors if error < 0.05]
    assert len(errors) <= 9
    assert late[-1] < 1e-12


def test_redundant_joints_share_their_forces():
    """A pin on a clamp takes half of its force, by least squares, and the deformation stays."""
    model, clean = clamped(), clamped()
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), model.bodies[0].start))
    motion, alone = (quasi_static_motion(s, initial_state(s)) for s in (system_of(model), system_of(clean)))
    assert motion.state.eta == pytest.approx(alone.state.eta, abs=1e-12)
    assert motion.multipliers[:2] == pytest.approx(alone.multipliers[:2] / 2, rel=1e-9)
    assert motion.multipliers[3:] == pytest.approx(alone.multipliers[:2] / 2, rel=1e-9)


def test_given_velocities_that_the_deformed_bodies_cannot_have_are_refused():
    source = crank_slider(angle=0.8)
    system, placed = system_of(source), source["coupler"]
    velocity, spin = reference_velocity(system, initial_state(system), 0)
    model = Mechanism(dimension=2)
    rod = model.add(placed.body, "coupler", placed.position, placed.rotation, velocity, spin)
    slider = model.add(source["slider"].body, "slider", source["slider"].position)
    crank, line = source.joints[0].first, source.joints[2].first
    model.connect(ph.Revolute(crank, rod.start))
    model.connect(ph.Revolute(rod.end, slider.origin))
    model.connect(type(source.joints[2])(line, slider.origin, axis=(1, 0, 0)))
    initial_state(system_of(model))
    with pytest.raises(ph.VelocityError, match="fit the undeformed bodies, and .* deformed they contradict"):
        deformed(model)
