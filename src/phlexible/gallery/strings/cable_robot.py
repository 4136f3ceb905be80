"""A platform on four cables that winches pull."""

from collections.abc import Callable

import numpy as np

from phlexible.algebra.arrays import Array, positive
from phlexible.bodies.rigid_body import RigidBody
from phlexible.bodies.string.law import LinearLaw
from phlexible.bodies.string.string import String
from phlexible.gallery.parameters import ready_model
from phlexible.joints.slider import Slider
from phlexible.joints.spherical import Spherical
from phlexible.model import Model
from phlexible.shapes.solids import Box

CORNERS = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))


@ready_model
def cable_robot(
    width: float = 3.0,
    height: float = 2.0,
    platform_width: float = 0.4,
    platform_height: float = 0.2,
    mass: float = 6.0,
    line_density: float = 0.02,
    axial_stiffness: float = 3.0e4,
    tension: float = 150.0,
    viscosity: float = 2.0e-3,
    radius: float = 0.3,
    period: float = 2.0,
    gravity: float = 9.81,
    elements: int = 10,
) -> Model:
    """A rigid platform in a frame, on four tensioned cables whose winches lead it around a circle.

    A winch is a drive that pulls its end of the cable out of the frame on a line, as far as a cable of
    constant length asks for. The cables go to the opposite side of the platform (crossed), which holds it
    upright. The platform gets under way within half a period.

    Source: the planar cable robot of textbooks; the numbers are ours.

    Reference: at rest, without gravity, all cables carry the given tension of 150 N; with gravity the sum
    of the vertical forces of the winches is the weight of platform and cables.

    Shown by: ``phlexible run cable-robot``.

    Args:
        width: of the frame [m].
        height: of the frame [m].
        platform_width: [m].
        platform_height: [m].
        mass: of the platform, a homogeneous block [kg].
        line_density: of the cables [kg/m].
        axial_stiffness: EA of the cables [N].
        tension: at the start [N].
        viscosity: Kelvin-Voigt time of the cables [s].
        radius: of the circle [m].
        period: of a turn [s].
        gravity: along -y [m/s2].
        elements: of each cable.
    """
    model = Model(gravity=(0.0, -gravity, 0.0), dimension=2)
    axial_stiffness, period = positive("axial_stiffness", axial_stiffness), positive("period", period)
    moment = mass * (platform_width**2 + platform_height**2) / 12
    platform = model.add(
        RigidBody(mass, moment, shape=Box((platform_width, platform_height, platform_height))), "platform"
    )
    for number, (x, y) in enumerate(CORNERS, start=1):
        corner = np.array([x * width / 2, y * height / 2, 0.0])
        held = np.array([x * platform_width / 2, -y * platform_height / 2, 0.0])
        stretched = float(np.linalg.norm(corner - held))
        cable = String(
            stretched / (1 + tension / axial_stiffness),
            line_density,
            elements,
            LinearLaw(axial_stiffness),
            viscosity=viscosity,
        )
        outwards = (corner - held) / stretched
        rope = model.add(cable, f"cable {number}", shape=(corner, held))
        rail = model.connect(Slider(model.ground.at(corner), rope.start, axis=outwards))
        model.connect(Spherical(rope.end, platform.point(held)))
        path = _winch(corner, held, outwards, radius, period)
        model.apply(rail.drive(position=path, name=f"winch {number}"))
    return model


def _winch(corner: Array, held: Array, outwards: Array, radius: float, period: float) -> Callable[[float], float]:
    """How far a cable of constant length is pulled out so that its other end is where it is wanted [m]."""
    length = float(np.linalg.norm(corner - held))

    def path(time: float) -> float:
        start = min(2 * time / period, 1.0)
        angle = 2 * np.pi * time / period
        size = radius * start**3 * (10 - 15 * start + 6 * start**2)
        wanted = held + size * np.array([np.cos(angle), np.sin(angle), 0.0])
        way = corner - wanted  # |way + outwards path| = length
        along = float(outwards @ way)
        return float(np.sqrt(along**2 - way @ way + length**2)) - along

    return path
