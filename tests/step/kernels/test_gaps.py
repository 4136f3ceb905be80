"""Discrete derivatives of gaps: the gap changes by omega . delta(w), slopes are derivatives (docs/theory.md, 8)."""

from dataclasses import dataclass

import numpy as np
import pytest

import phlexible as ph
from phlexible.description.interactions.force_elements import CoordinateForce, ForceElement
from phlexible.description.interactions.functions import DirectionOf
from phlexible.description.interactions.surfaces import RoundedCoordinate
from phlexible.description.ports import Port
from phlexible.state.system import system_of
from phlexible.step.assembly.assembly import assemble
from phlexible.step.compilation.compiled import entry_point
from phlexible.step.compilation.notation import tables_at
from phlexible.step.kernels.contact import coordinate_weights
from phlexible.step.tables.declarations import LAW_WIDTH


@entry_point
def _weights(header):
    coordinate_weights(tables_at(header), 0)


@dataclass(frozen=True, eq=False, repr=False)
class Spring(ForceElement):
    """Along the distance of a body from the ground, by its places along three directions."""

    body: Port

    ports = property(lambda self: (self.body, self.body))

    def forces(self, dimension):
        ground = ph.Model().ground.at((0, 0, 0))
        directions = tuple(DirectionOf(ground, axis) for axis in np.eye(3))
        return (
            CoordinateForce(RoundedCoordinate("gap", ground, self.body, directions, (0.0,) * 3), stiffness=1.0),
        )


class GapFunctions:
    """The functions w of a rounded coordinate, at any w and change of w."""

    def __init__(self):
        model = ph.Model()
        ball = model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.1)), "ball", position=(3.0, 2.0, 2.5))
        model.apply(Spring(ball.origin))
        self.memory = assemble(system_of(model)).memory

    def weights(self, w, change):
        """omega, shape (functions,)."""
        self.memory["function0"][: len(w)], self.memory["function_change"][: len(w)] = w, change
        _weights(self.memory.header)
        return self.memory["along"][: len(w)].copy()

    def slopes(self, w, change):
        """dtheta/dw and d(omega)/dw at the end, shapes (functions,) and (functions, functions)."""
        self.weights(w, change)
        tangent = self.memory["tangent"].reshape(-1, LAW_WIDTH)
        return self.memory["slope"][: len(w)].copy(), tangent[: len(w), : len(w)].copy()


CASES = {
    "away": ((1.2, 0.7, 0.1), (1.3, 0.6, -0.05)),
    "past": ((1.2, 0.7, 0.4), (-1.3, -0.8, -0.5)),
    "from the middle": ((0.0, 0.0, 0.0), (1.3, 0.7, 0.4)),
}


@pytest.mark.parametrize("case", CASES)
def test_the_gap_changes_by_its_weights_and_slopes_are_derivatives(case):
    start, end = CASES[case]
    start, change, distance = np.array(start), np.subtract(end, start), np.linalg.norm
    gap = GapFunctions()
    expected = distance(start + change) - distance(start)
    assert gap.weights(start, change) @ change == pytest.approx(expected, rel=1e-13)
    slope, tangent = gap.slopes(start, change)
    step = 1e-6
    ends = [(change + step * own, change - step * own) for own in np.eye(len(start))]
    by_distance = [(distance(start + a) - distance(start + b)) / (2 * step) for a, b in ends]
    by_weights = np.transpose([(gap.weights(start, a) - gap.weights(start, b)) / (2 * step) for a, b in ends])
    assert slope == pytest.approx(by_distance, abs=1e-8)
    assert tangent == pytest.approx(by_weights, abs=1e-7)
