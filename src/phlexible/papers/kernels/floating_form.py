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
from phlexible.papers.kernels.ports import port_inputs, unpacked_joints
from phlexible.step.compilation.compiled import FAST, compiled_for_arrays, entry_point
from phlexible.step.compilation.unowned import unowned

EFFORTS, OUTPUTS, ALL_OUTPUTS, INPUTS, PORTS, FLOWS, DESCRIPTOR, DEFECTS, DEFECTS_OF, ENTRIES, SOLUTIONS = range(11)
"""z(x), B^T z without and with the distributed port, the inputs alone, B u, (J - R) z + B u, E rate,
E rate - (J - R) z - B u with z(x) and with a given z, E, and E^-1 of rows ``rate``."""

FACTORS = ("inertia", "momentum", "field", "rate", "elastic_field", "elastic_rate", "slope", "arms")
"""Shares: of u_f in the inertia; of v_f in p_t~ and p_r~; of p_f and of v_f in the row and in the column of w; of
the kinetic slope; of u_f in lever arms."""


@compiled_for_arrays
def cross_into(a, b, out):
    """out = a x b."""
    x = a[1] * b[2] - a[2] * b[1]
    y = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
    out[0] = x
    out[1] = y


@compiled_for_arrays
def copy_into(a, out):
    """out = a, of as many numbers: Numba compiles an assignment of slices for seconds, for its error's words."""
    for i in range(len(out)):
        out[i] = a[i]


@compiled_for_arrays
def products(matrices, filled, vector, out):
    """Each of k matrices (k, m, m) times a vector, shape (k, m); those that are not ``filled`` are zero."""
    for k in range(len(matrices)):
        for i in range(len(vector)):
            total = 0.0
            if filled[k]:
                for j in range(len(vector)):
                    total += matrices[k, i, j] * vector[j]
            out[k, i] = total


@compiled_for_arrays
def rigid_inertia(first, xi, P, center, inertia):
    """c = S xi, and J about the reference point (2.5) from P[3 a + b] = W[a, b] xi."""
    trace = 0.0
    for a in range(3):
        center[a] = 0.0
        for i in range(len(xi)):
            center[a] += first[a, i] * xi[i]
        for b in range(3):
            inertia[a, b] = 0.0
            for i in range(len(xi)):
                inertia[a, b] -= P[3 * a + b, i] * xi[i]
        trace -= inertia[a, a]
    for a in range(3):
        inertia[a, a] += trace


@compiled_for_arrays
def rigid_momenta(mass, center, inertia, v, w, linear, angular):
    """m v + w x c and c x v + J w."""
    cross_into(w, center, linear)
    cross_into(center, v, angular)
    for a in range(3):
        linear[a] += mass * v[a]
        angular[a] += inertia[a, 0] * w[0] + inertia[a, 1] * w[1] + inertia[a, 2] * w[2]


@njit(fastmath=FAST, error_model="numpy")
def is_any(values):
    """Whether any is not zero."""
    for each in values:
        if each != 0.0:
            return True
    return False


