"""Models that ``phlexible run`` runs, from the gallery or a user's file, with ``--set key=value``."""

import inspect
import math
import runpy
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import NoneType, UnionType
from typing import get_args, get_type_hints

from phlexible.bodies.beam.bases import Frame
from phlexible.bodies.beam.beam import Beam, SplitBeam
from phlexible.bodies.rod import Rod
from phlexible.cli.failures import UsageError, UserFileError, line_in
from phlexible.description.interactions.sensor import Sensor
from phlexible.gallery.entries import BeamPoint, GalleryEntry, Reference
from phlexible.gallery.table import ENTRIES
from phlexible.measure.sensors import checked_sensors
from phlexible.model import Model

# ``--set key=value``: values by the types of the model function's parameters.


def parse_settings(function: Callable[..., object], settings: Sequence[str]) -> dict[str, object]:
    """Return keyword arguments for a ``function`` from command line settings "key=value", converted to the
    annotated types of its parameters. Hyphens in a key count as underscores. UsageError is raised without "=", for
    an unknown or repeated key, and for a value of the wrong type.

    Args:
        function: with annotated parameters.
        settings: each "key=value"; hyphens in a key count as underscores.

    Raises:
        UsageError: no "=", an unknown key, a key twice or a value of the wrong type.
    """
    hints = get_type_hints(function)
    parameters = list(inspect.signature(function).parameters)
    values: dict[str, object] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        name = key.strip().replace("-", "_")
        if not equals:
            raise UsageError(f"--set takes key=value, got {setting!r}")
        if name not in parameters:
            raise UsageError(f"--set {key}: there is no such parameter; it is one of {', '.join(parameters)}")
        if name in values:
            raise UsageError(f"--set {key} is given twice")
        values[name] = _parsed(name, text.strip(), hints[name])
    return values


MOST_SWEPT = 100_000
"""Largest number of values of a parameter."""


def parse_sweep(function: Callable[..., object], text: str) -> tuple[str, tuple[float, ...]]:
    """Return parameter name and values from the text "key=start:stop:count" of a command line, with both ends
    included. ``function`` is that of the gallery whose parameter it is.

    Raises:
        UsageError: another form, or no parameter of that name that takes numbers.
    """
    key, _, numbers = text.partition("=")
    name = key.strip().replace("-", "_")
    hints = get_type_hints(function)
    able = [parameter for parameter in inspect.signature(function).parameters if hints[parameter] is float]
    if name not in able:
        known = ", ".join(able) or "none"
        raise UsageError(f"--sweep {key}: there is no such parameter with numbers; it is one of {known}")
    try:
        first, last, count = numbers.split(":")
        start, stop, steps = float(first), float(last), int(count)
        if not (2 <= steps <= MOST_SWEPT and math.isfinite(stop - start)):
            raise ValueError
    except ValueError:
        raise UsageError(
            f"--sweep takes key=start:stop:count with a count of 2 to {MOST_SWEPT}, such as {able[0]}=0:1:21,"
            f" got {text!r}"
        ) from None
    return name, tuple(start + (stop - start) * k / (steps - 1) for k in range(steps))


def defaults_of(function: Callable[..., object]) -> dict[str, object]:
    """Return the default value of each parameter of a function by the parameter's name;
    ``inspect.Parameter.empty`` for parameters without a default."""
    return {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}


def parameter_text(parameters: Mapping[str, object]) -> str:
    """Return parameters as text, "crank_length=0.15 strain=von_karman ...", with values in the form that ``--set``
    accepts."""
    return " ".join(f"{name}={_written(value)}" for name, value in parameters.items())


def _parsed(name: str, text: str, kind: object) -> object:
    choices = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    if NoneType in choices and text.lower() == "none":
        return None
    choice = next(choice for choice in choices if choice is not NoneType)
    try:
        if choice is int:
            return int(text)
        if choice is float:
            return float(text)
        if items := get_args(choice):
            parts = text.strip("()").split(",")
            if len(parts) != len(items):
                raise ValueError
            return tuple(float(part) for part in parts)
    except ValueError:
        raise UsageError(f"--set {name}={text}: expected {_expectation(choice, choices)}") from None
    return text


def _expectation(choice: object, choices: tuple[object, ...]) -> str:
    items = get_args(choice)
    single = {int: "an integer", float: "a number"}
    expected = f"{len(items)} numbers, such as 1,2,3" if items else single[choice]  # type: ignore[index]
    return expected + (" or none" if NoneType in choices else "")


