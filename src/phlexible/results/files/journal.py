"""File of an unfinished run; contents of results files, with names, dimensions and SI units of their numbers."""

import json
import math
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.errors import ResultFileError
from phlexible.results.files.writing import replacing
from phlexible.state.branches import history_variable_names
from phlexible.state.recorded_run import RecordedStates, concatenated
from phlexible.state.system import System
from phlexible.step.integration.clock import Checkpoint
from phlexible.version import __version__


@dataclass(frozen=True)
class Field:
    """Description of one array of a recording.

    Attributes:
        dimensions: names of its axes.
        units: SI.
        meaning: in words.
    """

    dimensions: tuple[str, ...]
    units: str
    meaning: str


FIELDS = {
    "time": Field(("time",), "s", "time"),
    "position": Field(("time", "carrier", "axis"), "m", "centre of mass of a body, or a node, world axes"),
    "rotation": Field(("time", "frame_body", "axis", "column"), "1", "rotation matrix, body to world"),
    "eta": Field(("time", "coordinate"), "1", "elastic coordinates of all bodies with a frame"),
    "velocity": Field(
        ("time", "component"),
        "m/s, rad/s or 1/s",
        "V in world, w in body axes, then deta/dt, not projected",
    ),
    "multipliers": Field(("time", "row"), "N or N m", "multipliers of joints and drives, mean of adjacent steps"),
    "forces": Field(("time", "force"), "N or N m", "forces of elements and strings, mean of adjacent steps"),
    "theta": Field(("time", "force"), "m or rad", "coordinates of these forces"),
    "branches": Field(("time", "branch"), "m, rad or 1", "strains of springs of laws that creep, bristles"),
    "locked_at": Field(("time", "switch"), "m or rad", "where constraints are held that events hold or release"),
    "event_times": Field(("time", "event"), "s", "when each event happened, nan: not yet"),
    "event_losses": Field(("time", "event"), "J", "energy that it took"),
    "paths": Field(("time", "drive"), "m or rad", "driven coordinates and lengths of hoists (p^2 / 2 p(0))"),
    "path_rates": Field(("time", "drive"), "m/s or rad/s", "rates of driven coordinates"),
    "frames": Field(("time", "frame", "axis"), "m", "origin of each moving frame, world axes"),
    "frame_rotations": Field(("time", "frame", "axis", "column"), "1", "turn of each moving frame since t = 0"),
    "frame_velocities": Field(("time", "frame", "axis"), "m/s", "velocity of each moving frame, world axes"),
    "frame_angular_velocities": Field(
        ("time", "frame", "axis"), "rad/s", "angular velocity of each moving frame, world axes"
    ),
    "kinetic": Field(("time",), "J", "kinetic energy"),
    "strain": Field(("time",), "J", "elastic energy"),
    "gravity": Field(("time",), "J", "potential energy of weight"),
    "spring": Field(("time",), "J", "energy of springs between bodies"),
    "work": Field(("time", "source"), "J", "work since t = 0 of each load and drive"),
    "dissipated": Field(("time",), "J", "energy lost since t = 0"),
    "iterations": Field(("time",), "1", "Newton iterations since t = 0"),
    "halvings": Field(("time",), "1", "halved steps since t = 0"),
    "contact_steps": Field(("time",), "1", "parts of steps around contacts since t = 0"),
    "step_error": Field(("time",), "1", "greatest estimated error of a step since the instant before"),
}
"""Fields by the name of the attribute of ``RecordedStates``."""


