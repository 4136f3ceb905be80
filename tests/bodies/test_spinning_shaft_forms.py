"""Limits of the papers' forms: zeroth order of a spinning shaft, the projection of u_f x w at constant mass."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.bodies.locations import Along
from phlexible.papers.floating_forms import BodyState

SPEED = 100.0
SECTION, STEEL = ph.CircularSection(diameter=20e-3), ph.Material(2.1e11, 7850.0)
SHAFT = ph.Beam(1.0, SECTION, STEEL, elements=8, frame="simply_supported", rotary_inertia=False)
OMEGA = np.pi**2 * np.sqrt(2.1e11 * 0.005**2 / 7850.0)  # of the shaft at rest, first bending


def frequencies(variant):
    """The two lowest of bending, with bearings that hold the body frame on its axis.

    The bearings take up the rows of v and w; to first order the spin stays what it is. What is left are
    the states (displacement, elastic velocity, stress), differentiated about the straight shaft.
    """
    form = SHAFT.port_hamiltonian(variant)
    n, s = form.body.elastic_count, form.stress_space.size
    zero, spin = np.zeros(3), np.array([SPEED, 0.0, 0.0])
    x = form.joined(BodyState(zero, np.eye(3), np.zeros(n), zero, spin, np.zeros(n), np.zeros(s)))
    bent, moved = form.state_slice("displacement"), form.state_slice("elastic_velocity")
    elastic = np.r_[bent, moved, form.state_size - s : form.state_size]
    descriptor, nothing = form.descriptor_matrix(x), np.zeros(form.port_size)
    scale = np.ones(form.state_size)
    scale[form.state_size - s :] = 1e6  # a stress is large where a displacement is small

    def slope(k):
        step = np.zeros(form.state_size)
        step[k] = 1e-7 * scale[k]
        change = form.forces(x + step, nothing) - form.forces(x - step, nothing)
        return change[elastic] / (2 * step[k])

    A = np.column_stack([slope(k) for k in elastic])
    values = np.linalg.eigvals(np.linalg.solve(descriptor[np.ix_(elastic, elastic)], A))
    assert np.abs(form.forces(x, nothing)[elastic]).max() < 1e-9
    found = np.sort(np.unique(np.round(values.imag[values.imag > 1.0], 4)))
    return found[:2]


@pytest.mark.parametrize("variant", ["full", "constant_mass"])
def test_the_shaft_is_seen_to_bend_at_its_frequency_plus_and_minus_the_speed(variant):
    assert frequencies(variant) == pytest.approx([OMEGA - SPEED, OMEGA + SPEED], rel=1e-4)


def test_zeroth_order_misses_them():
    assert np.abs(frequencies("zeroth_order") / [OMEGA - SPEED, OMEGA + SPEED] - 1).max() > 0.05


STRAIN, SPIN = 1e-2, 3.0


def angular_acceleration(variant, elements, power):
    """dw/dt of a clamped beam that spins, at rest in its frame, with u = e x^power along it and e x^2 across."""
    section, material = ph.RectangularSection(0.03, 0.05), ph.Material(2e6, 1000.0)
    beam = ph.Beam(1.0, section, material, elements, "cantilever", strain="linear", rotary_inertia=False)
    form = beam.port_hamiltonian(variant, dimension=2)
    rows, values = [], []
    for x in np.arange(1, elements + 1) / elements:
        point = form.body.points.locate(Along(float(x)))
        rows += [point.shapes[0], point.shapes[1], point.rotations[2]]
        values += [STRAIN * x**power, STRAIN * x**2, 2 * STRAIN * x]
    eta = np.linalg.solve(np.array(rows), values)
    x = np.zeros(form.state_size)
    x[form.state_slice("rotation_rows")] = np.eye(2).ravel()
    x[form.state_slice("displacement")] = eta
    x[form.state_slice("angular_velocity")] = SPIN
    x[form.state_slice("elastic_velocity")] = -form.convection(eta)[:, 2] * SPIN
    x[form.state_slice("stress")] = form.stress_space.stress(eta)
    rate = np.linalg.solve(form.descriptor_matrix(x), form.forces(x, np.zeros(form.port_size)))
    return rate[form.state_slice("angular_velocity")].item()


@pytest.mark.parametrize(
    ("power", "gaps", "close"),
    [(1, [0.0175, 0.0195, 0.0199], 1e-4), (2, [0.00527, 0.00269, 0.00135], 1e-5)],
    ids=["stretched at its clamp", "not stretched there"],
)
def test_a_beam_stretched_at_its_clamp_stays_two_percent_off(power, gaps, close):
    """Of the constant-mass form from the full form, relative; without stretch there it halves with the elements."""
    for elements, gap in zip((8, 16, 32), gaps, strict=True):
        constant, full = (angular_acceleration(each, elements, power) for each in ("constant_mass", "full"))
        assert constant / full - 1 == pytest.approx(gap, abs=close)
