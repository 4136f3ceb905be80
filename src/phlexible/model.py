"""Model of a mechanism that can be simulated, the public class ``Model``."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import partial
from math import ceil
from os import PathLike
from typing import TYPE_CHECKING, Self, overload

from numpy.typing import ArrayLike

from phlexible.algebra.arrays import (
    NEEDS_WHOLE_RUNS,
    SAME_INTERVAL,
    file_path,
    finite,
    flag,
    non_negative,
    option,
    positive,
    text,
    whole_runs,
    whole_steps,
)
from phlexible.bodies.stress_space import StressContinuity
from phlexible.description.interactions.functions import receive
from phlexible.description.interactions.loads import Load
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.mechanism.events import Condition
from phlexible.description.mechanism.mechanism import Mechanism, warn_of_unused_parts
from phlexible.description.mechanism.membership import ports_of
from phlexible.description.ports import PlacedBody
from phlexible.errors import (
    LeftOutWarning,
    ModelError,
    ParameterError,
    StepWarning,
    UnstableEquilibriumWarning,
    listed_warnings,
    warn_user,
)
from phlexible.leaves import leaf_function
from phlexible.linear.equilibria import OperatingKind, OperatingPoint, operating_point
from phlexible.linear.linearize import Form, linearization
from phlexible.linear.observed import observed_linearization
from phlexible.linear.signals import Input, Output
from phlexible.measure.quality import findings, stiff_strings
from phlexible.measure.when import When, watched_conditions
from phlexible.pictures.mechanism_plot import plot_model
from phlexible.pictures.summaries import model_html
from phlexible.results.equilibrium import AssembledModel, Equilibrium, assembled_model
from phlexible.results.files.run_output import RunOutput
from phlexible.results.linear_model import LinearModel
from phlexible.results.live import LiveRun
from phlexible.results.motion import Motion
from phlexible.results.motion_pictures import LivePage
from phlexible.results.progress import is_bar_shown, progress_bar
from phlexible.results.run_error import Repeatable, position_error
from phlexible.results.run_warnings import attach_motion, warn_about_run
from phlexible.state.forces import controllers
from phlexible.state.initial_pose import assembled_pose, moved_model
from phlexible.state.initial_state import InitialKind, function_contents
from phlexible.state.instants import Instants
from phlexible.state.layout import State
from phlexible.state.many_starts import Start
from phlexible.state.recorded_run import RecordedRun, RecordedStates
from phlexible.state.redundancy import check_redundancy
from phlexible.state.system import System
from phlexible.step.integration.clock import Checkpoint, breakpoints_of, clock, clock_from
from phlexible.step.integration.composition import check_lossless
from phlexible.step.integration.controllers import check_periods
from phlexible.step.integration.schemes import ModelCache, StepOptions
from phlexible.step.integration.simulation import Simulation
from phlexible.step.integration.start import check_rates, checked_initial_state, recorded_state
from phlexible.step.integration.step_calls import StartCall, WholeRun, completed
from phlexible.step.integration.stepper import Stepper

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


COMPARED = 4
"""Steps in an interval of the output, at least: its instants are those of runs with 2 and 4 times the step."""
MOST_RUNS = 6  # to a tolerance of a whole run
SAFETY = 0.8  # of the tolerance, that the next run aims at
FASTEST = 16.0  # by which a run has more steps than the one before


class ToleranceOf(Enum):
    """Scope of ``tolerance=`` of a run, which is the error of each step or that of the whole run."""

    STEP = "step"
    RUN = "run"


class Model(Mechanism):
    """A mechanism that can be simulated: bodies, joints between them and loads on them. World axes, SI units.

    Args:
        gravity: acceleration of gravity, shape (3,) [m/s^2].
        dimension: 3: space; 2: motion in the xy plane; 1: along the x axis, of point masses, strings and rods.

    Attributes:
        ground: makes fixed points and moving frames for joints.

    Raises:
        ParameterError: a dimension other than 1, 2 or 3, or a gravity out of the plane or off the line.

    Example:
        >>> model = ph.Model(gravity=(0, -9.81, 0))
        >>> bob = model.add(ph.PointMass(1.0), "bob", position=(1, 0, 0))
        >>> model.connect(ph.Distance(model.ground.at((0, 0, 0)), bob.origin))
        Distance(ground.at(0, 0, 0), bob.origin)
        >>> motion = model.simulate(duration=1.0, step=1e-3)
        >>> print(round(motion.momentum.linear[0, 1], 6) + 0.0)
        0.0
        >>> bool(abs(motion.energy.balance_error).max() < 1e-12)
        True
    """

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, 0.0), dimension: int = 3) -> None:
        super().__init__(gravity, dimension)
        self._cache = ModelCache()

    def __getstate__(self) -> dict[str, object]:
        """Return the state of a model for pickles, without cached numbers, which are computed again."""
        return {name: value for name, value in self.__dict__.items() if name != "_cache"}

    def __setstate__(self, state: dict[str, object]) -> None:
        super().__setstate__({**state, "_cache": ModelCache()})

    def simulate(
        self,
        duration: float,
        step: float | None = None,
        *,
        initial: InitialKind | str | State | Equilibrium = InitialKind.UNDEFORMED,
        order: int = 2,
        every: int = 1,
        numerical_damping: float = 0.0,
        tolerance: float | None = None,
        of: ToleranceOf | str = ToleranceOf.STEP,
        output_step: float | None = None,
        output: str | PathLike[str] | None = None,
        overwrite: bool = False,
        stop: When | None = None,
        specialize: bool = False,
        progress: bool | None = None,
    ) -> Motion:
        """Simulate this model from t = 0 over a ``duration`` in time steps of size ``step`` [s] and return its
        motion. Energy balance, momenta and joints are exact for any size; with a ``tolerance`` the size follows
        from the estimated error.

        Ctrl-C ends the run early and returns what was computed, with a warning; ``motion.is_complete`` is then
        False. With ``of="run"`` it raises ``KeyboardInterrupt``.

        Args:
            duration: [s]; one that is no multiple of the step ends with a shorter step.
            step: [s]; may be left out with ``tolerance`` and ``output_step``.
            initial: "undeformed", or "quasi_static": the elastic deformation of the rigid motion,
                without the axial ringing that an undeformed start sets off (strings, soft bodies and shells stay
                as they are placed, the last two with a warning); or a state, ``motion.at(t)`` or
                ``model.equilibrium()``, with whose time it begins.
            order: 2, or 4 or 6 for models without damping and controllers: each step is then composed of 10 or
                18, some of them backwards; docs/accuracy.md says when that pays.
            every: store each every-th step.
            numerical_damping: gamma >= 0; a step loses gamma delta(eps)^T D delta(eps).
            tolerance: for the estimated error of a step, relative to the longest body (docs/theory.md, 4, (4.22)):
                ``step`` is then the interval of the output, which is cut into 2, 4, 8 ... equal steps, rarely
                changed; momenta, joints and the ledger stay exact. Where the number changes, velocities are
                projected onto the joints, and the energy lost is booked as dissipated. None: steps as given.
            of: what the tolerance is for: "step", or "run": the estimated error of all places up to the end,
                relative to the longest body, met by several runs with equal steps, each judged by runs with twice
                and four times its steps (``motion.run_error``). The step that was found is in ``motion.summary()``.
                It warns where shorter steps do not help.
            output_step: interval between stored instants [s], a multiple of ``step``, in place of ``every``; with a
                ``tolerance`` in place of ``step``.
            output: results file that is written while the run goes on: ``Motion.load`` reads it at any time,
                ``resume`` goes on with it, also after a kill. HDF5 once the run has ended.
            overwrite: whether a file ``output`` that exists may be replaced.
            stop: what ends the run before its time, ``When(sensor, below=...)``; its instant is the last one.
            specialize: whether steps are taken by a program for this structure alone (bodies, joints, loads; not
                their numbers), compiled once in some ten seconds and kept: of few bodies they take half to nine
                tenths of the time (docs/performance.md). Steps that touch, models with laws of the user and those
                of four or more equal flexible bodies go on as they do without.
            progress: whether to show a progress bar; None: on a terminal; elsewhere a line each ten
                seconds to stderr.

        Raises:
            ParameterError: numbers or option strings out of range.
            JointGapError, VelocityError, RedundancyError, ModelError: see ``initial_state``.
            ResultFileError: ``output`` exists, another run writes to it, or it cannot be written.
            ConvergenceError: a step failed even after halving. Like any error during the run, of a function of
                time or of the disk, it has what was computed before in ``error.motion``.

        Example:
            >>> crank = ph.gallery.crank_slider()
            >>> motion = crank.simulate(duration=0.01, step=1e-4)
            >>> motion.time.shape
            (101,)
            >>> short = crank.simulate(duration=0.01, step=1e-4, initial=motion.at(0.01))  # goes on
            >>> round(float(short.time[-1]), 9)
            0.02
        """
        kind = _initial(initial)
        if option("of", of, ToleranceOf) is ToleranceOf.RUN:
            if tolerance is None or every != 1 or stop is not None or output is not None:
                raise ParameterError(
                    'of="run" goes with tolerance= and output_step=, and without every=, stop= and output='
                    " (motion.save writes the file)"
                )
            if flag("specialize", specialize):
                raise ParameterError('specialize=True does not go with of="run", which makes several runs')
            interval, _ = _steps(step, 1, output_step, tolerance)
            aim = positive("tolerance", tolerance)
            with whole_runs():
                return self._simulated_to(aim, duration, interval, initial, order, numerical_damping, progress)
        duration = positive("duration", duration)
        step, every = _steps(step, every, output_step, tolerance)
        if step > duration:
            raise ParameterError(f"step must not be longer than duration = {duration:g}, got {step:g}; swap them?")
        file = None if output is None else file_path("output", output)
        results = partial(RunOutput, path=file, overwrite=flag("overwrite", overwrite))
        options = StepOptions(order, every, numerical_damping, tolerance, flag("specialize", specialize))
        motion = completed(_run(self, duration, step, options, progress, results, kind, _stop(stop)))
        motion._repeatable = self._again(kind, duration, step, options, stop, motion)
        motion._live_page = self._live(kind, duration, step, options, motion)
        return motion

    def _simulated_to(
        self,
        tolerance: float,
        duration: float,
        interval: float,
        initial: InitialKind | str | State | Equilibrium,
        order: int,
        numerical_damping: float,
        progress: bool | None,
    ) -> Motion:
        """Simulate this model repeatedly with shorter time steps until the estimated position error is small
        enough, and return the motion. The aim is ``tolerance`` times the length of the longest body. If no run
        reaches it, or shorter steps stop helping, return the last run with a StepWarning. Instants are stored at
        each ``interval`` of the ``duration`` [s]; other arguments are those of ``simulate``."""
        pieces, unresolved, advice = COMPARED, 0, ""
        for _ in range(MOST_RUNS):
            motion = self.simulate(
                duration,
                interval / pieces,
                initial=initial,
                order=order,
                every=pieces,
                numerical_damping=numerical_damping,
                progress=progress,
            )
            error = position_error(motion.run, motion.repeatable)
            aim = tolerance * motion.run.system.body_length
            if error.greatest <= aim:
                return motion
            unresolved, advice = unresolved + (error.ratio <= 2), error.advice
            if unresolved == 2:
                break
            longer = (error.greatest / (SAFETY * aim)) ** (1 / order)
            pieces = COMPARED * ceil(pieces * min(max(longer, 1.2), FASTEST) / COMPARED)
        text = (
            f"the error of the run is estimated at {error.greatest:.2g} m, not {aim:.2g} m as asked, with steps of"
            f" {error.step:.2g} s; {advice or 'take smaller output steps or a larger tolerance'}"
        )
        warn_user(text, StepWarning)
        motion.run.warnings.append(text)
        return motion

    def _again(
        self,
        kind: InitialKind | State,
        duration: float,
        step: float,
        options: StepOptions,
        stop: When | None,
        motion: Motion,
    ) -> Repeatable | str:
        """Return an object that repeats a finished run of this model (``motion``) with other time steps, for error
        estimates. Return the reason as a text instead for an adaptive step, a ``stop`` condition, events or an
        unfinished run. ``kind`` is the start of the run; ``duration`` and ``step`` are in s. Repeating raises
        ``ModelError`` if the model was changed since."""
        reasons = {
            "tolerance= changes steps as it goes": options.tolerance is not None,
            "stop= ends each run at another instant": stop is not None,
            "events of model.at change the joints": bool(self.events),
            "it did not come to its end": not motion.is_complete,
        }
        for reason, holds in reasons.items():
            if holds:
                return reason
        system = motion.run.system

        def run(longer: int, every: int, duration: float) -> RecordedRun:
            if self._cache.whole_system(self) is not system:
                raise ModelError(
                    "the model was changed after the run; run_error needs it as it was: simulate again"
                )
            again = replace(options, every=every, coarsening=longer)
            with whole_runs():
                output = partial(RunOutput, path=None)
                return completed(_run(self, duration, longer * step, again, False, output, kind, None)).run

        return Repeatable(run, step, options.every, options.order, duration)

    def _live(
        self,
        kind: InitialKind | State,
        duration: float,
        step: float,
        options: StepOptions,
        motion: Motion,
    ) -> LivePage | str:
        """Return a function that makes a live web page, which simulates this model as in the run of ``motion``.
        Its arguments are a title, outputs (sensors by name) and section names; it returns HTML text. It raises
        ModelError if the model was changed since. With an adaptive step (a tolerance in ``options``), return the
        reason why there is no page, a text. ``duration`` and ``step`` are in s."""
        if options.tolerance is not None:
            return "tolerance= changes steps as it goes, and a page takes steps of one size"
        seen, system = motion.run, motion.run.system  # a motion that refers to itself is not freed at once

        def start(model: Model) -> LiveRun:
            damping = options.numerical_damping
            return model.start(step, initial=kind, order=options.order, numerical_damping=damping)

        def page(title: str, outputs: Mapping[str, Sensor] | None, sections: Sequence[str]) -> str:
            if self._cache.whole_system(self) is not system:
                raise ModelError(
                    "the model was changed after the run, and a live report steps it as it was: simulate again"
                )
            text: str = leaf_function("live_page")(
                self, start, title, outputs=outputs, duration=duration, seen=seen, sections=sections
            )
            return text

        return page

    def resume(
        self,
        path: str | PathLike[str],
        duration: float,
        step: float,
        *,
        order: int = 2,
        every: int = 1,
        numerical_damping: float = 0.0,
        tolerance: float | None = None,
        stop: When | None = None,
        progress: bool | None = None,
    ) -> Motion:
        """Continue the run of this model that the results file ``path`` contains, up to a longer ``duration``
        [s], and return the whole motion. It takes time steps of ``step`` [s] with the ``order``,
        ``numerical_damping`` and ``tolerance`` of the scheme and stores one instant in ``every``. The
        condition ``stop`` ends it, ``progress`` shows a bar.

        With the arguments of the first run, and controllers that remember nothing themselves, it has the
        same digits as if it had not stopped; with a ``tolerance`` the last instants of a run that had come to
        its end are computed once more, since a longer run may have taken other steps there. With other
        steps it goes on from velocities that are brought back onto the joints. The file stays as it is until
        there is something new.

        Args:
            path: a results file of ``simulate(output=...)`` or ``motion.save``, finished, interrupted or killed.
            duration: end of the run, counted from t = 0 [s].
            step, order, every, numerical_damping, tolerance, stop, progress: as in ``simulate``; a run that
                was stopped goes on.

        Raises:
            ResultFileError: no such file, a damaged one, one of another model, or one that a run writes to.
            ParameterError: the file already reaches ``duration``.
        """
        duration, step = positive("duration", duration), positive("step", step)
        results = partial(RunOutput, path=file_path("path", path), is_resumed=True)
        options = StepOptions(order, every, numerical_damping, tolerance)
        kind = InitialKind.UNDEFORMED
        return completed(_run(self, duration, step, options, progress, results, kind, _stop(stop)))

    def linearize(
        self,
        inputs: Sequence[Input] = (),
        outputs: Sequence[Output] | None = None,
        *,
        at: str = "given",
        form: str = "displacement",
        state: State | None = None,
        stress: str | None = None,
        about: State | Equilibrium | None = None,
    ) -> LinearModel:
        """Linearize this model about an operating point, and return linear port-Hamiltonian equations of small
        motions, from ``inputs`` (forces, torques) to ``outputs`` (sensors). ``at`` selects the point: the initial
        pose, the equilibrium near it, the pose without loads, or a steady rotation; ``state`` replaces the initial
        pose. ``about`` is an equilibrium or state at rest that is known already, in place of both. ``form`` says
        whether displacements or stresses are states, ``stress`` how those of beams are interpolated.

        Args:
            inputs: ``Force`` or ``Torque`` (a constant value: the direction), a joint (forces and torques
                along its free coordinates; one of them: ``JointForce``), an attachment (forces and
                moments along the world axes), or ``tendon.motor(...)`` (its tension).
            outputs: sensors such as ``Velocity(beam.end, (0, 1, 0))`` or ``JointPosition(joint)``, a joint
                (its rates), or an attachment (velocities); None: the velocities that make power with
                the inputs.
            at: "given": the initial pose at rest, where gravity and the loads of t = 0 must balance, stable or not;
                "static": the stable equilibrium of gravity, loads and joints near it; "unloaded": the initial pose
                without gravity, loads and preload; "steady_rotation": the rotation of the initial velocities, in
                axes that turn with it. The others are at rest, and warn where the model turns at the start.
            form: "displacement": states (q, v, multipliers); "stress": states (v, stresses,
                multipliers), about an undeformed pose at rest only: normal forces [N], moments [N m] and forces of
                springs, [B] (45).
            state: in place of the initial pose, taken at rest; for "static" where the search begins.
            stress: of form="stress": "discontinuous" (None: this) or "hermite", the space of the stresses of beams,
                see ``port_hamiltonian``.
            about: an equilibrium, or a state at rest; in place of ``at`` and ``state``.

        Raises:
            ParameterError: option strings or directions out of range, or ``about`` beside ``at`` or ``state``.
            JointGapError, RedundancyError: joints that are open, or hold the same motion twice.
            EquilibriumError: forces that do not balance at the pose, no equilibrium, an unstable one, or a motion
                that is not steady or whose linear model has periodic coefficients.
            ModelError: signals that are not of this model.

        Example:
            >>> model = ph.Model(dimension=2)
            >>> cart = model.add(ph.RigidBody(2.0, 0.1), "cart")
            >>> rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin))
            >>> spring = model.apply(rail.spring(50.0))
            >>> linear = model.linearize([cart.origin])
            >>> linear.modes(1).frequencies.round(6)  # sqrt(k / m) [rad/s]
            array([5.])
        """
        for name, signals in (("inputs", inputs), ("outputs", outputs)):
            if not isinstance(signals, list | tuple) and (signals is not None or name == "inputs"):
                raise ParameterError(f"{name} must be a list such as [beam.end], got {signals!r}")
        if isinstance(at, Equilibrium | State):
            raise ParameterError(f"at must be a string, got {at!r}; give it as about=")
        kind, shape = option("at", at, OperatingKind), option("form", form, Form)
        if about is not None:
            if kind is not OperatingKind.GIVEN or state is not None:
                raise ParameterError("about= takes the place of at= and state=; leave these out")
            if not isinstance(about, Equilibrium | State):
                raise ModelError(f"about must be an equilibrium, or a state at rest of the model, got {about!r}")
            kind = OperatingKind.STATIC if isinstance(about, Equilibrium) else kind
            state = about.state if isinstance(about, Equilibrium) else about
        if stress is not None and shape is not Form.STRESS:
            raise ParameterError(f'stress= belongs to form="stress", not to "{shape}"')
        for each in inputs or ():
            if isinstance(each, Load):
                receive(each, *ports_of(each))
        space = option("stress", "discontinuous" if stress is None else stress, StressContinuity)
        linear = linearization(self._cache.system(self), inputs, outputs, kind, state)
        if kind is OperatingKind.STATIC and about is None:
            _equilibrium(linear.system, linear.point)
        if linear.left_out:
            what = "; ".join(linear.left_out)
            warn_user(f"the linear model leaves out {what}", LeftOutWarning)
        return LinearModel.of(observed_linearization(linear, shape, space))

    def start(
        self,
        step: float,
        *,
        initial: InitialKind | str | State | Equilibrium = InitialKind.UNDEFORMED,
        order: int = 2,
        numerical_damping: float = 0.0,
    ) -> LiveRun:
        """Start a live run of this model, which the caller advances in time steps of ``step`` [s], with
        inputs that may change in between. ``initial`` is its start, ``order`` and ``numerical_damping`` are
        those of the scheme.

        Its inputs are the constant loads, torques and forces of the model by their names:
        ``model.apply(joint.torque(0.0, name="motor"))`` is ``run.inputs["motor"]``.

        Args:
            step: [s].
            initial, order, numerical_damping: as of ``simulate``.

        Raises:
            ParameterError: numbers or option strings out of range.
            JointGapError, VelocityError, RedundancyError, ModelError: see ``initial_state``; a model with events,
                or that the order does not take.

        Example:
            >>> model = ph.Model(dimension=2)
            >>> wheel = model.add(ph.RigidBody(1.0, 0.5), "wheel")
            >>> hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), wheel.origin))
            >>> motor = model.apply(hinge.torque(0.0, name="motor"))
            >>> run = model.start(step=1e-2)
            >>> run.inputs["motor"] = 2.0
            >>> run.step(50)
            >>> print(run.read(ph.JointRate(hinge)).round(3))  # torque times time over inertia
            2.0
        """
        self._need_bodies()
        if self.events:
            raise ModelError("a model with events cannot be stepped from outside; leave out model.at(...)")
        step, damping = positive("step", step), non_negative("numerical_damping", numerical_damping)
        options = StepOptions(order, numerical_damping=damping).checked()
        if options.order > 2:
            check_lossless(self, damping)
        check_periods(self, step)
        with listed_warnings() as given:
            warn_of_unused_parts(self)
            system, kind = self._cache.system(self), _initial(initial)
            for message in stiff_strings(system, step):
                warn_user(message, StepWarning)
            state, _, is_redundant = _first_instant(self._cache, system, kind)
        return LiveRun(system, options, state, step, is_redundant, self._cache, given)

    def equilibrium(self, state: State | Equilibrium | None = None, time: float | None = None) -> Equilibrium:
        """Find a pose of this model at rest in which gravity, loads, springs, prestress and joints balance,
        near the initial one or a given ``state``.

        Found by falling towards a minimum of the potential energy, which ends as Newton's method. Where symmetry
        leaves no side to fall to, as of an upright pendulum, it is unstable: a warning and ``is_stable`` say so.
        Warnings name bodies that deform beyond the limits of their models, as those of a run do.
        Functions of time, such as lengths, angles and loads, have their values at the ``time``, and joints that
        they move are closed there first. Controllers are left out with a warning.

        Args:
            state: where to look, a state or an equilibrium, such as the last of a curve; None: the initial pose.
            time: of functions of time [s]; None: that of the state, or 0.

        Raises:
            EquilibriumError: none was found.
            JointGapError, RedundancyError: joints that are open, or hold the same motion twice.
            ModelError: no bodies, or a state of another model.

        Example:
            >>> model = ph.Model(gravity=(0, 0, -9.81))
            >>> bar = model.add(ph.Beam(1.0, ph.CircularSection(0.01), ph.Material(210e9, 7850.0)), "bar")
            >>> model.connect(ph.Fixed(model.ground.at((0, 0, 0)), bar.start))
            Fixed(ground.at(0, 0, 0), bar.start)
            >>> rest = model.equilibrium()
            >>> print(round(1e3 * rest.position(bar.end)[2], 2))  # w L^4 / (8 EI) = 7.34 mm
            -7.33
        """
        warn_of_unused_parts(self)
        system = self._cache.system(self)
        start = state.state if isinstance(state, Equilibrium) else state
        instant = None if time is None else finite("time", time)
        if active := [str(part) for part, _ in controllers(system)]:
            text = "which have values in runs only; simulate until it rests, or take joint.servo or StateForce"
            warn_user(f"equilibrium() leaves out controllers, {text}: {'; '.join(active)}", LeftOutWarning)
        rest = _equilibrium(system, operating_point(system, OperatingKind.STATIC, start, instant))
        if text := rest.instability:
            warn_user(text, UnstableEquilibriumWarning)
        return rest

    def assemble(
        self,
        fixed: Iterable[PlacedBody | str] = (),
        weights: Mapping[str, float] | None = None,
    ) -> AssembledModel[Self]:
        """Return this model at the nearest pose at which its joints close, if the given positions of bodies are
        approximate. Displacements, weighted by mass, are as small as possible. Bodies in ``fixed`` stay where they
        are; those with large ``weights`` (by name) move little. The result has the new model and how each body
        moved; this model is unchanged. JointGapError if the joints cannot close.

        Bodies move undeformed, strings evenly between their ends and the nodes that joints hold, rods without
        further strains where joints close then, and all as little as possible, ``int rho |displacement|^2`` over
        all of them. Joint axes turn with the body of the
        first port. Loads, force elements, drives and handles of split beams go along; what counts from the
        initial pose (angles, rest lengths that were not given, bushings) counts from the new one. Given
        velocities that contradict the joints become the nearest ones that fit.

        Args:
            fixed: handles or names of bodies that stay where they are.
            weights: of bodies by name; one with a large weight moves little, 1 for the others.

        Returns:
            The new ``model``, and how each body moved; ``print`` shows it. This model stays as it is.

        Raises:
            JointGapError: the joints cannot close near the given poses, with the smallest gap found there; or a
                driven angle does not start at zero.
            ModelError: no bodies, or names of bodies that are not in the model.
            ParameterError: weights that are not positive.
        """
        if not isinstance(fixed, list | tuple | set | frozenset) or not isinstance(weights, Mapping | None):
            raise ParameterError(
                "assemble takes fixed=[bodies] and weights={name: weight}, got"
                f" fixed={fixed!r} and weights={weights!r}"
            )
        self._need_bodies()
        names = [body.name if isinstance(body, PlacedBody) else text("name in fixed=", body) for body in fixed]
        shares = {name: positive(f"weight of {name}", weight) for name, weight in (weights or {}).items()}
        for name in (*names, *shares):
            self[name]
        system = self._cache.system(self)
        pose = assembled_pose(system, frozenset(names), shares)
        return assembled_model(self, moved_model(self, system, pose.state), (pose.gap_before, pose.gap_after))

    @overload
    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        axes: None = None,
        labels: bool = True,
        frames: bool = False,
    ) -> "Figure": ...

    @overload
    def plot(
        self, path: str | PathLike[str] | None = None, *, axes: "Axes", labels: bool = True, frames: bool = False
    ) -> "Axes": ...

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        axes: "Axes | None" = None,
        labels: bool = True,
        frames: bool = False,
    ) -> "Figure | Axes":
        """Plot this model as it was put together, before any run, and return the figure or ``axes``. ``path``
        is the picture's file (None: none), ``labels`` adds names, ``frames`` the axes of the bodies.

        Args:
            path: of the file to write, ``.png``, ``.pdf`` or ``.svg``; None: none.
            axes: to draw into, of the model's dimension; None: a new figure.
            labels: whether to name the bodies, and to explain the symbols.
            frames: whether to draw the axes of the world and of the bodies.

        Returns:
            The axes that were given, or the new figure.

        Raises:
            ModelError: the model has no bodies.
            MissingExtraError: matplotlib is not installed.
        """
        self._need_bodies()
        return plot_model(self, path, axes, labels, frames)

    def _repr_html_(self) -> str:
        """Return HTML that notebooks show for a model: a picture and a table of its bodies."""
        return model_html(self)

    def _need_bodies(self) -> None:
        if not self.bodies:
            raise ModelError("the model has no bodies; add one with model.add(...)")


def simulation(
    model: Model, duration: float, step: float, initial: InitialKind | str | State, options: StepOptions
) -> WholeRun[Motion]:
    """Return a generator that takes the time steps of ``Model.simulate`` and whose return value is the motion. A
    caller can interleave it with other runs and take their steps together. ``duration`` and ``step`` are in s,
    ``initial`` is the initial state, ``options`` are order and damping of the scheme. Joint forces at both ends of
    the run are computed only when they are read, so functions of the user must not change before."""
    output = partial(RunOutput, path=None)
    return _run(model, duration, step, options, False, output, _initial(initial), None, is_read_at_once=True)


def is_as_started(model: Model, run: LiveRun) -> bool:
    """Return whether a model has not been changed since a live run of it was started."""
    return model._cache.system(model) is run.system


def _run(
    model: Model,
    duration: float,
    step: float,
    options: StepOptions,
    progress: bool | None,
    output: Callable[..., RunOutput],
    kind: InitialKind | State,
    stop: When | None,
    is_read_at_once: bool = False,
) -> WholeRun[Motion]:
    """Return a generator that simulates one run, new or continued from a file; its return value is the motion.
    ``kind`` is the initial state, ``duration`` and ``step`` are in s, ``stop`` is a condition that ends the run.
    ``output`` is called with the ``System`` and returns the object that stores instants. Errors get the motion so
    far; an interruption returns it. ``is_read_at_once`` allows an evaluation after the run."""
    model._need_bodies()
    options = options.checked()
    if options.order > 2:
        check_lossless(model, options.numerical_damping)
    check_periods(model, step)
    is_bar_shown(progress)  # refused before the run begins
    with listed_warnings() as given:
        warn_of_unused_parts(model)
        at_start = model._cache.system(model)
        system = model._cache.whole_system(model, at_start)
        for text in stiff_strings(system, step) if options.tolerance is None else ():
            warn_user(text, StepWarning)
    with listed_warnings(given), output(system, warnings=given) as results:
        start: State | tuple[RecordedStates, Checkpoint]
        if results.begun is None:
            begin = kind.time if isinstance(kind, State) else 0.0
            instants = clock(begin, duration, step, breakpoints_of(model))
            check_rates(system, instants.start, instants.end)
            found: Start | None = None
            if is_read_at_once and kind is InitialKind.UNDEFORMED:
                yield (call := StartCall(at_start))
                found = call.start
            initial, at, is_redundant = found or _first_instant(model._cache, at_start, kind)
            start = initial
            watched = watched_conditions(system, stop, None)
        else:
            recording, begun = results.recording, results.begun
            lacks_its_end = not results.was_ended and duration == results.reached and step == begun.step
            if not (duration > results.reached or lacks_its_end):
                raise ParameterError(
                    f"duration must be beyond the {results.reached:g} s that the file holds, got {duration!r}"
                )
            instants = clock_from(begun, duration, step, breakpoints_of(model))
            start, initial = (recording.rows(slice(-1, None)), begun), recording.state(0)
            at = system.at(initial)
            is_redundant = check_redundancy(at_start, initial, at)
            watched = watched_conditions(system, stop, recording)
        stepper = model._cache.stepper(system, options, is_redundant)
        try:
            run = Simulation(
                system,
                stepper,
                start,
                instants,
                options.every,
                results.take,
                options.tolerance,
                at if system is at_start else None,
                is_late=not results.is_file,
                is_read_at_once=is_read_at_once or (stepper.can_wait and function_contents(system) is not None),
                conditions=watched,
            )
            results.late = run.late
            is_complete = True
            try:
                with progress_bar(progress) as report:
                    yield from run.run(report)
            except KeyboardInterrupt:
                if NEEDS_WHOLE_RUNS.get():
                    raise
                is_complete = False
            motion = results.finish(is_complete)
        except BaseException as error:
            attach_motion(results.give_up(error), error)
            raise
    is_whole = is_complete and run.stopped is None
    taken = instants.full if is_whole else len(motion.time) - 1
    return warn_about_run(motion, options.stored_steps(taken))


def _equilibrium(system: System, point: OperatingPoint) -> Equilibrium:
    """Return the equilibrium of a system at an operating point as an ``Equilibrium``, with one recorded state
    whose joint forces are computed. A warning is issued for each body beyond its limits, such as a large
    deformation."""
    stepper = Stepper(point.friction.equations.assembly, is_redundant=check_redundancy(system, point.state))
    recording = recorded_state(system, stepper, point.state)
    rest = Equilibrium(system, point, recording)
    for finding in findings(rest.run):
        warn_user(*finding)
    return rest


def _initial(value: object) -> InitialKind | State:
    if isinstance(value, State):
        return value
    if isinstance(value, Motion):
        raise ParameterError(
            "initial must be a state of a motion: give motion.at(motion.time[-1]), or another instant"
        )
    return value.state if isinstance(value, Equilibrium) else option("initial", value, InitialKind)


def _stop(value: object) -> When | None:
    if value is None or isinstance(value, When):
        return value
    raise ParameterError(f"stop must be a condition such as When(sensor, below=0.0), got {value!r}")


def _steps(step: float | None, every: int, output_step: float | None, tolerance: float | None) -> tuple[float, int]:
    """Return the time step [s] (with a ``tolerance``, the output interval instead) and the number of time steps
    between stored instants, from the user's arguments. With ``step`` and ``output_step``, that number is their
    ratio, which must be whole. ParameterError is raised for combinations that contradict each other, and if
    neither is given."""
    interval = None if output_step is None else positive("output_step", output_step)
    if interval is not None and every != 1:
        raise ParameterError(f"output_step= takes the place of every=, leave it out; got every={every!r}")
    if interval is not None and tolerance is not None:
        if step is not None:
            raise ParameterError("tolerance= chooses the step: give output_step= and leave step= out")
        return interval, 1
    if step is None:
        got = "neither" if tolerance is None else "tolerance= alone"
        raise ParameterError(f"simulate needs step= (a duration in s), or tolerance= with output_step=; got {got}")
    size = positive("step", step)
    if interval is None:
        return size, every
    return size, whole_steps("output_step", interval, size, SAME_INTERVAL)


def _first_instant(cache: ModelCache, system: System, kind: InitialKind | State) -> tuple[State, Instants, bool]:
    """Return the start of a run as a state, as an instant (positions and velocities of points), and whether
    constraints are redundant there. ``kind`` is a state, which is checked, or a kind of start computed through
    ``cache``. For a moving state, a LeftOutWarning names controllers with memory and conditional events, which
    begin anew."""
    if not isinstance(kind, State):
        return cache.start.of(system, kind)
    anew = [str(part) for part, law in controllers(system) if law.delay_periods or (law.law and law.law.order)]
    anew += [str(event) for event in system.mechanism.events if isinstance(event.when, Condition)]
    if anew and kind.velocity.any():
        text = "have no memory in a state of a motion and begin anew; model.resume goes on with a saved run"
        warn_user(f"initial=: {'; '.join(anew)} {text}", LeftOutWarning)
    state = checked_initial_state(system, kind)
    at = system.at(state)
    return state, at, check_redundancy(system, state, at)
