"""Derivatives of the modes and frequency responses of linear models to parameters (docs/theory.md, 9)."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray, called, whole
from phlexible.algebra.sparse import disjoint_groups, lu_factors
from phlexible.derivatives.both_sides import ROUNDED
from phlexible.derivatives.parameters import SMOOTH, Direction, Given, Parameters, Values, check_build
from phlexible.display import short_repr, table
from phlexible.errors import ModelError, ParameterError, PoleError, SingularMatrixError
from phlexible.linear.frequency_response import checked_frequencies, frequency_response
from phlexible.linear.linearize import Form
from phlexible.linear.modes import lowest_model_modes
from phlexible.linear.observed import ObservedPHDAE

ComplexArray = NDArray[np.complex128]
Build = Callable[[Any], Any]

BESIDE = 1e-6
"""Relative shift of an eigenvalue before the matrix, singular at the eigenvalue itself, is factored."""

ROUNDS = 6
"""Number of inverse iterations, each of which leaves about BESIDE of modes that are far apart."""

JUMP, BENT = 1e-8, 0.4
"""Even part of a change of a matrix, relative to its largest entry, below which the matrix does not jump; and that
of half the change over that of the whole, which is 1/4 in curved functions, 1/2 in kinks and 1 in jumps."""

REPEATED = 1e-6
"""Bound on ``|y . E x| / (|y| |E x|)`` below which an eigenvalue lacks eigenvectors."""

MULTIPLE, EQUAL = 3, 1e-5
"""Number of modes looked at beyond those asked for, and relative distance of eigenvalues that count as equal."""


@dataclass(frozen=True, eq=False)
class ModeDerivatives:
    """Eigenvalues of the lowest modes of a linear model and their derivatives with respect to parameters.

    Attributes:
        eigenvalues: s, as of ``modes``, shape (count,) [1/s].
        derivatives: ds/dp by name, or one array as the parameters were given, shape (..., count).
    """

    eigenvalues: ComplexArray
    derivatives: Values

    __repr__ = short_repr

    def _repr_html_(self) -> str:
        """Return an HTML table for notebooks: frequencies of the modes of a linear model and their derivatives with
        respect to scalar parameters."""
        slopes = self.of_frequencies if isinstance(self.of_frequencies, dict) else {}
        plain = {name: each for name, each in slopes.items() if np.ndim(each) == 1}
        rows = [
            (str(k + 1), f"{frequency:.6g}", *(f"{each[k]:.6g}" for each in plain.values()))
            for k, frequency in enumerate(self.frequencies)
        ]
        return table(rows, ("mode", "frequency [rad/s]", *(f"d/d {name}" for name in plain)), "ModeDerivatives")

    @property
    def frequencies(self) -> Array:
        """Angular frequencies of these modes, the moduli ``|s|`` of their eigenvalues, shape (count,) [rad/s]."""
        return np.abs(self.eigenvalues)

    @property
    def of_frequencies(self) -> Values:
        """Derivatives of the angular frequencies ``|s|`` [rad/s] of these modes with respect to the parameters, in
        the structure of ``derivatives``."""
        turned = self.eigenvalues.conj() / np.where(self.frequencies > 0, self.frequencies, 1.0)
        if isinstance(self.derivatives, dict):
            return {name: np.real(turned * slopes) for name, slopes in self.derivatives.items()}
        return np.real(turned * self.derivatives)


@dataclass(frozen=True, eq=False)
class ResponseDerivatives:
    """Frequency responses of a linear model and their derivatives with respect to parameters.

    Attributes:
        frequencies: shape (k,) [rad/s].
        values: shape (k, outputs, inputs).
        derivatives: dH/dp by name, or one array as the parameters were given, shape (..., k, outputs, inputs).
    """

    frequencies: Array
    values: ComplexArray
    derivatives: Values

    __repr__ = short_repr


def mode_derivatives(
    build: Build, parameters: Given, count: int = 6, *, scales: Mapping[str, float] | None = None
) -> ModeDerivatives:
    """Return the ``count`` lowest eigenvalues s of a linear model ``E dx/dt = A x`` and their derivatives with
    respect to ``parameters``. The derivatives are ``y . (dA - s dE) x / (y . E x)`` with left and right
    eigenvectors y and x, and zero for s = 0. Modes of one frequency, which a parameter may part, have the
    derivatives of their frequencies as it increases, in ascending order. ``build`` is called with all parameters
    as one argument and returns a linear model. ``scales`` are sizes of parameters by name.

    Args:
        build: parameters -> what ``model.linearize(...)`` returns, for example ``lambda p: make(p).linearize()``.
        parameters: by name, of numbers and arrays, or one array.
        count: of modes, rigid ones included, whose derivatives are zero.
        scales: sizes by name of parameters whose value does not tell it.

    Raises:
        ParameterError: a build function that returns no linear model.
        ModelError: states or matrices that jump once a parameter changes, or eigenvalues without eigenvectors of
            their own.
    """
    number_of_modes, chosen = whole("count", count), Parameters(parameters, scales)
    linear = _linear(build, chosen.nested(chosen.values))
    values, groups = _equal_modes(linear, number_of_modes)
    E, A = _matrices_of_modes(linear)[:2]
    means = [complex(values[own].mean()) for own in groups]
    spaces = [(s, *_vectors(E, A, s, len(own))) for s, own in zip(means, groups, strict=True)]
    slopes = np.zeros((len(chosen), len(values)), dtype=np.complex128)
    for change in _changes(build, chosen, linear, _matrices_of_modes):
        for own, (s, y, x) in zip(groups, spaces, strict=True):
            found = np.linalg.eigvals(np.linalg.solve(y.T @ (E @ x), y.T @ (change.A @ x - s * (change.E @ x))))
            slopes[change.number, own] = found[np.argsort((found * np.conj(s)).real)]
    slopes, values = slopes[:, :number_of_modes], values[:number_of_modes]
    return ModeDerivatives(values, chosen.structured(slopes))


def response_derivatives(
    build: Build, frequencies: ArrayLike, parameters: Given, *, scales: Mapping[str, float] | None = None
) -> ResponseDerivatives:
    """Return the frequency responses (transfer matrices) of a linear model and their derivatives with respect to
    ``parameters``. The model's matrices are differentiated by central differences, the responses exactly, with one
    LU factorization for each frequency. ``build`` is called with the parameters and returns a linear model.
    ``frequencies`` are in rad/s; ``scales`` are typical sizes of parameters by name. Raise ``PoleError`` at a
    pole.

    Each frequency takes two solutions of a linear system for all parameters together.

    Args:
        build: parameters -> what ``model.linearize(inputs=[...], outputs=[...])`` returns.
        frequencies: shape (k,) [rad/s].
        parameters: by name, of numbers and arrays, or one array.
        scales: sizes by name of parameters whose value does not tell it.

    Raises:
        ParameterError: a build function that returns no linear model, or one without inputs or outputs.
        ModelError: states that are others once a parameter changes.
        PoleError: one of the frequencies is an undamped pole.
    """
    omegas, chosen = checked_frequencies(frequencies), Parameters(parameters, scales)
    linear = _linear(build, chosen.nested(chosen.values))
    response = frequency_response(linear, omegas)
    E, A = linear.descriptor, linear.system_matrix
    levels = np.array(linear.differentiations)
    solved = []
    for omega in response.frequencies:
        try:
            factors = lu_factors(1j * omega * E - A)
        except SingularMatrixError:
            raise PoleError(
                f"frequencies: derivatives have no answer at {omega:g} rad/s, where i omega E - A is singular"
            ) from None
        rows = (1j * omega) ** levels[:, None] * linear.output_matrix.toarray()
        states = factors.solve(linear.port_map.toarray().astype(np.complex128))
        solved.append((1j * omega, states, factors.solve(rows.T.astype(np.complex128), trans="T").T))
    slopes = np.zeros((len(chosen), *response.values.shape), dtype=np.complex128)
    for change in _changes(build, chosen, linear, _matrices):
        dB = change.B.toarray()
        for k, (s, x, y) in enumerate(solved):
            direct = s ** levels[:, None] * (change.C @ x)
            slopes[change.number, k] = direct + y @ (dB + change.A @ x - s * (change.E @ x))
    return ResponseDerivatives(response.frequencies, response.values, chosen.structured(slopes))


def _linear(build: Build, parameters: Any) -> ObservedPHDAE:
    check_build(build)
    found = called(build, "the build function", parameters, at="for these parameters")
    if not isinstance(found, ObservedPHDAE):
        raise ParameterError(
            f"the build function must return a linear model, such as model.linearize(), got {found!r}"
        )
    return found


@dataclass(frozen=True, eq=False)
class _Change:
    """Derivatives of the matrices of a linear model ``E dx/dt = A x + B u``, ``y = C x`` with respect to one
    parameter.

    Attributes:
        number: of the parameter.
        E, A, B, C: dE/dp, dA/dp, dB/dp and dC/dp.
    """

    number: int
    E: sparse.csr_array
    A: sparse.csr_array
    B: sparse.csr_array
    C: sparse.csr_array


def _changes(
    build: Build,
    varied: Parameters,
    base: ObservedPHDAE,
    matrices: Callable[[ObservedPHDAE], list[sparse.csr_array]],
) -> list[_Change]:
    """Return the derivatives of the ``matrices`` E, A, B and C of a linear model with respect to the parameters
    ``varied``, by central differences. For each parameter, a model with it increased is built. For the other side,
    parameters that change different matrix entries share one model in which all are decreased. ``base`` is the
    unperturbed model. Raise ``ModelError`` if states, inputs or outputs change, or matrices jump.

    Each parameter has a model on one side; those that change no common entry share one on the other side.
    """

    def made(directions: Sequence[Direction], sign: float) -> ObservedPHDAE:
        change = np.sum([direction.change for direction in directions], axis=0)
        other = _linear(build, varied.nested(varied.values + sign * change))
        if _shape(other) != _shape(base):
            names = " or ".join(varied.label(direction) for direction in directions)
            raise ModelError(
                f"the linear model has other states, inputs or outputs once {names} changes a little; the build"
                " function must make the same ones for all parameters"
            )
        return other

    def refuse_jump(direction: Direction) -> None:
        """Raise ``ModelError`` if the even part of the changes does not fall with the square of their size."""
        bends = [
            [abs((a + b - 2 * c).data).max(initial=0.0) for a, b, c in zip(*sides, given, strict=True)]
            for sides in ([matrices(made([direction], share * sign)) for sign in (1, -1)] for share in (1.0, 0.5))
        ]
        if any(half > BENT * whole for whole, half in zip(*bends, strict=True)):
            raise ModelError(
                f"the linear model jumps or has a kink where {varied.label(direction)} changes a little, for"
                " example because its coordinates become others; take its derivatives at a value beside"
            )

    given, directions = matrices(base), varied.single_directions()
    ups = [
        [sparse.csr_array(b - a) for a, b in zip(given, matrices(made([direction], 1)), strict=True)]
        for direction in directions
    ]
    masks = [[_change_mask(up, a) for up, a in zip(each, given, strict=True)] for each in ups]
    found: list[_Change] = []
    # a product with a parameter that is zero does not show that the other one is in it
    shared = [k for k, direction in enumerate(directions) if varied.values[direction.number] != 0]
    groups = [[k] for k in range(len(directions)) if k not in shared]
    if shared:
        groups += [[shared[j] for j in group] for group in disjoint_groups([_entries(masks[k]) for k in shared])]
    for group in groups:
        less = matrices(made([directions[k] for k in group], -1))
        for k in group:
            twice, parts, is_suspicious = 2 * directions[k].size, [], False
            for up, mask, a, b in zip(ups[k], masks[k], given, less, strict=True):
                down = a - b if len(group) == 1 else (a - b).multiply(mask)
                even, odd, size = (abs(each.data).max(initial=0.0) for each in (up - down, up + down, a))
                is_suspicious |= even > max(SMOOTH * odd, JUMP * size)
                parts.append(sparse.csr_array((up + down) / twice))
            if is_suspicious:
                refuse_jump(directions[k])
            found.append(_Change(directions[k].number, *parts))
    return found


def _plain_name(name: str) -> str:
    return re.sub(r"-?\d+(\.\d+)?(e[+-]\d+)?", "#", name)


def _shape(linear: ObservedPHDAE) -> tuple[object, ...]:
    """Return names, units and sizes of the states, inputs and outputs of a ``linear`` model. Numbers in names are
    left out: they may be those of places that a parameter moves."""
    states = [(_plain_name(group.name), group.unit, group.size) for group in linear.states]
    ports = [(_plain_name(port.name), port.input_unit, port.size) for port in linear.ports]
    return states, ports, list(map(_plain_name, linear.outputs)), linear.output_units


def _matrices(linear: ObservedPHDAE) -> list[sparse.csr_array]:
    given = (linear.descriptor, linear.system_matrix, linear.port_map, linear.output_matrix)
    return [sparse.csr_array(each) for each in given]


def _matrices_of_modes(linear: ObservedPHDAE) -> list[sparse.csr_array]:
    """Return the matrices E, A, B and C of a ``linear`` model as modes have them. A then has the stiffness of
    forces without potential, such as follower loads, which frequency responses leave out."""
    E, A, B, C = _matrices(linear)
    if linear.form is Form.DISPLACEMENT and linear.mechanics is not None:
        n, skew = linear.mechanics.size, sparse.coo_array(linear.mechanics.circulatory)
        A = sparse.csr_array(A - sparse.coo_array((skew.data, (skew.row + n, skew.col)), shape=A.shape))
    return [E, A, B, C]


def _change_mask(change: sparse.csr_array, matrix: sparse.csr_array) -> sparse.csr_array:
    """Return a sparse matrix with ones where ``change``, a change of ``matrix``, exceeds the round-off of the entry
    of ``matrix`` there.
    """
    entries = sparse.coo_array(change)
    before = np.asarray(matrix[entries.row, entries.col]).ravel() if entries.nnz else np.zeros(0)
    is_moved = np.abs(entries.data) > ROUNDED * np.abs(before)
    places = entries.row[is_moved], entries.col[is_moved]
    return sparse.csr_array((np.ones(len(places[0])), places), shape=matrix.shape)


def _entries(masks: Sequence[sparse.csr_array]) -> IntArray:
    """Return integers that identify the nonzero entries of several sparse matrices (``masks``), as one array. Equal
    positions of the same matrix in two calls get equal integers, if the shapes are equal; entries of different
    matrices get different ones.
    """
    whole = sparse.coo_array(sparse.block_diag(masks))
    return np.asarray(whole.row.astype(np.int64) * whole.shape[1] + whole.col)


def _equal_modes(linear: ObservedPHDAE, count: int) -> tuple[ComplexArray, list[IntArray]]:
    """Return eigenvalues of a ``linear`` model, the ``count`` lowest and more, and the indices of those that are
    equal, one array for each set. Sets are of consecutive eigenvalues that differ by less than 1e-5, as round-off
    and differences of parameters do. They are those of the ``count`` lowest, without those that are zero."""
    asked = count + MULTIPLE
    while True:
        values = lowest_model_modes(linear, asked).eigenvalues
        apart = np.abs(np.diff(values)) > EQUAL * np.abs(values[1:])
        sets = [own for own in np.split(np.arange(len(values)), np.flatnonzero(apart) + 1) if own[0] < count]
        if len(values) < asked or sets[-1][-1] < asked - 1:
            return values, [own for own in sets if values[own[0]] != 0]
        asked *= 2


def _vectors(E: sparse.csr_array, A: sparse.csr_array, s: complex, count: int) -> tuple[ComplexArray, ComplexArray]:
    """Return bases of the left and right eigenvectors of A x = s E x as columns, shape (n, count) each. s is the
    mean of ``count`` eigenvalues that are equal or nearly so. A fixed number of inverse iterations, with LU factors
    of the matrix at a slightly shifted s, starts from random vectors. Columns are orthonormal.

    Raises:
        ModelError: an eigenvalue without so many eigenvectors.
    """
    factors = lu_factors(A - (s + BESIDE * abs(s)) * E)
    x, y = np.random.default_rng(0).standard_normal((2, A.shape[0], count)).astype(np.complex128)
    for _ in range(ROUNDS):
        x, y = np.linalg.qr(factors.solve(E @ x))[0], np.linalg.qr(factors.solve(E.T @ y, trans="T"))[0]
    moved = E @ x
    if np.linalg.svd(y.T @ (moved / np.linalg.norm(moved, axis=0)), compute_uv=False)[-1] < REPEATED:
        raise ModelError(
            f"modes of the same frequency {abs(s):.6g} rad/s have no derivatives of their own; change a parameter a"
            " little, or ask for fewer modes"
        )
    return y, x
