"""Force elements of a mechanism as parts of its port-Hamiltonian model: storages, resistances, inputs.

Each scalar force has its coordinate theta as a state, a storage U(theta) and a resistance: the force
``-r dtheta/dt`` with ``r(x) >= 0``, also of dry friction ``level v / max(|v|, v_0)`` and of impacts. Friction of a
contact resists the sliding of what touches (docs/theory.md, 8; (8.17 to 8.19), (8.28), (8.31)). What sticks is in
``bristles.py``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.force_elements import Bristle, CoordinateForce, ForceElement
from phlexible.description.interactions.functions import Coordinate
from phlexible.description.interactions.loads import PointLoad
from phlexible.description.interactions.state_force import StateLaw
from phlexible.description.interactions.surfaces import RubbingCoordinate, SlidingCoordinate
from phlexible.description.joints.relations import RelationFunction
from phlexible.description.ports import Attachment, MovingFrame
from phlexible.errors import ModelError
from phlexible.papers.bristles import Bristles, BristleState, Touching, tangential_component
from phlexible.papers.joined_functions import JoinedFunctions, Poses
from phlexible.state.forces import measured_rows, prescribed_force
from phlexible.state.instants import Instants
from phlexible.state.system import System

CLOSE = 1e-6


class ElementLaws:
    """Scalar forces of all force elements of a mechanism along their coordinates theta, with stored energies
    U(theta).

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
            if isinstance(element, Contact) and element.is_contact_group:
                raise ModelError(f"{element} has no force along a coordinate; write a Contact for each pair")
            refuse_controller(element)
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
            self._turns[id(law)] = [(index, begin + k) for k, (index, _) in enumerate(angles)]
            self.forces += [CoordinateForce(coordinate) for _, coordinate in angles]
        self.leaks = np.array(leaks + [0.0] * (len(self.forces) - len(leaks)))
        for element, force in system.forces:
            coordinate = force.coordinate
            _refuse_static_friction(element, force)
            if coordinate.history_variable_count:
                raise ModelError(
                    f"{element} rubs on its guides, whose flows the papers' equations do not have; give friction=0"
                )
            if isinstance(coordinate, RubbingCoordinate) and any(
                isinstance(port, MovingFrame) and not port.is_fixed for port in coordinate.carriers
            ):
                raise ModelError(
                    f"{element} has friction on a surface that moves as a function of time; attach the surface "
                    "to a body with a drive"
                )
        self.active = [k for k, f in enumerate(self.forces) if not isinstance(f.value, int | float) or f.value != 0]
        self.prescribed = tuple(str(system.forces[k].element) for k in self.active)
        self._stiffness = np.array([0.0 if f.contact else f.stiffness for f in self.forces], dtype=np.float64)
        self._rest = np.array([f.rest for f in self.forces], dtype=np.float64)
        self._special = [k for k, f in enumerate(self.forces) if f.potential or f.contact]

    @property
    def count(self) -> int:
        """Number of scalar forces along coordinates in the port-Hamiltonian model of a mechanism: those of its
        force elements, of creep branches (spring and dashpot in series), and of angles that functions of the state
        measure."""
        return len(self.forces)

    def coordinate_rows(self) -> list[RelationFunction]:
        """Return one row for each scalar force of a mechanism, whose function is the coordinate theta along which
        the force acts. The form is that of a joint's constraint rows, so that both are evaluated alike."""
        return [RelationFunction((), 0.0, str(f.coordinate), parts=((f.coordinate, 1.0),)) for f in self.forces]

    def prescribed_values(self, time: float, at: Instants | None, theta: Array) -> Array:
        """Return the values at a time [s] of those forces of a mechanism that have a part given by the user,
        shape (active forces,). A function of the state is called with the time and its measurements in the state
        ``at``, whose angles are taken from the lengths and angles ``theta`` along which forces act; without a
        state (None) it counts as zero."""
        parts = [self.forces[k] for k in self.active]
        return np.array(
            [
                float(self.state_function_values(f.value, at, theta)[0])
                if at is not None and isinstance(f.value, StateLaw)
                else prescribed_force(f, time)
                for f in parts
            ],
            dtype=np.float64,
        )

    def state_function_values(self, law: StateLaw, at: Instants, theta: Array) -> Array:
        """Evaluate a user's function of the state (``law``) at the instant ``at`` of a mechanism and return its
        values, shape (values,). Angles that it measures count full turns: they are taken from the force coordinates
        theta. A force coordinate is the length or angle along which a force element acts."""
        values = measured_rows(self._system, at, law).values
        for index, k in self._turns[id(law)]:
            values[index] += 2 * np.pi * np.round((theta[k] - values[index]) / (2 * np.pi))
        return np.atleast_1d(np.asarray(law.controller(float(at.time[0]), values), dtype=np.float64)).ravel()

    def energy_derivatives(self, theta: Array) -> Array:
        """Return the derivatives dU/dtheta of the stored energies U of all scalar forces of a mechanism with
        respect to their coordinates theta (T, forces); shape (T, forces): the elastic forces with opposite sign."""
        result = self._stiffness * (theta - self._rest)
        for k in self._special:
            result[:, k] = [-self.forces[k].conservative_force(each) for each in theta[:, k].tolist()]
        return np.asarray(result)

    def energy_quotients(self, before: Array, after: Array) -> Array:
        """Return for each scalar force of a mechanism the difference quotient (U(after) - U(before)) / (after
        - before) of its stored energy between two coordinates; shape (forces,); the derivative at the mean
        where they differ by at most 1e-6 of themselves."""
        result = self.energy_derivatives((before + after)[None] / 2)[0]
        for k in self._special:
            a, b, force = float(before[k]), float(after[k]), self.forces[k]
            if abs(b - a) > CLOSE * max(abs(a), abs(b)):
                result[k] = (force.energy(b) - force.energy(a)) / (b - a)
        return np.asarray(result)

    def energies(self, theta: Array) -> Array:
        """Return the sum of the energies stored by all scalar forces of a mechanism (springs and contacts) for
        their coordinates theta (T, forces); shape (T,) [J]."""
        result = (self._stiffness * (theta - self._rest) ** 2).sum(axis=1) / 2
        for k in self._special:
            result += [self.forces[k].energy(each) for each in theta[:, k].tolist()]
            result -= self._stiffness[k] * (theta[:, k] - self._rest[k]) ** 2 / 2
        return np.asarray(result)


