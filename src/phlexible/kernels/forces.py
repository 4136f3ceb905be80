"""Scalar forces of elements: F along a coordinate theta(y) of bilinear functions y (formulation, 4).

The multipliers of an element's rows are its forces on y: ``lambda_r = F w_r`` with weights w of the
discrete derivative, ``sum_r w_r delta(y_r) = delta(theta)``, and

    F = value - k (mean(theta) - rest) - d delta(theta)/h - delta(U)/delta(theta)

so that a step supplies exactly value delta(theta), loses d delta(theta)^2/h and stores the rest.
"""

from math import atan2, sqrt

from phlexible.kernels import tables as at
from phlexible.kernels.compiled import compiled
from phlexible.kernels.user_function import call

SMALL_ANGLE = 0.05
DIFFERENCE = 1e-5  # relative step of differences
NEAR = 0.1  # relative change of a coordinate below which a potential is integrated, not divided


@compiled
def element_residual(ints, reals, j, h):
    """lambda - F w into the rows of link j; derivatives into ROW_SLOPE."""
    first = ints[ints[at.JOINT_ROW_START] + j]
    place = ints[at.RESIDUAL] + ints[ints[at.JOINT_NODE_ROW] + j]
    force = j - (ints[at.JOINTS] - ints[at.FORCES])
    law = ints[ints[at.JOINT_LAW] + j]
    y0, y1 = ints[at.ROW_VALUE0] + first, ints[at.ROW_VALUE1] + first
    slope, multiplier = ints[at.ROW_SLOPE] + 2 * first, ints[at.MULTIPLIER] + first
    theta0 = reals[ints[at.STATE_THETA] + force]
    if law == at.ANGLE:
        _angle(ints, reals, force, h, theta0, y0, y1, slope, multiplier, place)
        return
    if law == at.DISTANCE:
        theta1 = sqrt(max(reals[y1], 0.0))
        weight = 1.0 / max(theta0 + theta1, 1e-300)
        rate = 0.5 / max(theta1, 1e-300)
        bend = -weight * weight * rate
    else:
        theta1, weight, rate, bend = reals[y1], 1.0, 1.0, 0.0
    value, change = force_law(ints, reals, force, h, theta0, theta1)
    reals[ints[at.FORCE_THETA1] + force] = theta1
    reals[place] = reals[multiplier] - value * weight
    reals[slope] = -(change * rate * weight + value * bend)


@compiled
def _angle(ints, reals, force, h, theta0, y0, y1, slope, multiplier, place):
    c0, s0, c1, s1 = reals[y0], reals[y0 + 1], reals[y1], reals[y1 + 1]
    cross, dot = c0 * s1 - s0 * c1, c0 * c1 + s0 * s1
    turn = atan2(cross, dot)
    squared = cross * cross + dot * dot
    turn_c, turn_s = (-dot * s0 - cross * c0) / squared, (dot * c0 - cross * s0) / squared
    if dot > 0.0 and abs(cross) < SMALL_ANGLE * dot:  # q = turn / cross, from the series of atan
        t = cross / dot
        t2 = t * t
        f = 1.0 - t2 * (1.0 / 3.0 - t2 * (0.2 - t2 * (1.0 / 7.0 - t2 * (1.0 / 9.0 - t2 / 11.0))))
        df = -t * (2.0 / 3.0 - t2 * (0.8 - t2 * (6.0 / 7.0 - t2 * (8.0 / 9.0 - t2 * 10.0 / 11.0))))
        q = f / dot
        dt_c, dt_s = (-s0 - t * c0) / dot, (c0 - t * s0) / dot
        q_c, q_s = (df * dt_c - q * c0) / dot, (df * dt_s - q * s0) / dot
    else:
        q = turn / cross
        q_c, q_s = (turn_c + q * s0) / cross, (turn_s - q * c0) / cross
    mean_c, mean_s = 0.5 * (c0 + c1), 0.5 * (s0 + s1)
    theta1 = theta0 + turn
    value, change = force_law(ints, reals, force, h, theta0, theta1)
    reals[ints[at.FORCE_THETA1] + force] = theta1
    w_c, w_s = -q * mean_s, q * mean_c
    reals[place] = reals[multiplier] - value * w_c
    reals[place + 1] = reals[multiplier + 1] - value * w_s
    reals[slope] = -(change * turn_c * w_c - value * q_c * mean_s)
    reals[slope + 1] = -(change * turn_s * w_c - value * (q_s * mean_s + 0.5 * q))
    reals[slope + 2] = -(change * turn_c * w_s + value * (q_c * mean_c + 0.5 * q))
    reals[slope + 3] = -(change * turn_s * w_s + value * q_s * mean_c)


