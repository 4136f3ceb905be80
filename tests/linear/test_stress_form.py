"""[B] (45)-(47) of whole mechanisms: stresses with units, reduction that keeps rigid parts, standard form."""

from dataclasses import replace

import numpy as np
import pytest

import phlexible as ph
from mechanisms import grounded

SPACES = ("discontinuous", "hermite")


def four_bar(stress, elements=4, angle=0.3):
    model = ph.gallery.four_bar(angle, elements=elements)
    return model.linearize(inputs=[model["coupler"].at(0.1)], form="stress", stress=stress)


def cantilever(stress, dimension=2):
    model = ph.Model(dimension=dimension)
    section = ph.RectangularSection(0.02, 0.03)
    beam = model.add(ph.Beam(1.0, section, ph.Material(2e11, 7800.0), 4, rotary_inertia=False), "beam")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
    return model.linearize([ph.Force(beam.end, (0, 1, 0))], form="stress", stress=stress)


def static_stresses(linear):
    """Of a unit force at the end, by name; outside the span of what strains them they stay zero."""
    free = linear.eliminate_constraints()
    E, J = free.descriptor.toarray(), free.structure.toarray()
    n = free.mechanics.size
    compliance, rates = E[n:, n:], J[n:, :n]
    displacement = np.linalg.solve(rates.T @ np.linalg.solve(compliance, rates), free.port_map.toarray()[:n, 0])
    stresses = np.linalg.solve(compliance, rates @ displacement)
    return {state.name: (value, state.unit) for state, value in zip(free.states[n:], stresses, strict=True)}


def test_stresses_of_a_cantilever_are_its_section_forces():
    """M_z = F (L - x), and its slope -F; the normal force vanishes."""
    found = static_stresses(cantilever("hermite"))
    for k, x in enumerate((0.0, 0.25, 0.5, 0.75)):
        assert found[f"beam M_z at node {k}"] == (pytest.approx(1.0 - x, abs=1e-8), "N m")
        assert found[f"beam slope of M_z at node {k}"] == (pytest.approx(-1.0, abs=1e-7), "N")
        assert found[f"beam N at node {k}"] == (pytest.approx(0.0, abs=1e-8), "N")
    found = static_stresses(cantilever("discontinuous"))
    gauss = 0.125 * (1 - 1 / np.sqrt(3))
    assert found["beam M_z at Gauss point 0"] == (pytest.approx(1.0 - gauss), "N m")
    assert found["beam N at element 3"] == (pytest.approx(0.0, abs=1e-9), "N")


def test_the_moment_about_y_has_the_sign_of_section_forces():
    """A force along z at the end: M_y = -EI w'' is F (x - L) there."""
    body = ph.Beam(1.0, ph.RectangularSection(0.02, 0.03), ph.Material(2e11, 7800.0, 0.3), 2)
    model, beam, _ = grounded(body, name="beam")
    found = static_stresses(model.linearize([ph.Force(beam.end, (0, 0, 1))], form="stress", stress="hermite"))
    assert found["beam M_y at node 0"] == (pytest.approx(-1.0, abs=1e-8), "N m")
    assert found["beam M_x at node 1"] == (pytest.approx(0.0, abs=1e-8), "N m")


@pytest.mark.parametrize("stress", SPACES)
def test_the_structure_is_that_of_45(stress):
    linear = four_bar(stress)
    assert max(linear.structure_errors().values()) < 1e-12
    E, J, n = linear.descriptor.toarray(), linear.structure.toarray(), linear.mechanics.size
    assert (linear.effort_matrix.toarray() == np.eye(linear.order)).all()
    rigid = [k for k, state in enumerate(linear.states[:n]) if "eta" not in state.name]
    stresses = range(n, linear.order - linear.mechanics.constraint_matrix.shape[0])
    assert not J[np.ix_(rigid, stresses)].any()  # (45): rigid velocities meet multipliers only
    assert not J[:n, :n].any()
    rates = J[np.ix_(stresses, range(n))]
    stiffness = rates.T @ np.linalg.solve(E[np.ix_(stresses, stresses)], rates)
    K = linear.mechanics.stiffness.toarray()
    assert np.abs(stiffness - K).max() < 1e-10 * np.abs(K).max()
    first_order = replace(linear, mechanics=None).modes(4)
    assert first_order.frequencies == pytest.approx(linear.modes(4).frequencies, rel=1e-9)
    assert first_order.self_stresses == linear.modes(4).self_stresses == (9 if stress == "hermite" else 0)


