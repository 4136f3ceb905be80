"""Loads of a mechanism as ports of its port-Hamiltonian model: forces, moments, pressures that follow."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.functions import PointOf
from phlexible.description.interactions.loads import Axes, Force, PointLoad, SurfacePressure, Torque
from phlexible.description.interactions.state_force import StateLaw
from phlexible.errors import ModelError
from phlexible.state.forces import body_triad
from phlexible.state.system import System
from phlexible.state.vectors import CarriedVector, VectorResolver

NUMBERS = 3


@dataclass(frozen=True, eq=False)
class _Place:
    """A load, its inputs, and its vectors among all: the point, directions, or nodes."""

    load: PointLoad
    inputs: slice
    points: IntArray
    triad: IntArray


class AppliedLoads:
    """The loads of a system, on vectors that are numbered later.

    Args:
        system: with the loads.
        resolver: finds the vectors.

    Attributes:
        vectors: that they act on.
        sizes: number of inputs of each.

    Raises:
        ModelError: a controller that is called once a step.
    """

    def __init__(self, system: System, resolver: VectorResolver) -> None:
        self._system, self._resolver, self._places = system, resolver, list[_Place]()
        self.vectors = list[CarriedVector]()
        self.sizes = list[int]()
        for load in system.loads:
            if isinstance(load.value, Feedback) and not isinstance(load.value, StateLaw):
                raise ModelError(
                    f"{load} is a controller that is called once a step, which collocation has no use for; write "
                    "it as a function of time, or as a StateForce"
                )
            is_pressure = isinstance(load, SurfacePressure)
            size, begin = 1 if is_pressure else NUMBERS, sum(self.sizes)
            place = slice(begin, begin + size)
            points, triad = self._on(load)
            self._places.append(_Place(load, place, self._added(points), self._added(triad)))
            self.sizes.append(size)

    def _on(self, load: PointLoad) -> tuple[list[CarriedVector], list[CarriedVector]]:
        """The point or nodes, and directions of the material where it has to do with these."""
        system = self._system
        if isinstance(load, SurfacePressure):
            first = int(system.layout.carrier[system.index[load.attachment.placed]])
            nothing = np.zeros((3, 0))
            return [CarriedVector(first + int(k), True, np.zeros(3), nothing) for k in load.surface.nodes], []
        points = [self._resolver.resolve(PointOf(load.attachment))] if isinstance(load, Force) else []
        has_triad = isinstance(load, Torque) or load.axes is Axes.BODY
        triad = [self._resolver.resolve(each) for each in body_triad(load.attachment)] if has_triad else []
        return points, triad

    def _added(self, vectors: list[CarriedVector]) -> IntArray:
        self.vectors += vectors
        return np.arange(len(self.vectors) - len(vectors), len(self.vectors))

    def groups(self) -> list[IntArray]:
        """Numbers among ``vectors`` of those that meet: of each load, of pressures of each face."""
        found = list[IntArray]()
        for each in self._places:
            if isinstance(each.load, SurfacePressure):
                found += [each.points[face] for face in each.load.surface.faces]
            else:
                found.append(np.concatenate([each.points, each.triad]))
        return found

    @property
    def size(self) -> int:
        """Number of inputs of all."""
        return sum(self.sizes)

    def inputs(self, time: float, law: Callable[[StateLaw], Array]) -> Array:
        """Values of all at a time; ``law``: of functions of the state."""
        found = [np.zeros(0)]
        for load, size in zip(self._system.loads, self.sizes, strict=True):
            if isinstance(load.value, StateLaw):
                value = law(load.value)
                load.check_inside(value, self._system.dimension, np.array([time]))
            else:
                value = load.at_time(time)
            found.append(value[:size])
        return np.concatenate(found)

    def push(self, u: Array, vectors: Array, numbers: IntArray, out: Array) -> None:
        """Adds the forces of inputs (T, inputs) to out (T, k, 3); ``numbers``: of ``vectors`` among the k."""
        for each in self._places:
            value, load = u[:, each.inputs], each.load
            if not value.any():
                continue
            if isinstance(load, SurfacePressure):
                for t, x in enumerate(vectors[:, numbers[each.points]]):
                    out[t, numbers[each.points]] += load.surface.forces(float(value[t, 0]), x)
                continue
            triad = vectors[:, numbers[each.triad]]
            world = (triad * value[..., None]).sum(axis=1) if load.axes is Axes.BODY else value
            if isinstance(load, Force):
                out[:, numbers[each.points[0]]] += world
            else:
                turn = np.linalg.solve(_spread(triad), world[..., None])[..., 0]
                out[:, numbers[each.triad]] += np.cross(turn[:, None], triad)

    def outputs(self, vectors: Array, rates: Array, numbers: IntArray) -> Array:
        """What the inputs work on, shape (T, inputs)."""
        result = np.empty((len(vectors), self.size))
        for each in self._places:
            load, triad = each.load, vectors[:, numbers[each.triad]]
            if isinstance(load, SurfacePressure):
                places = numbers[each.points]
                unit = np.array([load.surface.forces(1.0, x) for x in vectors[:, places]])
                result[:, each.inputs] = (unit * rates[:, places]).sum(axis=(1, 2))[:, None]
                continue
            if isinstance(load, Force):
                motion = rates[:, numbers[each.points[0]]]
            else:
                turned = np.cross(triad, rates[:, numbers[each.triad]]).sum(axis=1)
                motion = np.linalg.solve(_spread(triad), turned[..., None])[..., 0]
            if load.axes is Axes.BODY:
                motion = (triad * motion[:, None]).sum(axis=2)
            result[:, each.inputs] = motion
        return result


def _spread(triad: Array) -> Array:
    """sum |d_i|^2 I - d_i d_i^T of directions (T, 3, 3), which a turn t takes to its moment
    (docs/theory.md, 4; (4.16))."""
    squares = (triad**2).sum(axis=(1, 2))[:, None, None] * np.eye(3)
    return np.asarray(squares - triad.transpose(0, 2, 1) @ triad)
