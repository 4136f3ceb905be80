"""Flexible multibody dynamics in port-Hamiltonian form.

Bodies are immutable descriptions, a ``Model`` places and joins them, ``Model.simulate`` returns a
``Motion``. SI units, angles in radians. ``phlexible.gallery`` holds ready models.
"""

import sys

import lazy_loader

_module = sys.modules[__name__]
_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    """A public name of ``__init__.pyi``, imported when first asked for: NumPy, SciPy and HDF5 load slowly."""
    try:
        found: object = _load(name)
    except AttributeError:  # with these two, Python says which name may be meant
        raise AttributeError(f"module 'phlexible' has no attribute {name!r}", name=name, obj=_module) from None
    from phlexible.display import shorten

    shorten(found)
    return found
