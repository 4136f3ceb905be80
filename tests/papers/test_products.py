"""Products of many states are those of the matrices, of one body, of composed models, of mechanisms."""

import numpy as np
import pytest

import phlexible as ph
from bodies.forms import BODIES, random_state
from mechanisms import arbitrary_state, crank_slider, tangle, with_elements
from papers.families import FAMILIES


def dense(matrix):
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def assert_products(model, x, seed=0):
    """At two states at once, with arbitrary efforts, rates and inputs."""
    rng, n, m = np.random.default_rng(seed), model.state_size, model.port_size
    states = np.array([x, x + 1e-3 * rng.normal(size=n)])
    z, rates, u = (rng.normal(size=(2, size)) for size in (n, n, m))
    energies = model.storages(states)
    for k, each in enumerate(states):
        assert energies[k] == pytest.approx(model.storage(each), rel=1e-12)
        names = ("structure", "dissipation", "port", "descriptor")
        J, R, B, E = (dense(getattr(model, f"{name}_matrix")(each)) for name in names)
        pairs = [
            (model.efforts(states)[k], model.effort(each)),
            (model.descriptor_products(states, rates)[k], E @ rates[k]),
            (model.flows(states, z, u)[k], (J - R) @ z[k] + B @ u[k]),
            (model.output_products(states, z)[k], B.T @ z[k]),
            (model.defects(states, rates, u)[k], E @ rates[k] - (J - R) @ model.effort(each) - B @ u[k]),
        ]
        solution = model.descriptor_solutions(each, z)[k]
        gap = E @ solution - np.where(E.any(axis=1), z[k], 0.0)
        assert np.abs(gap).max() <= 1e-12 * (np.abs(E) @ np.abs(solution)).max()
        for found, expected in pairs:
            assert np.abs(found - expected).max(initial=0) <= 1e-12 * np.abs(expected).max(initial=1e-300)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("name", BODIES)
def test_one_body(name, dimension):
    variants = ["full", "constant_mass", "zeroth_order", *["printed"] * (dimension == 2)]
    for variant in variants:
        form = BODIES[name].port_hamiltonian(variant, dimension=dimension, gravity=(0.3, -9.81, 0.0))
        assert_products(form, random_state(form, 1)[0])


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("name", BODIES)
def test_discrete_effort_takes_the_change_of_energy(name, dimension):
    """docs/theory.md, 2, for steps that are not small."""
    for variant in ("full", "constant_mass", "zeroth_order"):
        form = BODIES[name].port_hamiltonian(variant, dimension=dimension, gravity=(0.3, -9.81, 0.0))
        before, after = random_state(form, 1)[0], random_state(form, 2)[0]
        work = form.descriptor_matrix((before + after) / 2) @ (after - before)
        z = form.discrete_effort(before, after)
        gap = z @ work - (form.storage(after) - form.storage(before))
        assert abs(gap) <= 1e-12 * np.abs(z * work).sum()


def composed():
    """Three bodies with a turning transformer, a gyrator, exchanged and doubled ports; its first state."""
    beam = BODIES["linear beam"].port_hamiltonian(dimension=2)
    mass = BODIES["point mass"].port_hamiltonian(dimension=2)
    port = mass.ports[0]
    mass = ph.with_prefix(mass.with_ports(joint=port, guide=port.select(1)), "mass")
    body = ph.with_prefix(BODIES["rigid body"].port_hamiltonian(dimension=2), "body")
    beam, ports = ph.with_prefix(beam, "beam"), ("beam.end force", "mass.joint")
    whole = ph.transformer(beam, mass, lambda a, b: a[2:6].reshape(2, 2).T, ports)
    whole = ph.inverted(ph.inverted(whole, "mass.guide"), "beam.start force")
    whole = ph.gyrator(whole, body, lambda a, b: (1 + b[0]) * np.eye(2), ("beam.start force", "body.origin force"))
    return whole


def test_a_composed_model():
    whole = composed()
    x = whole.rest_state + 0.1 * np.random.default_rng(2).normal(size=whole.state_size)
    assert len(whole.parts) == 2
    assert_products(whole, x)


def test_slopes_of_a_composed_model():
    whole = composed()
    rng = np.random.default_rng(3)
    x = whole.rest_state + 0.1 * rng.normal(size=whole.state_size)
    rate, u = rng.normal(size=len(x)), rng.normal(size=whole.port_size)
    rates, inputs = np.tile(rate, (len(x), 1)), np.tile(u, (len(x), 1))
    ends = [whole.defects(x + step * np.eye(len(x)), rates, inputs) for step in (1e-6, -1e-6)]
    expected = (ends[0] - ends[1]).T / 2e-6
    assert np.abs(whole.defect_slope(x, rate, u) - expected).max() < 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("make", [crank_slider, lambda: tangle(2), lambda: tangle(3), lambda: with_elements(3)])
def test_a_mechanism(make):
    mechanism = make()
    _, state = arbitrary_state(mechanism, 0)
    model = ph.MechanismModel(mechanism)
    assert_products(model, model.joined(state))


@pytest.mark.parametrize("family", FAMILIES)
def test_families_of_mechanisms_and_their_slopes(family):
    """Products against matrices, and the sparse slope against central differences of all defects."""
    model = ph.MechanismModel(FAMILIES[family][0]()[0])
    rng, n = np.random.default_rng(4), model.state_size
    x = model.initial_state + 1e-3 * rng.normal(size=n)
    assert_products(model, x)
    if family in ("string", "soft body"):  # whose slope leaves out how viscosity changes with places
        x[model.state_slice(f"{model.bodies[1].name}.velocity")] = 0.0
    rate, u = rng.normal(size=n), model.inputs(0.0, x)
    steps = 1e-6 * np.maximum(np.abs(x), 1e-2)
    ends = [
        model.descriptor_products(y, np.broadcast_to(rate, y.shape))
        - model.flows(y, model.efforts(y), np.broadcast_to(u, (n, len(u))))
        for y in (x + np.diag(steps), x - np.diag(steps))
    ]
    expected = (ends[0] - ends[1]).T / (2 * steps)
    assert np.abs(dense(model.defect_slope(x, rate, u)) - expected).max() < 1e-5 * np.abs(expected).max()
