"""Finite elements along a beam: coordinates, fields, section properties, inertia (docs/theory.md, 2 and 3)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from functools import lru_cache
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from phlexible.algebra.arrays import Array, Finite, IntArray, Positive, convert_fields, reals
from phlexible.algebra.caching import CACHED_COUNT, CACHED_SIZE
from phlexible.algebra.sparse import Matrix, as_array, hstack, scaled_rows, vstack
from phlexible.bodies.floating_body import LocalMoments
from phlexible.bodies.material import Material
from phlexible.elements.line_functions import (
    gauss,
    hermite_curvatures,
    hermite_slopes,
    hermite_values,
    lagrange_slopes,
    lagrange_values,
)
from phlexible.elements.sections import (
    AnySection,
    GeneralSection,
    UniformSection,
    VaryingSection,
    sections_at,
    yz_position,
)
from phlexible.errors import ParameterError

# A mass that sits on a beam and moves with its cross-section.

ROUND_OFF = 1e-12


def _convert_inertia(name: str, value: ArrayLike) -> tuple[float, ...]:
    """Convert the moments of inertia of a lumped mass on a beam, ``value`` passed by the user, to three about x,
    y, z [kg m2]. One number J gives (J/2, J/2, J). Raise ``ParameterError`` for other shapes, values that are not
    finite, or one moment above the sum of the two others. ``name`` is the name of the argument, for messages."""
    inertia = reals(name, value, "one or three moments of inertia [kg m2]")
    if inertia.ndim == 0:
        inertia = float(inertia) * np.array([0.5, 0.5, 1.0])
    if inertia.shape != (3,) or not np.isfinite(inertia).all():
        raise ParameterError(f"{name} must be one number or three [kg m2], got {value!r}")
    if (inertia.sum() / 2 - inertia).min() < -ROUND_OFF * np.abs(inertia).max():
        raise ParameterError(f"{name} must obey J_x <= J_y + J_z and the like, got {value!r}")
    return tuple(inertia.tolist())


@dataclass(frozen=True)
class LumpedMass:
    """A rigid mass fixed to the cross-section of a beam, part of the beam's inertia.

    Attributes:
        x: distance from the start of the beam [m].
        mass: [kg].
        inertia: about its own centre of mass, local axes of the section: three moments about x, y, z, or
            one about z of a body that is flat in the xy plane, with half of it about x and y [kg m2].
        offset: (y, z) of its centre of mass from the axis [m].

    Raises:
        ParameterError: numbers that are not finite, a mass that is not positive, or moments of inertia that no
            body has.

    Example:
        >>> steel = ph.Material(210e9, 7850.0)
        >>> bare = ph.Beam(1.0, ph.CircularSection(0.01), steel)
        >>> tip = ph.LumpedMass(x=1.0, mass=0.5)
        >>> round(ph.Beam(1.0, ph.CircularSection(0.01), steel, masses=[tip]).mass - bare.mass, 9)
        0.5
    """

    x: Finite
    mass: Positive
    inertia: Annotated[ArrayLike | tuple[float, ...], _convert_inertia] = 0.0
    offset: Annotated[ArrayLike | tuple[float, ...], yz_position] = (0.0, 0.0)

    def __post_init__(self) -> None:
        convert_fields(self)

    @property
    def moments(self) -> Array:
        """Mass moments of this lumped mass on a beam, the integrals of (1, x, y, z) (1, x, y, z)^T dm; shape (4, 4)
        [kg, kg m, kg m2]. Coordinates are measured from the point of the beam's axis to which it is attached."""
        about = np.asarray(self.inertia, dtype=np.float64)
        center = np.array([1.0, 0.0, *np.asarray(self.offset, dtype=np.float64)])
        return np.asarray(self.mass * np.outer(center, center) + np.diag([0.0, *(about.sum() / 2 - about)]))


# Finite elements along a beam: nodal coordinates and the fields that they interpolate.
#
# Axial displacement is linear on each element (Lagrange), deflections cubic (Hermite). Each node has u, v,
# theta_z in the plane and u, v, theta_z, w, -theta_y, theta_x in space, node after node, where theta is the
# rotation of the cross-section. Without shear theta_z = v' and -theta_y = w', and theta_x is linear. With shear
# each element has inner coordinates too: the shear strains v' - theta_z and w' + theta_y at both of its ends,
# linear between and free to jump from element to element, and a quadratic part of theta_x (docs/theory.md, 3).


