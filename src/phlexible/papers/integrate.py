"""Integration of any port-Hamiltonian model in time, and the trajectories that it returns (docs/theory.md, 1)."""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import ANY_SIZE, Array, IntArray, called, file_path, option, positive, reals
from phlexible.algebra.blas_threads import one_blas_thread
from phlexible.display import how_many
from phlexible.errors import (
    ConvergenceError,
    ModelError,
    ParameterError,
    ResultFileError,
    VelocityError,
)
from phlexible.papers.collocation import (
    GAUSS_LEGENDRE_1,
    GAUSS_LEGENDRE_2,
    RADAU_IIA_3,
    BatchedInputs,
    DiscreteGradientLoop,
    Equations,
    LinearlyImplicitLoop,
    StageLoop,
    Step,
    multipliers_at_ends,
)
from phlexible.pictures.style import finish, house_style, new_figure, picture_path, plain_text
from phlexible.port_hamiltonian.model import Port, PortHamiltonianModel, StateGroup, check_model, slice_of
from phlexible.results.files.writing import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# What users give as inputs of a port-Hamiltonian model, as one function u(t, x).

Signal: TypeAlias = ArrayLike | Callable[..., ArrayLike]
"""Numbers, a function of t, or a function of t and the state x."""

GivenInputs: TypeAlias = Callable[..., ArrayLike] | Mapping[str, Signal] | None


@dataclass(frozen=True)
class InputFunction:
    """Inputs of a port-Hamiltonian model as one function of many instants, with the indices of the states on which
    they may depend.
    """

    function: BatchedInputs
    states: IntArray


def input_function(model: PortHamiltonianModel, inputs: GivenInputs, x: Array) -> InputFunction:
    """Return the inputs of a port-Hamiltonian model as one function of T times (T,) and states (T, n) with values
    (T, inputs). A user gives None (the model's own inputs), one function, or a dictionary of functions or numbers
    by port name; missing ports are zero. Functions are called as u(t) or u(t, x), and once at t = 0.
    ``ParameterError`` is raised for other values.

    Raises:
        ParameterError: no function or table of ports, a port that the model does not have, or a wrong shape.
        ModelError: no such port.
        FunctionError: a function raised.
    """
    if inputs is None:
        return InputFunction(model.default_inputs, model.default_input_states)
    if callable(inputs):
        parts = [_signal("inputs", slice(0, model.port_size), inputs)]
    elif isinstance(inputs, Mapping):
        parts = [_signal(f"the input of {name!r}", model.port_slice(name), each) for name, each in inputs.items()]
    else:
        raise ParameterError(
            f"inputs must be None, a function u(t) or u(t, x), or a dict of ports such as "
            f"{{'start force': u}}, got {inputs!r}"
        )

    takes_state = any(part.takes_state for part in parts)
    last: list[Array] = []  # times and inputs: of functions of time, the same stages of the same step

    def batched(times: Array, states: Array) -> Array:
        if last and last[0] is times:
            return last[1].copy()
        u = np.zeros((len(times), model.port_size))
        for row, time, state in zip(u, times.tolist(), states, strict=True):
            for part in parts:
                row[part.columns] = part.at(time, state)
        last[:] = [] if takes_state else [times, u.copy()]
        return u

    batched(np.zeros(1), x[None])
    return InputFunction(batched, np.arange(model.state_size if takes_state else 0))


@dataclass(frozen=True)
class _InputSignal:
    """Function that a user gave for some of the inputs, those in the slice ``columns``.

    Attributes:
        name: in messages.
        columns: among all inputs.
        function: of t, or of t and the state x where it ``takes_state``.
    """

    name: str
    columns: slice
    function: Callable[..., ArrayLike]
    takes_state: bool

    def at(self, time: float, x: Array) -> Array:
        """Return the values that a user's function prescribes for some inputs of a model at a time [s] and a
        state x (n,), shape (size,). Raise ``ParameterError`` for values of another shape, and ``FunctionError``
        for an exception in the function."""
        arguments = (time, x) if self.takes_state else (time,)
        value = called(self.function, self.name, *arguments, at=f"at t = {time:g} s")
        return _checked_values(self.name, value, self.columns.stop - self.columns.start)


