"""Readings that motions and equilibria have in common: positions, forces, sensors; tables and labelled arrays."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, whole
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.force_elements import ForceElement
from phlexible.description.interactions.loads import Axes
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.relations import JointRelation
from phlexible.description.placed_wholes import PlacedWhole
from phlexible.description.ports import Attachment, PlacedBody, Port
from phlexible.errors import writing
from phlexible.extras import optional
from phlexible.measure import kinematics, reactions, section_forces
from phlexible.measure.section_forces import BeamStress, MeshStress, SectionForces
from phlexible.measure.sensors import (
    ElasticDisplacement,
    ElementForce,
    JointPosition,
    Position,
    Reaction,
    ReactionMoment,
    checked_sensors,
    reading_columns,
)
from phlexible.results.files.journal import FIELDS, labels
from phlexible.state.recorded_run import RecordedRun


class Readings:
    """Readings of sensors, joints and bodies at the instants 0 .. N of a run. An equilibrium has one instant and no
    axis of time.

    Attributes:
        run: the numbers with the system that they are of.
    """

    run: RecordedRun

    def _shown(self, values: Array) -> Array:
        """Return values of shape (N + 1, ...) in the form that users get: unchanged for a motion, without the axis
        of time for an equilibrium, which overrides this."""
        return values

    @overload
    def __getitem__(self, name: str) -> PlacedBody | PlacedWhole: ...

    @overload
    def __getitem__(self, name: Sensor) -> Array: ...

    def __getitem__(self, name: str | Sensor) -> PlacedBody | PlacedWhole | Array:
        """Return the values of a sensor at all instants, as ``motion[ph.Position(beam.end)]``. For a text return
        the body of that ``name`` instead, for its points.

        Raises:
            ModelError: no body has the name, or the sensor is of another model.
        """
        return self._shown(name.read(self.run)) if isinstance(name, Sensor) else self.run.mechanism[name]

    def position(self, attachment: Port) -> Array:
        """Return the world position of a point of a body (``attachment``) at all instants, shape (N + 1, 3) [m];
        at an equilibrium shape (3,)."""
        return self[Position(attachment)]

    def rotation(self, target: PlacedBody | Port) -> Array:
        """Return the rotation matrices from body axes to world axes of the ``target`` at all instants, shape (N +
        1, 3, 3); at an equilibrium shape (3, 3). The target is a body, or a point of a body for the material
        around it."""
        return self._shown(kinematics.rotation(self.run, target))

    def elastic_displacement(self, attachment: Attachment) -> Array:
        """Return the elastic displacement of a point of a body (``attachment``) in body axes at all instants,
        shape (N + 1, 3) [m]. It is relative to the undeformed body and zero on rigid bodies; at an equilibrium the
        shape is (3,).

        It depends on the frame (docs/conventions.md). That of the point in the world is ``ph.Displacement``.
        """
        return self[ElasticDisplacement(attachment)]

    def elastic_coordinates(self, body: PlacedBody) -> Array:
        """Return the elastic coordinates of a body at all instants, shape (N + 1, n). They are amplitudes of its
        shape functions; for strings, soft bodies and shells they are the nodal vectors in world axes."""
        return self._shown(kinematics.elastic_coordinates(self.run, body))

    def tension(self, string: PlacedBody) -> Array:
        """Return the tension of a string at its quadrature points (one an element, two if quadratic) at all
        instants, shape (N + 1, points) [N].

        Shape (N + 1, points), from s = 0 on, with the viscous part; negative where the string is pressed together.
        """
        return self._shown(reactions.tension(self.run, string))

    def stretch(self, string: PlacedBody) -> Array:
        """Return the stretch ``|dr/ds|`` of a string (deformed over undeformed length, 1 undeformed) at its
        quadrature points at all instants, shape (N + 1, points)."""
        return self._shown(reactions.stretch(self.run, string))

    def reaction(self, joint: Joint, axes: Axes | str = Axes.WORLD) -> Array:
        """Return the force that a joint exerts on the body of its second port at all instants, shape (N + 1, 3)
        [N]. ``axes`` says in which axes: "world", or "body" for the material at that port.

        With that of the drives in the joint; springs, dampers and motors are ``element_force``.

        Args:
            joint: of the model.
            axes: "world", or "body": those of the material at the second attachment.
        """
        return self[Reaction(joint, axes)]

    def reaction_moment(self, joint: Joint, axes: Axes | str = Axes.WORLD) -> Array:
        """Return the moment that a joint exerts on the body of its second port at all instants, shape (N + 1, 3)
        [N m]. It is about that port. ``axes`` says in which axes: "world", or "body" for the material at that
        port."""
        return self[ReactionMoment(joint, axes)]

    def element_force(self, element: ForceElement | Drive | JointRelation) -> Array:
        """Return the force or torque of an ``element`` (spring, motor, drive) along its coordinate at all
        instants, shape (N + 1,) [N or N m]. It is positive if it increases the coordinate. For a ``Gear`` it is
        the multiplier; for a ``Bushing`` the forces along and moments about its axes, shape (N + 1, 6), in the
        plane (N + 1, 3)."""
        return self[ElementForce(element)]

    def required(self, joint: Joint) -> Array:
        """Return the force or torque that the drives of a joint needed to prescribe its motion (inverse dynamics)
        [N or N m]. Its shape is (N + 1,), or (N + 1, drives) for several drives. ModelError is raised for a joint
        without drives.

        Along the driven coordinate, positive where it enlarges it; of a joint with several drives shape (N + 1,
        drives), in the order of its coordinates. The same over time as ``joint.torque`` or ``joint.force``
        gives the same motion without the drive. Where a link in between is flexible: docs/inverse_problems.md.

        Raises:
            ModelError: a joint of another model, or one without a drive.
        """
        return self._shown(reactions.drive_forces(self.run, joint))

    def angle(self, joint: Joint) -> Array:
        """Return the rotation angle of a joint's second body relative to the first at all instants, counted over
        full turns, shape (N + 1,) [rad]. ModelError is raised for a joint without an angle.

        Of ``Universal`` both angles, shape (N + 1, 2).
        """
        return self._shown(JointPosition(joint).of_kind(self.run, is_angle=True))

    def translation(self, joint: Joint) -> Array:
        """Return the translation of a joint's second point relative to the first along the joint's axis at all
        instants, shape (N + 1,) [m]. For a ``Planar`` joint the shape is (N + 1, 2), along both directions of the
        plane. ModelError is raised for a joint without a translation."""
        return self._shown(JointPosition(joint).of_kind(self.run, is_angle=False))

    def section_forces(self, body: PlacedBody | PlacedWhole, x: ArrayLike | None = None) -> SectionForces:
        """Return normal and shear force, torsion and bending moments at stations ``x`` (s,) [m] along the
        beam or rod ``body`` at all instants. They are in the local axes of its sections [N, N m].

        Those of the discretization, with the viscous part of the stress: normal force, torsion and
        shear are constant on an element, moments linear.

        Args:
            body: a beam or rod.
            x: stations along it, shape (s,) [m]; at a node the values to its right, of a rod linear between the
                quadrature points of its elements. None: two Gauss points an element, where moments converge
                fastest; of a rod its quadrature points.

        Raises:
            ModelError: not a beam of this model.
            ParameterError: stations off the beam.
        """
        return section_forces.section_forces(self.run, body, x)

    def stress(
        self,
        body: PlacedBody | PlacedWhole,
        x: ArrayLike | None = None,
        fibres: ArrayLike | None = None,
    ) -> BeamStress:
        """Return the largest and smallest normal stress and the largest shear stress in cross-sections of the beam
        or rod ``body`` at all instants [Pa]. They are computed from the section forces at the positions ``x``
        along the axis [m]. Normal stress is evaluated at the section points ``fibres``, shape (f, 2) for f points
        (y, z) [m], or (None) over the whole section.

        Args:
            body: a beam.
            x: stations, as in ``section_forces``.
            fibres: points of the section ((y, z), ...), shape (f, 2) [m]; None: the whole outline of a
                ``CircularSection`` or ``RectangularSection``.

        Raises:
            ModelError, ParameterError: as ``section_forces``; a ``Section`` without fibres.
        """
        return section_forces.stress(self.run, body, x, fibres)

    def mesh_stress(self, body: PlacedBody, nodes: Sequence[int] | None = None, every: int = 1) -> MeshStress:
        """Return the stress of a meshed ``body`` at its ``nodes`` [Pa] at all instants, or at each ``every``-th
        instant. With ``nodes`` None the nodes of the surface are used. An example is
        ``motion.mesh_stress(part).von_mises``.

        The mean of the elements around each node, so that peaks at notches need a fine mesh there.

        Args:
            body: of ``FlexibleBody.from_mesh``, or a ``Shell``.
            nodes: numbers of ``body.points.nodes``; None: those of the surface at corners of elements. Of a shell
                numbers of ``surface_positions``: top, middle and bottom.
            every: each so many instants.

        Raises:
            ModelError: a body without a mesh, or of another model.
            ParameterError: numbers out of range.
        """
        return section_forces.mesh_stress(self.run, body, nodes, whole("every", every))


if TYPE_CHECKING:
    import pandas
    import xarray


# The raw numbers of a run as an xarray Dataset with names and units.


def to_xarray(run: RecordedRun) -> "xarray.Dataset":
    """Return the recorded arrays of a run as an xarray Dataset, one variable for each array that is not empty.
    Variables have named dimensions, units and a description; bodies, joints and so on are coordinates.
    MissingExtraError is raised if xarray is not installed.

    Without the others a table of it, ``to_xarray().to_dataframe()``, has rows.

    Raises:
        MissingExtraError: xarray is not installed.
    """
    xr = optional("xarray", "xarray")
    variables = {
        name: (
            field.dimensions,
            getattr(run.recording, name),
            {"units": field.units, "long_name": field.meaning},
        )
        for name, field in FIELDS.items()
        if getattr(run.recording, name).size
    }
    used = {dimension for dimensions, _, _ in variables.values() for dimension in dimensions}
    coordinates = {name: values for name, values in labels(run.system, run.recording).items() if name in used}
    dataset: xarray.Dataset = xr.Dataset(variables, coordinates, {"units": "SI"})
    return dataset


# What sensors measured as tables: data frames and text.

TIME = "time [s]"


def to_dataframe(run: RecordedRun, sensors: Sequence[Sensor]) -> "pandas.DataFrame":
    """Return a pandas table of the values of ``sensors`` in a run, a column for each component by name and unit.
    The index is time [s]; ``run`` is the recorded run."""
    frames = optional("pandas", "xarray")
    found: pandas.DataFrame = frames.DataFrame(reading_columns(checked_sensors("sensors", sensors), run))
    found.index = frames.Index(run.time, name=TIME)
    return found


def to_csv(run: RecordedRun, path: str, sensors: Sequence[Sensor]) -> None:
    """Write time and the values of ``sensors`` in a recorded ``run`` to the file ``path`` as comma-separated text.
    The first line has the column names; numbers have all 17 digits.

    Raises:
        ResultFileError: the file cannot be written.
    """
    found = reading_columns(checked_sensors("sensors", sensors), run)
    heads = ",".join(f'"{name}"' if "," in name else name for name in (TIME, *found))
    with writing(path):
        np.savetxt(path, np.column_stack([run.time, *found.values()]), "%.17g", ",", header=heads, comments="")
