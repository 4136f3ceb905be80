"""Stress spaces of a beam: elimination gives the displacement stiffness, Hermite moments the theory."""

import numpy as np
import pytest
from scipy.linalg import eigh

from bodies.forms import beam
from phlexible.bodies.beam.strain import linear_stiffness
from phlexible.bodies.body import Body
from phlexible.bodies.stress_space import StressContinuity


def eliminated(space, n):
    return space.viscous_matrix(np.zeros(n))


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("options", [{}, {"strain": "linear"}, {"modes": 3}, {"frame": "cantilever"}])
def test_eliminated_stress_is_the_displacement_stiffness(options, dimension):
    body = beam(**options)
    data = body.discretize(dimension)
    expected = linear_stiffness(data.strain)
    for space in (
        body.stress_space(data, StressContinuity.DISCONTINUOUS),
        Body.stress_space(body, data, StressContinuity.DISCONTINUOUS),  # of any body, from its strain energy
    ):
        found = eliminated(space, data.elastic_count)
        assert found == pytest.approx(expected, abs=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("dimension", [2, 3])
def test_quadratic_strains_store_the_same_energy(dimension):
    from phlexible.bodies.mechanics.floating import strain_energy

    body = beam()
    data = body.discretize(dimension)
    eta = 0.05 * np.random.default_rng(1).normal(size=data.elastic_count)
    for space in (body.stress_space(data, "discontinuous"), Body.stress_space(body, data, "discontinuous")):
        stress = space.stress(eta)
        assert stress @ space.compliance @ stress / 2 == pytest.approx(strain_energy(data, eta))


def test_hermite_moments_give_the_frequencies_of_a_cantilever():
    # Euler-Bernoulli, clamped-free: (1.87510407, 4.69409113)^2 sqrt(EI / rho A) / l^2
    body = beam(frame="cantilever", elements=8, rotary_inertia=False)
    data = body.discretize(2)
    mass = np.einsum("aaij->ij", data.second_moments)[1:, 1:]
    squares = eigh(eliminated(body.stress_space(data, StressContinuity.HERMITE), data.elastic_count), mass)[0]
    scale = np.sqrt(2e6 * body.section.second_moment_z / (1000 * body.section.area)) / body.length**2
    expected = scale * np.array([1.87510407, 4.69409113]) ** 2
    assert np.sqrt(squares[:2]) == pytest.approx(expected, rel=2e-3)
    assert squares[0] > 0


def test_hermite_moment_and_force_of_a_stretched_and_bent_beam():
    body = beam(frame="cantilever", strain="linear")
    data = body.discretize(2)
    nodes = np.arange(1, 3) * 0.25
    eta = np.column_stack([0.01 * nodes, 0.02 * nodes**2 / 2, 0.02 * nodes]).ravel()
    stress = body.stress_space(data, StressContinuity.HERMITE).stress(eta)
    bending, axial = 2e6 * body.section.second_moment_z, 2e6 * body.section.area
    assert stress[0:6:2] == pytest.approx(np.full(3, 0.02 * bending), rel=1e-9)
    assert stress[6:] == pytest.approx(np.full(3, 0.01 * axial), rel=1e-9)
