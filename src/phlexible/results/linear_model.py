"""What ``Model.linearize`` returns: a linear port-Hamiltonian model and what can be asked of it."""

from dataclasses import dataclass, fields
from os import PathLike
from typing import TYPE_CHECKING, Self

from numpy.typing import ArrayLike

from phlexible.linear_analysis.elimination import without_constraints
from phlexible.linear_analysis.frequency_response import frequency_response
from phlexible.linear_analysis.modes import lowest_model_modes
from phlexible.linear_analysis.observed import ObservedPHDAE
from phlexible.linear_analysis.state_space import save_mat, state_space_matrices
from phlexible.results.bode import BodeResponse
from phlexible.results.extras import optional
from phlexible.results.mode_shapes import ModeShapes

if TYPE_CHECKING:
    from control import StateSpace


@dataclass(frozen=True, eq=False)
class LinearModel(ObservedPHDAE):
    """A ``LinearPHDAE`` with modes, frequency responses, state spaces and reductions."""

    @classmethod
    def of(cls, model: ObservedPHDAE) -> Self:
        """The same model with these methods."""
        return cls(**{field.name: getattr(model, field.name) for field in fields(ObservedPHDAE)})

    def modes(self, count: int = 6) -> ModeShapes:
        """The ``count`` lowest modes, rigid ones (frequency 0) included.

        Raises:
            ParameterError: a count below 1.
        """
        return ModeShapes.of(lowest_model_modes(self, count))

    def eliminate_constraints(self) -> "LinearModel":
        """The same model in coordinates that the joints leave free: standard form, regular E."""
        return LinearModel.of(without_constraints(self))

    def frequency_response(self, frequencies: ArrayLike) -> BodeResponse:
        """Complex responses of all outputs to all inputs at frequencies (k,) [rad/s].

        Raises:
            ParameterError: negative frequencies, or a model without inputs or outputs.
            PoleError: an undamped pole among the frequencies.
        """
        return BodeResponse.of(frequency_response(self, frequencies))

    def to_state_space(self) -> "StateSpace":
        """A python-control StateSpace with named states, inputs and outputs.

        Raises:
            MissingExtraError: python-control is not installed.
            ModelError: too many states for dense matrices, or algebraic states.
        """
        control = optional("control", "control")
        found = state_space_matrices(self)
        return control.ss(
            found.A,
            found.B,
            found.C,
            found.D,
            states=list(_plain(found.states)),
            inputs=list(_plain(found.inputs)),
            outputs=list(_plain(found.outputs)),
        )

    def save_mat(self, path: str | PathLike[str]) -> None:
        """Writes A, B, C, D and all names to a MATLAB file.

        Raises:
            ParameterError, ResultFileError: the path is no ``.mat`` file, or cannot be written.
        """
        save_mat(state_space_matrices(self), path)


def _plain(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names without dots, which python-control reserves for subsystems."""
    return tuple(name.replace(".", "_") for name in names)
