"""Inputs of the parts of a composed model from their outputs (docs/theory.md, 1)."""

from numba import njit

from phlexible.step.compilation.compiled import FAST


@njit(fastmath=FAST, error_model="numpy")
def port_inputs(links, values, turned, c, outer, outputs, u, inputs):
    """K output and the outer inputs into ``inputs``, shape (T, numbers).

    Args:
        links, values: rows and columns of K, shape (entries, 2), of what is constant, and its numbers.
        turned: rows and columns of the entries of all C(x), which are -c there and c across, shape (entries, 2).
        c: of these entries, shape (T, entries), or one row for all.
        outer: number of each outer input.
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
