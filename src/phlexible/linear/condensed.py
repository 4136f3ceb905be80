"""Models of velocities and stresses as motions: stresses eliminated element by element, at any size."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.elimination import null_space
from phlexible.algebra.sparse import natural_scale
from phlexible.linear.constraint_elimination import dynamic_and_multipliers
from phlexible.linear.first_order import StateKind, kinds_of_states
from phlexible.linear.mechanics import LinearMechanics
from phlexible.linear.observed import ObservedPHDAE
from phlexible.linear.symmetric_modes import lowest_symmetric_modes, static_responses

# Velocities v = Q_v x_v and stresses (or displacements) x_s without losses or couplings of their own::
#
#     E_v dx_v/dt = -(D + C) v - L^T Q_s x_s + G^T lambda + F u,    E_s dx_s/dt = L v + S u,    G v = T u
#
# are those of motions x with v = dx/dt, x_s = E_s^-1 L x, mass E_v Q_v^-1 and stiffness L^T Q_s E_s^-1 L. Stresses
# of one element are coupled with no others, as a rule, so that E_s^-1 is sparse: its blocks are inverted.

LARGEST = 4000  # states that are coupled with each other
ROUND_OFF = 1e-13


@dataclass(frozen=True, eq=False)
class CondensedModel:
    """Linear model of velocities and stresses rewritten as a second-order model of motions, with stresses
    eliminated.

    Attributes:
        model: the linear model of velocities and stresses.
        mechanics: second-order model of the n motions, without inputs and outputs.
        velocities, stresses: indices of the velocities and of the stresses among the states.
        multipliers: indices of the independent multipliers among the states.
        to_velocities: Q_v^-1, shape (n, n).
        strained: E_s^-1, shape (stresses, stresses).
        to_stresses: E_s^-1 L, shape (stresses, n).
    """

    model: ObservedPHDAE
    mechanics: LinearMechanics
    velocities: IntArray
    stresses: IntArray
    multipliers: IntArray
    to_velocities: sparse.csr_array
    strained: sparse.csr_array
    to_stresses: sparse.csr_array

    @cached_property
    def energies(self) -> sparse.csr_array:
        """Block of the energy matrix that belongs to the stress states of the linear model, shape (stresses,
        stresses), sparse."""
        return _part(self.model.energy_matrix, self.stresses, self.stresses)

    @cached_property
    def stress_count(self) -> int:
        """Number of independent stresses that store energy in the linear model of velocities and stresses: the rank
        of the energy matrix of its stress states."""
        return sum(_rank(dense) for _, dense in _blocks(self.energies))

    @cached_property
    def forces(self) -> sparse.csr_array:
        """Sparse matrix (n, inputs) whose columns are the generalized forces of unit inputs in the second-order
        equations of motion. An input that stands in the equations of the stresses prescribes a strain rate; its
        column is the generalized force that belongs to the corresponding unit strain.
        """
        B = self.model.port_map
        return sparse.csr_array(B[self.velocities] - self.forces_of_stresses @ (self.strained @ B[self.stresses]))

    @cached_property
    def forces_of_stresses(self) -> sparse.csr_array:
        """Matrix, shape (n, stresses), that converts stress states to generalized forces on the n motions of the
        second-order model."""
        s = self.stresses
        return sparse.csr_array(
            _part(self.model.structure, self.velocities, s) @ _part(self.model.effort_matrix, s, s)
        )

    @cached_property
    def seen(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Output matrices C_v of the rates and C_s of the displacements of the n motions x of the second-order
        model. Outputs are ``y = C_v dx/dt + C_s x``; each matrix has the shape (outputs, n)."""
        C = self.model.output_matrix
        return (
            sparse.csr_array(C[:, self.velocities] @ self.to_velocities),
            sparse.csr_array(C[:, self.stresses] @ self.to_stresses),
        )

    @property
    def is_direct(self) -> bool:
        """Whether the linear model has only inputs that are forces on velocities, and only outputs that do not
        contain multipliers of constraints. Its second-order form then describes the response completely."""
        model, others = self.model, np.setdiff1d(np.arange(self.model.order), self.velocities)
        tied = np.setdiff1d(others, self.stresses)
        return not model.port_map[others].nnz and not model.output_matrix[:, tied].nnz

    @cached_property
    def tied_motions(self) -> Array:
        """Static displacements of least strain energy, shape (n, k), that constraints of interest demand. These are
        constraints on which inputs act (prescribed velocities), or whose forces are outputs: there is one column
        for each such input, then for each such output. The constraint values of a column equal the column of the
        input matrix, or the row of the output matrix, at the multipliers. The shape is (n, 0) if there are none.
        """
        model, ties = self.model, self.multipliers
        wanted = sparse.hstack([model.port_map[ties], model.output_matrix[:, ties].T]).tocsc()
        wanted = wanted[:, np.flatnonzero(np.diff(wanted.indptr))].toarray()
        if not wanted.size:
            return np.zeros((self.mechanics.size, 0))
        mechanics, nothing = self.mechanics, np.zeros((self.mechanics.size, wanted.shape[1]))
        modes = lowest_symmetric_modes(mechanics, lowest_symmetric_modes(mechanics, 1).rigid + 1)
        return static_responses(mechanics, modes, nothing, wanted)

    def directions(self, with_tied: bool) -> tuple[sparse.sparray, sparse.sparray]:
        """Return force columns (n, k) and output rows (m, n) of the second-order model, both sparse, from which
        reduction bases are built. The columns are the forces of all inputs; the rows measure velocities first, then
        displacements. If ``with_tied``, inertia forces, and damping or gyroscopic forces if there are any, of the
        motions ``tied_motions`` are appended to columns and rows.

        Args:
            with_tied: whether forces and rows of ``tied_motions`` are included: of constraints that inputs
                prescribe or outputs read.
        """
        mechanics, tied = self.mechanics, self.tied_motions if with_tied else np.zeros((self.mechanics.size, 0))
        rates = sparse.csr_array(mechanics.velocity + mechanics.damping)
        inertia = [sparse.csc_array(matrix @ tied) for matrix in (mechanics.mass, rates) if matrix.nnz]
        forces = sparse.hstack([self.forces, *inertia])
        rows = sparse.vstack([*self.seen, *(each.T for each in inertia)])
        return forces, rows

    def velocity_states(self, motions: NDArray[Any]) -> NDArray[Any]:
        """Return states of the first-order model, shape (order, columns), whose velocities are the given motions,
        shape (n, columns), and whose stresses are zero."""
        states = np.zeros((self.model.order, motions.shape[1]), dtype=motions.dtype)
        states[self.velocities] = self.to_velocities @ motions
        return states

    def strain_states(self, motions: NDArray[Any]) -> NDArray[Any]:
        """Return states of the first-order model, shape (order, columns), whose stresses are those under the
        displacements ``motions``, shape (n, columns), and whose velocities are zero."""
        states = np.zeros((self.model.order, motions.shape[1]), dtype=motions.dtype)
        states[self.stresses] = self.to_stresses @ motions
        return states


