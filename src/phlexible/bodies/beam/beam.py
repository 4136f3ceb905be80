"""A straight prismatic elastic beam (docs/theory.md, 2 and 3)."""

from dataclasses import dataclass, field, replace
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, non_negative, positive
from phlexible.algebra.options import flag, option, plane_or_space, whole
from phlexible.bodies.beam.bases import Axial, check_basis, craig_bampton_columns, with_axial_columns
from phlexible.bodies.beam.frames import BeamBasis, Frame, clamped_coordinates, coordinate_units, frame_basis
from phlexible.bodies.beam.inertia import beam_moments, section_inertia
from phlexible.bodies.beam.mesh import BeamMesh, Family
from phlexible.bodies.beam.modes import modal_basis, modal_damping
from phlexible.bodies.beam.points import BeamPoints
from phlexible.bodies.beam.reduced_basis import ReducedBasis
from phlexible.bodies.beam.strain import Strain, beam_strain, linear_stiffness
from phlexible.bodies.beam.stress import beam_stress
from phlexible.bodies.body import Body, BodyData
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.forms.stress_space import Stress, StressSpace
from phlexible.bodies.locations import End, Location, Start
from phlexible.bodies.material import Material
from phlexible.bodies.mechanics.floating import elastic_mass
from phlexible.bodies.skin import Skin, tube_skin
from phlexible.elements.sections import CircularSection, CrossSection, RectangularSection, Section, thickness
from phlexible.errors import ParameterError
from phlexible.shapes.colors import optional_color
from phlexible.shapes.outlines import outline_of

STATIONS, FEWEST_AND_MOST = 4, (8, 64)
"""Of a drawn beam: so many an element, within these numbers."""

MODAL = "kg^0.5 m"  # of coordinates with unit mass


