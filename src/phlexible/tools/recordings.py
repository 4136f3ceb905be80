"""Measured data for ``ph.identify``: tables over time, frequencies of modes, frequency responses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, file_path, mapping, positive, reals, text, whole
from phlexible.description.time_functions import Signal
from phlexible.errors import ParameterError

Columns = Mapping[str, str | Sequence[str]]

MEASURED = 10  # samples from which on an input is a table that was measured, no ramp or pulse
OTHER_UNITS = {"m": (1e3, "mm", "m"), "rad": (180 / np.pi, "degrees", "rad")}

# What was measured: tables over time, frequencies of modes, frequency responses.


@dataclass(frozen=True, eq=False)
class Recording:
    """Measured values over time of one experiment, which begins at time zero.

    Attributes:
        time: of the values, ascending, not before zero, shape (T,) [s].
        outputs: by the names of sensors, each of shape (T,) or (T, components of the sensor); NaN: not measured.
        noise: standard deviation of all outputs, or by name; None or left out: estimated with the parameters.
        inputs: of this experiment, by the names under which ``build`` takes them: numbers, arrays, ``ph.Signal``.

    Raises:
        ParameterError: other shapes, times that do not ascend, noise that is not positive.
    """

    time: Array
    outputs: Mapping[str, Array]
    noise: float | Mapping[str, float] | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        time = reals("time of a recording", self.time)
        if time.ndim != 1 or len(time) < 2 or not (np.diff(time) > 0).all() or time[0] < 0:
            raise ParameterError(
                f"time of a recording must be two or more ascending instants from 0 on, got shape {time.shape}"
                + (f" from {time.min():g} to {time.max():g}" if time.size else "")
            )
        if not isinstance(self.outputs, Mapping) or not self.outputs:
            raise ParameterError(f"outputs must be measured values by names of sensors, got {self.outputs!r}")
        outputs = {text("name of an output", name): reals(name, value) for name, value in self.outputs.items()}
        for name, values in outputs.items():
            if values.ndim not in (1, 2) or len(values) != len(time) or not np.isfinite(values).any():
                raise ParameterError(
                    f"{name} must have a value for each of {len(time)} instants of time, got shape {values.shape}"
                )
        noise = self.noise if isinstance(self.noise, Mapping) else dict.fromkeys(outputs, self.noise)
        checked = {name: positive(f"noise of {name}", each) for name, each in noise.items() if each is not None}
        if unknown := set(checked) - set(outputs):
            raise ParameterError(f"noise of {', '.join(sorted(unknown))}, which is no output of the recording")
        inputs = mapping("inputs", self.inputs)
        for name, signal in inputs.items():
            is_table = isinstance(signal, Signal) and len(signal.times) >= max(MEASURED, len(time) // 4)
            if is_table and signal.times[-1] < time[-1] - 2 * np.diff(signal.times).max():
                raise ParameterError(
                    f"input {name} has {len(signal.times)} samples up to {signal.times[-1]:g} s, the outputs go on"
                    f" to {time[-1]:g} s: cut the recording there, or add what the input is until then"
                )
        vars(self).update(time=time, outputs=outputs, noise=checked, inputs=inputs)

    def __repr__(self) -> str:
        inputs = f"; inputs {', '.join(self.inputs)}" if self.inputs else ""
        ends = f"{len(self.time)} instants, t = {self.time[0]:g} to {self.time[-1]:g} s"
        return f"{type(self).__name__}({', '.join(self.outputs)}: {ends}{inputs})"

    @classmethod
    def of(
        cls,
        source: Any,
        outputs: Columns,
        *,
        time: str = "time",
        inputs: Mapping[str, str] | None = None,
        noise: float | Mapping[str, float] | None = None,
    ) -> "Recording":
        """Return a measured time series (``Recording``) made from a table with named columns (``source``), such as
        a csv file or DataFrame. ``outputs`` and ``inputs`` are the names of their columns, ``time`` is the column
        of the time, ``noise`` the standard deviation of the values. Empty cells become NaN; missing columns and
        other text raise ``ParameterError``.

        Args:
            source: path of a file, ``.csv`` with a line of names, commas between values and decimal points (an
                empty cell is a missing value) or ``.mat``; or anything that gives a column by its name, such as a
                DataFrame, a Dataset of xarray or a dict of arrays.
            outputs: column by the name of the sensor, or columns of its numbers.
            time: column of the time [s].
            inputs: column by the name under which ``build`` takes it; it becomes a ``ph.Signal``.
            noise: as of ``Recording``.

        Raises:
            ParameterError: no such column, a cell of it with text, or a file that is empty, of another kind or with
                other separators.

        Example:
            >>> table = {"time": [0.0, 0.1, 0.2], "x": [0.0, 0.4, 0.9]}
            >>> ph.Recording.of(table, {"tip": "x"}, noise=1e-3).outputs["tip"]
            array([0. , 0.4, 0.9])
        """
        columns = _columns(source)

        def column(name: str) -> Array:
            try:
                cells = np.asarray(columns[name]).ravel()
                if cells.dtype == object:
                    cells = np.array([_number(cell, row) for row, cell in enumerate(cells.tolist(), 1)])
                return cells.astype(np.float64)
            except (KeyError, IndexError, ValueError, TypeError) as error:
                names = getattr(getattr(columns, "dtype", None), "names", None)
                names = list(columns) if isinstance(columns, Mapping) else names
                known = f"; there are {', '.join(map(str, names))}" if names else ""
                raise ParameterError(f"no column {name!r} of numbers in the table: {error}{known}") from None

        times = column(time)
        values = {
            name: column(each) if isinstance(each, str) else np.stack([column(part) for part in each], axis=1)
            for name, each in outputs.items()
        }
        return cls(
            times, values, noise, {name: Signal(times, column(each)) for name, each in (inputs or {}).items()}
        )


def _number(cell: Any, row: int) -> float:
    """Convert a cell of a table to a float, NaN if it is empty. Other text raises ``ValueError``, which names the
    ``row`` of the cell, counted from the first one below the column names."""
    try:
        return np.nan if cell in ("", b"", None) else float(cell)
    except ValueError:
        raise ValueError(f"row {row} has {repr(cell).lstrip('b')}") from None


def _columns(source: Any) -> Any:
    if not isinstance(source, str | PathLike):
        return source
    path = Path(file_path("source", source))
    kind = path.suffix.lower()
    if kind == ".mat":
        from scipy.io import loadmat
        from scipy.io.matlab import MatReadError

        try:
            return loadmat(path, squeeze_me=True)
        except (MatReadError, ValueError, NotImplementedError) as error:
            raise ParameterError(f"{path} is no .mat file that scipy.io.loadmat reads: {error}") from None
    if kind == ".csv":
        how: dict[str, Any] = {"delimiter": ",", "autostrip": True, "deletechars": "", "replace_space": " "}
        try:
            if not path.read_text("utf-8-sig").strip():
                raise ValueError("it is empty")
            table = np.genfromtxt(path, object, names=True, ndmin=1, encoding="utf-8-sig", **how)
            if len(names := table.dtype.names or ()) < 2:
                raise ValueError(f"its line of names is one column, {', '.join(names)!r}")
            return table
        except ValueError as error:
            raise ParameterError(
                f"{path} must have values separated by commas, with decimal points; pandas.read_csv(path, sep=';',"
                f" decimal=',') reads others, which Recording.of takes: {str(error).splitlines()[-1].strip()}"
            ) from None
    raise ParameterError(f"source must be a .csv or a .mat file or a table with named columns, got {source!r}")


@dataclass(frozen=True, eq=False)
class RecordedModes:
    """Measured frequencies of the lowest modes of ``linear``.

    Attributes:
        frequencies: shape (k,) [rad/s], ascending.
        noise: standard deviation [rad/s], a number or shape (k,).
        first: number of the mode that the first one is, counted from 0; rigid modes count.

    Raises:
        ParameterError: numbers that are not positive.
    """

    frequencies: Array
    noise: float | Array
    first: int = 0

    def __post_init__(self) -> None:
        found = reals("frequencies", self.frequencies)
        if found.ndim != 1 or not len(found) or not (found > 0).all() or not np.isfinite(found).all():
            raise ParameterError(f"frequencies must be positive, got {self.frequencies!r}")
        first = whole("first", self.first, 0)
        vars(self).update(frequencies=found, noise=_deviations(self.noise, found.shape), first=first)


@dataclass(frozen=True, eq=False)
class RecordedResponse:
    """Measured frequency response from the inputs to the outputs of ``linear``.

    Attributes:
        frequencies: shape (k,) [rad/s].
        values: complex, shape (k,), or (k, outputs, inputs).
        noise: standard deviation of real and of imaginary part each, a number or an array that fits ``values``.

    Raises:
        ParameterError: other shapes, or noise that is not positive.
    """

    frequencies: Array
    values: Any
    noise: float | Array

    def __post_init__(self) -> None:
        omegas = reals("frequencies", self.frequencies)
        try:
            is_text = isinstance(self.values, str | bytes)
            values = np.asarray(None if is_text else self.values, dtype=np.complex128)
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(f"values must be complex numbers, got {self.values!r}") from None
        if values.ndim == 1:
            values = values[:, None, None]
        if omegas.ndim != 1 or values.ndim != 3 or len(values) != len(omegas) or not np.isfinite(values).all():
            raise ParameterError(
                f"values must be finite, of shape ({omegas.size},) or ({omegas.size}, outputs, inputs), for"
                f" frequencies of shape {omegas.shape}; got shape {values.shape}"
            )
        vars(self).update(frequencies=omegas, values=values, noise=_deviations(self.noise, values.shape))


Data = Recording | RecordedModes | RecordedResponse


def _deviations(noise: Any, shape: tuple[int, ...]) -> Array:
    """Return the standard deviations of measured values (``noise``), broadcast to a shape. Raise ParameterError if
    they do not broadcast, or are not positive and finite."""
    found = reals("noise", noise)
    try:
        result = np.broadcast_to(found, shape)
    except ValueError:
        raise ParameterError(f"noise must be a number or fit the shape {shape}, got shape {found.shape}") from None
    if not ((result > 0) & np.isfinite(result)).all():
        raise ParameterError(f"noise must be positive and finite, got {noise!r}")
    return result
