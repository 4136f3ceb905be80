"""Stands in a loaded model for a potential of the user, whose functions files do not hold."""

from dataclasses import dataclass
from typing import NoReturn

from phlexible.errors import ModelError
from phlexible.interactions.potentials import Potential


def _refuse(theta: float) -> NoReturn:
    raise ModelError(
        "results files do not hold the functions of a Potential(energy, slope); build the model again to ask for it"
    )


@dataclass(frozen=True, eq=False)
class UnstoredPotential(Potential):
    """A potential without its functions; its energy is in the recording."""

    def __init__(self) -> None:
        for name, value in (("energy", _refuse), ("slope", _refuse), ("around", (-0.5, 0.5))):
            object.__setattr__(self, name, value)
