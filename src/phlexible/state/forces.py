"""Gravity, loads and forces of elements at one state, and their derivatives (7.2, 7.3)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.sparse import Matrix, sparse_diagonal
from phlexible.algebra.user_derivatives import exact_slope
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.body import BodyData
from phlexible.bodies.mechanics import absolute, floating
from phlexible.description.interactions.drives import ServoPush
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.force_elements import CoordinateForce, ForceElement
from phlexible.description.interactions.functions import (
    AXES,
    Coordinate,
    DirectionOf,
    PointOf,
    Vector,
)
from phlexible.description.interactions.loads import Axes, Force, PointLoad, SurfacePressure, Torque
from phlexible.description.interactions.state_force import StateLaw, StateValues
from phlexible.description.ports import Attachment
from phlexible.description.time_functions import number_at
from phlexible.errors import ModelError
from phlexible.state.branches import flows
from phlexible.state.functions import ConstraintSet
from phlexible.state.instants import Instants
from phlexible.state.layout import State
from phlexible.state.system import System
from phlexible.state.vectors import CarriedVector, VectorSet

# Mass, elastic force and tangent of any body, with a frame or in absolute coordinates.


def elastic_force(body: BodyData, eta: Array) -> Array:
    """Return the gradient dV/deta of the strain energy V of any kind of body at its elastic coordinates eta, shape
    (elastic_count,). The force on the body is minus this."""
    if isinstance(body, AbsoluteBody):
        return absolute.elastic_force(body, eta)
    return floating.elastic_force(body, eta)


def viscous_force(body: BodyData, eta: Array, rates: Array) -> Array:
    """Return the viscous force C(eta) deta/dt of any body for its elastic coordinates eta and their
    ``rates``; shape (elastic_count,). The force on the body is minus this."""
    if isinstance(body, AbsoluteBody):
        return np.asarray(absolute.viscous_matrix(body, eta) @ rates)
    return floating.viscous_matrix(body, eta) @ rates


def gross_force(body: BodyData, eta: Array) -> Array:
    """Return a measure of the size of a body's elastic force at elastic coordinates eta, by which its round-off is
    estimated, shape (elastic_count,). For strings and soft bodies it sums the absolute values of the terms; for
    floating bodies it is the absolute value of the force."""
    if isinstance(body, AbsoluteBody):
        return absolute.elastic_force(body, eta, np.abs)
    return np.abs(floating.elastic_force(body, eta))


def stiffness_matrix(body: BodyData, eta: Array) -> Matrix:
    """Return the tangent stiffness of a body, the second derivative of its strain energy with respect to the
    elastic coordinates ``eta``, shape (velocities, velocities). Rows and columns of its rigid motion are zero. It
    is sparse for strings, soft bodies and long bodies, else dense.

    It is sparse in absolute coordinates and of long bodies. Floating bodies that are vectorized (``is_vectorized``)
    also take eta (..., n).
    """
    if isinstance(body, AbsoluteBody):
        return absolute.elastic_tangent(body, eta)
    tangent = floating.elastic_tangent(body, eta)
    if not isinstance(tangent, np.ndarray):
        return sparse_diagonal([np.zeros((body.rigid_count,) * 2), tangent])
    block = np.zeros((*eta.shape[:-1], *[body.velocity_count] * 2))
    block[..., body.rigid_count :, body.rigid_count :] = tangent
    return block


# Forces that are functions of the state at an instant, and their slopes by differences (docs/theory.md, 8).

DIFFERENCE = 1e-3  # of angles [rad] and rates, and of places over the length of the model
PARTS = 1.0, 0.5, 0.1  # of it; the last tells a kink
SMOOTH = 1e-3  # of the largest derivative: what other differences may miss


@dataclass(frozen=True, eq=False)
class MeasuredRows:
    """Values that a user's force function of the state measures at one instant, with their derivatives with respect
    to pose and velocities.

    Attributes:
        values: positions and rates, shape (k,).
        point_rows: d position/dq, zero where a value is a rate, shape (k, velocities).
        rate_rows: d rate/d nu, zero where a value is a position.
        sizes: sizes of the differences of each value, shape (k,).
    """

    values: Array
    point_rows: sparse.csr_array
    rate_rows: sparse.csr_array
    sizes: Array


@dataclass(frozen=True, eq=False)
class LawSlopes:
    """Linearization of a force law that is a function of the state: stiffness and damping matrices of its
    generalized forces for small changes of pose and velocities.

    Attributes:
        name: name of the load or force element.
        stiffness: K, shape (velocities,) * 2.
        levers: L of D = L B: minus the derivative of the forces with respect to each measured value, shape
            (velocities, values).
        rate_rows: B: derivative of the measured values with respect to nu, zero where one is a position, shape
            (values, velocities).
        is_smooth: whether differences of other sizes give the same derivatives.
    """

    name: str
    stiffness: sparse.csr_array
    levers: sparse.csr_array
    rate_rows: sparse.csr_array
    is_smooth: bool

    @property
    def damping(self) -> sparse.csr_array:
        """Return the damping matrix of a force law that is a function of the state, shape (velocities,
        velocities), sparse. It is minus the derivative of its generalized forces with respect to the velocities,
        stored as a product of two factors."""
        return sparse.csr_array(self.levers @ self.rate_rows)


def coordinate_row(system: System, at: Instants, coordinate: Coordinate) -> tuple[Array, float]:
    """Return the derivative of a joint coordinate's rate with respect to the velocities at one instant, and its
    rate at zero velocities. The first has the shape (velocities,) and is also the gradient of the coordinate (angle
    or length) with respect to the pose; the second comes from moving ground frames and prescribed paths. The rate
    is the first @ velocities plus the second.
    """
    functions = system.coordinate_functions(coordinate)
    gradient = coordinate.gradient(functions.values(at)[0])
    return np.asarray(functions.matrix(at).T @ gradient), float(gradient @ functions.drift(at)[0])


def state_law_value(system: System, at: Instants, law: StateLaw) -> Array:
    """Return the force components that a ``law``, a Python function of time and measured values, has at one
    instant of a system, shape (size,). The positions, coordinates and rates that it measures are computed first
    and passed to the function."""
    numbers = measured_rows(system, at, law).values
    return np.atleast_1d(np.asarray(law.controller(float(at.time[0]), numbers), dtype=np.float64)).ravel()


def linearized_state_laws(system: System, at: Instants) -> list[LawSlopes]:
    """Return stiffness and damping of all loads and force elements whose value is a user's function of the state,
    at one instant. Each ``LawSlopes`` of the list has both matrices, by finite differences, for one function; loads
    that share a function give one entry together.
    """
    groups: dict[int, list[tuple[StateLaw, sparse.csr_array, str]]] = {}
    for law, row, name in _state_laws(system, at):
        own = law.controller
        groups.setdefault(id(own.function) if isinstance(own, StateValues) else id(law), []).append(
            (law, row, name)
        )
    return [_slopes(system, at, group) for group in groups.values()]


def _slopes(system: System, at: Instants, group: Sequence[tuple[StateLaw, sparse.csr_array, str]]) -> LawSlopes:
    measured = [measured_rows(system, at, law) for law, _, _ in group]
    positions, rates = (
        sparse.csr_array(sparse.vstack([getattr(each, name) for each in measured]))
        for name in ("point_rows", "rate_rows")
    )
    slopes = [_derivative(law, float(at.time[0]), each) for (law, *_), each in zip(group, measured, strict=True)]
    levers = [-row.T @ sparse.csr_array(slope) for (_, row, _), (slope, _) in zip(group, slopes, strict=True)]
    left, are_smooth = sparse.csr_array(sparse.hstack(levers)), all(is_smooth for _, is_smooth in slopes)
    return LawSlopes(group[0][2], sparse.csr_array(left @ positions), left, rates, are_smooth)


def _derivative(law: StateLaw, time: float, measured: MeasuredRows) -> tuple[Array, bool]:
    """Return the derivative of a user's force function of the state with respect to its ``measured`` values, and
    whether it is smooth there. ``law`` has the function. The derivative, shape (force components, values), is
    extrapolated from central differences of two sizes. It is not smooth if a much smaller difference, or the left
    and the right one, disagree (kink or jump).
    """

    def value(measured: Array) -> Array:
        return np.atleast_1d(np.asarray(law.controller(time, measured), dtype=np.float64)).ravel()

    middle, columns, others = value(measured.values), [], []
    for k, size in enumerate(measured.sizes):
        change = np.zeros(len(measured.sizes))
        change[k] = size
        pairs = [(value(measured.values + part * change), value(measured.values - part * change)) for part in PARTS]
        wide, half, near = ((one - two) / (2 * part * size) for (one, two), part in zip(pairs, PARTS, strict=True))
        columns.append((4 * half - wide) / 3)  # exact for polynomials of degree 4
        others += [near - columns[-1], (sum(pairs[2]) - 2 * middle) / (PARTS[2] * size)]
    slope = np.array(columns).T
    largest = np.abs(slope).max(initial=0.0)
    return slope, bool(np.abs(others).max(initial=0.0) <= max(SMOOTH * largest, 1e-9 * np.abs(middle).max() / 1e-4))


def _state_laws(system: System, at: Instants) -> list[tuple[StateLaw, sparse.csr_array, str]]:
    """Return all loads, then all force elements, whose value is a user's function of the state, as tuples (function
    object, Jacobian, name). The sparse Jacobian, shape (components, velocities), times the velocities gives the
    world velocity of the loaded point, or the rate of the element's length or angle; its transpose times the values
    gives generalized forces.
    """
    found = []
    for load in system.loads:
        if isinstance(load.value, StateLaw):
            found.append((load.value, _point_rows(system, at, load.attachment)[1], str(load)))
    for element, force in system.forces:
        if isinstance(force.value, StateLaw):
            row = coordinate_row(system, at, force.coordinate)[0]
            found.append((force.value, sparse.csr_array(row[None]), str(element)))
    return found


def _point_rows(system: System, at: Instants, port: Attachment) -> tuple[tuple[Array, Array], sparse.csr_array]:
    """Return world position and velocity of a point of a body (``port``) at one instant, each of shape (3,), and
    the Jacobian of its velocity. The Jacobian is sparse, shape (3, velocities)."""
    weights, vectors = system.point(port)
    pick = sparse.csr_array(np.kron(weights, np.eye(3)))
    rates = vectors.rates(at, at.velocity)[0]
    return (weights @ vectors.values(at)[0], weights @ rates), sparse.csr_array(pick @ vectors.jacobian(at))


def measured_rows(system: System, at: Instants, law: StateLaw) -> MeasuredRows:
    """Return the k values that a force ``law``, a function of the state, measures at one instant, and their
    derivatives. Derivatives with respect to pose and velocities are sparse, both (k, velocities). A point gives
    position, then velocity, in world axes; a joint coordinate gives value (angles within half a turn), then rate.
    Sizes for difference quotients (k,) are included."""
    size, length = int(system.layout.velocity[-1]), system.largest_length
    values: list[float] = []
    sizes: list[float] = []
    positions: list[sparse.csr_array] = []
    rates: list[sparse.csr_array] = []
    for item in law.measured:
        if isinstance(item, Attachment):
            own, rows = _point_rows(system, at, item)
            values += [*own[0], *own[1]]
            nothing = sparse.csr_array((3, size))
            positions, rates = [*positions, rows, nothing], [*rates, nothing, rows]
            sizes += [DIFFERENCE * length] * 6
            continue
        for coordinate in item.coordinates(system.dimension):  # type: ignore[union-attr]  # laws measure no sensors
            row, drift = coordinate_row(system, at, coordinate)
            value = coordinate.value(system.coordinate_functions(coordinate).values(at)[0])
            values += [value, row @ at.velocity[0] + drift]
            one, none = sparse.csr_array(row[None]), sparse.csr_array((1, size))
            positions, rates = [*positions, one, none], [*rates, none, one]
            sizes += [DIFFERENCE * (1.0 if coordinate.is_angle else length)] * 2
    stacked = [sparse.csr_array(sparse.vstack(rows, "csr")) for rows in (positions, rates)]
    return MeasuredRows(np.array(values), stacked[0], stacked[1], np.array(sizes))


def load_value(system: System, at: Instants, load: PointLoad) -> Array:
    """Return the value (force, moment or pressure components) of a load of a system at one instant, shape (3,). A
    Python function of the state is evaluated and its result checked. Constants and functions of time are evaluated
    at the time; a load set by a controller is zero."""
    if isinstance(load.value, StateLaw):
        value = state_law_value(system, at, load.value)
        load.check_components(value, system.dimension, at.time)
        return value
    return load.at_time(float(at.time[0]))


def state_law_force(system: System, at: Instants, force: CoordinateForce) -> float:
    """Return the contribution of a Python function of the state to a scalar element force at one instant [N or N
    m]. It is zero if ``force``, which acts along a joint coordinate, has no such function."""
    return float(state_law_value(system, at, force.value)[0]) if isinstance(force.value, StateLaw) else 0.0


def law_stiffness(system: System, at: Instants) -> sparse.csr_array:
    """Return the derivative of the generalized forces of all Python functions of the state with respect to the
    pose, sparse, shape (velocities, velocities). It is minus the sum of the stiffness matrices of
    ``linearized_state_laws``. The directions in which the forces act are kept constant."""
    size = int(system.layout.velocity[-1])
    total = sparse.csr_array((size, size))
    for slopes in linearized_state_laws(system, at):
        total = total - slopes.stiffness
    return sparse.csr_array(total)


def has_laws(system: System) -> bool:
    """Return whether the value of any load or force element of a system is a Python function of the state."""
    values = [load.value for load in system.loads] + [force.value for _, force in system.forces]
    return any(isinstance(value, StateLaw) for value in values)


# Forces are power-conjugate to nu (docs/theory.md, 7). Small motions dq = (dx, dtheta, deta) move a body by
# (x_c + dx, R exp(dtheta), eta + deta), in the places of nu.


@dataclass(frozen=True, eq=False)
class ElementState:
    """Scalar element forces (springs, dampers, motors) at one instant, with the derivatives of their coordinates.

    Attributes:
        system, at: mechanism of the elements, and its state as an instant.
        laws: force laws, as they are after flows through the guides of tendons.
        coordinates: the coordinate of each law as a function of world vectors.
        theta: values of the coordinates, angles over full turns, shape (forces,).
        rows: Jacobian of the coordinates with respect to the velocities, shape (forces, velocities). Its transpose
            maps element forces to generalized forces.
    """

    system: System
    at: Instants
    laws: Sequence[CoordinateForce]
    coordinates: ConstraintSet
    theta: Array
    rows: sparse.csr_array

    @property
    def damper_rows(self) -> sparse.csr_array:
        """Sparse factor B, shape (k, velocities), of the damping matrix B^T B of all force elements at this state.
        Each element has one or more of the k rows: the root of its damping coefficient at the present length or
        angle, times the gradient of this coordinate. Without elements B has no rows.
        """
        functions, positions = self.coordinates.functions, self.coordinates.related
        if not positions:
            return self.rows
        y, each = functions.values(self.at)[0], zip(positions, self.laws, self.theta.tolist(), strict=True)
        blocks = [one.coordinate.damper_rows(y[one.part], law.damping_at(theta)) for one, law, theta in each]
        return sparse.csr_array(sparse.block_diag(blocks, "csr") @ functions.matrix(self.at))

    def forces(self, theta: Array, velocity: Array, prescribed: Array) -> Array:
        """Return the force of every element along its coordinate, shape (forces,) [N or N m]: the sum of its spring
        or potential force at the coordinate ``theta``, its damper and friction force at the ``velocity`` nu, and
        its ``prescribed`` part. Angles in ``theta`` may be over full turns, where springs are wound up."""
        rates = self.rows @ velocity + self.coordinates.drift(self.at)[0]
        each = list(zip(self.laws, theta.tolist(), rates.tolist(), strict=True))
        stored = np.array([law.conservative_force(x) for law, x, _ in each], dtype=np.float64)
        lost = np.array([law.dissipative_force(x, rate) for law, x, rate in each], dtype=np.float64)
        return np.asarray(stored + lost + prescribed)


def element_state(system: System, at: Instants, state: State) -> ElementState:
    """Return lengths, angles and laws of all scalar force elements at one instant, as an ``ElementState`` that
    computes their forces. ``at`` and ``state`` are the same state. Angles are shifted by full turns to the values
    nearest to those stored in ``state.theta``; rest lengths of tendons with friction follow from its history
    variables.
    """
    laws, own, branches = laws_after_flows(system, state.branches), system.force_coordinates, state.branches
    near = None if state.theta is None else state.theta[None]
    if branches is not None:
        pairs = zip(own.related, laws, strict=True)
        own = replace(own, related=tuple(replace(each, coordinate=law.coordinate) for each, law in pairs))
    return ElementState(system, at, laws, own, own.values(at, near)[0], own.matrix(at))


def controllers(system: System) -> list[tuple[PointLoad | ForceElement, Feedback]]:
    """Return each load and force element of a system whose value is that of a controller at its samples, with this
    controller. Loads come first. Functions of the state, which have a value in every state, are not among them."""
    parts: list[tuple[PointLoad | ForceElement, object]] = [(load, load.value) for load in system.loads]
    parts += [(element, force.value) for element, force in system.forces]
    return [(part, law) for part, law in parts if isinstance(law, Feedback) and not isinstance(law, StateLaw)]


def laws_after_flows(system: System, branches: Array | None) -> list[CoordinateForce]:
    """Return the force laws of all scalar force elements of a system after material has slipped through guides of
    tendons. They are in the order of the system's forces. Laws of tendons with friction are replaced by copies with
    the rest lengths that the history variables ``branches`` give; for None nothing has slipped.
    """
    laws = [force for _, force in system.forces]
    if branches is None:
        return laws
    own = zip(laws, flows(system, branches), strict=True)
    return [replace(law, coordinate=law.coordinate.at_history(flow)) if flow.size else law for law, flow in own]


def applied_forces(system: System, state: State, at: Instants | None = None, factor: float = 1.0) -> Array:
    """Return the generalized forces of gravity, all loads and all force elements of a system in a state, shape
    (velocities,) [N, N m, ...]. Gravity, loads and prescribed element forces are multiplied by ``factor``, springs
    and dampers are not. Elastic forces inside bodies and joint reactions are not included. ``at`` is the same
    state as an instant, computed if None.

    ``nu @ applied_forces`` is their power. Functions of the state count; controllers, which have no value before
    they run, give none.

    Args:
        system: mechanism that is loaded.
        state: state in which the forces act.
        at: the state as an instant, where the caller has it.
        factor: factor of gravity, loads and prescribed element forces; springs and dampers count fully.

    Raises:
        ModelError: a kind of load that has no force at an instant of rest.
    """
    here = system.at(state) if at is None else at
    result = factor * gravity_and_load_forces(system, here)
    if system.forces:
        elements = element_state(system, here, state)
        prescribed = factor * prescribed_forces(system, here)
        result += elements.rows.T @ elements.forces(elements.theta, state.velocity, prescribed)
    return result


def gravity_and_load_forces(system: System, at: Instants) -> Array:
    """Return the generalized forces of gravity and all loads of a system at one instant, shape (velocities,) [N, N
    m, ...]. Force elements such as springs are not included.

    Raises:
        ModelError: a kind of load that has no force at an instant of rest.
    """
    result = gravity_forces(system)
    for vectors, forces in load_forces(system, at):
        result += vectors.jacobian(at).T @ forces.ravel()
    return result


def body_forces(system: System, state: State, of: Callable[[BodyData, Array], Array] = elastic_force) -> Array:
    """Return the values of a function ``of`` for all bodies in a state, shape (velocities,). By default it is
    dV/deta, the gradient of the strain energy, which is minus the elastic force. The function is called once for
    each group of identical bodies. Its values are stored at the elastic velocities; those of rigid motion are
    zero."""
    result = np.zeros(int(system.layout.velocity[-1]))
    values = system.evaluate_bodies(state, lambda own, eta: of(system.bodies[own[0]].data, eta))
    for index, value in enumerate(values):
        result[system.layout.span(index)][system.bodies[index].data.rigid_count :] = value
    return result


def gravity_forces(system: System) -> Array:
    """Return the weights of all bodies of a system as generalized forces, shape (velocities,) [N]. They are stored
    at the translational velocities of floating bodies (centre of mass) and of the nodes of other bodies; all
    others are zero."""
    result = np.zeros(int(system.layout.velocity[-1]))
    d, gravity = system.dimension, system.mechanism.gravity
    if not gravity.any():
        return result
    for index, data in enumerate(system.frames):
        begin = int(system.layout.velocity[index])
        result[begin : begin + d] = data.mass * gravity[:d]
    for index, body in enumerate(system.nodal, start=system.layout.frames):
        result[system.layout.span(index)] = np.outer(body.translational_mass, gravity[:d]).ravel()
    return result


def load_forces(system: System, at: Instants, values: Array | None = None) -> Iterator[tuple[VectorSet, Array]]:
    """Yield for each load a set of k points or body axes, and the world forces on them at one instant, shape (k,
    3). The loads have the given ``values``, shape (loads, 3), or if None those at the instant, which are zero for
    controllers.

    Args:
        system: mechanism that is loaded.
        at: instant at which the loads act.
        values: values of the loads, shape (loads, 3); None: those at the instant, zero for controllers.
    """
    for number, load in enumerate(system.loads):
        yield forces_of_load(system, at, load, load_value(system, at, load) if values is None else values[number])


def forces_of_load(system: System, at: Instants, load: PointLoad, value: Array) -> tuple[VectorSet, Array]:
    """Return k vectors of bodies and the world forces on them at one instant, shape (k, 3), that represent a load
    of the given ``value``. A force acts on one point, a pressure on all nodes of its surface, against the normal.
    A moment becomes three forces on the three body axes at its point, whose virtual work is the same."""
    if isinstance(load, SurfacePressure):
        vectors = VectorSet(tuple(surface_nodes(system, load)), system.layout)
        return vectors, load.surface.forces(float(value[0]), vectors.values(at)[0])
    vectors = system.vectors(loaded_vectors(load))
    triad = system.vectors(body_axes(load.attachment)).values(at)[0] if needs_body_axes(load) else AXES
    return vectors, forces_on_vectors(load, triad, value)


def surface_nodes(system: System, load: SurfacePressure) -> list[CarriedVector]:
    """Return all nodes of the surface on which a pressure acts, as numerical vectors of the system. They are in
    the order of the surface's nodes and contain indices rather than positions."""
    first = int(system.layout.carrier[system.index[load.attachment.placed]])
    zero, nothing = np.zeros(3), np.zeros((3, 0))
    return [CarriedVector(first + int(node), True, zero, nothing) for node in load.surface.nodes]


