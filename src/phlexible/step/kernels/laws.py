"""Force laws and relations of coordinates: stored energies, forces, discrete gradients (docs/theory.md, 8)."""

from math import atan2, floor, isnan, log1p, nan, pi, sqrt

from phlexible.step.compilation.compiled import compiled, compiled_lane_by_lane, entry_point, exported
from phlexible.step.compilation.notation import (
    Number,
    Tables,
    Truth,
    all_of,
    any_of,
    has_derivatives,
    value_of,
    where,
    with_derivative,
)
from phlexible.step.compilation.subnormals import call
from phlexible.step.kernels.branches import end_branches, energy_of_branches, pull_of_branches
from phlexible.step.kernels.bristles import energy_of_bristle
from phlexible.step.kernels.contact import (
    begin_gap,
    damped_one_side,
    depth_energy,
    gap_weights,
    push,
    rub,
)
from phlexible.step.tables.declarations import (
    ANGLE,
    CONTACT,
    DISTANCE,
    ELASTIC,
    LAW_WIDTH,
    LINEAR,
    LOGARITHMIC,
    ROUNDED,
    SERVO,
    SPRING,
    ST_VENANT_KIRCHHOFF,
)
from phlexible.step.tables.requests import POINT, IntegerRow, IntegerRows, Rows1, Rows2

# Stored energies U(theta) of forces, and what a step needs of them: their discrete gradient.
#
# delta(U)/delta(theta) from theta_n and delta(theta), without cancellation, and its derivative to theta_{n+1}
# (docs/theory.md, 5 and 8). The laws of strings, W(C) with theta = C, are those of ``bodies/string_law.py``.

NEAR = 0.1  # relative change below which a user's energy is integrated, not divided
DIFFERENCE = 1e-5  # relative step of differences
SMALL = 1e-2
EPSILON = 2.220446049250313e-16
GAUSS = (
    (0.18343464249564980, 0.36268378337836198),
    (0.52553240991632899, 0.31370664587788729),
    (0.79666647741362674, 0.22238103445337447),
    (0.96028985649753623, 0.10122853629037626),
)


@compiled_lane_by_lane
def value_of_user(address: int, x: float) -> float:
    """Return the value at x of a user's function at an address."""
    return call(address, x)


@exported
def stored_energy(t: Tables, f: int, theta: Number) -> float:
    """Energy U(theta) of force f with that of its branches and its bristles [J]."""
    return elastic_energy(t, f, theta) + energy_of_branches(t, f) + energy_of_bristle(t, f)


@compiled
def elastic_energy(t: Tables, f: int, theta: float) -> float:
    """Elastic energy U(theta) of force f [J], NaN outside of the domain of its law."""
    kind, k = t.energy_of[f], t.force_stiffness[f]
    if kind == SPRING or kind == ELASTIC:
        stretch = theta - t.force_rest[f]
        energy = 0.5 * k * stretch * stretch
        if t.energy_address[f] != 0:
            energy += value_of_user(t.energy_address[f], theta)
        return energy
    if kind == CONTACT:
        return depth_energy(k, t.push_exponent[f], t.push_side[f] * (t.force_rest[f] - theta))
    if kind == SERVO:
        return 0.0
    if t.tension_only[f] == 1:
        theta = where(theta < 1.0, 1.0, theta)
    if kind == ST_VENANT_KIRCHHOFF:
        return t.force_weight[f] * 0.125 * k * (theta - 1.0) * (theta - 1.0)
    is_right = theta > 0.0
    if not any_of(is_right):
        return nan
    if kind == LOGARITHMIC:
        energy = 0.25 * k * (theta - 1.0 - log1p(theta - 1.0))
    elif kind == LINEAR:
        stretch = (theta - 1.0) / (sqrt(theta) + 1.0)
        energy = 0.5 * k * stretch * stretch
    else:
        energy = value_of_user(t.energy_address[f], theta)
    return where(is_right, t.force_weight[f] * energy, nan)


