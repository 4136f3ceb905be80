"""Rigid bodies and point masses against sums over particles; masses of all descriptions, singular ones."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, strategies as st

import phlexible as ph
from phlexible.bodies.locations import Along, End, MaterialPosition, Origin, Start
from phlexible.bodies.material import Material
from phlexible.bodies.mechanics.floating import check_mass, mass_matrix

NO_ETA = np.zeros(0)
FLAT = ph.RigidBody(1.0, 1.0).discretize(2)
numbers = st.floats(-2, 2)


def particles(seed):
    """Masses (9,), places (9, 3) [m], their center (3,) and inertia about it (3, 3)."""
    random = np.random.default_rng(seed)
    masses, places = random.uniform(0.1, 1, 9), random.normal(size=(9, 3))
    center = masses @ places / masses.sum()
    arms = places - center
    inertia = np.einsum("p,pij->ij", masses, np.einsum("pk,pk,ij->pij", arms, arms, np.eye(3)))
    return masses, places, center, inertia - np.einsum("p,pi,pj->ij", masses, arms, arms)


@given(st.integers(0, 10**6), st.lists(numbers, min_size=6, max_size=6).map(np.array))
def test_kinetic_energy_and_momenta_are_those_of_the_particles(seed, nu):
    masses, places, center, inertia = particles(seed)
    body = ph.RigidBody(masses.sum(), inertia, center).discretize(3)
    momentum = masses[:, None] * (nu[:3] + np.cross(nu[3:], places))
    expected = np.concatenate([momentum.sum(axis=0), np.cross(places, momentum).sum(axis=0)])
    assert mass_matrix(body, NO_ETA) @ nu == pytest.approx(expected, abs=1e-11)
    assert body.second_moments[:, :, 0, 0] == pytest.approx(places.T * masses @ places, abs=1e-11)


@pytest.mark.parametrize("inertia", [0.7, (0.6, 0.5, 0.7), np.diag([0.6, 0.5, 0.7])])
def test_in_the_plane_only_the_inertia_about_z_counts(inertia):
    body = ph.RigidBody(2.0, inertia, (0.3, -0.4, 0.0)).discretize(2)
    expected = [[2, 0, 0.8], [0, 2, 0.6], [0.8, 0.6, 0.7 + 2 * 0.25]]
    assert mass_matrix(body, NO_ETA) == pytest.approx(np.array(expected), abs=1e-14)
    assert not body.second_moments[2].any() and not body.second_moments[:, 2].any()


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_rigid_body_offers_its_origin_and_any_point(dimension):
    points = ph.RigidBody(1.0, (1, 1, 1), (0.1, 0, 0)).discretize(dimension).points
    for location, place in ((Origin(), (0, 0, 0)), (MaterialPosition((1, 2, 0)), (1, 2, 0))):
        point = points.locate(location)
        assert np.array_equal(point.position, place)
        assert point.shapes.shape == (3, 0) and point.rotations.shape == (3, 0)
    for location in (Start(), End(), Along(0.5)):
        with pytest.raises(ph.AttachmentError, match=r"RigidBody has no .*origin.*point"):
            points.locate(location)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_point_mass_has_linear_velocities_only(dimension):
    body = ph.PointMass(0.3).discretize(dimension)
    assert mass_matrix(body, NO_ETA) == pytest.approx(0.3 * np.eye(dimension))
    check_mass(body)
    assert body.points.locate(Origin()).rotations is None
    with pytest.raises(ph.AttachmentError, match="PointMass has no .*origin"):
        body.points.locate(MaterialPosition((0, 0, 0)))


def test_a_flat_body_at_the_edge_of_the_triangle_inequality_is_taken():
    check_mass(ph.RigidBody(1.0, (0.1, 0.2, 0.1 + 0.2)).discretize(3))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ph.RigidBody(1.0, (1, 2)), r"must be I_zz, three numbers or a matrix \(3, 3\), got \(1, 2\)"),
        (lambda: ph.RigidBody(1.0, (1, 1, 0)), "must be positive definite, got principal moments 0, 1, 1"),
        (lambda: ph.RigidBody(1.0, (1, 1, 2.5)), "inertia must obey the triangle .* moments 1, 1, 2.5"),
        (lambda: ph.RigidBody(1.0, np.eye(3) + np.eye(3, k=1)), r"inertia must be symmetric, got \[\[1.0, 1.0"),
        (lambda: ph.RigidBody(1.0, 0.7).discretize(3), r"inertia is the single number I_zz = 0\.7.*plane only"),
        (lambda: ph.RigidBody(1.0, 0.7, (0, 0, 0.5)).discretize(2), "center must lie in the plane z = 0.*0.5"),
        (lambda: ph.RigidBody(1.0, (1, 1, 1)).discretize(4), r"must be 2 \(the xy plane\) or 3 \(space\), got 4"),
        (lambda: ph.PointMass(1.0).discretize(4), r"1 \(the x axis\), 2 \(the xy plane\) or 3 \(space\), got 4"),
        (lambda: FLAT.points.locate(MaterialPosition((1, 2, 0.5))), r"position must have z = 0 .*0\.5"),
    ],
)
def test_what_no_body_has_or_a_dimension_cannot_use_is_refused(make, message):
    with pytest.raises((ph.ParameterError, ph.AttachmentError), match=message):
        make()


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
