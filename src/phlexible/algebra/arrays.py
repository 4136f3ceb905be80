"""Array types, and checks of user input: numbers, counts, options, names, flags, paths, functions."""

import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from math import isfinite, pi
from operator import index
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phlexible.errors import FunctionError, ParameterError, PhlexibleError, UnitWarning, warn_user

SAME = 1e-6  # of a step
SAME_INTERVAL = 1e-9  # of itself
NEEDS_WHOLE_RUNS = ContextVar("NEEDS_WHOLE_RUNS", default=False)
"""Whether ``Model.simulate`` raises ``KeyboardInterrupt`` in place of returning the motion so far."""


@contextmanager
def whole_runs() -> Iterator[None]:
    """Return a context in which interrupted runs raise ``KeyboardInterrupt``, for results that a partial run would
    falsify.
    """
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

NO_NUMBERS = (str, bytes, bool, np.bool_, np.complexfloating, np.timedelta64)
PLAIN = {float, int, np.float64}
LARGEST = 1e60
"""Largest size of a quantity: the fourth power of a length times a modulus is still finite."""
ANY_SIZE = float(np.finfo(np.float64).max)
"""``largest`` for values of user functions, which trial steps may evaluate far outside of their range."""
SMALLEST = 1e-100
"""Smallest size of a quantity by which others are divided."""
FULL_ROTATION = 2 * pi
LONGEST_LAG = 10.0
"""Kelvin-Voigt time above that of any material [s]."""


def positive(name: str, value: float) -> float:
    """Return a user's value as a float; raise an error unless it and its powers are finite and positive."""
    number = finite(name, value)
    if not number > 0:
        raise ParameterError(f"{name} must be positive, got {value!r}")
    if number < SMALLEST:
        raise ParameterError(f"{name} must be at least {SMALLEST:g} (its powers would be 0), got {value!r}")
    return number


def non_negative(name: str, value: float) -> float:
    """Return a user's value as a float; raise an error unless it is finite and not negative."""
    number = finite(name, value)
    if number < 0:
        raise ParameterError(f"{name} must not be negative, got {value!r}")
    return number


def warn_of_degrees(name: str, value: object, multiple: float = 5.0) -> None:
    """Warn that an angle [rad] or a rate [rad/s] seems to be in degrees: more than a full rotation and a whole
    multiple of ``multiple``.
    """
    size: Any = abs(value) if isinstance(value, int | float | np.integer | np.floating) else 0.0
    if FULL_ROTATION < size <= MOST and abs(size / multiple - round(size / multiple)) < 1e-9:
        unit, turns = ("rad/s", "turns a second") if "rate of" in name else ("rad", "turns")
        warn_user(
            f"{name} = {value:g} {unit} is {size / FULL_ROTATION:.1f} {turns}; angles are in radians: is it in"
            f" degrees? Then it is np.radians({value:g})",
            UnitWarning,
        )


def checked_damping_ratio(name: str, value: ArrayLike) -> float | tuple[float, ...]:
    """Return a user's damping ratio as a float, or one for each mode as a tuple; raise an error if one is negative,
    warn above critical damping.
    """
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim):
        ratios = numbers(name, value, expected := "one number or a sequence of one for each mode")
        if ratios.ndim != 1 or not ratios.size:
            raise ParameterError(f"{name} must be {expected}, got {value!r}")
        return tuple(_checked_ratio(f"{name}[{k}]", ratio) for k, ratio in enumerate(ratios.tolist()))
    return _checked_ratio(name, value)  # type: ignore[arg-type]  # other values are refused


def damping_ratios(ratio: ArrayLike, count: int) -> Array:
    """Return the damping ratios of ``count`` modes, shape (count,), from one number for all or one for each."""
    if isinstance(ratio, tuple) and len(ratio) != count:
        raise ParameterError(
            f"damping_ratio must be one number, or {count}, one for each mode or shape that is retained, in"
            f" ascending order of frequencies, got {len(ratio)}"
        )
    return np.broadcast_to(np.asarray(ratio, dtype=np.float64), (count,))


def _checked_ratio(name: str, value: float) -> float:
    """Return a user's damping ratio as a float; raise an error if it is negative, warn if it is 1 or more."""
    ratio = non_negative(name, value)
    if ratio >= 1:
        warn_user(
            f"{name} = {ratio:g} is beyond critical damping: vibrations creep back; is it in percent?"
            f" {ratio:g} % are {name}={ratio / 100:g}",
            UnitWarning,
        )
    return ratio


