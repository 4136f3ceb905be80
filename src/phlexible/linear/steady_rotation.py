"""Linear models about a steady rotation: whether their coefficients stay constant as the bodies turn, and rotations
that models at rest leave out.
"""

from contextlib import suppress
from dataclasses import replace

import numpy as np
from scipy import linalg, sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.elimination import null_space
from phlexible.algebra.rotations import cross_matrix
from phlexible.algebra.sparse import SaddlePoint, lu_factors, natural_scale
from phlexible.errors import EquilibriumError, PhlexibleError
from phlexible.linear.equilibria import OperatingPoint
from phlexible.linear.mechanics import LinearMechanics, linear_mechanics
from phlexible.state.forces import applied_forces, gravity_and_load_forces
from phlexible.state.initial_velocity import with_rigid_velocity
from phlexible.state.layout import State
from phlexible.state.redundancy import independent_rows
from phlexible.state.small_motions import centring_matrix, world_matrix
from phlexible.state.system import System
from phlexible.state.vectors import split_rigid

ANGLE = 1.0  # [rad] of the fastest body; no fraction of a turn, after which a rotor may look as before
CONSTANT = 1e-5  # relative; laws of the user have derivatives by differences
STILL = 1e-9  # [rad/s], of round-off of functions of time
GOES_ON = 0.3  # relative gap of joints that a prescribed rotation opens within 1 rad, if it is no small vibration


def rotation_left_out(system: System, resting: State, mechanics: LinearMechanics) -> tuple[str, ...]:
    """Describe the rotation in the initial velocities of a system that a linear model at rest leaves out, as
    texts. The model is linearized about the state ``resting``; ``mechanics`` are its matrices.

    There is none where the model at rest makes it a vibration of less than 1 rad, as of a pendulum.

    Args:
        resting: state about which the model is linearized.
    """
    drift = system.rows.drift(system.at(resting))[0]
    nu = with_rigid_velocity(system, resting).velocity
    spins = np.linalg.norm(split_rigid(system.layout, nu[None])[1][0], axis=1)
    speed = float(spins.max(initial=0.0))
    if not speed > STILL:
        return ()
    v = lu_factors(world_matrix(system, resting) @ centring_matrix(system, resting)).solve(nu)
    if drift.any():
        later = (replace(resting, time=resting.time + share * ANGLE / speed) for share in (0.3, 0.6, 1.0))
        with suppress(PhlexibleError):  # functions that end before then
            gaps = [system.relative_gaps(system.rows.values(system.at(each))[0]).max() for each in later]
            if max(gaps) < GOES_ON:
                return ()
    elif v @ (mechanics.stiffness @ v) > speed**2 * (v @ (mechanics.mass @ v)):
        return ()
    turning = f"the initial rotation of {system.bodies[int(spins.argmax())].name} at {speed:.4g} rad/s"
    return (f'{turning}; where it is steady, at="steady_rotation" has its centrifugal and gyroscopic forces',)


def check_constant_coefficients(system: System, point: OperatingPoint, mechanics: LinearMechanics) -> None:
    """Check that the linear model of a system about a steady rotation has the same matrices in body axes
    after further rotation. ``point`` is the operating point, ``mechanics`` are the matrices there. Raise an
    ``EquilibriumError`` that names the bodies where they change otherwise.

    Parts that do not turn cause this where they are not isotropic or move with the rotor, and so do loads and
    gravity across the axis. Eigenvalues of the coefficients at one angle then mean nothing.

    Raises:
        EquilibriumError: names the bodies where the coefficients change most.
    """
    state = point.state
    spin = split_rigid(system.layout, state.velocity[None])[1][0]
    speed = float(np.linalg.norm(spin, axis=1).max(initial=0.0))
    if not speed:
        return
    after = _state_after(system, state, ANGLE / speed)
    pulls = _multipliers_after(system, point, after, mechanics.mass)
    other = linear_mechanics(system, replace(point, state=after, multipliers=pulls))[0]
    weight = natural_scale(mechanics.mass)
    free = null_space(mechanics.constraint_matrix, weight, allow_dependent=True)
    basis = sparse.csr_array(sparse.diags_array(1 / weight) @ free.basis)
    scaled = sparse.csr_array(basis @ sparse.diags_array(1 / np.sqrt((basis**2).sum(axis=0))))
    rows = sparse.csr_array(other.constraint_matrix @ sparse.diags_array(weight))
    rows = sparse.csr_array(sparse.diags_array(1 / np.sqrt((rows**2).sum(axis=1))) @ rows)
    motions = sparse.csr_array(sparse.diags_array(weight) @ scaled)  # of unit kinetic energy, nearly
    missed = abs(rows @ scaled)
    if missed.nnz and float(missed.max()) > CONSTANT:
        row = rows[[int(missed.max(axis=1).toarray().argmax())]]
        _refuse(system, row.indices[np.abs(row.data) > CONSTANT])
    for creep, again in zip(mechanics.inner, other.inner, strict=True):
        turned = abs(creep.rows - again.rows)
        if float(turned.max()) > CONSTANT * float(abs(creep.rows).max()):
            _refuse(system, np.array([turned.max(axis=0).toarray().argmax()]))
    # Laws that creep count by their springs, which are all that moves at once.
    stiff, later = (sum((law.fast_stiffness for law in each.inner), each.stiffness) for each in (mechanics, other))
    sizes = (abs(motions).T @ (abs(stiff) + abs(later)) @ abs(motions)).diagonal() + speed**2
    pairs = [(stiff, later, 1.0), (mechanics.circulatory, other.circulatory, 1.0)]
    pairs += [(mechanics.damping, other.damping, speed), (mechanics.velocity, other.velocity, speed)]
    for before, now, rate in pairs:
        change = sparse.coo_array(motions.T @ (now - before) @ motions)
        share = rate * np.abs(change.data) / np.sqrt(sizes[change.row] * sizes[change.col])
        if share.max(initial=0.0) > CONSTANT:
            worst = int(share.argmax())
            _refuse(system, free.free[[change.row[worst], change.col[worst]]])


