"""Linear models of first order: velocities and stresses, energy coordinates, state spaces A, B, C, D."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from scipy import io, linalg, sparse

from phlexible.algebra.arrays import Array, IntArray, file_path
from phlexible.algebra.units import base_powers
from phlexible.errors import ModelError, ParameterError, writing
from phlexible.extras import optional
from phlexible.linear.constraint_elimination import algebraic_states, dynamic_and_multipliers, without_constraints
from phlexible.linear.observed import ObservedPHDAE
from phlexible.port_hamiltonian.model import Port, StateGroup

if TYPE_CHECKING:
    from control import StateSpace

# Which states of a linear model are velocities and which are stresses.
#
# Both are seen in the equations in the same way; what tells them apart is time reversal, which turns velocities
# and momenta over and leaves displacements and forces as they are. In units of mass, length and time that is
# the parity of the power of seconds: m/s and kg m/s are odd; m, N, N m and Pa are even. States without such a
# unit follow from ports (forces act on velocities) and from J, which couples velocities with stresses.


class StateKind(IntEnum):
    """Kind of a state of a first-order linear model: velocity (or momentum), stress (or displacement, or force), or
    unknown.

    STRESS: also displacements and forces. VELOCITY: also momenta.
    """

    STRESS = -1
    UNKNOWN = 0
    VELOCITY = 1


def kind_of_unit(unit: str) -> StateKind:
    """Return whether a state with this unit is a velocity (or momentum) or a stress (or force, displacement). The
    power of seconds in the unit decides: odd for velocities, even for stresses. It is UNKNOWN for an empty or
    unknown unit, and for roots of units."""
    powers = base_powers(unit)
    if powers is None or any(power % 1 for power in powers.values()):
        return StateKind.UNKNOWN
    return StateKind.VELOCITY if powers.get("s", 0.0) % 2 else StateKind.STRESS


def kinds_of_states(model: ObservedPHDAE) -> IntArray:
    """Return for each state of a linear ``model`` whether it is a velocity, a stress or of unknown kind
    (``StateKind``), shape (order,). The unit of a state decides; else a port that acts on the state; else the
    states it is coupled with: energy couples equal kinds, the structure matrix different kinds."""
    kinds = _per_entry(model.states, [kind_of_unit(block.unit) for block in model.states])
    if (kinds != StateKind.UNKNOWN).all():
        return kinds
    _set_kinds_from_ports(model, kinds)
    same = _pattern(model.descriptor) + _pattern(model.effort_matrix)
    other = _pattern(model.structure)
    while (unknown := kinds == StateKind.UNKNOWN).any():
        for links, sign in ((same, 1), (other, -1)):
            votes = np.sign(links @ kinds).astype(np.int64) * sign
            if (votes[unknown] != 0).any():
                break
        else:
            break
        kinds[unknown] = votes[unknown]
    return kinds


def _set_kinds_from_ports(model: ObservedPHDAE, kinds: IntArray) -> None:
    """Set the kind of those states of unknown kind on which inputs of a known unit act, in ``kinds`` (order,), in
    place. A force as input acts on velocities, a velocity on stresses. If several inputs act on a state, the
    majority decides; it stays unknown at a draw.
    """
    inputs = _per_entry(model.ports, [-kind_of_unit(port.input_unit) for port in model.ports])
    rows = abs(model.port_map).sign() @ inputs
    unknown = kinds == StateKind.UNKNOWN
    kinds[unknown] = np.sign(rows[unknown]).astype(np.int64)


def _per_entry(parts: Sequence[StateGroup | Port], values: Sequence[int]) -> IntArray:
    """Return an integer for each entry of the state or input vector, given one for each of its blocks, shape
    (entries,). ``parts`` are the blocks (state groups or ports), ``values`` their integers.
    """
    return np.repeat(np.array(values, dtype=np.int64), [part.size for part in parts])


def _pattern(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return a sparse matrix of ones at the off-diagonal entries of a square matrix or of its transpose: the graph
    of states that the matrix couples."""
    links = sparse.csr_array(abs(matrix) + abs(matrix).T)
    links = sparse.csr_array(links - sparse.diags_array(links.diagonal()))
    links.eliminate_zeros()
    return sparse.csr_array(links.sign())


