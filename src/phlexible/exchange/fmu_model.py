"""What an FMU of a model has: a live run behind named parameters, inputs and outputs."""

import inspect
import re
import runpy
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, finite
from phlexible.errors import ModelError, ParameterError
from phlexible.interactions.pair import KinematicPair
from phlexible.model import Model
from phlexible.results.live import LiveRun, SavedInstant
from phlexible.sensors.joints import JointPosition, JointRate
from phlexible.sensors.sensor import Sensor, sensors

WHOLE = 1e-6  # of a step
XYZ = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class Source:
    """A model that an FMU holds.

    Attributes:
        build: keyword parameters -> model.
        parameters: numbers that it takes, with their usual values.
        outputs: model -> sensors, by name or in a list.
        step: [s].
        duration: usual end [s]; None: not said.
    """

    build: Callable[..., Model]
    parameters: dict[str, float]
    outputs: Callable[[Model], Mapping[str, Sensor] | Sequence[Sensor]]
    step: float
    duration: float | None


def source_of_file(path: str | Path) -> Source:
    """What a Python file defines; see ``write_fmu``.

    Raises:
        ModelError: it defines no model, or no step.
    """
    folder = str(Path(path).parent.resolve())
    sys.path.insert(0, folder)  # as python my_model.py does
    try:
        variables = runpy.run_path(str(path), run_name="phlexible_model")
    finally:
        sys.path.remove(folder)
    build, model = variables.get("build"), variables.get("model")
    if not callable(build):
        if not isinstance(model, Model):
            raise ModelError(f"{path} must define a phlexible.Model named model, or build(...) that returns one")
        build, parameters = (lambda: model), {}
    else:
        parameters = _numbers(build)
    step = variables.get("step")
    if not isinstance(step, int | float):
        raise ModelError(f"{path} must define step = ..., the time step in seconds")
    given = variables.get("outputs")
    outputs = given if callable(given) else (joint_outputs if given is None else lambda model: given)
    duration = variables.get("duration")
    return Source(build, parameters, outputs, float(step), None if duration is None else float(duration))


def _numbers(build: Callable[..., Any]) -> dict[str, float]:
    """Keyword parameters of a function whose usual values are numbers."""
    found = inspect.signature(build).parameters.values()
    return {each.name: each.default for each in found if isinstance(each.default, float)}


def joint_outputs(model: Model) -> list[Sensor]:
    """Coordinates of all joints and their rates."""
    free = [joint for joint in model.joints if isinstance(joint, KinematicPair) and joint.coordinate_names]
    return [kind(joint) for joint in free for kind in (JointPosition, JointRate)]


class FmuModel:
    """The live run of an FMU.

    Args:
        source: the model.

    Attributes:
        parameters: their values; they count until the run begins.
        inputs: current values by name and component: "motor", "push.x".
        descriptions: of the outputs, by name.
    """

    def __init__(self, source: Source) -> None:
        self.source, self.parameters = source, dict(source.parameters)
        self._run = self._begin()
        self.inputs: dict[str, float] = {}
        self._parts: dict[str, tuple[str, int]] = {}
        for name, value in self._run.inputs.items():
            own = identifier(name)
            words = [own] if len(value) == 1 else [f"{own}.{axis}" for axis in XYZ]
            for k, word in enumerate(words):
                self.inputs[word], self._parts[word] = float(value[k]), (name, k)
        self._read()

    def begin(self) -> None:
        """The run starts, with the parameters as they are."""
        self._run = self._begin()
        self._give()
        self._read()

    def set_parameter(self, name: str, value: float) -> None:
        """Of the model; ``begin`` makes it count."""
        self.parameters[name] = finite(name, value)

    def value(self, name: str) -> float:
        """Of an output."""
        return self._values[name]

    def advance(self, size: float) -> None:
        """Steps over a communication interval [s].

        Raises:
            ParameterError: an interval that is no multiple of the step.
        """
        step = self.source.step
        count = round(size / step)
        if count < 1 or abs(count * step - size) > WHOLE * step:
            raise ParameterError(f"communication steps must be multiples of {step:g} s, got {size!r}")
        self._give()
        for _ in range(count):
            self._run.step()
        self._run.forget()
        self._read()

    def save(self) -> dict[str, Any]:
        """All that the run goes on from, in numbers and lists."""
        saved = self._run.save()
        return {
            "time": saved.time,
            "steps": saved.steps,
            "numbers": [each.hex() for each in saved.numbers.tolist()],
            "inputs": self.inputs,
            "parameters": self.parameters,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from there; steps have the same digits."""
        if saved["parameters"] != self.parameters:
            self.parameters = dict(saved["parameters"])
            self._run = self._begin()
        numbers = np.array([float.fromhex(each) for each in saved["numbers"]])
        self.inputs = dict(saved["inputs"])
        self._run.put(SavedInstant(saved["time"], saved["steps"], numbers, self._arrays()))
        self._read()

    def _begin(self) -> LiveRun:
        model = self.source.build(**self.parameters)
        if not isinstance(model, Model):
            raise ModelError(f"build must return a Model, got {model!r}")
        given = self.source.outputs(model)
        self._sensors = (
            dict(given) if isinstance(given, Mapping) else {str(s): s for s in sensors("outputs", given)}
        )
        sensors("outputs", list(self._sensors.values()))
        return model.start(self.source.step)

    def _arrays(self) -> dict[str, Array]:
        found = self._run.inputs.copy()
        for word, (name, k) in self._parts.items():
            found[name][k] = self.inputs[word]
        return found

    def _give(self) -> None:
        for name, value in self._arrays().items():
            self._run.inputs[name] = value

    def _read(self) -> None:
        """Values and descriptions of all outputs by name; components have theirs after it."""
        self._values: dict[str, float] = {}
        self.descriptions: dict[str, str] = {}
        for name, sensor in self._sensors.items():
            found = np.atleast_1d(self._run.read(sensor)).ravel().tolist()
            words = sensor.components if len(sensor.components) == len(found) else range(len(found))
            for word, number in zip(words, found, strict=True):
                full = identifier(name) + (f"_{word}" if len(found) > 1 else "")
                self._values[full], self.descriptions[full] = number, f"{sensor} [{sensor.unit}]"


def identifier(name: str) -> str:
    """The name with letters, digits and _ only."""
    found = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
    return found if found[:1].isalpha() else f"m_{found}"
