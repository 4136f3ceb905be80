"""A crank-slider whose coupler is a solid part from a mesh."""

import numpy as np

from phlexible.algebra.arrays import finite, non_negative, positive
from phlexible.algebra.options import flag, whole
from phlexible.bodies.flexible.flexible_body import FlexibleBody
from phlexible.bodies.material import Material
from phlexible.bodies.point_mass import PointMass
from phlexible.errors import ParameterError
from phlexible.gallery.machines.connecting_rod import connecting_rod
from phlexible.gallery.parameters import ready_model
from phlexible.joints.revolute import Revolute
from phlexible.joints.slider import Slider
from phlexible.joints.spherical import Spherical
from phlexible.model import Model

WIDTH = 6e-3 * np.sqrt(3) / 2  # of the rectangle with area and second moment of a round section of 6 mm
THICKNESS = np.pi * 6e-3**2 / 4 / WIDTH


@ready_model
def solid_crank_slider(
    crank_length: float = 0.15,
    crank_speed: float = 150.0,
    coupler_length: float = 0.3,
    hole: float = 1.5e-3,
    boss: float = 3e-3,
    plain: bool = False,
    slider_mass: float = 0.033378,
    elements: int = 24,
    modes: int = 4,
) -> Model:
    """A crank-slider in space whose coupler is a steel rod of hexahedra with two holes and a boss.

    The fast crank-slider (``crank_slider``) with a solid coupler: pins in the walls of its holes move the mean
    of these walls. Quadratic hexahedra, geometric stiffening in about 20 coordinates.

    Source: A. Brugnoli, D. Alazard, V. Pommier-Budinger, D. Matignon, *Port-Hamiltonian flexible multibody
    dynamics*, 2020, section 6.2 for lengths, speed and the section of the shank.

    Reference: with ``plain=True``, a block without holes and boss of the area and second moment of the round
    section, the transverse displacement u_y / L of the middle from the chord is at most 0.015388 and at least
    -0.015529 in the first 0.1 s, by geometrically exact shear-free beams.

    Shown by: ``phlexible run solid-crank-slider``.

    Args:
        crank_length: [m].
        crank_speed: constant, about z [rad/s].
        coupler_length: between the pins [m].
        hole: radius of the holes, at most a third of the width of 5.2 mm [m].
        boss: how far the head at the crank stands out on each side [m].
        plain: a block of elements x 1 x 1 instead, from pin to pin.
        slider_mass: [kg].
        elements: along the shank.
        modes: lowest modes that are kept beside the answers to the pins' forces and to spin.
    """
    radius, omega = positive("crank_length", crank_length), finite("crank_speed", crank_speed)
    length, count = positive("coupler_length", coupler_length), whole("elements", elements)
    load, kept = positive("slider_mass", slider_mass), whole("modes", modes, 0)
    bore, head = positive("hole", hole), non_negative("boss", boss)
    if bore > WIDTH / 3:
        raise ParameterError(f"hole must be at most a third of the width, {WIDTH / 3:g} m, got {hole!r}")
    if flag("plain", plain):
        from skfem import MeshHex

        across = [np.array([-WIDTH / 2, WIDTH / 2]), np.array([-THICKNESS / 2, THICKNESS / 2])]
        mesh = MeshHex.init_tensor(np.linspace(0.0, length, count + 1), *across)
        interfaces = {"crank pin": lambda x: x[0] < 1e-9, "slider pin": lambda x: x[0] > length - 1e-9}
    else:
        mesh = connecting_rod(length, WIDTH, THICKNESS, bore, head, count)
        interfaces = {
            "crank pin": lambda x: np.hypot(x[0], x[1]) < 1.001 * bore,
            "slider pin": lambda x: np.hypot(x[0] - length, x[1]) < 1.001 * bore,
        }
    body = FlexibleBody.from_mesh(mesh, Material(0.2e12, 7870.0, 0.0 if plain else 0.3), interfaces, modes=kept)

    def crank_pin(t: float) -> tuple[float, float, float]:
        return radius * np.cos(omega * t), radius * np.sin(omega * t), 0.0

    def crank_pin_velocity(t: float) -> tuple[float, float, float]:
        return -radius * omega * np.sin(omega * t), radius * omega * np.cos(omega * t), 0.0

    model = Model()
    coupler = model.add(body, "coupler", position=(radius, 0.0, 0.0))
    slider = model.add(PointMass(load), "slider", position=(radius + length, 0.0, 0.0))
    pin = model.ground.moving(crank_pin, velocity=crank_pin_velocity)
    model.connect(Revolute(pin, coupler["crank pin"], axis=(0.0, 0.0, 1.0)))
    model.connect(Spherical(coupler["slider pin"], slider.origin))
    model.connect(Slider(model.ground.at((0.0, 0.0, 0.0)), slider.origin, axis=(1.0, 0.0, 0.0)))
    return model
