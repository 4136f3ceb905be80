"""Natural frequencies against exact ones, how modes are counted, and those of large systems."""

import numpy as np
import pytest
from scipy import linalg, sparse

import phlexible as ph
from linear.four_bar_by_hand import EXACT, exact
from mechanisms import grounded
from phlexible.linear import modes as complex_modes, symmetric_modes
from phlexible.linear.mechanics import LinearMechanics
from phlexible.linear.symmetric_modes import lowest_symmetric_modes

# Roots beta L of the characteristic equations (Blevins 1979, table 8-1; Low 1998), solved to 13 digits.
FREE = (4.7300407448627, 7.8532046240958, 10.995607838002)
CLAMPED_FREE = (1.875104068712, 4.6940911329742, 7.8547574382376)
CLAMPED_PINNED = (3.9266023120479, 7.0685827456287, 10.210176122813)
TIP_MASS = (1.2479174096065, 4.031139436715, 7.1341322409397)  # tip mass = mass of the beam
TIP_BODY = (1.195669831093, 2.5050600193962, 4.9750984377933)  # with inertia 0.1 rho A L^3 as well
HUB = (2.0100033223663, 4.7037942622813, 7.8568235512173)  # on a pin, of inertia rho A L^3
EI, MASS_PER_LENGTH = 2e11 * 1e-8, 7800.0 * 1e-4


def beam(elements=60, frame="cantilever"):
    return ph.Beam(1.0, ph.Section(1e-4, 1e-8), ph.Material(2e11, 7800.0), elements, frame, rotary_inertia=False)


def bending(roots):
    return np.array(roots) ** 2 * np.sqrt(EI / MASS_PER_LENGTH)


def held(case):
    model = ph.Model(dimension=2)
    body = model.add(beam(), "beam")
    if case != "free-free":
        joint = ph.Revolute if case in ("pinned-free", "pinned-pinned", "hub") else ph.Fixed
        model.connect(joint(model.ground.at((0, 0, 0)), body.start))
    if case in ("clamped-pinned", "pinned-pinned"):
        model.connect(ph.Slider(model.ground.at((1, 0, 0)), body.end, axis=(1, 0, 0)))
    if case == "hub":
        model.connect(ph.Fixed(model.add(ph.RigidBody(1.0, MASS_PER_LENGTH), "hub").origin, body.start))
    if case == "tip body":
        tip = model.add(ph.RigidBody(MASS_PER_LENGTH, 0.1 * MASS_PER_LENGTH), "tip", position=(1, 0, 0))
        model.connect(ph.Fixed(body.end, tip.origin))
    if case == "tip mass":
        mass = model.add(ph.PointMass(MASS_PER_LENGTH), "mass", position=(1, 0, 0))
        model.connect(ph.Revolute(body.end, mass.origin))
    return model


@pytest.mark.parametrize("row", EXACT, ids=lambda row: row["crank_angle_deg"])
def test_four_bar_with_ten_elements_a_link(row):
    modes = ph.gallery.four_bar(np.deg2rad(float(row["crank_angle_deg"]))).linearize().modes(6)
    assert modes.frequencies[:3] == pytest.approx(exact(row), rel=1e-5)
    assert modes.frequencies == pytest.approx(exact(row, 6), rel=6e-4)
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
        ("hub", 1, HUB),
    ],
)
def test_beam_frequencies(case, rigid, roots):
    """Sixty elements: the error of Hermite elements falls with their fourth power."""
    modes = held(case).linearize().modes(rigid + 3)
    assert modes.rigid_modes == rigid
    assert (modes.frequencies[:rigid] == 0).all()
    assert modes.frequencies[rigid:] == pytest.approx(bending(roots), rel=1e-6)
    assert modes.elastic_frequencies == pytest.approx(modes.frequencies[rigid:])


def test_a_chain_has_a_rigid_mode_a_link_and_they_do_not_hide_the_others():
    linear = ph.gallery.chain(links=30, elements=3).linearize(at="unloaded")
    modes = linear.modes(33)
    assert modes.rigid_modes == 30
    assert (modes.frequencies[:30] == 0).all() and modes.frequencies[30] > 1
    assert modes.shapes.T @ (linear.mechanics.mass @ modes.shapes) == pytest.approx(np.eye(33), abs=1e-9)
    assert np.abs(linear.mechanics.constraint_matrix @ modes.shapes).max() < 1e-9


