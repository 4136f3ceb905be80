"""Libraries of ``ph.build``, loaded and stepped from Python (``ph.load_library``)."""

import ctypes
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from tempfile import gettempdir
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, file_path, finite, read_only, reals, whole
from phlexible.display import how_many, short_repr
from phlexible.errors import ConvergenceError, ModelError, ParameterError, ResultFileError

OK, NOT_CONVERGED, SINGULAR, _, _, OVER, _, OUT_OF_RANGE, FIXED = range(9)
"""Values of ``ph_status_code`` in model.h."""

_DOUBLES, _CHARS = ctypes.POINTER(ctypes.c_double), ctypes.c_char_p
_SIGNATURES: dict[str, tuple[type | None, tuple[type, ...]]] = {
    "ph_name": (_CHARS, ()),
    "ph_version": (_CHARS, ()),
    "ph_step_size": (ctypes.c_double, ()),
    "ph_input_count": (ctypes.c_int, ()),
    "ph_input_name": (_CHARS, (ctypes.c_int,)),
    "ph_input_unit": (_CHARS, (ctypes.c_int,)),
    "ph_input_size": (ctypes.c_int, (ctypes.c_int,)),
    "ph_output_count": (ctypes.c_int, ()),
    "ph_output_name": (_CHARS, (ctypes.c_int,)),
    "ph_output_unit": (_CHARS, (ctypes.c_int,)),
    "ph_output_size": (ctypes.c_int, (ctypes.c_int,)),
    "ph_parameter_count": (ctypes.c_int, ()),
    "ph_parameter_name": (_CHARS, (ctypes.c_int,)),
    "ph_parameter_unit": (_CHARS, (ctypes.c_int,)),
    "ph_parameter_range": (ctypes.c_int, (ctypes.c_int, _DOUBLES, _DOUBLES, _DOUBLES)),
    "ph_parameter_is_tunable": (ctypes.c_int, (ctypes.c_int,)),
    "ph_set_parameter": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_int, ctypes.c_double)),
    "ph_get_parameter": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_int, _DOUBLES)),
    "ph_size": (ctypes.c_size_t, ()),
    "ph_place": (ctypes.c_void_p, (ctypes.c_void_p,)),
    "ph_reset": (ctypes.c_int, (ctypes.c_void_p,)),
    "ph_load_tables": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)),
    "ph_step": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_int)),
    "ph_step_to": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_double)),
    "ph_time": (ctypes.c_double, (ctypes.c_void_p,)),
    "ph_status": (ctypes.c_int, (ctypes.c_void_p,)),
    "ph_message": (_CHARS, (ctypes.c_int,)),
    "ph_set_input": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_int, _DOUBLES)),
    "ph_get_input": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_int, _DOUBLES)),
    "ph_get_output": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_int, _DOUBLES)),
    "ph_state_size": (ctypes.c_size_t, ()),
    "ph_save": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_void_p)),
    "ph_restore": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_void_p)),
}
MOST_STEPS = 100  # at a time: Ctrl-C waits for them
MOST_AT_ONCE, TINY = 1e9, 1e-9


def load_library(path: str | PathLike[str], **parameters: float) -> "Library":
    """Return a new instance of the model in a compiled library (file ``path``) that ``ph.build`` wrote for this
    machine, in its initial state. Each call returns a separate instance. ``parameters`` are values of the
    parameters that the library was built with, by name.

    Args:
        path: of the library.
        parameters: values of those that it was built with; others have their usual ones.

    Raises:
        ResultFileError: no such file, or no library of this machine that ``ph.build`` wrote.
        ParameterError: no such parameter, or a value outside of its range.

    Example:
        >>> library = ph.load_library("wheel.so")  # doctest: +SKIP
        >>> library.inputs["motor"] = 2.0  # doctest: +SKIP
        >>> library.step(50)  # doctest: +SKIP
        >>> library.read("speed")  # doctest: +SKIP
    """
    library = Library(Path(file_path("path", path)))
    library.parameters.update(parameters)
    return library


@dataclass(frozen=True, eq=False)
class SavedState:
    """State of a library for ``Library.restore``, as bytes that may be written to a file.

    Attributes:
        content: as ``ph_save`` wrote it.
    """

    content: bytes

    __repr__ = short_repr


