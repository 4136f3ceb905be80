"""Soft bodies over one step: stress, element forces, pressure, derivatives (docs/theory.md, 5)."""

from math import exp, expm1, log, log1p, nan

from phlexible.step.compilation.compiled import compiled, compiled_lane_by_lane, exported
from phlexible.step.compilation.notation import (
    Integers,
    Matrix,
    Reals,
    Tables,
    Vector,
    Vectors,
    along,
    any_of,
    cross,
    dot,
    matrix,
    row,
    vector,
    where,
)
from phlexible.step.kernels.branches import dashpot_loss, update_relaxation
from phlexible.step.kernels.floating_bodies import add_components, unit
from phlexible.step.kernels.laws import GAUSS, log_quotient, user_function_value, user_gradient
from phlexible.step.tables.declarations import (
    LOGARITHMS,
    NOTHING,
    OF_USER,
    PRESSURE,
    PROPORTIONAL,
    QUADRATIC,
    RECIPROCAL,
)

# Slopes of a field of vectors at nodes, of elements and of faces (docs/theory.md, 5).


@compiled
def nodal_slopes(values: Vectors, nodes: Integers, slopes: Vectors, count: int) -> Matrix:
    """Return the derivatives of an interpolated vector field with respect to the three material coordinates at one
    point of an element. Row a of the matrix is the sum over ``count`` nodes of the a-component of ``slopes``, the
    gradients of shape functions, times the nodal value. Values are taken as differences from the first node
    against round-off; ``nodes`` are their indices in ``values``."""
    x, y, z = vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)
    for i in range(1, count):
        n, away = slopes[i], values[nodes[i]] - values[nodes[0]]
        x, y, z = x + n.x * away, y + n.y * away, z + n.z * away
    return matrix(x, y, z)


# Stress of soft bodies over a step: the discrete gradient of W(C), and its derivative (docs/theory.md, 5).
#
# Symmetric tensors are two vectors: (11, 22, 33) and (23, 13, 12). Functions of one invariant have the quotient
# delta(h) / delta(x) without cancellation; invariants have the mean of their gradients along the way from C_n to
# C_{n+1}, so that S : delta(E) is delta(W) exactly (5.14).

NEAR = 0.1  # relative change below which a slope is integrated, not an energy divided
DIFFERENCE = 1e-4  # and below which its derivative is that in the middle
MOST_ITERATIONS = 60
VOLUME = 2  # the third function of a group takes det C


@compiled
def contraction(a: Vector, x: Vector, b: Vector, y: Vector) -> float:
    """Return the double contraction A : B of two symmetric tensors, each given as two vectors, diagonal (11, 22,
    33) and shear (23, 13, 12): A = (a, x), B = (b, y)."""
    return dot(a, b) + 2.0 * dot(x, y)


@compiled
def cofactor(a: Vector, x: Vector, b: Vector, y: Vector) -> tuple[Vector, Vector]:
    """Return the symmetric bilinear form of two symmetric 3 x 3 tensors A and B that is the cofactor matrix if
    both are equal. A is given as (a, x) and B as (b, y), vectors of the diagonal (11, 22, 33) and of the shear
    components (23, 13, 12); so is the result."""
    diagonal = vector(
        0.5 * (a.y * b.z + a.z * b.y) - x.x * y.x,
        0.5 * (a.z * b.x + a.x * b.z) - x.y * y.y,
        0.5 * (a.x * b.y + a.y * b.x) - x.z * y.z,
    )
    shears = vector(
        0.5 * (x.y * y.z + x.z * y.y - a.x * y.x - x.x * b.x),
        0.5 * (x.x * y.z + x.z * y.x - a.y * y.y - x.y * b.y),
        0.5 * (x.x * y.y + x.y * y.x - a.z * y.z - x.z * b.z),
    )
    return diagonal, shears


@compiled
def trace_of(a: Vector) -> float:
    """Return the sum of the components of a vector, the trace of a tensor with this diagonal."""
    return a.x + a.y + a.z


@compiled_lane_by_lane
def log_of_thickness_squared(a: float, b: float, x: float) -> float:
    """Return the logarithm of c, the squared thickness ratio (deformed over undeformed) of an elastic sheet
    without stress across it. The material is compressible neo-Hookean; Newton's method is iterated to round-off. x
    = det C is the square of the area ratio in its plane; a and b are the Lame parameter and the shear modulus of
    small strains [Pa]."""
    ratio = a / (2.0 * b)
    log_x = log(x)
    log_c = -log_x * ratio / (1.0 + ratio)
    for _ in range(MOST_ITERATIONS):
        change = (expm1(log_c) + ratio * (log_x + log_c)) / (exp(log_c) + ratio)
        log_c -= change
        if abs(change) <= 1e-15 * abs(log_c):
            break
    return log_c