def condensed(model: ObservedPHDAE) -> CondensedModel | None:
    """Convert a first-order linear model of velocities and stresses to a second-order model by eliminating the
    stresses. Return a ``CondensedModel`` with mass, damping, stiffness and independent constraints. Return None if
    a state is neither velocity nor stress, or stresses have losses or other couplings than to velocities. Return
    None too if more than 4000 stresses are coupled in one block.

    Raises:
        ModelError: an E that is singular beyond multipliers of constraints.
    """
    moving, tied = dynamic_and_multipliers(model)
    kinds = kinds_of_states(model)[moving]
    if (kinds == StateKind.UNKNOWN).any():
        return None
    v, s = moving[kinds == StateKind.VELOCITY], moving[kinds == StateKind.STRESS]
    E, J, R, Q = model.descriptor, model.structure, model.dissipation, model.effort_matrix
    others = ((E, v, s), (E, s, v), (Q, v, s), (Q, s, v), (J, s, s), (R, s, s), (R, s, v), (J, s, tied))
    if not all(_is_zero(*each) for each in others):
        return None
    strained, to_velocities = (_inverse(_part(matrix, index, index)) for matrix, index in ((E, s), (Q, v)))
    if strained is None or to_velocities is None:
        return None
    rate = _part(J, s, v)
    to_stresses = sparse.csr_array(strained @ rate)
    mass = sparse.csr_array(_part(E, v, v) @ to_velocities)
    if not (mass.diagonal() > 0).all():
        return None
    ties = sparse.csr_array(-J[tied][:, v])
    ties.eliminate_zeros()
    independent = null_space(ties, natural_scale(mass), allow_dependent=True).rows if tied.size else tied
    n = len(v)
    mechanics = LinearMechanics(
        mass,
        -_part(J, v, v),
        _part(R, v, v),
        sparse.csr_array(rate.T @ (_part(Q, s, s) @ to_stresses)),
        ties[independent],
        np.zeros((n, 0)),
        np.zeros((0, n)),
        (),
    )
    return CondensedModel(model, mechanics, v, s, tied[independent], to_velocities, strained, to_stresses)


