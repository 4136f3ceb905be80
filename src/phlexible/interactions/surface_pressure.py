"""Pressure on the surface of a soft body, which follows it."""

from dataclasses import dataclass, field

from phlexible.bodies.soft.surface import SoftSurface
from phlexible.interactions.loads import PointLoad


@dataclass(frozen=True, eq=False, repr=False)
class SurfacePressure(PointLoad):
    """What a ``Pressure`` on a soft body is to the step: its value is (p, 0, 0), along the normals of a surface.

    Attributes:
        surface: faces on nodes of the body that ``attachment`` is on.
    """

    surface: SoftSurface = field(kw_only=True)

    def entries(self) -> tuple[PointLoad, ...]:
        """Itself."""
        return (self,)