class Theory(StrEnum):
    """Choice of the beam theory for the cross-sections: normal to the axis, or free to shear.

    EULER_BERNOULLI: they stay normal to the axis. TIMOSHENKO: they shear.
    """

    EULER_BERNOULLI = "euler_bernoulli"
    TIMOSHENKO = "timoshenko"


class NodeComponent(IntEnum):
    """Index of each displacement or slope among the coordinates of one node of a beam; slopes are rotations of the
    cross-section.
    """

    AXIAL = 0
    DEFLECTION_Y = 1
    SLOPE_Y = 2
    DEFLECTION_Z = 3
    SLOPE_Z = 4
    TWIST = 5


class Inner(IntEnum):
    """Index of each shear strain or twist among the inner coordinates of one element of a beam with shear."""

    SHEAR_Y = 0
    SHEAR_Y_END = 1
    SHEAR_Z = 2
    SHEAR_Z_END = 3
    TWIST = 4


class Family(IntEnum):
    """Kind of motion of a beam coordinate: kinds that neither mass nor linear stiffness couples in a straight beam
    of symmetric sections.
    """

    AXIAL = 0
    BENDING_Y = 1
    BENDING_Z = 2
    TORSION = 3


FAMILIES = (Family.AXIAL, *(Family.BENDING_Y,) * 2, *(Family.BENDING_Z,) * 2, Family.TORSION)
INNER_FAMILIES = FAMILIES[1:]


@dataclass(frozen=True, eq=False)
class BeamFields:
    """Displacements, slopes and strains at k points of a beam axis per unit of each of n coordinates, matrices of
    shape (k, n).

    ``axial`` u, ``stretch`` u', ``deflection_y`` v, ``slope_y`` v', ``tilt_y`` theta_z, ``curvature_y``
    theta_z', ``shear_y`` v' - theta_z, ``deflection_z`` w, ``slope_z`` w', ``tilt_z`` -theta_y,
    ``curvature_z`` -theta_y', ``shear_z`` w' + theta_y, ``twist`` theta_x, ``twist_rate`` theta_x'; a prime
    is d/dx. In the plane those of w and theta_x are zero, without shear tilts are slopes.
    """

    axial: Matrix
    stretch: Matrix
    deflection_y: Matrix
    slope_y: Matrix
    tilt_y: Matrix
    curvature_y: Matrix
    shear_y: Matrix
    deflection_z: Matrix
    slope_z: Matrix
    tilt_z: Matrix
    curvature_z: Matrix
    shear_z: Matrix
    twist: Matrix
    twist_rate: Matrix

    def with_arrays(self) -> "BeamFields":
        """Return a copy of these displacements, derivatives of deflections and strains of a beam with dense arrays
        in place of sparse matrices. If they are dense already, the object itself is returned."""
        if isinstance(self.axial, np.ndarray):
            return self
        return BeamFields(**{name: as_array(matrix) for name, matrix in vars(self).items()})


