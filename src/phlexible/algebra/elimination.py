"""Elimination orders for sparse systems: blocks of a graph, nodes of a mesh; null spaces by elimination."""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from phlexible.algebra.arrays import Array, IntArray
from phlexible.errors import RedundancyError

# The separator of two halves of a graph is eliminated after them, recursively (George, 1973). The fewest
# rows that separate two ends are a minimal cut, where a flow between the ends is as wide as nodes have rows. Ends
# are taken opposite each other, in two directions and along two sides of the graph; the shortest cut is used.

LEAST_DISSECTED = 120  # nodes
END = 0.3  # of all rows in each of the two ends


def dissection_predecessors(sizes: Sequence[int], later: list[tuple[int, ...]], last: int) -> list[list[int]]:
    """Order the elimination of a graph by nested dissection: both halves first, the separator between them last,
    recursively. Return for each node the list of nodes that must be eliminated before it: for nodes of a separator
    all nodes of both halves, otherwise none. Nodes before the index ``last`` and parts of at most 120 nodes are
    not dissected. ``sizes`` are the rows of each node, ``later`` the later nodes coupled to it.

    Args:
        sizes: rows of each node.
        later: for each node the later ones to which an elimination couples it; nodes before ``last`` couple others.
        last: first of the nodes that are dissected.
    """
    count = len(sizes) - last
    cliques = [[other - last for other in neighbors if other >= last] for neighbors in later[:last]]
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
    """Find the separator with the fewest matrix rows that divides a connected ``graph`` into two parts. Minimal
    cuts between several pairs of opposite ends are compared; each end has a fixed share of the rows. Return the
    side of each node: NEAR, BETWEEN (separator) or FAR. None if every separator has a quarter of all rows or more.
    ``rows`` is the number of rows of each node."""
    best, least = None, rows.sum() / 4.0
    for first, second in _end_distances(graph):
        order = np.argsort(first - second, kind="stable")
        reached = np.cumsum(rows[order])
        near, far = order[reached <= END * reached[-1]], order[reached > (1.0 - END) * reached[-1]]
        if not (len(near) and len(far)):
            continue
        sides = _minimal_cut(graph, rows, near, far)
        length = rows[sides == BETWEEN].sum()
        if length < least:
            best, least = sides, length
    return best


def _end_distances(graph: sparse.csr_array) -> list[tuple[IntArray, IntArray]]:
    """Return pairs of arrays with the distances (numbers of edges) of all nodes of a graph from two nodes at
    opposite ends. The first pair of ends is found by going twice to the farthest node. Two more ends are found
    among the nodes halfway, which give three more pairs; if there are no nodes halfway, only the first pair is
    returned."""
    start = _distances(graph, int(_distances(graph, 0).argmax()))
    end = _distances(graph, int(start.argmax()))
    middle = np.flatnonzero(abs(start - end) <= 1)
    if not len(middle):
        return [(start, end)]
    left = _distances(graph, int(middle[_distances(graph, int(middle[0]))[middle].argmax()]))
    right = _distances(graph, int(middle[left[middle].argmax()]))
    return [(start, end), (left, right), (start, left), (start, right)]


def _distances(graph: sparse.csr_array, start: int) -> IntArray:
    """Return the distances, as numbers of edges, of all nodes of a connected graph from the node ``start``, by
    breadth-first search, shape (nodes,)."""
    order, before = csgraph.breadth_first_order(graph, start, directed=False)
    distances = [0] * len(order)
    for node, other in zip(order[1:].tolist(), before[order[1:]].tolist(), strict=True):
        distances[node] = distances[other] + 1
    return np.array(distances, dtype=np.int64)


