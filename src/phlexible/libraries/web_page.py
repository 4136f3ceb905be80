"""Page for a browser that steps a model: the viewer of reports, a WebAssembly module, and points to drag."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.bodies.skin import Skin
from phlexible.bodies.soft_mesh import SoftPoints
from phlexible.description.ground import frame_positions, frame_rotations
from phlexible.description.interactions.loads import Force, Load, Torque
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.mechanism.parts import part_counts
from phlexible.description.ports import Attachment, PlacedBody
from phlexible.errors import ParameterError, PhlexibleError
from phlexible.libraries.data import InputData, ModelData
from phlexible.libraries.description import check_events, library_data
from phlexible.libraries.linking import TARGETS, WASM, check_linker, linked_library, sources
from phlexible.libraries.outputs import Output, page_outputs
from phlexible.libraries.parameter_models import Variants, usual_values, with_parameters
from phlexible.libraries.programs import object_files_of
from phlexible.libraries.time_functions import Column, TimeData, time_data
from phlexible.measure.energy import energy_of
from phlexible.pictures.reports import FLAT, Packing, Tree, anchor_data, model_sections, page, scene_data
from phlexible.pictures.scene import DrawnBody, Scene, scene_of
from phlexible.results.live import LiveRun
from phlexible.state.recorded_run import RecordedRun
from phlexible.step.integration.clock import breakpoints_of

AnyMechanism = TypeVar("AnyMechanism", bound=Mechanism)

MOST_BODIES, MOST_ON_A_BODY, MOST_IN_ALL = 60, 3, 60
"""Limits on the number of grips; each is a load of the compiled model in all steps."""
ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Grip:
    """Point of a body that can be dragged.

    Attributes:
        port: the point.
        force: a load there.
        torque: of a rigid body, which can be pulled at anywhere; None: of others.
    """

    port: Attachment
    force: Load
    torque: Load | None = None

    @property
    def loads(self) -> tuple[Load, ...]:
        """Return the loads by which the mouse drags a body at this grip: a force, and on rigid bodies also a
        torque."""
        return (self.force,) if self.torque is None else (self.force, self.torque)


def with_grips(model: AnyMechanism) -> tuple[AnyMechanism, tuple[Grip, ...]]:
    """Return a copy of the model at whose bodies the mouse can drag, and a tuple of the points where it can. For
    each point a zero force is added to the copy, on rigid bodies that can rotate also a zero torque. Points at
    which the model refuses forces are left out. The model itself does not change."""
    pulled = model.shallow_copy()
    found = [
        grip
        for placed, most in _grip_counts(pulled.bodies)
        for port in _ports(placed, most)
        if (grip := _grip(pulled, placed, port)) is not None
    ]
    return pulled, tuple(found)


def _grip_counts(bodies: Sequence[PlacedBody]) -> list[tuple[PlacedBody, int]]:
    """Return the bodies that the mouse can drag, with the number of drag points on each; of more than 60
    bodies only 60, evenly spread. There are at most 3 points on each of several bodies, 10 on a single one,
    and about 60 in all."""
    count = min(len(bodies), MOST_BODIES)
    positions = np.linspace(0, len(bodies) - 1, count).round().astype(int)
    most = int(np.clip(MOST_IN_ALL // max(count, 1), 1, MOST_ON_A_BODY if count > 1 else MOST_IN_ALL // 6))
    return [(bodies[k], most) for k in positions]


def _grip(model: Mechanism, placed: PlacedBody, port: Attachment) -> Grip | None:
    """Add a zero force to the model, with which the mouse drags a body at a point (``port``), and return both as a
    ``Grip``. If the body is rigid and can rotate, a zero torque is added too. The page sets their values while its
    user drags. Return None if the model refuses the force."""
    try:
        force = model.apply(Force(port, ZERO, name=f"pull at {port}"))
    except PhlexibleError:
        return None
    if not _is_rigid(placed) or not placed.data.rotates:
        return Grip(port, force)
    return Grip(port, force, model.apply(Torque(port, ZERO, name=f"turn about {port}")))


def _is_rigid(placed: PlacedBody) -> bool:
    return placed.nodes is None and not placed.data.elastic_count


def _ports(placed: PlacedBody, most: int) -> list[Attachment]:
    """Return the points of a body (``placed``) at which the mouse can drag it: the origin of a rigid body, else
    points along its length, nodes or interfaces. ``most`` limits the number of points along a length; of nodes
    there are up to 8 or ``most``."""
    if _is_rigid(placed):
        return [placed.origin]
    along = placed.resolved.contact_positions()
    if along:
        spread = np.linspace(min(along), max(along), most) if most > 1 else [max(along)]
        return [placed.at(float(x)) for x in spread]
    if placed.nodes is not None:
        assert isinstance(placed.data.points, SoftPoints), "strings have positions along them"
        numbers = np.unique(placed.data.points.mesh.cells)
        positions = placed.nodes.positions[placed.data.points.mesh.node_at[numbers]]
        return [placed.node(int(numbers[k])) for k in _farthest_points(positions, max(most, 8))]
    return [Attachment(placed, location) for location in placed.resolved.port_locations().values()]


def _farthest_points(points: Array, count: int) -> list[int]:
    """Return the indices of ``count`` points that are far from each other, by farthest-point sampling. The first
    one is the farthest from the centroid; each further one has the largest distance to its nearest chosen point.
    If there are fewer points than ``count``, all indices are returned. ``points`` has the shape (points, 3)."""
    away = np.linalg.norm(points - points.mean(axis=0), axis=1)
    found = [int(away.argmax())]
    away = np.linalg.norm(points - points[found[0]], axis=1)
    while len(found) < min(count, len(points)):
        found.append(int(away.argmax()))
        away = np.minimum(away, np.linalg.norm(points - points[found[-1]], axis=1))
    return found


WAITS, MOST_STEPS, SHOWN = 6.0, 3000, 40
"""Duration [s], largest number of steps, and shown instants of a preliminary run that finds the extent of the
view.
"""
STEPS_A_SECOND = 1500
"""Largest number of steps in a second of the page, unless that is slower than the model."""
RATES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
MOST_PANELS, MOST_CURVES = 6, 6
G = 9.81  # [m/s^2]
LABELS = {
    "rad": "angles",
    "rad/s": "rates",
    "J": "energies since the start",
    "m": "lengths",
    "m/s": "speeds",
    "N": "forces",
}
"""Labels of panels with outputs of one unit."""


@dataclass(frozen=True, eq=False)
class PageParts:
    """Parts of a page, besides the WebAssembly module.

    Attributes:
        mechanism: the model, without grips.
        run: of the model with its grips, at its start.
        data: of its library.
        grips: points to drag; their loads are inputs of the library after those of users.
        duration: for which functions of time are valid [s]; None: without end.
        sensors: of the outputs, by name.
    """

    mechanism: Mechanism
    run: LiveRun
    data: ModelData
    grips: tuple[Grip, ...]
    duration: float | None
    sensors: Mapping[str, Sensor]

    @property
    def inputs(self) -> tuple[InputData, ...]:
        """Return the inputs of the model that get sliders on a live page, without those by which the mouse drags
        bodies."""
        return self.data.inputs[: len(self.data.inputs) - sum(len(grip.loads) for grip in self.grips)]

    @property
    def rate(self) -> float:
        """Return the speed of a live page, in seconds of the model for one second of the page. It is the largest
        of some round numbers for which the browser need not take too many time steps a second."""
        return max(each for each in RATES if each <= max(STEPS_A_SECOND * self.data.step, RATES[0]))


def page_of(parts: PageParts, seen: RecordedRun | None, module: bytes, sections: Sequence[str] = ()) -> str:
    """Return the HTML text of a page that shows a model in 3D and steps it in the browser by the WebAssembly
    ``module``. ``parts`` is the data of the model. ``seen`` is a run of it that determines the size of the view
    and of plots (None: unknown), ``sections`` are texts before those of the model.

    Args:
        parts: of the model.
        seen: a run of it, which says how far things go; None: there is none.
        module: WebAssembly.
        sections: of the page, before those of the model.

    Raises:
        ParameterError: functions of time that need ``build(duration=...)``.
    """
    run, data, pack = parts.run.now, parts.data, Packing()
    scene = replace(scene_of(run, np.array([0])), arrows=())
    wide, energy = _motion_range(seen)
    head = scene_data(scene, {}, pack)
    if wide is not None:
        low, high = wide.corners
        head |= {"low": low.tolist(), "high": high.tolist(), "size": wide.size}
        head["paths"] = pack.store_exact(wide.paths.astype(np.float32)) if wide.paths.size else None
    head |= {
        "panels": _panels(parts, energy, pack),
        "stepped": {
            "module": pack.store_bytes(module),
            "name": data.name,
            "step": data.step,
            "rate": parts.rate,
            "start": data.origin,
            "mass": _mass(parts),
            "outputs": [output.size for output in data.outputs.outputs],
            "inputs": _inputs(parts, max(energy, _weight(parts) * scene.reach), scene.reach),
            "grips": [_grip_data(parts, grip, number, pack) for grip, number in _numbered(parts)],
            "parameters": _parameters(data),
            **_posed(parts, scene, pack),
        },
    }
    own = model_sections(parts.mechanism, f"; steps of {data.step:g} s")
    subtitle = f"{part_counts(parts.mechanism)}; computed by this page, in steps of {data.step:g} s"
    return page(data.name, subtitle, head, pack, [*sections, *own])


def drawn_differently(first: PageParts, second: PageParts) -> list[str]:
    """Return the names of bodies, surfaces and moving frames that a live page would draw differently for two
    variants of a model, ``first`` and ``second``. Their drawing data (shapes, positions, paths) are compared up to
    1e-5. Moving frames are points of the ground with prescribed motion."""
    pairs = zip(_drawn_values(first), _drawn_values(second), strict=True)
    return [
        name
        for (name, own), (_, its) in pairs
        if own.shape != its.shape or not np.allclose(own, its, rtol=1e-5, atol=1e-6)
    ]


def _drawn_values(parts: PageParts) -> list[tuple[str, Array]]:
    """Return all numbers on which the drawing of a live page depends, as pairs (name, flat array). There is one
    pair for each body and surface, and one for all moving ground frames. Two variants of a model are drawn alike if
    these arrays are equal.
    """
    scene = replace(scene_of(parts.run.now, np.array([0])), arrows=())
    found = []
    for number, body in enumerate(scene.bodies):
        pack = Packing()
        found.append((body.name, [*_values_in(_body(parts, scene, number, pack)), *pack.arrays()]))
    for surface in scene.surfaces:
        pack = Packing()
        found.append((surface.name, [*_values_in(_surface(scene, surface, pack)), *pack.arrays()]))
    found.append(("moving frames", _values_in(_frames(parts))))
    return [(name, np.concatenate([np.zeros(0), *numbers])) for name, numbers in found]


def _values_in(tree: object) -> list[Array]:
    match tree:
        case dict():
            return _values_in(list(tree.values()))
        case list() | tuple():
            return [numbers for each in tree for numbers in _values_in(each)]
        case float():
            return [np.array([tree])]
    return []


def _posed(parts: PageParts, scene: Scene, pack: Packing) -> Tree:
    return {
        "bodies": [_body(parts, scene, number, pack) for number in range(len(scene.bodies))],
        "surfaces": [_surface(scene, each, pack) for each in scene.surfaces],
        "frames": _frames(parts),
    }


def _surface(scene: Scene, surface: DrawnBody, pack: Packing) -> Tree:
    return {"anchor": None if surface.anchor is None else anchor_data(scene, surface.anchor, pack)}


# How far things go.


def run_ahead(run: LiveRun, parts: PageParts) -> RecordedRun | None:
    """Advance a live ``run`` so that a page can choose its view and scales, and return the recorded run; None if
    no time step succeeds. It lasts 6 seconds of the page's time, at most 3000 time steps and the duration of the
    page. Errors end it early. ``parts`` is the data of the page."""
    span = min(WAITS * parts.rate, MOST_STEPS * run.step_size, np.inf if parts.duration is None else parts.duration)
    with suppress(PhlexibleError):
        run.run(max(span, run.step_size))
    return run.motion.run if run.motion.run.count > 1 else None


def _motion_range(done: RecordedRun | None) -> tuple[Scene | None, float]:
    """Return the scene of a recorded run at up to 40 evenly spread instants, and the greatest kinetic energy [J] of
    all its instants. The scene (what is drawn) serves to choose the view. Without a run (``done`` is None) they are
    None and 0.
    """
    if done is None:
        return None, 0.0
    instants = np.unique(np.linspace(0, done.count - 1, SHOWN).round().astype(int))
    return scene_of(done, instants), float(energy_of(done.recording).kinetic.max())


def _mass(parts: PageParts) -> float:
    return float(sum(placed.data.mass for placed in parts.run.now.system.bodies))


def _weight(parts: PageParts) -> float:
    """Return the total weight of the bodies of a model [N], with the gravity of the Earth if the model has
    none. ``parts`` is the data of the page."""
    gravity = float(np.linalg.norm(parts.mechanism.gravity))
    return _mass(parts) * (gravity or G)


# Inputs as sliders, outputs as curves.


def _inputs(parts: PageParts, energy: float, reach: float) -> list[Tree]:
    """Return the inputs of a live page (with the data ``parts``) with the ranges of their sliders. A slider
    reaches three times the largest start value or, where that is zero, a torque of ``energy`` [N m] or a
    force of ``energy / reach`` [N]. This is rounded to 1, 2 or 5 times a power of ten."""
    loads = {str(load): load for load in parts.mechanism.loads}
    found = []
    for number, given in enumerate(parts.inputs):
        largest = 3.0 * float(np.abs(given.start).max())
        usual = energy if given.unit == "N m" else energy / reach
        most = _rounded(largest or usual)
        found.append(
            {
                "name": given.name,
                "unit": given.unit,
                "number": number,
                "start": given.start.tolist(),
                "most": most,
                "shown": _components(loads.get(given.name), given, parts.mechanism.dimension),
            }
        )
    return found


def _parameters(data: ModelData) -> list[Tree]:
    if data.parameters is None:
        return []
    return [
        {
            "name": own.name,
            "unit": own.unit,
            "number": number,
            "low": own.low,
            "usual": own.usual,
            "high": own.high,
            "tunable": is_tunable,
        }
        for number, (own, is_tunable) in enumerate(
            zip(data.parameters.ranges, data.parameters.tunable, strict=True)
        )
    ]


def _components(load: Load | None, user_input: InputData, dimension: int) -> list[int]:
    """Return the indices of the components of an input (``user_input``, or a ``load``) that get sliders. A
    single number has component 0, a torque in the plane component 2 (z), a torque in space all three, other
    vectors the first ``dimension``."""
    if len(user_input.start) == 1:
        return [0]
    if isinstance(load, Torque):
        return [2] if dimension == 2 else [0, 1, 2]
    return list(range(dimension))


def _rounded(x: float) -> float:
    """Return the end of a slider that is nearest to x on a logarithmic scale: 1, 2 or 5 times a power of ten.
    It is 1 if x is not positive or not finite."""
    if not (x > 0.0 and np.isfinite(x)):
        return 1.0
    power = 10.0 ** np.floor(np.log10(x))
    return float(f"{min((1, 2, 5, 10), key=lambda k: abs(np.log(k * power / x))) * power:.1g}")


def _panels(parts: PageParts, energy: float, pack: Packing) -> list[Tree]:
    """Return the plots of a live page as dictionaries, up to a fixed number. A vector output has its own plot;
    scalar outputs of one unit share plots. Outputs with too many components are left out. Energies count from the
    start; their initial value is in the label if it is not small beside ``energy`` [J]. ``parts`` is the page's
    data; ``pack`` stores arrays."""
    alike: dict[str, list[tuple[str, int, int]]] = {}
    panels: list[tuple[str, list[tuple[str, int, int]]]] = []
    data = parts.data
    outputs = data.outputs.outputs
    begun = [_at_start(parts, each) for each in outputs]
    largest = max([energy, *(abs(output.start) for output in outputs)])
    for number, output in enumerate(outputs):
        label = f"{output.name} [{output.unit}]" if output.unit else output.name
        if output.size == 1:
            is_told = abs(output.start) > FLAT * largest and data.parameters is None
            words = f" ({output.start:.4g} J at start)" if is_told else ""
            alike.setdefault(output.unit, []).append((output.name + words, number, 0))
        elif output.size <= MOST_CURVES:
            panels.append((label, [(name, number, k) for k, name in enumerate(_named(output))]))
    for unit, curves in alike.items():
        for begin in range(0, len(curves), MOST_CURVES):
            part = curves[begin : begin + MOST_CURVES]
            label = part[0][0] if len(part) == 1 else LABELS.get(unit, "outputs")
            panels.append((f"{label} [{unit}]" if unit else label, part))
    return [
        {
            "label": label,
            "summary": "They are drawn as the model moves.",
            "time": pack.store_exact(np.full(1, parts.run.time)),
            "least": 2 * FLAT * largest if outputs[curves[0][1]].unit == "J" else 0.0,
            "curves": [
                {
                    "name": name,
                    "dash": False,
                    "values": pack.store_exact(begun[number][k : k + 1]),
                    "output": number,
                    "component": k,
                }
                for name, number, k in curves
            ],
        }
        for label, curves in panels[:MOST_PANELS]
    ]


def _at_start(parts: PageParts, output: Output) -> Array:
    """Return the value of an ``output`` before the first time step minus its reference value ``output.start``,
    shape (size,). It is zero for accelerations, which are differences over time steps. ``parts`` is the data of
    the page."""
    if output.is_acceleration:
        return np.zeros(output.size)
    return np.asarray(parts.run.read(parts.sensors[output.name])).ravel() - output.start


def _named(output: Output) -> Sequence[str]:
    return output.components or [str(k + 1) for k in range(output.size)]


# Where bodies, moving frames and grips are, in the numbers of a state.


def _body(parts: PageParts, scene: Scene, number: int, pack: Packing) -> Tree:
    """Return a dictionary by which a page computes the drawn position of a body from the stored state. It has the
    frame and elastic coordinates, or for bodies of nodes the nodes as weighted sums. ``parts`` is the data of the
    page, ``number`` the index of the body in the ``scene``; ``pack`` stores arrays."""
    body = scene.bodies[number]
    if body.is_nodal:
        return {"nodes": _nodes(parts, number, body.skin, pack), "carried": None}
    centre = parts.run.now.system.centres[number]
    return {"nodes": None, "carried": _carried(parts, number, -centre[:, 0], -centre[:, 1:], pack)}


def _carried(parts: PageParts, number: int, point: Array, shapes: Array, pack: Packing) -> Tree:
    """Return a dictionary by which a page computes the position of one point of a body from the stored state. The
    point is the centre of mass + rotation matrix times (``point`` + ``shapes`` times elastic coordinates). The
    dictionary has offsets of these arrays in the state's memory, and the two constants. ``shapes`` are stored in
    single precision by ``pack``, None for a rigid body. ``number`` is the body's index."""
    memory, layout = parts.data.memory, parts.run.now.system.layout
    return {
        "place": memory.offset_of("position") + 3 * number,
        "rotation": memory.offset_of("rotation") + 9 * number,
        "eta": memory.offset_of("eta") + int(layout.eta[number]),
        "point": np.asarray(point).tolist(),
        "shapes": pack.store_exact(np.asarray(shapes, dtype=np.float32).T) if shapes.shape[1] else None,
    }


