"""Natural modes of linear models: frequencies, damping ratios, shapes."""

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackError, LinearOperator, eigs

from phlexible.algebra.arrays import Array, whole
from phlexible.algebra.sparse import SaddlePoint, natural_scale
from phlexible.description.ports import Attachment
from phlexible.display import shortened
from phlexible.errors import ModelError
from phlexible.linear.condensed import CondensedModel, condensed
from phlexible.linear.constraint_elimination import without_algebraic_states
from phlexible.linear.first_order import EnergyForm, IndefiniteEnergyError, energy_form
from phlexible.linear.linearize import Form, Linearization
from phlexible.linear.mechanics import LinearMechanics
from phlexible.linear.observed import ObservedPHDAE
from phlexible.linear.symmetric_modes import (
    RESTARTS,
    WIDER,
    all_symmetric_modes,
    lowest_symmetric_modes,
    undamped_modes,
)
from phlexible.state.small_motions import centring_matrix, world_matrix

# Modes with damping or gyroscopic terms: eigenvalues s of ``s^2 M + s (D + C) + K`` with ``G x = 0``, and where
# laws creep with B^T S B s tau / (1 + s tau) beside K: then there are real ones, one for each motion and time.
#
# Small models: first-order form (L^T x, v) of [B] (45) in coordinates of unit mass, K = L L^T, whose matrix
# is skew without damping: one Hermitian eigenvalue problem, eigenvalues exactly imaginary. Large
# models: shift-invert Arnoldi (ARPACK) around a real shift, with the sparse LU of the second-order form.

ComplexArray = NDArray[np.complex128]

DENSE = 700
ZERO = 1e-10
STILL_DENSE = 1e-13  # of the fastest rate: round-off of dense eigenvalues
REAL = 1e-9  # imaginary part of an eigenvalue that is real, relative
BESIDE = 4  # modes beside those that are wanted
SAME = 1e-15  # of the greatest square of a frequency: round-off
ROUND_OFF = 1e-13  # of the same: of forces without potential
DEPENDENT = 1e-10
ROUNDS, SETTLED, NEAR = 12, 1e-7, 1e-3


def lowest_complex_modes(mechanics: LinearMechanics, count: int) -> tuple[ComplexArray, ComplexArray, int]:
    """Return the ``count`` lowest eigenvalues s (Im s >= 0) of a damped or gyroscopic second-order model, in
    ascending order of |s|. Return also complex shapes of unit modal mass, shape (n, count), and the number of zero
    eigenvalues, which are set to exact zeros. Small models use dense matrices, large ones Arnoldi's method with a
    shift."""
    if mechanics.freedom <= DENSE or 4 * count + 20 > mechanics.freedom:
        values, shapes = _dense(mechanics)
        level = STILL_DENSE * np.abs(values).max(initial=0.0)
    else:
        values, shapes = _arnoldi(mechanics, 2 * count + 6)
        level = np.inf
    upper = values.imag > -ZERO * np.abs(values).max(initial=0.0)
    values, shapes = values[upper], shapes[:, upper]
    order = np.argsort(np.abs(values), kind="stable")
    values, shapes = values[order], shapes[:, order]
    near = 1e-7 * np.abs(values[min(count + 6, len(values)) - 1]) if len(values) else 0.0
    zero = np.abs(values) <= min(level, near)
    values = np.where(zero, 0.0, values)
    rigid = int(zero.sum())
    return values[:count], _normalized_by_mass(mechanics, shapes)[:, :count], rigid


def _normalized_by_mass(mechanics: LinearMechanics, shapes: ComplexArray) -> ComplexArray:
    size = np.sqrt(np.einsum("ij,ij->j", shapes.conj(), mechanics.mass @ shapes).real)
    return np.asarray(shapes / np.maximum(size, 1e-300))


