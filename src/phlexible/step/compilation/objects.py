"""Machine code of entry points in files, loaded and called without a compiler.

A file holds one entry point for one processor: digest of the sources, required features, an object file of LLVM. It
was made for a release, or by the first run on this machine, and is used if everything fits; otherwise the entry
point is compiled (``modules.py``), which is the only time that Numba is imported.
"""

import ctypes
import hashlib
import json
import os
import platform
import re
import struct
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from llvmlite import binding

ENTRY = "phlexible_entry"
"""Name of the function in each object."""

C_PREFIX = "ph_k_"
"""Of the names of entry points in C."""

ARRAY_TYPE, TYPE_ERROR = "phlexible_array_type", "phlexible_type_error"
"""Names of the addresses of NumPy's type of arrays and of Python's type of errors."""

TYPE, DATA, DIMENSIONS, LENGTHS, KIND, FLAGS = 8, 16, 24, 32, 56, 64
"""Where an array of NumPy has its type, address, number of axes, lengths, kind of entries and flags [bytes]."""

KIND_NUMBER = 28
"""Where a kind of entries has its number [bytes]; this and the above are the same in all versions of NumPy."""

PYTHON = (
    "PyBool_FromLong",
    "PyErr_Occurred",
    "PyErr_SetString",
    "PyEval_RestoreThread",
    "PyEval_SaveThread",
    "PyFloat_AsDouble",
    "PyLong_AsLongLong",
    "Py_BuildValue",
)
"""What entry points call of Python: its stable interface."""

CONTIGUOUS = 0x0101
"""Flags of an array whose entries lie one after the other, where numbers of their size may lie."""

CHECKED = bool(os.environ.get("PHLEXIBLE_CHECKED"))
"""Kernels compare every index with the length of its table; they are compiled in each process."""

SETTINGS = ("CPU_NAME", "CPU_FEATURES", "OPT", "ENABLE_AVX", "LOOP_VECTORIZE", "SLP_VECTORIZE")
"""Environment variables NUMBA_... that say what code is to be made: no release has made it."""

X86_64_V3 = ("avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2")

NOT_IN_CODE = ("entry_points.py", "user_function.py")
"""Of the sources beside kernels: what finds and keeps code."""

SEAL = 32
"""Bytes of the digest with which a file begins."""

LOADED = time.time()
"""When this process began to load the sources [s]."""


@dataclass(frozen=True)
class CodeTarget:
    """A processor and system that machine code is for.

    Attributes:
        triple: processor and system in LLVM's words.
        cpu: kind of processor, as LLVM calls it.
        features: additional and missing features, in LLVM's words.
        needs: features of the processor, without which the code does not run.
    """

    triple: str
    cpu: str
    features: str = ""
    needs: tuple[str, ...] = ()

    def machine(self, level: int) -> Any:
        """Return LLVM's target machine for this processor and system with a level of optimization. Its code is for
        just-in-time use: addresses are filled in when it is loaded."""
        reloc = "static" if self.triple.startswith("x86_64") else "default"
        own = self.triple.removesuffix("-elf") if os.name == "nt" else self.triple  # llvmlite puts it on there
        return binding.Target.from_triple(own).create_target_machine(
            cpu=self.cpu, features=self.features, opt=level, reloc=reloc, codemodel="jitdefault", jit=True
        )


SHIPPED = {
    "linux-x86_64": CodeTarget("x86_64-unknown-linux-gnu", "x86-64-v3", needs=X86_64_V3),
    "linux-aarch64": CodeTarget("aarch64-unknown-linux-gnu", "generic"),
    "darwin-arm64": CodeTarget("arm64-apple-darwin", "apple-m1"),
    "windows-amd64": CodeTarget("x86_64-pc-windows-msvc-elf", "x86-64-v3", needs=X86_64_V3),
}
"""What releases have code for, by system and processor as Python calls them."""


def c_name(name: str) -> str:
    """Return the name in C of the compiled entry point (compiled function that Python calls) with this name."""
    return C_PREFIX + name


def this_system() -> str:
    """Return operating system and processor of this machine as a text such as "linux-x86_64"."""
    return f"{platform.system()}-{platform.machine()}".lower()


