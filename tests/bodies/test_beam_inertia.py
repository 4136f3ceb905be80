"""Inertia of a beam against the solid it stands for: clouds of particles and closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.interpolate import CubicHermiteSpline

import phlexible as ph
from phlexible.bodies.mechanics.floating import check_mass, mass_matrix
from phlexible.elements.line_functions import gauss

LENGTH, WIDTH, HEIGHT, DENSITY = 0.8, 0.12, 0.2, 900.0
SECTION, MATERIAL = ph.RectangularSection(WIDTH, HEIGHT), ph.Material(1e9, DENSITY)
FRAMES = ("cantilever", "simply_supported", "mean_axis")
ELEMENTS = 3
MASS = DENSITY * LENGTH * WIDTH * HEIGHT


def beam(frame="cantilever", rotary=True, dimension=3, **more):
    return ph.Beam(LENGTH, SECTION, MATERIAL, ELEMENTS, frame, rotary_inertia=rotary, **more).discretize(dimension)


def axis_fields(body, eta, x):
    """u, v, w, theta, v', w' at x, interpolated by SciPy from the nodal values."""
    nodes = np.linspace(0, LENGTH, ELEMENTS + 1)
    nodal = (body.points.basis @ eta).reshape(ELEMENTS + 1, -1)
    if body.dimension == 2:
        nodal = np.hstack([nodal, np.zeros((ELEMENTS + 1, 3))])
    v, w = (CubicHermiteSpline(nodes, nodal[:, i], nodal[:, i + 1]) for i in (1, 3))
    u, theta = (np.interp(x, nodes, nodal[:, i]) for i in (0, 5))
    return u, v(x), w(x), theta, v(x, 1), w(x, 1)


def cloud(dimension):
    """Masses (p,) and undeformed places (p, 3) of particles; in the plane all at z = 0."""
    points, weights = gauss(5)
    x = ((np.arange(ELEMENTS)[:, None] + points) / ELEMENTS * LENGTH).ravel()
    z, z_weights = (np.zeros(1), np.ones(1)) if dimension == 2 else (HEIGHT * (points - 0.5), weights)
    grid = np.meshgrid(x, WIDTH * (points - 0.5), z, indexing="ij")
    masses = np.einsum("i,j,k->ijk", np.tile(weights / ELEMENTS, ELEMENTS), weights, z_weights)
    return MASS * masses.ravel(), np.stack([each.ravel() for each in grid], axis=1)


def displacement(body, eta, places):
    """u_f of plane cross-sections normal to the axis, shape (p, 3)."""
    x, y, z = places.T
    u, v, w, theta, v_x, w_x = axis_fields(body, eta, x)
    return np.stack([u - y * v_x - z * w_x, v - z * theta, w + y * theta], axis=1)


def expand(body, nu):
    """v (3,), w (3,) and deta/dt (n,) from the velocities that the body keeps."""
    v, w = np.zeros(3), np.zeros(3)
    v[: body.dimension] = nu[: body.dimension]
    w[list(body.rotation_axes)] = nu[body.dimension : body.rigid_count]
    return v, w, nu[body.rigid_count :]


def random_state(body, seed):
    random = np.random.default_rng(seed)
    return 0.1 * random.normal(size=body.elastic_count), random.normal(size=body.velocity_count)


@settings(max_examples=30)
@given(st.sampled_from(FRAMES), st.sampled_from((2, 3)), st.integers(0, 10**6))
def test_kinetic_energy_and_momenta_are_those_of_the_particles(frame, dimension, seed):
    body = beam(frame, dimension=dimension)
    eta, nu = random_state(body, seed)
    masses, places = cloud(dimension)
    v, w, rates = expand(body, nu)
    moved = places + displacement(body, eta, places)
    velocity = v + np.cross(w, moved) + displacement(body, rates, places)
    momentum = masses[:, None] * velocity
    matrix = mass_matrix(body, eta)
    assert nu @ matrix @ nu / 2 == pytest.approx((momentum * velocity).sum() / 2, rel=1e-12, abs=0)

    spin = np.cross(moved, momentum).sum(axis=0)
    expected = [*momentum.sum(axis=0)[:dimension], *spin[list(body.rotation_axes)]]
    assert (matrix @ nu)[: body.rigid_count] == pytest.approx(np.array(expected), rel=1e-10, abs=1e-10 * MASS)
    assert body.mass == pytest.approx(masses.sum(), rel=1e-14, abs=0)


@settings(max_examples=20)
@given(st.sampled_from(FRAMES), st.sampled_from((2, 3)), st.integers(0, 10**6))
def test_without_rotary_inertia_there_is_the_axis_and_its_spin(frame, dimension, seed):
    body = beam(frame, False, dimension)
    eta, nu = random_state(body, seed)
    masses, places = cloud(dimension)
    on_axis = places * [1, 0, 0]
    v, w, rates = expand(body, nu)
    velocity = v + np.cross(w, on_axis + displacement(body, eta, on_axis)) + displacement(body, rates, on_axis)
    theta, twist_rate = (axis_fields(body, each, places[:, 0])[3] for each in (eta, rates))
    spin = (w[0] + twist_rate) ** 2 + theta**2 * (w @ w + w[0] ** 2) / 2
    polar = SECTION.polar_moment / SECTION.area
    expected = masses @ ((velocity**2).sum(axis=1) + polar * spin) / 2
    assert nu @ mass_matrix(body, eta) @ nu / 2 == pytest.approx(expected, rel=1e-12, abs=0)


@settings(max_examples=30)
@given(
    st.sampled_from(FRAMES), st.sampled_from((2, 3)), st.booleans(), st.sampled_from((None, 4)), st.integers(0, 99)
)
def test_mass_matrix_is_symmetric_positive_definite(frame, dimension, rotary, modes, seed):
    body = beam(frame, rotary, dimension, modes=modes)
    check_mass(body)
    eta = random_state(body, seed)[0] * (1 if modes is None else 0.1)
    matrix = mass_matrix(body, eta)
    assert np.abs(matrix - matrix.T).max() <= 1e-14 * np.abs(matrix).max()
    scale = np.sqrt(np.diag(matrix))
    assert np.linalg.eigvalsh(matrix / np.outer(scale, scale))[0] > 1e-9
    many = mass_matrix(body, np.stack([0 * eta, eta, -eta]))
    assert many.shape == (3, *matrix.shape)
    assert many[1] == pytest.approx(matrix, abs=1e-14 * np.abs(matrix).max())