class BodyTables(NamedTuple):
    """What compiled products know of a body, in the order in which they unpack it.

    Attributes:
        factors: see ``FACTORS``; shape (8,).
        constants: mass, viscosity.
        gravity: world axes, shape (3,).
        fixed: rotation of a body that has none, shape (9,).
        first, second, filled: S, W and which W[a, b] are not zero, 9 of them.
        turning, turned: W[c, b] - W[b, c] of the three axes a, with (a, b, c) in cyclic order, and which are not
            zero.
        elastic: sum of W[a, a].
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
    turning: Array
    turned: Array
    elastic: Array
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
    second = reals[a : a + 9 * m * m].reshape(9, m, m)
    a += 9 * m * m
    filled = reals[a : a + 9]
    a += 9
    turning = reals[a : a + 3 * m * m].reshape(3, m, m)
    a += 3 * m * m
    turned = reals[a : a + 3]
    a += 3
    elastic = reals[a : a + m * m].reshape(m, m)
    a += m * m
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
        filled, turning, turned, elastic, rows, squares, weights, compliance, damping, elasticity, inverse_mass,
        positions, shapes, turns, kept, forces, moments, axes,
    )  # fmt: skip


@njit(fastmath=FAST, error_model="numpy")
def workspace(memory, n, s, squares):
    """What products of a body write on the way: parts of a memory of ``needed`` numbers."""
    m, size, a = n + 1, 18 + 2 * n + s, 34
    known, inertia, vectors = memory[:1], memory[1:10].reshape(3, 3), memory[10:34].reshape(8, 3)
    states = memory[a : a + 5 * size].reshape(5, size)
    a += 5 * size
    lines = memory[a : a + 7 * m].reshape(7, m)
    a += 7 * m
    P = memory[a : a + 9 * m].reshape(9, m)
    a += 9 * m
    arms = memory[a : a + 9 * m].reshape(9, m)
    a += 9 * m
    crossed = memory[a : a + 3 * m].reshape(3, m)
    a += 3 * m
    turn = memory[a : a + 3 * m].reshape(3, m)
    a += 3 * m
    N = memory[a : a + 3 * n].reshape(3, n)
    a += 3 * n
    slopes, tested = memory[a : a + squares], memory[a + squares : a + squares + s]
    known[0] = 0.0
    return known, inertia, vectors, states, lines, P, arms, crossed, turn, N, slopes, tested


@njit(fastmath=FAST, error_model="numpy")
def needed(n, s, squares):
    """Numbers that ``workspace`` takes."""
    return 34 + 5 * (18 + 2 * n + s) + 34 * (n + 1) + squares + s


@compiled_for_arrays
def spread_momenta(mass, first, elastic, v, w, rate, arms, center, out):
    """The velocity field against uniform fields and against Phi, shape (d + n,); arms: moments with lever arms."""
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
            total += v[a] * first[a, i + 1] + w[a] * (arms[3 * c + b, i + 1] - arms[3 * b + c, i + 1])
        for j in range(n):
            total += elastic[i + 1, j + 1] * rate[j]
        out[d + i] = total


@compiled_for_arrays
def spread_force(mass, first, elastic, u, arms, center, rigid, pull):
    """Adds what a uniform force and one along Phi do, each per mass, to the rows of (v, w) and of v_f: dual to
    ``spread_momenta``."""
    n = len(pull)
    d = len(u) - n
    for i in range(n):
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            rigid[3 + a] += (arms[3 * c + b, i + 1] - arms[3 * b + c, i + 1]) * u[d + i]
            rigid[a] += first[a, i + 1] * u[d + i]
        for j in range(n):
            pull[i] += elastic[i + 1, j + 1] * u[d + j]
    for a in range(d):
        rigid[a] += mass * u[a]
        b, c = (a + 1) % 3, (a + 2) % 3  # of the moment of the centre: c x e_a = c_c e_b - c_b e_c
        rigid[3 + b] += center[c] * u[a]
        rigid[3 + c] -= center[b] * u[a]
        for i in range(n):
            pull[i] += first[a, i + 1] * u[a]


@compiled_for_arrays
def body_rows(what, tables, space, x, z, rate, u, out):
    """One of the products of one body, row by row; moments are those of the last row where it is bent alike.

    Args:
        x, z, rate, u, out: rows of the body alone; of outputs ``out`` is as long as there are some, with or without
            those of the distributed port.
    """
    (
        factors, constants, gravity, fixed, first, second, filled, turning, turned, elastic, rows, squares, weights,
        compliance, damping, elasticity, inverse_mass, positions, shapes, turns, kept, forces, moments, axes,
    ) = tables  # fmt: skip
    known, inertia, vectors, states, lines, P, arms, crossed, turn, N, slopes, tested = space
    state, effort, moving, result, momenta = states[0], states[1], states[2], states[3], states[4]
    xi, eta_before, dxi, along, bent, pull, reaching = (
        lines[0], lines[1], lines[2], lines[3], lines[4], lines[5], lines[6],
    )  # fmt: skip
    linear, angular, center, work, point, force, field, reach = (
        vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], vectors[5], vectors[6], vectors[7],
    )  # fmt: skip
    n, s, d = shapes.shape[2], len(compliance), forces.shape[1]
    q, nu, mass, viscosity, is_converted = 12 + n, 18 + n, constants[0], constants[1], len(inverse_mass) > 0
    spread = d * len(positions) + len(axes) * len(turns)  # the first input of the distributed force
    has_efforts, is_moved = what == EFFORTS or what == DEFECTS, what >= DESCRIPTOR
    has_flows = what == FLOWS or what == DEFECTS or what == DEFECTS_OF
    state[:], effort[:], moving[:] = 0.0, 0.0, 0.0
    copy_into(fixed, state[3:12])
    eta, v, w, dot = state[12:q], state[q : q + 3], state[q + 3 : nu], state[nu : nu + n]
    if not is_converted:
        N[:] = 0.0
    for t in range(len(out)):
        result[:] = 0.0
        for k in range(len(kept)):
            state[kept[k]] = x[min(t, len(x) - 1), k]
        if what == OUTPUTS or what == FLOWS or what == DEFECTS_OF:
            for k in range(len(kept)):
                effort[kept[k]] = z[min(t, len(z) - 1), k]
        if is_moved:
            for k in range(len(kept)):
                moving[kept[k]] = rate[min(t, len(rate) - 1), k]
        # P = W xi, c and J, N, and W dxi, as far as they are not known
        is_new = known[0] == 0.0
        if has_efforts or has_flows or is_moved or is_converted:
            is_bent, is_turned = is_new, is_new
            for i in range(n):
                is_bent |= eta_before[i] != eta[i]
                is_turned |= dxi[i + 1] != dot[i]
            known[0] = 1.0
            if is_bent:
                xi[0] = 1.0
                for i in range(n):
                    eta_before[i] = eta[i]
                    xi[i + 1] = factors[0] * eta[i]
                products(second, filled, xi, P)
                rigid_inertia(first, xi, P, center, inertia)
                for i in range(n + 1):
                    along[i] = P[0, i] + P[4, i] + P[8, i]
                    for a in range(3):
                        b, c = (a + 1) % 3, (a + 2) % 3
                        crossed[a, i] = P[3 * c + b, i] - P[3 * b + c, i]
                if is_converted:
                    dxi[0] = 0.0
                    for i in range(n):
                        dxi[i + 1] = eta[i]
                    products(turning, turned, dxi, turn)
                    is_turned = True
                    for k in range(3):
                        for i in range(n):
                            N[k, i] = 0.0
                            for j in range(n):
                                N[k, i] -= inverse_mass[i, j] * turn[k, j + 1]
            if is_turned:
                dxi[0] = 0.0
                for i in range(n):
                    dxi[i + 1] = dot[i]
                products(turning, turned, dxi, turn)
        if has_efforts:
            square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
            cross_into(v, w, work)
            copy_into(state[q:], effort[q:])
            for a in range(3):
                effort[a] = -mass * gravity[a]
                force[a] = first[a, 0]  # S (1, eta)
                point[a] = gravity[0] * state[3 + a] + gravity[1] * state[6 + a] + gravity[2] * state[9 + a]
                for i in range(n):
                    force[a] += first[a, i + 1] * eta[i]
            for a in range(3):
                for k in range(3):
                    effort[3 + 3 * a + k] = -gravity[a] * force[k]
            for i in range(n):
                slope = square * along[i + 1]
                for a in range(3):
                    slope += work[a] * first[a, i + 1] - w[a] * turn[a, i + 1]
                    for k in range(3):
                        slope -= w[a] * w[k] * P[3 * a + k, i + 1]
                effort[12 + i] = factors[6] * slope
                for a in range(3):
                    effort[12 + i] -= point[a] * first[a, i + 1]
            if what == EFFORTS:
                copy_into(effort, result)
        given_v, given_w, given_rate = effort[q : q + 3], effort[q + 3 : nu], effort[nu : nu + n]
        for i in range(n):
            bent[i] = given_rate[i] + N[0, i] * given_w[0] + N[1, i] * given_w[1] + N[2, i] * given_w[2]
            pull[i] = 0.0
        row = min(t, len(u) - 1)
        # the distributed port: moments of lever arms
        has_ports = (what == PORTS or has_flows) and u.shape[1] > 0
        if (what == OUTPUTS and out.shape[1] > spread) or (has_ports and is_any(u[row, spread:])):
            reaching[0] = 1.0
            for i in range(n):
                reaching[i + 1] = factors[7] * eta[i]
            products(second, filled, reaching, arms)
            for a in range(3):
                reach[a] = 0.0
                for i in range(n + 1):
                    reach[a] += first[a, i] * reaching[i]
            if what == OUTPUTS:
                spread_momenta(mass, first, elastic, given_v, given_w, bent[:n], arms, reach, out[t, spread:])
            else:
                spread_force(mass, first, elastic, u[row, spread:], arms, reach, result[q:nu], pull[:n])
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
                    out[t, forces[k, a]] = total
            for k in range(len(turns)):
                for c in range(len(axes)):
                    total = given_w[axes[c]]
                    for i in range(n):
                        total += turns[k, axes[c], i] * bent[i]
                    out[t, moments[k, c]] = total
            continue
        if has_flows:
            rigid_momenta(mass, center, inertia, v, w, linear, angular)
            for a in range(3):
                for i in range(n + 1):
                    linear[a] += factors[1] * first[a, i] * dxi[i]
                    angular[a] -= factors[1] * turn[a, i] * xi[i]
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
            # the rate of the tested strain, and what the stress and the damping pull at
            for k in range(len(squares)):
                slopes[k], total = 0.0, 0.0
                for i in range(n):
                    slopes[k] += squares[k, i] * eta[i]
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
                    pull[i] -= rows[j, i] * tested[j]
            for i in range(n):
                pull[i] -= effort[12 + i]
                for j in range(len(damping)):
                    pull[i] -= damping[i, j] * bent[j]
            for k in range(len(squares)):
                total = 0.0
                for j in range(s):
                    total += weights[j, k] * tested[j]
                total *= slopes[k]
                for i in range(n):
                    pull[i] -= squares[k, i] * total
            for i in range(n):
                for a in range(3):
                    b, c = (a + 1) % 3, (a + 2) % 3
                    field[a] = v[b] * first[c, i + 1] - v[c] * first[b, i + 1] - w[a] * along[i + 1]
                    for k in range(3):
                        field[a] += w[k] * P[3 * k + a, i + 1]
                    result[q + 3 + a] += (factors[2] * field[a] + factors[3] * turn[a, i + 1]) * given_rate[i]
                    result[nu + i] -= (factors[4] * field[a] + factors[5] * turn[a, i + 1]) * given_w[a]
                result[12 + i] = bent[i]
        if has_ports:
            for k in range(len(positions)):
                force[:] = 0.0
                for a in range(d):
                    force[a] = u[row, forces[k, a]]
                for a in range(3):
                    point[a] = positions[k, a]
                    for i in range(n):
                        point[a] += factors[7] * shapes[k, a, i] * eta[i]
                        pull[i] += shapes[k, a, i] * force[a]
                cross_into(point, force, work)
                for a in range(3):
                    result[q + a] += force[a]
                    result[q + 3 + a] += work[a]
            for k in range(len(turns)):
                for c in range(len(axes)):
                    moment = u[row, moments[k, c]]
                    result[q + 3 + axes[c]] += moment
                    for i in range(n):
                        pull[i] += turns[k, axes[c], i] * moment
        for i in range(n if has_flows or has_ports else 0):
            result[nu + i] += pull[i]
            for a in range(3):
                result[q + 3 + a] += N[a, i] * pull[i]
        if is_moved:
            given_v, given_w, given_rate = moving[q : q + 3], moving[q + 3 : nu], moving[nu : nu + n]
            rigid_momenta(mass, center, inertia, given_v, given_w, linear, angular)
            copy_into(moving, momenta[:q])
            for i in range(n):
                total = 0.0
                for j in range(n):
                    total += elastic[i + 1, j + 1] * given_rate[j]
                for a in range(3):
                    linear[a] += first[a, i + 1] * given_rate[i]
                    angular[a] += crossed[a, i + 1] * given_rate[i]
                    total += given_w[a] * crossed[a, i + 1] + given_v[a] * first[a, i + 1]
                momenta[nu + i] = total
            copy_into(linear, momenta[q : q + 3])
            copy_into(angular, momenta[q + 3 : nu])
            for i in range(s):
                total = 0.0
                for j in range(s):
                    total += compliance[i, j] * moving[nu + n + j]
                momenta[nu + n + i] = total
            for k in range(len(kept)):
                out[t, k] = momenta[kept[k]] - result[kept[k]]
            continue
        for k in range(len(kept)):
            out[t, k] = result[kept[k]]


@compiled_for_arrays
def fill_entries(masses, stresses, elastic, compliance, entries):
    """What of E is constant, and the columns of (v, w) from its rows: masses and stresses begin there."""
    n = len(elastic) - 1
    for i in range(masses):
        entries[i, i] = 1.0
    for j in range(masses, stresses - n):
        for i in range(stresses - n, stresses):
            entries[i, j] = entries[j, i]
    for i in range(n):
        for j in range(n):
            entries[stresses - n + i, stresses - n + j] = elastic[i + 1, j + 1]
    for i in range(len(compliance)):
        copy_into(compliance[i], entries[stresses + i, stresses:])


@njit(fastmath=FAST, error_model="numpy")
def kept_from(kept, place):
    """How many states are kept before that place."""
    count = 0
    for each in kept:
        if each < place:
            count += 1
    return count


@compiled_for_arrays
def solve(masses, stresses, factor, out):
    """E^-1 of the rows ``out`` (k, states) by Cholesky's factors of the masses and of the compliance; ``factor``
    holds E before, and its factors in the lower half then."""
    for low, high in ((masses, stresses), (stresses, len(factor))):
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
def body_products(what, header, reals, wholes, joints, values, c, x, z, rate, u, outputs, inputs, out):
    """Products of all bodies into their columns of ``out``, (T, states), with inputs that the joints give them.

    Of states, efforts, rates and inputs one row may stand for all T.

    Args:
        what: EFFORTS, OUTPUTS, ...; ENTRIES and SOLUTIONS at the first state.
        header, reals, wholes: see ``packed``.
        joints: see ``packed_joints``.
        values, c: of what is constant in K, shape (links,), and of what turns, see ``port_inputs``.
        x, z, rate: states, efforts and rates, shape (T, states).
        u: outer inputs, shape (T, outer).
        outputs: of the numbers, shape (T, numbers); those of bodies are filled in. (0, 0): inputs are given.
        inputs: of the numbers, shape (T, numbers), or (T, 0): none.
        out: columns of parts that are no bodies stay as they are. Of outputs shape (T, ports), of ENTRIES row k
            has row k of E of each body.
    """
    header, reals, wholes, out = unowned(header), unowned(reals), unowned(wholes), unowned(out)
    x, z, rate, inputs, outputs = unowned(x), unowned(z), unowned(rate), unowned(inputs), unowned(outputs)
    links, turned, outer, rows, has_spread = unpacked_joints(unowned(joints))
    is_joined, is_whole, largest = outputs.shape[1] > 0, what == ENTRIES or what == SOLUTIONS, 0
    for k in range(len(header)):
        largest = max(largest, needed(header[k, ELASTIC], header[k, STRESSES], header[k, SQUARES]))
    owner, leaves = np.empty(largest), inputs.shape[1] - len(rows)
    for turn in range(2):  # the outputs, then what they make: one call below, since each is compiled by itself
        if turn == 0 and not is_joined:
            continue
        now = what if turn else (ALL_OUTPUTS if has_spread else OUTPUTS)
        is_left_out = now == INPUTS or (turn == 0 and what == PORTS)
        is_output = now == OUTPUTS or now == ALL_OUTPUTS
        for k in range(0 if is_left_out else len(header)):
            body = header[k]
            tables, begin, size, n = unpacked(body, reals, wholes), body[STATE], body[KEPT], body[ELASTIC]
            space = workspace(unowned(owner), n, body[STRESSES], body[SQUARES])
            end, kept, port, last = begin + size, tables[20], body[PORT], body[PORT]
            if is_output or inputs.shape[1]:
                last += body[PLANE] * body[POINTS] + body[AXES] * body[TURNS]
            if now != OUTPUTS and last > port:
                last += body[PLANE] + n
            masses, stresses = kept_from(kept, 12 + n), kept_from(kept, 18 + 2 * n)
            entries, units = np.zeros((size if is_whole else 0, size)), np.zeros((size if is_whole else 0, size))
            moving, pushing, kind, found = rate[:, begin:end], inputs[:, port:last], now, out[:, begin:end]
            if is_whole:  # other columns of E are constant
                for i in range(masses, stresses - n):
                    units[i, i] = 1.0
                kind, moving, found = (
                    DESCRIPTOR,
                    units[masses : stresses - n, 0:size],
                    entries[masses : stresses - n, 0:size],
                )
            elif is_output:
                kind, found = OUTPUTS, outputs[:, port:last] if turn == 0 else out[:, port:last]
            body_rows(kind, tables, space, x[:, begin:end], z[:, begin:end], moving, pushing, found)
            if is_whole:
                fill_entries(masses, stresses, tables[9], tables[13], entries)
                copied = entries if what == ENTRIES else rate[:, begin:end]
                for i in range(len(copied)):
                    copy_into(copied[i], out[i, begin:end])
                if what == SOLUTIONS:
                    solve(masses, stresses, entries, out[:, begin:end])
        if turn == 0:
            for t in range(len(outputs)):
                for k in range(len(rows)):
                    outputs[t, leaves + k] = z[t, rows[k]]
            port_inputs(links, values, turned, c, outer, outputs, u, inputs)
        elif is_joined:
            sign = -1.0 if what >= DESCRIPTOR else 1.0
            for t in range(len(out)):
                for k in range(len(rows)):
                    out[t, rows[k]] = sign * inputs[t, leaves + k]
    owner[:1] = 0.0  # it has to live until here
