"""One-sided forces of contacts and stops, with gaps, energies, friction and damping (docs/theory.md, 8)."""

from math import sqrt

from phlexible.step.compilation.compiled import compiled, compiled_lane_by_lane, exported
from phlexible.step.compilation.dense import fill
from phlexible.step.compilation.notation import Tables, Truth, Vector, all_of, any_of, dot, vector, where
from phlexible.step.tables.declarations import BRISTLE, LAW_WIDTH, LENGTH, PAID_OUT, ROLLING, ROUNDED

# Discrete derivatives of the length of several functions, and of how wheels slide (docs/theory.md, 8).
#
# omega goes to ``along``, d theta_{n+1}/dw to ``slope`` and d omega/dw_{n+1} to ``tangent``.

LEAST = 1e-300


@compiled
def clamp_to_unit(u: float) -> float:
    """Return the number u limited to the interval 0 .. 1."""
    return min(max(u, 0.0), 1.0)


@exported
def start_distance(t: Tables, i: int) -> float:
    """Return the coordinate theta of interaction i, a distance or a length of a tendon, at the start of the time
    step. A distance is |w| of its scalar functions w; a tendon's length is the scaled sum of the roots of w, less
    what is paid out. 0 for a rolling wheel, of which only the slip in the time step is used. ``t`` contains all
    arrays of the model and its state."""
    if t.coordinate_of[i] == ROLLING:
        return 0.0
    total = 0.0
    if t.coordinate_of[i] >= LENGTH:
        scale, last = t.length_scale[i - t.constraints], t.functions_end[i] - 1
        for m in range(t.functions_begin[i], last + 1):
            total += sqrt(max(t.function0[m], 0.0))  # the last of what is paid out is minus a length
        if t.coordinate_of[i] == PAID_OUT:
            return (total + t.function0[last]) * sqrt(-scale / t.function0[last])
        return scale * total
    for m in range(t.functions_begin[i], t.functions_end[i]):
        total += t.function0[m] * t.function0[m]
    return sqrt(total)


@exported
def coordinate_weights(t: Tables, i: int) -> None:
    """Compute the weights omega of the discrete derivative of interaction i's coordinate with respect to its
    scalar functions w, and store them in ``t.along``. The sum of omega times the change of w is exactly the change
    of the coordinate in the time step. The coordinate is a distance, a wheel's slip or a tendon's length.
    Derivatives of omega with respect to w at the end go to ``t.tangent``. ``t`` contains all arrays of the model
    and its state."""
    first, count = t.functions_begin[i], t.functions_count[i]
    if t.coordinate_of[i] == ROUNDED:
        rounded_distance_weights(t, first, count)
    elif t.coordinate_of[i] >= LENGTH:
        length_weights(t, i - t.constraints, first, count)
    else:
        rolling_weights(t, i - t.constraints, first, count)


@compiled
def rounded_distance_weights(t: Tables, first: int, count: int) -> None:
    """Compute the weights of the discrete derivative of a distance theta = |w| with respect to the components w_i,
    and store them in ``t.along``. They are mean(w_i) / mean(theta) over start and end of the time step. The w_i
    are the ``count`` scalar functions from number ``first`` on. Derivatives of theta at the end go to ``t.slope``,
    those of the weights to ``t.tangent``. See docs/theory.md, 8, (8.26). ``t`` contains all arrays of the model
    and its state."""
    before, after = 0.0, 0.0
    for m in range(first, first + count):
        before += t.function0[m] * t.function0[m]
        after += (t.function0[m] + t.function_change[m]) ** 2
    end = sqrt(after)
    both = max(sqrt(before) + end, LEAST)
    for m in range(first, first + count):
        change = t.function_change[m]
        t.along[m] = (2.0 * t.function0[m] + change) / both
        t.slope[m] = (t.function0[m] + change) / max(end, LEAST)
        D = t.tangent + LAW_WIDTH * m
        for s in range(count):
            other = t.function0[first + s] + t.function_change[first + s]
            D[s] = -t.along[m] * other / (both * max(end, LEAST))
        D[m - first] += 1.0 / both


