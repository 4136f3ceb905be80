"""Derivatives of modes and responses against closed forms."""

import numpy as np
import pytest

import phlexible as ph
from mechanisms import grounded


def cantilever(p):
    section = ph.RectangularSection(p["width"], 0.03)
    beam = ph.Beam(p["length"], section, ph.Material(p["modulus"], 1000.0), elements=3, rotary_inertia=False)
    model, placed, _ = grounded(beam, dimension=2, name="beam")
    return model.linearize([ph.Force(placed.end, (0, 1, 0))], [ph.Displacement(placed.end, (0, 1, 0))])


def test_bending_frequencies_scale_as_those_of_beams():
    """omega = c sqrt(E / rho) t / L^2 with a number c of each mode, also of finite elements."""
    p = {"width": 0.02, "length": 1.5, "modulus": 2e9}
    found = ph.mode_derivatives(cantilever, p, count=2)
    omega, slopes = found.frequencies, found.of_frequencies
    assert omega[0] == pytest.approx(1.875104**2 * 0.02 * np.sqrt(2e9 / 12e3) / 1.5**2, rel=1e-3)
    assert slopes["modulus"] == pytest.approx(omega / (2 * 2e9), rel=1e-8)
    assert slopes["width"] == pytest.approx(omega / 0.02, rel=1e-8)
    assert slopes["length"] == pytest.approx(-2 * omega / 1.5, rel=1e-8)


def oscillator(p):
    mass, stiffness, damping = p
    model = ph.Model(dimension=1)
    ball = model.add(ph.PointMass(mass), "ball", position=(1.0, 0, 0))
    model.apply(ph.SpringDamper(model.ground.at((0, 0, 0)), ball.origin, stiffness, damping, 1.0))
    push = ph.Force(ball.origin, (1, 0, 0))
    return model.linearize(inputs=[push], outputs=[ph.Displacement(ball.origin), ph.Acceleration(ball.origin)])


def test_a_damped_oscillator_has_the_derivatives_of_its_formulas():
    """m s^2 + d s + k = 0: ds/dm = -s^2 / (2 m s + d) and so on; H = 1 / (k + s d + s^2 m)."""
    m, k, d = 2.0, 50.0, 3.0
    found = ph.mode_derivatives(oscillator, [m, k, d], count=1)
    s = found.eigenvalues[0]
    assert s == pytest.approx((-d + 1j * np.sqrt(4 * m * k - d**2)) / (2 * m), rel=1e-12)
    assert found.derivatives[:, 0] == pytest.approx(-np.array([s**2, 1.0, s]) / (2 * m * s + d), rel=1e-8)
    response = ph.response_derivatives(oscillator, [2.0, 7.0], [m, k, d])
    for number, omega in enumerate((2.0, 7.0)):
        s = 1j * omega
        H = 1 / (k + s * d + s**2 * m)
        expected = -(H**2) * np.array([s**2, 1.0, s])
        assert response.values[number, :, 0] == pytest.approx([H, s**2 * H], rel=1e-12)
        assert response.derivatives[:, number, 0, 0] == pytest.approx(expected, rel=1e-8)
        assert response.derivatives[:, number, 1, 0] == pytest.approx(s**2 * expected, rel=1e-8)


def test_outputs_that_depend_on_a_parameter_have_its_derivative_too():
    """The height of the end of a bar at the angle p answers by r cos(p) / (J s^2 + k)."""
    inertia, stiffness, radius, angle = 0.3, 12.0, 0.4, 0.7

    def build(p):
        body = ph.RigidBody(1.5, inertia)
        model, bar, hinge = grounded(body, ph.Revolute, dimension=2, name="bar", rotation=p["angle"])
        model.apply(hinge.spring(stiffness))
        end = bar.point((radius, 0, 0))
        outputs = [sensor(end, (0, 1, 0)) for sensor in (ph.Displacement, ph.Velocity, ph.Acceleration)]
        return model.linearize(inputs=[hinge], outputs=outputs)

    omega = np.array([2.0, 9.0])
    found = ph.response_derivatives(build, omega, {"angle": angle})
    s = 1j * omega[:, None]
    turns = s ** np.arange(3) / (inertia * s**2 + stiffness)
    assert found.values[:, :, 0] == pytest.approx(radius * np.cos(angle) * turns, rel=1e-12)
    assert found.derivatives["angle"][:, :, 0] == pytest.approx(-radius * np.sin(angle) * turns, rel=1e-8)


def test_free_models_and_joints_agree_with_differences_of_whole_analyses():
    built = []

    def build(p):
        built.append(p)
        model = ph.gallery.satellite(**p, elements=2)
        return model.linearize(inputs=[ph.Torque(model["hub"].origin, (0, 0, 1))])

    p = {"panel_length": 6.0, "hub_inertia": 60.0, "damping_ratio": 0.01}
    found = ph.mode_derivatives(build, p, count=6)
    assert len(built) == 6  # the inertia and the damping have one model to their other side in common
    response = ph.response_derivatives(build, [1.0, 4.0], p)
    for name in p:
        change = 1e-4 * p[name]
        more, less = (build({**p, name: p[name] + sign * change}) for sign in (1, -1))
        modes = (more.modes(6).eigenvalues - less.modes(6).eigenvalues) / (2 * change)
        values = more.frequency_response([1.0, 4.0]).values - less.frequency_response([1.0, 4.0]).values
        assert found.derivatives[name] == pytest.approx(modes, rel=1e-6, abs=1e-6 * np.abs(modes).max())
        assert response.derivatives[name] == pytest.approx(values / (2 * change), rel=1e-6)


