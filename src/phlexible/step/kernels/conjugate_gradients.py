"""Conjugate gradients for the linear system of a step of soft bodies, without its matrix (docs/theory.md, 5).

The system is that of (5.19), symmetric and positive definite. The preconditioner is the inverse of its diagonal
blocks, of one node each. Joints hold single nodes: residuals and inverses have the directions of their rows taken
out, so that velocities keep them, and multipliers follow from what is left of the balance.
"""

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import (
    Matrix,
    Tables,
    Vector,
    cross,
    dot,
    matrix,
    row,
    transposed,
    vector,
)
from phlexible.step.kernels.functions import gradients
from phlexible.step.kernels.laws import is_held
from phlexible.step.kernels.soft import slope_change, soft_gamma, start_slope

EXACT = 1e-14  # of the energy: what is left of the residual times the velocities
DEPENDENT = 1e-20  # a row whose direction is held already, relative, squared


@compiled
def outer(a: Vector, b: Vector) -> Matrix:
    """a b^T."""
    return matrix(a.x * b, a.y * b, a.z * b)


@compiled
def inverse_of(A: Matrix) -> Matrix:
    """Of a regular matrix."""
    x, y, z = row(A, 0), row(A, 1), row(A, 2)
    adjugate = transposed(matrix(cross(y, z), cross(z, x), cross(x, y)))
    return (1.0 / dot(x, cross(y, z))) * adjugate


@compiled
def set_node_inverses(t: Tables, h: float, damping: float) -> None:
    """Inverses of the diagonal blocks, in ``node_inverse``; all directions free."""
    one = matrix(vector(1.0, 0.0, 0.0), vector(0.0, 1.0, 0.0), vector(0.0, 0.0, 1.0))
    for b in range(t.carriers):
        t.node_free[b] = one
    for p in range(t.mass_pairs):
        if t.mass_first[p] == t.mass_second[p]:
            t.node_inverse[t.mass_first[p]] = t.mass[p] * one
    for e in range(t.soft_elements):
        g, k, first = t.soft_group[e], t.soft_count[e], t.soft_first[e]
        factor = 0.25 * h * h * (1.0 + 2.0 * soft_gamma(t, e, h, damping))
        for p in range(t.soft_point_count[e]):
            slope = t.soft_slope[e] + p * k
            weight = factor * t.soft_weight[t.soft_point[e] + p]
            x, y, z = start_slope(t, e, p, 0), start_slope(t, e, p, 1), start_slope(t, e, p, 2)
            spread = outer(x, x) + outer(y, y) + outer(z, z)
            for i in range(k):
                n, b = t.soft_gradient[slope + i], t.soft_node[first + i]
                a = n.x * x + n.y * y + n.z * z
                own = (weight * (t.soft_lame[g] + t.soft_shear[g])) * outer(a, a)
                t.node_inverse[b] = t.node_inverse[b] + own + (weight * t.soft_shear[g] * dot(n, n)) * spread
    for b in range(t.carriers):
        t.node_inverse[b] = inverse_of(t.node_inverse[b])


@compiled
def hold_nodes(t: Tables) -> None:
    """Bring the mean of ``linear0`` and ``linear1`` onto the joints, and take their rows out of the inverses."""
    for i in range(t.constraints):
        taken, node = 0, -1
        for m in range(t.interaction_start[i], t.interaction_start[i] + t.function_count[i]):
            b = held_node(t, m)
            if b < 0:
                continue
            g, Z = t.cg_direction[b], t.node_inverse[b]
            free, way = t.node_free[b] @ g, Z @ g
            if dot(free, free) > DEPENDENT * dot(g, g):
                size, node, taken = dot(g, way), b, taken + 1
                t.linear1[b] = t.linear1[b] - (dot(g, t.linear0[b] + t.linear1[b]) / size) * way
                t.node_inverse[b] = Z - (1.0 / size) * outer(way, way)
                t.node_free[b] = t.node_free[b] - (1.0 / dot(free, free)) * outer(free, free)
        if node >= 0 and taken == t.dimension:
            nothing = vector(0.0, 0.0, 0.0)
            t.node_free[node], t.node_inverse[node] = (
                matrix(nothing, nothing, nothing),
                matrix(nothing, nothing, nothing),
            )


@compiled
def held_node(t: Tables, m: int) -> int:
    """The node that a row holds, with its gradient in ``cg_direction`` there; -1 of a row that is not held."""
    if not is_held(t, m):
        return -1
    gradients(t, m)
    node, total = -1, vector(0.0, 0.0, 0.0)
    for e in range(t.function_part[m], t.function_part[m] + t.part_count[m]):
        node = t.vector_carrier[t.part_vector[e]]
        total += t.left[t.part_vector[e]]
    if node >= 0:
        t.cg_direction[node] = total
    return node


