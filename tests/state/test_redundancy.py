"""Joints that hold the same motion twice are named in a warning; others pass, also in long chains."""

import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import phlexible as ph
from mechanisms import beam, crank_slider, four_bar
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.state import initial_pose, redundancy
from phlexible.state.initial_state import initial_state
from phlexible.state.initial_velocity import undeformed
from phlexible.state.layout import State
from phlexible.state.redundancy import (
    _can_go_two_ways,
    check_redundancy,
    dead_centre_text,
    independent_rows,
    redundancies,
)
from phlexible.state.system import system_of


def checked(model):
    system = system_of(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not check_redundancy(system, undeformed(system))


def warned(model):
    system = system_of(model)
    with pytest.warns(ph.RedundancyWarning) as caught:
        assert check_redundancy(system, undeformed(system))
    return str(caught[0].message)


def chain(links, body=None, dimension=2):
    model, body = Mechanism(dimension=dimension), body or beam(elements=1)
    end = model.ground.at((0, 0, 0))
    for number in range(links):
        link = model.add(body, position=(0.3 * number, 0, 0))
        model.connect(ph.Revolute(end, link.start))
        end = link.end
    return model, end


@pytest.mark.parametrize("model", [crank_slider(), four_bar(2), chain(5)[0], Mechanism()])
def test_independent_joints_pass(model):
    checked(model)


def test_a_planar_linkage_in_space_is_overconstrained():
    model = four_bar(3)
    text = warned(model)
    assert all(str(joint) in text for joint in model.joints)
    assert "3 times" in text


@pytest.mark.parametrize("seed", range(6))
def test_independent_rows_span_the_others(seed):
    """Against the rank of the dense matrix, for loops with joints given twice."""
    rng = np.random.default_rng(seed)
    model = four_bar(3)
    for joint in rng.choice(len(model.joints), 2):
        twin = model.joints[joint]
        model.connect(ph.Revolute(twin.first, twin.second))
    system = system_of(model)
    state = undeformed(system)
    G = system.rows.matrix(system.at(state)).toarray()
    matrix = G / np.linalg.norm(G, axis=1)[:, None]
    kept = independent_rows(system, state)
    ranks = [np.linalg.matrix_rank(part, tol=1e-9) for part in (matrix, matrix[kept])]
    assert ranks == [len(kept), len(kept)]
    for found in redundancies(system, state):
        weights = np.zeros(len(matrix))
        for row, value in found.combination.items():
            weights[row] = value
        total = weights @ G
        assert weights[found.row] and np.abs(total).max() < 1e-12 * np.abs(weights).max()


def test_joints_that_leave_more_freedom_repair_it():
    model = Mechanism()
    a, b, c = (
        model.add(ph.RigidBody(1.0, (1, 1, 1)), name, place)
        for name, place in zip("abc", [(0, 0, 0), (0, 1, 0), (2, 0, 0)], strict=True)
    )
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), a.origin))
    model.connect(ph.Spherical(a.point((0, 1, 0)), b.origin))
    model.connect(ph.Universal(b.point((2.0, 0.3, 0)), c.point((0, 1.3, 0)), (1, 0, 0), (0, 0, 1)))
    model.connect(ph.Revolute(model.ground.at((2, 0, 0)), c.origin))
    checked(model)


def test_only_the_joints_in_the_combination_are_named():
    model, end = chain(6)
    model.connect(ph.Fixed(end, model.ground.at((1.8, 0, 0))))
    checked(model)  # elastic links: statically indeterminate, not redundant
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), model["beam 6"].end, axis=(1, 0, 0)))
    text = warned(model)
    assert "Fixed(beam 6.end, ground.at(1.8, 0, 0)), Slider(ground.at(0, 0, 0), beam 6.end);" in text
    assert "Revolute(" not in text.split(";")[0]


def test_a_nearly_dependent_joint_passes():
    model = Mechanism(dimension=2)
    body = model.add(ph.RigidBody(1.0, 1.0))
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), body.origin, axis=(1, 0, 0)))
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), body.origin, axis=(1, 1e-7, 0)))
    checked(model)
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), body.origin, axis=(1, 2e-7, 0)))
    warned(model)


def two_cranks(path):
    """A slider between a fixed guide and a moving one along it, both pushed by the same axis."""
    model = Mechanism(dimension=2)
    body = model.add(ph.RigidBody(1.0, 1.0))
    model.connect(ph.Revolute(model.ground.moving(lambda t: (np.sin(t), 0.0, 0.0)), body.origin))
    model.connect(ph.Slider(model.ground.moving(path), body.origin, axis=(0, 1, 0)))
    return model


def test_drives_that_agree_pass_and_drives_that_part_are_refused():
    warned(two_cranks(lambda t: (np.sin(t), 0.0, 0.0)))
    system = system_of(two_cranks(lambda t: (np.sin(t) + t**2, 0.0, 0.0)))
    with pytest.raises(ph.RedundancyError, match=r"no motion goes on from t = 0 s.*different accelerations"):
        check_redundancy(system, initial_state(system))


def test_a_velocity_that_no_motion_has_is_refused():
    """Two bars in one line between fixed pins: their knee may move at first order only."""
    model = Mechanism(dimension=2)
    bar = ph.RigidBody(1.0, 1.0)
    left = model.add(bar, "left", angular_velocity=(0, 0, 1.0))
    right = model.add(bar, "right", (1.0, 0, 0))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), left.origin))
    model.connect(ph.Revolute(left.point((1.0, 0, 0)), right.origin))
    model.connect(ph.Revolute(right.point((1.0, 0, 0)), model.ground.at((2.0, 0, 0))))
    system = system_of(model)
    with pytest.raises(ph.RedundancyError, match="no motion goes on"):
        check_redundancy(system, initial_state(system))


