"""Matrices that finite element programs write to files."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from phlexible.algebra.options import file_path
from phlexible.bodies.flexible.files.abaqus import read_abaqus
from phlexible.bodies.flexible.files.ansys import read_full
from phlexible.bodies.flexible.files.labelled_matrix import LabelledMatrix, unlabelled
from phlexible.bodies.flexible.files.nastran import read_punch
from phlexible.bodies.flexible.files.output4 import read_output4
from phlexible.errors import MissingExtraError, ParameterError

Matrices = dict[str, LabelledMatrix]


def read_matrices(path: str | os.PathLike[str]) -> Matrices:
    """All matrices of a file, by name (of files with one the name of the file without its ending).

    Matrix Market (``.mtx``, ``.mm``), Abaqus (``.mtx`` of ``*MATRIX OUTPUT`` in any of its formats), Nastran
    punch files with ``DMIG`` entries (``.pch``, ``.bdf``, ``.dat``), Nastran OUTPUT4 (``.op4``), text or binary,
    and Ansys ("mass" and "stiffness" of ``.full``).

    Raises:
        ParameterError: no such file, one of another format, or entries that are not finite.
        MissingExtraError: an Ansys file, and ansys-mapdl-reader is not installed.
    """
    file = Path(file_path("path", path))
    if not file.is_file():
        raise ParameterError(f"path: there is no file {file}")
    try:
        found = _reader(file)(file)
    except (ParameterError, MissingExtraError):
        raise
    except Exception as error:  # of files that are not what they seem
        raise ParameterError(f"path: {file} cannot be read: {error}") from error
    for name, each in found.items():
        if not np.isfinite(each.matrix.data).all():
            entries = each.matrix.tocoo()
            k = int(np.flatnonzero(~np.isfinite(entries.data))[0])
            raise ParameterError(
                f"path: the matrix {name} of {file} must be finite, it has {entries.data[k]} in row"
                f" {entries.coords[0][k] + 1}, column {entries.coords[1][k] + 1}"
            )
    return found


def _reader(file: Path) -> Callable[[Path], Matrices]:
    if file.suffix.lower() == ".full":
        return read_full
    if file.suffix.lower() == ".op2":
        raise ParameterError(f"path: {file} is an OUTPUT2 file; write its matrices with OUTPUT4 (.op4) or as DMIG")
    with file.open("rb") as stream:
        begin = stream.read(2048)
    if begin.startswith(b"%%MatrixMarket"):
        return _read_matrix_market
    if file.suffix.lower() == ".op4":
        return read_output4
    if b"DMIG" in begin.upper() or file.suffix.lower() in (".pch", ".bdf", ".dat", ".nas"):
        return read_punch
    return read_abaqus


def _read_matrix_market(file: Path) -> Matrices:
    from scipy.io import mmread

    return {file.stem: unlabelled(mmread(file, spmatrix=False))}
