"""Each scheme has the order that it declares, for states and multipliers of an index-2 model."""

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss

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