def _creeping_modes(mechanics: LinearMechanics, count: int) -> "Modes":
    """Return the ``count`` lowest modes of a second-order model with viscoelastic Maxwell branches; purely
    decaying motions are not counted. Small models are solved with dense matrices in the basis of all undamped
    modes, and decay rates are returned too. Large ones start from undamped modes with relaxed and with
    instantaneous stiffness. Corrections by inverse iteration extend this basis until eigenvalues converge, else
    ``ModelError`` is raised.

    Modes of a large model are computed in a basis of its undamped modes, with relaxed branches and with dashpots
    that do not move. The basis is extended by corrections of the eigenvectors until the eigenvalues settle.
    """
    if mechanics.freedom <= DENSE:
        every = all_symmetric_modes(mechanics)
        return _split_modes(mechanics, every.shapes, every.squares, count)
    quick = mechanics.stiffness
    for each in mechanics.inner:
        quick = sparse.csr_array(quick + each.fast_stiffness)
    found = (undamped_modes(each, count + BESIDE) for each in (mechanics, replace(mechanics, stiffness=quick)))
    basis = np.hstack([each.shapes for each in found])
    scale, before = natural_scale(mechanics.mass), np.zeros(0, dtype=np.complex128)
    for round_ in range(ROUNDS):
        basis = _orthonormal(_orthonormal(basis, mechanics.mass), mechanics.mass)
        squares, turned = linalg.eigh(basis.T @ (mechanics.stiffness @ basis))
        level = SAME * len(squares) * np.abs(squares).max(initial=0.0)
        basis, squares = basis @ turned, np.where(np.abs(squares) <= level, 0.0, squares)
        modes = _split_modes(mechanics, basis, squares, count)
        values = modes.eigenvalues
        limits = SETTLED * np.abs(values)
        if round_ == ROUNDS - 1:  # round-off of slow modes
            limits += np.finfo(float).eps * np.abs(squares).max(initial=0.0) / np.maximum(np.abs(values), 1e-300)
        if len(before) == len(values) and (np.abs(values - before) <= limits).all():
            return replace(modes, relaxations=None)
        before, missed = values, []
        for s, x in zip(values, modes.shapes.T, strict=True):
            if s != 0:
                near = _dynamic(mechanics, (1 + NEAR) * complex(s))
                beside = SaddlePoint(near, mechanics.constraint_matrix, scale=scale)
                answer = beside.solve((_dynamic(mechanics, complex(s)) @ x)[:, None])[0][:, 0]
                missed += [answer.real, answer.imag]
        basis = np.hstack([basis, *(each[:, None] for each in missed)])
    raise ModelError(f"modes with creep: no convergence in {ROUNDS} rounds; change count or reduce the model")


def _orthonormal(columns: Array, mass: sparse.csr_array) -> Array:
    """Return a basis of the span of the given ``columns``, shape (n, k), that is orthonormal in the ``mass``
    matrix; directions that are linearly dependent up to round-off are left out."""
    columns = columns / np.sqrt(np.einsum("ij,ij->j", columns, mass @ columns))
    values, vectors = linalg.eigh(columns.T @ (mass @ columns))
    kept = values > DEPENDENT
    return np.asarray(columns @ (vectors[:, kept] / np.sqrt(values[kept])))


def _dynamic(mechanics: LinearMechanics, s: complex) -> sparse.csr_array:
    total = mechanics.stiffness + s * (mechanics.velocity + mechanics.damping) + s**2 * mechanics.mass
    for each in mechanics.inner:
        total = total + each.stiffness_fraction(s) * each.fast_stiffness
    return sparse.csr_array(total)


def _split_modes(mechanics: LinearMechanics, basis: Array, squares: Array, count: int) -> "Modes":
    """Return the ``count`` oscillating or growing modes of smallest absolute eigenvalue of a viscoelastic model,
    whose motions are restricted to combinations of ``basis`` (n, k). The basis consists of undamped modes with
    squared frequencies ``squares`` (k,); the small eigenvalue problem is dense. Of a complex pair, the eigenvalue
    with positive imaginary part is returned; rigid modes have zero. The decay rates [1/s] of all purely decaying
    motions are in ``relaxations`` of the result, ascending.
    """
    small = mechanics.projected(basis).with_fewest_strains()
    n, e = small.size, small.inner_count
    kept = squares != 0  # positions of motions that strain nothing are no states
    r = int(kept.sum())
    rates = (small.velocity + small.damping).toarray()
    strained = np.vstack([np.zeros((0, n)), *(each.rows.toarray() for each in small.inner)])
    fading = np.concatenate([np.zeros(0), *(np.full(each.size, 1 / each.time) for each in small.inner)])
    L = np.diag(np.sqrt(np.abs(squares)))[:, kept]
    matrix = np.block(
        [
            [np.zeros((r, r)), L.T, np.zeros((r, e))],
            [-L * np.sign(squares[kept]), -rates, -strained.T],
            [np.zeros((e, r)), strained, -np.diag(fading)],
        ]
    )
    values, states = linalg.eig(matrix)
    still = linalg.null_space(np.vstack([rates[:, ~kept], strained[:, ~kept]])).shape[1] if r < n else 0
    order = np.argsort(np.abs(values), kind="stable")
    values, states = values[order], states[:, order]
    values[:still] = 0.0
    size = np.abs(values)
    is_real = np.abs(values.imag) <= REAL * size
    fades = is_real & (values.real < 0)
    chosen = np.flatnonzero(~fades & (is_real | (values.imag > 0)))[:count]
    shapes = _normalized_by_mass(mechanics, np.asarray(basis @ states[r : r + n, chosen]))
    values = values.astype(np.complex128)
    return Modes(values[chosen], shapes, still, None, 0, np.sort(-values[fades].real))