def _state_indices(parts: PageParts, number: int) -> Array:
    """Return the indices, in the state of a run, of the nodal coordinates of body ``number`` in absolute
    coordinates (string or soft body). ``parts`` is the data of the page."""
    layout = parts.run.now.system.layout
    dimension = layout.bodies[number].dimension
    carriers = np.arange(layout.carrier[number], layout.carrier[number + 1])
    first = parts.data.memory.offset_of("position")
    return np.asarray((first + 3 * carriers[:, None] + np.arange(dimension)).ravel())


def _nodes(parts: PageParts, number: int, skin: Skin, pack: Packing) -> Tree:
    """Return a dictionary by which a page computes the drawn points of a string or soft body from the stored
    state. Coordinate i is base[i] plus a weighted sum of state entries, stored as a compressed sparse row matrix
    in single precision. ``number`` is the index of the body, ``skin`` its drawn shape; ``pack`` stores arrays."""
    indices = _state_indices(parts, number)
    if skin.coordinates is not None:
        chosen = skin.coordinates.ravel()
        kept = np.flatnonzero(chosen >= 0)
        matrix = sparse.csr_array((np.ones(len(kept)), (kept, chosen[kept])), shape=(len(chosen), len(indices)))
        base = np.zeros(len(chosen))
    else:
        matrix = sparse.csr_array(skin.shapes.reshape(-1, len(indices)))
        base = skin.positions.ravel()
    return {
        "base": pack.store_exact(np.asarray(base, dtype=np.float32)),
        "starts": pack.store_exact(matrix.indptr.astype(np.uint32)),
        "numbers": pack.store_exact(indices[matrix.indices].astype(np.uint32)),
        "weights": pack.store_exact(matrix.data.astype(np.float32)),
    }


