"""Shell elements as constant matrices over products of nodal vectors (docs/theory.md, 5).

Strains are sums of dot products of nodal vectors, transverse shear is assumed as in MITC4, membrane strain as in
MITC4+, and assumed stresses of membrane, bending and shear are eliminated here, once. A triangle is a quadrilateral
whose last two nodes are one: its membrane strain and curvature are constant, its shear is assumed as in MITC3.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array, BoolArray, IntArray
from phlexible.bodies.shell.section import ShellSection
from phlexible.bodies.skin import SIX

CORNERS = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], dtype=np.float64)
GAUSS = CORNERS / np.sqrt(3)
MIDDLE = np.zeros((1, 2))
PLACES = 4
STRAIN_PAIRS = np.array([(a, b) for a in range(3) for b in range(a, 3)])
BENDING_PAIRS = np.array([(a, 3 + k) for a in range(3) for k in range(4)])
LENGTH_PAIRS = np.array([(3 + k, 3 + k) for k in range(4)])
PAIRS: IntArray = np.concatenate([STRAIN_PAIRS, BENDING_PAIRS, LENGTH_PAIRS])
"""Products of the chords x_2 - x_1, x_3 - x_1, x_4 - x_1 and directors of an element."""
MEMBRANE, BENDING = slice(0, 6), slice(6, 18)
SHEAR_SHARE = 0.1
"""Factor of the squared longest side of a triangle beside that of the thickness, by which its shear softens."""
PARALLEL = 1e-3
"""Nearness of two nodes of an element, as a share of a side, from which on its warping strain is as it is."""


def bilinear_values(at: Array) -> Array:
    """Return the four bilinear shape functions at q points (q, 2) of the reference square, shape (q, 4)."""
    return np.asarray((1 + CORNERS[:, 0] * at[:, :1]) * (1 + CORNERS[:, 1] * at[:, 1:]) / 4)


def bilinear_slopes(at: Array) -> Array:
    """Return the derivatives of the four bilinear shape functions of the reference square (-1 to 1) with respect
    to its coordinates r and s. They are at q points (q, 2), shape (q, 2, 4)."""
    along = CORNERS[:, 0] * (1 + CORNERS[:, 1] * at[:, 1:]) / 4
    across = CORNERS[:, 1] * (1 + CORNERS[:, 0] * at[:, :1]) / 4
    return np.stack([along, across], axis=1)


# Rows of strains over products of chords: of two vectors that are sums of chords u_c y_c and v_c y_c.


def _of_positions(u: Array, v: Array) -> Array:
    """Return the coefficients (..., 6) of the dot product of two tangents of a shell element in dot products of
    node differences. The differences are x_2 - x_1, x_3 - x_1 and x_4 - x_1, their products 00, 01, 02, 11, 12,
    22. u and v (..., 3) are the weights of the differences in the two tangents. The products 01 and 10 are added
    up, and so on."""
    a, b = STRAIN_PAIRS.T
    return np.asarray(np.where(a == b, u[..., a] * v[..., b], u[..., a] * v[..., b] + u[..., b] * v[..., a]))


def _with_directors(u: Array, v: Array) -> Array:
    """Return the coefficients (..., 12) of the dot product of a tangent and a director of a shell element. They
    multiply dot products of node differences x_k - x_1 and nodal directors, where the index of the director varies
    fastest. The tangent is a sum of differences with weights u (..., 3), the director of nodal directors with
    weights v (..., 4)."""
    return (u[..., :, None] * v[..., None, :]).reshape(*u.shape[:-1], 12)


def _membrane_rows(at: Array) -> Array:
    """Return the coefficients of the membrane strains e_rr, e_ss, 2 e_rs at q points ``at`` (q, 2), shape (q, 3,
    6). The columns are the dot products of the node differences x_k - x_1 (pairs 00, 01, 02, 11, 12, 22)."""
    a, b = bilinear_slopes(at)[..., 1:].swapaxes(0, 1)
    return np.stack([_of_positions(a, a) / 2, _of_positions(b, b) / 2, _of_positions(a, b)], axis=1)


def _curvature_rows(at: Array) -> Array:
    """Return the coefficients of the curvatures k_rr, k_ss, 2 k_rs in dot products at q points ``at`` (q, 2), shape
    (q, 3, 12). The columns are the products of the three node differences x_k - x_1 with the four directors."""
    a, b = bilinear_slopes(at).swapaxes(0, 1)
    mixed = _with_directors(a[:, 1:], b) + _with_directors(b[:, 1:], a)
    return np.stack([_with_directors(a[:, 1:], a), _with_directors(b[:, 1:], b), mixed], axis=1)


def _shear_rows(at: Array) -> Array:
    """Return the coefficients of the assumed transverse shear strains (MITC4) at q element coordinates ``at`` (q,
    2), shape (q, 2, 12). The strain along r is interpolated linearly in s between the middles of two sides; the
    strain along s is interpolated in r. The coefficients multiply 12 dot products: three node differences x_k -
    x_1 with each of the four directors."""
    rows = np.zeros((len(at), 2, 12))
    for side in (-1.0, 1.0):
        for axis, middle in enumerate(([0.0, side], [side, 0.0])):
            point = np.array([middle])
            there = _with_directors(bilinear_slopes(point)[0, axis, 1:], bilinear_values(point)[0])
            rows[:, axis] += (1 + side * at[:, 1 - axis, None]) / 2 * there
    return rows


@dataclass(frozen=True, eq=False)
class ShellElements:
    """Geometry of e undeformed shell elements, at q points of the reference square.

    Attributes:
        X: positions of the nodes, shape (e, 4, 3) [m].
        D: directors at them, shape (e, 4, 3).
        along: vectors whose projections on the tangent planes are the local axes e_1, shape (e, 3); None: X,r
            at the centre.
    """

    X: Array
    D: Array
    along: Array | None = None

    def tangents(self, at: Array) -> Array:
        """Return the tangents dX/dr and dX/ds of each of e undeformed elements at q points (q, 2), shape (e, q, 2,
        3) [m]. r and s are the coordinates of the reference square."""
        return np.asarray(np.einsum("qak,eki->eqai", bilinear_slopes(at), self.X - self.X[:, :1]))

    def normals(self, at: Array) -> Array:
        """Return the normal vectors dX/dr x dX/ds of each of e undeformed elements at q points, shape (e, q, 3)
        [m2]. They are not unit vectors: their length is the area per reference area."""
        tangents = self.tangents(at)
        return np.cross(tangents[:, :, 0], tangents[:, :, 1])

    @cached_property
    def is_triangle(self) -> BoolArray:
        """Whether each of e elements is a triangle, shape (e,): whether its last two nodes are at the same
        position."""
        return np.asarray((self.X[:, 2] == self.X[:, 3]).all(axis=1))

    @cached_property
    def areas(self) -> Array:
        """Areas that belong to the four quadrature points of each of e undeformed elements, shape (e, 4) [m2];
        their sum is the area of the element."""
        return np.asarray(np.linalg.norm(self.normals(GAUSS), axis=2))

    def axes(self, at: Array) -> Array:
        """Return the local unit axes e_1 and e_2 of e shell elements at q reference points ``at`` (q, 2), shape
        (e, q, 2, 3). Both lie in the tangent plane. e_1 is the projection of the direction ``self.along`` of each
        element, or, if that is None, of the tangent dX/dr in its middle. e_2 is the cross product of the normal
        and e_1."""
        normals = self.normals(at)
        normals = normals / np.linalg.norm(normals, axis=2, keepdims=True)
        first = self.tangents(MIDDLE)[:, :, 0] if self.along is None else self.along[:, None]
        one = first - np.einsum("eqi,eqi->eq", np.broadcast_to(first, normals.shape), normals)[..., None] * normals
        one = one / np.linalg.norm(one, axis=2, keepdims=True)
        return np.stack([one, np.cross(normals, one)], axis=2)

    def jacobians(self, at: Array) -> Array:
        """Return the Jacobians J[a, i] = (dX/dxi_a) . e_i of each element at q points ``at`` (q, 2), shape
        (e, q, 2, 2) [m]. a is the reference coordinate (r, s), e_i the first or second local axis of the
        element at the point."""
        return np.asarray(np.einsum("eqai,eqji->eqaj", self.tangents(at), self.axes(at)))

    def strain_rows(self, at: Array) -> Array:
        """Return the matrices that yield membrane strains and curvatures of e shell elements at q reference points
        ``at`` (q, 2), shape (e, q, 6, 18). The rows are membrane strains 11, 22, 2 12 in local axes (assumed as in
        MITC4+), then curvatures. The columns belong to the first 18 of the element's dot products of node
        differences and directors, on which these strains depend linearly.
        """
        inverse = np.linalg.inv(self.jacobians(at))
        turned = _voigt(np.asarray(inverse))
        rows = np.zeros((len(self.X), len(at), 6, 18))
        rows[..., :3, MEMBRANE] = turned @ self._assumed_membrane(at)
        rows[..., 3:, BENDING] = turned @ _curvature_rows(at)
        return rows

    def _assumed_membrane(self, at: Array) -> Array:
        """Return assumed membrane strains (11, 22, 2 12) of shell elements (MITC4+) per unit of dot products of
        node differences, shape (e, q, 3, 6). e is the number of elements; ``at`` (q, 2) are reference coordinates.
        In warped elements, the strain that is quadratic in these is replaced. It becomes a combination of strains
        at the middles of the four sides and of the element, which avoids membrane locking."""
        twist = CORNERS.prod(axis=1) / 4
        (r, s), x = bilinear_slopes(MIDDLE)[0], self.X - self.X[:, :1]
        tangents, warp = np.einsum("ak,eki->eai", np.stack([r, s]), x), np.einsum("k,eki->ei", twist, x)
        metric = np.einsum("eai,ebi->eab", tangents, tangents)
        shares = np.linalg.solve(metric, np.einsum("eai,ei->ea", tangents, warp)[..., None])[..., 0]
        own = _of_positions(twist[1:], twist[1:]) / 2
        top, bottom, right, left, middle = _membrane_rows(np.array([(0, 1), (0, -1), (1, 0), (-1, 0), (0, 0)]))
        a, b = shares.T[:, :, None]
        mean = a * (a - 1) / 2 * top[0] + a * (a + 1) / 2 * bottom[0] + a * b * middle[2]
        mean = mean + b * (b - 1) / 2 * right[1] + b * (b + 1) / 2 * left[1]
        size = a**2 + b**2 - 1
        is_near = np.abs(size) < PARALLEL
        change = np.where(is_near, 0.0, mean / np.where(is_near, 1.0, size) - own)
        factors = np.stack([at[:, 1] ** 2 - 1, at[:, 0] ** 2 - 1, 2 * at[:, 0] * at[:, 1]], axis=1)
        return np.asarray(_membrane_rows(at) + factors[:, :, None] * change[:, None, None])

    def shear_rows(self, at: Array) -> Array:
        """Return the coefficients of the two transverse shear strains in local axes of e shell elements at q
        points, shape (e, q, 2, 18). ``at`` (q, 2) are their reference coordinates. The strains are assumed as in
        MITC4, in triangles as in MITC3. The coefficients multiply the first 18 dot products of node differences
        and directors; the six without a director get zero."""
        rows = np.zeros((len(self.X), len(at), 2, 18))
        assumed = np.tile(_shear_rows(at), (len(self.X), 1, 1, 1))
        low, right, left = _shear_rows(np.array([(0, -1), (1, 0), (-1, 0)]))
        assumed[self.is_triangle, :, 0] += (1 - at[:, 1:] ** 2) / 4 * (left[1] - low[0] - right[1])
        rows[..., BENDING] = np.linalg.inv(self.jacobians(at)) @ assumed
        return rows

    def _triangle_shear(self, section: ShellSection) -> Array:
        """Return the shear part of the stiffness matrix H of each element, computed as for triangles without
        assumed forces, shape (e, 18, 18). The shear stiffness is scaled by t^2 / (t^2 + 0.1 l^2) with thickness t
        and longest side l, without which thin triangles lock (Lyly, Stenberg and Vihinen 1993)."""
        rows = self.shear_rows(GAUSS)
        sides = np.linalg.norm(self.X - np.roll(self.X, 1, axis=1), axis=2).max(axis=1)
        share = section.thickness**2 / (section.thickness**2 + SHEAR_SHARE * sides**2)
        weights = share[:, None] * self.areas
        return np.asarray(np.einsum("eq,eqki,kl,eqlj->eij", weights, rows, section.shear, rows, optimize=True))

    def stress_shapes(self, at: Array) -> tuple[Array, Array]:
        """Return the assumed stress resultants of each of e elements at q reference points ``at`` (q, 2) per unit
        of their parameters. The first array (e, q, 6, 10) has membrane forces, then moments (11, 22, 12 each). The
        second (e, q, 2, 4) has shear forces. Each has constant terms and terms linear in the reference
        coordinates, relative to the element's centroid."""
        J = self.jacobians(MIDDLE)[:, 0]
        means = np.einsum("eq,qi->ei", self.areas, GAUSS) / self.areas.sum(axis=1)[:, None]
        away = at - means[:, None]
        N, Q = np.zeros((len(J), len(at), 3, 5)), np.zeros((len(J), len(at), 2, 4))
        N[..., :3], Q[..., :2] = np.eye(3), np.eye(2)
        for axis in range(2):
            one, two = J[:, axis, 0], J[:, axis, 1]
            N[..., 3 + axis] = away[:, :, 1 - axis, None] * np.stack([one**2, two**2, one * two], axis=1)[:, None]
            Q[..., 2 + axis] = away[:, :, 1 - axis, None] * J[:, None, axis]
        both = np.zeros((len(J), len(at), 6, 10))
        both[..., :3, :5], both[..., 3:, 5:] = N, N
        return both, Q

    def resultants(self, section: ShellSection) -> Array:
        """Return the section forces at the centre of each element per unit change of its first 18 dot products of
        node differences and directors. The shape is (e, 6, 18). The forces are N_11, N_22, N_12 [N/m] and M_11,
        M_22, M_12 [N] in local axes, of second Piola-Kirchhoff stress."""
        return np.asarray(self.stress_shapes(MIDDLE)[0][:, 0] @ self._eliminated(section)[0][1])

    def stresses(self, section: ShellSection, positions: Array, directors: Array) -> Array:
        """Return the second Piola-Kirchhoff stress at the centre of each of e shell elements, shape (e, h, T, 6)
        [Pa]. It is given at the h heights of the ``section`` and linear in the changes of dot products of node
        differences and directors. ``positions`` and ``directors`` (T, e, 4, 3) are those of the nodes at T
        instants. Components are xx, yy, zz, yz, xz, xy in axes of the undeformed body."""
        change = products(positions, directors) - products(self.X, self.D)
        strains = np.linalg.inv(section.stiffness) @ self.resultants(section)
        strains = np.einsum("esp,tep->tes", strains, change[..., :18])
        plane = strains[..., :3] + section.heights[:, None, None, None] * strains[..., 3:]
        one, two = self.axes(MIDDLE)[:, 0].swapaxes(0, 1)[..., SIX]
        dyads = [one[..., 0] * one[..., 1], two[..., 0] * two[..., 1]]
        dyads.append(one[..., 0] * two[..., 1] + two[..., 0] * one[..., 1])
        return np.asarray(np.einsum("kec,hkm,htem->ehtc", dyads, section.laws, plane, optimize=True))

    def blocks(self, section: ShellSection) -> tuple[tuple[int, ...], Array]:
        """Return the constant stiffness matrix H of each of e elements as diagonal blocks: their sizes, and their
        entries row by row, shape (e, sum of size^2). Membrane and bending are two blocks, or one if the
        ``section`` couples them. Transverse shear is added to bending. Four blocks of size 1 follow, the stiffness
        against stretch of the director at each node."""
        H, shear = (np.einsum("emn,emk->enk", g, solved) for g, solved in self._eliminated(section))
        H = H + np.where(self.is_triangle[:, None, None], self._triangle_shear(section), shear)
        H = (H + H.swapaxes(1, 2)) / 2
        if section.stiffness[:3, 3:].any():
            blocks = [H]
        else:
            blocks = [H[:, own, own] for own in (MEMBRANE, BENDING)]
        numbers = [block.reshape(len(H), -1) for block in blocks]
        sizes = (*(block.shape[1] for block in blocks), 1, 1, 1, 1)
        return sizes, np.hstack([*numbers, section.across / 4 * self.node_areas])

    def _eliminated(self, section: ShellSection) -> list[tuple[Array, Array]]:
        """Return two pairs (g, F^-1 g) of arrays (e, m, 18) for e elements with m assumed stress shapes: membrane
        forces with moments, then shear forces. g is the integral over each element of stress shapes times strain
        coefficients. F (e, m, m) is the integral of stress shapes times compliance of the ``section`` times stress
        shapes. g^T F^-1 g is the stiffness matrix with stresses eliminated."""
        found = []
        rows = self.strain_rows(GAUSS), self.shear_rows(GAUSS)
        stiffness = section.stiffness, section.shear
        for shapes, own, matrix in zip(self.stress_shapes(GAUSS), rows, stiffness, strict=True):
            weighted = self.areas[..., None, None] * shapes
            g = np.einsum("eqkm,eqkn->emn", weighted, own, optimize=True)
            F = np.einsum("eqkm,kl,eqln->emn", weighted, np.linalg.inv(matrix), shapes, optimize=True)
            found.append((g, np.linalg.solve(F, g)))
        return found

    @cached_property
    def node_areas(self) -> Array:
        """Area int N_I dA that belongs to each node I of each of e elements, with its shape function N_I, by
        quadrature; shape (e, 4) [m2]."""
        return np.asarray(self.areas @ bilinear_values(GAUSS))

    @cached_property
    def mass_shares(self) -> Array:
        """Integrals int N_I N_J dA of products of two shape functions over each of e elements, shape (e, 4, 4)
        [m2]. Times mass per area they are the mass matrix."""
        N = bilinear_values(GAUSS)
        return np.asarray(np.einsum("eq,qi,qj->eij", self.areas, N, N))


def products(positions: Array, directors: Array) -> Array:
    """Return the 22 dot products of node differences and directors of each element, shape (..., e, 22). They are
    six of the differences x_k - x_1, twelve of a difference with a director, and four squares of directors.
    ``positions`` and ``directors`` (..., e, 4, 3) belong to its nodes."""
    y = np.concatenate([positions[..., 1:, :] - positions[..., :1, :], directors], axis=-2)
    return np.asarray((y[..., PAIRS[:, 0], :] * y[..., PAIRS[:, 1], :]).sum(axis=-1))


def _voigt(inverse: Array) -> Array:
    """Return the matrices that transform strains e_rr, e_ss, 2 e_rs of reference axes to e_11, e_22, 2 e_12 of
    local axes, shape (..., 3, 3). ``inverse`` (..., 2, 2) are the inverse Jacobians, whose rows belong to the local
    axes."""
    (a, b), (c, d) = ((inverse[..., i, 0], inverse[..., i, 1]) for i in range(2))
    rows = [[a * a, b * b, a * b], [c * c, d * d, c * d], [2 * a * c, 2 * b * d, a * d + b * c]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
