"""Estimated error of a whole run, from runs with steps twice and four times as long (docs/accuracy.md)."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from phlexible.algebra.arrays import Array, IntArray, nearest_entries
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.sensor import Sensor
from phlexible.errors import ModelError, ParameterError
from phlexible.state.recorded_run import RecordedRun

SAME = 1e-9  # of the duration: instants of two runs that are one
FEWEST = 3  # instants that all three runs have, beside the first
POINTS = 9  # along a beam
REPEATED = 10  # stored instants that are run again to see whether the run repeats
DIFFERENT = 1e-9  # of the greatest number of a sensor
CLEAR = 3.0  # ratio of the differences from which steps resolve what moves


@dataclass(frozen=True, eq=False)
class Repeatable:
    """Run of ``model.simulate`` that can be repeated with other steps.

    Attributes:
        run: function of the factor of the step and of its parts around contacts, the steps between stored
            instants, and
            the duration [s], which returns the run from the same start.
        step: of the run [s].
        every: steps between stored instants.
        order: of the scheme.
        duration: [s].
    """

    run: Callable[[int, int, float], RecordedRun]
    step: float
    every: int
    order: int
    duration: float


@dataclass(frozen=True, eq=False)
class RunError:
    """Estimated error of a run; print it.

    Attributes:
        time: instants that all three runs have, shape (k,) [s].
        curve: estimated error of the run up to each instant, of the worst sensor, shape (k,), not falling.
        greatest: its last number, in the unit of the sensors.
        ratio: r, by how much the difference of runs shrinks where the step is halved, of the number with the
            greatest error: 2^order where steps resolve what moves it, 1 where they do not; NaN: no error at all.
        step: of the run [s].
        order: of its scheme.
        unit: of the sensors.
    """

    time: Array
    curve: Array
    greatest: float
    ratio: float
    step: float
    order: int
    unit: str

    @property
    def advice(self) -> str:
        """Return advice to the user if the time steps do not resolve the motion; empty text otherwise. It is given
        if halving the time step reduces the differences between runs by a factor of less than 3, where the order
        of the method promises 4 or more."""
        if not self.ratio < CLEAR:
            return ""
        return (
            f"halving the step shrinks the differences by {self.ratio:.2g} only, not by {2**self.order}: steps of"
            f" {self.step:g} s do not resolve something that moves here (vibration, a jump, chaos, or a controller"
            ' that acts once a step); start with initial="quasi_static", give it damping, or take smaller steps'
        )

    def __str__(self) -> str:
        text = f"error up to {self.greatest:.2g} {self.unit} over {self.time[-1]:g} s, ratio {self.ratio:.2g}"
        return f"{text}; {self.advice}" if self.advice else text


def run_error(done: RecordedRun, repeatable: Repeatable, sensors: Sequence[Sensor]) -> RunError:
    """Return the estimated error of the recorded run ``done`` in the values of ``sensors``. It follows from the
    differences to two further runs with 2 and 4 times the time step, which ``repeatable`` makes. ParameterError is
    raised unless all sensors have one unit.

    Raises:
        ParameterError: sensors of several units or none, or a run with too few steps.
        ModelError: a run that does not repeat.
    """
    if not sensors or not all(isinstance(sensor, Sensor) for sensor in sensors):
        raise ParameterError(f"run_error takes sensors such as ph.Position(beam.end), got {sensors!r}")
    units = sorted({sensor.unit for sensor in sensors})
    if len(units) > 1:
        raise ParameterError(
            f"sensors of run_error must have one unit, got {', '.join(units)}; ask for each by itself"
        )

    def read(run: RecordedRun) -> Array:
        return np.concatenate([sensor.read(run).reshape(len(run.time), -1) for sensor in sensors], axis=1)

    return _estimated(done, repeatable, read, units[0])


def position_error(done: RecordedRun, repeatable: Repeatable) -> RunError:
    """Return the estimated error of the recorded run ``done`` in all positions of the mechanism [m]. It is
    found from two further runs with 2 and 4 times its time step, which ``repeatable`` makes. Positions are
    centres of mass, nodes, points on bodies, and rotation matrices times the size of their body.

    Raises:
        ParameterError: a run with too few steps.
        ModelError: a run that does not repeat.
    """
    return _estimated(done, repeatable, all_positions, "m")


def all_positions(run: RecordedRun) -> Array:
    """Return positions of all parts at all instants of a ``run``, shape (N + 1, n) [m], to compare runs:
    world positions of centres of mass and nodes, then for each floating body its size times its rotation
    matrix, and world positions of points along it if it is elastic."""
    parts = [run.recording.position]
    for index in range(run.system.layout.frames):
        data, rotation = run.system.bodies[index].data, run.recording.rotation[:, index]
        parts.append(data.size * rotation)
        if data.elastic_count:
            positions, shapes = data.points.outline(POINTS)
            local = positions + np.einsum("kcn,tn->tkc", shapes, run.elastic(index))
            parts.append(run.reference_point(index)[:, None] + np.einsum("tij,tkj->tki", rotation, local))
    return np.concatenate([part.reshape(len(run.time), -1) for part in parts], axis=1)


def _estimated(
    done: RecordedRun, repeatable: Repeatable, reading: Callable[[RecordedRun], Array], unit: str
) -> RunError:
    here = repeatable
    interval = int(np.lcm(here.every, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the motion itself has been warned of
        _check_repeats(done, here, reading)
        middle = here.run(2, interval // 2, here.duration)
        coarse = here.run(4, interval // 4, here.duration)
    rows = _common_rows([done.time, middle.time, coarse.time])
    if len(rows[0]) <= FEWEST:
        raise ParameterError(
            f"the runs with steps of {here.step:g} s, 2 and 4 times as much share {len(rows[0])} instants of the"
            f" {here.duration:g} s; store more of them (every=1 or 4), or take smaller steps"
        )
    read = [reading(run)[own] for run, own in zip((done, middle, coarse), rows, strict=True)]
    near, far = (np.maximum.accumulate(np.abs(first - second)) for first, second in pairwise(read))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = far[-1] / near[-1]  # of each number: what vibrates fast has another one than what moves slowly
    share = np.array([_error_per_difference(float(each), here.order) for each in ratios])
    worst = int(np.argmax(near[-1] * share))
    curve, ratio = (near * share).max(axis=1), float(ratios[worst])
    return RunError(done.time[rows[0]], curve, float(curve[-1]), ratio, here.step, here.order, unit)


def _error_per_difference(ratio: float, order: int) -> float:
    """Return the factor by which the difference between a run and another with twice its time step is multiplied
    to estimate the run's error. It is 1 / (``ratio`` - 1), with the measured quotient of successive differences,
    limited to 2^order. It is 1 for ratios up to 2, and 1 / (2^order - 1) for NaN.

    The sum of a geometric series at the measured ratio, at least that of the order; the whole difference where runs
    do
    not converge.
    """
    full = 2.0**order
    if not ratio < full:
        return 1 / (full - 1)
    return 1 / (ratio - 1) if ratio > 2 else 1.0


def _common_rows(times: Sequence[Array]) -> list[IntArray]:
    """Return for each run the indices of the stored instants that all runs have in common. They are arrays of
    equal length; ``times`` has the stored times of each run [s]. Instants of the first run are retained if every
    other run has one within a tiny fraction of the duration."""
    first, *others = times
    near = SAME * max(float(first[-1] - first[0]), np.finfo(float).tiny)
    kept = np.ones(len(first), dtype=bool)
    for other in others:
        kept &= np.abs(other[nearest_entries(other, first)] - first) <= near
    return [nearest_entries(time, first[kept]) for time in times]


def _check_repeats(done: RecordedRun, here: Repeatable, reading: Callable[[RecordedRun], Array]) -> None:
    """Raise ``ModelError`` if repeating the first time steps of a run gives other values, because a feedback
    controller keeps data between calls. ``done`` is the recorded run, ``here`` computes its first recorded instants
    again, at most ten after the start. ``reading`` returns the sensor values of a run, shape (instants, values).
    They may differ by 1e-9 of the largest value. Runs without feedback controllers, or with fewer than three
    recorded instants, are not checked."""
    laws = [
        str(part)
        for part in (*done.mechanism.loads, *done.mechanism.elements)
        if isinstance(getattr(part, "value", None), Feedback)
    ]
    last = min(REPEATED, len(done.time) - 2)
    if not laws or last < 1:
        return
    again = here.run(1, here.every, float(done.time[last] - done.time[0]))
    first, second = reading(done)[: last + 1], reading(again)[: last + 1]
    if first.shape != second.shape or np.abs(first - second).max() > DIFFERENT * np.abs(first).max():
        raise ModelError(
            f"the run cannot be repeated: {', '.join(laws)} keeps values of earlier calls, so that runs with other"
            " steps do not show the error; keep these values in the model, or build a new model for each run and"
            " compare motions"
        )
