"""Linear controllers ``dx/dt = A x + B u``, ``y = C x + D u``, continuous or discrete (docs/theory.md, 8)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ParameterError


@dataclass(frozen=True, eq=False)
class LinearController:
    """Matrices of a linear controller.

    Attributes:
        A, B, C, D: shapes (n, n), (n, inputs), (outputs, n), (outputs, inputs).
        is_discrete: whether A and B take the state from one sample to the next.
        period: of the samples of a discrete one [s]; None: not said, or continuous.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    is_discrete: bool = False
    period: float | None = None

    @property
    def order(self) -> int:
        """Number of states."""
        return len(self.A)

    @property
    def inputs(self) -> int:
        """Number of inputs."""
        return int(self.D.shape[1])

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return int(self.D.shape[0])


def linear_law(given: Any) -> LinearController | None:
    """The matrices of a StateSpace or TransferFunction of python-control; None of anything else.

    Raises:
        ParameterError: matrices that are not finite, or a transfer function that answers to rates of its input.
    """
    if isinstance(given, LinearController):
        return given
    if not any(kind.__module__.partition(".")[0] == "control" for kind in type(given).__mro__):
        return None
    if all(hasattr(given, name) for name in "ABCD"):
        parts = [np.atleast_2d(np.asarray(getattr(given, name), dtype=np.float64)) for name in "ABCD"]
        outputs, inputs = parts[3].shape
        n = len(parts[0]) if parts[0].size else 0
        A, B, C = (part.reshape(s) for part, s in zip(parts, ((n, n), (n, inputs), (outputs, n)), strict=False))
        D = parts[3]
    elif hasattr(given, "num") and hasattr(given, "den") and hasattr(given, "dt"):
        A, B, C, D = _realized(given)
    else:
        return None
    for name, matrix in zip("ABCD", (A, B, C, D), strict=True):
        if not np.isfinite(matrix).all():
            raise ParameterError(f"{name} of the controller must be finite, got {matrix.tolist()}")
    is_discrete = given.dt is True or (given.dt is not None and given.dt != 0)
    period = float(given.dt) if is_discrete and given.dt is not True else None
    return LinearController(A, B, C, D, is_discrete, period)


def _realized(given: Any) -> tuple[Array, Array, Array, Array]:
    """States for each entry of a matrix of transfer functions, shape (outputs, inputs)."""
    outputs, inputs = len(given.num), len(given.num[0])
    blocks, columns, rows = [], [], []
    D = np.zeros((outputs, inputs))
    for i in range(outputs):
        for j in range(inputs):
            top, bottom = (np.trim_zeros(np.asarray(each[i][j]), "f") for each in (given.num, given.den))
            if len(top) > len(bottom):
                raise ParameterError(f"the controller answers to rates of its input: {given}; give it more poles")
            if not len(top):
                continue
            if len(bottom) == 1:
                D[i, j] = top[0] / bottom[0]
                continue
            bottom, top = bottom / bottom[0], np.pad(top, (len(bottom) - len(top), 0)) / bottom[0]
            D[i, j] = top[0]  # the others in the controllable canonical form
            blocks.append(np.vstack([-bottom[1:], np.eye(len(bottom) - 2, len(bottom) - 1)]))
            columns.append((j, np.eye(1, len(bottom) - 1)[0]))
            rows.append((i, top[1:] - top[0] * bottom[1:]))
    n = sum(map(len, blocks))
    A, B, C = np.zeros((n, n)), np.zeros((n, inputs)), np.zeros((outputs, n))
    begin = 0
    for block, (j, b), (i, c) in zip(blocks, columns, rows, strict=True):
        own = slice(begin, begin + len(b))
        A[own, own], B[own, j], C[i, own] = block, b, c
        begin += len(b)
    return A, B, C, D
