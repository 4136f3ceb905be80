"""One entry for every force element, and drives: how the laws add them to a random mechanism."""

import itertools
from typing import Any

import numpy as np

import phlexible as ph
from formulas import formula
from laws.cases import random_place
from laws.models import STEPS, Sample, frequencies
from phlexible.bodies.floating_body import FloatingBody
from phlexible.description.interactions.contact_members import segment_distance
from phlexible.description.interactions.drives import Servo
from phlexible.description.interactions.force_elements import ForceElement, JointElement
from phlexible.description.interactions.joint_limits import JointFriction, JointStop
from phlexible.description.interactions.rod_element import RodElement
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.relations import JointRelation
from phlexible.description.ports import Attachment, Port
from phlexible.state.forces import coordinate_row
from phlexible.state.initial_state import InitialKind, initial_state
from phlexible.state.system import system_of

Array = np.ndarray


class Adding:
    """Adds elements to the model of a sample, with forces that bend beams a little. ``remembers``: whether laws may
    keep something from step to step: bristles, branches that creep."""

    def __init__(self, rng: np.random.Generator, sample: Sample, remembers: bool = True) -> None:
        self.remembers = remembers
        self.rng, self.sample, self.model = rng, sample, sample.model
        frames = [placed.data for placed in self.model.bodies if isinstance(placed.data, FloatingBody)]
        beams = [frequencies(data) for data in frames]
        soft = min((values[0] for values in beams if values.size), default=10.0)
        self.stiffness = 0.02 * sample.scale.mass * soft**2 * rng.uniform(0.3, 3)  # [N/m]
        self.damping = self.stiffness * rng.uniform(0.2, 2) / soft
        self.length, self.time = sample.scale.length, 1 / soft

    def ends(self, oriented: bool) -> tuple[Attachment, Attachment]:
        able = [p for p in self.model.bodies if p.data.rotates or not oriented]
        chosen = [able[k] for k in self.rng.permutation(len(able))[:2]]
        if len(chosen) < 2:
            return self.ends(False) if not oriented else (None, None)
        places = [random_place(self.rng, p.body, self.sample.scale, self.model.dimension)(p) for p in chosen]
        return places[0], places[1]

    def spring_damper(self, damped: bool) -> ForceElement | None:
        a, b = self.ends(False)
        if np.linalg.norm(a.initial_position() - b.initial_position()) < 0.05 * self.length:
            return None
        rest = self.rng.choice([None, self.length * self.rng.uniform(0.2, 1)])
        is_rope = bool(self.rng.integers(2))
        return ph.SpringDamper(a, b, self.stiffness, self.damping * damped, rest, tension_only=is_rope)

    def tendon(self, damped: bool) -> ForceElement | None:
        """Through points of two or three bodies, one of them twice, stretched or slack."""
        a, b = self.ends(False)
        chosen = [a, b, self.ends(False)[0], self.ends(False)[1]][: self.rng.integers(2, 5)]
        ways = [np.linalg.norm(p.initial_position() - q.initial_position()) for p, q in itertools.pairwise(chosen)]
        if min(ways) < 0.05 * self.length:
            return None
        rest = self.rng.choice([None, sum(ways) * self.rng.uniform(0.7, 1.05)])
        return ph.Tendon(chosen, self.stiffness, rest, damping=self.damping * damped)

    def bushing(self, damped: bool) -> ForceElement | None:
        a, b = self.ends(True)
        if a is None:
            return None
        turning = self.stiffness * self.length**2
        factors = self.rng.uniform(0, 1, (4, 3))
        lost = self.damping * damped
        creep = ph.Maxwell((0.5, self.time)) if damped and self.remembers and factors[3, 0] > 0.5 else None
        sizes = np.array([self.stiffness, lost, turning, lost * self.length**2])
        return ph.Bushing(a, b, *(sizes[:, None] * factors), relaxation=creep)

    def rod_element(self, damped: bool) -> ForceElement | None:
        able = [p for p in self.model.bodies if p.data.rotates]
        if len(able) < 2:
            return None
        nodes = tuple(
            able[k] for k in self.rng.permutation(len(able))[: self.rng.integers(2, min(len(able), 3) + 1)]
        )
        units = np.array([1, 1, 1, *[self.length] * 3])
        mixed = self.rng.normal(size=(6, 6))
        stiffness = self.stiffness * self.length * (mixed @ mixed.T + np.eye(6)) * np.outer(units, units) / 6
        section = ph.GeneralSection(stiffness, np.eye(6) + np.diag([0, 0, 0, 1, 0, 0]), damped * 0.1 * self.time)
        return RodElement(ph.Rod(self.length, section, elements=1, order=len(nodes) - 1), 0, nodes)

    def joint_force(self, damped: bool) -> ForceElement | None:
        """A spring, with or without a potential, in a coordinate of a joint."""
        if (found := self.coordinate()) is None:
            return None
        joint, name = found
        size = 1.0 if "angle" in name else self.length
        k, at_rest = (self.stiffness * (self.length / size) ** 2, joint.initial_coordinate(self.dimension, name))
        steep = 3 / size
        sizes = {"force": 0.1 * k / steep, "energy": 0.1 * k / steep**2, "steep": steep, "rest": at_rest}
        slope = formula("lambda x: {force} * np.sinh({steep} * (x - {rest}))", **sizes)
        energy = formula("lambda x: {energy} * (np.cosh({steep} * (x - {rest})) - 1)", **sizes)
        potential = ph.Potential(energy, slope, (at_rest - size, at_rest + size))
        rest = at_rest + size * self.rng.uniform(-0.3, 0.3)
        chosen = potential if self.rng.integers(2) else None
        damping = damped * self.damping * (self.length / size) ** 2
        return joint.spring(k, rest=rest, damping=damping, potential=chosen, of=name)

    def contact(self, damped: bool) -> ForceElement | None:
        """Of a point or a sphere with a plane or a sphere on another body, rough where there is a loss.

        They touch at the start.
        """
        a, b = self.ends(True)
        if a is None:
            return None
        return self.touching(a, b, b.initial_position() - a.initial_position(), damped)

    def any_contact(self, damped: bool) -> ForceElement | None:
        return self.contacts(damped) if self.rng.integers(2) else self.contact(damped)

    def contacts(self, damped: bool) -> ForceElement | None:
        """Of a sphere with a sphere or a capsule on another body; they touch at the start."""
        a, b = self.ends(True)
        if a is None:
            return None
        rng, depth, end = self.rng, 0.01 * self.length * self.rng.uniform(0, 1), a
        if rng.integers(2):
            end = random_place(rng, a.placed.body, self.sample.scale, self.dimension)(a.placed)
        start, stop = a.initial_position(), end.initial_position()
        way = segment_distance(start, stop, b.initial_position(), b.initial_position())
        if way < 0.05 * self.length:
            return None
        one = a if (start == stop).all() else ph.Capsule(a, end, (way + depth) / 2)
        exponent = float(rng.choice([1.0, 1.5]))
        rubs = damped and self.remembers and self.dimension > 1 and (a.has_orientation or b.has_orientation)
        stiffness = self.stiffness * (0.01 * self.length) ** (1 - exponent)
        damping = damped * self.damping / (0.01 * self.length) ** exponent
        law = {"exponent": exponent, "friction": 0.3 * rubs, "bristle": self.stiffness if rubs else None}
        return ph.Contact([one], [b], radius=(way + depth) / 2, stiffness=stiffness, damping=damping, **law)

    def touching(self, a: Port, b: Attachment, chord: Array, damped: bool) -> ForceElement | None:
        """The contact of a plane or sphere at a with a point or sphere that is at a chord from there."""
        rng, way = self.rng, float(np.linalg.norm(chord))
        if way < 0.05 * self.length:
            return None
        depth = 0.01 * self.length * rng.uniform(0, 1)
        exponent = float(rng.choice([1.0, 1.5]))
        law = {
            "stiffness": self.stiffness * (0.01 * self.length) ** (1 - exponent),
            "damping": damped * self.damping / (0.01 * self.length) ** exponent,
            "exponent": exponent,
        }
        kind = rng.integers(4)
        if damped and self.remembers and rng.integers(2):
            law |= {"damping": 0.0, "restitution": rng.uniform(0, 1)}
        if kind == 0:
            return ph.Contact(b, a, radius=way + depth, **law)
        if damped and kind > 0:
            slow = self.length / (STEPS * self.sample.step) * 10 ** rng.uniform(-2, 1)
            law |= {"friction": rng.uniform(0.1, 1.0), "friction_speed": slow, "bristle": 0}
            if rng.integers(2) and self.remembers:
                law |= {
                    "friction_speed": None,
                    "bristle": self.stiffness * 10 ** rng.uniform(-1, 1),
                    "static_friction": 1.0,
                }
        if kind == 3:
            return self.on_shape(a, b, way, depth, law)
        radius = way * rng.uniform(0.1, 0.9) * (kind == 1)
        if (
            radius
            and law.get("bristle")
            and b.has_orientation
            and (a.has_orientation or not isinstance(a, Attachment))
        ):
            law |= {"rolling": 0.1 * radius, "drilling": 0.1 * radius * (self.dimension == 3)}
        across = rng.normal(size=3) * (1, 1, self.dimension == 3)
        across -= chord * (chord @ across) / way**2
        sine = (radius - depth) / way  # of the height above the plane
        normal = sine * chord / way + np.sqrt(1 - sine**2) * across / np.linalg.norm(across)
        return ph.Contact(b, ph.Plane(a, normal), radius=radius, **law)

    def on_shape(self, a: Port, b: Attachment, way: float, depth: float, law: dict[str, Any]) -> ForceElement:
        """The contact of a sphere at b with a round or cornered shape, or a piece of a line, at a."""
        rng, dimension = self.rng, self.dimension
        small = ph.Surface(a, ph.Sphere(0.01 * way))
        if isinstance(a, Attachment) and a.has_orientation:  # on the ground axes would be those of the world
            kind = rng.integers(2 if dimension == 2 else 3)
            edges = ph.Box(tuple(way * rng.uniform(0.1, 0.4, 3)))
            axis = (0, 0, 1) if dimension == 2 else rng.normal(size=3)
            small = ph.Surface(a, (edges, ph.Sphere(0.2 * way), ph.Cylinder(0.2 * way, way, axis))[kind])
        gap = small.gaps(b, dimension)[0]
        if not (radius := gap.coordinate.initial_value() - gap.surface + depth) > 2 * depth:
            small, radius = ph.Surface(a, ph.Sphere(0.01 * way)), 0.99 * way + depth
        return ph.Contact(b, small, radius=radius, **law)

    def joint_friction(self, damped: bool) -> ForceElement | None:
        """Dry and viscous, where there is to be a loss."""
        if not damped or (found := self.coordinate()) is None:
            return None
        joint, name = found
        size = 1.0 if "angle" in name else self.length
        rate = 10 * size / self.sample.step / STEPS
        viscous = self.damping * (self.length / size) ** 2
        follows = {"coefficient": self.rng.uniform(0, 0.5)} if self.rng.integers(2) else {}
        if follows and "angle" in name:
            follows["radius"] = 0.05 * self.length
        if self.rng.integers(2) and self.remembers:
            follows |= {"bristle": self.stiffness * (self.length / size) ** 2, "bristle_damping": viscous}
        else:
            follows |= {"bristle": 0, "stiction_speed": rate}
        return joint.friction(0.1 * viscous * rate, viscous=viscous, of=name, **follows)

    def servo(self, damped: bool) -> ForceElement | None:
        """With a target that stays close to the initial pose, or moves around it, its rate known or not."""
        if (found := self.coordinate()) is None:
            return None
        joint, name = found
        begin, size = (joint.initial_coordinate(self.dimension, name), 1.0 if "angle" in name else self.length)
        factor, way = (self.length / size) ** 2, 0.05 * size * self.rng.uniform(-1, 1)
        gains = self.stiffness * factor, damped * self.damping * factor
        kind, moves = "angle" if "angle" in name else "position", self.rng.integers(3)
        if not moves:
            return joint.servo(*gains, of=name, **{kind: begin + way})
        sizes = {"begin": begin, "way": way, "rate": 1 / self.time, "speed": way / self.time}
        target = formula("lambda time: {begin} + {way} * np.sin({rate} * time)", **sizes)
        speed = formula("lambda time: {speed} * np.cos({rate} * time)", **sizes) if moves == 1 else None
        return joint.servo(*gains, of=name, rate=speed, **{kind: target})

    def joint_stop(self, damped: bool) -> ForceElement | None:
        """Around the initial pose, so close that it is met."""
        if (found := self.coordinate()) is None:
            return None
        joint, name = found
        begin, size = (joint.initial_coordinate(self.dimension, name), 1.0 if "angle" in name else self.length)
        k = self.stiffness * (self.length / size) ** 2
        wide = 1e-3 * size * self.rng.uniform(0, 1, 2)
        return joint.stop(
            lower=begin - wide[0], upper=begin + wide[1], stiffness=k, damping=damped * k / size, of=name
        )

    @property
    def dimension(self) -> int:
        return self.model.dimension

    def coordinate(self) -> tuple[Joint, str] | None:
        found = []
        for joint in self.model.joints:
            oriented = joint.first.has_orientation and joint.second.has_orientation
            found += [(joint, name) for name in joint.coordinate_names if oriented or "angle" not in name]
        return found[self.rng.integers(len(found))] if found else None