@compiled
def discrete_gradient(t: Tables, f: int, theta: float, change: float) -> tuple[float, float]:
    """Return delta(U)/delta(theta) of force f, and its derivative to theta_{n+1}."""
    kind, k = t.energy_of[f], t.force_stiffness[f]
    if kind == SPRING or kind == ELASTIC or kind == SERVO:
        value, slope = k * (theta + 0.5 * change - t.force_rest[f]), 0.5 * k
        if t.energy_address[f] != 0:
            energy, slopes = t.energy_address[f], t.slope_address[f]
            more, steeper = user_gradient(energy, slopes, theta, change, 1.0, t.force_energy[f])
            value, slope = value + more, slope + steeper
        return value, slope
    if t.tension_only[f] == 0:
        return strain_gradient(t, f, theta, change)
    end = theta + change
    is_taut, ends_taut, differs = (theta > 1.0) & (end > 1.0), end > 1.0, change != 0.0
    low = where(theta < 1.0, 1.0, theta)
    own = where(is_taut, change, where(ends_taut, end, 1.0) - low)
    value, slope = strain_gradient(t, f, low, own)
    share, step = where(differs, own / where(differs, change, 1.0), 0.0), where(ends_taut, 1.0, 0.0)
    steeper = where(differs, (step - share) / where(differs, change, 1.0), 0.0)
    return (
        where(is_taut, value, share * value),
        where(is_taut, slope, step * share * slope + steeper * value),
    )


@compiled
def strain_gradient(t: Tables, f: int, theta: float, change: float) -> tuple[float, float]:
    """Return delta(U)/delta(theta) of a string whose law acts on both sides of C = 1, and its derivative to
    C_{n+1}."""
    kind, k = t.energy_of[f], t.force_stiffness[f]
    if kind == ST_VENANT_KIRCHHOFF:
        weighted = 0.25 * k * t.force_weight[f]
        return weighted * (theta - 1.0 + 0.5 * change), 0.5 * weighted
    end = theta + change
    is_right = (theta > 0.0) & (end > 0.0)
    if not any_of(is_right):
        return nan, nan
    if kind == LOGARITHMIC:
        d = change / theta
        quotient, steeper = log_quotient(d)
        value, slope = 0.25 * k * (1.0 - quotient / theta), -0.25 * k * steeper / (theta * theta)
    elif kind == LINEAR:
        roots = sqrt(theta) + sqrt(end)
        value, slope = 0.5 * k * (1.0 - 2.0 / roots), 0.5 * k / (roots * roots * sqrt(end))
    else:
        energy, slopes = t.energy_address[f], t.slope_address[f]
        value, slope = user_gradient(energy, slopes, theta, change, theta, t.force_energy[f])
    weight = where(is_right, t.force_weight[f], nan)
    return weight * value, weight * slope


@compiled_lane_by_lane
def log_quotient(d: float) -> tuple[float, float]:
    """Return log1p(d) / d and its derivative to d, near d = 0 by series: a limit alone has no derivative there."""
    if abs(d) > SMALL:
        quotient = log1p(d) / d
        return quotient, (1.0 / (1.0 + d) - quotient) / d
    value, slope, power = 1.0, 0.0, 1.0
    for k in range(1, 9):
        slope -= power * k / (k + 1.0)
        power *= -d
        value += power / (k + 1.0)
    return value, slope


@compiled
def user_gradient(
    energy: int, slope: int, x: float, change: float, scale: float, energy_size: float
) -> tuple[float, float]:
    """Return delta(U)/delta(x) of a user's energy, and its derivative to the end.

    Its derivative to the start is that to the end of the reversed change, for which the quotient is the same.
    """
    start, step, size = value_of(x), value_of(change), value_of(scale)
    mean, to_end = gradient_of_user(energy, slope, start, step, size, energy_size)
    if not has_derivatives(x):
        return mean, to_end
    _, to_start = gradient_of_user(energy, slope, start + step, -step, size, energy_size)
    return with_derivative(with_derivative(mean, to_start, x), to_end, x + change), to_end


