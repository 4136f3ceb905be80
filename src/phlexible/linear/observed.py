"""A linear port-Hamiltonian model with outputs of the user's choice beside the power-conjugate ones."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, field_values
from phlexible.bodies.stress_space import StressContinuity
from phlexible.display import shortened
from phlexible.errors import ModelError, ParameterError
from phlexible.linear.linearize import (
    Form,
    Linearization,
    displacement_form,
    multiplier_blocks,
    stress_form,
    with_stress_space,
)
from phlexible.linear.mechanics import LinearMechanics
from phlexible.linear.signals import UNIT_ENERGY, same_unit
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import Matrix, Port, PortPart, StateGroup


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ObservedPHDAE(LinearPHDAE):
    """Linear port-Hamiltonian model with outputs of the user's choice, ``y_i = (d/dt)^k_i (output_matrix x)_i``,
    besides the power-conjugate ones.

    Attributes:
        outputs: names of the outputs y.
        output_units: units of the outputs; empty where they are not known.
        output_matrix: sparse, shape (outputs, n).
        differentiations: k_i, 0 or 1 (1: accelerations).
        mechanics: the same model in second-order form, where it has one.
        linearization: linearized mechanism that the model comes from, as long as its coordinates are those of the
            bodies.
        form: whether displacements or stresses are states beside velocities; None: not known.
    """

    outputs: tuple[str, ...]
    output_matrix: Matrix
    differentiations: tuple[int, ...]
    mechanics: LinearMechanics | None = None
    linearization: Linearization | None = None
    output_units: tuple[str, ...] = ()
    form: Form | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        rows = sparse.csr_array(self.output_matrix, dtype=np.float64, copy=True)
        rows.eliminate_zeros()
        rows.data.flags.writeable = False
        object.__setattr__(self, "output_matrix", rows)
        if self.output_matrix.shape != (len(self.outputs), self.order):
            raise ParameterError(
                f"output_matrix must have shape {(len(self.outputs), self.order)}, got {self.output_matrix.shape}"
            )


def observed_linearization(linear: Linearization, form: Form, stress: StressContinuity) -> ObservedPHDAE:
    """Convert a linearized mechanism (``linear``) to a first-order port-Hamiltonian model with its outputs.
    Displacement ``form`` has displacements and velocities as states, stress form velocities and stresses. In
    stress form, ``stress`` says whether the stresses of bodies are continuous, and outputs that are displacements
    raise ``ModelError``.


    Raises:
        EquilibriumError: the stress form about a loaded point.
        ModelError: a displacement as output of the stress form, which has none among its states.
    """
    if form is Form.DISPLACEMENT:
        return mechanical_model(
            linear.mechanics, linear.coordinates, linear.ports, linear.outputs, linear.output_units, linear
        )
    model = stress_form(linear, stress)
    mechanics = with_stress_space(linear.mechanics, linear.system, stress)
    linear = replace(linear, mechanics=mechanics)
    if 0 in mechanics.differentiations:
        raise ModelError('displacements and angles are no outputs of form="stress"; take velocities')
    rows = np.zeros((len(linear.outputs), model.order))
    rows[:, : mechanics.size] = mechanics.rows
    levels = tuple(k - 1 for k in mechanics.differentiations)
    return observed(model, linear.outputs, rows, levels, mechanics, linear, linear.output_units, Form.STRESS)


def mechanical_model(
    mechanics: LinearMechanics,
    coordinates: tuple[StateGroup, ...],
    ports: tuple[Port, ...],
    outputs: tuple[str, ...],
    output_units: tuple[str, ...],
    linear: Linearization | None = None,
) -> ObservedPHDAE:
    """Convert second-order matrices (``mechanics``) to a first-order port-Hamiltonian model in displacement
    form, with displacements and velocities (q, v) as states. ``coordinates`` are names and units of the
    displacements, ``ports`` those of the inputs, ``outputs`` and ``output_units`` those of the outputs.
    ``linear`` is the linearized mechanism, if there is one."""
    ties = multiplier_blocks(linear) if linear is not None else ()
    model, n = displacement_form(mechanics, coordinates, ports, ties), mechanics.size
    rows = np.zeros((len(outputs), model.order))
    for i, level in enumerate(mechanics.differentiations):
        begin = 0 if level == 0 else n
        rows[i, begin : begin + n] = mechanics.rows[i]
    levels = tuple(max(k - 1, 0) for k in mechanics.differentiations)
    return observed(model, outputs, rows, levels, mechanics, linear, output_units, Form.DISPLACEMENT)


def collocated(model: LinearPHDAE) -> ObservedPHDAE:
    """Return a copy of a linear port-Hamiltonian model whose outputs are exactly the power-conjugate ones B^T Q x,
    one for each input."""
    rows = model.port_map.T @ model.effort_matrix
    names = tuple(f"rate to {name}" for name in model.inputs)
    units = tuple(port.output_unit for port in model.ports for _ in range(port.size))
    return observed(model, names, rows, (0,) * len(names), units=units)


def dense_model(
    source: ObservedPHDAE,
    matrices: tuple[Array, Array, Array, Array, Array],
    output_matrix: Matrix,
    names: tuple[str, ...],
) -> ObservedPHDAE:
    """Make a small linear port-Hamiltonian model from five dense matrices (E, J, R, B, Q) and an
    ``output_matrix``. The equations are ``E dx/dt = (J - R) Q x + B u``. Names of inputs and outputs are
    those of ``source``, ``names`` are those of the states."""
    E, J, R, B, Q = (sparse.csr_array(matrix) for matrix in matrices)
    small = LinearPHDAE(E, J, R, B, same_unit(names, UNIT_ENERGY), source.ports, Q)
    return observed(small, source.outputs, output_matrix, source.differentiations, units=source.output_units)


def observed(
    model: LinearPHDAE,
    outputs: tuple[str, ...],
    output_matrix: Matrix,
    differentiations: tuple[int, ...],
    mechanics: LinearMechanics | None = None,
    linear: Linearization | None = None,
    units: tuple[str, ...] = (),
    form: Form | None = None,
) -> ObservedPHDAE:
    """Return a copy of a linear port-Hamiltonian ``model`` with chosen outputs: ``output_matrix`` (outputs, states)
    times the states. ``outputs`` are their names, ``units`` their units; ``differentiations`` says how often each
    is differentiated with respect to time. ``form`` says which variables the states are. The second-order matrices
    ``mechanics`` and the linearized mechanism ``linear`` are stored if there are any. Nothing is checked.
    """
    return ObservedPHDAE(
        **field_values(model, LinearPHDAE),
        outputs=outputs,
        output_matrix=output_matrix,
        differentiations=differentiations,
        mechanics=mechanics,
        linearization=linear,
        output_units=units,
        form=form,
    )


# Some of the inputs and outputs of a model.

Signal: TypeAlias = str | Port | PortPart
"""A port or a part of it, or the name of a port, of one of its inputs, or of an output."""


Model = TypeVar("Model", bound=ObservedPHDAE)


def with_signals(model: Model, inputs: Sequence[Signal] | None, outputs: Sequence[Signal] | None) -> Model:
    """Return a linear model with only the chosen ``inputs`` and ``outputs``, in the given order. None leaves all
    of them; None for both returns the model itself. Inputs are ports, components of ports, or names. Outputs are
    names, or inputs for the velocities on which they do work. ParameterError is raised for unknown or repeated
    ones.

    Args:
        inputs: ports, ``port.select(...)``, names of ports or of single inputs.
        outputs: names of outputs; or as for inputs, for the outputs that make power with them.

    Raises:
        ParameterError: something else, none, or one twice.
    """
    if inputs is None and outputs is None:
        return model
    columns, ports = _inputs(model, inputs)
    rows = _outputs(model, outputs)
    changes: dict[str, Any] = {
        "ports": ports,
        "outputs": tuple(model.outputs[i] for i in rows),
        "output_units": tuple(model.output_units[i] for i in rows) if model.output_units else (),
    }
    mechanics, linear = model.mechanics, model.linearization
    if mechanics is not None:
        mechanics = replace(
            mechanics,
            forces=mechanics.forces[:, columns],
            rows=mechanics.rows[rows],
            differentiations=tuple(mechanics.differentiations[i] for i in rows),
        )
        linear = None if linear is None else replace(linear, mechanics=mechanics, **changes)
    return replace(
        model,
        port_map=model.port_map.tocsc()[:, columns],
        output_matrix=model.output_matrix[rows],
        differentiations=tuple(model.differentiations[i] for i in rows),
        mechanics=mechanics,
        linearization=linear,
        **changes,
    )


def _inputs(model: ObservedPHDAE, wanted: Sequence[Signal] | None) -> tuple[list[int], tuple[Port, ...]]:
    """Return the column indices in the input matrix B and the ports of the inputs that the user has
    ``wanted``, in this order. None stands for all inputs of the ``model``. Single inputs become ports of size
    1; unknown or repeated ones raise ``ParameterError``."""
    if wanted is None:
        return list(range(model.port_size)), model.ports
    indices = {name: k for k, name in enumerate(model.inputs)}
    whole = {port.name: port for port in model.ports}
    columns: list[int] = []
    ports: list[Port] = []
    for item in _checked("inputs", wanted):
        found = _columns(model, item, indices)
        if not found:
            raise ParameterError(f"inputs must name inputs or ports ({shortened(list(whole))}), got {item!r}")
        columns += found
        name = item if isinstance(item, str) else item.name if isinstance(item, Port) else ""
        if name in whole:
            ports.append(whole[name])
            continue
        owners = [port for port in model.ports for _ in range(port.size)] if model.port_size else []
        ports += [replace(owners[k], name=model.inputs[k], size=1, mass=None) for k in found]
    if len(set(columns)) < len(columns):
        raise ParameterError(f"inputs must be different ones, got {wanted!r}")
    return columns, tuple(ports)


def _outputs(model: ObservedPHDAE, wanted: Sequence[Signal] | None) -> list[int]:
    """Return the row indices, in the output matrix of a linear model, of the outputs that the user has ``wanted``,
    in this order. None stands for all outputs. A port or input stands for the output "rate to <input>", the
    velocity on which that input does work. Unknown or repeated outputs raise ``ParameterError``."""
    if wanted is None:
        return list(range(len(model.outputs)))
    rows = {name: k for k, name in enumerate(model.outputs)}
    indices = {name: k for k, name in enumerate(model.inputs)}
    found: list[int] = []
    for item in _checked("outputs", wanted):
        if isinstance(item, str) and item in rows:
            found.append(rows[item])
            continue
        names = [f"rate to {model.inputs[k]}" for k in _columns(model, item, indices)]
        if not names or not set(names) <= set(rows):
            raise ParameterError(f"outputs must name outputs ({shortened(list(rows))}), got {item!r}")
        found += [rows[name] for name in names]
    if len(set(found)) < len(found):
        raise ParameterError(f"outputs must be different ones, got {wanted!r}")
    return found


def _checked(argument: str, wanted: Sequence[Signal]) -> Sequence[Signal]:
    if not isinstance(wanted, list | tuple) or not wanted:
        raise ParameterError(f"{argument} must be a list of names or ports, got {wanted!r}")
    return wanted


def _columns(model: ObservedPHDAE, item: Signal, indices: dict[str, int]) -> list[int]:
    """Return the columns of the input matrix B of a linear model that belong to ``item``: a port, some components
    of a port, or a single input. The list is empty if nothing has this name. ``indices`` are the columns of single
    inputs by name."""
    port = item.port if isinstance(item, PortPart) else item
    name = port.name if isinstance(port, Port) else port
    if name not in [each.name for each in model.ports]:
        return [indices[name]] if isinstance(name, str) and name in indices else []
    columns = list(range(model.port_size))[model.port_slice(name)]
    return [columns[k] for k in item.components] if isinstance(item, PortPart) else columns
