"""Two flexible beams that tumble freely in space."""

import numpy as np

from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.material import Material
from phlexible.elements.sections import RectangularSection
from phlexible.gallery.parameters import ready_model
from phlexible.joints.spherical import Spherical
from phlexible.model import Model

BEND = (0.0, -0.3, 1.0)  # rotation vector of the second beam against the first one, at t = 0


@ready_model
def free_pair(
    length: float = 1.0,
    width: float = 6e-3,
    height: float = 3e-3,
    youngs_modulus: float = 7.0e10,
    density: float = 2700.0,
    velocity: tuple[float, float, float] = (-0.7, -3.2, -1.3),
    first_spin: tuple[float, float, float] = (3.0, -4.0, 5.0),
    second_spin: tuple[float, float, float] = (-6.0, 2.0, -5.0),
    elements: int = 4,
    modes: int | None = None,
) -> Model:
    """Two equal flexible beams joined by a spherical joint, in free flight with large rotations.

    The first beam lies along +x from the origin, the second starts at its end. Both are undeformed and
    the joint's velocity is common at t = 0. There is no load and no support.

    Source: the law that every force and moment inside a system cancels.

    Reference: energy, linear and angular momentum keep their first values, which follow from two rigid
    rods: with the defaults 0.342635 J and (0.0446317, 0.0285930, 0.0200872) kg m/s.

    Shown by: ``phlexible run free-pair``.

    Args:
        length: of each beam [m].
        width: of the section along the beam's y axis [m].
        height: of the section along the beam's z axis [m].
        youngs_modulus: [Pa].
        density: [kg/m3].
        velocity: of the free end of the first beam at t = 0, world axes [m/s].
        first_spin: angular velocity of the first beam at t = 0, world axes [rad/s].
        second_spin: likewise of the second one [rad/s].
        elements: of each beam.
        modes: bending and torsion modes of each beam that are kept; None: all finite element coordinates.
    """
    from scipy.spatial.transform import Rotation

    beam = Beam(
        length=length,
        section=RectangularSection(width=width, height=height),
        material=Material(youngs_modulus, density),
        elements=elements,
        frame="simply_supported",
        modes=modes,
    )
    joint = np.array([beam.length, 0.0, 0.0])
    joint_velocity = np.asarray(velocity, dtype=np.float64) + np.cross(first_spin, joint)

    model = Model()
    first = model.add(beam, "first", velocity=velocity, angular_velocity=first_spin)
    bend = Rotation.from_rotvec(BEND)
    second = model.add(beam, "second", joint, bend, joint_velocity, second_spin)
    model.connect(Spherical(first.end, second.start))
    return model
