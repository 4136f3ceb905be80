"""Redundant joints move as independent ones, keep every invariant, and share forces by least squares."""

import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.state.system import system_of

pytestmark = pytest.mark.filterwarnings("ignore::phlexible.RedundancyWarning")

SOFT = ph.Material(youngs_modulus=2.0e9, density=2000.0, poissons_ratio=0.3, viscosity=1e-3)
BAR = ph.RigidBody(1.0, (0.01, 0.08, 0.085), center=(0.5, 0, 0))
ROD = ph.Beam(length=1.0, section=ph.CircularSection(diameter=0.02), material=SOFT, elements=2)
ANGLES = (0.9, 0.2, -0.7)
"""Of crank, coupler and follower of a four-bar from the x axis."""


def four_bar(dimension, coupler=BAR, turn=None, joint=ph.Revolute, gravity=9.81):
    """A four-bar linkage whose hinges are redundant in space; ``turn`` puts it in another plane."""
    turn = np.eye(3) if turn is None else turn
    model = ph.Model(gravity=turn @ (0, -gravity, 0), dimension=dimension)
    ends = [np.zeros(3)]
    for angle in ANGLES:
        ends.append(ends[-1] + (np.cos(angle), np.sin(angle), 0))
    bodies = []
    for name, body, place, angle in zip(
        ("crank", "coupler", "follower"), (BAR, coupler, BAR), ends, ANGLES, strict=False
    ):
        rotation = angle if dimension == 2 else turn @ Rotation.from_euler("z", angle).as_matrix()
        spin = {"angular_velocity": turn @ (0, 0, 3.0)} if name == "crank" else {}
        bodies.append(model.add(body, name, turn @ place, rotation, **spin))
    starts = [b.start if isinstance(b.body, ph.Beam) else b.origin for b in bodies]
    tips = [b.end if isinstance(b.body, ph.Beam) else b.point((1, 0, 0)) for b in bodies]
    axis = {} if dimension == 2 else {"axis": turn @ (0, 0, 1.0)}
    model.connect(joint(model.ground.at((0, 0, 0)), starts[0], **axis))
    model.connect(joint(tips[0], starts[1], **axis))
    model.connect(joint(tips[1], starts[2], **axis))
    model.connect(joint(tips[2], model.ground.at(turn @ ends[3]), **axis))
    return model


@pytest.mark.parametrize("coupler", [BAR, ROD], ids=["rigid", "flexible"])
def test_a_plane_linkage_in_space_moves_as_in_the_plane(coupler):
    """In any plane; forces in the plane are those of the plane model, the others vanish."""
    turn = Rotation.from_rotvec((0.4, -0.8, 0.3)).as_matrix()
    plane, space = four_bar(2, coupler), four_bar(3, coupler, turn)
    one, other = (model.simulate(0.5, 2e-3, progress=False) for model in (plane, space))
    for name in ("crank", "coupler", "follower"):
        there = other.position(space[name].origin if name != "coupler" or coupler is BAR else space[name].end)
        here = one.position(plane[name].origin if name != "coupler" or coupler is BAR else plane[name].end)
        assert np.abs(there @ turn - here).max() < 1e-8
    energy = other.energy
    assert np.abs(energy.balance_error).max() < 1e-12 * np.abs(energy.gravity).max()
    for a, b in zip(plane.joints, space.joints, strict=True):
        force = one.reaction(a)
        assert np.abs(other.reaction(b) @ turn - force).max() < 1e-4 * np.abs(force).max()
        # Mean multipliers of two steps, each without idle part at its own mean pose: O(h^2) is left of it.
        assert np.abs(other.reaction_moment(b)).max() < 1e-4 * np.abs(force).max()


def test_the_ledger_closes_where_redundant_joints_are_driven():
    """Taking idle multipliers away must leave the working ones as they are, or drives and moving frames book
    another work than they do."""
    model = ph.gallery.crank_slider(modes=2)
    moved = model.joints[0]
    model.connect(ph.Revolute(moved.first, moved.second))
    energy = model.simulate(0.02, 1e-4, progress=False).energy
    assert np.abs(energy.supplied).max() > 0.5 * energy.kinetic.max()
    assert np.abs(energy.balance_error).max() < 1e-12 * energy.kinetic.max()


