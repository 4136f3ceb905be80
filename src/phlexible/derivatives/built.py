"""What a build function makes of parameters: a model as tables, its start and what is measured on it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from phlexible.algebra.options import option
from phlexible.algebra.user_functions import called
from phlexible.assembly.assembly import Assembly
from phlexible.derivatives.taken_steps import differentiable
from phlexible.errors import ParameterError
from phlexible.initial.initial_state import InitialKind, initial_state
from phlexible.mechanism.mechanism import Mechanism
from phlexible.system.layout import State
from phlexible.system.system import System, need_bodies, system_of

Build = Callable[[Any], Any]
Start = InitialKind | str | Callable[[Any], Any]
Measured = TypeVar("Measured")


@dataclass(frozen=True, eq=False)
class Built(Generic[Measured]):
    """A model of some parameters.

    Attributes:
        assembly: its tables.
        start: its initial state.
        measured: what was asked of it.
    """

    assembly: Assembly
    start: State
    measured: Measured


@dataclass(frozen=True, eq=False)
class Recipe(Generic[Measured]):
    """How models are made of parameters.

    Attributes:
        build: of parameters.
        start: "undeformed", "quasi_static", or a function of the model that returns a state or an equilibrium.
        measure: of the model.
    """

    build: Build
    start: Start
    measure: Callable[[Any], Measured]

    def made(self, parameters: Any) -> Built[Measured]:
        """The model with these parameters.

        Raises:
            ParameterError: the build function returned no model, or the function of its start no state.
            ModelError: parts that cannot be differentiated.
        """
        model = called(self.build, "the build function", parameters, at="for these parameters")
        if not isinstance(model, Mechanism):
            raise ParameterError(f"the build function must return a ph.Model, got {model!r}")
        system = system_of(model)
        need_bodies(system)
        measured = called(self.measure, "the function of the model", model, at="for the model that was built")
        return Built(differentiable(system), self._state(model, system), measured)

    def _state(self, model: Mechanism, system: System) -> State:
        if not callable(self.start):
            return initial_state(system, option("initial", self.start, InitialKind))
        given = called(self.start, "the function of the start", model, at="for the model that was built")
        state = getattr(given, "state", given)
        if not isinstance(state, State):
            raise ParameterError(
                f"initial= must be 'undeformed', 'quasi_static' or a function of the model that returns a state,"
                f" such as lambda model: model.equilibrium(); it returned {given!r}"
            )
        return state