@compiled
def thickness_squared(a: float, b: float, x: float) -> float:
    """Return c, the square of the thickness ratio (deformed over undeformed) of an elastic sheet whose stress
    across it is zero. It is computed by Newton's method for the logarithm of c. x = det C is the square of the
    area ratio in its plane; a and b are the Lame parameter and the shear modulus of small strains [Pa]."""
    return exp(log_of_thickness_squared(a, b, x))


@compiled
def undeformed_value(q: int) -> float:
    """Return the value without deformation of the strain invariant that energy function q depends on: 3 for I_1 and
    I_2, 1 for det C."""
    return 1.0 if q % 3 == 2 else 3.0


@compiled
def term_energy(t: Tables, q: int, change: float) -> float:
    """Return the energy density of energy function q of a soft body, a function of one strain invariant [J/m3]. It
    is zero, proportional, a polynomial of the logarithm, reciprocal, that of a sheet, or the user's. The invariant
    differs by ``change`` from its value without deformation; the density is zero there for all but the user's
    function, and NaN where the function is not defined. ``t`` contains all arrays of the model and its state.

    From this difference, terms that cancel at small strains are small themselves.
    """
    kind, a, b = t.soft_function[q], t.soft_first_constant[q], t.soft_second_constant[q]
    x = undeformed_value(q) + change
    if kind == NOTHING:
        return 0.0
    if kind == PROPORTIONAL:
        return a * change
    if kind == OF_USER:
        return user_function_value(t.soft_energy[q], x)
    is_right = x > 0.0
    if kind == LOGARITHMS:
        return where(is_right, (a + b * log1p(change)) * log1p(change), nan)
    if kind == RECIPROCAL:
        return where(is_right, -a * change / x, nan)
    return where(is_right, sheet_energy(a, b, x, change), nan)


@compiled
def sheet_energy(a: float, b: float, x: float, change: float) -> float:
    """Return the part of the compressible neo-Hookean energy density of an elastic sheet that depends on its area
    [J/m3]. The thickness follows from zero stress across the sheet. x = det C is the squared ratio of deformed to
    undeformed area, ``change`` is x - 1. a and b are the Lame parameter and the shear modulus of small strains
    [Pa]."""
    log_c = log_of_thickness_squared(a, b, x)
    volume = log1p(change) + log_c
    return 0.5 * b * (expm1(log_c) - volume) + 0.125 * a * volume * volume


@compiled
def sheet_slope(a: float, b: float, x: float) -> float:
    """Return the derivative of ``sheet_energy``, neo-Hookean energy density of an elastic sheet, with respect to
    its squared area stretch x = det C [J/m3]. It is -b c / (2 x), where c is the squared thickness stretch at
    which the stress across the sheet is zero. a and b are the Lame parameter and the shear modulus of small
    strains [Pa]."""
    return -0.5 * b * thickness_squared(a, b, x) / x


@compiled
def quotient(t: Tables, q: int, x: float, change: float) -> tuple[float, float]:
    """Return the discrete derivative delta(h) / delta(x) of energy density function h number q of a soft body over
    a time step [J/m3]. The second result is its derivative with respect to x at the end. The strain invariant x
    becomes x + ``change``. The results are NaN where the function is not defined, 0 if there is no function. ``t``
    contains all arrays of the model and its state."""
    kind, a, b, end = t.soft_function[q], t.soft_first_constant[q], t.soft_second_constant[q], x + change
    if kind == NOTHING:
        return 0.0, 0.0
    if kind == PROPORTIONAL:
        return a, 0.0
    if kind == OF_USER:
        return user_gradient(t.soft_energy[q], t.soft_derivative[q], x, change, abs(x), a)
    is_right = (x > 0.0) & (end > 0.0)
    if kind == LOGARITHMS:
        d = change / x
        ratio, steeper = log_quotient(d)
        logs = a + b * (2.0 * log(x) + log1p(d))
        value, slope = ratio / x * logs, steeper / (x * x) * logs + ratio / x * b / end
    elif kind == RECIPROCAL:
        value, slope = -a / (x * end), a / (x * end * end)
    else:
        value, slope = sheet_quotient(a, b, x, change)
    return where(is_right, value, nan), where(is_right, slope, nan)


