"""Reduced models against the full one, and their structure."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import phlexible as ph
from phlexible.linear.modes import lowest_modes
from refusals import refused


def satellite(**parameters):
    model = ph.gallery.satellite(**parameters)
    hub, tip = model["hub"], model["right panel"].end
    return model.linearize(
        inputs=[ph.Torque(hub.origin, (0, 0, 1))],
        outputs=[ph.AngularVelocity(hub.origin, (0, 0, 1)), ph.Acceleration(tip, (0, 1, 0))],
    )


def band(linear):
    """From near 0 to the fifth elastic mode, resonances included."""
    poles = linear.modes(8).elastic_frequencies
    return np.sort(np.concatenate([np.linspace(0.01, poles[4], 100), poles[:5] * (1 + 1e-5)]))


@pytest.mark.parametrize(
    ("method", "order"), [("modal", 8), ("krylov", 10), ("balanced", 7), ("craig_bampton", 24), ("irka", 8)]
)
def test_satellite_with_few_motions(method, order):
    """Within 1 % of the peak of each output up to the fifth mode; the angle of the hub is no state of balanced."""
    if method == "irka":
        pytest.importorskip("pymor")
    linear = satellite(elements=8)
    reduced = linear.reduce(order, method)
    assert reduced.order == order and isinstance(reduced, ph.LinearPHDAE)
    assert reduced.error(band(linear)).peak.max() < 0.01
    assert reduced.passivity().is_passive
    assert reduced.inputs == linear.inputs and reduced.outputs == linear.outputs


def test_moments_at_zero_frequency_give_the_static_compliance():
    model = ph.gallery.four_bar(0.3)
    port = model["coupler"].at(0.1)
    linear = model.linearize([ph.Force(port, (0, 1, 0))], [ph.Displacement(port, (0, 1, 0))])
    with pytest.warns(ph.ReductionWarning, match="has order 2, not 4: .* at the given frequencies"):
        reduced = linear.reduce(4, "krylov", frequencies=[0.0])
    assert reduced.error([0.0]).pointwise.max() < 1e-9


@pytest.mark.parametrize("elements", [3, 5])
def test_a_balanced_reduction_has_the_states_that_are_reached_and_seen_and_no_others(elements):
    """A force on the hub along both panels: its velocity, and a stretch of each element and its rate."""
    model = ph.gallery.satellite(elements=elements)
    linear = model.linearize([ph.Force(model["hub"].origin, (1, 0, 0))])
    frequencies = np.linspace(0.01, 2.0, 100) * linear.modes(4 * elements).elastic_frequencies[-1]
    minimal = linear.reduce(2 * elements + 1, "balanced")
    with pytest.warns(ph.ReductionWarning, match=f"has order {minimal.order}, not {minimal.order + 3}: "):
        smaller = linear.reduce(minimal.order + 3, "balanced")
    assert minimal.order == smaller.order == 2 * elements + 1
    assert smaller.error(frequencies).peak.max() < 1e-9
    assert smaller.passivity().is_passive
    assert linear.reduce(minimal.order - 2, "balanced").error(frequencies).peak.max() > 1e-8


@pytest.mark.parametrize("method", ["modal", "balanced"])
def test_inputs_that_reach_nothing_that_outputs_see_are_refused(method):
    """A force along a straight beam does not bend it."""
    model = ph.Model(dimension=2)
    section, rubber = ph.RectangularSection(0.01, 0.02), ph.Material(1e7, 1000.0)
    beam = model.add(ph.Beam(1.0, section, rubber, elements=3, damping_ratio=0.01))
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
    linear = model.linearize([ph.Force(beam.end, (1, 0, 0))], [ph.Velocity(beam.end, (0, 1, 0))])
    refused(ph.ModelError, "no state is both controllable", lambda: linear.reduce(4, method))


def test_modes_that_an_input_does_not_reach_are_left_out():
    """A torque on the hub moves the panels against each other only."""
    linear = satellite(elements=6, damping_ratio=0.0)
    full = linear.modes(12).elastic_frequencies
    kept = linear.reduce(8, "modal").modes(4)
    assert kept.rigid_modes == 1
    assert kept.elastic_frequencies == pytest.approx(full[[1, 3, 5]], rel=1e-6)


def test_a_lossless_model_stays_lossless():
    model = ph.gallery.four_bar(0.3)
    linear = model.linearize([model["coupler"].at(0.1)])
    reduced = linear.reduce(12, "modal")
    assert not reduced.dissipation.nnz
    assert reduced.modes(6).frequencies == pytest.approx(linear.modes(6).frequencies, rel=1e-6)
    assert not reduced.modes(6).eigenvalues.real.any()


def test_what_is_refused():
    linear = satellite(elements=2)
    with pytest.raises(ph.ParameterError, match="method must be one of 'modal', 'craig_bampton', 'krylov'"):
        linear.reduce(8, "hankel")
    refused(ph.ParameterError, "order must be even", lambda: linear.reduce(7, "modal"))
    refused(ph.ParameterError, "order must be below", lambda: linear.reduce(400, "modal"))
    with pytest.raises(ph.ParameterError, match='frequencies= belongs to method="krylov"'):
        linear.reduce(8, "modal", frequencies=[1.0])
    with pytest.raises(ph.ModelError, match="needs damping in every mode"):
        satellite(elements=2, damping_ratio=0.0).reduce(8, "balanced")
    refused(ph.ModelError, "a reduction needs inputs", lambda: ph.gallery.four_bar().linearize().reduce(8, "modal"))


def test_craig_bampton_keeps_the_zeros_of_a_collocated_response():
    """They are the modes with the port held, which are in the basis."""
    model = ph.gallery.satellite(elements=6, damping_ratio=0.0)
    linear = model.linearize([ph.Torque(model["hub"].origin, (0, 0, 1))])
    mechanics = linear.mechanics
    held = sparse.vstack([mechanics.constraint_matrix, sparse.csr_array(mechanics.forces.T)], "csr")
    zeros = lowest_modes(replace(mechanics, constraint_matrix=held), 6).elastic_frequencies
    reduced = linear.reduce(16, "craig_bampton")
    values = np.abs(reduced.frequency_response(zeros * (1 + 1e-9)).values[:, 0, 0])
    nearby = np.abs(reduced.frequency_response(zeros * 1.01).values[:, 0, 0])
    is_zero = np.abs(linear.frequency_response(zeros * (1 + 1e-9)).values[:, 0, 0]) < 1e-6 * nearby
    assert is_zero.sum() == 2  # the others move the panels to the same side
    assert (values[is_zero] < 1e-6 * nearby[is_zero]).all()


def test_a_balanced_reduction_keeps_the_sense_of_forces_across_the_velocity():
    """Two bobs with Coriolis forces, and one apart from them: 8 of 12 states are reached and seen."""
    model = ph.Model(dimension=2)
    bobs = [model.add(ph.PointMass(mass), None, (mass, 0, 0)).origin for mass in (1.0, 2.0, 3.0)]

    def law(t, x, v):
        first, second = 3.0 * np.cross((0, 0, 1), v[:3]), -0.8 * np.cross((0, 0, 1), v[3:6])
        pull = 4.0 * (x[3:6] - x[:3] - (1, 0, 0))
        held, apart = -9.0 * (x[3:6] - (2, 0, 0)), -5.0 * (x[6:] - (3, 0, 0))
        return np.concatenate([first + pull, second - pull + held, apart]) - 0.1 * v

    model.apply(ph.StateForce(law, of=bobs, on=bobs, name="law"))
    axes = np.eye(3)[:2]
    pushes, speeds = [ph.Force(bobs[0], axis) for axis in axes], [ph.Velocity(bobs[1], axis) for axis in axes]
    linear = model.linearize(pushes, speeds)
    reduced = linear.reduce(8, "balanced")
    omega = np.linspace(0.5, 6.0, 12)
    exact = linear.frequency_response(omega).values
    assert reduced.frequency_response(omega).values == pytest.approx(exact, abs=1e-8 * np.abs(exact).max())
