"""Port-Hamiltonian models of coordinates, velocities and strains, also quadratic ones (docs/theory.md, 5)."""

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray, positive, reals, whole
from phlexible.algebra.sparse import summed_blocks
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
        """State vector x of this body at t = 0, from which time integration starts, shape (state_size,)."""

    @property
    def rest_state(self) -> Array:
        """State vector of this body at which the matrices of its model are evaluated first: that at t = 0, shape
        (state_size,)."""
        return self.initial_state

    @abstractmethod
    def _mass_blocks(self) -> tuple[Matrix, Matrix]:
        """Return the mass matrix M (velocities, velocities) and the compliance matrix C of the strains or stresses
        (strains, strains) of a body's port-Hamiltonian model; both are constant."""

    @abstractmethod
    def _strain_rate_matrix(self, x: Array) -> Matrix:
        """Return the matrix K in C ds/dt = K v of a body at the state x, shape (strains, velocities): it gives the
        rates of its strains s, times the compliance matrix C, from its velocities v."""

    @abstractmethod
    def _viscous_matrix(self, x: Array) -> Matrix:
        """Return the damping matrix (force per velocity) of the viscous material of a body at the state x, shape
        (velocities, velocities)."""

    @abstractmethod
    def _input_columns(self, x: Array) -> Matrix:
        """Return the rows of the port matrix B of a body that belong to its velocities, shape (velocities,
        inputs), or to velocities and strains: forces that unit inputs cause. x is the state."""

    def _kinematic_matrix(self, x: Array) -> Matrix:
        """Return the matrix A in dq/dt = A v of a body at the state x, shape (coordinates, velocities): it gives
        the rates of the coordinates q from the velocities v; the identity unless a subclass says otherwise."""
        return sparse.eye_array(self._counts[1])

    def _gyroscopic_matrix(self, x: Array) -> Matrix | None:
        """Return None, since this port-Hamiltonian form of a body has no gyroscopic forces. Subclasses that have
        some return their skew matrix at the state x, shape (velocities, velocities)."""
        return None

    def _dashpot_coefficients(self) -> Array:
        """Return the dissipation coefficients of the strain states of a body, diagonal of the dissipation matrix,
        shape (strains,): zero unless viscoelastic branches have dashpots."""
        return np.zeros(self._counts[2])

    @cached_property
    def _counts(self) -> tuple[int, int, int]:
        """Numbers of coordinates, of velocities and of strains (with multipliers) in the state vector of this
        body."""
        velocities, strains = (matrix.shape[0] for matrix in self._mass_blocks())
        return self.state_size - velocities - strains, velocities, strains

    @cached_property
    def _descriptor(self) -> sparse.csr_array:
        """Constant descriptor matrix E = diag(I, M, C) of this body, which multiplies dx/dt: mass matrix M and
        compliance matrix C, sparse, shape (state_size, state_size)."""
        return sparse.csr_array(sparse.block_diag([sparse.eye_array(self._counts[0]), *self._mass_blocks()], "csr"))

    @property
    def coordinates(self) -> IntArray:
        """Indices of the coordinates q of this body in its state vector; the matrices J, R and B of its model
        depend on them."""
        return np.arange(self._counts[0])

    def descriptor_matrix(self, x: Array) -> sparse.csr_array:
        """Return the constant descriptor matrix E = diag(I, M, C) of a body, which multiplies dx/dt, sparse,
        shape (state_size, state_size). It does not depend on the state x."""
        return self._descriptor

    def structure_matrix(self, x: Array) -> sparse.csr_array:
        """Return the skew structure matrix J in E dx/dt = (J - R) z + B u of a body at the state x, sparse; shape
        (state_size, state_size)."""
        along, rates = self._kinematic_matrix(x), self._strain_rate_matrix(x)
        blocks = [[None, along, None], [-along.T, self._gyroscopic_matrix(x), -rates.T], [None, rates, None]]
        return sparse.csr_array(sparse.block_array(blocks, format="csr"))

    def dissipation_matrix(self, x: Array) -> sparse.csr_array:
        """Return the dissipation matrix R in E dx/dt = (J - R) z + B u of a body at the state x, sparse; shape
        (state_size, state_size): material viscosity, and dashpots of viscoelastic branches."""
        still = sparse.csr_array((self._counts[0],) * 2)
        parts = [still, self._viscous_matrix(x), sparse.diags_array(self._dashpot_coefficients())]
        return sparse.csr_array(sparse.block_diag(parts, "csr"))

    def port_matrix(self, x: Array) -> sparse.csr_array:
        """Return the port matrix B in E dx/dt = (J - R) z + B u of a body at the state x, sparse; shape
        (state_size, inputs): forces on velocities, and prescribed velocities on their multipliers."""
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
        strain, first, second: numbers of strains and coordinates, shape (terms,).
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
        """State vector x = (q, v, s) of this model at t = 0, shape (2 n + g,): n coordinates, n velocities, and the
        g stresses that belong to the strains of these coordinates."""
        n = self.linear.shape[1]
        return self.state_at(self.start[:n], self.start[n:])

    def state_at(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the state vector x = (q, v, s) for given coordinates q and velocities v, both (n,), shape (2 n +
        g,); the g stresses s are those of the strains e(q).

        Raises:
            ParameterError: a wrong shape.
        """
        n = self.linear.shape[1]
        index = reals("q", q, f"numbers of shape ({n},)").ravel()
        speed = reals("v", v, f"numbers of shape ({n},)").ravel()
        if index.shape != (n,) or speed.shape != (n,):
            raise ParameterError(f"q and v must have shape ({n},), got {index.shape} and {speed.shape}")
        return np.concatenate([index, speed, self.stiffness @ self.strains(index, index)])

    def strains(self, first: Array, second: Array) -> Array:
        """Return the polarised strains of two coordinate vectors x = ``first`` and y = ``second``, e_0 + B_e (x +
        y)/2 + x^T Q y/2; shape (g,), symmetric in x and y; for x = y = q they are the quadratic strains e(q)."""
        t = self.quadratic
        products = t.factor * first[t.first] * second[t.second] / 2
        bent = np.bincount(t.strain, products, len(self.constant))
        return np.asarray(self.constant + self.linear @ (first + second) / 2 + bent)

    def strain_gap(self, x: Array) -> Array:
        """Return the strains of the stresses minus the strains of the coordinates, C s - e(q), in the state x = (q,
        v, s); shape (g,): how far a computed motion has drifted from compatibility."""
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
        """Return the derivative of the residual E dx/dt - (J - R) z of a model with quadratic strains with
        respect to its state x. It is sparse, shape (2 n + g, 2 n + g); the change of the damping matrix with
        the coordinates is neglected. ``rate`` is dx/dt, u are the inputs."""
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
    """Return a finite element model in the plane of a beam between two fixed hinges with moderately large
    deflection w: axial strain u' + w'^2/2, as a port-Hamiltonian model with quadratic strains. ``length`` is
    that of the beam [m], ``axial_stiffness`` EA [N], ``bending_stiffness`` EI [N m^2] and ``line_density``
    mass per length [kg/m].

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
