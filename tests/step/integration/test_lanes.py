"""Mechanisms of one structure in lanes move as each does alone, whatever the others do."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.gym import VectorEnv
from phlexible.model import simulation
from phlexible.step.compilation.compiled import entry_point
from phlexible.step.compilation.dense import factor, invert, solve_vector
from phlexible.step.compilation.notation import all_of, rows_at, tables_at
from phlexible.step.compilation.number_kinds import lanes_of_processor
from phlexible.step.integration import lane_loop
from phlexible.step.integration.schemes import StepOptions
from phlexible.step.tables.memory import LaneMemory, Memory

pytestmark = pytest.mark.thorough  # minutes to compile
WIDTH = 4


def together(models, *run, **options):
    """Motions, or what was raised, of models whose steps are taken in lanes; shares of these steps."""
    runs = [simulation(model, *run, "undeformed", StepOptions(**options)) for model in models]
    results, shares = lane_loop.run_in_lanes(runs, lane_loop.LaneLoop(WIDTH))
    for result in results:
        if isinstance(result, Exception) and not isinstance(result, ph.ConvergenceError):
            raise result
    return results, shares


NUMBERS = ("position", "rotation", "eta", "velocity", "forces", "kinetic", "work", "dissipated")
LENGTHS = ("position", "eta")
ENERGIES = ("kinetic", "strain", "gravity", "spring", "work", "dissipated")
ROUND_OFF = 4e-15  # of some 40 steps: in energies relative to all, in eta relative to places, of which it is a part


def size(recording, names):
    return max((np.abs(getattr(recording, name)).max(initial=0.0) for name in names), default=0.0)


def assert_same(one, other, error, names=NUMBERS):
    """Of numbers of two motions, relative to the greatest of each kind."""
    recording = one.run.recording
    for name in names:
        kinds = next((kinds for kinds in (LENGTHS, ENERGIES) if name in kinds), (name,))
        most = error * size(recording, [name]) + min(error, ROUND_OFF) * size(recording, kinds)
        a, b = getattr(recording, name), getattr(other.run.recording, name)
        np.testing.assert_allclose(b, a, rtol=0, atol=most, err_msg=name)


def let_go(k):
    """A rod on a hinge that carries another one, and lets it go at a time of its own."""
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    rod = ph.RigidBody(1.0, inertia=0.1, center=(0.5, 0.0, 0.0))
    upper, lower = model.add(rod, "upper"), model.add(rod, "lower", position=(1.0, 0.0, 0.0))
    model.connect(ph.Revolute(model.ground.at((0.0, 0.0, 0.0)), upper.origin))
    model.at(0.005 * k + 0.0055, release=model.connect(ph.Fixed(upper.point((1.0, 0.0, 0.0)), lower.origin)))
    return model


MODELS = {
    "plane": (lambda k: ph.gallery.double_pendulum(length=1.0 + 0.1 * k), 1e-3),
    "space": (lambda k: ph.gallery.heavy_top(precession=3.0 + k), 1e-3),
    "modes and a drive": (lambda k: ph.gallery.crank_slider(modes=2, crank_speed=150.0 + 10 * k), 1e-4),
    "elements": (lambda k: ph.gallery.chain(2, dimension=3, elements=2, link_length=0.2 + 0.02 * k), 1e-3),
    "segments": (lambda k: ph.gallery.rotating_cantilever(speed=6.0 + k), 1e-2),
    "redundant joints": (lambda k: ph.gallery.bricard(length=1.0 + 0.1 * k), 1e-2),
    "relations": (lambda k: ph.gallery.gear_train(torque=0.1 + 0.01 * k), 1e-3),
    "events": (let_go, 1e-3),
    "strings": (lambda k: ph.gallery.string_pendulum(), 1e-3),
    "loads": (lambda k: ph.gallery.crane(), 1e-2),
    "rods": (lambda k: ph.gallery.roll_up(turns=1.0 + 0.1 * k, elements=3), 1e-3),
}

SLOW = {"segments", "relations", "strings", "loads", "rods"}  # each has a program of its own to compile


@pytest.mark.filterwarnings("ignore::phlexible.RedundancyWarning", "ignore::phlexible.SlackStringWarning")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.thorough if name in SLOW else ()) for name in MODELS]
)
def test_in_lanes_as_alone(name):
    build, step = MODELS[name]
    motions, shares = together([build(k) for k in range(3)], 30 * step, step)
    assert (shares > 0.0).all() if name == "events" else (shares == 1.0).all()
    for k, motion in enumerate(motions):
        alone = build(k).simulate(30 * step, step, progress=False)
        assert_same(alone, motion, 1e-9)
        assert_same(alone, motion, 1e-6 if name == "redundant joints" else 1e-9, ["multipliers"])
        assert motion.check().balance_error < 1e-11


def test_mechanisms_meet_again_where_few_steps_are_stored():
    """Each is alone in the step in which it lets go; they wait until they store the same ones."""
    motions, shares = together([let_go(k) for k in range(4)], 0.1, 1e-3, every=4)
    assert (shares > 0.9).all() and (shares < 1.0).all()
    for k, motion in enumerate(motions):
        assert_same(let_go(k).simulate(0.1, 1e-3, every=4, progress=False), motion, 1e-9)


def beams(forces):
    """Slender free beams, hit by forces of which some would bend them double in one step."""
    models = []
    for force in forces:
        model = ph.Model(dimension=2)
        steel = ph.Material(youngs_modulus=2e11, density=7870.0)
        body = model.add(ph.Beam(1.0, ph.CircularSection(2e-3), steel, elements=4), "beam")
        model.apply(ph.Force(body.end, (0.0, force, 0.0), name="blow"))
        models.append(model)
    return models


@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning", "ignore::phlexible.LargeStrainWarning")
@pytest.mark.filterwarnings("ignore::phlexible.StepWarning")
def test_a_lane_that_halves_its_steps_goes_alone_and_changes_no_digit_of_the_others():
    quiet, shares = together(beams([0.1, 0.2, 0.3, 0.2]), 0.2, 0.02)
    assert (shares == 1.0).all()
    mixed, shares = together(beams([0.1, 300.0, 0.3, 0.2]), 0.2, 0.02)
    assert mixed[1].halvings[-1] > 0 and shares[1] < 1.0 and (shares[[0, 2, 3]] > 0.5).all()
    for k in (0, 2, 3):
        assert_same(quiet[k], mixed[k], 0.0, (*NUMBERS, "multipliers"))
    assert_same(beams([300.0])[0].simulate(0.2, 0.02, progress=False), mixed[1], 1e-9)


def test_a_lane_that_fails_leaves_the_others_and_order_changes_no_digit():
    def models(speeds, blow):
        made = [ph.gallery.flexible_pole(angle=angle) for angle in speeds]
        for k, model in enumerate(made):
            jump = (lambda t: (1e50 if t > 3.5e-3 else 0.0, 0.0, 0.0)) if k == blow else (lambda t: (0.0, 0.0, 0.0))
            model.apply(ph.Force(model["pole"].end, jump))
        return made

    whole, _ = together(models([0.1, 0.2, 0.3, 0.4], None), 2e-2, 1e-3)
    broken, _ = together(models([0.4, 0.3, 0.2, 0.1], 2), 2e-2, 1e-3)
    assert isinstance(broken[2], ph.ConvergenceError) and len(broken[2].motion.time) == 5
    for k in (0, 1, 3):
        assert_same(whole[3 - k], broken[k], 0.0, (*NUMBERS, "multipliers"))


def test_numbers_do_not_depend_on_threads():
    batch = ph.batch(
        lambda length: ph.gallery.double_pendulum(length=length), {"length": 1.0 + 0.05 * np.arange(9.0)}
    )

    def ends(model):
        return {"end": ph.Position(model["lower"].origin)}

    one, two = (batch.simulate(0.05, 1e-3, ends, every=3, lanes=True, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one["end"], two["end"])
    assert one.in_lanes.tolist()[:8] == [1.0] * 8
    alone = batch.simulate(0.05, 1e-3, ends, every=3, lanes=False)
    np.testing.assert_allclose(one["end"], alone["end"], rtol=0, atol=1e-9)
    assert (alone.in_lanes == 0.0).all()


@entry_point
def _solved(header, matrices, inverses, right, n):
    t = tables_at(header)
    a, b, inverse = rows_at(t, matrices), rows_at(t, right), rows_at(t, inverses)
    is_regular = factor(a, n, n, t.pivots)
    solve_vector(a, n, n, t.pivots, b)
    if n <= 6:
        is_regular = is_regular & invert(inverse, n, n, t.pivots)
    return all_of(is_regular)


@pytest.mark.parametrize("n", [3, 6, 11])
def test_each_lane_has_pivots_of_its_own(n):
    model = ph.gallery.double_pendulum()
    model.simulate(1e-3, 1e-3, progress=False)
    lanes = LaneMemory(model._cache._assembly.memory, WIDTH)
    A = np.random.default_rng(n).normal(size=(WIDTH, n, n))
    b = np.random.default_rng(n + 1).normal(size=(WIDTH, n))
    matrices, right = A.reshape(WIDTH, -1).T.copy(), b.T.copy()
    inverses = matrices.copy()
    assert _solved(lanes.header, matrices, inverses, right, n)
    np.testing.assert_allclose(right.T, np.linalg.solve(A, b[..., None])[..., 0], rtol=1e-12)
    if n <= 6:
        np.testing.assert_allclose(inverses.T.reshape(A.shape), np.linalg.inv(A), rtol=1e-11, atol=1e-12)
    matrices[:, 1] = 0.0
    assert not _solved(lanes.header, matrices, A.reshape(WIDTH, -1).T.copy(), b.T.copy(), n)


@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning", "ignore::phlexible.LargeStrainWarning")
@pytest.mark.filterwarnings("ignore::phlexible.StepWarning")
def test_lanes_that_want_new_factors_leave_those_of_the_others(monkeypatch):
    """Crank-sliders that need very different numbers of iterations: each as in lanes with copies of itself."""

    def model(speed, diameter):
        return ph.gallery.crank_slider(modes=2, crank_speed=speed, diameter=diameter)

    monkeypatch.setattr(Memory, "type_digest", property(id))  # lanes that share numbers have other round-off
    unlike = [(150.0, 6e-3), (250.0, 3e-3), (60.0, 1.5e-3), (400.0, 9e-3)]
    mixed, _ = together([model(*each) for each in unlike], 8e-3, 2e-4)
    for each, motion in zip(unlike, mixed, strict=True):
        among_equals, _ = together([model(*each) for _ in range(2)], 8e-3, 2e-4)
        assert_same(among_equals[0], motion, 0.0, (*NUMBERS, "multipliers"))
        assert among_equals[0].iterations[-1] == motion.iterations[-1]


def test_lanes_that_share_the_numbers_of_equal_bodies_move_as_those_that_do_not(monkeypatch):
    made = []
    monkeypatch.setattr(lane_loop, "LaneMemory", lambda *given: made.append(LaneMemory(*given)) or made[-1])

    def moved():
        models = [ph.gallery.crank_slider(modes=2, crank_speed=speed) for speed in (150.0, 250.0, 60.0)]
        return together(models, 8e-3, 2e-4)[0]

    shared = moved()
    monkeypatch.setattr(Memory, "type_digest", property(id))
    assert all(len(motion.time) == 41 for motion in shared)
    for one, other in zip(shared, moved(), strict=True):
        assert_same(one, other, 1e-12)
    assert [lanes.have_types for lanes in made] == [True, False]


def observe(model):
    rail, hinge = model.joints[:2]
    return [ph.JointPosition(rail), ph.JointRate(rail), ph.JointPosition(hinge), ph.Position(model["tip"].origin)]


@pytest.mark.parametrize("is_random", [False, True])
def test_environments_in_lanes_are_those_that_go_one_by_one(is_random):
    """Episodes end and begin anew in some lanes; runs that are asked for are where the arrays are."""

    def build(random):
        return ph.gallery.flexible_pole(angle=random.uniform(-0.05, 0.05))

    def rows(lanes, threads=1, shows_runs=False):
        env = VectorEnv(
            build if is_random else ph.gallery.flexible_pole(),
            11,
            step=1e-3,
            interval=5e-3,
            actions={"push": (-20.0, 20.0)},
            observe=observe,
            reward=lambda seen, push: push[:, 0],
            is_over=lambda seen: abs(seen[:, 0]) > 0.002,
            duration=0.03,
            lanes=lanes,
            threads=threads,
        )
        found, actions = [env.reset(seed=2)[0]], np.random.default_rng(0)
        for k in range(12):
            pushes = actions.uniform(-1.0, 1.0, (11, 1))
            *seen, info = env.step(pushes)
            found.append(np.column_stack([*seen, info["time"]]))
            if shows_runs and k > 4:
                assert [run.time for run in env.runs] == info["time"].tolist()
                goes_on = info["time"] > 0.0
                given = np.array([run.inputs["push"][0] for run in env.runs])
                np.testing.assert_allclose(given, np.where(goes_on, 20.0 * pushes[:, 0], 0.0), rtol=1e-12)
        return found

    alone, together, shown = rows(False), rows(True), rows(True, threads=2, shows_runs=True)
    assert sum(row[:, -3:-1].any(axis=1).sum() for row in alone[1:]) > 11
    for one, other, third in zip(alone, together, shown, strict=True):
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(third, other)


def test_live_mechanisms_in_lanes_fail_alone_and_go_back():
    """Numbers of a batch that is held in lanes are those of one that is not, through a failure and a restart."""

    def numbers(lanes):
        poles = ph.batch(lambda angle: ph.gallery.flexible_pole(angle=angle), {"angle": 0.02 * np.arange(1, 6)})
        live, found = poles.start(1e-3, lanes=lanes), []

        def read():
            found.append(live.read(sensors)["all"])

        live.inputs["push"] = np.arange(5.0)
        live.step(7)
        read()
        saved = live.save()
        live.inputs["push"] = [1.0, 1e60, 2.0, 3.0, 4.0]
        live.step(3)
        read()
        assert list(live.failures) == [1] and live.time.tolist() == pytest.approx([0.01, 0.007, 0.01, 0.01, 0.01])
        live.step(2)
        read()
        live.restore(saved, where=np.array([False, True, True, False, False]))
        for _ in range(3):
            live.step(2)
            read()
        assert not live.failures and live.inputs["push"].tolist() == [1.0, 1.0, 2.0, 3.0, 4.0]
        return np.array(found)

    def sensors(model):
        return {"all": ph.Velocity(model["tip"].origin)}

    np.testing.assert_allclose(numbers(True), numbers(False), rtol=0, atol=1e-9)


def test_a_program_for_one_structure_alone_has_the_digits_of_all():
    """Of a pendulum with a spring and a load, in runs and stepped by hand."""

    def pendulum(length, force=lambda t: (np.sin(9 * t), 0 * t, 0 * t)):
        model = ph.gallery.double_pendulum(length=length)
        model.apply(model.joints[0].spring(2.0))
        model.apply(ph.Force(model.bodies[1].origin, force, name="push"))
        return model

    count = lanes_of_processor() + 2  # lanes that are full, and some that are not: one mechanism would go alone
    batch = ph.batch(pendulum, {"length": np.linspace(0.9, 1.1, count)})
    found = [
        batch.simulate(0.1, 1e-3, lambda model: {"turn": ph.JointPosition(model.joints[1])}, **options)
        for options in ({"lanes": False}, {"lanes": True}, {"specialize": True})
    ]
    assert found[2].in_lanes.tolist() == [1.0] * count
    for each in found[1:]:
        np.testing.assert_allclose(each["turn"], found[0]["turn"], rtol=0, atol=1e-12)
    model = pendulum(0.9)
    alone = model.simulate(0.1, 1e-3, specialize=True, progress=False)
    np.testing.assert_allclose(alone[ph.JointPosition(model.joints[1])], found[0]["turn"][0], rtol=0, atol=1e-12)
    lengths, zero = [0.9, 1.0, 1.1], (0.0, 0.0, 0.0)
    live = ph.batch(lambda length: pendulum(length, zero), {"length": lengths}).start(1e-3, specialize=True)
    live.inputs["push"] = pushes = [(3.0, 0.0, 0.0), (0.0, 0.0, 0.0), (-3.0, 0.0, 0.0)]
    live.step(50)
    assert live._rows._held[0].lanes._lanes.is_specialized
    turns = live.read(lambda model: {"turn": ph.JointPosition(model.joints[1])})["turn"]
    for length, push, turn in zip(lengths, pushes, turns, strict=True):
        model = pendulum(length, push)
        single = model.start(1e-3)
        single.step(50)
        assert turn == pytest.approx(single.read(ph.JointPosition(model.joints[1])), abs=1e-12)
