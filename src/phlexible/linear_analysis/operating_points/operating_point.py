"""What a model is linearized about: the given pose, a static equilibrium, a steady rotation."""

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import EquilibriumError, ModelError
from phlexible.initial.closure import check_closure, undeformed
from phlexible.initial.initial_velocity import with_initial_velocity
from phlexible.initial.quasi_static import QuasiStaticMotion, quasi_static_motion
from phlexible.interactions.resisting.contacts import Contacts
from phlexible.linear_analysis.operating_points.static_equilibrium import static_equilibrium
from phlexible.rank.redundancy_check import check_redundancy
from phlexible.system.layout import State
from phlexible.system.system import System, need_bodies
from phlexible.system.vectors import split_rigid

STEADY = 1e-6


class OperatingKind(StrEnum):
    """GIVEN: the initial pose or a state, at rest; gravity and loads, which nothing balances there, are left
    out. STATIC: the equilibrium that gravity, loads and joints have near it. STEADY_ROTATION: the rigid
    rotation of the initial velocities, with the deformation that it keeps up.
    """

    GIVEN = "given"
    STATIC = "static"
    STEADY_ROTATION = "steady_rotation"


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """A state and the joint forces in it.

    Attributes:
        kind: what balances what.
        state: with deta/dt = 0 and constant nu.
        multipliers: shape (rows,); zero for ``GIVEN``.
    """

    kind: OperatingKind
    state: State
    multipliers: Array


def operating_point(system: System, kind: OperatingKind, state: State | None) -> OperatingPoint:
    """The point, with closed joints; from ``state`` where one is given, else from the initial pose.

    Raises:
        ModelError: no bodies, or a state of another model.
        JointGapError, RedundancyError: joints that are open, or constrain the same motion twice.
        EquilibriumError: no static equilibrium was found, or a motion that is no steady rotation.
    """
    need_bodies(system)
    if not isinstance(state, State | None):
        raise ModelError(f"state must be a state of the model such as motion.recording.state(-1), got {state!r}")
    pose = undeformed(system) if state is None else state
    layout = system.layout
    if pose.velocity.shape != (layout.velocity[-1],) or pose.eta.shape != (layout.eta[-1],):
        raise ModelError("state must belong to the model: its numbers of velocities or coordinates differ")
    check_closure(system, pose)
    if kind is OperatingKind.STEADY_ROTATION:
        return _steady_rotation(system, pose)
    resting = replace(pose, velocity=np.zeros_like(pose.velocity))
    check_redundancy(system, resting)
    if kind is OperatingKind.STATIC:
        for element in system.mechanism.elements:
            if isinstance(element, Contacts):
                raise ModelError(
                    f"equilibria do not see the pairs of {element}; write a Contact for each that touches"
                )
        found, multipliers = static_equilibrium(system, resting)
        return OperatingPoint(kind, found, multipliers)
    return OperatingPoint(kind, resting, np.zeros(int(layout.multiplier[-1])))


def _steady_rotation(system: System, pose: State) -> OperatingPoint:
    motion = quasi_static_motion(system, with_initial_velocity(system, pose))
    speed = np.abs(motion.state.velocity).max(initial=0.0)
    change, length = _change_in_body_axes(system, motion), system.largest_length
    if change > STEADY * max(speed, speed / length) * max(speed, speed / length, speed * length):
        raise EquilibriumError(
            "the initial motion is no steady rotation: rigid velocities would change at "
            f"{change:.3g} m/s2 or rad/s2; give velocities of one rotation that joints and loads keep up"
        )
    return OperatingPoint(OperatingKind.STEADY_ROTATION, motion.state, motion.multipliers)


def _change_in_body_axes(system: System, motion: QuasiStaticMotion) -> float:
    """Largest rate of V, w and deta/dt as seen in the turning body."""
    layout, change = system.layout, motion.acceleration.copy()
    linear, spin = split_rigid(layout, motion.state.velocity[None])
    for index in range(layout.frames):
        turning = np.cross(motion.state.rotation[index] @ spin[0, index], linear[0, index])
        change[layout.linear[index]] -= turning[: system.dimension]
    return float(np.abs(change).max(initial=0.0))
