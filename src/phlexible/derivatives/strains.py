"""History variables of laws (strains) in derivatives of motions (docs/theory.md, 8; (8.39))."""

from dataclasses import replace

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.description.interactions.functions import PiecesCoordinate
from phlexible.state.branches import flows, history_variable_count
from phlexible.state.layout import State
from phlexible.step.assembly.assembly import Assembly
from phlexible.step.integration.step_equations import StepEquations
from phlexible.step.integration.stored_rows import set_branches
from phlexible.step.tables.declarations import BRISTLE, PAIR, SLIPS, TURN
from phlexible.step.tables.memory import Memory

STRAINS = ("branch_strain", "soft_strain", "inner_strain", "impact", "flow")
PAIRS = ("pair_bristle", PAIR), ("pair_turn", TURN)


def strain_indices(assembly: Assembly) -> IntArray:
    """Return the indices of the history variables of a mechanism in a flat state (one row of the state
    tables). They belong to viscoelastic branches (spring and dashpot in series), friction springs and
    impacts; slip flags are left out. ``assembly`` holds the tables of the model.

    Contact pairs of groups come last, in the rows that the pairs have at the instant.
    """
    memory = assembly.memory
    sizes = memory.state_sizes
    if not any(sizes[name] for name in (*STRAINS, "bristle", *(pair for pair, _ in PAIRS))):
        return np.zeros(0, dtype=np.int64)
    numbers = memory.rows(np.arange(memory.counts["state_size"], dtype=np.float64)[None])
    bristles = numbers["bristle"].reshape(-1, BRISTLE)[:, :1]
    pairs = numbers["pair_bristle"].reshape(-1, PAIR)[:, 1:]
    turns = np.delete(numbers["pair_turn"].reshape(-1, TURN), SLIPS, axis=1)
    found = [*(numbers[name] for name in STRAINS), bristles, pairs, turns]
    return np.concatenate([each.ravel() for each in found]).astype(np.int64)


def strains_after(assembly: Assembly, states: Array, sizes: Array, moving: Array) -> Array:
    """Return the history variables (viscoelastic branches, friction springs, impacts) at the end of each time
    step, shape (steps, history variables). They are computed from the states at both ends of the time steps,
    their ``sizes`` [s] and the prescribed vectors ``moving``. ``assembly`` holds the tables of the model.

    Contact pairs of groups are in the rows that they have in the states.
    """
    count, indices, memory = len(sizes), strain_indices(assembly), assembly.memory
    if not len(indices):
        return np.zeros((count, 0))
    loads = np.zeros((count, 3 * memory.counts["load_values"]))
    found = StepEquations(memory).residual(states, sizes, moving, loads, with_ends=True)[1]
    return _where_pairs_are(memory, found, states[1:])[:, indices]


def strains_of(assembly: Assembly, state: State, like: State | None = None) -> Array:
    """Return the history variables (viscoelastic branches, friction springs, impacts) of a mechanism in a
    state, shape (history variables,). Those of contact pairs are in the order of the state ``like`` if that
    is given. ``assembly`` holds the tables of the model."""
    indices, rows = strain_indices(assembly), []
    if not len(indices):
        return np.zeros(0)
    memory = assembly.memory.fresh()
    for each in (state, state if like is None else like):
        set_branches(memory, each.branches)
        rows.append(memory.state[None].copy())
    return np.asarray(_where_pairs_are(memory, *rows)[0, indices])


def rest_lengths_as_history(assembly: Assembly, start: State) -> tuple[Assembly, State]:
    """Return tables and an initial state of the same model in which history variables hold the rest lengths of
    tendons that rub. They are negative flows through the guides. ``assembly`` holds the tables of the model,
    ``start`` is its initial state.

    Forces have a kink where a piece that was slack begins a step just taut: equations must not depend on parameters
    that change its rest length, which central differences would take to both sides of the kink.
    """
    system, memory = assembly.system, assembly.memory
    if not memory.counts["pieces"]:
        return assembly, start
    given = np.zeros(history_variable_count(system)) if start.branches is None else start.branches
    branches = np.array(given)
    for own, (_, force) in zip(flows(system, branches), system.forces, strict=True):
        if isinstance(force.coordinate, PiecesCoordinate):
            own -= np.cumsum(force.coordinate.pieces)
    memory = memory.with_changed_tables({"piece_start": np.zeros_like(memory["piece_start"])})
    return replace(assembly, memory=memory), replace(start, branches=branches)


def stored_pairs(memory: Memory, states: Array) -> Array:
    """Return the identification numbers of the contact pairs that each of the given states stores, shape
    (states, pairs). Pairs are those of contact groups (bodies any two of which may touch); zero marks an
    empty row. ``memory`` holds the tables of the model."""
    return np.asarray(np.abs(memory.rows(states)["pair_bristle"].reshape(len(states), -1, PAIR)[:, :, 0]))


def pair_order(memory: Memory, source: Array, states: Array) -> IntArray:
    """Return for each entry of ``states`` the index of the same quantity in the rows of ``source``, with
    contact pairs matched, shape (states, numbers). It is -1 where ``source`` lacks the pair. ``memory`` holds
    the tables of the model."""
    order = np.tile(np.arange(source.shape[1], dtype=np.float64), (len(source), 1))
    own, wanted = stored_pairs(memory, source), stored_pairs(memory, states)
    tables = [memory.rows(order)[name].reshape(len(source), -1, size) for name, size in PAIRS]
    for k in np.flatnonzero((own != wanted).any(axis=1)):
        where = {number: row for row, number in enumerate(own[k].tolist()) if number}
        rows = np.array([where.get(number, -1) for number in wanted[k].tolist()])
        for table in tables:
            if table.size:
                table[k] = np.where(rows[:, None] >= 0, table[k][rows], -1)
    return order.astype(np.int64)


def _where_pairs_are(memory: Memory, source: Array, states: Array) -> Array:
    """Return the states ``source`` with each contact pair moved to the row that it has in ``states``, shape
    (states, numbers). Pairs that ``source`` lacks get zeros. ``memory`` holds the tables of the model."""
    if not memory.counts["kept_pairs"]:
        return source
    order = pair_order(memory, source, states)
    return np.where(order >= 0, np.take_along_axis(source, order, axis=1), 0.0)