ELEMENT_CASES: dict[type[ForceElement], Any] = {
    ph.SpringDamper: Adding.spring_damper,
    ph.Tendon: Adding.tendon,
    ph.Bushing: Adding.bushing,
    ph.Contact: Adding.any_contact,
    RodElement: Adding.rod_element,
    JointElement: Adding.joint_force,
    JointFriction: Adding.joint_friction,
    JointStop: Adding.joint_stop,
    Servo: Adding.servo,
}


def with_elements(
    seed: int, sample: Sample, kinds: list[type[ForceElement]], damped: bool, remembers: bool = True
) -> list[ForceElement]:
    """Adds one element of each kind where the mechanism has a place for it; those that were added."""
    adding = Adding(np.random.default_rng(seed), sample, remembers)
    made = [ELEMENT_CASES[kind](adding, damped) for kind in kinds]
    return [sample.model.apply(element) for element in made if element is not None]


def with_relation(seed: int, sample: Sample) -> JointRelation | None:
    """Adds a relation between two coordinates that move, with factors that their rates at t = 0 fit."""
    adding, system = Adding(np.random.default_rng(seed), sample), system_of(sample.model)
    drawn = [found for _ in range(8) if (found := adding.coordinate())]
    state, rates = initial_state(system, InitialKind.UNDEFORMED), {}
    for joint, name in drawn:
        row, drift = coordinate_row(system, system.at(state), joint.coordinate(system.dimension, name))
        if abs(row @ state.velocity + drift) > 1e-3:
            rates[joint, name] = row @ state.velocity + drift
    if len(rates) < 2:
        return None
    (one, first), (two, second) = list(rates.items())[:2]
    size = max(abs(first), abs(second))
    return sample.model.connect(ph.Relation([(*one, second / size), (*two, -first / size)]))