@compiled_lane_by_lane
def gradient_of_user(
    energy: int, slope: int, x: float, change: float, scale: float, energy_size: float
) -> tuple[float, float]:
    """Return delta(U)/delta(x) of a user's energy and its derivative to the end, for plain floats.

    Eight Gauss points of its derivative are used where x changes little, the quotient elsewhere. ``scale``:
    smallest size that changes are compared with. ``energy_size``: of the round-off in energies; where mean and
    quotient differ by more, the derivative has a kink in between and the quotient is right.
    """
    end, size = x + change, max(abs(x), abs(x + change), scale)
    step = DIFFERENCE * size
    if abs(change) > NEAR * size:
        quotient = (call(energy, end) - call(energy, x)) / change
        return quotient, (call(slope, end) - quotient) / change
    middle, half, mean = x + 0.5 * change, 0.5 * change, 0.0
    for point in range(4):
        place, weight = GAUSS[point]
        mean += 0.5 * weight * (call(slope, middle - half * place) + call(slope, middle + half * place))
    if change != 0.0:
        before, after = call(energy, x), call(energy, end)
        quotient = (after - before) / change
        round_off = 64.0 * EPSILON * (abs(before) + abs(after) + energy_size) / abs(change)
        if not abs(mean - quotient) <= round_off:  # nor where an energy is not a number
            mean = quotient
    if abs(change) > step:
        return mean, (call(slope, end) - mean) / change
    return mean, 0.25 * (call(slope, middle + step) - call(slope, middle - step)) / step


# Relations sum_i c_i theta_i = constant of coordinates, such as gears (docs/theory.md, 8).
#
# A relation is a constraint without functions of its own. Each of its coordinates is a law whose force is c_i times
# the multiplier, along the discrete derivative (8.16).


@compiled
def nearest_turn(measured: float, counted: float) -> float:
    """Return the angle equal to ``measured`` modulo 2 pi that is nearest to a counted one [rad]."""
    return measured + 2.0 * pi * floor((counted - measured) / (2.0 * pi) + 0.5)


@compiled
def is_held(t: Tables, row: int) -> Truth:
    """Whether a constraint row is active; events lock and release some rows."""
    switch = t.row_switch[row]
    if switch < 0:
        return True
    return t.held[switch] == t.held[switch]


@compiled
def held_at(t: Tables, row: int) -> float:
    """Value at which an event locked a constraint row; zero for rows that no event changes."""
    switch = t.row_switch[row]
    return t.held[switch] if switch >= 0 else 0.0


@compiled
def relation_gap(t: Tables, row: int) -> float:
    """Sum of c_i theta_i at the end of the step; zero for a row that is no relation."""
    total = 0.0
    for f in range(t.row_force[row], t.row_force[row] + t.row_force_count[row]):
        total += t.force_factor[f] * (t.theta0[f] + t.theta_change[f])
    return total


@compiled
def relation_size(t: Tables, row: int) -> float:
    """Size of the terms of a relation, which its round-off is compared with."""
    total = 0.0
    for f in range(t.row_force[row], t.row_force[row] + t.row_force_count[row]):
        total += abs(t.force_factor[f]) * (abs(t.theta0[f]) + abs(t.theta_change[f]))
    return total