def test_shapes_satisfy_the_equations_of_motion():
    linear = ph.gallery.four_bar(0.4).linearize()
    modes, mechanics = linear.modes(3), linear.mechanics
    assert linear.eliminate_constraints().mechanics.size == mechanics.size - mechanics.constraint_matrix.shape[0]
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
    mechanics = ph.gallery.satellite(elements=8, damping_ratio=0.01).linearize().mechanics
    dense, _, rigid = complex_modes.lowest_complex_modes(mechanics, 8)
    values, _ = complex_modes._arnoldi(mechanics, 24)
    assert rigid == 3
    for value in dense[3:]:
        assert np.abs(values - value).min() <= 1e-6 * abs(value)


COPIES = 520  # more rigid motions than dense matrices take


def arm():
    """A beam that hangs in the air from a hinge: turns freely, K = 0 there."""
    part = ph.Beam(1.0, ph.Section(1e-4, 1e-8), ph.Material(2e11, 7800.0), 2)
    model, *_ = grounded(part, ph.Revolute, dimension=2, name="arm", rotation=0.3)
    return model.linearize().mechanics


def spring():
    """Two points on a line that pull at each other with 3 N/m, one of them held by 1 N/m."""
    return mechanics_of(np.diag([2.0, 1.0]), np.array([[4.0, -3.0], [-3.0, 3.0]]))


def mechanics_of(mass, stiffness, rows=None):
    n = len(mass)
    parts = (mass, np.zeros((n, n)), np.zeros((n, n)), stiffness, np.zeros((0, n)) if rows is None else rows)
    return LinearMechanics(*(sparse.csr_array(part) for part in parts), np.zeros((n, 0)), np.zeros((0, n)), ())


def side_by_side(parts):
    names = ("mass", "velocity", "damping", "stiffness", "constraint_matrix")
    whole = [sparse.csr_array(sparse.block_diag([getattr(part, name) for part in parts], "csr")) for name in names]
    n = whole[0].shape[0]
    return LinearMechanics(*whole, np.zeros((n, 0)), np.zeros((0, n)), ())


def stiffer(part, factor):
    stiffness = sparse.csr_array(factor * part.stiffness)
    rows = part.constraint_matrix
    return LinearMechanics(part.mass, part.velocity, part.damping, stiffness, rows, part.forces, part.rows, ())


def exact_squares(part):
    """By dense matrices in a basis of what its rows allow."""
    rows = part.constraint_matrix.toarray()
    basis = linalg.null_space(rows) if len(rows) else np.eye(part.size)
    return linalg.eigh(basis.T @ part.stiffness @ basis, basis.T @ part.mass @ basis, eigvals_only=True)


def check_shapes(mechanics, modes):
    shapes, squares = modes.shapes, modes.squares
    assert shapes.T @ (mechanics.mass @ shapes) == pytest.approx(np.eye(len(squares)), abs=1e-10)
    assert np.abs(mechanics.constraint_matrix @ shapes).max(initial=0.0) < 1e-9 * np.abs(shapes).max()
    largest = max(np.abs(squares).max(), 1.0)
    found = np.diag(shapes.T @ (mechanics.stiffness @ shapes))
    assert found == pytest.approx(squares, rel=1e-8, abs=1e-9 * largest)


@pytest.mark.parametrize("wanted", [3, COPIES + 6])
def test_many_parts_that_turn_freely(wanted):
    one = arm()
    factors = np.linspace(1.0, 300.0, COPIES)
    mechanics = side_by_side([stiffer(one, factor) for factor in factors])
    modes = lowest_symmetric_modes(mechanics, wanted)
    exact = np.sort(np.concatenate([factor * exact_squares(one)[1:] for factor in factors]))
    expected = np.concatenate([np.zeros(COPIES), exact])[:wanted]
    assert modes.rigid == COPIES
    assert (modes.squares[:COPIES] == 0).all()
    assert modes.squares == pytest.approx(expected, rel=1e-9)
    check_shapes(mechanics, modes)


