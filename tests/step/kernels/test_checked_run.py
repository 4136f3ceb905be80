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


@pytest.mark.slow
def test_every_index_is_inside_of_its_table():
    environment = {**os.environ, "PHLEXIBLE_CHECKED": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[-1]) > 60
    assert "checks of every index" in done.stderr and "can be written" not in done.stderr