def checked_relaxation_time(name: str, value: float) -> float:
    """Return a user's Kelvin-Voigt time [s] as a float; raise an error if it is negative, warn if no material has
    so long a time.
    """
    lag = non_negative(name, value)
    if lag > LONGEST_LAG:
        warn_user(
            f"{name} = {lag:g} is a time in s, the stress is E (strain + {name} rate); is it in Pa s? Divide by"
            " the modulus (steel has about 1e-6 s, rubber 1e-3 to 1e-2 s)",
            UnitWarning,
        )
    return lag


def finite(name: str, value: float, largest: float = LARGEST) -> float:
    """Return a user's value as a float; raise an error unless it is one finite number of at most ``largest`` in
    size.
    """
    try:
        number = _as_float(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name} must be one number, got {value!r}") from None
    if not isfinite(number):
        raise ParameterError(f"{name} must be finite, got {value!r}")
    if abs(number) > largest:
        raise ParameterError(_too_large(name, value))
    return number


def numbers(name: str, value: ArrayLike, expected: str = "numbers", largest: float = LARGEST) -> Array:
    """Return a user's value as an array of floats, of its shape. Raise an error if entries are not real numbers or
    too large.

    They may be infinite or NaN.
    """
    try:
        array = _as_floats(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name} must be {expected}, got {value!r}") from None
    if array.size and not np.abs(array).max() <= largest and (np.abs(array[np.isfinite(array)]) > largest).any():
        raise ParameterError(_too_large(name, value))
    return array


def vector(name: str, value: ArrayLike, largest: float = LARGEST) -> Array:
    """Convert a user's value to a read-only array of three finite numbers, shape (3,); raise an error for
    others.
    """
    result = numbers(name, value, "three numbers", largest)
    if result.shape != (3,):
        raise ParameterError(f"{name} must have shape (3,), got shape {result.shape}: {value!r}")
    if not np.isfinite(result).all():
        raise ParameterError(f"{name} must be finite, got {value!r}")
    result.flags.writeable = False
    return result


def unit_vector(name: str, value: ArrayLike) -> Array:
    """Return a user's vector divided by its length, shape (3,), read-only; raise an error if it is zero."""
    result = vector(name, value)
    length = float(np.linalg.norm(result))
    if length == 0:
        raise ParameterError(f"{name} must not be zero, got {value!r}")
    result = result / length
    result.flags.writeable = False
    return result


def signed_columns(shapes: Array) -> Array:
    """Return a matrix (n, k) whose columns are multiplied by 1 or -1 so that the first of their largest components
    is positive. Sizes within 1e-6 count as equal.

    Round-off thus does not determine the sign of symmetric shapes, whose largest components have both signs.
    """
    sizes = np.abs(shapes)
    first = np.argmax(sizes >= (1 - 1e-6) * sizes.max(axis=0, initial=0.0), axis=0)
    return np.asarray(shapes * np.where(np.take_along_axis(shapes, first[None], axis=0) < 0, -1.0, 1.0))


def read_only(array: AnyArray) -> AnyArray:
    """Return a view of an array that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def immutable_copy(value: Any) -> Any:
    """Return a copy of a value that nobody can change: an array as a read-only copy, a list as a tuple of such
    copies.
    """
    if isinstance(value, np.ndarray):
        return read_only(value.copy())
    return tuple(immutable_copy(item) for item in value) if isinstance(value, list) else value


def make_immutable(record: Any) -> None:
    """Replace the attributes of an object by immutable copies, also in frozen dataclasses."""
    vars(record).update({name: immutable_copy(value) for name, value in vars(record).items()})


def make_arrays_read_only(record: Any) -> None:
    """Replace all arrays in the attributes of an object by read-only views, also in frozen dataclasses."""
    fields = vars(record)
    fields.update({name: read_only(value) for name, value in fields.items() if isinstance(value, np.ndarray)})


def _too_large(name: str, value: object) -> str:
    """Return the message that a number is too large for its powers to be finite."""
    return f"{name} must be at most {LARGEST:g} in size (its powers would be infinite), got {value!r}"


def _as_float(value: object) -> float:
    """Return a number, also from an array without axes, as a float; raise an error for text, truth values and
    others.
    """
    if isinstance(value, np.ndarray):
        if value.ndim:
            raise ValueError
        value = value.item()
    if isinstance(value, NO_NUMBERS):
        raise TypeError
    return float(value)  # type: ignore[arg-type]  # other values raise


def _as_floats(value: ArrayLike) -> Array:
    """Return a new array of floats from a user's numbers; raise an error for text or truth values among them."""
    if type(value) is float or (type(value) is np.ndarray and value.dtype == np.float64):
        return np.array(value)
    if isinstance(value, list | tuple) and not PLAIN.issuperset(map(type, value)):
        if any(isinstance(item, NO_NUMBERS) for item in value):
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
    """Return a user's value as an int; raise an error unless it is a whole number of at least ``least``. Floats are
    refused.
    """
    try:
        number = index(value)  # type: ignore[arg-type]  # other values raise
    except TypeError:
        number = least - 1
    if number < least or isinstance(value, NO_NUMBERS):
        raise ParameterError(f"{name} must be a whole number of at least {least}, got {value!r}")
    if number > MOST:
        raise ParameterError(f"{name} must be at most {MOST:g}, got {value!r}")
    return number


