"""Beams with a basis of the user's: which ones are taken, what they span, what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigvalsh

import phlexible as ph
from phlexible.bodies.beam.bases import ReducedBasis
from phlexible.bodies.mechanics.floating import elastic_tangent, mass_matrix, strains
from refusals import refused

BEAM = ph.Beam(1.3, ph.RectangularSection(0.02, 0.03), ph.Material(2e11, 7870.0), 6, "simply_supported")
AXIAL = 6
FRAMES = ("cantilever", "simply_supported", "mean_axis")


def columns_of(beam, dimension):
    """The basis of a beam over all coordinates of its elements."""
    full = replace(beam, modes=None).discretize(dimension)
    return np.linalg.lstsq(full.points.basis, beam.discretize(dimension).points.basis, rcond=None)[0]


def stiffness(body):
    return elastic_tangent(body, np.zeros(body.elastic_count))


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_modes_as_a_basis_are_the_modes(dimension):
    counted = replace(BEAM, modes=4)
    given = replace(BEAM, modes=columns_of(counted, dimension)).discretize(dimension)
    expected = counted.discretize(dimension)
    assert given.second_moments == pytest.approx(expected.second_moments, abs=1e-12)
    assert stiffness(given) == pytest.approx(stiffness(expected), rel=1e-9, abs=1e-6)
    assert given.points.basis == pytest.approx(expected.points.basis, abs=1e-12)


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("dimension", [2, 3])
def test_condensed_axial_coordinates_relax_any_bending(frame, dimension):
    """Bent by any sum of the shapes, the beam finds axial displacements that leave it without stretch."""
    beam = replace(BEAM, frame=frame)
    bending = columns_of(replace(beam, modes=2), dimension)[:, AXIAL:]
    basis = beam.with_axial(bending, dimension, "condensed")
    assert basis.shape[1] < AXIAL + 2
    body = replace(beam, modes=basis).discretize(dimension)
    bent = np.linalg.lstsq(basis, bending @ [0.01, -0.02], rcond=None)[0]
    eps = strains(body, bent)
    relax = -np.linalg.lstsq(body.strain.rows, eps, rcond=1e-8)[0]
    assert np.abs(eps).max() > 1e-6
    assert np.abs(strains(body, bent + relax)).max() < 1e-9 * np.abs(eps).max()
    ones = np.linalg.lstsq(body.strain.rows, np.ones(AXIAL), rcond=1e-8)[0]
    assert body.strain.rows @ ones == pytest.approx(np.ones(AXIAL))  # it can be pulled as well


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("frame", FRAMES)
def test_craig_bampton_answers_forces_at_the_ends_exactly(frame, dimension):
    beam = replace(BEAM, frame=frame)
    full, rng = beam.discretize(dimension), np.random.default_rng(3)
    basis = beam.craig_bampton_basis(1, dimension)
    K = stiffness(full)
    forces = rng.normal(size=(2, 3)) * (1, 1, dimension == 3)
    moments = rng.normal(size=(2, 3)) * (dimension == 3, dimension == 3, 1)
    ends = [full.points.locate(place) for place in beam.port_locations().values()]
    load = sum(
        point.shapes.T @ force + point.rotations.T @ moment
        for point, force, moment in zip(ends, forces, moments, strict=True)
    )
    if frame != "mean_axis":  # there the momenta of the frame react as well
        answer = np.linalg.solve(K, load)
        small = basis @ np.linalg.solve(basis.T @ K @ basis, basis.T @ load)
        assert small == pytest.approx(answer, abs=1e-12 * np.abs(answer).max())
        assert np.abs(answer).max() > 0
    assert basis.shape[1] == AXIAL + (2 if dimension == 2 else 5) + 1


def test_craig_bampton_spans_the_same_motion_in_every_frame():
    """Free-free frequencies of a beam with elastic and rigid motion."""
    found = []
    for frame in FRAMES:
        beam = replace(BEAM, frame=frame, strain="linear")
        body = replace(beam, modes=beam.craig_bampton_basis(3, 2)).discretize(2)
        K = np.zeros((body.velocity_count,) * 2)
        K[3:, 3:] = stiffness(body)
        found.append(eigvalsh(K, mass_matrix(body, np.zeros(body.elastic_count)))[3:])
    assert found[1] == pytest.approx(found[0], rel=1e-6)
    assert found[2] == pytest.approx(found[0], rel=1e-6)


def test_craig_bampton_modes_are_those_of_the_clamped_beam():
    """Roots 4.7300407, 7.8532046 of cos cosh = 1 (Blevins 1979, table 8-1)."""
    beam = replace(BEAM, elements=16, rotary_inertia=False, strain="linear")
    basis = beam.craig_bampton_basis(2, 2)
    K, full = stiffness(beam.discretize(2)), beam.discretize(2)
    mass = np.einsum("aaij->ij", full.second_moments)[1:, 1:]
    held = basis[:, -2:]
    omega = np.sqrt(np.diag(held.T @ K @ held) / np.diag(held.T @ mass @ held))
    EI = 2e11 * 0.03 * 0.02**3 / 12
    exact = np.array([4.7300407, 7.8532046]) ** 2 * np.sqrt(EI / (7870 * 6e-4 * 1.3**4))
    assert omega == pytest.approx(exact, rel=1e-4)


def test_a_basis_that_locks_is_refused_unless_the_strain_is_linear():
    bending = columns_of(replace(BEAM, modes=3), 2)[:, AXIAL:]
    with pytest.raises(ph.ParameterError, match=r"would lock: .* leave out 100 % .*beam.with_axial\(basis"):
        replace(BEAM, modes=bending).discretize(2)
    some = np.hstack([np.eye(18)[:, columns_of(replace(BEAM, modes=1), 2)[:, 0] > 0.5], bending])
    refused(ph.ParameterError, "would lock", lambda: replace(BEAM, modes=some).discretize(2))
    assert replace(BEAM, modes=bending, strain="linear").discretize(2).elastic_count == 3


def test_the_torsion_of_a_beam_does_not_lock():
    families = columns_of(replace(BEAM, modes=20), 3)
    twisting = [k for k in range(20 + AXIAL) if not np.abs(slopes_of(families[:, k])).any()]
    basis = families[:, twisting]
    assert basis.shape[1] > AXIAL
    assert replace(BEAM, modes=basis[:, AXIAL:]).discretize(3).elastic_count == basis.shape[1] - AXIAL


def slopes_of(column):
    return BEAM.discretize(3).strain.squares @ column


def test_a_basis_of_another_beam_is_refused():
    refused(ph.ParameterError, "finite", lambda: replace(BEAM, modes=np.full((3, 2), np.nan)))
    columns = columns_of(replace(BEAM, modes=3), 2)
    with pytest.raises(ph.ParameterError, match="18 rows, the elastic coordinates of 6 elements in dimension 2"):
        replace(BEAM, modes=columns[:-1]).discretize(2)
    refused(ph.ParameterError, "36 rows", lambda: replace(BEAM, modes=columns).discretize(3))
    with pytest.raises(ph.ParameterError, match="depend on each other"):
        replace(BEAM, modes=np.hstack([columns, columns[:, :1]])).discretize(2)
    with pytest.raises(ph.ParameterError, match="column 9 of the basis in modes is zero"):
        replace(BEAM, modes=np.hstack([columns, 0 * columns[:, :1]])).discretize(2)
    with pytest.raises(ph.ParameterError, match="modes must be at most 10, .* between the ends, got 11"):
        BEAM.craig_bampton_basis(11, 2)
    with pytest.raises(ph.ParameterError, match="axial must be one of 'all', 'condensed', got 'some'"):
        BEAM.craig_bampton_basis(1, 2, "some")


def test_a_basis_is_a_value():
    columns = columns_of(replace(BEAM, modes=3), 2)
    first, second = replace(BEAM, modes=columns), replace(BEAM, modes=columns.tolist())
    assert first == second and hash(first) == hash(second)
    assert first != replace(BEAM, modes=2 * columns) and first != BEAM
    columns[0, 0] += 1
    assert first == second
    assert isinstance(first.modes, ReducedBasis) and "18 coordinates, 9 columns" in repr(first.modes)
    with pytest.raises(ValueError, match="read-only"):
        first.modes.array[0, 0] = 1.0
