"""What a model is linearized about: the given pose, a static equilibrium, a steady rotation."""

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import EquilibriumError, ModelError
from phlexible.initial.closure import check_closure, largest_length, undeformed
from phlexible.initial.initial_velocity import with_initial_velocity
from phlexible.initial.quasi_static import quasi_static_motion
from phlexible.linear_analysis.static_equilibrium import static_equilibrium
from phlexible.mechanism.mechanism import Mechanism
from phlexible.rank.redundancy_check import check_redundancy
from phlexible.system.constraints import mechanism_layout
from phlexible.system.state import Layout, State

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


def operating_point(
    mechanism: Mechanism, layout: Layout, kind: OperatingKind, state: State | None
) -> OperatingPoint:
    """The point, with closed joints; from ``state`` where one is given, else from the initial pose.

    Raises:
        JointGapError, RedundancyError: joints that are open, or constrain the same motion twice.
        EquilibriumError: no static equilibrium was found, or a motion that is no steady rotation.
    """
    pose = undeformed(mechanism, layout) if state is None else state
    if pose.velocity.shape != (layout.velocity[-1],) or pose.elastic.shape != (layout.elastic[-1],):
        raise ModelError("state must belong to the model: its numbers of velocities or coordinates differ")
    check_closure(mechanism, layout, pose)
    if kind is OperatingKind.STEADY_ROTATION:
        return _steady_rotation(mechanism, layout, pose if state is not None else None)
    resting = replace(pose, velocity=np.zeros_like(pose.velocity))
    check_redundancy(mechanism, resting)
    if kind is OperatingKind.STATIC:
        found, multipliers = static_equilibrium(mechanism, layout, resting)
        return OperatingPoint(kind, found, multipliers)
    return OperatingPoint(kind, resting, np.zeros(int(layout.multiplier[-1])))


def _steady_rotation(mechanism: Mechanism, layout: Layout, pose: State | None) -> OperatingPoint:
    start = undeformed(mechanism, layout) if pose is None else pose
    moving = with_initial_velocity(mechanism, layout, start)
    motion = quasi_static_motion(mechanism, layout, moving)
    speed = np.abs(motion.state.velocity).max(initial=0.0)
    change = np.abs(motion.acceleration).max(initial=0.0)
    length = largest_length(mechanism)
    if change > STEADY * max(speed, speed / length) * max(speed, speed / length, speed * length):
        raise EquilibriumError(
            "the initial motion is no steady rotation: rigid velocities would change at "
            f"{change:.3g} m/s2 or rad/s2; give velocities of one rotation that joints and loads keep up"
        )
    return OperatingPoint(OperatingKind.STEADY_ROTATION, motion.state, motion.multipliers)


def layout_and_point(
    mechanism: Mechanism, kind: OperatingKind, state: State | None
) -> tuple[Layout, OperatingPoint]:
    """The layout of a mechanism and its operating point."""
    if not mechanism.bodies:
        raise ModelError("the model has no bodies; add one with model.add(...)")
    layout = mechanism_layout(mechanism)
    return layout, operating_point(mechanism, layout, kind, state)