def needs_body_axes(load: PointLoad) -> bool:
    """Return whether the force of a load depends on the body axes at its attachment: True for a moment and for a
    force whose components are in body axes."""
    return (not isinstance(load, SurfacePressure) and not isinstance(load, Force)) or load.axes is Axes.BODY


def loaded_vectors(load: PointLoad) -> tuple[Vector, ...]:
    """Return the symbolic vectors on which a ``load`` acts: the point of a force, or the three body axes at the
    attachment of a moment. ModelError is raised for other kinds of load.

    Raises:
        ModelError: an unknown kind of load.
    """
    if not isinstance(load, Force | Torque):
        raise ModelError(f"{load}: no quasi-static start with a {type(load).__name__}; start undeformed")
    return (PointOf(load.attachment),) if isinstance(load, Force) else body_axes(load.attachment)


def forces_on_vectors(load: PointLoad, triad: Array, value: Array) -> Array:
    """Return the world forces, shape (k, 3), on the vectors that a load acts on: for a force of value f, shape
    (3,), one force on the attachment point; for a moment three forces on the body axes, which are the rows of
    ``triad``.

    A moment acts on the directions d_i with t x d_i, docs/theory.md, 4, (4.16).
    """
    world = triad.T @ value if load.axes is Axes.BODY else value
    if isinstance(load, Force):
        return np.asarray(world)[None]
    spread = (triad**2).sum() * np.eye(3) - triad.T @ triad
    return np.asarray(np.cross(np.linalg.solve(spread, world), triad))


