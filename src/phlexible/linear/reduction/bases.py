"""Bases of second-order models: Krylov, modal, Craig-Bampton, of one body."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.saddle import SaddlePoint, natural_scale
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.beam.bases import independent
from phlexible.bodies.mechanics.floating import elastic_tangent
from phlexible.description.ports import PlacedBody
from phlexible.errors import ModelError, ParameterError, PoleError
from phlexible.linear.frequency_response import harmonic_answers
from phlexible.linear.linearize import Linearization
from phlexible.linear.mechanics import LinearMechanics
from phlexible.linear.symmetric_modes import SymmetricModes, lowest_symmetric_modes

# What the second-order bases share: rigid motions that forces reach, static answers, orthonormal columns.

DEPENDENT = 1e-8


def undamped_modes(mechanics: LinearMechanics, count: int) -> SymmetricModes:
    """The lowest modes without damping and gyroscopic terms, rigid ones first."""
    nothing = sparse.csr_array(mechanics.mass.shape)
    return lowest_symmetric_modes(replace(mechanics, velocity=nothing, damping=nothing), count)


def ports(mechanics: LinearMechanics) -> Array:
    """Directions of all inputs and outputs, one a column, shape (n, inputs + outputs)."""
    return np.hstack([mechanics.forces, mechanics.rows.T])


def reachable_rigid_motions(mechanics: LinearMechanics, modes: SymmetricModes) -> Array:
    """Rigid motions that the forces cause, M-orthonormal columns."""
    rigid = modes.shapes[:, modes.squares == 0]
    parts = rigid.T @ mechanics.forces
    if not parts.size:
        return np.zeros((mechanics.size, 0))
    left, values, _ = linalg.svd(parts, full_matrices=False)
    size = np.sqrt(np.einsum("ij,ij->j", mechanics.forces, mechanics.forces / mechanics.mass.diagonal()[:, None]))
    return np.asarray(rigid @ left[:, values > DEPENDENT * size.max(initial=0.0)])


def static_answers(mechanics: LinearMechanics, modes: SymmetricModes, directions: Array) -> Array:
    """Elastic deformation under constant forces, in balance with rigid acceleration (inertia relief)."""
    rigid = modes.shapes[:, modes.squares == 0]
    elastic = modes.squares[modes.squares > 0]
    balanced = directions - mechanics.mass @ (rigid @ (rigid.T @ directions))
    shift = 1e-6 * float(elastic[0]) if rigid.shape[1] and len(elastic) else 0.0
    stiffness, scale = mechanics.stiffness + shift * mechanics.mass, natural_scale(mechanics.mass)
    answers, _ = SaddlePoint(stiffness, mechanics.constraint_matrix, scale=scale).solve(balanced)
    return np.asarray(answers - rigid @ (rigid.T @ (mechanics.mass @ answers)))


def joined(metric: sparse.csr_array, basis: Array, columns: Array, most: int) -> Array:
    """The basis with those columns that are new to it, orthonormal in the metric, at most ``most`` columns."""
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


# Modal basis: the lowest modes that inputs reach and outputs see.

UNSEEN = 1e-6
SPARE = 3


def modal_basis(mechanics: LinearMechanics, count: int) -> Array:
    """Rigid motions that the inputs cause and the lowest modes that take part, shape (n, count).

    Raises:
        ParameterError: fewer columns than rigid motions.
    """
    rigid = undamped_modes(mechanics, 1).rigid
    modes = undamped_modes(mechanics, rigid + SPARE * count + 2)
    basis = reachable_rigid_motions(mechanics, modes)
    if basis.shape[1] > count:
        raise ParameterError(f"order must be at least {2 * basis.shape[1]}: the inputs cause as many rigid motions")
    return joined(mechanics.mass, basis, modes.shapes[:, seen_modes(mechanics, modes)], count)


def seen_modes(mechanics: LinearMechanics, modes: SymmetricModes) -> Array:
    """Indices of the elastic modes with a part in the response, ascending."""
    elastic = np.flatnonzero(modes.squares > 0)
    weight = 1 / np.sqrt(mechanics.mass.diagonal())
    reached = _parts(modes.shapes[:, elastic].T @ mechanics.forces, weight[:, None] * mechanics.forces)
    seen = _parts(modes.shapes[:, elastic].T @ mechanics.rows.T, weight[:, None] * mechanics.rows.T)
    return np.asarray(elastic[(reached > UNSEEN) & (seen > UNSEEN)])


def _parts(products: Array, directions: Array) -> Array:
    """Largest part of each mode in any of the directions, relative to their sizes."""
    sizes = np.linalg.norm(directions, axis=0)
    return np.asarray((np.abs(products) / np.where(sizes > 0, sizes, 1.0)).max(axis=1, initial=0.0))


# Krylov basis: answers of the full model at some frequencies, so that the reduced model has the same there.
#
# The vectors ``(K + i w (D + C) - w^2 M)^-1 F`` with ``G x = 0`` need no elimination of the joints
# ([B] 5.3). Where frequencies are left out, most of the columns are answers at the resonances that inputs and
# outputs see, the others are found greedily: the next one is where the error is greatest.

ComplexArray = NDArray[np.complex128]

GRID = 12  # frequencies between two modes
RESONANCES = 0.75  # share of the columns
ASIDE = 1e-4  # of a pole, where an undamped model is looked at instead


def krylov_basis(mechanics: LinearMechanics, count: int, frequencies: Sequence[float] | None) -> Array:
    """M-orthonormal columns, shape (n, count); fewer where given frequencies do not span as many.

    Raises:
        ParameterError: fewer columns than rigid motions.
        PoleError: a given frequency is an undamped pole.
    """
    rigid = undamped_modes(mechanics, 1).rigid
    modes = undamped_modes(mechanics, rigid + SPARE * count + 2)
    basis = reachable_rigid_motions(mechanics, modes)
    if basis.shape[1] > count:
        raise ParameterError(f"order must be at least {2 * basis.shape[1]}: the inputs cause as many rigid motions")
    if frequencies is not None:
        found = [_answers(mechanics, modes, omega) for omega in frequencies]
        for k, columns in enumerate(found):  # an equal share for each frequency, and then what is left
            share = -(-(count - basis.shape[1]) // (len(found) - k))
            basis = joined(mechanics.mass, basis, columns, basis.shape[1] + share)
        for columns in found:
            basis = joined(mechanics.mass, basis, columns, count)
        return basis
    poles = np.sqrt(modes.squares[seen_modes(mechanics, modes)])
    poles = poles[: int(np.ceil(RESONANCES * (count - basis.shape[1])))]
    for pole in poles:
        answer = real_columns(largest_answer(mechanics.mass, harmonic_answers(mechanics, pole * (1 + ASIDE))))
        basis = joined(mechanics.mass, basis, answer[:, :1], count)
    grid = frequency_grid(poles)
    answers = [harmonic_answers(mechanics, omega) for omega in grid]
    exact = np.array([mechanics.rows @ x for x in answers])
    unused = np.ones(len(grid), dtype=bool)
    while basis.shape[1] < count and unused.any():
        error = _errors(mechanics, basis, grid, exact)
        worst = int(np.argmax(np.where(unused, error, -1.0)))
        unused[worst] = False
        basis = joined(mechanics.mass, basis, real_columns(answers[worst]), count)
    return basis


def largest_answer(metric: sparse.csr_array, answers: ComplexArray) -> ComplexArray:
    """The answer to the mix of inputs that gives most energy, shape (n, 1): near a pole, the mode.

    Args:
        metric: of the energy, shape (n, n).
        answers: to unit inputs, shape (n, inputs).
    """
    _, mixes = np.linalg.eigh(answers.conj().T @ (metric @ answers))
    return np.asarray(answers @ mixes[:, -1:])


def _answers(mechanics: LinearMechanics, modes: SymmetricModes, omega: float) -> Array:
    if omega == 0:
        return static_answers(mechanics, modes, ports(mechanics))
    try:
        return real_columns(harmonic_answers(mechanics, omega))
    except PoleError:
        raise PoleError(f"no moments are matched at {omega:.10g} rad/s, an undamped pole; move it aside") from None


def real_columns(answers: ComplexArray | Array) -> Array:
    """The larger one of real and imaginary part of each column first, then the others."""
    real, imaginary = np.real(answers), np.imag(answers)
    larger = np.linalg.norm(real, axis=0) >= np.linalg.norm(imaginary, axis=0)
    return np.hstack([np.where(larger, real, imaginary), np.where(larger, imaginary, real)])


def frequency_grid(poles: Array) -> Array:
    """Frequencies from well below the first resonance to a little above the last."""
    if not len(poles):
        return np.array([1.0])
    ends = np.concatenate([[0.05 * poles[0]], poles, [1.1 * poles[-1]]])
    steps = (np.arange(GRID) + 0.5) / GRID
    between = [a + (b - a) * steps for a, b in pairwise(ends)]
    return np.concatenate(between)


def _errors(mechanics: LinearMechanics, basis: Array, grid: Array, exact: ComplexArray) -> Array:
    """Largest relative error over the outputs at each frequency."""
    if not basis.shape[1]:
        return np.asarray(np.linalg.norm(exact, axis=(1, 2)))
    small = mechanics.projected(basis)
    M, K = small.mass.toarray(), small.stiffness.toarray()
    rates = (small.velocity + small.damping).toarray()
    errors = []
    for omega, answer in zip(grid, exact, strict=True):
        x = np.linalg.solve(K + 1j * omega * rates - omega**2 * M, small.forces)
        size = np.abs(answer)
        errors.append((np.abs(small.rows @ x - answer) / np.where(size > 0, size, 1.0)).max())
    return np.array(errors)


# Craig-Bampton basis: static answers at the ports and modes with the ports held.
#
# R. R. Craig, M. C. C. Bampton, *Coupling of substructures for dynamic analyses*, AIAA Journal 6, 1968.
# Ports are the directions of all inputs and outputs. Constraint modes span what forces at the ports
# cause statically; where the model is free, rigid motions are taken apart (inertia relief).


def craig_bampton_basis(mechanics: LinearMechanics, count: int) -> Array:
    """M-orthonormal columns, shape (n, count).

    Raises:
        ParameterError: fewer columns than rigid motions and ports.
    """
    rigid = undamped_modes(mechanics, 1).rigid
    modes = undamped_modes(mechanics, rigid + 2)
    directions = _independent(ports(mechanics) / np.sqrt(mechanics.mass.diagonal())[:, None])
    directions = directions * np.sqrt(mechanics.mass.diagonal())[:, None]
    basis = joined(
        mechanics.mass,
        reachable_rigid_motions(mechanics, modes),
        static_answers(mechanics, modes, directions),
        mechanics.size,
    )
    if basis.shape[1] > count:
        raise ParameterError(
            f"order must be at least {2 * basis.shape[1]} for rigid motions and static answers at the ports"
        )
    held = sparse.csr_array(sparse.vstack([mechanics.constraint_matrix, sparse.csr_array(directions.T)]))
    inner = undamped_modes(replace(mechanics, constraint_matrix=held), count + rigid)
    # rigid motions that leave the ports where they are: no force reaches them
    return joined(mechanics.mass, basis, inner.shapes[:, inner.squares != 0], count)


def _independent(columns: Array) -> Array:
    """An orthonormal basis of the span of columns of comparable size."""
    sizes = np.linalg.norm(columns, axis=0)
    if not sizes.any():
        return columns[:, :0]
    left, values, _ = linalg.svd(columns[:, sizes > 0] / sizes[sizes > 0], full_matrices=False)
    return np.asarray(left[:, values > DEPENDENT])


# From a basis of a whole model to a basis of the elastic coordinates of one body.

RIGID = 1e-8  # of the most strained column


def body_deformations(linear: Linearization, body: PlacedBody, basis: Array) -> Array:
    """The elastic rows of a body in a basis over all motions (n, k), without dependent columns.

    In the coordinates of its description, so that ``modes=`` takes them.

    Rigid motion drops out by itself: in the body frame it is no deformation.

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
    stiffness = elastic_tangent(body.data, np.zeros(count))
    strength = np.sqrt(np.abs(np.einsum("ij,ij->j", columns, stiffness @ columns)))
    strained = strength > RIGID * strength.max(initial=0.0)
    found = independent(np.zeros((count, 0)), columns[:, strained], stiffness)
    return body.body.described_coordinates(found, body.held, linear.system.dimension)
