"""Stress as a state: the discrete form of the last row of (12) of Brugnoli et al. (2020).

A stress field with coordinates Sigma, in a Galerkin projection on its functions, obeys::

    M_sigma dSigma/dt = B(eta) deta/dt,   M_sigma = int phi_s D^-1 phi_s^T

where B is the derivative of the projected strain ``rows @ eta + factors @ (squares @ eta)^2 / 2``. With
quadratic strain B depends on eta; the same B^T carries the stress into the elastic balance, so
that power is kept for any strain.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.floating_body import StrainEnergy
from phlexible.errors import ParameterError
from phlexible.port_hamiltonian.model import StateGroup

RIGID = 1e-13


class StressContinuity(StrEnum):
    """Choice of the stress functions of a port-Hamiltonian model: discontinuous between elements, or continuous of
    Hermite type.

    DISCONTINUOUS: elementwise; their elimination gives the displacement stiffness exactly. HERMITE: moments cubic
    and continuous with slope, normal force and torque linear and continuous, the spaces of section 6 of Brugnoli et
    al. (2020), softer than the displacement stiffness.
    """

    DISCONTINUOUS = "discontinuous"
    HERMITE = "hermite"


@dataclass(frozen=True, eq=False)
class StressSpace:
    """Space of s stress coordinates of a body with n elastic coordinates eta, with compliance and projected strain.

    Attributes:
        compliance: M_sigma, shape (s, s), symmetric, positive definite.
        rows: linear part of the projected strain, shape (s, n).
        squares: slope functions at g quadrature points, shape (g, n).
        factors: weights of their squares in the projected strain, shape (s, g).
        groups: name and unit of each coordinate.
    """

    compliance: Array
    rows: Array
    squares: Array
    factors: Array
    groups: tuple[StateGroup, ...]

    @property
    def size(self) -> int:
        """Number s of stress coordinates in this space of stress states of a body."""
        return len(self.compliance)

    def projected_strain(self, eta: Array) -> Array:
        """Return the strains of a body at elastic coordinates eta (n,), projected on its s stress functions phi,
        shape (s,). These are the integrals over the body of phi times strain. They are a linear function of eta
        plus weighted halves of squares of linear functions of eta."""
        return np.asarray(self.rows @ eta + self.factors @ (self.squares @ eta) ** 2 / 2)

    def strain_rate_matrix(self, eta: Array) -> Array:
        """Return the derivative B of the projected strains of a body with respect to its elastic coordinates at eta
        (..., n), shape (..., s, n). Times the rates of eta it gives the rates of these strains."""
        return np.asarray(self.rows + self.factors @ ((eta @ self.squares.T)[..., None] * self.squares))

    def stress(self, eta: Array) -> Array:
        """Return the s stress coordinates of a body with elastic coordinates eta (n,), shape (s,): the projected
        strains multiplied by the inverse of the compliance matrix."""
        return np.asarray(np.linalg.solve(self.compliance, self.projected_strain(eta)))

    def viscous_matrix(self, eta: Array) -> Array:
        """Return the stiffness matrix B^T M^-1 B of the stress states at elastic coordinates eta (..., n), shape
        (..., n, n). M is their compliance, B the strain-rate matrix. Multiplied by the Kelvin-Voigt time, which
        this function does not do, it is the damping matrix."""
        rate = self.strain_rate_matrix(eta)
        return np.asarray(rate.mT @ np.linalg.solve(self.compliance, rate))


def energy_stress(strain: StrainEnergy, stress: str) -> StressSpace:
    """Return a ``StressSpace`` (stresses as states) for a body without a mesh. It has one stress for each
    eigenvector of the stiffness matrix with nonzero eigenvalue, then one for each scalar strain of its energy
    (``strain``). Compliances are inverse eigenvalues and inverse stiffnesses of the strains, on a diagonal. Raise
    ``ParameterError`` unless ``stress`` is "discontinuous".

    Raises:
        ParameterError: a space other than "discontinuous", which needs a mesh.
    """
    if stress != StressContinuity.DISCONTINUOUS:
        raise ParameterError(f'stress must be "discontinuous" for this body, got {stress!r}')
    strain = strain.with_arrays()
    values, vectors = np.linalg.eigh(strain.stiffness)
    stiff = values > RIGID * values.max(initial=0.0)
    first, count, squares = int(stiff.sum()), len(strain.weights), len(strain.factors)
    factors = np.zeros((first + count, squares))
    factors[first + strain.square_strain, np.arange(squares)] = strain.factors
    return StressSpace(
        compliance=np.diag(1 / np.concatenate([values[stiff], strain.weights])),
        rows=np.concatenate([vectors[:, stiff].T, strain.rows]),
        squares=strain.squares,
        factors=factors,
        groups=tuple(StateGroup(f"stress {k}", "", 1) for k in range(first + count)),
    )
