"""Models whose runs remember as much as possible from step to step, and how they are run here."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

import phlexible as ph

STEEL = ph.Material(youngs_modulus=2e11, density=7870.0)


@dataclass(frozen=True)
class Case:
    make: Callable[[], ph.Model]  # makes the model
    step: float  # [s]
    every: int = 1  # stored
    tolerance: float | None = None  # for the error of a step, or None

    def simulate(self, steps: int, **options) -> ph.Motion:
        return self._quietly(self.make().simulate, steps, **options)

    def resume(self, path, steps: int) -> ph.Motion:
        return self._quietly(partial(self.make().resume, path), steps)

    def _quietly(self, run: Callable[..., ph.Motion], steps: int, **options) -> ph.Motion:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the steps are too long on purpose
            options |= {"every": self.every, "tolerance": self.tolerance, "progress": False}
            return run(steps * self.step, self.step, **options)


def hit_beam() -> ph.Model:
    """A slender beam on a pin, hit so hard that some steps are halved, with breakpoints inside of steps."""
    model = ph.Model(dimension=2)
    soft = ph.Material(youngs_modulus=2e11, density=7870.0, viscosity=1e-2)
    beam = model.add(ph.Beam(1.0, ph.CircularSection(3e-3), soft, elements=2), "beam")
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), beam.start))
    hits = ph.Force(
        beam.end, lambda t: (0.0, 60.0 * np.cos(9 * t) ** 9 - np.sin(t) ** 3, 0.0), breakpoints=[0.035, 1.111]
    )
    model.apply(hits)
    return model


def turned_rotor() -> ph.Model:
    """A rotor with a beam, which a controller turns over many full turns."""
    model = ph.Model(dimension=2, gravity=(0, -9.81, 0))
    rotor = model.add(ph.RigidBody(1.0, 0.01), "rotor")
    beam = model.add(ph.Beam(0.3, ph.CircularSection(6e-3), STEEL, elements=2), "beam")
    shaft = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), rotor.origin))
    model.connect(ph.Fixed(rotor.origin, beam.start))
    model.apply(shaft.motor(lambda t, x: 4.0 * (30.0 * t - x[0]) + 0.5 * (30.0 - x[1]), name="motor"))
    return model


def driven_slider() -> ph.Model:
    """A crank-slider with an elastic coupler, whose crank and rail move as powers of time."""
    model = ph.Model(dimension=2)
    beam = model.add(ph.Beam(0.3, ph.CircularSection(6e-3), STEEL, elements=2), "coupler", position=(0.15, 0, 0))
    slider = model.add(ph.PointMass(0.03), "slider", position=(0.45, 0, 0))
    pin = model.ground.moving(lambda t: (0.15 * np.cos(40 * t + t**3), 0.15 * np.sin(40 * t + t**3), 0.0))
    model.connect(ph.Revolute(pin, beam.start))
    model.connect(ph.Revolute(beam.end, slider.origin))
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), slider.origin, axis=(1, 0, 0)))
    return model


CASES = {
    "halved": Case(hit_beam, 0.02),
    "controlled": Case(turned_rotor, 1e-3, every=3),
    "driven": Case(driven_slider, 1e-4, every=7),
    "tolerant": Case(driven_slider, 1e-3, tolerance=1e-6),
}