# Any linear port-Hamiltonian model in coordinates in which its energy is ``|y|^2 / 2`` (docs/theory.md, 7).
#
# With multipliers lambda and forces N of theirs, the model ``E dx/dt = (J - R) Q x + N lambda + B u`` with
# ``N^T Q x = T u`` and the energy matrix W = E^T Q = U^T U becomes, for y = U x and G = U E^-1::
#
#     dy/dt = (G J G^T - G R G^T) y + G N lambda + G B u,    (G N)^T y = T u
#
# States without energy, such as displacements of a free body, drop out. T is not zero where an input
# prescribes a velocity ((43) of Brugnoli et al. 2020: ``inverted``).

SINGULAR = 1e-14
ROUND_OFF = 1e-13
DEPENDENT = 1e-10


class IndefiniteEnergyError(ModelError):
    """Error for a model whose energy is not positive, so that it has no energy coordinates."""


@dataclass(frozen=True, eq=False)
class EnergyForm:
    """Linear model in coordinates y in which its energy is ``|y|^2 / 2``, as dense matrices, with independent
    multipliers of constraints.

    Attributes:
        structure: J, shape (n, n), skew.
        dissipation: R, shape (n, n), positive semi-definite.
        ties: N, shape (n, k), orthonormal columns.
        ports: B, shape (n, inputs).
        tie_ports: T of ``N^T y = T u``, shape (k, inputs).
        outputs: C, shape (outputs, n).
        tie_outputs: output matrix of the multipliers, shape (outputs, k).
        to_energy: U of y = U x, shape (n, order of the model).
        from_energy: X of x = X y, shape (order of the model, n); multipliers are left at zero.
        free: P, orthonormal basis of null N^T, shape (n, n - k).
        velocities: number of velocities, the first of y; the others are stresses. None: not known.
        free_velocities: number of columns of P that are velocities; None: not known, or constraints hold stresses.
    """

    structure: Array
    dissipation: Array
    ties: Array
    ports: Array
    tie_ports: Array
    outputs: Array
    tie_outputs: Array
    to_energy: Array
    from_energy: Array
    free: Array
    velocities: int | None
    free_velocities: int | None

    @property
    def free_ports(self) -> Array:
        """Input matrix of the model in the coordinates that constraints leave free, shape (n - k, inputs). Inputs
        that prescribe velocities act on them through inertia."""
        rates = self.structure - self.dissipation
        return np.asarray(self.free.T @ (rates @ self.ties @ self.tie_ports + self.ports))

    @property
    def free_outputs(self) -> Array:
        """Output matrix of the model in the coordinates that constraints leave free, shape (outputs, n - k)."""
        return np.asarray(self.seen @ self.free)

    @property
    def seen(self) -> Array:
        """Output matrix of all n energy coordinates of the model, shape (outputs, n). Outputs that are forces of
        constraints are expressed by the coordinates."""
        return np.asarray(self.outputs - self.tie_outputs @ self.ties.T @ (self.structure - self.dissipation))

    @property
    def coupling(self) -> Array | None:
        """Matrix L, shape (velocities, stresses), that couples velocities v with stresses s in the free energy
        coordinates of the model. The equations are ``dv/dt = -D v - L s + ..., ds/dt = L^T v``. None if it is not
        known which coordinates are which, or if stresses are coupled with each other or have losses.
        """
        k = self.free_velocities
        if k is None:
            return None
        J, R = self.on_free_states(self.structure), self.on_free_states(self.dissipation)
        size = max(np.abs(J).max(initial=0.0), np.abs(R).max(initial=0.0))
        others = (J[k:, k:], R[k:, :])
        if max(np.abs(block).max(initial=0.0) for block in others) > ROUND_OFF * size:
            return None
        return np.asarray(-J[:k, k:])

    def on_free_states(self, matrix: Array) -> Array:
        """Project a matrix of all energy coordinates of the model, shape (n, n), onto the coordinates that
        constraints leave free. The result has the shape (n - k, n - k)."""
        if not self.ties.shape[1]:
            return matrix
        return np.asarray(self.free.T @ matrix @ self.free if matrix.any() else np.zeros((self.free.shape[1],) * 2))


