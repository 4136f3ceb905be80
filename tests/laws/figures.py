"""How far a motion misses the laws: dimensionless figures, each zero up to round-off."""

from typing import Any

import numpy as np
import skfem

import phlexible as ph
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.beam.mesh import moments_at
from phlexible.bodies.mechanics.floating import mass_matrix, split_velocity, velocity_components
from phlexible.bodies.rod import RodNode
from phlexible.state.layout import State
from phlexible.state.system import System

Array = np.ndarray


def energy_scale(motion: ph.Motion) -> float:
    """max(T + |V| + |U|) + sum |work| [J]."""
    energy = motion.energy
    stored = energy.kinetic + np.abs(energy.strain) + np.abs(energy.gravity) + np.abs(energy.spring)
    return float(stored.max() + sum(np.abs(work[-1]) for work in energy.work.values()))


def energy_error(motion: ph.Motion) -> float:
    """Largest error of the balance, relative to the energies and works in it."""
    return float(np.abs(motion.energy.balance_error).max() / energy_scale(motion))


def momenta(system: System, state: State) -> tuple[Array, Array]:
    """Of each body: linear momentum and angular momentum about the origin, shape (bodies, 3) each.

    Of bodies with a frame from M(eta) nu of the reference point in body axes, as in the papers, and so
    independently of ``motion.momentum`` and of what the step knows.
    """
    parts = []
    for index, placed in enumerate(system.bodies):
        data, eta, nu = placed.data, system.elastic(state, index), state.velocity[system.layout.span(index)]
        if isinstance(data, AbsoluteBody):
            parts.append(nodal_momenta(data, eta, nu))
            continue
        V, w, rate = split_velocity(data, nu)
        turn, moments = state.rotation[index], data.first_moments / data.mass
        centre = moments @ [1.0, *eta]
        v = turn.T @ V - np.cross(w, centre) - moments[:, 1:] @ rate
        kept, full = velocity_components(data), np.concatenate([v, w, rate])
        full[kept] = mass_matrix(data, eta) @ full[kept]
        p, place = turn @ full[:3], state.position[index] - turn @ centre
        parts.append((p, np.cross(place, p) + turn @ full[3:6]))
    linear, angular = zip(*parts, strict=True)
    return np.array(linear), np.array(angular)


def nodal_momenta(data: AbsoluteBody, positions: Array, velocities: Array) -> tuple[Array, Array]:
    """sum_ij m_ij v_j over places i, and sum_ij q_i x m_ij v_j over all nodes of a string."""
    d, mass = data.dimension, data.nodal_mass.toarray()
    q, v = (np.pad(x.reshape(-1, d), ((0, 0), (0, 3 - d))) for x in (positions, velocities))
    spins = np.cross(q[:, None], v[None])
    moves = np.ones(len(mass)) if data.moves is None else data.moves  # not directors
    return moves @ mass @ v, np.einsum("ij,ijk->k", mass, spins)


def center_of_mass_path(motion: ph.Motion) -> Array:
    """sum m x / sum m of all bodies at all instants from the positions of their material points, shape (times, 3).

    Beams by four Gauss points an element, as their mass is integrated; strings by their nodes.
    """
    total, mass = np.zeros((len(motion.time), 3)), 0.0
    for placed in motion.mechanism.bodies:
        for port, share in material_points(placed):
            total += share * motion.position(port)
            mass += share
    return total / mass


