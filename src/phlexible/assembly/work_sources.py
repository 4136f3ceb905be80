"""Who does work: names of loads, driven joints, drives and force elements, and where their work is counted."""

import itertools

import numpy as np

from phlexible.algebra.arrays import IntArray
from phlexible.assembly.assembly import Assembly
from phlexible.interactions.drives import Drive
from phlexible.joints.relations import JointRelation


def work_sources(assembly: Assembly) -> dict[str, list[int]]:
    """Columns of the table ``work`` by the name of what does it: a bushing has several."""
    system = assembly.system
    moving = set(system.moving_frames)
    sources: dict[str, list[int]] = {}
    columns = itertools.count()
    for load in system.mechanism.loads:
        sources.setdefault(str(load), []).extend(next(columns) for _ in load.entries())
    for k, part in enumerate(system.constraints, start=len(system.loads)):
        if isinstance(part, JointRelation):
            continue
        if isinstance(part, Drive) or {part.first, part.second} & moving:
            sources.setdefault(str(part), []).append(k)
    for k, each in enumerate(system.forces, start=len(system.loads) + len(system.constraints)):
        if each.is_prescribed or each.force.is_servo or set(each.element.ports) & moving:
            sources.setdefault(str(each.element), []).append(k)
    for k, place in enumerate(system.related, start=_first_related(assembly)):
        relation = system.owners[place.row].joint
        if isinstance(relation, JointRelation) and set(relation.ports) & moving:
            sources.setdefault(str(relation), []).append(k)
    return sources


def constraint_columns(assembly: Assembly) -> IntArray:
    """The column of each constraint, shape (constraints,); of relations one of those of their coordinates."""
    system = assembly.system
    columns = len(system.loads) + np.arange(len(system.constraints))
    owner_columns = {
        system.owners[place.row].joint: k for k, place in enumerate(system.related, start=_first_related(assembly))
    }
    for k, part in enumerate(system.constraints):
        columns[k] = owner_columns.get(part, columns[k])
    return columns


def _first_related(assembly: Assembly) -> int:
    """Coordinates that relations consist of stand last."""
    system = assembly.system
    return len(system.loads) + assembly.memory.counts["interactions"] - len(system.related)
