"""Parameters of a build function, the models that it makes, and the differences of these models."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phlexible.algebra.arrays import Array, IntArray, called, check_callable, mapping, option, positive, reals
from phlexible.derivatives.runs import LoggedRun, VelocityJump, differentiable
from phlexible.derivatives.variations import Variation, rest_lengths_as_history, strains_of, variation_between
from phlexible.description.mechanism.mechanism import Mechanism, first_difference
from phlexible.description.ports import sharing_data
from phlexible.description.time_functions import Signal
from phlexible.errors import ModelError, ParameterError
from phlexible.state.initial_state import InitialKind, initial_state
from phlexible.state.layout import Layout, State
from phlexible.state.system import System, require_bodies, system_of
from phlexible.step.assembly.assembly import Assembly

# Parameters of a build function as one vector of numbers, and the directions in which they are changed.

RELATIVE_DIFFERENCE = 1e-5
"""Step of central differences of the equations at constant states, relative to the size of the parameter."""

MANY = 5
"""Least number of components of an array that are first perturbed together, to find the numbers that each changes.
"""

Given = Mapping[str, float | ArrayLike | Signal] | ArrayLike
Values = dict[str, Any] | Array
"""Derivatives or values in the order of the user's parameters: by name, or one array."""


@dataclass(frozen=True, eq=False)
class Direction:
    """Change of the parameter vector along which a central difference is computed: of one parameter, or of several
    samples of a signal that act in different steps.

    Attributes:
        change: of the flat parameters, shape (parameters,).
        number: index of the parameter; -1: samples of a signal.
        steps, instants: index of the sample that acts in each step, shape (N,), and at each instant, shape (N +
            1,), or -1; samples of one direction act in different steps.
    """

    change: Array
    number: int = -1
    steps: IntArray | None = None
    instants: IntArray | None = None

    @property
    def size(self) -> float:
        """Largest absolute component of this change of the parameter vector, along which a central difference is
        computed: the size of its step."""
        return float(np.abs(self.change).max())


