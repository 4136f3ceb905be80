"""Absolute bodies over one step: nodes with constant mass and quadratic strains (formulation, section 5).

    delta(q) = h vb,   M delta(v) = h [ F - sum_g w_g s_g (b_g mean(v_g) + c_g mean(u_g)) ]

with C_g = u_g . v_g, u_g = sum_i b_gi q_i, v_g = sum_i c_gi q_i (2 A_g q = b_g v_g + c_g u_g) and
``s_g = delta(W)/delta(C) + (tau / h + gamma) EA / 4 delta(C)``. Every node is a body of the tables
without rotation and elastic coordinates, numbered after the floating bodies, so that joints and loads
see a point mass; only its balance comes from here. ``delta(C) = delta(u).mean(v) + mean(u).delta(v)``
does not cancel.
"""

from phlexible.kernels import tables as at
from phlexible.kernels.compiled import compiled
from phlexible.kernels.laws import law_energy, law_force, law_slope


@compiled
def begin_points(ints, reals):
    """C_g at the start of the step."""
    for g in range(ints[at.QUADRATICS]):
        _vectors(ints, reals, g, ints[at.STATE_POSITION])
        u, v = ints[at.QUADRATIC_VECTORS] + 6 * g, ints[at.QUADRATIC_VECTORS] + 6 * g + 3
        total = 0.0
        for c in range(ints[at.DIMENSION]):
            total += reals[u + c] * reals[v + c]
        reals[ints[at.QUADRATIC0] + g] = total


@compiled
def _vectors(ints, reals, g, positions):
    """u_n and v_n of strain g, from differences to its first node."""
    begin = ints[ints[at.QUADRATIC_START] + g]
    count = ints[ints[at.QUADRATIC_START] + g + 1] - begin
    first = ints[ints[at.QUADRATIC_FORM] + g]
    second = first + count + 1
    origin = positions + 3 * ints[ints[at.QUADRATIC_NODE] + begin]
    for c in range(ints[at.DIMENSION]):
        u = reals[first + count] * reals[origin + c]
        v = reals[second + count] * reals[origin + c]
        for i in range(1, count):
            x = reals[positions + 3 * ints[ints[at.QUADRATIC_NODE] + begin + i] + c] - reals[origin + c]
            u += reals[first + i] * x
            v += reals[second + i] * x
        reals[ints[at.QUADRATIC_VECTORS] + 6 * g + c] = u
        reals[ints[at.QUADRATIC_VECTORS] + 6 * g + 3 + c] = v


@compiled
def point_residuals(ints, reals, h, damping):
    """End positions and balances of all nodes, without joints and loads."""
    dimension, floating = ints[at.DIMENSION], ints[at.FLOATING]
    old, new = ints[at.STATE_VELOCITY], ints[at.VELOCITY]
    for b in range(floating, ints[at.BODIES]):
        row = ints[ints[at.VELOCITY_START] + b]
        for c in range(dimension):
            move = 0.5 * h * (reals[old + row + c] + reals[new + row + c])
            reals[ints[at.POINT_MOVE] + 3 * (b - floating) + c] = move
            reals[ints[at.POSITION1] + 3 * b + c] = reals[ints[at.STATE_POSITION] + 3 * b + c] + move
            reals[ints[at.RESIDUAL] + row + c] = -h * reals[ints[at.POINT_WEIGHT] + 3 * (b - floating) + c]
    for p in range(ints[at.PAIRS]):
        row, column = ints[ints[at.PAIR_ROW] + p], ints[ints[at.PAIR_COLUMN] + p]
        mass = reals[ints[at.PAIR_MASS] + p]
        for c in range(dimension):
            reals[ints[at.RESIDUAL] + row + c] += mass * (reals[new + column + c] - reals[old + column + c])
    for g in range(ints[at.QUADRATICS]):
        _strain_forces(ints, reals, g, h, damping)


