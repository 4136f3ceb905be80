"""Descriptions of bodies, immutable, which users place in a model any number of times."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, convert_fields, option
from phlexible.bodies.absolute_body import AbsoluteBody, Field, InitialNodes
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.locations import Location, Origin, user_locations
from phlexible.bodies.mechanics.floating import moment_products
from phlexible.bodies.skin import BodyStress, Skin, line_skin
from phlexible.bodies.stress_space import StressContinuity, StressSpace, energy_stress
from phlexible.errors import ModelError
from phlexible.leaves import leaf_function
from phlexible.port_hamiltonian.model import PortHamiltonianModel

BodyData = FloatingBody | AbsoluteBody
"""A body as arrays, in the plane or in space."""


OUTLINE_POINTS = 33


class Body(ABC):
    """Base class of the bodies that users describe: an immutable description, which may be placed in models any
    number of times.
    """

    def __post_init__(self) -> None:
        convert_fields(self)

    @property
    def paint(self) -> str | None:
        """Color that the user chose for this body in pictures, as text "#rrggbb"; None if there is none, so that
        the picture chooses."""
        return getattr(self, "color", None)

    def skin(self, data: BodyData, ports: Array) -> Skin:
        """Return what pictures draw for this body (a ``Skin``). By default it is the line through the points of
        ``data.points.outline``, or a ball if there is only one; it moves with the elastic coordinates. ``data`` are
        the arrays of the body; ``ports``, positions of joints (k, 3) [m], are for subclasses.

        Args:
            data: result of ``discretize``.
            ports: positions in the undeformed body at which joints act, shape (k, 3) [m].
        """
        positions, shapes = data.points.outline(OUTLINE_POINTS)
        line = (np.arange(len(positions)),) if len(positions) > 1 else ()
        return line_skin(positions, shapes, line, np.arange(len(positions) if not line else 0))

    def stress_field(self) -> BodyStress | None:
        """Return an object that computes the stress in this body from its elastic coordinates; None unless a kind
        of body overrides this. Bodies with a mesh and materials do; ``motion.mesh_stress`` and pictures use it.
        """
        return None

    @abstractmethod
    def discretize(self, dimension: int) -> BodyData:
        """Return this body as arrays: masses, shape functions, strains, damping. ``dimension`` is the number of
        space dimensions of the model: 1 (on a line), 2 (in the plane) or 3 (in space). Abstract: each kind of body
        implements it."""

    def resolved(self, is_clamped: bool) -> Self:
        """Return this body with automatic options, such as ``frame="auto"`` of a beam, replaced by definite
        options. By default the body itself is returned; beams override this. ``is_clamped`` says whether a
        ``Fixed`` joint acts at the body's start."""
        return self

    def described_coordinates(self, columns: Array, resolved: "Body", dimension: int) -> Array:
        """Return k deformations of this body as columns of its elastic coordinates, shape (n, k). They are given
        as ``columns`` of coordinates of the body ``resolved``, whose options are definite. By default the columns
        are returned unchanged; beams override this. ``dimension`` is the number of space dimensions of the model
        (1, 2 or 3)."""
        return columns

    def memory(self, dimension: int) -> tuple[int, float]:
        """Return the number of finite elements of this body and the estimated memory [bytes] of a simulation with
        it. By default both are zero; bodies with many elements override this. ``dimension`` is the number of space
        dimensions of the model (1, 2 or 3)."""
        return 0, 0.0

    def port_hamiltonian(
        self,
        variant: str = "full",
        *,
        dimension: int = 3,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        stress: str = "discontinuous",
        ports: Mapping[str, ArrayLike] | None = None,
    ) -> PortHamiltonianModel:
        """Return the port-Hamiltonian state-space model of this body alone. ``variant`` chooses its equations
        (full, constant mass matrix, ...), ``stress`` the functions in which stress states are expanded.
        ``gravity`` is the acceleration [m/s^2] in world axes. Boundary ports are the ends or interfaces of the
        body and the user's ``ports``. ``dimension`` is the number of space dimensions of the model (2 or 3).

        Args:
            variant: "full", "constant_mass", "zeroth_order" or (in the plane) "printed", see ``FullForm``,
                ``ConstantMassForm``, ``ZerothOrderForm``, ``PrintedForm``.
            dimension: 2: in the plane; 3: in space.
            gravity: acceleration of gravity, world axes, shape (3,) [m/s^2].
            stress: space of the stress states, see ``StressContinuity``.
            ports: further boundary ports by name: a distance from the start of a beam [m], or body coordinates of a
                material point, shape (3,) [m].

        Raises:
            ParameterError: no such option, or a port that has the name of another.
            AttachmentError: a port that is not on the body.
        """
        data = self.discretize(dimension)
        assert isinstance(data, FloatingBody), "bodies without a frame have their own form"
        space = self.stress_space(data, option("stress", stress, StressContinuity))
        points = {**self.port_locations(), **user_locations({} if ports is None else ports, self.port_locations())}
        for location in points.values():
            data.points.locate(location)
        form: PortHamiltonianModel = leaf_function("body_form")(data, points, variant, gravity, space)
        return form

    def contact_positions(self) -> tuple[float, ...]:
        """Return the positions along the axis of a beam, rod or string at which contact forces act, its nodes [m].
        By default an empty tuple is returned; beams, rods and strings override this."""
        return ()

    def port_locations(self) -> dict[str, Location]:
        """Return the locations of the boundary ports of this body's port-Hamiltonian model by name. By default only
        its origin; bodies with other ports override this."""
        return {"origin": Origin()}

    def stress_space(self, data: FloatingBody, stress: str) -> StressSpace:
        """Return the stress states of the port-Hamiltonian model of this body (with the arrays ``data``): their
        compliance and the strains that belong to them. By default one stress for each strain of the body's energy;
        beams override this. ``stress`` names the kind of space; raise ``ParameterError`` if the body does not have
        it.

        Raises:
            ParameterError: a space that the body does not have.
        """
        return energy_stress(data.strain, stress)


