"""Dense parts that together hold everything of a matrix that is not zero, for loops over neighbouring numbers."""

import numpy as np

from phlexible.algebra.arrays import Array

OVERHEAD = 30  # what a patch costs beside its entries, in entries
WIDEST = 32  # columns of a patch


def patches(matrix: Array) -> list[tuple[slice, slice]]:
    """Rows and columns of rectangles, each with columns of its own, together the cheapest to go through."""
    if not matrix.any():
        return []
    spans, count = _spans(matrix), matrix.shape[1]
    least = [0.0] * (count + 1)  # cost of the columns before each
    begins = [0] * (count + 1)
    for end in range(1, count + 1):
        best, top, bottom = np.inf, matrix.shape[0], 0
        for begin in range(end - 1, max(end - WIDEST, 0) - 1, -1):
            top, bottom = min(top, spans[begin][0]), max(bottom, spans[begin][1])
            cost = least[begin] + (OVERHEAD + (end - begin) * (bottom - top) if bottom > top else 0)
            if cost < best:
                best, begins[end] = cost, begin
        least[end] = best
    found, end = [], count
    while end > 0:
        begin = begins[end]
        top, bottom = (
            pick(each) for pick, each in zip((min, max), zip(*spans[begin:end], strict=True), strict=True)
        )
        if bottom > top:
            found.append((slice(top, bottom), slice(begin, end)))
        end = begin
    return found[::-1]


def _spans(matrix: Array) -> list[tuple[int, int]]:
    """First and one past the last row that is not zero of each column; (rows, 0) where there is none."""
    rows = matrix.shape[0]
    touched = matrix != 0
    first, last = touched.argmax(axis=0), rows - touched[::-1].argmax(axis=0)
    is_empty = ~touched.any(axis=0)
    first[is_empty], last[is_empty] = rows, 0
    return list(zip(first.tolist(), last.tolist(), strict=True))
