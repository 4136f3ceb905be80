"""The papers' forms of a spinning shaft in its own axes: omega_n +- speed, which zeroth order misses."""

import numpy as np
import pytest

import phlexible as ph
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
