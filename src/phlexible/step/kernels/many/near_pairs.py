"""Candidate pairs of members: boxes around members in a grid, reused while nothing leaves its box (docs/theory.md,
8).

A pair that is not listed cannot touch at either end of the step: while all axes stay in their boxes, boxes with the
radius around them that do not overlap keep members separated. The list is checked in each evaluation of the forces.
"""

from math import floor

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import Tables, Vector, dot, vector
from phlexible.step.kernels.many.line_segments import is_segment
from phlexible.step.kernels.many.members import point_distance, position_in_solid
from phlexible.step.tables.declarations import CORNER, GIVEN, INSET, PLANE, RIM, ROUND

LARGE = 4.0
"""Members larger than so many times the mean are held against all others, and do not make the cells larger."""


@compiled
def minimum(a: Vector, b: Vector) -> Vector:
    """Return the componentwise minimum of two vectors a and b."""
    return vector(min(a.x, b.x), min(a.y, b.y), min(a.z, b.z))


@compiled
def maximum(a: Vector, b: Vector) -> Vector:
    """Return the componentwise maximum of two vectors a and b."""
    return vector(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z))


@compiled
def swept_box(t: Tables, m: int) -> tuple[Vector, Vector]:
    """Return the lower and upper corner of the axis-aligned box around the axis of contact shape m in the time
    step, in world axes [m]. It contains the axis at both ends of the time step. Contact shapes are spheres, line
    segments and solids. ``t`` contains all arrays of the model and its state."""
    p, q = t.member_start[m], t.member_end[m]
    a, b, c, d = t.world0[p], t.world0[p] + t.change[p], t.world0[q], t.world0[q] + t.change[q]
    return minimum(minimum(a, b), minimum(c, d)), maximum(maximum(a, b), maximum(c, d))


@compiled
def count_candidates(t: Tables) -> int:
    """Return the number of candidate pairs of contact shapes (surfaces that may touch), to be read by
    ``candidate_pair``. The search over bounding boxes is repeated first if a shape has left its box. If the list
    of pairs was too short, the number is (number of shapes)^2; it is 0 without shapes. ``t`` contains all arrays
    of the model and its state."""
    if t.members == 0:
        return 0
    if t.near_known[0] == 0 or not _stay_in_boxes(t):
        _search_pairs(t)
    return t.near_count[0] if t.near_count[0] >= 0 else t.members * t.members


@compiled
def candidate_pair(t: Tables, n: int) -> tuple[int, int]:
    """Return the indices of the two contact shapes (surfaces that may touch) of candidate pair number n, the lower
    index first. If the list of pairs was too short, n counts all ordered pairs of shapes. Then (-1, -1) is
    returned for a pair that cannot touch, whose boxes do not overlap, or that has the higher index first. ``t``
    contains all arrays of the model and its state."""
    if t.near_count[0] >= 0:
        return t.near_first[n], t.near_second[n]
    i, j = n // t.members, n % t.members
    return (i, j) if j > i and _may_touch(t, i, j) and _boxes_overlap(t, i, j) else (-1, -1)


@compiled
def _stay_in_boxes(t: Tables) -> bool:
    for m in range(t.members):
        (low, high), a, b = swept_box(t, m), t.near_low[m], t.near_high[m]
        if not (low.x >= a.x and low.y >= a.y and low.z >= a.z):
            return False
        if not (high.x <= b.x and high.y <= b.y and high.z <= b.z):
            return False
    return True


@compiled
def _solid_accepts_kind(t: Tables, i: int, solid: int) -> bool:
    """Return whether a solid can touch contact shape i, a sample point, corner or rim of another body, according
    to the kinds of both. For instance only planes touch rims, and only infinite solids touch corners. ``t``
    contains all arrays of the model and its state.

    Corners touch infinite solids, insets finite ones; round shapes touch planes by their rims alone.
    """
    kind = t.member_kind[i]
    if kind == RIM or t.member_kind[solid] == PLANE:
        return t.member_kind[solid] == PLANE and kind != INSET and t.member_size[3 * i + 2] == 0.0
    if kind == CORNER:
        return t.member_around[solid] < 0.0
    return kind != INSET or t.member_around[solid] >= 0.0


@compiled
def _are_far_along(t: Tables, i: int, j: int) -> bool:
    """Return whether segments i and j of one line are far enough apart along it to be in contact. The difference
    of their indices must be at least the minimum ``t.member_apart`` of the line (0: never). On a closed line the
    shorter way round counts. ``t`` contains all arrays of the model and its state."""
    apart, loop = t.member_apart[i], t.member_loop[i]
    way = abs(i - j)  # members of a line come one after the other
    return apart > 0 and way >= apart and (loop == 0 or loop - way >= apart)


