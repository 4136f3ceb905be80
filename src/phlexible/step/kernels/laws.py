"""Force laws and relations of coordinates: stored energies, forces, discrete gradients (docs/theory.md, 8)."""

from math import atan2, floor, isnan, log1p, nan, pi, sqrt

from phlexible.step.compilation.compiled import compiled, compiled_lane_by_lane, entry_point, exported
from phlexible.step.compilation.notation import (
    Number,
    Tables,
    all_of,
    any_of,
    has_derivatives,
    value_of,
    where,
    with_derivative,
)
from phlexible.step.compilation.subnormals import user_value
from phlexible.step.kernels.branches import advance_branches, branch_energy, branch_force
from phlexible.step.kernels.capstan import capstan_energy, capstan_force
from phlexible.step.kernels.contact import (
    bristle_energy,
    coordinate_weights,
    damped_one_sided_force,
    dry_friction,
    one_sided_force,
    penetration_energy,
    start_distance,
)
from phlexible.step.kernels.locks import is_active
from phlexible.step.kernels.sliding import acting_of_slide, slide_weights, start_slide
from phlexible.step.tables.declarations import (
    ANGLE,
    CONTACT,
    DISTANCE,
    ELASTIC,
    LAW_WIDTH,
    LINEAR,
    LOGARITHMIC,
    PIECES,
    ROUNDED,
    SERVO,
    SLID,
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
def user_function_value(address: int, x: float) -> float:
    """Return the value at x of a scalar function that the user wrote, called by the memory ``address`` of its
    compiled code."""
    return user_value(address, x)


@exported
def stored_energy(t: Tables, f: int, theta: Number) -> float:
    """Return the energy that force element f stores at its coordinate theta [J]: elastic energy, that of its
    Maxwell branches (springs in series with dashpots) and of its friction bristle (friction spring). ``t``
    contains all arrays of the model and its state."""
    if t.coordinate_of[t.constraints + f] == PIECES:
        return capstan_energy(t, t.constraints + f)
    return elastic_energy(t, f, theta) + branch_energy(t, f) + bristle_energy(t, f)


@compiled
def elastic_energy(t: Tables, f: int, theta: float) -> float:
    """Return the elastic energy U(theta) [J] of force element f at its coordinate theta. For springs it is k
    (theta - rest)^2 / 2 plus a user's potential, for contacts that of the penetration, for servos 0. For
    strings theta is the squared stretch, 1 if unstretched; tension-only strings store nothing below 1. NaN
    where a logarithmic, linear or user's string law has theta <= 0. ``t`` contains all arrays of the model and
    its state."""
    kind, k = t.energy_of[f], t.force_stiffness[f]
    if kind == SPRING or kind == ELASTIC:
        stretch = theta - t.force_rest[f]
        energy = 0.5 * k * stretch * stretch
        if t.energy_address[f] != 0:
            energy += user_function_value(t.energy_address[f], theta)
        return energy
    if kind == CONTACT:
        return penetration_energy(k, t.push_exponent[f], t.push_side[f] * (t.force_rest[f] - theta))
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
        energy = user_function_value(t.energy_address[f], theta)
    return where(is_right, t.force_weight[f] * energy, nan)


@compiled
def discrete_gradient(t: Tables, f: int, theta: float, change: float) -> tuple[float, float]:
    """Return the discrete derivative delta(U) / delta(theta) of the elastic energy of force element f over a time
    step from theta to theta + change. Second is its derivative with respect to theta at the end. The first value
    times ``change`` is exactly the change of energy. ``t`` contains all arrays of the model and its state."""
    kind, k = t.energy_of[f], t.force_stiffness[f]
    if kind == SPRING or kind == ELASTIC or kind == SERVO:
        value, slope = k * (theta + 0.5 * change - t.force_rest[f]), 0.5 * k
        if t.energy_address[f] != 0:
            energy, slopes = t.energy_address[f], t.slope_address[f]
            more, steeper = user_gradient(energy, slopes, theta, change, 1.0, t.force_energy[f])
            value, slope = value + more, slope + steeper
        return value, slope
    if t.tension_only[f] == 0:
        return string_gradient(t, f, theta, change)
    end = theta + change
    is_taut, ends_taut, differs = (theta > 1.0) & (end > 1.0), end > 1.0, change != 0.0
    low = where(theta < 1.0, 1.0, theta)
    own = where(is_taut, change, where(ends_taut, end, 1.0) - low)
    value, slope = string_gradient(t, f, low, own)
    share, step = where(differs, own / where(differs, change, 1.0), 0.0), where(ends_taut, 1.0, 0.0)
    steeper = where(differs, (step - share) / where(differs, change, 1.0), 0.0)
    return (where(is_taut, value, share * value), where(is_taut, slope, step * share * slope + steeper * value))


@compiled
def string_gradient(t: Tables, f: int, theta: float, change: float) -> tuple[float, float]:
    """Return the discrete derivative delta(U) / delta(C) of the energy of a string (force element f) and its
    derivative. C is the squared ratio of deformed to undeformed length; it changes from ``theta`` to theta +
    ``change``. The second result is the derivative with respect to C at the end. The string resists compression
    too; NaN where a law is not defined for C <= 0. ``t`` contains all arrays of the model and its state."""
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
    """Return log(1 + d) / d and its derivative with respect to d. They are computed by series near d = 0, where
    the quotient would divide by zero."""
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
    """Return the discrete derivative of a user's energy U(x) and its derivative with respect to the end. It is the
    difference of U over ``change``, with the start x; if ``change`` is small against ``scale``, Gauss quadrature
    of dU/dx replaces it. ``energy`` and ``slope`` are addresses of the compiled U and dU/dx, ``energy_size`` is
    the size of energies whose round-off counts. Dual numbers (values with derivatives) are permitted.

    Its derivative to the start is that to the end of the reversed change, for which the quotient is the same.
    """
    start, step, size = value_of(x), value_of(change), value_of(scale)
    mean, to_end = user_gradient_of_floats(energy, slope, start, step, size, energy_size)
    if not has_derivatives(x):
        return mean, to_end
    _, to_start = user_gradient_of_floats(energy, slope, start + step, -step, size, energy_size)
    return with_derivative(with_derivative(mean, to_start, x), to_end, x + change), to_end


@compiled_lane_by_lane
def user_gradient_of_floats(
    energy: int, slope: int, x: float, change: float, scale: float, energy_size: float
) -> tuple[float, float]:
    """Return the discrete derivative of a user's energy U(x) from x to x + ``change``, and its derivative with
    respect to the end. It is for plain floats. ``energy`` and ``slope`` are addresses of the compiled U and dU/dx.
    Changes are compared with ``scale`` at least, and ``energy_size`` is the size of energies whose round-off
    counts.

    Eight Gauss points of its derivative are used where x changes little, the quotient elsewhere. ``scale``:
    smallest size that changes are compared with. ``energy_size``: of the round-off in energies; where mean and
    quotient differ by more, the derivative has a kink in between and the quotient is right.
    """
    end, size = x + change, max(abs(x), abs(x + change), scale)
    step = DIFFERENCE * size
    if abs(change) > NEAR * size:
        quotient = (user_value(energy, end) - user_value(energy, x)) / change
        return quotient, (user_value(slope, end) - quotient) / change
    middle, half, mean = x + 0.5 * change, 0.5 * change, 0.0
    for point in range(4):
        place, weight = GAUSS[point]
        mean += 0.5 * weight * (user_value(slope, middle - half * place) + user_value(slope, middle + half * place))
    if change != 0.0:
        before, after = user_value(energy, x), user_value(energy, end)
        quotient = (after - before) / change
        round_off = 64.0 * EPSILON * (abs(before) + abs(after) + energy_size) / abs(change)
        if not abs(mean - quotient) <= round_off:  # nor where an energy is not a number
            mean = quotient
    if abs(change) > step:
        return mean, (user_value(slope, end) - mean) / change
    return mean, 0.25 * (user_value(slope, middle + step) - user_value(slope, middle - step)) / step


# Relations sum_i c_i theta_i = constant of coordinates, such as gears (docs/theory.md, 8).
#
# A relation is a constraint without functions of its own. Each of its coordinates is a law whose force is c_i times
# the multiplier, along the discrete derivative (8.16).


@compiled
def nearest_angle(measured: float, counted: float) -> float:
    """Return the angle that equals ``measured`` up to full turns and is nearest to the angle ``counted`` over full
    turns [rad]."""
    return measured + 2.0 * pi * floor((counted - measured) / (2.0 * pi) + 0.5)


@compiled
def relation_value(t: Tables, row: int) -> float:
    """Return the value sum_i c_i theta_i at the end of the time step of a linear relation between joint
    coordinates theta_i, such as a gear. The relation is constraint row ``row``, the c_i are its factors. The sum
    is 0 for a row that is no relation. ``t`` contains all arrays of the model and its state."""
    total = 0.0
    for f in range(t.row_force[row], t.row_force[row] + t.row_force_count[row]):
        total += t.force_factor[f] * (t.theta0[f] + t.theta_change[f])
    return total


@compiled
def relation_size(t: Tables, row: int) -> float:
    """Return an upper bound of the sum of |c_i theta_i| of a linear relation between joint coordinates theta_i,
    such as a gear. The relation is constraint row ``row``, the c_i are its factors; |theta_i| is bounded by the
    start value plus the change in the time step. The result is a scale of round-off, 0 for other rows. ``t``
    contains all arrays of the model and its state."""
    total = 0.0
    for f in range(t.row_force[row], t.row_force[row] + t.row_force_count[row]):
        total += abs(t.force_factor[f]) * (abs(t.theta0[f]) + abs(t.theta_change[f]))
    return total


@compiled
def add_relation_blocks(t: Tables, f: int, begin: int, count: int, entries: int, h: float) -> None:
    """Add the multiplier's column and row for force element f, one coordinate of a relation such as gears, to
    Newton's matrix. They follow from the gradients of its ``count`` functions from number ``begin`` on,
    ``entries`` entries each. Nothing happens if f is in no relation. h is the length of the time step [s]. ``t``
    contains all arrays of the model and its state."""
    if t.force_row[f] < 0:
        return
    pulls = is_active(t, t.force_row[f])
    factor = where(pulls, t.force_factor[f], 0.0)
    for a in range(t.carrier_count[f] if any_of(pulls) else 0):
        group = t.groups_begin[f] + a
        upper, lower = t.blocks + t.group_upper[group], t.blocks + t.group_lower[group]
        for r in range(count):
            place = r * entries + t.group_offset[group]
            left, right = t.left_gradient + place, t.right_gradient + place
            force, rate = h * factor * t.along[begin + r], factor * t.slope[begin + r] / h
            for i in range(t.group_width[group]):
                upper[i * t.relation_rows[f]] -= force * left[i]
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
def start_coordinate(t: Tables, i: int) -> None:
    """Compute the coordinate theta of interaction i at the start of the time step from its scalar functions, and
    store it in ``t.theta0``. Theta is the position, distance or angle along which a force acts; 0 for a tendon
    with friction on its guides. An angle is the counted one with its full turns; for a relation (gear) it is
    computed anew from the pose. ``t`` contains all arrays of the model and its state."""
    f, w0 = i - t.constraints, t.function0[t.functions_begin[i]]
    if t.coordinate_of[i] == ANGLE:
        t.theta0[f] = t.theta[f]
        if t.force_row[f] >= 0:  # a relation shall hold angles, not sums of rounded turns
            t.theta0[f] = nearest_angle(atan2(t.function0[t.functions_begin[i] + 1], w0), t.theta[f])
    elif t.coordinate_of[i] == PIECES:
        t.theta0[f] = 0.0  # it has no single coordinate
    elif t.coordinate_of[i] == DISTANCE:
        t.theta0[f] = sqrt(max(w0, 0.0))
    elif t.coordinate_of[i] >= SLID:
        t.theta0[f] = start_slide(t, i)
    elif t.coordinate_of[i] >= ROUNDED:
        t.theta0[f] = start_distance(t, i)
    else:
        t.theta0[f] = w0


@compiled
def acting_functions(t: Tables, i: int) -> tuple[int, int]:
    """Return the index of the first scalar function on which interaction i depends in this time step, and the
    number of such functions. The interaction is a force law, which depends on all its functions. If it belongs to
    a joint that slides along a line, only functions of the line's pieces near the joint count. ``t`` contains all
    arrays of the model and its state."""
    if t.coordinate_of[i] >= SLID:
        return acting_of_slide(t, i)
    return t.functions_begin[i], t.functions_count[i]


@compiled
def compute_coordinate_force(t: Tables, i: int, h: float, damping: float) -> None:
    """Compute the change of the coordinate theta of interaction i in a time step of length h [s], and its
    generalized forces. The forces, on the scalar functions w of which theta is made, are the force along theta
    (positive towards larger theta) times the discrete derivative of theta. Results are in ``t.theta_change`` and
    ``t.generalized``, derivatives of the forces with respect to w at the end in ``t.tangent``. ``damping`` is
    numerical damping. ``t`` contains all arrays of the model and its state."""
    f, first = i - t.constraints, t.functions_begin[i]
    if t.coordinate_of[i] == PIECES:
        t.theta_change[f], t.force_slope[f] = 0.0, 0.0
        capstan_force(t, i, h)
        return
    if t.coordinate_of[i] == ANGLE:
        _compute_angle_force(t, f, first, h, damping)
        return
    if t.coordinate_of[i] >= ROUNDED:
        compute_weighted_force(t, i, h, damping)
        return
    weight, rate, bend, change = 1.0, 1.0, 0.0, t.function_change[first]
    if t.coordinate_of[i] == DISTANCE:
        end = sqrt(max(t.function0[first] + t.function_change[first], 0.0))
        weight, rate = 1.0 / max(t.theta0[f] + end, 1e-300), 0.5 / max(end, 1e-300)
        bend, change = -weight * weight * rate, change * weight
    t.theta_change[f] = change
    force, slope = force_along_coordinate(t, f, h, damping)
    t.along[first], t.slope[first] = weight, rate
    t.force_slope[f] = slope
    t.generalized[first] = force * weight
    t.tangent[LAW_WIDTH * first] = slope * rate * weight + force * bend


@compiled
def compute_weighted_force(t: Tables, i: int, h: float, damping: float) -> None:
    """Compute the change of interaction i's coordinate in a time step, and the generalized forces on its scalar
    functions w. The coordinate is a distance, slip, length or position along a line. Its change is weights times
    changes of w, the forces are the force along it times the weights of ``coordinate_weights`` or
    ``slide_weights``. Results are in ``t.theta_change`` and ``t.generalized``, derivatives in ``t.tangent``. h is
    the length of the time step [s]. ``t`` contains all arrays of the model."""
    f, (first, count) = i - t.constraints, acting_functions(t, i)
    if t.coordinate_of[i] >= SLID:
        slide_weights(t, i)
    else:
        coordinate_weights(t, i)
    change = 0.0
    for r in range(first, first + count):
        change += t.along[r] * t.function_change[r]
    t.theta_change[f] = change
    force, slope = force_along_coordinate(t, f, h, damping)
    for r in range(count):
        t.generalized[first + r] = force * t.along[first + r]
        D = t.tangent + LAW_WIDTH * (first + r)
        for s in range(count):
            D[s] = force * D[s] + slope * t.along[first + r] * t.slope[first + s]
    t.force_slope[f] = slope


@compiled
def _compute_angle_force(t: Tables, f: int, first: int, h: float, damping: float) -> None:
    """Compute the discrete-gradient forces of force element f along an angle theta = atan2(s, c) over a time step
    of length h [s]. c and s are the scalar functions ``first`` and ``first`` + 1 of the model. Forces on them are
    stored in ``t.generalized``, derivatives in ``t.tangent``, the change of theta in ``t.theta_change``. Small
    changes are computed by series. ``damping`` is numerical damping. ``t`` contains all arrays of the model and
    its state.

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
    force, slope = force_along_coordinate(t, f, h, damping)
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
def force_along_coordinate(t: Tables, f: int, h: float, damping: float) -> tuple[float, float]:
    """Return the mean force of force element f along its coordinate theta over a time step of length h [s],
    positive towards larger theta. The second result is its derivative with respect to theta at the end. The force
    is the prescribed force plus the multiplier of a relation (gear), minus elastic, viscous, Maxwell and friction
    forces; contacts push out of penetration. It is stored in ``t.scalar_force``, losses in ``t.loss``. ``damping``
    is numerical damping. ``t`` contains all arrays of the model and its state."""
    t.loss[f] = 0.0
    if t.energy_of[f] == CONTACT:
        normal, slope = one_sided_force(t, f, h)
        pull = -t.push_side[f] * normal
    else:
        pull, slope = discrete_gradient(t, f, t.theta0[f], t.theta_change[f])
        if t.tension_only[f] == 1:
            stored, d = pull, t.force_damping[f] / h + damping * t.force_modulus[f]
            pull, slope = damped_one_sided_force(stored, slope, d, t.theta0[f] - 1.0, t.theta_change[f])
            t.loss[f] = (pull - stored) * t.theta_change[f]
        if t.bearing[f] >= 0 or any_of(t.friction[f] > 0.0):
            resisting, steeper = dry_friction(t, f, h)
            pull, slope = pull + resisting, slope + steeper
    if t.branches_count[f] > 0:
        creeping, steeper = branch_force(t, f, h)
        pull, slope = pull + creeping, slope + steeper
    d = damping_coefficient(t, f, h, damping)
    value = t.load_value[t.force_value[f]].x if t.force_value[f] >= 0 else 0.0
    if t.force_row[f] >= 0:
        value += t.force_factor[f] * t.multiplier1[t.force_row[f]]
    t.scalar_force[f] = value - pull - d * t.theta_change[f]
    return t.scalar_force[f], -slope - d


@exported
def forces_of_laws(t: Tables, first: int, count: int, h: float, damping: float) -> None:
    """Compute the mean forces of ``count`` consecutive force elements, from number ``first`` on, along their
    coordinates, positive towards larger coordinates. The forces are stored in ``t.scalar_force``, their
    derivatives with respect to the coordinates at the end in ``t.force_slope``. Coordinates and changes
    (``t.theta0``, ``t.theta_change``) must have been set, which is not checked. h is the length of the time step
    [s], ``damping`` numerical damping. ``t`` contains all arrays of the model and its state."""
    for f in range(first, first + count):
        t.force_slope[f] = force_along_coordinate(t, f, h, damping)[1]


@compiled
def damping_coefficient(t: Tables, f: int, h: float, damping: float) -> float:
    """Return the damping coefficient of force element f divided by the time step length h, (d + gamma h d') / h.
    Times the change of the coordinate it is a force. gamma is numerical damping, which acts on strings only (d' =
    EA / 4). It is 0 for contacts and strings without compression, whose damping is computed elsewhere. ``t``
    contains all arrays of the model and its state."""
    if t.energy_of[f] == CONTACT or t.tension_only[f] == 1:
        return 0.0
    return t.force_damping[f] / h + damping * t.force_modulus[f]


@compiled
def energy_dissipated_by(t: Tables, f: int, h: float, damping: float) -> float:
    """Return the energy that force element f dissipates in a time step of length h [J], 0 for a servo; the strains
    of its Maxwell branches (springs in series with dashpots) are advanced to the end of the time step. ``damping``
    is numerical damping, a multiple of the stiffness. ``t`` contains all arrays of the model and its state."""
    if t.energy_of[f] == SERVO:
        return 0.0
    lost = damping_coefficient(t, f, h, damping) * t.theta_change[f] * t.theta_change[f] + t.loss[f]
    return lost + advance_branches(t, f, h)


@compiled
def work_supplied_by(t: Tables, f: int) -> float:
    """Return the work that the prescribed force of force element f does in the time step [J]; for a servo the work
    of its total force. ``t`` contains all arrays of the model and its state."""
    if t.energy_of[f] == SERVO:
        return t.scalar_force[f] * t.theta_change[f]
    return t.load_value[t.force_value[f]].x * t.theta_change[f] if t.force_value[f] >= 0 else 0.0


@entry_point
def measure(
    positions: Rows2,
    rates: Rows2,
    items: IntegerRows,
    functions: IntegerRows,
    terms: IntegerRows,
    chords: IntegerRows,
    parts: IntegerRow,
    coefficients: Rows1,
    angles: Rows1,
    measured: Rows1,
) -> int:
    """Compute measured values from the ``positions`` and ``rates`` of all points and directions, shape (vectors,
    3), and write them to ``measured``. Each row of ``items`` is a point, of which position and velocity are
    written, or a coordinate (scalar function, distance or angle) with its rate. Angles continue those in ``angles``
    over full turns and replace them. Return the index of the last item that is a distance of zero, which has no
    rate, or -1. The other arguments are index tables and weights, see below.

    A coordinate is made of ``functions``, sums of ``terms``; a term is a product of two ``chords``, each a
    weighted sum of vectors whose indices are ``parts``. ``coefficients`` has first the weights of vectors, then the
    coefficients of terms; ``angles`` are the last angles over full turns.

    Args:
        positions, rates: of all vectors, (vectors, 3).
        items: kind, first function or vector, index in ``measured``, number among ``angles``, a row each.
        functions: first and last + 1 of the terms of each, (functions, 2).
        terms: the two chords of each, (terms, 2).
        chords: first and last + 1 of the parts of each, (chords, 2).
        parts: vector of each.
        coefficients: weights of the parts, then coefficients of the terms.
        angles: last values over full turns, NaN before the first; new ones are written.
        measured: receives the numbers.
    """
    none, y, dy = -1, (0.0, 0.0), (0.0, 0.0)
    for m in range(len(items)):
        kind, first, place = items[m, 0], items[m, 1], items[m, 2]
        if kind == POINT:
            for i in range(3):
                measured[place + i], measured[place + 3 + i] = positions[first, i], rates[first, i]
            continue
        for f in range(2 if kind == ANGLE else 1):
            value, rate = 0.0, 0.0
            for p in range(functions[first + f, 0], functions[first + f, 1]):
                own, change = 0.0, 0.0
                for i in range(3):
                    a, da, b, db = 0.0, 0.0, 0.0, 0.0
                    for k in range(chords[terms[p, 0], 0], chords[terms[p, 0], 1]):
                        a += coefficients[k] * positions[parts[k], i]
                        da += coefficients[k] * rates[parts[k], i]
                    for k in range(chords[terms[p, 1], 0], chords[terms[p, 1], 1]):
                        b += coefficients[k] * positions[parts[k], i]
                        db += coefficients[k] * rates[parts[k], i]
                    own += a * b
                    change += da * b + a * db
                value += coefficients[len(parts) + p] * own
                rate += coefficients[len(parts) + p] * change
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
