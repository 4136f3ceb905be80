"""Names, dimensions and SI units of the numbers of a recording, as files and labelled arrays have them."""

from dataclasses import dataclass

from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.state.branches import history_variable_names
from phlexible.state.recording import RecordedStates
from phlexible.state.system import System


@dataclass(frozen=True)
class Field:
    """Description of one array of a recording.

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
    "position": Field(("time", "carrier", "axis"), "m", "centre of mass of a body, or a node, world axes"),
    "rotation": Field(("time", "frame_body", "axis", "column"), "1", "rotation matrix, body to world"),
    "eta": Field(("time", "coordinate"), "1", "elastic coordinates of all bodies with a frame"),
    "velocity": Field(
        ("time", "component"),
        "m/s, rad/s or 1/s",
        "V in world, w in body axes, then deta/dt, not projected",
    ),
    "multipliers": Field(("time", "row"), "N or N m", "multipliers of joints and drives, mean of adjacent steps"),
    "forces": Field(("time", "force"), "N or N m", "forces of elements and strings, mean of adjacent steps"),
    "theta": Field(("time", "force"), "m or rad", "coordinates of these forces"),
    "branches": Field(("time", "branch"), "m, rad or 1", "strains of springs of laws that creep, bristles"),
    "locked_at": Field(("time", "switch"), "m or rad", "where constraints are held that events hold or release"),
    "event_times": Field(("time", "event"), "s", "when each event happened, nan: not yet"),
    "event_losses": Field(("time", "event"), "J", "energy that it took"),
    "paths": Field(("time", "drive"), "m or rad", "driven coordinates and lengths of hoists (p^2 / 2 p(0))"),
    "path_rates": Field(("time", "drive"), "m/s or rad/s", "rates of driven coordinates"),
    "frames": Field(("time", "frame", "axis"), "m", "origin of each moving frame, world axes"),
    "frame_rotations": Field(("time", "frame", "axis", "column"), "1", "turn of each moving frame since t = 0"),
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
    "contact_steps": Field(("time",), "1", "parts of steps around contacts since t = 0"),
    "step_error": Field(("time",), "1", "greatest estimated error of a step since the instant before"),
}
"""Fields by the name of the attribute of ``RecordedStates``."""


def labels(system: System, recording: RecordedStates) -> dict[str, list[str]]:
    """Return the names of the entries along each dimension of the arrays of a ``recording`` except time, by
    dimension: bodies and nodes, velocity components, constraint rows and so on. ``system`` is the recorded
    mechanism as arrays of numbers."""
    carriers, components, coordinates = [], [], []
    for placed in system.bodies:
        if isinstance(placed.data, AbsoluteBody):
            names = [f"{placed.name}: {node}" for node in placed.data.node_names]
            carriers += names
            components += [f"{name}: V_{'xyz'[axis]}" for name in names for axis in range(system.dimension)]
            continue
        carriers.append(placed.name)
        etas = [f"{placed.name}: eta_{k + 1}" for k in range(placed.data.elastic_count)]
        coordinates += etas
        rigid = [f"V_{'xyz'[axis]}" for axis in placed.data.linear_axes]
        spins = [f"w_{'xyz'[axis]}" for axis in placed.data.rotation_axes]
        components += [f"{placed.name}: {name}" for name in rigid + spins]
        components += [f"{placed.name}: deta_{k + 1}/dt" for k in range(len(etas))]
    forces = [f"{element}: {force.coordinate.name}" for element, force in system.forces]
    related = [f"{system.owners[each.row].joint}: {each.coordinate.name}" for each in system.related]
    strains = [
        f"{placed.name}: strain of element {element}"
        for placed in system.bodies
        if isinstance(placed.data, AbsoluteBody)
        for group in placed.data.strains
        for element in group.elements
    ]
    return {
        "carrier": carriers,
        "frame_body": [placed.name for placed in system.bodies[: system.layout.frames]],
        "axis": ["x", "y", "z"],
        "column": ["x", "y", "z"],
        "coordinate": coordinates,
        "component": components,
        "row": [f"{owner.joint}: {owner.row.label}" for owner in system.owners],
        "force": forces + strains + related,
        "branch": history_variable_names(system),
        "switch": [str(switch.constraint) for switch in system.mechanism.switches],
        "event": [str(event) for event in system.mechanism.events if system.mechanism.switches],
        "drive": [str(part) for part in system.prescribed],
        "frame": [str(frame) for frame in system.moving_frames],
        "source": list(recording.work_names),
    }
