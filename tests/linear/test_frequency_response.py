"""Responses against closed forms and between forms; state spaces; poles are refused."""

import dataclasses
import sys

import numpy as np
import pytest
from scipy import io

import phlexible as ph


def oscillator():
    """A mass at the end of a nearly massless rod: k = EA / l."""
    model = ph.Model(dimension=2)
    rod = ph.Beam(1.0, ph.Section(1e-4, 1e-8), ph.Material(1e6, 1e-6, viscosity=0.01), elements=1)
    beam = model.add(rod, "rod")
    mass = model.add(ph.PointMass(1.0), "mass", position=(1, 0, 0))
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
    model.connect(ph.Revolute(beam.end, mass.origin))
    return model, mass


def four_bar(form="displacement"):
    model = ph.gallery.four_bar(0.5)
    port = model["coupler"].at(0.1)
    return model.linearize(
        inputs=[ph.Force(port, (0, 1, 0)), ph.Torque(model["crank"].end, (0, 0, 1))],
        outputs=[ph.Velocity(port, (0, 1, 0)), ph.Acceleration(model["follower"].at(0.1), (1, 0, 0))],
        form=form,
    )


def test_response_of_an_oscillator_in_closed_form():
    """m = 1, k = 100, c = viscosity * k = 1: displacement, velocity and acceleration to a unit force."""
    model, mass = oscillator()
    sensors = [kind(mass.origin, (1, 0, 0)) for kind in (ph.Displacement, ph.Velocity, ph.Acceleration)]
    linear = model.linearize([ph.Force(mass.origin, (1, 0, 0))], sensors)
    omega = np.array([0.0, 3.0, 10.0, 25.0])
    s = 1j * omega
    exact = np.stack([s**k / (s**2 + s + 100) for k in range(3)], axis=1)
    found = linear.frequency_response(omega)
    assert found.values[:, :, 0] == pytest.approx(exact, rel=1e-8, abs=1e-12)
    assert found.outputs == tuple(
        f"{name} of mass.origin x" for name in ("displacement", "velocity", "acceleration")
    )
    assert found.phase[2, 0, 0] == pytest.approx(-np.pi / 2, abs=1e-6)


def test_all_forms_answer_alike():
    omega, linear, stress = np.linspace(50, 700, 8), four_bar(), four_bar("stress")
    expected = linear.frequency_response(omega).values
    scale = np.abs(expected).max(axis=0)
    first_order = dataclasses.replace(linear, mechanics=None)
    stresses = dataclasses.replace(stress, mechanics=None)
    for model in (linear.eliminate_constraints(), first_order, stress, stresses):
        assert (np.abs(model.frequency_response(omega).values - expected) < 1e-8 * scale).all()


def test_collocated_outputs_are_the_transposed_inputs():
    model = ph.gallery.four_bar(0.5)
    linear = model.linearize(inputs=[model["coupler"].at(0.1)])
    names = ("force on {} x", "force on {} y", "torque on {} z")
    assert linear.inputs == tuple(name.format("coupler.at(0.1)") for name in names)
    assert linear.output_matrix.toarray() == pytest.approx((linear.port_map.T @ linear.effort_matrix).toarray())
    values = linear.frequency_response([100.0]).values[0]
    assert values == pytest.approx(values.T)  # reciprocity
    assert np.abs(values.real).max() == 0  # lossless: no power on average


@pytest.mark.parametrize("form", ["displacement", "stress"])
def test_an_undamped_pole_is_refused(form):
    linear = four_bar(form)
    for omega in linear.modes(4).frequencies:
        with pytest.raises(ph.PoleError, match="undamped pole"):
            linear.frequency_response([1.0, omega])
        with pytest.raises(ph.PoleError, match="undamped pole"):
            dataclasses.replace(linear, mechanics=None).frequency_response([omega])
        linear.frequency_response([omega * (1 + 1e-6)])


def test_a_free_body_has_no_static_answer():
    model = ph.gallery.satellite()
    linear = model.linearize([ph.Torque(model["hub"].origin, (0, 0, 1))])
    with pytest.raises(ph.PoleError, match="0 rad/s is an undamped pole"):
        linear.frequency_response([0.0])


def test_state_space_has_names_and_the_same_response():
    linear, omega = four_bar(), np.array([60.0, 250.0])
    space = linear.to_state_space()
    assert space.input_labels == ["force on coupler_at(0_1) y", "torque on crank_end z"]
    assert space.output_labels[1] == "acceleration of follower_at(0_1) x"
    assert space.nstates == linear.eliminate_constraints().order
    found = np.array([space(1j * w) for w in omega])
    expected = linear.frequency_response(omega).values
    assert np.abs(found - expected).max() < 1e-6 * np.abs(expected).max()
    assert np.abs(space.D[1]).max() > 0 and not space.D[0].any()


def test_state_space_needs_python_control(monkeypatch):
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(ph.MissingExtraError, match=r"pip install phlexible\[control\]"):
        four_bar().to_state_space()


def test_mat_file(tmp_path):
    linear = four_bar()
    linear.save_mat(tmp_path / "model.mat")
    stored = io.loadmat(tmp_path / "model.mat")
    order = linear.eliminate_constraints().order
    assert stored["A"].shape == (order, order) and stored["D"].shape == (2, 2)
    assert stored["inputs"].ravel()[1].item() == "torque on crank.end z"
    with pytest.raises(ph.ParameterError, match="must end in .mat"):
        linear.save_mat(tmp_path / "model.txt")


def test_structure_in_steady_rotation_and_at_rest_under_load():
    for model, at in (
        (ph.gallery.rotating_cantilever(elements=4), "steady_rotation"),
        (ph.gallery.flexible_pendulum(elements=4), "static"),
    ):
        linear = model.linearize(at=at)
        assert max(linear.structure_errors().values()) <= 1e-10
        assert max(linear.eliminate_constraints().structure_errors().values()) <= 1e-10


def test_signals_are_checked():
    model, other = ph.gallery.four_bar(), ph.gallery.four_bar()
    with pytest.raises(ph.ModelError, match="body of another model"):
        model.linearize(inputs=[other["crank"].end])
    with pytest.raises(ph.ModelError, match="inputs are Force, Torque"):
        model.linearize(inputs=["crank"])
    with pytest.raises(ph.ModelError, match="no orientation"):
        ph.AngularVelocity(model["mass at the crank"].origin, (0, 0, 1))
    with pytest.raises(ph.ParameterError, match="needs inputs and outputs"):
        model.linearize().frequency_response([1.0])
    with pytest.raises(ph.ModelError, match="displacements and angles are no outputs"):
        model.linearize([model["crank"].end], [ph.Displacement(model["crank"].end)], form="stress")


def test_pictures(tmp_path):
    linear = four_bar()
    linear.frequency_response(np.linspace(10, 600, 50)).plot(tmp_path / "bode.png")
    modes = linear.modes(4)
    modes.plot(path=tmp_path / "all.png")
    modes.plot(1, tmp_path / "one.png")
    modes.animate(0, tmp_path / "mode.gif", frames=4)
    for name in ("bode.png", "all.png", "one.png", "mode.gif"):
        assert (tmp_path / name).stat().st_size > 1000
    with pytest.raises(ph.ParameterError, match="mode must be 0 to 3, got 4"):
        modes.plot(4)
