"""Bases for the reduction of states: pairs of velocities and stresses, Krylov bases of any states, flexible
parts (46).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, partial

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import SuperLU

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.caching import cached_on_owner
from phlexible.algebra.elimination import null_space
from phlexible.algebra.sparse import lu_factors
from phlexible.errors import ModelError, ParameterError, PoleError, SingularMatrixError
from phlexible.linear.condensed import CondensedModel, condensed
from phlexible.linear.constraint_elimination import algebraic_states, dynamic_and_multipliers, single_states
from phlexible.linear.first_order import (
    EnergyForm,
    IndefiniteEnergyError,
    StateKind,
    energy_form,
    kinds_of_states,
    orthonormal_ties,
)
from phlexible.linear.mechanics import LinearMechanics
from phlexible.linear.modes import lowest_model_modes
from phlexible.linear.observed import ObservedPHDAE, dense_model, observed
from phlexible.linear.reduction.bases import (
    DEPENDENT,
    SPARE,
    Answers,
    ComplexArray,
    by_energy,
    craig_bampton_basis,
    extended,
    extended_basis,
    greatest_error,
    krylov_basis,
    modal_basis,
    moment_basis,
    random_mixtures,
    reachable_rigid_motions,
    real_columns,
)
from phlexible.linear.reduction.normal_forms import (
    LARGEST,
    NormalForm,
    balanced_basis,
    irka_basis,
    normal_form_of_states,
    refuse_drifting,
)
from phlexible.linear.signals import UNIT_ENERGY
from phlexible.linear.symmetric_modes import SymmetricModes, static_responses, undamped_modes
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import StateGroup

# Galerkin models of states: ``x = V a`` tested with Q V, so that ``V^T W V = I`` makes a the energy coordinates.
#
# ``da/dt = (Z^T (J - R) Z) a + Z^T N lambda + Z^T B u`` with Z = Q V: skewness and definiteness stay, and where the
# columns of V obey the constraints, the multipliers drop out. Where inputs prescribe velocities they stay.

HELD = 1e-9
LOSSLESS = 1e-14


@dataclass(frozen=True, eq=False)
class StateBasis:
    """Basis of states for the reduction of a linear model, orthonormal in its energy.

    Attributes:
        columns: V, orthonormal in the energy, zero at multipliers, shape (order of the model, k).
        method: name of the method, from which names of the new states are made.
        prescribed: how many of the columns the order does not count: what inputs prescribe or joint forces are
            read from, and self-stresses that inputs drive.
    """

    columns: Array
    method: str
    prescribed: int = 0


def state_galerkin(model: ObservedPHDAE, basis: StateBasis) -> ObservedPHDAE:
    """Project a linear model on a ``basis`` of states (Galerkin) and return the small dense port-Hamiltonian
    model. Its E is the identity, since the basis is orthonormal in the energy. J is made skew-symmetric and R
    symmetric; states with dissipation at round-off get none. Multipliers remain only if inputs prescribe
    velocities or outputs are constraint forces."""
    V = basis.columns
    Z = np.asarray(model.effort_matrix @ V)
    J, R = Z.T @ (model.structure @ Z), Z.T @ (model.dissipation @ Z)
    R[:, still := np.diag(R) <= LOSSLESS * np.abs(R).max(initial=0.0)] = 0.0  # semi-definite, so rows are zero
    R[still] = 0.0
    B, C = Z.T @ model.port_map, np.asarray(model.output_matrix @ V)
    _, tied = dynamic_and_multipliers(model)
    ties, ports, outputs = _needed_ties(model, Z, tied)
    k, m = V.shape[1], ties.shape[1]
    nothing = np.zeros((m, m))
    matrices = (
        linalg.block_diag(np.eye(k), nothing),
        np.block([[(J - J.T) / 2, ties], [-ties.T, nothing]]),
        linalg.block_diag((R + R.T) / 2, nothing),
        np.vstack([B, ports]),
        np.eye(k + m),
    )
    names = (*(f"{basis.method} state {i}" for i in range(k)), *(f"multiplier {i}" for i in range(m)))
    return dense_model(model, matrices, np.hstack([C, outputs]), names)


def state_reduction(model: ObservedPHDAE, basis: StateBasis) -> ObservedPHDAE:
    """Project a linear model on a basis of states and return the small model; raise a ``ModelError`` if it has
    motions that drift which the full model does not have.

    Raises:
        ModelError: see ``refuse_drifting``.
    """
    small = state_galerkin(model, basis)
    _refuse_drifting(model, small, basis.columns)
    return small


def _needed_ties(model: ObservedPHDAE, Z: Array, tied: IntArray) -> tuple[Array, Array, Array]:
    """Return directions, input rows and output columns of the constraint multipliers that a reduced model must
    keep. It must if inputs prescribe velocities or outputs are constraint forces. All arrays are empty if there are
    none. ``Z`` projects the equations (its columns are states); ``tied`` are the indices of all multipliers.
    Directions are combined to orthonormal ones. Contradicting inputs or outputs raise ``ModelError``.
    """
    forces = np.asarray(Z.T @ model.structure[:, tied])
    ports, outputs = model.port_map[tied].toarray(), model.output_matrix[:, tied].toarray()
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


def _refuse_drifting(model: ObservedPHDAE, small: ObservedPHDAE, V: Array) -> None:
    """Raise ``ModelError`` if the reduced model ``small`` has constant states, with all inputs zero, in which the
    full ``model`` would move. Rates of the full model, with constraints enforced by multipliers, are measured in
    its energy norm. ``V`` is the basis of the reduction, from reduced to full states."""
    moving, tied = dynamic_and_multipliers(small)
    ties = small.structure[moving][:, tied].toarray()
    free = linalg.null_space(ties.T) if ties.size else np.eye(V.shape[1])

    def speeds(still: Array) -> Array:
        moving, tied = dynamic_and_multipliers(model)
        E, Q, W = (each[moving][:, moving] for each in (model.descriptor, model.effort_matrix, model.energy_matrix))
        N = model.structure[moving][:, tied]
        N = N[:, null_space(sparse.csr_array(N.T), allow_dependent=True).rows]
        forces = (model.system_matrix @ (V @ (free @ still)))[moving]
        right = np.vstack([forces, np.zeros((N.shape[1], forces.shape[1]))])
        rates = lu_factors(sparse.block_array([[E, -N], [N.T @ Q, None]])).solve(right)[: len(moving)]
        return np.asarray(np.sqrt(np.abs(np.einsum("ij,ij->j", rates, W @ rates))))

    rates = (small.structure - small.dissipation)[moving][:, moving].toarray()
    refuse_drifting(free.T @ rates @ free, speeds)


# Velocities and stresses in pairs, of models of any size (``linear/condensed.py``).
#
# A basis Phi of motions stands for velocities Phi and the stresses of Phi as displacements: each rate of strain
# then has a stress that answers, and nothing drifts that does not in the full model.


def pair_basis(
    source: CondensedModel,
    order: int,
    method: str,
    basis: Callable[[LinearMechanics, int], Array],
    flexible: IntArray | None = None,
    with_tied: bool = True,
) -> StateBasis:
    """Return a basis of velocities and of the stresses that they cause, by which the model ``source`` is reduced to
    at most ``order`` states. ``basis`` is called once with second-order matrices and a number, and returns at most
    so many motions as columns; ``method`` is its name, for the result. With ``flexible`` (indices of states), rigid
    motions with hardly any energy in these states do not count. If ``with_tied``, motions for prescribed velocities
    are added, which do not count either. Raise ``ParameterError`` for an order too low or too high.

    Args:
        basis: function that returns a given number of motions of a mechanical model as columns.
        flexible: indices of flexible states, if the order counts these only.
        with_tied: whether inputs that prescribe velocities, and forces there as outputs, are included.

    Raises:
        ParameterError: an order that is not above the rigid motions, or above the number of states.
        ModelError: outputs that see displacements without energy.
    """
    plain = source.mechanics
    modes = undamped_modes(plain, 7)  # those of one rigid body and a further one
    if modes.rigid > 6:
        modes = undamped_modes(plain, modes.rigid + 1)
    rigid = reachable_rigid_motions(_with_ports(source, order, with_tied), modes)
    order += _purely_rigid(source.model, source.velocity_states(rigid), flexible)
    most = plain.size - plain.constraint_matrix.shape[0] + source.stress_count
    if order > most:
        raise ParameterError(f"order must be at most the {most} states of the model, got {order}")
    if rigid.shape[1] >= order:
        raise ParameterError(f"order must be above the {rigid.shape[1]} rigid motions, got {order}")
    count = (order + rigid.shape[1]) // 2  # an odd order would leave a velocity without its stress
    motions = basis(_with_ports(source, count, with_tied), count)
    prescribed = extended(plain.mass, motions[:, :0], source.tied_motions, plain.size)
    velocities = extended(plain.mass, prescribed, motions, plain.size)
    k = prescribed.shape[1]
    stresses, first = _stresses(source, velocities, k, _self_stresses(source, modes))
    columns = [source.velocity_states(velocities), stresses]
    parts = [columns[0][:, :k], columns[1][:, :first], columns[0][:, k:], columns[1][:, first:]]
    return StateBasis(np.hstack(parts), method, k + first)


def _with_ports(source: CondensedModel, count: int, with_tied: bool) -> LinearMechanics:
    """Return the second-order form of ``source`` (a model of velocities and stresses) with the inputs and
    outputs that its reduction bases need. If there are more than ``count`` plus a few, random linear
    combinations replace them. If ``with_tied``, forces at prescribed velocities are included."""
    forces, rows = source.directions(with_tied)
    mass, most = source.mechanics.mass, count + SPARE
    inputs, outputs = random_mixtures(forces, mass, most), random_mixtures(rows.T, mass, most)
    return replace(source.mechanics, forces=inputs, rows=outputs.T, differentiations=(1,) * outputs.shape[1])


def _self_stresses(source: CondensedModel, modes: SymmetricModes) -> Array:
    """Return the self-stresses of a model (``source``) that its inputs drive, as columns, shape (n, k) for n
    states. A self-stress is a stress state in equilibrium without external force, which no motion changes. Each
    driven stress state has the stresses of its static response subtracted. Columns whose remaining energy is a
    negligible share are left out. ``modes`` has the model's rigid modes."""
    strained = sparse.csc_array(source.strained @ source.model.port_map[source.stresses])
    strained.eliminate_zeros()
    driven = strained[:, np.diff(strained.indptr) > 0].toarray()  # few of the inputs of a large mesh
    answers = static_responses(source.mechanics, modes, -(source.forces_of_stresses @ driven))
    states = np.zeros((source.model.order, driven.shape[1]))
    states[source.stresses] = driven
    sizes = _energies(source, states)
    states[source.stresses] -= source.to_stresses @ answers
    return np.asarray(states[:, _energies(source, states) > DEPENDENT * sizes])


