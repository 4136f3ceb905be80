"""Models and motions go to other processes and come back as what they were."""

import copy
import pickle
import threading

import numpy as np
import pytest

import phlexible as ph
from phlexible.gallery.table import ENTRIES

LONG_TO_BUILD = ("solid-crank-slider", "twisted-ring", "dropped-bracket", "windlass", "flying-spaghetti", "roll-up")
"""Models of bodies that others have too."""


def turned(t):
    return 0.3 * t


def digits(model):
    record = model.simulate(2e-3, 1e-3, progress=False).run.recording
    return np.concatenate([record.velocity.ravel(), record.multipliers.ravel()])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "entry",
    [pytest.param(e, id=e.name, marks=pytest.mark.thorough if e.name in LONG_TO_BUILD else ()) for e in ENTRIES],
)
def test_models_of_the_gallery(entry):
    model = entry.function()
    assert np.array_equal(digits(pickle.loads(pickle.dumps(model))), digits(model))


def drive_of(function, force):
    model = ph.Model(dimension=2)
    rod = model.add(ph.RigidBody(1.0, 0.1 * np.eye(3)), "rod", (0.5, 0.0, 0.0))
    pin = model.connect(ph.Revolute(model.ground.at((0.0, 0.0, 0.0)), rod.point((-0.5, 0.0, 0.0))))
    model.apply(pin.drive(angle=function))
    model.apply(ph.Force(rod.origin, force))
    return model


def test_joints_of_a_model_from_a_pickle_can_be_used():
    model = pickle.loads(pickle.dumps(ph.gallery.double_pendulum()))
    model.apply(model.joints[0].spring(10.0))
    with pytest.raises(ph.ModelError, match="is already connected"):
        model.connect(model.joints[1])


def test_drives_and_forces_of_functions_with_and_without_names():
    for function in (turned, lambda t: 0.3 * t):
        model = drive_of(function, lambda t: (t, 0 * t, 0 * t))
        assert np.array_equal(digits(pickle.loads(pickle.dumps(model))), digits(model))


def test_a_function_that_holds_a_lock_is_named():
    lock = threading.Lock()
    model = drive_of(lambda t: 0.3 * t if lock else t, (0.0, 0.0, 0.0))
    with pytest.raises(
        ph.ModelError, match=r"function of TimePath .*cannot be sent.*only contain numbers and arrays"
    ):
        pickle.dumps(model)


def swinging():
    return ph.gallery.double_pendulum()


def angles(model):
    return {"angle": ph.JointPosition(model.joints[0])}


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda given: pickle.loads(pickle.dumps(given))])
def test_live_runs_and_batches_have_memory_of_their_own(copied):
    run, batch = swinging().start(1e-2), ph.batch(swinging, [{}, {}]).start(1e-2, lanes=False)
    for each in (run, batch):
        each.step(10)
        other = copied(each)
        other.step(10)
        assert np.all(each.time == pytest.approx(0.1))
        each.step(10)
    sensor = angles(swinging())["angle"]
    assert run.read(sensor) == batch.read(angles)["angle"][1] == other.read(angles)["angle"][0]
    angle, other = (each.motion.angle(each.motion.mechanism.joints[0]) for each in (run, copied(run)))
    assert np.array_equal(angle, other)


def test_tables_of_steps_are_not_copied_with_their_addresses():
    with pytest.raises(ph.ModelError, match="hold addresses; pickle or copy the model, its motion or its live run"):
        pickle.dumps(swinging().start(1e-2).stepper.memory)


def test_a_motion_answers_as_before():
    model = ph.gallery.four_bar(elements=2, crank_speed=2.0)
    motion = model.simulate(2e-3, 1e-3, progress=False)
    motion.position(model["coupler"].end)
    there = pickle.loads(pickle.dumps(motion))
    assert np.array_equal(there.position(there["coupler"].end), motion.position(model["coupler"].end))
    assert np.array_equal(there.reaction(there.mechanism.joints[1]), motion.reaction(model.joints[1]))
    assert there.energy.work.keys() == motion.energy.work.keys()
    again, _ = pickle.loads(pickle.dumps((motion, model["coupler"])))
    assert again.mechanism.simulate(1e-3, 1e-3, progress=False).is_complete


def test_an_equilibrium_from_a_pickle_is_at_rest():
    rest = pickle.loads(pickle.dumps(ph.gallery.double_pendulum().equilibrium()))
    assert not rest[ph.JointAcceleration(rest.motion.mechanism.joints[0])].any()
