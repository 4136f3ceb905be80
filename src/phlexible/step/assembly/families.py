"""Rods, soft bodies and contacts as tables of the kernels (docs/theory.md, 5 and 8)."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.product_elements import ProductElements
from phlexible.bodies.soft_law import (
    Constitution,
    ElementStrains,
    InvariantConstitution,
    Logarithms,
    Proportional,
    Reciprocal,
    ScalarFunction,
    Thinning,
    UserScalar,
    Zero,
)
from phlexible.bodies.soft_mesh import SoftSurface
from phlexible.description.interactions.contact_members import DEEPEST, Member, far_ends
from phlexible.description.interactions.force_elements import CREEP_SPEED
from phlexible.description.interactions.functions import PointOf, Vector
from phlexible.description.interactions.loads import SurfacePressure
from phlexible.description.interactions.rod_element import KEPT, RodElement
from phlexible.description.joints.joints import Fixed, Revolute, Spherical, Universal
from phlexible.description.ports import Attachment
from phlexible.shapes.triangle_tree import TriangleTree
from phlexible.state.branches import contacts_of, stored_pair_count, stored_rotation_count
from phlexible.state.functions import VectorCollector
from phlexible.state.layout import Layout
from phlexible.state.system import System
from phlexible.state.vectors import CarriedVector
from phlexible.step.assembly.bodies import Tables, columns
from phlexible.step.assembly.couplings import Offsets
from phlexible.step.compilation.user_function import UserFunction, user_function
from phlexible.step.tables.declarations import (
    INVARIANTS,
    LOGARITHMS,
    NOTHING,
    OF_USER,
    PROPORTIONAL,
    QUADRATIC,
    RECIPROCAL,
    THINNING,
)

# Strains of rods as tables of the kernels (docs/theory.md, 8).


class RodPoint(NamedTuple):
    """Quadrature point of a rod: the index of its first force law, the floating bodies that are its sections, and
    weights. These are values and derivatives of the shape functions, and the triangular factor of the stiffness.
    """

    force: int
    sections: tuple[int, ...]
    values: Array
    slopes: Array
    weights: Array


class RodTables:
    """Rods of a system whose sections rotate about their centres of mass; other rods are general functions.

    Attributes:
        points: quadrature points of all their elements.
        forces: indices of the forces that are their strains.
    """

    def __init__(self, system: System) -> None:
        self._dimension, self._strains = system.dimension, len(KEPT[system.dimension])
        self.points: list[RodPoint] = []
        found: dict[int, tuple[RodElement, int]] = {}
        for number, (element, _) in enumerate(system.forces):
            if isinstance(element, RodElement) and id(element) not in found:
                found[id(element)] = (element, number)
        for element, first in found.values():
            if not all(_turns_about_its_centre(placed.data) for placed in element.nodes):
                continue
            sections = tuple(system.index[placed] for placed in element.nodes)
            shape, shares = element.shape, element.unit_factors(system.dimension)
            for k, own in enumerate(shares):
                index = first + k * self._strains
                self.points.append(RodPoint(index, sections, shape.values[k], shape.slopes[k], own))
        self.forces = frozenset(point.force + k for point in self.points for k in range(self._strains))

    def __len__(self) -> int:
        return len(self.points)

    def edges(self) -> set[tuple[int, int]]:
        """Return the pairs of floating bodies (cross-sections) that belong to one rod element, the lower index
        first."""
        return {(a, b) for point in self.points for a in point.sections for b in point.sections if a < b}

    def tables(self, offsets: Mapping[tuple[int, int], int]) -> Tables:
        """Return the arrays that describe the quadrature points of all rods to the compiled time step, in a
        dictionary by name. They contain nodes (sections), values and derivatives of shape functions, triangular
        stiffness factors, and offsets of blocks in Newton's matrix. ``offsets`` has the offset for each pair of
        sections."""
        points = self.points
        counts = [len(point.sections) for point in points]
        return {
            "rod_strains": self._strains,
            "rod_nodes": counts,
            "rod_force": [point.force for point in points],
            "rod_pairs": [count**2 for count in counts],
            "rod_node": [point.sections for point in points],
            "rod_block": [offsets[a, b] for point in points for a in point.sections for b in point.sections],
            "rod_value": [point.values for point in points],
            "rod_slope": [point.slopes for point in points],
            "rod_share": [self._factor_blocks(point.weights) for point in points],
        }

    def _factor_blocks(self, weights: Array) -> Array:
        """Return the 3 x 3 blocks L_1, L_2 and L_3 of a rod's triangular stiffness factor L = ((L_1, 0), (L_2,
        L_3)). The shape is (3, 3, 3). The rod's 6 strains are axial strain, two shears, torsion and two bendings.
        ``weights`` is L for those strains that exist in the model's dimension; the others are coupled to none and
        get 1 on the diagonal.

        Strains that do not exist in the plane are coupled to no others.
        """
        kept = np.ix_(KEPT[self._dimension], KEPT[self._dimension])
        whole = np.eye(6)
        whole[kept] = weights
        return np.array([whole[:3, :3], whole[3:, :3], whole[3:, 3:]])


def _turns_about_its_centre(data: object) -> bool:
    return isinstance(data, FloatingBody) and data.rotates and not data.first_moments.any()


# Elements of soft bodies as tables of the kernels (docs/theory.md, 5).

KINDS: dict[type[ScalarFunction], int] = {
    Zero: NOTHING,
    Proportional: PROPORTIONAL,
    Logarithms: LOGARITHMS,
    Reciprocal: RECIPROCAL,
    Thinning: THINNING,
    UserScalar: OF_USER,
}
"""Functions of invariants by the number that the kernels know them by."""

Functions = tuple[tuple[UserFunction, UserFunction], ...]


class SoftTables:
    """Elements of all bodies in absolute coordinates of a system, and their surfaces under pressure.

    Attributes:
        groups: of elements of soft bodies, each with its nodes as carriers.
        products: of elements whose energy is a form of products of nodal vectors, likewise.
        surfaces: under pressure, by the number of the load, each with its nodes as carriers.
        users: compiled functions of users, which have to outlive the tables.
    """

    def __init__(self, system: System) -> None:
        first = system.layout.carrier[system.layout.frames :]
        bodies = list(zip(system.nodal, first.tolist(), strict=False))
        self.groups: list[tuple[ElementStrains, IntArray]] = [
            (group, group.nodes + carrier) for body, carrier in bodies for group in body.elements
        ]
        self.products: list[tuple[ProductElements, IntArray]] = [
            (group, group.nodes + carrier) for body, carrier in bodies for group in body.products
        ]
        self.surfaces: dict[int, tuple[SoftSurface, IntArray]] = {}
        for number, load in enumerate(system.loads):
            if isinstance(load, SurfacePressure):
                carrier = int(system.layout.carrier[system.index[load.attachment.placed]])
                self.surfaces[number] = (load.surface, load.surface.nodes + carrier)
        self._loads = len(system.loads)
        self._functions = [function for group, _ in self.groups for function in _functions(group.law)]
        known: dict[ScalarFunction, tuple[UserFunction, UserFunction]] = {}
        for each in self._functions:
            if isinstance(each, UserScalar) and each not in known:
                known[each] = (user_function(each.function, 2.0), user_function(each.derivative, 2.0))
        self.users = known

    def __len__(self) -> int:
        return len(self.groups) + len(self.products) + len(self.surfaces)

    def edges(self, layout: Layout) -> set[tuple[int, int]]:
        """Return the pairs of block indices of Newton's matrix that soft bodies and shells couple, the lower index
        first. A block is a cluster of nodes; two clusters are coupled if they have an element in common.
        ``layout`` says to which cluster a node belongs."""
        found: list[IntArray] = []
        for _, carriers in (*self.groups, *self.products):
            nodes = layout.cluster[carriers]
            a, b = np.triu_indices(nodes.shape[1], 1)
            pairs = np.sort(np.stack([nodes[:, a].ravel(), nodes[:, b].ravel()], axis=1), axis=1)
            found.append(np.unique(pairs, axis=0))
        return {(a, b) for pairs in found for a, b in pairs.tolist() if a != b}

    def tables(self, offsets: Offsets) -> Tables:
        """Return the arrays that describe soft bodies to the compiled time step, in a dictionary by name. They
        contain finite elements (nodes, quadrature weights, gradients of shape functions), materials, pressure
        surfaces and shell elements. ``offsets`` looks up the offsets of the blocks of all pairs of nodes in
        Newton's matrix."""
        points, weights, gradients, creeps = [], [], [], []
        group, count, nodes, blocks = _element_tables(self.groups, offsets)
        for own, carriers in self.groups:
            e = len(carriers)
            points += [own.weights.shape[1]] * e
            creeps += [own.weights.shape[1] * (len(own.relaxation.pairs) if own.relaxation else 0)] * e
            weights.append(own.weights.ravel())
            gradients.append(own.gradients.reshape(-1, 3))
        laws = [own.law for own, _ in self.groups]
        numbers = [_constants(each) for each in self._functions]
        addresses = [
            (self.users[each][0].address, self.users[each][1].address) if isinstance(each, UserScalar) else (0, 0)
            for each in self._functions
        ]
        return {
            **self._surface_tables(offsets),
            **product_tables(self.products, offsets),
            "soft_law": [INVARIANTS if isinstance(law, InvariantConstitution) else QUADRATIC for law in laws],
            "soft_sheet": [own.is_sheet for own, _ in self.groups],
            "soft_function": [KINDS[type(each)] for each in self._functions],
            "soft_energy": [energy for energy, _ in addresses],
            "soft_derivative": [slope for _, slope in addresses],
            "soft_group": group,
            "soft_nodes": count,
            "soft_points": points,
            "soft_slopes": [k * q for k, q in zip(count, points, strict=True)],
            "soft_creeps": creeps,
            "soft_pairs": [k * k for k in count],
            "soft_node": nodes,
            "soft_block": blocks,
            "soft_lame": [law.lame for law in laws],
            "soft_shear": [law.shear for law in laws],
            "soft_viscosity": [own.viscosity for own, _ in self.groups],
            "soft_first_constant": [a for a, _ in numbers],
            "soft_second_constant": [b for _, b in numbers],
            "soft_weight": weights,
            "soft_gradient": gradients,
        }

    def _surface_tables(self, offsets: Offsets) -> Tables:
        """Return arrays that describe the surfaces of soft bodies under pressure loads to the compiled time step,
        in a dictionary by name. They are the number of faces of each load, the nodes, quadrature points and shape
        functions of each face, and the offsets of blocks for its pairs of nodes. ``offsets`` looks up the blocks
        in Newton's matrix."""
        count = np.zeros(self._loads, dtype=np.int64)
        nodes: list[list[int]] = []
        points: list[int] = []
        starts: list[int] = []
        blocks: list[int] = []
        shapes, numbers = [], 0
        for load, (surface, carriers) in self.surfaces.items():
            own = carriers[surface.faces]
            count[load] = len(own)
            nodes += own.tolist()
            points += [len(surface.shapes)] * len(own)
            starts += [numbers] * len(own)
            shapes.append(surface.shapes.reshape(-1, 3))
            numbers += len(shapes[-1])
            blocks += [offsets[a, b] for face in own.tolist() for a in face for b in face]
        return {
            "faces": count,
            "face_nodes": [len(face) for face in nodes],
            "face_point_count": points,
            "face_shape": starts,
            "face_pairs": [len(face) ** 2 for face in nodes],
            "face_node": nodes,
            "face_block": blocks,
            "face_value": shapes,
        }


