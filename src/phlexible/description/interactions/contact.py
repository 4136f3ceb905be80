"""Contact of bodies, surfaces, points and lines: contacts of two, and contact groups with a search (docs/theory.md,
8)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import pi, sqrt
from typing import Annotated, cast

import numpy as np

from phlexible.algebra.arrays import Name, NonNegative, Positive, set_fields
from phlexible.algebra.caching import cached_on_owner
from phlexible.description.interactions.contact_members import (
    DEEPEST,
    Member,
    Side,
    ball_of,
    can_touch,
    check_depths,
    contact_members,
    contact_pair_members,
    contact_parts,
    dimensions_of,
    line_nodes,
    size_of,
    touchable_part,
)
from phlexible.description.interactions.effective_mass import GRAVITY, SHALLOW, SIZE, weight_stiffness
from phlexible.description.interactions.force_elements import (
    BRISTLE_DAMPING,
    CREEP_SPEED,
    LONGEST_OF_MANY,
    LONGEST_PART,
    Bristle,
    CoordinateForce,
    Coulomb,
    Exponent,
    ForceElement,
    OneSided,
    Restitution,
    complete_impact_options,
    friction_bristle,
)
from phlexible.description.interactions.functions import (
    Coordinate,
    DirectionOf,
    PositionCoordinate,
    check_ports,
    expect,
    perpendicular_axes,
)
from phlexible.description.interactions.surfaces import (
    OF_TWO,
    Capsule,
    Gap,
    MeshSurface,
    Plane,
    RubbingCoordinate,
    SlidingCoordinate,
    Surface,
    Touchable,
)
from phlexible.description.placed_wholes import PlacedWhole
from phlexible.description.ports import Attachment, PlacedBody, Port
from phlexible.errors import MeshWarning, ModelError, ParameterError, UnitWarning, warn_user
from phlexible.shapes.solids import Box, Sphere
from phlexible.step.tables.declarations import MemberKind

# Contact of points, spheres and lines with surfaces (docs/theory.md, 8).

SOLID_BALL = 0.4  # its inertia over m r^2
LARGEST_FRICTION = 10.0  # coefficient; rubber of racing tyres has 2
SOFT = 100.0  # sizes of what touches, by which no bristle bends
PATCH, HERTZ_PATCH = 2 / 3, 3 * pi / 16
"""Mean lever of friction over the radius of the patch: of even pressure, and of Hertz's."""


def _convert_side(name: str, value: object) -> object:
    """Convert ``value``, the argument ``name`` ("first" or "second") of a ``Contact``: a list becomes a
    tuple, and a body made from a mesh is replaced by its surface (``MeshSurface``)."""
    if isinstance(value, list | tuple):
        return tuple(map(touchable_part, contact_parts(name, value)))
    return touchable_part(value)


ContactSide = Annotated[Side | Sequence[Side], _convert_side]