def _dense(mechanics: LinearMechanics) -> tuple[ComplexArray, ComplexArray]:
    """Return all complex eigenvalues [rad/s] of a damped or gyroscopic second-order model and the mode shapes,
    shape (n, eigenvalues). A dense first-order matrix in coordinates of the undamped modes is used, so that low
    frequencies are accurate in a stiff model. Positions of rigid motions are no states, so that each gives a
    single zero eigenvalue."""
    undamped = all_symmetric_modes(mechanics)
    shapes, squares = undamped.shapes, undamped.squares
    small = mechanics.projected(shapes)
    D, C, N = (each.toarray() for each in (small.velocity, small.damping, small.circulatory))
    kept = squares != 0  # positions of rigid motions are no states: a double zero counts once
    r = int(kept.sum())
    if (squares < 0).any() or N.any():  # no sum of squares: an instability that rotation or loads may hold
        left, sizes, right = linalg.svd(np.diag(squares) + N)
        r = int((sizes > ROUND_OFF * sizes.max(initial=0.0)).sum())
        first_order = np.block([[np.zeros((r, r)), right[:r]], [-left[:, :r] * sizes[:r], -D - C]])
        found, states = linalg.eig(first_order)
    else:
        L = np.diag(np.sqrt(squares))[:, kept]
        first_order = np.block([[np.zeros((r, r)), L.T], [-L, -(D - D.T) / 2 - C]])
        if mechanics.is_damped:
            found, states = linalg.eig(first_order)
        else:
            omega, states = linalg.eigh(-1j * first_order)
            found = 1j * omega
    return np.asarray(found, dtype=np.complex128), np.asarray(shapes @ states[r:], dtype=np.complex128)


def _arnoldi(mechanics: LinearMechanics, count: int) -> tuple[ComplexArray, ComplexArray]:
    n, mass, rates = mechanics.size, mechanics.mass, mechanics.velocity + mechanics.damping
    scale, rng = natural_scale(mass), np.random.default_rng(0)
    shift = _shift(mechanics)
    dynamic = sparse.csr_array(mechanics.stiffness + mechanics.circulatory + shift * rates + shift**2 * mass)
    solver = SaddlePoint(dynamic, mechanics.constraint_matrix, scale=scale)

    def inverse(b: Array) -> Array:
        """Return (A - shift E)^-1 E times a state b = (x, v), shape (2 n,). The eigenvalue problem is A y = s
        E y."""
        x, v = b[:n], b[n:]
        moved, _ = solver.solve(-(mass @ v) - rates @ x - shift * (mass @ x))
        return np.concatenate([moved, shift * moved + x])

    start = scale * rng.normal(size=n)
    start, _ = solver.solve(mass @ start)
    first = inverse(inverse(np.concatenate([start, np.zeros(n)])))
    operator = LinearOperator((2 * n, 2 * n), matvec=inverse, dtype=np.float64)
    for wider in WIDER:
        options = {"v0": first, "ncv": min(wider * (2 * count + 20), 2 * n - 1), "maxiter": RESTARTS}
        with suppress(ArpackError):
            found, states = eigs(operator, count, which="LM", **options)
            break
    else:
        raise ModelError(f"{count // 2} modes: no convergence; ask for another count or reduce the model")
    return shift + 1 / found, states[n:] if np.abs(found).max() > 0 else states[:n]


def _shift(mechanics: LinearMechanics) -> float:
    """Return the shift of the eigenvalue solver for a second-order model [rad/s]: half of the lowest nonzero
    undamped frequency among its six lowest modes, or 1/2 if all six are zero. Negative squared frequencies count
    by their absolute values."""
    squares = np.abs(lowest_symmetric_modes(mechanics, 6).squares)
    positive = squares[squares > 0]
    return float(np.sqrt(positive.min() if len(positive) else 1.0)) / 2


