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

import numpy as np

from phlexible.step.compilation.entry_points import EntryPoint, code_folder
from phlexible.step.compilation.objects import CHECKED
from phlexible.step.tables.declarations import ANGLE, CONTACT, ROUNDED, SLID
from phlexible.step.tables.functions import FAMILIES, ForceFamily
from phlexible.step.tables.memory import DUAL_HEADER, DualMemory, LaneMemory, Memory

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
joint_velocities = EntryPoint(f"{_KERNELS}.instants", "joint_velocities")
measure = EntryPoint(f"{_KERNELS}.laws", "measure")
measured_vectors = EntryPoint(f"{_KERNELS}.measured_vectors", "measured_vectors")
step_derivatives = EntryPoint(f"{_KERNELS}.differentiation", "step_equations", DUAL_HEADER)
"""``step_equations`` of stored instants in dual numbers."""
step_equations = EntryPoint(f"{_KERNELS}.differentiation", "step_equations")
pair_forces = EntryPoint(f"{_KERNELS}.instants", "pair_forces")
measure_rows = EntryPoint(f"{_KERNELS}.measured_vectors", "measure_rows")

_LOOPS = (
    advance,
    differentiate,
    energies_at,
    joint_velocities,
    measure,
    measure_rows,
    measured_vectors,
    pair_forces,
    step_derivatives,
    step_equations,
)


def _has_contacts(memory: Memory) -> bool:
    """Return whether a model, described by its arrays in ``memory``, needs the compiled program that includes
    contacts. It does if it has contact groups, stops, rolling wheels or other force laws along coordinates that
    depend on several scalar functions. Laws on angles and on joints along lines do not count."""
    kinds, functions = memory["coordinate_of"], memory["functions_count"]
    is_law = np.arange(len(kinds)) >= memory.counts["constraints"]
    slides = is_law & (functions > 1) & (kinds != ANGLE)
    return _can_touch(memory) or bool((((kinds >= ROUNDED) | slides) & (kinds < SLID)).any())


def _can_touch(memory: Memory) -> bool:
    """Return whether a model has contact elements or stops, from its tables ``memory``."""
    return bool((memory["energy_of"] == CONTACT).any())


# Choice of conjugate gradients or elimination for the linear systems of a step (docs/theory.md, 5).

LEAST_PRODUCTS = 250
"""Products that an elimination has to cost, so that conjugate gradients are tried first: measured on cubes, for
Newton's method, which eliminates less often than it iterates."""

A_SHAPE, A_POINT, A_MASS = 60, 120, 12
"""Operations of a product with the matrix: of a shape function at a point, of a point, of a pair of masses."""


def most_iterations(memory: Memory) -> int:
    """Return the largest number of conjugate gradient iterations that is worth trying in a soft-body model, before
    Newton's matrix is eliminated. They cost as much as one elimination, by estimated counts of operations from the
    arrays in ``memory``. It is 0 if the model has other forces, if a constraint contains several nodes, or if the
    number would be too small.

    Conjugate gradients need models of soft bodies alone, whose constraints each contain one node.
    """
    counts = memory.counts
    others = counts["forces"] or counts["auxiliaries"] or counts["product_elements"]
    if not counts["soft_elements"] or others or not _fixes_nodes(memory):
        return 0
    rows = memory["visit_size"].astype(np.float64)
    sums = np.concatenate([[0], np.cumsum(memory["neighbour_size"])])
    later = np.diff(sums[memory["neighbours_begin"]]).astype(np.float64)
    elimination = (2 / 3 * rows**3 + 2 * rows**2 * later + 2 * rows * later**2).sum()
    points, shapes = memory["soft_points_count"], memory["soft_nodes_count"]
    product = (points * (A_POINT + A_SHAPE * shapes)).sum() + A_MASS * counts["mass_pairs"]
    found = int(elimination / product)
    return found if found >= LEAST_PRODUCTS else 0


