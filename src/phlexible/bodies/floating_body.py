"""Data of a floating body that the system needs (docs/theory.md, 2 and 3).

They are the invariants m, S, W, strains, damping and points.
"""

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.sparse import Matrix, as_array
from phlexible.bodies.locations import MaterialPoints
from phlexible.display import short_repr
from phlexible.elements.maxwell import Maxwell

MODAL = "kg^0.5 m"
"""Unit of amplitudes of shapes with unit mass."""


@dataclass(frozen=True, eq=False)
class StrainEnergy:
    """Strain energy of n elastic coordinates eta, V = eta.K.eta / 2 + sum_s D_s eps_s^2 / 2 [J]. The scalar strains
    eps_s are quadratic in eta.

    ``eps_s = rows[s] . eta + sum_g factors[g] (squares[g] . eta)^2 / 2`` over the squares g of
    strain s. No third-order tensor is ever formed (3.1).

    Matrices of long bodies, whose coordinates are coupled with neighbours only, are sparse.

    Attributes:
        stiffness: K, shape (n, n), symmetric, positive semi-definite.
        rows: linear parts of the strains, shape (s, n).
        weights: D_s >= 0 (stiffness times measure, for example EA times element length), shape (s,).
        squares: slope functions at quadrature points, shape (g, n).
        factors: their weights (quadrature weight over element length), shape (g,).
        square_strain: index of the strain that each square belongs to, ascending, shape (g,).
    """

    stiffness: Matrix
    rows: Matrix
    weights: Array
    squares: Matrix
    factors: Array
    square_strain: IntArray

    __repr__ = short_repr

    def with_arrays(self) -> "StrainEnergy":
        """Return a copy of this strain energy with all its matrices as dense arrays in place of sparse
        matrices."""
        stiffness, rows, squares = (as_array(matrix) for matrix in (self.stiffness, self.rows, self.squares))
        return replace(self, stiffness=stiffness, rows=rows, squares=squares)


@cache
def no_strain() -> StrainEnergy:
    """Return the strain energy of all rigid bodies: no elastic coordinates, no strains."""
    return StrainEnergy(
        stiffness=np.zeros((0, 0)),
        rows=np.zeros((0, 0)),
        weights=np.zeros(0),
        squares=np.zeros((0, 0)),
        factors=np.zeros(0),
        square_strain=np.zeros(0, dtype=np.int64),
    )


