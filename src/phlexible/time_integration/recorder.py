"""Gathers stored instants of a stepper into recordings, block by block."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.system.instants import GivenFunctions
from phlexible.system.recording import Recording
from phlexible.system.system import System

Sink = Callable[[Recording], None]
Rows = Mapping[str, Array]


class Recorder:
    """Turns stored rows into ``Recording`` blocks for a sink.

    The last row is held back until the next step is known, because its multipliers are the mean of
    the steps before and after it (docs/theory.md, 4).

    Args:
        system: what moves.
        sources: columns of the stored work by the name of what does it.
        sink: takes each block.
    """

    def __init__(self, system: System, sources: Mapping[str, list[int]], sink: Sink) -> None:
        self._system, self._sources, self._sink = system, sources, sink
        self._held: Recording | None = None
        self._held_is_first = False

    def begin(self, time: float, rows: Rows, halvings: int) -> None:
        """The first instant; its multipliers are those of the first step."""
        self._held = self._block(np.array([time]), rows, halvings)
        self._held_is_first = True

    def next_step(self, reactions: Array) -> None:
        """Multipliers and forces of the step that follows the last stored instant."""
        if self._held is not None:
            weight = 0.0 if self._held_is_first else 0.5
            count = self._held.multipliers.shape[1]
            for own, new in (
                (self._held.multipliers, reactions[:count]),
                (self._held.forces, reactions[count:]),
            ):
                own[-1] = weight * own[-1] + (1 - weight) * new
            self._release()

    def add(self, times: Array, rows: Rows, halvings: int, is_last_open: bool) -> None:
        """Stored instants; ``is_last_open``: the step after the last one has not been taken yet."""
        self._release()
        count = len(times)
        if count == 0:
            return
        block = self._block(times, rows, halvings)
        if is_last_open:
            self._emit(_rows(block, slice(0, count - 1)))
            self._held, self._held_is_first = _rows(block, slice(count - 1, count)), False
        else:
            self._emit(block)

    def finish(self) -> None:
        """Hand over what is held back."""
        self._release()

    def _release(self) -> None:
        if self._held is not None:
            held, self._held = self._held, None
            self._emit(held)

    def _emit(self, block: Recording) -> None:
        if len(block.time):
            self._sink(block)

    def _block(self, times: Array, rows: Rows, halvings: int) -> Recording:
        count, system = len(times), self._system
        own = {name: array[:count] for name, array in rows.items()}
        given = GivenFunctions(system.moving_frames, system.paths, times)
        work = [own["work"][:, columns].sum(axis=1) for columns in self._sources.values()]
        return Recording(
            time=np.array(times),
            position=own["position"].copy(),
            rotation=own["rotation"].copy(),
            eta=own["eta"].copy(),
            velocity=own["velocity"].copy(),
            multipliers=own["multiplier"].copy(),
            forces=own["force"].copy(),
            theta=own["theta"].copy(),
            paths=given.paths,
            path_rates=given.path_rates,
            frames=given.frames,
            frame_rotations=given.frame_rotations,
            frame_velocities=given.frame_velocities,
            frame_angular_velocities=given.frame_angular_velocities,
            kinetic=own["energy"][:, 0].copy(),
            strain=own["energy"][:, 1].copy(),
            gravity=own["energy"][:, 2].copy(),
            spring=own["energy"][:, 3].copy(),
            work=np.stack(work, axis=1) if work else np.zeros((count, 0)),
            dissipated=own["dissipated"][:, 0].copy(),
            iterations=own["counter"][:, 0].astype(np.int64),
            halvings=np.full(count, halvings, dtype=np.int64),
            work_names=tuple(self._sources),
        )


def _rows(block: Recording, rows: slice) -> Recording:
    arrays = [field.name for field in fields(Recording) if field.name != "work_names"]
    return replace(block, **{name: getattr(block, name)[rows] for name in arrays})
