"""Absolute witnesses: closed forms that a doubled mass, stiffness or force would miss."""

import numpy as np
import pytest
from scipy.special import ellipk

import phlexible as ph
from mechanisms import grounded
from phlexible.bodies.beam.bases import Frame

GRAVITY = 9.81
STEEL = ph.Material(youngs_modulus=2e11, density=7870.0, poissons_ratio=0.3)
FLAT = ph.RectangularSection(width=0.01, height=0.004)  # y, z
LENGTH = 0.5


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
@pytest.mark.parametrize(("dimension", "direction"), [(2, 1), (3, 1), (3, 2)])
def test_a_plucked_cantilever_rings_with_its_first_frequency(dimension, direction, frame):
    """w = 1.8751^2 sqrt(EI / (rho A L^4)); the scheme turns w h / 2 into its arctangent."""
    part = ph.Beam(LENGTH, FLAT, STEEL, elements=4, frame=frame, rotary_inertia=False)
    model, body, _ = grounded(part, dimension=dimension)
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
    model, body, _ = grounded(ph.Beam(LENGTH, round_section, STEEL, elements=8, frame=frame))
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
