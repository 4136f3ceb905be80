"""The papers' equations, readable line by line, reference integrators, mixed models of rods, solids and plates."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
