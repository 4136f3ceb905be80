"""Bodies as the arrays of the kernels; equal bodies share one entry."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import mass_matrix
from phlexible.kernels.arrays import BodyArrays


class Pool:
    """Numbers of many blocks, one after the other."""

    def __init__(self) -> None:
        self._blocks: list[Array] = []
        self._length = 0

    def add(self, block: Array) -> int:
        """Append a block row by row; its start."""
        start = self._length
        self._blocks.append(np.ascontiguousarray(block, dtype=np.float64).ravel())
        self._length += block.size
        return start

    def numbers(self) -> Array:
        """All blocks in one array, never empty."""
        return np.concatenate([*self._blocks, np.zeros(1)])


def support(row: Array) -> tuple[int, int]:
    """First and one past the last column that is not zero, for shape (n,) or (k, n)."""
    columns = np.flatnonzero(np.atleast_2d(row).any(axis=0))
    return (int(columns[0]), int(columns[-1]) + 1) if columns.size else (0, 0)


def rotational_blocks(body: FloatingBody) -> tuple[list[Array], list[Array]]:
    """Z_k and the symmetric Y_kl (k <= l) with Jrot_kl = xi.Y_kl.xi, for the body's rotation axes."""
    w = body.second_moments
    symmetric = (w + w.transpose(0, 1, 3, 2)) / 2
    trace = symmetric[0, 0] + symmetric[1, 1] + symmetric[2, 2]
    axes = body.rotation_axes
    skew = [w[(k + 1) % 3, (k + 2) % 3] - w[(k + 2) % 3, (k + 1) % 3] for k in axes]
    pairs = [(k, l) for i, k in enumerate(axes) for l in axes[i:]]
    return skew, [trace * (k == l) - (symmetric[k, l] + symmetric[l, k]) / 2 for k, l in pairs]


def body_arrays(bodies: Sequence[FloatingBody], dimension: int) -> BodyArrays:
    """The table of all bodies of a model, in their order."""
    types: list[FloatingBody] = []
    known: dict[tuple[object, ...], int] = {}
    type_of = []
    for data in bodies:
        key = _fingerprint(data)
        if key not in known:
            known[key] = len(types)
            types.append(data)
        type_of.append(known[key])
    pool = Pool()
    strains = _StrainTable()
    columns: defaultdict[str, list[int]] = defaultdict(list)
    for body in types:
        skew, pairs = rotational_blocks(body)
        w = body.second_moments
        n = body.elastic_count
        columns["elastic_count"].append(n)
        columns["axis_count"].append(len(body.rotation_axes))
        columns["first_moment"].append(pool.add(body.first_moments))
        columns["deformation_mass"].append(pool.add(w[0, 0] + w[1, 1] + w[2, 2]))
        columns["gyroscopic"].append(pool.add(np.array(skew)))
        columns["rotational"].append(pool.add(np.array(pairs)))
        columns["stiffness"].append(pool.add(body.strain.stiffness))
        columns["damping"].append(pool.add(body.damping) if body.damping.any() else -1)
        strains.add(body, pool)
    rows, squares = strains.rows(), strains.squares()
    weights = [_velocity_weights(body) for body in types]
    return BodyArrays(
        dimension=dimension,
        type_of=_integers(type_of),
        velocity_start=_offsets([data.velocity_count for data in bodies]),
        elastic_start=_offsets([data.elastic_count for data in bodies]),
        mass=np.array([body.mass for body in types]),
        viscosity=np.array([body.viscosity for body in types]),
        velocity_weight=np.concatenate([weights[k] for k in type_of] or [np.zeros(0)]),
        pool=pool.numbers(),
        elastic_count=_integers(columns["elastic_count"]),
        axis_count=_integers(columns["axis_count"]),
        first_moment=_integers(columns["first_moment"]),
        deformation_mass=_integers(columns["deformation_mass"]),
        gyroscopic=_integers(columns["gyroscopic"]),
        rotational=_integers(columns["rotational"]),
        stiffness=_integers(columns["stiffness"]),
        damping=_integers(columns["damping"]),
        strain_start=_integers(strains.start),
        strain_weight=np.array(strains.weights),
        strain_row=rows[:, 0].copy(),
        strain_first=rows[:, 1].copy(),
        strain_last=rows[:, 2].copy(),
        square_start=_integers(strains.square_start),
        square_factor=np.array(strains.factors),
        square_row=squares[:, 0].copy(),
        square_first=squares[:, 1].copy(),
        square_last=squares[:, 2].copy(),
    )


class _StrainTable:
    """The strains of all types, with the columns that each touches.

    Attributes:
        start: first strain of each type, and their number.
        weights: D_s of each strain.
        square_start: first square of each strain, and their number.
        factors: of each square.
    """

    def __init__(self) -> None:
        self.start = [0]
        self.weights: list[float] = []
        self._rows: list[tuple[int, int, int]] = []
        self.square_start = [0]
        self.factors: list[float] = []
        self._squares: list[tuple[int, int, int]] = []

    def add(self, body: FloatingBody, pool: Pool) -> None:
        """The strains of one type, each with its squares."""
        strain = body.strain
        for s, row in enumerate(strain.rows):
            mine = np.flatnonzero(strain.square_strain == s)
            touched = np.vstack([row, *strain.squares[mine]])
            self._rows.append((pool.add(row), *support(touched)))
            self.weights.append(float(strain.weights[s]))
            for g in mine:
                self._squares.append((pool.add(strain.squares[g]), *support(strain.squares[g])))
                self.factors.append(float(strain.factors[g]))
            self.square_start.append(len(self._squares))
        self.start.append(len(self._rows))

    def rows(self) -> IntArray:
        """Start, first and last column of each linear row, shape (strains, 3)."""
        return np.array(self._rows, dtype=np.int64).reshape(-1, 3)

    def squares(self) -> IntArray:
        """Start, first and last column of each slope function, shape (squares, 3)."""
        return np.array(self._squares, dtype=np.int64).reshape(-1, 3)


def _velocity_weights(body: FloatingBody) -> Array:
    """sqrt(M_ii / m): what a velocity component moves, compared with the body's translation."""
    diagonal = np.diag(mass_matrix(body, np.zeros(body.elastic_count)))
    return np.asarray(np.sqrt(diagonal / body.mass))


def _fingerprint(body: FloatingBody) -> tuple[object, ...]:
    strain = body.strain
    arrays = (
        body.first_moments,
        body.second_moments,
        body.damping,
        strain.stiffness,
        strain.rows,
        strain.weights,
        strain.squares,
        strain.factors,
    )
    return (body.rotates, body.mass, body.viscosity, *((a.shape, a.tobytes()) for a in arrays))


def _offsets(counts: list[int]) -> IntArray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _integers(values: list[int]) -> IntArray:
    return np.array(values, dtype=np.int64)
