"""Products of the papers' matrices of floating bodies, for many states, without the matrices (docs/theory.md, 2).

What ``papers/floating_forms.py`` writes as matrices E, J, R, B and efforts z, here as loops: the integrators of the
port-Hamiltonian form ask for little else. The variants differ in a few factors, see ``FACTORS``. All bodies of a
model are in one call, since a call from Python takes longer than the products of a small body.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from phlexible.algebra.arrays import Array, IntArray
from phlexible.step.compilation.compiled import FAST, entry_point

EFFORTS, FLOWS, DESCRIPTOR, OUTPUTS, ALL_OUTPUTS, DEFECTS, SOLUTIONS = 0, 1, 2, 3, 4, 5, 6
"""z(x), (J - R) z + B u, E z, B^T z without and with the distributed port, E z - (J - R) z(x) - B u, E^-1 z."""

FACTORS = ("inertia", "momentum", "field", "rate", "elastic_field", "elastic_rate", "slope", "arms")
"""Shares: of u_f in the inertia; of v_f in p_t~ and p_r~; of p_f and of v_f in the row and in the column of w; of
the kinetic slope; of u_f in lever arms."""


@njit(fastmath=FAST, error_model="numpy")
def cross_into(a, b, out):
    """out = a x b."""
    x = a[1] * b[2] - a[2] * b[1]
    y = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
    out[0] = x
    out[1] = y


@njit(fastmath=FAST, error_model="numpy")
def moment_products(second, filled, xi, out):
    """W[a, b] xi, shape (3, 3, n + 1)."""
    count = len(xi)
    for a in range(3):
        for b in range(3):
            for i in range(count):
                total = 0.0
                if filled[a, b]:
                    for j in range(count):
                        total += second[a, b, i, j] * xi[j]
                out[a, b, i] = total


@njit(fastmath=FAST, error_model="numpy")
def rigid_momenta(mass, first, v, w, xi, products, linear, angular, center, work):
    """m v + w x c and c x v + J w with c = S xi (2.5)."""
    for a in range(3):
        center[a] = 0.0
        for i in range(len(xi)):
            center[a] += first[a, i] * xi[i]
    cross_into(w, center, linear)
    cross_into(center, v, angular)
    trace = 0.0
    for a in range(3):
        linear[a] += mass * v[a]
        work[a] = 0.0
        for b in range(3):
            spread = 0.0
            for i in range(len(xi)):
                spread += products[a, b, i] * xi[i]
            work[a] += spread * w[b]
            if a == b:
                trace += spread
    for a in range(3):
        angular[a] += trace * w[a] - work[a]


class BodyTables(NamedTuple):
    """What compiled products know of a body, in the order in which they unpack it.

    Attributes:
        factors: see ``FACTORS``; shape (8,).
        constants: mass, viscosity.
        gravity: world axes, shape (3,).
        fixed: rotation of a body that has none, shape (9,).
        first, second, filled: S, W and which W[a, b] are not zero.
        rows, squares, weights, compliance: of the stress space.
        damping, elasticity: C, and M_sigma^-1 (empty without viscosity).
        inverse_mass: of the elastic coordinates (empty: v_f is du_f/dt).
        positions, shapes, turns: of the ports, see ``PortPoints``.
        kept: places of the states among all.
        forces, moments, axes: numbers of the inputs at each point, and the axes of moments.
    """

    factors: Array
    constants: Array
    gravity: Array
    fixed: Array
    first: Array
    second: Array
    filled: Array
    rows: Array
    squares: Array
    weights: Array
    compliance: Array
    damping: Array
    elasticity: Array
    inverse_mass: Array
    positions: Array
    shapes: Array
    turns: Array
    kept: IntArray
    forces: IntArray
    moments: IntArray
    axes: IntArray


INTEGERS = 4
"""The last so many of ``BodyTables`` hold integers."""

CONVECTION, ARMS, INERTIA, RATE = range(4)

STATE, PORT, REALS, WHOLES, ELASTIC, STRESSES, SQUARES, DAMPED, VISCOUS, CONVERTED = range(10)
POINTS, TURNS, KEPT, PLANE, AXES = range(10, 15)
"""Columns of the header: where states, ports and tables of a body begin; sizes."""


def packed(
    bodies: Sequence[BodyTables], states: Sequence[int], ports: Sequence[int]
) -> tuple[IntArray, Array, IntArray]:
    """Header (bodies, 15), real numbers and integers of all bodies, whose states and ports begin there."""
    header, reals, wholes = (
        np.zeros((len(bodies), 15), dtype=np.int64),
        [np.zeros(0)],
        [np.zeros(0, dtype=np.int64)],
    )
    places = [0, 0]
    for k, body in enumerate(bodies):
        header[k] = [
            states[k], ports[k], *places, body.shapes.shape[2], len(body.compliance), len(body.squares),
            len(body.damping), len(body.elasticity), len(body.inverse_mass), len(body.positions), len(body.turns),
            len(body.kept), body.forces.shape[1], len(body.axes),
        ]  # fmt: skip
        for each, found, at in ((body[:-INTEGERS], reals, 0), (body[-INTEGERS:], wholes, 1)):
            found += [np.ravel(table) for table in each]
            places[at] += sum(table.size for table in each)
    return header, np.concatenate(reals).astype(np.float64), np.concatenate(wholes).astype(np.int64)


@njit(fastmath=FAST, error_model="numpy")
def unpacked(body, reals, wholes):
    """The tables of a body, of which ``body`` is its row of the header."""
    n, s, k, d, e, c = body[ELASTIC], body[STRESSES], body[SQUARES], body[DAMPED], body[VISCOUS], body[CONVERTED]
    p, t, m, a, i = body[POINTS], body[TURNS], n + 1, body[REALS] + 22, body[WHOLES]
    first = reals[a : a + 3 * m].reshape(3, m)
    a += 3 * m
    second = reals[a : a + 9 * m * m].reshape(3, 3, m, m)
    a += 9 * m * m
    filled = reals[a : a + 9].reshape(3, 3)
    a += 9
    rows = reals[a : a + s * n].reshape(s, n)
    a += s * n
    squares = reals[a : a + k * n].reshape(k, n)
    a += k * n
    weights = reals[a : a + s * k].reshape(s, k)
    a += s * k
    compliance = reals[a : a + s * s].reshape(s, s)
    a += s * s
    damping = reals[a : a + d * d].reshape(d, d)
    a += d * d
    elasticity = reals[a : a + e * e].reshape(e, e)
    a += e * e
    inverse_mass = reals[a : a + c * c].reshape(c, c)
    a += c * c
    positions = reals[a : a + 3 * p].reshape(p, 3)
    a += 3 * p
    shapes = reals[a : a + 3 * p * n].reshape(p, 3, n)
    a += 3 * p * n
    turns = reals[a : a + 3 * t * n].reshape(t, 3, n)
    kept = wholes[i : i + body[KEPT]]
    i += body[KEPT]
    forces = wholes[i : i + p * body[PLANE]].reshape(p, body[PLANE])
    i += p * body[PLANE]
    moments = wholes[i : i + t * body[AXES]].reshape(t, body[AXES])
    i += t * body[AXES]
    axes, a = wholes[i : i + body[AXES]], body[REALS]
    return (
        reals[a : a + 8], reals[a + 8 : a + 10], reals[a + 10 : a + 13], reals[a + 13 : a + 22], first, second,
        filled, rows, squares, weights, compliance, damping, elasticity, inverse_mass, positions, shapes, turns,
        kept, forces, moments, axes,
    )  # fmt: skip


@njit(fastmath=FAST, error_model="numpy")
def workspace(n, s, squares):
    """What products of a body write on the way."""
    size = 18 + 2 * n + s
    return (
        np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(n + 1), np.zeros(n + 1), np.zeros(n),
        np.zeros((3, 3, n + 1)), np.zeros((3, 3, n + 1)), np.zeros((n, 3)), np.zeros((7, 3)), np.zeros(n),
        np.zeros(n), np.zeros(squares), np.zeros(s),
    )  # fmt: skip


@njit(fastmath=FAST, error_model="numpy")
def spread_momenta(mass, first, second, v, w, rate, P, center, out):
    """The velocity field against uniform fields and against Phi, shape (d + n,); P: moments with lever arms."""
    n = len(rate)
    d = len(out) - n
    cross_into(w, center, center)
    for a in range(d):
        out[a] = mass * v[a] + center[a]
        for i in range(n):
            out[a] += first[a, i + 1] * rate[i]
    for i in range(n):
        total = 0.0
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            total += v[a] * first[a, i + 1] + w[a] * (P[c, b, i + 1] - P[b, c, i + 1])
            for j in range(n):
                total += second[a, a, i + 1, j + 1] * rate[j]
        out[d + i] = total


@njit(fastmath=FAST, error_model="numpy")
def spread_force(mass, first, second, u, P, center, rigid, pull):
    """Adds what a uniform force and one along Phi do, each per mass, to the rows of (v, w) and of v_f: dual to
    ``spread_momenta``."""
    n = len(pull)
    d = len(u) - n
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        for i in range(n):
            rigid[3 + a] += (P[c, b, i + 1] - P[b, c, i + 1]) * u[d + i]
            rigid[a] += first[a, i + 1] * u[d + i]
            for j in range(n):
                pull[i] += second[a, a, i + 1, j + 1] * u[d + j]
    for a in range(d):
        rigid[a] += mass * u[a]
        b, c = (a + 1) % 3, (a + 2) % 3  # of the moment of the centre: c x e_a = c_c e_b - c_b e_c
        rigid[3 + b] += center[c] * u[a]
        rigid[3 + c] -= center[b] * u[a]
        for i in range(n):
            pull[i] += first[a, i + 1] * u[a]


@njit(fastmath=FAST, error_model="numpy")
def body_product(what, tables, space, is_known, x, z, u, out):
    """Efforts (EFFORTS), E z (DESCRIPTOR), (J - R) z + B u (FLOWS) or B^T z (OUTPUTS) of one body at one state.

    Args:
        is_known: whether the moments of the state are those of the last product.
    """
    (
        factors, constants, gravity, fixed, first, second, filled, rows, squares, weights, compliance, damping,
        elasticity, inverse_mass, positions, shapes, turns, kept, forces, moments, axes,
    ) = tables  # fmt: skip
    state, effort, result, xi, xi_inertia, bent, P, Q, N, vectors, pull, pushed, slopes, tested = space
    linear, angular, center, work, point, force, field = (
        vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], vectors[5], vectors[6],
    )  # fmt: skip
    n, s, d = shapes.shape[2], len(compliance), forces.shape[1]
    q, nu, mass, viscosity = 12 + n, 18 + n, constants[0], constants[1]
    spread = d * len(positions) + len(axes) * len(turns)  # the first input of the distributed force
    state[:], effort[:], result[:] = 0.0, 0.0, 0.0
    state[3:12] = fixed
    for k in range(len(kept)):
        state[kept[k]] = x[k]
        if what != EFFORTS:
            effort[kept[k]] = z[k]
    eta, v, w, rate = state[12:q], state[q : q + 3], state[q + 3 : nu], state[nu : nu + n]
    given_v, given_w, given_rate = effort[q : q + 3], effort[q + 3 : nu], effort[nu : nu + n]
    is_pushed = len(out) > spread if what == OUTPUTS else what == FLOWS and (u[spread:] != 0.0).any()
    for i in range(n):
        bent[i], pushed[i] = given_rate[i], 0.0
        for k in range(3):
            N[i, k] = 0.0
    # moments at the displacement of the convection, of lever arms, of the inertia, and of its rate
    for kind in range(CONVECTION, ARMS + 1 if what == OUTPUTS else RATE + 1):
        if (kind == CONVECTION and not len(inverse_mass)) or (kind == ARMS and not is_pushed):
            continue
        xi[0] = 1.0 if kind == ARMS or kind == INERTIA else 0.0
        share = 1.0 if kind == CONVECTION else (factors[7] if kind == ARMS else factors[0])
        for i in range(n):
            if kind == RATE:
                xi[i + 1] = given_rate[i] if what == DESCRIPTOR else rate[i]
            else:
                xi[i + 1] = share * eta[i]
        is_same = kind == INERTIA and not is_pushed and not len(inverse_mass)
        is_same = is_same or (kind == RATE and what == FLOWS)
        if not (is_known and is_same):
            found = Q if kind == RATE else P
            moment_products(second, filled, xi, found)
        if kind == CONVECTION:
            for k in range(3):
                a, b = (k + 1) % 3, (k + 2) % 3
                for i in range(n):
                    N[i, k] = 0.0
                    for j in range(n):
                        N[i, k] += inverse_mass[i, j] * (P[a, b, j + 1] - P[b, a, j + 1])
                    bent[i] += N[i, k] * given_w[k]
        elif kind == ARMS:
            for a in range(3):
                work[a] = 0.0
                for i in range(n + 1):
                    work[a] += first[a, i] * xi[i]
            if what == OUTPUTS:
                spread_momenta(mass, first, second, given_v, given_w, bent, P, work, out[spread:])
            else:
                spread_force(mass, first, second, u[spread:], P, work, result[q:nu], pushed)
        elif kind == INERTIA:
            for i in range(n + 1):
                xi_inertia[i] = xi[i]
    if what == OUTPUTS:
        for k in range(len(positions)):
            for a in range(3):
                point[a] = positions[k, a]
                for i in range(n):
                    point[a] += factors[7] * shapes[k, a, i] * eta[i]
            cross_into(given_w, point, force)
            for a in range(d):
                total = given_v[a] + force[a]
                for i in range(n):
                    total += shapes[k, a, i] * bent[i]
                out[forces[k, a]] = total
        for k in range(len(turns)):
            for c in range(len(axes)):
                total = given_w[axes[c]]
                for i in range(n):
                    total += turns[k, axes[c], i] * bent[i]
                out[moments[k, c]] = total
        return
    moving_v, moving_w = (given_v, given_w) if what == DESCRIPTOR else (v, w)
    if what != EFFORTS:
        rigid_momenta(mass, first, moving_v, moving_w, xi_inertia, P, linear, angular, center, work)
    if what == DESCRIPTOR:
        for a in range(3):
            for i in range(n + 1):
                linear[a] += first[a, i] * xi[i]
            b, c = (a + 1) % 3, (a + 2) % 3
            for i in range(n):
                crossed = P[c, b, i + 1] - P[b, c, i + 1]
                angular[a] += crossed * xi[i + 1]
                result[nu + i] += given_w[a] * crossed + Q[a, a, i + 1] + given_v[a] * first[a, i + 1]
        result[:q] = effort[:q]
        result[q : q + 3], result[q + 3 : nu] = linear, angular
        for i in range(s):
            for j in range(s):
                result[nu + n + i] += compliance[i, j] * effort[nu + n + j]
    elif what == EFFORTS:
        square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
        cross_into(v, w, work)
        for a in range(3):
            result[a] = -mass * gravity[a]
            center[a], point[a] = first[a, 0], 0.0
            for b in range(3):
                point[a] += gravity[b] * state[3 + 3 * b + a]
            for i in range(n):
                center[a] += first[a, i + 1] * eta[i]
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            for k in range(3):
                result[3 + 3 * a + k] = -gravity[a] * center[k]
            for i in range(n):
                slope = work[a] * first[a, i + 1] + square * P[a, a, i + 1]
                slope -= w[a] * (Q[c, b, i + 1] - Q[b, c, i + 1])
                for k in range(3):
                    slope -= w[a] * w[k] * P[a, k, i + 1]
                result[12 + i] += factors[6] * slope - point[a] * first[a, i + 1]
        result[q:] = state[q:]
    else:
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            for i in range(n + 1):
                linear[a] += factors[1] * first[a, i] * xi[i]
                angular[a] -= factors[1] * (Q[c, b, i] - Q[b, c, i]) * xi_inertia[i]
        cross_into(linear, given_w, force)
        cross_into(linear, given_v, field)
        cross_into(angular, given_w, work)
        for a in range(3):
            result[q + a] += force[a]
            result[q + 3 + a] += field[a] + work[a]
        for a in range(3):
            for b in range(3):
                result[a] += state[3 + 3 * a + b] * given_v[b]
                result[q + a] -= state[3 + 3 * b + a] * effort[b]
            cross_into(state[3 + 3 * a : 6 + 3 * a], given_w, result[3 + 3 * a : 6 + 3 * a])
            cross_into(state[3 + 3 * a : 6 + 3 * a], effort[3 + 3 * a : 6 + 3 * a], work)
            for b in range(3):
                result[q + 3 + b] += work[b]
        for k in range(len(squares)):
            slopes[k] = 0.0
            for i in range(n):
                slopes[k] += squares[k, i] * eta[i]
        # the rate of the tested strain, and what the stress and the damping pull at
        for k in range(len(squares)):
            total = 0.0
            for i in range(n):
                total += squares[k, i] * bent[i]
            total *= slopes[k]
            for j in range(s):
                result[nu + n + j] += weights[j, k] * total
        for j in range(s):
            for i in range(n):
                result[nu + n + j] += rows[j, i] * bent[i]
        for j in range(s):
            tested[j] = effort[nu + n + j]
            for k in range(len(elasticity)):
                tested[j] += viscosity * elasticity[j, k] * result[nu + n + k]
        for i in range(n):
            pull[i] = pushed[i] - effort[12 + i]
            for j in range(s):
                pull[i] -= rows[j, i] * tested[j]
            for j in range(len(damping)):
                pull[i] -= damping[i, j] * bent[j]
        for k in range(len(squares)):
            total = 0.0
            for j in range(s):
                total += weights[j, k] * tested[j]
            total *= slopes[k]
            for i in range(n):
                pull[i] -= squares[k, i] * total
        for k in range(len(positions) if len(u) else 0):
            force[:] = 0.0
            for a in range(d):
                force[a] = u[forces[k, a]]
            for a in range(3):
                point[a] = positions[k, a]
                for i in range(n):
                    point[a] += factors[7] * shapes[k, a, i] * eta[i]
                    pull[i] += shapes[k, a, i] * force[a]
            cross_into(point, force, work)
            for a in range(3):
                result[q + a] += force[a]
                result[q + 3 + a] += work[a]
        for k in range(len(turns) if len(u) else 0):
            for c in range(len(axes)):
                moment = u[moments[k, c]]
                result[q + 3 + axes[c]] += moment
                for i in range(n):
                    pull[i] += turns[k, axes[c], i] * moment
        for i in range(n):
            along = 0.0
            for a in range(3):
                along += P[a, a, i + 1]
            for a in range(3):
                b, c = (a + 1) % 3, (a + 2) % 3
                field[a] = v[b] * first[c, i + 1] - v[c] * first[b, i + 1] - w[a] * along
                for k in range(3):
                    field[a] += w[k] * P[k, a, i + 1]
                crossed = Q[c, b, i + 1] - Q[b, c, i + 1]
                result[q + 3 + a] += (factors[2] * field[a] + factors[3] * crossed) * given_rate[i]
                result[q + 3 + a] += N[i, a] * pull[i]
                result[nu + i] -= (factors[4] * field[a] + factors[5] * crossed) * given_w[a]
            result[nu + i] += pull[i]
            result[12 + i] = bent[i]
    for k in range(len(kept)):
        out[k] = result[kept[k]]


@njit(fastmath=FAST, error_model="numpy")
def solve(begin, middle, end, factor, out):
    """E^-1 of the rows ``out`` (k, states) by Cholesky's factors, of masses from ``begin`` on and compliances from
    ``middle`` on; the lower half of ``factor`` holds E before."""
    for low, high in ((begin, middle), (middle, end)):
        for j in range(low, high):
            for k in range(low, j):
                factor[j, j] -= factor[j, k] ** 2
            factor[j, j] = np.sqrt(factor[j, j])
            for i in range(j + 1, high):
                for k in range(low, j):
                    factor[i, j] -= factor[i, k] * factor[j, k]
                factor[i, j] /= factor[j, j]
        for r in range(len(out)):
            for i in range(low, high):
                for k in range(low, i):
                    out[r, i] -= factor[i, k] * out[r, k]
                out[r, i] /= factor[i, i]
            for i in range(high - 1, low - 1, -1):
                for k in range(i + 1, high):
                    out[r, i] -= factor[k, i] * out[r, k]
                out[r, i] /= factor[i, i]


@entry_point
def body_products(what, header, reals, wholes, x, z, u, out):
    """Products of all bodies into their columns of ``out``; other columns stay as they are.

    Args:
        what: EFFORTS, DESCRIPTOR, ...; DEFECTS with the efforts of the states, SOLUTIONS at the first state.
        header, reals, wholes: see ``packed``.
        x: states, shape (T, states).
        z: efforts or rates, shape (T, states).
        u: inputs, shape (T, ports), or (T, 0): none.
        out: shape (T, states), of outputs (T, ports).
    """
    first, last = (EFFORTS, DESCRIPTOR) if what == DEFECTS else (what, what)
    if what == SOLUTIONS:
        first = last = DESCRIPTOR
    space = workspace(0, 0, 0)
    for k in range(len(header)):
        body = header[k]
        tables, begin, size, n = unpacked(body, reals, wholes), body[STATE], body[KEPT], body[ELASTIC]
        if k == 0 or (body[ELASTIC : SQUARES + 1] != header[k - 1, ELASTIC : SQUARES + 1]).any():
            space = workspace(n, body[STRESSES], body[SQUARES])
        end, kept, port, sources = begin + size, tables[17], body[PORT], body[PORT]
        if what == ALL_OUTPUTS or what == OUTPUTS or u.shape[1]:
            sources += body[PLANE] * body[POINTS] + body[AXES] * body[TURNS]
        if what != OUTPUTS and sources > port:
            sources += body[PLANE] + n
        efforts, flows, factor = np.zeros(size), np.zeros(size), np.zeros((size if what == SOLUTIONS else 0, size))
        for t in range(size if what == SOLUTIONS else len(x)):
            is_unit = what == SOLUTIONS and 12 + n <= kept[t] < 18 + n
            if what == SOLUTIONS and not is_unit:
                continue
            own = x[0 if is_unit else t, begin:end]
            for product in range(first, last + 1):  # one call, since each is compiled by itself
                given, found = own, out[0, :0]
                if is_unit:
                    efforts[:] = 0.0
                    efforts[t] = 1.0
                    given, found = efforts, flows
                elif what == OUTPUTS or what == ALL_OUTPUTS:
                    given, found = z[t, begin:end], out[t, port:sources]
                elif what == DEFECTS and product != DESCRIPTOR:
                    given, found = efforts, (efforts if product == EFFORTS else flows)
                else:
                    given, found = z[t, begin:end], out[t, begin:end]
                inputs = u[t, port:sources] if what == FLOWS or what == DEFECTS else own[:0]
                kind = OUTPUTS if product == ALL_OUTPUTS else product
                body_product(kind, tables, space, product > first, own, given, inputs, found)
            if is_unit:
                factor[:, t] = flows
            if what == DEFECTS:
                for i in range(size):
                    out[t, begin + i] -= flows[i]
        if what == SOLUTIONS:
            second, compliance, masses, stresses = tables[5], tables[10], size, size
            for i in range(size):
                if kept[i] >= 12 + n:
                    masses = min(masses, i)
                if kept[i] >= 18 + 2 * n:
                    stresses = min(stresses, i)
            for i in range(n):
                for j in range(n):
                    for a in range(3):
                        factor[stresses - n + i, stresses - n + j] += second[a, a, i + 1, j + 1]
            factor[stresses:, stresses:] = compliance
            out[:, begin:end] = z[:, begin:end]
            solve(masses, stresses, size, factor, out[:, begin:end])
