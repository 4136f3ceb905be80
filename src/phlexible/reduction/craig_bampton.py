"""Craig-Bampton basis: static answers at the ports and modes with the ports held.

R. R. Craig, M. C. C. Bampton, *Coupling of substructures for dynamic analyses*, AIAA Journal 6, 1968.
Ports are the directions of all inputs and outputs. Constraint modes span what forces at the ports
cause statically; where the model is free, rigid motions are taken apart (inertia relief).
"""

from dataclasses import replace

import numpy as np
from scipy import linalg, sparse

from phlexible.algebra.arrays import Array
from phlexible.errors import ParameterError
from phlexible.linear_analysis.mechanics import LinearMechanics
from phlexible.reduction.bases import joined, ports, reachable_rigid_motions, static_answers, undamped_modes

DEPENDENT = 1e-8


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