def _energies(source: CondensedModel, states: Array) -> Array:
    """Return the energy norm of each column of ``states`` of a model (``source``), shape (columns,): the
    square root of twice its energy."""
    return np.asarray(np.sqrt(np.abs(np.einsum("ij,ij->j", states, source.model.energy_matrix @ states))))


def _stresses(source: CondensedModel, motions: Array, first: int, self_stresses: Array) -> tuple[Array, int]:
    """Return stress states as energy-orthonormal columns, shape (n, k), and how many of them come first in a
    reduction. These span the ``self_stresses`` and the stresses caused by the ``first`` columns of ``motions``
    (displacements), the rest those caused by the other columns. Motions without strain are left out. Raise
    ``ModelError`` if an output sees such a motion, ``IndefiniteEnergyError`` for an indefinite energy.

    Returns:
        The columns, and how many of these belong to other stresses and to the first motions.
    """
    strains, metric = source.strain_states(motions), source.model.energy_matrix
    energies = strains.T @ (metric @ strains)
    values = linalg.eigvalsh(energies) if energies.size else np.zeros(1)
    if values[0] < -DEPENDENT * values[-1]:
        raise IndefiniteEnergyError(
            "the energy of this model is not positive; its reduced models would not be passive"
        )
    sizes = np.sqrt(np.abs(np.diag(energies)))
    strained = sizes > DEPENDENT * sizes.max(initial=0.0)
    rows = source.model.output_matrix[:, source.stresses]
    still = motions[:, ~strained]
    seen, level = rows @ (source.to_stresses @ still), abs(rows) @ (abs(source.to_stresses) @ np.abs(still))
    if (np.abs(seen) > DEPENDENT * level).any():
        raise ModelError("displacements that have no energy are no outputs here; take velocities")
    indices = np.flatnonzero(strained)
    early = np.hstack([self_stresses, strains[:, indices[indices < first]]])
    basis = extended(metric, strains[:, :0], early, len(strains))
    return extended(metric, basis, strains[:, indices[indices >= first]], len(strains)), basis.shape[1]


