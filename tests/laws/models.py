"""Seeded random mechanisms: trees of bodies, placed so that every joint closes, and moving with them."""

import warnings
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.transform import Rotation

import phlexible as ph
from formulas import formula
from laws import cases
from phlexible.bodies.beam.strain import linear_stiffness
from phlexible.bodies.body import Body, NodalBody
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.string_law import StringLaw
from phlexible.description.interactions.loads import Load
from phlexible.description.joints.joint import Joint
from phlexible.description.ports import PlacedBody
from phlexible.state.initial_state import InitialKind, initial_state
from phlexible.state.redundancy import redundancies
from phlexible.state.system import system_of

STEPS = 100
DEFLECTION = 0.05  # of a beam's length, at most
H_OMEGA = (0.1, 1.0, 10.0, 100.0, 1000.0)
DEFORMED, UNDEFORMED = InitialKind.QUASI_STATIC, InitialKind.UNDEFORMED
GREATEST_TURN = {2: 0.12, 3: 0.05}  # of bodies in one step at the start [rad]; later they turn faster


@dataclass(frozen=True)
class Wishes:
    """What a random mechanism must have; the rest is drawn."""

    dimension: int  # 2 or 3
    h_omega: float = 1.0  # step times the greatest frequency of the bodies
    ground: str = "free"  # "free" (free flight), "fixed" or "moving": what the first body hangs on
    gravity: bool = False  # whether there is weight
    loads: int = 0  # number of forces and torques
    # undeformed and with given velocities of all bodies, or bent and at rest but for the first
    initial: InitialKind = InitialKind.UNDEFORMED
    loop: bool = False  # whether a distance joint ties the last body to the ground; all is at rest at t = 0 then
    first_joint: type[Joint] | None = None  # the joint between the first two bodies; None: drawn
    bodies: int | None = None  # how many; None: drawn from 2 to 4
    # one that is among them; a string hangs on another one, with a weight at its end
    body: type[Body] | None = None
    flexible: bool = False  # whether the first two bodies are beams
    law: type[StringLaw] | None = None  # of the string, which is there where a law is asked for; None: drawn
    load: type[Load] | None = None  # the kind of all loads; None: drawn
    beam: dict[str, Any] = field(default_factory=dict)  # parameters of all beams that are not drawn


@dataclass(frozen=True, eq=False)
class Sample:
    model: ph.Model  # bodies, joints, loads and their velocities at t = 0
    step: float  # as long as the wishes say [s]
    initial: InitialKind  # undeformed, or deformed by a load that lets go at t = 0
    scale: cases.Scale  # what the parts have in common

    def damped(self, viscosity: float = 0.0, damping_ratio: float = 0.0) -> Self:
        """A copy with these in all beams; the viscosity is given in steps."""
        beams = {p.name: p.body for p in self.model.bodies if isinstance(p.body, ph.Beam)}
        for name, beam in beams.items():
            damped = "section" if beam.material is None else "material"
            viscous = {damped: replace(getattr(beam, damped), viscosity=viscosity * self.step)}
            beams[name] = replace(beam, damping_ratio=damping_ratio, **viscous)
        return replace(self, model=self.model.replace(bodies=beams))

    def simulate(self, steps: int = STEPS, **options: Any) -> ph.Motion:
        """So many steps; the laws hold for slack strings, beams that blow up and steps that are too long, too."""
        with warnings.catch_warnings():
            for told in (ph.StepWarning, ph.LargeDeflectionWarning, ph.LargeStrainWarning, ph.StiffeningWarning):
                warnings.simplefilter("ignore", told)
            warnings.simplefilter("ignore", ph.SlackStringWarning)
            return self.model.simulate(steps * self.step, self.step, initial=self.initial, **options)


def frequencies(body: FloatingBody) -> cases.Array:
    """Of a body held by its frame, ascending, shape (n,) [rad/s]."""
    mass = np.einsum("aaij->ij", body.second_moments)[1:, 1:]
    return np.sqrt(np.maximum(eigh(linear_stiffness(body.strain), mass, eigvals_only=True), 0))