def test_reported_multipliers_are_those_of_least_squares():
    """Against numpy's least squares for the same generalized forces; and they do not drift."""
    model = four_bar(3, turn=Rotation.from_rotvec((0.4, -0.8, 0.3)).as_matrix())
    motion = model.simulate(2.0, 2e-3, progress=False)
    recording, system = motion.recording, system_of(model)
    length = max(placed.data.size for placed in model.bodies)
    sizes = np.array([1.0 if owner.row.is_angle else length for owner in system.owners])
    assert set(sizes) == {1.0, length}
    for k in (0, 100, 999, 1000):
        pull = system.rows.matrix(system.at(recording.state(k))).toarray().T / sizes
        least = np.linalg.lstsq(pull, pull @ (recording.multipliers[k] * sizes), rcond=1e-9)[0]
        assert motion.multipliers[k] * sizes == pytest.approx(least, abs=1e-9 * np.abs(least).max())
        idle = np.abs(recording.multipliers[k] - motion.multipliers[k]).max()
        if k in (100, 999):  # the ends are recorded from accelerations, of independent joints alone
            assert idle < 0.1 * np.abs(least).max()


@pytest.mark.parametrize("at", ["unloaded", "static"])
@pytest.mark.filterwarnings("ignore:the linear model leaves out the initial rotation")
def test_modes_of_a_clamped_linkage_are_those_of_the_plane(at):
    """Both ends clamped: an elastic loop. Its modes in the plane are modes in space too."""
    found = []
    for dimension in (2, 3):
        model = four_bar(dimension, ROD)
        model.connect(ph.Fixed(model.ground.at((0, 0, 0)), model["crank"].origin))
        found.append(model.linearize(at=at).modes(6 if dimension == 3 else 2).frequencies)
    for frequency in found[0]:
        assert np.abs(found[1] / frequency - 1).min() < 1e-6


@pytest.mark.filterwarnings("ignore:the linear model leaves out the initial rotation")
def test_linear_models_of_redundant_joints_are_complete():
    model = four_bar(3, ROD)
    system = model.linearize(inputs=[model.joints[0]], at="unloaded").to_state_space()
    plane = four_bar(2, ROD)
    response = plane.linearize(inputs=[plane.joints[0]], at="unloaded").to_state_space()(2j)
    assert system(2j) == pytest.approx(response, rel=1e-6)


def test_drives_that_part_on_the_way_stop_the_run():
    """Two paths that agree for 0.05 s: the run keeps what is right and goes no further."""
    model = ph.Model(dimension=2)
    body = model.add(ph.RigidBody(1.0, 1.0))
    model.connect(ph.Revolute(model.ground.moving(lambda t: (np.sin(t), 0.0, 0.0)), body.origin))
    later = model.ground.moving(lambda t: (np.sin(t) + max(0.0, t - 0.0505) ** 2, 0.0, 0.0))
    model.connect(ph.Slider(later, body.origin, axis=(0, 1, 0)))
    with pytest.raises(ph.ConvergenceError) as error:
        model.simulate(0.1, 1e-3, progress=False)
    assert 0.05 <= error.value.time < 0.0515
    assert error.value.motion.position(body.origin)[-1, 0] == pytest.approx(np.sin(error.value.time), abs=2e-3)


def parallelogram(angle):
    bar = ph.RigidBody(1.0, 1 / 12, center=(0.5, 0, 0))
    model = ph.Model(dimension=2)
    spin = (0, 0, -1.0)
    left = model.add(bar, "left", rotation=angle, angular_velocity=spin)
    right = model.add(bar, "right", (1, 0, 0), angle, angular_velocity=spin)
    top = model.add(bar, "top", (np.cos(angle), np.sin(angle), 0))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), left.origin))
    model.connect(ph.Revolute(model.ground.at((1, 0, 0)), right.origin))
    model.connect(ph.Revolute(left.point((1, 0, 0)), top.origin))
    model.connect(ph.Revolute(top.point((1, 0, 0)), right.point((1, 0, 0))))
    return model


def test_a_step_that_ends_in_a_singular_position_is_carried_and_told():
    """Two steps before all bars lie in one line, at constant speed; independent joints at the start."""
    step = 0.05
    model = parallelogram(2 * 2 * np.arctan(step / 2))
    with pytest.warns(ph.RedundancyWarning, match=r"passed singular positions, the first one before t = 0.25 s"):
        motion = model.simulate(0.25, step, progress=False)
    assert motion.halvings[-1] == 0
    assert np.ptp(motion.energy.total) < 1e-13
    turn = motion.rotation(model["top"])
    assert np.abs(turn - turn[0]).max() < 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallelogram(1.0).simulate(0.8, step, progress=False)
