"""Distances of points from closed surfaces of triangles: the nearest side, edge or vertex (docs/theory.md, 8).

Triangles are in nested boxes, in the order of a depth-first walk: ``mesh_after`` is the box where the walk
continues if a box is too far away. A side, edge or vertex that is nearest at both ends of a step has a discrete
gradient without cancellation; otherwise it is the mean of both gradients and a part along the displacement.
"""

from math import exp, log, sqrt

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import Tables, Vector, cross, dot, vector

FAR = 1e300
ON = 1e-12  # of its edges: places beside a triangle that count as on it
SAME = 1e-14  # of the size: two triangles in one plane
POWER = 3000.0
CUT = 40.0 / POWER  # of the distance: what is farther away by that has no share
SIDES = 256
WIDER = 1.01  # than a radius: the smooth distance is less than the least by ln(n) / POWER of it
ALONE = 1e-13
LEAST = 1e-12  # [m]
ROUND_OFF, TINY = 1e-14, 1e-300
SHORT = 1e-8  # of the size: so short a way has no part of its own, which would be round-off
KINK = 1e-6  # squared jump of slopes that are not those of one smooth surface


@compiled
def squared_box_distance(t: Tables, box: int, w: Vector) -> float:
    """Return the squared distance of a point w from axis-aligned box number ``box`` of a mesh [m2]; 0 inside.
    ``t`` contains all arrays of the model and its state."""
    low, high = t.mesh_low[box], t.mesh_high[box]
    x = max(max(low.x - w.x, w.x - high.x), 0.0)
    y = max(max(low.y - w.y, w.y - high.y), 0.0)
    z = max(max(low.z - w.z, w.z - high.z), 0.0)
    return x * x + y * y + z * z


@compiled
def nearest_on_triangle(t: Tables, k: int, w: Vector) -> tuple[float, int, Vector]:
    """Return the squared distance of a point w from triangle k of a mesh, the number of its nearest feature, and
    the nearest point. Features of the triangle are 0: face, 1 to 3: an edge, 4 to 6: a vertex. ``t`` contains all
    arrays of the model and its state."""
    n = t.mesh_normal[k]
    best, feature, foot, is_on = FAR, 0, w, True
    for e in range(3):
        a = t.mesh_corner[3 * k + e]
        u, r = t.mesh_corner[3 * k + (e + 1) % 3] - a, w - a
        square, along = dot(u, u), dot(r, u)
        if dot(r, cross(n, u)) < -ON * square:
            is_on = False
        own = 1 + e
        share = along / square
        if share <= 0.0:
            share, own = 0.0, 4 + e
        if share >= 1.0:
            share, own = 1.0, 4 + (e + 1) % 3
        rest = r - share * u
        apart = dot(rest, rest)
        if apart < best:
            best, feature, foot = apart, own, a + share * u
    if is_on:
        high = dot(w - t.mesh_corner[3 * k], n)
        return high * high, 0, w - high * n
    return best, feature, foot


@compiled
def _squared_distance_bound(t: Tables, box: int, w: Vector) -> float:
    """Return an upper bound of the squared distance [m2] of a point w from the triangles in box number ``box`` of
    a mesh's box tree. It descends into the nearer half of each box and returns the least squared distance from the
    triangles of the leaf, plus round-off. ``t`` contains all arrays of the model and its state."""
    while t.mesh_count[box] == 0:
        one, other = box + 1, t.mesh_after[box + 1]
        box = one if squared_box_distance(t, one, w) <= squared_box_distance(t, other, w) else other
    best, first = FAR, t.mesh_first[box]
    for k in range(first, first + t.mesh_count[box]):
        apart, _, _ = nearest_on_triangle(t, k, w)
        best = min(best, apart)
    return best * (1.0 + ROUND_OFF) + TINY


@compiled
def nearest_triangle(t: Tables, j: int, w: Vector) -> tuple[int, int, Vector]:
    """Return the index of the triangle of mesh j nearest to a point w, the number of its nearest feature, and the
    nearest point. Features are 0: face, 1 to 3: an edge, 4 to 6: a vertex. Points are in the axes of the mesh. The
    search descends a tree of bounding boxes and skips boxes that are farther than the best triangle so far. ``t``
    contains all arrays of the model and its state."""
    box = t.member_mesh[j]
    end, best, found, part, foot = t.mesh_after[box], _squared_distance_bound(t, box, w), 0, 0, w
    while box < end:
        if squared_box_distance(t, box, w) >= best:
            box = t.mesh_after[box]
            continue
        first = t.mesh_first[box]
        for k in range(first, first + t.mesh_count[box]):
            apart, own, place = nearest_on_triangle(t, k, w)
            if apart < best:
                best, found, part, foot = apart, k, own, place
        box += 1
    return found, part, foot


