"""A whole mechanism as one port-Hamiltonian model with multipliers (docs/theory.md, 1)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array, IntArray, option
from phlexible.bodies.mechanics.floating import kept_velocities, split_velocity
from phlexible.description.interactions.contact import Contacts
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.functions import AXES
from phlexible.description.interactions.loads import PointLoad
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.ports import PlacedBody
from phlexible.description.time_functions import Timed
from phlexible.errors import ModelError, ParameterError
from phlexible.papers.compiled_bodies import CompiledBody
from phlexible.papers.floating_forms import BodyState, FloatingBodyForm, Variant
from phlexible.port_hamiltonian.model import Port, PortHamiltonianModel, StateBlock
from phlexible.state.forces import (
    body_triad,
    element_state,
    forces_of,
    loaded_vectors,
    needs_triad,
    prescribed_part,
)
from phlexible.state.functions import ConstraintSet, timed_values
from phlexible.state.initial_state import initial_state
from phlexible.state.instants import GivenFunctions, Instants
from phlexible.state.layout import State
from phlexible.state.small_motions import centred_motions, world_motions
from phlexible.state.system import System, system_of
from phlexible.step.tables.declarations import GIVEN, MOVING

# Joints of a mechanism as products: G nu and G^T lambda of many states, in the papers' coordinates.
#
# Every joint function is a sum of products of world vectors x = r + R rho (docs/theory.md, 8); with r and rho
# about the reference point, v and w in body axes, ``dx/dt = R (v + w x rho + P deta/dt)``. Nothing else is needed.

KEPT_TIMES = 64


@dataclass(frozen=True, eq=False)
class BodyMotions:
    """T states of f bodies.

    Attributes:
        time: shape (T,) [s].
        position, rotation: of the reference points, shapes (T, f, 3) and (T, f, 3, 3).
        displacement: eta of all bodies, flat, shape (T, sum n).
    """

    time: Array
    position: Array
    rotation: Array
    displacement: Array


@dataclass(frozen=True, eq=False)
class _Given:
    """What moves by itself at one time: places and rates of vectors, factors and offsets with their rates."""

    places: Array
    rates: Array
    factors: Array
    factor_rates: Array
    offset_rates: Array


class JointProducts:
    """The joint functions of a system of floating bodies.

    Args:
        system: with the functions.
    """

    def __init__(self, system: System) -> None:
        functions, layout = system.rows, system.layout
        if isinstance(functions, ConstraintSet):
            raise ModelError(f"{system.mechanism.relations[0]} relates joints, which has no reference integrator")
        vectors = functions.set.vectors
        self._functions, self._system = functions, system
        self._known: dict[float, _Given] = {}
        carriers = np.array([vector.carrier for vector in vectors], dtype=np.int64)
        self._on: IntArray = np.flatnonzero(carriers >= 0)
        self._body: IntArray = carriers[self._on]
        self._is_point = np.array([float(vectors[k].is_point) for k in self._on])[:, None]
        total = int(layout.eta[-1])
        self._base, self._shapes = np.zeros((len(self._on), 3)), np.zeros((len(self._on), 3, total))
        for place, k in enumerate(self._on):
            vector, body = vectors[k], int(carriers[k])
            own = slice(int(layout.eta[body]), int(layout.eta[body + 1]))
            centre = system.centres[body] if vector.is_point else np.zeros((3, own.stop - own.start + 1))
            self._base[place] = vector.base + centre[:, 0]
            self._shapes[place, :, own] = vector.shapes + centre[:, 1:]
        self._flat = self._shapes.reshape(3 * len(self._on), total)
        self._chords = np.zeros((len(functions.chords), len(vectors)))
        for number, parts in enumerate(functions.chords):
            for weight, vector_number in parts:
                self._chords[number, vector_number] += weight
        terms = [(m, *term) for m, each in enumerate(functions.functions) for term in each]
        self._owner = np.array([term[0] for term in terms], dtype=np.int64)
        self._first = np.array([term[2] for term in terms], dtype=np.int64)
        self._second = np.array([term[3] for term in terms], dtype=np.int64)
        self._timed = [(term[1], term[4]) for term in terms]
        self._bodies = np.zeros((layout.frames, len(self._on)))
        self._bodies[self._body, np.arange(len(self._on))] = 1.0

    def rates(self, at: BodyMotions, v: Array, w: Array, elastic: Array) -> Array:
        """G nu of velocities v, w (T, f, 3) in body axes and deta/dt (T, sum n), shape (T, functions)."""
        y, given = self._chord_values(at), self._factors(at.time)[0]
        local = self._local(at.displacement)
        inner = self._is_point * v[:, self._body] + _cross(w[:, self._body], local) + self._spread(elastic)
        moved = np.zeros((len(v), self._chords.shape[1], 3))
        moved[:, self._on] = (at.rotation[:, self._body] @ inner[..., None])[..., 0]
        return self._change(y, self._chords @ moved, given)

    def drift(self, at: BodyMotions) -> Array:
        """g_t, what moving frames and paths add to the rates, shape (T, functions)."""
        y = self._chord_values(at)
        factors, rates = self._factors(at.time)
        given = [self._at(float(t)) for t in at.time]
        moved = self._chords @ np.array([each.rates for each in given])
        result = self._change(y, moved, factors)
        products = rates * (y[:, self._first] * y[:, self._second]).sum(axis=-1)
        for m, product in zip(self._owner, products.T, strict=True):
            result[:, m] += product
        return np.asarray(result - np.array([each.offset_rates for each in given]))

    def forces(self, at: BodyMotions, multipliers: Array) -> tuple[Array, Array, Array]:
        """G^T lambda on v and w, (T, f, 3), and on eta, (T, sum n)."""
        y = self._chord_values(at)
        pulls = (self._factors(at.time)[0] * multipliers[:, self._owner])[..., None]
        on_chords = np.zeros_like(y)
        for p, (a, b) in enumerate(zip(self._first, self._second, strict=True)):
            on_chords[:, a] += pulls[:, p] * y[:, b]
            on_chords[:, b] += pulls[:, p] * y[:, a]
        world = (self._chords.T @ on_chords)[:, self._on]
        local = (world[..., None, :] @ at.rotation[:, self._body])[..., 0, :]
        moments = _cross(self._local(at.displacement), local)
        elastic = local.reshape(len(y), -1) @ self._flat
        return self._bodies @ (self._is_point * local), self._bodies @ moments, elastic

    def _change(self, y: Array, dy: Array, factors: Array) -> Array:
        a, b = self._first, self._second
        change = factors * (dy[:, a] * y[:, b] + y[:, a] * dy[:, b]).sum(axis=-1)
        result = np.zeros((len(y), self._functions.count))
        for m, each in zip(self._owner, change.T, strict=True):
            result[:, m] += each
        return result

    def _local(self, displacement: Array) -> Array:
        return np.asarray(self._base + self._spread(displacement))

    def _spread(self, displacement: Array) -> Array:
        return np.asarray((displacement @ self._flat.T).reshape(len(displacement), len(self._on), 3))

    def _chord_values(self, at: BodyMotions) -> Array:
        places = np.array([self._at(float(t)).places for t in at.time])
        turned = (at.rotation[:, self._body] @ self._local(at.displacement)[..., None])[..., 0]
        places[:, self._on] = turned + self._is_point * at.position[:, self._body]
        return np.asarray(self._chords @ places)

    def _factors(self, times: Array) -> tuple[Array, Array]:
        given = [self._at(float(t)) for t in times]
        return np.array([each.factors for each in given]), np.array([each.factor_rates for each in given])

    def _at(self, time: float) -> _Given:
        """What moves by itself at a time: asked once, since stages come back to their times."""
        if time not in self._known:
            if len(self._known) == KEPT_TIMES:
                self._known.pop(next(iter(self._known)))
            self._known[time] = self._asked(time)
        return self._known[time]

    def _asked(self, time: float) -> _Given:
        functions = self._functions
        given = GivenFunctions(self._system.moving_frames, self._system.paths, np.array([time]))
        vectors = functions.set.vectors
        places, rates = np.zeros((2, len(vectors), 3))
        for k, vector in enumerate(vectors):
            if vector.carrier == GIVEN:
                places[k] = vector.base
            elif vector.carrier == MOVING and vector.is_point:
                places[k], rates[k] = given.frames[0, vector.frame], given.frame_velocities[0, vector.frame]
            elif vector.carrier == MOVING:
                places[k] = given.frame_rotations[0, vector.frame] @ vector.base
                rates[k] = np.cross(given.frame_angular_velocities[0, vector.frame], places[k])

        def values(pairs: Sequence[tuple[float, Timed | None]], constant: float) -> Array:
            """Value and rate of each, shape (2, pairs)."""
            found = [
                (constant * c, 0.0) if timed is None else self._timed_at(given, c, timed) for c, timed in pairs
            ]
            return np.array(found).reshape(len(pairs), 2).T

        factors, factor_rates = values(self._timed, 1.0)
        offset_rates = values([(1.0, each) for each in functions.offsets], 0.0)[1]
        return _Given(places, rates, factors, factor_rates, offset_rates)

    def _timed_at(self, given: GivenFunctions, c: float, timed: Timed) -> tuple[float, float]:
        column = next(i for i, path in enumerate(self._functions.paths) if path is timed.path)
        factor = timed.factor
        p, dp = given.paths[:, column], given.path_rates[:, column]
        value, rate, _ = timed_values(factor, p, dp, np.zeros_like(p))
        return c * float(value[0]), c * float(rate[0])


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[..., NEXT] * b[..., AFTER] - a[..., AFTER] * b[..., NEXT])


NEXT, AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])


# Force elements of a mechanism as parts of its port-Hamiltonian model: storages, rows, inputs.

CLOSE = 1e-6


class ElementForms:
    """The scalar forces of a mechanism; each has its coordinate theta as a state.

    Args:
        system: with the elements.

    Attributes:
        prescribed: names of the elements with a prescribed part.
        active: their numbers.
        dampings: of all forces, shape (forces,).

    Raises:
        ModelError: a controller, which is no function of time.
    """

    def __init__(self, system: System) -> None:
        self._system = system
        self._forces = [force for _, force in system.forces]
        for element in system.mechanism.elements:
            if isinstance(element, Contacts):
                raise ModelError(f"{element} has no force along a coordinate; write a Contact for each pair")
            if isinstance(element.value, Feedback):
                raise ModelError(f"{element} is a controller; the model has its torque as an input instead")
        for element, force in system.forces:
            if force.friction or (force.contact and force.contact.damping):
                raise ModelError(f"{element} loses energy by a law that has no place in R; only dampers do")
            if force.relaxation:
                raise ModelError(
                    f"{element} creeps, and the papers' mechanisms have no states for that; leave it out"
                )
        self.prescribed = tuple(str(element) for element in system.mechanism.elements if element.is_active)
        self.dampings = np.array([force.damping for force in self._forces], dtype=np.float64)
        self.active = [k for k, force in enumerate(self._forces) if force.value != 0]

    @property
    def count(self) -> int:
        """Number of scalar forces."""
        return len(self._forces)

    def thetas(self, at: Instants) -> Array:
        """Their coordinates, angles between -pi and pi, shape (forces,)."""
        return element_state(self._system, at).theta if self._forces else np.zeros(0)

    def rates(self, at: Instants) -> tuple[Array, Array]:
        """d theta/d nu of all forces, shape (forces, velocities), and what moving frames add, shape (forces,)."""
        if not self._forces:
            return np.zeros((0, int(self._system.layout.velocity[-1]))), np.zeros(0)
        state = element_state(self._system, at)
        return np.asarray(state.rows.toarray()), state.drifts

    def inputs(self, time: float, drifts: Array) -> Array:
        """The prescribed parts."""
        for force, drift in zip(self._forces, drifts, strict=True):
            if force.damping and drift:
                raise ModelError(f"a damper on a moving frame ({force.coordinate.name}) has no place in R")
        return np.array([prescribed_part(self._forces[k], time) for k in self.active], dtype=np.float64)

    def slopes(self, thetas: Array) -> Array:
        """dU/dtheta of each force."""
        pairs = zip(self._forces, thetas, strict=True)
        return np.array([-force.conservative(float(theta)) for force, theta in pairs], dtype=np.float64)

    def secants(self, before: Array, after: Array) -> Array:
        """(U(after) - U(before)) / (after - before) of each force; dU/dtheta between them where they are close."""
        result = self.slopes((before + after) / 2)
        for k, (force, a, b) in enumerate(zip(self._forces, before, after, strict=True)):
            if abs(b - a) > CLOSE * max(abs(a), abs(b)):
                result[k] = (force.energy(float(b)) - force.energy(float(a))) / (b - a)
        return result

    def energy(self, thetas: Array) -> float:
        """U of all forces [J]."""
        return sum(force.energy(float(theta)) for force, theta in zip(self._forces, thetas, strict=True))


# A whole mechanism as one port-Hamiltonian model with multipliers (docs/theory.md, 1).
#
# Section 5 of Brugnoli et al. (2020).


@dataclass(frozen=True, eq=False)
class _Pose:
    """What the matrices at one x have in common.

    Attributes:
        state: of the mechanism, with the velocity of the system.
        at: the state as instants.
        motion: nu of the system from the papers' velocities.
        springs: d theta/d nu of the force elements from the papers' velocities, shape (forces, velocities).
        drifts: what moving frames add to d theta/dt, shape (forces,).
    """

    state: State
    at: Instants
    motion: Array
    springs: Array
    drifts: Array


CLOCK, DRIVES, TIME, MULTIPLIERS = "clock", "drives", "time", "multipliers"
COORDINATES, FRAMES = "coordinates", "frames of springs"


class MechanismModel(PortHamiltonianModel):
    """The bodies in full form, joined by velocity constraints; quasi-linear, of index 2 ((42)).

    With G of dg/dt = G nu + g_t the joints are transformers to the ground and to each other::

        E = diag(E_bodies, 1, 0)      J = [[J_bodies, 0, G^T], [0, 0, 0], [-G, 0, 0]]

    States: those of the bodies (``coupler.position``, ...), the time [s], whose rate is the input of the
    port ``clock`` (1, without power), the coordinates theta of force elements, and the multipliers
    lambda. A spring is a storage joined by a transformer, dtheta/dt = row nu and the force -row^T dU/dtheta;
    a damper is in R. Ports: clock; ``drives`` with u = -g_t of drives and moving frames and y = lambda (49);
    ``frames of springs``, what moving frames add to dtheta/dt; one for each load on an attachment, of which
    a distributed force has many, and each prescribed force of an element. ``inputs`` gives all of them.

    Joints hold at the velocity level only: positions drift with the error of the scheme. Matrices are
    dense: this is for reading and for checks.

    Args:
        mechanism: a model, or bodies, joints and loads; later changes to it are not seen.
        variant: of the bodies, see ``body.port_hamiltonian``: "full", or, to draw the papers' figures beside the
            right ones, "zeroth_order" and (in the plane) "printed"; joints hold at the deformed points in all.

    Raises:
        ModelError: a string, which has no frame.
        ParameterError: no such variant, or "constant_mass", whose elastic velocity is not that of the joints.
    """

    def __init__(self, mechanism: Mechanism, variant: str = "full") -> None:
        if not isinstance(mechanism, Mechanism):
            raise ParameterError(f"mechanism must be a Model, got {mechanism!r}")
        self.mechanism = mechanism
        self.variant = option("variant", variant, Variant)
        if self.variant is Variant.CONSTANT_MASS:
            raise ParameterError('variant of a mechanism must be "full", "zeroth_order" or "printed"')
        self.system = system_of(mechanism)
        self.layout = self.system.layout
        self.forms = tuple(self._form(placed) for placed in mechanism.bodies)
        rows = int(self.layout.multiplier[-1])
        blocks = [
            StateBlock(f"{placed.name}.{block.name}", block.unit, block.size)
            for placed, form in zip(mechanism.bodies, self.forms, strict=True)
            for block in form.states
        ]
        self.elements = ElementForms(self.system)
        springs = self.elements.count
        self.states = (
            *blocks,
            StateBlock(TIME, "s", 1),
            StateBlock(COORDINATES, "", springs),
            StateBlock(MULTIPLIERS, "", rows),
        )
        self.ports = (
            Port(CLOCK, "1", "W", 1),
            Port(DRIVES, "", "", rows),
            Port(FRAMES, "", "", springs),
            *(Port(f"{k}: {load}", "", "", 3) for k, load in enumerate(self.system.loads, start=1)),
            *(Port(f"{k}: {name}", "", "", 1) for k, name in enumerate(self.elements.prescribed, start=1)),
        )
        sizes = [form.state_size for form in self.forms]
        self._last: tuple[bytes, _Pose] | None = None
        self._joints = JointProducts(self.system)
        self._compiled = tuple(CompiledBody(form) for form in self.forms)
        self._offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._velocities = np.concatenate(
            [
                np.arange(offset, offset + form.state_size)[_velocity_slice(form)]
                for offset, form in zip(self._offsets[:-1], self.forms, strict=True)
            ]
        )

    def joined(self, state: State) -> Array:
        """x of a state of the mechanism, with the stress that belongs to eta and multipliers 0.

        The papers' position and velocity are those of the reference point, the velocity in body axes (2.7).
        """
        parts: list[Array] = []
        for index, form in enumerate(self.forms):
            eta, centre = self.system.elastic(state, index), self.system.centres[index]
            V, w, rate = split_velocity(form.body, state.velocity[self.layout.place(index)])
            place, turn = centre @ np.concatenate([[1.0], eta]), state.rotation[index]
            v = turn.T @ V - np.cross(w, place) - centre[:, 1:] @ rate
            stress = form.stress_space.stress(eta)
            body = BodyState(state.position[index] - turn @ place, turn, eta, v, w, rate, stress)
            parts.append(form.joined(body))
        thetas = self.elements.thetas(self.system.at(state))
        return np.concatenate([*parts, [state.time], thetas, np.zeros(int(self.layout.multiplier[-1]))])

    @cached_property
    def initial_state(self) -> Array:
        """x at t = 0: the pose of the mechanism, with velocities that its joints and drives allow."""
        return self.joined(initial_state(self.system))

    def split(self, x: Array) -> State:
        """The state of the mechanism, without stress and multipliers."""
        states = [form.split(part) for form, part in zip(self.forms, self._parts(x), strict=True)]
        etas = [state.displacement for state in states]
        places = [c @ np.concatenate([[1.0], eta]) for c, eta in zip(self.system.centres, etas, strict=True)]
        state = State(
            time=float(x[self._offsets[-1]]),
            position=np.array([s.position + s.rotation @ c for s, c in zip(states, places, strict=True)]),
            rotation=np.array([state.rotation for state in states]),
            eta=np.concatenate([*etas, np.zeros(0)]),
            velocity=x[self._velocities],
        )
        return replace(state, velocity=self._motion(state) @ state.velocity)

    def _pose(self, x: Array) -> _Pose:
        """Of x; that of the last x is kept, since all matrices ask for it."""
        key = x.tobytes()
        if self._last is None or self._last[0] != key:
            state = self.split(x)
            at, motion = self.system.at(state), self._motion(state)
            rows, drifts = self.elements.rates(at)
            self._last = (key, _Pose(state, at, motion, rows @ motion, drifts))
        return self._last[1]

    def inputs(self, time: float, x: Array) -> Array:
        """u at a state: the clock, -g_t, the values of the loads. The time in x counts."""
        pose = self._pose(x)
        state, at = pose.state, pose.at
        drive = -self.system.rows.drift(at)[0]
        loads = [load.at_time(state.time) for load in self.system.loads]
        frames, prescribed = pose.drifts, self.elements.inputs(state.time, pose.drifts)
        return np.concatenate([[1.0], drive, frames, *loads, prescribed])

    def _motion(self, state: State) -> Array:
        """nu of the system from the papers' velocities, at a pose."""
        motion = world_motions(self.system, state) @ centred_motions(self.system, state)
        return np.asarray(motion.toarray())

    def descriptor_matrix(self, x: Array) -> Array:
        """diag(E_bodies, 1, 1, 0)."""
        blocks = [f.descriptor_matrix(part) for f, part in zip(self.forms, self._parts(x), strict=True)]
        result = self._block_diagonal(blocks)
        own = np.arange(self._offsets[-1], self._offsets[-1] + 1 + self.elements.count)
        result[own, own] = 1.0
        return result

    def structure_matrix(self, x: Array) -> Array:
        """The bodies' J, the rows of the springs, G."""
        blocks = [f.structure_matrix(part) for f, part in zip(self.forms, self._parts(x), strict=True)]
        result = self._block_diagonal(blocks)
        pose = self._pose(x)
        constraint = self.system.rows.matrix(pose.at) @ pose.motion
        rows = np.arange(self.state_size - len(constraint), self.state_size)
        result[np.ix_(rows, self._velocities)] = -constraint
        result[np.ix_(self._velocities, rows)] = constraint.T
        places = self._offsets[-1] + 1 + np.arange(self.elements.count)
        result[np.ix_(places, self._velocities)] = pose.springs
        result[np.ix_(self._velocities, places)] = -pose.springs.T
        return result

    def dissipation_matrix(self, x: Array) -> Array:
        """The bodies' R and the dampers."""
        blocks = [f.dissipation_matrix(part) for f, part in zip(self.forms, self._parts(x), strict=True)]
        result = self._block_diagonal(blocks)
        if self.elements.count:
            springs = self._pose(x).springs
            dampers = springs.T @ (self.elements.dampings[:, None] * springs)
            result[np.ix_(self._velocities, self._velocities)] += dampers
        return result

    def port_matrix(self, x: Array) -> Array:
        """Clock, drives, frames of springs, loads, prescribed forces."""
        rows, n, springs = int(self.layout.multiplier[-1]), self.state_size, self.elements.count
        result = np.zeros((n, self.port_size))
        result[self._offsets[-1], 0] = 1.0
        result[n - rows :, 1 : 1 + rows] = np.eye(rows)
        places = self._offsets[-1] + 1 + np.arange(springs)
        result[places, 1 + rows + np.arange(springs)] = 1.0
        pose = self._pose(x)
        for k, load in enumerate(self.system.loads):
            begin = 1 + rows + springs + 3 * k
            result[self._velocities, begin : begin + 3] = pose.motion.T @ self._load_columns(load, pose.at)
        last = self.port_size - len(self.elements.prescribed)
        result[self._velocities, last:] = pose.springs[self.elements.active].T
        return result

    def effort(self, x: Array) -> Array:
        """z of the bodies, 0 of the time, dU/dtheta, multipliers."""
        parts = [form.effort(part) for form, part in zip(self.forms, self._parts(x), strict=True)]
        own = self._offsets[-1] + 1 + self.elements.count
        slopes = self.elements.slopes(x[self._offsets[-1] + 1 : own])
        return np.concatenate([*parts, [0.0], slopes, x[own:]])

    def storage(self, x: Array) -> float:
        """Kinetic, strain and gravity energy of all bodies, energy of the springs [J]."""
        thetas = x[self._offsets[-1] + 1 : self._offsets[-1] + 1 + self.elements.count]
        bodies = sum(form.storage(part) for form, part in zip(self.forms, self._parts(x), strict=True))
        return bodies + self.elements.energy(thetas)

    @property
    def flaw(self) -> str:
        """Why ``check_structure`` refuses the first body; empty where it holds the laws."""
        return self.forms[0].flaw if self.forms else ""

    @property
    def rest_state(self) -> Array:
        """All bodies at the origin, undeformed, not moving."""
        return np.concatenate(
            [*(form.rest_state for form in self.forms), np.zeros(self.state_size - int(self._offsets[-1]))]
        )

    @property
    def is_plain(self) -> bool:
        """Whether there are joints only: no force elements and no loads."""
        return not self.elements.count and not self.system.loads

    def given_inputs(self, times: Array, x: Array) -> Array:
        """``inputs`` of T states."""
        if not self.is_plain:
            return np.array([self.inputs(float(t), each) for t, each in zip(times, x, strict=True)])
        return np.hstack([np.ones((len(x), 1)), -self._joints.drift(self._motions(x))])

    def efforts(self, x: Array) -> Array:
        """z of T states."""
        result, places = (
            x.copy(),
            slice(int(self._offsets[-1]) + 1, int(self._offsets[-1]) + 1 + self.elements.count),
        )
        for body, part in self._bodies:
            result[:, part] = body.efforts(x[:, part])
        result[:, self._offsets[-1]] = 0.0
        result[:, places] = [self.elements.slopes(each) for each in x[:, places]]
        return result

    def descriptor_products(self, x: Array, rate: Array) -> Array:
        """E rate of T states."""
        result = rate.copy()
        result[:, self._offsets[-1] + 1 + self.elements.count :] = 0.0
        for body, part in self._bodies:
            result[:, part] = body.descriptor_products(x[:, part], rate[:, part])
        return result

    def flows(self, x: Array, z: Array, u: Array) -> Array:
        """(J - R) z + B u of T states."""
        if not self.is_plain:
            return super().flows(x, z, u)
        rows = int(self.layout.multiplier[-1])
        result, at = np.zeros_like(x), self._motions(x)
        v, w, elastic = self._velocity_parts(z)
        forces = self._joints.forces(at, z[:, self.state_size - rows :])
        for index, (body, part) in enumerate(self._bodies):
            result[:, part] = body.flows(x[:, part], z[:, part], np.zeros((len(x), body.port_size)))
            own = slice(int(self.layout.eta[index]), int(self.layout.eta[index + 1]))
            each = np.hstack([forces[0][:, index], forces[1][:, index], forces[2][:, own]])
            place = self.layout.place(index)
            result[:, self._velocities[place]] += each[:, kept_velocities(self.forms[index].body)]
        result[:, self._offsets[-1]] = u[:, 0]
        result[:, self.state_size - rows :] = u[:, 1 : 1 + rows] - self._joints.rates(at, v, w, elastic)
        return result

    def output_products(self, x: Array, z: Array, wanted: IntArray | slice = slice(None)) -> Array:
        """B^T z of T states."""
        if not self.is_plain:
            return super().output_products(x, z, wanted)
        rows = self.state_size - int(self.layout.multiplier[-1])
        return np.hstack([z[:, [self._offsets[-1]]], z[:, rows:]])[:, wanted]

    def discrete_effort(self, x0: Array, x1: Array) -> Array:
        """Those of the bodies, secants of the springs, multipliers at the mean."""
        result = (x0 + x1) / 2
        for body, part in self._bodies:
            result[part] = body.discrete_effort(x0[part], x1[part])
        result[self._offsets[-1]] = 0.0
        places = slice(int(self._offsets[-1]) + 1, int(self._offsets[-1]) + 1 + self.elements.count)
        result[places] = self.elements.secants(x0[places], x1[places])
        return result

    @property
    def _bodies(self) -> list[tuple[CompiledBody, slice]]:
        ends = self._offsets.tolist()
        return [(body, slice(a, b)) for body, a, b in zip(self._compiled, ends[:-1], ends[1:], strict=True)]

    def _full(self, x: Array) -> list[Array]:
        """States of all bodies with all components, each (T, 18 + 2 n + s)."""
        found = []
        for form, (_, part) in zip(self.forms, self._bodies, strict=True):
            full = np.zeros((len(x), 18 + 2 * form.body.elastic_count + form.stress_space.size))
            full[:, 3:12] = form.fixed_rotation.ravel()
            full[:, form.kept] = x[:, part]
            found.append(full)
        return found

    def _motions(self, x: Array) -> BodyMotions:
        full = self._full(x)
        return BodyMotions(
            time=x[:, self._offsets[-1]],
            position=np.stack([each[:, :3] for each in full], axis=1),
            rotation=np.stack([each[:, 3:12].reshape(-1, 3, 3) for each in full], axis=1),
            displacement=np.hstack(
                [each[:, 12 : 12 + f.body.elastic_count] for each, f in zip(full, self.forms, strict=True)]
            ),
        )

    def _velocity_parts(self, z: Array) -> tuple[Array, Array, Array]:
        """v and w, (T, f, 3), and deta/dt, (T, sum n), of efforts."""
        parts = [(each, form.body.elastic_count) for each, form in zip(self._full(z), self.forms, strict=True)]
        return (
            np.stack([each[:, 12 + n : 15 + n] for each, n in parts], axis=1),
            np.stack([each[:, 15 + n : 18 + n] for each, n in parts], axis=1),
            np.hstack([each[:, 18 + n : 18 + 2 * n] for each, n in parts]),
        )

    def _form(self, placed: PlacedBody) -> FloatingBodyForm:
        mechanism = self.mechanism
        if placed.nodes is not None:
            raise ModelError(
                f"{placed.name} is a {placed.kind}: a mechanism as one port-Hamiltonian model holds bodies with a "
                "frame only; take string.port_hamiltonian() of a string alone"
            )
        form = placed.held.port_hamiltonian(
            self.variant.value, dimension=mechanism.dimension, gravity=mechanism.gravity
        )
        return replace(form, fixed_rotation=placed.rotation)

    def _parts(self, x: Array) -> list[Array]:
        return [x[a:b] for a, b in zip(self._offsets[:-1], self._offsets[1:], strict=True)]

    def _block_diagonal(self, blocks: list[Array]) -> Array:
        """The bodies' blocks, zero for time and multipliers, shape (n, n)."""
        result = np.zeros((self.state_size, self.state_size))
        for a, b, block in zip(self._offsets[:-1], self._offsets[1:], blocks, strict=True):
            result[a:b, a:b] = block
        return result

    def _load_columns(self, load: PointLoad, at: Instants) -> Array:
        """Forces on nu of unit loads along three axes, shape (velocities, 3)."""
        system = self.system
        vectors = system.vectors(loaded_vectors(load))
        triad = system.vectors(body_triad(load.attachment)).places(at)[0] if needs_triad(load) else AXES
        units = [forces_of(load, triad, axis).ravel() for axis in AXES]
        return np.asarray(vectors.jacobian(at).T @ np.array(units).T)


def _velocity_slice(form: FloatingBodyForm) -> slice:
    end = form.state_size - form.stress_space.size
    return slice(end - form.body.velocity_count, end)
