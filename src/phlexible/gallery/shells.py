"""Models of thin shells: a cylinder that tumbles, a tape that folds, panels of a satellite, a sail."""

import numpy as np

from phlexible.algebra.arrays import Array, positive
from phlexible.bodies.material import Material
from phlexible.bodies.rigid_body import PointMass, RigidBody
from phlexible.bodies.rod import Rod
from phlexible.bodies.shell.section import Laminate, OrthotropicMaterial
from phlexible.bodies.shell.shell import Shell
from phlexible.description.interactions.loads import Force, Pressure, Torque
from phlexible.description.joints.joints import Fixed, Planar, Revolute, Spherical
from phlexible.elements.sections import CircularSection
from phlexible.gallery.entries import ready_model
from phlexible.model import Model
from phlexible.shapes.solids import Box

PUSHES = ((0.0, (0, -1, -1)), (0.25, (1, 1, 1)), (0.5, (1, 1, 1)), (0.75, (0, -1, -1)))


@ready_model(duration=4.0, step=2e-2)
def short_cylinder(load: float = 10.0, around: int = 24, along: int = 2) -> Model:
    """A short cylinder without supports is thrown by forces along four of its lines and tumbles and bends from
    then on. Build and return this ready model of the gallery, to be simulated or linearized. The ``load`` is the
    greatest force of a line per length [N/m]; there are ``around`` elements around and ``along`` ones along it.

    The forces grow to the load within half a second and vanish within another. From then on energy and momenta
    are constant.

    Source: J. C. Simo, N. Tarnow, International Journal for Numerical Methods in Engineering 37 (1994) 2527-2549.

    Reference: the energy after one second of a second program with the same elements, 767.2905 J,
    ``tests/gallery/test_shells.py``.

    Shown by: ``phlexible run short-cylinder``, which warns that the published mesh is coarse where it bends most.

    Args:
        load: greatest force per length of the lines [N/m].
        around, along: numbers of elements.
    """
    height, greatest = 3.0, positive("load", load)

    def surface(u: float, v: float) -> Array:
        return np.array([7.5 * np.cos(2 * np.pi * v), -7.5 * np.sin(2 * np.pi * v), height * u])

    lines = {
        f"line {k}": (
            lambda x, a=2 * np.pi * share: np.hypot(x[0] - 7.5 * np.cos(a), x[1] - 7.5 * np.sin(a)) < 1e-6
        )
        for k, (share, _) in enumerate(PUSHES)
    }
    sheet = Shell.of(
        surface,
        0.02,
        Material(2e8, 1.0, 0.25),
        (along, around),
        {name: (where, "average") for name, where in lines.items()},
        directors=lambda x: (x[0], x[1], 0.0),
    )
    model = Model()
    cylinder = model.add(sheet, "cylinder")
    for k, (_, way) in enumerate(PUSHES):
        full = height * greatest * np.array(way, dtype=np.float64)

        def push(time: float, full: Array = full) -> Array:
            return full * max(0.0, 1.0 - abs(2 * time - 1.0))

        model.apply(Force(cylinder[f"line {k}"], push, breakpoints=(0.5, 1.0), name=f"push {k}"))
    return model


@ready_model(duration=1.0, step=1e-2)
def tape_spring(angle: float = 1.6, length: float = 0.2, elements: int = 32, across: int = 8) -> Model:
    """A tape spring, a curved strip of thin steel as of a tape measure, is bent until it snaps and folds. Build
    and return this ready model of the gallery, to be simulated or linearized. Its end turns by an ``angle``
    [rad] against its start; the tape has a ``length`` [m], with so many ``elements`` along it and ``across`` it.

    The moment grows up to the snap, at which the cross-section becomes flat in the middle. From then on the fold
    has the radius of the cross-section, and the moment stays the same however far the fold turns.

    Source: K. A. Seffen, S. Pellegrino, Proceedings of the Royal Society A 455 (1999) 1003-1048.

    Reference: the moment (1 + nu) D alpha of a fold, of the bending stiffness D and the angle alpha of the
    cross-section, ``tests/gallery/test_shells.py``.

    Shown by: ``phlexible run tape-spring``, which warns that elements are long beside the fold.

    Args:
        angle: of the end against the start at the end of a run of one second [rad].
        length: of the tape [m].
        elements, across: numbers of elements along the tape and across it.
    """
    radius, spread, long = 0.0136, 1.9, positive("length", length)
    steel = Material(210e9, 7850.0, viscosity=5e-3)

    def surface(u: float, v: float) -> Array:
        turned = spread * (v - 0.5)
        return np.array([long * u, radius * np.sin(turned), radius * (1 - np.cos(turned))])

    tape = Shell.of(surface, 1e-4, steel, (elements, across), {"u0": "rigid", "u1": "rigid"})
    model = Model()
    placed = model.add(tape, "tape")
    model.connect(Fixed(model.ground.at((0, 0, 0)), placed["u0"]))
    end = model.add(RigidBody(0.02, (1e-6, 1e-6, 1e-6)), "end", position=(long, 0, 0))
    model.connect(Fixed(end.origin, placed["u1"]))
    guide = model.connect(Planar(model.ground.at((long, 0, 0)), end.origin, axis=(0, 1, 0)))
    model.apply(guide.drive(angle=lambda t: angle * (3 * t**2 - 2 * t**3)))
    return model


