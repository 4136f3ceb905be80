"""Files give back everything, survive a killed writer, and refuse what is not theirs."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import dataclass, fields
from pathlib import Path

import h5py
import numpy as np
import pytest

import phlexible
from phlexible.bodies.body import Body
from phlexible.bodies.rigid_body import RigidBody
from phlexible.errors import ModelError, ResultFileError
from phlexible.interactions.loads import Force
from phlexible.mechanism.mechanism import Mechanism
from phlexible.model import Model
from phlexible.results.files.blocks import RecordingWriter
from phlexible.results.files.fields import FIELDS, labels
from phlexible.results.files.files import concatenate, is_complete, load, read_for_resume, resumed_writer
from phlexible.results.motion import Motion
from phlexible.system.system import system_of
from results.samples import TIMES, mechanism, run_of, sample, untouched


def observed(motion: Motion) -> dict[str, np.ndarray]:
    """Every observable, of parts that are found by name or place."""
    arm, rotor, ball = motion["arm"], motion["rotor"], motion["ball"]
    joints = motion.mechanism.joints
    tip, corner = arm.at(0.31), rotor.point((0.1, 0.02, 0))
    values = {
        "position": motion.position(tip),
        "velocity": motion.velocity(tip),
        "velocity of the ball": motion.velocity(ball.origin),
        "rotation": motion.rotation(tip),
        "angular velocity": motion.angular_velocity(arm),
        "corner": motion.angular_velocity(corner),
        "displacement": motion.displacement(tip),
        "elastic": motion.elastic_coordinates(arm),
        "angle": motion.angle(joints[0]),
        "rate": motion.rate(joints[1]),
        "frame": motion.position(joints[0].first),
        "balance": motion.energy.balance_error,
        "push": motion.energy.work["force on beam.end"],
        "linear": motion.momentum.linear,
        "angular": motion.momentum.angular,
    }
    for k, joint in enumerate(joints):
        values[f"reaction {k}"] = motion.reaction(joint)
        values[f"moment {k}"] = motion.reaction_moment(joint)
        values[f"multipliers {k}"] = motion.multipliers[:, k : k + 1]
    return values


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_loaded_motion_answers_like_the_saved_one(tmp_path, dimension):
    motion = sample(dimension)
    motion.save(tmp_path / "run.h5")
    loaded = Motion.load(tmp_path / "run.h5")
    before, after = observed(motion), observed(loaded)
    for name, value in before.items():
        assert after[name] == pytest.approx(value, rel=1e-9, abs=1e-9), name
    for field in fields(motion.recording):
        assert np.array_equal(getattr(loaded.recording, field.name), getattr(motion.recording, field.name))
    assert loaded.is_complete
    assert loaded.summary() == motion.summary()
    # handles of the first model also work on the loaded motion
    assert np.array_equal(loaded.position(motion["arm"].end), motion.position(motion["arm"].end))
    assert np.array_equal(loaded.reaction(motion.mechanism.joints[1]), before["reaction 1"])


def test_loads_come_back_without_their_functions(tmp_path):
    sample().save(tmp_path / "run.h5")
    push, twist = Motion.load(tmp_path / "run.h5").mechanism.loads
    assert (str(push), push.breakpoints, twist.axes.value) == ("push", (0.5,), "body")
    assert twist.at_time(3.0) == pytest.approx([0, 0, 1])
    assert twist.attachment.point.position == pytest.approx([0.02, 0.01, 0])
    assert push.at_time(0.0) == pytest.approx([0, 1, 0])
    with pytest.raises(ModelError, match="do not hold functions of time"):
        push.at_time(0.1)


def test_a_file_can_be_saved_again_and_bodies_without_joints_too(tmp_path):
    for motion in (sample(), untouched()):
        motion.save(tmp_path / "one.h5")
        Motion.load(tmp_path / "one.h5").save(tmp_path / "two.h5")
        again = Motion.load(tmp_path / "two.h5")
        assert np.array_equal(again.recording.position, motion.recording.position)
        assert sorted(os.listdir(tmp_path)) == sorted({*os.listdir(tmp_path)} - {".one.h5.part", ".two.h5.part"})
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
    model = phlexible.Model(dimension=2)
    section, rubber = phlexible.RectangularSection(0.01, 0.02), phlexible.Material(1e7, 1000.0)
    beam = model.add(phlexible.Beam(0.5, section, rubber, elements=1), "beam")
    rope = model.add(phlexible.String(1.0, 0.5, 2, phlexible.LinearLaw(20.0)), "rope", shape=((0.5, 0), (1.6, 0)))
    ball = model.add(phlexible.PointMass(0.2), "ball", position=(0, 1, 0))
    pin = model.connect(phlexible.Revolute(model.ground.moving(lambda t: (0, t * t, 0)), beam.start))
    model.connect(phlexible.Spherical(beam.end, rope.start))
    rail = model.connect(phlexible.Slider(model.ground.at((0, 1, 0)), ball.origin, axis=(1, 0, 0)))
    model.apply(rail.drive(position=lambda t: t * t))
    model.apply(pin.spring(0.1))
    motion = model.simulate(2e-4, 1e-4, progress=False)
    names, recording = labels(motion.run.system, motion.recording), motion.recording
    assert len(names["carrier"]) == 5 and len(names["force"]) == 3
    for name, field in FIELDS.items():
        counts = tuple(len(names[dimension]) for dimension in field.dimensions[1:])
        assert counts == getattr(recording, name).shape[1:], name


def test_blocks_make_the_same_file_and_concatenate_the_same_recording(tmp_path):
    run = run_of(mechanism())
    parts = [run.at(slice(k, k + 5)).recording for k in range(0, len(TIMES), 5)]
    with RecordingWriter(tmp_path / "run.h5", run.system, parts[0]) as writer:
        for part in parts[1:]:
            writer.append(part)
        with pytest.raises(ResultFileError, match="starts at t = 1 s is already in"):
            writer.append(parts[-1])
    for recording in (load(tmp_path / "run.h5").recording, concatenate(parts)):
        for field in fields(recording):
            assert np.array_equal(getattr(recording, field.name), getattr(run.recording, field.name))
    assert is_complete(tmp_path / "run.h5")


def test_a_failed_run_is_not_complete(tmp_path):
    run = run_of(mechanism())
    with pytest.raises(ZeroDivisionError), RecordingWriter(tmp_path / "a.h5", run.system, run.recording):
        raise ZeroDivisionError
    assert not is_complete(tmp_path / "a.h5")
    assert not Motion.load(tmp_path / "a.h5").is_complete
    Motion.load(tmp_path / "a.h5").save(tmp_path / "b.h5")
    assert not is_complete(tmp_path / "b.h5")


def test_a_file_can_be_read_while_it_is_written(tmp_path):
    run = run_of(mechanism())
    writer = RecordingWriter(tmp_path / "run.h5", run.system, run.at(slice(0, 5)).recording)
    script = "import sys; from phlexible.results.files.files import load; print(load(sys.argv[1]).count)"
    command = [sys.executable, "-c", script, str(tmp_path / "run.h5")]
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    assert found.stdout.strip() == "5"
    writer.close()


KILLED = """
    import sys, time
    from results.samples import mechanism, run_of
    from phlexible.results.files.blocks import RecordingWriter
    run = run_of(mechanism())
    writer = RecordingWriter(sys.argv[1], run.system, run.at(slice(0, 7)).recording)
    writer.append(run.at(slice(7, 15)).recording)
    dataset = writer._file["position"]  # in the middle of the next block
    dataset.resize(18, axis=0)
    dataset[15:] = run.recording.position[15:18]
    dataset.flush()
    print("written", flush=True)
    time.sleep(60)