def _purely_rigid(model: ObservedPHDAE, rigid: Array, flexible: IntArray | None) -> int:
    """Return how many independent combinations of the ``rigid`` motions (columns, energy 1/2) of a model have
    hardly any energy in the states ``flexible``. ``flexible`` are indices; the result is 0 if it is None or
    there are no rigid motions."""
    if flexible is None or not rigid.shape[1]:
        return 0
    parts = rigid[flexible]
    shares = linalg.eigvalsh(parts.T @ (model.energy_matrix[flexible][:, flexible] @ parts))
    return int((shares <= RIGID**2).sum())


# Krylov basis of states that are not told apart, or of stresses with losses, from E, J, R, B and Q alone:
# ``(i w E - (J - R) Q)^-1 B``.
#
# One sparse LU a frequency, with all multipliers. Where velocities are told from stresses, an answer gives a column
# of each: mixed ones would make low frequencies that the model has not.

UNSEEN = 1e-6
STATIC_SHIFT = 1e-3  # of the slowest rate
KRYLOV_ROUND_OFF = 1e-9  # parts that lossless models do not have


class StateAnswers(Answers):
    """Responses of a first-order model to unit harmonic inputs as states, with zeros for multipliers, as the source
    of a Krylov basis.
    """

    def __init__(self, model: ObservedPHDAE, rigid: Array | None = None, shift: float = 0.0) -> None:
        """Store a first-order linear ``model``, whose responses to harmonic inputs span a Krylov basis for model
        reduction. Nothing is solved yet. ``rigid`` (None: none) has constant states as columns, such as rigid
        motions, which static responses exclude. ``shift`` [rad/s], a small positive frequency, makes the matrix of
        static responses regular. A mask of velocity and one of stress states are stored, if all kinds are known.

        Args:
            rigid: states that stay as they are and that inputs reach, orthonormal in the energy.
            shift: frequency at which the static responses are taken, far below all others [rad/s].
        """
        self.metric = model.energy_matrix
        self._rigid = np.zeros((model.order, 0)) if rigid is None else rigid
        self._shift = shift
        self._model = model
        self._system = model.system_matrix
        self._forces = model.port_map.toarray().astype(np.complex128)
        self._multipliers = algebraic_states(model)
        kinds = kinds_of_states(model)
        kinds[self._multipliers] = StateKind.STRESS
        known = not (kinds == StateKind.UNKNOWN).any()
        self._parts = [kinds == StateKind.VELOCITY, kinds == StateKind.STRESS] if known else [kinds == kinds]

    def columns(self, omega: float) -> list[Array]:
        """Return a list of real arrays that span the responses of the first-order model to unit inputs at angular
        frequency ``omega`` [rad/s], most energy first. Each array has the velocities of a response and its
        stresses as columns, shape (order, 2), or only the former where the latter vanish. If kinds of states are
        unknown, its columns are real and imaginary part.

        Where velocities are not told from stresses, the other part of the answer is the partner. At rest the
        velocities that belong to the stresses are the displacements.
        """
        answers = by_energy(self.metric, self.at(omega))
        return self._pairs(answers, self._solved(0.0, self._model.descriptor @ answers) if omega == 0 else answers)

    def static_columns(self) -> list[Array]:
        """Return a list of real arrays that span the static responses of the first-order model to unit inputs:
        each has velocities and stresses as columns, shape (order, 2) or (order, 1). Where the velocities or
        stresses of a response vanish, those of the next moment (derivative with respect to frequency) replace
        them."""
        answers = self._at_rest(self._model.port_map.toarray())
        following, sizes = self._at_rest(self._model.descriptor @ answers), self._sizes(answers)
        if len(self._parts) == 1:
            mixed_answers = answers + 1j * self._shift * following
            return self._pairs(mixed_answers, mixed_answers)
        velocities, stresses = (
            np.where(self._sizes(part := answers * own[:, None]) > KRYLOV_ROUND_OFF * sizes, part, following)
            for own in self._parts
        )
        return self._pairs(stresses, velocities)

    def _at_rest(self, right: Array) -> Array:
        """Return the constant states x of a first-order model under constant right-hand sides ``right``, as
        columns, shape (n, columns) for n states. Six fixed-point iterations use the LU factors of one shifted
        matrix, without a check of convergence. Parts of ``right`` that accelerate rigid motions are removed first
        (inertia relief). In x, rigid motions are removed and multipliers are zero."""
        E, Q, rigid = self._model.descriptor, self._model.effort_matrix, self._rigid
        balanced = right - E @ (rigid @ (rigid.T @ (Q.T @ right)))
        x = np.zeros(right.shape)
        for _ in range(6):  # the shift does not move the answers
            x = np.asarray(self._shifted.solve(balanced + self._shift * (E @ x)))
            x[self._multipliers] = 0.0
            x = x - rigid @ (rigid.T @ (self.metric @ x))
        return x

    @cached_property
    def _shifted(self) -> SuperLU:
        return lu_factors(sparse.csc_matrix(self._shift * self._model.descriptor - self._system))

    def _sizes(self, columns: ComplexArray | Array) -> Array:
        return np.asarray(np.sqrt(np.abs(np.einsum("ij,ij->j", columns, self.metric @ columns))))

    def _pairs(self, answers: ComplexArray | Array, motions: ComplexArray | Array) -> list[Array]:
        if len(self._parts) == 1:
            parts = np.split(real_columns(answers), 2, axis=1)
        else:
            moving, stressed = self._parts
            parts = [real_columns(motions * moving[:, None]), real_columns(answers * stressed[:, None])]
        sizes = [self._sizes(part) for part in parts]
        kept = [size > KRYLOV_ROUND_OFF * size.max(initial=0.0) for size in sizes]
        return [
            np.stack([part[:, i] for part, keep in zip(parts, kept, strict=True) if keep[i]], axis=1)
            for i in np.flatnonzero(kept[0])
        ]

    def errors(self, basis: Array, grid: Array) -> Array:
        """Return the relative error of the frequency response of the first-order model, reduced with ``basis``,
        shape (order, k), at each frequency of ``grid`` [rad/s]."""
        small = StateAnswers(state_galerkin(self._model, StateBasis(basis, "krylov")))
        return np.array([greatest_error(small.outputs(omega), self.outputs(omega)) for omega in grid])

    @cached_on_owner
    def at(self, omega: float) -> ComplexArray:
        """Return the complex states of the first-order model for unit harmonic inputs at angular frequency
        ``omega`` [rad/s], shape (order, inputs), with zeros at multipliers. Results are cached for each frequency.

        Raises:
            PoleError: an undamped pole.
        """
        x = self._solved(omega, self._forces)
        x[self._multipliers] = 0.0
        return x

    def outputs(self, omega: float) -> ComplexArray:
        """Return the complex outputs of the first-order model for unit harmonic inputs at angular frequency
        ``omega`` [rad/s], shape (outputs, inputs). Contributions of multipliers to outputs are left out."""
        return np.asarray(self._model.output_matrix @ self.at(omega))

    def _solved(self, omega: float, right: ComplexArray) -> ComplexArray:
        matrix = sparse.csc_matrix(1j * omega * self._model.descriptor - self._system)
        try:
            x = np.asarray(lu_factors(matrix).solve(right))
        except SingularMatrixError:
            x = np.full(right.shape, np.nan + 0j)
        if not np.isfinite(x).all():
            raise PoleError(f"no moments exist at {omega:.10g} rad/s, an undamped pole; take another frequency")
        return x


