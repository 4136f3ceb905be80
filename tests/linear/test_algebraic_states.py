"""First-order models with singular E: brought to standard form where that is right, refused elsewhere."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse

import phlexible as ph
from mechanisms import grounded
from phlexible.algebra.elimination import null_space
from phlexible.linear.constraint_elimination import without_algebraic_states
from phlexible.port_hamiltonian.model import Port, StateGroup


def composed_four_bar():
    model = ph.gallery.four_bar(0.3, elements=4)
    linear = model.linearize(inputs=[model["coupler"].end])
    return linear, ph.LinearModel.of(linear.composed())


def test_a_model_of_transformers_has_the_modes_and_the_response_of_linearize():
    linear, composed = composed_four_bar()
    modes = composed.modes(4)
    assert modes.frequencies == pytest.approx(linear.modes(4).frequencies, rel=1e-9)
    assert (modes.rigid_modes, modes.self_stresses) == (0, 0)
    assert not modes.eigenvalues.real.any()
    omega = [50.0, 350.0]
    expected = linear.frequency_response(omega).values
    assert np.abs(composed.frequency_response(omega).values - expected).max() < 1e-9 * np.abs(expected).max()
    space = composed.to_state_space()
    assert np.abs(np.array([space(1j * w) for w in omega]) - expected).max() < 1e-6 * np.abs(expected).max()


def test_the_standard_form_is_port_hamiltonian_with_a_regular_descriptor():
    linear, composed = composed_four_bar()
    free = composed.eliminate_constraints()
    assert isinstance(free, ph.LinearModel)
    assert free.order == linear.order - 2 * linear.mechanics.constraint_matrix.shape[0]
    assert np.linalg.cond(free.descriptor.toarray()) < 1e12
    assert max(free.structure_errors().values()) <= 1e-10
    assert set(free.state_names) < set(linear.state_names)
    units = {state.name: state.unit for state in linear.states}
    assert all(units[state.name] == state.unit for state in free.states)
    assert without_algebraic_states(free) is free


def mass(name):
    one = np.eye(1)
    port = Port(f"{name}.force", "N", "m/s", 1)
    return ph.LinearPHDAE(2 * one, 0 * one, 0 * one, one, (StateGroup(f"{name}.v", "m/s", 1),), (port,))


def test_two_masses_joined_are_one():
    whole = ph.transformer(mass("a"), mass("b"), [[-1.0]], ("a.force", "b.force"))
    assert ph.LinearModel.of(whole).eliminate_constraints().descriptor.toarray() == pytest.approx(np.array([[4.0]]))


def test_momenta_as_states_need_other_columns_than_efforts():
    """A lever: 2 kg move twice as fast as 3 kg; a force on the slow ones meets 3 + 4 * 2 kg."""

    def moving(name, kilograms):
        one, port = np.eye(1), Port(f"{name}.force", "N", "m/s", 1)
        outer = Port(f"{name}.push", "N", "m/s", 1)
        states = (StateGroup(f"{name}.p", "kg m/s", 1),)
        return ph.LinearPHDAE(one, 0 * one, 0 * one, np.ones((1, 2)), states, (port, outer), one / kilograms)

    whole = ph.transformer(moving("a", 3.0), moving("b", 2.0), [[2.0]], ("a.force", "b.force"))
    free = ph.LinearModel.of(whole).eliminate_constraints()
    assert free.order == 1 and max(free.structure_errors().values()) <= 1e-15
    assert free.frequency_response([2.0]).values[0] == pytest.approx(np.array([[1, 2], [2, 4]]) / (2j * 11))


def test_an_improper_model_is_refused_where_a_regular_descriptor_is_needed():
    """(43): the input of the inverted port prescribes a velocity; at rest there, nothing is left to move."""
    improper = ph.LinearModel.of(ph.inverted(mass("a"), "a.force"))
    assert len(improper.modes(1).eigenvalues) == 0
    with pytest.raises(ph.ModelError, match="multiplier of a.force .an improper model.; connect"):
        improper.eliminate_constraints()
    with pytest.raises(ph.ModelError, match="'rate to a.force' answers to the rate of 'a.force'; give rates"):
        improper.to_state_space()


def test_a_pair_of_inverted_ports_is_refused_and_one_of_them_is_a_joint():
    a, b = ph.inverted(mass("a"), "a.force"), ph.inverted(mass("b"), "b.force")
    both = ph.LinearModel.of(ph.transformer(a, b, [[-1.0]], ("a.force", "b.force")))
    for ask in (both.eliminate_constraints, lambda: both.modes(1), both.to_state_space):
        with pytest.raises(ph.ModelError, match="multiplier of a.force.* are coupled.*invert one of the two"):
            ask()
    one = ph.LinearModel.of(ph.gyrator(mass("a"), b, [[1.0]], ("a.force", "b.force")))
    assert one.eliminate_constraints().descriptor.toarray() == pytest.approx(np.array([[4.0]]))


def test_a_state_without_inertia_is_refused():
    """A spring without mass, damped: E is singular, but the state is no multiplier."""
    E, J, R = np.diag([1.0, 0.0]), np.array([[0.0, 1.0], [-1.0, 0.0]]), np.diag([0.0, 3.0])
    states = (StateGroup("q", "m", 1), StateGroup("v", "m/s", 1))
    overdamped = ph.LinearPHDAE(E, J, R, [[0.0], [1.0]], states, (Port("f", "N", "m/s", 1),))
    for ask in ("modes", "to_state_space", "eliminate_constraints"):
        with pytest.raises(ph.ModelError, match="E is singular at v, which are no multipliers"):
            getattr(ph.LinearModel.of(overdamped), ask)()
    mixed = dataclasses.replace(overdamped, descriptor=np.ones((2, 2)), effort_map=None)
    for ask in ("modes", "to_state_space"):
        with pytest.raises(ph.ModelError, match="E is singular: some states have no inertia"):
            getattr(ph.LinearModel.of(mixed), ask)()
    with pytest.raises(ph.ModelError, match="E is singular at v"):
        ph.LinearModel.of(overdamped).reduce(1, "modal")


def test_a_large_first_order_model_is_not_made_dense():
    n = 5000
    one, nothing = sparse.eye_array(n), sparse.csr_array((n, n))
    states = (StateGroup("x", "", n),)
    large = ph.LinearModel.of(ph.LinearPHDAE(one, nothing, nothing, sparse.csr_array((n, 0)), states, ()))
    with pytest.raises(ph.ModelError, match="modes of 5000 states .*at most 4000"):
        large.modes(1)
    with pytest.raises(ph.ModelError, match="5000 states is refused"):
        large.to_state_space()


def test_free_rows_of_the_null_space_are_an_identity_and_keep_their_names():
    linear, _ = composed_four_bar()
    G = linear.mechanics.constraint_matrix
    space = null_space(G)
    assert (space.basis[space.free].toarray() == np.eye(len(space.free))).all()
    assert np.abs((G @ space.basis).toarray()).max() < 1e-12
    model, *_ = grounded(ph.RigidBody(1.0, 2.0), ph.Revolute, dimension=2)
    linear = model.linearize()
    assert linear.eliminate_constraints().state_names == ("body turn z", "rate of body turn z")
    composed = ph.LinearModel.of(linear.composed()).eliminate_constraints()
    assert composed.state_names == ("body x", "body y", "body turn z", "rate of body turn z")
