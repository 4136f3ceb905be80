"""Numbers by which bodies can be coloured: force and stress of beams, tension of strings, stress in meshes."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy.spatial import KDTree

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.floating_body import FloatingBody
from phlexible.elements.quadrature import gauss
from phlexible.errors import PhlexibleError
from phlexible.observables.mesh_stress import MeshedPoints, mesh_stress
from phlexible.observables.projection import projected_velocities
from phlexible.observables.run import RecordedRun
from phlexible.observables.section_forces import section_forces, stress
from phlexible.observables.tension import tension
from phlexible.ports.attachments import PlacedBody
from phlexible.scene.scene import DrawnBody, NodeField

AXIAL, STRESS, MISES = "axial force", "greatest stress", "von Mises stress"


def node_fields(run: RecordedRun, bodies: Sequence[DrawnBody], instants: IntArray) -> dict[int, list[NodeField]]:
    """Fields of the drawn bodies at chosen instants, by the number of the body; not of those that have none."""
    picked = run.at(instants)

    @cache
    def velocities() -> Array:
        return projected_velocities(picked)

    found: dict[int, list[NodeField]] = {}
    for number, (placed, drawn) in enumerate(zip(run.system.bodies, bodies, strict=True)):
        try:
            if placed.is_string:
                found[number] = [_string_tension(picked, placed, len(drawn.skin.positions))]
            elif isinstance(placed.held, Beam):
                x = np.clip(drawn.skin.positions[:, 0], 0.0, placed.held.length)
                force = section_forces(picked, velocities, placed, x)
                found[number] = [NodeField(AXIAL, "N", force.normal)]
                sigma = stress(picked, velocities, placed, x)
                largest = np.maximum(np.abs(sigma.greatest), np.abs(sigma.smallest))
                found[number].append(NodeField(STRESS, "Pa", largest))
            elif (own := _stress_in_mesh(picked, placed, drawn)) is not None:
                found[number] = [own]
        except PhlexibleError:  # a section without fibres, a law that a file does not hold
            continue
    return found


def mesh_fields(run: RecordedRun, bodies: Sequence[DrawnBody], instants: IntArray) -> dict[str, NodeField]:
    """Von Mises stress of the bodies from meshes at chosen instants, by the name of the body."""
    picked = run.at(instants)
    found = {
        drawn.name: _stress_in_mesh(picked, placed, drawn)
        for placed, drawn in zip(run.system.bodies, bodies, strict=True)
    }
    return {name: field for name, field in found.items() if field is not None}


def _stress_in_mesh(run: RecordedRun, placed: PlacedBody, drawn: DrawnBody) -> NodeField | None:
    if not isinstance(placed.data, FloatingBody) or not isinstance(placed.data.points, MeshedPoints):
        return None
    nodes = KDTree(placed.data.points.nodes).query(drawn.skin.positions)[1]
    return NodeField(MISES, "Pa", mesh_stress(run, placed, nodes.tolist()).von_mises)


def _string_tension(run: RecordedRun, placed: PlacedBody, count: int) -> NodeField:
    """From quadrature points to equally spaced nodes."""
    values = tension(run, placed)
    assert isinstance(placed.data, AbsoluteBody)
    elements = int(sum(len(np.unique(group.elements)) for group in placed.data.strains[:1]))
    shares = gauss(values.shape[1] // elements)[0]
    places = ((np.arange(elements)[:, None] + shares) / elements).ravel()
    nodes = np.linspace(0.0, 1.0, count)
    return NodeField(AXIAL, "N", np.array([np.interp(nodes, places, row) for row in values]))