def this_target() -> CodeTarget:
    """Return the processor and system for which code is compiled on this machine. NUMBA_CPU_NAME and
    NUMBA_CPU_FEATURES, if set, replace the name and features of this processor."""
    initialize_llvm()
    cpu = os.environ.get("NUMBA_CPU_NAME") or binding.get_host_cpu_name()
    usual = "" if cpu == "generic" else binding.get_host_cpu_features().flatten()
    triple = binding.get_process_triple() + ("-elf" if os.name == "nt" else "")
    return CodeTarget(triple, cpu, os.environ.get("NUMBA_CPU_FEATURES", usual))


def code_settings() -> str:
    """Return the set environment variables among six of Numba that change compiled code, as one text "NAME=value
    NAME=value". They are NUMBA_CPU_NAME, NUMBA_CPU_FEATURES, NUMBA_OPT, NUMBA_ENABLE_AVX, NUMBA_LOOP_VECTORIZE and
    NUMBA_SLP_VECTORIZE. The text is empty if none is set."""
    names = [f"NUMBA_{name}" for name in SETTINGS]
    return " ".join(f"{name}={os.environ[name]}" for name in names if os.environ.get(name))


def can_run_machine_code() -> bool:
    """Return whether this Python and this NumPy store their objects in the memory layout that machine code from
    files reads."""
    array = np.zeros((2, 3))
    address = id(array)

    def number(offset: int, kind: Any) -> int:
        return int(kind.from_address(address + offset).value)

    return (
        sys.implementation.name == "cpython"
        and struct.calcsize("P") == 8
        and object.__basicsize__ == 16
        and number(TYPE, ctypes.c_uint64) == id(np.ndarray)
        and number(DATA, ctypes.c_uint64) == array.ctypes.data
        and number(DIMENSIONS, ctypes.c_int) == 2
        and number(KIND, ctypes.c_uint64) == id(array.dtype)
        and number(FLAGS, ctypes.c_int) & CONTIGUOUS == CONTIGUOUS
        and ctypes.c_int.from_address(id(array.dtype) + KIND_NUMBER).value == array.dtype.num
    )


@cache
def sources_digest() -> str:
    """Return a digest (SHA-256) of all source files that machine code depends on, without their docstrings and
    comment lines. Code made from sources with another digest is never used. If sources changed after this process
    loaded them, the result is "changed", which no code has."""
    if sources_changed():
        return "changed"
    found = hashlib.sha256()
    for file in _source_files():
        content = _without_docstrings(file.read_bytes().replace(b"\r\n", b"\n"))
        found.update(f"{file.parent.name}/{file.name} {len(content)}\n".encode() + content)
    return found.hexdigest()


def sources_changed() -> bool:
    """Return whether a source file was written after this process began to load the sources. Code that this
    process compiles may then be a mixture of two versions; it is neither stored in nor read from files."""
    now = time.time()
    return any(LOADED < file.stat().st_mtime <= now for file in _source_files())


def _source_files() -> list[Path]:
    folder = Path(__file__).parents[1]
    files = (file for each in ("compilation", "kernels", "tables") for file in (folder / each).rglob("*.py"))
    return sorted(file for file in files if file.name not in NOT_IN_CODE)


def _without_docstrings(source: bytes) -> bytes:
    """Return Python source text without comment lines and docstrings, which do not change machine code."""
    kept: list[bytes] = []
    for number, text in enumerate(source.split(b'"""')):
        before = kept[-1].rstrip(b" ") if kept else b""
        is_docstring = number % 2 == 1 and (not before or before.endswith(b"\n"))
        kept.append(b"" if is_docstring and not before.endswith((b"(\n", b",\n", b"=\n")) else text)
    return re.sub(rb"(?m)^ *#.*\n", b"", b'"""'.join(kept))


@dataclass(frozen=True)
class CodeFile:
    """Compiled code of one entry point, as it is stored.

    Attributes:
        sources: ``sources_digest`` of the sources that it was made from.
        code: an object file or bitcode of LLVM.
    """

    sources: str
    code: bytes

    def write(self, file: Path) -> None:
        """Write the compiled code of an entry point (function that Python calls) to a ``file``, compressed and
        with a digest. Other processes see the complete file or none. Nothing is written if sources changed since
        they were loaded."""
        description = vars(self).copy()
        write_sealed(file, description, zlib.compress(description.pop("code"), 1))

    @classmethod
    def read(cls, file: Path) -> Self:
        """Return the compiled code of an entry point (function that Python calls) that is stored in a file by
        ``write``, decompressed. A file whose digest or compression is damaged raises ``ValueError``.

        Raises:
            ValueError: the file has other bytes than were written.
        """
        description, code = read_sealed(file)
        try:
            return cls(**description, code=zlib.decompress(code))
        except zlib.error as error:
            raise ValueError(f"{file} holds compiled code that cannot be unpacked: {error}") from error

    def fits(self) -> bool:
        """Return whether this compiled code was made from the present source files, by comparing digests. It is
        False if a source file changed since this process loaded it."""
        return self.sources == sources_digest()