def _signal(name: str, columns: slice, user_input: Any) -> _InputSignal:
    """Return an object that evaluates what a user gave for the inputs in the slice ``columns``: numbers, or a
    function that is called with each instant, as u(t) or u(t, x) with the state x (n,). It checks that there are
    as many finite numbers as inputs; ``name`` is used in messages."""
    if callable(user_input):
        return _InputSignal(name, columns, user_input, _argument_count(name, user_input) == 2)
    value = _checked_values(name, user_input, columns.stop - columns.start)
    return _InputSignal(name, columns, lambda time: value, False)


def _checked_values(name: str, value: Any, size: int) -> Array:
    """Convert a user's value to an array of ``size`` finite numbers, shape (size,); raise ``ParameterError``
    with the argument's ``name`` for anything else. A single number is accepted for ``size`` 1."""
    found = np.atleast_1d(reals(name, value, f"{size} numbers", ANY_SIZE))
    if found.shape != (size,) or not np.isfinite(found).all():
        raise ParameterError(f"{name} must be {size} finite numbers, got {value!r}")
    return found


def _argument_count(name: str, function: Callable[..., Any]) -> int:
    """Return the number of required positional arguments of a user's input function: 1 for u(t), 2 for u(t, x)
    with the state x. Any other number raises ``ParameterError`` with the argument's ``name``. If the signature is
    not available, 1 is returned."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p for p in parameters if p.kind in kinds and p.default is inspect.Parameter.empty]
    if len(needed) not in (1, 2):
        raise ParameterError(f"{name} must be a function of t, or of t and x; it takes {len(needed)} arguments")
    return len(needed)


# The integrators of port-Hamiltonian models that users choose from, by name.


class Method(StrEnum):
    """Choice of the method of time integration of port-Hamiltonian models.

    GAUSS2: order 4, quadratic energies kept exactly. RADAU3: order 5, damps fast motions.
    MIDPOINT: order 2, symmetric. DISCRETE_GRADIENT: order 2, symmetric, power balance exact for any energy.
    LINEARLY_IMPLICIT: order 2, symmetric, power balance exact, one linear system a step; for quadratic strains.
    """

    GAUSS2 = "gauss2"
    RADAU3 = "radau3"
    MIDPOINT = "midpoint"
    DISCRETE_GRADIENT = "discrete_gradient"
    LINEARLY_IMPLICIT = "linearly_implicit"


def stage_loop(method: Method, equations: Equations, initial: Array) -> StageLoop:
    """Return the solver object that computes time steps of a port-Hamiltonian model by an integration ``method``
    from the state ``initial``. The method is Gauss or Radau collocation, the midpoint rule, discrete gradients or
    a linearly implicit scheme. Only Gauss with two stages projects states onto velocity constraints. ``equations``
    are those of the model.

    The midpoint rule is left without projection: it has order 2 in the states as it is, and stays symmetric.
    """
    match method:
        case Method.GAUSS2:
            return StageLoop(equations, GAUSS_LEGENDRE_2, initial, is_projected=True)
        case Method.RADAU3:
            return StageLoop(equations, RADAU_IIA_3, initial, is_projected=False)
        case Method.MIDPOINT:
            return StageLoop(equations, GAUSS_LEGENDRE_1, initial, is_projected=False)
        case Method.DISCRETE_GRADIENT:
            return DiscreteGradientLoop(equations, initial)
        case Method.LINEARLY_IMPLICIT:
            return LinearlyImplicitLoop(equations, initial)


# What ``phlexible.integrate`` returns: states, energies and port values over time, pictures, files.

ARRAYS = ("time", "states", "inputs", "outputs", "energy", "supplied", "dissipated")
KIND = "phlexible trajectory 1"


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """Motion of a port-Hamiltonian model with n states and m inputs at N + 1 instants, as ``integrate`` returns it.

    Attributes:
        method: that it was integrated with.
        state_groups: the states by name, in order.
        ports: the inputs and outputs by name, in order.
        time: shape (N + 1,) [s].
        states: x, shape (N + 1, n); multipliers are those of both steps beside an instant, or go on from them.
        inputs: u, shape (N + 1, m).
        outputs: y, shape (N + 1, m).
        energy: H, shape (N + 1,) [J].
        supplied: work of the inputs since t = 0, sum of h b_i u.y over the stages, shape (N + 1,) [J].
        dissipated: what R took since t = 0, shape (N + 1,) [J].
    """

    method: str
    state_groups: tuple[StateGroup, ...]
    ports: tuple[Port, ...]
    time: Array
    states: Array
    inputs: Array
    outputs: Array
    energy: Array
    supplied: Array
    dissipated: Array

    def __repr__(self) -> str:
        return f"Trajectory({how_many(len(self.time) - 1, 'step')} of {self.method} to t = {self.time[-1]:g} s)"

    @property
    def balance_error(self) -> Array:
        """Error of the energy balance of an integrated motion at its N + 1 instants, shape (N + 1,) [J]. It is H -
        H(0) - supplied work + dissipated energy, and only round-off with discrete gradients."""
        return np.asarray(self.energy - self.energy[0] - self.supplied + self.dissipated)

    def state(self, name: str) -> Array:
        """Return the block ``name`` of the states of an integrated motion (such as ``velocity``) at its N + 1
        instants, shape (N + 1, size).

        Raises:
            ModelError: there is none of that name.
        """
        return self.states[:, slice_of(self.state_groups, name, "state")]

    def input(self, port: str) -> Array:
        """Return the inputs of the port with the given name at the N + 1 instants of an integrated motion, shape (N
        + 1, size).

        Raises:
            ModelError: there is none of that name.
        """
        return self.inputs[:, slice_of(self.ports, port, "port")]

    def output(self, port: str) -> Array:
        """Return the outputs of the port with the given name at the N + 1 instants of an integrated motion, shape
        (N + 1, size).

        Raises:
            ModelError: there is none of that name.
        """
        return self.outputs[:, slice_of(self.ports, port, "port")]

    def power(self, port: str) -> Array:
        """Return the power that enters the model through the port with the given name at the N + 1 instants of an
        integrated motion: input times output, shape (N + 1,) [W].

        Raises:
            ModelError: there is none of that name.
        """
        return np.asarray((self.input(port) * self.output(port)).sum(axis=1))

    def plot_energy(self, path: str | PathLike[str] | None = None) -> "Figure":
        """Plot stored, supplied and dissipated energy [J] of an integrated motion over time, and below them the
        size of the error of the energy balance. Return the figure; it is saved too if ``path`` is given.

        Raises:
            MissingExtraError: matplotlib is not installed.
            ResultFileError: the picture cannot be written.
        """
        path = picture_path(path)
        with house_style():
            figure = new_figure(5.6, 4.2)
            upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
            for label in ("energy", "supplied", "dissipated"):
                upper.plot(self.time, getattr(self, label), label=label, lw=2.0 if label == "energy" else 1.3)
            upper.set_ylabel("energy [J]")
            upper.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.2)
            lower.semilogy(self.time, np.maximum(np.abs(self.balance_error), np.finfo(float).tiny))
            lower.set_ylim(bottom=1e-18)
            lower.set_ylabel("|balance error| [J]")
            lower.set_xlabel("time [s]")
            return finish(figure, path)

    def plot(self, *names: str, path: str | PathLike[str] | None = None) -> "Figure":
        """Plot states and port outputs, chosen by their names, of an integrated motion over time, one diagram for
        each name. Return the figure; it is saved too if ``path`` is given.

        Args:
            names: of blocks of states or of ports.

        Raises:
            ModelError: no name, or one that is neither.
            MissingExtraError: matplotlib is not installed.
            ResultFileError: the picture cannot be written.
        """
        path = picture_path(path)
        if not names:
            raise ModelError("plot needs the name of a state or port, such as plot('coupler.displacement')")
        curves = [self._plotted_values(name) for name in names]
        with house_style():
            figure = new_figure(5.6, 1.2 + 1.8 * len(names))
            for axes, name, (values, unit) in zip(
                figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0], names, curves, strict=True
            ):
                axes.plot(self.time, values)
                axes.set_ylabel(plain_text(f"{name} [{unit}]" if unit else name))
            axes.set_xlabel("time [s]")
            return finish(figure, path)

    def save(self, path: str | PathLike[str]) -> None:
        """Write this integrated motion to a NumPy archive (``path``, .npz), which ``Trajectory.load`` and
        ``numpy.load`` read.

        Raises:
            ResultFileError: the disk refuses.
        """
        names = {
            "kind": KIND,
            "method": self.method,
            "states": [[b.name, b.unit, b.size] for b in self.state_groups],
            "ports": [[p.name, p.input_unit, p.output_unit, p.size] for p in self.ports],
        }
        with replacing(Path(file_path("path", path))) as draft, open(draft, "wb") as file:
            np.savez_compressed(
                file, names=np.array(json.dumps(names)), **{name: getattr(self, name) for name in ARRAYS}
            )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read an integrated motion from a NumPy archive (``path``, .npz) that ``Trajectory.save`` wrote.

        Raises:
            ResultFileError: the file cannot be read, or is none of these.
        """
        index = Path(file_path("path", path))
        try:
            with np.load(index, allow_pickle=False) as file:
                names = json.loads(str(file["names"]))
                arrays = {name: np.asarray(file[name], dtype=np.float64) for name in ARRAYS}
            assert names["kind"] == KIND
            states = tuple(StateGroup(*each) for each in names["states"])
            ports = tuple(Port(*each) for each in names["ports"])
            return cls(names["method"], states, ports, **arrays)
        except OSError as error:
            raise ResultFileError(f"cannot read {index}: {error.strerror or error}") from error
        except Exception as error:
            raise ResultFileError(f"{index} is no trajectory of phlexible: {error}") from error

    def _plotted_values(self, name: str) -> tuple[Array, str]:
        """Return the values over time and the unit of the state block, or else of the port's output, with the
        given ``name``. The values have the shape (N + 1, size) for N time steps. Raise ``ModelError``, with a list
        of all names, if there is neither."""
        for block in self.state_groups:
            if block.name == name:
                return self.state(name), block.unit
        for port in self.ports:
            if port.name == name:
                return self.output(name), port.output_unit
        known = ", ".join([*(b.name for b in self.state_groups), *(p.name for p in self.ports)])
        raise ModelError(f"no state or port is named {name!r}; there are: {known}")