def labels(system: System, recording: RecordedStates) -> dict[str, list[str]]:
    """Return the names of the entries of recorded states along each dimension except time, for results files. The
    dictionary maps the name of a dimension, such as "component" or "row", to a list: names of bodies and nodes,
    velocity components, constraints, forces and so on. ``system`` has the bodies, joints and forces; ``recording``
    the names of sources of work."""
    carriers, components, coordinates = [], [], []
    for placed in system.bodies:
        if isinstance(placed.data, AbsoluteBody):
            names = [f"{placed.name}: {node}" for node in placed.data.node_names]
            carriers += names
            components += [f"{name}: V_{'xyz'[axis]}" for name in names for axis in range(system.dimension)]
            continue
        carriers.append(placed.name)
        etas = [f"{placed.name}: eta_{k + 1}" for k in range(placed.data.elastic_count)]
        coordinates += etas
        rigid = [f"V_{'xyz'[axis]}" for axis in placed.data.linear_axes]
        spins = [f"w_{'xyz'[axis]}" for axis in placed.data.rotation_axes]
        components += [f"{placed.name}: {name}" for name in rigid + spins]
        components += [f"{placed.name}: deta_{k + 1}/dt" for k in range(len(etas))]
    forces = [f"{element}: {force.coordinate.name}" for element, force in system.forces]
    related = [f"{system.owners[each.row].joint}: {each.coordinate.name}" for each in system.related]
    strains = [
        f"{placed.name}: strain of element {element}"
        for placed in system.bodies
        if isinstance(placed.data, AbsoluteBody)
        for group in placed.data.strains
        for element in group.elements
    ]
    return {
        "carrier": carriers,
        "frame_body": [placed.name for placed in system.bodies[: system.layout.frames]],
        "axis": ["x", "y", "z"],
        "column": ["x", "y", "z"],
        "coordinate": coordinates,
        "component": components,
        "row": [f"{owner.joint}: {owner.row.label}" for owner in system.owners],
        "force": forces + strains + related,
        "branch": history_variable_names(system),
        "switch": [str(switch.constraint) for switch in system.mechanism.switches],
        "event": [str(event) for event in system.mechanism.events if system.mechanism.switches],
        "drive": [str(part) for part in system.prescribed],
        "frame": [str(frame) for frame in system.moving_frames],
        "source": list(recording.work_names),
    }


# The file of a run that goes on, was killed or could not end: records, one behind the other.
#
# Only whole records are read: what a kill or a full disk leaves of the last one is passed over, and each has a
# checksum. Nothing is ever changed in place, so that a file can be read while it is written. When the run ends
# the file becomes an HDF5 file (``hdf5.py``).

TITLE = b"phlexible results of a run that has not ended; phlexible.Motion.load reads them\n"
MARK = b"\nREC"
HEAD = struct.Struct("<4sQQII")  # mark, bytes of the text, bytes of all, their checksum, checksum of the head
KINDS = ("<f8", "<i8")

Text = dict[str, Any]
Arrays = Mapping[str, NDArray[Any]]


def is_journal(path: Path) -> bool:
    """Return whether the file ``path`` is the results file of an unfinished run (begins with the title line
    of the journal format)."""
    with open(path, "rb") as file:
        return file.read(len(TITLE)) == TITLE


class Journal:
    """File to which records are appended.

    Args:
        path: replaced once the new file holds its first record.
        text, arrays: the first record.

    Raises:
        ResultFileError: the disk refuses.
    """

    def __init__(self, path: Path, text: Text, arrays: Arrays) -> None:
        self._path, first = path, TITLE + record_bytes(text, arrays)
        with replacing(path) as draft:
            draft.write_bytes(first)
        self._length = len(first)

    def append(self, text: Text, arrays: Arrays) -> None:
        """Append JSON text and arrays as one record to the journal file of an unfinished run. The operating system
        has the record before the call returns, so that it survives the end of this process. If writing fails, the
        file is cut back to its old length and ``ResultFileError`` is raised.

        Raises:
            ResultFileError: the disk refuses; the file is as it was before.
        """
        new = record_bytes(text, arrays)
        try:
            with open(self._path, "r+b") as file:
                file.seek(self._length)
                file.write(new)
        except OSError as error:
            try:
                os.truncate(self._path, self._length)
            except OSError:
                pass  # the part of a record at the end is passed over
            raise ResultFileError.of_writing(self._path, error) from error
        self._length += len(new)


