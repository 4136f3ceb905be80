"""Descriptions of bodies, immutable, which users place in a model any number of times."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, option
from phlexible.algebra.fields import convert_fields
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.initial_nodes import Field, InitialNodes
from phlexible.bodies.locations import Location, Origin, user_locations
from phlexible.bodies.mechanics.floating import moment_products
from phlexible.bodies.skin import Skin, line_skin
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
        """Color of the body in pictures as "#rrggbb"; None: the default of the picture."""
        return getattr(self, "color", None)

    def skin(self, data: BodyData, ports: Array) -> Skin:
        """Return the surface or the lines of the body for pictures, which move with its elastic coordinates.

        Args:
            data: result of ``discretize``.
            ports: positions in the undeformed body at which joints act, shape (k, 3) [m].
        """
        positions, shapes = data.points.outline(OUTLINE_POINTS)
        line = (np.arange(len(positions)),) if len(positions) > 1 else ()
        return line_skin(positions, shapes, line, np.arange(len(positions) if not line else 0))

    @abstractmethod
    def discretize(self, dimension: int) -> BodyData:
        """Return the arrays of this body (masses, shape functions, strains) for models on a line (dimension 1), in
        the plane (2) or in space (3)."""

    def resolved(self, is_clamped: bool) -> Self:
        """Return this body with options such as ``frame="auto"`` decided by whether a ``Fixed`` joint acts at its
        start.
        """
        return self

    def described_coordinates(self, columns: Array, resolved: "Body", dimension: int) -> Array:
        """Convert deformations from the elastic coordinates of ``self.resolved(...)`` to those of this body, both
        of shape (n, k).
        """
        return columns

    def memory(self, dimension: int) -> tuple[int, float]:
        """Return the number of elements and the estimated memory of a run [bytes]; zeros for bodies for which both
        are small.
        """
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
        """Return the port-Hamiltonian model of this body alone, in the form of the papers, with ports at its ends
        or interfaces.

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
        places = {**self.port_locations(), **user_locations({} if ports is None else ports, self.port_locations())}
        for location in places.values():
            data.points.locate(location)
        form: PortHamiltonianModel = leaf_function("body_form")(data, places, variant, gravity, space)
        return form

    def contact_positions(self) -> tuple[float, ...]:
        """Return the coordinates of the nodes along a beam, rod or string at which contact forces act [m]; empty
        for other bodies.
        """
        return ()

    def port_locations(self) -> dict[str, Location]:
        """Return the locations of the boundary ports of the body's port-Hamiltonian model by name."""
        return {"origin": Origin()}

    def stress_space(self, data: FloatingBody, stress: str) -> StressSpace:
        """Return the space of stress states for the port-Hamiltonian model of the discretized body; of a body
        without a mesh, the stresses of its strain energy.

        Raises:
            ParameterError: a space that the body does not have.
        """
        return energy_stress(data.strain, stress)


class NodalBody(Body):
    """Base class of strings and soft bodies, whose unknowns are the world positions of their nodes."""

    @abstractmethod
    def discretize(self, dimension: int) -> AbsoluteBody:
        """Return the arrays of this body (nodal masses, strains, points) for models on a line (dimension 1), in the
        plane (2) or in space (3)."""

    @abstractmethod
    def initial_nodes(
        self, dimension: int, shape: Field | None, velocity: Field | None, position: Array, rotation: Array
    ) -> InitialNodes:
        """Return positions and velocities of the nodes at t = 0 in the world. They follow from a user's shape and
        velocity functions, or from position and rotation of the undeformed body.

        Raises:
            ParameterError: wrong shapes, numbers that are not finite, or nodes out of the plane.
        """

    def with_rotation(self, nodes: InitialNodes, spin: Array, origin: Array) -> InitialNodes:
        """Return the initial nodes with the velocities of a rotation added: ``spin``, shape (3,) [rad/s], about the
        point ``origin`` [m].

        Raises:
            ModelError: the body has no angular velocity.
        """
        raise ModelError("it has no frame and no angular_velocity: give its velocity as a function of s")


# Numbers of a body that change whenever the meaning of its coordinates changes.


def fingerprint(body: BodyData) -> Array:
    """Return numbers that change whenever the meaning of a body's elastic coordinates does, shape (k,); used to
    recognise that stored states belong to the same body.
    """
    if isinstance(body, AbsoluteBody):
        strains = [part.ravel() for group in body.strains for part in (group.first, group.second, group.weights)]
        elements = [part.ravel() for group in body.elements for part in (group.gradients, group.weights)]
        return np.concatenate([body.nodal_mass.data, *strains, *elements])
    undeformed = np.eye(1, body.elastic_count + 1)[0]
    return np.concatenate([body.first_moments.ravel(), moment_products(body, undeformed).ravel()])
