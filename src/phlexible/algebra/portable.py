"""User functions in pickles, by name if that finds them again, otherwise by their code (cloudpickle)."""

import pickle
from dataclasses import dataclass
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from phlexible.errors import ModelError


@dataclass(frozen=True)
class ByCode:
    """User function as bytes of its code (cloudpickle), for another process."""

    code: bytes


class Portable:
    """Mix-in for objects that contain user functions, also lambdas, so that they can be pickled for other
    processes.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {name: packed(value, name, self) for name, value in self.__dict__.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, unpacked(value))


def packed(value: Any, name: str, owner: object) -> Any:
    """Return a value of an attribute in a form that pickle can send to another process: a user's function
    that pickle cannot find by its name, such as a lambda, becomes ``ByCode`` (bytes of cloudpickle).
    ``owner`` has the attribute and ``name`` is its name, for messages. Other values are returned as they are.

    Args:
        value: of an attribute.
        name: of that attribute, for messages.
        owner: object with the attribute.

    Raises:
        ModelError: a function contains something that cannot be sent.
    """
    if not isinstance(value, FunctionType | MethodType | partial):
        return value
    try:
        if getattr(value, "__module__", None) != "__main__":  # of another program there
            pickle.dumps(value)
            return value
    except Exception:  # objects that cannot be pickled raise errors of any kind
        pass
    from cloudpickle import dumps  # here: few programs need it

    try:
        return ByCode(dumps(value))
    except Exception as error:
        raise ModelError(
            f"{name} of {type(owner).__name__} {owner} cannot be sent to another process: {error}; the function"
            " may only contain numbers and arrays (no open files, locks or generators), or must be in a module"
        ) from error


def unpacked(value: Any) -> Any:
    """Return the original value of what ``packed`` returned: of a ``ByCode`` (bytes of cloudpickle) the function,
    of other values the value itself."""
    return pickle.loads(value.code) if isinstance(value, ByCode) else value
