"""Pairs of contact groups in Newton's matrix: blocks of bodies are eliminated, couplings of bodies are iterated.

A pair is a 3 x 3 matrix between its two contact points (docs/theory.md, 8); what resists rolling and drilling is a
pair between the rotations there. Its part in the blocks that the elimination has, of one carrier each, is added
there; the rest E is solved for with the factors P of these, x = P^-1 b - P^-1 E x, by generalized minimal residuals
(GMRES). So there is no fill-in and no new ordering where other pairs touch, and the cost of a pile is proportional
to its pairs.

The contact point of an end moves by sum_k A_k delta(x_k): the vectors x_k are the point at this end and the three
directions there. With the turns of the carrier these sums are stored; modes are added by the vectors. Ends that do
not move are left out; those of the second member count against their way, and all ends are summed.
"""

from math import sqrt

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.dense import add_multiple, copy, fill, product, scale
from phlexible.step.compilation.notation import Matrix, Reals, Tables, Vector, cross, dot, vector
from phlexible.step.kernels.blocks import block_entry, has_segments
from phlexible.step.kernels.floating_bodies import add_components, components_of, eye, skew_of, unit
from phlexible.step.kernels.many.pair_friction import squared_gyration_radius
from phlexible.step.kernels.solver.elimination import solve_carrier, substitute
from phlexible.step.kernels.vectors import mean_vector, outer
from phlexible.step.tables.declarations import EDGE, INSET

ENDS = 4  # of both members of a pair: start and end of each
PARTS = 4  # vectors that move an end: its point, three directions
TURNS = 3  # of a body, the most
MOST = 12  # directions of GMRES
ROWS = MOST + 1  # of ``pair_basis`` and ``pair_image``
INEXACT = 1e-4  # of an update of Newton's method, by which it may be wrong
SWEEPS = 10  # of the power iteration for the greatest frequency
BEYOND = 1.1  # times what it finds, which is never more than there is


@exported
def clear_matrix_pairs(t: Tables) -> None:
    """Empty the list of contact pairs that couple bodies in Newton's matrix, by setting its counts to zero. ``t``
    contains all arrays of the model and its state."""
    t.held_count[0], t.held_across[0] = 0, 0


@compiled
def add_pair(
    t: Tables,
    i: int,
    j: int,
    s: float,
    z: float,
    slope: Matrix,
    normal: Vector,
    arm: Vector,
    other: Vector,
    rotates: bool,
) -> int:
    """Append the contact of shapes i and j to the list of contact pairs that couple bodies in Newton's matrix.
    ``slope`` is its 3 x 3 stiffness times the length of the time step. Return the index of the pair; it is
    ``t.matrix_pairs`` if the list is full, and the pair does not count then. s and z are parameters of the nearest
    points on the axes of i and j, ``arm`` and ``other`` vectors from there to the contact point, ``normal`` is the
    unit normal. If ``rotates``, the stiffness is that of the relative rotation. ``t`` contains all arrays of the
    model and its state.
    """
    n = t.held_count[0]
    store_pair(t, n, i, j, s, z, normal, arm, other, rotates)
    t.held_slope[n] = slope
    if n < t.matrix_pairs:
        t.held_count[0] = n + 1
        t.held_across[0] += t.held_couples[n]
    return n


@compiled
def store_pair(
    t: Tables, n: int, i: int, j: int, s: float, z: float, normal: Vector, arm: Vector, other: Vector, rotates: bool
) -> None:
    """Store in entry n of the list of contact pairs for Newton's matrix how body velocities move the contact point
    of shapes i and j. Ends of i count with sign plus, ends of j with minus. s and z are parameters on the axes of
    the shapes, ``arm`` and ``other`` vectors from there to the contact point, ``normal`` is the unit normal. If
    ``rotates``, the relative rotation of the shapes is stored instead.

    The normal force acts at the centre of round members: for directions that a deformed body stretches, an arm
    along the normal would change its length.
    """
    t.held_ends[n], t.held_couples[n] = 0, 0
    _store_side(t, n, i, 1.0, s, normal, arm, rotates)
    _store_side(t, n, j, -1.0, z, normal, other, rotates)
    if t.held_ends[n] > 1:
        t.held_couples[n] = 1


