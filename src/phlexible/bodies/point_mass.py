"""A point mass: it has a place and no orientation."""

from dataclasses import dataclass, field

import numpy as np

from phlexible.algebra.arrays import Array, line_plane_or_space
from phlexible.algebra.fields import Positive
from phlexible.bodies.body import Body
from phlexible.bodies.floating_body import FloatingBody, no_strain
from phlexible.bodies.locations import Location, MaterialPoint, MaterialPoints, Origin, label_of
from phlexible.errors import AttachmentError
from phlexible.shapes.surfaces import Color


@dataclass(frozen=True)
class PointMass(Body):
    """A mass at a point.

    Attributes:
        mass: [kg].
        color: in pictures, a name or "#rrggbb"; None: as the picture likes.

    Raises:
        ParameterError: the mass is not finite and positive.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> stone = model.add(ph.PointMass(1.0), "stone")
        >>> motion = model.simulate(1.0, step=0.1)
        >>> print(round(motion.position(stone.origin)[-1, 2], 9))
        -4.905
    """

    mass: Positive
    color: Color = field(default=None, kw_only=True)

    def discretize(self, dimension: int) -> FloatingBody:
        """S = 0, W = 0 and no rotation, so that only ``m |v|^2 / 2`` remains."""
        line_plane_or_space(dimension)
        return FloatingBody(
            dimension=dimension,
            mass=self.mass,
            first_moments=np.zeros((3, 1)),
            second_moments=np.zeros((3, 3, 1, 1)),
            rotates=False,
            strain=no_strain(),
            damping=np.zeros((0, 0)),
            viscosity=0.0,
            points=SinglePoint(),
            size=0.0,
        )


@dataclass(frozen=True, eq=False)
class SinglePoint(MaterialPoints):
    """The one point of a point mass."""

    def locate(self, location: Location) -> MaterialPoint:
        """The mass itself, without orientation.

        Raises:
            AttachmentError: any location but the origin.
        """
        if not isinstance(location, Origin):
            raise AttachmentError(f"a PointMass has no {label_of(location)}; it offers `origin`")
        return MaterialPoint(np.zeros(3), np.zeros((3, 0)), None)

    def outline(self, count: int) -> tuple[Array, Array]:
        """The mass alone."""
        return np.zeros((1, 3)), np.zeros((1, 3, 0))
