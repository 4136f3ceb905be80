"""Platforms of compiled models, and the compilers that link them: ``cc`` on this machine, Zig for all."""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile

from phlexible.errors import MissingExtraError, ParameterError, PhlexibleError, writing
from phlexible.libraries.machine_code import Machine

SOURCES = ("model.h", "model.c")
FMU, ARCHIVE, TABLES, PAGES = ".fmu", ".zip", ".tables", (".html", ".htm")
"""Suffixes of an FMU, of the sources of a library, of other numbers for one, and of a page with one."""
WASM = "wasm32"
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Platform:
    """Platform for which models are compiled.

    Attributes:
        name: in the argument ``targets``.
        machine: for LLVM.
        zig: name for Zig.
        suffix: of its libraries.
    """

    name: str
    machine: Machine
    zig: str
    suffix: str


TARGETS = {
    target.name: target
    for target in (
        Platform("linux-x86_64", Machine("x86_64-unknown-linux-gnu", "x86-64-v3"), "x86_64-linux-gnu.2.17", ".so"),
        Platform("linux-aarch64", Machine("aarch64-unknown-linux-gnu"), "aarch64-linux-gnu.2.17", ".so"),
        Platform("windows-x86_64", Machine("x86_64-w64-windows-gnu", "x86-64-v3"), "x86_64-windows-gnu", ".dll"),
        Platform("macos-arm64", Machine("arm64-apple-macosx11.0.0"), "aarch64-macos.11.0", ".dylib"),
        Platform("macos-x86_64", Machine("x86_64-apple-macosx11.0.0", "x86-64-v3"), "x86_64-macos.11.0", ".dylib"),
        Platform("wasm32", Machine("wasm32-unknown-wasi", "", "+simd128,+bulk-memory"), "wasm32-wasi", ".wasm"),
    )
}
SUFFIXES = tuple(dict.fromkeys(target.suffix for target in TARGETS.values()))


def host() -> str | None:
    """Return the name of this machine's platform, such as "linux-x86_64", from operating system and processor;
    None if it is not among the platforms for which models can be built."""
    system = {"linux": "linux", "win32": "windows", "darwin": "macos"}.get(sys.platform, sys.platform)
    machine = platform.machine().lower()
    processor = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    name = f"{system}-{'arm64' if (system, processor) == ('macos', 'aarch64') else processor}"
    return name if name in TARGETS else None


def platforms_of(path: Path, platforms: Sequence[str] | None) -> tuple[Platform, ...]:
    """Return the platforms for which a file is built, one for a library, one or more for an FMU. Without the user's
    ``platforms``, the suffix of ``path`` decides. An FMU is for all platforms but ``WASM`` if ziglang is installed
    or this machine is none of the known ones, else for this machine. Another file is for this machine if its
    libraries have that suffix, else for the first platform whose libraries have it (``WASM`` for pages; archives
    and tables fit all). Raise ``ParameterError`` for other suffixes, unknown platforms, several if the file is no
    FMU, and platforms of another suffix.

    Raises:
        ParameterError: no such platform, several, or one whose libraries end otherwise.
    """
    known = (*SUFFIXES, FMU, PAGES[0], ARCHIVE, TABLES)
    if path.suffix not in (*known, *PAGES):
        raise ParameterError(f"path must end in {', '.join(known)}, got {str(path)!r}")
    suffix = TARGETS[WASM].suffix if path.suffix in PAGES else path.suffix
    fitting = [name for name, target in TARGETS.items() if suffix in (FMU, ARCHIVE, TABLES, target.suffix)]
    own = host()
    if path.suffix == FMU:
        fitting.remove(WASM)
    if platforms is None and path.suffix == FMU:
        platforms = fitting if find_spec("ziglang") is not None or own is None else [own]
    elif platforms is None:
        platforms = [own if own in fitting else fitting[0]]
    unknown = [name for name in platforms if name not in TARGETS]
    if unknown or not platforms or (len(platforms) > 1 and path.suffix != FMU):
        words = "some" if path.suffix == FMU else "one"
        raise ParameterError(f"targets must be {words} of {', '.join(TARGETS)} in a list, got {list(platforms)!r}")
    for name in platforms:
        if name not in fitting:
            suffix = TARGETS[name].suffix
            raise ParameterError(f"libraries of {name} end in {suffix}, got {str(path)!r}")
    return tuple(TARGETS[name] for name in dict.fromkeys(platforms))


