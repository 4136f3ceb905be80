"""Checks of strings where they are placed."""

import numpy as np
from numpy.typing import ArrayLike

from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.initial_nodes import Field
from phlexible.errors import ModelError, ParameterError
from phlexible.ports.attachments import PlacedBody


def check_strains(placed: PlacedBody) -> None:
    """Refuses a shape with C <= 0, at which no law is defined.

    Raises:
        ParameterError: names the element.
    """
    from phlexible.bodies.mechanics.absolute import strains

    assert isinstance(placed.data, AbsoluteBody), "only strings have nodes"
    for group in placed.data.strains:
        C = strains(placed.data, group, placed.elastic)
        worst = int(C.argmin())
        if not C[worst] > 0:
            raise ParameterError(
                f"{placed.name}: the shape must not press element {group.elements[worst]} together to "
                f"nothing (C = |dr/ds|^2 = {C[worst]:.3g}); neighbouring nodes need a distance"
            )


def single_velocity(name: str, velocity: Field) -> ArrayLike:
    """The velocity of a body with a frame, which is no function.

    Raises:
        ModelError: a function.
    """
    if callable(velocity):
        raise ModelError(f"{name} is no string: velocity is that of its origin, three numbers")
    return np.asarray(velocity, dtype=np.float64)
