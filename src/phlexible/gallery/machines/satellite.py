"""A satellite with two long flexible panels."""

from enum import StrEnum
from math import pi, sin

from scipy.spatial.transform import Rotation

from phlexible.algebra.arrays import finite, positive
from phlexible.algebra.options import option
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.flexible.plates.plate import Plate
from phlexible.bodies.material import Material
from phlexible.bodies.rigid_body import RigidBody
from phlexible.elements.sections import RectangularSection
from phlexible.gallery.parameters import ready_model
from phlexible.interactions.loads import Torque
from phlexible.joints.fixed import Fixed
from phlexible.model import Model
from phlexible.shapes.solids import Box

PERIOD = 2.0
"""Of the torque [s]."""


class Panels(StrEnum):
    """What the panels are."""

    BEAM = "beam"
    PLATE = "plate"


@ready_model
def satellite(
    hub_mass: float = 200.0,
    hub_inertia: float = 60.0,
    hub_radius: float = 0.75,
    panel_length: float = 6.0,
    panel_width: float = 1.2,
    panel_thickness: float = 25e-3,
    youngs_modulus: float = 2.0e9,
    density: float = 120.0,
    damping_ratio: float = 0.005,
    elements: int = 12,
    panels: str = "beam",
    torque: float = 0.0,
) -> Model:
    """A rigid hub with two equal panels, free in the plane; the panels bend in the plane of motion.

    With ``panels="plate"`` it moves in space, and the panels bend and twist as plates, clamped along their roots.

    The hub's torque ("hub".origin, about z) moves the panels against each other only: modes in which both
    move to the same side answer to a force on the hub. The panels are sandwich plates, taken as beams
    with an equivalent modulus and density.

    Source: the usual model of attitude control with flexible appendages, for example D. Alazard, C.
    Cumer, K. Tantawi, *Linear dynamic modeling of spacecraft with various flexible appendages*, IFAC
    World Congress 2008; the numbers are ours.

    Reference: a hub on a pin with a clamped beam has the frequencies of the transcendental equation of
    a beam with an inertia at its root; here each panel sees half of the hub's inertia, at the radius of
    the hub. The rigid modes are three.

    Shown by: ``phlexible modes satellite --count 10``, and ``phlexible run satellite --set torque=40``; without a
    torque it rests.

    Args:
        hub_mass: [kg].
        hub_inertia: about z [kg m2].
        hub_radius: from the hub's center to the root of a panel [m].
        panel_length: [m].
        panel_width: of each panel, across the plane of motion [m].
        panel_thickness: of each panel, in the plane of motion [m].
        youngs_modulus: of the panels [Pa].
        density: of the panels [kg/m3].
        damping_ratio: of the modes of a clamped panel.
        elements: of each panel, along it.
        panels: "beam", in the plane, or "plate", in space.
        torque: greatest one about z on the hub, a sine that turns it from rest to rest within 2 s, by 4 s2 torque /
            (2 pi times the inertia of all) [N m].
    """
    radius = positive("hub_radius", hub_radius)
    box = Box([2 * radius] * 3)
    if option("panels", panels, Panels) is Panels.PLATE:
        plate = Plate(
            length=panel_length,
            width=panel_width,
            thickness=panel_thickness,
            material=Material(youngs_modulus, density, 0.3),
            elements=(elements, 3),
            interfaces={"start": "rigid", "end": "average"},
            modes=6,
            damping_ratio=damping_ratio,
            color="#1f3a6b",
        )
        inertia = [positive("hub_inertia", hub_inertia)] * 3
        return _slewed(_in_space(RigidBody(hub_mass, inertia, shape=box, color="silver"), plate, radius), torque)
    panel = Beam(
        length=panel_length,
        section=RectangularSection(width=panel_thickness, height=panel_width),
        material=Material(youngs_modulus, density),
        elements=elements,
        damping_ratio=damping_ratio,
    )
    model = Model(dimension=2)
    hub = model.add(RigidBody(hub_mass, hub_inertia, shape=box, color="silver"), "hub")
    right = model.add(panel, "right panel", position=(radius, 0.0, 0.0))
    left = model.add(panel, "left panel", position=(-radius, 0.0, 0.0), rotation=pi)
    model.connect(Fixed(hub.point((radius, 0.0, 0.0)), right.start))
    model.connect(Fixed(hub.point((-radius, 0.0, 0.0)), left.start))
    return _slewed(model, torque)


def _slewed(model: Model, torque: float) -> Model:
    """One period of a sine on the hub."""
    greatest = finite("torque", torque)
    if greatest:

        def torque_of(t: float) -> tuple[float, float, float]:
            return 0.0, 0.0, greatest * sin(2 * pi * t / PERIOD) if t < PERIOD else 0.0

        model.apply(Torque(model["hub"].origin, torque_of, breakpoints=(PERIOD,)))
    return model


def _in_space(hub_body: RigidBody, plate: Plate, radius: float) -> Model:
    """The width of the panels along z, so that they bend in the xy plane."""
    model = Model()
    hub = model.add(hub_body, "hub")
    upright = Rotation.from_euler("x", pi / 2)
    right = model.add(plate, "right panel", position=(radius, 0.0, 0.0), rotation=upright)
    turned = Rotation.from_euler("z", pi) * upright
    left = model.add(plate, "left panel", position=(-radius, 0.0, 0.0), rotation=turned)
    model.connect(Fixed(hub.point((radius, 0.0, 0.0)), right["start"]))
    model.connect(Fixed(hub.point((-radius, 0.0, 0.0)), left["start"]))
    return model
