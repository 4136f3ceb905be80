"""Programs call their own functions where others have one of the same name, and those of others as these are."""

from itertools import count

import numpy as np
import pytest
from numba.core.bytecode import FunctionIdentity

from phlexible.step.compilation import entry_points
from phlexible.step.compilation.compiled import entry_point
from phlexible.step.compilation.dense import add_rows, subtract_rows
from phlexible.step.compilation.entry_points import EntryPoint
from phlexible.step.compilation.notation import rows_at, tables_at
from phlexible.step.kernels.blocks import solve_segments
from phlexible.step.tables.memory import HEADER, LANES, SAME_TYPES
from phlexible.step.tables.requests import Floats, IntegerRow


def header_of(name):
    return np.zeros(HEADER, dtype=np.int64).view([(name, np.int64)])


@entry_point
def _added(header: IntegerRow, factors: Floats, rows: Floats, result: Floats, how_many: int, length: int) -> None:
    t = tables_at(header)
    x, b, c = rows_at(t, factors), rows_at(t, rows), rows_at(t, result)
    add_rows(x, how_many, b, length, c, length)


@entry_point
def _subtracted(
    header: IntegerRow, factors: Floats, rows: Floats, result: Floats, how_many: int, length: int
) -> None:
    t = tables_at(header)
    x, b, c = rows_at(t, factors), rows_at(t, rows), rows_at(t, result)
    subtract_rows(x, how_many, b, length, c, length)


def test_programs_that_two_processes_compiled_do_what_each_says(monkeypatch, tmp_path):
    """Each counts Numba's functions from one, and rows are added and subtracted by functions of one name."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    header = header_of(f"{LANES}4")
    random = np.random.default_rng(3)
    x, b, c = random.normal(size=(7, 4)), random.normal(size=(7, 5, 4)), random.normal(size=(5, 4))
    found = []
    for name in ("_added", "_subtracted"):
        monkeypatch.setattr(FunctionIdentity, "_unique_ids", count(10**6))
        found.append(c.copy())
        EntryPoint(__name__, name).of(header.dtype)(header, x, b, found[-1], 7, 5)
    change = np.einsum("rl,rjl->jl", x, b)
    np.testing.assert_allclose(found[0], c + change, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found[1], c - change, rtol=0, atol=1e-13)


def test_code_of_each_number_of_lanes_is_kept_apart(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    kinds = [header_of(f"{LANES}{width}").dtype for width in (2, 3)]
    two = EntryPoint(__name__, "_added").of(kinds[0])
    assert not two.is_ready
    two.load_or_compile()
    again = EntryPoint("nowhere", "_added")
    assert again.of(kinds[0]).is_ready and not again.of(kinds[1]).is_ready and not again.is_ready
    numbers = np.ones((1, 2)), np.array([[[2.0, 3.0]]]), np.zeros((1, 2))
    again.of(kinds[0])(header_of(f"{LANES}2"), *numbers, 1, 1)
    np.testing.assert_array_equal(numbers[2], [[2.0, 3.0]])


def test_where_no_folder_can_be_written_code_is_compiled_in_each_process(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(entry_points, "code_folder", lambda: None)
    kind = header_of(f"{LANES}2").dtype
    numbers = np.ones((1, 2)), np.array([[[2.0, 3.0]]]), np.zeros((1, 2))
    EntryPoint(__name__, "_added").of(kind)(header_of(f"{LANES}2"), *numbers, 1, 1)
    np.testing.assert_array_equal(numbers[2], [[2.0, 3.0]])
    assert not EntryPoint(__name__, "_added").of(kind).is_ready and not list(tmp_path.rglob("*.object"))


@entry_point
def _solved(header):
    t = tables_at(header)
    solve_segments(t, 0, t.type_value, 1)


def test_rows_that_lanes_share_are_not_given_to_a_program_that_takes_one_of_each_lane():
    words = r"takes Rows\(REAL, Lanes\(count=4\), .*\), got Rows\(REAL, NumberKind\(\), "
    with pytest.raises(Exception, match=words):
        _solved(header_of(f"{LANES}4 {SAME_TYPES}"))