def record_bytes(text: Text, arrays: Arrays) -> bytes:
    """Return the bytes of one record of a journal file: a head with lengths and checksums, JSON text that also
    lists name, type and shape of the arrays, and the entries of the arrays."""
    plain = {name: np.ascontiguousarray(array, KINDS[array.dtype.kind == "i"]) for name, array in arrays.items()}
    listed = [[name, array.dtype.str, array.shape] for name, array in plain.items()]
    head = json.dumps({**text, "arrays": listed}).encode()
    body = b"".join([head, *(array.tobytes() for array in plain.values())])
    return _head(len(head), len(body), zlib.crc32(body)) + body


def _head(text_length: int, length: int, checksum: int) -> bytes:
    head = HEAD.pack(MARK, text_length, length, checksum, 0)[:-4]
    return head + struct.pack("<I", zlib.crc32(head))


def read_records(path: Path) -> Iterator[tuple[Text, dict[str, NDArray[Any]]]]:
    """Yield each complete record of the journal ``path``, as a pair of JSON data and a dictionary of its arrays by
    name. A journal is the results file of an unfinished run. An incomplete record at the end is ignored.
    ResultFileError is raised for a damaged record before the end. The arrays are read-only.

    Raises:
        ResultFileError: a damaged record before the end.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(len(TITLE))
        while (body := _next_record(file, size, path)) is not None:
            text_length, content = body
            text = json.loads(content[:text_length])
            arrays, offset = {}, text_length
            for name, kind, shape in text.pop("arrays"):
                if kind not in KINDS:
                    raise ResultFileError(f"{path} is damaged: {name} is of the kind {kind!r}")
                count = math.prod(shape)
                arrays[name] = np.frombuffer(content, kind, count, offset).reshape(shape)
                offset += arrays[name].nbytes
            yield text, arrays


def _next_record(file: BinaryIO, size: int, path: Path) -> tuple[int, bytes] | None:
    """Read the next record of a journal (results file of an unfinished run) and return a pair: length of its JSON
    text [bytes], and its bytes. The bytes are JSON, then arrays. Return None at the end or if the last record is
    incomplete. ``ResultFileError`` is raised if a checksum (CRC32) is wrong elsewhere. ``size`` is the size of the
    file, ``path`` its name for messages."""
    head = file.read(HEAD.size)
    if len(head) < HEAD.size or not any(head):
        return None
    _, text_length, length, checksum, _ = HEAD.unpack(head)
    if head != _head(text_length, length, checksum):
        raise ResultFileError(f"{path} is damaged at byte {file.tell()}: a checksum is wrong")
    left = size - file.tell()
    if length > left:
        return None
    body = file.read(length)
    if zlib.crc32(body) == checksum:
        return text_length, body
    if length == left:
        return None
    raise ResultFileError(f"{path} is damaged before byte {file.tell()}: a checksum is wrong")


# What a results file holds, finished or not, and whether it makes sense.

FORMAT = "phlexible results"
FORMAT_VERSION = 2  # 1: meshes of nearly equal sides had their nodes in another order
HEADER = {"format": FORMAT, "format_version": FORMAT_VERSION, "phlexible_version": __version__}

Packed = tuple[dict[str, Any], Array]
"""Checkpoint as JSON and the numbers of the stepper."""


@dataclass(frozen=True, eq=False)
class Stored:
    """Contents of a results file.

    Attributes:
        description: of the mechanism, as JSON.
        recording: stored instants.
        checkpoint: state from which the run can be resumed, or None.
        is_complete: whether the run ended properly.
    """

    description: dict[str, Any]
    recording: RecordedStates
    checkpoint: Checkpoint | None
    is_complete: bool


def checkpoint_as_json(checkpoint: Checkpoint) -> Packed:
    """Return a checkpoint of a run as results files store it, as a pair: a dictionary of JSON values, and the
    array with the state of the time integration."""
    text = {field.name: getattr(checkpoint, field.name) for field in fields(checkpoint)}
    return text, text.pop("values")


def checkpoint_from_json(text: dict[str, Any], values: Array) -> Checkpoint:
    """Return the checkpoint of a run from its JSON values ``text`` and the array ``values`` of the object
    that takes time steps."""
    return Checkpoint(**text, values=np.array(values))


def check_kind(path: Path, kind: object, version: object, writer: object) -> None:
    """Raise ``ResultFileError`` if the file ``path`` was not written by phlexible or has another format
    version. ``kind`` of file, ``version`` and ``writer`` (version of phlexible) are the entries of its
    header.

    Raises:
        ResultFileError: says which version can read it.
    """
    if kind != FORMAT:
        raise ResultFileError(f"{path} is not one of phlexible's results")
    if version != FORMAT_VERSION:
        raise ResultFileError(
            f"{path} has format version {version}, written by phlexible {writer}, and phlexible {__version__} "
            f"reads version {FORMAT_VERSION}; read it with the phlexible that wrote it, or simulate again"
        )


def check_recording(path: Path, recording: RecordedStates, system: System) -> None:
    """Raise ``ResultFileError`` if the arrays of recorded states (``recording``) do not have the shapes that the
    ``system`` needs. The error is also raised without instants or if times do not increase. ``path`` is the file
    from which they were loaded.

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


