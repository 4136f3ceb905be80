"""Matrices of a type as dense patches, outside of which they are zero (docs/theory.md, 4).

A patch holds its columns one after the other. Matrices of long bodies are banded, so that products cost as much
as the body is long.
"""

from phlexible.compilation.compiled import compiled
from phlexible.compilation.dense import add_rows, product
from phlexible.compilation.notation import Reals, Tables


@compiled
def add_image(t: Tables, first: int, count: int, x: Reals, y: Reals) -> None:
    """y += A x for the matrix A of ``count`` patches from ``first`` on."""
    for s in range(first, first + count):
        A, rows = t.type_number + t.patch_number[s], t.patch_rows[s]
        add_rows(x + t.patch_column[s], t.patch_columns[s], A, rows, y + t.patch_row[s], rows)


@compiled
def quadratic_form(t: Tables, first: int, count: int, x: Reals) -> float:
    """x . A x."""
    total = 0.0
    for s in range(first, first + count):
        A, rows = t.type_number + t.patch_number[s], t.patch_rows[s]
        for k in range(t.patch_columns[s]):
            total += x[t.patch_column[s] + k] * product(A + k * rows, x + t.patch_row[s], rows)
    return total
