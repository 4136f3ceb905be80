"""Boundary and distributed ports of a floating body; (15), (30), (35), Remark 4 of Brugnoli et al. (2020)."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.rotations import cross_matrix
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.locations import Location
from phlexible.bodies.mechanics.floating import elastic_mass
from phlexible.port_hamiltonian.model import Port

DISTRIBUTED = "distributed force"


def body_ports(body: FloatingBody, locations: dict[str, Location]) -> tuple[Port, ...]:
    """Force and moment at each location, body axes, and the distributed force.

    ``<name> force`` [N]: the velocity of the material point. ``<name> moment`` [N m]: the angular
    velocity of the material around it. ``distributed force``: a force per mass [N/kg] in the span of
    uniform fields and of Phi; its outputs are the velocity field against the same functions, which
    ``output_coordinates`` turns into (uniform velocity, coordinates of Phi).
    """
    ports = []
    for name, location in locations.items():
        ports.append(Port(f"{name} force", "N", "m/s", body.dimension))
        if body.rotates and body.points.locate(location).rotations is not None:
            ports.append(Port(f"{name} moment", "N m", "rad/s", len(body.rotation_axes)))
    d, n = body.dimension, body.elastic_count
    s = body.first_moments[:d, 1:]
    mass = np.block([[body.mass * np.eye(d), s], [s.T, elastic_mass(body)]])
    return (*ports, Port(DISTRIBUTED, "N/kg", "kg m/s", d + n, mass))


def port_columns(body: FloatingBody, locations: dict[str, Location], eta: Array, convection: Array) -> Array:
    """Generalized forces on (v, w, v_f) of unit inputs, shape (6 + n, inputs).

    Args:
        eta: displacement, shape (n,); lever arms are x + u_f.
        convection: N of deta/dt = v_f + N w, shape (n, 3).
    """
    d, axes = body.dimension, list(body.rotation_axes)
    columns: list[Array] = []
    for location in locations.values():
        point = body.points.locate(location)
        arm = point.position + point.shapes @ eta
        shapes = point.shapes
        force = np.concatenate([np.eye(3), cross_matrix(arm) + (shapes @ convection).T, shapes.T])
        columns.append(force[:, :d])
        if body.rotates and point.rotations is not None:
            turns = point.rotations
            moment = np.concatenate([np.zeros((3, 3)), np.eye(3) + (turns @ convection).T, turns.T])
            columns.append(moment[:, axes])
    return np.hstack([*columns, _distributed_columns(body, eta, convection)])


def _distributed_columns(body: FloatingBody, eta: Array, convection: Array) -> Array:
    """B_d of (30) from S and W."""
    d, n = body.dimension, body.elastic_count
    xi = np.concatenate([[1.0], eta])
    s, w, mass = body.first_moments, body.second_moments, elastic_mass(body)
    gyro = np.array([(xi @ (w[a, b] - w[b, a]))[1:] for a, b in ((1, 2), (2, 0), (0, 1))]).reshape(3, n)
    uniform = np.concatenate([body.mass * np.eye(3), cross_matrix(s @ xi) + (s[:, 1:] @ convection).T, s[:, 1:].T])
    elastic = np.concatenate([s[:, 1:], gyro + (mass @ convection).T, mass])
    return np.hstack([uniform[:, :d], elastic])
