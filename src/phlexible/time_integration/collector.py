"""Gathers stored instants of the kernels into recordings, block by block."""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.joints.attachments import MovingFrame
from phlexible.model.assembly import Assembly
from phlexible.model.differences import derivatives
from phlexible.model.ground import frame_positions, frame_rotation, frame_velocities
from phlexible.model.recording import Recording
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
        self._frames = moving_frames(assembly)
        self._driven = driven_joints(assembly)
        names = [str(load) for load in assembly.mechanism.loads]
        names += [str(assembly.mechanism.joints[j]) for j in self._driven]
        self._work_names = tuple(names)
        self._held: Recording | None = None
        self._held_is_first = False

    @property
    def work_names(self) -> tuple[str, ...]:
        """Sources of work in the ledger: loads, then joints with a moving frame."""
        return self._work_names

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
        loads = len(self._assembly.mechanism.loads)
        columns = [*range(loads), *(loads + j for j in self._driven)]
        frames = [_frame_motion(frame, times) for frame in self._frames]
        rows = slice(0, count)
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
            kinetic=stored.energy[rows, 0].copy(),
            strain=stored.energy[rows, 1].copy(),
            gravity=stored.energy[rows, 2].copy(),
            work=stored.work[rows][:, columns],
            dissipated=stored.dissipated[rows].copy(),
            iterations=stored.iterations[rows].astype(np.int64),
            halvings=np.full(count, halvings, dtype=np.int64),
            work_names=self._work_names,
        )


def moving_frames(assembly: Assembly) -> list[MovingFrame]:
    """Distinct moving frames in the order in which the joints name them."""
    ports = [port for joint in assembly.mechanism.joints for port in (joint.first, joint.second)]
    frames = [port for port in ports if isinstance(port, MovingFrame) and not port.is_fixed]
    return list(dict.fromkeys(frames))


def driven_joints(assembly: Assembly) -> list[int]:
    """Numbers of the joints with a port on a moving frame."""
    moving = set(moving_frames(assembly))
    return [j for j, joint in enumerate(assembly.mechanism.joints) if {joint.first, joint.second} & moving]


def _frame_motion(frame: MovingFrame, times: Array) -> tuple[Array, Array, Array, Array]:
    position, velocity = frame_positions(frame, times), frame_velocities(frame, times)
    if frame.rotation is None:
        count = len(times)
        return position, np.broadcast_to(np.eye(3), (count, 3, 3)), velocity, np.zeros((count, 3))
    rotation = np.array([frame_rotation(frame, t) for t in times])
    rates = np.array([derivatives(frame.rotation, t)[0] for t in times])
    spin = rates @ rotation.transpose(0, 2, 1)
    return position, rotation, velocity, np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)


def _stacked(arrays: Sequence[Array], count: int, shape: tuple[int, ...]) -> Array:
    return np.stack(arrays, axis=1) if arrays else np.zeros((count, 0, *shape))


def _rows(block: Recording, rows: slice) -> Recording:
    arrays = [field.name for field in fields(Recording) if field.name != "work_names"]
    return replace(block, **{name: getattr(block, name)[rows] for name in arrays})