@compiled
def find_multipliers(t: Tables, h: float) -> None:
    """Forces of the joints that leave nothing of ``cg_residual`` along their rows, added to the multipliers."""
    for i in range(t.constraints):
        begin, count = t.interaction_start[i], t.function_count[i]
        first, second, third = vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)
        node = -1
        for r in range(count):
            b = held_node(t, begin + r)
            if b >= 0:
                node = b
                if r == 0:
                    first = t.cg_direction[b]
                elif r == 1:
                    second = t.cg_direction[b]
                else:
                    third = t.cg_direction[b]
        if node < 0:
            continue
        missing = (-1.0 / h) * t.cg_residual[node]
        if count == 1:
            t.multiplier1[begin] += dot(first, missing) / dot(first, first)
            continue
        if count == 2:
            third = cross(first, second)
        volume = dot(first, cross(second, third))
        t.multiplier1[begin] += dot(cross(second, third), missing) / volume
        t.multiplier1[begin + 1] += dot(cross(third, first), missing) / volume
        if count == 3:
            t.multiplier1[begin + 2] += dot(cross(first, second), missing) / volume


@compiled
def apply_matrix(t: Tables, h: float, damping: float) -> None:
    """``force_sum`` = (M + h^2/4 (1 + 2 gamma) L^T C^-1 L) ``shift`` at the places of the nodes."""
    for b in range(t.carriers):
        t.force_sum[b] = vector(0.0, 0.0, 0.0)
    for p in range(t.mass_pairs):
        t.force_sum[t.mass_first[p]] += t.mass[p] * t.shift[t.mass_second[p]]
    for e in range(t.soft_elements):
        g, k, first = t.soft_group[e], t.soft_count[e], t.soft_first[e]
        lame, shear = t.soft_lame[g], t.soft_shear[g]
        factor = 0.25 * h * h * (1.0 + 2.0 * soft_gamma(t, e, h, damping))
        for p in range(t.soft_point_count[e]):
            slope, weight = t.soft_slope[e] + p * k, factor * t.soft_weight[t.soft_point[e] + p]
            x, y, z = start_slope(t, e, p, 0), start_slope(t, e, p, 1), start_slope(t, e, p, 2)
            u, v, w = slope_change(t, e, p, 0), slope_change(t, e, p, 1), slope_change(t, e, p, 2)
            e0, e1, e2 = dot(x, u), dot(y, v), dot(z, w)
            trace = lame * (e0 + e1 + e2)
            s0, s1, s2 = trace + 2.0 * shear * e0, trace + 2.0 * shear * e1, trace + 2.0 * shear * e2
            s3 = shear * (dot(y, w) + dot(z, v))
            s4, s5 = shear * (dot(x, w) + dot(z, u)), shear * (dot(x, v) + dot(y, u))
            tx = weight * (s0 * x + s5 * y + s4 * z)
            ty = weight * (s5 * x + s1 * y + s3 * z)
            tz = weight * (s4 * x + s3 * y + s2 * z)
            for i in range(k):
                n = t.soft_gradient[slope + i]
                t.force_sum[t.soft_node[first + i]] += n.x * tx + n.y * ty + n.z * tz


@compiled
def conjugate_gradients(t: Tables, h: float, damping: float, least_speed: float, most: int) -> int:
    """Add to ``linear1`` what makes ``cg_residual`` vanish, the right side minus the matrix times it; iterations.

    -1: more than ``most`` of them, or no numbers. Directions are preconditioned by ``node_inverse``.
    """
    goal = 0.0
    for b in range(t.carriers):
        t.shift[b] = t.linear1[b]
    apply_matrix(t, h, damping)
    for b in range(t.carriers):
        goal += dot(t.force_sum[b], t.linear1[b])
    for p in range(t.mass_pairs):
        if t.mass_first[p] == t.mass_second[p]:
            goal += t.mass[p] * least_speed * least_speed
    goal *= EXACT * EXACT
    size = 0.0
    for b in range(t.carriers):
        t.cg_residual[b] = t.node_free[b] @ t.cg_residual[b]
        t.shift[b] = t.node_inverse[b] @ t.cg_residual[b]
        size += dot(t.shift[b], t.cg_residual[b])
    for iteration in range(most):
        if size <= goal:
            return iteration
        apply_matrix(t, h, damping)
        curvature = 0.0
        for b in range(t.carriers):
            curvature += dot(t.shift[b], t.force_sum[b])
        if not curvature > 0.0:
            return -1
        length, before, size = size / curvature, size, 0.0
        for b in range(t.carriers):
            t.linear1[b] += length * t.shift[b]
            t.cg_residual[b] = t.node_free[b] @ (t.cg_residual[b] - length * t.force_sum[b])
            t.cg_direction[b] = t.node_inverse[b] @ t.cg_residual[b]
            size += dot(t.cg_direction[b], t.cg_residual[b])
        for b in range(t.carriers):
            t.shift[b] = t.cg_direction[b] + (size / before) * t.shift[b]
    return -1
