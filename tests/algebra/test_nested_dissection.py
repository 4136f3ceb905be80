"""Clusters and cuts of nested dissection hold every node once, are small, and leave little to eliminate."""

import numpy as np
import pytest
import skfem
from scipy import sparse
from scipy.sparse import csgraph

from phlexible.algebra.elimination import (
    LEAST_DISSECTED,
    MOST,
    block_schedule,
    clusters,
    dissection_predecessors,
    elimination_order,
)


def numbers(cells, found):
    """Numbers of 1 x 1 blocks that an elimination of these clusters holds."""
    owner = np.zeros(cells.max() + 1, dtype=np.int64)
    for number, cluster in enumerate(found):
        owner[cluster] = number
    pairs = {(int(a), int(b)) for cell in owner[cells] for a in cell for b in cell if a < b}
    return block_schedule([len(each) for each in found], pairs, [()] * len(found), {}).length


@pytest.mark.parametrize(
    "mesh", [skfem.MeshTri.init_tensor(*[np.linspace(0, 1, 25)] * 2), skfem.MeshTet().refined(3)]
)
def test_every_node_is_in_one_small_cluster(mesh):
    found = clusters(mesh.t.T, mesh.p.T)
    assert np.array_equal(np.sort(np.concatenate(found)), np.arange(mesh.p.shape[1]))
    assert max(len(each) for each in found) <= MOST


def test_memory_grows_as_nested_dissection_says():
    """On a square grid of N nodes about as N log N: four times the nodes, less than six times the numbers."""
    sizes = []
    for n in (49, 97):
        mesh = skfem.MeshTri.init_tensor(*[np.linspace(0, 1, n)] * 2)
        sizes.append(numbers(mesh.t.T, clusters(mesh.t.T, mesh.p.T)))
    assert sizes[1] < 0.6 * 2 * 97**3  # a band
    assert sizes[1] < 6 * sizes[0]


def net(side):
    """Bodies along the lines of a square net, constraints where they meet: sizes, edges, what waits for what."""
    meets = np.arange(side * side).reshape(side, side)
    pairs = np.concatenate([np.stack([each[:-1].ravel(), each[1:].ravel()], axis=1) for each in (meets, meets.T)])
    bodies = len(pairs)
    edges = [(body, bodies + int(meet)) for body, both in enumerate(pairs) for meet in both]
    waits = [[] for _ in range(bodies + side * side)]
    for body, meet in edges:
        waits[meet].append(body)
    return [3] * bodies + [2] * side * side, edges, waits, bodies


def test_a_net_is_halved_by_no_more_than_a_line_of_it():
    side = 20
    sizes, edges, waits, first = net(side)
    _, later = elimination_order(sizes, edges, waits)
    before = dissection_predecessors(sizes, later, first)
    most = max(before, key=len)
    cut = [node for node, own in enumerate(before) if len(own) == len(most)]
    assert len(cut) <= side and sorted([*cut, *most]) == list(range(first, len(sizes)))
    left = [(body, meet) for body, meet in edges if meet not in cut]
    matrix = sparse.coo_array((np.ones(len(left)), np.array(left).T), shape=(len(sizes),) * 2)
    part = csgraph.connected_components(matrix, directed=False)[1][most]
    assert np.bincount(part)[np.unique(part)].min() > 0.2 * side**2
    assert len(np.unique(part)) == 2
    assert min(map(len, filter(None, before))) > LEAST_DISSECTED - 2 * side


def test_few_blocks_are_left_where_nets_are_eliminated_in_groups():
    sizes, edges, waits, first = net(24)
    alone = block_schedule(sizes, edges, waits, {})
    schedule = block_schedule(sizes, edges, waits, {}, first)
    assert sorted(node for own in schedule.groups for node in own) == list(range(len(sizes)))
    assert len(schedule.targets) < 0.3 * len(alone.targets)
    assert schedule.length < 1.1 * alone.length