@compiled
def signed_distance_to_part(t: Tables, k: int, part: int, foot: Vector, w: Vector) -> tuple[float, Vector]:
    """Return the signed distance [m] of a point w from one feature of triangle k of a closed mesh, negative
    inside, and its gradient. ``part`` is the feature: face (0), edge (1 to 3) or vertex (4 to 6); ``foot`` is the
    nearest point on it. For edges and vertices a mean normal decides the sign; on the feature itself it is the
    gradient. ``t`` contains all arrays of the model and its state."""
    if part == 0:
        n = t.mesh_normal[k]
        return dot(w - t.mesh_corner[3 * k], n), n
    n = t.mesh_edge_normal[3 * k + part - 1] if part < 4 else t.mesh_corner_normal[3 * k + part - 4]
    r = w - foot
    size, sign = sqrt(dot(r, r)), 1.0 if dot(r, n) >= 0.0 else -1.0
    if size <= SAME * sqrt(dot(w, w)):
        return 0.0, (1.0 / max(sqrt(dot(n, n)), 1e-300)) * n
    return sign * size, (sign / size) * r


# Spheres that lie in a valley touch several sides. The smooth distance F^-p = sum of d^-p over the sides, edges and
# corners, p large, is less than the least of them by no more than a share ln(n) / p, and has one slope there.


@compiled
def _find_side(t: Tables, side: int, count: int) -> int:
    for k in range(count):
        if t.side_found[k] == side:
            return k
    return -1


@compiled
def smooth_distance(t: Tables, j: int, w: Vector, least: float) -> tuple[float, float, Vector]:
    """Return the smoothed distance [m] of a point w outside of mesh j, the summed weight of faces besides the
    nearest, and the gradient. w is in the axes of the mesh; ``least`` is the distance of the nearest face. All
    faces that are at most a fixed factor farther count with weights (least / distance)^p; faces in one plane count
    once. The result is at most ``least``, and equal to it, with the second result 0, if no other face is near.
    ``t`` contains all arrays of the model and its state.
    """
    box, most = t.member_mesh[j], least * least * (1.0 + CUT) * (1.0 + CUT)
    end, total, slope, count = t.mesh_after[box], 0.0, vector(0.0, 0.0, 0.0), 0
    while box < end:
        if squared_box_distance(t, box, w) >= most:
            box = t.mesh_after[box]
            continue
        first = t.mesh_first[box]
        for k in range(first, first + t.mesh_count[box]):
            square, _, foot = nearest_on_triangle(t, k, w)
            if square >= most:
                continue
            side, away = t.mesh_side[k], w - foot
            place = _find_side(t, side, count) if side >= 0 else -1
            if place >= 0:
                if square < dot(t.side_away[place], t.side_away[place]):
                    t.side_away[place] = away
            elif side >= 0 and count < SIDES:
                t.side_found[count] = side
                t.side_away[count] = away
                count += 1
            else:
                ratio = least / sqrt(square)
                share = exp(POWER * log(ratio))
                total += share
                slope += (share * ratio / sqrt(square)) * away
        box += 1
    for k in range(count):
        away = t.side_away[k]
        size = sqrt(dot(away, away))
        ratio = least / size
        share = exp(POWER * log(ratio))
        total += share
        slope += (share * ratio / size) * away
    shorter = exp(-log(total) / POWER)
    return shorter * least, total - 1.0, (shorter / total) * slope


@compiled
def distance_if_far(t: Tables, j: int, w: Vector, radius: float) -> float:
    """Return the distance [m] of a point w from the bounding box of a mesh if it is large, else 0. It is large
    above a fixed multiple of ``radius``: a ball of this radius at w cannot touch the mesh then. The mesh belongs
    to contact shape j. w is in the axes of the mesh. ``t`` contains all arrays of the model and its state."""
    apart = sqrt(squared_box_distance(t, t.member_mesh[j], w))
    return apart if apart > WIDER * radius else 0.0