@dataclass(frozen=True)
class BeamMesh:
    """Mesh of equal finite elements along a straight beam on 0 <= x <= length [m], in the plane (dimension 2) or in
    space (3).
    """

    length: float
    elements: int
    dimension: int
    theory: Theory = Theory.EULER_BERNOULLI

    @property
    def has_shear(self) -> bool:
        """Whether the cross-sections of this beam can shear (Timoshenko's theory); otherwise they stay normal to
        the axis."""
        return self.theory is Theory.TIMOSHENKO

    @property
    def element_length(self) -> float:
        """Length of one of the equal finite elements of this beam [m]."""
        return self.length / self.elements

    @property
    def node_size(self) -> int:
        """Number of coordinates of one node of this beam: 3 in the plane, 6 in space. They are displacements,
        derivatives of deflections, and in space the twist."""
        return 3 if self.dimension == 2 else 6

    @property
    def stride(self) -> int:
        """Number of mesh coordinates from one node of this beam to the next. It is the number of coordinates of
        the node plus the number of inner coordinates (shear, twist) of the element after it."""
        inner = 2 if self.dimension == 2 else 5
        return self.node_size + (inner if self.has_shear else 0)

    @property
    def size(self) -> int:
        """Number of coordinates of this beam's mesh before any support: the coordinates of all nodes and the inner
        coordinates (shear, twist) of the elements."""
        return self.stride * self.elements + self.node_size

    def index(self, node: int, component: NodeComponent) -> int:
        """Return the index of one displacement or slope component of a ``node`` among all coordinates of this
        beam's mesh. Nodes count from 0 at the start; negative nodes count from the end, -1 is the last."""
        return self.stride * (node % (self.elements + 1)) + component

    def at_nodes(self, component: NodeComponent) -> IntArray:
        """Return the indices of one displacement or slope component at all nodes among the coordinates of this
        beam's mesh, shape (nodes,). The result is empty if nodes do not have this component (deflection z and twist
        in the plane)."""
        count = self.elements + 1 if component < self.node_size else 0
        return self.stride * np.arange(count, dtype=np.int64) + component

    def components(self) -> list[NodeComponent]:
        """Return the coordinates of each node of this beam as a list in their order. They are axial displacement,
        deflection in y and its derivative; in space also deflection in z, its derivative, and twist."""
        return list(NodeComponent)[: self.node_size]

    def families(self) -> IntArray:
        """Return the kind of each coordinate of this beam's mesh as an integer code of ``Family``, shape (size,):
        axial 0, bending in y 1, bending in z 2, torsion 3."""
        period = [*FAMILIES[: self.node_size], *INNER_FAMILIES][: self.stride]
        return np.tile(np.array(period, dtype=np.int64), self.elements + 1)[: self.size]

    def is_angle(self) -> Array:
        """Return, for each coordinate of this beam's mesh, whether it is an angle instead of a displacement,
        booleans of shape (size,). Angles are derivatives of deflection, twist, and the inner coordinates of shear
        and twist."""
        angles = (NodeComponent.SLOPE_Y, NodeComponent.SLOPE_Z, NodeComponent.TWIST)
        period = [component in angles for component in self.components()] + [True] * (self.stride - self.node_size)
        return np.tile(np.array(period), self.elements + 1)[: self.size]

    def rigid_motions(self) -> Array:
        """Return the mesh coordinates of this beam in small rigid motions, one per column, shape (size,
        node_size). In motion k, component k (displacement, derivative of deflection, or twist) is 1 at the first
        node and its other components are 0. A derivative of deflection 1 gives deflections x [m]. Derivatives and
        twist are equal at all nodes; coordinates inside elements are 0."""
        x, motions = np.linspace(0.0, self.length, self.elements + 1), np.zeros((self.size, self.node_size))
        for component in self.components():
            motions[self.at_nodes(component), component] = 1.0
        for deflection, slope in (
            (NodeComponent.DEFLECTION_Y, NodeComponent.SLOPE_Y),
            (NodeComponent.DEFLECTION_Z, NodeComponent.SLOPE_Z),
        ):
            if slope < self.node_size:
                motions[self.at_nodes(deflection), slope] = x
        return motions

    def gauss_points(self, count: int) -> tuple[Array, Array]:
        """Return positions x [m] along this beam and weights [m] of ``count`` Gauss points in each element, both of
        shape (elements * count,)."""
        return self.element_length * self.gauss_positions(count), np.tile(
            self.element_length * gauss(count)[1], self.elements
        )

    def gauss_positions(self, count: int) -> Array:
        """Return the positions along this beam of ``count`` Gauss points in each element, divided by the element
        length, shape (elements * count,)."""
        return (np.arange(self.elements)[:, None] + gauss(count)[0]).ravel()

    def locate_elements(self, x: Array) -> tuple[IntArray, Array]:
        """Return the element of this beam that contains each position x (k,) [m], as index (k,) and relative
        position in the element (k,). An inner node belongs to the element on its right. Positions outside belong to
        the first or last element, with relative positions outside of 0 to 1."""
        return self._elements_at(x / self.element_length)

    def _elements_at(self, positions: Array) -> tuple[IntArray, Array]:
        """Return the element index and the relative position in the element for k ``positions`` along this beam,
        given in lengths of an element. Both results have the shape (k,). Positions outside belong to the first or
        last element."""
        element = np.clip(np.floor(positions).astype(np.int64), 0, self.elements - 1)
        return element, positions - element

    @property
    def unit(self) -> "BeamMesh":
        """Copy of this beam's mesh with elements of 1 m; equal for all meshes that differ only in length."""
        return BeamMesh(float(self.elements), self.elements, self.dimension, self.theory)

    def fields(self, x: Array, basis: Matrix) -> BeamFields:
        """Return displacements, slopes and strains on the axis of this beam at k positions x [m], as matrices (k,
        n). Column j belongs to a unit of elastic coordinate j, whose mesh coordinates are column j of ``basis``
        (size, n)."""
        return self.fields_in_elements(x / self.element_length, basis)

    def fields_in_elements(self, positions: Array, basis: Matrix) -> BeamFields:
        """Return displacements, derivatives of deflections, rotations and strains on this beam's axis at k
        ``positions`` (in element lengths). The result is a ``BeamFields`` of matrices (k, n), one column for each
        column of ``basis`` (size, n), which has mesh coordinates. For dense bases and few points, cached fields of
        a mesh with elements of 1 m are scaled by powers of the length; otherwise they are interpolated.

        Stretch, curvature and twist rate at a node are those to its right. Short beams of one structure share the
        fields of a mesh with elements of 1 m, which are scaled by powers of the length of an element.
        """
        if not isinstance(basis, np.ndarray) or len(positions) * self.size > CACHED_SIZE:
            return self._fields(positions, basis)
        length, (fields, is_angle) = self.element_length, _unit_fields(self.unit, tuple(positions.tolist()))
        scaled = basis * np.where(is_angle, 1.0, 1 / length)[:, None]
        found = (fields.reshape(-1, self.size) @ scaled).reshape(*fields.shape[:2], basis.shape[1])
        return BeamFields(*(found * (length**POWERS_OF_LENGTH)[:, None, None]))

    def _fields(self, positions: Array, basis: Matrix) -> BeamFields:
        """Return displacements, derivatives of deflections, rotations and strains on this beam's axis per unit
        of each of n columns of ``basis``. The result is a ``BeamFields`` of matrices (k, n). ``positions`` (k,)
        are in element lengths; ``basis`` (size, n) has mesh coordinates. Axial displacement and twist are
        interpolated linearly, deflections by Hermite cubics; elements with shear have inner coordinates too.
        Nothing is cached."""
        element, s = self._elements_at(positions)
        length = self.element_length
        linear, linear_rate = lagrange_values(s), lagrange_slopes(s, length)
        axial, stretch = (
            self._nodal(element, local, (NodeComponent.AXIAL,), basis) for local in (linear, linear_rate)
        )
        twist, twist_rate = (
            self._nodal(element, local, (NodeComponent.TWIST,), basis) for local in (linear, linear_rate)
        )
        if self.has_shear and self.dimension == 3:
            twist = twist + self._inner(element, (4 * s * (1 - s))[:, None], (Inner.TWIST,), basis)
            twist_rate = twist_rate + self._inner(element, (4 - 8 * s)[:, None] / length, (Inner.TWIST,), basis)
        in_y = self._bending(element, s, (NodeComponent.DEFLECTION_Y, NodeComponent.SLOPE_Y), Inner.SHEAR_Y, basis)
        in_z = self._bending(element, s, (NodeComponent.DEFLECTION_Z, NodeComponent.SLOPE_Z), Inner.SHEAR_Z, basis)
        return BeamFields(axial, stretch, *in_y, *in_z, twist, twist_rate)

    def _bending(
        self, element: IntArray, s: Array, components: tuple[NodeComponent, ...], shear: Inner, basis: Matrix
    ) -> tuple[Matrix, Matrix, Matrix, Matrix, Matrix]:
        """Return deflection [m], its derivative w', rotation of the section, curvature [1/m] and shear strain in
        one plane of this beam. Each has the shape (k, n) for k points and n columns of ``basis``. The points are
        at relative positions ``s`` (0 to 1) in the elements ``element``. Rotation is w' minus shear strain,
        curvature the derivative of rotation. Without shear the strain is zero."""
        length = self.element_length
        cubics = [function(s, length) for function in (hermite_values, hermite_slopes, hermite_curvatures)]
        deflection, slope, bend = (self._nodal(element, local, components, basis) for local in cubics)
        if not self.has_shear or components[-1] >= self.node_size:
            return deflection, slope, slope, bend, _zero_matrix(len(element), basis)
        inner = (shear, Inner(shear + 1))
        deflection, slope, bend = (  # v' at the ends is tilt + shear
            field + self._inner(element, cubic[:, [1, 3]], inner, basis)
            for field, cubic in zip((deflection, slope, bend), cubics, strict=True)
        )
        strain = self._inner(element, lagrange_values(s), inner, basis)
        rate = self._inner(element, lagrange_slopes(s, length), inner, basis)
        return deflection, slope, slope - strain, bend - rate, strain

    def _nodal(
        self, element: IntArray, local: Array, components: tuple[NodeComponent, ...], basis: Matrix
    ) -> Matrix:
        """Return the field that nodal coordinates of this beam interpolate at k points, shape (k, n), for each of
        n columns of ``basis``. ``components`` are the c coordinates of a node that are used; without them the
        field is zero. ``element`` (k,) has the element of each point. ``local`` (k, 2 c) has the shape function
        values there, first for the first node, then for the second."""
        if components[-1] >= self.node_size:
            return _zero_matrix(len(element), basis)
        within = [self.stride * end + component for end in (0, 1) for component in components]
        return self._interpolated(element, local, within, basis)

    def _inner(self, element: IntArray, local: Array, inner: tuple[Inner, ...], basis: Matrix) -> Matrix:
        """Return the field at k points that inner coordinates (shear, twist) of this beam's elements interpolate,
        shape (k, n), for each column of ``basis``. ``element`` has the element of each point, ``local`` (k, c) the
        shape functions of the c coordinates ``inner`` there."""
        return self._interpolated(element, local, [self.node_size + each for each in inner], basis)

    def _interpolated(self, element: IntArray, local: Array, within: list[int], basis: Matrix) -> Matrix:
        """Return a field of this beam at k points for each column of ``basis``, shape (k, n). It is the sum of c
        shape function values at the point, ``local`` (k, c), times mesh coordinates. Function j multiplies the
        coordinate at offset ``within[j]`` from the first coordinate of the point's ``element``. The result is
        sparse if ``basis`` is sparse."""
        columns = self.stride * element[:, None] + np.array(within)
        if not isinstance(basis, np.ndarray):
            ends = np.arange(0, local.size + 1, local.shape[1])
            return sparse.csr_array((local.ravel(), columns.ravel(), ends), (len(element), self.size)) @ basis
        result = np.zeros((len(element), basis.shape[1]))
        for function, column in zip(local.T, columns.T, strict=True):
            result += function[:, None] * basis[column]
        return result