@compiled
def relate(t: Tables, f: int, begin: int, count: int, numbers: int, h: float) -> None:
    """Add column and row of a relation's multiplier for force f to Newton's matrix, from the law's gradients."""
    if t.force_row[f] < 0:
        return
    pulls = is_held(t, t.force_row[f])
    factor = where(pulls, t.force_factor[f], 0.0)
    for a in range(t.carrier_count[f] if any_of(pulls) else 0):
        group = t.groups_begin[f] + a
        upper, lower = t.blocks + t.group_upper[group], t.blocks + t.group_lower[group]
        for r in range(count):
            place = r * numbers + t.group_place[group]
            left, right = t.left_gradient + place, t.right_gradient + place
            force, rate = h * factor * t.along[begin + r], factor * t.slope[begin + r] / h
            for i in range(t.group_width[group]):
                upper[i] -= force * left[i]
                lower[i] += rate * right[i]


# Forces along coordinates theta of functions w: a position, a distance, an angle (docs/theory.md, 8).
#
# The force F on theta acts on the functions as g_m = F omega_m, with weights omega of the discrete derivative,
# sum_m omega_m delta(w_m) = delta(theta) (8.11), and (8.14)::
#
#     F = value - delta(U)/delta(theta) - (d / h + gamma d') delta(theta)
#
# so that a step supplies exactly value delta(theta), loses (d / h + gamma d') delta(theta)^2 and stores the rest.

SMALL_ANGLE = 0.05


@compiled
def begin_coordinate(t: Tables, i: int) -> None:
    """Compute theta_n of a law from its functions; angles are those counted over full turns."""
    f, w0 = i - t.constraints, t.function0[t.functions_begin[i]]
    if t.coordinate_of[i] == ANGLE:
        t.theta0[f] = t.theta[f]
        if t.force_row[f] >= 0:  # a relation shall hold angles, not sums of rounded turns
            t.theta0[f] = nearest_turn(atan2(t.function0[t.functions_begin[i] + 1], w0), t.theta[f])
    elif t.coordinate_of[i] == DISTANCE:
        t.theta0[f] = sqrt(max(w0, 0.0))
    elif t.coordinate_of[i] >= ROUNDED:
        t.theta0[f] = begin_gap(t, i)
    else:
        t.theta0[f] = w0


@compiled
def end_coordinate(t: Tables, i: int, h: float, damping: float) -> None:
    """Compute delta(theta) of law i, the generalized forces g and their derivatives to w_{n+1}."""
    f, first = i - t.constraints, t.functions_begin[i]
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


@compiled
def end_gap(t: Tables, i: int, first: int, h: float, damping: float) -> None:
    """Compute force, tangent and change of a coordinate whose weights omega come with their derivatives
    (``gap_weights``)."""
    f, count = i - t.constraints, t.functions_count[i]
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
    """Compute change, forces and derivatives of an angle theta = atan2(s, c).

    omega = (-mean(s), mean(c)) q with q = delta(theta) / (c_n s_{n+1} - s_n c_{n+1}).
    """
    c0, s0 = t.function0[first], t.function0[first + 1]
    c1, s1 = c0 + t.function_change[first], s0 + t.function_change[first + 1]
    cross, dot = c0 * s1 - s0 * c1, c0 * c1 + s0 * s1
    turn, squared = atan2(cross, dot), cross * cross + dot * dot
    turn_c, turn_s = (-dot * s0 - cross * c0) / squared, (dot * c0 - cross * s0) / squared
    is_small, q, q_c, q_s = (dot > 0.0) & (abs(cross) < SMALL_ANGLE * dot), 0.0, 0.0, 0.0
    if any_of(is_small):  # from the series of atan
        x = cross / dot
        x2 = x * x
        f0 = 1.0 - x2 * (1.0 / 3.0 - x2 * (0.2 - x2 * (1.0 / 7.0 - x2 * (1.0 / 9.0 - x2 / 11.0))))
        f1 = -x * (2.0 / 3.0 - x2 * (0.8 - x2 * (6.0 / 7.0 - x2 * (8.0 / 9.0 - x2 * 10.0 / 11.0))))
        q = f0 / dot
        q_c, q_s = (f1 * (-s0 - x * c0) / dot - q * c0) / dot, (f1 * (c0 - x * s0) / dot - q * s0) / dot
    if not all_of(is_small):
        p = turn / cross
        q_c = where(is_small, q_c, (turn_c + p * s0) / cross)
        q_s = where(is_small, q_s, (turn_s - p * c0) / cross)
        q = where(is_small, q, p)
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
    """Return the force F of law f along its coordinate, and its derivative to theta_{n+1}."""
    t.loss[f] = 0.0
    if t.energy_of[f] == CONTACT:
        normal, slope = push(t, f, h)
        pull = -t.push_side[f] * normal
    else:
        pull, slope = discrete_gradient(t, f, t.theta0[f], t.theta_change[f])
        if t.tension_only[f] == 1:
            stored, d = pull, t.force_damping[f] / h + damping * t.force_modulus[f]
            pull, slope = damped_one_side(stored, slope, d, t.theta0[f] - 1.0, t.theta_change[f])
            t.loss[f] = (pull - stored) * t.theta_change[f]
        if t.bearing[f] >= 0 or any_of(t.friction[f] > 0.0):
            resisting, steeper = rub(t, f, h)
            pull, slope = pull + resisting, slope + steeper
    if t.branches_count[f] > 0:
        creeping, steeper = pull_of_branches(t, f, h)
        pull, slope = pull + creeping, slope + steeper
    d = damper(t, f, h, damping)
    value = t.load_value[t.force_value[f]].x if t.force_value[f] >= 0 else 0.0
    if t.force_row[f] >= 0:
        value += t.force_factor[f] * t.multiplier1[t.force_row[f]]
    t.scalar_force[f] = value - pull - d * t.theta_change[f]
    return t.scalar_force[f], -slope - d


