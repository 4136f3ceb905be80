"""Pairs among many in Newton's matrix: blocks of bodies are eliminated, what couples them is iterated.

A pair is a 3 x 3 matrix between the two places that touch (docs/theory.md, 8). What it puts on the blocks that the
elimination has, of one carrier each, is added there; the rest E is found with the factors P of these,
x = P^-1 b - P^-1 E x, by generalized minimal residuals (GMRES). So no block fills, nothing is ordered anew where
other pairs touch, and a pile costs what its pairs cost.
"""

from math import sqrt

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.dense import SIX, add_multiple, copy, fill, product, scale
from phlexible.step.compilation.notation import Matrix, Reals, Tables, Vector, Vectors, along, dot, vector
from phlexible.step.kernels.elimination import solve_frame, substitute
from phlexible.step.kernels.floating_bodies import one
from phlexible.step.kernels.many.pair_friction import coefficients
from phlexible.step.kernels.segments import has_segments, place_of
from phlexible.step.kernels.vectors import mean_place, moved_by, outer, velocity_of
from phlexible.step.tables.declarations import EDGE, INSET

ENDS = 4  # of both members of a pair: start and end of each
MOST = 12  # directions of GMRES
ROWS = MOST + 1  # of ``pair_basis`` and ``pair_image``
INEXACT = 1e-3  # of an update of Newton's method, by which it may be wrong
SWEEPS = 10  # of the power iteration for the greatest frequency
BEYOND = 1.1  # times what it finds, which is never more than there is


@exported
def forget_held_pairs(t: Tables) -> None:
    """No pair has a place in Newton's matrix."""
    t.held_count[0], t.held_across[0] = 0, 0


@compiled
def hold(t: Tables, i: int, j: int, s: float, z: float, slope: Matrix, normal: Vector, arms: Vectors) -> None:
    """Give two members a place, if there is room.

    The normal force acts at the centre of what is round: of directions that a deformed body stretches, an arm along
    the normal would change its length.
    """
    n = t.held_count[0]
    if n == t.touching_pairs:
        return
    t.held_slope[n] = slope
    ends, whole = _hold_ends(t, ENDS * n, i, s, normal, arms)
    others, all_whole = _hold_ends(t, ENDS * n + 2, j, z, normal, arms + 2)
    t.held_count[0] = n + 1
    if ends + others > 1 or not whole or not all_whole:
        t.held_across[0] += 1


@compiled
def is_edge(t: Tables, m: int) -> bool:
    """Whether a member is an edge of a rigid body, which turns with it."""
    return t.member_kind[m] == EDGE and t.member_axis[6 * m] >= 0


@compiled
def _hold_ends(t: Tables, at: int, m: int, s: float, normal: Vector, arms: Vectors) -> tuple[int, bool]:
    """Of one member: how many of its ends move, and whether blocks of the elimination have all of these."""
    p, q, count, whole = t.member_start[m], t.member_end[m], 0, True
    if t.member_kind[m] > INSET or is_edge(t, m):
        normal = vector(0.0, 0.0, 0.0)
    for end in range(2):
        k, weight, axes = (p, 1.0 - s, 6 * m) if end == 0 else (q, s, 6 * m + 3)
        if p == q or is_edge(t, m):
            weight = 1.0 - float(end)
        b = t.vector_carrier[k]
        if weight == 0.0 or b < 0:
            t.held_point[at + end] = -1
            continue
        count += 1
        whole = whole and _has_block(t, b)
        t.held_point[at + end], t.held_weight[at + end], t.held_axes[at + end] = k, weight, -1
        t.held_normal[at + end] = normal
        if t.member_axis[axes] >= 0:
            t.held_axes[at + end], t.held_arm[at + end] = axes, arms[end]
            if is_edge(t, m):  # all of it moves as its start and the directions
                way = s * (mean_place(t, q) - mean_place(t, p))
                t.held_arm[at + end] = arms[end] + coefficients(t, t.member_axis + axes, way)
    return count, whole


@compiled
def _has_block(t: Tables, b: int) -> bool:
    """Whether the whole block of a carrier is there: of nodes, of frames without segments."""
    return not has_segments(t, b)


