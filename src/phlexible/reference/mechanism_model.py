"""A whole mechanism as one port-Hamiltonian model with multipliers (docs/theory.md, 1).

Section 5 of Brugnoli et al. (2020).
"""

from dataclasses import dataclass, replace

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.forms.floating import BodyState, FloatingBodyForm
from phlexible.bodies.mechanics.floating import split_velocity
from phlexible.errors import ModelError
from phlexible.interactions.functions import AXES
from phlexible.interactions.loads import PointLoad
from phlexible.mechanism.mechanism import Mechanism
from phlexible.port_hamiltonian.model import Port, PortHamiltonianModel, StateBlock
from phlexible.ports.attachments import PlacedBody
from phlexible.reference.force_elements import ElementForms
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
        mechanism: bodies, joints, loads; later changes to it are not seen.

    Raises:
        ModelError: a string, which has no frame.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
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

    def _form(self, placed: PlacedBody) -> FloatingBodyForm:
        mechanism = self.mechanism
        if placed.nodes is not None:
            raise ModelError(
                f"{placed.name} is a string: a mechanism as one port-Hamiltonian model holds bodies with a "
                "frame only; take string.port_hamiltonian() for the string alone"
            )
        form = placed.held.port_hamiltonian(dimension=mechanism.dimension, gravity=mechanism.gravity)
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
