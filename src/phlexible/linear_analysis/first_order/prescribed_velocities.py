"""State spaces of models whose inputs prescribe velocities, or whose outputs are joint forces (docs/theory.md, 7).

In energy coordinates with ``N^T y = T u`` the states are a of y = P a + N T u. Their rates hold no du/dt, but the
multipliers ``lambda = T du/dt - N^T (J - R) y - N^T B u`` do, and so do accelerations: the model is improper where
an output answers to du/dt. There the acceleration du/dt is the input to take, as in two-input two-output port
models.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError, ParameterError
from phlexible.linear_analysis.first_order.energy_form import energy_form
from phlexible.linear_analysis.observed import ObservedPHDAE

ROUND_OFF = 1e-12


@dataclass(frozen=True, eq=False)
class StateSpaceMatrices:
    """``dx/dt = A x + B u``, ``y = C x + D u`` with names of states, inputs and outputs."""

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def prescribed_state_space(model: ObservedPHDAE, accelerations: Sequence[str]) -> StateSpaceMatrices:
    """States a, and the prescribed velocities whose rates are inputs.

    Raises:
        ParameterError: accelerations of inputs that prescribe no velocity.
        ModelError: outputs that answer to the rate of another input, named with it.
    """
    form = energy_form(model)
    rates, P, N, T = form.structure - form.dissipation, form.free, form.ties, form.tie_ports
    is_rate = _chosen(model, accelerations, T)
    A, B = form.among_free(rates), P.T @ (rates @ N @ T + form.ports)
    seen = form.tie_outputs @ N.T
    C = form.outputs @ P - seen @ rates @ P
    D = form.outputs @ N @ T - seen @ (rates @ N @ T + form.ports)
    D_rate = form.tie_outputs @ T
    later = np.array(model.differentiations, dtype=bool)
    if form.tie_outputs[later].any():
        raise ModelError("rates of joint forces are no outputs of a state space")
    D_rate[later], D[later], C[later] = (form.outputs @ N @ T)[later], C[later] @ B, C[later] @ A
    _check_proper(model, D_rate, is_rate)
    added = np.flatnonzero(is_rate)
    n, k, m = len(A), len(added), B.shape[1]
    inputs = np.where(is_rate, 0.0, B)
    integrators = np.zeros((k, m))
    integrators[np.arange(k), added] = 1.0
    return StateSpaceMatrices(
        np.block([[A, B[:, added]], [np.zeros((k, n + k))]]),
        np.vstack([inputs, integrators]),
        np.hstack([C, D[:, added]]),
        np.where(is_rate, D_rate, D),
        (*(f"state {i}" for i in range(n)), *(model.inputs[j] for j in added)),
        tuple(f"rate of {name}" if rate else name for name, rate in zip(model.inputs, is_rate, strict=True)),
        model.outputs,
    )


def _chosen(model: ObservedPHDAE, accelerations: Sequence[str], tie_ports: Array) -> Array:
    """Which inputs are given by their rates, shape (inputs,)."""
    if isinstance(accelerations, str):
        raise ParameterError(f"accelerations must be a list of ports or inputs, got {accelerations!r}")
    owners = [port.name for port in model.ports for _ in range(port.size)]
    prescribes = np.asarray(np.abs(tie_ports).any(axis=0))
    chosen = np.zeros(len(owners), dtype=bool)
    for name in accelerations:
        found = np.array([name in pair for pair in zip(owners, model.inputs, strict=True)])
        if not (found & prescribes).any() or (found & ~prescribes).any():
            known = ", ".join(each for each, does in zip(model.inputs, prescribes, strict=True) if does) or "none"
            raise ParameterError(
                f"accelerations must name inputs that prescribe a velocity ({known}), got {name!r}"
            )
        chosen |= found
    return chosen


def _check_proper(model: ObservedPHDAE, D_rate: Array, is_rate: Array) -> None:
    """Refuses outputs that answer to the rate of an input that is not given by its rate."""
    improper = np.where(is_rate, 0.0, np.abs(D_rate)) > ROUND_OFF * np.abs(D_rate).max(initial=0.0)
    if not improper.any():
        return
    output, given = np.argwhere(improper)[0]
    others = int(improper.sum()) - 1
    raise ModelError(
        f"the model is improper: {model.outputs[output]!r} answers to the rate of {model.inputs[given]!r}"
        + (f", and {others} other pairs do alike" if others else "")
        + "; give rates instead, to_state_space(accelerations=[...]), leave the outputs out, or connect the port"
    )
