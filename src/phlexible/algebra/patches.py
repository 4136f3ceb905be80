"""Dense parts that together hold everything of a matrix that is not zero, for loops over neighbouring numbers."""

import numpy as np

from phlexible.algebra.arrays import Array

OVERHEAD = 30  # what a patch costs beside its entries, in entries
WIDEST = 32  # columns of a patch


def patches(matrix: Array) -> list[tuple[slice, slice]]:
    """Rows and columns of rectangles, each with columns of its own, together the cheapest to go through."""
    count = matrix.shape[1]
    spans = [_span(column) for column in matrix.T]
    least = np.zeros(count + 1)  # cost of the columns before each
    begins = np.zeros(count + 1, dtype=np.int64)
    for end in range(1, count + 1):
        least[end] = np.inf
        rows: slice | None = None
        for begin in range(end - 1, max(end - WIDEST, 0) - 1, -1):
            rows = _union(rows, spans[begin])
            cost = least[begin] + (0 if rows is None else OVERHEAD + (end - begin) * (rows.stop - rows.start))
            if cost < least[end]:
                least[end], begins[end] = cost, begin
    found, end = [], count
    while end > 0:
        begin, rows = int(begins[end]), None
        for span in spans[begin:end]:
            rows = _union(rows, span)
        if rows is not None:
            found.append((rows, slice(begin, end)))
        end = begin
    return found[::-1]


def _span(column: Array) -> slice | None:
    places = np.flatnonzero(column)
    return slice(int(places[0]), int(places[-1]) + 1) if places.size else None


def _union(a: slice | None, b: slice | None) -> slice | None:
    if a is None or b is None:
        return a or b
    return slice(min(a.start, b.start), max(a.stop, b.stop))