POWERS_OF_LENGTH = np.array([1.0, 0, 1, 0, 0, -1, 0, 1, 0, 0, -1, 0, 0, -1])
"""Power of length in the unit of each field, in the order of ``BeamFields``: displacements [m], slopes, 1/m."""


@lru_cache(CACHED_COUNT)
def _unit_fields(mesh: BeamMesh, positions: tuple[float, ...]) -> tuple[Array, Array]:
    """Return the fields on the axis of a beam with 1 m elements at k positions [m] for unit mesh coordinates. They
    are one array (fields, k, size) in the order of ``BeamFields``. Return also whether each coordinate is an angle,
    shape (size,). Results are cached."""
    fields = mesh._fields(np.array(positions), np.eye(mesh.size))
    return np.array([*vars(fields).values()]), mesh.is_angle()


def _zero_matrix(count: int, basis: Matrix) -> Matrix:
    """Return a zero matrix of shape (count, n), where n is the number of columns of ``basis``; sparse if the basis
    is sparse."""
    shape = (count, basis.shape[1])
    return np.zeros(shape) if isinstance(basis, np.ndarray) else sparse.csr_array(shape)


# Stiffness and inertia of cross-sections (docs/theory.md, 3).

COUPLED = 1e-9


class Measure(IntEnum):
    """Strain of a beam cross-section, numbered in the order of the section forces N, Q_y, Q_z, M_x, M_y, M_z."""

    STRETCH = 0
    SHEAR_Y = 1
    SHEAR_Z = 2
    TWIST = 3
    BEND_Y = 4
    BEND_Z = 5


