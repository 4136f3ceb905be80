"""Modes of a beam held by its frame: reduction to the lowest ones, and modal damping (docs/theory.md, 3)."""

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.beam.frames import BeamBasis
from phlexible.bodies.beam.mesh import Family
from phlexible.errors import ParameterError

TIE = 1e-6  # of squared frequencies; round-off of the lowest of a fine mesh stays well below
COUPLED = 1e-9  # of the geometric mean of the diagonal


def modal_basis(basis: BeamBasis, mass: Array, stiffness: Array, modes: int) -> BeamBasis:
    """All axial coordinates, then the lowest ``modes`` of bending and torsion together.

    Axial coordinates stay because bending modes hold no axial functions and would lock (3.8). Modes are
    mass-normalised, sorted by frequency, their largest component is positive; where sections do not couple them,
    each is pure bending in y, in z or torsion, in this order where frequencies coincide. Where stretch is coupled
    with them, they are those of axial coordinates that follow.

    Args:
        mass, stiffness: of the coordinates of ``basis``, shape (n, n).

    Raises:
        ParameterError: there are fewer modes than asked for.
    """
    from scipy.linalg import eigh

    axial = np.flatnonzero(basis.families == Family.AXIAL)
    across = np.flatnonzero(basis.families != Family.AXIAL)
    following = np.zeros((len(basis.families), len(across)))
    following[across] = np.eye(len(across))
    if len(axial):
        following[axial] = -np.linalg.solve(stiffness[np.ix_(axial, axial)], stiffness[np.ix_(axial, across)])
    reduced_mass, reduced_stiffness = (following.T @ each @ following for each in (mass, stiffness))
    found: list[tuple[float, int, Array]] = []
    for members in _apart(basis.families[across], reduced_mass, reduced_stiffness):
        block = np.ix_(members, members)
        squares, vectors = eigh(reduced_stiffness[block], reduced_mass[block])
        for square, each in zip(squares, vectors.T, strict=True):
            shape = np.zeros(len(basis.families))
            shape[across[members]] = _signed(each)
            largest = across[members][int(np.argmax(np.abs(each)))]
            found.append((float(square), int(basis.families[largest]), shape))
    if modes > len(found):
        raise ParameterError(
            f"modes must be at most {len(found)}, the bending and torsion coordinates of these elements, "
            f"got {modes}; take fewer modes or more elements"
        )
    found.sort(key=lambda mode: mode[0])
    _order_ties(found)
    kept = found[:modes]
    selection = np.column_stack([np.eye(len(basis.families))[:, axial], *(shape for _, _, shape in kept)])
    families = np.concatenate([basis.families[axial], [family for _, family, _ in kept]]).astype(np.int64)
    return BeamBasis(basis.columns @ selection, families)


def _apart(families: IntArray, mass: Array, stiffness: Array) -> list[IntArray]:
    """Coordinates of bending in y, in z and torsion, together where mass or stiffness couples them."""
    groups: list[IntArray] = []
    for family in (Family.BENDING_Y, Family.BENDING_Z, Family.TORSION):
        members = np.flatnonzero(families == family)
        if not len(members):
            continue
        coupled = [each for each in groups if _are_coupled(mass, each, members)]
        coupled += [each for each in groups if _are_coupled(stiffness, each, members)]
        joined = np.unique(np.concatenate([members, *coupled]))
        groups = [each for each in groups if not np.isin(each, joined).any()] + [joined]
    return groups


def _are_coupled(matrix: Array, one: IntArray, other: IntArray) -> bool:
    scale = np.sqrt(np.diag(matrix))
    block = np.abs(matrix[np.ix_(one, other)]) / np.outer(scale[one], scale[other])
    return bool(block.max() > COUPLED)


def modal_damping(mass: Array, stiffness: Array, ratio: float) -> Array:
    """C = 2 ratio sum_i omega_i (M phi_i)(M phi_i)^T over all modes, shape (n, n), symmetric."""
    if ratio == 0 or not len(mass):
        return np.zeros_like(mass)
    from scipy.linalg import eigh

    squares, vectors = eigh(stiffness, mass)
    momenta = mass @ vectors * (2 * ratio) ** 0.5 * np.maximum(squares, 0.0) ** 0.25
    result: Array = momenta @ momenta.T
    return result


def _signed(shape: Array) -> Array:
    """The shape with its first component of largest size positive (sizes within 1e-6 are equal)."""
    size = np.abs(shape)
    first = int(np.argmax(size >= (1 - 1e-6) * size.max()))
    return shape if shape[first] > 0 else -shape


def _order_ties(found: list[tuple[float, int, Array]]) -> None:
    """Sorts runs of coinciding frequencies by family, in place."""
    start = 0
    for i in range(1, len(found) + 1):
        if i == len(found) or found[i][0] > found[start][0] * (1 + TIE):
            found[start:i] = sorted(found[start:i], key=lambda mode: mode[1])
            start = i