@compiled
def _may_touch(t: Tables, i: int, j: int) -> bool:
    """Return whether contact shapes i and j (balls, segments, solids) can be a contact pair at all, whatever their
    positions are. They must belong to one contact group and to its two different sets of shapes, and be of kinds
    that touch. They must be on different bodies, or far apart along one line. ``t`` contains all arrays of the
    model and its state."""
    if t.member_contact_group[i] != t.member_contact_group[j]:
        return False
    if t.member_body[i] == t.member_body[j] and not _are_far_along(t, i, j):
        return False
    if (t.member_side[i] | t.member_side[j]) != 3:
        return False
    a, b = t.member_kind[i], t.member_kind[j]
    if a > RIM:
        return _solid_may_touch(t, j, i)
    if b > RIM:
        return _solid_may_touch(t, i, j)
    return a == ROUND and b == ROUND and t.member_radius[i] + t.member_radius[j] > 0.0


@compiled
def _solid_may_touch(t: Tables, i: int, j: int) -> bool:
    """Return whether solid j can be in contact with contact shape i, by their kinds and sizes alone. It can with a
    ball, point or rim of a kind that it accepts, and with the middle part of a line segment if its edges are not
    rounded too much, compared with the segment's limits. ``t`` contains all arrays of the model and its state.
    """
    if not is_segment(t, i):
        return t.member_kind[i] <= RIM and _solid_accepts_kind(t, i, j)
    size, rounding = t.member_size + 3 * i, t.member_rounding[j]
    return size[0] > 0.0 and rounding < size[1] and (rounding > 0.0 or size[2] == 0.0)


@compiled
def _boxes_overlap(t: Tables, i: int, j: int) -> bool:
    """Return whether the bounding boxes of contact shapes i and j overlap, so that they are a candidate pair. The
    boxes are those of the axes over a while, and are enlarged by the radii of both shapes. If one shape is an
    infinite solid, the distance of the other from it is tested instead. ``t`` contains all arrays of the model and
    its state.
    """
    if t.member_around[i] < 0.0:
        return _may_reach_infinite_solid(t, j, i)
    if t.member_around[j] < 0.0:
        return _may_reach_infinite_solid(t, i, j)
    reach = t.member_around[i] + t.member_around[j]
    low = maximum(t.near_low[i], t.near_low[j])
    high = minimum(t.near_high[i], t.near_high[j])
    return low.x <= high.x + reach and low.y <= high.y + reach and low.z <= high.z + reach


@compiled
def _may_reach_infinite_solid(t: Tables, i: int, j: int) -> bool:
    """Return False if contact shape i cannot touch the infinite solid j, such as a plane, anywhere in the bounding
    box of i. The distance of its start point is compared with its size plus the diagonal of the box. If j is not
    fixed to the ground, the result is always True. ``t`` contains all arrays of the model and its state.
    """
    if t.vector_carrier[t.member_start[j]] != GIVEN:
        return True
    size = t.near_high[i] - t.near_low[i]
    middle, _ = position_in_solid(t, t.member_start[i], j)
    return point_distance(t, i, j, middle) <= t.member_around[i] + dot(size, size) ** 0.5


@compiled
def _search_pairs(t: Tables) -> None:
    """Compute new bounding boxes of all contact shapes, and list all pairs whose boxes overlap as candidate pairs.
    Boxes have a margin and include the motion in the time step. The pairs are sorted, unless the list is too short
    for them. Contact shapes are spheres, line segments and solids. ``t`` contains all arrays of the model and its
    state."""
    mean, count = 0.0, 0.0
    for m in range(t.members):
        skin = t.contact_group_skin[t.member_contact_group[m]]
        (low, high), around = swept_box(t, m), vector(skin, skin, skin)
        t.near_low[m], t.near_high[m] = low - around, high + around
        if t.member_around[m] >= 0.0:
            mean, count = mean + _extent(t, m), count + 1.0
    mean /= max(count, 1.0)
    t.near_known[0], t.near_count[0] = 1, 0
    _sort_into_cells(t, mean)
    for m in range(t.members):
        _list_neighbours(t, m, mean)
        if t.near_count[0] < 0:
            return
    _sort_pairs(t, t.near_count[0])


@compiled
def _extent(t: Tables, m: int) -> float:
    size = t.near_high[m] - t.near_low[m]
    return max(size.x, max(size.y, size.z)) + 2.0 * t.member_around[m]


@compiled
def _is_outside_grid(t: Tables, m: int, mean: float) -> bool:
    """Return whether contact shape m (a ball, segment or solid) is compared with every other shape instead of
    through the search grid. It is if it is infinite, or if its extent is not finite or above a fixed multiple of
    ``mean``, the mean extent. ``t`` contains all arrays of the model and its state."""
    return t.member_around[m] < 0.0 or not _extent(t, m) <= LARGE * mean


