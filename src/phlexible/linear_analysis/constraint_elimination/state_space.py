"""The matrices A, B, C, D of a model without multipliers, for control software and ``.mat`` files."""

from collections.abc import Sequence
from os import PathLike

import numpy as np
from scipy import io, linalg

from phlexible.algebra.arrays import Array
from phlexible.algebra.options import file_path
from phlexible.errors import ModelError, ParameterError, ResultFileError
from phlexible.linear_analysis.constraint_elimination.algebraic_states import algebraic_states
from phlexible.linear_analysis.constraint_elimination.standard_form import without_constraints
from phlexible.linear_analysis.first_order.prescribed_velocities import StateSpaceMatrices, prescribed_state_space
from phlexible.linear_analysis.observed import ObservedPHDAE

LARGEST = 4000
SINGULAR = 1e-14


def state_space_matrices(model: ObservedPHDAE, accelerations: Sequence[str] = ()) -> StateSpaceMatrices:
    """The dense matrices; multipliers are eliminated first.

    Args:
        accelerations: ports or inputs that prescribe a velocity, given by its rate instead.

    Raises:
        ParameterError: accelerations that name no such input.
        ModelError: more than 4000 states, or an E that is singular beyond multipliers of constraints.
    """
    if model.mechanics is not None:
        freedom = model.mechanics.size - model.mechanics.constraint_matrix.shape[0]
        if 2 * freedom > LARGEST:
            raise ModelError(
                f"a dense state space of {2 * freedom} states is refused (at most {LARGEST}); reduce first"
            )
    if model.order > LARGEST and model.mechanics is None:
        raise ModelError(
            f"a dense state space of {model.order} states is refused (at most {LARGEST}); reduce first"
        )
    algebraic = algebraic_states(model)
    if accelerations or model.port_map[algebraic].nnz or model.output_matrix[:, algebraic].any():
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
    rows = model.output_matrix
    differentiated = np.array(model.differentiations, dtype=bool)[:, None]
    C = np.where(differentiated, rows @ A, rows)
    D = np.where(differentiated, rows @ B, 0.0)
    return StateSpaceMatrices(A, B, C, D, model.state_names, model.inputs, model.outputs)


def save_mat(matrices: StateSpaceMatrices, path: str | PathLike[str]) -> None:
    """Writes A, B, C, D and the names as cell arrays to a MATLAB file (level 5).

    Raises:
        ParameterError: a path that does not end in ``.mat``.
        ResultFileError: the file cannot be written.
    """
    if not file_path("path", path).endswith(".mat"):
        raise ParameterError(f"the path of a MATLAB file must end in .mat, got {str(path)!r}")
    variables: dict[str, object] = {name: getattr(matrices, name) for name in "ABCD"}
    for name in ("states", "inputs", "outputs"):
        variables[name] = np.array(getattr(matrices, name), dtype=object)
    try:
        io.savemat(str(path), variables)
    except OSError as error:
        raise ResultFileError(f"cannot write {path}: {error}") from error
