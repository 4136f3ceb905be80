"""``write_fmu``: a model as a co-simulation FMU (FMI 3.0), through pythonfmu3."""

import shutil
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory

from phlexible.algebra.options import file_path
from phlexible.errors import ParameterError, ResultFileError
from phlexible.exchange.fmu_model import FmuModel, identifier, source_of_file
from phlexible.results.extras import optional

SCRIPT = '''"""Made by phlexible: the FMU of {file}."""

from pythonfmu3 import Fmi3Slave

from phlexible.exchange.fmu_slave import ModelSlave


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
        made = fmi.FmuBuilder.build_FMU(script, dest=folder, project_files=[source], **states)
        try:
            shutil.copyfile(made, target)
        except OSError as error:
            raise ResultFileError(f"cannot write {target}: {error}") from error
    return target