def refuse_controller(part: PointLoad | ForceElement) -> None:
    """Raise ``ModelError`` if ``part``, a load or force element, has a controller that is called once a time
    step. Integration with several stages cannot call it; functions of time or of the state are accepted.

    Raises:
        ModelError: names the part of the mechanism.
    """
    if isinstance(part.value, Feedback) and not isinstance(part.value, StateLaw):
        raise ModelError(
            f"{part} is a controller that is called once a step, which collocation cannot call; write it as a"
            " function of time, or as a StateForce"
        )


def state_laws(system: System) -> list[StateLaw]:
    """Return the user's functions of the state that give the values of loads and force elements of a
    mechanism (``system``). Those of loads come first; loads and forces of other kinds are left out."""
    values = [load.value for load in system.loads] + [force.value for _, force in system.forces]
    return [value for value in values if isinstance(value, StateLaw)]


def _measured_angles(law: StateLaw, dimension: int) -> Iterator[tuple[int, Coordinate]]:
    """Yield (index, coordinate) for each angle among the measurements of a user's function of the state
    (``law``). The index is its position in the array that the function receives: six numbers for a port,
    value and rate for a coordinate. ``dimension`` is 2 or 3."""
    index = 0
    for item in law.measured:
        if isinstance(item, Attachment):
            index += 6  # position and velocity
            continue
        for coordinate in item.coordinates(dimension):  # type: ignore[union-attr]  # laws measure no sensors
            if coordinate.is_angle:
                yield index, coordinate
            index += 2


