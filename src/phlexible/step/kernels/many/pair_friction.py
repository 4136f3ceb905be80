"""Friction of pairs among many: places of both that slide past each other, a bristle of each (docs/theory.md, 8).

Sliding and its forces are those of (8.28), the law is that of (8.42). A bristle is kept by the number of its pair
in a list in the order of these numbers, ``pair_bristle``: the number, less than zero after a step that slipped, and
z in axes of one of both bodies.
"""

from math import sqrt

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import Integers, Tables, Vector, Vectors, cross, dot, vector
from phlexible.step.kernels.many.solids import axis_mean
from phlexible.step.kernels.vectors import mean_place
from phlexible.step.tables.declarations import INSET, PAIR


@compiled
def coefficients(t: Tables, axes: Integers, v: Vector) -> Vector:
    """Of three axes that make up a vector at the mean of the step."""
    a, b, c = axis_mean(t, axes, 0), axis_mean(t, axes, 1), axis_mean(t, axes, 2)
    volume = dot(a, cross(b, c))
    return vector(dot(v, cross(b, c)) / volume, dot(v, cross(c, a)) / volume, dot(v, cross(a, b)) / volume)


@compiled
def place_of(t: Tables, m: int, s: float) -> Vector:
    """The place on the axis of a member at the mean of the step."""
    return (1.0 - s) * mean_place(t, t.member_start[m]) + s * mean_place(t, t.member_end[m])


@compiled
def find_arms(t: Tables, m: int, s: float, y: Vector, arms: Vectors) -> None:
    """Where y, at the mean, is along the directions at both ends of a member, from its place at s."""
    axes = t.member_axis + 6 * m
    if axes[0] < 0:
        return
    arm = y - place_of(t, m, s)
    arms[0] = coefficients(t, axes, arm)
    if t.member_start[m] != t.member_end[m]:
        arms[1] = coefficients(t, axes + 3, arm)


@compiled
def slides(t: Tables, m: int, s: float, arms: Vectors) -> Vector:
    """How far the place of a member at these arms moves in the step."""
    p, q, axes = t.member_start[m], t.member_end[m], t.member_axis + 6 * m
    if p == q:
        return t.change[p] + _turned(t, axes, arms[0]) if axes[0] >= 0 else t.change[p]
    moved = (1.0 - s) * t.change[p] + s * t.change[q]
    if axes[0] < 0:
        return moved
    moved += (1.0 - s) * _turned(t, axes, arms[0])
    return moved + s * _turned(t, axes + 3, arms[1])


@compiled
def _turned(t: Tables, axes: Integers, c: Vector) -> Vector:
    return c.x * t.change[axes[0]] + c.y * t.change[axes[1]] + c.z * t.change[axes[2]]


@compiled
def pull_at(t: Tables, m: int, s: float, arms: Vectors, f: Vector) -> None:
    """A force on the place of a member at these arms: c_k f on its vectors."""
    p, q, axes = t.member_start[m], t.member_end[m], t.member_axis + 6 * m
    if p == q:
        t.pull[p] += f
        if axes[0] >= 0:
            _twist(t, axes, arms[0], f)
        return
    t.pull[p] += (1.0 - s) * f
    t.pull[q] += s * f
    if axes[0] >= 0:
        _twist(t, axes, arms[0], (1.0 - s) * f)
        _twist(t, axes + 3, arms[1], s * f)


@compiled
def _twist(t: Tables, axes: Integers, c: Vector, f: Vector) -> None:
    t.pull[axes[0]] += c.x * f
    t.pull[axes[1]] += c.y * f
    t.pull[axes[2]] += c.z * f


# Bristles of pairs, merged step by step with the list of the pairs that touch.


@compiled
def begin_pairs(t: Tables) -> None:
    """No bristle is kept yet, none of the last step has been met."""
    t.pair_cursor[0], t.pair_cursor[1] = 0, 0


@compiled
def _size(t: Tables, place: int) -> float:
    own = t.pair_bristle + PAIR * place
    return own[1] * own[1] + own[2] * own[2] + own[3] * own[3]


