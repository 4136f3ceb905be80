"""A linear model with a controller around it (docs/theory.md, 8)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigvals, matrix_balance, qr, svd

from phlexible.algebra.arrays import Array
from phlexible.description.interactions.feedback import (
    Feedback,
    LinearController,
    discretized,
    linear_controller,
    sample_controller,
)
from phlexible.description.interactions.functions import receive
from phlexible.description.mechanism.membership import ports_of
from phlexible.display import short_repr
from phlexible.errors import ModelError, ParameterError
from phlexible.linear.first_order import StateSpaceMatrices

if TYPE_CHECKING:
    from control import StateSpace

ROUND_OFF = 1e-9
DRIFT, REDUCED = 4e-15, 1e-11  # of the fastest rate: round-off of a state matrix, and of a sampled or reduced one


@dataclass(frozen=True, eq=False)
class ClosedLoop:
    """Linear model with a controller: dx/dt = A x + B u, or x_{k+1} = A x_k + B u_k if discrete, and y = C x + D
    u.

    States are those of the linear model, then those of the controller. Inputs are all those of the linear model, to
    which the controller adds its values; with ``follows`` the targets of what is measured come after them.

    Attributes:
        matrices: A, B, C, D with names.
        period: of the samples [s]; None: continuous.
    """

    matrices: StateSpaceMatrices
    period: float | None

    __repr__ = short_repr

    @property
    def poles(self) -> Array:
        """Return the poles of the closed loop of a linear model and a controller: the eigenvalues of its state
        matrix A, complex, shape (states,). The poles nearest to the imaginary axis come first, or nearest to the
        unit circle for a sampled loop. Unstable poles come before all others."""
        found = eigvals(self.matrices.A) if len(self.matrices.A) else np.zeros(0)
        margin = -found.real if self.period is None else 1.0 - np.abs(found)
        return np.asarray(found[np.argsort(margin, kind="stable")])

    @property
    def rates(self) -> Array:
        """Return the poles of the closed loop as complex rates s of exp(s t), shape (states,) [1/s]. For a
        continuous loop they are ``poles``; for a sampled loop with eigenvalues z they are log(z) / period."""
        if self.period is None:
            return self.poles
        with np.errstate(divide="ignore"):  # states of pure delay are gone after some samples
            return np.asarray(np.log(self.poles.astype(np.complex128)) / self.period)

    @property
    def frequencies(self) -> Array:
        """Return the absolute values of the complex rates of the closed loop, its natural frequencies, shape
        (states,) [rad/s], in the order of ``poles``."""
        return np.asarray(np.abs(self.rates))

    @property
    def damping_ratios(self) -> Array:
        """Return the damping ratio -Re(s) / |s| of each complex rate s of the closed loop, shape (states,), in the
        order of ``poles``. It is 1 where the rate is zero or infinite."""
        rates = self.rates
        size = np.abs(rates)
        finite = (size > 0) & np.isfinite(size)
        return np.where(finite, -rates.real / np.where(finite, size, 1.0), 1.0)

    @property
    def drifting(self) -> tuple[str, ...]:
        """Return the names of states of the closed loop that nothing returns to rest (poles at zero), such as the
        position of a free hub. They are the pivots of a QR factorization of the null space of the state matrix,
        one name for each independent motion."""
        if not len(self.matrices.A):
            return ()
        rates, scale = self._balanced
        _, sizes, rows = svd(rates)
        left = rows[sizes <= self._drift * sizes[0]] * scale[0]
        chosen = qr(left, mode="r", pivoting=True)[1][: len(left)] if len(left) else ()
        return tuple(self.matrices.states[k] for k in sorted(chosen))

    @property
    def is_stable(self) -> bool:
        """Return whether every motion of the closed loop decays: ``is_stable_except_drift`` is true and no state
        drifts (``drifting``). A loop with a free hub is not stable in this sense."""
        return self.is_stable_except_drift and not self.drifting

    @property
    def is_stable_except_drift(self) -> bool:
        """Return whether every motion of this closed loop decays except drift: states that stay constant or change
        with constant velocity. States with poles at zero (at one for a discrete loop) are removed step by step by
        singular value decompositions. All remaining poles must be stable."""
        rates, largest, level = self._balanced[0], 0.0, self._drift
        while len(rates):
            _, sizes, rows = svd(rates)
            largest = max(largest, sizes[0])
            moving = rows[sizes > level * largest]
            if len(moving) == len(rates):
                break
            rates, level = moving @ rates @ moving.T, REDUCED
        found = eigvals(rates) if len(rates) else np.zeros(0)
        return bool(((found.real if self.period is None else np.abs(found + 1.0) - 1.0) < 0).all())

    @property
    def _drift(self) -> float:
        return DRIFT if self.period is None else REDUCED

    @property
    def _balanced(self) -> tuple[Array, Array]:
        """Return the balanced state matrix A (for a sampled loop A - I), and the scale factors and permutation of
        the states from the balancing. Balancing is a similarity transformation that makes rows and columns similar
        in size. States are scaled, but not permuted."""
        A = self.matrices.A
        found: tuple[Array, Array] = matrix_balance(
            A if self.period is None else A - np.eye(len(A)), permute=False, separate=True
        )
        return found

    def to_state_space(self) -> "StateSpace":
        """Return the closed loop as a ``StateSpace`` of python-control with named states, inputs and outputs.

        Raises:
            MissingExtraError: python-control is not installed.
        """
        return self.matrices.for_control(self.period)


def closed_loop(
    plant: StateSpaceMatrices,
    controller: Any,
    on: Sequence[str] | None,
    measured: Sequence[str] | None,
    follows: bool,
    period: float | None,
) -> ClosedLoop:
    """Return the closed loop of a linear ``plant`` and a ``controller`` that reads the outputs ``measured`` and
    acts on the inputs ``on`` (None: all). With ``follows`` the controller gets target - measured. With a
    ``period`` [s], or a discrete controller, both are discretized with zero-order hold. ParameterError is raised
    if the numbers of inputs and outputs differ."""
    delay = 0
    if isinstance(controller, Feedback):
        receive(controller, *ports_of(controller))
        if period is not None and controller.period != period:
            raise ParameterError(f"period is that of the Feedback, {controller.period!r}; leave period= out")
        if controller.law is None:
            raise ParameterError(
                "a Feedback with a function has no matrices; give a StateSpace or TransferFunction"
            )
        law, period, delay = controller.law, controller.period, controller.delay_periods
        follows = follows or controller.target is not None
    else:
        given = linear_controller(controller)
        if given is None:
            raise ParameterError(f"controller must be a StateSpace or TransferFunction, got {controller!r}")
        law = given
        if law.is_discrete:
            period = law.period if period is None else period
            if period is None:
                raise ParameterError("a discrete controller needs its period: period= [s], or dt= of the system")
    if period is not None:
        A, B = discretized(plant.A, plant.B, period)
        plant = replace(plant, A=A, B=B)
        law = law if law.is_discrete else sample_controller(law, period)
    enter = _selected("on", on, plant.inputs)
    leave = _selected("measured", measured, plant.outputs)
    if (law.inputs, law.outputs) != (len(leave), len(enter)):
        raise ParameterError(
            f"the controller has {law.inputs} inputs and {law.outputs} outputs; it measures {len(leave)} of"
            f" {list(plant.outputs)}, acts on {len(enter)} of {list(plant.inputs)}: choose with measured= and on="
        )
    return ClosedLoop(_joined(plant, _delayed(law, delay), enter, leave, follows), period)


def _joined(
    plant: StateSpaceMatrices, law: LinearController, enter: list[int], leave: list[int], follows: bool
) -> StateSpaceMatrices:
    sign = -1.0 if follows else 1.0
    B, C, D = plant.B[:, enter], plant.C[leave], plant.D[np.ix_(leave, enter)]
    loop = np.eye(len(enter)) - sign * law.D @ D
    if np.linalg.cond(loop) > 1 / ROUND_OFF:
        raise ModelError("the loop is not well posed: its direct feedthrough is singular")
    # values of the controller, u = of_plant x + of_law z + of_inputs w + of_targets r
    of_plant, of_law = (np.linalg.solve(loop, each) for each in (sign * law.D @ C, law.C))
    of_inputs = np.linalg.solve(loop, sign * law.D @ plant.D[leave])
    of_targets = np.linalg.solve(loop, law.D)
    seen = [C + D @ of_plant, D @ of_law, plant.D[leave] + D @ of_inputs, D @ of_targets]
    A = np.block([[plant.A + B @ of_plant, B @ of_law], [sign * law.B @ seen[0], law.A + sign * law.B @ seen[1]]])
    through = plant.D[:, enter]
    inputs, targets = np.vstack([plant.B + B @ of_inputs, sign * law.B @ seen[2]]), np.zeros((len(A), 0))
    straight, names = plant.D + through @ of_inputs, tuple(plant.inputs)
    if follows:
        targets = np.vstack([B @ of_targets, law.B + sign * law.B @ seen[3]])
        straight = np.hstack([straight, through @ of_targets])
        names = (*names, *(f"target of {plant.outputs[k]}" for k in leave))
    return StateSpaceMatrices(
        A,
        np.hstack([inputs, targets]),
        np.hstack([plant.C + through @ of_plant, through @ of_law]),
        straight,
        (*plant.states, *(f"controller {k}" for k in range(law.order))),
        names,
        plant.outputs,
    )


def _delayed(law: LinearController, samples: int) -> LinearController:
    """Return a discrete linear controller whose outputs are the outputs of ``law``, delayed by ``samples``
    sampling periods. Each period of delay adds one state for each output, which stores the output until the next
    period. Without delay ``law`` itself is returned."""
    for _ in range(samples):
        n, outputs = law.order, law.outputs
        A = np.block([[law.A, np.zeros((n, outputs))], [law.C, np.zeros((outputs, outputs))]])
        C = np.hstack([np.zeros((outputs, n)), np.eye(outputs)])
        law = LinearController(A, np.vstack([law.B, law.D]), C, np.zeros_like(law.D), True, law.period)
    return law


def _selected(name: str, names: Sequence[str] | None, known: tuple[str, ...]) -> list[int]:
    if names is None:
        return list(range(len(known)))
    if not isinstance(names, list | tuple):
        raise ParameterError(f"{name} must be a list of names, got {names!r}")
    for each in names:
        if each not in known:
            raise ParameterError(f"{name} has {each!r}; there are {list(known)}")
    return [known.index(each) for each in names]
