"""Parameters of a model from measured motions, modes and responses: least squares on exact derivatives."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.interpolate import CubicSpline
from scipy.optimize import least_squares

from phlexible.algebra.arrays import Array, check_callable, finite, mapping, optional_text, positive, texts
from phlexible.derivatives.linear_models import mode_derivatives, response_derivatives
from phlexible.derivatives.parameters import Parameters, check_build
from phlexible.derivatives.sensitivity import sensitivity_of_run
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.mechanism.changes import changed_bodies, in_another_frame, with_half_the_elements
from phlexible.description.time_functions import Signal
from phlexible.display import how_many, in_row, table
from phlexible.errors import ConvergenceError, ParameterError, PhlexibleError, UnitWarning
from phlexible.measure.sensors import ElasticDisplacement
from phlexible.pictures.reports import findings, html_path, page_without_view, section, versions, write_page
from phlexible.pictures.style import COLORS, INK, finish, house_style, new_figure, picture_html, picture_path
from phlexible.results.progress import is_bar_shown, progress_bar
from phlexible.tools.recordings import OTHER_UNITS, Data, RecordedModes, RecordedResponse, Recording

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# Unknowns as one vector: parameters of the model, some with a value in each recording, and properties of sensors.

KINDS = ("bias", "gain", "delay")
AT_REST = {"bias": 0.0, "gain": 1.0, "delay": 0.0}


@dataclass(frozen=True, eq=False)
class _Unknowns:
    """Names, indices and first values of the unknowns.

    Attributes:
        parameters: start values by name, of ``build``.
        separate: names of parameters that have a value in every recording.
        sensors: (kind, output) of biases, gains and delays, with their scales.
        recordings: how many there are.
    """

    parameters: Mapping[str, Any]
    separate: tuple[str, ...]
    sensors: Mapping[tuple[str, str], float]
    recordings: int
    scales: Mapping[str, float]

    @cached_property
    def model(self) -> Parameters:
        """Return those unknowns of an identification that are parameters of the model, without the bias, gain and
        delay of sensors."""
        return Parameters(self.parameters, self.scales)

    @cached_property
    def all(self) -> Parameters:
        """Return all unknowns of an identification as one parameter vector (``Parameters``): the model's
        parameters, then the biases, gains and delays of sensors that are sought. A parameter in ``separate`` has
        one value for each measured data set. Scales of parameters are the user's, those of sensor unknowns their
        expected sizes."""
        own = {
            name: np.stack([value] * self.recordings) if name in self.separate else value
            for name, value in self.parameters.items()
        }
        of_sensors = {f"{kind} of {output}": AT_REST[kind] for kind, output in self.sensors}
        sizes = dict(zip(of_sensors, self.sensors.values(), strict=True))
        return Parameters({**own, **of_sensors}, {**self.scales, **sizes})

    def of_model(self, values: Array, recording: int) -> tuple[Array, Array]:
        """Return the values of the model's parameters for one measured data set, and their indices in the vector
        ``values`` of all unknowns. ``recording`` is the number of the data set. Parameters in ``separate`` have a
        value for each data set; all others share theirs."""
        chosen = []
        for name, index in self.model.slices.items():
            count = index.stop - index.start
            begin = self.all.slices[name].start + (count * recording if name in self.separate else 0)
            chosen.append(np.arange(begin, begin + count))
        indices = np.concatenate(chosen)
        return values[indices], indices

    def of_sensor(self, values: Array, output: str) -> dict[str, tuple[float, int]]:
        """Return bias, gain and delay of a measured ``output``, as a dictionary from these words to (value,
        index). The index is the position in the vector ``values`` of all unknowns. A quantity that is no unknown
        has its neutral value (bias 0, gain 1, delay 0) and index -1."""
        found = {}
        for kind in KINDS:
            is_sought = (kind, output) in self.sensors
            index = self.all.slices[f"{kind} of {output}"].start if is_sought else -1
            found[kind] = (float(values[index]), index) if is_sought else (AT_REST[kind], -1)
        return found


# What a model says where data was measured, and how that changes with the unknowns.


@dataclass(frozen=True, eq=False)
class Prediction:
    """Readings of the model for one output, with their derivatives.

    Attributes:
        label: of the output and the data.
        axis: name of the abscissa, with unit.
        at: times [s], frequencies [rad/s] or numbers of modes, shape (k,).
        measured, model: shape (k, components).
        slopes: derivatives of the model's sensor values with respect to all unknowns, shape (k, components,
            unknowns).
        noise: standard deviations, shape (k, components); NaN where they are estimated.
        group: outputs of one group have the same unknown noise.
    """

    label: str
    axis: str
    at: Array
    measured: Array
    model: Array
    slopes: Array
    noise: Array
    group: str


@dataclass(frozen=True, eq=False)
class _Experiments:
    """Measured data, and the model that is fitted to it."""

    build: Callable[[Any], Any]
    data: tuple[Data, ...]
    unknowns: _Unknowns
    sensors: Callable[[Any], Mapping[str, Sensor]] | None
    linear: Callable[[Any], Any] | None
    step: float | None
    initial: Any

    def predictions(self, values: Array) -> list[Prediction]:
        """Return the model's predictions of all measured data for the unknowns ``values``, with derivatives, as
        one list. Time series are simulated; modes and frequency responses follow from the linear model."""
        return [each for number in range(len(self.data)) for each in self._predicted(values, number)]

    def model(self, values: Array, number: int, data: Recording) -> Any:
        """Return the model for the measured time series ``data``, the data set with the index ``number``. It is
        built with the measured inputs in ``data`` and with the ``values`` of the unknowns."""
        return self.build({**data.inputs, **self.unknowns.model.nested(self.unknowns.of_model(values, number)[0])})

    def warn_of_units(self, values: Array, predictions: Sequence[Prediction]) -> None:
        """Warn (``UnitWarning``) if a measured time series looks like its prediction in another unit, such as mm
        for m or degrees for rad. Sorted measured and predicted values must be nearly proportional, with a factor
        within 2 of the ratio of the units. The model is built for the unknowns ``values``; modal data are skipped.

        Data differ from the model's ``predictions`` in size by a factor of about 1000 (lengths) or 57 (angles).
        Values are compared in ascending order, so that a frequency that is wrong at first does not hide the unit of
        long data."""
        for number, data in enumerate(self.data):
            if not isinstance(data, Recording) or self.sensors is None:
                continue
            known = self.sensors(self.model(values, number, data))
            for each in predictions:
                name = each.group
                if each.label != f"{name} {number}" or (unit := known[name].unit) not in OTHER_UNITS:
                    continue
                factor, other, wanted = OTHER_UNITS[unit]
                is_seen = np.isfinite(each.measured)
                measured, predicted = np.sort(each.measured[is_seen]), np.sort(each.model[is_seen])
                sizes = np.linalg.norm(measured), np.linalg.norm(predicted)
                is_alike = float(measured @ predicted) > 0.9 * sizes[0] * sizes[1]
                if is_alike and 0.5 < max(sizes) / min(sizes) / factor < 2:
                    most, least = np.abs(measured).max(), np.abs(predicted).max()
                    where = "data" if most > least else "the model"
                    text = (
                        f"{name} reads up to {most:.3g} {wanted}, the model {least:.3g}: if {where} is in {other}"
                    )
                    warnings.warn(
                        f"{text}, use {wanted}; otherwise start from better values", UnitWarning, stacklevel=4
                    )

    def _predicted(self, values: Array, number: int) -> Iterator[Prediction]:
        own, indices = self.unknowns.of_model(values, number)
        given, scales = self.unknowns.model.nested(own), self.unknowns.scales
        match self.data[number]:
            case Recording() as data:
                yield from self._over_time(data, number, Parameters(given, scales), indices, values)
            case RecordedModes() as data:
                count = data.first + len(data.frequencies)
                modes = mode_derivatives(self._linear, given, count, scales=scales)
                slopes = _flat_slopes(modes.of_frequencies, (count,))[:, data.first :]
                full = np.zeros((len(data.frequencies), 1, len(values)))
                full[:, 0, indices] = slopes.T
                model, numbers_of = (
                    modes.frequencies[data.first :, None],
                    np.arange(data.first, count, dtype=np.float64),
                )
                noise = np.asarray(data.noise)[:, None]
                yield Prediction(
                    f"modes {number}", "mode", numbers_of, data.frequencies[:, None], model, full, noise, ""
                )
            case RecordedResponse() as data:
                found = response_derivatives(self._linear, data.frequencies, given, scales=scales)
                if found.values.shape != data.values.shape:
                    raise ParameterError(
                        f"the response was measured with shape {data.values.shape}, linear has {found.values.shape}"
                    )
                slopes = _flat_slopes(found.derivatives, found.values.shape)
                k = len(data.frequencies)
                full = np.zeros((k, 2 * data.values[0].size, len(values)))
                full[:, :, indices] = np.moveaxis(_parts(slopes.reshape(len(indices), k, -1)), 0, -1)
                noise = np.tile(np.asarray(data.noise).reshape(k, -1), 2)
                measured, model = (_parts(each.reshape(k, -1)) for each in (data.values, found.values))
                yield Prediction(
                    f"response {number}", "frequency [rad/s]", data.frequencies, measured, model, full, noise, ""
                )

    def _over_time(
        self, data: Recording, number: int, varied: Parameters, indices: Array, values: Array
    ) -> Iterator[Prediction]:
        assert self.step is not None and self.sensors is not None, "checked where the data came in"
        sensors_of, names = self.sensors, list(data.outputs)
        count = max(1, ceil(float(data.time[-1]) / self.step - 1e-9))
        fixed = dict(data.inputs)

        def build(varied: Any) -> Any:
            return self.build({**fixed, **varied})

        def sensors(model: Any) -> list[Sensor]:
            found = sensors_of(model)
            if not isinstance(found, Mapping) or not set(names) <= set(found):
                raise ParameterError(f"sensors must return sensors by the names {', '.join(names)}, got {found!r}")
            return [found[name] for name in names]

        run = sensitivity_of_run(build, varied, sensors, self.step, count, self.initial)
        for k, name in enumerate(names):
            readings = run.readings[k].reshape(len(run.time), -1)
            slopes = _flat_slopes(run.derivatives[k], readings.shape)
            sensor = self.unknowns.of_sensor(values, name)
            (bias, b), (gain, g), (delay, d) = (sensor[kind] for kind in KINDS)
            at = np.clip(data.time - delay, 0.0, run.time[-1])
            curve = CubicSpline(run.time, readings)
            seen, measured = curve(at), data.outputs[name].reshape(len(data.time), -1)
            if seen.shape != measured.shape:
                raise ParameterError(
                    f"{name} was measured with shape {measured.shape}, its sensor has {seen.shape[1]} numbers"
                )
            full = np.zeros((*seen.shape, len(values)))
            full[:, :, indices] = gain * np.moveaxis(CubicSpline(run.time, slopes, axis=1)(at), 0, -1)
            if b >= 0:
                full[:, :, b] = 1.0
            if g >= 0:
                full[:, :, g] = seen
            if d >= 0:
                full[:, :, d] = -gain * np.where(data.time[:, None] > delay, curve(at, 1), 0.0)
            assert isinstance(data.noise, dict), "made so by the recording"
            noise = np.full(measured.shape, data.noise.get(name, np.nan))
            yield Prediction(
                f"{name} {number}", "time [s]", data.time, measured, gain * seen + bias, full, noise, name
            )

    def _linear(self, parameters: Any) -> Any:
        assert self.linear is not None, "checked where the data came in"
        return self.linear(self.build(parameters))


def _flat_slopes(slopes: Any, shape: tuple[int, ...]) -> Any:
    r"""Return derivatives by parameter name (``slopes``) concatenated to one array, shape (parameters, \*shape).
    ``shape`` is the shape of the differentiated quantity; the order is that of the dictionary."""
    return np.concatenate([np.reshape(each, (-1, *shape)) for each in slopes.values()])


def _parts(values: Any) -> Array:
    """Convert complex ``values`` to real ones: the real parts followed by the imaginary parts, concatenated along
    the last axis."""
    return np.concatenate([values.real, values.imag], axis=-1)


# The fit: values, how sure they are, and what the data does not tell.

UNSEEN = 1.0
"""Relative standard deviation of a combination of unknowns from which on the data does not determine it."""
ALIKE = 0.99
"""Correlation of two unknowns from which on a warning is given."""
SURPRISING = 1e-4
"""Probability below which a test of the residuals rejects the model."""
LAGS = 20
WEIGHT = 0.2  # of an unknown in a combination that is named


@dataclass(frozen=True, eq=False)
class Fit:
    """Parameters that explain measured data; made by ``ph.identify``.

    Attributes:
        values: by name, numbers or arrays as they were given; of parameters in ``separate`` an array over the
            recordings; "bias of tip" and such of sensors.
        labels: of each single number, in the order of ``covariance``.
        covariance: of all values, shape (values, values).
        predictions: what the model says of all data.
        noise: standard deviations that were found, by output.
        freedom: data less unknowns.
        runs: how often the model was simulated or linearized, with derivatives.
        warnings: what the data does not tell, or the model does not explain, in words.
        shifts: by what is changed ("half the step", "half the elements", "another frame"), how far all values move
            then, shape (values,): errors of the model, which intervals do not count.
    """

    values: Mapping[str, Any]
    labels: tuple[str, ...]
    covariance: Array
    predictions: tuple[Prediction, ...]
    noise: Mapping[str, float]
    freedom: int
    runs: int
    warnings: tuple[str, ...]
    shifts: Mapping[str, Array]
    _flat: Array = field(repr=False)
    _slices: Mapping[str, slice] = field(repr=False)

    def intervals(self, level: float = 0.95) -> dict[str, Any]:
        """Return the confidence intervals of all fitted parameters for the probability ``level``, a dictionary of
        arrays (..., 2) with lower and upper end. They are value plus and minus a quantile times the standard
        deviation. Quantiles are those of Student's t distribution if the noise was estimated, else of the normal
        distribution. ParameterError unless 0 < level < 1.

        Of Student's distribution where noise was estimated.

        Raises:
            ParameterError: a probability that is not between 0 and 1.
        """
        share = finite("level", level)
        if not 0 < share < 1:
            raise ParameterError(f"level must be between 0 and 1, got {level!r}")
        spread = stats.t(self.freedom) if self.noise else stats.norm()
        half = spread.ppf(0.5 + share / 2) * self._deviations
        ends = np.stack([self._flat - half, self._flat + half], axis=-1)
        return {name: ends[self._slices[name]].reshape(*np.shape(value), 2) for name, value in self.values.items()}

    @property
    def _deviations(self) -> Array:
        """Return the standard deviations of all fitted scalar unknowns, the square roots of the diagonal of the
        covariance matrix, shape (unknowns,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def correlation(self) -> Array:
        """Return the correlation matrix of all fitted scalar unknowns, the covariance divided by products of
        standard deviations, shape (unknowns, unknowns)."""
        return np.asarray(self.covariance / np.outer(self._deviations, self._deviations))

    def plot(self, path: str | PathLike[str] | None = None) -> "Figure":
        """Plot the measured points and the curves of the fitted model, one diagram for each measured quantity,
        with residuals in standard deviations below. Return the figure; it is written to ``path`` if given.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        path, count = picture_path(path), len(self.predictions)
        with house_style():
            figure = new_figure(5.6, 2.6 * count)
            rows = figure.subplots(2 * count, 1, squeeze=False, height_ratios=[3, 1] * count)[:, 0]
            for each, upper, lower in zip(self.predictions, rows[::2], rows[1::2], strict=True):
                for k, (measured, model) in enumerate(zip(each.measured.T, each.model.T, strict=True)):
                    color = COLORS[k % len(COLORS)]
                    upper.plot(each.at, measured, ".", ms=2.5, color=color, alpha=0.6)
                    upper.plot(each.at, model, color=INK, lw=1.0)
                    lower.plot(each.at, (measured - model) / each.noise[:, k], ".", ms=2.0, color=color)
                upper.set_ylabel(each.label)
                upper.tick_params(labelbottom=False)
                lower.axhline(0.0, color=INK, lw=0.6)
                lower.set_ylabel("rest [sigma]")
                lower.set_xlabel(each.axis)
            return finish(figure, path)

    def report(self, path: str | PathLike[str], title: str | None = None) -> None:
        """Write a web page (HTML) about the fit to ``path``. It has values with confidence intervals, warnings,
        the plot of measured and model data, correlations and versions. ``title`` is its heading, by default "fit".
        ParameterError is raised if the path does not end in .html.

        Raises:
            ParameterError: no path that ends in .html.
            ResultFileError: the file cannot be written.
            MissingExtraError: matplotlib is not installed.
        """
        target, heading = html_path(path), optional_text("title", title) or "fit"
        values, correlations, data = self._tables()
        sections = [
            section("Values", values, is_open=True),
            section("Problems", findings(self.warnings), is_open=bool(self.warnings)),
            section("Measured and model", picture_html(self.plot, "measured and model"), is_open=True),
            section("Correlations", correlations),
            section("Data", data),
            section("Versions", versions()),
        ]
        subtitle = (
            f"{how_many(len(self.labels), 'number')} from {how_many(len(self.predictions), 'measured curve')}"
        )
        write_page(target, page_without_view(heading, subtitle, sections))

    def _repr_html_(self) -> str:
        """Return HTML that notebooks show for a fit: tables of values with intervals, correlations, data and
        warnings."""
        values, correlations, data = self._tables()
        return in_row(values, correlations, data, findings(self.warnings))

    def _tables(self) -> tuple[str, str, str]:
        """Return three HTML tables of a fit as texts. The first has parameter values with standard deviations, 95
        % intervals and shifts by other discretizations. The second has the correlation matrix of the parameters,
        and the third the number of values and mean noise of each measured quantity."""
        shifts = np.array([*self.shifts.values()]).reshape(-1, len(self.labels)).T
        rows = [
            (*words, *(f"{x:+.2g}" for x in moved)) for words, moved in zip(self._formatted(), shifts, strict=True)
        ]
        moves = [f"moved by {name}" for name in self.shifts]
        found = table(rows, ("parameter", "value", "standard deviation", "95 % interval", *moves), "Fit")
        data = [
            (each.label, str(int(np.isfinite(each.measured).sum())), f"{np.nanmean(each.noise):.3g}")
            for each in self.predictions
        ]
        rest = table(data, ("data", "values", "noise"), f"{self.freedom} more data than unknowns, {self.runs} runs")
        pairs = zip(self.labels, self.correlation, strict=True)
        related = [(label, *(f"{each:.2f}" for each in row)) for label, row in pairs]
        return found, table(related, ("correlation", *self.labels)), rest

    def _formatted(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield label, value, standard deviation and confidence interval of each fitted scalar as texts."""
        ends = np.concatenate([np.reshape(each, (-1, 2)) for each in self.intervals().values()])
        columns = zip(self.labels, self._flat, self._deviations, ends, strict=True)
        for label, value, deviation, (low, high) in columns:
            yield label, f"{value:.6g}", f"{deviation:.2g}", f"{low:.6g} to {high:.6g}"

    def __str__(self) -> str:
        """Return the fit as text: values with standard deviations and intervals, shifts by other discretizations,
        and warnings."""
        width = max(map(len, self.labels))
        lines = [
            f"{label:{width}s}  {value} +- {deviation} (95 %: {ends})"
            for label, value, deviation, ends in self._formatted()
        ]
        for name, moved in self.shifts.items():
            lines.append(
                f"{name} moves " + ", ".join(f"{a} by {b:+.2g}" for a, b in zip(self.labels, moved, strict=True))
            )
        return "\n".join([*lines, *(f"- {each}" for each in self.warnings)])

    def __repr__(self) -> str:
        return f"Fit({', '.join(self.values)}; {len(self.warnings)} warnings)"


def identify(
    build: Callable[[Any], Any],
    parameters: Mapping[str, ArrayLike],
    recordings: Sequence[Data] | Data,
    *,
    sensors: Callable[[Any], Mapping[str, Sensor]] | None = None,
    step: float | None = None,
    linear: Callable[[Any], Any] | None = None,
    initial: Any = "undeformed",
    separate: Sequence[str] = (),
    bias: Mapping[str, float] | None = None,
    gain: Sequence[str] = (),
    delay: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    priors: Mapping[str, tuple[float, float]] | None = None,
    scales: Mapping[str, float] | None = None,
    progress: bool | None = None,
) -> Fit:
    """Identify ``parameters`` of a model from measured data (``recordings``) by nonlinear least squares, and
    return them with their uncertainty. The function ``build`` is called with all parameters as one dictionary and
    returns a model. From this model, ``sensors`` returns the sensors for measured time series, and ``linear`` the
    linear model for measured modes and responses.

    Least squares of residuals over the noise, by Gauss-Newton steps in a trust region on exact derivatives
    (``motion.sensitivity``, ``ph.mode_derivatives``, ``ph.response_derivatives``); of noise that is not told, the
    most likely one is found with the parameters.

    Args:
        build: parameters by name, with the inputs of a recording -> model; as of ``ph.gradient``.
        parameters: first values by name, numbers or arrays.
        recordings: one or several: ``ph.Recording`` over time, ``ph.RecordedModes``, ``ph.RecordedResponse``.
        sensors: model -> sensors by the names of the outputs; with recordings over time.
        step: of the simulation [s]; with recordings over time. Readings between steps are those of a spline.
        linear: model -> linear model; with modes and responses.
        initial: as of ``ph.gradient``.
        separate: names of parameters that have a value of their own in each recording, such as initial angles.
        bias: outputs whose sensors add an unknown constant, with its size.
        gain: outputs whose sensors multiply by an unknown factor.
        delay: outputs whose sensors are late by an unknown time, with its size [s].
        bounds: least and greatest values by name.
        priors: mean and standard deviation by name, of what is known from elsewhere.
        scales: sizes by name of parameters whose first value does not tell it, such as zero.
        progress: as of ``Model.simulate``.

    Raises:
        ParameterError: names that are not there, data that the sensors do not fit, less data than unknowns.
        ModelError: parts that cannot be differentiated, see ``ph.gradient``.
        ConvergenceError: the first values make a model whose steps do not converge.

    Example:
        >>> def build(p):
        ...     model = ph.Model(gravity=(0, 0, -p["g"]))
        ...     stone = model.add(ph.PointMass(1.0), "stone")
        ...     return model
        >>> time = np.linspace(0.0, 1.0, 11)
        >>> fallen = -9.81 * time**2 / 2 + 1e-3 * np.cos(40.0 * time)
        >>> height = lambda model: {"z": ph.Displacement(model["stone"].origin, (0, 0, 1))}
        >>> fit = ph.identify(build, {"g": 5.0}, ph.Recording(time, {"z": fallen}), sensors=height, step=0.1)
        >>> round(fit.values["g"], 2)
        9.81
    """
    is_bar_shown(progress)  # or refused before anything is computed
    data = tuple(_data(recordings))
    given = mapping("parameters", parameters)
    if not given or any(isinstance(value, Signal) for value in given.values()):
        raise ParameterError(f"parameters must be numbers and arrays by name, one at least, got {parameters!r}")
    biases, delays = mapping("bias", bias), mapping("delay", delay)
    sought = {("bias", name): positive(f"size of the bias of {name}", size) for name, size in biases.items()}
    sought |= {("gain", name): 1.0 for name in texts("gain", gain)}
    sought |= {("delay", name): positive(f"size of the delay of {name}", size) for name, size in delays.items()}
    unknowns = _Unknowns(given, texts("separate", separate), sought, len(data), mapping("scales", scales))
    _check_data(data, unknowns, sensors, step, linear)
    check_build(build)
    experiments = _Experiments(
        build, data, unknowns, sensors, linear, None if step is None else positive("step", step), initial
    )
    return _Search(experiments, _limits(unknowns.all, bounds), _priors(unknowns.all, priors)).fit(progress)


def _data(data: Any) -> Sequence[Data]:
    found = [data] if isinstance(data, Data) else data
    if not isinstance(found, list | tuple) or not found or not all(isinstance(each, Data) for each in found):
        raise ParameterError(
            f"recordings must be ph.Recording, ph.RecordedModes or ph.RecordedResponse, or several, got {data!r}"
        )
    return found


def _check_data(data: Sequence[Data], unknowns: _Unknowns, sensors: object, step: object, linear: object) -> None:
    over_time = [each for each in data if isinstance(each, Recording)]
    if over_time and (sensors is None or step is None):
        raise ParameterError("recordings over time need sensors= and step=")
    if len(over_time) < len(data) and linear is None:
        raise ParameterError("modes and responses need linear=, such as lambda model: model.linearize()")
    if sensors is not None:
        check_callable("sensors", sensors, "model")
    if linear is not None:
        check_callable("linear", linear, "model")
    if unknown := set(unknowns.separate) - set(unknowns.parameters):
        raise ParameterError(f"separate names {', '.join(sorted(unknown))}, which is none of the parameters")
    measured = {name for each in over_time for name in each.outputs}
    if unknown := {name for _, name in unknowns.sensors} - measured:
        raise ParameterError(
            f"bias, gain or delay of {', '.join(sorted(unknown))}, which is not measured in any recording"
        )
    for (kind, name), size in unknowns.sensors.items():
        longest = max(float(each.time[-1]) for each in over_time if name in each.outputs)
        if kind == "delay" and size >= longest:
            raise ParameterError(
                f"the size of the delay of {name}, {size:g} s, is not within its {longest:g} s of data"
            )


def _limits(sought: Parameters, bounds: object) -> tuple[Array, Array]:
    low, high = np.full((2, len(sought)), np.inf) * [[-1.0], [1.0]]
    for name, ends in sought.limits(bounds).items():
        low[sought.slices[name]], high[sought.slices[name]] = ends
    return low, high


def _priors(sought: Parameters, priors: object) -> list[tuple[slice, float, float]]:
    found = []
    for name, prior in mapping("priors", priors).items():
        if name not in sought.slices:
            raise ParameterError(f"priors name {name!r}; there are {', '.join(sought.slices)}")
        if not isinstance(prior, tuple | list) or len(prior) != 2:
            raise ParameterError(f"priors of {name} must be (mean, standard deviation), got {prior!r}")
        mean, deviation = finite(f"mean of {name}", prior[0]), positive(f"deviation of {name}", prior[1])
        found.append((sought.slices[name], mean, deviation))
    return found


ROUNDS = 20  # of noise and parameters in turn
SETTLED = 1e-3  # relative change of noise
EXACT = 1e-9
CLOSE = 1e-2  # standard deviations: so short a step of Gauss and Newton is the last one, without a run after it
STRAIGHT = 1e-2  # of the size of an unknown: what such a step may be at most
LEAST_NOISE = 1e-12  # of the values: the least that is told apart from round-off


CHANGES: Mapping[str, Callable[[Any], Any] | None] = {
    "half the step": None,
    "half the elements": with_half_the_elements,
    "another frame": in_another_frame,
}
"""Discretizations that a fit is compared with, and the function that changes bodies."""


class _CloseEnoughError(Exception):
    """Signal that a search may end, since the step that is left is short enough."""

    def __init__(self, x: Array, step: Array) -> None:
        super().__init__()
        self.x, self.step = x, step


class _Search:
    """Nonlinear least squares of one problem, which simulates each set of unknowns once."""

    def __init__(
        self, experiments: _Experiments, limits: tuple[Array, Array], priors: list[tuple[slice, float, float]]
    ) -> None:
        self._experiments, self._limits, self._priors = experiments, limits, priors
        self._unknowns = experiments.unknowns.all
        self._known: tuple[Array, list[Prediction]] | None = None
        self._noise: dict[str, float] = {}
        self._runs = 0

    def fit(self, progress: bool | None) -> Fit:
        """Fit the unknowns of an identification by nonlinear least squares and return the result with uncertainty
        and warnings. Unknown noise starts as the standard deviation of the data and is estimated from the
        residuals between repeated searches, until it no longer changes or the rounds are used up. ParameterError
        is raised unless more values are measured than there are unknowns. ``progress`` shows a bar."""
        sizes = self._unknowns.sizes
        x = self._unknowns.values / sizes
        first = self._predicted(x * sizes)
        self._experiments.warn_of_units(x * sizes, first)
        count = sum(int(np.isfinite(each.measured).sum()) for each in first) + len(self._priors)
        if count <= len(x):
            raise ParameterError(f"{count} numbers were measured, too few for {len(x)} unknowns")
        groups = self._groups(first)
        for name, parts in groups.items():
            values = np.concatenate([each.measured[np.isfinite(each.measured)] for each in parts])
            self._noise[name] = float(np.std(values)) or 1.0
        limits = self._limits[0] / sizes, self._limits[1] / sizes
        with progress_bar(progress, "fitting") as report:
            for turn in range(ROUNDS if groups else 1):
                report(turn, ROUNDS)
                x, step = self._search(x, limits)
                before = dict(self._noise)
                self._noise = self._likely_noise(x * sizes, count)
                if all(abs(self._noise[name] / before[name] - 1) < SETTLED for name in before):
                    break
        return self._judged(self._after_short_step(step * sizes) if step.any() else x * sizes, count)

    def _search(self, x: Array, limits: tuple[Array, Array]) -> tuple[Array, Array]:
        """Minimize the sum of squared residuals from the scaled unknowns x on, by
        ``scipy.optimize.least_squares`` within ``limits``. Return the final unknowns and a last Gauss-Newton
        update that was not applied. The search ends early where this update is tiny and inside the limits;
        otherwise the update returned is zero."""
        sizes = self._unknowns.sizes

        def slopes(x: Array) -> Array:
            residuals, found = self._residuals(x * sizes)
            found = found * sizes
            if np.isfinite(found).all():
                step: Array = np.asarray(np.linalg.lstsq(found, -residuals, rcond=None)[0], dtype=np.float64)
                is_inside = ((limits[0] <= x + step) & (x + step <= limits[1])).all()
                if is_inside and np.abs(step).max() < STRAIGHT and np.linalg.norm(found @ step) < CLOSE:
                    raise _CloseEnoughError(x.copy(), step)
            return found

        try:
            found = least_squares(
                lambda x: self._residuals(x * sizes)[0],
                x,
                slopes,
                bounds=limits,
                xtol=EXACT,
                ftol=EXACT,
                gtol=EXACT,
            )
        except _CloseEnoughError as close:
            return close.x, close.step
        return found.x, np.zeros(len(x))

    def _after_short_step(self, step: Array) -> Array:
        """Add the last Gauss-Newton update ``step`` to the latest simulated unknowns and return the sum, shape
        (unknowns,), without another simulation. Cached predictions of this search are extrapolated linearly by
        their derivatives."""
        assert self._known is not None, "simulated"
        values, predictions = self._known
        moved = [replace(each, model=each.model + each.slopes @ step) for each in predictions]
        self._known = values + step, moved
        return self._known[0]

    def _groups(self, predictions: list[Prediction]) -> dict[str, list[Prediction]]:
        """Return the predictions of measured data whose noise is unknown (NaN), as lists by the name of the
        output."""
        found: dict[str, list[Prediction]] = {}
        for each in predictions:
            if np.isnan(each.noise).any():
                found.setdefault(each.group, []).append(each)
        return found

    def _likely_noise(self, values: Array, count: int) -> dict[str, float]:
        """Return the maximum-likelihood standard deviation of each output whose noise is unknown, by name,
        corrected for the fitted unknowns. It is sqrt(mean r^2 / (1 - n / count)) for residuals r (measured minus
        predicted), n unknowns and ``count`` measured values. It is at least a tiny fraction of the largest
        measured value. ``values`` are the unknowns."""
        share, found = 1.0 - len(values) / count, dict[str, float]()
        for name, parts in self._groups(self._predicted(values)).items():
            left = np.concatenate([(each.measured - each.model)[np.isfinite(each.measured)] for each in parts])
            scale = max(float(np.nanmax(np.abs(each.measured))) for each in parts)
            found[name] = max(float(np.sqrt(np.mean(left**2) / share)), LEAST_NOISE * scale, 1e-300)
        return found

    def _predicted(self, values: Array) -> list[Prediction]:
        if self._known is None or not np.array_equal(self._known[0], values):
            self._runs += 1
            self._known = values.copy(), self._experiments.predictions(values)
        return self._known[1]

    def _residuals(self, values: Array) -> tuple[Array, Array]:
        """Return the residuals of measured data and priors, shape (k,), and their derivatives with respect to the
        unknowns, shape (k, unknowns), at ``values``. A data residual is (predicted - measured) / noise; missing
        measurements are left out. A prior's is (value - mean) / standard deviation. Both arrays are NaN if the
        simulation fails, except at the first call, which raises the error."""
        try:
            predictions = self._predicted(values)
        except (ConvergenceError, ParameterError):
            if self._known is None:
                raise
            size = sum(int(np.isfinite(each.measured).sum()) for each in self._known[1])
            size += sum(index.stop - index.start for index, _, _ in self._priors)
            return np.full(size, np.nan), np.full((size, len(values)), np.nan)
        left, slopes = [], []
        for each in predictions:
            is_there = np.isfinite(each.measured)
            noise = self._noise_of(each)[is_there]
            left.append((each.model - each.measured)[is_there] / noise)
            slopes.append(each.slopes[is_there] / noise[:, None])
        for index, mean, deviation in self._priors:
            left.append((values[index] - mean) / deviation)
            slopes.append(np.eye(len(values))[index] / deviation)
        return np.concatenate(left), np.concatenate(slopes)

    def _noise_of(self, prediction: Prediction) -> Array:
        return np.where(np.isnan(prediction.noise), self._noise.get(prediction.group, np.nan), prediction.noise)

    def _judged(self, values: Array, count: int) -> Fit:
        residuals, slopes = self._residuals(values)
        sizes = np.maximum(np.abs(values), self._unknowns.sizes)
        _, seen, ways = np.linalg.svd(slopes * sizes, full_matrices=False)
        least = np.finfo(float).eps * max(slopes.shape) * max(float(seen[0]), 1.0)
        spread = 1.0 / np.maximum(seen, least)
        covariance = (ways.T * spread**2) @ ways * np.outer(sizes, sizes)
        predictions = tuple(replace(each, noise=self._noise_of(each)) for each in self._predicted(values))
        texts = [
            *_unseen(self._unknowns.labels, spread, ways),
            *_correlated(self._unknowns.labels, covariance),
            *self._at_limits(values),
            *_unexplained(predictions, residuals, 0 if self._noise else count - len(values)),
        ]
        shifts = self._shifts(values, covariance @ slopes.T, residuals)
        texts += _moved_beyond(self._unknowns.labels, np.sqrt(np.diag(covariance)), shifts)
        return Fit(
            dict(self._unknowns.structured(values.copy())),
            tuple(self._unknowns.labels),
            covariance,
            predictions,
            dict(self._noise),
            count - len(values),
            self._runs,
            tuple(texts),
            shifts,
            values,
            self._unknowns.slices,
        )

    @property
    def _reads_in_frames(self) -> bool:
        """Return whether measured quantities may depend on the choice of the bodies' floating frames. It is True
        for linear models, without ``sensors``, and if any sensor of a recorded experiment is an
        ``ElasticDisplacement``. Models are built at the current unknowns to list their sensors."""
        experiments = self._experiments
        if experiments.linear is not None or experiments.sensors is None:
            return True
        return any(
            isinstance(sensor, ElasticDisplacement)
            for number, data in enumerate(experiments.data)
            if isinstance(data, Recording)
            for sensor in experiments.sensors(experiments.model(self._unknowns.values, number, data)).values()
        )

    def _shifts(self, values: Array, gain: Array, residuals: Array) -> dict[str, Array]:
        """Return estimates of how far the fitted ``values`` shift with other discretizations of the model, as
        arrays by the name of the change. Changes are half as many elements, half the time step, and another
        reference frame of beams. The residuals are computed anew at the same values; -``gain`` times their change
        is the (linear) estimate. Changes that do not apply or fail, or with residuals of another shape, are left
        out.

        Args:
            values: result of the fit.
            gain: changes of values by those of residuals, with opposite sign, shape (values, residuals).
            residuals: at the values.
        """
        found, known, experiments = {}, self._known, self._experiments
        for name, change in CHANGES.items():
            if (change is None and experiments.step is None) or (
                change is in_another_frame and self._reads_in_frames
            ):
                continue
            is_changed = change is None

            def changed(body: Any, change: Callable[[Any], Any] | None = change) -> Any:
                nonlocal is_changed
                other = body if change is None else change(body)
                is_changed = is_changed or other is not body
                return other

            step = experiments.step if change else experiments.step and experiments.step / 2
            self._experiments, self._known = replace(experiments, step=step), None
            try:
                with changed_bodies(changed), warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of models that nobody made
                    other, _ = self._residuals(values)
                if is_changed and other.shape == residuals.shape and np.isfinite(other).all():
                    found[name] = -gain @ (other - residuals)
            except PhlexibleError:  # parts that are placed by the number of an element
                continue
            finally:
                self._experiments, self._known = experiments, known
        return found

    def _at_limits(self, values: Array) -> Iterator[str]:
        for label, value, low, high in zip(self._unknowns.labels, values, *self._limits, strict=True):
            for end in (low, high):
                if np.isfinite(end) and abs(value - end) <= 1e-6 * max(abs(end), abs(value)):
                    yield f"{label} ends at its bound {end:g}: its interval does not count that"


def _unseen(labels: Sequence[str], spread: Array, ways: Array) -> Iterator[str]:
    """Yield a warning for each combination of unknowns that the data do not determine. Combinations are the rows
    of ``ways`` (singular vectors); those whose relative standard deviation in ``spread`` is at least the limit
    UNSEEN count. ``labels`` are the names of the unknowns."""
    for deviation, way in zip(spread, ways, strict=True):
        if deviation < UNSEEN:
            continue
        part = np.flatnonzero(np.abs(way) > WEIGHT).tolist()
        way = way * np.sign(way[part[0]])
        if len(part) == 1:
            yield f"the data does not see {labels[part[0]]}: leave it out, give a prior, or measure more"
            continue
        terms = " ".join(f"{way[k]:+.2f} {labels[k]}" for k in part)
        yield (
            f"the data does not see the combination {terms} (of relative changes): only others of"
            f" {', '.join(labels[k] for k in part)} are found; fix one of them, give a prior, or measure more"
        )


def _correlated(labels: Sequence[str], covariance: Array) -> Iterator[str]:
    deviations = np.sqrt(np.diag(covariance))
    related = covariance / np.outer(deviations, deviations)
    for a, b in np.argwhere(np.triu(np.abs(related), 1) > ALIKE).tolist():
        share = f"{related[a, b]:.4f}"
        yield f"{labels[a]} and {labels[b]} are hard to tell apart: their errors have the correlation {share}"


def _moved_beyond(labels: Sequence[str], deviations: Array, shifts: Mapping[str, Array]) -> Iterator[str]:
    """Yield a warning text for each discretization change that moves a fitted value by more than its standard
    deviation. ``shifts`` maps the name of a change, such as a smaller time step, to the shifts of all fitted
    values. ``labels`` are the names of the values, ``deviations`` their standard deviations, in the same order."""
    for name, moved in shifts.items():
        parts = [
            f"{label} by {shift:.2g}, {abs(shift) / deviation:.2g} standard deviations"
            for label, shift, deviation in zip(labels, moved, deviations, strict=True)
            if abs(shift) > deviation
        ]
        if parts:
            yield f"{name} moves {'; '.join(parts)}: the model's errors exceed the noise, of which intervals are"


def _unexplained(predictions: Sequence[Prediction], residuals: Array, freedom: int) -> Iterator[str]:
    """Yield warning texts if the residuals of a fit are larger than the given noise or correlated in time. A
    chi-squared test of the sum of squared ``residuals`` gives the first, with ``freedom`` (number of values
    minus unknowns). A Ljung-Box test of each time series in ``predictions`` gives the second; short series are
    skipped."""
    if freedom and (square := float(residuals @ residuals)) > stats.chi2(freedom).isf(SURPRISING):
        yield (
            f"the model misses the data by {np.sqrt(square / freedom):.3g} times the noise that was given: it lacks"
            " something, or the noise is larger"
        )
    for each in predictions:
        left = ((each.measured - each.model) / each.noise).T
        for k, row in enumerate(left):
            found = row[np.isfinite(row)]
            lags = min(LAGS, len(found) // 5)
            if not each.group or lags < 1:
                continue
            found = found - found.mean()
            n, power = len(found), float(found @ found)
            if not power:
                continue
            shares = [float(found[m:] @ found[:-m]) ** 2 / power**2 / (n - m) for m in range(1, lags + 1)]
            if n * (n + 2) * sum(shares) > stats.chi2(lags).isf(SURPRISING):  # Ljung and Box
                number = f", number {k}" if len(left) > 1 else ""
                yield (
                    f"what is left of {each.label}{number} is not white: neighbouring residuals are alike, so that"
                    " the model lacks something, and intervals are too narrow"
                )