def random_mechanism(seed: int, wishes: Wishes) -> Sample:
    """The mechanism of a seed; another one is drawn while nothing can move or joints are redundant."""
    rng = np.random.default_rng(seed)
    while True:
        sample = _Builder(rng, wishes).sample()
        rows = sum(len(joint.constraints(wishes.dimension)) for joint in sample.model.joints)
        if sum(placed.data.velocity_count for placed in sample.model.bodies) > rows:
            system = system_of(sample.model)
            try:
                if redundancies(system, initial_state(system)):
                    continue
            except ph.ModelError:
                if wishes.loop:
                    continue
                raise
            return sample


@dataclass(frozen=True, eq=False)
class _Moving:
    """A placed body with its velocity of the origin and its angular velocity, world axes, shape (3,)."""

    placed: PlacedBody
    velocity: cases.Array
    spin: cases.Array


class _Builder:
    def __init__(self, rng: np.random.Generator, wishes: Wishes) -> None:
        self._rng, self._wishes, self._scale = rng, wishes, cases.random_scale(rng)
        self._bodies = self._drawn_bodies()
        known = [frequencies(body.discretize(wishes.dimension)) for body in self._bodies]
        beams = [values for values in known if values.size]
        self._soft = soft = min((values[0] for values in beams), default=10.0)
        self._step = wishes.h_omega / max((values[-1] for values in beams), default=100.0)
        # Inertia forces of this rate bend the softest beam by a few per cent of its length.
        self._rate = min(soft * rng.uniform(0.03, 0.15), GREATEST_TURN[wishes.dimension] / self._step / 3)
        self._acceleration = min(0.01 * soft**2, 0.02 / self._step**2) * self._scale.length
        is_undeformed = wishes.initial is not DEFORMED
        self._knows_velocities = is_undeformed and wishes.ground != "moving" and not wishes.loop

    def sample(self) -> Sample:
        w, rng = self._wishes, self._rng
        weight = self._vector() * self._acceleration * w.gravity
        self._model = ph.Model(gravity=weight, dimension=w.dimension)
        moving = [self._root(self._bodies[0])]
        for number, body in enumerate(self._bodies[1:]):
            carriers = [each for each in moving if each.placed.data.rotates]
            parent = carriers[rng.integers(len(carriers))]
            moving.append(self._child(parent, body, w.first_joint if number == 0 else None))
        if w.law is not None or (w.body and issubclass(w.body, NodalBody)):
            self._hang_string(moving[rng.integers(len(moving))])
        if w.loop:
            self._tie(moving[-1].placed)
        if w.initial is DEFORMED:
            self._bend()
        for _ in range(w.loads):
            self._load(w.load)
        return Sample(self._model, self._step, w.initial, self._scale)

    def _drawn_bodies(self) -> list[Body]:
        rng, w = self._rng, self._wishes
        kinds = [kind for kind, case in cases.BODY_CASES.items() for _ in range(case.share)]
        count = w.bodies or int(rng.integers(2, 5))
        bodies = []
        while len(bodies) < count:
            kind = kinds[rng.integers(len(kinds))]
            if w.flexible and len(bodies) < 2:
                kind = ph.Beam
            body = self._drawn(kind)
            if cases.rotates(body, w.dimension) or len(bodies) > (w.first_joint is not None):
                bodies.append(body)
        if w.body and not issubclass(w.body, NodalBody):
            body = self._drawn(w.body)
            bodies[0 if cases.rotates(body, w.dimension) else 1] = body
        return bodies

    def _drawn(self, kind: type[Body], **options: Any) -> Body:
        given = {**options, **self._wishes.beam} if kind is ph.Beam else options
        return cases.BODY_CASES[kind].make(self._rng, self._scale, self._wishes.dimension, **given)

    def _vector(self, size: float = 1.0) -> cases.Array:
        return size * self._rng.normal(size=3) * (1, 1, self._wishes.dimension == 3)

    def _rotation(self) -> cases.Array:
        if self._wishes.dimension == 2:
            return Rotation.from_euler("z", self._rng.uniform(-np.pi, np.pi)).as_matrix()
        return Rotation.from_quat(self._rng.normal(size=4)).as_matrix()

    def _root(self, body: Body) -> _Moving:
        w, length = self._wishes, self._scale.length
        place = self._vector(length)
        if w.ground == "free":
            spin = self._vector(self._rate) if w.dimension == 3 else np.array([0, 0, self._rate])
            velocity = self._vector(self._rate * length)
            placed = self._model.add(body, None, place, self._rotation(), velocity, spin)
            return _Moving(placed, velocity, spin)
        port = self._model.ground.at(place) if w.ground == "fixed" else self._moving_port(place)
        return self._joined(port, place, np.zeros(3), np.zeros(3), body, None)

    def _moving_port(self, place: cases.Array) -> Any:
        way, rate, dimension = self._vector(0.1 * self._scale.length), self._rate, self._wishes.dimension
        turn, tilt = self._vector(0.7), self._vector(0.3)

        way_at = "{place} + np.multiply.outer(np.sin({fast} * time + 0.4) - np.sin(0.4), {way})"
        path = formula(f"lambda time: {way_at}", place=place, way=way, fast=1.3 * rate)
        turning = "0.3 + 0.7 * np.sin({rate} * time)"
        if dimension == 3:
            turn_at = "Rotation.from_rotvec(np.multiply.outer(np.sin({rate} * time), {turn}))"
            turning = f"{turn_at} * Rotation.from_rotvec({{tilt}})"
        rotation = formula(f"lambda time: {turning}", rate=rate, turn=turn, tilt=tilt)
        return self._model.ground.moving(path, rotation)

    def _child(self, parent: _Moving, body: Body, kind: type[Joint] | None) -> _Moving:
        port = self._place(parent.placed.body)(parent.placed)
        place = port.initial_position()
        velocity = parent.velocity + np.cross(parent.spin, place - parent.placed.position)
        return self._joined(port, place, velocity, parent.spin, body, kind)

    def _joined(
        self,
        port: Any,
        place: cases.Array,
        velocity: cases.Array,
        spin: cases.Array,
        body: Body,
        kind: type[Joint] | None,
    ) -> _Moving:
        w, length, turns = self._wishes, self._scale.length, cases.rotates(body, self._wishes.dimension)
        case = cases.JOINT_CASES[kind or self._joint_type(turns)]
        triad, rotation = self._rotation().T, self._rotation()
        if w.dimension == 2:
            triad = np.array([*triad[:2], [0, 0, 1]])
        gap = length * self._along(triad, case.offset, (0.2, 0.6))
        slide = self._rate * length * self._along(triad, case.slides, (-1, 1))
        turn = self._rate * self._along(triad, case.turns, (-1, 1), (0, 1, 2) if w.dimension == 3 else (2,))
        pick = self._place(body)
        lever = rotation @ pick(ph.Model(dimension=w.dimension).add(body)).point.position
        own_spin = (spin + turn) * turns
        own_velocity = velocity + np.cross(spin, gap) + slide - np.cross(own_spin, lever)
        placed = self._model.add(
            body,
            None,
            place + gap - lever,
            rotation if turns else None,
            own_velocity if self._knows_velocities else None,
            own_spin if self._knows_velocities and turns else None,
        )
        self._model.connect(case.make(port, pick(placed), triad))
        return _Moving(placed, own_velocity, own_spin)

    def _along(
        self, triad: cases.Array, axes: tuple[int, ...], limits: tuple[float, float], possible: tuple[int, ...] = ()
    ) -> cases.Array:
        """A random vector along those axes of a triad that are possible: by default those of space."""
        parts = np.zeros(3)
        for axis in set(axes) & set(possible or range(self._wishes.dimension)):
            parts[axis] = self._rng.uniform(*limits)
        return parts @ triad

    def _joint_type(self, turns: bool) -> type[Joint]:
        d = self._wishes.dimension
        fitting = [kind for kind in cases.joint_types(d) if turns or d in cases.JOINT_CASES[kind].point_mass]
        return fitting[self._rng.integers(len(fitting))]

    def _place(self, body: Body) -> cases.Place:
        return cases.random_place(self._rng, body, self._scale, self._wishes.dimension)

    def _hang_string(self, carrier: _Moving) -> None:
        """A stretched string in any direction, as soft as the softest beam, with a body at its other end."""
        w, rng, scale = self._wishes, self._rng, self._scale
        stiffness = scale.mass * scale.length * self._soft**2
        law = w.law or list(cases.LAW_CASES)[rng.integers(len(cases.LAW_CASES))]
        if w.body in (ph.SoftBody, ph.Shell):
            self._hang_soft_body(carrier, w.body, stiffness)
            return
        string = self._drawn(w.body or ph.String, law=cases.LAW_CASES[law](stiffness))
        port = self._place(carrier.placed.body)(carrier.placed)
        start = port.initial_position()
        velocity = carrier.velocity + np.cross(carrier.spin, start - carrier.placed.position)
        way = self._vector()
        end = start + way / np.linalg.norm(way) * string.length * rng.uniform(1.0, 1.2)
        known = {"velocity": velocity} if self._knows_velocities else {}
        placed = self._model.add(string, None, shape=(start, end), **known)
        bob = self._model.add(ph.PointMass(scale.mass * rng.uniform(0.1, 1)), None, end, **known)
        self._model.connect(ph.Spherical(port, placed.start))
        self._model.connect(ph.Spherical(placed.end, bob.origin))

    def _hang_soft_body(self, carrier: _Moving, kind: type[Body], stiffness: float) -> None:
        """A soft body or shell on one of its nodes, anyhow turned and deformed, with a weight on the mean of its
        end."""
        rng, scale, plane = self._rng, self._scale, (1, 1, self._wishes.dimension == 3)
        soft = self._drawn(kind, modulus=100 * stiffness / scale.length**2)
        port = self._place(carrier.placed.body)(carrier.placed)
        place, turn = port.initial_position(), self._rotation()
        velocity = carrier.velocity + np.cross(carrier.spin, place - carrier.placed.position)
        known = {"velocity": velocity} if self._knows_velocities else {}
        stretch, bend = rng.uniform(0.9, 1.15, 3), 0.1 * rng.uniform(-1, 1) / scale.length
        shape = soft.nodes * stretch + np.outer(bend * soft.nodes[:, 0] ** 2, [0, 1, 0])
        number = int(rng.integers(len(soft.nodes)))
        points = soft.mesh.used if kind is ph.Shell else soft.mesh.nodes
        placed = self._model.add(soft, None, place - turn @ shape[number], turn, shape=shape * plane, **known)
        self._model.connect(ph.Spherical(port, placed.node(int(points[number]))))
        end = placed["u1" if kind is ph.Shell else "end"]
        bob = self._model.add(ph.PointMass(scale.mass * rng.uniform(0.1, 1)), None, end.initial_position(), **known)
        self._model.connect(ph.Spherical(end, bob.origin))

    def _tie(self, placed: PlacedBody) -> None:
        port = self._place(placed.body)(placed)
        anchor = port.initial_position() + self._vector(self._scale.length)
        self._model.connect(ph.Distance(self._model.ground.at(anchor), port))

    def _bend(self) -> None:
        """A force on the first beam, if there is one, that bends it and lets go at t = 0."""
        beams = [placed for placed in self._model.bodies if isinstance(placed.body, ph.Beam)]
        if not beams:
            return
        beam = beams[0].body
        greatest = DEFLECTION * 3 * cases.bending_stiffness(beam) / beam.length**2
        force = self._vector(self._rng.uniform(0.3, 1) * greatest)
        released = formula("lambda time: {force} * (time <= 0)", force=force)
        self._model.apply(ph.Force(self._place(beam)(beams[0]), released))

    def _load(self, kind: type[Load] | None) -> None:
        """A constant or an oscillating load; forces on bodies without orientation are in world axes."""
        rng = self._rng
        fitting = [
            (placed, each)
            for placed in self._model.bodies
            for each, case in cases.LOAD_CASES.items()
            if case.fits(placed) and kind in (None, each)
        ]
        placed, kind = fitting[rng.integers(len(fitting))]
        value = self._vector(0.3 * self._acceleration * self._scale.mass)
        if kind is ph.Torque and self._wishes.dimension == 2:
            value = np.array([0, 0, value[0]])
        varies, frequency, axes = (rng.integers(2), self._rate * rng.uniform(1, 5), rng.choice(["world", "body"]))
        oscillating = formula("lambda time: {value} * np.cos({rate} * time)", value=value, rate=frequency)
        given = oscillating if varies else value
        port = self._place(placed.body)(placed)
        # A torque about the axis of a slender beam must not spin it up at once.
        arm = self._scale.length if self._wishes.dimension == 2 else self._scale.thickness
        self._model.apply(cases.LOAD_CASES[kind].make(port, given, arm, axes if placed.data.rotates else "world"))
