"""Uncertain linear models: y = F_u(M, Delta) u with Delta = diag(delta_i I) (7.20, 7.21; docs/theory.md, 7)."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from scipy import io, linalg, sparse

from phlexible.algebra.arrays import Array, file_path, finite, numbers
from phlexible.display import short_repr
from phlexible.errors import ModelError, ParameterError, ResultFileError
from phlexible.extras import optional
from phlexible.linear.mechanics import LinearMechanics
from phlexible.linear.null_space import null_space_basis
from phlexible.linear.state_space import StateSpaceMatrices
from phlexible.results.linear_model import LinearModel

if TYPE_CHECKING:
    from control import StateSpace

MOST_PARAMETERS = 6
SMALL = 1e-13  # singular values that are round-off, of the largest
SAME = 1e-9


@dataclass(frozen=True, eq=False)
class LinearFractional:
    """dx/dt = A x + B_w w + B u, z = C_z x + D_zw w + D_z u, y = C x + D_yw w + D u, w = Delta z.

    Delta = diag(delta_1 I, delta_2 I, ...): each parameter is its middle + delta times half of its range, delta
    between -1 and 1, and is repeated ``sizes`` times.

    Attributes:
        A, B, C, D: of x, (w, u) and (z, y), the w and z of all parameters first.
        parameters: names.
        ranges: (lowest, highest) of each, shape (parameters, 2).
        sizes: how often each is in Delta.
        states, inputs, outputs: names, of u and y.
        corner_error: greatest difference from models linearized at the corners of the ranges, of the largest entry.
        middle_error: the same in the middle, where parameters are that do not come in linearly.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    parameters: tuple[str, ...]
    ranges: Array
    sizes: tuple[int, ...]
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    corner_error: float
    middle_error: float

    __repr__ = short_repr

    def at(self, **values: float) -> StateSpaceMatrices:
        """The model for values of the parameters; those that are not given are in the middle.

        Raises:
            ParameterError: names of no parameter, or values at which the model is singular.
        """
        for name in values:
            if name not in self.parameters:
                raise ParameterError(f"no parameter is named {name!r}; there are {', '.join(self.parameters)}")
        middle, half = self.ranges.mean(axis=1), np.diff(self.ranges, axis=1)[:, 0] / 2
        given = [finite(name, values.get(name, middle[k])) for k, name in enumerate(self.parameters)]
        delta = np.repeat((np.array(given) - middle) / half, self.sizes)
        return StateSpaceMatrices(*_closed(self.A, self.B, self.C, self.D, delta), *self._names)

    def to_state_space(self, **values: float) -> "StateSpace":
        """python-control's StateSpace of M, with w, u as inputs and z, y as outputs; with values that of ``at``."""
        control = optional("control", "control")
        if values:
            own = self.at(**values)
            parts, inputs, outputs = (own.A, own.B, own.C, own.D), own.inputs, own.outputs
        else:
            words = [
                f"{name} {k}" for name, size in zip(self.parameters, self.sizes, strict=True) for k in range(size)
            ]
            parts = (self.A, self.B, self.C, self.D)
            inputs, outputs = (tuple(f"{c} {word}" for word in words) for c in "wz")
            inputs, outputs = (*inputs, *self.inputs), (*outputs, *self.outputs)
        names = {"states": self.states, "inputs": inputs, "outputs": outputs}
        return control.ss(*parts, **{kind: [each.replace(".", "_") for each in own] for kind, own in names.items()})

    def save_mat(self, path: str | PathLike[str]) -> None:
        """Writes A, B, C, D of M, names, ranges and sizes of Delta to a MATLAB file (level 5).

        Raises:
            ParameterError, ResultFileError: the path is no ``.mat`` file, or cannot be written.
        """
        if not file_path("path", path).endswith(".mat"):
            raise ParameterError(f"the path of a MATLAB file must end in .mat, got {str(path)!r}")
        variables: dict[str, object] = {name: getattr(self, name) for name in ("A", "B", "C", "D", "ranges")}
        variables["sizes"] = np.array(self.sizes, dtype=np.float64)
        for name in ("parameters", "states", "inputs", "outputs"):
            variables[name] = np.array(getattr(self, name), dtype=object)
        try:
            io.savemat(str(path), variables)
        except OSError as error:
            raise ResultFileError.of_writing(path, error) from error

    @property
    def _names(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        return self.states, self.inputs, self.outputs


def lft(linearized: Callable[..., LinearModel], parameters: Mapping[str, tuple[float, float]]) -> LinearFractional:
    """The linear model with some parameters pulled out, as robust control takes it.

    Between the corners of the ranges M, C, K and F are taken as affine in each parameter, with products: exact at
    all corners, and everywhere for masses, densities, moduli, stiffnesses and dampings. ``middle_error`` tells of
    others.

    Args:
        linearized: keyword parameters -> what ``model.linearize`` returned, in displacement form.
        parameters: (lowest, highest) by name, at most six.

    Raises:
        ParameterError: ranges that are none, or too many parameters.
        ModelError: models that are not of one kind, whose joints change with a parameter (lengths, poses), or
            whose outputs do.
    """
    if not callable(linearized):
        raise ParameterError(f"linearized must be a function of parameters, got {linearized!r}")
    ranges = _ranges(parameters)
    names, signs = tuple(parameters), list(product((-1.0, 1.0), repeat=len(parameters)))
    middle, half = ranges.mean(axis=1), np.diff(ranges, axis=1)[:, 0] / 2
    try:
        inspect.signature(linearized).bind(**dict.fromkeys(names, 0.0))
    except (TypeError, ValueError) as error:
        raise ParameterError(f"linearized must be a function of {', '.join(names)}: {error}") from None
    places = [np.zeros(len(names)), *(np.array(s) for s in signs)]
    values = [dict(zip(names, (middle + half * s).tolist(), strict=True)) for s in places]
    models = [linearized(**each) for each in values]
    mechanics = [_mechanics(model) for model in models]
    first = mechanics[0]
    basis = null_space_basis(first.constraint_matrix)
    parts = [_projected(each, first, basis) for each in mechanics]
    mean = np.mean(parts[1:], axis=0)
    n = mean.shape[0]
    lower = linalg.cholesky(mean[:, :n], lower=True)
    parts = [_normalized(each, lower) for each in parts]
    rows = linalg.solve_triangular(lower, np.asarray((first.rows @ basis).T), lower=True).T
    made = _pulled_out(parts[1:], np.array(signs), rows, first.differentiations)
    errors = []
    for each, s in zip(parts, places, strict=True):
        found = _closed(*made[:4], np.repeat(s, made[4]))
        expected = _state_space(each, rows, first.differentiations)
        errors.append(max(_difference(a, b) for a, b in zip(found, expected, strict=True)))
    coordinates = [f"coordinate {k}" for k in range(n)]
    states = (*coordinates, *(f"rate of {name}" for name in coordinates))
    ports = (models[0].inputs, models[0].outputs)
    return LinearFractional(*made[:4], names, ranges, made[4], states, *ports, max(errors[1:]), errors[0])


def _difference(found: Array, expected: Array) -> float:
    """Greatest, of the largest entry."""
    largest = np.abs(expected).max(initial=0.0)
    return float(np.abs(found - expected).max(initial=0.0) / largest) if largest else 0.0


def _ranges(parameters: Mapping[str, tuple[float, float]]) -> Array:
    if not isinstance(parameters, Mapping) or not 1 <= len(parameters) <= MOST_PARAMETERS:
        raise ParameterError(
            f"parameters must be ranges by name, 1 to {MOST_PARAMETERS} of them, got {parameters!r}"
        )
    for name, given in parameters.items():
        found = numbers(f"range of {name}", given)
        if found.shape != (2,) or not np.isfinite(found).all() or not found[0] < found[1]:
            raise ParameterError(f"the range of {name} must be (lowest, highest), got {given!r}")
    return np.array([list(given) for given in parameters.values()], dtype=np.float64)


def _mechanics(model: LinearModel) -> LinearMechanics:
    if not isinstance(model, LinearModel) or model.mechanics is None:
        raise ModelError(f"linearized must return what model.linearize returns, got {model!r}")
    return model.mechanics


def _projected(each: LinearMechanics, first: LinearMechanics, basis: sparse.csr_array) -> Array:
    """[M, C, K, -F] in coordinates that joints leave free, shape (n, 3 n + inputs)."""
    alike = (
        each.size == first.size and each.rows.shape == first.rows.shape and each.forces.shape == first.forces.shape
    )
    if not alike or each.differentiations != first.differentiations:
        raise ModelError("parameters must not change bodies, joints, inputs or outputs")
    G = each.constraint_matrix
    if np.abs(G @ basis).max() > SAME * max(1.0, np.abs(G).max()) if G.shape[0] else False:
        raise ModelError("the joints change with a parameter (a length, a pose); only masses, stiffnesses, ... may")
    if np.abs(each.rows - first.rows).max(initial=0.0) > SAME * np.abs(first.rows).max(initial=1.0):
        raise ModelError("the outputs change with a parameter (a length, a pose)")
    own = each.projected(basis)
    damping = (own.velocity + own.damping).toarray()
    return np.hstack([own.mass.toarray(), damping, own.stiffness.toarray(), -own.forces])


def _normalized(part: Array, lower: Array) -> Array:
    """In coordinates in which the mean mass is the identity."""
    n = len(lower)

    def left(matrix: Array) -> Array:
        return np.asarray(linalg.solve_triangular(lower, matrix, lower=True))

    blocks = [left(left(part[:, k * n : (k + 1) * n]).T).T for k in range(3)]
    return np.hstack([*blocks, left(part[:, 3 * n :])])


def _pulled_out(
    corners: list[Array], signs: Array, rows: Array, levels: tuple[int, ...]
) -> tuple[Array, Array, Array, Array, tuple[int, ...]]:
    """A, B, C, D of M, and how often each parameter is in Delta."""
    count, n = signs.shape[1], corners[0].shape[0]
    stack = np.array(corners)
    mean = stack.mean(axis=0)
    scale = np.concatenate([np.full(n, np.abs(mean[:, k * n : (k + 1) * n]).max() or 1.0) for k in range(3)])
    scale = np.concatenate(
        [scale, np.full(mean.shape[1] - 3 * n, np.abs(mean[:, 3 * n :]).max(initial=0.0) or 1.0)]
    )
    chains: list[tuple[tuple[int, ...], Array, Array]] = []
    for size in range(1, count + 1):
        for chosen in combinations(range(count), size):
            part = np.tensordot(np.prod(signs[:, chosen], axis=1), stack, axes=1) / len(signs) / scale
            left, singular, right = np.linalg.svd(part)
            rank = int((singular > SMALL).sum())
            if rank:
                chains.append((chosen, left[:, :rank] * singular[:rank], right[:rank] * scale))
    places: list[tuple[int, int, int]] = []  # parameter, chain, link of the chain; sorted by parameter
    places = sorted((chosen[k], c, k) for c, (chosen, _, _) in enumerate(chains) for k in range(len(chosen)))
    widths = [chains[c][1].shape[1] for _, c, _ in places]
    starts = dict(zip(((c, k) for _, c, k in places), np.cumsum([0, *widths]).tolist(), strict=False))
    total, inputs = int(sum(widths)), mean.shape[1] - 3 * n
    acceleration = np.hstack([-mean[:, 2 * n : 3 * n], -mean[:, n : 2 * n]])  # of (q, v), of w, of u
    by_w, by_u = np.zeros((n, total)), -mean[:, 3 * n :]
    for c, (chosen, left, _) in enumerate(chains):
        begin = starts[c, len(chosen) - 1]
        by_w[:, begin : begin + left.shape[1]] = -left
    whole = np.hstack([acceleration, by_w, by_u])
    z = np.zeros((total, 2 * n + total + inputs))
    for c, (chosen, left, right) in enumerate(chains):
        for k in range(len(chosen)):
            begin, width = starts[c, k], left.shape[1]
            own = z[begin : begin + width]
            if k:
                before = 2 * n + starts[c, k - 1]
                own[:, before : before + width] = np.eye(width)
                continue
            own += right[:, :n] @ whole
            own[:, n : 2 * n] += right[:, n : 2 * n]
            own[:, :n] += right[:, 2 * n : 3 * n]
            own[:, 2 * n + total :] += right[:, 3 * n :]
    A = np.vstack([np.eye(n, 2 * n, n), acceleration])
    B = np.vstack([np.zeros((n, total + inputs)), np.hstack([by_w, by_u])])
    y = _outputs(rows, levels, whole)
    sizes = tuple(sum(w for w, place in zip(widths, places, strict=True) if place[0] == k) for k in range(count))
    return A, B, np.vstack([z[:, : 2 * n], y[:, : 2 * n]]), np.vstack([z[:, 2 * n :], y[:, 2 * n :]]), sizes


def _outputs(rows: Array, levels: tuple[int, ...], acceleration: Array) -> Array:
    """Rows of displacements, rates or accelerations over (x, w, u)."""
    n = rows.shape[1]
    found = np.zeros((len(rows), acceleration.shape[1]))
    for i, level in enumerate(levels):
        if level == 2:
            found[i] = rows[i] @ acceleration
        else:
            found[i, level * n : (level + 1) * n] = rows[i]
    return found


def _state_space(part: Array, rows: Array, levels: tuple[int, ...]) -> tuple[Array, Array, Array, Array]:
    """Of one model [M, C, K, -F]."""
    n = len(part)
    solved = np.linalg.solve(part[:, :n], part[:, n:])
    acceleration = np.hstack([-solved[:, n : 2 * n], -solved[:, :n], -solved[:, 2 * n :]])
    y = _outputs(rows, levels, acceleration)
    A = np.vstack([np.eye(n, 2 * n, n), acceleration[:, : 2 * n]])
    B = np.vstack([np.zeros((n, part.shape[1] - 3 * n)), acceleration[:, 2 * n :]])
    return A, B, y[:, : 2 * n], y[:, 2 * n :]


def _closed(A: Array, B: Array, C: Array, D: Array, delta: Array) -> tuple[Array, Array, Array, Array]:
    """F_u(M, Delta)."""
    k = len(delta)
    loop = np.eye(k) - D[:k, :k] * delta
    try:
        seen = np.linalg.solve(loop, np.hstack([C[:k], D[:k, k:]]))
    except np.linalg.LinAlgError:
        raise ParameterError("the model is singular at these values: a mass vanishes") from None
    back = delta[:, None] * seen
    n = len(A)
    return (
        A + B[:, :k] @ back[:, :n],
        B[:, k:] + B[:, :k] @ back[:, n:],
        C[k:] + D[k:, :k] @ back[:, :n],
        D[k:, k:] + D[k:, :k] @ back[:, n:],
    )
