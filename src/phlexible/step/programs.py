"""Entry points of the compiled step, and its programs, which are loaded or compiled when a model first needs them.

Python calls a program only to write the addresses of its functions into the tables (``step/kernels/programs.py``).
"""

import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np

from phlexible.step.compilation.entry_points import EntryPoint, code_folder
from phlexible.step.compilation.objects import CHECKED
from phlexible.step.tables.declarations import ANGLE, CONTACT, ROUNDED, SLID
from phlexible.step.tables.functions import FAMILIES, ForceFamily
from phlexible.step.tables.iterations import most_iterations
from phlexible.step.tables.memory import DualMemory, LaneMemory, Memory

COMPILING = "phlexible: compiling the time step; done once, later runs start at once"
COMPILING_STRUCTURE = "phlexible: compiling the time step for mechanisms of this structure alone; done once"
COMPILING_LANES = "phlexible: compiling the time step for {} mechanisms at once; done once"
NOT_KEPT = (
    "phlexible: compiling the time step; neither the package nor the home folder can be written, so that each"
    " program compiles again: set the environment variable NUMBA_CACHE_DIR to a folder that can be written"
)
CHECKING = (
    "phlexible: compiling the time step with checks of every index, for which the environment variable"
    " PHLEXIBLE_CHECKED asks; each program compiles again"
)

_KERNELS = "phlexible.step.kernels"
advance = EntryPoint(f"{_KERNELS}.loop", "advance")
differentiate = EntryPoint(f"{_KERNELS}.differentiation", "differentiate")
energies_at = EntryPoint(f"{_KERNELS}.differentiation", "energies_at")
joint_velocities = EntryPoint(f"{_KERNELS}.joint_velocities", "joint_velocities")
measure = EntryPoint(f"{_KERNELS}.laws", "measure")
measured_vectors = EntryPoint(f"{_KERNELS}.measured_vectors", "measured_vectors")
step_derivatives = EntryPoint(f"{_KERNELS}.differentiation", "step_derivatives")
step_equations = EntryPoint(f"{_KERNELS}.differentiation", "step_equations")
pair_forces = EntryPoint(f"{_KERNELS}.many.pair_forces", "pair_forces")
measure_rows = EntryPoint(f"{_KERNELS}.measured_vectors", "measure_rows")
"""Numba compiles it, as what is for lanes: called as its ``source``."""

_LOOPS = (
    advance,
    differentiate,
    energies_at,
    joint_velocities,
    measure,
    measured_vectors,
    pair_forces,
    step_derivatives,
    step_equations,
)


def _has_contacts(memory: Memory) -> bool:
    """Return whether a model has parts that can touch, roll or slide along a surface, from its tables
    ``memory``."""
    kinds, functions = memory["coordinate_of"], memory["functions_count"]
    is_law = np.arange(len(kinds)) >= memory.counts["constraints"]
    slides = is_law & (functions > 1) & (kinds != ANGLE)
    return _can_touch(memory) or bool((((kinds >= ROUNDED) | slides) & (kinds < SLID)).any())


def _can_touch(memory: Memory) -> bool:
    """Return whether a model has contact elements or stops, from its tables ``memory``."""
    return bool((memory["energy_of"] == CONTACT).any())


_NEEDED: Mapping[str, Callable[[Memory], bool]] = {
    "step": lambda memory: True,
    "contacts": _has_contacts,
    "contact_steps": lambda memory: _can_touch(memory) or memory.counts["members"] > 0,
    "gradients": lambda memory: most_iterations(memory) > 0,
}
"""Which models need programs whose families name no count."""


@dataclass(frozen=True)
class Program:
    """Program of a family of forces, with its entry points.

    Attributes:
        family: as it is declared.
        entry: writes the addresses of its functions into a header.
        duals: writes the addresses of its functions of dual numbers; None: equations of steps call none of it.
    """

    family: ForceFamily
    entry: EntryPoint
    duals: EntryPoint | None = None

    @property
    def name(self) -> str:
        """Title of the family of forces that this compiled program evaluates, for messages."""
        return self.family.title

    def is_needed(self, memory: Memory) -> bool:
        """Return whether the model with the tables ``memory`` has forces of this program's family, so that
        the compiled program must be loaded."""
        count = self.family.count
        return memory.counts[count] > 0 if count else _NEEDED[self.family.name](memory)


def _program(family: ForceFamily) -> Program:
    module = f"{_KERNELS}.programs"
    duals = EntryPoint(module, f"dual_{family.name}") if family.of_equations else None
    return Program(family, EntryPoint(module, family.name), duals)


PROGRAMS = tuple(map(_program, FAMILIES))