def _state_after(system: System, state: State, time: float) -> State:
    """Return the state of a system after a time [s] in which every floating body moved on with constant velocities
    in its own axes: a screw motion."""
    layout, d = system.layout, system.dimension
    linear, spin = split_rigid(layout, state.velocity[None])
    position, rotation, velocity = state.position.copy(), state.rotation.copy(), state.velocity.copy()
    for index in range(layout.frames):
        own = state.rotation[index]
        twist = np.zeros((4, 4))
        twist[:3, :3], twist[:3, 3] = cross_matrix(spin[0, index]), own.T @ linear[0, index]
        moved = linalg.expm(time * twist)
        position[index] += own @ moved[:3, 3]
        rotation[index] = own @ moved[:3, :3]
        velocity[layout.linear[index]] = (rotation[index] @ twist[:3, 3])[:d]
    return replace(
        state, time=state.time + time, position=position, rotation=rotation, velocity=velocity, theta=None
    )


def _multipliers_after(system: System, point: OperatingPoint, after: State, mass: sparse.csr_array) -> Array:
    """Return the joint multipliers, shape (rows,), in the rotated state ``after`` with which the forces on
    the bodies balance as at the operating point. ``mass`` is the mass matrix of the system. Forces are
    compared in body axes; an ``EquilibriumError`` is raised if no multipliers do this.

    Raises:
        EquilibriumError: no multipliers give these forces.
    """

    def forces(state: State) -> tuple[sparse.csr_array, Array]:
        """Return the matrix from small motions in body axes to velocities in world axes, and the applied
        forces in body axes, in a state. Loads are those at the time of the operating point."""
        motion = sparse.csr_array(world_matrix(system, state) @ centring_matrix(system, state))
        at, loaded = system.at(state), system.at(replace(state, time=point.state.time))
        loads = gravity_and_load_forces(system, loaded) - gravity_and_load_forces(system, at)
        return motion, motion.T @ (applied_forces(system, state, at) + loads)

    (motion, before), (turned, now) = forces(point.state), forces(after)
    pulled = motion.T @ (system.rows.matrix(system.at(point.state)).T @ point.multipliers)
    kept = independent_rows(system, after)
    rows = sparse.csr_array(system.rows.matrix(system.at(after))[kept] @ turned)
    acceleration, pulls = SaddlePoint(mass, rows, scale=natural_scale(mass)).solve(pulled + before - now)
    weight = natural_scale(mass)
    left, sizes = weight * (mass @ acceleration), weight * (abs(pulled) + abs(before) + abs(now))
    if np.linalg.norm(left) > CONSTANT * np.linalg.norm(sizes):
        _refuse(system, np.array([np.abs(left).argmax()]))
    multipliers = np.zeros(int(system.layout.multiplier[-1]))
    multipliers[kept] = pulls
    return multipliers


def _refuse(system: System, coordinates: IntArray) -> None:
    owners = np.searchsorted(system.layout.velocity, coordinates, side="right") - 1
    names = " and ".join(dict.fromkeys(system.bodies[index].name for index in owners))
    raise EquilibriumError(
        f"the coefficients of the linear model change as the bodies turn, at {names}: what does not turn must be"
        " without mass and alike in all directions across the axis (isotropic springs, joints to the ground), and"
        " gravity and loads must act along the axis or turn with the body; simulate() has no such limits"
    )
