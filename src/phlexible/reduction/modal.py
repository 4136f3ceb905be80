"""Modal basis: the lowest modes that inputs reach and outputs see."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ParameterError
from phlexible.linear_analysis.mechanics import LinearMechanics
from phlexible.linear_analysis.modes.symmetric_modes import SymmetricModes
from phlexible.reduction.bases import joined, reachable_rigid_motions, undamped_modes

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