def _part(matrix: sparse.csr_array, rows: IntArray, columns: IntArray) -> sparse.csr_array:
    found = sparse.csr_array(matrix[rows][:, columns])
    found.eliminate_zeros()
    return found


def _is_zero(matrix: sparse.csr_array, rows: IntArray, columns: IntArray) -> bool:
    """Return whether the block ``rows``, ``columns`` of a sparse ``matrix`` is zero. Entries below round-off
    relative to the largest entry of their row of the whole matrix count as zero."""
    whole = abs(matrix[rows])
    found = sparse.coo_array(whole[:, columns])
    return not found.nnz or bool((found.data <= ROUND_OFF * whole.max(axis=1).toarray().ravel()[found.row]).all())


def _blocks(matrix: sparse.csr_array) -> Iterator[tuple[IntArray, Array]]:
    """Yield the diagonal blocks of a sparse matrix that is block diagonal up to a permutation, as dense arrays.
    Blocks are connected components of the sparsity pattern. All b blocks of one size k are yielded together, as row
    indices (b, k) and entries (b, k, k); sizes ascend.
    """
    count, label = connected_components(matrix, directed=False)
    size = np.bincount(label, minlength=count)
    order = np.argsort(label, kind="stable")
    start, inside = np.cumsum(size) - size, np.empty_like(order)
    inside[order] = np.arange(len(order)) - np.repeat(start, size)
    entries = matrix.tocoo()
    owners = label[entries.row]
    for k in np.unique(size):
        chosen = np.flatnonzero(size == k)
        index = np.full(count, -1)
        index[chosen] = np.arange(len(chosen))
        mine = index[owners] >= 0
        dense = np.zeros((len(chosen), k, k))
        rows, columns = entries.row[mine], entries.col[mine]
        dense[index[owners[mine]], inside[rows], inside[columns]] = entries.data[mine]
        yield order[start[chosen][:, None] + np.arange(k)], dense


def _inverse(matrix: sparse.csr_array) -> sparse.csr_array | None:
    """Return the inverse of a sparse block-diagonal matrix, computed by dense inverses of blocks whose rows are
    scaled by their largest entries. Return None if a block is singular up to round-off (by the norm of its
    inverse) or has more than 4000 rows. An empty matrix is returned itself."""
    if not matrix.shape[0]:
        return matrix
    _, label = connected_components(matrix, directed=False)
    if np.bincount(label).max() > LARGEST:
        return None
    found = []
    for states, dense in _blocks(matrix):
        size = np.abs(dense).max(axis=2, keepdims=True)  # of each row
        if not size.all():
            return None
        try:
            inverse = np.linalg.inv(dense / size)
        except np.linalg.LinAlgError:
            return None
        if np.abs(inverse).sum(axis=2).max() > 1 / ROUND_OFF:
            return None
        inverse = inverse / np.swapaxes(size, 1, 2)
        rows, columns = np.broadcast_arrays(states[:, :, None], states[:, None, :])
        found.append((inverse.ravel(), rows.ravel(), columns.ravel()))
    values, rows, columns = (np.concatenate(each) for each in zip(*found, strict=True))
    inverse = sparse.csr_array((values, (rows, columns)), shape=matrix.shape)
    inverse.eliminate_zeros()
    return inverse


def _rank(dense: Array) -> int:
    """Return the number of eigenvalues above round-off of all symmetric positive semi-definite matrices ``dense``
    (blocks, k, k) together, the sum of their ranks. Each matrix is first scaled to a unit diagonal."""
    scale = np.sqrt(np.abs(np.einsum("kii->ki", dense)))
    scale = 1 / np.where(scale > 0, scale, 1.0)
    values = np.linalg.eigvalsh(scale[:, :, None] * dense * scale[:, None, :])
    return int((values > ROUND_OFF * dense.shape[1]).sum())