def energy_form(model: ObservedPHDAE) -> EnergyForm:
    """Transform the states of a linear port-Hamiltonian model so that its energy is half their squared norm, and
    return its matrices in the new coordinates. The transformation, which is returned too, follows from Cholesky
    factors, or eigenvectors, of the energy matrix E^T Q; E multiplies the derivatives of the states, Q maps states
    to efforts. Multipliers of constraints are split off, and the constraint directions made orthonormal. Matrices
    are dense. Velocities come before stresses if the model says which states are which. Raise ``ModelError`` for an
    E that is singular beyond the multipliers, ``IndefiniteEnergyError`` for an energy that is not positive.

    Raises:
        ModelError: an E that is singular beyond multipliers of constraints, inputs that
            contradict constraints, or outputs that see displacements without energy or undetermined multipliers.
        IndefiniteEnergyError: an energy that is not positive.
    """
    moving, tied = dynamic_and_multipliers(model)
    E, Q = (matrix[moving][:, moving].toarray() for matrix in (model.descriptor, model.effort_matrix))
    factors = _factors(E)
    to_energy, from_energy, velocities = _split_coordinates(E.T @ Q, kinds_of_states(model)[moving])
    map_forces, n = np.asarray(_solve(factors, to_energy.T, transposed=True)).T, len(to_energy)  # G = U E^-1
    J, R = (
        np.asarray((map_forces @ matrix[moving][:, moving]) @ map_forces.T) if matrix.nnz else np.zeros((n, n))
        for matrix in (model.structure, model.dissipation)
    )
    inner, outer = np.zeros((len(J), model.order)), np.zeros((model.order, len(J)))
    inner[:, moving], outer[moving] = to_energy, from_energy
    forces = map_forces @ model.structure[moving][:, tied].toarray()
    ties, tie_ports, tie_outputs, free = orthonormal_ties(
        forces, model.port_map[tied].toarray(), model.output_matrix[:, tied].toarray()
    )
    free_velocities = None
    if velocities is not None and not forces[velocities:].any():
        held = free.shape[0] - free.shape[1]
        free_velocities = velocities - held
        free = linalg.block_diag(linalg.null_space(ties[:velocities].T), np.eye(len(J) - velocities))
    return EnergyForm(
        (J - J.T) / 2,
        (R + R.T) / 2,
        ties,
        map_forces @ model.port_map[moving].toarray(),
        tie_ports,
        _output_rows(model, moving, to_energy, from_energy),
        tie_outputs,
        inner,
        outer,
        free,
        velocities,
        free_velocities,
    )


def _factors(E: Array) -> tuple[Array, Array, Array]:
    """Compute the LU factorization, with partial pivoting, of a dense square matrix E whose rows are divided by
    their largest absolute entries. Return these largest entries, the packed LU factors of LAPACK and the pivots.
    Raise ``ModelError`` if a row is zero or a diagonal entry of U is near round-off. An empty E is returned
    without factorization."""
    size = np.abs(E).max(axis=1, initial=0.0)
    if not size.all():
        raise ModelError("E is singular: some states have no inertia, and this needs a regular E")
    if not len(E):
        return size, E, size
    lower_upper, pivots, _ = linalg.lapack.dgetrf(E / size[:, None])
    if np.abs(np.diag(lower_upper)).min() < SINGULAR:
        raise ModelError("E is singular: some states have no inertia, and this needs a regular E")
    return size, lower_upper, pivots


def _solve(factors: tuple[Array, Array, Array], right: Array, transposed: bool = False) -> Array:
    """Solve E x = right, or E^T x = right if ``transposed``, and return x, shape (n, columns). ``factors`` is the
    LU factorization of the row-scaled E, as ``_factors`` returns it."""
    size, *lower_upper = factors
    if not len(size):
        return right
    scaled = right if transposed else right / size[:, None]
    found = np.asarray(linalg.lu_solve(tuple(lower_upper), scaled, trans=int(transposed)))
    return found / size[:, None] if transposed else found


