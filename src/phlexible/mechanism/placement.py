"""A body where the user puts it: numbers checked, data in the model's dimension, strings along curves."""

from math import pi
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, vector
from phlexible.algebra.rotations import RotationLike, rotation_matrix
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.body import Body, NodalBody
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.initial_nodes import Field
from phlexible.bodies.mechanics.absolute import strains
from phlexible.bodies.mechanics.floating import check_mass
from phlexible.bodies.mechanics.soft import least_volumes
from phlexible.errors import ModelError, ParameterError, SingularMassError, UnitWarning
from phlexible.ports.attachments import PlacedBody
from phlexible.ports.ground import planar_point

TURN = 2 * pi * (1 + 1e-9)


def place(
    body: Body,
    name: str,
    dimension: int,
    position: ArrayLike,
    rotation: RotationLike | None,
    velocity: Field | None,
    angular_velocity: ArrayLike | None,
    shape: Field | None,
    alike: PlacedBody | None = None,
) -> PlacedBody:
    """The handle of a body; arguments as of ``Mechanism.add``.

    Args:
        alike: a handle of the same description, whose numbers this one shares unless a joint has clamped it.

    Raises:
        ModelError: an angular velocity of a point mass or string, or a shape of a body that is no string.
        ParameterError: numbers of a wrong shape, not finite, or out of the plane.
        SingularMassError: a motion of the body carries no kinetic energy.
    """
    origin = planar_point("position", vector("position", position), dimension)
    turn = rotation_matrix(rotation, dimension)
    _ask_about_degrees(rotation)
    if isinstance(body, NodalBody):
        nodal = body.discretize(dimension)
        nodes = body.initial_nodes(dimension, shape, velocity, origin, turn)
        if angular_velocity is not None:
            try:
                nodes = body.spun(nodes, _spin(angular_velocity, dimension), origin)
            except ModelError as error:
                raise ModelError(f"{name}: {error}") from None
        placed = PlacedBody(name, body, body, nodal, origin, turn, nodes=nodes)
        check_strains(placed)
        return placed
    if shape is not None:
        raise ModelError(f"{name} is no string and has no shape; give position= and rotation=")
    speed = None if velocity is None else single_velocity(name, velocity)
    held = body.held(is_clamped=False)
    if alike is not None and isinstance(alike.data, FloatingBody) and alike.held == held:
        held, data, points = alike.held, alike.data, alike.points
    else:
        data, points = discretized(held, name, dimension), {}
    placed = PlacedBody(
        name,
        body,
        held,
        data,
        origin,
        turn,
        None if speed is None else planar_point("velocity", speed, dimension),
        None if angular_velocity is None else _spin(angular_velocity, dimension),
        points=points,
    )
    if angular_velocity is not None and not placed.data.rotates:
        raise ModelError(f"{name} is a point mass and has no angular velocity, got {angular_velocity!r}")
    return placed


def discretized(body: Body, name: str, dimension: int) -> FloatingBody:
    """The data of a body with a frame.

    Raises:
        SingularMassError: a motion of the body carries no kinetic energy.
    """
    data = body.discretize(dimension)
    assert isinstance(data, FloatingBody), "only strings have no frame"
    try:
        check_mass(data)
    except SingularMassError as error:
        raise SingularMassError(f"{name}: {error}") from None
    return data


def check_strains(placed: PlacedBody) -> None:
    """Refuses a shape with C <= 0, at which no law is defined.

    Raises:
        ParameterError: names the element.
    """
    assert isinstance(placed.data, AbsoluteBody), "only strings have nodes"
    for group in placed.data.strains:
        C = strains(placed.data, group, placed.elastic)
        worst = int(C.argmin())
        if not C[worst] > 0:
            raise ParameterError(
                f"{placed.name}: the shape must not press element {group.elements[worst]} together to "
                f"nothing (C = |dr/ds|^2 = {C[worst]:.3g}); neighbouring nodes need a distance"
            )
    for elements in placed.data.elements:
        volumes = least_volumes(elements, placed.elastic.reshape(-1, placed.data.dimension))
        if not volumes.min() > 0:
            raise ParameterError(
                f"{placed.name}: the shape must not turn element {int(volumes.argmin())} inside out or press it "
                f"flat (its volume is {volumes.min():.3g} of the undeformed one)"
            )


def single_velocity(name: str, velocity: Field) -> Array:
    """The velocity of a body with a frame, which is no function, shape (3,).

    Raises:
        ModelError: a function.
        ParameterError: no three finite numbers.
    """
    if callable(velocity):
        raise ModelError(f"{name} is no string: velocity is that of its origin, three numbers")
    return vector("velocity", velocity)


def _spin(value: ArrayLike, dimension: int) -> Array:
    spin = vector("angular_velocity", value)
    if dimension == 2 and spin[:2].any():
        raise ParameterError(f"angular_velocity must be (0, 0, w_z) in a planar model (dimension=2), got {value!r}")
    return spin


def _ask_about_degrees(rotation: RotationLike | None) -> None:
    """Warns of an angle of more than a turn, which a place has no use for."""
    if isinstance(rotation, int | float | np.number) and abs(float(rotation)) > TURN:
        warn(
            f"rotation = {rotation!r} is more than a turn; angles are in radians: np.radians({rotation!r})",
            UnitWarning,
            stacklevel=4,
        )
