"""A hyperelastic string of large motion and large strain, without bending stiffness (Kinon et al. 2023)."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from phlexible.algebra.arrays import (
    Array,
    Count,
    Flag,
    IntArray,
    Positive,
    RelaxationTime,
    line_plane_or_space,
    vector,
)
from phlexible.algebra.sparse import lu_factors, summed_blocks
from phlexible.bodies.absolute_body import AbsoluteBody, Field, InitialNodes, QuadraticStrains, initial_nodes
from phlexible.bodies.body import BodyData, NodalBody
from phlexible.bodies.locations import Along, End, Location, MaterialPoint, MaterialPoints, Start, label_of
from phlexible.bodies.mechanics.absolute import (
    elastic_force,
    elastic_tangent,
    mass_matrix,
    strain_energy,
    strains,
)
from phlexible.bodies.skin import Skin
from phlexible.bodies.string_law import StringLaw, TensionOnly
from phlexible.display import short_repr
from phlexible.elements.line_functions import (
    gauss,
    line_slopes,
    line_values,
)
from phlexible.elements.maxwell import Maxwell, Relaxation
from phlexible.errors import AttachmentError, EquilibriumError, ParameterError
from phlexible.leaves import leaf_function
from phlexible.port_hamiltonian.model import PortHamiltonianModel
from phlexible.shapes.surfaces import Color

# The mesh of a string: nodes, shape functions, mass and strains of linear or quadratic elements.
#
# Phi of order p is continuous, Psi of order p - 1 discontinuous (Kinon et al., section 3.1): the strains
# are C = |dr/ds|^2 at the p Gauss points of each element, between which Psi interpolates.

MASS = {  # of an element, over its length
    1: np.array([[2.0, 1.0], [1.0, 2.0]]) / 6,
    2: np.array([[4.0, 2.0, -1.0], [2.0, 16.0, 2.0], [-1.0, 2.0, 4.0]]) / 30,
}


@dataclass(frozen=True)
class StringMesh:
    """Mesh of equal elements of a string along its undeformed arc length s, with linear or quadratic shape
    functions.

    Attributes:
        length: undeformed [m].
        elements: number of them.
        order: 1 or 2, of the shape functions.
    """

    length: float
    elements: int
    order: int

    @property
    def nodes(self) -> Array:
        """Undeformed arc lengths s of the N equidistant nodes along this string, from 0 to its length, shape (N,)
        [m]."""
        return np.linspace(0.0, self.length, self.order * self.elements + 1)

    @property
    def element_length(self) -> float:
        """Undeformed length of one element of this string [m]."""
        return self.length / self.elements

    def element_nodes(self) -> IntArray:
        """Return the indices of the two or three nodes of each element of this string, shape (elements, order +
        1)."""
        return np.arange(self.elements)[:, None] * self.order + np.arange(self.order + 1)

    def mass(self, line_density: float) -> "sparse.csr_array":
        """Return the consistent mass matrix of the N nodes of this string, for each component of the positions,
        shape (N, N) [kg]. ``line_density`` is the mass per undeformed length [kg/m]."""
        nodes, size = self.element_nodes(), len(self.nodes)
        return summed_blocks(nodes, nodes, line_density * self.element_length * MASS[self.order], (size, size))

    def strains(self, law: StringLaw, viscosity: float, relaxation: Maxwell | None) -> QuadraticStrains:
        """Return the strains C = |dr/ds|^2 (squared stretch) of this string at the Gauss points of its elements.
        They are quadratic forms of the node positions r; s is the undeformed arc length. The elastic ``law``, the
        ``viscosity`` [s] and Maxwell branches (``relaxation``) are stored with the strains."""
        points, weights = gauss(self.order)
        rows, count = np.tile(self.slopes(points), (self.elements, 1)), len(points)
        return QuadraticStrains(
            nodes=np.repeat(self.element_nodes(), count, axis=0),
            first=rows,
            second=rows,
            weights=np.tile(weights * self.element_length, self.elements),
            law=law,
            viscosity=viscosity,
            elements=np.repeat(np.arange(self.elements), count),
            relaxation=relaxation,
        )

    def slopes(self, points: Array) -> Array:
        """Return the derivatives d/ds of the shape functions of one element of this string, shape (q, order + 1)
        [1/m]. They are at q relative ``points`` between 0 and 1; s is the undeformed arc length. The first is
        computed as minus the sum of all others, so that the sum is exactly zero."""
        slopes = np.array(line_slopes(self.order, points, self.element_length))
        slopes[:, 0] = -slopes[:, 1:].sum(axis=1)
        return slopes

    def shape_functions(self, s: float) -> tuple[IntArray, Array]:
        """Return the node indices of the element of this string that contains the arc length s [m], and the values
        of its shape functions there; each of shape (order + 1,). A position beyond the end belongs to the last
        element."""
        element = min(int(s / self.element_length), self.elements - 1)
        values = line_values(self.order, np.asarray(s / self.element_length - element))
        return self.element_nodes()[element], values


# The points of a string: nodes, where joints and loads can act, and everything between them.

CLOSE = 1e-9  # of the length


@dataclass(frozen=True, eq=False)
class StringPoints(MaterialPoints):
    """Material points of a string in d dimensions, whose coordinates are the positions of its nodes."""

    mesh: StringMesh
    dimension: int

    def locate(self, location: Location) -> MaterialPoint:
        """Return the material point of this string at a ``location``: its start, its end or an undeformed arc
        length s [m]. It counts as a node if one is closer than 1e-9 of the length. Raise ``AttachmentError``
        outside of the string and for other kinds of locations.

        Raises:
            AttachmentError: outside the string, or a location that strings do not have.
        """
        length = self.mesh.length
        match location:
            case Start():
                return self._point_at(0.0)
            case End():
                return self._point_at(length)
            case Along(s) if -CLOSE * length <= s <= (1 + CLOSE) * length:
                return self._point_at(min(max(s, 0.0), length))
            case Along(s):
                raise AttachmentError(f"at(s) must lie in 0 .. {length:g} m (undeformed), got {s:g}")
        raise AttachmentError(f"a String has no {label_of(location)}; it offers start, end and at(s)")

    def outline(self, count: int) -> tuple[Array, Array]:
        """Return k points of this string that pictures join by a line, as zero positions (k, 3) and shape
        functions (k, 3, d N). Shape functions times the coordinates of the N nodes are world positions. The points
        are nodes, at most 8 ``count`` of them, evenly selected. If all nodes are used and elements are quadratic,
        points halfway between nodes are added."""
        nodes = self.mesh.nodes
        if len(nodes) > 8 * count:
            nodes = nodes[np.unique(np.linspace(0, len(nodes) - 1, 8 * count).round().astype(int))]
        elif self.mesh.order == 2:
            nodes = np.linspace(0.0, self.mesh.length, 2 * len(nodes) - 1)
        points = [self._point_at(float(s)) for s in nodes]
        return np.zeros((len(points), 3)), np.stack([point.shapes for point in points])

    def _point_at(self, s: float) -> MaterialPoint:
        """Return the material point of this string at undeformed arc length s [m]. Its motion is given by weights
        of node positions, the shape functions of the element. If a node is closer than 1e-9 of the length, the
        point is that node, with weight 1 and the node's index."""
        node_positions = self.mesh.nodes
        nearest = int(np.abs(node_positions - s).argmin())
        is_node = abs(node_positions[nearest] - s) <= CLOSE * self.mesh.length
        nodes, values = self.mesh.shape_functions(s)
        if is_node:
            nodes, values = np.array([nearest]), np.ones(1)
        weights = np.zeros(len(node_positions))
        weights[nodes] = values
        return MaterialPoint.of_nodes(weights, self.dimension)