def section_strains(theory: Theory, dimension: int) -> list[Measure]:
    """Return the list of strains of a cross-section that a beam of this ``theory`` and ``dimension`` (2 or 3) has.
    Their order is axial strain, shear y, shear z, twist, bending about y, bending about z. In the plane only axial
    strain, shear y and bending about z occur; Euler-Bernoulli theory has no shear."""
    plane = {Measure.STRETCH, Measure.SHEAR_Y, Measure.BEND_Z}
    return [
        measure
        for measure in Measure
        if (dimension == 3 or measure in plane)
        and (theory is Theory.TIMOSHENKO or measure not in (Measure.SHEAR_Y, Measure.SHEAR_Z))
    ]


def strain_fields(at: BeamFields) -> dict[Measure, Matrix]:
    """Return the cross-section strains of a beam at k points as a dictionary of matrices (k, n), one column for
    each of n elastic coordinates. Keys are axial strain, shear along y and z, twist per length, bending about y
    and about z. Bending about y is minus the second derivative of deflection w in z. Bending about z is that of v
    in y. They are selected from the fields ``at`` these points."""
    return {
        Measure.STRETCH: at.stretch,
        Measure.SHEAR_Y: at.shear_y,
        Measure.SHEAR_Z: at.shear_z,
        Measure.TWIST: at.twist_rate,
        Measure.BEND_Y: -at.curvature_z,
        Measure.BEND_Z: at.curvature_y,
    }


