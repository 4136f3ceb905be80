"""Stored instants as the kernel writes them, and their parts as states have them."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.system.assembly import Assembly
from phlexible.time_integration.packing import PackedSystem


@dataclass(frozen=True, eq=False)
class StoredRows:
    """Rows of numbers, a row an instant.

    Attributes:
        rows: shape (instants, ``PackedSystem.stored_width``).
        assembly: whose they are.
    """

    rows: Array
    assembly: Assembly

    def first(self, count: int) -> "StoredRows":
        """The first ``count`` instants."""
        return StoredRows(self.rows[:count], self.assembly)

    @property
    def energy(self) -> Array:
        """Kinetic, strain, gravity and spring, shape (instants, 4) [J]."""
        return self._part(0)

    @property
    def dissipated(self) -> Array:
        """Shape (instants,) [J]."""
        return self._part(1)[:, 0]

    @property
    def iterations(self) -> Array:
        """Shape (instants,)."""
        return self._part(2)[:, 0]

    @property
    def position(self) -> Array:
        """As in ``State``, with time first."""
        framed, bodies = self.assembly.floating, len(self.assembly.mechanism.bodies)
        position = np.zeros((len(self.rows), bodies, 3))
        position[:, :framed] = self._carriers()[:, :framed]
        return position

    @property
    def rotation(self) -> Array:
        """As in ``State``, with time first."""
        framed, bodies = self.assembly.floating, len(self.assembly.mechanism.bodies)
        rotation = np.tile(np.eye(3), (len(self.rows), bodies, 1, 1))
        rotation[:, :framed] = self._part(4).reshape(len(self.rows), framed, 3, 3)
        return rotation

    @property
    def elastic(self) -> Array:
        """As in ``State``, with time first."""
        nodes = self._carriers()[:, self.assembly.floating :, : self.assembly.bodies.dimension]
        return np.concatenate([self._part(5), nodes.reshape(len(self.rows), -1)], axis=1)

    @property
    def velocity(self) -> Array:
        """As in ``State``, with time first."""
        return self._part(6)

    @property
    def work(self) -> Array:
        """By loads, then on links, shape (instants, loads + links) [J]."""
        return self._part(7)

    @property
    def coordinates(self) -> Array:
        """Of force elements, shape (instants, forces)."""
        return self._part(8)

    @property
    def multipliers(self) -> Array:
        """Of joints, drives and elements, shape (instants, rows)."""
        return self._part(9)

    def _carriers(self) -> Array:
        """Origins of the bodies with a frame, then nodes, shape (instants, bodies of the tables, 3)."""
        return self._part(3).reshape(len(self.rows), -1, 3)

    def _part(self, number: int) -> Array:
        """A view of one part of all rows, in the order of ``kernels.loop.write_row``."""
        assembly = self.assembly
        bodies = assembly.bodies
        sources = len(assembly.loads.kind) + assembly.links
        sizes = [4, 1, 1, 3 * len(bodies.type_of), 9 * assembly.floating, int(bodies.elastic_start[-1])]
        sizes += [int(bodies.velocity_start[-1]), sources]
        sizes += [len(assembly.forces), len(assembly.couplings.constant)]
        begin = sum(sizes[:number])
        return self.rows[:, begin : begin + sizes[number]]


def stored_rows(assembly: Assembly, system: PackedSystem, instants: int) -> StoredRows:
    """Room for so many instants."""
    return StoredRows(np.zeros((instants, system.stored_width)), assembly)
