"""Tendons that rub on their guides: tensions of their pieces, and flows through the guides (docs/theory.md, 8).

A piece has the rest length s and the configurational force P = EA ((l / s)^2 - 1) / 2, or 0 where it is slack. At
the end of a step P_{k+1} / P_k of neighbours is between exp(-mu phi) and exp(mu phi): what flows through a guide
follows from the lengths alone. The force in piece k rises with what the pieces before it deliver, so that roots of
one unknown are found one after the other.
"""

from math import atan2, exp, pi, sqrt

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.dense import fill
from phlexible.step.compilation.notation import Tables, any_of, where
from phlexible.step.kernels.contact import LEAST, penetration_gradient
from phlexible.step.tables.declarations import LAW_WIDTH

NEARLY_ONE = 1.0 - 1e-9  # of the cosine of the angle at a guide, which is smooth at 0 and pi then, and right there
LEAST_ANGLE = atan2(sqrt(1.0 - NEARLY_ONE * NEARLY_ONE), NEARLY_ONE)
MOST_TRIES = 200
ROUND_OFF = 4e-16
STICKS, SLIPS, BACK, FILLS, GIVES = 0.0, 1.0, -1.0, 2.0, 3.0


@exported
def capstan_force(t: Tables, i: int, h: float) -> None:
    """Compute the tensions of interaction i, a tendon with capstan friction on its guides, as means over a time
    step of length h [s]. A piece is the part between two guides. Generalized forces on the tendon's scalar
    functions (squared lengths of pieces, cosines, length paid out) go to ``t.generalized``, their derivatives with
    respect to these functions at the end to ``t.tangent``. Flows of material through the guides go to
    ``t.flow_end``, lost energy, never negative, to ``t.loss``. ``t`` contains all arrays of the model and its
    state.
    """
    f, first = i - t.constraints, t.functions_begin[i]
    begin, m = t.pieces_begin[f], t.pieces_count[f]
    stiffness, feed = t.force_stiffness[f] * t.length_scale[f], _start_pieces(t, i)
    _find_flows(t, f, stiffness, feed)
    lost, at_end = 0.0, 0.0
    for k in range(begin, begin + m):
        l, s0, s1 = t.piece_end_length[k], t.piece_rest[k], t.piece_rest_end[k]
        t.piece_tension[k], t.piece_push[k] = _mean_forces(stiffness, t.piece_length[k], l, s0, s1)
        s0 += feed if k == begin else 0.0 * feed
        t.piece_late[k] = _mean_forces(stiffness, l, l, s0, s1)[1]
        if k > begin:
            lost += (t.piece_push[k] - t.piece_push[k - 1]) * (t.flow_end[k - 1] - t.flow[k - 1])
            at_end += (t.piece_late[k] - t.piece_late[k - 1]) * (t.flow_end[k - 1] - t.flow[k - 1])
    late = where(lost < 0.0, -lost / where(lost < 0.0, at_end - lost, 1.0), 0.0)
    t.loss[f] = max(lost, 0.0)
    _differentiate_rest_lengths(t, i, stiffness)
    for k in range(m):
        _apply_tension(t, i, k, stiffness, late, h)
    if t.functions_count[i] == 2 * m:  # what is paid out
        last, l, s0 = first + 2 * m - 1, t.piece_end_length[begin], t.piece_rest[begin]
        push = _mean_forces(stiffness, l, l, s0, s0 + feed)[1]
        t.generalized[last] = -t.piece_push[begin] - late * (push - t.piece_push[begin])
    t.scalar_force[f] = -t.piece_tension[begin + m - 1]


@exported
def capstan_energy(t: Tables, i: int) -> float:
    """Return the elastic energy [J] of all pieces of interaction i, a tendon with friction on its guides, at the
    start of the time step. A piece of length l and rest length s has EA (l - s)^2 / (2 s), or 0 where it is slack.
    ``t`` contains all arrays of the model and its state."""
    f, total = i - t.constraints, 0.0
    _start_pieces(t, i)
    for k in range(t.pieces_begin[f], t.pieces_end[f]):
        e = max(t.piece_length[k] - t.piece_rest[k], 0.0)
        total += 0.5 * t.force_stiffness[f] * t.length_scale[f] * e * e / t.piece_rest[k]
    return total


