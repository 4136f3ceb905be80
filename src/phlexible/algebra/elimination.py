"""Orders in which sparse systems are eliminated: blocks of a graph, nodes of a mesh."""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from phlexible.algebra.arrays import Array, IntArray

if TYPE_CHECKING:
    from scipy import sparse


# Schedule of a block elimination: order, fill and places of the blocks. Numbers come in the kernels.


@dataclass(frozen=True, eq=False)
class BlockSchedule:
    """A schedule for nodes 0 .. N - 1 with dense blocks in one flat array of ``length`` numbers.

    Attributes:
        order: nodes in the order of their elimination, shape (N,).
        size: rows of each node, shape (N,).
        row_start: first row of each node in a flat right-hand side, shape (N + 1,).
        later: for each node those that are coupled to it and eliminated later.
        places: start of the block (row node, column node) for all blocks, fill included.
        length: of the flat array of blocks.
    """

    order: IntArray
    size: IntArray
    row_start: IntArray
    later: tuple[tuple[int, ...], ...]
    places: dict[tuple[int, int], int]
    length: int


def block_schedule(
    sizes: Sequence[int],
    edges: Iterable[tuple[int, int]],
    waits: Sequence[Iterable[int]],
    own_lengths: Mapping[int, int],
) -> BlockSchedule:
    """The schedule that eliminates in each turn the node whose neighbours have the fewest rows.

    Args:
        sizes: rows of each node.
        edges: pairs of coupled nodes.
        waits: for each node those that have to be eliminated before it.
        own_lengths: numbers in the block (node, node) of nodes where it is not dense.
    """
    count = len(sizes)
    adjacent: list[set[int]] = [set() for _ in range(count)]
    for a, b in edges:
        if a != b:
            adjacent[a].add(b)
            adjacent[b].add(a)
    width = [sum(sizes[k] for k in others) for others in adjacent]
    waiting = [len(set(before)) for before in waits]
    freed_by: list[list[int]] = [[] for _ in range(count)]
    for node, before in enumerate(waits):
        for other in set(before):
            freed_by[other].append(node)
    later: list[tuple[int, ...]] = [()] * count
    order: list[int] = []
    is_left = [True] * count
    queue = [(width[node], node) for node in range(count) if not waiting[node]]
    heapq.heapify(queue)
    while queue:
        known, node = heapq.heappop(queue)
        if not is_left[node] or known != width[node]:
            continue
        is_left[node] = False
        order.append(node)
        others = adjacent[node]
        later[node] = tuple(sorted(others))
        for other in others:
            own = adjacent[other]
            own.discard(node)
            width[other] += sum(sizes[k] for k in others if k != other and k not in own) - sizes[node]
            own |= others
            own.discard(other)
        for other in freed_by[node]:
            waiting[other] -= 1
        for other in {*others, *freed_by[node]}:
            if is_left[other] and not waiting[other]:
                heapq.heappush(queue, (width[other], other))
    return _placed(np.array(sizes, dtype=np.int64), _depth_first(order, later), tuple(later), own_lengths)


def _depth_first(order: list[int], later: list[tuple[int, ...]]) -> list[int]:
    """The same elimination with each node soon after those that it waits for, so that numbers in use are near.

    A node waits for those whose first later neighbour it is; any order that keeps this has the same fill.
    """
    turn = {node: number for number, node in enumerate(order)}
    before: list[list[int]] = [[] for _ in order]
    found: list[int] = []
    stack: list[tuple[int, bool]] = []
    for node in order:
        if later[node]:
            before[min(later[node], key=turn.__getitem__)].append(node)
        else:
            stack.append((node, False))
    while stack:
        node, is_ready = stack.pop()
        if is_ready:
            found.append(node)
        else:
            stack.append((node, True))
            stack += [(each, False) for each in before[node]]
    return found


def _placed(
    size: IntArray, order: list[int], later: tuple[tuple[int, ...], ...], own_lengths: Mapping[int, int]
) -> BlockSchedule:
    """Blocks of a node lie together, nodes in the order of their elimination."""
    places: dict[tuple[int, int], int] = {}
    length = 0
    for node in order:
        pairs = [(node, node)]
        pairs += [pair for other in later[node] for pair in ((node, other), (other, node))]
        for row, column in pairs:
            places[row, column] = length
            dense = int(size[row] * size[column])
            length += own_lengths.get(node, dense) if row == column else dense
    row_start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    return BlockSchedule(np.array(order, dtype=np.int64), size, row_start, later, places, length)


# Nodes of a mesh in clusters that are eliminated one after the other, by nested dissection.
#
# The mesh is halved across its longest direction by the nodes that touch the other half, and its halves again; what
# separates them is eliminated after them. Separators and what is left lie in clusters of a few nodes, whose blocks
# are dense: so that products take blocks, not numbers (George, 1973).

LEAST = 16  # nodes that are not halved any more
MOST = 16  # nodes of a cluster


def clusters(cells: IntArray, places: Array) -> list[IntArray]:
    """Numbers of the nodes of each cluster, in an order of elimination.

    Args:
        cells: nodes of each element, shape (e, k).
        places: of the nodes, shape (N, d).
    """
    from scipy import sparse

    e, k = cells.shape
    touching = sparse.csr_array((np.ones(e * k), (cells.ravel(), np.repeat(np.arange(e), k))), (len(places), e))
    return _parts(touching, np.arange(len(places)), places)


def _parts(touching: "sparse.csr_array", nodes: IntArray, places: Array) -> list[IntArray]:
    """Of some nodes; ``touching``: which elements each is in."""
    if len(nodes) <= LEAST:
        return [nodes] if len(nodes) else []
    own = places[nodes]
    along = own[:, int(np.ptp(own, axis=0).argmax())]
    is_upper = along > np.median(along)
    if not is_upper.any():
        is_upper = along >= np.median(along)
    if is_upper.all():
        return _cut(nodes, own)
    elements = touching[nodes]
    reached = elements[is_upper].sum(axis=0) > 0
    is_separator = ~is_upper & (elements @ reached.astype(np.float64) > 0)
    lower, upper = nodes[~is_upper & ~is_separator], nodes[is_upper]
    separator = nodes[is_separator]
    return [
        *_parts(touching, lower, places),
        *_parts(touching, upper, places),
        *_cut(separator, places[separator]),
    ]


def _cut(nodes: IntArray, places: Array) -> list[IntArray]:
    """Nodes in clusters of neighbours, halved across their longest direction until they are small."""
    if len(nodes) <= MOST:
        return [nodes] if len(nodes) else []
    order = np.argsort(places[:, int(np.ptp(places, axis=0).argmax())], kind="stable")
    half = len(nodes) // 2
    return [*_cut(nodes[order[:half]], places[order[:half]]), *_cut(nodes[order[half:]], places[order[half:]])]
