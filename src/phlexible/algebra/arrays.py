"""Array types, and checks of user input: numbers, counts, options, names, flags, paths, functions, fields."""

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields
from enum import Enum
from functools import cache
from math import isfinite, pi
from operator import index
from types import FunctionType, NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phlexible.errors import FunctionError, ParameterError, PhlexibleError, UnitWarning, warn_user

SAME = 1e-6  # of a step
SAME_INTERVAL = 1e-9  # of itself
NEEDS_WHOLE_RUNS = ContextVar("NEEDS_WHOLE_RUNS", default=False)
"""Whether ``Model.simulate`` raises ``KeyboardInterrupt`` in place of returning the motion so far."""


@contextmanager
def whole_runs() -> Iterator[None]:
    """Context manager in which Ctrl-C during a simulation run raises ``KeyboardInterrupt``. Outside of it, an
    interrupted ``Model.simulate`` returns the motion computed so far, which would falsify results that need
    complete runs."""
    token = NEEDS_WHOLE_RUNS.set(True)
    try:
        yield
    finally:
        NEEDS_WHOLE_RUNS.reset(token)


# Array types and checks of user numbers: text and truth values are not numbers.

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
AnyArray = TypeVar("AnyArray", bound=NDArray[Any])

NOT_REAL = (str, bytes, bool, np.bool_, np.complexfloating, np.timedelta64)
PLAIN = {float, int, np.float64}
LARGEST = 1e60
"""Largest size of a quantity: the fourth power of a length times a modulus is still finite."""
ANY_SIZE = float(np.finfo(np.float64).max)
"""``largest`` for values of user functions, which trial steps may evaluate far outside of their range."""
SMALLEST = 1e-100
"""Smallest size of a quantity by which others are divided."""
FULL_ROTATION = 2 * pi * (1 + 1e-9)
LONGEST_LAG = 10.0
"""Kelvin-Voigt time above that of any material [s]."""


def positive(name: str, value: float) -> float:
    """Check that a number (``value``) passed by the user is finite, positive and not extremely small or large
    (1e-100 to 1e60); return it as a float. Otherwise raise ``ParameterError`` with a message that begins with
    ``name``, the name of the argument."""
    number = finite(name, value)
    if not number > 0:
        raise ParameterError(f"{name} must be positive, got {value!r}")
    if number < SMALLEST:
        raise ParameterError(f"{name} must be at least {SMALLEST:g} (its powers would be 0), got {value!r}")
    return number


def non_negative(name: str, value: float) -> float:
    """Check that a number (``value``) passed by the user is finite and zero or positive (up to 1e60), and
    return it as a float. Otherwise raise ``ParameterError`` with a message that begins with ``name``, the
    name of the argument."""
    number = finite(name, value)
    if number < 0:
        raise ParameterError(f"{name} must not be negative, got {value!r}")
    return number


def warn_of_degrees(name: str, value: object, multiple: float | None = 5.0) -> None:
    """Warn the user if ``value``, an angle [rad] or angular rate [rad/s] passed as the argument ``name``, was
    probably meant in degrees. This is assumed if its size is more than 2 pi and a whole multiple of ``multiple``
    (5 by default; None: any size above 2 pi). Arrays are not checked. Nothing is returned."""
    size: Any = abs(value) if isinstance(value, int | float | np.integer | np.floating) else 0.0
    if FULL_ROTATION < size <= MOST and (not multiple or abs(size / multiple - round(size / multiple)) < 1e-9):
        unit, turns = ("rad/s", "turns a second") if "rate of" in name else ("rad", "turns")
        warn_user(
            f"{name} = {value:g} {unit} is {size / FULL_ROTATION:.1f} {turns}; angles are in radians: is it in"
            f" degrees? Then it is np.radians({value:g})",
            UnitWarning,
        )


