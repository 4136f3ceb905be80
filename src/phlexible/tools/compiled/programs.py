"""The programs that a model needs, as modules that C calls: the loop over steps, and what measures the state."""

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import llvmlite

from phlexible.step.compilation.entry_points import kept_folder
from phlexible.step.compilation.linked_modules import Argument, Entry, linked, written
from phlexible.step.compilation.objects import sources_digest
from phlexible.step.kernels.joint_velocities import joint_velocities
from phlexible.step.kernels.laws import measure
from phlexible.step.kernels.loop import advance
from phlexible.step.kernels.measured_vectors import measured_vectors
from phlexible.step.programs import PROGRAMS
from phlexible.step.tables.memory import Memory
from phlexible.step.tables.requests import StepRequest, record
from phlexible.tools.compiled import machine_code
from phlexible.tools.compiled.machine_code import Machine, object_files, small_object_files

_HEADER, _LINE, _ROWS = Argument("int64"), Argument("float64"), Argument("float64", 2)
_NUMBERS, _INTEGERS = Argument("int64"), Argument("int64", 2)
_REQUEST = Argument(record(StepRequest).dtype)

LOOP = Entry(advance, (_HEADER, _LINE, _REQUEST, _ROWS, _ROWS, _LINE, _ROWS))
VELOCITIES = Entry(joint_velocities, (_HEADER, _ROWS, _LINE, _LINE))
VECTORS = Entry(
    measured_vectors,
    (_ROWS, Argument("float64", 3), _LINE, _LINE, Argument(), _INTEGERS, _ROWS, _ROWS, _ROWS, _ROWS),
)
MEASURE = Entry(measure, (_ROWS, _ROWS, _INTEGERS, _INTEGERS, _INTEGERS, _INTEGERS, _NUMBERS, _LINE, _LINE, _LINE))


def families(memory: Memory) -> tuple[Entry, ...]:
    """Programs of the families that a model has; each writes the addresses of its functions into a header."""
    return tuple(Entry(program.entry.source, (_HEADER,)) for program in PROGRAMS if program.is_needed(memory))


def programs(memory: Memory) -> tuple[Entry, ...]:
    """All that a model needs."""
    return LOOP, VELOCITIES, VECTORS, MEASURE, *families(memory)


def object_files_of(memory: Memory, targets: Mapping[str, Machine]) -> dict[str, dict[str, bytes]]:
    """Object files by their names, of each of several platforms: one with the digits of live runs; for WebAssembly,
    which browsers load, one of each program, with loops as they are written: a third as long.

    Raises:
        RuntimeError: LLVM ended its process, with its words.
    """
    small = {name: machine for name, machine in targets.items() if machine.triple.startswith("wasm")}
    others = {name: machine for name, machine in targets.items() if name not in small}
    found = {name: _small(memory, machine) for name, machine in small.items()}
    if others:
        made = linked(programs(memory))
        whole = object_files(made.border, made.kept, made.parts, others)
        found |= {name: {"programs.o": code} for name, code in whole.items()}
    return found


def _small(memory: Memory, machine: Machine) -> dict[str, bytes]:
    """Programs are the same for all models: each is made once and kept."""
    folder, maker = kept_folder(), Path(machine_code.__file__).read_bytes() + Path(__file__).read_bytes()
    key = hashlib.sha256(f"{machine} {sources_digest()} {llvmlite.__version__}".encode() + maker).hexdigest()[:16]
    found, missing = dict[str, bytes](), list[Entry]()
    for entry in programs(memory):
        try:
            found[entry.name] = (folder or Path("nowhere")).joinpath(f"{entry.name}-{key}.o").read_bytes()
        except OSError:
            missing.append(entry)
    if missing:
        found |= small_object_files({entry.name: written(entry) for entry in missing}, machine)
    for entry in missing:
        if folder is None:
            break
        with suppress(OSError):  # no space left: the next process compiles again
            beside = folder / f".{entry.name}-{key}.{os.getpid()}"
            beside.write_bytes(found[entry.name])
            os.replace(beside, folder / f"{entry.name}-{key}.o")
    return {f"{name}.o": code for name, code in found.items()}
