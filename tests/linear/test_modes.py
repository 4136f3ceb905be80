"""Natural frequencies against exact ones, and how modes are counted."""

import csv
from pathlib import Path

import numpy as np
import pytest

import phlexible as ph

# Pulsations of the linkage of Brugnoli et al. 2020, 6.1, from exact dynamic stiffness matrices (to 1e-9).
FOUR_BAR = list(csv.DictReader((Path(__file__).parent / "four_bar.csv").read_text().splitlines()))

# Roots beta L of the characteristic equations (Blevins 1979, table 8-1; Low 1998), solved to 13 digits.
FREE = (4.7300407448627, 7.8532046240958, 10.995607838002)
CLAMPED_FREE = (1.875104068712, 4.6940911329742, 7.8547574382376)
CLAMPED_PINNED = (3.9266023120479, 7.0685827456287, 10.210176122813)
TIP_MASS = (1.2479174096065, 4.031139436715, 7.1341322409397)  # tip mass = mass of the beam
TIP_BODY = (1.195669831093, 2.5050600193962, 4.9750984377933)  # with inertia 0.1 rho A L^3 as well
EI, MASS_PER_LENGTH = 2e11 * 1e-8, 7800.0 * 1e-4


def beam(elements=60, frame="cantilever"):
    return ph.Beam(1.0, ph.Section(1e-4, 1e-8), ph.Material(2e11, 7800.0), elements, frame, rotary_inertia=False)


def bending(roots):
    return np.array(roots) ** 2 * np.sqrt(EI / MASS_PER_LENGTH)


def held(case):
    model = ph.Model(dimension=2)
    body = model.add(beam(), "beam")
    start, end = model.ground.at((0, 0, 0)), model.ground.at((1, 0, 0))
    if case in ("clamped-free", "clamped-pinned", "tip mass", "tip body"):
        model.connect(ph.Fixed(start, body.start))
    if case == "clamped-pinned":
        model.connect(ph.Slider(end, body.end, axis=(1, 0, 0)))
    if case in ("pinned-free", "pinned-pinned"):
        model.connect(ph.Revolute(start, body.start))
    if case == "pinned-pinned":
        model.connect(ph.Slider(end, body.end, axis=(1, 0, 0)))
    if case == "tip body":
        tip = model.add(ph.RigidBody(MASS_PER_LENGTH, 0.1 * MASS_PER_LENGTH), "tip", position=(1, 0, 0))
        model.connect(ph.Fixed(body.end, tip.origin))
    if case == "tip mass":
        mass = model.add(ph.PointMass(MASS_PER_LENGTH), "mass", position=(1, 0, 0))
        model.connect(ph.Revolute(body.end, mass.origin))
    return model


@pytest.mark.parametrize("row", FOUR_BAR, ids=lambda row: row["crank_angle_deg"])
def test_four_bar_with_ten_elements_a_link(row):
    modes = ph.gallery.four_bar(np.deg2rad(float(row["crank_angle_deg"]))).linearize().modes(6)
    exact = np.array([float(row[f"omega{k}"]) for k in range(1, 7)])
    assert modes.frequencies[:3] == pytest.approx(exact[:3], rel=1e-5)
    assert modes.frequencies == pytest.approx(exact, rel=6e-4)
    assert modes.rigid_modes == 0
    assert np.abs(modes.eigenvalues.real).max() <= 1e-9 * modes.frequencies.max()


@pytest.mark.parametrize(
    ("case", "rigid", "roots"),
    [
        ("free-free", 3, FREE),
        ("clamped-free", 0, CLAMPED_FREE),
        ("clamped-pinned", 0, CLAMPED_PINNED),
        ("pinned-free", 1, CLAMPED_PINNED),
        ("pinned-pinned", 0, np.pi * np.arange(1, 4)),
        ("tip mass", 0, TIP_MASS),
        ("tip body", 0, TIP_BODY),
    ],
)
def test_beam_frequencies(case, rigid, roots):
    """Sixty elements: the error of Hermite elements falls with their fourth power."""
    modes = held(case).linearize().modes(rigid + 3)
    assert modes.rigid_modes == rigid
    assert (modes.frequencies[:rigid] == 0).all()
    assert modes.frequencies[rigid:] == pytest.approx(bending(roots), rel=1e-6)
    assert modes.elastic_frequencies == pytest.approx(modes.frequencies[rigid:])


