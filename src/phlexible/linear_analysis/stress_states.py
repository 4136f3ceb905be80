"""Stresses as states of a linear model ([B] (45)): ``M_s ds/dt = B v``, ``M dv/dt = ... - B^T s``.

Those of a body are the coordinates of its stress space, such as normal forces and bending moments of a beam; a
spring has one, its force. Eliminated, they leave the stiffness ``B^T M_s^-1 B``.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, sparse

from phlexible.algebra.arrays import Array
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.forms.stress_space import Stress, StressSpace
from phlexible.bodies.mechanics.floating import elastic_tangent
from phlexible.errors import EquilibriumError
from phlexible.linear_analysis.mechanics import LinearMechanics
from phlexible.port_hamiltonian.model import StateBlock
from phlexible.ports.attachments import PlacedBody
from phlexible.system.forces import element_state
from phlexible.system.layout import State
from phlexible.system.small_motions import centred_motions, world_motions
from phlexible.system.system import System


@dataclass(frozen=True, eq=False)
class StressStates:
    """All stresses of a system without strings.

    Attributes:
        compliance: M_s, shape (s, s), symmetric, positive definite.
        rates: B, shape (s, sum of velocity counts).
        blocks: names and units.
    """

    compliance: sparse.csr_array
    rates: sparse.csr_array
    blocks: tuple[StateBlock, ...]


def stress_states(system: System, state: State, stress: Stress) -> StressStates:
    """Of all bodies, then of all springs.

    Raises:
        EquilibriumError: a force that grows with its coordinate: no spring.
    """
    compliances, rates, blocks = [], [], []
    for placed in system.bodies:
        assert isinstance(placed.data, FloatingBody), "the stress form refuses strings"
        space = _space(placed, placed.data, stress)
        compliances.append(space.compliance)
        rates.append(np.hstack([np.zeros((space.size, placed.data.rigid_count)), space.rows]))
        blocks += [StateBlock(f"{placed.name} {block.name}", block.unit, 1) for block in space.blocks]
    bodies = sparse.csr_array(sparse.block_diag(rates, "csr"))
    stiffness, springs, spring_blocks = _springs(system, state)
    return StressStates(
        sparse.csr_array(sparse.block_diag([*compliances, sparse.diags_array(1 / stiffness)], "csr")),
        sparse.csr_array(sparse.vstack([bodies, springs])),
        (*blocks, *spring_blocks),
    )


def with_stress_space(mechanics: LinearMechanics, system: System, stress: Stress) -> LinearMechanics:
    """The second-order form whose elastic stiffness is ``B^T M_s^-1 B``; viscosity follows it."""
    if stress is Stress.DISCONTINUOUS:
        return mechanics  # the same stiffness
    changes, viscous = [], []
    for placed in system.bodies:
        body = placed.data
        assert isinstance(body, FloatingBody), "the stress form refuses strings"
        rest = np.zeros(body.elastic_count)
        softer = _space(placed, body, stress).viscous_matrix(rest) - elastic_tangent(body, rest)
        changes.append(linalg.block_diag(np.zeros((body.rigid_count,) * 2), softer))
        viscous.append(body.viscosity * changes[-1])
    return replace(
        mechanics,
        stiffness=_added(mechanics.stiffness, changes),
        damping=_added(mechanics.damping, viscous),
    )


def _space(placed: PlacedBody, body: FloatingBody, stress: Stress) -> StressSpace:
    """Rigid bodies have none, in any space."""
    return placed.held.stress_space(body, stress if body.elastic_count else Stress.DISCONTINUOUS)


def _springs(system: System, state: State) -> tuple[Array, sparse.csr_array, list[StateBlock]]:
    """Stiffnesses, rows of the coordinates' rates over small motions, and the forces as states."""
    size = int(system.layout.velocity[-1])
    if not system.forces:
        return np.zeros(0), sparse.csr_array((0, size)), []
    elements = element_state(system, system.at(state))
    stiffness = np.array(
        [-each.force.tangent(float(theta)) for each, theta in zip(system.forces, elements.theta, strict=True)]
    )
    if (stiffness < 0).any():
        pushing = system.forces[int(np.argmin(stiffness))].element
        raise EquilibriumError(f'form="stress": {pushing} pushes away from rest; take form="displacement"')
    stiff = np.flatnonzero(stiffness)
    motion = world_motions(system, state) @ centred_motions(system, state)
    blocks = []
    for k in stiff:
        element, force = system.forces[k]
        blocks.append(StateBlock(f"spring {k}: {element}", "N m" if force.coordinate.is_angle else "N", 1))
    return stiffness[stiff], sparse.csr_array((elements.rows @ motion)[stiff]), blocks


def _added(matrix: sparse.csr_array, blocks: list[Array]) -> sparse.csr_array:
    found = sparse.csr_array(matrix + sparse.block_diag(blocks, "csr"))
    found.eliminate_zeros()
    return found
