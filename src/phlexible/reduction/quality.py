"""How good a reduced model is: its error over frequencies and a certificate of passivity."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array
from phlexible.display.written import short_repr
from phlexible.linear_analysis.frequency_response import frequency_response
from phlexible.linear_analysis.observed import ObservedPHDAE

ROUND_OFF = 1e-10


@dataclass(frozen=True)
class PassivityCertificate:
    """Why a model cannot give more energy than it got; each figure is relative to the largest entry.

    Attributes:
        skewness: of J: what J + J^T misses.
        dissipation: how far R is from positive semi-definite.
        storage: how far the energy matrix E^T Q is from symmetric and positive semi-definite.
    """

    skewness: float
    dissipation: float
    storage: float

    @property
    def is_passive(self) -> bool:
        """Whether all figures are round-off."""
        return max(self.skewness, self.dissipation, self.storage) <= ROUND_OFF


def passivity(model: ObservedPHDAE) -> PassivityCertificate:
    """The certificate of a model of at most 1500 states, as far as eigenvalues are concerned."""
    errors = model.structure_errors()
    return PassivityCertificate(
        errors["skewness"],
        max(errors["dissipation symmetry"], errors.get("dissipation", 0.0)),
        max(errors["storage symmetry"], errors.get("storage", 0.0)),
    )


@dataclass(frozen=True, eq=False)
class ReductionError:
    """Full and reduced response compared.

    Attributes:
        frequencies: shape (k,) [rad/s].
        pointwise: |H_r - H| / |H| of each output and input, shape (k, outputs, inputs).
        peak: largest |H_r - H| over the frequencies over the largest |H|, shape (outputs, inputs).
    """

    frequencies: Array
    pointwise: Array
    peak: Array

    __repr__ = short_repr


def reduction_error(full: ObservedPHDAE, reduced: ObservedPHDAE, frequencies: ArrayLike) -> ReductionError:
    """The error over some frequencies (k,) [rad/s].

    Raises:
        PoleError: an undamped pole of either model among them.
    """
    exact, found = (frequency_response(model, frequencies) for model in (full, reduced))
    gap, size = np.abs(found.values - exact.values), np.abs(exact.values)
    largest = size.max(axis=0)
    return ReductionError(
        exact.frequencies,
        gap / np.where(size > 0, size, 1.0),
        gap.max(axis=0) / np.where(largest > 0, largest, 1.0),
    )
