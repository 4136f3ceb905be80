"""Lowest modes of models that are too large for dense matrices, against those of their parts."""

import numpy as np
import pytest
from scipy import linalg, sparse

import phlexible as ph
from phlexible.linear import symmetric_modes
from phlexible.linear.mechanics import LinearMechanics
from phlexible.linear.symmetric_modes import lowest_symmetric_modes

COPIES = 520  # more rigid motions than dense matrices take


def arm():
    """A beam that hangs in the air from a hinge: turns freely, K = 0 there."""
    model = ph.Model(dimension=2)
    body = model.add(ph.Beam(1.0, ph.Section(1e-4, 1e-8), ph.Material(2e11, 7800.0), 2), "arm", rotation=0.3)
    model.connect(ph.Revolute(model.ground.at((0.0, 0.0, 0.0)), body.start))
    return model.linearize().mechanics


def spring():
    """Two points on a line that pull at each other with 3 N/m, one of them held by 1 N/m."""
    return mechanics_of(np.diag([2.0, 1.0]), np.array([[4.0, -3.0], [-3.0, 3.0]]))


def mechanics_of(mass, stiffness, rows=None):
    n = len(mass)
    parts = (mass, np.zeros((n, n)), np.zeros((n, n)), stiffness, np.zeros((0, n)) if rows is None else rows)
    return LinearMechanics(*(sparse.csr_array(part) for part in parts), np.zeros((n, 0)), np.zeros((0, n)), ())


def side_by_side(parts):
    names = ("mass", "velocity", "damping", "stiffness", "constraint_matrix")
    whole = [sparse.csr_array(sparse.block_diag([getattr(part, name) for part in parts], "csr")) for name in names]
    n = whole[0].shape[0]
    return LinearMechanics(*whole, np.zeros((n, 0)), np.zeros((0, n)), ())


def stiffer(part, factor):
    stiffness = sparse.csr_array(factor * part.stiffness)
    rows = part.constraint_matrix
    return LinearMechanics(part.mass, part.velocity, part.damping, stiffness, rows, part.forces, part.rows, ())


def exact_squares(part):
    """By dense matrices in a basis of what its rows allow."""
    basis = (
        linalg.null_space(part.constraint_matrix.toarray())
        if part.constraint_matrix.shape[0]
        else np.eye(part.size)
    )
    return linalg.eigh(basis.T @ part.stiffness @ basis, basis.T @ part.mass @ basis, eigvals_only=True)


def check_shapes(mechanics, modes):
    shapes, squares = modes.shapes, modes.squares
    assert shapes.T @ (mechanics.mass @ shapes) == pytest.approx(np.eye(len(squares)), abs=1e-10)
    assert np.abs(mechanics.constraint_matrix @ shapes).max(initial=0.0) < 1e-9 * np.abs(shapes).max()
    largest = max(np.abs(squares).max(), 1.0)
    assert np.diag(shapes.T @ (mechanics.stiffness @ shapes)) == pytest.approx(
        squares, rel=1e-8, abs=1e-9 * largest
    )


@pytest.mark.parametrize("wanted", [3, COPIES + 6])
def test_many_parts_that_turn_freely(wanted):
    one = arm()
    factors = np.linspace(1.0, 300.0, COPIES)
    mechanics = side_by_side([stiffer(one, factor) for factor in factors])
    modes = lowest_symmetric_modes(mechanics, wanted)
    exact = np.sort(np.concatenate([factor * exact_squares(one)[1:] for factor in factors]))
    expected = np.concatenate([np.zeros(COPIES), exact])[:wanted]
    assert modes.rigid == COPIES
    assert (modes.squares[:COPIES] == 0).all()
    assert modes.squares == pytest.approx(expected, rel=1e-9)
    check_shapes(mechanics, modes)


def test_an_unstable_motion_comes_before_many_rigid_ones():
    one = arm()
    falling = mechanics_of(np.eye(2), np.diag([-0.5, 20.0]))
    mechanics = side_by_side([one] * COPIES + [falling])
    for wanted in (4, COPIES + 3):
        modes = lowest_symmetric_modes(mechanics, wanted)
        assert modes.squares[0] == pytest.approx(-0.5, rel=1e-6)
        assert (modes.squares[1:][:COPIES] == 0).all()
        assert modes.rigid == COPIES


