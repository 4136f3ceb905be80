"""Force elements of a mechanism as parts of its port-Hamiltonian model: storages, resistances, inputs.

Each scalar force has its coordinate theta as a state, a storage U(theta) and a resistance: the force
``-r dtheta/dt`` with ``r(x) >= 0``, also of dry friction ``level v / max(|v|, v_0)`` and of impacts. Friction of a
contact resists the sliding of what touches (docs/theory.md, 8; (8.17 to 8.19), (8.28), (8.31)). What sticks is a
storage, joined by a transformer to what slides.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.rotations import nearest_turns
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.force_elements import Bristle, CoordinateForce, ForceElement
from phlexible.description.interactions.functions import Coordinate
from phlexible.description.interactions.loads import PointLoad
from phlexible.description.interactions.state_force import StateLaw
from phlexible.description.interactions.surfaces import RubbingCoordinate, SegmentCoordinate, SlidingCoordinate
from phlexible.description.joints.relations import RelationFunction
from phlexible.description.ports import Attachment, MovingFrame
from phlexible.errors import ModelError
from phlexible.papers.joined_functions import JoinedFunctions, Poses
from phlexible.state.forces import measured_rows, prescribed_force
from phlexible.state.instants import Instants
from phlexible.state.system import System

# Friction that sticks in the papers' equations: bristles as storages, joined by transformers to what slides.
#
# The law (docs/theory.md, 8; (8.49)) is what steps of (8.41) and (8.42) become as they grow shorter, with
#
#     J = [[0, -j V^T], [j V, S]],  R = [[a d V^T V, r V^T], [r V, (1 - a p)/d]],  j = a (1 + p)/2,  r = a (p - 1)/2
#
# of the velocities and z with v = V nu and the effort k z; S turns z with its normal and body.


class BristleKind(Enum):
    """Motions that a bristle resists: sliding, rolling along a surface, rotation about its normal."""

    SLIDING = "bristle"
    ROLLING = "rolling"
    DRILLING = "drilling"


@dataclass(frozen=True, eq=False)
class Touching:
    """Two surfaces in contact with friction: the functions of their gap and the vectors whose combination slides.

    Attributes:
        joined: has them.
        force: with its coordinate.
        coordinate: that one.
        gap: functions of the gap.
        parts: vectors of the sum that slides: what touches, what carries, directions of both.
    """

    joined: JoinedFunctions
    force: CoordinateForce
    coordinate: RubbingCoordinate
    gap: slice
    parts: IntArray

    @classmethod
    def from_force(cls, joined: JoinedFunctions, force: CoordinateForce, begin: int) -> "Touching":
        """Return the description of a contact with friction between two surfaces, made from one contact force of
        the mechanism. ``joined`` evaluates the functions of all joints and forces; ``begin`` is the index among
        them of the first gap function of this force."""
        coordinate = force.coordinate
        assert isinstance(coordinate, RubbingCoordinate), "chosen so"
        end = begin + coordinate.gap_count
        return cls(joined, force, coordinate, slice(begin, end), joined.difference_vectors(end))

    @property
    def dimension(self) -> int:
        """Dimension of the mechanism that this contact between two surfaces belongs to: 2 (plane) or 3 (space)."""
        return self.coordinate.dimension

    @property
    def _direction_indices(self) -> tuple[IntArray, IntArray]:
        """Indices of the body-fixed direction vectors of the two bodies in contact, which describe how the bodies
        are rotated. The first array belongs to the touching body, the second to the body that has the surface; an
        array is empty for a body without such vectors."""
        points = self.coordinate.points
        first = points + self.coordinate.rotating_direction_count
        return self.parts[points:first], self.parts[first:]

    def sliding_coefficients(self, at: Poses) -> tuple[Array, Array]:
        """Return weights of a contact's vectors in the relative sliding of its two surfaces, shape (T, vectors),
        and unit contact normals (T, 3). Vectors are points and directions of both bodies in world axes, in the T
        states ``at``. Weights times velocities of these vectors give the velocity of the first surface at the
        contact point minus that of the second."""
        X, coordinate, d = at.vectors[:, self.parts], self.coordinate, self.dimension
        normal, _ = self._gap_gradient(at)
        assert self.force.contact is not None, "it rubs"
        side, own = self.force.contact.side, X[:, 1]
        theta = np.array([coordinate.value(y) for y in at.values[:, self.gap]])
        arm = -side * coordinate.contact_radius(theta, self.force.rest, side)[..., None] * normal
        weights = np.zeros((len(X), len(self.parts)))
        weights[:, 0], weights[:, 1] = 1.0, -1.0
        if isinstance(coordinate.gap, SegmentCoordinate):
            position = np.clip(at.values[:, self.gap][:, 1] / at.values[:, self.gap][:, 2], 0.0, 1.0)
            weights[:, 1], weights[:, 2] = position - 1.0, -position
            own = own + position[:, None] * (X[:, 2] - own)
            if coordinate.is_on_axis:
                arm = own - X[:, 0]
        points, first = coordinate.points, coordinate.points + coordinate.rotating_direction_count
        if coordinate.rotating_direction_count:
            weights[:, points:first] = _moment_arm_coefficients(X[:, points:first], arm, d)
        if len(self.parts) > first:
            weights[:, first:] = -_moment_arm_coefficients(X[:, first:], X[:, 0] + arm - own, d)
        return weights, normal

    def _gap_gradient(self, at: Poses) -> tuple[Array, Array]:
        """Compute the gradient of a contact's gap with respect to the touching point, in world axes for the T
        states ``at``. Return its direction, shape (T, 3), which is the contact normal (zero for a zero gradient),
        and its length, shape (T, 1)."""
        on_vectors = np.zeros_like(at.vectors)
        self.joined.add_gradient(at, self.gap, on_vectors)
        gradient = on_vectors[:, self.parts[0]]
        size = np.linalg.norm(gradient, axis=1)[:, None]
        return gradient / np.where(size > 0, size, 1.0), size

    def slip_rotation(self, at: Poses, normal: Array, rates: Array, dX: Array) -> Array:
        """Return the angular velocity in world axes with which the stored elastic slip vector of a contact
        rotates, shape (T, 3) [rad/s] at T states. It is the rotation of the contact normal plus the component
        about the normal of the angular velocity of the body with the surface. For a nodal body without direction
        vectors, the touching body's is used. ``rates`` are rates of functions, dX (T, vectors, 3) of vectors."""
        own, slopes = at.values[:, self.gap], np.zeros_like(at.slopes)
        for t, y in enumerate(own):
            slopes[t, self.gap] = self.coordinate.gap.hessian(y) @ rates[t, self.gap]
        change = np.zeros_like(at.vectors)
        for moved in (replace(at, slopes=slopes), self.joined.with_gradient_rates(at, dX)):
            self.joined.add_gradient(moved, self.gap, change)
        _, size = self._gap_gradient(at)
        turned = np.cross(normal, change[:, self.parts[0]] / np.where(size > 0, size, 1.0))
        touches, carries = self._direction_indices
        carrier = carries if len(carries) or self.coordinate.is_grounded else touches
        return np.asarray(turned + normal_component(_angular_velocity(at, dX, carrier), normal) * normal)

    def sliding_velocity(self, weights: Array, dX: Array) -> Array:
        """Return the relative velocity of the two surfaces of a contact where they touch, in world axes for T
        states, shape (T, 3) [m/s]. It is the sum of the rates dX of the vectors of the contact times their
        coefficients ``weights`` in the sliding displacement."""
        return np.asarray((weights[..., None] * dX[:, self.parts]).sum(axis=1))

    def add_sliding_force(self, weights: Array, force: Array, on_vectors: Array) -> None:
        """Add a friction force (T, 3) [N] of this contact to the forces on vectors, ``on_vectors`` (T, vectors,
        3), in place. Each point or direction vector of the contact gets the force times its coefficient
        ``weights`` in the sliding displacement."""
        for part, weight in zip(self.parts.tolist(), weights.T, strict=True):
            on_vectors[:, part] += weight[:, None] * force

    def relative_spin(self, at: Poses, dX: Array) -> Array:
        """Return the angular velocity of the touching body minus that of the other body of the contact, shape (T,
        3) [rad/s]. It is in world axes for T states; rolling and drilling friction resist this rotation. dX are
        the rates of all vectors; ``at`` has the T states."""
        touches, carries = self._direction_indices
        return _angular_velocity(at, dX, touches) - _angular_velocity(at, dX, carries)

    def add_moment(self, at: Poses, moment: Array, on_vectors: Array) -> None:
        """Add a moment (T, 3) [N m] on the touching body of a contact, and its opposite on the other body, to
        ``on_vectors``. They are added as forces on the body-fixed direction vectors of both bodies;
        ``on_vectors`` has shape (T, vectors, 3). ``at`` contains the T states."""
        for sign, parts in zip((1.0, -1.0), self._direction_indices, strict=True):
            if len(parts):
                on_vectors[:, parts] += sign * couple_forces(at.vectors[:, parts], moment)


