"""Data of a body in absolute coordinates: nodes, mass matrix and quadratic strains.

A string or a soft body has no frame: its coordinates are the world positions of its nodes, its mass matrix is
constant and every strain is a sum of dot products of nodal vectors, so that a rigid rotation does not strain it
(docs/theory.md, 5).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, IntArray, called, check_callable, immutable_copy, reals
from phlexible.algebra.portable import Portable
from phlexible.bodies.locations import MaterialPoints
from phlexible.bodies.product_elements import ProductElements
from phlexible.bodies.soft_law import ElementStrains
from phlexible.bodies.string_law import StringLaw
from phlexible.display import short_repr
from phlexible.elements.maxwell import Maxwell
from phlexible.errors import ParameterError

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, eq=False)
class QuadraticStrains:
    """Scalar strains of a nodal body, each the dot product of two linear combinations of its node positions q_i
    [m]: ``C_g = (sum_i first[g, i] q_i) . (sum_j second[g, j] q_j)`` over the nodes in ``nodes[g]``.

    The stored energy is ``sum_g weights[g] W(C_g)``. For a string both rows give dr/ds at a quadrature
    point, C = |dr/ds|^2. In symbols C_g = q^T A_g q with the symmetric part A_g of ``first second^T``, and
    dC/dq_i = first_i v + second_i u for the two vectors u and v.

    Attributes:
        nodes: shape (g, k).
        first, second: shape (g, k); where a row sums to zero the vector is made of differences of nodes,
            so that positions far from the origin cost no digits.
        weights: quadrature weights [m], shape (g,).
        law: W and its derivatives.
        viscosity: Kelvin-Voigt time tau [s]: W' grows by tau modulus / 4 dC/dt.
        elements: number of the element of each strain, for messages, shape (g,).
        relaxation: W' grows by ``sum EA e / 4`` of its branches, whose strains follow C; None: no creep.
    """

    nodes: IntArray
    first: Array
    second: Array
    weights: Array
    law: StringLaw
    viscosity: float
    elements: IntArray
    relaxation: Maxwell | None = None

    __repr__ = short_repr


@dataclass(frozen=True, eq=False)
class AbsoluteBody:
    """Arrays of a string or soft body of N nodes, whose unknowns are the world positions of the nodes, without a
    body frame. The d N elastic coordinates are these positions node by node in dimension d.

    Attributes:
        dimension: dimension d of the model: 1 (strings only), 2 or 3.
        mass: mass of the whole body [kg].
        nodal_mass: int rho A Phi_i Phi_j ds, shape (N, N), symmetric, positive definite [kg].
        strains: groups of strains, each with its law.
        points: finds material points.
        size: a length that stands for the body in tolerances and pictures [m].
        elements: groups of elements of soft bodies, each with its law.
        clusters: numbers of consecutive nodes that are eliminated as one block; empty: each node is its own block.
        products: groups of elements whose energy is a quadratic form of products of nodal vectors.
        moves: 1 for each node that a translation of the body moves, 0 for each director (a nodal vector that is no
            position), shape (N,); None: all nodes are positions.
    """

    dimension: int
    mass: float
    nodal_mass: "sparse.csr_array"
    strains: tuple[QuadraticStrains, ...]
    points: MaterialPoints
    size: float
    elements: tuple[ElementStrains, ...] = ()
    clusters: tuple[int, ...] = ()
    products: tuple[ProductElements, ...] = ()
    moves: Array | None = None
    rotates: ClassVar[bool] = False
    """Whether this body has a rotation and an angular velocity, which nodal positions alone do not give."""
    linear_axes: ClassVar[tuple[int, ...]] = ()
    """Axes along which the body frame can move: none, since a string or soft body has no body frame."""
    rotation_axes: ClassVar[tuple[int, ...]] = ()
    """Axes about which the body frame can rotate: none, since a string or soft body has no body frame."""
    rigid_count: ClassVar[int] = 0
    """Number of velocities of the body frame, which a string or soft body does not have."""

    __repr__ = short_repr

    @property
    def node_count(self) -> int:
        """Number N of nodes of this string or soft body, whose unknowns are nodal positions."""
        return int(self.nodal_mass.shape[0])

    @property
    def translations(self) -> Array:
        """Weight of each nodal vector in a translation of the body, shape (N,): 1 for nodal positions, 0 for
        directors (nodal direction vectors of shells). It is all ones for strings and soft bodies, which have no
        directors."""
        return np.ones(self.node_count) if self.moves is None else self.moves

    @property
    def node_names(self) -> list[str]:
        """Names of the nodes for messages, as a list: "node 0" for positions and "director 0" for directors (unit
        vectors along a shell's thickness). Both kinds are numbered separately from 0, in the order of the
        unknowns."""
        moves = self.translations > 0
        numbers = np.where(moves, np.cumsum(moves), np.cumsum(~moves)) - 1
        return [f"{'node' if is_place else 'director'} {k}" for is_place, k in zip(moves, numbers, strict=True)]

    @property
    def translational_mass(self) -> Array:
        """Mass of each node in a translation of the whole body, shape (N,) [kg]: the nodal mass matrix times
        ``translations``. Times gravity it gives the weights of the nodes; the entries of nodal positions add up to
        the mass of the body."""
        return np.asarray(self.nodal_mass @ self.translations)

    @property
    def elastic_count(self) -> int:
        """Number d N of position coordinates of this string or soft body with N nodes in a model of dimension d."""
        return self.dimension * self.node_count

    @property
    def velocity_count(self) -> int:
        """Number d N of velocity coordinates of this string or soft body with N nodes in dimension d; it equals the
        number of position coordinates."""
        return self.elastic_count


Field = ArrayLike | Callable[[Any], ArrayLike]
"""Values at nodes: a function of s or of the position x [m], or an array."""

NUMERALS = {1: "one", 2: "two", 3: "three"}


@dataclass(frozen=True, eq=False)
class InitialNodes(Portable):
    """Positions and velocities of the N nodes of a string or soft body at t = 0, in world axes.

    Attributes:
        positions: shape (N, 3) [m].
        velocities: shape (N, 3) [m/s]; None: solved from the joints.
        shape: the user's ``shape``, before position and rotation; None: undeformed.
        speed: the user's ``velocity``.
    """

    positions: Array
    velocities: Array | None
    shape: Field | None
    speed: Field | None


def initial_nodes(
    nodes: Array,
    dimension: int,
    shape: Field | None,
    speed: Field | None,
    position: Array,
    rotation: Array,
) -> InitialNodes:
    """Return the world positions and velocities (N, 3) of the nodes of a string or soft body at t = 0. Positions
    are ``position`` + ``rotation`` times the rows of ``shape``. This is an array, a function of each node, the two
    ends of a straight string, or None (undeformed). ``speed`` [m/s] in world axes is not rotated; None stays None.
    Raise ``ParameterError`` for components out of the plane (``dimension`` 2) or line (1).

    Args:
        nodes: s of the nodes of a string, shape (N,), or undeformed positions x, shape (N, 3) [m].
        dimension: 1, 2 or 3.
        shape: a function of s or x that returns a position (3 numbers; in the plane 2 do, on a line 1), the nodes
            (N, 3), or two ends (2, 3) of a straight and evenly stretched string; None: as undeformed, a string
            along x from the origin.
        speed: a velocity (3,) of all nodes, a function of s or x, or one for each node; world axes.
        position: added to the shape, shape (3,) [m].
        rotation: of the shape, shape (3, 3).

    Raises:
        ParameterError: wrong shapes, numbers that are not finite, or a node that leaves the plane.
    """
    is_line = nodes.ndim == 1
    if shape is None:
        local = np.outer(nodes, [1.0, 0.0, 0.0]) if is_line else nodes
    elif callable(shape):
        local = _function_values("shape", shape, nodes, dimension)
    else:
        local = _checked_rows("shape", shape, nodes, (2, len(nodes)) if is_line else (len(nodes),), dimension)
        if is_line and len(local) == 2:
            part = nodes[:, None] / nodes[-1]
            local = local[0] * (1 - part) + local[1] * part
    positions = position + local @ rotation.T
    velocities = None if speed is None else _velocities(speed, nodes, dimension)
    for name, values in (("shape", positions), ("velocity", velocities)):
        if values is not None and values[:, dimension:].any():
            worst = values[np.abs(values[:, dimension:]).max(axis=1).argmax()]
            where = "in the plane of a planar model" if dimension == 2 else "on the x axis (dimension=1)"
            raise ParameterError(f"{name} must stay {where}, got {worst.tolist()}")
    return InitialNodes(positions, velocities, immutable_copy(shape), immutable_copy(speed))


def _velocities(speed: Field, nodes: Array, dimension: int) -> Array:
    """Return the initial velocity of a string or soft body as one vector for each of N nodes, shape (N, 3) [m/s].
    The user's ``speed`` is a function of arc length or position, one vector for all nodes, or a row for each node.
    Missing components become zero. Raise ``ParameterError`` for other values. ``dimension`` is the number of space
    dimensions of the model (1, 2 or 3)."""
    if callable(speed):
        return _function_values("velocity", speed, nodes, dimension)
    values = reals("velocity", speed, _expected(nodes))
    if values.ndim <= 1:
        return np.tile(_checked_vector("velocity", "be", values, _widths(nodes, dimension)), (len(nodes), 1))
    return _checked_rows("velocity", values, nodes, (len(nodes),), dimension)


def _expected(nodes: Array) -> str:
    """Return as text, for error messages, what a user may pass as values at nodes: "a function of s or an array of
    numbers" for strings, "... of x ..." for soft bodies."""
    return f"a function of {'s' if nodes.ndim == 1 else 'x'} or an array of numbers"


def _widths(nodes: Array, dimension: int) -> tuple[int, ...]:
    """Return the allowed numbers of components of a user's position or velocity vectors, as a tuple. In space they
    are 3, for soft bodies also 2 (z is then 0); in the plane 2 or 3; on a line 1 or 3. ``nodes`` are arc lengths
    of a string (N,) or positions of a soft body (N, 3)."""
    if dimension == 3:
        return (3,) if nodes.ndim == 1 else (2, 3)
    return (dimension, 3)


def _checked_vector(name: str, verb: str, value: Array, widths: tuple[int, ...], at: str = "") -> Array:
    """Return a vector (``value``) passed by the user as three components, shape (3,), padded with zeros. A scalar
    is accepted if 1 is in ``widths``. Raise ``ParameterError`` unless its number of components is in ``widths``
    and all are finite. ``name``, ``verb`` and ``at`` are parts of the message."""
    value = value.reshape(1) if 1 in widths and value.ndim == 0 else value
    if value.ndim != 1 or len(value) not in widths or not np.isfinite(value).all():
        wanted = " or ".join(NUMERALS[width] for width in widths)
        raise ParameterError(f"{name} must {verb} {wanted} finite numbers, got {value.tolist()}{at}")
    return np.array([*value, 0.0, 0.0][:3])


def _function_values(name: str, function: Callable[[Any], ArrayLike], nodes: Array, dimension: int) -> Array:
    """Return the vectors of a user's function at the ``nodes`` of a body, padded with zeros to three components,
    shape (N, 3). It is called once for each node, with the arc length s [m] for strings or the position x (3,) for
    soft bodies. Raise ``ParameterError`` for values of a wrong number of components. ``name`` is the name of the
    argument, for messages."""
    is_line = nodes.ndim == 1
    check_callable(name, function, "s" if is_line else "x")
    values, widths = [], _widths(nodes, dimension)
    for node in nodes:
        at = f"at s = {node:g} m" if is_line else f"at x = {node.tolist()}"
        value = called(function, name, float(node) if is_line else node.copy(), at=at)
        values.append(
            _checked_vector(name, "return", reals(f"{name} {at}", value, "three numbers"), widths, f" {at}")
        )
    return np.array(values)


def _checked_rows(name: str, value: ArrayLike, nodes: Array, lengths: tuple[int, ...], dimension: int) -> Array:
    """Convert a user's array ``value`` of one vector per row to shape (rows, 3); missing components become zero.
    Raise ``ParameterError`` unless the number of rows is one of ``lengths`` and all entries are finite. Rows of
    any number of components other than those that ``_widths(nodes, dimension)`` allows raise it too. ``name`` is
    the name of the argument, for messages."""
    rows = reals(name, value, _expected(nodes))
    if rows.ndim != 2 or len(rows) not in lengths or rows.shape[1] not in _widths(nodes, dimension):
        counts = " or ".join(str(length) for length in lengths)
        raise ParameterError(
            f"{name} must be {_expected(nodes)}, one row a node, of shape ({counts}, 3), got shape {rows.shape}"
        )
    if not np.isfinite(rows).all():
        raise ParameterError(f"{name} must be finite")
    return np.hstack([rows, np.zeros((len(rows), 3 - rows.shape[1]))])
