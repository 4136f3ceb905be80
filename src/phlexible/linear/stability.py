"""Stability of static equilibria."""

from dataclasses import replace

import numpy as np
from scipy import linalg, sparse

from phlexible.algebra.saddle import natural_scale
from phlexible.errors import EquilibriumError
from phlexible.linear.mechanics import LinearMechanics
from phlexible.linear.null_space import null_space_basis
from phlexible.linear.symmetric_modes import lowest_symmetric_modes

# The stiffness of a stable equilibrium is not negative on the motions that joints allow.

NEGATIVE = 1e-9
LOOKED_AT = 6
SWINGS = 1e-6  # real part of a rate over its size that is round-off


def growth_rate(mechanics: LinearMechanics) -> float:
    """Return the largest rate [1/s] at which a small motion about an equilibrium grows exponentially; 0 if
    the equilibrium is stable. ``mechanics`` is the second-order model about the equilibrium. Damping is
    ignored."""
    modes = lowest_symmetric_modes(mechanics, LOOKED_AT)
    scale = float(np.abs(modes.squares).max(initial=0.0))
    is_unstable = modes.squares.size and modes.squares[0] < -NEGATIVE * scale
    rate = float(np.sqrt(-modes.squares[0])) if is_unstable else 0.0
    if mechanics.without_potential is None or not (rate or mechanics.is_circulatory):
        return rate
    basis = null_space_basis(mechanics.constraint_matrix, natural_scale(mechanics.mass))
    stiffness = sparse.csr_array(mechanics.stiffness + mechanics.circulatory)
    whole = replace(mechanics, stiffness=stiffness).projected(basis)
    squares = linalg.eigvals(-whole.stiffness.toarray(), whole.mass.toarray())
    rates = np.sqrt(squares.astype(np.complex128))
    grows = (rates.real > SWINGS * np.abs(rates)) & (np.abs(squares) > NEGATIVE * scale)
    return float(rates.real[grows].max(initial=0.0))


def check_stability(mechanics: LinearMechanics) -> None:
    """Raise an ``EquilibriumError`` if a static equilibrium is unstable, that is, if any small motion about
    it grows exponentially. ``mechanics`` is the second-order model about the equilibrium.

    Raises:
        EquilibriumError: gives the rate at which the motion would grow.
    """
    if rate := growth_rate(mechanics):
        raise EquilibriumError(
            f"the static equilibrium is unstable: a motion grows with exp({rate:.4g} t); move the initial pose"
            " towards the stable one, or give state=; linearize(state=equilibrium().state) is about this one"
        )
