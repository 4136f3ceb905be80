"""Mechanisms in threads of a GPU move as each does alone; here a loop stands for the threads."""

import ctypes

import numpy as np
import pytest
from llvmlite import binding

import phlexible as ph
from phlexible.errors import DeviceError
from phlexible.gpu import cuda
from phlexible.gpu.thread_programs import (
    ThreadLayout,
    Threads,
    _atan2,
    assembly_text,
    optimized_module,
    thread_program,
)
from phlexible.step.programs import advance, joint_velocities


class Loop:
    threads = Threads.LOOP

    def __init__(self):
        self.programs = {}

    def load(self, name, written):
        if name not in self.programs:
            binding.initialize_native_target()
            binding.initialize_native_asmprinter()
            machine = binding.Target.from_default_triple().create_target_machine(opt=1)
            module = optimized_module(written(), binding.get_process_triple(), machine, is_one=False)
            self.programs[name] = binding.create_mcjit_compiler(module, machine)
            self.programs[name].finalize_object()
        return self.programs[name].get_function_address

    def allocate(self, size):
        return np.zeros(size, dtype=np.uint8)

    def write(self, room, array):
        room[: array.nbytes] = np.frombuffer(array.tobytes(), dtype=np.uint8)

    def get(self, room, array):
        array[...] = np.frombuffer(room[: array.nbytes].tobytes(), dtype=array.dtype).reshape(array.shape)

    def call(self, function, count, *arguments):
        given = [
            ctypes.c_double(each)
            if isinstance(each, float)
            else ctypes.c_int64(each)
            if isinstance(each, int)
            else ctypes.c_void_p(each.ctypes.data)
            for each in (*arguments, count)
        ]
        ctypes.CFUNCTYPE(None, *(type(each) for each in given))(function)(*given)


LOOP = Loop()


@pytest.fixture
def loop(monkeypatch):
    monkeypatch.setattr(cuda, "cuda", lambda: LOOP)


def hanging(mass, load=0.0):
    """A cart on a rail, from which a rod hangs; another number of bodies where there is a load."""
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    cart = model.add(ph.RigidBody(mass, 0.1), "cart")
    rod = model.add(ph.RigidBody(0.5, 0.02, center=(0.0, -0.5, 0.0)), "rod")
    rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin, axis=(1, 0, 0), name="rail"))
    hinge = model.connect(ph.Revolute(cart.origin, rod.origin, name="hinge"))
    model.apply(rail.force(0.0, name="push"))
    model.apply(hinge.torque(0.0, name="motor"))
    if load:
        body = model.add(ph.RigidBody(load, 0.01), "load", position=(0.0, -1.0, 0.0))
        model.connect(ph.Fixed(rod.point((0.0, -1.0, 0.0)), body.origin))
    return model


def sensors(model):
    rod = model["rod"]
    return {
        "x": ph.JointPosition(model.joints[0]),
        "place": ph.Position(rod.point((0.0, -1.0, 0.0))),
        "rate": ph.Velocity(rod.point((0.0, -1.0, 0.0))),
    }


MASSES = [1.0, 2.0, 4.0]


@pytest.mark.thorough
def test_threads_step_as_single_runs(loop):
    batch = ph.batch(hanging, {"mass": MASSES})
    threads, alone = batch.start(1e-2, device="cuda"), batch.start(1e-2, lanes=False)
    for push, count in (([1.0, -2.0, 3.0], 20), ([0.5, 0.0, 0.0], 1)):  # more than a thread takes at once; one
        for each in (threads, alone):
            each.inputs["push"] = push
            each.step(count)
        for name, values in alone.read(sensors).items():
            np.testing.assert_allclose(threads.read(sensors)[name], values, rtol=0, atol=1e-11, err_msg=name)
    np.testing.assert_array_equal(threads.time, alone.time)
    saved = threads.save()
    threads.step(3)
    further = threads.read(sensors)["x"]
    threads.restore(saved, where=[False, True, False])
    threads.step(3)
    assert threads.read(sensors)["x"][1] == further[1] and threads.time.tolist() == pytest.approx(
        [0.27, 0.24, 0.27]
    )


