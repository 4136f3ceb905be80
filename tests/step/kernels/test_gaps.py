"""Discrete derivatives of gaps and laws of strings in the kernels (docs/theory.md, 8)."""

from dataclasses import dataclass

import numpy as np
import pytest

import phlexible as ph
from laws.cases import LAW_CASES
from phlexible.bodies.string_law import TensionOnly
from phlexible.description.interactions.force_elements import CoordinateForce, ForceElement
from phlexible.description.interactions.functions import DirectionOf
from phlexible.description.interactions.surfaces import RoundedCoordinate
from phlexible.description.ports import Port
from phlexible.state.system import system_of
from phlexible.step.assembly.assembly import assemble
from phlexible.step.compilation.compiled import entry_point
from phlexible.step.compilation.notation import tables_at
from phlexible.step.kernels.contact import coordinate_weights
from phlexible.step.kernels.laws import discrete_gradient, stored_energy
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


@entry_point
def _values(header, theta, change):
    t = tables_at(header)
    gradient, slope = discrete_gradient(t, 0, theta, change)
    return stored_energy(t, 0, theta), gradient, slope


LAWS = [kind for kind in LAW_CASES if kind is not TensionOnly]  # with a kink at C = 1
STIFFNESS = 20.0


def assembled(law):
    """One strain of unit weight: a string of one linear element of unit length."""
    model = ph.Model()
    model.add(ph.String(1.0, 1.0, 1, law))
    return assemble(system_of(model))


@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.parametrize("C0", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("change", [0.0, 1e-12, -3e-8, 2e-5, -4e-3, 0.02, -0.2, 1.4])
def test_compiled_laws_are_those_of_the_bodies(kind, C0, change):
    law = LAW_CASES[kind](STIFFNESS)
    header = assembled(law).memory.header
    energy, force, slope = _values(header, C0, change)
    assert energy == pytest.approx(float(law.energy(C0)), rel=1e-13, abs=1e-15)
    assert force == pytest.approx(float(law.discrete_derivative(C0, C0 + change)), rel=1e-9, abs=1e-9)
    shift = 1e-4
    steps = [_values(header, C0, change + s)[1] for s in (shift, -shift)]
    assert slope == pytest.approx((steps[0] - steps[1]) / (2 * shift), rel=3e-5)
    steps = [float(law.derivative(C0 + s)) for s in (shift, -shift)]
    assert float(law.curvature(C0)) == pytest.approx((steps[0] - steps[1]) / (2 * shift), rel=3e-5, abs=1e-9)


@pytest.mark.parametrize("kind", LAWS)
def test_a_collapsed_string_has_no_force_but_by_a_linear_law(kind):
    header = assembled(LAW_CASES[kind](STIFFNESS)).memory.header
    is_defined = kind is ph.StVenantKirchhoffLaw  # its stress is linear in C: polarised strains may be negative
    assert np.isnan(_values(header, 1.0, -1.0)[1]) != is_defined
    assert np.isnan(_values(header, -0.1, 0.2)[0]) != is_defined
