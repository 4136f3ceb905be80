"""Matrices that finite element programs write to files: Abaqus, Ansys, Nastran, MATLAB, Matrix Market."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray, file_path
from phlexible.bodies.flexible.nastran_decks import cards, real_number
from phlexible.errors import MissingExtraError, ParameterError

# A matrix of a finite element program with the unknowns that its rows belong to.


@dataclass(frozen=True, eq=False)
class LabelledMatrix:
    """Matrix from the file of a finite element program, with node and component (direction) of each of its N
    unknowns.

    Attributes:
        matrix: shape (N, N) or (rows, columns); both halves of a symmetric one.
        nodes: the program's number of the node of each unknown, shape (N,); empty: the file has no labels.
        components: 1, 2, 3 displacements and 4, 5, 6 rotations along the axes, 0: a scalar, shape (N,).
    """

    matrix: sparse.csr_array
    nodes: IntArray
    components: IntArray

    def ordered(self, nodes: Sequence[int], components: Sequence[int] = (1, 2, 3)) -> sparse.csr_array:
        """Return this matrix with its unknowns sorted by the order of ``nodes``, each node with the given
        ``components``, as ``FlexibleBody.from_matrices`` expects. Unknowns that the file does not have become zero
        rows and columns; unknowns of component 0 (scalar) come last. Raise ``ParameterError`` if the matrix has no
        labels, or if one of its unknowns is in none of the ``nodes`` and ``components``.

        Args:
            nodes: numbers of the program, in the order of their positions; scalars are added at the end.
            components: of each node; unknowns that the file does not have get zeros.

        Raises:
            ParameterError: a file without labels, or unknowns that are left out.
        """
        if not len(self.nodes):
            raise ParameterError("the file has no labels of nodes: its unknowns stay in their order, take .matrix")
        index_of = {(int(n), int(c)): k for k, (n, c) in enumerate(zip(self.nodes, self.components, strict=True))}
        wanted = [(int(node), int(c)) for node in nodes for c in components]
        wanted += [label for label in index_of if label[1] == 0]
        if left := [label for label in index_of if label not in set(wanted)]:
            shown = ", ".join(f"{node}.{c}" for node, c in left[:6])
            raise ParameterError(
                f"{len(left)} unknowns of the file are left out (node.component: {shown}); name them"
            )
        rows = [k for k, label in enumerate(wanted) if label in index_of]
        columns = [index_of[wanted[k]] for k in rows]
        selection = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(wanted), len(index_of)))
        return sparse.csr_array(selection @ self.matrix @ selection.T)


def labelled(entries: dict[tuple[tuple[int, int], tuple[int, int]], float], is_symmetric: bool) -> LabelledMatrix:
    """Return a sparse matrix with labels (node, component) of its unknowns, from a dictionary of entries by the
    labels of row and column. If ``is_symmetric``, missing mirrored entries are added. Unknowns are sorted by node,
    then component; scalar unknowns (component 0) come last."""
    labels = sorted({label for pair in entries for label in pair}, key=lambda label: (label[1] == 0, *label))
    number = {label: k for k, label in enumerate(labels)}
    rows = np.array([number[row] for row, _ in entries], dtype=np.int64)
    columns = np.array([number[column] for _, column in entries], dtype=np.int64)
    values = np.array(list(entries.values()), dtype=np.float64)
    if is_symmetric:
        keys = set(zip(rows.tolist(), columns.tolist(), strict=True))
        other = np.array(
            [(c, r) not in keys for r, c in zip(rows.tolist(), columns.tolist(), strict=True)], dtype=bool
        )
        rows, columns = np.concatenate([rows, columns[other]]), np.concatenate([columns, rows[other]])
        values = np.concatenate([values, values[other]])
    matrix = sparse.csr_array((values, (rows, columns)), shape=(len(labels),) * 2)
    nodes, components = np.array(labels, dtype=np.int64).reshape(-1, 2).T
    return LabelledMatrix(matrix, nodes, components)


def unlabelled(matrix: sparse.sparray) -> LabelledMatrix:
    """Return a matrix read from a file that does not name nodes and components of its unknowns, as a
    ``LabelledMatrix`` with empty labels."""
    empty = np.zeros(0, dtype=np.int64)
    return LabelledMatrix(sparse.csr_array(matrix), empty, empty)


class FileMatrices(dict[str, LabelledMatrix]):
    """Dictionary of the matrices in a file by name. Access to a matrix that could not be read raises an error with
    the reason.
    """

    def __init__(self, matrices: Mapping[str, LabelledMatrix], unread: Mapping[str, str] | None = None) -> None:
        super().__init__(matrices)
        self._unread = unread or {}

    def __missing__(self, name: str) -> LabelledMatrix:
        reason = self._unread.get(name, f"there is no matrix {name!r}")
        raise ParameterError(f"path: {reason}; the file has {', '.join(map(repr, self))}")


def _checked_matrices(
    matrices: Mapping[str, LabelledMatrix], unread: Mapping[str, str], file: Path
) -> FileMatrices:
    """Return the readable matrices of a ``file`` with the reasons why others cannot be read (``unread``), as
    ``FileMatrices``. Raise ``ParameterError`` with these reasons if no matrix can be read.

    Raises:
        ParameterError: there are none, or none that can be read.
    """
    if not matrices:
        raise ParameterError(f"path: {'; '.join(unread.values()) or f'{file} holds no matrix'}")
    return FileMatrices(matrices, unread)


# Sparse matrices of Abaqus's ``*MATRIX OUTPUT``: text with one entry a line.


def read_abaqus(file: Path) -> dict[str, LabelledMatrix]:
    """Read the matrix in a text file of Abaqus into a dictionary with one entry, under the name of the file. Lines
    are "node, component, node, component, value" (symmetric, so that one half suffices) or "row, column, value"
    (as written, without labels). Empty lines and lines that begin with an asterisk are skipped. Raise
    ``ParameterError`` for other lines, or if there are none.

    The first form has one half of a symmetric matrix (or both); lines with an asterisk are comments. Internal
    unknowns (modal coordinates of substructures) have negative node numbers and become scalars.

    Raises:
        ParameterError: a line that is none of these.
    """
    lines = [line for line in file.read_text().splitlines() if line.strip() and not line.lstrip().startswith("*")]
    if not lines:
        raise ParameterError(f"path: {file} holds no entries of a matrix")
    width = len(_split_fields(lines[0]))
    if width not in (3, 5):
        raise ParameterError(
            f'path: {file} is no Abaqus matrix: lines have "node, component, node, component, value" or '
            f'"row, column, value", got {lines[0]!r}'
        )
    rows = [_split_fields(line) for line in lines]
    if wrong := next((line for line, parts in zip(lines, rows, strict=True) if len(parts) != width), None):
        raise ParameterError(
            f"path: {file} is no Abaqus matrix: the line {wrong!r} has another form than the first"
        )
    if width == 5:
        entries = {}
        for a, i, b, j, value in rows:
            entries[_abaqus_label(int(a), int(i)), _abaqus_label(int(b), int(j))] = real_number(value)
        return {file.stem: labelled(entries, is_symmetric=True)}
    pairs = np.array([(int(a) - 1, int(b) - 1) for a, b, _ in rows])
    values = np.array([real_number(value) for *_, value in rows])
    size = int(pairs.max()) + 1
    return {file.stem: unlabelled(sparse.csr_array((values, pairs.T), shape=(size, size)))}


def _split_fields(line: str) -> list[str]:
    """Return the fields of a ``line`` of text, which are separated by commas or blanks."""
    return line.replace(",", " ").split()


def _abaqus_label(node: int, component: int) -> tuple[int, int]:
    """Return the label (node, component) of an unknown of an Abaqus matrix. Internal unknowns, with node numbers
    that are not positive, get component 0 (scalar)."""
    return (node, component) if node > 0 else (node, 0)


# Mass and stiffness in Ansys's ``.full`` files, by the package ansys-mapdl-reader.

COMPONENTS = 6  # displacements and rotations; later numbers are temperatures, voltages and the like


def read_full(file: Path) -> dict[str, LabelledMatrix]:
    """Read the mass and the stiffness matrix from a .full file of Ansys, as a dictionary with the names "mass" and
    "stiffness". Rows are labelled by node and component (1 to 6). Rows and columns of fixed unknowns are dropped.
    Raise ``MissingExtraError`` if ansys-mapdl-reader is not installed, ``ParameterError`` for unknowns that are no
    displacements or rotations.

    Raises:
        MissingExtraError: ansys-mapdl-reader is not installed.
        ParameterError: unknowns that are not displacements or rotations.
    """
    try:
        from ansys.mapdl import reader
    except ImportError as error:
        raise MissingExtraError(
            f"{file} is read by ansys-mapdl-reader; install it with: pip install phlexible[ansys]"
        ) from error
    full = reader.read_binary(str(file))
    labels, stiffness, mass = full.load_km(sort=True)
    fixed = {(int(node), int(component)) for node, component in np.asarray(full.const).reshape(-1, 2)}
    free = [k for k, (node, component) in enumerate(labels) if (int(node), int(component)) not in fixed]
    nodes, components = np.asarray(labels, dtype=np.int64)[free].T
    if (components >= COMPONENTS).any():
        raise ParameterError(f"path: {file} has unknowns that are no displacements or rotations")
    return {
        name: LabelledMatrix(_both_halves(matrix, free), nodes, components + 1)
        for name, matrix in (("mass", mass), ("stiffness", stiffness))
    }


def _both_halves(upper: sparse.csc_matrix, selected: list[int]) -> sparse.csr_array:
    """Return the full symmetric matrix (k, k) of k ``selected`` unknowns. Only the entries on and above the
    diagonal of the matrix ``upper`` of all unknowns are used."""
    half = sparse.triu(sparse.csr_array(upper)[selected][:, selected], format="csr")
    return sparse.csr_array(half + half.T - sparse.diags_array(half.diagonal()))


# ``DMIG`` entries of Nastran bulk data and punch files.

SYMMETRIC = 6
REAL = (1, 2)


def read_punch(file: Path) -> FileMatrices:
    """Read all real square or symmetric matrices (``DMIG`` entries) of a Nastran punch file or input file,
    labelled by grid point and component. Other matrices are listed as unreadable. Raise ``ParameterError`` if no
    matrix is readable.

    Raises:
        ParameterError: no such entries, or components that do not exist.
    """
    unread: dict[str, str] = {}
    forms: dict[str, int] = {}
    entries: dict[str, dict[tuple[tuple[int, int], tuple[int, int]], float]] = {}
    for keyword, fields in cards(file.read_text().splitlines()):
        if keyword != "DMIG":
            continue
        name = fields[0].upper()
        if fields[1] == "0":
            form, kind = int(fields[2]), int(fields[3])
            if form not in (1, SYMMETRIC) or kind not in REAL:
                unread[name] = (
                    f"the matrix {name} of {file} has form {form} and type {kind}; real (1, 2), square (1) or "
                    "symmetric (6) ones can be read"
                )
                continue
            forms[name] = form
            entries.setdefault(name, {})
            continue
        if name in unread:
            continue
        column = _parse_label(name, fields[1], fields[2])
        values = fields[4:]  # field 4 of the entry is empty
        for start in range(0, len(values) - 2, 4):
            if values[start]:
                row = _parse_label(name, values[start], values[start + 1])
                entries.setdefault(name, {})[row, column] = real_number(values[start + 2])
    if not entries and not unread:
        raise ParameterError(f"path: {file} has no DMIG entries")
    matrices = {name: labelled(values, forms.get(name) == SYMMETRIC) for name, values in entries.items()}
    return _checked_matrices(matrices, unread, file)


def _parse_label(name: str, node: str, component: str) -> tuple[int, int]:
    """Return the label (grid point, component), or (scalar point, 0), from the text fields ``node`` and
    ``component`` of a Nastran ``DMIG`` entry. An empty component is 0. Raise ``ParameterError`` for components
    other than 0 to 6; ``name`` is the name of the matrix in the message."""
    label = int(node), int(component or 0)
    if not 0 <= label[1] <= COMPONENTS:
        raise ParameterError(
            f"path: the matrix {name} names component {label[1]} of point {label[0]}; DMIG has 1 .. {COMPONENTS}"
            " of grid points and 0 of scalar points"
        )
    return label


# Matrices of Nastran's OUTPUT4 module, as text and as Fortran records, dense and sparse.

FORMAT = re.compile(r"(\d+)E(\d+)\.\d+")

Column = tuple[int, int, Array]  # column, first row, values


def read_output4(file: Path) -> FileMatrices:
    """Read all real matrices of a Nastran OUTPUT4 file, text or binary (recognized by its first four bytes), by
    name, without labels of unknowns. Complex matrices are listed as unreadable. Raise ``ParameterError`` if there
    is no real matrix.

    Raises:
        ParameterError: no real matrices, or a file of another format.
    """
    data = file.read_bytes()
    is_binary = data[:4] in (b"\x18\0\0\0", b"\0\0\0\x18")
    matrices = _read_binary(data) if is_binary else _read_text(data.decode("ascii").splitlines())
    real_matrices, unread = dict[str, LabelledMatrix](), dict[str, str]()
    for name, matrix in matrices:
        if isinstance(matrix, int):
            unread[name] = f"the matrix {name} of {file} is complex (type {matrix}); real ones can be read"
        else:
            real_matrices[name] = unlabelled(matrix)
    return _checked_matrices(real_matrices, unread, file)


def _to_sparse(shape: tuple[int, int], form: int, columns: list[Column]) -> sparse.csr_array:
    """Return a sparse matrix of the given ``shape`` from ``columns``, tuples (column index, first row, values) of
    an OUTPUT4 file. If ``form`` is the code for symmetric and only one triangle is stored, its transpose is added
    without the diagonal. No columns give a zero matrix."""
    rows = [np.arange(row, row + len(values)) for _, row, values in columns]
    column_indices = [np.full(len(values), column) for column, _, values in columns]
    entries = [values for *_, values in columns]
    triple = [np.concatenate([*arrays, np.zeros(0)]) for arrays in (entries, rows, column_indices)]
    matrix = sparse.csr_array((triple[0], (triple[1].astype(int), triple[2].astype(int))), shape=shape)
    is_half = form == SYMMETRIC and (sparse.triu(matrix, 1).nnz == 0 or sparse.tril(matrix, -1).nnz == 0)
    return matrix + matrix.T - sparse.diags_array(matrix.diagonal()) if is_half else matrix


def _read_text(lines: list[str]) -> Iterator[tuple[str, sparse.csr_array | int]]:
    """Yield the name and the sparse matrix of each block of a Nastran OUTPUT4 text file, given as ``lines``.
    Numbers per line and their width are read from the header; the default is 5 of 16 characters. Columns may be
    stored dense, or as strings of nonzero entries. For a complex matrix, the integer of its type is yielded in
    place of the matrix."""
    position = 0
    while position < len(lines) and lines[position].strip():
        head = lines[position]
        columns, rows, form, kind = (int(head[8 * k : 8 * k + 8]) for k in range(4))
        name = head[32:40].strip()
        match = FORMAT.search(head[40:])
        per_line, width = (int(match[1]), int(match[2])) if match else (5, 16)
        position += 1
        entries: list[Column] = []
        while position < len(lines):
            column, first, _ = (int(lines[position][8 * k : 8 * k + 8]) for k in range(3))
            position += 1
            if first:
                values, position = _read_values(lines, position, per_line, width)
                entries.append((column - 1, first - 1, values))
            while not first and position < len(lines) and len(lines[position].split()) < 3:
                row = int(lines[position][8:16]) if rows < 0 else int(lines[position]) % 65536
                values, position = _read_values(lines, position + 1, per_line, width)
                entries.append((column - 1, row - 1, values))
            if column > columns:
                entries = [entry for entry in entries if entry[0] < columns]
                break
        yield name, _to_sparse((abs(rows), columns), form, entries) if kind in REAL else kind


def _read_values(lines: list[str], position: int, per_line: int, width: int) -> tuple[Array, int]:
    """Read real numbers of ``width`` characters, ``per_line`` on a line, from ``lines`` of an OUTPUT4 text file.
    Begin at index ``position``; stop at a line whose first number has no decimal point (integers). Return the
    numbers and the index of that line."""
    values: list[float] = []
    while position < len(lines) and "." in (line := lines[position])[:width]:
        parts = [line[k * width : (k + 1) * width] for k in range(per_line)]
        values += [float(part.replace("D", "E")) for part in parts if part.strip()]
        position += 1
    return np.array(values), position


def _read_binary(data: bytes) -> Iterator[tuple[str, sparse.csr_array | int]]:
    """Yield the name and the sparse matrix of each block of a binary Nastran OUTPUT4 file. The file is given as
    bytes ``data``; the byte order is recognized from the first byte. Columns may be stored dense, or as strings of
    nonzero entries. For a complex matrix, the integer of its type is yielded in place of the matrix."""
    order = "<" if data[0] == 24 else ">"
    records = _fortran_records(data, order)
    for head in records:
        columns, rows, form, kind = np.frombuffer(head[:16], order + "i4")
        name = head[16:24].decode("ascii").strip()
        number = np.dtype(order + ("f4" if kind == 1 else "f8"))
        entries: list[Column] = []
        for record in records:
            column, first, length_in_words = (int(word) for word in np.frombuffer(record[:12], order + "i4"))
            if column > columns:
                break
            if kind not in REAL:
                continue
            body = record[12 : 12 + 4 * length_in_words]
            if first:
                entries.append((column - 1, first - 1, np.frombuffer(body, number).astype(np.float64)))
                continue
            while body:
                head_words = 2 if rows < 0 else 1
                packed = np.frombuffer(body[: 4 * head_words], order + "i4")
                length = int(packed[0]) - 1 if rows < 0 else int(packed[0]) // 65536 - 1
                row = int(packed[1]) if rows < 0 else int(packed[0]) % 65536
                values = np.frombuffer(body[4 * head_words : 4 * (head_words + length)], number)
                entries.append((column - 1, row - 1, values.astype(np.float64)))
                body = body[4 * (head_words + length) :]
        yield name, _to_sparse((abs(int(rows)), int(columns)), int(form), entries) if kind in REAL else int(kind)


def _fortran_records(data: bytes, order: str) -> Iterator[bytes]:
    """Yield the content of each Fortran record in the bytes ``data`` of a binary file. The byte order is "<"
    (little-endian) or ">"."""
    position = 0
    while position + 8 <= len(data):
        length = int(np.frombuffer(data[position : position + 4], order + "i4")[0])
        yield data[position + 4 : position + 4 + length]
        position += length + 8


# Matrices that finite element programs write to files.


def read_matrices(path: str | os.PathLike[str]) -> FileMatrices:
    """Read all matrices in a file (``path``) of a finite element program: Matrix Market, Abaqus, Nastran or Ansys.
    Return them as a mapping by name; a matrix without a name gets the name of the file. Raise ``ParameterError``
    for files that cannot be read and entries that are not finite.

    Access to complex matrices, and to rectangular ones of punch files, raises an error.

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
        read = _reader(file)(file)
        matrices = read if isinstance(read, FileMatrices) else FileMatrices(read)
    except (ParameterError, MissingExtraError):
        raise
    except Exception as error:  # of files that are not what they seem
        raise ParameterError(f"path: {file} cannot be read: {error}") from error
    for name, labelled_matrix in matrices.items():
        if not np.isfinite(labelled_matrix.matrix.data).all():
            entries = labelled_matrix.matrix.tocoo()
            k = int(np.flatnonzero(~np.isfinite(entries.data))[0])
            raise ParameterError(
                f"path: the matrix {name} of {file} must be finite, it has {entries.data[k]} in row"
                f" {entries.coords[0][k] + 1}, column {entries.coords[1][k] + 1}"
            )
    return matrices


def _reader(file: Path) -> Callable[[Path], dict[str, LabelledMatrix]]:
    """Return the function that reads a file of mass and stiffness matrices. It is chosen by the ending of the
    file's name and its first 2048 bytes: .full (Ansys), Matrix Market, .op4 (OUTPUT4), Nastran DMIG, else Abaqus.
    Raise ``ParameterError`` for an OUTPUT2 file (.op2)."""
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


def _read_matrix_market(file: Path) -> dict[str, LabelledMatrix]:
    """Read the matrix of a Matrix Market file and return it under the name of the file without its ending."""
    from scipy.io import mmread

    return {file.stem: unlabelled(mmread(file, spmatrix=False))}
