"""Forces along coordinates theta of functions w: a position, a distance, an angle (docs/theory.md, 8).

The force F on theta acts on the functions as g_m = F omega_m, with weights omega of the discrete derivative,
sum_m omega_m delta(w_m) = delta(theta) (8.11), and (8.14)::

    F = value - delta(U)/delta(theta) - (d / h + gamma d') delta(theta)

so that a step supplies exactly value delta(theta), loses (d / h + gamma d') delta(theta)^2 and stores the rest.
"""

from math import atan2, isnan, pi, sqrt

from phlexible.compilation.compiled import compiled, entry_point, exported
from phlexible.compilation.notation import Tables
from phlexible.kernels.forces.contact import push, rub, slide
from phlexible.kernels.forces.gaps import begin_gap, gap_weights
from phlexible.kernels.forces.laws import discrete_gradient
from phlexible.kernels.forces.relations import nearest_turn
from phlexible.tables.declarations import ANGLE, CONTACT, DISTANCE, LAW_WIDTH, ROUNDED, SERVO

SMALL_ANGLE = 0.05
POINT = -1
"""Kind of what is no coordinate but a point."""


@compiled
def begin_coordinate(t: Tables, i: int) -> None:
    """theta_n: of the functions, and of angles the one counted over full turns."""
    f, w0 = i - t.constraints, t.function0[t.interaction_start[i]]
    if t.coordinate_of[i] == ANGLE:
        t.theta0[f] = t.theta[f]
        if t.force_row[f] >= 0:  # a relation shall hold angles, not sums of rounded turns
            t.theta0[f] = nearest_turn(atan2(t.function0[t.interaction_start[i] + 1], w0), t.theta[f])
    elif t.coordinate_of[i] == DISTANCE:
        t.theta0[f] = sqrt(max(w0, 0.0))
    elif t.coordinate_of[i] >= ROUNDED:
        t.theta0[f] = begin_gap(t, i)
    else:
        t.theta0[f] = w0


@compiled
def end_coordinate(t: Tables, i: int, h: float, damping: float) -> None:
    """delta(theta), the generalized forces g and their derivatives to w_{n+1}."""
    f, first = i - t.constraints, t.interaction_start[i]
    if t.coordinate_of[i] == ANGLE:
        _angle(t, f, first, h, damping)
        return
    if t.coordinate_of[i] >= ROUNDED:
        end_gap(t, i, first, h, damping)
        return
    weight, rate, bend, change = 1.0, 1.0, 0.0, t.function_change[first]
    if t.coordinate_of[i] == DISTANCE:
        end = sqrt(max(t.function0[first] + t.function_change[first], 0.0))
        weight, rate = 1.0 / max(t.theta0[f] + end, 1e-300), 0.5 / max(end, 1e-300)
        bend, change = -weight * weight * rate, change * weight
    t.theta_change[f] = change
    force, slope = scalar_force(t, f, h, damping)
    t.along[first], t.slope[first] = weight, rate
    t.force_slope[f] = slope
    t.generalized[first] = force * weight
    t.tangent[LAW_WIDTH * first] = slope * rate * weight + force * bend
    if t.function_count[i] > 1 and t.slip_points[f] == 0:
        slide(t, f, first, t.function_count[i], h, slope)


@compiled
def end_gap(t: Tables, i: int, first: int, h: float, damping: float) -> None:
    """The same of gaps whose omega comes with its derivatives."""
    f, count = i - t.constraints, t.gap_count[i]
    gap_weights(t, i)
    change = 0.0
    for r in range(first, first + count):
        change += t.along[r] * t.function_change[r]
    t.theta_change[f] = change
    force, slope = scalar_force(t, f, h, damping)
    for r in range(count):
        t.generalized[first + r] = force * t.along[first + r]
        D = t.tangent + LAW_WIDTH * (first + r)
        for s in range(count):
            D[s] = force * D[s] + slope * t.along[first + r] * t.slope[first + s]
    t.force_slope[f] = slope


@compiled
def _angle(t: Tables, f: int, first: int, h: float, damping: float) -> None:
    """theta = atan2(s, c): omega = (-mean(s), mean(c)) q with q = delta(theta) / (c_n s_{n+1} - s_n c_{n+1})."""
    c0, s0 = t.function0[first], t.function0[first + 1]
    c1, s1 = c0 + t.function_change[first], s0 + t.function_change[first + 1]
    cross, dot = c0 * s1 - s0 * c1, c0 * c1 + s0 * s1
    turn, squared = atan2(cross, dot), cross * cross + dot * dot
    turn_c, turn_s = (-dot * s0 - cross * c0) / squared, (dot * c0 - cross * s0) / squared
    if dot > 0.0 and abs(cross) < SMALL_ANGLE * dot:  # from the series of atan
        x = cross / dot
        x2 = x * x
        f0 = 1.0 - x2 * (1.0 / 3.0 - x2 * (0.2 - x2 * (1.0 / 7.0 - x2 * (1.0 / 9.0 - x2 / 11.0))))
        f1 = -x * (2.0 / 3.0 - x2 * (0.8 - x2 * (6.0 / 7.0 - x2 * (8.0 / 9.0 - x2 * 10.0 / 11.0))))
        q = f0 / dot
        q_c, q_s = (f1 * (-s0 - x * c0) / dot - q * c0) / dot, (f1 * (c0 - x * s0) / dot - q * s0) / dot
    else:
        q = turn / cross
        q_c, q_s = (turn_c + q * s0) / cross, (turn_s - q * c0) / cross
    t.theta_change[f] = turn
    force, slope = scalar_force(t, f, h, damping)
    c, s = 0.5 * (c0 + c1), 0.5 * (s0 + s1)
    t.along[first], t.along[first + 1] = -q * s, q * c
    t.slope[first], t.slope[first + 1] = turn_c, turn_s
    t.generalized[first], t.generalized[first + 1] = force * t.along[first], force * t.along[first + 1]
    D = t.tangent + LAW_WIDTH * first
    D[0] = -slope * turn_c * q * s - force * q_c * s
    D[1] = -slope * turn_s * q * s - force * (q_s * s + 0.5 * q)
    D[LAW_WIDTH] = slope * turn_c * q * c + force * (q_c * c + 0.5 * q)
    D[LAW_WIDTH + 1] = slope * turn_s * q * c + force * q_s * c


