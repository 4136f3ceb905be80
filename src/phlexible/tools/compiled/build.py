"""``ph.build``: a model as a library, which runs where there is no Python."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from os import PathLike
from pathlib import Path

import numpy as np

from phlexible.algebra.arrays import Array, file_path, positive, whole
from phlexible.description.interactions.force_elements import JointElement
from phlexible.description.interactions.loads import Load, Torque
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.interactions.servo import ServoPush
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.time_functions import TimePath
from phlexible.errors import ModelError, ParameterError, PhlexibleError, ResultFileError
from phlexible.measure.sensors import sensors
from phlexible.model import Model
from phlexible.results.live import LiveRun
from phlexible.state.initial_state import InitialKind
from phlexible.state.layout import State
from phlexible.step.assembly.assembly import Assembly
from phlexible.tools.compiled.controllers import check_controllers, controllers_of, targets_at
from phlexible.tools.compiled.data import InputData, ModelData
from phlexible.tools.compiled.fmu_archive import FOLDERS, FmuFiles, write_fmu
from phlexible.tools.compiled.grips import gripped
from phlexible.tools.compiled.linking import (
    ARCHIVE,
    FMU,
    HERE,
    NUMBERS,
    PAGES,
    Platform,
    check_linker,
    linked,
    platforms_of,
    sources,
    write_archive,
    write_bytes,
    write_library,
)
from phlexible.tools.compiled.outputs import OutputTables, joint_outputs, page_outputs
from phlexible.tools.compiled.programs import object_files_of
from phlexible.tools.compiled.time_functions import TimeData, time_data
from phlexible.tools.compiled.web_page import PageParts, page_of
from phlexible.tools.fmu import joint_outputs as coordinates_of_joints, source_of_file


def build(
    model: Model,
    step: float,
    path: str | PathLike[str],
    inputs: Sequence[str] | None = None,
    outputs: Mapping[str, Sensor] | None = None,
    targets: Sequence[str] | None = None,
    *,
    fmi: int = 3,
    duration: float | None = None,
    initial: InitialKind | State | str = "undeformed",
    order: int = 2,
    numerical_damping: float = 0.0,
) -> Path:
    """Writes a model as a library that takes its steps without Python, and ``model.h`` beside it.

    The library has the functions of ``model.h``; ``ph.load_library`` calls them. Its steps are those of
    ``model.start(step)`` up to round-off. Functions of time become data: constants, polynomials and harmonics for
    all times, others tables up to ``duration``, whose errors are printed.

    Args:
        model: without events, and controllers and laws that are functions of Python.
        step: [s].
        path: ``.so``, ``.dll``, ``.dylib`` or ``.wasm``; ``.fmu`` for co-simulation by other programs; ``.html``
            for one page that steps the model in a browser, with sliders for inputs and bodies to be pulled at;
            or ``.zip`` for the sources in C and the object files that a library is made of, for a linker of yours;
            or ``.tables`` for the numbers alone, which a library of another model of the same structure takes.
        inputs: names of constant loads, torques and forces that can be set from step to step; None: of all.
        outputs: sensors by name; None: positions and rates of all joints, of a page positions and energies.
        targets: the platform: "linux-x86_64", "linux-aarch64", "windows-x86_64", "macos-arm64", "macos-x86_64",
            "wasm32"; None: this machine, or what the suffix stands for. An FMU takes several; None: all, or without
            Zig this machine.
        fmi: version of an FMU, 2 or 3.
        duration: up to which functions of time are tables [s]; None: there are none that need it.
        initial, order, numerical_damping: as of ``Model.simulate``.

    Returns:
        The path.

    Raises:
        ModelError: something that needs Python, by its name, with what to do instead, or an order beyond 2 of a
            model that loses energy.
        ParameterError: no such input or platform, or a function of time that needs ``duration``.
        MissingExtraError: no compiler to link with.
        ResultFileError: the library cannot be written.

    Example:
        >>> model = ph.Model(dimension=2)
        >>> wheel = model.add(ph.RigidBody(1.0, 0.5), "wheel")
        >>> hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), wheel.origin))
        >>> motor = model.apply(hinge.torque(0.0, name="motor"))
        >>> path = ph.build(model, 1e-2, "wheel.so", outputs={"speed": ph.JointRate(hinge)})  # doctest: +SKIP
        >>> library = ph.load_library(path)  # doctest: +SKIP
    """
    if not isinstance(model, Model):
        raise ModelError(f"build takes a model, got {model!r}")
    place = Path(file_path("path", path))
    targets_of = platforms_of(place, _names("targets", targets))
    if place.suffix == FMU and targets is None and fmi == 2:
        targets_of = tuple(target for target in targets_of if target.name in FOLDERS[2])
    version = _version(fmi, place, targets_of)
    for target in targets_of:
        if place.suffix not in (ARCHIVE, NUMBERS):
            check_linker(target)
    end = None if duration is None else positive("duration", duration)
    _check(model)
    chosen = _names("inputs", inputs)
    start = partial(model.start, step, initial=initial, order=order, numerical_damping=numerical_damping)
    if place.suffix in PAGES and outputs is None:
        outputs = page_outputs(model)
    with gripped(model) if place.suffix in PAGES else nullcontext(()) as grips:
        run = start()
        data = described(
            run,
            step,
            place.stem,
            chosen,
            outputs,
            end,
            [load for grip in grips for load in grip.loads],
            place.suffix in PAGES,
        )
        ahead = start() if place.suffix in PAGES else run
    if not place.absolute().parent.is_dir() or place.is_dir():
        words = f"there is no folder {place.parent}" if not place.is_dir() else "it is a folder"
        raise ResultFileError(f"cannot write {place}: {words}")
    for words in (*data.moving.words, *data.loads.words, *data.targets.words):
        print(words)
    if place.suffix == NUMBERS:
        write_bytes(data.tables(), place)
        return place
    try:
        codes = object_files_of(data.memory, {target.name: target for target in targets_of})
    except RuntimeError as error:
        raise PhlexibleError(f"the programs of the model cannot be compiled: {error}") from error
    header = data.header()
    if place.suffix == FMU:
        files = FmuFiles(data, version, end)
        more = {"fmu.c": (HERE / "fmu.c").read_bytes(), "fmu_data.h": files.header.encode()}
        binaries = [
            (
                FOLDERS[version][target.name],
                target.suffix,
                linked(target, {**sources(codes[target.name], header), **more}, is_fmu=True),
            )
            for target in targets_of
        ]
        write_fmu(files, binaries, place)
        return place
    target = targets_of[0]
    if place.suffix == ARCHIVE:
        write_archive(sources(codes[target.name], header), place)
        return place
    library = linked(target, sources(codes[target.name], header))
    if place.suffix in PAGES:
        write_bytes(page_of(PageParts(run, data, grips, end), ahead, library).encode(), place)
    else:
        write_library(library, place)
    return place


def _version(fmi: int, path: Path, platforms: Sequence[Platform]) -> int:
    """Of FMI, checked."""
    if whole("fmi", fmi) not in FOLDERS:
        raise ParameterError(f"fmi must be 2 or 3, got {fmi!r}")
    for target in platforms if path.suffix == FMU else ():
        if target.name not in FOLDERS[fmi]:
            known = ", ".join(FOLDERS[fmi])
            raise ParameterError(f"FMI {fmi} has no folder for {target.name}; take fmi=3, or targets of {known}")
    return fmi


def build_file(
    model_file: str | PathLike[str],
    path: str | PathLike[str],
    targets: Sequence[str] | None = None,
    duration: float | None = None,
    fmi: int = 3,
) -> Path:
    """The same of the model that a Python file defines, as ``write_fmu`` takes it: ``model`` or ``build``, and
    ``step``, and, if it likes, ``outputs`` and ``duration``.

    Args:
        model_file: the Python file.
        path, targets, fmi: as of ``build``.
        duration: takes the place of that in the file [s].

    Raises:
        ModelError, ParameterError, MissingExtraError, ResultFileError: as of ``build`` and ``write_fmu``.
    """
    file = Path(file_path("model_file", model_file))
    if not file.is_file() or file.suffix != ".py":
        raise ParameterError(f"model_file must be a Python file, got {str(model_file)!r}")
    source = source_of_file(file)
    model = source.build(**source.parameters)
    outputs = None
    if source.outputs is not coordinates_of_joints:
        given = source.outputs(model)
        named = given if isinstance(given, Mapping) else {str(each): each for each in sensors("outputs", given)}
        outputs = dict(named)
    end = source.duration if duration is None else duration
    return build(model, source.step, path, outputs=outputs, targets=targets, fmi=fmi, duration=end)


def _names(name: str, given: Sequence[str] | None) -> list[str] | None:
    if given is None:
        return None
    if not isinstance(given, list | tuple) or not all(isinstance(each, str) for each in given):
        raise ParameterError(f"{name} must be a list of names, got {given!r}")
    return list(given)


def described(
    run: LiveRun,
    step: float,
    name: str,
    inputs: Sequence[str] | None,
    outputs: Mapping[str, Sensor] | None,
    duration: float | None,
    grips: Sequence[Load] = (),
    from_start: bool = False,
) -> ModelData:
    """The data of a library of a model at its start.

    Args:
        run: of the model.
        step, name, inputs, outputs, duration: as of ``build``.
        grips: loads that become inputs after those of users.
        from_start: energies are those since the start.

    Raises:
        ModelError, ParameterError: as of ``build``.
    """
    _check_run(run)
    assembly, model = run.stepper.assembly, run.now.mechanism
    kinks = [time for load in model.loads for time in load.breakpoints]
    kinks += [time for element in model.elements for time in element.times]
    moving = _moving_data(assembly, run, duration, kinks)
    loads = _load_data(assembly, run, duration, kinks)
    measured = joint_outputs(model) if outputs is None else outputs
    if not isinstance(measured, Mapping) or not all(isinstance(each, Sensor) for each in measured.values()):
        raise ParameterError(
            f"outputs must be sensors by name such as {{'tip': Position(beam.end)}}, got {outputs!r}"
        )
    makes = OutputTables(run, from_start)
    controllers = controllers_of(assembly.controlled, makes)
    watched = makes.source_count
    tables = makes.of({str(key): sensor for key, sensor in measured.items()})
    targets = _target_data(assembly, run, duration, kinks)
    given = _inputs(run, inputs, [str(load) for load in grips])
    return ModelData(name, step, run.time, run.stepper, given, tables, moving, loads, controllers, watched, targets)


def _check(model: Model) -> None:
    if model.events:
        raise ModelError(
            f"a compiled model has no events, and the model has {', '.join(str(each) for each in model.events)};"
            " build one library for each part of the motion, or leave them out"
        )


def _check_run(run: LiveRun) -> None:
    """Refuses what needs Python in steps."""
    assembly, stepper = run.stepper.assembly, run.stepper
    if stepper.is_controlled or stepper.has_laws_of_python:
        check_controllers(assembly.controlled)
    if assembly.has_functions:
        names = ", ".join(
            dict.fromkeys(str(each.element) for each in assembly.system.forces if callable(each.force.energy))
        )
        raise ModelError(
            f"{names or 'a law of a body'}: energies that are functions of Python are not compiled into a library;"
            " take a law of phlexible, such as a linear or a logarithmic one"
        )


def _inputs(run: LiveRun, chosen: Sequence[str] | None, grips: Sequence[str]) -> tuple[InputData, ...]:
    known = {name: given for name, given in run.stepper.inputs.items() if name not in grips}
    for name in chosen or ():
        if name not in known:
            words = ", ".join(repr(each) for each in known) or "none"
            raise ParameterError(
                f"no input is named {name!r}; inputs are constant loads, torques and forces of the model: {words}"
            )
    found = []
    for name in (*(known if chosen is None else chosen), *grips):
        place, value, load = run.stepper.inputs[name]
        found.append(InputData(name, _unit(run.now.mechanism, name, load), place, value))
    return tuple(found)


def _unit(mechanism: Mechanism, name: str, load: Load | None) -> str:
    if load is not None:
        return "N m" if isinstance(load, Torque) else "N"
    element = next(each for each in mechanism.elements if str(each) == name)
    is_angle = isinstance(element, JointElement) and element.coordinate.endswith("angle")
    return "N m" if is_angle else "N"


def _moving_data(assembly: Assembly, run: LiveRun, duration: float | None, kinks: Sequence[float]) -> TimeData:
    """Of all moving vectors and paths; of a path its third number alone."""
    names, paths = list[str](), list[bool]()
    for part in assembly.moving:
        is_path = isinstance(part, TimePath)
        own = part.name if isinstance(part, TimePath) else f"path of {assembly.system.moving_frames[part.frame]}"
        names += [own] * 3
        paths += [is_path, is_path, False]

    def values(times: Array) -> Array:
        found = assembly.moving_values(times)
        found[:, np.array(paths, dtype=bool)] = 0.0
        return found

    return time_data(values, names, run.time, run.step_size, duration, kinks)


def _target_data(assembly: Assembly, run: LiveRun, duration: float | None, kinks: Sequence[float]) -> TimeData:
    """What controllers subtract measured numbers from."""
    aimed = [each for each in assembly.controlled if each.feedback.target is not None]
    names = [f"target of {each.name}" for each in aimed for _ in range(each.feedback.count)]

    def values(times: Array) -> Array:
        return targets_at([each.feedback for each in aimed], times).reshape(len(times), len(names))

    return time_data(values, names, run.time, run.step_size, duration, kinks)


def _load_data(assembly: Assembly, run: LiveRun, duration: float | None, kinks: Sequence[float]) -> TimeData:
    names = [str(load) for load in assembly.system.loads] + [name for _, name in assembly.prescribed]
    first, half = len(assembly.system.loads), run.step_size / 2

    def values(times: Array) -> Array:
        found = assembly.load_values(times)
        for k, (value, _) in enumerate(assembly.prescribed, start=first):
            if isinstance(value, ServoPush):  # its rate is a mean over the step around the time
                own = [value.over_steps(np.array([t]), np.array([t - half, t + half]))[0] for t in times]
                found[:, 3 * k] = own
        return found

    return time_data(values, [name for name in names for _ in range(3)], run.time, run.step_size, duration, kinks)
