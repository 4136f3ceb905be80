"""Bases of states: Krylov, balanced, pH-IRKA, flexible parts (46) of Brugnoli et al. (2020)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from importlib import import_module
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.sparse import lu_factors
from phlexible.errors import MissingExtraError, ModelError, ParameterError, PoleError, SingularMatrixError
from phlexible.linear.constraint_elimination import algebraic_states, dynamic_and_multipliers
from phlexible.linear.first_order import EnergyForm, StateKind, energy_form, kinds_of_states, orthonormal_ties
from phlexible.linear.mechanics import LinearMechanics
from phlexible.linear.modes import lowest_model_modes
from phlexible.linear.observed import ObservedPHDAE, dense_model, observed
from phlexible.linear.reduction.bases import (
    ASIDE,
    DEPENDENT,
    RESONANCES,
    craig_bampton_basis,
    frequency_grid,
    joined,
    krylov_basis,
    largest_answer,
    modal_basis,
    reachable_rigid_motions,
    real_columns,
    undamped_modes,
)
from phlexible.linear.signals import UNIT_ENERGY
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import StateBlock

# First-order form with energy ``|x|^2 / 2``: ``dx/dt = (J - R) x + B u``, for bases of states.
#
# x = (L^T q, C^T v) with K = L L^T and M = C C^T. An orthonormal basis V keeps the form, with V^T J V, V^T R V,
# V^T B. Constant rigid motions, which nothing damps, are split off and kept as they are.

LARGEST = 1500
ROUND_OFF = 1e-13
REACHED = 1e-10


@dataclass(frozen=True, eq=False)
class NormalForm:
    """The matrices, dense.

    Attributes:
        structure: J, shape (n, n), skew.
        dissipation: R, shape (n, n), positive semi-definite.
        ports: B, shape (n, inputs).
        outputs: C of the outputs, shape (outputs, n).
        rigid: orthonormal states with J x = R x = 0 that the inputs reach, shape (n, k).
        moving: an orthonormal basis of the complement of all such states, shape (n, m).
    """

    structure: Array
    dissipation: Array
    ports: Array
    outputs: Array
    rigid: Array
    moving: Array


def normal_form(model: ObservedPHDAE) -> NormalForm:
    """The form of a model without constraints.

    Raises:
        ModelError: too many states for dense matrices, displacements as outputs, or an energy that is
            not positive.
    """
    mechanics = model.mechanics
    if mechanics is None or mechanics.constraint_matrix.shape[0]:
        raise ModelError("the normal form needs a mechanical model without constraints")
    if 2 * mechanics.size > LARGEST:
        raise ModelError(
            f"{2 * mechanics.size} states are too many for dense matrices (at most {LARGEST}); reduce with "
            'method="krylov" first'
        )
    if 0 in mechanics.differentiations:
        raise ModelError("displacements and angles are no outputs of this reduction; take velocities")
    lower = linalg.cholesky(mechanics.mass.toarray(), lower=True)

    def halved(matrix: Array) -> Array:
        return np.asarray(linalg.solve_triangular(lower, matrix, lower=True))

    K = halved(halved(mechanics.stiffness.toarray()).T)
    values, vectors = linalg.eigh((K + K.T) / 2)
    level = ROUND_OFF * len(K) * values.max(initial=0.0)
    if (values < -level).any():
        raise ModelError("the energy of this model is not positive; balanced and IRKA reductions need that")
    kept = values > level
    L = vectors[:, kept] * np.sqrt(values[kept])
    n, r = len(K), L.shape[1]
    D = halved(halved(mechanics.velocity.toarray()).T).T
    C = halved(halved(mechanics.damping.toarray()).T)
    structure = np.block([[np.zeros((r, r)), L.T], [-L, -(D - D.T) / 2]])
    dissipation = np.zeros((r + n, r + n))
    dissipation[r:, r:] = (C + C.T) / 2
    ports = np.vstack([np.zeros((r, mechanics.forces.shape[1])), halved(mechanics.forces)])
    outputs = np.hstack([np.zeros((len(mechanics.rows), r)), halved(mechanics.rows.T).T])
    return _with_constants(structure, dissipation, ports, outputs)


def normal_form_of_states(form: EnergyForm) -> NormalForm:
    """That of the states that constraints leave free; inputs that prescribe velocities act by inertia."""
    structure, dissipation = form.among_free(form.structure), form.among_free(form.dissipation)
    return _with_constants(structure, dissipation, form.free_ports, form.seen @ form.free)


def _with_constants(structure: Array, dissipation: Array, ports: Array, outputs: Array) -> NormalForm:
    """J x = R x = 0: velocities that strain nothing and that nothing damps, and self-stresses."""
    size = np.abs(structure).max(initial=0.0) or 1.0
    still = linalg.null_space(np.vstack([structure, dissipation]) / size, rcond=1e-9)
    moving = linalg.null_space(still.T) if still.shape[1] else np.eye(len(structure))
    parts = still.T @ ports
    left, sizes, _ = linalg.svd(parts, full_matrices=False) if parts.size else (np.zeros((0, 0)), np.zeros(0), 0)
    rigid = still @ left[:, sizes > REACHED * np.linalg.norm(ports)] if parts.size else still[:, :0]
    return NormalForm(structure, dissipation, ports, outputs, rigid, moving)


def galerkin_model(form: NormalForm, basis: Array, source: ObservedPHDAE) -> ObservedPHDAE:
    """The model of an orthonormal basis, shape (n, m): the same form again."""
    J, R = basis.T @ form.structure @ basis, basis.T @ form.dissipation @ basis
    one = np.eye(basis.shape[1])
    matrices = (one, (J - J.T) / 2, (R + R.T) / 2, basis.T @ form.ports, one)
    names = tuple(f"state {k}" for k in range(basis.shape[1]))
    return dense_model(source, matrices, form.outputs @ basis, names)


# The second-order form of velocities and stresses: ``dv/dt = -D v - L s + B u, ds/dt = L^T v``.
#
# With stresses s = L^T x these are motions x of unit mass with stiffness L L^T, for which the bases of mechanical
# models hold. A basis Phi of motions stands for velocities Phi and stresses L^T Phi.

BoolArray: TypeAlias = NDArray[np.bool_]


def pair_basis(
    form: EnergyForm,
    normal: NormalForm,
    order: int,
    method: str,
    basis: Callable[[LinearMechanics, int], Array],
    with_prescribed: bool = True,
) -> Array:
    """Orthonormal columns over the free states, at most ``order``: velocities and as many stresses.

    Args:
        basis: of a mechanical model: columns of a number of motions.
        with_prescribed: also for inputs that prescribe velocities, and for the forces there as outputs.

    Raises:
        ModelError: velocities are not told from stresses, or stresses have dynamics of their own.
        ParameterError: an order that is not above the rigid motions.
    """
    coupling = form.coupling
    if coupling is None:
        raise ModelError(
            f'method="{method}" needs to know which states are velocities and which stresses, without coupling or '
            "losses among stresses: give the states units, such as StateBlock(name, 'm/s', 1) and 'N', or take "
            'method="krylov", "balanced" or "irka"'
        )
    inputs = np.asarray(with_prescribed | (form.tie_ports == 0).all(axis=0))
    outputs = np.asarray(with_prescribed | (form.tie_outputs == 0).all(axis=1))
    mechanics = _mechanics(normal, coupling, inputs, outputs)
    rigid = reachable_rigid_motions(mechanics, undamped_modes(mechanics, mechanics.size)).shape[1]
    if rigid >= order:
        raise ParameterError(f"order must be above the {rigid} rigid motions, got {order}")
    count = (order + rigid) // 2  # of an order that leaves a velocity without its stress: the next smaller one
    motions = basis(mechanics, count)
    stresses, sizes, _ = linalg.svd(coupling.T @ motions, full_matrices=False)
    stresses = stresses[:, sizes > DEPENDENT * sizes.max(initial=0.0)]
    return np.asarray(linalg.block_diag(motions, stresses))


def _mechanics(normal: NormalForm, coupling: Array, inputs: BoolArray, outputs: BoolArray) -> LinearMechanics:
    """Motions of unit mass. A force on stresses, or an output of them, is one on motions by L."""
    v = len(coupling)
    ports, seen = normal.ports[:, inputs], normal.outputs[outputs]
    forces = np.hstack([ports[:v], coupling @ ports[v:]])
    rows = np.vstack([seen[:, :v], seen[:, v:] @ coupling.T])
    return LinearMechanics(
        sparse.eye_array(v, format="csr"),
        sparse.csr_array(-normal.structure[:v, :v]),
        sparse.csr_array(normal.dissipation[:v, :v]),
        sparse.csr_array(coupling @ coupling.T),
        sparse.csr_array((0, v)),
        forces[:, np.abs(forces).any(axis=0)],
        rows[np.abs(rows).any(axis=1)],
        (1,) * int(np.abs(rows).any(axis=1).sum()),
    )


# Galerkin models of states: ``x = V a`` tested with Q V, so that ``V^T W V = I`` makes a the energy coordinates.
#
# ``da/dt = (Z^T (J - R) Z) a + Z^T N lambda + Z^T B u`` with Z = Q V: skewness and definiteness stay, and where the
# columns of V obey the constraints, the multipliers drop out. Where inputs prescribe velocities they stay.

HELD = 1e-9
LOSSLESS = 1e-14


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
    R[:, still := np.diag(R) <= LOSSLESS * np.abs(R).max(initial=0.0)] = 0.0  # semi-definite, so rows are zero
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


# Krylov basis of states, from E, J, R, B and Q alone: answers ``(i w E - (J - R) Q)^-1 B`` at some frequencies.
#
# One sparse LU a frequency, with all multipliers. Where frequencies are left out, they are the resonances that
# inputs and outputs see, and then those where the error is greatest, as for mechanical models. Where velocities
# are told from stresses, an answer gives a column of each: mixed ones would make low frequencies that the model
# has not.

ComplexArray = NDArray[np.complex128]

UNSEEN = 1e-6
KRYLOV_ROUND_OFF = 1e-9  # parts that lossless models do not have


def matched_columns(model: ObservedPHDAE, basis: Array, order: int, frequencies: Sequence[float]) -> Array:
    """The columns of ``basis`` and answers, orthonormal in the energy, shape (order of the model, <= order).

    Raises:
        PoleError: a given frequency is an undamped pole.
    """
    answers = _Answers(model)
    for omega in frequencies:
        basis = _joined_pairs(model, basis, answers.pairs(answers.at(omega), omega), order)
    return basis


def chosen_columns(model: ObservedPHDAE, basis: Array, order: int, poles: Array) -> Array:
    """The same at frequencies chosen from the poles (k,) that inputs reach and outputs see [rad/s]."""
    answers = _Answers(model)
    poles = poles[: int(np.ceil(RESONANCES * (order - basis.shape[1]) / 2))]
    for pole in poles:
        largest = largest_answer(model.energy_matrix, answers.at(pole * (1 + ASIDE)))
        basis = _joined_pairs(model, basis, answers.pairs(largest, pole)[:1], order)
    grid = frequency_grid(poles)
    found = [answers.at(omega) for omega in grid]
    unused = np.ones(len(grid), dtype=bool)
    while basis.shape[1] < order and unused.any():
        small = _Answers(state_galerkin(model, StateBasis(basis, "krylov"))) if basis.shape[1] else None
        error = [_error(model, small, omega, x) for omega, x in zip(grid, found, strict=True)]
        worst = int(np.argmax(np.where(unused, error, -1.0)))
        unused[worst] = False
        basis = _joined_pairs(model, basis, answers.pairs(found[worst], grid[worst]), order)
    return basis


def _joined_pairs(model: ObservedPHDAE, basis: Array, pairs: list[Array], most: int) -> Array:
    """The basis with those pairs (n, 2) whose first column is new to it, at most ``most`` columns; none is cut."""
    for pair in pairs:
        if basis.shape[1] + pair.shape[1] > most:
            break
        first = joined(model.energy_matrix, basis, pair[:, :1], most)
        if first.shape[1] > basis.shape[1]:
            basis = joined(model.energy_matrix, first, pair[:, 1:], most)
    return basis


def seen_poles(model: ObservedPHDAE, form: EnergyForm, normal: NormalForm) -> Array:
    """Frequencies of the modes that inputs reach and outputs see, ascending [rad/s]."""
    modes = lowest_model_modes(model, model.order)
    free = form.free.T @ form.to_energy @ modes.shapes[:, modes.rigid_modes :]
    reached, seen = np.abs(free.conj().T @ normal.ports).T, np.abs(normal.outputs @ free)
    taken = [(part > UNSEEN * part.max(axis=1, keepdims=True, initial=0.0)).any(axis=0) for part in (reached, seen)]
    return np.asarray(modes.frequencies[modes.rigid_modes :][taken[0] & taken[1]])


class _Answers:
    """States x, multipliers at zero, of unit inputs ``exp(i w t)``."""

    def __init__(self, model: ObservedPHDAE) -> None:
        self._model = model
        self._system = model.system_matrix
        self._forces = model.port_map.toarray().astype(np.complex128)
        self._multipliers = algebraic_states(model)
        kinds = kinds_of_states(model)
        kinds[self._multipliers] = StateKind.STRESS
        known = not (kinds == StateKind.UNKNOWN).any()
        self._parts = [kinds == StateKind.VELOCITY, kinds == StateKind.STRESS] if known else [kinds == kinds]

    def at(self, omega: float) -> ComplexArray:
        """Shape (order of the model, inputs)."""
        x = self._solved(omega, self._forces)
        x[self._multipliers] = 0.0
        return x

    def pairs(self, answers: ComplexArray, omega: float) -> list[Array]:
        """Real columns that span answers, each with its partner, (n, 2): a velocity with its stress.

        Where velocities are not told from stresses, the other part of the answer is the partner. At rest the
        velocities that belong to the stresses are the displacements.
        """
        if len(self._parts) == 1:
            parts = np.split(real_columns(answers), 2, axis=1)
        else:
            moving, stressed = self._parts
            motions = self._solved(0.0, self._model.descriptor @ answers) if omega == 0 else answers
            parts = [real_columns(motions * moving[:, None]), real_columns(answers * stressed[:, None])]
        sizes = [np.sqrt(np.abs(np.einsum("ij,ij->j", part, self._model.energy_matrix @ part))) for part in parts]
        kept = [size > KRYLOV_ROUND_OFF * size.max(initial=0.0) for size in sizes]
        return [
            np.stack([part[:, i] for part, keep in zip(parts, kept, strict=True) if keep[i]], axis=1)
            for i in np.flatnonzero(kept[0])
        ]

    def outputs(self, omega: float) -> ComplexArray:
        """Of the dynamic states, shape (outputs, inputs)."""
        return np.asarray(self._model.output_matrix @ self.at(omega))

    def _solved(self, omega: float, right: ComplexArray) -> ComplexArray:
        matrix = sparse.csc_matrix(1j * omega * self._model.descriptor - self._system)
        try:
            x = np.asarray(lu_factors(matrix).solve(right))
        except SingularMatrixError:
            x = np.full(right.shape, np.nan + 0j)
        if not np.isfinite(x).all():
            raise PoleError(f"no moments are matched at {omega:.10g} rad/s, an undamped pole; move it aside")
        return x


def _error(model: ObservedPHDAE, small: _Answers | None, omega: float, x: ComplexArray) -> float:
    """Greatest relative error over the outputs at one frequency."""
    exact = model.output_matrix @ x
    size = np.abs(exact)
    gap = size if small is None else np.abs(small.outputs(omega) - exact)
    return float((gap / np.where(size > 0, size, 1.0)).max(initial=0.0))


# Balanced basis: the states that inputs reach and outputs see best, by Gramians.
#
# The dominant directions of balanced truncation, made orthonormal in the energy and used from both sides,
# so that the reduced model is port-Hamiltonian (balanced truncation itself would not be).

LEAST_DAMPING = 1e-12
GRAMIAN_ROUND_OFF = np.finfo(float).eps


def balanced_basis(form: NormalForm, order: int) -> Array:
    """Orthonormal columns, shape (n, k); rigid motions that inputs cause come first.

    k = order, or less where fewer states are both reached by inputs and seen by outputs: Gramians are known up
    to round-off, products of their factors (the Hankel values) up to its root.

    Raises:
        ModelError: a mode without damping, whose Gramians do not exist.
        ParameterError: an order below the number of rigid motions.
    """
    count = order - form.rigid.shape[1]
    if count < 1:
        raise ParameterError(f"order must be above the {form.rigid.shape[1]} rigid motions, got {order}")
    V = form.moving
    if not V.shape[1]:
        return form.rigid
    A = V.T @ (form.structure - form.dissipation) @ V
    values = linalg.eigvals(A)
    if values.real.max() > -LEAST_DAMPING * np.abs(values).max():
        raise ModelError(
            "a balanced reduction needs damping in every mode (Beam(damping_ratio=...)); "
            'take method="krylov" or "modal" for a lossless model'
        )
    B, C = V.T @ form.ports, form.outputs @ V
    C = C / np.maximum(np.linalg.norm(C, axis=1), 1e-300)[:, None]
    reached, seen = (
        _factor(linalg.solve_continuous_lyapunov(A, -B @ B.T)),
        _factor(linalg.solve_continuous_lyapunov(A.T, -C.T @ C)),
    )
    _, hankel, right = linalg.svd(seen.T @ reached)
    floor = np.sqrt(len(A) * GRAMIAN_ROUND_OFF) * np.linalg.norm(reached, 2) * np.linalg.norm(seen, 2)
    count = min(count, int((hankel > floor).sum()))
    if not count:
        return form.rigid
    directions = reached @ right[:count].T
    columns, _ = linalg.qr(V @ directions / np.linalg.norm(directions, axis=0), mode="economic")
    return np.hstack([form.rigid, columns])


def _factor(gramian: Array) -> Array:
    """L with L L^T = the Gramian."""
    values, vectors = linalg.eigh((gramian + gramian.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


# Basis of pyMOR's pH-IRKA: frequencies that are optimal in the H2 norm for the collocated outputs.
#
# S. Gugercin, R. V. Polyuga, C. Beattie, A. van der Schaft, *Structure-preserving tangential interpolation
# for model reduction of port-Hamiltonian systems*, Automatica 48, 2012.

MOST_ROUNDS = 30


def irka_basis(form: NormalForm, order: int) -> Array:
    """Orthonormal columns, shape (n, order); rigid motions that inputs cause come first.

    Raises:
        MissingExtraError: pyMOR is not installed.
        ParameterError: an order below the number of rigid motions.
        ModelError: the iteration ends with nothing.
    """
    count = order - form.rigid.shape[1]
    if count < 1:
        raise ParameterError(f"order must be above the {form.rigid.shape[1]} rigid motions, got {order}")
    try:
        models = import_module("pymor.models.iosys")
        reductors = import_module("pymor.reductors.ph.ph_irka")
        import_module("pymor.core.logger").set_log_levels({"pymor": "ERROR"})
    except ImportError as error:
        raise MissingExtraError("pyMOR is needed here; install it with: pip install phlexible[mor]") from error
    V = form.moving
    if count >= V.shape[1]:
        return np.hstack([form.rigid, V])
    model = models.PHLTIModel.from_matrices(
        V.T @ form.structure @ V, V.T @ form.dissipation @ V, V.T @ form.ports, Q=np.eye(V.shape[1])
    )
    reductor = reductors.PHIRKAReductor(model)
    reductor.reduce(count, tol=1e-3, maxit=MOST_ROUNDS)
    found = reductor.V.to_numpy()
    if not found.shape[1]:
        raise ModelError(f"IRKA finds no basis of order {order}; take another order or method")
    columns, _, _ = linalg.svd(np.hstack([found.real, found.imag]), full_matrices=False)  # of an odd one out: real
    return np.hstack([form.rigid, V @ columns[:, : min(count, found.shape[1])]])


# Bases of states for models without second-order form, and the methods that there are.

STATE_ROUND_OFF = 1e-10
STILL = 1e-9  # rates of a reduced model that are none
DRIFTING = 1e-6  # rates of the full model that are more than round-off


class ReductionMethod(StrEnum):
    """MODAL: the lowest modes that inputs and outputs see. CRAIG_BAMPTON: static answers to forces at inputs
    and outputs, and modes with these held. KRYLOV: answers at chosen frequencies (moment matching).
    BALANCED: the states that are reached and seen best. IRKA: frequencies that are optimal in the H2 norm.

    Modal and Craig-Bampton bases need velocities and stresses told apart (by mechanical form, units or ports),
    balanced ones damping in every mode; the others E, J, R, B and Q only.
    """

    MODAL = "modal"
    CRAIG_BAMPTON = "craig_bampton"
    KRYLOV = "krylov"
    BALANCED = "balanced"
    IRKA = "irka"


def energy_basis(form: NormalForm, order: int, method: ReductionMethod) -> Array:
    """Orthonormal columns over the states of a normal form, shape (n, order or fewer)."""
    if method is ReductionMethod.BALANCED:
        return balanced_basis(form, order)

    return irka_basis(form, order)


def state_basis(
    model: ObservedPHDAE,
    order: int,
    method: ReductionMethod,
    frequencies: Sequence[float] | None,
    beside_rigid: bool = False,
) -> StateBasis:
    """The basis of a method. Inputs that prescribe velocities, and joint forces as outputs, add to the order.

    Args:
        beside_rigid: the order does not count rigid motions.

    Raises:
        ParameterError: an order that is not below the model's, or that does not fit its rigid motions.
        ModelError: too many states for dense matrices, or a model that does not have what a method needs.
    """
    if model.order > LARGEST:
        if method is not ReductionMethod.KRYLOV or frequencies is None:
            raise ModelError(
                f"{model.order} states are too many for dense matrices (at most {LARGEST}); reduce with "
                'method="krylov" and frequencies= first'
            )
        nothing = np.zeros((model.order, 0))
        return StateBasis(matched_columns(model, nothing, order, frequencies), method)
    form = energy_form(model)
    normal = normal_form_of_states(form)
    order += normal.rigid.shape[1] if beside_rigid else 0
    if order > len(normal.structure):
        raise ParameterError(f"order must be at most the {len(normal.structure)} states of the model, got {order}")
    prescribed = form.from_energy @ _prescribed_columns(form, normal)
    extra = prescribed.shape[1]
    if method is ReductionMethod.KRYLOV and form.coupling is None:
        rigid = form.from_energy @ form.free @ normal.rigid
        if rigid.shape[1] >= order:
            raise ParameterError(f"order must be above the {rigid.shape[1]} rigid motions, got {order}")
        first, most = np.hstack([prescribed, rigid]), order + extra
        if frequencies is not None:
            whole = matched_columns(model, first, most, frequencies)
        else:
            whole = chosen_columns(model, first, most, seen_poles(model, form, normal))
        refuse_drifting(normal, form.free.T @ form.to_energy @ whole[:, extra:])
        return StateBasis(whole, method, extra)
    match method:
        case ReductionMethod.MODAL:
            columns = pair_basis(form, normal, order, method, modal_basis)
        case ReductionMethod.CRAIG_BAMPTON:
            columns = pair_basis(form, normal, order, method, craig_bampton_basis, with_prescribed=False)
        case ReductionMethod.KRYLOV:
            columns = pair_basis(form, normal, order, method, partial(krylov_basis, frequencies=frequencies))
        case _:
            columns = energy_basis(normal, order, method)
    refuse_drifting(normal, columns)
    whole = joined(model.energy_matrix, prescribed, form.from_energy @ form.free @ columns, order + extra)
    return StateBasis(whole, method, extra)


def refuse_drifting(normal: NormalForm, basis: Array) -> None:
    """Nothing may stay as it is in the reduced model that changes in the full one: it would drift, for ever.

    Args:
        basis: columns over the free states, shape (n, k).

    Raises:
        ModelError: a basis of velocities without their stresses, or the other way round.
    """
    rates = (normal.structure - normal.dissipation) @ basis
    _, sizes, right = linalg.svd(basis.T @ rates)
    largest = sizes.max(initial=0.0)
    still = right[sizes <= STILL * largest].T
    count = int((np.linalg.norm(rates @ still, axis=0) > DRIFTING * largest).sum())
    if count:
        raise ModelError(
            f"at order {basis.shape[1]} the reduced model has {count} motion{'s' * (count > 1)} that "
            "drifts, which the full model has not; take an order that is higher or lower by one"
        )


def _prescribed_columns(form: EnergyForm, normal: NormalForm) -> Array:
    """Motions that prescribed velocities cause without strain, as far as there are such, and what joint forces
    that are outputs act on; orthonormal, shape (n, k).

    With y = P a + N T u the static motion has the a that strains least: of a base that moves, the rigid motion.
    """
    T, prescribed = form.tie_ports, np.abs(form.tie_ports).any(axis=0)
    motions = form.ties @ T
    coupling = form.coupling
    if coupling is not None and prescribed.any():
        v = len(coupling)
        motions -= form.free[:, :v] @ np.linalg.lstsq(coupling.T, normal.ports[v:], rcond=1e-12)[0]
    others = form.tie_outputs.T - T @ np.linalg.lstsq(T, form.tie_outputs.T, rcond=1e-10)[0]
    parts = np.hstack([motions[:, prescribed], form.ties @ others])
    size = np.linalg.norm(parts, axis=0)
    parts = parts[:, size > STATE_ROUND_OFF * size.max(initial=0.0)]
    if not parts.size:
        return np.zeros((len(form.structure), 0))
    left, values, _ = linalg.svd(parts / np.linalg.norm(parts, axis=0), full_matrices=False)
    return np.asarray(left[:, values > STATE_ROUND_OFF])


# (46) of Brugnoli et al. (2020): flexible velocities and stresses projected, the rest kept.
#
# In (45) rigid velocities are those that J couples to multipliers only. A basis V of any method is taken apart: its
# flexible rows, made orthonormal in M_ff, are V_f, and every motion in the span of V is one of the reduced model.

RIGID = 1e-7  # share of the root of the energy that is flexible


def rigid_states(model: ObservedPHDAE) -> IntArray:
    """Where the states are that J and R couple to multipliers only.

    Raises:
        ModelError: a model in other variables than velocities and stresses.
    """
    moving, _ = dynamic_and_multipliers(model)
    gap = model.effort_matrix - sparse.eye_array(model.order)
    if gap.nnz and abs(gap).max() > 0:
        raise ModelError(
            'keep_rigid speaks of velocities and stresses as states, [B] (45); take linearize(form="stress")'
        )
    coupled = abs(model.structure[moving][:, moving]) + abs(model.dissipation[moving][:, moving])
    return np.asarray(moving[np.asarray(coupled.sum(axis=1)).ravel() == 0])


def kept_size(model: ObservedPHDAE) -> int:
    """Number of rigid velocities and multipliers."""
    return len(rigid_states(model)) + len(dynamic_and_multipliers(model)[1])


def flexible_reduction(
    model: ObservedPHDAE, order: int, method: ReductionMethod, frequencies: Sequence[float] | None
) -> ObservedPHDAE:
    """The model (46) with ``order`` flexible states, or fewer.

    Raises:
        ModelError: other variables than velocities and stresses, or what the method refuses.
    """
    rigid = rigid_states(model)
    moving, tied = dynamic_and_multipliers(model)
    flexible = np.setdiff1d(moving, rigid)
    model = replace(model, mechanics=None, linearization=None)
    V = _flexible_columns(model, flexible, order, method, frequencies)
    places = (_picked(rigid, model.order), V, _picked(tied, model.order))
    whole = sparse.csr_array(sparse.hstack(places))
    own = [StateBlock(name, unit, 1) for name, unit in zip(model.state_names, _units(model), strict=True)]
    states = (
        *(own[k] for k in rigid),
        *(StateBlock(f"{method} flexible state {k}", UNIT_ENERGY, 1) for k in range(V.shape[1])),
        *(own[k] for k in tied),
    )
    E, J, R = (whole.T @ matrix @ whole for matrix in (model.descriptor, model.structure, model.dissipation))
    small = LinearPHDAE(E, J, R, whole.T @ model.port_map, states, model.ports)
    rows = np.asarray(model.output_matrix @ whole)
    return observed(small, model.outputs, rows, model.differentiations, units=model.output_units)


def _flexible_columns(
    model: ObservedPHDAE,
    flexible: IntArray,
    order: int,
    method: ReductionMethod,
    frequencies: Sequence[float] | None,
) -> sparse.csr_array:
    """V_f over all states: ``order`` columns or fewer, prescribed ones, rigid motions of flexible states."""
    basis = state_basis(model, order, method, frequencies, beside_rigid=True)
    columns, metric = basis.columns[flexible], model.descriptor[flexible][:, flexible]
    size = np.sqrt(np.abs(np.einsum("ij,ij->j", columns, metric @ columns)))
    found = joined(metric, np.zeros((len(flexible), 0)), columns[:, size > RIGID], columns.shape[1])
    return sparse.csr_array(_picked(flexible, model.order) @ found)


def _picked(states: IntArray, order: int) -> sparse.csr_array:
    """Columns of the identity."""
    places = (states, np.arange(len(states)))
    return sparse.csr_array((np.ones(len(states)), places), (order, len(states)))


def _units(model: ObservedPHDAE) -> list[str]:
    return [block.unit for block in model.states for _ in range(block.size)]
