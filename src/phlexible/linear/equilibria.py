"""Equilibria and operating points: where a model rests, what it is linearized about (docs/theory.md, 7)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, partial

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, BoolArray, IntArray
from phlexible.algebra.blas_threads import one_blas_thread
from phlexible.algebra.saddle import SaddlePoint, natural_scale
from phlexible.algebra.sparse import Matrix, sparse_diagonal
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.floating_body import LocalMoments
from phlexible.bodies.mechanics.absolute import assembled_forms, places, strain_gradients, strains
from phlexible.bodies.mechanics.any_body import gross_force, stiffness_matrix
from phlexible.bodies.mechanics.floating import mass_matrix
from phlexible.errors import EquilibriumError, ModelError, SingularMatrixError
from phlexible.linear.one_sided import OneSidedForces, OneSidedStep
from phlexible.linear.pairs_at_rest import PairsAtRest
from phlexible.linear.rest_equations import Tangents
from phlexible.linear.sticking import BentBristles, StickingFriction
from phlexible.state.branches import searched_contacts
from phlexible.state.forces import (
    applied_forces,
    body_forces,
    constraint_stiffness,
    element_pulls,
    element_state,
    gravity_forces,
    load_forces,
    load_stiffness,
    of_bodies,
    prescribed_parts,
    weights_and_loads,
)
from phlexible.state.initial_velocity import check_closure, undeformed, with_initial_velocity
from phlexible.state.instants import Instants
from phlexible.state.layout import State
from phlexible.state.quasi_static import ITERATIONS, LONGEST, QuasiStaticMotion, quasi_static_motion, raised
from phlexible.state.redundancy import check_redundancy, independent_rows, smallest_multipliers_at
from phlexible.state.round_off import round_off_of_forces
from phlexible.state.small_motions import displaced, size_of_motion
from phlexible.state.system import System, need_bodies
from phlexible.state.vectors import split_rigid

# One step of Newton's method towards an equilibrium under constraints (docs/theory.md, 7).


def newton_step(
    stiffness: sparse.csr_array,
    matrix: sparse.csr_array,
    force: Array,
    gap: Array,
    compliance: Array,
) -> tuple[Array, Array] | None:
    """dx and lambda of ``K dx - G^T lambda = f``, ``G dx + D lambda = -g`` (7.17); None: singular.

    Args:
        stiffness: K, shape (velocities,) * 2.
        matrix: G, rows that do not repeat others, shape (rows, velocities).
        force: f, without those of constraints, shape (velocities,).
        gap: g, shape (rows,).
        compliance: the diagonal of D, shape (rows,).
    """
    try:
        saddle = SaddlePoint(stiffness, matrix, compliance)
        change, pulls = saddle.solve(force, -gap)
        left = force - stiffness @ change - matrix.T @ pulls  # joints close to round-off of gaps, not of forces
        more = saddle.solve(left, compliance * pulls - gap - matrix @ change)
        change, pulls = change + more[0], pulls + more[1]
    except SingularMatrixError:  # of slack strings
        return None
    return (change, -pulls) if np.isfinite(change).all() and np.isfinite(pulls).all() else None


# Static equilibrium by Newton's method, for what a descent does not reach in useful time.
#
# Bodies that are far stiffer in some ways than in others, such as slender rods under large rotation: there a
# descent is held up in a narrow curved valley of the potential energy, and Newton's iterates pass beside it.
# Loads are raised.
#
# Strings that end up taut: the stress S of a string is an unknown beside x; forces balance with S, and
# ``W'(C) + W''(C) dC = S`` is demanded divided by W'' (docs/theory.md, 7). The stretch of a stiff cable, of which
# an iteration spoils the square of its step and round-off the last digits, then costs neither iterations nor digits
# of the shape; a slack one may start with any tension.

SETTLED = 1e-9  # motion in one iteration that does not become smaller any more: round-off is reached
NEUTRAL = 1e-11  # of the products of absolute values: a stiffness that is round-off
NEUTRAL_MOTION = 1e-10  # of the length of the model or radians, to which round-off may move it in an iteration
MOST = 10.0  # times the loads: the first stress of a shape that is too long

Stresses = dict[int, list[Array]]
"""W'(C) of each group of strains, by the number of the body."""