def body_axes(attachment: Attachment) -> tuple[DirectionOf, ...]:
    """Return the x, y and z axis of a body at one of its points as three symbolic directions. They rotate with the
    deformed body at that point."""
    return tuple(DirectionOf(attachment, attachment.placed.rotation @ axis) for axis in AXES)


def prescribed_force(force: CoordinateForce, time: float) -> float:
    """Return the constant value of a scalar element force, or the value at ``time`` of the user's function of time
    [N or N m]. It is zero if a controller or a function of the state sets the force. Springs and dampers are not
    included."""
    if isinstance(force.value, Feedback):
        return 0.0
    if callable(force.value):
        return number_at(force.value, f"force along {force.coordinate.name}", time)
    return float(force.value)


def prescribed_forces(system: System, at: Instants) -> Array:
    """Return the prescribed part of the scalar force of every force element at one instant, shape (forces,) [N or
    N m]. It is the sum of constants, functions of time and Python functions of the state; springs and dampers are
    not included. Servos have their values at rest if the motions of ``at`` are stopped."""
    time, parts = float(at.time[0]), []
    for _, force in system.forces:
        if isinstance(force.value, ServoPush) and getattr(at.prescribed, "are_still", False):
            force = replace(force, value=force.value.at_rest)
        parts.append(prescribed_force(force, time) + state_law_force(system, at, force))
    return np.array(parts, dtype=np.float64)


