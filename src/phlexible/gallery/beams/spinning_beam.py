"""A beam on a hub that is spun up: the test of geometric stiffening."""

from typing import Any

import numpy as np

from phlexible.algebra.arrays import finite, positive
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.material import Material
from phlexible.elements.sections import Section
from phlexible.gallery.parameters import ready_model
from phlexible.joints.fixed import Fixed
from phlexible.model import Model


@ready_model
def spinning_beam(
    speed: float = 6.0,
    rise_time: float = 15.0,
    elements: int = 8,
    strain: str = "von_karman",
    modes: int | None = None,
) -> Model:
    """A cantilever of 8 m on a hub that turns about z, from rest to a constant speed.

    The angle is ``speed / rise_time (t^2/2 + (rise_time/2 pi)^2 (cos(2 pi t/rise_time) - 1))`` up to the
    rise time. The beam first lags behind by a tenth of its length, then the centrifugal force straightens
    it. With ``strain="linear"`` nothing stiffens it: its first clamped frequency, 2.91 rad/s, is below the
    speed, and it grows without bound.

    Source: T. R. Kane, R. R. Ryan, A. K. Banerjee, *Dynamics of a cantilever beam attached to a moving
    base*, Journal of Guidance, Control and Dynamics 10, 1987, whose beam of 10 m is 8 m long here.

    Reference: the tip is farthest from its place in the frame of the hub at 6.55 s, v = -0.7586 m, by
    classical finite elements with von Karman strain and full inertia.

    Shown by: ``phlexible run spinning-beam``, and ``--set strain=linear --duration 10`` for the warning.

    Args:
        speed: in the end [rad/s].
        rise_time: until it is reached [s].
        elements: of the beam.
        strain: "von_karman" or "linear".
        modes: None or the number of bending modes of the beam.
    """
    omega, rise = finite("speed", speed), positive("rise_time", rise_time)
    beam = Beam(
        length=8.0,
        section=Section(area=7.2968e-5, second_moment_y=8.2181e-9),
        material=Material(youngs_modulus=6.895e10, density=2766.67),
        elements=elements,
        strain=strain,  # type: ignore[arg-type]
        rotary_inertia=False,
        modes=modes,
    )

    def angle(t: Any) -> Any:
        s = np.minimum(t, rise)
        turned = s**2 / 2 + (rise / (2 * np.pi)) ** 2 * (np.cos(2 * np.pi * s / rise) - 1)
        return omega / rise * turned + omega * (t - s)

    model = Model(dimension=2)
    arm = model.add(beam, "beam")
    hub = model.ground.moving(lambda t: (0.0, 0.0, 0.0), rotation=angle)
    model.connect(Fixed(hub, arm.start))
    return model