def _minimal_cut(graph: sparse.csr_array, rows: IntArray, near: IntArray, far: IntArray) -> IntArray:
    """Return, for each node of a graph, on which side of a minimal cut between the node sets ``near`` and ``far``
    it lies: NEAR, BETWEEN (in the separator) or FAR, shape (nodes,). The separator has the fewest matrix rows,
    found by maximum flow; ``rows`` are those of each node.

    A node is an arc from its entry k to its exit k + n, whose capacity is its rows; edges have unlimited capacity.
    """
    count, (a, b) = len(rows), graph.nonzero()
    wide, begin, end = int(rows.sum()) + 1, 2 * count, 2 * count + 1
    nodes = np.arange(count)
    tails = np.concatenate([nodes, a + count, np.full(len(near), begin), far + count])
    heads = np.concatenate([nodes + count, b, near, np.full(len(far), end)])
    widths = np.concatenate([rows, np.full(len(tails) - count, wide)]).astype(np.int32)
    pipes = sparse.csr_matrix((widths, (tails, heads)), shape=(2 * count + 2,) * 2)
    left = pipes - csgraph.maximum_flow(pipes, begin, end).flow
    left.data = np.maximum(left.data, 0)
    left.eliminate_zeros()
    is_reached = np.zeros(2 * count + 2, dtype=bool)
    is_reached[csgraph.breadth_first_order(left, begin, return_predecessors=False)] = True
    entry, passed = is_reached[:count], is_reached[count:begin]
    return np.where(passed, NEAR, np.where(entry, BETWEEN, FAR))


# Schedule of a block elimination: order, fill and positions of the blocks. The kernels use it with numbers.
#
# Nodes that are eliminated one after the other are a group where they are coupled to nearly the same later nodes:
# its block is dense, and products with it take blocks of many rows. Later nodes that a group is coupled to lie in
# runs: neighbors in a group.

LARGE_FILL = 48  # number of coupled later rows of a node above which orders and groups are optimized
LINE = 8  # numbers in a cache line, with which long rows of blocks begin: their products take less time
LONG = 6 * LINE
MOST_ROWS = 48  # of a group


@dataclass(frozen=True, eq=False)
class BlockSchedule:
    """Order and storage of a block elimination of N coupled nodes, whose dense blocks lie in one flat array of
    ``length`` numbers.

    Attributes:
        groups: nodes that are eliminated as one block, in the order of elimination.
        size: rows of each node, shape (N,).
        row_start: first row of each node in a flat right-hand side, shape (N,).
        strides: from row to row in the block (node, node), shape (N,).
        indices: start of the diagonal block (node, node) of each node, and of the block (row node, column node) of
            pairs whose first eliminated node cannot be in a group; rows of these are contiguous.
        in_runs: whether runs of a group have several nodes, shape (groups,). All blocks (group, run) are one then,
            side by side, and all blocks (run, group) one below the other.
        run_start: first run of each group, and the number of runs, shape (groups + 1,).
        run_node: first node of each run, shape (runs,).
        run_size: rows of each run, shape (runs,).
        upper: starts of the blocks (group, run), shape (runs,).
        lower: starts of the blocks (run, group), shape (runs,).
        targets: place and stride of the block (run i, run j) for all pairs of runs of each group, j fastest, shape
            (pairs, 2).
        length: of the flat array of blocks.
    """

    groups: tuple[tuple[int, ...], ...]
    size: IntArray
    row_start: IntArray
    strides: IntArray
    indices: dict[tuple[int, int], int]
    in_runs: NDArray[np.bool_]
    run_start: IntArray
    run_node: IntArray
    run_size: IntArray
    upper: IntArray
    lower: IntArray
    targets: IntArray
    length: int

    @property
    def rows(self) -> int:
        """Return the total number of rows of all nodes: the size of the square matrix that this schedule
        eliminates by blocks."""
        return int(self.size.sum())

    @property
    def is_wide(self) -> NDArray[np.bool_]:
        """Return for each group whether it is coupled to at least two runs of later nodes with many rows in total,
        shape (groups,). Their products with one combined block take less time than single ones."""
        fill = np.diff(np.cumsum([0, *self.run_size])[self.run_start])
        return (fill >= LARGE_FILL) & (np.diff(self.run_start) > 1)


