"""Damping ratios of bodies in the supports of a model, which are not those of their frame."""

import numpy as np
from scipy.linalg import eigh, null_space

from phlexible.algebra.rotations import cross_matrix
from phlexible.algebra.sparse import as_array
from phlexible.bodies.beam.strain import linear_stiffness
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import undeformed_mass, velocity_components
from phlexible.bodies.sizes import warn_of_damping
from phlexible.description.joints.joints import Fixed
from phlexible.description.mechanism.parts import MechanismParts
from phlexible.description.ports import Attachment, PlacedBody

OFF = 2.0
"""Factor between the damping ratio of the first mode and the one of the description that is worth a warning."""


def warn_of_damping_ratios(mechanism: MechanismParts) -> None:
    """Warn of bodies in ``mechanism`` whose first mode, clamped as in the model, is damped much more or less than
    their ``damping_ratio`` says. Only bodies that ``Fixed`` joints clamp to the ground or to heavier bodies are
    checked, with all such points fixed. The user's ratio holds for the modes in the body's own frame, which may
    differ."""
    clamped: dict[PlacedBody, list[Attachment]] = {}
    for joint in mechanism.joints:
        for port, other in ((joint.first, joint.second), (joint.second, joint.first)):
            if isinstance(joint, Fixed) and isinstance(port, Attachment):
                if _requested_ratio(port.placed) and _mass(other) > _mass(port):
                    clamped.setdefault(port.placed, []).append(port)
    for placed, ports in clamped.items():
        found, wanted = _first_ratio(placed, ports), _requested_ratio(placed)
        if not 1 / OFF < found / wanted < OFF:
            warn_of_damping(
                f"{placed.name}: damping_ratio={wanted:g} holds in the frame of the body; clamped as in this model"
                f" its first mode has {found:.2g}: take a frame that is clamped there (of a beam its start), or"
            )


def _requested_ratio(placed: PlacedBody) -> float:
    """Return the damping ratio that the description of a body gives its first mode; zero if it gives none."""
    return float(np.ravel(getattr(placed.resolved, "damping_ratio", 0.0))[0])


def _mass(port: object) -> float:
    """Return the mass of the body at a ``port`` [kg]: infinity for a point of the ground, 0 for bodies with nodal
    unknowns (strings, soft bodies, shells). A port is a point of a body, or of the ground."""
    if not isinstance(port, Attachment):
        return np.inf
    return port.placed.data.mass if isinstance(port.placed.data, FloatingBody) else 0.0


def _first_ratio(placed: PlacedBody, ports: list[Attachment]) -> float:
    """Return the damping ratio of the lowest mode of an undeformed floating body that is fixed at all its
    ``ports`` (points, in position and orientation). The mode is an eigenvector of the undamped body, from a dense
    eigenvalue problem in the null space of the fixed velocities. The ratio is the mode's damping divided by (2
    omega modal mass)."""
    body, eye = placed.data, np.eye(3)
    assert isinstance(body, FloatingBody)
    rows = []
    for point in (port.point for port in ports):
        rotations = np.zeros_like(point.shapes) if point.rotations is None else point.rotations
        rows.append(np.block([[eye, -cross_matrix(point.position), point.shapes], [0 * eye, eye, rotations]]))
    mass, stiffness = as_array(undeformed_mass(body)), as_array(linear_stiffness(body.strain))
    scales = 1 / np.sqrt(np.diag(mass))  # of velocities, so that ranks do not depend on units
    held = np.vstack(rows)[:, velocity_components(body)] * scales
    sizes = np.linalg.norm(held, axis=1)
    motions = scales[:, None] * null_space(held[sizes > 0] / sizes[sizes > 0, None])
    elastic = motions[body.rigid_count :]
    squares, shapes = eigh(elastic.T @ stiffness @ elastic, motions.T @ mass @ motions, subset_by_index=[0, 0])
    shape = elastic @ shapes[:, 0]
    return float(shape @ as_array(body.damping) @ shape / (2 * np.sqrt(squares[0])))
