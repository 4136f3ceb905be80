"""No kernel reads or writes beyond a table: every body, joint, load, element and law in the checked build."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import warnings
from laws.cases import BODY_CASES, JOINT_CASES, LAW_CASES, LOAD_CASES
from laws.models import Wishes, random_mechanism
from phlexible.gallery.table import ENTRIES

warnings.simplefilter("ignore", UserWarning)
count = 0
for entry in ENTRIES:
    entry.function().simulate(2 * entry.step, entry.step)
    count += 1
wishes = [
    Wishes(d, body=body, ground="moving") for body, case in BODY_CASES.items() for d in case.dimensions
]
wishes += [Wishes(d, first_joint=kind) for kind, case in JOINT_CASES.items() for d in case.dimensions]
wishes += [Wishes(d, law=law, gravity=True) for d in (2, 3) for law in LAW_CASES]
wishes += [
    Wishes(d, load=load, loads=4, flexible=True, body=case.body)
    for load, case in LOAD_CASES.items()
    for d in case.dimensions
]
for seed, wish in enumerate(wishes):
    sample = random_mechanism(seed, wish)
    sample.simulate(2, numerical_damping=0.1)
    count += 1
print("checked", count)
"""
GRADIENTS = """
from dataclasses import replace
import numpy as np
import phlexible as ph
from phlexible.step.integration import stepper
from phlexible.step import programs

programs._NEEDED = {**programs._NEEDED, "gradients": lambda memory: True}
points = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)]) * [2.0, 1.0, 0.5]
cells = [(0, 1, 2, 4), (3, 2, 1, 7), (5, 4, 7, 1), (6, 7, 4, 2), (1, 2, 4, 7)]
body = ph.SoftBody((points, cells), ph.StVenantKirchhoff(60.0, 0.3), 1.0, order=1, viscosity=0.01)
for most in (0, 60):
    stepper.most_iterations = lambda memory: most
    model = ph.Model(gravity=(0, 0, -1.0))
    block = model.add(body, "block")
    model.connect(ph.Spherical(model.ground.at(block.node(0).initial_position()), block.node(0)))
    model.connect(ph.Slider(model.ground.at(block.node(1).initial_position()), block.node(1)))
    model.apply(ph.Pressure(block, 0.1))
    if not most:
        rope = model.add(ph.String(1.0, 1.0, 2, ph.StVenantKirchhoffLaw(9.0)), "rope", position=(5, 0, 0))
        model.apply(ph.Force(rope.end, (0, 1.0, 0)))
    motion = model.simulate(0.03, 0.01, numerical_damping=0.1, progress=False)
    assert np.abs(motion.energy.balance_error).max() < 1e-13, most
"""
BEYOND = """
import numpy as np
import phlexible as ph
from phlexible.state.system import system_of
from phlexible.step.assembly.assembly import assemble
from phlexible.step.compilation.compiled import entry_point
from phlexible.step.compilation.notation import tables_at

@entry_point
def read(header, k, shift):
    return (tables_at(header).mass + shift)[k]

model = ph.Model()
model.add(ph.PointMass(3.0))
memory = assemble(system_of(model)).memory
print(read(memory.header, 0, 0))
for k, shift in ((1, 0), (-1, 0), (0, 1), (0, 2), (5, -4)):
    try:
        read(memory.header, k, shift)
    except IndexError as error:
        print(error)
"""


@pytest.mark.thorough
def test_every_index_is_inside_of_its_table_and_one_outside_is_found(tmp_path):
    """In one process, which compiles the checked kernels once."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + GRADIENTS + BEYOND)
    environment = {**os.environ, "PHLEXIBLE_CHECKED": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
    environment["NUMBA_OPT"] = "0"  # code as it comes: compiled in less time, and run for a few steps
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if not line.startswith(("phlexible:", "of 1 entries"))]
    assert "checks of every index" in done.stderr and "can be written" not in done.stderr
    first = next(k for k, line in enumerate(lines) if line.startswith("checked"))
    assert int(lines[first].split()[-1]) > 60
    assert lines[first + 1 :] == ["3.0"] + 5 * ["index outside of a table of a kernel"]
    assert done.stdout.count("of 1 entries") >= 2
