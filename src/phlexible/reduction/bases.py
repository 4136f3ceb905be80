"""What the second-order bases share: rigid motions that forces reach, static answers, orthonormal columns."""

from dataclasses import replace

import numpy as np
from scipy import linalg, sparse

from phlexible.algebra.arrays import Array
from phlexible.linear_analysis.mechanics import LinearMechanics
from phlexible.linear_analysis.modes.symmetric_modes import SymmetricModes, lowest_symmetric_modes
from phlexible.linear_analysis.saddle_point import ConstrainedSolver, natural_scale

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
    solver = ConstrainedSolver(
        sparse.csr_array(mechanics.stiffness + shift * mechanics.mass),
        mechanics.constraint_matrix,
        natural_scale(mechanics.mass),
    )
    answers = solver.solve(balanced)
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
