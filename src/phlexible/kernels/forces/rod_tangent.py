"""Derivative of the forces of rods to the velocities of their sections at the end of the step (docs/theory.md, 8).

A section's directors turn by delta = c A^-T dw with c = h / 2(1 + a.a), its place moves by h/2 dV. On the balances
act -h times forces and -h A^-1 times moments. Both depend on the motion through the stresses, which gives products
of gradients at the mean and at the end, and through the directors and places that the stresses act along. All is in
3 x 3 blocks, also in the plane.
"""

from phlexible.compilation.compiled import compiled, exported
from phlexible.compilation.notation import Matrix, Reals, Tables, along, dot, matrix, row, transposed
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
        first = t.rod_first[p]
        X, D, S = mean_along(t, p), mean_directors(t, 2 * p), mean_directors(t, 2 * p + 1)
        X1, D1, S1 = X + 0.5 * t.rod_change[p], D + 0.5 * t.rod_turn[2 * p], S + 0.5 * t.rod_turn[2 * p + 1]
        for k in range(t.rod_count[p]):  # gradients of Gamma and K to w, in columns; moments of forces that move
            b, N = t.rod_node[first + k], t.rod_value[first + k]
            own, B = mean_section(t, b), t.inverse_mean[b]
            t.rod_left[3 * k] = B @ transposed(own @ crossing(N * X))
            t.rod_left[3 * k + 1] = B @ transposed(
                turns_of_bending(own, 0.5 * (t.rod_slope[first + k] * D - N * S))
            )
            t.rod_left[3 * k + 2] = (-0.25 * h * h * N) * (B @ crossing(t.rod_pull[2 * p] @ own))
        L, s = t.rod_share + 3 * p, t.rod_stiffness + 6 * p
        of_first, of_second = _scaled(transposed(L[0]), s, h), _scaled(transposed(L[2]), s + 3, h)
        mixed = _scaled(transposed(L[1]), s, h)
        for l in range(t.rod_count[p]):
            b, N, slope = t.rod_node[first + l], t.rod_value[first + l], t.rod_slope[first + l]
            own, a, B = transposed(t.rotation1[b]), t.half_turn[b], transposed(t.inverse_mean[b])
            c = 0.5 * h / (1.0 + dot(a, a))
            moved = (0.5 * h * slope) * D1  # gradients at the end, in rows
            turned = (c * N) * (own @ crossing(X1) @ B)
            bent = (0.5 * c) * (turns_of_bending(own, slope * D1 - N * S1) @ B)
            law_moved, law_turned = of_first @ moved, of_first @ turned + mixed @ bent  # h dF of the laws of L_1
            stress_moved, stress_turned = L[0] @ law_moved, L[0] @ law_turned
            bend_moved, bend_turned = L[1] @ law_moved, L[1] @ law_turned + L[2] @ (of_second @ bent)
            push_moved, push_turned = transposed(D) @ stress_moved, transposed(D) @ stress_turned
            push_turned -= (0.5 * h * c * N) * (crossing(t.rod_pull[2 * p] @ own) @ B)
            for k in range(t.rod_count[p]):
                stretch, bend, move = t.rod_left[3 * k], t.rod_left[3 * k + 1], t.rod_left[3 * k + 2]
                into = -1.0 * (stretch @ stress_turned + bend @ bend_turned)
                if k == l:
                    into += _own_turning(t, p, k, h, c, on_directors(t, p, k, X, D, S))
                else:
                    into += _turning(t, p, k, l, h, c)
                _add(
                    t,
                    t.blocks + t.rod_block[t.rod_pair[p] + k * t.rod_count[p] + l],
                    t.width_of[b],
                    -t.rod_slope[first + k] * push_moved,
                    -t.rod_slope[first + k] * push_turned,
                    slope * move - stretch @ stress_moved - bend @ bend_moved,
                    into,
                )


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
def _turning(t: Tables, p: int, k: int, l: int, h: float, c: float) -> Matrix:
    """Moments of bending along directors that turn with section l."""
    first = t.rod_first[p]
    b, other = t.rod_node[first + k], t.rod_node[first + l]
    share = 0.25 * (
        t.rod_slope[first + k] * t.rod_value[first + l] - t.rod_value[first + k] * t.rod_slope[first + l]
    )
    turned = t.rotation1[other] @ crossing(t.rod_pull[2 * p + 1]) @ mean_section(t, b)
    return (-h * c * share) * (t.inverse_mean[b] @ curl(turned) @ transposed(t.inverse_mean[other]))


@compiled
def _own_turning(t: Tables, p: int, k: int, h: float, c: float, forces: Matrix) -> Matrix:
    """Constant forces on directors of a section have other moments where it turns (4.12)."""
    b = t.rod_node[t.rod_first[p] + k]
    B = t.inverse_mean[b]
    return (0.5 * h * c) * (B @ curl(t.rotation1[b] @ forces) @ transposed(B))


@compiled
def curl(M: Matrix) -> Matrix:
    """tr(M) 1 - M: sum of u x (d x v) is this times d, for M = sum of v u^T."""
    return trace(M) * one() - M
