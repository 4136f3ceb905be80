"""The check of a port-Hamiltonian model: sound ones pass, a broken law has its own figure."""

import numpy as np
import pytest
from scipy import sparse

import phlexible as ph
from phlexible.port_hamiltonian.model import Port, StateGroup
from refusals import refused

ONE = sparse.eye_array(2, format="csr")
SWAP = sparse.csr_array(np.array([[0.0, 1.0], [-1.0, 0.0]]))
COLUMN = sparse.csr_array([[0.0], [1.0]])


def model(J=SWAP, R=0 * ONE, Q=ONE):
    states = (StateGroup("q", "", 1), StateGroup("v", "", 1))
    return ph.LinearPHDAE(ONE, J, R, COLUMN, states, (Port("force", "", "", 1),), Q)


def test_a_sound_model():
    assert max(model().structure_errors().values()) == 0
    assert model().storage(np.array([3.0, 4.0])) == 12.5


@pytest.mark.parametrize(
    ("broken", "law"), [(model(J=ONE), "skewness"), (model(R=-ONE), "dissipation"), (model(Q=-ONE), "storage")]
)
def test_a_broken_law_has_its_own_figure(broken, law):
    errors = broken.structure_errors()
    assert errors.pop(law) >= 0.5
    assert max(errors.values()) == 0


def test_entries_of_blocks_are_numbered():
    states, ports = (StateGroup("velocity", "m/s", 2),), (Port("f", "N", "m/s", 1),)
    linear = ph.LinearPHDAE(ONE, SWAP, 0 * ONE, COLUMN, states, ports)
    assert linear.state_names == ("velocity 0", "velocity 1")
    assert linear.inputs == ("f",)
    assert (linear.effort_matrix - ONE).nnz == 0


NAMES = (StateGroup("momentum", "N s", 1), StateGroup("angle", "rad", 1), StateGroup("heat", "J", 1))
X = np.array([1.0, 2.0, -1.0])


class Pendulum(ph.PortHamiltonianModel):
    """H = p^2/2 - cos(q) + c^2/2, and switches that break one law each."""

    def __init__(self, broken=""):
        self.broken = broken
        self.states, self.ports = NAMES, (Port("torque", "N m", "rad/s", 1),)

    def descriptor_matrix(self, x):
        return np.diag([2.0 if self.broken == "descriptor" else 1.0, 1.0, 1.0])

    def structure_matrix(self, x):
        return np.array([[0.0, -1.0, 0.0], [1.0 + 0.1 * (self.broken == "skew"), 0.0, 0.0], [0, 0, 0]])

    def dissipation_matrix(self, x):
        return np.array(
            [[0.1, 0, 0.2 * (self.broken == "symmetry")], [0, 0, 0], [0, 0, -0.3 if self.broken == "sign" else 0.3]]
        )

    def port_matrix(self, x):
        return np.array([[1.0], [0.0], [0.0]])

    def effort(self, x):
        return np.array([x[0], (1.1 if self.broken == "effort" else 1.0) * np.sin(x[1]), x[2]])

    def storage(self, x):
        return x[0] ** 2 / 2 - np.cos(x[1]) + x[2] ** 2 / 2


def test_a_sound_model_passes():
    figures = ph.check_structure(Pendulum(), X)
    assert figures.skewness == figures.symmetry == figures.definiteness == 0
    assert figures.gradient < 1e-9
    assert figures.power < 1e-15


def test_the_discrete_effort_holds_the_energy_and_is_the_same_both_ways():
    """Which makes steps with it reversible in time, and of second order."""
    model, x0, x1 = Pendulum(), np.array([1.0, 2.0, -1.0]), np.array([0.5, 0.7, -1.2])
    z = model.discrete_effort(x0, x1)
    assert z @ (x1 - x0) == pytest.approx(model.storage(x1) - model.storage(x0))
    assert model.discrete_effort(x1, x0) == pytest.approx(z)
    assert model.discrete_effort(x0, x0) == pytest.approx(model.effort(x0))


def test_at_rest_where_the_slope_vanishes_it_is_compared_with_slopes_nearby():
    """A sound model passes there, an effort that does not vanish is found."""
    rest = np.zeros(3)
    assert ph.check_structure(Pendulum(), rest).gradient < 1e-9
    shifted = Pendulum()
    shifted.effort = lambda x: np.array([x[0], np.sin(x[1] + 1e-6), x[2]])
    refused(ph.StructureError, "gradient of H in block angle", lambda: ph.check_structure(shifted, rest))


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("skew", r"not skew in block \(momentum, angle\)"),
        ("symmetry", r"R is not symmetric in block \(momentum, heat\)"),
        ("sign", "not positive semi-definite in block heat"),
        ("effort", "gradient of H in block angle"),
        ("descriptor", "gradient of H in block momentum"),
    ],
)
def test_a_broken_law_is_named(broken, message):
    refused(ph.StructureError, message, lambda: ph.check_structure(Pendulum(broken), X))


def test_linear_models_refuse_shapes_names_and_asymmetric_energy():
    eye, port = np.eye(3), (Port("torque", "N m", "rad/s", 1),)
    column = eye[:, :1]
    good = ph.LinearPHDAE(eye, 0 * eye, eye, column, NAMES, port)
    assert good.storage(X) == pytest.approx(3.0)
    with pytest.raises(ph.ModelError, match=r"port_map must have shape \(3, 1\)"):
        ph.LinearPHDAE(eye, eye, eye, eye, NAMES, port)
    with pytest.raises(ph.ModelError, match="two states are named 'angle'"):
        ph.LinearPHDAE(eye, eye, eye, column, (NAMES[1], *NAMES[1:]), port)
    with pytest.raises(ph.StructureError, match="symmetric"):
        ph.LinearPHDAE(eye, eye, eye, column, NAMES, port, np.triu(np.ones((3, 3))))
    refused(ph.ModelError, "no port is named 'force'; the model has: torque", lambda: good.port_slice("force"))