class Parameters:
    """Parameters of a build function, given by name or as one array, and their values as one flat vector.

    Args:
        given: by name, or an array.
        scales: sizes by name of parameters whose value does not show it, such as zero.

    Attributes:
        values: all of them, shape (parameters,).
        sizes: of them, shape (parameters,).
        slices: slice of each name.

    Raises:
        ParameterError: no parameters, or values that are not finite numbers; scales of unknown parameters.
    """

    def __init__(self, parameters: Given, scales: Mapping[str, float] | None = None) -> None:
        self._is_named = isinstance(parameters, Mapping)
        if isinstance(parameters, Signal):
            raise ParameterError("parameters must be by name where one is a Signal: {'force': signal}")
        named: Mapping[str, Any] = parameters if isinstance(parameters, Mapping) else {"parameters": parameters}
        self._user_values = dict(named)
        self.slices: dict[str, slice] = {}
        parts = [np.zeros(0)]
        for name, value in self._user_values.items():
            flat = _flat(name, value)
            begin = sum(map(len, parts))
            self.slices[name] = slice(begin, begin + len(flat))
            parts.append(flat)
        self.values: Array = np.concatenate(parts)
        if not len(self.values):
            raise ParameterError("parameters must hold at least one number, got none")
        if not (scales is None or isinstance(scales, Mapping)):
            raise ParameterError(f"scales must be sizes by names of parameters, got {scales!r}")
        sizes = {name: positive(f"scale of {name}", scale) for name, scale in (scales or {}).items()}
        for name in sizes:
            if name not in self.slices:
                raise ParameterError(f"scales names {name!r}, the parameters are {', '.join(self.slices)}")
        self.sizes = np.zeros(len(self.values))
        for name, index in self.slices.items():
            largest = float(np.abs(self.values[index]).max(initial=0.0)) or 1.0
            own = np.abs(self.values[index])
            size = np.full(len(own), sizes[name]) if name in sizes else np.where(own > 1e-6 * largest, own, largest)
            if isinstance(self._user_values[name], Signal):
                size[:] = sizes.get(name, largest)
            self.sizes[index] = size

    def __len__(self) -> int:
        return len(self.values)

    def nested(self, values: Array) -> Any:
        """Convert a flat vector of parameter values, shape (parameters,), to the argument of the user's build
        function. That is a dictionary of floats, arrays and signals (with new sample values) by name, or one array
        if the user gave one. Arrays are copies."""
        found: dict[str, Any] = {}
        for name, given in self._user_values.items():
            own = values[self.slices[name]]
            if isinstance(given, Signal):
                found[name] = given.with_values(own)
            else:
                found[name] = float(own[0]) if np.ndim(given) == 0 else own.reshape(np.shape(given)).copy()
        return found if self._is_named else found["parameters"]

    def structured(self, flat: Array | NDArray[np.complex128]) -> Values:
        """Convert flat values or derivatives, shape (parameters, ...), to the structure of the user's parameters.
        That is a dictionary by name, or one array if the user gave one. A scalar becomes a float (for derivatives,
        an array of the trailing axes). An array gets its shape plus trailing axes, a signal an array of its
        samples plus trailing axes."""
        found: dict[str, Any] = {}
        for name, given in self._user_values.items():
            own = flat[self.slices[name]]
            if isinstance(given, Signal):
                found[name] = own
            elif np.ndim(given) == 0:
                found[name] = own[0] if flat.ndim > 1 else float(own[0])
            else:
                found[name] = own.reshape(*np.shape(given), *flat.shape[1:])
        return found if self._is_named else np.asarray(found["parameters"])

    @property
    def _steps(self) -> Array:
        return RELATIVE_DIFFERENCE * self.sizes

    @property
    def labels(self) -> list[str]:
        """Name of each component of the flat parameter vector for messages, such as ``mass`` or ``radius[2]``."""
        return [
            name if np.ndim(self._user_values[name]) == 0 else f"{name}[{k}]"
            for name, index in self.slices.items()
            for k in range(index.stop - index.start)
        ]

    def limits(self, bounds: object) -> dict[str, tuple[float, float]]:
        """Return the least and the greatest value of each parameter for which the user gave ``bounds``, as a
        dictionary by name. Raise ``ParameterError`` for unknown names, for anything but an ascending pair of
        numbers, and if present values are outside of the bounds.

        Raises:
            ParameterError: no such parameter, no two numbers, or a value that is not between them.
        """
        found = {}
        for name, ends in mapping("bounds", bounds).items():
            if name not in self.slices:
                raise ParameterError(f"bounds name {name!r}; there are {', '.join(self.slices)}")
            pair = reals(f"bounds of {name}", ends, "(least, greatest)")
            if pair.shape != (2,) or not pair[0] < pair[1]:
                raise ParameterError(f"bounds of {name} must be (least, greatest), got {ends!r}")
            first = self.values[self.slices[name]]
            if not ((pair[0] <= first) & (first <= pair[1])).all():
                raise ParameterError(f"the first values of {name} must be within {ends!r}, got {first}")
            found[name] = (float(pair[0]), float(pair[1]))
        return found

    def label(self, direction: Direction) -> str:
        """Return the name of what a ``direction`` (change of the parameter vector) changes, for messages. For one
        component it is such as ``mass`` or ``radius[2]``, for several samples the name of their signal."""
        if direction.number >= 0:
            return self.labels[direction.number]
        at = int(np.flatnonzero(direction.change)[0])
        return next(name for name, index in self.slices.items() if index.start <= at < index.stop)

    def single_directions(self, name: str | None = None) -> list[Direction]:
        """Return directions for finite differences that change one component of the parameter vector each: all
        components, or those of the parameter ``name``. Samples of signals are components too."""
        own = range(len(self))[self.slices[name] if name is not None else slice(None)]
        return [Direction(change, number) for number, change in enumerate(np.diag(self._steps)) if number in own]

    def scalar_directions(self) -> list[Direction]:
        """Return directions for finite differences that change one component of the parameter vector each.
        Components of signals (values sampled over time) are left out."""
        samples = np.zeros(len(self), dtype=bool)
        for name in self.signals:
            samples[self.slices[name]] = True
        return [each for each in self.single_directions() if not samples[each.number]]

    def array_groups(self, directions: Sequence[Direction]) -> list[list[int]]:
        """Return groups of ``directions`` by their indices, one group for each array parameter of which at least
        five components are not zero. A group has the directions that change one such component; components that are
        zero, and signals, are left out. All directions of a group are perturbed together first, to find out which
        data each changes.
        """
        found = []
        for name, index in self.slices.items():
            own = [
                k
                for k, each in enumerate(directions)
                if index.start <= each.number < index.stop and self.values[each.number] != 0
            ]
            if len(own) >= MANY and not isinstance(self._user_values[name], Signal):
                found.append(own)
        return found

    @property
    def signals(self) -> list[str]:
        """Names of the parameters that are signals (sampled functions of time)."""
        return [name for name, given in self._user_values.items() if isinstance(given, Signal)]

    def random_direction(self, name: str) -> Direction:
        """Return a direction (change of the parameter vector) that changes each sample of the signal ``name`` by
        its difference step, up or down at random. The seed is fixed. Such a change shows which model data the
        signal affects."""
        change, index = np.zeros(len(self)), self.slices[name]
        signs = np.random.default_rng(1).choice([-1.0, 1.0], index.stop - index.start)
        change[index] = signs * self._steps[index]
        return Direction(change)

    def sample_directions(self, name: str, run: LoggedRun, is_load: bool) -> list[Direction]:
        """Return ``Direction`` objects that together change every sample of the signal ``name`` once, in as few
        groups as possible. Samples of one direction are so far apart that each time step of ``run`` depends on at
        most one of them. The direction stores the index of this sample in the parameter vector for each step and
        each instant, -1 for none. ``is_load`` means that the signal is evaluated in the middle of steps only,
        otherwise also at their ends.

        Args:
            name: of the signal.
            run: in whose steps they act.
            is_load: whether the signal is asked for in the middle of steps only; otherwise at their ends, and for
                its rates a little beside them.
        """
        index, signal = self.slices[name], self._user_values[name]
        count = len(signal.times)
        beside = 0 if is_load else 1

        def window(first: Array, last: Array) -> tuple[IntArray, IntArray]:
            low = np.searchsorted(signal.times, first, "right") - 1 - beside
            high = np.searchsorted(signal.times, last, "left") + beside
            return np.clip(low, 0, count - 1), np.clip(high, 0, count - 1)

        begins = np.concatenate([own.times[:-1] for own in run.stretches])
        ends = np.concatenate([own.times[1:] for own in run.stretches])
        middles = (begins + ends) / 2
        of_steps = (
            window(middles, middles) if is_load else window(np.minimum(begins, ends), np.maximum(begins, ends))
        )
        of_instants = window(run.times, run.times)
        apart = 2 + max(int((high - low).max()) for low, high in (of_steps, of_instants))  # in each step one rests
        found = []
        for first in range(min(apart, count)):
            change = np.zeros(len(self))
            chosen = np.arange(index.start + first, index.stop, apart)
            change[chosen] = self._steps[chosen]
            in_steps, at_instants = (_one_of(*window, first, apart) for window in (of_steps, of_instants))
            acting = [np.where(each >= 0, each + index.start, -1) for each in (in_steps, at_instants)]
            found.append(Direction(change, -1, *acting))
        return found


