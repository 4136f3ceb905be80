"""Gathers stored instants of the kernels into recordings, block by block."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import fields, replace

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.interactions.drives import Drive
from phlexible.mechanism.moving_frames import moving_frames
from phlexible.ports.attachments import MovingFrame
from phlexible.ports.ground import (
    frame_angular_velocities,
    frame_positions,
    frame_rotations,
    frame_velocities,
)
from phlexible.system.assembly import Assembly
from phlexible.system.recording import Recording
from phlexible.time_integration.stored_rows import StoredRows

Sink = Callable[[Recording], None]


class Collector:
    """Turns stored rows into ``Recording`` blocks for a sink.

    The last row is held back until the next step is known, because its multipliers are the mean of
    the steps before and after it (formulation, section 4).

    Args:
        assembly: what moves.
        sink: takes each block.
    """

    def __init__(self, assembly: Assembly, sink: Sink) -> None:
        self._assembly = assembly
        self._sink = sink
        self._frames = moving_frames(assembly.mechanism)
        self._sources = work_sources(assembly)
        self._held: Recording | None = None
        self._held_is_first = False

    @property
    def sources(self) -> dict[str, list[int]]:
        """Columns of the stored work by the name of what does it."""
        return self._sources

    @property
    def work_names(self) -> tuple[str, ...]:
        """Sources of work in the ledger: loads, driven joints, drives, force elements."""
        return tuple(self._sources)

    def begin(self, time: float, stored: StoredRows, halvings: int) -> None:
        """The first instant; its multipliers are those of the first step."""
        self._held = self._block(np.array([time]), stored, 1, halvings)
        self._held_is_first = True

    def next_step(self, multiplier: Array) -> None:
        """The multipliers of the step that follows the last stored instant."""
        if self._held is not None:
            weight = 0.0 if self._held_is_first else 0.5
            self._held.multipliers[-1] *= weight
            self._held.multipliers[-1] += (1 - weight) * multiplier
            self._release()

    def add(self, times: Array, stored: StoredRows, halvings: int, is_last_open: bool) -> None:
        """Stored instants; ``is_last_open``: the step after the last one has not been taken yet."""
        self._release()
        count = len(times)
        if count == 0:
            return
        block = self._block(times, stored, count, halvings)
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

    def _block(self, times: Array, stored: StoredRows, count: int, halvings: int) -> Recording:
        drives, rows = self._assembly.mechanism.drives, slice(0, count)
        frames = [_frame_motion(frame, times) for frame in self._frames]
        return Recording(
            time=np.array(times),
            position=stored.position[rows].copy(),
            rotation=stored.rotation[rows].copy(),
            elastic=stored.elastic[rows].copy(),
            velocity=stored.velocity[rows].copy(),
            multipliers=stored.multipliers[rows].copy(),
            frames=_stacked([f[0] for f in frames], count, (3,)),
            frame_rotations=_stacked([f[1] for f in frames], count, (3, 3)),
            frame_velocities=_stacked([f[2] for f in frames], count, (3,)),
            frame_angular_velocities=_stacked([f[3] for f in frames], count, (3,)),
            coordinates=stored.coordinates[rows].copy(),
            paths=_columns([drive.path.at_times(times) for drive in drives], count),
            path_rates=_columns([drive.path.rates_at(times) for drive in drives], count),
            kinetic=stored.energy[rows, 0].copy(),
            strain=stored.energy[rows, 1].copy(),
            gravity=stored.energy[rows, 2].copy(),
            spring=stored.energy[rows, 3].copy(),
            work=_columns([stored.work[rows][:, own].sum(axis=1) for own in self._sources.values()], count),
            dissipated=stored.dissipated[rows].copy(),
            iterations=stored.iterations[rows].astype(np.int64),
            halvings=np.full(count, halvings, dtype=np.int64),
            work_names=self.work_names,
        )


def work_sources(assembly: Assembly) -> dict[str, list[int]]:
    """Columns of the stored work by the name of what does it: a bushing has several."""
    mechanism = assembly.mechanism
    moving = set(moving_frames(assembly.mechanism))
    loads = len(assembly.load_entries)
    sources: dict[str, list[int]] = {}
    columns = itertools.count()
    for load in mechanism.loads:
        sources.setdefault(str(load), []).extend(next(columns) for _ in load.entries())
    for k, part in enumerate(mechanism.constraints, start=loads):
        if isinstance(part, Drive) or {part.first, part.second} & moving:
            sources.setdefault(str(part), []).append(k)
    for k, each in enumerate(assembly.forces, start=loads + len(mechanism.constraints)):
        if each.is_prescribed or set(each.element.ports) & moving:
            sources.setdefault(str(each.element), []).append(k)
    return sources


def _frame_motion(frame: MovingFrame, times: Array) -> tuple[Array, Array, Array, Array]:
    return (
        frame_positions(frame, times),
        frame_rotations(frame, times),
        frame_velocities(frame, times),
        frame_angular_velocities(frame, times),
    )


def _stacked(arrays: Sequence[Array], count: int, shape: tuple[int, ...]) -> Array:
    return np.stack(arrays, axis=1) if arrays else np.zeros((count, 0, *shape))


def _columns(arrays: Sequence[Array], count: int) -> Array:
    return np.stack(arrays, axis=1) if arrays else np.zeros((count, 0))


def _rows(block: Recording, rows: slice) -> Recording:
    arrays = [field.name for field in fields(Recording) if field.name != "work_names"]
    return replace(block, **{name: getattr(block, name)[rows] for name in arrays})
