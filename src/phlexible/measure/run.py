"""A recorded run, and where the numbers of each body, joint and moving frame sit in it (docs/theory.md, 2)."""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.body import fingerprint
from phlexible.bodies.mechanics.floating import split_velocity
from phlexible.description.interactions.functions import PointOf
from phlexible.description.joints.joint import Joint
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.ports import Attachment, MovingFrame, PlacedBody, Port
from phlexible.display import short_repr
from phlexible.errors import ModelError
from phlexible.state.functions import ConstraintSet
from phlexible.state.instants import Instants
from phlexible.state.recording import Recording
from phlexible.state.redundancy import redundancies
from phlexible.state.system import System
from phlexible.state.vectors import VectorSet


@dataclass(frozen=True, eq=False)
class RecordedRun:
    """A system and the recording of T = N + 1 instants.

    Attributes:
        is_redundant: whether joints hold a motion twice at the start; None: to be found.
    """

    system: System
    recording: Recording
    is_redundant: bool | None = None

    __repr__ = short_repr

    def __getstate__(self) -> dict[str, object]:
        """Without what follows from the rest."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that moved."""
        return self.system.mechanism

    @property
    def count(self) -> int:
        """Number of stored instants."""
        return len(self.recording.time)

    @cached_property
    def instants(self) -> Instants:
        """States at all stored instants."""
        return self.recording.instants()

    def at(self, instants: slice | IntArray) -> "RecordedRun":
        """The chosen instants only; a slice does not copy."""
        rec = self.recording
        cut = {f.name: getattr(rec, f.name)[instants] for f in fields(rec) if f.name != "work_names"}
        return RecordedRun(self.system, replace(rec, **cut), self.is_redundant)

    @cached_property
    def has_redundant_joints(self) -> bool:
        """Whether joints hold a motion twice at the first instant, so that their forces are not unique."""
        if self.is_redundant is not None:
            return self.is_redundant
        return bool(redundancies(self.system, self.recording.state(0), self.instants.at(slice(0, 1))))

    @cached_property
    def phases(self) -> "list[tuple[RecordedRun, IntArray]]":
        """Parts of the run in which the same constraints hold, each with their rows among all; all of it first.

        An instant at which something happens belongs to what was before.
        """
        held = self.recording.held
        if not held.size:
            return [(self, np.arange(len(self.system.owners)))]
        changes = np.flatnonzero((np.isnan(held[1:]) != np.isnan(held[:-1])).any(axis=1)) + 1
        found = []
        for begin, end in pairwise([0, *changes.tolist(), self.count]):
            phase, recording = self.system.phase(held[begin]), self.recording.rows(slice(begin, end))
            own = replace(recording, multipliers=recording.multipliers[:, phase.rows], held=held[begin:end, :0])
            found.append((RecordedRun(phase.system, own), phase.rows))
        return found

    def gaps(self) -> Array:
        """What constraints demand to vanish, angles of relations over full turns, shape (T, rows) [m or rad].

        Of those that events hold or release zero where they do not hold.
        """
        rows, recorded = self.system.rows, self.recording.theta
        if isinstance(rows, ConstraintSet):
            found = rows.values(self.instants, recorded[:, recorded.shape[1] - len(rows.places) :])
        else:
            found = rows.values(self.instants)
        switches = self.system.row_switches
        switched = np.flatnonzero(switches >= 0)
        found[:, switched] = np.nan_to_num(found[:, switched] - self.recording.held[:, switches[switched]])
        return found

    def body_index(self, target: PlacedBody | Attachment) -> int:
        """Index of a body, or of the body of an attachment.

        A handle of another model is accepted where name and data agree, so that a script that
        builds its model again can read a loaded file.

        Raises:
            ModelError: the body is not in the model.
        """
        if not isinstance(target, PlacedBody | Attachment):
            raise ModelError(f"expected a body of the model or an attachment such as beam.end, got {target!r}")
        placed = target.placed if isinstance(target, Attachment) else target
        if (known := self.system.index.get(placed)) is not None:
            return known
        for index, body in enumerate(self.system.bodies):
            if _looks_same(body, placed):
                return index
        names = ", ".join(body.name for body in self.system.bodies)
        raise ModelError(f"{placed.name!r} is not a body of this model; it has: {names}")

    def own(self, port: Port) -> Port:
        """The port on this system's body where it is one of another model's equal body.

        Raises:
            ModelError: the body is not in the model, or no joint of the model uses the frame.
        """
        if not isinstance(port, Port):
            raise ModelError(f"expected a point such as beam.end or ground.at(...), got {port!r}")
        if isinstance(port, MovingFrame):
            if not port.is_fixed:
                self.frame_index(port)
            return port
        placed = self.system.bodies[self.body_index(port)]
        if placed is port.placed:
            return port
        placed.locate(port.location)
        return Attachment(placed, port.location)

    def frame_index(self, frame: MovingFrame) -> int:
        """Index of a moving frame among those of the recording.

        Raises:
            ModelError: no joint of the model uses the frame.
        """
        for index, candidate in enumerate(self.system.moving_frames):
            if candidate is frame:
                return index
        raise ModelError(f"moving frame {frame} is not used by a joint of this model, so it was not recorded")

    def joint_index(self, joint: Joint) -> int:
        """Index of a joint; one of another model is accepted where exactly one joint here reads the same.

        Raises:
            ModelError: the joint is not in the model.
        """
        joints = self.mechanism.joints
        for index, candidate in enumerate(joints):
            if candidate is joint:
                return index
        alike = [k for k, candidate in enumerate(joints) if str(candidate) == str(joint)]
        if isinstance(joint, Joint) and len(alike) == 1:
            return alike[0]
        names = ", ".join(str(candidate) for candidate in joints) or "none"
        raise ModelError(f"{joint} is not a joint of this model; it has: {names}")

    def elastic(self, index: int) -> Array:
        """Elastic coordinates of one body, shape (T, n)."""
        rec = self.recording
        return self.system.layout.elastic(index, rec.position, rec.eta)

    def reference_point(self, index: int) -> Array:
        """Origin of the frame of one floating body, shape (T, 3) [m] (2.7)."""
        centre, eta = self.system.centres[index], self.elastic(index)
        local = centre[:, 0] + eta @ centre[:, 1:].T
        turned = np.einsum("tij,tj->ti", self.recording.rotation[:, index], local)
        return np.asarray(self.recording.position[:, index] - turned)

    def spin(self, index: int, velocities: Array) -> tuple[Array, Array]:
        """w (T, 3) and deta/dt (T, n) of one floating body out of flat velocities (T, all)."""
        own = velocities[:, self.system.layout.place(index)]
        return split_velocity(self.system.frames[index], own)[1:]

    def point(self, port: Port) -> tuple[Array, VectorSet]:
        """Weights and vectors whose sum a port is."""
        parts = self.system.resolver.parts(PointOf(self.own(port)))
        vectors = VectorSet(tuple(vector for _, vector in parts), self.system.layout)
        return np.array([weight for weight, _ in parts]), vectors


def _looks_same(a: PlacedBody, b: PlacedBody) -> bool:
    return (
        a.name == b.name and a.data.mass == b.data.mass and np.array_equal(fingerprint(a.data), fingerprint(b.data))
    )
