"""Elastic laws of soft bodies: energy per undeformed volume as a function of C (docs/theory.md, 5)."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from phlexible.algebra.arrays import finite, positive
from phlexible.algebra.portable import Portable
from phlexible.algebra.slopes import disagreement
from phlexible.algebra.user_functions import called, check_callable
from phlexible.bodies.flexible.mesh.materials import Plane
from phlexible.bodies.soft.constitution import Constitution, InvariantConstitution, QuadraticConstitution
from phlexible.bodies.soft.scalar_functions import (
    Logarithms,
    Nothing,
    OfUser,
    Proportional,
    Reciprocal,
    ScalarFunction,
    Thinning,
)
from phlexible.errors import ParameterError

Functions = tuple[Callable[[float], float], Callable[[float], float]]

LEAST, MOST = 0.64, 1.5  # C between which functions of users are checked, relative
TOLERANCE = 1e-6
NATURAL = (3.0, 3.0, 1.0)
"""Invariants of the undeformed body."""


class SoftLaw(ABC):
    """A stored energy W(C) per undeformed volume [J/m3], C = F^T F, with W = 0 and no stress at C = I."""

    @abstractmethod
    def constitution(self, plane: Plane | None) -> Constitution:
        """The law of a solid (None) or of a sheet, whose thickness follows (STRESS) or is held (STRAIN).

        Raises:
            ParameterError: a law that such a body cannot have.
        """


@dataclass(frozen=True)
class _ModulusLaw(SoftLaw):
    """Laws that Young's modulus and Poisson's ratio of small strains describe.

    Attributes:
        youngs_modulus: E [Pa].
        poissons_ratio: nu in (-1, 0.5); 0.5 where the body is a membrane [-].

    Raises:
        ParameterError: a number is not finite or out of its range.
    """

    youngs_modulus: float
    poissons_ratio: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "youngs_modulus", positive("youngs_modulus", self.youngs_modulus))
        object.__setattr__(self, "poissons_ratio", finite("poissons_ratio", self.poissons_ratio))
        if not -1 < self.poissons_ratio <= 0.5:
            raise ParameterError(f"poissons_ratio must lie in (-1, 0.5], got {self.poissons_ratio!r}")

    @property
    def shear_modulus(self) -> float:
        """G = E / (2 (1 + nu)) [Pa]."""
        return self.youngs_modulus / (2 * (1 + self.poissons_ratio))

    @property
    def _is_incompressible(self) -> bool:
        return self.poissons_ratio == 0.5

    @property
    def _lame(self) -> float:
        """E nu / ((1 + nu) (1 - 2 nu)) [Pa].

        Raises:
            ParameterError: nu = 0.5 where the volume has to change.
        """
        if self._is_incompressible:
            raise ParameterError(
                "poissons_ratio=0.5 keeps the volume of a solid from changing at all: take 0.49 or less, with "
                "order=2 or hexahedra; only membranes (plane stress) can have 0.5"
            )
        nu = self.poissons_ratio
        return self.youngs_modulus * nu / ((1 + nu) * (1 - 2 * nu))

    @property
    def _membrane_lame(self) -> float:
        """E nu / (1 - nu^2), of plane stress [Pa]."""
        return self.youngs_modulus * self.poissons_ratio / (1 - self.poissons_ratio**2)


class StVenantKirchhoff(_ModulusLaw):
    """W = lame/2 (tr E)^2 + G E:E with E = (C - I) / 2: large rotations, strains of a few percent.

    Compressed to C = I/3 it has no stiffness left; take ``NeoHookean`` where strains are large.
    """

    def constitution(self, plane: Plane | None) -> Constitution:
        """See ``SoftLaw``."""
        lame = self._membrane_lame if plane is Plane.STRESS else self._lame
        return QuadraticConstitution(lame, self.shear_modulus)


class NeoHookean(_ModulusLaw):
    """W = G/2 (tr C - 3 - 2 ln J) + lame/2 (ln J)^2 with J^2 = det C: rubber.

    A membrane takes the thickness at which there is no stress across it; with poissons_ratio=0.5 its volume stays.
    """

    def constitution(self, plane: Plane | None) -> Constitution:
        """See ``SoftLaw``."""
        shear = self.shear_modulus
        volume: ScalarFunction
        if plane is Plane.STRESS:
            lame = self._membrane_lame
            volume = Reciprocal(shear / 2) if self._is_incompressible else Thinning(self._lame, shear)
        else:
            lame = self._lame
            volume = Logarithms(-shear / 2, lame / 8)
        return InvariantConstitution(Proportional(shear / 2), Nothing(), volume, lame, shear)


@dataclass(frozen=True)
class InvariantLaw(Portable, SoftLaw):
    """W(C) = f(I1) + g(I2) + h(I3) of the user, with I1 = tr C, I2 = tr cof C and I3 = det C = J^2.

    Each is a pair of functions of one number: energy per undeformed volume [J/m3] and its derivative. They are
    compiled with the time step where Numba can compile them, and called as Python functions where it cannot.
    Mooney and Rivlin: ``first=(lambda I: c1 * (I - 3), lambda I: c1)`` and so on. Of solids, and of sheets with
    ``plane="strain"``: where the thickness follows it would have to be eliminated from W.

    Attributes:
        first, second, third: (f, df), (g, dg), (h, dh); None: zero.

    Raises:
        ParameterError: functions that do not return finite numbers around I = 3, 3, 1, a derivative that is none, a
            stress that does not vanish at C = I, or a body without shear stiffness.
    """

    first: Functions | None = None
    second: Functions | None = None
    third: Functions | None = None

    def __post_init__(self) -> None:
        for name, natural in zip(("first", "second", "third"), NATURAL, strict=True):
            pair = getattr(self, name)
            if pair is not None:
                _check(name, pair, natural * np.linspace(LEAST, MOST, 9))
        form = self._form
        slopes = [
            form.first.slope(np.array(3.0)),
            form.second.slope(np.array(3.0)),
            form.third.slope(np.array(1.0)),
        ]
        left = float(slopes[0] + 2 * slopes[1] + slopes[2])
        if abs(left) > TOLERANCE * max(abs(float(slope)) for slope in slopes):
            raise ParameterError(
                f"the undeformed body must have no stress: f'(3) + 2 g'(3) + h'(1) must be 0, got {left:.6g} Pa"
            )
        if not (form.shear > 0 and 3 * form.lame + 2 * form.shear > 0):
            raise ParameterError(
                "W must grow with every small strain: its shear and bulk moduli must be positive, got "
                f"{form.shear:.6g} Pa and {form.lame + 2 * form.shear / 3:.6g} Pa"
            )

    def constitution(self, plane: Plane | None) -> Constitution:
        """See ``SoftLaw``."""
        if plane is Plane.STRESS:
            raise ParameterError(
                'an InvariantLaw is one of solids, or of sheets whose thickness is held (plane="strain"): of a '
                "membrane, take NeoHookean or StVenantKirchhoff"
            )
        return self._form

    @property
    def _form(self) -> InvariantConstitution:
        f, g, h = (Nothing() if pair is None else OfUser(*pair) for pair in (self.first, self.second, self.third))
        form = InvariantConstitution(f, g, h, 0.0, 0.0)
        tangent = form.tangent(np.eye(3))
        return replace(form, lame=float(tangent[0, 1]), shear=float(tangent[5, 5]))


def _check(name: str, pair: Functions, places: "np.typing.NDArray[np.float64]") -> None:
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise ParameterError(f"{name} must be two functions (W, dW) of one number, got {pair!r}")

    def at(k: int) -> Callable[[float], float]:
        def value(x: float) -> float:
            return float(called(pair[k], f"{name}[{k}]", x, at=f"at {x:.6g}"))

        return value

    for k, function in enumerate(pair):
        check_callable(f"{name}[{k}]", function, "the invariant")
        for x in places.tolist():
            finite(f"{name}[{k}]({x:.3g})", at(k)(x))
    scale = max(abs(at(1)(x)) for x in places.tolist())
    if found := disagreement(at(0), at(1), places, TOLERANCE * scale):
        raise ParameterError(
            f"{name}: the second function must be the derivative of the first: between {found.begin:.3g} and "
            f"{found.end:.3g} the energy grows by {found.growth:.6g} per unit, the mean of the derivative is "
            f"{found.mean:.6g}"
        )