def _refuse_static_friction(element: object, force: CoordinateForce) -> None:
    """Raise ``ModelError`` if a force element has static friction above its sliding friction, or a friction spring
    (bristle) without damping. The papers' port-Hamiltonian equations cannot describe these."""
    for bristle in force.friction.bristles if force.friction else ():
        if bristle and bristle.grip != 1.0:
            raise ModelError(
                f"{element} has static friction, for which the papers' equations have no state; leave"
                " it out, or take model.simulate"
            )
        if bristle and not bristle.damping:
            raise ModelError(
                f"{element} sticks without damping, and the papers' equations have no rate of its bristle then;"
                " leave bristle_damping=0 out"
            )


# What resists.


@dataclass(frozen=True, eq=False)
class Resisting:
    """Resistance coefficients of all dissipative force elements of a mechanism in T states.

    Attributes:
        along: r of each force, shape (T, forces).
        functions: of functions that slide along planes, shape (T, m).
        rubbing: of each place that creeps on a round surface r (T,), its c_k (T, parts) and normals (T, 3).
        bristles: what sticks.
    """

    along: Array
    functions: Array
    rubbing: tuple[tuple[Array, Array, Array], ...]
    bristles: Sequence[BristleState]


class Resistances:
    """Dissipative force elements of a mechanism: dampers, dry friction, impacts and friction of contacts.

    Args:
        system: with the elements.
        forces: all of them.
        joined: lines of constraints, then of forces.
        multipliers: places of the multipliers in x, by the numbers of their rows; lines of forces follow theirs.
        thetas: places of the coordinates in x; those of the bristles follow.

    Attributes:
        bristles: of friction that sticks.
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
        self._dampings = np.array([0.0 if f.contact else f.damping for f in forces], dtype=np.float64)
        self._dry = [k for k, f in enumerate(self._forces) if f.friction and not f.contact]
        self._impacts = [k for k, f in enumerate(self._forces) if f.contact and (f.contact.damping or f.damping)]
        self._across = [k for k, f in enumerate(self._forces) if f.contact and f.friction]
        for element, force in system.forces:
            if force.contact and force.contact.restitution is not None:
                raise ModelError(
                    f"{element} depends on the speed of an impact, which the papers' equations do not store; give "
                    "damping= or restitution=1, or take model.simulate"
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
        self._touching = {
            k: Touching.from_force(joined, self._forces[k], int(joined.first[first + k]))
            for k in self._across
            if isinstance(self._forces[k].coordinate, RubbingCoordinate)
        }
        self._creeping = [k for k in self._touching if not _bristle_of(self._forces[k])]
        self.bristles = Bristles(self._forces, joined, first, self._touching)
        for spring in self.bristles.springs:
            begin, end = joined.first[first + spring.force : first + spring.force + 2]
            if any(joined.is_timed(m) for m in range(begin, end)):
                raise ModelError(
                    f"{system.forces[spring.force].element} has a bristle on a surface that moves as a function of"
                    " time; attach the surface to a body with a drive"
                )
        self.bends = slice(thetas.stop, thetas.stop + self.bristles.size)

    @property
    def has_dampers_only(self) -> bool:
        """Whether the only dissipative force elements of a mechanism are linear dampers, whose resistance is
        independent of the state; False with dry friction, impacts or friction of contacts."""
        return not (self._dry or self._impacts or self._across)

    @property
    def is_zero(self) -> bool:
        """Whether no force element of a mechanism dissipates energy: no dampers, friction or impacts."""
        return self.has_dampers_only and not self._dampings.any()

    def evaluate(self, at: Poses) -> Resisting:
        """Return the resistance coefficients (force per velocity) of all dissipative force elements of a
        mechanism in T states: dampers, dry friction, impacts and friction of contacts. They depend on the
        velocities in these states. ``at`` holds the T states."""
        along = np.empty((len(at.x), len(self._forces)))
        along[:] = self._dampings
        functions, rubbing = np.zeros_like(at.values), list[tuple[Array, Array, Array]]()
        if self.has_dampers_only:
            return Resisting(along, functions, (), ())
        dX, rates = self._joined.rates(at, at.x)
        rates += self._joined.prescribed_rates(at)
        pressed = dict[int, tuple[Array, Array]]()
        thetas, theta = self._joined.line_rates(at, rates)[:, self._first :], at.x[:, self._thetas]
        for k in self._dry:
            friction = self._forces[k].friction
            assert friction is not None, "chosen so"
            level = np.full(len(at.x), friction.level)
            if k in self.bearings:
                level += friction.share * np.sqrt((at.x[:, self.bearings[k]] ** 2).sum(axis=1))
            if friction.bristle:
                pressed[k] = level, level
            else:
                along[:, k] += level / np.maximum(np.abs(thetas[:, k]), friction.speed)
        for k in sorted({*self._impacts, *self._across}):
            force, push = self._forces[k], self._forces[k].contact
            assert push is not None, "chosen so"
            share = np.maximum(push.side * (force.rest - theta[:, k]), 0.0) ** push.exponent
            still, rate = push.stiffness * share, push.side * thetas[:, k]
            loss = push.damping * share + force.damping * (share > 0)
            with np.errstate(divide="ignore", invalid="ignore"):  # what is pushed away does not pull
                loss = np.where(loss * rate > still, still / rate, loss)
            along[:, k] += loss
            if force.friction:
                normal = still - loss * rate
                pressed[k] = force.friction.level * normal, normal
                if force.friction.bristle:
                    continue
                if k in self._touching:
                    rubbing.append(self._resistance(at, self._touching[k], dX, normal))
                elif force.friction.level:
                    own = self._sliding_functions(k)
                    speed = np.sqrt((rates[:, own] ** 2).sum(axis=1))
                    size = np.maximum(speed, force.friction.speed)
                    functions[:, own] = (force.friction.level * normal / size)[:, None]
        held = self.bristles.contact_states(at, at.x[:, self.bends], pressed, rates, dX)
        return Resisting(along, functions, tuple(rubbing), held)

    def loss_forces(self, resisting: Resisting, at: Poses, rates: Array, dX: Array) -> tuple[Array, Array, Array]:
        """Return the dissipative forces of a mechanism, minus resistance (``resisting``) times given rates,
        in T states: along the coordinates of scalar forces (T, forces), on functions (T, m) and on vectors
        (T, vectors, 3). ``rates`` are those of functions, dX of vectors. ``at`` holds the T states."""
        thetas = self._joined.line_rates(at, rates)[:, self._first :]
        on_vectors = np.zeros_like(at.vectors)
        for (level, weights, normal), k in zip(resisting.rubbing, self._creeping, strict=True):
            slip = tangential_component(self._touching[k].sliding_velocity(weights, dX), normal)
            self._touching[k].add_sliding_force(weights, -level[:, None] * slip, on_vectors)
        return -resisting.along * thetas, -resisting.functions * rates, on_vectors

    def _sliding_functions(self, k: int) -> slice:
        """Return the slice of the functions of a mechanism that measure the sliding displacement in the plane of
        one contact. k is the index of the contact's force among the scalar forces."""
        assert isinstance(self._forces[k].coordinate, SlidingCoordinate), "of planes"
        begin, end = self._joined.first[self._first + k : self._first + k + 2]
        return slice(int(begin) + 1, int(end))

    def _resistance(self, at: Poses, touching: Touching, dX: Array, pressed: Array) -> tuple[Array, Array, Array]:
        """Return for a contact of two bodies (``touching``) with viscous regularised friction (8.28) in T
        states: the resistance against sliding (T,), the coefficients of its vectors in the sliding
        displacement (T, vectors), and the normals (T, 3). ``pressed`` (T,) is the normal force. ``at`` holds
        the T states. dX are the rates of vectors."""
        friction, (weights, normal) = touching.force.friction, touching.sliding_coefficients(at)
        assert friction is not None, "chosen so"
        speed = np.linalg.norm(tangential_component(touching.sliding_velocity(weights, dX), normal), axis=1)
        return friction.level * pressed / np.maximum(speed, friction.speed), weights, normal


def _bristle_of(force: CoordinateForce) -> Bristle | None:
    """Return the parameters of the friction spring (bristle) that resists the sliding of a force's contact; None if
    the force has none."""
    return force.friction.bristle if force.friction else None
