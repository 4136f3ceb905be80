"""Stress of soft bodies over a step: the discrete gradient of W(C), and its derivative (docs/theory.md, 5).

Symmetric tensors are two vectors: (11, 22, 33) and (23, 13, 12). Functions of one invariant have the quotient
delta(h) / delta(x) without cancellation; invariants have the mean of their gradients along the way from C_n to
C_{n+1}, so that S : delta(E) is delta(W) exactly (5.14).
"""

from math import exp, expm1, log, log1p, nan

from phlexible.compilation.compiled import compiled
from phlexible.compilation.notation import Tables, Vector, dot, vector
from phlexible.compilation.user_function import call
from phlexible.kernels.forces.laws import GAUSS, log_slope, user_gradient
from phlexible.tables.declarations import (
    LOGARITHMS,
    NOTHING,
    OF_USER,
    PROPORTIONAL,
    QUADRATIC,
    RECIPROCAL,
)

NEAR = 0.1  # relative change below which a slope is integrated, not an energy divided
DIFFERENCE = 1e-4  # and below which its derivative is that in the middle
MOST_ITERATIONS = 60


@compiled
def contraction(a: Vector, x: Vector, b: Vector, y: Vector) -> float:
    """A : B of tensors (a, x) and (b, y)."""
    return dot(a, b) + 2.0 * dot(x, y)


@compiled
def cofactor_diagonal(a: Vector, x: Vector, b: Vector, y: Vector) -> Vector:
    """(11, 22, 33) of the bilinear form whose value at (A, A) is the cofactor matrix of A."""
    return vector(
        0.5 * (a.y * b.z + a.z * b.y) - x.x * y.x,
        0.5 * (a.z * b.x + a.x * b.z) - x.y * y.y,
        0.5 * (a.x * b.y + a.y * b.x) - x.z * y.z,
    )


@compiled
def cofactor_sides(a: Vector, x: Vector, b: Vector, y: Vector) -> Vector:
    """(23, 13, 12) of it."""
    return vector(
        0.5 * (x.y * y.z + x.z * y.y - a.x * y.x - x.x * b.x),
        0.5 * (x.x * y.z + x.z * y.x - a.y * y.y - x.y * b.y),
        0.5 * (x.x * y.y + x.y * y.x - a.z * y.z - x.z * b.z),
    )


@compiled
def total(a: Vector) -> float:
    """a_1 + a_2 + a_3."""
    return a.x + a.y + a.z


@compiled
def log_of_thickness_squared(t: Tables, q: int, x: float) -> float:
    """log c of a sheet with det C = x that has no stress across it."""
    ratio = t.soft_first_number[q] / (2.0 * t.soft_second_number[q])
    log_x = log(x)
    log_c = -log_x * ratio / (1.0 + ratio)
    for _ in range(MOST_ITERATIONS):
        change = (expm1(log_c) + ratio * (log_x + log_c)) / (exp(log_c) + ratio)
        log_c -= change
        if abs(change) <= 1e-15 * abs(log_c):
            break
    return log_c


@compiled
def thickness_squared(t: Tables, q: int, x: float) -> float:
    """c of it."""
    return exp(log_of_thickness_squared(t, q, x))


@compiled
def undeformed_value(q: int) -> float:
    """Of the invariant that function q takes: each group has one of I_1, of I_2 and of det C."""
    return 1.0 if q % 3 == 2 else 3.0


@compiled
def energy_of(t: Tables, q: int, change: float) -> float:
    """Function q where its invariant differs so much from its undeformed value [J/m3].

    Told by the difference, parts that cancel at small strains are small themselves.
    """
    kind, a, b = t.soft_function[q], t.soft_first_number[q], t.soft_second_number[q]
    x = undeformed_value(q) + change
    if kind == NOTHING:
        return 0.0
    if kind == PROPORTIONAL:
        return a * change
    if kind == OF_USER:
        return call(t.soft_energy[q], x)
    if not x > 0.0:
        return nan
    if kind == LOGARITHMS:
        return (a + b * log1p(change)) * log1p(change)
    if kind == RECIPROCAL:
        return -a * change / x
    log_c = log_of_thickness_squared(t, q, x)
    volume = log1p(change) + log_c
    return 0.5 * b * (expm1(log_c) - volume) + 0.125 * a * volume * volume