def participating_poles(model: ObservedPHDAE, form: EnergyForm, normal: NormalForm) -> Array:
    """Return the angular frequencies of those elastic modes of a linear model that inputs excite and outputs
    measure, ascending [rad/s]. ``form`` is the model in energy coordinates, ``normal`` that model in normal
    form."""
    modes = lowest_model_modes(model, model.order)
    free = form.free.T @ form.to_energy @ modes.shapes[:, modes.rigid_modes :]
    reached, seen = np.abs(free.conj().T @ normal.ports).T, np.abs(normal.outputs @ free)
    taken = [(part > UNSEEN * part.max(axis=1, keepdims=True, initial=0.0)).any(axis=0) for part in (reached, seen)]
    return np.asarray(modes.frequencies[modes.rigid_modes :][taken[0] & taken[1]])


# The methods that there are, and their bases of states.

STATE_ROUND_OFF = 1e-10


class ReductionMethod(StrEnum):
    """Method of model order reduction, which determines the basis of the reduced model.

    MODAL: the lowest modes that inputs and outputs see. CRAIG_BAMPTON: static responses to forces at inputs and
        outputs,
    and modes with these fixed. KRYLOV: responses at chosen frequencies (moment matching). BALANCED: the states that
    are
    reached and seen best. IRKA: frequencies that are optimal in the H2 norm.

    Modal and Craig-Bampton bases need velocities distinguished from stresses (by mechanical form, units or ports),
    balanced ones damping in every mode; the others E, J, R, B and Q only.
    """

    MODAL = "modal"
    CRAIG_BAMPTON = "craig_bampton"
    KRYLOV = "krylov"
    BALANCED = "balanced"
    IRKA = "irka"


