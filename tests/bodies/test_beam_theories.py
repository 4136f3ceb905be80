"""Shear, sections that vary, masses and couplings against closed forms: frequencies, deflections, forces."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh, expm
from scipy.special import iv, jv

import phlexible as ph
from bodies.frequencies import nearest, roots
from phlexible.bodies.beam.strain import linear_stiffness
from phlexible.bodies.locations import Along, End
from phlexible.bodies.mechanics.floating import elastic_mass, mass_matrix
from phlexible.elements.sections import flat_mass
from refusals import refused

LENGTH, MATERIAL = 1.0, ph.Material(2e11, 7800.0, 0.3)
THICK = ph.RectangularSection(0.2, 0.1, shear_coefficient=5 / 6)
E, G, RHO = MATERIAL.youngs_modulus, MATERIAL.shear_modulus, MATERIAL.density
SHEARED = {"theory": "timoshenko", "strain": "linear"}


def frequencies(beam, dimension=2, held=()):
    """Of the beam in its frame [rad/s]; ``held``: rows of eta that are zero."""
    data = beam.discretize(dimension)
    free = np.eye(data.elastic_count)
    if len(held):
        free = np.linalg.svd(np.atleast_2d(held))[2][len(np.atleast_2d(held)) :].T
    stiffness, mass = linear_stiffness(data.strain), elastic_mass(data)
    return np.sqrt(eigh(free.T @ stiffness @ free, free.T @ mass @ free, eigvals_only=True))


def thick_and_supported(section, length, numbers, young=E, shear=G, density=RHO):
    """Timoshenko's quadratic for sine waves of n half lengths: the lower frequency of each n."""
    k = np.asarray(numbers) * np.pi / length
    area, moment = section.area, section.second_moment_z
    stiff = shear * section.shear_areas(0.3)[0]
    a = density**2 * moment * area / stiff
    b = density * area + density * moment * k**2 + young * moment * density * area * k**2 / stiff
    return np.sqrt((b - np.sqrt(b**2 - 4 * a * young * moment * k**4)) / (2 * a))


def test_a_thick_beam_on_supports_has_five_frequencies_of_timoshenko():
    beam = ph.Beam(LENGTH, THICK, MATERIAL, 50, "simply_supported", **SHEARED)
    exact = thick_and_supported(THICK, LENGTH, range(1, 6))
    assert nearest(frequencies(beam), exact) == pytest.approx(exact, rel=1e-5)
    slender = np.sqrt(E * THICK.second_moment_z / (RHO * THICK.area)) * (np.pi / LENGTH) ** 2
    assert exact[0] / slender < 0.95  # shear is no small effect here


def test_a_thick_cantilever_has_five_frequencies_of_the_transfer_matrix():
    area, moment, stiff = THICK.area, THICK.second_moment_z, G * THICK.shear_areas(0.3)[0]

    def free_end(omega):
        """Of (v, theta, M, Q): what the clamped end's M and Q leave at the free one."""
        rates = np.zeros((4, 4))
        rates[0, 1], rates[0, 3] = 1.0, 1 / stiff
        rates[1, 2] = 1 / (E * moment)
        rates[2, 1], rates[2, 3] = -RHO * moment * omega**2, -1.0
        rates[3, 0] = -RHO * area * omega**2
        scale = np.diag([1.0, 1.0, E * moment, stiff])
        return np.linalg.det((np.linalg.solve(scale, expm(rates * LENGTH)) @ scale)[2:, 2:])

    beam = ph.Beam(LENGTH, THICK, MATERIAL, 60, "cantilever", **SHEARED)
    exact = roots(free_end, 300.0, 30000.0, 5)
    assert nearest(frequencies(beam), exact) == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize(
    ("order", "tip"),
    [
        pytest.param(1, lambda x: ph.RectangularSection(0.05 * (1 - x / LENGTH), 0.02), id="wedge"),
        pytest.param(2, lambda x: ph.CircularSection(0.05 * (1 - x / LENGTH)), id="cone"),
    ],
)
def test_sharp_beams_have_five_frequencies_of_bessel_functions(order, tip):
    """G. Kirchhoff 1879: J_n I_{n+1} + I_n J_{n+1} = 0 at z, omega = z^2/4 sqrt(EI/rho A)_0 / L^2."""
    z = roots(lambda z: jv(order, z) * iv(order + 1, z) + iv(order, z) * jv(order + 1, z), 1.0, 25.0, 5)
    root = tip(0.0)
    exact = z**2 / 4 * np.sqrt(E * root.second_moment_z / (RHO * root.area)) / LENGTH**2
    beam = ph.Beam(LENGTH, tip, MATERIAL, 64, "cantilever", rotary_inertia=False)
    assert nearest(frequencies(beam), exact) == pytest.approx(exact, rel=1e-5)
    assert exact[0] / exact[1] == pytest.approx([5.31510 / 15.20717, 8.71926 / 21.14566][order - 1], rel=1e-6)


