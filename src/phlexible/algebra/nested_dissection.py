"""Nodes of a mesh in clusters that are eliminated one after the other, by nested dissection.

The mesh is halved across its longest direction by the nodes that touch the other half, and its halves again; what
separates them is eliminated after them. Separators and what is left lie in clusters of a few nodes, whose blocks
are dense: so that products take blocks, not numbers (George, 1973).
"""

from typing import TYPE_CHECKING

import numpy as np

from phlexible.algebra.arrays import Array, IntArray

if TYPE_CHECKING:
    from scipy import sparse

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
