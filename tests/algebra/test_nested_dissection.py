"""Clusters of nested dissection hold every node once, are small, and leave little to eliminate."""

import numpy as np
import pytest
import skfem

from phlexible.algebra.elimination import MOST, block_schedule, clusters


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


def test_nodes_at_one_place_are_cut_all_the_same():
    cells = np.arange(90).reshape(-1, 3)
    found = clusters(cells, np.zeros((90, 3)))
    assert np.array_equal(np.sort(np.concatenate(found)), np.arange(90))
