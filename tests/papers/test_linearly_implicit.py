"""The linearly implicit scheme on port-Hamiltonian models: exactness, order, closed forms, what is refused."""

import numpy as np
import pytest
from scipy.special import ellipj

import phlexible as ph
from phlexible.papers import duffing_oscillator, von_karman_beam

METHOD = "linearly_implicit"
ALPHA, BETA, AMPLITUDE = 10.0, 5.0, 10.0  # the oscillator of the paper


def polarised_gap(model, before, step):
    """C s - e(q_-, q_+) of states (T, n), relative to the greatest strain."""
    n = len(model.coordinates)
    half = step / 2 * before[:, n : 2 * n]
    strains = np.array([model.strains(x[:n] - move, x[:n] + move) for x, move in zip(before, half, strict=True)])
    return np.abs(before[:, 2 * n :] @ model.compliance.T - strains).max() / np.abs(strains).max()


def string(law=None, **options):
    return ph.String(1.0, 1.0, 4, law or ph.StVenantKirchhoffLaw(50.0), **options)


def string_form(end="force", **options):
    fall, speed = (0, -9.81, 0), (lambda s: (0, 3 * s, 0))
    return string(**options).port_hamiltonian(dimension=2, gravity=fall, start="fixed", end=end, velocity=speed)


def sheet(law=None, **options):
    places = [(0, 0, 0), (1, 0, 0), (1, 0.6, 0), (0, 0.5, 0), (0.5, 0.3, 0)]
    cells = [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]
    law = law or ph.StVenantKirchhoff(60.0, 0.3)
    return ph.SoftBody((places, cells), law, 1.0, thickness=0.1, interfaces={"corner": [2]}, **options)


def test_the_oscillator_of_the_paper_has_order_two_and_keeps_its_energy():
    """Against Jacobi's elliptic function, after half a period; stresses stay those of the coordinates."""
    model = duffing_oscillator(ALPHA, BETA, AMPLITUDE)
    pulsation, share = np.sqrt(ALPHA + BETA * AMPLITUDE**2), BETA * AMPLITUDE**2 / 2 / (ALPHA + BETA * AMPLITUDE**2)
    duration, errors = np.pi / pulsation, []
    for steps in (40, 80):
        run = ph.integrate(model, model.initial_state, None, duration, duration / steps, METHOD)
        exact = AMPLITUDE * ellipj(pulsation * run.time[-1], share)[1]
        errors.append(abs(run.state("position")[-1, 0] - exact))
        assert np.abs(run.balance_error).max() < 1e-14 * run.energy[0]
        assert polarised_gap(model, run.states, duration / steps) < 1e-13
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 1e-3 * AMPLITUDE


def test_the_beam_of_the_paper():
    """Amplitude of the thickness, a quarter of the linear period: a 1000th of it at 25 steps, and exact energy."""
    side, modulus, density, elements = 0.002, 70e9, 2700.0, 6
    model = von_karman_beam(1.0, modulus * side**2, modulus * side**4 / 12, density * side**2, elements)
    places, full = np.linspace(0.0, 1.0, elements + 1), np.zeros(3 * (elements + 1))
    full[1::3], full[2::3] = side * np.sin(np.pi * places), side * np.pi * np.cos(np.pi * places)
    q = np.delete(full, [0, 1, len(full) - 3, len(full) - 2])
    start, lateral = model.state_at(q, 0 * q), np.arange(2, len(q) - 1, 3)
    duration = np.pi / 2 / (np.pi**2 * np.sqrt(modulus / density) * side / np.sqrt(12))
    ends = {}
    for steps in (25, 50, 100):
        run = ph.integrate(model, start, None, duration, duration / steps, METHOD)
        assert np.abs(run.balance_error).max() < 1e-13 * run.energy[0]
        assert polarised_gap(model, run.states, duration / steps) < 1e-11
        ends[steps] = run.states[-1][lateral]
    other = ph.integrate(model, start, None, duration, duration / 50, "discrete_gradient").states[-1][lateral]
    gap, finer = (np.abs(ends[n] - ends[2 * n]).max() / side for n in (25, 50))
    assert gap == pytest.approx(0.75 * 1.1e-3, rel=0.3)
    assert gap / finer == pytest.approx(4.0, rel=0.3)
    assert np.abs(other - ends[50]).max() / side < 2e-4


@pytest.mark.parametrize(
    ("options", "value"), [({"viscosity": 0.01}, 1.0), ({"end": "velocity"}, 3.0)], ids=["viscous", "driven"]
)
def test_a_string(options, value):
    """Order against a scheme of order 4, balance with loads or a given velocity, no drift of strains."""
    form, step = string_form(**options), 0.01
    given = {"end": lambda t: [value * np.sin(9 * t), value]}
    coarse, fine = (ph.integrate(form, form.initial_state, given, 0.1, h, METHOD) for h in (step, step / 2))
    exact = ph.integrate(form, form.initial_state, given, 0.1, step / 2, "gauss2").states[-1]
    assert np.abs(coarse.balance_error).max() < 1e-13 * np.abs(coarse.energy).max()
    assert (coarse.dissipated[-1] > 1e-4) == ("viscosity" in options)
    first, second = (np.abs(run.states[-1] - exact)[:16].max() for run in (coarse, fine))
    assert first / second == pytest.approx(4.0, rel=0.25)
    for x in coarse.states:
        moved = np.concatenate([step / 2 * x[8:16], x[8:]])
        turned = x[form.state_slice("strain")] - form.strain_gap(moved)  # |dr/ds|^2 of h v / 2
        assert form.strain_gap(x) == pytest.approx(-turned, abs=1e-13)