@exported
def pair_tangent(t: Tables, h: float) -> None:
    """All pairs that push in the last evaluation get places; blocks of one carrier are added to its own."""
    forget_held_pairs(t)
    for n in range(t.touch_count[0]):
        s, z, arms = t.touch_share[2 * n], t.touch_share[2 * n + 1], t.touch_arm + 4 * n
        hold(t, t.touch_first[n], t.touch_second[n], s, z, h * _slope(t, n), t.touch_normal[n], arms)
    for n in range(t.held_count[0]):
        for e in range(ENDS * n, ENDS * n + ENDS):
            if t.held_point[e] >= 0 and _has_block(t, t.vector_carrier[t.held_point[e]]):
                _add_own(t, e, t.held_slope[n])


@compiled
def _slope(t: Tables, n: int) -> Matrix:
    """Force on the first member, against its way from the second: N' n n^T + a (I - n n^T) - b e e^T - ..."""
    own, normal, e = t.touch_stiffness + 3 * n, t.touch_normal[n], t.touch_slip[n]
    found = own[0] * outer(normal, normal) - outer(t.touch_level[n], normal)
    if own[1] > 0.0:
        found = found + own[1] * (one() - outer(normal, normal))
    return found - own[2] * outer(e, e)


@compiled
def _gather(t: Tables, k: int, weight: float, normal: Vector) -> None:
    """Add a share of a vector, but for what is along the normal, to ``pair_lever`` and ``pair_motion``."""
    lever, motion = t.lever + t.vector_lever[k], t.motion + t.vector_lever[k]
    for i in range(moved_by(t, k)):
        v = velocity_of(t, k, i)
        t.pair_lever[v] += weight * (lever[i] - dot(lever[i], normal) * normal)
        t.pair_motion[v] += weight * (motion[i] - dot(motion[i], normal) * normal)


@compiled
def _add_own(t: Tables, e: int, slope: Matrix) -> None:
    """lever . slope motion of one end of a pair into the block of its carrier."""
    k, weight, axes = t.held_point[e], t.held_weight[e], t.held_axes[e]
    b = t.vector_carrier[k]
    width, nothing = t.width_of[b], vector(0.0, 0.0, 0.0)
    for i in range(width):
        t.pair_lever[i], t.pair_motion[i] = nothing, nothing
    _gather(t, k, weight, nothing)
    if axes >= 0:
        for l in range(3):
            direction = t.member_axis[axes + l]
            if direction >= 0 and t.vector_carrier[direction] >= 0:
                _gather(t, direction, weight * along(t.held_arm[e], l), t.held_normal[e])
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
def _add_six(t: Tables, block: Reals, stride: int, slope: Matrix) -> None:
    """The same of a rigid body, of a length that LLVM knows."""
    for i in range(SIX):
        q = t.pair_lever[i] @ slope
        for l in range(SIX):
            block[i * stride + l] += dot(q, t.pair_motion[l])


# Products with what couples bodies.


@compiled
def _moved(t: Tables, e: int) -> Vector:
    """How an end moves, by ``left`` of its vectors."""
    turned, axes, arm, normal = vector(0.0, 0.0, 0.0), t.held_axes[e], t.held_arm[e], t.held_normal[e]
    if axes >= 0:
        for l in range(3):
            direction = t.member_axis[axes + l]
            if direction >= 0 and t.vector_carrier[direction] >= 0:
                turned += along(arm, l) * t.left[direction]
    return t.held_weight[e] * (t.left[t.held_point[e]] + turned - dot(turned, normal) * normal)


@compiled
def _push_end(t: Tables, e: int, f: Vector) -> None:
    """A force on an end, into ``right`` of its vectors."""
    k, axes, arm, own = t.held_point[e], t.held_axes[e], t.held_arm[e], t.held_weight[e] * f
    t.right[k] += own
    own = own - dot(own, t.held_normal[e]) * t.held_normal[e]
    if axes >= 0:
        for l in range(3):
            direction = t.member_axis[axes + l]
            if direction >= 0 and t.vector_carrier[direction] >= 0:
                t.right[direction] += along(arm, l) * own


