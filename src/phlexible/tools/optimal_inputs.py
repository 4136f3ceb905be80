"""Inputs that minimize a cost of a motion, by direct shooting on exact gradients, in one or in several shots.

What is sought are samples of inputs, and the duration if it is free. Each trial is a run; the derivatives of the
cost and of all final readings follow from one run backwards (docs/theory.md, 9), and sequential quadratic
programming finds the next trial (D. Kraft, *A software package for sequential quadratic programming*, report
DFVLR-FB 88-28, 1988, as in SciPy); where time alone is the cost, linear programs do.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog, lsq_linear, minimize

from phlexible.algebra.arrays import (
    Array,
    called,
    check_callable,
    flag,
    mapping,
    positive,
    reals,
    whole,
    whole_runs,
    whole_steps,
)
from phlexible.derivatives.costs import Cost, NumberTerm
from phlexible.derivatives.gradient import checked_cost
from phlexible.derivatives.parameters import Build, Parameters, Start, check_build
from phlexible.derivatives.readings import PROJECTED
from phlexible.derivatives.shots import InputRun, InputRuns, Shots, stretched
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.time_functions import Between, Signal
from phlexible.errors import ConvergenceError, ParameterError
from phlexible.pictures.style import COLORS, INK, QUIET, finish, house_style, new_figure, picture_path
from phlexible.results.progress import is_bar_shown, progress_bar
from phlexible.state.initial_state import InitialKind
from phlexible.state.system import system_of
from phlexible.tools.inverse_dynamics import InputsOfMotion

if TYPE_CHECKING:
    from matplotlib.figure import Figure


BOX = 0.25
"""Half of the initial width of the trust region, relative to the size of unknowns."""
SMALL = 1e-9
"""Half width of the trust region below which no program helps."""
TAKEN, GOOD, POOR = 0.05, 0.75, 0.25
"""Ratios of actual to predicted decrease: above which a point is accepted, the box grows, and below which it
shrinks.
"""
CORRECTED = 2
"""Largest number of second-order corrections of the conditions at a new point (against the effect of Maratos)."""
PRICES = 4
"""Number of times that the penalty of conditions may be multiplied by ten."""
MET = 1e-8
"""Residual below which conditions hold, relative to the size of unknowns."""


@dataclass(frozen=True, eq=False)
class CornerSearch:
    """Result of a sequence of linear programs, in the terms of ``scipy.optimize.minimize``."""

    x: Array
    success: bool
    message: str


def least_in_corners(
    values: Callable[[Array], tuple[float, Array]],
    slopes: Callable[[Array], tuple[Array, Array]],
    x: Array,
    low: Array,
    high: Array,
    most: int,
    accuracy: float,
    note: Callable[[float], None],
) -> CornerSearch:
    """Minimize a cost under equality conditions and bounds by a sequence of linear programs in a trust region.
    Return the last x with its success and a message. The function ``values`` is called with unknowns (n,) and
    returns cost and conditions, which must vanish; ``slopes`` returns their derivatives. The search begins at x,
    between ``low`` and ``high``; at most ``most`` programs are solved to the relative ``accuracy``; ``note`` is
    called with each cost.

    Args:
        values: cost and conditions, of unknowns of size 1.
        slopes: of both, shapes (n,) and (conditions, n).
        x: the first unknowns, within bounds.
        low: bounds, shape (n,); infinite where there is none.
        high: as low.
        most: programs.
        accuracy: relative, of the least cost.
        note: called with the cost after each program.
    """
    cost, missed = values(x)
    of_cost, of_missed = slopes(x)
    count, size = len(missed), float(np.abs(of_cost).max()) or 1.0
    price, box, raised = 10.0 * size, BOX, 0

    def gained(cost: float, residuals: Array) -> float:
        return merit - cost - price * float(np.abs(residuals).sum())

    for _ in range(most):
        found = linprog(
            np.concatenate([of_cost, np.full(2 * count, price)]),
            A_eq=np.hstack([of_missed, np.eye(count), -np.eye(count)]) if count else None,
            b_eq=-missed if count else None,
            bounds=np.vstack(
                [
                    np.column_stack([np.maximum(low - x, -box), np.minimum(high - x, box)]),
                    np.tile([0.0, np.inf], (2 * count, 1)),
                ]
            ),
            method="highs",
        )
        if not found.success:
            return CornerSearch(x, False, found.message)
        change, less, more = np.split(found.x, [len(x), len(x) + count])
        merit = cost + price * float(np.abs(missed).sum())
        foreseen = merit - cost - float(found.fun)
        if foreseen <= accuracy * max(abs(cost), size) or box < SMALL:
            if np.abs(missed).max(initial=0.0) <= MET or raised == PRICES:
                note(cost)
                return CornerSearch(x, box >= SMALL, "no program makes it less")
            price, box, raised = 10 * price, BOX, raised + 1
            continue
        other = np.clip(x + change, low, high)
        reached, left = values(other)
        share = gained(reached, left) / foreseen
        for _ in range(CORRECTED):
            if share > GOOD:
                break
            is_inside = (other > low + SMALL) & (other < high - SMALL)
            nearer = other.copy()
            nearer[is_inside] -= np.linalg.lstsq(of_missed[:, is_inside], left - (more - less), rcond=None)[0]
            nearer = np.clip(nearer, low, high)
            cost_there, left_there = values(nearer)
            share_there = gained(cost_there, left_there) / foreseen
            if share_there <= share:
                break
            other, reached, left, share = nearer, cost_there, left_there, share_there
        if share > TAKEN:
            x, cost, missed = other, reached, left
            of_cost, of_missed = slopes(x)
        box = 2 * box if share > GOOD else box / 3 if share < POOR else box
        note(cost)
    return CornerSearch(x, False, "the most programs were taken")


DURATION = "duration"
"""Name of the duration among bounds and weights."""

FREE = (-np.inf, np.inf)
DEPENDENT = 1e-7
"""Relative singular value below which conditions are linearly dependent."""
NEAR = 1e-6
"""Largest change of unknowns, relative to their size, that final conditions may still need."""
TINY = 1e-9
"""Tolerance on bounds, relative to the size of unknowns."""
REACHED = 1e-9
"""Relative derivative below which inputs do not change a final reading."""
FAR = 1e-3
"""Largest error of final readings, relative to the first error or the target."""
STEEP = 1e-3
"""Largest slope that is left, relative to the start, for a stopped search to count as a minimum."""
FAILED = 1e30
"""Cost of a run whose steps do not converge."""
TURNS = 4
"""Number of searches, with new conditions each."""
ROUNDS = 8
"""Number of corrections that bring final readings onto their targets at last."""


@dataclass(frozen=True, eq=False, repr=False)
class OptimalInputs(InputsOfMotion):
    """Inputs that minimize a cost; made by ``ph.optimal_inputs``. ``best["push"]`` is a function of time.

    Attributes:
        inputs: by name, functions of time.
        motion: the run with them.
        cost: what is left of it.
        deviations: final sensor values less their targets, by name, in their units; NaN where there is none.
        history: cost after each iteration, shape (iterations,).
        steepness: greatest slope of the cost that is left along ways that keep bounds and final sensor values, of
            the greatest slope at the start.
        runs: how many were computed.
    """

    cost: float
    deviations: Mapping[str, Any]
    history: Array
    steepness: float
    runs: int
    _final: Mapping[str, tuple[Sensor, Array]] = field(repr=False)
    _bounds: Mapping[str, tuple[float, float]] = field(repr=False)

    @property
    def duration(self) -> float:
        """Return the duration of the run with the optimal inputs [s]."""
        return float(self.motion.time[-1] - self.motion.time[0])

    def plot(self, path: str | PathLike[str] | None = None) -> "Figure":
        """Plot the optimal inputs with their bounds, and the final sensor values with their targets, over time;
        return the figure, which is written to ``path`` if given.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        path, time = picture_path(path), self.motion.time
        with house_style():
            count = len(self.inputs) + len(self._final)
            figure = new_figure(5.6, 1.0 + 1.3 * count)
            rows = figure.subplots(count, 1, squeeze=False, sharex=True)[:, 0]
            for row, (name, signal) in zip(rows, self.inputs.items(), strict=False):
                held = signal.between is Between.CONSTANT
                at = np.append(signal.times, max(time[-1], signal.times[-1])) if held else signal.times
                values = np.append(signal.values, signal.values[-1]) if held else signal.values
                row.plot(at, values, color=COLORS[0], drawstyle="steps-post" if held else "default")
                for bound in self._bounds.get(name, ()):
                    if np.isfinite(bound):
                        row.axhline(bound, color=QUIET, lw=0.8, ls="--")
                row.set_ylabel(name)
            for row, (name, (sensor, target)) in zip(rows[len(self.inputs) :], self._final.items(), strict=True):
                values = self.motion[sensor].reshape(len(time), -1)
                for k, (column, goal) in enumerate(zip(values.T, target, strict=True)):
                    if np.isfinite(goal):
                        row.plot(time, column, color=COLORS[1 + k % (len(COLORS) - 1)])
                        row.plot(time[-1:], [goal], "o", ms=4.0, color=INK, clip_on=False)
                row.set_ylabel(name)
            rows[-1].set_xlabel("time [s]")
            return finish(figure, path)


