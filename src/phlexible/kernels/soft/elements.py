"""Forces of the elements of soft bodies over a step, and their exact derivative (docs/theory.md, 5).

With F_a = sum_i g_ia x_i at a quadrature point and C_ab = F_a . F_b, delta(C_ab) = delta(F_a) . mean(F_b) +
mean(F_a) . delta(F_b) exactly, so that forces sum_ab S_ab g_ia mean(F_b) do the work S : delta(E) (5.13). Positions
are taken from the first node of an element: far from the origin sums would cancel.
"""

from phlexible.compilation.compiled import compiled, exported
from phlexible.compilation.notation import Tables, Vector, along, dot, vector
from phlexible.kernels.soft.laws import density, mean_stress, write_tangent
from phlexible.kernels.soft.slopes import slope_along


@compiled
def start_slope(t: Tables, e: int, p: int, a: int) -> Vector:
    """F_a at the start of the step, at point p of element e."""
    k, nodes = t.soft_count[e], t.soft_node + t.soft_first[e]
    return slope_along(t.position, nodes, t.soft_gradient + (t.soft_slope[e] + p * k), k, a)


@compiled
def slope_change(t: Tables, e: int, p: int, a: int) -> Vector:
    """delta(F_a)."""
    k, nodes = t.soft_count[e], t.soft_node + t.soft_first[e]
    return slope_along(t.shift, nodes, t.soft_gradient + (t.soft_slope[e] + p * k), k, a)


@compiled
def metric_diagonal(t: Tables, e: int, x: Vector, y: Vector, z: Vector) -> Vector:
    """C_11, C_22, C_33 of F_a = x, y, z."""
    across = 1.0 if t.soft_sheet[t.soft_group[e]] == 1 else dot(z, z)
    return vector(dot(x, x), dot(y, y), across)


@compiled
def soft_gamma(t: Tables, e: int, h: float, damping: float) -> float:
    """tau / h + numerical damping."""
    return t.soft_viscosity[t.soft_group[e]] / h + damping


@exported
def add_soft_forces(t: Tables, h: float, damping: float) -> None:
    """Add h times what the elements pull to the balances of their nodes; the work of it, and its parts."""
    stored, lost, size = 0.0, 0.0, 0.0
    for e in range(t.soft_elements):
        g, gamma, k, first = t.soft_group[e], soft_gamma(t, e, h, damping), t.soft_count[e], t.soft_first[e]
        for p in range(t.soft_point_count[e]):
            weight, slope = t.soft_weight[t.soft_point[e] + p], t.soft_slope[e] + p * k
            x, y, z = start_slope(t, e, p, 0), start_slope(t, e, p, 1), start_slope(t, e, p, 2)
            dx, dy, dz = slope_change(t, e, p, 0), slope_change(t, e, p, 1), slope_change(t, e, p, 2)
            mx, my, mz = x + 0.5 * dx, y + 0.5 * dy, z + 0.5 * dz
            c, o = metric_diagonal(t, e, x, y, z), vector(dot(y, z), dot(x, z), dot(x, y))
            dc = vector(2.0 * dot(mx, dx), 2.0 * dot(my, dy), 2.0 * dot(mz, dz))
            do = vector(dot(my, dz) + dot(mz, dy), dot(mx, dz) + dot(mz, dx), dot(mx, dy) + dot(my, dx))
            s, r = mean_stress(t, g, c, o, dc, do, 0.0)
            change = weight * (0.5 * dot(s, dc) + dot(r, do))
            if gamma != 0.0:
                v, q = mean_stress(t, g, c, o, dc, do, gamma)
                lost += weight * (0.5 * dot(v - s, dc) + dot(q - r, do))
                s, r = v, q
            stored += change
            size += abs(change)
            tx = (h * weight) * (s.x * mx + r.z * my + r.y * mz)
            ty = (h * weight) * (r.z * mx + s.y * my + r.x * mz)
            tz = (h * weight) * (r.y * mx + r.x * my + s.z * mz)
            for i in range(k):
                n = t.soft_gradient[slope + i]
                pull = n.x * tx + n.y * ty + n.z * tz
                rows = t.residual + t.velocity_start[t.soft_node[first + i]]
                for d in range(t.dimension):
                    rows[d] += along(pull, d)
    t.soft_work[0], t.soft_work[1], t.soft_loss[0] = stored, size, lost


