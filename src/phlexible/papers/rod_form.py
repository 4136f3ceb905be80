"""Geometrically exact rod as a port-Hamiltonian model with strains as additional states (docs/theory.md, 8)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray, line_plane_or_space, option, reals, vector
from phlexible.algebra.rotations import cross_matrix
from phlexible.algebra.sparse import equal_diagonal
from phlexible.bodies.absolute_body import Field
from phlexible.bodies.material import refuse_relaxation
from phlexible.bodies.rod import ElementShape, Rod, StressFree
from phlexible.description.interactions.rod_element import KEPT, STRAIGHT
from phlexible.description.mechanism.wholes import rod_sections
from phlexible.display import short_repr
from phlexible.errors import ParameterError
from phlexible.papers.strain_form import StrainForm
from phlexible.port_hamiltonian.model import Matrix, Port, StateGroup

NEXT, AFTER = (1, 2, 0), (2, 0, 1)
"""The cyclic order of three axes."""
WIDTH, SPEEDS, STRAINS = 12, 6, 6
"""Numbers of a section: coordinates (c, d_x, d_y, d_z), velocities (v, w); of a point: strains Gamma and K."""


@dataclass(frozen=True, eq=False)
class RodStrains:
    """Strains of a rod at g points (8.20) as products of linear combinations of the vectors (c, d_x, d_y, d_z) of
    its N sections: centre of mass and axes.

    c is the centre of mass, from which the axis is -sum offset_i d_i away, so that everything is linear in these
    vectors and no rigid motion changes a strain.

    Attributes:
        first, second: the sums u and v, shape (9 g, 4 N); they take differences of c only.
        weights: of the products in the strains, shape (6 g, 9 g).
    """

    first: sparse.csr_array
    second: sparse.csr_array
    weights: sparse.csr_array

    __repr__ = short_repr

    @classmethod
    def at_points(cls, elements: Sequence[ElementShape], offsets: Array) -> "RodStrains":
        """Return the strains at all quadrature points of the elements of a geometrically exact rod, as sparse
        matrices of products of section vectors. Strains are d_i . x' (axial, shear) and (d_j . d_k' - d_k . d_j')
        / 2 (curvature, twist), with directors d and axis x. A node has four vectors: centre of mass and three
        directors. ``offsets`` (N, 3) [m] are the centres of mass relative to the axis.

        Args:
            elements: from start to end.
            offsets: of the centres of mass from the axis in the axes of the sections, shape (N, 3) [m].
        """
        first: list[tuple[int, int, float]] = []
        second: list[tuple[int, int, float]] = []
        shares: list[tuple[int, int, float]] = []
        row = strain = 0

        def add(entries: list[tuple[int, int, float]], parts: list[tuple[int, float]]) -> None:
            entries += [(row, column, share) for column, share in parts if share != 0]

        for element in elements:
            for values, slopes in zip(element.values, element.slopes, strict=True):
                mean, slope = (list(zip(element.nodes, each.tolist(), strict=True)) for each in (values, slopes))
                axis = [(4 * node, share) for node, share in slope]
                axis += [(4 * node + 1 + i, -share * offsets[node, i]) for node, share in slope for i in range(3)]
                for i in range(3):  # Gamma_i = d_i . x'
                    add(first, [(4 * node + 1 + i, share) for node, share in mean])
                    add(second, axis)
                    shares.append((strain + i, row, 1.0))
                    row += 1
                for k in range(3):  # K_k = (d_j . d_i' - d_i . d_j') / 2
                    for i, j, sign in ((NEXT[k], AFTER[k], 0.5), (AFTER[k], NEXT[k], -0.5)):
                        add(first, [(4 * node + 1 + j, share) for node, share in mean])
                        add(second, [(4 * node + 1 + i, share) for node, share in slope])
                        shares.append((strain + 3 + k, row, sign))
                        row += 1
                strain += 6
        columns = 4 * len(offsets)
        return cls(_sparse(first, row, columns), _sparse(second, row, columns), _sparse(shares, strain, row))

    def values(self, vectors: Array) -> Array:
        """Return six strains at each of the g quadrature points of a geometrically exact rod, computed from the
        vectors of its N cross-sections. The result (..., g, 6) contains Gamma, stretch and two shears, then K,
        twist and two bendings. ``vectors`` (..., N, 4, 3) are the centre and the three axes of each section. The
        strains are quadratic in the vectors; undeformed values are not subtracted.

        Args:
            vectors: of the sections, shape (..., N, 4, 3), as in all methods.
        """
        return self.rates(vectors, vectors) / 2

    def rates(self, vectors: Array, changes: Array) -> Array:
        """Return the rates of the strains of a rod at its g quadrature points, shape (..., g, 6). The centre and
        axis vectors of its N sections are ``vectors`` and change at the rates ``changes``, both (..., N, 4, 3)."""
        (u, v), (du, dv) = self._linear_sums(vectors), self._linear_sums(changes)
        rates = _product(self.weights, (du * v + u * dv).sum(axis=-1, keepdims=True))
        return rates.reshape(*vectors.shape[:-3], -1, STRAINS)

    def forces(self, vectors: Array, stresses: Array) -> Array:
        """Return the forces on the centre and axis ``vectors`` of the N sections of a rod that have the same power
        as given stresses. The result has the shape (..., N, 4, 3). The ``stresses`` (..., g, 6) act at its g
        quadrature points; the result is the transposed matrix of strain rates times them."""
        u, v = self._linear_sums(vectors)
        along = _product(self.weights.T, stresses.reshape(*stresses.shape[:-2], -1, 1))
        return (_product(self.first.T, along * v) + _product(self.second.T, along * u)).reshape(vectors.shape)

    def slopes(self, vectors: Array) -> sparse.csr_array:
        """Return the sparse derivatives of all strains of a rod with respect to the centre and axis vectors (N, 4,
        3) of its sections; shape (6 g, 12 N). There are six strains at each of g quadrature points."""
        parts = []
        for axis, (u, v) in enumerate(zip(*(each.T for each in self._linear_sums(vectors)), strict=True)):
            along = self.weights @ (sparse.diags_array(u) @ self.second + sparse.diags_array(v) @ self.first)
            parts.append(sparse.kron(along, np.eye(3)[axis : axis + 1]))
        return sparse.csr_array(sum(parts[1:], parts[0]))

    def _linear_sums(self, vectors: Array) -> tuple[Array, Array]:
        """Return the two linear combinations u and v of the section vectors of a rod whose scalar products are the
        terms of its strains. Each has the shape (..., 9 g, 3): nine products make the six strains of each of g
        quadrature points."""
        near = vectors.copy()
        near[..., 0, :] -= vectors[..., :1, 0, :]
        near = near.reshape(*near.shape[:-3], -1, 3)
        return _product(self.first, near), _product(self.second, near)


def _product(matrix: Matrix, vectors: Array) -> Array:
    """Return the products of a sparse ``matrix``, shape (k, N), with stacked ``vectors`` (..., N, m) over the axis
    N, shape (..., k, m)."""
    first = np.moveaxis(vectors, -2, 0)
    sums = matrix @ first.reshape(len(first), -1)
    return np.moveaxis(sums.reshape(-1, *first.shape[1:]), 0, -2)


def _sparse(entries: list[tuple[int, int, float]], rows: int, columns: int) -> sparse.csr_array:
    """Return the sparse matrix (rows, columns) with the given ``entries``, triples of row, column and value.
    Values of equal indices are added."""
    positions, others, values = zip(*entries, strict=True)
    return sparse.coo_array((values, (positions, others)), (rows, columns)).tocsr()


# Rigid sections of a rod and how they move, in space: a plane or a line leaves some of their coordinates out.


@dataclass(frozen=True, eq=False)
class RodSections:
    """Mass and inertia of the N rigid cross-sections that carry the mass of a rod.

    Attributes:
        mass: shape (N,) [kg].
        inertia: about the centres of mass, in the axes of the sections, shape (N, 3, 3) [kg m^2].
        offsets: of the centres of mass from the axis of the rod, in the axes of the sections, shape (N, 3) [m].
        lengths: of the rod whose mass they carry, shape (N,) [m].
    """

    mass: Array
    inertia: Array
    offsets: Array
    lengths: Array

    @classmethod
    def of_rod(cls, rod: Rod, dimension: int) -> "RodSections":
        """Return mass, inertia and offset from the axis of the rigid cross-sections at the nodes of a rod, into
        which its mass is lumped. Inertia, shape (N, 3, 3) for N nodes, is about the section's centre of mass [kg
        m^2]. In a plane (``dimension`` 2) sections have no extent normal to it."""
        nodes = rod.nodes()
        bodies = [node.discretize(dimension) for node in nodes]
        mass = np.array([body.mass for body in bodies])
        offsets = np.array([body.first_moments[:, 0] for body in bodies]) / mass[:, None]
        squares = np.array([body.undeformed_spread for body in bodies])
        squares -= mass[:, None, None] * offsets[:, :, None] * offsets[:, None, :]
        inertia = np.trace(squares, axis1=1, axis2=2)[:, None, None] * np.eye(3) - squares
        return cls(mass, inertia, offsets, np.array([node.weight for node in nodes]))

    @property
    def count(self) -> int:
        """Number N of rigid cross-sections into which the mass of this rod is lumped."""
        return len(self.mass)

    @property
    def mass_matrix(self) -> sparse.csr_array:
        """Constant mass matrix of the N rigid sections of a rod with respect to their velocities, sparse, shape (6
        N, 6 N). Velocities are linear ones in world axes and angular ones in section axes."""
        blocks = np.zeros((self.count, SPEEDS, SPEEDS))
        blocks[:, :3, :3], blocks[:, 3:, 3:] = self.mass[:, None, None] * np.eye(3), self.inertia
        return equal_diagonal(blocks)

    def spins(self, speeds: Array) -> Array:
        """Return the angular momenta J w of the N rigid sections of a rod about their centres of mass, in section
        axes; shape (..., N, 3) [kg m^2/s]. ``speeds`` (..., N, 6) are velocities and angular velocities (v, w)."""
        return np.asarray(np.einsum("nij,...nj->...ni", self.inertia, speeds[..., 3:]))


def section_resultants(vectors: Array, forces: Array, moments: Array) -> Array:
    """Convert forces (..., 4, 3) on the centre and axis ``vectors`` of a rigid rod section and ``moments`` (...,
    3) to their resultant. The result has the shape (..., 6). It has the force in world axes and the moment about
    the centre in section axes; forces and moments are given in world axes.

    Dual to ``rates``: they have the same power.
    """
    whole = moments + np.cross(vectors[..., 1:, :], forces[..., 1:, :]).sum(axis=-2)
    along = np.linalg.solve(vectors[..., 1:, :].mT, whole[..., None])[..., 0]
    return np.concatenate([forces[..., 0, :], along], axis=-1)


def section_rates(vectors: Array, speeds: Array) -> Array:
    """Return the rates of the centre c and the axes d_x, d_y, d_z of rigid rod sections (``vectors``) in
    world axes, shape (..., 4, 3). ``speeds`` (..., 6) are their velocity in world axes and angular velocity
    in section axes."""
    along = np.einsum("...ij,...j->...i", np.linalg.inv(vectors[..., 1:, :]), speeds[..., 3:])
    return np.concatenate([speeds[..., None, :3], np.cross(along[..., None, :], vectors[..., 1:, :])], axis=-2)


def _rate_matrix(vectors: Array) -> sparse.csr_array:
    """Return the sparse block-diagonal matrix that gives the rates of the centre and axis vectors of N rod
    sections from their velocities. The result has the shape (12 N, 6 N). ``vectors`` (N, 4, 3) are these vectors;
    velocities are linear and angular."""
    columns = [section_rates(vectors, np.broadcast_to(speed, (len(vectors), SPEEDS))) for speed in np.eye(SPEEDS)]
    return equal_diagonal(np.stack(columns, axis=-1).reshape(len(vectors), WIDTH, SPEEDS))


class RodEnd(StrEnum):
    """Choice of the condition at an end of a rod: prescribed force and moment, or fixed.

    FORCE: u is force and moment on the end, y its velocities. FIXED: it does not move and has no port.
    """

    FORCE = "force"
    FIXED = "fixed"


@dataclass(frozen=True, eq=False)
class RodForm(StrainForm):
    """Port-Hamiltonian model of a rod with sparse matrices, whose states are coordinates and velocities of its
    sections and strains at quadrature points (8.34).

        x = (c, R, v, w, gamma)    E = diag(I, I, m, J, W)
        z = (-m g, 0, v, w, sigma)    sigma = C (gamma - gamma_0)
        J = [[0, A(q), 0], [-A(q)^T, [J w], -L(q)^T W], [0, W L(q), 0]]    R = tau L(q)^T W C L(q) on (v, w)

    of the sections: centres of mass c and velocities v in world axes, R by rows with R' = R [w], angular
    velocities w in their own axes; of the quadrature points: gamma = (Gamma, K) (8.20) with gamma' = L(q) (v, w),
    stress resultants sigma and measures W. A plane has (Gamma_x, Gamma_y, K_z) and R by four entries, a line
    Gamma_x and no R.

    Ports, in world axes: ``start force``, ``start moment``, ``end force``, ``end moment`` act on the axis; a fixed
    end has none. ``distributed force`` is a force per length at the sections that move, y = M_d v with the lengths
    M_d that they carry.

    Attributes:
        dimension: 1, 2 or 3.
        sections: masses and inertia.
        strains: gamma as a function of the sections.
        stiffness: C, zero where the dimension has no strain, shape (g, 6, 6).
        measures: W, lengths of the quadrature points, shape (g,) [m].
        natural: gamma_0, shape (g, 6).
        viscosity: Kelvin-Voigt time tau [s].
        gravity: shape (3,) [m/s^2].
        boundaries: at the start and at the end.
        vectors: (c, d_x, d_y, d_z) of the sections at t = 0, shape (N, 4, 3).
        speeds: (v, w) at t = 0, shape (N, 6).
    """

    dimension: int
    sections: RodSections
    strains: RodStrains
    stiffness: Array
    measures: Array
    natural: Array
    viscosity: float
    gravity: Array
    boundaries: tuple[RodEnd, RodEnd]
    vectors: Array
    speeds: Array
    states: tuple[StateGroup, ...] = field(init=False)
    ports: tuple[Port, ...] = field(init=False)
    _state_indices: IntArray = field(init=False, repr=False)
    _inputs: IntArray = field(init=False, repr=False)
    _at_start: Array = field(init=False, repr=False)
    is_local = True

    def __post_init__(self) -> None:
        d, n, axes = self.dimension, self.sections.count, {1: (), 2: (2,), 3: (0, 1, 2)}[self.dimension]
        ends = dict(zip((0, n - 1), self.boundaries, strict=True))
        free, turning = [k for k in range(n) if ends.get(k) is not RodEnd.FIXED], range(d if axes else 0)
        speeds, strains = WIDTH * n, (WIDTH + SPEEDS) * n
        kept = {
            "position": [WIDTH * k + i for k in free for i in range(d)],
            "rotation_rows": [WIDTH * k + 3 + 3 * j + i for k in free for i in turning for j in turning],
            "velocity": [speeds + SPEEDS * k + i for k in free for i in range(d)],
            "angular_velocity": [speeds + SPEEDS * k + 3 + i for k in free for i in axes],
            "strain": [strains + STRAINS * g + i for g in range(len(self.measures)) for i in KEPT[d]],
        }
        units = ("m", "1", "m/s", "rad/s", "")
        blocks = [StateGroup(name, unit, len(at)) for (name, at), unit in zip(kept.items(), units, strict=True)]
        ports, inputs = [], []
        for name, k in zip(("start", "end"), (0, n - 1), strict=True):
            if k in free:
                ports.append(Port(f"{name} force", "N", "m/s", d))
                ports += [Port(f"{name} moment", "N m", "rad/s", len(axes))] * bool(axes)
                inputs += [3 * k + i for i in range(d)] + [3 * (n + k) + i for i in axes]
        lengths = sparse.diags_array(np.repeat(self.sections.lengths[free], d), format="csr")
        ports.append(Port("distributed force", "N/m", "m^2/s", d * len(free), lengths))
        inputs += [3 * (2 * n + k) + i for k in free for i in range(d)]
        chosen = np.array([position for positions in kept.values() for position in positions], dtype=np.int64)
        vars(self).update(
            states=tuple(block for block in blocks if block.size),
            ports=tuple(ports),
            _state_indices=chosen,
            _inputs=np.array(inputs, dtype=np.int64),
            _at_start=np.hstack(
                [each.ravel() for each in (self.vectors, self.speeds, self.strains.values(self.vectors))]
            ),
        )

    @property
    def initial_state(self) -> Array:
        """State vector x of this rod at t = 0, with the strains of its initial shape, shape (state_size,)."""
        return self._at_start[self._state_indices]

    def positions(self, x: Array) -> Array:
        """Return the positions in the world of the rod's axis at all its N sections for the state x, shape (N, 3)
        [m]. Fixed ends are included."""
        vectors, _, _ = self._split(x)
        return np.asarray(vectors[:, 0] - np.einsum("ni,nic->nc", self.sections.offsets, vectors[:, 1:]))

    def rotations(self, x: Array) -> Array:
        """Return the rotation matrices of all N sections of a rod, from section axes to world axes, for the state
        x, shape (N, 3, 3)."""
        return np.swapaxes(self._split(x)[0][:, 1:], 1, 2)

    def strain_gap(self, x: Array) -> Array:
        """Return the strain states in x minus the strains of the rod's sections in x, shape (strains,): drift
        from compatibility, zero as long as a time integration scheme preserves it. Strain states are strains
        that are states of the model."""
        vectors, _, strains = self._split(x)
        return np.asarray((strains - self.strains.values(vectors)).ravel()[self._indices_by_kind[2]])

    def momenta(self, x: Array) -> tuple[Array, Array]:
        """Return the linear momentum [kg m/s] and the angular momentum [kg m^2/s] of a rod for the state x, each
        (3,). They are in world axes, the latter about the origin."""
        vectors, speeds, _ = self._split(x)
        linear = self.sections.mass[:, None] * speeds[:, :3]
        turning = np.cross(vectors[:, 0], linear)
        turning += np.einsum("ni,nic->nc", self.sections.spins(speeds), vectors[:, 1:])
        return linear.sum(axis=0), turning.sum(axis=0)

    @cached_property
    def _indices_by_kind(self) -> tuple[IntArray, IntArray, IntArray]:
        """Three index arrays of this rod's model: which coordinates, velocities and strains of a rod in space are
        states. Components out of the plane or line, and coordinates and velocities of fixed ends, are not.
        Computed once."""
        begins = np.array([0, WIDTH, WIDTH + SPEEDS]) * self.sections.count
        part = np.searchsorted(begins, self._state_indices, side="right") - 1
        q, v, s = (self._state_indices[part == k] - begin for k, begin in enumerate(begins))
        return q, v, s

    def _mass_blocks(self) -> tuple[Matrix, Matrix]:
        """Return two constant sparse matrices of a rod: its mass matrix (velocities, velocities), and the diagonal
        matrix (strains, strains) of the lengths of the quadrature points to which its strains belong."""
        _, v, s = self._indices_by_kind
        weights = np.repeat(self.measures, STRAINS)[s]
        return self.sections.mass_matrix[v][:, v], sparse.diags_array(weights)

    def _kinematic_matrix(self, x: Array) -> Matrix:
        """Return the sparse matrix A(q) that maps velocities of a rod's sections to time derivatives of the
        coordinates at the state x, shape (coordinates, velocities). Coordinates are positions and rotation
        matrices of the sections; velocities are linear and angular. Only rows and columns of coordinates and
        velocities that are states are selected."""
        q, v, _ = self._indices_by_kind
        return _rate_matrix(self._split(x)[0])[q][:, v]

    def _gyroscopic_matrix(self, x: Array) -> Matrix:
        """Return the skew matrix of the gyroscopic moments of a rod's sections, made of their angular momenta at
        the state x, shape (velocities, velocities)."""
        v, speeds = self._indices_by_kind[1], self._split(x)[1]
        spin = np.zeros((len(speeds), SPEEDS, SPEEDS))
        spin[:, 3:, 3:] = cross_matrix(self.sections.spins(speeds))
        return equal_diagonal(spin)[v][:, v]

    def _strain_rate_matrix(self, x: Array) -> Matrix:
        """Return the matrix that gives the strain rates of a rod, times the lengths of their quadrature points,
        from its velocities at the state x. It is sparse, shape (strains, velocities), and has the strains and
        velocities that are states."""
        _, v, s = self._indices_by_kind
        weights = sparse.diags_array(np.repeat(self.measures, STRAINS))
        return (weights @ self._strain_slopes(self._split(x)[0]))[s][:, v]

    def _viscous_matrix(self, x: Array) -> Matrix:
        """Return the damping matrix (force per velocity) of Kelvin-Voigt viscosity of a rod at the state x, shape
        (velocities, velocities)."""
        v = self._indices_by_kind[1]
        if not self.viscosity:
            return sparse.csr_array((len(v),) * 2)
        rate = self._strain_slopes(self._split(x)[0])[:, v]
        return rate.T @ equal_diagonal(self.viscosity * self.measures[:, None, None] * self.stiffness) @ rate

    def _input_columns(self, x: Array) -> Matrix:
        """Return the generalized forces on the velocities of a rod for unit inputs of its ports at the state x, a
        sparse matrix (velocities, inputs). Inputs are forces and moments at the ends and the distributed force at
        each cross-section [N/m], which is multiplied by the section's length."""
        vectors, n, nothing = self._split(x)[0], self.sections.count, np.zeros((self.sections.count, 3))
        units = [np.tile(unit, (n, 1)) for unit in np.eye(3)]
        pushed = np.stack([section_resultants(vectors, self._axis_forces(unit), nothing) for unit in units], axis=2)
        turned = np.stack([section_resultants(vectors, self._axis_forces(nothing), unit) for unit in units], axis=2)
        force, lengths = equal_diagonal(pushed), sparse.diags_array(np.repeat(self.sections.lengths, 3))
        columns = sparse.hstack([force, equal_diagonal(turned), force @ lengths], "csr")
        return columns[:, self._inputs][self._indices_by_kind[1]]

    def flows(self, x: Array, z: Array, u: Array) -> Array:
        """Return the right-hand sides (J - R) z + B u of the port-Hamiltonian equations of a rod in T states,
        shape (T, n). No matrices are formed. They are the rates of cross-section vectors, resultant forces and
        moments on cross-sections with gyroscopic terms, and strain rates. States x and efforts z (energy
        gradients) have shape (T, n), inputs u (T, inputs)."""
        vectors, own, _ = self._split(x)
        on_vectors, speeds, stresses = self._split(z, np.zeros_like(self._at_start))
        inputs = np.zeros((len(x), 3, self.sections.count, 3))
        inputs.reshape(len(x), -1)[:, self._inputs] = u
        forces, moments, distributed = np.moveaxis(inputs, 1, 0)
        moved = section_rates(vectors, speeds)
        strained = self.measures[:, None] * self.strains.rates(vectors, moved)
        stresses = self.measures[:, None] * stresses + self.viscosity * self._stress_products(strained)
        pushed = self._axis_forces(forces + self.sections.lengths[:, None] * distributed)
        pushed -= on_vectors + self.strains.forces(vectors, stresses)
        pushed = section_resultants(vectors, pushed, moments)
        pushed[..., 3:] += np.cross(self.sections.spins(own), speeds[..., 3:])
        return self._join(moved, pushed, strained)

    def efforts(self, x: Array) -> Array:
        """Return the efforts z of a rod in T states x (T, n), shape (T, n): minus the weights of its sections,
        velocities and stress resultants."""
        _, speeds, strains = self._split(x)
        return self._join(
            np.broadcast_to(self._weight, (len(x), *self._weight.shape)), speeds, self._stresses(strains)
        )

    def effort(self, x: Array) -> Array:
        """Return the efforts z of a rod in the state x, shape (n,): minus the weights of its sections, velocities
        and stress resultants."""
        return np.asarray(self.efforts(x[None])[0])

    def discrete_effort(self, x0: Array, x1: Array) -> Array:
        """Return the discrete gradient of the stored energy of a rod between the states x0 and x1, shape (n,): the
        efforts at their mean, which balance energy exactly since the energy is quadratic in the states."""
        return self.effort((x0 + x1) / 2)

    def storage(self, x: Array) -> float:
        """Return the stored energy of a rod in the state x [J]: kinetic energy plus elastic energy of the strains
        minus the work of gravity."""
        vectors, speeds, strains = self._split(x)
        kinetic = speeds.ravel() @ (self.sections.mass_matrix @ speeds.ravel()) / 2
        stored = self.measures @ (self._stresses(strains) * (strains - self.natural)).sum(axis=1) / 2
        return float(kinetic + stored + (self._weight * vectors).sum())

    @property
    def _weight(self) -> Array:
        """Derivative of a rod's gravity energy with respect to the centre and axis vectors of its N sections, shape
        (N, 4, 3) [N]: minus mass times gravity for the centres of mass, zero for the axes."""
        weight = np.zeros((self.sections.count, 4, 3))
        weight[:, 0] = -np.outer(self.sections.mass, self.gravity)
        return weight

    def _split(self, x: Array, absent: Array | None = None) -> tuple[Array, Array, Array]:
        """Split state vectors x of a rod into vectors, velocities and strains of its N cross-sections. Vectors
        (..., N, 4, 3) are centre and three axes, velocities (..., N, 6) are linear and angular. Strains have the
        shape (..., g, 6) for g strain points. All components of a rod in space are returned. A plane rod's missing
        ones are copied from ``absent``, or for None from the state at t = 0.

        Args:
            absent: coordinates, velocities and strains that x does not have; None: those of t = 0.
        """
        n, start = self.sections.count, self._at_start if absent is None else absent
        whole = np.broadcast_to(start, (*x.shape[:-1], len(start))).copy()
        whole[..., self._state_indices] = x
        parts = np.split(whole, np.cumsum([WIDTH * n, SPEEDS * n]), axis=-1)
        shapes = (n, 4, 3), (n, SPEEDS), (-1, STRAINS)
        vectors, speeds, strains = (p.reshape(*x.shape[:-1], *s) for p, s in zip(parts, shapes, strict=True))
        return vectors, speeds, strains

    def _join(self, *parts: Array) -> Array:
        """Return state vectors, shape (T, n), made of ``parts``, arrays (T, ...): section vectors, velocities and
        strains of a rod in T states, in this order. Components that the model does not have (in a plane, on a
        line, at fixed ends) are left out."""
        return np.hstack([part.reshape(len(part), -1) for part in parts])[:, self._state_indices]

    def _stress_products(self, strains: Array) -> Array:
        """Return stiffness times the given ``strains`` at each of the g quadrature points of a rod, shape (..., g,
        6). For strains the result has stress resultants [N, N m]."""
        return np.asarray(np.einsum("gij,...gj->...gi", self.stiffness, strains))

    def _stresses(self, strains: Array) -> Array:
        """Return the stress resultants (forces and moments of the cross-section) of a rod for ``strains`` at its g
        quadrature points. Both have the shape (..., g, 6). The stress-free strains are subtracted first."""
        return self._stress_products(strains - self.natural)

    def _strain_slopes(self, vectors: Array) -> sparse.csr_array:
        """Return the sparse matrix from the velocities of a rod's sections to the rates of all its strains. The
        result has the shape (6 g, 6 N). ``vectors`` (N, 4, 3) are centres and axes of the sections."""
        return sparse.csr_array(self.strains.slopes(vectors) @ _rate_matrix(vectors))

    def _axis_forces(self, forces: Array) -> Array:
        """Convert forces (..., N, 3) on the axis of a rod at its N sections to equivalent forces on the sections'
        centre and axis vectors. The result has the shape (..., N, 4, 3)."""
        shares = np.hstack([np.ones((self.sections.count, 1)), -self.sections.offsets])
        return shares[:, :, None] * forces[..., None, :]


