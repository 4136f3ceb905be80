"""World vectors of many states, functions of them, their rates, and the forces along them (docs/theory.md, 8).

With r and rho about the reference point and v, w, deta/dt in body axes a vector ``x = r + R rho`` has the rate
``R (v + w x rho + P deta/dt)``; a force f on it is ``phi = R^T f`` on v, ``rho x phi`` on w and ``P^T phi`` on eta.
A function is ``w = sum_t c_t y_a . y_b`` of chords ``y = sum_i weight_i x_i``.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from phlexible.algebra.arrays import Array, IntArray
from phlexible.papers.kernels.floating_form import copy_into, cross_into
from phlexible.step.compilation.compiled import FAST, entry_point


class VectorTables(NamedTuple):
    """k vectors on f frames and on nodes, in the order in which kernels unpack it.

    Attributes:
        frame, node: that carries each vector, or -1; shape (k,).
        is_point: False of directions.
        base: without deformation, body axes, shape (k, 3).
        start: where the shapes of each begin, shape (k + 1,).
        shapes: d rho/d eta of all, each (3, n) flat.
        frames: places in x of r (3), R (9), v (3), w (3), -1 of those that a body has not, and of the first
            displacement and the first elastic velocity; shape (f, 20).
        fixed: R of a body that has none in x, shape (f, 9).
        nodes: places in x of position and velocity, -1 of what is out of the plane; shape (nodes, 6).
    """

    frame: IntArray
    node: IntArray
    is_point: NDArray[np.bool_]
    base: Array
    start: IntArray
    shapes: Array
    frames: IntArray
    fixed: Array
    nodes: IntArray


class FunctionTables(NamedTuple):
    """Chords of vectors and functions of chords, in the order in which kernels unpack it.

    Attributes:
        chord_start, chord_vector, chord_weight: parts of each chord, those of chord c from chord_start[c] on.
        term_start, term_first, term_second: chords of the terms of each function.
    """

    chord_start: IntArray
    chord_vector: IntArray
    chord_weight: Array
    term_start: IntArray
    term_first: IntArray
    term_second: IntArray


@njit(fastmath=FAST, error_model="numpy")
def rotation_of(x, places, fixed, out):
    """R of a frame, row after row."""
    for i in range(9):
        out[i] = x[places[3 + i]] if places[3 + i] >= 0 else fixed[i]


@njit(fastmath=FAST, error_model="numpy")
def deformed(x, first, base, shapes, begin, end, out):
    """base + P q with the n entries of x from ``first`` on."""
    n = (end - begin) // 3
    for a in range(3):
        total = base[a]
        for i in range(n):
            total += shapes[begin + a * n + i] * x[first + i]
        out[a] = total


@entry_point
def function_values(vectors, functions, x, given, factors, arms, X, Y, w):
    """Vectors, chords and functions of T states.

    Args:
        vectors, functions: plain tuples of the tables.
        x: states, shape (T, n).
        given: vectors that no body carries, shape (T, k, 3).
        factors: of the terms, shape (T, terms).
        arms, X, Y, w: become rho of what frames carry, vectors, both (T, k, 3), chords (T, c, 3), functions (T, m).
    """
    frame, node, is_point, base, start, shapes, frames, fixed, nodes = vectors
    chord_start, chord_vector, chord_weight, term_start, term_first, term_second = functions
    R = np.zeros(9)
    for t in range(len(x)):
        for k in range(len(base)):
            f, local = frame[k], arms[t, k]
            if f >= 0:
                rotation_of(x[t], frames[f], fixed[f], R)
                deformed(x[t], frames[f, 18], base[k], shapes, start[k], start[k + 1], local)
                for a in range(3):
                    X[t, k, a] = R[3 * a] * local[0] + R[3 * a + 1] * local[1] + R[3 * a + 2] * local[2]
                    if is_point[k] and frames[f, a] >= 0:
                        X[t, k, a] += x[t, frames[f, a]]
            elif node[k] >= 0:
                for a in range(3):
                    place = nodes[node[k], a]
                    X[t, k, a] = x[t, place] if place >= 0 else 0.0
            else:
                copy_into(given[t, k], X[t, k])
        sum_chords(chord_start, chord_vector, chord_weight, X[t], Y[t])
        for m in range(len(term_start) - 1):
            total = 0.0
            for p in range(term_start[m], term_start[m + 1]):
                a, b = Y[t, term_first[p]], Y[t, term_second[p]]
                total += factors[t, p] * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2])
            w[t, m] = total


@njit(fastmath=FAST, error_model="numpy")
def sum_chords(chord_start, chord_vector, chord_weight, X, Y):
    """Chords Y of vectors X of one state."""
    for c in range(len(Y)):
        Y[c] = 0.0
        for e in range(chord_start[c], chord_start[c + 1]):
            for a in range(3):
                Y[c, a] += chord_weight[e] * X[chord_vector[e], a]


@entry_point
def function_rates(vectors, functions, x, z, moved, factors, arms, Y, dX, dw):
    """Rates of vectors (T, k, 3) and functions (T, m) for velocities in z; ``moved``: of vectors not carried."""
    frame, node, is_point, base, start, shapes, frames, fixed, nodes = vectors
    chord_start, chord_vector, chord_weight, term_start, term_first, term_second = functions
    R, spin, inner, bent = np.zeros(9), np.zeros(3), np.zeros(3), np.zeros(3)
    nothing, dY = np.zeros(3), np.zeros((len(chord_start) - 1, 3))
    for t in range(len(x)):
        for k in range(len(base)):
            f = frame[k]
            if f >= 0:
                rotation_of(x[t], frames[f], fixed[f], R)
                deformed(z[t], frames[f, 19], nothing, shapes, start[k], start[k + 1], bent)
                for a in range(3):
                    spin[a] = z[t, frames[f, 15 + a]] if frames[f, 15 + a] >= 0 else 0.0
                cross_into(spin, arms[t, k], inner)
                for a in range(3):
                    inner[a] += bent[a]
                    if is_point[k] and frames[f, 12 + a] >= 0:
                        inner[a] += z[t, frames[f, 12 + a]]
                for a in range(3):
                    dX[t, k, a] = R[3 * a] * inner[0] + R[3 * a + 1] * inner[1] + R[3 * a + 2] * inner[2]
            elif node[k] >= 0:
                for a in range(3):
                    place = nodes[node[k], 3 + a]
                    dX[t, k, a] = z[t, place] if place >= 0 else 0.0
            else:
                copy_into(moved[t, k], dX[t, k])
        sum_chords(chord_start, chord_vector, chord_weight, dX[t], dY)
        for m in range(len(term_start) - 1):
            total = 0.0
            for p in range(term_start[m], term_start[m + 1]):
                i, j = term_first[p], term_second[p]
                for a in range(3):
                    total += factors[t, p] * (dY[i, a] * Y[t, j, a] + Y[t, i, a] * dY[j, a])
            dw[t, m] = total


@entry_point
def function_pulls(vectors, functions, x, factors, arms, Y, along, F, out):
    """Adds forces along functions (T, m) to those on vectors, F (T, k, 3), and these to rows of velocities, out."""
    frame, node, is_point, base, start, shapes, frames, fixed, nodes = vectors
    chord_start, chord_vector, chord_weight, term_start, term_first, term_second = functions
    R, force, moment = np.zeros(9), np.zeros(3), np.zeros(3)
    pulls = np.zeros((len(chord_start) - 1, 3))
    for t in range(len(x)):
        pulls[:] = 0.0
        for m in range(len(term_start) - 1):
            if along[t, m] == 0.0:
                continue
            for p in range(term_start[m], term_start[m + 1]):
                i, j, pull = term_first[p], term_second[p], factors[t, p] * along[t, m]
                for a in range(3):
                    pulls[i, a] += pull * Y[t, j, a]
                    pulls[j, a] += pull * Y[t, i, a]
        for c in range(len(pulls)):
            for e in range(chord_start[c], chord_start[c + 1]):
                for a in range(3):
                    F[t, chord_vector[e], a] += chord_weight[e] * pulls[c, a]
        for k in range(len(base)):
            f = frame[k]
            if f >= 0:
                rotation_of(x[t], frames[f], fixed[f], R)
                for a in range(3):
                    force[a] = R[a] * F[t, k, 0] + R[3 + a] * F[t, k, 1] + R[6 + a] * F[t, k, 2]
                cross_into(arms[t, k], force, moment)
                n = (start[k + 1] - start[k]) // 3
                for a in range(3):
                    if is_point[k] and frames[f, 12 + a] >= 0:
                        out[t, frames[f, 12 + a]] += force[a]
                    if frames[f, 15 + a] >= 0:
                        out[t, frames[f, 15 + a]] += moment[a]
                    for i in range(n):
                        out[t, frames[f, 19] + i] += shapes[start[k] + a * n + i] * force[a]
            elif node[k] >= 0:
                for a in range(3):
                    place = nodes[node[k], 3 + a]
                    if place >= 0:
                        out[t, place] += F[t, k, a]
