"""Sparse matrices of Abaqus's ``*MATRIX OUTPUT``: text with one entry a line."""

from pathlib import Path

import numpy as np
from scipy import sparse

from phlexible.bodies.flexible.files.labelled_matrix import LabelledMatrix, labelled, unlabelled
from phlexible.errors import ParameterError


def read_abaqus(file: Path) -> dict[str, LabelledMatrix]:
    """One matrix: lines "node, component, node, component, value", or "row, column, value".

    The first form has one half of a symmetric matrix (or both); lines with an asterisk are comments. Internal
    unknowns (modal coordinates of substructures) have negative node numbers and become scalars.

    Raises:
        ParameterError: a line that is none of these.
    """
    lines = [line for line in file.read_text().splitlines() if line.strip() and not line.lstrip().startswith("*")]
    if not lines:
        raise ParameterError(f"path: {file} holds no entries of a matrix")
    width = len(_parts(lines[0]))
    if width not in (3, 5):
        raise ParameterError(
            f'path: {file} is no Abaqus matrix: lines have "node, component, node, component, value" or '
            f'"row, column, value", got {lines[0]!r}'
        )
    rows = [_parts(line) for line in lines]
    if wrong := next((line for line, parts in zip(lines, rows, strict=True) if len(parts) != width), None):
        raise ParameterError(
            f"path: {file} is no Abaqus matrix: the line {wrong!r} has another form than the first"
        )
    if width == 5:
        entries = {}
        for a, i, b, j, value in rows:
            entries[_label(int(a), int(i)), _label(int(b), int(j))] = _number(value)
        return {file.stem: labelled(entries, is_symmetric=True)}
    pairs = np.array([(int(a) - 1, int(b) - 1) for a, b, _ in rows])
    values = np.array([_number(value) for *_, value in rows])
    size = int(pairs.max()) + 1
    return {file.stem: unlabelled(sparse.csr_array((values, pairs.T), shape=(size, size)))}


def _parts(line: str) -> list[str]:
    return line.replace(",", " ").split()


def _label(node: int, component: int) -> tuple[int, int]:
    return (node, component) if node > 0 else (node, 0)


def _number(text: str) -> float:
    return float(text.lower().replace("d", "e"))
