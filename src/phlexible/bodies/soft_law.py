"""Elastic laws of soft bodies: energy per undeformed volume as a function of C (docs/theory.md, 5)."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from phlexible.algebra.arrays import (
    Array,
    Finite,
    IntArray,
    Positive,
    called,
    check_callable,
    convert_fields,
    finite,
)
from phlexible.algebra.portable import Portable
from phlexible.algebra.user_derivatives import POINTS, WEIGHTS, disagreement
from phlexible.bodies.flexible.mesh_matrices import PlaneState
from phlexible.bodies.skin import SIX
from phlexible.bodies.string_law import entrywise
from phlexible.display import short_repr
from phlexible.elements.maxwell import Maxwell
from phlexible.errors import ParameterError

# Functions of one invariant of C, whose sums are stored energies (docs/theory.md, 5).

MOST_ITERATIONS = 60
NEAR = 0.1


class ScalarFunction(ABC):
    """Function h(x) of one invariant x > 0 with two derivatives, a term of a stored energy per volume [J/m3]. All
    methods take and return arrays.
    """

    @abstractmethod
    def value(self, x: Array) -> Array:
        """Return the values h(x) of this function of an invariant of the right Cauchy-Green tensor (a term of a
        stored energy). They have the shape of x [J/m3]. Abstract: each function implements it."""

    @abstractmethod
    def slope(self, x: Array) -> Array:
        """Return the first derivatives dh/dx of this function of an invariant of the right Cauchy-Green tensor (a
        term of a stored energy). They have the shape of x [J/m3]. Abstract: each function implements it."""

    @abstractmethod
    def curvature(self, x: Array) -> Array:
        """Return the second derivatives d2h/dx2 of this function of an invariant of the right Cauchy-Green tensor
        (a term of a stored energy). They have the shape of x [J/m3]. Abstract: each function implements it."""

    def quotient(self, x0: Array, x1: Array) -> Array:
        """Return the difference quotient (h(x1) - h(x0)) / (x1 - x0) of this function h without cancellation, with
        the shape of x0. For arguments that differ by at most a tenth of the larger one, it is the mean of dh/dx
        between them, by Gauss quadrature."""
        x0, x1 = np.asarray(x0, dtype=np.float64), np.asarray(x1, dtype=np.float64)
        mean = (WEIGHTS * self.slope((x0 + x1)[..., None] / 2 + (x1 - x0)[..., None] / 2 * POINTS)).sum(axis=-1) / 2
        is_far = np.abs(x1 - x0) > NEAR * np.maximum(np.abs(x0), np.abs(x1))
        change = np.where(is_far, x1 - x0, 1.0)
        return np.asarray(np.where(is_far, (self.value(x1) - self.value(x0)) / change, mean))


@dataclass(frozen=True)
class Zero(ScalarFunction):
    """The function h(x) = 0, for laws without a term in some invariant."""

    def value(self, x: Array) -> Array:
        return np.zeros_like(x)

    def slope(self, x: Array) -> Array:
        return np.zeros_like(x)

    def curvature(self, x: Array) -> Array:
        return np.zeros_like(x)


@dataclass(frozen=True)
class Proportional(ScalarFunction):
    """The linear function h(x) = a (x - 3) of an invariant, with a in Pa."""

    a: float

    def value(self, x: Array) -> Array:
        return self.a * (x - 3)

    def slope(self, x: Array) -> Array:
        return np.full_like(x, self.a)

    def curvature(self, x: Array) -> Array:
        return np.zeros_like(x)


@dataclass(frozen=True)
class Logarithms(ScalarFunction):
    """Volume function h(x) = a ln x + b (ln x)^2 of the neo-Hookean law, with x = det C."""

    a: float
    b: float

    def value(self, x: Array) -> Array:
        return (self.a + self.b * np.log(x)) * np.log(x)

    def slope(self, x: Array) -> Array:
        return (self.a + 2 * self.b * np.log(x)) / x

    def curvature(self, x: Array) -> Array:
        return (2 * self.b - self.a - 2 * self.b * np.log(x)) / x**2


@dataclass(frozen=True)
class Reciprocal(ScalarFunction):
    """The function h(x) = a (1 / x - 1): the energy of an incompressible neo-Hookean membrane in its thickness."""

    a: float

    def value(self, x: Array) -> Array:
        return self.a * (1 / x - 1)

    def slope(self, x: Array) -> Array:
        return -self.a / x**2

    def curvature(self, x: Array) -> Array:
        return 2 * self.a / x**3


@dataclass(frozen=True)
class Thinning(ScalarFunction):
    """Volume energy h(x) of a neo-Hookean membrane whose thickness adapts: the minimum over the squared thickness c
    of mu/2 (c - 1 - ln(x c)) + lame/8 ln(x c)^2.

    Attributes:
        lame, shear: Lame's constants [Pa].
    """

    lame: float
    shear: float

    def squared_thickness(self, x: Array) -> Array:
        """Return the squared thickness ratio c (deformed to undeformed) of a membrane at zero stress across it. x
        are squared area ratios; the result has the same shape. The law is neo-Hookean with volume energy lambda
        (ln J)^2 / 2. Newton's method in ln c solves mu (c - 1) + lambda ln(x c) / 2 = 0 to round-off. The result
        is NaN for negative x."""
        ratio = self.lame / (2 * self.shear)
        with np.errstate(invalid="ignore", divide="ignore"):
            log_x = np.log(x)
            log_c = -log_x * ratio / (1 + ratio)
            for _ in range(MOST_ITERATIONS):
                c = np.exp(log_c)
                change = (c - 1 + ratio * (log_x + log_c)) / (c + ratio)
                log_c = log_c - change
                if not (np.abs(change) > 1e-15 * (1 + np.abs(log_c))).any():
                    break
        return np.asarray(np.exp(log_c))

    def value(self, x: Array) -> Array:
        c = self.squared_thickness(x)
        log = np.log(x * c)
        return np.asarray(self.shear / 2 * (c - 1 - log) + self.lame / 8 * log**2)

    def slope(self, x: Array) -> Array:
        return -self.shear / 2 * self.squared_thickness(x) / x

    def curvature(self, x: Array) -> Array:
        c = self.squared_thickness(x)
        growth = -self.lame / (2 * x) / (self.shear + self.lame / (2 * c))
        return np.asarray(-self.shear / 2 * (growth / x - c / x**2))


@dataclass(frozen=True)
class UserScalar(ScalarFunction):
    """Function of one invariant that a user wrote, with its derivative, both entrywise number by number, see
    ``InvariantLaw``.
    """

    function: Any
    derivative: Any

    def value(self, x: Array) -> Array:
        return entrywise(self.function, x)

    def slope(self, x: Array) -> Array:
        return entrywise(self.derivative, x)

    def curvature(self, x: Array) -> Array:
        """Return the second derivatives of a user's function of one invariant at arguments x, of the shape of x
        [J/m3]. They are central differences of the user's first derivative, with steps of 1e-5 of x."""
        change = 1e-5 * np.abs(x)
        return np.asarray((self.slope(x + change) - self.slope(x - change)) / (2 * change))


