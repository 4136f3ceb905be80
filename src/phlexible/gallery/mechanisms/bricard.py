"""Six hinges in a ring: a mechanism that moves although it should not."""

import numpy as np

from phlexible.algebra.arrays import Array, positive
from phlexible.bodies.rigid_body import RigidBody
from phlexible.gallery.parameters import ready_model
from phlexible.joints.revolute import Revolute
from phlexible.model import Model
from phlexible.shapes.solids import Box

CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=np.float64)
"""Of a cube, along its edges; the edge from the last one to the first is the ground."""


@ready_model
def bricard(length: float = 1.0, mass: float = 1.0, width: float = 0.1, gravity: float = 9.81) -> Model:
    """Five rigid rods and the ground along six edges of a cube, hinged to a ring, released at rest.

    The axis of each hinge is perpendicular to both of its rods. Thirty constraints on five bodies leave
    one motion, since one of them repeats the others in every position: a redundant one.

    Source: multibody benchmark of IFToMM's technical committee, problem A04 (Bricard's mechanism).
    Gravity along -y, rods of square section.

    Reference: energy is constant. From the kinetic energy as a function of the one coordinate, found by
    following the closed ring, the corner that starts at (1, -1, 1) is at (0.968284, -1.224625, 0.750147)
    after 0.5 s and at (0.510502, -1.649168, 0.140123) after 1 s.

    Shown by: ``phlexible run bricard``.

    Args:
        length: of each rod [m].
        mass: of each rod [kg].
        width: of the section [m].
        gravity: [m/s2].
    """
    length, width = positive("length", length), positive("width", width)
    across = mass * (length**2 + width**2) / 12
    looks = Box((length, width, width))
    rod = RigidBody(mass, (mass * width**2 / 6, across, across), center=(length / 2, 0.0, 0.0), shape=looks)
    corners = length * CORNERS
    tip = (length, 0.0, 0.0)

    model = Model(gravity=(0.0, -gravity, 0.0))
    edges = np.diff(CORNERS, axis=0)
    rods = [model.add(rod, f"rod {k + 1}", corners[k], _along(edges[k])) for k in range(len(edges))]
    ground = CORNERS[0] - CORNERS[-1]
    model.connect(Revolute(model.ground.at(corners[0]), rods[0].origin, axis=np.cross(ground, edges[0])))
    for k in range(4):
        axis = np.cross(edges[k], edges[k + 1])
        model.connect(Revolute(rods[k].point(tip), rods[k + 1].origin, axis=axis))
    model.connect(Revolute(rods[4].point(tip), model.ground.at(corners[5]), axis=np.cross(edges[4], ground)))
    return model


def _along(edge: Array) -> Array:
    """A rotation whose x axis is the edge."""
    second = np.roll(edge, 1)
    return np.column_stack([edge, second, np.cross(edge, second)])
