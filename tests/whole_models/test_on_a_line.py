"""Models on a line: rods stretch, strings hang, masses slide; one coordinate a point (dimension=1)."""

import numpy as np
import pytest
from scipy.optimize import brentq

import phlexible as ph

LENGTH, AREA, STEEL = 2.0, 1e-4, ph.Material(2e11, 7800.0)
SPEED = np.sqrt(STEEL.youngs_modulus / STEEL.density)
STIFFNESS, DENSITY = STEEL.youngs_modulus * AREA, STEEL.density * AREA


def rod(elements):
    return ph.Rod(LENGTH, ph.RectangularSection(0.01, 0.01), STEEL, elements)


def bar(elements, order=1):
    """The same as a string of the linear law, which on a line is pressed as well as pulled."""
    return ph.String(LENGTH, DENSITY, elements, ph.LinearLaw(STIFFNESS), order)


def held(body, dimension=1):
    model = ph.Model(dimension=dimension)
    placed = model.add(body, "bar")
    kind = ph.Fixed if isinstance(body, ph.Rod) else ph.Spherical
    model.connect(kind(model.ground.at((0, 0, 0)), placed.start))
    return model, placed


def test_a_clamped_rod_has_the_frequencies_of_waves_and_one_coordinate_a_node():
    exact = SPEED * np.pi / LENGTH * np.array([0.5, 1.5, 2.5])
    gaps = []
    for elements in (16, 32):
        model, _ = held(rod(elements))
        linear = model.linearize()
        assert linear.order == 2 * (elements + 1) + 1  # places, velocities, one force of the clamp
        gaps.append(np.abs(linear.modes(3).frequencies / exact - 1))
    assert gaps[1].max() < 3e-3
    assert gaps[0] / gaps[1] == pytest.approx(4.0, rel=0.05)


def test_a_bar_with_a_mass_at_its_end_against_the_closed_form():
    """beta tan beta = rho A L / m."""
    model, placed = held(bar(16, order=2))
    mass = model.add(ph.PointMass(DENSITY * LENGTH), "mass", position=(LENGTH, 0, 0))
    model.connect(ph.Spherical(placed.end, mass.origin))
    beta = brentq(lambda b: b * np.tan(b) - 1, 0.1, 1.5)
    assert model.linearize().modes(1).frequencies == pytest.approx([beta * SPEED / LENGTH], rel=1e-8)


def test_a_struck_bar_moves_as_in_the_plane_and_keeps_its_energy():
    """Waves run to and fro: the end stays at rest until one has come."""
    moved = {}
    for dimension in (1, 2):
        model, placed = held(bar(24), dimension)
        mass = model.add(ph.PointMass(1.0), "mass", position=(LENGTH, 0, 0), velocity=(-1.0, 0.0, 0.0))
        model.connect(ph.Spherical(placed.end, mass.origin))
        if dimension == 1:
            motion = model.simulate(4e-4, 2e-6, progress=False)  # and no warning of a slack string
        else:
            with pytest.warns(ph.SlackStringWarning):
                motion = model.simulate(4e-4, 2e-6, progress=False)
        assert np.abs(motion.energy.balance_error).max() < 1e-9 * motion.energy.total.max()
        moved[dimension] = motion.position(mass.origin)
        assert motion.reaction(model.joints[0])[:100, 0] == pytest.approx(0.0, abs=40.0)
        assert np.abs(motion.reaction(model.joints[0])[:, 0]).max() > 3000.0
    assert moved[1] == pytest.approx(moved[2], abs=1e-13)
    assert (moved[1][:, 1:] == 0).all()


def test_the_end_of_a_struck_rod_brakes_as_the_wave_says():
    """m dv/dt = -rho A c v until the wave has come back; the geometrically exact rod and the string."""
    for body in (rod(64), bar(64)):
        model, placed = held(body)
        mass = model.add(ph.PointMass(1.0), "mass", position=(LENGTH, 0, 0), velocity=(-1.0, 0.0, 0.0))
        model.connect(ph.Spherical(placed.end, mass.origin))
        motion = model.simulate(2 * LENGTH / SPEED, 2e-6, progress=False)
        expected = -np.exp(-DENSITY * SPEED * motion.time)
        assert motion.velocity(mass.origin)[:, 0] == pytest.approx(expected, abs=0.04)


