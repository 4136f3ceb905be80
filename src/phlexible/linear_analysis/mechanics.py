"""Second-order matrices of a mechanism about its operating point (docs/theory.md, 7)."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.errors import EquilibriumError
from phlexible.linear_analysis.body_matrices import BodyMatrices, absolute_matrices, body_matrices
from phlexible.linear_analysis.linear_laws import linear_laws
from phlexible.linear_analysis.operating_points.operating_point import OperatingKind, OperatingPoint
from phlexible.rank.redundancy import independent_rows
from phlexible.system.forces import constraint_stiffness, element_damping, element_stiffness, stiffness_of_loads
from phlexible.system.layout import State
from phlexible.system.small_motions import centred_motions, world_motions
from phlexible.system.system import System

ASYMMETRY = 1e-6
SMALL = 1e-6  # entries of rows this much smaller than the largest are round-off


@dataclass(frozen=True, eq=False)
class LinearMechanics:
    """``M d2x/dt2 + (D + C) dx/dt + K x = G^T lambda + F u``, ``G x = 0``, with constant sparse matrices.

    x are small motions (dr, dtheta, deta) of every body in its own axes, in the order of the flat
    velocities, or coordinates of them.

    Attributes:
        mass: M, shape (n, n), symmetric, positive definite.
        velocity: D, shape (n, n), skew: gyroscopic terms of a steady rotation.
        damping: C, shape (n, n), symmetric, positive semi-definite.
        stiffness: K, shape (n, n), symmetric: elasticity, prestress, joint and gravity forces, rotation.
        constraint_matrix: G, shape (rows, n), without rows that depend on others.
        forces: F, shape (n, inputs).
        rows: of the outputs, shape (outputs, n).
        differentiations: 0, 1 or 2 for each output: a row of x, dx/dt or d2x/dt2.
    """

    mass: sparse.csr_array
    velocity: sparse.csr_array
    damping: sparse.csr_array
    stiffness: sparse.csr_array
    constraint_matrix: sparse.csr_array
    forces: Array
    rows: Array
    differentiations: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number n of coordinates."""
        return int(self.mass.shape[0])

    @property
    def is_gyroscopic(self) -> bool:
        """Whether D is not zero."""
        return bool(self.velocity.nnz)

    @property
    def is_damped(self) -> bool:
        """Whether C is not zero."""
        return bool(self.damping.nnz)

    def projected(self, basis: sparse.sparray | Array) -> "LinearMechanics":
        """The same in coordinates a with x = basis @ a, basis (n, m) in the null space of G."""
        left = basis.T

        def congruent(matrix: sparse.csr_array) -> sparse.csr_array:
            return sparse.csr_array(left @ (matrix @ basis))

        return LinearMechanics(
            congruent(self.mass),
            congruent(self.velocity),
            congruent(self.damping),
            congruent(self.stiffness),
            sparse.csr_array((0, basis.shape[1])),
            np.asarray(left @ self.forces),
            np.asarray(self.rows @ basis),
            self.differentiations,
        )


def linear_mechanics(system: System, point: OperatingPoint) -> tuple[LinearMechanics, tuple[str, ...]]:
    """The matrices, without inputs and outputs, and which forces they leave out.

    Raises:
        EquilibriumError: forces that have no potential, such as follower loads: K is not symmetric.
    """
    state = point.state
    centred, world = centred_motions(system, state), world_motions(system, state)
    motion = sparse.csr_array(world @ centred)
    parts = [_body_matrices(system, state, index) for index in range(len(system.bodies))]
    mass, velocity, damping, stiffness = (
        sparse.csr_array(centred.T @ sparse.block_diag([getattr(part, name) for part in parts], "csr") @ centred)
        for name in ("mass", "velocity", "damping", "stiffness")
    )
    damping = sparse.csr_array(damping + motion.T @ element_damping(system, state) @ motion)
    if point.kind is OperatingKind.GIVEN:
        forces = element_stiffness(system, state, with_curvature=False)
    else:
        forces = constraint_stiffness(system, state, point.multipliers)
        forces = forces + stiffness_of_loads(system, state) + element_stiffness(system, state)
    laws = linear_laws(system, state)
    stiffness = sparse.csr_array(stiffness + motion.T @ (laws.stiffness - forces) @ motion)
    damping = sparse.csr_array(damping + motion.T @ laws.damping @ motion)
    velocity = sparse.csr_array(velocity + motion.T @ laws.velocity @ motion)
    for matrix in (mass, velocity, damping, stiffness):
        matrix.eliminate_zeros()
    size, speed = int(system.layout.velocity[-1]), float(np.abs(state.velocity).max(initial=0.0))
    rows = system.rows.matrix(system.at(state))[independent_rows(system, state)]
    mechanics = LinearMechanics(
        _symmetric(mass, 1.0, mass),
        _symmetric(velocity, -1.0, velocity + speed * mass),
        damping,
        _symmetric(stiffness, 1.0, stiffness),
        sparse.csr_array(rows @ motion),
        np.zeros((size, 0)),
        np.zeros((0, size)),
        (),
    )
    return mechanics, laws.left_out


def _body_matrices(system: System, state: State, index: int) -> BodyMatrices:
    """Of one body about its centre of mass, in body axes."""
    eta, nu = system.elastic(state, index), state.velocity[system.layout.place(index)]
    if index >= system.layout.frames:
        return absolute_matrices(system.nodal[index - system.layout.frames], eta, nu)
    turning = np.concatenate([np.zeros(system.dimension), nu[system.dimension :]])
    return body_matrices(system.frames[index], eta, turning)


def _symmetric(matrix: sparse.csr_array, sign: float, scale: sparse.csr_array) -> sparse.csr_array:
    """The symmetric (sign 1) or skew (-1) part, refused where the other part is more than round-off."""
    rest = sparse.coo_array(matrix - sign * matrix.T)
    error = _relative_to_rows(rest, scale)
    if error > ASYMMETRY:
        raise EquilibriumError(
            "the linear model is not port-Hamiltonian: its matrices are "
            f"{'symmetric' if sign > 0 else 'skew'} only to {error:.1e}; follower loads and moments in space "
            "have no potential, and a point that is no equilibrium has none either"
        )
    result = sparse.csr_array((matrix + sign * matrix.T) / 2)
    result.eliminate_zeros()
    return result


def _relative_to_rows(rest: sparse.coo_array, scale: sparse.csr_array) -> float:
    """Largest entry of ``rest`` over the largest entries of its row and column of ``scale``."""
    if not rest.nnz:
        return 0.0
    size = abs(scale).max(axis=1).toarray().ravel()
    allowed = np.sqrt(size[rest.row] * size[rest.col]) + SMALL * size.max()
    return float((np.abs(rest.data) / allowed).max())
