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
from phlexible.step.kernels.floating_bodies import axis_of, one
from phlexible.step.kernels.many.member_ends import none
from phlexible.step.kernels.many.rigid_pairs import add_rigid, hold_side, is_edge, is_rigid, multiply_rigid
from phlexible.step.kernels.segments import has_segments, place_of
from phlexible.step.kernels.solver.elimination import solve_carrier, substitute
from phlexible.step.kernels.vectors import mean_place, moved_by, outer, velocity_of
from phlexible.step.tables.declarations import INSET

ENDS = 4  # of both members of a pair: start and end of each
MOST = 12  # directions of GMRES
ROWS = MOST + 1  # of ``pair_basis`` and ``pair_image``
INEXACT = 1e-4  # of an update of Newton's method, by which it may be wrong
SWEEPS = 10  # of the power iteration for the greatest frequency
BEYOND = 1.1  # times what it finds, which is never more than there is


@exported
def forget_held_pairs(t: Tables) -> None:
    """Remove all pairs from Newton's matrix."""
    for n in range(t.held_ends[0]):
        t.end_is_held[t.held_end[n]] = 0
    t.held_count[0], t.held_across[0], t.held_ends[0], t.held_others[0] = 0, 0, 0, 0


@compiled
def hold(
    t: Tables, i: int, j: int, s: float, z: float, slope: Matrix, normal: Vector, arm: Vector, other: Vector
) -> int:
    """Add a pair, whose end frames are cached, to Newton's matrix if there is room, and return its index or -1.

    The normal force acts at the centre of round members: for directions that a deformed body stretches, an arm
    along the normal would change its length.
    """
    n = t.held_count[0]
    if n == t.touching_pairs:
        return -1
    t.held_slope[n], t.held_count[0] = slope, n + 1
    is_simple = t.turning_pairs == 0 and is_rigid(t, i) and is_rigid(t, j)
    t.held_is_rigid[n] = 1 if is_simple else 0
    if is_simple:
        moving = hold_side(t, 2 * n, i, s, normal, arm)
        moving += hold_side(t, 2 * n + 1, j, z, normal, other)
        t.held_across[0] += 1 if moving > 1 else 0
        return n
    t.held_others[0] += 1
    if t.turning_pairs > 0:
        t.held_twist[n] = none()
    ends, whole = _hold_ends(t, 2 * n, i, s, normal, arm)
    others, all_whole = _hold_ends(t, 2 * n + 1, j, z, normal, other)
    if ends + others > 1 or not whole or not all_whole:
        t.held_across[0] += 1
    return n


@compiled
def _hold_ends(t: Tables, side: int, m: int, s: float, normal: Vector, arm: Vector) -> tuple[int, bool]:
    """Store the ends of one member of a pair; return how many of them move, and whether the elimination has all of
    them."""
    p, q, count, whole, at = t.member_start[m], t.member_end[m], 0, True, 2 * side
    t.held_arm[side], t.held_normal[side] = arm, normal
    if t.member_kind[m] > INSET or is_edge(t, m):
        t.held_normal[side] = vector(0.0, 0.0, 0.0)
    if is_edge(t, m):  # all of it moves as its start and the directions
        t.held_arm[side] = arm + s * (mean_place(t, q) - mean_place(t, p))
    for end in range(2):
        k, weight = (p, 1.0 - s) if end == 0 else (q, s)
        if p == q or is_edge(t, m):
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
            _hold_end(t, 2 * m + end)
    return count, whole


@compiled
def _hold_end(t: Tables, e: int) -> None:
    """Store the dual vectors of an end's directions, which later evaluations of the forces change."""
    if t.end_is_held[e] == 0:
        for l in range(3):
            t.held_dual[3 * e + l] = t.end_dual[3 * e + l]
        t.end_is_held[e], t.held_end[t.held_ends[0]] = 1, e
        t.held_ends[0] += 1


@exported
def pair_tangent(t: Tables, h: float) -> None:
    """Add all pairs that push in the last evaluation to Newton's matrix, with their parts in blocks of one
    carrier."""
    forget_held_pairs(t)
    t.pair_half_step[0] = 0.5 * h
    for n in range(t.touch_count[0]):
        s, z, arms = t.touch_share[2 * n], t.touch_share[2 * n + 1], t.touch_arm + 2 * n
        i, j = t.touch_first[n], t.touch_second[n]
        place = hold(t, i, j, s, z, h * _slope(t, n), t.touch_normal[n], arms[0], arms[1])
        if t.turning_pairs > 0 and place >= 0:
            t.held_twist[place] = h * t.touch_twist[n]
    for n in range(t.held_count[0]):
        if t.held_is_rigid[n] == 1:
            add_rigid(t, 2 * n, t.held_slope[n])
            add_rigid(t, 2 * n + 1, t.held_slope[n])
            continue
        for e in range(ENDS * n, ENDS * n + ENDS):
            if t.held_point[e] >= 0 and t.held_is_whole[e] == 1:
                _add_own(t, e, t.held_slope[n])
                if t.turning_pairs > 0 and t.held_turns[e] >= 0:
                    _add_turn(t, e, t.held_twist[n])