def energy_basis(form: NormalForm, order: int, method: ReductionMethod) -> Array:
    """Return an orthonormal reduction basis of a model in normal form, shape (n, order or fewer), by balanced
    truncation or by IRKA, according to ``method``."""
    return balanced_basis(form, order) if method is ReductionMethod.BALANCED else irka_basis(form, order)


def state_basis(
    model: ObservedPHDAE,
    order: int,
    method: ReductionMethod,
    frequencies: Sequence[float] | None,
    static_correction: bool = False,
    flexible: IntArray | None = None,
) -> StateBasis:
    """Return the basis with which a first-order linear model is reduced to ``order`` states by ``method``. Krylov
    bases match responses at ``frequencies`` [rad/s], chosen automatically for None; modal ones end with static
    responses if ``static_correction``. With ``flexible`` (indices), the order counts these states only. Vectors
    needed for prescribed velocities and joint forces are added. Raise ``ModelError`` for an unsuitable model,
    ``ParameterError`` for an unsuitable order.

    Args:
        static_correction: for modal bases: static responses take the place of the last modes.
        flexible: indices of flexible states; the order then counts these only.

    Raises:
        ParameterError: an order that is not below the model's, or that does not fit its rigid motions.
        ModelError: too many states for dense matrices, or a model that does not have what a method needs.
    """
    found = None if method in (ReductionMethod.BALANCED, ReductionMethod.IRKA) else condensed(model)
    if found is not None:
        basis = motion_basis(method, frequencies, static_correction)
        return pair_basis(found, order, method, basis, flexible, method is not ReductionMethod.CRAIG_BAMPTON)
    if method in (ReductionMethod.MODAL, ReductionMethod.CRAIG_BAMPTON):
        raise ModelError(
            f'method="{method}" needs to know which states are velocities and which stresses, without coupling or '
            "losses among stresses: give the states units, such as StateGroup(name, 'm/s', 1) and 'N', or take "
            'method="krylov", "balanced" or "irka"'
        )
    if model.order > LARGEST:
        if method is not ReductionMethod.KRYLOV or frequencies is None:
            raise ModelError(
                f"{model.order} states are too many for dense matrices (at most {LARGEST}); reduce with "
                'method="krylov" and frequencies= first'
            )
        nothing = np.zeros((model.order, 0))
        return StateBasis(moment_basis(StateAnswers(model), nothing, order, frequencies), method)
    form = energy_form(model)
    normal = normal_form_of_states(form)
    rigid = form.from_energy @ form.free @ normal.rigid
    order += _purely_rigid(model, rigid, flexible)
    if order > len(normal.structure):
        raise ParameterError(f"order must be at most the {len(normal.structure)} states of the model, got {order}")
    driven = _self_stress_count(form, normal)
    if rigid.shape[1] - driven >= order:
        raise ParameterError(f"order must be above the {rigid.shape[1] - driven} rigid motions, got {order}")
    order = min(order + driven, len(normal.structure))
    prescribed = form.from_energy @ _prescribed_columns(form)
    extra = prescribed.shape[1]
    if method is not ReductionMethod.KRYLOV:
        columns = form.from_energy @ form.free @ energy_basis(normal, order, method)
        return StateBasis(extended(model.energy_matrix, prescribed, columns, order + extra), method, extra + driven)
    first, most = np.hstack([prescribed, rigid]), order + extra
    if frequencies is not None:
        columns = moment_basis(StateAnswers(model), first, most, frequencies)
    else:
        rates = normal.moving.T @ (normal.structure - normal.dissipation) @ normal.moving
        answers = StateAnswers(model, rigid, STATIC_SHIFT * linalg.svdvals(rates).min())
        columns = extended_basis(answers, first, most, participating_poles(model, form, normal))
    return StateBasis(columns, method, extra + driven)