@compiled
def _start_pieces(t: Tables, i: int) -> float:
    """Compute lengths, rest lengths and capstan factors of all pieces (between neighbouring guides) of interaction
    i, a tendon with friction on its guides. Lengths at start and end, and rest lengths at the start, are stored in
    ``t.piece_length``, ``t.piece_end_length`` and ``t.piece_rest``. The capstan factor exp(mu phi), with the wrap
    angle phi at the end, goes to ``t.piece_grip``. Return the length that is paid out in the time step [m]."""
    f, first = i - t.constraints, t.functions_begin[i]
    begin, m, feed = t.pieces_begin[f], t.pieces_count[f], 0.0
    for k in range(m):
        w = t.function0[first + k]
        t.piece_length[begin + k] = sqrt(max(w, 0.0))
        t.piece_end_length[begin + k] = sqrt(max(w + t.function_change[first + k], 0.0))
        t.piece_rest[begin + k] = t.piece_start[begin + k] - t.flow[begin + k]
        if k > 0:
            t.piece_rest[begin + k] += t.flow[begin + k - 1]
    if t.functions_count[i] == 2 * m:
        last = first + 2 * m - 1
        t.piece_rest[begin] -= t.function0[last] + t.length_scale[f]
        feed = -t.function_change[last]
    for k in range(m - 1):
        product = t.piece_end_length[begin + k] * t.piece_end_length[begin + k + 1]
        c = (t.function0[first + m + k] + t.function_change[first + m + k]) / max(product, LEAST)
        x = NEARLY_ONE * c
        angle, share = atan2(sqrt(max(1.0 - x * x, LEAST)), x), pi / (pi - 2.0 * LEAST_ANGLE)
        t.piece_cosine[begin + k] = c
        t.piece_grip[begin + k] = exp(t.guide_friction[f] * share * (angle - LEAST_ANGLE))
        t.piece_turn[begin + k] = -t.guide_friction[f] * share * NEARLY_ONE / sqrt(max(1.0 - x * x, LEAST))
    return feed


@compiled
def _mean_forces(stiffness: float, l0: float, l1: float, s0: float, s1: float) -> tuple[float, float]:
    """Return the mean tension T and the mean configurational force G of one piece of a tendon in a time step. They
    are discrete gradients, so that T delta(l) - G delta(s) is the change of its elastic energy. The length of the
    piece goes from l0 to l1, its rest length from s0 to s1; ``stiffness`` is EA [N]."""
    a, b = max(l0 - s0, 0.0), max(l1 - s1, 0.0)
    tension = 0.5 * (1.0 / s0 + 1.0 / s1) * penetration_gradient(stiffness, 1.0, l0 - s0, l1 - s1)[0]
    return tension, tension + 0.25 * stiffness * (a * a + b * b) / (s0 * s1)


# Flows through the guides, from the lengths at the end.


@compiled
def _find_flows(t: Tables, f: int, stiffness: float, feed: float) -> None:
    """Compute how much material [m] flows through each guide of tendon f in a time step that pays out ``feed`` [m].
    Flows towards the last piece are positive; pieces, the parts between guides, are evaluated from the last to the
    first. A guide slips where the ratio of the forces at its sides exceeds its capstan factor. Total flows are
    stored in ``t.flow_end``, configurational forces in ``t.piece_pull``, rest lengths in ``t.piece_rest_end`` and
    what each guide does (sticks, slips) in ``t.piece_state``. ``stiffness`` is EA [N].
    """
    begin, last = t.pieces_begin[f], t.pieces_end[f] - 1
    slack = 0.0
    for k in range(begin, last + 1):
        t.piece_rest_end[k] = t.piece_rest[k] + (feed if k == begin else 0.0 * feed)
        slack += t.piece_rest_end[k] - t.piece_end_length[k]
        t.piece_slack[k] = slack
        t.piece_root[k] = _root(t, begin, k, stiffness) if slack < 0.0 else 0.0
    p, out, flow = t.piece_root[last], 0.0, 0.0
    for j in range(last - begin + 1):
        k = last - j
        t.piece_pull[k], flow, t.piece_state[k] = p, 0.0, STICKS
        own = t.piece_rest_end[k] - out
        if k > begin:
            grip, root = t.piece_grip[k - 1], t.piece_root[k - 1]
            if p > 0.0:
                t.piece_state[k] = SLIPS if p > root * grip else (BACK if p * grip < root else STICKS)
                flow = t.piece_end_length[k] / sqrt(1.0 + 2.0 * p / stiffness) - own
                p = root if t.piece_state[k] == STICKS else (p / grip if t.piece_state[k] == SLIPS else p * grip)
            else:
                missing = t.piece_end_length[k] - own
                t.piece_state[k] = GIVES if t.piece_slack[k - 1] < 0.0 else (FILLS if missing > 0.0 else STICKS)
                flow = t.piece_slack[k - 1] if t.piece_state[k] == GIVES else missing
            flow = where(t.piece_state[k] == STICKS, 0.0, flow)
            t.flow_end[k - 1] = t.flow[k - 1] + flow
        t.piece_rest_end[k] = own + flow
        out = flow
    t.flow_end[last] = t.flow[last]


