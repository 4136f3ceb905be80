"""Functions of world vectors that joints constrain and forces act along, in the states of the papers
(docs/theory.md, 8).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.description.interactions.functions import Bilinear
from phlexible.papers.floating_forms import FloatingBodyForm
from phlexible.papers.soft_form import SoftForm
from phlexible.papers.strain_form import StringForm
from phlexible.state.functions import VectorCollector, constraint_set, function_set
from phlexible.state.instants import Instants, PrescribedFunctions, RecordedMotions
from phlexible.state.system import System
from phlexible.state.vectors import CarriedVector, VectorResolver
from phlexible.step.tables.declarations import MOVING

BodyForm = FloatingBodyForm | StringForm | SoftForm

# Joints demand that functions of world vectors do not change, forces act along coordinates that are functions of
# these again: a *line* is one of either. Its rate is sum_m slope_m dw_m/dt, and a force on it is slope_m times that
# on each of its functions w_m.


@dataclass(frozen=True, eq=False)
class Poses:
    """Quantities that follow from the positions in T states: vectors, functions of joints and forces, and their
    derivatives.

    Attributes:
        x: shape (T, n).
        instants: reference points, rotations and displacements of the bodies, without velocities.
        vectors: in world axes, shape (T, k, 3).
        values: functions w, shape (T, m).
        slopes: derivative of each line with respect to its functions, shape (T, m).
        gradients: dw/d(vector) for every function and vector in it, shape (T, parts, 3).
    """

    x: Array
    instants: Instants
    vectors: Array
    values: Array
    slopes: Array
    gradients: Array


class JoinedFunctions:
    """Functions of world vectors that joints constrain and forces act along, evaluated for states of a
    port-Hamiltonian model. A *line* is a scalar constraint or a force coordinate.

    Args:
        system: of the bodies.
        bodies: their forms, and entries of x with their states.
        time: index of the time in x.
        lines: scalar constraints and coordinates of forces.
        loaded: vectors of loads.

    Attributes:
        owner: line of each function, shape (m,).
        first: first function of each line, shape (lines + 1,).
        loaded: indices of the vectors of loads.
        is_moving: whether frames or drives move as functions of time.
    """

    def __init__(
        self,
        system: System,
        bodies: Sequence[tuple[BodyForm, slice]],
        time: int,
        lines: Sequence[Bilinear],
        loaded: Sequence[CarriedVector],
    ) -> None:
        self._system, self._bodies, self._time = system, bodies, time
        collector = VectorCollector(paper_resolver(system))
        self.loaded = np.array([collector.add_vector(each) for each in loaded], dtype=np.int64)
        self.lines = constraint_set(
            lines, lambda rows: function_set(rows, system.layout, paper_resolver(system), system.paths, collector)
        )
        self._functions, self.owner = self.lines.functions, self.lines.owner
        self.first = np.searchsorted(self.owner, np.arange(len(lines) + 1))
        self.is_moving = bool(system.moving_frames or system.paths)

    def carrier(self, vector: int) -> int:
        """Return the index of the floating body or node to which a vector of the mechanism belongs. ``vector`` is
        its index. Nodes are those of strings and soft bodies; vectors fixed to the ground or to a moving frame
        have negative indices."""
        return int(self._functions.set.carrier[vector])

    def vectors_of(self, function: int) -> Iterator[int]:
        """Yield the indices of the vectors (points and directions of bodies, in world axes) on which a scalar
        function of a mechanism depends. ``function`` is its index; an index may occur several times. Joints
        constrain such functions, and forces act along them."""
        functions = self._functions
        for _, a, b, _ in functions.functions[function]:
            yield from (vector for _, vector in (*functions.chords[a], *functions.chords[b]))

    def is_timed(self, function: int) -> bool:
        """Return whether a scalar function of the pose, which a joint constrains or a force acts along,
        changes with time even if no body moves. Prescribed motions and moving frames do that; ``function`` is
        its index. Moving frames are points of the ground with prescribed motion."""
        if self._functions.offsets[function] is not None:
            return True
        timed = any(term[3] is not None for term in self._functions.functions[function])
        return timed or any(self.carrier(vector) == MOVING for vector in self.vectors_of(function))

    def difference_vectors(self, function: int) -> IntArray:
        """Return the indices of the points and direction vectors whose signed sum is the first difference vector
        of a function of a mechanism. They are in the order of the sum; the signs are not returned. ``function`` is
        the index of the function."""
        chord = self._functions.chords[self._functions.functions[function][0][1]]
        return np.array([vector for _, vector in chord], dtype=np.int64)

    def evaluate(self, x: Array) -> Poses:
        """Return the scalar functions that joints constrain and forces act along in T states x (T, n) of a
        mechanism, as ``Poses``. It has their values, and the points and directions of bodies in world axes on
        which they depend. Gradients with respect to these vectors, and derivatives of force coordinates with
        respect to the functions, are included."""
        instants, functions = self.instants(x), self._functions
        values, slopes = functions.values(instants), self.lines.slopes(instants)
        return Poses(x, instants, functions.set.values(instants), values, slopes, functions.gradients(instants))

    def rates(self, at: Poses, z: Array) -> tuple[Array, Array]:
        """Return the rates in T states of all world vectors (T, vectors, 3) and functions (T, m) of a
        mechanism. Velocities of bodies are those in the efforts z (T, n); prescribed motions are left out.
        World vectors are points of bodies, or directions fixed to them, in world axes. ``at`` contains the T
        states."""
        vectors = self._functions.set
        dX = vectors.rates(at.instants, self._velocity(at.instants, z)) - vectors.prescribed_rates(at.instants)
        return dX, self._functions.rates_along(at.gradients, dX)

    def with_gradient_rates(self, at: Poses, dX: Array) -> Poses:
        """Return a copy of the evaluated functions of a mechanism, ``at``, with time derivatives of the gradients
        in place of the gradients. Gradients are derivatives of the functions with respect to the world vectors
        (points of bodies, or directions fixed to them), and linear in these. Their rates follow from the rates dX
        (T, vectors, 3) of the world vectors."""
        chords = self._functions.difference_vectors_of(dX)
        return replace(at, gradients=self._functions.gradients_of(at.instants, chords))

    def prescribed_rates(self, at: Poses) -> Array:
        """Return the rates of a mechanism's functions that prescribed motions of frames and paths cause while all
        bodies are at rest. ``at`` has T states; the rates have the shape (T, m)."""
        return self._functions.drift(at.instants)

    def line_rates(self, at: Poses, rates: Array) -> Array:
        """Return the rates of all scalar constraints and force coordinates of a mechanism in T states, shape (T,
        constraints + force coordinates). Each depends on scalar functions of the state; its rate is the sum of
        their ``rates``, shape (T, m), times its derivatives with respect to them. A force coordinate is the length
        or angle along which a force element acts. ``at`` has the T states and these derivatives."""
        return np.add.reduceat(at.slopes * rates, self.first[:-1], axis=1) if len(self.owner) else rates

    def add_forces(self, at: Poses, along: Array, on_functions: Array, on_vectors: Array, out: Array) -> None:
        """Add generalized forces on the velocities of all bodies of a mechanism to ``out`` (T, n), in place.
        ``along`` (T, constraints + force coordinates) acts along constraints and lengths or angles,
        ``on_functions`` (T, m) along scalar functions of vectors. ``on_vectors`` (T, vectors, 3) acts on points
        and directions in world axes. Forces on floating bodies are rotated to body axes. ``at`` has the T
        states."""
        forces = on_functions + at.slopes * along[:, self.owner]
        vectors = on_vectors + self._functions.forces_along(at.gradients, forces)
        generalized = self._functions.set.generalized_forces(at.instants, vectors)
        for index, (form, own) in enumerate(self._bodies):
            force = generalized[:, self._system.layout.span(index)]
            if isinstance(form, FloatingBodyForm):
                d = form.body.dimension
                turned = force[:, None, :d] @ at.instants.rotation[:, index, :d, :d]
                force = np.hstack([turned[:, 0], force[:, d:]])
            out[:, velocity_indices(form, own)] += force

    def add_gradient(self, at: Poses, functions: slice, out: Array) -> None:
        """Add the gradient of one scalar constraint or force coordinate of a mechanism with respect to all world
        vectors to ``out`` (T, vectors, 3). ``functions`` is the slice of the functions of which it is made. World
        vectors are points of bodies, or directions fixed to them, in world axes. A force coordinate is the length
        or angle along which a force element acts. ``at`` has the T states."""
        chosen = np.zeros_like(at.slopes)
        chosen[:, functions] = at.slopes[:, functions]
        out += self._functions.forces_along(at.gradients, chosen)

    def instants(self, x: Array) -> Instants:
        """Return the times and the poses of all bodies of a mechanism in T states, as ``Instants`` without
        velocities. x has the shape (T, n) for n states. Poses are positions of reference points and nodes,
        rotation matrices and elastic coordinates. Motions that a user prescribed are evaluated once for each
        different time."""
        layout, system = self._system.layout, self._system
        position = np.zeros((len(x), int(layout.carrier[-1]), 3))
        rotation, eta = np.zeros((len(x), layout.frames, 3, 3)), np.zeros((len(x), int(layout.eta[-1])))
        for index, (form, own) in enumerate(self._bodies):
            carriers = slice(int(layout.carrier[index]), int(layout.carrier[index + 1]))
            if isinstance(form, FloatingBodyForm):
                state = form.split(x[:, own])
                position[:, index], rotation[:, index] = state.position, state.rotation
                eta[:, layout.eta[index] : layout.eta[index + 1]] = state.displacement
            else:
                n, d = form.body.elastic_count, form.body.dimension
                position[:, carriers, :d] = x[:, own][:, :n].reshape(len(x), -1, d)
        times, offset = np.unique(x[:, self._time], return_inverse=True)
        asked = PrescribedFunctions(system.moving_frames, system.paths, times)
        given = RecordedMotions.of(asked).at(offset)
        return Instants(x[:, self._time], position, rotation, eta, np.zeros((len(x), 0)), given)

    def _velocity(self, instants: Instants, z: Array) -> Array:
        """Return the velocity components of all bodies of a mechanism in T states, shape (T, velocities), selected
        from the efforts (energy gradients) z (T, n). Linear velocities of floating bodies are rotated from body
        axes to world axes; all other components are copied. ``instants`` has the rotation matrices in the T
        states."""
        found = [np.zeros((len(z), 0))]
        for index, (form, own) in enumerate(self._bodies):
            speeds = z[:, velocity_indices(form, own)]
            if isinstance(form, FloatingBodyForm):
                d = form.body.dimension
                found.append((instants.rotation[:, index, :d, :d] @ speeds[:, :d, None])[..., 0])
                speeds = speeds[:, d:]
            found.append(speeds)
        return np.hstack(found)


def velocity_indices(form: BodyForm, states: slice) -> slice:
    """Return the slice of a mechanism's state vector with the velocities of one body. ``form`` is the model of the
    body, ``states`` the slice of all its states."""
    if isinstance(form, FloatingBodyForm):
        return slice(states.start + form.velocity_slice.start, states.start + form.velocity_slice.stop)
    count = form.body.elastic_count
    return slice(states.start + count, states.start + 2 * count)


def paper_resolver(system: System) -> VectorResolver:
    """Return the object that expresses points and directions of bodies of a system as vectors relative to the
    bodies' reference points. The papers' equations have the reference points as states."""
    return replace(system.resolver, centres=[np.zeros_like(centre) for centre in system.centres])