def checked_damping_ratio(name: str, value: ArrayLike) -> float | tuple[float, ...]:
    """Check a modal damping ratio (``value``) passed by the user; return it as a float, or as a tuple of
    floats if the user gave a sequence with one for each mode. Raise ``ParameterError`` if one is negative,
    and warn if one is 1 (critical damping) or more. ``name`` is that of the argument, for messages."""
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim):
        ratios = reals(name, value, expected := "one number or a sequence of one for each mode")
        if ratios.ndim != 1 or not ratios.size:
            raise ParameterError(f"{name} must be {expected}, got {value!r}")
        return tuple(_checked_ratio(f"{name}[{k}]", ratio) for k, ratio in enumerate(ratios.tolist()))
    return _checked_ratio(name, value)  # type: ignore[arg-type]  # other values are refused


def damping_ratios(ratio: ArrayLike, count: int) -> Array:
    """Return the modal damping ratios of ``count`` modes as an array of shape (count,); the user gave one ratio for
    all modes or a tuple of one for each. Raise ``ParameterError`` if the tuple has another length."""
    if isinstance(ratio, tuple) and len(ratio) != count:
        raise ParameterError(
            f"damping_ratio must be one number, or {count}, one for each mode or shape that is retained, in"
            f" ascending order of frequencies, got {len(ratio)}"
        )
    return np.broadcast_to(np.asarray(ratio, dtype=np.float64), (count,))


def _checked_ratio(name: str, value: float) -> float:
    """Check one damping ratio (``value``) passed by the user as the argument ``name``, and return it as a
    float: raise ``ParameterError`` if it is negative, warn if it is 1 (critical damping) or more."""
    ratio = non_negative(name, value)
    if ratio >= 1:
        warn_user(
            f"{name} = {ratio:g} is critical damping or more: vibrations creep back; is it in percent?"
            f" {ratio:g} % are {name}={ratio / 100:g}",
            UnitWarning,
        )
    return ratio


def checked_relaxation_time(name: str, value: float) -> float:
    """Check a Kelvin-Voigt relaxation time (``value`` [s]) passed by the user, and return it as a float. The
    stress is E times (strain plus this time times strain rate). Raise ``ParameterError`` if it is negative; warn
    above 10 s, which suggests that it was given in Pa s. ``name`` is that of the argument, for messages."""
    lag = non_negative(name, value)
    if lag > LONGEST_LAG:
        warn_user(
            f"{name} = {lag:g} is a time in s, the stress is E (strain + {name} rate); is it in Pa s? Divide by"
            " the modulus (steel has about 1e-6 s, rubber 1e-3 to 1e-2 s)",
            UnitWarning,
        )
    return lag


def finite(name: str, value: float, largest: float = LARGEST) -> float:
    """Check that a value passed by the user is one finite real number of at most ``largest`` in size (1e60, say);
    return it as a float. Otherwise raise ``ParameterError`` with a message that begins with ``name``."""
    try:
        number = _as_float(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name} must be one number, got {value!r}") from None
    if not isfinite(number):
        raise ParameterError(f"{name} must be finite, got {value!r}")
    if abs(number) > largest:
        raise ParameterError(_too_large(name, value))
    return number


def reals(name: str, value: ArrayLike, expected: str = "numbers", largest: float = LARGEST) -> Array:
    """Convert numbers (``value``) passed by the user (a number, nested lists, an array) to a new array of
    floats of the same shape. Raise ``ParameterError`` if entries are not real numbers, or if a finite one is
    larger than ``largest`` in size. The message has ``name``, that of the argument, and what was
    ``expected``.

    Entries may be infinite or NaN.
    """
    try:
        array = _as_floats(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name} must be {expected}, got {value!r}") from None
    if array.size and not np.abs(array).max() <= largest and (np.abs(array[np.isfinite(array)]) > largest).any():
        raise ParameterError(_too_large(name, value))
    return array


