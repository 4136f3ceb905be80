"""Bases of second-order models: Krylov, modal, Craig-Bampton, of one body."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.caching import cached_on_owner
from phlexible.algebra.sparse import as_array
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.beam.bases import independent_columns
from phlexible.bodies.mechanics.floating import elastic_tangent
from phlexible.description.ports import PlacedBody
from phlexible.errors import ModelError, ParameterError, PoleError, ReductionWarning, warn_user
from phlexible.linear.frequency_response import harmonic_responses
from phlexible.linear.linearize import Linearization
from phlexible.linear.mechanics import LinearMechanics
from phlexible.linear.symmetric_modes import SymmetricModes, static_responses, undamped_modes

# Krylov bases from responses of the full model at some frequencies, where the reduced model agrees with it.

# What Krylov bases of motions and of states share: which answers, and in which order.
#
# Where frequencies are left out, the static answers to all inputs come first, so that each order has the right
# compliance. Of the others three of four columns are answers at the resonances that inputs and outputs see, in
# ascending order; each fourth one is found greedily: where the error is greatest up to the last of these
# resonances. No choice depends on the order that is asked for, so that the basis of a higher order holds those of
# lower ones: up to a resonance that all of them have, the error does not grow with the order.

ComplexArray = NDArray[np.complex128]

GRID = 12  # frequencies between two modes
GREEDY = 4  # each fourth column
ASIDE = 1e-4  # of a pole, where an undamped model is looked at instead
DEPENDENT = 1e-6
ROUND_OFF = 1e-13


class Answers(ABC):
    """Abstract source of Krylov bases: the responses of a linear model to its inputs at given frequencies.

    Attributes:
        metric: energy matrix, symmetric and positive semi-definite, shape (n, n).
        phases: number of columns of one response that matter: 2 where forces across the velocity turn motions.
    """

    metric: sparse.csr_array
    phases: int = 1

    @abstractmethod
    def columns(self, omega: float) -> list[Array]:
        """Return a list of real arrays that span the responses of the linear model to unit inputs at angular
        frequency ``omega`` [rad/s], most energy first. Subclasses compute them.

        Each of shape (n, 1), or (n, 2) with its partner, without which it would drift.
        """

    @abstractmethod
    def static_columns(self) -> list[Array]:
        """Return a list of real columns that span the responses of the linear model to constant unit inputs, in
        balance with rigid acceleration. It is abstract; subclasses compute it."""

    @abstractmethod
    def errors(self, basis: Array, grid: Array) -> Array:
        """Return the relative error of the frequency response of the linear model, reduced with ``basis``, shape
        (n, k), at each frequency of ``grid`` [rad/s]. It is abstract; subclasses compute it."""


def moment_basis(answers: Answers, basis: Array, most: int, frequencies: Sequence[float]) -> Array:
    """Return an orthonormal reduction ``basis`` (n, k) extended by responses of the model at ``frequencies``
    [rad/s], with at most ``most`` columns. ``answers`` computes the responses. First the response of most energy at
    each frequency is appended, then the second at each, and so on. Linearly dependent ones are left out.
    """
    found = [answers.columns(omega) for omega in frequencies]
    for rank in range(max(map(len, found), default=0)):
        for columns in found:
            basis = _with_whole(answers, basis, columns[rank : rank + 1], most)
    return basis


def extended_basis(answers: Answers, basis: Array, most: int, poles: Array) -> Array:
    """Return an orthonormal reduction ``basis`` (n, k) extended by static responses of the model, then by responses
    near its ``poles``, lowest first. ``answers`` computes the responses. Every few columns, a response at the
    frequency of a grid with the largest error is appended instead. The result has at most ``most`` columns; if
    static responses do not fit, they are left out with a ``ReductionWarning``.

    Args:
        poles: poles that inputs reach and outputs see, shape (k,) [rad/s].
    """
    whole = _with_whole(answers, basis, answers.static_columns(), np.inf)
    if whole.shape[1] <= most:
        basis = whole
    else:
        warn_user(
            f"static answers to all inputs need {whole.shape[1]} vectors or more, and at this order there are "
            f"{most}: the compliance of the reduced model is approximate; take a higher order, or fewer "
            "inputs: reduce(order, inputs=[...])",
            ReductionWarning,
        )
    grid = frequency_grid(poles)
    unused = np.ones(len(grid), dtype=bool)
    served = added = 0
    while basis.shape[1] < most:
        added += 1
        if served < len(poles) and added % GREEDY:
            omega = poles[served] * (1 + ASIDE)
            served += 1
        else:
            near = np.flatnonzero(unused if served == len(poles) else unused & (grid < poles[served - 1]))
            if not len(near):
                break
            worst = near[np.argmax(answers.errors(basis, grid[near]))]
            unused[worst] = False
            omega = grid[worst]
        with suppress(PoleError):
            columns = answers.columns(omega)[: answers.phases]
            if columns and basis.shape[1] + columns[0].shape[1] > most:
                break
            basis = _with_whole(answers, basis, columns, most)
    return basis


def _with_whole(answers: Answers, basis: Array, columns: list[Array], most: float) -> Array:
    """Return a reduction ``basis`` (n, k) extended by ``columns``, orthonormal in the metric of ``answers`` (by
    Gram-Schmidt). Each array of the list has a vector, and possibly a second one that belongs to it (the other of
    real and imaginary part, the stresses of velocities), which is only appended if the first is linearly
    independent of the basis. The extension ends before the first array that would give more than ``most`` columns.
    """
    for each in columns:
        if basis.shape[1] + each.shape[1] > most:
            break
        first = extended(answers.metric, basis, each[:, :1], most)
        if first.shape[1] > basis.shape[1]:
            basis = extended(answers.metric, first, each[:, 1:], most)
    return basis


def extended(metric: sparse.csr_array, basis: Array, columns: Array, most: float) -> Array:
    """Return ``basis`` (n, k) with further columns from ``columns`` appended in their order, orthonormal in the
    matrix ``metric`` by Gram-Schmidt with one repetition. Columns that are zero or nearly in the span of earlier
    ones are left out. No more are appended once there are ``most`` columns."""
    for column in columns.T:
        if basis.shape[1] >= most:
            break
        size = float(np.sqrt(max(column @ (metric @ column), 0.0)))
        if size == 0:
            continue
        rest = column / size
        for _ in range(2):
            rest = rest - basis @ (basis.T @ (metric @ rest))
        left = float(np.sqrt(max(rest @ (metric @ rest), 0.0)))
        if left > DEPENDENT:
            basis = np.hstack([basis, (rest / left)[:, None]])
    return basis


def real_columns(answers: ComplexArray | Array) -> Array:
    """Split complex columns ``answers`` (n, k) into real ones, shape (n, 2 k). The first k are real or
    imaginary part of each column, whichever is longer; the last k are the other parts in the same order."""
    real, imaginary = np.real(answers), np.imag(answers)
    larger = np.linalg.norm(real, axis=0) >= np.linalg.norm(imaginary, axis=0)
    return np.hstack([np.where(larger, real, imaginary), np.where(larger, imaginary, real)])


def by_energy(metric: sparse.csr_array, answers: ComplexArray | Array) -> ComplexArray | Array:
    """Return combinations of the responses ``answers`` (n, k) that are orthogonal in the energy matrix ``metric``,
    most energy first. Near a resonance the first one is the mode. Combinations with an energy at round-off are left
    out; if there are any, all ``answers`` follow as further columns, since small ones are exact there.

    Args:
        metric: energy matrix, shape (n, n).
        answers: responses to unit inputs, shape (n, inputs).
    """
    energies, mixes = np.linalg.eigh(answers.conj().T @ (metric @ answers))
    told = energies > ROUND_OFF * energies.max(initial=0.0)
    found = answers @ mixes[:, told][:, ::-1]
    return found if told.all() else np.hstack([found, answers])  # small ones among others are exact


def frequency_grid(poles: Array) -> Array:
    """Return a grid of angular frequencies [rad/s], shape (frequencies,), from about 0.05 times the first pole to
    about 1.1 times the last pole. There are 12 equally spaced frequencies between any two neighbouring poles, none
    at a pole itself. Without poles the grid is [1.0]."""
    if not len(poles):
        return np.array([1.0])
    ends = np.concatenate([[0.05 * poles[0]], poles, [1.1 * poles[-1]]])
    steps = (np.arange(GRID) + 0.5) / GRID
    return np.concatenate([a + (b - a) * steps for a, b in pairwise(ends)])


def greatest_error(response: ComplexArray, exact: ComplexArray) -> float:
    """Return the largest |``response`` - ``exact``| / |``exact``| of all entries of two frequency responses,
    shape (outputs, inputs). Where the exact entry is zero, the absolute error counts."""
    size = np.abs(exact)
    return float((np.abs(response - exact) / np.where(size > 0, size, 1.0)).max(initial=0.0))


# What the second-order bases share: rigid motions that forces reach, static answers, orthonormal columns.


def port_columns(mechanics: LinearMechanics) -> Array:
    """Return the generalized forces of all inputs and the rows of all outputs of a second-order model
    (``mechanics``) as columns, shape (n, inputs + outputs)."""
    return np.hstack([mechanics.forces, mechanics.rows.T])


def random_mixtures(directions: sparse.sparray | Array, mass: sparse.csr_array, most: int) -> Array:
    """Return ``directions`` (columns of forces) without zero columns, as a dense array. Each column is divided by
    its norm in the inverse of the diagonal of the ``mass`` matrix. If there are more than ``most`` columns, return
    ``most`` random linear combinations of them instead (normally distributed, fixed seed).

    Where the given ones do not span more than ``most`` motions, the mixes span all of them.
    """
    columns = sparse.csc_array(directions)
    size = np.sqrt(np.asarray((columns**2).T @ (1 / mass.diagonal())))
    columns = columns[:, size > 0] @ sparse.diags_array(1 / size[size > 0])
    count = columns.shape[1]
    if count <= most:
        return np.asarray(columns.toarray())
    mixes = np.random.default_rng(0).normal(size=(most, count)).T  # of more mixes the first are the same
    return np.asarray(columns @ (mixes / np.sqrt(count)))


def with_few_ports(mechanics: LinearMechanics, most: int) -> LinearMechanics:
    """Return a copy of a second-order model (``mechanics``) with at most ``most`` inputs and ``most`` outputs. All
    inputs and outputs are scaled and zero ones dropped; if there are more, random linear combinations replace
    them. All outputs become rates. Such a model serves to compute a reduction basis only."""
    forces, rows = (random_mixtures(each, mechanics.mass, most) for each in (mechanics.forces, mechanics.rows.T))
    return replace(mechanics, forces=forces, rows=rows.T, differentiations=(1,) * rows.shape[1])


def reachable_rigid_motions(mechanics: LinearMechanics, modes: SymmetricModes) -> Array:
    """Return the rigid motions of a second-order model that its inputs can cause, orthonormal in the mass matrix,
    as columns (n, k). A singular value decomposition of the generalized forces on rigid modes selects them.
    ``modes`` has all rigid modes. For a gyroscopic model, all rigid modes are returned; without inputs, none."""
    rigid = modes.shapes[:, modes.squares == 0]
    if mechanics.is_gyroscopic:
        return rigid
    parts = rigid.T @ mechanics.forces
    if not parts.size:
        return np.zeros((mechanics.size, 0))
    left, values, _ = linalg.svd(parts, full_matrices=False)
    size = np.sqrt(np.einsum("ij,ij->j", mechanics.forces, mechanics.forces / mechanics.mass.diagonal()[:, None]))
    return np.asarray(rigid @ left[:, values > DEPENDENT * size.max(initial=0.0)])


# Modal basis: the lowest modes that inputs reach and outputs see.

UNSEEN = 1e-6
SPARE = 3


def modal_basis(mechanics: LinearMechanics, count: int, static_correction: bool = False) -> Array:
    """Return a modal reduction basis of a second-order model, shape (n, at most count), orthonormal in the mass
    matrix. It has the rigid motions that inputs cause, then the lowest modes that inputs excite and outputs
    measure. With ``static_correction``, static responses at inputs and outputs take the place of the last modes;
    if they do not fit, ``ParameterError`` is raised.

    Args:
        static_correction: the last columns are static answers at the inputs and outputs, as far as the modes do not
            have them (modal truncation augmentation).

    Raises:
        ParameterError: fewer columns than rigid motions, and static answers where these are asked for.
    """
    modes, rigid = _modes_and_rigid(mechanics, count)
    seen = modes.shapes[:, participating_modes(mechanics, modes)]
    if not static_correction:
        return extended(mechanics.mass, rigid, seen, count)
    answers = static_responses(mechanics, modes, _port_directions(mechanics))
    needed = _with_statics(mechanics, rigid, answers, count).shape[1]
    lowest = extended(mechanics.mass, rigid, seen, count - needed + rigid.shape[1])
    return extended(mechanics.mass, extended(mechanics.mass, lowest, answers, count), seen, count)


def _with_statics(mechanics: LinearMechanics, rigid: Array, answers: Array, count: int) -> Array:
    """Return columns that span the rigid motions (``rigid``) and static responses (``answers``) of a second-order
    model, orthonormal in its mass matrix. Linearly dependent columns are dropped. Raise ``ParameterError`` if more
    than ``count`` columns remain; its message names the order needed, twice their number."""
    basis = extended(mechanics.mass, rigid, answers, mechanics.size)
    if basis.shape[1] > count:
        raise ParameterError(
            f"order must be at least {2 * basis.shape[1]} for rigid motions and static answers at the ports"
        )
    return basis


def _port_directions(mechanics: LinearMechanics) -> Array:
    """Return a basis, shape (n, k), of the span of the input columns and the transposed output rows of a
    second-order model ``mechanics``. Its columns are orthonormal after division by the square roots of the
    diagonal masses; dependent ones are left out."""
    weight = np.sqrt(mechanics.mass.diagonal())[:, None]
    return np.asarray(weight * _orthonormal(port_columns(mechanics) / weight))


def _modes_and_rigid(mechanics: LinearMechanics, count: int) -> tuple[SymmetricModes, Array]:
    """Return the lowest undamped modes of a second-order model, and its rigid motions that inputs cause, as
    columns of shape (n, k) for n coordinates. More modes are computed, at most in three attempts, until ``count``
    of them contribute to the response from inputs to outputs or no more exist. Raise ``ParameterError`` if there
    are more than ``count`` such rigid motions."""
    first = undamped_modes(mechanics, 1).rigid
    for spare in (SPARE, 2 * SPARE, 4 * SPARE):
        modes = undamped_modes(mechanics, first + spare * count + 2)
        if len(participating_modes(mechanics, modes)) >= count or modes.shapes.shape[1] < first + spare * count + 2:
            break
    rigid = reachable_rigid_motions(mechanics, modes)
    if rigid.shape[1] > count:
        raise ParameterError(f"order must be at least {2 * rigid.shape[1]}: the inputs cause as many rigid motions")
    return modes, rigid


def participating_modes(mechanics: LinearMechanics, modes: SymmetricModes) -> Array:
    """Return the indices of the elastic modes of a second-order model that inputs excite and outputs measure, in
    the order of ``modes``. Participation is relative to the norm of each input or output in the inverse mass
    diagonal, and must exceed a round-off limit. For a gyroscopic model, all elastic modes are returned."""
    elastic = np.flatnonzero(modes.squares != 0)
    if mechanics.is_gyroscopic:  # forces across the velocity couple the modes
        return np.asarray(elastic)
    weight = 1 / np.sqrt(mechanics.mass.diagonal())
    reached = _participation(modes.shapes[:, elastic].T @ mechanics.forces, weight[:, None] * mechanics.forces)
    seen = _participation(modes.shapes[:, elastic].T @ mechanics.rows.T, weight[:, None] * mechanics.rows.T)
    return np.asarray(elastic[(reached > UNSEEN) & (seen > UNSEEN)])


def _participation(products: Array, directions: Array) -> Array:
    """Return for each mode the largest of |``products``[mode, k]| divided by the length of column k of
    ``directions``, shape (modes,). ``products`` (modes, k) are scalar products of modes and directions (input
    forces or output rows). Zero columns are not divided; without columns the result is zero."""
    sizes = np.linalg.norm(directions, axis=0)
    return np.asarray((np.abs(products) / np.where(sizes > 0, sizes, 1.0)).max(axis=1, initial=0.0))


# Krylov basis: the vectors ``(K + i w (D + C) - w^2 M)^-1 F`` with ``G x = 0`` need no elimination of the joints
# ([B] 5.3). Where to look next is asked of a model of more modes with static answers: one factor a column does.


OPENED = 1e-4  # joints by a column, of what its entries move there


def krylov_basis(mechanics: LinearMechanics, count: int, frequencies: Sequence[float] | None) -> Array:
    """Return a Krylov reduction basis of a second-order model, shape (n, at most count), with columns orthonormal
    in the mass matrix. It has rigid motions and responses to the inputs at the given ``frequencies`` [rad/s]. For
    None, static responses and responses near modes are chosen automatically by estimated errors. Then columns that
    violate constraints by more than a tolerance are removed.

    Raises:
        ParameterError: fewer columns than rigid motions.
        PoleError: a given frequency is an undamped pole.
    """
    modes, basis = _modes_and_rigid(mechanics, count)
    answers = MotionAnswers(mechanics, modes)
    if frequencies is not None:
        return moment_basis(answers, basis, count, frequencies)
    poles = np.sqrt(np.abs(modes.squares[participating_modes(mechanics, modes)]))
    basis, ties = extended_basis(answers, basis, count, poles), mechanics.constraint_matrix
    opened = np.abs(ties @ basis).max(axis=0, initial=0.0)  # by what is left over of dependent answers: round-off
    return basis[:, opened <= OPENED * (abs(ties) @ np.abs(basis)).max(axis=0, initial=0.0)]


class MotionAnswers(Answers):
    """Responses of a second-order model to unit inputs, as the source of a Krylov basis."""

    def __init__(self, mechanics: LinearMechanics, modes: SymmetricModes) -> None:
        self.metric, self.phases = mechanics.mass, 1 + mechanics.is_gyroscopic
        self._mechanics, self._modes = mechanics, modes

    def columns(self, omega: float) -> list[Array]:
        """Return a list of real columns, shape (n, 1) each, that span the responses of the second-order model to
        unit inputs. ``omega`` is their frequency [rad/s]. Columns are sorted by energy, largest first; a complex
        response gives real and imaginary part in turn. At zero they are static responses to inputs and to forces
        at the outputs. Raise ``PoleError`` at an undamped pole."""
        try:
            found: ComplexArray | Array = (
                harmonic_responses(self._mechanics, omega)
                if omega
                else static_responses(self._mechanics, self._modes, port_columns(self._mechanics))
            )
        except PoleError:
            raise PoleError(
                f"no moments exist at {omega:.10g} rad/s, an undamped pole; take another frequency"
            ) from None
        columns = real_columns(by_energy(self.metric, found))
        if self.phases == 2:  # both of an answer, one after the other
            columns = np.stack(np.split(columns, 2, axis=1), axis=2).reshape(len(columns), -1)
        return list(columns.T[:, :, None])

    def static_columns(self) -> list[Array]:
        """Return the static responses of the second-order model to unit inputs as a list of real columns, shape
        (n, 1) each. Rigid motion is excluded (inertia relief)."""
        return list(static_responses(self._mechanics, self._modes, self._mechanics.forces).T[:, :, None])

    def errors(self, basis: Array, grid: Array) -> Array:
        """Return the error of the frequency response of the second-order model, reduced with ``basis`` (n, k), at
        each frequency of ``grid`` [rad/s]. It is the largest relative error of all outputs and inputs. The
        reference is the model reduced with all modes and static responses that were computed."""
        small = _response_of(self._mechanics.projected(basis))
        return np.array([greatest_error(small(omega), self._exact(omega)) for omega in grid])

    @cached_on_owner
    def _exact(self, omega: float) -> ComplexArray:
        return self._reference(omega)

    @cached_property
    def _reference(self) -> Callable[[float], ComplexArray]:
        mechanics, shapes = self._mechanics, self._modes.shapes
        answers = shapes[:, :0]
        if (self._modes.squares != 0).any():
            answers = static_responses(mechanics, self._modes, port_columns(mechanics))
        return _response_of(mechanics.projected(extended(mechanics.mass, shapes, answers, mechanics.size)))


def _response_of(small: LinearMechanics) -> Callable[[float], ComplexArray]:
    """Return a function that computes the frequency response of a small second-order model without constraints at
    an angular frequency [rad/s], shape (outputs, inputs), complex. The dynamic stiffness, with viscoelastic
    branches, is solved densely for each call. A model without coordinates has response zero."""
    M, K = small.mass.toarray(), small.stiffness.toarray()
    rates = (small.velocity + small.damping).toarray()
    inner = [(each, each.fast_stiffness.toarray()) for each in small.inner]

    def response(omega: float) -> ComplexArray:
        if not len(M):
            return np.zeros((len(small.rows), small.forces.shape[1]), dtype=np.complex128)
        dynamic = K + 1j * omega * rates - omega**2 * M
        for each, quick in inner:
            dynamic = dynamic + each.stiffness_fraction(1j * omega) * quick
        return np.asarray(small.rows @ np.linalg.solve(dynamic, small.forces))

    return response


# Craig-Bampton basis: static answers at the ports and modes with the ports held.
#
# R. R. Craig, M. C. C. Bampton, *Coupling of substructures for dynamic analyses*, AIAA Journal 6, 1968.
# Ports are the directions of all inputs and outputs. Constraint modes span what forces at the ports
# cause statically; where the model is free, rigid motions are taken apart (inertia relief).


def craig_bampton_basis(mechanics: LinearMechanics, count: int) -> Array:
    """Return a Craig-Bampton reduction basis of a second-order model, shape (n, at most count), with columns
    orthonormal in the mass matrix. It has the rigid motions that inputs cause, static responses at inputs and
    outputs, then the lowest elastic modes in which inputs and outputs are fixed. If the static responses do not
    fit, ``ParameterError`` is raised.

    Raises:
        ParameterError: fewer columns than rigid motions and ports.
    """
    rigid = undamped_modes(mechanics, 1).rigid
    modes = undamped_modes(mechanics, rigid + count + 2)  # unstable ones come before rigid ones
    directions = _port_directions(mechanics)
    rigid_motions = reachable_rigid_motions(mechanics, modes)
    basis = _with_statics(mechanics, rigid_motions, static_responses(mechanics, modes, directions), count)
    held = sparse.csr_array(sparse.vstack([mechanics.constraint_matrix, sparse.csr_array(directions.T)]))
    inner = undamped_modes(replace(mechanics, constraint_matrix=held), count + rigid)
    # rigid motions that leave the ports where they are: no force reaches them
    return extended(mechanics.mass, basis, inner.shapes[:, inner.squares != 0], count)


def _orthonormal(columns: Array) -> Array:
    """Return an orthonormal basis of the span of the given columns, shape (n, k), each scaled to length 1 first;
    columns that are zero or dependent add nothing."""
    sizes = np.linalg.norm(columns, axis=0)
    if not sizes.any():
        return columns[:, :0]
    left, values, _ = linalg.svd(columns[:, sizes > 0] / sizes[sizes > 0], full_matrices=False)
    return np.asarray(left[:, values > DEPENDENT])


# From a basis of a whole model to a basis of the elastic coordinates of one body.

RIGID = 1e-8  # of the most strained column


def body_deformations(linear: Linearization, body: PlacedBody, basis: Array) -> Array:
    """Return the deformations of one body that a ``basis`` of motions of a linearized mechanism contains, as
    columns of the body's elastic coordinates. Columns with negligible strain energy, or linearly dependent in the
    energy norm, are left out. Raise ``ModelError`` for a body of another model or without elastic coordinates in a
    body frame.

    In the coordinates of its description, so that ``modes=`` takes them.

    Raises:
        ModelError: a body of another model, or one that cannot deform.
    """
    index = next((k for k, placed in enumerate(linear.system.bodies) if placed is body), None)
    if index is None:
        raise ModelError(f"body must be one of the model that was linearized, got {body!r}")
    count = body.data.elastic_count
    if not count or isinstance(body.data, AbsoluteBody):
        raise ModelError(f"{body!r} has no elastic coordinates in a frame of its own")
    end = int(linear.system.layout.velocity[index + 1])
    columns = basis[end - count : end]
    stiffness = as_array(elastic_tangent(body.data, np.zeros(count)))
    strength = np.sqrt(np.abs(np.einsum("ij,ij->j", columns, stiffness @ columns)))
    strained = strength > RIGID * strength.max(initial=0.0)
    found = independent_columns(np.zeros((count, 0)), columns[:, strained], stiffness)
    return body.body.described_coordinates(found, body.resolved, linear.system.dimension)
