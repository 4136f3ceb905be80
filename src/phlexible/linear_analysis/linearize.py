"""From a mechanism to a linear port-Hamiltonian model, in displacement or in stress form.

Displacement form, x = (q, v, lambda)::

    diag(I, M, 0) dx/dt = ([0 I 0; -I -D G^T; 0 -G 0] - diag(0, C, 0)) diag(K, I, I) x + (0, F, 0) u

Stress form, [B] (45), x = (v, s, lambda) with ``M_s ds/dt = B v`` of ``stress_states``::

    diag(M, M_s, 0) dx/dt = ([-D -B^T G^T; B 0 0; -G 0 0] - diag(C, 0, 0)) x + (F, 0, 0) u
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from scipy import sparse

from phlexible.bodies.forms.stress_space import Stress
from phlexible.errors import EquilibriumError, ParameterError
from phlexible.linear_analysis.mechanics import LinearMechanics, linear_mechanics
from phlexible.linear_analysis.operating_points.operating_point import (
    OperatingKind,
    OperatingPoint,
    operating_point,
)
from phlexible.linear_analysis.operating_points.stability import check_stability
from phlexible.linear_analysis.signals.signal_rows import SignalPoint
from phlexible.linear_analysis.signals.signals import Input, Output, input_rows, output_rows
from phlexible.linear_analysis.signals.state_names import coordinates, multipliers, rates
from phlexible.linear_analysis.stress_states import stress_states
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import Port, StateBlock
from phlexible.rank.redundancy import independent_rows
from phlexible.system.layout import State
from phlexible.system.small_motions import centred_motions, world_motions
from phlexible.system.system import System


class Form(StrEnum):
    """DISPLACEMENT: states (q, v, lambda). STRESS: states (v, stress, lambda)."""

    DISPLACEMENT = "displacement"
    STRESS = "stress"


@dataclass(frozen=True, eq=False)
class Linearization:
    """A linear model and where it comes from.

    Attributes:
        system: that was linearized.
        point: the operating point.
        mechanics: second-order matrices with forces of the inputs and rows of the outputs.
        coordinates: names and units of x.
        ports: the inputs.
        outputs: names.
        output_units: of the outputs.
        left_out: controllers and forces that it does not have, with the reason.
    """

    system: System
    point: OperatingPoint
    mechanics: LinearMechanics
    coordinates: tuple[StateBlock, ...]
    ports: tuple[Port, ...]
    outputs: tuple[str, ...]
    output_units: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def linearization(
    system: System,
    inputs: Sequence[Input] = (),
    outputs: Sequence[Output] | None = None,
    at: OperatingKind = OperatingKind.GIVEN,
    state: State | None = None,
) -> Linearization:
    """The second-order matrices about the operating point, with inputs and outputs.

    Args:
        system: bodies, joints and loads.
        inputs: see ``input_rows``.
        outputs: see ``output_rows``; None: the velocities that make power with the inputs.
        at: what to linearize about.
        state: where to look for it, instead of the initial pose.

    Raises:
        EquilibriumError: no such point, or an unstable static equilibrium.
        ModelError: signals that are not of this model.
    """
    point = operating_point(system, at, state)
    motion = sparse.csr_array(world_motions(system, point.state) @ centred_motions(system, point.state))
    here = SignalPoint(system, system.at(point.state), motion)
    given = input_rows(here, inputs)
    wanted = given if outputs is None else output_rows(here, outputs)
    size = int(system.layout.velocity[-1])
    plain, left_out = linear_mechanics(system, point)
    mechanics = replace(
        plain,
        forces=np.array([signal.row for signal in given]).reshape(-1, size).T,
        rows=np.array([signal.row for signal in wanted]).reshape(-1, size),
        differentiations=tuple(signal.differentiations for signal in wanted),
    )
    if at is OperatingKind.STATIC:
        check_stability(mechanics)
    output_names = tuple(("rate to " if outputs is None else "") + signal.name for signal in wanted)
    input_names = tuple(signal.name for signal in given)
    for kind, found in (("inputs", input_names), ("outputs", output_names)):
        if len(set(found)) < len(found):
            raise ParameterError(f"two {kind} have one name: {', '.join(found)}")
    ports, units = tuple(signal.port for signal in given), tuple(signal.unit for signal in wanted)
    return Linearization(system, point, mechanics, coordinates(system), ports, output_names, units, left_out)


def displacement_form(
    mechanics: LinearMechanics,
    coordinates: tuple[StateBlock, ...],
    ports: tuple[Port, ...],
    multipliers: tuple[StateBlock, ...] = (),
) -> LinearPHDAE:
    """The model with states (q, v, lambda)."""
    n, rows = mechanics.size, mechanics.constraint_matrix.shape[0]
    one, nothing = sparse.eye_array(n), sparse.csr_array((n, n))
    ties = sparse.csr_array((rows, rows))
    G = mechanics.constraint_matrix
    return LinearPHDAE(
        descriptor=sparse.block_diag([one, mechanics.mass, ties], "csr"),
        structure=_blocks([[nothing, one, None], [-one, -mechanics.velocity, G.T], [None, -G, ties]]),
        dissipation=sparse.block_diag([nothing, mechanics.damping, ties], "csr"),
        port_map=sparse.csr_array(
            np.vstack([np.zeros((n, len(ports))), mechanics.forces, np.zeros((rows, len(ports)))])
        ),
        effort_map=sparse.block_diag([mechanics.stiffness, one, sparse.eye_array(rows)], "csr"),
        states=(*coordinates, *rates(coordinates), *multipliers),
        ports=ports,
    )


def kept_multipliers(linear: Linearization) -> tuple[StateBlock, ...]:
    """Multipliers of the rows of G that do not depend on others."""
    names = multipliers(linear.system)
    if len(names) == linear.mechanics.constraint_matrix.shape[0]:
        return names
    return tuple(names[k] for k in independent_rows(linear.system, linear.point.state))


def stress_form(linear: Linearization, stress: Stress) -> LinearPHDAE:
    """The model with states (v, stress, lambda).

    Raises:
        EquilibriumError: prestress, gravity, rotation or strings, which need displacements as states.
        ParameterError: a stress space that a body does not have.
    """
    if linear.point.kind is not OperatingKind.GIVEN or linear.point.state.eta.any() or linear.system.nodal:
        raise EquilibriumError(
            'form="stress" holds about an unloaded, undeformed pose at rest and without strings, which their '
            'tension makes stiff; take form="displacement"'
        )
    mechanics = linear.mechanics
    found = stress_states(linear.system, linear.point.state, stress)
    B, count = found.rates, len(found.blocks)
    n, rows, G = mechanics.size, mechanics.constraint_matrix.shape[0], mechanics.constraint_matrix
    elastic, ties = sparse.csr_array((count, count)), sparse.csr_array((rows, rows))
    total = n + count + rows
    forces = np.zeros((total, len(linear.ports)))
    forces[:n] = mechanics.forces
    return LinearPHDAE(
        descriptor=sparse.block_diag([mechanics.mass, found.compliance, ties], "csr"),
        structure=_blocks([[-mechanics.velocity, -B.T, G.T], [B, elastic, None], [-G, None, ties]]),
        dissipation=sparse.block_diag([mechanics.damping, elastic, ties], "csr"),
        port_map=sparse.csr_array(forces),
        effort_map=sparse.eye_array(total, format="csr"),
        states=(*rates(linear.coordinates), *found.blocks, *kept_multipliers(linear)),
        ports=linear.ports,
    )


def _blocks(blocks: list[list[sparse.sparray | None]]) -> sparse.csr_array:
    return sparse.csr_array(sparse.block_array(blocks, format="csr"))
