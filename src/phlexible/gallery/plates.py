"""A plate on a hub that is spun up."""

import numpy as np

from phlexible.algebra.arrays import finite, positive, whole
from phlexible.bodies.flexible.plate import Plate
from phlexible.bodies.material import Material
from phlexible.description.joints.joints import Fixed
from phlexible.gallery.entries import ready_model, smooth_run_up
from phlexible.model import Model

UPRIGHT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Of the plate: its width along z, the axis of rotation, its upper side towards -y."""


@ready_model(duration=20.0, step=1e-2, operating_point="steady_rotation")
def plate_in_spin_up(
    length: float = 8.0,
    width: float = 4.0,
    thickness: float = 0.036763,
    youngs_modulus: float = 6.895e10,
    density: float = 2766.67,
    poissons_ratio: float = 0.3,
    speed: float = 6.0,
    rise_time: float = 15.0,
    elements: int = 8,
    strain: str = "green_lagrange",
    modes: int = 8,
) -> Model:
    """A cantilever plate on a hub that turns about z, along its clamped edge, from rest to a constant speed.
    Build and return this ready model of the gallery, to be simulated or linearized. The ``speed`` is reached after
    the ``rise_time``.

    The plate stands upright and lags behind, until the centrifugal forces straighten it. With ``strain="linear"``
    nothing stiffens it, and it grows without bound.

    Source: plates of the kind of H. H. Yoo, J. Chung, *Dynamics of rectangular plates undergoing prescribed
    overall motion*, Journal of Sound and Vibration 239, 2001; numbers of the beam of ``spinning_beam``, whose
    stiffness and mass for its width this plate has.

    Reference: with ``poissons_ratio=0`` it moves like that beam, and its free edge lags by at most 0.7506 m, by
    geometrically exact beams.

    Shown by: ``phlexible run plate-in-spin-up``.

    Args:
        length: from the hub [m].
        width: along the axis of rotation [m].
        thickness: [m].
        youngs_modulus, density, poissons_ratio: of the plate [Pa], [kg/m3], [-].
        speed: in the end [rad/s].
        rise_time: until it is reached [s].
        elements: along the length, half of them along the width.
        strain: "green_lagrange" or "linear".
        modes: lowest modes that are kept beside the answers to the hub and to spin.
    """
    omega, rise, count = finite("speed", speed), positive("rise_time", rise_time), whole("elements", elements)
    plate = Plate(
        length,
        width,
        thickness,
        Material(youngs_modulus, density, poissons_ratio),
        elements=(count, max(count // 2, 1)),
        interfaces={"start": "rigid", "end": "average"},
        modes=modes,
        strain=strain,
    )

    model = Model()
    wing = model.add(plate, "plate", rotation=UPRIGHT)
    hub = model.ground.moving(lambda t: (0.0, 0.0, 0.0), rotation=smooth_run_up(omega, rise))
    model.connect(Fixed(hub, wing["start"]))
    return model