def _split_coordinates(energy: Array, kinds: IntArray) -> tuple[Array, Array, int | None]:
    """Return the matrices that transform states to energy coordinates and back, with velocities before stresses,
    and the number of velocities. In energy coordinates the energy is half the squared norm. ``kinds`` has the kind
    of each state. The number is None, without this order, if ``energy`` couples velocities with stresses or a kind
    is unknown."""
    groups = [np.flatnonzero(kinds == kind) for kind in (StateKind.VELOCITY, StateKind.STRESS)]
    if (kinds == StateKind.UNKNOWN).any() or energy[np.ix_(*groups)].any():
        return (*_energy_coordinates(energy), None)
    parts = [_energy_coordinates(energy[np.ix_(group, group)]) for group in groups]
    order = np.argsort(np.concatenate(groups))
    to_energy, from_energy = (linalg.block_diag(*pair) for pair in zip(*parts, strict=True))
    return to_energy[:, order], from_energy[order], len(parts[0][0])


def _energy_coordinates(energy: Array) -> tuple[Array, Array]:
    """Factor a symmetric energy matrix W as U^T U. Return U, shape (rank, n), and a right inverse X, shape (n,
    rank), with U X = I. Rows and columns are scaled to unit diagonal first. U comes from a Cholesky factorization,
    or from eigenvectors with eigenvalues above round-off if W is nearly singular. Raise ``IndefiniteEnergyError``
    if W has a negative eigenvalue or diagonal entry."""
    energy = (energy + energy.T) / 2
    diagonal = np.diag(energy)
    if (diagonal < 0).any():
        raise IndefiniteEnergyError("the energy of this model is not positive")
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = energy / np.outer(scale, scale)
    try:
        upper = linalg.cholesky(scaled)
        if len(scaled) == 0 or np.diag(upper).min() > np.sqrt(ROUND_OFF * len(scaled)):
            inverse = linalg.solve_triangular(upper, np.eye(len(scaled)))
            return upper * scale, inverse / scale[:, None]
    except linalg.LinAlgError:
        pass
    values, vectors = linalg.eigh(scaled)
    level = ROUND_OFF * len(scaled) * max(values[-1], 1.0)
    if values[0] < -level:
        raise IndefiniteEnergyError("the energy of this model is not positive")
    kept = values > level
    roots, vectors = np.sqrt(values[kept]), vectors[:, kept]
    return (vectors * roots).T * scale, vectors / roots / scale[:, None]


def orthonormal_ties(ties: Array, ports: Array, outputs: Array) -> tuple[Array, Array, Array, Array]:
    """Return linearly independent constraints with orthonormal directions in place of those with the directions
    ``ties``, shape (n, multipliers). The four arrays are the directions (n, k), the inputs (k, inputs) and outputs
    (outputs, k) of the new multipliers, and an orthonormal basis of the remaining coordinates (n, n - k). ``ports``
    and ``outputs`` belong to the multipliers of ``ties``. Raise ``ModelError`` if dependent constraints have
    contradicting inputs, or if outputs depend on forces that are not unique.

    In the model the algebraic rows read ``0 = -N^T z + B_a u``.
    """
    n, size = len(ties), np.linalg.norm(ties, axis=0)
    size = np.where(size > 0, size, 1.0)
    if ties.size:
        left, values, right = linalg.svd(ties / size)
    else:
        left, values, right = np.eye(n), np.zeros(0), np.eye(ties.shape[1])
    rank = int((values > DEPENDENT * values.max(initial=0.0)).sum())
    ports = ports / size[:, None]
    if not rank:
        found = np.zeros((n, 0)), np.zeros((0, ports.shape[1])), np.zeros((len(outputs), 0)), np.eye(n)
        missed = ports
    else:
        rotated = right[:rank]
        found = (
            left[:, :rank],
            (rotated @ ports) / values[:rank, None],
            (outputs / size) @ rotated.T / values[:rank],
            left[:, rank:],
        )
        missed = ports - rotated.T @ (rotated @ ports)
        outputs = outputs - (outputs / size) @ rotated.T @ rotated * size
    if np.abs(missed).max(initial=0.0) > DEPENDENT * np.abs(ports).max(initial=0.0):
        raise ModelError(
            "inputs prescribe velocities that joints, or other inputs, prescribe already; leave one of them out"
        )
    if np.abs(outputs / size).max(initial=0.0) > DEPENDENT * np.abs(found[2]).max(initial=0.0):
        raise ModelError("outputs depend on forces of redundant joints, which are not unique; leave out a joint")
    return found


