"""``write_fmu``: a model as a co-simulation FMU (FMI 3.0), through pythonfmu3."""

import inspect
import runpy
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, called, file_path, finite, positive
from phlexible.description.interactions.functions import KinematicPair
from phlexible.description.interactions.sensor import Sensor
from phlexible.display import distinct, identifier
from phlexible.errors import ModelError, ParameterError, PhlexibleError, ResultFileError
from phlexible.extras import optional
from phlexible.measure.sensors import XYZ, JointPosition, JointRate, sensors
from phlexible.model import Model
from phlexible.results.live import LiveRun, SavedInstant

# What an FMU of a model has: a live run behind named parameters, inputs and outputs.

WHOLE = 1e-6  # of a step
TIME = "time"


@dataclass(frozen=True, eq=False)
class Source:
    """A model that an FMU holds.

    Attributes:
        build: keyword parameters -> model.
        parameters: numbers that it takes, with their usual values; some of them whole.
        outputs: model -> sensors, by name or in a list.
        step: [s].
        duration: usual end [s]; None: not said.
        ranges: of parameters that a library takes, as of ``ph.build``; None: it has none.
    """

    build: Callable[..., Model]
    parameters: dict[str, float | int]
    outputs: Callable[[Model], Mapping[str, Sensor] | Sequence[Sensor]]
    step: float
    duration: float | None
    ranges: Mapping[str, Sequence[Any]] | None = None