@compiled
def scalar_force(t: Tables, f: int, h: float, damping: float) -> tuple[float, float]:
    """F of force f, and its derivative to theta_{n+1}."""
    t.loss[f], t.across_loss[f] = 0.0, 0.0
    if t.energy_of[f] == CONTACT:
        normal, slope = push(t, f, h)
        pull = -t.push_side[f] * normal
    else:
        pull, slope = discrete_gradient(t, f, t.theta0[f], t.theta_change[f])
        if t.friction[f] > 0.0 or t.bearing[f] >= 0:
            resisting, steeper = rub(t, f, h)
            pull, slope = pull + resisting, slope + steeper
    d = damper(t, f, h, damping)
    value = t.load_value[t.force_value[f]].x if t.force_value[f] >= 0 else 0.0
    if t.force_row[f] >= 0:
        value += t.force_factor[f] * t.multiplier1[t.force_row[f]]
    t.scalar_force[f] = value - pull - d * t.theta_change[f]
    return t.scalar_force[f], -slope - d


@exported
def forces_of_laws(t: Tables, first: int, count: int, h: float, damping: float) -> None:
    """``scalar_force`` and ``force_slope`` of so many laws without functions, whose coordinates have changed."""
    for f in range(first, first + count):
        t.force_slope[f] = scalar_force(t, f, h, damping)[1]


@compiled
def damper(t: Tables, f: int, h: float, damping: float) -> float:
    """(d + gamma h d') / h with d' = EA / 4 of strings, on which numerical damping acts."""
    return t.force_damping[f] / h + damping * t.force_modulus[f]


@compiled
def dissipated_by(t: Tables, f: int, h: float, damping: float) -> float:
    """What force f dissipates in the step; a servo nothing."""
    if t.energy_of[f] == SERVO:
        return 0.0
    return damper(t, f, h, damping) * t.theta_change[f] * t.theta_change[f] + t.loss[f]


@compiled
def supplied_by(t: Tables, f: int) -> float:
    """Work of the prescribed part of force f in the step; of a servo that of all of it."""
    if t.energy_of[f] == SERVO:
        return t.scalar_force[f] * t.theta_change[f]
    return t.load_value[t.force_value[f]].x * t.theta_change[f] if t.force_value[f] >= 0 else 0.0


@entry_point
def measure(places, rates, items, functions, terms, chords, parts, numbers, angles, measured):
    """Write coordinate and rate of each item, of a point place and velocity; the item without a rate, or -1.

    Args:
        places, rates: of all vectors, (vectors, 3).
        items: kind, first function or vector, place in ``measured``, number among ``angles``, a row each.
        functions: first and last + 1 of the terms of each, (functions, 2).
        terms: the two chords of each, (terms, 2).
        chords: first and last + 1 of the parts of each, (chords, 2).
        parts: vector of each.
        numbers: weights of the parts, then coefficients of the terms.
        angles: last values over full turns, NaN before the first; new ones are written.
        measured: receives the numbers.
    """
    none, y, dy = -1, (0.0, 0.0), (0.0, 0.0)
    for m in range(len(items)):
        kind, first, place = items[m, 0], items[m, 1], items[m, 2]
        if kind == POINT:
            for i in range(3):
                measured[place + i], measured[place + 3 + i] = places[first, i], rates[first, i]
            continue
        for f in range(2 if kind == ANGLE else 1):
            value, rate = 0.0, 0.0
            for p in range(functions[first + f, 0], functions[first + f, 1]):
                own, change = 0.0, 0.0
                for i in range(3):
                    a, da, b, db = 0.0, 0.0, 0.0, 0.0
                    for k in range(chords[terms[p, 0], 0], chords[terms[p, 0], 1]):
                        a += numbers[k] * places[parts[k], i]
                        da += numbers[k] * rates[parts[k], i]
                    for k in range(chords[terms[p, 1], 0], chords[terms[p, 1], 1]):
                        b += numbers[k] * places[parts[k], i]
                        db += numbers[k] * rates[parts[k], i]
                    own += a * b
                    change += da * b + a * db
                value += numbers[len(parts) + p] * own
                rate += numbers[len(parts) + p] * change
            y, dy = (value, y[0]), (rate, dy[0])
        if kind == ANGLE:  # y is (sine, cosine)
            theta, before = atan2(y[0], y[1]), angles[items[m, 3]]
            if not isnan(before):  # over full turns: the nearest to the one before
                theta = before + (theta - before + pi) % (2 * pi) - pi
            angles[items[m, 3]] = theta
            speed = (y[1] * dy[0] - y[0] * dy[1]) / (y[0] * y[0] + y[1] * y[1])
        elif kind == DISTANCE:
            theta = sqrt(max(y[0], 0.0))
            if theta == 0.0:
                none = m
            speed = 0.5 * dy[0] / max(theta, 1e-300)
        else:
            theta, speed = y[0], dy[0]
        measured[place], measured[place + 1] = theta, speed
    return none
