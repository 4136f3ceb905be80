"""What a results file holds, finished or not, and whether it makes sense."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ResultFileError
from phlexible.results.files.fields import FIELDS, labels
from phlexible.system.recording import Recording
from phlexible.system.system import System
from phlexible.time_integration.checkpoint import Checkpoint
from phlexible.version import __version__

FORMAT = "phlexible results"
FORMAT_VERSION = 4
HEADER = {"format": FORMAT, "format_version": FORMAT_VERSION, "phlexible_version": __version__}

Packed = tuple[dict[str, Any], Array]
"""A checkpoint as JSON and the numbers of the stepper."""


@dataclass(frozen=True, eq=False)
class Stored:
    """What a file holds.

    Attributes:
        description: of the mechanism, as JSON.
        recording: stored instants.
        checkpoint: where the run can go on, or None.
        is_complete: the run ended properly.
    """

    description: dict[str, Any]
    recording: Recording
    checkpoint: Checkpoint | None
    is_complete: bool


def packed(checkpoint: Checkpoint) -> Packed:
    """A checkpoint as files have it."""
    text = {field.name: getattr(checkpoint, field.name) for field in fields(checkpoint)}
    return text, text.pop("numbers")


def unpacked(text: dict[str, Any], numbers: Array) -> Checkpoint:
    """The checkpoint that was packed."""
    return Checkpoint(**text, numbers=np.array(numbers))


def check_kind(path: Path, kind: object, found: object, writer: object) -> None:
    """Refuses files of others and of other versions.

    Raises:
        ResultFileError: says which version can read it.
    """
    if kind != FORMAT:
        raise ResultFileError(f"{path} is not one of phlexible's results")
    if found != FORMAT_VERSION:
        raise ResultFileError(
            f"{path} has format version {found}, written by phlexible {writer}, and phlexible {__version__} reads "
            f"version {FORMAT_VERSION}; read it with the phlexible that wrote it, or simulate again"
        )


def check_recording(path: Path, recording: Recording, system: System) -> None:
    """Refuses numbers that are not a motion of the system.

    Raises:
        ResultFileError: says which.
    """
    named, count = labels(system, recording), len(recording.time)
    if not count:
        raise ResultFileError(f"{path} holds no instant")
    for name, field in FIELDS.items():
        found = getattr(recording, name).shape
        expected = (count, *(len(named[dimension]) for dimension in field.dimensions[1:]))
        if found != expected:
            raise ResultFileError(
                f"{path} is damaged: {name} has shape {found}, and {expected} fits its model and its instants"
            )
    if not (np.isfinite(recording.time).all() and (np.diff(recording.time) > 0).all()):
        raise ResultFileError(f"{path} is damaged: its instants do not follow each other")
