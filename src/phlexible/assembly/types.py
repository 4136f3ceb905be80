"""Floating bodies as tables of the kernels (docs/theory.md, 2); equal bodies share one type."""

from collections.abc import Sequence

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.patches import patches
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import mass_matrix
from phlexible.system.layout import offsets

Tables = dict[str, Array | IntArray]
PATCH = ("first", "second", "row", "rows", "column", "columns", "number")


class TypeTables:
    """Collects the types of bodies with a frame.

    Args:
        frames: about their centres of mass.

    Attributes:
        type_of: number of the type of each body.
    """

    def __init__(self, frames: Sequence[FloatingBody]) -> None:
        self._types: list[FloatingBody] = []
        known: dict[tuple[object, ...], int] = {}
        self.type_of: list[int] = []
        for data in frames:
            key = _fingerprint(data)
            if key not in known:
                known[key] = len(self._types)
                self._types.append(data)
            self.type_of.append(known[key])
        self._numbers: list[Array] = []
        self._length = 0
        self._patches: list[tuple[int, ...]] = []
        self._strains: list[tuple[int, int, int, int, int]] = []
        self._weights: list[float] = []
        self._squares: list[tuple[int, int, int]] = []
        self._factors: list[float] = []

    def tables(self) -> tuple[dict[str, int], Tables]:
        """Counts and tables."""
        rows: dict[str, list[float]] = {}
        inertia = []
        for body in self._types:
            for name, value in self._row(body).items():
                rows.setdefault(name, []).append(value)
            rigid = np.zeros((3, 3))
            if body.elastic_count == 0 and body.rotates:
                axes = list(body.rotation_axes)
                rigid[np.ix_(axes, axes)] = mass_matrix(body, np.zeros(0))[body.dimension :, body.dimension :]
            inertia.append(rigid)
        strains = np.array(self._strains, dtype=np.int64).reshape(-1, 5)
        squares = np.array(self._squares, dtype=np.int64).reshape(-1, 3)
        names = (
            "elastic_count",
            "stiffness",
            "damping",
            "patch_start",
            "patch_count",
            "strain_start",
            "strain_count",
        )
        tables: Tables = {name: np.array(rows.get(name, []), dtype=np.int64) for name in names}
        patch_table = np.array(self._patches, dtype=np.int64).reshape(-1, 7)
        tables |= {f"patch_{name}": patch_table[:, k] for k, name in enumerate(PATCH)}
        strain_names = ("strain_row", "strain_first", "strain_last", "square_start", "square_count")
        tables |= {name: strains[:, k] for k, name in enumerate(strain_names)}
        square_names = ("square_row", "square_first", "square_last")
        tables |= {name: squares[:, k] for k, name in enumerate(square_names)}
        counts, own = np.array(tables["strain_count"]), np.array(self.type_of, dtype=np.int64)
        of_type = np.array(
            [sum(strains[s : s + n, 4]) for s, n in zip(tables["strain_start"], counts, strict=True)]
        )
        first_square = [int(strains[s, 3]) if n else 0 for s, n in zip(tables["strain_start"], counts, strict=True)]
        strain_starts, square_starts = (
            offsets(list(counts[own])),
            offsets(list(of_type[own] if len(own) else [])),
        )
        tables |= {
            "type_of": own,
            "viscosity": np.array(rows.get("viscosity", []), dtype=np.float64),
            "rigid_inertia": np.array(inertia).reshape(-1, 3, 3),
            "strain_weight": np.array(self._weights, dtype=np.float64),
            "square_factor": np.array(self._factors, dtype=np.float64),
            "type_number": np.concatenate(self._numbers) if self._numbers else np.zeros(0),
            "frame_strain": strain_starts[:-1] - np.array(tables["strain_start"], dtype=np.int64)[own],
            "frame_square": square_starts[:-1] - np.array(first_square, dtype=np.int64)[own],
        }
        totals = {
            "types": len(self._types),
            "planes": 2 if all(body.dimension == 2 for body in self._types) else 9,
            "patches": len(self._patches),
            "strains": len(strains),
            "squares": len(squares),
            "frame_strains": int(strain_starts[-1]),
            "frame_squares": int(square_starts[-1]),
            "type_numbers": self._length,
        }
        return totals, tables

    def _row(self, body: FloatingBody) -> dict[str, float]:
        first, first_patch = len(self._strains), len(self._patches)
        if body.elastic_count:
            self._add_patches(body)
        row = {
            "elastic_count": body.elastic_count,
            "stiffness": self._add(body.strain.stiffness),
            "damping": self._add(body.damping) if body.damping.any() else -1,
            "viscosity": body.viscosity,
            "patch_start": first_patch,
            "patch_count": len(self._patches) - first_patch,
            "strain_start": first,
        }
        self._add_strains(body)
        return {**row, "strain_count": len(self._strains) - first}

    def _add_patches(self, body: FloatingBody) -> None:
        """What is not zero of the planes of ``kernels/moments.py``."""
        w = body.second_moments
        planes = {(p, q): w[p, q] for q in range(3) for p in range(3)}
        if body.dimension == 2:
            planes = {(0, 0): w[0, 0] + w[1, 1], (1, 0): w[1, 0] - w[0, 1]}
        for (p, q), plane in planes.items():
            for rows, columns in patches(plane):
                number = self._add(plane[rows, columns].T)
                sizes = (rows.start, rows.stop - rows.start, columns.start, columns.stop - columns.start)
                self._patches.append((p, q, *sizes, number))

    def _add_strains(self, body: FloatingBody) -> None:
        """The strains of one type, each with its squares."""
        strain = body.strain
        for s, linear in enumerate(strain.rows):
            mine = np.flatnonzero(strain.square_strain == s)
            touched = np.vstack([linear, *strain.squares[mine]])
            self._strains.append((self._add(linear), *support(touched), len(self._squares), len(mine)))
            self._weights.append(float(strain.weights[s]))
            for g in mine:
                self._squares.append((self._add(strain.squares[g]), *support(strain.squares[g])))
                self._factors.append(float(strain.factors[g]))

    def _add(self, block: Array) -> int:
        """Append a block row by row; its start."""
        start = self._length
        self._numbers.append(np.ascontiguousarray(block, dtype=np.float64).ravel())
        self._length += block.size
        return start


def support(row: Array) -> tuple[int, int]:
    """First and one past the last column that is not zero, for shape (n,) or (k, n)."""
    columns = np.flatnonzero(np.atleast_2d(row).any(axis=0))
    return (int(columns[0]), int(columns[-1]) + 1) if columns.size else (0, 0)


def velocity_weights(body: FloatingBody) -> Array:
    """sqrt(M_ii / m): what a velocity component moves, compared with the body's translation."""
    diagonal = np.diag(mass_matrix(body, np.zeros(body.elastic_count)))
    return np.asarray(np.sqrt(diagonal / body.mass))


def _fingerprint(body: FloatingBody) -> tuple[object, ...]:
    strain = body.strain
    arrays = (
        body.second_moments,
        body.damping,
        strain.stiffness,
        strain.rows,
        strain.weights,
        strain.squares,
        strain.factors,
    )
    return (body.rotates, body.mass, body.viscosity, *((a.shape, a.tobytes()) for a in arrays))
