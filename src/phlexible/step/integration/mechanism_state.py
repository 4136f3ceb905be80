"""State of a mechanism in the tables of its steps, and the impulses, events and accelerations that follow from it.

Equations are those of docs/theory.md, 4.
"""

from dataclasses import replace
from functools import partial
from math import nan

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.description.joints.joint import Joint
from phlexible.description.mechanism.events import check_not_released, check_position_unused
from phlexible.state.instants import Instants, PrescribedFunctions
from phlexible.state.layout import State, same_pose
from phlexible.state.recorded_run import LateReactions
from phlexible.state.redundancy import independent_rows
from phlexible.state.system import Phase
from phlexible.step.assembly.assembly import Assembly, constraint_columns, work_sources
from phlexible.step.integration.reactions import check_velocities, projection, reactions
from phlexible.step.integration.stored_rows import branches_of, set_branches
from phlexible.step.programs import joint_velocities, pair_forces
from phlexible.step.tables.requests import RELAXATION

NOTHING_MOVES = np.zeros((2, 0))

LITTLE = 1e-8
"""Distance, relative to the reach, that bodies move in the step by which contact forces at an instant are found."""

SECOND_DIFFERENCES = 2
"""Number of equal steps in a row from which on second differences of velocities are known."""


class MechanismState:
    """State of a mechanism in the memory of an assembly, between two steps.

    Args:
        assembly: what moves; its memory contains the state.
        is_redundant: whether constraints are redundant; their forces of least size are taken.

    Attributes:
        assembly, memory, is_redundant: as given.
        work_sources: names of what can supply work, each with its columns in the table ``work``.
        measured_at: when compiled code wrote positions and rates of all vectors at this state [s]; NaN: it did not.
    """

    def __init__(self, assembly: Assembly, is_redundant: bool = False) -> None:
        self.assembly, self.memory, self.is_redundant = assembly, assembly.memory, is_redundant
        parts = assembly.system, int(self.memory.counts["interactions"])
        self.work_sources, self._constraint_columns = work_sources(*parts), constraint_columns(*parts)
        self.measured_at = nan
        self._counter: Array = self.memory["counter"]
        self._rows: IntArray | None = None  # that do not depend on others, of those that held then:
        self._rows_of: Phase | None = None
        self._pose: tuple[State, Instants, float] | None = None  # where something was computed last

    def begin(self, state: State, at: Instants | None = None) -> None:
        """Set the state of the mechanism from which time steps start, with its history variables, event times and
        locks. ``at`` is the same state with evaluated functions (None: evaluated when needed). History variables
        are strains of Maxwell branches, deflections of friction springs and impact speeds; locks are those of
        joints that events can release."""
        self.measured_at = nan
        self._pose = (state, at, np.inf) if at is not None else None
        memory = self.memory
        thetas = state.theta
        if thetas is None or len(thetas) < len(memory["theta"]):  # as in equilibria, which know nothing of locks
            thetas = self.assembly.initial_thetas(state)
        memory["position"][:], memory["rotation"][:] = state.position, state.rotation
        memory["eta"][:], memory["velocity"][:] = state.eta, state.velocity
        memory["theta"][:] = thetas[: len(memory["theta"])]
        set_branches(memory, state.branches)
        switches = self.assembly.system.mechanism.switches
        memory["locked_at"][:] = [0.0 if switch.is_active else np.nan for switch in switches]
        memory["event_time"][:], memory["event_loss"][:] = np.nan, 0.0

    def state(self, time: float) -> State:
        """Return a copy of the present state of the mechanism (poses, elastic coordinates, velocities, history
        variables) with a ``time`` [s]. History variables are strains of Maxwell branches, deflections of friction
        springs and impact speeds."""
        own = {name: self.memory[name].copy() for name in ("position", "rotation", "eta", "velocity")}
        return State(time, **own, branches=branches_of(self.memory.rows(self.memory.state[None]))[0])

    @property
    def phase(self) -> Phase:
        """Equations of the system with only the constraints that are active at present: those that no event can
        release, and those that are locked."""
        return self.assembly.system.phase(self.memory["locked_at"])

    @property
    def event_times(self) -> Array:
        """Time at which each event of the run occurred, NaN if it has not yet, shape (events,) [s]."""
        return np.asarray(self.memory["event_time"])

    @property
    def dependent_steps(self) -> int:
        """Number of time steps so far in which constraints were linearly dependent that were independent at
        the start (a singular position); 0 for mechanisms that are redundant anyway."""
        return 0 if self.is_redundant else int(self._counter[1])

    @property
    def open_steps(self) -> int:
        """Number of time steps so far that were solved, but whose energy balance has an error beyond
        round-off."""
        return int(self._counter[3])

    @property
    def last_reactions(self) -> tuple[Array, Array]:
        """Copies of the constraint multipliers, shape (scalar constraints,), and of the element forces, shape
        (forces,), in the last time step [N or N m]."""
        return np.array(self.memory["multiplier"]), np.array(self.memory["force"])

    @property
    def projects_at_once(self) -> bool:
        """Whether the compiled projection of velocities, so that they satisfy the joints, needs the state alone.
        This is so without moving frames (points of the ground with prescribed motion), redundant constraints and
        relations between coordinates. SIMD lanes can then compute it for several mechanisms."""
        return not (self.is_redundant or self.assembly.system.related or self.assembly.moving)

    def joint_velocities(self, time: float) -> Array | None:
        """Return the present velocities projected so that they satisfy the joints at a time [s], shape
        (velocities,), without changing the state. Models without joints return a copy. The result is None where
        joints that were independent at the start are redundant at this pose. It is also None with prescribed
        motions of the ground if joints can be locked or released.

        Equals ``projected_velocities`` of a motion, by the elimination of a step.
        """
        assembly, system, memory = self.assembly, self.assembly.system, self.memory
        if assembly.moving and system.mechanism.switches:
            return None
        found, drift = memory["velocity"].copy(), np.zeros(memory.counts["rows"])
        if not len(drift):
            return found
        moving = NOTHING_MOVES
        if assembly.moving:
            moving = assembly.moving_values(np.array([time]))
            drift = system.rows.drift(system.at(self.state(time)))[0]
        self.measured_at = nan
        relaxation = RELAXATION if self.is_redundant else 0.0
        return found if joint_velocities(memory.header, moving, drift, found, relaxation) else None

    def project(self, time: float) -> None:
        """Replace the velocities in memory by the nearest ones that satisfy the active constraints at a time [s],
        as before time steps of another length. The energy that prescribed motions supply is added to their work,
        the lost energy to the dissipated energy. The next step does not extrapolate from earlier velocities.
        """
        memory = self.memory
        state = self.state(time)
        found = projection(self.phase, state, self._instant(state, np.inf))
        memory["velocity"][:] = found.velocity
        np.add.at(memory["work"], self._constraint_columns, found.work)
        self.measured_at = nan
        memory["dissipated"][0] += found.lost
        memory["known_velocities"][0] = 0.0

    def apply_event(self, event: int, time: float) -> None:
        """Apply an event at a ``time`` [s]: release and lock its joints, and project the velocities so that they
        satisfy the constraints that are active then (an impulse). Time and lost energy of the event are stored.

        The energy that the impulse takes is recorded as dissipated.

        Raises:
            VelocityError: the constraints that are active from then on contradict each other.
            ModelError: a lock of a joint that was released, or a constraint that needs the position of a released
                joint.
        """
        memory, system = self.memory, self.assembly.system
        happens, before = system.mechanism.events[event], float(memory["dissipated"][0])
        held, switches = memory["locked_at"], system.mechanism.switches
        gone = [each.constraint for k, each in enumerate(switches) if np.isnan(held[k])]
        check_not_released(happens, [each for each in gone if isinstance(each, Joint)], "before")
        check_position_unused(happens, (each for each in system.mechanism.constraints if each not in gone))
        gaps = system.row_values(system.at(self.state(time)), memory["theta"][None])[0]
        for k, switch in enumerate(switches):
            rows = np.flatnonzero(system.row_switches == k)
            if any(switch.constraint is each for each in happens.released):
                held[k] = np.nan
                memory["multiplier"][rows] = 0.0
            elif any(switch.constraint is each for each in happens.locked):
                held[k] = gaps[rows[0]]
        velocity = memory["velocity"].copy()
        self.project(time)
        if happens.locked:
            check_velocities(self.phase, self.state(time), velocity, f"{happens.text} at t = {time:.9g} s")
        memory["event_time"][event] = time
        memory["event_loss"][event] = memory["dissipated"][0] - before

    def reactions_under(self, values: Array, time: float, end: float, is_projected: bool = True) -> LateReactions:
        """Return a function without arguments that computes constraint multipliers and element forces at the
        present state and a time [s]. It can be called later, after the state has changed; it returns None if there
        is no solution. The multipliers follow from the accelerations under the load ``values``, see docs/theory.md,
        4, (4.23). User functions are called now, those of time up to ``end`` [s]. Unless ``is_projected``,
        velocities are projected first so that they satisfy the constraints.

        Forces of strings are no reactions: they are those of the last step. Users' functions are called now, so
        that the rest can be computed later, or never.

        Args:
            values: of the loads and prescribed forces, shape (3 values,).
            time: of the state [s].
            end: latest time at which functions of time are called [s].
            is_projected: whether velocities satisfy the joints (``project``); otherwise they are projected.

        Raises:
            ValueError: a function that cannot be called there.
        """
        assembly, state, phase = self.assembly, self.state(time), self.phase
        if self._rows is None or self._rows_of is not phase:
            rows = np.arange(len(phase.rows))
            self._rows = independent_rows(phase.system, state) if self.is_redundant else rows
            self._rows_of = phase
        theta = self.memory["theta"][: len(assembly.system.forces)].copy()
        if isinstance((at := self._instant(state, end)).prescribed, PrescribedFunctions):
            at.prescribed.second_order()
        # The part that alternates from step to step, as stiff dampers let it, is a quarter of second differences.
        is_seen = self.memory["known_velocities"][0] >= SECOND_DIFFERENCES
        settled = state.velocity - self.memory["line_miss"][: len(state.velocity)] / 4 if is_seen else None
        find = partial(
            reactions,
            phase,
            state,
            at,
            theta=theta,
            values=values.reshape(-1, 3),
            contact_forces=self._contact_forces(time),
            independent=self._rows,
            last=self.last_reactions,
            is_projected=is_projected,
            settled=settled,
        )
        if not assembly.has_functions:
            return find
        found = find()  # users' laws are called now
        return lambda: found

    def _contact_forces(self, time: float) -> Array:
        """Return the generalized forces of contact groups (bodies that may touch) on all velocities at the present
        state and a time [s], shape (velocities,). They are the mean of a tiny time step forwards and one
        backwards; zero without contact groups.

        The errors of such means are of second order.
        """
        memory = self.memory
        pushed = np.zeros(len(memory["velocity"]))
        if not memory.counts["members"]:
            return pushed
        fastest = float(np.abs(memory["velocity_weight"] * memory["velocity"]).max(initial=0.0))
        h = LITTLE * (self.assembly.system.reach / fastest if fastest else 1.0)
        moving = self.assembly.moving_values(np.array([time]))
        for step in (h, -h):
            pair_forces(memory.header, step, moving, self.assembly.moving_values(np.array([time + step])), pushed)
        self.measured_at = nan
        return 0.5 * pushed

    def stop_prescribed_motions(self, time: float) -> None:
        """Make later evaluations at the present pose use zero rates of ground frames and drives, as in an
        equilibrium at a ``time`` [s]. It applies to multipliers and forces, until the pose changes; the state
        itself does not change.
        """
        state = self.state(time)
        self._pose = (state, self.assembly.system.at_rest(state), np.inf)

    def _instant(self, state: State, end: float) -> Instants:
        """Return evaluated kinematics and functions of time for a ``state``. The functions are called up to the
        time ``end`` [s]. Kinematics are cached and reused while the pose does not change; functions too, if
        ``end`` is also the same. Velocities are always replaced."""
        known = self._pose
        if known is None or not same_pose(known[0], state):
            at = self.assembly.system.at(state, end)
        else:
            prescribed = known[1].prescribed if known[2] == end else self.assembly.system.at(state, end).prescribed
            at = replace(known[1], velocity=state.velocity[None], prescribed=prescribed)
        self._pose = (state, at, end)
        return at