def vector(name: str, value: ArrayLike, largest: float = LARGEST) -> Array:
    """Convert three finite numbers (``value``, at most ``largest`` in size) passed by the user to a read-only
    array of shape (3,). Raise ``ParameterError``, with ``name`` in its message, for anything else."""
    if isinstance(value, tuple) and len(value) == 3 and PLAIN.issuperset(map(type, value)):  # of finite numbers
        if all(abs(number) <= largest for number in value):
            return read_only(np.array(value, dtype=np.float64))
    result = reals(name, value, "three numbers", largest)
    if result.shape != (3,):
        raise ParameterError(f"{name} must have shape (3,), got shape {result.shape}: {value!r}")
    if not np.isfinite(result).all():
        raise ParameterError(f"{name} must be finite, got {value!r}")
    return read_only(result)


def unit_vector(name: str, value: ArrayLike) -> Array:
    """Convert a vector of three numbers (``value``) passed by the user to a read-only unit vector, shape
    (3,), by dividing it by its length. Raise ``ParameterError`` if the vector is zero. ``name`` is that of
    the argument, for messages."""
    result = vector(name, value)
    length = float(np.linalg.norm(result))
    if length == 0:
        raise ParameterError(f"{name} must not be zero, got {value!r}")
    return read_only(result / length)


def nearest_entries(ascending: Array, wanted: Array) -> IntArray:
    """Return for each of the ``wanted`` numbers (k,) the index of the nearest entry of an ``ascending`` array (n,),
    shape (k,); halfway between two entries that of the first."""
    after = np.clip(np.searchsorted(ascending, wanted), min(1, len(ascending) - 1), len(ascending) - 1)
    is_before = (after > 0) & (wanted - ascending[after - 1] <= ascending[after] - wanted)
    return np.asarray(after - is_before, dtype=np.int64)


def signed_columns(shapes: Array) -> Array:
    """Return mode shapes, the columns of a matrix (n, k), with their signs normalized: each column is multiplied by
    1 or -1 so that the first of its largest components is positive. Sizes within 1e-6 count as equal.

    Round-off thus does not determine the sign of symmetric shapes, whose largest components have both signs.
    """
    sizes = np.abs(shapes)
    first = np.argmax(sizes >= (1 - 1e-6) * sizes.max(axis=0, initial=0.0), axis=0)
    return np.asarray(shapes * np.where(shapes[first, range(len(first))] < 0, -1.0, 1.0))


def read_only(array: AnyArray) -> AnyArray:
    """Return a view of a NumPy array that cannot be written to; the data are shared, and the array itself stays
    writeable."""
    view = array.view()
    view.flags.writeable = False
    return view


def immutable_copy(value: Any) -> Any:
    """Return a copy of a value that cannot be changed: of an array a read-only copy, of a list a tuple of such
    copies, nested. Any other value is returned itself, without a copy."""
    if isinstance(value, np.ndarray):
        return read_only(value.copy())
    return tuple(immutable_copy(item) for item in value) if isinstance(value, list) else value


def make_immutable(record: Any) -> None:
    """Replace, in place, every array among the attributes of ``record``, an object, by a read-only copy and
    every list by a tuple of such copies. This also works for frozen dataclasses."""
    vars(record).update({name: immutable_copy(value) for name, value in vars(record).items()})


def make_arrays_read_only(record: Any) -> None:
    """Replace, in place, every NumPy array among the attributes of ``record``, an object, by a read-only
    view. This also works for frozen dataclasses."""
    fields = vars(record)
    fields.update({name: read_only(value) for name, value in fields.items() if isinstance(value, np.ndarray)})


def _too_large(name: str, value: object) -> str:
    """Return the error message, as text, that the user's argument ``name`` with this value exceeds 1e60, so that
    powers of it would overflow."""
    return f"{name} must be at most {LARGEST:g} in size (its powers would be infinite), got {value!r}"


def _as_float(value: object) -> float:
    """Convert a ``value``, one real number or a NumPy array without axes, to a float. Raise ``TypeError`` or
    ``ValueError`` for text, truth values, complex numbers and arrays with axes."""
    if isinstance(value, np.ndarray):
        if value.ndim:
            raise ValueError
        value = value.item()
    if isinstance(value, NOT_REAL):
        raise TypeError
    return float(value)  # type: ignore[arg-type]  # other values raise


