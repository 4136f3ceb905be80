"""Port-Hamiltonian models of coordinates, velocities and strains, also quadratic ones (docs/theory.md, 5)."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray, option, positive, reals, whole
from phlexible.algebra.sparse import summed_blocks
from phlexible.bodies.absolute_body import AbsoluteBody, Field, QuadraticStrains, initial_nodes
from phlexible.bodies.mechanics.absolute import (
    mass_matrix,
    strain_gradients,
    strains,
    viscous_matrix,
)
from phlexible.bodies.string import StringMesh
from phlexible.bodies.string_law import TensionOnly
from phlexible.elements.line_functions import gauss, hermite_curvatures, hermite_slopes, hermite_values
from phlexible.errors import ParameterError
from phlexible.port_hamiltonian.model import Matrix, Port, PortHamiltonianModel, StateGroup


class StrainForm(PortHamiltonianModel):
    """Base class of port-Hamiltonian models with coordinates q, velocities v and strains or stresses s as states,
    whose rates follow from the velocities.

        x = (q, v, s)    E = diag(I, M, C)    J = [[0, A, 0], [-A^T, G, -K^T], [0, K, 0]]    R = diag(0, D, F)

    everything sparse, M and C constant. Multipliers of velocities are strains without compliance. Subclasses give M
    and C, K and D, B below the rows of q, and where they are not the identity and zero A, G and F.
    """

    is_descriptor_constant = True

    @property
    @abstractmethod
    def initial_state(self) -> Array:
        """State vector x of this body at t = 0, from which time integration starts, shape (state_size,). It is
        abstract; subclasses compute it."""

    @property
    def rest_state(self) -> Array:
        """State vector of this body at which the matrices of its model are evaluated first: that at t = 0, shape
        (state_size,)."""
        return self.initial_state

    @abstractmethod
    def _mass_blocks(self) -> tuple[Matrix, Matrix]:
        """Return the mass matrix M (velocities, velocities) and the compliance matrix C of the strains or stresses
        (strains, strains) of a body's port-Hamiltonian model; both are constant. It is abstract; subclasses
        compute it."""

    @abstractmethod
    def _strain_rate_matrix(self, x: Array) -> Matrix:
        """Return the matrix K in C ds/dt = K v of a body at the state x, shape (strains, velocities): it gives the
        rates of its strains s, times the compliance matrix C, from its velocities v. It is abstract; subclasses
        compute it."""

    @abstractmethod
    def _viscous_matrix(self, x: Array) -> Matrix:
        """Return the damping matrix (force per velocity) of the viscous material of a body at the state x, shape
        (velocities, velocities). It is abstract; subclasses compute it."""

    @abstractmethod
    def _input_columns(self, x: Array) -> Matrix:
        """Return the rows of the port matrix B of a body that belong to its velocities, shape (velocities,
        inputs), or to velocities and strains: forces that unit inputs cause. x is the state. It is abstract;
        subclasses compute it."""

    def _kinematic_matrix(self, x: Array) -> Matrix:
        """Return the matrix A in dq/dt = A v of a body at the state x, shape (coordinates, velocities): it gives
        the rates of the coordinates q from the velocities v; the identity unless a subclass says otherwise."""
        return sparse.eye_array(self._counts[1])

    def _gyroscopic_matrix(self, x: Array) -> Matrix | None:
        """Return None, since this port-Hamiltonian form of a body has no gyroscopic forces. Subclasses that have
        some return their skew matrix at the state x, shape (velocities, velocities)."""
        return None

    def _dashpot_coefficients(self) -> Array:
        """Return the dissipation coefficients of the strain states of a body, the diagonal of the dissipation
        matrix, shape (strains,). This class returns zeros; subclasses with viscoelastic branches override it."""
        return np.zeros(self._counts[2])

    @cached_property
    def _counts(self) -> tuple[int, int, int]:
        """Numbers of coordinates q, of velocities v and of strains s in the state vector of this body, as a tuple.
        Multipliers count as strains. The numbers follow from the sizes of the mass and compliance matrices."""
        velocities, strains = (matrix.shape[0] for matrix in self._mass_blocks())
        return self.state_size - velocities - strains, velocities, strains

    @cached_property
    def _descriptor(self) -> sparse.csr_array:
        """Constant descriptor matrix E = diag(I, M, C) of this body, which multiplies dx/dt: mass matrix M and
        compliance matrix C, sparse, shape (state_size, state_size)."""
        return sparse.csr_array(sparse.block_diag([sparse.eye_array(self._counts[0]), *self._mass_blocks()], "csr"))

    @property
    def coordinates(self) -> IntArray:
        """Indices of the coordinates q of this body in its state vector, of which they are the first entries. The
        matrices J, R and B of the body's model depend on the coordinates."""
        return np.arange(self._counts[0])

    def descriptor_matrix(self, x: Array) -> sparse.csr_array:
        """Return the constant descriptor matrix E = diag(I, M, C) of a body, which multiplies dx/dt, sparse,
        shape (state_size, state_size). It does not depend on the state x."""
        return self._descriptor

    def structure_matrix(self, x: Array) -> sparse.csr_array:
        """Return the skew structure matrix J in E dx/dt = (J - R) z + B u of a body at the state x, sparse. Its
        shape is (state_size, state_size); z are the efforts. J has the kinematic matrix, the strain rate matrix,
        both negative transposes, and gyroscopic terms."""
        along, rates = self._kinematic_matrix(x), self._strain_rate_matrix(x)
        blocks = [[None, along, None], [-along.T, self._gyroscopic_matrix(x), -rates.T], [None, rates, None]]
        return sparse.csr_array(sparse.block_array(blocks, format="csr"))

    def dissipation_matrix(self, x: Array) -> sparse.csr_array:
        """Return the dissipation matrix R in E dx/dt = (J - R) z + B u of a body at the state x. It is sparse and
        block-diagonal, shape (state_size, state_size): zeros for coordinates, the viscous damping matrix for
        velocities, and the dashpots of viscoelastic branches for strains."""
        still = sparse.csr_array((self._counts[0],) * 2)
        parts = [still, self._viscous_matrix(x), sparse.diags_array(self._dashpot_coefficients())]
        return sparse.csr_array(sparse.block_diag(parts, "csr"))

    def port_matrix(self, x: Array) -> sparse.csr_array:
        """Return the port matrix B in E dx/dt = (J - R) z + B u of a body at the state x. It is sparse, shape
        (state_size, inputs). Input forces act on velocities, prescribed velocities on their multipliers; the rows
        of all other states are zero."""
        own = self._input_columns(x)
        above, rows = self._counts[0], own.shape[0]
        rest = self.state_size - above - rows
        parts = [sparse.csr_array((above, own.shape[1])), own, sparse.csr_array((rest, own.shape[1]))]
        return sparse.csr_array(sparse.vstack(parts, "csr"))