def in_lines(count: int) -> int:
    """Return the number of entries that a row of ``count`` numbers occupies in memory. Long rows are padded to
    whole cache lines; short rows are not padded."""
    return count if count < LONG else -(-count // LINE) * LINE


def block_schedule(
    sizes: Sequence[int],
    edges: Iterable[tuple[int, int]],
    waits: Sequence[Iterable[int]],
    diagonal_lengths: Mapping[int, int],
    last: int | None = None,
) -> BlockSchedule:
    """Return the order in which the nodes (block rows) of a matrix with symmetric sparsity pattern are eliminated,
    and where each block is stored. The order is minimum degree or nested dissection, whichever has the lower
    estimated time. ``sizes`` are the rows of each node, ``edges`` the coupled pairs, ``waits`` the nodes that must
    come before each. ``diagonal_lengths`` are storage lengths of diagonal blocks not dense. Nodes before ``last``
    are not grouped.

    If the fill is large, as in grids of loops, the nodes from ``last`` on are dissected if that costs less, and
    nodes with nearly equal columns are eliminated in groups.

    Args:
        sizes: rows of each node.
        edges: pairs of coupled nodes.
        waits: for each node those that must be eliminated before it.
        diagonal_lengths: entries in the block (node, node) of nodes whose block is not dense.
        last: nodes from this number on may be in groups; they are only coupled to nodes that they wait for. None:
            there are none.
    """
    sizes, edges, waits = list(sizes), list(edges), [list(before) for before in waits]
    last = len(sizes) if last is None else last
    order, later = elimination_order(sizes, edges, waits)
    if max((_row_count(sizes, dissected_later) for dissected_later in later[last:]), default=0) < LARGE_FILL:
        return _block_storage(sizes, [(node,) for node in order], later, diagonal_lengths, len(sizes))
    groups = _node_groups(sizes, order, later, last)
    dissected = dissection_predecessors(sizes, later, last)
    if any(dissected):
        more = [[*before, *after] for before, after in zip(waits, dissected, strict=True)]
        order, dissected_later = elimination_order(sizes, edges, more)
        dissected_groups = _node_groups(sizes, order, dissected_later, last)
        if _elimination_time(sizes, dissected_groups, dissected_later) < _elimination_time(sizes, groups, later):
            groups, later = dissected_groups, dissected_later
    return _block_storage(sizes, groups, later, diagonal_lengths, last)


def elimination_order(
    sizes: Sequence[int], edges: Iterable[tuple[int, int]], waits: Sequence[Iterable[int]]
) -> tuple[list[int], list[tuple[int, ...]]]:
    """Return the nodes of a graph in the order of elimination by minimum degree: the next node is the one whose
    neighbours have the fewest rows. Nodes are then sorted depth-first in the elimination tree, with the same fill.
    Return also the later nodes to which each node is coupled at its elimination. ``sizes`` are the rows of each
    node, ``edges`` coupled pairs, ``waits`` nodes that must come before it."""
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
        old_width, node = heapq.heappop(queue)
        if not is_left[node] or old_width != width[node]:
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
    return _depth_first(order, later), later


def _depth_first(order: list[int], later: list[tuple[int, ...]]) -> list[int]:
    """Return the nodes of an elimination ``order`` in postorder of the elimination tree, found by depth-first
    search. In this tree, the parent of a node is its first later neighbour. Each node then follows soon after the
    nodes that must precede it, so that memory access is local; the fill is unchanged. ``later`` are the later
    nodes to which each node is coupled.

    A node waits for those whose first later neighbour it is; any order that keeps this has the same fill.
    """
    position = {node: number for number, node in enumerate(order)}
    before: list[list[int]] = [[] for _ in order]
    result: list[int] = []
    stack: list[tuple[int, bool]] = []
    for node in order:
        if later[node]:
            before[min(later[node], key=position.__getitem__)].append(node)
        else:
            stack.append((node, False))
    while stack:
        node, is_ready = stack.pop()
        if is_ready:
            result.append(node)
        else:
            stack.append((node, True))
            stack += [(earlier, False) for earlier in before[node]]
    return result


def _node_groups(
    sizes: Sequence[int], order: list[int], later: list[tuple[int, ...]], last: int
) -> list[tuple[int, ...]]:
    """Join nodes of a block elimination into groups (supernodes) where the estimated time decreases. A group joins
    the first later node to which it is coupled; groups with most later rows are tried first. Joint groups have at
    most 48 rows. Return the groups in elimination order. ``later`` has the later nodes coupled to each node,
    ``sizes`` its number of rows, ``order`` the elimination order. Nodes below ``last`` are in no group."""
    position = {node: number for number, node in enumerate(order)}
    fill = [_row_count(sizes, others) for others in later]
    groups: dict[int, tuple[int, ...]] = {}  # by their last nodes
    rows: dict[int, int] = {}
    joining: dict[int, list[int]] = {}
    for node in order:
        members: tuple[int, ...] = (node,)
        count = sizes[node]
        for group in sorted(joining.pop(node, ()), key=lambda last_node: -fill[last_node]):
            joint_rows = rows[group] + count
            separate_cost = _group_time(rows[group], fill[group]) + _group_time(count, fill[node])
            if joint_rows <= MOST_ROWS and _group_time(joint_rows, fill[node]) < separate_cost:
                members, count = groups.pop(group) + members, joint_rows
        groups[node], rows[node] = members, count
        if node >= last and later[node]:
            follower = min(later[node], key=position.__getitem__)
            if follower >= last:
                joining.setdefault(follower, []).append(node)
    return list(groups.values())


def _row_count(sizes: Sequence[int], nodes: Iterable[int]) -> int:
    """Return the total number of matrix rows of the given nodes of a graph; ``sizes`` are the rows of all nodes."""
    return sum(sizes[node] for node in nodes)


def _elimination_time(sizes: Sequence[int], groups: list[tuple[int, ...]], later: list[tuple[int, ...]]) -> float:
    """Return the estimated time [ns] of a whole block elimination with the given groups of nodes; ``later``
    are the nodes that are eliminated after a node and coupled to it. ``sizes`` are the rows of each node."""
    return sum(_group_time(_row_count(sizes, nodes), _row_count(sizes, later[nodes[-1]])) for nodes in groups)


def _group_time(rows: int, fill: int) -> float:
    """Return the estimated time [ns] for the elimination of one group of nodes: a dense block of ``rows`` rows that
    is coupled to ``fill`` rows that are eliminated later."""
    product = (0.1 * rows + 0.4) * fill**2  # all numbers of the later blocks are read and written
    return 0.25 * rows**3 + 0.2 * rows**2 * fill + product + 100.0


def _block_storage(
    sizes: list[int],
    groups: list[tuple[int, ...]],
    later: list[tuple[int, ...]],
    diagonal_lengths: Mapping[int, int],
    last: int,
) -> BlockSchedule:
    """Return the order and the storage of a block elimination as a ``BlockSchedule``, from its groups of
    nodes: positions of all dense blocks in one flat array of numbers. ``sizes`` are the rows of each node,
    ``later`` the later nodes to which it is coupled, ``diagonal_lengths`` the lengths of diagonal blocks that
    are not dense, and nodes before ``last`` are in no group. Blocks of a group of nodes are stored
    contiguously.

    Nodes that cannot be in groups have blocks of single nodes, since others write into them. So have all groups
    that are eliminated before and coupled to them, since their products are written there. In other groups the rows
    of all blocks above are contiguous.
    """
    size = np.array(sizes, dtype=np.int64)
    group_of, inside, strides = [0] * len(sizes), [0] * len(sizes), list(sizes)
    for number, members in enumerate(groups):
        count = sum(sizes[node] for node in members)
        row = 0
        for node in members:
            group_of[node], inside[node], strides[node] = number, row, count
            row += sizes[node]
    row_start = np.cumsum(size) - size
    if len(groups) < len(sizes):
        grouped = np.array([node for members in groups for node in members if node >= last], dtype=np.int64)
        row_start[grouped] = row_start[last] + np.cumsum(size[grouped]) - size[grouped]
    in_runs = [False] * len(groups)
    for number in range(len(groups) - 1, -1, -1):
        top = groups[number][-1]
        in_runs[number] = top >= last and all(in_runs[group_of[other]] for other in later[top])
    indices: dict[tuple[int, int], int] = {}
    length, run_start = 0, [0]
    runs: list[tuple[int, int, int, int]] = []
    parts: list[tuple[int, int, int, int, int]] = []  # of runs: group, node, its places, stride above
    for number, members in enumerate(groups):
        top, count = members[-1], strides[members[-1]]
        for node in members:
            indices[node, node] = length + inside[node] * (count + 1)
        width, reached = in_lines(_row_count(sizes, later[top])), 0
        begin = length + diagonal_lengths.get(top, count * count)
        begin = in_lines(begin) if width >= LONG else begin
        below, length = begin + count * width, begin + 2 * count * width
        for run in _storage_runs(later[top], sizes, group_of, inside, in_runs[number]):
            rows = _row_count(sizes, run)
            lower = below + reached * count
            stride, upper = (width, begin + reached) if in_runs[number] else (rows, begin + reached * count)
            runs.append((run[0], rows, upper, lower))
            for node in run:
                parts.append((number, node, upper, lower, stride))
                upper, lower = upper + sizes[node], lower + sizes[node] * count
            if top < last:
                indices[top, run[0]], indices[run[0], top] = runs[-1][2:]
            reached += rows
        run_start.append(len(runs))
    first, rows_of, above, under = np.array(runs, dtype=np.int64).reshape(-1, 4).T
    starts = np.array(run_start, dtype=np.int64)
    own_place = np.array([indices[node, node] for node in range(len(sizes))], dtype=np.int64)
    table = np.array([group_of, inside, strides, own_place.tolist()], dtype=np.int64)
    targets = _product_positions(starts, first, table, np.array(parts, dtype=np.int64).reshape(-1, 5).T)
    return BlockSchedule(
        tuple(groups),
        size,
        row_start,
        table[2],
        indices,
        np.array(in_runs, dtype=np.bool_),
        starts,
        first,
        rows_of,
        above,
        under,
        targets,
        length,
    )


def _storage_runs(
    nodes: Sequence[int], sizes: list[int], group_of: list[int], inside: list[int], in_runs: bool
) -> list[list[int]]:
    """Split nodes into lists of nodes whose rows follow one another in the storage of one group (supernode). The
    blocks of such a list form one larger dense block. If not ``in_runs``, return one list for each node instead,
    ascending. ``sizes`` has the number of rows of each node, ``group_of`` its group, ``inside`` its first row in
    the group."""
    if not in_runs:
        return [[node] for node in sorted(nodes)]
    runs: list[list[int]] = []
    end = (-1, 0)
    for node in sorted(nodes, key=lambda node: (group_of[node], inside[node])):
        begin = group_of[node], inside[node]
        if begin == end:
            runs[-1].append(node)
        else:
            runs.append([node])
        end = begin[0], begin[1] + sizes[node]
    return runs


def _product_positions(run_start: IntArray, run_node: IntArray, nodes: IntArray, parts: IntArray) -> IntArray:
    """Return where a block elimination adds each product of a block below the diagonal and a block right of it.
    The result, shape (pairs, 2), is the position and row stride of the target block in the flat array of all
    blocks. There is one row for each pair (run i, run j) of runs (nodes stored contiguously) of one group.
    ``parts`` are the nodes that are coupled to the group of each run.

    Args:
        run_start, run_node: as of a ``BlockSchedule``.
        nodes: group of each node, first row in it, stride and position of its diagonal block, shape (4, N).
        parts: for each node of each run the group that is coupled to it, the node, the starts of its blocks above
            and below, the stride above, shape (5, parts).
    """
    counts = np.diff(run_start)
    sizes = np.repeat(counts, counts)  # number of runs in the group of each run
    first = np.repeat(np.arange(len(run_node)), sizes)
    second = np.arange(len(first)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + run_start[:-1].repeat(counts**2)
    a, b = run_node[first], run_node[second]
    group, inside, stride, diagonal = nodes
    result = np.stack([diagonal[a] + inside[b] - inside[a], stride[a]], axis=1)  # in one group
    count = nodes.shape[1]
    key = parts[0] * count + parts[1]
    by_key = np.argsort(key)
    above, below = group[a] < group[b], group[a] > group[b]
    index = by_key[np.searchsorted(key, group[a[above]] * count + b[above], sorter=by_key)]
    result[above] = np.stack([parts[2, index] + inside[a[above]] * parts[4, index], parts[4, index]], axis=1)
    index = by_key[np.searchsorted(key, group[b[below]] * count + a[below], sorter=by_key)]
    result[below] = np.stack([parts[3, index] + inside[b[below]], stride[b[below]]], axis=1)
    return result


# Nodes of a mesh in clusters that are eliminated one after the other, by nested dissection.
#
# The mesh is halved across its longest direction by the nodes that are adjacent to the other half, recursively; the
# separator is eliminated after both halves. Separators and the smallest parts are clusters of a few nodes, whose
# blocks are dense, so that products are those of blocks (George, 1973).

LEAST = 12  # number of nodes that are not halved any more
MOST = 12  # nodes of a cluster
NEARLY = 0.99  # of the longest extent


def clusters(cells: IntArray, positions: Array, least: int = LEAST) -> list[IntArray]:
    """Split the nodes of a finite-element mesh into clusters of at most 12 neighbouring nodes, in an order of
    elimination by nested dissection. Return an array of node indices for each cluster. The elements have the
    nodes ``cells``, shape (e, k), and the nodes are at ``positions``, shape (N, d).

    Args:
        cells: nodes of each element, shape (e, k).
        positions: of the nodes, shape (N, d).
        least: number of nodes that are not halved any more.
    """
    e, k = cells.shape
    touching = sparse.csr_array((np.ones(e * k), (cells.ravel(), np.repeat(np.arange(e), k))), (len(positions), e))
    return _dissected_clusters(touching, np.arange(len(positions)), positions, least)


def _dissected_clusters(touching: sparse.csr_array, nodes: IntArray, points: Array, least: int) -> list[IntArray]:
    """Split nodes of a mesh into clusters by nested dissection, and return their index arrays in elimination
    order. Nodes are halved at the median along their longest extent. Clusters of the lower half come first, then
    of the upper half, then of the separator between them, recursively down to ``least`` nodes. ``touching``
    (nodes, elements) has an entry where a node belongs to an element; ``points`` are all positions."""
    if len(nodes) <= least:
        return [nodes] if len(nodes) else []
    positions = points[nodes]
    along = positions[:, _longest_axis(positions)]
    is_upper = along > np.median(along)
    if not is_upper.any():
        is_upper = along >= np.median(along)
    if is_upper.all():
        return _cut_nodes(nodes, positions)
    elements = touching[nodes]
    reached = elements[is_upper].sum(axis=0) > 0
    is_separator = ~is_upper & (elements @ reached.astype(np.float64) > 0)
    lower, upper = nodes[~is_upper & ~is_separator], nodes[is_upper]
    separator = nodes[is_separator]
    return [
        *_dissected_clusters(touching, lower, points, least),
        *_dissected_clusters(touching, upper, points, least),
        *_cut_nodes(separator, points[separator]),
    ]


def _longest_axis(positions: Array) -> int:
    """Return the first axis along which ``positions`` (N, d) extend nearly farthest: a mesh keeps its order where
    it becomes a little longer than wide, as in derivatives with respect to its sides."""
    extents = np.ptp(positions, axis=0)
    return int((extents > NEARLY * extents.max()).argmax())


def _cut_nodes(nodes: IntArray, positions: Array) -> list[IntArray]:
    """Split nodes of a mesh into clusters of at most 12 neighbours, by halving repeatedly across the longest
    extent of their ``positions``. Return a list of index arrays; no nodes give an empty list."""
    if len(nodes) <= MOST:
        return [nodes] if len(nodes) else []
    order = np.argsort(positions[:, _longest_axis(positions)], kind="stable")
    lower, upper = np.split(order, [len(nodes) // 2])
    return [*_cut_nodes(nodes[lower], positions[lower]), *_cut_nodes(nodes[upper], positions[upper])]


# Sparse null spaces, such as the motions that joints allow.

# A sparse basis of the motions that joints allow: range P = null G ([B] 5.3, read x = P x_hat).
#
# Gauss-Jordan elimination of the rows of G by sparse rows; a pivot is the entry whose column is in
# fewest rows, among those not much smaller than the largest of their row, so that P stays local.

RELATIVE_PIVOT = 0.1
DEPENDENT = 1e-10


@dataclass(frozen=True, eq=False)
class NullSpace:
    """Sparse basis P of the null space of a matrix, shape (n, m). Its rows ``free`` form an identity, and ``rows``
    are independent rows of the matrix.
    """

    basis: sparse.csr_array
    free: IntArray
    rows: IntArray


def null_space_basis(
    matrix: sparse.csr_array, weights: Array | None = None, allow_dependent: bool = False
) -> sparse.csr_array:
    """Return a sparse basis of the null space of a constraint ``matrix`` of shape (rows, n), i.e. of the motions
    that it allows, as columns, shape (n, m). Pivots are compared in units of the coordinates, ``weights`` of
    shape (n,). Dependent rows are left out if ``allow_dependent``, else they raise ``RedundancyError``."""
    return null_space(matrix, weights, allow_dependent).basis


def null_space(matrix: sparse.csr_array, weights: Array | None = None, allow_dependent: bool = False) -> NullSpace:
    """Compute a sparse basis of the null space of a ``matrix`` (rows, n) by Gauss-Jordan elimination. The shortest
    row is eliminated next; its pivot is the column with fewest entries among the large ones. Entries are compared
    in units of the coordinates, ``weights`` (n,). The basis is an identity for the free coordinates. Dependent
    rows are left out if ``allow_dependent``, else they raise ``RedundancyError``.

    Args:
        matrix: G, shape (rows, n).
        weights: size of one unit of each coordinate, shape (n,), in which pivots are compared.
        allow_dependent: rows that repeat others are left out instead of refused.

    Raises:
        RedundancyError: rows that depend on each other.
    """
    count, n = matrix.shape
    weight = np.ones(n) if weights is None else weights
    rows: list[dict[int, float]] = []
    holders: dict[int, set[int]] = {}
    for number in range(count):
        begin, end = matrix.indptr[number : number + 2]
        largest = np.abs(matrix.data[begin:end] * weight[matrix.indices[begin:end]]).max(initial=0.0)
        row = {
            int(column): float(value)
            for column, value in zip(matrix.indices[begin:end], matrix.data[begin:end], strict=True)
            if abs(value) * weight[column] > 1e-15 * largest
        }
        rows.append(row)
        for column in row:
            holders.setdefault(column, set()).add(number)
    lengths = [max((abs(v) * weight[c] for c, v in row.items()), default=0.0) for row in rows]
    pivots: dict[int, int] = {}
    queue = [(len(row), number) for number, row in enumerate(rows)]
    heapq.heapify(queue)
    while queue:
        size, number = heapq.heappop(queue)
        if number in pivots:
            continue
        row = rows[number]
        if len(row) > size:
            heapq.heappush(queue, (len(row), number))
            continue
        largest = max((abs(v) * weight[c] for c, v in row.items()), default=0.0)
        if not largest > DEPENDENT * lengths[number]:
            if allow_dependent:
                for column in row:
                    holders[column].discard(number)
                row.clear()
                continue
            raise RedundancyError(f"row {number} of the constraint matrix depends on other rows")
        candidates = [c for c, v in row.items() if abs(v) * weight[c] >= RELATIVE_PIVOT * largest]
        pivot = min(candidates, key=lambda c: (len(holders[c]), -abs(row[c]) * weight[c], c))
        scale = 1 / row[pivot]
        for column in row:
            row[column] *= scale
        pivots[number] = pivot
        for other in list(holders[pivot]):
            if other != number:
                _eliminate(rows[other], row, pivot, other, holders)
    return _basis(rows, pivots, n)


def _eliminate(
    target: dict[int, float], row: dict[int, float], pivot: int, number: int, holders: dict[int, set[int]]
) -> None:
    factor = target.pop(pivot)
    holders[pivot].discard(number)
    for column, value in row.items():
        if column == pivot:
            continue
        known = target.get(column)
        if known is None:
            target[column] = -factor * value
            holders[column].add(number)
            continue
        new = known - factor * value
        if abs(new) <= 1e-15 * abs(known):
            del target[column]
            holders[column].discard(number)
        else:
            target[column] = new


def _basis(rows: list[dict[int, float]], pivots: dict[int, int], n: int) -> NullSpace:
    free = np.setdiff1d(np.arange(n), np.array(list(pivots.values()), dtype=np.int64))
    index = np.full(n, -1)
    index[free] = np.arange(len(free))
    i, j, values = [free], [np.arange(len(free))], [np.ones(len(free))]
    for number, pivot in pivots.items():
        others = [(index[c], -v) for c, v in rows[number].items() if c != pivot]
        if others:
            columns, entries = zip(*others, strict=True)
            i.append(np.full(len(columns), pivot))
            j.append(np.array(columns))
            values.append(np.array(entries))
    entries_ij = (np.concatenate(i), np.concatenate(j))
    basis = sparse.coo_array((np.concatenate(values), entries_ij), (n, len(free))).tocsr()
    return NullSpace(basis, free.astype(np.int64), np.sort(np.array(list(pivots), dtype=np.int64)))
