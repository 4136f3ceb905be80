"""Soft bodies as port-Hamiltonian models, also with stresses or strains as states (docs/theory.md, 5)."""

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
from phlexible.bodies.mechanics.absolute import (
    elastic_force,
    elastic_tangent,
    mass_matrix,
    strain_energy,
    viscous_matrix,
)
from phlexible.bodies.mechanics.soft import metric
from phlexible.bodies.skin import SIX
from phlexible.bodies.soft_law import (
    IDENTITY,
    ElementStrains,
    InvariantConstitution,
    Logarithms,
    QuadraticConstitution,
    ScalarFunction,
    as_six,
    as_tensor,
    cofactor,
    trace,
)
from phlexible.errors import ModelError, ParameterError
from phlexible.papers.strain_form import ProductTerms, QuadraticStrainModel, StrainForm
from phlexible.port_hamiltonian.model import Matrix, Port, PortHamiltonianModel, StateGroup


@dataclass(frozen=True, eq=False)
class SoftForm(StrainForm):
    """Port-Hamiltonian model of a soft body with sparse matrices, whose states are positions and velocities of its
    N nodes.

        x = (q, v)    E = diag(I, M)    z = (dV/dq - F, v)    J = [[0, I], [-I, 0]]    R = diag(0, C(q))

    with the stored energy V, the weight F of the nodes and the viscosity C. Ports are the interfaces: u is the
    force on the mean over their area in world axes, y the velocity of that mean, each of shape (d,).

    Attributes:
        body: nodes, masses and elements in dimension d.
        gravity: shape (d,) [m/s^2].
        interfaces: weights of the nodes by name, each of shape (N,).
        start: x at t = 0, shape (2 d N,).
    """

    body: AbsoluteBody
    gravity: Array
    interfaces: dict[str, Array]
    start: Array
    states: tuple[StateGroup, ...] = field(init=False)
    ports: tuple[Port, ...] = field(init=False)

    def __post_init__(self) -> None:
        n, d = self.body.elastic_count, self.body.dimension
        blocks = (StateGroup("position", "m", n), StateGroup("velocity", "m/s", n))
        vars(self).update(states=blocks, ports=tuple(Port(name, "N", "m/s", d) for name in self.interfaces))

    @property
    def initial_state(self) -> Array:
        """State vector x = (q, v) of this soft body at t = 0: positions and velocities of its N nodes in d
        dimensions, shape (2 d N,)."""
        return self.start

    def _mass_blocks(self) -> tuple[Matrix, Matrix]:
        """Return the mass matrix (d N, d N) of a soft body with N nodes and an empty compliance matrix (0, 0). Its
        model has no strain states."""
        return mass_matrix(self.body), sparse.csr_array((0, 0))

    def _strain_rate_matrix(self, x: Array) -> Matrix:
        """Return an empty matrix (0, d N) from nodal velocities to strain rates, since this model of a soft
        body has no strain states. It does not depend on the state x."""
        return sparse.csr_array((0, self.body.elastic_count))

    def _viscous_matrix(self, x: Array) -> Matrix:
        """Return the damping matrix (force per velocity of the nodes) of the viscous material of a soft body at
        the state x. It is sparse, shape (d N, d N), for N nodes in d dimensions."""
        return viscous_matrix(self.body, x[: self.body.elastic_count])

    def _input_columns(self, x: Array) -> Matrix:
        """Return the forces on the nodes of a soft body that unit inputs of its ports cause. The result has the
        shape (d N, inputs). The force on an interface is distributed over the nodes there. The result does not
        depend on the state x."""
        return sparse.hstack([sparse.csr_array((self.body.elastic_count, 0)), *self.interface_forces.values()])

    @property
    def interface_forces(self) -> dict[str, sparse.csr_array]:
        """Forces on the N nodes of this soft body for unit forces on each of its interfaces, as a dictionary by
        name of the interface. Each is a sparse matrix, shape (d N, d), d the dimension."""
        one = sparse.eye_array(self.body.dimension)
        return {
            name: sparse.csr_array(sparse.kron(weights[:, None], one)) for name, weights in self.interfaces.items()
        }

    def effort(self, x: Array) -> Array:
        """Return the efforts z = (dV/dq - F, v) of a soft body in the state x = (q, v), shape (2 d N,): elastic
        forces of the nodes minus their weights, and velocities."""
        n = self.body.elastic_count
        return np.concatenate([elastic_force(self.body, x[:n]) - self.weight, x[n:]])

    def defect_slope(self, x: Array, rate: Array, u: Array) -> sparse.csr_array:
        """Return the derivative of the residual E dx/dt - (J - R) z of a soft body with respect to its state x. It
        is sparse, shape (2 d N, 2 d N), for positions and velocities. The derivative of the damping matrix with
        respect to the positions is neglected. The rate dx/dt and the inputs u are not used."""
        n = self.body.elastic_count
        bent = sparse.block_diag([elastic_tangent(self.body, x[:n]), sparse.eye_array(n)], "csr")
        return sparse.csr_array((self.dissipation_matrix(x) - self.structure_matrix(x)) @ bent)

    def storage(self, x: Array) -> float:
        """Return the stored energy of a soft body in the state x [J]: kinetic plus strain energy minus the work of
        gravity."""
        n = self.body.elastic_count
        kinetic = x[n:] @ (mass_matrix(self.body) @ x[n:]) / 2
        return float(kinetic + strain_energy(self.body, x[:n]) - x[:n] @ self.weight)

    @property
    def weight(self) -> Array:
        """Forces of gravity on the nodes of the body, shape (d N,) [N]."""
        return np.outer(self.body.translational_mass, self.gravity).ravel()


