"""Cards of Nastran decks and punch files, and the meshes that decks describe."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.errors import ParameterError

# Cards: lines of fields with their continuations.

EXPONENT = re.compile(r"^([+-]?[\d.]+)([+-]\d+)$")


def real_number(text: str) -> float:
    """Return the real number in a text of Nastran as a float. The text may omit the E of an exponent ("2.5+10") or
    write a D."""
    plain = text.strip().upper().replace("D", "E")
    if match := EXPONENT.match(plain):
        plain = f"{match[1]}E{match[2]}"
    return float(plain)


def cards(lines: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Return the name and fields of each entry (card) in the lines of a Nastran file. Fields lie between commas or
    in columns of 8 characters (16 if the name has a *); missing fields are empty text. Fields of continuation
    lines (without name, or one that begins with * or +) are appended. Comments after "$" and empty lines are
    skipped. Names are in upper case without the *."""
    result: list[tuple[str, list[str]]] = []
    for raw in lines:
        line = raw.split("$")[0].expandtabs(8).rstrip()
        if not line:
            continue
        keyword, fields = _split_line(line)
        if keyword and keyword[0] not in "*+":
            result.append((keyword.rstrip("*_").upper(), fields))  # meshio writes CTETRA_
        elif result:
            result[-1][1].extend(fields)
    return result


def _split_line(line: str) -> tuple[str, list[str]]:
    """Return the keyword and the text fields of one line of a Nastran file. A line has 8 fields of 8 characters,
    or 4 fields of 16 if the keyword has an asterisk. With commas, the fields between them are padded with "" or
    cut to that number, unless there are more than 9; then all are returned."""
    keyword = (line.split(",")[0] if "," in line else line[:8]).strip()
    count = 4 if "*" in keyword else 8
    if "," in line:
        parts = [part.strip() for part in line.split(",")][1:]
        return keyword, parts if len(parts) > 9 else (parts[:count] + [""] * count)[:count]
    width, text = 64 // count, line[8:].ljust(64)
    return keyword, [text[k * width : (k + 1) * width].strip() for k in range(count)]


# Meshes of decks.

KINDS = {
    "CTETRA": {4: "tetra", 10: "tetra10"},
    "CHEXA": {8: "hexahedron", 20: "hexahedron20"},
    "CPENTA": {6: "wedge", 15: "wedge15"},
    "CPYRAM": {5: "pyramid", 13: "pyramid13"},
    "CPYRA": {5: "pyramid", 13: "pyramid13"},
    "CTRIA3": {3: "triangle"},
    "CTRIAR": {3: "triangle"},
    "CTRIA6": {6: "triangle6"},
    "CQUAD4": {4: "quad"},
    "CQUADR": {4: "quad"},
    "CQUAD8": {8: "quad8"},
}
VTK_ORDER = {"hexahedron20": [*range(12), *range(16, 20), *range(12, 16)]}
WITHOUT_MECHANICS = re.compile(
    "GRID$|GRDSET$|CORD|P(?!LOAD)|MAT|PARAM|EIG|TABLE|TSTEP|FREQ|SET|BEGIN|SPOINT|DMIG|ENDDATA"
)


