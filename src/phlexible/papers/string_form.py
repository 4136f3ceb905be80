"""Port-Hamiltonian model of a string in the paper's form: (16)-(20), (29)-(31) and Remarks 3 and 4 of Kinon et al.
(2023).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray, option
from phlexible.bodies.absolute_body import AbsoluteBody, Field, QuadraticStrains, initial_nodes
from phlexible.bodies.mechanics.absolute import (
    mass_matrix,
    strain_gradients,
    strains,
    viscous_matrix,
)
from phlexible.bodies.string import StringMesh
from phlexible.bodies.string_law import TensionOnly
from phlexible.errors import ParameterError
from phlexible.papers.strain_form import StrainForm
from phlexible.port_hamiltonian.model import Matrix, Port, StateGroup

MULTIPLIERS = "multipliers"


class Boundary(StrEnum):
    """Choice of the condition at an end of a string: prescribed contact force, prescribed velocity, or fixed.

    FORCE: u is the contact force, y the velocity (18), (20). VELOCITY: u is the velocity, y the reaction, with
    multipliers. FIXED: a bearing that does not move; its entries are left out.
    """

    FORCE = "force"
    VELOCITY = "velocity"
    FIXED = "fixed"


@dataclass(frozen=True, eq=False)
class StringForm(StrainForm):
    """Port-Hamiltonian model of a string with sparse matrices, whose states are positions and velocities of its
    nodes and strains at Gauss points (29)-(31).

        x = (r, v, C)       E = diag(I, M_rho, M_S)     z = (dH/dr, v, S/2)
        J = [[0, I, 0], [-I, 0, -2 K(r)], [0, 2 K(r)^T, 0]]

    with K(r) of (25d), dH/dr = -F_b (27a) and S/2 = M_S^-1 dH/dC (28). Psi interpolates between the Gauss
    points of an element, so that M_S is diagonal and S/2 = W'(C) there. In dimension 1 the string stays on
    a line. Viscosity is R on v.

    Of a law that creeps each branch adds the strains e of its springs to x, with M_S in E, 2 K^T in J as for C,
    EA_b/4 e in z and M_S 4/(EA_b tau) in R: its energy is ``sum w EA_b/8 e^2``, and C - e is the strain of its
    dashpot (the internal strain of Kinon, Thoma, Betsch and Kotyczka 2024).

    Ports ``start`` and ``end``: -n(0) and n(L), in world axes, each of shape (d,) (18). A boundary with a
    given velocity adds multipliers lambda: 0 = u - v there, y = lambda, the force on the string (Remark 4).
    Fixed ends have no port and their r and v are not in x.

    Attributes:
        body: nodes, masses and strains, in dimension d.
        gravity: shape (d,) [m/s^2]; body force b = rho A g.
        boundaries: at the start and at the end.
        nodes: positions at t = 0, shape (N, d) [m]; those of fixed ends stay.
        rates: velocities at t = 0, shape (N, d) [m/s].
    """

    body: AbsoluteBody
    gravity: Array
    boundaries: tuple[Boundary, Boundary]
    nodes: Array
    rates: Array
    states: tuple[StateGroup, ...] = field(init=False)
    ports: tuple[Port, ...] = field(init=False)
    _moving: IntArray = field(init=False, repr=False)
    is_local = True

    def __post_init__(self) -> None:
        count, d = self.body.node_count, self.body.dimension
        if any(isinstance(group.law, TensionOnly) and group.viscosity for group in self.body.strains):
            raise ParameterError("viscosity= and tension_only= together are not supported; leave one out")
        ends = dict(zip((0, count - 1), self.boundaries, strict=True))
        free = [k for k in range(count) if ends.get(k) is not Boundary.FIXED]
        kept = np.array([d * k + axis for k in free for axis in range(d)], dtype=np.int64)
        vars(self).update(_moving=kept)
        ports = []
        for name, boundary in zip(("start", "end"), self.boundaries, strict=True):
            units = ("N", "m/s") if boundary is Boundary.FORCE else ("m/s", "N")
            if boundary is not Boundary.FIXED:
                ports.append(Port(name, *units, d))
        blocks = [
            StateGroup("position", "m", len(kept)),
            StateGroup("velocity", "m/s", len(kept)),
            StateGroup("strain", "1", sum(len(group.weights) for group in self.body.strains)),
            StateGroup("strain of branches", "1", self.branch_count),
            StateGroup(MULTIPLIERS, "N", self._driven_count()),
        ]
        vars(self).update(states=tuple(block for block in blocks if block.size), ports=tuple(ports))

    @property
    def initial_state(self) -> Array:
        """State vector x of this string at t = 0, shape (state_size,): node positions and velocities, the strains
        of the initial shape, relaxed viscoelastic branches and zero multipliers."""
        q = self.nodes.ravel()
        rest = np.zeros(self.branch_count + self._driven_count())
        return np.concatenate([q[self._moving], self.rates.ravel()[self._moving], self.strain_at(q), rest])

    def strain_at(self, q: Array) -> Array:
        """Return the strains C = |dr/ds|^2 (squared stretch) of a string at its g Gauss points for node positions q
        (d N,), shape (g,)."""
        return np.concatenate([strains(self.body, group, q) for group in self.body.strains])

    def positions(self, x: Array) -> Array:
        """Return the positions of all N nodes of a string in the world for the state x, fixed ends included, shape
        (N, d) [m]."""
        q = self.nodes.ravel().copy()
        q[self._moving] = x[: len(self._moving)]
        return q.reshape(self.nodes.shape)

    def strain_gap(self, x: Array) -> Array:
        """Return the strain states of a string in x minus the strains of its node positions in x, shape (g,): drift
        from compatibility, zero as long as a time integration scheme preserves it."""
        return np.asarray(x[self.state_slice("strain")] - self.strain_at(self.positions(x).ravel()))

    def _mass_blocks(self) -> tuple[Matrix, Matrix]:
        """Return the mass matrix of a string and the diagonal matrix of the quadrature weights of its strain
        states, with zeros for multipliers; both are constant."""
        weights = np.concatenate([*(group.weights for group in self._all_strains), np.zeros(self._driven_count())])
        return mass_matrix(self.body)[self._moving][:, self._moving], sparse.diags_array(weights)

    def _strain_rate_matrix(self, x: Array) -> Matrix:
        """Return the matrix from nodal velocities of a string to the rates of its strain states times their
        weights, at the state x. Each viscoelastic branch has a copy; the last rows prescribe the velocities of
        driven ends."""
        q = self.positions(x)
        columns = [
            strain_gradients(self.body, group, q) @ sparse.diags_array(group.weights) for group in self._all_strains
        ]
        own = sparse.hstack(columns, "csr")[self._moving]
        return sparse.hstack([own, -self._end_columns(Boundary.VELOCITY)], "csr").T

    def _viscous_matrix(self, x: Array) -> Matrix:
        """Return the damping matrix (force per velocity of the nodes) of Kelvin-Voigt viscosity of a string at the
        state x, shape (velocities, velocities)."""
        return viscous_matrix(self.body, self.positions(x).ravel())[self._moving][:, self._moving]

    def _dashpot_coefficients(self) -> Array:
        """Return the dissipation coefficients of all strain states of a string, shape (strains,): those of the
        dashpots for strains of viscoelastic branches, zero for other strains and multipliers."""
        found = np.zeros(self.state_size)
        for group, index, stiffness, time in self._branches():
            found[index] = group.weights / (stiffness * time)
        return found[2 * len(self._moving) :]

    def _input_columns(self, x: Array) -> Matrix:
        """Return the rows of the port matrix of a string for velocities, strains and multipliers, sparse and
        constant (the same at all states x): forces on its ends act on velocities, prescribed velocities on
        multipliers."""
        return self._inputs

    @cached_property
    def _inputs(self) -> sparse.csr_array:
        """Rows of the port matrix of a string for velocities, strains and multipliers, in the order start, end of
        its ports; constant, so computed once."""
        n, d = len(self._moving), self.body.dimension
        forced, driven = self._end_columns(Boundary.FORCE), self._driven_count()
        strains = sparse.csr_array((self.state_size - 2 * n - driven, 0))
        both = sparse.block_diag([forced, strains, sparse.eye_array(driven)], "csr")
        order: list[int] = []
        columns = {Boundary.FORCE: 0, Boundary.VELOCITY: forced.shape[1]}
        for boundary in self.boundaries:
            if boundary is not Boundary.FIXED:
                order += range(columns[boundary], columns[boundary] + d)
                columns[boundary] += d
        return sparse.csr_array(both[:, order])

    def effort(self, x: Array) -> Array:
        """Return the efforts z = (-F_b, v, S/2) of a string in the state x, shape (state_size,): minus the weights
        F_b of its nodes, their velocities v, half the stresses S at Gauss points, then forces of branches and
        multipliers."""
        return self.discrete_effort(x, x)

    def discrete_effort(self, x0: Array, x1: Array) -> Array:
        """Return the discrete gradient of the stored energy H of a string between the states x0 and x1, shape
        (state_size,): efforts whose dot product with x1 - x0 is exactly H(x1) - H(x0)."""
        slopes = [g.law.discrete_derivative(x0[index], x1[index]) for g, index in self._groups()]
        mean = (x0 + x1) / 2
        slopes += [stiffness * mean[index] for _, index, stiffness, _ in self._branches()]
        velocity = mean[len(self._moving) : 2 * len(self._moving)]
        rest = mean[len(mean) - self._driven_count() :]
        return np.concatenate([-self._weight()[self._moving], velocity, *slopes, rest])

    def storage(self, x: Array) -> float:
        """Return the stored energy H of a string in the state x [J]: kinetic energy plus elastic energy of its
        strain states (not of the strains of its node positions) minus the work of gravity."""
        v = x[len(self._moving) : 2 * len(self._moving)]
        n = len(self._moving)
        kinetic = v @ (self._descriptor[n : 2 * n, n : 2 * n] @ v) / 2
        stored = sum(float(group.weights @ group.law.energy(x[index])) for group, index in self._groups())
        for group, index, stiffness, _ in self._branches():
            stored += float(stiffness / 2 * (group.weights @ x[index] ** 2))
        return float(kinetic + stored - self.positions(x).ravel() @ self._weight())

    def _groups(self) -> Iterator[tuple[QuadraticStrains, slice]]:
        """Yield each group of elastic strains (elements of one law) of a string with the slice of the state vector
        that holds them."""
        begin = 2 * len(self._moving)
        for group in self.body.strains:
            yield group, slice(begin, begin + len(group.weights))
            begin += len(group.weights)

    def _branches(self) -> Iterator[tuple[QuadraticStrains, slice, float, float]]:
        """Yield for each viscoelastic branch (spring and dashpot in series) of a string its strain group, slice of
        the state; stiffness EA_b/4 [N] and relaxation time [s]."""
        begin = 2 * len(self._moving) + sum(len(group.weights) for group in self.body.strains)
        for group in self.body.strains:
            for stiffness, time in group.relaxation.pairs if group.relaxation else ():
                yield group, slice(begin, begin + len(group.weights)), stiffness / 4, time
                begin += len(group.weights)

    @property
    def _all_strains(self) -> list[QuadraticStrains]:
        """Groups of strains of this string in the order of their states: first the elastic strains, then once more
        a group for each viscoelastic branch (spring and dashpot in series)."""
        return [*self.body.strains, *(group for group, *_ in self._branches())]

    @property
    def branch_count(self) -> int:
        """Total number of states of this string that are strains of viscoelastic branches (spring and dashpot in
        series)."""
        return sum(len(group.weights) for group, *_ in self._branches())

    def _weight(self) -> Array:
        """Return the forces of gravity on all N nodes of a string, shape (d N,) [N]."""
        return np.outer(self.body.nodal_mass.sum(axis=1), self.gravity).ravel()

    def _driven_count(self) -> int:
        """Return the number of multipliers of a string: d (its dimension) for each end whose velocity is
        prescribed."""
        return self.body.dimension * self.boundaries.count(Boundary.VELOCITY)

    def _end_columns(self, kind: Boundary) -> sparse.csr_array:
        """Return the matrix of unit forces on those ends of a string that have the boundary condition
        ``kind``, as forces on its velocities, sparse; shape (velocities, d ends)."""
        d, count = self.body.dimension, self.body.node_count
        rows = [
            int(np.searchsorted(self._moving, d * node + axis))
            for node, boundary in zip((0, count - 1), self.boundaries, strict=True)
            for axis in range(d)
            if boundary is kind
        ]
        entries = (np.ones(len(rows)), (rows, range(len(rows))))
        return sparse.coo_array(entries, (len(self._moving), len(rows))).tocsr()


# The one place that makes the port-Hamiltonian form of a string.


def string_form(
    body: AbsoluteBody,
    mesh: StringMesh,
    gravity: Array,
    shape: Field | None,
    velocity: Field | None,
    boundaries: tuple[str, str],
) -> StringForm:
    """Return the port-Hamiltonian model of a discretized string in dimension 1, 2 or 3, with node positions,
    velocities and strains as states; ``boundaries`` says whether each end has a prescribed force, a
    prescribed velocity, or is fixed. ``body`` and ``mesh`` are the string, ``gravity`` is the acceleration
    [m/s^2]; ``shape`` and ``velocity`` are initial.

    Args:
        gravity: shape (3,) [m/s^2].
        shape, velocity: at t = 0; None: straight along x, at rest.
        boundaries: at the start and at the end.

    Raises:
        ParameterError: no such dimension or boundary, or numbers out of the line or plane.
    """
    d = body.dimension
    speed = np.zeros(3) if velocity is None else velocity
    curve = initial_nodes(mesh.nodes, min(max(d, 2), 3), shape, speed, np.zeros(3), np.eye(3))
    assert curve.velocities is not None, "a speed was given"
    for name, values in (("gravity", gravity), ("shape", curve.positions), ("velocity", curve.velocities)):
        if values[..., d:].any():
            allowed = {1: "along x", 2: "in the xy plane"}[d]
            raise ParameterError(f"{name} must be {allowed} in dimension {d}")
    kinds = (option("start", boundaries[0], Boundary), option("end", boundaries[1], Boundary))
    return StringForm(body, gravity[:d], kinds, curve.positions[:, :d], curve.velocities[:, :d])
