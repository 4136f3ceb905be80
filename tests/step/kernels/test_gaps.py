"""Discrete derivatives of gaps: the gap changes by omega . delta(w), slopes are derivatives (docs/theory.md, 8)."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.state.system import system_of
from phlexible.step.assembly.assembly import assemble
from phlexible.step.compilation.compiled import entry_point
from phlexible.step.compilation.notation import tables_at
from phlexible.step.kernels.contact import gap_weights
from phlexible.step.tables.declarations import LAW_WIDTH


@entry_point
def _weights(header):
    gap_weights(tables_at(header), 0)


class GapFunctions:
    """The functions w of the gap of a ball to a surface, at any w and change of w."""

    def __init__(self, make_surface):
        model = ph.Model()
        ball = model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.1)), "ball", position=(3.0, 2.0, 2.5))
        model.apply(ph.Contact(ball.origin, make_surface(model.ground), stiffness=1.0, radius=0.1))
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


def to_piece(w):
    """The distance from a point to the nearest point of a piece, by (r.r, r.s, s.s)."""
    place = np.clip(w[1] / w[2], 0.0, 1.0)
    return np.sqrt(w[0] - 2 * place * w[1] + place**2 * w[2])


def to_box(w):
    """The distance from a point at w to a box with half edges 1, 0.5 and 0.25."""
    half = np.array([1.0, 0.5, 0.25])
    return np.linalg.norm(w - np.clip(w, -half, half))


def products(r, s):
    return np.array([np.dot(r, r), np.dot(r, s), np.dot(s, s)])


PIECE = (lambda ground: ph.Capsule(ground.at((0, 0, 0)), ground.at((1, 0, 0)), 0.2), to_piece)
BOX = (lambda ground: ph.Surface(ground.at((0, 0, 0)), ph.Box((2.0, 1.0, 0.5))), to_box)
# where the foot on the piece, or the point beside the box, is at the start and at the end of the step
CASES = {
    "along the piece": (PIECE, products((0.3, 0.4), (1.0, 0.1)), products((0.6, 0.5), (0.9, 0.2))),
    "beyond its end": (PIECE, products((1.3, 0.4), (1.0, 0.1)), products((1.6, 0.5), (0.9, 0.2))),
    "in from its end": (PIECE, products((1.4, 0.4), (1.0, 0.1)), products((0.6, 0.5), (0.9, 0.2))),
    "out of its end": (PIECE, products((0.7, 0.4), (1.0, 0.1)), products((1.6, 0.5), (0.9, 0.2))),
    "in from its start": (PIECE, products((-0.4, 0.4), (1.0, 0.1)), products((0.6, 0.5), (0.9, 0.2))),
    "out of its start": (PIECE, products((0.3, 0.4), (1.0, 0.1)), products((-0.6, 0.5), (0.9, 0.2))),
    "from end to end": (PIECE, products((-0.4, 0.4), (1.0, 0.1)), products((1.6, 0.5), (0.9, 0.2))),
    "along an edge": (BOX, (1.2, 0.7, 0.1), (1.3, 0.6, -0.05)),
    "round an edge": (BOX, (1.2, 0.4, 0.1), (1.3, 0.7, 0.4)),
    "back round an edge": (BOX, (1.2, 0.7, 0.4), (1.3, 0.3, 0.1)),
    "from edge to edge": (BOX, (1.2, 0.7, 0.4), (1.3, -0.8, -0.5)),
}


@pytest.mark.parametrize("case", CASES)
def test_the_gap_changes_by_its_weights_and_slopes_are_derivatives(case):
    (surface, distance), start, end = CASES[case]
    start, change = np.array(start), np.subtract(end, start)
    gap = GapFunctions(surface)
    expected = distance(start + change) - distance(start)
    assert gap.weights(start, change) @ change == pytest.approx(expected, rel=1e-13)
    slope, tangent = gap.slopes(start, change)
    step = 1e-6
    ends = [(change + step * own, change - step * own) for own in np.eye(len(start))]
    by_distance = [(distance(start + a) - distance(start + b)) / (2 * step) for a, b in ends]
    by_weights = np.transpose([(gap.weights(start, a) - gap.weights(start, b)) / (2 * step) for a, b in ends])
    assert slope == pytest.approx(by_distance, abs=1e-8)
    assert tangent == pytest.approx(by_weights, abs=1e-7)