@compiled
def force_law(ints, reals, force, h, theta0, theta1):
    """F and its derivative to theta_{n+1}."""
    stiffness = reals[ints[at.FORCE_STIFFNESS] + force]
    damping = reals[ints[at.FORCE_DAMPING] + force]
    value = -stiffness * (0.5 * (theta0 + theta1) - reals[ints[at.FORCE_REST] + force])
    value -= damping * (theta1 - theta0) / h
    slope = -0.5 * stiffness - damping / h
    if ints[ints[at.FORCE_VALUE] + force] >= 0:
        value += reals[ints[at.LOAD_VALUE] + 3 * ints[ints[at.FORCE_VALUE] + force]]
    if ints[ints[at.FORCE_ENERGY] + force] != 0:
        pull, change = potential_slope(
            ints[ints[at.FORCE_ENERGY] + force], ints[ints[at.FORCE_SLOPE] + force], theta0, theta1
        )
        value -= pull
        slope -= change
    return value, slope


@compiled
def potential_slope(energy, slope, x0, x1):
    """delta(U)/delta(x) without cancellation, and its derivative to x1.

    Eight Gauss points of dU/dx where x changes little, the quotient elsewhere.
    """
    delta = x1 - x0
    if abs(delta) > NEAR * max(abs(x0), abs(x1), 1.0):
        quotient = (call(energy, x1) - call(energy, x0)) / delta
        return quotient, (call(slope, x1) - quotient) / delta
    middle, half = 0.5 * (x0 + x1), 0.5 * delta
    total = 0.0
    for k in range(4):
        if k == 0:
            point, weight = 0.18343464249564980, 0.36268378337836198
        elif k == 1:
            point, weight = 0.52553240991632899, 0.31370664587788729
        elif k == 2:
            point, weight = 0.79666647741362674, 0.22238103445337447
        else:
            point, weight = 0.96028985649753623, 0.10122853629037626
        total += weight * (call(slope, middle - half * point) + call(slope, middle + half * point))
    if abs(delta) > DIFFERENCE * max(abs(middle), 1.0):
        return 0.5 * total, (call(slope, x1) - 0.5 * total) / delta
    step = DIFFERENCE * max(abs(middle), 1.0)
    curvature = (call(slope, middle + step) - call(slope, middle - step)) / (2.0 * step)
    return 0.5 * total, 0.5 * curvature


@compiled
def element_work(ints, reals, j):
    """Work of the prescribed part of link j's force in the step."""
    force = j - (ints[at.JOINTS] - ints[at.FORCES])
    if ints[ints[at.FORCE_VALUE] + force] < 0:
        return 0.0
    change = reals[ints[at.FORCE_THETA1] + force] - reals[ints[at.STATE_THETA] + force]
    return reals[ints[at.LOAD_VALUE] + 3 * ints[ints[at.FORCE_VALUE] + force]] * change


@compiled
def element_loss(ints, reals, force, h):
    """What the damper of a force dissipates in the step."""
    change = reals[ints[at.FORCE_THETA1] + force] - reals[ints[at.STATE_THETA] + force]
    return reals[ints[at.FORCE_DAMPING] + force] * change * change / h


@compiled
def spring_energy(ints, reals):
    """Energy of all springs and potentials at the state."""
    total = 0.0
    for force in range(ints[at.FORCES]):
        total += stored_energy(ints, reals, force, reals[ints[at.STATE_THETA] + force])
    return total


@compiled
def stored_energy(ints, reals, force, theta):
    """Energy of one spring and potential at theta."""
    stretch = theta - reals[ints[at.FORCE_REST] + force]
    total = 0.5 * reals[ints[at.FORCE_STIFFNESS] + force] * stretch * stretch
    if ints[ints[at.FORCE_ENERGY] + force] != 0:
        total += call(ints[ints[at.FORCE_ENERGY] + force], theta)
    return total


@compiled
def turns_are_small(ints, reals):
    """Whether no angle of an element turned by a right angle or more: its turns can be counted."""
    links = ints[at.JOINTS] - ints[at.FORCES]
    for force in range(ints[at.FORCES]):
        if ints[ints[at.JOINT_LAW] + links + force] == at.ANGLE:
            turn = reals[ints[at.FORCE_THETA1] + force] - reals[ints[at.STATE_THETA] + force]
            if not abs(turn) < 1.5707:
                return False
    return True


@compiled
def drives_are_smooth(ints, reals):
    """Whether no driven angle is to turn by a right angle or more in this step."""
    for t in range(ints[ints[at.ROW_TERM_START] + ints[at.ROWS]]):
        time = ints[ints[at.TERM_TIME] + t]
        if time >= 0:
            path = time - time % 3 + 2
            if not abs(reals[ints[at.MOVING1] + path] - reals[ints[at.MOVING0] + path]) < 1.5707:
                return False
    return True