@compiled
def _store_side(
    t: Tables, n: int, m: int, sign: float, s: float, normal: Vector, arm: Vector, rotates: bool
) -> None:
    """Append the ends of contact shape m (ball, segment, solid) to the data of contact pair n for Newton's matrix.
    Each end on a body is stored with this body, a weight, and how rotation and deformation of the body move the
    contact point (see ``_store_turns``). The weight is ``sign`` times 1 - s at the start of the shape, s at its
    end, 1 for a shape with one end; ends of weight 0 and ends on the ground are left out. ``arm`` is the vector
    from the axis to the contact point, ``normal`` the unit normal. If ``rotates``, the rotation of the shape counts
    in place of the displacement of the point, and the stored weight is 0. ``t`` contains all arrays of the model
    and its state.
    """
    p, q = t.member_start[m], t.member_end[m]
    is_rigid_edge = t.member_kind[m] == EDGE and t.member_axis[6 * m] >= 0
    if t.member_kind[m] > INSET or is_rigid_edge:
        normal = vector(0.0, 0.0, 0.0)
    if is_rigid_edge:  # all of it moves as its start and the directions
        arm = arm + s * (mean_vector(t, q) - mean_vector(t, p))
    is_one = p == q or is_rigid_edge
    for end in range(1 if is_one else 2):
        k, weight = (p, 1.0 if is_one else 1.0 - s) if end == 0 else (q, s)
        b, e = t.vector_carrier[k], ENDS * n + t.held_ends[n]
        if b >= 0 and weight != 0.0:
            t.held_carrier[e], t.held_ends[n] = b, t.held_ends[n] + 1
            t.held_weight[e] = 0.0 if rotates else sign * weight
            if has_segments(t, b):
                t.held_couples[n] = 1
            if t.velocities_count[b] > t.dimension:
                _store_turns(t, e, 2 * m + end, k, sign * weight, normal, arm, rotates)


@compiled
def _deforms(t: Tables, b: int) -> bool:
    return t.velocities_count[b] > t.rigid_of[b]


@compiled
def _store_turns(
    t: Tables, e: int, end: int, k: int, weight: float, normal: Vector, arm: Vector, rotates: bool
) -> None:
    """Store how the body at end e of a contact pair moves the contact point by its rotation and deformation, for
    Newton's matrix. For each angular velocity there is a motion of the point and a lever of forces on it, times
    ``weight``; for deformable bodies also the points and directions by which the contact point moves, each with a
    matrix. k is the point of the shape at its ``end`` (2 m + 0 or 1 for shape m), ``arm`` leads to the contact
    point. Directions do not move it along ``normal``. With ``rotates`` the rotation of the end is stored in place
    of a displacement.
    """
    b, axes, g, d = t.held_carrier[e], t.member_axis + 3 * end, t.end_dual + 3 * end, t.dimension
    turns, point, nothing = axes[0] >= 0, t.lever_vectors_begin[k] + d, vector(0.0, 0.0, 0.0)
    for l in range(t.rigid_of[b] - d):
        lever, motion = nothing, nothing
        for n in range(3 if turns else 0):
            if axes[n] >= 0 and t.vector_carrier[axes[n]] >= 0:
                place, share = t.lever_vectors_begin[axes[n]] + d + l, dot(g[n], arm)
                lever += 0.5 * cross(g[n], t.lever[place]) if rotates else share * t.lever[place]
                motion += 0.5 * cross(g[n], t.motion[place]) if rotates else share * t.motion[place]
        if not rotates:
            lever = t.lever[point + l] + lever - dot(lever, normal) * normal
            motion = t.motion[point + l] + motion - dot(motion, normal) * normal
        t.held_lever[TURNS * e + l], t.held_motion[TURNS * e + l] = weight * lever, weight * motion
    if not _deforms(t, b):
        return
    t.held_vector[PARTS * e], t.held_part[PARTS * e] = -1 if rotates else k, weight * eye()
    for n in range(3):
        moves = turns and axes[n] >= 0 and t.vector_carrier[axes[n]] >= 0
        t.held_vector[PARTS * e + 1 + n] = axes[n] if moves else -1
        across = (weight * dot(g[n], arm)) * (eye() - outer(normal, normal))
        t.held_part[PARTS * e + 1 + n] = (0.5 * weight) * skew_of(g[n]) if rotates else across


@exported
def add_pair_tangents(t: Tables, h: float) -> None:
    """Add h times the stiffness of all contact pairs that transmitted a force in the last evaluation to Newton's
    matrix. The stiffness is minus the derivative of the forces. Couplings within one body are added to its block
    in ``t.blocks``; couplings of different bodies, and of bodies stored in segments, are kept in a list of pairs
    for the iterative solution. h is the length of the time step [s]. ``t`` contains all arrays of the model and
    its state."""
    clear_matrix_pairs(t)
    t.pair_half_step[0] = 0.5 * h
    for n in range(t.touch_count[0]):
        s, z, arms = t.touch_share[2 * n], t.touch_share[2 * n + 1], t.touch_arm + 2 * n
        i, j, normal = t.touch_first[n], t.touch_second[n], t.touch_normal[n]
        add_pair(t, i, j, s, z, h * _contact_stiffness(t, n), normal, arms[0], arms[1], False)
        if t.turning_pairs > 0 and squared_gyration_radius(t, i, j) > 0.0:
            add_pair(t, i, j, s, z, h * t.touch_twist[n], normal, arms[0], arms[1], True)
    for n in range(t.held_count[0]):
        for e in range(ENDS * n, ENDS * n + t.held_ends[n]):
            if not has_segments(t, t.held_carrier[e]):
                _add_end_block(t, e, t.held_slope[n])


