"""The paper's matrices of a string: structure, Newton's law, boundaries, discrete efforts, motion."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.bodies.mechanics.absolute import elastic_force, mass_matrix, viscous_matrix

BOUNDARIES = ["force", "velocity", "fixed"]
LAWS = [ph.LogarithmicLaw(20.0), ph.LinearLaw(20.0), ph.StVenantKirchhoffLaw(20.0)]


def form(dimension=2, order=1, start="force", end="force", viscosity=0.0, elements=4, law=LAWS[0], **options):
    string = ph.String(1.0, 0.8, elements, law, order=order, viscosity=viscosity)
    gravity = np.array([1.0, -9.0, 2.0]) * (np.arange(3) < dimension)
    return string.port_hamiltonian(dimension=dimension, gravity=gravity, start=start, end=end, **options)


def random_state(model, seed=0):
    """Near the start, with strains that do not belong to the positions."""
    return model.initial_state + 0.1 * np.random.default_rng(seed).normal(size=model.state_size)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_it_has_its_structure_undeformed_too_in_any_unit_of_length(law, dimension):
    """Where forces vanish, the gradient is compared with forces nearby."""
    for length in (1e-3, 1.0, 1e3):
        rest = ph.String(length, 0.8, 4, law).port_hamiltonian(dimension=dimension)
        assert ph.check_structure(rest, rest.initial_state).gradient < 1e-9


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("order", [1, 2])
def test_with_its_own_strain_it_obeys_newtons_law(order, law):
    """M dv/dt = weight - dV/dq - C v + end forces, dC/dt = d/dt |dr/ds|^2: no strain state in it."""
    model = form(2, order, viscosity=0.1, law=law)
    x = random_state(model)
    q, v = (x[model.state_slice(name)] for name in ("position", "velocity"))
    strain = model.state_slice("strain")
    x[strain] -= model.strain_gap(x)
    u = np.array([1.0, 2.0, -3.0, 0.5])
    forces = model.forces(x, u)
    body = model.body
    weight = np.outer(body.nodal_mass.sum(axis=1), (1.0, -9.0)).ravel()
    weight[:2] += u[:2]
    weight[-2:] += u[2:]
    expected = weight - elastic_force(body, q) - viscous_matrix(body, q) @ v
    assert forces[model.state_slice("velocity")] == pytest.approx(expected, abs=1e-12)
    assert forces[model.state_slice("position")] == pytest.approx(v)
    later = x.copy()
    later[: len(q)] += 1e-6 * v
    growth = -(model.strain_gap(later) - model.strain_gap(x)) / 1e-6
    rate = forces[strain] / model.descriptor_matrix(x).diagonal()[strain]
    assert rate == pytest.approx(growth, abs=1e-4)
    assert model.descriptor_matrix(x)[len(q) : 2 * len(q)][:, len(q) : 2 * len(q)].toarray() == pytest.approx(
        mass_matrix(body).toarray()
    )


def test_outputs_are_the_velocities_of_the_ends():
    model = form(2, velocity=lambda s: (1 + s, 2 - s))
    assert model.output(model.initial_state) == pytest.approx([1, 2, 2, 1])
    assert [(p.name, p.input_unit, p.output_unit) for p in model.ports] == [
        ("start", "N", "m/s"),
        ("end", "N", "m/s"),
    ]
    mixed = form(2, start="velocity", end="fixed")
    assert [(p.name, p.input_unit, p.output_unit) for p in mixed.ports] == [("start", "m/s", "N")]


def test_a_prescribed_end_moves_as_told_and_answers_with_its_force():
    """Index 2; the power of the port is the growth of the energy."""
    model = form(2, start="fixed", end="velocity", elements=6, shape=((0, 0), (1.1, 0)))
    rate = 0.3

    inputs = {"end": lambda t: [rate * np.sin(5 * t), 0.0]}
    trajectory = ph.integrate(model, model.initial_state, inputs, 0.2, 0.005, "gauss2")
    end = np.array([model.positions(x)[-1] for x in trajectory.states])
    assert end[:, 0] == pytest.approx(1.1 + rate * (1 - np.cos(5 * trajectory.time)) / 5, abs=1e-7)
    assert end[:, 1] == pytest.approx(np.zeros(41), abs=1e-7)
    work = np.trapezoid(trajectory.power("end")[1:], trajectory.time[1:])
    assert trajectory.energy[-1] - trajectory.energy[1] == pytest.approx(work, rel=2e-3)


@pytest.mark.filterwarnings("ignore::phlexible.SlackStringWarning")
def test_both_schemes_converge_to_the_motion_of_the_conserving_step():
    string = ph.String(1.0, 0.8, 5, LAWS[0])
    shape, speed = ((0, 0), (1.3, 0)), lambda s: (0.0, s)
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    placed = model.add(string, shape=shape, velocity=speed)
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), placed.start))
    form = string.port_hamiltonian(dimension=2, gravity=(0, -9.81, 0), shape=shape, velocity=speed, start="fixed")
    gaps, errors = [], []
    for steps in (20, 40):
        end = model.simulate(0.1, 0.1 / steps, progress=False).position(placed.end)[-1, :2]
        for method, found in (("discrete_gradient", errors), ("midpoint", gaps)):
            run = ph.integrate(form, form.initial_state, None, 0.1, 0.1 / steps, method)
            found.append(np.abs(form.positions(run.states[-1])[-1] - end).max())
    assert max(errors) < 1e-12
    assert gaps[1] < gaps[0] / 3.5 and gaps[0] < 1e-3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dimension": 1, "gravity": (0, -9.81, 0)}, "gravity must be along x in dimension 1"),
        ({"dimension": 2, "shape": ((0, 0, 0), (1, 0, 1))}, "shape must stay in the plane"),
    ],
)
def test_what_leaves_the_line_or_the_plane_is_refused(options, words):
    with pytest.raises(ph.ParameterError, match=words):
        ph.String(1.0, 0.8, 5, LAWS[0]).port_hamiltonian(**options)
