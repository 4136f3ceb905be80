"""Reductions of a linear model as bases of beams in nonlinear runs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import phlexible as ph
from mechanisms import grounded

REFERENCE = Path(__file__).parents[2] / "gallery" / "reference" / "crank_slider_von_karman.csv"
COUPLER = ph.Beam(
    0.3, ph.CircularSection(6e-3), ph.Material(0.2e12, 7870.0), frame="simply_supported", rotary_inertia=False
)


def supported():
    """The coupler between a pin and a slider, pushed off its middle."""
    model, beam, _ = grounded(COUPLER, ph.Revolute, dimension=2, name="coupler")
    model.connect(ph.Slider(model.ground.at((0.3, 0, 0)), beam.end, axis=(1, 0, 0)))
    return model.linearize([ph.Force(beam.at(0.11), (0, 1, 0))]), beam


def bend_of(beam):
    """u_y / L of the coupler's middle over the first 0.05 s of the crank-slider, and the reference."""
    model = ph.Model(dimension=2)
    coupler = model.add(beam, "coupler", position=(0.15, 0, 0))
    slider = model.add(ph.PointMass(0.033), "slider", position=(0.45, 0, 0))
    pin = model.ground.moving(
        lambda t: (0.15 * np.cos(150 * t), 0.15 * np.sin(150 * t), 0),
        velocity=lambda t: (-22.5 * np.sin(150 * t), 22.5 * np.cos(150 * t), 0),
    )
    model.connect(ph.Revolute(pin, coupler.start))
    model.connect(ph.Revolute(coupler.end, slider.origin))
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), slider.origin, axis=(1, 0, 0)))
    motion = model.simulate(duration=0.05, step=2e-5)
    time, bend = np.loadtxt(REFERENCE, delimiter=",", skiprows=1, usecols=(0, 1)).T
    early = time <= 0.05
    own = CubicSpline(motion.time, motion.elastic_displacement(coupler.at(0.15))[:, 1] / 0.3)
    return own(time[early]), bend[early], motion


@pytest.fixture(scope="module")
def counted():
    return bend_of(replace(COUPLER, modes=3))


def test_three_modes_of_a_reduction_are_modes_equal_three(counted):
    linear, beam = supported()
    basis = linear.reduce(6, "modal").elastic_basis(beam)
    assert basis.shape == (24, 3)
    with pytest.raises(ph.ParameterError, match="would lock"):
        replace(COUPLER, modes=basis).discretize(2)
    own, bend, motion = bend_of(replace(COUPLER, modes=COUPLER.with_axial(basis, dimension=2)))
    assert own == pytest.approx(counted[0], abs=1e-8)  # chaos of round-off aside the same numbers
    assert np.abs(own - bend).max() < 1.5e-3 * np.abs(bend).max()
    energy = motion.energy
    assert np.abs(energy.balance_error).max() < 1e-10 * np.abs(energy.total).max()


def test_condensed_axial_shapes_are_as_good():
    linear, beam = supported()
    basis = COUPLER.with_axial(linear.reduce(6, "modal").elastic_basis(beam), dimension=2, axial="condensed")
    assert basis.shape[1] < 3 + 8
    own, bend, _ = bend_of(replace(COUPLER, modes=basis))
    assert np.abs(own - bend).max() < 1.5e-3 * np.abs(bend).max()


@pytest.mark.parametrize("method", ["craig_bampton", "krylov"])
def test_other_reductions_hand_over_independent_columns(method):
    model = ph.gallery.satellite(elements=6)
    hub, panel = model["hub"], model["right panel"]
    linear = model.linearize([ph.Torque(hub.origin, (0, 0, 1))], [ph.Velocity(panel.end, (0, 1, 0))])
    basis = linear.reduce(12, method).elastic_basis(panel)
    assert basis.shape[0] == 18 and 2 <= basis.shape[1] <= 6
    assert np.linalg.matrix_rank(basis / np.linalg.norm(basis, axis=0)) == basis.shape[1]
    complete = panel.body.with_axial(basis, dimension=2)
    assert replace(panel.body, modes=complete).discretize(2).elastic_count == complete.shape[1]


def test_a_run_with_a_basis_is_read_back(tmp_path):
    model = ph.Model(dimension=2)
    basis = COUPLER.craig_bampton_basis(2, dimension=2)
    beam = model.add(replace(COUPLER, modes=basis), "beam", angular_velocity=(0, 0, 3))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), beam.start))
    motion = model.simulate(duration=2e-4, step=2e-5)
    motion.save(tmp_path / "run.h5")
    read = ph.Motion.load(tmp_path / "run.h5")
    assert read["beam"].body == beam.body
    assert (read.position(read["beam"].end) == motion.position(beam.end)).all()


def test_what_has_no_basis_says_so():
    linear, beam = supported()
    reduced = linear.reduce(6, "modal")
    with pytest.raises(ph.ModelError, match="body must be one of the model that was linearized"):
        reduced.elastic_basis(supported()[1])
    free = linear.eliminate_constraints().reduce(6, "modal")
    with pytest.raises(ph.ModelError, match="coordinates of the bodies are lost"):
        free.elastic_basis(beam)
    damped = ph.gallery.satellite(elements=4)
    hub = damped["hub"]
    with pytest.raises(ph.ModelError, match="has no elastic coordinates"):
        damped.linearize([hub.origin]).reduce(12, "modal").elastic_basis(hub)
    with pytest.raises(ph.ModelError, match='method="modal", "craig_bampton" or "krylov"'):
        damped.linearize([hub.origin]).reduce(11, "balanced").elastic_basis(damped["left panel"])