# Energy, stress and tangent of elastic laws W(C), as functions of arrays of C (docs/theory.md, 5).
#
# C is the metric of the deformed body in undeformed axes, shape (..., 3, 3); of a membrane C_33 = 1, both for
# constant thickness (plane strain) and for free thickness (plane stress, where it is eliminated from W). Stress and
# strain are written as six numbers in the order 11, 22, 33, 23, 13, 12, shear strains twice.

IDENTITY = np.eye(3)


class Constitution(ABC):
    """Stored energy W(C) per undeformed volume as a function of the right Cauchy-Green tensor C, with its stress
    and tangent.

    Attributes:
        lame, shear: Lame's constants for small strains [Pa].
    """

    lame: float
    shear: float

    @abstractmethod
    def energy(self, C: Array) -> Array:
        """Return the stored energy W of this elastic law per undeformed volume, for right Cauchy-Green tensors C
        (..., 3, 3), shape (...) [J/m3]. Abstract: each law implements it."""

    @abstractmethod
    def stress(self, C: Array) -> Array:
        """Return the second Piola-Kirchhoff stress S = 2 dW/dC of this elastic law for right Cauchy-Green tensors
        C, both (..., 3, 3) [Pa]. Abstract: each law implements it."""

    @abstractmethod
    def stress_change(self, C: Array, dE: Array) -> Array:
        """Return the linearized change dS of the second Piola-Kirchhoff stress of this elastic law at C for a
        change dE of the Green-Lagrange strain. All have the shape (..., 3, 3), dS in Pa. Abstract: each law
        implements it."""

    def tangent(self, C: Array) -> Array:
        """Return the material tangent dS/dE of this elastic law at right Cauchy-Green tensors C (..., 3, 3),
        symmetric matrices (..., 6, 6) [Pa]. Rows are stresses S_11, S_22, S_33, S_23, S_13, S_12, columns strains
        E_11, E_22, E_33, 2 E_23, 2 E_13, 2 E_12. Columns are computed by ``stress_change`` for unit strains."""
        columns = []
        for a, b in SIX:
            dE = np.zeros((3, 3))
            dE[a, b] = dE[b, a] = 1.0 if a == b else 0.5
            columns.append(as_six(self.stress_change(C, np.broadcast_to(dE, C.shape))))
        return np.stack(columns, axis=-1)