# The file of a run as long as it goes on: blocks of instants, each with the checkpoint at its end.


class UnfinishedFile:
    """File to which the blocks of a run are written.

    Args:
        path: replaced once the new file holds its first block.
        description: of what moves, as JSON.
        block: the first instants, from t = 0 on.
        checkpoint: at their end.

    Raises:
        ResultFileError: the disk refuses.
    """

    def __init__(
        self, path: Path, description: dict[str, Any], chunk: RecordedStates, checkpoint: Checkpoint
    ) -> None:
        text, arrays = _record(chunk, checkpoint, False)
        head = {**HEADER, "work_names": chunk.work_names, "description": description}
        self._journal = Journal(path, {**head, **text}, arrays)

    def append(self, chunk: RecordedStates, checkpoint: Checkpoint, is_complete: bool = False) -> None:
        """Append a ``chunk`` of recorded instants and the ``checkpoint`` at its end to the file of an unfinished
        run. When the file is read, the first instant of the chunk replaces the last one before it. ``is_complete``
        says whether the run has reached its end.

        Raises:
            ResultFileError: the disk refuses; the file is as it was before.
        """
        self._journal.append(*_record(chunk, checkpoint, is_complete))


def _record(chunk: RecordedStates, checkpoint: Checkpoint, is_complete: bool) -> tuple[dict[str, Any], Arrays]:
    text, numbers = checkpoint_as_json(checkpoint)
    arrays = {name: getattr(chunk, name) for name in FIELDS}
    return {"checkpoint": text, "complete": is_complete}, {**arrays, "checkpoint": numbers}


def read_unfinished(path: Path) -> Stored:
    """Return the contents of the results file ``path`` of an unfinished run, up to its last complete block of
    instants. The blocks are concatenated; ResultFileError is raised if there is none.

    Raises:
        ResultFileError: a damaged file, or one of another version.
        Exception: of another kind, for a damaged file.
    """
    description: dict[str, Any] = {}
    work_names: tuple[str, ...] = ()
    blocks: list[RecordedStates] = []
    for text, arrays in read_records(path):
        if not blocks:
            check_kind(path, *(text[name] for name in HEADER))
            description, work_names = text["description"], tuple(text["work_names"])
        else:
            blocks[-1] = blocks[-1].rows(slice(0, -1))
        numbers = arrays.pop("checkpoint")
        blocks.append(RecordedStates(**arrays, work_names=work_names))
        checkpoint, is_complete = checkpoint_from_json(text["checkpoint"], numbers), bool(text["complete"])
    if not blocks:
        raise ResultFileError(f"{path} holds no instant")
    return Stored(description, concatenated(blocks), checkpoint, is_complete)
