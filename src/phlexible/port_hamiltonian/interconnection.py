"""Models with other names or exchanged ports, and interconnection by gyrator and transformer; (38)-(44) of Brugnoli
et al. (2020).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray, called, check_callable, reals, text
from phlexible.errors import ModelError
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import (
    ComposedModel,
    Matrix,
    Port,
    PortHamiltonianModel,
    Renamed,
    StateGroup,
    check_model,
    check_names,
)

# One model with other names, or with inputs and outputs exchanged ((43)).


@overload
def with_prefix(model: LinearPHDAE, prefix: str) -> LinearPHDAE: ...
@overload
def with_prefix(model: PortHamiltonianModel, prefix: str) -> PortHamiltonianModel: ...
def with_prefix(model: PortHamiltonianModel, prefix: str) -> PortHamiltonianModel:
    """Return a copy of a port-Hamiltonian model in which each state block and port ``name`` is called
    ``prefix.name``. All matrices are unchanged. Two equal models can then be connected without name clashes.

    Raises:
        ModelError: not a model.
        ParameterError: a prefix that is not a text.
    """
    check_model("model", model)
    prefix = text("prefix", prefix)
    states = tuple(replace(block, name=f"{prefix}.{block.name}") for block in model.states)
    ports = tuple(replace(port, name=f"{prefix}.{port.name}") for port in model.ports)
    if isinstance(model, LinearPHDAE):
        return replace(model, states=states, ports=ports)
    return Renamed(model, states, ports)


@overload
def inverted(model: LinearPHDAE, port: str) -> LinearPHDAE: ...
@overload
def inverted(model: PortHamiltonianModel, port: str) -> PortHamiltonianModel: ...
def inverted(model: PortHamiltonianModel, port: str) -> PortHamiltonianModel:
    """Return a port-Hamiltonian model in which input and output of the named port are exchanged. The former input
    becomes a Lagrange multiplier, appended to the state; its algebraic equation sets the former output to the new
    input (equation (43) of Brugnoli et al. 2020).

    ``[E 0; 0 0] d(x, lambda)/dt = [J B_p; -B_p^T 0] (z, lambda) + (0, u_p) + (B, 0) u``, y_p = lambda.
    The result is improper (the input acts on an algebraic row) until a proper model is connected.
    Name and position of the port do not change.

    Raises:
        ModelError: not a model, or no port of that name.
    """
    check_model("model", model)
    result = Inverted(model, model.port_slice(port), port)
    return (
        _linear(result, [model], model.exchanged + result.multipliers) if isinstance(model, LinearPHDAE) else result
    )


def _linear(whole: ComposedModel, parts: Sequence[LinearPHDAE], exchanged: int = 0) -> LinearPHDAE:
    """Return a model connected of linear models as a ``LinearPHDAE`` with constant matrices. These are evaluated
    at the zero state of the connected model ``whole``. ``parts`` are the models that it consists of; their maps
    from states to efforts become diagonal blocks, with an identity block for multipliers. ``exchanged``, the
    number of last states that are multipliers of exchanged ports, is stored in the result."""
    rest = np.zeros(whole.state_size)
    return LinearPHDAE(
        whole.descriptor_matrix(rest),
        whole.structure_matrix(rest),
        whole.dissipation_matrix(rest),
        whole.port_matrix(rest),
        whole.states,
        whole.ports,
        sparse.block_diag([*(part.effort_map for part in parts), sparse.eye_array(whole.multipliers)], "csr"),
        exchanged=exchanged,
    )


@dataclass(frozen=True, eq=False)
class Inverted(ComposedModel):
    """Port-Hamiltonian model with exchanged input and output of one port, as ``inverted`` returns it."""

    model: PortHamiltonianModel
    columns: slice
    name: str

    def __post_init__(self) -> None:
        changed = tuple(
            Port(p.name, p.output_unit, p.input_unit, p.size) if p.name == self.name else p
            for p in self.model.ports
        )
        port = self.model.port(self.name)
        block = StateGroup(f"multiplier of {self.name}", port.input_unit, port.size)
        object.__setattr__(self, "ports", changed)
        object.__setattr__(self, "states", (*self.model.states, block))

    @property
    def parts(self) -> tuple[PortHamiltonianModel, ...]:
        """The single port-Hamiltonian model whose port is exchanged, as a tuple."""
        return (self.model,)

    def structure_matrix(self, x: Array) -> Matrix:
        """Return the skew structure matrix of a port-Hamiltonian model with an exchanged port at the state x as a
        sparse matrix (n, n). It is [[J, B_p], [-B_p^T, 0]], where J and B_p are the structure matrix and the port's
        input columns of the original model."""
        inner = self._inner(x)
        port = sparse.csr_array(self.model.port_matrix(inner))[:, self.columns]
        return sparse.block_array([[self.model.structure_matrix(inner), port], [-port.T, None]], format="csr")

    def port_matrix(self, x: Array) -> Matrix:
        """Return the input matrix B of a port-Hamiltonian model with an exchanged port at the state x, sparse,
        shape (n, m) for m inputs. The columns of the exchanged port are zero except for an identity in the last
        rows, those of its Lagrange multipliers. All other columns are those of the original model, with zeros in
        these rows."""
        upper = sparse.lil_array(self.model.port_matrix(self._inner(x)))
        upper[:, self.columns] = 0.0
        unit = sparse.lil_array((self.multipliers, self.model.port_size))
        unit[:, self.columns] = np.eye(self.multipliers)
        return sparse.vstack([upper, unit], format="csr")

    def flows(self, x: Array, z: Array, u: Array) -> Array:
        """Return the right-hand sides of a port-Hamiltonian model with an exchanged port for T states x, efforts z
        and inputs u; shape (T, n). The multipliers, last in z, are the inputs of that port in the original model.
        The last entries of the result are the new inputs of the port minus its original outputs, which must
        vanish."""
        inner = self.model.state_size
        inputs, states, efforts = u.copy(), x[:, :inner], z[:, :inner]
        inputs[:, self.columns] = z[:, inner:]
        gap = u[:, self.columns] - self.model.output_products(states, efforts)[:, self.columns]
        return np.hstack([self.model.flows(states, efforts, inputs), gap])

    def output_products(self, x: Array, z: Array) -> Array:
        """Return the outputs, shape (T, inputs), of a port-Hamiltonian model with an exchanged port for T states x
        and efforts z. Outputs of the exchanged port are its multipliers, the last efforts; all others are those of
        the original model."""
        inner = self.model.state_size
        outputs = self.model.output_products(x[:, :inner], z[:, :inner])
        outputs[:, self.columns] = z[:, inner:]
        return outputs

    def without_multipliers(self, x: Array) -> Array:
        """Return a copy of the state x, shape (n,), without the multipliers of exchanged ports, as a shorter
        array. The multipliers at the end are dropped, and those that the original model has itself."""
        return self.model.without_multipliers(self._inner(x))

    def _inner(self, x: Array) -> Array:
        """Return the first entries of the state x, shape (n,), which are the state of the model before its port was
        exchanged. The multipliers at the end are left out."""
        return x[: self.model.state_size]


# Gyrator and transformer of two models; (38)-(44) of Brugnoli et al. (2020).

COUPLING, SOMEWHERE = "the coupling", "at a state of the two models"
StateDependent: TypeAlias = Callable[[Array, Array], ArrayLike]
Coupling: TypeAlias = ArrayLike | StateDependent
PortNames: TypeAlias = tuple[str | Sequence[str], str | Sequence[str]]


class ConnectionKind(Enum):
    """Choice of the power-preserving connection of two models by a coupling matrix C: gyrator (inputs follow
    outputs) or transformer (inputs follow inputs).

    GYRATOR: u_a = -C y_b, u_b = C^T y_a. TRANSFORMER: u_a = -C u_b, y_b = C^T y_a.
    """

    GYRATOR = "gyrator"
    TRANSFORMER = "transformer"


@overload
def gyrator(a: LinearPHDAE, b: LinearPHDAE, coupling: ArrayLike, ports: PortNames) -> LinearPHDAE: ...
@overload
def gyrator(
    a: PortHamiltonianModel, b: PortHamiltonianModel, coupling: Coupling, ports: PortNames
) -> PortHamiltonianModel: ...
def gyrator(
    a: PortHamiltonianModel, b: PortHamiltonianModel, coupling: Coupling, ports: PortNames
) -> PortHamiltonianModel:
    """Connect two port-Hamiltonian models a and b by a gyrator, ``u_a = -C y_b`` and ``u_b = C^T y_a``, and return
    the connected model. C is the ``coupling`` matrix, u are inputs and y outputs of the connected ports, whose
    names are ``ports``. There are no new unknowns, and power is conserved.

    Args:
        coupling: C, shape (size of a's ports, size of b's ports), or C(x_a, x_b) of the states of both models
            without the multipliers of ``inverted``; it is evaluated at once, at the ``rest_state`` of both.
        ports: names of the ports of a and of b that it connects; one name or several each.

    Returns:
        A ``LinearPHDAE`` for two linear models and a constant C. States are those of a, then b.

    Raises:
        ModelError: no such port, names that occur in both models, ports whose sizes do not fit C, or
            units that do not: inputs of a are outputs of b, and the reverse; a C of the wrong shape or not finite.
        FunctionError: C raises.
    """
    return _connect(ConnectionKind.GYRATOR, a, b, coupling, ports)


@overload
def transformer(a: LinearPHDAE, b: LinearPHDAE, coupling: ArrayLike, ports: PortNames) -> LinearPHDAE: ...
@overload
def transformer(
    a: PortHamiltonianModel, b: PortHamiltonianModel, coupling: Coupling, ports: PortNames
) -> PortHamiltonianModel: ...
def transformer(
    a: PortHamiltonianModel, b: PortHamiltonianModel, coupling: Coupling, ports: PortNames
) -> PortHamiltonianModel:
    """Connect two port-Hamiltonian models a and b by a transformer, ``u_a = -C u_b`` and ``y_b = C^T y_a``, and
    return the connected model. C is the ``coupling`` matrix, u are inputs and y outputs of the connected ports,
    whose names are ``ports``. The second equation is a constraint; its Lagrange multiplier u_b is appended to the
    states. Power is conserved.

    The input u_b becomes a multiplier, the new last block of the state (42).

    Args:
        coupling, ports: as of ``gyrator``.

    Returns:
        A ``LinearPHDAE`` for two linear models and a constant C. States are those of a, of b, multiplier.

    Raises:
        ModelError: as of ``gyrator``, but inputs of a have the unit of inputs of b.
    """
    return _connect(ConnectionKind.TRANSFORMER, a, b, coupling, ports)


@dataclass(frozen=True, eq=False)
class Interconnection(ComposedModel):
    """Two port-Hamiltonian models joined by a power-preserving relation between their inner ports (39): gyrator or
    transformer.

    Attributes:
        kind: gyrator or transformer.
        a, b: the models.
        coupling: C of both states, shape (inner inputs of a, inner inputs of b); each without the multipliers of
            exchanged ports (``inverted``).
        constant: C, if it is not a function, else None.
        inner_a, inner_b: columns of the inner ports.
        states, ports: of the interconnection.
    """

    kind: ConnectionKind
    a: PortHamiltonianModel
    b: PortHamiltonianModel
    coupling: StateDependent
    constant: Array | None
    inner_a: IntArray
    inner_b: IntArray
    states: tuple[StateGroup, ...]
    ports: tuple[Port, ...]

    @property
    def parts(self) -> tuple[PortHamiltonianModel, ...]:
        """Both connected port-Hamiltonian models, a and b, as a tuple."""
        return self.a, self.b

    def structure_matrix(self, x: Array) -> Matrix:
        """Return the skew structure matrix J of two connected port-Hamiltonian models as a sparse matrix (n, n), at
        the state x. Its diagonal blocks are those of both models. Let B be the input matrices of the connected
        ports. A gyrator adds -B_a C B_b^T and its negative transpose, a transformer the columns (-B_a C, B_b) of
        multipliers and their negative transpose."""
        x_a, x_b = self._split(x)
        c = sparse.csr_array(self.coupling_matrix(x_a, x_b))
        port_a = sparse.csr_array(self.a.port_matrix(x_a))[:, self.inner_a]
        port_b = sparse.csr_array(self.b.port_matrix(x_b))[:, self.inner_b]
        j_a, j_b = self.a.structure_matrix(x_a), self.b.structure_matrix(x_b)
        if self.kind is ConnectionKind.GYRATOR:
            across = port_a @ c @ port_b.T
            return sparse.block_array([[j_a, -across], [across.T, j_b]], format="csr")
        force = port_a @ c
        return sparse.block_array(
            [[j_a, None, -force], [None, j_b, port_b], [force.T, -port_b.T, None]], format="csr"
        )

    def port_matrix(self, x: Array) -> Matrix:
        """Return the input matrix B of two connected port-Hamiltonian models at the state x, sparse, shape (n, m).
        Its m columns are those of the ports of both models that are not connected to each other. The columns of
        model a, then of model b, form a block-diagonal matrix. The last rows, of the multipliers of a transformer,
        are zero."""
        x_a, x_b = self._split(x)
        outer_a, outer_b = self._outer
        blocks = sparse.block_diag(
            [
                sparse.csr_array(self.a.port_matrix(x_a))[:, outer_a],
                sparse.csr_array(self.b.port_matrix(x_b))[:, outer_b],
            ]
        )
        return sparse.vstack([blocks, sparse.csr_array((self.multipliers, blocks.shape[1]))], format="csr")

    def flows(self, x: Array, z: Array, u: Array) -> Array:
        """Return the right-hand sides of two connected port-Hamiltonian models, shape (T, n), for T states x,
        efforts z and inputs u. u are the inputs of all ports that are not connected. Inputs of connected ports
        follow from the gyrator or transformer equations. For a transformer, the last entries are the violation C^T
        y_a - y_b of its constraint on the outputs, with coupling matrix C."""
        (part_a, part_b), (outer_a, outer_b) = self.part_slices, self._outer
        c = self._couplings(x)
        y_a = self.a.output_products(x[:, part_a], z[:, part_a])[:, self.inner_a]
        y_b = self.b.output_products(x[:, part_b], z[:, part_b])[:, self.inner_b]
        u_a, u_b = np.zeros((len(x), self.a.port_size)), np.zeros((len(x), self.b.port_size))
        u_a[:, outer_a], u_b[:, outer_b] = u[:, : len(outer_a)], u[:, len(outer_a) :]
        transmitted, gap = np.einsum("tab,ta->tb", c, y_a), np.zeros((len(x), 0))
        if self.kind is ConnectionKind.GYRATOR:
            across, u_b[:, self.inner_b] = y_b, transmitted
        else:
            across = u_b[:, self.inner_b] = z[:, part_b.stop :]
            gap = transmitted - y_b
        u_a[:, self.inner_a] = -np.einsum("tab,tb->ta", c, across)
        flows_a = self.a.flows(x[:, part_a], z[:, part_a], u_a)
        return np.hstack([flows_a, self.b.flows(x[:, part_b], z[:, part_b], u_b), gap])

    def output_products(self, x: Array, z: Array) -> Array:
        """Return the outputs of those ports of two connected port-Hamiltonian models that are not connected, of
        model a, then b, shape (T, outer inputs). They are computed for T states x and efforts z."""
        pairs = zip(self.parts, self.part_slices, self._outer, strict=True)
        return np.hstack([part.output_products(x[:, at], z[:, at])[:, outer] for part, at, outer in pairs])

    def coupling_matrix(self, x_a: Array, x_b: Array) -> Array:
        """Return the coupling matrix C of two connected port-Hamiltonian models at their states x_a and x_b, shape
        (connected inputs of a, connected inputs of b). It is the constant one, or the value of the user's function,
        called with both states without multipliers. Raise ``ModelError`` for a wrong shape or values that are not
        finite.

        Raises:
            ModelError: the user's function returns another shape or numbers that are not finite.
            FunctionError: it raises an error.
        """
        if self.constant is not None:
            return self.constant
        state_a, state_b = self.a.without_multipliers(x_a), self.b.without_multipliers(x_b)
        value = called(self.coupling, COUPLING, state_a, state_b, at=SOMEWHERE)
        c = reals("the value of the coupling", value)
        shape = (len(self.inner_a), len(self.inner_b))
        if c.shape != shape:
            raise ModelError(f"the coupling must return an array of shape {shape}, got shape {c.shape}")
        if not np.isfinite(c).all():
            raise ModelError(f"the coupling must return finite numbers, got {c.tolist()}")
        return c

    def _couplings(self, x: Array) -> Array:
        """Return the coupling matrices C of two connected port-Hamiltonian models at T states x, shape (T,
        connected inputs of a, connected inputs of b). A constant C is repeated; a user's function is called once
        for each state."""
        if self.constant is not None:
            return np.broadcast_to(self.constant, (len(x), *self.constant.shape))
        return np.array([self.coupling_matrix(*self._split(state)) for state in x])

    @cached_property
    def _outer(self) -> tuple[IntArray, IntArray]:
        """Indices of the inputs of model a, and of the inputs of model b, whose ports are not connected to the
        other model. The result is a pair of ascending index arrays."""
        return (
            np.setdiff1d(np.arange(self.a.port_size), self.inner_a),
            np.setdiff1d(np.arange(self.b.port_size), self.inner_b),
        )

    def _split(self, x: Array) -> tuple[Array, Array]:
        """Split the state x of two connected models into the states of model a and of model b, and return both
        arrays. The multipliers of the connection, at the end, are left out."""
        part_a, part_b = self.part_slices
        return x[part_a], x[part_b]


def _connect(
    kind: ConnectionKind, a: PortHamiltonianModel, b: PortHamiltonianModel, coupling: Coupling, ports: PortNames
) -> PortHamiltonianModel:
    """Return the model of two port-Hamiltonian models a and b connected by a gyrator or transformer (``kind``). A
    transformer adds one state block of multipliers. The result is a ``LinearPHDAE`` if both models are linear and
    the coupling is constant. Raise ``ModelError`` for unknown ports, unequal units, names that occur twice, or a
    ``coupling`` matrix of wrong shape. A coupling function is evaluated once as a check, at the rest states."""
    check_model("a", a)
    check_model("b", b)
    if not isinstance(ports, list | tuple) or len(ports) != 2:
        raise ModelError(f"ports must be a pair (ports of a, ports of b), got {ports!r}")
    names_a, names_b = (_names(side) for side in ports)
    inner_a, inner_b = _port_columns(a, names_a), _port_columns(b, names_b)
    _check_units(kind, a, b, names_a, names_b)
    if callable(coupling):
        check_callable("coupling", coupling, "x_a", "x_b")
        constant, function = None, coupling
    else:
        constant = matrix = reals("coupling", coupling, "an array of numbers, or a function of (x_a, x_b)")

        def function(x_a: Array, x_b: Array) -> ArrayLike:
            return matrix

    shape = (len(inner_a), len(inner_b))
    if constant is not None and constant.shape != shape:
        raise ModelError(
            f"the coupling must have shape {shape}: {shape[0]} inputs of {', '.join(names_a)} against "
            f"{shape[1]} of {', '.join(names_b)}; got shape {constant.shape}"
        )
    states = (*a.states, *b.states)
    if kind is ConnectionKind.TRANSFORMER:
        units = {b.port(name).input_unit for name in names_b}
        label = f"multiplier of {', '.join(names_a)} and {', '.join(names_b)}"
        states += (StateGroup(label, units.pop() if len(units) == 1 else "", len(inner_b)),)
    left = tuple(p for p in a.ports if p.name not in names_a) + tuple(p for p in b.ports if p.name not in names_b)
    check_names(states, "state")
    check_names(left, "port")
    if constant is not None and not np.isfinite(constant).all():
        raise ModelError(f"the coupling must hold finite numbers, got {constant.tolist()}")
    connected_model = Interconnection(kind, a, b, function, constant, inner_a, inner_b, states, left)
    if constant is None:
        connected_model.coupling_matrix(a.rest_state, b.rest_state)
    if constant is None or not isinstance(a, LinearPHDAE) or not isinstance(b, LinearPHDAE):
        return connected_model
    return _linear(connected_model, [a, b])


def _names(ports: object) -> list[str]:
    """Return a user's name or list of names of ports as a list of names. Raise ``ModelError`` for other types;
    whether such ports exist is not checked."""
    names = [ports] if isinstance(ports, str) else ports
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise ModelError(f"ports of a model are a name or a list of names, got {ports!r}")
    return list(names)


def _port_columns(model: PortHamiltonianModel, names: list[str]) -> IntArray:
    """Return the indices of the inputs of the named ports of a port-Hamiltonian model, in the order of the names.
    They are columns of the input matrix B. Raise ``ModelError`` for an unknown name."""
    parts = [np.arange(model.port_size)[model.port_slice(name)] for name in names]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _check_units(
    kind: ConnectionKind, a: PortHamiltonianModel, b: PortHamiltonianModel, names_a: list[str], names_b: list[str]
) -> None:
    """Raise ``ModelError`` if the units of the ports ``names_a`` of model ``a`` and ``names_b`` of model ``b``
    differ. For a gyrator (``kind``), inputs of one model must have the units of outputs of the other. For a
    transformer, inputs must have the units of inputs, and outputs of outputs. Nothing is checked if a port has the
    unit ""."""

    def units(model: PortHamiltonianModel, names: list[str], side: str) -> list[str]:
        values = [getattr(model.port(name), side) for name in names]
        return values if len(set(values)) > 1 else values[:1]

    partner = ("output_unit", "input_unit") if kind is ConnectionKind.GYRATOR else ("input_unit", "output_unit")
    for side, other in zip(("input_unit", "output_unit"), partner, strict=True):
        mine, theirs = units(a, names_a, side), units(b, names_b, other)
        if mine != theirs and "" not in (*mine, *theirs):
            hint = {
                ConnectionKind.GYRATOR: "a gyrator joins inputs with outputs; exchange them with inverted(...)",
                ConnectionKind.TRANSFORMER: "a transformer joins inputs with inputs",
            }[kind]
            raise ModelError(
                f"{side} of {', '.join(names_a)} is {', '.join(mine)}, but {other} of {', '.join(names_b)} "
                f"is {', '.join(theirs)}; {hint}"
            )
