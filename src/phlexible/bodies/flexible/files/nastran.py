"""``DMIG`` entries of Nastran bulk data and punch files."""

import re
from pathlib import Path

from phlexible.bodies.flexible.files.labelled_matrix import LabelledMatrix, labelled
from phlexible.errors import ParameterError

SYMMETRIC = 6
COMPONENTS = 6
REAL = (1, 2)
EXPONENT = re.compile(r"^([+-]?[\d.]+)([+-]\d+)$")


def read_punch(file: Path) -> dict[str, LabelledMatrix]:
    """All real square ``DMIG`` matrices, in small, large (``*``) or free (commas) fields.

    Raises:
        ParameterError: no such entries, or complex or rectangular ones, or components that there are not.
    """
    forms: dict[str, int] = {}
    entries: dict[str, dict[tuple[tuple[int, int], tuple[int, int]], float]] = {}
    for fields in _logical_lines(file.read_text().splitlines()):
        name = fields[0].upper()
        if fields[1] == "0":
            form, kind = int(fields[2]), int(fields[3])
            if form not in (1, SYMMETRIC) or kind not in REAL:
                raise ParameterError(
                    f"path: the matrix {name} of {file} has form {form} and type {kind}; real (1, 2), square (1) "
                    "or symmetric (6) ones can be read"
                )
            forms[name] = form
            entries.setdefault(name, {})
            continue
        column = _label(name, fields[1], fields[2])
        values = fields[4:]  # field 4 of the entry is empty
        for place in range(0, len(values) - 2, 4):
            if values[place]:
                row = _label(name, values[place], values[place + 1])
                entries.setdefault(name, {})[row, column] = number(values[place + 2])
    if not entries:
        raise ParameterError(f"path: {file} has no DMIG entries")
    return {name: labelled(found, forms.get(name) == SYMMETRIC) for name, found in entries.items()}


def _label(name: str, node: str, component: str) -> tuple[int, int]:
    """A grid point and its component, or a scalar point and 0."""
    label = int(node), int(component or 0)
    if not 0 <= label[1] <= COMPONENTS:
        raise ParameterError(
            f"path: the matrix {name} names component {label[1]} of point {label[0]}; DMIG knows 1 .. {COMPONENTS}"
            " of grid points and 0 of scalar points"
        )
    return label


def number(text: str) -> float:
    """A real number of Nastran, which may leave the E of an exponent out ("2.5+10") or write a D."""
    plain = text.strip().upper().replace("D", "E")
    if match := EXPONENT.match(plain):
        plain = f"{match[1]}E{match[2]}"
    return float(plain)


def _logical_lines(lines: list[str]) -> list[list[str]]:
    """Fields of each DMIG entry behind its keyword, its continuations joined."""
    found: list[list[str]] = []
    is_open = False
    for raw in lines:
        line = raw.split("$")[0].rstrip()
        if not line:
            continue
        keyword, fields = _fields(line)
        if keyword.upper() in ("DMIG", "DMIG*"):
            found.append(fields)
            is_open = True
        elif is_open and (keyword == "" or keyword[0] in "*+"):
            found[-1] += fields
        else:
            is_open = False
    return found


def _fields(line: str) -> tuple[str, list[str]]:
    """The keyword and the fields of a line: 8 of 8 characters, 4 of 16 with an asterisk, or commas."""
    if "," in line:
        parts = [part.strip() for part in line.split(",")]
        return parts[0], (parts[1:9] + [""] * 8)[:8]
    keyword = line[:8].strip()
    width = 16 if "*" in keyword else 8
    count = 64 // width
    text = line[8:].ljust(64)
    return keyword, [text[k * width : (k + 1) * width].strip() for k in range(count)]