@dataclass(frozen=True, eq=False)
class Modes:
    """Lowest modes of a linear model in the order of their frequencies; rigid modes come first, with frequency 0.

    Attributes:
        eigenvalues: s with Im s >= 0, shape (count,) [1/s]; imaginary for a lossless model. Each with
            Im s > 0 stands for itself and its conjugate, a rigid mode for a double zero.
        shapes: motions x of all coordinates with x.M x = 1, shape (n, count); complex with damping or
            gyroscopic terms. Of a model without second-order form: states of energy 1/2.
        rigid_modes: number of motions without any stiffness.
        self_stresses: number of zero eigenvalues that are states of self-stress, not rigid-body modes: stresses in
            equilibrium with themselves and the joints, which no motion can change (docs/theory.md, 7). They are
            not among the eigenvalues.
        relaxations: decay rates of strains of a viscoelastic model that do not oscillate, -s of all real and
            negative eigenvalues, ascending [1/s]; ``eigenvalues`` does not contain them. None: not known (more than
            700 free coordinates), or no law is viscoelastic.
        linearization: linearized mechanism that the shapes belong to; None for a reduced model.
    """

    eigenvalues: ComplexArray
    shapes: Array | ComplexArray
    rigid_modes: int
    linearization: Linearization | None = None
    self_stresses: int = 0
    relaxations: Array | None = None

    def __repr__(self) -> str:
        listed = shortened([f"{omega:.5g}" for omega in self.frequencies])
        return f"{type(self).__name__}({listed} rad/s; {self.rigid_modes} rigid)"

    @property
    def frequencies(self) -> Array:
        """Angular frequencies of these modes, the moduli of their eigenvalues, shape (count,) [rad/s]; 0 for rigid
        modes."""
        return np.abs(self.eigenvalues)

    @property
    def damping_ratios(self) -> Array:
        """Damping ratios of these modes, -Re s / ``|s|`` for each eigenvalue s, shape (count,); 0 for rigid
        modes."""
        size = self.frequencies
        return np.asarray(-self.eigenvalues.real / np.where(size > 0, size, 1.0) + 0.0)

    @property
    def elastic_frequencies(self) -> Array:
        """Angular frequencies of the modes other than rigid ones, shape (modes,) [rad/s]."""
        return np.asarray(self.frequencies[self.frequencies > 0])

    def displacement(self, attachment: Attachment) -> Array | ComplexArray:
        """Return the displacement of a point of a body in each mode in world axes, shape (count, 3). It is in m
        for modes of unit modal mass. ``attachment`` is the point of the body. Raise ``ModelError`` for a body of
        another model and for modes that come from no linearized mechanism.

        Raises:
            ModelError: a body of another model, or the modes of a reduced model.
        """
        if self.linearization is None:
            raise ModelError("the shapes of a reduced model belong to no attachment; take those of the full one")
        return point_motions(self.linearization, attachment, self.shapes)


def point_motions(linear: Linearization, attachment: Attachment, shapes: Array | ComplexArray) -> Array:
    """Return the displacements in world axes of a point of a body in k small motions of a linearized mechanism,
    shape (k, 3). The motions are the columns of ``shapes``, shape (n, k) for n velocity components, and may be
    complex. They are multiplied by the point's Jacobian at the operating point. Raise ``ModelError`` if
    ``attachment`` is no point of this model's bodies."""
    system, state = linear.system, linear.point.state
    if not isinstance(attachment, Attachment) or attachment.placed not in system.index:
        raise ModelError(f"attachment must be a point of a body of this model such as beam.end, got {attachment!r}")
    weights, vectors = system.point(attachment)
    motion = world_matrix(system, state) @ centring_matrix(system, state)
    jacobian = sparse.kron(weights[None], sparse.eye_array(3)) @ vectors.jacobian(system.at(state)) @ motion
    return np.asarray((jacobian @ shapes).T)


