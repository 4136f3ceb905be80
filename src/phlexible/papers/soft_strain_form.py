"""Soft body as a port-Hamiltonian model with strains as additional states (docs/theory.md, 5)."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray, option
from phlexible.algebra.sparse import equal_diagonal
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.mechanics import soft
from phlexible.bodies.mechanics.absolute import mass_matrix, viscous_matrix
from phlexible.bodies.mechanics.soft import metric
from phlexible.bodies.soft_law import (
    IDENTITY,
    PAIRS,
    ElementStrains,
    InvariantConstitution,
    Logarithms,
    ScalarFunction,
    as_six,
    as_tensor,
    cofactor,
    trace,
)
from phlexible.errors import ParameterError
from phlexible.papers.quadratic_strains import soft_stress_form
from phlexible.papers.soft_form import SoftForm
from phlexible.papers.strain_form import StrainForm
from phlexible.port_hamiltonian.model import Matrix, Port, PortHamiltonianModel, StateBlock

TWICE = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
DIAGONAL = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
ROUND_OFF = 4e-15  # of C
PLANE, PLANE_COFACTOR = (0, 1, 5), (0, 1, 2, 5)
"""Of six numbers, those of E and of cof C that a sheet has."""


@dataclass(frozen=True, eq=False)
class StrainFields(ABC):
    """Strain states s of a group of soft elements with e q quadrature points, discontinuous from point to point.

    E is six numbers a point in the order of ``as_six``, shear strains twice; of a sheet those in its plane are
    states.

    Attributes:
        group: the elements.
    """

    group: ElementStrains

    @property
    @abstractmethod
    def blocks(self) -> tuple[StateBlock, ...]:
        """State blocks of the strains: their names, units and sizes."""

    @property
    @abstractmethod
    def weights(self) -> Array:
        """Volume of the undeformed body that each strain state stands for, shape (s,) [m3]."""

    @abstractmethod
    def of(self, nodes: Array) -> Array:
        """Return the strain states that belong to node positions (N, d), shape (s,)."""

    @abstractmethod
    def followers(self, s: Array) -> sparse.csr_array:
        """Return the matrix F that gives the rates of the strain states, weights ds/dt = F (w dE/dt), from those of
        the strains E. The result has shape (s, 6 e q).
        """

    @abstractmethod
    def energy(self, s: Array) -> float:
        """Return the energy stored for the strain states s [J]."""

    @abstractmethod
    def effort(self, s: Array) -> Array:
        """Return the derivative of the energy with respect to the strain states, divided by their volumes, shape
        (s,).
        """

    @abstractmethod
    def discrete_effort(self, s0: Array, s1: Array) -> Array:
        """Return the discrete effort z between two strain states, shape (s,): weights z.(s1 - s0) = energy(s1) -
        energy(s0), and z(s, s) = effort(s).
        """

    @abstractmethod
    def slopes(self, s: Array, rates: Array) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return the derivatives of followers^T effort (6 e q, s) and of followers (w dE/dt) (s, s) with respect to
        s. ``rates`` are strain rates dE/dt (e q, 6).
        """

    @cached_property
    def _volumes(self) -> Array:
        """Undeformed volumes of all quadrature points, shape (e q,) [m^3]."""
        return self.group.weights.ravel()

    @cached_property
    def _shown(self) -> IntArray:
        """Indices of those strain components of all points that are states."""
        return self._indices(PLANE if self.group.is_sheet else range(6))

    def _indices(self, numbers: "tuple[int, ...] | range") -> IntArray:
        """Return the indices of the given components, of six at each point, at all points."""
        found: IntArray = 6 * np.arange(len(self._volumes))[:, None] + np.array(numbers)
        return found.ravel()

    def _strain(self, shown: Array) -> Array:
        """Return the strains of all points from those that are states, with zeros for the others, shape (e q,
        6).
        """
        whole = np.zeros(6 * len(self._volumes))
        whole[self._shown] = shown
        return whole.reshape(-1, 6)

    def _strain_of(self, C: Array) -> Array:
        """Return the strain states of Cauchy-Green tensors C, where round-off is set to zero, so that an undeformed
        body has no strain.
        """
        strain = (as_six(C - IDENTITY) / 2 * TWICE).reshape(-1)[self._shown]
        return np.asarray(np.where(np.abs(strain) > ROUND_OFF, strain, 0.0))

    @staticmethod
    def _metric(strain: Array) -> Array:
        """Return the Cauchy-Green tensors C of strains (e q, 6), shape (e q, 3, 3)."""
        return IDENTITY + 2 * as_tensor(strain / TWICE)