class NodalBody(Body):
    """Base class of strings and soft bodies, whose unknowns are the world positions of their nodes."""

    @abstractmethod
    def discretize(self, dimension: int) -> AbsoluteBody:
        """Return this string or soft body as arrays: nodal masses, strains, material points. ``dimension`` is the
        number of space dimensions of the model: 1 (on a line), 2 (in the plane) or 3 (in space). Abstract: each
        kind of body implements it."""

    @abstractmethod
    def initial_nodes(
        self, dimension: int, shape: Field | None, velocity: Field | None, position: Array, rotation: Array
    ) -> InitialNodes:
        """Return world positions and velocities of the nodes of this string or soft body at t = 0. Positions are
        the user's ``shape`` (None: undeformed), rotated by ``rotation`` and moved by ``position``. ``velocity`` is
        in world axes. ``dimension`` is the number of space dimensions of the model (1, 2 or 3). Abstract: each
        kind of body implements it.

        Raises:
            ParameterError: wrong shapes, numbers that are not finite, or nodes out of the plane.
        """

    def with_rotation(self, nodes: InitialNodes, spin: Array, origin: Array) -> InitialNodes:
        """Raise ``ModelError``, since this body (a string) accepts no angular velocity. Soft bodies override this:
        they return the initial ``nodes`` with the velocities of a rigid rotation added, with angular velocity
        ``spin`` (3,) [rad/s] about the point ``origin`` [m].

        Raises:
            ModelError: the body has no angular velocity.
        """
        raise ModelError("it has no frame and no angular_velocity: give its velocity as a function of s")


# Numbers of a body that change whenever the meaning of its coordinates changes.


def fingerprint(body: BodyData) -> Array:
    """Return an array (k,) that identifies what the elastic coordinates of a body mean, so that a stored state is
    not loaded into another body. For a floating body it concatenates first and second mass integrals of the
    undeformed body. For another body it concatenates nodal masses, strain matrices, weights and stiffnesses."""
    if isinstance(body, AbsoluteBody):
        strains = [part.ravel() for group in body.strains for part in (group.first, group.second, group.weights)]
        elements = [part.ravel() for group in body.elements for part in (group.gradients, group.weights)]
        products = [part.ravel() for group in body.products for part in (group.stiffness, group.rest)]
        return np.concatenate([body.nodal_mass.data, *strains, *elements, *products])
    undeformed = np.eye(1, body.elastic_count + 1)[0]
    return np.concatenate([body.first_moments.ravel(), moment_products(body, undeformed).ravel()])
