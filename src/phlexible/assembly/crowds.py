"""Contacts among many as tables of the kernels (docs/theory.md, 8)."""

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.assembly.bands import Tables
from phlexible.interactions.functions import PointOf
from phlexible.interactions.resisting.contacts import Contacts, Member
from phlexible.ports.attachments import Port
from phlexible.system.functions import VectorCollector
from phlexible.system.system import System

ROOM = 24
"""Pairs that are listed, for each member; beyond that all are looked at."""
SKIN = 0.25
"""How far members may move before pairs are looked for again: a share of the mean radius."""


class CrowdTables:
    """The members of all ``Contacts`` of a system.

    Args:
        system: whose elements they are.
        collector: numbers the vectors, before it is asked for all of them.
    """

    def __init__(self, system: System, collector: VectorCollector) -> None:
        self._crowds = [each for each in system.mechanism.elements if isinstance(each, Contacts)]
        self._members: list[tuple[int, Member]] = [
            (number, member) for number, crowd in enumerate(self._crowds) for member in crowd.members
        ]
        self._places = [
            tuple(self._number(system, collector, port) for port in (member.start, member.end))
            for _, member in self._members
        ]

    def _number(self, system: System, collector: VectorCollector, port: Port) -> int:
        return collector.vector(system.resolver.resolve(PointOf(port)))

    def tables(self) -> tuple[dict[str, int], Tables]:
        """Counts and tables."""
        owners: dict[object, int] = {}
        members = [member for _, member in self._members]
        radius = _reals([member.radius for member in members])
        crowd = _integers([number for number, _ in self._members])
        skins = [SKIN * float(radius[crowd == number].mean()) for number in range(len(self._crowds))]
        places = np.array(self._places, dtype=np.int64).reshape(-1, 2)
        totals = {"crowds": len(self._crowds), "members": len(members), "near_pairs": ROOM * len(members)}
        return totals, {
            "member_crowd": crowd,
            "member_side": _integers([member.side for member in members]),
            "member_body": _integers([owners.setdefault(member.owner, len(owners)) for member in members]),
            "member_start": places[:, 0],
            "member_end": places[:, 1],
            "member_radius": radius,
            "crowd_skin": _reals(skins),
            "crowd_stiffness": _reals([crowd.stiffness for crowd in self._crowds]),
            "crowd_damping": _reals([crowd.damping for crowd in self._crowds]),
            "crowd_exponent": _reals([crowd.exponent for crowd in self._crowds]),
        }


def _integers(values: list[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


def _reals(values: list[float]) -> Array:
    return np.array(values, dtype=np.float64)
