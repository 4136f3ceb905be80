"""What joints transmit: the force lambda dg/dx_k on each vector x_k (formulation, section 4)."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.joints.bilinear import DirectionOf, PointOf, Vector
from phlexible.joints.joint import Joint
from phlexible.observables.run import Run
from phlexible.observables.vectors import world_values


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


def _forces(run: Run, joint: Joint) -> list[tuple[Vector, Array]]:
    """Vectors of the second port and the force on each, shape (N + 1, 3)."""
    here = run.mechanism.joints[run.joint_index(joint)]
    forces: list[tuple[Vector, Array]] = []
    for row, multiplier in zip(here.rows(run.mechanism.dimension), multipliers(run, here).T, strict=True):
        for term in row.terms:
            for vector, partner in ((term.first, term.second), (term.second, term.first)):
                if isinstance(vector, PointOf | DirectionOf) and vector.port is here.second:
                    force = (term.coefficient * multiplier)[:, None] * world_values(run, partner)
                    forces.append((vector, force))
    return forces
