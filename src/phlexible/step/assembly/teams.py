"""Equal bodies of a mechanism that step in lanes (``step/kernels/teams.py``)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phlexible.step.assembly.bodies import Tables
from phlexible.step.tables.declarations import CONTACT
from phlexible.step.tables.memory import TEAM_LANES

FEWEST = TEAM_LANES // 2
"""Bodies of a team: lanes that are left over take as long."""


def team_tables(tables: Mapping[str, NDArray[Any]]) -> Tables:
    """Tables of the teams of a mechanism, by its other tables.

    Bodies of a team are flexible and of one type, have no segments and do not creep. They are eliminated before
    all nodes that they are coupled to, which are as many of the same sizes. Around contacts matrices of single
    bodies are asked for: a model with contacts has no teams.
    """
    kinds, begin, rows = tables["type_of"], tables["neighbours_begin"], tables["node_row"]
    is_dense = np.diff(tables["segments_begin"]) + np.diff(tables["inner_branches_begin"]) == 0
    can_step = ((tables["elastic_count"] > 0) & is_dense)[kinds]
    can_step &= not ((tables["energy_of"] == CONTACT).any() or len(tables["member_kind"]))
    known: dict[tuple[int, ...], list[int]] = {}
    is_coupled = np.zeros(tables["node_size"].sum(), dtype=np.bool_)
    for visit, b in enumerate(tables["visit_node"].tolist() if can_step.sum() >= FEWEST else ()):
        later = slice(begin[visit], begin[visit + 1])
        sizes = tables["neighbour_size"][later].tolist()
        is_first = b < len(kinds) and can_step[b] and not is_coupled[rows[b]]
        if is_first and max(sizes, default=0) ** 2 <= 9 * tables["node_size"][b]:  # room of ``scratch``
            key = kinds[b], tables["node_apart"][b], tables["rigid_of"][b], *sizes
            known.setdefault(key, []).append(visit)
        for row, size in zip(tables["neighbour_row"][later].tolist(), sizes, strict=True):
            is_coupled[row : row + size] = True
    teams = [own[k : k + TEAM_LANES] for own in known.values() for k in range(0, len(own), TEAM_LANES)]
    teams = [own for own in teams if len(own) >= FEWEST]
    is_in_team = np.zeros(len(rows), dtype=np.int64)
    is_in_team[[tables["visit_node"][visit] for own in teams for visit in own]] = 1
    return {
        "team_count": [len(own) for own in teams],
        "team_visit": [[*own, *[own[-1]] * (TEAM_LANES - len(own))] for own in teams],
        "is_in_team": is_in_team,
    }
