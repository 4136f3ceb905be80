"""How links of a URDF file look: boxes, cylinders, spheres and meshes as one surface, made by trimesh."""

from typing import Any

import numpy as np

from phlexible.results.extras import optional
from phlexible.shapes.solids import TriangleMesh


def visual_shape(link: Any, handler: Any) -> TriangleMesh | None:
    """The surface of all visuals that can be drawn, in the axes of the link; None without any.

    Args:
        link: as yourdfpy read it.
        handler: finds files of meshes by their names; None: no pictures.
    """
    if handler is None or not link.visuals:
        return None
    meshes = optional("trimesh", "urdf")
    found = []
    for visual in link.visuals:
        try:
            part = _surface(meshes, visual.geometry, handler)
            if part is not None and visual.origin is not None:
                part.apply_transform(visual.origin)
        except Exception:  # of files and sizes: a picture less is no reason to refuse a robot
            continue
        if part is not None and np.isfinite(part.vertices).all():
            found.append(part)
    if not found:
        return None
    whole = meshes.util.concatenate(found)
    return TriangleMesh(np.asarray(whole.vertices), np.asarray(whole.faces), center=(0.0, 0.0, 0.0))


def _surface(meshes: Any, geometry: Any, handler: Any) -> Any:
    if geometry.box is not None:
        return meshes.creation.box(extents=geometry.box.size)
    if geometry.cylinder is not None:
        return meshes.creation.cylinder(
            radius=geometry.cylinder.radius, height=geometry.cylinder.length, sections=16
        )
    if geometry.sphere is not None:
        return meshes.creation.icosphere(subdivisions=2, radius=geometry.sphere.radius)
    if geometry.mesh is None:
        return None
    part = meshes.load(handler(fname=geometry.mesh.filename), force="mesh")
    if geometry.mesh.scale is not None:
        part.apply_scale(geometry.mesh.scale)
    return part