def lowest_modes(mechanics: LinearMechanics, count: int, linear: Linearization | None = None) -> Modes:
    """Return the ``count`` lowest modes of a second-order model (``mechanics``), rigid modes included. With
    Maxwell branches, the solver for viscoelastic models is used. With damping, gyroscopic or follower forces it is
    the complex one, else the symmetric one, where unstable motions have real positive eigenvalues. ``linear`` (or
    None), the linearized mechanism, is only stored with the result.

    Raises:
        ParameterError: a count below 1.
    """
    whole("count", count)
    if mechanics.inner and mechanics.freedom:
        return replace(_creeping_modes(mechanics, int(count)), linearization=linear)
    is_complex = mechanics.is_gyroscopic or mechanics.is_damped or mechanics.without_potential is not None
    if is_complex and mechanics.freedom:
        values, shapes, rigid = lowest_complex_modes(mechanics, int(count))
        return Modes(values, shapes, rigid, linear)
    modes = lowest_symmetric_modes(mechanics, int(count))
    roots = np.sqrt(modes.squares.astype(np.complex128))  # of an unstable motion: real
    growing = modes.squares < 0
    return Modes(np.where(growing, roots.imag, 1j * roots.real), modes.shapes, modes.rigid, linear)


# Modes of any linear model: by its second-order form where it has one, else by its energy coordinates.
#
# Without damping ``dy/dt = J y`` has a skew matrix, and -i J is Hermitian: eigenvalues are imaginary exactly.
# The kernel of J - R holds what never changes, rigid motions and self-stresses (docs/theory.md, 7); it is
# orthogonal to all other modes, with damping, too, and is split off first.

LARGEST = 4000
ZERO_ENERGY = 1e-12  # of the largest eigenvalue
ZERO_BY_LU = 1e-9
STILL = 1e-6  # share of the energy of a constant state that is kinetic


def lowest_model_modes(model: ObservedPHDAE, count: int) -> Modes:
    """Return the ``count`` lowest modes of any linear port-Hamiltonian model, with all inputs zero (prescribed
    velocities too). Second-order matrices are used if the model has them or can be condensed to them. Else dense
    matrices in energy coordinates are, or without energy coordinates if the energy is not positive. Raise
    ``ModelError`` if the model is too large for dense matrices.

    Raises:
        ParameterError: a count below 1.
        ModelError: more than 4000 states without second-order form, or an E that is singular beyond
            multipliers of constraints.
    """
    if model.mechanics is not None:
        modes = lowest_modes(model.mechanics, count, model.linearization)
        return replace(modes, self_stresses=_self_stresses(model, modes.rigid_modes))
    count = whole("count", count)
    if (motions := condensed(model)) is not None:
        return _modes_of_motions(motions, count)
    if model.order > LARGEST:
        raise ModelError(
            f"modes of {model.order} states need dense matrices (at most {LARGEST}) where velocities are not told "
            "from stresses by units, or stresses have losses or are coupled across more than 4000 of them"
        )
    try:
        form = energy_form(model)
    except IndefiniteEnergyError:
        return _modes_without_energy(model, count)
    found = _modes_of_states(form)
    upper = found.values.imag > -ZERO_ENERGY * np.abs(found.values).max(initial=0.0)
    values, states = found.values[upper], found.states[:, upper]
    order = np.argsort(np.abs(values), kind="stable")
    rigid = found.motions.shape[1]
    values = np.concatenate([np.zeros(rigid), values[order]])
    shapes = form.from_energy @ np.hstack([found.motions, states[:, order]])
    return Modes(values[:count], shapes[:, :count], rigid, None, found.self_stresses)


@dataclass(frozen=True, eq=False)
class _AllModes:
    """All modes of a model in energy coordinates, with constant states (rigid motions and self-stresses) separated.

    Attributes:
        motions: constant states with kinetic energy, shape (n, rigid motions).
        self_stresses: number of the other constant states.
        values: eigenvalues other than those of the constants, shape (k,).
        states: eigenvectors of ``values``, shape (n, k).
    """

    motions: Array
    self_stresses: int
    values: ComplexArray
    states: ComplexArray


def _modes_of_motions(motions: CondensedModel, count: int) -> Modes:
    """Return the ``count`` lowest modes of a first-order model of velocities and stresses, by the eigenvalue
    solver for its second-order form (``motions``). Shapes are states: velocities, and stresses of the
    displacements velocity / eigenvalue (zero for eigenvalue zero). They are scaled to energy 1/2. The number of
    self-stresses (stresses in equilibrium) is stored too."""
    mechanics = motions.mechanics
    modes = lowest_modes(mechanics, count)
    rates, shapes = modes.eigenvalues, modes.shapes
    still = rates == 0
    states = motions.velocity_states(shapes.astype(np.complex128))
    states += np.where(still, 0.0, motions.strain_states(shapes / np.where(still, 1.0, rates)))
    energy = np.einsum("ij,ij->j", states.conj(), motions.model.energy_matrix @ states).real
    rigid = modes.rigid_modes if not mechanics.is_damped else undamped_modes(mechanics, 1).rigid
    self_stresses = motions.stress_count - (mechanics.freedom - rigid)
    return Modes(rates, states / np.sqrt(np.where(energy > 0, energy, 1.0)), modes.rigid_modes, None, self_stresses)


