"""Elastic force, damping and their exact derivative over one step (formulation, sections 3 and 4).

The stress is D (mean(eps) + gamma delta(eps)) with gamma = tau / h + numerical damping: a step loses
exactly gamma delta(eps)^T D delta(eps).
"""

from phlexible.kernels import tables as at
from phlexible.kernels.compiled import compiled
from phlexible.kernels.dense import form, multiply
from phlexible.kernels.inertia import start_of


@compiled
def strain_value(ints, reals, s, x, slopes):
    """eps_s(eta) with eta at ``x``; the slopes of its squares go to ``slopes``."""
    row = ints[ints[at.STRAIN_ROW] + s]
    value = 0.0
    for i in range(ints[ints[at.STRAIN_FIRST] + s], ints[ints[at.STRAIN_LAST] + s]):
        value += reals[row + i] * reals[x + i]
    for g in range(ints[ints[at.SQUARE_START] + s], ints[ints[at.SQUARE_START] + s + 1]):
        row = ints[ints[at.SQUARE_ROW] + g]
        slope = 0.0
        for i in range(ints[ints[at.SQUARE_FIRST] + g], ints[ints[at.SQUARE_LAST] + g]):
            slope += reals[row + i] * reals[x + i]
        reals[slopes + g] = slope
        value += 0.5 * reals[ints[at.SQUARE_FACTOR] + g] * slope * slope
    return value


@compiled
def strain_gradient(ints, reals, s, slopes_a, slopes_b, out):
    """B + Q eta of strain s at ``out``, in its support, at the mean of the states with those slopes."""
    row = ints[ints[at.STRAIN_ROW] + s]
    for i in range(ints[ints[at.STRAIN_FIRST] + s], ints[ints[at.STRAIN_LAST] + s]):
        reals[out + i] = reals[row + i]
    for g in range(ints[ints[at.SQUARE_START] + s], ints[ints[at.SQUARE_START] + s + 1]):
        value = 0.5 * reals[ints[at.SQUARE_FACTOR] + g] * (reals[slopes_a + g] + reals[slopes_b + g])
        row = ints[ints[at.SQUARE_ROW] + g]
        for i in range(ints[ints[at.SQUARE_FIRST] + g], ints[ints[at.SQUARE_LAST] + g]):
            reals[out + i] += value * reals[row + i]


@compiled
def slope_starts(ints, b):
    """Places of the slopes of body b at both ends of the step, less its type's first square."""
    first = ints[ints[at.SQUARE_START] + ints[ints[at.STRAIN_START] + ints[ints[at.TYPE_OF] + b]]]
    place = ints[ints[at.SQUARE_WORK_START] + b] - first
    return ints[at.SLOPE0] + place, ints[at.SLOPE1] + place


@compiled
def begin_strains(ints, reals, b):
    """All strains of body b and the slopes of their squares at the start of the step."""
    kind = ints[ints[at.TYPE_OF] + b]
    slopes, _ = slope_starts(ints, b)
    x1 = start_of(ints, b) + 1
    begin = ints[ints[at.STRAIN_START] + kind]
    for s in range(begin, ints[ints[at.STRAIN_START] + kind + 1]):
        k = ints[ints[at.STRAIN_WORK_START] + b] + s - begin
        reals[ints[at.STRAIN0] + k] = strain_value(ints, reals, s, ints[at.XI0] + x1, slopes)


@compiled
def strain_energy(ints, reals, b, xi, strain):
    """V(eta) of body b; the strains must be up to date."""
    kind = ints[ints[at.TYPE_OF] + b]
    x1 = start_of(ints, b) + 1
    n = ints[ints[at.ELASTIC_COUNT] + kind]
    energy = 0.5 * form(reals, ints[ints[at.STIFFNESS] + kind], n, xi + x1, xi + x1)
    begin = ints[ints[at.STRAIN_START] + kind]
    for s in range(begin, ints[ints[at.STRAIN_START] + kind + 1]):
        energy += (
            0.5
            * reals[ints[at.STRAIN_WEIGHT] + s]
            * reals[strain + (ints[ints[at.STRAIN_WORK_START] + b] + s - begin)] ** 2
        )
    return energy


