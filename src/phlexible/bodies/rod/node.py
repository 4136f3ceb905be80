"""A rigid cross-section of a rod, with the mass of the length around it."""

from dataclasses import dataclass, field

import numpy as np

from phlexible.algebra.arrays import Array, vector
from phlexible.algebra.options import line_plane_or_space
from phlexible.bodies.beam.constitution import moments_at
from phlexible.bodies.body import Body, BodyData
from phlexible.bodies.floating_body import FloatingBody, no_strain
from phlexible.bodies.locations import (
    Along,
    Cut,
    End,
    Location,
    MaterialPoint,
    MaterialPoints,
    MaterialPosition,
    Origin,
    Start,
)
from phlexible.bodies.material import Material
from phlexible.bodies.skin import Skin, tube_skin
from phlexible.elements.varying_section import UniformSection
from phlexible.errors import AttachmentError
from phlexible.shapes.outlines import outline_of

LAP = 0.1
"""Of the thickness, how far a piece reaches into its neighbours: bends of 0.4 rad between them are closed."""


@dataclass(frozen=True)
class RodNode(Body):
    """A section of a ``Rod``, which adds it to a model: local x along the rod, y and z those of the section.

    Attributes:
        section, material: as of the rod.
        weight: length of the rod whose mass it carries [m].
        before, after: how far along x the piece of the rod goes that moves with it [m].
        color: in pictures.
    """

    section: UniformSection
    material: Material | None
    weight: float
    before: float
    after: float
    color: str | None = field(default=None, kw_only=True)

    @property
    def length(self) -> float:
        """Of the piece of the rod [m]."""
        return self.before + self.after

    @property
    def elements(self) -> int:
        """One piece."""
        return 1

    def discretize(self, dimension: int) -> FloatingBody:
        """m, S = m c and W from int rho (1, y, z) (1, y, z)^T over the section, times the length it carries.

        On a line only m is left.
        """
        line_plane_or_space(dimension)
        moments = self.weight * moments_at(self.section, self.material, np.zeros(1))[0]
        moments[dimension:], moments[:, dimension:] = 0.0, 0.0
        second_moments = np.zeros((3, 3))
        second_moments[1:, 1:] = moments[1:, 1:]
        return FloatingBody(
            dimension=dimension,
            mass=float(moments[0, 0]),
            first_moments=np.array([0.0, *moments[0, 1:]])[:, None],
            second_moments=second_moments[:, :, None, None],
            rotates=dimension > 1,
            strain=no_strain(),
            damping=np.zeros((0, 0)),
            viscosity=0.0,
            points=RodPoints(self.before, self.after, dimension),
            size=self.length,
        )

    def skin(self, data: BodyData, ports: Array) -> Skin:
        """The piece of the rod, straight; it reaches a little into its neighbours, so that bends have no gaps."""
        outline = outline_of(self.section)
        lap = LAP * float(np.ptp(outline.corners, axis=0).max())
        ends = [-self.before - lap * (self.before > 0), self.after + lap * (self.after > 0)]
        positions = np.array([[x, 0.0, 0.0] for x in ends])
        return tube_skin(positions, np.zeros((2, 3, 0)), np.zeros((2, 3, 0)), [outline, outline])


@dataclass(frozen=True, eq=False)
class RodPoints(MaterialPoints):
    """Points of the piece from ``-before`` to ``after`` along x [m], rigid."""

    before: float
    after: float
    dimension: int

    def locate(self, location: Location) -> MaterialPoint:
        """The node itself, a place along the piece counted from its beginning, or any point in body axes."""
        match location:
            case Origin():
                position = np.zeros(3)
            case Start() | Cut(at_end=False):
                position = np.array([-self.before, 0.0, 0.0])
            case End() | Cut():
                position = np.array([self.after, 0.0, 0.0])
            case Along(x):
                position = np.array([x - self.before, 0.0, 0.0])
            case MaterialPosition(given):
                position = vector("position", given)
        if self.dimension == 2 and position[2] != 0:
            raise AttachmentError(f"position must have z = 0 in dimension 2, got {position.tolist()}")
        return MaterialPoint(position, np.zeros((3, 0)), np.zeros((3, 0)))

    def outline(self, count: int) -> tuple[Array, Array]:
        """From one end of the piece to the other."""
        places = np.array([[-self.before, 0.0, 0.0], [self.after, 0.0, 0.0]])
        return places, np.zeros((2, 3, 0))
