"""A string at rest between two points: Newton's method from the catenary that does not stretch.

The potential energy ``V(q) - q.F_b`` is lowered in every iteration; where the tangent is not positive
definite (slack parts) the stress term of pressed elements is left out of it.
"""

import numpy as np
from scipy import sparse
from scipy.optimize import brentq
from scipy.sparse.linalg import splu

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.mechanics.absolute import (
    elastic_force,
    elastic_tangent,
    gross_force,
    mass_matrix,
    strain_energy,
    strains,
)
from phlexible.bodies.string.mesh import StringMesh
from phlexible.errors import EquilibriumError

ITERATIONS = 300
GOAL, ACCEPTED = 1e-14, 1e-9
ROUND_OFF = 1e-12  # of energies
LEAST_CHORD = 1e-3  # horizontal part of the first guess, of the length


def hanging_nodes(body: AbsoluteBody, mesh: StringMesh, start: Array, end: Array, gravity: Array) -> Array:
    """Nodes in equilibrium, shape (N, 3) [m].

    Args:
        body: of the string in dimension 3.
        start, end: where the ends are held, shape (3,) [m].
        gravity: shape (3,) [m/s^2].

    Raises:
        EquilibriumError: the ends coincide, or none was found.
    """
    if np.linalg.norm(end - start) == 0 and not gravity.any():
        raise EquilibriumError("a string between coinciding points has no shape without gravity")
    q = _guess(mesh, start, end, gravity).ravel()
    load = np.outer(body.nodal_mass.sum(axis=1), gravity).ravel()
    free = slice(3, len(q) - 3)
    mass = mass_matrix(body)[free, free]

    def energy(x: Array) -> float:
        if any((strains(body, group, x) <= 0).any() for group in body.strains):
            return np.inf
        return strain_energy(body, x) - float(x @ load)

    level, shift = energy(q), 1e-3 * _stiffness_scale(body, mesh)
    best, best_error = q, np.inf
    for _ in range(ITERATIONS):
        force = (load - elastic_force(body, q))[free]
        scale = gross_force(body, q).max() + np.abs(load).max()
        error = float(np.abs(force).max(initial=0.0) / scale) if scale else 0.0
        if error < best_error:
            best, best_error = q, error
        elif best_error < ACCEPTED:
            break
        if error < GOAL:
            break
        tangent = elastic_tangent(body, q)[free, free]
        for _ in range(60):
            change = np.zeros_like(q)
            change[free] = splu(sparse.csc_matrix(tangent + shift * mass)).solve(force)
            lower = energy(q + change)
            falls = change[free] @ force > 0
            if falls and lower <= level + ROUND_OFF * abs(level):
                shift *= 0.1
                break
            shift = max(4 * shift, 1e-12 * _stiffness_scale(body, mesh))
        q, level = q + change, lower
    if not best_error <= ACCEPTED:
        raise EquilibriumError(
            f"no equilibrium of the string was found: forces miss by {best_error:.2g} of the largest one; "
            "take fewer elements, or let it fall with viscosity"
        )
    nodes = best.reshape(-1, 3)
    nodes[[0, -1]] = start, end
    return nodes


def _stiffness_scale(body: AbsoluteBody, mesh: StringMesh) -> float:
    """EA / (m l): stiffness of an element over the mass of the string [1/s^2]."""
    return body.strains[0].law.modulus / (body.mass * mesh.element_length)


def _guess(mesh: StringMesh, start: Array, end: Array, gravity: Array) -> Array:
    """The inextensible catenary, or the straight line where the string is too short for it."""
    part = mesh.nodes[:, None] / mesh.length
    line = start * (1 - part) + end * part
    chord, pull = end - start, float(np.linalg.norm(gravity))
    if pull == 0 or np.linalg.norm(chord) >= 0.999 * mesh.length:
        return np.asarray(line)
    up = -gravity / pull
    rise = float(chord @ up)
    level = chord - rise * up
    reach = float(np.linalg.norm(level))
    along = level / reach if reach > 0 else np.cross(up, _other_axis(up))
    width = max(reach, LEAST_CHORD * mesh.length)
    ratio = np.sqrt(mesh.length**2 - rise**2) / width  # sinh(x) / x with x = width / (2 a)
    x = brentq(lambda x: np.log(np.sinh(x) / x) - np.log(ratio), 1e-8, 700.0)
    a = width / (2 * x)
    low = width / 2 - a * np.arctanh(rise / mesh.length)
    # arc length from the lowest point
    s = mesh.nodes - a * np.sinh(low / a)
    horizontal = (a * np.arcsinh(s / a) + low) * (reach / width if reach > 0 else 1.0)
    height = np.hypot(a, s) - np.hypot(a, a * np.sinh(low / a))
    points = start + np.outer(horizontal, along) + np.outer(height, up)
    if reach == 0:
        points -= np.outer(horizontal[-1] * mesh.nodes / mesh.length, along)
    return np.asarray(points)


def _other_axis(direction: Array) -> Array:
    axis = np.eye(3)[int(np.abs(direction).argmin())]
    cross = np.cross(direction, axis)
    return np.asarray(np.cross(cross / np.linalg.norm(cross), direction))
