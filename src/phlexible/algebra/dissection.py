"""Nested dissection of a graph by minimal cuts."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from phlexible.algebra.arrays import IntArray

# What separates two halves of a graph is eliminated after them, and so on in the halves (George, 1973). The fewest
# rows that separate two ends are a minimal cut, where a flow between the ends is as wide as nodes have rows. Ends
# are taken opposite each other, in two directions and along two sides of the graph; the shortest cut is used.

LEAST_DISSECTED = 120  # nodes
END = 0.3  # of all rows in each of the two ends


def separated(sizes: Sequence[int], later: list[tuple[int, ...]], last: int) -> list[list[int]]:
    """For each node those that a dissection of the nodes from ``last`` on wants eliminated before it.

    Args:
        sizes: rows of each node.
        later: for each node those that an elimination couples it to; those before ``last`` couple the others.
        last: first of the nodes that are dissected.
    """
    count = len(sizes) - last
    cliques = [[other - last for other in others if other >= last] for others in later[:last]]
    member = np.array([node for clique in cliques for node in clique], dtype=np.int64)
    holder = np.repeat(np.arange(len(cliques)), [len(clique) for clique in cliques])
    within = sparse.csr_array((np.ones(len(member)), (member, holder)), shape=(count, len(cliques)))
    coupled = sparse.csr_array(within @ within.T)
    coupled.setdiag(0.0)
    coupled.eliminate_zeros()
    before: list[list[int]] = [[] for _ in sizes]
    rows = np.array(sizes[last:], dtype=np.int64)
    parts = [np.arange(count)]
    while parts:
        nodes = parts.pop()
        if len(nodes) <= LEAST_DISSECTED:
            continue
        graph = coupled[nodes][:, nodes]
        pieces, piece = csgraph.connected_components(graph, directed=False)
        if pieces > 1:
            parts += np.split(nodes[np.argsort(piece, kind="stable")], np.cumsum(np.bincount(piece))[:-1])
            continue
        cut = _least_cut(graph, rows[nodes])
        if cut is None:
            continue
        halves = [nodes[cut == NEAR], nodes[cut == FAR]]
        first = (np.concatenate(halves) + last).tolist()
        for node in nodes[cut == BETWEEN].tolist():
            before[last + node] = first
        parts += halves
    return before


NEAR, BETWEEN, FAR = range(3)


def _least_cut(graph: sparse.csr_array, rows: IntArray) -> IntArray | None:
    """NEAR, BETWEEN or FAR for each node of a connected graph; None: there is no short cut."""
    best, least = None, rows.sum() / 4.0
    for first, second in _ends(graph):
        order = np.argsort(first - second, kind="stable")
        reached = np.cumsum(rows[order])
        near, far = order[reached <= END * reached[-1]], order[reached > (1.0 - END) * reached[-1]]
        if not (len(near) and len(far)):
            continue
        found = _sides(graph, rows, near, far)
        length = rows[found == BETWEEN].sum()
        if length < least:
            best, least = found, length
    return best


def _ends(graph: sparse.csr_array) -> list[tuple[IntArray, IntArray]]:
    """Distances from pairs of nodes that lie opposite each other, or at two ends of a side."""
    start = _distances(graph, int(_distances(graph, 0).argmax()))
    end = _distances(graph, int(start.argmax()))
    middle = np.flatnonzero(abs(start - end) <= 1)
    if not len(middle):
        return [(start, end)]
    left = _distances(graph, int(middle[_distances(graph, int(middle[0]))[middle].argmax()]))
    right = _distances(graph, int(middle[left[middle].argmax()]))
    return [(start, end), (left, right), (start, left), (start, right)]


def _distances(graph: sparse.csr_array, start: int) -> IntArray:
    """Steps to each node."""
    order, before = csgraph.breadth_first_order(graph, start, directed=False)
    found = [0] * len(order)
    for node, other in zip(order[1:].tolist(), before[order[1:]].tolist(), strict=True):
        found[node] = found[other] + 1
    return np.array(found, dtype=np.int64)


def _sides(graph: sparse.csr_array, rows: IntArray, near: IntArray, far: IntArray) -> IntArray:
    """The nodes with the fewest rows between two sets, and the sides of all others.

    A node is a pipe from its entry k to its exit k + n, as wide as it has rows; edges of the graph are wide enough.
    """
    count, (a, b) = len(rows), graph.nonzero()
    wide, begin, end = int(rows.sum()) + 1, 2 * count, 2 * count + 1
    each = np.arange(count)
    tails = np.concatenate([each, a + count, np.full(len(near), begin), far + count])
    heads = np.concatenate([each + count, b, near, np.full(len(far), end)])
    widths = np.concatenate([rows, np.full(len(tails) - count, wide)]).astype(np.int32)
    pipes = sparse.csr_matrix((widths, (tails, heads)), shape=(2 * count + 2,) * 2)
    left = pipes - csgraph.maximum_flow(pipes, begin, end).flow
    left.data = np.maximum(left.data, 0)
    left.eliminate_zeros()
    is_reached = np.zeros(2 * count + 2, dtype=bool)
    is_reached[csgraph.breadth_first_order(left, begin, return_predecessors=False)] = True
    entry, passed = is_reached[:count], is_reached[count:begin]
    return np.where(passed, NEAR, np.where(entry, BETWEEN, FAR))
