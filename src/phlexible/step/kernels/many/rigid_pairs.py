"""Pairs between rigid bodies in Newton's matrix, with few numbers for each side and fast products.

By changes of the velocities v and w a point on such a body moves by h v/2 + sum_l w_l motion_l, and a force f on it
is f in the balance of v and lever_l . f in that of w_l. Levers and motions stay those of the time at which the
matrix was made (docs/theory.md, 8). Side 2 n is that of the first member of pair n, 2 n + 1 that of the second.
"""

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import Matrix, Reals, Tables, Vector, along, dot, row, vector
from phlexible.step.kernels.vectors import mean_vector
from phlexible.step.tables.declarations import EDGE, INSET

TURNS = 3  # of a body, the most


@compiled
def is_rigid_edge(t: Tables, m: int) -> bool:
    """Return whether contact member m is an edge of a rigid body, which moves and rotates with it. Contact
    members are spheres, line segments and solids. ``t`` holds all tables (arrays) of the model and its state."""
    return t.member_kind[m] == EDGE and t.member_axis[6 * m] >= 0


@compiled
def is_rigid_member(t: Tables, m: int) -> bool:
    """Return whether all points of contact member m move with one rigid body or one node, or not at all.
    Contact members are spheres, line segments and solids. ``t`` holds all tables (arrays) of the model and
    its state."""
    b = t.vector_carrier[t.member_start[m]]
    if t.member_start[m] != t.member_end[m] and not is_rigid_edge(t, m):
        return b < 0 and t.vector_carrier[t.member_end[m]] < 0
    return b < 0 or b >= t.frames or t.velocities_count[b] == t.rigid_of[b]


@compiled
def store_side(t: Tables, side: int, m: int, s: float, normal: Vector, arm: Vector) -> int:
    """Store for one ``side`` of a contact pair in Newton's matrix how its rigid body's angular velocity moves the
    contact point (``t.held_motion``). How a force there acts goes to ``t.held_lever``. Side 2 n is the first member
    of pair n, 2 n + 1 the second. The contact point is at ``arm`` from the point at parameter s of member m,
    ``normal`` is the contact normal. Returned is 1 if the side moves, else 0; ``t`` holds all tables.

    The normal force of round members acts at their centres.
    """
    p = t.member_start[m]
    b = t.vector_carrier[p]
    t.held_carrier[side] = max(b, -1)
    if b < 0:
        return 0
    if b >= t.frames:
        return 1
    if t.member_kind[m] > INSET or is_rigid_edge(t, m):
        normal = vector(0.0, 0.0, 0.0)
    if is_rigid_edge(t, m):
        arm = arm + s * (mean_vector(t, t.member_end[m]) - mean_vector(t, p))
    axes, g, d = t.member_axis + 6 * m, t.end_dual + 6 * m, t.dimension
    point = t.lever_vectors_begin[p] + d
    for l in range(t.axes_of[b]):
        lever, motion = vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)
        for k in range(3):
            direction = axes[k]
            if axes[0] >= 0 and direction >= 0 and t.vector_carrier[direction] >= 0:
                share, place = dot(g[k], arm), t.lever_vectors_begin[direction] + d + l
                lever += share * t.lever[place]
                motion += share * t.motion[place]
        own = TURNS * side + l
        t.held_lever[own] = t.lever[point + l] + lever - dot(lever, normal) * normal
        t.held_motion[own] = t.motion[point + l] + motion - dot(motion, normal) * normal
    return 1


@compiled
def _rotation_count(t: Tables, b: int) -> int:
    return t.axes_of[b] if b < t.frames else 0


@compiled
def _side_displacement(t: Tables, side: int, x: Reals) -> Vector:
    """Return the displacement of the contact point of one side of a contact pair (2 n: first member of pair
    n, 2 n + 1: second) for a vector of velocities x, shape (velocities,). ``t`` holds all tables (arrays) of
    the model and its state."""
    b = t.held_carrier[side]
    if b < 0:
        return vector(0.0, 0.0, 0.0)
    own, d, half = x + t.velocities_begin[b], t.dimension, t.pair_half_step[0]
    moved = half * vector(own[0], own[1] if d > 1 else 0.0, own[2] if d > 2 else 0.0)
    motion = t.held_motion + TURNS * side
    for l in range(_rotation_count(t, b)):
        moved += own[d + l] * motion[l]
    return moved


@compiled
def _apply_side_force(t: Tables, side: int, f: Vector, y: Reals) -> None:
    """Add the generalized forces of a force f on the contact point of one side of a contact pair (2 n: first
    member of pair n, 2 n + 1: second) to the balances y, shape (velocities,). ``t`` holds all tables (arrays)
    of the model and its state."""
    b = t.held_carrier[side]
    if b < 0:
        return
    own, d, lever = y + t.velocities_begin[b], t.dimension, t.held_lever + TURNS * side
    for i in range(d):
        own[i] += along(f, i)
    for l in range(_rotation_count(t, b)):
        own[d + l] += dot(lever[l], f)


@compiled
def add_rigid_product(t: Tables, n: int, x: Reals, y: Reals, is_whole: bool) -> None:
    """Add to y the matrix of contact pair n between rigid bodies times velocities x. The pair is a 3 x 3
    stiffness between its contact points. Both have the shape (velocities,); without ``is_whole`` only the
    part that couples the two bodies is added. ``t`` holds all tables (arrays) of the model and its state."""
    first, second, slope = _side_displacement(t, 2 * n, x), _side_displacement(t, 2 * n + 1, x), t.held_slope[n]
    if is_whole:
        f = slope @ (first - second)
        _apply_side_force(t, 2 * n, f, y)
        _apply_side_force(t, 2 * n + 1, -1.0 * f, y)
    elif t.held_carrier[2 * n] >= 0 and t.held_carrier[2 * n + 1] >= 0:
        _apply_side_force(t, 2 * n, -1.0 * (slope @ second), y)
        _apply_side_force(t, 2 * n + 1, -1.0 * (slope @ first), y)


@compiled
def add_side_block(t: Tables, side: int, slope: Matrix) -> None:
    """Add the stiffness ``slope`` of a contact pair at one of its sides (2 n: first member of pair n, 2 n +
    1: second) to the block of this side's rigid body or node in ``t.blocks``, Newton's matrix. ``t`` holds
    all tables (arrays) of the model and its state."""
    b = t.held_carrier[side]
    if b < 0:
        return
    d, turns, half = t.dimension, _rotation_count(t, b), t.pair_half_step[0]
    block, stride = t.blocks, t.carrier_stride[b]
    if b >= t.frames:
        block = t.blocks + t.carrier_block[b]
    else:
        block, stride = t.blocks + t.node_diagonal[b], t.corner_stride[b]
    lever, motion = t.held_lever + TURNS * side, t.held_motion + TURNS * side
    for i in range(d):
        own, line = block + i * stride, row(slope, i)
        for j in range(d):
            own[j] += half * along(line, j)
        for l in range(turns):
            own[d + l] += dot(line, motion[l])
    for k in range(turns):
        own, line = block + (d + k) * stride, lever[k] @ slope
        for j in range(d):
            own[j] += half * along(line, j)
        for l in range(turns):
            own[d + l] += dot(line, motion[l])