def _as_floats(value: ArrayLike) -> Array:
    """Convert a user's ``value`` (number, nested lists or array) to an array of floats of the same shape, a copy.
    Raise ``TypeError`` if it contains text, truth values, complex numbers or masked entries. An empty value gives
    an empty array."""
    if type(value) is float or (type(value) is np.ndarray and value.dtype == np.float64):
        return np.array(value)
    if isinstance(value, list | tuple) and not PLAIN.issuperset(map(type, value)):
        if any(isinstance(item, NOT_REAL) for item in value):
            raise TypeError
    if np.ma.is_masked(value):  # entries without a value
        raise TypeError
    array = np.array(value)
    if array.dtype.kind == "O":
        return np.array([_as_float(item) for item in array.ravel()]).reshape(array.shape)
    if array.dtype.kind not in "iuf":
        if array.size == 0:
            return array.astype(np.float64, copy=False)
        raise TypeError
    return array.astype(np.float64, copy=False)


# Checks of other user input: counts, options, names, flags, paths of files.

MOST = 10**9
EXPECTED = "a sequence of times such as (0.5, 1.0)"

Option = TypeVar("Option", bound=Enum)


def whole(name: str, value: object, least: int = 1) -> int:
    """Check that a value passed by the user is an integer from ``least`` to 1e9, and return it as an int.
    Otherwise, also for floats such as 2.0, raise ``ParameterError`` with a message that begins with ``name``."""
    try:
        number = index(value)  # type: ignore[arg-type]  # other values raise
    except TypeError:
        number = least - 1
    if number < least or isinstance(value, NOT_REAL):
        raise ParameterError(f"{name} must be a whole number of at least {least}, got {value!r}")
    if number > MOST:
        raise ParameterError(f"{name} must be at most {MOST:g}, got {value!r}")
    return number


def plane_or_space(value: object) -> int:
    """Check that ``value``, the dimension of a model, is 2 (the xy plane) or 3 (space), and return it; raise
    ``ParameterError`` for others. It is for bodies that cannot be in a model of dimension 1, on a line."""
    if isinstance(value, int | np.integer) and int(value) in (2, 3):
        return int(value)
    on_a_line = "; on a line there are PointMass, String and Rod, which stretches as the axis of a beam does"
    is_line = isinstance(value, int | np.integer) and not isinstance(value, bool) and value == 1
    raise ParameterError(
        f"dimension must be 2 (the xy plane) or 3 (space), got {value!r}{on_a_line if is_line else ''}"
    )


def line_plane_or_space(value: object) -> int:
    """Check that ``value``, the dimension of a model, is 1 (the x axis), 2 (the xy plane) or 3 (space), and
    return it; raise ``ParameterError`` for others."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) in (1, 2, 3):
        return int(value)
    raise ParameterError(f"dimension must be 1 (the x axis), 2 (the xy plane) or 3 (space), got {value!r}")


def option(name: str, value: object, options: type[Option]) -> Option:
    """Return the member of the enumeration ``options`` that a user chose, by the member itself or by its
    value (text). ``name`` is that of the argument, for messages. Raise ``ParameterError`` with a list of the
    allowed values if there is no such member."""
    try:
        return options(value)
    except ValueError:
        allowed = ", ".join(repr(member.value) for member in options)
        raise ParameterError(f"{name} must be one of {allowed}, got {value!r}") from None


def flag(name: str, value: object) -> bool:
    """Check that a value passed by the user is True or False (of Python or NumPy), and return it as a bool.
    Raise ``ParameterError`` for others, also for 0 and 1. ``name`` is that of the argument, for messages."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise ParameterError(f"{name} must be True or False, got {value!r}")