def constraint_stiffness(system: System, state: State, multipliers: Array) -> sparse.csr_array:
    """Return the derivative of the generalized constraint forces of a system in a state with respect to the
    pose, at constant multipliers. These forces are the transposed constraint matrix times the multipliers;
    the result has the shape (velocities, velocities), sparse: the geometric stiffness of loaded joints."""
    return sparse.csr_array(system.rows.stiffness(system.at(state), multipliers))


def load_stiffness(system: System, state: State, factor: float = 1.0) -> sparse.csr_array:
    """Return the derivative of the generalized forces of loads and force elements with respect to the pose in a
    state, sparse, shape (velocities, velocities). Loads and functions of the state are multiplied by ``factor``,
    springs and other elements are not. It is a stiffness with negative sign.

    It is exact, except that the prescribed parts of elements count fully. Moments in space make it unsymmetric.
    """
    elements = element_stiffness(element_state(system, system.at(state), state))
    total = factor * stiffness_of_loads(system, state) + elements
    return sparse.csr_array(total + factor * law_stiffness(system, system.at(state)) if has_laws(system) else total)


def stiffness_of_loads(system: System, state: State, of_followers: bool = False) -> sparse.csr_array:
    """Return the derivative of the generalized forces of all loads with respect to the pose, sparse, shape
    (velocities, velocities). It comes from moment arms, pressed surfaces, body axes in which forces are constant,
    and axes on which a moment acts as forces. Values that are functions of the state are constant here. With
    ``of_followers``, forces in constant world directions are left out. Force elements are not included.
    """
    at, size = system.at(state), int(system.layout.velocity[-1])
    total = sparse.csr_array((size, size))
    for load, (vectors, forces) in zip(system.loads, load_forces(system, at), strict=True):
        if of_followers and isinstance(load, Force) and load.axes is Axes.WORLD:
            continue
        total = total + vectors.lever_stiffness(at, forces)
        if isinstance(load, SurfacePressure):
            jacobian = vectors.jacobian(at)
            pressure = float(load.at_time(state.time)[0])
            total = total + jacobian.T @ load.surface.stiffness(pressure, vectors.values(at)[0]) @ jacobian
        if isinstance(load, Force) and load.axes is Axes.BODY:
            turning = system.vectors(body_axes(load.attachment)).jacobian(at)
            parts = sparse.kron(load.at_time(state.time)[None], sparse.eye_array(3))
            total = total + vectors.jacobian(at).T @ parts @ turning
        if isinstance(load, Torque):
            jacobian = vectors.jacobian(at)
            spread = partial(forces_on_vectors, load, value=load_value(system, at, load))
            changes = [exact_slope(spread, vectors.values(at)[0], each) for each in np.eye(9).reshape(9, 3, 3)]
            total = total + jacobian.T @ np.reshape(changes, (9, 9)).T @ jacobian
    return sparse.csr_array(total)


def element_stiffness(elements: ElementState, with_curvature: bool = True) -> sparse.csr_array:
    """Return the derivative of the generalized forces of all force ``elements`` with respect to the pose at
    constant velocities, sparse, shape (velocities, velocities). A spring thus contributes minus its stiffness.
    Unless ``with_curvature`` is False, the change of the directions of spring and prescribed forces is
    included."""
    at, rows = elements.at, elements.rows
    laws = list(zip(elements.laws, elements.theta.tolist(), strict=True))
    total = rows.T @ rows.multiply(np.array([force.tangent(theta) for force, theta in laws])[:, None])
    if with_curvature and laws:
        stored = np.array([force.conservative_force(theta) for force, theta in laws])
        total = total + elements.coordinates.stiffness(at, stored + prescribed_forces(elements.system, at))
    return sparse.csr_array(total)
