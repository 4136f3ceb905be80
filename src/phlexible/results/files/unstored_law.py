"""Stands in a loaded model for a law of the user, whose functions files do not hold."""

from typing import NoReturn

from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array
from phlexible.bodies.flexible.mesh.materials import Plane
from phlexible.bodies.soft.constitution import Constitution
from phlexible.bodies.soft.law import SoftLaw
from phlexible.bodies.string.law import StringLaw
from phlexible.errors import ModelError


class UnstoredLaw(StringLaw):
    """A law without its functions; everything that a recording holds can be asked for, tensions cannot."""

    @property
    def modulus(self) -> float:
        _refuse()

    def energy(self, C: ArrayLike) -> NoReturn:
        _refuse()

    def derivative(self, C: ArrayLike) -> NoReturn:
        _refuse()

    def curvature(self, C: ArrayLike) -> NoReturn:
        _refuse()

    def discrete_derivative(self, C0: ArrayLike, C1: ArrayLike) -> NoReturn:
        _refuse()


class UnstoredSoftLaw(SoftLaw):
    """The same of a soft body."""

    def constitution(self, plane: Plane | None) -> Constitution:
        """One that refuses to be asked."""
        return _UnstoredConstitution()


class _UnstoredConstitution(Constitution):
    lame = shear = float("nan")

    def energy(self, C: Array) -> NoReturn:
        _refuse_stress()

    def stress(self, C: Array) -> NoReturn:
        _refuse_stress()

    def change(self, C: Array, dE: Array) -> NoReturn:
        _refuse_stress()


def _refuse_stress() -> NoReturn:
    raise ModelError("results files do not hold the functions of an InvariantLaw; build the model again for stress")


def _refuse() -> NoReturn:
    raise ModelError(
        "results files do not hold the functions of a Law(W, dW); build the model again to ask for tensions"
    )