def text(name: str, value: object) -> str:
    """Check that a value passed by the user is a text that is not empty or blank and has no NUL character;
    return it unchanged. Raise ``ParameterError`` for others. ``name`` is that of the argument, for messages."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ParameterError(f"{name} must be text that is not empty and without NUL, got {value!r}")
    return value


def optional_text(name: str, value: object) -> str | None:
    """Check that a value passed by the user is None or a text that is not empty or blank and has no NUL
    character; return it unchanged. Raise ``ParameterError`` for others. ``name`` is that of the argument, for
    messages."""
    return None if value is None else text(name, value)


def times(name: str, value: object) -> tuple[float, ...]:
    """Convert ``value``, a user's sequence of times, finite numbers [s] in any order, to a tuple of floats.
    Raise ``ParameterError`` for other values. ``name`` is that of the argument, for messages."""
    values = reals(name, value, EXPECTED)  # type: ignore[arg-type]  # other values are refused
    if values.ndim != 1:
        raise ParameterError(f"{name} must be {EXPECTED}, got {value!r}")
    return tuple(finite(name, value) for value in values.tolist())


def file_path(name: str, value: object) -> str:
    """Return the path of a file (``value``), passed by the user as text or as a ``pathlib.Path``, as text.
    ``name`` is that of the argument, for messages. Raise ``ParameterError`` for other types and for empty
    text."""
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else value
    return text(name, path)


def whole_steps(name: str, value: float, step: float, tolerance: float = 0.0) -> int:
    """Return the number of time steps of length ``step`` [s] in a user's time ``value`` [s]. Raise
    ``ParameterError`` unless the time is a positive whole multiple of the step. It may differ by round-off or, if
    ``tolerance`` is not zero, by that fraction of the time. ``name`` is the name of the argument, for messages.

    Its error may be ``SAME`` of a step or, if ``tolerance`` is not zero, this share of the time.

    Raises:
        ParameterError: it is not a multiple of the step.
    """
    number = positive(name, value)
    count = round(number / step)
    if count < 1 or abs(count * step - number) > (tolerance * number or SAME * step):
        raise ParameterError(f"{name} must be a multiple of step = {step:g}, got {number:g}")
    return count


def mapping(name: str, value: object) -> dict[str, Any]:
    """Return a copy of a user's dictionary (``value``) whose keys are texts; for None an empty dictionary.
    Raise ``ParameterError`` for other values. ``name`` is that of the argument, for messages.

    Raises:
        ParameterError: another type.
    """
    if not isinstance(value, Mapping | None) or not all(isinstance(key, str) for key in value or ()):
        raise ParameterError(f"{name} must be a dictionary by names, got {value!r}")
    return dict(value or {})


def texts(name: str, value: object) -> tuple[str, ...]:
    """Convert a list or tuple of texts passed by the user (``value``) to a tuple; raise ``ParameterError``
    for other values. ``name`` is that of the argument, for messages.

    Raises:
        ParameterError: another type.
    """
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise ParameterError(f"{name} must be a list of names, got {value!r}")
    return tuple(value)


# User functions: checks that they can be called, and messages of the errors that they raise.


def called(function: Callable[..., Any], name: str, *arguments: Any, at: str) -> Any:
    """Call a function that the user wrote, with the given arguments, and return its value. An exception in it is
    raised again as ``FunctionError`` with ``name`` and ``at`` (such as "at t = 0.1 s") in its message; errors of
    phlexible pass unchanged. While it runs, Ctrl-C in a ``Model.simulate`` that it calls raises
    ``KeyboardInterrupt`` instead of returning the motion so far.

    Raises:
        FunctionError: the function raised an error, which is ``__cause__``; the message names function and
            argument.
    """
    token = NEEDS_WHOLE_RUNS.set(True)
    try:
        return function(*arguments)
    except PhlexibleError:
        raise
    except Exception as error:
        raise function_error(name, error, at) from error
    finally:
        NEEDS_WHOLE_RUNS.reset(token)


def function_error(name: str, error: Exception, at: str) -> FunctionError:
    """Return (not raise) a ``FunctionError`` for an exception (``error``) that a user's function raised. Its
    message has the function's name, the exception and where it occurred, ``at`` (such as "at t = 0.1 s")."""
    return FunctionError(f"{name} raised {type(error).__name__} {at}: {error}")


