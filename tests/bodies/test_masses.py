"""Masses of descriptions and of their equations, singular ones, and elastic constants."""

import dataclasses

import numpy as np
import pytest

import phlexible as ph
from phlexible.bodies.material import Material
from phlexible.bodies.mechanics.floating import check_mass

STEEL = ph.Material(210e9, 7850.0)
TAPER = ph.VaryingSection([0.0, 1.0], [ph.CircularSection(0.04), ph.CircularSection(0.02)])
CELL = ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])


@pytest.mark.parametrize(
    ("body", "mass"),
    [
        (ph.Beam(1.0, TAPER, STEEL, masses=[ph.LumpedMass(0.5, 2.0)]), 2.0 + 7850 * np.pi * 7e-4 / 3),
        (ph.Beam(1.0, TAPER, STEEL).split(4), 7850 * np.pi * 7e-4 / 3),
        (ph.String(2.0, 0.3, 5, ph.LinearLaw(1e3)), 0.6),
        (ph.Rod(2.0, ph.CircularSection(0.02), STEEL), 2 * 7850 * np.pi * 1e-4),
        (ph.SoftBody(CELL, law=ph.NeoHookean(1e6, 0.4), density=1000.0, thickness=0.01), 5.0),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, float) else "",
)
def test_the_mass_of_a_description_is_that_of_its_equations(body, mass) -> None:
    assert body.mass == pytest.approx(mass, rel=1e-9)
    model = ph.Model(gravity=(0.0, 0.0, -10.0))
    model.add(body, "body", **({"shape": [(0, 0, 0), (2, 0, 0)]} if isinstance(body, ph.String) else {}))
    motion = model.simulate(0.1, 0.05, progress=False)
    assert motion.momentum.linear[-1, 2] == pytest.approx(-mass, rel=1e-9)


def test_shear_modulus():
    assert Material(2.6e11, 7870.0, 0.3).shear_modulus == pytest.approx(1e11)
    assert Material(3.0, 1.0, poissons_ratio=0.5).shear_modulus == pytest.approx(1.0)


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