@compiled_lane_by_lane
def sheet_quotient(a: float, b: float, x: float, change: float) -> tuple[float, float]:
    """Return the discrete derivative of ``sheet_energy``, energy density of an elastic sheet, from x to x +
    ``change`` [J/m3]. x is the squared ratio of deformed to undeformed area. The second result is its derivative
    with respect to the end; NaN where x is not positive. Small changes are integrated by Gauss points. a and b are
    the Lame parameter and the shear modulus of small strains [Pa]."""
    end = x + change
    if not (x > 0.0 and end > 0.0):
        return nan, nan
    if abs(change) > NEAR * x:
        strained = x - undeformed_value(VOLUME)
        difference = sheet_energy(a, b, end, strained + change) - sheet_energy(a, b, x, strained)
        value = difference / change
        return value, (sheet_slope(a, b, end) - value) / change
    middle, value = x + 0.5 * change, 0.0
    for point in range(4):
        place, weight = GAUSS[point]
        place *= 0.5 * change
        value += 0.5 * weight * (sheet_slope(a, b, middle - place) + sheet_slope(a, b, middle + place))
    if abs(change) > DIFFERENCE * x:
        return value, (sheet_slope(a, b, end) - value) / change
    c = thickness_squared(a, b, middle)
    growth = -0.5 * a / middle / (b + 0.5 * a / c)
    bend = -0.5 * b * (growth / middle - c / (middle * middle))
    return value, 0.5 * bend


@compiled
def density(t: Tables, g: int, c: Vector, x: Vector) -> float:
    """Return the strain energy density W(C) [J/m3] of group g of soft elements (one material) at the right
    Cauchy-Green tensor C. The linear law (St. Venant-Kirchhoff) has Lame's constants. Other laws sum one function
    for each of the three invariants of C, computed from C - I against round-off. c are the components (11, 22, 33)
    and x the components (23, 13, 12) of C. ``t`` contains all arrays of the model and its state."""
    if t.soft_law[g] == QUADRATIC:
        e = 0.5 * (c - vector(1.0, 1.0, 1.0))
        trace = trace_of(e)
        return 0.5 * t.soft_lame[g] * trace * trace + t.soft_shear[g] * (dot(e, e) + 0.5 * dot(x, x))
    e = c - vector(1.0, 1.0, 1.0)
    a, y = cofactor(e, x, e, x)
    first, second, third = trace_of(e), trace_of(a), (dot(a, e) + 2.0 * dot(x, y)) / 3.0  # invariants of C - I
    energy = term_energy(t, 3 * g, first) + term_energy(t, 3 * g + 1, 2.0 * first + second)
    return energy + term_energy(t, 3 * g + 2, first + second + third)


@compiled
def mean_stress(
    t: Tables, g: int, c: Vector, x: Vector, dc: Vector, dx: Vector, gamma: float
) -> tuple[Vector, Vector]:
    """Return the mean second Piola-Kirchhoff stress [Pa] of one material over a time step, as vectors (11, 22, 33)
    and (23, 13, 12). It is the discrete gradient of the strain energy of group g of soft elements, for C = F^T F
    that changes from (c, x) by (dc, dx), in the same components. gamma times the small-strain elasticity times the
    change of strain is added, for viscosity and numerical damping. ``t`` contains all arrays of the model and its
    state.
    """
    lame, shear, one = t.soft_lame[g], t.soft_shear[g], vector(1.0, 1.0, 1.0)
    trace = 0.5 * gamma * lame * trace_of(dc)
    s, z = trace * one + (gamma * shear) * dc, (gamma * shear) * dx
    m, n = c + 0.5 * dc, x + 0.5 * dx
    if t.soft_law[g] == QUADRATIC:
        e = m - one
        return s + (0.5 * lame * trace_of(e)) * one + shear * e, z + shear * n
    ec, ex = c + dc, x + dx
    f = quotient(t, 3 * g, trace_of(c), trace_of(dc))[0]
    (a, y), (start, sides) = mean_cofactor(c, x, ec, ex), cofactor(c, x, c, x)
    h = quotient(t, 3 * g + 2, contraction(start, sides, c, x) / 3.0, contraction(a, y, dc, dx))[0]
    s, z = s + (2.0 * f) * one + (2.0 * h) * a, z + (2.0 * h) * y
    if t.soft_function[3 * g + 1] != NOTHING:
        rest = trace_of(m) * one - m
        second = quotient(t, 3 * g + 1, trace_of(start), contraction(rest, -n, dc, dx))[0]
        s, z = s + (2.0 * second) * rest, z - (2.0 * second) * n
    return s, z


@compiled
def mean_cofactor(c: Vector, x: Vector, ec: Vector, ex: Vector) -> tuple[Vector, Vector]:
    """Return the mean cofactor matrix of a symmetric tensor that changes linearly in a time step from (c, x) to
    (ec, ex). All have diagonal (11, 22, 33) and shear components (23, 13, 12)."""
    (a, y), (b, z), (d, w) = cofactor(c, x, c, x), cofactor(c, x, ec, ex), cofactor(ec, ex, ec, ex)
    return (1.0 / 3.0) * (a + b + d), (1.0 / 3.0) * (y + z + w)


