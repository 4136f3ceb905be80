"""Reading HDF5 files that are still marked as being written: by a run that goes on, or one that was killed.

HDF5 refuses such files, or follows a living writer and waits for one that is dead; where the file
is also too short, it waits for ever or reads zeros. So the file is read as it stands: its first 48
bytes (the superblock, version 3 of the HDF5 format) are shown without the mark and with the length
that the file has. The order in which blocks are written makes the rest whole at any time.
"""

import io
from os import PathLike
from types import TracebackType
from typing import Self

SIGNATURE = b"\x89HDF\r\n\x1a\n"
BEING_WRITTEN = 0b101  # flags: open for writing, open for single-writer mode
FLAGS, END_OF_FILE, CHECKSUM, SIZE = 11, 28, 44, 48  # places in the superblock
WORD = 0xFFFFFFFF


def is_unfinished(path: str | PathLike[str]) -> bool:
    """True for an HDF5 file of version 3 that is marked as being written."""
    with open(path, "rb") as file:
        head = file.read(SIZE)
    return len(head) == SIZE and head.startswith(SIGNATURE) and head[8] == 3 and bool(head[FLAGS] & BEING_WRITTEN)


class UnfinishedFile(io.RawIOBase):
    """The file with a superblock that says it is finished, for ``h5py.File``; nothing is written."""

    def __init__(self, path: str | PathLike[str]) -> None:
        super().__init__()
        self._file = open(path, "rb", buffering=0)
        self._length = self._file.seek(0, io.SEEK_END)
        self._file.seek(0)
        self._head = finished_superblock(self._file.read(SIZE), self._length)
        self._place = 0

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Moves to a place of the file as it was when it was opened."""
        self._place = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._length}[whence] + offset
        return self._place

    def tell(self) -> int:
        """The current place."""
        return self._place

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fills the buffer from the current place on; returns how many bytes there were."""
        self._file.seek(self._place)
        count = self._file.readinto(buffer)
        if self._place < SIZE:
            shown = self._head[self._place : self._place + count]
            buffer[: len(shown)] = shown
        self._place += count
        return count

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
        super().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def finished_superblock(head: bytes, length: int) -> bytes:
    """The superblock without the mark and with the given length of the file, shape (48,) bytes."""
    fields = head[:FLAGS] + bytes([head[FLAGS] & ~BEING_WRITTEN]) + head[FLAGS + 1 : END_OF_FILE]
    fields += length.to_bytes(8, "little") + head[END_OF_FILE + 8 : CHECKSUM]
    return fields + checksum(fields).to_bytes(4, "little")


def checksum(data: bytes) -> int:
    """Bob Jenkins' lookup3 ("hashlittle") with initial value 0, as HDF5 uses it for its metadata."""
    a = b = c = (0xDEADBEEF + len(data)) & WORD
    blocks = max(1, -(-len(data) // 12))
    padded = data.ljust(12 * blocks, b"\0")
    for k in range(blocks):
        first, second, third = (int.from_bytes(padded[i : i + 4], "little") for i in range(12 * k, 12 * k + 12, 4))
        a, b, c = (a + first) & WORD, (b + second) & WORD, (c + third) & WORD
        if k < blocks - 1:
            a, b, c = _mix(a, b, c)
    return _final(a, b, c)


def _turned(x: int, k: int) -> int:
    return ((x << k) | (x >> (32 - k))) & WORD


def _mix(a: int, b: int, c: int) -> tuple[int, int, int]:
    for shift in (4, 6, 8, 16, 19, 4):
        a = ((a - c) & WORD) ^ _turned(c, shift)
        c = (c + b) & WORD
        a, b, c = b, c, a
    return a, b, c


def _final(a: int, b: int, c: int) -> int:
    for shift in (14, 11, 25, 16, 4, 14, 24):
        c = ((c ^ b) - _turned(b, shift)) & WORD
        a, b, c = b, c, a
    return b
