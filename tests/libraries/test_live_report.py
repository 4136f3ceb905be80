"""Pages of models: the steps of the motion from its start, bodies where the model has them, programs on them."""

import json
import pickle
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

import phlexible as ph
from phlexible.libraries.linking import host
from pictures.report.decoding import Decoded

needs_zig = pytest.mark.skipif(
    find_spec("ziglang") is None or shutil.which("node") is None,
    reason="no Zig to link or no Node to run WebAssembly",
)
STEP, COUNT = 2e-3, 100
NODE = f"""
import {{ readFileSync }} from "node:fs";
const {{ instance: {{ exports: ph }} }} = await WebAssembly.instantiate(readFileSync(process.argv[2]));
const memory = ph.__heap_base.value, numbers = memory + ph.ph_size() + 64 - memory % 8;
ph.memory.grow(Math.ceil((ph.ph_size() + 256) / 65536));
const model = ph.ph_place(memory);
ph.ph_step(model, {COUNT});
ph.ph_get_output(model, 1, numbers);
console.log(ph.ph_time(model), ...new Float64Array(ph.memory.buffer, numbers, 3));
"""

STEPPER = Path(__file__).parents[2] / "viewer" / "src" / "stepper.js"
POSES = f"""
import {{ readFileSync }} from "node:fs";
import {{ makeStepper }} from "{STEPPER.as_uri()}";
const {{ instance: {{ exports: ph }} }} = await WebAssembly.instantiate(readFileSync(process.argv[2]));
const stepper = makeStepper(ph, {{ step: {STEP}, grips: [], outputs: [], mass: 1.0, dimension: 2 }});
const asked = {{ to: {STEP * COUNT}, budget: 1e9, samples: 1, given: [], parameters: [], pulling: null }};
console.log(JSON.stringify(Array.from(stepper.advance(asked).state)));
"""