CONSISTENT = 1e-6
ROUND_OFF = 1e-9
CHUNK = 512
SLACK = 1e-9
DEPENDENT = "constraints depend on each other: multipliers are not unique"


def integrate(
    model: PortHamiltonianModel,
    x0: ArrayLike,
    inputs: GivenInputs,
    duration: float,
    step: float,
    method: str = "gauss2",
) -> Trajectory:
    """Integrate a port-Hamiltonian model ``E dx/dt = (J - R) z + B u`` of index 1 or 2 in time from the state
    ``x0``. Return the trajectory: states, inputs, outputs and energies at the ends of all time steps. Steps have
    the length ``step`` [s], the last one may be shorter. ``method`` names the implicit scheme. Raise
    ``VelocityError`` if ``x0`` violates velocity constraints; a ``ConvergenceError`` has the trajectory so far.

    ========================  =====  ==========================================================================
    method                    order
    ========================  =====  ==========================================================================
    ``"gauss2"``              4      Gauss-Legendre, two stages; ends of steps projected onto constraints
    ``"radau3"``              5      Radau IIA, three stages; takes energy from motions faster than the step
    ``"midpoint"``            2      implicit midpoint rule; symmetric in time, constraints too
    ``"discrete_gradient"``   2      the same with a discrete gradient: dH = supplied - dissipated to round-off
    ``"linearly_implicit"``   2      quadratic strains only: the same exactness by one linear system a step
    ========================  =====  ==========================================================================

    Orders are those of the states; multipliers have order 3 (``radau3``) or 2 (all others, from three steps on) at
    the ends of steps. Newton's matrix is made of differences of the equations, unless the model gives a
    ``defect_slope``. A model of your own needs the methods of ``PortHamiltonianModel`` only, for
    ``linearly_implicit`` its ``coordinates`` too: that scheme takes strings of the law of St. Venant and Kirchhoff,
    ``SoftBody.port_hamiltonian(stresses=True)`` and ``phlexible.papers.QuadraticStrainModel``, and starts with the
    strains that it keeps (docs/theory.md, 5).

    Args:
        model: with n states and m inputs.
        x0: state at t = 0, shape (n,), that obeys the constraints (see ``consistent_state``); multipliers in it do
            not matter.
        inputs: u(t) or u(t, x) for all inputs, shape (m,); or a dict of ports, whose values are numbers or such
            functions, other inputs being zero; None: zero, or what the model knows (``MechanismModel``).
        duration: [s]; the last step is shorter where it is no multiple of the step.
        step: [s].

    Raises:
        ParameterError: numbers out of range or of the wrong shape, or no such method.
        ModelError: no such port, constraints that depend on each other, or a model whose strains are not quadratic
            for ``linearly_implicit``.
        VelocityError: x0 violates the constraints.
        FunctionError: a function of the inputs raised.
        ConvergenceError: Newton's method fails in a step; ``.motion`` is the trajectory so far.

    Example:
        >>> model = ph.Model(dimension=2)
        >>> cart = model.add(ph.RigidBody(1.0, 0.1), "cart")
        >>> rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin))
        >>> spring = model.apply(rail.spring(1.0))
        >>> linear = model.linearize([cart.origin])
        >>> run = ph.integrate(linear, 0 * linear.rest_state, None, duration=1.0, step=0.1, method="midpoint")
        >>> run.time.shape
        (11,)
    """
    chosen = option("method", method, Method)
    start, lengths = _checked_state(model, "x0", x0), _step_lengths(duration, step)
    given = input_function(model, inputs, start)
    equations = Equations(model, given.function, start, given.states)
    _refuse_inconsistent(equations, start)
    record = _Record(chosen, model, equations, start)
    loop = stage_loop(chosen, equations, start)
    if isinstance(loop, LinearlyImplicitLoop):
        record.states[0] = loop.conserved_start(step, start)
    try:
        with one_blas_thread():
            for k, length in enumerate(lengths):
                record.add(loop.advance(k * step, length, record.states[-1]))
                if len(record.steps) == CHUNK:
                    record.sum_energies(loop.tableau.weights)
    except ConvergenceError as error:
        error.motion = record.trajectory(loop.tableau.weights)
        raise
    return record.trajectory(loop.tableau.weights)