@dataclass(frozen=True)
class _Limits:
    """Of Newton's method; motions in one iteration in rad or of the length of the model.

    Attributes:
        iterations: at most.
        longest: larger motions are cut to it.
        small: smaller ones are the last.
    """

    iterations: int
    longest: float
    small: float


RAISED, TAUT = _Limits(ITERATIONS, LONGEST, 1e-9), _Limits(80, 0.3, 1e-12)


def _raised_equilibrium(
    system: System, state: State, kept: IntArray, friction: StickingFriction
) -> tuple[State, Array] | None:
    """The equilibrium under all loads by way of those under smaller shares, and its multipliers; None: not found.

    Args:
        system: what is loaded; gravity, loads and prescribed parts of force elements are raised.
        state: where it starts, at rest.
        kept: rows of G that do not repeat others.
        friction: that sticks.
    """
    with np.errstate(all="ignore"):
        share, found = raised(
            lambda aim, last: _solved(system, *last, kept, aim, RAISED, {}, friction),
            (state, np.zeros(int(system.layout.multiplier[-1]))),
        )
    return found if share == 1.0 else None


def _solved(
    system: System,
    state: State,
    multipliers: Array,
    kept: IntArray,
    share: float,
    limits: _Limits,
    stresses: Stresses,
    friction: StickingFriction,
) -> tuple[State, Array] | None:
    """The equilibrium under a share of the loads in which no string with a stress is compressed; None: not found.

    Args:
        system: what is loaded.
        state, multipliers: where Newton's method starts.
        kept: rows of G that do not repeat others.
        share: of the loads.
        limits: of the iterations.
        stresses: of strings that have some as unknowns, where they start; changed.
        friction: that sticks.
    """
    multipliers, last = multipliers.copy(), np.inf
    touching = OneSidedForces.of(system, 0.0)
    for _ in range(limits.iterations):
        at = system.at(state)
        matrix, gap = system.rows.matrix(at)[kept], system.rows.values(at)[0][kept]
        widths, misses, compliances = _stretches(system, state, stresses)
        bristles = friction.at(state, multipliers)
        applied = applied_forces(system, state, at, share) + bristles.forces
        stiffness = _stiffness(system, state, multipliers, share, stresses) + friction.stiffness(bristles)
        force = applied - body_forces(system, state, leave_out=stresses)
        demands = (
            sparse.csr_array(sparse.vstack([matrix, -widths.T])),
            force,
            np.concatenate([gap, misses]),
            np.concatenate([np.zeros(len(gap)), compliances]),
        )
        step = newton_step(stiffness, *demands)
        if step and (size := size_of_motion(system, step[0])) > limits.small:
            if shift := _shift_against_round_off(system, state, stiffness, force, step[0] / size):
                step = newton_step(sparse.csr_array(stiffness + shift * system.mass(state)), *demands)
        if step is None:
            return None
        change, answers = step
        multipliers[kept] = answers[: len(gap)]
        size = size_of_motion(system, change)
        part = min(1.0, limits.longest / max(size, 1e-300), touching.at(element_state(system, at)).part(change))
        _approach(stresses, answers[len(gap) :], part)
        state = displaced(system, state, part * change)
        if size < limits.small or (size < SETTLED and size >= 0.5 * last):
            is_taut = all((each >= 0).all() for groups in stresses.values() for each in groups)
            return (state, multipliers) if is_taut else None
        last = size
    return None


def _shift_against_round_off(
    system: System, state: State, stiffness: sparse.csr_array, force: Array, motion: Array
) -> float:
    """Shift s of ``K + s M`` [1/s^2] that stops a motion which only round-off drives; 0: forces drive it.

    Nothing holds the spin of a rod between two ball joints: K is singular there to round-off, and so is the
    quotient of force and stiffness. With the shift the motion stays below ``NEUTRAL_MOTION`` in each iteration.

    Args:
        system, state: of the iteration.
        stiffness, force: K and f.
        motion: its step x, of size 1.
    """
    size, work = np.abs(motion), abs(float(motion @ force))
    is_held = abs(motion @ (stiffness @ motion)) > NEUTRAL * (size @ (abs(stiffness) @ size))
    if is_held or work > ROUND_OFFS * (size @ round_off_of_forces(system, state, stiffness)):
        return 0.0
    return work / (NEUTRAL_MOTION * float(motion @ (system.mass(state) @ motion)))


