"""Laws along coordinates of functions w: their forces on vectors and their blocks (docs/theory.md, 8).

A law gives the forces g on its functions from w at both ends of the step (``laws.py``). Laws without functions are
those of rods (``rods.py``), which evaluate a few laws at a time.
"""

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.dense import fill
from phlexible.step.compilation.notation import Reals, Tables, along, any_of, dot
from phlexible.step.kernels.contact import add_joint_friction_columns
from phlexible.step.kernels.functions import (
    add_second_derivatives,
    apply_function_force,
    change_of_function,
    compute_gradients,
    prescribed_component,
    rate_of_function,
)
from phlexible.step.kernels.laws import (
    acting_functions,
    add_relation_blocks,
    compute_coordinate_force,
    start_coordinate,
)
from phlexible.step.kernels.vectors import velocity_count, velocity_index
from phlexible.step.tables.declarations import LAW_WIDTH

FEW = 3  # functions of a law, whose gradients are not looked through for zeros


@exported
def begin_laws(t: Tables) -> None:
    """Compute the scalar functions w of the pose for all force elements at the start of the time step, and store
    them in ``t.function0``. A function is a weighted sum of scalar products of vector differences, minus a
    constant and a prescribed value. The coordinates of the elements (positions, distances, angles) follow from
    them and are stored in ``t.theta0``. ``t`` contains all arrays of the model and its state."""
    for i in range(t.constraints, t.interactions):
        for m in range(t.functions_begin[i], t.functions_end[i]):
            total, time = -t.function_constant[m], t.function_time[m]
            if time >= 0:
                total -= prescribed_component(t.moving0, time)
            for p in range(t.terms_begin[m], t.terms_end[m]):
                total += t.term_mean[p] * dot(t.chord0[t.term_first[p]], t.chord0[t.term_second[p]])
            t.function0[m] = total
        if t.functions_count[i] > 0:
            start_coordinate(t, i)


@exported
def apply_law_forces(t: Tables, h: float, damping: float) -> None:
    """Add the mean forces of all force elements over a time step of length h [s] to the forces ``t.pull`` on their
    points and directions. For each element, the change of its coordinate and the force along it are computed first
    and stored. ``damping`` is numerical damping, a multiple of the stiffness. See docs/theory.md, 8, (8.3). ``t``
    contains all arrays of the model and its state."""
    for i in range(t.constraints, t.interactions):
        begin, count = acting_functions(t, i)
        if count == 0:
            continue
        for m in range(begin, begin + count):
            t.function_change[m] = change_of_function(t, m)
        compute_coordinate_force(t, i, h, damping)
        for m in range(begin, begin + count):
            apply_function_force(t, m, t.generalized[m])


@exported
def add_law_tangents(t: Tables, h: float) -> None:
    """Subtract h times the derivatives of the forces of all force elements over a time step of length h [s] from
    Newton's matrix ``t.blocks``. They are stiffness along the elements' coordinates and geometric stiffness
    (second derivatives). Blocks of relations such as gears with their multipliers, and the dependence of joint
    friction on joint forces, are added too. See docs/theory.md, 8, (8.4). ``t`` contains all arrays of the model
    and its state."""
    for i in range(t.constraints, t.interactions):
        f, (begin, count) = i - t.constraints, acting_functions(t, i)
        if count == 0:
            continue
        last = t.groups_end[f] - 1
        entries = t.group_offset[last] + t.group_width[last]
        fill(t.left_gradient, count * entries, 0.0)
        fill(t.right_gradient, count * entries, 0.0)
        for r in range(count):
            m = begin + r
            _gather_gradients(t, f, m, t.left_gradient + r * entries, t.right_gradient + r * entries)
            add_second_derivatives(t, m, t.generalized[m], h)
        _add_law_blocks(t, f, begin, count, entries, h)
        add_relation_blocks(t, f, begin, count, entries, h)
        if t.bearing[f] >= 0:
            add_joint_friction_columns(t, f, begin, count, entries, h)