@pytest.mark.parametrize("frame", ["cantilever", "simply_supported", "mean_axis"])
def test_a_hub_on_a_pin(frame):
    """Hub inertia = rho A L^3; one rigid mode. Roots of the hub-beam equation."""
    model = ph.Model(dimension=2)
    hub = model.add(ph.RigidBody(1.0, MASS_PER_LENGTH), "hub")
    body = model.add(beam(60, frame), "beam")
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), hub.origin))
    model.connect(ph.Fixed(hub.origin, body.start))
    modes = model.linearize().modes(4)
    assert modes.rigid_modes == 1
    assert modes.frequencies[1:] == pytest.approx(bending(HUB), rel=1e-6)


HUB = (2.0100033223663, 4.7037942622813, 7.8568235512173)  # roots beta L


def test_free_beam_in_space_has_six_rigid_modes():
    model = ph.Model()
    model.add(beam(10), "beam")
    modes = model.linearize().modes(8)
    assert modes.rigid_modes == 6
    assert modes.frequencies[6:] == pytest.approx(bending(FREE[:1] * 2), rel=1e-4)


def test_a_chain_has_a_rigid_mode_a_link_and_they_do_not_hide_the_others():
    linear = ph.gallery.chain(links=30, elements=3).linearize(at="unloaded")
    modes = linear.modes(33)
    assert modes.rigid_modes == 30
    assert (modes.frequencies[:30] == 0).all() and modes.frequencies[30] > 1
    mass = linear.mechanics.mass
    assert modes.shapes.T @ (mass @ modes.shapes) == pytest.approx(np.eye(33), abs=1e-9)
    assert np.abs(linear.mechanics.constraint_matrix @ modes.shapes).max() < 1e-9


def test_shapes_satisfy_the_equations_of_motion():
    linear = ph.gallery.four_bar(0.4).linearize()
    modes, mechanics = linear.modes(3), linear.mechanics
    allowed = linear.eliminate_constraints().mechanics.size
    assert allowed == mechanics.size - mechanics.constraint_matrix.shape[0]
    for shape, omega in zip(modes.shapes.T, modes.frequencies, strict=True):
        force = mechanics.stiffness @ shape - omega**2 * (mechanics.mass @ shape)
        G = mechanics.constraint_matrix.toarray()
        pull = np.linalg.lstsq(G.T, force, rcond=None)[0]
        assert force == pytest.approx(G.T @ pull, abs=1e-7 * np.abs(force).max())


def test_displacements_of_a_mode_agree_across_a_joint():
    model = ph.gallery.four_bar(0.4)
    modes = model.linearize().modes(3)
    one, other = (modes.displacement(port) for port in (model["coupler"].end, model["follower"].start))
    assert one.shape == (3, 3)
    assert one == pytest.approx(other, abs=1e-9)
    assert np.abs(modes.displacement(model["coupler"].at(0.14))[0]).max() > 1e-3


def test_a_large_damped_model_agrees_with_a_small_one():
    """The sparse iteration and the dense problem of all eigenvalues."""
    from phlexible.linear import modes as complex_modes

    mechanics = ph.gallery.satellite(elements=8, damping_ratio=0.01).linearize().mechanics
    dense, _, rigid = complex_modes.lowest_complex_modes(mechanics, 8)
    values, _ = complex_modes._arnoldi(mechanics, 24)
    assert rigid == 3
    for value in dense[3:]:
        assert np.abs(values - value).min() <= 1e-6 * abs(value)