def _stiffness(
    system: System, state: State, multipliers: Array, share: float = 1.0, stresses: Stresses | None = None
) -> sparse.csr_array:
    """Derivative of what bodies and joints resist with less a share of the loads; strings at given stresses."""
    blocks: dict[int, Matrix] = {}
    own: Array | Sequence[Matrix]
    for body, numbers in system.alike:
        if stresses and numbers[0] in stresses and isinstance(body, AbsoluteBody):
            groups = zip(body.strains, stresses[numbers[0]], strict=True)
            own = [sum(assembled_forms(body, group, group.weights * stress) for group, stress in groups)]
        else:
            own = of_bodies(system, state, np.array(numbers), partial(stiffness_matrix, body))
        blocks |= dict(zip(numbers, own, strict=True))
    elastic = sparse_diagonal(blocks[index] for index in range(len(system.bodies)))
    return sparse.csr_array(
        elastic - load_stiffness(system, state, share) - constraint_stiffness(system, state, multipliers)
    )


def _first_stresses(system: System, state: State) -> Stresses:
    """Of a tension that could carry all loads, or what the strings have, if that is not far more."""
    layout, applied, result = system.layout, np.abs(applied_forces(system, state, system.at(state))), Stresses()
    for index, placed in enumerate(system.bodies):
        body = placed.data
        if isinstance(body, AbsoluteBody) and body.strains:
            tension = (applied[layout.linear].sum() + applied[layout.place(index)].sum()) / 2
            q = system.elastic(state, index)
            result[index] = [
                np.clip(group.law.derivative(strains(body, group, q)), tension / 2, MOST * tension)
                for group in body.strains
            ]
    return result


def _stretches(system: System, state: State, stresses: Stresses) -> tuple[sparse.csr_array, Array, Array]:
    """Of all points of strings: columns w dC/dx, -w W'(C) / W''(C) and w / W''(C)."""
    size = int(system.layout.velocity[-1])
    columns, misses, compliances = [sparse.csr_array((size, 0))], [np.zeros(0)], [np.zeros(0)]
    for index in stresses:
        body, q, place = system.bodies[index].data, system.elastic(state, index), system.layout.place(index)
        assert isinstance(body, AbsoluteBody), "others have no stresses here"
        for group in body.strains:
            C, own = strains(body, group, q), strain_gradients(body, group, places(body, q))
            above = sparse.csr_array((place.start, own.shape[1]))
            below = sparse.csr_array((size - place.stop, own.shape[1]))
            columns.append(sparse.vstack([above, own * group.weights, below], format="csr"))
            compliances.append(group.weights / group.law.curvature(C))
            misses.append(-compliances[-1] * group.law.derivative(C))
    return sparse.csr_array(sparse.hstack(columns)), np.concatenate(misses), np.concatenate(compliances)


def _approach(stresses: Stresses, aims: Array, share: float) -> None:
    """Goes so far towards the stresses that were solved for, of one point after the other."""
    begin = 0
    for groups in stresses.values():
        for k, stress in enumerate(groups):
            groups[k] = stress + share * (aims[begin : begin + len(stress)] - stress)
            begin += len(stress)


# Static equilibrium by pseudo-transient continuation: an implicit gradient flow ending as Newton's method.
#
# Each iteration solves ``(K + mu M) dx - G^T lambda = f``, ``G dx = -g`` and lowers mu with the residual, so that
# the iterates fall towards a minimum of the potential energy and not to the nearest saddle. Models with rods try
# Newton's method first, with loads that are raised, and so do models with strings, with tensions as unknowns.

