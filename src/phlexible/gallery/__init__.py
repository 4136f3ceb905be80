"""Ready models: functions with keyword parameters that return a ``Model``; one file each."""

from phlexible.gallery.chain import chain
from phlexible.gallery.crank_slider import crank_slider
from phlexible.gallery.double_pendulum import double_pendulum
from phlexible.gallery.flexible_pendulum import flexible_pendulum
from phlexible.gallery.free_pair import free_pair

__all__ = ["chain", "crank_slider", "double_pendulum", "flexible_pendulum", "free_pair"]
