"""Absolute bodies over one step: nodes with constant mass and quadratic strains (formulation, section 5).

    delta(q) = h vb,   M delta(v) = h [ F - sum_g w_g (s_g) 2 A_g mean(q) ],   C_g = q^T A_g q

with ``s_g = delta(W)/delta(C) + (tau / h + gamma) EA / 4 delta(C)``. Every node is a body of the tables
without rotation and elastic coordinates, numbered after the floating bodies, so that joints and loads
see a point mass; only its balance comes from here. ``delta(C) = 2 mean(q)^T A delta(q)`` does not cancel.
"""

from phlexible.kernels import tables as at
from phlexible.kernels.compiled import compiled
from phlexible.kernels.laws import law_energy, law_force, law_slope


@compiled
def begin_points(ints, reals):
    """C_g at the start of the step."""
    for g in range(ints[at.QUADRATICS]):
        reals[ints[at.QUADRATIC0] + g] = _strain(ints, reals, g, ints[at.STATE_POSITION])


@compiled
def _strain(ints, reals, g, positions):
    """C_g of the nodes at ``positions``."""
    first = ints[ints[at.QUADRATIC_START] + g]
    count = ints[ints[at.QUADRATIC_START] + g + 1] - first
    form, total = ints[ints[at.QUADRATIC_FORM] + g], 0.0
    for c in range(ints[at.DIMENSION]):
        for i in range(count):
            x = reals[positions + 3 * ints[ints[at.QUADRATIC_NODE] + first + i] + c]
            for j in range(count):
                y = reals[positions + 3 * ints[ints[at.QUADRATIC_NODE] + first + j] + c]
                total += reals[form + i * count + j] * x * y
    return total


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
def _half_gradients(ints, reals, g):
    """A_g mean(q) and then A_g q_{n+1} of the nodes of strain g into the scratch; delta(C_g)."""
    first = ints[ints[at.QUADRATIC_START] + g]
    count = ints[ints[at.QUADRATIC_START] + g + 1] - first
    form, change = ints[ints[at.QUADRATIC_FORM] + g], 0.0
    mean, end = ints[at.QUADRATIC_SCRATCH], ints[at.QUADRATIC_SCRATCH] + 3 * count
    for i in range(count):
        own = ints[at.POINT_MOVE] + 3 * (ints[ints[at.QUADRATIC_NODE] + first + i] - ints[at.FLOATING])
        for c in range(ints[at.DIMENSION]):
            at_mean, at_end = 0.0, 0.0
            for j in range(count):
                node = ints[ints[at.QUADRATIC_NODE] + first + j]
                x = reals[ints[at.STATE_POSITION] + 3 * node + c]
                move = reals[ints[at.POINT_MOVE] + 3 * (node - ints[at.FLOATING]) + c]
                a = reals[form + i * count + j]
                at_mean += a * (x + 0.5 * move)
                at_end += a * (x + move)
            reals[mean + 3 * i + c] = at_mean
            reals[end + 3 * i + c] = at_end
            change += 2.0 * at_mean * reals[own + c]
    return change


@compiled
def _strain_forces(ints, reals, g, h, damping):
    """Add h w_g s_g 2 A_g mean(q) to the balances of the nodes of strain g."""
    change = _half_gradients(ints, reals, g)
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
    pull = 2.0 * h * reals[ints[at.QUADRATIC_WEIGHT] + g]
    pull *= force + viscous_modulus(ints, reals, law, h, damping) * change
    first = ints[ints[at.QUADRATIC_START] + g]
    for i in range(ints[ints[at.QUADRATIC_START] + g + 1] - first):
        row = ints[ints[at.VELOCITY_START] + ints[ints[at.QUADRATIC_NODE] + first + i]]
        for c in range(ints[at.DIMENSION]):
            reals[ints[at.RESIDUAL] + row + c] += pull * reals[ints[at.QUADRATIC_SCRATCH] + 3 * i + c]


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
    _half_gradients(ints, reals, g)
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
    form, block = ints[ints[at.QUADRATIC_FORM] + g], ints[ints[at.QUADRATIC_BLOCK_START] + g]
    mean, end = ints[at.QUADRATIC_SCRATCH], ints[at.QUADRATIC_SCRATCH] + 3 * count
    scale = 2.0 * h * h * reals[ints[at.QUADRATIC_WEIGHT] + g]
    for i in range(count):
        for j in range(count):
            place = ints[ints[at.QUADRATIC_BLOCK] + block + i * count + j]
            same = 0.25 * scale * (force + viscous * change) * reals[form + i * count + j]
            for c in range(dimension):
                reals[place + c * dimension + c] += same
                x = scale * slope * reals[mean + 3 * i + c]
                for e in range(dimension):
                    reals[place + c * dimension + e] += x * reals[end + 3 * j + e]


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