@compiled
def _multiply(t: Tables, x: Reals, y: Reals, is_whole: bool) -> None:
    """Add what all held pairs make of velocities x to y; if not whole, without what the blocks of carriers have."""
    nothing = vector(0.0, 0.0, 0.0)
    for n in range(t.pair_vectors):
        k = t.pair_vector[n]
        own, motion, moved = x + t.velocity_start[t.vector_carrier[k]], t.motion + t.vector_lever[k], nothing
        for i in range(moved_by(t, k)):
            moved += own[velocity_of(t, k, i)] * motion[i]
        t.left[k], t.right[k] = moved, nothing
    for n in range(t.held_count[0]):
        total, slope = nothing, t.held_slope[n]
        for e in range(ENDS * n, ENDS * n + ENDS):
            if t.held_point[e] >= 0:
                total = total + _moved(t, e) if e < ENDS * n + 2 else total - _moved(t, e)
        for e in range(ENDS * n, ENDS * n + ENDS):
            if t.held_point[e] < 0:
                continue
            sign, moved = 1.0 if e < ENDS * n + 2 else -1.0, total
            if not is_whole and _has_block(t, t.vector_carrier[t.held_point[e]]):
                moved = total - sign * _moved(t, e)
            _push_end(t, e, sign * (slope @ moved))
    for n in range(t.pair_vectors):
        k = t.pair_vector[n]
        own, lever = y + t.velocity_start[t.vector_carrier[k]], t.lever + t.vector_lever[k]
        for i in range(moved_by(t, k)):
            own[velocity_of(t, k, i)] += dot(lever[i], t.right[k])


@compiled
def _couple(t: Tables, x: Reals, y: Reals) -> None:
    """y = P^-1 E x, of all unknowns."""
    fill(y, t.unknowns, 0.0)
    _multiply(t, x, y, False)
    substitute(t, y)


@compiled
def _product(t: Tables, x: Reals, y: Reals) -> float:
    """Of two sets of velocities, made comparable."""
    total = 0.0
    for i in range(t.velocities):
        total += t.velocity_weight[i] * t.velocity_weight[i] * x[i] * y[i]
    return total


@exported
def correct_for_pairs(t: Tables, x: Reals) -> None:
    """x = P^-1 b with the factors of the blocks becomes J^-1 b, of all unknowns."""
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
    """One more column of the least squares, with ``below`` under its diagonal; what they leave."""
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
    """Of each direction, in place of the right side."""
    for back in range(count):
        k = count - 1 - back
        for l in range(k + 1, count):
            rotated[k] -= H[ROWS * l + k] * rotated[l]
        rotated[k] /= H[ROWS * k + k]


# How fast bodies vibrate on the pairs that are held.


@exported
def frequency_of_pairs(t: Tables, h: float) -> float:
    """Greatest omega^2 of the bodies on all held pairs, whose slopes are stiffnesses; -1: some are not held.

    A power iteration with the factored blocks of inertia, by Rayleigh's quotient, times ``BEYOND``.
    """
    if t.held_count[0] == t.touching_pairs:
        return -1.0
    x, y = t.pair_basis, t.pair_image
    fill(y, t.velocities, 0.0)
    for i in range(t.velocities):
        x[i] = 0.5 + float((7919 * i) % 101) / 101.0
    _multiply(t, x, y, True)
    found = 0.0
    for _ in range(SWEEPS):
        copy(y, x, t.velocities)
        for b in range(t.carriers):
            _solve_carrier(t, b, x + t.velocity_start[b])
        before = product(x, y, t.velocities)
        if not before > 0.0:
            return found
        scale(x, t.velocities, 1.0 / sqrt(before))
        fill(y, t.velocities, 0.0)
        _multiply(t, x, y, True)
        found = max(found, (2.0 / h) * product(x, y, t.velocities))
    return BEYOND * found


@compiled
def _solve_carrier(t: Tables, b: int, x: Reals) -> None:
    """M^-1 x of one carrier, whose block is factored; nothing of one without inertia."""
    if b >= t.frames:
        for i in range(t.width_of[b]):
            x[i] /= t.blocks[t.carrier_block[b]]
    elif t.hardness[b] < 0.0:
        fill(x, t.width_of[b], 0.0)
    else:
        solve_frame(t, b, x)
