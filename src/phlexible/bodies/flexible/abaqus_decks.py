"""Meshes of Abaqus and CalculiX decks: parts, instances, sets and surfaces."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.flexible.nastran_decks import DeckCells, DeckMesh, from_polar, real_number
from phlexible.errors import ParameterError

# Keyword, its parameters, and its lines of data.


@dataclass(frozen=True, eq=False)
class _KeywordEntry:
    """One keyword of an Abaqus deck with its parameters and the data lines that follow it."""

    keyword: str
    parameters: dict[str, str]
    rows: list[list[str]]


def _read_lines(file: Path) -> Iterator[str]:
    """Yield the stripped lines of an Abaqus input file (deck) without comments (``**``) and empty lines. An
    ``*INCLUDE`` line is replaced by the lines of the file that it names, recursively."""
    for raw in file.read_text(errors="replace").splitlines():
        line = raw.strip()
        if line.upper().startswith("*INCLUDE"):
            yield from _read_lines(file.parent / line.rpartition("=")[2].strip().strip('"'))
        elif line and not line.startswith("**"):
            yield line


def _read_entries(file: Path) -> Iterator[_KeywordEntry]:
    """Yield the keyword blocks of an Abaqus input file: keyword in upper case, parameters, and the data lines
    after it, split at commas. The first block has the keyword "" and the lines before any keyword. A keyword line
    that ends with a comma is joined with the next line. For NODE, ELEMENT, NSET and ELSET, the data lines of the
    file named by the parameter INPUT are added."""
    lines = [*_read_lines(file), "*END"]
    entry, first = _KeywordEntry("", {}, []), 0
    for k, line in enumerate(lines):
        if k < first:
            continue
        if not line.startswith("*"):
            entry.rows.append([each.strip().strip('"') for each in line.rstrip(",").split(",")])
            continue
        yield entry
        first = k + 1
        while line.endswith(",") and re.match(r"[A-Za-z ]+(=|,|$)", lines[first]):
            line, first = line + lines[first], first + 1
        words = line[1:].split(",")
        pairs = [word.partition("=") for word in words[1:]]
        parameters = {key.strip().upper(): value.strip().strip('"') for key, _, value in pairs}
        entry = _KeywordEntry(" ".join(words[0].upper().split()), parameters, [])
        if entry.keyword in ("NODE", "ELEMENT", "NSET", "ELSET") and "INPUT" in parameters:
            entry.rows.extend(next(_read_entries(file.parent / parameters["INPUT"])).rows)


# Content of a deck: nodes, elements and sets of the model, of parts and of their instances.

KINDS = (
    *((r"C3D4", "tetra", 4), (r"C3D10", "tetra10", 10), (r"C3D20", "hexahedron20", 20)),
    *((r"C3D8", "hexahedron", 8), (r"C3D27", "hexahedron27", 27)),
    *((r"C3D6", "wedge", 6), (r"C3D15", "wedge15", 15), (r"C3D5", "pyramid", 5), (r"C3D13", "pyramid13", 13)),
    *((r"(CPS|CPE|CPEG|S|STRI|M3D|R3D|SFM3D)3", "triangle", 3), (r"(CPS|CPE|CPEG|M3D)6", "triangle6", 6)),
    *((r"(CPS|CPE|CPEG|S|M3D|R3D|SFM3D)4", "quad", 4), (r"(CPS|CPE|CPEG|S|M3D|SFM3D)8", "quad8", 8)),
    *((r"(S|M3D)9", "quad9", 9), (r"STRI65", "triangle6", 6), (r"S6", "triangle6", 6)),
    *((r"T[23]D2", "line", 2), (r"T[23]D3", "line3", 3)),
)
"""Element types of Abaqus as patterns, their names in meshio, and their numbers of nodes."""
SIDES = {
    "tetra": ((0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)),
    "hexahedron": ((0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)),
    "triangle": ((0, 1), (1, 2), (2, 0)),
    "quad": ((0, 1), (1, 2), (2, 3), (3, 0)),
}
"""Local indices of the vertices of the faces S1, S2, ... of elements."""
SIDE_KINDS = {2: "line", 3: "triangle", 4: "quad"}
MARKERS = re.compile("CPS|CPE|T[23]D")
"""Element types by which programs such as gmsh name faces and edges of solids."""
GENERATORS = ("NGEN", "NFILL", "NCOPY", "NMAP", "ELGEN", "ELCOPY", "SYMMETRIC MODEL GENERATION")
WITH_MECHANICS = re.compile(
    "MASS|ROTARY INERTIA|NONSTRUCTURAL MASS|SPRING|DASHPOT|JOINT|CONNECTOR|RIGID BODY|COUPLING|KINEMATIC"
    "|DISTRIBUTING|MPC|EQUATION|TIE|EMBEDDED ELEMENT|SHELL TO SOLID|REBAR|SUBSTRUCTURE|MATRIX INPUT|PRE-TENSION"
    "|INITIAL CONDITIONS|BOUNDARY|CONTACT|[CD]S?LOAD|TEMPERATURE"
)
"""Keywords of parts of a model other than its mesh and materials."""


@dataclass(eq=False)
class _Scope:
    """Nodes, elements and set definitions of a part, an instance or the whole model of an Abaqus deck."""

    name: str = ""
    part: str = ""
    nodes: dict[int, Array] = field(default_factory=dict)
    elements: dict[int, tuple[str, list[int]]] = field(default_factory=dict)
    sets: dict[tuple[str, str], list[_KeywordEntry]] = field(default_factory=dict)
    spelled: dict[tuple[str, str], str] = field(default_factory=dict)
    rows: list[list[str]] = field(default_factory=list)

    def define(self, kind: str, name: str, entry: _KeywordEntry) -> None:
        """Append a keyword block that lists members of a set or surface to the blocks of that name in this part of
        an Abaqus deck. It is stored in ``self.sets``; keys are the kind ("NSET", "ELSET", "SURFACE") and the name
        in lower case. The first spelling of the name is stored too."""
        self.sets.setdefault((kind, name.casefold()), []).append(entry)
        self.spelled.setdefault((kind, name.casefold()), name)

    def moved_positions(self, positions: Array) -> Array:
        """Return the positions (k, 3) of nodes after moving this instance of a part to its position in the Abaqus
        assembly. Its first data line is a translation, its second line an axis (two points) and an angle
        [degrees]; without them positions are returned unchanged."""
        numbers = [np.array([float(each) for each in row if each]) for row in self.rows]
        if numbers:
            positions = positions + numbers[0]
        if len(numbers) > 1:
            first, axis, angle = numbers[1][:3], numbers[1][3:6] - numbers[1][:3], np.radians(numbers[1][6])
            rotation = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis))
            positions = first + rotation.apply(positions - first)
        return positions


def read_abaqus_mesh(path: str) -> DeckMesh:
    """Read the finite element mesh of an Abaqus or CalculiX input file (``path``), with its sets and surfaces.
    Each instance of a part is translated and rotated to its position in the assembly. Keywords that are not read
    (loads, masses, ...) are listed in ``left_out`` of the result. Raise ``ParameterError`` for nodes or elements
    that are generated, not listed.

    Raises:
        ParameterError: nodes or elements that the deck only describes, or solids of other kinds.
    """
    deck = _Deck()
    for entry in _read_entries(Path(path)):
        deck.add(entry)
    return deck.mesh()


class _Deck:
    """Content of an Abaqus deck, filled keyword by keyword, from which the mesh is made."""

    def __init__(self) -> None:
        self._model = self._scope = _Scope()
        self._parts: dict[str, _Scope] = {}
        self._instances: list[_Scope] = []
        self._left: Counter[str] = Counter()
        self._has_sections = self._is_of_meshio = False
        self._side_counts: Counter[tuple[int, ...]] = Counter()

    def add(self, entry: _KeywordEntry) -> None:
        """Store one keyword block of an Abaqus input file. Nodes, elements, sets and surfaces are stored in the
        part or instance that is open (between *PART or *INSTANCE and its end), otherwise in the model. Keywords of
        mechanics (masses, springs, loads) are only counted as left out; all others are ignored. Raise
        ``ParameterError`` for keywords that generate nodes or elements."""
        keyword, parameters = entry.keyword, entry.parameters
        if keyword == "PART":
            self._scope = self._parts[parameters["NAME"].casefold()] = _Scope(parameters["NAME"])
        elif keyword == "INSTANCE":
            self._scope = _Scope(parameters["NAME"], parameters.get("PART", ""), rows=entry.rows)
            self._instances.append(self._scope)
        elif keyword in ("END PART", "END INSTANCE"):
            self._scope = self._model
        elif keyword == "HEADING":
            self._is_of_meshio = any("meshio" in each for row in entry.rows for each in row)
        elif keyword == "NODE":
            kind = parameters.get("SYSTEM", "R").upper()
            for row in entry.rows:
                position = np.array([real_number(each or "0") for each in [*row[1:4], "", "", ""][:3]])
                self._enter("positions of nodes", self._scope.nodes, int(row[0]), from_polar(kind, position))
            self._define_listed("NSET", entry)
        elif keyword == "ELEMENT":
            self._add_elements(entry)
        elif keyword in ("NSET", "ELSET", "SURFACE"):
            self._scope.define(keyword, parameters["NAME" if keyword == "SURFACE" else keyword], entry)
        elif keyword in GENERATORS or (keyword == "SYSTEM" and any(map(any, entry.rows))):
            raise ParameterError(
                f"mesh: *{keyword} describes nodes or elements that are not listed; write the deck with all of"
                " them, in global axes"
            )
        elif match := WITH_MECHANICS.match(keyword):
            self._left[f"*{keyword if match[0] != 'CONTACT' else 'CONTACT'}"] += 1
        self._has_sections |= keyword.endswith("SECTION")

    def _define_listed(self, kind: str, entry: _KeywordEntry) -> None:
        """Add the nodes or elements listed in a keyword block of an Abaqus deck to the set that its parameter
        ``kind`` ("NSET" or "ELSET") names. Only the first number of each data line counts. Without that parameter
        nothing is done."""
        if name := entry.parameters.get(kind):
            self._scope.define(kind, name, _KeywordEntry(kind, {}, [row[:1] for row in entry.rows]))

    def _enter(self, what: str, known: dict[int, Any], number: int, value: object) -> None:
        """Store a node or element of an Abaqus deck, ``value``, in the dictionary ``known`` under its ``number``.
        If a different value has that number, it is overwritten, as in CalculiX, and counted as left out under the
        text ``what``."""
        self._left[f"earlier {what} that are listed twice"] += str(known.get(number, value)) != str(value)
        known[number] = value

    def _add_elements(self, entry: _KeywordEntry) -> None:
        """Store the elements of one ELEMENT keyword block by number in the current part of this Abaqus input file.
        They are also added to the set that its parameter ELSET names. Raise ``ParameterError`` for solid elements
        of an unknown type, or if the numbers listed do not fill whole elements. Elements of other unknown types
        are not stored: they are counted for a later message and listed in the set."""
        name = entry.parameters["TYPE"].upper()
        if self._is_of_meshio:  # which writes any type of that many nodes
            name = {"CAX4P": "CPS4"}.get(name, f"T3D{len(entry.rows[0]) - 1}" if name[0] == "B" else name)
        count = next((count for pattern, _, count in KINDS if _is_type(pattern, name)), 0)
        if not count:
            if name.startswith(("C3D", "SC", "CSS", "DC3D", "COH3D", "CAX")):
                raise ParameterError(
                    f"mesh: elements of type {name} cannot be read; add C3D4, C3D8, C3D10 or C3D20"
                )
            self._left[f"elements {name}"] += len(entry.rows)
            self._define_listed("ELSET", entry)
            return
        ids = [int(each) for row in entry.rows for each in row if each]
        if len(ids) % (count + 1):
            raise ParameterError(
                f"mesh: elements of type {name} must list {count} nodes each; is the file complete?"
            )
        rows = [ids[first : first + count + 1] for first in range(0, len(ids), count + 1)]
        for number, *nodes in rows:
            self._enter("nodes of elements", self._scope.elements, number, (name, nodes))
        self._define_listed("ELSET", _KeywordEntry("", entry.parameters, [[str(number)] for number, *_ in rows]))

    def mesh(self) -> DeckMesh:
        """Return the finite element mesh of this Abaqus input file, made of all keyword blocks read so far. It has
        node positions, one block of cells for each element type, named sets, and a list of what was left out.
        Nodes of instances are translated and rotated to their positions in the assembly."""
        scopes = self._placed_scopes()
        self._by_name = {scope.name.casefold(): scope for scope in scopes}
        number_of: dict[tuple[str, int], int] = {}
        positions, by_type = [np.zeros((0, 3))], dict[str, list[tuple[tuple[str, int], list[int]]]]()
        for scope in scopes:
            owner, first = scope.name.casefold(), len(number_of)
            number_of |= {(owner, node): first + k for k, node in enumerate(scope.nodes)}
            positions.append(scope.moved_positions(np.array(list(scope.nodes.values())).reshape(-1, 3)))
            for number, (name, nodes) in scope.elements.items():
                by_type.setdefault(name, []).append(((owner, number), [number_of[owner, node] for node in nodes]))

        def is_marker(name: str) -> bool:
            return self._is_of_meshio or (MARKERS.match(name) is not None and not self._has_sections)

        cells: list[DeckCells] = []
        where: dict[tuple[str, int], tuple[int, int]] = {}
        for name, rows in by_type.items():
            kind = next(kind for pattern, kind, _ in KINDS if _is_type(pattern, name))
            where |= {label: (len(cells), k) for k, (label, _) in enumerate(rows)}
            data = np.array([nodes for _, nodes in rows], dtype=np.int64)
            cells.append(DeckCells(kind, data, "" if is_marker(name) else name))
        left = [f"{name} ({count})" for name, count in sorted(self._left.items()) if count]
        result = DeckMesh(np.concatenate(positions), cells, {}, {}, left)
        self._add_sets(scopes, result, number_of, where)
        return result

    def _placed_scopes(self) -> list[_Scope]:
        """Return the scopes (tables of nodes, elements and sets) that make up the mesh of this Abaqus input file.
        These are the model and all instances, or the model and all parts if there are no instances. Each instance
        is first changed in place: it gets the nodes, elements and sets of its part, except where the instance
        defines the same number or name."""
        scopes = [self._model]
        for instance in self._instances:
            if instance.part.casefold() in self._parts:
                part = self._parts[instance.part.casefold()]
                instance.nodes, instance.elements = part.nodes | instance.nodes, part.elements | instance.elements
                instance.sets, instance.spelled = part.sets | instance.sets, part.spelled | instance.spelled
            scopes.append(instance)
        return scopes if self._instances else [*scopes, *self._parts.values()]

    def _add_sets(
        self,
        scopes: list[_Scope],
        mesh: DeckMesh,
        number_of: dict[tuple[str, int], int],
        where: dict[tuple[str, int], tuple[int, int]],
    ) -> None:
        """Add the sets and surfaces of the ``scopes`` (model, parts or instances) of this Abaqus input file to a
        mesh, in place. Names are "instance.name", and also "name" alone if it is unique. Surfaces of elements
        become new cell blocks of side faces; unreadable surfaces are listed in ``mesh.left_out``. By (instance,
        number), ``number_of`` has node indices and ``where`` (block, index) of elements."""
        used = Counter(key for scope in scopes for key in scope.sets)
        solid = len(mesh.cells)
        for scope in scopes:
            for key in scope.sets:
                kind, spelled = key[0], scope.spelled[key]
                names = {f"{scope.name}.{spelled}" if scope.name else spelled}
                if used[key] == 1 or not scope.name:
                    names.add(spelled)
                if kind == "NSET" or (kind == "SURFACE" and _is_of_nodes(scope.sets[key])):
                    members = [number_of[label] for label in self._set_entries(scope, *key) if label in number_of]
                    mesh.point_sets |= dict.fromkeys(names, np.unique(np.array(members, dtype=np.int64)))
                elif kind == "ELSET":
                    at = np.array([where[label] for label in self._set_entries(scope, *key) if label in where])
                    at = np.unique(at.reshape(-1, 2), axis=0)
                    groups = [at[at[:, 0] == number, 1] for number in range(solid)]
                    mesh.cell_sets |= dict.fromkeys(names, groups)
                elif (sides := self._surface_faces(scope, key, mesh, where)) is None:
                    mesh.left_out.append(f"*SURFACE {spelled!r}")
                else:
                    for corners in sides:
                        for name in names:
                            groups = mesh.cell_sets.get(name, [])
                            empty = [np.zeros(0, dtype=np.int64)] * (len(mesh.cells) - len(groups))
                            mesh.cell_sets[name] = [*groups, *empty, np.arange(len(corners))]
                        mesh.cells.append(DeckCells(SIDE_KINDS[corners.shape[1]], corners))

    def _set_entries(self, scope: _Scope, kind: str, name: str) -> Iterator[tuple[str, int]]:
        """Yield (instance name, number) of each node or element in the set or surface ``name`` of this Abaqus
        input file. The set is defined in ``scope`` (model, part or instance) and of ``kind`` "NSET", "ELSET" or
        "SURFACE". Sets named inside it are expanded recursively, GENERATE ranges to all their numbers; a node
        set with parameter ELSET has all nodes of these elements. Raise ``ParameterError`` if the set does not
        exist."""
        if (kind, name) not in scope.sets:
            raise ParameterError(f"mesh: there is no *{kind} {name!r}, which another one names")
        for entry in scope.sets[kind, name]:
            inside = self._by_name.get(entry.parameters.get("INSTANCE", scope.name).casefold(), scope)
            if "ELSET" in entry.parameters and kind == "NSET":
                for owner, number in self._set_entries(inside, "ELSET", entry.parameters["ELSET"].casefold()):
                    yield from ((owner, node) for node in self._by_name[owner].elements.get(number, ("", []))[1])
            elif "GENERATE" in entry.parameters:
                for row in entry.rows:
                    first, last, step = [*map(int, row[:3]), 1][:3]
                    yield from ((inside.name.casefold(), k) for k in range(first, last + 1, step))
            else:
                rows = [row[:1] for row in entry.rows] if kind == "SURFACE" else entry.rows
                for token in (each for row in rows for each in row if each):
                    yield from self._resolved_entries(inside, "NSET" if kind == "SURFACE" else kind, token)

    def _resolved_entries(self, scope: _Scope, kind: str, token: str) -> Iterator[tuple[str, int]]:
        """Yield (instance name, number) of the nodes or elements that one entry ``token`` in a set of this Abaqus
        deck means. It is a number or the name of another set, which is expanded, possibly after an instance name:
        "part-1.7". ``kind`` is the kind of the set, ``scope`` the default part or instance."""
        owner, dot, rest = token.rpartition(".")
        if dot and owner.casefold() in self._by_name:
            scope, token = self._by_name[owner.casefold()], rest
        if token.lstrip("+-").isdigit():
            yield scope.name.casefold(), int(token)
        else:
            yield from self._set_entries(scope, kind, token.casefold())

    def _surface_faces(
        self,
        scope: _Scope,
        key: tuple[str, str],
        mesh: DeckMesh,
        where: dict[tuple[str, int], tuple[int, int]],
    ) -> list[IntArray] | None:
        """Return the corner nodes of the element faces of a surface of this Abaqus input file, one array (faces,
        corners) for each number of corners. An entry without a side means all sides of its elements that belong to
        no second element. ``key`` names the surface in ``scope`` (part or instance); ``where`` has (cell block,
        index) of each element. None if an element or side is unknown."""
        faces: dict[int, list[IntArray]] = {}
        for entry in scope.sets[key]:
            inside = self._by_name.get(entry.parameters.get("INSTANCE", scope.name).casefold(), scope)
            for token, side in ([*row, ""][:2] for row in entry.rows if row[0]):
                for label in self._resolved_entries(inside, "ELSET", token):
                    number, k = where.get(label, (0, -1))
                    sides = SIDES.get(re.sub(r"\d+$", "", mesh.cells[number].type), ())
                    match = re.fullmatch(r"[SE]([1-6])", side.upper())
                    if k < 0 or not sides or not (match or not side) or (match and int(match[1]) > len(sides)):
                        return None
                    nodes = mesh.cells[number].data[k]
                    for vertices in [sides[int(match[1]) - 1]] if match else sides:
                        corners = nodes[list(vertices)]
                        if match or self._is_free(corners, mesh):
                            faces.setdefault(len(corners), []).append(corners)
        return [np.array(rows) for rows in faces.values()]

    def _is_free(self, corners: IntArray, mesh: DeckMesh) -> bool:
        """Return whether a face of this Abaqus mesh, given by its corner nodes, belongs to exactly one element.
        The faces of all elements are counted at the first call and stored; cells added later do not count."""
        if not self._side_counts:
            for entry in mesh.cells:
                for vertices in SIDES.get(re.sub(r"\d+$", "", entry.type), ()):
                    self._side_counts.update(map(tuple, np.sort(entry.data[:, list(vertices)], axis=1).tolist()))
        return self._side_counts[tuple(sorted(corners.tolist()))] == 1


def _is_of_nodes(entries: list[_KeywordEntry]) -> bool:
    """Return whether a surface of an Abaqus deck, given by its keyword blocks, consists of nodes instead of element
    faces: whether one block has the parameter TYPE=NODE."""
    return any(entry.parameters.get("TYPE", "").upper() == "NODE" for entry in entries)


def _is_type(pattern: str, name: str) -> bool:
    """Return whether the name of an Abaqus element type, such as "C3D8R" or "S4R5", matches a ``pattern``. The
    pattern is a regular expression such as "C3D8" or "(S|M3D)4"; letters after it and a 5 at the end are
    ignored."""
    return re.fullmatch(rf"{pattern}[A-Z]*5?", name) is not None
