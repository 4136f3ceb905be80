"""A pose in which all forces balance: what it is asked is what a motion is asked, at one instant."""

from collections.abc import Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.force_elements import ForceElement
from phlexible.description.interactions.loads import Axes
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.joints.joint import Joint
from phlexible.description.mechanism.parts import counted
from phlexible.description.placed_wholes import PlacedWhole
from phlexible.description.ports import Attachment, PlacedBody, Port
from phlexible.display import beside, table
from phlexible.linear.equilibria import OperatingPoint
from phlexible.linear.linearize import growth
from phlexible.linear.mechanics import linear_mechanics
from phlexible.measure.mesh_stress import MeshStress
from phlexible.measure.section_forces import BeamStress, SectionForces
from phlexible.measure.sensors import ambiguous_displacement
from phlexible.pictures.style import picture_html
from phlexible.results.motion import Motion
from phlexible.state.layout import State
from phlexible.state.recording import Recording
from phlexible.state.system import System

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Equilibrium:
    """A model at rest under gravity, loads, springs and joints; SI units, world axes.

    Attributes:
        state: for ``simulate(initial=...)`` and ``linearize(about=...)``.
        motion: this one instant as a motion, for all that has no name here.
    """

    def __init__(self, system: System, point: OperatingPoint, recording: Recording) -> None:
        self._system, self._point = system, point
        self.motion = Motion(system, recording, is_at_rest=True)

    @property
    def state(self) -> State:
        """Of all bodies, with velocities of zero."""
        return self._point.state

    @cached_property
    def growth_rate(self) -> float:
        """Greatest rate at which a small motion away from it grows [1/s]; 0 where it is stable."""
        return growth(linear_mechanics(self._system, self._point)[0])

    @property
    def is_stable(self) -> bool:
        """Whether no motion that joints allow lowers the potential energy to second order."""
        return self.growth_rate == 0.0

    @overload
    def __getitem__(self, name: str) -> PlacedBody | PlacedWhole: ...

    @overload
    def __getitem__(self, name: Sensor) -> Array: ...

    def __getitem__(self, name: str | Sensor) -> PlacedBody | PlacedWhole | Array:
        """What a sensor measures, without the axis of time; or the body with a name. Accelerations are zero."""
        return self.motion[name][0] if isinstance(name, Sensor) else self.motion[name]

    def position(self, attachment: Port) -> Array:
        """World position, shape (3,) [m]."""
        return self._one(self.motion.position(attachment))

    def rotation(self, target: PlacedBody | Port) -> Array:
        """Body to world of a body, or of the material around an attachment, shape (3, 3)."""
        return self._one(self.motion.rotation(target))

    def elastic_displacement(self, attachment: Attachment) -> Array:
        """Displacement in the frame of the body, body axes, shape (3,) [m]."""
        return self._one(self.motion.elastic_displacement(attachment))

    def displacement(self, attachment: Attachment) -> Array:
        """``elastic_displacement`` by its old name; warns where it could be taken for the one in the world."""
        return self._one(ambiguous_displacement(self.motion.run, attachment))

    def angle(self, joint: Joint) -> Array:
        """Angle of a joint between -pi and pi, shape () [rad]; (2,) of ``Universal``."""
        return self._one(self.motion.angle(joint))

    def translation(self, joint: Joint) -> Array:
        """Position in a joint along its axis, shape () [m]; (2,) of ``Planar``."""
        return self._one(self.motion.translation(joint))

    def reaction(self, joint: Joint, axes: Axes | str = Axes.WORLD) -> Array:
        """Force of a joint on its second attachment, shape (3,) [N]."""
        return self._one(self.motion.reaction(joint, axes))

    def reaction_moment(self, joint: Joint, axes: Axes | str = Axes.WORLD) -> Array:
        """Moment of a joint on its second attachment about its point, shape (3,) [N m]."""
        return self._one(self.motion.reaction_moment(joint, axes))

    def element_force(self, element: ForceElement | Drive) -> Array:
        """Force or torque of a spring or drive along its coordinate, shape () or (forces,) [N or N m]."""
        return self._one(self.motion.element_force(element))

    def required(self, joint: Joint) -> Array:
        """Force or torque that the drives of a joint hold it with, shape () or (drives,) [N or N m]."""
        return self._one(self.motion.required(joint))

    def mesh_stress(self, body: PlacedBody, nodes: Sequence[int] | None = None) -> MeshStress:
        """As of a motion, with one instant: arrays of shape (1, nodes) and (1, nodes, 6)."""
        return self.motion.mesh_stress(body, nodes)

    def stretch(self, string: PlacedBody) -> Array:
        """``|dr/ds|`` at the quadrature points of a string, shape (points,)."""
        return self._one(self.motion.stretch(string))

    def elastic_coordinates(self, body: PlacedBody) -> Array:
        """eta of a body, shape (n,)."""
        return self._one(self.motion.elastic_coordinates(body))

    def tension(self, string: PlacedBody) -> Array:
        """Tension at the quadrature points of a string, shape (points,) [N]."""
        return self._one(self.motion.tension(string))

    def section_forces(self, body: PlacedBody | PlacedWhole, x: ArrayLike | None = None) -> SectionForces:
        """As of a motion, with one instant: arrays of shape (1, stations)."""
        return self.motion.section_forces(body, x)

    def stress(
        self,
        body: PlacedBody | PlacedWhole,
        x: ArrayLike | None = None,
        fibres: ArrayLike | None = None,
    ) -> BeamStress:
        """As of a motion, with one instant: arrays of shape (1, stations)."""
        return self.motion.stress(body, x, fibres)

    @property
    def potential_energy(self) -> float:
        """Strain, springs and gravity [J]."""
        return float(self.motion.energy.total[0])

    def plot(self, path: str | PathLike[str] | None = None, scale: float = 1.0) -> "Figure":
        """The deformed mechanism; ``scale`` enlarges deformations."""
        return self.motion.plot_mechanism([self.state.time], path, scale)

    def _repr_html_(self) -> str:
        """For notebooks: a picture, and whether it is stable."""
        rows = [
            ("stable", "yes" if self.is_stable else f"no, grows with exp({self.growth_rate:.3g} t)"),
            ("potential energy", f"{self.potential_energy:.6g} J"),
        ]
        title = f"Equilibrium of {counted(self.motion.mechanism)}"
        return beside(picture_html(self.plot, "the mechanism at rest"), table(rows, title=title))

    def __repr__(self) -> str:
        kind = "stable" if self.is_stable else f"unstable, grows with exp({self.growth_rate:.3g} t)"
        return f"Equilibrium({kind}, {self.motion.mechanism!r})"

    def _one(self, values: Array) -> Array:
        return np.asarray(values[0])
