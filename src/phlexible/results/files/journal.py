"""The file of a run that goes on, was killed or could not end: records, one behind the other.

Only whole records are read: what a kill or a full disk leaves of the last one is passed over, and each has a
checksum. Nothing is ever changed in place, so that a file can be read while it is written. When the run ends
the file becomes an HDF5 file (``hdf5.py``).
"""

import json
import math
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from phlexible.errors import ResultFileError
from phlexible.results.files.replacing import cannot_write, replacing

TITLE = b"phlexible results of a run that has not ended; phlexible.Motion.load reads them\n"
MARK = b"\nREC"
HEAD = struct.Struct("<4sQQII")  # mark, bytes of the text, bytes of all, their checksum, checksum of the head
KINDS = ("<f8", "<i8")

Text = dict[str, Any]
Arrays = Mapping[str, NDArray[Any]]


def is_journal(path: Path) -> bool:
    """Whether the file begins as those of this module do."""
    with open(path, "rb") as file:
        return file.read(len(TITLE)) == TITLE


class Journal:
    """Appends records to a file.

    Args:
        path: replaced once the new file holds its first record.
        text, arrays: the first record.

    Raises:
        ResultFileError: the disk refuses.
    """

    def __init__(self, path: Path, text: Text, arrays: Arrays) -> None:
        self._path, first = path, TITLE + record(text, arrays)
        with replacing(path) as draft:
            draft.write_bytes(first)
        self._length = len(first)

    def append(self, text: Text, arrays: Arrays) -> None:
        """One more record; once this returns it survives the end of the process.

        Raises:
            ResultFileError: the disk refuses; the file is as it was before.
        """
        new = record(text, arrays)
        try:
            with open(self._path, "r+b") as file:
                file.seek(self._length)
                file.write(new)
        except OSError as error:
            try:
                os.truncate(self._path, self._length)
            except OSError:
                pass  # the part of a record at the end is passed over
            raise cannot_write(self._path, error) from error
        self._length += len(new)


def record(text: Text, arrays: Arrays) -> bytes:
    """The bytes of a record."""
    plain = {name: np.ascontiguousarray(array, KINDS[array.dtype.kind == "i"]) for name, array in arrays.items()}
    listed = [[name, array.dtype.str, array.shape] for name, array in plain.items()]
    head = json.dumps({**text, "arrays": listed}).encode()
    body = b"".join([head, *(array.tobytes() for array in plain.values())])
    return _head(len(head), len(body), zlib.crc32(body)) + body


def _head(text_length: int, length: int, checksum: int) -> bytes:
    head = HEAD.pack(MARK, text_length, length, checksum, 0)[:-4]
    return head + struct.pack("<I", zlib.crc32(head))


def records(path: Path) -> Iterator[tuple[Text, dict[str, NDArray[Any]]]]:
    """All whole records of a file, each as its text and arrays.

    Raises:
        ResultFileError: a damaged record before the end.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(len(TITLE))
        while (body := _body(file, size, path)) is not None:
            text_length, content = body
            text = json.loads(content[:text_length])
            arrays, place = {}, text_length
            for name, kind, shape in text.pop("arrays"):
                if kind not in KINDS:
                    raise ResultFileError(f"{path} is damaged: {name} is of the kind {kind!r}")
                count = math.prod(shape)
                arrays[name] = np.frombuffer(content, kind, count, place).reshape(shape)
                place += arrays[name].nbytes
            yield text, arrays


def _body(file: BinaryIO, size: int, path: Path) -> tuple[int, bytes] | None:
    """The next record: bytes of its text, and all of its bytes; None at the end of the whole ones."""
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
