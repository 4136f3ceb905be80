"""A free elastic structure: its unknowns, and its static responses and modes with a frame (docs/theory.md, 3)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.sparse import Factors, definite_factors
from phlexible.errors import ParameterError

# Unknowns of a finite element model: displacements and rotations of nodes, or modal coordinates.


LOCAL_ROTATION = 6
"""Component of a rotation about a local axis."""


@dataclass(frozen=True, eq=False)
class Unknowns:
    """Meaning of the N unknowns of a finite element model, in the plane (dimension 2) or in space (3): the node and
    the displacement or rotation component of each.

    Attributes:
        dimension: 2 or 3.
        node: of each unknown, -1 of a modal coordinate, shape (N,).
        component: 0, 1, 2 of a displacement, 3, 4, 5 of a rotation, ``LOCAL_ROTATION`` of one about a local
            axis, -1 of a modal coordinate, shape (N,).
        positions: of the node of each unknown, shape (N, 3) [m].
        axes: local axes of rotations about them, else zero, shape (N, 3); None: there are none.
    """

    dimension: int
    node: IntArray
    component: IntArray
    positions: Array
    axes: Array | None = None

    @property
    def spin_axes(self) -> tuple[int, ...]:
        """Axes about which a body with these unknowns rotates, as indices of coordinate axes: (2,) for z in the
        plane, (0, 1, 2) in space."""
        return (2,) if self.dimension == 2 else (0, 1, 2)

    @property
    def translation_axes(self) -> tuple[int, ...]:
        """Axes along which a body with these unknowns moves, as axis indices: 0 and 1 in the plane, 0 to 2 in
        space."""
        return tuple(range(self.dimension))

    def of_nodes(self, nodes: IntArray) -> IntArray:
        """Return the ascending indices of the unknowns (displacements, rotations) of this finite element model that
        belong to the given nodes."""
        return np.flatnonzero(np.isin(self.node, nodes))

    def selected(self, indices: IntArray) -> "Unknowns":
        """Return node, component, position and axis of the unknowns with the given ``indices`` in this finite
        element model, as new ``Unknowns`` in that order."""
        axes = None if self.axes is None else self.axes[indices]
        return Unknowns(self.dimension, self.node[indices], self.component[indices], self.positions[indices], axes)

    def field(self, vectors: Array) -> Array:
        """Return the values of the N unknowns of this finite element model for displacement vectors (N, 3), one for
        each unknown at its node; shape (N,). A displacement unknown gets its component of the vector; rotations and
        modal coordinates are zero."""
        moves = (self.component >= 0) & (self.component < 3)
        result = np.zeros(len(self.component))
        result[moves] = vectors[moves, self.component[moves]]
        return result

    def translation(self, axis: int) -> Array:
        """Return the values of the N unknowns of this finite element model in a unit translation along a coordinate
        ``axis``, 0 to 2; shape (N,). Displacements along the axis are 1, all others 0."""
        return self.field(np.tile(np.eye(3)[axis], (len(self.node), 1)))

    def rotation(self, axis: int, about: Array | None = None) -> Array:
        """Return the values of the N unknowns (displacements and rotations) of this finite element model in a small
        unit rotation, shape (N,). It is about the coordinate ``axis``, 0 to 2, through the point ``about`` (3,)
        [m]; None: the origin."""
        arms = self.positions if about is None else self.positions - about
        result: Array = self.field(np.cross(np.eye(3)[axis], arms)) + (self.component == 3 + axis)
        return result if self.axes is None else result + self.axes[:, axis]

    def rigid_fields(self, about: Array | None = None) -> Array:
        """Return the values of the N nodal unknowns of this finite element model in its unit rigid motions;
        shape (N, 6) in space, (N, 3) in the plane: translations along x, y, z, then rotations about the point
        ``about`` (None: the origin)."""
        moves = [self.translation(axis) for axis in self.translation_axes]
        return np.column_stack([*moves, *(self.rotation(axis, about) for axis in self.spin_axes)])

    def centrifugal_fields(self, about: Array) -> Array:
        """Return the centrifugal accelerations of the N nodal unknowns of this finite element model. They are
        (e_k x (e_l x r) + e_l x (e_k x r)) / 2 with r = x - ``about``. The columns are pairs of axes k <= l:
        xx, xy, xz, yy, yz, zz in space, shape (N, 6), and zz in the plane, shape (N, 1)."""
        axes, arms, products = np.eye(3)[list(self.spin_axes)], self.positions - about, []
        for k, first in enumerate(axes):
            for second in axes[k:]:
                mixed = np.cross(first, np.cross(second, arms)) + np.cross(second, np.cross(first, arms))
                products.append(self.field(mixed / 2))
        return np.column_stack(products)

    def homogeneous_fields(self, about: Array) -> Array:
        """Return the values of the N nodal unknowns of this finite element model for displacements of
        constant strain: e_a x_b + e_b x_a with a <= b, where x is the position relative to ``about``. The
        columns are the pairs xx, xy, xz, yy, yz, zz in space, shape (N, 6), and xx, xy, yy in the plane,
        shape (N, 3)."""
        arms, fields = self.positions - about, []
        for a in self.translation_axes:
            for b in self.translation_axes[a:]:
                vectors = np.zeros_like(arms)
                vectors[:, a] += arms[:, b]
                vectors[:, b] += arms[:, a]
                fields.append(self.field(vectors))
        return np.column_stack(fields)

    def rotations(self, columns: Array, count: int) -> Array:
        """Return the rotation vectors of ``count`` nodes, shape (count, 3, n), in n vectors of all unknowns of this
        finite element model. The entries are selected from these vectors, the ``columns`` (N, n); nodes without
        rotational unknowns get zero."""
        indices = np.flatnonzero(self.component >= 3)
        result = np.zeros((count, 3, columns.shape[1]))
        result[self.node[indices], self.component[indices] - 3] = columns[indices]
        return result

    def vectors(self, columns: Array, count: int) -> Array:
        """Return the displacement vectors of ``count`` nodes, shape (count, 3, n), in n vectors of all unknowns of
        this finite element model. The entries are selected from these vectors, the ``columns`` (N, n); components
        without unknown are zero."""
        moves = np.flatnonzero((self.component >= 0) & (self.component < 3))
        result = np.zeros((count, 3, columns.shape[1]))
        result[self.node[moves], self.component[moves]] = columns[moves]
        return result


def mesh_unknowns(positions: Array, dimension: int, per_node: int) -> Unknowns:
    """Return node, component and position of the unknowns of a mesh with k nodes at ``positions`` (k, 3) [m].
    Each node has the first ``per_node`` components, node after node: displacements, then rotations."""
    node = np.repeat(np.arange(len(positions)), per_node)
    return Unknowns(dimension, node, np.tile(np.arange(per_node), len(positions)), positions[node])


WELL_CONDITIONED = 1e-9
ROUND_OFF = 1e8
"""Squared frequency of an unknown, relative to the lower quartile, above which its mass is round-off."""


def fastest_square(mass: sparse.csr_array, stiffness: sparse.csr_array) -> float:
    """Return the largest ratio K_ii / M_ii of the diagonals of ``stiffness`` K and ``mass`` M, a squared frequency
    of single unknowns [rad2/s2]. Unknowns without mass, or with a mass that is round-off compared with others, are
    ignored."""
    masses, stiff = mass.diagonal(), stiffness.diagonal()
    squares = stiff[masses > 0] / masses[masses > 0]
    slow = float(np.quantile(squares, 0.25)) if len(squares) else 0.0
    return float(squares[squares <= ROUND_OFF * slow].max(initial=0.0))


@dataclass(frozen=True, eq=False)
class ElasticStructure:
    """Mass and stiffness of an unsupported elastic body with N unknowns, and its rigid motions.

    Attributes:
        mass: shape (N, N), symmetric.
        stiffness: shape (N, N), symmetric, zero for rigid motions.
        rigid: displacements of the rigid motions about the origin, translations first, shape (N, r) with r = 3
            in the plane, 6 in space.
        positions: positions of the unknowns, shape (N, 3) [m].
    """

    mass: sparse.csr_array
    stiffness: sparse.csr_array
    rigid: Array
    positions: Array

    @property
    def dimension(self) -> int:
        """Dimension of this elastic structure: 2 in the plane, 3 in space."""
        return 2 if self.rigid.shape[1] == 3 else 3

    def reduced(self, columns: sparse.csr_array, rigid: Array, positions: Array) -> "ElasticStructure":
        """Return this elastic structure in fewer unknowns q, where ``columns @ q`` are its present unknowns. Mass
        and stiffness are projected, columns^T K columns; ``rigid`` motions and ``positions`` of the new unknowns
        are stored unchanged."""
        mass, stiffness = (columns.T @ matrix @ columns for matrix in (self.mass, self.stiffness))
        return ElasticStructure(sparse.csr_array(mass), sparse.csr_array(stiffness), rigid, positions)


@dataclass(frozen=True, eq=False)
class FramedStructure:
    """Elastic structure with frame conditions F u = 0 on its elastic displacements u, which remove the rigid
    motions (3.13).

    Attributes:
        structure: without supports.
        frame: F, shape (r, N), with F rigid well conditioned.
    """

    structure: ElasticStructure
    frame: Array

    def __post_init__(self) -> None:
        scaled = self.frame @ self.structure.rigid
        scaled = scaled / np.maximum(np.abs(scaled).max(axis=1, keepdims=True), 1e-300)
        scaled = scaled / np.maximum(np.abs(scaled).max(axis=0, keepdims=True), 1e-300)
        singular = np.linalg.svd(scaled, compute_uv=False)
        if not singular[-1] > WELL_CONDITIONED * singular[0]:
            raise ParameterError(
                "frame: these interfaces do not constrain all rigid motions of the body (a single point, or points "
                'on one line); take frame="mean_axis" or an interface with an area'
            )

    def balanced_loads(self, loads: Array) -> Array:
        """Return loads (N, k) on this elastic structure plus forces F^T y, so that their resultant force and
        moment are zero. F u = 0 are the conditions on displacements u that define the body frame. The multipliers
        y follow from a small dense system. Loads that are such forces themselves become zero."""
        rigid, frame = self.structure.rigid, self.frame
        return np.asarray(loads - frame.T @ np.linalg.solve(rigid.T @ frame.T, rigid.T @ loads))

    def responses(self, loads: Array) -> Array:
        """Return the static displacements (N, k) of this elastic structure under k load vectors ``loads`` (N, k).
        Its body frame is defined by conditions F u = 0 on the displacements u. Loads are first balanced by forces
        F^T y, so that they have no resultant. The result satisfies F u = 0, which excludes rigid motions. The
        stiffness matrix, without a few supported unknowns, is factored once.

        The balanced loads need no support, so that a statically determinate support at a few unknowns has no
        reaction: K without them is positive definite and sparse for any frame. A rigid motion then makes F u = 0.
        """
        result = self._supported_response(self.balanced_loads(loads))
        rigid, frame = self.structure.rigid, self.frame
        result -= rigid @ np.linalg.solve(frame @ rigid, frame @ result)
        return result

    def elastic_basis(self, columns: Array) -> Array:
        """Return a basis (N, N - r) of all displacements u of this elastic structure with F u = 0, for r frame
        conditions. Of the unit displacements ``columns`` (N, N), those at unknowns that a statically
        determinate support leaves free are used. A rigid motion is subtracted from each, so that it satisfies
        the conditions."""
        rigid, frame = self.structure.rigid, self.frame
        free = columns[:, self._free]
        return np.asarray(free - rigid @ np.linalg.solve(frame @ rigid, frame @ free))

    def modes(self, count: int) -> Array:
        """Return the ``count`` lowest vibration modes of this elastic structure under its frame conditions as
        columns, shape (N, count), in ascending order of frequency. They are computed by shift-invert Lanczos
        iteration from a fixed random start and have unit modal mass. Raise ``ParameterError`` for more than N - r
        - 2 modes, with r rigid motions.

        Raises:
            ParameterError: more modes than the body has.
        """
        from scipy.sparse.linalg import LinearOperator, eigsh

        size, r = self.structure.rigid.shape
        if not count:
            return np.zeros((size, 0))
        if count > size - r - 2:
            unknowns = f"{size} unknowns (of which a rigid interface has {r} for all its nodes)"
            raise ParameterError(f"modes must be at most {max(size - r - 2, 0)} with {unknowns}, got {count}")
        inverse = LinearOperator((size, size), matvec=lambda f: self.responses(f.reshape(-1, 1))[:, 0], dtype=float)
        random = np.random.default_rng(0).normal(size=(size, 1))
        start = self.responses(self.structure.mass @ random)[:, 0]
        squares, shapes = eigsh(
            self.structure.stiffness, k=count, M=self.structure.mass, sigma=0.0, OPinv=inverse, v0=start
        )
        return np.asarray(shapes[:, np.argsort(squares)])

    @cached_property
    def _supports(self) -> IntArray:
        """Indices of r unknowns of this structure whose fixation removes its r rigid motions without causing
        forces, shape (r,), ascending. They are the first r pivots of a QR decomposition with column pivoting of
        the transposed rigid motions, each scaled to unit length."""
        from scipy.linalg import qr

        rigid = self.structure.rigid
        scaled = rigid / np.linalg.norm(rigid, axis=0)
        _, _, order = qr(scaled.T, mode="economic", pivoting=True)
        return np.sort(order[: rigid.shape[1]]).astype(np.int64)

    @cached_property
    def _free(self) -> IntArray:
        """Ascending indices of the unknowns of this structure that remain if a few unknowns are fixed, enough to
        prevent rigid motions and no more; cached."""
        return np.setdiff1d(np.arange(len(self.structure.rigid)), self._supports)

    @cached_property
    def _factors(self) -> Factors:
        """Sparse factors of the positive definite stiffness matrix of this structure without the unknowns of its
        statically determinate support; cached."""
        block = self.structure.stiffness[self._free][:, self._free]
        return definite_factors(sparse.csr_array(block), self.structure.positions[self._free])

    @property
    def solver(self) -> str:
        """Name of the library that factored the stiffness matrix of this structure, such as "SuperLU"."""
        return self._factors.solver

    def _supported_response(self, loads: Array) -> Array:
        """Return the static displacements (N, k) of this structure under balanced loads (N, k), by the stored
        factors. They are zero at the unknowns of its statically determinate support."""
        result = np.zeros_like(loads)
        result[self._free] = self._factors.solve(loads[self._free])
        return result