def _modes_of_states(form: EnergyForm) -> _AllModes:
    """Return all modes of a linear model in energy coordinates (``form``) by a dense eigenvalue problem, after
    states that never change are split off. These constant states are the kernel of structure matrix minus
    dissipation matrix. Those of their combinations that have velocities are returned as rigid motions. The others
    are self-stresses, of which only the number is returned. If ``form`` does not say which states are velocities,
    all constant states are rigid motions. Without dissipation the problem is Hermitian."""
    kernel = _kernel(form.on_free_states(form.structure - form.dissipation), _round_off(form))
    constants = form.free @ kernel
    v = len(constants) if form.velocities is None else form.velocities
    _, shares, rotation = linalg.svd(constants[:v]) if constants.size else (0, np.zeros(0), np.eye(0))
    motions = constants @ rotation[: int((shares**2 > STILL).sum())].T
    basis = form.free
    if kernel.shape[1]:
        basis = form.free @ linalg.qr(kernel)[0][:, kernel.shape[1] :]
    J = basis.T @ form.structure @ basis
    if form.dissipation.any():
        values, states = linalg.eig(J - basis.T @ form.dissipation @ basis)
    else:
        omega, states = linalg.eigh(-0.5j * (J - J.T))
        values = 1j * omega
    number = constants.shape[1] - motions.shape[1]
    return _AllModes(motions, number, *(np.asarray(each, dtype=np.complex128) for each in (values, basis @ states)))


def _round_off(form: EnergyForm) -> float:
    """Return the size below which rates of a model (``form``) in energy coordinates count as numerical round-off:
    1e-12 times the order of the model times the largest entry of its matrices."""
    largest = max(np.abs(matrix).max(initial=0.0) for matrix in (form.structure, form.dissipation))
    return float(ZERO_ENERGY * len(form.structure) * largest)


def _kernel(matrix: Array, round_off: float) -> Array:
    """Return an orthonormal basis of the null space of a matrix, shape (n, k): its right singular vectors with
    singular values up to ``round_off``."""
    if not matrix.size:
        return np.zeros((len(matrix), 0))
    _, values, right = linalg.svd(matrix)
    return np.asarray(right[values <= round_off].T)


def _self_stresses(model: ObservedPHDAE, rigid: int) -> int:
    """Return the number of independent self-stresses (stresses in equilibrium without loads) of a linear model in
    stress form. It is the number of stress states minus the number of deformations, which is velocities minus
    constraints minus ``rigid``, the number of rigid modes. It is zero for a model in displacement form, or one
    without second-order matrices.
    """
    mechanics = model.mechanics
    if mechanics is None or model.form is not Form.STRESS:
        return 0  # displacements that obey the joints
    rows = mechanics.constraint_matrix.shape[0]
    stresses = model.order - mechanics.size - mechanics.inner_count - rows
    return int(stresses - (mechanics.size - rows - rigid))


def _modes_without_energy(model: ObservedPHDAE, count: int) -> Modes:
    """Return the ``count`` lowest modes of a linear model whose energy is not positive, by its dense generalized
    eigenvalue problem. Multipliers are eliminated first. Eigenvalues with negative imaginary part are dropped, and
    the rest is sorted by absolute value. Eigenvalues up to round-off are set to zero and count as rigid modes."""
    model = without_algebraic_states(model)
    E, A = model.descriptor.toarray(), model.system_matrix.toarray()
    values, states = linalg.eig(A, E)
    largest = float(np.abs(values).max(initial=0.0))
    upper = values.imag > -ZERO_BY_LU * largest
    values, states = values[upper], states[:, upper]
    order = np.argsort(np.abs(values), kind="stable")
    values = np.where(np.abs(values) <= ZERO_BY_LU * largest, 0.0, values)[order]
    return Modes(values[:count], states[:, order][:, :count], int((values == 0).sum()))