def test_gravity_springs_drives_and_sensors_along_the_line():
    """A string that hangs: N(s) = (rho A (L - s) + m) g; a driven mass; a spring."""
    g = 9.81
    model = ph.Model(dimension=1, gravity=(g, 0, 0))
    string = model.add(ph.String(LENGTH, 0.5, 10, ph.StVenantKirchhoffLaw(1e4)), "string")
    mass = model.add(ph.PointMass(2.0), "mass", position=(LENGTH, 0, 0))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), string.start))
    model.connect(ph.Spherical(string.end, mass.origin))
    motion = model.simulate(0.01, 1e-3, initial=model.equilibrium(), progress=False)
    stations = LENGTH * (np.arange(10) + 0.5) / 10
    assert motion.tension(string)[-1] == pytest.approx((0.5 * (LENGTH - stations) + 2.0) * g, rel=1e-9)

    model = ph.Model(dimension=1)
    driven, free = model.add(ph.PointMass(1.0), "driven"), model.add(ph.PointMass(2.0), "free", position=(1, 0, 0))
    slider = model.connect(ph.Slider(model.ground.at((0, 0, 0)), driven.origin))
    model.apply(slider.drive(position=lambda t: 0.1 * (1 - np.cos(3 * t))))
    model.apply(ph.SpringDamper(driven.origin, free.origin, stiffness=50.0))
    motion = model.simulate(2.0, 1e-3, progress=False)
    w, t = 5.0, motion.time  # x'' = 25 (0.1 (1 - cos 3t) - x)
    ratio = w**2 / (w**2 - 9)
    follows = 0.1 * (1 - ratio * np.cos(3 * t) + (ratio - 1) * np.cos(w * t))
    assert motion.position(free.origin)[:, 0] - 1 == pytest.approx(follows, abs=2e-6)
    form = ph.PointMass(2.0).port_hamiltonian(dimension=1)
    assert form.state_size == 2 and ph.check_structure(form, np.array([0.3, 2.0])).power == 0


def test_pictures_files_and_rods_on_a_line(tmp_path):
    model, placed = held(rod(4))
    model.apply(ph.Force(placed.end, (100.0, 0, 0)))
    motion = model.simulate(1e-4, 1e-5, initial=model.equilibrium(), progress=False)
    assert motion.section_forces(placed).normal[0] == pytest.approx(100.0)
    assert motion.position(placed.end)[0, 0] - LENGTH == pytest.approx(100.0 * LENGTH / STIFFNESS, rel=1e-6)
    motion.save(tmp_path / "run.h5")
    again = ph.Motion.load(tmp_path / "run.h5")
    assert (again.position(again["bar"].end) == motion.position(placed.end)).all()
    pytest.importorskip("matplotlib")
    for name, draw in (("model", model.plot), ("run", motion.plot)):
        draw(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 1000


BEAM = ph.Beam(1.0, ph.CircularSection(0.01), STEEL)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda m, a: m.add(BEAM), "on a line there are PointMass, String and Rod"),
        (lambda m, a: m.add(ph.RigidBody(1.0, 1.0)), "on a line there are PointMass"),
        (lambda m, a: m.add(ph.PointMass(1.0), position=(0, 1, 0)), "position must lie on the x axis"),
        (lambda m, a: m.add(bar(3), rotation=0.1), "nothing rotates on a line"),
        (lambda m, a: m.add(bar(3), shape=lambda s: (s, s, 0)), "must stay on the x axis"),
        (lambda m, a: m.ground.moving(lambda t: (t, 0, 0), rotation=lambda t: t), "nothing rotates on a line"),
        (lambda m, a: m.apply(ph.Force(a.origin, (0, 1, 0))), r"\(f_x, 0, 0\) on a line"),
        (lambda m, a: m.connect(ph.Slider(m.ground.at((0, 0, 0)), a.origin, axis=(0, 1, 0))), "must be along x"),
        (lambda m, a: ph.Model(dimension=1, gravity=(0, 1, 0)), "gravity must lie on the x axis"),
        (lambda m, a: ph.Model(dimension=0), r"1 \(the x axis\), 2"),
    ],
)
def test_what_leaves_the_line_is_refused(act, message):
    model = ph.Model(dimension=1)
    with pytest.raises((ph.ParameterError, ph.ModelError), match=message):
        act(model, model.add(ph.PointMass(1.0), "a"))
