"""Bodies under gravity that nothing holds, joints that cannot move: a joint that was forgotten, or one too many."""

from itertools import pairwise

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from phlexible.description.interactions.loads import Load
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.mechanism.membership import Part, ports_of
from phlexible.description.ports import Attachment, PlacedBody
from phlexible.state.recorded_run import RecordedRun
from phlexible.state.redundancy import redundancies, redundancy_text


def falling_bodies(run: RecordedRun) -> list[str]:
    """Return a warning message for each group of bodies that falls from rest in a run because nothing holds
    it: no joint, force element or load acts between it and the world."""
    mechanism = run.mechanism
    if not np.any(mechanism.gravity):
        return []
    first = run.at(slice(0, 1)).recording
    at_rest = {
        placed
        for index, placed in enumerate(run.system.bodies)
        if not first.velocity[0, run.system.layout.span(index)].any()
    }
    groups = [group for group in _unsupported_groups(mechanism) if group <= at_rest]
    return [
        f"nothing holds {', '.join(placed.name for placed in mechanism.bodies if placed in group)}: no joint, force"
        " element or load acts between it and the world, and it falls; connect it, or leave out gravity"
        for group in groups
    ]


def redundant_joints(run: RecordedRun) -> list[str]:
    """Return a list with one message about redundant joint constraints at the first instant of a run, and about
    joints that they lock; an empty list if there are none."""
    if not run.has_redundant_joints:
        return []
    state, begin = run.recording.state(0), run.at(slice(0, 1)).instants
    system = run.system.phase(run.recording.locked_at[0]).system
    return [redundancy_text(system, state, redundancies(system, state, begin), begin)]


def _unsupported_groups(mechanism: Mechanism) -> list[set[PlacedBody]]:
    """Return the groups of connected bodies of a mechanism that no joint or element connects with the world and no
    load acts on."""
    number = {placed: k for k, placed in enumerate(mechanism.bodies)}
    links = [(set(whole.parts), False) for whole in mechanism.wholes.values()]
    parts: tuple[Part, ...] = (*mechanism.joints, *mechanism.drives, *mechanism.elements, *mechanism.loads)
    links += [_bodies_of_part(part) for part in parts]
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


def _bodies_of_part(part: Part) -> tuple[set[PlacedBody], bool]:
    """Return the bodies that ``part`` (joint, element, drive or load) acts on, and whether it supports them.
    It does if it connects them with the world or loads them."""
    ports = list(ports_of(part))
    own = {port.placed for port in ports if isinstance(port, Attachment)}
    return own, len(own) < 2 or any(not isinstance(port, Attachment) for port in ports) or isinstance(part, Load)
