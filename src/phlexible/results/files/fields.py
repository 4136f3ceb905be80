"""Names, dimensions and SI units of the numbers of a recording, as files and labelled arrays have them."""

from dataclasses import dataclass

from phlexible.mechanism.mechanism import Mechanism
from phlexible.mechanism.moving_frames import moving_frames
from phlexible.system.recording import Recording


@dataclass(frozen=True)
class Field:
    """One array of a recording.

    Attributes:
        dimensions: names of its axes.
        units: SI.
        meaning: in words.
    """

    dimensions: tuple[str, ...]
    units: str
    meaning: str


FIELDS = {
    "time": Field(("time",), "s", "time"),
    "position": Field(("time", "body", "axis"), "m", "origin of the body frame, world axes"),
    "rotation": Field(("time", "body", "axis", "column"), "1", "rotation matrix, body to world"),
    "elastic": Field(("time", "coordinate"), "1", "elastic coordinates eta of all bodies"),
    "velocity": Field(
        ("time", "component"), "m/s, rad/s or 1/s", "v and w in body axes, then deta/dt, not projected"
    ),
    "multipliers": Field(
        ("time", "row"), "N or N m", "multipliers of joints, drives and elements, mean of adjacent steps"
    ),
    "coordinates": Field(("time", "force"), "m or rad", "coordinates of force elements"),
    "paths": Field(("time", "drive"), "m or rad", "driven coordinates"),
    "path_rates": Field(("time", "drive"), "m/s or rad/s", "rates of driven coordinates"),
    "frames": Field(("time", "frame", "axis"), "m", "origin of each moving frame, world axes"),
    "frame_rotations": Field(
        ("time", "frame", "axis", "column"), "1", "turn of each moving frame since t = 0"
    ),
    "frame_velocities": Field(("time", "frame", "axis"), "m/s", "velocity of each moving frame, world axes"),
    "frame_angular_velocities": Field(
        ("time", "frame", "axis"), "rad/s", "angular velocity of each moving frame, world axes"
    ),
    "kinetic": Field(("time",), "J", "kinetic energy"),
    "strain": Field(("time",), "J", "elastic energy"),
    "gravity": Field(("time",), "J", "potential energy of weight"),
    "spring": Field(("time",), "J", "energy of springs between bodies"),
    "work": Field(("time", "source"), "J", "work since t = 0 of each load and drive"),
    "dissipated": Field(("time",), "J", "energy lost since t = 0"),
    "iterations": Field(("time",), "1", "Newton iterations since t = 0"),
    "halvings": Field(("time",), "1", "halved steps since t = 0"),
}
"""By the name of the attribute of ``Recording``."""


def labels(mechanism: Mechanism, recording: Recording) -> dict[str, list[str]]:
    """What the entries along each dimension but time stand for."""
    components, coordinates = [], []
    for placed in mechanism.bodies:
        etas = [f"{placed.name}: eta_{k + 1}" for k in range(placed.data.elastic_count)]
        rigid = [f"v_{'xyz'[axis]}" for axis in placed.data.linear_axes]
        spins = [f"w_{'xyz'[axis]}" for axis in placed.data.rotation_axes]
        coordinates += etas
        components += [f"{placed.name}: {name}" for name in rigid + spins]
        components += [f"{placed.name}: deta_{k + 1}/dt" for k in range(len(etas))]
    dimension = mechanism.dimension
    rows = [f"{joint}: {row.label}" for joint in mechanism.constraints for row in joint.rows(dimension)]
    forces = [(element, force) for element in mechanism.elements for force in element.forces(dimension)]
    rows += [f"{element}: {y.label}" for element, force in forces for y in force.coordinate.functions()]
    return {
        "body": [placed.name for placed in mechanism.bodies],
        "axis": ["x", "y", "z"],
        "column": ["x", "y", "z"],
        "coordinate": coordinates,
        "component": components,
        "row": rows,
        "force": [f"{element}: {force.coordinate.name}" for element, force in forces],
        "drive": [str(drive) for drive in mechanism.drives],
        "frame": [str(frame) for frame in moving_frames(mechanism)],
        "source": list(recording.work_names),
    }
