"""Frequencies of thin plates."""

from collections.abc import Iterator

import numpy as np
from skfem import MeshTri

import phlexible as ph
from phlexible.papers import thin_plate
from published.number import Number

FV16 = "NAFEMS FV16, cantilever thin square plate (FinEALE); M. V. Barton 1951"
NAVIER = "C. L. Navier 1823, hinged thin plate, pi^2 (m^2 + n^2) / a^2 sqrt(D / (rho h))"
NAFEMS_13 = "NAFEMS test 13, simply supported thin square plate (FinEALE)"
RITZ = "independent program: Ritz method for Kirchhoff plates with centrifugal tension"
STEEL = ph.Material(200e9, 8000.0, 0.3)
UNIT = float(np.sqrt(STEEL.youngs_modulus * 0.05**2 / 12 / (1 - 0.3**2) / STEEL.density) / 10**2)
"""sqrt(D / (rho h)) / a^2 [rad/s]."""


def cantilever() -> Iterator[Number]:
    """10 m square, 50 mm thick, clamped at one edge; NAFEMS prints values that Barton found with few functions."""
    plate = ph.Plate(
        10.0, 10.0, 0.05, STEEL, elements=(16, 16), theory="kirchhoff", interfaces={"start": "rigid"}, modes=20
    )
    model = ph.Model()
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), model.add(plate, "plate")["start"]))
    frequencies = model.linearize().modes(6).frequencies
    for k, exact in enumerate((0.421, 1.029, 2.582, 3.306, 3.753, 6.555)):
        yield Number(FV16, f"cantilever plate, frequency {k + 1} [Hz]", exact, float(frequencies[k] / (2 * np.pi)))
    for k, exact in enumerate((3.4711, 8.5071, 21.2858, 27.1990, 30.9576)):
        yield Number(RITZ, f"cantilever plate at rest, pulsation {k + 1}", exact, float(frequencies[k] / UNIT))


def simply_supported() -> Iterator[Number]:
    """The same plate with all edges hinged."""
    plate = ph.Plate(
        10.0, 10.0, 0.05, STEEL, elements=(16, 16), theory="kirchhoff", interfaces={"boundary": "hinged"}, modes=12
    )
    model = ph.Model()
    part = model.add(plate, "plate")
    boundary = part["boundary"]
    model.connect(ph.Fixed(model.ground.at(boundary.initial_position()), boundary))
    frequencies = model.linearize().modes(6).frequencies / (2 * np.pi)
    for k, exact in enumerate((2.377, 5.961, 5.961, 9.483, 12.133, 12.133)):
        yield Number(NAFEMS_13, f"simply supported plate, frequency {k + 1} [Hz]", exact, float(frequencies[k]))
    for k, halves in ((0, 2), (1, 5), (3, 8), (4, 10)):
        exact = np.pi / 2 * halves * UNIT
        yield Number(NAVIER, f"hinged plate, frequency {k + 1} [Hz]", float(exact), float(frequencies[k]))


def moments_as_unknowns() -> Iterator[Number]:
    """Hellan, Herrmann and Johnson: the cantilever as a body, the hinged plate with moments of order 2."""
    plate = ph.Plate(
        *(10.0, 10.0, 0.05, STEEL), elements=(16, 16), element="hhj", interfaces={"start": "rigid"}, modes=20
    )
    model = ph.Model()
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), model.add(plate, "plate")["start"]))
    frequencies = model.linearize().modes(3).frequencies / UNIT
    for k, exact in enumerate((3.4711, 8.5071, 21.2858)):
        yield Number(
            RITZ, f"cantilever plate of triangles at rest, pulsation {k + 1}", exact, float(frequencies[k])
        )
    side = np.linspace(0, 10.0, 7)
    mesh = MeshTri.init_tensor(side, side).with_boundaries({"rim": lambda x: x[0] > -1})
    constants = STEEL.youngs_modulus, STEEL.poissons_ratio, STEEL.density
    mixed = thin_plate(mesh, *constants, 0.05, supported="rim", order=2)
    frequencies = ph.LinearModel.of(mixed).modes(4).frequencies / (2 * np.pi)
    for k, halves in ((0, 2), (1, 5), (3, 8)):
        exact = float(np.pi / 2 * halves * UNIT)
        yield Number(NAVIER, f"hinged plate of 72 triangles, frequency {k + 1} [Hz]", exact, float(frequencies[k]))


CASES = (cantilever, simply_supported, moments_as_unknowns)