@compiled
def _contact_stiffness(t: Tables, n: int) -> Matrix:
    """Return the 3 x 3 stiffness of stored contact n: minus the derivative of the force on its first shape with
    respect to the relative displacement at the contact point. It contains normal and tangential stiffness, and the
    dependence of friction on the normal force, which makes it unsymmetric. ``t`` contains all arrays of the model
    and its state.
    """
    own, normal, e = t.touch_stiffness + 3 * n, t.touch_normal[n], t.touch_slip[n]
    found = own[0] * outer(normal, normal) - outer(t.touch_level[n], normal)
    if own[1] > 0.0:
        found = found + own[1] * (eye() - outer(normal, normal))
    return found - own[2] * outer(e, e)


@compiled
def gather_end(t: Tables, e: int, is_first: bool) -> None:
    """Compute how each velocity of the body at end e of a contact pair moves the contact point, and add it to
    ``t.pair_motion`` and ``t.pair_lever``. A motion is the displacement of the point in the time step for a unit
    velocity; the scalar product of lever and force is the generalized force. If ``is_first``, both arrays are set
    to zero before; with False a second end on the same body is added. ``t`` contains all arrays of the model and
    its state.
    """
    b, d, nothing = t.held_carrier[e], t.dimension, vector(0.0, 0.0, 0.0)
    rigid, width, half = t.rigid_of[b], t.velocities_count[b], t.held_weight[e] * t.pair_half_step[0]
    for i in range(width if is_first else 0):
        t.pair_lever[i], t.pair_motion[i] = nothing, nothing
    for i in range(d):
        t.pair_lever[i] += t.held_weight[e] * unit(i)
        t.pair_motion[i] += half * unit(i)
    for l in range(rigid - d):
        t.pair_lever[d + l] += t.held_lever[TURNS * e + l]
        t.pair_motion[d + l] += t.held_motion[TURNS * e + l]
    for own in range(PARTS * e, PARTS * e + PARTS if width > rigid else 0):
        k = t.held_vector[own]
        for j in range(t.vector_last[k] - t.vector_first[k] if k >= 0 else 0):
            v, place = rigid + t.vector_first[k] + j, t.lever_vectors_begin[k] + rigid + j
            t.pair_lever[v] += t.held_part[own] @ t.lever[place]
            t.pair_motion[v] += t.held_part[own] @ t.motion[place]


@compiled
def _add_end_block(t: Tables, e: int, slope: Matrix) -> None:
    """Add the stiffness of a contact pair at its end e to the diagonal block of the body of this end in Newton's
    matrix. It is J^T ``slope`` M for the 3 x 3 matrix ``slope``. M is the displacement of the contact point for
    unit velocities, J^T the generalized force for a unit force. Blocks between two ends are not added. ``t``
    contains all arrays of the model and its state."""
    b = t.held_carrier[e]
    gather_end(t, e, True)
    for i in range(t.velocities_count[b]):
        q = t.pair_lever[i] @ slope
        for l in range(t.velocities_count[b]):
            own = block_entry(t, b, i, l)
            own[0] += dot(q, t.pair_motion[l])


# Products with what couples bodies.


@compiled
def _end_displacement(t: Tables, e: int, x: Reals) -> Vector:
    """Return the displacement in world axes of the contact point at end e of a contact pair, caused by body
    velocities x. It is the displacement in a time step. An end is one body on which the pair acts, with a weight;
    x has the shape (velocities,). Translation, rotation and, if the body deforms, elastic coordinates contribute.
    ``t`` contains all arrays of the model and its state."""
    b, d = t.held_carrier[e], t.dimension
    own, rigid = x + t.velocities_begin[b], t.rigid_of[b]
    half, motion = t.held_weight[e] * t.pair_half_step[0], t.held_motion + TURNS * e
    moved = half * components_of(own, d)
    for l in range(rigid - d):
        moved += own[d + l] * motion[l]
    for part in range(PARTS * e, PARTS * e + PARTS if _deforms(t, b) else 0):
        k, bent = t.held_vector[part], vector(0.0, 0.0, 0.0)
        if k >= 0:
            motion = t.motion + (t.lever_vectors_begin[k] + rigid)
            for j in range(t.vector_last[k] - t.vector_first[k]):
                bent += own[rigid + t.vector_first[k] + j] * motion[j]
            moved += t.held_part[part] @ bent
    return moved