@dataclass(frozen=True)
class QuadraticConstitution(Constitution):
    """Law of Saint-Venant and Kirchhoff, W = lame/2 (tr E)^2 + mu E:E, quadratic in the Green-Lagrange strain E =
    (C - I) / 2.
    """

    lame: float
    shear: float

    def energy(self, C: Array) -> Array:
        E = (C - IDENTITY) / 2
        return np.asarray(self.lame / 2 * trace(E) ** 2 + self.shear * (E * E).sum(axis=(-2, -1)))

    def stress(self, C: Array) -> Array:
        return self.stress_change(C, (C - IDENTITY) / 2)

    def stress_change(self, C: Array, dE: Array) -> Array:
        return np.asarray(self.lame * trace(dE)[..., None, None] * IDENTITY + 2 * self.shear * dE)


@dataclass(frozen=True)
class InvariantConstitution(Constitution):
    """Stored energy as a sum of functions of the invariants of C: W = f(tr C) + g(tr cof C) + h(det C)."""

    first: ScalarFunction
    second: ScalarFunction
    third: ScalarFunction
    lame: float
    shear: float

    def energy(self, C: Array) -> Array:
        A = cofactor(C, C)
        return np.asarray(
            self.first.value(trace(C)) + self.second.value(trace(A)) + self.third.value(np.linalg.det(C))
        )

    def stress(self, C: Array) -> Array:
        A = cofactor(C, C)
        f, g, h = self.first.slope(trace(C)), self.second.slope(trace(A)), self.third.slope(np.linalg.det(C))
        rest = trace(C)[..., None, None] * IDENTITY - C
        return np.asarray(2 * (f[..., None, None] * IDENTITY + g[..., None, None] * rest + h[..., None, None] * A))

    def stress_change(self, C: Array, dE: Array) -> Array:
        X, A, volume = 2 * dE, cofactor(C, C), np.linalg.det(C)
        rest, more = trace(C)[..., None, None] * IDENTITY - C, trace(X)[..., None, None] * IDENTITY - X
        f = self.first.curvature(trace(C)) * trace(X)
        g = self.second.curvature(trace(A)) * (rest * X).sum(axis=(-2, -1))
        h = self.third.curvature(volume) * (A * X).sum(axis=(-2, -1))
        g0, h0 = self.second.slope(trace(A)), self.third.slope(volume)
        result = f[..., None, None] * IDENTITY + g[..., None, None] * rest + h[..., None, None] * A
        return np.asarray(2 * (result + g0[..., None, None] * more + 2 * h0[..., None, None] * cofactor(C, X)))


