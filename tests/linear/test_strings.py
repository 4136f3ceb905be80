"""Small motions of strings: taut, hanging, loaded; closed forms; reduction; refusals."""

import numpy as np
import pytest
from scipy.special import jn_zeros

import phlexible as ph

DENSITY, STIFFNESS = 0.6, 400.0
LAWS = [ph.LogarithmicLaw(STIFFNESS), ph.LinearLaw(STIFFNESS), ph.StVenantKirchhoffLaw(STIFFNESS)]


def taut(law, elements, order, stretch=1.2, dimension=2, viscosity=0.0):
    string = ph.String(2.0, DENSITY, elements, law, order=order, viscosity=viscosity)
    model = ph.Model(dimension=dimension)
    placed = model.add(string, "string", shape=((0, 0, 0), (2.0 * stretch, 0, 0)))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), placed.start))
    model.connect(ph.Spherical(model.ground.at((2.0 * stretch, 0, 0)), placed.end))
    return model


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
@pytest.mark.parametrize(("order", "elements"), [(1, 90), (2, 12)])
def test_a_taut_string_has_the_wave_speed_of_its_tension(law, order, elements):
    """c = sqrt(N / rho A) with the mass of a stretched length; axial waves feel dN/d(stretch)."""
    stretch = 1.2
    modes = taut(law, elements, order).linearize().modes(40)
    transverse = np.pi * np.sqrt(float(law.tension(stretch**2)) / (DENSITY / stretch)) / (2.0 * stretch)
    slope = float(law.tension((stretch + 1e-6) ** 2) - law.tension((stretch - 1e-6) ** 2)) / 2e-6
    axial = np.pi * np.sqrt(slope / DENSITY) / 2.0
    for expected in (transverse, axial):
        assert np.abs(modes.frequencies / expected - 1).min() <= 1e-4
    assert np.abs(modes.frequencies / (2 * transverse) - 1).min() <= 5e-4
    assert modes.rigid_modes == 0


@pytest.mark.parametrize("initial", ["straight", "bent"])
def test_a_hanging_chain_has_bessel_frequencies(initial):
    """w = j_0k / 2 sqrt(g / l) for a chain that does not stretch; its equilibrium is found from afar."""
    gravity, length = 9.81, 2.0
    string = ph.String(length, DENSITY, 40, ph.LinearLaw(1e6 if initial == "straight" else 2e4), order=2)
    model = ph.Model(gravity=(0, -gravity, 0), dimension=2)
    bent = 0.1 if initial == "bent" else 0.0
    placed = model.add(string, shape=lambda s: (bent * np.sin(s), -s, 0))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), placed.start))
    modes = model.linearize(at="static").modes(3)
    expected = jn_zeros(0, 3) / 2 * np.sqrt(gravity / length)
    assert modes.frequencies == pytest.approx(expected, rel=2e-3)


def test_a_pendulum_on_a_light_string_swings_as_a_rigid_one():
    """A taut massless link with a ball: w = sqrt(g / l), l the stretched length."""
    string = ph.String(1.0, 1e-6, 4, ph.LinearLaw(5e4))
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    placed = model.add(string, shape=((0, 0), (0, -1.0)))
    ball = model.add(ph.PointMass(2.0), position=(0, -1.0, 0))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), placed.start))
    model.connect(ph.Spherical(placed.end, ball.origin))
    modes = model.linearize(at="static").modes(1)
    assert modes.frequencies[0] == pytest.approx(np.sqrt(9.81 / (1 + 2 * 9.81 / 5e4)), rel=1e-6)


def test_shallow_cable_modes_follow_irvine():
    """Antisymmetric modes of a cable with a sag of 1/50: w = 2 pi n sqrt(H / rho A) / span."""
    span, length, stiffness, gravity = 50.0, 50.05, 1e7, 9.81
    cable = ph.String(length, 2.0, 24, ph.LinearLaw(stiffness), order=2)
    ends = (0, 0, 0), (span, 0, 0)
    model = ph.Model(gravity=(0, -gravity, 0))
    placed = model.add(cable, shape=cable.hanging(*ends, (0, -gravity, 0)))
    first = model.connect(ph.Spherical(model.ground.at(ends[0]), placed.start))
    model.connect(ph.Spherical(model.ground.at(ends[1]), placed.end))
    force = abs(model.simulate(0.02, 0.01, progress=False).reaction(first)[0, 0])
    frequencies = model.linearize(at="static").modes(8).frequencies
    swing = np.pi * np.sqrt(force / 2.0) / span
    for n, tolerance in ((1, 2e-3), (2, 5e-3), (3, 1e-2)):  # swings out of the plane: n pi
        assert np.abs(frequencies / (n * swing) - 1).min() <= tolerance
    inside = np.abs(frequencies / (2 * swing) - 1)
    assert np.sort(inside)[1] <= 1e-2  # one out of the plane, one in it


def test_viscosity_damps_axial_motion_only():
    """C acts along the string: transverse modes of a straight string keep imaginary eigenvalues."""
    modes = taut(LAWS[1], 6, 1, viscosity=0.01).linearize().modes(10)
    damped = np.abs(modes.eigenvalues.real) > 1e-6 * np.abs(modes.eigenvalues)
    assert damped.any() and not damped.all()


@pytest.mark.parametrize("form", ["displacement", "stress"])
def test_what_strings_cannot_do_is_said(form):
    model = taut(LAWS[0], 4, 1)
    if form == "stress":
        with pytest.raises(ph.EquilibriumError, match="unloaded, undeformed pose at rest and without strings"):
            model.linearize(form="stress")
        return
    spinning = ph.Model(dimension=2)
    spinning.add(ph.String(1.0, 1.0, 4, LAWS[0]), velocity=lambda s: (0, 2 * (s - 0.5), 0))
    with pytest.raises(ph.EquilibriumError, match="string or soft body is linearized at rest only"):
        spinning.linearize(at="steady_rotation")


def test_a_pressed_string_is_warned_of_and_no_stable_equilibrium():
    model = taut(LAWS[1], 6, 1, stretch=0.9)
    with pytest.warns(ph.SlackStringWarning, match="parts of it are pressed together"):
        assert model.linearize().modes(2).eigenvalues.real.max() > 1.0
    with pytest.warns(ph.SlackStringWarning), pytest.raises(ph.EquilibriumError, match="unstable"):
        model.linearize(at="static")


def test_an_unloaded_string_is_in_equilibrium():
    model = taut(LAWS[1], 6, 1, stretch=1.0)
    modes = model.linearize(at="static").modes(6)
    assert modes.frequencies[:5] == pytest.approx(np.zeros(5), abs=1e-3)
    axial = np.pi / 2.0 * np.sqrt(STIFFNESS / DENSITY)
    assert modes.frequencies[5] == pytest.approx(axial, rel=0.02)
    assert model["string"].body.hanging((0, 0, 0), (2.0, 0, 0), (0, 0, 0))[3] == pytest.approx([1.0, 0, 0])
