"""Folded panels of a satellite that springs unfold until they lock."""

import math

import numpy as np

from phlexible.algebra.arrays import positive
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.material import Material
from phlexible.bodies.rigid_body import RigidBody
from phlexible.elements.sections import RectangularSection
from phlexible.gallery.parameters import ready_model
from phlexible.interactions.potentials import Potential
from phlexible.joints.revolute import Revolute
from phlexible.model import Model
from phlexible.shapes.solids import Box

LOCK_WIDTH = 0.02  # of the well that holds a hinge in place [rad]


@ready_model
def deployable_panels(panels: int = 3, lock_energy: float = 3.0, elements: int = 4) -> Model:
    """A free satellite in the plane with a stack of flexible panels, folded to and fro.

    Every hinge has a weak spring that unfolds it, a damper, and a lock: a narrow well of potential energy
    at the unfolded position, deep enough to catch the hinge, so that energy stays exact while it locks.

    Source: own; sizes of a small satellite with sandwich panels of 1.5 m.

    Reference: angular momentum stays zero and the center of mass where it is; in the end all hinges rest
    in their locks, the panels in one line.

    Shown by: ``phlexible run deployable-panels``.

    Args:
        panels: number of panels.
        lock_energy: depth of the well of a lock [J].
        elements: of each panel.
    """
    depth = positive("lock_energy", lock_energy)
    length = 1.5
    sheet = Material(youngs_modulus=7e10, density=400.0, viscosity=2e-4)
    panel = Beam(
        length, RectangularSection(width=0.02, height=0.5), sheet, elements=elements, frame="cantilever", modes=2
    )

    model = Model(dimension=2)
    hub = model.add(RigidBody(200.0, 60.0, shape=Box((1.0, 1.0, 1.0)), color="silver"), "hub")
    port = hub.point((0.5, 0.0, 0.0))
    place, direction = np.array([0.5, 0.0, 0.0]), np.pi / 2
    for k in range(panels):
        body = model.add(panel, f"panel {k + 1}", place, direction)
        hinge = model.connect(Revolute(port, body.start))
        turn = -np.pi / 2 if k == 0 else (np.pi if k % 2 else -np.pi)
        model.apply(hinge.spring(0.5, rest=turn, damping=0.6, potential=_lock(turn, depth)))
        port = body.end
        place = place + length * np.array([np.cos(direction), np.sin(direction), 0.0])
        direction += np.pi if k % 2 == 0 else -np.pi
    return model


def _lock(place: float, depth: float) -> Potential:
    """A Gaussian well around a place."""

    def energy(x: float) -> float:
        return -depth * math.exp(-(((x - place) / LOCK_WIDTH) ** 2))

    def slope(x: float) -> float:
        return 2 * depth * (x - place) / LOCK_WIDTH**2 * math.exp(-(((x - place) / LOCK_WIDTH) ** 2))

    return Potential(energy, slope, (place - 2 * LOCK_WIDTH, place + 2 * LOCK_WIDTH))