def source_of_file(path: str | Path) -> Source:
    """What a Python file defines; see ``write_fmu``.

    Raises:
        ModelError: it raises something, defines no model or no step, or ``build`` has parameters without values.
        ParameterError: numbers out of range.
    """
    folder = str(Path(path).parent.resolve())
    sys.path.insert(0, folder)  # as python my_model.py does
    try:
        variables = runpy.run_path(str(path), run_name="phlexible_model")
    except (Exception, SystemExit) as error:
        raise ModelError(f"{path} cannot be run, it raised {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)
    build, model = variables.get("build"), variables.get("model")
    if not callable(build):
        if not isinstance(model, Model):
            raise ModelError(f"{path} must define a phlexible.Model named model, or build(...) that returns one")
        build, parameters = (lambda: model), {}
    else:
        parameters = _numbers(path, build)
    step = variables.get("step")
    if step is None:
        raise ModelError(f"{path} must define step = ..., the time step in seconds")
    given = variables.get("outputs")
    outputs = given if callable(given) else (joint_outputs if given is None else lambda model: given)
    duration = variables.get("duration")
    end = None if duration is None else positive(f"duration in {path}", duration)
    return Source(build, parameters, outputs, positive(f"step in {path}", step), end, variables.get("parameters"))


def _neighbours(source: Path) -> list[Path]:
    """Modules and packages beside a file that are imported by now, so that an FMU has them too."""
    folder = source.resolve().parent
    files = {
        name: Path(file).resolve()
        for name, module in list(sys.modules.items())
        if "." not in name and name != "__main__" and (file := getattr(module, "__file__", None))
    }
    alone = [folder / f"{name}.py" for name, file in files.items() if file == folder / f"{name}.py"]
    packages = [folder / name for name, file in files.items() if file == folder / name / "__init__.py"]
    return [each for each in alone + packages if each != source.resolve()]


def _numbers(path: str | Path, build: Callable[..., Any]) -> dict[str, float | int]:
    """Keyword parameters of a function whose usual values are numbers; whole ones stay so."""
    numbers: dict[str, float | int] = {}
    for each in inspect.signature(build).parameters.values():
        if each.default is each.empty and each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL):
            raise ModelError(f"build in {path} needs a usual value of {each.name}, such as {each.name}=1.0")
        if each.name == TIME:
            raise ModelError(f"build in {path} has a parameter named {TIME}, which an FMU has already; rename it")
        if isinstance(each.default, int | np.integer) and not isinstance(each.default, bool):
            numbers[each.name] = int(each.default)
        elif isinstance(each.default, float):
            numbers[each.name] = finite(f"{each.name} of build in {path}", each.default)
    return numbers


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
        start: when the run begins [s].
        inputs: current values by name and component: "motor", "push.x".
        descriptions: of the outputs, by name.

    Raises:
        ParameterError, ModelError: ``build`` or ``outputs`` fail, or return something else.
    """

    def __init__(self, source: Source) -> None:
        self.source, self.parameters, self.start = source, dict(source.parameters), 0.0
        self._run, self._outputs = self._begun(self.parameters, self.start)
        self.inputs: dict[str, float] = {}
        self._parts: dict[str, tuple[str, int]] = {}
        taken = {TIME, *self.parameters}
        for name, value in self._run.inputs.items():
            own = distinct(identifier(name), taken, "_")
            taken.add(own)
            words = [own] if len(value) == 1 else [f"{own}.{axis}" for axis in XYZ]
            for k, word in enumerate(words):
                self.inputs[word], self._parts[word] = float(value[k]), (name, k)
        self._taken = taken
        self.descriptions = self._described(self._run, self._outputs)
        self._values = self._read()

    def begin(self, start: float = 0.0) -> None:
        """The run starts at a time [s], in the initial pose of the model, with the parameters as they are.

        Raises:
            ParameterError: the parameters change which inputs and outputs there are.
            ModelError: joints that drives or moving frames hold elsewhere at that time.
        """
        self._go_on(*self._begun(self.parameters, start))
        self.start = start
        self._give()

    def set_parameter(self, name: str, value: float) -> None:
        """Of the model; ``begin`` makes it count."""
        is_whole = isinstance(self.source.parameters[name], int)
        self.parameters[name] = int(value) if is_whole else finite(name, value)

    def value(self, name: str) -> float:
        """Of an output."""
        return self._values[name]

    def advance(self, now: float, size: float) -> None:
        """Steps over a communication interval; the first one tells when the run begins.

        Args:
            now: where the interval begins [s].
            size: of it [s].

        Raises:
            ParameterError: an interval that is no multiple of the step, or does not begin where the run is.
            ModelError: as of ``begin``.
        """
        step = self.source.step
        count = round(size / step)
        if count < 1 or abs(count * step - size) > WHOLE * step:
            raise ParameterError(f"communication steps must be multiples of {step:g} s, got {size!r}")
        if abs(now - self._run.time) > WHOLE * step:
            if self._run.save().steps:
                raise ParameterError(
                    f"the FMU is at t = {self._run.time:.9g} s, a step from {now!r} s does not fit"
                )
            self.begin(now)
        self._give()
        for _ in range(count):
            self._run.step()
        self._run.forget()
        self._values = self._read()

    def save(self) -> dict[str, Any]:
        """All that the run goes on from, in numbers and lists."""
        saved = self._run.save()
        return {
            "start": self.start,
            "time": saved.time,
            "steps": saved.steps,
            "numbers": [each.hex() for each in saved.numbers.tolist()],
            "inputs": self.inputs,
            "parameters": self.parameters,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from there; steps have the same digits.

        Raises:
            ParameterError: the state of another FMU; the run stays as it was.
        """
        try:
            parameters, start, inputs = dict(saved["parameters"]), float(saved["start"]), dict(saved["inputs"])
            numbers = np.array([float.fromhex(each) for each in saved["numbers"]])
            time, steps = float(saved["time"]), int(saved["steps"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ParameterError(f"this is no state of an FMU of phlexible: {error!r}") from error
        if parameters.keys() != self.parameters.keys() or inputs.keys() != self.inputs.keys():
            raise ParameterError("this is the state of an FMU of another model: its parameters or inputs differ")
        is_other = (parameters, start) != (self.parameters, self.start)
        run, outputs = self._begun(parameters, start) if is_other else (self._run, self._outputs)
        run.put(SavedInstant(time, steps, numbers, self._arrays(run, inputs)))
        self._go_on(run, outputs)
        self.parameters, self.start, self.inputs = parameters, start, inputs

    def _begun(self, parameters: dict[str, float | int], start: float) -> tuple[LiveRun, list[tuple[str, Sensor]]]:
        """A run, and what is measured in it by name."""
        said = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
        model = called(partial(self.source.build, **parameters), f"build({said})", at="in the model's file")
        if not isinstance(model, Model):
            raise ModelError(f"build must return a Model, got {model!r}")
        given = called(self.source.outputs, "outputs", model, at="in the model's file")
        found = list(given.values()) if isinstance(given, Mapping) else sensors("outputs", given)
        names = given if isinstance(given, Mapping) else found
        outputs = list(zip(map(str, names), sensors("outputs", found), strict=True))
        run = model.start(self.source.step)
        if start == 0.0:
            return run, outputs
        try:
            return model.start(self.source.step, initial=replace(run.state, time=start)), outputs
        except PhlexibleError as error:
            raise ModelError(
                f"the initial pose of the model is none at the start time {start:g} s: {error}"
            ) from error

    def _go_on(self, run: LiveRun, outputs: list[tuple[str, Sensor]]) -> None:
        """With this run, if it has the same inputs and outputs."""
        descriptions = self._described(run, outputs)
        if set(run.inputs) != set(self._run.inputs) or descriptions.keys() != self.descriptions.keys():
            raise ParameterError("parameters of an FMU must not change which inputs and outputs the model has")
        self._run, self._outputs, self.descriptions = run, outputs, descriptions
        self._values = self._read()

    def _arrays(self, run: LiveRun, inputs: Mapping[str, float]) -> dict[str, Array]:
        found = run.inputs.copy()
        for word, (name, k) in self._parts.items():
            found[name][k] = inputs[word]
        return found

    def _give(self) -> None:
        for name, value in self._arrays(self._run, self.inputs).items():
            self._run.inputs[name] = value

    def _described(self, run: LiveRun, outputs: list[tuple[str, Sensor]]) -> dict[str, str]:
        """Descriptions of all outputs by name; components have theirs after it."""
        descriptions: dict[str, str] = {}
        for name, sensor in outputs:
            size = np.size(run.read(sensor))
            words = sensor.components if len(sensor.components) == size else range(size)
            for full in [name] if size == 1 else [f"{name}_{word}" for word in words]:
                free = distinct(identifier(full), {*self._taken, *descriptions}, "_")
                descriptions[free] = f"{sensor} [{sensor.unit}]"
        return descriptions

    def _read(self) -> dict[str, float]:
        """Values of all outputs now, by name."""
        found = [np.ravel(self._run.read(sensor)) for _, sensor in self._outputs]
        return dict(zip(self.descriptions, np.concatenate(found).tolist() if found else [], strict=True))


SCRIPT = '''"""Made by phlexible: the FMU of {file}."""

from pythonfmu3 import Fmi3Slave

from phlexible.tools.fmu_slave import ModelSlave


class {name}(ModelSlave, Fmi3Slave):
    file = "{file}"
'''


def write_fmu(model_file: str | PathLike[str], path: str | PathLike[str]) -> Path:
    """An FMU for co-simulation, FMI 3.0, of the model that a Python file defines.

    The file defines ``model``, or ``build(**parameters)``, whose keyword parameters with numbers are parameters of
    the FMU, whole ones where their usual values are (``elements=4``); ``step`` [s], and, if it likes, ``duration``
    and ``outputs``: sensors by name, a list of them, or a function of the model that returns these; without it all
    joint coordinates and rates. Inputs are the constant loads, torques and forces of the model by their names, of
    loads with ".x", ".y", ".z". Names that are taken are numbered, "angle_2". The FMU begins at the time of its
    first step, in the initial pose of the model, and keeps states; where it runs there must be Python with
    phlexible.

    Args:
        model_file: the Python file.
        path: of the FMU, ``.fmu``.

    Returns:
        The path of the FMU.

    Raises:
        ModelError: the file cannot be run, or defines no model or no step.
        ParameterError: another ending, no such file, numbers out of range, or ``build`` or ``outputs`` fail.
        ResultFileError: the FMU cannot be written.
        MissingExtraError: pythonfmu3 is not installed.
    """
    source, target = Path(file_path("model_file", model_file)), Path(file_path("path", path))
    if target.suffix != ".fmu":
        raise ParameterError(f"path must end in .fmu, got {str(path)!r}")
    if not source.is_file() or source.suffix != ".py":
        raise ParameterError(f"model_file must be a Python file, got {str(model_file)!r}")
    fmi = optional("pythonfmu3", "fmi")
    FmuModel(source_of_file(source))  # fails here, and not inside of the builder
    name = identifier(target.stem)
    with TemporaryDirectory() as folder:
        script = Path(folder) / f"{name}_fmu.py"
        script.write_text(SCRIPT.format(file=source.name, name=name), encoding="utf-8")
        states = {"canGetAndSetFMUState": True, "canSerializeFMUState": True}
        made = fmi.FmuBuilder.build_FMU(script, dest=folder, project_files=[source, *_neighbours(source)], **states)
        try:
            shutil.copyfile(made, target)
        except OSError as error:
            raise ResultFileError.of_writing(target, error) from error
    return target