def _element_tables(
    groups: Sequence[tuple[Any, IntArray]], offsets: Offsets
) -> tuple[list[int], list[int], list[IntArray], list[IntArray]]:
    """Return four lists for all finite elements, in the order of ``groups``: the group and the number of nodes of
    each element, its node indices, and block offsets. An element with k nodes adds k node indices and, row by row,
    k^2 offsets of blocks in Newton's matrix, looked up in ``offsets``. A group is a pair of data and node indices,
    shape (elements, k)."""
    group, count, nodes, blocks = [], [], [], []
    for number, (_, carriers) in enumerate(groups):
        e, k = carriers.shape
        group += [number] * e
        count += [k] * e
        nodes.append(carriers.ravel())
        rows, columns = np.repeat(carriers, k, axis=1), np.tile(carriers, (1, k))
        blocks.append(offsets.of_carriers(rows.ravel(), columns.ravel()))
    return group, count, nodes, blocks


def product_tables(groups: Sequence[tuple[ProductElements, IntArray]], offsets: Offsets) -> Tables:
    """Return the arrays that describe shell elements, whose strains are scalar products of nodal vectors, to the
    compiled time step. They are in a dictionary by name: node indices, the pairs of vectors that are multiplied,
    stiffness blocks, values without stress, and offsets of blocks in Newton's matrix. Each of ``groups`` has
    elements of one kind with the indices of their nodes; ``offsets`` looks up the offsets for all pairs of nodes of
    an element.
    """
    group, count, nodes, blocks = _element_tables(groups, offsets)
    kinds = [own for own, _ in groups]
    pairs = [own.pairs + (own.position_count > 0) for own in kinds]  # of nodes, the first place has no vector
    products, widths = [len(own.pairs) for own in kinds], [3 * own.nodes.shape[1] for own in kinds]
    return {
        "product_pairs": products,
        "product_blocks": [len(own.blocks) for own in kinds],
        "product_nodes": count,
        "product_couples": [k * k for k in count],
        "product_rests": [products[g] for g in group],
        "product_entries": [kinds[g].stiffness.shape[1] for g in group],
        "product_widest": max((*products, *count), default=0),
        "product_room": max((w * (w + 2 * n) for w, n in zip(widths, products, strict=True)), default=0),
        "product_positions": [own.position_count for own in kinds],
        "product_first": [own[:, 0] for own in pairs],
        "product_second": [own[:, 1] for own in pairs],
        "product_size": [size for own in kinds for size in own.blocks],
        "product_group": group,
        "product_node": nodes,
        "product_block": blocks,
        "product_viscosity": [own.viscosity for own in kinds],
        "product_square": [0.25 for _ in kinds],
        "product_rest": [own.rest.ravel() for own in kinds],
        "product_stiffness": [own.stiffness.ravel() for own in kinds],
    }


