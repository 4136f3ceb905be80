"""Linear port-Hamiltonian model of ``Model.linearize``, with modes, responses and reductions."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, field_values, flag, option, positive, texts
from phlexible.description.ports import PlacedBody
from phlexible.errors import ModelError
from phlexible.linear.composition import body_model, composed_model
from phlexible.linear.constraint_elimination import with_momenta, without_constraints
from phlexible.linear.first_order import save_mat, state_space_matrices
from phlexible.linear.frequency_response import frequency_response
from phlexible.linear.linearize import Linearization
from phlexible.linear.modes import lowest_model_modes
from phlexible.linear.observed import ObservedPHDAE, Signal, collocated, with_signals
from phlexible.linear.reduction.bases import body_deformations
from phlexible.linear.reduction.methods import (
    PassivityCertificate,
    ReductionError,
    passivity,
    reduced_model,
    reduction_error,
)
from phlexible.linear.reduction.state_bases import ReductionMethod
from phlexible.pictures.modes import BodeResponse, ModeShapes
from phlexible.port_hamiltonian.interconnection import gyrator
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.results.closed_loop import ClosedLoop, closed_loop

if TYPE_CHECKING:
    from control import StateSpace


@dataclass(frozen=True, eq=False, repr=False)
class LinearModel(ObservedPHDAE):
    """A ``LinearPHDAE`` with modes, frequency responses, state spaces and reductions."""

    @classmethod
    def of(cls, model: LinearPHDAE) -> Self:
        """Return a linear port-Hamiltonian model as a ``LinearModel``, which adds modes, frequency responses and
        reductions. A model without outputs gets the outputs that are power-conjugate to its inputs.

        Constraints of a ``LinearPHDAE`` hold rates: displacements that violate them stay as they are, and their
        forces count among the self-stresses of ``modes``.
        """
        seen = model if isinstance(model, ObservedPHDAE) else collocated(model)
        return cls(**field_values(seen, ObservedPHDAE))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return the controllers and forces of the mechanism that this linear model does not contain, each as a
        text with the reason."""
        return () if self.linearization is None else self.linearization.left_out

    def modes(self, count: int = 6) -> ModeShapes:
        """Return the ``count`` vibration modes of lowest frequency of this linear model, rigid modes (frequency 0)
        included.

        Raises:
            ParameterError: a count below 1.
        """
        return ModeShapes.from_modes(lowest_model_modes(self, count))

    def eliminate_constraints(self) -> "LinearModel":
        """Return an equivalent linear model without joint multipliers, in coordinates that the joints leave free.
        Its matrix E is regular, and inputs and outputs are the same.

        Raises:
            ModelError: algebraic states that are no multipliers, or inputs and outputs that need the multipliers.
        """
        return LinearModel.of(without_constraints(self))

    def standard_form(self) -> "LinearModel":
        """Return an equivalent linear model ``dx/dt = (J - R) Q x + B u`` without constraints and with E = I. Its
        states are momenta (the standard port-Hamiltonian form; docs/papers_matrices.md, [B] (47)).

        Of a model in velocities and stresses the states are x = M p, the momenta and strains, and Q = M^-1.

        Raises:
            ModelError: as of ``eliminate_constraints``, or more than 4000 states: Q is dense.
        """
        return LinearModel.of(with_momenta(without_constraints(self)))

    def body_model(self, body: PlacedBody) -> LinearPHDAE:
        """Return the linear port-Hamiltonian model of one ``body`` of the linearized mechanism, separated from its
        joints. Each scalar equation of a joint or drive at the body becomes a port, through which its constraint
        force acts. ModelError is raised for bodies of another model, and for linear models that were not made from
        a mechanism.

        Raises:
            ModelError: a body of another model, or a model that is none of bodies.
            EquilibriumError: a loaded operating point.
        """
        return body_model(self._origin(), body)

    def composed(self) -> LinearPHDAE:
        """Return an equivalent linear model that is assembled from the separate models of its bodies. They are
        connected at their joints by power-conserving interconnections (transformers; docs/papers_matrices.md, [B]
        5.2). ModelError is raised unless ``linearize`` returned this model.

        Raises:
            ModelError: a model that is none of bodies.
            EquilibriumError: a loaded operating point.
        """
        return composed_model(self._origin())

    def _origin(self) -> Linearization:
        if self.linearization is None:
            raise ModelError("a reduced or eliminated model has no bodies; take what linearize returned")
        return self.linearization

    def frequency_response(
        self,
        frequencies: ArrayLike,
        inputs: Sequence[Signal] | None = None,
        outputs: Sequence[Signal] | None = None,
    ) -> BodeResponse:
        """Return the complex transfer functions from ``inputs`` to ``outputs`` of this linear model at the
        ``frequencies``, shape (k,) [rad/s], for Bode plots. None means all inputs or outputs.

        Args:
            inputs, outputs: which, as of ``reduce``; None: all.

        Raises:
            ParameterError: negative frequencies, names that there are not, or a model without inputs or outputs.
            ModelError: more than a million pairs of an input and an output.
            PoleError: an undamped pole among the frequencies.
        """
        return BodeResponse.from_response(frequency_response(with_signals(self, inputs, outputs), frequencies))

    def structure_errors(self) -> dict[str, float]:
        """Return the deviations of the matrices of this linear model from the port-Hamiltonian structure, as
        numbers by name; empty if there are none. Examples are a J that is not skew-symmetric and an energy that is
        not positive. In models with constraints the stored energy is tested only on motions that joints allow."""
        errors, mechanics = super().structure_errors(), self.mechanics
        if "storage" in errors and mechanics is not None and mechanics.constraint_matrix.shape[0]:
            errors["storage"] = without_constraints(self).structure_errors()["storage"]
        return errors

    def passivity(self) -> PassivityCertificate:
        """Return a certificate that this linear model is passive: it cannot supply more energy than it has
        received."""
        return passivity(self)

    def reduce(
        self,
        order: int,
        method: str = "krylov",
        frequencies: ArrayLike | None = None,
        keep_rigid: bool = False,
        *,
        static_correction: bool = False,
        inputs: Sequence[Signal] | None = None,
        outputs: Sequence[Signal] | None = None,
    ) -> "ReducedModel":
        """Return a reduced port-Hamiltonian model with at most ``order`` states and the selected ``inputs`` and
        ``outputs`` (None: all). ``method`` is "modal", "craig_bampton", "krylov", "balanced" or "irka"; "krylov"
        matches the full model at ``frequencies`` [rad/s]. ``keep_rigid`` retains rigid velocities and multipliers.
        ``static_correction`` makes "modal" accurate at low frequencies. This model is unchanged.

        It has no multipliers, unless inputs prescribe velocities or joint forces are outputs: these add as many
        states as they need to the order, and so do self-stresses that inputs drive.

        It has fewer states than asked for, and a ``ReductionWarning`` says so, where inputs reach and outputs
        see no more of them.

        Args:
            order: number of states; of a model of bodies even for the first three methods.
            method: "modal", "craig_bampton", "krylov", "balanced" or "irka", see ``ReductionMethod``.
            frequencies: for "krylov": where to match the full model [rad/s]; None: at zero, so that the
                compliance is that of the full model, and at frequencies that are chosen.
            keep_rigid: [B] (46), of a model in velocities and stresses: rigid velocities and multipliers stay what
                they are, ``order`` states take the place of all flexible velocities and stresses.
            static_correction: for "modal": static answers at the inputs and outputs take the place of the last
                modes, so that responses are right at low frequencies (modal truncation augmentation).
            inputs: ports of the model, ``port.select(...)``, names of ports or of single inputs; None: all.
            outputs: names of outputs; or as for inputs, for the outputs that make power with them; None: all.

        Raises:
            ParameterError: an order or a method out of range, names that there are not.
            ModelError: no inputs, or none that reaches what outputs see; a model that does not have what the method
                needs: modes with damping, velocities and stresses told apart.
            MissingExtraError: "irka" without pyMOR.

        Example:
            >>> beam = ph.Beam(1.0, ph.CircularSection(0.01), ph.Material(210e9, 7850.0), elements=8)
            >>> model = ph.Model(dimension=2)
            >>> placed = model.add(beam, "beam")
            >>> clamp = model.connect(ph.Fixed(model.ground.at((0, 0, 0)), placed.start))
            >>> linear = model.linearize([placed.end])
            >>> linear.state_size, linear.reduce(6).state_size
            (57, 6)
        """
        full = with_signals(self, inputs, outputs)
        found = reduced_model(
            full,
            order,
            option("method", method, ReductionMethod),
            frequencies,
            flag("keep_rigid", keep_rigid),
            flag("static_correction", static_correction),
        )
        return ReducedModel(**field_values(found.model, ObservedPHDAE), full=full, basis=found.basis)

    def to_state_space(self, accelerations: Sequence[str] = ()) -> "StateSpace":
        """Return this linear model as a ``StateSpace`` (A, B, C, D) of python-control, with named states, inputs
        and outputs. Inputs named in ``accelerations``, which prescribe a velocity, are replaced by its time
        derivative; that is needed where outputs are forces that depend on an acceleration. The model itself does
        not change.

        Args:
            accelerations: names of ports or inputs that prescribe a velocity (``inverted``) and are given by their
                rates instead. Forces at such ports answer to the acceleration: without it they are improper.

        Raises:
            MissingExtraError: python-control is not installed.
            ParameterError: accelerations of inputs that prescribe no velocity.
            ModelError: too many states for dense matrices, algebraic states that are no multipliers, or outputs
                that answer to the rate of an input, named.
        """
        texts("accelerations", accelerations)
        return state_space_matrices(self, accelerations).for_control()

    @overload
    def interconnect(
        self, controller: LinearPHDAE, *, measured: None = None, on: Sequence[str] | None = None
    ) -> "LinearModel": ...

    @overload
    def interconnect(
        self,
        controller: Any,
        *,
        measured: Sequence[str] | None = None,
        on: Sequence[str] | None = None,
        follows: bool = False,
        period: float | None = None,
    ) -> ClosedLoop: ...

    def interconnect(
        self,
        controller: Any,
        *,
        measured: Sequence[str] | None = None,
        on: Sequence[str] | None = None,
        follows: bool = False,
        period: float | None = None,
    ) -> "ClosedLoop | LinearModel":
        """Return the closed loop of this linear model and a ``controller``, which reads the outputs ``measured``
        and acts on the inputs ``on`` (None: all). With ``follows`` it gets target - measured; ``period`` is the
        time between its samples [s]. A port-Hamiltonian controller is connected by a gyrator instead, and the
        result is a ``LinearModel``.

        Args:
            controller: a StateSpace or TransferFunction of python-control, or a ``Feedback`` with one: from what
                is measured to the inputs. With a discrete one, or a period, the loop is that of the samples, where
                all inputs are held. Or a ``LinearPHDAE``, whose ports are connected with those of ``on`` so that
                power is kept, u = -y_c and u_c = y: the loop is a ``LinearModel`` again, passive if both are.
            measured: names of outputs, in the order of the controller's inputs; None: all.
            on: names of inputs, in the order of the controller's outputs; None: all.
            follows: whether the controller gets target - measured, and the targets are inputs of the loop.
            period: between samples [s]; None: that of the controller.

        Raises:
            ParameterError: names or numbers of inputs and outputs that do not fit.
            ModelError: a loop without delay that has no solution; a model as ``to_state_space`` refuses.
        """
        if isinstance(controller, LinearPHDAE):
            names = [port.name for port in self.ports] if on is None else list(on)
            ports = (names, [port.name for port in controller.ports])
            sizes = [
                sum(port.size for port in model.ports if port.name in chosen)
                for model, chosen in zip((self, controller), ports, strict=True)
            ]
            coupling = np.eye(sizes[0], sizes[1])
            return LinearModel.of(gyrator(self, controller, coupling, ports))
        period = None if period is None else positive("period", period)
        plant = state_space_matrices(self)
        return closed_loop(plant, controller, on, measured, flag("follows", follows), period)

    def save_mat(self, path: str | PathLike[str], accelerations: Sequence[str] = ()) -> None:
        """Write the state-space matrices A, B, C, D of this linear model and the names of states, inputs and
        outputs to the MATLAB file ``path``. ``accelerations`` are names of inputs that prescribe a velocity and
        shall be given by their rates.

        Raises:
            ParameterError, ResultFileError: the path is no ``.mat`` file, or cannot be written.
        """
        texts("accelerations", accelerations)
        save_mat(state_space_matrices(self, accelerations), path)


