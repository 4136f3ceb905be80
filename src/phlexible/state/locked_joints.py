"""Detection of joints that other joints lock unintentionally, mostly hinges that are not in line."""

from collections.abc import Iterable

import numpy as np
from scipy import linalg

from phlexible.algebra.arrays import Array
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.functions import Coordinate
from phlexible.description.joints.joint import Joint
from phlexible.display import shortened
from phlexible.state.forces import coordinate_row
from phlexible.state.instants import Instants, PrescribedFunctions
from phlexible.state.layout import State
from phlexible.state.system import System

MOST_VELOCITIES = 300  # more are not looked at
RANK = 1e-9  # singular values below it, of rows of length 1: as where redundancy is decided
STAYS = 1e-7  # of a rate or an acceleration that motions of the same energy may have: round-off is some 1e-12
MOTIONS = 3  # that are drawn; at a dead centre a coordinate has no rate, and accelerates in each of them
MOST_NAMED = 4


def locked_joint_text(joints: list[Joint]) -> str:
    """Return a warning text that names joints whose axes cannot move because other joints lock them, and says what
    to change in the model."""
    names = shortened([str(joint) for joint in joints], MOST_NAMED)
    axes = "the axis" if len(joints) == 1 else "the axes"
    return (
        f"{axes} of {names} cannot move, the other joints hold what is free there: put hinges of one body on one"
        " line, or leave out what holds it twice (Fixed says the same where nothing is to move)"
    )


def locked_joints(system: System, state: State, at: Instants, constraints: Iterable[int]) -> list[Joint]:
    """Return those joints, among the constraints with the indices ``constraints``, that are unintentionally
    locked: other constraints of the system in a state do not let any of their coordinates (angles, lengths)
    move. The list is empty for large models and models with moving ground frames. ``at`` is the state as an
    instant.

    Drives, and what events hold or release, hold on purpose and do not count; elastic bodies yield. Joints at dead
    centres move: they have no rate there but accelerations. None are found beside frames that move, which may
    hold everything, and in large models.

    Args:
        system: system that has only the constraints that hold.
        state: a pose at which joints close.
        at: the state as an instant.
        constraints: indices of constraints that hold a motion twice.
    """
    size = int(system.layout.velocity[-1])
    driven = {id(drive.joint) for drive in system.mechanism.drives}
    asked = [system.constraints[number] for number in constraints]
    joints = [
        each for each in asked if isinstance(each, Joint) and id(each) not in driven and each.coordinate_names
    ]
    if system.moving_frames or size > MOST_VELOCITIES or not joints:
        return []
    pairs = zip(system.owners, system.row_switches, strict=True)
    holds = [switch < 0 and not isinstance(owner.joint, Drive) for owner, switch in pairs]
    rows = system.with_rows(np.array(holds)).system.rows
    at = at.with_prescribed(PrescribedFunctions((), (), at.time))
    factor = np.linalg.cholesky(_dense(system.small_mass(state, at)))
    weighted = linalg.solve_triangular(factor, _dense(rows.small_matrix(at)).T, lower=True)
    lengths = np.linalg.norm(weighted, axis=0)
    lengths[lengths == 0] = 1.0
    left, sizes, right = linalg.svd(weighted / lengths)
    rank = int((sizes > RANK * sizes[0]).sum()) if len(sizes) else 0
    held, free = left[:, :rank], left[:, rank:]
    motions = free @ np.random.default_rng(0).standard_normal((free.shape[1], MOTIONS))
    velocities = linalg.solve_triangular(factor.T, motions).T
    curves = [rows.accelerations(at.moving(velocity[None]))[0] for velocity in velocities]

    def is_locked(coordinate: Coordinate) -> bool:
        row = linalg.solve_triangular(factor, coordinate_row(system, at, coordinate)[0], lower=True)
        part = held.T @ row
        if np.linalg.norm(row - held @ part) > STAYS * np.linalg.norm(row):
            return False
        weights = (right[:rank].T @ (part / sizes[:rank])) / lengths
        for velocity, motion, curve in zip(velocities, motions.T, curves, strict=True):
            own = _acceleration(system, at.moving(velocity[None]), coordinate)
            parts = np.abs(weights) @ np.abs(curve) + abs(own)
            usual = np.linalg.norm(row) * np.linalg.norm(motion) * _rate(system, velocity)
            if abs(own - weights @ curve) > STAYS * (parts + usual):
                return False
        return True

    return [joint for joint in joints if all(map(is_locked, joint.coordinates(system.dimension)))]


def _dense(matrix: object) -> Array:
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())  # type: ignore[attr-defined]


def _acceleration(system: System, at: Instants, coordinate: Coordinate) -> float:
    """Return the second time derivative of a joint ``coordinate`` of a system at one instant if the
    velocities of all bodies were constant: in rad/s^2 or m/s^2."""
    return float(system.coordinate_rows([coordinate]).accelerations(at)[0, 0])


def _rate(system: System, velocity: Array) -> float:
    """Return a characteristic rate of a system with a ``velocity`` (velocities,) [1/s]: the larger of its
    largest angular velocity component and its largest translational component over the body length. Elastic
    rates do not count."""
    spins, linear = velocity[system.layout.spin[2]], velocity[system.layout.linear]
    return max(float(np.abs(spins).max(initial=0.0)), float(np.abs(linear).max(initial=0.0)) / system.body_length)
