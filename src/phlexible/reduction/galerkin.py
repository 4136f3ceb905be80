"""Galerkin models of states: ``x = V a`` tested with Q V, so that ``V^T W V = I`` makes a the energy coordinates.

``da/dt = (Z^T (J - R) Z) a + Z^T N lambda + Z^T B u`` with Z = Q V: skewness and definiteness stay, and where the
columns of V obey the constraints, the multipliers drop out. Where inputs prescribe velocities they stay.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from phlexible.algebra.arrays import Array, IntArray
from phlexible.errors import ModelError
from phlexible.linear_analysis.constraint_elimination.algebraic_states import dynamic_and_multipliers
from phlexible.linear_analysis.first_order.energy_form import orthonormal_ties
from phlexible.linear_analysis.observed import ObservedPHDAE, dense_model

HELD = 1e-9
ROUND_OFF = 1e-14


@dataclass(frozen=True, eq=False)
class StateBasis:
    """A basis of states of a model.

    Attributes:
        columns: V, orthonormal in the energy, zero at multipliers, shape (order of the model, k).
        method: for the names of the new states.
        prescribed: how many of the columns, the first ones, inputs prescribe or joint forces are read from.
    """

    columns: Array
    method: str
    prescribed: int = 0


def state_galerkin(model: ObservedPHDAE, basis: StateBasis) -> ObservedPHDAE:
    """The reduced model; without multipliers if the model is proper."""
    V = basis.columns
    Z = np.asarray(model.effort_matrix @ V)
    J, R = Z.T @ (model.structure @ Z), Z.T @ (model.dissipation @ Z)
    R[:, still := np.diag(R) <= ROUND_OFF * np.abs(R).max(initial=0.0)] = 0.0  # semi-definite, so rows are zero
    R[still] = 0.0
    B, C = np.asarray(Z.T @ model.port_map), model.output_matrix @ V
    _, tied = dynamic_and_multipliers(model)
    ties, ports, outputs = _kept_ties(model, Z, tied)
    k, m = V.shape[1], ties.shape[1]
    nothing = np.zeros((m, m))
    matrices = (
        linalg.block_diag(np.eye(k), nothing),
        np.block([[(J - J.T) / 2, ties], [-ties.T, nothing]]),
        linalg.block_diag((R + R.T) / 2, nothing),
        np.vstack([B, ports]),
        np.eye(k + m),
    )
    names = (
        *(f"{basis.method} state {i}" for i in range(k)),
        *(f"multiplier {i}" for i in range(m)),
    )
    return dense_model(model, matrices, np.hstack([C, outputs]), names)


def _kept_ties(model: ObservedPHDAE, Z: Array, tied: IntArray) -> tuple[Array, Array, Array]:
    """Forces of the multipliers that inputs or outputs need, their ports and outputs."""
    forces = np.asarray(Z.T @ model.structure[:, tied])
    ports, outputs = model.port_map[tied].toarray(), model.output_matrix[:, tied]
    if not ports.any() and not outputs.any():
        size = abs(model.structure[:, tied]).max() * np.abs(Z).max(initial=0.0) if tied.size else 0.0
        assert np.abs(forces).max(initial=0.0) <= HELD * size, "columns of V obey the constraints"
        return np.zeros((Z.shape[1], 0)), ports[:0], outputs[:, :0]
    lengths = np.linalg.norm(model.structure[:, tied].toarray(), axis=0)
    forces[:, np.linalg.norm(forces, axis=0) < HELD * lengths * np.abs(Z).max(initial=0.0)] = 0.0
    try:
        ties, ports, outputs, _ = orthonormal_ties(forces, ports, outputs)
    except ModelError as error:
        raise ModelError(f"{error}; or take a higher order") from error
    return ties, ports, outputs