"""


def environment() -> dict[str, str]:
    places = [str(Path(phlexible.__file__).parent.parent), str(Path(__file__).parent.parent)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([*places, os.environ.get("PYTHONPATH", "")])}


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_writer_leaves_a_readable_file_that_can_be_resumed(tmp_path):
    path = tmp_path / "run.h5"
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment()) as process:
        assert process.stdout.readline() == b"written\n"
        process.send_signal(signal.SIGKILL)
    run = run_of(mechanism())
    found = load(path)
    assert found.count == 15
    assert np.array_equal(found.recording.velocity, run.recording.velocity[:15])
    assert not is_complete(path)
    point = read_for_resume(path, run.system)
    assert point.state.time == TIMES[14]
    assert np.array_equal(point.state.velocity, run.recording.velocity[14])
    assert np.array_equal(point.state.eta, run.recording.eta[14])
    assert (point.iterations, point.work_names) == (14, run.recording.work_names)
    assert point.work == pytest.approx(run.recording.work[14])
    with resumed_writer(path, run.system) as writer:
        assert not is_complete(path)
        writer.append(run.at(slice(15, None)).recording)
    whole = load(path)
    assert np.array_equal(whole.recording.rotation, run.recording.rotation)
    assert is_complete(path)


def test_resuming_another_model_says_what_differs(tmp_path):
    path = tmp_path / "run.h5"
    sample().save(path)
    read_for_resume(path, system_of(mechanism()))
    with pytest.raises(ResultFileError, match=r"bodies/arm/body/fields/length: 0.5 in the file, 0.4 in the"):
        read_for_resume(path, system_of(mechanism(length=0.4)))
    with pytest.raises(ResultFileError, match=r"frames/1/position: \[0.0, 0.0, 0.0\] in the file, \[0.1,"):
        read_for_resume(path, system_of(mechanism(shift=0.1)))
    more = mechanism()
    more.apply(Force(more["arm"].start, (1, 0, 0)))
    with pytest.raises(ResultFileError, match="loads: 2 entries in the file, 3 in the model"):
        read_for_resume(path, system_of(more))


def test_foreign_truncated_and_missing_files_are_refused(tmp_path):
    sample().save(tmp_path / "run.h5")
    whole = (tmp_path / "run.h5").read_bytes()
    for size in (0, 100, 3000, len(whole) // 2, len(whole) - 1000):
        (tmp_path / "cut.h5").write_bytes(whole[:size])
        with pytest.raises(ResultFileError, match=r"cut.h5 is not a results file, or it is damaged"):
            Motion.load(tmp_path / "cut.h5")
    run = run_of(mechanism())
    writer = RecordingWriter(tmp_path / "open.h5", run.system, run.recording)
    unfinished = (tmp_path / "open.h5").read_bytes()
    writer.close()
    for size in (100, 3000, len(unfinished) // 2, len(unfinished) - 1000):
        (tmp_path / "cut.h5").write_bytes(unfinished[:size])
        with pytest.raises(ResultFileError, match=r"cut.h5 is not a results file, or it is damaged"):
            Motion.load(tmp_path / "cut.h5")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = 1
    with pytest.raises(ResultFileError, match="not one of phlexible's results"):
        Motion.load(tmp_path / "other.h5")
    with pytest.raises(ResultFileError, match="there is no file"):
        Motion.load(tmp_path / "none.h5")
    with pytest.raises(ResultFileError, match="cannot write"):
        sample().save(tmp_path / "no folder" / "run.h5")


def changed(path: Path, change) -> None:
    with h5py.File(path, "r+") as file:
        tree = json.loads(file["description"].asstr()[()])
        change(file, tree)
        del file["description"]
        file["description"] = json.dumps(tree)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file, tree: file.attrs.update(format_version=99), "format version 99"),
        (
            lambda file, tree: file.attrs.update(format_version=1),
            "version 1, .* with other coordinates",
        ),
        (
            lambda file, tree: tree["bodies"][0]["body"].update({"class": "os.system"}),
            "names the class os.system",
        ),
        (
            lambda file, tree: tree["bodies"][0]["fingerprint"].__setitem__(5, 1.0),
            "discretizes 'arm' otherwise",
        ),
        (lambda file, tree: tree.pop("joints"), "description in the file cannot be read"),
        (lambda file, tree: tree["bodies"][0]["body"]["fields"].update(length=-1), "length must be positive"),
        (lambda file, tree: file["position"].resize(3, axis=0), "fewer instants than it says"),
        (lambda file, tree: file["instants"].__setitem__((), 0), "holds no instant yet"),
    ],
)
def test_damaged_contents_are_refused(tmp_path, change, message):
    sample().save(tmp_path / "run.h5")
    changed(tmp_path / "run.h5", change)
    with pytest.raises(ResultFileError, match=message):
        Motion.load(tmp_path / "run.h5")


@dataclass(frozen=True)
class Gyroscope(Body):
    """A body as users define one."""

    mass: float

    def discretize(self, dimension):
        return RigidBody(self.mass, 0.1 * self.mass).discretize(dimension)


def test_a_users_body_is_saved_and_loaded(tmp_path):
    model = Model(dimension=2)
    model.add(Gyroscope(3.0), "gyroscope", velocity=(1.0, 0, 0))
    motion = model.simulate(0.1, 0.1, output=tmp_path / "run.h5")
    loaded = Motion.load(tmp_path / "run.h5")
    assert loaded.mechanism["gyroscope"].body == Gyroscope(3.0)
    assert loaded.momentum.linear == pytest.approx(motion.momentum.linear)


def test_a_class_that_the_program_does_not_have_is_named(tmp_path):
    model = Model(dimension=2)
    model.add(Gyroscope(3.0), "gyroscope")
    model.simulate(0.1, 0.1, output=tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        text = file["description"].asstr()[()]
        del file["description"]
        file["description"] = text.replace("Gyroscope", "Telescope")
    with pytest.raises(ResultFileError, match="Telescope, which this program does not have"):
        Motion.load(tmp_path / "run.h5")


def test_a_body_that_files_cannot_hold_is_refused_before_anything_is_written(tmp_path):
    class Spring(Body):
        def discretize(self, dimension):
            return untouched()["body"].data

    model = Mechanism()
    model.add(Spring(), "spring")
    with pytest.raises(ResultFileError, match="frozen dataclasses, and Spring is none"):
        RecordingWriter(tmp_path / "run.h5", system_of(model), untouched().recording)
    assert not (tmp_path / "run.h5").exists()
