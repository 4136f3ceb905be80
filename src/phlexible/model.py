"""The public model: a mechanism that can be simulated."""

import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from os import PathLike
from typing import Self, TypeVar

from phlexible.algebra.arrays import non_negative, positive
from phlexible.errors import ModelError, ParameterError, SlackStringWarning, StiffeningWarning
from phlexible.initial.assembled_pose import assembled_pose
from phlexible.initial.initial_state import InitialKind, initial_state
from phlexible.initial.moved_model import moved_model
from phlexible.initial.resumed_velocity import warn_of_velocity_gap
from phlexible.linear_analysis.linearize import Form, linearization
from phlexible.linear_analysis.observed import observed_linearization
from phlexible.linear_analysis.operating_points.operating_point import OperatingKind
from phlexible.linear_analysis.signals.signals import Input, Output
from phlexible.mechanism.mechanism import Mechanism
from phlexible.ports.attachments import PlacedBody
from phlexible.rank.redundancy_check import check_redundancy
from phlexible.results.assembled_model import AssembledModel, assembled_model
from phlexible.results.files.run_output import RunOutput
from phlexible.results.linear_model import LinearModel
from phlexible.results.motion import Motion
from phlexible.results.progress import progress_bar
from phlexible.system.layout import State
from phlexible.system.system import System, system_of
from phlexible.time_integration.clock import clock
from phlexible.time_integration.composition import SUBSTEPS, check_lossless
from phlexible.time_integration.run import Simulation
from phlexible.time_integration.stepper import Ledger, Stepper

Choice = TypeVar("Choice", bound=Enum)


class Scheme(Enum):
    """How time is integrated."""

    CONSERVING = "conserving"


def _conserving(system: System, order: int, damping: float, is_redundant: bool) -> Stepper:
    from phlexible.assembly.assembly import assemble  # here: it takes the compiler along, which takes its time
    from phlexible.time_integration.conserving import ConservingStepper

    return ConservingStepper(assemble(system), SUBSTEPS[order], order, damping, is_redundant)


STEPPERS = {Scheme.CONSERVING: _conserving}
"""What takes the steps of a scheme, made of system, order, numerical damping and whether joints are redundant."""