@ready_model(duration=6.0, step=2e-2)
def panel_satellite(torque: float = 40.0, panels: int = 2, elements: int = 4) -> Model:
    """A satellite turns about its axis with wings of thin sandwich panels, which bend and swing. Build and
    return this ready model of the gallery, to be simulated or linearized. The ``torque`` [N m] on the hub acts
    for two seconds and against it for two more; each wing has so many ``panels``, of so many ``elements`` along
    a side.

    Panels have faces of carbon fibres on a core of foam, and are joined by hinges with springs.

    Source: closed form.

    Reference: the angle T t^2 / J by which a rigid satellite of the moment of inertia J turns, and an angular
    momentum that is zero again, ``tests/gallery/test_shells.py``.

    Shown by: ``phlexible run panel-satellite``.

    Args:
        torque: on the hub [N m].
        panels: of each wing, which has two.
        elements: along the sides of a panel.
    """
    size, core = 1.5, 0.01
    carbon = OrthotropicMaterial(140e9, 10e9, 5e9, 0.3, 1600.0)
    face, foam = 1.5e-4, Material(3e7, 50.0)
    layers = [(carbon, face, 0.0), (carbon, face, np.pi / 2)]
    sandwich = Laminate([*layers, (foam, core, 0.0), *layers[::-1]], shear_factor=1.0)
    panel = Shell.plate(size, size, sandwich.thickness, sandwich, (elements, elements))
    model = Model()
    hub = model.add(RigidBody(200.0, (60.0, 60.0, 60.0), shape=Box((1.0, 1.0, 1.0))), "hub")
    for name, side in (("left", -1.0), ("right", 1.0)):
        turned = np.diag([side, side, 1.0])
        at = 0.7 * side
        before = hub.point((at, 0.0, 0.0))
        for number in range(1, panels + 1):
            wing = model.add(panel, f"{name} panel {number}", position=(at, 0, 0), rotation=turned)
            hinge = model.connect(Revolute(before, wing["start"], axis=(0, 1, 0)))
            model.apply(hinge.spring(stiffness=300.0, damping=5.0))
            before, at = wing["end"], at + size * side

    def turn(time: float) -> tuple[float, float, float]:
        return 0.0, torque * (1.0 if time < 2.0 else -1.0 if time < 4.0 else 0.0), 0.0

    model.apply(Torque(hub.origin, turn, breakpoints=(2.0, 4.0), name="wheels"))
    return model


@ready_model(duration=30.0, step=0.2)
def solar_sail(spin: float = 0.5, pressure: float = 1e-3, elements: int = 8, rim: float = 0.0) -> Model:
    """A square sail of thin film spins about its middle, taut by the masses at its corners, and light pushes
    it. Build and return this ready model of the gallery, to be simulated or linearized. The ``spin`` is in
    rad/s, the ``pressure`` in Pa, a hundred times that of sunlight; there are so many ``elements`` along a side.
    Rods of the diameter ``rim`` [m] may hold its sides.

    The film has the size of that of IKAROS and is ten times as thick.

    Source: Y. Tsuda and others, Acta Astronautica 69 (2011) 833-840, of the size and the spin.

    Reference: the speed p A t / m of a sail that stays flat, ``tests/gallery/test_shells.py``.

    Shown by: ``phlexible run solar-sail``.

    Args:
        spin: at the start [rad/s].
        pressure: of the light [Pa].
        elements: along a side of the sail.
        rim: diameter of rods of carbon along its sides [m]; 0: none.
    """
    size = 14.0
    inner = {"middle": (lambda x: np.hypot(x[0] - size / 2, x[1]) < size / elements * 1.5, "average")}
    film = Shell.plate(size, size, 7.5e-5, Material(3e9, 1400.0, 0.3), (elements, elements), inner)
    model, middle = Model(), np.array([size / 2, 0.0, 0.0])
    sail = model.add(
        film,
        "sail",
        position=-middle,
        velocity=lambda x: np.cross([0.0, 0.0, spin], np.array([x[0], x[1], x[2]]) - middle),
    )
    hub = model.add(RigidBody(300.0, (100.0, 100.0, 150.0)), "hub", angular_velocity=(0.0, 0.0, spin))
    model.connect(Fixed(hub.origin, sail["middle"]))
    corners = np.array([(0, 0), (0, 1), (1, 1), (1, 0)])
    for u, v in corners.tolist():
        corner = sail.at(u, v)
        tip = model.add(PointMass(0.5), f"tip {u} {v}", position=corner.initial_position())
        model.connect(Spherical(corner, tip.origin))
    for first, second in zip(corners, np.roll(corners, -1, axis=0), strict=True) if rim else ():
        at = [sail.at(*(first + share * (second - first))) for share in np.linspace(0, 1, elements + 1)]
        ends = [model[f"tip {u} {v}"].origin for u, v in (first, second)]
        places = np.array([port.initial_position() for port in at])
        name, rod = f"rim {first[0]} {first[1]}", Rod(size, CircularSection(rim), Material(7e10, 1600.0), elements)
        velocities = np.cross([0.0, 0.0, spin], places)
        side = model.add(rod, name, shape=places, velocity=velocities, angular_velocity=(0.0, 0.0, spin))
        for port, node in zip((ends[0], *at[1:-1], ends[1]), side.nodes(), strict=True):
            model.connect(Spherical(port, node))
    model.apply(Pressure(sail, pressure))
    return model