def _numbered(parts: PageParts) -> list[tuple[Grip, int]]:
    """Return the drag points (grips) of a page, each with the index of its first input among the inputs of the
    model. ``parts`` is the data of the page."""
    number, found = len(parts.inputs), []
    for grip in parts.grips:
        found.append((grip, number))
        number += len(grip.loads)
    return found


def _grip_data(parts: PageParts, grip: Grip, number: int, pack: Packing) -> Tree:
    """Return the data of a point at which the mouse drags a body (``grip``), a dictionary for a page. It has the
    indices of the body and of the force and torque inputs, mass, name and the point's position. The position is a
    function of rigid motion and elastic coordinates, or a weighted sum of nodal coordinates. ``number`` is the
    index of its first input; ``pack`` stores arrays."""
    port = grip.port
    assert isinstance(port, Attachment)
    body = parts.run.now.system.index[port.placed]
    point, centre = port.point, None
    entry: Tree = {"body": body, "force": number, "torque": None if grip.torque is None else number + 1}
    entry |= {"mass": float(port.placed.data.mass), "name": str(port)}
    if port.placed.nodes is None:
        centre = parts.run.now.system.centres[body]
        shapes = point.shapes - centre[:, 1:]
        return entry | {"carried": _carried(parts, body, point.position - centre[:, 0], shapes, pack), "sum": None}
    matrix = sparse.csr_array(point.shapes)
    indices = _state_indices(parts, body)
    return entry | {
        "carried": None,
        "sum": {
            "base": np.asarray(point.position, dtype=np.float64).tolist(),
            "starts": matrix.indptr.tolist(),
            "numbers": indices[matrix.indices].tolist(),
            "weights": matrix.data.tolist(),
        },
    }


