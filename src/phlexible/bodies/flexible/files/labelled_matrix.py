"""A matrix of a finite element program with the unknowns that its rows belong to."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import IntArray
from phlexible.errors import ParameterError


@dataclass(frozen=True, eq=False)
class LabelledMatrix:
    """What ``read_matrices`` finds.

    Attributes:
        matrix: shape (N, N) or (rows, columns); of symmetric ones both halves.
        nodes: the program's number of the node of each unknown, shape (N,); empty: the file has no labels.
        components: 1, 2, 3 displacements and 4, 5, 6 rotations along the axes, 0: a scalar, shape (N,).
    """

    matrix: sparse.csr_array
    nodes: IntArray
    components: IntArray

    def ordered(self, nodes: Sequence[int], components: Sequence[int] = (1, 2, 3)) -> sparse.csr_array:
        """The matrix with its unknowns node after node as ``FlexibleBody.from_matrices`` takes them.

        Args:
            nodes: numbers of the program, in the order of the places that go with them; then come scalars.
            components: of each node; what the file does not have is zero.

        Raises:
            ParameterError: a file without labels, or unknowns that are left out.
        """
        if not len(self.nodes):
            raise ParameterError("the file has no labels of nodes: its unknowns stay in their order, take .matrix")
        places = {(int(n), int(c)): k for k, (n, c) in enumerate(zip(self.nodes, self.components, strict=True))}
        wanted = [(int(node), int(c)) for node in nodes for c in components]
        wanted += [label for label in places if label[1] == 0]
        if left := [label for label in places if label not in set(wanted)]:
            shown = ", ".join(f"{node}.{c}" for node, c in left[:6])
            raise ParameterError(
                f"{len(left)} unknowns of the file are left out (node.component: {shown}); name them"
            )
        rows = [k for k, label in enumerate(wanted) if label in places]
        columns = [places[wanted[k]] for k in rows]
        take = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(wanted), len(places)))
        return sparse.csr_array(take @ self.matrix @ take.T)


def labelled(entries: dict[tuple[tuple[int, int], tuple[int, int]], float], is_symmetric: bool) -> LabelledMatrix:
    """Of entries by (node, component) of row and column; of a symmetric matrix one half is enough."""
    labels = sorted({label for pair in entries for label in pair}, key=lambda label: (label[1] == 0, *label))
    number = {label: k for k, label in enumerate(labels)}
    rows = np.array([number[row] for row, _ in entries], dtype=np.int64)
    columns = np.array([number[column] for _, column in entries], dtype=np.int64)
    values = np.array(list(entries.values()), dtype=np.float64)
    if is_symmetric:
        keys = set(zip(rows.tolist(), columns.tolist(), strict=True))
        other = np.array(
            [(c, r) not in keys for r, c in zip(rows.tolist(), columns.tolist(), strict=True)], dtype=bool
        )
        rows, columns = np.concatenate([rows, columns[other]]), np.concatenate([columns, rows[other]])
        values = np.concatenate([values, values[other]])
    matrix = sparse.csr_array((values, (rows, columns)), shape=(len(labels),) * 2)
    nodes, components = np.array(labels, dtype=np.int64).reshape(-1, 2).T
    return LabelledMatrix(matrix, nodes, components)


def unlabelled(matrix: sparse.sparray) -> LabelledMatrix:
    """A matrix without names of its unknowns."""
    empty = np.zeros(0, dtype=np.int64)
    return LabelledMatrix(sparse.csr_array(matrix), empty, empty)