@compiled
def _apply_end_force(t: Tables, e: int, f: Vector, y: Reals) -> None:
    """Add the generalized forces of a world force f on the contact point at end e of a contact pair to y, shape
    (velocities,). An end is one body on which the pair acts; its translation, rotation and, if it deforms, elastic
    coordinates get forces. ``t`` contains all arrays of the model and its state."""
    b, d = t.held_carrier[e], t.dimension
    own, rigid, lever = y + t.velocities_begin[b], t.rigid_of[b], t.held_lever + TURNS * e
    add_components(own, 1, t.held_weight[e] * f, d)
    for l in range(rigid - d):
        own[d + l] += dot(lever[l], f)
    for part in range(PARTS * e, PARTS * e + PARTS if _deforms(t, b) else 0):
        k, g = t.held_vector[part], f @ t.held_part[part]
        if k >= 0:
            lever = t.lever + (t.lever_vectors_begin[k] + rigid)
            for j in range(t.vector_last[k] - t.vector_first[k]):
                own[rigid + t.vector_first[k] + j] += dot(lever[j], g)


@compiled
def _add_pair_product(t: Tables, x: Reals, y: Reals, is_whole: bool) -> None:
    """Add the stiffness of all active contact pairs times body velocities x to the generalized forces y, both of
    shape (velocities,). It is not stored as a matrix: each pair maps x to a displacement, to a force and back.
    Unless ``is_whole``, only couplings that the blocks of single bodies do not contain are added. ``t`` contains
    all arrays of the model and its state."""
    for n in range(t.held_count[0]):
        if not is_whole and t.held_couples[n] == 0:
            continue
        first, count, total, slope = ENDS * n, t.held_ends[n], vector(0.0, 0.0, 0.0), t.held_slope[n]
        moved = t.held_moved + first
        for e in range(count):
            moved[e] = _end_displacement(t, first + e, x)
            total += moved[e]
        for e in range(count):
            is_all = is_whole or has_segments(t, t.held_carrier[first + e])
            _apply_end_force(t, first + e, slope @ (total if is_all else total - moved[e]), y)


@compiled
def _coupling_product(t: Tables, x: Reals, y: Reals) -> None:
    """Compute y = P^-1 E x for all unknowns. Here E is the coupling of bodies by contact pairs and P the rest of
    Newton's matrix, whose factors are known. ``t`` contains all arrays of the model and its state."""
    fill(y, t.unknowns, 0.0)
    _add_pair_product(t, x, y, False)
    substitute(t, y, 1)


@compiled
def _weighted_product(t: Tables, x: Reals, y: Reals) -> float:
    """Return the scalar product of two vectors x and y over all velocities with squared weights w, the sum of
    w_i^2 x_i y_i. The weights w, in ``t.velocity_weight``, make angular and elastic velocities comparable with
    linear ones. ``t`` contains all arrays of the model and its state."""
    total = 0.0
    for i in range(t.velocities):
        total += t.velocity_weight[i] * t.velocity_weight[i] * x[i] * y[i]
    return total


@exported
def correct_for_pairs(t: Tables, x: Reals) -> None:
    """Replace x, a solution without the coupling of bodies by contact pairs, by the solution of the full linear
    system. x was computed with the factored blocks of Newton's matrix; a few iterations of GMRES correct it. The
    relative error that remains is stored in ``t.pair_left``; without coupling pairs x does not change. ``t``
    contains all arrays of the model and its state."""
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
    """Add column k to the least-squares problem of GMRES by Givens rotations, and return the norm of the remaining
    residual. ``column`` has its entries down to the diagonal, ``below`` is the entry under it; ``column`` is
    rotated in place. ``rotated`` contains the right side, then the cosines and sines of the rotations, and is
    extended."""
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
    """Solve the upper triangular least-squares system of GMRES, of size ``count``, by back substitution for the
    coefficients of its basis vectors. They replace the right side ``rotated``. The matrix H is stored by
    columns."""
    for back in range(count):
        k = count - 1 - back
        for l in range(k + 1, count):
            rotated[k] -= H[ROWS * l + k] * rotated[l]
        rotated[k] /= H[ROWS * k + k]


# How fast bodies vibrate on the pairs that are held.


@exported
def coupled_squared_frequency(t: Tables, h: float) -> float:
    """Return an estimate of the largest squared angular frequency [1/s2] of the bodies on the springs of all
    stored contact pairs. It is computed by a few power iterations with Rayleigh's quotient and multiplied by a
    safety factor. Return -1 if there was no room to store all pairs, 0 if the springs do not act. h is the time
    step in which they were stored [s]. ``t`` contains all arrays of the model and its state.

    The iteration uses the factored blocks of inertia and Rayleigh's quotient; the factor is ``BEYOND``.
    """
    if t.held_count[0] == t.matrix_pairs:
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
