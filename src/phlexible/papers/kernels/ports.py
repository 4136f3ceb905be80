"""Inputs of the parts of a composed model from their outputs (docs/theory.md, 1)."""

import numpy as np
from numba import njit

from phlexible.algebra.arrays import IntArray
from phlexible.step.compilation.compiled import FAST, compiled_for_arrays


def packed_joints(links: IntArray, turned: IntArray, outer: IntArray, rows: IntArray, has_spread: bool) -> IntArray:
    """Places of K in one array: each array that a program is called with costs time.

    Args:
        links: rows and columns of what is constant, shape (links, 2).
        turned: rows and columns of the entries of all C(x), which are -c there and c across, shape (entries, 2).
        outer: number of each outer input.
        rows: of the state, those of multipliers; their numbers are the last ones.
        has_spread: whether distributed ports are joined.
    """
    sizes = [len(links), len(turned), len(outer), len(rows), int(has_spread)]
    return np.concatenate([sizes, links.ravel(), turned.ravel(), outer, rows]).astype(np.int64)


@njit(fastmath=FAST, error_model="numpy")
def unpacked_joints(joints):
    """Links, places of what turns, outer numbers, rows, and whether distributed ports are joined."""
    a, b = 5 + 2 * joints[0], 5 + 2 * joints[0] + 2 * joints[1]
    c = b + joints[2]
    links, turned = joints[5:a].reshape(joints[0], 2), joints[a:b].reshape(joints[1], 2)
    return links, turned, joints[b:c], joints[c : c + joints[3]], joints[4] != 0


@compiled_for_arrays
def port_inputs(links, values, turned, c, outer, outputs, u, inputs):
    """K output and the outer inputs into ``inputs``, shape (T, numbers).

    Args:
        links, turned, outer: see ``packed_joints``.
        values: of the links.
        c: of the entries that turn, shape (T, entries), or one row for all.
        outputs: of the numbers, shape (T, numbers).
        u: outer inputs, shape (T, outer).
    """
    for t in range(len(inputs)):
        inputs[t] = 0.0
        for k in range(len(outer)):
            inputs[t, outer[k]] += u[t, k]
        for k in range(len(values)):
            inputs[t, links[k, 0]] += values[k] * outputs[t, links[k, 1]]
        for k in range(len(turned)):
            row, column, factor = turned[k, 0], turned[k, 1], c[min(t, len(c) - 1), k]
            inputs[t, row] -= factor * outputs[t, column]
            inputs[t, column] += factor * outputs[t, row]
