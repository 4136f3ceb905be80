"""Stands in a loaded model for a law of the user, whose functions files do not hold."""

from typing import NoReturn

from numpy.typing import ArrayLike

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


def _refuse() -> NoReturn:
    raise ModelError(
        "results files do not hold the functions of a Law(W, dW); build the model again to ask for tensions"
    )