def test_springs_are_stresses_too():
    """A mass on a spring: sqrt(k / m); the force of the spring is a state."""
    model = ph.Model(dimension=2)
    body = model.add(ph.PointMass(2.0), "mass", position=(1, 0, 0))
    rail = model.connect(ph.Slider(model.ground.at((0, 0, 0)), body.origin, axis=(1, 0, 0)))
    model.apply(rail.spring(stiffness=50.0))
    linear = model.linearize(form="stress")
    assert [state.unit for state in linear.states] == ["m/s", "m/s", "N", "N"]
    for found in (linear, replace(linear, mechanics=None)):
        assert found.modes(2).frequencies == pytest.approx([5.0])


@pytest.mark.parametrize("stress", SPACES)
def test_47_has_momenta_as_states(stress):
    linear = four_bar(stress)
    hat, free = linear.standard_form(), linear.eliminate_constraints()
    assert (hat.descriptor.toarray() == np.eye(hat.order)).all()
    assert np.abs((hat.effort_matrix @ free.descriptor).toarray() - np.eye(hat.order)).max() < 1e-6
    assert np.abs(hat.structure - free.structure).max() == 0.0
    assert {state.unit for state in hat.states} >= {"rad", "m"}
    omega = [50.0, 350.0]
    expected = linear.frequency_response(omega).values
    assert np.abs(hat.frequency_response(omega).values - expected).max() < 1e-7 * np.abs(expected).max()


@pytest.mark.parametrize("method", ["krylov", "modal", "craig_bampton", "irka"])
def test_46_keeps_rigid_velocities_and_multipliers(method):
    if method == "irka":
        pytest.importorskip("pymor")
    linear = four_bar("discontinuous", 6)
    n, rows = linear.mechanics.size, linear.mechanics.constraint_matrix.shape[0]
    rigid = [k for k, state in enumerate(linear.states[:n]) if "eta" not in state.name]
    reduced = linear.reduce(16, method, keep_rigid=True)
    kept, flexible = slice(0, len(rigid)), slice(len(rigid), len(rigid) + 16)
    assert reduced.order == len(rigid) + 16 + rows
    assert reduced.state_names[: len(rigid)] == tuple(linear.state_names[k] for k in rigid)
    assert reduced.state_names[-rows:] == linear.state_names[-rows:]
    for name in ("descriptor", "structure"):
        full, small = getattr(linear, name).toarray(), getattr(reduced, name).toarray()
        assert (small[kept, kept] == full[np.ix_(rigid, rigid)]).all()
        assert (small[kept, -rows:] == full[np.ix_(rigid, range(linear.order - rows, linear.order))]).all()
    assert reduced.descriptor.toarray()[flexible, flexible] == pytest.approx(np.eye(16), abs=1e-9)
    assert reduced.passivity().is_passive
    frequencies = linear.modes(2).frequencies
    assert reduced.modes(2).frequencies == pytest.approx(frequencies, rel=2e-2)
    assert reduced.error(np.linspace(10.0, 0.9 * frequencies[0], 20)).peak.max() < 0.05


def test_what_is_refused():
    with pytest.raises(ph.ParameterError, match='stress= belongs to form="stress"'):
        ph.gallery.four_bar().linearize(stress="hermite")
    with pytest.raises(ph.ParameterError, match="stress must be one of 'discontinuous', 'hermite', got 'cubic'"):
        ph.gallery.four_bar().linearize(form="stress", stress="cubic")
    with pytest.raises(ph.EquilibriumError, match='form="stress" holds about an unloaded, undeformed pose'):
        ph.gallery.flexible_pendulum(elements=2).linearize(at="static", form="stress")
    model = ph.gallery.four_bar()
    with pytest.raises(ph.ModelError, match='velocities and stresses as states.*form="stress"'):
        model.linearize([model["coupler"].end]).reduce(4, keep_rigid=True)
    rail, _, joint = grounded(ph.PointMass(2.0), ph.Slider, axis=(1, 0, 0), dimension=2, name="mass")
    rail.apply(joint.spring(potential=ph.Potential(lambda x: -(x**2), lambda x: -2 * x)))
    with pytest.raises(ph.EquilibriumError, match='pushes away from rest; take form="displacement"'):
        rail.linearize(form="stress")
