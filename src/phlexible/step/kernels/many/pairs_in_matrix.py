"""Pairs of contact groups in Newton's matrix: blocks of bodies are eliminated, couplings of bodies are iterated.

A pair is a 3 x 3 matrix between its two contact points (docs/theory.md, 8). Its part in the blocks that the
elimination has, of one carrier each, is added there; the rest E is solved for with the factors P of these, x = P^-1
b - P^-1 E x, by generalized minimal residuals (GMRES). So there is no fill-in and no new ordering where other pairs
touch, and the cost of a pile is proportional to its pairs.
"""

from math import sqrt

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.dense import SIX, add_multiple, copy, fill, product, scale
from phlexible.step.compilation.notation import Matrix, Reals, Tables, Vector, along, cross, dot, row, vector
from phlexible.step.kernels.floating_bodies import eye, rotation_axis
from phlexible.step.kernels.many.member_ends import zero_matrix
from phlexible.step.kernels.many.rigid_pairs import (
    add_rigid_product,
    add_side_block,
    is_rigid_edge,
    is_rigid_member,
    store_side,
)
from phlexible.step.kernels.segments import block_entry, has_segments
from phlexible.step.kernels.solver.elimination import solve_carrier, substitute
from phlexible.step.kernels.vectors import mean_vector, outer, velocity_count, velocity_index
from phlexible.step.tables.declarations import INSET

ENDS = 4  # of both members of a pair: start and end of each
MOST = 12  # directions of GMRES
ROWS = MOST + 1  # of ``pair_basis`` and ``pair_image``
INEXACT = 1e-4  # of an update of Newton's method, by which it may be wrong
SWEEPS = 10  # of the power iteration for the greatest frequency
BEYOND = 1.1  # times what it finds, which is never more than there is


@exported
def clear_matrix_pairs(t: Tables) -> None:
    """Remove all contact pairs from the part of Newton's matrix that couples bodies in contact, the tables
    ``held_...``. ``t`` holds all tables (arrays) of the model and its state."""
    for n in range(t.held_ends[0]):
        t.end_is_held[t.held_end[n]] = 0
    t.held_count[0], t.held_across[0], t.held_ends[0], t.held_others[0] = 0, 0, 0, 0


@compiled
def add_pair(
    t: Tables, i: int, j: int, s: float, z: float, slope: Matrix, normal: Vector, arm: Vector, other: Vector
) -> int:
    """Add the contact of members i and j, a 3 x 3 stiffness ``slope``, to the iterated part of Newton's
    matrix, the tables ``held_...``. Returned is the index of the pair, or -1 if there is no room. s and z are
    parameters on their axes, ``arm`` and ``other`` vectors from there to the contact point, and ``normal`` is
    the unit normal of the contact. ``t`` holds all tables (arrays) of the model and its state.

    The normal force acts at the centre of round members: for directions that a deformed body stretches, an arm
    along the normal would change its length.
    """
    n = t.held_count[0]
    if n == t.touching_pairs:
        return -1
    t.held_slope[n], t.held_count[0] = slope, n + 1
    is_simple = t.turning_pairs == 0 and is_rigid_member(t, i) and is_rigid_member(t, j)
    t.held_is_rigid[n] = 1 if is_simple else 0
    if is_simple:
        moving = store_side(t, 2 * n, i, s, normal, arm)
        moving += store_side(t, 2 * n + 1, j, z, normal, other)
        t.held_across[0] += 1 if moving > 1 else 0
        return n
    t.held_others[0] += 1
    if t.turning_pairs > 0:
        t.held_twist[n] = zero_matrix()
    ends, whole = _store_ends(t, 2 * n, i, s, normal, arm)
    others, all_whole = _store_ends(t, 2 * n + 1, j, z, normal, other)
    if ends + others > 1 or not whole or not all_whole:
        t.held_across[0] += 1
    return n