def test_an_unstable_motion_comes_before_many_rigid_ones():
    mechanics = side_by_side([arm()] * COPIES + [mechanics_of(np.eye(2), np.diag([-0.5, 20.0]))])
    for wanted in (4, COPIES + 3):
        modes = lowest_symmetric_modes(mechanics, wanted)
        assert modes.squares[0] == pytest.approx(-0.5, rel=1e-6)
        assert (modes.squares[1:][:COPIES] == 0).all()
        assert modes.rigid == COPIES


def test_free_motions_that_strain_their_coordinates_are_counted_with_the_others():
    """Two points that only pull at each other: K touches both coordinates, their common motion is rigid."""
    pair = mechanics_of(np.diag([2.0, 1.0]), np.array([[3.0, -3.0], [-3.0, 3.0]]))
    mechanics = side_by_side([arm()] * 60 + [pair, stiffer(pair, 2)])
    modes = lowest_symmetric_modes(mechanics, 64)
    assert modes.rigid == 62
    assert (modes.squares[:62] == 0).all()
    assert modes.squares[62:] == pytest.approx([4.5, 9.0], rel=1e-9)
    check_shapes(mechanics, modes)


def test_few_springs_between_many_rigid_bodies():
    free = [mechanics_of(np.array([[factor]]), np.zeros((1, 1))) for factor in np.linspace(1, 2, COPIES)]
    tied = mechanics_of(np.eye(3), np.diag([0.0, 7.0, 1e9]), np.array([[1.0, 1.0, 0.0]]))
    mechanics = side_by_side([*free, spring(), tied])
    exact = np.sort(np.concatenate([exact_squares(spring()), [3.5, 1e9]]))
    modes = lowest_symmetric_modes(mechanics, COPIES + 4)
    assert modes.rigid == COPIES
    assert modes.squares[COPIES:] == pytest.approx(exact, rel=1e-9)
    check_shapes(mechanics, modes)


def test_bodies_without_any_stiffness():
    mechanics = side_by_side([mechanics_of(np.array([[factor]]), np.zeros((1, 1))) for factor in range(1, COPIES)])
    modes = lowest_symmetric_modes(mechanics, 5)
    assert modes.rigid == COPIES - 1
    assert (modes.squares == 0).all()
    check_shapes(mechanics, modes)


def test_the_lowest_of_very_many_motions():
    """As of a long string, with a stiff spring at one of its points: shifts come down to them in several rounds."""
    stiffness = sparse.csr_array(sparse.diags_array(np.append(np.arange(1.0, 10_000.0) ** 2, 1e12)))
    one, nothing = sparse.csr_array(sparse.eye_array(10_000)), sparse.csr_array((10_000, 10_000))
    rows, none = sparse.csr_array((0, 10_000)), np.zeros((10_000, 0))
    modes = lowest_symmetric_modes(LinearMechanics(one, nothing, nothing, stiffness, rows, none, none.T, ()), 6)
    assert modes.squares == pytest.approx(np.arange(1, 7) ** 2, rel=1e-9)
    assert modes.rigid == 0


def equal_parts(noise=1e-14, n=12):
    """Copies of a cantilever, and the lowest square of one; they differ by their last digits."""
    bending = np.diag(np.full(n, 2.0)) - np.eye(n, k=1) - np.eye(n, k=-1)
    bending[-1, -1] = 1.0
    part = mechanics_of(np.eye(n), 1e6 * bending @ bending)
    factors = 1 + noise * np.random.default_rng(0).normal(size=60)
    return side_by_side([stiffer(part, factor) for factor in factors]), exact_squares(part)[0]


@pytest.mark.parametrize(("wanted", "restarts"), [(6, 1), (20, 100)])
def test_equal_parts_have_equal_modes_whatever_the_iteration_needs(wanted, restarts, monkeypatch):
    """An iteration that ends without result is tried with more vectors."""
    monkeypatch.setattr(symmetric_modes, "RESTARTS", restarts)
    whole, square = equal_parts()
    modes = lowest_symmetric_modes(whole, wanted)
    assert modes.squares == pytest.approx(np.full(wanted, square), rel=1e-9)
    check_shapes(whole, modes)


def test_an_iteration_that_does_not_converge_is_refused_in_words(monkeypatch):
    monkeypatch.setattr(symmetric_modes, "RESTARTS", 1)
    monkeypatch.setattr(symmetric_modes, "WIDER", (1,))
    with pytest.raises(ph.ModelError, match="20 modes: no convergence"):
        lowest_symmetric_modes(equal_parts()[0], 20)


