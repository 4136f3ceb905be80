"""Motions of any port-Hamiltonian model: the papers' equations live (docs/theory.md, 1)."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, numbers, positive
from phlexible.algebra.options import option
from phlexible.errors import ConvergenceError, ModelError, ParameterError, VelocityError
from phlexible.port_hamiltonian.model import PortHamiltonianModel, check_model
from phlexible.reference.collocation import Step
from phlexible.reference.compiled_bodies import fast
from phlexible.reference.equations import Equations
from phlexible.reference.schemes import Method, stage_loop
from phlexible.results.port_models.given_inputs import GivenInputs, asked_inputs
from phlexible.results.port_models.trajectory import Trajectory

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
    """The motion of a model ``E dx/dt = (J - R) z + B u, y = B^T z`` from the state x0, of index 1 or 2.

    ========================  =====  ==========================================================================
    method                    order
    ========================  =====  ==========================================================================
    ``"gauss2"``              4      Gauss-Legendre, two stages; ends of steps projected onto constraints
    ``"radau3"``              5      Radau IIA, three stages; takes energy from motions faster than the step
    ``"midpoint"``            2      implicit midpoint rule; symmetric in time, constraints too
    ``"discrete_gradient"``   2      the same with a discrete gradient: dH = supplied - dissipated to round-off
    ========================  =====  ==========================================================================

    Orders are those of the states; multipliers have order 2 (``gauss2``), 3 (``radau3``), 1 (``midpoint``,
    ``discrete_gradient``) at the ends of steps. Models of the papers' bodies and what ``transformer``, ``gyrator``,
    ``inverted``, ``with_prefix`` and ``with_ports`` make of them are taken apart and integrated by their parts;
    a model of your own needs the methods of ``PortHamiltonianModel`` only.

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
        ModelError: no such port, or constraints that depend on each other.
        VelocityError: x0 violates the constraints.
        FunctionError: a function of the inputs raised.
        ConvergenceError: Newton's method fails in a step; ``.motion`` is the trajectory so far.
    """
    chosen = option("method", method, Method)
    start, lengths = _checked_state(model, x0), _step_lengths(duration, step)
    given = asked_inputs(model, inputs, start)
    quick = fast(model)
    equations = Equations(quick, given.function, start, given.depends_on_state)
    _refuse_inconsistent(equations, start)
    record = _Record(chosen, model, equations, start)
    loop = stage_loop(chosen, equations, start)
    try:
        for k, length in enumerate(lengths):
            record.add(loop.advance(k * step, length, record.last))
            if len(record.steps) == CHUNK:
                record.balance(loop.tableau.weights)
    except ConvergenceError as error:
        error.motion = record.trajectory(loop.tableau.weights)
        raise
    return record.trajectory(loop.tableau.weights)


def consistent_state(model: PortHamiltonianModel, x: ArrayLike, inputs: GivenInputs = None) -> Array:
    """The state moved along the constraint forces, E dx = J mu, onto the constraints at t = 0, shape (n,).

    Of all states that do it is the nearest in kinetic energy: the one after a blow of the joints.

    Args:
        x: shape (n,).
        inputs: as of ``integrate``.

    Raises:
        ParameterError: a wrong shape.
        ModelError: constraints that depend on each other.
    """
    start = _checked_state(model, x)
    given = asked_inputs(model, inputs, start)
    equations = Equations(fast(model), given.function, start, given.depends_on_state)
    try:
        return equations.projected(0.0, start)
    except np.linalg.LinAlgError:
        raise ModelError(DEPENDENT) from None


@dataclass(eq=False)
class _Record:
    """Steps as they come; sums over their stages are taken many steps at a time."""

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

    @property
    def last(self) -> Array:
        """The state that the next step begins with, shape (n,)."""
        return self.states[-1]

    def add(self, step: Step) -> None:
        """One more step."""
        if len(self.states) == 1:
            self.states[0][self.equations.is_algebraic] = step.first_multipliers
        self.steps.append(step)
        self.states.append(step.end)
        self.lengths.append(step.length)

    def balance(self, weights: Array) -> None:
        """Work and dissipation of the steps that have been added since the last time."""
        if not self.steps:
            return
        equations, count = self.equations, len(self.steps)
        x, rates, z = (
            np.concatenate([getattr(step, name) for step in self.steps]) for name in ("stages", "rates", "efforts")
        )
        u = equations.inputs_at(np.concatenate([step.times for step in self.steps]), x)
        supplied = (u * equations.model.output_products(x, z)).sum(axis=1)
        moving = np.where(equations.is_algebraic, 0.0, rates)
        stored = (z * equations.model.descriptor_products(x, moving)).sum(axis=1)
        each = np.array([supplied, supplied - stored]).reshape(2, count, len(weights)) @ weights
        self.work.append(each * [step.length for step in self.steps])
        self.steps.clear()

    def trajectory(self, weights: Array) -> Trajectory:
        """Everything so far."""
        self.balance(weights)
        time, states = np.concatenate([[0.0], np.cumsum(self.lengths)]), np.array(self.states)
        model, nothing = self.equations.model, np.zeros((2, 1))
        supplied, dissipated = np.cumsum(np.hstack([nothing, *self.work]), axis=1)
        return Trajectory(
            method=self.method.value,
            state_blocks=self.model.states,
            ports=self.model.ports,
            time=time,
            states=states,
            inputs=self.equations.inputs_at(time, states),
            outputs=model.output_products(states, model.efforts(states)),
            energy=model.storages(states),
            supplied=supplied,
            dissipated=dissipated,
        )


def _checked_state(model: PortHamiltonianModel, x: ArrayLike) -> Array:
    check_model("model", model)
    state = numbers("the state", x, f"numbers of shape ({model.state_size},)")
    if state.shape != (model.state_size,) or not np.isfinite(state).all():
        names = ", ".join(f"{block.name} ({block.size})" for block in model.states)
        raise ParameterError(
            f"the state must be {model.state_size} finite numbers ({names}), got an array of shape {state.shape}"
        )
    return state


def _step_lengths(duration: float, step: float) -> list[float]:
    """Equal steps, and a shorter one at the end where the duration asks for it."""
    whole, length = positive("duration", duration), positive("step", step)
    count = int(np.floor(whole / length * (1 + SLACK)))
    rest = whole - count * length
    return [length] * count + ([rest] if rest > SLACK * whole else [])


def _refuse_inconsistent(equations: Equations, x: Array) -> None:
    if not equations.has_constraints:
        return
    try:
        moved = np.abs(equations.projected(0.0, x) - x)
    except np.linalg.LinAlgError:
        raise ModelError(DEPENDENT) from None
    begins = equations.block_begins
    gap, size = np.maximum.reduceat(moved, begins), np.maximum.reduceat(np.abs(x), begins)
    if (gap > np.maximum(CONSISTENT * size, ROUND_OFF)).any():
        worst = float(np.abs(equations.gaps(0.0, x[None])).max())
        raise VelocityError(
            f"x0 violates the constraints: their residual is {worst:.3g} at t = 0. Give velocities that obey the "
            "joints and the driven ports, or take phlexible.consistent_state(model, x0, inputs)"
        )
