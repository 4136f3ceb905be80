"""Equal flexible bodies of one mechanism move in lanes as each does alone, with the same energies and forces."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.state.system import system_of
from phlexible.step.assembly import assembly, bodies
from phlexible.step.assembly.assembly import assemble
from phlexible.step.tables.memory import TEAM_LANES

PLASTIC = ph.Material(2.1e9, 1200.0, viscosity=1e-4)
NAMES = "position", "rotation", "eta", "velocity", "multipliers", "kinetic", "strain", "work", "dissipated"
SECTION = ph.RectangularSection(0.02, 0.01)


def hanging_chain():
    """Twelve links in the plane, the last five of another length: two teams with lanes that are left over."""
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    long, short = (ph.Beam(length, SECTION, PLASTIC, elements=2) for length in (0.4, 0.3))
    joint, x = model.ground.at((0.0, 0.0, 0.0)), 0.0
    for k in range(12):
        beam = long if k < 7 else short
        link = model.add(beam, position=(x, 0.0, 0.0))
        model.connect(ph.Revolute(joint, link.start))
        joint, x = link.end, x + beam.length
    model.apply(ph.Force(joint, lambda t: (3.0 * np.sin(30.0 * t), 1.0, 0.0)))
    return model


def spider():
    """Nine legs in space on a heavy hub, with springs between neighbours, dampers and a body of another kind."""
    model = ph.Model(gravity=(0.0, 0.0, -9.81), dimension=3)
    hub = model.add(ph.RigidBody(2.0, (0.02, 0.03, 0.04)))
    leg = ph.Beam(0.5, SECTION, PLASTIC, elements=2)
    ends = []
    for k in range(9):
        angle = 2.0 * np.pi * k / 9.0
        ahead = np.array([np.cos(angle), np.sin(angle), 0.0])
        placed = model.add(leg, position=0.1 * ahead, rotation=Rotation.from_rotvec((0.0, 0.0, angle)))
        model.connect(ph.Fixed(hub.point(0.1 * ahead), placed.start))
        ends.append(placed.end)
    for one, other in pairwise(ends):
        model.apply(ph.SpringDamper(one, other, stiffness=200.0, damping=0.5))
    ball = model.add(ph.RigidBody(0.1, (1e-4, 1e-4, 1e-4)), position=(0.6, 0.0, 0.0))
    model.connect(ph.Spherical(ends[0], ball.origin))
    model.connect(ph.Spherical(model.ground.at((0.0, 0.0, 0.0)), hub.origin))
    return model


def doubled_joints():
    """Links in the plane with every joint twice, which is relaxed by what the links put there; damped modes."""
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    beam = ph.Beam(0.3, SECTION, PLASTIC, elements=3, modes=4, damping_ratio=0.02)
    joint = model.ground.at((0.0, 0.0, 0.0))
    for k in range(9):
        link = model.add(beam, position=(0.3 * k, 0.0, 0.0))
        for _ in range(2):
            model.connect(ph.Revolute(joint, link.start))
        joint = link.end
    return model


def motions(build, monkeypatch, *run, **options):
    found = []
    for are_formed in (True, False):
        if not are_formed:
            monkeypatch.setattr(bodies, "FEWEST_TOGETHER", 1000)
            monkeypatch.setattr(assembly, "_known_plan", assembly.Plan)  # known plans have teams
        model = build()
        found.append(model.simulate(*run, progress=False, **options))
        assert (model._cache._assembly.memory.counts["teams"] > 0) is are_formed
    monkeypatch.undo()
    return found


def assert_same(one, other, error):
    for name in NAMES:
        a, b = getattr(one.run.recording, name), getattr(other.run.recording, name)
        np.testing.assert_allclose(a, b, rtol=0, atol=error * (np.abs(b).max() if b.size else 0.0), err_msg=name)


@pytest.mark.filterwarnings("ignore::phlexible.RedundancyWarning")
@pytest.mark.parametrize(
    ("build", "options"),
    [
        (hanging_chain, {}),
        (lambda: ph.gallery.chain(9, elements=1, youngs_modulus=1e7), {"order": 4}),
        (spider, {"numerical_damping": 0.05}),
        (doubled_joints, {}),
    ],
)
def test_bodies_in_teams_move_as_alone(build, options, monkeypatch):
    one, other = motions(build, monkeypatch, 1e-3, 1e-3, **options)
    assert_same(one, other, 1e-12)
    one, other = motions(build, monkeypatch, 0.04, 2e-3, **options)  # multipliers: round-off of places over h^2
    assert_same(one, other, 1e-9)
    np.testing.assert_allclose(one.iterations[-1], other.iterations[-1], rtol=0.1)


def test_digits_of_teams_do_not_change_from_run_to_run():
    """Nor where one run goes on as live steps do, a call of the compiled loop each."""
    first, again = (hanging_chain().simulate(0.01, 1e-3, progress=False).run.recording for _ in range(2))
    for name in NAMES:
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))


def teams_in(model):
    memory = assemble(system_of(model)).memory
    frames = memory["visit_node"][memory["team_visit"]].reshape(-1, TEAM_LANES)
    return [own[:count].tolist() for own, count in zip(frames, memory["team_count"], strict=True)]


def test_teams_are_of_equal_bodies_with_equal_neighbours():
    assert teams_in(ph.gallery.chain(3, elements=1)) == []
    (team,) = teams_in(ph.gallery.chain(10, elements=1))
    assert len(team) == TEAM_LANES
    assert sorted(map(len, teams_in(hanging_chain()))) == [4, 7]
    assert sorted(map(len, teams_in(spider()))) == [7]


def test_first_bodies_of_teams_follow_each_other():
    """The first body of a team stores the numbers of all: steps read few pages of memory."""
    first = [team[0] for team in teams_in(ph.gallery.chain(26, elements=1))]
    np.testing.assert_array_equal(np.sort(first), min(first) + np.arange(3))


def test_around_contacts_each_body_is_alone():
    model = hanging_chain()
    floor = ph.Plane(model.ground.at((0.0, -9.0, 0.0)), normal=(0.0, 1.0, 0.0))
    model.apply(ph.Contact(model.bodies[-1].end, floor, stiffness=1e5))
    assert teams_in(model) == []
