"""Frequencies against Euler-Bernoulli theory (Blevins 1979, table 8-1), modal reduction, damping."""

from math import pi

import numpy as np
import pytest
from scipy.linalg import eigh, eigvalsh

import phlexible as ph
from bodies.frequencies import nearest
from mechanisms import grounded
from phlexible.bodies.mechanics.floating import elastic_tangent

LENGTH, SECTION, MATERIAL = 1.3, ph.RectangularSection(0.02, 0.03), ph.Material(2e11, 7870.0)
STEEL_SPEED = (MATERIAL.youngs_modulus / MATERIAL.density) ** 0.5
BEND_Y, BEND_Z = ((moment / SECTION.area) ** 0.5 for moment in (SECTION.second_moment_z, SECTION.second_moment_y))
FRAMES = ("cantilever", "simply_supported", "mean_axis")


def beam(frame, dimension=3, elements=12, section=SECTION, **more):
    return ph.Beam(LENGTH, section, MATERIAL, elements, frame, rotary_inertia=False, **more).discretize(dimension)


def matrices(body):
    """M_ff and the stiffness at eta = 0, each (n, n)."""
    mass = np.einsum("aaij->ij", body.second_moments)[1:, 1:]
    return mass, elastic_tangent(body, np.zeros(body.elastic_count))


def frequencies(body):
    return np.sqrt(eigvalsh(*matrices(body)[::-1]))


BETAS = {
    "cantilever": [1.8751040687120, 4.6940911329742],
    "simply_supported": [pi, 2 * pi],
    "mean_axis": [4.7300407448627, 7.8532046240958],
}


@pytest.mark.parametrize("strain", ["linear", "von_karman"])
@pytest.mark.parametrize("frame", FRAMES)
def test_bending_frequencies_of_16_elements_are_the_analytical_ones(frame, strain):
    found, tolerances = frequencies(beam(frame, elements=16, strain=strain)), np.array([6e-6, 4e-5])
    for radius in (BEND_Y, BEND_Z):
        exact = np.array(BETAS[frame]) ** 2 / LENGTH**2 * radius * STEEL_SPEED
        assert (np.abs(nearest(found, exact) / exact - 1) < tolerances).all()
    planar = frequencies(beam(frame, 2, elements=16, strain=strain))
    exact = np.array(BETAS[frame]) ** 2 / LENGTH**2 * BEND_Y * STEEL_SPEED
    assert (np.abs(planar[:2] / exact - 1) < tolerances).all()


def exact_rod(elements, wave_number, speed):
    """Frequencies of linear elements with consistent mass, in closed form."""
    h = LENGTH / elements
    cosine = np.cos(wave_number * h)
    return speed / h * np.sqrt(6 * (1 - cosine) / (2 + cosine))


@pytest.mark.parametrize(
    ("frame", "first_wave"), [("cantilever", pi / 2), ("simply_supported", pi / 2), ("mean_axis", pi)]
)
@pytest.mark.parametrize("motion", ["axial", "torsion"])
def test_axial_and_torsion_frequencies_are_those_of_linear_elements(frame, first_wave, motion):
    twist_stiffness = MATERIAL.shear_modulus * SECTION.torsion_constant
    twist_speed = (twist_stiffness / MATERIAL.density / SECTION.polar_moment) ** 0.5
    speed = STEEL_SPEED if motion == "axial" else twist_speed
    elements = 40
    waves = (first_wave + pi * np.arange(3)) / LENGTH
    found = nearest(frequencies(beam(frame, elements=elements)), exact_rod(elements, waves, speed))
    assert found == pytest.approx(exact_rod(elements, waves, speed), rel=1e-9, abs=0)
    assert found[0] == pytest.approx(waves[0] * speed, rel=3e-4, abs=0)  # (pi h / L)^2 / 24


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("frame", FRAMES)
def test_modes_have_the_frequencies_of_the_elements(frame, dimension):
    reduced = beam(frame, dimension, modes=6, strain="linear")
    mass, stiffness = matrices(reduced)
    axial = 12
    assert reduced.elastic_count == axial + 6
    assert np.abs(mass[:axial, axial:]).max() < 1e-12 and np.abs(stiffness[:axial, axial:]).max() < 1e-3
    assert mass[axial:, axial:] == pytest.approx(np.eye(6), abs=1e-10)
    kept = np.diag(stiffness)[axial:] ** 0.5
    assert np.abs(stiffness[axial:, axial:] - np.diag(kept**2)).max() < 1e-9 * kept[-1] ** 2
    assert (np.diff(kept) < 0).sum() <= {2: 0, 3: 2}[dimension]  # bending in y, in z, torsion: each by frequency
    kept = np.sort(kept)
    everything = frequencies(beam(frame, dimension, strain="linear"))
    axial_only = np.sqrt(eigvalsh(stiffness[:axial, :axial], mass[:axial, :axial]))
    merged = np.sort(np.concatenate([kept, axial_only]))
    below = everything[everything < kept[-1] * (1 + 1e-9)]
    assert merged[: len(below)] == pytest.approx(below, rel=1e-8, abs=0)


