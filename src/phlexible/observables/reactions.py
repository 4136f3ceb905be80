"""What joints transmit: the force lambda dg/dx on each vector x ((8.3); docs/theory.md, 8)."""

from collections.abc import Callable

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError
from phlexible.interactions.drives import Drive
from phlexible.interactions.force_elements import ForceElement
from phlexible.interactions.functions import Vector, WorldAxis
from phlexible.interactions.loads import Axes
from phlexible.interactions.resisting.contacts import Contacts
from phlexible.joints.joint import Joint
from phlexible.joints.relations import JointRelation
from phlexible.observables.poses import rotation
from phlexible.observables.run import RecordedRun
from phlexible.ports.attachments import Port


def in_axes(run: RecordedRun, joint: Joint, vectors: Array, axes: Axes) -> Array:
    """World vectors in the axes asked for: those of the material at the second attachment, or the world's.

    Raises:
        ModelError: body axes of a point mass.
    """
    if axes is Axes.WORLD:
        return vectors
    second = run.mechanism.joints[run.joint_index(joint)].second
    return np.asarray(np.einsum("tji,tj->ti", rotation(run, second), vectors))


def element_force(
    run: RecordedRun, element: ForceElement | Drive | JointRelation, multipliers: Callable[[], Array]
) -> Array:
    """Forces along the coordinates of an element, drive or relation, shape (N + 1,) or (N + 1, forces) [N or N m].

    Args:
        run: what moved.
        element: of the model.
        multipliers: of all constraints, shape (N + 1, rows); asked for by drives and relations only.

    Raises:
        ModelError: it is not part of the model.
    """
    place = int(run.system.layout.multiplier[len(run.mechanism.joints)])
    for part in (*run.mechanism.drives, *run.mechanism.relations):
        if part is element:
            return multipliers()[:, place].copy()
        place += 1
    own = [k for k, each in enumerate(run.system.forces) if each.element is element]
    if isinstance(element, Contacts):
        raise ModelError(f"{element} has no force along a coordinate; what it stores is in motion.energy.spring")
    if not own:
        raise ModelError(f"{element!r} is not applied in this model")
    forces = run.recording.forces[:, own]
    return forces[:, 0].copy() if len(own) == 1 else forces


def required(run: RecordedRun, joint: Joint, multipliers: Callable[[], Array]) -> Array:
    """What the drives of a joint needed, along its driven coordinates, (N + 1,) or (N + 1, drives) [N or N m].

    Raises:
        ModelError: a joint of another model, or one that no drive moves.
    """
    here = run.mechanism.joints[run.joint_index(joint)]
    own = [drive for drive in run.mechanism.drives if drive.joint is here]
    if not own:
        raise ModelError(
            f"no drive moves {joint!r}: model.apply(joint.drive(angle=...)); what a joint transmits is"
            " motion.reaction(joint) and motion.reaction_moment(joint)"
        )
    names = list(here.coordinate_names)
    own.sort(key=lambda drive: names.index(drive.coordinate))
    forces = [element_force(run, drive, multipliers) for drive in own]
    return forces[0] if len(own) == 1 else np.stack(forces, axis=1)


def reaction(run: RecordedRun, joint: Joint, multipliers: Array) -> tuple[Array, Array]:
    """Force [N] and moment [N m] of a joint, with its drives, on its second attachment.

    Args:
        run: what moved.
        joint: of the model.
        multipliers: of all constraints, shape (N + 1, rows).

    Returns:
        World axes, about the attachment's point, each of shape (N + 1, 3).
    """
    here = run.mechanism.joints[run.joint_index(joint)]
    layout, system = run.system.layout, run.system
    force, moment = np.zeros((run.count, 3)), np.zeros((run.count, 3))
    for number, part in enumerate(system.constraints):
        if part is not here and not (isinstance(part, Drive) and part.joint is here):
            continue
        begin, end = int(layout.multiplier[number]), int(layout.multiplier[number + 1])
        rows = [system.owners[k].row for k in range(begin, end)]
        functions = system.functions(rows)
        pulls = functions.forces(run.instants, multipliers[:, begin:end])
        places = functions.set.places(run.instants)
        numbers = {vector.key: k for k, vector in enumerate(functions.set.vectors)}
        mine = (v for row in rows for term in row.terms for v in term.vectors() if _is_of(v, here.second))
        for k in {numbers[carried.key] for vector in mine for _, carried in system.resolver.parts(vector)}:
            if functions.set.vectors[k].is_point:
                force += pulls[:, k]
            else:
                moment += np.cross(places[:, k], pulls[:, k])
    return force, moment


def _is_of(vector: Vector, port: Port) -> bool:
    return not isinstance(vector, WorldAxis) and vector.port is port