@compiled
def set_stress_tangent(t: Tables, g: int, c: Vector, x: Vector, dc: Vector, dx: Vector, gamma: float) -> None:
    """Write the derivative of ``mean_stress``, second Piola-Kirchhoff stress, with respect to the Green-Lagrange
    strain at the end into ``t.soft_tangent`` [Pa]. It is a 6 x 6 matrix stored by columns, with doubled shear
    strains. g is the group of elements with one law. c and x are components (11, 22, 33) and (23, 13, 12) of C =
    F^T F at the start, dc and dx their changes, gamma is the factor of viscous and numerical damping."""
    lame, shear, one = t.soft_lame[g], t.soft_shear[g], vector(1.0, 1.0, 1.0)
    ec, ex, is_quadratic = c + dc, x + dx, t.soft_law[g] == QUADRATIC
    spread, own = 0.5 * gamma * lame, gamma * shear
    if is_quadratic:
        spread, own = spread + 0.25 * lame, own + 0.5 * shear
    a, y, end, side, rest, sides = one, one, one, one, one, one
    f1, g0, g1, h0, h1 = 0.0, 0.0, 0.0, 0.0, 0.0
    weighted, weighted_sides = (1.0 / 3.0) * (c + 2.0 * ec), (1.0 / 3.0) * (x + 2.0 * ex)
    if not is_quadratic:
        (a, y), (end, side) = mean_cofactor(c, x, ec, ex), cofactor(ec, ex, ec, ex)
        m, sides = c + 0.5 * dc, -(x + 0.5 * dx)
        rest = trace_of(m) * one - m
        f1 = quotient(t, 3 * g, trace_of(c), trace_of(dc))[1]
        start, shears = cofactor(c, x, c, x)
        h0, h1 = quotient(t, 3 * g + 2, contraction(start, shears, c, x) / 3.0, contraction(a, y, dc, dx))
        g0, g1 = quotient(t, 3 * g + 1, trace_of(start), contraction(rest, sides, dc, dx))
    for s in range(6):
        u = vector(2.0 if s == 0 else 0.0, 2.0 if s == 1 else 0.0, 2.0 if s == 2 else 0.0)
        v = vector(1.0 if s == 3 else 0.0, 1.0 if s == 4 else 0.0, 1.0 if s == 5 else 0.0)
        trace = trace_of(u)
        d, z = (spread * trace) * one + own * u, own * v
        if not is_quadratic:
            by_volume = 2.0 * h1 * contraction(end, side, u, v)
            by_second = 2.0 * g1 * contraction(trace_of(ec) * one - ec, -ex, u, v)
            d += (2.0 * f1 * trace) * one + by_volume * a + by_second * rest + g0 * (trace * one - u)
            z += by_volume * y + by_second * sides - g0 * v
            bent, sheared = cofactor(weighted, weighted_sides, u, v)
            d, z = d + (2.0 * h0) * bent, z + (2.0 * h0) * sheared
        column = t.soft_tangent + 6 * s
        column[0], column[1], column[2] = d.x, d.y, d.z
        column[3], column[4], column[5] = z.x, z.y, z.z


# Forces of the elements of soft bodies over a step, and their exact derivative (docs/theory.md, 5).
#
# With F_a = sum_i g_ia x_i at a quadrature point and C_ab = F_a . F_b, delta(C_ab) = delta(F_a) . mean(F_b) +
# mean(F_a) . delta(F_b) exactly, so that forces sum_ab S_ab g_ia mean(F_b) do the work S : delta(E) (5.13).
# Positions are taken from the first node of an element: far from the origin sums would cancel.


@compiled
def deformation_gradient(t: Tables, e: int, p: int, x: Vectors) -> Matrix:
    """Return the deformation gradient F at quadrature point p of soft element e, for the nodal positions x [m]. The
    columns of F are the rows of the matrix that is returned. If x contains the displacements of the nodes in the
    time step, the result is the change of F. ``t`` contains all arrays of the model and its state."""
    k, nodes = t.soft_nodes_count[e], t.soft_node + t.soft_nodes_begin[e]
    return nodal_slopes(x, nodes, t.soft_gradient + (t.soft_slopes_begin[e] + p * k), k)