def test_the_work_grows_with_the_length_of_a_chain(monkeypatch):
    """Fronts stay as small as two joints, and joints are looked at a few times each."""
    shapes, looks = [], []
    triangle, width = redundancy._triangle, redundancy._joint_count
    monkeypatch.setattr(redundancy, "_triangle", lambda b, n: shapes.append(b.shape) or triangle(b, n))
    monkeypatch.setattr(redundancy, "_joint_count", lambda fronts: looks.append(1) or width(fronts))
    checked(chain(200)[0])
    assert not shapes, "one sparse factorization says that they are independent"
    monkeypatch.setattr(redundancy, "_are_independent", lambda fronts, count: False)
    checked(chain(200)[0])
    assert len(shapes) == 200 and len(looks) < 4 * 200
    assert max(max(shape) for shape in shapes) <= 20


def test_a_drive_that_pushes_beyond_a_dead_centre_is_named():
    """A crank-slider, driven at its slider until crank and rod are one line."""
    model, angle = ph.Model(dimension=2), 0.6
    pin = np.array([np.cos(angle), np.sin(angle), 0.0])
    lean = -np.arcsin(np.sin(angle) / 2)
    crank = model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.1), center=(0.5, 0, 0)), "crank", rotation=angle)
    rod = model.add(ph.RigidBody(1.0, (0.1, 0.3, 0.3), center=(1.0, 0, 0)), "rod", pin, lean)
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), crank.origin))
    model.connect(ph.Revolute(crank.point((1, 0, 0)), rod.origin))
    end = pin[0] + 2 * np.cos(lean)
    slider = model.connect(ph.Slider(model.ground.at((end, 0, 0)), rod.point((2, 0, 0)), axis=(1, 0, 0)))
    model.apply(slider.drive(position=lambda t: t))
    words = r"close to a dead centre, where .*drive of position in Slider.*takes it on"
    with pytest.raises(ph.ConvergenceError, match=words):
        model.simulate(1.0, 1e-2, progress=False)


def flat_parallelogram(rate):
    """All pins on one line; crank and follower turn with the same rate."""
    model, bar = ph.Model((0, -9.81, 0), 2), (1.0, (0.1, 0.1, 0.1), (0.5, 0, 0))
    spin = (0, 0, rate)
    crank = model.add(ph.RigidBody(*bar), "crank", angular_velocity=spin)
    follower = model.add(ph.RigidBody(*bar), "follower", (2, 0, 0), angular_velocity=spin)
    coupler = model.add(ph.RigidBody(1.0, (0.1, 0.3, 0.3), (1.0, 0, 0)), "coupler", (1, 0, 0))
    hinges = (
        (model.ground.at((0, 0, 0)), crank.origin),
        (model.ground.at((2, 0, 0)), follower.origin),
        (crank.point((1, 0, 0)), coupler.origin),
        (coupler.point((2, 0, 0)), follower.point((1, 0, 0))),
    )
    for hinge in hinges:
        model.connect(ph.Revolute(*hinge))
    return model


def test_a_parallelogram_in_one_line_is_told_to_be_at_a_bifurcation():
    """A run from rest that ends there says so, if round-off ends it; in motion it passes, and comes back."""
    system = system_of(flat_parallelogram(0.0))
    words = dead_centre_text(system, undeformed(system), np.ones(9))
    assert re.search(r"at a bifurcation .* go on in two ways .* start it off this pose", words)
    with pytest.warns(ph.RedundancyWarning):
        motion = flat_parallelogram(1.0).simulate(0.5, 1e-3, progress=False)
    assert motion.angle(motion.mechanism.joints[0])[-1] < -0.5
    assert np.abs(motion.angular_velocity(motion["coupler"])).max() < 1e-5


@pytest.mark.parametrize(("mixed", "two_ways"), [(1.2, True), (0.9, False)])
def test_mixed_curvatures_tell_whether_a_form_has_both_signs(mixed, two_ways):
    """Of ((1, mixed), (mixed, 1)), whose curvatures are 1 - mixed and 1 + mixed, beside what a frame moves."""
    form, given = np.array([[1.0, mixed], [mixed, 1.0]]), np.array([3.0, -2.0])
    rows = SimpleNamespace(
        accelerations=lambda at: np.array([[at.velocity @ form @ at.velocity + given @ at.velocity + 5.0]])
    )
    state = State(0.0, np.zeros((0, 3)), np.zeros((0, 3, 3)), np.zeros(0), np.zeros(2))
    system = SimpleNamespace(rows=rows, at=lambda state: state)
    assert _can_go_two_ways(system, state, np.ones(1), np.eye(2)) == two_ways


def test_each_pose_of_an_equilibrium_is_judged_once_and_not_closed_again(monkeypatch):
    """The typed pose, whose joints are open by round-off alone, and the equilibrium: what else asks is answered."""
    judge, states = redundancy._redundancies, []
    monkeypatch.setattr(redundancy, "_redundancies", lambda *given: states.append(given[1]) or judge(*given))
    monkeypatch.setattr(initial_pose, "_close_joints", lambda problem: pytest.fail("round-off is no gap"))
    model = ph.gallery.chain(10)
    model.linearize([model.bodies[-1].end], at="static")
    assert len(states) == 2