@compiled
def group_of_pair(t: Tables, place: int) -> int:
    """The contact group of a bristle that is kept."""
    return t.member_contact_group[int(abs(t.pair_bristle[PAIR * place]) - 1.0) // t.members]


@compiled
def _lose(t: Tables, place: int) -> None:
    """What a bristle stored whose bodies have parted is lost."""
    energy = 0.5 * t.contact_group_bristle[group_of_pair(t, place)] * _size(t, place)
    t.contact_group_work[0] -= energy
    t.contact_group_work[1] += energy
    t.contact_group_loss[0] += energy


@compiled
def _find(t: Tables, number: float) -> int:
    """Where the bristle of a pair is; -1: it has none. Pairs come in the order of their numbers."""
    place = t.pair_cursor[0]
    while place < t.kept_pairs:
        known = abs(t.pair_bristle[PAIR * place])
        if known == 0.0 or known >= number:
            break
        _lose(t, place)
        place += 1
    found = place < t.kept_pairs and abs(t.pair_bristle[PAIR * place]) == number
    t.pair_cursor[0] = place + 1 if found else place
    return place if found else -1


@compiled
def end_pairs(t: Tables) -> None:
    """Bristles of pairs that did not touch are lost; the list of those that did ends."""
    place = t.pair_cursor[0]
    while place < t.kept_pairs and t.pair_bristle[PAIR * place] != 0.0:
        _lose(t, place)
        place += 1
    for k in range(PAIR * t.pair_cursor[1], PAIR * t.kept_pairs):
        t.pair_bristle_end[k] = 0.0


@compiled
def note_touch(t: Tables, i: int, j: int, s: float, z: float, y: Vector, n: Vector, slope: float) -> int:
    """Two members push each other at y along n, with dN/dx: arms, and for Newton's matrix, if there is room.

    Where it is noted; ``touching_pairs``: nothing but the arms is.
    """
    place = t.touch_count[0]
    find_arms(t, i, s, y, t.touch_arm + 4 * place)
    find_arms(t, j, z, y, t.touch_arm + (4 * place + 2))
    if place == t.touching_pairs:
        return place
    t.touch_first[place], t.touch_second[place], t.touch_normal[place] = i, j, n
    t.touch_share[2 * place], t.touch_share[2 * place + 1] = s, z
    own, nothing = t.touch_stiffness + 3 * place, vector(0.0, 0.0, 0.0)
    own[0], own[1], own[2] = slope, 0.0, 0.0
    t.touch_slip[place], t.touch_level[place] = nothing, nothing
    t.touch_count[0] = place + 1
    return place


@compiled
def rub_pair(t: Tables, i: int, j: int, s: float, z: float, n: Vector, normal: float, h: float, touch: int) -> None:
    """Friction of two members, with the normal force and its direction n, where ``note_touch`` has noted them.

    Its derivatives (8.44) are added there.
    """
    arms = t.touch_arm + 4 * touch
    c, number = t.member_contact_group[i], float(min(i, j)) * t.members + float(max(i, j)) + 1.0
    place = _find(t, number)
    if normal == 0.0:
        if place >= 0:
            _lose(t, place)
        return
    axes = t.member_axis + 6 * (j if t.member_kind[j] > INSET else i)
    if axes[0] < 0:
        axes = t.member_axis + 6 * j
    k, limit = t.contact_group_bristle[c], t.contact_group_friction[c] * normal
    bent, size = vector(0.0, 0.0, 0.0), 0.0
    if place >= 0:
        own = t.pair_bristle + PAIR * place
        size = sqrt(_size(t, place))
        bent = own[1] * axis_mean(t, axes, 0) + own[2] * axis_mean(t, axes, 1) + own[3] * axis_mean(t, axes, 2)
        bent -= dot(bent, n) * n
        length = sqrt(dot(bent, bent))
        bent = (size / length if length > 0.0 else 0.0) * bent
    if place < 0 or t.pair_bristle[PAIR * place] > 0.0:
        limit *= t.contact_group_grip[c]
    u = slides(t, i, s, arms) - slides(t, j, z, arms + 2)
    u -= dot(u, n) * n
    longest, beta = limit / k, 0.5 + t.contact_group_bristle_damping[c] / (k * h)
    length = sqrt(dot(bent, bent))
    start = (longest / length if length > longest else 1.0) * bent
    g = start + beta * u
    total = sqrt(dot(g, g))
    slips = total > longest
    force, end = k * g, start + u
    if slips:
        e = (1.0 / total) * g
        force = limit * e
        end = start + (1.0 / max(beta, 1.0)) * (longest * e - start)
        if touch < t.touching_pairs:
            own, level = t.touch_stiffness + 3 * touch, e
            if length > longest:
                level = e + (longest / (total * length)) * (bent - dot(e, bent) * e)
            own[1], own[2], t.touch_slip[touch] = limit * beta / total, limit * beta / total, e
            t.touch_level[touch] = (own[0] * limit / normal) * level
    elif touch < t.touching_pairs:
        own = t.touch_stiffness + 3 * touch
        own[1] = k * beta
        if length > longest:
            t.touch_level[touch] = (own[0] * limit / (normal * length)) * bent
    reached = sqrt(dot(end, end))
    end = (longest / reached if reached > longest else 1.0) * end
    kept = t.pair_cursor[1]
    is_kept = kept < t.kept_pairs
    after = dot(end, end) if is_kept else 0.0
    stored = 0.5 * k * (after - size * size)
    t.contact_group_work[0] += stored
    t.contact_group_work[1] += abs(stored)
    t.contact_group_loss[0] += dot(force, u) - stored
    if is_kept:
        own, local, length = t.pair_bristle_end + PAIR * kept, coefficients(t, axes, end), sqrt(after)
        size = sqrt(dot(local, local))
        local = (length / size if size > 0.0 else 0.0) * local
        own[0] = -number if slips else number
        own[1], own[2], own[3] = local.x, local.y, local.z
        t.pair_cursor[1] = kept + 1
    pull_at(t, i, s, arms, -1.0 * force)
    pull_at(t, j, z, arms + 2, force)


@compiled
def energy_of_pairs(t: Tables) -> float:
    """Of all bristles at the start of the step [J]."""
    total, place = 0.0, 0
    while place < t.kept_pairs and t.pair_bristle[PAIR * place] != 0.0:
        total += 0.5 * t.contact_group_bristle[group_of_pair(t, place)] * _size(t, place)
        place += 1
    return total
