"""Packages that not everybody needs, imported when they are used."""

from importlib import import_module
from types import ModuleType

from phlexible.errors import MissingExtraError


def optional(module: str, extra: str) -> ModuleType:
    """Import and return a ``module`` of an optional package. If it cannot be imported, raise MissingExtraError
    with the install command, ``pip install phlexible[extra]`` for the given ``extra``.

    Raises:
        MissingExtraError: it is not installed; the message gives the command.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f"{package} is needed here; install it with: pip install phlexible[{extra}]"
        ) from error