@exported
def forces_of_laws(t: Tables, first: int, count: int, h: float, damping: float) -> None:
    """Compute ``scalar_force`` and ``force_slope`` of consecutive laws without functions, whose coordinates are
    set."""
    for f in range(first, first + count):
        t.force_slope[f] = scalar_force(t, f, h, damping)[1]


@compiled
def damper(t: Tables, f: int, h: float, damping: float) -> float:
    """Damping coefficient over h: (d + gamma h d') / h with d' = EA / 4 of strings, on which numerical damping
    acts.

    Zero for one-sided forces, whose damping ``damped_one_side`` adds.
    """
    if t.energy_of[f] == CONTACT or t.tension_only[f] == 1:
        return 0.0
    return t.force_damping[f] / h + damping * t.force_modulus[f]


@compiled
def dissipated_by(t: Tables, f: int, h: float, damping: float) -> float:
    """Energy that force f dissipates in the step [J], zero for a servo; advances the strains of its branches."""
    if t.energy_of[f] == SERVO:
        return 0.0
    lost = damper(t, f, h, damping) * t.theta_change[f] * t.theta_change[f] + t.loss[f]
    return lost + end_branches(t, f, h)


@compiled
def supplied_by(t: Tables, f: int) -> float:
    """Work of the prescribed part of force f in the step [J]; for a servo of the whole force."""
    if t.energy_of[f] == SERVO:
        return t.scalar_force[f] * t.theta_change[f]
    return t.load_value[t.force_value[f]].x * t.theta_change[f] if t.force_value[f] >= 0 else 0.0


@entry_point
def measure(
    places: Rows2,
    rates: Rows2,
    items: IntegerRows,
    functions: IntegerRows,
    terms: IntegerRows,
    chords: IntegerRows,
    parts: IntegerRow,
    numbers: Rows1,
    angles: Rows1,
    measured: Rows1,
) -> int:
    """Write coordinates and rates of items, and positions and velocities of points, into ``measured``.

    Returns the number of an item without a rate, or -1.

    Args:
        places, rates: of all vectors, (vectors, 3).
        items: kind, first function or vector, index in ``measured``, number among ``angles``, a row each.
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
