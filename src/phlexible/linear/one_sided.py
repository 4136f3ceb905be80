"""What pushes on one side only, in a step of Newton's method: who touches at its end (docs/theory.md, 7)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, BoolArray
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.force_elements import OneSided
from phlexible.description.interactions.surfaces import Touchable
from phlexible.state.forces import ElementState
from phlexible.state.system import System

INTO = 0.25
"""Of the thickness of a body: how much deeper others go into it in one iteration."""
BEYOND, TWICE = 4.0, 2.0
"""Times the depth that carries all loads, and times the depth that it has: how deep one goes in one iteration."""
MOST_TURNS = 12  # of a search for those that touch at the end of a step

Step = tuple[Array, Array]
Solve = Callable[[sparse.csr_array, Array], Step | None]


class _One(NamedTuple):
    """Of a force that pushes on one side.

    Attributes:
        number: of the force.
        law: its law.
        rest: where it begins.
        thickness: of what is touched, 0: it has none.
    """

    number: int
    law: OneSided
    rest: float
    thickness: float


@dataclass(frozen=True, eq=False)
class OneSidedForces:
    """All contacts and stops of a system.

    Attributes:
        ones: each of them.
        load: sum of the sizes of all loads [N].
    """

    ones: tuple[_One, ...]
    load: float

    @classmethod
    def of(cls, system: System, load: float) -> "OneSidedForces":
        """Of all force elements."""
        found = [
            _One(k, force.contact, force.rest, _thickness(element))
            for k, (element, force) in enumerate(system.forces)
            if force.contact
        ]
        return cls(tuple(found), load)

    def carrying(self, law: OneSided) -> float:
        """How deep one is that carries all loads."""
        return float((self.load / law.stiffness) ** (1.0 / law.exponent))

    def at(self, elements: ElementState) -> "OneSidedStep":
        """At a pose."""
        numbers = [one.number for one in self.ones]
        rows = elements.rows[numbers] if numbers else sparse.csr_array((0, elements.matrix.shape[1]))
        sides = np.array([one.law.side for one in self.ones])
        depths = np.array([one.law.side * (one.rest - elements.theta[one.number]) for one in self.ones])
        return OneSidedStep(self, depths, sparse.csr_array(rows * sides[:, None]) if numbers else rows)


@dataclass(frozen=True, eq=False)
class OneSidedStep:
    """The same at a pose.

    Attributes:
        forces: all of them.
        depths: negative where there is a gap, shape (ones,).
        rows: of what opens, shape (ones, velocities): forces push along them.
    """

    forces: OneSidedForces
    depths: Array
    rows: sparse.csr_array

    @property
    def touch(self) -> bool:
        """Whether any of them pushes."""
        return bool((self.depths > 0).any())

    def solve(
        self, stiffness: sparse.csr_array, force: Array, solved: Solve
    ) -> tuple[Step, sparse.csr_array] | None:
        """The step, with the stiffness that it has, in which those push that touch at its end; None: singular.

        Args:
            stiffness: of all, with those that touch at the pose.
            force: of all, at the pose.
            solved: the step of a stiffness and a force.
        """
        touches = self.depths > 0
        own, step = sparse.csr_array(stiffness.shape), None
        for _ in range(MOST_TURNS):
            own, push = self._after(touches)
            if not (step := solved(stiffness + own, force + push)):
                return None
            ends = self.depths - self.rows @ step[0] > 0
            if (ends == touches).all():
                break
            touches = ends
        assert step is not None, "there was a turn"
        return step, sparse.csr_array(stiffness + own)

    def part(self, change: Array) -> float:
        """The part of a motion in which nothing goes too deep to be held as what it is."""
        deeper, result = -(self.rows @ change), 1.0
        for one, depth, more in zip(self.forces.ones, self.depths, deeper, strict=True):
            most = [INTO * one.thickness] if one.thickness else []
            if self.forces.load:
                most.append(max(BEYOND * self.forces.carrying(one.law), (TWICE - 1) * depth))
            if most and more > 0.0:
                result = min(result, (max(-depth, 0.0) + min(most)) / more)
        return float(result)

    def _after(self, touches: BoolArray) -> tuple[sparse.csr_array, Array]:
        """What is added to stiffness and force where others push than do at the pose."""
        added, pushes = np.zeros(len(touches)), np.zeros(len(touches))
        for k in np.flatnonzero(touches != (self.depths > 0)):
            law, depth = self.forces.ones[k].law, float(self.depths[k])
            if touches[k]:
                added[k] = law.stiffness * self.forces.carrying(law) ** (law.exponent - 1.0)
                pushes[k] = added[k] * depth
            else:
                added[k] = -law.stiffness * law.exponent * depth ** (law.exponent - 1.0)
                pushes[k] = -law.stiffness * depth**law.exponent
        return sparse.csr_array(self.rows.T @ sparse.diags_array(added) @ self.rows), self.rows.T @ pushes


def _thickness(element: object) -> float:
    """Of what is touched [m]; 0: it has none."""
    if isinstance(element, Contact) and isinstance(element.second, Touchable):
        return element.second.thickness
    return 0.0