@exported
def soft_tangent(t: Tables, h: float, damping: float) -> None:
    """Add the derivative of ``add_soft_forces`` to the blocks of the nodes."""
    for e in range(t.soft_elements):
        for p in range(t.soft_point_count[e]):
            _point_tangent(t, e, p, h, damping)


@compiled
def _point_tangent(t: Tables, e: int, p: int, h: float, damping: float) -> None:
    g, gamma, k, first = t.soft_group[e], soft_gamma(t, e, h, damping), t.soft_count[e], t.soft_first[e]
    weight, slope = 0.5 * h * h * t.soft_weight[t.soft_point[e] + p], t.soft_slope[e] + p * k
    x, y, z = start_slope(t, e, p, 0), start_slope(t, e, p, 1), start_slope(t, e, p, 2)
    dx, dy, dz = slope_change(t, e, p, 0), slope_change(t, e, p, 1), slope_change(t, e, p, 2)
    mx, my, mz = x + 0.5 * dx, y + 0.5 * dy, z + 0.5 * dz
    ex, ey, ez = x + dx, y + dy, z + dz
    c, o = metric_diagonal(t, e, x, y, z), vector(dot(y, z), dot(x, z), dot(x, y))
    dc = vector(2.0 * dot(mx, dx), 2.0 * dot(my, dy), 2.0 * dot(mz, dz))
    do = vector(dot(my, dz) + dot(mz, dy), dot(mx, dz) + dot(mz, dx), dot(mx, dy) + dot(my, dx))
    s, r = mean_stress(t, g, c, o, dc, do, gamma)
    write_tangent(t, g, c, o, dc, do, gamma)
    D = t.soft_tangent
    for j in range(k):
        n, b = t.soft_gradient[slope + j], t.soft_node[first + j]
        width = t.carrier_stride[b]
        m = (0.5 * weight) * vector(
            s.x * n.x + r.z * n.y + r.y * n.z, r.z * n.x + s.y * n.y + r.x * n.z, r.y * n.x + r.x * n.y + s.z * n.z
        )
        for axis in range(t.dimension):
            u, v, w = weight * along(ex, axis), weight * along(ey, axis), weight * along(ez, axis)
            e0, e1, e2 = n.x * u, n.y * v, n.z * w
            e3, e4, e5 = n.y * w + n.z * v, n.x * w + n.z * u, n.x * v + n.y * u
            s0 = D[0] * e0 + D[6] * e1 + D[12] * e2 + D[18] * e3 + D[24] * e4 + D[30] * e5
            s1 = D[1] * e0 + D[7] * e1 + D[13] * e2 + D[19] * e3 + D[25] * e4 + D[31] * e5
            s2 = D[2] * e0 + D[8] * e1 + D[14] * e2 + D[20] * e3 + D[26] * e4 + D[32] * e5
            s3 = D[3] * e0 + D[9] * e1 + D[15] * e2 + D[21] * e3 + D[27] * e4 + D[33] * e5
            s4 = D[4] * e0 + D[10] * e1 + D[16] * e2 + D[22] * e3 + D[28] * e4 + D[34] * e5
            s5 = D[5] * e0 + D[11] * e1 + D[17] * e2 + D[23] * e3 + D[29] * e4 + D[35] * e5
            tx = s0 * mx + s5 * my + s4 * mz
            ty = s5 * mx + s1 * my + s3 * mz
            tz = s4 * mx + s3 * my + s2 * mz
            for i in range(k):
                own = t.soft_gradient[slope + i]
                pull = own.x * tx + own.y * ty + own.z * tz
                block = t.blocks + (t.soft_block[t.soft_pair[e] + i * k + j] + axis)
                for d in range(t.dimension):
                    block[d * width] += along(pull, d)
                block[axis * width] += dot(own, m)


@exported
def soft_energy(t: Tables) -> float:
    """What all elements store at the state [J]."""
    stored = 0.0
    for e in range(t.soft_elements):
        for p in range(t.soft_point_count[e]):
            x, y, z = start_slope(t, e, p, 0), start_slope(t, e, p, 1), start_slope(t, e, p, 2)
            c, o = metric_diagonal(t, e, x, y, z), vector(dot(y, z), dot(x, z), dot(x, y))
            stored += t.soft_weight[t.soft_point[e] + p] * density(t, t.soft_group[e], c, o)
    return stored