@compiled
def _store_ends(t: Tables, side: int, m: int, s: float, normal: Vector, arm: Vector) -> tuple[int, bool]:
    """Store the ends of contact member m, as side ``side`` of a pair in Newton's matrix, with their weights
    at parameter s. ``arm`` is the vector from there to the contact point, ``normal`` the contact normal.
    Returned are how many ends move, and whether the elimination contains all of the blocks of their bodies.
    Contact members are spheres, line segments and solids. ``t`` holds all tables (arrays) of the model and
    its state."""
    p, q, count, whole, at = t.member_start[m], t.member_end[m], 0, True, 2 * side
    t.held_arm[side], t.held_normal[side] = arm, normal
    if t.member_kind[m] > INSET or is_rigid_edge(t, m):
        t.held_normal[side] = vector(0.0, 0.0, 0.0)
    if is_rigid_edge(t, m):  # all of it moves as its start and the directions
        t.held_arm[side] = arm + s * (mean_vector(t, q) - mean_vector(t, p))
    for end in range(2):
        k, weight = (p, 1.0 - s) if end == 0 else (q, s)
        if p == q or is_rigid_edge(t, m):
            weight = 1.0 - float(end)
        b = t.vector_carrier[k]
        if weight == 0.0 or b < 0:
            t.held_point[at + end] = -1
            continue
        count += 1
        is_whole = not has_segments(t, b)
        whole = whole and is_whole
        t.held_point[at + end], t.held_weight[at + end] = k, weight
        t.held_is_whole[at + end], t.held_turns[at + end] = 1 if is_whole else 0, -1
        if t.member_axis[6 * m + 3 * end] >= 0:
            t.held_turns[at + end] = 2 * m + end
            _store_end_duals(t, 2 * m + end)
    return count, whole


@compiled
def _store_end_duals(t: Tables, e: int) -> None:
    """Store the dual (reciprocal) vectors of the directions at end e of a contact member for products with
    Newton's matrix. Later evaluations of the forces overwrite the current ones. Contact members are spheres,
    line segments and solids. ``t`` holds all tables (arrays) of the model and its state."""
    if t.end_is_held[e] == 0:
        for l in range(3):
            t.held_dual[3 * e + l] = t.end_dual[3 * e + l]
        t.end_is_held[e], t.held_end[t.held_ends[0]] = 1, e
        t.held_ends[0] += 1


@exported
def add_pair_tangents(t: Tables, h: float) -> None:
    """Add the derivatives of all contact pairs that transmit a force in the last evaluation to Newton's
    matrix: within one body to its block in ``t.blocks``, between bodies to the tables ``held_...``, which are
    solved by iteration; h is the time step. ``t`` holds all tables (arrays) of the model and its state."""
    clear_matrix_pairs(t)
    t.pair_half_step[0] = 0.5 * h
    for n in range(t.touch_count[0]):
        s, z, arms = t.touch_share[2 * n], t.touch_share[2 * n + 1], t.touch_arm + 2 * n
        i, j = t.touch_first[n], t.touch_second[n]
        place = add_pair(t, i, j, s, z, h * _contact_stiffness(t, n), t.touch_normal[n], arms[0], arms[1])
        if t.turning_pairs > 0 and place >= 0:
            t.held_twist[place] = h * t.touch_twist[n]
    for n in range(t.held_count[0]):
        if t.held_is_rigid[n] == 1:
            add_side_block(t, 2 * n, t.held_slope[n])
            add_side_block(t, 2 * n + 1, t.held_slope[n])
            continue
        for e in range(ENDS * n, ENDS * n + ENDS):
            if t.held_point[e] >= 0 and t.held_is_whole[e] == 1:
                _add_end_block(t, e, t.held_slope[n])
                if t.turning_pairs > 0 and t.held_turns[e] >= 0:
                    _add_couple_block(t, e, t.held_twist[n])


@compiled
def _contact_stiffness(t: Tables, n: int) -> Matrix:
    """Return the 3 x 3 stiffness of contact number n: minus the derivative of the force on its first member
    with respect to the relative displacement, with normal and tangential stiffness and the dependence of
    friction on the normal force. ``t`` holds all tables (arrays) of the model and its state."""
    own, normal, e = t.touch_stiffness + 3 * n, t.touch_normal[n], t.touch_slip[n]
    found = own[0] * outer(normal, normal) - outer(t.touch_level[n], normal)
    if own[1] > 0.0:
        found = found + own[1] * (eye() - outer(normal, normal))
    return found - own[2] * outer(e, e)


