"""Flexible multibody dynamics in port-Hamiltonian form.

Bodies are immutable descriptions, a ``Model`` places and joins them, ``Model.simulate`` returns a
``Motion``. SI units, angles in radians. ``phlexible.gallery`` holds ready models.
"""

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    """A public name of ``__init__.pyi``, imported when first asked for: NumPy, SciPy and HDF5 load slowly."""
    found: object = _load(name)
    from phlexible.display import shorten

    shorten(found)
    return found
