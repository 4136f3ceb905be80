"""World vectors: where centres of mass and material points are, how directions turn, and their derivatives."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss

from mechanisms import arbitrary_state, moved_along, slope, tangle
from phlexible.description.interactions.functions import PointOf
from phlexible.state.forces import body_axes

EPS = 1e-5


def places(system, state, ports):
    return system.vectors([PointOf(port) for port in ports]).values(system.at(state))[0]


@pytest.mark.parametrize("dimension", [2, 3])
def test_positions_of_states_are_centres_of_mass(dimension):
    """Of a beam the mean place of its axis, by Gauss's rule in each of two elements."""
    model = tangle(dimension)
    system, state = arbitrary_state(model)
    nodes, weights = leggauss(4)
    for name in "ab":
        x = np.concatenate([0.15 * (nodes + 1) / 2, 0.15 + 0.15 * (nodes + 1) / 2])
        points = places(system, state, [model[name].at(float(each)) for each in x])
        mean = np.tile(weights, 2) @ points / 4
        assert state.position[system.index[model[name]]] == pytest.approx(mean, abs=1e-14)
    material = places(system, state, [model["c"].point((0.1, 0.2, 0)), model["d"].origin])
    assert state.position[2:] == pytest.approx(material, abs=1e-15)


@pytest.mark.parametrize("dimension", [2, 3])
def test_derivatives_of_vectors(dimension):
    system, state = arbitrary_state(tangle(dimension))
    vectors, at = system.rows.set, system.at(state)
    jacobian = vectors.jacobian(at)
    assert jacobian == pytest.approx(slope(lambda s: vectors.values(system.at(s)).ravel(), system, state), abs=1e-9)
    later, earlier = (system.at(moved_along(system, state, t)) for t in (EPS, -EPS))
    rates = vectors.rates(at, at.velocity)
    assert (vectors.values(later) - vectors.values(earlier)) / (2 * EPS) == pytest.approx(rates, abs=1e-8)
    by_parts = (jacobian @ state.velocity).reshape(-1, 3) + vectors.prescribed_rates(at)[0]
    assert rates[0] == pytest.approx(by_parts, abs=1e-14)
    change = vectors.rates(later, at.velocity) - vectors.rates(earlier, at.velocity)
    assert change / (2 * EPS) == pytest.approx(vectors.accelerations(at), abs=1e-5)


@pytest.mark.parametrize("dimension", [2, 3])
def test_directions_turn_with_the_material(dimension):
    """A direction along the axis is the tangent of the bent axis, one across turns with it."""
    model = tangle(dimension)
    system, state = arbitrary_state(model)
    state = replace(state, eta=1e-3 * state.eta)
    body, x, h = model["a"], 0.1, 1e-4
    along, across, _ = system.vectors(body_axes(body.at(x))).values(system.at(state))[0]
    ends = places(system, state, [body.at(x - h), body.at(x + h)])
    tangent = (ends[1] - ends[0]) / (2 * h)
    assert along == pytest.approx(tangent / np.linalg.norm(tangent), abs=1e-5)
    assert np.abs(along - state.rotation[0][:, 0]).max() > 1e-4
    assert across @ along == pytest.approx(0, abs=1e-6)