@compiled
def elastic_balance(ints, reals, b, h, damping):
    """Add h times the elastic and damping forces of body b to its rows of the residual."""
    kind = ints[ints[at.TYPE_OF] + b]
    n = ints[ints[at.ELASTIC_COUNT] + kind]
    if n == 0:
        return
    x1 = start_of(ints, b) + 1
    row = ints[at.RESIDUAL] + ints[ints[at.VELOCITY_START] + b + 1] - n
    gamma = reals[ints[at.VISCOSITY] + kind] / h + damping
    for i in range(n):
        start, end = reals[ints[at.XI0] + x1 + i], reals[ints[at.XI1] + x1 + i]
        reals[ints[at.ELASTIC_MEAN] + x1 + i] = 0.5 * (start + end) + gamma * (end - start)
    multiply(
        reals, ints[ints[at.STIFFNESS] + kind], n, n, ints[at.ELASTIC_MEAN] + x1, ints[at.ELASTIC_FORCE] + x1
    )
    for i in range(n):
        reals[row + i] += h * reals[ints[at.ELASTIC_FORCE] + x1 + i]
    slopes0, slopes1 = slope_starts(ints, b)
    begin = ints[ints[at.STRAIN_START] + kind]
    for s in range(begin, ints[ints[at.STRAIN_START] + kind + 1]):
        k = ints[ints[at.STRAIN_WORK_START] + b] + s - begin
        reals[ints[at.STRAIN1] + k] = strain_value(ints, reals, s, ints[at.XI1] + x1, slopes1)
        strain_gradient(ints, reals, s, slopes0, slopes1, ints[at.STRAIN_GRADIENT] + x1)
        first, last = ints[ints[at.STRAIN_FIRST] + s], ints[ints[at.STRAIN_LAST] + s]
        change = 0.0
        for i in range(first, last):
            change += reals[ints[at.STRAIN_GRADIENT] + x1 + i] * (
                reals[ints[at.XI1] + x1 + i] - reals[ints[at.XI0] + x1 + i]
            )
        reals[ints[at.STRAIN_CHANGE] + k] = change
        stress = 0.5 * (reals[ints[at.STRAIN0] + k] + reals[ints[at.STRAIN1] + k]) + gamma * change
        stress *= h * reals[ints[at.STRAIN_WEIGHT] + s]
        for i in range(first, last):
            reals[row + i] += stress * reals[ints[at.STRAIN_GRADIENT] + x1 + i]
    if ints[ints[at.DAMPING] + kind] >= 0:
        for i in range(n):
            reals[ints[at.ELASTIC_MEAN] + x1 + i] = 0.5 * (
                reals[ints[at.RATE0] + x1 + i] + reals[ints[at.RATE1] + x1 + i]
            )
        multiply(
            reals,
            ints[ints[at.DAMPING] + kind],
            n,
            n,
            ints[at.ELASTIC_MEAN] + x1,
            ints[at.ELASTIC_FORCE] + x1,
        )
        for i in range(n):
            reals[row + i] += h * reals[ints[at.ELASTIC_FORCE] + x1 + i]