def material_points(placed: Any) -> list[tuple[Any, float]]:
    """Points and masses with the mass and the centre of mass of the body in every shape that it takes."""
    body = placed.body
    match body:
        case ph.Beam(length=length, elements=elements):
            points, weights = np.polynomial.legendre.leggauss(4)
            size = length / elements
            places = (size * (np.arange(elements)[:, None] + (points + 1) / 2)).ravel()
            shares = size / 2 * np.tile(weights, elements)[:, None]
            moments = shares * moments_at(body.section, body.material, places)[:, 0]
            plane = (1, 1, placed.data.dimension == 3)
            shares = [((x, *each[1:] / each[0]), each[0]) for x, each in zip(places, moments, strict=True)]
            shares += [((each.x, *each.offset), each.mass) for each in body.masses]
            return [(placed.point(np.array(place) * plane), float(mass)) for place, mass in shares]
        case ph.String():
            shares = np.asarray(placed.data.nodal_mass.sum(axis=1)).ravel()
            return [(placed.at(float(s)), float(m)) for s, m in zip(body.mesh.nodes, shares, strict=True)]
        case ph.SoftBody(mesh=mesh):
            shares = np.asarray(placed.data.nodal_mass.sum(axis=1)).ravel()
            return [(placed.node(int(n)), float(m)) for n, m in zip(mesh.nodes, shares, strict=True)]
        case ph.Shell(mesh=mesh):
            shares, places = placed.data.translational_mass, np.flatnonzero(mesh.moves)
            return [(placed.node(int(mesh.nodes[k])), float(shares[k])) for k in places]
        case ph.RigidBody():
            return [(placed.point(body.center), body.mass)]
        case RodNode():
            return [(placed.point(placed.data.first_moments[:, 0] / placed.data.mass), placed.data.mass)]
        case ph.Plate():  # two sheets of half the mass
            up = np.array([0, 0, body.points.thickness / np.sqrt(12)])
            places, shares = _cell_masses(body)
            both = zip(np.vstack([places + up, places - up]), np.tile(shares / 2, 2), strict=True)
            return [(placed.point(place), float(share)) for place, share in both]
        case ph.FlexibleBody():
            places, shares = _cell_masses(body)
            return [(placed.point(place), share) for place, share in zip(places, shares, strict=True)]
        case _:
            return [(placed.origin, body.mass)]


def _cell_masses(body: ph.FlexibleBody) -> tuple[Array, Array]:
    """Quadrature points of the mesh, shape (k, 3), and their masses."""
    mesh = body.points.mesh
    basis = skfem.CellBasis(mesh.mesh, mesh.element, intorder=3)
    places = np.zeros((3, basis.dx.size))
    places[: mesh.dimension] = np.asarray(basis.global_coordinates()).reshape(mesh.dimension, -1)
    return places.T, basis.dx.ravel() / basis.dx.sum() * body.mass


def carrier_masses(system: System) -> Array:
    """Of the bodies with a frame and of the nodes, shape (carriers,) [kg]."""
    return np.concatenate([[d.mass for d in system.frames], *(d.translational_mass for d in system.nodal)])


def momentum_errors(motion: ph.Motion, count: int = 11, creep: float = 0.0) -> tuple[float, float]:
    """Drift of the linear and of the angular momentum, relative to the sum of those of the bodies.

    The weight's share is taken out: m g t, and the integral of its moment is left to the caller. What moves slower
    than ``creep`` [m/s] rests.
    """
    instants = np.unique(np.linspace(0, len(motion.time) - 1, count).astype(int))
    parts = [momenta(motion.run.system, motion.recording.state(k)) for k in instants]
    mass = sum(placed.data.mass for placed in motion.mechanism.bodies)
    weight = mass * motion.time[instants, None] * motion.mechanism.gravity
    errors = []
    for kind in (0, 1):
        each = np.array([part[kind] for part in parts])
        scale = np.linalg.norm(each, axis=2).sum(axis=1).max() + mass * creep * motion.run.system.reach**kind
        total = each.sum(axis=1) - (weight if kind == 0 else 0)
        errors.append(float(np.abs(total - total[0]).max() / scale))
    return errors[0], errors[1]


def joint_gaps(motion: ph.Motion, count: int = 11) -> tuple[float, float]:
    """Largest gap of points over the largest body, or the reach of points, and of cosines of held directions."""
    system = motion.run.system
    instants = np.unique(np.linspace(0, len(motion.time) - 1, count).astype(int))
    largest = np.abs(motion.run.gaps()[instants]).max(axis=0)
    angles = np.array([owner.row.is_angle for owner in system.owners], dtype=bool)
    size = max(placed.data.size for placed in motion.mechanism.bodies) or system.reach
    return float(largest[~angles].max(initial=0) / size), float(largest[angles].max(initial=0))


def orthogonality_error(motion: ph.Motion) -> float:
    """Largest entry of R^T R - I."""
    rotation = motion.recording.rotation
    return float(np.abs(np.swapaxes(rotation, -1, -2) @ rotation - np.eye(3)).max(initial=0.0))


def greatest_turn(motion: ph.Motion) -> float:
    """Largest rotation of a body frame in one step, from its velocities [rad]."""
    system, largest = motion.run.system, 0.0
    for index, data in enumerate(system.frames):
        own = motion.recording.velocity[:, system.layout.span(index)]
        spins = own[:, data.dimension : data.rigid_count]
        turns = np.linalg.norm(spins[1:], axis=1) * np.diff(motion.time)
        largest = max(largest, float(turns.max(initial=0)))
    return largest
