"""Contact and stops: gaps, one-sided energies, what resists (docs/theory.md, 8)."""

from math import sqrt

from phlexible.step.compilation.compiled import compiled, compiled_lane_by_lane, exported
from phlexible.step.compilation.notation import Number, Tables, all_of, along, any_of, vector, where
from phlexible.step.kernels.bristles import bent_at_start, resist_sliding
from phlexible.step.tables.declarations import LAW_WIDTH, ROLLING, ROUNDED, SEGMENT

# Discrete derivatives of gaps: from round and cornered shapes, from a piece of a line (docs/theory.md, 8).
#
# omega goes to ``along``, d theta_{n+1}/dw to ``slope`` and d omega/dw_{n+1} to ``tangent``.

LEAST = 1e-300


@compiled
def beyond(w: float, zone: float) -> float:
    """What is left of w beyond -zone .. zone; w itself, with its derivative at 0 too, without a zone."""
    return where(w >= zone, w - zone, where(w <= -zone, w + zone, 0.0))


@compiled
def clamped(u: float) -> float:
    """u between 0 and 1."""
    return min(max(u, 0.0), 1.0)


@exported
def begin_gap(t: Tables, i: int) -> float:
    """theta_n; zero of what has a rate only."""
    if t.coordinate_of[i] == ROLLING:
        return 0.0
    first, total = t.functions_begin[i], 0.0
    if t.coordinate_of[i] == ROUNDED:
        for m in range(first, first + t.gap_count[i]):
            total += beyond(t.function0[m], t.function_zone[m]) ** 2
    else:
        w = t.function0 + first
        place = clamped(w[1] / w[2])
        total = w[0] - 2.0 * place * w[1] + place * place * w[2]
    return sqrt(max(total, 0.0))


@exported
def gap_weights(t: Tables, i: int) -> None:
    """Of the coordinate of interaction i at the end of the step."""
    first, count = t.functions_begin[i], t.gap_count[i]
    if t.coordinate_of[i] == ROUNDED:
        rounded_gap(t, first, count)
    elif t.coordinate_of[i] == SEGMENT:
        segment_gap(t, first)
    else:
        rolling_gap(t, i - t.constraints, first, count)


@compiled
def rounded_gap(t: Tables, first: int, count: int) -> None:
    """theta = |q|: omega_i = mean(q_i) (delta(q_i)/delta(w_i)) / mean(theta) (8.26)."""
    before, after = 0.0, 0.0
    for m in range(first, first + count):
        before += beyond(t.function0[m], t.function_zone[m]) ** 2
        after += beyond(t.function0[m] + t.function_change[m], t.function_zone[m]) ** 2
    end = sqrt(after)
    both = max(sqrt(before) + end, LEAST)
    for m in range(first, first + count):
        start, change = beyond(t.function0[m], t.function_zone[m]), t.function_change[m]
        q = beyond(t.function0[m] + change, t.function_zone[m])
        own, differs = where((q != 0.0) | (t.function_zone[m] == 0.0), 1.0, 0.0), q != start
        crosses = (t.function_zone[m] > 0.0) & (start * q <= 0.0)  # within the zone, into it or out of it
        share = where(crosses, where(differs, clamped((q - start) / change), 0.0), 1.0)
        steeper = where(crosses & differs, (own - share) / change, 0.0)
        t.along[m] = (start + q) * share / both
        t.slope[m] = q * own / max(end, LEAST)
        D = t.tangent + LAW_WIDTH * m
        for s in range(count):
            other = t.function0[first + s] + t.function_change[first + s]
            D[s] = -t.along[m] * beyond(other, t.function_zone[first + s]) / (both * max(end, LEAST))
        D[m - first] += (own * share + (start + q) * steeper) / both


