"""Ready models: functions with keyword parameters that return a ``Model``; one file each."""

from phlexible.gallery.beams.chain import chain
from phlexible.gallery.beams.flexible_pendulum import flexible_pendulum
from phlexible.gallery.beams.free_pair import free_pair
from phlexible.gallery.beams.rotating_cantilever import rotating_cantilever
from phlexible.gallery.beams.spatial_beam import spatial_beam
from phlexible.gallery.beams.spinning_beam import spinning_beam
from phlexible.gallery.beams.spinning_shaft import spinning_shaft
from phlexible.gallery.contacts.capstan import capstan
from phlexible.gallery.contacts.gripper import gripper
from phlexible.gallery.contacts.wiper import wiper
from phlexible.gallery.machines.crane import crane
from phlexible.gallery.machines.deployable_panels import deployable_panels
from phlexible.gallery.machines.flexible_pole import flexible_pole
from phlexible.gallery.machines.gear_train import gear_train
from phlexible.gallery.machines.robot_arm import robot_arm
from phlexible.gallery.machines.satellite import satellite
from phlexible.gallery.machines.solid_crank_slider import solid_crank_slider
from phlexible.gallery.machines.wind_turbine import wind_turbine
from phlexible.gallery.mechanisms.andrews_squeezer import andrews_squeezer
from phlexible.gallery.mechanisms.bricard import bricard
from phlexible.gallery.mechanisms.crank_slider import crank_slider
from phlexible.gallery.mechanisms.four_bar import four_bar
from phlexible.gallery.mechanisms.n_four_bar import n_four_bar
from phlexible.gallery.mechanisms.spatial_slider_crank import spatial_slider_crank
from phlexible.gallery.plates.plate_in_spin_up import plate_in_spin_up
from phlexible.gallery.rigid_bodies.bouncing_ball import bouncing_ball
from phlexible.gallery.rigid_bodies.double_pendulum import double_pendulum
from phlexible.gallery.rigid_bodies.dzhanibekov import dzhanibekov
from phlexible.gallery.rigid_bodies.heavy_top import heavy_top
from phlexible.gallery.rigid_bodies.tippe_top import tippe_top
from phlexible.gallery.rods.flying_spaghetti import flying_spaghetti
from phlexible.gallery.rods.princeton_beam import princeton_beam
from phlexible.gallery.rods.roll_up import roll_up
from phlexible.gallery.soft_bodies.inflated_membrane import inflated_membrane
from phlexible.gallery.strings.cable_robot import cable_robot
from phlexible.gallery.strings.hanging_cable import hanging_cable
from phlexible.gallery.strings.string_pendulum import string_pendulum
from phlexible.gallery.strings.tethered_satellites import tethered_satellites

__all__ = [
    "andrews_squeezer",
    "bouncing_ball",
    "bricard",
    "cable_robot",
    "capstan",
    "chain",
    "crane",
    "crank_slider",
    "deployable_panels",
    "double_pendulum",
    "dzhanibekov",
    "flexible_pendulum",
    "flexible_pole",
    "flying_spaghetti",
    "four_bar",
    "free_pair",
    "gear_train",
    "gripper",
    "hanging_cable",
    "heavy_top",
    "inflated_membrane",
    "n_four_bar",
    "plate_in_spin_up",
    "princeton_beam",
    "robot_arm",
    "roll_up",
    "rotating_cantilever",
    "satellite",
    "solid_crank_slider",
    "spatial_beam",
    "spatial_slider_crank",
    "spinning_beam",
    "spinning_shaft",
    "string_pendulum",
    "tethered_satellites",
    "tippe_top",
    "wind_turbine",
    "wiper",
]
