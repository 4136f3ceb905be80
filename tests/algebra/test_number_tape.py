"""Formulas in NumPy as entries of a tape: only what is needed, and nothing that a tape cannot say."""

import numpy as np
import pytest

from phlexible.algebra.number_tape import FIRST, NumberTape, TapeEntry, TapeOperation, exceeds, with_sign_of

SUM, ROOT, SIDE = TapeOperation.SUM, TapeOperation.ROOT, TapeOperation.SIDE


def numbers(tape: NumberTape, count: int) -> np.ndarray:
    return np.array([tape.number(k) for k in range(count)], dtype=object)


def test_a_formula_leaves_the_entries_that_its_value_needs() -> None:
    tape = NumberTape()
    x = numbers(tape, 4)
    unused = np.sqrt(x[2] + 1.0)
    assert tape.output([3.0 - np.sqrt((2.0 * x[:2] * x[:2]).sum()) / 2, 0.0 * unused]) == (0, 4)
    square = TapeEntry(SUM, ((2.0, (0, 0)), (2.0, (1, 1))))
    result = TapeEntry(SUM, ((-0.5, (FIRST + 1,)),), 3.0)
    assert tape.entries == [square, TapeEntry(ROOT, of=(FIRST,)), result, TapeEntry(SUM)]
    begin, end = tape.output([*with_sign_of(x[3:], x[:1]), x[1]])
    assert tape.entries[begin:end][0] == TapeEntry(SIDE, of=(3, 0)) and end == begin + 3


def test_what_depends_on_values_is_refused() -> None:
    tape = NumberTape()
    x = numbers(tape, 2)
    for formula in (
        lambda: np.maximum(x, 0.0),
        lambda: np.where(x > 1.0, x, 0.0),
        lambda: x[0] == x[1],
        lambda: float(x[0]),
        lambda: np.exp(x),
        lambda: x**3,
        lambda: tape.check([np.sqrt(x[0] * np.nan)]),
    ):
        with pytest.raises(TypeError):
            formula()


def test_functions_of_floats_are_those_of_the_tape() -> None:
    x = np.array([-1.0, 0.0, 1.0, 1.0 + 1e-15])
    assert np.array_equal(exceeds(x, 1.0), x > 1.0)
    assert np.array_equal(with_sign_of(np.full(4, 2.0), x), [-2.0, 2.0, 2.0, 2.0])
