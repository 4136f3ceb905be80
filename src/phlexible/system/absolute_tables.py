"""Absolute bodies as the arrays of the kernels: their nodes, masses, strains and laws."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.elimination_order import BlockSchedule
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.mechanics.absolute import with_total
from phlexible.bodies.string.law import LinearLaw, LogarithmicLaw, StringLaw, StVenantKirchhoffLaw
from phlexible.bodies.string.user_law import Law
from phlexible.kernels import laws as kinds
from phlexible.kernels.arrays import AbsoluteArrays
from phlexible.kernels.user_function import UserFunction, user_function
from phlexible.system.body_tables import Pool

KINDS: dict[type[StringLaw], int] = {
    LogarithmicLaw: kinds.LOGARITHMIC,
    LinearLaw: kinds.LINEAR,
    StVenantKirchhoffLaw: kinds.ST_VENANT_KIRCHHOFF,
    Law: kinds.USER,
}


class LawTable:
    """The laws of all strains, each with its viscosity once.

    Attributes:
        functions: of users; they must live as long as their addresses are used.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[StringLaw, float], int] = {}
        self._addresses: list[tuple[int, int]] = []
        self.functions: list[UserFunction] = []

    def add(self, law: StringLaw, viscosity: float) -> int:
        """The number of a law."""
        key = (law, viscosity)
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers)
            addresses = (0, 0)
            if isinstance(law, Law):
                pair = (user_function(law.W), user_function(law.dW))
                self.functions += pair
                addresses = (pair[0].address, pair[1].address)
            self._addresses.append(addresses)
        return self._numbers[key]

    def columns(self) -> tuple[IntArray, IntArray, IntArray, Array, Array]:
        """Kinds, addresses of W and of dW, moduli and viscosities, each of shape (laws,)."""
        addresses = np.array(self._addresses, dtype=np.int64).reshape(-1, 2)
        return (
            np.array([KINDS[type(law)] for law, _ in self._numbers], dtype=np.int64),
            addresses[:, 0].copy(),
            addresses[:, 1].copy(),
            np.array([law.modulus for law, _ in self._numbers], dtype=np.float64),
            np.array([viscosity for _, viscosity in self._numbers], dtype=np.float64),
        )


def node_edges(bodies: Sequence[AbsoluteBody], first: int) -> list[tuple[int, int]]:
    """Pairs of nodes with a common element, as bodies of the tables; ``first``: the first node."""
    edges: list[tuple[int, int]] = []
    for body in bodies:
        above = sparse.triu(_connections(body), 1).tocoo()
        edges += zip((above.row + first).tolist(), (above.col + first).tolist(), strict=True)
        first += body.node_count
    return edges


def absolute_arrays(
    bodies: Sequence[AbsoluteBody],
    first: int,
    velocity_start: IntArray,
    gravity: Array,
    schedule: BlockSchedule,
) -> tuple[AbsoluteArrays, tuple[UserFunction, ...]]:
    """The table of all absolute bodies, and the functions that its addresses point to.

    Args:
        bodies: whose nodes are the bodies of the tables from ``first`` on.
        velocity_start: of all bodies of the tables.
        gravity: shape (3,) [m/s^2].
        schedule: with the places of the blocks.
    """
    places, pool, laws = schedule.places(), Pool(), LawTable()
    pairs: list[tuple[int, int, int]] = []
    masses, weights, node_weights = [], [np.zeros(0)], [np.zeros((0, 3))]
    strain_nodes: list[int] = []
    starts, forms, law_numbers = [0], list[int](), list[int]()
    block_starts, blocks = list[int](), list[int]()
    for body in bodies:
        mass = body.nodal_mass.tocoo()
        for i, j in zip((mass.row + first).tolist(), (mass.col + first).tolist(), strict=True):
            pairs.append((int(velocity_start[i]), int(velocity_start[j]), places[i, j]))
        masses.append(mass.data)
        node_weights.append(np.outer(body.nodal_mass.sum(axis=1), gravity))
        for group in body.strains:
            law, known = laws.add(group.law, group.viscosity), dict[bytes, int]()
            rows = np.hstack([with_total(group.first), with_total(group.second)])
            for nodes, form in zip((group.nodes + first).tolist(), rows, strict=True):
                if (key := form.tobytes()) not in known:
                    known[key] = pool.add(form)
                forms.append(known[key])
                law_numbers.append(law)
                strain_nodes += nodes
                starts.append(len(strain_nodes))
                block_starts.append(len(blocks))
                blocks += [places[i, j] for i in nodes for j in nodes]
            weights.append(group.weights)
        first += body.node_count
    table = np.array(pairs, dtype=np.int64).reshape(-1, 3)
    law_kind, law_energy, law_derivative, modulus, viscosity = laws.columns()
    arrays = AbsoluteArrays(
        pair_row=table[:, 0].copy(),
        pair_column=table[:, 1].copy(),
        pair_block=table[:, 2].copy(),
        pair_mass=np.concatenate([*masses, np.zeros(0)]),
        point_weight=np.concatenate(node_weights),
        start=np.array(starts, dtype=np.int64),
        node=np.array(strain_nodes, dtype=np.int64),
        form=np.array(forms, dtype=np.int64),
        block_start=np.array(block_starts, dtype=np.int64),
        block=np.array(blocks, dtype=np.int64),
        law=np.array(law_numbers, dtype=np.int64),
        weight=np.concatenate(weights),
        law_kind=law_kind,
        law_energy=law_energy,
        law_derivative=law_derivative,
        law_modulus=modulus,
        law_viscosity=viscosity,
        pool=pool.numbers(),
    )
    return arrays, tuple(laws.functions)


def _connections(body: AbsoluteBody) -> sparse.csr_array:
    """Not zero where two nodes have a common mass or strain, shape (N, N)."""
    count = body.node_count
    total = abs(body.nodal_mass)
    for group in body.strains:
        k = group.nodes.shape[1]
        rows, columns = np.repeat(group.nodes, k, axis=1).ravel(), np.tile(group.nodes, (1, k)).ravel()
        total = total + sparse.coo_array((np.ones(len(rows)), (rows, columns)), (count, count)).tocsr()
    return sparse.csr_array(total)