@compiled
def mesh_distance_gradient(t: Tables, j: int, w: Vector, radius: float) -> tuple[float, Vector]:
    """Return the signed distance of a point w from the surface of closed mesh j, negative inside [m], and its
    gradient, in mesh axes. For a ball of this ``radius`` that cannot touch the mesh they are distance and gradient
    of the bounding box. Outside, distances below twice the radius are smoothed. ``t`` contains all arrays of the
    model and its state."""
    apart = distance_if_far(t, j, w, radius)
    if apart > 0.0:
        low, high = t.mesh_low[t.member_mesh[j]], t.mesh_high[t.member_mesh[j]]
        on = vector(min(max(w.x, low.x), high.x), min(max(w.y, low.y), high.y), min(max(w.z, low.z), high.z))
        return apart, (1.0 / apart) * (w - on)
    k, part, foot = nearest_triangle(t, j, w)
    phi, slope = signed_distance_to_part(t, k, part, foot, w)
    if radius > 0.0 and LEAST < phi < radius + radius:
        phi, _, slope = smooth_distance(t, j, w, phi)
    return phi, slope


@compiled
def _is_same_part(t: Tables, k: int, part: int, m: int, other: int, size: float) -> bool:
    """Return whether feature ``part`` of triangle k and feature ``other`` of triangle m of a mesh are the same
    face, edge or vertex. A feature is 0 for the face, 1 to 3 for an edge, 4 to 6 for a vertex. Edges and vertices
    are compared by their numbers in the mesh. Faces in one plane count as one; ``size`` is the mesh diagonal [m],
    which scales this tolerance. ``t`` contains all arrays of the model and its state."""
    if (part == 0) != (other == 0) or (part < 4) != (other < 4):
        return False
    if part == 0:
        d, step = t.mesh_normal[k] - t.mesh_normal[m], t.mesh_corner[3 * m] - t.mesh_corner[3 * k]
        return dot(d, d) <= SAME * SAME and abs(dot(t.mesh_normal[k], step)) <= SAME * size
    if part < 4:
        return t.mesh_edge[3 * k + part - 1] == t.mesh_edge[3 * m + other - 1]
    return t.mesh_point[3 * k + part - 4] == t.mesh_point[3 * m + other - 4]


@compiled
def mesh_distance_change(t: Tables, j: int, w: Vector, dw: Vector, radius: float) -> tuple[float, float, Vector]:
    """Return the signed distance of a point w from mesh j at the start of the time step, its change [m], and a
    discrete gradient. The point moves by dw, in the axes of the mesh; the scalar product of the gradient and dw is
    the change. If the point is too far to touch at start and end, the gradient is zero. Positive distances below
    twice ``radius`` are smoothed where several faces are near; with ``radius`` 0 none are. ``t`` contains all
    arrays of the model and its state."""
    end = w + dw
    far, away = distance_if_far(t, j, w, radius), distance_if_far(t, j, end, radius)
    if far > 0.0 and away > 0.0:
        return far, away - far, vector(0.0, 0.0, 0.0)
    k, part, foot = nearest_triangle(t, j, w)
    m, other, place = nearest_triangle(t, j, end)
    before, g = signed_distance_to_part(t, k, part, foot, w)
    after, e = signed_distance_to_part(t, m, other, place, end)
    is_alone, size = True, t.member_size[3 * j]
    nearest, last = before, after
    if radius > 0.0 and LEAST < before < radius + radius:
        before, others, g = smooth_distance(t, j, w, nearest)
        is_alone = others <= ALONE
    if radius > 0.0 and LEAST < after < radius + radius:
        after, others, e = smooth_distance(t, j, end, last)
        is_alone = is_alone and others <= ALONE
    if is_alone and _is_same_part(t, k, part, m, other, size):
        if part == 0:
            return before, dot(g, dw), g
        if nearest * last > 0.0:
            omega = (1.0 / (nearest + last)) * ((w - foot) + (end - place))
            return before, dot(omega, dw), omega
    slope, square, change, d = 0.5 * (g + e), dot(dw, dw), after - before, e - g
    if square > SHORT * SHORT * size * size or (square > 0.0 and dot(d, d) > KINK):
        slope += ((change - dot(slope, dw)) / square) * dw
    return before, dot(slope, dw), slope