def _frames(parts: PageParts) -> list[Tree]:
    """Return the moving frames of a model as functions of time for a page, a list with one dictionary for each
    frame. A moving frame is a ground frame with prescribed motion. It has twelve functions, the origin [m] and the
    entries of the rotation matrix row by row, fitted by harmonics and piecewise polynomials. The list is empty if
    there are no such frames."""
    moving = parts.run.now.system.moving_frames
    if not moving:
        return []

    def values(times: Array) -> Array:
        each = [
            np.concatenate([frame_positions(frame, times), frame_rotations(frame, times).reshape(-1, 9)], axis=1)
            for frame in moving
        ]
        return np.concatenate(each, axis=1)

    names = [f"path of {frame}" for frame in moving for _ in range(12)]
    kinks = breakpoints_of(parts.mechanism)
    found: TimeData = time_data(values, names, parts.data.origin, parts.data.step, parts.duration, kinks)
    return [{"functions": [_column(c) for c in found.columns[12 * k : 12 * k + 12]]} for k in range(len(moving))]


def _column(column: Column) -> Tree:
    return {
        "waves": [list(wave) for wave in column.waves],
        "pieces": [[piece.begin, piece.scale, list(piece.coefficients)] for piece in column.pieces],
    }


def live_page(
    model: AnyMechanism,
    start: Callable[[AnyMechanism], LiveRun],
    name: str,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Mapping[str, Sensor] | None = None,
    duration: float | None = None,
    seen: RecordedRun | None = None,
    sections: Sequence[str] = (),
    variants: Variants[Any] | None = None,
) -> str:
    """Return the HTML text of a page that simulates a model in the browser by WebAssembly. ``name`` is its title.
    The function ``start`` is called with the model, or a copy with further loads, and returns its run. ``inputs``
    get sliders, ``outputs`` (sensors by name) curves; functions of time are tabulated up to ``duration`` [s]. The
    run ``seen`` sets the view, ``sections`` are texts, ``variants`` makes models of parameters. Messages are
    printed.

    Args:
        model: stays as it is.
        start: begins a run of it, or of a copy with further loads.
        name: of the model, the title of the page.
        inputs: names of those that have sliders; None: all.
        outputs: sensors whose curves are drawn, by name; none: coordinates of joints and energies.
        duration: up to which functions of time are known [s]; None: without end.
        seen: a run of the model, which says how far things go; None: one is taken beforehand.
        sections: of the page, before those of the model.
        variants: the model as a function of parameters, which get sliders; None: there are none.

    Raises:
        ModelError, ParameterError, MissingExtraError: as of ``ph.build``.
    """
    check_linker(TARGETS[WASM])
    check_events(model)

    def parts_of(
        model: AnyMechanism, outputs: Mapping[str, Sensor] | None, inputs: Sequence[str] | None
    ) -> PageParts:
        pulled, grips = with_grips(model)
        run = start(pulled)
        loads = [load for grip in grips for load in grip.loads]
        sensors = page_outputs(model) if outputs is None else outputs
        known = name, inputs, sensors, duration
        has_parameters = variants is not None
        data = library_data(run, run.step_size, *known, loads, from_start=True, has_parameters=has_parameters)
        return PageParts(model, run, data, grips, duration, sensors)

    parts = parts_of(model, outputs, inputs)
    if variants is not None:
        parts = _with_sliders(parts, variants, parts_of, inputs)
    data = parts.data
    seen = run_ahead(start(with_grips(model)[0]), parts) if seen is None else seen
    for words in data.messages:
        print(words)
    try:
        codes = object_files_of(data.memory, {WASM: TARGETS[WASM]}, data.energies.modules)
    except RuntimeError as error:
        raise PhlexibleError(f"the programs of the model cannot be compiled: {error}") from error
    module = linked_library(TARGETS[WASM], sources(codes[WASM], data.header()))
    return page_of(parts, seen, module, sections)


