"""A linear port-Hamiltonian model with outputs of the user's choice beside the power-conjugate ones."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.bodies.stress_space import StressContinuity
from phlexible.errors import ModelError, ParameterError
from phlexible.linear.linearize import (
    Form,
    Linearization,
    displacement_form,
    kept_multipliers,
    stress_form,
    with_stress_space,
)
from phlexible.linear.mechanics import LinearMechanics
from phlexible.linear.signals import UNIT_ENERGY, same_unit
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import Port, StateBlock


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ObservedPHDAE(LinearPHDAE):
    """A ``LinearPHDAE`` with outputs ``y_i = (d/dt)^k_i (output_matrix x)_i``.

    Attributes:
        outputs: names.
        output_units: of y; empty where they are not known.
        output_matrix: shape (outputs, n).
        differentiations: k_i, 0 or 1 (1: accelerations).
        mechanics: the same model in second-order form, where it has one.
        linearization: where it comes from, as long as its coordinates are those of the bodies.
        form: whether displacements or stresses are states beside velocities; None: not known.
    """

    outputs: tuple[str, ...]
    output_matrix: Array
    differentiations: tuple[int, ...]
    mechanics: LinearMechanics | None = None
    linearization: Linearization | None = None
    output_units: tuple[str, ...] = ()
    form: Form | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.output_matrix.shape != (len(self.outputs), self.order):
            raise ParameterError(
                f"output_matrix must have shape {(len(self.outputs), self.order)}, got {self.output_matrix.shape}"
            )


def observed_linearization(linear: Linearization, form: Form, stress: StressContinuity) -> ObservedPHDAE:
    """The linear model of a mechanism in one of its forms.

    Args:
        stress: space of the stresses of the stress form.

    Raises:
        EquilibriumError: the stress form about a loaded point.
        ModelError: a displacement as output of the stress form, which has none among its states.
    """
    if form is Form.DISPLACEMENT:
        return mechanical_model(
            linear.mechanics,
            linear.coordinates,
            linear.ports,
            linear.outputs,
            linear.output_units,
            linear,
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
    coordinates: tuple[StateBlock, ...],
    ports: tuple[Port, ...],
    outputs: tuple[str, ...],
    output_units: tuple[str, ...],
    linear: Linearization | None = None,
) -> ObservedPHDAE:
    """Second-order matrices in displacement form, with their outputs."""
    ties = kept_multipliers(linear) if linear is not None else ()
    model, n = displacement_form(mechanics, coordinates, ports, ties), mechanics.size
    rows = np.zeros((len(outputs), model.order))
    for i, level in enumerate(mechanics.differentiations):
        begin = 0 if level == 0 else n
        rows[i, begin : begin + n] = mechanics.rows[i]
    levels = tuple(max(k - 1, 0) for k in mechanics.differentiations)
    return observed(model, outputs, rows, levels, mechanics, linear, output_units, Form.DISPLACEMENT)


def collocated(model: LinearPHDAE) -> ObservedPHDAE:
    """A model with its power-conjugate outputs ``B^T Q x`` only."""
    rows = (model.port_map.T @ model.effort_matrix).toarray()
    names = tuple(f"rate to {name}" for name in model.inputs)
    units = tuple(port.output_unit for port in model.ports for _ in range(port.size))
    return observed(model, names, rows, (0,) * len(names), units=units)


def dense_model(
    source: ObservedPHDAE,
    matrices: tuple[Array, Array, Array, Array, Array],
    output_matrix: Array,
    names: tuple[str, ...],
) -> ObservedPHDAE:
    """A small model (E, J, R, B, Q) with the inputs and outputs of another."""
    E, J, R, B, Q = (sparse.csr_array(matrix) for matrix in matrices)
    return ObservedPHDAE(
        E,
        J,
        R,
        B,
        same_unit(names, UNIT_ENERGY),
        source.ports,
        Q,
        outputs=source.outputs,
        output_matrix=output_matrix,
        differentiations=source.differentiations,
        output_units=source.output_units,
    )


def observed(
    model: LinearPHDAE,
    outputs: tuple[str, ...],
    output_matrix: Array,
    differentiations: tuple[int, ...],
    mechanics: LinearMechanics | None = None,
    linear: Linearization | None = None,
    units: tuple[str, ...] = (),
    form: Form | None = None,
) -> ObservedPHDAE:
    """A linear model with outputs."""
    return ObservedPHDAE(
        model.descriptor,
        model.structure,
        model.dissipation,
        model.port_map,
        model.states,
        model.ports,
        model.effort_matrix,
        outputs=outputs,
        output_matrix=output_matrix,
        differentiations=differentiations,
        mechanics=mechanics,
        linearization=linear,
        output_units=units,
        form=form,
    )
