"""Elements of soft bodies as tables of the kernels (docs/theory.md, 5)."""

import numpy as np

from phlexible.algebra.arrays import IntArray
from phlexible.assembly.bands import Tables
from phlexible.assembly.places import Places
from phlexible.bodies.soft.constitution import Constitution, InvariantConstitution
from phlexible.bodies.soft.element_strains import ElementStrains
from phlexible.bodies.soft.scalar_functions import (
    Logarithms,
    Nothing,
    OfUser,
    Proportional,
    Reciprocal,
    ScalarFunction,
    Thinning,
)
from phlexible.bodies.soft.surface import SoftSurface
from phlexible.compilation.user_function import UserFunction, user_function
from phlexible.interactions.surface_pressure import SurfacePressure
from phlexible.system.layout import Layout, offsets
from phlexible.system.system import System
from phlexible.tables.declarations import (
    INVARIANTS,
    LOGARITHMS,
    NOTHING,
    OF_USER,
    PROPORTIONAL,
    QUADRATIC,
    RECIPROCAL,
    THINNING,
)

KINDS: dict[type[ScalarFunction], int] = {
    Nothing: NOTHING,
    Proportional: PROPORTIONAL,
    Logarithms: LOGARITHMS,
    Reciprocal: RECIPROCAL,
    Thinning: THINNING,
    OfUser: OF_USER,
}
"""Functions of invariants by the number that the kernels know them by."""

Functions = tuple[tuple[UserFunction, UserFunction], ...]


