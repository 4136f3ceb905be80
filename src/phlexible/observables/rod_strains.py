"""Strains and section forces of rods over time (docs/theory.md, 8)."""

from collections.abc import Callable

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError
from phlexible.interactions.rods.rod_element import KEPT
from phlexible.mechanism.rods import RodInModel
from phlexible.observables.run import RecordedRun
from phlexible.ports.placed_rod import PlacedRod


def own_rod(run: RecordedRun, target: PlacedRod) -> RodInModel:
    """The rod of the run's model that the handle is, or is called like.

    Raises:
        ModelError: there is none.
    """
    for rod in run.mechanism.rods:
        if rod.handle is target or (rod.handle.name, rod.handle.body) == (target.name, target.body):
            return rod
    names = ", ".join(rod.handle.name for rod in run.mechanism.rods) or "none"
    raise ModelError(f"{target.name!r} is not a rod of this model; it has: {names}")


def strain_places(rod: RodInModel) -> Array:
    """Where strains are: quadrature points of all elements, shape (g,) [m]."""
    return np.concatenate([element.shape.places for element in rod.elements])


def rod_forces(run: RecordedRun, velocities: Callable[[], Array], rod: RodInModel) -> Array:
    """(N, Q_y, Q_z, M_x, M_y, M_z) at ``strain_places``, with their viscous part, shape (T, g, 6) [N, N m].

    Args:
        run: the recorded motion.
        velocities: flat velocities that satisfy the joints, (T, all); asked for by viscous rods only.
        rod: of the model that moved.
    """
    dimension = run.system.dimension
    kept = list(KEPT[dimension])
    rows = [row for each in rod.elements for point in each.functions(dimension) for row in point]
    functions = run.system.functions(rows)
    strains = functions.values(run.instants).reshape(run.count, -1, len(kept))
    natural = np.concatenate([element.natural for element in rod.elements])
    stiffness = np.concatenate([element.stiffness for element in rod.elements])[
        np.ix_(range(len(natural)), kept, kept)
    ]
    strains = strains - natural[:, kept]
    if rod.handle.body.viscosity:
        rates = functions.rates(run.instants, velocities()).reshape(strains.shape)
        strains = strains + rod.handle.body.viscosity * rates
    forces = np.zeros((run.count, len(natural), 6))
    forces[:, :, kept] = np.einsum("gij,tgj->tgi", stiffness, strains)
    return forces


def between_places(places: Array, values: Array, x: Array) -> Array:
    """Values (T, g, 6) at places (g,) at x (k,): linear between neighbours and beyond the ends, (T, k, 6)."""
    if len(places) == 1:
        return np.repeat(values, len(x), axis=1)
    left = np.clip(np.searchsorted(places, x) - 1, 0, len(places) - 2)
    share = ((x - places[left]) / (places[left + 1] - places[left]))[:, None]
    return np.asarray((1 - share) * values[:, left] + share * values[:, left + 1])
