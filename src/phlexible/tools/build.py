"""Export of a model as a library that runs without Python (``ph.build``)."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from phlexible.algebra.arrays import called, file_path, positive, texts, whole
from phlexible.description.interactions.sensor import Sensor
from phlexible.errors import ModelError, ParameterError, PhlexibleError, ResultFileError
from phlexible.libraries.data import ModelData
from phlexible.libraries.description import check_events, library_data
from phlexible.libraries.fmu_archive import FOLDERS, FmuFiles, write_fmu
from phlexible.libraries.linking import (
    ARCHIVE,
    FMU,
    HERE,
    PAGES,
    TABLES,
    Platform,
    check_linker,
    linked_library,
    platforms_of,
    sources,
    write_archive,
    write_bytes,
    write_library,
)
from phlexible.libraries.parameter_models import Variants, with_parameters
from phlexible.libraries.parameters import ranges_of
from phlexible.libraries.programs import object_files_of
from phlexible.libraries.web_page import live_page
from phlexible.model import Model
from phlexible.results.live import LiveRun
from phlexible.state.initial_state import InitialKind
from phlexible.state.layout import State

Outputs = Mapping[str, Sensor] | Callable[[Model], Mapping[str, Sensor]]


def build(
    model: Model | Callable[..., Model],
    step: float,
    path: str | PathLike[str],
    inputs: Sequence[str] | None = None,
    outputs: Outputs | None = None,
    targets: Sequence[str] | None = None,
    *,
    parameters: Mapping[str, Sequence[Any]] | None = None,
    fmi: int = 3,
    duration: float | None = None,
    initial: InitialKind | State | str = "undeformed",
    order: int = 2,
    numerical_damping: float = 0.0,
) -> Path:
    """Write a model as a compiled library, FMU or web page that computes its time steps of length ``step`` [s]
    without Python. The suffix of ``path`` selects the kind of file. ``inputs`` and ``outputs`` are those of the
    library, ``parameters`` ranges of arguments that can be set in it. Return the path. ModelError is raised for
    parts that need Python, ParameterError for unknown names.

    The library has the functions of ``model.h``; ``ph.load_library`` calls them. Its steps are those of
    ``model.start(step)`` up to round-off. Functions of time become data: constants, polynomials and harmonics for
    all times, others tables up to ``duration``, whose errors are printed.

    Args:
        model: without events, and controllers and laws that are functions of Python; or the function that builds
            it, which ``parameters`` take.
        step: [s].
        path: ``.so``, ``.dll``, ``.dylib`` or ``.wasm``; ``.fmu`` for co-simulation by other programs; ``.html``
            for one page that steps the model in a browser, with sliders for inputs and bodies to be pulled at;
            or ``.zip`` for the sources in C and the object files that a library is made of, for a linker of yours;
            or ``.tables`` for the numbers alone, which a library of another model of the same structure takes.
        inputs: names of constant loads, torques and forces that can be set from step to step; None: of all that
            no parameter sets.
        outputs: sensors by name, or a function of the model that returns these; None: positions and rates of all
            joints (of ``Sliding`` the position alone, whose rate a library does not measure), of a page positions
            and energies.
        targets: the platform: "linux-x86_64", "linux-aarch64", "windows-x86_64", "macos-arm64", "macos-x86_64",
            "wasm32"; None: this machine, or what the suffix stands for. An FMU takes several; None: all, or without
            Zig this machine.
        parameters: keyword arguments of the function ``model`` that can be set in the library, each as (low, value,
            high) or (low, value, high, unit): stiffnesses, masses, loads, positions, what changes numbers of the
            model and not its parts. The numbers must be linear in a power of each parameter; how well they are is
            printed.
        fmi: version of an FMU, 2 or 3.
        duration: up to which functions of time are tables [s]; None: there are none that need it.
        initial, order, numerical_damping: as of ``Model.simulate``.

    Returns:
        The path.

    Raises:
        ModelError: something that needs Python, by its name, with what to do instead, or an order beyond 2 of a
            model that loses energy.
        ParameterError: no such input or platform, a function of time that needs ``duration``, or a parameter that
            changes other things than numbers, or these in another way.
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
    ranges = () if parameters is None else ranges_of(parameters)
    usual = {each.name: each.usual for each in ranges}

    def made(values: Mapping[str, float]) -> tuple[Model, Mapping[str, Sensor] | None]:
        own = _model(model, values)
        return own, _outputs(outputs, own)

    first, measured = made(usual)
    place = Path(file_path("path", path))
    targets_of = platforms_of(place, None if targets is None else texts("targets", targets))
    if place.suffix == FMU and targets is None and fmi == 2:
        targets_of = tuple(target for target in targets_of if target.name in FOLDERS[2])
    version = _version(fmi, place, targets_of)
    for target in targets_of:
        if place.suffix not in (ARCHIVE, TABLES):
            check_linker(target)
    end = None if duration is None else positive("duration", duration)
    check_events(first)
    names = None if inputs is None else texts("inputs", inputs)

    def start(one: Model) -> LiveRun:
        return one.start(step, initial=initial, order=order, numerical_damping=numerical_damping)

    if place.suffix in PAGES:
        _check_writable(place)
        variants = Variants(ranges, made) if ranges else None
        page = live_page(first, start, place.stem, inputs=names, outputs=measured, duration=end, variants=variants)
        write_bytes(page.encode(), place)
        return place
    if ranges and place.suffix == TABLES:
        raise ParameterError(f"{place.name} holds numbers of one model; leave out parameters=, or build a library")

    def data_of(values: Mapping[str, float], names: Sequence[str] | None) -> ModelData:
        own, its = (first, measured) if values == usual else made(values)
        return library_data(start(own), step, place.stem, names, its, end, has_parameters=bool(ranges))

    data = data_of(usual, names)
    _check_writable(place)
    if ranges:
        data = with_parameters(data_of, data, ranges, names)
    for words in data.messages:
        print(words)
    if place.suffix == TABLES:
        write_bytes(data.tables(), place)
        return place
    try:
        codes = object_files_of(data.memory, {target.name: target for target in targets_of}, data.energies.modules)
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
                linked_library(target, {**sources(codes[target.name], header), **more}, is_fmu=True),
            )
            for target in targets_of
        ]
        write_fmu(files, binaries, place)
        return place
    target = targets_of[0]
    if place.suffix == ARCHIVE:
        write_archive(sources(codes[target.name], header), place)
        return place
    write_library(linked_library(target, sources(codes[target.name], header)), place)
    return place