def _with_sliders(
    parts: PageParts,
    variants: Variants[Any],
    parts_of: Callable[[Any, Mapping[str, Sensor] | None, Sequence[str] | None], PageParts],
    inputs: Sequence[str] | None,
) -> PageParts:
    """Return the data of a live page (``parts``) with sliders for parameters of the model added. For this, the
    model is built at both ends of each parameter's range. ParameterError is raised if a parameter changes what is
    drawn. ``variants`` is the model as a function of parameters; ``parts_of`` returns the page data of a model.
    ``inputs`` are the names of the inputs with sliders.

    Raises:
        ParameterError: as of ``with_parameters``, and one that changes how the page draws bodies.
    """

    def data_of(values: Mapping[str, float], inputs: Sequence[str] | None) -> ModelData:
        return parts_of(*variants.made(values), inputs).data

    usual = usual_values(variants.ranges)
    for own in variants.ranges:
        for value in (own.low, own.high):
            other = parts_of(*variants.made(usual | {own.name: value}), inputs)
            has_parts = other.data.memory.counts == parts.data.memory.counts  # ``with_parameters`` refuses others
            if has_parts and (names := drawn_differently(parts, other)):
                raise ParameterError(
                    f"{own.name} changes the shape or the path of {', '.join(names)}: a page steps the model with"
                    f" other numbers, and draws it as it was built. Leave {own.name} out of parameters=, or build a"
                    " page for each value; a library or FMU takes it"
                )
    grips = [str(load) for grip in parts.grips for load in grip.loads]
    return replace(parts, data=with_parameters(data_of, parts.data, variants.ranges, inputs, grips))
