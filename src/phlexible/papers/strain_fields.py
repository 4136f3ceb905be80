"""Strains of soft bodies that are states of their own, and what they store (docs/theory.md, 5)."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
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
from phlexible.port_hamiltonian.model import StateBlock

TWICE = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
DIAGONAL = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
ROUND_OFF = 4e-15  # of C
PLANE, PLANE_COFACTOR = (0, 1, 5), (0, 1, 2, 5)
"""Of six numbers, those of E and of cof C that a sheet has."""


@dataclass(frozen=True, eq=False)
class StrainFields(ABC):
    """Strains s of a group of elements with e q points, discontinuous from point to point.

    E is six numbers a point in the order of ``as_six``, shear strains twice; of a sheet those in its plane are
    states.

    Attributes:
        group: the elements.
    """

    group: ElementStrains

    @property
    @abstractmethod
    def blocks(self) -> tuple[StateBlock, ...]:
        """The states by name."""

    @property
    @abstractmethod
    def weights(self) -> Array:
        """Volumes that the states stand for, shape (s,) [m3]."""

    @abstractmethod
    def of(self, nodes: Array) -> Array:
        """The strains of nodes at (N, d), shape (s,)."""

    @abstractmethod
    def followers(self, s: Array) -> sparse.csr_array:
        """How the states follow w E of all points: weights ds/dt = followers (w dE/dt), shape (s, 6 e q)."""

    @abstractmethod
    def energy(self, s: Array) -> float:
        """Stored [J]."""

    @abstractmethod
    def effort(self, s: Array) -> Array:
        """Slope of the energy over the weights, shape (s,)."""

    @abstractmethod
    def discrete_effort(self, s0: Array, s1: Array) -> Array:
        """z with weights z.(s1 - s0) = energy(s1) - energy(s0), and z(s, s) = effort(s), shape (s,)."""

    @abstractmethod
    def slopes(self, s: Array, rates: Array) -> tuple[sparse.csr_array, sparse.csr_array]:
        """d(followers^T effort)/ds, (6 e q, s), and d(followers (w dE/dt))/ds, (s, s), for rates dE/dt (e q, 6)."""

    @cached_property
    def _volumes(self) -> Array:
        """Of all points, shape (e q,)."""
        return self.group.weights.ravel()

    @cached_property
    def _shown(self) -> IntArray:
        """Which numbers of E of all points are states."""
        return self._places(PLANE if self.group.is_sheet else range(6))

    def _places(self, numbers: "tuple[int, ...] | range") -> IntArray:
        found: IntArray = 6 * np.arange(len(self._volumes))[:, None] + np.array(numbers)
        return found.ravel()

    def _strain(self, shown: Array) -> Array:
        """E with the numbers that are no states, shape (e q, 6)."""
        whole = np.zeros(6 * len(self._volumes))
        whole[self._shown] = shown
        return whole.reshape(-1, 6)

    def _strain_of(self, C: Array) -> Array:
        """The numbers of E that are states, zero where they are round-off: an undeformed body has no strain."""
        strain = (as_six(C - IDENTITY) / 2 * TWICE).reshape(-1)[self._shown]
        return np.asarray(np.where(np.abs(strain) > ROUND_OFF, strain, 0.0))

    @staticmethod
    def _metric(strain: Array) -> Array:
        """C of E, shape (e q, 3, 3)."""
        return IDENTITY + 2 * as_tensor(strain / TWICE)


class GreenLagrangeFields(StrainFields):
    """E alone."""

    @property
    def blocks(self) -> tuple[StateBlock, ...]:
        """E."""
        return (StateBlock("strain", "1", len(self._shown)),)

    @property
    def weights(self) -> Array:
        """Of each number of E."""
        return np.repeat(self._volumes, 6)[self._shown]

    def of(self, nodes: Array) -> Array:
        """(C - 1)/2."""
        return self._strain_of(metric(self.group, nodes))

    def followers(self, s: Array) -> sparse.csr_array:
        """The unit matrix, or of a sheet some rows of it."""
        return sparse.eye_array(6 * len(self._volumes), format="csr")[self._shown]

    def energy(self, s: Array) -> float:
        """sum w W(C)."""
        return float(self._volumes @ self.group.law.energy(self._metric(self._strain(s))))

    def effort(self, s: Array) -> Array:
        """S."""
        return self._numbers(self.group.law.stress(self._metric(self._strain(s))))

    def discrete_effort(self, s0: Array, s1: Array) -> Array:
        """S at the mean of a law that is linear in E, otherwise (5.14)."""
        law = self.group.law
        if not isinstance(law, InvariantConstitution):
            return self.effort((s0 + s1) / 2)
        C0, C1 = (self._metric(self._strain(s)) for s in (s0, s1))
        mean, A = (C0 + C1) / 2, (cofactor(C0, C0) + cofactor(C0, C1) + cofactor(C1, C1)) / 3
        f = law.first.quotient(trace(C0), trace(C1))[:, None, None]
        g = law.second.quotient(trace(cofactor(C0, C0)), trace(cofactor(C1, C1)))[:, None, None]
        h = law.third.quotient(np.linalg.det(C0), np.linalg.det(C1))[:, None, None]
        return self._numbers(2 * (f * IDENTITY + g * (trace(mean)[:, None, None] * IDENTITY - mean) + h * A))

    def slopes(self, s: Array, rates: Array) -> tuple[sparse.csr_array, sparse.csr_array]:
        """The tangent of the law; nothing else changes."""
        tangent = block_diagonal(self.group.law.tangent(self._metric(self._strain(s))))
        return sparse.csr_array(tangent[:, self._shown]), sparse.csr_array((len(s), len(s)))

    def _numbers(self, S: Array) -> Array:
        return np.asarray(as_six(S).reshape(-1)[self._shown])


@dataclass(frozen=True, eq=False)
class PolyconvexFields(StrainFields):
    """E, G = cof C and D = det C, of laws W = f(tr C) + g(tr G) + h(D), convex in (C, G, D) where f, g and h are.

    Attributes:
        mean_volume: b (ln D)^2 of a law h = a ln D + b (ln D)^2 is taken at the mean of D over each element, which
            is then a state too; a ln D stays at the points, which it keeps from running apart.
    """

    mean_volume: bool = False

    @property
    def law(self) -> InvariantConstitution:
        """Of the elements."""
        assert isinstance(self.group.law, InvariantConstitution)
        return self.group.law

    @property
    def blocks(self) -> tuple[StateBlock, ...]:
        """E, G and D."""
        sizes = len(self._shown), len(self._shown_cofactor), *(sums.shape[0] for _, sums in self._volume_laws)
        names = ("strain", "cofactor", "determinant", "mean_determinant")
        return tuple(StateBlock(name, "1", size) for name, size in zip(names, sizes, strict=False))

    @property
    def weights(self) -> Array:
        """Of each number."""
        six = np.repeat(self._volumes, 6)
        return np.concatenate([six[self._shown], six[self._shown_cofactor], self._sums @ self._volumes])

    def of(self, nodes: Array) -> Array:
        """Of C."""
        C = metric(self.group, nodes).reshape(-1, 3, 3)
        G = as_six(cofactor(C, C))
        D = self._sums @ (self._volumes * np.linalg.det(C)) / (self._sums @ self._volumes)
        return np.concatenate([self._strain_of(C), G.ravel()[self._shown_cofactor], D])

    def followers(self, s: Array) -> sparse.csr_array:
        """dG = 2 cof(C, dC) and dD = (G + 2 cof C)/3 : dC, the derivatives that are exact at means (5.26)."""
        strain, G, _ = self._split(s)
        C = self._metric(strain)
        turned = block_diagonal(self._cofactor_slope(C))[self._shown_cofactor]
        grown = self._sums @ block_diagonal(2 * self._gradient(C, G)[:, None, :])
        one = sparse.eye_array(strain.size, format="csr")[self._shown]
        return sparse.csr_array(sparse.vstack([one, turned, grown], "csr"))

    def energy(self, s: Array) -> float:
        """sum w (f + g) + sum of volumes times h."""
        strain, G, D = self._split(s)
        spread = self.law.first.value(trace(self._metric(strain))) + self.law.second.value(G @ DIAGONAL)
        pressed = np.concatenate([law.value(own) for law, own in self._each_volume(D)])
        return float(self._volumes @ spread + (self._sums @ self._volumes) @ pressed)

    def effort(self, s: Array) -> Array:
        """2 f' I, g' I, h'."""
        return self.discrete_effort(s, s)

    def discrete_effort(self, s0: Array, s1: Array) -> Array:
        """The same with quotients."""
        (E0, G0, D0), (E1, G1, D1) = self._split(s0), self._split(s1)
        f = self.law.first.quotient(trace(self._metric(E0)), trace(self._metric(E1)))
        g = self.law.second.quotient(G0 @ DIAGONAL, G1 @ DIAGONAL)
        stretched, turned = (np.outer(each, DIAGONAL).ravel() for each in (2 * f, g))
        pairs = zip(self._each_volume(D0), self._each_volume(D1), strict=True)
        pressed = [law.quotient(before, after) for (law, before), (_, after) in pairs]
        return np.concatenate([stretched[self._shown], turned[self._shown_cofactor], *pressed])

    def slopes(self, s: Array, rates: Array) -> tuple[sparse.csr_array, sparse.csr_array]:
        """By the product rule."""
        strain, G, D = self._split(s)
        C, law = self._metric(strain), self.law
        P, diagonal = self._cofactor_slope(C), np.outer(DIAGONAL, DIAGONAL)
        volumes = list(self._each_volume(D))
        h = self._sums.T @ np.concatenate([each.slope(own) for each, own in volumes])
        g = law.second.slope(G @ DIAGONAL)
        rest = 4 * diagonal - np.diag([4.0, 4.0, 4.0, 2.0, 2.0, 2.0])  # d(2 (tr C I - C))/dE
        by_strain = 4 * law.first.curvature(trace(C))[:, None, None] * diagonal
        by_strain = by_strain + g[:, None, None] * rest + 4 / 3 * h[:, None, None] * P
        by_cofactor = law.second.curvature(G @ DIAGONAL)[:, None, None] * (np.swapaxes(P, 1, 2) @ diagonal)
        by_cofactor = by_cofactor + 2 / 3 * h[:, None, None] * np.eye(6)
        grown = block_diagonal(2 * self._gradient(C, G)[:, None, :])
        bend = np.concatenate([each.curvature(own) for each, own in volumes])
        by_volume = grown.T @ self._sums.T @ sparse.diags_array(bend)
        stress = [block_diagonal(by_strain)[:, self._shown], block_diagonal(by_cofactor)[:, self._shown_cofactor]]
        weighted, stretching = self._volumes[:, None] * rates, 2 * as_tensor(rates / TWICE)
        turning = block_diagonal(self._volumes[:, None, None] * self._cofactor_slope(stretching))
        along = 4 / 3 * np.einsum("pi,pij->pj", weighted, P)
        growing = [self._sums @ block_diagonal(each[:, None, :]) for each in (along, 2 / 3 * weighted)]
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
        return self._places(PLANE_COFACTOR if self.group.is_sheet else range(6))

    @cached_property
    def _volume_laws(self) -> list[tuple[ScalarFunction, sparse.csr_array]]:
        """Functions of D, and the points whose mean each D is, shape (determinants, e q)."""
        e, q = self.group.weights.shape
        law, points = self.law.third, sparse.eye_array(e * q, format="csr")
        if not self.mean_volume:
            return [(law, points)]
        assert isinstance(law, Logarithms)
        elements = sparse.csr_array(sparse.kron(sparse.eye_array(e), np.ones((1, q)), "csr"))
        return [(Logarithms(law.a, 0.0), points), (Logarithms(0.0, law.b), elements)]

    @cached_property
    def _sums(self) -> sparse.csr_array:
        """Points that add up to each D, shape (determinants, e q)."""
        return sparse.csr_array(sparse.vstack([sums for _, sums in self._volume_laws], "csr"))

    def _each_volume(self, D: Array) -> Iterator[tuple[ScalarFunction, Array]]:
        """Functions with the D that are theirs."""
        ends = np.cumsum([sums.shape[0] for _, sums in self._volume_laws])
        for (law, _), own in zip(self._volume_laws, np.split(D, ends[:-1]), strict=True):
            yield law, own

    def _split(self, s: Array) -> tuple[Array, Array, Array]:
        """E (e q, 6), G (e q, 6) and D."""
        ends = np.cumsum([len(self._shown), len(self._shown_cofactor)])
        shown, turned, D = np.split(s, ends)
        G = np.zeros(6 * len(self._volumes))
        G[self._shown_cofactor] = turned
        return self._strain(shown), G.reshape(-1, 6), D

    @staticmethod
    def _gradient(C: Array, G: Array) -> Array:
        """(G + 2 cof C)/3, shape (e q, 6); shear strains are counted twice already."""
        return np.asarray((G + 2 * as_six(cofactor(C, C))) / 3)

    @staticmethod
    def _cofactor_slope(C: Array) -> Array:
        """d(cof C)/dE in six numbers each, linear in C, shape (e q, 6, 6)."""
        columns = []
        for a, b in PAIRS:
            dE = np.zeros((3, 3))
            dE[a, b] = dE[b, a] = 1.0 if a == b else 0.5
            columns.append(as_six(2 * cofactor(C, np.broadcast_to(2 * dE, C.shape))))
        return np.stack(columns, axis=-1)


def block_diagonal(blocks: Array) -> sparse.csr_array:
    """Blocks (k, m, n) along the diagonal, shape (k m, k n)."""
    count, rows, columns = blocks.shape
    places = np.arange(count), np.arange(count + 1)
    return sparse.bsr_array((blocks, *places), shape=(count * rows, count * columns)).tocsr()