def stiffness_at(section: AnySection, material: Material | None, theory: Theory, x: Array) -> Array:
    """Return the stiffness matrices of a beam's cross-sections at k positions x [m], shape (k, 6, 6). They map six
    strains to section forces (N, Q_y, Q_z, M_x, M_y, M_z). Of a geometric section they follow from ``material``,
    with zero shear entries in Euler-Bernoulli ``theory``; a ``GeneralSection`` has its own matrix."""
    return _values_at(section, x, lambda own: section_stiffness(own, material, theory))


def moments_at(section: AnySection, material: Material | None, x: Array) -> Array:
    """Return the mass moments of a beam's cross-sections at k positions x [m], shape (k, 3, 3) [kg/m, kg, kg m].
    They are integrals of density times (1, y, z) (1, y, z)^T over the area, with the density of ``material``. A
    ``GeneralSection`` has moments of its own."""
    return _values_at(section, x, lambda own: section_moments(own, material))


def gyration_at(section: AnySection, x: Array) -> tuple[Array, Array]:
    """Return the radii of gyration [m] of a beam's cross-sections at k positions x [m]: for the extent along y and
    along z, each of shape (k,). They are roots of second moment over area; for a ``GeneralSection``, roots of
    bending over axial stiffness."""
    radii = _values_at(section, x, lambda own: np.array(own.radii_of_gyration))
    return radii[:, 0], radii[:, 1]


def _values_at(section: AnySection, x: Array, value: Callable[[UniformSection], Array]) -> Array:
    """Return a ``value`` of the cross-section at each of k positions x [m] along a beam, an array of shape
    (k, ...)."""
    if not isinstance(section, VaryingSection):
        own = value(section)
        return np.broadcast_to(own, (len(x), *own.shape))
    return np.array([value(each) for each in sections_at(section, x)])


def check_section(section: UniformSection, material: Material | None, theory: Theory, rotary_inertia: bool) -> None:
    """Raise ``ParameterError`` if a beam ``theory`` cannot represent a cross-section. Euler-Bernoulli theory
    refuses a shear centre off the axis, and general sections whose shear is coupled with other strains. Timoshenko
    theory refuses sections without shear areas. A mass centre off the axis needs ``rotary_inertia``. ``material``
    is None for a general section (given by matrices).

    Raises:
        ParameterError: shear is coupled or has no area, or mass is off the axis without rotary inertia.
    """
    if theory is Theory.EULER_BERNOULLI:
        sheared = (
            section_stiffness(section, material, Theory.TIMOSHENKO) if isinstance(section, GeneralSection) else None
        )
        eccentric = getattr(section, "shear_center", (0.0, 0.0)) != (0.0, 0.0)
        if eccentric or (sheared is not None and _is_coupled(sheared)):
            raise ParameterError(
                "shear is coupled with twist, bending or stretch in this section (its shear centre is off the"
                ' axis): take theory="timoshenko"'
            )
    else:
        section_stiffness(section, material, theory)
    moments = section_moments(section, material)
    if not rotary_inertia and np.abs(moments[0, 1:]).max() > COUPLED * moments[0, 0] * sum(
        section.radii_of_gyration
    ):
        raise ParameterError(
            "a mass centre off the axis moves along the beam when sections turn: take rotary_inertia=True"
        )


def _is_coupled(stiffness: Array) -> bool:
    """Return whether the stiffness matrix (6, 6) of a beam's cross-section couples shear with stretch, twist or
    bending. An entry counts if it is above round-off relative to the geometric mean of the two diagonal entries in
    its row and column."""
    scale = np.sqrt(np.diag(stiffness))
    coupling = np.abs(stiffness / np.outer(scale, scale))[1:3][:, [0, 3, 4, 5]]
    return bool(coupling.max() > COUPLED)


def section_stiffness(section: UniformSection, material: Material | None, theory: Theory) -> Array:
    """Return the stiffness matrix (6, 6) of a beam's cross-section, from strains to section forces (N, Q_y, Q_z,
    M_x, M_y, M_z). For a ``GeneralSection`` it is the user's matrix. Else it has EA, GJ, E I_y and E I_z on the
    diagonal. In Timoshenko's ``theory``, G times the shear areas is added at the shear centre, which couples shear
    and twist."""
    if isinstance(section, GeneralSection):
        return section.stiffness_matrix
    assert material is not None, "checked by the beam"
    bending, shearing = material.youngs_modulus, material.shear_modulus
    forces = bending * section.area, 0.0, 0.0
    twist, bends = shearing * section.torsion_constant, (section.second_moment_y, section.second_moment_z)
    result = np.diag([*forces, twist, *(bending * each for each in bends)])
    if theory is Theory.TIMOSHENKO:
        areas, (y, z) = section.shear_areas(material.poissons_ratio), getattr(section, "shear_center", (0.0, 0.0))
        at_center = np.zeros((2, 6))  # v' - theta_z and w' + theta_y of the shear centre
        at_center[0, [Measure.SHEAR_Y, Measure.TWIST]] = 1.0, -z
        at_center[1, [Measure.SHEAR_Z, Measure.TWIST]] = 1.0, y
        result += shearing * at_center.T @ (np.array(areas)[:, None] * at_center)
    return result


