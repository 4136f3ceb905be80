"""Families of forces are compiled for models that have them, and are absent from all others."""

from dataclasses import replace

import numpy as np
import pytest
from skfem import MeshTet

import phlexible as ph
from phlexible.state.system import system_of
from phlexible.step import programs
from phlexible.step.assembly import assembly
from phlexible.step.assembly.assembly import assemble
from phlexible.step.compilation.compiled import entry_point
from phlexible.step.compilation.notation import FUNCTION_PLACES, tables_at
from phlexible.step.kernels.contact_steps import find_active_contacts
from phlexible.step.kernels.rods import rod_round_off
from phlexible.step.programs import PROGRAMS
from phlexible.step.tables.functions import FUNCTIONS
from phlexible.step.tables.memory import HEADER

JOINTS = {"bodies and joints"}


def large_cube():
    line = np.linspace(0, 1, 12)
    model = ph.Model()
    model.add(ph.SoftBody(MeshTet.init_tensor(line, line, line), ph.NeoHookean(1e6, 0.3), 1000.0, order=1), "cube")
    return model


@entry_point
def _absent(header):
    t = tables_at(header)
    return rod_round_off(t), find_active_contacts(t, 0.0)


@pytest.mark.parametrize(
    ("build", "needed"),
    [
        (lambda: ph.gallery.crank_slider(modes=3), JOINTS),
        (lambda: ph.gallery.rotating_cantilever(elements=20), JOINTS | {"long bodies"}),
        (lambda: ph.gallery.gear_train(), JOINTS | {"force elements"}),
        (lambda: ph.gallery.bouncing_ball(), JOINTS | {"force elements", "contacts", "steps around contacts"}),
        (lambda: ph.gallery.flying_spaghetti(), JOINTS | {"force elements", "rods", "loads"}),
        (lambda: ph.gallery.inflated_membrane(), JOINTS | {"soft bodies", "pressure", "loads"}),
        (lambda: large_cube(), JOINTS | {"soft bodies", "large soft bodies"}),
    ],
)
def test_a_model_compiles_what_it_has_and_nothing_else(monkeypatch, build, needed):
    asked = []
    watched = [replace(each, entry=Watched(each, asked)) for each in PROGRAMS]
    monkeypatch.setattr(programs, "PROGRAMS", watched)
    monkeypatch.setattr(assembly, "_known_plan", assembly.Plan)  # what is connected here is not cached
    assemble(system_of(build()))
    assert set(asked) == needed


class Watched:
    """In place of the entry of a program: notes that it was asked for, and compiles nothing."""

    is_ready = True

    def __init__(self, program, asked):
        self._program, self._asked = program, asked

    def __call__(self, header):
        self._asked.append(self._program.name)


def test_functions_of_absent_programs_do_nothing():
    memory = assemble(system_of(ph.gallery.crank_slider(modes=3))).memory
    addresses = dict(zip(FUNCTIONS, memory.header[-len(FUNCTIONS) :].tolist(), strict=True))
    assert addresses["residuals"] != 0 and addresses["rod_laws"] == 0
    assert _absent(memory.header) == (0.0, False)
    assert np.array_equal(memory.fresh().header[-len(FUNCTIONS) :], memory.header[-len(FUNCTIONS) :])


def test_every_function_is_exported_by_one_program():
    found = []
    for program in PROGRAMS:
        header = np.zeros(HEADER, dtype=np.int64)
        program.entry(header)
        assert not header[: -len(FUNCTIONS)].any()
        found += [name for name, place in FUNCTION_PLACES.items() if header[place]]
    assert sorted(found) == sorted(FUNCTIONS)