@compiled
def metric(t: Tables, e: int, F: Matrix) -> tuple[Vector, Vector]:
    """Return the right Cauchy-Green tensor C of soft element e, diagonal and shear components, for its transposed
    deformation gradient F; C_33 = 1 for a sheet. ``t`` contains all arrays of the model and its state."""
    x, y, z = row(F, 0), row(F, 1), row(F, 2)
    across = 1.0 if t.soft_sheet[t.soft_group[e]] == 1 else dot(z, z)
    return vector(dot(x, x), dot(y, y), across), vector(dot(y, z), dot(x, z), dot(x, y))


@compiled
def metric_change(F: Matrix, dF: Matrix) -> tuple[Vector, Vector]:
    """Return the exact change of the right Cauchy-Green tensor C in a time step, diagonal and shear components. The
    transposed deformation gradient changes by dF; F is its mean over the time step."""
    x, y, z, dx, dy, dz = row(F, 0), row(F, 1), row(F, 2), row(dF, 0), row(dF, 1), row(dF, 2)
    diagonal = vector(2.0 * dot(x, dx), 2.0 * dot(y, dy), 2.0 * dot(z, dz))
    return diagonal, vector(dot(y, dz) + dot(z, dy), dot(x, dz) + dot(z, dx), dot(x, dy) + dot(y, dx))


@compiled
def strained_point(t: Tables, e: int, p: int) -> tuple[Matrix, Matrix, Vector, Vector, Vector, Vector]:
    """Return six values that describe the deformation at quadrature point p of soft element e in a time step. They
    are the transposed deformation gradient F' at the start and its change, then (C_11, C_22, C_33) and (C_23,
    C_13, C_12) of C = F' F at the start, and the changes of both. ``t`` contains all arrays of the model and its
    state."""
    F, dF = deformation_gradient(t, e, p, t.position), deformation_gradient(t, e, p, t.shift)
    c, o = metric(t, e, F)
    dc, do = metric_change(F + 0.5 * dF, dF)
    return F, dF, c, o, dc, do


@compiled
def symmetric(a: Vector, x: Vector) -> Matrix:
    """Return a symmetric tensor with the given diagonal (11, 22, 33) and shear components (23, 13, 12) as a
    matrix."""
    return matrix(vector(a.x, x.z, x.y), vector(x.z, a.y, x.x), vector(x.y, x.x, a.z))


@compiled
def tangent_product(D: Reals, a: Vector, x: Vector) -> tuple[Vector, Vector]:
    """Return the product of a 6 x 6 tangent D and a strain, as vectors of its normal and shear stress components.
    The strain is given by a, its components (11, 22, 33), and x, its doubled components (23, 13, 12); stresses are
    in the same order. D is stored by columns."""
    s, r = vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)
    for k in range(6):
        e = along(a, k) if k < 3 else along(x, k - 3)
        column = D + 6 * k
        s, r = s + e * vector(column[0], column[1], column[2]), r + e * vector(column[3], column[4], column[5])
    return s, r


@compiled
def soft_gamma(t: Tables, e: int, h: float, damping: float) -> float:
    """Return the ratio of damping stress to elastic stress increment of soft element e in a time step of length h:
    viscosity tau / h plus numerical damping. ``t`` contains all arrays of the model and its state."""
    return t.soft_viscosity[t.soft_group[e]] / h + damping


# Branches of spring and dashpot of elements that creep: share times D of small strains (docs/theory.md, 8).


@compiled
def mixed_energy(t: Tables, g: int, a: Vector, x: Vector, b: Vector, y: Vector) -> float:
    """Return the bilinear form e : D f of two small strains in the linear elasticity D of group g of soft elements
    [J/m3]; 2 e = (a, x) and 2 f = (b, y) are diagonal and shear components. ``t`` contains all arrays of the model
    and its state."""
    return 0.25 * t.soft_lame[g] * trace_of(a) * trace_of(b) + 0.5 * t.soft_shear[g] * contraction(a, x, b, y)


@compiled
def branch_stress(t: Tables, e: int, p: int, dc: Vector, dx: Vector, h: float) -> tuple[Vector, Vector]:
    """Return the mean stress [Pa] over a time step of the Maxwell branches at quadrature point p of soft element
    e. It is the small-strain elasticity times the mean spring strains, as vectors (11, 22, 33) and (23, 13, 12). C
    changes by (dc, dx) in the time step of length h [s]. A Maxwell branch is a spring and a dashpot in series.
    ``t`` contains all arrays of the model and its state."""
    g, a, x = t.soft_group[e], vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)
    count = t.soft_branches_count[g]
    for n in range(count):
        b, own = t.soft_branches_begin[g] + n, 2 * (t.soft_creeps_begin[e] + p * count + n)
        update_relaxation(t, t.soft_branch_fading[b], h)
        k, part = t.soft_branch_fading[b], t.soft_branch_share[b]
        mean, gain = part * t.fading_mean[k], part * t.fading_gain[k]
        a += mean * t.soft_strain[own] + gain * dc
        x += mean * t.soft_strain[own + 1] + gain * dx
    return (0.5 * t.soft_lame[g] * trace_of(a)) * vector(1.0, 1.0, 1.0) + t.soft_shear[g] * a, t.soft_shear[g] * x