@compiled
def _root(t: Tables, begin: int, last: int, stiffness: float) -> float:
    """Return the configurational force [N] of tendon piece ``last`` for which no material flows through the guide
    after it. It holds at the end of the time step and is computed by Newton's method with bisection as safeguard.
    For the first piece it follows from the stretch. ``begin`` is the index of the tendon's first piece;
    ``stiffness`` is EA [N]."""
    ratio = t.piece_end_length[last] / t.piece_rest_end[last]
    p = 0.5 * stiffness * (ratio * ratio - 1.0)
    if last == begin:
        return p
    if not p > 0.0:
        p = t.piece_root[last - 1] / t.piece_grip[last - 1]
    low, high = 0.0, 1e300
    for _ in range(MOST_TRIES):
        given, slope = _delivered(t, begin, last, stiffness, p)
        if given > 0.0:
            high = p
        else:
            low = p
        new = p - given / slope
        if abs(new - p) <= ROUND_OFF * p:
            return new
        if not (low < new and new < high):
            new = 0.5 * (low + high) if high < 1e300 else 2.0 * p
            if new == low or new == high:
                return p
        p = new
    return p


@compiled
def _delivered(t: Tables, begin: int, last: int, stiffness: float, p: float) -> tuple[float, float]:
    """Return the length [m] of material that leaves the pieces ``begin`` .. ``last`` of a tendon through the guide
    after piece ``last``, and its derivative with respect to p. Here p is the configurational force of piece
    ``last``; the length rises with p. Guides before it slip where the ratio of forces exceeds the capstan factor.
    ``stiffness`` is EA [N]."""
    total, slope, share = 0.0, 0.0, 1.0
    for j in range(last - begin + 1):
        k = last - j
        u = 1.0 + 2.0 * share * p / stiffness
        s = t.piece_end_length[k] / sqrt(u)
        total += t.piece_rest_end[k] - s
        slope += s * share / (stiffness * u)
        if k == begin:
            break
        grip, root = t.piece_grip[k - 1], t.piece_root[k - 1]
        if share * p > root * grip:
            share = share / grip
        elif share * p * grip < root:
            share = share * grip
        else:
            break
    return total, slope


# Derivatives to the functions at the end.


@compiled
def _differentiate_rest_lengths(t: Tables, i: int, stiffness: float) -> None:
    """Write the derivatives of the rest lengths at the end of the time step of all pieces of interaction i to rows
    of ``t.tangent``. Interaction i is a tendon with friction on its guides. The first columns are for the lengths
    of its pieces, the next for the logarithms of the capstan factors. Rest lengths depend on each other only
    within groups of pieces between guides where the tendon sticks. ``stiffness`` is EA [N]."""
    f, first = i - t.constraints, t.functions_begin[i]
    begin, m = t.pieces_begin[f], t.pieces_count[f]
    for k in range(t.functions_count[i]):
        fill(t.tangent + LAW_WIDTH * (first + k), t.functions_count[i], 0.0)
    if t.piece_pull[begin + m - 1] > 0.0:
        start = 0
        for k in range(1, m + 1):
            if k == m or t.piece_state[begin + k] == STICKS:
                _differentiate_block(t, begin, first, m, start, k, stiffness)
                start = k
        return
    for c in range(m):
        out = 0.0
        for j in range(m):
            k = m - 1 - j
            flow, state = 0.0, t.piece_state[begin + k]
            if state == FILLS:
                flow = (1.0 if c == k else 0.0) + out
            if state == GIVES:
                flow = -1.0 if c < k else 0.0
            (t.tangent + LAW_WIDTH * (first + k))[c] = flow - out
            out = flow