@dataclass(eq=False)
class DeckMesh:
    """Mesh that was read from a deck, with the attributes of a meshio mesh, so that it can be used like one.

    Attributes:
        points: shape (k, 3).
        cells: blocks of elements of one kind, and of facets of named surfaces.
        point_sets: numbers of points by name.
        cell_sets: numbers of cells in each block, by name.
        left_out: parts of the deck other than nodes and elements, as messages name them.
    """

    points: Array
    cells: list["DeckCells"]
    point_sets: dict[str, IntArray] = field(default_factory=dict)
    cell_sets: dict[str, list[IntArray]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class DeckCells:
    """Block of e finite elements of one type in the mesh that an input file (deck) describes.

    Attributes:
        type: its name in meshio.
        data: numbers of points, shape (e, .).
        label: name of the cells in messages; empty: they only name faces of others.
    """

    type: str
    data: IntArray
    label: str = ""


def from_polar(kind: str, position: Array) -> Array:
    """Convert a position from cylindrical or spherical coordinates to Cartesian coordinates, shape (3,). For the
    ``kind`` "C" it is given as radius, angle [degrees] and z. For "S" it is radius, angle from the z axis and
    angle about it [degrees]. Positions of other kinds are returned unchanged."""
    if kind == "C":
        angle = np.radians(position[1])
        return np.array([position[0] * np.cos(angle), position[0] * np.sin(angle), position[2]])
    if kind == "S":
        first, second = np.radians(position[1:])
        around = np.sin(first)
        return np.array(position[0] * np.array([around * np.cos(second), around * np.sin(second), np.cos(first)]))
    return position


def read_nastran(path: str) -> DeckMesh:
    """Read the finite element mesh of a Nastran input file (``path``). Grid points are in basic (global) axes;
    elements are in groups named by their property number. Entries of other kinds with mechanics are counted in
    ``left_out`` of the result, and so are grid points listed twice at different positions. Raise
    ``ParameterError`` for elements with a wrong number of nodes.

    Raises:
        ParameterError: elements with some of the nodes on their edges.
    """
    deck = cards(_bulk_lines(Path(path)))
    systems = _CoordinateSystems(deck)
    number_of = {node: k for k, node in enumerate(systems.grids)}
    points = np.array([systems.position(node) for node in systems.grids]).reshape(-1, 3)
    rows_by_type: dict[tuple[str, str], list[tuple[str, list[int]]]] = {}
    left: Counter[str] = Counter()
    grids = {f"{fields[:2]} {_parse_reals(fields[2:5])}" for name, fields in deck if name == "GRID"}
    left["earlier positions of GRID that are listed twice"] = len(grids) - len(systems.grids)
    for name, fields in deck:
        if name in KINDS:
            ids = fields[2 : 2 + max(KINDS[name])]
            nodes = [number_of[int(each)] for each in ids if each not in ("", "0")]
            if len(nodes) not in KINDS[name]:
                counts = " or ".join(map(str, KINDS[name]))
                raise ParameterError(f"mesh: {name} {fields[0]} has {len(nodes)} nodes, it must have {counts}")
            rows_by_type.setdefault((name, KINDS[name][len(nodes)]), []).append((fields[1] or fields[0], nodes))
        elif not WITHOUT_MECHANICS.match(name):
            left[name] += 1
    cells, groups = [], {group for rows in rows_by_type.values() for group, _ in rows}
    for (name, kind), rows in rows_by_type.items():
        data = np.array([nodes for _, nodes in rows], dtype=np.int64)
        cells.append(DeckCells(kind, data[:, VTK_ORDER[kind]] if kind in VTK_ORDER else data, name))
    sets = {
        group: [np.flatnonzero([label == group for label, _ in rows]) for rows in rows_by_type.values()]
        for group in sorted(groups)
    }
    return DeckMesh(points, cells, {}, sets, [f"{name} ({count})" for name, count in sorted(left.items()) if count])


def _bulk_lines(file: Path) -> list[str]:
    """Return the lines of the bulk data section (BEGIN BULK to ENDDATA) of a Nastran input file; without BEGIN BULK
    all lines up to ENDDATA. Included files are inserted, recursively."""
    lines = file.read_text(errors="replace").splitlines()
    starts = [k for k, line in enumerate(lines) if line.upper().split()[:2] == ["BEGIN", "BULK"]]
    result: list[str] = []
    for line in lines[starts[0] + 1 if starts else 0 :]:
        head = line.strip().upper()
        if head.startswith("ENDDATA"):
            break
        if head.startswith("INCLUDE"):
            result += _bulk_lines(file.parent / line.strip()[7:].strip().strip("'\""))
        else:
            result.append(line)
    return result


class _CoordinateSystems:
    """Grid points of a Nastran deck and the coordinate systems in which they are given."""

    def __init__(self, deck: list[tuple[str, list[str]]]) -> None:
        default = next((fields[1] for name, fields in deck if name == "GRDSET"), "")
        self.grids = {
            int(fields[0]): (int(fields[1] or default or 0), _parse_reals(fields[2:5]))
            for name, fields in deck
            if name == "GRID"
        }
        self._defined: dict[int, tuple[str, int | None, list[str]]] = {}
        self._axes: dict[int, tuple[Array, Array]] = {}
        for name, fields in deck:
            if re.fullmatch("CORD2[RCS]", name):
                self._defined[int(fields[0])] = name[-1], int(fields[1] or 0), fields[2:11]
            elif re.fullmatch("CORD1[RCS]", name):
                for first in (0, 4):
                    if len(fields) > first and fields[first]:
                        self._defined[int(fields[first])] = name[-1], None, fields[first + 1 : first + 4]
            elif name.startswith("CORD"):
                raise ParameterError(
                    f"mesh: coordinate systems {name} cannot be read; write CORD2R, CORD2C, CORD2S"
                )

    def position(self, grid: int) -> Array:
        """Return the position of a grid point of this Nastran file in basic (global) axes, shape (3,)."""
        return self._in_basic_axes(*self.grids[grid])

    def _in_basic_axes(self, system: int, position: Array) -> Array:
        """Convert a position in a coordinate ``system`` of this Nastran file (Cartesian, cylindrical or spherical)
        to basic (global) Cartesian coordinates, shape (3,). System 0 is basic. Origin and axes of a system are
        cached. They follow from three points: the origin, a point on the z axis, and a point in the xz plane.
        Raise ``ParameterError`` for an unknown system."""
        if system == 0:
            return position
        if system not in self._defined:
            raise ParameterError(f"mesh: there is no coordinate system {system}, in which nodes are given")
        kind, reference, fields = self._defined[system]
        if system not in self._axes:
            if reference is None:
                a, b, c = (self.position(int(each)) for each in fields)
            else:
                a, b, c = (self._in_basic_axes(reference, each) for each in _parse_reals(fields).reshape(3, 3))
            z = (b - a) / np.linalg.norm(b - a)
            y = np.cross(z, c - a)
            y /= np.linalg.norm(y)
            self._axes[system] = a, np.column_stack([np.cross(y, z), y, z])
        origin, axes = self._axes[system]
        return np.asarray(origin + axes @ from_polar(kind, position))


def _parse_reals(fields: list[str]) -> Array:
    """Return the real numbers in text fields of a Nastran file as an array; empty fields are zero."""
    return np.array([real_number(each) if each else 0.0 for each in fields])