def optimal_inputs(
    build: Build,
    cost: Callable[[Any], Cost] | None,
    inputs: Mapping[str, Signal],
    duration: float,
    step: float,
    *,
    sensors: Callable[[Any], Mapping[str, Sensor]] | None = None,
    final: Mapping[str, ArrayLike] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    weights: Mapping[str, float] | None = None,
    at_rest: bool = False,
    initial: Start = InitialKind.UNDEFORMED,
    scales: Mapping[str, float] | None = None,
    shots: int = 1,
    iterations: int = 300,
    accuracy: float = 1e-9,
    progress: bool | None = None,
) -> OptimalInputs:
    """Compute ``inputs`` of a model over time that minimize a ``cost`` of its motion, and return them with the
    motion. The method is single or multiple shooting with exact gradients. ``build`` is called with all inputs as
    one dictionary and returns a model; ``cost`` is called with the model. ``final`` are target values of
    ``sensors`` at the end, ``bounds`` and ``weights`` limits and costs of inputs. ConvergenceError if no local
    minimum is found.

    Finds a minimum near the first values; of several it is not said to be the least one. Where a motion goes its
    own way from small changes at its start (a pole that stands upright), take several ``shots``, or put a
    controller that holds it into ``build`` and seek what is added to it.

    Args:
        build: inputs by name -> model, as of ``ph.gradient``; an input is a function of time, used as a force, a
            torque, a drive or the target of a controller: ``model.apply(rail.force(p["push"]))``.
        cost: model -> ``ph.Cost``; None: the weights alone.
        inputs: by name a ``ph.Signal`` each, whose values are sought, from these on.
        duration: of the run, a multiple of the step; with bounds the first value [s].
        step: [s]; where the duration is free, the number of steps stays.
        sensors: model -> sensors by the names of ``final``.
        final: what sensors shall read at the end of the run, by name, a number or an array; NaN: anything.
        bounds: least and greatest value of inputs by name; of ``"duration"``: it is free, and samples move with it.
        weights: of the integrals of the squares of inputs over time, by name, which are added to the cost; of
            ``"duration"``: the cost of a second.
        at_rest: everything stands at the end, and stays so while inputs keep their last values.
        initial: as of ``ph.gradient``.
        scales: sizes of inputs by name, where neither bounds nor first values tell them.
        shots: parts of the run, of nearly as many steps each. With several of them the states in which they begin
            are sought, too, and that each part ends where the next one begins is a condition (multiple shooting:
            H. G. Bock, K. J. Plitt, *A multiple shooting algorithm for direct solution of optimal control
            problems*, IFAC World Congress, 1984). For inputs that are forces or torques, and runs of nothing but
            steps.
        iterations: the most.
        accuracy: relative, of the least cost.
        progress: as of ``Model.simulate``.

    Raises:
        ParameterError: arguments out of range, names that are not there, more targets than samples, a final sensor
            value that no input changes.
        ModelError: parts that cannot be differentiated, see ``ph.gradient``.
        ConvergenceError: no minimum was found; with the motion of the last inputs.

    Example:
        >>> def build(p):
        ...     model = ph.Model(dimension=2)
        ...     cart = model.add(ph.RigidBody(2.0, 0.1), "cart")
        ...     rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin, name="rail"))
        ...     push = model.apply(rail.force(p["push"]))
        ...     return model
        >>> def sensors(model):
        ...     rail = model.joint("rail")
        ...     return {"place": ph.JointPosition(rail), "speed": ph.JointRate(rail)}
        >>> push = ph.Signal(np.linspace(0.0, 1.0, 11), np.zeros(11))
        >>> there = {"place": 1.0, "speed": 0.0}
        >>> best = ph.optimal_inputs(
        ...     build, None, {"push": push}, 1.0, 0.1, sensors=sensors, final=there, weights={"push": 1.0}
        ... )
        >>> round(best["push"](0.0), 1)  # it tends to 6 m d / T^2 = 12 with more samples and shorter steps
        11.5
    """
    check_build(build, "inputs")
    if cost is not None:
        check_callable("cost", cost, "model")
    signals = mapping("inputs", inputs)
    for name, each in signals.items():
        if not isinstance(each, Signal) or name == DURATION:
            raise ParameterError(f"inputs must be ph.Signal by names other than 'duration', got {name!r}: {each!r}")
    if not signals:
        raise ParameterError("inputs must be ph.Signal by name, one at least, got none")
    last, h = positive("duration", duration), positive("step", step)
    steps = whole_steps("duration", duration, h)
    limits, known = _limits(bounds, signals, last), [*signals, DURATION]
    weighed = {name: positive(f"weights of {name}", each) for name, each in mapping("weights", weights).items()}
    sizes = {name: positive(f"scales of {name}", each) for name, each in mapping("scales", scales).items()}
    for argument, given in (("weights", weighed), ("scales", sizes)):
        if unknown := set(given) - set(known):
            raise ParameterError(f"{argument} name {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if cost is None and not weighed:
        raise ParameterError("nothing is minimized: give cost= or weights")
    targets = {
        name: np.atleast_1d(reals(f"final {name}", each)).ravel() for name, each in mapping("final", final).items()
    }
    for name, each in targets.items():
        if not np.isfinite(each).any() or np.isinf(each).any():
            raise ParameterError(f"final {name} must be finite numbers, or NaN where the end is free, got {each}")
    if targets and sensors is None:
        raise ParameterError("sensors= must give the sensors that final= names: lambda model: {'tip': ...}")
    if sensors is not None:
        check_callable("sensors", sensors, "model")
    rests = flag("at_rest", at_rest)
    if rests and steps < 2:
        raise ParameterError(f"at_rest needs two steps or more, got duration = {last:g} s and step = {h:g} s")
    parts = whole("shots", shots)
    if not 1 <= parts <= steps:
        raise ParameterError(f"shots must be 1 to {steps}, the number of steps, got {shots!r}")
    is_bar_shown(progress)  # or refused before anything is computed
    most, small = whole("iterations", iterations), positive("accuracy", accuracy)
    problem = _Shooting(
        build, cost, signals, steps, sensors, targets, rests, limits, weighed, initial, sizes, last, parts
    )
    return _Descent(problem, most, small).best(progress)


def _limits(bounds: object, signals: Mapping[str, Signal], duration: float) -> dict[str, tuple[float, float]]:
    found = Parameters({**signals, DURATION: duration}).limits(bounds)
    low, high = found.get(DURATION, (duration, duration))
    if not (low > 0 and np.isfinite(high)):
        raise ParameterError(f"bounds of the duration must be positive and finite, got {(low, high)!r}")
    return found


# The problem in numbers: samples and duration over their sizes, the cost, and what final readings miss.


class _Shooting:
    """Costs and conditions as functions of unknowns x of size 1."""

    def __init__(
        self,
        build: Build,
        cost: Callable[[Any], Cost] | None,
        signals: dict[str, Signal],
        steps: int,
        sensors: Callable[[Any], Mapping[str, Sensor]] | None,
        targets: dict[str, Array],
        rests: bool,
        limits: dict[str, tuple[float, float]],
        weights: dict[str, float],
        initial: Start,
        scales: dict[str, float],
        duration: float,
        shots: int,
    ) -> None:
        self.build, self.signals, self.steps, self.limits, self._weights = build, signals, steps, limits, weights
        self._cost, self._sensors, self.targets, self._duration = cost, sensors, targets, duration
        self.rests, self._at_rest, self._gaps = rests, 0, 0
        self.is_free = DURATION in limits
        self.is_time_alone = self.is_free and cost is None and set(weights) == {DURATION}
        self.names = [f"{name}[{k}]" if len(t) > 1 else name for name, t in targets.items() for k in range(len(t))]
        self.goals = np.concatenate([np.zeros(0), *targets.values()])
        size = {
            name: scales.get(name) or _size(each.values, limits.get(name, FREE)) for name, each in signals.items()
        }
        chosen = Parameters(signals, size)
        ends = [limits.get(name, FREE) for name, each in signals.items() for _ in each.values]
        if self.is_free:
            ends.append(limits[DURATION])
        last = [duration] if self.is_free else []
        self._slices, self.sizes = chosen.slices, np.append(chosen.sizes, last)
        self.low, self.high = np.array(ends).T / self.sizes
        self.start: Array = np.append(chosen.values, last) / self.sizes
        self._squares = {name: _squares(signals[name], duration) for name in weights if name in signals}
        self._initial = initial
        self.runs = InputRuns(build, self._costs, steps, initial, size)
        self._shots: Shots | None = None
        if shots > 1:
            self._shoot_from(self.run(self.start), shots)

    def _shoot_from(self, first: InputRun, shots: int) -> None:
        """Divide the run into ``shots`` time segments for multiple shooting, which begin at states of the run
        ``first``. Coordinates of these states, divided by their scales, become further unknowns of the
        optimization, without bounds. They are inserted into the stored vectors of start values, scales and bounds,
        after the input samples and before the duration (if that is free)."""
        self._shots = first.shots(shots)
        self._gaps = self._shots.count
        at = len(self.start) - self.is_free
        own, sizes = np.concatenate(self._shots.coordinates), self._shots.sizes(self._duration)
        self.sizes, self.start = np.insert(self.sizes, at, sizes), np.insert(self.start, at, own / sizes)
        free = np.full(len(own), np.inf)
        self.low, self.high = np.insert(self.low, at, -free), np.insert(self.high, at, free)

    def _costs(self, model: Any) -> list[Cost]:
        """Return all functions of a run whose gradients are needed, as a list of costs. First comes the user's
        cost, then each final sensor component with a target. If the end must be at rest, all velocities in the
        last two instants follow. Last is an empty cost for each of the gaps between the segments of multiple
        shooting."""
        first = Cost() if self._cost is None else checked_cost(self._cost(model))
        found = [first]
        for name, sensor in self.sensors_of(model).items():
            for k in np.flatnonzero(np.isfinite(self.targets[name])).tolist():
                found.append(Cost(((1.0, NumberTerm(sensor, k)),)))
        if self.rests:
            velocities, count = PROJECTED, int(system_of(model).layout.velocity[-1])
            terms = [NumberTerm(velocities, k, instant) for instant in (-1, -2) for k in range(count)]
            self._at_rest = len(terms)
            found += [Cost(((1.0, term),)) for term in terms]
        return found + [Cost()] * self._gaps

    def sensors_of(self, model: Any) -> dict[str, Sensor]:
        """Return the user's sensors whose final values have targets, by name, from one call of the user's function
        with the ``model``. Raise ``ParameterError`` unless it returns a sensor for each target, with as many
        components as the target. The dictionary is empty without targets or without the function."""
        if not self.targets or self._sensors is None:
            return {}
        found = called(self._sensors, "sensors", model, at="for the model that was built")
        if not isinstance(found, Mapping) or not all(isinstance(found.get(name), Sensor) for name in self.targets):
            raise ParameterError(
                f"sensors must return sensors by the names {', '.join(self.targets)}, got {found!r}"
            )
        for name, target in self.targets.items():
            if found[name].count != len(target):
                raise ParameterError(
                    f"final {name} must be {found[name].count} numbers as its sensor reads, got {len(target)}"
                )
        return {name: found[name] for name in self.targets}

    @property
    def wanted(self) -> Array:
        """Return the target values of all conditions: final sensor values, velocities at rest, and gaps between
        shots (zero)."""
        return np.concatenate([self.goals[np.isfinite(self.goals)], np.zeros(self._at_rest + self._gaps)])

    @property
    def velocities(self) -> slice:
        """Return the slice of those conditions that are final velocities, which must be zero."""
        return slice(len(self.wanted) - self._at_rest - self._gaps, len(self.wanted) - self._gaps)

    @property
    def labels(self) -> list[str]:
        """Return a label for each condition of an optimization, such as "final x", as a list for messages: final
        sensor components, rest at the end, and gaps between shots."""
        named = [name for name, goal in zip(self.names, self.goals, strict=True) if np.isfinite(goal)]
        own = [f"final {name}" for name in named] + ["rest at the end"] * self._at_rest
        return own + ["where a shot ends, and the next one begins,"] * self._gaps

    def duration(self, x: Array) -> float:
        """Return the duration of the run [s] for scaled unknowns x; it is an unknown itself or fixed."""
        return float(x[-1] * self.sizes[-1]) if self.is_free else self._duration

    def inputs(self, x: Array) -> dict[str, Signal]:
        """Return the input signals by name for scaled unknowns x, which are their sample values."""
        values, moved = x * self.sizes, stretched(self.signals, self.duration(x) / self._duration)
        return {name: moved[name].with_values(values[index]) for name, index in self._slices.items()}

    def run(self, x: Array) -> InputRun:
        """Simulate the model with the inputs, duration and initial states of shots that belong to scaled unknowns
        x, and return the run with its costs."""
        shots = self._shots
        return self.runs.run(self.inputs(x), self.duration(x), shots and shots.with_coordinates(self._starts(x)))

    @property
    def gaps(self) -> int:
        """Return the number of conditions that close gaps between shots (segments of the run); they are the last
        conditions."""
        return self._gaps

    @property
    def is_input(self) -> NDArray[np.bool_]:
        """Return a mask of the unknowns that are input samples or the duration, and not states at which shots
        begin."""
        end = len(self.start) - self.is_free
        found = np.ones(len(self.start), dtype=bool)
        found[end - self._gaps : end] = False
        return found

    def _starts(self, x: Array) -> Array:
        """Return the coordinates of the states at which shots (segments of the run) begin, unscaled, for scaled
        unknowns x."""
        return np.asarray((x * self.sizes)[~self.is_input])

    def values(self, x: Array, run: InputRun) -> tuple[float, Array]:
        """Return the cost of a ``run`` with the unknowns x, including the weighted inputs and duration, and the
        residuals of all conditions: values minus targets."""
        return float(run.values[0]) + self._effort(x)[0], run.values[1:] - self.wanted

    def slopes(self, x: Array, run: InputRun) -> tuple[Array, Array]:
        """Return the derivatives of the cost and of all conditions of a ``run`` with respect to the scaled
        unknowns x, shapes (unknowns,) and (conditions, unknowns). They include the duration if it is free, and the
        costs of inputs."""
        found = np.column_stack([run.slopes, run.slopes_of_starts])
        if self.is_free:
            found = np.column_stack([found, run.of_duration(self.duration(x))])
        found = found * self.sizes
        return found[0] + self._effort(x)[1], found[1:]

    def _effort(self, x: Array) -> tuple[float, Array]:
        """Return the weighted sum of time integrals of squared inputs and the duration, and its gradient with
        respect to the scaled unknowns x, shape (unknowns,). Integrals are quadratic forms of the input samples and
        scale with the duration. The derivative for the duration is zero if it is not free."""
        value, slopes, duration = 0.0, np.zeros(len(x)), self.duration(x)
        for name, weight in self._weights.items():
            if name == DURATION:
                value += weight * duration
                own = np.zeros(len(x))
                own[-1:] = weight * self.sizes[-1] if self.is_free else 0.0
                slopes += own
                continue
            index = self._slices[name]
            squares = self._squares[name]
            share, values = duration / self._duration, (x * self.sizes)[index]
            moved = squares @ values
            integral = float(values @ moved)
            value += weight * share * integral
            slopes[index] += 2 * weight * share * moved * self.sizes[index]
            if self.is_free:
                slopes[-1] += weight * integral * self.sizes[-1] / self._duration
        return value, slopes


def _size(values: Array, ends: tuple[float, float]) -> float:
    if np.isfinite(ends).all():
        return (ends[1] - ends[0]) / 2
    return float(np.abs(values).max()) or 1.0


def _squares(signal: Signal, duration: float) -> Array:
    """Return the symmetric matrix M (samples, samples) for which u . M u is the integral of the squared ``signal``
    with sample values u from 0 to ``duration`` [s]. It is exact. For signals constant between samples, values at
    middles are used; for linear ones, Gauss quadrature with two points in each interval."""
    inside = signal.times[(signal.times > 0) & (signal.times < duration)]
    ends = np.concatenate([[0.0], inside, [duration]])
    middles, lengths = (ends[1:] + ends[:-1]) / 2, np.diff(ends)
    unit = np.eye(len(signal.values))

    def at(times: Array) -> Array:
        """Return the values of all hat functions (the signal with one sample 1, others 0) at ``times``, shape
        (samples, times)."""
        return np.array([signal.with_values(one)(times) for one in unit])  # type: ignore[arg-type]  # arrays too

    if signal.between is Between.CONSTANT:
        return np.asarray((at(middles) * lengths) @ at(middles).T)
    offset = lengths / (2 * np.sqrt(3.0))  # two points of Gauss are exact for squares of linear functions
    both = [at(middles - offset), at(middles + offset)]
    return np.asarray(sum((each * lengths / 2) @ each.T for each in both))


# The search.


def _priced(price: float, ways: Array, pair: tuple[Any, Array]) -> tuple[Any, Array]:
    """Return ``price`` times the first entry of ``pair`` (the cost), and the matrix ``ways`` times the second
    entry (the conditions). The pair may instead have the derivatives of both."""
    return price * pair[0], ways @ pair[1]


class _Descent:
    """Sequential quadratic programming on a problem, which simulates each set of unknowns once."""

    def __init__(self, problem: _Shooting, iterations: int, accuracy: float) -> None:
        self._problem, self._most, self._accuracy = problem, iterations, accuracy
        self._known: tuple[Array, InputRun] | None = None
        self._sloped: tuple[Array, tuple[Array, Array]] | None = None
        self._history: list[float] = []

    def _run(self, x: Array) -> InputRun:
        if self._known is None or not np.array_equal(self._known[0], x):
            self._known = x.copy(), self._problem.run(x)
        return self._known[1]

    def _values(self, x: Array) -> tuple[float, Array]:
        return self._problem.values(x, self._run(x))

    def _tried(self, x: Array) -> tuple[float, Array]:
        """Return cost and condition residuals of trial unknowns x; all 1e30 if the simulation fails, so that
        the search rejects x."""
        try:
            return self._values(x)
        except ConvergenceError:
            return FAILED, np.full(len(self._problem.wanted), FAILED)

    def _slopes(self, x: Array) -> tuple[Array, Array]:
        if self._sloped is None or not np.array_equal(self._sloped[0], x):
            self._sloped = x.copy(), self._problem.slopes(x, self._run(x))
        return self._sloped[1]

    def best(self, progress: bool | None) -> OptimalInputs:
        """Compute a local minimum of the cost from the start values, and return the optimal inputs. The method is
        SLSQP or, if only the duration is minimized, sequential linear programming. If the end must be at rest, the
        search is repeated until all conditions are satisfied or iterations are used up. ``ConvergenceError`` is
        raised if it does not end at a minimum. ``progress`` shows a bar.

        Raises:
            ConvergenceError: there is none.
        """
        problem, x = self._problem, np.clip(self._problem.start, self._problem.low, self._problem.high)
        first = self._slopes(x)[0]
        price, ways = self._cost_factor(x, first), self._conditions(x)
        self._first_residuals = np.abs(self._values(x)[1])
        with progress_bar(progress, "optimizing") as report:
            for _ in range(TURNS):
                found = self._searched(x, price, ways, report)
                x = self._projected(np.clip(found.x, problem.low, problem.high), ways)
                is_there = self._scaled_residuals(x).max(initial=0.0) < NEAR
                if is_there or not problem.rests or len(self._history) >= self._most:
                    break
                ways = self._conditions(x)  # what stood at first is moved now
        largest = max(float(np.abs(each).max()) for each in (first, self._slopes(x)[0]))
        steepness = self._steepness(x, ways) / (largest or 1.0)
        self._check(x, found, steepness)
        return self._made(x, steepness)

    def _searched(self, x: Array, price: float, ways: Array, report: Callable[[int, int], None]) -> Any:
        """Minimize the scaled cost from the unknowns x on, within bounds and equality conditions, and return a
        result as ``scipy.optimize.minimize`` does. Sequential quadratic programming (SLSQP) is used, or sequential
        linear programming if only time is minimized. ``price`` is the factor of the cost; the rows of ``ways``
        combine the conditions. ``report`` is called with the numbers of iterations done and allowed.

        Time alone has no curvature, from which quadratic programs learn: its minima are corners of bounds, which
        linear programs find.
        """
        problem = self._problem

        def note(cost: float) -> None:
            self._history.append(cost)
            report(len(self._history), self._most)

        if problem.is_time_alone:
            return least_in_corners(
                lambda x: _priced(price, ways, self._tried(x)),
                lambda x: _priced(price, ways, self._slopes(x)),
                x,
                problem.low,
                problem.high,
                self._most - len(self._history),
                self._accuracy,
                lambda cost: note(cost / price),
            )
        conditions = {
            "type": "eq",
            "fun": lambda x: ways @ self._tried(x)[1],
            "jac": lambda x: ways @ self._slopes(x)[1],
        }
        return minimize(
            lambda x: price * self._tried(x)[0],
            x,
            jac=lambda x: price * self._slopes(x)[0],
            bounds=list(zip(problem.low, problem.high, strict=True)),
            constraints=[conditions] if len(ways) else [],
            method="SLSQP",
            callback=lambda x: note(self._values(x)[0]),
            options={"maxiter": self._most - len(self._history), "ftol": self._accuracy},
        )

    def _condition_factors(self, x: Array) -> Array:
        """Return factors that scale the equality conditions of an optimal control problem at the unknowns x, shape
        (conditions,). A factor is 1 over the norm of its condition's gradient, with this norm limited from below.
        For conditions that velocities vanish at the end it is w / max(w g), with weights w by inertia, gradient
        norms g, and the maximum over all these conditions."""
        problem, sizes = self._problem, np.linalg.norm(self._slopes(x)[1], axis=1)
        found: Array = np.asarray(1 / np.maximum(sizes, REACHED))
        if problem.rests:
            own, weights = problem.velocities, np.tile(self._run(x).velocity_weights, 2)
            found[own] = weights / (float((weights * sizes[own]).max()) or 1.0)
        return found

    def _scaled_residuals(self, x: Array) -> Array:
        """Return the scaled absolute residuals of all conditions at unknowns x, shape (conditions,)."""
        return np.asarray(np.abs(self._condition_factors(x) * self._values(x)[1]))

    def _conditions(self, x: Array) -> Array:
        """Return a matrix that combines all equality conditions into linearly independent ones, shape
        (combinations, conditions). It follows from a singular value decomposition of their scaled gradients at the
        unknowns x; small singular values are dropped. Raise ParameterError if no input changes a final sensor
        value, or for more conditions than input samples.

        Raises:
            ParameterError: a sensor value that no input changes, or more conditions than samples.
        """
        problem, missed, slopes = self._problem, np.abs(self._values(x)[1]), self._slopes(x)[1]
        read, sizes = problem.velocities.start, np.linalg.norm(slopes, axis=1)
        for k in range(read):
            if sizes[k] <= REACHED * max(1.0, abs(problem.wanted[k])):
                raise ParameterError(
                    f"{problem.labels[k]} misses its target {problem.wanted[k]:g} by {missed[k]:.3g}, and no input"
                    " changes it beside these first values; leave it out, or give other first values"
                )
        factors = self._condition_factors(x)
        left, found, _ = np.linalg.svd(factors[:, None] * slopes, full_matrices=False)
        kept = found > DEPENDENT * found.max(initial=0.0)
        count, samples = int(kept.sum()) - problem.gaps, len(x) - problem.is_free - problem.gaps
        if count > samples or samples < read:
            raise ParameterError(
                f"final has {max(count, read)} conditions for {samples} samples; give more samples of inputs"
            )
        return np.asarray(left[:, kept].T * factors)

    def _cost_factor(self, x: Array, slopes: Array) -> float:
        """Return a positive factor that scales the cost of an optimal control problem for the search. It is 1
        over the curvature of the cost along one small random change of the inputs, from gradients before and
        after. If that curvature is not positive, it is 1 over the norm of the gradient ``slopes``, or 1. x are
        the unknowns."""
        problem, draw = self._problem, np.random.default_rng(1)
        change = 1e-3 * draw.choice([-1.0, 1.0], len(x)) * problem.is_input
        way = np.clip(x + change, problem.low, problem.high) - x
        size = float(way @ way)
        curved = float(way @ (self._slopes(x + way)[0] - slopes)) / size if size else 0.0
        largest = float(np.linalg.norm(slopes))
        if curved > 1e-6 * largest:
            return 1 / curved
        return 1 / largest if largest > 0 else 1.0

    def _projected(self, x: Array, ways: Array) -> Array:
        """Move the unknowns x onto the equality conditions within the bounds, by Gauss-Newton steps of least norm,
        and return the result. Where a step leaves the bounds, a bounded least-squares problem replaces it. Steps
        end when the largest residual stops falling, or after a fixed number. The rows of ``ways`` combine the
        conditions into independent ones; without rows x is returned."""
        problem = self._problem
        for _ in range(ROUNDS if len(ways) else 0):
            missed = ways @ self._values(x)[1]
            slopes = ways @ self._slopes(x)[1]
            other = x - np.linalg.lstsq(slopes, missed, rcond=None)[0]
            if ((other < problem.low) | (other > problem.high)).any():
                low, high = problem.low - x, np.maximum(problem.high - x, problem.low - x + TINY)
                regular = np.vstack([slopes, TINY * np.eye(len(x))])
                change = lsq_linear(regular, np.concatenate([-missed, np.zeros(len(x))]), (low, high)).x
                other = np.clip(x + change, problem.low, problem.high)
            if np.abs(ways @ self._tried(other)[1]).max() >= np.abs(missed).max():
                break
            x = other
        return x

    def _steepness(self, x: Array, ways: Array) -> float:
        """Return the largest absolute component of the cost's gradient at the unknowns x that multipliers of
        conditions and active bounds do not balance. It is zero at a minimum (first-order optimality). Multipliers
        are fitted by least squares; those of bounds must have the sign of a minimum. The rows of ``ways`` combine
        the conditions into independent ones."""
        slope, of_misses = self._slopes(x)
        at_low = x <= self._problem.low + TINY
        at_high = x >= self._problem.high - TINY
        # multipliers of final readings, and of bounds that are met, which are not negative
        held = np.concatenate([np.eye(len(x))[at_low], -np.eye(len(x))[at_high]])
        own = np.concatenate([ways @ of_misses, held])
        if not len(own):
            return float(np.abs(slope).max())
        least = np.concatenate([np.full(len(ways), -np.inf), np.zeros(len(held))])
        multipliers = lsq_linear(own.T, slope, (least, np.inf)).x
        return float(np.abs(slope - own.T @ multipliers).max())

    def _check(self, x: Array, result: Any, steepness: float) -> None:
        """Raise ``ConvergenceError``, with the motion so far, unless the search ended at a minimum that satisfies
        all conditions. Scaled residuals must be small, and each final sensor value near its target. Also, the
        search must report success, or ``steepness`` (the largest unbalanced component of the cost's gradient) must
        be small. x are the last unknowns; ``result`` is from ``scipy.optimize``.

        Raises:
            ConvergenceError: it did not.
        """
        problem, missed, far = self._problem, np.abs(self._values(x)[1]), self._scaled_residuals(x)
        read = problem.velocities.start
        sizes, travel = np.maximum(self._first_residuals, np.abs(problem.wanted))[:read], self._run(x).travel
        # what is to end where it began, and missed at first by round-off, is small beside how far it went
        sizes = np.where(sizes > NEAR * travel[1 : 1 + read], sizes, travel[1 : 1 + read])
        # where inputs change an end by factors of thousands, little of them is not little of the end
        is_far = (sizes > 0) & (missed[:read] > FAR * sizes)
        is_there = far.max(initial=0.0) < NEAR and not is_far.any()
        if is_there and (result.success or steepness < STEEP):
            return
        motion = self._made(x, steepness).motion
        if not is_there:
            k = int(np.argmax(is_far) if is_far.any() else np.argmax(far))
            words = (
                f"{problem.labels[k]} is missed by {missed[k]:.3g} after {len(self._history)} iterations: give"
                " wider bounds, a longer duration, more samples, or first values nearer to it"
            )
        else:
            words = (
                f"no minimum was found in {len(self._history)} iterations (slope left: {steepness:.2g} of the first"
                f" one; {result.message}): give more iterations=, scales= of inputs, other first values, or a cost"
                " that is smooth"
            )
        words += (
            "; where the motion is unstable, give shots=, or let a controller in build hold it, and seek what is"
            " added to it"
        )
        raise ConvergenceError(words, float(motion.time[-1]), np.array(self._history), motion)

    def _made(self, x: Array, steepness: float) -> OptimalInputs:
        problem = self._problem
        cost, _ = self._values(x)
        inputs, duration = problem.inputs(x), problem.duration(x)
        model = problem.build(dict(inputs))
        start = problem._initial
        with whole_runs():
            given = start(model) if callable(start) else start
            motion = model.simulate(duration, duration / problem.steps, initial=given, progress=False)
        final = {name: (sensor, problem.targets[name]) for name, sensor in problem.sensors_of(model).items()}
        deviations = {}
        for name, (sensor, target) in final.items():
            left = motion[sensor].reshape(len(motion.time), -1)[-1] - target
            deviations[name] = float(left[0]) if len(left) == 1 else left
        return OptimalInputs(
            inputs,
            motion,
            cost,
            deviations,
            np.array(self._history),
            steepness,
            problem.runs.taken,
            final,
            problem.limits,
        )
