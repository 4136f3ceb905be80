"""Exceptions and warnings of the package: each says what came, what was expected, what to do.

Each exception is also the builtin that it specialises.
"""

import dataclasses
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike
from pathlib import Path
from types import FrameType
from typing import Self

PACKAGE, DATACLASSES = str(Path(__file__).parent), dataclasses.__file__
_given_warnings: ContextVar[list[str] | None] = ContextVar("_given_warnings", default=None)
_deferred_warnings: ContextVar[list[str] | None] = ContextVar("_deferred_warnings", default=None)


def warn_user(text: str, category: type[Warning]) -> None:
    """Give a warning with a ``text`` of a ``category`` that names the user's line of code, the innermost one
    outside of this package. Inside of ``deferred_warnings`` it is only listed, inside of ``listed_warnings``
    listed too. Nothing is done while the package copies a description by ``replace``, since the user was already
    warned of it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and (_is_of_package(frame) or _is_of_dataclass(frame)):
        if frame.f_code.co_name == "replace" and _is_of_package(frame.f_back):
            return  # the package copies a description that the user was warned of
        frame, level = frame.f_back, level + 1
    if (given := _given_warnings.get()) is not None:
        given.append(text)
    if (deferred := _deferred_warnings.get()) is not None:
        deferred.append(f"{category.__name__}: {text}")
    else:
        warnings.warn(text, category, stacklevel=level)


@contextmanager
def listed_warnings(texts: list[str] | None = None) -> Iterator[list[str]]:
    """Context manager that lists the texts of all warnings that are given inside, in addition to giving them;
    ``texts`` is a list to append to."""
    given: list[str] = [] if texts is None else texts
    token = _given_warnings.set(given)
    try:
        yield given
    finally:
        _given_warnings.reset(token)


@contextmanager
def deferred_warnings() -> Iterator[list[str]]:
    """Context manager that collects phlexible's warnings that occur inside in the list that it yields, instead of
    issuing them. Each is a text with category and message. Contexts nest; the inner one collects."""
    given: list[str] = []
    token = _deferred_warnings.set(given)
    try:
        yield given
    finally:
        _deferred_warnings.reset(token)


def warn_of_runs(warnings_of_runs: Mapping[int, Sequence[str]], count: int) -> None:
    """Give one warning of each category for many runs (``count``) of a batch or study. It tells how many runs
    have it and the text of the first.

    Args:
        warnings_of_runs: warnings by the number of the run, each as its category and text.
        count: of all runs.
    """
    by_category: dict[str, dict[int, str]] = {}
    for number, own in sorted(warnings_of_runs.items()):
        for name, _, text in (each.partition(": ") for each in own):
            by_category.setdefault(name, {}).setdefault(number, text)
    for name, texts in by_category.items():
        number, text = next(iter(texts.items()))
        warn_user(f"{len(texts)} of {count} runs, first number {number}: {text}", globals().get(name, UserWarning))


def _is_of_package(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(PACKAGE)


def _is_of_dataclass(frame: FrameType) -> bool:
    """Return whether a stack frame is the generated constructor of a dataclass or ``dataclasses.replace``, which
    warnings skip."""
    file, function = frame.f_code.co_filename, frame.f_code.co_name
    return (file == "<string>" and function == "__init__") or (file == DATACLASSES and function == "replace")


class PhlexibleError(Exception):
    """Anything that phlexible refuses or fails at."""


class ParameterError(PhlexibleError, ValueError):
    """A parameter is outside its range, not finite or of the wrong shape."""


class FunctionError(ParameterError):
    """A function of the user that raised; ``__cause__`` is its error, with its own type and traceback."""


class AttachmentError(PhlexibleError, ValueError):
    """An attachment that the body does not have, or that lies outside it."""


class ModelError(PhlexibleError, ValueError):
    """Parts that do not fit together: a body twice, a joint without a moving body, an unknown name."""


class JointGapError(ModelError):
    """Joints that do not close at the initial pose; the message gives the gap."""


class VelocityError(ModelError):
    """Given velocities that contradict joints or drives; the message gives the residual."""


class DeviceError(PhlexibleError, RuntimeError):
    """A GPU that is not there, or that refuses; the message says what its driver answers."""


class RedundancyError(ModelError):
    """Joints that constrain the same motion twice and contradict each other; the message names them."""


class RedundancyWarning(UserWarning):
    """Joints that constrain the same motion twice: their forces are not unique; the message names them, and
    joints whose axes cannot move."""


class StepWarning(UserWarning):
    """Steps too long for the motion or after which joint forces swing about their mean, or a run cut short."""


class MeshWarning(UserWarning):
    """A mesh, its units or its elements are not what a good model has; the message says what and where."""


class UnitWarning(UserWarning):
    """A number that looks as if it were in another unit, such as degrees or GPa."""


class DirectionWarning(UserWarning):
    """An axis that was left out, or a gravity, that seems not to be meant; the message says which."""


class DampingWarning(UserWarning):
    """Modal damping that a model has otherwise than a body alone; the message says how to have it."""


class UnusedPartWarning(UserWarning):
    """Joints, loads, springs, drives or controllers that were made and never added to the model."""


class ReductionWarning(UserWarning):
    """A reduction with fewer states than were asked for; the message gives the order and the reason."""


class LeftOutWarning(UserWarning):
    """Parts that a linear model, or the model of a file, does not have or has otherwise; the message names them."""


class SingularMassError(ModelError):
    """A body with a motion that carries no kinetic energy; the message names the direction."""


class EquilibriumError(ModelError):
    """No point to linearize about: forces that do not balance, an unstable equilibrium, an unsteady motion."""


class SingularMatrixError(PhlexibleError, RuntimeError):
    """Equations that have no solution, or no single one, because of their matrix."""


class PoleError(PhlexibleError, ValueError):
    """A frequency at which a lossless model answers without bound."""


class StructureError(ModelError):
    """A port-Hamiltonian model whose matrices break their structure; the message names the block."""


class ConvergenceError(PhlexibleError, RuntimeError):
    """A time step that does not converge even after halving.

    Attributes:
        time: start of the step that failed [s].
        residual_history: scaled Newton updates of the last try, shape (iterations,).
        motion: everything computed before the failure (a ``Motion``), or None.
    """

    def __init__(self, message: str, time: float, residual_history: object, motion: object = None) -> None:
        super().__init__(message)
        self.time = time
        self.residual_history = residual_history
        self.motion = motion


class SlackStringWarning(UserWarning):
    """Parts of a string were pressed together: their motion has no unique limit as step and mesh shrink."""


class UnstableEquilibriumWarning(UserWarning):
    """An equilibrium that is no minimum of the potential energy; the message gives the rate at which it is left."""


class ResultFileError(PhlexibleError, OSError):
    """A results file that cannot be read, written or resumed.

    Attributes:
        motion: what a run had computed that could not write (a ``Motion``), or None.
    """

    motion: object = None

    @classmethod
    def of_writing(cls, path: str | PathLike[str], error: OSError) -> Self:
        """Return the error to raise when the results file ``path`` cannot be written, because its folder is
        missing or the disk refuses."""
        folder = Path(path).parent
        words = error.strerror or error if folder.is_dir() else f"there is no folder {folder}"
        return cls(f"cannot write {path}: {words}")


@contextmanager
def writing(path: str | PathLike[str]) -> Iterator[None]:
    """Context manager in which an ``OSError`` becomes a ``ResultFileError``: the file ``path`` cannot be
    written."""
    try:
        yield
    except OSError as error:
        raise error if isinstance(error, ResultFileError) else ResultFileError.of_writing(path, error) from error


class MissingExtraError(PhlexibleError, ImportError):
    """An optional package is needed; the message gives the install command."""


class LargeDeflectionWarning(UserWarning):
    """A beam, rod or string bent further than its elements follow, or a contact of guessed stiffness gave way far;
    the message says which and what to do."""


class LargeStrainWarning(UserWarning):
    """A beam strained beyond what a linear law holds; the message says which, how far and what to do."""


class StiffeningWarning(UserWarning):
    """A fast rotation that linear strain cannot describe; the message says which beam and what to do."""
