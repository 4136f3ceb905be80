"""Result of a simulation, ``Motion``, with all quantities that are computed from it."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from phlexible.algebra.arrays import Array, IntArray, file_path, finite, nearest_entries, whole
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.joints.joint import Joint
from phlexible.description.ports import PlacedBody, Port
from phlexible.errors import ModelError, ParameterError
from phlexible.measure import (
    kinematics,
    reactions,
)
from phlexible.measure.deformation_limits import large_deflections, large_strains
from phlexible.measure.energy import Energy, Happened, Momentum, energy_of, momentum, occurred_events
from phlexible.measure.quality import (
    MotionCheck,
    long_steps,
    missing_stiffening,
    motion_check,
)
from phlexible.measure.sensors import (
    JointRate,
)
from phlexible.pictures.summaries import Figures, figures, motion_html
from phlexible.results import vtk_series
from phlexible.results.motion_pictures import LivePage, MotionPictures
from phlexible.results.readings import Readings, to_csv, to_dataframe, to_xarray
from phlexible.results.run_error import Repeatable, RunError, run_error
from phlexible.state.initial_state import InitialKind
from phlexible.state.layout import State
from phlexible.state.recorded_run import RecordedRun, RecordedStates
from phlexible.state.system import System
from phlexible.step.integration.clock import Checkpoint

if TYPE_CHECKING:
    import pandas
    import xarray

    from phlexible.derivatives.parameters import Given, Start
    from phlexible.derivatives.sensitivity import Sensitivity


# One stored instant of a recording as a state.

SAME = 1e-9  # of the duration


def stored_state(recording: RecordedStates, time: float) -> State:
    """Return the state (poses, elastic coordinates, velocities) in ``recording`` at the stored instant nearest to
    ``time`` [s]. ParameterError, which names the nearest instants, is raised if no instant is stored at ``time``
    up to round-off. Nothing is interpolated.

    Raises:
        ParameterError: no number, or no instant is stored there.
    """
    time, times = finite("time", time), recording.time
    nearest = int(nearest_entries(times, np.array([time]))[0])
    if abs(times[nearest] - time) > SAME * max(float(times[-1] - times[0]), 1e-300):
        around = ", ".join(f"{each:.9g}" for each in times[max(0, nearest - 1) : nearest + 2])
        raise ParameterError(f"no instant is stored at time = {time:g} s; the nearest ones are {around} s")
    return recording.state(nearest)


FilePath = str | PathLike[str]


class Motion(MotionPictures, Readings):
    """Motion of a mechanism: its states at N + 1 instants, and everything computed from them.

    First axis is time; vectors have shape (N + 1, 3), also in the plane; SI units, angles in radians.

    Attributes:
        mechanism: what moved; ``motion["coupler"]`` is its body of that name.
        recording: the raw numbers.
        run: these with the system that they are of.
        is_complete: False if the run stopped before its end.
        checkpoint: where the run can go on once it is saved (``model.resume``), or None.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> stone = model.add(ph.PointMass(1.0), "stone", velocity=(3.0, 0.0, 4.905))
        >>> motion = model.simulate(duration=1.0, step=0.1)
        >>> motion.position(stone.origin)[-1].round(9) + 0.0
        array([3., 0., 0.])
        >>> print(motion[ph.Velocity(stone.origin)][-1].round(9) + 0.0)
        3.0
    """

    def __init__(
        self,
        system: System,
        recording: RecordedStates,
        is_complete: bool = True,
        checkpoint: Checkpoint | None = None,
        is_at_rest: bool = False,
        warnings: list[str] | None = None,
    ) -> None:
        self.mechanism = system.mechanism
        self.is_complete = is_complete
        self.checkpoint = checkpoint
        self.recording = recording.read_only()
        self.run = RecordedRun(
            system, self.recording, is_at_rest=is_at_rest, warnings=[] if warnings is None else warnings
        )
        self._repeatable: Repeatable | str = (
            "a motion from a file, a pickle or a live run has no model to run again"
        )
        self._live_page: LivePage | str = (
            "a motion that is not of model.simulate, or did not come to its end, has no model to step"
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Return the class and arguments from which ``pickle`` recreates this motion: the system, the recorded
        states, whether it is complete, the last checkpoint, whether it is at rest, and the warnings. Cached and
        derived results are not included."""
        run = self.run
        return type(self), (
            run.system,
            self.recording,
            self.is_complete,
            self.checkpoint,
            run.is_at_rest,
            run.warnings,
        )

    def at(self, time: float) -> State:
        """Return the state of all bodies at the stored instant ``time`` [s], for ``simulate(initial=...)`` and
        ``linearize(state=...)``. ParameterError is raised if no instant is stored there.

        Raises:
            ParameterError: no instant is stored there; the message names those around it.
        """
        return stored_state(self.recording, time)

    @property
    def time(self) -> Array:
        """Return the times of the stored instants of this motion, shape (N + 1,) [s]."""
        return self.recording.time

    @cached_property
    def energy(self) -> Energy:
        """Return the energy balance of this motion at all instants [J]: kinetic and potential energies, work
        supplied and energy dissipated."""
        return energy_of(self.recording)

    @cached_property
    def momentum(self) -> Momentum:
        """Return the linear and angular momentum of the whole mechanism and the position of its centre of mass at
        all instants, world axes."""
        return momentum(self.run)

    @property
    def events(self) -> tuple[Happened, ...]:
        """Return the events of ``model.at`` (constraints that lock or release) that occurred in this motion, in
        the order of time."""
        return occurred_events(self.recording, self.mechanism)

    @property
    def iterations(self) -> IntArray:
        """Return the number of Newton iterations of the run from t = 0 to each stored instant, shape (N + 1,)."""
        return self.recording.iterations

    @property
    def halvings(self) -> IntArray:
        """Return the number of time steps that failed and were halved from t = 0 to each stored instant, shape (N
        + 1,)."""
        return self.recording.halvings

    @property
    def contact_steps(self) -> IntArray:
        """Return the number of short time steps that were taken around contacts from t = 0 to each stored instant,
        shape (N + 1,)."""
        return self.recording.contact_steps

    def velocity(self, attachment: Port) -> Array:
        """Return the velocity of a point ``attachment`` of a body or the ground in world axes at all instants,
        shape (N + 1, 3) [m/s]. Recorded velocities are first projected so that they satisfy the joints."""
        return kinematics.velocity(self.run, attachment)

    def angular_velocity(self, target: PlacedBody | Port) -> Array:
        """Return the angular velocity of the ``target`` in world axes at all instants, shape (N + 1, 3) [rad/s].
        The target is a body, or a point of a body for the material around it. Recorded velocities are first
        projected so that they satisfy the joints."""
        return kinematics.angular_velocity(self.run, target)

    def slack_parts(self) -> list[reactions.SlackPart]:
        """Return the strings that were slack (compressed) in this motion as a list. For each its first slack
        element and the time from which it is slack [s] are given."""
        return reactions.slack_parts(self.run)

    @property
    def multipliers(self) -> Array:
        """Return the Lagrange multipliers (joint forces and moments) of all constraint rows at all instants, shape
        (N + 1, rows) [N or N m]. Rows are ordered joint after joint; a row is one scalar equation of a joint or
        drive.

        Of second order in the step: the mean of the adjacent steps where these have one length, otherwise, and
        at both ends, from the accelerations there (docs/theory.md, 4).

        Those of redundant joints are not unique; these are the smallest ones (``RedundancyWarning``).
        """
        return self.run.multipliers

    def translation_rate(self, joint: Joint) -> Array:
        """Return the rate of a joint's translation at all instants, shape (N + 1,), or (N + 1, 2) for two
        translations [m/s]. Recorded velocities are first projected so that they satisfy the joints. ModelError is
        raised for joints without a translation."""
        return JointRate(joint).of_kind(self.run, is_angle=False)

    def rate(self, joint: Joint) -> Array:
        """Return the rate of a joint's angle at all instants, shape (N + 1,) [rad/s]; for a joint without an
        angle the rate of its translation [m/s]. Recorded velocities are first projected so that they satisfy
        the joints."""
        sensor, names = JointRate(joint), joint.coordinate_names
        return sensor.of_kind(self.run, is_angle=not names or any("angle" in name for name in names))

    @property
    def step_error(self) -> Array:
        """Return the largest estimated local error of the time steps between each stored instant and the instant
        before, shape (N + 1,). It is relative to the length of the longest body.

        From second differences of velocities (docs/theory.md, 4; (4.22)); zero where the step has just changed.
        """
        return self.recording.step_error

    def check(self) -> MotionCheck:
        """Return a summary of this motion to be printed: errors of the energy balance, joint gaps, errors of time
        steps, limits of the body models and warnings of the run.

        Example:
            >>> motion = ph.gallery.double_pendulum().simulate(duration=0.1, step=1e-3)
            >>> motion.check().is_clean
            True
        """
        return motion_check(self.run)

    def run_error(self, *sensors: Sensor) -> RunError:
        """Return the estimated error of sensor values over the whole run, from two further runs with time steps
        twice and four times as long.

        They take three quarters of the time of the run. The estimate is of the greatest error of all sensors up to
        each instant; the last instant alone would tell less, since errors cross zero (docs/accuracy.md).

        Args:
            sensors: of one unit.

        Raises:
            ParameterError: no sensors, several units, or a run with too few steps.
            ModelError: a run that cannot be done again: one with ``tolerance=``, ``stop=`` or events, one that was
                loaded, resumed or stepped live, or one whose controllers remember what was before.

        Example:
            >>> crank = ph.gallery.crank_slider()
            >>> motion = crank.simulate(duration=0.01, step=5e-5, initial="quasi_static")
            >>> error = motion.run_error(ph.Position(crank["slider"].origin))
            >>> error.greatest < 1e-4
            True
        """
        return run_error(self.run, self.repeatable, sensors)

    @property
    def repeatable(self) -> Repeatable:
        """Return the description of the run of this motion with the function that repeats it with other time
        steps. ModelError with the reason is raised if the run cannot be repeated.

        Raises:
            ModelError: it cannot be.
        """
        if isinstance(self._repeatable, str):
            raise ModelError(f"the error of a run is found by repeating it: {self._repeatable}")
        return self._repeatable

    def long_steps(self, steps: int | None = None) -> list[str]:
        """Return texts of warnings that time steps of this motion were too long for the motion, usually none.
        ``steps`` is the number of time steps; if it is None, fewer criteria are checked.

        Args:
            steps: how many there were, if all of them had one length and are stored.
        """
        return long_steps(self.run, None if steps is None else whole("steps", steps))

    def large_deflections(self) -> list[str]:
        """Return texts of warnings about beams, rods and meshed bodies that deformed in this motion beyond the
        limits of their strain measure, usually none."""
        return large_deflections(self.run)

    def large_strains(self) -> list[str]:
        """Return texts of warnings about beams whose strain exceeded 0.1 in this motion, usually none. At most
        2000 instants are checked."""
        return large_strains(self.run)

    def missing_stiffening(self) -> list[str]:
        """Return texts of warnings about beams with linear strain in fast rotation, where centrifugal stiffening is
        missing from their model, usually none."""
        return missing_stiffening(self.run)

    def to_xarray(self) -> "xarray.Dataset":
        """Return the recorded arrays of this motion as an xarray Dataset with names and units (needs
        ``phlexible[xarray]``)."""
        return to_xarray(self.run)

    def to_dataframe(self, sensors: Sequence[Sensor]) -> "pandas.DataFrame":
        """Return a pandas table of sensor values over time, with a column for each component by name and unit
        (needs ``phlexible[xarray]``)."""
        return to_dataframe(self.run, sensors)

    def to_csv(self, path: FilePath, sensors: Sequence[Sensor]) -> None:
        """Write the values of ``sensors`` over time to the file ``path`` of comma-separated text with all digits.

        Raises:
            ResultFileError: the file cannot be written.
        """
        to_csv(self.run, file_path("path", path), sensors)

    def sensitivity(
        self,
        build: Callable[[Any], Any],
        parameters: "Given",
        sensors: Callable[[Any], Sequence[Sensor] | Sensor],
        *,
        initial: "Start" = InitialKind.UNDEFORMED,
        numerical_damping: float = 0.0,
        scales: Mapping[str, float] | None = None,
    ) -> "Sensitivity":
        """Return the derivatives of sensor values at all instants of this motion with respect to a few
        ``parameters`` (direct method). The function ``build`` returns a model for all parameters, ``sensors`` its
        sensors. ``initial`` (the start) and ``numerical_damping`` are the arguments of ``simulate``. ``scales``
        are typical sizes of parameters by name, where values do not show them.

        Exact derivatives of the computed motion. Its steps are not taken again where they have one size and nothing
        happens between them. Of one number and many parameters ``ph.gradient`` is the way.

        Args:
            build: parameters -> model, as of ``ph.gradient``: this motion is of ``build(parameters)``.
            parameters: by name, of numbers, arrays and ``ph.Signal``, or one array.
            sensors: model -> sensors; they are made of the model that it is given.
            initial: as of ``simulate``, or a function of the model that returns its start.
            numerical_damping: as of ``simulate``.
            scales: sizes by name of parameters whose value does not tell it, such as zero.

        Raises:
            ParameterError: another model, or a motion without all of its steps, or of steps of several sizes.
            ModelError: parts or sensors that cannot be differentiated, see ``ph.gradient``.
        """
        from phlexible.derivatives.sensitivity import sensitivity  # here: the compiler takes long to import

        return sensitivity(self.recording, build, parameters, sensors, initial, numerical_damping, scales)

    def save(self, path: FilePath) -> None:
        """Write this motion with its model to the HDF5 results file ``path``; an existing file of that name
        is replaced once the new one is complete.

        Raises:
            ResultFileError: the file cannot be written, or a run is writing to it.
        """
        from phlexible.results.files import files

        files.save(file_path("path", path), files.SavedRun(self.run, self.is_complete, self.checkpoint))

    @classmethod
    def load(cls, path: FilePath) -> Self:
        """Return the motion in the results file ``path``, which ``save`` or a simulation wrote. A simulation may
        be finished, still running or killed. Functions of time are known at t = 0 only.

        Raises:
            ResultFileError: no such file, another kind of file, or a damaged one.
        """
        from phlexible.results.files import files

        saved = files.load(file_path("path", path))
        return cls(saved.run.system, saved.run.recording, saved.is_complete, saved.checkpoint)

    def export(self, path: str | PathLike[str], every: int | None = None, *, progress: bool | None = None) -> None:
        """Write this motion as a series of VTK files for ParaView (needs ``phlexible[mesh]``) with the index
        ``path``. With ``every`` = 3 each third instant is written. ``progress`` says whether a progress bar
        is shown.

        Meshed bodies with all nodes, their elastic displacement (world axes) and von Mises stress; other bodies as
        their surface or lines.

        Args:
            path: of the index, ending in ``.pvd``; the ``.vtu`` files lie beside it. It is whole after each
                instant: what was written before a stop can be opened.
            every: each so many instants; None: as many as leave at most 200.
            progress: a bar; None: on a terminal.

        Raises:
            ParameterError: another ending.
            MissingExtraError: meshio is not installed.
            ResultFileError: a file cannot be written.
        """
        chosen = None if every is None else whole("every", every)
        vtk_series.export(self.run, file_path("path", path), chosen, progress)

    def summary(self) -> Figures:
        """Return sizes of the model, the time step, figures of the solver and the final energy balance as a
        dictionary by name. ``print`` shows them in aligned lines."""
        return figures(self.run, self._last_step)

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: a picture of this motion, figures of its run and its energies."""
        return motion_html(self.run, self.energy)

    def _ipython_key_completions_(self) -> list[str]:
        """Return the names of bodies that notebooks offer after ``motion["``."""
        return self.mechanism._ipython_key_completions_()

    def __repr__(self) -> str:
        step, stored = self._last_step, float(np.diff(self.time[-2:]).sum())
        cut = f" in steps of {step:.4g} s" if step is not None and step < 0.99 * stored else ""
        return f"Motion({self.run.count} instants to t = {self.time[-1]:g} s{cut}, {self.mechanism!r})"

    @property
    def _last_step(self) -> float | None:
        """Return the size of the time steps at the end of the run [s], from the checkpoint: the user's step,
        halved as often as the tolerance demanded. None if there is no checkpoint."""
        return None if self.checkpoint is None else self.checkpoint.step / 2**self.checkpoint.level
