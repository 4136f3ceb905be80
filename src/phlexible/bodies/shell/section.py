"""Stiffness and mass of a shell per area of its mid-surface, from one material."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.material import Material

SHEAR_FACTOR = 5 / 6


@dataclass(frozen=True, eq=False)
class ShellSection:
    """Stiffness and mass of a shell per area of its reference surface: what is integrated over its thickness.

    Attributes:
        thickness: [m].
        stiffness: the matrix (A, B; B, D) that gives the forces N_11, N_22, N_12 [N/m] and moments M_11, M_22, M_12
            [N] from the strains e_11, e_22, 2 e_12 and curvatures k_11, k_22, 2 k_12, shape (6, 6).
        shear: transverse shear stiffness of the forces Q_1, Q_2, shape (2, 2) [N/m].
        across: stiffness against a change of the thickness [N/m].
        mass: int rho dz [kg/m2].
        lever: distance of the centre of mass from the reference surface, along the director [m].
        gyration: radius of gyration of the thickness about the reference surface [m].
    """

    thickness: float
    stiffness: Array
    shear: Array
    across: float
    mass: float
    lever: float
    gyration: float


def uniform_section(thickness: float, material: Material, offset: float = 0.0) -> ShellSection:
    """Return the section of a shell of one material under plane stress. Its middle is at ``offset`` [m] from the
    reference surface, along the director."""
    t, e, E, nu = thickness, offset, material.youngs_modulus, material.poissons_ratio
    C = E / (1 - nu**2) * np.array([[1, nu, 0], [nu, 1, 0], [0, 0, (1 - nu) / 2]])
    moments = np.array([[t, t * e], [t * e, t**3 / 12 + t * e**2]])
    return ShellSection(
        thickness=t,
        stiffness=np.kron(moments, C),
        shear=SHEAR_FACTOR * material.shear_modulus * t * np.eye(2),
        across=E * t,
        mass=material.density * t,
        lever=e,
        gyration=float(np.sqrt(t**2 / 12 + e**2)),
    )