def _output_rows(model: ObservedPHDAE, moving: IntArray, to_energy: Array, from_energy: Array) -> Array:
    """Return the output matrix of a linear ``model`` in energy coordinates, shape (outputs, n), without
    multipliers. It is the model's own matrix, in the columns of the other states ``moving`` (indices), times
    ``from_energy``. Times ``to_energy`` it must reproduce that matrix; otherwise an output depends on displacements
    that have no energy, and ``ModelError`` is raised.
    """
    rows = model.output_matrix[:, moving].toarray()
    found = rows @ from_energy
    size = np.abs(rows).max(axis=1, initial=0.0)
    missed = np.abs(rows - found @ to_energy).max(axis=1, initial=0.0) > 1e-8 * size
    if missed.any():
        names = ", ".join(name for name, miss in zip(model.outputs, missed, strict=True) if miss)
        raise ModelError(f"{names}: displacements that have no energy are no outputs here; take velocities")
    return np.asarray(found)


# State spaces A, B, C, D, also where inputs prescribe velocities.

# State spaces of models whose inputs prescribe velocities, or whose outputs are joint forces (docs/theory.md, 7).
#
# In energy coordinates with ``N^T y = T u`` the states are a of y = P a + N T u. Their rates hold no du/dt, but
# the multipliers ``lambda = T du/dt - N^T (J - R) y - N^T B u`` do, and so do accelerations: the model is improper
# where an output answers to du/dt. There the acceleration du/dt is the input to take, as in two-input two-output
# port models.

IMPROPER = 1e-12


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
        """Return these matrices as a ``StateSpace`` object of the package python-control, with names of states,
        inputs and outputs. Dots in names are replaced by underscores. ``period`` is the sampling period [s] of a
        discrete-time system; None for continuous time.

        Raises:
            MissingExtraError: python-control is not installed.
        """
        names = {
            kind: [name.replace(".", "_") for name in getattr(self, kind)]
            for kind in ("states", "inputs", "outputs")
        }
        return optional("control", "control").ss(self.A, self.B, self.C, self.D, period or 0, **names)


def prescribed_state_space(model: ObservedPHDAE, accelerations: Sequence[str]) -> StateSpaceMatrices:
    """Return state-space matrices A, B, C, D of a linear model whose inputs may prescribe velocities. Constraints
    are eliminated; states are free energy coordinates. For inputs named in ``accelerations``, the velocity becomes
    an additional state and its time derivative the input. Raise ``ModelError`` if an output depends on the time
    derivative of another input, or is the rate of a joint force.

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
    """Return a mask of those inputs of a linear model that are replaced by their time derivatives, shape (inputs,).
    ``accelerations`` names them, or ports with all their inputs. Each must prescribe a velocity: its column of
    ``tie_ports`` (constraints, inputs) is not zero. Otherwise, and for a text in place of a list, raise
    ``ParameterError``.
    """
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
    """Raise ``ModelError`` if an output of a linear model depends on the time derivative of an input outside of
    the mask ``is_rate``. Such a model is improper and has no state-space form. ``D_rate`` (outputs, inputs) has
    the coefficients of the time derivatives. Entries below a small fraction of its largest absolute value are
    ignored. The message names the first pair."""
    improper = np.where(is_rate, 0.0, np.abs(D_rate)) > IMPROPER * np.abs(D_rate).max(initial=0.0)
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


def state_space_matrices(model: ObservedPHDAE, accelerations: Sequence[str] = ()) -> StateSpaceMatrices:
    """Return dense state-space matrices A, B, C and D of a linear model. The equations are dx/dt = A x + B u for
    states x and inputs u, with outputs C x + D u. Constraints are eliminated first, then E is inverted. For inputs
    named in ``accelerations``, which prescribe velocities, the time derivative becomes the input and the velocity
    a state. Raise ``ModelError`` for more than 4000 states.

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
    factors = _factors(model.descriptor.toarray())
    A, B = (_solve(factors, right.toarray()) for right in (model.system_matrix, model.port_map))
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
