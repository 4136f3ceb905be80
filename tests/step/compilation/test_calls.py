"""Programs call their own functions where others have one of the same name, and those of others as these are."""

from itertools import count

import numpy as np
import pytest
from numba.core.bytecode import FunctionIdentity

from phlexible.step.compilation.compiled import entry_point
from phlexible.step.compilation.dense import add_rows, subtract_rows
from phlexible.step.compilation.notation import rows_at, tables_at
from phlexible.step.kernels.segments import solve_segments
from phlexible.step.tables.memory import HEADER, LANES, SAME_TYPES


def header_of(name):
    """Of no model."""
    return np.zeros(HEADER, dtype=np.int64).view([(name, np.int64)])


@entry_point
def _added(header, factors, rows, result, how_many, length):
    t = tables_at(header)
    x, b, c = rows_at(t, factors), rows_at(t, rows), rows_at(t, result)
    add_rows(x, how_many, b, length, c, length)


@entry_point
def _subtracted(header, factors, rows, result, how_many, length):
    t = tables_at(header)
    x, b, c = rows_at(t, factors), rows_at(t, rows), rows_at(t, result)
    subtract_rows(x, how_many, b, length, c, length)


def test_programs_that_two_processes_compiled_do_what_each_says(monkeypatch):
    """Each counts Numba's functions from one, and rows are added and subtracted by functions of one name."""
    header = header_of(f"{LANES}4")
    random = np.random.default_rng(3)
    x, b, c = random.normal(size=(7, 4)), random.normal(size=(7, 5, 4)), random.normal(size=(5, 4))
    found = []
    for program in (_added, _subtracted):
        monkeypatch.setattr(FunctionIdentity, "_unique_ids", count(10**6))
        found.append(c.copy())
        program(header, x, b.reshape(-1, 4), found[-1], 7, 5)
    change = np.einsum("rl,rjl->jl", x, b)
    np.testing.assert_allclose(found[0], c + change, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found[1], c - change, rtol=0, atol=1e-13)


@entry_point
def _solved(header):
    t = tables_at(header)
    solve_segments(t, 0, t.type_value, 1)


def test_rows_that_lanes_share_are_not_given_to_a_program_that_takes_one_of_each_lane():
    with pytest.raises(
        Exception, match=r"takes Rows\(REAL, Lanes\(count=4\), .*\), got Rows\(REAL, NumberKind\(\), "
    ):
        _solved(header_of(f"{LANES}4 {SAME_TYPES}"))
