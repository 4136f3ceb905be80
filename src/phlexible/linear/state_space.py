"""State spaces A, B, C, D, also where inputs prescribe velocities."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from scipy import io, linalg

from phlexible.algebra.arrays import Array, file_path
from phlexible.errors import ModelError, ParameterError, writing
from phlexible.extras import optional
from phlexible.linear.constraint_elimination import algebraic_states, without_constraints
from phlexible.linear.first_order import energy_form
from phlexible.linear.observed import ObservedPHDAE

if TYPE_CHECKING:
    from control import StateSpace

# State spaces of models whose inputs prescribe velocities, or whose outputs are joint forces (docs/theory.md, 7).
#
# In energy coordinates with ``N^T y = T u`` the states are a of y = P a + N T u. Their rates hold no du/dt, but
# the multipliers ``lambda = T du/dt - N^T (J - R) y - N^T B u`` do, and so do accelerations: the model is improper
# where an output answers to du/dt. There the acceleration du/dt is the input to take, as in two-input two-output
# port models.

ROUND_OFF = 1e-12


@dataclass(frozen=True, eq=False)
class StateSpaceMatrices:
    """Matrices of a state space with names of states, inputs and outputs. The equations are ``dx/dt = A x + B u``,
    ``y = C x + D u``.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def for_control(self, period: float | None = None) -> "StateSpace":
        """Return these matrices as a ``StateSpace`` of python-control with names of states, inputs and outputs.
        Underscores stand for dots in them, which python-control reserves for subsystems. ``period`` is that of the
        samples [s]; None: continuous.

        Raises:
            MissingExtraError: python-control is not installed.
        """
        names = {
            kind: [name.replace(".", "_") for name in getattr(self, kind)]
            for kind in ("states", "inputs", "outputs")
        }
        return optional("control", "control").ss(self.A, self.B, self.C, self.D, period or 0, **names)


def prescribed_state_space(model: ObservedPHDAE, accelerations: Sequence[str]) -> StateSpaceMatrices:
    """Return the state-space matrices A, B, C, D of a linear model of which some inputs prescribe velocities. Of
    the inputs named in ``accelerations``, the velocities become states and their rates become the inputs.

    Raises:
        ParameterError: accelerations of inputs that prescribe no velocity.
        ModelError: outputs that answer to the rate of another input, named with it.
    """
    form = energy_form(model)
    is_rate = _rate_inputs(model, accelerations, form.tie_ports)
    prescribed = form.ties @ form.tie_ports
    A, B, C = form.on_free_states(form.structure - form.dissipation), form.free_ports, form.free_outputs
    D = form.seen @ prescribed - form.tie_outputs @ form.ties.T @ form.ports
    D_rate = form.tie_outputs @ form.tie_ports
    later = np.array(model.differentiations, dtype=bool)
    if form.tie_outputs[later].any():
        raise ModelError("rates of joint forces are no outputs of a state space")
    D_rate[later], D[later], C[later] = (form.outputs @ prescribed)[later], C[later] @ B, C[later] @ A
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


def _rate_inputs(model: ObservedPHDAE, accelerations: Sequence[str], tie_ports: Array) -> Array:
    """Return a mask of the inputs of a linear model that are to be given by their rates, shape (inputs,).
    They are named in ``accelerations`` and must prescribe velocities. ``tie_ports`` is the matrix of inputs
    into constraints, shape (constraints, inputs)."""
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
    """Raise a ``ModelError`` if an output of a linear model depends on the rate of an input whose rate is not
    given. ``is_rate`` says which are given. There is no proper state space then; ``D_rate``, shape (outputs,
    inputs), is the dependence."""
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


# The matrices A, B, C, D of a model without multipliers, for control software and ``.mat`` files.

LARGEST = 4000
SINGULAR = 1e-14


def state_space_matrices(model: ObservedPHDAE, accelerations: Sequence[str] = ()) -> StateSpaceMatrices:
    """Return the dense state-space matrices A, B, C, D of a linear model: ``dx/dt = A x + B u``, ``y = C x +
    D u``; multipliers of constraints are eliminated first. Inputs named in ``accelerations`` prescribe a
    velocity by its rate instead.

    Args:
        accelerations: ports or inputs that prescribe a velocity, given by its rate instead.

    Raises:
        ParameterError: accelerations that name no such input.
        ModelError: more than 4000 states, or an E that is singular beyond multipliers of constraints.
    """
    mechanics = model.mechanics
    states = model.order if mechanics is None else 2 * mechanics.freedom + mechanics.inner_count
    if states > LARGEST:
        raise ModelError(f"a dense state space of {states} states is refused (at most {LARGEST}); reduce first")
    algebraic = algebraic_states(model)
    if accelerations or model.port_map[algebraic].nnz or model.output_matrix[:, algebraic].nnz:
        return prescribed_state_space(model, accelerations)
    model = without_constraints(model)
    E = model.descriptor.toarray()
    size = np.abs(E).max(axis=1)
    lower_upper, pivots, _ = linalg.lapack.dgetrf(E / np.where(size > 0, size, 1.0)[:, None])
    if not size.all() or np.abs(np.diag(lower_upper)).min() < SINGULAR:
        raise ModelError("E is singular: some states have no inertia, and a state space needs a regular E")

    def solved(matrix: Array) -> Array:
        return np.asarray(linalg.lu_solve((lower_upper, pivots), matrix / size[:, None]))

    A, B = solved(model.system_matrix.toarray()), solved(model.port_map.toarray())
    rows = model.output_matrix.toarray()
    differentiated = np.array(model.differentiations, dtype=bool)[:, None]
    C = np.where(differentiated, rows @ A, rows)
    D = np.where(differentiated, rows @ B, 0.0)
    return StateSpaceMatrices(A, B, C, D, model.state_names, model.inputs, model.outputs)


def save_mat(matrices: StateSpaceMatrices, path: str | PathLike[str]) -> None:
    """Save state-space ``matrices`` A, B, C, D and the names of states, inputs and outputs to a MATLAB file
    (level 5) at ``path``. Names are cell arrays.

    Raises:
        ParameterError: a path that does not end in ``.mat``.
        ResultFileError: the file cannot be written.
    """
    if not file_path("path", path).endswith(".mat"):
        raise ParameterError(f"the path of a MATLAB file must end in .mat, got {str(path)!r}")
    variables: dict[str, object] = {name: getattr(matrices, name) for name in "ABCD"}
    for name in ("states", "inputs", "outputs"):
        variables[name] = np.array(getattr(matrices, name), dtype=object)
    with writing(path):
        io.savemat(str(path), variables)
