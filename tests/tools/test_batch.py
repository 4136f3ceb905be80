"""Batches: every number is that of the mechanism alone; what fails is recorded and the rest goes on."""

import gc
from threading import Barrier, current_thread, main_thread

import numpy as np
import pytest

import phlexible as ph
from mechanisms import grounded
from phlexible.results.files import run_output
from phlexible.step.compilation.number_kinds import lanes_of_processor
from phlexible.step.integration import lane_loop, stepper
from phlexible.tools import batch

SPEEDS = [100.0, 120.0, 150.0]


def crank(crank_speed, diameter=6e-3):
    return ph.gallery.crank_slider(crank_speed=crank_speed, diameter=diameter, modes=2)


def bend(model):
    return {
        "bend": ph.ElasticDisplacement(model["coupler"].at(0.15)),
        "slider": ph.Position(model["slider"].origin),
        "pull": ph.Reaction(model.joints[0]),
    }


def cart(push):
    model, body, _ = grounded(ph.RigidBody(2.0, 0.1), ph.Prismatic, axis=(1, 0, 0), dimension=2, name="cart")
    model.apply(ph.Force(body.origin, (push, 0.0, 0.0), name="push"))
    return model


def one():
    return ph.batch(cart, {"push": [0.0]})


def place(model):
    return {"x": ph.Position(model["cart"].origin), "v": ph.Velocity(model["cart"].origin, (1, 0, 0))}


@pytest.mark.parametrize("threads", [1, 3])
def test_each_mechanism_moves_as_alone_in_any_number_of_threads(threads):
    runs = ph.batch(crank, {"crank_speed": np.array(SPEEDS)}).simulate(5e-3, 1e-4, bend, every=5, threads=threads)
    assert runs["bend"].shape == (3, 11, 3) and runs["slider"].shape == (3, 11, 3) and not runs.failures
    for number, speed in enumerate(SPEEDS):
        model = crank(speed)
        alone = model.simulate(5e-3, 1e-4, every=5)
        np.testing.assert_array_equal(runs.time, alone.time)
        np.testing.assert_array_equal(runs["slider"][number], alone.position(alone["slider"].origin))
        np.testing.assert_array_equal(runs["pull"][number], alone[ph.Reaction(model.joints[0])])
        np.testing.assert_array_equal(runs["bend"][number], alone.elastic_displacement(alone["coupler"].at(0.15)))
        assert runs.balance_error[number] == alone.check().balance_error < 1e-12
    np.testing.assert_array_equal(runs.motion(2).position(alone["slider"].origin), runs["slider"][2])


def test_what_fails_is_recorded_and_read_up_to_there():
    def build(length, blows):
        if length < 0:
            raise ValueError("too short")
        model = ph.gallery.flexible_pole()
        jump = (lambda t: (1e50 if t > 3.5e-3 else 0.0, 0.0, 0.0)) if blows else (1.0, 0.0, 0.0)
        model.apply(ph.Force(model["pole"].end, jump, breakpoints=[3.5e-3] if blows else ()))
        return model

    def place(model):
        return {"x": ph.Position(model["pole"].end)}

    batch = ph.batch(build, [{"length": n, "blows": b} for n, b in ((-1.0, False), (1.0, True), (1.0, False))])
    runs = batch.simulate(1e-2, 1e-3, place, threads=2)
    assert list(runs.failures) == [0, 1] and "too short" in str(runs.failures[0])
    assert isinstance(runs.failures[1], ph.ConvergenceError) and len(runs.time) == 11
    is_read = np.isfinite(runs["x"][..., 0])
    assert is_read.sum(axis=1).tolist() == [0, 4, 11] and is_read[1, :4].all()
    assert np.isnan(runs.balance_error[0]) and runs.balance_error[2] < 1e-12
    with pytest.raises(ValueError, match="too short"):
        ph.batch(build, {"length": [-1.0, -2.0], "blows": [False, False]}).simulate(1e-2, 1e-3, place)


def test_a_mechanism_that_fails_in_its_first_step_has_no_accelerations():
    def build(fails):
        model = cart(1.0)
        model.apply(model.joints[0].motor(lambda t, y: 1.0 / (0.0 if fails else 1.0)))
        return model

    def accelerations(model):
        return {"a": ph.JointAcceleration(model.joints[0])}

    runs = ph.batch(build, {"fails": [True, False]}).simulate(1e-2, 1e-3, accelerations)
    assert list(runs.failures) == [0] and isinstance(runs.failures[0], ph.errors.FunctionError)
    assert np.isnan(runs["a"][0]).all() and runs["a"][1] == pytest.approx(np.ones(11))  # (1 + 1) N over 2 kg