@compiled
def elastic_tangent(ints, reals, b, h, damping, start):
    """Add the derivative of ``elastic_balance`` with respect to deta/dt at the end to the body's block."""
    kind = ints[ints[at.TYPE_OF] + b]
    n = ints[ints[at.ELASTIC_COUNT] + kind]
    if n == 0:
        return
    x1 = start_of(ints, b) + 1
    width = ints[ints[at.VELOCITY_START] + b + 1] - ints[ints[at.VELOCITY_START] + b]
    corner = start + (width - n) * width + width - n
    gamma = reals[ints[at.VISCOSITY] + kind] / h + damping
    quarter = 0.25 * h * h
    k = ints[ints[at.STIFFNESS] + kind]
    factor = quarter * (1.0 + 2.0 * gamma)
    for i in range(n):
        for j in range(n):
            reals[corner + i * width + j] += factor * reals[k + i * n + j]
    c = ints[ints[at.DAMPING] + kind]
    if c >= 0:
        for i in range(n):
            for j in range(n):
                reals[corner + i * width + j] += 0.5 * h * reals[c + i * n + j]
    slopes0, slopes1 = slope_starts(ints, b)
    begin = ints[ints[at.STRAIN_START] + kind]
    for s in range(begin, ints[ints[at.STRAIN_START] + kind + 1]):
        e = ints[ints[at.STRAIN_WORK_START] + b] + s - begin
        strain_gradient(ints, reals, s, slopes0, slopes1, ints[at.STRAIN_GRADIENT] + x1)
        strain_gradient(ints, reals, s, slopes1, slopes1, ints[at.STRAIN_GRADIENT1] + x1)
        first, last = ints[ints[at.STRAIN_FIRST] + s], ints[ints[at.STRAIN_LAST] + s]
        weight = reals[ints[at.STRAIN_WEIGHT] + s]
        for i in range(first, last):
            x = factor * weight * reals[ints[at.STRAIN_GRADIENT] + x1 + i]
            for j in range(first, last):
                reals[corner + i * width + j] += x * reals[ints[at.STRAIN_GRADIENT1] + x1 + j]
        stress = (
            0.5 * (reals[ints[at.STRAIN0] + e] + reals[ints[at.STRAIN1] + e])
            + gamma * reals[ints[at.STRAIN_CHANGE] + e]
        )
        for g in range(ints[ints[at.SQUARE_START] + s], ints[ints[at.SQUARE_START] + s + 1]):
            row = ints[ints[at.SQUARE_ROW] + g]
            x = quarter * weight * stress * reals[ints[at.SQUARE_FACTOR] + g]
            for i in range(ints[ints[at.SQUARE_FIRST] + g], ints[ints[at.SQUARE_LAST] + g]):
                y = x * reals[row + i]
                for j in range(ints[ints[at.SQUARE_FIRST] + g], ints[ints[at.SQUARE_LAST] + g]):
                    reals[corner + i * width + j] += y * reals[row + j]


@compiled
def dissipation(ints, reals, b, h, damping):
    """Energy that body b loses in the step, exactly (formulation, section 3)."""
    kind = ints[ints[at.TYPE_OF] + b]
    n = ints[ints[at.ELASTIC_COUNT] + kind]
    if n == 0:
        return 0.0
    x1 = start_of(ints, b) + 1
    gamma = reals[ints[at.VISCOSITY] + kind] / h + damping
    lost = 0.0
    if gamma > 0.0:
        for i in range(n):
            reals[ints[at.ELASTIC_MEAN] + x1 + i] = (
                reals[ints[at.XI1] + x1 + i] - reals[ints[at.XI0] + x1 + i]
            )
        lost += gamma * form(
            reals, ints[ints[at.STIFFNESS] + kind], n, ints[at.ELASTIC_MEAN] + x1, ints[at.ELASTIC_MEAN] + x1
        )
        begin = ints[ints[at.STRAIN_START] + kind]
        for s in range(begin, ints[ints[at.STRAIN_START] + kind + 1]):
            k = ints[ints[at.STRAIN_WORK_START] + b] + s - begin
            lost += gamma * reals[ints[at.STRAIN_WEIGHT] + s] * reals[ints[at.STRAIN_CHANGE] + k] ** 2
    if ints[ints[at.DAMPING] + kind] >= 0:
        for i in range(n):
            reals[ints[at.ELASTIC_MEAN] + x1 + i] = 0.5 * (
                reals[ints[at.RATE0] + x1 + i] + reals[ints[at.RATE1] + x1 + i]
            )
        lost += h * form(
            reals, ints[ints[at.DAMPING] + kind], n, ints[at.ELASTIC_MEAN] + x1, ints[at.ELASTIC_MEAN] + x1
        )
    return lost