CONTINUATION_ITERATIONS = 400
GOAL, ACCEPTED = 1e-12, 1e-9
CLOSER = 100.0
"""So much better joints close than forces balance: the first step of a run, however short, closes what is open."""
LONGEST_CONTINUATION_TURN = 0.3  # of a body in one iteration [rad]
SMALLEST_SHIFT = 1e-14
HOPELESS = 60  # iterations in which contacts did not come nearer to a balance
MOST_SHIFTS = 40  # in one iteration
FALLING_ITERATIONS = 80  # from an unstable equilibrium
FALL = 0.03  # first motion away from an unstable equilibrium, in lengths of the model or radians
MOST_CAUTION = 1e6  # times the shift, where iterates turn back


def static_equilibrium(system: System, friction: StickingFriction, state: State) -> tuple[State, Array]:
    """The state at rest in which forces balance, near the given one, and its multipliers.

    Args:
        system: what is loaded, without contacts that are searched for.
        friction: that sticks; what creeps is left out.
        state: near which.

    Raises:
        EquilibriumError: none was found.
    """
    kept = independent_rows(system, state)
    if found := _by_newton(system, friction, state, kept):
        return _with_smallest(system, *found, kept)
    return _by_descent(system, friction, state, kept)


def _by_newton(
    system: System, friction: StickingFriction, state: State, kept: IntArray
) -> tuple[State, Array] | None:
    """Equilibrium of rods and strings and its multipliers; None: not found, or others."""
    found = None
    if system.mechanism.rods:
        found = _raised_equilibrium(system, state, kept, friction)
    if found is None and any(placed.is_string for placed in system.bodies):
        multipliers = np.zeros(int(system.layout.multiplier[-1]))
        found = _solved(system, state, multipliers, kept, 1.0, TAUT, _first_stresses(system, state), friction)
    return found


def _by_descent(
    system: System,
    friction: StickingFriction,
    state: State,
    kept: IntArray,
    iterations: int = CONTINUATION_ITERATIONS,
) -> tuple[State, Array]:
    """Equilibrium of any bodies, see ``static_equilibrium``; ``kept``: rows of G that do not repeat others."""
    length = system.largest_length
    multipliers = np.zeros(int(system.layout.multiplier[-1]))
    start = first = best = 0.0
    caution, improved, has_turned, before = 1.0, 0, False, np.zeros(int(system.layout.velocity[-1]))
    best_state, best_multipliers = state, multipliers.copy()
    mass = _metric(system, state)
    weight = 1 / np.sqrt(mass.diagonal())
    load = float(np.abs(weights_and_loads(system, system.at(state))[system.layout.linear]).sum())
    touching = OneSidedForces.of(system, load)
    for iteration in range(iterations):
        at = system.at(state)
        matrix = system.rows.matrix(at)
        bristles = friction.at(state, multipliers)
        applied, gap = applied_forces(system, state, at) + bristles.forces, system.rows.values(at)[0]
        force = applied - body_forces(system, state)
        given = weights_and_loads(system, at)  # without springs, which may balance them alone
        parts = (applied, given, body_forces(system, state, gross_force), matrix.T @ multipliers)
        stiffness = _stiffness(system, state, multipliers) + friction.stiffness(bristles)
        size = max(float(np.linalg.norm(weight * each)) for each in parts)
        round_off = float(np.linalg.norm(weight * round_off_of_forces(system, state, stiffness)))
        size = max(size, round_off / ACCEPTED)
        balance = float(np.linalg.norm(weight * (force + matrix.T @ multipliers)))
        open_by = float(system.relative_gaps(gap).max(initial=0.0))
        residual = max(balance / size if size else 0.0, open_by)
        missed = max(residual, CLOSER * open_by)
        if iteration == 0:
            first = max(residual, 1e-3) if size else 1.0
            start = float(np.linalg.norm(weight * force) / np.sqrt(mass.diagonal().max())) / (0.1 * length)
        if iteration == 0 or missed < best:
            best, best_state, best_multipliers, improved = missed, state, multipliers.copy(), iteration
        is_balanced = balance <= round_off and CLOSER * open_by < GOAL  # without loads before the first step
        is_settled = best < GOAL or (best < ACCEPTED and missed > best)
        is_hopeless = iteration > improved + HOPELESS
        if size == 0 or is_balanced or (iteration and is_settled) or is_hopeless:
            break
        ones = touching.at(element_state(system, at))
        if not ones.touch:  # on the way forces need not become smaller
            improved, caution = iteration, 1.0
        elif iteration > improved and has_turned:  # some poses may take turns with smaller shifts
            caution = min(4.0 * caution, MOST_CAUTION)
        else:
            caution = max(1.0, caution / 2.0)
        shift = caution * max(start * min(1.0, residual / first) ** 1.5, SMALLEST_SHIFT * start)
        step = _falling_step(ones, stiffness, force, (matrix[kept], gap[kept]), mass, (shift, 1e-6 * start))
        change = np.full(len(force), np.nan)  # if all steps are singular
        if step:
            change, multipliers[kept] = step
        if iteration == 0 and friction.follows_joints.any():  # what it holds is known from now on
            continue
        part = min(1.0, LONGEST_CONTINUATION_TURN / max(size_of_motion(system, change), 1e-300))
        part = min(part, ones.part(change))
        has_turned, before = bool(change @ (mass @ before) < 0), change
        state = displaced(system, state, part * change)
    if not best <= ACCEPTED:
        forces = system.forces
        slides = any(f.contact is not None and f.friction is None for _, f in forces)
        raise EquilibriumError(
            f"no static equilibrium found near the given pose: forces miss balance by {100 * best:.2g} % of their"
            " size; nothing may hold the model against its loads, or the pose is far away (give state=)"
            + "; friction with bristle=0, which equilibria leave out, holds nothing"
            * any(f.friction is not None and f.friction.bristle is None for _, f in forces)
            + "; friction that sticks holds no more than it can: give more of it, or state= nearer to rest"
            * bool(friction.count)
            + "; what touches without friction slides off all that leans, as a box does that lies aside on another:"
            " give friction=, or hold it by a joint or spring" * slides
        )
    return _with_smallest(system, best_state, best_multipliers, kept)