def motion_basis(
    method: ReductionMethod, frequencies: Sequence[float] | None, static_correction: bool
) -> Callable[[LinearMechanics, int], Array]:
    """Return a function that computes a reduction basis of motions by the given ``method``: modal, Craig-Bampton
    or (for all others) Krylov. It is called with a second-order model and the number of columns. Krylov bases
    match responses at ``frequencies`` [rad/s] (None: chosen automatically). Modal bases end with static responses
    if ``static_correction``."""
    match method:
        case ReductionMethod.MODAL:
            return partial(modal_basis, static_correction=static_correction)
        case ReductionMethod.CRAIG_BAMPTON:
            return craig_bampton_basis
        case _:
            return partial(krylov_basis, frequencies=frequencies)


def _self_stress_count(form: EnergyForm, normal: NormalForm) -> int:
    """Return how many of the constant states of a model that inputs reach have no velocity and so are
    self-stresses rather than rigid motions; 0 if velocities are not known. ``form`` is the model in energy
    coordinates, ``normal`` its normal form."""
    if form.velocities is None:
        return 0
    sizes = linalg.svdvals((form.free @ normal.rigid)[: form.velocities]) if normal.rigid.size else np.zeros(0)
    return int(normal.rigid.shape[1] - (sizes > RIGID).sum())