def normal_component(v: Array, n: Array) -> Array:
    """Return the components v . n of T vectors v (T, 3) along vectors n (T, 3), as scalars of shape (T, 1)."""
    return np.asarray((v * n).sum(axis=1)[:, None])


def tangential_component(v: Array, n: Array) -> Array:
    """Return the tangential components v - (v . n) n of T vectors v (T, 3), perpendicular to unit normals n (T, 3);
    shape (T, 3)."""
    return np.asarray(v - normal_component(v, n) * n)


def _angular_velocity(at: Poses, dX: Array, parts: IntArray) -> Array:
    """Return the angular velocity of one body in world axes for T states, shape (T, 3) [rad/s]. It is the rigid
    rotation rate with which body-fixed direction vectors (indices ``parts``) have the rates dX (T, vectors, 3), by
    a small linear system. It is zero for a body without direction vectors. ``at`` has the T states."""
    if not len(parts):
        return np.zeros((len(dX), 3))
    m = at.vectors[:, parts]
    return _solve_moments(m, np.cross(m, dX[:, parts]).sum(axis=1))


def couple_forces(m: Array, moment: Array) -> Array:
    """Return forces on the d body-fixed direction vectors m of a body that together exert a given ``moment`` (T,
    3) [N m]. Vectors and forces have shape (T, d, 3); the sum of m x force is the moment, so that a body described
    by direction vectors is loaded by a moment."""
    return np.asarray(np.cross(_solve_moments(m, moment)[:, None], m))


