"""A basis of elastic coordinates that a user hands to a body, as a value."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, numbers
from phlexible.errors import ParameterError

SPANNED = 1e-6  # of a column in the energy metric: what is left of it is round-off


@dataclass(frozen=True, eq=False)
class ReducedBasis:
    """Columns over all elastic coordinates of a body: ``eta_all = columns @ eta``. Compared by numbers.

    Attributes:
        columns: shape (n, k), 1 <= k <= n, linearly independent; stored read-only.

    Raises:
        ParameterError: another shape, numbers that are not finite, or columns that depend on each other.
    """

    columns: ArrayLike

    def __post_init__(self) -> None:
        columns = numbers("a basis", self.columns, "an array of numbers")
        if columns.ndim != 2 or not 1 <= columns.shape[1] <= columns.shape[0]:
            raise ParameterError(
                "a basis must have shape (n, k), one column for each of 1 <= k <= n coordinates, "
                f"got shape {columns.shape}"
            )
        if not np.isfinite(columns).all():
            raise ParameterError("a basis must be finite")
        columns.flags.writeable = False
        object.__setattr__(self, "columns", columns)

    @property
    def array(self) -> Array:
        """The columns, shape (n, k)."""
        return np.asarray(self.columns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReducedBasis) and np.array_equal(self.array, other.array)

    def __hash__(self) -> int:
        return hash((self.array.shape, self.array.tobytes()))

    def __repr__(self) -> str:
        return f"ReducedBasis({self.array.shape[0]} coordinates, {self.array.shape[1]} columns)"


def independent(basis: Array, columns: Array, stiffness: Array) -> Array:
    """``basis`` and after it those of the columns that it does not span yet, (n, m).

    Columns are compared in the energy metric of ``stiffness`` (n, n), positive definite, and are kept
    as they are.
    """
    lower = np.linalg.cholesky(stiffness)
    spanned = np.linalg.qr(lower.T @ basis)[0]
    kept = [basis]
    for column in columns.T:
        size = float(np.linalg.norm(lower.T @ column))
        if size == 0:
            continue
        rest = lower.T @ column / size
        for _ in range(2):
            rest = rest - spanned @ (spanned.T @ rest)
        left = float(np.linalg.norm(rest))
        if left > SPANNED:
            spanned = np.hstack([spanned, rest[:, None] / left])
            kept.append(column[:, None])
    return np.hstack(kept)
