"""The linear model of a mechanism put together from its bodies: joints are transformers ([B] 5.2, (42)).

Each body is a ``LinearPHDAE`` of its own, with a port for every row of every joint on it: its input is the
joint's multiplier, its output what the body contributes to dg/dt. A transformer with C = -1 makes the
outputs of two bodies cancel, ``y_b = -y_a``, and gives both the same multiplier. The ground is a model
without states, whose outputs are zero; it also closes loops: there the outputs of two ports of
one model cancel. The result is the model of ``linearize``, in the same order.
"""

from dataclasses import replace

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.description.interactions.functions import Bilinear
from phlexible.description.joints.joint import Joint
from phlexible.description.ports import Attachment, PlacedBody
from phlexible.errors import EquilibriumError, ModelError
from phlexible.linear.equilibria import OperatingKind
from phlexible.linear.linearize import Linearization, displacement_form
from phlexible.linear.signals import body_coordinates, multipliers, row_units
from phlexible.port_hamiltonian.interconnection import gyrator, transformer
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import Port, StateGroup
from phlexible.state.small_motions import centring_matrix, world_matrix


def body_model(linear: Linearization, body: PlacedBody) -> LinearPHDAE:
    """Return the linear port-Hamiltonian model of one ``body`` of a linearized mechanism, cut free from its joints.
    Its states are small displacements and velocities (q, v), then strains of viscoelastic branches. It has one port
    for every scalar constraint of its joints, by which models can be connected again, and one for every input that
    acts on it. Springs between bodies, or an operating point with loads, raise an error.

    Raises:
        ModelError: a body of another model, or springs and dampers between bodies.
        EquilibriumError: a loaded operating point, whose joint forces couple the stiffnesses of bodies.
    """
    return _Parts(linear).model(body)


def composed_model(linear: Linearization) -> LinearPHDAE:
    """Return the linear port-Hamiltonian model of a complete mechanism in displacement form, built by connecting
    the models of its bodies. Each scalar constraint of a joint connects one port of each body and adds one
    multiplier. States and inputs are finally sorted as ``linearize`` sorts them, whose result in displacement form
    is the same.

    Raises:
        ModelError: springs and dampers between bodies.
        EquilibriumError: a loaded operating point, whose joint forces couple the stiffnesses of bodies.
    """
    parts = _Parts(linear)
    models = {placed: parts.model(placed) for placed in linear.system.bodies}
    ties: list[StateGroup] = []
    for number, (joint, rows) in enumerate(_joint_rows(linear)):
        bodies = parts.bodies_of(joint)
        for count, row in enumerate(rows):
            ports = [_port_name(body, number, count) for body in bodies]
            met = [models[body] for body in bodies]
            whole = _connect_row(met, ports, row, f"joint {number} row {count}")
            ties.append(whole.states[-1])
            for body, model in models.items():
                if any(model is part for part in met):
                    models[body] = whole
    return parts.in_order(_combine(models), ties)


def _connect_row(models: list[LinearPHDAE], ports: list[str], row: Bilinear, name: str) -> LinearPHDAE:
    """Connect one or two linear models of bodies by a scalar joint constraint (``row``), and return the connected
    model. The ports ``ports`` (names) are connected: with each other if there are two models, otherwise all with a
    model of the ground, whose port is called after ``name`` (joint and constraint). The last state of the result is
    the multiplier of the constraint.
    """
    if len(models) == 2 and models[0] is not models[1]:
        return transformer(models[0], models[1], [[-1.0]], (ports[0], ports[1]))
    nothing, port = sparse.csr_array((0, 0)), Port(f"ground at {name}", *row_units(row), 1)
    ground = LinearPHDAE(nothing, nothing, nothing, sparse.csr_array((0, 1)), (), (port,))  # its velocity is zero
    return transformer(models[0], ground, -np.ones((len(ports), 1)), (ports, port.name))


def _combine(models: dict[PlacedBody, LinearPHDAE]) -> LinearPHDAE:
    """Return one linear model that contains all ``models`` side by side, without coupling between them. ``models``
    has the model of each body; bodies that are connected already share one model object, which is added once.
    """
    different = list({id(model): model for model in models.values()}.values())
    whole = different[0]
    for model in different[1:]:
        whole = gyrator(whole, model, np.zeros((0, 0)), ([], []))
    return whole


def _port_name(body: PlacedBody, joint: int, row: int) -> str:
    """Return the name of the port of a body that belongs to one scalar constraint (index ``row``) of the joint with
    the index ``joint``."""
    return f"{body.name}, joint {joint} row {row}"