def _fixes_nodes(memory: Memory) -> bool:
    """Return whether each joint of the model acts on one node only, and no two joints on the same node. A joint
    may not have more equations than the model has axes. Conjugate gradients need this. ``memory`` contains the
    tables of the model."""
    carrier, held = memory["vector_carrier"], list[int]()
    functions, parts = memory["functions_begin"], memory["function_parts_begin"]
    for i in range(memory.counts["constraints"]):
        first, end = functions[i : i + 2]
        own = set(carrier[memory["part_vector"][parts[first] : parts[end]]].tolist())
        if len(own) != 1 or end - first > memory.counts["dimension"]:
            return False
        held += own
    return len(set(held)) == len(held)


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
        """Return whether the model with the tables ``memory`` has forces of this program's family. The compiled
        program must then be loaded."""
        count = self.family.count
        return memory.counts[count] > 0 if count else _NEEDED[self.family.name](memory)


def _program(family: ForceFamily) -> Program:
    module = f"{_KERNELS}.programs"
    duals = EntryPoint(module, family.name, DUAL_HEADER) if family.of_equations else None
    return Program(family, EntryPoint(module, family.name), duals)


PROGRAMS = tuple(map(_program, FAMILIES))

_OF_DUALS = [(program.duals, program.name) for program in PROGRAMS if program.duals is not None]
ENTRY_POINTS = (*(program.entry for program in PROGRAMS), *(entry for entry, _ in _OF_DUALS), *_LOOPS)
"""All of them."""


def connect(memory: Memory) -> None:
    """Write the addresses of all compiled functions that a model needs into the header of its ``memory``, from
    where the compiled time step calls them. They belong to the families of forces that the model has. Functions
    are loaded from the cache on disk or compiled first; compilation is announced on stderr."""
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
    for program in needed:
        program(duals.header)


def alone(memory: Memory) -> tuple[str, ...]:
    """Return the names of the families of forces of a model (such as rods or contacts) that SIMD lanes do not
    support. The result is empty if the model can be stepped in lanes, several mechanisms at the same time.
    ``memory`` contains the tables of the model."""
    return tuple(each.name for each in PROGRAMS if each.is_needed(memory) and each.family.lanes == "refused")


def connect_lanes(lanes: LaneMemory, memory: Memory) -> None:
    """Write the addresses of the compiled functions that a model needs into the header of ``lanes``. ``lanes``
    contains the arrays of several mechanisms that SIMD lanes advance at the same time, ``memory`` those of one of
    these mechanisms. Functions that are missing are compiled, which is announced on stderr."""
    used = (each for each in PROGRAMS if each.is_needed(memory) and each.family.lanes != "unused")
    needed = [each.entry.of(lanes.header.dtype) for each in used]
    announce(advance.of(lanes.header.dtype), *needed, text=COMPILING_LANES.format(lanes.width))
    for program in needed:
        program(lanes.header)


def announce_structure(entry: EntryPoint) -> None:
    """Print to stderr that this entry point (function that Python calls) is being compiled for one structure of
    mechanism, unless that has been done before."""
    announce(entry, text=COMPILING_STRUCTURE)


def announce(*entries: EntryPoint, text: str = COMPILING) -> bool:
    """Print a message to stderr if any of the ``entries`` (compiled functions that Python calls) is not compiled
    yet, and return whether that is so. The message is ``text``, or a fixed one if indices are checked or compiled
    code cannot be stored. Nothing is compiled here, but code that is stored on disk is loaded.
    """
    if all(entry.is_ready for entry in entries):
        return False
    unkept = CHECKING if CHECKED else NOT_KEPT
    is_kept = not CHECKED and code_folder() is not None
    print(text if is_kept else unkept, file=sys.stderr, flush=True)
    return True


def load_all(processes: int = 1) -> Iterator[tuple[str, float]]:
    """Load or compile all programs and loops of the time step, and yield the title of each and the time that it
    took [s]. Up to ``processes`` processes compile at the same time; one after the other if fewer than two
    programs are missing, there is no cache on disk, or a process is killed.

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
    """Return a text for messages that tells where the compiled code of the time step is: in the installed package,
    in the cache folder (named), or for this process only."""
    if advance.is_shipped:
        return "in the package as it came"
    folder = None if CHECKED else code_folder()
    return "for this process only" if folder is None else f"kept in {folder}"
