"""Schedule of a block elimination: order, fill and places of the blocks. Numbers come in the kernels."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import IntArray


@dataclass(frozen=True, eq=False)
class BlockSchedule:
    """A schedule for nodes 0 .. N - 1 with dense blocks in one flat array of ``length`` numbers.

    Attributes:
        order: nodes in the order of their elimination, shape (N,).
        size: rows of each node, shape (N,).
        row_start: first row of each node in a flat right-hand side, shape (N + 1,).
        diagonal: start of each diagonal block, shape (N,).
        neighbour_start: offsets into the next three, shape (N + 1,).
        neighbour: nodes that are coupled to this one and eliminated later.
        upper: start of block (node, neighbour), row by row.
        lower: start of block (neighbour, node), row by row.
        target_start: offsets into ``target``, shape (N + 1,).
        target: start of block (neighbour i, neighbour j), for all i and then all j of a node.
        length: of the flat array of blocks.
    """

    order: IntArray
    size: IntArray
    row_start: IntArray
    diagonal: IntArray
    neighbour_start: IntArray
    neighbour: IntArray
    upper: IntArray
    lower: IntArray
    target_start: IntArray
    target: IntArray
    length: int

    def places(self) -> dict[tuple[int, int], int]:
        """Start of the block (row node, column node) for all blocks, fill included."""
        found = {(int(k), int(k)): int(start) for k, start in enumerate(self.diagonal)}
        for node in range(len(self.size)):
            for i in range(self.neighbour_start[node], self.neighbour_start[node + 1]):
                found[node, int(self.neighbour[i])] = int(self.upper[i])
                found[int(self.neighbour[i]), node] = int(self.lower[i])
        return found


def block_schedule(
    sizes: Sequence[int], edges: Sequence[tuple[int, int]], first: int, carriers: int | None = None
) -> BlockSchedule:
    """The schedule that eliminates nodes 0 .. first - 1 and then the rest by least degree.

    A node from ``carriers`` on (a joint, whose diagonal block is zero) waits until all its neighbours
    before ``carriers`` are eliminated; then what was eliminated is the system of a part of the
    mechanism, which is regular if the whole is.

    Args:
        sizes: rows of each node.
        edges: pairs of coupled nodes.
        first: nodes that come first, in their order (floating bodies: they are not coupled to each other).
        carriers: nodes that carry joints (bodies and nodes of absolute bodies); None: ``first``.
    """
    count = len(sizes)
    carriers = first if carriers is None else carriers
    adjacent: list[set[int]] = [set() for _ in range(count)]
    for a, b in edges:
        adjacent[a].add(b)
        adjacent[b].add(a)
    order: list[int] = []
    later: list[list[int]] = [[] for _ in range(count)]
    waits_for = [sum(k < carriers for k in adjacent[node]) for node in range(count)]

    def eliminate(node: int) -> list[int]:
        """Nodes whose degree changed or that have nothing to wait for any more."""
        order.append(node)
        later[node] = sorted(adjacent[node])
        freed = []
        for other in later[node]:
            adjacent[other].discard(node)
            adjacent[other].update(k for k in later[node] if k != other)
        for other in joints_of[node]:
            waits_for[other] -= 1
            freed.append(other)
        return later[node] + freed

    joints_of = [[k for k in adjacent[node] if k >= carriers > node] for node in range(count)]
    for node in range(first):
        eliminate(node)
    waiting = set(range(first, count))
    by_degree = [(len(adjacent[node]), node) for node in waiting if node < carriers or not waits_for[node]]
    heapq.heapify(by_degree)
    while by_degree:
        degree, node = heapq.heappop(by_degree)
        if node in waiting and degree == len(adjacent[node]):
            waiting.discard(node)
            for other in eliminate(node):
                if other < carriers or not waits_for[other]:
                    heapq.heappush(by_degree, (len(adjacent[other]), other))
    return _places(np.array(sizes, dtype=np.int64), order, later)


def _places(size: IntArray, order: list[int], later: list[list[int]]) -> BlockSchedule:
    length = 0
    place: dict[tuple[int, int], int] = {}

    def reserve(row: int, column: int) -> None:
        nonlocal length
        place[row, column] = length
        length += int(size[row] * size[column])

    for node in range(len(size)):
        reserve(node, node)
        for other in later[node]:
            reserve(node, other)
            reserve(other, node)
    flat = [(node, other) for node in range(len(size)) for other in later[node]]
    targets = [[place[i, j] for i in later[node] for j in later[node]] for node in range(len(size))]
    return BlockSchedule(
        order=np.array(order, dtype=np.int64),
        size=size,
        row_start=_offsets([int(n) for n in size]),
        diagonal=np.array([place[k, k] for k in range(len(size))], dtype=np.int64),
        neighbour_start=_offsets([len(others) for others in later]),
        neighbour=np.array([other for _, other in flat], dtype=np.int64),
        upper=np.array([place[node, other] for node, other in flat], dtype=np.int64),
        lower=np.array([place[other, node] for node, other in flat], dtype=np.int64),
        target_start=_offsets([len(t) for t in targets]),
        target=np.array([start for t in targets for start in t], dtype=np.int64),
        length=length,
    )


def _offsets(counts: list[int]) -> IntArray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
