"""World vectors over one step: values, derivatives, and how forces on them enter the balances (docs/theory.md, 4).

A point is x_c + R rho, a direction R rho, with rho = x0 + P eta. A force f on it enters the balances of
V, w and deta/dt as (4.9)::

    f (points only),   A^-1 (mean(R rho) x f),   P^T A^-1 f          A^-1 = (I - [a]) R_n^T

that is as lever_i . f for velocity i; and dx_{n+1} = sum_i motion_i dnu_i (4.11).
"""

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import (
    Matrix,
    Reals,
    Tables,
    Vector,
    along,
    cross,
    dot,
    matrix,
    row,
    transposed,
    vector,
)
from phlexible.step.kernels.blocks import has_segments
from phlexible.step.kernels.floating_bodies import add_column, add_components, rotation_axis, unit
from phlexible.step.kernels.rods import add_rod_forces
from phlexible.step.tables.declarations import GIVEN, MOVING


@compiled
def body_vector(t: Tables, k: int, eta: Reals) -> Vector:
    """Return point or direction k of a floating body in body axes, relative to the centre of mass, at elastic
    coordinates eta. It is the undeformed vector plus the sum of shape functions times eta; only the range of
    coordinates that move the vector is used. ``t`` contains all arrays of the model and its state."""
    rho, P, first = t.vector_base[k], t.shape + t.shape_vectors_begin[k], t.vector_first[k]
    for j in range(t.vector_last[k] - first):
        rho += eta[first + j] * P[j]
    return rho


@compiled
def begin_vectors(t: Tables) -> None:
    """Compute the world positions of all points, and all directions in world axes, at the start of the time step,
    in ``t.world0``. Vectors from the centre of mass of floating bodies go to ``t.arm0``. For vectors that are
    fixed (0) or prescribed functions of time, the change in the time step is stored in ``t.change``. ``t``
    contains all arrays of the model and its state."""
    for k in range(t.vectors):
        b = t.vector_carrier[k]
        if b == GIVEN:
            t.world0[k], t.change[k] = t.vector_base[k], vector(0.0, 0.0, 0.0)
        elif b == MOVING:
            moving = t.vector_moving[k]
            t.world0[k], t.change[k] = t.moving0[moving], t.moving1[moving] - t.moving0[moving]
        elif b >= t.frames:
            t.world0[k] = t.position[b]
        else:
            arm = t.rotation[b] @ body_vector(t, k, t.eta + t.elastic_begin[b])
            t.arm0[k] = arm
            t.world0[k] = t.position[b] + arm if t.vector_is_point[k] == 1 else arm


@compiled
def end_vectors(t: Tables) -> None:
    """Compute the changes in the time step of all points and directions on bodies and nodes, in world axes, and
    store them in ``t.change``. Vectors from centres of mass at the end go to ``t.arm1``; the forces ``t.pull`` on
    all vectors are set to zero. Prescribed vectors are left out. ``t`` contains all arrays of the model and its
    state."""
    for k in range(t.vectors):
        b = t.vector_carrier[k]
        t.pull[k] = vector(0.0, 0.0, 0.0)
        if b >= t.frames:
            t.change[k] = t.shift[b]
        elif b >= 0:
            arm = t.rotation1[b] @ body_vector(t, k, t.xi1 + (t.coordinates_begin[b] + 1))
            t.arm1[k] = arm
            change = arm - t.arm0[k]
            t.change[k] = change + t.shift[b] if t.vector_is_point[k] == 1 else change


@compiled
def vector_rates(t: Tables) -> None:
    """Compute the rates at the start of the time step of all points and directions on bodies and nodes, in world
    axes. They are stored in the table ``t.change``, where controllers read them. ``t`` contains all arrays of the
    model and its state."""
    for k in range(t.vectors):
        b = t.vector_carrier[k]
        if b >= t.frames:
            t.change[k] = t.linear0[b]
        elif b >= 0:
            rate, P, first = vector(0.0, 0.0, 0.0), t.shape + t.shape_vectors_begin[k], t.vector_first[k]
            for j in range(t.vector_last[k] - first):
                rate += t.rate0[t.coordinates_begin[b] + 1 + first + j] * P[j]
            w = t.rotation[b] @ t.spin0[b]
            rate = cross(w, t.arm0[k]) + t.rotation[b] @ rate
            t.change[k] = rate + t.linear0[b] if t.vector_is_point[k] == 1 else rate


@compiled
def outer(a: Vector, b: Vector) -> Matrix:
    """Return the outer product a b^T of two vectors, a 3 x 3 matrix."""
    return matrix(a.x * b, a.y * b, a.z * b)


@compiled
def zero_matrix() -> Matrix:
    """Return a 3 x 3 matrix of zeros."""
    nothing = vector(0.0, 0.0, 0.0)
    return matrix(nothing, nothing, nothing)


@compiled
def mean_vector(t: Tables, k: int) -> Vector:
    """Return the mean over the time step of point or direction k in world axes: its value at the start plus half
    its change. ``t`` contains all arrays of the model and its state."""
    return t.world0[k] + 0.5 * t.change[k]