def trace(A: Array) -> Array:
    """Return the traces of matrices A of shape (..., 3, 3), an array of shape (...)."""
    return np.asarray(np.trace(A, axis1=-2, axis2=-1))


def cofactor(A: Array, B: Array) -> Array:
    """Return the symmetric bilinear form c(A, B) of symmetric matrices A and B, shape (..., 3, 3). It is defined by
    c(A, A) = cofactor matrix of A."""
    AB, BA = A @ B, B @ A
    a, b = trace(A)[..., None, None], trace(B)[..., None, None]
    return np.asarray(((AB + BA) - a * B - b * A + (a * b - trace(AB)[..., None, None]) * IDENTITY) / 2)


def as_six(A: Array) -> Array:
    """Return the components 11, 22, 33, 23, 13, 12 of symmetric matrices A (..., 3, 3), without factors of 2,
    shape (..., 6)."""
    return np.stack([A[..., a, b] for a, b in SIX], axis=-1)


def as_tensor(six: Array) -> Array:
    """Return symmetric matrices (..., 3, 3) from their components 11, 22, 33, 23, 13, 12, given as ``six``
    (..., 6)."""
    result = np.empty((*six.shape[:-1], 3, 3))
    for k, (a, b) in enumerate(SIX):
        result[..., a, b] = result[..., b, a] = six[..., k]
    return result


Functions = tuple[Callable[[float], float], Callable[[float], float]]

LEAST, MOST = 0.64, 1.5  # C between which functions of users are checked, relative
TOLERANCE = 1e-6
NATURAL = (3.0, 3.0, 1.0)
"""Invariants I1, I2, I3 of the undeformed body."""


class SoftLaw(ABC):
    """Base class of the elastic laws of soft bodies: a stored energy W(C) per undeformed volume [J/m3] of C = F^T
    F. Energy and stress are zero at C = I.
    """

    @abstractmethod
    def constitution(self, plane: PlaneState | None) -> Constitution:
        """Return the energy, stress and tangent functions of this elastic law for a solid (``plane`` None) or a
        sheet. A sheet is in plane stress (its thickness is free) or in plane strain (it is constant). Raise
        ``ParameterError`` if the law does not suit it. Abstract: each law implements it.

        Raises:
            ParameterError: a law that such a body cannot have.
        """

    @property
    def modulus(self) -> float:
        """Young's modulus of a solid of this elastic law at small strains [Pa]. It is mu (3 lambda + 2 mu) /
        (lambda + mu) with the Lame constants lambda and mu of the law."""
        solid = self.constitution(None)
        return solid.shear * (3 * solid.lame + 2 * solid.shear) / (solid.lame + solid.shear)


@dataclass(frozen=True)
class _ModulusLaw(SoftLaw):
    """Base class of elastic laws that Young's modulus and Poisson's ratio of small strains determine.

    Attributes:
        youngs_modulus: E [Pa].
        poissons_ratio: nu in (-1, 0.5); 0.5 where the body is a membrane [-].

    Raises:
        ParameterError: a number is not finite or out of its range.
    """

    youngs_modulus: Positive
    poissons_ratio: Finite

    def __post_init__(self) -> None:
        convert_fields(self)
        if not -1 < self.poissons_ratio <= 0.5:
            raise ParameterError(f"poissons_ratio must lie in (-1, 0.5], got {self.poissons_ratio!r}")

    @property
    def shear_modulus(self) -> float:
        """Shear modulus G = E / (2 (1 + nu)) of this elastic law at small strains [Pa]."""
        return self.youngs_modulus / (2 * (1 + self.poissons_ratio))

    @property
    def modulus(self) -> float:
        """Young's modulus of this elastic law at small strains [Pa], as the user gave it."""
        return self.youngs_modulus

    @property
    def _is_incompressible(self) -> bool:
        """Whether Poisson's ratio of this elastic law is 0.5, so that the volume cannot change."""
        return self.poissons_ratio == 0.5

    @property
    def _lame(self) -> float:
        """First Lame constant E nu / ((1 + nu) (1 - 2 nu)) of this elastic law [Pa]; access raises
        ``ParameterError`` for nu = 0.5.

        Raises:
            ParameterError: nu = 0.5 of a body whose volume must change.
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
        """Lame constant lambda of this elastic law in plane stress, E nu / (1 - nu^2) [Pa], with Young's modulus E
        and Poisson's ratio nu."""
        return self.youngs_modulus * self.poissons_ratio / (1 - self.poissons_ratio**2)


