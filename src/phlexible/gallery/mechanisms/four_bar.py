"""A four-bar linkage of flexible links, the linear example of the source."""

import numpy as np

from phlexible.algebra.arrays import finite
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.material import Material
from phlexible.bodies.point_mass import PointMass
from phlexible.elements.sections import Section
from phlexible.errors import ParameterError
from phlexible.gallery.parameters import ready_model
from phlexible.joints.fixed import Fixed
from phlexible.joints.revolute import Revolute
from phlexible.model import Model

YOUNGS_MODULUS, DENSITY = 7.1e10, 2714.0
PIN_MASS = 0.042
GROUND_LENGTH = 0.254


@ready_model
def four_bar(crank_angle: float = 0.0, elements: int = 10, crank_speed: float = 0.0) -> Model:
    """Three flexible aluminium links and the ground, pinned to a loop; the crank is clamped.

    Source: A. Brugnoli, D. Alazard, V. Pommier-Budinger, D. Matignon, *Port-Hamiltonian flexible
    multibody dynamics*, 2020, section 6.1 and table 1. The crank is clamped at its pivot, the other
    joints are pins, 0.042 kg sit at the two moving pins; no rotary inertia. Of the two ways to close the
    loop, the pin of coupler and follower is to the left of the line from the crank's tip to the ground.

    Reference: pulsations of exact dynamic stiffness matrices, for the crank angle 0: 269.618257,
    305.716366, 383.352515, 1207.762, 1292.677 and 2693.645 rad/s; for 90 degrees: 292.767644,
    314.907766, 508.593456 rad/s.

    Shown by: ``phlexible modes four-bar``; in motion by ``phlexible run four-bar --set crank_speed=10``.

    Args:
        crank_angle: from the line to the follower's pivot, about z [rad].
        elements: of each link.
        crank_speed: 0: the crank is clamped, as in the source; otherwise it is driven at its pivot [rad/s].
    """
    angle, speed = finite("crank_angle", crank_angle), finite("crank_speed", crank_speed)
    crank_body = _link(0.108, 1.0774e-4, 11.472, elements)
    coupler_body = _link(0.2794, 4.0645e-5, 0.616, elements)
    follower_body = _link(0.2705, 4.0645e-5, 0.616, elements)
    tip = crank_body.length * np.array([np.cos(angle), np.sin(angle), 0.0])
    pivot = np.array([GROUND_LENGTH, 0.0, 0.0])
    coupler_angle = _coupler_angle(tip, pivot, coupler_body.length, follower_body.length)
    knee = tip + coupler_body.length * np.array([np.cos(coupler_angle), np.sin(coupler_angle), 0.0])
    to_pivot = pivot - knee
    follower_angle = float(np.arctan2(to_pivot[1], to_pivot[0]))

    model = Model(dimension=2)
    crank = model.add(crank_body, "crank", rotation=angle)
    coupler = model.add(coupler_body, "coupler", position=tip, rotation=coupler_angle)
    follower = model.add(follower_body, "follower", position=knee, rotation=follower_angle)
    first_mass = model.add(PointMass(PIN_MASS), "mass at the crank", position=tip)
    second_mass = model.add(PointMass(PIN_MASS), "mass at the follower", position=knee)
    pillar = model.ground.at((0.0, 0.0, 0.0))
    if speed == 0:
        model.connect(Fixed(pillar, crank.start))
    else:
        pin = model.connect(Revolute(pillar, crank.start))
        model.apply(pin.drive(angle=lambda t: speed * t, name="crank drive"))
    model.connect(Revolute(crank.end, coupler.start))
    model.connect(Revolute(coupler.end, follower.start))
    model.connect(Revolute(follower.end, model.ground.at(pivot)))
    model.connect(Revolute(coupler.start, first_mass.origin))
    model.connect(Revolute(follower.start, second_mass.origin))
    return model


def _link(length: float, area: float, flexural_rigidity: float, elements: int) -> Beam:
    return Beam(
        length=length,
        section=Section(area, flexural_rigidity / YOUNGS_MODULUS),
        material=Material(YOUNGS_MODULUS, DENSITY),
        elements=elements,
        rotary_inertia=False,
    )


def _coupler_angle(tip: np.ndarray, pivot: np.ndarray, coupler: float, follower: float) -> float:
    """By the law of cosines in the triangle of tip, knee and pivot; the knee is on the left [rad]."""
    line = pivot - tip
    distance = float(np.linalg.norm(line))
    cosine = (distance**2 + coupler**2 - follower**2) / (2 * distance * coupler)
    if not abs(cosine) <= 1:
        raise ParameterError(f"the loop does not close with the crank's tip {distance:g} m from the pivot")
    return float(np.arctan2(line[1], line[0]) + np.arccos(cosine))