def _compiler(target: Platform) -> tuple[list[str], bool]:
    """Return the command that compiles C for the platform ``target`` as a list, and whether the compiler is Zig.
    For this machine's own platform, the first of cc, gcc and clang on the path is used, except on Windows.
    Otherwise ``ziglang`` is used with the target's name. Raise ``MissingExtraError`` if ziglang is needed and not
    installed.

    Raises:
        MissingExtraError: there is none.
    """
    own = next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)
    if target.name == host() and own and sys.platform != "win32":
        return [own], False
    if find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc", "-target", target.zig], True
    here = "no C compiler (cc) was found, and " if target.name == host() else ""
    raise MissingExtraError(
        f"{here}ziglang is needed to link a model for {target.name}; install it with: pip install phlexible[build]"
    )


def check_linker(target: Platform) -> None:
    """Raise MissingExtraError if there is no C compiler for a platform (``target``), before anything is
    compiled.

    Raises:
        MissingExtraError: there is no compiler for it.
    """
    _compiler(target)


def sources(codes: Mapping[str, bytes], data: str) -> dict[str, bytes]:
    """Return all source and object files from which a library of a model is linked, as bytes by file name.
    ``codes`` are the object files, ``data`` is the C text with the values and arrays of the model."""
    own = {name: (HERE / name).read_bytes() for name in SOURCES}
    return {**own, "model_data.h": data.encode(), **codes}


def write_archive(files: Mapping[str, bytes], path: Path) -> None:
    """Write a zip archive of ``files``, bytes by their names in the archive, to the file ``path``. It may be an
    FMU, or the C sources and object files of a library for a linker of the user. Raise ``ResultFileError`` if it
    cannot be written.

    Raises:
        ResultFileError: it cannot be written.
    """
    with writing(path), ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def linked_library(target: Platform, files: Mapping[str, bytes], is_fmu: bool = False) -> bytes:
    """Compile the C sources in ``files`` for the platform ``target``, link them with the object files there, and
    return the shared library as bytes. The C compiler works in a temporary folder; if it fails, ``PhlexibleError``
    with its message is raised. If ``is_fmu``, only functions of an FMU are visible.

    Args:
        target: the platform.
        files: ``sources`` and further files, by name.
        is_fmu: only the functions of an FMU are visible.

    Raises:
        MissingExtraError: there is no compiler for the platform.
        PhlexibleError: it refuses the sources; a fault of phlexible.
    """
    command, is_zig = _compiler(target)
    with TemporaryDirectory() as name:
        folder = Path(name)
        for source, content in files.items():
            (folder / source).write_bytes(content)
        made = folder / f"made{target.suffix}"
        command += ["-std=c11", "-Os" if target.name == WASM else "-O2", "-ffp-contract=off", "-fvisibility=hidden"]
        command += [source for source in files if source.endswith((".c", ".o"))] + ["-DPH_HIDDEN"] * is_fmu
        command += ["-o", made.name, *_flags(target)]
        environment = {**os.environ, "ZIG_LOCAL_CACHE_DIR": name} if is_zig else None
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
        if done.returncode:
            raise PhlexibleError(f"the compiler for {target.name} failed: {done.stderr.strip()[-2000:]}")
        return made.read_bytes()


def write_bytes(content: bytes, path: Path) -> None:
    """Write bytes (``content``) to a file (``path``); raise ResultFileError if that fails.

    Raises:
        ResultFileError: it cannot be written.
    """
    with writing(path):
        path.write_bytes(content)


def write_library(content: bytes, path: Path) -> None:
    """Write a compiled library (``content``) to the file ``path``, replacing an existing file in one step. Also
    copy the C header ``model.h`` to the same folder. Raise ``ResultFileError`` if that fails.

    Raises:
        ResultFileError: they cannot be written.
    """
    with writing(path):
        beside = path.with_name(f".{path.name}.new")
        beside.write_bytes(content)
        os.replace(beside, path)  # a library that somebody has loaded stays what it is
        shutil.copyfile(HERE / "model.h", path.with_name("model.h"))


def _flags(target: Platform) -> list[str]:
    if target.suffix == ".wasm":
        declared = re.findall(r"^PH_API .*?\b(ph_\w+)\(", (HERE / "model.h").read_text("utf-8"), re.MULTILINE)
        kept = [f"-Wl,--export={name}" for name in declared]
        return ["-mexec-model=reactor", "-Wl,--strip-all", "-Wl,--gc-sections", "-Wl,--export=__heap_base", *kept]
    if target.suffix == ".dll":
        return ["-shared", "-s"]
    if target.suffix == ".dylib":
        return ["-shared", "-fPIC"]
    return ["-shared", "-fPIC", "-nostartfiles", "-s", "-Wl,--gc-sections", "-lm"]
