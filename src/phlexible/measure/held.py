"""Bodies under gravity that nothing holds, joints that cannot move: a joint that was forgotten, or one too many."""

from itertools import pairwise

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from phlexible.algebra.arrays import IntArray
from phlexible.description.interactions.loads import Load
from phlexible.description.joints.joint import Joint
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.mechanism.membership import Part, ports_of
from phlexible.description.ports import Attachment, PlacedBody
from phlexible.measure.kinematics import ranges_of
from phlexible.state.locked_joints import words_of_locked_joints
from phlexible.state.recorded_run import RecordedRun
from phlexible.state.redundancy import axes_that_cannot_move, redundancies

INSTANTS = 20  # at which joints that seem stuck are looked at


def unheld_bodies(run: RecordedRun) -> list[str]:
    """Those that fall from rest with no joint, force element or load between them and the world, in words."""
    mechanism = run.mechanism
    if not np.any(mechanism.gravity):
        return []
    first = run.at(slice(0, 1)).recording
    at_rest = {
        placed
        for index, placed in enumerate(run.system.bodies)
        if not first.velocity[0, run.system.layout.place(index)].any()
    }
    groups = [group for group in _free(mechanism) if group <= at_rest]
    return [
        f"nothing holds {', '.join(placed.name for placed in mechanism.bodies if placed in group)}: no joint, force"
        " element or load acts between it and the world, and it falls; connect it, or leave out gravity"
        for group in groups
    ]


ANGLE, SHARE = 1e-6, 1e-6  # that a coordinate which cannot move may wander: [rad], and of the largest body


def stuck_joints(run: RecordedRun) -> list[str]:
    """Those whose axes other joints hold, and that did not move, in words; see ``locked_joints``."""
    if not run.has_redundant_joints:
        return []
    record, begin = run.recording, run.at(slice(0, 1))
    state, system = record.state(0), run.system.phase(record.held[0]).system
    found = redundancies(system, state, begin.instants)
    stuck = axes_that_cannot_move(system, state, found, begin.instants)
    instants = np.unique(np.linspace(0, run.count - 1, min(run.count, INSTANTS)).astype(np.int64))
    stuck = [joint for joint in stuck if not _moved(run, joint, instants)]
    return [words_of_locked_joints(stuck)] if stuck else []


def _moved(run: RecordedRun, joint: Joint, instants: IntArray) -> bool:
    coordinates = joint.coordinates(run.system.dimension)
    most = np.array([ANGLE if each.is_angle else SHARE * run.system.body_length for each in coordinates])
    return bool((ranges_of(run, coordinates, instants) > most).any())


def _free(mechanism: Mechanism) -> list[set[PlacedBody]]:
    """Bodies that hang together and on nothing else."""
    number = {placed: k for k, placed in enumerate(mechanism.bodies)}
    links = [(set(whole.parts), False) for whole in mechanism.wholes.values()]
    parts: tuple[Part, ...] = (*mechanism.joints, *mechanism.drives, *mechanism.elements, *mechanism.loads)
    links += [_ends(part) for part in parts]
    pairs = [(number[a], number[b]) for own, _ in links for a, b in pairwise(own)]
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(pairs)), (ends[0], ends[1])), (len(number), len(number)))
    labels = connected_components(graph, directed=False)[1]
    groups: dict[int, set[PlacedBody]] = {}
    for placed, label in zip(mechanism.bodies, labels.tolist(), strict=True):
        groups.setdefault(label, set()).add(placed)
    for own, is_held in links:
        for placed in own if is_held else ():
            groups.pop(int(labels[number[placed]]), None)
    return list(groups.values())


def _ends(part: Part) -> tuple[set[PlacedBody], bool]:
    """Bodies that a part acts on, and whether it holds them to the world, or each by itself."""
    ports = list(ports_of(part))
    own = {port.placed for port in ports if isinstance(port, Attachment)}
    return own, len(own) < 2 or any(not isinstance(port, Attachment) for port in ports) or isinstance(part, Load)