def _prescribed_columns(form: EnergyForm) -> Array:
    """Return orthonormal columns (n, k) that a reduced model must contain in energy coordinates, for n states.
    They are the directions of constraints along which inputs prescribe velocities, or whose constraint forces are
    outputs. A singular value decomposition removes dependent directions up to round-off. Shape (n, 0) if there are
    none."""
    T, prescribed = form.tie_ports, np.abs(form.tie_ports).any(axis=0)
    others = form.tie_outputs.T - T @ np.linalg.lstsq(T, form.tie_outputs.T, rcond=1e-10)[0]
    parts = form.ties @ np.hstack([T[:, prescribed], others])
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
    """Return the indices of the rigid velocities of a linear model in stress form: states that its matrices couple
    to multipliers of constraints only.

    Raises:
        ModelError: a model in other variables than velocities and stresses.
    """
    moving, _ = dynamic_and_multipliers(model)
    gap = model.effort_matrix - sparse.eye_array(model.order)
    if gap.nnz and abs(gap).max() > 0:
        raise ModelError(
            'keep_rigid= needs velocities and stresses as states, [B] (45); take linearize(form="stress")'
        )
    coupled = abs(model.structure[moving][:, moving]) + abs(model.dissipation[moving][:, moving])
    return np.asarray(moving[np.asarray(coupled.sum(axis=1)).ravel() == 0])


