"""Material points of a beam, on its axis and off it."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array, vector
from phlexible.algebra.sparse import Matrix, as_array
from phlexible.bodies.beam.mesh import BeamFields, BeamMesh
from phlexible.bodies.locations import (
    Along,
    Cut,
    End,
    Location,
    MaterialPoint,
    MaterialPoints,
    MaterialPosition,
    Origin,
    Start,
    label_of,
)
from phlexible.errors import AttachmentError

ROUND_OFF = 1e-12


@dataclass(frozen=True, eq=False)
class BeamPoints(MaterialPoints):
    """Material points of a beam, on its axis or off it, with n elastic coordinates eta, whose mesh coordinates are
    ``basis @ eta``.

    ``Origin`` is the material point at the start. With the frames ``cantilever`` and
    ``simply_supported`` this is the origin of the body frame; with ``mean_axis`` no material
    point stays there once the beam is deformed.
    """

    mesh: BeamMesh
    basis: Matrix

    def locate(self, location: Location) -> MaterialPoint:
        """Return the material point of this beam at a ``location``: start (also origin), end, the cut end of a rod
        in a chain, a distance x along it, or a position (x, y, z). Points off the axis move with their plane,
        rigid cross-section. Raise ``AttachmentError`` for other kinds of locations, for x outside of the beam, and
        for z other than 0 in the plane.

        Raises:
            AttachmentError: x lies outside 0 <= x <= length, or z is not 0 in the plane.
        """
        match location:
            case Start() | Origin():
                return self._point(0.0, 0.0, 0.0)
            case End():
                return self._point(self.mesh.length, 0.0, 0.0)
            case Cut(at_end):
                end = self._point(self.mesh.length if at_end else 0.0, 0.0, 0.0)
                return replace(end, stretch=self._cut_stretch())
            case Along(x):
                return self._point(x, 0.0, 0.0)
            case MaterialPosition(position):
                x, y, z = (float(each) for each in vector("position", position))
                return self._point(x, y, z)
        raise AttachmentError(
            f"a Beam has no {label_of(location)}; it offers start, end, at(x) and point((x, y, z))"
        )

    @cached_property
    def stations(self) -> Array:
        """Positions along this beam of its nodes and of the middles of its elements, ascending, shape (2 elements +
        1,) [m]."""
        return np.linspace(0.0, self.mesh.length, 2 * self.mesh.elements + 1)

    @cached_property
    def station_fields(self) -> BeamFields:
        """Displacements, slopes and strains at the nodes and middles of the elements of this beam, per unit of each
        elastic coordinate; cached."""
        return self.mesh.fields_in_elements(np.arange(2 * self.mesh.elements + 1) / 2, self.basis)

    @cached_property
    def station_sizes(self) -> BeamFields:
        """Absolute values of ``station_fields``, cached. Multiplied by bounds of the elastic coordinates, they
        bound displacements, slopes and strains of this beam."""
        return BeamFields(*(abs(matrix) for matrix in vars(self.station_fields).values()))

    def fields(self, x: Array) -> BeamFields:
        """Return displacements, slopes and strains on the axis of this beam at positions x (k,) [m], per unit of
        each of n elastic coordinates: matrices (k, n)."""
        return self.mesh.fields(x, self.basis)

    def centerline(self, count: int) -> tuple[Array, Array]:
        """Return ``count`` equidistant points of the undeformed axis of this beam, shape (count, 3) [m]. Also
        return their displacements per unit of each of n elastic coordinates, shape (count, 3, n)."""
        x = np.linspace(0.0, self.mesh.length, count)
        at = self.fields(x).with_arrays()
        positions = np.zeros((count, 3))
        positions[:, 0] = x
        return positions, np.stack([at.axial, at.deflection_y, at.deflection_z], axis=1)

    def section_rotations(self, x: Array) -> Array:
        """Return the small rotation vectors of the cross-sections of this beam at positions x (k,) [m], per unit of
        each of n elastic coordinates. The shape is (k, 3, n) [rad]. Components are the twist, minus the tilt in the
        xz plane, and the tilt in the xy plane; tilts are slopes without shear."""
        at = self.fields(x).with_arrays()
        return np.stack([at.twist, -at.tilt_z, at.tilt_y], axis=1)

    def outline(self, count: int) -> tuple[Array, Array]:
        """Return the line that pictures draw for this beam: ``count`` equidistant points of its undeformed axis
        (count, 3) [m], and their displacements per unit coordinate (count, 3, n)."""
        return self.centerline(count)

    def _cut_stretch(self) -> Array:
        """Return twice the mean axial strain of this part of a split beam per unit of each elastic coordinate,
        shape (n,). Unit directions at a cut are lengthened by this share. The shortening by bending is half the
        mean squared slope, so that angles at cuts become accurate to third order.

        A direction e + theta x e rotates by arctan v' = v' - v'^3/3 only. On a part of nearly constant curvature
        that does not stretch, with a straight line between its ends or a clamped start, bending shortens this line
        by the mean of v'^2/2, a third of its value at the end, so that 2 u' = -v'^2/3 there cancels the error.
        Only a linear function of eta keeps the step exact. An axial strain eps changes the rotation by 2 eps of
        it, which is of the order that small strains neglect.
        """
        ends = self.fields(np.array([0.0, self.mesh.length])).with_arrays().axial
        return np.asarray(2 * (ends[1] - ends[0]) / self.mesh.length)

    def _point(self, x: float, y: float, z: float) -> MaterialPoint:
        """Return the material point at (x, y, z) [m] of this undeformed beam. It has displacement and rotation per
        unit of each of n elastic coordinates, both (3, n); the section at x moves rigidly. Raise
        ``AttachmentError`` if x is outside of 0 to the length, or if z is not 0 in the plane; y and z are not
        compared with the section."""
        length = self.mesh.length
        if not -ROUND_OFF * length <= x <= (1 + ROUND_OFF) * length:
            raise AttachmentError(f"x must lie in 0 <= x <= {length:g} (the length of the beam), got {x!r}")
        if self.mesh.dimension == 2 and z != 0:
            raise AttachmentError(f"position must have z = 0 in dimension 2, got {(x, y, z)}")
        x = min(max(x, 0.0), length)
        if x in (0.0, length):  # the coordinates of a node
            motion, count = np.zeros((6, self.basis.shape[1])), self.mesh.node_size
            motion[:count] = as_array(self.basis[-count:] if x else self.basis[:count])
            u, v, tilt_y, w, tilt_z, twist = motion
        else:
            at = self.fields(np.array([x])).with_arrays()
            fields = (at.axial, at.deflection_y, at.tilt_y, at.deflection_z, at.tilt_z, at.twist)
            u, v, tilt_y, w, tilt_z, twist = (field[0] for field in fields)
        shapes = np.array([u - y * tilt_y - z * tilt_z, v - z * twist, w + y * twist])
        return MaterialPoint(np.array([x, y, z]), shapes, np.array([twist, -tilt_z, tilt_y]))