def _one_of(low: IntArray, high: IntArray, first: int, stride: int) -> IntArray:
    """Return the least of the integers first + k stride (any integer k) in each range from ``low`` to ``high``.
    Both ends are included; the result is -1 if there is none. ``low`` and ``high`` are integer arrays of one shape,
    as is the result.
    """
    number = low + (first - low) % stride
    return np.where(number <= high, number, -1)


def _flat(name: str, value: object) -> Array:
    if isinstance(value, Signal):
        return value.values
    flat = reals(name, value, "a finite number, an array of them or a Signal").ravel()  # type: ignore[arg-type]
    if not np.isfinite(flat).all():
        raise ParameterError(f"{name} must be a finite number, an array of them or a Signal, got {value!r}")
    return flat


# What a build function makes of parameters: a model as tables, its start and what is measured on it.

Build = Callable[[Any], Any]
Start = InitialKind | str | Callable[[Any], Any]
Measured = TypeVar("Measured")


def check_build(build: object, argument: str = "parameters") -> None:
    """Raise ``ParameterError`` unless ``build`` is callable with one positional argument, the dict of all
    parameters. For a callable of another signature the message suggests build=lambda p: f(**p).

    Raises:
        ParameterError: with the call that passes them by name.
    """
    try:
        check_callable("build", build, argument)
    except ParameterError as error:
        if not callable(build):
            raise
        name = getattr(build, "__name__", "build")
        raise ParameterError(
            f"{error}; it gets all {argument} as one dict, by name: build=lambda p: {name}(**p) hands them over one"
            " by one"
        ) from None