def test_threads_step_at_the_same_time(monkeypatch):
    """The steps of each of two threads begin once those of the other have begun."""
    both, steps_of = Barrier(2), stepper.advance

    def met(header, sizes, request, *arguments):
        if current_thread() is not main_thread() and request[0]["steps"] > 1:
            both.wait(20.0)
        return steps_of(header, sizes, request, *arguments)

    monkeypatch.setattr(stepper, "advance", met)
    runs = ph.batch(cart, {"push": [0.0, 1.0, 2.0]}).simulate(0.1, 1e-2, place, threads=2)
    assert not both.broken and not runs.failures
    assert runs["x"][:, -1, 0] == pytest.approx([0.0, 2.5e-3, 5e-3])


@pytest.mark.thorough  # compiles springs for lanes alone, as tests/step/integration/test_lanes.py does
def test_springs_of_joints_step_in_lanes():
    def build(stiffness):
        model = cart(1.0)
        model.apply(model.joints[0].spring(stiffness))
        return model

    stiffness = np.array([10.0, 20.0])
    runs = ph.batch(build, {"stiffness": stiffness}).simulate(0.5, 1e-3, place, threads=1, lanes=True)
    assert runs.in_lanes.tolist() == [1.0, 1.0]
    angle = np.sqrt(stiffness / 2.0)[:, None] * runs.time
    np.testing.assert_allclose(runs["x"][..., 0], (1.0 - np.cos(angle)) / stiffness[:, None], atol=1e-6)


def test_groups_use_the_memory_of_lanes_one_after_the_other(monkeypatch):
    stored = []

    class Watched(lane_loop.LaneLoop):
        def _take(self, *given):
            super()._take(*given)
            stored.append(self._stored)

    monkeypatch.setattr(batch, "LaneLoop", Watched)
    gc.disable()  # nothing waits for it
    many = ph.batch(cart, {"push": np.arange(3.0 * lanes_of_processor())})
    try:
        many.simulate(0.1, 1e-2, place, threads=1, lanes=True)
    finally:
        gc.enable()
    assert len(stored) == 3 and all(each is stored[0] for each in stored)


def test_the_motion_before_a_failure_stays_when_other_groups_use_its_lanes(monkeypatch):
    monkeypatch.setattr(run_output, "SECONDS", np.inf)  # blocks are joined when they are read

    def build(push, breaks):
        model, end = cart(push), 0.035 if breaks else np.inf

        def more(t):
            if np.any(t > end):
                raise RuntimeError("broken table")
            return 0.0 * t, 0.0 * t, 0.0 * t

        model.apply(ph.Force(model["cart"].origin, more))
        return model

    pushes = np.arange(1.0, 3 * lanes_of_processor() + 1)
    batch = ph.batch(build, {"push": pushes, "breaks": 1.0 * (pushes == 1.0)})
    runs = batch.simulate(0.1, 1e-2, lambda model: {"x": ph.Position(model["cart"].origin)}, threads=1, lanes=True)
    moved = runs.failures[0].motion
    assert list(runs.failures) == [0] and len(moved.time) > 2
    assert moved.recording.position[:, 0, 0] == pytest.approx(0.25 * moved.time**2, rel=1e-12)
    assert moved.recording.velocity[:, 0] == pytest.approx(0.5 * moved.time, rel=1e-12)


def test_live_mechanisms_take_inputs_by_rows_and_go_back_by_a_mask():
    live = ph.batch(cart, {"push": [0.0, 1.0, 2.0]}).start(1e-2, threads=2)
    assert live.inputs["push"].tolist() == [[0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]]
    forces = np.array([[2.0, 0, 0], [4.0, 0, 0], [-2.0, 0, 0]])
    live.inputs["push"] = forces
    live.step(10)
    saved = live.save()
    np.testing.assert_allclose(live.read(place)["v"], 0.05 * forces[:, 0], atol=1e-14)
    live.inputs["push"] = (0.0, 0.0, 0.0)
    live.step(10)
    np.testing.assert_allclose(live.read(place)["x"][:, 0], (0.005 + 0.01) * forces[:, 0] / 2.0, rtol=1e-12)
    live.restore(saved, where=[False, True, False])
    assert live.time.tolist() == pytest.approx([0.2, 0.1, 0.2])
    assert live.inputs["push"][:, 0].tolist() == [0.0, 4.0, 0.0]
    live.step(10)
    assert live.read(place)["v"].tolist() == pytest.approx([0.1, 0.4, -0.1])