@dataclass(frozen=True)
class Beam(Body):
    """A slender beam along its local x axis, from ``start`` (x = 0) to ``end`` (x = length).

    Euler-Bernoulli bending (in the plane v along y; in space also w along z), extension and, in
    space, Saint-Venant torsion. In the plane it bends about z.

    Attributes:
        length: [m].
        section: principal axes along local y and z.
        material: elasticity, density, viscosity.
        elements: equal finite elements, at least 1.
        frame: ``"cantilever"``, ``"simply_supported"`` or ``"mean_axis"``: which motion counts as
            elastic, see docs/conventions.md for what it costs; ``"auto"``: by how a model holds the
            beam, see ``Frame``.
        strain: ``"von_karman"`` (stiffens under tension) or ``"linear"``.
        rotary_inertia: False drops rho I of bending, never the polar inertia of torsion.
        modes: None: all finite element coordinates. An integer: that many of the lowest bending and
            torsion modes, with all axial coordinates. An array (n, k): a basis over all n coordinates,
            for example of ``craig_bampton_basis`` or of ``ReducedModel.elastic_basis``.
        damping_ratio: modal damping of all modes of the beam held by its frame, on top of the
            viscosity of the material [-].
        color: in pictures, a name or "#rrggbb"; None: as the picture likes.

    Raises:
        ParameterError: a parameter is outside its range or no option.
    """

    length: float
    section: CrossSection
    material: Material
    elements: int = 8
    frame: Frame | Literal["auto", "cantilever", "simply_supported", "mean_axis"] = Frame.AUTO
    strain: Strain | Literal["von_karman", "linear"] = Strain.VON_KARMAN
    rotary_inertia: bool = True
    modes: int | ArrayLike | ReducedBasis | None = None
    damping_ratio: float = 0.0
    color: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.section, Section | CircularSection | RectangularSection):
            raise ParameterError(
                f"section must be a Section, CircularSection or RectangularSection, got {self.section!r}"
            )
        if not isinstance(self.material, Material):
            raise ParameterError(f"material must be a Material, got {self.material!r}")
        for name, value in (
            ("length", positive("length", self.length)),
            ("elements", whole("elements", self.elements)),
            ("frame", option("frame", self.frame, Frame)),
            ("strain", option("strain", self.strain, Strain)),
            ("rotary_inertia", flag("rotary_inertia", self.rotary_inertia)),
            ("modes", _basis(self.modes)),
            ("damping_ratio", non_negative("damping_ratio", self.damping_ratio)),
            ("color", optional_color(self.color)),
        ):
            object.__setattr__(self, name, value)
        if (across := thickness(self.section)) > self.length:
            raise ParameterError(
                f"length must not be below the thickness of the section, {across:g} m (metres, and a beam is"
                f" slender), got {self.length!r}"
            )

    def discretize(self, dimension: int) -> FloatingBody:
        """Invariants, strains and points in the plane (dimension 2) or in space (3).

        Raises:
            ParameterError: another dimension, more modes than the elements have, or a basis of another
                length, of dependent columns, or one that would lock (see ``beam_bases``).
        """
        mesh, basis = self._coordinates(dimension)
        if self.modes is None:
            return self._assemble(mesh, basis.columns, self.damping_ratio)
        body = self._assemble(mesh, basis.columns, 0.0)
        if isinstance(self.modes, ReducedBasis):
            chosen = self._checked(self.modes, dimension)
            check_basis(chosen, body.strain)
            return self._assemble(mesh, basis.columns @ chosen, self.damping_ratio)
        modal = modal_basis(basis, elastic_mass(body), linear_stiffness(body.strain), whole("modes", self.modes))
        return self._assemble(mesh, modal.columns, self.damping_ratio, MODAL)

    def held(self, is_clamped: bool) -> Self:
        """With the frame that a model gives it, if it is ``"auto"``."""
        if self.frame is not Frame.AUTO:
            return self
        is_tangent = is_clamped or isinstance(self.modes, ReducedBasis)
        return replace(self, frame=Frame.CANTILEVER if is_tangent else Frame.SIMPLY_SUPPORTED)

    def described_coordinates(self, columns: Array, held: Body, dimension: int) -> Array:
        """Deformations (n, k) in coordinates of ``self.held(...)`` as those of this description.

        What ``modes=`` takes; of a beam with modes they stay what they are.
        """
        if self.frame is not Frame.AUTO or self.modes is not None or not isinstance(held, Beam):
            return columns
        return clamped_coordinates(columns, held._coordinates(dimension)[1], self._coordinates(dimension)[0])

    def craig_bampton_basis(self, modes: int, dimension: int = 3, axial: Axial | str = Axial.ALL) -> Array:
        """A basis for ``modes=``: axial shapes, answers to motions of the ends, modes between held ends.

        Args:
            modes: number of bending and torsion modes with both ends held.
            dimension: of the model that the beam is for, 2 or 3.
            axial: "all" coordinates, or "condensed": those that follow the bending, see ``beam_bases``.

        Returns:
            Shape (n, k), over the n coordinates that the beam has with ``modes=None``.

        Raises:
            ParameterError: a dimension, a number of modes or an option that is out of range.
        """
        count = whole("modes", modes)
        mesh, basis = self._coordinates(dimension)
        free = self._assemble(mesh, np.eye(mesh.size), 0.0)
        mass, stiffness = elastic_mass(free), linear_stiffness(free.strain)
        return self.with_axial(craig_bampton_columns(mesh, basis, mass, stiffness, count), dimension, axial)

    def with_axial(self, basis: ArrayLike, dimension: int = 3, axial: Axial | str = Axial.ALL) -> Array:
        """A basis of bending shapes, completed by the axial ones that von Karman strain needs.

        Args:
            basis: shape (n, k), over the n coordinates that the beam has with ``modes=None``.
            dimension: of the model that the beam is for, 2 or 3.
            axial: as of ``craig_bampton_basis``.

        Returns:
            Shape (n, m): axial shapes first, then those of the basis that they do not span.

        Raises:
            ParameterError: a basis of another length, a dimension or an option out of range.
        """
        kind = option("axial", axial, Axial)
        mesh, coordinates = self._coordinates(dimension)
        columns = self._checked(ReducedBasis(basis), dimension)
        full = replace(self, strain=Strain.VON_KARMAN)._assemble(mesh, coordinates.columns, 0.0)
        members = np.flatnonzero(coordinates.families == Family.AXIAL).astype(np.int64)
        return with_axial_columns(columns, full.strain, members, kind)

    def split(self, parts: int, elements: int | None = None) -> "SplitBeam":
        """This beam cut into equal parts with a body frame each, for deflections that are not small.

        ``Model.add`` places it like a beam and fixes the parts to each other. Deflections then have to
        be small within each part only: the error falls with the number of parts.

        Args:
            parts: how many, at least 1.
            elements: of each part; None: as many as make up those of this beam.

        Parts of a beam with the frame ``"auto"`` are ``"simply_supported"``.

        Raises:
            ParameterError: no whole numbers of at least 1.
        """
        count = whole("parts", parts)
        each = -(-self.elements // count) if elements is None else elements
        frame = Frame.SIMPLY_SUPPORTED if self.frame is Frame.AUTO else self.frame
        return SplitBeam(replace(self, length=self.length / count, elements=each, frame=frame), count)

    def skin(self, data: BodyData, ports: Array) -> Skin:
        """A tube or prism with the section of the beam."""
        points = data.points
        assert isinstance(points, BeamPoints)
        count = int(np.clip(STATIONS * self.elements, *FEWEST_AND_MOST)) + 1
        positions, shapes = points.centerline(count)
        return tube_skin(positions, shapes, points.turns(positions[:, 0]), outline_of(self.section))

    def port_locations(self) -> dict[str, Location]:
        """Both ends."""
        return {"start": Start(), "end": End()}

    def stress_space(self, data: FloatingBody, stress: str) -> StressSpace:
        """Moments, torque and normal force as states, see ``beam_stress``."""
        points = data.points
        assert isinstance(points, BeamPoints)
        strain, kind = Strain(self.strain), Stress(stress)
        return beam_stress(points.mesh, points.basis, self.section, self.material, strain, kind)

    def _coordinates(self, dimension: int) -> tuple[BeamMesh, BeamBasis]:
        """The mesh and all elastic coordinates of the frame."""
        plane_or_space(dimension)
        mesh = BeamMesh(self.length, self.elements, dimension)
        inertia = section_inertia(self.section, dimension, self.rotary_inertia)
        return mesh, frame_basis(Frame(self.frame), mesh, inertia.gyration_y, inertia.gyration_z)

    def _checked(self, basis: ReducedBasis, dimension: int) -> Array:
        """The columns, refused unless they are over the coordinates in this dimension."""
        size, found = len(self._coordinates(dimension)[1].families), len(basis.array)
        if found != size:
            raise ParameterError(
                f"the basis must have {size} rows, the elastic coordinates of {self.elements} elements in "
                f"dimension {dimension}, got {found}"
            )
        return basis.array

    def _assemble(self, mesh: BeamMesh, columns: Array, damping_ratio: float, unit: str = "1") -> FloatingBody:
        """The body whose mesh coordinates are ``columns @ eta``; ``unit`` of eta that are not nodal."""
        inertia = section_inertia(self.section, mesh.dimension, self.rotary_inertia)
        first, second = beam_moments(mesh, columns, inertia, self.material.density)
        strain = beam_strain(mesh, columns, self.section, self.material, Strain(self.strain))
        mass = np.einsum("aaij->ij", second)[1:, 1:]
        return FloatingBody(
            dimension=mesh.dimension,
            mass=self.material.density * self.section.area * self.length,
            first_moments=first,
            second_moments=second,
            rotates=True,
            strain=strain,
            damping=modal_damping(mass, linear_stiffness(strain), damping_ratio),
            viscosity=self.material.viscosity,
            points=BeamPoints(mesh, columns),
            size=self.length,
            elastic_units=coordinate_units(mesh, columns, unit),
        )


@dataclass(frozen=True)
class SplitBeam:
    """What ``Beam.split`` returns and ``Model.add`` places: equal parts, each fixed to the one before.

    Each part has a body frame of its own, so that elastic displacements need to be small only in the frame of
    their part: the conclusion of Brugnoli et al. (2020) and A. Shabana, *Substructure synthesis methods for
    dynamic analysis of multi-body systems*, Computers & Structures 20, 1985.

    Attributes:
        part: one part of the beam.
        count: how many there are.
    """

    part: Beam
    count: int

    @property
    def length(self) -> float:
        """Of the whole beam [m]."""
        return self.count * self.part.length


def _basis(modes: object) -> int | ReducedBasis | None:
    """Arrays become values; a number stays one."""
    if modes is None or isinstance(modes, ReducedBasis):
        return modes
    if isinstance(modes, list | tuple) or (isinstance(modes, np.ndarray) and modes.ndim):
        return ReducedBasis(modes)
    return whole("modes", modes)