ROUND = ph.CircularSection(0.03)
NEARLY_ROUND = ph.Section(ROUND.area, ROUND.second_moment_y * (1 - 1e-7), ROUND.second_moment_z)


@pytest.mark.parametrize("section", [ROUND, NEARLY_ROUND])
def test_modes_of_a_round_beam_stay_in_their_plane_in_a_fixed_order(section):
    end = beam("cantilever", section=section, modes=4).points.centerline(2)[1][1][:, 12:]
    in_y, in_z = np.abs(end[1]) > 1e-6, np.abs(end[2]) > 1e-6
    assert np.array_equal(in_y, [True, True, False, False]) and np.array_equal(in_z, ~in_y)


def test_the_largest_component_of_a_mode_is_positive():
    free, reduced = beam("cantilever"), beam("cantilever", modes=8)
    kept = np.linalg.lstsq(free.points.basis, reduced.points.basis, rcond=None)[0][:, 12:]
    assert (kept[np.abs(kept).argmax(axis=0), np.arange(8)] > 0).all()


@pytest.mark.parametrize("modes", [None, 3])
@pytest.mark.parametrize("frame", FRAMES)
def test_damping_ratio_is_that_of_every_mode(frame, modes):
    body = beam(frame, elements=5, damping_ratio=0.02, modes=modes)
    mass, stiffness = matrices(body)
    squares, shapes = eigh(stiffness, mass)
    ratios = (shapes.T @ body.damping @ shapes) / (2 * np.outer(squares, squares) ** 0.25)
    assert np.diag(ratios) == pytest.approx(np.full(len(squares), 0.02), rel=1e-7, abs=0)
    assert np.abs(ratios - np.diag(np.diag(ratios))).max() < 1e-8
    assert np.array_equal(body.damping, body.damping.T)


@pytest.mark.parametrize("modes", [3, None])
def test_each_mode_has_its_damping_ratio(modes, tmp_path):
    """Of a cantilever; the axial modes beside three of bending have the last ratio."""
    ratios = 0.01 * np.arange(1, (modes or 12) + 1)

    def clamped(ratios):
        body = ph.Beam(LENGTH, SECTION, MATERIAL, 4, frame="cantilever", modes=modes, damping_ratio=ratios)
        model, *_ = grounded(body, dimension=2, name="beam")
        return model

    expected = np.append(ratios, np.full(4, ratios[-1]))[:7]
    assert clamped(ratios).linearize().modes(7).damping_ratios == pytest.approx(expected, rel=1e-6)
    motion = clamped(list(ratios)).simulate(1e-4, 1e-5)
    motion.save(tmp_path / "run.h5")
    again = ph.Motion.load(tmp_path / "run.h5").run.system
    assert np.array_equal(again.bodies[0].data.damping, motion.run.system.bodies[0].data.damping)
    for wrong in (ratios[:-1], [*ratios, 0.1]):
        with pytest.raises(ph.ParameterError, match=f"must be one number, or {len(ratios)}, .* got {len(wrong)}"):
            clamped(wrong).linearize()


def test_each_shape_of_a_plate_has_its_damping_ratio():
    one, ratios = (1.0, 0.5, 0.01, MATERIAL, (2, 2)), np.linspace(0.01, 0.02, 8)
    plate = ph.Plate(*one, modes=3, damping_ratio=ratios)
    assert np.diag(plate.data.damping) / (2 * plate.frequencies) == pytest.approx(ratios, rel=1e-12)
    with pytest.raises(ph.ParameterError, match="must be one number, or 8, .* got 3"):
        ph.Plate(*one, modes=3, damping_ratio=ratios[:3])