@compiled
def length_weights(t: Tables, f: int, first: int, count: int) -> None:
    """Compute the derivatives of the coordinate of tendon f, the scaled sum of the distances between its guides.
    The weights of the discrete derivative go to ``t.along``, derivatives at the end to ``t.slope``, those of the
    weights with respect to the functions at the end to ``t.tangent``. The scalar functions are ``count`` from
    number ``first`` on: squared distances, then for a tendon with a winch minus the rest length. See
    docs/theory.md, 8, (8.50)."""
    segments, both, r, a, b = count, 0.0, t.length_scale[f], 1.0, 1.0
    last = r
    if t.coordinate_of[t.constraints + f] == PAID_OUT:
        segments = count - 1
        m, c = first + segments, sqrt(r)
        a, b = sqrt(-t.function0[m]), sqrt(-t.function0[m] - t.function_change[m])
        r, last, t.slope[m] = 0.5 * c * (1.0 / a + 1.0 / b), c / b, 0.0
        fill(t.tangent + LAW_WIDTH * m, count, 0.0)
    for m in range(first, first + segments):
        start, end = sqrt(max(t.function0[m], 0.0)), sqrt(max(t.function0[m] + t.function_change[m], 0.0))
        own = 1.0 / max(start + end, LEAST)
        t.along[m], t.slope[m] = r * own, 0.5 * last / max(end, LEAST)
        fill(t.tangent + LAW_WIDTH * m, count, 0.0)
        (t.tangent + LAW_WIDTH * m)[m - first] = -0.5 * r * own * own / max(end, LEAST)
        both += 0.5 * (start + end)
    if segments < count:
        t.along[first + segments] = sqrt(t.length_scale[f]) * (1.0 + both / (a * b)) / (a + b)


@compiled
def rolling_weights(t: Tables, f: int, first: int, count: int) -> None:
    """Compute the weights of the discrete derivative of a rolling wheel's slip with respect to its scalar
    functions, in ``t.along``. The slip is the coordinate of force element f; its functions are ``count`` from
    number ``first`` on. Derivatives of the weights with respect to the functions at the end are written to
    ``t.tangent``, those of the slip to ``t.slope``. See docs/theory.md, 8, (8.30). ``t`` contains all arrays of
    the model and its state."""
    k, r, total = (count - 1) // 2, t.length_scale[f], 0.0
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
def joint_force_norm(t: Tables, f: int) -> float:
    """Return the magnitude |R| of the force in a joint [N], the Euclidean norm of its present Lagrange multipliers
    along orthogonal directions. The joint is the one whose friction force element f computes; multipliers of
    angles do not count. See docs/theory.md, 8, (8.31). ``t`` contains all arrays of the model and its state."""
    rows, total = t.multiplier1 + t.functions_begin[t.bearing[f]], 0.0
    for r in range(t.bearing_rows[f]):
        total += rows[r] * rows[r]
    return sqrt(total)


@compiled
def line_stretch(t: Tables, f: int) -> float:
    """Return the stretch |X'|, deformed over undeformed length, of the guide line along which the friction of
    force element f acts. It is evaluated at the sliding point at the start of the time step, and 1 unless f
    belongs to a joint that slides along a line. ``t`` contains all arrays of the model and its state."""
    if t.slide_of[f] < 0:
        return 1.0
    slope = t.slide_along[t.slide_of[f]]
    return sqrt(dot(slope, slope))


@compiled
def add_joint_friction_columns(t: Tables, f: int, begin: int, count: int, entries: int, h: float) -> None:
    """Add the derivatives of the friction of force element f with respect to the multipliers of its joint to
    Newton's matrix ``t.blocks``. The friction is proportional to the norm of the joint's multipliers. Rows belong
    to bodies, columns to the joint; nothing is added if the norm is zero. The element has ``count`` scalar
    functions from number ``begin`` on, with gradients of ``entries`` entries. h is the length of the time step
    [s]. ``t`` contains all arrays of the model and its state."""
    node, size = t.constraint_node[t.bearing[f]], joint_force_norm(t, f)
    rows = t.multiplier1 + t.functions_begin[t.bearing[f]]
    if not any_of(size != 0.0):
        return
    share = t.bearing_share[f] * line_stretch(t, f)
    slope = h * share * t.force_by_level[f] / where(size != 0.0, size, 1.0)
    for a in range(t.carrier_count[f]):
        group = t.groups_begin[f] + a
        for k in range(count):
            left = t.left_gradient + (k * entries + t.group_offset[group])
            for i in range(t.group_width[group]):
                line, force = t.blocks + (t.group_upper[group] + i * t.node_size[node]), slope * t.along[begin + k]
                for r in range(t.bearing_rows[f]):
                    line[r] += force * rows[r] * left[i]


