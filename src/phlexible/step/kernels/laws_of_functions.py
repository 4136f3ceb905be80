"""Laws along coordinates of functions w: their forces on vectors and their blocks (docs/theory.md, 8).

A law gives the forces g on its functions from w at both ends of the step (``laws.py``). Laws without functions are
those of rods (``rods.py``), which evaluate a few laws at a time.
"""

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.dense import fill
from phlexible.step.compilation.notation import Reals, Tables, along, any_of, dot
from phlexible.step.kernels.contact import bear
from phlexible.step.kernels.functions import add_curvature, change_of, gradients, pull_of, rate_of
from phlexible.step.kernels.laws import begin_coordinate, end_coordinate, relate
from phlexible.step.kernels.vectors import moved_by, velocity_of
from phlexible.step.tables.declarations import LAW_WIDTH


@exported
def begin_laws(t: Tables) -> None:
    """Compute functions and coordinates of all laws at t_n."""
    for i in range(t.constraints, t.interactions):
        for m in range(t.functions_begin[i], t.functions_end[i]):
            total = -t.function_constant[m]
            for p in range(t.terms_begin[m], t.terms_end[m]):
                total += t.term_mean[p] * dot(t.chord0[t.term_first[p]], t.chord0[t.term_second[p]])
            t.function0[m] = total
        if t.functions_count[i] > 0:
            begin_coordinate(t, i)


@exported
def pull_of_laws(t: Tables, h: float, damping: float) -> None:
    """Compute the forces of all laws over the step, and add them to the forces on the vectors (8.3)."""
    for i in range(t.constraints, t.interactions):
        begin, end = t.functions_begin[i], t.functions_end[i]
        if end == begin:
            continue
        for m in range(begin, end):
            t.function_change[m] = change_of(t, m)
        end_coordinate(t, i, h, damping)
        for m in range(begin, end):
            pull_of(t, m, t.generalized[m])


@exported
def law_tangent(t: Tables, h: float) -> None:
    """Add all blocks of the laws to Newton's matrix: second derivatives, tangents of their forces (8.4)."""
    for i in range(t.constraints, t.interactions):
        begin, count, f = t.functions_begin[i], t.functions_count[i], i - t.constraints
        if count == 0:
            continue
        last = t.groups_end[f] - 1
        numbers = t.group_place[last] + t.group_width[last]
        fill(t.left_gradient, count * numbers, 0.0)
        fill(t.right_gradient, count * numbers, 0.0)
        for r in range(count):
            m = begin + r
            gradients(t, m)
            for e in range(t.function_parts_begin[m], t.function_parts_end[m]):
                _gather(t, f, e, t.left_gradient + r * numbers, t.right_gradient + r * numbers)
            add_curvature(t, m, t.generalized[m], h)
        _law_blocks(t, f, begin, count, numbers, h)
        relate(t, f, begin, count, numbers, h)
        if t.bearing[f] >= 0:
            bear(t, f, begin, count, numbers, h)


@exported
def related_rate(t: Tables, row: int, h: float, is_first: bool) -> float:
    """Return the rate of a relation at the velocities, in a step at rest; at first its blocks are added."""
    total = 0.0
    for f in range(t.row_force[row], t.row_force[row] + t.row_force_count[row]):
        i, last = t.constraints + f, t.groups_end[f] - 1
        begin, count, numbers = (
            t.functions_begin[i],
            t.functions_count[i],
            t.group_place[last] + t.group_width[last],
        )
        for m in range(begin, begin + count):
            t.function_change[m] = 0.0
        end_coordinate(t, i, h, 0.0)
        fill(t.left_gradient, count * numbers, 0.0)
        fill(t.right_gradient, count * numbers, 0.0)
        for r in range(count):
            m = begin + r
            gradients(t, m)
            total += t.force_factor[f] * t.slope[m] * rate_of(t, m)
            for e in range(t.function_parts_begin[m], t.function_parts_end[m]):
                _gather(t, f, e, t.left_gradient + r * numbers, t.right_gradient + r * numbers)
        if is_first:
            relate(t, f, begin, count, numbers, h)
    return total


@compiled
def _gather(t: Tables, f: int, e: int, left: Reals, right: Reals) -> None:
    """Add gradients of a law's function in one vector to rows by groups: carriers, then auxiliary vectors."""
    k, group = t.part_vector[e], t.groups_begin[f] + t.part_upper[e]
    lever, motion = t.lever + t.lever_vectors_begin[k], t.motion + t.lever_vectors_begin[k]
    left, own = left + t.group_place[group], right + t.group_place[group]
    for i in range(moved_by(t, k)):
        v = velocity_of(t, k, i)
        left[v] += dot(lever[i], t.left[k])
        own[v] += dot(motion[i], t.right[k])
    if t.part_lower[e] >= 0:
        auxiliary = right + t.group_place[t.groups_begin[f] + t.part_lower[e]]
        for i in range(t.dimension):
            auxiliary[i] = along(t.right[k], i)


@exported
def gather_gap(t: Tables, f: int) -> None:
    """Write the gradient of a law's coordinate in the balances of its groups to row 0 of ``left_gradient``.

    It uses the levers of the step that was tried last.
    """
    begin, last = t.functions_begin[t.constraints + f], t.groups_end[f] - 1
    numbers, count = t.group_place[last] + t.group_width[last], t.functions_count[t.constraints + f]
    fill(t.left_gradient, count * numbers, 0.0)
    for r in range(count):
        gradients(t, begin + r)
        for e in range(t.function_parts_begin[begin + r], t.function_parts_end[begin + r]):
            _gather(t, f, e, t.left_gradient + r * numbers, t.right_gradient + r * numbers)
    for j in range(numbers):
        total = 0.0
        for r in range(count):
            total += t.along[begin + r] * t.left_gradient[r * numbers + j]
        t.left_gradient[j] = total


@compiled
def _law_blocks(t: Tables, f: int, begin: int, count: int, numbers: int, h: float) -> None:
    """Subtract h left (dg/dw) right of law f from its blocks, with mean gradients left and end gradients right."""
    groups, blocks = t.groups_begin[f], t.group_block + t.group_blocks_begin[f]
    for a in range(t.carrier_count[f]):
        for b in range(t.groups_count[f]):
            place = blocks[a * t.groups_count[f] + b]
            if place < 0:
                continue
            width, stride = t.group_width[groups + b], t.group_stride[groups + b]
            for r in range(count):
                left = t.left_gradient + (r * numbers + t.group_place[groups + a])
                for s in range(count):
                    slope = h * t.tangent[LAW_WIDTH * (begin + r) + s]
                    right = t.right_gradient + (s * numbers + t.group_place[groups + b])
                    for i in range(t.group_width[groups + a] if any_of(slope != 0.0) else 0):
                        line, x = t.blocks + (place + i * stride), slope * left[i]
                        for j in range(width):
                            line[j] -= x * right[j]