@compiled
def segment_gap(t: Tables, first: int) -> None:
    """theta^2 = w_1 - 2 t w_2 + t^2 w_3, t = w_2 / w_3 between 0 and 1 (8.27)."""
    w, dw, along, slope = t.function0 + first, t.function_change + first, t.along + first, t.slope + first
    end2, end3 = w[1] + dw[1], w[2] + dw[2]
    u0, u1 = w[1] / w[2], end2 / end3
    t0, t1 = clamped(u0), clamped(u1)
    start, after = (
        w[0] - 2.0 * t0 * w[1] + t0 * t0 * w[2],
        w[0] + dw[0] - 2.0 * t1 * end2 + t1 * t1 * end3,
    )
    end = sqrt(max(after, 0.0))
    both = max(sqrt(max(start, 0.0)) + end, LEAST)
    ends_inside, differs = (u1 > 0.0) & (u1 < 1.0), t1 != t0
    inside, stays = where(ends_inside, 1.0, 0.0), (u0 > 0.0) & (u0 < 1.0) & ends_inside
    share = where(stays, inside, where(differs, clamped((t1 - t0) / (u1 - u0)), 0.0))  # delta(t) / delta(u)
    steeper = where(differs & (not stays), (inside - share) / (u1 - u0), 0.0)
    t_mean, square, u_mean = 0.5 * (t0 + t1), 0.5 * (t0 * t0 + t1 * t1), 0.5 * (u0 + u1)
    mean2, mean3 = w[1] + 0.5 * dw[1], w[2] + 0.5 * dw[2]
    rest = t_mean * mean3 - mean2
    part = 2.0 * rest * share / mean3
    along[0], along[1], along[2] = 1.0 / both, (part - 2.0 * t_mean) / both, (square - part * u_mean) / both
    half = 0.5 / max(end, LEAST)
    slope[0], slope[1], slope[2] = half, -2.0 * t1 * half, t1 * t1 * half
    for s in range(3):
        du = 1.0 / end3 if s == 1 else -u1 / end3 if s == 2 else 0.0
        own2, own3 = 0.5 if s == 1 else 0.0, 0.5 if s == 2 else 0.0
        dt = 0.5 * inside * du
        dpart = 2.0 * (dt * mean3 + t_mean * own3 - own2) * share / mean3
        dpart += 2.0 * rest * steeper * du / mean3 - part * own3 / mean3
        D = t.tangent + LAW_WIDTH * first + s
        D[0] = -along[0] * slope[s] / both
        D[LAW_WIDTH] = (dpart - 2.0 * dt - along[1] * slope[s]) / both
        D[2 * LAW_WIDTH] = (t1 * inside * du - dpart * u_mean - 0.5 * part * du - along[2] * slope[s]) / both


@compiled
def rolling_gap(t: Tables, f: int, first: int, count: int) -> None:
    """No gap but how far the touching place of a wheel slides in the step (8.30)."""
    k, r, total = (count - 1) // 2, t.slip_radius[f], 0.0
    up, spokes = first + 1 + k, first + 1
    for j in range(k):
        total += (t.function0[up + j] + 0.5 * t.function_change[up + j]) ** 2
    size = sqrt(total)
    t.along[first], t.slope[first] = 1.0, 1.0
    for m in range(count):
        for s in range(count):
            t.tangent[LAW_WIDTH * (first + m) + s] = 0.0
    for j in range(k):
        own = (t.function0[up + j] + 0.5 * t.function_change[up + j]) / size
        t.along[spokes + j], t.slope[spokes + j] = -r * own, -r * own
        t.along[up + j], t.slope[up + j] = 0.0, 0.0
        for s in range(k):
            other = (t.function0[up + s] + 0.5 * t.function_change[up + s]) / size
            bend = -0.5 * r * ((1.0 if s == j else 0.0) - own * other) / size
            t.tangent[LAW_WIDTH * (spokes + s) + 1 + k + j] = bend
            t.slope[up + j] += t.function_change[spokes + s] * bend


# Friction of a joint by the force that it transmits itself (docs/theory.md, 8).


@compiled
def transmitted(t: Tables, f: int) -> float:
    """|R| of the joint whose force makes friction f: of multipliers along directions at right angles (8.31)."""
    rows, total = t.multiplier1 + t.functions_begin[t.bearing[f]], 0.0
    for r in range(t.bearing_rows[f]):
        total += rows[r] * rows[r]
    return sqrt(total)


@compiled
def bear(t: Tables, f: int, begin: int, count: int, numbers: int, h: float) -> None:
    """What its multipliers do to the balances by the friction, into the columns of the joint."""
    node, size = t.constraint_node[t.bearing[f]], transmitted(t, f)
    rows = t.multiplier1 + t.functions_begin[t.bearing[f]]
    if not any_of(size != 0.0):
        return
    slope = h * t.bearing_share[f] * t.force_by_level[f] / where(size != 0.0, size, 1.0)
    for a in range(t.carrier_count[f]):
        group = t.groups_begin[f] + a
        for k in range(count):
            left = t.left_gradient + (k * numbers + t.group_place[group])
            for i in range(t.group_width[group]):
                line, force = t.blocks + (t.group_upper[group] + i * t.node_size[node]), slope * t.along[begin + k]
                for r in range(t.bearing_rows[f]):
                    line[r] += force * rows[r] * left[i]


# Contact, stops and dry friction: one-sided energies and what resists (docs/theory.md, 8).


@compiled
def depth_energy(stiffness: float, exponent: float, depth: float) -> float:
    """k x^(p + 1) / (p + 1) of a depth x, zero outside."""
    if not any_of(depth > 0.0):
        return 0.0
    return stiffness * max(depth, 0.0) ** (exponent + 1.0) / (exponent + 1.0)


@compiled_lane_by_lane
def depth_gradient(stiffness: float, exponent: float, x0: float, x1: float) -> tuple[float, float]:
    """delta(U)/delta(x) of the depth without cancellation, and its derivative to x1."""
    change = x1 - x0
    if x0 > 0.0 and x1 > 0.0:
        if exponent == 1.0:
            return 0.5 * stiffness * (x0 + x1), 0.5 * stiffness
        a, b, c = sqrt(x1), sqrt(x0), 0.4 * stiffness
        value = a * a * a + b * b * b + a * a * b * b / (a + b)
        return c * value, c * (1.5 * a + 0.5 * b * b * (a + 2.0 * b) / ((a + b) * (a + b)))
    if x1 > 0.0:
        quotient = depth_energy(stiffness, exponent, x1) / change
        return quotient, (stiffness * x1**exponent - quotient) / change
    if x0 > 0.0:
        quotient = -depth_energy(stiffness, exponent, x0) / change
        return quotient, -quotient / change
    return 0.0, 0.0