def test_a_soft_body_with_stresses_as_states():
    """Structure and energy of its form, that of positions and velocities; momenta, order and reversal of runs."""
    body = sheet(viscosity=0.0)
    places = body.nodes + 0.05 * np.random.default_rng(0).normal(size=(len(body.nodes), 3)) * [1, 1, 0]
    spin = np.cross([0, 0, 2.0], places - places.mean(axis=0)) + [0.3, -0.1, 0.0]
    options = {"dimension": 2, "shape": places, "velocity": spin}
    plain, form = (body.port_hamiltonian(**options, stresses=given) for given in (False, True))
    start, n = form.initial_state, plain.state_size
    figures = ph.check_structure(form, start)
    assert max(figures.skewness, figures.power) < 1e-12 and figures.gradient < 1e-6
    assert form.storage(start) == pytest.approx(plain.storage(start[:n]), rel=1e-13)
    assert form.forces(start, np.zeros(2))[:n] == pytest.approx(plain.forces(start[:n], np.zeros(2)), abs=1e-12)
    runs = {steps: ph.integrate(form, start, None, 0.05, 0.05 / steps, METHOD) for steps in (10, 20)}
    exact = ph.integrate(plain, start[:n], None, 0.05, 0.0025, "gauss2").states[-1]
    first, second = (np.abs(run.states[-1][:n] - exact).max() for run in runs.values())
    assert first / second == pytest.approx(4.0, rel=0.2)
    run, half = runs[10], n // 2
    assert np.abs(run.balance_error).max() < 1e-13 * run.energy[0]
    assert polarised_gap(form, run.states, 0.005) < 1e-13
    momenta = (form.mass @ run.state("velocity").T).T.reshape(len(run.time), -1, 2)
    at = run.states[:, :half].reshape(momenta.shape)
    turning = (at[..., 0] * momenta[..., 1] - at[..., 1] * momenta[..., 0]).sum(axis=1)
    assert turning == pytest.approx(turning[0], rel=1e-13)
    turned = form.state_at(run.states[-1][:half], -run.states[-1][half:n])
    back = ph.integrate(form, turned, None, 0.05, 0.005, METHOD).states[-1]
    assert back[:half] == pytest.approx(start[:half], abs=1e-12)


def test_viscosity_takes_what_the_strains_move():
    form = sheet(viscosity=0.05).port_hamiltonian(dimension=2, gravity=(0, -2.0, 0), stresses=True)
    run = ph.integrate(form, form.initial_state, {"corner": [3.0, 0.0]}, 0.2, 0.02, METHOD)
    changes = np.diff(run.state("stress"), axis=0)
    lost = 0.05 / 0.02 * np.einsum("ti,ti->t", changes, changes @ form.compliance)
    assert np.diff(run.dissipated) == pytest.approx(lost, rel=1e-10) and lost.sum() > 1e-3
    assert np.abs(run.balance_error).max() < 1e-13 * run.supplied.max()


def test_parts_of_a_composed_model():
    """A string with a mass at its end, as one model: the scheme takes the coordinates of all parts."""
    mass = ph.with_prefix(ph.PointMass(0.5).port_hamiltonian(dimension=2), "mass")
    rope = ph.with_prefix(string_form(end="velocity"), "rope")
    whole = ph.gyrator(rope, mass, -np.eye(2), ("rope.end", "mass.origin force"))
    start = whole.rest_state.copy()
    start[whole.state_slice("mass.velocity")] = [0.0, 3.0]
    run = ph.integrate(whole, start, None, 0.1, 0.01, METHOD)
    assert np.abs(run.balance_error).max() < 1e-13 * np.abs(run.energy).max()
    other = ph.integrate(whole, start, None, 0.1, 0.01, "discrete_gradient")
    assert np.abs(run.states[-1] - other.states[-1])[:16].max() < 0.02


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (lambda: string(ph.LinearLaw(50.0)).port_hamiltonian(start="fixed"), "efforts are not linear"),
        (lambda: sheet().port_hamiltonian(dimension=2), "stresses=True"),
        (lambda: ph.RigidBody(1.0, (1.0, 2.0, 2.5)).port_hamiltonian(), "discrete_gradient"),
    ],
    ids=["law", "positions", "rigid"],
)
def test_other_models_are_refused_with_the_remedy(form, message):
    model = form()
    start = model.rest_state + 0.01 * np.arange(model.state_size)
    with pytest.raises(ph.ModelError, match=message):
        ph.integrate(model, start, None, 0.1, 0.1, METHOD)
    with pytest.raises(ph.ModelError, match="no linear functions of stresses"):
        sheet(ph.NeoHookean(60.0, 0.3)).port_hamiltonian(dimension=2, stresses=True)