class GreenLagrangeFields(StrainFields):
    """Strain states of a soft body: the Green-Lagrange strains E at the quadrature points."""

    @property
    def blocks(self) -> tuple[StateBlock, ...]:
        """State block of the strains E: its name, unit and size, as a tuple of one."""
        return (StateBlock("strain", "1", len(self._shown)),)

    @property
    def weights(self) -> Array:
        """Volume of the undeformed body that each component of E stands for, shape (s,) [m3]."""
        return np.repeat(self._volumes, 6)[self._shown]

    def of(self, nodes: Array) -> Array:
        """Return the Green-Lagrange strains E = (C - 1)/2 of node positions (N, d), shape (s,)."""
        return self._strain_of(metric(self.group, nodes))

    def followers(self, s: Array) -> sparse.csr_array:
        """Return the matrix from strain rates to rates of the states: the identity, of a sheet some rows of it,
        shape (s, 6 e q).
        """
        return sparse.eye_array(6 * len(self._volumes), format="csr")[self._shown]

    def energy(self, s: Array) -> float:
        """Return the stored energy of the strains, the sum of volume times W(C) over the points [J]."""
        return float(self._volumes @ self.group.law.energy(self._metric(self._strain(s))))

    def effort(self, s: Array) -> Array:
        """Return the second Piola-Kirchhoff stresses of the strain states, shape (s,) [Pa]."""
        return self._stress_numbers(self.group.law.stress(self._metric(self._strain(s))))

    def discrete_effort(self, s0: Array, s1: Array) -> Array:
        """Return the discrete stress between two strain states (5.14), at their mean for a law that is linear in E,
        shape (s,) [Pa].
        """
        law = self.group.law
        if not isinstance(law, InvariantConstitution):
            return self.effort((s0 + s1) / 2)
        C0, C1 = (self._metric(self._strain(s)) for s in (s0, s1))
        mean, A = (C0 + C1) / 2, (cofactor(C0, C0) + cofactor(C0, C1) + cofactor(C1, C1)) / 3
        f = law.first.quotient(trace(C0), trace(C1))[:, None, None]
        g = law.second.quotient(trace(cofactor(C0, C0)), trace(cofactor(C1, C1)))[:, None, None]
        h = law.third.quotient(np.linalg.det(C0), np.linalg.det(C1))[:, None, None]
        return self._stress_numbers(2 * (f * IDENTITY + g * (trace(mean)[:, None, None] * IDENTITY - mean) + h * A))

    def slopes(self, s: Array, rates: Array) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return the tangent of the law (6 e q, s), and zeros (s, s), since the rates of the states do not depend
        on them.
        """
        tangent = equal_diagonal(self.group.law.tangent(self._metric(self._strain(s))))
        return sparse.csr_array(tangent[:, self._shown]), sparse.csr_array((len(s), len(s)))

    def _stress_numbers(self, S: Array) -> Array:
        """Return those components of stresses S (e q, 3, 3) that belong to states, shape (s,)."""
        return np.asarray(as_six(S).reshape(-1)[self._shown])


@dataclass(frozen=True, eq=False)
class PolyconvexFields(StrainFields):
    """Strain states of a soft body for polyconvex laws f(tr C) + g(tr G) + h(D): strains E, cofactors G = cof C and
    determinants D = det C.

    Attributes:
        mean_volume: b (ln D)^2 of a law h = a ln D + b (ln D)^2 is taken at the mean of D over each element, which
            is then a state too; a ln D stays at the points, which it keeps from running apart.
    """

    mean_volume: bool = False

    @property
    def law(self) -> InvariantConstitution:
        """Elastic law of the elements, a sum of functions of the invariants."""
        assert isinstance(self.group.law, InvariantConstitution)
        return self.group.law

    @property
    def blocks(self) -> tuple[StateBlock, ...]:
        """State blocks of strains E, cofactors G and determinants D: their names, units and sizes."""
        sizes = len(self._shown), len(self._shown_cofactor), *(sums.shape[0] for _, sums in self._volume_laws)
        names = ("strain", "cofactor", "determinant", "mean_determinant")
        return tuple(StateBlock(name, "1", size) for name, size in zip(names, sizes, strict=False))

    @property
    def weights(self) -> Array:
        """Volume of the undeformed body that each state stands for, shape (s,) [m3]."""
        six = np.repeat(self._volumes, 6)
        return np.concatenate([six[self._shown], six[self._shown_cofactor], self._sums @ self._volumes])

    def of(self, nodes: Array) -> Array:
        """Return the states E, G and D that belong to node positions (N, d), shape (s,)."""
        C = metric(self.group, nodes).reshape(-1, 3, 3)
        G = as_six(cofactor(C, C))
        D = self._sums @ (self._volumes * np.linalg.det(C)) / (self._sums @ self._volumes)
        return np.concatenate([self._strain_of(C), G.ravel()[self._shown_cofactor], D])

    def followers(self, s: Array) -> sparse.csr_array:
        """Return the matrix from strain rates to the rates of E, G and D, with derivatives that are exact at means
        (5.26). The result has shape (s, 6 e q).
        """
        strain, G, _ = self._split(s)
        C = self._metric(strain)
        turned = equal_diagonal(self._cofactor_slope(C))[self._shown_cofactor]
        grown = self._sums @ equal_diagonal(2 * self._gradient(C, G)[:, None, :])
        one = sparse.eye_array(strain.size, format="csr")[self._shown]
        return sparse.csr_array(sparse.vstack([one, turned, grown], "csr"))

    def energy(self, s: Array) -> float:
        """Return the stored energy of the states, the sum over points of volume times f + g, and of volume times h
        [J].
        """
        strain, G, D = self._split(s)
        spread = self.law.first.value(trace(self._metric(strain))) + self.law.second.value(G @ DIAGONAL)
        pressed = np.concatenate([law.value(own) for law, own in self._determinant_laws(D)])
        return float(self._volumes @ spread + (self._sums @ self._volumes) @ pressed)

    def effort(self, s: Array) -> Array:
        """Return the derivatives 2 f' I, g' I and h' of the energy with respect to E, G and D, shape (s,) [Pa]."""
        return self.discrete_effort(s, s)

    def discrete_effort(self, s0: Array, s1: Array) -> Array:
        """Return the efforts between two states, with difference quotients of f, g and h in place of derivatives,
        shape (s,) [Pa].
        """
        (E0, G0, D0), (E1, G1, D1) = self._split(s0), self._split(s1)
        f = self.law.first.quotient(trace(self._metric(E0)), trace(self._metric(E1)))
        g = self.law.second.quotient(G0 @ DIAGONAL, G1 @ DIAGONAL)
        stretched, turned = (np.outer(each, DIAGONAL).ravel() for each in (2 * f, g))
        pairs = zip(self._determinant_laws(D0), self._determinant_laws(D1), strict=True)
        pressed = [law.quotient(before, after) for (law, before), (_, after) in pairs]
        return np.concatenate([stretched[self._shown], turned[self._shown_cofactor], *pressed])

    def slopes(self, s: Array, rates: Array) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return the derivatives of followers^T effort (6 e q, s) and of followers (w dE/dt) (s, s) with respect to
        s. ``rates`` are strain rates dE/dt (e q, 6).
        """
        strain, G, D = self._split(s)
        C, law = self._metric(strain), self.law
        P, diagonal = self._cofactor_slope(C), np.outer(DIAGONAL, DIAGONAL)
        volumes = list(self._determinant_laws(D))
        h = self._sums.T @ np.concatenate([each.slope(own) for each, own in volumes])
        g = law.second.slope(G @ DIAGONAL)
        rest = 4 * diagonal - np.diag([4.0, 4.0, 4.0, 2.0, 2.0, 2.0])  # d(2 (tr C I - C))/dE
        by_strain = 4 * law.first.curvature(trace(C))[:, None, None] * diagonal
        by_strain = by_strain + g[:, None, None] * rest + 4 / 3 * h[:, None, None] * P
        by_cofactor = law.second.curvature(G @ DIAGONAL)[:, None, None] * (np.swapaxes(P, 1, 2) @ diagonal)
        by_cofactor = by_cofactor + 2 / 3 * h[:, None, None] * np.eye(6)
        grown = equal_diagonal(2 * self._gradient(C, G)[:, None, :])
        bend = np.concatenate([each.curvature(own) for each, own in volumes])
        by_volume = grown.T @ self._sums.T @ sparse.diags_array(bend)
        stress = [equal_diagonal(by_strain)[:, self._shown], equal_diagonal(by_cofactor)[:, self._shown_cofactor]]
        weighted, stretching = self._volumes[:, None] * rates, 2 * as_tensor(rates / TWICE)
        turning = equal_diagonal(self._volumes[:, None, None] * self._cofactor_slope(stretching))
        along = 4 / 3 * np.einsum("pi,pij->pj", weighted, P)
        growing = [self._sums @ equal_diagonal(each[:, None, :]) for each in (along, 2 / 3 * weighted)]
        rows = [
            [sparse.csr_array((len(self._shown),) * 2), None, None],
            [
                turning[self._shown_cofactor][:, self._shown],
                sparse.csr_array((len(self._shown_cofactor),) * 2),
                None,
            ],
            [
                growing[0][:, self._shown],
                growing[1][:, self._shown_cofactor],
                sparse.csr_array((len(D), len(D))),
            ],
        ]
        states = sparse.block_array(rows, format="csr")
        return sparse.csr_array(sparse.hstack([*stress, by_volume], "csr")), sparse.csr_array(states)

    @cached_property
    def _shown_cofactor(self) -> IntArray:
        """Indices of those components of cof C of all points that are states."""
        return self._indices(PLANE_COFACTOR if self.group.is_sheet else range(6))

    @cached_property
    def _volume_laws(self) -> list[tuple[ScalarFunction, sparse.csr_array]]:
        """Functions of the determinants, each with the matrix that sums the points whose mean a determinant is,
        shape (determinants, e q).
        """
        e, q = self.group.weights.shape
        law, points = self.law.third, sparse.eye_array(e * q, format="csr")
        if not self.mean_volume:
            return [(law, points)]
        assert isinstance(law, Logarithms)
        elements = sparse.csr_array(sparse.kron(sparse.eye_array(e), np.ones((1, q)), "csr"))
        return [(Logarithms(law.a, 0.0), points), (Logarithms(0.0, law.b), elements)]

    @cached_property
    def _sums(self) -> sparse.csr_array:
        """Matrix that sums the points to which each determinant belongs, shape (determinants, e q)."""
        return sparse.csr_array(sparse.vstack([sums for _, sums in self._volume_laws], "csr"))

    def _determinant_laws(self, D: Array) -> Iterator[tuple[ScalarFunction, Array]]:
        """Yield each function h of the determinants with the entries of D that it depends on."""
        ends = np.cumsum([sums.shape[0] for _, sums in self._volume_laws])
        for (law, _), own in zip(self._volume_laws, np.split(D, ends[:-1]), strict=True):
            yield law, own

    def _split(self, s: Array) -> tuple[Array, Array, Array]:
        """Split the states s into strains E (e q, 6), cofactors G (e q, 6) and determinants D."""
        ends = np.cumsum([len(self._shown), len(self._shown_cofactor)])
        shown, turned, D = np.split(s, ends)
        G = np.zeros(6 * len(self._volumes))
        G[self._shown_cofactor] = turned
        return self._strain(shown), G.reshape(-1, 6), D

    @staticmethod
    def _gradient(C: Array, G: Array) -> Array:
        """Return (G + 2 cof C)/3, the derivative of the determinant with respect to C, as six numbers, shape (e q,
        6).
        """
        return np.asarray((G + 2 * as_six(cofactor(C, C))) / 3)

    @staticmethod
    def _cofactor_slope(C: Array) -> Array:
        """Return the derivative of cof C with respect to E in six numbers each, shape (e q, 6, 6)."""
        columns = []
        for a, b in PAIRS:
            dE = np.zeros((3, 3))
            dE[a, b] = dE[b, a] = 1.0 if a == b else 0.5
            columns.append(as_six(2 * cofactor(C, np.broadcast_to(2 * dE, C.shape))))
        return np.stack(columns, axis=-1)


class SoftStrains(StrEnum):
    """Choice of the strains of a soft body that are states of its port-Hamiltonian model.

    GREEN_LAGRANGE: E. POLYCONVEX: E, cof C and det C. MEAN_VOLUME: the mean of det C in each element too.
    """

    GREEN_LAGRANGE = "green_lagrange"
    POLYCONVEX = "polyconvex"
    MEAN_VOLUME = "mean_volume"


@dataclass(frozen=True, eq=False)
class SoftStrainForm(StrainForm):
    """Port-Hamiltonian model of a soft body with sparse matrices, whose states are positions and velocities of its
    nodes and strains at quadrature points (5.25).

        x = (q, v, s)    E = diag(I, M, W)    z = (-F, v, dW/ds)    R = diag(0, C(q), 0)
        J = [[0, I, 0], [-I, 0, -(T B)^T], [0, T B, 0]]    W ds/dt = T(s) B(q) v,  B = w dE/dq

    with strains s of the quadrature points, E alone or with cof C and det C, the weight F and the viscosity C.

    Ports, in world axes: the interfaces, u the force on the mean of their nodes; ``distributed force`` per mass at
    the nodes, y = M v; ``... traction``, per undeformed area of the faces of an interface (of a sheet, of its
    edges), at the nodes, y = M_b v with M_b = int N N dA.

    Attributes:
        whole: the body in positions and velocities.
        fields: the strains.
        surfaces: M_b of the interfaces that have faces, by name, each of shape (N, N) [m2].
    """

    whole: SoftForm
    fields: StrainFields
    surfaces: dict[str, sparse.csr_array]
    states: tuple[StateBlock, ...] = field(init=False)
    ports: tuple[Port, ...] = field(init=False)
    _inputs: sparse.csr_array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        body, n = self.whole.body, self.whole.body.elastic_count
        mass, one = mass_matrix(body), sparse.eye_array(body.dimension)
        ports, columns = list(self.whole.ports), list(self.whole.interface_forces.values())
        ports.append(Port("distributed force", "N/kg", "kg m/s", n, mass))
        columns.append(mass)
        for name, surface in self.surfaces.items():
            nodes = np.flatnonzero(surface.diagonal())
            own = sparse.csr_array(sparse.kron(surface[nodes][:, nodes], one))
            ports.append(Port(f"{name} traction", "Pa", "m^3/s", own.shape[0], own))
            columns.append(sparse.csr_array(sparse.kron(surface[:, nodes], one)))
        blocks = (StateBlock("position", "m", n), StateBlock("velocity", "m/s", n), *self.fields.blocks)
        vars(self).update(states=blocks, ports=tuple(ports), _inputs=sparse.csr_array(sparse.hstack(columns)))

    @property
    def initial_state(self) -> Array:
        """State x at t = 0, with the strains of the nodes' positions, shape (state_size,)."""
        q, v = np.split(self.whole.initial_state, 2)
        return np.concatenate([q, v, self.fields.of(self._nodes(q))])

    def strain_gap(self, x: Array) -> Array:
        """Return the strains of the state x minus those of its nodes, shape (strains,): zero as long as a scheme
        preserves it.
        """
        q, _, s = self._split(x)
        return s - self.fields.of(self._nodes(q))

    def momenta(self, x: Array) -> tuple[Array, Array]:
        """Return linear momentum [kg m/s] and angular momentum about the origin [kg m^2/s] of the state x in world
        axes, each (3,).
        """
        q, v, _ = self._split(x)
        places, momentum = np.zeros((2, self.whole.body.node_count, 3))
        places[:, : self.whole.body.dimension] = self._nodes(q)
        momentum[:, : self.whole.body.dimension] = self._nodes(mass_matrix(self.whole.body) @ v)
        return momentum.sum(axis=0), np.cross(places, momentum).sum(axis=0)

    def _storages(self) -> tuple[Matrix, Matrix]:
        """Return the mass matrix (d N, d N) and the diagonal matrix (s, s) of the volumes of the strain states."""
        return mass_matrix(self.whole.body), sparse.diags_array(self.fields.weights)

    def _strain_rates(self, x: Array) -> Matrix:
        """Return the matrix that gives the rates of the strain states, times their volumes, from the velocities at
        the state x, shape (s, d N).
        """
        q, _, s = self._split(x)
        return self.fields.followers(s) @ self._strain_slopes(q)

    def _viscous_matrix(self, x: Array) -> Matrix:
        """Return the damping matrix of the material on the velocities at the state x, shape (d N, d N)."""
        return viscous_matrix(self.whole.body, self._split(x)[0])

    def _input_columns(self, x: Array) -> Matrix:
        """Return the forces of unit inputs on the velocities, which are constant, shape (d N, inputs)."""
        return self._inputs

    def effort(self, x: Array) -> Array:
        """Return the efforts z at the state x: minus weights, velocities and stresses, shape (state_size,)."""
        _, v, s = self._split(x)
        return np.concatenate([-self.whole.weight, v, self.fields.effort(s)])

    def discrete_effort(self, x0: Array, x1: Array) -> Array:
        """Return the discrete effort between two states, point by point, whose product with their change is exactly
        H(x1) - H(x0), shape (state_size,). It conserves angular momentum.
        """
        (_, v0, s0), (_, v1, s1) = self._split(x0), self._split(x1)
        return np.concatenate([-self.whole.weight, (v0 + v1) / 2, self.fields.discrete_effort(s0, s1)])

    def storage(self, x: Array) -> float:
        """Return kinetic and strain energy minus the work of gravity for the state x [J]."""
        q, v, s = self._split(x)
        kinetic = v @ (mass_matrix(self.whole.body) @ v) / 2
        return float(kinetic + self.fields.energy(s) - q @ self.whole.weight)

    def defect_slope(self, x: Array, rate: Array, u: Array) -> sparse.csr_array:
        """Return minus the derivative of (J - R) z with respect to the state x, without the change of R with the
        positions. The result has shape (state_size, state_size).
        """
        q, v, s = self._split(x)
        group, nodes = self.fields.group, self._nodes(q)
        followers, slopes = self.fields.followers(s), self._strain_slopes(q)
        loads = (followers.T @ self.fields.effort(s)).reshape(*group.weights.shape, 6)
        geometric = soft.stress_stiffness(group, nodes, as_tensor(loads))
        volumes = np.repeat(group.weights.ravel(), 6)
        strain_rates = (slopes @ v / volumes).reshape(-1, 6)
        by_strain, follow = self.fields.slopes(s, strain_rates)
        moving = followers @ self._strain_slopes(v)
        one = sparse.eye_array(len(q))
        blocks = [
            [sparse.csr_array((len(q),) * 2), one, None],
            [-geometric, -viscous_matrix(self.whole.body, q), -slopes.T @ by_strain],
            [moving, followers @ slopes, follow],
        ]
        return -sparse.csr_array(sparse.block_array(blocks, format="csr"))

    def _split(self, x: Array) -> tuple[Array, Array, Array]:
        """Split the state x into node positions (d N,), velocities (d N,) and strain states."""
        n = self.whole.body.elastic_count
        return x[:n], x[n : 2 * n], x[2 * n :]

    def _nodes(self, q: Array) -> Array:
        """Reshape coordinates (d N,) to node positions or velocities, shape (N, d)."""
        return q.reshape(-1, self.whole.body.dimension)

    def _strain_slopes(self, q: Array) -> sparse.csr_array:
        """Return the derivatives of volume times strain with respect to the node positions q, shape (6 e q, d N);
        they are linear in q.
        """
        volumes = sparse.diags_array(np.repeat(self.fields.group.weights.ravel(), 6))
        return sparse.csr_array(volumes @ soft.strain_slopes(self.fields.group, self._nodes(q)))


