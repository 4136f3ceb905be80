"""Where the blocks of carriers, auxiliaries and constraints are in Newton's matrix.

Nodes of soft bodies are eliminated in clusters: a block of two clusters holds those of their nodes, row by row. The
others are nodes of the elimination of their own.
"""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import IntArray
from phlexible.algebra.elimination_order import BlockSchedule
from phlexible.system.layout import Layout


@dataclass(frozen=True, eq=False)
class Places:
    """Places by parts: carriers, then auxiliaries, then constraints, by their numbers.

    Attributes:
        layout: of the carriers.
        schedule: of the nodes of the elimination: clusters, then auxiliaries, then constraints.
    """

    layout: Layout
    schedule: BlockSchedule

    def __getitem__(self, pair: tuple[int, int]) -> int:
        """First number of the block (row part, column part)."""
        row, column = pair
        own, other = self.layout.node(row), self.layout.node(column)
        start = self.schedule.places[own, other]
        return (
            start + self.layout.row_in_node(row) * int(self.schedule.size[other]) + self.layout.row_in_node(column)
        )

    def of_carriers(self, rows: IntArray, columns: IntArray) -> IntArray:
        """The same of many pairs of carriers, each of shape (k,)."""
        if not len(rows):
            return np.zeros(0, dtype=np.int64)
        cluster, inside, count = self.layout.cluster, self.layout.row_in_cluster, self.layout.cluster_count
        pairs, number = np.unique(cluster[rows] * count + cluster[columns], return_inverse=True)
        starts = np.array([self.schedule.places[divmod(pair, count)] for pair in pairs.tolist()], dtype=np.int64)
        return starts[number] + inside[rows] * self.schedule.size[cluster[columns]] + inside[columns]

    @property
    def strides(self) -> IntArray:
        """From row to row of blocks in the columns of each carrier, shape (carriers,)."""
        return self.schedule.size[self.layout.cluster]
