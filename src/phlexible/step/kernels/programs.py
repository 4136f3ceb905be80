"""The compiled step in programs: each family of forces is compiled when the first model has it.

A program is one entry point, compiled and kept as one. It exports functions, which others call by their addresses
in the tables (``step/tables/functions.py``). Where a model has no use for a program the addresses are zero, and
calls of its functions do nothing. Functions come after those of the same program that they call, so that these
calls are direct.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from phlexible.step.compilation.compiled import entry_point, export, is_compiled, is_kept
from phlexible.step.compilation.notation import CHECKED
from phlexible.step.kernels.conjugate_gradients import solve_by_gradients
from phlexible.step.kernels.contact import begin_gap, gap_weights, push, slide
from phlexible.step.kernels.contact_steps import contacts_push, harden_pair, hardness_of_pair, parts_around_contacts
from phlexible.step.kernels.contacts_among_many import contact_group_energy, members_push, push_contact_groups
from phlexible.step.kernels.elimination import (
    add_border,
    centre_moments,
    eliminate,
    factor_frame,
    factor_segments,
    solve_frame,
    solve_segments,
    substitute,
)
from phlexible.step.kernels.friction import begins_sliding, pull_of_sliding, sliding_gradient, sliding_work
from phlexible.step.kernels.laws import forces_of_laws, stored_energy
from phlexible.step.kernels.laws_of_functions import begin_laws, gather_gap, law_tangent, pull_of_laws
from phlexible.step.kernels.ledger import end_step, energies, ledger_closes
from phlexible.step.kernels.loads import load_tangent, load_work, pull_of_loads
from phlexible.step.kernels.loop import advance
from phlexible.step.kernels.rods import add_rod_pulls, begin_rods, rod_laws, rod_tangent, round_off_of_rods
from phlexible.step.kernels.soft import (
    add_pressures,
    add_soft_forces,
    end_soft,
    pressure_tangent,
    pressure_work,
    soft_energy,
    soft_tangent,
)
from phlexible.step.kernels.step import (
    begin_bodies,
    begin_ports,
    constraints_close,
    inertia_matrix,
    jacobian,
    motion_and_forces,
    residuals,
    start_from_end,
)
from phlexible.step.tables.declarations import ANGLE, CONTACT, ROUNDED
from phlexible.step.tables.iterations import NEWTON, most_iterations
from phlexible.step.tables.memory import HEADER, Memory

COMPILING = "phlexible: compiling the time step; done once, later runs start at once"
NOT_KEPT = (
    "phlexible: compiling the time step; neither the package nor the home folder can be written, so that each"
    " program compiles again: set the environment variable NUMBA_CACHE_DIR to a folder that can be written"
)
CHECKING = (
    "phlexible: compiling the time step with checks of every index, for which the environment variable"
    " PHLEXIBLE_CHECKED asks; each program compiles again"
)


@entry_point
def step(header):
    """Bodies, joints, elimination, energies: of every model."""
    export(header, begin_bodies)
    export(header, begin_ports)
    export(header, start_from_end)
    export(header, motion_and_forces)
    export(header, residuals)
    export(header, inertia_matrix)
    export(header, jacobian)
    export(header, constraints_close)
    export(header, eliminate)
    export(header, substitute)
    export(header, factor_frame)
    export(header, solve_frame)
    export(header, end_step)
    export(header, ledger_closes)
    export(header, energies)


@entry_point
def long_bodies(header):
    """Bodies with segments."""
    export(header, factor_segments)
    export(header, solve_segments)
    export(header, centre_moments)
    export(header, add_border)


@entry_point
def laws(header):
    """Force elements, strings, coordinates of relations."""
    export(header, begin_laws)
    export(header, pull_of_laws)
    export(header, law_tangent)
    export(header, forces_of_laws)
    export(header, gather_gap)
    export(header, stored_energy)


@entry_point
def contacts(header):
    """Contacts, stops, wheels that roll."""
    export(header, begin_gap)
    export(header, gap_weights)
    export(header, push)
    export(header, slide)
    export(header, begins_sliding)
    export(header, pull_of_sliding)
    export(header, sliding_gradient)
    export(header, sliding_work)


@entry_point
def contact_groups(header):
    """Contacts among many."""
    export(header, push_contact_groups)
    export(header, contact_group_energy)
    export(header, members_push)
    export(header, harden_pair)
    export(header, hardness_of_pair)


@entry_point
def contact_steps(header):
    """Parts of steps around contacts of either kind."""
    export(header, contacts_push)
    export(header, parts_around_contacts)


@entry_point
def loads(header):
    """Forces and moments on attachments."""
    export(header, pull_of_loads)
    export(header, load_work)
    export(header, load_tangent)


@entry_point
def rods(header):
    """Rods; their laws are those of ``laws``."""
    export(header, begin_rods)
    export(header, rod_laws)
    export(header, add_rod_pulls)
    export(header, rod_tangent)
    export(header, round_off_of_rods)


@entry_point
def soft(header):
    """Elements of soft bodies."""
    export(header, add_soft_forces)
    export(header, soft_tangent)
    export(header, soft_energy)
    export(header, end_soft)


@entry_point
def gradients(header):
    """Linear systems of large soft bodies."""
    export(header, solve_by_gradients)


@entry_point
def pressure(header):
    """Pressure on surfaces."""
    export(header, add_pressures)
    export(header, pressure_work)
    export(header, pressure_tangent)


def _some(count: str) -> Callable[[Memory], bool]:
    """Whether a model has any of what a count counts."""
    return lambda memory: memory.counts[count] > 0


def _has_contacts(memory: Memory) -> bool:
    """Whether anything can touch, roll or slide."""
    kinds, functions = memory["coordinate_of"], memory["function_count"]
    is_law = np.arange(len(kinds)) >= memory.counts["constraints"]
    slides = is_law & (functions > 1) & (kinds != ANGLE)
    return bool((memory["energy_of"] == CONTACT).any() or ((kinds >= ROUNDED) | slides).any())


@dataclass(frozen=True)
class Program:
    """A program and what models need it.

    Attributes:
        entry: writes the addresses of its functions into a header.
        is_needed: by the model of these tables.
        name: what it is for.
    """

    entry: Any
    is_needed: Callable[[Memory], bool]
    name: str


PROGRAMS = (
    Program(step, lambda memory: True, "bodies and joints"),
    Program(long_bodies, _some("segments"), "long bodies"),
    Program(laws, _some("forces"), "force elements"),
    Program(contacts, _has_contacts, "contacts"),
    Program(contact_groups, _some("members"), "contacts among many"),
    Program(
        contact_steps, lambda memory: _has_contacts(memory) or _some("members")(memory), "steps around contacts"
    ),
    Program(loads, _some("loads"), "loads"),
    Program(rods, _some("rod_points"), "rods"),
    Program(soft, _some("soft_elements"), "soft bodies"),
    Program(gradients, lambda memory: most_iterations(memory, NEWTON) > 0, "large soft bodies"),
    Program(pressure, _some("faces"), "pressure"),
)


def connect(memory: Memory) -> None:
    """Put the addresses of all functions that a model needs into its tables; compile what no model had before."""
    needed = [program.entry for program in PROGRAMS if program.is_needed(memory)]
    announce(advance, *needed)
    memory.connect(needed)


def announce(*entries: Any) -> None:
    """Say so where entry points have to be compiled."""
    if not all(is_compiled(entry) for entry in entries):
        unkept = CHECKING if CHECKED else NOT_KEPT
        print(COMPILING if is_kept(advance) else unkept, file=sys.stderr, flush=True)


def compile_all() -> Iterator[str]:
    """Compile all programs, or find them in the cache, one after the other: what each is for."""
    nowhere = np.zeros(HEADER, dtype=np.int64)
    for program in PROGRAMS:
        program.entry(nowhere)
        yield program.name