def rigid_size(model: ObservedPHDAE) -> int:
    """Return the number of states that a reduction of the flexible states of a model alone leaves as they
    are: rigid velocities and multipliers of constraints."""
    return len(rigid_states(model)) + len(dynamic_and_multipliers(model)[1])


def flexible_reduction(
    model: ObservedPHDAE,
    order: int,
    method: ReductionMethod,
    frequencies: Sequence[float] | None,
    static_correction: bool,
) -> ObservedPHDAE:
    """Return a model in which only the flexible velocities and stresses of a linear model are reduced. They
    are reduced to ``order`` states or fewer by the given ``method``. Krylov bases match responses at
    ``frequencies`` [rad/s], modal ones end with static responses if ``static_correction``. Rigid velocities
    and multipliers are retained (equation (46) of Brugnoli et al. 2020).

    Raises:
        ModelError: other variables than velocities and stresses, or what the method refuses.
    """
    rigid = rigid_states(model)
    moving, tied = dynamic_and_multipliers(model)
    flexible = np.setdiff1d(moving, rigid)
    model = replace(model, mechanics=None, linearization=None)
    basis = state_basis(model, order, method, frequencies, static_correction, flexible)
    V = _flexible_columns(model, flexible, basis)
    columns = (_unit_columns(rigid, model.order), V, _unit_columns(tied, model.order))
    whole = sparse.csr_array(sparse.hstack(columns))
    own = single_states(model)
    states = (
        *(own[k] for k in rigid),
        *(StateGroup(f"{method} flexible state {k}", UNIT_ENERGY, 1) for k in range(V.shape[1])),
        *(own[k] for k in tied),
    )
    E, J, R = (whole.T @ matrix @ whole for matrix in (model.descriptor, model.structure, model.dissipation))
    small = LinearPHDAE(E, J, R, whole.T @ model.port_map, states, model.ports)
    rows = model.output_matrix @ whole
    found = observed(small, model.outputs, rows, model.differentiations, units=model.output_units)
    _refuse_drifting(model, found, whole[:, : len(rigid) + V.shape[1]].toarray())
    return found


def _flexible_columns(model: ObservedPHDAE, flexible: IntArray, basis: StateBasis) -> sparse.csr_array:
    """Return the entries of a reduction ``basis`` in the ``flexible`` states of a model as energy-orthonormal
    columns, shape (order of the model, k), sparse. All other states have zeros. Columns with hardly any energy in
    the flexible states are left out."""
    columns, metric = basis.columns[flexible], model.descriptor[flexible][:, flexible]
    size = np.sqrt(np.abs(np.einsum("ij,ij->j", columns, metric @ columns)))
    found = extended(metric, np.zeros((len(flexible), 0)), columns[:, size > RIGID], columns.shape[1])
    return sparse.csr_array(_unit_columns(flexible, model.order) @ found)


def _unit_columns(states: IntArray, order: int) -> sparse.csr_array:
    """Return the columns of the identity matrix of size ``order`` with the given indices, shape (order, states),
    sparse."""
    indices = (states, np.arange(len(states)))
    return sparse.csr_array((np.ones(len(states)), indices), (order, len(states)))