@compiled
def _mean_vectors(ints, reals, g):
    """mean(u), mean(v), u_{n+1}, v_{n+1} of strain g into the scratch; delta(C_g)."""
    begin = ints[ints[at.QUADRATIC_START] + g]
    count = ints[ints[at.QUADRATIC_START] + g + 1] - begin
    first = ints[ints[at.QUADRATIC_FORM] + g]
    second = first + count + 1
    moves = ints[at.POINT_MOVE] - 3 * ints[at.FLOATING]
    origin = moves + 3 * ints[ints[at.QUADRATIC_NODE] + begin]
    scratch, change = ints[at.QUADRATIC_SCRATCH], 0.0
    for c in range(ints[at.DIMENSION]):
        du = reals[first + count] * reals[origin + c]
        dv = reals[second + count] * reals[origin + c]
        for i in range(1, count):
            x = reals[moves + 3 * ints[ints[at.QUADRATIC_NODE] + begin + i] + c] - reals[origin + c]
            du += reals[first + i] * x
            dv += reals[second + i] * x
        u = reals[ints[at.QUADRATIC_VECTORS] + 6 * g + c]
        v = reals[ints[at.QUADRATIC_VECTORS] + 6 * g + 3 + c]
        reals[scratch + c] = u + 0.5 * du
        reals[scratch + 3 + c] = v + 0.5 * dv
        reals[scratch + 6 + c] = u + du
        reals[scratch + 9 + c] = v + dv
        change += du * (v + 0.5 * dv) + (u + 0.5 * du) * dv
    return change


@compiled
def _strain_forces(ints, reals, g, h, damping):
    """Add h w_g s_g 2 A_g mean(q) to the balances of the nodes of strain g."""
    change = _mean_vectors(ints, reals, g)
    law = ints[ints[at.QUADRATIC_LAW] + g]
    force = law_force(
        ints[ints[at.LAW_KIND] + law],
        reals[ints[at.LAW_MODULUS] + law],
        ints[ints[at.LAW_ENERGY] + law],
        ints[ints[at.LAW_DERIVATIVE] + law],
        reals[ints[at.QUADRATIC0] + g],
        change,
    )
    reals[ints[at.QUADRATIC_CHANGE] + g] = change
    reals[ints[at.QUADRATIC_FORCE] + g] = force
    pull = h * reals[ints[at.QUADRATIC_WEIGHT] + g]
    pull *= force + viscous_modulus(ints, reals, law, h, damping) * change
    begin = ints[ints[at.QUADRATIC_START] + g]
    count = ints[ints[at.QUADRATIC_START] + g + 1] - begin
    first, scratch = ints[ints[at.QUADRATIC_FORM] + g], ints[at.QUADRATIC_SCRATCH]
    for i in range(count):
        row = ints[ints[at.VELOCITY_START] + ints[ints[at.QUADRATIC_NODE] + begin + i]]
        a, b = pull * reals[first + i], pull * reals[first + count + 1 + i]
        for c in range(ints[at.DIMENSION]):
            reals[ints[at.RESIDUAL] + row + c] += a * reals[scratch + 3 + c] + b * reals[scratch + c]


@compiled
def viscous_modulus(ints, reals, law, h, damping):
    """(tau / h + gamma) EA / 4."""
    return 0.25 * reals[ints[at.LAW_MODULUS] + law] * (reals[ints[at.LAW_VISCOSITY] + law] / h + damping)


@compiled
def point_tangent(ints, reals, h, damping):
    """Add the exact derivative of ``point_residuals`` to the blocks between nodes."""
    dimension = ints[at.DIMENSION]
    for p in range(ints[at.PAIRS]):
        place, mass = ints[ints[at.PAIR_BLOCK] + p], reals[ints[at.PAIR_MASS] + p]
        for c in range(dimension):
            reals[place + c * dimension + c] += mass
    for g in range(ints[at.QUADRATICS]):
        _strain_tangent(ints, reals, g, h, damping)


@compiled
def _strain_tangent(ints, reals, g, h, damping):
    dimension = ints[at.DIMENSION]
    _mean_vectors(ints, reals, g)
    law, change = ints[ints[at.QUADRATIC_LAW] + g], reals[ints[at.QUADRATIC_CHANGE] + g]
    force, viscous = reals[ints[at.QUADRATIC_FORCE] + g], viscous_modulus(ints, reals, law, h, damping)
    slope = viscous + law_slope(
        ints[ints[at.LAW_KIND] + law],
        reals[ints[at.LAW_MODULUS] + law],
        ints[ints[at.LAW_DERIVATIVE] + law],
        force,
        reals[ints[at.QUADRATIC0] + g],
        change,
    )
    count = ints[ints[at.QUADRATIC_START] + g + 1] - ints[ints[at.QUADRATIC_START] + g]
    first, scratch = ints[ints[at.QUADRATIC_FORM] + g], ints[at.QUADRATIC_SCRATCH]
    second, block = first + count + 1, ints[ints[at.QUADRATIC_BLOCK_START] + g]
    scale = 0.5 * h * h * reals[ints[at.QUADRATIC_WEIGHT] + g]
    for i in range(count):
        a, b = reals[first + i], reals[second + i]
        for j in range(count):
            place = ints[ints[at.QUADRATIC_BLOCK] + block + i * count + j]
            p, q = reals[first + j], reals[second + j]
            same = 0.5 * scale * (force + viscous * change) * (a * q + b * p)
            for c in range(dimension):
                reals[place + c * dimension + c] += same
                x = scale * slope * (a * reals[scratch + 3 + c] + b * reals[scratch + c])
                for e in range(dimension):
                    reals[place + c * dimension + e] += x * (
                        p * reals[scratch + 9 + e] + q * reals[scratch + 6 + e]
                    )