def consistent_state(model: PortHamiltonianModel, x: ArrayLike, inputs: GivenInputs = None) -> Array:
    """Return the state nearest to x, in kinetic energy, that obeys the velocity constraints of a port-Hamiltonian
    model at t = 0, shape (n,). Impulses of the constraints change its velocities; positions are unchanged. Without
    constraints it is x. ``inputs`` are the values of the model's ports, numbers or functions of time. Dependent
    constraints raise ``ModelError``.

    Of all states that do it is the nearest in kinetic energy: the one after a blow of the joints.

    Args:
        x: shape (n,).
        inputs: as of ``integrate``.

    Raises:
        ParameterError: a wrong shape.
        ModelError: constraints that depend on each other.
    """
    start = _checked_state(model, "x", x)
    given = input_function(model, inputs, start)
    equations = Equations(model, given.function, start, given.states)
    try:
        return equations.project(0.0, start)
    except np.linalg.LinAlgError:
        raise ModelError(DEPENDENT) from None


@dataclass(eq=False)
class _Record:
    """Growing record of the steps of an integration; work and dissipation are summed for many steps at a time."""

    method: Method
    model: PortHamiltonianModel
    equations: Equations
    start: Array
    steps: list[Step] = field(default_factory=list)
    states: list[Array] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)
    work: list[Array] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.states.append(self.start.copy())

    def add(self, step: Step) -> None:
        """Append a completed time step to this record: to the lists of steps, end states and lengths. With the
        first step, the multipliers at its start are also written into the initial state."""
        if len(self.states) == 1:
            self.states[0][self.equations.is_algebraic] = step.first_multipliers
        self.steps.append(step)
        self.states.append(step.end)
        self.lengths.append(step.length)

    def sum_energies(self, weights: Array) -> None:
        """Compute the work of the inputs and the dissipated energy of each time step in ``self.steps``, by
        quadrature over its stages with ``weights``. The results are appended to ``self.work`` as an array (2,
        steps); then ``self.steps`` is emptied. Dissipation is the work minus the increase of the stored energy."""
        if not self.steps:
            return
        equations, count = self.equations, len(self.steps)
        x, rates = (np.concatenate([getattr(step, name) for step in self.steps]) for name in ("stages", "rates"))
        given = [step.efforts for step in self.steps if step.efforts is not None]
        z = np.concatenate(given) if given else equations.model.efforts(x)
        u = equations.inputs_at(np.concatenate([step.times for step in self.steps]), x)
        supplied = (u * equations.model.output_products(x, z)).sum(axis=1)
        moving = np.where(equations.is_algebraic, 0.0, rates)
        stored = (z * equations.model.descriptor_products(x, moving)).sum(axis=1)
        each = np.array([supplied, supplied - stored]).reshape(2, count, len(weights)) @ weights
        self.work.append(each * [step.length for step in self.steps])
        self.steps.clear()

    def trajectory(self, weights: Array) -> Trajectory:
        """Return the integrated motion of all time steps recorded so far: states, inputs, outputs and energies at
        their ends. Work that is not computed yet is computed first with the quadrature ``weights`` of the stages.
        For schemes of one stage, multipliers are interpolated to the ends."""
        self.sum_energies(weights)
        time, states = np.concatenate([[0.0], np.cumsum(self.lengths)]), np.array(self.states)
        if len(weights) == 1 and self.lengths:
            algebraic = self.equations.is_algebraic
            states[:, algebraic] = multipliers_at_ends(time, states[1:, algebraic])
        model, nothing = self.equations.model, np.zeros((2, 1))
        supplied, dissipated = np.cumsum(np.hstack([nothing, *self.work]), axis=1)
        return Trajectory(
            method=self.method.value,
            state_groups=self.model.states,
            ports=self.model.ports,
            time=time,
            states=states,
            inputs=self.equations.inputs_at(time, states),
            outputs=model.output_products(states, model.efforts(states)),
            energy=model.storages(states),
            supplied=supplied,
            dissipated=dissipated,
        )


