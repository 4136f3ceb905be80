"""Ready models: functions with keyword parameters that return a ``Model``; one file each."""

from phlexible.gallery.cable_robot import cable_robot
from phlexible.gallery.chain import chain
from phlexible.gallery.crane import crane
from phlexible.gallery.crank_slider import crank_slider
from phlexible.gallery.double_pendulum import double_pendulum
from phlexible.gallery.flexible_pendulum import flexible_pendulum
from phlexible.gallery.four_bar import four_bar
from phlexible.gallery.free_pair import free_pair
from phlexible.gallery.hanging_cable import hanging_cable
from phlexible.gallery.rotating_cantilever import rotating_cantilever
from phlexible.gallery.satellite import satellite
from phlexible.gallery.spinning_shaft import spinning_shaft
from phlexible.gallery.string_pendulum import string_pendulum
from phlexible.gallery.tethered_satellites import tethered_satellites

__all__ = [
    "cable_robot",
    "chain",
    "crane",
    "crank_slider",
    "double_pendulum",
    "flexible_pendulum",
    "four_bar",
    "free_pair",
    "hanging_cable",
    "rotating_cantilever",
    "satellite",
    "spinning_shaft",
    "string_pendulum",
    "tethered_satellites",
]