# A string at rest between two points: Newton's method from the inextensible catenary.
#
# The potential energy ``V(q) - q.F_b`` is lowered in every iteration; where the tangent is not positive
# definite (slack parts) the stress term of pressed elements is left out of it.

ITERATIONS = 300
GOAL, ACCEPTED = 1e-14, 1e-9
ROUND_OFF = 1e-12  # of energies
ROUND_OFFS = 10.0  # of forces, from those of positions
LEAST_STRAIN = 1e-5  # what balances an unloaded string is round-off
LEAST_WIDTH = 1e-3  # horizontal part of the first guess, of the length


def hanging_nodes(body: AbsoluteBody, mesh: StringMesh, start: Array, end: Array, gravity: Array) -> Array:
    """Return the node positions (N, 3) [m] of an elastic string at rest under ``gravity`` [m/s^2] between two
    fixed ends, ``start`` and ``end``. From a catenary, Newton's method reduces the potential energy; a multiple of
    the mass matrix is added to the tangent until the energy falls. The iterate of least residual is returned.
    Raise ``EquilibriumError`` if it is too large, or if the ends coincide without gravity.

    Args:
        body: of the string in dimension 3.
        start, end: positions of the fixed ends, shape (3,) [m].
        gravity: shape (3,) [m/s^2].

    Raises:
        EquilibriumError: the ends coincide, or Newton's method failed.
    """
    if np.linalg.norm(end - start) == 0 and not gravity.any():
        raise EquilibriumError("a string between coinciding points has no shape without gravity")
    q = _initial_guess(mesh, np.zeros(3), end - start, gravity).ravel()  # round-off does not grow with the place
    load = np.outer(body.translational_mass, gravity).ravel()
    free = slice(3, len(q) - 3)
    mass = mass_matrix(body)[free, free]

    def energy(x: Array) -> float:
        if any((strains(body, group, x) <= 0).any() for group in body.strains):
            return np.inf
        return strain_energy(body, x) - float(x @ load)

    level, shift = energy(q), 1e-3 * _stiffness_scale(body, mesh)
    best, best_error, accepted = q, np.inf, ACCEPTED
    for _ in range(ITERATIONS):
        force = (load - elastic_force(body, q))[free]
        scale = (
            elastic_force(body, q, np.abs).max() + np.abs(load).max() + LEAST_STRAIN * body.strains[0].law.modulus
        )
        share = 1 / scale if scale else 0.0
        error = share * float(np.abs(force).max(initial=0.0))
        round_off = body.strains[0].law.modulus * np.spacing(np.abs(q).max()) / mesh.element_length
        accepted = ACCEPTED + ROUND_OFFS * share * float(round_off)
        if error < best_error:
            best, best_error = q, error
        elif best_error < accepted:
            break
        if error < GOAL:
            break
        tangent = elastic_tangent(body, q)[free, free]
        for _ in range(60):
            change = np.zeros_like(q)
            change[free] = lu_factors(tangent + shift * mass).solve(force)
            lower = energy(q + change)
            falls = change[free] @ force > 0
            if falls and lower <= level + ROUND_OFF * abs(level):
                shift *= 0.1
                break
            shift = max(4 * shift, 1e-12 * _stiffness_scale(body, mesh))
        q, level = q + change, lower
    if not best_error <= accepted:
        raise EquilibriumError(
            f"no equilibrium of the string was found: the residual force is {best_error:.2g} of the largest one; "
            "take fewer elements, or simulate its fall with viscosity"
        )
    nodes = best.reshape(-1, 3) + start
    nodes[[0, -1]] = start, end
    return nodes


