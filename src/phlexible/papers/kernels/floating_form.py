"""Products of the papers' matrices of one floating body, for many states, without the matrices (docs/theory.md, 2).

What ``papers/floating_forms.py`` writes as matrices E, J, R, B and efforts z, here as loops: the integrators of the
port-Hamiltonian form ask for little else. The variants differ in a few factors, see ``FACTORS``.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from phlexible.algebra.arrays import Array, IntArray
from phlexible.step.compilation.compiled import FAST, entry_point

EFFORTS, DESCRIPTOR, FLOWS, OUTPUTS = 0, 1, 2, 3

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
        first, second, filled: S, W and which W[a, b] are not zero.
        rows, squares, weights, compliance: of the stress space.
        damping, elasticity: C, and M_sigma^-1 (empty without viscosity).
        inverse_mass: of the elastic coordinates (empty: v_f is du_f/dt).
        gravity: world axes, shape (3,).
        fixed: rotation of a body that has none, shape (9,).
        kept: places of the states among all.
        positions, shapes, turns, forces, moments, axes: of the ports, see ``PortPoints``.
    """

    factors: Array
    constants: Array
    first: Array
    second: Array
    filled: NDArray[np.bool_]
    rows: Array
    squares: Array
    weights: Array
    compliance: Array
    damping: Array
    elasticity: Array
    inverse_mass: Array
    gravity: Array
    fixed: Array
    kept: IntArray
    positions: Array
    shapes: Array
    turns: Array
    forces: IntArray
    moments: IntArray
    axes: IntArray


@entry_point
def body_products(what, body, x, z, u, out):
    """Efforts of states x, E z (DESCRIPTOR), (J - R) z + B u (FLOWS) or B^T z (OUTPUTS) into ``out``, (T, ...).

    Args:
        what: one of these.
        body: a plain tuple of its ``BodyTables``, which Numba takes at a third of the cost of one with names.
        x, z, u: states, efforts or rates, and inputs, (T, ...).
    """
    (
        factors, constants, first, second, filled, rows, squares, weights, compliance, damping, elasticity,
        inverse_mass, gravity, fixed, kept, positions, shapes, turns, forces, moments, axes,
    ) = body  # fmt: skip
    n, s, d = shapes.shape[2], len(compliance), forces.shape[1]
    q, nu, size = 12 + n, 18 + n, 18 + 2 * n + s
    mass, viscosity = constants[0], constants[1]
    state, effort, result = np.zeros(size), np.zeros(size), np.zeros(size)
    xi, dxi, bent = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n)
    P, Q, N = np.zeros((3, 3, n + 1)), np.zeros((3, 3, n + 1)), np.zeros((n, 3))
    linear, angular, center, work = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    point, force, field = np.zeros(3), np.zeros(3), np.zeros(3)
    pull, slopes, tested = np.zeros(n), np.zeros(len(squares)), np.zeros(s)
    for t in range(len(x)):
        state[3:12] = fixed
        for k in range(len(kept)):
            state[kept[k]] = x[t, k]
            if what != EFFORTS:
                effort[kept[k]] = z[t, k]
        eta, v, w, rate = state[12:q], state[q : q + 3], state[q + 3 : nu], state[nu : nu + n]
        given_v, given_w, given_rate = effort[q : q + 3], effort[q + 3 : nu], effort[nu : nu + n]
        result[:] = 0.0
        if len(inverse_mass):
            xi[0] = 0.0
            xi[1:] = eta
            moment_products(second, filled, xi, P)
            for k in range(3):
                a, b = (k + 1) % 3, (k + 2) % 3
                for i in range(n):
                    N[i, k] = 0.0
                    for j in range(n):
                        N[i, k] += inverse_mass[i, j] * (P[a, b, j + 1] - P[b, a, j + 1])
        if what == OUTPUTS or what == FLOWS:
            for i in range(n):
                bent[i] = given_rate[i]
                for k in range(3):
                    bent[i] += N[i, k] * given_w[k]
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
        xi[0] = 1.0
        for i in range(n):
            xi[i + 1] = factors[0] * eta[i]
            dxi[i + 1] = given_rate[i] if what == DESCRIPTOR else rate[i]
        moment_products(second, filled, xi, P)
        moment_products(second, filled, dxi, Q)
        if what == DESCRIPTOR:
            rigid_momenta(mass, first, given_v, given_w, xi, P, linear, angular, center, work)
            for a in range(3):
                for i in range(n + 1):
                    linear[a] += first[a, i] * dxi[i]
                b, c = (a + 1) % 3, (a + 2) % 3
                for i in range(n):
                    crossed = P[c, b, i + 1] - P[b, c, i + 1]
                    angular[a] += crossed * dxi[i + 1]
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
            rigid_momenta(mass, first, v, w, xi, P, linear, angular, center, work)
            for a in range(3):
                b, c = (a + 1) % 3, (a + 2) % 3
                for i in range(n + 1):
                    linear[a] += factors[1] * first[a, i] * dxi[i]
                    angular[a] -= factors[1] * (Q[c, b, i] - Q[b, c, i]) * xi[i]
            cross_into(linear, given_w, result[q : q + 3])
            cross_into(linear, given_v, result[q + 3 : nu])
            cross_into(angular, given_w, work)
            for a in range(3):
                result[q + 3 + a] += work[a]
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
                pull[i] = -effort[12 + i]
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
            for k in range(len(positions)):
                force[:] = 0.0
                for a in range(d):
                    force[a] = u[t, forces[k, a]]
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
                    moment = u[t, moments[k, c]]
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
            out[t, k] = result[kept[k]]