_OF_DUALS = [(program.duals, program.name) for program in PROGRAMS if program.duals is not None]
ENTRY_POINTS = (*(program.entry for program in PROGRAMS), *(entry for entry, _ in _OF_DUALS), *_LOOPS)
"""All of them."""


def connect(memory: Memory) -> None:
    """Store the addresses of all compiled functions that a model needs in its tables ``memory``, from where
    the compiled time step calls them; compile programs that are missing."""
    needed = [program.entry for program in PROGRAMS if program.is_needed(memory)]
    if announce(advance, *needed):
        advance.load_or_compile()  # what is told is done: the next model says nothing
    memory.connect(needed)


def connect_duals(duals: DualMemory, memory: Memory) -> None:
    """Store the addresses of a model's compiled functions of dual numbers (numbers with derivatives) in its
    dual tables ``duals``; ``memory`` are its tables of floats. The compiled derivatives of time steps call
    them from there; functions that are missing are compiled."""
    needed = [each.duals for each in PROGRAMS if each.duals is not None and each.is_needed(memory)]
    announce(step_derivatives, *needed)
    duals.connect(needed)


def alone(memory: Memory) -> tuple[str, ...]:
    """Return the names of those types of forces of a model that cannot be stepped in SIMD lanes (several
    mechanisms at the same time). The result is empty if the model can. ``memory`` holds the tables of the
    model."""
    return tuple(each.name for each in PROGRAMS if each.is_needed(memory) and each.family.lanes == "refused")


def connect_lanes(lanes: LaneMemory, memory: Memory) -> None:
    """Store the addresses of the compiled functions that a model needs in ``lanes``, the tables of several
    mechanisms. SIMD lanes advance these at the same time. ``memory`` are the tables of one of the mechanisms.
    Numba compiles functions that are missing."""
    from phlexible.step.compilation.compiled import has_signature  # with Numba

    needed = [each.entry.source for each in PROGRAMS if each.is_needed(memory) and each.family.lanes != "unused"]
    if not all(has_signature(entry, lanes.header) for entry in needed):
        print(COMPILING_LANES.format(lanes.width), file=sys.stderr, flush=True)
    lanes.connect(needed)


def announce_structure(*arguments: Any, entry: EntryPoint = advance) -> None:
    """Print to stderr that the time step is being compiled for one structure of mechanism, if that has not been
    done yet. The structure is that in the header among these arguments of the entry point (function that Python
    calls). A header is the array of a model's counts and addresses of tables."""
    from phlexible.step.compilation.compiled import has_signature  # with Numba

    if not has_signature(entry.source, *arguments):
        print(COMPILING_STRUCTURE, file=sys.stderr, flush=True)


def announce(*entries: EntryPoint) -> bool:
    """Print to stderr that the time step is being compiled, if any of these entry points (functions that Python
    calls) must be compiled; return whether one must."""
    if all(entry.is_ready for entry in entries):
        return False
    unkept = CHECKING if CHECKED else NOT_KEPT
    is_kept = not CHECKED and code_folder() is not None
    print(COMPILING if is_kept else unkept, file=sys.stderr, flush=True)
    return True


def load_all(processes: int = 1) -> Iterator[tuple[str, float]]:
    """Load or compile all programs and loops of the time step, and yield the title of each and the time that
    it took [s]. Up to ``processes`` processes compile at the same time.

    Args:
        processes: number that compile at the same time, if several programs are missing and results can be stored.
    """
    missing, done = sum(not entry.is_ready for entry in ENTRY_POINTS), 0
    if min(missing, processes) < 2 or CHECKED or code_folder() is None:
        yield from map(_made, range(len(ENTRY_POINTS)))
        return
    quiet = signal.signal, (signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends them all: one of them says so
    try:
        with ProcessPoolExecutor(min(missing, processes), get_context("spawn"), *quiet) as pool:
            for each in pool.map(_made, range(len(ENTRY_POINTS))):
                yield each
                done += 1
    except BrokenExecutor:  # killed: this machine has no memory for several
        yield from map(_made, range(done, len(ENTRY_POINTS)))


def _made(index: int) -> tuple[str, float]:
    begin = time.perf_counter()
    ENTRY_POINTS[index].load_or_compile()
    names = [*(each.name for each in PROGRAMS), *(f"derivatives of {name}" for _, name in _OF_DUALS)]
    name = names[index] if index < len(names) else f"loops over steps: {ENTRY_POINTS[index].name}"
    return name, time.perf_counter() - begin


def where_code_is() -> str:
    """Return a text for messages that tells where the compiled code of the time step was loaded from or will be
    stored."""
    if advance.is_shipped:
        return "in the package as it came"
    folder = None if CHECKED else code_folder()
    return "for this process only" if folder is None else f"kept in {folder}"