@dataclass(frozen=True, eq=False)
class Built(Generic[Measured]):
    """Model that a build function made from particular parameters: its tables, its initial state and the quantities
    measured on it.

    Attributes:
        assembly: its tables.
        start: its initial state.
        measured: quantities that are evaluated on it, such as costs or sensors.
    """

    assembly: Assembly
    start: State
    measured: Measured


@dataclass(frozen=True, eq=False)
class Recipe(Generic[Measured]):
    """Functions of the user that make a model from parameters, its initial state, and the quantities measured on
    it.

    Attributes:
        build: parameters -> model.
        start: "undeformed", "quasi_static", or a function of the model that returns a state or an equilibrium.
        measure: model -> measured quantities.
        argument: name of the user's argument that holds ``measure``, for messages.
    """

    build: Build
    start: Start
    measure: Callable[[Any], Measured]
    argument: str

    def build_model(self, parameters: Any, similar: Built[Any] | None = None) -> Built[Measured]:
        """Call the user's build function with ``parameters`` and return the model as ``Built``, with its arrays,
        initial state and measured quantities (sensors or costs). Bodies equal to those of the model ``similar``
        share computed data. Raise ``ParameterError`` if the function returns no model, ``ModelError`` if the model
        cannot be differentiated.

        Args:
            parameters: as the build function takes them.
            similar: similar model, whose equal data are shared.

        Raises:
            ParameterError: the build function returned no model, or the function of its start no state.
            ModelError: parts that cannot be differentiated.
        """
        known = () if similar is None else similar.assembly.system.mechanism.bodies
        with sharing_data((placed.resolved, (placed.data, placed.points)) for placed in known):
            model = called(self.build, "the build function", parameters, at="for these parameters")
        if not isinstance(model, Mechanism):
            raise ParameterError(f"the build function must return a ph.Model, got {model!r}")
        at_start, whole = system_of(model), model.with_locks()
        require_bodies(at_start)
        measured = called(self.measure, self.argument, model, at="for the model that was built")
        system = at_start if whole is model else system_of(whole)
        own = rest_lengths_as_history(differentiable(system), self._state(model, at_start))
        return Built(*own, measured)

    def _state(self, model: Mechanism, system: System) -> State:
        if not callable(self.start):
            return initial_state(system, option("initial", self.start, InitialKind))
        given = called(self.start, "initial", model, at="for the model that was built")
        state = getattr(given, "state", given)
        if not isinstance(state, State):
            raise ParameterError(
                f"initial= must be 'undeformed', 'quasi_static' or a function of the model that returns a state,"
                f" such as lambda model: model.equilibrium(); it returned {given!r}"
            )
        return state


# Two models of parameters to both sides: what may differ between them, and how their starts do.

SMOOTH = 0.05
"""Largest even part of a change, relative to the odd part, of a smooth function."""

LOCAL = 1e-4
"""Largest change of the equations outside of the steps of a sample, relative to the greatest change."""

NOTICEABLE = 1e-9
"""Change of equations below which it is round-off."""

BY_CHANCE = 10
"""Multiple of the residual below which a change of the equations is round-off."""


def start_tables(built: Built[Any], base: Built[Any] | None = None) -> dict[str, Array]:
    """Return the initial state of a built model as arrays by the names "position", "rotation", "eta" (elastic
    coordinates), "velocity" and "strains" (history variables). These are strains of Maxwell branches, deflections
    of friction springs and impact speeds; those of contact pairs are in the order of the model ``base`` if that
    is given.

    Args:
        built: the model.
        base: the model of the run, which gives the rows of contact pairs of groups; None: this one.
    """
    found = {name: getattr(built.start, name) for name in ("position", "rotation", "eta", "velocity")}
    return found | {"strains": strains_of(built.assembly, built.start, None if base is None else base.start)}


def start_difference(
    less: Mapping[str, Array], more: Mapping[str, Array], layout: Layout, distance: float
) -> Variation:
    """Return the derivative of the initial state with respect to a parameter: the change from the state ``less``
    to the state ``more``, divided by the ``distance`` of their parameter values. Both states are dictionaries of
    arrays as ``start_tables`` returns them. ``layout`` has the indices of each body's components."""
    change = variation_between(layout, less, more)
    strains = (more["strains"] - less["strains"]) / distance
    return Variation(change.pose / distance, change.velocity / distance, strains)