@compiled
def mean_directions(t: Tables, i: int, j: int, k: int) -> Matrix:
    """Return the 3 x 3 matrix whose rows are the points or directions i, j, k at the mean of the time step. They
    are in world axes, say the axes of a frame that is fixed to a body. ``t`` contains all arrays of the model and
    its state."""
    return matrix(mean_vector(t, i), mean_vector(t, j), mean_vector(t, k))


@compiled
def solve_moment(D: Matrix, moment: Vector) -> Vector:
    """Return the vector u for which the forces u x d_i on three directions d_i of a body have a given ``moment``.
    That is the sum of d_i x (u x d_i); the d_i are the rows of D. The 3 x 3 system is solved by its adjugate; that
    it is regular is not checked. See docs/theory.md, 4, (4.16).
    """
    spread = transposed(D) @ D
    size = dot(row(D, 0), row(D, 0)) + dot(row(D, 1), row(D, 1)) + dot(row(D, 2), row(D, 2))
    x, y, z = (size * unit(0) - row(spread, 0), size * unit(1) - row(spread, 1), size * unit(2) - row(spread, 2))
    adjugate = matrix(cross(y, z), cross(z, x), cross(x, y))
    return (1.0 / dot(x, cross(y, z))) * (adjugate @ moment)


@compiled
def mean_difference(t: Tables, y: int) -> Vector:
    """Return the mean over the time step of difference vector number y (mostly one point minus another), in
    world axes. It is the value at the start plus half the change. ``t`` contains all arrays of the model and
    its state."""
    return t.chord0[y] + 0.5 * t.chord_change[y]


@compiled
def end_difference(t: Tables, y: int) -> Vector:
    """Return difference vector number y (mostly one point minus another) at the end of the time step, in world
    axes. It is the value at the start plus the change. ``t`` contains all arrays of the model and its state."""
    return t.chord0[y] + t.chord_change[y]


@compiled
def apply_forces(t: Tables, h: float) -> None:
    """Subtract h times all forces from the balances of bodies and nodes in ``t.residual``: the forces ``t.pull``
    on points and directions, forces of rods, and weights. Moments and elastic forces are computed at the mean
    pose; moments are balanced in body axes. The sums of forces and moments in world axes are stored in
    ``t.force_sum`` and ``t.moment_sum``. See docs/theory.md, 4, (4.6 to 4.9). ``t`` contains all arrays of the
    model and its state."""
    d = t.dimension
    for b in range(t.carriers):
        t.force_sum[b] = t.weight[b]
    for b in range(t.frames):
        t.moment_sum[b] = vector(0.0, 0.0, 0.0)
    add_rod_forces(t)
    for k in range(t.vectors):
        b, f = t.vector_carrier[k], t.pull[k]
        if b >= 0 and t.vector_is_point[k] == 1:
            t.force_sum[b] += f
        if 0 <= b < t.frames:
            t.moment_sum[b] += 0.5 * cross(t.arm0[k] + t.arm1[k], f)
            first, count = t.vector_first[k], t.vector_last[k] - t.vector_first[k]
            if count > 0:
                rows, P = (
                    t.residual + (t.velocities_begin[b] + t.rigid_of[b] + first),
                    t.shape + t.shape_vectors_begin[k],
                )
                g = h * (t.inverse_mean[b] @ f)
                for j in range(count):
                    rows[j] -= dot(P[j], g)
    for b in range(t.carriers):
        add_components(t.residual + t.velocities_begin[b], 1, -h * t.force_sum[b], d)
    for b in range(t.frames):
        rows, axes = t.residual + (t.velocities_begin[b] + d), t.axes_of[b]
        y = h * (t.inverse_mean[b] @ t.moment_sum[b])
        for l in range(axes):
            rows[l] -= along(y, rotation_axis(l, axes))


@compiled
def levers_and_motions(t: Tables, k: int, h: float) -> None:
    """Compute the motion and the lever of point or direction k for each velocity that moves it, and store them in
    ``t.motion`` and ``t.lever``. The motion is the derivative of the vector at the end of a time step of length h
    [s], in world axes, with respect to the end velocity. The scalar product of lever and force is the generalized
    force, at the mean pose. ``t`` contains all arrays of the model and its state."""
    b, d = t.vector_carrier[k], t.dimension
    lever, motion, is_point = (
        t.lever + t.lever_vectors_begin[k],
        t.motion + t.lever_vectors_begin[k],
        t.vector_is_point[k],
    )
    for i in range(d):
        lever[i], motion[i] = float(is_point) * unit(i), (0.5 * h * is_point) * unit(i)
    if b >= t.frames:
        return
    axes, a, B, R1 = t.axes_of[b], t.half_turn[b], t.inverse_mean[b], t.rotation1[b]
    mean, end = 0.5 * (t.arm0[k] + t.arm1[k]), (0.5 * h / (1.0 + dot(a, a))) * t.arm1[k]
    for l in range(axes):
        turned = row(B, rotation_axis(l, axes))
        lever[d + l], motion[d + l] = cross(turned, mean), cross(turned, end)
    P, lever, motion = t.shape + t.shape_vectors_begin[k], lever + (d + axes), motion + (d + axes)
    for j in range(t.vector_last[k] - t.vector_first[k]):
        lever[j], motion[j] = P[j] @ B, (0.5 * h) * (R1 @ P[j])


