"""A straight elastic beam (docs/theory.md, 2 and 3)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import (
    Array,
    Count,
    DampingRatio,
    Flag,
    Positive,
    make_arrays_read_only,
    option,
    option_of,
    plane_or_space,
    set_fields,
    whole,
)
from phlexible.algebra.caching import CACHED_COUNT
from phlexible.algebra.sparse import Matrix
from phlexible.bodies.beam.bases import (
    Axial,
    BeamBasis,
    Frame,
    ReducedBasis,
    check_basis,
    clamped_coordinates,
    coordinate_units,
    craig_bampton_columns,
    frame_basis,
    modal_basis,
    modal_damping,
    with_axial_columns,
)
from phlexible.bodies.beam.mesh import (
    BeamInertia,
    BeamMesh,
    Family,
    LumpedMass,
    Theory,
    beam_inertia,
    beam_moments,
    check_section,
    gyration_at,
)
from phlexible.bodies.beam.points import BeamPoints
from phlexible.bodies.beam.scaling import BeamArrays, scaled_arrays
from phlexible.bodies.beam.strain import (
    ElementForces,
    Strain,
    beam_strain,
    discontinuous_stress,
    element_forces,
    hermite_stress,
    linear_stiffness,
)
from phlexible.bodies.body import Body, BodyData
from phlexible.bodies.floating_body import MODAL, FloatingBody
from phlexible.bodies.locations import End, Location, Start
from phlexible.bodies.material import Material, WithSections, check_material, relative_relaxation, section_along
from phlexible.bodies.mechanics.floating import elastic_mass
from phlexible.bodies.sizes import warn_of_damping
from phlexible.bodies.skin import Skin, tube_skin
from phlexible.bodies.stress_space import StressContinuity, StressSpace
from phlexible.display import short_repr
from phlexible.elements.sections import (
    AnySection,
    UniformSection,
    VaryingSection,
    least_width,
)
from phlexible.errors import ParameterError
from phlexible.shapes.surfaces import Color, outline_of

STATIONS, FEWEST_AND_MOST = 4, (8, 64)
"""Number of drawn cross-sections per element, and their smallest and largest total number."""
MOST_PARTS = 100_000
MATRICES = 45
"""Number of dense matrices over all coordinates that a run with full matrices needs, measured with 300 elements."""
COORDINATE_MEMORY = 40e3
"""Memory of one coordinate of a beam with sparse matrices, measured with 4000 elements [bytes]."""

ROUND_OFF = 1e-9


def _convert_modes(name: str, modes: object) -> int | ReducedBasis | None:
    """Convert the option ``modes`` of a beam and return it: None, a ``ReducedBasis`` or an integer of at least 1.
    Lists and arrays become a ``ReducedBasis``. Raise ``ParameterError`` for other values. ``name`` is the name of
    the argument, for messages."""
    if modes is None or isinstance(modes, ReducedBasis):
        return modes
    if isinstance(modes, list | tuple) or (isinstance(modes, np.ndarray) and modes.ndim):
        return ReducedBasis(modes)
    return whole(name, modes)


BeamFrame = Annotated[Frame | Literal["auto", "cantilever", "simply_supported", "mean_axis"], option_of(Frame)]
BeamTheory = Annotated[Theory | Literal["euler_bernoulli", "timoshenko"], option_of(Theory)]


@dataclass(frozen=True)
class Beam(WithSections, Body):
    """A straight elastic beam along its local x axis, from ``start`` (x = 0) to ``end`` (x = length). Its
    deflections are small relative to its body frame.

    Bending (in the plane v along y; in space also w along z), extension and, in space, Saint-Venant
    torsion; shear with ``theory="timoshenko"``. In the plane it bends about z.

    Attributes:
        length: [m].
        section: principal axes along local y and z; ``VaryingSection``, or a function of x [m] that returns a
            section and is sampled at once, at four points of each element: steps belong between elements.
        material: elasticity, density, viscosity; of a ``GeneralSection``, which has its own, None.
        elements: equal finite elements, at least 1.
        frame: ``"cantilever"``, ``"simply_supported"`` or ``"mean_axis"``: which motion counts as
            elastic, see docs/conventions.md for what it costs; ``"auto"``: by how a model holds the
            beam, see ``Frame``.
        strain: ``"von_karman"`` (stiffens under tension) or ``"linear"``.
        rotary_inertia: False drops rho I of bending, never the polar inertia of torsion.
        modes: None: all finite element coordinates. An integer: that many of the lowest bending and
            torsion modes, with all axial coordinates. A slender beam cannot twist before some ten modes, since
            torsion modes are high; ``craig_bampton_basis`` twists exactly. An array (n, k): a basis over all n
            coordinates, for example of ``craig_bampton_basis`` or of ``ReducedModel.elastic_basis``.
        damping_ratio: modal damping of all modes of the beam constrained by its frame (a cantilever by
            ``frame="cantilever"``), on top of the viscosity of the material [-]. A sequence has one number for each
            mode in ascending order of frequencies; with an integer for ``modes`` so many, and axial modes have the
            last one. Modes of a model that holds the beam otherwise have other ratios: see
            ``linearize().modes().damping_ratios``.
        theory: ``"euler_bernoulli"``: sections stay normal to the axis; ``"timoshenko"``: they shear, for beams
            that are thick, made of soft cores, or have a shear centre off the axis. It needs rotary inertia.
        masses: rigid masses that sit on the beam.
        color: in pictures, a name or "#rrggbb"; None: as the picture likes.

    Raises:
        ParameterError: a parameter is outside its range or no option, or parameters that contradict each other.

    Example:
        >>> steel = ph.Material(youngs_modulus=210e9, density=7850.0)
        >>> model = ph.Model()
        >>> beam = model.add(ph.Beam(1.0, ph.CircularSection(0.01), steel, elements=16), "beam")
        >>> model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
        Fixed(ground.at(0, 0, 0), beam.start)
        >>> modes = model.linearize().modes(2)
        >>> modes.frequencies.round(2)  # 1.8751^2 / L^2 sqrt(EI / m) [rad/s], in both planes
        array([45.46, 45.46])
    """

    length: Positive
    section: AnySection | Callable[[float], UniformSection]
    material: Material | None = None
    elements: Count = 8
    frame: BeamFrame = Frame.AUTO
    strain: Annotated[Strain | Literal["von_karman", "linear"], option_of(Strain)] = Strain.VON_KARMAN
    rotary_inertia: Flag = True
    modes: Annotated[int | ArrayLike | ReducedBasis | None, _convert_modes] = None
    damping_ratio: DampingRatio = 0.0
    theory: BeamTheory = Theory.EULER_BERNOULLI
    masses: Sequence[LumpedMass] = ()
    color: Color = field(default=None, kw_only=True)

    __repr__ = short_repr

    def __post_init__(self) -> None:
        super().__post_init__()
        section = section_along(self.section, self.length, self.elements)
        set_fields(self, masses=_check_masses(self.masses, self.length), section=section)
        check_material(self._section, self.material, self.length)
        relative_relaxation(self.material, self._sections)  # one for all sections
        if (across := least_width(self._section)) > self.length:
            raise ParameterError(
                f"length must not be below the thickness of the section, {across:g} m (metres, and a beam is"
                f" slender), got {self.length!r}"
            )
        theory = Theory(self.theory)
        if theory is Theory.TIMOSHENKO and not self.rotary_inertia:
            raise ParameterError(
                'theory="timoshenko" needs rotary_inertia=True: sections whose rotation is independent and carry no'
                " inertia have no equation of motion"
            )
        for section in {*self._sections}:
            check_section(section, self.material, theory, self.rotary_inertia)

    def radii_of_gyration(self, x: Array) -> tuple[Array, Array]:
        """Return the radii of gyration [m] of the cross-sections of this beam at positions x (k,) [m]: for the
        extent along local y and along local z, each of shape (k,)."""
        return gyration_at(self._section, x)

    @property
    def mass(self) -> float:
        """Total mass of this beam with its lumped masses [kg], computed from its finite element mesh."""
        return self._inertia(BeamMesh(self.length, self.elements, 3)).mass

    def discretize(self, dimension: int) -> FloatingBody:
        """Return this beam as a ``FloatingBody``, the arrays of the model: mass integrals, strain energy, damping
        and material points in elastic coordinates. ``dimension`` is 2 (plane) or 3; others raise
        ``ParameterError``. Equal beams of few elements share one cached, read-only result.

        Raises:
            ParameterError: another dimension, more modes than the elements have, or a basis of another
                length, of dependent columns, or one that would lock (see ``check_basis``).
        """
        return (_shared if self.elements <= SHORT else Beam._discretized)(self, plane_or_space(dimension))

    def _discretized(self, dimension: int) -> FloatingBody:
        """Return this beam as a ``FloatingBody`` with its matrices, damped by ``damping_ratio``; not cached. With
        ``modes`` None, its elastic coordinates are those of the finite elements. With an integer, they are axial
        coordinates and that number of bending and torsion modes. A user's reduced basis is checked for its number
        of rows and by ``check_basis``. ``dimension`` is the number of space dimensions (2 or 3)."""
        body, basis = self._in_all_coordinates(dimension)
        if self.modes is None:
            return replace(body, damping=self._modal_damping(body, 0))
        if isinstance(self.modes, ReducedBasis):
            chosen, axial, units = self._checked_columns(self.modes, dimension), 0, None
            check_basis(chosen, body.strain)
        else:
            whole_basis, count = BeamBasis(np.eye(len(basis.families)), basis.families), whole("modes", self.modes)
            modal = modal_basis(whole_basis, elastic_mass(body), linear_stiffness(body.strain), count)
            chosen, axial = modal.columns, int((modal.families == Family.AXIAL).sum())
            units = ("m",) * axial + (MODAL,) * count
        points = BeamPoints(self._mesh(dimension), basis.columns @ chosen)
        body = body.in_smaller_basis(chosen, points)
        return replace(
            body,
            damping=self._modal_damping(body, axial),
            elastic_units=units or coordinate_units(points.mesh, points.basis, "1"),
        )

    def resolved(self, is_clamped: bool) -> Self:
        """Return this beam with ``frame="auto"`` replaced by "cantilever" if its start is clamped (``is_clamped``)
        or it has a user's reduced basis, else by "simply_supported". A beam with another frame is returned
        unchanged."""
        if self.frame is not Frame.AUTO:
            return self
        is_tangent = is_clamped or isinstance(self.modes, ReducedBasis)
        return replace(self, frame=Frame.CANTILEVER if is_tangent else Frame.SIMPLY_SUPPORTED)

    def described_coordinates(self, columns: Array, resolved: Body, dimension: int) -> Array:
        """Return k deformations of this beam as columns (n, k) of its elastic coordinates with ``frame="auto"``,
        which means clamped at the start. ``columns`` are given in coordinates of ``resolved``, the beam with a
        frame chosen; a rigid motion is subtracted from each. They are returned unchanged if this beam has another
        frame or ``modes``. ``dimension`` is that of the model (2 or 3).

        The result suits ``modes=``; coordinates of a beam with modes are returned as they are.
        """
        if self.frame is not Frame.AUTO or self.modes is not None or not isinstance(resolved, Beam):
            return columns
        return clamped_coordinates(columns, resolved._coordinates(dimension)[1], self._coordinates(dimension)[0])

    def craig_bampton_basis(self, modes: int, dimension: int = 3, axial: Axial | str = Axial.ALL) -> Array:
        """Return a Craig-Bampton basis for the argument ``modes=`` of this beam, shape (n, k), over its n
        coordinates without ``modes``. Columns are axial shapes ("all" or "condensed"), static shapes for unit
        motions of the ends, and ``modes`` vibration modes with clamped ends. ``dimension`` is the number of space
        dimensions of the model (2 or 3).

        Args:
            modes: number of bending and torsion modes with both ends clamped.
            dimension: of the model that the beam is for, 2 or 3.
            axial: "all" coordinates, or "condensed": those that follow the bending, see ``Axial``.

        Returns:
            Shape (n, k), over the n coordinates that the beam has with ``modes=None``.

        Raises:
            ParameterError: a dimension, a number of modes or an option that is out of range.
        """
        count = whole("modes", modes)
        mesh, basis = self._coordinates(dimension)
        free = self._assemble(mesh, np.eye(mesh.size))
        mass, stiffness = elastic_mass(free), linear_stiffness(free.strain)
        return self.with_axial(craig_bampton_columns(mesh, basis, mass, stiffness, count), dimension, axial)

    def with_axial(self, basis: ArrayLike, dimension: int = 3, axial: Axial | str = Axial.ALL) -> Array:
        """Return axial shapes of this beam followed by given bending shapes, as one basis (n, m) that does not lock
        with von Karman strain. A basis locks if it is too stiff, since axial motions that accompany bending are
        missing. ``basis``, shape (n, k), has the bending shapes as columns over the n coordinates of this beam with
        ``modes=None``. With ``axial`` "all" there is one shape for each axial coordinate. With "condensed" there
        are those whose axial strain cancels the strain by two bending columns (products w_i' w_j' of their slopes),
        and that of constant tension. Columns that depend linearly on earlier ones are dropped. ``dimension`` of the
        model is 2 or 3.

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
        columns = self._checked_columns(ReducedBasis(basis), dimension)
        full = replace(self, strain=Strain.VON_KARMAN)._assemble(mesh, coordinates.columns)
        members = np.flatnonzero(coordinates.families == Family.AXIAL).astype(np.int64)
        return with_axial_columns(columns, full.strain, members, kind)

    def split(self, parts: int, elements: int | None = None) -> "SplitBeam":
        """Return this beam cut into equal ``parts`` as a ``SplitBeam``, for large deflections: each part has a
        body frame, so that deflections need to be small within each part only. Each part has ``elements``
        elements; with None, the elements of the beam divided by ``parts``, rounded up.

        ``Model.add`` places it like a beam and fixes the parts to each other. Deflections then have to
        be small within each part only: the error falls with the number of parts.

        Args:
            parts: how many, at least 1.
            elements: of each part; None: as many as make up those of this beam.

        Parts of a beam with the frame ``"auto"`` are ``"simply_supported"``. A ``damping_ratio`` holds in the frame
        of each part, which hardly damps modes of the whole beam, and warns: the viscosity of the material damps
        them as those of a beam that is not cut.

        Raises:
            ParameterError: no whole numbers of at least 1, or more than 100000 parts.
        """
        count = whole("parts", parts)
        if count > MOST_PARTS:
            raise ParameterError(f"parts must be at most {MOST_PARTS}, got {parts!r}")
        if self.damping_ratio and count > 1:
            warn_of_damping(f"damping_ratio holds in the frame of each of the {count} parts, not for the whole:")
        each = -(-self.elements // count) if elements is None else elements
        frame = Frame.SIMPLY_SUPPORTED if self.frame is Frame.AUTO else Frame(self.frame)
        return SplitBeam(tuple(self._part(number, count, each, frame) for number in range(count)))

    def skin(self, data: BodyData, ports: Array) -> Skin:
        """Return the surface that pictures draw for this beam: a tube or prism with the outlines of its
        cross-sections along the centerline, which deforms with the elastic coordinates. ``data`` are the arrays of
        the body; ``ports`` are not used."""
        points = data.points
        assert isinstance(points, BeamPoints)
        count = int(np.clip(STATIONS * self.elements, *FEWEST_AND_MOST)) + 1
        positions, shapes = points.centerline(count)
        outlines = [outline_of(each) for each in self.sections_at(positions[:, 0])]
        return tube_skin(positions, shapes, points.section_rotations(positions[:, 0]), outlines)

    def contact_positions(self) -> tuple[float, ...]:
        """Return the positions x [m] along this beam of the nodes of its finite elements, both ends included, at
        which contact forces act."""
        return tuple(np.linspace(0.0, self.length, self.elements + 1).tolist())

    def memory(self, dimension: int) -> tuple[int, float]:
        """Return the number of finite elements of this beam and the estimated memory [bytes] of a simulation with
        it: proportional to the coordinates, or to their square with modes, modal damping or mean-axis frame (full
        matrices). ``dimension`` is the number of space dimensions of the model (2 or 3)."""
        coordinates = self.elements * (3 if dimension == 2 else 6)
        if self.frame is Frame.MEAN_AXIS or self.modes is not None or self.damping_ratio:
            return self.elements, MATRICES * np.dtype(float).itemsize * coordinates**2
        return self.elements, COORDINATE_MEMORY * coordinates

    def port_locations(self) -> dict[str, Location]:
        """Return the boundary ports of the port-Hamiltonian model of this beam by name, "start" and "end", with the
        locations of both ends."""
        return {"start": Start(), "end": End()}

    def stress_space(self, data: FloatingBody, stress: str) -> StressSpace:
        """Return the ``StressSpace`` of this beam's port-Hamiltonian model, in which bending moments, torque and
        normal force are states. The forces are continuous Hermite functions along the beam if ``stress`` is
        "hermite", otherwise independent in each element. ``data`` are the arrays of the beam. Raise
        ``ParameterError`` for "hermite" with shear or coupled sections."""
        points, strain = data.points, Strain(self.strain)
        assert isinstance(points, BeamPoints)
        if StressContinuity(stress) is StressContinuity.HERMITE:
            return hermite_stress(points.mesh, points.basis, self._section, self.material, strain)
        return discontinuous_stress(self.element_forces(points), strain)

    def _part(self, number: int, count: int, elements: int, frame: Frame) -> "Beam":
        """Return part ``number`` (from 0) of ``count`` equally long parts of this beam, as a new beam with
        ``elements`` elements and the given ``frame``. A varying section is cut to the part. Lumped masses on the
        part are kept, with positions along the axis measured from the start of the part."""
        length, section = self.length / count, self._section
        start = number * length
        if isinstance(section, VaryingSection):
            section = section.part(start, start + length)
        lumped = [mass for mass in self.masses if _is_on_part(mass, number, count, length)]
        masses = tuple(replace(mass, x=min(max(mass.x - start, 0.0), length)) for mass in lumped)
        return replace(self, length=length, elements=elements, frame=frame, section=section, masses=masses)

    def element_forces(self, points: BeamPoints) -> ElementForces:
        """Return the section forces in the finite elements of this beam as linear functions of its elastic
        coordinates. ``points`` are the material points, with mesh and basis of these coordinates."""
        return element_forces(points.mesh, points.basis, self._section, self.material)

    def _inertia(self, mesh: BeamMesh) -> BeamInertia:
        return beam_inertia(mesh, self._section, self.material, self.masses, self.rotary_inertia)

    def _coordinates(self, dimension: int, is_sparse: bool = False) -> tuple[BeamMesh, BeamBasis]:
        """Return the finite element mesh of this beam, and the basis that maps all elastic coordinates in its
        frame to mesh coordinates. The basis of a long beam is sparse on request (``is_sparse``). ``dimension`` is
        the number of space dimensions of the model; raise ``ParameterError`` unless it is 2 or 3."""
        mesh = self._mesh(plane_or_space(dimension))
        return mesh, frame_basis(Frame(self.frame), mesh, self._inertia, is_sparse)

    def _mesh(self, dimension: int) -> BeamMesh:
        return BeamMesh(self.length, self.elements, dimension, Theory(self.theory))

    def _checked_columns(self, basis: ReducedBasis, dimension: int) -> Array:
        """Return the columns of a user's reduced basis, shape (n, k). Raise ``ParameterError`` unless n is the
        number of elastic coordinates of this beam. ``dimension`` is the number of space dimensions of the model (2
        or 3)."""
        size = len(self._coordinates(dimension)[1].families)
        if len(basis.array) != size:
            raise ParameterError(
                f"the basis must have {size} rows, the elastic coordinates of {self.elements} elements in "
                f"dimension {dimension}, got {len(basis.array)}"
            )
        return basis.array

    def _in_all_coordinates(self, dimension: int) -> tuple[FloatingBody, BeamBasis]:
        """Return the arrays of this beam in all elastic coordinates of its mesh, without modal damping, and the
        matrix of these coordinates. For a uniform beam without lumped masses, cached arrays of a beam of unit size
        are scaled where this is exact; otherwise they are integrated over the elements. ``dimension`` is the
        number of space dimensions of the model (2 or 3)."""
        section, mesh = self._section, self._mesh(dimension)
        if not self.masses and not isinstance(section, VaryingSection):
            options = Frame(self.frame), Strain(self.strain), self.rotary_inertia
            if (scaled := scaled_arrays(mesh, section, self.material, *options)) is not None:
                return self._body(mesh, scaled[0]), scaled[1]
        mesh, basis = self._coordinates(dimension, is_sparse=self.modes is None and not self.damping_ratio)
        return self._assemble(mesh, basis.columns), basis

    def _assemble(self, mesh: BeamMesh, columns: Matrix) -> FloatingBody:
        """Return this beam as a ``FloatingBody`` (moving frame plus elastic coordinates) without modal damping.
        Its elastic coordinates eta have the mesh coordinates ``columns @ eta``. Mass moments and strain energy are
        integrated over the elements of the ``mesh``."""
        inertia = self._inertia(mesh)
        first, second = beam_moments(mesh, columns, inertia)
        strain = beam_strain(self.element_forces(BeamPoints(mesh, columns)), Strain(self.strain))
        units = coordinate_units(mesh, columns, "1")
        return self._body(mesh, BeamArrays(columns, units, inertia.mass, first, second, strain))

    def _body(self, mesh: BeamMesh, arrays: BeamArrays) -> FloatingBody:
        """Return this beam as a ``FloatingBody`` (moving frame plus elastic coordinates) with the given ``arrays``
        of mass moments, strain energy and units. ``mesh`` is its finite element mesh. Modal damping is zero in the
        result; viscosity and relaxation follow from the material or the sections."""
        return FloatingBody(
            dimension=mesh.dimension,
            mass=arrays.mass,
            first_moments=arrays.first_moments,
            second_moments=arrays.second_moments,
            rotates=True,
            strain=arrays.strain,
            damping=0.0 * arrays.strain.stiffness,
            viscosity=self.viscosity,
            points=BeamPoints(mesh, arrays.columns),
            size=self.length,
            elastic_units=arrays.units,
            relaxation=relative_relaxation(self.material, self._sections),
        )

    def _modal_damping(self, body: FloatingBody, axial: int) -> Matrix:
        """Return the damping matrix C of the user's ``damping_ratio`` of this beam, shape (n, n), from mass and
        stiffness matrix of its arrays ``body``. ``axial`` is the number of leading axial coordinates, whose modes a
        sequence of ratios does not count."""
        return modal_damping(elastic_mass(body), linear_stiffness(body.strain), self.damping_ratio, axial)


SHORT = 32
"""Number of elements of the longest beams whose arrays are cached. Models that are built again share the arrays of
equal beams, since descriptions and arrays never change; the last 64 are stored."""


@lru_cache(CACHED_COUNT)
def _shared(beam: Beam, dimension: int) -> FloatingBody:
    """Return the arrays of a short beam, from a cache of all beams, so that models with equal beams share them;
    the arrays are read-only. ``dimension`` is the number of space dimensions of the model (2 or 3)."""
    body = beam._discretized(dimension)
    for record in (body, body.strain, body.points):
        make_arrays_read_only(record)
    return body


@dataclass(frozen=True)
class SplitBeam:
    """A beam cut into equal parts, each fixed to the end of the one before, as ``Beam.split`` returns it.

    Each part has a body frame of its own, so that elastic displacements need to be small only in the frame of
    their part: the conclusion of Brugnoli et al. (2020) and A. Shabana, *Substructure synthesis methods for
    dynamic analysis of multi-body systems*, Computers & Structures 20, 1985.

    Attributes:
        parts: from start to end, of equal length.
    """

    parts: tuple[Beam, ...]

    @property
    def part(self) -> Beam:
        """First part of this split beam; all other parts differ from it only in varying sections and lumped
        masses."""
        return self.parts[0]

    @property
    def mass(self) -> float:
        """Total mass of all parts of this split beam [kg]."""
        return sum(part.mass for part in self.parts)

    @property
    def count(self) -> int:
        """Number of the equal parts of this split beam."""
        return len(self.parts)

    @property
    def length(self) -> float:
        """Total length of this split beam [m], the number of parts times the length of the first."""
        return self.count * self.part.length

    def memory(self, dimension: int) -> tuple[int, float]:
        """Return the number of finite elements in all parts of this split beam, and the estimated memory [bytes]
        of a simulation with it. The memory is the first part's memory times the number of parts. ``dimension`` is
        the number of space dimensions of the model (2 or 3)."""
        elements, needed = self.part.memory(dimension)
        return self.count * elements, self.count * needed


def _check_masses(masses: object, length: float) -> tuple[LumpedMass, ...]:
    """Return the lumped masses of a beam as a tuple. Raise ``ParameterError`` if ``masses`` is no list or tuple of
    ``LumpedMass``. A mass outside of the beam, 0 <= x <= length [m], raises it too."""
    if not isinstance(masses, list | tuple) or not all(isinstance(each, LumpedMass) for each in masses):
        raise ParameterError(f"masses must be a list of LumpedMass, got {masses!r}")
    for each in masses:
        if not 0 <= each.x <= length:
            raise ParameterError(f"a LumpedMass must lie in 0 <= x <= {length:g} (the length), got {each.x!r}")
    return tuple(masses)


def _is_on_part(mass: LumpedMass, number: int, count: int, length: float) -> bool:
    """Return whether a lumped mass lies on part ``number`` (0, 1, ...) of ``count`` equal parts of a beam, each
    of the given length [m]. A mass at a cut, or beyond it by round-off only, belongs to the part that ends there,
    a mass at x = 0 to the first part."""
    return number == min(max(int(np.ceil(mass.x / length * (1 - ROUND_OFF))) - 1, 0), count - 1)