@compiled
def _differentiate_block(t: Tables, begin: int, first: int, m: int, start: int, end: int, stiffness: float) -> None:
    """Write the derivatives of the rest lengths of tendon pieces ``start`` .. ``end`` - 1, between which the
    tendon slips over its guides, to rows of ``t.tangent`` from number ``first`` on. The sum of these rest lengths
    is constant. Columns are the lengths of all m pieces, then the logarithms of the capstan factors (tension
    ratios) of the guides. Data of the pieces begin at index ``begin``; ``stiffness`` is EA [N]."""
    total, before = 0.0, 0.0
    for k in range(begin + start, begin + end):
        p = t.piece_pull[k]
        t.piece_weight[k] = t.piece_rest_end[k] * p / (stiffness + 2.0 * p)
        total += t.piece_weight[k]
    for c in range(start, end):
        own = t.piece_rest_end[begin + c] / max(t.piece_end_length[begin + c], LEAST)
        before += t.piece_weight[begin + c]
        sign = t.piece_state[begin + c + 1] if c + 1 < end else STICKS
        for k in range(start, end):
            row, weight = t.tangent + LAW_WIDTH * (first + k), t.piece_weight[begin + k]
            row[c] = (own if k == c else 0.0) - weight * own / total
            if c + 1 < end:
                row[m + c] = -weight * sign * (before / total - (1.0 if k <= c else 0.0))


@compiled
def _apply_tension(t: Tables, i: int, k: int, stiffness: float, late: float, h: float) -> None:
    """Compute the generalized force of piece k of interaction i, a tendon with friction on its guides, and its
    derivatives. It acts on the squared length of the piece: minus tension over the sum of the lengths at start and
    end. The tension, never negative, includes the damper, whose loss is added to ``t.loss``, and the fraction
    ``late`` of the tension at constant rest length. Results are written to ``t.generalized`` and ``t.tangent``.
    ``stiffness`` is EA [N], h the length of the time step [s]."""
    f, first = i - t.constraints, t.functions_begin[i]
    begin, m = t.pieces_begin[f], t.pieces_count[f]
    own, row = begin + k, t.tangent + LAW_WIDTH * (first + k)
    l0, l1, s0, s1 = t.piece_length[own], t.piece_end_length[own], t.piece_rest[own], t.piece_rest_end[own]
    mean, slope = penetration_gradient(stiffness, 1.0, l0 - s0, l1 - s1)
    share = 0.5 * (1.0 / s0 + 1.0 / s1)
    by_length, by_rest = share * slope, -share * slope - 0.5 * mean / (s1 * s1)
    tension = t.piece_tension[own]
    if late > 0.0:
        mean, slope = penetration_gradient(stiffness, 1.0, l0 - s0, l1 - s0)
        tension += late * (mean / s0 - tension)
        by_length, by_rest = by_length + late * (slope / s0 - by_length), by_rest - late * by_rest
    change = l1 - l0
    if any_of(t.force_damping[f] > 0.0):
        d = t.force_damping[f] * t.length_scale[f] / (s0 * h)
        stretch = s0 * max(l1 / s1 - 1.0, 0.0) - max(l0 - s0, 0.0)
        force, elastic = 0.0, tension
        if stretch * change > 0.0:
            is_less = abs(stretch) < abs(change)
            force = d * (stretch if is_less else change)
            if not is_less:
                by_length += d
            elif l1 > s1:
                by_length += d * s0 / s1
                by_rest -= d * s0 * l1 / (s1 * s1)
        tension += force
        if tension < 0.0:
            tension, by_length, by_rest = 0.0, 0.0, 0.0
        t.loss[f] += (tension - elastic) * change
    t.piece_tension[own] = tension
    for j in range(m - 1):
        x = row[m + j] * t.piece_turn[begin + j]
        a, b = max(t.piece_end_length[begin + j], LEAST), max(t.piece_end_length[begin + j + 1], LEAST)
        row[j] -= x * t.piece_cosine[begin + j] / a
        row[j + 1] -= x * t.piece_cosine[begin + j] / b
        row[m + j] = x / (a * b)
    weight = 1.0 / max(l0 + l1, LEAST)
    for c in range(2 * m - 1):
        by_function = by_rest * row[c]
        if c == k:
            by_function += by_length
        if c < m:
            by_function *= 0.5 / max(t.piece_end_length[begin + c], LEAST)
        row[c] = -weight * by_function
    row[k] += 0.5 * tension * weight * weight / max(l1, LEAST)
    t.generalized[first + k] = -tension * weight
