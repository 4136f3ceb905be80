"""How far a motion misses the laws: dimensionless figures, each zero up to round-off."""

import numpy as np
from phlexible.system.constraints import constraint_values, mechanism_layout, row_owners
from phlexible.system.kinematics import kept_columns
from phlexible.system.state import State

import phlexible as ph
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.mechanics.floating import mass_matrix
from phlexible.initial.closure import is_angle

Array = np.ndarray


def energy_scale(motion: ph.Motion) -> float:
    """max(T + |V| + |U|) + sum |work| [J]."""
    energy = motion.energy
    stored = energy.kinetic + np.abs(energy.strain) + np.abs(energy.gravity) + np.abs(energy.spring)
    return float(stored.max() + sum(np.abs(work[-1]) for work in energy.work.values()))


def energy_error(motion: ph.Motion) -> float:
    """Largest error of the balance, relative to the energies and works in it."""
    return float(np.abs(motion.energy.balance_error).max() / energy_scale(motion))


def states(motion: ph.Motion, instants: Array) -> list[State]:
    """Some recorded states."""
    rec = motion.recording
    return [State(rec.time[k], rec.position[k], rec.rotation[k], rec.elastic[k], rec.velocity[k]) for k in instants]


def momenta(motion: ph.Motion, state: State) -> tuple[Array, Array]:
    """Of each body: linear momentum and angular momentum about the origin, shape (bodies, 3) each.

    Computed from M(eta) nu, independently of ``motion.momentum``.
    """
    layout = mechanism_layout(motion.mechanism)
    linear, angular = [], []
    for index, placed in enumerate(motion.mechanism.bodies):
        eta = state.elastic[layout.elastic[index] : layout.elastic[index + 1]]
        nu = state.velocity[layout.velocity[index] : layout.velocity[index + 1]]
        if placed.nodes is not None:
            p, spin = nodal_momenta(placed.data, eta, nu)
            linear.append(p)
            angular.append(spin)
            continue
        full = np.zeros(6 + len(eta))
        full[kept_columns(placed.data)] = mass_matrix(placed.data, eta) @ nu
        p = state.rotation[index] @ full[:3]
        linear.append(p)
        angular.append(np.cross(state.position[index], p) + state.rotation[index] @ full[3:6])
    return np.array(linear), np.array(angular)


def nodal_momenta(data: AbsoluteBody, positions: Array, velocities: Array) -> tuple[Array, Array]:
    """sum_ij m_ij v_j and sum_ij q_i x m_ij v_j of a string."""
    d, mass = data.dimension, data.nodal_mass.toarray()
    q, v = (np.pad(x.reshape(-1, d), ((0, 0), (0, 3 - d))) for x in (positions, velocities))
    spins = np.cross(q[:, None], v[None])
    return mass.sum(axis=0) @ v, np.einsum("ij,ijk->k", mass, spins)


def momentum_errors(motion: ph.Motion, count: int = 11) -> tuple[float, float]:
    """Drift of the linear and of the angular momentum, relative to the sum of those of the bodies.

    The weight's share is taken out: m g t, and the integral of its moment is left to the caller.
    """
    instants = np.unique(np.linspace(0, len(motion.time) - 1, count).astype(int))
    parts = [momenta(motion, state) for state in states(motion, instants)]
    mass = sum(placed.data.mass for placed in motion.mechanism.bodies)
    weight = mass * motion.time[instants, None] * motion.mechanism.gravity
    errors = []
    for kind in (0, 1):
        each = np.array([part[kind] for part in parts])
        scale = np.linalg.norm(each, axis=2).sum(axis=1).max()
        total = each.sum(axis=1) - (weight if kind == 0 else 0)
        errors.append(float(np.abs(total - total[0]).max() / scale))
    return errors[0], errors[1]


def joint_gaps(motion: ph.Motion, count: int = 11) -> tuple[float, float]:
    """Largest gap of points over the largest body, and largest cosine of directions that are held."""
    owners = row_owners(motion.mechanism)
    if not owners:
        return 0.0, 0.0
    layout = mechanism_layout(motion.mechanism)
    instants = np.unique(np.linspace(0, len(motion.time) - 1, count).astype(int))
    values = np.array([constraint_values(motion.mechanism, layout, state) for state in states(motion, instants)])
    largest = np.abs(values).max(axis=0)
    angles = np.array([is_angle(owner) for owner in owners])
    size = max(placed.data.size for placed in motion.mechanism.bodies)
    return float(largest[~angles].max(initial=0) / size), float(largest[angles].max(initial=0))


def orthogonality_error(motion: ph.Motion) -> float:
    """Largest entry of R^T R - I."""
    rotation = motion.recording.rotation
    return float(np.abs(np.swapaxes(rotation, -1, -2) @ rotation - np.eye(3)).max())


def deflection(motion: ph.Motion) -> float:
    """Largest elastic displacement of an end of a beam, relative to its length."""
    largest = 0.0
    for placed in motion.mechanism.bodies:
        if isinstance(placed.body, ph.Beam):
            for port in (placed.start, placed.at(placed.body.length / 2), placed.end):
                moved = np.linalg.norm(motion.displacement(port), axis=1).max()
                largest = max(largest, float(moved) / placed.body.length)
    return largest


def greatest_turn(motion: ph.Motion) -> float:
    """Largest rotation of a body frame in one step, from its velocities [rad]."""
    layout, largest = mechanism_layout(motion.mechanism), 0.0
    for index, placed in enumerate(motion.mechanism.bodies):
        begin = layout.velocity[index]
        spins = motion.recording.velocity[:, begin + placed.data.dimension : begin + placed.data.rigid_count]
        turns = np.linalg.norm(spins[1:], axis=1) * np.diff(motion.time)
        largest = max(largest, float(turns.max(initial=0)))
    return largest
