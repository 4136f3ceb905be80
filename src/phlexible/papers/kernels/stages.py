"""What Newton's method of a collocation step does with its stages, beside the equations (docs/theory.md, 1)."""

import numpy as np

from phlexible.step.compilation.compiled import entry_point


@entry_point
def stage_states(coefficients, is_algebraic, x, rates, out):
    """X_i = x + sum_j h a_ij K_j into ``out`` (s, n); multipliers are in the rates themselves.

    Args:
        coefficients: h a_ij, shape (s, s).
        x: shape (n,).
        rates: K, shape (s, n).
    """
    for i in range(len(rates)):
        for k in range(len(x)):
            if is_algebraic[k]:
                out[i, k] = rates[i, k]
                continue
            total = 0.0
            for j in range(len(rates)):
                total += coefficients[i, j] * rates[j, k]
            out[i, k] = x[k] + total


@entry_point
def greatest_change(coefficients, is_algebraic, begins, change, states, compared, largest, round_off, absurd):
    """The greatest change of stage states, relative to what their blocks are compared with.

    Args:
        coefficients: h a_ij, shape (s, s).
        begins: first entry of each block and n, shape (blocks + 1,).
        change: of the rates, shape (s, n).
        states: before the change, shape (s, n).
        compared: shape (blocks,).
        largest: become the largest entries so far, if not empty.
        round_off: smaller changes do not count.
        absurd: a change of a rate that is not smaller makes the result infinite.
    """
    result = 0.0
    for b in range(len(begins) - 1):
        greatest = 0.0
        for k in range(begins[b], begins[b + 1]):
            for i in range(len(change)):
                moved = 0.0
                if not abs(change[i, k]) < absurd:
                    return np.inf
                if not is_algebraic[k]:
                    for j in range(len(change)):
                        moved += coefficients[i, j] * change[j, k]
                if not abs(moved) <= greatest:
                    greatest = abs(moved)
                if len(largest) and abs(states[i, k] + moved) > largest[b]:
                    largest[b] = abs(states[i, k] + moved)
        if compared[b] > 0 and not greatest <= round_off and not greatest / compared[b] <= result:
            result = greatest / compared[b]
    return result