@dataclass(frozen=True, eq=False, repr=False)
class ReducedModel(LinearModel):
    """A reduced ``LinearModel`` that is port-Hamiltonian again.

    Attributes:
        full: the model that was reduced.
        basis: V of x = V x_small, shape (n, k), over the motions x of the full model; None: "balanced" and
            "irka" reduce states.
    """

    full: LinearModel | None = None
    basis: Array | None = None

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return the controllers and forces of the mechanism that the full model before this reduction does not
        contain, each as a text with the reason."""
        return () if self.full is None else self.full.left_out

    def error(self, frequencies: ArrayLike) -> ReductionError:
        """Return the error of this reduced model's transfer functions against the full model at the
        ``frequencies``, shape (k,) [rad/s]. Both are evaluated there and compared.

        Raises:
            PoleError: an undamped pole of either model among the frequencies.
        """
        assert self.full is not None, "reduce sets it"
        return reduction_error(self.full, self, frequencies)

    def elastic_basis(self, body: PlacedBody) -> Array:
        """Return the deformations of one ``body`` that occur in this reduced model, shape (coordinates, k). The k
        columns are linearly independent vectors of the body's elastic coordinates. ``Beam(modes=...)`` accepts
        them as a basis for nonlinear runs. ModelError is raised if the reduction method has no basis in the
        coordinates of the bodies.

        A basis of bending shapes needs axial ones beside them: ``beam.with_axial(basis, dimension)``.

        Args:
            body: of the model that was linearized, for example ``model["beam"]``.

        Returns:
            Shape (n, k): independent columns over the elastic coordinates of the body.

        Raises:
            ModelError: a method that reduces states, or a body of another model.
        """
        assert self.full is not None, "reduce sets it"
        linear = self.full.linearization
        if self.basis is None or linear is None:
            raise ModelError(
                "the coordinates of the bodies are lost; reduce what linearize returned, with method"
                '="modal", "craig_bampton" or "krylov"'
            )
        return body_deformations(linear, body, self.basis)
