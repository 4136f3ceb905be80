"""Figures that tell how far the matrices of a linear model miss the form, and the names of its entries."""

import numpy as np
import pytest
from scipy import sparse

import phlexible as ph
from phlexible.port_hamiltonian.model import Port, StateGroup

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