@pytest.mark.thorough
def test_one_whose_steps_are_halved_or_fail_goes_alone_and_changes_no_digit(loop):
    batch = ph.batch(hanging, {"mass": MASSES})
    quiet, broken, halved = (batch.start(0.1, device="cuda") for _ in range(3))
    alone = batch.start(0.1, lanes=False)
    quiet.step(4)
    for each, torque in ((broken, 1e60), (halved, 30.0), (alone, 30.0)):
        each.inputs["motor"] = [0.0, torque, 0.0]
        each.step(4)
    assert list(broken.failures) == [1] and broken.time.tolist() == pytest.approx([0.4, 0.0, 0.4])
    assert not halved.failures
    for each in (broken, halved):
        assert each.read(sensors)["x"][[0, 2]].tolist() == quiet.read(sensors)["x"][[0, 2]].tolist()
    assert halved.read(sensors)["x"][1] == pytest.approx(alone.read(sensors)["x"][1], rel=1e-9)


@pytest.mark.thorough
def test_refused_is_what_threads_do_not_step(loop, monkeypatch):
    def moved(mass):
        model = hanging(mass)
        model.apply(model.joints[1].torque(lambda t: t))
        return model

    def touching(mass):
        model = hanging(mass)
        floor = ph.Plane(model.ground.at((0.0, -1.1, 0.0)), normal=(0.0, 1.0, 0.0))
        model.apply(ph.Contact(model["rod"].point((0.0, -1.0, 0.0)), floor))
        return model

    with pytest.raises(ph.ParameterError, match="functions of time"):
        ph.batch(moved, {"mass": MASSES}).start(1e-2, device="cuda").step()
    with pytest.raises(ph.ParameterError, match="no contacts, steps around contacts"):
        ph.batch(touching, {"mass": MASSES}).start(1e-2, device="cuda").step()
    with pytest.raises(ph.ParameterError, match="one structure"):
        ph.batch(hanging, {"mass": MASSES, "load": [0.0, 1.0, 0.0]}).start(1e-2, device="cuda").step()
    with pytest.raises(ph.ParameterError, match="leave out lanes"):
        ph.batch(hanging, {"mass": MASSES}).start(1e-2, device="cuda", lanes=True)
    monkeypatch.undo()
    monkeypatch.setattr(cuda, "LIBRARY", "no such library")
    cuda.cuda.cache_clear()
    with pytest.raises(DeviceError, match="no such library"):
        ph.batch(hanging, {"mass": MASSES}).start(1e-2, device="cuda")


def test_a_program_is_kept_and_made_again_where_it_is_damaged(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(cuda, "code_folder", lambda: tmp_path)
    monkeypatch.setattr(cuda, "assembly_text", lambda text: made.append(text) or f"{text}\nret;\n")
    assert [cuda._assembly(name, lambda name=name: name) for name in ("one", "one", "two")] == [
        "one\nret;\n",
        "one\nret;\n",
        "two\nret;\n",
    ]
    assert made == ["one", "two"]
    for file in tmp_path.iterdir():
        file.write_bytes(file.read_bytes()[:-2])
    assert cuda._assembly("one", lambda: "one") == "one\nret;\n" and made == ["one", "two", "one"]


def test_angles_are_those_of_the_library():
    turns = np.concatenate([np.linspace(-np.pi, np.pi, 20001), 10.0 ** np.arange(-300, 0.0, 7), [0.0]])
    for size in (1e-200, 1.0, 1e200):
        for turn in turns:
            y, x = size * np.sin(turn), size * np.cos(turn)
            assert abs(_atan2(y, x) - np.arctan2(y, x)) <= 3 * np.spacing(abs(np.arctan2(y, x)))
    assert np.isnan(_atan2(np.nan, 1.0)) and _atan2(1.0, 0.0) == np.pi / 2 and _atan2(-1.0, 0.0) == -np.pi / 2


@pytest.mark.thorough
def test_a_program_in_the_assembly_of_graphics_processors_keeps_its_tables_in_the_memory_of_threads():
    run = hanging(1.0).start(1e-2)
    text = thread_program(
        ThreadLayout(run.stepper.memory), advance.source.py_func, joint_velocities.source.py_func, Threads.CUDA
    )
    assembly = assembly_text(text)
    assert assembly.count(".visible .entry") == 2 and "call" not in assembly
    assert assembly.count("ld.local") > 100 and assembly.count("\tld.b64") == 0  # nothing has to look where it is
