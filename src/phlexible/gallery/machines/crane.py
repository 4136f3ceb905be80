"""A gantry crane that carries a load on a cable."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.point_mass import PointMass
from phlexible.bodies.rigid_body import RigidBody
from phlexible.bodies.string.law import LinearLaw
from phlexible.bodies.string.string import String
from phlexible.gallery.parameters import ready_model
from phlexible.interactions.loads import Force
from phlexible.joints.slider import Slider
from phlexible.joints.spherical import Spherical
from phlexible.model import Model
from phlexible.shapes.solids import Box


@ready_model
def crane(
    trolley_mass: float = 100.0,
    load_mass: float = 250.0,
    load_height: float = 0.8,
    cable_length: float = 6.0,
    line_density: float = 1.2,
    axial_stiffness: float = 2.0e6,
    viscosity: float = 2.0e-3,
    force: float = 150.0,
    push_time: float = 2.0,
    coast_time: float = 3.0,
    gravity: float = 9.81,
    elements: int = 20,
) -> Model:
    """A trolley on rails is pushed, coasts and is braked; a rigid load swings under it on a cable.

    The cable starts straight, stretched by the load and by its own weight.

    Source: the gantry crane of control textbooks, with a cable that has mass and stretches.

    Reference: at rest the cable carries (m_load + rho A l) g = 2523.1 N at its upper and 2452.5 N at its
    lower end. With a massless rod and a point load it swings with ``sqrt(g / l (1 + m_load / m_trolley))``.

    Shown by: ``phlexible run crane``.

    Args:
        trolley_mass: [kg].
        load_mass: of a homogeneous square block [kg].
        load_height: edge of the block, which hangs on the middle of its upper side [m].
        cable_length: undeformed [m].
        line_density: of the cable [kg/m].
        axial_stiffness: EA of the cable [N].
        viscosity: Kelvin-Voigt time of the cable [s].
        force: on the trolley along x while it is pushed, and against it while it is braked [N].
        push_time: of pushing, and of braking [s].
        coast_time: in between [s].
        gravity: along -y [m/s2].
        elements: of the cable.
    """
    model = Model(gravity=(0.0, -gravity, 0.0), dimension=2)
    cable = String(cable_length, line_density, elements, LinearLaw(axial_stiffness), viscosity=viscosity)

    def depth(s: float) -> float:
        """Place of s under the load and the weight of the cable below it."""
        pulled = load_mass * s + line_density * (cable_length * s - s**2 / 2)
        return s + gravity * pulled / axial_stiffness

    moment = load_mass * load_height**2 / 6
    block = RigidBody(load_mass, moment, center=(0.0, -load_height / 2, 0.0), shape=Box([load_height] * 3))
    trolley = model.add(PointMass(trolley_mass), "trolley")
    load = model.add(block, "load", position=(0.0, -depth(cable_length), 0.0))
    rope = model.add(cable, "cable", shape=lambda s: (0.0, -depth(s)))
    model.connect(Slider(model.ground.at((0.0, 0.0, 0.0)), trolley.origin, axis=(1.0, 0.0, 0.0)))
    model.connect(Spherical(trolley.origin, rope.start))
    model.connect(Spherical(rope.end, load.origin))
    switches = (push_time, push_time + coast_time, 2 * push_time + coast_time)

    def push(time: float | Array) -> Array:
        pushed, braked = (0 < time) & (time < switches[0]), (switches[1] <= time) & (time < switches[2])
        return np.array([force * pushed - force * braked, 0.0 * time, 0.0 * time])

    model.apply(Force(trolley.origin, push, breakpoints=switches, name="trolley force"))
    return model
