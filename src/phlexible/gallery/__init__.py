"""Ready models, as functions with keyword parameters that return a ``Model``; one file for each topic."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
