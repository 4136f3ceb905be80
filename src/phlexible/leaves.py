"""Functions of leaf packages that methods of the core call: ``phlexible`` registers them, the core imports none."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

_MODULES: dict[str, str] = {}


def register_leaf_functions(modules: Mapping[str, str]) -> None:
    """Add functions of leaf packages by their names, with the full names of the modules that define them."""
    _MODULES.update(modules)


def leaf_function(name: str) -> Callable[..., Any]:
    """Registered function of that name, whose module is imported when it is first needed."""
    function: Callable[..., Any] = getattr(import_module(_MODULES[name]), name)
    return function