class StVenantKirchhoff(_ModulusLaw):
    """Elastic law of soft bodies for large rotations and strains of a few percent: W = lame/2 (tr E)^2 + G E:E with
    E = (C - I) / 2.

    Compressed to C = I/3 it has no stiffness left; take ``NeoHookean`` where strains are large.
    """

    def constitution(self, plane: PlaneState | None) -> Constitution:
        """Return the energy, stress and tangent functions of the St. Venant-Kirchhoff law for a solid (``plane``
        None), or for a sheet in plane stress or plane strain."""
        lame = self._membrane_lame if plane is PlaneState.STRESS else self._lame
        return QuadraticConstitution(lame, self.shear_modulus)


class NeoHookean(_ModulusLaw):
    """Neo-Hookean law of rubber for soft bodies: W = G/2 (tr C - 3 - 2 ln J) + lame/2 (ln J)^2 with J^2 = det C.

    The thickness of a membrane makes the stress across it zero; with poissons_ratio=0.5 its volume is constant.
    """

    def constitution(self, plane: PlaneState | None) -> Constitution:
        """Return the energy, stress and tangent functions of the neo-Hookean law for a solid (``plane`` None), or a
        sheet in plane stress or strain. In plane stress, the thickness is eliminated from the energy. Raise
        ``ParameterError`` for Poisson's ratio 0.5 otherwise."""
        shear = self.shear_modulus
        volume: ScalarFunction
        if plane is PlaneState.STRESS:
            lame = self._membrane_lame
            volume = Reciprocal(shear / 2) if self._is_incompressible else Thinning(self._lame, shear)
        else:
            lame = self._lame
            volume = Logarithms(-shear / 2, lame / 8)
        return InvariantConstitution(Proportional(shear / 2), Zero(), volume, lame, shear)


@dataclass(frozen=True)
class InvariantLaw(Portable, SoftLaw):
    """Elastic law of soft bodies from a user's functions of the invariants of C: W(C) = f(I1) + g(I2) + h(I3). They
    are I1 = tr C, I2 = tr cof C and I3 = det C = J^2.

    Each is a pair of functions of one number: energy per undeformed volume [J/m3] and its derivative. They are
    compiled with the time step where Numba can compile them, and called as Python functions where it cannot.
    Mooney and Rivlin: ``first=(lambda I: c1 * (I - 3), lambda I: c1)`` and so on. It suits solids, and sheets with
    ``plane="strain"``: a free thickness would have to be eliminated from W.

    Attributes:
        first, second, third: (f, df), (g, dg), (h, dh); None: zero.

    Raises:
        ParameterError: functions that do not return finite numbers around I = 3, 3, 1, a wrong derivative, a
            stress that does not vanish at C = I, or a body without shear stiffness.
    """

    first: Functions | None = None
    second: Functions | None = None
    third: Functions | None = None

    def __post_init__(self) -> None:
        for name, natural in zip(("first", "second", "third"), NATURAL, strict=True):
            pair = getattr(self, name)
            if pair is not None:
                _check_derivative(name, pair, natural * np.linspace(LEAST, MOST, 9))
        form = self._form
        slopes = [
            form.first.slope(np.array(3.0)),
            form.second.slope(np.array(3.0)),
            form.third.slope(np.array(1.0)),
        ]
        left = float(slopes[0] + 2 * slopes[1] + slopes[2])
        if abs(left) > TOLERANCE * max(abs(float(slope)) for slope in slopes):
            raise ParameterError(
                "first, second and third must leave the undeformed body without stress:"
                f" f'(3) + 2 g'(3) + h'(1) must be 0, got {left:.6g} Pa"
            )
        if not (form.shear > 0 and 3 * form.lame + 2 * form.shear > 0):
            raise ParameterError(
                "W must grow with every small strain: its shear and bulk moduli must be positive, got "
                f"{form.shear:.6g} Pa and {form.lame + 2 * form.shear / 3:.6g} Pa"
            )

    def constitution(self, plane: PlaneState | None) -> Constitution:
        """Return the energy, stress and tangent functions of this user's elastic law for a solid (``plane`` None)
        or a sheet in plane strain. Raise ``ParameterError`` for plane stress."""
        if plane is PlaneState.STRESS:
            raise ParameterError(
                'an InvariantLaw suits solids, or sheets of constant thickness (plane="strain"): for a '
                "membrane, take NeoHookean or StVenantKirchhoff"
            )
        return self._form

    @property
    def _form(self) -> InvariantConstitution:
        """Energy, stress and tangent functions of this user's elastic law, made of its three functions of
        invariants (None: zero); computed at each access. Lame's constant and shear modulus, for viscosity and
        Maxwell branches, are the entries (11, 22) and (12, 12) of the tangent dS/dE at zero strain."""
        f, g, h = (Zero() if pair is None else UserScalar(*pair) for pair in (self.first, self.second, self.third))
        form = InvariantConstitution(f, g, h, 0.0, 0.0)
        tangent = form.tangent(np.eye(3))
        return replace(form, lame=float(tangent[0, 1]), shear=float(tangent[5, 5]))