# Models with constant mass and strains that are quadratic in their coordinates, with stresses as states.


@dataclass(frozen=True, eq=False)
class ProductTerms:
    """Terms of the quadratic part of strains, ``factor q_first q_second / 2``, each added to one strain; both
    orders of a product are listed.

    Attributes:
        strain, first, second: indices of strains and coordinates, shape (terms,).
        factor: shape (terms,).
    """

    strain: IntArray
    first: IntArray
    second: IntArray
    factor: Array


@dataclass(frozen=True, eq=False)
class QuadraticStrainModel(StrainForm):
    """Port-Hamiltonian model with constant mass, coordinates q, velocities v and stresses s as states, and strains
    that are quadratic in q.

        C s = e(q),  e = e_0 + B_e q + q^T Q q / 2,  L(q) = de/dq,  H = v^T M v / 2 + s^T C s / 2 - f^T q
        x = (q, v, s)    E = diag(I, M, C)    z = (-f, v, s)    J = [[0, I, 0], [-I, 0, -L^T], [0, L, 0]]

    with viscosity ``tau`` of Kelvin and Voigt: R = tau L^T C^-1 L on v. (Brugnoli, Matignon, Morlier, Nonlinear
    Dynamics, 2025: their geometrically exact models and those of von Karman have this form;
    ``integrate(..., method="linearly_implicit")`` is their scheme.)

    Attributes:
        mass: M, symmetric, positive definite, shape (n, n).
        stiffness: C^-1, symmetric, positive definite, shape (g, g).
        constant: e_0, shape (g,).
        linear: B_e, shape (g, n).
        quadratic: Q.
        weight: constant forces f, shape (n,).
        viscosity: tau [s].
        start: q and v at t = 0, shape (2 n,).
        inputs: forces on v of unit inputs, by the names of the ports, each of shape (n, inputs).
    """

    mass: sparse.csr_array
    stiffness: sparse.csr_array
    constant: Array
    linear: sparse.csr_array
    quadratic: ProductTerms
    weight: Array
    start: Array
    inputs: dict[str, sparse.csr_array]
    viscosity: float = 0.0
    states: tuple[StateGroup, ...] = field(init=False)
    ports: tuple[Port, ...] = field(init=False)

    def __post_init__(self) -> None:
        g, n = self.linear.shape
        blocks = (StateGroup("position", "", n), StateGroup("velocity", "", n), StateGroup("stress", "", g))
        ports = (Port(name, "N", "m/s", columns.shape[1]) for name, columns in self.inputs.items())
        vars(self).update(states=blocks, ports=tuple(ports))

    @property
    def initial_state(self) -> Array:
        """State vector x = (q, v, s) of this model at t = 0, shape (2 n + g,): n coordinates, n velocities, and g
        stresses computed from the strains e(q)."""
        n = self.linear.shape[1]
        return self.state_at(self.start[:n], self.start[n:])

    def state_at(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the state vector x = (q, v, s) for coordinates q and velocities v, both (n,). Its shape is (2 n +
        g,); the g stresses s are the stiffness times the strains at q. ParameterError for other shapes.

        Raises:
            ParameterError: a wrong shape.
        """
        n = self.linear.shape[1]
        pose = reals("q", q, f"numbers of shape ({n},)").ravel()
        speed = reals("v", v, f"numbers of shape ({n},)").ravel()
        if pose.shape != (n,) or speed.shape != (n,):
            raise ParameterError(f"q and v must have shape ({n},), got {pose.shape} and {speed.shape}")
        return np.concatenate([pose, speed, self.stiffness @ self.strains(pose, pose)])

    def strains(self, first: Array, second: Array) -> Array:
        """Return the polarised strains of two coordinate vectors x = ``first`` and y = ``second``, e_0 + B_e (x +
        y)/2 + x^T Q y/2; shape (g,), symmetric in x and y; for x = y = q they are the quadratic strains e(q)."""
        t = self.quadratic
        products = t.factor * first[t.first] * second[t.second] / 2
        bent = np.bincount(t.strain, products, len(self.constant))
        return np.asarray(self.constant + self.linear @ (first + second) / 2 + bent)

    def strain_gap(self, x: Array) -> Array:
        """Return the strains C s of the stresses s minus the strains e(q) of the coordinates, for the state x =
        (q, v, s); shape (g,). The difference measures how far a computed motion has drifted from compatibility; it
        is zero in an exact solution."""
        n = self.linear.shape[1]
        return np.asarray(self.compliance @ x[2 * n :] - self.strains(x[:n], x[:n]))

    def strain_slopes(self, q: Array) -> sparse.csr_array:
        """Return the derivative L = de/dq of the quadratic strains e with respect to the coordinates at q, sparse,
        shape (g, n); it is linear in q."""
        t = self.quadratic
        entries = (t.factor * q[t.second], (t.strain, t.first))
        return sparse.csr_array(self.linear + sparse.coo_array(entries, self.linear.shape).tocsr())

    @cached_property
    def compliance(self) -> sparse.csr_array:
        """Compliance matrix C of this model, the inverse of the stiffness of its g strains, sparse, shape (g,
        g)."""
        return sparse.csr_array(sparse.linalg.inv(sparse.csc_array(self.stiffness)))

    def _mass_blocks(self) -> tuple[Matrix, Matrix]:
        """Return the mass matrix of the velocities (n, n) and the compliance matrix of the stresses (g, g) of a
        model with quadratic strains; both are constant."""
        return self.mass, self.compliance

    def _strain_rate_matrix(self, x: Array) -> Matrix:
        """Return the matrix that gives the rates of the strains from the velocities at the state x of a model with
        quadratic strains, sparse; shape (g, n)."""
        return self.strain_slopes(x[: self.linear.shape[1]])

    def _viscous_matrix(self, x: Array) -> Matrix:
        """Return the damping matrix (force per velocity) of Kelvin-Voigt viscosity at the state x of a model with
        quadratic strains, sparse, shape (n, n)."""
        slopes = self._strain_rate_matrix(x)
        return self.viscosity * (slopes.T @ self.stiffness @ slopes)

    def _input_columns(self, x: Array) -> Matrix:
        """Return the forces on the n velocities that unit inputs of all ports cause in a model with quadratic
        strains. They are sparse and the same at all states x, shape (n, inputs)."""
        return sparse.hstack([sparse.csr_array((self.linear.shape[1], 0)), *self.inputs.values()], "csr")

    def effort(self, x: Array) -> Array:
        """Return the efforts z = (-f, v, s) at the state x = (q, v, s) of a model with quadratic strains; shape (2
        n + g,): minus the constant forces f, then velocities and stresses themselves."""
        return np.concatenate([-self.weight, x[len(self.weight) :]])

    def defect_slope(self, x: Array, rate: Array, u: Array) -> sparse.csr_array:
        """Return the derivative of the residual of a model with quadratic strains with respect to the state x. It
        is sparse, shape (2 n + g, 2 n + g) for n coordinates, n velocities and g strains. The residual is E dx/dt
        - (J - R) z with efforts z. How the damping matrix depends on coordinates is neglected. The arguments
        ``rate`` and ``u`` are not used."""
        n, t = self.linear.shape[1], self.quadratic
        v, s = x[n : 2 * n], x[2 * n :]
        structure = (self.structure_matrix(x) - self.dissipation_matrix(x)).tolil()
        structure[:, :n] = 0.0
        moved = sparse.coo_array((t.factor * s[t.strain], (t.first + n, t.second)), structure.shape)
        turned = sparse.coo_array((t.factor * v[t.first], (t.strain + 2 * n, t.second)), structure.shape)
        return sparse.csr_array(moved - structure.tocsr() - turned)

    def storage(self, x: Array) -> float:
        """Return the stored energy H of a model with quadratic strains in the state x [J]: kinetic energy plus
        elastic energy of the stresses minus the work of the constant forces."""
        n = self.linear.shape[1]
        return float(x @ (self._descriptor @ x) / 2 - x[:n] @ x[:n] / 2 - self.weight @ x[:n])


def duffing_oscillator(
    alpha: float, beta: float, position: float = 1.0, velocity: float = 0.0
) -> QuadraticStrainModel:
    """Return a port-Hamiltonian model of the Duffing oscillator d2q/dt2 + alpha q + beta q^3 = 0 of unit mass, with
    quadratic strains (q, q^2). ``position`` and ``velocity`` are those at t = 0.

    Args:
        alpha, beta: of the spring, positive.
        position, velocity: at t = 0.

    Raises:
        ParameterError: a stiffness that is not positive.
    """
    one, zero = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    return QuadraticStrainModel(
        mass=sparse.eye_array(1, format="csr"),
        stiffness=sparse.diags_array([positive("alpha", alpha), positive("beta", beta) / 2], format="csr"),
        constant=np.zeros(2),
        linear=sparse.csr_array(np.array([[1.0], [0.0]])),
        quadratic=ProductTerms(one, zero, zero, np.array([2.0])),
        weight=np.zeros(1),
        start=np.array([position, velocity], dtype=np.float64),
        inputs={"force": sparse.eye_array(1, format="csr")},
    )


def von_karman_beam(
    length: float, axial_stiffness: float, bending_stiffness: float, line_density: float, elements: int
) -> QuadraticStrainModel:
    """Return a port-Hamiltonian finite element model of a planar beam between two fixed hinges with moderately
    large deflection w. With the axial displacement u, the axial strain is u' + w'^2/2 and the curvature w''.
    Strain states are the mean axial strain of each element and curvatures at two Gauss points. All arguments must
    be positive (ParameterError), in m, N, N m^2 and kg/m.

    q are per node u and w [m] and the slope w' [1]: u linear, w cubic in each element, u and w of the ends left
    out.
    Strains are the mean membrane strain of each element and w'' at its two Gauss points, times lengths.

    Args:
        length: [m].
        axial_stiffness: EA [N].
        bending_stiffness: EI [N m^2].
        line_density: rho A [kg/m].
        elements: along it.

    Raises:
        ParameterError: a parameter that is not positive.
    """
    elements = whole("elements", elements)
    size, density = positive("length", length) / elements, positive("line_density", line_density)
    ea, ei = positive("axial_stiffness", axial_stiffness), positive("bending_stiffness", bending_stiffness)
    indices, weights = gauss(4)
    shapes, slopes = hermite_values(indices, size), hermite_slopes(indices, size)
    bending = hermite_curvatures(gauss(2)[0], size) * size / 2
    inertia = density * size * np.einsum("pi,pj,p->ij", shapes, shapes, weights)
    stretching = size * np.einsum("pi,pj,p->ij", slopes, slopes, weights)
    first: IntArray = 3 * np.arange(elements)[:, None]
    axial, lateral = first + np.array([0, 3]), first + np.array([1, 2, 4, 5])
    n = 3 * (elements + 1)
    mass = summed_blocks(axial, axial, density * size / 6 * np.array([[2.0, 1.0], [1.0, 2.0]]), (n, n))
    mass += summed_blocks(lateral, lateral, inertia, (n, n))
    stretched, bent = np.arange(elements), elements + 2 * np.arange(elements)[:, None] + [0, 1]
    linear = np.zeros((3 * elements, n))
    linear[stretched[:, None], axial] = [-1.0, 1.0]
    linear[bent[:, :, None], lateral[:, None]] = bending
    kept = np.setdiff1d(np.arange(n), [0, 1, n - 3, n - 2])
    index = np.full(n, -1)
    index[kept] = np.arange(len(kept))
    rows, columns = (np.repeat(index[lateral], 4, axis=1).ravel(), np.tile(index[lateral], (1, 4)).ravel())
    inside = (rows >= 0) & (columns >= 0)
    terms = ProductTerms(
        np.repeat(stretched, 16)[inside],
        rows[inside],
        columns[inside],
        np.tile(stretching.ravel(), elements)[inside],
    )
    stiffness = np.concatenate([np.full(elements, ea / size), np.full(2 * elements, 2 * ei / size)])
    return QuadraticStrainModel(
        mass=sparse.csr_array(mass[kept][:, kept]),
        stiffness=sparse.diags_array(stiffness, format="csr"),
        constant=np.zeros(3 * elements),
        linear=sparse.csr_array(linear[:, kept]),
        quadratic=terms,
        weight=np.zeros(len(kept)),
        start=np.zeros(2 * len(kept)),
        inputs={"force": sparse.eye_array(len(kept), format="csr")},
    )


# Port-Hamiltonian model of a string in the paper's form: (16)-(20), (29)-(31) and Remarks 3 and 4 of Kinon et al.
# (2023).

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
        """Return the strains C = |dr/ds|^2 (squared stretch) of a string at all its g Gauss points, shape (g,). An
        unstretched string has C = 1. ``q`` are the positions of all N nodes in dimension d, shape (d N,)."""
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
        """Return the sparse matrix from nodal velocities of a string to the rates of its strain states times their
        quadrature weights, at the state x. It is the transposed strain gradient. Each viscoelastic branch repeats
        the rows of its strains. The last rows are minus the velocities of driven ends, for their constraints."""
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
        """Return the dissipation coefficients of all strain states of a string, shape (strains,). For strains of
        viscoelastic branches they are quadrature weight / (stiffness * relaxation time), zero for other strains
        and multipliers."""
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
        """Return the sparse input matrix of a string, with rows for velocities, strains and multipliers. Columns
        are the inputs of its ports in the order start, end. A prescribed force acts on the velocity of its end
        node; a prescribed velocity enters the equation of its multiplier. Fixed ends have no column, strains zero
        rows. The result is cached."""
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
        """Return the stored energy H of a string in the state x [J], which is kinetic plus elastic energy minus
        the work of gravity. The elastic energy is computed from the strain states, which may differ from the
        strains of the node positions. The energy of viscoelastic branches is included."""
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
        """Yield for each viscoelastic branch (spring and dashpot in series) of a string a tuple: its strain group,
        the slice of its strains in the state vector, its stiffness EA_b/4 [N] and its relaxation time [s]."""
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
        """Return the sparse matrix of unit forces on those ends of a string that have the boundary condition
        ``kind``, shape (velocities, d e). There are e such ends (0 to 2) in d space directions, the start first.
        Each column has a single 1, at the velocity component of the end node in one direction."""
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
    velocities and strains as states. ``boundaries`` says for start and end whether force or velocity is
    prescribed, or the end is fixed. ``gravity`` [m/s^2], ``shape`` and ``velocity`` are initial functions or
    arrays (None: straight, at rest). ParameterError is raised if they leave the dimension.

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