def check_callable(name: str, value: object, *arguments: str) -> None:
    """Raise ``ParameterError`` unless a value passed by the user is a function that accepts as many
    positional arguments as there are names in ``arguments``. The names are used in the message only; the
    function is not called. ``name`` is that of the argument, for messages.

    Raises:
        ParameterError: the message has the expected arguments.
    """
    expected = f"a function of {arguments[0]}" if len(arguments) == 1 else f"a function of ({', '.join(arguments)})"
    if not callable(value):
        raise ParameterError(f"{name} must be {expected}, got {value!r}")
    if isinstance(value, FunctionType) and not value.__kwdefaults__:
        code, defaults = value.__code__, len(value.__defaults__ or ())
        if not code.co_kwonlyargcount and code.co_argcount - defaults <= len(arguments) <= code.co_argcount:
            return  # as below, in a tenth of the time
    try:
        inspect.signature(value).bind(*arguments)
    except ValueError:  # some functions of other languages have no signature
        pass
    except TypeError as error:
        raise ParameterError(f"{name} must be {expected}, got {value!r}: {error}") from None


# Types of dataclass fields with checks that convert or refuse user input: ``mass: Positive``.

Check = Callable[[str, Any], Any]
"""Function of the name of a field and a user's value that returns the converted value, or refuses it."""

Positive = Annotated[float, positive]
NonNegative = Annotated[float, non_negative]
DampingRatio = Annotated[float | Sequence[float], checked_damping_ratio]
RelaxationTime = Annotated[float, checked_relaxation_time]
Finite = Annotated[float, finite]
Count = Annotated[int, whole]
Flag = Annotated[bool, flag]
Vector = Annotated[ArrayLike, vector]
UnitVector = Annotated[ArrayLike, unit_vector]
Name = Annotated[str | None, optional_text]
Times = Annotated[Sequence[float], times]


def option_of(options: type[Enum]) -> Check:
    """Return a function that checks a field of a dataclass: it converts a user's value to a member of the
    enumeration ``options``, or raises ``ParameterError``. It stands in annotations such as ``Annotated[str,
    option_of(Method)]``."""
    return lambda name, value: option(name, value, options)


def convert_fields(record: Any) -> None:
    """Check and convert, in place, all fields of ``record``, a frozen dataclass, whose type annotation has a
    check, such as ``mass: Annotated[float, positive]``. It is called in ``__post_init__``.

    A field of type ``Annotated[..., check]`` gets ``check(name, value)``; None is allowed if the type allows it.

    Raises:
        ParameterError: a field has a wrong value; the message names the first one.
    """
    values = vars(record)
    for name, check, allows_none in _checks(record.__class__):
        if values[name] is not None or not allows_none:
            values[name] = check(name, values[name])


def set_fields(record: object, **values: object) -> None:
    """Set fields of ``record``, a frozen dataclass, by keyword to values computed in its ``__init__`` or
    ``__post_init__``, where ordinary assignment is refused."""
    vars(record).update(values)


def field_values(record: Any, kind: Any = None) -> dict[str, Any]:
    """Return the fields of ``record``, an instance of a dataclass, by name: all of them, or those of its base class
    ``kind``."""
    return {each.name: getattr(record, each.name) for each in fields(kind or record)}


class PickledFields:
    """Base class of dataclasses whose pickles hold their fields alone, without results that were derived and
    cached. An array that is made when it is first read is made before it is pickled."""

    def __getstate__(self) -> dict[str, Any]:
        """Return all fields of this instance of a dataclass by name."""
        return field_values(self)


@cache
def _checks(kind: Any) -> tuple[tuple[str, Check, bool], ...]:
    """Return name, check function and whether None is allowed, for each checked field of the dataclass ``kind``:
    each that is an argument of its constructor and has a check in its type annotation."""
    result = []
    for entry in fields(kind):
        types = get_args(entry.type) if get_origin(entry.type) in (Union, UnionType) else (entry.type,)
        checks = [part.__metadata__[0] for part in types if get_origin(part) is Annotated]
        result += [(entry.name, check, NoneType in types) for check in checks if entry.init]
    return tuple(result)
