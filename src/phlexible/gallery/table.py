"""The models of the gallery with what the command line needs to run and judge them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from phlexible import gallery
from phlexible.model import Model

TOPICS: Mapping[str, str] = {
    "mechanisms": "Mechanisms",
    "beams": "Beams",
    "machines": "Machines",
    "plates": "Plates",
    "rigid_bodies": "Rigid bodies, tops and balls",
    "strings": "Strings and cables",
    "rods": "Rods",
    "soft_bodies": "Soft bodies",
    "contacts": "Contact and friction",
}
"""Of the models, by the file that they are in."""


@dataclass(frozen=True)
class BeamPoint:
    """A point on the axis of a beam whose elastic displacement is worth looking at.

    Attributes:
        body: name of the beam in the model.
        fraction: place along the beam, 0 at its start and 1 at its end.
    """

    body: str
    fraction: float


@dataclass(frozen=True)
class Reference:
    """Extreme transverse displacements u_y / L of a point, from outside of this package.

    Attributes:
        source: where the numbers come from.
        point: that they belong to.
        duration: from t = 0 that they were taken over [s].
        greatest: largest u_y / L.
        smallest: smallest u_y / L.
        allowed: parameters that may differ from the defaults, with the values for which the numbers
            hold (None: any value).
        required: parameters that must have this value.
    """

    source: str
    point: BeamPoint
    duration: float
    greatest: float
    smallest: float
    allowed: Mapping[str, tuple[object, ...] | None] = field(default_factory=dict)
    required: Mapping[str, object] = field(default_factory=dict)

    def holds(self, parameters: Mapping[str, object], defaults: Mapping[str, object]) -> bool:
        """Whether a model with these parameters is the one of the reference."""
        for name, default in defaults.items():
            value = parameters.get(name, default)
            if name in self.required:
                if value != self.required[name]:
                    return False
            elif name in self.allowed:
                values = self.allowed[name]
                if values is not None and value not in values:
                    return False
            elif value != default:
                return False
        return True


@dataclass(frozen=True)
class GalleryEntry:
    """A model that can be run by name.

    Attributes:
        function: builds the model from keyword parameters.
        duration: of a run that shows something [s].
        step: that resolves it [s].
        points: whose displacement is summarised and plotted.
        references: numbers to compare with.
        operating_point: what the modes of the command line are about.
    """

    function: Callable[..., Model]
    duration: float
    step: float
    points: tuple[BeamPoint, ...] = ()
    references: tuple[Reference, ...] = ()
    operating_point: str = "given"

    @property
    def name(self) -> str:
        """Name on the command line, with hyphens."""
        return self.function.__name__.replace("_", "-")

    @property
    def topic(self) -> str:
        """What it is an example of, one of ``TOPICS``."""
        return TOPICS[self.function.__module__.split(".")[-1]]

    @property
    def title(self) -> str:
        """First line of the docstring."""
        return (self.function.__doc__ or "").strip().splitlines()[0]


MIDDLE_OF_COUPLER = BeamPoint("coupler", 0.5)
TIP = BeamPoint("beam", 1.0)

ENTRIES: tuple[GalleryEntry, ...] = (
    GalleryEntry(
        gallery.crank_slider,
        duration=0.1,
        step=2e-5,
        points=(MIDDLE_OF_COUPLER,),
        references=(
            Reference(
                "von Karman strain",
                MIDDLE_OF_COUPLER,
                duration=0.1,
                greatest=0.01541951,
                smallest=-0.01554659,
                allowed={"elements": None, "modes": None},
            ),
            Reference(
                "geometrically exact beam",
                MIDDLE_OF_COUPLER,
                duration=0.1,
                greatest=0.01538815,
                smallest=-0.01552910,
                allowed={"elements": None, "modes": None, "slider_mass": (0.033, 0.033378)},
            ),
            Reference(
                "linear strain",
                MIDDLE_OF_COUPLER,
                duration=0.1,
                greatest=0.01877925,
                smallest=-0.01868704,
                allowed={"elements": None, "modes": None},
                required={"strain": "linear"},
            ),
        ),
    ),
    GalleryEntry(gallery.solid_crank_slider, duration=0.1, step=2e-5),
    GalleryEntry(gallery.double_pendulum, duration=3.0, step=1e-3, operating_point="static"),
    GalleryEntry(
        gallery.flexible_pendulum,
        duration=2.0,
        step=5e-4,
        points=(BeamPoint("beam", 0.5),),
        operating_point="static",
    ),
    GalleryEntry(
        gallery.flexible_pole, duration=1.0, step=1e-3, points=(BeamPoint("pole", 1.0),), operating_point="unloaded"
    ),
    GalleryEntry(gallery.satellite, duration=2.0, step=2e-3, points=(BeamPoint("left panel", 1.0),)),
    GalleryEntry(
        gallery.rotating_cantilever,
        duration=2.0,
        step=1e-2,
        points=(BeamPoint("beam", 1.0),),
        operating_point="steady_rotation",
    ),
    GalleryEntry(
        gallery.spinning_shaft,
        duration=0.1,
        step=5e-4,
        points=(BeamPoint("shaft", 0.5),),
        operating_point="steady_rotation",
    ),
    GalleryEntry(gallery.spatial_beam, duration=0.05, step=1e-5, points=(BeamPoint("beam", 0.5),)),
    GalleryEntry(
        gallery.spinning_beam,
        duration=20.0,
        step=1e-2,
        points=(TIP,),
        references=(
            Reference(
                "von Karman strain",
                TIP,
                duration=20.0,
                greatest=0.00105616,
                smallest=-0.09482091,
                allowed={"elements": None, "modes": None},
            ),
        ),
    ),
    GalleryEntry(gallery.plate_in_spin_up, duration=20.0, step=1e-2, operating_point="steady_rotation"),
    GalleryEntry(gallery.string_pendulum, duration=1.0, step=1e-2, operating_point="static"),
    GalleryEntry(gallery.hanging_cable, duration=10.0, step=5e-3, operating_point="static"),
    GalleryEntry(gallery.crane, duration=12.0, step=5e-3, operating_point="static"),
    GalleryEntry(gallery.tethered_satellites, duration=60.0, step=1e-2, operating_point="unloaded"),
    GalleryEntry(gallery.cable_robot, duration=4.0, step=2e-3, operating_point="static"),
    GalleryEntry(gallery.four_bar, duration=0.1, step=1e-4, points=(BeamPoint("coupler", 0.5),)),
    GalleryEntry(
        gallery.chain, duration=1.0, step=5e-4, points=(BeamPoint("link 1", 0.5),), operating_point="static"
    ),
    GalleryEntry(
        gallery.free_pair, duration=2.0, step=1e-3, points=(BeamPoint("first", 0.5), BeamPoint("second", 0.5))
    ),
    GalleryEntry(gallery.n_four_bar, duration=10.0, step=1e-3),
    GalleryEntry(gallery.bricard, duration=10.0, step=1e-3, operating_point="static"),
    GalleryEntry(gallery.spatial_slider_crank, duration=5.0, step=5e-4),
    GalleryEntry(gallery.flying_spaghetti, duration=15.0, step=1e-2, operating_point="unloaded"),
    GalleryEntry(gallery.inflated_membrane, duration=0.3, step=2e-3),
    GalleryEntry(gallery.twisted_ring, duration=1.6, step=1e-3),
    GalleryEntry(gallery.roll_up, duration=8.0, step=5e-3, operating_point="static"),
    GalleryEntry(gallery.princeton_beam, duration=1.0, step=1e-3, operating_point="static"),
    GalleryEntry(gallery.heavy_top, duration=5.0, step=1e-3),
    GalleryEntry(gallery.dzhanibekov, duration=20.0, step=1e-2),
    GalleryEntry(gallery.bouncing_ball, duration=4.0, step=2e-4),
    GalleryEntry(gallery.tippe_top, duration=3.0, step=1e-3),
    GalleryEntry(gallery.capstan, duration=0.2, step=2e-3),
    GalleryEntry(gallery.gripper, duration=1.0, step=2e-3),
    GalleryEntry(gallery.wiper, duration=1.0, step=2e-3),
    GalleryEntry(gallery.dominoes, duration=0.5, step=2e-3),
    GalleryEntry(gallery.ball_bearing, duration=0.2, step=1e-3),
    GalleryEntry(gallery.sand, duration=0.4, step=2e-3),
    GalleryEntry(gallery.geneva_drive, duration=1.0, step=1e-3),
    GalleryEntry(gallery.cam_follower, duration=0.5, step=1e-3),
    GalleryEntry(gallery.soft_gripper, duration=1.0, step=2e-3),
    GalleryEntry(gallery.windlass, duration=0.3, step=2e-3),
    GalleryEntry(gallery.dropped_bracket, duration=0.4, step=1e-3),
    GalleryEntry(gallery.gear_train, duration=0.1, step=2e-4),
    GalleryEntry(gallery.andrews_squeezer, duration=0.03, step=1e-5),
    GalleryEntry(gallery.wind_turbine, duration=10.0, step=5e-3),
    GalleryEntry(gallery.robot_arm, duration=2.0, step=1e-3, points=(BeamPoint("forearm", 1.0),)),
    GalleryEntry(gallery.deployable_panels, duration=30.0, step=2e-3, points=(BeamPoint("panel 1", 1.0),)),
)
