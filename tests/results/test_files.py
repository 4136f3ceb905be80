"""Files of results: what is read is what was saved, of runs with events too."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path

import h5py
import numpy as np
import pytest

import phlexible as ph
from faults.kills import differences
from phlexible.bodies.body import Body
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.results.files.encoding import FAMILIES, VALUES, _descendants, array_as_json, array_from_json
from phlexible.results.files.files import load_for_resume
from phlexible.results.files.journal import FIELDS, labels
from phlexible.results.files.run_output import RunOutput
from phlexible.state.system import system_of
from results.samples import mechanism, sample, untouched


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_loaded_motion_answers_like_the_saved_one(tmp_path, dimension):
    motion = sample(dimension)
    motion.save(tmp_path / "run.h5")
    loaded = ph.Motion.load(tmp_path / "run.h5")
    for field in fields(motion.recording):
        assert np.array_equal(getattr(loaded.recording, field.name), getattr(motion.recording, field.name))
    assert loaded.is_complete
    assert loaded.summary() == motion.summary()
    for joint in motion.mechanism.joints:  # handles of the first model also work on the loaded motion
        assert np.array_equal(loaded.reaction(joint), motion.reaction(joint))
    assert np.array_equal(loaded.position(motion["arm"].end), motion.position(motion["arm"].end))


def test_loads_come_back_without_their_functions(tmp_path):
    sample().save(tmp_path / "run.h5")
    push, twist = ph.Motion.load(tmp_path / "run.h5").mechanism.loads
    assert (str(push), push.breakpoints, twist.axes.value) == ("push", (0.5,), "body")
    assert twist.at_time(3.0) == pytest.approx([0, 0, 1])
    assert twist.attachment.point.position == pytest.approx([0.02, 0.01, 0])
    assert push.at_time(0.0) == pytest.approx([0, 1, 0])
    with pytest.raises(ph.ModelError, match="do not hold functions of time"):
        push.at_time(0.1)


def test_driven_angles_of_a_loaded_motion_go_on_over_their_turns_and_into_pictures(tmp_path):
    """Files keep no functions of drives, by which the turns of the motion itself are counted."""
    model = ph.Model(dimension=2)
    arm = model.add(ph.RigidBody.box((1.0, 0.1, 0.1), 100.0, (0.5, 0, 0)), "arm")
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.origin))
    model.apply(pin.drive(angle=lambda t: 9 * t * t))
    motion = model.simulate(1.0, 0.02, progress=False)
    motion.save(tmp_path / "run.h5")
    loaded = ph.Motion.load(tmp_path / "run.h5")
    assert motion.angle(pin)[-1] == pytest.approx(9.0)
    assert loaded.angle(pin) == pytest.approx(motion.angle(pin), abs=1e-12)
    if importlib.util.find_spec("matplotlib"):
        assert "angle of joints [rad]" in [axes.get_ylabel() for axes in loaded.plot().axes]


def test_a_file_can_be_saved_again_and_bodies_without_joints_too(tmp_path):
    for motion in (sample(), untouched()):
        motion.save(tmp_path / "one.h5")
        ph.Motion.load(tmp_path / "one.h5").save(tmp_path / "two.h5")
        again = ph.Motion.load(tmp_path / "two.h5")
        assert np.array_equal(again.recording.position, motion.recording.position)
        assert sorted(os.listdir(tmp_path)) == ["one.h5", "two.h5"]  # and no draft, no lock
        for name in ("one.h5", "two.h5"):
            (tmp_path / name).unlink()


def test_readers_of_hdf5_find_units_and_dimensions(tmp_path):
    sample().save(tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        assert file.attrs["units"] == "SI"
        assert file.attrs["phlexible_version"]
        assert file["velocity"].attrs["units"] == "m/s, rad/s or 1/s"
        assert [d.keys()[0] for d in file["position"].dims] == ["time", "carrier", "axis"]
        assert list(file["carrier"].asstr()) == ["arm", "rotor", "ball"]
        assert list(file["frame"].asstr()) == ["moving frame 1"]
        assert file["component"].asstr()[0] == "arm: V_x"
        assert file["component"].asstr()[-1] == "ball: V_z"
        assert len(file["row"]) == file["multipliers"].shape[1]


def test_xarray(tmp_path):
    pytest.importorskip("xarray")
    motion = sample()
    data = motion.to_xarray()
    center = motion.position(motion["rotor"].point((0.05, 0, 0)))
    assert data["position"].sel(carrier="rotor", axis="y").values == pytest.approx(center[:, 1])
    assert data["work"].attrs["units"] == "J"
    assert data["kinetic"].sel(time=0.5, method="nearest") == motion.recording.kinetic[10]


def test_every_number_of_beams_strings_elements_and_drives_has_a_name():
    model = ph.Model(dimension=2)
    section, rubber = ph.RectangularSection(0.01, 0.02), ph.Material(1e7, 1000.0)
    beam = model.add(ph.Beam(0.5, section, rubber, elements=1), "beam")
    rope = model.add(ph.String(1.0, 0.5, 2, ph.LinearLaw(20.0)), "rope", shape=((0.5, 0), (1.6, 0)))
    ball = model.add(ph.PointMass(0.2), "ball", position=(0, 1, 0))
    pin = model.connect(ph.Revolute(model.ground.moving(lambda t: (0, t * t, 0)), beam.start))
    model.connect(ph.Spherical(beam.end, rope.start))
    rail = model.connect(ph.Slider(model.ground.at((0, 1, 0)), ball.origin, axis=(1, 0, 0)))
    model.apply(rail.drive(position=lambda t: t * t))
    model.apply(pin.spring(0.1))
    motion = model.simulate(2e-4, 1e-4, progress=False)
    names, recording = labels(motion.run.system, motion.recording), motion.recording
    assert len(names["carrier"]) == 5 and len(names["force"]) == 3
    for name, field in FIELDS.items():
        counts = tuple(len(names[dimension]) for dimension in field.dimensions[1:])
        assert counts == getattr(recording, name).shape[1:], name


def test_a_name_in_a_file_means_one_class():
    kinds = {kind for f in FAMILIES for kind in _descendants(f) if kind.__module__.startswith("phlexible.")}
    kinds |= set(VALUES.values())
    names = [kind.__name__ for kind in kinds if is_dataclass(kind) or kind.__name__ in VALUES]
    assert sorted(names) == sorted(set(names))


def test_resuming_another_model_says_what_differs(tmp_path):
    path = tmp_path / "run.h5"
    sample().save(path)
    with pytest.raises(ph.ResultFileError, match="holds no checkpoint"):  # a motion that no run made
        load_for_resume(path, system_of(mechanism()))
    with pytest.raises(ph.ResultFileError, match=r"bodies/arm/body/fields/length: 0.5 in the file, 0.4 in the"):
        load_for_resume(path, system_of(mechanism(length=0.4)))
    with pytest.raises(ph.ResultFileError, match=r"frames/1/position: \[0.0, 0.0, 0.0\] in the file, \[0.1,"):
        load_for_resume(path, system_of(mechanism(shift=0.1)))
    more = mechanism()
    more.apply(ph.Force(more["arm"].start, (1, 0, 0)))
    with pytest.raises(ph.ResultFileError, match="loads: 2 entries in the file, 3 in the model"):
        load_for_resume(path, system_of(more))


@dataclass(frozen=True)
class Gyroscope(Body):
    mass: float

    def discretize(self, dimension):
        return ph.RigidBody(self.mass, 0.1 * self.mass).discretize(dimension)


def test_a_users_body_is_saved_and_loaded_where_the_program_has_its_class(tmp_path):
    model = ph.Model(dimension=2)
    model.add(Gyroscope(3.0), "gyroscope", velocity=(1.0, 0, 0))
    motion = model.simulate(0.1, 0.1, output=tmp_path / "run.h5")
    loaded = ph.Motion.load(tmp_path / "run.h5")
    assert loaded.mechanism["gyroscope"].body == Gyroscope(3.0)
    assert loaded.momentum.linear == pytest.approx(motion.momentum.linear)
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        file["description"][0] = file["description"][0].replace(b"Gyroscope", b"Telescope")
    with pytest.raises(ph.ResultFileError, match="Telescope, which this program does not have"):
        ph.Motion.load(tmp_path / "run.h5")


def test_a_body_that_files_cannot_hold_is_refused_before_anything_is_computed(tmp_path):
    class Spring(Body):
        def discretize(self, dimension):
            return untouched()["body"].data

    model = Mechanism()
    model.add(Spring(), "spring")
    with pytest.raises(ph.ResultFileError, match="frozen dataclasses, and Spring is none"):
        RunOutput(system_of(model), tmp_path / "run.h5")
    assert not os.listdir(tmp_path)


def test_a_motion_with_a_potential_is_read_back(tmp_path):
    model = ph.Model(dimension=2)
    bar = model.add(ph.RigidBody(1.0, 0.1), "bar", angular_velocity=(0, 0, 1.0))
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bar.origin))
    model.apply(pin.spring(potential=ph.Potential(lambda x: x**4, lambda x: 4 * x**3)))
    motion = model.simulate(0.1, 0.01, progress=False)
    motion.save(tmp_path / "run.h5")
    loaded = ph.Motion.load(tmp_path / "run.h5")
    assert loaded.energy.spring.tolist() == motion.energy.spring.tolist()
    with pytest.raises(ph.ModelError, match="do not hold the functions of a Potential"):
        loaded.mechanism.elements[0].potential.energy_at(0.1)


def test_a_file_is_read_by_a_program_that_has_asked_for_no_class_of_it_yet(tmp_path):
    """Public names are imported when first used; optional packages are not needed to look for a name."""
    model = ph.Model()
    bob = model.add(ph.PointMass(1.0), "bob", position=(1, 0, 0))
    cart = model.add(ph.RigidBody.box((1, 1, 1), 1.0), "cart")
    model.connect(ph.Distance(cart.origin, bob.origin))
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), cart.origin, axis=(1, 0, 0)))
    model.simulate(2e-3, 1e-3, progress=False).save(tmp_path / "run.h5")
    program = (
        "import sys; sys.modules.update(dict.fromkeys(('skfem', 'meshio', 'matplotlib')));"
        f"import phlexible; print(phlexible.Motion.load({str(tmp_path / 'run.h5')!r}).mechanism.joints)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in ("Distance", "Slider"))


@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "i4", "u1"])
def test_packed_arrays_keep_their_numbers_and_whole_ones_stay_whole(kind):
    values = np.arange(6, dtype=kind).reshape(2, 3)
    again = array_from_json(array_as_json(values))
    assert np.array_equal(again, values)
    assert again.dtype == (np.float64 if kind[0] == "f" else np.int64)


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
    gear = model.connect(ph.Gear(model.joints[0], model.joints[1], 1.5, name=f"lock of angle in {joint}"))
    model.at(0.004, release=gear)
    model.at(0.01, release=model.at(0.005, lock=joint))
    model.at(0.02, lock=model.joints[3])


def a_user_function(model: ph.Model, joint: ph.Revolute) -> None:
    of = [ph.JointPosition(joint), ph.Position(model.bodies[2].origin)]
    model.at(ph.When(lambda t, angle, x: angle + x[1] * t, above=0.03, of=of), lock=joint)
    model.at(ph.When(ph.ElementForce(model.part("spring")), below=-0.3), release=model.joints[2])


EVENTS = lock_at_a_time_and_at_an_angle, clutch, release_of_all_kinds, names_that_are_taken, a_user_function


def made(events: Callable[[ph.Model, ph.Revolute], None]) -> ph.Model:
    model = machine()
    events(model, model.joints[0])
    return model


@pytest.mark.filterwarnings("ignore::phlexible.errors.RedundancyWarning")  # what is locked twice is
@pytest.mark.parametrize("events", EVENTS)
def test_a_run_with_events_is_loaded_resumed_and_copied(events, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    whole = made(events).simulate(END, STEP)
    assert len(whole.events) == len(whole.mechanism.events)
    made(events).simulate(HALF, STEP).save(path)
    ph.Motion.load(path).save(path)
    found = made(events).resume(path, END, STEP)
    for each in (found, ph.Motion.load(path), made(events).copy().simulate(END, STEP)):
        assert differences(each.recording, whole.recording) == []
        assert [str(one) for one in each.events] == [str(one) for one in whole.events]