Value = TypeVar("Value")


class _ByName(MutableMapping[str, Value]):
    """Mapping of named values of a library, none of which can be removed.

    Args:
        functions, instance: of the library.
        kind: "input" or "parameter", as in the names of functions and in messages.
        remedy: advice for a user who wants to remove one.
    """

    def __init__(self, functions: ctypes.CDLL, instance: int, kind: str, remedy: str = "") -> None:
        self._c, self._instance, self._kind, self._remedy = functions, instance, kind, remedy
        count, named = (getattr(functions, f"ph_{kind}_{what}") for what in ("count", "name"))
        self._indices = {named(k).decode(): k for k in range(count())}

    def __delitem__(self, name: str) -> None:
        """Raise ParameterError, because an input or parameter ``name`` of a compiled library cannot be
        removed, only set."""
        raise ParameterError(f"{self._kind} {name!r} cannot be removed{self._remedy}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)

    def _index(self, name: str) -> int:
        if not isinstance(name, str) or name not in self._indices:
            known = ", ".join(map(repr, self._indices)) or "none"
            raise ParameterError(f"no {self._kind} is named {name!r}; the {self._kind}s of this library: {known}")
        return self._indices[name]


class LibraryInputs(_ByName[Array]):
    """Values of inputs by their names; a new value holds from the next step on."""

    def __init__(self, functions: ctypes.CDLL, instance: int) -> None:
        super().__init__(functions, instance, "input", "; set it to zero")

    def __getitem__(self, name: str) -> Array:
        """Return the present value of the input ``name`` of a compiled library, shape (1,), or (3,) for a
        load vector; read-only."""
        found = np.zeros(self._size(name))
        self._c.ph_get_input(self._instance, self._indices[name], _address(found))
        return read_only(found)

    def __setitem__(self, name: str, value: ArrayLike) -> None:
        """Set the input ``name`` of a compiled library to a ``value``, a number or (loads) three numbers, from the
        next time step on. An unknown name, another count or values that are not finite raise ``ParameterError``.

        Raises:
            ParameterError: no input of that name, or not its count of finite numbers.
        """
        size = self._size(name)
        found = np.array(np.atleast_1d(reals(f"input {name!r}", value)), dtype=np.float64)
        if found.shape != (size,) or not np.isfinite(found).all():
            raise ParameterError(f"input {name!r} takes {how_many(size, 'finite number')}, got {value!r}")
        self._c.ph_set_input(self._instance, self._indices[name], _address(found))

    def __repr__(self) -> str:
        return f"LibraryInputs({', '.join(f'{name!r}: {value.tolist()}' for name, value in self.items())})"

    def _size(self, name: str) -> int:
        return int(self._c.ph_input_size(self._index(name)))


class LibraryParameters(_ByName[float]):
    """Values of parameters by their names.

    Before the first step the start follows them. Between steps those may change that move neither the start nor
    joints; places and velocities stay then, and what the energy changes by counts as dissipated.
    """

    def __init__(self, functions: ctypes.CDLL, instance: int) -> None:
        super().__init__(functions, instance, "parameter")

    @property
    def ranges(self) -> dict[str, tuple[float, float, float]]:
        """Return the range of each parameter of a compiled library, a dictionary by name of (lowest, default,
        highest) value, in the parameter's unit. It is read from the library."""
        found = {}
        for name, number in self._indices.items():
            ends = np.zeros(3)
            self._c.ph_parameter_range(number, *(_address(ends[k:]) for k in range(3)))
            found[name] = (float(ends[0]), float(ends[1]), float(ends[2]))
        return found

    @property
    def units(self) -> dict[str, str]:
        """Return the unit of each parameter of a compiled library by name; empty if ``ph.build`` was given none."""
        return {name: self._c.ph_parameter_unit(number).decode() for name, number in self._indices.items()}

    @property
    def tunable(self) -> dict[str, bool]:
        """Return, by name, whether each parameter of a compiled library may be changed between time steps. All
        other parameters can be set before the first time step only."""
        return {name: bool(self._c.ph_parameter_is_tunable(number)) for name, number in self._indices.items()}

    def __getitem__(self, name: str) -> float:
        found = np.zeros(1)
        self._c.ph_get_parameter(self._instance, self._index(name), _address(found))
        return float(found[0])

    def __setitem__(self, name: str, value: float) -> None:
        """Set the parameter ``name`` of a compiled library to a finite ``value``. ParameterError is raised if the
        library has no such parameter, or if the value is outside of its range. It is also raised if the parameter
        changes the start or the joints and time steps were already computed.

        Raises:
            ParameterError: no parameter of that name, a value outside of its range, or one that is fixed by now.
        """
        number, value = self._index(name), finite(name, value)
        if status := self._c.ph_set_parameter(self._instance, number, value):
            low, _, high = self.ranges[name]
            words = f"it lies between {low:g} and {high:g}"
            if status == FIXED:
                words = "it moves the start or the joints, and the motion has begun: reset() first"
            raise ParameterError(f"{name} cannot be {value!r}: {words}")

    def __repr__(self) -> str:
        return f"LibraryParameters({', '.join(f'{name!r}: {value!r}' for name, value in self.items())})"


class Library:
    """An instance of a compiled model; made by ``ph.load_library``.

    Attributes:
        inputs: of the steps to come, by name.
        parameters: by name.
        step_size: [s].
        units: of the outputs, by name.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._c = _functions(path)
        self._tables: ctypes.Array[ctypes.c_char] | None = None  # that were loaded, which the instance reads
        self._memory = ctypes.create_string_buffer(self._c.ph_size() + 64)
        begin = ctypes.addressof(self._memory)
        self._instance = self._c.ph_place(begin + -begin % 64)
        self.inputs = LibraryInputs(self._c, self._instance)
        self.parameters = LibraryParameters(self._c, self._instance)
        self.step_size = float(self._c.ph_step_size())
        self._outputs = {self._c.ph_output_name(k).decode(): k for k in range(self._c.ph_output_count())}
        self.units: Mapping[str, str] = {
            name: self._c.ph_output_unit(k).decode() for name, k in self._outputs.items()
        }

    def __reduce__(self) -> tuple[object, ...]:
        """Return a function and its arguments, by which pickle and copy make another instance of this compiled
        library in the same state. Raise ``ModelError`` if other values were loaded with ``load_tables``."""
        if self._tables is not None:
            raise ModelError("a library with loaded tables cannot be pickled or copied; load them into another one")
        return type(self)._at, (self._path, self.save())

    @classmethod
    def _at(cls, path: Path, saved: SavedState) -> "Library":
        library = cls(path)
        library.restore(saved)
        return library

    @property
    def time(self) -> float:
        """Return the time that this instance of a compiled library has reached [s]."""
        return float(self._c.ph_time(self._instance))

    def step(self, count: int = 1) -> None:
        """Advance this instance of a compiled library by ``count`` time steps with its present inputs.
        ConvergenceError if a time step fails, ParameterError beyond the times up to which functions of time are
        known.

        Raises:
            ConvergenceError: one fails; the instance stays where that step began.
            ParameterError: no count, or functions of time that end here.
        """
        left = whole("count", count)
        while left:
            now = min(left, MOST_STEPS)
            self._check(self._c.ph_step(self._instance, now))
            left -= now

    def advance(self, to: float) -> None:
        """Advance this instance of a compiled library to the time ``to`` [s], by full time steps and a shorter
        last one; later time steps begin there. Raise ``ParameterError`` if ``to`` is before the present time or
        too far ahead.

        Raises:
            ParameterError: a time that is over, or functions of time that end before.
            ConvergenceError: a step fails.
        """
        to = finite("to", to)
        if not -TINY * self.step_size <= to - self.time < MOST_AT_ONCE * self.step_size:
            raise ParameterError(
                f"to must lie between now, {self.time:g} s, and {MOST_AT_ONCE:g} steps later, got {to!r}"
            )
        self._check(self._c.ph_step_to(self._instance, to))

    def _check(self, status: int) -> None:
        """Raise the Python error for a status code that a time step of the compiled library returned:
        ``ParameterError`` beyond the times up to which functions of time are known, else ``ConvergenceError``. Do
        nothing for 0."""
        if status:
            words = f"the step from t = {self.time:.9g} s: {self._c.ph_message(status).decode()}"
            raise ParameterError(words) if status == OVER else ConvergenceError(words, self.time, np.zeros(0))

    def read(self, name: str) -> Array:
        """Return the present value of the output ``name`` of a compiled library, shape () or (components,).
        ParameterError for unknown names; ConvergenceError if the library cannot compute it.

        Raises:
            ParameterError: no output of that name.
            ConvergenceError: an acceleration, which is found from steps aside, and these fail.
        """
        if not isinstance(name, str) or name not in self._outputs:
            known = ", ".join(map(repr, self._outputs)) or "none"
            raise ParameterError(f"no output is named {name!r}; the outputs of this library: {known}")
        number = self._outputs[name]
        found = np.zeros(self._c.ph_output_size(number))
        if status := self._c.ph_get_output(self._instance, number, _address(found)):
            words = f"{name!r} at t = {self.time:.9g} s: {self._c.ph_message(status).decode()}"
            raise ConvergenceError(words, self.time, np.zeros(0))
        return found if len(found) > 1 else found.reshape(())

    def save(self) -> SavedState:
        """Return the present state of this instance of a compiled library with its inputs. Time steps after
        ``restore`` of this state give bit by bit the same results."""
        found = ctypes.create_string_buffer(self._c.ph_state_size())
        self._c.ph_save(self._instance, ctypes.addressof(found))
        return SavedState(found.raw)

    def restore(self, saved: SavedState) -> None:
        """Set this instance of a compiled library to a state (``saved``) that ``save`` of this or another instance
        of the same library returned. Raise ``ParameterError`` for anything else.

        Raises:
            ParameterError: a state of something else; this instance stays as it was.
        """
        size = self._c.ph_state_size()
        content = saved.content if isinstance(saved, SavedState) else b""
        if len(content) != size or self._c.ph_restore(self._instance, ctypes.create_string_buffer(content, size)):
            raise ParameterError(f"saved must be what save() of this library gave, got {saved!r}")

    def load_tables(self, path: str | PathLike[str]) -> None:
        """Replace the values of this compiled library (masses, stiffnesses, ...) by those of another model of the
        same structure. ``path`` is a ``.tables`` file of ``ph.build``. The instance returns to its initial state.
        Raise ``ResultFileError`` if the file does not match.

        Raises:
            ResultFileError: no such file, or numbers of another structure.
        """
        file = Path(file_path("path", path))
        try:
            content = file.read_bytes()
        except OSError as error:
            raise ResultFileError(f"cannot read {file}: {error}") from error
        tables = ctypes.create_string_buffer(content, len(content) + 8)
        begin = ctypes.addressof(tables)
        if self._c.ph_load_tables(self._instance, begin, len(content)):
            raise ResultFileError(
                f"{file} does not have numbers for this library: masses, stiffnesses and lengths may change, not"
                " the parts of a model, the kind of its functions of time, inputs, outputs or step, and a library"
                " with parameters takes no others; build another library"
            )
        self._tables = tables

    def reset(self) -> None:
        """Set this instance of a compiled library back to the start of the motion, with the inputs of the model;
        parameters keep their values."""
        self._c.ph_reset(self._instance)

    def __repr__(self) -> str:
        return f"Library({str(self._path)!r}, t = {self.time:g} s, {self.inputs!r})"


def _functions(path: Path) -> ctypes.CDLL:
    if not path.is_file():
        raise ResultFileError(f"there is no file {path}")
    try:
        found = _opened(path.resolve())
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(found, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise ResultFileError(
            f"{path} is no library for this machine that ph.build wrote ({error}); build it here, or with targets="
            " of this machine"
        ) from error
    return found


def _opened(path: Path) -> ctypes.CDLL:
    """Load a shared library from the file ``path`` with ctypes and return it. On Linux, if a file of this name was
    loaded and replaced since, a temporary copy is loaded, because the dynamic linker would return the old content.
    The copy is deleted after loading."""
    maps = Path("/proc/self/maps")
    if not maps.exists() or f"{path} (deleted)" not in maps.read_text(encoding="utf-8", errors="replace"):
        return ctypes.CDLL(str(path))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    copy = Path(gettempdir()) / f"phlexible-{os.getpid()}-{digest}{path.suffix}"
    shutil.copyfile(path, copy)
    try:
        return ctypes.CDLL(str(copy))
    finally:
        copy.unlink()


def _address(array: Array) -> object:
    return array.ctypes.data_as(_DOUBLES)
