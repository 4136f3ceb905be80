"""Strain energy: what costs none, what costs how much, and its derivatives."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.interpolate import CubicHermiteSpline

import phlexible as ph
from phlexible.bodies.mechanics.floating import elastic_force, elastic_tangent, strain_energy, strains

LENGTH, ELEMENTS = 0.6, 4
NODES = np.linspace(0, LENGTH, ELEMENTS + 1)
SECTION, MATERIAL = ph.RectangularSection(0.02, 0.03), ph.Material(2e5, 7870.0, 0.25)
E, G = MATERIAL.youngs_modulus, MATERIAL.shear_modulus


def beam(strain="von_karman", dimension=3, frame="cantilever", **more):
    return ph.Beam(LENGTH, SECTION, MATERIAL, ELEMENTS, frame, strain, **more).discretize(dimension)


def nodal(body, u=0.0, v=0.0, v_x=0.0, w=0.0, w_x=0.0, theta=0.0):
    """eta of a clamped beam with these values at the nodes behind the first."""
    columns = np.zeros((ELEMENTS, 6))
    for i, each in enumerate((u, v, v_x, w, w_x, theta)):
        columns[:, i] = np.broadcast_to(each, ELEMENTS + 1)[1:] if np.ndim(each) else each
    return columns[:, : 3 if body.dimension == 2 else 6].ravel()


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("strain", ["linear", "von_karman"])
def test_energy_of_uniform_stretch_curvature_and_twist(strain, dimension):
    body = beam(strain, dimension)
    cases = [
        (nodal(body, u=0.01 * NODES), E * SECTION.area * 0.01**2),
        (nodal(body, v=1e-9 * NODES**2 / 2, v_x=1e-9 * NODES), E * SECTION.second_moment_z * 1e-18),
    ]
    if dimension == 3:
        cases += [
            (nodal(body, w=1e-9 * NODES**2 / 2, w_x=1e-9 * NODES), E * SECTION.second_moment_y * 1e-18),
            (nodal(body, theta=0.3 * NODES), G * SECTION.torsion_constant * 0.09),
        ]
    for eta, doubled_per_length in cases:
        assert strain_energy(body, eta) == pytest.approx(doubled_per_length * LENGTH / 2, rel=1e-10, abs=0)


def bent_without_stretch(seed, dimension):
    """A body, eta whose shortening cancels its slopes in each element, and its bending energy."""
    body = beam(dimension=dimension)
    v, v_x, w, w_x = 0.05 * np.random.default_rng(seed).normal(size=(4, ELEMENTS + 1))
    v[0] = v_x[0] = w[0] = w_x[0] = 0
    if dimension == 2:
        w, w_x = 0 * w, 0 * w_x
    shortening, bending = np.zeros(ELEMENTS + 1), 0.0
    for deflection, slope, moment in ((v, v_x, SECTION.second_moment_z), (w, w_x, SECTION.second_moment_y)):
        spline = CubicHermiteSpline(NODES, deflection, slope)
        for i in range(ELEMENTS):
            x, weights = np.polynomial.legendre.leggauss(6)
            place = NODES[i] + (x + 1) / 2 * (LENGTH / ELEMENTS)
            measure = weights / 2 * (LENGTH / ELEMENTS)
            shortening[i + 1 :] += measure @ spline(place, 1) ** 2 / 2
            bending += E * moment * measure @ spline(place, 2) ** 2 / 2
    return body, nodal(body, -shortening, v, v_x, w, w_x), bending


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from((2, 3)))
def test_slopes_with_their_shortening_do_not_stretch_the_axis(seed, dimension):
    body, eta, bending = bent_without_stretch(seed, dimension)
    assert strains(body, eta) == pytest.approx(np.zeros(ELEMENTS), abs=1e-14)
    assert strain_energy(body, eta) == pytest.approx(bending, rel=1e-11, abs=0)


def five_point_slope(function, place, direction, step=0.5):
    ends = [function(place + k * step * direction) for k in (-2, -1, 1, 2)]
    return (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * step)


@settings(max_examples=20)
@given(
    st.sampled_from(("cantilever", "simply_supported", "mean_axis")),
    st.sampled_from((2, 3)),
    st.sampled_from(("linear", "von_karman")),
    st.sampled_from((None, 3)),
    st.integers(0, 10**6),
)
def test_force_and_tangent_are_the_derivatives_of_the_energy(frame, dimension, strain, modes, seed):
    """Energies are quartic: five points give the exact slope, up to round-off of what it is the sum of."""
    body = beam(strain, dimension, frame, modes=modes)
    eta, direction = 0.05 * np.random.default_rng(seed).normal(size=(2, body.elastic_count))
    force, tangent = elastic_force(body, eta), elastic_tangent(body, eta)
    slope = five_point_slope(lambda x: strain_energy(body, x), eta, direction)
    assert abs(direction @ force - slope) <= 1e-12 * (np.abs(direction) @ np.abs(force))
    change = five_point_slope(lambda x: elastic_force(body, x), eta, direction)
    assert (np.abs(tangent @ direction - change) <= 1e-10 * (np.abs(tangent) @ np.abs(direction))).all()
    assert np.abs(tangent - tangent.T).max() <= 1e-14 * np.abs(tangent).max()