@compiled
def _slope(t: Tables, n: int) -> Matrix:
    """Return minus the derivative of the force on the first member to its slip: N' n n^T + a (I - n n^T) - b e e^T
    - ..."""
    own, normal, e = t.touch_stiffness + 3 * n, t.touch_normal[n], t.touch_slip[n]
    found = own[0] * outer(normal, normal) - outer(t.touch_level[n], normal)
    if own[1] > 0.0:
        found = found + own[1] * (one() - outer(normal, normal))
    return found - own[2] * outer(e, e)


@compiled
def _gather(t: Tables, k: int, weight: float, normal: Vector) -> None:
    """Add a share of vector k, without its component along the normal, to ``pair_lever`` and ``pair_motion``."""
    lever, motion = t.lever + t.lever_vectors_begin[k], t.motion + t.lever_vectors_begin[k]
    for i in range(moved_by(t, k)):
        v = velocity_of(t, k, i)
        t.pair_lever[v] += weight * (lever[i] - dot(lever[i], normal) * normal)
        t.pair_motion[v] += weight * (motion[i] - dot(motion[i], normal) * normal)


@compiled
def _add_own(t: Tables, e: int, slope: Matrix) -> None:
    """Add the product of lever, slope and motion of one end of a pair to the block of its carrier."""
    k, weight, end = t.held_point[e], t.held_weight[e], t.held_turns[e]
    b, arm, normal = t.vector_carrier[k], t.held_arm[e // 2], t.held_normal[e // 2]
    width, nothing = t.velocities_count[b], vector(0.0, 0.0, 0.0)
    for i in range(width):
        t.pair_lever[i], t.pair_motion[i] = nothing, nothing
    _gather(t, k, weight, nothing)
    if end >= 0:
        for l in range(3):
            direction = t.member_axis[3 * end + l]
            if direction >= 0 and t.vector_carrier[direction] >= 0:
                _gather(t, direction, weight * dot(t.held_dual[3 * end + l], arm), normal)
    _add_products(t, b, slope)


@compiled
def _add_products(t: Tables, b: int, slope: Matrix) -> None:
    """Add the products of ``pair_lever`` and the slope times ``pair_motion`` to the block of carrier b."""
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
                own = place_of(t, b, i, l)
                own[0] += dot(q, t.pair_motion[l])


@compiled
def _add_turn(t: Tables, e: int, twist: Matrix) -> None:
    """Add the product of couples and rotations of one end to the block of its carrier."""
    end, b, nothing = t.held_turns[e], t.vector_carrier[t.held_point[e]], vector(0.0, 0.0, 0.0)
    for i in range(t.velocities_count[b]):
        t.pair_lever[i], t.pair_motion[i] = nothing, nothing
    for l in range(3):
        k, g = t.member_axis[3 * end + l], 0.5 * t.held_dual[3 * end + l]
        if t.vector_carrier[k] >= 0:
            lever, motion = t.lever + t.lever_vectors_begin[k], t.motion + t.lever_vectors_begin[k]
            for i in range(moved_by(t, k)):
                v = velocity_of(t, k, i)
                t.pair_lever[v] += cross(g, lever[i])
                t.pair_motion[v] += cross(g, motion[i])
    _add_products(t, b, twist)


@compiled
def _add_six(t: Tables, block: Reals, stride: int, slope: Matrix) -> None:
    """Add the products of ``_add_products`` for a rigid body, with a length of six that LLVM knows."""
    for i in range(SIX):
        q = t.pair_lever[i] @ slope
        for l in range(SIX):
            block[i * stride + l] += dot(q, t.pair_motion[l])


# Products with what couples bodies.


@compiled
def _moved(t: Tables, e: int) -> Vector:
    """Return the displacement of an end of a pair, from ``left`` of its vectors."""
    moved, end, normal = t.left[t.held_point[e]], t.held_turns[e], t.held_normal[e // 2]
    if end >= 0:
        turned = t.held_turn[end] @ t.held_arm[e // 2]
        moved += turned - dot(turned, normal) * normal
    return t.held_weight[e] * moved


@compiled
def _push_end(t: Tables, e: int, f: Vector) -> None:
    """Add a force on an end to ``right`` of its vector and to the moment of its directions."""
    own, end, normal = t.held_weight[e] * f, t.held_turns[e], t.held_normal[e // 2]
    t.right[t.held_point[e]] += own
    if end >= 0:
        t.held_moment[end] = t.held_moment[end] + outer(own - dot(own, normal) * normal, t.held_arm[e // 2])


@compiled
def _twist(t: Tables, n: int, is_whole: bool) -> None:
    """Add the couples of a pair on the starts of both members, from their rotations."""
    first, second = ENDS * n, ENDS * n + 2
    psi, other = _psi(t, first), _psi(t, second)
    whole = t.held_twist[n] @ (psi - other)
    if t.held_point[first] >= 0 and t.held_turns[first] >= 0:
        is_own = not is_whole and t.held_is_whole[first] == 1
        _turn_end(t, t.held_turns[first], -1.0 * (t.held_twist[n] @ other) if is_own else whole)
    if t.held_point[second] >= 0 and t.held_turns[second] >= 0:
        is_own = not is_whole and t.held_is_whole[second] == 1
        _turn_end(t, t.held_turns[second], -1.0 * (t.held_twist[n] @ psi) if is_own else -1.0 * whole)


@compiled
def _psi(t: Tables, e: int) -> Vector:
    """Return the rotation of an end, half of sum g x delta(d)."""
    if t.held_point[e] < 0 or t.held_turns[e] < 0:
        return vector(0.0, 0.0, 0.0)
    axes, g = t.member_axis + 3 * t.held_turns[e], t.held_dual + 3 * t.held_turns[e]
    total = vector(0.0, 0.0, 0.0)
    for l in range(3):
        if t.vector_carrier[axes[l]] >= 0:
            total += 0.5 * cross(g[l], t.left[axes[l]])
    return total


@compiled
def _turn_end(t: Tables, end: int, couple: Vector) -> None:
    axes, g = t.member_axis + 3 * end, t.held_dual + 3 * end
    for l in range(3):
        t.right[axes[l]] += 0.5 * cross(couple, g[l])


@compiled
def _turn_ends(t: Tables) -> None:
    """Compute rotations of arms from ``left`` of the directions, and clear their moments."""
    for n in range(t.held_ends[0]):
        e, turn = t.held_end[n], none()
        for l in range(3):
            direction = t.member_axis[3 * e + l]
            if t.vector_carrier[direction] >= 0:
                turn = turn + outer(t.left[direction], t.held_dual[3 * e + l])
        t.held_turn[e], t.held_moment[e] = turn, none()


@compiled
def _push_directions(t: Tables) -> None:
    """Apply the moments of all ends to ``right`` of the directions."""
    for n in range(t.held_ends[0]):
        e = t.held_end[n]
        moment = t.held_moment[e]
        for l in range(3):
            t.right[t.member_axis[3 * e + l]] += moment @ t.held_dual[3 * e + l]


@compiled
def _move_vectors(t: Tables, x: Reals) -> None:
    """Compute displacements of vectors for velocities x into ``left``, and clear the forces ``right``.

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
                spin += own[t.dimension + l] * row(t.inverse_mean[b], axis_of(l, t.axes_of[b]))
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
def _push_carriers(t: Tables, y: Reals) -> None:
    """Add the generalized forces of ``right`` on vectors to the balances y of their carriers."""
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
def _balance(t: Tables, own: Reals, b: int, force: Vector, moment: Vector) -> None:
    for i in range(t.dimension):
        own[i] += along(force, i)
    if b < t.frames:
        turned = t.inverse_mean[b] @ moment
        for l in range(t.axes_of[b]):
            own[t.dimension + l] += along(turned, axis_of(l, t.axes_of[b]))


@compiled
def _multiply(t: Tables, x: Reals, y: Reals, is_whole: bool) -> None:
    """Add the product of all pairs in Newton's matrix with velocities x to y.

    If not ``is_whole``, without the part in the blocks of carriers.
    """
    nothing = vector(0.0, 0.0, 0.0)
    if t.held_others[0] < t.held_count[0]:
        for n in range(t.held_count[0]):
            if t.held_is_rigid[n] == 1:
                multiply_rigid(t, n, x, y, is_whole)
    if t.held_others[0] == 0:
        return
    _move_vectors(t, x)
    _turn_ends(t)
    for n in range(t.held_count[0]):
        if t.held_is_rigid[n] == 1:
            continue
        total, slope, first = nothing, t.held_slope[n], ENDS * n
        for e in range(first, first + ENDS):
            if t.held_point[e] >= 0:
                moved = _moved(t, e) if e < first + 2 else -1.0 * _moved(t, e)
                t.held_moved[e], total = moved, total + moved
        for e in range(first, first + ENDS):
            if t.held_point[e] >= 0:
                moved = total - t.held_moved[e] if not is_whole and t.held_is_whole[e] == 1 else total
                f = slope @ moved
                _push_end(t, e, f if e < first + 2 else -1.0 * f)
        if t.turning_pairs > 0:
            _twist(t, n, is_whole)
    _push_directions(t)
    _push_carriers(t, y)


@compiled
def _couple(t: Tables, x: Reals, y: Reals) -> None:
    """Compute y = P^-1 E x for all unknowns."""
    fill(y, t.unknowns, 0.0)
    _multiply(t, x, y, False)
    substitute(t, y, 1)


@compiled
def _product(t: Tables, x: Reals, y: Reals) -> float:
    """Return the weighted scalar product of two vectors of velocities."""
    total = 0.0
    for i in range(t.velocities):
        total += t.velocity_weight[i] * t.velocity_weight[i] * x[i] * y[i]
    return total


@exported
def correct_for_pairs(t: Tables, x: Reals) -> None:
    """Turn x = P^-1 b, with the factors of the blocks, into J^-1 b, for all unknowns."""
    t.pair_left[0] = 0.0
    if t.held_across[0] == 0:
        return
    n, H = t.unknowns, t.pair_products
    first = t.pair_image
    _couple(t, x, first)
    size, left = sqrt(_product(t, x, x)), sqrt(_product(t, first, first))
    goal, used = INEXACT * size * (size / left) if left > 0.0 else 0.0, 0  # x is a sweep beyond GMRES
    rotated, level = H + ROWS * ROWS, left  # right side, cosines and sines of the least squares
    rotated[0] = -left
    if left > goal:
        copy(first, t.pair_basis, t.velocities)
        scale(t.pair_basis, t.velocities, 1.0 / left)
    while used < MOST and level > goal:
        v, image = t.pair_basis + used * n, t.pair_image + (used + 1) * n
        _couple(t, v, image)
        following = t.pair_basis + (used + 1) * n
        for i in range(t.velocities):
            following[i] = v[i] + image[i]
        column = H + ROWS * used
        for k in range(used + 1):
            column[k] = _product(t, following, t.pair_basis + k * n)
            add_multiple(following, -column[k], t.pair_basis + k * n, t.velocities)
        length = sqrt(_product(t, following, following))
        if length > 0.0:
            scale(following, t.velocities, 1.0 / length)
        level = _rotate(column, rotated, used, length)
        used += 1
    _find_shares(H, rotated, used)
    add_multiple(x, -1.0, first, n)
    for k in range(used):
        add_multiple(x, -rotated[k], t.pair_image + (k + 1) * n, n)
    found = sqrt(_product(t, x, x))
    t.pair_left[0] = level / found if found > 0.0 else 0.0


@compiled
def _rotate(column: Reals, rotated: Reals, k: int, below: float) -> float:
    """Add a column to the least-squares problem of GMRES, ``below`` under its diagonal; return the residual
    norm."""
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
def _find_shares(H: Reals, rotated: Reals, count: int) -> None:
    """Solve the triangular system of GMRES for the share of each direction, in place of the right side."""
    for back in range(count):
        k = count - 1 - back
        for l in range(k + 1, count):
            rotated[k] -= H[ROWS * l + k] * rotated[l]
        rotated[k] /= H[ROWS * k + k]


# How fast bodies vibrate on the pairs that are held.


@exported
def frequency_of_pairs(t: Tables, h: float) -> float:
    """Largest omega^2 of the bodies on all stored pairs, whose slopes are stiffnesses; -1: there was no room for
    all.

    A power iteration with the factored blocks of inertia, by Rayleigh's quotient, times ``BEYOND``.
    """
    if t.held_count[0] == t.touching_pairs:
        return -1.0
    x, y = t.pair_basis, t.pair_image
    t.pair_half_step[0] = 0.5 * h
    fill(y, t.velocities, 0.0)
    for i in range(t.velocities):
        x[i] = 0.5 + float((7919 * i) % 101) / 101.0
    _multiply(t, x, y, True)
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
        _multiply(t, x, y, True)
        found = max(found, (2.0 / h) * product(x, y, t.velocities))
    return BEYOND * found