def section_moments(section: UniformSection, material: Material | None) -> Array:
    """Return the mass moments of one cross-section of a beam, shape (3, 3) [kg/m, kg, kg m]. They are integrals of
    density times (1, y, z) (1, y, z)^T over the area, with the density of ``material``. For a ``GeneralSection``,
    return its own moments."""
    if isinstance(section, GeneralSection):
        return section.moments
    assert material is not None, "checked by the beam"
    (y, z), area = getattr(section, "mass_center", (0.0, 0.0)), section.area
    yy, yz, zz = area * y * y + section.second_moment_z, area * y * z, area * z * z + section.second_moment_y
    return material.density * np.array([[area, area * y, area * z], [area * y, yy, yz], [area * z, yz, zz]])


# First and second moments S and W of a beam, integrated over cross-section and axis (docs/theory.md, 2).
#
# The displacement of a cross-section that stays plane and is_angle by (theta_x, theta_y, theta_z)::
#
#     u_f = (u - y theta_z + z theta_y,  v - z theta_x,  w + y theta_x)
#
# so each row of Psi = [X, u_f] is a function on the axis plus y and z times such functions; masses that sit on the
# beam have a thickness along x too, with v + x theta_z and w - x theta_y.

POINTS = 4


@dataclass(frozen=True, eq=False)
class BeamInertia:
    """Mass of a beam as k masses at points of its axis, each with its moments of inertia across and along the axis.

    Attributes:
        positions: of the points, in lengths of an element, shape (k,).
        moments: int (1, x, y, z) (1, x, y, z)^T dm of the mass at each, shape (k, 4, 4).
        tilts: 1 where the mass tilts with its cross-section, 0 where it does not (no rotary inertia), shape (k,).
        spin: share of J_yy and of J_zz by y and z moments that represent only the spin about the axis [kg m2].
    """

    positions: Array
    moments: Array
    tilts: Array
    spin: float

    @property
    def mass(self) -> float:
        """Total mass of this beam with its lumped masses [kg], the sum of all its point masses."""
        return float(self.moments[:, 0, 0].sum())


def beam_inertia(
    mesh: BeamMesh,
    section: AnySection,
    material: Material | None,
    masses: Sequence[LumpedMass],
    rotary_inertia: bool,
) -> BeamInertia:
    """Return a beam's mass as ``BeamInertia``: moments of 1, x, y, z (4, 4) at each Gauss point of its axis, then
    of its lumped ``masses``. Without ``rotary_inertia``, sections have only their mass and, in space, half the
    polar moment in y and in z. Their rotations in bending are then ignored. In the plane, moments with z are zero.
    ``section`` and ``material`` give mass per length."""
    x, weights = mesh.gauss_points(POINTS)
    moments = np.zeros((len(x) + len(masses), 4, 4))
    rows = moments[: len(x)]
    rows[np.ix_(range(len(x)), (0, 2, 3), (0, 2, 3))] = weights[:, None, None] * moments_at(section, material, x)
    spin = 0.0
    if not rotary_inertia:
        half = (rows[:, 2, 2] + rows[:, 3, 3]) / 2 if mesh.dimension == 3 else np.zeros(len(x))
        rows[:, 1:, 1:] = 0.0
        rows[:, 2, 2] = rows[:, 3, 3] = half
        spin = float(half.sum())
    for k, lumped in enumerate(masses, len(x)):
        moments[k] = lumped.moments
    if mesh.dimension == 2:
        moments[:, 3, :] = moments[:, :, 3] = 0.0
    tilts = np.concatenate([np.full(len(x), float(rotary_inertia)), np.ones(len(masses))])
    positions = np.append(mesh.gauss_positions(POINTS), [lumped.x / mesh.element_length for lumped in masses])
    return BeamInertia(positions, moments, tilts, spin)


