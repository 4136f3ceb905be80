"""Rotations from what users write."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from phlexible.algebra.rotations import (
    cross,
    cross_matrix,
    nearest_turns,
    rotation_matrix,
    rotation_vector_matrices,
)
from phlexible.errors import ParameterError

TURN = Rotation.from_rotvec([0.3, -0.5, 0.7])


def test_cross_products():
    a, b = np.array([1.0, 2.0, 3.0]), np.array([-2.0, 0.5, 4.0])
    assert cross(np.array([a, b]), b) == pytest.approx(np.cross([a, b], b), abs=0)
    assert cross_matrix(a) @ b == pytest.approx(np.cross(a, b), abs=0)


def test_angles_are_continued_by_full_turns():
    found = nearest_turns(np.array([0.1, 3.0, -3.0]), np.array([12.6, -3.0, 0.0]))
    assert found == pytest.approx([0.1 + 4 * np.pi, 3.0 - 2 * np.pi, -3.0], abs=1e-14)


@pytest.mark.parametrize("value", [TURN, TURN.as_matrix(), TURN.as_matrix().tolist()])
def test_rotations_in_space(value):
    assert rotation_matrix(value, 3) == pytest.approx(TURN.as_matrix(), abs=1e-15)


@pytest.mark.parametrize("value", [0.5, np.float64(0.5), Rotation.from_euler("z", 0.5)])
def test_rotations_in_the_plane(value):
    assert rotation_matrix(value, 2) == pytest.approx(Rotation.from_euler("z", 0.5).as_matrix(), abs=1e-15)


def test_a_slightly_wrong_matrix_is_made_orthogonal():
    noise = 1e-10 * np.arange(9).reshape(3, 3) / 9
    result = rotation_matrix(TURN.as_matrix() + noise, 3)
    assert np.abs(result.T @ result - np.eye(3)).max() < 5e-15
    assert result == pytest.approx(TURN.as_matrix(), abs=2e-10)


@pytest.mark.parametrize(
    ("value", "dimension", "message"),
    [
        (1.001 * np.eye(3), 3, r"rotation must be orthogonal, but R\^T R differs from the identity by 0.002"),
        (np.diag([1.0, 1.0, -1.0]), 3, "got a reflection"),
        (np.diag([1.0, 1.0, -1.0]), 2, "got a reflection"),
        (Rotation.identity(2), 3, r"got shape \(2, 3, 3\)"),
        (0.5, 3, "got the angle 0.5"),
        (TURN, 2, "must rotate about z in a planar model"),
        (Rotation.from_euler("x", np.pi), 2, "must rotate about z"),
    ],
)
def test_bad_rotations_are_refused(value, dimension, message):
    with pytest.raises(ParameterError, match=message):
        rotation_matrix(value, dimension)


def test_matrices_of_rotation_vectors_of_any_size():
    sizes = np.array([0.0, 1e-160, 1e-9, 9.9e-3, 1.01e-2, 1.0, np.pi, 5.0])
    vectors = np.random.default_rng(0).normal(size=(len(sizes), 3))
    vectors *= (sizes / np.linalg.norm(vectors, axis=1))[:, None]
    expected = Rotation.from_rotvec(vectors).as_matrix()
    assert rotation_vector_matrices(vectors) == pytest.approx(expected, abs=4e-16)
