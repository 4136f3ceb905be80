"""Absolute witnesses: closed forms that a doubled mass, stiffness or force would miss."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import phlexible as ph
from phlexible.bodies.beam.bases import Frame

GRAVITY = 9.81
STEEL = ph.Material(youngs_modulus=2e11, density=7870.0, poissons_ratio=0.3)
FLAT = ph.RectangularSection(width=0.01, height=0.004)  # y, z
LENGTH = 0.5


def test_a_torque_free_top_flips_as_jacobi_found():
    """Moments 1, 2, 3 close to the separatrix, started at w_2 = 0: two flips of the middle axis."""
    one, two, three = inertia = np.array([1.0, 2.0, 3.0])
    spin = np.array([1.0, 0.0, 1.001 / np.sqrt(3)])
    energy, momentum = inertia @ spin**2, np.sum((inertia * spin) ** 2)
    above, below = momentum - energy * one, energy * three - momentum
    rate = np.sqrt((three - two) * above / (one * two * three))
    modulus = (two - one) * below / ((three - two) * above)
    model = ph.Model()
    body = model.add(ph.RigidBody(0.7, inertia), angular_velocity=spin)
    motion = model.simulate(20.0, 2e-3, every=100, progress=False)
    assert rate * 20 > 2 * ellipk(modulus)
    sn, cn, dn, _ = ellipj(rate * motion.time, modulus)
    middle = np.sqrt(below / (two * (three - two)))
    expected = np.stack([spin[0] * cn, middle * sn, spin[2] * dn], axis=1)
    found = np.einsum("tji,tj->ti", motion.rotation(body), motion.angular_velocity(body))
    assert found == pytest.approx(expected, abs=3e-5)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_pendulum_swings_with_its_elliptic_period(dimension):
    mass, arm, moment, amplitude = 2.0, 0.4, 0.05, 2.0
    model = ph.Model(gravity=(0, -GRAVITY, 0), dimension=dimension)
    inertia = moment if dimension == 2 else (0.03, 0.04, moment)
    turn = [[np.sin(amplitude), np.cos(amplitude), 0], [-np.cos(amplitude), np.sin(amplitude), 0], [0, 0, 1]]
    body = model.add(ph.RigidBody(mass, inertia, center=(arm, 0, 0)), rotation=turn)
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.origin))
    period = 4 * np.sqrt((moment + mass * arm**2) / (mass * GRAVITY * arm)) * ellipk(np.sin(amplitude / 2) ** 2)
    motion = model.simulate(period, period / 4000, every=1000, progress=False)
    center = motion.position(body.point((arm, 0, 0)))
    high = arm * np.array([np.sin(amplitude), -np.cos(amplitude), 0])
    low, other = np.array([0, -arm, 0]), high * (-1, 1, 1)
    assert center == pytest.approx(np.array([high, low, other, low, high]), abs=1e-5)


@pytest.mark.parametrize("frame", list(Frame))
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_thrown_beam_flies_on_a_parabola_and_stays_straight(dimension, frame):
    model = ph.Model(gravity=(1.0, -GRAVITY, 0), dimension=dimension)
    body = model.add(ph.Beam(LENGTH, FLAT, STEEL, elements=3, frame=frame), velocity=(3.0, 4.0, 0))
    motion = model.simulate(1.0, 0.01, progress=False)
    t = motion.time[:, None]
    path = np.array([LENGTH, 0, 0]) + np.array([3.0, 4.0, 0]) * t + np.array([1.0, -GRAVITY, 0]) * t**2 / 2
    assert motion.position(body.end) == pytest.approx(path, abs=1e-12)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_joint_carries_what_hangs_on_it(dimension):
    model = ph.Model(gravity=(0, -GRAVITY, 0), dimension=dimension)
    body = model.add(ph.RigidBody(2.0, (0.1, 0.1, 0.1), center=(0, -0.5, 0)))
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.origin))
    motion = model.simulate(0.1, 0.01, progress=False)
    assert motion.reaction(hinge) == pytest.approx(np.tile([0, 2.0 * GRAVITY, 0], (11, 1)), abs=1e-11)


@pytest.mark.parametrize("frame", list(Frame))
@pytest.mark.parametrize(("strain", "spin"), [("linear", 60.0), ("von_karman", 300.0)])
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_turning_beam_is_stretched_by_its_own_mass(dimension, strain, spin, frame):
    """E u'' + rho w^2 (x + u) = 0 with u(0) = 0, u'(L) = 0; it keeps turning in that state.

    Without von Karman strain the state is unstable above the first frequency, 83 rad/s.
    """
    model = ph.Model(dimension=dimension)
    beam = ph.Beam(LENGTH, FLAT, STEEL, elements=16, frame=frame, strain=strain)
    body = model.add(beam, angular_velocity=(0, 0, spin))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.start))
    motion = model.simulate(0.02, 1e-4, initial="quasi_static", every=50, progress=False)
    number = spin * np.sqrt(STEEL.density / STEEL.youngs_modulus)
    stretch = np.tan(number * LENGTH) / number - LENGTH
    found = np.linalg.norm(motion.position(body.end), axis=1) - LENGTH
    assert found == pytest.approx(np.full(len(found), stretch), rel=2e-3)


@pytest.mark.parametrize("frame", list(Frame))
@pytest.mark.parametrize(("dimension", "direction"), [(2, 1), (3, 1), (3, 2)])
def test_a_plucked_cantilever_rings_with_its_first_frequency(dimension, direction, frame):
    """w = 1.8751^2 sqrt(EI / (rho A L^4)); the scheme turns w h / 2 into its arctangent."""
    model = ph.Model(dimension=dimension)
    body = model.add(ph.Beam(LENGTH, FLAT, STEEL, elements=4, frame=frame, rotary_inertia=False))
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), body.start))
    moment = FLAT.second_moment_z if direction == 1 else FLAT.second_moment_y
    stiffness = STEEL.youngs_modulus * moment
    force = 1e-4 * LENGTH * 3 * stiffness / LENGTH**3 * np.eye(3)[direction]
    model.apply(ph.Force(body.end, lambda time: force * (time <= 0)))
    frequency = 1.8751041**2 * np.sqrt(stiffness / (STEEL.density * FLAT.area * LENGTH**4))
    step = 2 * np.pi / frequency / 64
    motion = model.simulate(20 * 64 * step, step, initial="quasi_static", progress=False)
    tip = motion.position(body.end)[:, direction]
    assert tip[0] == pytest.approx(1e-4 * LENGTH, rel=1e-6)
    expected = 2 / step * np.arctan(frequency * step / 2)
    assert strongest_frequency(tip[:-1], step) == pytest.approx(expected, rel=2e-4)


def strongest_frequency(signal, step):
    """Peak of the spectrum under a Gaussian window, interpolated by a parabola [rad/s]."""
    count = len(signal)
    window = np.exp(-((np.arange(count) - count / 2) ** 2) / (2 * (count / 8) ** 2))
    spectrum = np.log(np.abs(np.fft.rfft(signal * window)))
    peak = int(np.argmax(spectrum[1:])) + 1
    left, top, right = spectrum[peak - 1 : peak + 2]
    return 2 * np.pi * (peak + (left - right) / (2 * (left - 2 * top + right))) / (count * step)


@pytest.mark.parametrize("frame", list(Frame))
def test_a_twisted_beam_rings_with_its_first_torsional_frequency(frame):
    """w = pi/2 sqrt(G J / (rho I_p)) / L, from the moment that holds it at an angle M L / (G J)."""
    round_section = ph.CircularSection(0.01)
    model = ph.Model()
    body = model.add(ph.Beam(LENGTH, round_section, STEEL, elements=8, frame=frame))
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), body.start))
    rigidity = STEEL.shear_modulus * round_section.torsion_constant
    moment = 1e-3 * rigidity / LENGTH
    model.apply(ph.Torque(body.end, lambda time: (moment * (time <= 0), 0, 0)))
    frequency = np.pi / 2 * np.sqrt(STEEL.shear_modulus / STEEL.density) / LENGTH
    step = 2 * np.pi / frequency / 64
    motion = model.simulate(20 * 64 * step, step, initial="quasi_static", progress=False)
    twist = motion.rotation(body.end)[:, 2, 1]
    assert twist[0] == pytest.approx(1e-3, rel=1e-5)
    numerical = 2 / step * np.arctan(frequency * (1 + (np.pi / 16) ** 2 / 24) * step / 2)  # linear elements
    assert strongest_frequency(twist[:-1], step) == pytest.approx(numerical, rel=2e-4)