@dataclass(frozen=True, eq=False)
class LocalMoments:
    """Second moments W of a long body with n coordinates as sparse matrices minus a product: ``W[a, b] =
    planes[a][b] - removed_a^T removed_b``.

    Attributes:
        planes: 3 x 3 sparse matrices of shape (n + 1, n + 1), planes[b][a] the transpose of planes[a][b].
        removed: sqrt(m) times the position of the centre of mass if W is about it (2.6), else zero, shape (3, n +
            1).
    """

    planes: tuple[tuple[sparse.csr_array, ...], ...]
    removed: Array

    __repr__ = short_repr

    @property
    def is_sparse(self) -> bool:
        """Whether the second mass moments of this long body are sparse matrices. They are not if moments about the
        centre of mass are stored, since a dense product of ``removed`` is then subtracted from them."""
        return not self.removed.any()

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """All arrays that define the second mass moments W[a, b] = int rho Psi_a^T Psi_b of this long body, as a
        tuple. They are nine sparse matrices (n + 1, n + 1), [a, b] row by row, and the matrix (3, n + 1) whose row
        products are subtracted."""
        return (*(plane for row in self.planes for plane in row), self.removed)

    def times(self, xi: Array) -> Array:
        """Return the products W[a, b] xi of the second mass moments of this long body, shape (..., 3, 3, n + 1).
        The vectors xi = (1, eta) have the shape (..., n + 1) for elastic coordinates eta (..., n). W[a, b] = int
        rho Psi_a^T Psi_b, for axes a and b, is stored as a sparse matrix minus a product of vectors. Psi are
        position and displacement shapes."""
        flat = xi.reshape(-1, xi.shape[-1])
        result = -np.einsum("ai,tb->tabi", self.removed, flat @ self.removed.T)
        for a in range(3):
            for b in range(3):
                result[:, a, b] += (self.planes[a][b] @ flat.T).T
        return np.asarray(result.reshape(*xi.shape[:-1], 3, 3, xi.shape[-1]))

    def elastic_mass(self) -> Matrix:
        """Return the mass matrix int rho Phi^T Phi of the n elastic coordinates of this long body, with its
        displacement shapes Phi, shape (n, n). It is the sum over axes a of W[a, a] without first row and column.
        It is sparse, but dense if W is about the centre of mass, since a product of vectors is then subtracted."""
        planes = sum(self.planes[a][a] for a in range(3))[1:, 1:]
        if self.is_sparse:
            return sparse.csr_array(planes)
        shapes = self.removed[:, 1:]
        return np.asarray(planes.toarray() - shapes.T @ shapes)

    def elastic_diagonal(self) -> Array:
        """Return the diagonal of the mass matrix of the n elastic coordinates of this long body, shape (n,),
        without forming the matrix."""
        diagonal = sum(self.planes[a][a].diagonal() for a in range(3)) - (self.removed**2).sum(axis=0)
        return np.asarray(diagonal[1:])

    def toarray(self) -> Array:
        """Return the second mass moments W[a, b] = int rho Psi_a^T Psi_b of this body, with its shape functions
        Psi, as a dense array; shape (3, 3, n + 1, n + 1)."""
        planes = np.array([[plane.toarray() for plane in row] for row in self.planes])
        return np.asarray(planes - np.einsum("ai,bj->abij", self.removed, self.removed))


