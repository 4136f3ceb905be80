"""Object files of the programs that a model needs: the loop over steps, and measurements of the state."""

import hashlib
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import llvmlite
from llvmlite import binding

from phlexible.libraries import machine_code
from phlexible.libraries.linking import Platform
from phlexible.libraries.machine_code import object_files
from phlexible.step.compilation import passes
from phlexible.step.compilation.entry_points import EntryPoint, code_folder
from phlexible.step.compilation.objects import (
    CHECKED,
    CodeTarget,
    ObjectFile,
    c_name,
    code_settings,
    sources_digest,
)
from phlexible.step.programs import PROGRAMS, advance, joint_velocities, measure, measured_vectors
from phlexible.step.tables.memory import Memory

_OF_ALL = (advance, joint_velocities, measured_vectors, measure)

BUILT = (*_OF_ALL, *(program.entry for program in PROGRAMS))
"""Programs that some model may need; the script that compiles them for wheels (.ci) asks for them."""


def families(memory: Memory) -> tuple[EntryPoint, ...]:
    """Return the compiled programs for the features of a model (with the arrays ``memory``), such as contacts,
    that it needs. Each program stores the addresses of its functions in a header."""
    return tuple(each.entry for each in PROGRAMS if each.is_needed(memory) and each.family.lanes != "unused")


def programs(memory: Memory) -> tuple[EntryPoint, ...]:
    """Return all compiled programs that a model (with the arrays ``memory``) needs: the programs of every model,
    then those for its features."""
    return *_OF_ALL, *families(memory)


COMPILING = "phlexible: compiling the time step of libraries for {}; done once for all models"


def object_files_of(
    memory: Memory, targets: Mapping[str, Platform], modules: Mapping[str, str]
) -> dict[str, dict[str, bytes]]:
    """Return the object files of the programs that a model (with the arrays ``memory``) needs, by platform
    (``targets``) and file name. ``modules`` are LLVM texts of functions that only this model has. Cached files are
    used where they are up to date.

    Programs are the same for all models: each is made once and kept.

    Args:
        memory: of the model.
        targets: platforms by their names.
        modules: of functions that only this model has, by their names, as texts of LLVM.

    Raises:
        RuntimeError: LLVM ended its process, with its words.
    """
    codes = {name: binding.parse_assembly(text).as_bitcode() for name, text in modules.items()}
    return {
        name: _object_files(memory, platform) | _further_files(codes, platform)
        for name, platform in targets.items()
    }


def _further_files(codes: Mapping[str, bytes], platform: Platform) -> dict[str, bytes]:
    made = object_files(codes, platform.machine, as_in_python(platform)) if codes else {}
    return {f"{name}.o": code for name, code in made.items()}


def as_in_python(platform: Platform) -> CodeTarget | None:
    """Return None, so that code is optimized for the platform itself. Another implementation may return the
    processor whose optimizations reproduce every digit of runs in Python; ``platform`` is not used.

    Its vectors may be longer than those of the platform, which makes code much longer: tests alone ask for it.
    """
    return None


def _object_files(memory: Memory, platform: Platform) -> dict[str, bytes]:
    optimized_for = as_in_python(platform)
    folder, ending = None if CHECKED else code_folder(), _cache_suffix(platform, optimized_for)
    needed = programs(memory)
    found = {} if folder is None else {entry: _cached_code(folder / (entry.name + ending)) for entry in needed}
    missing = [entry for entry in needed if not found.get(entry)]
    if missing:
        print(COMPILING.format(platform.name), file=sys.stderr, flush=True)
        codes = {c_name(entry.name): entry.module_file().code for entry in missing}
        made = object_files(codes, platform.machine, optimized_for)
        found |= {entry: made[c_name(entry.name)] for entry in missing}
    if folder is not None:
        with suppress(OSError):  # no space left: the next process compiles again
            for entry in missing:
                ObjectFile(sources_digest(), found[entry], (), ()).write(folder / (entry.name + ending))
    return {f"{c_name(entry.name)}.o": code for entry, code in found.items()}


def _cached_code(file: Path) -> bytes:
    """Return cached machine code from a ``file`` if it was made from the present sources. Empty bytes if it was
    not, or if the file does not exist or is damaged."""
    try:
        kept = ObjectFile.read(file)
    except (OSError, ValueError):
        return b""
    return kept.code if kept.sources == sources_digest() else b""


def _cache_suffix(platform: Platform, optimized_for: CodeTarget | None) -> str:
    """Return the end of the file names of cached machine code, ``-PLATFORM-DIGEST.library``. The digest
    covers machine and compiler settings, the LLVM version, the source of this compiler and ``optimized_for``,
    the processor that the optimization is for (None: that of ``platform``)."""
    own = Path(machine_code.__file__).read_bytes() + Path(passes.__file__).read_bytes()
    words = f"{platform.machine} {optimized_for} {code_settings()} {llvmlite.__version__}"
    return f"-{platform.name}-{hashlib.sha256(words.encode() + own).hexdigest()[:16]}.library"