# The one place that makes the port-Hamiltonian form of a rod.


def rod_form(
    rod: Rod,
    dimension: int,
    gravity: ArrayLike,
    shape: Field | None,
    velocity: Field | None,
    angular_velocity: ArrayLike | None,
    boundaries: tuple[str, str],
) -> RodForm:
    """Return the port-Hamiltonian model of a geometrically exact ``rod`` in ``dimension`` 1, 2 or 3, with
    positions, rotations, velocities and strains as states. ``gravity`` [m/s^2] must lie in the dimension.
    ``shape``, ``velocity`` and ``angular_velocity`` are initial values (None: straight along x, at rest).
    ``boundaries`` says for start and end whether it is fixed or has force and moment inputs. Viscoelastic branches
    are refused.

    Raises:
        ParameterError: no such dimension or boundary, a shape that the rod cannot have, or numbers of a wrong shape
            or out of the line or plane; a material that creeps.
    """
    dimension, fall = line_plane_or_space(dimension), vector("gravity", gravity)
    if fall[dimension:].any():
        raise ParameterError(f"gravity must stay in a model of dimension {dimension}, got {fall.tolist()}")
    refuse_relaxation(rod.relaxation, "the port-Hamiltonian form of a Rod")
    kinds = (option("start", boundaries[0], RodEnd), option("end", boundaries[1], RodEnd))
    speed = np.zeros(3) if velocity is None else velocity if callable(velocity) else reals("velocity", velocity)
    if angular_velocity is None and not callable(speed) and speed.ndim < 2:
        angular_velocity = np.zeros(3)
    placed = rod_sections(rod, "rod", dimension, (), np.zeros(3), None, speed, angular_velocity, shape)
    sections = RodSections.of_rod(rod, dimension)
    turns = np.array([each.rotation for each in placed])
    arms = np.einsum("nij,nj->ni", turns, sections.offsets)
    spins = np.array([each.angular_velocity for each in placed])
    centres = np.array([each.position for each in placed]) + arms
    speeds = np.array([each.velocity for each in placed]) + np.cross(spins, arms)
    vectors = np.concatenate([centres[:, None], np.swapaxes(turns, 1, 2)], axis=1)
    elements = rod.element_shapes()
    strains = RodStrains.at_points(elements, sections.offsets)
    points, measures = (np.concatenate([getattr(e, k) for e in elements]) for k in ("positions", "measures"))
    natural = strains.values(vectors)
    if rod.stress_free is StressFree.STRAIGHT:
        natural = np.tile(STRAIGHT, (len(points), 1))
    kept = np.ix_(range(len(points)), KEPT[dimension], KEPT[dimension])
    stiffness = np.zeros((len(points), STRAINS, STRAINS))
    stiffness[kept] = rod.stiffness_at(points)[kept]
    return RodForm(
        dimension=dimension,
        sections=sections,
        strains=strains,
        stiffness=stiffness,
        measures=measures,
        natural=natural,
        viscosity=rod.viscosity,
        gravity=fall,
        boundaries=kinds,
        vectors=vectors,
        speeds=np.hstack([speeds, np.einsum("nji,nj->ni", turns, spins)]),
    )
