"""Functions of leaf packages that methods of the core call: ``phlexible`` registers them, the core imports none."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

_MODULES: dict[str, str] = {}


def register_leaf_functions(modules: Mapping[str, str]) -> None:
    """Register functions of leaf packages, which the core must not import: names of functions, and the modules that
    define them."""
    _MODULES.update(modules)


def leaf_function(name: str) -> Callable[..., Any]:
    """Return the registered function of a leaf package by name; its module is imported at the first call."""
    function: Callable[..., Any] = getattr(import_module(_MODULES[name]), name)
    return function