def test_modes_of_round_beams_and_square_shells():
    """A round beam has two modes of each frequency, proportional to its diameter. A shell keeps its coordinates
    where it becomes longer than wide; frequencies are inverse to the size of all lengths together."""

    def beam(p):
        round_beam = ph.Beam(1.0, ph.CircularSection(p), ph.Material(2e11, 7800.0), rotary_inertia=False)
        return grounded(round_beam, name="beam")[0].linearize()

    found = ph.mode_derivatives(beam, 0.02, count=3)
    assert found.of_frequencies == pytest.approx(found.frequencies / 0.02, rel=1e-8)

    def shell(p):
        model = ph.Model()
        model.add(ph.Shell.plate(*p, ph.Material(2e11, 7800.0, 0.3), elements=(3, 3)), "shell")
        return model.linearize()

    sizes = np.array([1.0, 1.0, 0.01])
    found = ph.mode_derivatives(shell, sizes, count=9)
    assert sizes @ found.of_frequencies == pytest.approx(-found.frequencies, rel=1e-5)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_modes_of_one_frequency_that_a_parameter_parts(count):
    """Four beams of square section, of which the parameter is the width: half of their modes are proportional."""

    def beams(width):
        model = ph.Model()
        for k in range(4):
            section = ph.RectangularSection(width, 0.02)
            beam = model.add(ph.Beam(1.0, section, ph.Material(2e11, 7800.0), 2), f"beam {k}", position=(0, k, 0))
            model.connect(ph.Fixed(model.ground.at((0, k, 0)), beam.start))
        return model.linearize()

    found = ph.mode_derivatives(beams, 0.02, count=count)
    assert found.of_frequencies * 0.02 / found.frequencies == pytest.approx(np.zeros(count), abs=1e-5)


def test_curved_dependence_is_no_jump():
    def oscillator_beside(p):
        return oscillator([1.0, 50.0 + 1e6 * p[0] ** 2, 0.1])

    assert ph.mode_derivatives(oscillator_beside, [0.0], count=1).of_frequencies == pytest.approx(0.0, abs=1e-6)


def test_follower_loads_count_in_derivatives_of_modes():
    def column(load):
        model, placed, _ = grounded(
            ph.Beam(1.0, ph.CircularSection(0.01), ph.Material(2e11, 7800.0)), dimension=2, name="beam"
        )
        model.apply(ph.Force(placed.end, (-load, 0, 0), axes="body"))
        with pytest.warns(ph.LeftOutWarning, match="which only modes have"):
            return model.linearize(at="static")

    found = ph.mode_derivatives(column, 300.0, count=2)
    ends = [column(300.0 + change).modes(2).frequencies for change in (-0.1, 0.1)]
    assert found.of_frequencies == pytest.approx((ends[1] - ends[0]) / 0.2, rel=1e-5)


def test_places_of_joints_are_no_names_of_states():
    """A string between two pins: omega = pi / L sqrt(N / m) with N = k (L / L0 - 1) in the first mode across."""

    def string(span):
        law = ph.LinearLaw(axial_stiffness=2e3)
        model, placed, _ = grounded(
            ph.String(1.0, 0.3, 16, law), ph.Spherical, dimension=2, name="string", shape=[(0, 0, 0), (span, 0, 0)]
        )
        model.connect(ph.Spherical(model.ground.at((span, 0, 0)), placed.end))
        return model.linearize(at="static")

    found = ph.mode_derivatives(string, 1.2, count=1)
    ends = [string(1.2 + change).modes(1).frequencies for change in (-1e-4, 1e-4)]
    assert found.of_frequencies == pytest.approx((ends[1] - ends[0]) / 2e-4, rel=1e-5)
    assert found.frequencies == pytest.approx(np.pi / 1.2 * np.sqrt(2e3 * 0.2 * 1.2 / 0.3), rel=0.01)


def test_models_that_jump_are_refused():
    with pytest.raises(ph.ModelError, match="the linear model jumps or has a kink where"):
        ph.mode_derivatives(lambda p: oscillator([1.0, 50.0 if p[0] > 2.0 else 40.0, 0.1 * p[0]]), [2.0], count=1)


def test_what_is_no_linear_model_is_refused():
    with pytest.raises(ph.ParameterError, match="return a linear model"):
        ph.mode_derivatives(lambda p: ph.gallery.satellite(), {"x": 1.0})
    with pytest.raises(ph.ModelError, match="other states"):
        ph.mode_derivatives(lambda p: ph.gallery.chain(3 if p["x"] > 1 else 2).linearize(at="unloaded"), {"x": 1.0})