def soft_body_form(
    body: AbsoluteBody,
    gravity: Array,
    interfaces: dict[str, Array],
    initial_state: Array,
    surfaces: dict[str, sparse.csr_array],
    stresses: bool,
    strains: str | None,
) -> PortHamiltonianModel:
    """Return the port-Hamiltonian model of a discretized soft body: in positions and velocities, or also with
    stresses or strains as states.

    Args:
        gravity, interfaces, initial_state: see ``SoftForm``.
        surfaces: see ``SoftStrainForm``.

    Raises:
        ParameterError: no such strains, cofactors and determinants of a law that is no function of them, or
            stresses and strains at once.
        ModelError: stresses of a law other than that of St. Venant and Kirchhoff.
    """
    form = SoftForm(body, gravity, interfaces, initial_state)
    if strains is None:
        return soft_stress_form(form) if stresses else form
    kind = option("strains", strains, SoftStrains)
    if stresses:
        raise ParameterError(f"take strains={kind.value!r} or stresses=True, not both")
    (group,) = body.elements
    if kind is SoftStrains.GREEN_LAGRANGE:
        return SoftStrainForm(form, GreenLagrangeFields(group), surfaces)
    if not isinstance(group.law, InvariantConstitution):
        raise ParameterError(
            f"strains={kind.value!r} is for laws of tr C, tr cof C and det C such as NeoHookean; that of St."
            " Venant and Kirchhoff is a function of E alone: take strains='green_lagrange'"
        )
    is_mean = kind is SoftStrains.MEAN_VOLUME
    if is_mean and not isinstance(group.law.third, Logarithms):
        raise ParameterError(
            "strains='mean_volume' is for NeoHookean of solids and of sheets with plane='strain', whose volume"
            " has an energy of its own, lame/2 (ln J)^2: take strains='polyconvex'"
        )
    return SoftStrainForm(form, PolyconvexFields(group, is_mean), surfaces)