@compiled
def branch_gain(t: Tables, g: int, h: float) -> float:
    """Return the factor by which the Maxwell branches of group g of soft elements add to their stiffness in a time
    step. It multiplies the elasticity of small strains: the sum of modulus share times relaxation factor over the
    branches, each a spring and a dashpot in series. The relaxation factors are first updated to the step length h
    [s]. ``t`` contains all arrays of the model and its state."""
    slope = 0.0
    for b in range(t.soft_branches_begin[g], t.soft_branches_end[g]):
        update_relaxation(t, t.soft_branch_fading[b], h)
        slope += t.soft_branch_share[b] * t.fading_gain[t.soft_branch_fading[b]]
    return slope


@exported
def advance_soft_branches(t: Tables, h: float) -> float:
    """Replace the strains of the Maxwell branches of all soft elements by their values at the end of the time
    step. Return the energy that the dashpots lose [J]. A Maxwell branch is a spring and a dashpot in series; its
    strain decays and follows the strain change at its quadrature point. h is the length of the step [s]. ``t``
    contains all arrays of the model and its state.

    It must be called before the nodes have moved.
    """
    lost = 0.0
    for e in range(t.soft_elements):
        g = t.soft_group[e]
        count = t.soft_branches_count[g]
        for p in range(t.soft_points_count[e] if count > 0 else 0):
            _, _, _, _, dc, do = strained_point(t, e, p)
            lost += advance_point_branches(t, e, p, dc, do, h)
    return lost


@compiled
def advance_point_branches(t: Tables, e: int, p: int, dc: Vector, do: Vector, h: float) -> float:
    """Replace the strains of the Maxwell branches at quadrature point p of soft element e by their values at the
    end of a time step. A branch is a spring and a dashpot in series; its strain decays and follows the change (dc,
    do) of C. The strains are stored in ``t.soft_strain``. Return the energy that the dashpots lose [J]. h is the
    length of the time step [s]. ``t`` contains all arrays of the model and its state."""
    g, lost = t.soft_group[e], 0.0
    count = t.soft_branches_count[g]
    for n in range(count):
        b, own = t.soft_branches_begin[g] + n, 2 * (t.soft_creeps_begin[e] + p * count + n)
        update_relaxation(t, t.soft_branch_fading[b], h)
        k, a, o = t.soft_branch_fading[b], t.soft_strain[own], t.soft_strain[own + 1]
        stored, both = mixed_energy(t, g, a, o, a, o), mixed_energy(t, g, a, o, dc, do)
        each = dashpot_loss(t, k, stored, both, mixed_energy(t, g, dc, do, dc, do))
        lost += t.soft_weight[t.soft_points_begin[e] + p] * t.soft_branch_share[b] * each
        t.soft_strain[own] = t.fading_left[k] * a + t.fading_mean[k] * dc
        t.soft_strain[own + 1] = t.fading_left[k] * o + t.fading_mean[k] * do
    return lost


@compiled
def branch_density(t: Tables, e: int, p: int) -> float:
    """Return the elastic energy density [J/m3] in the springs of the Maxwell branches at quadrature point p of
    soft element e. A branch is a spring and a dashpot in series; its energy is the small-strain elastic energy of
    its spring strain times the branch's relative modulus. ``t`` contains all arrays of the model and its state."""
    g, stored = t.soft_group[e], 0.0
    count = t.soft_branches_count[g]
    for n in range(count):
        k = 2 * (t.soft_creeps_begin[e] + p * count + n)
        a, q = t.soft_strain[k], t.soft_strain[k + 1]
        stored += 0.5 * t.soft_branch_share[t.soft_branches_begin[g] + n] * mixed_energy(t, g, a, q, a, q)
    return stored


