"""Orders of all schemes for states and multipliers; multibody systems with multipliers."""

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss
from scipy.special import ellipj, ellipk

import phlexible as ph
from phlexible.papers.collocation import (
    GAUSS_LEGENDRE_1,
    GAUSS_LEGENDRE_2,
    RADAU_IIA_3,
    Equations,
    StageLoop,
    Tableau,
)
from phlexible.papers.elastodynamics import rod
from phlexible.port_hamiltonian.model import StateGroup
from phlexible.state.initial_state import initial_state

DURATION = 0.3
TABLEAUX = (
    GAUSS_LEGENDRE_1,
    GAUSS_LEGENDRE_2,
    RADAU_IIA_3,
    Tableau("Gauss-Legendre 3", (leggauss(3)[0] + 1) / 2),
    Tableau("Radau IIA 2", np.array([1 / 3, 1.0])),
)


def collocate(form, tableau, x, duration, steps, is_projected=True):
    """The state after equal steps from t = 0; Gauss schemes are projected unless that is left out."""
    equations = Equations(form, form.default_inputs, x, form.default_input_states)
    loop = StageLoop(equations, tableau, x, is_projected and not tableau.is_stiffly_accurate)
    step = duration / steps
    for k in range(steps):
        x = loop.advance(k * step, step, x).end
    return x


def double_pendulum():
    """Two rigid bodies in the plane; constraints turn with the bodies."""
    model = ph.Model(dimension=2, gravity=(0.0, -9.81, 0.0))
    body = ph.RigidBody(2.0, 0.3, center=(0.4, 0.1, 0.0))
    a, b = model.add(body, "a"), model.add(body, "b", position=(1.0, 0.0, 0.0), angular_velocity=(0, 0, 2.0))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), a.origin))
    model.connect(ph.Revolute(a.point((1.0, 0.0, 0.0)), b.origin))
    form = ph.MechanismModel(model)
    return form, form.joined(initial_state(form.system))


@pytest.fixture(scope="module")
def reference():
    form, start = double_pendulum()
    return collocate(form, RADAU_IIA_3, start, DURATION, 96)


def errors(tableau, steps, reference, **options):
    """Of the states and of the multipliers at the end, relative to nothing: all are near 1."""
    form, start = double_pendulum()
    ends = [collocate(form, tableau, start, DURATION, n, **options) for n in steps]
    gaps, first = np.abs(np.array(ends) - reference), form.state_slice("multipliers").start
    return gaps[:, :first].max(axis=1), gaps[:, first:].max(axis=1)


@pytest.mark.parametrize("tableau", TABLEAUX, ids=lambda tableau: tableau.name)
def test_declared_orders_are_true(tableau, reference):
    steps = (16, 24) if tableau.order < 5 else (6, 9)
    differential, algebraic = errors(tableau, steps, reference)
    ratio = np.log(steps[1] / steps[0])
    assert np.log(differential[0] / differential[1]) / ratio == pytest.approx(tableau.order, abs=0.25)
    assert np.log(algebraic[0] / algebraic[1]) / ratio == pytest.approx(tableau.stages, abs=0.5)


def test_gauss_without_projection_loses_two_orders(reference):
    differential, _ = errors(GAUSS_LEGENDRE_2, (16, 24), reference, is_projected=False)
    assert np.log(differential[0] / differential[1]) / np.log(1.5) == pytest.approx(2, abs=0.25)


@pytest.mark.parametrize("tableau", TABLEAUX, ids=lambda tableau: tableau.name)
def test_coefficients_obey_the_collocation_conditions(tableau):
    for power in range(1, tableau.stages + 1):
        nodes = tableau.nodes ** (power - 1)
        assert tableau.matrix @ nodes == pytest.approx(tableau.nodes**power / power)
        assert tableau.weights @ nodes == pytest.approx(1 / power)


@pytest.mark.parametrize("tableau", TABLEAUX, ids=lambda tableau: tableau.name)
def test_gauss_keeps_the_energy_of_linear_models_and_radau_loses_some(tableau):
    model = rod(1.0, 10, 1.0, 1.0, is_clamped=True)
    start = np.sin(np.arange(model.state_size))
    change = model.storage(collocate(model, tableau, start, 2.0, 10)) / model.storage(start) - 1
    if tableau.is_stiffly_accurate:
        assert change < -1e-3
    else:
        assert abs(change) < 1e-12