@dataclass(frozen=True, eq=False, repr=False)
class Contact(ForceElement):
    """Contact of points, spheres, lines and bodies with surfaces and other bodies, with friction and restitution.

    The normal force is ``max(0, (stiffness + damping dx/dt) x^exponent)`` with the depth x. Friction is
    ``friction`` times that, against sliding at the place that touches. Steps around a contact are taken in
    parts (8.23), ``motion.contact_steps``.

    Friction bends a spring along the surface, its bristle, before the bodies slide, so that they stick without
    creep (8.41). Pairs that are near are searched (8.32), so that thousands cost little. Members on one body do not
    meet; a line that is both sides touches itself. A point, sphere or line and one surface, and a body that is a
    ball and one surface or another ball, are a contact of two, whose normal forces are recorded.

    Attributes:
        first: the point, or the centre of a sphere; a string, rod or beam; a rigid body with a shape, all of which
            touches, or a soft body, a meshed one or a plate, whose surface nodes do; some of these, a
            ``MeshSurface``; a surface; or a list of these.
        second: a ``Plane``, ``Surface`` (sphere, cylinder, box, torus, mesh), ``Capsule``, the centre of another
            sphere, a body, or a list of these. None: those of ``first`` meet each other.
        stiffness: of each point or pair [N/m], with the exponent 1.5 [N/m^1.5]. None: by which the weight of what
            touches, on earth, goes a thousandth of its radius or size deep (``repr`` has the number); of two bodies
            the harmonic sum of their masses counts, nodes of a line share its mass, of many the heaviest counts.
            Give it to what carries more.
        radius: of spheres, lines and nodes of ``first`` that have none of their own; of two ports without lists the
            sum of both radii [m]. 0: at the centre of a rigid body that is a sphere, its radius.
        damping: after Hunt and Crossley [N s/m^(exponent + 1)]; None: ``restitution``. 0: bounces are lossless.
        friction: coefficient.
        exponent: 1.0, or 1.5 for round bodies.
        friction_speed: with ``bristle=0``: the speed below which friction falls to zero [m/s]; None: 1e-3.
        name: for messages; None: made from the parts.
        bristle: stiffness of the spring that friction bends [N/m]. None: as stiff as the contact is, ``stiffness``,
            with the exponent 1.5 in the depth that weights reach. 0: none: friction falls with the speed below
            ``friction_speed``, so that what would stick creeps.
        bristle_damping: of a damper beside it [N s/m]; None: a tenth of the critical one of the body that touches.
        static_friction: coefficient as long as they stick; None: ``friction``.
        restitution: speed after an impact over that before it, 0 to 1, in place of ``damping``; 1: lossless. None:
            0.3, by which bodies come to rest, or ``damping`` where that is given. Of many it is that of each pair.
        restitution_speed: slower impacts lose less: they are damped as those of this speed [m/s].
        rolling: lever of the normal force whose moment resists rolling, b [m]; a ball stays on a slope below b over
            its radius. With friction, of a sphere that a port with an orientation carries; of many, of each sphere
            that turns, on what turns or stays.
        drilling: radius of the patch whose friction resists turns about the normal [m]: of the moment ``friction``
            times the normal force times 2/3 of it, with the exponent 1.5 3 pi/16 of it; of many as ``rolling``.
        second_radius: ``radius`` of parts of ``second``, of lists and whole bodies; None: the same [m].
        longest_part: step times omega of the contact (8.23), to which steps around it are parted; of many, of each
            pair. More is faster: energy and momenta stay exact, the rebound is late by 0.25 / omega with 1. None:
            0.1; of lists and whole bodies with ``damping`` 0.3.

    Raises:
        ParameterError: numbers out of range, or a shape that needs a radius.
        ModelError: no ports, both on one body, or no pairs of bodies.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> floor = ph.Plane(model.ground.at((0, 0, 0)), normal=(0, 0, 1))
        >>> ball = model.add(ph.RigidBody.sphere(0.1, density=500.0), "ball", position=(0, 0, 0.1))
        >>> touch = model.apply(ph.Contact(ball.origin, floor, stiffness=1e5, radius=0.1))
        >>> print(model.equilibrium()[ph.ElementForce(touch)].round(6))  # the weight
        20.546016

        >>> box = model.add(ph.RigidBody.box((0.2, 0.2, 0.2), density=500.0), "box", position=(0, 0, 0.3))
        >>> many = model.apply(ph.Contact([ball, box], [ball, box, floor], stiffness=1e5, friction=0.4))
    """

    first: ContactSide
    second: ContactSide | None = None
    stiffness: Positive | None = None
    radius: NonNegative = 0.0
    damping: NonNegative | None = None
    friction: NonNegative = 0.0
    exponent: Exponent = 1.0
    friction_speed: Positive | None = None
    name: Name = field(default=None, kw_only=True)
    bristle: NonNegative | None = field(default=None, kw_only=True)
    bristle_damping: NonNegative | None = field(default=None, kw_only=True)
    static_friction: NonNegative | None = field(default=None, kw_only=True)
    restitution: Restitution = field(default=None, kw_only=True)
    restitution_speed: Positive = field(default=1e-2, kw_only=True)
    rolling: NonNegative = field(default=0.0, kw_only=True)
    drilling: NonNegative = field(default=0.0, kw_only=True)
    second_radius: NonNegative | None = field(default=None, kw_only=True)
    longest_part: Positive | None = field(default=None, kw_only=True)
    guessed_depth: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._replace_balls()
        complete_impact_options(self)
        if self.is_contact_group:
            self._check_search()
            return
        if self.second_radius is not None:
            raise ParameterError(f"{self}: second_radius= is for lists and whole bodies; leave it out")
        others = self.second.ports if isinstance(self.second, Touchable) else (self.second,)
        for port in self.touching_ports:
            for other in others:
                check_ports(self, first=port, second=other)
        self._guess_stiffness()
        if not isinstance(self.second, Touchable):
            if not self.radius:
                raise ParameterError(
                    f"{self}: first and second are points without a size; give radius=, the sum of both radii"
                )
            if self.friction:
                raise ParameterError(
                    f"{self}: friction needs the point of contact on the surface; give Surface({self.second}, "
                    "Sphere(...))"
                )
        self._check_bristle()
        self._check_rolling()
        if self._passes_between_nodes:
            warn_user(
                f"{self}: pieces of the line are longer than {self.second} is thick, which passes between two"
                " nodes: give it more elements, or leave out rolling= and drilling=",
                MeshWarning,
            )
        expect(self, *self.ports)

    def _replace_balls(self) -> None:
        """Replace a first side that is a whole ball (sphere-shaped rigid body) by its centre point and radius, in
        place. A second ball becomes a spherical surface. Nothing is done unless the first side is a ball and the
        contact then needs no contact search. Such contacts cost less."""
        ball, other = (ball_of(each, counts_centres=not self.radius) for each in (self.first, self.second))
        second = self.second if other is None else Surface(other[0], Sphere(other[1]))
        if ball and isinstance(second, Touchable) and not _needs_search(second, ball[1]):
            set_fields(self, first=ball[0], second=second, radius=ball[1], second_radius=None)

    def _check_rolling(self) -> None:
        if not self.resists_rotation:
            return
        name = "rolling" if self.rolling else "drilling"
        if not self.friction:
            raise ParameterError(f"{self}: {name} needs friction; give friction=, too")
        if self.is_contact_group:
            if not any(each.is_ball for each in self.members()):
                raise ParameterError(f"{self}: {name} needs spheres that can rotate; leave it out")
            return
        if not self.radius or not self.touching_ports[0].has_orientation:
            raise ParameterError(f"{self}: {name} needs a sphere that can rotate; give radius=, a port of a body")
        others = self.second.ports if isinstance(self.second, Touchable) else (self.second,)
        if len(others) > 1 or (isinstance(others[0], Attachment) and not others[0].has_orientation):
            raise ParameterError(f"{self}: {name} needs a surface on a body that can rotate, or on the ground")

    @property
    def normal_stiffness(self) -> float:
        """Return the stiffness of the normal force of a contact, set by the user or by default [N/m^exponent]."""
        assert self.stiffness is not None, "set where it is made"
        return self.stiffness

    def _guess_stiffness(self) -> None:
        """Set the default stiffness of the normal force of a contact [N/m^exponent] unless the user gave one. It is
        computed so that the weight of the resting mass presses the bodies into each other by a thousandth of their
        size (``weight_stiffness``)."""
        if self.stiffness is None:
            mass, size = self._mass_and_size
            guess = weight_stiffness(mass, size, self.exponent)
            set_fields(self, stiffness=guess, guessed_depth=SHALLOW * (size or SIZE))

    @property
    def _mass_and_size(self) -> tuple[float, float]:
        """Return the mass [kg] and size [m] from which the default stiffness of this contact is computed. For two
        sides: the reduced mass of both bodies, where a body that touches at n points counts with mass/n; ground
        counts as infinitely heavy. The size is the contact radius or else the smallest size of the bodies, 0 if
        unknown. For a contact group (many bodies): both values of its heaviest body."""
        if self.is_contact_group:
            members = [each for each in self.members() if isinstance(each.start, Attachment)]
            return max((_mass_of(each.start), each.radius or size_of(each.start)) for each in members)
        touching_ports = self.touching_ports
        sides = [each for each in (touching_ports[0], self._other) if isinstance(each, Attachment)]
        shares = [len(touching_ports) if each is touching_ports[0] else 1 for each in sides]
        mass = 1 / sum(share / each.placed.data.mass for share, each in zip(shares, sides, strict=True))
        thickness = self.second.thickness if isinstance(self.second, Touchable) else 0.0
        sizes = [size for each in sides if (size := each.placed.data.size)]
        return mass, self.radius or min([*sizes, *([thickness] if thickness else [])], default=0.0)

    @property
    def resists_rotation(self) -> bool:
        """Return whether a contact has rolling resistance or drilling friction (a moment that resists spinning
        about the normal)."""
        return bool(self.rolling or self.drilling)

    def normal_law(self, side: float = 1.0) -> OneSided:
        """Return the one-sided force law of the normal force of a contact: stiffness, damping, exponent,
        restitution. ``side`` is 1 or -1, the sign of the gap coordinate towards which it pushes. Its substeps are
        at most ``longest_part`` / omega long if the user set it, else 0.3 / omega for contact groups with damping
        and 0.1 / omega for others."""
        # Contacts among many that have damping settle; those that bounce are to do so at the right time.
        usual = LONGEST_OF_MANY if self.is_contact_group and self.damping else LONGEST_PART
        push = (self.normal_stiffness, self.damping or 0.0, self.exponent, side)
        return OneSided(*push, self.restitution, self.restitution_speed, self.longest_part or usual)

    def rotational_bristles(self, dimension: int = 3) -> tuple[Bristle | None, Bristle | None]:
        """Return the friction springs by which this contact resists rolling and drilling (spin about the normal),
        as a pair; None for a missing resistance. Their stiffness is that of the tangential friction spring times
        the squared radius of gyration. Their moments are limited by a lever [m] times the normal force. Raise
        ``ParameterError`` for drilling resistance in models with ``dimension`` below 3.

        Their stiffness has the ratio to the inertia of a solid ball that the bristle, or the contact, has to its
        mass. In a contact group stiffness and damping are those of a ball with 0.4 r^2 = 1.

        Raises:
            ParameterError: drilling in the plane.
        """
        if self.drilling and dimension < 3:
            raise ParameterError(f"{self}: drilling= needs a model in space; leave it out")
        along = self.bristle or self._bristle_stiffness
        gyration = self.squared_gyration_radius
        sticking = self.sticking
        patch = self.friction * self.drilling * (PATCH if self.exponent == 1 else HERTZ_PATCH)
        rolls, drills = (
            Bristle(along * gyration, 2 * BRISTLE_DAMPING * sqrt(along * self._mass) * gyration, grip, lever)
            for grip, lever in ((1.0, self.rolling), (sticking.grip if sticking else 1.0, patch))
        )
        return rolls if self.rolling else None, drills if self.drilling else None

    @property
    def squared_gyration_radius(self) -> float:
        """Return the squared radius of gyration 0.4 r^2 of the solid ball that rolls in a contact [m^2]; 1 for a
        contact group. It converts translational to rotational stiffness."""
        return 1.0 if self.is_contact_group else SOLID_BALL * self.radius**2

    @property
    def _bristle_stiffness(self) -> float:
        """Return the default tangential stiffness of the friction spring (bristle) of a contact [N/m]. For a
        linear contact (exponent 1) it is the normal stiffness; otherwise normal_stiffness * d^(exponent - 1),
        where the penetration d is a fixed share of the size of the bodies, or of a default size if theirs is
        unknown."""
        if self.exponent == 1:
            return self.normal_stiffness
        return float(self.normal_stiffness * (SHALLOW * (self._mass_and_size[1] or SIZE)) ** (self.exponent - 1))

    @property
    def _mass(self) -> float:
        """Return the mass that determines the default damping of the friction springs (bristles) of a contact
        [kg]: the smallest mass of all touching bodies of a contact group, or the mass of the first body of a
        contact of two. Return 0 if there is only ground."""
        return min((port.placed.data.mass for port in self._sliders if isinstance(port, Attachment)), default=0.0)

    @property
    def _sliders(self) -> Sequence[Port]:
        """Return the points of bodies at which a contact applies friction: the start points of all contact shapes
        (spheres, segments, solids) of a contact group, or the first touching point of a contact of two."""
        return [each.start for each in self.members()] if self.is_contact_group else self.touching_ports[:1]

    @cached_property
    def is_contact_group(self) -> bool:
        """Return whether a contact is a contact group, whose touching pairs are found by a search in every step:
        contacts of lists, whole bodies, mesh surfaces or shapes without closed-form distance. Other contacts ("of
        two") have points that are fixed in advance, such as the nodes of one line body on one surface."""
        if self.second is None or isinstance(self.second, tuple | PlacedBody | PlacedWhole | MeshSurface):
            return True
        if isinstance(self.first, tuple | Touchable | MeshSurface):
            return True
        if _needs_search(self.second, self.radius) or (self._passes_between_nodes and not self.resists_rotation):
            return True
        return isinstance(self.first, PlacedBody) and not line_nodes(self.first)

    @cached_property
    def _passes_between_nodes(self) -> bool:
        """Whether a surface could slip between two nodes of the touching beam, rod or string, so that its line
        segments must be tested too; cached. True if the longest initial distance of neighbour nodes exceeds the
        thickness of a box, or twice the thickness of another surface. False for other bodies, hollow surfaces, and
        surfaces that a broad-phase search tests."""
        if not (isinstance(self.first, PlacedBody | PlacedWhole) and isinstance(self.second, Surface | Capsule)):
            return False
        if isinstance(self.second, Surface) and (self.second.inside or _needs_search(self.second, self.radius)):
            return False
        nodes = np.array([port.initial_position() for port in line_nodes(self.first)]).reshape(-1, 3)
        longest = np.linalg.norm(np.diff(nodes, axis=0), axis=1).max(initial=0.0)
        is_box = isinstance(self.second, Surface) and isinstance(self.second.shape, Box)
        return bool(longest > self.second.thickness * (1 if is_box else 2))

    @property
    def parts(self) -> tuple[Side, ...]:
        """Return all points, bodies and surfaces that may touch in a contact as a flat tuple: first those of the
        argument ``first``, then those of ``second`` if it was given. Lists are expanded and each part is checked
        to be touchable."""
        sides = ("first", self.first), ("second", self.second)
        return tuple(part for name, side in sides if side is not None for part in contact_parts(name, side))

    @cached_on_owner
    def members(self, dimension: int | None = None) -> tuple[Member, ...]:
        """Return the contact shapes of both sides of this contact, between which distances are computed: spheres,
        line segments, sample points and convex solids. They are computed at the first call and cached for each
        ``dimension`` of the model (1, 2 or 3). None means the lowest dimension of the bodies' models, or 3 without
        bodies."""
        if dimension is None:
            return self.members(min((size for part in self.parts for size in dimensions_of(part)), default=3))
        if not self.is_contact_group:
            surface, radius = self._touched_surface
            return contact_pair_members(self.touching_ports, radius, surface, dimension)
        other = self.radius if self.second_radius is None else self.second_radius
        second = None if self.second is None else contact_parts("second", self.second)
        return contact_members(contact_parts("first", self.first), second, (self.radius, other), dimension)

    def _check_search(self) -> None:
        if self.second is None and not isinstance(self.first, tuple):
            raise ModelError(f"{self}: second is missing; give what {self.first} can touch, or a list as first")
        members, is_empty = self.members(), self.first == () or self.second == ()
        if not is_empty and not any(each.kind.is_solid or each.radius for each in members):
            raise ParameterError(f"{self}: contact between points and lines needs a thickness; give radius=")
        sides = {each.side for each in members}
        is_alone = len({each.owner for each in members}) < 2 and not any(each.row for each in members)
        if is_alone or not ({1, 2} <= sides or 3 in sides):
            raise ModelError(f"{self}: no pairs of bodies: give two or more as first, or others as second")
        self._check_rolling()
        self._guess_stiffness()
        if self.friction:
            self._check_friction_orientation([each for each in members if each.kind is MemberKind.ROUND])
        self._check_bristle()
        expect(self, *dict.fromkeys(port for each in members for port in (each.start, each.end)))

    def _check_friction_orientation(self, rounds: Sequence[Member]) -> None:
        """Raise ``ModelError`` if this contact has friction between two shapes on bodies without orientation
        (point masses and strings). ``rounds`` are its spheres and line segments; pairs that cannot touch, or whose
        radii are both 0, are allowed. Friction needs the position of the contact point on the material of one of
        the bodies."""
        stiff = [each for each in rounds if not each.start.has_orientation]
        for one in stiff:
            for other in stiff:
                if can_touch(one, other) and one.radius + other.radius > 0:
                    raise ModelError(
                        f"{self}: {one.start} and {other.start} have no orientation; friction needs one of the two"
                        " to be a rigid body, a rod, a beam or the ground"
                    )

    @property
    def sticking(self) -> Bristle | None:
        """Return the friction spring (bristle) by which a contact resists sliding; None without friction or for
        friction that is regularized in the speed."""
        levels = ("friction", self.friction), ("static_friction", self.static_friction)
        slow, default = ("friction_speed", self.friction_speed), lambda: self._bristle_stiffness
        return friction_bristle(self, self.bristle, self.bristle_damping, *levels, slow, default, self._mass)

    def _check_bristle(self) -> None:
        """Warn (``UnitWarning``) if the stiffness ``bristle`` [N/m] that the user gave the friction spring of this
        contact is probably too small. It is if friction at a body's weight would deflect the tangential spring by
        more than a fixed multiple of the size of the bodies. Without friction, or with the default stiffness,
        it is not checked. Warn also if the coefficient of friction is above 10."""
        if self.friction > LARGEST_FRICTION:
            warn_user(f"{self}: friction = {self.friction:g} is a coefficient; is it in percent?", UnitWarning)
        if (sticking := self.sticking) is None or self.bristle is None:
            return
        size = max(map(size_of, self._sliders), default=0.0) or self.radius or SIZE
        bent = self.friction * self._mass * GRAVITY / sticking.stiffness
        if bent > SOFT * size:
            warn_user(
                f"{self}: bristle = {self.bristle:g} N/m, a stiffness along the surface, gives way by {bent:.2g} m"
                f" before friction slips; near stiffness = {self.normal_stiffness:.3g} is a good choice",
                UnitWarning,
            )

    @property
    def touching_ports(self) -> tuple[Port, ...]:
        """Return the points or sphere centres that touch the surface, in a contact of two: the first port, or all
        nodes of the first line body."""
        if isinstance(self.first, PlacedBody | PlacedWhole):
            return line_nodes(self.first)
        return (cast("Port", self.first),)

    @property
    def _other(self) -> Port:
        return self.second.carrier if isinstance(self.second, Touchable) else cast("Port", self.second)

    @property
    def _touched_surface(self) -> tuple[Touchable, float]:
        """Return the surface that is touched in a contact of two, and the radius of what touches it [m]. If
        the second side is a port, the surface is a sphere of the contact's radius about it. A port is a point
        of a body, or of the ground."""
        if isinstance(self.second, Touchable):
            return self.second, self.radius
        return Surface(self._other, Sphere(self.radius)), 0.0

    @property
    def ports(self) -> tuple[Port, Port]:
        """Return two points that represent a contact: the point that carries the touched surface (or second
        sphere), and the first touching point. For a contact group they are the start of its first contact shape
        and the end of its last."""
        if self.is_contact_group:
            members = self.members()
            return members[0].start, members[-1].end
        return self._other, self.touching_ports[0]

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """Return the force laws of this contact of two bodies, one for each gap between a touching point and the
        surface. A law has a repelling normal force and friction against sliding. A contact group (many bodies)
        gives an empty tuple; its forces are found in each step. Raise ``ModelError`` for deep initial
        penetrations, ``ParameterError`` for friction of a contact group in one dimension.

        Raises:
            ModelError: the bodies start deep inside each other.
            ParameterError: in the plane, a direction that leaves it.
        """
        if self.is_contact_group:
            if dimension == 1 and self.friction:
                raise ParameterError(f"{self}: friction needs the plane or space (dimension=2 or 3)")
            check_depths(self, self.members(dimension))
            _ = self.rotational_bristles(dimension)
            return ()
        friction = None
        if self.friction:
            rolls, drills = self.rotational_bristles(dimension)
            speed = self.friction_speed or CREEP_SPEED
            friction = Coulomb(self.friction, speed, 0.0, None, self.sticking, rolls, drills)
        surface, radius = self._touched_surface
        found = []
        for port in self.touching_ports:
            for gap in surface.gaps(port, dimension):
                law = self.normal_law(gap.side)
                rest = gap.surface + gap.side * radius
                self._check_depth(port, gap.side * (rest - gap.coordinate.initial_value()), surface)
                coordinate = self._coordinate(gap, port, surface, dimension)
                found.append(CoordinateForce(coordinate, rest=rest, contact=law, friction=friction))
        return tuple(found)

    def is_lossy(self, dimension: int) -> bool:
        """Return whether a contact dissipates energy: it has damping, friction, or a restitution other than 1.
        ``dimension`` is not used."""
        return bool(self.damping) or self.friction > 0 or self.restitution not in (None, 1.0)

    def _check_depth(self, port: Port, depth: float, surface: Touchable) -> None:
        size = size_of(port)
        most = self.radius or DEEPEST * (size if not surface.thickness else surface.thickness)
        if most and depth >= most:
            raise ModelError(f"{self} starts {depth:g} m deep at {port}; place the bodies apart")

    def _coordinate(self, gap: Gap, port: Port, surface: Touchable, dimension: int) -> Coordinate:
        if not self.friction:
            return gap.coordinate
        turns = self.radius and port.has_orientation
        if isinstance(surface, Plane) and isinstance(gap.coordinate, PositionCoordinate) and not turns:
            normal = surface.unit_normal()
            along = tuple(DirectionOf(surface.port, each) for each in perpendicular_axes(normal)[: dimension - 1])
            return SlidingCoordinate("gap", surface.port, port, gap.coordinate.direction, along)
        if dimension == 1:
            raise ParameterError(f"{self}: friction needs the plane or space (dimension=2 or 3)")
        radius = self.radius if port.has_orientation else 0.0  # what does not turn is touched on its axis
        carriers = surface.ports
        return RubbingCoordinate("gap", gap.coordinate, port, carriers, radius, dimension, self.resists_rotation)

    def __repr__(self) -> str:
        if self.name:
            return self.name
        if self.is_contact_group:
            sides = ", ".join(_name(each) for each in (self.first, self.second) if each is not None)
        else:
            sides = f"{_name(self.first)}, {self._other}"
        guessed = f"; stiffness {self.stiffness:.3g}, guessed" if self.guessed_depth else ""
        return f"Contact({sides}{guessed})"


def _mass_of(port: Port) -> float:
    return port.placed.data.mass if isinstance(port, Attachment) else 0.0


def _needs_search(side: object, radius: float) -> bool:
    """Return whether a contact with this side must use the contact search, since its shape has no closed-form
    distance in contacts of two. This holds for tori, meshes and boxes that points without ``radius`` touch from
    outside. False for anything that is no ``Surface``."""
    if not isinstance(side, Surface) or (isinstance(side.shape, Box) and (radius or side.inside)):
        return False
    return isinstance(side.shape, Box) or not isinstance(side.shape, OF_TWO)


def _name(part: object) -> str:
    if isinstance(part, Sequence):
        return f"{len(part)} parts"
    return part.name if isinstance(part, PlacedBody | PlacedWhole) else str(part)
