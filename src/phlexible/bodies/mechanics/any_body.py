"""Mass, elastic force and tangent of any body, with a frame or in absolute coordinates."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.sparse import Matrix, sparse_diagonal
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.body import BodyData
from phlexible.bodies.mechanics import absolute, floating


def mass_matrix(body: BodyData, eta: Array) -> Matrix:
    """Return the mass matrix of any body at its elastic coordinates eta, shape (velocity_count, velocity_count);
    sparse for strings, soft and long bodies."""
    return absolute.mass_matrix(body) if isinstance(body, AbsoluteBody) else floating.mass_matrix(body, eta)


def elastic_force(body: BodyData, eta: Array) -> Array:
    """Return the elastic force of any body at its elastic coordinates eta: the gradient dV/deta of its strain
    energy V, shape (elastic_count,)."""
    if isinstance(body, AbsoluteBody):
        return absolute.elastic_force(body, eta)
    return floating.elastic_force(body, eta)


def viscous_force(body: BodyData, eta: Array, rates: Array) -> Array:
    """Return the viscous force C(eta) deta/dt of any body for its elastic coordinates eta and their
    ``rates``; shape (elastic_count,). The force on the body is minus this."""
    if isinstance(body, AbsoluteBody):
        return np.asarray(absolute.viscous_matrix(body, eta) @ rates)
    return floating.viscous_matrix(body, eta) @ rates


def gross_force(body: BodyData, eta: Array) -> Array:
    """Return a measure of the size of the terms in a body's elastic force, shape (elastic_count,), by which
    its round-off is judged: sums of absolute values. eta are the elastic coordinates."""
    if isinstance(body, AbsoluteBody):
        return absolute.elastic_force(body, eta, np.abs)
    return np.abs(floating.elastic_force(body, eta))


def stiffness_matrix(body: BodyData, eta: Array) -> Matrix:
    """Return the tangent stiffness d2V/deta2 of any body at elastic coordinates eta, with zero rows and columns for
    its rigid motion, shape (velocity_count, velocity_count).

    It is sparse in absolute coordinates and of long bodies. Floating bodies that are vectorized (``is_vectorized``)
    also take eta (..., n).
    """
    if isinstance(body, AbsoluteBody):
        return absolute.elastic_tangent(body, eta)
    tangent = floating.elastic_tangent(body, eta)
    if not isinstance(tangent, np.ndarray):
        return sparse_diagonal([np.zeros((body.rigid_count,) * 2), tangent])
    block = np.zeros((*eta.shape[:-1], *[body.velocity_count] * 2))
    block[..., body.rigid_count :, body.rigid_count :] = tangent
    return block