# Contact, stops and dry friction: one-sided energies and what resists (docs/theory.md, 8).


@compiled
def penetration_energy(stiffness: float, exponent: float, depth: float) -> float:
    """Return the energy k x^(p + 1) / (p + 1) of a contact of ``stiffness`` k and ``exponent`` p at the
    penetration ``depth`` x; 0 without penetration [J]."""
    if not any_of(depth > 0.0):
        return 0.0
    return stiffness * max(depth, 0.0) ** (exponent + 1.0) / (exponent + 1.0)


@compiled_lane_by_lane
def penetration_gradient(stiffness: float, exponent: float, x0: float, x1: float) -> tuple[float, float]:
    """Return the elastic contact force as the discrete derivative delta(U) / delta(x) of the contact energy [N],
    and its derivative with respect to x1 [N/m]. The energy is U = k x^(p + 1) / (p + 1) with ``stiffness`` k and
    ``exponent`` p, 1 or 1.5. x0 and x1 are the penetrations at the start and end of a time step [m]; close values
    do not cancel."""
    change = x1 - x0
    if x0 > 0.0 and x1 > 0.0:
        if exponent == 1.0:
            return 0.5 * stiffness * (x0 + x1), 0.5 * stiffness
        a, b, c = sqrt(x1), sqrt(x0), 0.4 * stiffness
        value = a * a * a + b * b * b + a * a * b * b / (a + b)
        return c * value, c * (1.5 * a + 0.5 * b * b * (a + 2.0 * b) / ((a + b) * (a + b)))
    if x1 > 0.0:
        quotient = penetration_energy(stiffness, exponent, x1) / change
        return quotient, (stiffness * x1**exponent - quotient) / change
    if x0 > 0.0:
        quotient = -penetration_energy(stiffness, exponent, x0) / change
        return quotient, -quotient / change
    return 0.0, 0.0


@exported
def one_sided_force(t: Tables, f: int, h: float) -> tuple[float, float]:
    """Return the mean normal force N of a contact or stop, force element f, over a time step of length h, positive
    in compression. The second result is its derivative with respect to the penetration at the end. The energy that
    damping loses is stored in ``t.loss`` [J], the impact speed for restitution in ``t.impact_end``. See
    docs/theory.md, 8, (8.17). ``t`` contains all arrays of the model and its state."""
    side, k = t.push_side[f], t.impact_of[f]
    x0, change = side * (t.force_rest[f] - t.theta0[f]), -side * t.theta_change[f]
    damping, varies = t.push_damping[f], 1.0
    if k >= 0:
        damping, varies, t.impact_end[k] = impact_damping(
            t.push_loss[f], t.push_slowest[f], t.impact[k], x0, change, h
        )
    stored, force, slope = contact_force(t.force_stiffness[f], t.push_exponent[f], damping, varies, x0, change, h)
    if any_of(t.force_damping[f] > 0.0):
        force, slope = damped_one_sided_force(force, slope, t.force_damping[f] / h, x0, change)
    t.loss[f] = (force - stored) * change
    return force, slope


@compiled
def damped_one_sided_force(force: float, slope: float, d: float, x0: float, change: float) -> tuple[float, float]:
    """Return the mean force of a one-sided element (contact or slack string) with its damper, and its derivative
    with respect to x at the end. The force resists positive x and is never below zero. x, the penetration or
    extension, starts at x0 and changes by ``change``; the damper (d: damping over the length of the time step)
    acts only where x is positive. ``force`` and its derivative ``slope`` are without the damper.

    The damper works along the discrete derivative s of max(0, x), so that it loses d (s change)^2.
    """
    x1 = x0 + change
    is_inside, differs = (x0 > 0.0) & (x1 > 0.0), change != 0.0
    partial = where(differs, (max(x1, 0.0) - max(x0, 0.0)) / where(differs, change, 1.0), 0.0)
    share = where(is_inside, 1.0, partial)
    total = force + d * share * share * change
    steeper = slope + d * share * (2.0 * where(x1 > 0.0, 1.0, 0.0) - share)
    return where(total < 0.0, 0.0, total), where(total < 0.0, 0.0, steeper)


