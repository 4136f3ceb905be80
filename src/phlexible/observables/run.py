"""A recorded run, and where the numbers of each body, joint and moving frame sit in it."""

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.fingerprint import fingerprint
from phlexible.errors import ModelError
from phlexible.joints.joint import Joint
from phlexible.mechanism.mechanism import Mechanism
from phlexible.mechanism.moving_frames import moving_frames
from phlexible.ports.attachments import Attachment, MovingFrame, PlacedBody
from phlexible.system.recording import Recording
from phlexible.system.state import Layout, State


@dataclass(frozen=True, eq=False)
class Twist:
    """Velocities of one body at T instants, in body axes, without leaving out components.

    Attributes:
        linear: v of the body frame's origin, shape (T, 3) [m/s].
        angular: w, shape (T, 3) [rad/s].
        elastic: deta/dt, shape (T, n).
    """

    linear: Array
    angular: Array
    elastic: Array


@dataclass(frozen=True, eq=False)
class Run:
    """A mechanism, the places of its numbers and the recording of T = N + 1 instants."""

    mechanism: Mechanism
    layout: Layout
    recording: Recording

    @property
    def instants(self) -> int:
        """Number of stored instants."""
        return len(self.recording.time)

    def at(self, instants: slice | IntArray) -> "Run":
        """The chosen instants only; a slice does not copy."""
        rec = self.recording
        cut = {f.name: getattr(rec, f.name)[instants] for f in fields(rec) if f.name != "work_names"}
        return Run(self.mechanism, self.layout, replace(rec, **cut))

    @cached_property
    def has_redundant_joints(self) -> bool:
        """Whether joints hold a motion twice at the first instant, so that their forces are not unique."""
        from phlexible.rank.redundancy import redundancies

        rec = self.recording
        start = State(float(rec.time[0]), rec.position[0], rec.rotation[0], rec.elastic[0], rec.velocity[0])
        try:
            return bool(redundancies(self.mechanism, start))
        except ModelError:  # a loaded file knows where moving frames were, not their functions of time
            from phlexible.observables.projection import has_dependent_rows

            return has_dependent_rows(self)

    @cached_property
    def multipliers(self) -> Array:
        """Multipliers, of redundant joints the smallest ones, shape (T, rows)."""
        from phlexible.observables.smallest_multipliers import smallest_multipliers

        return smallest_multipliers(self)

    @cached_property
    def moving_frames(self) -> tuple[MovingFrame, ...]:
        """Moving frames in the order in which the recording holds them: first appearance in the joints."""
        return moving_frames(self.mechanism)

    def body_index(self, target: PlacedBody | Attachment) -> int:
        """Index of a body, or of the body of an attachment.

        A handle of another model is accepted where name and data agree, so that a script that
        builds its model again can read a loaded file.

        Raises:
            ModelError: the body is not in the model.
        """
        if not isinstance(target, PlacedBody | Attachment):
            raise ModelError(
                f"expected a body of the model or an attachment such as beam.end, got {target!r}"
            )
        placed = target.placed if isinstance(target, Attachment) else target
        if (known := self._places.get(id(placed))) is not None:
            return known
        bodies = self.mechanism.bodies
        for index, body in enumerate(bodies):
            if _looks_same(body, placed):
                return index
        names = ", ".join(body.name for body in bodies)
        raise ModelError(f"{placed.name!r} is not a body of this model; it has: {names}")

    def frame_index(self, frame: MovingFrame) -> int:
        """Index of a moving frame among those of the recording.

        Raises:
            ModelError: no joint of the model uses the frame.
        """
        for index, candidate in enumerate(self.moving_frames):
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

    @cached_property
    def _places(self) -> dict[int, int]:
        """Index of each body by the identity of its handle."""
        return {id(body): index for index, body in enumerate(self.mechanism.bodies)}

    def elastic(self, index: int) -> Array:
        """eta of one body, shape (T, n)."""
        offsets = self.layout.elastic
        return self.recording.elastic[:, offsets[index] : offsets[index + 1]]

    def twist(self, index: int, velocities: Array) -> Twist:
        """Velocities of one body out of flat ones, shape (T, all velocity counts)."""
        data = self.mechanism.bodies[index].data
        offsets = self.layout.velocity
        own = velocities[:, offsets[index] : offsets[index + 1]]
        linear, angular = np.zeros((len(own), 3)), np.zeros((len(own), 3))
        axes = list(data.linear_axes)
        linear[:, axes] = own[:, axes]
        angular[:, list(data.rotation_axes)] = own[:, len(axes) : data.rigid_count]
        return Twist(linear, angular, own[:, data.rigid_count :])


def _looks_same(a: PlacedBody, b: PlacedBody) -> bool:
    return (
        a.name == b.name
        and a.data.mass == b.data.mass
        and np.array_equal(fingerprint(a.data), fingerprint(b.data))
    )