def _checked_state(model: PortHamiltonianModel, argument: str, x: ArrayLike) -> Array:
    """Convert a user's initial state x to an array of shape (n,) with the number of states of the model. Raise
    ``ParameterError``, with the name of the ``argument``, for other shapes and for values that are not finite."""
    check_model("model", model)
    state = reals(argument, x, f"numbers of shape ({model.state_size},)")
    if state.shape != (model.state_size,) or not np.isfinite(state).all():
        names = ", ".join(f"{block.name} ({block.size})" for block in model.states)
        raise ParameterError(
            f"{argument} must be {model.state_size} finite numbers ({names}), got an array of shape {state.shape}"
        )
    return state


def _step_lengths(duration: float, step: float) -> list[float]:
    """Return the lengths [s] of all time steps that fill the duration [s] as a list. They are equal to ``step``,
    with a shorter one at the end if the duration is no multiple of it."""
    whole, length = positive("duration", duration), positive("step", step)
    count = int(np.floor(whole / length * (1 + SLACK)))
    rest = whole - count * length
    return [length] * count + ([rest] if rest > SLACK * whole else [])


def _refuse_inconsistent(equations: Equations, x: Array) -> None:
    """Raise ``VelocityError`` if the initial state x violates the velocity constraints of a port-Hamiltonian model
    at t = 0. The state is projected onto the constraints; its change must be a small share of the largest value in
    each block of states. Dependent constraints raise ``ModelError``. Nothing is done without constraints."""
    if not equations.has_constraints:
        return
    try:
        moved = np.abs(equations.project(0.0, x) - x)
    except np.linalg.LinAlgError:
        raise ModelError(DEPENDENT) from None
    begins = equations.block_begins
    gap, size = np.maximum.reduceat(moved, begins), np.maximum.reduceat(np.abs(x), begins)
    if (gap > np.maximum(CONSISTENT * size, ROUND_OFF)).any():
        worst = float(np.abs(equations.algebraic_residuals(0.0, x[None])).max())
        raise VelocityError(
            f"x0 violates the constraints: their residual is {worst:.3g} at t = 0. Give velocities that obey the "
            "joints and the driven ports, or take phlexible.consistent_state(model, x0, inputs)"
        )