def _metric(system: System, state: State) -> sparse.csr_array:
    """Positive definite matrix in which motions are measured: masses, of long bodies without the part of the centre
    of mass, which would couple all of their coordinates."""
    blocks: list[Matrix] = []
    for index in range(len(system.bodies)):
        body = system.frames[index] if index < system.layout.frames else None
        if body is not None and isinstance(moments := body.second_moments, LocalMoments):
            body = replace(body, second_moments=replace(moments, taken=np.zeros_like(moments.taken)))
            blocks.append(mass_matrix(body, system.elastic(state, index)))
        else:
            blocks.append(system.body_mass(state, index))
    return sparse_diagonal(blocks)


def _falling_step(
    ones: OneSidedStep,
    stiffness: sparse.csr_array,
    force: Array,
    rows: tuple[sparse.csr_array, Array],
    mass: sparse.csr_array,
    shifts: tuple[float, float],
) -> tuple[Array, Array] | None:
    """A step along which the potential energy falls, if there is one, and its multipliers; None: all are singular.

    Args:
        ones: what pushes on one side.
        stiffness, force: at the pose.
        rows: G and g of joints.
        mass: M.
        shifts: times M to begin with, and the least one after that.
    """
    (matrix, gap), (shift, least), found = rows, shifts, None
    for _ in range(MOST_SHIFTS):

        def solved(K: sparse.csr_array, f: Array, shift: float = shift) -> tuple[Array, Array] | None:
            return newton_step(sparse.csr_array(K + shift * mass), matrix, f, gap, np.zeros(len(gap)))

        if more := ones.solve(stiffness, force, solved):
            (change, _), resisting = found = more
            if change @ (resisting @ change + shift * (mass @ change)) >= 0:
                break
        shift = max(4 * shift, least)
    return found[0] if found else None


def _with_smallest(system: System, state: State, multipliers: Array, kept: IntArray) -> tuple[State, Array]:
    """With the smallest multipliers where joints are redundant."""
    if len(kept) < len(multipliers):
        multipliers = smallest_multipliers_at(system, state, multipliers)
    return state, multipliers


# What a model is linearized about: the given pose, a static equilibrium, a steady rotation.