def test_a_live_mechanism_that_fails_stays_and_comes_back():
    live = ph.batch(lambda angle: ph.gallery.flexible_pole(angle=angle), {"angle": [0.1, 0.2]}).start(1e-2)
    start = live.save()
    live.inputs["push"] = [1e50, 1.0]
    live.step(3)
    assert list(live.failures) == [0] and live.time.tolist() == pytest.approx([0.0, 0.03])
    live.step()
    assert live.time.tolist() == pytest.approx([0.0, 0.04])
    live.restore(start)
    live.step()
    assert not live.failures and live.time.tolist() == pytest.approx([0.01, 0.01])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: ph.batch(crank, {"crank_speed": SPEEDS, "diameter": [5e-3]}),
            "3 of 'crank_speed', 1 of 'diameter'",
        ),
        (lambda: ph.batch(crank, {"crank_speed": 3.0}), "arrays of one length"),
        (lambda: ph.batch(crank, {"speed": SPEEDS}), "must take the parameters speed"),
        (lambda: one().simulate(1.0, 0.1, lambda model: [1]), "sensors by name"),
        (lambda: one().simulate(1.0, 0.1, place)["z"], "no sensor is named 'z'"),
        (lambda: one().simulate(1.0, 0.1, place, lanes=2), "lanes must be True"),
        (lambda: one().simulate(1.0, 0.1, place, specialize=2), "specialize must be True"),
        (lambda: one().simulate(1.0, 0.1, place, lanes=False, specialize=True), "leave out lanes=False"),
        (lambda: one().start(0.1, device="cuda", specialize=True), "leave out lanes=True and specialize=True"),
        (lambda: one().simulate(1.0, 0.1, place).motion(1), "below 1"),
        (lambda: one().start(0.1).restore(()), "what save"),
        (
            lambda: ph.batch(lambda k: cart(0) if k else ph.gallery.chain(1), {"k": [1, 0]}).start(0.1),
            "same inputs",
        ),
    ],
)
def test_mistakes_are_named(call, words):
    with pytest.raises(ph.ParameterError, match=words):
        call()


def test_a_mask_and_rows_of_another_shape_are_refused():
    live = ph.batch(cart, {"push": [0.0, 1.0]}).start(0.1)
    with pytest.raises(ph.ParameterError, match="2 truth values"):
        live.restore(live.save(), where=[1, 0])
    with pytest.raises(ph.ParameterError, match=r"shape \(2, 3\)"):
        live.inputs["push"] = [1.0, 2.0]


def test_lanes_whose_functions_cannot_be_had_are_an_error(monkeypatch):
    """At once: fewer steps would compile no better."""
    tried = []

    def refused(lanes, memory):
        tried.append(memory)
        raise RuntimeError("no compiler")

    monkeypatch.setattr(lane_loop, "connect_lanes", refused)
    batch = ph.batch(lambda length: ph.gallery.double_pendulum(length=length), {"length": [1.0, 1.1]})
    with pytest.raises(RuntimeError, match="no compiler"):
        batch.simulate(1.0, 1e-3, lambda model: {"end": ph.Position(model["lower"].origin)}, lanes=True)
    assert len(tried) == 1


@pytest.mark.parametrize("steps", [1, 2])
def test_no_joint_forces_are_computed_that_no_sensor_reads(monkeypatch, steps):
    def fail(*arguments, **options):
        raise AssertionError("nobody reads them")

    monkeypatch.setattr("phlexible.step.integration.simulation._reactions", fail)
    sliders = ph.batch(ph.gallery.crank_slider, {"diameter": [5e-3, 6e-3]})
    runs = sliders.simulate(
        steps * 1e-5, 1e-5, lambda model: {"tip": ph.Position(model["coupler"].end)}, progress=False
    )
    assert not runs.failures and runs["tip"].shape == (2, steps + 1, 3)
    assert (runs.balance_error < 1e-12).all()