@compiled
def velocity_count(t: Tables, k: int) -> int:
    """Return how many velocities of a floating body or node move point or direction k, which it carries. They are
    linear and angular velocities, and the rates of those elastic coordinates whose shape functions are not zero at
    the point. ``t`` contains all arrays of the model and its state."""
    return t.rigid_of[t.vector_carrier[k]] + t.vector_last[k] - t.vector_first[k]


@compiled
def velocity_index(t: Tables, k: int, i: int) -> int:
    """Return the index, among the velocities of its carrier (floating body or node), of the i-th velocity that
    moves point or direction k. ``t`` contains all arrays of the model and its state."""
    return i if i < t.rigid_of[t.vector_carrier[k]] else i + t.vector_first[k]


@compiled
def add_force_tangents(t: Tables, h: float) -> None:
    """Subtract derivatives of the generalized forces on floating bodies from the diagonal blocks of the bodies in
    Newton's matrix ``t.blocks``. Forces on points stay constant; the derivatives arise since moment arms and axes
    rotate with the body, and arms deform with it. h is the length of the time step [s]. See docs/theory.md, 4,
    (4.12). ``t`` contains all arrays of the model and its state."""
    d = t.dimension
    for b in range(t.frames):
        axes, width, block = t.axes_of[b], t.corner_stride[b], t.blocks + t.node_diagonal[b]
        m = t.moment_sum[b] @ t.rotation[b]
        for l in range(axes):
            e = (0.25 * h * h) * unit(rotation_axis(l, axes))
            add_column(block + (d * width + d + l), width, cross(e, m), axes)
    for k in range(t.vectors):
        b = t.vector_carrier[k]
        if not 0 <= b < t.frames or t.axes_of[b] == 0:
            continue
        axes, across, down = t.axes_of[b], t.corner_stride[b], t.bottom_stride[b]
        f, motion, B = t.pull[k], t.motion + t.lever_vectors_begin[k], t.inverse_mean[b]
        corner, bottom = t.blocks + (t.node_diagonal[b] + d * across), t.blocks + (t.bottom[b] + d * down)
        for i in range(d, d + axes):
            add_column(corner + i, across, (-0.5 * h) * (B @ cross(motion[i], f)), axes)
        if t.vector_last[k] == t.vector_first[k]:
            continue
        motion, bottom = motion + (d + axes), bottom + t.vector_first[k]
        for j in range(t.vector_last[k] - t.vector_first[k]):
            add_column(bottom + j, down, (-0.5 * h) * (B @ cross(motion[j], f)), axes)
        phi, P = f @ t.rotation[b], t.shape + t.shape_vectors_begin[k]
        side = t.blocks + (t.side[b] + t.vector_first[k] * t.side_stride[b] + d)
        for l in range(axes):
            g = cross((0.25 * h * h) * unit(rotation_axis(l, axes)), phi)
            for j in range(t.vector_last[k] - t.vector_first[k]):
                side[j * t.side_stride[b] + l] += dot(P[j], g)


@compiled
def subtract_coupling(t: Tables, c: float, block: Reals, k: int, l: int, h: float) -> None:
    """Subtract from a ``block`` of Newton's matrix the derivative of a force c dx_l on point k with respect to the
    velocities of point l. dx_l is the displacement of point l in a time step of length h [s]. The derivative is c
    lever_k^T dx_l/dnu_l, with the levers and motions that ``t`` has; rows are velocities of the body or node of k,
    columns those of l. For two nodes it is c h/2 on the diagonal. If l is on a flexible body, and k on another one
    or the body has segments, columns are auxiliary unknowns, one for each component of dx_l, and c lever_k^T is
    subtracted.
    """
    a, b, d = t.vector_carrier[k], t.vector_carrier[l], t.dimension
    if a >= t.frames and b >= t.frames:  # two nodes
        for i in range(d):
            block[i * t.carrier_stride[b] + i] -= 0.5 * h * c
        return
    lever, motion = t.lever + t.lever_vectors_begin[k], t.motion + t.lever_vectors_begin[l]
    is_auxiliary = t.velocities_count[b] > t.rigid_of[b] and (a != b or has_segments(t, b))
    count = d if is_auxiliary else velocity_count(t, l)
    width = d if is_auxiliary else t.carrier_stride[b]
    for i in range(velocity_count(t, k)):
        line, q = block + velocity_index(t, k, i) * width, c * lever[i]
        for j in range(count):
            if is_auxiliary:
                line[j] -= along(q, j)
            else:
                line[velocity_index(t, l, j)] -= dot(q, motion[j])
