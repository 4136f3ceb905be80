"""Forces on several ports from a function of time and state (``StateForce``), evaluated within the step."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from phlexible.algebra.arrays import check_callable, optional_text, set_fields
from phlexible.description.interactions.feedback import actuated_count, measured_count
from phlexible.description.interactions.force_elements import ForceElement, JointElement
from phlexible.description.interactions.functions import expect
from phlexible.description.interactions.loads import Force, Load
from phlexible.description.interactions.state_force import CompoundForce, StateFunction, StateLaw, StateValues
from phlexible.description.joints.joint import Joint
from phlexible.description.ports import Attachment
from phlexible.errors import ParameterError
from phlexible.measure.sensors import JointPosition, Position

Measured = Attachment | Joint | Position | JointPosition


@dataclass(frozen=True, eq=False)
class StateForce(CompoundForce):
    """Forces on several points or joints as a Python function of time and of measured positions and rates, for
    ``Model.apply``.

    The function is asked at the middle of each trial step of Newton's method, ``function(t, x, v)`` with the mean
    places and the mean rates of the step: of second order in the step, where the held values of a ``Feedback``
    are of first order. A force -k x stores its energy as exactly as a spring. It is a Python function that is
    called three or four times a step, however stiff it is (docs/theory.md, 8).

    Attributes:
        function: (t [s], x, v) -> forces, in the order of ``on``, shape (values,).
        of: what x and v hold, in this order: of an attachment or ``Position`` its world place [m] and velocity
            [m/s], 3 numbers each; of a joint or ``JointPosition`` its coordinates [rad, m] and their rates, of
            angles over full turns.
        on: where the values act: 3 numbers of an attachment, a world force [N]; of a joint with one coordinate one
            number, along it [N m or N].
        name: key of the work in the energy ledger; None: made from where it acts.

    Raises:
        ParameterError: no function, or lists without or with other things.
        ModelError: a joint on which forces act that has not one coordinate.
    """

    function: StateFunction
    of: Sequence[Measured] = field(kw_only=True)
    on: Sequence[Attachment | Joint] = field(kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_callable("function", self.function, "t", "x", "v")
        for label, given, kinds, wanted in (
            ("of", self.of, Measured, "attachments, joints, Position(attachment) or JointPosition(joint)"),
            ("on", self.on, Attachment | Joint, "attachments and joints"),
        ):
            if not isinstance(given, list | tuple) or not given:
                raise ParameterError(f"{label} must be a list of {wanted}, got {given!r}")
            for item in given:
                if not isinstance(item, kinds):
                    raise ParameterError(f"{label} takes {wanted}, got {item!r}")
        for acted_on in self.on:
            actuated_count(acted_on)  # refuses joints with several coordinates
        set_fields(self, name=optional_text("name", self.name), of=tuple(self.of), on=tuple(self.on))
        expect(self, *self.on)

    def __str__(self) -> str:
        return self.name or f"state force on {', '.join(map(str, self.on))}"

    def parts(self) -> tuple[Load | ForceElement, ...]:
        """Return the elementary parts of this state-dependent force, in the order of ``on``: a ``Force`` on each
        point of a body, and a ``JointElement`` in each joint. Each part calls the user's function and uses its own
        components of the result."""
        measured, indices, rates, count = [], [], [], 0
        for item in self.of:
            source, own = _source(item)
            measured.append(source)
            indices += [count + k for k in own[0]]
            rates += [count + k for k in own[1]]
            count += measured_count(source)
        sizes = [actuated_count(item) for item in self.on]
        ends = np.cumsum(sizes)
        found: list[Load | ForceElement] = []
        for item, end, size in zip(self.on, ends.tolist(), sizes, strict=True):
            share = StateValues(
                self.function, np.array(indices), np.array(rates), end - size, end, sum(sizes), str(self)
            )
            law = StateLaw(share, measured)
            if isinstance(item, Attachment):
                found.append(Force(item, law, name=self.name))
            else:
                found.append(JointElement(item, item.coordinate_name(None), force=law, name=self.name))
        return tuple(found)


def _source(item: Measured) -> tuple[Attachment | Joint, tuple[list[int], list[int]]]:
    """Return the point or joint that an ``item`` of the user's argument ``of`` (a sensor, point or joint)
    measures, and two lists of indices. The first list selects positions, the second rates, from all values
    measured there: three positions, then three velocities of a point; value and rate of each joint coordinate in
    turn. ParameterError is raised for points of the ground."""
    if isinstance(item, Position):
        if not isinstance(item.port, Attachment):
            raise ParameterError(f"of takes points of bodies, got {item}")
        item = item.port
    if isinstance(item, Attachment):
        return item, ([0, 1, 2], [3, 4, 5])
    joint, chosen = (item.joint, item.number) if isinstance(item, JointPosition) else (item, None)
    numbers = range(len(joint.coordinate_names)) if chosen is None else [chosen]
    return joint, ([2 * k for k in numbers], [2 * k + 1 for k in numbers])