def beam_moments(mesh: BeamMesh, basis: Matrix, inertia: BeamInertia) -> tuple[Array, Array | LocalMoments]:
    """Return the mass integrals of a beam: first moments S = int rho Psi [kg m] and second moments W[a, b] = int
    rho Psi_a^T Psi_b [kg m2] for axes a, b. Shapes are (3, n + 1) and (3, 3, n + 1, n + 1). The first column of
    Psi is the position, the others are displacements of the n columns of ``basis``. ``inertia`` has masses along
    the axis; W is sparse if ``basis`` is.

    Without tilting cross-sections the y and z moments represent only the spin about the axis: their share of J_yy
    and J_zz of the straight beam is subtracted from W[0, 0][0, 0].
    """
    size, count = basis.shape[1] + 1, len(inertia.positions)
    massive = [0, *(k for k in (1, 2, 3) if inertia.moments[:, k].any())]  # or 1 alone
    psi, moments = _section_fields(mesh, basis, inertia, massive), inertia.moments[:, massive][:, :, massive]
    if isinstance(psi, np.ndarray):
        weighted = (moments @ psi.reshape(-1, count, 3 * size).swapaxes(0, 1)).swapaxes(0, 1).reshape(psi.shape)
        products, own = np.zeros((3 * size, 3 * size)), weighted.any(axis=0)  # in the plane a third is zero
        products[np.ix_(own, own)] = psi[:, own].T @ weighted[:, own]
    else:
        weighted = sparse.block_array([[sparse.diags_array(m) for m in row] for row in moments.T]) @ psi
        products = psi.T @ weighted
    products = (products + products.T) / 2
    products[0, 0] -= inertia.spin
    first, sizes = weighted[:count].sum(axis=0), abs(weighted[:count]).sum(axis=0)
    first = np.where(abs(first) > ROUND_OFF * sizes, first, 0.0).reshape(3, size)
    if isinstance(products, np.ndarray):
        return first, products.reshape(3, size, 3, size).transpose(0, 2, 1, 3).copy()
    matrix, ranges = sparse.csr_array(products), [slice(a * size, (a + 1) * size) for a in range(3)]
    matrix.eliminate_zeros()
    matrix.sort_indices()
    rows = tuple(tuple(matrix[own, other] for other in ranges) for own in ranges)
    return first, LocalMoments(rows, np.zeros((3, size)))


def momentum_rows(mesh: BeamMesh, inertia: BeamInertia) -> Array:
    """Return the linear and angular momentum of a straight beam per unit rate of each mesh coordinate, as rows.
    The shape is (6, mesh.size) in space, (3, mesh.size) in the plane. Angular momentum is about the origin, the
    start of the beam. ``inertia`` has the masses along the axis. The mean-axis frame sets these momenta to zero.

    S[:, 1:] of (2.2) and Z_k[0, 1:] of (2.4), without the components that a planar beam does not have.
    """
    first, second = beam_moments(mesh, np.eye(mesh.size), inertia)
    assert isinstance(second, np.ndarray), "of a dense basis"
    planes = ((1, 2), (2, 0), (0, 1)) if mesh.dimension == 3 else ((0, 1),)
    angular = [second[a, b, 0, 1:] - second[b, a, 0, 1:] for a, b in planes]
    return np.array([*first[: mesh.dimension, 1:], *angular])


def _section_fields(mesh: BeamMesh, basis: Matrix, inertia: BeamInertia, factors: Sequence[int]) -> Matrix:
    """Return the fields along a beam that multiply 1, x, y and z (offsets within a section) in the displaced
    position of its points. Only m of these four are returned, those with the indices ``factors``. The matrix
    (m k, 3 (n + 1)) has k rows for each of them and n + 1 columns for each direction. The first of these is for the
    undeformed beam, the others for the n columns of ``basis``. ``inertia`` has the k positions and the factors of
    section rotations."""
    at, x, tilt = mesh.fields_in_elements(inertia.positions, basis), inertia.positions[:, None], inertia.tilts
    at = replace(at, tilt_y=scaled_rows(tilt, at.tilt_y), tilt_z=scaled_rows(tilt, at.tilt_z))
    zero, one, none = np.zeros_like(x), np.ones_like(x), _zero_matrix(len(x), basis)
    fields = (
        (mesh.element_length * x, at.axial, zero, at.deflection_y, zero, at.deflection_z),
        (one, none, zero, at.tilt_y, zero, at.tilt_z),
        (zero, -at.tilt_y, one, none, zero, at.twist),
        (zero, -at.tilt_z, zero, -at.twist, one, none),
    )
    return vstack(*(hstack(*fields[k]) for k in factors))
