"""Hyperelastic string: large motion and large strain, no bending stiffness (Kinon et al. 2023)."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, non_negative, positive, vector
from phlexible.algebra.options import line_plane_or_space, whole
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.body import BodyData, NodalBody
from phlexible.bodies.forms.string import StringForm
from phlexible.bodies.initial_nodes import Field, InitialNodes, initial_nodes
from phlexible.bodies.skin import Skin
from phlexible.bodies.string.form_options import string_form
from phlexible.bodies.string.law import StringLaw
from phlexible.bodies.string.mesh import StringMesh
from phlexible.bodies.string.points import StringPoints
from phlexible.display.written import short_repr
from phlexible.errors import ParameterError
from phlexible.shapes.colors import optional_color


@dataclass(frozen=True)
class String(NodalBody):
    """A string, cable or rubber band in absolute coordinates, along its undeformed arc length s.

    It starts where ``model.add(string, shape=...)`` puts it. ``start``, ``end`` and ``at(s)`` are its
    points; joints and loads act on nodes. It has no orientation, as a point mass.

    Attributes:
        length: undeformed [m].
        line_density: rho A, mass per undeformed length [kg/m].
        elements: number of them.
        law: stored energy, for example ``LogarithmicLaw(axial_stiffness=20.0)``.
        order: of the shape functions: 1 (linear, as in the paper) or 2 (quadratic).
        viscosity: Kelvin-Voigt time tau [s]: the stress grows by tau EA d((C - 1) / 2)/dt.
        diameter: in pictures [m]; None: as thin as can be seen.
        color: in pictures, a name or "#rrggbb"; None: as the picture likes.

    Raises:
        ParameterError: a number out of its range, or no law.
    """

    length: float
    line_density: float
    elements: int
    law: StringLaw
    order: int = 1
    viscosity: float = 0.0
    diameter: float | None = field(default=None, kw_only=True)
    color: str | None = field(default=None, kw_only=True)

    __repr__ = short_repr

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", positive("length", self.length))
        object.__setattr__(self, "line_density", positive("line_density", self.line_density))
        object.__setattr__(self, "viscosity", non_negative("viscosity", self.viscosity))
        if self.diameter is not None:
            object.__setattr__(self, "diameter", positive("diameter", self.diameter))
        object.__setattr__(self, "color", optional_color(self.color))
        for name in ("elements", "order"):
            object.__setattr__(self, name, whole(name, getattr(self, name)))
        if self.order not in (1, 2):
            raise ParameterError(f"order must be 1 (linear) or 2 (quadratic), got {self.order!r}")
        if not isinstance(self.law, StringLaw):
            raise ParameterError(
                f"law must be a stored energy such as LogarithmicLaw(axial_stiffness=20.0), got {self.law!r}"
            )

    @property
    def mesh(self) -> StringMesh:
        """Nodes and shape functions."""
        return StringMesh(self.length, self.elements, self.order)

    def places_along(self) -> tuple[float, ...]:
        """Its nodes."""
        return tuple(self.mesh.nodes.tolist())

    def discretize(self, dimension: int) -> AbsoluteBody:
        """Nodes, mass and strains in the plane (dimension 2) or in space (3)."""
        line_plane_or_space(dimension)
        return self._absolute(dimension)

    def skin(self, data: BodyData, ports: Array) -> Skin:
        """A line along the nodes."""
        width = 0.0 if self.diameter is None else self.diameter
        return replace(super().skin(data, ports), width=(width, width))

    def initial_nodes(
        self, dimension: int, shape: Field | None, velocity: Field | None, position: Array, rotation: Array
    ) -> InitialNodes:
        """The nodes at t = 0; see ``Mechanism.add``."""
        return initial_nodes(self.mesh.nodes, dimension, shape, velocity, position, rotation)

    def hanging(self, start: ArrayLike, end: ArrayLike, gravity: ArrayLike) -> Array:
        """Nodes of the string at rest between two points, for ``model.add(string, shape=...)``.

        Args:
            start, end: where the ends are held, shape (3,) [m].
            gravity: acceleration, shape (3,) [m/s^2].

        Returns:
            Shape (N, 3) [m].

        Raises:
            EquilibriumError: none was found.
        """
        from phlexible.bodies.string.statics import hanging_nodes

        ends = vector("start", start), vector("end", end)
        return hanging_nodes(self._absolute(3), self.mesh, *ends, vector("gravity", gravity))

    def port_hamiltonian(  # type: ignore[override]  # a string has no frame, variants and stress spaces
        self,
        *,
        dimension: int = 3,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        shape: Field | None = None,
        velocity: Field | None = None,
        start: str = "force",
        end: str = "force",
    ) -> StringForm:
        """This string alone as a port-Hamiltonian model in the form of the paper, see ``StringForm``.

        Args:
            dimension: 1 (along x), 2 or 3.
            gravity: acceleration of gravity, world axes, shape (3,) [m/s^2].
            shape, velocity: at t = 0, as in ``model.add``.
            start, end: "force": prescribed contact force; "velocity": prescribed velocity; "fixed".

        Raises:
            ParameterError: no such option, or numbers out of the line or plane.
        """
        given = vector("gravity", gravity)
        if not isinstance(dimension, int | np.integer) or isinstance(dimension, bool) or dimension not in (1, 2, 3):
            raise ParameterError(f"dimension must be 1, 2 or 3, got {dimension!r}")
        return string_form(self._absolute(int(dimension)), self.mesh, given, shape, velocity, (start, end))

    def _absolute(self, dimension: int) -> AbsoluteBody:
        mesh = self.mesh
        return AbsoluteBody(
            dimension=dimension,
            mass=self.line_density * self.length,
            nodal_mass=mesh.mass(self.line_density),
            strains=(mesh.strains(self.law, self.viscosity),),
            points=StringPoints(mesh, dimension),
            size=self.length,
        )
