"""Loads at which a structure begins to buckle."""

from collections.abc import Callable, Iterator

import numpy as np

import phlexible as ph
from published.number import Number

ARGYRIS = "J. Argyris et al. 1979; J. C. Simo, L. Vu-Quoc 1986, right-angle frame, load in its plane"
EULER = "L. Euler 1744, clamped-free column, pi^2 EI / (4 L^2)"
PRANDTL = "L. Prandtl 1899, lateral buckling of a narrow cantilever, 4.0126 sqrt(EI GJ) / L^2"
GREENHILL_HEIGHT = "A. G. Greenhill 1881, height at which a column bends under its weight, 7.8373 EI / (rho A g)"


def critical(model_of: Callable[[float], ph.Model], low: float, high: float) -> float:
    """Load at which the square of the lowest pulsation would be zero.

    Args:
        model_of: a model for a load.
        low, high: loads below the critical one, near to it. A straight line through the squares is continued; only
            half of the way to its zero is gone each time, since beyond the critical load nothing is stable.
    """
    squares = [model_of(load).linearize(at="static").modes(1).frequencies[0] ** 2 for load in (low, high)]
    for _ in range(5):
        reach = high + (high - low) * squares[1] / (squares[0] - squares[1])
        low, squares[0] = high, squares[1]
        high = (high + reach) / 2
        squares[1] = model_of(high).linearize(at="static").modes(1).frequencies[0] ** 2
    return float(high + (high - low) * squares[1] / (squares[0] - squares[1]))


def frame() -> Iterator[Number]:
    """Two legs of 0.24 m, 30 mm by 0.6 mm, clamped at one end; a force at the other along the clamped leg."""
    section, material = ph.RectangularSection(30e-3, 0.6e-3), ph.Material(7.124e10, 2700.0, 0.31)

    def model_of(force: float) -> ph.Model:
        model = ph.Model()
        first = model.add(ph.Rod(0.24, section, material, 8, 2), "first", shape=[(0, 0, 0), (0, 0.24, 0)])
        second = model.add(ph.Rod(0.24, section, material, 8, 2), "second", shape=[(0, 0.24, 0), (0.24, 0.24, 0)])
        model.connect(ph.Fixed(model.ground.at((0, 0, 0)), first.start))
        model.connect(ph.Fixed(first.end, second.start))
        model.apply(ph.Force(second.end, (0.0, force, 0.0)))
        return model

    yield Number(ARGYRIS, "right-angle frame, load away from the clamp [N]", 1.088, critical(model_of, 1.0, 1.05))
    yield Number(ARGYRIS, "the same, load towards the clamp [N]", 0.680, -critical(model_of, -0.6, -0.64))


def column() -> Iterator[Number]:
    """A slender column, EI = L = 1."""
    rod = ph.Rod(1.0, ph.Section(1e6, 1.0), ph.Material(1.0, 1.0, 0.0), 16, 2)

    def model_of(force: float) -> ph.Model:
        model = ph.Model(dimension=2)
        column = model.add(rod, "column")
        model.connect(ph.Fixed(model.ground.at((0, 0, 0)), column.start))
        model.apply(ph.Force(column.end, (-force, 0.0, 0.0)))
        return model

    yield Number(EULER, "column, P L^2 / EI", np.pi**2 / 4, critical(model_of, 2.0, 2.3))

    def heavy(gravity: float) -> ph.Model:
        model = ph.Model(gravity=(-gravity, 0.0, 0.0), dimension=2)
        column = model.add(ph.Rod(1.0, ph.Section(1e6, 1.0), ph.Material(1.0, 1e-6, 0.0), 16, 2), "column")
        model.connect(ph.Fixed(model.ground.at((0, 0, 0)), column.start))
        return model

    yield Number(GREENHILL_HEIGHT, "column under its weight, rho A g L^3 / EI", 7.8373, critical(heavy, 7.0, 7.5))


def strip() -> Iterator[Number]:
    """A narrow cantilever on edge under a force at its end, GJ = EI across = L = 1; the other EI is 1e6."""
    stiffness = np.diag([1e8, 1e8, 1e8, 1.0, 1e6, 1.0])
    rod = ph.Rod(
        1.0, ph.GeneralSection(stiffness, np.diag([1.0, 1.0, 1.0, 2e-4, 1e-4, 1e-4])), elements=16, order=2
    )

    def model_of(force: float) -> ph.Model:
        model = ph.Model()
        strip = model.add(rod, "strip")
        model.connect(ph.Fixed(model.ground.at((0, 0, 0)), strip.start))
        model.apply(ph.Force(strip.end, (0.0, 0.0, force)))
        return model

    yield Number(PRANDTL, "narrow cantilever, P L^2 / sqrt(EI GJ)", 4.0126, critical(model_of, 3.5, 3.8))


CASES = (frame, column, strip)
