"""Energies that users wrote as functions are machine code of the library, for any platform."""

import math
import shutil
import subprocess
from importlib.util import find_spec

import numpy as np
import pytest

import phlexible as ph
from phlexible.libraries.linking import host

STEP, COUNT = 1e-3, 200
CONSTANTS = {"stiffness": 40.0}
NODE = f"""
import {{ readFileSync }} from "node:fs";
const {{ instance: {{ exports: ph }} }} = await WebAssembly.instantiate(readFileSync(process.argv[2]));
const memory = ph.__heap_base.value, numbers = memory + ph.ph_size() + 64 - memory % 8;
ph.memory.grow(Math.ceil((ph.ph_size() + 256) / 65536));
const model = ph.ph_place(memory);
ph.ph_step(model, {COUNT});
for (let k = 0; k < 3; k++) {{
    ph.ph_get_output(model, k, numbers);
    console.log(...new Float64Array(ph.memory.buffer, numbers, 3));
}}
"""


def springs(depth: float = 2.0) -> ph.Model:
    """A spring, a string and a soft body with energies of their own."""
    skfem = pytest.importorskip("skfem")
    model = ph.Model(gravity=(0, 0, -9.81))
    bob = model.add(ph.RigidBody(0.3, (1e-3,) * 3, center=(0.2, 0, 0)), "bob", velocity=(0, 0, 0))
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bob.origin, axis=(0, 1, 0), name="hinge"))
    well = ph.Potential(
        lambda x: -depth * math.exp(-((x - 0.5) ** 2)),
        lambda x: 2 * depth * (x - 0.5) * math.exp(-((x - 0.5) ** 2)),
        (-1.0, 2.0),
    )
    model.apply(hinge.spring(potential=well, name="well"))
    law = ph.Law(lambda C: 5 * (C - np.log(C) - 1), lambda C: 5 * (1 - 1 / C))
    rope = ph.String(length=1.0, line_density=0.1, elements=3, law=law)
    placed = model.add(rope, "rope", shape=[(0, 1, 0), (1.0, 1, 0)])
    model.connect(ph.Spherical(model.ground.at((0, 1, 0)), placed.start))
    mesh = skfem.MeshHex.init_tensor(np.linspace(0, 0.2, 3), np.linspace(0, 0.05, 2), np.linspace(0, 0.05, 2))
    mooney = ph.InvariantLaw(
        (lambda I: 5e3 * (I - 3), lambda I: 5e3 + 0 * I),
        (lambda I: 2e3 * (I - 3), lambda I: 2e3 + 0 * I),
        (lambda I: 4e3 * (np.log(I) ** 2 - 2.25 * np.log(I)), lambda I: 4e3 * (2 * np.log(I) - 2.25) / I),
    )
    ends = {"root": lambda x: x[0] < 1e-9, "tip": lambda x: x[0] > 0.2 - 1e-9}
    jelly = model.add(
        ph.SoftBody(mesh, law=mooney, density=1e3, order=1, interfaces=ends), "jelly", position=(0, 2, 0)
    )
    model.connect(ph.Spherical(model.ground.at((0, 2.025, 0.025)), jelly["root"]))
    return model


def measured(model: ph.Model) -> dict[str, object]:
    ports = {"bob": model["bob"].point((0.2, 0, 0)), "rope": model["rope"].end, "jelly": model["jelly"]["tip"]}
    return {name: ph.Position(port) for name, port in ports.items()} | {"stored": ph.EnergyOf("strain")}


@pytest.mark.skipif(shutil.which("cc") is None or host() is None, reason="no C compiler for this machine")
def test_energies_of_users_have_the_digits_of_a_live_run(tmp_path) -> None:
    model = springs()
    sensors = measured(model)
    suffix = ".dylib" if host().startswith("macos") else ".so"
    library = ph.load_library(ph.build(model, STEP, tmp_path / f"springs{suffix}", outputs=sensors))
    run = model.start(STEP)
    for each in (library, run):
        each.step(COUNT)
    for name, sensor in sensors.items():
        assert library.read(name) == pytest.approx(run.read(sensor), rel=1e-9, abs=1e-11), name
    same, deeper = springs(), springs(2.5)
    library.load_tables(ph.build(same, STEP, tmp_path / "same.tables", outputs=measured(same)))
    library.step(COUNT)
    assert library.read("rope") == pytest.approx(run.read(sensors["rope"]), abs=1e-11)
    with pytest.raises(ph.errors.ResultFileError, match="numbers for this library"):
        library.load_tables(ph.build(deeper, STEP, tmp_path / "deeper.tables", outputs=measured(deeper)))
    if find_spec("ziglang") is not None and shutil.which("node"):
        module = ph.build(model, STEP, tmp_path / "springs.wasm", outputs=sensors)
        (tmp_path / "run.mjs").write_text(NODE)
        words = ["node", tmp_path / "run.mjs", module]
        found = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
        expected = np.ravel([run.read(sensors[name]) for name in ("bob", "rope", "jelly")])
        assert [*map(float, found)] == pytest.approx(expected, abs=1e-9)


def test_energies_that_numba_does_not_compile_are_refused_by_name(tmp_path) -> None:
    model = ph.Model(dimension=2)
    bar = model.add(ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0)), "bar")
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bar.origin, name="hinge"))
    k = CONSTANTS
    slow = ph.Potential(lambda x: k["stiffness"] * x**2 / 2, lambda x: k["stiffness"] * x, (-1.0, 1.0))
    model.apply(hinge.spring(potential=slow, name="slow"))
    with pytest.raises(ph.errors.ModelError, match="slow: energies .* where Numba compiles them"):
        ph.build(model, STEP, tmp_path / "bar.tables")
    hanging = springs()
    with pytest.raises(ph.errors.ModelError, match="tension of rope .*: a function of Python needs the value"):
        ph.build(hanging, STEP, tmp_path / "rope.tables", outputs={"pull": ph.Tension(hanging["rope"])})
