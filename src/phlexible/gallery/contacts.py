"""Models of the gallery: contact."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, non_negative, positive, whole
from phlexible.bodies.material import Material
from phlexible.bodies.point_mass import PointMass
from phlexible.bodies.rigid_body import RigidBody
from phlexible.bodies.rod import Rod
from phlexible.bodies.string import String
from phlexible.bodies.string_law import LinearLaw
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.loads import Force
from phlexible.description.interactions.surfaces import Capsule, Plane, Surface
from phlexible.description.joints.joints import Fixed, Prismatic, Revolute, Spherical
from phlexible.elements.sections import RectangularSection
from phlexible.gallery.parameters import ready_model
from phlexible.model import Model
from phlexible.shapes.solids import Box, Cylinder, Sphere

# A rope over a turning drum: friction carries the load.

WEIGHT, STIFFNESS, STRAIGHT, RISE = 10.0, 2e4, 0.1, 0.05  # [N], [N], [m], [s]
NODE = 1e4  # [N/m]


@ready_model
def capstan(
    friction: float = 0.3,
    wrap: float = 3.141592653589793,
    radius: float = 0.1,
    drum_speed: float = 20.0,
    elements: int = 24,
) -> Model:
    """A load of 10 N on a rope over a drum that turns against it; the other end is held by little force.

    The drum starts, rubs along the rope and takes most of the weight: the joint that holds the rope gets less and
    less, while the load stays where it is. Without friction it would hold all of it.

    Source: L. Euler, *Remarques sur l'effet du frottement dans l'equilibre*, Memoires de l'academie des sciences de
    Berlin 18 (1769).

    Reference: the tensions of both ends are as exp(friction wrap), here 2.57; 3.90 N are left, within 1 %.

    Shown by: ``phlexible run capstan``; ``motion.reaction(model.joint("held end"))`` is the force that is left.

    Args:
        friction: coefficient of rope and drum.
        wrap: angle along which the rope lies on the drum [rad].
        radius: of the drum [m].
        drum_speed: after 0.05 s [rad/s].
        elements: of the rope.
    """
    angle, around, count = positive("wrap", wrap), positive("radius", radius), whole("elements", elements, least=8)
    lies = around - WEIGHT * angle / (count * NODE)  # so deep in the groove it carries its tension
    bent = (angle * lies + 2 * STRAIGHT) / (count * lies)
    wound = lies * angle / (1 + bent**2 / 24)  # by chords, which are shorter than their arcs

    def shape(s: float) -> tuple[float, float, float]:
        """From the held end on the left over the top, s along the rope."""
        turned = angle * float(np.clip((s - STRAIGHT) / wound, 0.0, 1.0))
        before, after = max(STRAIGHT - s, 0.0), max(s - STRAIGHT - wound, 0.0)
        x = -lies * np.cos(turned) + after * np.sin(turned)
        return float(x), float(lies * np.sin(turned) + after * np.cos(turned) - before), 0.0

    model = Model(gravity=(0.0, -10.0, 0.0), dimension=2)
    length, law = wound + 2 * STRAIGHT, LinearLaw(STIFFNESS)
    taut = 1.0 + WEIGHT / STIFFNESS
    rope = model.add(
        String(length / taut, 0.01, count, law, viscosity=2e-3, diameter=0.008),
        "rope",
        shape=lambda s: shape(taut * s),
    )
    load = model.add(PointMass(WEIGHT / 10.0), "load", position=shape(length))
    model.connect(Spherical(model.ground.at(shape(0.0)), rope.start, name="held end"))
    model.connect(Spherical(rope.end, load.origin))
    drum = model.add(RigidBody(1.0, 0.01, shape=Cylinder(around, 0.05)), "drum")
    bearing = model.connect(Revolute(model.ground.at((0.0, 0.0, 0.0)), drum.origin))
    speed = non_negative("drum_speed", drum_speed)

    def turn(time: float) -> float:
        rising = min(time, RISE)
        return speed * (0.5 * rising * rising / RISE + max(time - RISE, 0.0))

    model.apply(bearing.drive(angle=turn))
    groove = Surface(drum.origin, Cylinder(around, 0.05))
    law_of_groove = {"stiffness": NODE, "damping": 1e6, "friction": non_negative("friction", friction)}
    model.apply(Contact(rope, groove, friction_speed=1e-2, name="groove", **law_of_groove))
    return model


# Two flexible fingers that take a ball by friction and lift it.

GRAVITY, RADIUS, MASS, LENGTH, THICK = 9.81, 0.03, 0.1, 0.12, 4e-3
CLOSED, LIFTED = 0.3, 0.8  # [s]


def smooth(time: float, begin: float, end: float) -> float:
    """From 0 to 1 without a jump of velocity."""
    x = min(max((time - begin) / (end - begin), 0.0), 1.0)
    return x * x * (3 - 2 * x)


def moved(start: float, way: float) -> Callable[[float], float]:
    """The path of a jaw until the fingers are closed."""
    return lambda time: start + way * smooth(time, 0.0, CLOSED)


@ready_model
def gripper(
    friction: float = 0.5, squeeze: float = 8e-3, lift: float = 0.1, youngs_modulus: float = 2e9, elements: int = 5
) -> Model:
    """Two jaws press bending fingers on a ball of 0.1 kg that lies on a table, and lift it.

    The fingers close within 0.3 s, bend around the ball and lift it by friction until 0.8 s. Friction creeps
    below its speed, so that the ball sinks by half a millimetre a second; with less friction it stays behind.

    Source: own model.

    Reference: it is held where twice friction times the force of a finger is more than its weight of 0.98 N. Of a
    cantilever of the length to the ball that force is 3 E I squeeze / length^3, 5.1 N; two pieces of each
    push with 5.2 N.

    Shown by: ``phlexible run gripper``, ``phlexible run gripper --set friction=0.1``.

    Args:
        friction: coefficient of fingers and ball.
        squeeze: of each finger [m].
        lift: of the hand [m].
        youngs_modulus: of the fingers [Pa].
        elements: of each finger.
    """
    top = RADIUS + LENGTH - 0.02  # of the jaws; fingers end 2 cm below the middle of the ball
    open_gap = RADIUS + THICK / 2 + 5e-3
    height, close = non_negative("lift", lift), non_negative("squeeze", squeeze)
    model = Model(gravity=(0.0, -GRAVITY, 0.0), dimension=2)
    law: dict[str, Any] = {
        "stiffness": 5e3,
        "damping": 2e4,
        "friction": non_negative("friction", friction),
        "friction_speed": 2e-3,
    }

    def hand(time: float) -> Array:
        return np.array([0.0, top + height * smooth(time, CLOSED, LIFTED), 0.0])

    frame = model.ground.moving(hand)
    inertia = 0.4 * MASS * RADIUS**2
    ball = model.add(
        RigidBody(MASS, inertia, shape=Sphere(RADIUS)),
        "ball",
        position=(0.0, RADIUS - MASS * GRAVITY / law["stiffness"], 0.0),
    )
    table = Plane(model.ground.at((0.0, 0.0, 0.0)), normal=(0.0, 1.0, 0.0))
    model.apply(Contact(ball.origin, table, radius=RADIUS, name="table", **law))
    plastic = Material(positive("youngs_modulus", youngs_modulus), 1200.0, viscosity=1e-3)
    section = RectangularSection(width=THICK, height=0.02)
    for side, name in ((-1.0, "left"), (1.0, "right")):
        place = (side * open_gap, top, 0.0)
        jaw = model.add(RigidBody(0.2, 1e-4, shape=Box((0.02, 0.02, 0.02))), f"{name} jaw", position=place)
        rail = model.connect(Prismatic(frame, jaw.origin, axis=(1.0, 0.0, 0.0)))
        model.apply(rail.drive(position=moved(place[0], -side * (close + 5e-3))))
        finger = model.add(
            Rod(LENGTH, section, plastic, elements=elements), f"{name} finger", position=place, rotation=-np.pi / 2
        )
        model.connect(Fixed(jaw.origin, finger.start))
        for a, b in list(pairwise(finger.nodes()))[-2:]:
            model.apply(Contact(ball.origin, Capsule(a, b, THICK / 2), radius=RADIUS, **law))
    return model


# A strip of rubber that is pressed on a surface and dragged along it, to and fro.

LOWERED, BLADE_THICKNESS = 0.1, 4e-3  # [s], [m]


@ready_model
def wiper(
    friction: float = 0.6,
    press: float = 6e-3,
    sweep: float = 0.06,
    period: float = 1.0,
    elements: int = 8,
) -> Model:
    """A wiper blade of rubber, 40 mm long, whose holder is lowered to a pane and moves to and fro along it.

    The blade bends behind its holder and its lip rubs along; where the holder turns back the lip sticks until the
    blade has turned over to the other side, and snaps.

    Source: own model; friction is regularised, the rod geometrically exact.

    Reference: what the holder works against is lost in friction and in the rubber, and nowhere else: the balance of
    energy closes to 1e-12 of it.

    Shown by: ``phlexible run wiper``.

    Args:
        friction: coefficient of lip and pane.
        press: by which the holder is lower than the blade is long [m].
        sweep: to each side [m].
        period: of to and fro [s].
        elements: of the blade.
    """
    length, radius = 0.04, BLADE_THICKNESS / 2
    low, wide, whole_turn = positive("press", press), non_negative("sweep", sweep), positive("period", period)
    start = length + radius + 1e-4

    def holder(time: float) -> Array:
        lowered = min(time / LOWERED, 1.0)
        drop = (low + 1e-4) * lowered**2 * (3 - 2 * lowered)
        return np.array([wide * np.sin(2 * np.pi * time / whole_turn), start - drop, 0.0])

    model = Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    rubber = Material(youngs_modulus=5e6, density=1200.0, poissons_ratio=0.49, viscosity=2e-3)
    blade = model.add(
        Rod(length, RectangularSection(width=BLADE_THICKNESS, height=0.01), rubber, elements=elements),
        "blade",
        position=(0.0, start, 0.0),
        rotation=-np.pi / 2,
    )
    model.connect(Fixed(model.ground.moving(holder), blade.start))
    pane = Plane(model.ground.at((0.0, 0.0, 0.0)), normal=(0.0, 1.0, 0.0))
    law = {
        "stiffness": 1200.0,
        "damping": 5e3,
        "friction": non_negative("friction", friction),
        "friction_speed": 5e-3,
    }
    model.apply(Contact(blade, pane, radius=radius, name="pane", **law))
    return model


# Bodies that meet by whole surfaces: a run of dominoes, a ball bearing, a heap of balls.

DOMINO = np.array([8e-3, 48e-3, 24e-3])  # [m]
PUSHED = 0.06  # [s]


@ready_model
def dominoes(count: int = 8, pitch: float = 0.02, friction: float = 0.3) -> Model:
    """Dominoes in the plane of their fall, the first of which is pushed.

    Each knocks over the next one; the wave gets faster, until it hardly changes from one to the next. Boxes touch
    by their corners, on the floor and on each other.

    Source: W. J. Stronge, The domino effect: a wave of destabilizing collisions in a periodic array, Proceedings of
    the Royal Society of London A 409 (1987), for the wave.

    Reference: all lie down; the wave of the last ones takes about pitch / 0.9 m/s from one to the next.

    Shown by: ``phlexible run dominoes``.

    Args:
        count: of the dominoes.
        pitch: from one to the next [m].
        friction: coefficient of all of them and the floor.
    """
    number, apart = whole("count", count, least=2), positive("pitch", pitch)
    model = Model(gravity=(0.0, -GRAVITY, 0.0), dimension=2)
    body, stiffness = RigidBody.box(DOMINO, 1200.0), 2e3
    sunk = body.mass * GRAVITY / (2 * stiffness)
    placed = [
        model.add(body, f"domino {k + 1}", position=(k * apart, DOMINO[1] / 2 - sunk, 0.0)) for k in range(number)
    ]
    top = placed[0].point((0.0, 0.4 * DOMINO[1], 0.0))
    model.apply(
        Force(top, lambda time: np.array([0.05 if time < PUSHED else 0.0, 0.0, 0.0]), breakpoints=(PUSHED,))
    )
    floor = Plane(model.ground.at((0.0, 0.0, 0.0)), normal=(0.0, 1.0, 0.0))
    rough = non_negative("friction", friction)
    model.apply(Contact([*placed, floor], stiffness=stiffness, damping=2 * stiffness, friction=rough))
    return model


RACE, SQUEEZED, STARTED = 0.04, 2e-5, 0.05  # [m], [m], [s]


@ready_model
def ball_bearing(balls: int = 24, ball_radius: float = 5e-3, friction: float = 0.2, speed: float = 20.0) -> Model:
    """A ball bearing without a cage in its plane: balls roll between a ring that turns and one that stays.

    The balls are a little too large for the gap, so that friction takes them along from the start.

    Source: own model.

    Reference: balls that roll go round with speed r / (r + R), r and R the radii of the rings, here 8.89 rad/s.

    Shown by: ``phlexible run ball-bearing``.

    Args:
        balls: how many.
        ball_radius: [m].
        friction: coefficient of balls and rings.
        speed: of the inner ring after 0.05 s [rad/s].
    """
    number, radius, spin = whole("balls", balls, least=2), positive("ball_radius", ball_radius), float(speed)
    model = Model(dimension=2)
    inner = model.add(RigidBody(1.0, 1e-3, shape=Cylinder(RACE, 0.01)), "inner ring")
    pin = model.connect(Revolute(model.ground.at((0.0, 0.0, 0.0)), inner.origin))
    body, out = RigidBody.sphere(radius, 7800.0), RACE + radius - SQUEEZED / 2
    turns = 2 * np.pi * np.arange(number) / number
    placed = [
        model.add(body, f"ball {k + 1}", position=(out * np.cos(a), out * np.sin(a), 0.0))
        for k, a in enumerate(turns)
    ]
    outer = Surface(model.ground.at((0.0, 0.0, 0.0)), Sphere(RACE + 2 * radius - SQUEEZED), inside=True)
    law: dict[str, Any] = {"stiffness": 2e4, "damping": 2e5, "friction": non_negative("friction", friction)}
    model.apply(Contact(placed, [*placed, inner, outer], **law))

    def turned(time: float) -> float:
        begun = min(time, STARTED)
        return spin * (begun**2 / (2 * STARTED) + time - begun)

    model.apply(pin.drive(angle=turned))
    return model


GRAIN, DENSE = 0.01, 2500.0  # [m], [kg/m3]


@ready_model
def sand(side: int = 4, high: int = 6, friction: float = 0.4) -> Model:
    """A column of balls that collapses into a box twice as wide.

    Source: own model.

    Reference: the energy of the column is left in the balls, in contacts, or lost; the ledger closes to 1e-12.

    Shown by: ``phlexible run sand``, ``phlexible run sand --set friction=0.1``.

    Args:
        side: balls along each edge of the column.
        high: layers.
        friction: coefficient of balls and walls.
    """
    edge, layers = whole("side", side, least=1), whole("high", high, least=1)
    model, rng, pitch = Model(gravity=(0.0, 0.0, -GRAVITY)), np.random.default_rng(1), 2.1 * GRAIN
    grid = np.stack(np.meshgrid(np.arange(edge), np.arange(edge), np.arange(layers)), axis=-1).reshape(-1, 3)
    places = pitch * (grid + 0.5) + rng.uniform(0.0, 0.1 * GRAIN, grid.shape)
    body = RigidBody.sphere(GRAIN, DENSE)
    grains = [model.add(body, f"grain {k + 1}", position=place) for k, place in enumerate(places)]
    wide = 2 * edge * pitch
    box = Surface(model.ground.at((wide / 2, wide / 2, wide)), Box((wide, wide, 2 * wide)), inside=True)
    law: dict[str, Any] = {"stiffness": 1e3, "damping": 2e3, "friction": non_negative("friction", friction)}
    model.apply(Contact(grains, [*grains, box], **law))
    return model
