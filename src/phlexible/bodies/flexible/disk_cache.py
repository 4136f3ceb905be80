"""Cache of retained shapes in a folder, found by a digest of everything that they depend on."""

import hashlib
import os
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.flexible.retained import Condensed
from phlexible.errors import ParameterError
from phlexible.version import __version__


@dataclass(frozen=True, eq=False)
class StoredShapes:
    """Results of reducing a finite element model to retained shapes, as arrays that are stored in a file, without
    the model's equations.

    Attributes:
        shapes, frequencies, counts, displacements, rotations, effective_mass: see ``Condensed`` and
            ``RetainedShapes``.
        geometric: H of (3.15) with (3.16), docs/theory.md, 3, shape (n, n, n); (0, 0, 0) of linear strain.
        unrelaxed: C of (3.19), shape (m, n, n).
        solver: name of the library that factored the stiffness matrix, as an array of characters.
        moments: at the nodes of plates whose elements have moments as unknowns, shape (N, 3, n); else (0, 3, n).
    """

    shapes: Array
    frequencies: Array
    counts: IntArray
    displacements: Array
    rotations: Array
    effective_mass: Array
    geometric: Array
    unrelaxed: Array
    solver: Array
    moments: Array

    @classmethod
    def of(cls, model: Condensed, geometric: Array | None = None, unrelaxed: Array | None = None) -> "StoredShapes":
        """Return the results of a finite element model's reduction as a record of arrays that can be stored in
        a file. They are displacement shapes, frequencies, counts of shapes, interface motions and effective
        mass. ``geometric`` stiffness, plus the work of forces at rigid interfaces, and strains without
        relaxation (``unrelaxed``) are added; None becomes an empty array or zero strains. The model's matrices
        are left out."""
        n = model.shapes.shape[1]
        return cls(
            model.shapes,
            model.basis.frequencies,
            np.array(model.basis.counts),
            model.displacements,
            model.rotations,
            model.effective_mass,
            np.zeros((0, 0, 0)) if geometric is None else geometric + model.tied_work,
            np.zeros((0, n, n)) if unrelaxed is None else unrelaxed,
            np.array(model.solver),
            np.zeros((0, 3, n)),
        )

    @property
    def shape_counts(self) -> tuple[int, int, int, int]:
        """Numbers of retained displacement shapes by origin, as a tuple of four: loads on interfaces, inertial
        loads, vibration modes and modal derivatives."""
        answers, inertial, modes, derivatives = self.counts.tolist()
        return answers, inertial, modes, derivatives


@dataclass(frozen=True)
class Folder:
    """Folder in which retained shapes are cached between runs of a program.

    Attributes:
        path: of the folder, which is made when it is needed; None: nothing is stored.
    """

    path: Path | None

    def load_or_make(self, made_of: object, make: Callable[[], StoredShapes]) -> StoredShapes:
        """Return the retained displacement shapes of a finite element model from a file in this cache folder,
        whose name is a digest of ``made_of``. If there is no readable file, call ``make()``, write its result to
        the file and return it. Without a folder, only call ``make()``. Raise ``ParameterError`` if the file cannot
        be written.

        A file that cannot be read is replaced; nothing in it is executed.

        Args:
            made_of: data that the shapes depend on: numbers, text, arrays, and tuples and dataclasses of these.

        Raises:
            ParameterError: the folder cannot be written.
        """
        if self.path is None:
            return make()
        file = self.path / f"{digest(made_of)}.npz"
        try:
            with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
                return StoredShapes(**arrays)
        except (OSError, ValueError, TypeError, EOFError, KeyError, zipfile.BadZipFile):
            shapes = make()
        try:
            _write(file, vars(shapes))
        except OSError as error:
            raise ParameterError(f"cache: {self.path} cannot be written: {error}") from error
        return shapes


def _write(file: Path, arrays: dict[str, Array]) -> None:
    """Write named arrays to the ``file`` (.npz) under a temporary name, and then rename it, so that no other
    program reads an incomplete file. Missing folders are created; after an error the temporary file is removed."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as stream:
            np.savez(stream, **arrays)  # type: ignore[arg-type]
        os.replace(name, file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def digest(value: object) -> str:
    """Return the SHA-256 digest (hexadecimal text) of this package's version and a value, as the name of a cache
    file. The value consists of numbers, text, arrays, tuples, lists and dataclasses."""
    pieces: list[bytes] = [__version__.encode()]
    _append_bytes(pieces, value)
    hash_of_pieces = hashlib.sha256()
    for piece in pieces:
        hash_of_pieces.update(piece)
    return hash_of_pieces.hexdigest()


def _append_bytes(chunks: list[bytes], value: object) -> None:
    """Append to ``chunks`` the bytes that identify a value for a digest: type, shape and content of an array, type
    and ``repr`` of numbers and text. Tuples, lists and dataclasses are traversed recursively."""
    if isinstance(value, np.ndarray):
        chunks.append(f"{value.dtype.str}{value.shape}".encode())
        chunks.append(value.tobytes())
    elif isinstance(value, tuple | list):
        chunks.append(f"({len(value)}".encode())
        for each in value:
            _append_bytes(chunks, each)
    elif is_dataclass(value) and not isinstance(value, type):
        chunks.append(type(value).__name__.encode())
        for field in fields(value):
            _append_bytes(chunks, getattr(value, field.name))
    else:
        chunks.append(f"{type(value).__name__}:{value!r};".encode())