def test_a_lumped_mass_is_a_body_fixed_to_the_beam():
    """The same frequencies as those of a rigid body of that mass and inertia on a ``Fixed`` joint."""
    beam = ph.Beam(LENGTH, ph.CircularSection(0.02), MATERIAL, 4, "mean_axis", theory="timoshenko")
    inertia, offset, mass = (0.02, 0.03, 0.04), (0.05, -0.03), 1.3
    laden = replace(beam, masses=[ph.LumpedMass(0.25, mass, inertia, offset)])

    def frequencies_of(model):
        return model.linearize().modes(14).frequencies[6:]

    one, two = ph.Model(), ph.Model()
    one.add(laden, "beam")
    bare = two.add(beam, "beam")
    body = two.add(ph.RigidBody(mass, inertia, center=(0.0, *offset)), "body", position=(0.25, 0.0, 0.0))
    two.connect(ph.Fixed(bare.at(0.25), body.origin))
    assert frequencies_of(one) == pytest.approx(frequencies_of(two), rel=1e-7)
    assert laden.discretize(3).mass == pytest.approx(beam.discretize(3).mass + mass)


@pytest.mark.parametrize("ratio", [5.0, 1e2, 1e3])
def test_shear_neither_locks_nor_errs(ratio):
    """One element gives P L^3/3EI + P L/GA_s exactly; slender, the frequencies are those without shear."""
    section = ph.RectangularSection(LENGTH / ratio, 0.02)
    beam = ph.Beam(LENGTH, section, MATERIAL, 1, "cantilever", **SHEARED)
    data = beam.discretize(2)
    end = data.points.locate(End()).shapes[1]
    found = end @ np.linalg.solve(linear_stiffness(data.strain), end)
    bending, stiff = E * section.second_moment_z, G * section.shear_areas(0.3)[0]
    assert found == pytest.approx(LENGTH**3 / (3 * bending) + LENGTH / stiff, rel=1e-9)
    if ratio == 1e3:
        fine = replace(beam, elements=8)
        expected = frequencies(replace(fine, theory="euler_bernoulli"))[:4]
        assert frequencies(fine)[:4] == pytest.approx(expected, rel=3e-5)


ECCENTRIC = ph.Section(*(4e-3, 3e-6, 2e-6, 1e-7, 2e-3, 1.5e-3), shear_center=(0.0, 0.03), mass_center=(0.0, -0.02))


def test_a_force_off_the_shear_centre_twists_exactly():
    beam = ph.Beam(LENGTH, ECCENTRIC, MATERIAL, 3, "cantilever", **SHEARED)
    data = beam.discretize(3)
    end = data.points.locate(End())
    eta = np.linalg.solve(linear_stiffness(data.strain), end.shapes[1])
    twist = 0.03 * LENGTH / (G * 1e-7)
    bent = LENGTH**3 / (3 * E * 2e-6) + LENGTH / (G * 2e-3)
    assert end.rotations[0] @ eta == pytest.approx(twist, rel=1e-9)
    assert end.shapes[1] @ eta == pytest.approx(bent + 0.03 * twist, rel=1e-9)


def test_bending_and_torsion_are_coupled_by_shear_and_mass_centres():
    """Between forks, v and theta_x in sine waves, theta_z in cosine waves: a 3 x 3 problem for each n."""
    beam = ph.Beam(LENGTH, ECCENTRIC, MATERIAL, 40, "simply_supported", **SHEARED)
    untwisted = beam.discretize(3).points.locate(End()).rotations[0]
    exact = []
    for n in range(1, 6):
        k, z, m = n * np.pi / LENGTH, 0.03, RHO * 4e-3
        shear = np.array([k, -1.0, -z * k])
        stiffness = np.diag([0.0, E * 2e-6 * k**2, G * 1e-7 * k**2]) + G * 2e-3 * np.outer(shear, shear)
        arm = np.array([1.0, 0.0, 0.02])
        mass = m * np.outer(arm, arm) + RHO * np.diag([0.0, 2e-6, 2e-6 + 3e-6])
        exact += list(np.sqrt(eigh(stiffness, mass, eigvals_only=True))[:2])
    lowest = np.sort(exact)[:5]
    found = frequencies(beam, 3, untwisted)
    assert nearest(found, lowest) == pytest.approx(lowest, rel=1e-5)


