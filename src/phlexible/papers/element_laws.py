"""Force elements of a mechanism as parts of its port-Hamiltonian model: storages, resistances, inputs.

Each scalar force has its coordinate theta as a state, a storage U(theta) and a resistance: the force
``-r dtheta/dt`` with ``r(x) >= 0``, also of dry friction ``level v / max(|v|, v_0)`` and of impacts. Friction of a
contact resists the sliding of what touches (docs/theory.md, 8; (8.17 to 8.19), (8.28), (8.31)).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.force_elements import CoordinateForce
from phlexible.description.interactions.functions import Coordinate
from phlexible.description.interactions.state_force import StateLaw
from phlexible.description.interactions.surfaces import RubbingCoordinate, SegmentCoordinate, SlidingCoordinate
from phlexible.description.ports import Attachment, MovingFrame
from phlexible.errors import ModelError
from phlexible.papers.joined_functions import JoinedFunctions, LinePart, Poses
from phlexible.state.forces import measured_rows, prescribed_part
from phlexible.state.instants import Instants
from phlexible.state.system import System

CLOSE = 1e-6


class ElementLaws:
    """The scalar forces of a mechanism.

    Args:
        system: with the elements.

    Attributes:
        forces: those of the elements, then springs of branches that creep, whose strain begins with 0, then what
            only follows the angles that functions of the state are given.
        branches: which of them are those of branches.
        leaks: of each what its force takes from d theta/dt: 1 / (k tau) of the dashpots of branches.
        prescribed: names of the forces with a prescribed part.
        active: their numbers.

    Raises:
        ModelError: a contact among many, or a controller that is called once a step.
    """

    def __init__(self, system: System) -> None:
        self._system = system
        for element in system.mechanism.elements:
            if isinstance(element, Contact) and element.is_searched:
                raise ModelError(f"{element} has no force along a coordinate; write a Contact for each pair")
            if isinstance(element.value, Feedback) and not isinstance(element.value, StateLaw):
                raise ModelError(
                    f"{element} is a controller that is called once a step, which collocation has no use for; "
                    "write it as a function of time, or as a StateForce"
                )
        self.forces = [force for _, force in system.forces]
        leaks = [0.0] * len(self.forces)
        for k in range(len(self.forces)):
            force = self.forces[k]
            for stiffness, time in force.relaxation.pairs if force.relaxation else ():
                self.forces.append(CoordinateForce(force.coordinate, stiffness))
                leaks.append(1 / (stiffness * time))
        self.branches = slice(len(system.forces), len(self.forces))
        self._turns = dict[int, list[tuple[int, int]]]()  # of laws: places of angles and their coordinates
        for law in state_laws(system):
            angles = list(_measured_angles(law, system.dimension))
            begin = len(self.forces)
            self._turns[id(law)] = [(place, begin + k) for k, (place, _) in enumerate(angles)]
            self.forces += [CoordinateForce(coordinate) for _, coordinate in angles]
        self.leaks = np.array(leaks + [0.0] * (len(self.forces) - len(leaks)))
        for element, force in system.forces:
            coordinate = force.coordinate
            if isinstance(coordinate, RubbingCoordinate) and any(
                isinstance(port, MovingFrame) and not port.is_fixed for port in coordinate.carriers
            ):
                raise ModelError(
                    f"{element} rubs on a surface that moves as a function of time; give the surface to a body "
                    "with a drive"
                )
        self.active = [k for k, force in enumerate(self.forces) if not _is_zero(force)]
        self.prescribed = tuple(str(system.forces[k].element) for k in self.active)
        self._stiffness = np.array([0.0 if f.contact else f.stiffness for f in self.forces], dtype=np.float64)
        self._rest = np.array([f.rest for f in self.forces], dtype=np.float64)
        self._special = [k for k, f in enumerate(self.forces) if f.potential or f.contact]

    @property
    def count(self) -> int:
        """Number of scalar forces."""
        return len(self.forces)

    def lines(self) -> list[tuple[LinePart, ...]]:
        """Their coordinates."""
        return [(LinePart(f.coordinate.functions(), f.coordinate),) for f in self.forces]

    def inputs(self, time: float, at: Instants | None, theta: Array) -> Array:
        """The prescribed parts; ``at``: the state, where there are functions of it, with the coordinates theta."""
        parts = [self.forces[k] for k in self.active]
        return np.array(
            [
                float(self.law_value(f.value, at, theta)[0])
                if at is not None and isinstance(f.value, StateLaw)
                else prescribed_part(f, time)
                for f in parts
            ],
            dtype=np.float64,
        )

    def law_value(self, law: StateLaw, at: Instants, theta: Array) -> Array:
        """What a function of the state gives, with angles over full turns, shape (values,)."""
        values = measured_rows(self._system, at, law).values
        for place, k in self._turns[id(law)]:
            values[place] += 2 * np.pi * np.round((theta[k] - values[place]) / (2 * np.pi))
        return np.atleast_1d(np.asarray(law.controller(float(at.time[0]), values), dtype=np.float64)).ravel()

    def slopes(self, theta: Array) -> Array:
        """dU/dtheta of T states, shape (T, forces)."""
        result = self._stiffness * (theta - self._rest)
        for k in self._special:
            result[:, k] = [-self.forces[k].conservative(each) for each in theta[:, k].tolist()]
        return np.asarray(result)

    def secants(self, before: Array, after: Array) -> Array:
        """(U(after) - U(before)) / (after - before) of each force; dU/dtheta between them where they are close."""
        result = self.slopes((before + after)[None] / 2)[0]
        for k in self._special:
            a, b, force = float(before[k]), float(after[k]), self.forces[k]
            if abs(b - a) > CLOSE * max(abs(a), abs(b)):
                result[k] = (force.energy(b) - force.energy(a)) / (b - a)
        return np.asarray(result)

    def energies(self, theta: Array) -> Array:
        """U of all forces of T states, shape (T,) [J]."""
        result = (self._stiffness * (theta - self._rest) ** 2).sum(axis=1) / 2
        for k in self._special:
            result += [self.forces[k].energy(each) for each in theta[:, k].tolist()]
            result -= self._stiffness[k] * (theta[:, k] - self._rest[k]) ** 2 / 2
        return np.asarray(result)


def state_laws(system: System) -> list[StateLaw]:
    """Functions of the state that loads and elements follow."""
    values = [load.value for load in system.loads] + [force.value for _, force in system.forces]
    return [value for value in values if isinstance(value, StateLaw)]


def _measured_angles(law: StateLaw, dimension: int) -> Iterator[tuple[int, Coordinate]]:
    """Angles among the numbers that a law is given, and their places."""
    place = 0
    for item in law.measured:
        if isinstance(item, Attachment):
            place += 6  # position and velocity
            continue
        for coordinate in item.coordinates(dimension):  # type: ignore[union-attr]  # laws measure no sensors
            if coordinate.is_angle:
                yield place, coordinate
            place += 2


def _is_zero(force: CoordinateForce) -> bool:
    return isinstance(force.value, int | float) and force.value == 0


# What resists.


@dataclass(frozen=True, eq=False)
class Resisting:
    """Resistances of T states.

    Attributes:
        along: r of each force, shape (T, forces).
        functions: of functions that slide along planes, shape (T, m).
        rubbing: of each place that rubs on a round surface with its c_k, (T,), (T, parts) and normals (T, 3).
    """

    along: Array
    functions: Array
    rubbing: tuple[tuple[Array, Array, Array], ...]


@dataclass(frozen=True, eq=False)
class _Rubbing:
    """Numbers of a force that rubs: its place, functions of the gap, and vectors of what slides."""

    force: int
    gap: slice
    parts: IntArray
    coordinate: RubbingCoordinate


class Resistances:
    """Dampers, dry friction, impacts and friction of contacts.

    Args:
        system: with the elements.
        forces: all of them.
        joined: lines of constraints, then of forces.
        multipliers: places of the multipliers in x, by the numbers of their rows; lines of forces follow theirs.
        thetas: places of the coordinates in x.
    """

    def __init__(
        self,
        system: System,
        forces: Sequence[CoordinateForce],
        joined: JoinedFunctions,
        multipliers: Mapping[int, int],
        thetas: slice,
    ) -> None:
        first = len(multipliers)
        self._joined, self._first, self._thetas = joined, first, thetas
        self._forces = forces
        self._dampings = np.array([force.damping for force in self._forces], dtype=np.float64)
        self._dry = [k for k, f in enumerate(self._forces) if f.friction and not f.contact]
        self._impacts = [k for k, f in enumerate(self._forces) if f.contact and f.contact.damping]
        self._across = [k for k, f in enumerate(self._forces) if f.contact and f.friction]
        for element, force in system.forces:
            if force.contact and force.contact.restitution is not None:
                raise ModelError(
                    f"{element} remembers how fast bodies met, which the papers' equations do not; give damping= in"
                    " place of restitution=, or take model.simulate"
                )
            if force.friction and force.friction.sticks:
                raise ModelError(
                    f"{element} sticks by a bristle, which the papers' equations do not have; leave bristle=,"
                    " rolling= and drilling= out,"
                    " or take model.simulate"
                )
        self.bearings: dict[int, IntArray] = {}
        for k in self._dry:
            friction = self._forces[k].friction
            if friction is not None and friction.joint is not None:
                if first < len(system.owners):
                    raise ModelError(
                        f"{system.forces[k].element} follows the force of a joint, but joints hold a motion twice, "
                        "so that it is not unique; leave a joint out, or give the friction a level with coulomb="
                    )
                own = [m for m, each in enumerate(system.owners) if each.joint is friction.joint]
                self.bearings[k] = np.array([multipliers[m] for m in own if not system.owners[m].row.is_angle])
        self._rubbing = dict[int, _Rubbing]()
        for k in self._across:
            coordinate, begin = self._forces[k].coordinate, int(joined.first[first + k])
            if isinstance(coordinate, RubbingCoordinate):
                parts = np.array(joined.chord_parts(begin + coordinate.gap_count), dtype=np.int64)
                self._rubbing[k] = _Rubbing(k, slice(begin, begin + coordinate.gap_count), parts, coordinate)

    @property
    def is_plain(self) -> bool:
        """Whether there are dampers at most, whose resistance does not depend on the state."""
        return not (self._dry or self._impacts or self._across)

    @property
    def is_zero(self) -> bool:
        """Whether nothing resists."""
        return self.is_plain and not self._dampings.any()

    def at(self, at: Poses) -> Resisting:
        """Of T states, with the velocities in them."""
        along = np.empty((len(at.x), len(self._forces)))
        along[:] = self._dampings
        functions, rubbing = np.zeros_like(at.values), list[tuple[Array, Array, Array]]()
        if self.is_plain:
            return Resisting(along, functions, ())
        dX, rates = self._joined.rates(at, at.x)
        rates += self._joined.drift(at)
        thetas, theta = self._joined.line_rates(at, rates)[:, self._first :], at.x[:, self._thetas]
        for k in self._dry:
            friction = self._forces[k].friction
            assert friction is not None, "chosen so"
            level = np.full(len(at.x), friction.level)
            if k in self.bearings:
                level += friction.share * np.sqrt((at.x[:, self.bearings[k]] ** 2).sum(axis=1))
            along[:, k] += level / np.maximum(np.abs(thetas[:, k]), friction.speed)
        for k in sorted({*self._impacts, *self._across}):
            force, push = self._forces[k], self._forces[k].contact
            assert push is not None, "chosen so"
            share = np.maximum(push.side * (force.rest - theta[:, k]), 0.0) ** push.exponent
            still, loss, rate = push.stiffness * share, push.damping * share, push.side * thetas[:, k]
            with np.errstate(divide="ignore", invalid="ignore"):  # what is pushed away does not pull
                loss = np.where(loss * rate > still, still / rate, loss)
            along[:, k] += loss
            if force.friction:
                normal = still - loss * rate
                if k in self._rubbing:
                    rubbing.append(self._rub(at, self._rubbing[k], dX, normal))
                else:
                    own = self._sliding(k)
                    speed = np.sqrt((rates[:, own] ** 2).sum(axis=1))
                    size = np.maximum(speed, force.friction.speed)
                    functions[:, own] = (force.friction.level * normal / size)[:, None]
        return Resisting(along, functions, tuple(rubbing))

    def pulls(self, found: Resisting, at: Poses, rates: Array, dX: Array) -> tuple[Array, Array, Array]:
        """Forces against rates of functions and vectors: along the forces, functions and vectors."""
        thetas = self._joined.line_rates(at, rates)[:, self._first :]
        on_vectors = np.zeros_like(at.vectors)
        for (level, weights, normal), rub in zip(found.rubbing, self._rubbing.values(), strict=True):
            slip = (weights[..., None] * dX[:, rub.parts]).sum(axis=1)
            slip -= (slip * normal).sum(axis=1)[:, None] * normal
            for part, weight in zip(rub.parts.tolist(), weights.T, strict=True):
                on_vectors[:, part] -= (weight * level)[:, None] * slip
        return -found.along * thetas, -found.functions * rates, on_vectors

    def rows(self, found: Resisting, at: Poses, rates: Array, dX: Array) -> tuple[Array, Array]:
        """Of one x, T times, with unit velocities: rates of all that resists (k, T), and resistances (k,)."""
        thetas = self._joined.line_rates(at, rates)[:, self._first :]
        rows, sizes = [thetas.T, rates.T], [found.along[0], found.functions[0]]
        for (level, weights, normal), rub in zip(found.rubbing, self._rubbing.values(), strict=True):
            slip = (weights[..., None] * dX[:, rub.parts]).sum(axis=1)
            rows.append((slip - (slip * normal).sum(axis=1)[:, None] * normal).T)
            sizes.append(np.full(3, level[0]))
        return np.concatenate(rows), np.concatenate(sizes)

    def _sliding(self, k: int) -> slice:
        """Functions along the plane of a contact."""
        assert isinstance(self._forces[k].coordinate, SlidingCoordinate), "of planes"
        begin, end = self._joined.first[self._first + k : self._first + k + 2]
        return slice(int(begin) + 1, int(end))

    def _rub(self, at: Poses, rub: _Rubbing, dX: Array, normal_force: Array) -> tuple[Array, Array, Array]:
        """Resistance of sliding where two bodies touch, its coefficients c_k and the normal, (8.28)."""
        force, X = self._forces[rub.force], at.vectors[:, rub.parts]
        assert force.contact is not None and force.friction is not None, "chosen so"
        coordinate = rub.coordinate
        points, turning, d = coordinate.points, coordinate.turning, coordinate.dimension
        on_vectors = np.zeros_like(at.vectors)
        self._joined.spread(at, rub.gap, on_vectors)
        normal = on_vectors[:, rub.parts[0]]
        size = np.linalg.norm(normal, axis=1)[:, None]
        normal = normal / np.where(size > 0, size, 1.0)
        arm = -force.contact.side * coordinate.radius * normal
        weights = np.zeros((len(X), len(rub.parts)))
        weights[:, 0], weights[:, 1] = 1.0, -1.0
        if isinstance(coordinate.gap, SegmentCoordinate):
            place = np.clip(at.values[:, rub.gap][:, 1] / at.values[:, rub.gap][:, 2], 0.0, 1.0)
            weights[:, 1], weights[:, 2] = place - 1.0, -place
            arm = X[:, 1] + place[:, None] * (X[:, 2] - X[:, 1]) - X[:, 0]
        if turning:
            weights[:, points : points + turning] = _shares(X[:, points : points + turning], arm, d)
        first = points + turning
        if len(rub.parts) > first:
            weights[:, first:] = -_shares(X[:, first:], X[:, 0] + arm - X[:, 1], d)
        slip = (weights[..., None] * dX[:, rub.parts]).sum(axis=1)
        slip -= (slip * normal).sum(axis=1)[:, None] * normal
        speed = np.maximum(np.linalg.norm(slip, axis=1), force.friction.speed)
        return force.friction.level * normal_force / speed, weights, normal


def _shares(directions: Array, arm: Array, dimension: int) -> Array:
    """Coefficients of the directions (T, d, 3) of a body that make up an arm (T, 3), shape (T, d)."""
    basis = directions[:, :, :dimension].transpose(0, 2, 1)
    return np.asarray(np.linalg.solve(basis, arm[:, :dimension, None])[..., 0])


def coordinates(at: Poses, joined: JoinedFunctions, first: int, forces: list[Coordinate]) -> Array:
    """theta of the forces in one state, angles between -pi and pi, shape (forces,)."""
    ends = joined.first[first:]
    pairs = zip(forces, ends[:-1], ends[1:], strict=True)
    return np.array([each.value(at.values[0, a:b]) for each, a, b in pairs], dtype=np.float64)
