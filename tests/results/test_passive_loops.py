"""Passive loops of linear models with controllers in port-Hamiltonian form, and their certificates."""

import numpy as np
from scipy import sparse

import phlexible as ph
from phlexible.port_hamiltonian.model import Port, StateBlock

AXIS = (0, 0, 1)


def satellite():
    """A hub with undamped panels and a wheel on a spring and damper."""
    model = ph.gallery.satellite(elements=2, hub_inertia=60.0, density=120.0, panel_length=6.0, damping_ratio=0.0)
    hub, wheel = model["hub"], model.add(ph.RigidBody(5.0, 2.0), "wheel")
    pin = model.connect(ph.Revolute(hub.origin, wheel.origin))
    model.apply(pin.spring(50.0, damping=0.3))
    tip = model["right panel"].end
    outputs = [ph.AngularVelocity(hub.origin, AXIS), ph.Acceleration(tip, (0, 1, 0)), ph.JointPosition(pin)]
    return model.linearize([ph.Torque(hub.origin, AXIS)], outputs)


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
