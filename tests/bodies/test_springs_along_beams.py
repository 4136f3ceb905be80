"""Springs, turning springs and elastic hinges along beams: five frequencies each against transfer matrices."""

from functools import reduce

import numpy as np
import pytest
from scipy.linalg import expm

import phlexible as ph
from bodies.frequencies import nearest, roots
from mechanisms import grounded

LENGTH, PLACE, ELEMENTS = 1.0, 0.4, 45
SECTION, MATERIAL = ph.CircularSection(0.01), ph.Material(2e11, 7800.0)
BENDING = MATERIAL.youngs_modulus * SECTION.second_moment_z
UNIT = np.sqrt(BENDING / (MATERIAL.density * SECTION.area)) / LENGTH**2
SPRING, TURNING, HINGE = 200.0, 8.0, 3.0  # k L^3, c L and c L over EI


def field(wave, length):
    """Of (v, theta, M L / EI, Q L^2 / EI) along a uniform piece; M' = -Q."""
    rates = np.zeros((4, 4))
    rates[0, 1], rates[1, 2], rates[2, 3], rates[3, 0] = 1.0, 1.0, -1.0, -(wave**4)
    return expm(rates * length)


def step(row, column, value):
    result = np.eye(4)
    result[row, column] = value
    return result


JUMPS = {"spring": step(3, 0, SPRING), "turning spring": step(2, 1, TURNING), "hinge": step(1, 2, 1 / HINGE)}


def exact(kind):
    """Frequencies of the cantilever with that at its place [rad/s]."""

    def free_end(wave):
        pieces = (field(wave, LENGTH - PLACE), JUMPS[kind], field(wave, PLACE))
        return np.linalg.det(reduce(np.matmul, pieces)[2:, 2:])  # what M and Q of the clamp leave at the free end

    return roots(free_end, 0.5, 17.0, 5) ** 2 * UNIT


def beam(length=LENGTH, elements=ELEMENTS, **options):
    options = {"rotary_inertia": False, "frame": "cantilever"} | options
    return ph.Beam(length, SECTION, MATERIAL, elements, **options)


def on_the_ground(kind, **options):
    model, placed, _ = grounded(beam(**options), dimension=2)
    here = model.ground.at((PLACE, 0, 0))
    if kind == "spring":
        stiffness = {"stiffness": (0, SPRING * BENDING / LENGTH**3, 0)}
    else:
        stiffness = {"rotational_stiffness": (0, 0, TURNING * BENDING / LENGTH)}
    model.apply(ph.Bushing(here, placed.at(PLACE), **stiffness))
    return model


def hinged(**options):
    model = ph.Model(dimension=2)
    first = model.add(beam(PLACE, int(ELEMENTS * PLACE), **options), "first")
    rest = LENGTH - PLACE
    second = model.add(beam(rest, ELEMENTS - first.body.elements, **options), "second", position=(PLACE, 0, 0))
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), first.start))
    model.apply(model.connect(ph.Revolute(first.end, second.start)).spring(HINGE * BENDING / LENGTH))
    return model


@pytest.mark.parametrize("kind", JUMPS)
def test_five_frequencies_of_transfer_matrices(kind):
    model = hinged() if kind == "hinge" else on_the_ground(kind)
    wanted = exact(kind)
    assert nearest(model.linearize().modes(6).frequencies, wanted) == pytest.approx(wanted, rel=1e-5)
    bare = np.array([1.8751040687, 4.6940911330]) ** 2 * UNIT
    assert np.abs(wanted[:2] / bare - 1).max() > 0.1  # no small effect