@exported
def add_soft_forces(t: Tables, h: float, damping: float) -> None:
    """Add h times the mean internal forces of all soft elements to the residuals of their nodes in
    ``t.residual``. Internal forces are derivatives of the strain energy, positive where they resist a
    displacement, with damping and Maxwell branches. The energies stored and lost in the time step of length h
    [s] are added to ``t.family_work`` [J]; ``damping`` is numerical damping. ``t`` contains all arrays of the
    model and its state."""
    for e in range(t.soft_elements):
        g, gamma = t.soft_group[e], soft_gamma(t, e, h, damping)
        k, first = t.soft_nodes_count[e], t.soft_nodes_begin[e]
        for p in range(t.soft_points_count[e]):
            weight, slope = t.soft_weight[t.soft_points_begin[e] + p], t.soft_slopes_begin[e] + p * k
            F, dF, c, o, dc, do = strained_point(t, e, p)
            s, r = mean_stress(t, g, c, o, dc, do, 0.0)
            change = weight * (0.5 * dot(s, dc) + dot(r, do))
            if any_of(gamma != 0.0):
                v, q = mean_stress(t, g, c, o, dc, do, gamma)
                t.family_work[2] += weight * (0.5 * dot(v - s, dc) + dot(q - r, do))
                s, r = v, q
            if t.soft_branches_count[g] > 0:
                v, q = branch_stress(t, e, p, dc, do, h)
                change += weight * (0.5 * dot(v, dc) + dot(q, do))
                s, r = s + v, r + q
            t.family_work[0] += change
            t.family_work[1] += abs(change)
            stress = (h * weight) * (symmetric(s, r) @ (F + 0.5 * dF))
            for i in range(k):
                pull = t.soft_gradient[slope + i] @ stress
                add_components(t.residual + t.velocities_begin[t.soft_node[first + i]], 1, pull, t.dimension)


@exported
def add_soft_tangents(t: Tables, h: float, damping: float) -> None:
    """Add h times the derivatives of the internal forces of all soft elements to Newton's matrix, for a time step
    of length h. The derivatives, with respect to nodal velocities at the end, are added to the blocks of pairs of
    nodes of an element in ``t.blocks``. ``damping`` is numerical damping, a multiple of the stiffness. ``t``
    contains all arrays of the model and its state."""
    for e in range(t.soft_elements):
        for p in range(t.soft_points_count[e]):
            _add_point_tangent(t, e, p, h, damping)


@compiled
def _add_point_tangent(t: Tables, e: int, p: int, h: float, damping: float) -> None:
    g, gamma, k, first = t.soft_group[e], soft_gamma(t, e, h, damping), t.soft_nodes_count[e], t.soft_nodes_begin[e]
    weight, slope = 0.5 * h * h * t.soft_weight[t.soft_points_begin[e] + p], t.soft_slopes_begin[e] + p * k
    F, dF, c, o, dc, do = strained_point(t, e, p)
    mean, end = F + 0.5 * dF, F + dF
    s, r = mean_stress(t, g, c, o, dc, do, gamma)
    if t.soft_branches_count[g] > 0:
        v, q = branch_stress(t, e, p, dc, do, h)
        s, r = s + v, r + q
    set_stress_tangent(t, g, c, o, dc, do, gamma + branch_gain(t, g, h))
    stress = symmetric(s, r)
    for j in range(k):
        n, b = t.soft_gradient[slope + j], t.soft_node[first + j]
        width, m = t.carrier_stride[b], (0.5 * weight) * (stress @ n)
        for axis in range(t.dimension):
            u, v, w = along(row(end, 0), axis), along(row(end, 1), axis), along(row(end, 2), axis)
            shears = vector(n.y * w + n.z * v, n.x * w + n.z * u, n.x * v + n.y * u)
            a, q = tangent_product(t.soft_tangent, weight * vector(n.x * u, n.y * v, n.z * w), weight * shears)
            change = symmetric(a, q) @ mean
            for i in range(k):
                own = t.soft_gradient[slope + i]
                pull = own @ change
                block = t.blocks + (t.soft_block[t.soft_pairs_begin[e] + i * k + j] + axis)
                add_components(block, width, pull, t.dimension)
                block[axis * width] += dot(own, m)


@exported
def add_soft_energy(t: Tables) -> None:
    """Add the elastic energy of all soft elements at the present state, with that of their Maxwell branches, to
    the strain energy ``t.energy[1]`` [J]. It is integrated by quadrature of the strain energy density. ``t``
    contains all arrays of the model and its state."""
    for e in range(t.soft_elements):
        g = t.soft_group[e]
        for p in range(t.soft_points_count[e]):
            c, o = metric(t, e, deformation_gradient(t, e, p, t.position))
            weight = t.soft_weight[t.soft_points_begin[e] + p]
            t.energy[1] += weight * (density(t, g, c, o) + branch_density(t, e, p))


# Pressure on the surfaces of soft bodies over a step, and its work (docs/theory.md, 5).
#
# A face at x(r, s) has the normal n = x,r x x,s, a quadratic function of its nodes: its mean along the way from x_n
# to x_{n+1} is mean(x,r) x mean(x,s) + delta(x,r) x delta(x,s)/12, and forces p N n of it do the work p delta(V)
# exactly on a closed surface (5.17).