def matrices_of(section, shift=(0.0, 0.0)):
    """A rectangle by its matrices about an axis at (y, z) from its centroid."""
    area_y, area_z = (G * each for each in section.shear_areas(0.3))
    bend = E * section.second_moment_y, E * section.second_moment_z
    own = np.diag([E * section.area, area_y, area_z, G * section.torsion_constant, *bend])
    y, z = (-each for each in shift)
    moved = np.eye(6)  # strains at the centroid (y, z) of those at the axis
    moved[0, 4:], moved[1, 3], moved[2, 3] = (z, -y), -z, y
    place = np.array([1.0, y, z])
    moments = RHO * (
        section.area * np.outer(place, place) + np.diag([0.0, section.second_moment_z, section.second_moment_y])
    )
    return ph.GeneralSection(moved.T @ own @ moved, flat_mass(moments))


def test_free_beams_do_not_depend_on_the_axis_that_matrices_are_about():
    """Stretch, shear, twist and bending of a shifted axis are all coupled; the beam is the same."""
    beam = ph.Beam(LENGTH, THICK, MATERIAL, 24, "mean_axis", **SHEARED)
    shifted = replace(beam, section=matrices_of(THICK, (0.04, -0.03)), material=None)
    exact, coarse, fine = (frequencies(each, 3)[:5] for each in (beam, replace(shifted, elements=12), shifted))
    assert fine == pytest.approx(exact, rel=1e-5)
    assert coarse == pytest.approx(exact, rel=1.2e-4)  # errors fall with the fourth power of the elements
    data, other = beam.discretize(3), shifted.discretize(3)
    about = mass_matrix(other, np.zeros(other.elastic_count))[3:6, 3:6]
    own = mass_matrix(data, np.zeros(data.elastic_count))[3:6, 3:6]
    m, c = data.mass, np.array([LENGTH / 2, -0.04, 0.03])
    steiner = m * (c @ c * np.eye(3) - np.outer(c, c)) - m * np.diag([0, LENGTH**2 / 4, LENGTH**2 / 4])
    assert about == pytest.approx(own + steiner, rel=1e-9, abs=1e-9 * m)


def test_section_forces_hold_shear_and_stress_follows():
    """A taper under its own tip load: Q = P, M = P (L - x) at the stations; Jourawski's 3/2 P / A."""
    ends = [ph.RectangularSection(0.05, 0.02), ph.RectangularSection(0.03, 0.01)]
    table = ph.VaryingSection([0.0, LENGTH], ends)
    stations = {}
    for theory in ("euler_bernoulli", "timoshenko"):
        model = ph.Model(dimension=2)
        beam = model.add(ph.Beam(LENGTH, table, MATERIAL, 12, theory=theory, strain="linear"), "beam")
        model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
        model.apply(ph.Force(beam.end, (0.0, 10.0, 0.0)))
        motion = model.simulate(1e-5, 1e-5, initial="quasi_static", progress=False)
        forces, stress = motion.section_forces(beam), motion.stress(beam)
        assert forces.moment_z[0] == pytest.approx(10.0 * (LENGTH - forces.x), abs=2e-3 * 10.0 * LENGTH)
        assert forces.shear_y[0] == pytest.approx(np.full(24, 10.0), rel=0.1)
        areas = np.array([each.area for each in beam.body.sections_at(forces.x)])
        assert stress.shear == pytest.approx(1.5 * np.abs(forces.shear_y) / areas, rel=1e-12)
        bent = np.array([each.second_moment_z / each.width * 2 for each in beam.body.sections_at(forces.x)])
        assert stress.greatest[0] == pytest.approx(np.abs(forces.moment_z[0]) / bent, rel=1e-9)
        stations[theory] = motion.elastic_displacement(beam.end)[0, 1]
    extra = stations["timoshenko"] - stations["euler_bernoulli"]
    x = np.linspace(0, LENGTH, 2001)
    flexibility = [1 / (G * each.shear_areas(0.3)[0]) for each in table.at(x)]
    assert extra == pytest.approx(10.0 * np.trapezoid(flexibility, x), rel=1e-3)


def test_parts_of_a_varying_beam_are_its_parts():
    def section(x):
        return ph.CircularSection(0.05 - 0.02 * x**2)

    beam = ph.Beam(LENGTH, section, MATERIAL, 8, masses=[ph.LumpedMass(0.5, 2.0), ph.LumpedMass(0.9, 1.0)])
    split = beam.split(4)
    masses = [part.discretize(2).mass for part in split.parts]
    assert sum(masses) == pytest.approx(beam.discretize(2).mass, rel=1e-12)
    assert [len(part.masses) for part in split.parts] == [0, 1, 0, 1]
    for number, part in enumerate(split.parts):
        x = np.linspace(0.0, 0.25, 5)
        diameters = [each.diameter for each in part.sections_at(x)]
        expected = [section(0.25 * number + each).diameter for each in x]
        assert diameters == pytest.approx(expected, rel=1e-7)
    for elements in (5, 16):  # a beam with other elements reads the table of the first
        again = replace(beam, elements=elements).sections_at(np.array([0.123, 0.7]))
        assert [each.diameter for each in again] == pytest.approx([section(0.123).diameter, section(0.7).diameter])