STEADY = 1e-6
BALANCED = 1e-5  # of the forces on a body; an angle of 1.5708 for pi / 2 leaves 4e-6
ROUND_OFFS = 100.0  # times ``round_off_of_forces``, of which a few are typical


class OperatingKind(StrEnum):
    """GIVEN: the initial pose or a state, at rest, where gravity, loads and joints must balance. UNLOADED: the same
    pose without gravity, loads and preload. STATIC: the equilibrium that gravity, loads and joints have near it.
    STEADY_ROTATION: the rigid rotation of the initial velocities, with the deformation that it keeps up.
    """

    GIVEN = "given"
    UNLOADED = "unloaded"
    STATIC = "static"
    STEADY_ROTATION = "steady_rotation"


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """A state and the joint forces in it.

    Attributes:
        kind: what balances what.
        state: with deta/dt = 0 and constant nu.
        multipliers: shape (rows,); zero for ``UNLOADED``.
        friction: that sticks, from where it counts; None: nothing does.
        pairs: contacts among many there; None: there are none.
    """

    kind: OperatingKind
    state: State
    multipliers: Array
    friction: StickingFriction | None = None
    pairs: PairsAtRest | None = None

    @cached_property
    def bristles(self) -> BentBristles:
        """What bristles do there."""
        assert self.friction is not None, "there is some"
        return self.friction.at(self.state, self.multipliers)

    @cached_property
    def sticks(self) -> BoolArray:
        """Which of them hold small motions, shape (bristles,)."""
        if self.friction is None:
            return np.zeros(0, dtype=bool)
        sticks = self.friction.sticks(self.bristles, self.is_balanced)
        is_first = self.kind is OperatingKind.STATIC and self.pairs is None
        return sticks if is_first else sticks & ~self.friction.has_slipped

    @cached_property
    def pair_tangents(self) -> Tangents:
        """Stiffness and damping of contacts among many."""
        if self.pairs is None:
            return Tangents.nothing(len(self.state.velocity))
        return self.pairs.tangents(self.state, self.is_balanced)

    @cached_property
    def bristle_tangents(self) -> Tangents:
        """Stiffness and damping of friction that sticks."""
        if self.friction is None or not self.friction.count:
            return Tangents.nothing(len(self.state.velocity))
        return self.friction.tangents(self.bristles, self.sticks, self.is_balanced)

    @property
    def is_balanced(self) -> bool:
        """Whether gravity, loads and joints balance there at rest."""
        return self.kind in (OperatingKind.GIVEN, OperatingKind.STATIC)

    @property
    def held_rows(self) -> list[tuple[int, float, Array]]:
        """Of each bristle that sticks the number of its force, k, and the motions that bend it, by rows."""
        if self.friction is None or not self.sticks.any():
            return []
        return self.friction.independent_rows(self.bristles, self.sticks)

    @property
    def slipped(self) -> tuple[str, ...]:
        """Names of the elements whose friction holds no more than it does."""
        pairs = () if self.pairs is None else self.pairs.slipped(self.state)
        if self.friction is None:
            return pairs
        lets_go = self.bristles.slips | ((self.kind is not OperatingKind.STATIC) & self.friction.has_slipped)
        known = np.flatnonzero(lets_go & (self.bristles.limits > 0))
        return (*(self.friction.names[own] for own in known), *pairs)


