"""A singular mass matrix is refused with the direction that carries no energy."""

import dataclasses

import numpy as np
import pytest

import phlexible as ph
from phlexible.bodies.mechanics.floating import check_mass


def beam():
    return ph.Beam(0.3, ph.CircularSection(6e-3), ph.Material(2e11, 7870.0), elements=2).discretize(3)


def test_a_point_mass_that_were_to_rotate_is_refused():
    body = dataclasses.replace(ph.PointMass(1.0).discretize(3), rotates=True)
    with pytest.raises(ph.SingularMassError, match="no inertia in the direction of w_x, w_y, w_z"):
        check_mass(body)


def test_shape_functions_with_rigid_motion_are_refused():
    body = beam()
    # One more coordinate: translation of the whole beam along y.
    xi_map = np.hstack([np.eye(13), np.zeros((13, 1))])
    first = body.first_moments @ xi_map
    second = np.einsum("ki,abkl,lj->abij", xi_map, body.second_moments, xi_map)
    first[1, 13] = body.mass
    for a in range(3):
        second[a, 1, :, 13] = first[a]
        second[1, a, 13, :] = first[a]
    second[1, 1, 13, 13] = body.mass
    with pytest.raises(ph.SingularMassError, match=r"singular \(relative .*v_y .*deta_12/dt"):
        check_mass(dataclasses.replace(body, first_moments=first, second_moments=second))


@pytest.mark.parametrize("frame", ["cantilever", "simply_supported", "mean_axis"])
def test_a_fine_mesh_is_not_taken_for_singular(frame):
    check_mass(ph.Beam(0.3, ph.CircularSection(6e-4), ph.Material(2e11, 7870.0), 60, frame).discretize(3))
