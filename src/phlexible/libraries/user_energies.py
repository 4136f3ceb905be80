"""Energies written by users as functions of one number, compiled by Numba and linked into the library."""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phlexible.errors import ModelError
from phlexible.step.assembly.assembly import Assembly
from phlexible.step.compilation.user_function import UserFunction, module_text

ADDRESSES = ("energy_address", "slope_address", "soft_energy", "soft_derivative")
"""Tables with addresses of functions; in a library they hold numbers of functions, from 1 on."""


class UserEnergies:
    """Functions of users in the tables of a model.

    Args:
        assembly: of the model.

    Raises:
        ModelError: one that Numba does not compile.
    """

    def __init__(self, assembly: Assembly) -> None:
        own = [pair for law in assembly.laws if (pair := law.functions)]
        functions: list[UserFunction] = [each for pair in (*own, *assembly.soft.users.values()) for each in pair]
        if not all(each.is_compiled for each in functions):
            elements = [str(force.element) for force in assembly.system.forces if callable(force.force.energy)]
            raise ModelError(
                f"{', '.join(dict.fromkeys(elements)) or 'a law of a body'}: energies that are functions go into a"
                " library where Numba compiles them, of numbers and functions of math and numpy, without raise,"
                " dictionaries and objects; write them so, or take a law of phlexible, such as a linear one"
            )
        self._indices = {each.address: k for k, each in enumerate(functions, start=1)}
        texts = {self._name(k): module_text(each, self._name(k)) for k, each in enumerate(functions)}
        self.modules: Mapping[str, str] = texts

    @staticmethod
    def _name(number: int) -> str:
        return f"ph_user_{number}"

    @property
    def digest(self) -> str:
        """Return a digest of the user's compiled energy functions. Numbers of a model with other functions do not
        fit the library."""
        return hashlib.sha256("\n".join(self.modules.values()).encode()).hexdigest()[:16]

    def with_indices(self, table: str, content: NDArray[Any]) -> NDArray[Any]:
        """Return a table of the model with this ``content`` as the library stores it, in which addresses of
        user functions are replaced by their numbers."""
        if table not in ADDRESSES:
            return content
        return np.array([self._indices.get(int(x), 0) for x in content.ravel()], dtype=np.int64)
