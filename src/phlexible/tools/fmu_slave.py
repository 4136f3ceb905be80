"""The Python side of an FMU of a model: what pythonfmu3 calls. Imported inside of the FMU's program."""

from pathlib import Path
from typing import Any

from phlexible.extras import optional
from phlexible.tools.fmu import FmuModel, source_of_file


class ModelSlave:
    """A mix-in before ``Fmi3Slave``: parameters, inputs, outputs and steps of a model.

    Attributes:
        file: among the resources of the FMU, that defines the model, see ``source_of_file``.
    """

    file: str

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        fmi = optional("pythonfmu3", "fmi")
        enums = fmi.enums
        self.own = FmuModel(source_of_file(Path(given["resources"]) / self.file))
        self.author = "phlexible"
        self.time = 0.0
        source, causalities, changes = self.own.source, enums.Fmi3Causality, enums.Fmi3Variability
        self.default_experiment = fmi.DefaultExperiment(0.0, source.duration, source.step)

        def register(
            name: str, causality: Any, variability: Any, get: Any, put: Any = None, text: str = "", kind: Any = None
        ) -> None:
            initial = enums.Fmi3Initial.exact if causality is causalities.parameter else None
            self.register_variable(  # type: ignore[attr-defined]  # of Fmi3Slave
                (kind or fmi.Float64)(
                    name,
                    causality=causality,
                    variability=variability,
                    initial=initial,
                    description=text or None,
                    getter=get,
                    setter=put,
                ),
                nested=False,
            )

        register("time", causalities.independent, changes.continuous, lambda: self.time)
        for name, usual in source.parameters.items():
            register(
                name,
                causalities.parameter,
                changes.fixed,
                lambda name=name: self.own.parameters[name],
                lambda value, name=name: self.own.set_parameter(name, value),
                kind=fmi.Int64 if isinstance(usual, int) else fmi.Float64,
            )
        for name in self.own.inputs:
            register(
                name,
                causalities.input,
                changes.discrete,
                lambda name=name: self.own.inputs[name],
                lambda value, name=name: self.own.inputs.__setitem__(name, float(value)),
            )
        for name, text in self.own.descriptions.items():
            get = lambda name=name: self.own.value(name)  # noqa: E731  # one for each name
            register(name, causalities.output, changes.discrete, get, text=text)

    def exit_initialization_mode(self) -> None:
        """The run begins with the parameters that were set; when, the first step tells."""
        self.own.begin()

    def do_step(self, current_time: float, step_size: float) -> Any:
        """One communication step; what goes wrong is logged."""
        fmi = optional("pythonfmu3", "fmi")
        status = fmi.enums.Fmi3Status.ok
        try:
            self.own.advance(current_time, step_size)
            self.time = current_time + step_size
        except Exception as error:  # must not cross the border of the FMU
            self.log(str(error), fmi.enums.Fmi3Status.error)  # type: ignore[attr-defined]  # of Fmi3Slave
            status = fmi.enums.Fmi3Status.error
        return fmi.Fmi3StepResult(status=status)

    def _get_fmu_state(self) -> dict[str, Any]:
        return {"own": self.own.save(), "time": self.time}

    def _set_fmu_state(self, state: dict[str, Any]) -> None:
        self.own.restore(state["own"])
        self.time = state["time"]