class SoftTables:
    """The elements of all soft bodies of a system.

    Attributes:
        groups: of elements, each with its nodes as carriers.
        surfaces: under pressure, by the number of the load, each with its nodes as carriers.
        users: compiled functions of users, which have to outlive the tables.
    """

    def __init__(self, system: System) -> None:
        first = system.layout.carrier[system.layout.frames :]
        self.groups: list[tuple[ElementStrains, IntArray]] = [
            (group, group.nodes + int(carrier))
            for body, carrier in zip(system.nodal, first, strict=False)
            for group in body.elements
        ]
        self.surfaces: dict[int, tuple[SoftSurface, IntArray]] = {}
        for number, load in enumerate(system.loads):
            if isinstance(load, SurfacePressure):
                carrier = int(system.layout.carrier[system.index[load.attachment.placed]])
                self.surfaces[number] = (load.surface, load.surface.nodes + carrier)
        self._loads = len(system.loads)
        self._functions = [function for group, _ in self.groups for function in _functions(group.law)]
        known: dict[ScalarFunction, tuple[UserFunction, UserFunction]] = {}
        for each in self._functions:
            if isinstance(each, OfUser) and each not in known:
                known[each] = (user_function(each.function, 2.0), user_function(each.derivative, 2.0))
        self.users = known

    def edges(self, layout: Layout) -> set[tuple[int, int]]:
        """Pairs of clusters of carriers that share an element, the lower first."""
        found: list[IntArray] = []
        for _, carriers in self.groups:
            nodes = layout.cluster[carriers]
            a, b = np.triu_indices(nodes.shape[1], 1)
            pairs = np.sort(np.stack([nodes[:, a].ravel(), nodes[:, b].ravel()], axis=1), axis=1)
            found.append(np.unique(pairs, axis=0))
        return {(a, b) for pairs in found for a, b in pairs.tolist() if a != b}

    def tables(self, places: Places) -> tuple[dict[str, int], Tables]:
        """Counts and tables, with the places of the blocks of pairs of carriers."""
        group, count, points, nodes, blocks, weights, gradients = [], [], [], [], [], [], []
        for number, (own, carriers) in enumerate(self.groups):
            e, k = carriers.shape
            group += [number] * e
            count += [k] * e
            points += [own.weights.shape[1]] * e
            nodes.append(carriers.ravel())
            rows, columns = np.repeat(carriers, k, axis=1), np.tile(carriers, (1, k))
            blocks.append(places.of_carriers(rows.ravel(), columns.ravel()))
            weights.append(own.weights.ravel())
            gradients.append(own.gradients.reshape(-1, 3))
        laws = [own.law for own, _ in self.groups]
        numbers = [_numbers(each) for each in self._functions]
        addresses = [
            (self.users[each][0].address, self.users[each][1].address) if isinstance(each, OfUser) else (0, 0)
            for each in self._functions
        ]
        totals = {
            "soft_groups": len(self.groups),
            "soft_functions": len(self._functions),
            "soft_elements": len(group),
            "soft_nodes": sum(count),
            "soft_points": sum(points),
            "soft_slopes": sum(k * q for k, q in zip(count, points, strict=True)),
            "soft_pairs": sum(k * k for k in count),
        }
        counts, faces = self._faces(places)
        return totals | counts, faces | {
            "soft_law": _integers([_kind(law) for law in laws]),
            "soft_sheet": _integers([own.is_sheet for own, _ in self.groups]),
            "soft_function": _integers([KINDS[type(each)] for each in self._functions]),
            "soft_energy": _integers([energy for energy, _ in addresses]),
            "soft_derivative": _integers([slope for _, slope in addresses]),
            "soft_group": _integers(group),
            "soft_first": offsets(count)[:-1],
            "soft_count": _integers(count),
            "soft_point": offsets(points)[:-1],
            "soft_point_count": _integers(points),
            "soft_slope": offsets([k * q for k, q in zip(count, points, strict=True)])[:-1],
            "soft_pair": offsets([k * k for k in count])[:-1],
            "soft_node": np.concatenate([np.zeros(0, dtype=np.int64), *nodes]),
            "soft_block": np.concatenate([np.zeros(0, dtype=np.int64), *blocks]),
            "soft_lame": np.array([law.lame for law in laws], dtype=np.float64),
            "soft_shear": np.array([law.shear for law in laws], dtype=np.float64),
            "soft_viscosity": np.array([own.viscosity for own, _ in self.groups], dtype=np.float64),
            "soft_first_number": np.array([a for a, _ in numbers], dtype=np.float64),
            "soft_second_number": np.array([b for _, b in numbers], dtype=np.float64),
            "soft_weight": np.concatenate([np.zeros(0), *weights]),
            "soft_gradient": np.concatenate([np.zeros((0, 3)), *gradients]),
        }

    def _faces(self, places: Places) -> tuple[dict[str, int], Tables]:
        """Of the surfaces under pressure."""
        first, count = np.zeros(self._loads, dtype=np.int64), np.zeros(self._loads, dtype=np.int64)
        nodes: list[list[int]] = []
        points: list[int] = []
        starts: list[int] = []
        blocks: list[int] = []
        shapes, numbers = [], 0
        for load, (surface, carriers) in self.surfaces.items():
            own = carriers[surface.faces]
            first[load], count[load] = len(points), len(own)
            nodes += own.tolist()
            points += [len(surface.shapes)] * len(own)
            starts += [numbers] * len(own)
            shapes.append(surface.shapes.reshape(-1, 3))
            numbers += len(shapes[-1])
            blocks += [places[a, b] for face in own.tolist() for a in face for b in face]
        sizes = [len(face) for face in nodes]
        totals = {
            "faces": len(nodes),
            "face_nodes": sum(sizes),
            "face_pairs": len(blocks),
            "face_numbers": numbers,
        }
        return totals, {
            "load_face": first,
            "load_face_count": count,
            "face_first": offsets(sizes)[:-1],
            "face_count": _integers(sizes),
            "face_point_count": _integers(points),
            "face_shape": _integers(starts),
            "face_pair": offsets([m * m for m in sizes])[:-1],
            "face_node": _integers([node for face in nodes for node in face]),
            "face_block": _integers(blocks),
            "face_number": np.concatenate([np.zeros((0, 3)), *shapes]),
        }


def _kind(law: Constitution) -> int:
    return INVARIANTS if isinstance(law, InvariantConstitution) else QUADRATIC


def _functions(law: Constitution) -> tuple[ScalarFunction, ...]:
    if isinstance(law, InvariantConstitution):
        return law.first, law.second, law.third
    return Nothing(), Nothing(), Nothing()


def _numbers(function: ScalarFunction) -> tuple[float, float]:
    match function:
        case Proportional(a) | Reciprocal(a):
            return a, 0.0
        case Logarithms(a, b) | Thinning(a, b):
            return a, b
        case OfUser():
            return float(abs(function.derivative(1.0)) + abs(function.derivative(3.0))), 0.0
    return 0.0, 0.0


def _integers(values: object) -> IntArray:
    return np.array(values, dtype=np.int64)