# Discrete gradients of multibody systems are those of Kinon, Morandin and Schulze (2026): E is singular in the rows
# of the constraints only, which hold the velocities of the middle of each step.
class Constrained(ph.PortHamiltonianModel):
    """E = diag(1, M, 0), z = (dV/dq, v, lambda), J = [[0, 1, 0], [-1, 0, G^T], [0, -G, 0]] with G linear in q.

    Args:
        masses: of the coordinates, shape (n,).
        forms: symmetric A of each constraint q.A q / 2 = constant, shapes (n, n).
        potential, slope: V(q) and dV/dq.
    """

    def __init__(self, masses, forms, potential, slope):
        self.masses, self.potential, self.slope = np.array(masses, dtype=float), potential, slope
        self.forms = np.array(forms)
        n = len(self.masses)
        kinds = (("place", "m", n), ("velocity", "m/s", n), ("multiplier", "N/m", len(forms)))
        self.states = tuple(StateGroup(*kind) for kind in kinds)
        self.ports = ()

    @property
    def n(self):
        return len(self.masses)

    def constraints(self, q):
        return np.einsum("kij,...i,...j->...k", self.forms, q, q) / 2

    def rows(self, q):
        return self.forms @ q

    def descriptor_matrix(self, x):
        return np.diag(np.concatenate([np.ones(self.n), self.masses, np.zeros(len(self.forms))]))

    def structure_matrix(self, x):
        n, G = self.n, self.rows(x[: self.n])
        J = np.zeros((self.state_size,) * 2)
        J[:n, n : 2 * n], J[n : 2 * n, :n] = np.eye(n), -np.eye(n)
        J[n : 2 * n, 2 * n :], J[2 * n :, n : 2 * n] = G.T, -G
        return J

    def dissipation_matrix(self, x):
        return np.zeros((self.state_size,) * 2)

    def port_matrix(self, x):
        return np.zeros((self.state_size, 0))

    def effort(self, x):
        return np.concatenate([self.slope(x[: self.n]), x[self.n :]])

    def storage(self, x):
        q, v = x[: self.n], x[self.n : 2 * self.n]
        return float(self.potential(q) + self.masses @ v**2 / 2)

    def start(self, q, v):
        return np.concatenate([q, v, np.zeros(len(self.forms))])


LENGTH, WEIGHT, OPENING = 0.8, 9.81, 2.0
"""Of a pendulum of 1 kg, which begins at rest, OPENING [rad] from below."""


def pendulum():
    slope = np.array([0.0, WEIGHT])
    model = Constrained([1.0, 1.0], [np.eye(2)], lambda q: WEIGHT * q[1], lambda q: slope)
    place = LENGTH * np.array([np.sin(OPENING), -np.cos(OPENING)])
    return model, model.start(place, np.zeros(2))


def swing(time):
    """Place of it and its multiplier -(v^2 - g y) / l^2, by elliptic functions, shapes (T, 2) and (T,)."""
    k = np.sin(OPENING / 2)
    sn, *_ = ellipj(ellipk(k**2) - np.sqrt(WEIGHT / LENGTH) * time, k**2)
    angle = 2 * np.arcsin(k * sn)
    place = LENGTH * np.stack([np.sin(angle), -np.cos(angle)], axis=1)
    speed_squared = 2 * WEIGHT * LENGTH * (np.cos(angle) - np.cos(OPENING))
    return place, -(speed_squared - WEIGHT * place[:, 1]) / LENGTH**2


@pytest.mark.parametrize("method", ["discrete_gradient", "midpoint"])
def test_a_pendulum_in_cartesian_coordinates_agrees_with_elliptic_functions_with_order_two(method):
    """Places and multipliers at all instants, the first, the last and the shorter step included."""
    model, x = pendulum()
    errors = []
    for step in (0.02, 0.01, 0.005):
        run = ph.integrate(model, x, None, 1.0 + step / 2, step, method)
        place, force = swing(run.time)
        pairs = (run.state("place") - place, LENGTH), (run.state("multiplier")[:, 0] - force, np.abs(force).max())
        errors.append([np.abs(missed).max() / size for missed, size in pairs])
        assert np.abs(run.balance_error).max() <= 1e-13 * WEIGHT
        gaps = model.constraints(run.state("place")) - LENGTH**2 / 2
        assert np.abs(gaps).max() <= 2e-13
        if method == "discrete_gradient":
            assert np.ptp(run.energy) <= 1e-13 * WEIGHT
    assert np.log2(np.divide(errors[1], errors[2])) == pytest.approx([2, 2], abs=0.1) and max(errors[2]) <= 2e-3
