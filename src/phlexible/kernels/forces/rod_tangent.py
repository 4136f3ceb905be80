"""Derivative of the forces of rods to the velocities of their sections at the end of the step (docs/theory.md, 8).

A section's directors turn by delta = c A^-T dw with c = h / 2(1 + a.a), its place moves by h/2 dV. On the balances
act -h times forces and -h A^-1 times moments. Both depend on the motion through the stresses, which gives products
of gradients at the mean and at the end, and through the directors and places that the stresses act along. All is in
3 x 3 blocks, also in the plane.
"""

from phlexible.compilation.compiled import compiled, exported
from phlexible.compilation.notation import Matrix, Reals, Tables, Vector, along, cross, dot, matrix, row, transposed
from phlexible.kernels.forces.rods import (
    mean_along,
    mean_directors,
    mean_section,
    on_directors,
    turns_of_bending,
)
from phlexible.kernels.moments import crossing, one, trace


@exported
def rod_tangent(t: Tables, h: float) -> None:
    """Add it to the blocks of all pairs of sections that share an element."""
    for p in range(t.rod_points):
        first, count = t.rod_first[p], t.rod_count[p]
        X, D, S = mean_along(t, p), mean_directors(t, 2 * p), mean_directors(t, 2 * p + 1)
        X1, D1, S1 = X + 0.5 * t.rod_change[p], D + 0.5 * t.rod_turn[2 * p], S + 0.5 * t.rod_turn[2 * p + 1]
        L, s = t.rod_share + 3 * p, t.rod_stiffness + 6 * p
        of_first, mixed = _scaled(transposed(L[0]), s, h), _scaled(transposed(L[1]), s, h)
        # h d(stretching, bending) / d(Gamma, K)
        aa, ab, ba = L[0] @ of_first, L[0] @ mixed, L[1] @ of_first
        bb = L[1] @ mixed + L[2] @ _scaled(transposed(L[2]), s + 3, h)
        stretch_moved, bend_moved = aa @ (0.5 * h * D1), ba @ (0.5 * h * D1)  # where places move by S_l
        push_moved = transposed(D) @ stretch_moved
        for k in range(count):  # moments of unit stresses, in columns; those of forces where places move
            N, own = t.rod_value[first + k], mean_section(t, t.rod_node[first + k])
            stretch = transposed(_crossed_rows(own, N * X))
            bend = transposed(turns_of_bending(own, 0.5 * (t.rod_slope[first + k] * D - N * S)))
            moved = (
                (-0.25 * h * h * N) * crossing(t.rod_pull[2 * p] @ own)
                - stretch @ stretch_moved
                - bend @ bend_moved
            )
            t.rod_left[3 * k], t.rod_left[3 * k + 1] = stretch, bend
            t.rod_left[3 * k + 2] = t.inverse_mean[t.rod_node[first + k]] @ moved
        for l in range(count):  # the section that moves and turns, by delta in world axes
            b, N, slope = t.rod_node[first + l], t.rod_value[first + l], t.rod_slope[first + l]
            own, a = transposed(t.rotation1[b]), t.half_turn[b]
            delta = (0.5 * h / (1.0 + dot(a, a))) * transposed(t.inverse_mean[b])
            turned, bent = N * _crossed_rows(own, X1), 0.5 * turns_of_bending(own, slope * D1 - N * S1)
            stretch_turned, bend_turned = aa @ turned + ab @ bent, ba @ turned + bb @ bent
            push_turned = transposed(D) @ stretch_turned - (0.5 * h * N) * crossing(t.rod_pull[2 * p] @ own)
            push_turned = push_turned @ delta
            for k in range(count):
                S_k = t.rod_slope[first + k]
                into = -1.0 * (t.rod_left[3 * k] @ stretch_turned + t.rod_left[3 * k + 1] @ bend_turned)
                if k == l:
                    into += (0.5 * h) * curl(t.rotation1[b] @ on_directors(t, p, k, X, D, S))  # (4.12)
                else:
                    into -= (0.25 * h * (S_k * N - t.rod_value[first + k] * slope)) * _turning(t, p, k, l)
                _add(
                    t,
                    t.blocks + t.rod_block[t.rod_pair[p] + k * count + l],
                    t.width_of[b],
                    (-S_k * slope) * push_moved,
                    -S_k * push_turned,
                    slope * t.rod_left[3 * k + 2],
                    t.inverse_mean[t.rod_node[first + k]] @ into @ delta,
                )


@compiled
def _crossed_rows(M: Matrix, a: Vector) -> Matrix:
    """M [a]: rows of M, each x a."""
    return matrix(cross(row(M, 0), a), cross(row(M, 1), a), cross(row(M, 2), a))


@compiled
def _scaled(M: Matrix, s: Reals, h: float) -> Matrix:
    """Rows times h s."""
    return matrix((h * s[0]) * row(M, 0), (h * s[1]) * row(M, 1), (h * s[2]) * row(M, 2))


@compiled
def _add(t: Tables, block: Reals, width: int, vv: Matrix, vw: Matrix, wv: Matrix, ww: Matrix) -> None:
    """Add to a block of rows (V, w) and columns (V, w)."""
    if t.dimension == 2:
        block[0] += row(vv, 0).x
        block[1] += row(vv, 0).y
        block[2] += row(vw, 0).z
        block[3] += row(vv, 1).x
        block[4] += row(vv, 1).y
        block[5] += row(vw, 1).z
        block[6] += row(wv, 2).x
        block[7] += row(wv, 2).y
        block[8] += row(ww, 2).z
        return
    _add_matrix(block, vv, width)
    _add_matrix(block + 3, vw, width)
    _add_matrix(block + 3 * width, wv, width)
    _add_matrix(block + (3 * width + 3), ww, width)


@compiled
def _add_matrix(block: Reals, M: Matrix, width: int) -> None:
    for i in range(3):
        for j in range(3):
            block[i * width + j] += along(row(M, i), j)


@compiled
def _turning(t: Tables, p: int, k: int, l: int) -> Matrix:
    """Moments on section k of bending along directors that turn with section l."""
    b, other = t.rod_node[t.rod_first[p] + k], t.rod_node[t.rod_first[p] + l]
    return curl(_crossed_rows(t.rotation1[other], t.rod_pull[2 * p + 1]) @ mean_section(t, b))


@compiled
def curl(M: Matrix) -> Matrix:
    """tr(M) 1 - M: sum of u x (d x v) is this times d, for M = sum of v u^T."""
    return trace(M) * one() - M