def _solve_moments(m: Array, moment: Array) -> Array:
    """Return the solutions x (T, 3) of B x = ``moment`` (T, 3) in T states. The matrices are B = sum(m.m I - m
    m^T) over the d body-fixed direction vectors m (T, d, 3) of a body. If x is an angular velocity, B x is sum m x
    (x x m)."""
    B = (m**2).sum(axis=(1, 2))[:, None, None] * np.eye(3) - np.swapaxes(m, 1, 2) @ m
    return np.asarray(np.linalg.solve(B, moment[..., None])[..., 0])


def _moment_arm_coefficients(directions: Array, arm: Array, dimension: int) -> Array:
    """Return the coefficients (T, d) with which a body's d direction vectors add up to the vector ``arm`` (T, 3).
    They solve a linear system in the first ``dimension`` components. The vectors ``directions`` (T, d, 3) are
    fixed to the body, in world axes; ``dimension`` is d, 2 or 3."""
    basis = directions[:, :, :dimension].transpose(0, 2, 1)
    return np.asarray(np.linalg.solve(basis, arm[:, :dimension, None])[..., 0])


@dataclass(frozen=True, eq=False)
class AttachedBristle:
    """One friction spring (bristle) of a force, with the functions or surfaces that it resists and its entries z in
    the state.

    Attributes:
        force: index of its force.
        bristle: its numbers.
        kind: what it acts on.
        components: slice of its z among those of all friction springs.
        axes: of a vector, those that z has.
        functions: that slide; none along a coordinate and where surfaces rub.
        touching: of surfaces that rub.
    """

    force: int
    bristle: Bristle
    kind: BristleKind
    components: slice
    axes: tuple[int, ...]
    functions: slice | None
    touching: Touching | None