def test_free_motions_that_strain_their_coordinates_are_counted_with_the_others():
    """Two points that only pull at each other: K touches both coordinates, their common motion is rigid."""
    pair = mechanics_of(np.diag([2.0, 1.0]), np.array([[3.0, -3.0], [-3.0, 3.0]]))
    mechanics = side_by_side([arm()] * 60 + [pair, stiffer(pair, 2)])
    modes = lowest_symmetric_modes(mechanics, 64)
    assert modes.rigid == 62
    assert (modes.squares[:62] == 0).all()
    assert modes.squares[62:] == pytest.approx([4.5, 9.0], rel=1e-9)
    check_shapes(mechanics, modes)


def test_few_springs_between_many_rigid_bodies():
    free = [mechanics_of(np.array([[factor]]), np.zeros((1, 1))) for factor in np.linspace(1, 2, COPIES)]
    tied = mechanics_of(np.eye(3), np.diag([0.0, 7.0, 1e9]), np.array([[1.0, 1.0, 0.0]]))
    mechanics = side_by_side([*free, spring(), tied])
    exact = np.sort(np.concatenate([exact_squares(spring()), [3.5, 1e9]]))
    modes = lowest_symmetric_modes(mechanics, COPIES + 4)
    assert modes.rigid == COPIES
    assert modes.squares[COPIES:] == pytest.approx(exact, rel=1e-9)
    check_shapes(mechanics, modes)


def test_bodies_without_any_stiffness():
    mechanics = side_by_side([mechanics_of(np.array([[factor]]), np.zeros((1, 1))) for factor in range(1, COPIES)])
    modes = lowest_symmetric_modes(mechanics, 5)
    assert modes.rigid == COPIES - 1
    assert (modes.squares == 0).all()
    check_shapes(mechanics, modes)


def test_the_lowest_of_very_many_motions():
    """As of a long string, with a stiff spring at one of its points: shifts come down to them in several rounds."""
    stiffness = sparse.csr_array(sparse.diags_array(np.append(np.arange(1.0, 10_000.0) ** 2, 1e12)))
    one, nothing = sparse.csr_array(sparse.eye_array(10_000)), sparse.csr_array((10_000, 10_000))
    rows, none = sparse.csr_array((0, 10_000)), np.zeros((10_000, 0))
    modes = lowest_symmetric_modes(LinearMechanics(one, nothing, nothing, stiffness, rows, none, none.T, ()), 6)
    assert modes.squares == pytest.approx(np.arange(1, 7) ** 2, rel=1e-9)
    assert modes.rigid == 0


def equal_parts(noise=1e-14, n=12):
    """Copies of a cantilever, and the lowest square of one; they differ by their last digits."""
    bending = np.diag(np.full(n, 2.0)) - np.eye(n, k=1) - np.eye(n, k=-1)
    bending[-1, -1] = 1.0
    part = mechanics_of(np.eye(n), 1e6 * bending @ bending)
    factors = 1 + noise * np.random.default_rng(0).normal(size=60)
    return side_by_side([stiffer(part, factor) for factor in factors]), exact_squares(part)[0]


@pytest.mark.parametrize(("wanted", "restarts"), [(6, 1), (20, 100)])
def test_equal_parts_have_equal_modes_whatever_the_iteration_needs(wanted, restarts, monkeypatch):
    """An iteration that ends without result is tried with more vectors."""
    monkeypatch.setattr(symmetric_modes, "RESTARTS", restarts)
    whole, square = equal_parts()
    modes = lowest_symmetric_modes(whole, wanted)
    assert modes.squares == pytest.approx(np.full(wanted, square), rel=1e-9)
    check_shapes(whole, modes)


def test_an_iteration_that_does_not_converge_is_refused_in_words(monkeypatch):
    monkeypatch.setattr(symmetric_modes, "RESTARTS", 1)
    monkeypatch.setattr(symmetric_modes, "WIDER", (1,))
    with pytest.raises(ph.ModelError, match="20 modes: no convergence"):
        lowest_symmetric_modes(equal_parts()[0], 20)
