"""Matrices of Nastran's OUTPUT4 module, as text and as Fortran records, dense and sparse."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.bodies.flexible.files.labelled_matrix import LabelledMatrix, unlabelled
from phlexible.errors import ParameterError

WORDS = {1: 1, 2: 2}  # of a number of type 1 (single) and 2 (double); complex ones are refused
SYMMETRIC = 6
FORMAT = re.compile(r"(\d+)E(\d+)\.\d+")

Column = tuple[int, int, Array]  # column, first row, values


def read_output4(file: Path) -> dict[str, LabelledMatrix]:
    """All real matrices of a file by name.

    Raises:
        ParameterError: complex matrices, or a file that is none of OUTPUT4.
    """
    data = file.read_bytes()
    is_binary = data[:4] in (b"\x18\0\0\0", b"\0\0\0\x18")
    matrices = _binary(data) if is_binary else _text(data.decode("ascii").splitlines())
    found = {name: unlabelled(matrix) for name, matrix in matrices}
    if not found:
        raise ParameterError(f"path: {file} holds no matrix")
    return found


def _matrix(shape: tuple[int, int], form: int, columns: list[Column]) -> sparse.csr_array:
    rows = [np.arange(row, row + len(values)) for _, row, values in columns]
    places = [np.full(len(values), column) for column, _, values in columns]
    entries = [values for *_, values in columns]
    triple = [np.concatenate([*each, np.zeros(0)]) for each in (entries, rows, places)]
    whole = sparse.csr_array((triple[0], (triple[1].astype(int), triple[2].astype(int))), shape=shape)
    is_half = form == SYMMETRIC and (sparse.triu(whole, 1).nnz == 0 or sparse.tril(whole, -1).nnz == 0)
    return whole + whole.T - sparse.diags_array(whole.diagonal()) if is_half else whole


def _header(name: str, kind: int) -> None:
    if kind not in WORDS:
        raise ParameterError(f"path: the matrix {name} is complex (type {kind}); real ones can be read")


def _text(lines: list[str]) -> Iterator[tuple[str, sparse.csr_array]]:
    position = 0
    while position < len(lines) and lines[position].strip():
        head = lines[position]
        columns, rows, form, kind = (int(head[8 * k : 8 * k + 8]) for k in range(4))
        name = head[32:40].strip()
        _header(name, kind)
        match = FORMAT.search(head[40:])
        each, width = (int(match[1]), int(match[2])) if match else (5, 16)
        position += 1
        found: list[Column] = []
        while position < len(lines):
            column, first, _ = (int(lines[position][8 * k : 8 * k + 8]) for k in range(3))
            position += 1
            if first:
                values, position = _values(lines, position, each, width)
                found.append((column - 1, first - 1, values))
            while not first and position < len(lines) and len(lines[position].split()) < 3:
                row = int(lines[position][8:16]) if rows < 0 else int(lines[position]) % 65536
                values, position = _values(lines, position + 1, each, width)
                found.append((column - 1, row - 1, values))
            if column > columns:
                found = [each for each in found if each[0] < columns]
                break
        yield name, _matrix((abs(rows), columns), form, found)


def _values(lines: list[str], position: int, each: int, width: int) -> tuple[Array, int]:
    """The numbers up to the next line of integers: programs count words or numbers, and their lines tell."""
    found: list[float] = []
    while position < len(lines) and "." in (line := lines[position])[:width]:
        parts = [line[k * width : (k + 1) * width] for k in range(each)]
        found += [float(part.replace("D", "E")) for part in parts if part.strip()]
        position += 1
    return np.array(found), position


def _binary(data: bytes) -> Iterator[tuple[str, sparse.csr_array]]:
    order = "<" if data[0] == 24 else ">"
    records = _records(data, order)
    for head in records:
        columns, rows, form, kind = np.frombuffer(head[:16], order + "i4")
        name = head[16:24].decode("ascii").strip()
        _header(name, int(kind))
        number = np.dtype(order + ("f4" if kind == 1 else "f8"))
        found: list[Column] = []
        for record in records:
            column, first, words = (int(each) for each in np.frombuffer(record[:12], order + "i4"))
            if column > columns:
                break
            body = record[12 : 12 + 4 * words]
            if first:
                found.append((column - 1, first - 1, np.frombuffer(body, number).astype(np.float64)))
                continue
            while body:
                head_words = 2 if rows < 0 else 1
                packed = np.frombuffer(body[: 4 * head_words], order + "i4")
                length = int(packed[0]) - 1 if rows < 0 else int(packed[0]) // 65536 - 1
                row = int(packed[1]) if rows < 0 else int(packed[0]) % 65536
                values = np.frombuffer(body[4 * head_words : 4 * (head_words + length)], number)
                found.append((column - 1, row - 1, values.astype(np.float64)))
                body = body[4 * (head_words + length) :]
        yield name, _matrix((abs(int(rows)), int(columns)), int(form), found)


def _records(data: bytes, order: str) -> Iterator[bytes]:
    position = 0
    while position + 8 <= len(data):
        length = int(np.frombuffer(data[position : position + 4], order + "i4")[0])
        yield data[position + 4 : position + 4 + length]
        position += length + 8
