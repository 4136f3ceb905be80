"""Uncertain linear models: corners, interiors, blocks, files; passive loops and their certificates."""

from itertools import product

import numpy as np
import pytest
from scipy import io, sparse

import phlexible as ph
from phlexible.port_hamiltonian.model import Port, StateBlock

AXIS = (0, 0, 1)
FREQUENCIES = 1j * np.array([0.4, 3.0, 11.0])


def satellite(stiffness=50.0, hub_inertia=60.0, density=120.0, damping=0.3, length=6.0):
    """A hub with undamped panels and a wheel on a spring and damper."""
    model = ph.gallery.satellite(
        elements=2, hub_inertia=hub_inertia, density=density, panel_length=length, damping_ratio=0.0
    )
    hub, wheel = model["hub"], model.add(ph.RigidBody(5.0, 2.0), "wheel")
    pin = model.connect(ph.Revolute(hub.origin, wheel.origin))
    model.apply(pin.spring(stiffness, damping=damping))
    tip = model["right panel"].end
    outputs = [ph.AngularVelocity(hub.origin, AXIS), ph.Acceleration(tip, (0, 1, 0)), ph.JointPosition(pin)]
    return model.linearize([ph.Torque(hub.origin, AXIS)], outputs)


RANGES = {"stiffness": (30.0, 80.0), "hub_inertia": (40.0, 90.0), "density": (100.0, 150.0), "damping": (0.1, 0.5)}


def same(found, expected):
    gap = np.abs(found(FREQUENCIES) - expected(FREQUENCIES)).max(axis=-1)
    return (gap / np.abs(expected(FREQUENCIES)).max(axis=-1)).max()


def test_corners_and_all_between_are_linearized_models(tmp_path):
    """Responses, against models that are linearized anew; of four parameters that come in linearly, everywhere."""
    uncertain = ph.lft(satellite, RANGES)
    assert uncertain.corner_error <= 1e-9 and uncertain.middle_error <= 1e-9
    for corner in list(product(*RANGES.values()))[::5]:
        values = dict(zip(RANGES, corner, strict=True))
        assert same(uncertain.to_state_space(**values), satellite(**values).to_state_space()) <= 1e-9
    inside = {"stiffness": 41.0, "density": 133.0}
    middle = {name: sum(each) / 2 for name, each in RANGES.items()}
    assert same(uncertain.to_state_space(**inside), satellite(**{**middle, **inside}).to_state_space()) <= 1e-9
    assert uncertain.sizes[0] == uncertain.sizes[3] == 1  # a spring and a damper of one coordinate
    assert uncertain.sizes[1] == 1  # an inertia about one axis
    path = tmp_path / "satellite.mat"
    uncertain.save_mat(path)
    read = io.loadmat(path)
    total = sum(uncertain.sizes)
    assert read["D"].shape == (total + 3, total + 1) and np.array_equal(read["A"], uncertain.A)
    assert [str(each[0]) for each in read["parameters"].ravel()] == list(RANGES)
    whole = uncertain.to_state_space()
    assert whole.input_labels[0] == "w stiffness 0" and whole.ninputs == total + 1


def test_products_of_parameters_are_exact_at_corners_and_the_middle_is_told():
    def panels(youngs_modulus, panel_thickness):
        model = ph.gallery.satellite(
            elements=2, youngs_modulus=youngs_modulus, panel_thickness=panel_thickness, damping_ratio=0.0
        )
        return model.linearize([ph.Torque(model["hub"].origin, AXIS)])

    uncertain = ph.lft(panels, {"youngs_modulus": (1.5e9, 2.5e9), "panel_thickness": (0.02, 0.03)})
    assert uncertain.corner_error <= 1e-9 and uncertain.middle_error > 1e-4
    values = {"youngs_modulus": 2.5e9, "panel_thickness": 0.02}
    assert same(uncertain.to_state_space(**values), panels(**values).to_state_space()) <= 1e-9


def test_what_has_no_such_form_is_refused():
    for ranges, error, words in (
        ({"length": (5.0, 6.0)}, ph.ModelError, "with a parameter"),
        ({"density": (2.0, 1.0)}, ph.ParameterError, "lowest, highest"),
        ({}, ph.ParameterError, "1 to 6"),
    ):
        with pytest.raises(error, match=words):
            ph.lft(satellite, ranges)
    with pytest.raises(ph.ParameterError, match="no parameter is named 'mass'"):
        ph.lft(satellite, {"density": (100.0, 150.0)}).at(mass=1.0)
    with pytest.raises(ph.ModelError, match="linearized must return"):
        ph.lft(lambda mass: None, {"mass": (1.0, 2.0)})


def test_passive_loops_stay_passive_through_reduction_and_interconnection():
    """A damper and a spring as a controller in port-Hamiltonian form, torque = -(k angle + d rate)."""
    stiffness, damping = 30.0, 40.0
    port = Port("measured rate", "rad/s", "N m", 1)
    law = ph.LinearPHDAE(  # angle' = rate, torque = k angle + d rate: d is a feed-through, given by a fast state
        sparse.csr_array(np.diag([1.0, 1e-3])),
        sparse.csr_array(np.zeros((2, 2))),
        sparse.csr_array(np.diag([0.0, 1.0 / damping])),
        sparse.csr_array([[1.0], [1.0]]),
        (StateBlock("angle", "rad", 1), StateBlock("fast", "rad/s", 1)),
        (port,),
        sparse.csr_array(np.diag([stiffness, 1.0])),
    )
    full = satellite()
    small = full.reduce(8, method="krylov")
    for model in (full, small):
        assert model.passivity().is_passive
        loop = model.interconnect(law)
        assert loop.passivity().is_passive
        assert loop.order == model.order + 2 and loop.port_size == 0
    poles = np.linalg.eigvals(small.interconnect(law).to_state_space().A)
    assert poles.real.max() <= 1e-9 and small.full is not None