def _check_derivative(name: str, pair: Functions, arguments: "np.typing.NDArray[np.float64]") -> None:
    """Raise ``ParameterError`` unless a user's ``pair`` of functions (energy, derivative) is finite at the
    ``arguments`` and the second is the derivative of the first. Energy differences between neighbouring arguments
    are compared with integrals of the derivative, up to a tolerance relative to its largest value. A ``pair`` that
    is no tuple of two functions raises it too. ``name`` stands in the message."""
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise ParameterError(f"{name} must be two functions (W, dW) of one number, got {pair!r}")

    def at(k: int) -> Callable[[float], float]:
        def value(x: float) -> float:
            return float(called(pair[k], f"{name}[{k}]", x, at=f"at {x:.6g}"))

        return value

    for k, function in enumerate(pair):
        check_callable(f"{name}[{k}]", function, "the invariant")
        for x in arguments.tolist():
            finite(f"{name}[{k}]({x:.3g})", at(k)(x))
    scale = max(abs(at(1)(x)) for x in arguments.tolist())
    if error := disagreement(at(0), at(1), arguments, TOLERANCE * scale):
        raise ParameterError(
            f"{name}: the second function must be the derivative of the first: between {error.begin:.3g} and "
            f"{error.end:.3g} the energy grows by {error.growth:.6g} per unit, the mean of the derivative is "
            f"{error.mean:.6g}"
        )


# Strain energy of the elements of soft bodies, from C at their quadrature points (docs/theory.md, 5).


@dataclass(frozen=True, eq=False)
class ElementStrains:
    """Strains of soft elements at their quadrature points, as functions of the node positions x_i [m]: C_ab = F_a .
    F_b with F_a = sum_i gradients[e, q, i, a] x_i.

    The energy is ``sum_eq weights[e, q] W(C)``. Of a membrane a = 1, 2 are directions in it, gradients along the
    third are zero, and C_33 = 1.

    Attributes:
        nodes: shape (e, k).
        gradients: of the shape functions in undeformed axes, shape (e, q, k, 3) [1/m]; they add up to zero.
        weights: undeformed volume of each point, shape (e, q) [m3].
        law: W(C).
        is_sheet: whether C_33 = 1 and gradients along the third direction are zero.
        viscosity: Kelvin-Voigt time tau [s]: S grows by tau D dE/dt with the tangent D of small strains.
        relaxation: branches with shares of D for stiffnesses, whose strains follow E; None: no creep.
    """

    nodes: IntArray
    gradients: Array
    weights: Array
    law: Constitution
    is_sheet: bool
    viscosity: float
    relaxation: Maxwell | None = None

    __repr__ = short_repr