@dataclass(frozen=True, eq=False)
class BristleState:
    """Friction spring in T states: the factors of its law (8.49) and the geometry of its contact.

    Attributes:
        share, spring_share: a and p of (8.49), shapes (T,).
        weights: c_k where surfaces rub, shape (T, parts).
        normal, turning: there, and the angular velocity of z, shapes (T, 3).
    """

    share: Array
    spring_share: Array
    weights: Array
    normal: Array
    turning: Array


def bristle_state_count(forces: Sequence[CoordinateForce]) -> int:
    """Return the total number of states of the friction springs (bristles: elastic slip of friction that sticks)
    of the given forces: one for each component of the deflection of each spring."""
    return sum(len(_deflection_axes(forces[k], kind)) for k, kind, _ in _all_bristles(forces))


def _all_bristles(forces: Sequence[CoordinateForce]) -> Iterator[tuple[int, BristleKind, Bristle]]:
    """Yield the force index, the resisted motion and the parameters of each friction spring (bristle) of the given
    forces. The motion is sliding, rolling or drilling; a force may have several springs or none."""
    for k, force in enumerate(forces):
        for kind, bristle in zip(BristleKind, force.friction.bristles if force.friction else (), strict=False):
            if bristle:
                yield k, kind, bristle


def _deflection_axes(force: CoordinateForce, kind: BristleKind) -> tuple[int, ...]:
    """Return the indices of the vector components that are states in the deflection of one friction spring
    (bristle) of a force element. Without contact, or for drilling friction, the deflection is a scalar with index
    (0,). Friction between two surfaces has (0, 1, 2) in space; in the plane (2,) for rolling, else (0, 1). A
    sliding contact along a beam has an index for each transverse direction."""
    coordinate = force.coordinate
    if kind is BristleKind.DRILLING or not force.contact:
        return (0,)
    if isinstance(coordinate, SlidingCoordinate):
        return tuple(range(len(coordinate.across)))
    assert isinstance(coordinate, RubbingCoordinate), "two bodies that touch"
    if coordinate.dimension == 3:
        return (0, 1, 2)
    return (2,) if kind is BristleKind.ROLLING else (0, 1)


