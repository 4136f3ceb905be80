"""Steps of a mechanism by a program compiled for its structure, in which counts and indices are constants."""

from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.step.integration.step_calls import ALONE, Loop
from phlexible.step.programs import advance, alone, announce_structure
from phlexible.step.tables.memory import LANES, Memory, specialized_structure


def steps_of_own_program(memory: Memory) -> Loop:
    """Return a function that takes the steps of a mechanism by a program compiled for its structure.

    Steps around contacts, trials and all that lanes refuse use the general loop, and so do mechanisms with teams,
    which gain more by them.
    """
    if alone(memory) or memory.counts["teams"]:
        return advance
    kind = np.dtype([(f"{LANES}1 {specialized_structure(memory, memory).registered()}", np.int64)])
    is_first = True

    def taken(header: Any, sizes: Array, request: Any, *arguments: Any) -> tuple[int, int]:
        nonlocal is_first
        if not request[0]["steps"] or any(request[0][name] for name in ALONE):
            steps, status = advance(header, sizes, request, *arguments)
            return steps, status
        own = header.view(kind)
        if is_first:
            announce_structure(own, sizes, request, *arguments)
        is_first = False
        steps, status = advance.source(own, sizes, request, *arguments)
        return int(steps), int(status)

    return taken
