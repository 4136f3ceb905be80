"""A cross-section given by its 6 x 6 stiffness and mass matrices, as section analysis programs give them."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, non_negative, numbers
from phlexible.errors import ParameterError

Matrix = tuple[tuple[float, ...], ...]
ROUND_OFF = 1e-9


@dataclass(frozen=True)
class GeneralSection:
    """Section forces and momenta per length by 6 x 6 matrices; any couplings of stretch, shear, twist, bending.

    Components are along and about the local axes (x along the beam, y, z), about the point of the axis: forces
    (N, Q_y, Q_z) and moments (M_x, M_y, M_z) for the stiffness, which belong to the strains (u', v' - theta_z,
    w' + theta_y) and (theta_x', theta_y', theta_z'); linear and angular momentum per length for the mass. The
    centroid, the shear centre and the centre of mass may be anywhere.

    Attributes:
        stiffness: shape (6, 6), symmetric, positive definite [N, N m, N m2].
        mass: shape (6, 6), that of a flat cross-section: m, the two moments m y and m z, and int rho y^2, int
            rho z^2, int rho y z [kg/m, kg, kg m].
        viscosity: Kelvin-Voigt time tau [s], as of ``Material``.

    Raises:
        ParameterError: other shapes, numbers that are not finite, a stiffness that is not symmetric and positive
            definite, or a mass that no flat section has.
    """

    stiffness: ArrayLike | Matrix
    mass: ArrayLike | Matrix
    viscosity: float = 0.0

    def __post_init__(self) -> None:
        for name in ("stiffness", "mass"):
            object.__setattr__(self, name, _symmetric(name, getattr(self, name)))
        object.__setattr__(self, "viscosity", non_negative("viscosity", self.viscosity))
        if not _is_positive(self.stiffness_matrix):
            raise ParameterError("stiffness must be positive definite: some strain of the section costs no energy")
        self._check_mass()

    @property
    def stiffness_matrix(self) -> Array:
        """Shape (6, 6)."""
        return np.array(self.stiffness)

    @property
    def mass_matrix(self) -> Array:
        """Shape (6, 6)."""
        return np.array(self.mass)

    @property
    def moments(self) -> Array:
        """Integrals of rho (1, y, z) (1, y, z)^T over the section, shape (3, 3) [kg/m, kg, kg m]."""
        m = self.mass_matrix
        return np.array(
            [[m[0, 0], m[0, 5] * -1, m[0, 4]], [-m[0, 5], m[5, 5], -m[4, 5]], [m[0, 4], -m[4, 5], m[4, 4]]]
        )

    @property
    def radii_of_gyration(self) -> tuple[float, float]:
        """Across y and across z [m], of the stiffness."""
        stiffness = self.stiffness_matrix
        return sqrt(stiffness[5, 5] / stiffness[0, 0]), sqrt(stiffness[4, 4] / stiffness[0, 0])

    @property
    def thickness(self) -> float:
        """The height of a rectangle with the softer of the bending stiffnesses and that of stretch [m]."""
        stiffness = self.stiffness_matrix
        return sqrt(12 * min(stiffness[4, 4], stiffness[5, 5]) / stiffness[0, 0])

    def _check_mass(self) -> None:
        given, moments = self.mass_matrix, self.moments
        expected = flat_mass(moments)
        scale = np.sqrt(np.maximum(np.diag(expected), np.finfo(float).tiny))
        away = np.abs(given - expected) / np.outer(scale, scale)
        if away.max() > ROUND_OFF:
            row, column = np.unravel_index(int(np.argmax(away)), away.shape)
            raise ParameterError(
                "mass must be that of a flat section: [[m 1, -m [c]], [m [c], J]] with J_xx = J_yy + J_zz; entry"
                f" ({row}, {column}) is {given[row, column]:g} where the others say {expected[row, column]:g}"
            )
        if not _is_positive(moments):
            raise ParameterError("mass must be positive definite: some motion of the section has no momentum")


def flat_mass(moments: Array) -> Array:
    """The 6 x 6 mass matrix of a flat section with these integrals of rho (1, y, z) (1, y, z)^T (3, 3)."""
    m, my, mz = moments[0]
    yy, yz, zz = moments[1, 1], moments[1, 2], moments[2, 2]
    result = np.diag([m, m, m, yy + zz, zz, yy])
    result[0, 4], result[0, 5], result[1, 3], result[2, 3], result[4, 5] = mz, -my, -mz, my, -yz
    return np.asarray(result + np.triu(result, 1).T)


def _symmetric(name: str, value: ArrayLike) -> Matrix:
    matrix = numbers(name, value, "a 6 x 6 array of numbers")
    if matrix.shape != (6, 6):
        raise ParameterError(f"{name} must have shape (6, 6), got shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ParameterError(f"{name} must be finite")
    scale = np.sqrt(np.abs(np.diag(matrix)))
    away = np.abs(matrix - matrix.T)
    if (away > ROUND_OFF * np.maximum(np.outer(scale, scale), np.abs(matrix))).any():
        row, column = np.unravel_index(int(np.argmax(away)), away.shape)
        raise ParameterError(
            f"{name} must be symmetric, got {matrix[row, column]!r} at ({row}, {column}) and"
            f" {matrix[column, row]!r} at ({column}, {row})"
        )
    return tuple(tuple(row) for row in ((matrix + matrix.T) / 2).tolist())


def _is_positive(matrix: Array) -> bool:
    """Whether a symmetric matrix, scaled to a unit diagonal, is safely positive definite."""
    diagonal = np.diag(matrix)
    if not (diagonal > 0).all():
        return False
    scale = np.sqrt(diagonal)
    return bool(np.linalg.eigvalsh(matrix / np.outer(scale, scale))[0] > 1e-12)
