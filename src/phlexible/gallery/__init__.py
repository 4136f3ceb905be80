"""Ready models: functions with keyword parameters that return a ``Model``; one file each."""

from phlexible.gallery.beams import (
    chain,
    flexible_pendulum,
    free_pair,
    rotating_cantilever,
    spatial_beam,
    spinning_beam,
    spinning_shaft,
)
from phlexible.gallery.contacts import (
    ball_bearing,
    cam_follower,
    capstan,
    dominoes,
    geneva_drive,
    gripper,
    sand,
    soft_gripper,
    windlass,
    wiper,
)
from phlexible.gallery.machines import (
    crane,
    deployable_panels,
    flexible_pole,
    gear_train,
    robot_arm,
    satellite,
    solid_crank_slider,
    wind_turbine,
)
from phlexible.gallery.mechanisms import (
    andrews_squeezer,
    bricard,
    crank_slider,
    four_bar,
    n_four_bar,
    spatial_slider_crank,
)
from phlexible.gallery.plates import plate_in_spin_up
from phlexible.gallery.rigid_bodies import bouncing_ball, double_pendulum, dzhanibekov, heavy_top, tippe_top
from phlexible.gallery.rods import flying_spaghetti, princeton_beam, roll_up
from phlexible.gallery.soft_bodies import inflated_membrane
from phlexible.gallery.strings import cable_robot, hanging_cable, string_pendulum, tethered_satellites

__all__ = [
    "andrews_squeezer",
    "ball_bearing",
    "bouncing_ball",
    "bricard",
    "cable_robot",
    "cam_follower",
    "capstan",
    "chain",
    "crane",
    "crank_slider",
    "deployable_panels",
    "dominoes",
    "double_pendulum",
    "dzhanibekov",
    "flexible_pendulum",
    "flexible_pole",
    "flying_spaghetti",
    "four_bar",
    "free_pair",
    "gear_train",
    "geneva_drive",
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
    "sand",
    "satellite",
    "soft_gripper",
    "solid_crank_slider",
    "spatial_beam",
    "spatial_slider_crank",
    "spinning_beam",
    "spinning_shaft",
    "string_pendulum",
    "tethered_satellites",
    "tippe_top",
    "wind_turbine",
    "windlass",
    "wiper",
]