@compiled
def _bucket(t: Tables, x: int, y: int, z: int) -> int:
    return ((x * 73856093) ^ (y * 19349663) ^ (z * 83492791)) & (t.near_buckets - 1)


@compiled
def _sort_into_cells(t: Tables, mean: float) -> None:
    """Sort the contact shapes (spheres, segments, solids) into the cells of a grid by the centres of their boxes.
    The cell size is that of the largest shape in the grid, so that shapes which may touch are in one cell or in
    adjacent cells. Lists of shapes are stored by hash buckets of cells. Infinite shapes, and shapes much larger
    than ``mean``, are left out. ``t`` contains all arrays of the model and its state."""
    cell = 0.0
    for m in range(t.members):
        if not _is_outside_grid(t, m, mean):
            cell = max(cell, _extent(t, m))
    for b in range(t.near_buckets):
        t.near_bucket[b] = 0
    for m in range(t.members):
        if _is_outside_grid(t, m, mean):
            t.near_start[m] = -1
            continue
        middle, own = (0.5 / cell) * (t.near_low[m] + t.near_high[m]), t.near_cell + 3 * m
        own[0], own[1], own[2] = floor(middle.x), floor(middle.y), floor(middle.z)
        t.near_start[m] = _bucket(t, own[0], own[1], own[2])
        t.near_bucket[t.near_start[m]] += 1
    total = 0
    for b in range(t.near_buckets):
        total += t.near_bucket[b]
        t.near_bucket[b] = total
    for back in range(t.members):
        m = t.members - 1 - back
        b = t.near_start[m]
        if b >= 0:
            t.near_bucket[b] -= 1
            t.near_order[t.near_bucket[b]] = m
    t.near_listed[0] = total


@compiled
def _list_neighbours(t: Tables, m: int, mean: float) -> None:
    """Add the candidate pairs of contact shape m (sphere, segment or solid) with shapes in neighbouring grid cells
    to the list. Its own cell and half of the adjacent cells are searched, so that each pair occurs once. A shape
    outside of the grid, because it is infinite or much larger than the mean size ``mean``, is paired with all
    shapes. ``t`` contains all arrays of the model and its state."""
    if _is_outside_grid(t, m, mean):
        for k in range(t.members):
            if k > m or (k < m and not _is_outside_grid(t, k, mean)):
                _list_pair(t, m, k)
        return
    own = t.near_cell + 3 * m
    for n in range(13, 27):
        x, y, z = own[0] + n // 9 - 1, own[1] + (n // 3) % 3 - 1, own[2] + n % 3 - 1
        b = _bucket(t, x, y, z)
        end = t.near_bucket[b + 1] if b + 1 < t.near_buckets else t.near_listed[0]
        for place in range(t.near_bucket[b], end):
            k = t.near_order[place]
            other = t.near_cell + 3 * k
            if other[0] == x and other[1] == y and other[2] == z and (n > 13 or k > m):
                _list_pair(t, m, k)


@compiled
def _list_pair(t: Tables, m: int, k: int) -> None:
    """Add contact shapes m and k to the list of candidate pairs, ``t.near_found``, if they may touch and their
    boxes overlap. If the list is full, the count ``t.near_count`` becomes -1. Contact shapes are spheres, line
    segments and solids. ``t`` contains all arrays of the model and its state."""
    count = t.near_count[0]
    if count < 0 or not _may_touch(t, m, k) or not _boxes_overlap(t, m, k):
        return
    if count == t.near_pairs:
        t.near_count[0] = -1
        return
    t.near_found[2 * count], t.near_found[2 * count + 1] = min(m, k), max(m, k)
    t.near_count[0] = count + 1


@compiled
def _sort_pairs(t: Tables, count: int) -> None:
    """Sort the list of ``count`` candidate pairs of contact shapes by their first and then by their second index,
    by two counting sorts. The list is read from ``t.near_found`` and written to ``t.near_first`` and
    ``t.near_second``. So sums over pairs do not depend on the order in which the search finds them. ``t`` contains
    all arrays of the model and its state."""
    for key in (1, 0):  # by the second one, then, what is equal in its order, by the first
        for m in range(t.members):
            t.near_start[m] = 0
        for n in range(count):
            t.near_start[t.near_found[2 * n + key]] += 1
        total = 0
        for m in range(t.members):
            own = t.near_start[m]
            t.near_start[m] = total
            total += own
        for n in range(count):
            m = t.near_found[2 * n + key]
            place = t.near_start[m]
            t.near_start[m] += 1
            t.near_first[place], t.near_second[place] = t.near_found[2 * n], t.near_found[2 * n + 1]
        for n in range(count):
            t.near_found[2 * n], t.near_found[2 * n + 1] = t.near_first[n], t.near_second[n]