def plane_or_space(value: object) -> int:
    """Return the dimension of a model, for bodies that cannot move on a line; raise an error unless it is 2 or
    3.
    """
    if isinstance(value, int | np.integer) and int(value) in (2, 3):
        return int(value)
    on_a_line = "; on a line there are PointMass, String and Rod, which stretches as the axis of a beam does"
    is_line = isinstance(value, int | np.integer) and not isinstance(value, bool) and value == 1
    raise ParameterError(
        f"dimension must be 2 (the xy plane) or 3 (space), got {value!r}{on_a_line if is_line else ''}"
    )


def line_plane_or_space(value: object) -> int:
    """Return the dimension of a model; raise an error unless it is 1, 2 or 3."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) in (1, 2, 3):
        return int(value)
    raise ParameterError(f"dimension must be 1 (the x axis), 2 (the xy plane) or 3 (space), got {value!r}")


def option(name: str, value: object, options: type[Option]) -> Option:
    """Return the member of an enumeration that a user chose by the member or by its value; raise an error that
    lists the options.
    """
    try:
        return options(value)
    except ValueError:
        allowed = ", ".join(repr(member.value) for member in options)
        raise ParameterError(f"{name} must be one of {allowed}, got {value!r}") from None


def flag(name: str, value: object) -> bool:
    """Return a user's value as a bool; raise an error unless it is True or False (of Python or NumPy)."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise ParameterError(f"{name} must be True or False, got {value!r}")


def text(name: str, value: object) -> str:
    """Return a user's text; raise an error if it is empty, blank or contains a NUL character."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ParameterError(f"{name} must be text that is not empty and without NUL, got {value!r}")
    return value


def optional_text(name: str, value: object) -> str | None:
    """Return a user's text, or None; raise an error if it is empty, blank or contains a NUL character."""
    return None if value is None else text(name, value)


def times(name: str, value: object) -> tuple[float, ...]:
    """Return a user's sequence of finite numbers as a tuple; raise an error for other values."""
    values = numbers(name, value, EXPECTED)  # type: ignore[arg-type]  # other values are refused
    if values.ndim != 1:
        raise ParameterError(f"{name} must be {EXPECTED}, got {value!r}")
    return tuple(finite(name, value) for value in values.tolist())


def file_path(name: str, value: object) -> str:
    """Return a user's path of a file as text; raise an error unless it is text or a ``pathlib.Path``."""
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else value
    return text(name, path)


def multiple(name: str, value: float, step: float, share: float = 0.0) -> int:
    """Return the number of steps of length ``step`` [s] in a time ``value`` [s]; raise an error unless the time is
    a positive multiple of the step. ``share`` is the allowed deviation relative to the time.

    Its error may be ``SAME`` of a step or, if ``share`` is not zero, this share of the time.

    Raises:
        ParameterError: it is not a multiple of the step.
    """
    number = positive(name, value)
    count = round(number / step)
    if count < 1 or abs(count * step - number) > (share * number or SAME * step):
        raise ParameterError(f"{name} must be a multiple of step = {step:g}, got {number:g}")
    return count


def mapping(name: str, value: object) -> dict[str, Any]:
    """Return a user's dictionary with texts as keys; for None an empty one.

    Raises:
        ParameterError: another type.
    """
    if not isinstance(value, Mapping | None) or not all(isinstance(key, str) for key in value or ()):
        raise ParameterError(f"{name} must be a dictionary by names, got {value!r}")
    return dict(value or {})


def texts(name: str, value: object) -> tuple[str, ...]:
    """Return a user's list of names as a tuple; raise an error unless it is a list or tuple of texts.

    Raises:
        ParameterError: another type.
    """
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise ParameterError(f"{name} must be a list of names, got {value!r}")
    return tuple(value)


# User functions: checks that they can be called, and messages of the errors that they raise.


def called(function: Callable[..., Any], name: str, *arguments: Any, at: str) -> Any:
    """Call a user's function and return its value. Errors are re-raised as ``FunctionError``, and runs within it
    that are interrupted raise ``KeyboardInterrupt``.

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
    """Return a ``FunctionError`` that names a user's function, the exception that it raised, and its argument
    ``at``; the caller raises it.
    """
    return FunctionError(f"{name} raised {type(error).__name__} {at}: {error}")


def check_callable(name: str, value: object, *arguments: str) -> None:
    """Raise an error unless a user's value is a function that can take as many arguments as ``arguments`` names.

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