@dataclass(frozen=True, eq=False, kw_only=True)
class FloatingBody:
    """Arrays of a rigid or elastic body: mass integrals, strain energy, damping and points in a moving body frame
    with n elastic coordinates eta (2.1).

    With ``Psi = [x, Phi(x)]`` (3, n + 1) and ``xi = (1, eta)`` a material point is at ``Psi xi`` in
    the body frame. A rigid body has n = 0. In the plane (dimension 2) the z components are zero.

    Attributes:
        dimension: 1, 2 or 3.
        mass: m = int rho [kg].
        first_moments: S = int rho Psi, shape (3, n + 1).
        second_moments: W[a, b] = int rho Psi_a^T Psi_b, shape (3, 3, n + 1, n + 1); of long bodies its sparse form.
        rotates: False for a point mass, which has only linear velocities.
        strain: strain energy of the n elastic coordinates.
        damping: C of the force -C deta/dt, shape (n, n), symmetric, positive semi-definite.
        viscosity: Kelvin-Voigt time tau [s]: stress is D (eps + tau deps/dt).
        points: finds material points.
        size: a length that stands for the body in tolerances and pictures [m] (0: a point).
        elastic_units: of the n elastic coordinates; empty: numbers without unit.
        relaxation: branches with shares of K and of all D_s for stiffnesses; None: no creep.
    """

    dimension: int
    mass: float
    first_moments: Array
    second_moments: Array | LocalMoments
    rotates: bool
    strain: StrainEnergy = field(default_factory=no_strain)
    damping: Matrix = field(default_factory=lambda: np.zeros((0, 0)))
    viscosity: float = 0.0
    points: MaterialPoints
    size: float
    elastic_units: tuple[str, ...] = ()
    relaxation: Maxwell | None = None

    __repr__ = short_repr

    @property
    def inner_count(self) -> int:
        """Number of internal variables of viscoelastic relaxation in this body: number of Maxwell branches
        (spring and dashpot in series), times the number of elastic coordinates plus scalar strains. 0 without
        relaxation."""
        return len(self.relaxation.pairs if self.relaxation else ()) * (
            self.elastic_count + len(self.strain.weights)
        )

    @property
    def coordinate_units(self) -> tuple[str, ...]:
        """Unit of each elastic coordinate of this body as text, such as "m" or "rad"; "1" for all if none is
        stored."""
        return self.elastic_units or ("1",) * self.elastic_count

    @property
    def elastic_count(self) -> int:
        """Number n of elastic coordinates of this body; 0 for a rigid body."""
        return int(self.first_moments.shape[1]) - 1

    @property
    def all_moments(self) -> Array:
        """Second mass moments W[a, b] = int rho Psi_a^T Psi_b of this body as a dense array. The shape is (3, 3, n
        + 1, n + 1), with axes a and b. The columns of Psi are the position and n displacement shapes. Moments
        stored as sparse matrices are converted."""
        moments = self.second_moments
        return moments.toarray() if isinstance(moments, LocalMoments) else moments

    @property
    def undeformed_spread(self) -> Array:
        """Second moments int rho x x^T dV of the mass of this undeformed body about the origin of its frame, shape
        (3, 3) [kg m2]. They are selected from the stored mass moments."""
        if isinstance(self.second_moments, LocalMoments):
            moments = self.second_moments
            planes = np.array([[plane[0, 0] for plane in row] for row in moments.planes])
            return np.asarray(planes - np.outer(moments.removed[:, 0], moments.removed[:, 0]))
        return self.second_moments[:, :, 0, 0]

    def in_smaller_basis(self, columns: Array, points: MaterialPoints) -> "FloatingBody":
        """Return a copy of this body in k new elastic coordinates; the old ones are ``columns`` times the new,
        ``columns`` (n, k). Mass moments, stiffness, strains and damping are projected, and made exactly symmetric
        where they are symmetric. The first k of ``elastic_units`` are kept. ``points`` are the material points in
        the new coordinates.

        Args:
            columns: shape (n, k), dense.
            points: finds material points in the new coordinates.
        """
        wide = np.zeros((len(columns) + 1, columns.shape[1] + 1))
        wide[0, 0], wide[1:, 1:] = 1.0, columns
        second = wide.T @ self.all_moments @ wide
        stiffness, damping = (columns.T @ matrix @ columns for matrix in (self.strain.stiffness, self.damping))
        rows, squares = self.strain.rows @ columns, self.strain.squares @ columns
        strain = replace(self.strain, stiffness=(stiffness + stiffness.T) / 2, rows=rows, squares=squares)
        return replace(
            self,
            first_moments=self.first_moments @ wide,
            second_moments=(second + second.transpose(1, 0, 3, 2)) / 2,
            strain=strain,
            damping=damping,
            points=points,
            elastic_units=self.elastic_units[: columns.shape[1]],
        )

    def with_arrays(self) -> "FloatingBody":
        """Return a copy of this body with dense arrays in place of all sparse matrices of mass moments, strain
        energy and damping."""
        return replace(
            self,
            second_moments=self.all_moments,
            strain=self.strain.with_arrays(),
            damping=as_array(self.damping),
        )

    @property
    def linear_axes(self) -> tuple[int, ...]:
        """Axes along which the frame of this body can move, as axis indices: 0 (x) on a line, 0 and 1 in the plane,
        0 to 2 in space."""
        return tuple(range(self.dimension))

    @property
    def rotation_axes(self) -> tuple[int, ...]:
        """Axes about which the frame of this body can rotate, as axis indices: none for a point mass, 2 (z) in the
        plane, 0 to 2 in space."""
        if not self.rotates:
            return ()
        return (2,) if self.dimension == 2 else (0, 1, 2)

    @property
    def rigid_count(self) -> int:
        """Number of linear and angular velocities of the frame of this body, from 1 (on a line) to 6 (in space)."""
        return self.dimension + len(self.rotation_axes)

    @property
    def velocity_count(self) -> int:
        """Number of velocities of this body: linear and angular velocities of its frame, and one for each elastic
        coordinate."""
        return self.rigid_count + self.elastic_count