@compiled
def end_points(ints, reals, h, damping):
    """Accept the step: positions of the nodes; the energy that viscosity took."""
    for i in range(3 * ints[at.FLOATING], 3 * ints[at.BODIES]):
        reals[ints[at.STATE_POSITION] + i] = reals[ints[at.POSITION1] + i]
    lost = 0.0
    for g in range(ints[at.QUADRATICS]):
        viscous = viscous_modulus(ints, reals, ints[ints[at.QUADRATIC_LAW] + g], h, damping)
        change = reals[ints[at.QUADRATIC_CHANGE] + g]
        lost += reals[ints[at.QUADRATIC_WEIGHT] + g] * viscous * change * change
    return lost


@compiled
def point_ledger(ints, reals, h, damping):
    """How much the energies of the step change beyond what viscosity takes, and the size of the parts."""
    change, size = 0.0, 0.0
    old, new = ints[at.STATE_VELOCITY], ints[at.VELOCITY]
    for p in range(ints[at.PAIRS]):
        row, column = ints[ints[at.PAIR_ROW] + p], ints[ints[at.PAIR_COLUMN] + p]
        half = 0.5 * reals[ints[at.PAIR_MASS] + p]
        for c in range(ints[at.DIMENSION]):
            start = half * reals[old + row + c] * reals[old + column + c]
            end = half * reals[new + row + c] * reals[new + column + c]
            change += end - start
            size += abs(end) + abs(start)
    for g in range(ints[at.QUADRATICS]):
        law, delta = ints[ints[at.QUADRATIC_LAW] + g], reals[ints[at.QUADRATIC_CHANGE] + g]
        weight = reals[ints[at.QUADRATIC_WEIGHT] + g]
        stored = weight * reals[ints[at.QUADRATIC_FORCE] + g] * delta
        lost = weight * viscous_modulus(ints, reals, law, h, damping) * delta * delta
        change += stored + lost
        size += abs(stored) + lost
    first = 3 * ints[at.FLOATING]
    for i in range(3 * ints[at.BODIES] - first):
        work = reals[ints[at.POINT_WEIGHT] + i] * reals[ints[at.POINT_MOVE] + i]
        change -= work
        size += abs(work)
    return change, size


@compiled
def point_energies(ints, reals):
    """Kinetic, stored and gravity energy of all nodes at the state of ``begin_points``."""
    kinetic, strain, gravity = 0.0, 0.0, 0.0
    velocity = ints[at.STATE_VELOCITY]
    for p in range(ints[at.PAIRS]):
        row, column = ints[ints[at.PAIR_ROW] + p], ints[ints[at.PAIR_COLUMN] + p]
        for c in range(ints[at.DIMENSION]):
            kinetic += (
                0.5 * reals[ints[at.PAIR_MASS] + p] * reals[velocity + row + c] * reals[velocity + column + c]
            )
    for g in range(ints[at.QUADRATICS]):
        law = ints[ints[at.QUADRATIC_LAW] + g]
        strain += reals[ints[at.QUADRATIC_WEIGHT] + g] * law_energy(
            ints[ints[at.LAW_KIND] + law],
            reals[ints[at.LAW_MODULUS] + law],
            ints[ints[at.LAW_ENERGY] + law],
            reals[ints[at.QUADRATIC0] + g],
        )
    first = 3 * ints[at.FLOATING]
    for i in range(first, 3 * ints[at.BODIES]):
        gravity -= reals[ints[at.POINT_WEIGHT] + i - first] * reals[ints[at.STATE_POSITION] + i]
    return kinetic, strain, gravity
