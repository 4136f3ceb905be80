"""Rectangular plates of one thickness."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from phlexible.algebra.arrays import Array, BoolArray, flag, option, positive, text, whole
from phlexible.bodies.flexible.flexible_body import FlexibleBody
from phlexible.bodies.flexible.inertia import MEAN_AXIS
from phlexible.bodies.flexible.interfaces import InterfaceSpec
from phlexible.bodies.flexible.plate_elements import PlateElement, PlateTheory
from phlexible.bodies.flexible.stiffening import MeshStrain
from phlexible.bodies.material import Material
from phlexible.bodies.sizes import refuse_large
from phlexible.errors import ParameterError

EDGES = ("start", "end", "left", "right")
CORNERS = ("start left", "start right", "end left", "end right")
REGIONS = (*EDGES, *CORNERS, "boundary", "face")
ELEMENT_MEMORY = 145e3
"""Memory per element while the shapes of a plate are computed, measured with 6400 elements [bytes]."""


class Plate(FlexibleBody):
    """A rectangular plate of constant thickness with stretching and bending, which stiffens when it deflects. It is
    a ``FlexibleBody`` whose mesh is made here.

    It lies in 0 <= x <= length, -width / 2 <= y <= width / 2 of its body axes, z across. Its edges are "start"
    (x = 0), "end", "left" (y = width / 2) and "right"; a corner, such as "end left", is the element there,
    "boundary" are all edges and "face" is the whole plate, for a uniform load.

    Example: ``Plate(1.0, 0.5, 0.01, steel, interfaces={"start": "rigid"}, frame="start")`` for one that is clamped.

    Example:
        >>> plate = ph.Plate(1.0, 0.5, 0.01, ph.Material(70e9, 2700.0), elements=(8, 4), modes=4)
        >>> round(plate.mass, 9)
        13.5
    """

    def __init__(
        self,
        length: float,
        width: float,
        thickness: float,
        material: Material,
        elements: Sequence[int] = (8, 8),
        theory: PlateTheory | str = PlateTheory.KIRCHHOFF,
        interfaces: Mapping[str, str | InterfaceSpec] | None = None,
        modes: int = 10,
        frame: str | Sequence[str] = MEAN_AXIS,
        strain: MeshStrain | str = MeshStrain.GREEN_LAGRANGE,
        *,
        element: PlateElement | str = PlateElement.SHEAR,
        damping_ratio: float | Sequence[float] = 0.0,
        moments: bool = True,
        inertial_shapes: bool = True,
        color: str | None = None,
        large: bool = False,
    ) -> None:
        """Make a rectangular finite element mesh of a plate and reduce it to a few displacement shapes. The plate
        extends from 0 to ``length`` in x and from minus to plus half the ``width`` in y. The shapes are static
        responses to forces (and ``moments``) on ``interfaces`` and to inertial loads, and the lowest ``modes``
        vibration modes. Raise ``ParameterError`` if the mesh would take over 32 GB, unless ``large``.

        Args:
            length, width, thickness: [m].
            material: of the plate.
            elements: along x and y, of second order.
            theory: "kirchhoff", without shear, for thin plates, or "mindlin", with shear.
            interfaces: where joints and loads act: for each edge, corner, "boundary" or "face" how it moves,
                "rigid" (as one: clamped when it is fixed), "average" (by its mean), "hinged" (its displacements as
                one); other names as of ``FlexibleBody.from_mesh``.
            element: "shear", or "hhj", whose moments are separate unknowns, with two triangles per rectangle.
            large: True: elements that take more than 32 GB of memory are accepted.
            modes, frame, strain, damping_ratio, moments, inertial_shapes, color: as of ``FlexibleBody.from_mesh``.

        Raises:
            ParameterError: numbers out of range, no such region or kind of interface; or so many elements that the
                message says how much memory they take.
        """
        from skfem import MeshQuad, MeshTri

        columns, rows = checked_elements(elements)
        refuse_large(f"{columns} x {rows}", ELEMENT_MEMORY * columns * rows, "Plate", flag("large", large))
        long, wide = positive("length", length), positive("width", width)
        x, y = np.linspace(0, long, columns + 1), np.linspace(-wide / 2, wide / 2, rows + 1)
        kind = option("element", element, PlateElement)
        made = FlexibleBody.from_mesh(
            (MeshTri if kind is PlateElement.HHJ else MeshQuad).init_tensor(x, y),
            material,
            _region_interfaces(interfaces, x, y),
            modes,
            frame,
            strain,
            thickness=thickness,
            theory=option("theory", theory, PlateTheory),
            element=kind,
            damping_ratio=damping_ratio,
            moments=moments,
            inertial_shapes=inertial_shapes,
            color=color,
        )
        super().__init__(**made.__dict__)


def checked_elements(elements: Sequence[int]) -> tuple[int, int]:
    """Return the numbers of elements along length and width of a rectangular plate that a user passed, as two
    integers. Raise ``ParameterError`` unless they are a list or tuple of two positive integers."""
    if not isinstance(elements, tuple | list) or len(elements) != 2:
        raise ParameterError(
            f"elements must be two numbers, along length and width, such as (8, 8), got {elements!r}"
        )
    return whole("elements", elements[0]), whole("elements", elements[1])


def _region_interfaces(
    interfaces: Mapping[str, str | InterfaceSpec] | None, x: Array, y: Array
) -> Mapping[str, InterfaceSpec] | None:
    """Return a user's interfaces of a rectangular plate with regions replaced by functions of position, as
    ``FlexibleBody.from_mesh`` needs them. This is done where the value is only a text, the kind of motion, and the
    name is a region (edge, corner, "boundary", "face"). Raise ``ParameterError`` for other names with a text.
    ``x`` and ``y`` are the mesh lines [m]. None is returned unchanged."""
    if not isinstance(interfaces, Mapping):
        return interfaces
    result: dict[str, InterfaceSpec] = {}
    for name, spec in interfaces.items():
        if not isinstance(spec, str):
            result[name] = spec
            continue
        if text("name of an interface", name) not in REGIONS:
            raise ParameterError(
                f"interfaces: a plate has {', '.join(map(repr, REGIONS))}, no {name!r}; give others as nodes, or "
                'as a function of places x with the kind, (lambda x: x[0] < 0.1, "average")'
            )
        result[name] = (partial(_is_in, name, x, y), spec)
    return result


def _is_in(name: str, x: Array, y: Array, positions: Array) -> BoolArray:
    """Return whether positions (3, k) [m] lie in the region ``name`` of a rectangular plate, shape (k,). Regions
    are edges ("start", "end", "left", "right"), corners as "start left", "boundary" (all edges) and "face" (all
    positions). A corner is the whole element there. ``x`` and ``y`` are the ascending mesh lines [m]."""
    along, across = positions[0], positions[1]
    tolerance = 1e-9 * (x[-1] + y[-1])
    if name in CORNERS:
        end, side = name.split()
        in_x = along < x[1] + tolerance if end == "start" else along > x[-2] - tolerance
        in_y = across > y[-2] - tolerance if side == "left" else across < y[1] + tolerance
        return np.asarray(in_x & in_y)
    edges = {
        "start": along < tolerance,
        "end": along > x[-1] - tolerance,
        "left": across > y[-1] - tolerance,
        "right": across < y[0] + tolerance,
    }
    if name == "face":
        return np.ones(len(along), dtype=np.bool_)
    return np.asarray(np.any(list(edges.values()), axis=0) if name == "boundary" else edges[name])