@dataclass(frozen=True)
class ObjectFile(CodeFile):
    """Machine code of one entry point, as it is stored.

    Attributes:
        needs: required features of the processor.
        calls: names of functions of the system.
    """

    needs: Sequence[str]
    calls: Sequence[str]

    def fits(self) -> bool:
        """Return whether this stored machine code can be used: it was made from the present source files, and this
        processor and system can run it. The processor must have all features in ``needs``, and all functions in
        ``calls`` must have an address."""
        if not super().fits():
            return False
        initialize_llvm()
        has = binding.get_host_cpu_features() if self.needs else {}
        return all(has.get(name) for name in self.needs) and all(
            binding.address_of_symbol(name) is not None for name in self.calls
        )


@dataclass(frozen=True)
class ModuleFile(CodeFile):
    """LLVM module of one entry point as it is stored, for code that runs without Python.

    Attributes:
        declaration: of its function of C.
    """

    declaration: str


def write_sealed(file: Path, description: dict[str, Any], content: bytes) -> None:
    """Write a JSON ``description`` and the bytes ``content`` to a ``file`` that begins with their SHA-256 digest,
    to be read by ``read_sealed``. The file is written under another name first and then renamed, so that other
    processes see the complete file or none. Nothing is written if source files changed since they were loaded."""
    if sources_changed():
        return
    words = json.dumps(description).encode()
    whole = struct.pack("<q", len(words)) + words + content
    aside = file.with_suffix(f"{file.suffix}.{os.getpid()}")
    aside.write_bytes(hashlib.sha256(whole).digest() + whole)
    aside.replace(file)


def read_sealed(file: Path) -> tuple[dict[str, Any], bytes]:
    """Return the JSON description and the bytes in a file that ``write_sealed`` wrote. Raise ``ValueError`` if the
    SHA-256 digest at its beginning is not that of the rest.

    Raises:
        ValueError: the file has other bytes than were written.
    """
    found = file.read_bytes()
    seal, whole = found[:SEAL], found[SEAL:]
    if hashlib.sha256(whole).digest() != seal:
        raise ValueError(f"{file.name} has other bytes than were written")
    (length,) = struct.unpack_from("<q", whole)
    return json.loads(whole[8 : 8 + length]), whole[8 + length :]


@cache
def initialize_llvm() -> None:
    """Initialize LLVM for this processor, and register the functions and types of Python that machine code of
    the time step calls; done once in a process."""
    try:
        binding.initialize()  # of llvmlite before 0.45; newer ones raise, and do without
    except RuntimeError:
        pass
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    for name in PYTHON:
        binding.add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value)
    binding.add_symbol(TYPE_ERROR, id(TypeError))
    _engine()  # the first one makes LLVM look for names in this process
    binding.add_symbol(ARRAY_TYPE, id(np.ndarray))


def _engine() -> Any:
    machine = CodeTarget(binding.get_process_triple(), "").machine(2)
    return binding.create_mcjit_compiler(binding.parse_assembly(""), machine)


class _Method(ctypes.Structure):
    """Python's structure ``PyMethodDef`` in C."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("code", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


METH_FASTCALL = 0x80


class Loaded:
    """Machine code in memory, valid as long as this object lives.

    Args:
        name: of the entry point.
        code: an object file of LLVM.

    Attributes:
        function: calls the code, with as many arguments as it takes.
    """

    def __init__(self, name: str, code: bytes) -> None:
        initialize_llvm()
        self._engine = _engine()
        self._engine.add_object_file(binding.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        address = self._engine.get_function_address(ENTRY)
        self._method = _Method(name.encode(), address, METH_FASTCALL, None)
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.argtypes, make.restype = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p), ctypes.py_object
        self.function: Callable[..., Any] = make(ctypes.byref(self._method), None, None)
