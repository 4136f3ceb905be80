"""Runs in several shots, each of which begins in a state of its own and is to end where the next one begins.

What a run of an unstable motion ends in depends on its inputs by factors of thousands; over a part of it by less.
States between are numbers: u = V nu of velocities, and z of poses q near a first one, in which joints hold,

    q = q0 + W^-1 (N z + (G0 W^-1)^T lambda),  g(q, t) = 0,

with the gaps g of the joints, G their derivative, N what G0 W^-1 leaves free, and weights V, W in which turns count
most, so that angles of joints are what moves along z, and in W stiff coordinates as much as the speed they make.
Rotations are R0 exp(phi). Velocities are all free: those of single instants satisfy joints to second order of the
step only (docs/theory.md, 4).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import null_space

from phlexible.algebra.arrays import Array
from phlexible.bodies.beam.strain import linear_stiffness
from phlexible.bodies.mechanics.floating import mass_diagonal
from phlexible.derivatives.costs import Costs, CostsOfRun
from phlexible.derivatives.parameters import Build, Built, Parameters, Recipe, Start, check_same
from phlexible.derivatives.runs import LoggedRun, RunInterval, simulate_logged
from phlexible.derivatives.steps import functions_of, pose_map
from phlexible.derivatives.sweeps import Adjoint, is_plain, zero_values
from phlexible.derivatives.variations import Variation, variation_between
from phlexible.description.time_functions import Signal
from phlexible.errors import ConvergenceError, ModelError
from phlexible.measure.kinematics import rotation_vector_spin
from phlexible.state.layout import State
from phlexible.state.small_motions import displaced
from phlexible.state.system import System
from phlexible.state.vectors import rotation_blocks, split_rigid
from phlexible.step.assembly.bodies import velocity_weights
from phlexible.step.integration.schemes import StepOptions

TURNS = 4.0
"""Length that a rotation of one radian counts as, relative to the largest length."""

CLOSED = 1e-13
"""Tolerance on gaps of joints, relative to the lengths that they are compared with."""

CLOSINGS = 30
"""Largest number of iterations that close the joints."""

LARGE = 100.0
"""Of the size of the mechanism, and of how fast it is: a search that begins with curvature 1 along all unknowns of
size 1 lets states follow inputs then, which alone cost anything. With 1 it takes ten times as many iterations."""

MORE_THAN_STEPS = (
    "shots= takes runs that are nothing but steps, without controllers, events, breakpoints and laws that creep or"
    " stick; leave it out"
)


@dataclass(frozen=True, eq=False)
class NearStates:
    """Minimal coordinates of the states near a reference state in which all joints are closed: first those of the
    pose, then one for each velocity. They are unknowns of multiple shooting.

    Attributes:
        system: the mechanism as arrays.
        state: the reference state.
        lasts: duration of a shot [s].
    """

    system: System
    state: State
    lasts: float

    @cached_property
    def of_speeds(self) -> Array:
        """Factors that make the velocities of this mechanism comparable, shape (velocities,): a length for angular
        velocities, roots of mass ratios for elastic rates, 1 for linear velocities."""
        layout, found = self.system.layout, np.ones(int(self.system.layout.velocity[-1]))
        found[layout.spin[2]] = TURNS * self.system.largest_length
        weights = [velocity_weights(body)[body.rigid_count :] for body in self.system.frames]
        found[layout.elastic_rate] = np.concatenate([np.zeros(0), *weights])
        return found

    @cached_property
    def weights(self) -> Array:
        """Factors by which the components of a small change of the pose are multiplied to be comparable, shape
        (velocities,). For translations and rotations they are those of the velocities, ``of_speeds``; for elastic
        coordinates these times max(1, T sqrt(k/m)). T is the duration of a segment [s], k and m are stiffness and
        mass of the coordinate.
        """
        found, layout = self.of_speeds.copy(), self.system.layout
        rates = [
            np.sqrt(linear_stiffness(body.strain).diagonal() / mass_diagonal(body)[body.rigid_count :])
            for body in self.system.frames
        ]
        found[layout.elastic_rate] *= np.maximum(1.0, self.lasts * np.concatenate([np.zeros(0), *rates]))
        return found

    @cached_property
    def _rows(self) -> Array:
        """Constraint matrix G of the mechanism in the reference state, with column k divided by ``weights[k]``,
        shape (constraints, velocities). Times scaled changes of the pose it gives the changes of the constraints.
        """
        return self._matrix(self.state) / self.weights

    @cached_property
    def free(self) -> Array:
        """Orthonormal basis of the scaled changes of the pose that keep all joints closed to first order, shape
        (velocities, k). It is the null space of the scaled constraint matrix."""
        return np.asarray(null_space(self._rows)) if len(self._rows) else np.eye(len(self.weights))

    @property
    def count(self) -> int:
        """Number of minimal coordinates that describe a state near the reference state: one for each free change
        of the pose, and one for each velocity."""
        return int(sum(self.free.shape))

    def _matrix(self, state: State) -> Array:
        """Return the constraint matrix (derivative of the joint constraints with respect to the pose) of the
        mechanism in a state, shape (constraints, velocities). Rotations are in body axes."""
        found = self.system.rows.small_matrix(self.system.at(state))
        return found if isinstance(found, np.ndarray) else found.toarray()

    def state_of(self, coordinates: Array, time: float, theta: Array | None = None) -> State:
        """Return the state of the mechanism at a ``time`` [s] that has the given minimal coordinates (count,). The
        first coordinates displace a reference state along directions that joints leave free; Newton corrections
        normal to them close the joints. The others are all velocities, each times a constant factor. ``theta``
        (forces,), lengths and angles of force elements, is stored in the state unchanged. Raise
        ``ConvergenceError`` if the joints do not close.

        Args:
            coordinates: z, then u, shape (count,).
            time: of the state [s].
            theta: coordinates of the forces near the state, over full turns.

        Raises:
            ConvergenceError: joints do not close that far from the reference state.
        """
        z, u = np.split(coordinates, [self.free.shape[1]])
        along, across = self.free @ z, np.zeros(len(self._rows))
        for _ in range(CLOSINGS):
            state = replace(
                displaced(self.system, self.state, (along + across @ self._rows) / self.weights), time=time
            )
            if not len(self._rows):
                break
            gaps = self.system.rows.values(self.system.at(state))[0]
            own = self._matrix(state) / self.weights
            if np.abs(gaps / self.system.gap_lengths).max() < CLOSED:
                break
            across = across - np.linalg.lstsq(own @ self._rows.T, gaps, rcond=None)[0]
        if len(self._rows) and not self.system.relative_gaps(gaps).max() < 1e4 * CLOSED:
            raise ConvergenceError("joints do not close between two shots", state.time, np.abs(gaps))
        return replace(state, velocity=u / self.of_speeds, theta=theta)

    def _change_to(self, rows: Mapping[str, Array]) -> Array:
        """Return the change of the pose from the reference state to another state, shape (velocities,):
        differences of positions and elastic coordinates, and rotation vectors in body axes [rad]. ``rows`` is the
        other state as arrays by the names "position", "rotation", "eta" and "velocity", each with a first axis of
        length 1, its only instant."""
        change = variation_between(self.system.layout, _tables(self.state), rows).pose[0]
        return np.asarray(rotation_blocks(self.system.layout, self.state.rotation).T @ change)

    def coordinates_of(self, rows: Mapping[str, Array]) -> tuple[Array, Array, Array]:
        """Return the minimal coordinates (count,) of a state, and their derivatives with respect to its pose and to
        its velocities, each (count, velocities). The first coordinates are components of the pose change from a
        reference state, along the directions that joints leave free. All velocities follow, each times a constant
        factor. ``rows`` has the state's arrays by the names "position", "rotation", "eta" and "velocity", each with
        a first axis of length one.

        Shapes (count,), and (count, velocities) twice.
        """
        change = self._change_to(rows)
        turns = split_rigid(self.system.layout, change)[1]
        scaled = self.free.T * self.weights
        back = rotation_blocks(self.system.layout, (np.asarray(np.linalg.inv(_right(phi))) for phi in turns))
        to_pose = scaled @ back @ rotation_blocks(self.system.layout, rows["rotation"][0]).T
        return (
            np.concatenate([scaled @ change, self.of_speeds * rows["velocity"][0]]),
            np.concatenate([to_pose, np.zeros((len(self.weights), len(self.weights)))]),
            np.concatenate([np.zeros_like(to_pose), np.diag(self.of_speeds)]),
        )

    def slopes(self, state: State) -> tuple[Array, Array]:
        """Return the derivatives of pose and velocities with respect to the minimal coordinates at a ``state``
        with closed joints, two arrays (velocities, coordinates). They include the corrections that keep the joints
        closed. Columns are first the coordinates of the pose, then those of the velocities. Rotations are rotation
        vectors in world axes."""
        own = self._matrix(state) / self.weights
        turns = split_rigid(self.system.layout, self._change_to(_tables(state)))[1]
        forward = rotation_blocks(self.system.layout, (_right(phi) for phi in turns))
        shifted = forward * self.weights[:, None] / self.weights  # of W times changes
        along, across = shifted @ self.free, shifted @ self._rows.T
        held = along - across @ np.linalg.lstsq(own @ across, own @ along, rcond=None)[0]
        of_pose = rotation_blocks(self.system.layout, state.rotation) @ (held / self.weights[:, None])
        return (
            np.hstack([of_pose, np.zeros((len(self.weights), len(self.weights)))]),
            np.hstack([np.zeros_like(of_pose), np.diag(1 / self.of_speeds)]),
        )


def _tables(state: State) -> dict[str, Array]:
    return {name: np.array(getattr(state, name))[None] for name in ("position", "rotation", "eta", "velocity")}


def _right(phi: Array) -> Array:
    """Return the right Jacobian J of the rotation vector phi [rad], shape (3, 3): ``exp(phi + dphi) = exp(phi)
    exp(J dphi)`` for small dphi."""
    return rotation_vector_spin(np.tile(-phi, (3, 1)), np.eye(3)).T


# A run of several shots, its costs, and what they and the gaps between shots feel.


@dataclass(frozen=True, eq=False)
class Shots:
    """Initial states of the segments (shots) of multiple shooting. The first shot begins at the initial state of
    the model, the others at states given by minimal coordinates.

    Attributes:
        near: admissible states of all but the first shot.
        coordinates: coordinates of these initial states.
    """

    near: tuple[NearStates, ...]
    coordinates: tuple[Array, ...]

    @property
    def count(self) -> int:
        """Total number of minimal coordinates of the initial states of all shots but the first: unknowns of
        multiple shooting."""
        return sum(each.count for each in self.near)

    def with_coordinates(self, coordinates: Array) -> "Shots":
        """Return a copy of these shots with other initial states, given by their concatenated minimal coordinates,
        shape (count,)."""
        ends = np.cumsum([each.count for each in self.near])[:-1]
        return replace(self, coordinates=tuple(np.split(coordinates, ends)))

    def sizes(self, duration: float) -> Array:
        """Return characteristic sizes of the minimal coordinates of all initial states of multiple shooting, shape
        (count,), by which an optimizer scales its unknowns. They are a multiple of the mechanism's length for
        poses, and of the larger of its greatest speed and length / ``duration`` for velocities. ``duration`` [s]
        is that of the whole run."""
        speed = max(float(np.abs(each.of_speeds * each.state.velocity).max(initial=0.0)) for each in self.near)
        found = []
        for each in self.near:
            length = each.system.largest_length
            parts = each.free.shape[1], each.free.shape[0]
            found.append(np.repeat([length, max(speed, length / duration)], parts))
        return LARGE * np.concatenate(found)


@dataclass(frozen=True, eq=False)
class ShotRun:
    """Run of multiple shooting: segments of a run (shots) that begin at independent initial states, with the gaps
    between the segments.

    Attributes:
        run: steps of all shots; instants between shots are their ends.
        shots: their initial states as coordinates.
        starts: their initial states.
    """

    run: LoggedRun
    shots: Shots
    starts: tuple[State, ...]

    @cached_property
    def ends(self) -> list[tuple[Array, Array, Array]]:
        """Final states of all shots but the last, in the minimal coordinates of the next shot's initial state. Each
        entry has the coordinates and their derivatives with respect to pose and velocities, three arrays."""
        found = []
        for near, stretch in zip(self.shots.near, self.run.stretches[:-1], strict=True):
            found.append(near.coordinates_of(self.run.assembly.memory.rows(stretch.states[-1:])))
        return found

    @cached_property
    def defects(self) -> Array:
        """Gaps between the shots of multiple shooting, which an optimizer brings to zero, shape (count,). For
        each shot but the last they are the minimal coordinates of its final state minus those of the next
        initial state."""
        pairs = zip(self.ends, self.shots.coordinates, strict=True)
        return np.concatenate([np.zeros(0), *(end[0] - own for end, own in pairs)])


def simulate_shots(base: Built[Costs], shots: Shots, steps: Sequence[int], step: float) -> ShotRun:
    """Simulate a model in segments, one after the other, and return them joined as a ``ShotRun``. Segment 0 begins
    at the initial state of the model ``base``, the others at the states of ``shots``; segment i has ``steps[i]``
    time steps of size ``step`` [s]. Gaps between segments remain. Raise ``ConvergenceError`` if a time step would
    have to be halved.

    Raises:
        ConvergenceError: a step, or joints between shots, did not converge.
    """
    runs: list[LoggedRun] = []
    starts = [base.start]
    for number, count in enumerate(steps):
        if number:
            before, near = runs[-1], shots.near[number - 1]
            theta = before.rows["theta"][-1]
            start = near.state_of(shots.coordinates[number - 1], float(before.times[-1]), theta)
            starts.append(replace(start, theta=base.assembly.initial_thetas(start)))
        taken = simulate_logged(base.assembly, starts[-1], count * step, step, StepOptions())
        if not is_plain(taken):
            raise ConvergenceError("steps of a shot had to be halved", starts[-1].time, np.zeros(0))
        runs.append(taken)
    stretches = tuple(each.stretches[0] for each in runs)
    indices = [np.column_stack([np.full(len(each.indices), k), each.indices[:, 1]]) for k, each in enumerate(runs)]
    run = LoggedRun(
        base.assembly,
        stretches,
        tuple(RunInterval(k, 0, each.count) for k, each in enumerate(stretches)),
        (),
        np.concatenate([runs[0].times[:1], *(each.times[1:] for each in runs)]),
        np.concatenate([runs[0].states[:1], *(each.states[1:] for each in runs)]),
        np.concatenate(indices),
    )
    return ShotRun(run, shots, tuple(starts))


def shots_along(run: LoggedRun, steps: Sequence[int]) -> Shots:
    """Divide a ``run`` into segments of multiple shooting, with the given numbers of time ``steps``, and return
    their initial states as ``Shots``. These states are copied from the run, so that there are no gaps between
    segments. Small coordinates about each state are stored too. A run with events, controllers or history
    variables raises ``ModelError``.

    Raises:
        ModelError: a run that is more than steps.
    """
    if not is_plain(run):
        raise ModelError(MORE_THAN_STEPS)
    near = []
    for at in np.cumsum(steps)[:-1].tolist():
        names = ("position", "rotation", "eta", "velocity", "theta")
        state = State(float(run.times[at]), **{name: run.rows[name][at].copy() for name in names})
        near.append(NearStates(run.system, state, float(run.times[-1] - run.times[0]) / len(steps)))
    coordinates = [each.coordinates_of(_tables(each.state))[0] for each in near]
    return Shots(tuple(near), tuple(coordinates))


class CostsOfShots(CostsOfRun):
    """Costs of a multiple-shooting run, followed by the defects between its shots, with their derivatives.

    Args:
        shots: the run.
        own, given: as of ``CostsOfRun``; costs of ``own`` end with an empty one for each gap.
    """

    def __init__(self, shots: ShotRun, base: Built[Costs], parameters: Any) -> None:
        super().__init__(shots.run, base, parameters)
        self._shots = shots
        self._costs = len(self.values) - len(shots.defects)
        self.values[self._costs :] = shots.defects

    @cached_property
    def _by_shot(self) -> list[tuple[Array, Array, Array]]:
        """Return adjoints of costs and gaps for each segment of a multiple-shooting run, by one backward pass
        through each. Each tuple has adjoints of pose and velocity, both (steps + 1, k, velocities), and of step
        residuals, (steps, k, unknowns). The k rows are the costs, then the coordinates of the gap between the
        segment's end and the next start (none for the last segment).

        With respect to poses and velocities at its instants, shape (instants, costs + defects, velocities) each,
        and to its equations, shape (steps, costs + defects, unknowns).
        """
        run, slopes = self._run, self._to_states[: self._costs]
        found = []
        for number, stretch in enumerate(run.stretches):
            instants = 1 + np.flatnonzero(run.indices[:, 0] == number)
            rows = run.indices[instants - 1, 1]
            _, to_pose, to_velocity = (
                self._shots.ends[number] if number < len(self._shots.ends) else np.zeros((3, 0, run.velocities))
            )
            pose, velocity = np.zeros((2, stretch.count + 1, len(slopes) + len(to_pose), run.velocities))
            for k, each in enumerate(slopes):
                pose[rows, k], velocity[rows, k] = each.pose[instants], each.velocity[instants]
                if number == 0:
                    pose[0, k], velocity[0, k] = each.pose[0], each.velocity[0]
            pose[-1, len(slopes) :] += to_pose
            velocity[-1, len(slopes) :] += to_velocity
            equations = stretch.vjp(0, stretch.count, pose, velocity)[0]
            found.append((pose, velocity, equations))
        return found

    @cached_property
    def adjoints(self) -> list[Adjoint]:
        """Adjoints of a multiple-shooting run, first of each cost, then of each gap coordinate between segments.
        An adjoint has derivatives with respect to the initial state and to the residuals of all time steps. Those
        of a gap are zero outside of the segment before it."""
        nothing, found = zero_values(self._run), []
        zeros = [np.zeros((len(own[2]), own[2].shape[2])) for own in self._by_shot]
        still = [np.zeros((len(own[0]), own[0].shape[2])) for own in self._by_shot]
        for k in range(self._costs):
            equations = tuple(own[2][:, k] for own in self._by_shot)
            poses = np.concatenate([own[0][1:, k] for own in self._by_shot])
            pose, velocity, _ = self._by_shot[0]
            found.append(
                Adjoint(Variation(pose[0, k], velocity[0, k]), replace(nothing, equations=equations), poses)
            )
        for number, (pose, velocity, felt) in enumerate(self._by_shot[:-1]):
            for k in range(self._costs, pose.shape[1]):
                equations = tuple(felt[:, k] if j == number else own for j, own in enumerate(zeros))
                poses = np.concatenate([pose[1:, k] if j == number else own[1:] for j, own in enumerate(still)])
                start = np.stack([pose[0, k], velocity[0, k]]) if number == 0 else np.zeros((2, pose.shape[2]))
                found.append(Adjoint(Variation(*start), replace(nothing, equations=equations), poses))
        return found

    @cached_property
    def slopes_of_starts(self) -> Array:
        """Derivatives of costs, then of gaps between segments of multiple shooting, with respect to the minimal
        coordinates of all initial states but the first. They follow from the adjoints. The shape is (costs + gaps,
        coordinates), segment after segment. A gap is the end of a segment minus the next start, in minimal
        coordinates."""
        shots = self._shots.shots
        found = np.zeros((len(self.values), shots.count))
        column, row = 0, self._costs + (shots.near[0].count if shots.near else 0)
        for number, near in enumerate(shots.near, start=1):
            own = slice(column, column + near.count)
            of_pose, of_velocity = near.slopes(self._shots.starts[number])
            pose, velocity, _ = self._by_shot[number]
            felt = pose[0] @ of_pose + velocity[0] @ of_velocity
            found[: self._costs, own] = felt[: self._costs]
            found[self._costs + column : self._costs + column + near.count, own] -= np.eye(near.count)
            ends = len(felt) - self._costs
            found[row : row + ends, own] += felt[self._costs :]
            column, row = column + near.count, row + ends
        return found


LONGER = 1e-6
"""Relative change of the duration in central differences of the equations."""


@dataclass(frozen=True, eq=False)
class InputRun:
    """Run of a model with particular input signals, with its costs and their derivatives with respect to the
    samples of the signals.
    """

    _costs: CostsOfRun
    _runs: "InputRuns"
    _inputs: dict[str, Signal]
    _run: LoggedRun
    _base: Built[Costs]
    _in_shots: bool = False

    @property
    def values(self) -> Array:
        """Values of all costs of this run with particular input signals, shape (costs,)."""
        return self._costs.values

    @property
    def travel(self) -> Array:
        """Range (greatest minus least value over time) of the sensor values of each cost of this run, shape
        (costs,). Of several sensors and components of a cost the largest range is returned."""
        return self._costs.travel

    @property
    def velocity_weights(self) -> Array:
        """Factors that make the velocities of the mechanism comparable, shape (velocities,): velocity times factor
        is a speed [m/s]."""
        return np.asarray(self._run.assembly.memory["velocity_weight"])

    @cached_property
    def slopes(self) -> Array:
        """Derivatives of all costs of this run with respect to all samples of its input signals, one signal after
        the other, shape (costs, samples).

        Raises:
            PhlexibleError: as ``gradient``.
        """
        found = self._costs.slopes(self._runs.recipe, Parameters(self._inputs, self._runs.scales))
        if self._in_shots and not all(self._costs.loads_alone.values()):
            raise ModelError(
                "with shots= inputs must be forces and torques; these change constraints where shots begin"
            )
        return found

    @property
    def slopes_of_starts(self) -> Array:
        """Derivatives of all costs of this run with respect to the minimal coordinates of the initial states of its
        shots, shape (costs, coordinates). A run in one shot has no columns."""
        costs = self._costs
        return costs.slopes_of_starts if isinstance(costs, CostsOfShots) else np.zeros((len(self.values), 0))

    def shots(self, count: int) -> Shots:
        """Return this run divided into ``count`` shots of about equally many time steps, as initial states
        for multiple shooting."""
        return shots_along(self._run, self._runs.steps_of(count))

    def of_duration(self, duration: float) -> Array:
        """Return the derivatives of all costs of this run with respect to its ``duration`` [s], shape (costs,).
        Sample times of signals and time steps scale with the duration. Step residuals and costs are differentiated
        by central differences at the recorded states, then multiplied by the adjoints. Raise ``ModelError`` for
        runs with controllers, events, breakpoints or history variables, except within multiple shooting.

        Raises:
            ModelError: a run that is more than steps, or a model that becomes another one.
        """
        run, own = self._run, self._base
        if not (self._in_shots or is_plain(run)):
            raise ModelError(
                "bounds of the duration: a free duration needs a run without controllers,"
                " events, breakpoints and viscoelastic laws; give a fixed one"
            )
        if self._in_shots and (run.system.moving_frames or run.system.paths):
            raise ModelError("bounds of the duration: with shots= nothing may move as a function of time")
        sides: list[tuple[Array, Array]] = []
        for sign in (1, -1):
            share = 1 + sign * LONGER
            other = self._runs.recipe.build_model(stretched(self._inputs, share), own)
            check_same(own, other, "the duration")
            missed = [
                each.residuals(
                    other.assembly.memory, functions_of(other.assembly, share * each.times), share * each.sizes
                )
                for each in run.stretches
            ]
            sides.append((np.concatenate(missed), self._costs.values_at(other, share * run.times)))
        (more, first), (less, second) = sides
        changes = (more - less) / (2 * LONGER)
        ways = np.array(
            [
                pose_map(each, k) @ each.rows["velocity"][k : k + 2].sum(axis=0)
                for each in run.stretches
                for k in range(each.count)
            ]
        )
        felt = [
            float(np.sum(np.concatenate(each.parts.equations) * changes) + np.sum(each.poses * ways))
            for each in self._costs.adjoints
        ]
        return (np.array(felt) + (first - second) / (2 * LONGER)) / duration


@dataclass(eq=False)
class InputRuns:
    """Runs of the models that a build function makes of input signals, for optimal control. All runs have the same
    number of steps.

    A model whose inputs are loads and nothing else is built once.

    Attributes:
        build: inputs by name -> model.
        costs: model -> costs.
        steps: how many the runs have.
        initial: as of ``ph.gradient``.
        scales: sizes of inputs by name.
    """

    build: Build
    costs: Callable[[Any], Costs]
    steps: int
    initial: Start
    scales: Mapping[str, float]

    def __post_init__(self) -> None:
        self.recipe: Recipe[Costs] = Recipe(self.build, self.initial, self.costs, "cost")
        self.taken = 0
        self._last_model: tuple[Built[Costs], dict[str, Signal]] | None = None
        self._loads_alone: dict[str, bool] = {}

    def steps_of(self, shots: int) -> list[int]:
        """Return the numbers of time steps of each of ``shots`` shots, which divide the time steps of a run
        as equally as possible."""
        return [int(each) for each in np.diff(np.round(np.linspace(0, self.steps, shots + 1)))]

    def run(self, inputs: dict[str, Signal], duration: float, shots: Shots | None = None) -> InputRun:
        """Simulate the model with the given input signals over ``duration`` [s] and return the run with its costs.
        With ``shots``, the run consists of segments of multiple shooting with given initial states; None is one
        run from the model's start. The model is reused if the signals change loads only. The number of simulations
        is counted in ``self.taken``.

        Raises:
            PhlexibleError: as ``gradient``.
        """
        own, given = self._model_for(inputs)
        if shots is not None:
            in_shots = simulate_shots(own, shots, self.steps_of(len(shots.near) + 1), duration / self.steps)
            self.taken += 1
            found = CostsOfShots(in_shots, own, given)
            found.loads_alone = self._loads_alone
            return InputRun(found, self, inputs, in_shots.run, own, True)
        taken = simulate_logged(own.assembly, own.start, duration, duration / self.steps, StepOptions())
        self.taken += 1
        costs = CostsOfRun(taken, own, given)
        costs.loads_alone = self._loads_alone
        return InputRun(costs, self, inputs, taken, own)

    def _model_for(self, inputs: dict[str, Signal]) -> tuple[Built[Costs], dict[str, Signal]]:
        """Return the model for the given input signals, and the copies of the signals that it evaluates. The last
        model is returned again, with the new sample values written into its signals, if all signals change only
        loads and all sample times are equal. Otherwise a model is built by the user's function and cached."""
        if self._last_model is not None and self._loads_alone and all(self._loads_alone.values()):
            own, given = self._last_model
            if all(np.array_equal(each.times, inputs[name].times) for name, each in given.items()):
                for name, each in given.items():
                    each.values = inputs[name].values
                return own, given
        given = stretched(inputs, 1.0)
        self._last_model = self.recipe.build_model(given), given
        return self._last_model


def stretched(inputs: Mapping[str, Signal], factor: float) -> dict[str, Signal]:
    """Return copies of the signals ``inputs``, as a dictionary by name, whose sample times are multiplied by
    ``factor``. Sample values and interpolation are unchanged."""
    return {name: Signal(factor * each.times, each.values, each.between) for name, each in inputs.items()}
