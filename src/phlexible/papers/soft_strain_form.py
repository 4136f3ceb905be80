"""A soft body as a port-Hamiltonian model with strains of its own (docs/theory.md, 5)."""

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray, option
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.mechanics import soft
from phlexible.bodies.mechanics.absolute import mass_matrix, viscous_matrix
from phlexible.bodies.soft_law import InvariantConstitution, Logarithms, as_tensor
from phlexible.errors import ParameterError
from phlexible.papers.quadratic_strains import soft_stress_form
from phlexible.papers.soft_form import SoftForm
from phlexible.papers.strain_fields import GreenLagrangeFields, PolyconvexFields, StrainFields
from phlexible.port_hamiltonian.model import Port, PortHamiltonianModel, StateBlock


class SoftStrains(StrEnum):
    """GREEN_LAGRANGE: E. POLYCONVEX: E, cof C and det C. MEAN_VOLUME: the mean of det C in each element too."""

    GREEN_LAGRANGE = "green_lagrange"
    POLYCONVEX = "polyconvex"
    MEAN_VOLUME = "mean_volume"


@dataclass(frozen=True, eq=False)
class SoftStrainForm(PortHamiltonianModel):
    """A soft body as ``E dx/dt = (J(x) - R(q)) z(x) + B u``, everything sparse (5.25)::

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
    _descriptor: sparse.csr_array = field(init=False, repr=False)
    _inputs: sparse.csr_array = field(init=False, repr=False)
    is_descriptor_constant = True

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
        parts = [sparse.eye_array(n), mass, sparse.diags_array(self.fields.weights)]
        object.__setattr__(self, "states", blocks)
        object.__setattr__(self, "ports", tuple(ports))
        object.__setattr__(self, "_descriptor", sparse.csr_array(sparse.block_diag(parts, "csr")))
        above, below = (
            sparse.csr_array((size, sum(p.size for p in ports))) for size in (n, len(self.fields.weights))
        )
        inputs = sparse.vstack([above, sparse.hstack(columns), below], "csr")
        object.__setattr__(self, "_inputs", sparse.csr_array(inputs))

    @property
    def coordinates(self) -> IntArray:
        """Those of q."""
        return np.arange(self.whole.body.elastic_count)

    @property
    def initial_state(self) -> Array:
        """x at t = 0, strains those of the nodes, shape (state_size,)."""
        q, v = np.split(self.whole.initial_state, 2)
        return np.concatenate([q, v, self.fields.of(self._nodes(q))])

    @property
    def rest_state(self) -> Array:
        """That of t = 0."""
        return self.initial_state

    def strain_gap(self, x: Array) -> Array:
        """s less the strains of the nodes: zero as long as a scheme keeps it, shape (strains,)."""
        q, _, s = self._split(x)
        return s - self.fields.of(self._nodes(q))

    def momenta(self, x: Array) -> tuple[Array, Array]:
        """Linear momentum [kg m/s] and angular momentum about the origin [kg m^2/s], world axes, each (3,)."""
        q, v, _ = self._split(x)
        places, momentum = np.zeros((2, self.whole.body.node_count, 3))
        places[:, : self.whole.body.dimension] = self._nodes(q)
        momentum[:, : self.whole.body.dimension] = self._nodes(mass_matrix(self.whole.body) @ v)
        return momentum.sum(axis=0), np.cross(places, momentum).sum(axis=0)

    def descriptor_matrix(self, x: Array) -> sparse.csr_array:
        """E, constant."""
        return self._descriptor

    def structure_matrix(self, x: Array) -> sparse.csr_array:
        """J(x)."""
        q, _, s = self._split(x)
        coupling, one = self.fields.followers(s) @ self._strain_slopes(q), sparse.eye_array(len(q))
        blocks = [[None, one, None], [-one, None, -coupling.T], [None, coupling, None]]
        return sparse.csr_array(sparse.block_array(blocks, format="csr"))

    def dissipation_matrix(self, x: Array) -> sparse.csr_array:
        """R: viscosity on v."""
        q, _, s = self._split(x)
        viscous = viscous_matrix(self.whole.body, q)
        rest = [sparse.csr_array((len(each),) * 2) for each in (q, s)]
        return sparse.csr_array(sparse.block_diag([rest[0], viscous, rest[1]], "csr"))

    def port_matrix(self, x: Array) -> sparse.csr_array:
        """B, constant."""
        return self._inputs

    def effort(self, x: Array) -> Array:
        """z."""
        _, v, s = self._split(x)
        return np.concatenate([-self.whole.weight, v, self.fields.effort(s)])

    def discrete_effort(self, x0: Array, x1: Array) -> Array:
        """z(x0, x1), point by point, which takes exactly H(x1) - H(x0) and keeps the angular momentum."""
        (_, v0, s0), (_, v1, s1) = self._split(x0), self._split(x1)
        return np.concatenate([-self.whole.weight, (v0 + v1) / 2, self.fields.discrete_effort(s0, s1)])

    def storage(self, x: Array) -> float:
        """H = v M v/2 + W(s) - F q [J]."""
        q, v, s = self._split(x)
        kinetic = v @ (mass_matrix(self.whole.body) @ v) / 2
        return float(kinetic + self.fields.energy(s) - q @ self.whole.weight)

    def defect_slope(self, x: Array, rate: Array, u: Array) -> sparse.csr_array:
        """-d((J - R) z)/dx: E and B are constant; how R changes with q is left out."""
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
        n = self.whole.body.elastic_count
        return x[:n], x[n : 2 * n], x[2 * n :]

    def _nodes(self, q: Array) -> Array:
        return q.reshape(-1, self.whole.body.dimension)

    def _strain_slopes(self, q: Array) -> sparse.csr_array:
        """B = w dE/dq, linear in q, shape (6 e q, d N)."""
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
    """Form of a discretized soft body; the last two arguments are those of ``SoftBody.port_hamiltonian``.

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
