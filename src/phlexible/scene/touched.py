"""What bodies touch: planes, and surfaces of shapes where nothing else shows them."""

from collections.abc import Iterator

import numpy as np

from phlexible.bodies.point_mass import PointMass
from phlexible.bodies.rigid_body import RigidBody
from phlexible.bodies.skin import solid_skin
from phlexible.interactions.resisting.contact import Contact
from phlexible.interactions.resisting.surfaces import Capsule, Plane, Surface, Touchable
from phlexible.joints.rolling import Component, RollingRow
from phlexible.mechanism.mechanism import Mechanism
from phlexible.ports.attachments import Attachment
from phlexible.scene.anchors import Places
from phlexible.scene.scene import DrawnBody, Scene
from phlexible.shapes.revolution import frame_along, revolved
from phlexible.shapes.solids import BALL, BOX_TRIANGLES
from phlexible.shapes.surface import Surface as Triangles

PAINT = "#9a9a9a"
THIN = 0.006
"""Of the scene, the slab that stands for a plane."""
LEAST = 0.3
"""Of the scene, half an edge of the slab."""
MARGIN = 1.08
KIND = "Surface"


def touched_surfaces(mechanism: Mechanism, places: Places, scene: Scene) -> Iterator[DrawnBody]:
    """Planes and shapes of contacts and of what rolls; a shape that a body has anyway is not drawn again."""
    contacts = [element for element in mechanism.applied_elements if isinstance(element, Contact)]
    rolling = [row for row in mechanism.relations if isinstance(row, RollingRow) and row.component == HEIGHT]
    touched = [each.second for each in contacts if isinstance(each.second, Touchable)]
    touched += [Plane(row.first, row.normal) for row in rolling]
    known: set[object] = set()
    for surface in touched:
        if _key(surface) not in known and not _shows_itself(surface):
            known.add(_key(surface))
            yield _drawn(surface, places, scene)


HEIGHT = Component.HEIGHT.value


def _key(surface: Touchable) -> object:
    """Equal for planes that are one."""
    if isinstance(surface, Plane):
        port = surface.port
        place = port.placed if isinstance(port, Attachment) else tuple(np.round(port.initial_position(), 12))
        return place, tuple(np.round(surface.unit_normal(), 12))
    return surface


def _shows_itself(surface: Touchable) -> bool:
    """Whether its carrier is a body with a look of its own."""
    if isinstance(surface, Plane):
        return False
    carriers = [port.placed.body for port in surface.ports if isinstance(port, Attachment)]
    return any(not isinstance(body, PointMass | RigidBody) or _has_shape(body) for body in carriers)


def _has_shape(body: PointMass | RigidBody) -> bool:
    return isinstance(body, RigidBody) and body.shape is not None


def _drawn(surface: Touchable, places: Places, scene: Scene) -> DrawnBody:
    match surface:
        case Surface():
            triangles = surface.shape.centred()
            name = f"surface about {surface.port}"
        case Capsule():
            triangles = _capsule(surface, places)
            name = f"capsule from {surface.start} to {surface.end}"
        case _:
            assert isinstance(surface, Plane), "what is left"
            triangles = _slab(surface, places, scene)
            name = f"plane through {surface.port}"
    anchor = places.anchor(surface.carrier)
    axes = np.stack([scene.directions(anchor, axis) for axis in np.eye(3)], axis=2)
    origins, nothing = scene.places(anchor), np.zeros((len(scene.time), 0))
    return DrawnBody(name, name, KIND, PAINT, solid_skin(triangles), origins, axes, nothing, False)


def _capsule(capsule: Capsule, places: Places) -> Triangles:
    """About its start, in the axes of what carries it."""
    axis = capsule.end.initial_position() - capsule.start.initial_position()
    length, radius = float(np.linalg.norm(axis)), capsule.radius
    polar = np.linspace(0.0, np.pi / 2, BALL // 4 + 1)
    rounded = radius * np.stack([-np.cos(polar), np.sin(polar)], axis=1)
    rounded[0, 1] = 0.0
    profile = np.concatenate([rounded, np.array([length, 0.0]) + rounded[::-1] * np.array([-1.0, 1.0])])
    return revolved(profile, places.direction(capsule.start, axis / length), BALL)


def _slab(plane: Plane, places: Places, scene: Scene) -> Triangles:
    """As wide as what moves above it; half the scene on a body, whose slab is carried along."""
    normal = places.direction(plane.port, plane.unit_normal())
    frame = frame_along(normal)
    if scene.dimension == 2:  # as deep as the rest
        frame = np.stack([normal, np.cross([0.0, 0.0, 1.0], normal), [0.0, 0.0, 1.0]], axis=1)
    anchor = places.anchor(plane.port)
    if anchor.body is None and anchor.frame is None:
        low, high = scene.corners
        ends = np.stack(np.meshgrid(*zip(low, high, strict=True)), axis=-1).reshape(-1, 3)
        across = (ends - anchor.position) @ frame[:, 1:]
        middle, half = (across.max(axis=0) + across.min(axis=0)) / 2, np.ptp(across, axis=0) / 2
    else:
        middle, half = np.zeros(2), np.full(2, 0.5 * scene.reach)
    half = np.maximum(MARGIN * half, LEAST * scene.size)
    if scene.dimension == 2:
        middle[1], half[1] = 0.0, THIN * scene.size
    thick = THIN * scene.size
    signs = np.array([[x, y, z] for x in (-1.0, 0.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    corners = np.column_stack([thick * signs[:, 0], middle + half * signs[:, 1:]])
    return Triangles(corners @ frame.T, BOX_TRIANGLES)