@compiled
def contact_force(
    stiffness: float, p: float, damping: float, varies: float, x0: float, change: float, h: float
) -> tuple[float, float, float]:
    """Return the mean normal force of a contact over a time step without and with damping, and the derivative of
    the latter. The force is positive in compression and never below zero; the derivative is with respect to the
    penetration at the end. The energy is k x^(p+1) / (p+1) with k ``stiffness``; the penetration x starts at x0 and
    changes by ``change`` in the time h [s]. ``damping`` is the coefficient of Hunt and Crossley; ``varies`` is 0 if
    it is in inverse proportion to the speed ``change`` / h, else 1.
    """
    stored, slope = penetration_gradient(stiffness, p, x0, x0 + change)
    mean, force = x0 + 0.5 * change, stored
    is_damped = (mean > 0.0) & (damping > 0.0)
    if any_of(is_damped):
        depth = where(is_damped, mean, 1.0)
        c = where(is_damped, damping * (depth if all_of(p == 1.0) else depth**p) / h, 0.0)
        force += c * change
        slope += c * (varies + 0.5 * p * change / depth)
    return stored, where(force < 0.0, 0.0, force), where(force < 0.0, 0.0, slope)


@compiled
def impact_damping(
    loss: float, slowest: float, known: float, x0: float, change: float, h: float
) -> tuple[float, float, float]:
    """Return the damping coefficient of a contact whose restitution depends on the impact speed, a factor of its
    derivative, and the impact speed to store. The coefficient is ``loss`` over the impact speed, or over
    ``slowest`` [m/s] if that is larger. The impact speed is the approach speed ``change`` / h if the penetration x0
    at the start is not above 0, else ``known`` [m/s]. The factor, ``varies`` of ``contact_force``, is 0 where the
    coefficient falls as the approach speed grows, else 1.

    The impact speed is 0 where the bodies separate. The factor is 0 where the coefficient falls as the speed grows,
    else 1.
    """
    rate, enters = change / h, x0 <= 0.0
    met = where(enters, max(rate, 0.0), known)
    varies = where(enters & (rate > slowest), 0.0, 1.0)
    return loss / max(met, slowest), varies, where(x0 + change > 0.0, met, 0.0)


@compiled
def dry_friction(t: Tables, f: int, h: float) -> tuple[float, float]:
    """Return the mean dry friction force of force element f in a time step of length h, and its derivative. This is
    with respect to the coordinate theta at the end. The force has the sign of the change of theta; callers subtract
    it. The friction limit includes a multiple of the joint force, if the friction is that of a joint. The lost
    energy is added to ``t.loss``, the derivative of the force with respect to the limit written to
    ``t.force_by_level``.
    """
    level = t.friction[f]
    if t.bearing[f] >= 0:
        level += t.bearing_share[f] * joint_force_norm(t, f)
    level *= line_stretch(t, f)
    force, t.force_by_level[f], slope = friction_force(t, f, t.theta_change[f], level, h)
    return force, slope


# Friction that sticks by bristles (friction springs), deflected as far as friction holds them (docs/theory.md, 8).
#
# The table ``bristle`` stores from step to step, for each bristle along a coordinate, its deflection z and whether
# the last step slipped. Bristles of pairs are in ``many/pair_friction.py``.


