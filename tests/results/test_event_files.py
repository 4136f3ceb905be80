"""Files of runs with events: whatever ``save`` takes can be loaded, saved again, resumed and copied."""

from collections.abc import Callable
from pathlib import Path

import pytest

import phlexible as ph
from faults.kills import differences

STEP, HALF, END = 1e-3, 0.015, 0.03


def machine() -> ph.Model:
    """A wheel on a pin, a second one on it, a carriage, a rod on a ball joint: each with what can be held."""
    model = ph.Model(gravity=(0, 0, -9.81))
    wheel, rider, carriage, swinging = (
        model.add(ph.RigidBody(1.0, (0.1, 0.2, 0.3)), name, position, None, speed, spin)
        for name, position, speed, spin in (
            ("wheel", (0, 0, 0), None, (0, 0, 3.0)),
            ("rider", (0, 0, 0), None, (0, 0, 5.0)),
            ("carriage", (1, 0, 0), (1.0, 0.5, 0), None),
            ("swinging", (2, 0, 0), (0, 0, 0.3), (0, 0, 2.0)),
        )
    )
    ground = model.ground
    pin = model.connect(ph.Revolute(ground.at((0, 0, 0)), wheel.origin, name="pin"))
    model.connect(ph.Revolute(wheel.origin, rider.origin))
    model.connect(ph.Planar(ground.at((1, 0, 0)), carriage.origin, name="table"))
    model.connect(ph.Cylindrical(ground.at((2, 0, 0)), swinging.origin, axis=(0, 0, 1)))
    model.apply(pin.spring(20.0, name="spring"))
    return model


def lock_at_a_time_and_at_an_angle(model: ph.Model, joint: ph.Revolute) -> None:
    lock = model.at(ph.When(ph.JointPosition(joint), above=0.01), lock=joint)
    model.at(0.012, release=lock)
    model.at(0.02, lock=joint)


def clutch(model: ph.Model, joint: ph.Revolute) -> None:
    one = ph.Gear(model.joints[0], model.joints[1], 2.0)
    two = ph.Gear(model.joints[0], model.joints[1], 3.0, name="clutch")
    for begin, each in ((0.004, one), (0.011, two), (0.022, one)):
        model.at(begin, lock=each)
        model.at(begin + 0.004, release=each)


def release_of_all_kinds(model: ph.Model, joint: ph.Revolute) -> None:
    drive = model.apply(joint.drive(angle=lambda t: 3.0 * t))
    gear = model.connect(ph.Gear(model.joints[0], model.joints[1], 1.5))
    model.at(0.005, release=gear)
    model.at(0.0103, release=drive)
    model.at(0.012, lock=joint)
    model.at(0.02, release=model.joints[-1])


def names_that_are_taken(model: ph.Model, joint: ph.Revolute) -> None:
    """By a relation of the user."""
    gear = model.connect(ph.Gear(model.joints[0], model.joints[1], 1.5, name=f"lock of angle in {joint}"))
    model.at(0.004, release=gear)
    lock = model.at(0.005, lock=joint)
    model.at(0.01, release=lock)
    model.at(0.02, lock=model.joints[3])


def a_user_function(model: ph.Model, joint: ph.Revolute) -> None:
    of = [ph.JointPosition(joint), ph.Position(model.bodies[2].origin)]
    model.at(ph.When(lambda t, angle, x: angle + x[1] * t, above=0.03, of=of), lock=joint)
    model.at(ph.When(ph.ElementForce(model.part("spring")), below=-0.3), release=model.joints[2])


EVENTS: dict[str, Callable[[ph.Model, ph.Revolute], None]] = {
    "time and angle": lock_at_a_time_and_at_an_angle,
    "clutch": clutch,
    "release": release_of_all_kinds,
    "taken names": names_that_are_taken,
    "function": a_user_function,
}


def made(events: str) -> ph.Model:
    model = machine()
    EVENTS[events](model, model.joints[0])
    return model


@pytest.mark.filterwarnings("ignore::phlexible.errors.RedundancyWarning")  # what is locked twice is
@pytest.mark.parametrize("events", EVENTS)
def test_a_run_with_events_is_loaded_resumed_and_copied(events: str, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    whole = made(events).simulate(END, STEP)
    assert len(whole.events) == len(whole.mechanism.events)
    made(events).simulate(HALF, STEP).save(path)
    ph.Motion.load(path).save(path)
    found = made(events).resume(path, END, STEP)
    for each in (found, ph.Motion.load(path), made(events).copy().simulate(END, STEP)):
        assert differences(each.recording, whole.recording) == []
        assert [str(one) for one in each.events] == [str(one) for one in whole.events]