@compiled
def face_tangents(t: Tables, f: int, p: int, x: Vectors) -> tuple[Vector, Vector]:
    """Return the two tangent vectors of face f of a soft body at its quadrature point p, for the nodal positions
    x. They are derivatives of the position with respect to the two reference coordinates of the face. If x
    contains the displacements of the nodes in the time step, the results are changes of the tangent vectors. ``t``
    contains all arrays of the model and its state."""
    m, nodes = t.face_nodes_count[f], t.face_node + t.face_nodes_begin[f]
    rows = nodal_slopes(x, nodes, t.face_value + (t.face_shape[f] + p * m), m)
    return row(rows, 1), row(rows, 2)


@compiled
def mean_normal(t: Tables, f: int, p: int) -> Vector:
    """Return the mean over the time step of the normal dx/dxi_1 x dx/dxi_2 of face f of a soft body at its
    quadrature point p. It is exact for nodes that move along straight lines; its length is the area per reference
    area, its axes are world axes. ``t`` contains all arrays of the model and its state."""
    (u, v), (du, dv) = face_tangents(t, f, p, t.position), face_tangents(t, f, p, t.shift)
    return cross(u + 0.5 * du, v + 0.5 * dv) + (1.0 / 12.0) * cross(du, dv)


@exported
def add_pressures(t: Tables, h: float) -> None:
    """Add the forces of all pressures on faces of soft bodies over a time step of length h to the nodal balances
    in ``t.residual``. A positive pressure pushes along the normal of the face that the order of its nodes defines.
    Forces of the environment enter the balances with a minus sign, times h. ``t`` contains all arrays of the model
    and its state."""
    for q in range(t.loads):
        for f in range(t.faces_begin[q], t.faces_end[q]):
            m, first = t.face_nodes_count[f], t.face_nodes_begin[f]
            for p in range(t.face_point_count[f]):
                push, shape = (h * t.load_value[q].x) * mean_normal(t, f, p), t.face_shape[f] + p * m
                for i in range(m):
                    rows = t.residual + t.velocities_begin[t.face_node[first + i]]
                    add_components(rows, 1, -t.face_value[shape + i].x * push, t.dimension)


@exported
def pressure_work(t: Tables, q: int) -> float:
    """Return the work [J] of pressure load q in the time step: pressure times the volume that its faces sweep. It
    is integrated by quadrature from nodal displacements and mean normals of the faces, so that it is positive for
    motion along the normal at positive pressure. ``t`` contains all arrays of the model and its state."""
    work = 0.0
    for f in range(t.faces_begin[q], t.faces_end[q]):
        m, first = t.face_nodes_count[f], t.face_nodes_begin[f]
        for p in range(t.face_point_count[f]):
            moved, shape = vector(0.0, 0.0, 0.0), t.face_shape[f] + p * m
            for i in range(m):
                moved += t.face_value[shape + i].x * t.shift[t.face_node[first + i]]
            work += t.load_value[q].x * dot(moved, mean_normal(t, f, p))
    return work


@exported
def add_pressure_tangents(t: Tables, h: float) -> None:
    """Subtract h times the derivatives of the forces of all pressures on soft bodies from Newton's matrix
    ``t.blocks``. They arise since the normals and areas of the faces change. The derivatives are with respect to
    nodal velocities at the end of a time step of length h [s], in the blocks of pairs of nodes of a face. Other
    loads are skipped. ``t`` contains all arrays of the model and its state."""
    for q in range(t.loads):
        if t.load_kind[q] != PRESSURE:
            continue
        factor = 0.5 * h * h * t.load_value[q].x
        for f in range(t.faces_begin[q], t.faces_end[q]):
            m, first, pairs = t.face_nodes_count[f], t.face_nodes_begin[f], t.face_pairs_begin[f]
            for p in range(t.face_point_count[f]):
                shape = t.face_shape[f] + p * m
                (u, v), (du, dv) = face_tangents(t, f, p, t.position), face_tangents(t, f, p, t.shift)
                u, v = 0.5 * u + (1.0 / 3.0) * du, 0.5 * v + (1.0 / 3.0) * dv
                for j in range(m):
                    n, width = t.face_value[shape + j], t.carrier_stride[t.face_node[first + j]]
                    arm = factor * (n.y * v - n.z * u)
                    for axis in range(t.dimension):
                        push = cross(unit(axis), arm)
                        for i in range(m):
                            block = t.blocks + (t.face_block[pairs + i * m + j] + axis)
                            add_components(block, width, -t.face_value[shape + i].x * push, t.dimension)
