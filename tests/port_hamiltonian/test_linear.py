"""The contract of linear port-Hamiltonian models."""

import numpy as np
import pytest
from scipy import sparse

import phlexible as ph

ONE = sparse.eye_array(2, format="csr")
SWAP = sparse.csr_array(np.array([[0.0, 1.0], [-1.0, 0.0]]))


def model(J=SWAP, R=0 * ONE, Q=ONE):
    return ph.LinearPHDAE(ONE, J, R, sparse.csr_array([[0.0], [1.0]]), Q, ("q", "v"), ("force",))


def test_a_sound_model():
    figures = model().check_structure()
    assert max(figures.values()) == 0
    assert model().storage(np.array([3.0, 4.0])) == 12.5


@pytest.mark.parametrize(
    ("broken", "law"),
    [
        (model(J=ONE), "skewness"),
        (model(R=-ONE), "dissipation"),
        (model(Q=-ONE), "storage"),
        (model(Q=sparse.csr_array([[1.0, 1.0], [0.0, 1.0]])), "storage symmetry"),
    ],
)
def test_what_breaks_a_law_is_named(broken, law):
    with pytest.raises(ph.ParameterError, match=f"{law} is missed by"):
        broken.check_structure()


def test_shapes_are_checked():
    with pytest.raises(ph.ParameterError, match=r"structure_matrix must have shape \(2, 2\), got \(3, 3\)"):
        model(J=sparse.eye_array(3))
