"""Random bodies that meet and rub, of which gradients are taken.

Balls, or bodies whose whole surface touches, in lists, on a floor: friction that sticks, static friction, rolling,
drilling, restitution, damping. They are near each other where they begin, so that they touch.
"""

from typing import Any

import numpy as np

import phlexible as ph

RADIUS, STEP, STEPS = 0.1, 2e-3, 8
NUMBERS = ("mass", "stiffness", "friction", "bristle", "restitution", "speed", "place", "gravity")


def law_of(rng: np.random.Generator, dimension: int, has_turns: bool) -> dict[str, float]:
    """A law of contact; of what turns as a ball also one against rolling."""
    law = {"stiffness": float(10 ** rng.uniform(3.5, 4.5))}
    kind = rng.random()
    if kind < 0.35:
        law["restitution"] = float(rng.uniform(0.3, 0.9))
    elif kind < 0.7:
        law["damping"] = float(rng.uniform(1e-3, 2e-2)) * law["stiffness"]
    if rng.random() < 0.3:
        law["exponent"] = 1.5
        law["stiffness"] *= 10.0
    if rng.random() < 0.75:
        law["friction"] = float(rng.uniform(0.1, 1.0))
        law["bristle"] = float(rng.uniform(0.2, 1.0)) * min(law["stiffness"], 3e4)
        if rng.random() < 0.3:
            law["static_friction"] = 1.3 * law["friction"]
        if dimension == 3 and has_turns and rng.random() < 0.4:
            law |= {"rolling": float(rng.uniform(1e-3, 5e-3)), "drilling": float(rng.uniform(1e-3, 5e-3))}
    return law


class Crowd:
    """The case of a seed: two or three bodies, a law of contact, and two of its numbers (``names``) that change."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng([seed, 22])
        self._dimension = int(rng.integers(2, 4))
        self._is_whole = self._dimension == 3 and rng.random() < 0.3
        self._law = law_of(rng, self._dimension, not self._is_whole)
        self._count = int(rng.integers(2, 4))
        self._has_floor = bool(rng.random() < 0.8)
        self._are_two_lists = bool(rng.random() < 0.25)
        self._masses = rng.uniform(0.5, 2.0, self._count)
        self._places = 2 * RADIUS * np.arange(self._count)[:, None] * [0.97, 0.0, 0.0]
        self._places = self._places + 0.05 * RADIUS * rng.normal(size=(self._count, 3))
        self._places[:, 2] = RADIUS * (1.0 + rng.uniform(-0.03, 0.03, self._count))
        self._velocities = rng.normal(size=(self._count, 3))
        self._spins = 3 * rng.normal(size=(self._count, 3))
        self._sensor, self._of = int(rng.integers(3)), int(rng.integers(self._count))
        values = {"mass": 1.0, "speed": 1.0, "place": 1.0, "gravity": 9.81, **self._law}
        known = [name for name in NUMBERS if name in values]
        self.names = [str(name) for name in rng.choice(known, 2, replace=False)]
        self._values = np.array([values[name] for name in self.names])

    def value(self, p: np.ndarray) -> float:
        model = self.build(p)
        made, motion = self.cost(model), model.simulate(STEPS * STEP, STEP, progress=False)
        return float(made.value(motion.time, [motion[sensor] for sensor in made.sensors]))

    def slopes(self, p: np.ndarray) -> tuple[float, np.ndarray]:
        value, found = ph.gradient(self.build, self.cost, p, duration=STEPS * STEP, step=STEP)
        return value, np.asarray(found)

    def build(self, p: np.ndarray) -> ph.Model:
        given = dict(zip(self.names, (self._values * p).tolist(), strict=True))
        up = 1 if self._dimension == 2 else 2
        gravity = np.zeros(3)
        gravity[up] = -given.get("gravity", 9.81)
        model = ph.Model(gravity=gravity, dimension=self._dimension)
        bodies = []
        for k in range(self._count):
            place, velocity, spin = self._places[k].copy(), self._velocities[k].copy(), self._spins[k].copy()
            if self._dimension == 2:
                place[[1, 2]], velocity[2], spin[:2] = place[[2, 1]] * [1.0, 0.0], 0.0, 0.0
            place[0] *= given.get("place", 1.0)
            velocity *= given.get("speed", 1.0)
            mass = self._masses[k] * given.get("mass", 1.0)
            placed = {"position": place, "velocity": velocity, "angular_velocity": spin}
            bodies.append(model.add(self._body(k, mass), f"body {k}", **placed))
        law = self._law | {name: value for name, value in given.items() if name in self._law}
        sides: list[Any] = list(bodies) if self._is_whole else [body.origin for body in bodies]
        if self._has_floor:
            normal = np.zeros(3)
            normal[up] = 1.0
            sides.append(ph.Plane(model.ground.at((0, 0, 0)), normal))
        radius = {} if self._is_whole else {"radius": RADIUS}
        if self._are_two_lists:
            model.apply(ph.Contact(sides[:1], sides[1:], **radius, **law))
        else:
            model.apply(ph.Contact(sides, **radius, **law))
        return model

    def _body(self, k: int, mass: float) -> ph.RigidBody:
        inertia = 0.4 * mass * RADIUS**2
        if self._dimension == 2:
            return ph.RigidBody(mass, inertia)
        if not self._is_whole:
            return ph.RigidBody(mass, np.diag([inertia] * 3))
        shape = ph.Sphere(RADIUS) if k % 2 else ph.Box((2 * RADIUS, 2 * RADIUS, 2 * RADIUS))
        return ph.RigidBody(mass, np.diag([inertia, 1.2 * inertia, 1.1 * inertia]), shape=shape)

    def cost(self, model: ph.Model) -> ph.Cost:
        at = model[f"body {self._of}"].origin
        if self._sensor == 0:
            return ph.Cost.final(ph.Position(at), lambda x: x[:, 0] + 0.3 * x[:, self._dimension - 1])
        if self._sensor == 1:
            return ph.Cost.integral(ph.Velocity(at, (1, 0, 0)), lambda v: v**2)
        return ph.Cost.final(ph.Velocity(at, (0, 1, 0) if self._dimension == 2 else (0.3, 0, 1)))