class Model(Mechanism):
    """Bodies, joints and loads that can be simulated; see ``Mechanism`` for how to build one."""

    def simulate(
        self,
        duration: float,
        step: float,
        *,
        initial: InitialKind | str = InitialKind.UNDEFORMED,
        scheme: Scheme | str = Scheme.CONSERVING,
        order: int = 2,
        every: int = 1,
        numerical_damping: float = 0.0,
        output: str | PathLike[str] | None = None,
        progress: bool | None = None,
    ) -> Motion:
        """The motion from t = 0 on, with exact energy, momenta and joints for any step size.

        Ctrl-C ends the run early and returns what was computed; ``motion.is_complete`` is then False.

        Args:
            duration: [s]; one that is no multiple of the step ends with a shorter step.
            step: [s].
            initial: "undeformed", or "quasi_static": the elastic deformation of the rigid motion,
                without the axial ringing that an undeformed start sets off.
            scheme: "conserving" (docs/theory.md, 4).
            order: 2, or 4 for models without damping and controllers: each step is then composed of three,
                one of them backwards, and functions of time are called up to 0.35 step beyond its ends.
            every: store each every-th step.
            numerical_damping: gamma >= 0; a step loses gamma delta(eps)^T D delta(eps).
            output: results file (HDF5) that is written while the run goes on.
            progress: whether to show a progress bar; None: on a terminal.

        Raises:
            ParameterError: numbers or option strings out of range.
            JointGapError, VelocityError, RedundancyError, ModelError: see ``initial_state``.
            ConvergenceError: a step failed even after halving. Like any error that a function of time
                raises during the run it has what was computed before in ``error.motion``.
        """
        kind = _choice("initial", initial, InitialKind)
        chosen = _choice("scheme", scheme, Scheme)
        return self._run(duration, step, order, every, numerical_damping, output, progress, kind, None, chosen)

    def resume(
        self,
        path: str | PathLike[str],
        duration: float,
        step: float,
        *,
        order: int = 2,
        every: int = 1,
        numerical_damping: float = 0.0,
        progress: bool | None = None,
    ) -> Motion:
        """Go on with the run of this model in a results file, and return the whole motion.

        Args:
            path: a results file of ``simulate(output=...)``, finished, interrupted or killed.
            duration: end of the run, counted from t = 0 [s].
            step, order, every, numerical_damping, progress: as in ``simulate``. With much smaller steps than
                the stored ones joint forces of single steps swing (a ``StepWarning`` says by how much).

        Raises:
            ResultFileError: no such file, or one of another model.
            ParameterError: the file already reaches ``duration``.
        """
        return self._run(
            duration,
            step,
            order,
            every,
            numerical_damping,
            path,
            progress,
            InitialKind.UNDEFORMED,
            path,
            Scheme.CONSERVING,
        )

    def linearize(
        self,
        inputs: Sequence[Input] = (),
        outputs: Sequence[Output] | None = None,
        *,
        at: str = "given",
        form: str = "displacement",
        state: State | None = None,
    ) -> LinearModel:
        """The linear port-Hamiltonian model of small motions about an operating point.

        Args:
            inputs: ``Force`` or ``Torque`` (a constant value: the direction), a joint (forces and torques
                along its free coordinates; one of them: ``JointForce``), or an attachment (forces and
                moments along the world axes).
            outputs: sensors such as ``Velocity(beam.end, (0, 1, 0))`` or ``JointPosition(joint)``, a joint
                (its rates), or an attachment (velocities); None: the velocities that make power with
                the inputs.
            at: "given": the initial pose at rest, without gravity and loads; "static": the equilibrium
                of gravity, loads and joints near it; "steady_rotation": the rotation of the initial
                velocities, in axes that turn with it.
            form: "displacement": states (q, v, multipliers); "stress": states (v, stresses,
                multipliers), about an undeformed pose at rest only.
            state: where to look for the operating point; None: the initial pose.

        Raises:
            ParameterError: option strings or directions out of range.
            JointGapError, RedundancyError: joints that are open, or hold the same motion twice.
            EquilibriumError: no equilibrium, an unstable one, or a motion that is not steady.
            ModelError: signals that are not of this model.
        """
        kind, shape = _choice("at", at, OperatingKind), _choice("form", form, Form)
        linear = linearization(system_of(self), inputs, outputs, kind, state)
        return LinearModel.of(observed_linearization(linear, shape))

    def assemble(
        self,
        fixed: Iterable[PlacedBody | str] = (),
        weights: Mapping[str, float] | None = None,
    ) -> AssembledModel[Self]:
        """The model at the nearest pose at which its joints close, where positions are approximate.

        Bodies move undeformed and as little as possible, ``int rho |displacement|^2`` over all of them;
        joint axes turn with the body of the first port. Given velocities that contradict the joints
        become the nearest ones that fit.

        Args:
            fixed: handles or names of bodies that stay where they are.
            weights: of bodies by name; one with a large weight moves little, 1 for the others.

        Returns:
            The new ``model``, and how each body moved; ``print`` shows it. This model stays as it is.

        Raises:
            JointGapError: the joints cannot close; with the smallest gap found.
            ModelError: names of bodies that are not in the model.
            ParameterError: weights that are not positive.
        """
        names = [body if isinstance(body, str) else body.name for body in fixed]
        shares = {name: positive(f"weight of {name}", weight) for name, weight in (weights or {}).items()}
        for name in (*names, *shares):
            self[name]
        system = system_of(self)
        pose = assembled_pose(system, frozenset(names), shares)
        moved = moved_model(self, system, pose.state)
        return assembled_model(self, moved, (pose.gap_before, pose.gap_after))

    def _run(
        self,
        duration: float,
        step: float,
        order: int,
        every: int,
        damping: float,
        output: str | PathLike[str] | None,
        progress: bool | None,
        kind: InitialKind,
        resumed: str | PathLike[str] | None,
        scheme: Scheme,
    ) -> Motion:
        if not self.bodies:
            raise ModelError("the model has no bodies; add one with model.add(...)")
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise ParameterError(f"every must be a whole number of at least 1, got {every!r}")
        damping = non_negative("numerical_damping", damping)
        if order not in (2, 4):
            raise ParameterError(f"order must be 2 or 4, got {order!r}")
        if order == 4:
            check_lossless(self, damping)
        system = system_of(self)
        run_output = RunOutput(system, output, resumed)
        begun = run_output.start
        start = begun.state.time if begun else 0.0
        if resumed is not None and not duration > start:
            raise ParameterError(f"duration must be beyond the {start:g} s that {resumed} holds, got {duration!r}")
        breakpoints = [time for load in self.loads for time in load.breakpoints]
        breakpoints += [time for element in self.elements for time in element.times]
        instants = clock(start, duration - start, step, breakpoints)
        if begun is None:
            state, ledger = initial_state(system, kind), None
        else:
            state = begun.state
            ledger = Ledger(begun.work, begun.dissipated, begun.iterations, begun.halvings, begun.theta)
            warn_of_velocity_gap(system, state, run_output.last_multipliers, float(step))
        is_redundant = check_redundancy(system, state)
        stepper = STEPPERS[scheme](system, order, damping, is_redundant)
        show = sys.stderr.isatty() if progress is None else progress
        run = Simulation(system, stepper, state, instants, every, run_output.take, ledger)
        is_complete = False
        try:
            with progress_bar(show) as report:
                is_complete = run.run(report)
        except Exception as error:
            if not run_output.is_empty:
                partial = run_output.motion(False)
                error.motion = partial  # type: ignore[attr-defined]
                error.add_note("What was computed before is in the attribute .motion of this error.")
                for text, _ in _explanations(partial):
                    error.add_note(text)
            raise
        finally:
            run_output.close(is_complete)
        return _explained(run_output.motion(is_complete))


def _explained(motion: Motion) -> Motion:
    """The motion, with warnings where linear strain led it astray and where strings are slack."""
    for text, category in _explanations(motion):
        warnings.warn(text, category, stacklevel=4)
    return motion


def _explanations(motion: Motion) -> list[tuple[str, type[Warning]]]:
    found: list[tuple[str, type[Warning]]] = [(text, StiffeningWarning) for text in motion.missing_stiffening()]
    for part in motion.slack_parts():
        text = (
            f"{part.name}: element {part.element} is slack from t = {part.time:.4g} s on; energy and "
            "momenta stay exact, but slack parts have no unique limit as step and mesh are refined: "
            "a real string has some bending stiffness or viscosity there"
        )
        found.append((text, SlackStringWarning))
    return found


def _choice(name: str, value: Choice | str, options: type[Choice]) -> Choice:
    try:
        return options(value)
    except ValueError:
        allowed = ", ".join(repr(option.value) for option in options)
        raise ParameterError(f"{name} must be one of {allowed}, got {value!r}") from None
