"""A whole mechanism as one port-Hamiltonian model with multipliers (docs/theory.md, 1).

Section 5 of Brugnoli et al. (2020).
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.options import option
from phlexible.bodies.forms.floating import BodyState, FloatingBodyForm
from phlexible.bodies.forms.variants import Variant
from phlexible.bodies.mechanics.floating import kept_velocities, split_velocity
from phlexible.errors import ModelError, ParameterError
from phlexible.initial.initial_state import initial_state
from phlexible.interactions.functions import AXES
from phlexible.interactions.loads import PointLoad
from phlexible.mechanism.mechanism import Mechanism
from phlexible.port_hamiltonian.model import Port, PortHamiltonianModel, StateBlock
from phlexible.ports.attachments import PlacedBody
from phlexible.reference.compiled_bodies import CompiledBody
from phlexible.reference.force_elements import ElementForms
from phlexible.reference.joint_products import BodyMotions, JointProducts
from phlexible.system.forces import body_triad, forces_of, loaded_vectors, needs_triad
from phlexible.system.instants import Instants
from phlexible.system.layout import State
from phlexible.system.small_motions import centred_motions, world_motions
from phlexible.system.system import system_of


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
        """Of its bodies."""
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
