"""Who of a crowd may touch: a sweep along one axis, kept while nothing leaves its box (docs/theory.md, 8).

A pair that is not listed cannot touch at either end of the step: while all axes stay in their boxes, boxes with
the radius around them that do not meet keep members apart. The list is looked at in each evaluation of the forces.
"""

from phlexible.compilation.compiled import compiled
from phlexible.compilation.notation import Tables, Vector, along, vector


@compiled
def least(a: Vector, b: Vector) -> Vector:
    """Component by component."""
    return vector(min(a.x, b.x), min(a.y, b.y), min(a.z, b.z))


@compiled
def greatest(a: Vector, b: Vector) -> Vector:
    """Component by component."""
    return vector(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z))


@compiled
def lower_corner(t: Tables, m: int) -> Vector:
    """Of the box around the axis of a member at both ends of the step."""
    p, q = t.member_start[m], t.member_end[m]
    return least(
        least(t.place0[p], t.place0[p] + t.change[p]),
        least(t.place0[q], t.place0[q] + t.change[q]),
    )


@compiled
def upper_corner(t: Tables, m: int) -> Vector:
    """The other one."""
    p, q = t.member_start[m], t.member_end[m]
    return greatest(
        greatest(t.place0[p], t.place0[p] + t.change[p]),
        greatest(t.place0[q], t.place0[q] + t.change[q]),
    )


@compiled
def candidates(t: Tables) -> int:
    """How many ``pair_at`` has, after pairs have been looked for where they may have changed."""
    if t.members == 0:
        return 0
    if t.near_known[0] == 0 or not _stay(t):
        _look(t)
    return t.near_count[0] if t.near_count[0] >= 0 else t.members * t.members


@compiled
def pair_at(t: Tables, n: int) -> tuple[int, int]:
    """Two members, the lower number first; (-1, -1): these are not near."""
    if t.near_count[0] >= 0:
        return t.near_first[n], t.near_second[n]
    i, j = n // t.members, n % t.members
    return (i, j) if j > i and _are_near(t, i, j) else (-1, -1)


@compiled
def _stay(t: Tables) -> bool:
    for m in range(t.members):
        low, high, a, b = lower_corner(t, m), upper_corner(t, m), t.near_low[m], t.near_high[m]
        if not (low.x >= a.x and low.y >= a.y and low.z >= a.z):
            return False
        if not (high.x <= b.x and high.y <= b.y and high.z <= b.z):
            return False
    return True


@compiled
def _are_near(t: Tables, i: int, j: int) -> bool:
    """Whether two members are to meet, and their boxes do."""
    sides = t.member_side[i] | t.member_side[j]
    if t.member_crowd[i] != t.member_crowd[j] or t.member_body[i] == t.member_body[j] or sides != 3:
        return False
    reach = t.member_radius[i] + t.member_radius[j]
    low = greatest(t.near_low[i], t.near_low[j])
    high = least(t.near_high[i], t.near_high[j])
    return low.x <= high.x + reach and low.y <= high.y + reach and low.z <= high.z + reach


@compiled
def _look(t: Tables) -> None:
    """New boxes, and the pairs of those that meet, by their numbers."""
    least_all, greatest_all = lower_corner(t, 0), upper_corner(t, 0)
    for m in range(t.members):
        skin = t.crowd_skin[t.member_crowd[m]]
        low, high, around = lower_corner(t, m), upper_corner(t, m), vector(skin, skin, skin)
        least_all, greatest_all = least(least_all, low), greatest(greatest_all, high)
        t.near_low[m], t.near_high[m] = low - around, high + around
        if t.near_known[0] == 0:
            t.near_order[m] = m
    extent, axis = greatest_all - least_all, 0
    if extent.y > extent.x:
        axis = 1
    if extent.z > along(extent, axis):
        axis = 2
    t.near_known[0] = 1
    _sort(t, axis)
    count = 0
    for place in range(t.members):
        i = t.near_order[place]
        end = along(t.near_high[i], axis) + t.member_radius[i]
        for other in range(place + 1, t.members):
            j = t.near_order[other]
            if _begin(t, j, axis) > end:
                break
            if _are_near(t, i, j):
                if count == t.near_pairs:
                    t.near_count[0] = -1
                    return
                t.near_found[2 * count], t.near_found[2 * count + 1] = min(i, j), max(i, j)
                count += 1
    t.near_count[0] = count
    _number(t, count)


@compiled
def _begin(t: Tables, m: int, axis: int) -> float:
    return along(t.near_low[m], axis) - t.member_radius[m]


@compiled
def _sort(t: Tables, axis: int) -> None:
    """By insertion: the order changes little from one time to the next."""
    for place in range(1, t.members):
        m = t.near_order[place]
        key, empty = _begin(t, m, axis), place
        while empty > 0 and _begin(t, t.near_order[empty - 1], axis) > key:
            t.near_order[empty] = t.near_order[empty - 1]
            empty -= 1
        t.near_order[empty] = m


@compiled
def _number(t: Tables, count: int) -> None:
    """The pairs by their first and then their second member, so that sums do not depend on how they were found."""
    for key in (1, 0):  # by the second one, then, what is equal in its order, by the first
        for m in range(t.members):
            t.near_place[m] = 0
        for n in range(count):
            t.near_place[t.near_found[2 * n + key]] += 1
        total = 0
        for m in range(t.members):
            own = t.near_place[m]
            t.near_place[m] = total
            total += own
        for n in range(count):
            m = t.near_found[2 * n + key]
            place = t.near_place[m]
            t.near_place[m] += 1
            t.near_first[place], t.near_second[place] = t.near_found[2 * n], t.near_found[2 * n + 1]
        for n in range(count):
            t.near_found[2 * n], t.near_found[2 * n + 1] = t.near_first[n], t.near_second[n]
