"""What models cost as libraries: python benchmarks/compiled_models.py [models of the gallery]

Models are named as the command does, with parameters after commas: crank-slider,modes=2.
Each model is built for this machine and takes 1000 steps beside a live run; with Zig also as WebAssembly (Node) and
as a program for aarch64 without libraries (where this machine is one, or has qemu-aarch64). Shown are the size of
the library, how far the places of each are from those of the live run, by the reach of the model (0: every bit is
equal), how far the library's ledger is open beside that of the live run, by the greatest energy, and times of a
step: processor times of the first 1000 steps, the least of five rounds, and Newton's iterations of a step. At rest
(satellite) those may differ: what is zero here is round-off in WebAssembly, which takes iterations as any motion of
that size does.
"""

import platform
import shutil
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from zipfile import ZipFile

import numpy as np

import phlexible as ph
from phlexible.cli.programs import find_program

NAMES = (
    *("heavy-top", "dzhanibekov", "chain", "double-pendulum", "bricard", "crank-slider", "four-bar"),
    *("flexible-pendulum", "spinning-beam", "string-pendulum", "satellite", "bouncing-ball", "tippe-top"),
)
MOVED = {"four-bar": ["crank_speed=10"]}
"""Parameters of models that rest with their usual ones."""
STEPS, ROUNDS = 1000, 5
ARM = ("aarch64", "arm64")
ENERGIES = ("total", "supplied", "dissipated", "kinetic")
NODE = """
import { readFileSync, writeFileSync } from "node:fs";
const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]));
const ph = instance.exports, begin = ph.__heap_base.value;
ph.memory.grow(Math.ceil((ph.ph_size() + ph.ph_state_size() + 64) / 65536));
const model = ph.ph_place(begin), size = ph.ph_state_size(), state = begin + ph.ph_size();
const spent = () => { const { user, system } = process.cpuUsage(); return user + system; };
for (const begin = spent(); spent() < begin + 4e6; ) {
    ph.ph_step(model, 20); /* until the engine has its fast code */
    await new Promise((done) => setTimeout(done, 0));
    ph.ph_reset(model);
}
let least = Infinity;
for (let k = 0; k < 5; k++) {
    ph.ph_reset(model);
    const now = spent();
    ph.ph_step(model, 1000);
    least = Math.min(least, (spent() - now) / 1000);
}
ph.ph_save(model, state);
writeFileSync(process.argv[3], new Uint8Array(ph.memory.buffer, state, size));
console.log(least);
"""
PROGRAM = """
#include "model.h"
#include <stdio.h>
int main(void) {
    ph_model *model = ph_new();
    void *state = malloc(ph_state_size());
    ph_step(model, 1000);
    ph_save(model, state);
    fwrite(state, 1, ph_state_size(), stdout);
    return 0;
}
"""


def least_time(again, step) -> float:
    """Of the first steps [us]."""
    times = []
    for _ in range(ROUNDS):
        again()
        begin = process_time()
        step(STEPS)
        times.append((process_time() - begin) / STEPS)
    return 1e6 * min(times)


def ledger(read, first) -> float:
    """How far it is open, over the greatest energy."""
    total, supplied, dissipated, _ = (float(read(kind)) for kind in ENERGIES)
    return abs(total - first - supplied + dissipated)


def state_on_arm(archive: Path, folder: Path) -> bytes:
    """After 1000 steps of a program that needs no library."""
    ZipFile(archive).extractall(folder)
    (folder / "main.c").write_text(PROGRAM)
    files = ["main.c", "model.c", *(file.name for file in folder.glob("*.o")), "-o", "main", "-lm"]
    zig = [
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        "-target",
        "aarch64-linux-musl",
        "-O2",
        "-ffp-contract=off",
        "-static",
    ]
    subprocess.run([*zig, *files], cwd=folder, check=True)
    command = [] if platform.machine() in ARM else ["qemu-aarch64"]
    return subprocess.run([*command, folder / "main"], capture_output=True, check=True).stdout


def show(name: str, folder: Path) -> None:
    """A line of a model."""
    kind, *settings = name.split(",")
    program = find_program(kind, settings or MOVED.get(kind, []))
    model, step = program.model, program.step
    sensors = {kind: ph.EnergyOf(kind) for kind in ENERGIES}
    end = 4 * STEPS * step
    path = ph.build(model, step, folder / f"{name}.so", outputs=sensors, duration=end)
    library, run = ph.load_library(path), model.start(step)
    start = run.save()
    first = float(library.read("total")), float(run.read(sensors["total"]))
    size = max(abs(first[0]), float(library.read("kinetic")), 1e-300)  # of a model at rest
    for _ in range(10):
        library.step(STEPS // 10), run.step(STEPS // 10)
        size = max(size, abs(float(library.read("total"))), float(library.read("kinetic")))
    memory = run.stepper.assembly.memory
    begin, places = memory.offset_of("position"), memory["position"].ravel().copy()

    def iterations(state: bytes) -> float:
        return np.frombuffer(state, dtype=np.float64)[6 + memory.offset_of("counter")] / STEPS

    def missed(state: bytes) -> float:
        own = np.frombuffer(state, dtype=np.float64)[6 + begin :][: places.size]
        return np.abs(own - places).max() / run.now.system.reach

    far = missed(library.save().content)
    opened = ledger(library.read, first[0]) / size, ledger(lambda kind: run.read(sensors[kind]), first[1]) / size
    times = [least_time(library.reset, library.step), least_time(lambda: run.restore(start), run.step)]
    words = f"{name:18s} {path.stat().st_size / 1e3:5.0f} kB  places {far:7.1e}"
    words += f"  ledger {opened[0]:7.1e} {opened[1]:7.1e}  {times[0]:7.1f} us, live run {times[1]:7.1f} us"
    words += f" ({iterations(library.save().content):.1f})"
    if find_spec("ziglang") is not None and shutil.which("node"):
        module = ph.build(model, step, folder / f"{name}.wasm", outputs=sensors, duration=end)
        (folder / "run.mjs").write_text(NODE)
        state = folder / "state"
        command = ["node", folder / "run.mjs", module, state]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        words += f", WebAssembly {module.stat().st_size / 1e3:5.0f} kB {float(done.stdout):7.1f} us"
        words += f" ({iterations(state.read_bytes()):.1f}) {missed(state.read_bytes()):7.1e}"
    if find_spec("ziglang") is not None and (platform.machine() in ARM or shutil.which("qemu-aarch64")):
        archive = ph.build(
            model, step, folder / f"{name}.zip", outputs=sensors, duration=end, targets=["linux-aarch64"]
        )
        words += f", aarch64 {missed(state_on_arm(archive, folder / name)):7.1e}"
    print(words, flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with TemporaryDirectory() as name:
        for each in sys.argv[1:] or NAMES:
            show(each, Path(name))
