"""A whole mechanism in port-Hamiltonian form: its balances, and the motion of the conserving step."""

from functools import partial

import numpy as np
import pytest

import phlexible as ph
from mechanisms import arbitrary_state, crank_slider, four_bar, tangle, with_elements
from papers.families import FAMILIES
from phlexible.bodies.mechanics.floating import elastic_force, mass_matrix, quadratic_velocity_forces
from phlexible.description.interactions.functions import PointOf
from phlexible.state.forces import applied_forces
from phlexible.state.initial_state import initial_state
from phlexible.state.small_motions import centring_matrix, world_matrix
from phlexible.state.system import system_of

MODELS = {
    "plane": lambda: tangle(2),
    "space": lambda: tangle(3),
    "crank-slider": crank_slider,
    "elements": lambda: with_elements(3),
    "elements in the plane": lambda: with_elements(2),
}


def example(name, seed=0):
    mechanism = MODELS[name]()
    system, state = arbitrary_state(mechanism, seed)
    model = ph.MechanismModel(mechanism)
    x = model.joined(state)
    rows = len(system.owners)
    x[model.state_size - rows :] = np.random.default_rng(seed).normal(size=rows)
    return system, state, model, x


@pytest.mark.parametrize("family", FAMILIES)
def test_structure_of_all_families_away_from_rest_and_their_energy_over_steps(family):
    """Of contacts deep down and at the kink of their energy; the balance of long steps is exact."""
    form = ph.MechanismModel(FAMILIES[family][0]()[0])
    x = form.initial_state
    away = x + 1e-3 * np.random.default_rng(0).normal(size=len(x))
    away[form.state_slice("coordinates")] -= 0.05
    figures = ph.check_structure(form, away)
    assert figures.skewness == 0
    assert figures.power < 1e-13
    if "contacts" in family:  # beside the kink of the energy where a contact opens
        assert ph.check_structure(form, x).gradient < 1e-7
    run = ph.integrate(form, x, None, 5e-3, 1e-3, "discrete_gradient")
    size = max(np.ptp(run.energy), np.ptp(run.supplied), np.ptp(run.dissipated))
    assert np.abs(run.balance_error).max() <= 1e-11 * size + 1e-14 * np.abs(run.energy).max()
    assert (run.dissipated[-1] > 0) == bool(abs(form.dissipation_matrix(x)).max() > 0)


@pytest.mark.parametrize("name", MODELS)
def test_forces_are_newtons_law_with_loads_and_reactions(name):
    """In the papers' coordinates: motions of reference points, in body axes."""
    system, state, model, x = example(name)
    multipliers = x[model.state_slice("multipliers")]
    at = system.at(state)
    matrix = system.rows.matrix(at)
    motion = world_matrix(system, state) @ centring_matrix(system, state)
    found = model.forces(x, model.inputs(0.0, x))
    expected = motion.T @ (applied_forces(system, state) + matrix.T @ multipliers)
    size = np.abs(expected)
    descriptor = model.descriptor_matrix(x)
    nu = x[model._velocity_indices]
    assert motion @ nu == pytest.approx(state.velocity, abs=1e-14)
    for index, placed in enumerate(system.bodies):
        own, eta = system.layout.span(index), system.elastic(state, index)
        inertia = quadratic_velocity_forces(placed.data, eta, nu[own])
        elastic = np.zeros(placed.data.velocity_count)
        elastic[placed.data.rigid_count :] = elastic_force(placed.data, eta)
        expected[own] += inertia - elastic
        size[own] += np.abs(inertia) + np.abs(elastic)
        part = descriptor[np.ix_(model._velocity_indices[own], model._velocity_indices[own])]
        assert part == pytest.approx(mass_matrix(placed.data, eta))
    assert np.abs(found[model._velocity_indices] - expected).max() <= 1e-13 * size.max()
    gap = -system.rows.rates(at, state.velocity[None])[0]
    assert found[model.state_slice("multipliers")] == pytest.approx(gap)
    assert found[model.state_slice("time")] == pytest.approx([1.0])


def test_states_go_there_and_back():
    """x holds the place of the reference point, of a rigid body its origin."""
    system, state, model, x = example("space")
    origin = system.vectors([PointOf(model.mechanism["c"].origin)]).values(system.at(state))[0, 0]
    assert x[model.state_slice("c.position")] == pytest.approx(origin, abs=1e-15)
    back = model.split(x)
    for name in ("time", "position", "rotation", "eta", "velocity"):
        assert getattr(back, name) == pytest.approx(getattr(state, name))