@compiled
def slope_of(t: Tables, q: int, x: float) -> float:
    """Its derivative, of a sheet whose thickness follows."""
    return -0.5 * t.soft_second_number[q] * thickness_squared(t, q, x) / x


@compiled
def quotient(t: Tables, q: int, x: float, change: float) -> tuple[float, float]:
    """delta(h) / delta(x) of function q, and its derivative to the end."""
    kind, a, b, end = t.soft_function[q], t.soft_first_number[q], t.soft_second_number[q], x + change
    if kind == NOTHING:
        return 0.0, 0.0
    if kind == PROPORTIONAL:
        return a, 0.0
    if kind == OF_USER:
        return user_gradient(t.soft_energy[q], t.soft_derivative[q], x, change, abs(x), a)
    if not (x > 0.0 and end > 0.0):
        return nan, nan
    if kind == LOGARITHMS:
        d = change / x
        ratio = log1p(d) / d if d != 0.0 else 1.0
        logs = a + b * (2.0 * log(x) + log1p(d))
        return ratio / x * logs, log_slope(d) / (x * x) * logs + ratio / x * b / end
    if kind == RECIPROCAL:
        return -a / (x * end), a / (x * end * end)
    if abs(change) > NEAR * x:
        strained = x - undeformed_value(q)
        value = (energy_of(t, q, strained + change) - energy_of(t, q, strained)) / change
        return value, (slope_of(t, q, end) - value) / change
    middle, value = x + 0.5 * change, 0.0
    for point in range(4):
        place, weight = GAUSS[point]
        place *= 0.5 * change
        value += 0.5 * weight * (slope_of(t, q, middle - place) + slope_of(t, q, middle + place))
    if abs(change) > DIFFERENCE * x:
        return value, (slope_of(t, q, end) - value) / change
    c = thickness_squared(t, q, middle)
    growth = -0.5 * a / middle / (b + 0.5 * a / c)
    bend = -0.5 * b * (growth / middle - c / (middle * middle))
    return value, 0.5 * bend


@compiled
def density(t: Tables, g: int, c: Vector, x: Vector) -> float:
    """W(C) of group g [J/m3]."""
    if t.soft_law[g] == QUADRATIC:
        e = 0.5 * (c - vector(1.0, 1.0, 1.0))
        trace = total(e)
        return 0.5 * t.soft_lame[g] * trace * trace + t.soft_shear[g] * (dot(e, e) + 0.5 * dot(x, x))
    e = c - vector(1.0, 1.0, 1.0)
    a, y = cofactor_diagonal(e, x, e, x), cofactor_sides(e, x, e, x)
    first, second, third = total(e), total(a), (dot(a, e) + 2.0 * dot(x, y)) / 3.0  # invariants of C - I
    energy = energy_of(t, 3 * g, first) + energy_of(t, 3 * g + 1, 2.0 * first + second)
    return energy + energy_of(t, 3 * g + 2, first + second + third)


@compiled
def mean_stress(
    t: Tables, g: int, c: Vector, x: Vector, dc: Vector, dx: Vector, gamma: float
) -> tuple[Vector, Vector]:
    """S over a step from C = (c, x) that changes by (dc, dx), with gamma D delta(E) of viscosity."""
    lame, shear, one = t.soft_lame[g], t.soft_shear[g], vector(1.0, 1.0, 1.0)
    trace = 0.5 * gamma * lame * total(dc)
    s, z = trace * one + (gamma * shear) * dc, (gamma * shear) * dx
    m, n = c + 0.5 * dc, x + 0.5 * dx
    if t.soft_law[g] == QUADRATIC:
        e = m - one
        return s + (0.5 * lame * total(e)) * one + shear * e, z + shear * n
    ec, ex = c + dc, x + dx
    f = quotient(t, 3 * g, total(c), total(dc))[0]
    a, y = mean_cofactor_diagonal(c, x, ec, ex), mean_cofactor_sides(c, x, ec, ex)
    volume = contraction(cofactor_diagonal(c, x, c, x), cofactor_sides(c, x, c, x), c, x) / 3.0
    h = quotient(t, 3 * g + 2, volume, contraction(a, y, dc, dx))[0]
    s, z = s + (2.0 * f) * one + (2.0 * h) * a, z + (2.0 * h) * y
    if t.soft_function[3 * g + 1] != NOTHING:
        rest = total(m) * one - m
        second = quotient(t, 3 * g + 1, total(cofactor_diagonal(c, x, c, x)), contraction(rest, -n, dc, dx))[0]
        s, z = s + (2.0 * second) * rest, z - (2.0 * second) * n
    return s, z