def _stiffness_scale(body: AbsoluteBody, mesh: StringMesh) -> float:
    """Return a scale of squared frequencies of a string (``body`` and ``mesh``), EA / (m l) [1/s^2]: with
    axial stiffness EA, mass m of the string and length l of an element."""
    return body.strains[0].law.modulus / (body.mass * mesh.element_length)


def _initial_guess(mesh: StringMesh, start: Array, end: Array, gravity: Array) -> Array:
    """Return the node positions of an inextensible string that hangs as a catenary between ``start`` and ``end``,
    shape (N, 3) [m]. Brent's method finds the parameter of the catenary. Without ``gravity`` (acceleration
    [m/s^2]), or if the ends are at least 0.999 of the length apart, nodes are equally spaced on a straight line.
    Ends above one another give two strands in one vertical plane."""
    part = mesh.nodes[:, None] / mesh.length
    line = start * (1 - part) + end * part
    difference, acceleration = end - start, float(np.linalg.norm(gravity))
    if acceleration == 0 or np.linalg.norm(difference) >= 0.999 * mesh.length:
        return np.asarray(line)
    from scipy.optimize import brentq  # here: it takes long to import

    up = -gravity / acceleration
    rise = float(difference @ up)
    level = difference - rise * up
    reach = float(np.linalg.norm(level))
    along = level / reach if reach > 0 else np.cross(up, _perpendicular(up))
    width = max(reach, LEAST_WIDTH * mesh.length)
    ratio = np.sqrt(mesh.length**2 - rise**2) / width  # sinh(x) / x with x = width / (2 a)
    x = brentq(lambda x: np.log(np.sinh(x) / x) - np.log(ratio), 1e-8, 700.0)
    a = width / (2 * x)
    low = width / 2 - a * np.arctanh(rise / mesh.length)
    # arc length from the lowest point
    s = mesh.nodes - a * np.sinh(low / a)
    horizontal = (a * np.arcsinh(s / a) + low) * (reach / width if reach > 0 else 1.0)
    height = np.hypot(a, s) - np.hypot(a, a * np.sinh(low / a))
    points = start + np.outer(horizontal, along) + np.outer(height, up)
    if reach == 0:
        points -= np.outer(horizontal[-1] * mesh.nodes / mesh.length, along)
    return np.asarray(points)