# Strains as additional states.

TWICE = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
DIAGONAL = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
ROUND_OFF = 4e-15  # of C
PLANE, PLANE_COFACTOR = (0, 1, 5), (0, 1, 2, 5)
"""Indices, among the six components of a symmetric tensor, of those of E and of cof C that a sheet has."""


@dataclass(frozen=True, eq=False)
class StrainFields(ABC):
    """The k strain states s of a group of e soft elements with q quadrature points each. They are discontinuous
    from point to point.

    E is six numbers a point in the order of ``as_six``, shear strains twice; of a sheet those in its plane are
    states.

    Attributes:
        group: the elements.
    """

    group: ElementStrains

    @property
    @abstractmethod
    def groups(self) -> tuple[StateGroup, ...]:
        """Names, units and sizes of the blocks of strain states of a soft body. Strain states are strains that are
        states of the model. It is abstract; subclasses compute it."""

    @property
    @abstractmethod
    def weights(self) -> Array:
        """Volume of the undeformed soft body that each strain state at a quadrature point stands for, shape (k,)
        [m^3]. Strain states are strains that are states of the model. It is abstract; subclasses compute it."""

    @abstractmethod
    def states_at(self, nodes: Array) -> Array:
        """Return the strain states of a soft body that belong to its node positions (N, d), shape (k,). Strain
        states are strains that are states of the model. It is abstract; subclasses compute it."""

    @abstractmethod
    def rate_matrix(self, s: Array) -> sparse.csr_array:
        """Return the matrix F in ``weights ds/dt = F (w dE/dt)`` of a soft body, shape (k, 6 e q): it gives the
        rates of the strain states s from those of the Green-Lagrange strains E (six at each of e q quadrature
        points) times volumes w. Strain states are strains that are states of the model. It is abstract; subclasses
        compute it."""

    @abstractmethod
    def energy(self, s: Array) -> float:
        """Return the elastic energy of a soft body for the strain states s (k,) [J]. Strain states are strains
        that are states of the model. It is abstract; subclasses compute it."""

    @abstractmethod
    def effort(self, s: Array) -> Array:
        """Return the derivative of a soft body's elastic energy with respect to the strain states s, as stresses,
        shape (k,) [Pa]. Each is divided by the volume for which its state stands. Strain states are strains that
        are states of the model. It is abstract; subclasses compute it."""

    @abstractmethod
    def discrete_effort(self, s0: Array, s1: Array) -> Array:
        """Return the discrete gradient z of the elastic energy of a soft body between two strain states, shape
        (k,) [Pa]: stresses with ``weights z . (s1 - s0) = energy(s1) - energy(s0)`` exactly, and the stresses of
        ``effort`` for s0 = s1. Strain states are strains that are states of the model. It is abstract; subclasses
        compute it."""

    @abstractmethod
    def slopes(self, s: Array, rates: Array) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return two sparse derivatives with respect to the k strain states s of a soft body: that of its stresses,
        and that of the rates of the states. The stresses are the second Piola-Kirchhoff stresses ``rate_matrix^T
        effort``; their derivative has the shape (6 e q, k). The rates are ``rate_matrix (w dE/dt)`` for fixed
        strain rates ``rates`` (e q, 6); their derivative has the shape (k, k). Strain states are strains that are
        states of the model. It is abstract; subclasses compute them."""

    @cached_property
    def _volumes(self) -> Array:
        """Undeformed volumes for which the quadrature points of a soft body stand, all elements one after the
        other, shape (e q,) [m^3]."""
        return self.group.weights.ravel()

    @cached_property
    def _shown(self) -> IntArray:
        """Indices of those strain components (six at each quadrature point) of a soft body that are states. These
        are all components of a solid, and those in the plane of a sheet."""
        return self._indices(PLANE if self.group.is_sheet else range(6))

    def _indices(self, components: "tuple[int, ...] | range") -> IntArray:
        """Return the indices of the given tensor ``components`` at all quadrature points of a soft body as one flat
        array. Six components are stored at each point."""
        found: IntArray = 6 * np.arange(len(self._volumes))[:, None] + np.array(components)
        return found.ravel()

    def _strain(self, shown: Array) -> Array:
        """Return all six strains at each quadrature point of a soft body, shape (e q, 6), from those strain
        components that are states (``shown``). All other components (out of the plane of a sheet) are zero."""
        whole = np.zeros(6 * len(self._volumes))
        whole[self._shown] = shown
        return whole.reshape(-1, 6)

    def _strain_states(self, C: Array) -> Array:
        """Return those Green-Lagrange strains that are states as a flat array. The six components of a quadrature
        point are E_11, E_22, E_33, 2 E_23, 2 E_13, 2 E_12 of E = (C - I) / 2; ``_shown`` selects. Values up to
        ``ROUND_OFF`` become zero. C (e q, 3, 3) are the Cauchy-Green tensors."""
        strain = (as_six(C - IDENTITY) / 2 * TWICE).reshape(-1)[self._shown]
        return np.asarray(np.where(np.abs(strain) > ROUND_OFF, strain, 0.0))

    @staticmethod
    def _cauchy_green(strain: Array) -> Array:
        """Return the right Cauchy-Green tensors C = I + 2 E, shape (e q, 3, 3), for Green-Lagrange strains E.
        ``strain`` (e q, 6) has the components E_11, E_22, E_33, 2 E_23, 2 E_13, 2 E_12."""
        return IDENTITY + 2 * as_tensor(strain / TWICE)


class GreenLagrangeFields(StrainFields):
    """Strain states of a soft body: the Green-Lagrange strains E at the quadrature points."""

    @property
    def groups(self) -> tuple[StateGroup, ...]:
        """Name, unit and size of the one block of strain states of a soft body, its Green-Lagrange strains,
        as a tuple of one. Strain states are strains that are states of the model."""
        return (StateGroup("strain", "1", len(self._shown)),)

    @property
    def weights(self) -> Array:
        """Volume of the undeformed soft body that each Green-Lagrange strain component stands for, shape (k,)
        [m^3]."""
        return np.repeat(self._volumes, 6)[self._shown]

    def states_at(self, nodes: Array) -> Array:
        """Return the Green-Lagrange strains E = (C - 1)/2 at the quadrature points of a soft body for node
        positions (N, d), shape (k,)."""
        return self._strain_states(metric(self.group, nodes))

    def rate_matrix(self, s: Array) -> sparse.csr_array:
        """Return the matrix that selects strain states (strains that are states of the model) from the rates of
        all strains. The latter are 6 Green-Lagrange strains at each quadrature point of a soft body. The shape is
        (strain states, 6 x elements x points). It is the identity for solids, its rows of in-plane strains for
        sheets, and does not depend on ``s``."""
        return sparse.eye_array(6 * len(self._volumes), format="csr")[self._shown]

    def energy(self, s: Array) -> float:
        """Return the elastic energy of a soft body for its Green-Lagrange strains s (k,) [J]: sum of volume times
        energy density over the quadrature points."""
        return float(self._volumes @ self.group.law.energy(self._cauchy_green(self._strain(s))))

    def effort(self, s: Array) -> Array:
        """Return the second Piola-Kirchhoff stresses of a soft body for its Green-Lagrange strains s, shape (k,)
        [Pa]."""
        return self._stress_states(self.group.law.stress(self._cauchy_green(self._strain(s))))

    def discrete_effort(self, s0: Array, s1: Array) -> Array:
        """Return the discrete stresses (k,) [Pa] of a soft body between the k strain states s0 and s1,
        Green-Lagrange strains at all quadrature points. Their product with s1 - s0, weighted by volume, is exactly
        the change of energy. For a law of invariants they are built from difference quotients by each invariant
        (docs/theory.md, 5, (5.14)). For other laws, linear in strain, they are the stresses at the mean strain."""
        law = self.group.law
        if not isinstance(law, InvariantConstitution):
            return self.effort((s0 + s1) / 2)
        C0, C1 = (self._cauchy_green(self._strain(s)) for s in (s0, s1))
        mean, A = (C0 + C1) / 2, (cofactor(C0, C0) + cofactor(C0, C1) + cofactor(C1, C1)) / 3
        f = law.first.quotient(trace(C0), trace(C1))[:, None, None]
        g = law.second.quotient(trace(cofactor(C0, C0)), trace(cofactor(C1, C1)))[:, None, None]
        h = law.third.quotient(np.linalg.det(C0), np.linalg.det(C1))[:, None, None]
        return self._stress_states(2 * (f * IDENTITY + g * (trace(mean)[:, None, None] * IDENTITY - mean) + h * A))

    def slopes(self, s: Array, rates: Array) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return the material tangent of a soft body, shape (6 e q, k), and a zero matrix (k, k), for k strain
        states s. The tangent has the derivatives of its second Piola-Kirchhoff stresses with respect to the strain
        states. Rates of the states do not depend on the states, so that their derivatives are zero; ``rates`` is
        not used. Strain states are strains that are states of the model."""
        tangent = equal_diagonal(self.group.law.tangent(self._cauchy_green(self._strain(s))))
        return sparse.csr_array(tangent[:, self._shown]), sparse.csr_array((len(s), len(s)))

    def _stress_states(self, S: Array) -> Array:
        """Return those components of stress tensors S (e q, 3, 3) at quadrature points that belong to strain
        states, as a flat array (k,). Strain states are strains that are states of the model. A sheet has the
        components in its plane only."""
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
        """Elastic law of this group of soft elements, a sum of functions of the three invariants of the
        Cauchy-Green tensor."""
        assert isinstance(self.group.law, InvariantConstitution)
        return self.group.law

    @property
    def groups(self) -> tuple[StateGroup, ...]:
        """Names, units and sizes of the blocks of strain states of a soft body: Green-Lagrange strains, cofactors
        and determinants of the Cauchy-Green tensor."""
        sizes = len(self._shown), len(self._shown_cofactor), *(sums.shape[0] for _, sums in self._volume_laws)
        names = ("strain", "cofactor", "determinant", "mean_determinant")
        return tuple(StateGroup(name, "1", size) for name, size in zip(names, sizes, strict=False))

    @property
    def weights(self) -> Array:
        """Volume of the undeformed soft body that each strain state (strain, cofactor or determinant) stands for,
        shape (k,) [m^3]."""
        six = np.repeat(self._volumes, 6)
        return np.concatenate([six[self._shown], six[self._shown_cofactor], self._sums @ self._volumes])

    def states_at(self, nodes: Array) -> Array:
        """Return the strain states of a soft body for node positions (N, d), shape (k,): Green-Lagrange strains,
        cofactors and determinants of the Cauchy-Green tensor at the quadrature points. Determinants may be means
        over the quadrature points of an element, weighted by volume."""
        C = metric(self.group, nodes).reshape(-1, 3, 3)
        G = as_six(cofactor(C, C))
        D = self._sums @ (self._volumes * np.linalg.det(C)) / (self._sums @ self._volumes)
        return np.concatenate([self._strain_states(C), G.ravel()[self._shown_cofactor], D])

    def rate_matrix(self, s: Array) -> sparse.csr_array:
        """Return the matrix that gives the rates of all strain states of a soft body from the rates of the strains
        E. The result has the shape (k, 6 e q). The states are strains E, cofactors G and determinants D. At the
        mean of two states the matrix reproduces their differences exactly, by docs/theory.md, 5, (5.26)."""
        strain, G, _ = self._split(s)
        C = self._cauchy_green(strain)
        turned = equal_diagonal(self._cofactor_slope(C))[self._shown_cofactor]
        grown = self._sums @ equal_diagonal(2 * self._gradient(C, G)[:, None, :])
        one = sparse.eye_array(strain.size, format="csr")[self._shown]
        return sparse.csr_array(sparse.vstack([one, turned, grown], "csr"))

    def energy(self, s: Array) -> float:
        """Return the elastic energy of a soft body for the strain states s [J]. It is the sum over quadrature
        points of volume times f(tr C) + g(tr G), plus the sum over determinants of volume times h(D). C follows
        from the strains; cofactors G and determinants D are states."""
        strain, G, D = self._split(s)
        spread = self.law.first.value(trace(self._cauchy_green(strain))) + self.law.second.value(G @ DIAGONAL)
        pressed = np.concatenate([law.value(own) for law, own in self._determinant_laws(D)])
        return float(self._volumes @ spread + (self._sums @ self._volumes) @ pressed)

    def effort(self, s: Array) -> Array:
        """Return the derivatives of a soft body's elastic energy density with respect to its strain states s, shape
        (k,) [Pa]. They are 2 f' I, g' I and h' for strains, cofactors and determinants."""
        return self.discrete_effort(s, s)

    def discrete_effort(self, s0: Array, s1: Array) -> Array:
        """Return the discrete gradient of the elastic energy of a soft body between two strain states s0 and s1,
        shape (k,) [Pa]. Its product with s1 - s0, weighted by volumes, is exactly the change of energy. Strain
        states are strains, cofactors and determinants of the Cauchy-Green tensor; the energy is a sum of functions
        of their traces and determinants, whose difference quotients replace derivatives."""
        (E0, G0, D0), (E1, G1, D1) = self._split(s0), self._split(s1)
        f = self.law.first.quotient(trace(self._cauchy_green(E0)), trace(self._cauchy_green(E1)))
        g = self.law.second.quotient(G0 @ DIAGONAL, G1 @ DIAGONAL)
        stretched, turned = (np.outer(each, DIAGONAL).ravel() for each in (2 * f, g))
        pairs = zip(self._determinant_laws(D0), self._determinant_laws(D1), strict=True)
        pressed = [law.quotient(before, after) for (law, before), (_, after) in pairs]
        return np.concatenate([stretched[self._shown], turned[self._shown_cofactor], *pressed])

    def slopes(self, s: Array, rates: Array) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return two sparse derivatives with respect to the strain states of a soft body: that of its stresses, and
        that of the rates of the states. The k strain states ``s`` are strains, cofactors and determinants. The
        stresses are second Piola-Kirchhoff stresses at q points in each of e elements; their derivative has the
        shape (6 e q, k). The rates of the states are those for fixed strain rates ``rates`` (e q, 6); their
        derivative has the shape (k, k)."""
        strain, G, D = self._split(s)
        C, law = self._cauchy_green(strain), self.law
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
        """Indices of those cofactor components of the Cauchy-Green tensor (six at each quadrature point) of a soft
        body that are states: all of a solid, four at each point of a sheet."""
        return self._indices(PLANE_COFACTOR if self.group.is_sheet else range(6))

    @cached_property
    def _volume_laws(self) -> list[tuple[ScalarFunction, sparse.csr_array]]:
        """Return pairs (h, S) of the energy density h(J) of a soft body and a sparse matrix S of ones that sums
        over quadrature points. J = det C, with the right Cauchy-Green tensor C. S has the shape (determinants, e
        q) for e elements with q points. It is the identity, except for the term b (ln J)^2 if volumes are averaged
        over elements."""
        e, q = self.group.weights.shape
        law, points = self.law.third, sparse.eye_array(e * q, format="csr")
        if not self.mean_volume:
            return [(law, points)]
        assert isinstance(law, Logarithms)
        elements = sparse.csr_array(sparse.kron(sparse.eye_array(e), np.ones((1, q)), "csr"))
        return [(Logarithms(law.a, 0.0), points), (Logarithms(0.0, law.b), elements)]

    @cached_property
    def _sums(self) -> sparse.csr_array:
        """Sparse matrix that sums the quadrature points of a soft body to which each determinant state belongs,
        shape (determinants, e q)."""
        return sparse.csr_array(sparse.vstack([sums for _, sums in self._volume_laws], "csr"))

    def _determinant_laws(self, D: Array) -> Iterator[tuple[ScalarFunction, Array]]:
        """Yield each function h of the determinant in the elastic law of a soft body with the determinant states
        (entries of D) it depends on."""
        ends = np.cumsum([sums.shape[0] for _, sums in self._volume_laws])
        for (law, _), own in zip(self._volume_laws, np.split(D, ends[:-1]), strict=True):
            yield law, own

    def _split(self, s: Array) -> tuple[Array, Array, Array]:
        """Split the strain states s of a soft body into Green-Lagrange strains E (e q, 6), cofactors G (e q, 6)
        and determinants D. Components that a sheet does not have as states are zero."""
        ends = np.cumsum([len(self._shown), len(self._shown_cofactor)])
        shown, turned, D = np.split(s, ends)
        G = np.zeros(6 * len(self._volumes))
        G[self._shown_cofactor] = turned
        return self._strain(shown), G.reshape(-1, 6), D

    @staticmethod
    def _gradient(C: Array, G: Array) -> Array:
        """Return (G + 2 cof C)/3 at the e q quadrature points, shape (e q, 6). This is the derivative of the
        determinant with respect to the Cauchy-Green tensor C, averaged with its cofactor G so that differences are
        exact."""
        return np.asarray((G + 2 * as_six(cofactor(C, C))) / 3)

    @staticmethod
    def _cofactor_slope(C: Array) -> Array:
        """Return the derivatives of the cofactors of the right Cauchy-Green tensors C with respect to the
        Green-Lagrange strains, shape (e q, 6, 6). There are q quadrature points in each of e elements. Rows are
        components 11, 22, 33, 23, 13, 12 of the cofactor, columns the strains E_11, E_22, E_33, 2 E_23, 2 E_13, 2
        E_12."""
        columns = []
        for a, b in SIX:
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

    Ports, in world axes: the interfaces, u the force on the mean over their area; ``distributed force`` per mass at
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
    states: tuple[StateGroup, ...] = field(init=False)
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
        blocks = (StateGroup("position", "m", n), StateGroup("velocity", "m/s", n), *self.fields.groups)
        vars(self).update(states=blocks, ports=tuple(ports), _inputs=sparse.csr_array(sparse.hstack(columns)))

    @property
    def initial_state(self) -> Array:
        """State vector x of this soft body at t = 0: positions and velocities of its nodes, and the strains that
        belong to the positions, shape (state_size,)."""
        q, v = np.split(self.whole.initial_state, 2)
        return np.concatenate([q, v, self.fields.states_at(self._nodes(q))])

    def strain_gap(self, x: Array) -> Array:
        """Return the strain states in x minus the strains of the node positions in x of a soft body, shape
        (strains,): drift from compatibility, zero as long as a time integration scheme preserves it. Strain
        states are strains that are states of the model."""
        q, _, s = self._split(x)
        return s - self.fields.states_at(self._nodes(q))

    def momenta(self, x: Array) -> tuple[Array, Array]:
        """Return the linear momentum [kg m/s] and the angular momentum [kg m^2/s] of a soft body for the state x,
        each (3,). They are in world axes, the latter about the origin."""
        q, v, _ = self._split(x)
        positions, momentum = np.zeros((2, self.whole.body.node_count, 3))
        positions[:, : self.whole.body.dimension] = self._nodes(q)
        momentum[:, : self.whole.body.dimension] = self._nodes(mass_matrix(self.whole.body) @ v)
        return momentum.sum(axis=0), np.cross(positions, momentum).sum(axis=0)

    def _mass_blocks(self) -> tuple[Matrix, Matrix]:
        """Return the mass matrix (d N, d N) of a soft body and the diagonal matrix of its strain states'
        volumes (k, k). Both are constant. Strain states are strains that are states of the model."""
        return mass_matrix(self.whole.body), sparse.diags_array(self.fields.weights)

    def _strain_rate_matrix(self, x: Array) -> Matrix:
        """Return the matrix from the nodal velocities of a soft body to the rates of its strain states times
        their volumes, shape (k, d N). It is evaluated at the state x. Strain states are strains that are
        states of the model."""
        q, _, s = self._split(x)
        return self.fields.rate_matrix(s) @ self._strain_slopes(q)

    def _viscous_matrix(self, x: Array) -> Matrix:
        """Return the damping matrix (force per velocity of the nodes) of the viscous material of a soft body at
        the state x. It is sparse, shape (d N, d N), for N nodes in d dimensions."""
        return viscous_matrix(self.whole.body, self._split(x)[0])

    def _input_columns(self, x: Array) -> Matrix:
        """Return the forces on the nodes of a soft body that unit inputs of its ports cause. Ports are
        interface forces, distributed force and tractions; the result is the same at all states x, shape (d N,
        inputs)."""
        return self._inputs

    def effort(self, x: Array) -> Array:
        """Return the efforts z, conjugate to the states x of a soft body, shape (state_size,). x consists of the
        nodes' positions, their velocities and strains; z has, in this order, minus the weights of the nodes [N],
        their velocities, and the stresses that belong to the strains.
        """
        _, v, s = self._split(x)
        return np.concatenate([-self.whole.weight, v, self.fields.effort(s)])

    def discrete_effort(self, x0: Array, x1: Array) -> Array:
        """Return the discrete gradient of the stored energy H of a soft body between the states x0 and x1, shape
        (state_size,), computed point by point. The energy then changes by exactly H(x1) - H(x0), and angular
        momentum is conserved."""
        (_, v0, s0), (_, v1, s1) = self._split(x0), self._split(x1)
        return np.concatenate([-self.whole.weight, (v0 + v1) / 2, self.fields.discrete_effort(s0, s1)])

    def storage(self, x: Array) -> float:
        """Return the stored energy of a soft body in the state x [J]: kinetic energy plus elastic energy of
        the strain states minus the work of gravity. Strain states are strains that are states of the model."""
        q, v, s = self._split(x)
        kinetic = v @ (mass_matrix(self.whole.body) @ v) / 2
        return float(kinetic + self.fields.energy(s) - q @ self.whole.weight)

    def defect_slope(self, x: Array, rate: Array, u: Array) -> sparse.csr_array:
        """Return the derivative of the residual E dx/dt - (J - R) z of a soft body with respect to its state x. It
        is sparse, shape (state_size, state_size). States are positions, velocities and strains. The change of the
        damping matrix with the positions is neglected. ``rate`` (dx/dt) and the inputs u are not used."""
        q, v, s = self._split(x)
        group, nodes = self.fields.group, self._nodes(q)
        followers, slopes = self.fields.rate_matrix(s), self._strain_slopes(q)
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
        """Split the state vector x of a soft body into node positions (d N,), node velocities (d N,) and strain
        states (k,)."""
        n = self.whole.body.elastic_count
        return x[:n], x[n : 2 * n], x[2 * n :]

    def _nodes(self, q: Array) -> Array:
        """Reshape flat nodal coordinates q (d N,) of a soft body, positions or velocities, to an array (N, d) with
        one row for each node."""
        return q.reshape(-1, self.whole.body.dimension)

    def _strain_slopes(self, q: Array) -> sparse.csr_array:
        """Return the sparse derivatives of Green-Lagrange strain times volume with respect to the node positions
        q. The result has the shape (6 e q, d N). Rows belong to the e q quadrature points of a soft body, the six
        components of a point one after the other. They are linear in q."""
        volumes = sparse.diags_array(np.repeat(self.fields.group.weights.ravel(), 6))
        return sparse.csr_array(volumes @ soft.strain_slopes(self.fields.group, self._nodes(q)))


def soft_stress_form(form: SoftForm) -> QuadraticStrainModel:
    """Return the port-Hamiltonian model of a soft body with second Piola-Kirchhoff stresses [Pa] as additional
    states. It is built from ``form``, the model of the body in positions and velocities. Green-Lagrange strains at
    quadrature points are quadratic in the positions, and stresses linear in them. Raise ``ModelError`` for an
    elastic law other than that of St. Venant and Kirchhoff.

    Strains are E = (C - 1)/2 at the quadrature points, times their volumes, in the order 11, 22, 33, 23, 13, 12
    with shear strains twice.

    Raises:
        ModelError: another law.
    """
    body = form.body
    d, blocks, constants, begin = body.dimension, [], [], 0
    strain, first, second, factor = [], [], [], []
    for group in body.elements:
        if not isinstance(group.law, QuadraticConstitution):
            raise ModelError(
                "stresses=True is for soft bodies of the law of St. Venant and Kirchhoff: strains of others are no"
                " linear functions of stresses"
            )
        e, p = group.weights.shape
        tangent = group.law.tangent(np.eye(3))
        blocks.append(sparse.kron(sparse.diags_array(1 / group.weights.ravel()), tangent))
        one = np.tile([0.5, 0.5, 0.5, 0.0, 0.0, 0.0], e * p) * np.repeat(group.weights.ravel(), 6)
        across = np.tile([0.0, 0.0, 1.0, 0.0, 0.0, 0.0], e * p) * one if group.is_sheet else 0.0
        constants.append(across - one)
        k = group.nodes.shape[1]
        for row, (a, b) in enumerate(SIX):
            if group.is_sheet and row in (2, 3, 4):
                continue
            own = np.einsum("ep,epi,epj->epij", group.weights, group.gradients[..., a], group.gradients[..., b])
            own = own if a == b else own + own.swapaxes(2, 3)
            for axis in range(d):
                shape = (e, p, k, k)
                indices = begin + 6 * np.arange(e * p).reshape(e, p) + row
                strain.append(np.broadcast_to(indices[:, :, None, None], shape).ravel())
                first.append(np.broadcast_to(d * group.nodes[:, None, :, None] + axis, shape).ravel())
                second.append(np.broadcast_to(d * group.nodes[:, None, None, :] + axis, shape).ravel())
                factor.append(own.ravel())
        begin += 6 * e * p
    terms = ProductTerms(*(np.concatenate(each) for each in (strain, first, second, factor)))
    return QuadraticStrainModel(
        mass=mass_matrix(body),
        stiffness=sparse.csr_array(sparse.block_diag(blocks, "csr")),
        constant=np.concatenate(constants),
        linear=sparse.csr_array((begin, body.elastic_count)),
        quadratic=terms,
        weight=form.weight,
        start=form.initial_state,
        inputs=form.interface_forces,
        viscosity=body.elements[0].viscosity,
    )


def soft_body_form(
    body: AbsoluteBody,
    gravity: Array,
    interfaces: dict[str, Array],
    initial_state: Array,
    surfaces: dict[str, sparse.csr_array],
    stresses: bool,
    strains: str | None,
) -> PortHamiltonianModel:
    """Return the port-Hamiltonian model of a discretized soft body with node positions and velocities as states.
    If ``stresses`` is True, stresses are states too. If ``strains`` is "green_lagrange", "polyconvex" or
    "mean_volume", strains of this kind are. Raise ``ParameterError`` for both together, or a kind that the elastic
    law does not allow. ``surfaces`` are for traction ports, with strains only.

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