@compiled
def bristle_force(
    k: float, d: float, z: Vector, u: Vector, limit: float, h: float
) -> tuple[Vector, Vector, Vector, float, float, Vector, Truth]:
    """Return the mean force of a friction spring (bristle) in a time step of length h [s], with its derivatives,
    final deflection and state. It has stiffness k, damping d and deflection z at the start; the contact slips by u.
    The force points along the stretched spring and is at most ``limit``; friction on the sliding body is its
    opposite. The results in order: force, its derivative with respect to the limit, then e, a, s of its derivative
    a I - s e e^T with respect to u, the deflection at the end, and whether it slips.
    """
    longest, size, beta = limit / k, sqrt(dot(z, z)), 0.5 + d / (k * h)
    relaxes = size > longest
    start = where(relaxes, longest / size, 1.0) * z
    to_limit = where(relaxes, 1.0 / size, 0.0) * z  # k dz'/dl
    g = start + beta * u
    total = sqrt(dot(g, g))
    slips = total > longest
    e = where(slips, 1.0 / total, 0.0) * g
    force = where(slips, limit, 0.0) * e + where(slips, 0.0, k) * g
    a, steeper = where(slips, limit * beta / total, k * beta), where(slips, limit * beta / total, 0.0)
    to_limit = e + where(slips, longest / total, 1.0) * (to_limit - dot(e, to_limit) * e)
    end = start + where(slips, 0.0, 1.0) * u + where(slips, 1.0 / max(beta, 1.0), 0.0) * (longest * e - start)
    reached = sqrt(dot(end, end))
    end = where(reached > longest, longest / reached, 1.0) * end
    return force, to_limit, e, a, steeper, end, slips


@compiled
def bristle_energy(t: Tables, f: int) -> float:
    """Return the elastic energy k z^2 / 2 of the bristle of force element f at the start of the time step [J]; 0
    if its friction has no bristle. A bristle is a friction spring with deflection z. ``t`` contains all arrays of
    the model and its state."""
    b = t.bristle_of[f]
    return 0.5 * t.bristle_stiffness[b] * t.bristle[BRISTLE * b] ** 2 if b >= 0 else 0.0


@compiled
def smooth_friction(limit: float, speed: float, u: Vector, h: float) -> tuple[Vector, Vector, Vector, float, float]:
    """Return the force of regularized dry friction for a slip u in a time step of length h [s], and its
    derivatives. The force points along u, so that callers apply its opposite to the sliding body. Its size is
    ``limit``, reduced in proportion to the speed below ``speed`` [m/s]. Then come its derivative with respect to
    the limit, and e, a and s of its derivative a I - s e e^T with respect to u."""
    total = dot(u, u)
    rate = sqrt(total) / abs(h)
    is_fast = rate >= speed
    share = where(is_fast, 1.0 / rate, 1.0 / speed) / h
    e = where(is_fast, 1.0 / sqrt(total), 0.0) * u
    return (limit * share) * u, share * u, e, limit * share, where(is_fast, limit * share, 0.0)


@compiled
def friction_force(t: Tables, f: int, change: float, level: float, h: float) -> tuple[float, float, float]:
    """Return the mean friction force of force element f in a time step of length h, in which its coordinate grows
    by ``change``. It has the sign of ``change`` and is at most the friction limit ``level``; callers subtract it.
    Then follow its derivatives with respect to ``level`` and to the coordinate at the end. With a friction spring
    (bristle) it sticks below the limit and the new deflection goes to ``t.bristle_end``; without one it is
    proportional to small speeds. The lost energy is added to ``t.loss``.
    """
    u, b = vector(change, 0.0, 0.0), t.bristle_of[f]
    if b >= 0:
        k, own, end = t.bristle_stiffness[b], t.bristle + BRISTLE * b, t.bristle_end + BRISTLE * b
        share, z = where(own[1] > 0.0, 1.0, t.bristle_grip[b]), own[0]
        force, to_limit, e, a, s, z1, slips = bristle_force(
            k, t.bristle_damping[b], vector(z, 0.0, 0.0), u, share * level, h
        )
        end[0], end[1] = z1.x, where(slips, 1.0, 0.0)
        t.loss[f] += force.x * change - 0.5 * k * (z1.x * z1.x - z * z)
        return force.x, share * to_limit.x, a - s * e.x * e.x
    force, to_limit, e, a, s = smooth_friction(level, t.friction_speed[f], u, h)
    t.loss[f] += force.x * change
    return force.x, to_limit.x, a - s * e.x * e.x