@exported
def relation_rate(t: Tables, row: int, h: float, is_first: bool) -> float:
    """Return the rate of constraint row ``row``, a relation between joint coordinates such as a gear, at the
    velocities of the state. Prescribed motions are not included. If ``is_first``, its blocks are also added to
    Newton's matrix, for a time step of length h [s] in which nothing moves. ``t`` contains all arrays of the model
    and its state.
    """
    total = 0.0
    for f in range(t.row_force[row], t.row_force[row] + t.row_force_count[row]):
        i, last = t.constraints + f, t.groups_end[f] - 1
        (begin, count), entries = acting_functions(t, i), t.group_offset[last] + t.group_width[last]
        for m in range(begin, begin + count):
            t.function_change[m] = 0.0
        compute_coordinate_force(t, i, h, 0.0)
        fill(t.left_gradient, count * entries, 0.0)
        fill(t.right_gradient, count * entries, 0.0)
        for r in range(count):
            m = begin + r
            _gather_gradients(t, f, m, t.left_gradient + r * entries, t.right_gradient + r * entries)
            total += t.force_factor[f] * t.slope[m] * rate_of_function(t, m)
        if is_first:
            add_relation_blocks(t, f, begin, count, entries, h)
    return total


@compiled
def _gather_gradients(t: Tables, f: int, m: int, left: Reals, right: Reals) -> None:
    """Add the gradient of scalar function m, on which force element f depends, to ``left`` and ``right``. It is
    with respect to body velocities, at the mean pose in ``left`` and at the end pose in ``right``. Entries are
    sorted by the bodies of the element. Entries for auxiliary unknowns of vectors are written to ``right``. ``t``
    contains all arrays of the model and its state."""
    compute_gradients(t, m)
    for e in range(t.function_parts_begin[m], t.function_parts_end[m]):
        k, group = t.part_vector[e], t.groups_begin[f] + t.part_upper[e]
        lever, motion = t.lever + t.lever_vectors_begin[k], t.motion + t.lever_vectors_begin[k]
        mean, end = left + t.group_offset[group], right + t.group_offset[group]
        for i in range(velocity_count(t, k)):
            v = velocity_index(t, k, i)
            mean[v] += dot(lever[i], t.left[k])
            end[v] += dot(motion[i], t.right[k])
        if t.part_lower[e] >= 0:
            auxiliary = right + t.group_offset[t.groups_begin[f] + t.part_lower[e]]
            for i in range(t.dimension):
                auxiliary[i] = along(t.right[k], i)


@exported
def gather_coordinate_gradient(t: Tables, f: int) -> None:
    """Compute the generalized forces on its bodies of a unit force along the coordinate of force element f, which
    are the coordinate's gradient. They are written to the first row of ``t.left_gradient``, sorted by bodies.
    Levers and weights must be those of the last attempted time step. ``t`` contains all arrays of the model and its
    state.
    """
    (begin, count), last = acting_functions(t, t.constraints + f), t.groups_end[f] - 1
    entries = t.group_offset[last] + t.group_width[last]
    fill(t.left_gradient, count * entries, 0.0)
    for r in range(count):
        _gather_gradients(t, f, begin + r, t.left_gradient + r * entries, t.right_gradient + r * entries)
    for j in range(entries):
        total = 0.0
        for r in range(count):
            total += t.along[begin + r] * t.left_gradient[r * entries + j]
        t.left_gradient[j] = total


@compiled
def _add_law_blocks(t: Tables, f: int, begin: int, count: int, entries: int, h: float) -> None:
    """Subtract the stiffness of force element f in a time step of length h [s] from its blocks of Newton's matrix,
    ``t.blocks``. It is h L^T G R for ``count`` scalar functions from number ``begin`` on. L and R, of ``entries``
    columns, are their gradients at the mean pose and at the end; G are derivatives of the forces, stored in
    ``t.tangent``. Zero parts are skipped. ``t`` contains all arrays of the model and its state."""
    groups, blocks = t.groups_begin[f], t.group_block + t.group_blocks_begin[f]
    for a in range(t.carrier_count[f]):
        for r in range(count):
            left = t.left_gradient + (r * entries + t.group_offset[groups + a])
            if count > FEW and not _is_reached(left, t.group_width[groups + a]):
                continue
            for b in range(t.groups_count[f]):
                place = blocks[a * t.groups_count[f] + b]
                if place < 0:
                    continue
                width, stride = t.group_width[groups + b], t.group_stride[groups + b]
                for s in range(count):
                    slope = h * t.tangent[LAW_WIDTH * (begin + r) + s]
                    right = t.right_gradient + (s * entries + t.group_offset[groups + b])
                    if count > FEW and not _is_reached(right, width):
                        continue
                    for i in range(t.group_width[groups + a] if any_of(slope != 0.0) else 0):
                        line, x = t.blocks + (place + i * stride), slope * left[i]
                        for j in range(width):
                            line[j] -= x * right[j]


@compiled
def _is_reached(gradient: Reals, width: int) -> bool:
    """Return whether any of the first ``width`` entries of a gradient is not zero."""
    for j in range(width):
        if any_of(gradient[j] != 0.0):
            return True
    return False