@pytest.mark.parametrize("stiffness", 10.0 ** np.arange(3, 15))
def test_a_slow_mass_beside_a_stiff_one(stiffness):
    model = ph.Model(dimension=1)
    for at, k in ((1.0, 1.0), (3.0, stiffness)):
        mass = model.add(ph.PointMass(k**0.25), position=(at, 0, 0))
        model.apply(ph.SpringDamper(model.ground.at((0, 0, 0)), mass.origin, k, length=at))
    for count in (1, 2):
        modes = model.linearize().modes(count)
        assert modes.frequencies == pytest.approx([k**0.375 for k in (1.0, stiffness)][:count], rel=1e-12)
        assert modes.rigid_modes == 0


STEEL = ph.CircularSection(0.02), ph.Material(2.1e11, 7850.0)


@pytest.mark.parametrize("elements", [1, 4, 8, 20])
def test_a_rope_on_a_stiff_beam_swings_whatever_the_number_of_modes(elements):
    """A point mass on a massless rope of 20 m: sqrt(g / l), which the deflection of the beam hardly changes."""
    model, beam, _ = grounded(ph.Beam(0.1, *STEEL, elements=elements), gravity=(0, 0, -9.81))
    load = model.add(ph.PointMass(100.0), position=(0.1, 0, -20.0))
    model.connect(ph.Distance(beam.end, load.origin))
    linear = model.linearize(at="static")
    all_counts = [linear.modes(count) for count in range(1, 13)]
    assert [modes.rigid_modes for modes in all_counts] == [0] * 12
    for modes in all_counts:
        assert modes.frequencies[:2] == pytest.approx([np.sqrt(9.81 / 20)] * len(modes.frequencies[:2]), rel=1e-5)


@pytest.mark.parametrize("count", [1, 3, 6, 8, 12])
@pytest.mark.parametrize(("dimension", "rigid"), [(2, 3), (3, 6)])
@pytest.mark.parametrize("elements", [1, 8, 40, 300])
def test_a_free_beam_with_a_body_on_a_soft_hinge(dimension, rigid, elements, count):
    """The body swings at a millionth of the frequencies of the beam, and only rigid modes are zeros."""
    model = ph.Model(dimension=dimension)
    beam = model.add(ph.Beam(0.2, *STEEL, elements=elements))
    inertia = 40.0 if dimension == 2 else (40.0, 40.0, 40.0)
    panel = model.add(ph.RigidBody(20.0, inertia), position=(0.2, 0, 0))
    hinge = model.connect(ph.Revolute(beam.end, panel.origin))
    model.apply(hinge.spring(1e-4))
    modes = model.linearize().modes(count)
    assert modes.rigid_modes == rigid
    assert (modes.frequencies[:rigid] == 0).all()
    mass = 7850 * np.pi * 0.01**2 * 0.2
    turning = mass * (0.2**2 / 12 + 0.01**2 / 4) + mass * 20 / (mass + 20) * 0.1**2
    swing = np.sqrt(1e-4 * (1 / turning + 1 / 40))
    assert modes.frequencies[rigid : rigid + 1] == pytest.approx([swing] * (count > rigid), rel=1e-6)


@pytest.mark.parametrize("elements", [1, 4, 8])
def test_a_slow_decay_beside_a_damped_stiff_beam(elements):
    """A flap with a strong damper and a soft spring on a stiff beam: the slower root of I s^2 + c s + k."""
    model = ph.Model(dimension=2)
    steel = ph.Material(2.1e11, 7850.0, viscosity=1e-5)
    beam = model.add(ph.Beam(0.1, ph.CircularSection(0.02), steel, elements=elements))
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
    flap = model.add(ph.RigidBody(1.0, 0.1), position=(0.1, 0, 0))
    hinge = model.connect(ph.Revolute(beam.end, flap.origin))
    model.apply(hinge.spring(0.1, damping=10.0))
    for count in (1, 3, 8):
        modes = model.linearize(at="static").modes(count)
        assert modes.rigid_modes == 0
        assert modes.eigenvalues[0] == pytest.approx(np.roots([0.1, 10.0, 0.1])[1], rel=1e-5)
