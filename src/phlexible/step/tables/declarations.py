"""Declarations of everything that the kernels read and write: name, kind, size, unit, writer, meaning."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

# What a table of the kernels is: name, kind, size, unit, writer, meaning.


class Kind(Enum):
    """Kind of an entry of a table; COUNT is a single number without a table."""

    COUNT = "count"
    INTEGER = "integer"
    REAL = "number"
    VECTOR = "3 numbers"
    MATRIX = "3 x 3 numbers"


class Writer(Enum):
    """Part of the program that writes a table, and when."""

    SYSTEM = "once, from the model"
    CLOCK = "before each step: functions of time"
    STEP = "in each step"
    STATE = "at the end of each step; stored"
    GUESS = "at the end of each step, for the initial guess of the next one"
    VIEW = "none: other tables, one after the other, as one"


@dataclass(frozen=True)
class Table:
    """Declaration of one table of the kernels.

    Attributes:
        name: of the table in the kernels.
        kind: of its entries.
        size: number of entries: a count such as "rows", a multiple such as "2 rows", a sum such as "rows + 1". That
            of a count is "1", or the count of its owners: the count is then that of a ragged list (``owner``).
        writer: who writes it.
        unit: SI, where entries have one unit.
        meaning: what an entry is.
    """

    name: str
    kind: Kind
    size: str
    writer: Writer
    unit: str
    meaning: str

    def entries(self, counts: Mapping[str, int]) -> int:
        """Return the number of entries of this table of the compiled time step, for the given counts of a
        mechanism (bodies, forces, ...) by name."""
        factor, name, more = self.sized_by
        return factor * counts[name] + more

    @cached_property
    def sized_by(self) -> tuple[int, str, int]:
        """Return what the number of entries of this table is computed from: a factor, the name of a count of the
        mechanism and a summand. The number is factor * count + summand."""
        size, _, more = self.size.partition(" + ")
        *factor, name = size.split()
        return int(factor[0]) if factor else 1, name, int(more or 0)

    @property
    def owner(self) -> str:
        """Return the name of the count of owners if this table is the count of a ragged list; empty for any other
        table. In a ragged list each owner has some consecutive entries.

        A ragged list needs no offsets written by hand. Assembly gives the lengths for all owners by its name, say
        ``parts`` of ``bodies``; kernels read ``t.parts_begin[b]``, ``t.parts_end[b]``, ``t.parts_count[b]``.
        """
        return self.size if self.kind is Kind.COUNT and self.size != "1" else ""


def parse_tables(text: str) -> tuple[Table, ...]:
    """Return the tables that a text declares, one a line with columns for name, size, unit and meaning. Headings
    such as ``STEP VECTOR`` say who writes the tables below them, and their kind.

    Args:
        text: name, size, unit and meaning of each.
    """
    found, writer, kind = list[Table](), Writer.SYSTEM, Kind.COUNT
    for line in text.strip().splitlines():
        parts = [part.strip() for part in line.split("|")]
        if len(parts) == 1:
            writer, kind = Writer[line.split()[0]], Kind[line.split()[1]]
            continue
        name, size, unit, meaning = parts
        found.append(Table(name, kind, size, writer, unit, meaning))
        if found[-1].owner:
            found.append(Table(f"{name}_begin", Kind.INTEGER, f"{size} + 1", writer, "", "of each owner; the end"))
    return tuple(found)


# Tables of contacts: spheres and pieces of lines, and which of them are near (docs/theory.md, 8).

CONTACT_GROUP_TABLES = parse_tables(
    """
    SYSTEM COUNT
    contact_groups | 1 | | contacts, each with one law
    members        | 1 | | spheres and pieces of lines of all of them
    near_pairs     | 1 | | most pairs that are listed
    near_buckets   | 1 | | of cells, a power of two
    kept_pairs     | 1 | | most bristles of pairs that are kept
    kept_turns     | 1 | | the same, where pairs resist turns or remember how fast they met; else 0
    mesh_boxes     | 1 | | of all meshes, boxes that hold each other
    mesh_triangles | 1 | | in them
    touching_pairs | 1 | | most pairs that have a place in Newton's matrix
    turning_pairs  | 1 | | the same, where pairs resist turns; else 0
    matrix_pairs   | 1 | | both together: ways and turns have a place each
    pair_unknowns  | 1 | | rows of all nodes, where there are members
    pair_widest    | 1 | | velocities of one carrier, the most of any, where there are members
    SYSTEM INTEGER
    contact_group_law    | contact_groups | | first law of a contact of two, a normal force each; -1: of many
    contact_group_laws   | contact_groups | | how many; 0: of many
    member_contact_group | members | |
    member_law           | members | | which law a pair has: the sum over both members
    member_side          | members | | 1: meets those of side 2, 2: those of side 1, 3: all
    member_body          | members | | members of one body do not meet
    member_start         | members | | vector
    member_end           | members | | vector; of a sphere the same
    member_kind          | members | | ROUND .. MESH
    member_axis          | 6 members | | directions of its body at start and end, of a solid its axes; -1: none
    member_apart         | members | | pieces of a line nearer along it do not meet; 0: none of one body
    member_loop          | members | | pieces of a line that closes; 0: it does not
    member_far           | 2 members | | vectors of the far ends of the pieces before and after it, or its own ends
    member_mesh          | members | | first of its boxes; -1: no mesh
    mesh_after           | mesh_boxes | | next box that is not in this one
    mesh_first           | mesh_boxes | | triangle of a smallest box
    mesh_count           | mesh_boxes | | triangles of a smallest box; 0: of another
    mesh_edge            | 3 mesh_triangles | | numbers of edges, the same of both sides
    mesh_point           | 3 mesh_triangles | | numbers of corners
    mesh_side            | mesh_triangles | | number of a flat side of several triangles; -1: of one
    SYSTEM VECTOR
    mesh_low             | mesh_boxes | m | corners of boxes, in the axes of the solid
    mesh_high            | mesh_boxes | m |
    mesh_normal          | mesh_triangles | | outward, of length one
    mesh_corner          | 3 mesh_triangles | m |
    mesh_edge_normal     | 3 mesh_triangles | | of the edge that begins at a corner: both sides together
    mesh_corner_normal   | 3 mesh_triangles | | all sides together
    SYSTEM REAL
    member_radius           | members | m |
    member_hold             | 3 members | | share of the bristles that slide, roll and drill; 1 but at rest
    member_around           | members | m | of a ball around each place of its axis that holds it; -1: none does
    member_size             | 3 members | m | of a solid; of a mesh its diagonal; of a piece: ``Member``
    member_rounding         | members | m | of a solid: smallest radius of its surface, of edges 0
    contact_group_skin      | contact_groups | m | members may move by it before pairs are looked for again
    contact_group_stiffness | contact_groups | | N/m, or N/m^1.5
    contact_group_damping   | contact_groups | | after Hunt and Crossley
    contact_group_exponent  | contact_groups | | 1 or 1.5
    contact_group_friction  | contact_groups | | coefficient; 0: none
    contact_group_bristle   | contact_groups | N/m | stiffness; 0: friction creeps
    contact_group_creep     | contact_groups | m/s | speed below which friction without a bristle falls
    contact_group_bristle_damping | contact_groups | N s/m |
    contact_group_impact    | contact_groups | | damping times the speed of the impact (8.47); 0: without
    contact_group_slowest   | contact_groups | m/s | slower impacts are damped as those
    contact_group_rolling   | contact_groups | m | lever of the normal force that resists it; 0: nothing does
    contact_group_drilling  | contact_groups | m |
    contact_group_turn_stiffness | contact_groups | N/m | of bristles that resist turns, times 0.4 r^2
    contact_group_turn_damping   | contact_groups | N s/m |
    contact_group_share     | contact_groups | | of omega^2 that asks for parts of steps
    contact_group_grip      | contact_groups | | its limit while it sticks, over that while it slips
    STEP INTEGER
    near_known        | one | | 1: pairs have been looked for
    near_count        | one | | how many are listed; -1: more than there is room for, all are looked at
    near_first        | near_pairs | | member, the lower number
    near_second       | near_pairs | |
    near_found        | 2 near_pairs | | pairs in the order in which they were found
    near_start        | members | | of the first pair of a member; its bucket
    near_order        | members | | members by their buckets
    near_cell         | 3 members | | where each is
    near_bucket       | near_buckets | | first of its members
    near_listed       | one | | members in cells
    pair_cursor       | 2 one | | bristles of the last step that were met, and of this step that are kept
    met_count         | one | | pairs that push at either end of the step
    met_first         | near_pairs | |
    met_second        | near_pairs | |
    side_found        | 256 one | | flat sides that are nearly as near as the nearest part of a mesh
    touch_count       | one | | pairs that push in the step, as many as there is room for
    touch_first       | touching_pairs | | member
    touch_second      | touching_pairs | |
    held_count        | one | | pairs in Newton's matrix
    held_across       | one | | how many of them couple what its blocks do not
    held_couples      | matrix_pairs + 1 | | 1: one of these; a place more for pairs without one
    held_ends         | matrix_pairs + 1 | | ends that move of both members, four at most
    held_carrier      | 4 matrix_pairs + 4 | | of each of them
    held_vector       | 16 matrix_pairs + 16 | | point and directions that move each end; -1: none
    end_is_known      | 2 members | | 1: of a member, whose ``end_dual`` and ``end_turn`` are those of the step
    turning_end       | 2 members | | which these are
    turning_ends      | one | | how many
    STEP VECTOR
    near_low          | members | m | corners of boxes in which the axes may move, pairs known
    near_high         | members | m |
    side_away         | 256 one | m | from their nearest places
    touch_normal      | touching_pairs | | from the second to the first
    touch_slip        | touching_pairs | | e (8.42); zero of what sticks
    touch_level       | touching_pairs | N/m | how friction grows with the depth
    touch_arm         | 2 touching_pairs + 2 | m | from both members to where they touch; one pair more
    held_lever        | 12 matrix_pairs + 12 | m | of each end: what a force there is for each turn of its carrier
    held_motion       | 12 matrix_pairs + 12 | m s | how these turns move it
    held_moved        | 4 matrix_pairs | | how each end moves
    end_dual          | 6 members | | dual to the directions at both ends of members
    pair_lever        | pair_widest | | how a force at a place enters the balance of its carrier
    pair_motion       | pair_widest | | and how its velocities move it
    STEP REAL
    contact_group_work | 2 one | J | that contacts store in the step, and the sum of its sizes
    contact_group_loss | one | J | that they lose
    contact_group_row  | widest | | how a normal force enters the balance of a carrier
    pair_bristle_end   | 4 kept_pairs | | ``pair_bristle`` at the end of the step
    met_mobility       | near_pairs | 1/kg | g M^-1 g^T of both members
    met_change         | near_pairs | m | how much deeper they are at the end of the step
    met_ahead          | near_pairs | m | the same by the speeds at its start
    met_bend           | 3 near_pairs | m, rad | how far bristles are bent in it: that slide, roll, drill
    pair_bend          | 3 kept_pairs | m, rad | the same of pairs that are kept
    pair_met           | one | m/s | how fast the pair in hand met
    pair_turn_end      | 6 kept_turns | | ``pair_turn`` at the end of the step
    touch_share        | 2 touching_pairs | | where along both axes they touch
    touch_stiffness    | 3 touching_pairs | N/m | dN/dx, and a and b (8.44)
    held_weight        | 4 matrix_pairs + 4 | | of the point of each end, below 0 of the second member; 0 of turns
    pair_basis         | 13 pair_unknowns | | orthogonal velocities (``pairs_in_matrix.py``)
    pair_image         | 13 pair_unknowns | | what pairs make of each
    pair_products      | 208 one | | of these with each other, and their least squares
    pair_half_step     | one | s | half of the step in Newton's matrix
    pair_left          | one | | of the last update, what the iteration left of it
    STEP MATRIX
    end_turn           | 2 members | | what an arm from an end is multiplied by to turn in the step
    end_moment         | 2 members | N m | sum of forces times their arms, f r^T
    touch_twist        | turning_pairs | N m | couple on the first member against its turn
    held_part          | 16 matrix_pairs + 16 | | what each vector of ``held_vector`` is multiplied by
    held_slope         | matrix_pairs + 1 | N s/m | force on the first member against its way, times the step
    """
)


# Tables of rods: quadrature points of their elements, shape functions, stresses (docs/theory.md, 8).

ROD_TABLES = parse_tables(
    """
    SYSTEM COUNT
    rod_points      | 1 | | quadrature points of rods
    rod_strains     | 1 | | of each
    rod_nodes       | rod_points | | sections of all these points
    rod_pairs       | rod_points | | pairs of sections of all these points
    SYSTEM INTEGER
    rod_force         | rod_points | | force of its first strain
    rod_node          | rod_nodes | | frame
    rod_block         | rod_pairs | | block (section, other section)
    SYSTEM REAL
    rod_value         | rod_nodes | | N_k
    rod_slope         | rod_nodes | 1/m | S_k = dN_k/ds
    SYSTEM MATRIX
    rod_share | 3 rod_points | | L_1, L_2, L_3
    STEP REAL
    rod_stress        | 6 rod_points | | F of the laws; zero where there is none
    rod_stiffness     | 6 rod_points | | dF/dtheta_{n+1}
    STEP VECTOR
    rod_along0        | rod_points | | X' at the start of the step
    rod_change        | rod_points | | its change
    rod_pull          | 2 rod_points | N, N m | L F: along Gamma, along K
    STEP MATRIX
    rod_directors0    | 2 rod_points | | D and D' at the start of the step
    rod_turn          | 2 rod_points | | their changes
    rod_left          | 9 one | | gradients of the strains of one point
    """
)


# Tables of soft bodies: elements, their laws, surfaces under pressure (docs/theory.md, 5).

SOFT_TABLES = parse_tables(
    """
    SYSTEM COUNT
    soft_groups     | 1 | | groups of elements of soft bodies with one law
    soft_functions  | 1 | | of invariants, three a group
    soft_elements   | 1 | | of all soft bodies
    soft_nodes      | soft_elements | | of all elements
    soft_points     | soft_elements | | quadrature points of all elements
    soft_slopes     | soft_elements | | shape functions at quadrature points of all elements
    soft_pairs      | soft_elements | | pairs of nodes of all elements
    faces           | loads | | of surfaces under pressure
    face_nodes      | faces | | of all faces
    face_pairs      | faces | | pairs of nodes of all faces
    face_values    | 1 | | shape functions at quadrature points of all kinds of faces
    soft_branches   | soft_groups | | of spring and dashpot, of all groups of elements
    soft_creeps     | soft_elements | | branches at quadrature points of all elements
    SYSTEM INTEGER
    soft_law          | soft_groups | | QUADRATIC or INVARIANTS
    soft_sheet        | soft_groups | | 1: a sheet, C_33 = 1
    soft_function     | soft_functions | | of tr C, tr cof C, det C: NOTHING .. OF_USER
    soft_energy       | soft_functions | | address of a user's function
    soft_derivative   | soft_functions | | address of its derivative
    soft_group        | soft_elements | |
    soft_branch_fading | soft_branches | | its relaxation time
    soft_node         | soft_nodes | | carrier
    soft_block        | soft_pairs | | block (node, other node)
    face_point_count  | faces | | quadrature points
    face_shape        | faces | | first shape function at its first point
    face_node         | face_nodes | | carrier
    face_block        | face_pairs | | block (node, other node)
    SYSTEM REAL
    soft_lame         | soft_groups | Pa | of small strains
    soft_shear        | soft_groups | Pa |
    soft_viscosity    | soft_groups | s | tau
    soft_branch_share | soft_branches | | of the elasticity of small strains
    soft_first_constant | soft_functions | Pa | of the function
    soft_second_constant | soft_functions | Pa |
    soft_weight       | soft_points | m3 | undeformed volume
    SYSTEM VECTOR
    soft_gradient     | soft_slopes | 1/m | of a shape function, undeformed axes
    face_value       | face_values | | weight times N, N,1 and N,2 along reference coordinates
    STEP REAL
    soft_tangent      | 36 one | Pa | dS/dE of one point, column by column
    point_tangent     | 36 soft_points | Pa | its symmetric part at all points, for conjugate gradients
    STEP VECTOR
    cg_solution       | carriers | m/s | change of the velocities
    cg_position          | carriers | m | places at the start of the step
    point_stress      | 2 soft_points | Pa | mean S of the step, normal and shear
    cg_residual       | carriers | N s | what conjugate gradients have left of the right side
    cg_direction      | carriers | m/s | the residual times the inverses of the nodes
    STEP MATRIX
    node_inverse      | carriers | 1/kg | of a node's own block, without the directions that joints hold
    node_free         | carriers | | takes these directions out
    """
)


# Tables of elements whose energy is a form of products of nodal vectors (docs/theory.md, 5).

PRODUCT_TABLES = parse_tables(
    """
    SYSTEM COUNT
    product_groups   | 1 | | groups of elements with the same products
    product_pairs    | product_groups | | products of two vectors, of one element of each group
    product_blocks   | product_groups | | diagonal blocks of H, of one element of each group
    product_elements | 1 | | of all bodies
    product_nodes    | product_elements | | of all elements
    product_couples  | product_elements | | pairs of nodes of all elements
    product_rests    | product_elements | | products of all elements
    product_entries  | product_elements | | numbers of H of all elements
    product_widest   | 1 | | nodes or products of one element, the most of any
    product_room     | 1 | | numbers of the matrices of one element, the most of any
    SYSTEM INTEGER
    product_positions   | product_groups | | how many of the first nodes are places
    product_first    | product_pairs | | node of the element whose vector is the first factor
    product_second   | product_pairs | |
    product_size     | product_blocks | |
    product_group    | product_elements | |
    product_node     | product_nodes | | carrier
    product_block    | product_couples | | block (node, other node)
    SYSTEM REAL
    product_viscosity | product_groups | s | tau
    product_square    | product_groups | | of changes, in strains: 1/4, means over the step; 0, of its middle
    product_rest      | product_rests | | p0
    product_stiffness | product_entries | | blocks of H, row by row
    STEP REAL
    product_stress | product_rests | | mean H (p - p0) of the step, with damping
    product_here   | product_rests | | the same where an update of Newton's method starts
    product_carried | product_rests | | the same, carried along linearly with updates
    product_trial  | product_rests | | the same after the update that is tried
    carries_stress | one | | 1: Newton's matrix takes carried stresses
    product_step   | product_widest | | of one element: change of p in the step
    product_strain | product_widest | | p - p0
    product_matrix | product_room | | derivatives of the forces, of the stresses, of the products
    STEP VECTOR
    product_mean   | product_widest | m | of one element: vectors of its nodes, mean of the step
    product_change | product_widest | m | their changes
    product_force  | product_widest | N | on them
    product_update | product_widest | m | their updates at the end of the step
    factored_shift | carriers | m | h mean(V) where Newton's matrix was factored
    """
)


# Tables of joints that slide along lines, which are cubic in each piece (docs/theory.md, 8).

SLIDING_TABLES = parse_tables(
    """
    SYSTEM COUNT
    slides           | 1 | | lines along which joints slide
    slide_pieces     | slides | | of all lines
    SYSTEM INTEGER
    slide_of         | forces | | line along which its coordinate is, or -1
    slide_guide      | slides | | force whose coordinate is the position along it
    slide_first      | slide_pieces | | first of the four vectors of a piece
    SYSTEM REAL
    slide_length     | slides | m | of a piece, undeformed
    slide_coefficient | 16 slide_pieces | | of 1, u, u^2, u^3 of the weights of these vectors
    STEP INTEGER
    slide_low        | slides | | first piece that acts in the step
    slide_high       | slides | | the last one
    acting_first     | forces | | first function that acts in the step, where not all do
    acting_count     | forces | | how many
    STEP REAL
    slide_start      | slides | m | position at the start of the step
    slide_weight     | 32 one | | of up to eight vectors: mean, quotient, derivative of that, at the end
    slide_slope      | 8 one | 1/m | of the same, at the end
    STEP VECTOR
    slide_along      | slides | | derivative by the position at the start of the step, as the functions
    """
)


# Offsets, sizes, packing, the stored state and the page of the documentation all follow from it. ``t.mass_of``
# in a kernel is the table of that name. Tables with the writers STATE and GUESS are kept from step to step. Those
# of STATE are stored: a stored row is all of them, one after the other, in the order of this list.

TABLES: tuple[Table, ...] = (
    *parse_tables(
        """
        SYSTEM COUNT
        dimension       | 1 | | 1: the x axis, 2: the xy plane, 3: space
        one             | 1 | | 1
        types           | 1 | | kinds of frames: equal bodies share their numbers
        frames          | 1 | | floating bodies
        carriers        | 1 | | what has a velocity V: frames, then nodes of bodies in absolute coordinates
        clusters        | 1 | | carriers that are eliminated as one: each alone, nodes of soft bodies some together
        coordinates     | frames | | entries of (1, eta) of all frames
        elastic         | frames | | entries of eta of all frames
        planes          | 1 | | of second moments W_pq: 2 in the plane, 9 in space
        patches         | types | | dense parts that hold all of a type's matrices that is not zero
        segments        | types | | of the coordinates of all types
        strains         | types | | of all types
        squares         | strains | | of all strains of all types
        frame_strains   | 1 | | of all frames
        frame_squares   | 1 | | of all frames
        type_values    | 1 | | in all blocks of the types
        inner_branches  | types | | of spring and dashpot, of all types
        inner_strains   | frames | | of the springs of all branches of all frames
        velocities      | carriers | | entries of nu of all carriers
        mass_pairs      | 1 | | pairs of carriers with a common mass
        vectors         | 1 | | points and directions
        shape_vectors   | vectors | | shape functions of all vectors
        lever_vectors   | vectors | | velocities that move a vector, of all vectors
        moving          | 1 | | vectors and paths that are given functions of time
        chords          | 1 | | sums of vectors
        chord_parts     | chords | | vectors in all chords
        terms           | functions | | products of two chords
        functions       | interactions | | sums of terms: first those of constraints
        function_parts  | functions | | vectors on carriers in all functions
        pairs           | functions | | pairs of vectors on carriers that meet in a product
        rows            | 1 | | functions that are constrained
        switches        | 1 | | constraints that events hold or release
        events          | 1 | | that may happen in a run
        interactions    | 1 | | first the constraints, then the forces
        constraints     | 1 | | joints, drives and relations of coordinates
        forces          | 1 | | interactions that are laws
        groups          | forces | | what laws touch: carriers, then auxiliary vectors
        group_blocks    | forces | | blocks between the groups of a law
        gradient_entries   | 1 | | numbers in the gradients of one law, the most of any
        auxiliaries     | 1 | | changes of vectors that are unknowns of their own
        loads           | 1 | | forces and moments on attachments
        load_values     | 1 | | of loads, then of prescribed forces
        sources         | 1 | | what can supply work: loads, then interactions
        nodes           | 1 | | of the elimination: clusters of carriers, auxiliaries, constraints
        visits          | 1 | | of nodes: each is eliminated alone, constraints some together
        neighbours      | visits | | of all visits
        targets         | visits | | of all visits
        unknowns        | 1 | | rows of all nodes
        reactions       | 1 | | rows, then forces
        block_entries   | 1 | | in all blocks
        widest          | 1 | | velocities of one carrier, the most of any
        elimination_entries | 1 | | in products of blocks, and in blocks that are gathered
        border_entries  | 1 | | right-hand sides in the border of a segmented frame, the most of any
        history_length  | 1 | | updates of Newton's method that are remembered
        recurrences     | 1 | | of misses: one, or in composed steps one for each part
        stored_entries    | 1 | | in lanes those of all blocks, for lanes that keep their factors; else none
        kept_rows       | 1 | | the same of unknowns
        kept_pivots     | 1 | | the same of pivots
        branches        | forces | | of spring and dashpot in series, of all forces
        bristles        | 1 | | of friction that sticks
        pieces          | forces | | of tendons that rub on their guides, between two guides each
        impacts         | 1 | | stops that remember how fast bodies met
        fadings         | 1 | | relaxation times, each once
        teams           | 1 | | equal bodies that step in lanes, up to eight each
        state_size   | 1 | | of the state
        row_size     | 1 | | of a stored row: the first entries of the state, without what only guesses need
        SYSTEM INTEGER
        type_of           | frames | | type of a frame
        carrier_block     | carriers | | block (carrier, carrier)
        carrier_stride    | carriers | | of rows in blocks whose columns are the carrier's
        rigid_of          | carriers | | entries of nu before deta/dt
        axes_of           | carriers | | axes of rotation: 0, 1 (z) or 3
        elastic_count     | types | | n; m = n + 1
        stiffness_patch   | types | | first patch of K; those of W come before it
        damping_patch     | types | | first patch of C, the last
        first_moment      | types | | start of S / sqrt(m) (d, m) that W still has to lose, or -1
        segment_first     | segments | | first entry of eta
        segment_rows      | segments | | how many
        segment_stride    | segments | | from row to row
        corner_stride     | frames | | of the rows of V, w and, where there are segments, y
        side              | frames | | block (eta, V and w and y)
        side_stride       | frames | |
        bottom            | frames | | block (V and w and y, eta)
        bottom_stride     | frames | |
        line              | elastic | | row of the block (eta, eta)
        patch_first       | patches | | p of W_pq; of K and C 0
        patch_second      | patches | | q; of K and C 0
        patch_row         | patches | | first i
        patch_rows        | patches | | how many
        patch_column      | patches | | first j
        patch_columns     | patches | | how many
        patch_number      | patches | | start in type_value, column by column
        patch_alike       | patches | | so many of W from this one on have these rows and columns: they go together
        strain_row        | strains | | where entry 0 of the linear row would be; its support is stored
        strain_first      | strains | | support of the gradient: first ..
        strain_last       | strains | | .. last + 1
        strain_has_matrix | strains | | 1: its squares are rows of a matrix, one for each coordinate of its support
        square_row        | squares | | where entry 0 of the slope function would be
        square_first      | squares | |
        square_last       | squares | |
        square_alike      | squares | | so many of its strain from this one on have its support: at most four
        frame_strain      | frames | | first strain of a frame among frame_strains, less that of its type
        frame_square      | frames | | first square of a frame among frame_squares, less that of its type
        inner_fading      | inner_branches | | its relaxation time
        mass_first        | mass_pairs | | carrier that feels the mass
        mass_second       | mass_pairs | | carrier that accelerates
        mass_block        | mass_pairs | | block (first, second)
        vector_carrier    | vectors | | or GIVEN or MOVING
        vector_is_point   | vectors | | 1: x_c + R rho, 0: R rho
        vector_first      | vectors | | support of the shape functions: first ..
        vector_last       | vectors | | .. last + 1
        vector_moving     | vectors | | number among the moving vectors
        chord_moves       | chords | | 0: all of its vectors are constant in the world
        chord_vector      | chord_parts | |
        term_first        | terms | | chord
        term_second       | terms | | chord
        term_time         | terms | | number among the components of moving vectors that multiplies, or -1
        function_time     | functions | | number among the components of moving vectors that is subtracted, or -1
        part_vector       | function_parts | | vector on a carrier
        part_upper        | function_parts | | of a constraint: block (carrier, node); of a law: its group
        part_lower        | function_parts | | of a constraint: block (node, carrier); of a law: auxiliary group
        pair_term         | pairs | |
        pair_first        | pairs | | vector
        pair_second       | pairs | | vector
        pair_upper        | pairs | | block (carrier of first, carrier or auxiliary of second)
        pair_lower        | pairs | | block (carrier of second, carrier or auxiliary of first)
        coordinate_of     | interactions | | CONSTRAINT, POSITION .. SECOND_OFFSET
        constraint_node   | constraints | | node of its multipliers
        energy_of         | forces | | stored energy: SPRING .. ELASTIC; SERVO: a spring's law without one
        energy_address    | forces | | of U, where the user wrote it
        slope_address     | forces | | of dU
        force_value       | forces | | load value that is the prescribed force, or -1
        tension_only      | forces | | 1: a string that neither stores nor resists where C < 1
        carrier_count     | forces | | groups that are carriers, which come first
        group_node        | groups | | carrier, or auxiliary after all carriers
        group_width       | groups | | velocities, or components of an auxiliary
        group_stride      | groups | | of rows in blocks whose columns are its
        group_offset       | groups | | place of its numbers in a gradient
        group_upper       | groups | | of a relation: its column of block (carrier, node); of what rubs: the block
        group_lower       | groups | | of a relation: its row of the block (its node, carrier); -1: of none
        bearing           | forces | | constraint whose force makes friction, or -1
        bearing_rows      | forces | | rows of it, the first, that are of forces
        branch_fading     | branches | | its relaxation time
        impact_of         | forces | | number among the stops that remember how fast bodies met, or -1
        bristle_of        | forces | | bristle of its friction, or -1
        force_row         | forces | | row of the relation whose multiplier pulls on the coordinate, or -1
        relation_rows     | forces | | rows of the node of that relation; 0: none
        row_force         | rows | | of a relation: first force that is pulled
        row_force_count   | rows | | how many; 0: of a row of functions
        row_switch        | rows | | of a constraint that events hold or release, or -1
        group_block       | group_blocks | | block (carrier, group), row by row, or -1
        auxiliary_vector  | auxiliaries | | whose change it is
        auxiliary_lower   | auxiliaries | | block (auxiliary, carrier)
        load_kind         | loads | | FORCE .. PRESSURE
        load_point        | loads | | vector of the point, of forces
        load_triad        | loads | | first of three directions, or -1
        load_block        | 3 loads | | of a follower force: block (carrier, carrier or auxiliary of the direction)
        visit_node        | visits | | its number, or that of the last where constraints are eliminated together
        visit_size        | visits | | rows
        visit_diagonal    | visits | | block
        visit_row         | visits | | first row of the right-hand side
        visit_apart       | visits | | rows that are apart (``node_apart``), SEGMENTED, TOGETHER or GATHERED
        node_size         | nodes | | rows
        node_row          | nodes | | first row of the right-hand side
        node_diagonal     | nodes | | block
        node_stride       | nodes | | from row to row of this block
        row_unknown       | rows | | its row of the right-hand side
        node_apart        | nodes | | first rows that are coupled to no others of the node but by 1 m: V, or none
        neighbour         | neighbours | | node that is eliminated later, or first of some side by side
        neighbour_size    | neighbours | | rows of these
        neighbour_row     | neighbours | | their first row of the right-hand side
        upper             | neighbours | | block (visited, neighbour)
        lower             | neighbours | | block (neighbour, visited)
        target            | targets | | block (neighbour i, neighbour j)
        target_stride     | targets | | from row to row of this block
        team_count        | teams | | bodies; lanes that are left over do what the last one does
        team_visit        | 8 teams | | of the body of each lane, eliminated before all that it is coupled to
        is_in_team        | nodes | | 1: a body that is in one
        SYSTEM REAL
        type_value       | type_values | | numbers of all types
        viscosity         | types | s | tau
        strain_weight     | strains | | D_s
        square_factor     | squares | |
        mass              | mass_pairs | kg |
        velocity_weight   | velocities | | makes velocities comparable [m/s]
        inverse_inertia   | velocities | | of the undeformed body, of one velocity alone
        chord_weight      | chord_parts | |
        chord_total       | chords | | sum of the weights; 0: a difference
        term_coefficient  | terms | |
        function_constant | functions | |
        row_length        | rows | | what a gap is compared with: a length, 1 for cosines
        pair_weight       | pairs | |
        force_stiffness   | forces | | of a spring; EA of a string
        force_damping     | forces | | d; of a string tau EA / 4; of a one-sided force while it acts
        force_modulus     | forces | | EA / 4 of strings, on which numerical damping acts
        force_rest        | forces | | where a spring is relaxed
        force_weight      | forces | | measure: 1, or length of a string
        push_side         | forces | | of a one-sided force: 1: it pushes the coordinate up, -1: down
        push_exponent     | forces | | of its depth
        push_damping      | forces | | of its rate, after Hunt and Crossley
        push_loss         | forces | | this times the speed with which bodies met, where they remember it
        push_slowest      | forces | m/s | as which slower impacts are damped
        push_share        | forces | | of omega^2 that asks for parts of steps
        friction          | forces | | level of dry friction
        friction_speed    | forces | | below which it falls
        bristle_stiffness | bristles | N/m, N m/rad | k
        bristle_damping   | bristles | | d
        bristle_grip      | bristles | | its limit while it sticks, over that while it slips
        bearing_share     | forces | | of the force of the bearing, which adds to the level
        length_scale      | forces | m | radius of a wheel that rolls; rest length of a tendon at t = 0; a sign
        force_factor      | forces | | of the coordinate in its relation
        branch_stiffness  | branches | | of its spring
        guide_friction    | forces | | mu of a tendon on its guides
        piece_start       | pieces | m | rest length at t = 0, of what is paid out later as well
        inner_share       | inner_branches | | of the elasticity of its type
        fading_time       | fadings | s | tau
        force_energy      | forces | | size of a user's energy, EA of strings: what its round-off is compared with
        SYSTEM VECTOR
        weight            | carriers | N | m g
        vector_base       | vectors | | x0 or e, body axes; a given vector
        shape             | shape_vectors | | column of P
        SYSTEM MATRIX
        rigid_inertia     | types | kg m2 | J of a type without elastic coordinates
        CLOCK VECTOR
        moving0           | moving | | given vectors at the start of the step
        moving1           | moving | | at its end
        load_value        | load_values | N, N m | at the middle of the step
        STEP INTEGER
        pivots            | 2 unknowns | | of each node, from twice its first row on
        other_pivots      | kept_pivots | | before the last factorization
        lane_start        | 8 one | | of each lane of a team, where its numbers begin
        team              | one | | address of the header of the tables of teams, or 0
        STEP VECTOR
        linear0           | carriers | m/s | V; 0: start, 1: end of the step
        linear1           | carriers | m/s |
        spin0             | frames | rad/s | w, body axes
        spin1             | frames | rad/s |
        half_turn         | frames | rad | a = h mean(w) / 2
        shift             | carriers | m | h mean(V)
        angular0          | frames | | pi_r
        angular1          | frames | |
        arm0              | vectors | | R rho, world axes
        arm1              | vectors | |
        world0            | vectors | | x_n
        change            | vectors | | delta(x)
        pull              | vectors | N, N m | force on a vector
        left              | vectors | | dw/dx at the mean vectors, of one function
        right             | vectors | | dw/dx at the end
        lever             | lever_vectors | | force f enters nu_i's balance as lever_i.f
        motion            | lever_vectors | | dx_{n+1}/dnu_{n+1}
        chord0            | chords | | y_n
        chord_change      | chords | | delta(y)
        force_sum         | carriers | N | of all vectors of a carrier
        moment_sum        | frames | N m | about the mean centre of mass, world axes
        STEP MATRIX
        rotation1         | frames | | R_{n+1}
        inverse_mean      | frames | | A^-1
        STEP REAL
        xi0               | coordinates | | (1, eta)
        xi1               | coordinates | |
        rate0             | coordinates | | (0, deta/dt)
        rate1             | coordinates | |
        moment0           | 9 coordinates | | N_pq = W_pq xi, in planes of number q d + p
        moment1           | 9 coordinates | |
        moment_rate0      | 9 coordinates | | D_pq = W_pq dxi
        moment_rate1      | 9 coordinates | |
        elastic_mean      | coordinates | | (1/2 + gamma) delta(eta)
        start_force       | coordinates | | K eta_n
        elastic_force     | coordinates | |
        gradient          | coordinates | | of one strain at the mean
        strain0           | frame_strains | |
        strain1           | frame_strains | |
        strain_change     | frame_strains | |
        last_error        | one | m | estimated error of the displacement in the last step
        slope0            | frame_squares | | slope function times eta
        slope1            | frame_squares | |
        term_mean         | terms | | mean coefficient of the step
        term_end          | terms | | at its end
        function0         | functions | | w_n of laws
        function_change   | functions | | delta(w)
        function_end      | functions | | constant at the end of the step
        generalized       | functions | | multiplier, or force of a law along its function
        along             | functions | | omega of a law: what its force is multiplied by
        slope             | functions | | dtheta/dw_{n+1} of a law
        tangent           | 24 functions | | d(generalized)/dw_{n+1} over the functions of its law
        theta0            | forces | | coordinate at the start of the step
        theta_change      | forces | |
        force_by_level    | forces | | derivative of friction that sticks to its level
        loss              | forces | J | what contact and dry friction lose in the step
        bristle_end       | 2 bristles | | ``bristle`` at the end of the step
        impact_end        | impacts | m/s | ``impact`` at the end of the step
        flow_end          | pieces | m | ``flow`` at the end of the step
        piece_length      | pieces | m | at the start
        piece_end_length  | pieces | m |
        piece_rest        | pieces | m | rest length at the start
        piece_rest_end    | pieces | m |
        piece_slack       | pieces | m | how much longer than taut it is at the end, with all before it
        piece_root        | pieces | N | configurational force, if nothing flows through the guide after it
        piece_pull        | pieces | N | configurational force at the end
        piece_state       | pieces | | of the guide before it: sticks, slips, ...
        piece_grip        | pieces | | exp(mu phi) of the guide after it
        piece_cosine      | pieces | | of the angle phi there
        piece_turn        | pieces | | derivative of mu phi to it
        piece_weight      | pieces | m | minus the derivative of its rest length to the logarithm of its force
        piece_tension     | pieces | N | mean of the step
        piece_push        | pieces | N | mean configurational force
        piece_late        | pieces | N | the same while it flows at the lengths of the end
        fading_step       | fadings | s | of its numbers
        fading_left       | fadings | | e^-x: what is left of a strain
        fading_mean       | fadings | | A: mean of a strain over the step
        fading_gain       | fadings | | B: mean by a change in the step
        fading_loss       | fadings | | x A(2x): what a strain loses (8.37)
        fading_loss_both  | fadings | | 2 x Q: what a strain and a change lose together
        fading_loss_change | fadings | | x R: what a change loses
        touching          | forces | | 1: a contact that pushes at either end of the step
        sunk              | forces | m, rad | how much deeper it is at its end
        ahead             | forces | m, rad | the same by the speed at its start
        mobility          | forces | | g M^-1 g^T of a contact, of all its carriers
        group_mobility    | groups | | the same of each
        loaded            | carriers | N/kg^0.5 | greatest F sqrt(g M^-1 g^T) of the contacts on a carrier at rest
        hardness          | carriers | 1/s2 | of the contacts on a carrier; -1: it has no inertia
        scalar_force      | forces | | F along the coordinate
        frame_work        | forces | J | of moving frames on pairs, in the step
        force_slope       | forces | | its derivative to theta_{n+1}
        left_gradient     | gradient_entries | | of one law: carriers' rows
        right_gradient    | gradient_entries | |
        row_relaxation    | unknowns | | of multipliers, of the last factorization
        row_scale         | unknowns | | of multipliers: what elimination of carriers put on the diagonal
        row_curvature     | rows | | second derivative over the inertia, where Newton's matrix was computed
        blocks            | block_entries | |
        other_blocks      | stored_entries | | before the last factorization
        other_relaxation  | kept_rows | |
        residual          | unknowns | |
        update            | unknowns | |
        trial_update      | unknowns | |
        velocity1         | velocities | | nu_{n+1}
        saved_velocity    | velocities | |
        multiplier1       | rows | |
        saved_multiplier  | rows | |
        scratch           | 9 widest | |
        border            | border_entries | | right-hand sides of V, w and y
        upper_is_zero     | neighbours | | 1: the block (visited, neighbour) has no entries but zeros
        product           | elimination_entries | | of blocks, before it is added where it belongs
        coefficient       | 9 one | | of a contraction
        status            | one | | of the last step that was not taken
        history           | history_length | | scaled updates of the last step, up to the first zero
        ledger            | 2 one | J | what the energies of the last step miss, and what they may
        recurrence        | 42 one | | equations of the coefficients by which misses follow from each other
        mean_reaction     | reactions | | multipliers and forces, mean over the substeps of a composed step
        saved_state       | state_size | | at the start of a composed step
        in_teams          | one | | 1: bodies step in their teams now
        frame_energy      | 6 one | J | sums over the frames (``frame_energies``)
        summand           | 6 one | J | the same of one frame
        family_work       | 3 one | J | that families store in the step, the sum of its sizes, what they lose
        STATE REAL
        energy            | 4 one | J | kinetic, strain, gravity, spring
        dissipated        | one | J | since the start
        counter           | 4 one | | iterations, steps with dependent joints, parts around contacts, open ledgers
        step_error        | one | | greatest estimated error of a step since the last stored instant
        STATE VECTOR
        position | carriers | m | centre of mass, or node
        STATE MATRIX
        rotation | frames | | body to world
        STATE VECTOR
        soft_strain | 2 soft_creeps | | 2 e of branches: diagonal, then sides
        STATE REAL
        eta               | elastic | |
        velocity          | velocities | | nu
        known_velocities  | one | | steps or parts in a row, as far as it matters; 0: it is not known
        parts             | one | | substeps that contacts asked for last, where the next step starts
        step_taken        | one | s | length of the last step
        work              | sources | J | since the start, by loads, then by given vectors in interactions
        theta             | forces | rad, m | coordinates, angles over full turns
        branch_strain     | branches | rad, m | e of its spring
        inner_strain      | inner_strains | | e of branches of frames: of coordinates, then of scalar strains
        bristle           | 2 bristles | | z, 1: the last step slipped
        impact            | impacts | m/s | how fast bodies met; 0: they are apart
        flow              | pieces | m | since t = 0, of a tendon through the guide after a piece
        pair_bristle      | 4 kept_pairs | | number of a pair, less than 0 where the last step slipped; z
        pair_turn         | 6 kept_turns | | z that rolls, in axes, and drills; 1: it slipped; speed of the impact
        locked_at         | switches | | where each is held; not a number: nowhere
        event_time        | events | s | when each happened; not a number: not yet
        event_loss        | events | J | energy that it took
        multiplier        | rows | N, N m | of the last step
        force             | forces | N, N m | of the last step
        GUESS REAL
        previous_velocity | velocities | | of the step before, where Newton's method starts from
        line_miss         | 6 velocities | | what the line through the two before it missed of each, the last first
        miss_product      | 49 recurrences | (m/s)^2 | of a miss and the six before it, for what follows from them
        VIEW REAL
        state             | state_size | | all tables that are kept from step to step
        reaction          | reactions | | the last ones that are stored: multiplier and force
        """
    ),
    *ROD_TABLES,
    *SOFT_TABLES,
    *PRODUCT_TABLES,
    *SLIDING_TABLES,
    *CONTACT_GROUP_TABLES,
)

GIVEN = -1
MOVING = -2

SEGMENTED, TOGETHER, GATHERED = -1, -2, -3
"""In place of the rows of a visit that are apart: a body with segments; constraints that are eliminated together,
whose blocks (visited, neighbour) are one; other nodes whose blocks (visited, neighbour) become one in the visit."""

CONSTRAINT, POSITION, DISTANCE, ANGLE, ROUNDED, ROLLING, LENGTH, PAID_OUT, PIECES = range(9)
SLID, FIRST_OFFSET, SECOND_OFFSET = range(9, 12)
"""Quantities of a joint that slides along a line. They stay the last ones: kernels ask for ``>= SLID``."""
FORCE, FOLLOWER_FORCE, TORQUE, FOLLOWER_TORQUE, PRESSURE = range(5)
SPRING, LOGARITHMIC, LINEAR, ST_VENANT_KIRCHHOFF, USER_LAW, CONTACT, ELASTIC, SERVO = range(8)
QUADRATIC, INVARIANTS = range(2)
NOTHING, PROPORTIONAL, LOGARITHMS, RECIPROCAL, THINNING, OF_USER = range(6)

LAW_WIDTH = 24
"""Functions of one law, at most; from row to row of ``tangent``."""

PIECE_VECTORS = 4
"""Vectors of a piece of a line along which a joint slides."""
STEEP = 0.9
"""Component of a unit vector along z above which directions across it are made with the x axis, not with z."""

BRISTLE = 2
"""Numbers of a bristle."""

PAIR = 4
"""Numbers of the bristle of a pair among many."""

TURN, DRILLED, SLIPS, MET = 6, 3, 4, 5
"""Numbers of the bristles against its turns; of these places: drilling, whether it slipped, speed of the impact."""


class MemberKind(Enum):
    """Kinds of members of contact groups: rounds, then points and edges that solids touch, then solids.

    ROUND: spheres and pieces of lines. SAMPLE, EDGE, CORNER, INSET, RIM: points, pieces, corners of infinite
    solids, points near the corners of finite ones, rims. PLANE and after: solids, convex ones before others.
    """

    ROUND = 0
    SAMPLE = 1
    EDGE = 2
    CORNER = 3
    INSET = 4
    RIM = 5
    PLANE = 6
    BALL_INSIDE = 7
    TUBE = 8
    BLOCK = 9
    DRUM = 10
    RING = 11
    MESH = 12

    @property
    def is_solid(self) -> bool:
        """Return whether contact shapes of this kind are solids (plane, block, mesh, ...), with axes, which touch
        balls and points."""
        return self.value > MemberKind.RIM.value


ROUND, SAMPLE, EDGE, CORNER, INSET, RIM, PLANE, BALL_INSIDE, TUBE, BLOCK, DRUM, RING, MESH = (
    each.value for each in MemberKind
)

MISSES = 6
"""Of lines through velocities, by which the next one is predicted (``line_miss``)."""

FRAME_ENERGIES = 6
"""Numbers of ``frame_energy``."""

MOST_PARTS = 4096
"""Of a step around contacts."""
