"""Multibody systems as semi-explicit models with multipliers: energy and constraints exact, multipliers of order 2.

Discrete gradients of such models are those of Kinon, Morandin and Schulze (2026): E is singular in the rows of the
constraints only, which hold the velocities of the middle of each step.
"""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import phlexible as ph
from phlexible.port_hamiltonian.model import StateGroup


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