def swinging() -> tuple[ph.Model, list[object]]:
    """A flexible arm with a motor and a load of time."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    arm = model.add(ph.Beam(0.4, ph.CircularSection(5e-3), ph.Material(7e10, 2700.0), elements=2), "arm")
    shoulder = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.start, name="shoulder"))
    model.apply(shoulder.torque(0.1, name="motor"))
    model.apply(ph.Force(arm.end, lambda t: (0.0, 0.1 * np.tanh(9 * t), 0.0), name="wind"))
    return model, [ph.JointPosition(shoulder), ph.Position(arm.end)]


@needs_zig
def test_the_page_takes_the_steps_of_the_motion_from_its_start(tmp_path, capsys) -> None:
    model, sensors = swinging()
    before = model.simulate(0.3, STEP, initial="quasi_static")
    motion = model.simulate(STEP * COUNT, STEP, initial=before.at(0.3), order=4, every=5)
    motion.report(tmp_path / "swing.html", live=True, sensors=sensors, title="a <swing> 🚀")
    assert "wind: " in capsys.readouterr().out  # a table, up to the end of the motion
    shown = Decoded(tmp_path / "swing.html")
    live = shown.head["stepped"]
    (tmp_path / "page.wasm").write_bytes(bytes(shown.array(live["module"])))
    (tmp_path / "run.mjs").write_text(NODE)
    words = ["node", tmp_path / "run.mjs", tmp_path / "page.wasm"]
    end, *place = map(float, subprocess.run(words, capture_output=True, text=True, check=True).stdout.split())
    assert end == pytest.approx(motion.time[-1]) and live["start"] == 0.3 and live["step"] == STEP
    assert place == pytest.approx(motion[sensors[1]][-1], abs=1e-11)
    assert [each["name"] for each in live["inputs"]] == ["motor"]
    assert "a &lt;swing&gt; 🚀" in shown.page and "<summary>Check</summary>" in shown.page
    labels = [panel["label"] for panel in shown.head["panels"]]
    begun = {
        panel["label"]: [shown.array(c["values"])[0] for c in panel["curves"]] for panel in shown.head["panels"]
    }
    at_start = next(values for label, values in begun.items() if "arm.end" in label)
    assert at_start == pytest.approx(motion[sensors[1]][0], abs=1e-6)  # before anything is stepped
    assert any("position of shoulder" in label for label in labels) and len(labels) == 2
    assert motion.repeatable  # the model is as it was


@needs_zig
def test_the_page_draws_bodies_where_the_model_has_them(tmp_path) -> None:
    """Frame, elastic coordinates and ends of a flexible arm in the numbers that the page gets from its steps."""
    model, _ = swinging()
    motion = model.simulate(STEP * COUNT, STEP)
    motion.report(tmp_path / "swing.html", live=True)
    shown = Decoded(tmp_path / "swing.html")
    live = shown.head["stepped"]
    (tmp_path / "page.wasm").write_bytes(bytes(shown.array(live["module"])))
    (tmp_path / "poses.mjs").write_text(POSES)
    words = ["node", tmp_path / "poses.mjs", tmp_path / "page.wasm"]
    state = np.array(json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout))
    (end,) = [grip["carried"] for grip in live["grips"] if grip["name"] == "arm.at(0.4)"]
    for carried, port in ((live["bodies"][0]["carried"], model["arm"].start), (end, model["arm"].end)):
        shapes = shown.array(carried["shapes"])
        eta = state[carried["eta"] :][: len(shapes)]
        rotation = state[carried["rotation"] :][:9].reshape(3, 3)
        place = state[carried["place"] :][:3] + rotation @ (carried["point"] + eta @ shapes)
        assert place == pytest.approx(motion.position(port)[-1], abs=1e-6)


def test_what_a_live_page_cannot_show_is_refused_with_what_to_do(tmp_path) -> None:
    model, sensors = swinging()
    path, motion = tmp_path / "swing.html", model.simulate(0.02, STEP, initial="quasi_static")
    for given in ({"frames": 20}, {"points": [model["arm"].end]}, {"curves": {"a": motion.time}}):
        with pytest.raises(ph.errors.ParameterError, match="live=True.* leave out frames="):
            motion.report(path, live=True, **given)
    with pytest.raises(ph.errors.ModelError, match="not of model.simulate.*ph.build"):
        pickle.loads(pickle.dumps(motion)).report(path, live=True)
    adaptive = model.simulate(0.02, tolerance=1e-4, output_step=STEP, initial="quasi_static")
    with pytest.raises(ph.errors.ModelError, match="steps of one size"):
        adaptive.report(path, live=True)
    if find_spec("ziglang") is None:
        with pytest.raises(ph.errors.MissingExtraError, match="phlexible\\[build\\]"):
            motion.report(path, live=True, sensors=sensors)
        return
    model.add(ph.PointMass(1.0), "stone")
    with pytest.raises(ph.errors.ModelError, match="changed after the run.*simulate again"):
        motion.report(path, live=True)
    events, _ = swinging()
    events.at(0.01, lock=events.joints[0])
    with pytest.raises(ph.errors.ModelError, match="a compiled model has no events"):
        events.simulate(0.02, STEP, initial="quasi_static").report(path, live=True)
    assert not path.exists()


PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "models_without_python.md"
CC = shutil.which("cc")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    if CC is None or host() is None or not host().startswith("linux"):
        pytest.skip("no C compiler of Linux")
    folder = tmp_path_factory.mktemp("page")
    (model,) = blocks("python")
    lines = [line for line in blocks("py")[0].splitlines() if '"arm.so", outputs=tip)' in line or ".zip" in line]
    assert len(lines) == 2
    exec(compile("\n".join([model, *lines]).replace('"arm.', f'"{folder}/arm.'), str(PAGE), "exec"), {})
    return folder


def test_programs_in_c_compile_and_run_as_the_page_says(folder) -> None:
    shared, own = blocks("c")
    (folder / "program.c").write_text(shared)
    words = [CC, "-Wall", "-Werror", "program.c", "./arm.so", "-o", "program"]
    subprocess.run(words, cwd=folder, check=True)
    said = subprocess.run(["./program"], cwd=folder, capture_output=True, text=True, check=True).stdout
    rows = np.array([line.split() for line in said.splitlines()], dtype=float)
    library = ph.load_library(folder / "arm.so")
    library.inputs["motor"] = 0.5
    library.step(1000)
    assert len(rows) == 100 and rows[-1] == pytest.approx([1.0, *library.read("tip")[:2]], rel=1e-4, abs=1e-5)
    ZipFile(folder / "arm.zip").extractall(folder / "sources")
    (folder / "sources" / "control.c").write_text(own)
    (command,) = re.findall(r"`(cc [^`]*control\.c [^`]*)`", PAGE.read_text(encoding="utf-8"))
    subprocess.run(command, cwd=folder / "sources", shell=True, check=True)
    assert subprocess.run(["./control"], cwd=folder / "sources", env={}).returncode == 1  # it hangs down by then


@pytest.mark.skipif(find_spec("ziglang") is None or shutil.which("node") is None, reason="no Zig, or no Node")
def test_the_program_of_a_web_page_runs(folder) -> None:
    (model,) = blocks("python")
    (line,) = [line for line in blocks("py")[0].splitlines() if ".wasm" in line]
    exec(compile(f"{model}\n{line}".replace('"arm.', f'"{folder}/arm.'), str(PAGE), "exec"), {})
    (script,) = blocks("js")
    script = script.replace("instantiateStreaming(fetch(", "instantiate(readFileSync(")
    text = f'import {{ readFileSync }} from "node:fs";\n{script}console.log(x, y);\n'
    (folder / "page.mjs").write_text(text)
    said = subprocess.run(["node", "page.mjs"], cwd=folder, capture_output=True, text=True, check=True).stdout
    library = ph.load_library(folder / "arm.so")
    library.step(100)
    assert [float(x) for x in said.split()] == pytest.approx(library.read("tip")[:2], abs=1e-12)
