"""Whether loops that ``assemble`` refuses cannot close: a second solver looks for a pose from many starts.

``python -m fuzz.closing --refusals 50`` in the folder ``tests``. Bodies move as rigid ones, nodes of strings each
by itself, which is more than ``assemble`` lets them. What shall vanish are the functions g of the joints, and the
solver is ``scipy.optimize.least_squares`` with differences for its derivatives.
"""

import argparse
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import phlexible as ph
from fuzz.draw import drawn
from phlexible.bodies.string import String
from phlexible.errors import JointGapError
from phlexible.state.initial_velocity import undeformed
from phlexible.state.layout import State
from phlexible.state.system import System, system_of

STARTS = 24
SPREADS = 0.0, 0.1, 0.5, 1.5  # of starts: turns in rad, and shifts in lengths of the model
CLOSED = 1e-8  # greatest relative gap of a closed pose
NEAR = np.pi / 2  # turn of a body in a pose that a user may have meant; of axes, g knows no sense


def smallest_gap(model: ph.Model, seed: int) -> float:
    """The greatest relative gap of the joints where it is smallest, in rigid poses near the given one."""
    system, rng = system_of(model), np.random.default_rng(seed)
    start, length, best = undeformed(system), system.largest_length, np.inf
    scale = np.array(system.gap_lengths)
    count = len(_moved(system, start, np.zeros(0))[1])

    def gaps(x: np.ndarray) -> np.ndarray:
        state = _moved(system, start, x * length)[0]
        return np.asarray(system.rows.values(system.at(state))[0] / scale)

    for number in range(STARTS):
        first = SPREADS[number % len(SPREADS)] * rng.normal(size=count)
        found = least_squares(gaps, first, xtol=1e-14, ftol=1e-14, gtol=1e-14, max_nfev=200)
        turns = _moved(system, start, found.x * length)[0].rotation @ np.swapaxes(start.rotation, 1, 2)
        if Rotation.from_matrix(turns).magnitude().max(initial=0.0) < NEAR:
            best = min(best, float(np.abs(found.fun).max(initial=0.0)))
        if best < CLOSED:
            break
    return best


def _moved(system: System, start: State, x: np.ndarray) -> tuple[State, list[int]]:
    """A pose by shifts [m] and turns [rad times the length of the model] of each body, and the unknowns."""
    length, plane = system.largest_length, system.dimension == 2
    unknowns: list[int] = []
    position, rotation = start.position.copy(), start.rotation.copy()

    def taken(size: int) -> np.ndarray:
        begin = len(unknowns)
        unknowns.extend(range(begin, begin + size))
        return x[begin : begin + size] if len(x) else np.zeros(size)

    carrier = 0
    for index, placed in enumerate(system.bodies):
        if placed.nodes is None:
            position[carrier, : system.dimension] += taken(system.dimension)
            if placed.data.rotates:
                turn = taken(1 if plane else 3) / length
                about = np.array([0.0, 0.0, turn[0]]) if plane else turn
                rotation[index] = Rotation.from_rotvec(about).as_matrix() @ rotation[index]
            carrier += 1
            continue
        nodes = slice(carrier, carrier + placed.data.node_count)
        if isinstance(placed.body, String):
            shape = position[nodes, : system.dimension].shape
            position[nodes, : system.dimension] += taken(shape[0] * shape[1]).reshape(shape)
        else:  # a soft body as a whole
            turn = taken(1 if plane else 3) / length
            about = np.array([0.0, 0.0, turn[0]]) if plane else turn
            middle = position[nodes].mean(axis=0)
            position[nodes] = middle + Rotation.from_rotvec(about).apply(position[nodes] - middle)
            position[nodes, : system.dimension] += taken(system.dimension)
        carrier += placed.data.node_count
    return replace(start, position=position, rotation=rotation), unknowns


def refusals(first: int) -> Iterator[tuple[int, ph.Model, str]]:
    """Seeds of mechanisms that ``assemble`` refuses because joints cannot close, without end."""
    seed = first
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                case = drawn(seed)
                if case.is_assembled:
                    case.model.assemble()
            except JointGapError as error:
                if "cannot close" in str(error):
                    yield seed, case.model, str(error)
            except ph.errors.PhlexibleError:
                pass
        seed += 1


def main() -> int:
    """0 where the second solver closes none."""
    given = argparse.ArgumentParser(prog="fuzz.closing", description="loops that cannot close, by a second solver")
    given.add_argument("--refusals", type=int, default=50, help="how many")
    given.add_argument("--first", type=int, default=0, help="the first seed")
    options = given.parse_args()
    closed = 0
    for number, (seed, model, text) in zip(range(options.refusals), refusals(options.first), strict=False):
        gap = smallest_gap(model, seed)
        closed += gap < CLOSED
        print(f"{number}: seed {seed}: {'CLOSES' if gap < CLOSED else 'open'} {gap:.2g}: {text[:120]}", flush=True)
    print(f"{closed} of {options.refusals} close")
    return int(closed > 0)


if __name__ == "__main__":
    sys.exit(main())