def _perpendicular(direction: Array) -> Array:
    """Return a unit vector normal to the vector ``direction``, shape (3,); which one is arbitrary."""
    axis = np.eye(3)[int(np.abs(direction).argmin())]
    cross = np.cross(direction, axis)
    return np.asarray(np.cross(cross / np.linalg.norm(cross), direction))


ELEMENT_MEMORY = 15e3
"""Memory of one element in a run [bytes]."""


@dataclass(frozen=True)
class String(NodalBody):
    """A string, cable or rubber band without bending stiffness, described by the world positions of nodes along its
    undeformed arc length s.

    It starts where ``model.add(string, shape=...)`` puts it. ``start``, ``end`` and ``at(s)`` are its
    points; joints and loads act on nodes. It has no orientation, as a point mass.

    Attributes:
        length: undeformed [m].
        line_density: rho A, mass per undeformed length [kg/m].
        elements: number of them.
        law: stored energy, for example ``LogarithmicLaw(axial_stiffness=20.0)``.
        order: of the shape functions: 1 (linear, as in the paper) or 2 (quadratic).
        viscosity: Kelvin-Voigt time tau [s]: the stress grows by tau EA d((C - 1) / 2)/dt.
        relaxation: branches of spring (EA [N]) and dashpot parallel to the law, which follow (C - 1) / 2; None:
            none.
        diameter: in pictures [m]; None: as thin as can be seen.
        color: in pictures, a name or "#rrggbb"; None: as the picture likes.
        tension_only: whether it goes slack and neither stores nor resists where it is shorter than undeformed.

    Raises:
        ParameterError: a number out of its range, no law, or a rope that goes slack and creeps.

    Example:
        >>> rope = ph.String(length=2.0, line_density=0.3, elements=10, law=ph.LinearLaw(2e3))
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> placed = model.add(rope, "rope", shape=rope.hanging((0, 0, 0), (1, 0, 0), (0, 0, -9.81)))
        >>> left = model.connect(ph.Spherical(model.ground.at((0, 0, 0)), placed.start))
        >>> right = model.connect(ph.Spherical(model.ground.at((1, 0, 0)), placed.end))
        >>> rest = model.equilibrium()
        >>> (rest.reaction(left) + rest.reaction(right)).round(6) + 0.0  # carries the weight
        array([0.   , 0.   , 5.886])
    """

    length: Positive
    line_density: Positive
    elements: Count
    law: StringLaw
    order: Count = 1
    viscosity: RelaxationTime = 0.0
    relaxation: Relaxation = field(default=None, kw_only=True)
    diameter: Positive | None = field(default=None, kw_only=True)
    color: Color = field(default=None, kw_only=True)
    tension_only: Flag = field(default=False, kw_only=True)

    __repr__ = short_repr

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tension_only and self.relaxation:
            raise ParameterError("tension_only= is for strings without relaxation; leave one of them out")
        if self.order not in (1, 2):
            raise ParameterError(f"order must be 1 (linear) or 2 (quadratic), got {self.order!r}")
        if not isinstance(self.law, StringLaw):
            raise ParameterError(
                f"law must be a stored energy such as LogarithmicLaw(axial_stiffness=20.0), got {self.law!r}"
            )

    @property
    def mass(self) -> float:
        """Total mass of this string [kg]."""
        return self.line_density * self.length

    @property
    def mesh(self) -> StringMesh:
        """Finite element mesh of this string along its arc length, from its length, number and order of
        elements."""
        return StringMesh(self.length, self.elements, self.order)

    def contact_positions(self) -> tuple[float, ...]:
        """Return the undeformed arc lengths of the nodes of this string [m], at which contact forces act."""
        return tuple(self.mesh.nodes.tolist())

    def memory(self, dimension: int) -> tuple[int, float]:
        """Return the number of elements of this string and the estimated memory [bytes] of a simulation with it,
        proportional to elements times order. ``dimension`` is not used."""
        return self.elements, ELEMENT_MEMORY * self.elements * self.order

    def discretize(self, dimension: int) -> AbsoluteBody:
        """Return this string as an ``AbsoluteBody``: mass matrix of the nodes, strains with their law, material
        points. ``dimension`` is the number of space dimensions of the model: 1 (on a line), 2 or 3; others raise
        ``ParameterError``."""
        line_plane_or_space(dimension)
        return self._arrays(dimension)

    def skin(self, data: BodyData, ports: Array) -> Skin:
        """Return what pictures draw for this string: the line along its nodes, as thick as its diameter if the
        user gave a diameter. ``data`` are the arrays of the body, ``ports`` are not used."""
        width = 0.0 if self.diameter is None else self.diameter
        return replace(super().skin(data, ports), width=(width, width))

    def initial_nodes(
        self, dimension: int, shape: Field | None, velocity: Field | None, position: Array, rotation: Array
    ) -> InitialNodes:
        """Return world positions and velocities of the nodes of this string at the start of a simulation.
        Positions are the user's ``shape`` (None: straight along x), rotated by ``rotation`` and moved by
        ``position``. ``velocity`` is in world axes (None: at rest). ``dimension`` is the number of space
        dimensions of the model (1, 2 or 3)."""
        return initial_nodes(self.mesh.nodes, dimension, shape, velocity, position, rotation)

    def hanging(self, start: ArrayLike, end: ArrayLike, gravity: ArrayLike) -> Array:
        """Return the node positions of this string at rest under gravity between the fixed points ``start`` and
        ``end``, shape (N, 3) [m]. They are for use as ``shape=`` in ``model.add``. Raise ``EquilibriumError`` if no
        equilibrium was found.

        Args:
            start, end: positions of the fixed ends, shape (3,) [m].
            gravity: acceleration, shape (3,) [m/s^2].

        Returns:
            Shape (N, 3) [m].

        Raises:
            EquilibriumError: no equilibrium was found.
        """

        ends = vector("start", start), vector("end", end)
        return hanging_nodes(self._arrays(3), self.mesh, *ends, vector("gravity", gravity))

    def port_hamiltonian(  # type: ignore[override]  # a string has no frame, variants and stress spaces
        self,
        *,
        dimension: int = 3,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        shape: Field | None = None,
        velocity: Field | None = None,
        start: str = "force",
        end: str = "force",
    ) -> PortHamiltonianModel:
        """Return the port-Hamiltonian state-space model of this string alone, without a mechanism, driven by forces
        or velocities at its ends. ``start`` and ``end`` are each "force" (prescribed contact force), "velocity"
        (prescribed velocity) or "fixed". ``gravity`` (3,) is the acceleration [m/s^2] in world axes; ``shape`` and
        ``velocity`` are the initial positions and velocities. ``dimension`` is the number of space dimensions: 1
        (along x), 2 or 3.

        Args:
            dimension: 1 (along x), 2 or 3.
            gravity: acceleration of gravity, world axes, shape (3,) [m/s^2].
            shape, velocity: at t = 0, as in ``model.add``.
            start, end: "force": prescribed contact force; "velocity": prescribed velocity; "fixed".

        Raises:
            ParameterError: no such option, or numbers out of the line or plane.
        """
        fall = vector("gravity", gravity)
        if not isinstance(dimension, int | np.integer) or isinstance(dimension, bool) or dimension not in (1, 2, 3):
            raise ParameterError(f"dimension must be 1, 2 or 3, got {dimension!r}")
        body, ends = self._arrays(int(dimension)), (start, end)
        form: PortHamiltonianModel = leaf_function("string_form")(body, self.mesh, fall, shape, velocity, ends)
        return form

    def _arrays(self, dimension: int) -> AbsoluteBody:
        """Return this string as an ``AbsoluteBody`` (nodal masses, strains, material points) for a model of the
        given dimension, 1 to 3, which is not checked. With ``tension_only``, the elastic law is replaced by one
        without stress in compression."""
        mesh, law = self.mesh, TensionOnly(self.law) if self.tension_only else self.law
        return AbsoluteBody(
            dimension=dimension,
            mass=self.mass,
            nodal_mass=mesh.mass(self.line_density),
            strains=(mesh.strains(law, self.viscosity, self.relaxation),),
            points=StringPoints(mesh, dimension),
            size=self.length,
        )