class Bristles:
    """Friction springs (bristles) of all forces of a mechanism, as storages of a port-Hamiltonian model.

    Args:
        forces: all of them.
        joined: lines of constraints, then of forces.
        first: the line of the first force.
        touching: of forces between surfaces that rub.
    """

    def __init__(
        self,
        forces: Sequence[CoordinateForce],
        joined: JoinedFunctions,
        first: int,
        touching: Mapping[int, Touching],
    ) -> None:
        self._joined, self._first = joined, first
        self.springs = list[AttachedBristle]()
        for k, kind, bristle in _all_bristles(forces):
            begin, axes, functions = self.size, _deflection_axes(forces[k], kind), None
            if forces[k].contact and k not in touching:
                functions = slice(int(joined.first[first + k]) + 1, int(joined.first[first + k + 1]))
            own = slice(begin, begin + len(axes))
            self.springs.append(AttachedBristle(k, bristle, kind, own, axes, functions, touching.get(k)))
        self._stiffness = np.array([b.bristle.stiffness for b in self.springs for _ in b.axes], dtype=np.float64)

    @property
    def size(self) -> int:
        """Total number of deflection components of all friction springs (bristles) of a mechanism, which are states
        of its port-Hamiltonian model."""
        return self.springs[-1].components.stop if self.springs else 0

    def deflection_indices(self, force: int) -> IntArray:
        """Return the indices of the deflection components of one force's friction springs (bristles) among those of
        all friction springs of the mechanism. ``force`` is the index of the force."""
        own = [np.arange(b.components.start, b.components.stop) for b in self.springs if b.force == force]
        return np.concatenate([np.zeros(0, dtype=np.int64), *own])

    def efforts(self, z: Array) -> Array:
        """Return the elastic forces k z of the friction springs (bristles) of a mechanism for their deflections z,
        an array of the shape of z. k are the stiffnesses of the springs."""
        return np.asarray(self._stiffness * z)

    def energies(self, z: Array) -> Array:
        """Return the elastic energy that all friction springs (bristles) of a mechanism store together, shape (T,)
        [J]. It is the sum of k z^2 / 2 for the deflections z (T, components) in T states."""
        return np.asarray((self._stiffness * z**2).sum(axis=1) / 2)

    def contact_states(
        self, at: Poses, z: Array, pressed: Mapping[int, tuple[Array, Array]], rates: Array, dX: Array
    ) -> list[BristleState]:
        """Return a ``BristleState`` for each friction spring (bristle) of a mechanism in T states ``at``, as a
        list. It has two factors that shorten deflection and force to the friction limit (docs/theory.md, 8,
        (8.49)), and weights, normal and rotation of the contact. z (T, n) are the deflections, ``pressed``
        friction limit and normal force by force element; ``rates`` and dX are rates of functions and vectors.

        Args:
            z: of the states, shape (T, size).
            pressed: of each force with bristles the limit of sliding and the normal force, shapes (T,).
            rates, dX: of functions and vectors.
        """
        found = list[BristleState]()
        for spring in self.springs:
            level, normal = pressed[spring.force]
            limit = level if spring.kind is BristleKind.SLIDING else spring.bristle.lever * normal
            own, longest = z[:, spring.components], limit / spring.bristle.stiffness
            kept = _length_limit_factors(longest, own)
            weights, normals, turning = np.zeros((len(z), 0)), np.zeros((len(z), 3)), np.zeros((len(z), 3))
            if spring.touching:
                weights, normals = spring.touching.sliding_coefficients(at)
                turning = spring.touching.slip_rotation(at, normals, rates, dX)
            state = BristleState(kept, kept, weights, normals, turning)
            v = self.slip_rate(spring, state, at, rates, dX)
            g = kept[:, None] * own + spring.bristle.damping / spring.bristle.stiffness * v
            found.append(replace(state, share=_length_limit_factors(longest, g)))
        return found

    def slip_rate(self, spring: AttachedBristle, state: BristleState, at: Poses, rates: Array, dX: Array) -> Array:
        """Return the slip velocity that deflects one friction spring (bristle) in T states, shape (T, components).
        Depending on the spring, it is the rates of given functions, or the rate of the length or angle along which
        its force acts. In contacts it is the tangential sliding velocity, or the relative angular velocity:
        tangential for rolling, about the normal for drilling. ``rates`` are rates of functions, dX of vectors."""
        if spring.functions:
            return np.asarray(rates[:, spring.functions])
        if not spring.touching:
            return np.asarray(self._joined.line_rates(at, rates)[:, [self._first + spring.force]])
        n = state.normal
        if spring.kind is BristleKind.SLIDING:
            return tangential_component(spring.touching.sliding_velocity(state.weights, dX), n)[:, spring.axes]
        psi = spring.touching.relative_spin(at, dX)
        if spring.kind is BristleKind.ROLLING:
            return tangential_component(psi, n)[:, spring.axes]
        return normal_component(psi, n)

    def _add_force(
        self, spring: AttachedBristle, state: BristleState, at: Poses, f: Array, out: tuple[Array, Array, Array]
    ) -> None:
        """Subtract the force ``f`` of one friction spring (bristle), shape (T, components) at T states, in place
        from one of three arrays in ``out``. These are generalized forces along element lengths or angles, on
        coordinate functions, and on body vectors. In contacts, the tangential component (for drilling friction the
        normal one) acts on both bodies, as a force or a moment."""
        along, functions, vectors = out
        if spring.functions:
            functions[:, spring.functions] -= f
            return
        if not spring.touching:
            along[:, spring.force] -= f[:, 0]
            return
        if spring.kind is BristleKind.DRILLING:
            spring.touching.add_moment(at, -f * state.normal, vectors)
            return
        whole = np.zeros((len(f), 3))
        whole[:, spring.axes] = f
        whole = -tangential_component(whole, state.normal)
        if spring.kind is BristleKind.SLIDING:
            spring.touching.add_sliding_force(state.weights, whole, vectors)
        else:
            spring.touching.add_moment(at, whole, vectors)

    def deflection_rates(
        self,
        springs: Sequence[BristleState],
        at: Poses,
        effort: Array,
        motion: tuple[Array, Array],
        out: tuple[Array, Array, Array],
    ) -> Array:
        """Return the rates dz/dt of the deflections z of all friction springs (bristles) in T states, shape (T,
        components) (docs/theory.md, 8, (8.49)). The friction forces, opposite to the slip, are added in place to
        the arrays ``out``: along lengths or angles of force elements, on functions and on vectors. ``effort`` are
        the spring forces, derivatives of the stored energy; ``motion`` are the rates of functions and vectors.

        Args:
            effort: k z, shape (T, size).
            motion: rates of functions and vectors.
        """
        rates = np.zeros_like(effort)
        for spring, state in zip(self.springs, springs, strict=True):
            v, e = self.slip_rate(spring, state, at, *motion), effort[:, spring.components]
            a, p = state.share, state.spring_share
            self._add_force(spring, state, at, a[:, None] * (p[:, None] * e + spring.bristle.damping * v), out)
            rates[:, spring.components] = a[:, None] * v - ((1 - a * p) / spring.bristle.damping)[:, None] * e
            rates[:, spring.components] += self.rotation_rates(spring, state, e)
        return rates

    def rotation_rates(self, spring: AttachedBristle, state: BristleState, effort: Array) -> Array:
        """Return the rate of the deflection vector of one friction spring (bristle) due to the rotation of its
        contact, in T states, shape (T, components). It is angular velocity times (cross product) deflection, and
        zero for scalar deflections. ``effort`` is the spring force k z, from which the deflection is computed."""
        if not spring.touching or spring.kind is BristleKind.DRILLING:
            return np.zeros_like(effort)
        whole = np.zeros((len(effort), 3))
        whole[:, spring.axes] = effort / spring.bristle.stiffness
        return np.asarray(np.cross(state.turning, whole)[:, spring.axes])