def test_drive_power_is_that_of_the_moving_pin():
    mechanism = crank_slider()
    model = ph.MechanismModel(mechanism)
    x = model.joined(initial_state(system_of(mechanism)))
    x[model.state_slice("multipliers")] = [3.0, 5.0, 0.0, 0.0, 0.0]
    u, y = model.inputs(0.0, x), model.output(x)
    # the pin moves with 150 * 0.15 m/s along y and pushes the coupler with lambda
    assert u[model.port_slice("drives")] @ y[model.port_slice("drives")] == pytest.approx(5 * 150 * 0.15)


def test_rows_that_hold_a_motion_twice_have_one_multiplier():
    """Of a planar four-bar in space three; what is left of G has full rank."""
    form = ph.MechanismModel(four_bar(3))
    assert len(form.system.owners) - len(form.rows) == 3
    rows = form.structure_matrix(form.initial_state)[form.state_slice("multipliers")]
    assert np.linalg.svd(rows, compute_uv=False).min() > 1e-3


soft_crank_slider = partial(ph.gallery.crank_slider, elements=2, youngs_modulus=5e8)
# softer than in the gallery, so that the step resolves what is axial
CASES = {
    "crank-slider, linear": (lambda: soft_crank_slider(strain="linear"), "coupler", 3e-3),
    "crank-slider, von Karman": (lambda: soft_crank_slider(), "coupler", 3e-3),
    "flexible pendulum": (lambda: ph.gallery.flexible_pendulum(elements=2, youngs_modulus=2e7), "beam", 0.05),
    "free pair": (lambda: ph.gallery.free_pair(elements=1, youngs_modulus=7e7), "second", 0.013),
}


RADAU_TOO = {"crank-slider, linear", "flexible pendulum"}
"""Cases for which its order is measured too; of the others it is the reference only."""


def place(form, x, port):
    """World position of an attachment, shape (3,)."""
    weights, vectors = form.system.point(port)
    return weights @ vectors.values(form.system.at(form.split(x)))[0]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
@pytest.mark.parametrize(
    "case", [pytest.param(each, marks=pytest.mark.thorough if "crank-slider" in each else ()) for each in CASES]
)
def test_differences_fall_with_the_order(case):
    make, name, duration = CASES[case]
    model = make()
    form = ph.MechanismModel(model)
    start, middle = form.joined(initial_state(form.system)), model[name].at(model[name].data.size / 2)

    def collocated(method, steps):
        return place(form, ph.integrate(form, start, None, duration, duration / steps, method).states[-1], middle)

    def conserved(steps):
        return model.simulate(duration, duration / steps, progress=False).position(middle)[-1]

    best = collocated("radau3", 32 if case in RADAU_TOO else 20)
    gauss = [np.abs(collocated("gauss2", n) - best).max() for n in (8, 16)]
    radau = [np.abs(collocated("radau3", n) - best).max() for n in ((8, 16) if case in RADAU_TOO else ())]
    step = [np.abs(conserved(n) - best).max() for n in (100, 200)]
    assert max(gauss[1], *radau[1:], step[1]) < 1e-6  # metres, of beams of 0.3 to 1 m
    assert np.log2(step[0] / step[1]) == pytest.approx(2, abs=0.15)
    assert np.log2(gauss[0] / gauss[1]) == pytest.approx(4, abs=0.4)
    assert not radau or np.log2(radau[0] / radau[1]) == pytest.approx(5, abs=0.6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
@pytest.mark.parametrize("family", FAMILIES)
def test_everything_that_bodies_and_joints_can_be_moves_alike(family):
    """Relations, friction, contacts, strings, rods, soft bodies: the step comes to the papers' motion."""
    make, duration = FAMILIES[family]
    model, *ports = make()
    form = ph.MechanismModel(model)
    ends = ph.integrate(form, form.initial_state, None, duration, duration / 26, "radau3").states[-1]
    expected = np.array([place(form, ends, port) for port in ports])

    def differences(steps):
        motion = model.simulate(duration, duration / steps, progress=False)
        return np.abs([motion.position(port)[-1] for port in ports] - expected).max(axis=1)

    step = [differences(n) for n in (100, 200)]
    assert step[1].max() < 1e-6
    assert np.log2(step[0] / step[1]) == pytest.approx(2, abs=0.1)