@exported
def push(t: Tables, f: int, h: float) -> tuple[float, float]:
    """N of a one-sided force over the step and dN/dx1 (8.17); what it loses into ``loss``."""
    side, k = t.push_side[f], t.impact_of[f]
    x0, change = side * (t.force_rest[f] - t.theta0[f]), -side * t.theta_change[f]
    damping, varies = t.push_damping[f], 1.0
    if k >= 0:
        damping, varies, t.impact_end[k] = loss_of_impact(
            t.push_loss[f], t.push_slowest[f], t.impact[k], x0, change, h
        )
    stored, force, slope = pushed(t.force_stiffness[f], t.push_exponent[f], damping, varies, x0, change, h)
    if any_of(t.force_damping[f] > 0.0):
        force, slope = damped_one_side(force, slope, t.force_damping[f] / h, x0, change)
    t.loss[f] = (force - stored) * change
    return force, slope


@compiled
def damped_one_side(force: float, slope: float, d: float, x0: float, change: float) -> tuple[float, float]:
    """The force with a damper on max(0, x), never below zero, and its derivative to x1.

    The damper works along the discrete derivative s of max(0, x), so that it takes d (s change)^2.
    """
    x1 = x0 + change
    is_inside, differs = (x0 > 0.0) & (x1 > 0.0), change != 0.0
    partial = where(differs, (max(x1, 0.0) - max(x0, 0.0)) / where(differs, change, 1.0), 0.0)
    share = where(is_inside, 1.0, partial)
    total = force + d * share * share * change
    steeper = slope + d * share * (2.0 * where(x1 > 0.0, 1.0, 0.0) - share)
    return where(total < 0.0, 0.0, total), where(total < 0.0, 0.0, steeper)


@compiled
def pushed(
    stiffness: float, p: float, damping: float, varies: float, x0: float, change: float, h: float
) -> tuple[float, float, float]:
    """The part of N that stores, N, and dN/dx1, of a depth at the start and its change."""
    stored, slope = depth_gradient(stiffness, p, x0, x0 + change)
    mean, force = x0 + 0.5 * change, stored
    is_damped = (mean > 0.0) & (damping > 0.0)
    if any_of(is_damped):
        depth = where(is_damped, mean, 1.0)
        c = where(is_damped, damping * (depth if all_of(p == 1.0) else depth**p) / h, 0.0)
        force += c * change
        slope += c * (varies + 0.5 * p * change / depth)
    return stored, where(force < 0.0, 0.0, force), where(force < 0.0, 0.0, slope)


@compiled
def loss_of_impact(
    loss: float, slowest: float, known: float, x0: float, change: float, h: float
) -> tuple[float, float, float]:
    """Damping by how fast bodies met, the speed of the step that enters (8.47).

    Then 0 where it falls as that grows, else 1, and the speed, which is ``known`` where they have met before.
    """
    rate, enters = change / h, x0 <= 0.0
    met = where(enters, max(rate, 0.0), known)
    varies = where(enters & (rate > slowest), 0.0, 1.0)
    return loss / max(met, slowest), varies, where(x0 + change > 0.0, met, 0.0)


@compiled
def rub(t: Tables, f: int, h: float) -> tuple[float, float]:
    """Dry friction along the coordinate itself (8.19), and its derivative to theta_{n+1}; adds to ``loss``."""
    u, level = vector(t.theta_change[f], 0.0, 0.0), t.friction[f]
    if t.bearing[f] >= 0:
        level += t.bearing_share[f] * transmitted(t, f)
    force, by_level, e, a, s = resist_sliding(t, f, bent_at_start(t, f), u, 1.0, level, h)
    t.force_by_level[f], t.across_loss[f] = by_level.x, 0.0  # along the coordinate itself
    return force.x, a - s * e.x * e.x


@exported
def slide(t: Tables, f: int, first: int, count: int, h: float, slope: Number) -> None:
    """Friction along the functions after the first one, the gap, whose force is N with dN/dw1 = slope (8.18)."""
    across = t.function_change + (first + 1)
    u = vector(across[0], across[1] if count > 2 else 0.0, 0.0)
    z, normal = bent_at_start(t, f), t.scalar_force[f]
    force, to_normal, e, a, s = resist_sliding(t, f, z, u, t.friction[f], normal, h)
    for i in range(count - 1):
        D = t.tangent + LAW_WIDTH * (first + 1 + i)
        t.generalized[first + 1 + i] = -along(force, i)
        D[0] = -slope * along(to_normal, i)
        for j in range(count - 1):
            D[1 + j] = s * along(e, i) * along(e, j) - (a if i == j else 0.0)