def test_steps_stay_steps():
    thin, thick = ph.CircularSection(0.01), ph.CircularSection(0.03)
    stepped = ph.Beam(LENGTH, lambda x: thin if x < 0.5 else thick, MATERIAL, 4)
    table = ph.VaryingSection([0, 0.5, 0.5, 1], [thin, thin, thick, thick])
    x = np.array([0.0, 0.3, 0.4999, 0.5, 0.8, 1.0])
    for each in (stepped.sections_at(x), table.at(x)):
        assert [section.diameter for section in each] == [0.01] * 3 + [0.03] * 3
    mass = RHO * (thin.area + thick.area) / 2
    assert stepped.discretize(2).mass == pytest.approx(mass) == replace(stepped, section=table).discretize(2).mass


ROUND = ph.CircularSection(0.02)
DIAGONAL = np.diag([1.0, 1.0, 1.0, 2.0, 1.0, 1.0])


def test_a_general_section_takes_matrices_of_five_printed_digits():
    exact = matrices_of(THICK, (0.1, 0.03))
    printed = [np.vectorize(lambda x: float(f"{x:.4e}"))(m) for m in (exact.stiffness_matrix, exact.mass_matrix)]
    printed[0][0, 5] *= 1 + 9e-5
    section = ph.GeneralSection(*printed)
    mass = section.mass_matrix
    assert mass == pytest.approx(exact.mass_matrix, rel=1e-4, abs=1e-4 * mass.max())
    assert mass[3, 3] == mass[4, 4] + mass[5, 5]
    assert (section.stiffness_matrix == section.stiffness_matrix.T).all()
    wrong = printed[1].copy()
    wrong[3, 3] *= 1.001
    refused(ph.ParameterError, "flat section", lambda: ph.GeneralSection(printed[0], wrong))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ph.Beam(1.0, ROUND, MATERIAL, theory="timoshenko", rotary_inertia=False), "rotary_inertia=True"),
        (lambda: ph.Beam(1.0, ph.Section(1e-4, 1e-9), MATERIAL, theory="timoshenko"), "needs shear_area_y"),
        (lambda: ph.Beam(1.0, ECCENTRIC, MATERIAL), 'theory="timoshenko"'),
        (lambda: ph.Beam(5e-3, ph.CircularSection(6e-3), MATERIAL), "not be below the thickness of the section"),
        (lambda: ph.Beam(1.0, matrices_of(THICK), MATERIAL), "must be left out"),
        (lambda: ph.Beam(1.0, matrices_of(THICK, (0.1, 0.0))), 'theory="timoshenko"'),
        (lambda: ph.Beam(2.0, ph.VaryingSection([0, 1], [ROUND, ROUND]), MATERIAL), "from 0 to 2"),
        (lambda: ph.Beam(1.0, ROUND, MATERIAL, masses=[ph.LumpedMass(1.5, 1.0)]), "0 <= x <= 1"),
        (lambda: ph.VaryingSection([0, 1], [ROUND, THICK]), "of one class"),
        (lambda: ph.VaryingSection([1, 0], [ROUND, ROUND]), "ascending"),
        (lambda: ph.GeneralSection(np.eye(6) + np.eye(6, k=1), np.eye(6)), "symmetric"),
        (lambda: ph.GeneralSection(-np.eye(6), np.eye(6)), "positive definite"),
        (lambda: ph.LumpedMass(0.0, 1.0, (1.0, 1.0, 3.0)), "J_x <= J_y"),
        (lambda: ph.GeneralSection(np.eye(6), DIAGONAL * [1, 2, 1, 1, 1, 1]), "flat section"),
        (lambda: ph.Beam(1.0, ROUND, MATERIAL, **SHEARED).port_hamiltonian(stress="hermite"), "without shear"),
    ],
)
def test_refusals(make, message):
    refused(ph.ParameterError, message, make)


def test_points_between_nodes_move_with_sections_that_shear():
    """Off the axis a point moves by the turn of its section, which is not the slope."""
    data = ph.Beam(LENGTH, THICK, MATERIAL, 2, "cantilever", **SHEARED).discretize(2)
    eta = np.linalg.solve(linear_stiffness(data.strain), data.points.locate(End()).shapes[1])
    bending, stiff = E * THICK.second_moment_z, G * THICK.shear_areas(0.3)[0]
    x = 0.37
    turn = (LENGTH * x - x**2 / 2) / bending
    point = data.points.locate(Along(x))
    assert point.rotations[2] @ eta == pytest.approx(turn, rel=1e-9)
    assert point.shapes[1] @ eta == pytest.approx((LENGTH * x**2 / 2 - x**3 / 6) / bending + x / stiff, rel=1e-9)
