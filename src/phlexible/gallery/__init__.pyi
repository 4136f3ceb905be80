"""Ready models, read by type checkers."""

from .beams import (
    chain as chain,
    flexible_pendulum as flexible_pendulum,
    free_pair as free_pair,
    rotating_cantilever as rotating_cantilever,
    spatial_beam as spatial_beam,
    spinning_beam as spinning_beam,
    spinning_shaft as spinning_shaft,
)
from .contacts import (
    ball_bearing as ball_bearing,
    cam_follower as cam_follower,
    capstan as capstan,
    dominoes as dominoes,
    dropped_bracket as dropped_bracket,
    geneva_drive as geneva_drive,
    gripper as gripper,
    sand as sand,
    soft_gripper as soft_gripper,
    windlass as windlass,
    wiper as wiper,
)
from .machines import (
    crane as crane,
    deployable_panels as deployable_panels,
    flexible_pole as flexible_pole,
    gear_train as gear_train,
    robot_arm as robot_arm,
    satellite as satellite,
    solid_crank_slider as solid_crank_slider,
    wind_turbine as wind_turbine,
)
from .mechanisms import (
    andrews_squeezer as andrews_squeezer,
    bricard as bricard,
    crank_slider as crank_slider,
    four_bar as four_bar,
    n_four_bar as n_four_bar,
    spatial_slider_crank as spatial_slider_crank,
)
from .plates import plate_in_spin_up as plate_in_spin_up
from .rigid_bodies import (
    bouncing_ball as bouncing_ball,
    double_pendulum as double_pendulum,
    dzhanibekov as dzhanibekov,
    heavy_top as heavy_top,
    tippe_top as tippe_top,
)
from .rods import (
    collar_on_rod as collar_on_rod,
    flying_spaghetti as flying_spaghetti,
    princeton_beam as princeton_beam,
    roll_up as roll_up,
    tendon_arm as tendon_arm,
    twisted_ring as twisted_ring,
)
from .shells import (
    panel_satellite as panel_satellite,
    short_cylinder as short_cylinder,
    solar_sail as solar_sail,
    tape_spring as tape_spring,
)
from .soft_bodies import inflated_membrane as inflated_membrane
from .strings import (
    cable_robot as cable_robot,
    hanging_cable as hanging_cable,
    string_pendulum as string_pendulum,
    tethered_satellites as tethered_satellites,
    tower_crane as tower_crane,
)
