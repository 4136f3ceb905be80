"""What joints transmit: the force lambda dg/dx_k on each vector x_k (formulation, section 4)."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError
from phlexible.interactions.bilinear import DirectionOf, PointOf, Vector
from phlexible.interactions.coordinates import Coordinate
from phlexible.interactions.drives import Drive
from phlexible.interactions.force_elements import ForceElement
from phlexible.interactions.loads import Axes
from phlexible.joints.joint import Joint
from phlexible.observables.angles import function_values
from phlexible.observables.poses import rotation
from phlexible.observables.run import Run
from phlexible.observables.vectors import timed_values, world_values


def reaction(run: Run, joint: Joint) -> Array:
    """Force of the joint on its second attachment, world axes, shape (N + 1, 3) [N]."""
    forces = [force for vector, force in _forces(run, joint) if isinstance(vector, PointOf)]
    return np.asarray(np.sum([np.zeros((run.instants, 3)), *forces], axis=0))


def reaction_moment(run: Run, joint: Joint) -> Array:
    """Moment of the joint on its second attachment about its point, world axes, shape (N + 1, 3) [N m]."""
    moments = [
        np.cross(world_values(run, vector), force)
        for vector, force in _forces(run, joint)
        if isinstance(vector, DirectionOf)
    ]
    return np.asarray(np.sum([np.zeros((run.instants, 3)), *moments], axis=0))


def multipliers(run: Run, joint: Joint) -> Array:
    """Multipliers of the joint's rows, shape (N + 1, rows) [N, or N m for rows of directions]."""
    offsets, index = run.layout.multiplier, run.joint_index(joint)
    return run.multipliers[:, offsets[index] : offsets[index + 1]].copy()


def in_axes(run: Run, joint: Joint, vectors: Array, axes: Axes) -> Array:
    """World vectors in the axes asked for: those of the material at the second attachment, or the world's.

    Raises:
        ModelError: body axes of a point mass.
    """
    if axes is Axes.WORLD:
        return vectors
    second = run.mechanism.joints[run.joint_index(joint)].second
    return np.asarray(np.einsum("tji,tj->ti", rotation(run, second), vectors))


def element_force(run: Run, element: ForceElement | Drive) -> Array:
    """Forces along the coordinates of an element or drive, shape (N + 1,) or (N + 1, forces) [N or N m].

    Of an element from its multipliers lambda = F w with the weights w = d theta/dy of its functions.

    Raises:
        ModelError: it is not part of the model.
    """
    place = int(run.layout.multiplier[len(run.mechanism.joints)])
    for drive in run.mechanism.drives:
        if drive is element:
            return run.recording.multipliers[:, place].copy()
        place += 1
    for each in run.mechanism.elements:
        forces = each.forces(run.mechanism.dimension)
        counts = [len(force.coordinate.functions()) for force in forces]
        if each is element:
            found = []
            for force, count in zip(forces, counts, strict=True):
                found.append(
                    _along(run, force.coordinate, run.recording.multipliers[:, place : place + count])
                )
                place += count
            return found[0] if len(found) == 1 else np.stack(found, axis=1)
        place += sum(counts)
    raise ModelError(f"{element!r} is not applied in this model")


def _along(run: Run, coordinate: Coordinate, multipliers: Array) -> Array:
    gradients = np.array([coordinate.gradient(y) for y in function_values(run, coordinate).T])
    return np.asarray((multipliers * gradients).sum(axis=1) / (gradients**2).sum(axis=1))


def _forces(run: Run, joint: Joint) -> list[tuple[Vector, Array]]:
    """Vectors of the second port and the force on each, shape (N + 1, 3)."""
    here = run.mechanism.joints[run.joint_index(joint)]
    dimension = run.mechanism.dimension
    rows = list(zip(here.rows(dimension), multipliers(run, here).T, strict=True))
    place = int(run.layout.multiplier[len(run.mechanism.joints)])
    for drive in run.mechanism.drives:
        if drive.joint is here:
            rows += [(row, run.recording.multipliers[:, place]) for row in drive.rows(dimension)]
        place += 1
    forces: list[tuple[Vector, Array]] = []
    for row, multiplier in rows:
        for term in row.terms:
            scaled = term.coefficient * multiplier
            if term.factor is not None:
                scaled = scaled * timed_values(run, term.factor)[0]
            for vector, partner in ((term.first, term.second), (term.second, term.first)):
                if isinstance(vector, PointOf | DirectionOf) and vector.port is here.second:
                    forces.append((vector, scaled[:, None] * world_values(run, partner)))
    return forces