def _length_limit_factors(longest: Array, v: Array) -> Array:
    """Return the factors that shorten vectors v (T, m) to at most the lengths ``longest`` (T,), shape (T,). They
    are 1 where a vector is short enough, and 0 where the allowed length is zero."""
    size = np.linalg.norm(v, axis=1)
    is_long = size > longest
    return np.asarray(np.where(is_long, longest / np.where(is_long, size, 1.0), np.where(longest > 0, 1.0, 0.0)))


# Force elements: storages, resistances, inputs.

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
        active: their indices.

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
        """Number of scalar forces in the port-Hamiltonian model of a mechanism that act along coordinates such as
        distances and angles. Counted are the forces of force elements, those of creep branches (spring and dashpot
        in series), and an entry of zero force for each angle that a state-dependent force measures."""
        return len(self.forces)

    def coordinate_rows(self) -> list[RelationFunction]:
        """Return one function for each scalar force of a mechanism: the coordinate theta along which the force
        acts, as a relation with factor 1. Such relations are evaluated together with the scalar constraints of
        joints."""
        return [RelationFunction((), 0.0, str(f.coordinate), parts=((f.coordinate, 1.0),)) for f in self.forces]

    def prescribed_values(self, time: float, at: Instants | None, theta: Array) -> Array:
        """Return the values at a ``time`` [s] of those forces of a mechanism that depend on a user's function,
        shape (active forces,). Functions of time are called with it. Functions of the state are called with
        measurements in the state ``at``; angles there count full turns as in ``theta``. If ``at`` is None,
        functions of the state give zero."""
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
        values, shape (values,). Measured angles are shifted by full turns to be nearest to the force coordinates
        theta. A force coordinate is the length or angle along which a force element acts."""
        values = measured_rows(self._system, at, law).values
        for index, k in self._turns[id(law)]:
            values[index] = nearest_turns(values[index], theta[k])
        return np.atleast_1d(np.asarray(law.controller(float(at.time[0]), values), dtype=np.float64)).ravel()

    def energy_derivatives(self, theta: Array) -> Array:
        """Return the derivatives dU/dtheta of the stored energies U of all scalar forces of a mechanism with
        respect to their coordinates, shape (T, forces). They are minus the elastic forces. ``theta`` (T, forces)
        are the coordinates in T states."""
        result = self._stiffness * (theta - self._rest)
        for k in self._special:
            result[:, k] = [-self.forces[k].conservative_force(each) for each in theta[:, k].tolist()]
        return np.asarray(result)

    def energy_quotients(self, before: Array, after: Array) -> Array:
        """Return for each scalar force of a mechanism the difference quotient of its stored energy U, shape
        (forces,) [N or N m]. It is (U(after) - U(before)) / (after - before) for two lengths or angles. For linear
        springs, and where both are nearly equal, it is the derivative at the mean coordinate."""
        result = self.energy_derivatives((before + after)[None] / 2)[0]
        for k in self._special:
            a, b, force = float(before[k]), float(after[k]), self.forces[k]
            if abs(b - a) > CLOSE * max(abs(a), abs(b)):
                result[k] = (force.energy(b) - force.energy(a)) / (b - a)
        return np.asarray(result)

    def energies(self, theta: Array) -> Array:
        """Return the sum of the energies stored by all scalar forces of a mechanism (springs and contacts) in T
        states, shape (T,) [J]. ``theta`` (T, forces) are the coordinates along which the forces act."""
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
    """Yield (index, coordinate) for each angle among the quantities that a user's force law measures (``law``).
    The law receives them in one array, to which the index refers. In it, a point of a body has six values
    (position, velocity), a joint coordinate two (value, rate). ``dimension`` is 2 or 3."""
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
    (bristle) without damping. The papers' port-Hamiltonian equations have no states for these. ``element`` is
    named in the message; ``force`` has the friction law. Elements without friction pass."""
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
        multipliers: places of the multipliers in x, by the indices of their constraints; lines of forces follow
            theirs.
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
        self._creeping = [k for k in self._touching if not ((rubbing := forces[k].friction) and rubbing.bristle)]
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
        """Return the resistance coefficients (force per velocity) of all dissipative force elements in T states
        ``at``, as a ``Resisting`` object. Included are dampers, dry friction (limit divided by speed, at least a
        small speed), contact damping, sliding friction and friction springs. Contact damping is limited so that
        the total contact force never pulls. With dampers only, nothing else is evaluated."""
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
        (T, vectors, 3). ``rates`` are those of functions, dX of vectors. ``at`` contains the T states."""
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
        """Return three arrays for a contact of two bodies (``touching``) with viscous regularised friction in T
        states, by docs/theory.md, 8, (8.28): the resistance against sliding (T,), the coefficients of its vectors
        in the sliding displacement (T, vectors), and the normals (T, 3). ``pressed`` (T,) is the normal force,
        ``at`` has the T states, dX are the rates of vectors."""
        friction, (weights, normal) = touching.force.friction, touching.sliding_coefficients(at)
        assert friction is not None, "chosen so"
        speed = np.linalg.norm(tangential_component(touching.sliding_velocity(weights, dX), normal), axis=1)
        return friction.level * pressed / np.maximum(speed, friction.speed), weights, normal
