"""Bases of second-order models: Krylov, modal, Craig-Bampton, of one body."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy import linalg, sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.sparse import as_array
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.beam.bases import independent_columns
from phlexible.bodies.mechanics.floating import elastic_tangent
from phlexible.description.ports import PlacedBody
from phlexible.errors import ModelError, ParameterError, PoleError
from phlexible.linear.frequency_response import harmonic_responses
from phlexible.linear.linearize import Linearization
from phlexible.linear.mechanics import LinearMechanics
from phlexible.linear.reduction.krylov import (
    DEPENDENT,
    Answers,
    ComplexArray,
    by_energy,
    extended,
    extended_basis,
    greatest_error,
    moment_basis,
    real_columns,
)
from phlexible.linear.symmetric_modes import SymmetricModes, static_responses, undamped_modes

# What the second-order bases share: rigid motions that forces reach, static answers, orthonormal columns.


def port_columns(mechanics: LinearMechanics) -> Array:
    """Return the generalized forces of all inputs and the rows of all outputs of a second-order model
    (``mechanics``) as columns, shape (n, inputs + outputs)."""
    return np.hstack([mechanics.forces, mechanics.rows.T])


def random_mixtures(directions: sparse.sparray | Array, mass: sparse.csr_array, most: int) -> Array:
    """Return ``directions`` without zero columns, each divided by its length in the inverse of the diagonal
    of ``mass``, as a dense array. If there are more than ``most``, return ``most`` random linear combinations
    of them (fixed seed).

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
    """Return a second-order model (``mechanics``) with at most ``most`` inputs and ``most`` outputs: where
    there are more they are replaced by random linear combinations, which is enough to compute a reduction
    basis."""
    forces, rows = (random_mixtures(each, mechanics.mass, most) for each in (mechanics.forces, mechanics.rows.T))
    return replace(mechanics, forces=forces, rows=rows.T, differentiations=(1,) * rows.shape[1])


def reachable_rigid_motions(mechanics: LinearMechanics, modes: SymmetricModes) -> Array:
    """Return rigid motions of a second-order model ``mechanics`` that its inputs can cause, orthonormal in
    the mass matrix, shape (n, k). ``modes`` has all rigid modes; a gyroscopic model returns all of them, a
    model without inputs none."""
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
    """Return a modal reduction basis of a second-order model (``mechanics``), shape (n, count): the rigid
    motions that inputs cause, then the lowest modes that inputs excite and outputs read. With
    ``static_correction`` the last columns are static responses at inputs and outputs.

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
    """Return columns, orthonormal in the mass matrix, that span the rigid motions and the static responses
    ``answers`` of a second-order model (``mechanics``); raise a ``ParameterError`` if there are more than
    ``count``."""
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
    """Return the lowest undamped modes of a second-order model (``mechanics``) and the rigid motions that
    inputs cause, shape (n, k). There are so many modes that, if possible, ``count`` of them take part in the
    response."""
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
    """Return the indices of the elastic modes of a second-order model (``mechanics``) that inputs excite and
    outputs read, in ascending order of squared frequency; all elastic modes of a gyroscopic model."""
    elastic = np.flatnonzero(modes.squares != 0)
    if mechanics.is_gyroscopic:  # forces across the velocity couple the modes
        return np.asarray(elastic)
    weight = 1 / np.sqrt(mechanics.mass.diagonal())
    reached = _participation(modes.shapes[:, elastic].T @ mechanics.forces, weight[:, None] * mechanics.forces)
    seen = _participation(modes.shapes[:, elastic].T @ mechanics.rows.T, weight[:, None] * mechanics.rows.T)
    return np.asarray(elastic[(reached > UNSEEN) & (seen > UNSEEN)])


def _participation(products: Array, directions: Array) -> Array:
    """Return for each mode the largest of |``products``[mode, k]| / length of column k of ``directions``,
    shape (modes,). ``products`` (modes, k) are scalar products of modes and directions (input forces or
    output rows); zero columns are not divided."""
    sizes = np.linalg.norm(directions, axis=0)
    return np.asarray((np.abs(products) / np.where(sizes > 0, sizes, 1.0)).max(axis=1, initial=0.0))


# Krylov basis: the vectors ``(K + i w (D + C) - w^2 M)^-1 F`` with ``G x = 0`` need no elimination of the joints
# ([B] 5.3). Where to look next is asked of a model of more modes with static answers: one factor a column does.


OPENED = 1e-4  # joints by a column, of what its entries move there


def krylov_basis(mechanics: LinearMechanics, count: int, frequencies: Sequence[float] | None) -> Array:
    """Return a Krylov reduction basis of a second-order model (``mechanics``), shape (n, count), as columns
    orthonormal in the mass matrix: responses to the inputs at the given frequencies [rad/s], or (None) at
    automatically chosen ones.

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
        self._known: dict[float, ComplexArray] = {}

    def columns(self, omega: float) -> list[Array]:
        """Return a list of real columns, shape (n, 1) each, that span the responses of the second-order model to
        unit inputs. The frequency is ``omega`` [rad/s], and columns of most energy come first. At zero they are
        static responses, also to forces at the outputs."""
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
        """Return a list of real columns, shape (n, 1) each, that are the static responses of the second-order model
        to unit inputs."""
        return list(static_responses(self._mechanics, self._modes, self._mechanics.forces).T[:, :, None])

    def errors(self, basis: Array, grid: Array) -> Array:
        """Return the relative error of the frequency response of the second-order model, reduced with ``basis``,
        shape (n, k), at each frequency of ``grid`` [rad/s]. The reference is the model reduced with all modes and
        static responses that were computed."""
        small = _response_of(self._mechanics.projected(basis))
        return np.array([greatest_error(small(omega), self._exact(omega)) for omega in grid])

    def _exact(self, omega: float) -> ComplexArray:
        if omega not in self._known:
            self._known[omega] = self._reference(omega)
        return self._known[omega]

    @cached_property
    def _reference(self) -> Callable[[float], ComplexArray]:
        mechanics, shapes = self._mechanics, self._modes.shapes
        answers = shapes[:, :0]
        if (self._modes.squares != 0).any():
            answers = static_responses(mechanics, self._modes, port_columns(mechanics))
        return _response_of(mechanics.projected(extended(mechanics.mass, shapes, answers, mechanics.size)))


def _response_of(small: LinearMechanics) -> Callable[[float], ComplexArray]:
    """Return a function that computes the frequency response of a small second-order model without constraints,
    shape (outputs, inputs), at an angular frequency [rad/s]."""
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
    """Return a Craig-Bampton reduction basis of a second-order model (``mechanics``), shape (n, count), as
    columns orthonormal in the mass matrix. They are rigid motions, static responses at inputs and outputs,
    and modes in which these are fixed.

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
    """Return the deformations of one body that are contained in a ``basis`` of motions of a whole linearized
    mechanism (``linear``), shape (n, k). They are independent columns of its elastic coordinates. Rigid
    motions of the body are not deformations.

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