def check_same(base: Built[Any], other: Built[Any], label: str, run: LoggedRun | None = None) -> None:
    """Raise ``ModelError`` if a perturbed model (``other``) differs from ``base`` in its unknowns (bodies,
    coordinates, joints), or in prescribed times of events. Times of events that happen inside of a time step of
    ``run``, which are differentiated, may differ. ``label`` names the parameter in the message.

    Args:
        base, other: the models.
        label: of the parameters.
        run: in which prescribed times of events inside of steps may change; None: none may.

    Raises:
        ModelError: with the name of the parameter.
    """
    names = ("velocities_begin", "elastic_begin", "node_row", "node_size", "visit_node")
    first, second = base.assembly.memory, other.assembly.memory
    if first.state_sizes != second.state_sizes or not all(
        np.array_equal(first[name], second[name]) for name in names
    ):
        mechanisms = base.assembly.system.mechanism, other.assembly.system.mechanism
        words = first_difference(*mechanisms) or "the model has other parts, coordinates or joints"
        raise ModelError(
            f"{words} once {label} changes a little; the build function must make the same ones for all parameters"
        )
    events = [built.assembly.system.mechanism.events for built in (base, other)]
    moving = (
        [] if run is None else [each.event for each in run.course if isinstance(each, VelocityJump) and each.span]
    )
    for number, (first_event, second_event) in enumerate(zip(*events, strict=True)):
        is_given = isinstance(first_event.when, float) or isinstance(second_event.when, float)
        if is_given and first_event.when != second_event.when and number not in moving:
            raise ModelError(
                f"{label} changes a time that is given to model.at, which cannot be differentiated where it is at"
                " the end of a step, outside of the run, or beside tolerance=, laws with history and functions of"
                " the state; give another step or time, or begin the event by a condition, such as"
                " model.at(ph.When(lambda time: time, above=...), ...)"
            )


def check_smooth(upper: Array, lower: Array, label: str, noise: Callable[[], Array], most: float = SMOOTH) -> None:
    """Raise ``ModelError`` if residuals are no smooth function of a parameter, for example because a mode changes
    its sign. ``upper`` and ``lower`` are their changes with the parameter increased and decreased; their sum must
    be at most ``most`` times their difference. If it is not, ``noise`` is called, and sums below round-off of the
    residuals that it returns are ignored. ``label`` names the parameter.

    Args:
        upper, lower: changes of the residuals on both sides of the parameter.
        label: of the parameter.
        noise: evaluates the residuals at its value, which are round-off of forces.
        most: largest even part of the changes, relative to their odd part.

    Raises:
        ModelError: with the name of the parameter.
    """
    odd, even = float(np.abs(upper - lower).max(initial=0.0)), float(np.abs(upper + lower).max(initial=0.0))
    if even > most * odd and even > NOTICEABLE and even > BY_CHANCE * np.abs(noise()).max(initial=0.0):
        raise ModelError(
            f"the equations are no smooth function of {label}: a small change to both sides moves them by"
            f" {even:.2g}, their difference is {odd:.2g}; modes of equal frequencies, kinks of the build function,"
            " or contact and friction that begin or slip just between two steps do that"
        )


def check_local(changes: Array, is_acting: NDArray[np.bool_], label: str) -> None:
    """Raise ``ParameterError`` if samples of a signal change time steps in which they do not act, as with a delay.
    ``changes`` (steps, unknowns) are the changes of the residuals by some perturbed samples; the mask ``is_acting``
    (steps,) says where one of them acts. Changes in other steps must be below a small share of the largest, or
    negligible. ``label`` names the signal.

    Args:
        changes: of the equations of each step due to samples that are far from each other, shape (N, unknowns).
        is_acting: whether one of them is near the step, shape (N,).
        label: of the signal.

    Raises:
        ParameterError: with the name of the signal.
    """
    size = np.abs(changes).max(axis=1, initial=0.0)
    elsewhere = float(size[~is_acting].max(initial=0.0))
    if elsewhere > LOCAL * float(size.max(initial=0.0)) and elsewhere > NOTICEABLE:
        raise ParameterError(
            f"the samples of {label} act at other times than their own (a delay, or an integral of the signal?), so"
            " that they cannot be differentiated together; give them as an array, and make the Signal in the build"
            " function"
        )


@contextmanager
def other_values(signal: Signal, values: Array) -> Iterator[None]:
    """Context manager that replaces the sample values of a signal, in place, and puts the former values back at the
    end."""
    own = signal.values
    signal.values = values
    try:
        yield
    finally:
        signal.values = own