def _written(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(_written(item) for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value).lower()


# Models of ``phlexible run``: of the gallery by name, or of a user's Python file.

MOST_POINTS = 4


@dataclass(frozen=True, eq=False)
class ModelToRun:
    """A model with the settings of its run and with reference values.

    Attributes:
        name: for headings.
        model: to simulate.
        duration: [s]; None: not set.
        step: [s]; None: not set.
        points: whose displacement is summarised and plotted.
        references: reference values that apply to this model.
        operating_point: operating point of its modes, unless --at names another.
    """

    name: str
    model: Model
    duration: float | None
    step: float | None
    points: tuple[BeamPoint, ...]
    references: tuple[Reference, ...] = field(default=())
    operating_point: str = "given"


def find_program(name_or_file: str, settings: Sequence[str]) -> ModelToRun:
    """Return the model that a command runs, with its settings, from the name of a gallery model or the path of a
    Python file.

    Raises:
        UsageError: no such model or file, or settings that do not fit.
        UserFileError: the file fails, or defines no ``model``.
    """
    entries = {entry.name: entry for entry in ENTRIES}
    if entry := entries.get(name_or_file.replace("_", "-")):
        return _from_gallery(entry, parse_settings(entry.function, settings))
    path = Path(name_or_file)
    if path.suffix != ".py":
        near = get_close_matches(name_or_file, entries, n=3) or ["crank-slider"]
        raise UsageError(
            f"no model is named {name_or_file!r}; `phlexible list` shows all, such as {', '.join(near)};"
            " a file of yours ends in .py (my_model.py)"
        )
    if not path.is_file():
        raise UsageError(f"there is no file {name_or_file!r}")
    if settings:
        raise UsageError("--set changes parameters of gallery models; edit the file instead")
    return _from_file(path)


def gallery_entry(name: str) -> GalleryEntry:
    """Return the entry of the gallery with a name (hyphens or underscores); raise UsageError if there is none.

    Raises:
        UsageError: there is none.
    """
    entries = {entry.name: entry for entry in ENTRIES}
    if entry := entries.get(name.replace("_", "-")):
        return entry
    raise UsageError(f"--sweep changes a parameter of a gallery model; choose {', '.join(entries)}")


def _from_gallery(entry: GalleryEntry, parameters: Mapping[str, object]) -> ModelToRun:
    defaults = defaults_of(entry.function)
    references = tuple(r for r in entry.references if r.holds(parameters, defaults))
    model = entry.function(**parameters)
    numbers = (entry.duration, entry.step)
    points = tuple(point for point in entry.points if isinstance(model[point.body].body, Beam | SplitBeam | Rod))
    return ModelToRun(entry.name, model, *numbers, points, references, entry.operating_point)


def build_file(path: Path, output: Path, targets: Sequence[str] | None, duration: float | None, fmi: int) -> Path:
    """Build a library or FMU in the file ``output`` from the model that a Python file (``path``) defines, and
    return its path. ``targets`` are platforms, ``fmi`` is the version of an FMU, ``duration`` [s] replaces
    that in the file.

    The file defines ``model`` or ``build``, and ``step`` [s]. It may define ``duration``, ``outputs`` (sensors by
    name, a list of them, or a function of the model that returns these) and ``parameters``, ranges of those of
    ``build``.

    Args:
        path: of the Python file.
        output, targets, fmi: as of ``ph.build``.
        duration: replaces that in the file [s].

    Raises:
        UsageError: no such file.
        UserFileError: the file fails, or defines no model or no step.
        PhlexibleError: an error of ``ph.build``.
    """
    from phlexible.tools.build import build  # here: the compiler takes long to import

    if not path.is_file() or path.suffix != ".py":
        raise UsageError(f"the model must be a Python file, got {str(path)!r}")
    with _file_that_runs(path):
        variables = runpy.run_path(str(path), run_name="phlexible_model")
    model, step = variables.get("build") or variables.get("model"), variables.get("step")
    sensors_of_file = variables.get("outputs")
    if not (callable(model) or isinstance(model, Model)):
        raise UserFileError(f"{path} must define a phlexible.Model named model, or build(...) that returns one")
    if step is None:
        raise UserFileError(f"{path} must define step = ..., the time step in seconds")

    def outputs(model: Model) -> Mapping[str, Sensor]:
        result = sensors_of_file(model) if callable(sensors_of_file) else sensors_of_file
        return result if isinstance(result, Mapping) else {str(s): s for s in checked_sensors("outputs", result)}

    return build(
        model,
        step,
        output,
        outputs=None if sensors_of_file is None else outputs,
        targets=targets,
        parameters=variables.get("parameters"),
        fmi=fmi,
        duration=variables.get("duration") if duration is None else duration,
    )


@contextmanager
def _file_that_runs(path: Path) -> Iterator[None]:
    """Context manager in which the user's Python file ``path`` can import modules of its folder, which is put
    first on ``sys.path``. Any exception, ``SystemExit`` too, is raised again as ``UserFileError`` with the file
    and, if known, the line. The path entry is removed at the end."""
    sys.path.insert(0, str(path.parent.resolve()))  # as python my_model.py does
    try:
        yield
    except (Exception, SystemExit) as error:
        line = error.lineno if isinstance(error, SyntaxError) else line_in(path, error.__traceback__)
        location = f"{path}, line {line}" if line else str(path)
        raise UserFileError(f"{location}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.pop(0)


def _from_file(path: Path) -> ModelToRun:
    with _file_that_runs(path):
        variables = runpy.run_path(str(path), run_name="phlexible_model")
        build, model = variables.get("build"), variables.get("model")
        if model is None and callable(build):
            model = build()
    if not isinstance(model, Model):
        found = "defines none" if model is None else f"it is {model!r}"
        raise UserFileError(
            f"{path} must define a phlexible.Model named model, or build() that returns one, {found}"
        )
    duration, step = (_number(path, name, variables.get(name)) for name in ("duration", "step"))
    return ModelToRun(path.stem, model, duration, step, typical_points(model))


def _number(path: Path, name: str, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    raise UserFileError(f"{path}: {name} must be a number of seconds, got {value!r}")


def typical_points(model: Model) -> tuple[BeamPoint, ...]:
    """Return the beam points of a model whose displacements a printed summary shows, up to a fixed number of
    bodies. They are the free end of beams with a cantilever frame, and the middle of all other beams."""
    beams = [placed for placed in model.bodies if isinstance(placed.body, Beam)]
    return tuple(
        BeamPoint(placed.name, 1.0 if placed.resolved.frame is Frame.CANTILEVER else 0.5)
        for placed in beams[:MOST_POINTS]
        if isinstance(placed.resolved, Beam)
    )