@compiled
def _gather_lever(t: Tables, k: int, weight: float, normal: Vector) -> None:
    """Add ``weight`` times the motions and levers of vector k to ``t.pair_motion`` and ``t.pair_lever``, one
    for each velocity of its body. A motion is the displacement of the vector for a unit velocity; a lever
    times a force is the generalized force. Components along ``normal`` are left out. ``t`` holds all tables
    (arrays) of the model and its state."""
    lever, motion = t.lever + t.lever_vectors_begin[k], t.motion + t.lever_vectors_begin[k]
    for i in range(velocity_count(t, k)):
        v = velocity_index(t, k, i)
        t.pair_lever[v] += weight * (lever[i] - dot(lever[i], normal) * normal)
        t.pair_motion[v] += weight * (motion[i] - dot(motion[i], normal) * normal)


@compiled
def _add_end_block(t: Tables, e: int, slope: Matrix) -> None:
    """Add the stiffness ``slope`` of a contact pair at its end e to the block in Newton's matrix of the body
    that carries this end. ``t`` holds all tables (arrays) of the model and its state."""
    k, weight, end = t.held_point[e], t.held_weight[e], t.held_turns[e]
    b, arm, normal = t.vector_carrier[k], t.held_arm[e // 2], t.held_normal[e // 2]
    width, nothing = t.velocities_count[b], vector(0.0, 0.0, 0.0)
    for i in range(width):
        t.pair_lever[i], t.pair_motion[i] = nothing, nothing
    _gather_lever(t, k, weight, nothing)
    if end >= 0:
        for l in range(3):
            direction = t.member_axis[3 * end + l]
            if direction >= 0 and t.vector_carrier[direction] >= 0:
                _gather_lever(t, direction, weight * dot(t.held_dual[3 * end + l], arm), normal)
    _add_products(t, b, slope)


@compiled
def _add_products(t: Tables, b: int, slope: Matrix) -> None:
    """Add pair_lever^T slope pair_motion, the stiffness of a contact point in the velocities of carrier b, to
    the block of b in Newton's matrix. A carrier is a floating body or a node. ``t`` holds all tables (arrays)
    of the model and its state."""
    width = t.velocities_count[b]
    is_dense = b >= t.frames or width == t.rigid_of[b]
    if b < t.frames and width == SIX:
        _add_six(t, t.blocks + t.node_diagonal[b], t.corner_stride[b], slope)
        return
    block, stride = t.blocks, t.carrier_stride[b]
    if b >= t.frames:
        block = t.blocks + t.carrier_block[b]
    elif is_dense:
        block, stride = t.blocks + t.node_diagonal[b], t.corner_stride[b]
    for i in range(width):
        q = t.pair_lever[i] @ slope
        if is_dense:
            for l in range(width):
                block[i * stride + l] += dot(q, t.pair_motion[l])
        else:
            for l in range(width):
                own = block_entry(t, b, i, l)
                own[0] += dot(q, t.pair_motion[l])


@compiled
def _add_couple_block(t: Tables, e: int, twist: Matrix) -> None:
    """Add the rotational stiffness ``twist`` of a contact pair at its end e to the block of the end's body in
    Newton's matrix. It is that of rolling and drilling resistance. ``t`` holds all tables (arrays) of the
    model and its state."""
    end, b, nothing = t.held_turns[e], t.vector_carrier[t.held_point[e]], vector(0.0, 0.0, 0.0)
    for i in range(t.velocities_count[b]):
        t.pair_lever[i], t.pair_motion[i] = nothing, nothing
    for l in range(3):
        k, g = t.member_axis[3 * end + l], 0.5 * t.held_dual[3 * end + l]
        if t.vector_carrier[k] >= 0:
            lever, motion = t.lever + t.lever_vectors_begin[k], t.motion + t.lever_vectors_begin[k]
            for i in range(velocity_count(t, k)):
                v = velocity_index(t, k, i)
                t.pair_lever[v] += cross(g, lever[i])
                t.pair_motion[v] += cross(g, motion[i])
    _add_products(t, b, twist)


@compiled
def _add_six(t: Tables, block: Reals, stride: int, slope: Matrix) -> None:
    """Add pair_lever^T slope pair_motion, with the 3 x 3 stiffness ``slope``, to the block of a rigid body
    with six velocities, as ``_add_products`` does. ``stride`` is the distance of the rows of ``block``. The
    loops have constant length, so that the compiler unrolls them. ``t`` holds all tables (arrays) of the
    model and its state."""
    for i in range(SIX):
        q = t.pair_lever[i] @ slope
        for l in range(SIX):
            block[i * stride + l] += dot(q, t.pair_motion[l])


# Products with what couples bodies.


@compiled
def _end_displacement(t: Tables, e: int) -> Vector:
    """Return the displacement of the contact point at end e of a pair, times the weight of this end. It
    follows from the displacements of the end's points in the table ``left`` and its rotation in
    ``held_turn``, whose part along the normal is left out. It serves products with Newton's matrix. ``t``
    holds all tables (arrays) of the model and its state."""
    moved, end, normal = t.left[t.held_point[e]], t.held_turns[e], t.held_normal[e // 2]
    if end >= 0:
        turned = t.held_turn[end] @ t.held_arm[e // 2]
        moved += turned - dot(turned, normal) * normal
    return t.held_weight[e] * moved


@compiled
def _apply_end_force(t: Tables, e: int, f: Vector) -> None:
    """Add the force f on the contact point at end e of a pair in Newton's matrix to the forces ``right`` on
    the end's point. Its moment is added to that of the end's directions. ``t`` holds all tables (arrays) of
    the model and its state."""
    own, end, normal = t.held_weight[e] * f, t.held_turns[e], t.held_normal[e // 2]
    t.right[t.held_point[e]] += own
    if end >= 0:
        t.held_moment[end] = t.held_moment[end] + outer(own - dot(own, normal) * normal, t.held_arm[e // 2])


@compiled
def _apply_pair_couples(t: Tables, n: int, is_whole: bool) -> None:
    """Add the moments by which pair n in Newton's matrix resists relative rotation to the forces on the
    directions of both members; without ``is_whole`` only those that the rotation of the other member causes.
    ``t`` holds all tables (arrays) of the model and its state."""
    first, second = ENDS * n, ENDS * n + 2
    psi, other = _rotation_of_end(t, first), _rotation_of_end(t, second)
    whole = t.held_twist[n] @ (psi - other)
    if t.held_point[first] >= 0 and t.held_turns[first] >= 0:
        is_own = not is_whole and t.held_is_whole[first] == 1
        _apply_end_couple(t, t.held_turns[first], -1.0 * (t.held_twist[n] @ other) if is_own else whole)
    if t.held_point[second] >= 0 and t.held_turns[second] >= 0:
        is_own = not is_whole and t.held_is_whole[second] == 1
        _apply_end_couple(t, t.held_turns[second], -1.0 * (t.held_twist[n] @ psi) if is_own else -1.0 * whole)


@compiled
def _rotation_of_end(t: Tables, e: int) -> Vector:
    """Return the rotation vector of end e of a pair in Newton's matrix, from the displacements of its
    directions in ``left``; zero if the end does not rotate. ``t`` holds all tables (arrays) of the model and
    its state."""
    if t.held_point[e] < 0 or t.held_turns[e] < 0:
        return vector(0.0, 0.0, 0.0)
    axes, g = t.member_axis + 3 * t.held_turns[e], t.held_dual + 3 * t.held_turns[e]
    total = vector(0.0, 0.0, 0.0)
    for l in range(3):
        if t.vector_carrier[axes[l]] >= 0:
            total += 0.5 * cross(g[l], t.left[axes[l]])
    return total


@compiled
def _apply_end_couple(t: Tables, end: int, couple: Vector) -> None:
    axes, g = t.member_axis + 3 * end, t.held_dual + 3 * end
    for l in range(3):
        t.right[axes[l]] += 0.5 * cross(couple, g[l])


@compiled
def _rotate_ends(t: Tables) -> None:
    """Compute for all rotating ends of pairs in Newton's matrix the 3 x 3 matrix that takes an arm to its
    displacement, in ``t.held_turn``. It follows from the displacements ``left`` of their directions; the
    moments ``t.held_moment`` of the ends are set to zero. ``t`` holds all tables (arrays) of the model and
    its state."""
    for n in range(t.held_ends[0]):
        e, turn = t.held_end[n], zero_matrix()
        for l in range(3):
            direction = t.member_axis[3 * e + l]
            if t.vector_carrier[direction] >= 0:
                turn = turn + outer(t.left[direction], t.held_dual[3 * e + l])
        t.held_turn[e], t.held_moment[e] = turn, zero_matrix()


@compiled
def _apply_moments(t: Tables) -> None:
    """Apply the collected moments of all rotating ends of pairs in Newton's matrix as forces ``right`` on the
    directions of these ends. ``t`` holds all tables (arrays) of the model and its state."""
    for n in range(t.held_ends[0]):
        e = t.held_end[n]
        moment = t.held_moment[e]
        for l in range(3):
            t.right[t.member_axis[3 * e + l]] += moment @ t.held_dual[3 * e + l]


@compiled
def _displace_vectors(t: Tables, x: Reals) -> None:
    """Compute the displacements of the points and directions of contact members for a vector x of velocities
    into ``left``. x has the shape (velocities,); the forces ``right`` on them are set to zero. Contact
    members are spheres, line segments and solids. ``t`` holds all tables (arrays) of the model and its state.

    Vectors of a carrier are consecutive.
    """
    half, last, shift, spin, own = t.pair_half_step[0], -1, vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0), x
    for n in range(t.pair_vectors):
        k = t.pair_vector[n]
        b = t.vector_carrier[k]
        if b != last:
            last, own, spin = b, x + t.velocities_begin[b], vector(0.0, 0.0, 0.0)
            shift = half * vector(own[0], own[1] if t.dimension > 1 else 0.0, own[2] if t.dimension > 2 else 0.0)
            for l in range(t.axes_of[b] if b < t.frames else 0):
                spin += own[t.dimension + l] * row(t.inverse_mean[b], rotation_axis(l, t.axes_of[b]))
            if b < t.frames:
                spin = (half / (1.0 + dot(t.half_turn[b], t.half_turn[b]))) * spin
        moved = shift if t.vector_is_point[k] == 1 else vector(0.0, 0.0, 0.0)
        if b < t.frames:
            moved += cross(spin, t.arm1[k])
            rigid, first = t.rigid_of[b], t.vector_first[k]
            for j in range(t.vector_last[k] - first):
                moved += own[rigid + first + j] * t.motion[t.lever_vectors_begin[k] + rigid + j]
        t.left[k], t.right[k] = moved, vector(0.0, 0.0, 0.0)


@compiled
def _gather_forces(t: Tables, y: Reals) -> None:
    """Add the generalized forces that the forces ``right`` on points and directions of contact members exert
    on their bodies to y, shape (velocities,). Contact members are spheres, line segments and solids. ``t``
    holds all tables (arrays) of the model and its state."""
    last, force, moment = -1, vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)
    for n in range(t.pair_vectors + 1):
        k = t.pair_vector[n] if n < t.pair_vectors else -1
        b = t.vector_carrier[k] if k >= 0 else -1
        if b != last:
            if last >= 0:
                _balance(t, y + t.velocities_begin[last], last, force, moment)
            last, force, moment = b, vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)
        if k < 0:
            continue
        f = t.right[k]
        if t.vector_is_point[k] == 1:
            force += f
        if b < t.frames:
            moment += 0.5 * cross(t.arm0[k] + t.arm1[k], f)
            rigid, first = t.rigid_of[b], t.vector_first[k]
            for j in range(t.vector_last[k] - first):
                place = t.velocities_begin[b] + rigid + first + j
                y[place] += dot(t.lever[t.lever_vectors_begin[k] + rigid + j], f)


@compiled
def _balance(t: Tables, balance: Reals, b: int, force: Vector, moment: Vector) -> None:
    for i in range(t.dimension):
        balance[i] += along(force, i)
    if b < t.frames:
        turned = t.inverse_mean[b] @ moment
        for l in range(t.axes_of[b]):
            balance[t.dimension + l] += along(turned, rotation_axis(l, t.axes_of[b]))


@compiled
def _add_pair_product(t: Tables, x: Reals, y: Reals, is_whole: bool) -> None:
    """Add to y the part of the contact pairs in Newton's matrix times velocities x, both of shape
    (velocities,); without ``is_whole`` only the parts that couple different bodies. ``t`` holds all tables
    (arrays) of the model and its state.

    If not ``is_whole``, without the part in the blocks of carriers.
    """
    nothing = vector(0.0, 0.0, 0.0)
    if t.held_others[0] < t.held_count[0]:
        for n in range(t.held_count[0]):
            if t.held_is_rigid[n] == 1:
                add_rigid_product(t, n, x, y, is_whole)
    if t.held_others[0] == 0:
        return
    _displace_vectors(t, x)
    _rotate_ends(t)
    for n in range(t.held_count[0]):
        if t.held_is_rigid[n] == 1:
            continue
        total, slope, first = nothing, t.held_slope[n], ENDS * n
        for e in range(first, first + ENDS):
            if t.held_point[e] >= 0:
                moved = _end_displacement(t, e) if e < first + 2 else -1.0 * _end_displacement(t, e)
                t.held_moved[e], total = moved, total + moved
        for e in range(first, first + ENDS):
            if t.held_point[e] >= 0:
                moved = total - t.held_moved[e] if not is_whole and t.held_is_whole[e] == 1 else total
                f = slope @ moved
                _apply_end_force(t, e, f if e < first + 2 else -1.0 * f)
        if t.turning_pairs > 0:
            _apply_pair_couples(t, n, is_whole)
    _apply_moments(t)
    _gather_forces(t, y)


@compiled
def _coupling_product(t: Tables, x: Reals, y: Reals) -> None:
    """Compute y = P^-1 E x for all unknowns. Here E is the coupling of bodies by contact pairs and P the rest
    of Newton's matrix, whose factors are known. ``t`` holds all tables (arrays) of the model and its state."""
    fill(y, t.unknowns, 0.0)
    _add_pair_product(t, x, y, False)
    substitute(t, y, 1)


@compiled
def _weighted_product(t: Tables, x: Reals, y: Reals) -> float:
    """Return the sum of w_i^2 x_i y_i over all velocities, for two vectors x and y of shape (velocities,).
    The weights w, in ``t.velocity_weight``, make angular and elastic velocities comparable with linear ones.
    ``t`` holds all tables (arrays) of the model and its state."""
    total = 0.0
    for i in range(t.velocities):
        total += t.velocity_weight[i] * t.velocity_weight[i] * x[i] * y[i]
    return total


@exported
def correct_for_pairs(t: Tables, x: Reals) -> None:
    """Replace x, a solution without the coupling of bodies by contact pairs, by the solution of the full
    linear system. x was found with the factored part of Newton's matrix; a few iterations of GMRES correct
    it. ``t`` holds all tables (arrays) of the model and its state."""
    t.pair_left[0] = 0.0
    if t.held_across[0] == 0:
        return
    n, H = t.unknowns, t.pair_products
    first = t.pair_image
    _coupling_product(t, x, first)
    size, left = sqrt(_weighted_product(t, x, x)), sqrt(_weighted_product(t, first, first))
    goal, used = INEXACT * size * (size / left) if left > 0.0 else 0.0, 0  # x is a sweep beyond GMRES
    rotated, level = H + ROWS * ROWS, left  # right side, cosines and sines of the least squares
    rotated[0] = -left
    if left > goal:
        copy(first, t.pair_basis, t.velocities)
        scale(t.pair_basis, t.velocities, 1.0 / left)
    while used < MOST and level > goal:
        v, image = t.pair_basis + used * n, t.pair_image + (used + 1) * n
        _coupling_product(t, v, image)
        following = t.pair_basis + (used + 1) * n
        for i in range(t.velocities):
            following[i] = v[i] + image[i]
        column = H + ROWS * used
        for k in range(used + 1):
            column[k] = _weighted_product(t, following, t.pair_basis + k * n)
            add_multiple(following, -column[k], t.pair_basis + k * n, t.velocities)
        length = sqrt(_weighted_product(t, following, following))
        if length > 0.0:
            scale(following, t.velocities, 1.0 / length)
        level = _update_least_squares(column, rotated, used, length)
        used += 1
    _solve_least_squares(H, rotated, used)
    add_multiple(x, -1.0, first, n)
    for k in range(used):
        add_multiple(x, -rotated[k], t.pair_image + (k + 1) * n, n)
    found = sqrt(_weighted_product(t, x, x))
    t.pair_left[0] = level / found if found > 0.0 else 0.0


@compiled
def _update_least_squares(column: Reals, rotated: Reals, k: int, below: float) -> float:
    """Add column k, ``column`` with the entry ``below`` under the diagonal, to the least-squares problem of
    GMRES by Givens rotations; return the norm of the remaining residual. ``rotated`` holds the right side,
    then the cosines and sines of the rotations."""
    cosines, sines = rotated + ROWS, rotated + 2 * ROWS
    for i in range(k):
        upper = cosines[i] * column[i] + sines[i] * column[i + 1]
        column[i + 1] = cosines[i] * column[i + 1] - sines[i] * column[i]
        column[i] = upper
    length = sqrt(column[k] * column[k] + below * below)
    cosines[k], sines[k] = column[k] / length, below / length
    column[k] = length
    rotated[k + 1] = -sines[k] * rotated[k]
    rotated[k] = cosines[k] * rotated[k]
    return abs(rotated[k + 1])


@compiled
def _solve_least_squares(H: Reals, rotated: Reals, count: int) -> None:
    """Solve the upper triangular least-squares system of GMRES, of size ``count``, for the coefficients of
    its basis vectors. They replace the right side ``rotated``. The matrix H is stored by columns."""
    for back in range(count):
        k = count - 1 - back
        for l in range(k + 1, count):
            rotated[k] -= H[ROWS * l + k] * rotated[l]
        rotated[k] /= H[ROWS * k + k]


# How fast bodies vibrate on the pairs that are held.


@exported
def coupled_squared_frequency(t: Tables, h: float) -> float:
    """Return the largest squared frequency omega^2 of the bodies on the springs of all stored contact pairs
    [1/s2], by a power iteration; -1 if there was no room to store all pairs. h is the time step in which they
    were stored. ``t`` holds all tables (arrays) of the model and its state.

    A power iteration with the factored blocks of inertia, by Rayleigh's quotient, times ``BEYOND``.
    """
    if t.held_count[0] == t.touching_pairs:
        return -1.0
    x, y = t.pair_basis, t.pair_image
    t.pair_half_step[0] = 0.5 * h
    fill(y, t.velocities, 0.0)
    for i in range(t.velocities):
        x[i] = 0.5 + float((7919 * i) % 101) / 101.0
    _add_pair_product(t, x, y, True)
    found = 0.0
    for _ in range(SWEEPS):
        copy(y, x, t.velocities)
        for b in range(t.carriers):
            solve_carrier(t, b, x + t.velocities_begin[b])
        before = product(x, y, t.velocities)
        if not before > 0.0:
            return found
        scale(x, t.velocities, 1.0 / sqrt(before))
        fill(y, t.velocities, 0.0)
        _add_pair_product(t, x, y, True)
        found = max(found, (2.0 / h) * product(x, y, t.velocities))
    return BEYOND * found
