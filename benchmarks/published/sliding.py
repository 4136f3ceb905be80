"""Points that slide along rods, and tendons through rods, beside other programs."""

from collections.abc import Callable, Iterator

import numpy as np

import phlexible as ph
from phlexible.description.ports import Port
from published.number import Number

# Exudyn took the local form of its sliding joint and steps of 0.2 ms (0.15 ms for the eyelet) with a spectral
# radius of 0.6; twice the elements change the sixth digit.
SLIDING = "EXUDYN 1.13.6, `JointSliding2D` on 16 ANCF cable elements"
MOVING = "EXUDYN 1.13.6, `JointALEMoving2D` on 16 ALE cable elements, massless motion"
SOROMOX = "SoRoMoX, tendon-driven arm (`secIVa_benchmarking_sequential_cpu`, file of 2026-08)"
AXIAL, BENDING, MASS = 1e6, 100.0, 0.5  # EA [N], EI [N m2], rho A [kg/m] of a bar of 2 m
ROD = ph.Rod(
    2.0,
    ph.GeneralSection(
        np.diag([AXIAL, AXIAL, AXIAL, BENDING, BENDING, BENDING]), MASS * np.diag([1.0, 1.0, 1.0, 4e-6, 2e-6, 2e-6])
    ),
    elements=16,
    order=2,
)


Run = tuple[ph.Motion, tuple[Port, Port]]
"""A run, and the two ports whose positions at its end are compared."""


def on_a_cantilever(position: Callable[[float], float] | None) -> Run:
    """A mass of 1 kg and the tip, 0.4 s after the mass was thrown along the bar at 2 m/s or driven along it."""
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    rod = model.add(ROD, "rod")
    model.connect(ph.Fixed(model.ground.at((0.0, 0.0, 0.0)), rod.start))
    bead = model.add(ph.PointMass(1.0), "bead", position=(0.5, 0.0, 0.0), velocity=(2.0, 0.0, 0.0))
    slide = model.connect(ph.Sliding(bead.origin, rod))
    if position is not None:
        model.apply(slide.drive(position=position))
    return model.simulate(0.4, 1e-3, progress=False), (bead.origin, rod.end)


def through_an_eyelet() -> Run:
    """Both ends of a bar that fell for 0.3 s through an eyelet, at first 60 degrees downwards."""
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    along = np.array([0.5, -np.sqrt(0.75), 0.0])
    rod = model.add(ROD, "rod", shape=[tuple(-1.2 * along), tuple(0.8 * along)])
    model.connect(ph.Sliding(model.ground.at((0.0, 0.0, 0.0)), rod))
    return model.simulate(0.3, 1e-3, progress=False), (rod.end, rod.start)


def rows(source: str, what: str, points: str, reference: tuple[float, ...], run: Run) -> Iterator[Number]:
    names = [f"{point}, {axis} [m]" for point in points.split(", ") for axis in "xy"]
    ours = np.concatenate([run[0].position(port)[-1, :2] for port in run[1]])
    for name, expected, found in zip(names, reference, ours, strict=True):
        yield Number(source, f"{what}: {name}", expected, float(found))


FREE = (1.3555745, -0.1612439, 1.9795334, -0.2684719)
DRIVEN = (1.2899706, -0.1475620, 1.9800777, -0.2648334)
EYELET = (0.6710028, -0.9683160, -0.4765693, 0.6696395)


def mass_on_a_cantilever() -> Iterator[Number]:
    yield from rows(SLIDING, "mass thrown along a cantilever, 0.4 s", "mass, tip", FREE, on_a_cantilever(None))


def at_two_metres_a_second(time: float) -> float:
    return 0.5 + 2 * time


def driven_mass() -> Iterator[Number]:
    run = on_a_cantilever(at_two_metres_a_second)
    yield from rows(MOVING, "mass driven along a cantilever, 0.4 s", "mass, tip", DRIVEN, run)


def eyelet() -> Iterator[Number]:
    yield from rows(SLIDING, "bar falling through an eyelet, 0.3 s", "lower, upper", EYELET, through_an_eyelet())


def tendon_arm() -> Iterator[Number]:
    """Relative to the length of the arm: it starts near the load at which it buckles."""
    model = ph.gallery.tendon_arm()
    tip = model.simulate(3.0, 1e-2, progress=False).position(model["arm"].end)
    for second, expected in ((1, (0.06541, 0.58927)), (2, (0.32383, 0.31165)), (3, (0.29411, 0.38274))):
        for name, reference, ours in zip("yz", expected, tip[100 * second, 1:], strict=True):
            yield Number(
                SOROMOX, f"tip of the tendon arm, {name} after {second} s [m]", reference, float(ours), 0.6
            )


CASES = mass_on_a_cantilever, driven_mass, eyelet, tendon_arm
