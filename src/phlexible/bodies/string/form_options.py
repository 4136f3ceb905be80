"""The one place that makes the port-Hamiltonian form of a string."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.options import option
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.forms.string import Boundary, StringForm
from phlexible.bodies.initial_nodes import Field, initial_nodes
from phlexible.bodies.string.mesh import StringMesh
from phlexible.errors import ParameterError


def string_form(
    body: AbsoluteBody,
    mesh: StringMesh,
    gravity: Array,
    shape: Field | None,
    velocity: Field | None,
    boundaries: tuple[str, str],
) -> StringForm:
    """The form of a discretized string in dimension 1, 2 or 3.

    Args:
        gravity: shape (3,) [m/s^2].
        shape, velocity: at t = 0; None: straight along x, at rest.
        boundaries: at the start and at the end.

    Raises:
        ParameterError: no such dimension or boundary, or numbers out of the line or plane.
    """
    d = body.dimension
    speed = np.zeros(3) if velocity is None else velocity
    curve = initial_nodes(mesh.nodes, min(max(d, 2), 3), shape, speed, np.zeros(3), np.eye(3))
    assert curve.velocities is not None, "a speed was given"
    for name, values in (("gravity", gravity), ("shape", curve.positions), ("velocity", curve.velocities)):
        if values[..., d:].any():
            allowed = {1: "along x", 2: "in the xy plane"}[d]
            raise ParameterError(f"{name} must be {allowed} in dimension {d}")
    kinds = (option("start", boundaries[0], Boundary), option("end", boundaries[1], Boundary))
    return StringForm(body, gravity[:d], kinds, curve.positions[:, :d], curve.velocities[:, :d])
