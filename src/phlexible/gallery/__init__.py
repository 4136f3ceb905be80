"""Ready models: functions with keyword parameters that return a ``Model``; one file each."""

from phlexible.gallery.bricard import bricard
from phlexible.gallery.cable_robot import cable_robot
from phlexible.gallery.chain import chain
from phlexible.gallery.crane import crane
from phlexible.gallery.crank_slider import crank_slider
from phlexible.gallery.double_pendulum import double_pendulum
from phlexible.gallery.flexible_pendulum import flexible_pendulum
from phlexible.gallery.four_bar import four_bar
from phlexible.gallery.free_pair import free_pair
from phlexible.gallery.hanging_cable import hanging_cable
from phlexible.gallery.n_four_bar import n_four_bar
from phlexible.gallery.rotating_cantilever import rotating_cantilever
from phlexible.gallery.satellite import satellite
from phlexible.gallery.spatial_beam import spatial_beam
from phlexible.gallery.spatial_slider_crank import spatial_slider_crank
from phlexible.gallery.spinning_beam import spinning_beam
from phlexible.gallery.spinning_shaft import spinning_shaft
from phlexible.gallery.string_pendulum import string_pendulum
from phlexible.gallery.tethered_satellites import tethered_satellites

__all__ = [
    "bricard",
    "cable_robot",
    "chain",
    "crane",
    "crank_slider",
    "double_pendulum",
    "flexible_pendulum",
    "four_bar",
    "free_pair",
    "hanging_cable",
    "n_four_bar",
    "rotating_cantilever",
    "satellite",
    "spatial_beam",
    "spatial_slider_crank",
    "spinning_beam",
    "spinning_shaft",
    "string_pendulum",
    "tethered_satellites",
]
