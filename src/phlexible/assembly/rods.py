"""Strains of rods as tables of the kernels (docs/theory.md, 8)."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.assembly.bands import Tables
from phlexible.bodies.floating_body import FloatingBody
from phlexible.interactions.rods.rod_element import KEPT, RodElement
from phlexible.system.layout import offsets
from phlexible.system.system import System


class RodPoint(NamedTuple):
    """A quadrature point: the number of its first force, the frames of its sections, their N and S, and L."""

    force: int
    sections: tuple[int, ...]
    values: Array
    slopes: Array
    shares: Array


class RodTables:
    """The rods of a system whose sections turn about their centres of mass; others are general functions.

    Attributes:
        points: of all their elements.
        forces: numbers of the forces that are their strains.
    """

    def __init__(self, system: System) -> None:
        self._dimension, self._strains = system.dimension, len(KEPT[system.dimension])
        self.points: list[RodPoint] = []
        self._layout = system.layout
        found: dict[int, tuple[RodElement, int]] = {}
        for number, (element, _) in enumerate(system.forces):
            if isinstance(element, RodElement) and id(element) not in found:
                found[id(element)] = (element, number)
        for element, first in found.values():
            if not all(_turns_about_its_centre(placed.data) for placed in element.nodes):
                continue
            sections = tuple(system.index[placed] for placed in element.nodes)
            shape, shares = element.shape, element.shares(system.dimension)
            for k, own in enumerate(shares):
                place = first + k * self._strains
                self.points.append(RodPoint(place, sections, shape.values[k], shape.slopes[k], own))
        self.forces = frozenset(point.force + k for point in self.points for k in range(self._strains))

    def edges(self) -> set[tuple[int, int]]:
        """Pairs of frames that share an element."""
        return {(a, b) for point in self.points for a in point.sections for b in point.sections if a < b}

    def sections(self) -> IntArray:
        """All frames that are sections."""
        return np.unique(np.array([b for point in self.points for b in point.sections], dtype=np.int64))

    def tables(self, places: Mapping[tuple[int, int], int]) -> tuple[dict[str, int], Tables]:
        """Counts and tables, with the places of the blocks of pairs of sections."""
        points = self.points
        counts = [len(point.sections) for point in points]
        blocks = [places[a, b] for point in points for a in point.sections for b in point.sections]
        totals = {
            "rod_points": len(points),
            "rod_strains": self._strains,
            "rod_nodes": sum(counts),
            "rod_pairs": len(blocks),
        }
        return totals, {
            "rod_first": offsets(counts)[:-1],
            "rod_count": np.array(counts, dtype=np.int64),
            "rod_force": np.array([point.force for point in points], dtype=np.int64),
            "rod_pair": offsets([count**2 for count in counts])[:-1],
            "rod_node": np.array([b for point in points for b in point.sections], dtype=np.int64),
            "rod_block": np.array(blocks, dtype=np.int64),
            "rod_value": np.concatenate([np.zeros(0), *(point.values for point in points)]),
            "rod_slope": np.concatenate([np.zeros(0), *(point.slopes for point in points)]),
            "rod_share": np.concatenate([np.zeros((0, 3, 3)), *(self._quarters(point.shares) for point in points)]),
        }

    def _quarters(self, shares: Array) -> Array:
        """L_1, L_2 and L_3 of L = ((L_1, 0), (L_2, L_3)), shape (3, 3, 3); strains that are not there alone."""
        kept = np.ix_(KEPT[self._dimension], KEPT[self._dimension])
        whole = np.eye(6)
        whole[kept] = shares
        return np.array([whole[:3, :3], whole[3:, :3], whole[3:, 3:]])


def _turns_about_its_centre(data: object) -> bool:
    return isinstance(data, FloatingBody) and data.rotates and not data.first_moments.any()