def _functions(law: Constitution) -> tuple[ScalarFunction, ...]:
    if isinstance(law, InvariantConstitution):
        return law.first, law.second, law.third
    return Zero(), Zero(), Zero()


def _constants(function: ScalarFunction) -> tuple[float, float]:
    match function:
        case Proportional(a) | Reciprocal(a):
            return a, 0.0
        case Logarithms(a, b) | Thinning(a, b):
            return a, b
        case UserScalar():
            return float(abs(function.derivative(1.0)) + abs(function.derivative(3.0))), 0.0
    return 0.0, 0.0


# Contacts as tables of the kernels (docs/theory.md, 8).

TOUCHING = 8
"""Pairs in Newton's matrix, for each member; what more push are left out there."""
ROOM = 24
"""Pairs that are listed, for each member; beyond that all are looked at."""
SKIN = 0.25
"""How far members may move before pairs are looked for again: a share of the mean radius."""

HOLDING_POINTS = Fixed, Revolute, Spherical, Universal
"""Joints that hold a point of one body at a point of another."""

WIDER = 1.01
"""Of boxes of who may touch a mesh, whose smooth distance is a little less than that of the nearest side."""


class ContactGroupTables:
    """The members of all contacts of a system, whose pairs are searched.

    Args:
        system: whose elements they are.
        collector: numbers the vectors, before it is asked for all of them.
    """

    def __init__(self, system: System, collector: VectorCollector) -> None:
        self._contact_groups = contacts_of(system)
        self._laws = [
            [k for k, (element, _) in enumerate(system.forces) if element is each] for each in self._contact_groups
        ]
        self._members: list[tuple[int, Member]] = [
            (number, member)
            for number, each in enumerate(self._contact_groups)
            for member in each.members(system.dimension)
        ]
        self._ends = [
            tuple(self._number(system, collector, PointOf(port)) for port in (member.start, member.end))
            for _, member in self._members
        ]
        self._axes: list[int] = []
        joined = [(each.first, each.second) for each in system.mechanism.joints if isinstance(each, HOLDING_POINTS)]
        far = far_ends(self._members, joined) if self._members else ()
        self._far = [self._ends[k][end] for k, end in far]
        self._stored_pairs, self._stored_rotations = stored_pair_count(system), stored_rotation_count(system)
        for number, member in self._members:
            rubs = self._contact_groups[number].friction and member.radius
            turns = member.axes is not None or member.is_edge or rubs
            directions = member.directions(system.dimension) if turns else ()
            self._axes += [self._number(system, collector, each) for each in directions] or [-1] * 6

    def _number(self, system: System, collector: VectorCollector, vector: Vector) -> int:
        return collector.add_vector(system.resolver.resolve(vector))

    def __len__(self) -> int:
        return len(self._contact_groups)

    def vectors(self, carried: Sequence[CarriedVector]) -> list[int]:
        """Return the sorted indices of the vectors (points and directions) on bodies that describe surfaces which
        may touch, each once; ``carried`` lists all vectors."""
        own = {k for indices in self._ends for k in indices} | set(self._axes)
        return sorted(k for k in own if k >= 0 and carried[k].carrier >= 0)

    def tables(self, unknowns: int, widest: int) -> Tables:
        """Return the tables of the compiled time step for all contact groups, as arrays by the names of the
        tables. They contain contact shapes (balls, boxes, line segments, ...) with sizes and bodies, and laws of
        contact force and friction. ``unknowns`` counts the rows of Newton's matrix, ``widest`` is the largest
        number of velocities of one body.

        Args:
            unknowns: rows of all nodes.
            widest: largest number of velocities of one carrier.
        """
        owners: dict[object, int] = {}
        members, groups = [member for _, member in self._members], self._contact_groups
        radius = np.array([member.radius for member in members], dtype=np.float64)
        size = np.array([max(member.reach, 0.0) for member in members], dtype=np.float64)
        contact_group = np.array([number for number, _ in self._members], dtype=np.int64)
        skins = []
        for number in range(len(groups)):
            own, sizes = radius[contact_group == number], size[contact_group == number]
            known = own[own > 0] if (own > 0).any() else sizes[sizes > 0]
            skins.append(SKIN * float(known.mean()) if len(known) else SKIN * system_size(members))
        bristles = [each.sticking for each in groups]
        member_laws = list[int]()
        for own, each, count in zip(
            self._laws, groups, np.bincount(contact_group, minlength=len(groups)).tolist(), strict=True
        ):
            touching_ports = len(each.touching_ports) if own else 0
            member_laws += [k * (len(own) // touching_ports) for k in range(touching_ports)]
            member_laws += range(count - touching_ports)
        laws, turns = [each.normal_law() for each in groups], [each.rotational_bristles() for each in groups]
        resisting = [next((bristle for bristle in pair if bristle), None) for pair in turns]
        touching, rotates = TOUCHING * len(members), any(each.resists_rotation for each in groups)
        meshed = np.zeros(len(groups), dtype=bool)
        meshed[[number for number, member in self._members if member.mesh is not None]] = True
        return {
            "near_pairs": ROOM * len(members),
            "near_buckets": 1 << max(2 * len(members), 1).bit_length(),
            "kept_pairs": self._stored_pairs,
            "kept_turns": self._stored_rotations,
            "turning_pairs": touching if rotates else 0,
            "touching_pairs": touching,
            "matrix_pairs": touching * (2 if rotates else 1),
            "pair_unknowns": unknowns if members else 0,
            "pair_widest": widest if members else 0,
            "contact_group_law": [own[0] if own else -1 for own in self._laws],
            "contact_group_laws": [len(own) for own in self._laws],
            "member_law": member_laws,
            "member_contact_group": contact_group,
            "member_side": [member.side for member in members],
            "member_apart": [member.row.least_separation if member.row else 0 for member in members],
            "member_loop": [member.row.loop if member.row else 0 for member in members],
            "member_far": self._far,
            "member_body": [owners.setdefault(member.owner, len(owners)) for member in members],
            **columns(("member_start", "member_end"), self._ends),
            "member_kind": [member.kind.value for member in members],
            "member_axis": self._axes,
            "member_radius": radius,
            "member_hold": np.ones(3 * len(members)),
            "member_around": np.where(meshed[contact_group], WIDER, 1.0) * [member.reach for member in members],
            "member_size": [number for member in members for number in member.size],
            "member_rounding": [member.rounding for member in members],
            "contact_group_skin": skins,
            **mesh_tables(members),
            "contact_group_stiffness": [each.stiffness for each in laws],
            "contact_group_damping": [each.damping for each in laws],
            "contact_group_exponent": [each.exponent for each in laws],
            "contact_group_friction": [each.friction for each in groups],
            "contact_group_bristle": [each.stiffness if each else 0.0 for each in bristles],
            "contact_group_creep": [each.friction_speed or CREEP_SPEED for each in groups],
            "contact_group_bristle_damping": [each.damping if each else 0.0 for each in bristles],
            "contact_group_impact": [each.impact_damping for each in laws],
            "contact_group_slowest": [each.slowest for each in laws],
            "contact_group_rolling": [rolls.lever if rolls else 0.0 for rolls, _ in turns],
            "contact_group_drilling": [drills.lever if drills else 0.0 for _, drills in turns],
            "contact_group_turn_stiffness": [
                bristle.stiffness / each.squared_gyration_radius if bristle else 0.0
                for bristle, each in zip(resisting, groups, strict=True)
            ],
            "contact_group_turn_damping": [
                bristle.damping / each.squared_gyration_radius if bristle else 0.0
                for bristle, each in zip(resisting, groups, strict=True)
            ],
            "contact_group_share": [each.substep_factor for each in laws],
            "contact_group_grip": [each.grip if each else 1.0 for each in bristles],
        }


def mesh_tables(members: Sequence[Member]) -> Tables:
    """Return the arrays of the compiled time step, by name, for the meshed surfaces of contact shapes
    (``members``). They are trees of bounding boxes with triangles, edges and normals; each mesh is stored once.
    ``member_mesh`` is the first box of each contact shape's mesh, -1 without a mesh."""
    known: dict[int, int] = {}
    trees: list[TriangleTree] = []
    starts, boxes = [], 0
    for member in members:
        if member.mesh is None:
            starts.append(-1)
            continue
        if id(member.mesh) not in known:
            known[id(member.mesh)] = boxes
            trees.append(member.mesh)
            boxes += len(member.mesh.low)
        starts.append(known[id(member.mesh)])
    first_box = np.cumsum([0, *(len(each.low) for each in trees)])
    first_triangle = np.cumsum([0, *(len(each.normals) for each in trees)])

    def rows(name: str) -> list[Array]:
        return [getattr(each, name).reshape(-1, 3) for each in trees]

    def integers(name: str, offsets: IntArray | None = None) -> list[IntArray]:
        shifts = [0] * len(trees) if offsets is None else offsets.tolist()
        return [getattr(each, name).reshape(-1) + shift for each, shift in zip(trees, shifts, strict=False)]

    return {
        "member_mesh": starts,
        "mesh_after": integers("after", first_box),
        "mesh_first": integers("first", first_triangle),
        "mesh_count": integers("count"),
        "mesh_edge": integers("edges"),
        "mesh_point": integers("points"),
        "mesh_side": integers("sides"),
        "mesh_low": rows("low"),
        "mesh_high": rows("high"),
        "mesh_normal": rows("normals"),
        "mesh_corner": rows("corners"),
        "mesh_edge_normal": rows("edge_normals"),
        "mesh_corner_normal": rows("corner_normals"),
    }


def system_size(members: Sequence[Member]) -> float:
    """Return a length for contact groups whose contact shapes have no size of their own [m]. It is a fixed
    fraction of the size of the largest body with one of these ``members``, or of 1 m if no body has one."""
    sizes = [m.start.placed.data.size for m in members if isinstance(m.start, Attachment)]
    return DEEPEST * max(sizes, default=1.0)