class _Parts:
    """Bodies of a linearized mechanism as separate models, with their ports and the order of states in the
    whole.
    """

    def __init__(self, linear: Linearization) -> None:
        if linear.point.kind is not OperatingKind.UNLOADED:
            raise EquilibriumError(
                "forces in joints couple the stiffnesses of bodies, so a model about a loaded point is not "
                'the sum of its bodies; take at="unloaded"'
            )
        if relations := linear.system.mechanism.relations:
            raise ModelError(f"{relations[0]} relates joints and is not composed from bodies; use linearize()")
        self._refuse_coupled(linear)
        self._linear = linear
        self._joints = _joint_rows(linear)
        self._inputs: dict[str, int] = {}  # port of a body: number of the input

    @staticmethod
    def _refuse_coupled(linear: Linearization) -> None:
        """Raise ``ModelError`` if the linearized stiffness, damping or velocity matrix has a nonzero entry that
        couples two bodies. Relaxation stiffness of viscoelastic parts is also searched. Such springs and dampers
        belong to neither body's model; the message names the two bodies of the first entry found."""
        sizes = np.diff(linear.system.layout.velocity)
        owner = np.repeat(np.arange(len(sizes)), sizes)
        mechanics = linear.mechanics
        pairs = [sparse.coo_array(each) for each in (mechanics.stiffness, mechanics.damping, mechanics.velocity)]
        pairs += [sparse.coo_array(each.fast_stiffness) for each in mechanics.inner]
        for each in pairs:
            across = np.flatnonzero((owner[each.row] != owner[each.col]) & (each.data != 0))
            if len(across):
                first, second = (linear.system.bodies[owner[at[across[0]]]].name for at in (each.row, each.col))
                raise ModelError(
                    f"a spring or damper acts between {first} and {second} and is a part of neither; compose bodies"
                    " without such forces, or use linearize()"
                )

    def bodies_of(self, joint: Joint) -> list[PlacedBody]:
        """Return the bodies that a joint connects, one or two; the ground is not listed."""
        return [port.placed for port in (joint.first, joint.second) if isinstance(port, Attachment)]

    def model(self, body: PlacedBody) -> LinearPHDAE:
        """Return the linear port-Hamiltonian model of one ``body`` in displacement form, without constraints. Its
        matrices are the body's rows and columns of the linearized mechanism. It has one port for each scalar
        constraint of a joint on the body, then one for each input that acts on it. Raise ``ModelError`` for a body
        of another model."""
        linear = self._linear
        index = next((k for k, placed in enumerate(linear.system.bodies) if placed is body), None)
        if index is None:
            raise ModelError(f"body must be one of the model that was linearized, got {body!r}")
        begin, end = (int(k) for k in linear.system.layout.velocity[index : index + 2])
        columns, ports = [], []
        for number, (joint, rows) in enumerate(self._joints):
            if body in self.bodies_of(joint):
                for count, row in enumerate(rows):
                    columns.append(self._gradient(row, index))
                    ports.append(Port(_port_name(body, number, count), *row_units(row), 1))
        for number, (port, force) in enumerate(zip(linear.ports, linear.mechanics.forces.T, strict=True)):
            if force[begin:end].any():
                columns.append(force[begin:end])
                ports.append(replace(port, name=f"{body.name}, {port.name}"))
                self._inputs[ports[-1].name] = number
        own = slice(begin, end)
        mechanics = linear.mechanics
        alone = replace(
            mechanics,
            mass=mechanics.mass[own, own],
            velocity=mechanics.velocity[own, own],
            damping=mechanics.damping[own, own],
            stiffness=mechanics.stiffness[own, own],
            constraint_matrix=sparse.csr_array((0, end - begin)),
            forces=np.array(columns).reshape(-1, end - begin).T,
            inner=tuple(each.caused_by(own) for each in mechanics.inner),
        )
        return displacement_form(alone, body_coordinates(body), tuple(ports))

    def in_order(self, whole: LinearPHDAE, ties: list[StateGroup]) -> LinearPHDAE:
        """Return a copy of ``whole``, the connected linear model of all bodies, with states and inputs in the order
        of ``linearize``. States are permuted by their names; ``ties`` are the states of constraint multipliers, in
        the order of the result, where they come last. Ports of several bodies that belong to one input of the
        mechanism become one, by adding their columns of the input matrix.
        """
        linear = self._linear
        coordinates = linear.coordinates
        names = [block.name for block in coordinates]
        names += [f"rate of {name}" for name in names]
        names += [block.name for each in linear.mechanics.inner for block in each.names]
        names += [block.name for block in ties]
        index = {block.name: k for k, block in enumerate(whole.states)}
        order = np.array([index[name] for name in names], dtype=np.int64)
        pick = sparse.csr_array((np.ones(len(order)), (np.arange(len(order)), order)), (len(order), len(order)))
        gather = np.zeros((whole.port_size, len(linear.ports)))
        for row, port in enumerate(whole.ports):
            gather[row, self._inputs[port.name]] = 1.0
        blocks = tuple(whole.states[k] for k in order[: len(order) - len(ties)])
        return LinearPHDAE(
            pick @ whole.descriptor @ pick.T,
            pick @ whole.structure @ pick.T,
            pick @ whole.dissipation @ pick.T,
            pick @ whole.port_map @ sparse.csr_array(gather),
            (*blocks, *multipliers(linear.system)),
            linear.ports,
            pick @ whole.effort_matrix @ pick.T,
        )

    def _gradient(self, row: Bilinear, body: int) -> Array:
        """Return the derivative of a scalar constraint (``row``) with respect to the small motions of one
        body in body axes, shape (velocities of the body,). ``body`` is its index."""
        system, state = self._linear.system, self._linear.point.state
        motion = world_matrix(system, state) @ centring_matrix(system, state)
        matrix = system.functions([row]).matrix(system.at(state)) @ motion
        return np.asarray(matrix[[0]].toarray()[0, system.layout.span(body)])


def _joint_rows(linear: Linearization) -> list[tuple[Joint, tuple[Bilinear, ...]]]:
    """Return all joints of a linearized mechanism (``linear``) in order, each with its scalar constraints."""
    return [(joint, joint.constraints(linear.system.dimension)) for joint in linear.system.mechanism.joints]
