"""A whole mechanism as one port-Hamiltonian model with multipliers (docs/theory.md, 1)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray, option
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import split_velocity
from phlexible.description.interactions.functions import PointOf
from phlexible.description.interactions.loads import Axes, Force, PointLoad, SurfacePressure
from phlexible.description.interactions.state_force import StateLaw
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.ports import PlacedBody
from phlexible.errors import ModelError, ParameterError
from phlexible.papers.element_laws import (
    Bristles,
    ElementLaws,
    Resistances,
    bristle_state_count,
    couple_forces,
    refuse_controller,
    state_laws,
)
from phlexible.papers.floating_forms import BodyState, FloatingBodyForm, Variant
from phlexible.papers.joined_functions import BodyForm, JoinedFunctions, paper_resolver, velocity_indices
from phlexible.papers.soft_form import SoftForm
from phlexible.papers.strain_form import Boundary, StringForm
from phlexible.port_hamiltonian.model import ComposedModel, Matrix, Port, SparseDifferences, StateGroup
from phlexible.state.forces import body_axes, needs_body_axes, surface_nodes
from phlexible.state.initial_state import initial_state
from phlexible.state.initial_velocity import undeformed
from phlexible.state.instants import Instants
from phlexible.state.layout import State
from phlexible.state.redundancy import independent_rows
from phlexible.state.system import System, system_of
from phlexible.state.vectors import CarriedVector, VectorResolver

NUMBERS = 3


@dataclass(frozen=True, eq=False)
class _ResolvedLoad:
    """Load with the slice of its inputs and the indices of the vectors on which it acts: point, directions or
    nodes.
    """

    load: PointLoad
    inputs: slice
    points: IntArray
    triad: IntArray


class AppliedLoads:
    """Loads of a system, with the vectors on which they act and their inputs of a port-Hamiltonian model.

    Args:
        system: with the loads.
        resolver: finds the vectors.

    Attributes:
        vectors: that they act on.
        sizes: number of inputs of each.

    Raises:
        ModelError: a controller that is called once a step.
    """

    def __init__(self, system: System, resolver: VectorResolver) -> None:
        self._system, self._resolver, self._loads = system, resolver, list[_ResolvedLoad]()
        self.vectors = list[CarriedVector]()
        self.sizes = list[int]()
        for load in system.loads:
            refuse_controller(load)
            is_pressure = isinstance(load, SurfacePressure)
            size, begin = 1 if is_pressure else NUMBERS, sum(self.sizes)
            position = slice(begin, begin + size)
            points, triad = self._vectors_of_load(load)
            self._loads.append(_ResolvedLoad(load, position, self._append(points), self._append(triad)))
            self.sizes.append(size)

    def _vectors_of_load(self, load: PointLoad) -> tuple[list[CarriedVector], list[CarriedVector]]:
        """Return two lists of vectors in world axes on which a load acts. The first has the loaded point, or all
        nodes under a pressure, and is empty for a torque. The second has the body-fixed directions, for torques
        and for loads given in body axes."""
        if isinstance(load, SurfacePressure):
            return surface_nodes(self._system, load), []
        points = [self._resolver.resolve(PointOf(load.attachment))] if isinstance(load, Force) else []
        axes = body_axes(load.attachment) if needs_body_axes(load) else ()
        return points, [self._resolver.resolve(each) for each in axes]

    def _append(self, vectors: list[CarriedVector]) -> IntArray:
        """Append vectors to the list of vectors on which all loads of a mechanism act, and return their indices in
        that list."""
        self.vectors += vectors
        return np.arange(len(self.vectors) - len(vectors), len(self.vectors))

    def groups(self) -> list[IntArray]:
        """Return groups of indices of vectors, such that the load on a vector depends only on vectors of its
        group. The vectors are positions of body points, or directions fixed to bodies, in world axes. A group has
        the vectors of one load, or those of one face under pressure."""
        found = list[IntArray]()
        for each in self._loads:
            if isinstance(each.load, SurfacePressure):
                found += [each.points[face] for face in each.load.surface.faces]
            else:
                found.append(np.concatenate([each.points, each.triad]))
        return found

    @property
    def size(self) -> int:
        """Total number of scalar inputs of all loads of a mechanism: three for a force or torque in space, one for
        a pressure."""
        return sum(self.sizes)

    def load_values(self, time: float, law: Callable[[StateLaw], Array]) -> Array:
        """Return the values of all loads of a mechanism at a ``time`` [s] as one array, shape (inputs,). A load
        that is a function of the state is evaluated by ``law``, which is called with the load's ``StateLaw`` and
        returns an array. Other functions of the user are called with the time."""
        found = [np.zeros(0)]
        for load, size in zip(self._system.loads, self.sizes, strict=True):
            if isinstance(load.value, StateLaw):
                value = law(load.value)
                load.check_components(value, self._system.dimension, np.array([time]))
            else:
                value = load.at_time(time)
            found.append(value[:size])
        return np.concatenate(found)

    def add_forces(self, u: Array, vectors: Array, indices: IntArray, out: Array) -> None:
        """Add the forces of a mechanism's loads on points, directions and nodes, in world axes, to ``out`` (T, k,
        3) in place. u (T, inputs) are the load values, ``vectors`` (T, k, 3) the k points and directions in T
        states, ``indices`` those of loaded ones. Loads in body axes are rotated. Pressures act on nodes of a
        surface, torques as forces on three directions. Zero loads are skipped."""
        for each in self._loads:
            value, load = u[:, each.inputs], each.load
            if not value.any():
                continue
            if isinstance(load, SurfacePressure):
                for t, x in enumerate(vectors[:, indices[each.points]]):
                    out[t, indices[each.points]] += load.surface.forces(float(value[t, 0]), x)
                continue
            triad = vectors[:, indices[each.triad]]
            world = (triad * value[..., None]).sum(axis=1) if load.axes is Axes.BODY else value
            if isinstance(load, Force):
                out[:, indices[each.points[0]]] += world
            else:
                out[:, indices[each.triad]] += couple_forces(triad, world)


# Section 5 of Brugnoli et al. (2020): the bodies, and joints as transformers between them.

CLOCK, DRIVES, TIME, MULTIPLIERS = "clock", "drives", "time", "multipliers"
COORDINATES, BRISTLES, FRAMES = "coordinates", "bristles", "frames of springs"
DENSE = 300
"""Entries of the state up to which matrices are arrays."""


class MechanismModel(ComposedModel):
    """Port-Hamiltonian model of a whole mechanism, of index 2: all bodies, joined by velocity constraints with
    multipliers ((42)).

    With G of dg/dt = G nu + g_t the joints are transformers to the ground and to each other::

        E = diag(E_bodies, 1, 1, 0)   J = [[J_bodies, 0, -P^T, G^T], [0, 0, 0, 0], [P, 0, 0, 0], [-G, 0, 0, 0]]

    Bodies with a frame are in full form (12), strings as (29)-(31) of Kinon et al. (2023) have them, soft bodies in
    positions and velocities of their nodes; a rod is its rigid sections with a storage for each strain. States:
    those of the bodies (``coupler.position``, ...), the time [s], whose rate is the input of the port ``clock`` (1,
    without power), the coordinates theta of force elements, how far bristles are bent, and the multipliers lambda,
    also of relations: gears, screws, rolling. A spring is a storage joined by a transformer, dtheta/dt = P nu and
    the force -P^T dU/dtheta, a bristle one joined to what slides (8.49). What takes energy is in R(x): dampers,
    branches that creep, dry friction, impacts and friction of contacts.
    Ports: clock; ``drives`` with u = -g_t of drives and moving frames and y = lambda (49); ``frames of springs``,
    what moving frames add to the functions of forces; one for each load on an attachment, of which a distributed
    force has many, and each prescribed force of an element. ``inputs`` gives all of them.

    Joints hold at the velocity level only: positions drift with the error of the scheme. Of constraints that
    prevent the same motion at the initial pose some are left out, so that multipliers are unique (``rows``).
    Matrices are arrays up to 300 states and sparse beyond.

    Args:
        mechanism: a model, or bodies, joints and loads; later changes to it are not seen.
        variant: of the bodies, see ``body.port_hamiltonian``: "full", or, to draw the papers' figures beside the
            right ones, "zeroth_order" and (in the plane) "printed"; joints hold at the deformed points in all.

    Attributes:
        rows: of the joint functions those that multipliers belong to, by their indices in the system.

    Raises:
        ModelError: a part that has no place in the form, which the message names with what to take instead:
            controllers that are called once a step, a ``Contact`` of many, events.
        ParameterError: no such variant, or "constant_mass", whose elastic velocity is not that of the joints.
    """

    def __init__(self, mechanism: Mechanism, variant: str = "full") -> None:
        if not isinstance(mechanism, Mechanism):
            raise ParameterError(f"mechanism must be a Model, got {mechanism!r}")
        self.mechanism = mechanism
        self.variant = option("variant", variant, Variant)
        if self.variant is Variant.CONSTANT_MASS:
            raise ParameterError('variant of a mechanism must be "full", "zeroth_order" or "printed"')
        if mechanism.events:
            raise ModelError(
                f"{mechanism.events[0]} changes what holds during the motion; take the event out and integrate "
                "from one to the next, with a model of what holds between them"
            )
        self.system = system_of(mechanism)
        self.layout = self.system.layout
        self.forms = tuple(self._body_form(placed) for placed in self.system.bodies)
        self.elements = ElementLaws(self.system)
        self._loads = AppliedLoads(self.system, paper_resolver(self.system))
        self.rows = independent_rows(self.system, undeformed(self.system))
        rows, forces = len(self.rows), self.elements.count
        bends = bristle_state_count(self.elements.forces)
        blocks = [
            StateGroup(f"{placed.name}.{block.name}", block.unit, block.size)
            for placed, form in zip(self.system.bodies, self.forms, strict=True)
            for block in form.states
        ]
        self.states = (
            *blocks,
            StateGroup(TIME, "s", 1),
            StateGroup(COORDINATES, "", forces),
            StateGroup(BRISTLES, "", bends),
            StateGroup(MULTIPLIERS, "", rows),
        )
        self._time = sum(form.state_size for form in self.forms)
        self._thetas = slice(self._time + 1, self._time + 1 + forces)
        self._bends = slice(self._thetas.stop, self._thetas.stop + bends)
        self._multipliers = np.arange(self._bends.stop, self._bends.stop + rows)
        lines = [*(self.system.owners[row].row for row in self.rows), *self.elements.coordinate_rows()]
        self._joined = JoinedFunctions(self.system, self._bodies, self._time, lines, self._loads.vectors)
        self._resistances = Resistances(
            self.system,
            self.elements.forces,
            self._joined,
            dict(zip(self.rows.tolist(), self._multipliers.tolist(), strict=True)),
            self._thetas,
        )
        self._of_forces = slice(int(self._joined.first[rows]), len(self._joined.owner))
        sizes = self._of_forces.stop - self._of_forces.start
        self.ports = (
            Port(CLOCK, "1", "W", 1),
            Port(DRIVES, "", "", rows),
            Port(FRAMES, "", "", sizes),
            *(
                Port(f"{k}: {load}", "", "", size)
                for k, (load, size) in enumerate(zip(self.system.loads, self._loads.sizes, strict=True), start=1)
            ),
            *(Port(f"{k}: {name}", "", "", 1) for k, name in enumerate(self.elements.prescribed, start=1)),
        )
        self._inputs = np.cumsum([0, 1, rows, sizes, self._loads.size, len(self.elements.active)]).tolist()

    @property
    def parts(self) -> tuple[BodyForm, ...]:
        """Port-Hamiltonian models of the single bodies of this mechanism, in the order of their states."""
        return self.forms

    @cached_property
    def _bodies(self) -> list[tuple[BodyForm, slice]]:
        """Pairs of the port-Hamiltonian model of each body of this mechanism and the slice of the state vector with
        its states."""
        return list(zip(self.forms, self.part_slices, strict=True))

    @property
    def _bristles(self) -> Bristles:
        """All friction springs (bristles: elastic slip of friction that sticks) of this mechanism, as one object
        that evaluates them."""
        return self._resistances.bristles

    @property
    def bodies(self) -> tuple[PlacedBody, ...]:
        """Bodies of this mechanism in the order of their states: floating bodies, which have a frame, then strings
        and soft bodies."""
        return self.system.bodies

    def _body_form(self, placed: PlacedBody) -> BodyForm:
        """Return the port-Hamiltonian model of one body of the mechanism, in its initial position and rotation. A
        floating body gives a ``FloatingBodyForm``, a soft body or shell a ``SoftForm`` at rest, a string a
        ``StringForm`` with forces at both ends. Raise ``ModelError`` for viscoelastic (Maxwell) material, for
        which these models have no states."""
        mechanism, data = self.mechanism, placed.data
        if data.relaxation if isinstance(data, FloatingBody) else any(group.relaxation for group in data.elements):
            kind = "floating" if isinstance(data, FloatingBody) else "soft"
            raise ModelError(
                f"{placed.name} creeps (ph.Maxwell), and the form of a {kind} body has no history variables"
            )
        if placed.nodes is None:
            form = placed.resolved.port_hamiltonian(
                self.variant.value, dimension=mechanism.dimension, gravity=mechanism.gravity
            )
            assert isinstance(form, FloatingBodyForm), "without nodes"
            return replace(form, fixed_rotation=placed.rotation)
        assert isinstance(data, AbsoluteBody), "with nodes"
        d = data.dimension
        fall, positions = mechanism.gravity[:d], placed.nodes.positions[:, :d]
        if data.elements or data.products:
            return SoftForm(data, fall, {}, np.concatenate([positions.ravel(), np.zeros(positions.size)]))
        free = (Boundary.FORCE, Boundary.FORCE)
        return StringForm(data, fall, free, positions, np.zeros_like(positions))

    @cached_property
    def _velocity_indices(self) -> IntArray:
        """Indices at which the velocities of all bodies stand in the state vector x of this mechanism's
        port-Hamiltonian model, shape (velocities,). They are in the order of the mechanism's own vector of
        velocities."""
        positions = [velocity_indices(form, own) for form, own in self._bodies]
        return np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(p.start, p.stop) for p in positions)])

    def joined(self, state: State) -> Array:
        """Return the state vector x (n,) of this port-Hamiltonian model for a pose with velocities of the
        mechanism. Velocities of centres of mass are converted to velocities of body frames, in body axes.
        Stresses, strains and lengths or angles of springs follow from the pose. Strains of Maxwell branches,
        deflections of friction springs and multipliers are zero.

        The papers' position and velocity are those of the reference point, the velocity in body axes (2.7).
        """
        parts: list[Array] = []
        for index, form in enumerate(self.forms):
            eta, nu = self.system.elastic(state, index), state.velocity[self.layout.span(index)]
            if not isinstance(form, FloatingBodyForm):
                strain = [form.strain_at(eta), np.zeros(form.branch_count)] if isinstance(form, StringForm) else []
                parts.append(np.concatenate([eta, nu, *strain]))
                continue
            centre = self.system.centres[index]
            V, w, rate = split_velocity(form.body, nu)
            position, turn = centre @ np.concatenate([[1.0], eta]), state.rotation[index]
            v = turn.T @ V - np.cross(w, position) - centre[:, 1:] @ rate
            stress = form.stress_space.stress(eta)
            body = BodyState(state.position[index] - turn @ position, turn, eta, v, w, rate, stress)
            parts.append(form.joined(body))
        x = np.concatenate([*parts, [state.time], np.zeros(self.state_size - self._time - 1)])
        theta = self._joined.lines.values(self._joined.evaluate(x[None]).instants)[0, len(self._multipliers) :]
        theta[self.elements.branches] = 0.0
        x[self._thetas] = theta
        return x

    @cached_property
    def initial_state(self) -> Array:
        """State vector x of this mechanism at t = 0, shape (n,): its initial pose, with velocities that joints and
        drives allow."""
        return self.joined(initial_state(self.system))

    def split(self, x: Array) -> State:
        """Return the pose and velocities of the mechanism for the state vector x of its port-Hamiltonian model, as
        a ``State`` in world axes. Positions and velocities of floating bodies are converted from their body frames
        to centres of mass. Stresses, strains of strings, friction states and multipliers in x are left out."""
        at, velocities = self._joined.instants(x[None]), [np.zeros(0)]
        position, rotation, eta = at.position[0], at.rotation[0], at.eta[0]
        for index, (form, part) in enumerate(self._bodies):
            if not isinstance(form, FloatingBodyForm):
                velocities.append(x[velocity_indices(form, part)])
                continue
            own, centre = form.split(x[part]), self.system.centres[index]
            point = centre @ np.concatenate([[1.0], own.displacement])
            V = own.rotation @ (
                own.velocity + np.cross(own.angular_velocity, point) + centre[:, 1:] @ own.elastic_velocity
            )
            position[index] += own.rotation @ point
            axes = form.body.rotation_axes
            velocities += [V[: form.body.dimension], own.angular_velocity[list(axes)], own.elastic_velocity]
        return State(float(x[self._time]), position, rotation, eta, np.concatenate(velocities))

    def inputs(self, time: float, x: Array) -> Array:
        """Return the inputs u that the mechanism itself prescribes in the state x, shape (inputs,): clock,
        prescribed motions and drives, loads and prescribed forces. They are evaluated at the time that is a state
        in x, not at the argument ``time``."""
        return np.asarray(self.default_inputs(np.array([time]), x[None])[0])

    def default_inputs(self, times: Array, x: Array) -> Array:
        """Return the inputs u that the mechanism itself prescribes in T states x (T, n), shape (T, inputs). They
        are 1 for the clock, then rates of prescribed motions and drives, values of loads, and prescribed forces of
        force elements. Times are taken from the states; the argument ``times`` is not used."""
        result = np.zeros((len(x), self.port_size))
        clock, drives, frames, loads, forces, end = self._inputs
        result[:, clock] = 1.0
        if self._joined.is_moving:
            poses = self._joined.evaluate(x)
            drift = self._joined.prescribed_rates(poses)
            result[:, drives:frames] = -self._joined.line_rates(poses, drift)[:, : len(self._multipliers)]
            result[:, frames:loads] = drift[:, self._of_forces]
        for t, each in enumerate(x if loads < end else ()):
            time, theta = float(each[self._time]), each[self._thetas]
            at = self.system.at(self.split(each)) if self._has_laws else None

            def value(law: StateLaw, at: Instants | None = at, theta: Array = theta) -> Array:
                assert at is not None, "there are laws"
                return self.elements.state_function_values(law, at, theta)

            result[t, loads:forces] = self._loads.load_values(time, value)
            result[t, forces:] = self.elements.prescribed_values(time, at, theta)
        return result

    @cached_property
    def _has_laws(self) -> bool:
        """Whether some load or force element of this mechanism is a user's function of the state (and not of time
        alone)."""
        return bool(state_laws(self.system))

    @property
    def default_input_states(self) -> IntArray:
        """Indices of the states on which the inputs that the mechanism itself prescribes depend. They are the
        states of bodies connected to prescribed motions, or all states if a load or force is a function of the
        state."""
        if self._has_laws:
            return np.arange(self.state_size)
        timed = [own for m, own in enumerate(self._couplings) if m < len(self._is_timed) and self._is_timed[m]]
        return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *timed]))

    # Products of T states.

    def efforts(self, x: Array) -> Array:
        """Return the efforts z of a mechanism in T states x (T, n), shape (T, n). These are derivatives of the
        stored energy for coordinates of bodies and springs, the states themselves for velocities, stresses and
        multipliers, and zero for the time."""
        result = super().efforts(x)
        self._set_efforts(x, result)
        return result

    def _set_efforts(self, x: Array, result: Array) -> None:
        """Write the efforts of a mechanism's states that belong to no body into ``result`` (T, n), for T states x.
        They are zero for the time, energy derivatives of springs and contacts for force coordinates, and forces of
        friction springs for their deflections. A force coordinate is the length or angle along which a force
        element acts."""
        result[:, self._time] = 0.0
        result[:, self._thetas] = self.elements.energy_derivatives(x[:, self._thetas])
        result[:, self._bends] = self._bristles.efforts(x[:, self._bends])

    def descriptor_products(self, x: Array, rate: Array) -> Array:
        """Return the products E(x) @ ``rate`` of the descriptor matrix of a mechanism for T states x and
        their rates, shape (T, n). E has masses, compliances, 1 for force coordinates and 0 for multipliers. A
        force coordinate is the length or angle along which a force element acts."""
        result = super().descriptor_products(x, rate)
        own = slice(self._time, self._bends.stop)
        result[:, own] = rate[:, own]
        return result

    def flows(self, x: Array, z: Array, u: Array) -> Array:
        """Return the right-hand sides (J - R) z + B u of the port-Hamiltonian equations of a complete mechanism in
        T states, shape (T, n). States x and efforts z have shape (T, n), inputs u (T, inputs)."""
        result = self._coupling_flows(x, z, u)
        for body, own in self._bodies:
            result[:, own] += body.flows(x[:, own], z[:, own], np.zeros((len(x), body.port_size)))
        return result

    def _coupling_flows(self, x: Array, z: Array, u: Array) -> Array:
        """Return the part of a mechanism's state rates (J - R) z + B u that couples its bodies, at T instants,
        shape (T, n). It contains joints, force elements, friction and loads, and the rate of the state that stands
        for time; terms inside of bodies are zero. Rows of joint multipliers are the residuals of their constraints
        on velocity level. x, z and u are states, efforts (energy gradients) and inputs, one row for each instant.
        """
        joined, rows = self._joined, len(self._multipliers)
        _, drives, frames, loads, forces, _ = self._inputs
        result, at = np.zeros(x.shape), joined.evaluate(x)
        dX, rates = joined.rates(at, z)
        own_rates = rates.copy() if self._bristles.springs else rates
        rates[:, self._of_forces] += u[:, frames:loads]
        lines = joined.line_rates(at, rates)
        result[:, self._time] = u[:, 0]
        result[:, self._thetas] = lines[:, rows:] - self.elements.leaks * z[:, self._thetas]
        result[:, self._multipliers] = u[:, drives:frames] - lines[:, :rows]
        along = np.concatenate([z[:, self._multipliers], -z[:, self._thetas]], axis=1)
        on_functions, on_vectors = np.zeros_like(rates), np.zeros_like(dX)
        if not self._resistances.is_zero:
            found = self._resistances.evaluate(at)
            lost, on_functions, on_vectors = self._resistances.loss_forces(found, at, rates, dX)
            result[:, self._bends] = self._bristles.deflection_rates(
                found.bristles, at, z[:, self._bends], (own_rates, dX), (lost, on_functions, on_vectors)
            )
            along[:, rows:] += lost
        along[:, [rows + k for k in self.elements.active]] += u[:, forces:]
        self._loads.add_forces(u[:, loads:forces], at.vectors, joined.loaded, on_vectors)
        joined.add_forces(at, along, on_functions, on_vectors, result)
        return result

    def discrete_effort(self, x0: Array, x1: Array) -> Array:
        """Return the discrete gradient of the stored energy of a mechanism between the states x0 and x1, shape
        (n,). It has the discrete gradient of each body, difference quotients of spring energies and mean
        multipliers, so that the energy balance is exact."""
        result = super().discrete_effort(x0, x1)
        result[self._time] = 0.0
        result[self._thetas] = self.elements.energy_quotients(x0[self._thetas], x1[self._thetas])
        result[self._bends] = self._bristles.efforts(result[self._bends])
        return np.asarray(result)

    def storages(self, x: Array) -> Array:
        """Return the stored energies of a mechanism in T states x (T, n), shape (T,) [J]: kinetic, elastic and
        gravity energy of all bodies plus the energy of springs, contacts and friction springs."""
        springs = self.elements.energies(x[:, self._thetas]) + self._bristles.energies(x[:, self._bends])
        return np.asarray(super().storages(x) + springs)

    def defect_slope(self, x: Array, rate: Array, u: Array) -> Matrix:
        """Return the derivative of the residual E dx/dt - (J - R) z - B u of a mechanism with respect to the state
        x. The result has the shape (n, n). Each body computes its own block; sparse difference quotients give the
        coupling between bodies. ``rate`` is dx/dt, ``u`` the inputs."""

        def coupling(states: Array) -> Array:
            z = states.copy()
            self._set_efforts(states, z)
            return self._coupling_flows(states, z, np.broadcast_to(u, (len(states), len(u))))

        between = self._differences.slope(coupling, x, self._sizes(x))
        own = [body.defect_slope(x[part], rate[part], np.zeros(body.port_size)) for body, part in self._bodies]
        return self._assembled(own, sparse.coo_array(-between))

    @cached_property
    def _is_timed(self) -> list[bool]:
        """Flags of all scalar constraints, then of all force coordinates of this mechanism: whether they change
        with time even if no body moves. Prescribed motions and moving frames cause this. A force coordinate is the
        length or angle along which a force element acts."""
        first = self._joined.first
        return [any(self._joined.is_timed(m) for m in range(a, b)) for a, b in pairwise(first)]

    @cached_property
    def _couplings(self) -> list[IntArray]:
        """Return groups of indices of states that depend on each other, for the sparsity pattern of the
        derivatives. There is a group for each scalar constraint, each length or angle of a force element, and each
        load. It has the states of the connected bodies and the multiplier or length itself, with friction states
        and, for prescribed motion, time where needed."""
        own = [*self._multipliers.tolist(), *range(self._thetas.start, self._thetas.stop)]
        rows, found = len(self._multipliers), list[IntArray]()
        for number, entry in enumerate(own):
            begin, end = self._joined.first[number : number + 2]
            carriers = {self._joined.carrier(v) for m in range(begin, end) for v in self._joined.vectors_of(m)}
            more = self._resistances.bearings.get(number - rows, np.zeros(0, dtype=np.int64))
            time = [self._time] if self._is_timed[number] else []
            bends = self._bends.start + self._bristles.deflection_indices(number - rows)
            found.append(np.concatenate([self._entries_of(carriers), more, bends, [entry, *time]]).astype(np.int64))
        for vectors in self._loads.groups():
            found.append(self._entries_of({self._joined.carrier(int(self._joined.loaded[v])) for v in vectors}))
        return found

    def _entries_of(self, carriers: set[int]) -> IntArray:
        """Return the indices in the state vector of the states of some floating bodies and nodes, concatenated.
        ``carriers`` are the indices of both, floating bodies first. A floating body has all its states; a node
        of a string or soft body only its position and velocity. Negative indices are the ground, which has no
        states."""
        found, frames = [np.zeros(0, dtype=np.int64)], self.layout.frames
        for carrier in sorted(carriers):
            if 0 <= carrier < frames:
                part = self.part_slices[carrier]
                found.append(np.arange(part.start, part.stop))
            elif carrier >= frames:
                body = int(np.searchsorted(self.layout.carrier, carrier, "right")) - 1
                data = self.forms[body].body
                d, count = data.dimension, data.elastic_count
                first = self.part_slices[body].start + d * (carrier - int(self.layout.carrier[body])) + np.arange(d)
                found += [first, first + count]
        return np.concatenate(found)

    @cached_property
    def _differences(self) -> SparseDifferences:
        """Object that computes sparse difference quotients of the coupling terms of this mechanism with few
        evaluations. Its sparsity pattern follows from the states that each joint, force and load couples."""
        rows = np.repeat(np.arange(len(self._couplings)), [len(unit) for unit in self._couplings])
        columns = np.concatenate([np.zeros(0, dtype=np.int64), *self._couplings])
        touched = sparse.coo_array((np.ones(len(rows)), (rows, columns)), (len(self._couplings), self.state_size))
        return SparseDifferences(sparse.csc_array(touched.T @ touched))

    # Matrices of one state, for reading and for checks.

    def descriptor_matrix(self, x: Array) -> Matrix:
        """Return the descriptor matrix E of a mechanism at the state x, which multiplies dx/dt, shape (n, n). It
        has mass and compliance blocks of the bodies, 1 for time, force coordinates and friction springs, 0 for
        multipliers. A force coordinate is the length or angle along which a force element acts."""
        own = np.arange(self._time, self._bends.stop)
        ones = sparse.coo_array((np.ones(len(own)), (own, own)), (self.state_size,) * 2)
        return self._assembled([form.descriptor_matrix(x[own]) for form, own in self._bodies], ones)

    def structure_matrix(self, x: Array) -> Matrix:
        """Return the skew structure matrix J in E dx/dt = (J - R) z + B u of a mechanism at the state x. It has the
        shape (n, n) and is the sum of the structure matrices of the bodies and of a matrix for joints, springs and
        friction springs between them. That matrix is the skew part of the right-hand sides for unit efforts,
        without the entries between velocities."""
        between = self._unit_flows(x)
        between[np.ix_(self._velocity_indices, self._velocity_indices)] = 0.0
        between = sparse.coo_array((between - between.T) / 2)
        return self._assembled([form.structure_matrix(x[own]) for form, own in self._bodies], between)

    def dissipation_matrix(self, x: Array) -> Matrix:
        """Return the dissipation matrix R in E dx/dt = (J - R) z + B u of a mechanism at the state x. It has the
        shape (n, n) and is the sum of the dissipation matrices of the bodies and of a matrix for dampers and
        friction between them. That matrix is minus the symmetric part of the right-hand sides for unit efforts, of
        which only the entries between velocities and friction-spring deflections, and the diagonal, are retained.
        """
        between, resisting = self._unit_flows(x), np.eye(self.state_size, dtype=bool)
        moving = np.concatenate([self._velocity_indices, np.arange(self._bends.start, self._bends.stop)])
        resisting[np.ix_(moving, moving)] = True
        between = sparse.coo_array(np.where(resisting, -(between + between.T) / 2, 0.0))
        return self._assembled([form.dissipation_matrix(x[own]) for form, own in self._bodies], between)

    def _unit_flows(self, x: Array) -> Array:
        """Return the terms of J - R at the state x that couple the bodies of a mechanism, shape (n, n). Column k
        has the right-hand sides for effort k equal to 1 and all other efforts zero."""
        states, none = np.broadcast_to(x, (len(x), len(x))), np.zeros((len(x), self.port_size))
        return np.ascontiguousarray(self._coupling_flows(states, np.eye(len(x)), none).T)

    def port_matrix(self, x: Array) -> Array:
        """Return the port matrix B in E dx/dt = (J - R) z + B u of a mechanism at the state x. The shape is (n,
        inputs). Its columns are the right-hand sides for unit inputs and zero efforts."""
        states = np.broadcast_to(x, (self.port_size, len(x)))
        return np.ascontiguousarray(self._coupling_flows(states, np.zeros(states.shape), np.eye(self.port_size)).T)

    def storage(self, x: Array) -> float:
        """Return the stored energy of a mechanism in the state x [J]: kinetic, elastic and gravity energy of all
        bodies plus the energy of springs, contacts and friction springs."""
        return float(self.storages(x[None])[0])

    @cached_property
    def _rest(self) -> Array:
        """State vector x of the initial pose of this mechanism, undeformed and at rest, shape (n,); computed
        once."""
        return self.joined(undeformed(self.system))

    @property
    def rest_state(self) -> Array:
        """State vector x of the initial pose of this mechanism, undeformed and at rest, shape (n,), as a copy that
        may be changed."""
        return self._rest.copy()

    def _assembled(self, of_bodies: Sequence[Matrix], between: sparse.coo_array) -> Matrix:
        """Return the matrix (n, n) of a mechanism made of one diagonal block for each body (``of_bodies``) plus
        the entries ``between`` bodies, forces and multipliers. It is a dense array for up to 300 states, otherwise
        sparse."""
        rest = self.state_size - self._time
        blocks = sparse.block_diag([*of_bodies, sparse.coo_array((rest, rest))], "csr")
        result = sparse.csr_array(blocks + between.tocsr())
        return result.toarray() if self.state_size <= DENSE else result
