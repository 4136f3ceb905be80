"""Retained shapes kept in a folder, by a digest of all that they follow from."""

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
class KeptShapes:
    """All of a condensed model that needs its equations solved.

    Attributes:
        shapes, frequencies, counts, moved, turned, effective_mass: see ``Condensed`` and ``RetainedShapes``.
        geometric: H of (3.15) with (3.16), docs/theory.md, 3, shape (n, n, n); (0, 0, 0) of linear strain.
        unrelaxed: C of (3.19), shape (m, n, n).
        solver: what factored the stiffness matrix, as characters.
        moments: of plates whose elements know them at the nodes, shape (N, 3, n); (0, 3, n) of others.
    """

    shapes: Array
    frequencies: Array
    counts: IntArray
    moved: Array
    turned: Array
    effective_mass: Array
    geometric: Array
    unrelaxed: Array
    solver: Array
    moments: Array

    @classmethod
    def of(cls, found: Condensed, geometric: Array | None = None, unrelaxed: Array | None = None) -> "KeptShapes":
        """Of a model that was condensed now."""
        n = found.shapes.shape[1]
        return cls(
            found.shapes,
            found.kept.frequencies,
            np.array(found.kept.counts),
            found.moved,
            found.turned,
            found.effective_mass,
            np.zeros((0, 0, 0)) if geometric is None else geometric + found.tied_work,
            np.zeros((0, n, n)) if unrelaxed is None else unrelaxed,
            np.array(found.solver),
            np.zeros((0, 3, n)),
        )

    @property
    def shape_counts(self) -> tuple[int, int, int, int]:
        """Answers to loads and to inertial loads, modes, modal derivatives."""
        answers, inertial, modes, derivatives = self.counts.tolist()
        return answers, inertial, modes, derivatives


@dataclass(frozen=True)
class Folder:
    """Where shapes are kept.

    Attributes:
        path: of the folder, which is made when something is kept; None: nowhere.
    """

    path: Path | None

    def kept(self, made_of: object, make: Callable[[], KeptShapes]) -> KeptShapes:
        """Shapes that were made of the same before, or newly made ones.

        A file that cannot be read is made anew; nothing in it is run.

        Args:
            made_of: what the shapes follow from: numbers, text, arrays, and tuples and dataclasses of these.

        Raises:
            ParameterError: the folder cannot be written.
        """
        if self.path is None:
            return make()
        file = self.path / f"{digest(made_of)}.npz"
        try:
            with file.open("rb") as stream, np.load(stream, allow_pickle=False) as found:
                return KeptShapes(**found)
        except (OSError, ValueError, TypeError, EOFError, KeyError, zipfile.BadZipFile):
            shapes = make()
        try:
            _write(file, {each.name: getattr(shapes, each.name) for each in fields(shapes)})
        except OSError as error:
            raise ParameterError(f"cache: {self.path} cannot be written: {error}") from error
        return shapes


def _write(file: Path, arrays: dict[str, Array]) -> None:
    """Under another name first, so that no half file is ever read."""
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
    """Of numbers, text, arrays, and tuples and dataclasses of these, and of the version of this package."""
    pieces: list[bytes] = [__version__.encode()]
    _add(pieces, value)
    found = hashlib.sha256()
    for piece in pieces:
        found.update(piece)
    return found.hexdigest()


def _add(pieces: list[bytes], value: object) -> None:
    if isinstance(value, np.ndarray):
        pieces.append(f"{value.dtype.str}{value.shape}".encode())
        pieces.append(value.tobytes())
    elif isinstance(value, tuple | list):
        pieces.append(f"({len(value)}".encode())
        for each in value:
            _add(pieces, each)
    elif is_dataclass(value) and not isinstance(value, type):
        pieces.append(type(value).__name__.encode())
        for field in fields(value):
            _add(pieces, getattr(value, field.name))
    else:
        pieces.append(f"{type(value).__name__}:{value!r};".encode())
