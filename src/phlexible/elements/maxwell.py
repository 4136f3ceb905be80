"""Creep and relaxation by springs in series with dashpots, parallel to an elastic law (generalized Maxwell
model).
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, convert_fields, finite, positive, reals
from phlexible.errors import ParameterError

EXPECTED = "a pair (stiffness, time) or a list of them, such as [(2e9, 0.5), (1e9, 20.0)]"


def _convert_branches(name: str, value: ArrayLike) -> tuple[tuple[float, float], ...]:
    """Convert the branches (spring and dashpot in series) of a generalized Maxwell model to a tuple of pairs
    (stiffness, relaxation time [s]). ``value`` is one pair or a list of pairs. Raise ``ParameterError`` unless all
    numbers are positive. ``name`` is that of the argument, for messages."""
    values = reals(name, value, EXPECTED)
    pairs = values[None] if values.shape == (2,) else values
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs):
        raise ParameterError(f"{name} must be {EXPECTED}, got {value!r}")
    return tuple(
        (positive(f"stiffness of branches[{k}]", stiffness), positive(f"time of branches[{k}]", time))
        for k, (stiffness, time) in enumerate(pairs.tolist())
    )


@dataclass(frozen=True)
class Maxwell:
    """Branches of a spring and a dashpot in series, parallel to an elastic law, for creep and relaxation
    (generalized Maxwell model).

    The force along a strain theta is that of the elastic law and ``sum k e`` of the branches, whose springs have
    strains e with ``de/dt = dtheta/dt - e / tau``; they store ``k e^2 / 2`` each, and the dashpots lose
    ``k e^2 / tau``. Runs and equilibria begin relaxed, e = 0, as if the initial pose had lasted forever.

    Attributes:
        branches: stiffness k and relaxation time tau [s] of each, shape (n, 2). The stiffness has the unit of the
            parallel elastic one: of a spring [N/m or N m/rad], EA of a ``String`` [N], Young's modulus
            of a ``Material`` or a ``SoftBody`` [Pa], shares of the matrix of a ``GeneralSection``
            and of the springs of a ``Bushing`` [-].

    Raises:
        ParameterError: no pairs, or numbers that are not positive.

    Source: docs/theory.md, 8, (8.35) to (8.37); for strings Kinon, Thoma, Betsch and Kotyczka (2024).

    Example:
        >>> rubber = ph.Maxwell([(3e6, 0.1), (1e6, 5.0)])
        >>> print(rubber.relaxation([0.0, 5.0]).round())
        [4000000.  367879.]
    """

    branches: Annotated[ArrayLike, _convert_branches]

    def __post_init__(self) -> None:
        convert_fields(self)

    @property
    def pairs(self) -> tuple[tuple[float, float], ...]:
        """Stiffness and relaxation time [s] of each branch (spring and dashpot in series) of this generalized
        Maxwell model."""
        return self.branches  # type: ignore[return-value]  # what ``_convert_branches`` has made of it

    @property
    def stiffness(self) -> float:
        """Sum of the stiffnesses of all branches (springs with dashpots in series) of this generalized Maxwell
        model: the stiffness at so fast a change that no dashpot moves."""
        return sum(stiffness for stiffness, _ in self.pairs)

    def relaxation(self, time: ArrayLike) -> Array:
        """Return the stiffness of this generalized Maxwell model at times t [s] after a jump of the strain, with
        the shape of ``time``. It is the sum of k exp(-t / tau) over the branches, each a spring of stiffness k in
        series with a dashpot. tau is the relaxation time of a branch [s]. The elastic stiffness is not included.

        The relaxation modulus is the sum of this and the elastic stiffness.

        Returns:
            Of the shape of ``time``.
        """
        t = np.asarray(time, dtype=np.float64)
        return np.asarray(sum(k * np.exp(-t / tau) for k, tau in self.pairs))

    def complex_stiffness(self, frequency: ArrayLike) -> Array:
        """Return the complex dynamic stiffness of this generalized Maxwell model at angular frequencies w [rad/s].
        It is ``sum k i w tau / (1 + i w tau)`` over the branches (spring and dashpot in series), of the shape of
        ``frequency``. The elastic stiffness is not included.

        With the elastic stiffness added, its real part is the storage modulus, its imaginary part the loss modulus,
        their ratio the loss tangent.

        Returns:
            Complex, of the shape of ``frequency``.
        """
        w = np.asarray(frequency, dtype=np.float64)
        return np.asarray(sum(k * 1j * w * tau / (1 + 1j * w * tau) for k, tau in self.pairs))

    def scaled(self, factor: float) -> "Maxwell":
        """Return a new generalized Maxwell model with all stiffnesses of this one multiplied by a positive factor,
        and with the relaxation times unchanged.

        Raises:
            ParameterError: a factor that is not finite and positive.
        """
        share = positive("factor", finite("factor", factor))
        return Maxwell([(share * stiffness, time) for stiffness, time in self.pairs])


def maxwell_or_none(name: str, value: object) -> Maxwell | None:
    """Return a value passed by the user unchanged if it is a generalized Maxwell model (``Maxwell``) or None; raise
    ``ParameterError`` for other types. ``name`` is that of the argument, for messages.

    Raises:
        ParameterError: another type.
    """
    if isinstance(value, Maxwell | None):
        return value
    raise ParameterError(f"{name} must be Maxwell([(stiffness, time), ...]) or None, got {value!r}")


Relaxation = Annotated[Maxwell | None, maxwell_or_none]
"""Type of a field with branches or None."""
