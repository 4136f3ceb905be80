"""Inputs of the parts of a composed model from their outputs (docs/theory.md, 1)."""

from phlexible.step.compilation.compiled import entry_point


@entry_point
def port_inputs(values, rows, columns, turned_rows, turned_columns, c, outer, outputs, u, inputs):
    """Adds K output and the outer inputs to ``inputs``, shape (T, numbers).

    Args:
        values, rows, columns: of K, what is constant.
        turned_rows, turned_columns: of the entries of all C(x), which are -c there and c across.
        c: of these entries, shape (T, entries).
        outer: number of each outer input.
        outputs: of the numbers, shape (T, numbers).
        u: outer inputs, shape (T, outer).
    """
    for t in range(len(inputs)):
        for k in range(len(outer)):
            inputs[t, outer[k]] += u[t, k]
        for k in range(len(values)):
            inputs[t, rows[k]] += values[k] * outputs[t, columns[k]]
        for k in range(len(turned_rows)):
            inputs[t, turned_rows[k]] -= c[t, k] * outputs[t, turned_columns[k]]
            inputs[t, turned_columns[k]] += c[t, k] * outputs[t, turned_rows[k]]
