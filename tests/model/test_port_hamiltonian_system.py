"""A whole mechanism in port-Hamiltonian form against the balances of the other way."""

import numpy as np
import pytest
from phlexible.system.balance import quadratic_velocity_forces
from phlexible.system.constraints import constraint_matrix, constraint_time_derivative
from phlexible.system.load_forces import applied_forces

from model.mechanisms import arbitrary_state, crank_slider, tangle, with_elements
from phlexible.bodies.mechanics.floating import elastic_force, mass_matrix
from phlexible.initial.initial_state import initial_state
from phlexible.port_hamiltonian.structure_check import check_structure
from phlexible.reference.mechanism_model import MechanismModel

MODELS = {
    "plane": lambda: tangle(2),
    "space": lambda: tangle(3),
    "crank-slider": crank_slider,
    "elements": lambda: with_elements(3),
    "elements in the plane": lambda: with_elements(2),
}


def example(name, seed=0):
    mechanism = MODELS[name]()
    layout, state = arbitrary_state(mechanism, seed)
    model = MechanismModel(mechanism)
    x = model.joined(state)
    rows = int(layout.multiplier[-1])
    x[model.state_size - rows :] = np.random.default_rng(seed).normal(size=rows)
    return mechanism, layout, state, model, x


@pytest.mark.parametrize("name", MODELS)
def test_structure_and_power_at_any_state(name):
    figures = check_structure((example(name))[3], example(name)[4])
    assert figures.skewness == 0
    assert figures.power < 1e-14


@pytest.mark.parametrize("name", MODELS)
def test_forces_are_newtons_law_with_loads_and_reactions(name):
    mechanism, layout, state, model, x = example(name)
    multipliers = x[model.state_slice("multipliers")]
    matrix = constraint_matrix(mechanism, layout, state)
    found = model.forces(x, model.inputs(0.0, x))
    expected = applied_forces(mechanism, layout, state) + matrix.T @ multipliers
    size = np.abs(expected)
    for index, placed in enumerate(mechanism.bodies):
        velocity = slice(*layout.velocity[index : index + 2])
        eta = state.elastic[slice(*layout.elastic[index : index + 2])]
        inertia = quadratic_velocity_forces(placed.data, eta, state.velocity[velocity])
        elastic = np.zeros(placed.data.velocity_count)
        elastic[placed.data.rigid_count :] = elastic_force(placed.data, eta)
        expected[velocity] += inertia - elastic
        size[velocity] += np.abs(inertia) + np.abs(elastic)
        part = model.descriptor_matrix(x)[np.ix_(model._velocities[velocity], model._velocities[velocity])]
        assert part == pytest.approx(mass_matrix(placed.data, eta))
    assert np.abs(found[model._velocities] - expected).max() <= 1e-13 * size.max()
    gap = -(matrix @ state.velocity + constraint_time_derivative(mechanism, layout, state))
    assert found[model.state_slice("multipliers")] == pytest.approx(gap)
    assert found[model.state_slice("time")] == pytest.approx([1.0])


def test_states_go_there_and_back():
    _, _, state, model, x = example("space")
    back = model.split(x)
    for name in ("time", "position", "rotation", "elastic", "velocity"):
        assert getattr(back, name) == pytest.approx(getattr(state, name))


def test_drive_power_is_that_of_the_moving_pin():
    mechanism = crank_slider()
    model = MechanismModel(mechanism)
    x = model.joined(initial_state(mechanism))
    x[model.state_slice("multipliers")] = [3.0, 5.0, 0.0, 0.0, 0.0]
    u, y = model.inputs(0.0, x), model.output(x)
    # the pin moves with 150 * 0.15 m/s along y and pushes the coupler with lambda
    assert u[model.port_slice("drives")] @ y[model.port_slice("drives")] == pytest.approx(5 * 150 * 0.15)