@compiled
def mean_cofactor_diagonal(c: Vector, x: Vector, ec: Vector, ex: Vector) -> Vector:
    """Mean of the cofactor along the way from (c, x) to (ec, ex): a third of each bilinear form."""
    third = 1.0 / 3.0
    both = cofactor_diagonal(c, x, c, x) + cofactor_diagonal(c, x, ec, ex)
    return third * (both + cofactor_diagonal(ec, ex, ec, ex))


@compiled
def mean_cofactor_sides(c: Vector, x: Vector, ec: Vector, ex: Vector) -> Vector:
    """Its sides."""
    third = 1.0 / 3.0
    both = cofactor_sides(c, x, c, x) + cofactor_sides(c, x, ec, ex)
    return third * (both + cofactor_sides(ec, ex, ec, ex))


@compiled
def write_tangent(t: Tables, g: int, c: Vector, x: Vector, dc: Vector, dx: Vector, gamma: float) -> None:
    """Derivative of ``mean_stress`` to E_{n+1} into ``soft_tangent``: column s at 6 s, shear strains twice."""
    lame, shear, one = t.soft_lame[g], t.soft_shear[g], vector(1.0, 1.0, 1.0)
    ec, ex, is_quadratic = c + dc, x + dx, t.soft_law[g] == QUADRATIC
    spread, own = 0.5 * gamma * lame, gamma * shear
    if is_quadratic:
        spread, own = spread + 0.25 * lame, own + 0.5 * shear
    a, y, end, side, rest, sides = one, one, one, one, one, one
    f1, g0, g1, h0, h1 = 0.0, 0.0, 0.0, 0.0, 0.0
    weighted, weighted_sides = (1.0 / 3.0) * (c + 2.0 * ec), (1.0 / 3.0) * (x + 2.0 * ex)
    if not is_quadratic:
        a, y = mean_cofactor_diagonal(c, x, ec, ex), mean_cofactor_sides(c, x, ec, ex)
        end, side = cofactor_diagonal(ec, ex, ec, ex), cofactor_sides(ec, ex, ec, ex)
        m, sides = c + 0.5 * dc, -(x + 0.5 * dx)
        rest = total(m) * one - m
        f1 = quotient(t, 3 * g, total(c), total(dc))[1]
        start = cofactor_diagonal(c, x, c, x)
        volume = contraction(start, cofactor_sides(c, x, c, x), c, x) / 3.0
        h0, h1 = quotient(t, 3 * g + 2, volume, contraction(a, y, dc, dx))
        g0, g1 = quotient(t, 3 * g + 1, total(start), contraction(rest, sides, dc, dx))
    for s in range(6):
        u = vector(2.0 if s == 0 else 0.0, 2.0 if s == 1 else 0.0, 2.0 if s == 2 else 0.0)
        v = vector(1.0 if s == 3 else 0.0, 1.0 if s == 4 else 0.0, 1.0 if s == 5 else 0.0)
        trace = total(u)
        d, z = (spread * trace) * one + own * u, own * v
        if not is_quadratic:
            by_volume = 2.0 * h1 * contraction(end, side, u, v)
            by_second = 2.0 * g1 * contraction(total(ec) * one - ec, -ex, u, v)
            d += (2.0 * f1 * trace) * one + by_volume * a + by_second * rest + g0 * (trace * one - u)
            z += by_volume * y + by_second * sides - g0 * v
            d += (2.0 * h0) * cofactor_diagonal(weighted, weighted_sides, u, v)
            z += (2.0 * h0) * cofactor_sides(weighted, weighted_sides, u, v)
        column = t.soft_tangent + 6 * s
        column[0], column[1], column[2] = d.x, d.y, d.z
        column[3], column[4], column[5] = z.x, z.y, z.z