def operating_point(system: System, kind: OperatingKind, state: State | None) -> OperatingPoint:
    """The point, with closed joints; from ``state`` where one is given, else from the initial pose.

    Raises:
        ModelError: no bodies, or a state of another model.
        JointGapError, RedundancyError: joints that are open, or constrain the same motion twice.
        EquilibriumError: forces that do not balance at the given pose, no static equilibrium, or a motion that is
            no steady rotation.
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
    resting = replace(pose, velocity=np.zeros_like(pose.velocity), branches=None)  # relaxed
    check_redundancy(system, resting)
    if searched_contacts(system.mechanism):
        return _among_many(system, kind, pose)
    friction = StickingFriction.of(system, pose)
    if kind is OperatingKind.STATIC:
        return _at_rest(system, friction, resting)
    return _at_pose(kind, system, friction, resting)


def _among_many(system: System, kind: OperatingKind, pose: State) -> OperatingPoint:
    """Operating point at rest of a model with contacts among many.

    Raises:
        EquilibriumError: none was found.
    """
    is_redundant = len(independent_rows(system, pose)) < int(system.layout.multiplier[-1])
    pairs = PairsAtRest(system, is_redundant)
    rest = pairs.relaxed(pose)
    if kind is OperatingKind.STATIC:
        at, pushes = system.at(rest), pairs.forces(rest)
        net = applied_forces(system, rest, at) - body_forces(system, rest) + pushes
        force = np.abs(net) + np.abs(weights_and_loads(system, at)) + np.abs(pushes)
        accelerations = (force / system.mass(rest).diagonal())[system.layout.linear]
        with one_blas_thread():
            without_losses = PairsAtRest(system, is_redundant, has_losses=False)
            rest = without_losses.settled(rest, float(accelerations.max(initial=0.0)))
    point = _at_pose(kind, system, StickingFriction.of(system, rest), rest, pairs)
    return replace(point, kind=kind) if kind is OperatingKind.STATIC else point


def _at_pose(
    kind: OperatingKind,
    system: System,
    friction: StickingFriction,
    resting: State,
    pairs: PairsAtRest | None = None,
) -> OperatingPoint:
    """The pose itself, with the multipliers of the joints there; UNLOADED also where no force acts.

    Raises:
        EquilibriumError: forces that do not balance, of a point with all forces.
    """
    at, multipliers = system.at(resting), np.zeros(int(system.layout.multiplier[-1]))
    unloaded = OperatingPoint(OperatingKind.UNLOADED, resting, multipliers, friction, pairs)
    if kind is OperatingKind.UNLOADED:
        return unloaded
    pushes = np.zeros(len(resting.velocity)) if pairs is None else pairs.forces(resting)
    gross = _gross_forces(system, resting, at) + abs(friction.at(resting, multipliers).forces) + abs(pushes)
    if not gross.any():
        return unloaded
    round_off = ROUND_OFFS * round_off_of_forces(system, resting, _stiffness(system, resting, multipliers))
    if pairs is not None:
        round_off += pairs.round_off(resting)
    if (gross <= round_off).all():
        return unloaded
    kept, mass = independent_rows(system, resting), system.mass(resting)
    rows = system.rows.matrix(at)[kept]
    saddle = SaddlePoint(mass, rows, scale=natural_scale(mass))
    applied = applied_forces(system, resting, at) - body_forces(system, resting) + pushes
    multipliers[kept] = -saddle.solve(applied)[1]  # on which friction may depend
    applied += friction.at(resting, multipliers).forces
    acceleration, pulls = saddle.solve(applied)
    multipliers[kept] = -pulls
    _check_balance(system, mass, mass @ acceleration, gross + abs(rows.T) @ abs(pulls), round_off)
    _, multipliers = _with_smallest(system, resting, multipliers, kept)
    return OperatingPoint(kind, resting, multipliers, friction, pairs)


def _gross_forces(system: System, state: State, at: Instants) -> Array:
    """Sum of the absolute values of gravity, loads, element forces and elastic forces, shape (velocities,)."""
    total = abs(gravity_forces(system)) + abs(body_forces(system, state, gross_force))
    for vectors, forces in load_forces(system, at):
        total += abs(vectors.jacobian(at).T) @ abs(forces).ravel()
    if system.forces:
        elements = element_state(system, at)
        prescribed = prescribed_parts(system, at)
        total += abs(elements.rows.T) @ abs(
            element_pulls(system, elements, elements.theta, state.velocity, prescribed)
        )
    return np.asarray(total)


def _check_balance(system: System, mass: sparse.csr_array, rest: Array, gross: Array, round_off: Array) -> None:
    """Refuse forces ``rest`` that are not small against all forces ``gross`` on a body.

    Raises:
        EquilibriumError: names the body where their share is largest, and their resultant.
    """
    layout, weight, worst, share = system.layout, natural_scale(mass), 0, 0.0
    everywhere = GOAL * float(np.linalg.norm(weight * gross))
    for index in range(len(system.bodies)):
        own = layout.place(index)
        left, size, allowed = (float(np.linalg.norm((weight * each)[own])) for each in (rest, gross, round_off))
        if left > BALANCED * size + allowed + everywhere and left / max(size, left) > share:
            worst, share = index, left / max(size, left)
    if not share:
        return
    d, missing = system.dimension, []
    for each in (rest[layout.place(worst)], gross[layout.place(worst)]):
        if worst < layout.frames:
            parts = [each[:d], each[d : system.frames[worst].rigid_count]]
        else:
            parts = [each.reshape(-1, d).sum(axis=0)]
        missing.append([float(np.linalg.norm(part)) for part in parts])
    amounts = [
        f"{size:.3g} {unit}"
        for size, whole, unit in zip(*missing, ("N", "N m"), strict=False)
        if size > BALANCED * whole
    ]
    what = " and ".join(amounts) or "forces that deform it"
    raise EquilibriumError(
        "gravity, loads and springs do not balance at the given pose:"
        f" {what} on {system.bodies[worst].name} stay without reaction"
        f' ({100 * share:.3g} % of the forces on it); take at="static" for the equilibrium near this pose'
        ' (equilibrium() shows it), or at="unloaded" for the pose without gravity, loads and preload'
    )


def _at_rest(system: System, friction: StickingFriction, resting: State) -> OperatingPoint:
    """The static equilibrium; where friction lets go, what is kinetic holds in the next try.

    Raises:
        EquilibriumError: none was found.
    """
    while True:
        with one_blas_thread():
            found, multipliers = static_equilibrium(system, friction, resting)
        bristles = friction.at(found, multipliers)
        slips = bristles.slips & (bristles.limits > 0)
        lets_go, friction = (slips & friction.grips & ~friction.has_slipped).any(), friction.letting_go(slips)
        if not lets_go:
            return OperatingPoint(OperatingKind.STATIC, bristles.state, multipliers, friction)


def fallen_point(system: System, point: OperatingPoint, change: Array) -> OperatingPoint | None:
    """Minimum of the potential energy below an unstable equilibrium; None: none was found.

    Args:
        system: without friction and without contacts that are searched for.
        point: the unstable equilibrium.
        change: a motion along which the energy falls, shape (velocities,).
    """
    assert point.friction is not None, "static equilibria have it"
    state = displaced(system, point.state, FALL / size_of_motion(system, change) * change)
    try:
        with one_blas_thread():
            kept = independent_rows(system, point.state)
            found = _by_descent(system, point.friction, state, kept, FALLING_ITERATIONS)
    except EquilibriumError:
        return None
    return replace(point, state=found[0], multipliers=found[1])


def _steady_rotation(system: System, pose: State) -> OperatingPoint:
    motion = quasi_static_motion(system, with_initial_velocity(system, pose))
    speed = np.abs(motion.state.velocity).max(initial=0.0)
    change, length = _change_in_body_axes(system, motion), system.largest_length
    if change > STEADY * max(speed, speed / length) * max(speed, speed / length, speed * length):
        raise EquilibriumError(
            "the initial motion is no steady rotation: rigid velocities would change at "
            f"{change:.3g} m/s2 or rad/s2; give velocities of one rotation that joints and loads keep up"
        )
    if searched_contacts(system.mechanism) and PairsAtRest(system, False).forces(motion.state).any():
        raise EquilibriumError(
            'at="steady_rotation": bodies of a contact among many touch in the rotation, which is not linearized;'
            " give each pair that touches as a contact of two"
        )
    friction = StickingFriction.of(system, motion.state)
    return OperatingPoint(OperatingKind.STEADY_ROTATION, motion.state, motion.multipliers, friction)


def _change_in_body_axes(system: System, motion: QuasiStaticMotion) -> float:
    """Largest rate of V, w and deta/dt as seen in the turning body."""
    layout, change = system.layout, motion.acceleration.copy()
    linear, spin = split_rigid(layout, motion.state.velocity[None])
    for index in range(layout.frames):
        turning = np.cross(motion.state.rotation[index] @ spin[0, index], linear[0, index])
        change[layout.linear[index]] -= turning[: system.dimension]
    return float(np.abs(change).max(initial=0.0))