def _model(source: Model | Callable[..., Model], values: Mapping[str, float]) -> Model:
    """Return the model that is built as a library. It is the ``source`` itself if it is a model, else the result
    of this function, called once with all parameter ``values`` as keywords. Parameters given with a model instead
    of a function raise ParameterError; a result that is no model raises ModelError."""
    if isinstance(source, Model) and values:
        raise ParameterError(
            f"parameters= set {', '.join(values)}, which needs the function that builds the model:"
            " ph.build(build, ..., parameters={...}), where build(stiffness=..., ...) returns a Model"
        )
    if isinstance(source, Model) or not callable(source):
        found: object = source
    else:
        said = ", ".join(f"{name}={value!r}" for name, value in values.items())
        found = called(partial(source, **values), f"model({said})", at="for these parameters")
    if not isinstance(found, Model):
        raise ModelError(f"build takes a model, or a function that returns one, got {found!r}")
    return found


def _outputs(source: Outputs | None, model: Model) -> Mapping[str, Sensor] | None:
    """Return the outputs of a library as sensors by name. If ``source`` is a function of the user, it is called
    once with the model, and its dictionary of sensors is returned. ParameterError is raised if it returns no
    dictionary or an empty one. A ``source`` that is no function (a dictionary or None) is returned unchanged."""
    if not callable(source):
        return source
    found = called(source, "outputs", model, at="for the model")
    if not isinstance(found, Mapping) or not found:
        raise ParameterError(f"outputs must return sensors by name, got {found!r}")
    return found


def _check_writable(path: Path) -> None:
    """Raise ResultFileError if the folder of a ``path`` does not exist or the path is a folder. This is called
    before anything is compiled; permissions are not checked."""
    if not path.absolute().parent.is_dir() or path.is_dir():
        words = f"there is no folder {path.parent}" if not path.is_dir() else "it is a folder"
        raise ResultFileError(f"cannot write {path}: {words}")


def _version(fmi: int, path: Path, platforms: Sequence[Platform]) -> int:
    """Return the version ``fmi`` of the FMI standard unchanged if it is 2 or 3. Raise ``ParameterError`` for
    another version. Also raise it if ``path`` ends in .fmu and that version of the standard has no folder for one
    of the ``platforms``."""
    if whole("fmi", fmi) not in FOLDERS:
        raise ParameterError(f"fmi must be 2 or 3, got {fmi!r}")
    for target in platforms if path.suffix == FMU else ():
        if target.name not in FOLDERS[fmi]:
            known = ", ".join(FOLDERS[fmi])
            raise ParameterError(f"FMI {fmi} has no folder for {target.name}; take fmi=3, or targets of {known}")
    return fmi
