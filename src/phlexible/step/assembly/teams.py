"""Which equal bodies of a mechanism step in lanes, and tables of their teams (``step/kernels/many/teams.py``)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phlexible.algebra.arrays import IntArray
from phlexible.state.layout import offsets
from phlexible.step.tables.declarations import (
    ABREAST,
    APART,
    CONTACT,
    COUNT,
    NEIGHBOURS,
    NODE,
    TABLES,
    TARGETS,
    TOGETHER,
    VISIT,
    Kind,
    Writer,
)
from phlexible.step.tables.memory import NUMBERS, OF_TYPES, Memory

FEWEST = ABREAST // 2  # bodies of a team: lanes that are left over take as long
MOST_COLUMNS = 36  # of all that is coupled to a body


@dataclass(frozen=True)
class Team:
    """Equal bodies in lanes.

    Attributes:
        frames: up to ``ABREAST``.
        visits: of each the number of its visit in the elimination.
    """

    frames: tuple[int, ...]
    visits: tuple[int, ...]

    @property
    def lanes(self) -> tuple[int, ...]:
        """Places in ``frames``; lanes that are left over do what the last one does."""
        return tuple(min(lane, len(self.frames) - 1) for lane in range(ABREAST))


def teams_of(memory: Memory) -> Memory | None:
    """The tables of the teams of a mechanism, whose visits become the first; None: no bodies of it step in lanes.

    Those do that are flexible, with dense blocks, eliminated before all that they are coupled to, and coupled to as
    many nodes of the same sizes. Around contacts matrices of single bodies are asked for: there none do.
    """
    touches = (memory["energy_of"] == CONTACT).any() or memory.counts["members"] > 0
    teams = [] if touches else _teams(memory)
    if not teams:
        return None
    plan, visits = _tables(memory, teams), memory["visit"].reshape(-1, VISIT)
    first = [number for team in teams for number in team.visits]
    visits[:] = visits[[*first, *np.setdiff1d(np.arange(len(visits)), first)]]
    return plan


def _teams(memory: Memory) -> list[Team]:
    """Equal bodies in the order of their elimination."""
    visits = memory["visit"].reshape(-1, VISIT)
    sizes, nodes, first = memory["neighbour_size"], memory["neighbour"], memory.counts["clusters"]
    kinds, counts = memory["type_of"], memory["elastic_count"]
    can_step = (counts > 0) & (memory["segment_count"] == 0) & (memory["inner_branch_count"] == 0)
    sections = set(memory["rod_node"].tolist())
    reached = np.zeros(memory.counts["nodes"], dtype=np.bool_)
    known: dict[tuple[object, ...], list[tuple[int, int]]] = {}
    for number, at in enumerate(visits):
        b, own = int(at[NODE]), slice(at[NEIGHBOURS], at[NEIGHBOURS] + at[COUNT])
        is_first = b < memory.counts["frames"] and not reached[b] and at[APART] != TOGETHER
        if is_first and b not in sections and can_step[kinds[b]] and sizes[own].sum() <= MOST_COLUMNS:
            slots = tuple(zip(sizes[own].tolist(), (nodes[own] >= first).tolist(), strict=True))
            apart = int(memory["node_apart"][b])
            key = (int(kinds[b]), apart, int(memory["rigid_of"][b]), int(memory["axes_of"][b]), slots)
            known.setdefault(key, []).append((b, number))
        reached[nodes[own]] = True
    parts = [found[k : k + ABREAST] for found in known.values() for k in range(0, len(found), ABREAST)]
    return [Team(*zip(*part, strict=True)) for part in parts if len(part) >= FEWEST]


def _tables(memory: Memory, teams: Sequence[Team]) -> Memory:
    """Those of a mechanism whose frames are the teams, with the places of each lane in the tables of ``memory``."""
    leaders = np.array([team.frames[0] for team in teams])
    lanes = np.array([[team.frames[k] for k in team.lanes] for team in teams])
    visits = memory["visit"].reshape(-1, VISIT)
    begins = np.array([[visits[team.visits[k], NEIGHBOURS] for k in team.lanes] for team in teams])
    targets = np.array([[visits[team.visits[k], TARGETS] for k in team.lanes] for team in teams])
    slots = np.array([visits[team.visits[0], COUNT] for team in teams])
    kinds, width = memory["type_of"][leaders], memory["width_of"][leaders]
    rigid, elastic = memory["rigid_of"][leaders], memory["elastic_count"][kinds]
    ends = begins[:, 0] + slots
    sums = [memory["neighbour_size"][begin:end].sum() for begin, end in zip(begins[:, 0], ends, strict=True)]
    columns = np.array(sums, dtype=np.int64)
    start = offsets(list(width * width + 2 * width * columns))
    diagonal, row = start[:-1], offsets(list(width))
    slot = np.concatenate([begin[:, None] + np.arange(n) for begin, n in zip(begins, slots, strict=True)], axis=1)
    pair = np.concatenate(
        [begin[:, None] + np.arange(n * n) for begin, n in zip(targets, slots, strict=True)], axis=1
    )
    moved = [_moved(memory, team) for team in teams]
    strain_count, strain_start = memory["strain_count"][kinds], memory["strain_start"][kinds]
    square_counts = np.array(
        [memory["square_count"][s : s + n].sum() for s, n in zip(strain_start, strain_count, strict=True)],
        dtype=np.int64,
    )
    first_square = np.append(memory["square_start"], 0)[strain_start]
    strains, squares = offsets(list(strain_count)), offsets(list(square_counts))
    counts = dict.fromkeys(memory.counts, 0)
    counts |= {name: memory.counts[name] for name in (*OF_TYPES, "one", "dimension", "planes", "widest")}
    counts |= {
        "frames": len(teams),
        "carriers": len(teams),
        "nodes": len(teams),
        "coordinates": int((elastic + 1).sum()),
        "elastic": int(elastic.sum()),
        "velocities": int(width.sum()),
        "unknowns": int(width.sum()),
        "frame_strains": int(strains[-1]),
        "frame_squares": int(squares[-1]),
        "block_numbers": int(start[-1]),
        "product_numbers": int(columns.max(initial=1)) ** 2,
        "teams": len(teams),
        "team_slots": int(slots.sum()),
        "team_pairs": int((slots * slots).sum()),
        "team_moves": sum(map(len, moved)),
    }
    tables = [each for each in TABLES if each.writer is Writer.SYSTEM and each.kind is not Kind.COUNT]
    given: dict[str, NDArray[np.generic]] = {
        each.name: np.zeros((each.entries(counts), *NUMBERS[each.kind])) for each in tables
    }
    given |= {each.name: memory.given[each.name] for each in tables if each.size in OF_TYPES}
    places: dict[str, IntArray] = {
        "type_of": kinds,
        "velocity_start": row[:-1],
        "elastic_start": offsets(list(elastic))[:-1],
        "coordinate_start": offsets(list(elastic + 1))[:-1],
        "width_of": width,
        "rigid_of": rigid,
        "axes_of": memory["axes_of"][leaders],
        "corner_stride": width,
        "side": diagonal + rigid * width,
        "side_stride": width,
        "bottom": diagonal + rigid,
        "bottom_stride": width,
        "line": np.concatenate(
            [d + (r + np.arange(n)) * w + r for d, r, n, w in zip(diagonal, rigid, elastic, width, strict=True)]
        ),
        "frame_strain": strains[:-1] - strain_start,
        "frame_square": squares[:-1] - first_square,
        "node_size": width,
        "node_row": row[:-1],
        "node_diagonal": diagonal,
        "node_stride": width,
        "node_apart": memory["node_apart"][leaders],
        "team_count": np.array([len(team.frames) for team in teams]),
        "team_slot": offsets(list(slots))[:-1],
        "team_slot_count": slots,
        "team_pair": offsets(list(slots * slots))[:-1],
        "team_columns": columns,
        "team_upper": diagonal + width * width,
        "team_lower": diagonal + width * (width + columns),
        "team_first_moved": offsets([len(each) for each in moved])[:-1],
        "team_moved_count": np.array([len(each) for each in moved]),
        "team_moved": np.concatenate(moved),
        "team_frame": lanes,
        "team_velocity": memory["velocity_start"][lanes],
        "team_elastic": memory["elastic_start"][lanes],
        "team_coordinate": memory["coordinate_start"][lanes],
        "team_vector": 3 * lanes,
        "team_matrix": 9 * lanes,
        "team_diagonal": memory["node_diagonal"][lanes],
        "team_row": memory["node_row"][lanes],
        "slot_size": memory["neighbour_size"][slot[0]],
        "slot_is_held": memory["neighbour"][slot[0]] >= memory.counts["clusters"] + memory.counts["auxiliaries"],
        "slot_upper": memory["upper"][slot].T,
        "slot_lower": memory["lower"][slot].T,
        "slot_row": memory["neighbour_row"][slot].T,
        "slot_target": memory["target"][pair].T,
        "slot_stride": memory["target_stride"][pair].T,
    }
    return Memory(counts, given | {name: table.ravel() for name, table in places.items()})


def _moved(memory: Memory, team: Team) -> IntArray:
    """Velocities of the bodies of a team in whose rows and columns of their blocks others write.

    Those are of the frame, and of all shape functions of vectors.
    """
    rigid = int(memory["rigid_of"][team.frames[0]])
    is_moved = np.zeros(int(memory["width_of"][team.frames[0]]), dtype=np.bool_)
    is_moved[:rigid] = True
    for k in np.flatnonzero(np.isin(memory["vector_carrier"], team.frames)):
        is_moved[rigid + memory["vector_first"][k] : rigid + memory["vector_last"][k]] = True
    return np.flatnonzero(is_moved)
