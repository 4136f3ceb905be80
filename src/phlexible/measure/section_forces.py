"""Section forces, strains and stress along beams and rods, and stress of meshed bodies, over time.

Section forces of a beam are the stress resultants of the discretization, element by element: normal force and
torque are constant on an element, bending moments linear, so that shear, which balances the slope of the
moment, is constant; with ``theory="timoshenko"`` shear forces and torque are linear, and follow from the shear
strain. They are exact for a beam that is loaded at nodes only; under loads and inertia along the axis they are
most accurate at the points that ``stations`` gives.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, IntArray, reals
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.beam.mesh import BeamMesh, Measure
from phlexible.bodies.beam.points import ROUND_OFF, BeamPoints
from phlexible.bodies.beam.strain import Strain
from phlexible.bodies.flexible.skin import von_mises
from phlexible.bodies.floating_body import FloatingBody
from phlexible.description.interactions.rod_element import KEPT
from phlexible.description.mechanism.wholes import RodInModel
from phlexible.description.placed_wholes import PlacedRod, PlacedWhole, line_parts
from phlexible.description.ports import PlacedBody
from phlexible.display import short_repr
from phlexible.elements.sections import UniformSection, fibre_positions, fibre_stress, greatest_shear, stress_range
from phlexible.errors import ModelError, ParameterError
from phlexible.state.branches import history_variable_forces, weighted_branch_strains
from phlexible.state.recorded_run import RecordedRun

STATIONS = 2  # Gauss points of an element, where moments converge fastest


@dataclass(frozen=True, eq=False)
class SectionResultants:
    """Section force (N, Q_y, Q_z) and moment (M_x, M_y, M_z) on the positive face of cross-sections of a beam, in
    local axes of the section.

    Attributes:
        force: shape (T, s, 3) [N].
        moment: shape (T, s, 3) [N m].
    """

    force: Array
    moment: Array


def stations(mesh: BeamMesh) -> Array:
    """Return the positions along a beam at which its section forces are most accurate: two Gauss points in
    each element, shape (2 elements,) [m]. ``mesh`` is the finite element mesh."""
    return mesh.gauss_points(STATIONS)[0]


def checked_positions(length: float, x: ArrayLike) -> Array:
    """Return the positions ``x`` along a beam, which the user passed, as an array in their order, shape (s,) [m].
    ParameterError is raised if any is outside 0 <= x <= ``length``; round-off beyond the ends is cut off.

    Raises:
        ParameterError: no numbers in one row, or one outside 0 <= x <= length.
    """
    s = np.atleast_1d(reals("x", x, "positions along the beam [m]"))
    slack = ROUND_OFF * length
    if s.ndim != 1 or not s.size or not np.all(np.abs(s - length / 2) <= length / 2 + slack):
        raise ParameterError(f"x must lie in 0 <= x <= {length:g} (the length of the beam), got {x!r}")
    return np.clip(s, 0.0, length)


def section_resultants(
    beam: Beam, data: FloatingBody, x: Array, eta: Array, rates: Array | None, inner: Array | None = None
) -> SectionResultants:
    """Return section forces and moments of a ``beam`` at the positions x (s,) [m] along it, for elastic
    coordinates eta (T, n) at T instants. Shapes are (T, s, 3) [N] and (T, s, 3) [N m]. ``inner`` are the strains
    of Maxwell branches, ``rates`` the rates of ``eta``, for viscous stress. At a node the forces of the element to
    its right are returned. ``data`` are the arrays of the beam.

    Without shear Q_y = -dM_z/dx and Q_z = dM_y/dx.

    Args:
        rates: deta/dt, shape (T, n), for the viscous part of the stress, D tau deps/dt; None: without.
        inner: shares times strains of branches, of coordinates and scalar strains (T, n + s); None: none.
    """
    points = data.points
    assert isinstance(points, BeamPoints), "beams find their points by their mesh"
    mesh = points.mesh
    is_quadratic = beam.strain is Strain.VON_KARMAN
    law = beam.element_forces(points)
    forces = law.forces(x, eta, rates, data.viscosity, is_quadratic, inner)
    if not mesh.has_shear:
        gap = mesh.element_length / 2
        element = mesh.locate_elements(x * (1 + ROUND_OFF))[0].astype(np.float64)
        before = (element + 0.25) * mesh.element_length
        ends = [
            law.forces(position, eta, rates, data.viscosity, is_quadratic, inner)
            for position in (before, before + gap)
        ]
        change = (ends[1] - ends[0]) / gap
        forces[:, :, Measure.SHEAR_Y] = -change[:, :, Measure.BEND_Z]
        forces[:, :, Measure.SHEAR_Z] = change[:, :, Measure.BEND_Y]
    return SectionResultants(forces[:, :, :3], forces[:, :, 3:])


# Strains and section forces of rods over time (docs/theory.md, 8).


def rod_of_run(run: RecordedRun, target: PlacedRod) -> RodInModel:
    """Return the rod in the model of a run for which ``target`` stands: the same object, or the rod of equal name
    and description. ModelError is raised if there is none.

    Raises:
        ModelError: there is none.
    """
    for rod in run.mechanism.rods:
        if rod.handle is target or (rod.handle.name, rod.handle.body) == (target.name, target.body):
            return rod
    names = ", ".join(rod.handle.name for rod in run.mechanism.rods) or "none"
    raise ModelError(f"body: {target.name!r} is not a rod of this model; it has: {names}")


def strain_positions(rod: RodInModel) -> Array:
    """Return the positions of the quadrature points of all elements along a rod, shape (points,) [m]."""
    return np.concatenate([element.shape.positions for element in rod.elements])


def rod_forces(run: RecordedRun, rod: RodInModel) -> Array:
    """Return normal force, two shear forces [N], torsion and two bending moments [N m] of a rod at its quadrature
    points, shape (instants, points, 6). They are stiffness times strain beyond the stress-free strain, plus
    viscous and viscoelastic parts. The normal force is positive in tension. Components that a planar model does
    not have are zero."""
    dimension = run.system.dimension
    kept = list(KEPT[dimension])
    rows = [row for each in rod.elements for point in each.functions(dimension) for row in point]
    functions = run.system.functions(rows)
    strains = functions.values(run.instants).reshape(run.count, -1, len(kept))
    natural = np.concatenate([element.rest_strains for element in rod.elements])
    stiffness = np.concatenate([element.stiffness for element in rod.elements])[
        np.ix_(range(len(natural)), kept, kept)
    ]
    strains = strains - natural[:, kept]
    if rod.handle.body.viscosity:
        rates = functions.rates(run.instants, run.velocities).reshape(strains.shape)
        strains = strains + rod.handle.body.viscosity * rates
    forces = np.zeros((run.count, len(natural), 6), dtype=strains.dtype)
    forces[:, :, kept] = np.einsum("gij,tgj->tgi", stiffness, strains)
    if rod.handle.body.relaxation:
        pulls = -history_variable_forces(run.system, run.recording.branches)
        own = {id(element) for element in rod.elements}
        positions = [k for k, (element, _) in enumerate(run.system.forces) if id(element) in own]
        along = pulls[:, positions].reshape(strains.shape)
        shares = np.array([share for each in rod.elements for share in each.unit_factors(dimension)])
        measures = np.concatenate([each.shape.measures for each in rod.elements])
        forces[:, :, kept] += np.einsum("gij,tgj->tgi", shares / measures[:, None, None], along)
    return forces


def interpolated_along(positions: Array, values: Array, x: Array) -> Array:
    """Return values along a rod, shape (instants, points, 6), interpolated linearly from the ``positions`` of the
    points to the positions ``x`` [m]. Beyond the end points they are extrapolated; with one point they are
    constant."""
    if len(positions) == 1:
        return np.repeat(values, len(x), axis=1)
    left = np.clip(np.searchsorted(positions, x) - 1, 0, len(positions) - 2)
    share = ((x - positions[left]) / (positions[left + 1] - positions[left]))[:, None]
    return np.asarray((1 - share) * values[:, left] + share * values[:, left + 1])


# Section forces and stress along a beam over time.

INSIDE = 1e-9  # of an element: how far from its ends its forces are drawn


@dataclass(frozen=True, eq=False)
class SectionForces:
    """Section forces and moments of a beam or rod over time at stations along it. They are what the part beyond a
    cut exerts on its positive face (normal +x).

    In the local axes of the section, which turn with its slopes. In the plane ``shear_z``, ``torsion``
    and ``moment_y`` are zero.

    Attributes:
        time: shape (T,) [s].
        x: stations along the undeformed axis, shape (s,) [m].
        normal: N, positive in tension, shape (T, s) [N].
        shear_y: Q_y, along +y, shape (T, s) [N].
        shear_z: Q_z, along +z, shape (T, s) [N].
        torsion: M_x, about +x, shape (T, s) [N m].
        moment_y: M_y, about +y, shape (T, s) [N m].
        moment_z: M_z, about +z, shape (T, s) [N m].
    """

    time: Array
    x: Array
    normal: Array
    shear_y: Array
    shear_z: Array
    torsion: Array
    moment_y: Array
    moment_z: Array

    __repr__ = short_repr


@dataclass(frozen=True, eq=False)
class BeamStress:
    """Stress in the cross-sections of a beam or rod over time at stations along it: normal stress, positive in
    tension, and shear stress.

    Attributes:
        time: instants, shape (T,) [s].
        x: stations along the undeformed axis, shape (s,) [m].
        greatest: greatest normal stress over the section, or over the given fibres, shape (T, s) [Pa].
        smallest: smallest normal stress over the same, shape (T, s) [Pa].
        shear: greatest shear stress of shear forces and torsion, added as if at one place (exact in a circle, else
            an upper bound), shape (T, s) [Pa]; not a number where a ``Section`` has no outline.
    """

    time: Array
    x: Array
    greatest: Array
    smallest: Array
    shear: Array

    __repr__ = short_repr


def section_forces(run: RecordedRun, target: PlacedBody | PlacedWhole, x: ArrayLike | None = None) -> SectionForces:
    """Return the section forces [N] and moments [N m] of a beam or rod (``target``) at the positions ``x`` along
    it [m]. Each has the shape (instants, positions), in the order of ``x``, for all instants of a run. With ``x``
    None they are at two Gauss points of each element, or at the quadrature points of a rod. Viscous and
    viscoelastic parts are included."""
    if isinstance(target, PlacedRod):
        return _forces_of_rod(run, target, x)
    columns, positions, results = [], [], []
    for index, begin, own, at in stations_of_parts(run, target, x):
        placed = run.system.bodies[index]
        assert isinstance(placed.resolved, Beam) and isinstance(placed.data, FloatingBody)
        rates = run.spin(index)[1] if placed.data.viscosity else None
        branches = run.recording.branches
        inner = weighted_branch_strains(run.system, index, branches)[0] if placed.data.relaxation else None
        results.append(section_resultants(placed.resolved, placed.data, at, run.elastic(index), rates, inner))
        columns.append(own)
        positions.append(begin + at)
    as_asked = np.argsort(np.concatenate(columns))
    forces = np.concatenate([result.force for result in results], axis=1)[:, as_asked]
    moments = np.concatenate([result.moment for result in results], axis=1)[:, as_asked]
    at = np.concatenate(positions)[as_asked]
    return SectionForces(run.recording.time, at, *np.moveaxis(forces, 2, 0), *np.moveaxis(moments, 2, 0))


def _forces_of_rod(run: RecordedRun, target: PlacedRod, x: ArrayLike | None) -> SectionForces:
    rod = rod_of_run(run, target)
    positions, forces = strain_positions(rod), rod_forces(run, rod)
    if x is not None:
        at = checked_positions(target.length, x)
        positions, forces = at, interpolated_along(positions, forces, at)
    return SectionForces(run.recording.time, positions, *np.moveaxis(forces, 2, 0))


def stress(
    run: RecordedRun,
    target: PlacedBody | PlacedWhole,
    x: ArrayLike | None = None,
    fibres: ArrayLike | None = None,
) -> BeamStress:
    """Return the largest and smallest normal stress and the largest shear stress in sections of a beam or rod
    (``target``) in a run. Their shape is (instants, positions) [Pa]. They follow from the section forces at the
    positions ``x`` [m]. Normal stress is evaluated at the points ``fibres`` (y, z) of the section, or (None) over
    the whole section."""
    forces = section_forces(run, target, x)
    positions = None if fibres is None else fibre_positions(fibres)
    greatest, smallest, shear = (np.empty_like(forces.normal) for _ in range(3))
    for k, section in enumerate(sections(run, target, forces.x)):
        parts = (section, forces.normal[:, k], forces.moment_y[:, k], forces.moment_z[:, k])
        if positions is None:
            greatest[:, k], smallest[:, k] = stress_range(*parts)
        else:
            each = fibre_stress(*parts, *positions)
            greatest[:, k], smallest[:, k] = each.max(axis=-1), each.min(axis=-1)
        shear[:, k] = greatest_shear(section, forces.shear_y[:, k], forces.shear_z[:, k], forces.torsion[:, k])
    return BeamStress(forces.time, forces.x, greatest, smallest, shear)


def sections(run: RecordedRun, target: PlacedBody | PlacedWhole, x: Array) -> list[UniformSection]:
    """Return the cross-section of a beam or rod (``target``) of a run at each of the positions ``x``, shape (s,)
    [m], along its whole length. For a beam split into several bodies, the body at each position is used."""
    if isinstance(target, PlacedRod):
        return target.body.sections_at(x)
    parts = _beam_parts(run, target)
    found = []
    for position in x.tolist():
        index, begin = [each for each in parts if each[1] <= position * (1 + ROUND_OFF)][-1]
        beam = run.system.bodies[index].body
        assert isinstance(beam, Beam)
        found += beam.sections_at(np.array([position - begin]))
    return found


def element_ends(run: RecordedRun, target: PlacedBody | PlacedWhole) -> Array:
    """Return positions along a beam (``target``) just inside both ends of each element, in ascending order, shape
    (2 elements,) [m]. Section forces are drawn there, since they jump between elements. For a rod they are its
    quadrature points."""
    if isinstance(target, PlacedRod):
        return strain_positions(rod_of_run(run, target))
    ends = []
    for index, begin in _beam_parts(run, target):
        mesh = _mesh(run.system.bodies[index])
        left = np.arange(mesh.elements)[:, None]
        ends.append(begin + mesh.element_length * (left + [INSIDE, 1 - INSIDE]).ravel())
    return np.concatenate(ends)


def _beam_parts(run: RecordedRun, target: PlacedBody | PlacedWhole) -> list[tuple[int, float]]:
    """Return the beam bodies of a run that ``target`` consists of, from start to end. Each is a pair: index of the
    body, and position along the whole beam at which it begins [m]. A beam added in one piece gives one pair with
    0. ModelError is raised for bodies that are no beams and for other objects."""
    if not isinstance(target, PlacedBody | PlacedWhole):
        raise ModelError(f"body must be a beam that model.add returned, got {target!r}")
    parts = [(run.body_index(placed), begin) for placed, begin in line_parts(target)]
    for index, _ in parts:
        placed = run.system.bodies[index]
        if not isinstance(placed.body, Beam):
            raise ModelError(
                f"body must be a Beam to have section forces, got {placed.name}, a {type(placed.body).__name__}"
            )
    return parts


def _mesh(placed: PlacedBody) -> BeamMesh:
    points = placed.data.points
    assert isinstance(points, BeamPoints), "beams find their points by their mesh"
    return points.mesh


def stations_of_parts(
    run: RecordedRun, target: PlacedBody | PlacedWhole, x: ArrayLike | None
) -> Iterator[tuple[int, float, IntArray, Array]]:
    """Yield, for each body of a beam in a run, the positions on it at which section forces are computed. An item
    has the index of the body, its begin along the whole beam ``target`` [m], the indices of its positions among
    all, and the positions from its own start [m]. The positions are ``x`` [m], or with None two Gauss points of
    each element. Bodies without positions are skipped."""
    parts = _beam_parts(run, target)
    if x is None:
        count = 0
        for index, begin in parts:
            local = stations(_mesh(run.system.bodies[index]))
            yield index, begin, np.arange(count, count + len(local)), local
            count += len(local)
        return
    length = _mesh(run.system.bodies[parts[0][0]]).length
    positions = checked_positions(length * len(parts), x)
    owner = np.clip((positions / length * (1 + ROUND_OFF)).astype(np.int64), 0, len(parts) - 1)
    for number, (index, begin) in enumerate(parts):
        own = np.flatnonzero(owner == number)
        if len(own):
            yield index, begin, own, np.clip(positions[own] - begin, 0.0, length)


# Stress of meshed bodies over time.


@dataclass(frozen=True, eq=False)
class MeshStress:
    """Stress at k nodes of a mesh at all instants; at each node the mean over the adjacent elements.

    Attributes:
        time: instants, shape (T,) [s].
        positions: positions of the nodes in the undeformed body, shape (k, 3) [m].
        components: stress components xx, yy, zz, yz, xz, xy in body axes, shape (T, k, 6) [Pa].
    """

    time: Array
    positions: Array
    components: Array

    @property
    def von_mises(self) -> Array:
        """Von Mises equivalent stress at the nodes of a mesh at all instants, shape (instants, nodes) [Pa]."""
        return von_mises(self.components)


def mesh_stress(
    run: RecordedRun, target: PlacedBody, nodes: Sequence[int] | None = None, every: int = 1
) -> MeshStress:
    """Return the stress at ``nodes`` of a meshed body (``target``) at every ``every``-th recorded instant of a
    run. With ``nodes`` None the surface nodes are used. The result has T times, positions (k, 3) [m] in body axes,
    and the components xx, yy, zz, yz, xz, xy (T, k, 6) [Pa] at k nodes. ModelError is raised for bodies without
    stress."""
    field = target.body.stress_field() if isinstance(target, PlacedBody) else None
    if field is None:
        raise ModelError(
            "body must be a Shell in the model, a Plate, or a FlexibleBody.from_mesh of solid or plane"
            f" cells (one that a Shell was reduced to has no stress), got {target!r}"
        )
    instants = slice(None, None, every)
    chosen = field.surface if nodes is None else _checked(nodes, len(field.positions))
    found = field.components(run.elastic(run.body_index(target))[instants], chosen)
    return MeshStress(run.recording.time[instants], field.positions[chosen], found)


def _checked(nodes: Sequence[int], count: int) -> IntArray:
    try:
        numbers = np.asarray(nodes)
    except ValueError:  # lists of several lengths
        numbers = np.zeros((0, 0))
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not len(numbers):
        raise ParameterError(f"nodes must be numbers of nodes of body.points.nodes, got {nodes!r}")
    if len(np.unique(numbers)) < len(numbers):
        raise ParameterError(f"nodes must differ from each other, got {nodes!r}")
    if numbers.min() < 0 or numbers.max() >= count:
        raise ParameterError(f"nodes must be 0 to {count - 1}, got {numbers.min()} to {numbers.max()}")
    return numbers.astype(np.int64)
