"""Users' functions in pickles: by name where that finds them again, otherwise by their code (cloudpickle)."""

import pickle
from dataclasses import dataclass
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from phlexible.errors import ModelError


@dataclass(frozen=True)
class ByCode:
    """A function as bytes."""

    code: bytes


class Portable:
    """A mix-in for what holds functions of users: they travel to other processes with it, also lambdas."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: packed(value, name, self) for name, value in self.__dict__.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, unpacked(value))


def packed(value: Any, name: str, owner: object) -> Any:
    """A function that cannot be found by its name as ``ByCode``; anything else as it is.

    Args:
        value: of an attribute.
        name: of that attribute, for messages.
        owner: what has it.

    Raises:
        ModelError: a function holds something that cannot be sent; names it and says what to do.
    """
    if not isinstance(value, FunctionType | MethodType | partial):
        return value
    try:
        if getattr(value, "__module__", None) != "__main__":  # of another program there
            pickle.dumps(value)
            return value
    except Exception:  # whatever objects say that cannot be pickled
        pass
    from cloudpickle import dumps  # here: few programs need it

    try:
        return ByCode(dumps(value))
    except Exception as error:
        raise ModelError(
            f"{name} of {type(owner).__name__} {owner} cannot be sent to another process: {error}; let the function"
            " hold numbers and arrays only (no open files, locks or generators), or make it one of a module"
        ) from error


def unpacked(value: Any) -> Any:
    """The value that ``packed`` was given."""
    return pickle.loads(value.code) if isinstance(value, ByCode) else value
