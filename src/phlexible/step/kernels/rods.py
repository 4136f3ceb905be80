"""Forces of rods, from strains between neighbouring sections, and their derivative (docs/theory.md, 8)."""

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.notation import (
    Matrices,
    Matrix,
    Reals,
    Tables,
    Vector,
    Vectors,
    along,
    cross,
    dot,
    matrix,
    row,
    transposed,
    vector,
)
from phlexible.step.kernels.branches import branch_force
from phlexible.step.kernels.floating_bodies import cross_of_dyads, eye, skew_of, trace
from phlexible.step.kernels.laws import damping_coefficient

# Strains of rods between neighbouring sections, and the forces on these (docs/theory.md, 8).
#
# At a quadrature point the sections k, at x_k with directors in the rows of R_k^T, give (8.20)::
#
#     X' = sum S_k x_k,  D = sum N_k R_k^T,  D' = sum S_k R_k^T,  Gamma = D X',  K_x = (D_z . D'_y - D_y . D'_z) / 2
#
# and each entry of theta = L^T (Gamma, K) is a linear law, with L = ((L_1, 0), (L_2, L_3)). What is here stands for
# their functions, so that sections need no vectors, chords and levers.
# In the plane Gamma_x, Gamma_y and K_z are strains, and the others are zero.


@compiled
def axis_slope(t: Tables, p: int, x: Vectors) -> Vector:
    """Return the derivative of a rod's axis with respect to arc length at quadrature point p, in world axes, from
    section positions x. If x are displacements, it is the change of this derivative. It is sum_k S_k x_k with
    derivatives S_k of the shape functions, computed from differences to the first section against round-off. ``t``
    contains all arrays of the model and its state."""
    nodes, slopes = t.rod_node + t.rod_nodes_begin[p], t.rod_slope + t.rod_nodes_begin[p]
    total = slopes[1] * (x[nodes[1]] - x[nodes[0]])
    for k in range(2, t.rod_nodes_count[p]):
        total += slopes[k] * (x[nodes[k]] - x[nodes[0]])
    return total


@compiled
def weighted_directors(t: Tables, p: int, weights: Reals, R: Matrices) -> Matrix:
    """Return the interpolated directors at quadrature point p of a rod, as rows of a 3 x 3 matrix in world axes.
    They are the sum of the rotations R of its sections times ``weights``; directors are the axes of a section.
    ``t`` contains all arrays of the model and its state."""
    nodes = t.rod_node + t.rod_nodes_begin[p]
    total = weights[0] * R[nodes[0]]
    for k in range(1, t.rod_nodes_count[p]):
        total += weights[k] * R[nodes[k]]
    return transposed(total)


@compiled
def director_change(t: Tables, p: int, weights: Reals) -> Matrix:
    """Return the change in the time step of the directors, or of their derivatives, at quadrature point p of a rod.
    Directors are the axes of a rod's section. They are the rows of a 3 x 3 matrix, in world axes: sums over the
    sections of the element with the ``weights``, which are shape functions or their derivatives. ``t`` contains all
    arrays of the model and its state.
    """
    nodes = t.rod_node + t.rod_nodes_begin[p]
    total = weights[0] * (t.rotation1[nodes[0]] - t.rotation[nodes[0]])
    for k in range(1, t.rod_nodes_count[p]):
        total += weights[k] * (t.rotation1[nodes[k]] - t.rotation[nodes[k]])
    return transposed(total)


@compiled
def curvature(D: Matrix, S: Matrix) -> Vector:
    """Return the curvature vector of a rod in axes of its section [rad/m], torsion and two bending curvatures.
    Component 1 is (d_3 . d_2' - d_2 . d_3') / 2, the others follow cyclically. The directors d_i, axes of the
    section, are the rows of D, their derivatives d_i' along the arc length the rows of S."""
    return -0.5 * cross_of_dyads(D @ transposed(S))


@compiled
def strain_index(t: Tables, s: int) -> int:
    """Return the index of a rod's strain number s among all six: axial strain, two shears, torsion and two
    bendings. In space it is s itself; in the plane the third strain is the bending about z, index 5. ``t``
    contains all arrays of the model and its state."""
    return 5 if t.dimension == 2 and s == 2 else s


@compiled
def set_strains(t: Tables, p: int, stretch: Vector, bend: Vector, theta: Reals) -> None:
    """Write the transformed strains L^T (Gamma, K) of quadrature point p of a rod into ``theta``, at the entries
    of the rod's force elements there. Gamma, ``stretch``, contains axial strain and two shears; K, ``bend``,
    torsion and two curvatures, in axes of the section. If both are changes, the changes of the strains are
    written. L is the triangular factor in ``t.rod_share``. In plane models strains out of the plane are left out.
    ``t`` contains all arrays of the model and its state."""
    L = t.rod_share + 3 * p
    first, second = stretch @ L[0] + bend @ L[1], bend @ L[2]
    for s in range(t.rod_strains):
        place = strain_index(t, s)
        theta[t.rod_force[p] + s] = along(first, place) if place < 3 else along(second, place - 3)


@exported
def begin_rods(t: Tables) -> None:
    """Compute the kinematics of all rods at the start of the time step, at all quadrature points. They are the
    derivative of the axis (``t.rod_along0``), the directors and their derivatives (``t.rod_directors0``) and the
    strains (``t.theta0``). Directors are the axes of a section, here the rows of a matrix, interpolated from the
    nodes. ``t`` contains all arrays of the model and its state."""
    for p in range(t.rod_points):
        weights, slopes = t.rod_value + t.rod_nodes_begin[p], t.rod_slope + t.rod_nodes_begin[p]
        X, D, S = (
            axis_slope(t, p, t.position),
            weighted_directors(t, p, weights, t.rotation),
            weighted_directors(t, p, slopes, t.rotation),
        )
        t.rod_along0[p], t.rod_directors0[2 * p], t.rod_directors0[2 * p + 1] = X, D, S
        set_strains(t, p, D @ X, curvature(D, S), t.theta0)


@exported
def rod_laws(t: Tables, h: float, damping: float) -> None:
    """Compute the changes of all rod strains in a time step of length h [s], and the mean forces that oppose the
    strains. The forces, elastic and by damping, are negative for positive strain and stored in ``t.rod_stress``;
    stress resultants (force and moment at each quadrature point) go to ``t.rod_pull``. Changes of the axis
    derivative and of the directors go to ``t.rod_change`` and ``t.rod_turn``. ``damping`` is numerical damping.
    ``t`` contains all arrays of the model and its state."""
    for p in range(t.rod_points):
        weights, slopes = t.rod_value + t.rod_nodes_begin[p], t.rod_slope + t.rod_nodes_begin[p]
        dX, dD, dS = axis_slope(t, p, t.shift), director_change(t, p, weights), director_change(t, p, slopes)
        t.rod_change[p], t.rod_turn[2 * p], t.rod_turn[2 * p + 1] = dX, dD, dS
        X, D, S = mean_fields(t, p)
        bend = -0.5 * cross_of_dyads(dD @ transposed(S) + D @ transposed(dS))
        set_strains(t, p, dD @ X + D @ dX, bend, t.theta_change)
        force, slope = t.rod_stress + 6 * p, t.rod_stiffness + 6 * p
        for s in range(t.rod_strains):
            place = strain_index(t, s)
            force[place], slope[place] = rod_strain_force(t, t.rod_force[p] + s, h, damping)
        L = t.rod_share + 3 * p
        first, second = vector(force[0], force[1], force[2]), vector(force[3], force[4], force[5])
        t.rod_pull[2 * p], t.rod_pull[2 * p + 1] = L[0] @ first, L[1] @ first + L[2] @ second


@compiled
def rod_strain_force(t: Tables, f: int, h: float, damping: float) -> tuple[float, float]:
    """Return the mean generalized force of a linear rod strain (force element f) in a time step of length h.
    The second result is its derivative with respect to the strain at the end. The force opposes the strain:
    minus stiffness times (mean strain minus rest strain), minus viscous, numerical (``damping``) and Maxwell
    parts. Strain and change are read from ``t.theta0`` and ``t.theta_change``; the force is stored in
    ``t.scalar_force``."""
    stiffness, change, d = t.force_stiffness[f], t.theta_change[f], damping_coefficient(t, f, h, damping)
    creeping, steeper = branch_force(t, f, h)
    t.scalar_force[f] = -stiffness * (t.theta0[f] + 0.5 * change - t.force_rest[f]) - d * change - creeping
    return t.scalar_force[f], -0.5 * stiffness - d - steeper


@compiled
def mean_fields(t: Tables, p: int) -> tuple[Vector, Matrix, Matrix]:
    """Return the slope of the rod axis, the directors and their derivative at quadrature point p, in world axes.
    The slope is the derivative of the axis with respect to arc length; directors (section axes) are rows of a
    matrix. All are means of start and end of the time step. ``t`` contains all arrays of the model and its
    state."""
    D = t.rod_directors0[2 * p] + 0.5 * t.rod_turn[2 * p]
    S = t.rod_directors0[2 * p + 1] + 0.5 * t.rod_turn[2 * p + 1]
    return t.rod_along0[p] + 0.5 * t.rod_change[p], D, S


@compiled
def mean_section(t: Tables, b: int) -> Matrix:
    """Return the directors (axes, rows) of rod section b, a rigid body, in the world at the mean of the time step.
    ``t`` contains all arrays of the model and its state."""
    return 0.5 * transposed(t.rotation[b] + t.rotation1[b])


@compiled
def director_forces(t: Tables, p: int, k: int, X: Vector, D: Matrix, S: Matrix) -> Matrix:
    """Return the generalized forces of a rod's stresses at quadrature point p on the three directors of section k
    of its element, as rows. A director is an axis of a section. X is the derivative of the rod's axis, D has the
    interpolated directors and S their derivatives as rows, all at the mean of the time step and in world axes. The
    stress resultants are read from ``t.rod_pull``; ``t`` contains all arrays of the model and its state.
    """
    value, slope = t.rod_value[t.rod_nodes_begin[p] + k], t.rod_slope[t.rod_nodes_begin[p] + k]
    f, bending = value * t.rod_pull[2 * p], t.rod_pull[2 * p + 1]
    return matrix(f.x * X, f.y * X, f.z * X) - skew_of(bending) @ (0.5 * (slope * D - value * S))


@exported
def add_rod_forces(t: Tables) -> None:
    """Add the mean forces and moments of all rods on their sections (rigid bodies) to ``t.force_sum`` and
    ``t.moment_sum``, in world axes. At each quadrature point they follow from the generalized forces of the
    strains and the derivatives of the shape functions. See docs/theory.md, 8, (8.3). ``t`` contains all arrays of
    the model and its state."""
    for p in range(t.rod_points):
        X, D, S = mean_fields(t, p)
        force = t.rod_pull[2 * p] @ D
        for k in range(t.rod_nodes_count[p]):
            b = t.rod_node[t.rod_nodes_begin[p] + k]
            t.force_sum[b] += t.rod_slope[t.rod_nodes_begin[p] + k] * force
            t.moment_sum[b] += cross_of_dyads(transposed(mean_section(t, b)) @ director_forces(t, p, k, X, D, S))


@compiled
def bending_moments(section: Matrix, Z: Matrix) -> Matrix:
    """Return the moments on a rod section for unit values of torsion moment and two bending moments, as rows of a
    3 x 3 matrix. They are a_y x z_z - a_z x z_y and cyclic, with the directors (axes) a of the section, rows of
    ``section``, and the rows z of Z."""
    x, y, z = row(section, 0), row(section, 1), row(section, 2)
    u, v, w = row(Z, 0), row(Z, 1), row(Z, 2)
    return matrix(cross(y, w) - cross(z, v), cross(z, u) - cross(x, w), cross(x, v) - cross(y, u))


@exported
def rod_round_off(t: Tables) -> float:
    """Return a scale of the round-off of the energy of all rods [J]. It is the sum over quadrature points of the
    stretching force times the distance of a section from the origin, times the derivative of its shape function.
    ``t`` contains all arrays of the model and its state."""
    total = 0.0
    for p in range(t.rod_points):
        place, force = t.position[t.rod_node[t.rod_nodes_begin[p]]], t.rod_pull[2 * p]
        total += (dot(force, force) * dot(place, place)) ** 0.5 * abs(t.rod_slope[t.rod_nodes_begin[p]])
    return total


# Derivative of the forces of rods to the velocities of their sections at the end of the step (docs/theory.md, 8).
#
# A section's directors turn by delta = c A^-T dw with c = h / 2(1 + a.a), its place moves by h/2 dV. On the
# balances act -h times forces and -h A^-1 times moments. Both depend on the motion through the stresses, which
# gives products of gradients at the mean and at the end, and through the directors and places that the stresses
# act along. All is in 3 x 3 blocks, also in the plane.


@exported
def add_rod_tangents(t: Tables, h: float) -> None:
    """Subtract h times the derivatives of all rod forces over a time step of length h [s] from Newton's matrix.
    The derivatives are with respect to the velocities of the rods' sections at the end, and contain material and
    geometric stiffness. They are added to the blocks of all pairs of sections of an element in ``t.blocks``. ``t``
    contains all arrays of the model and its state."""
    for p in range(t.rod_points):
        first, count = t.rod_nodes_begin[p], t.rod_nodes_count[p]
        X, D, S = mean_fields(t, p)
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
            bend = transposed(bending_moments(own, 0.5 * (t.rod_slope[first + k] * D - N * S)))
            moved = (
                (-0.25 * h * h * N) * skew_of(t.rod_pull[2 * p] @ own) - stretch @ stretch_moved - bend @ bend_moved
            )
            t.rod_left[3 * k], t.rod_left[3 * k + 1] = stretch, bend
            t.rod_left[3 * k + 2] = t.inverse_mean[t.rod_node[first + k]] @ moved
        for l in range(count):  # the section that moves and turns, by delta in world axes
            b, N, slope = t.rod_node[first + l], t.rod_value[first + l], t.rod_slope[first + l]
            own, a = transposed(t.rotation1[b]), t.half_turn[b]
            delta = (0.5 * h / (1.0 + dot(a, a))) * transposed(t.inverse_mean[b])
            turned, bent = N * _crossed_rows(own, X1), 0.5 * bending_moments(own, slope * D1 - N * S1)
            stretch_turned, bend_turned = aa @ turned + ab @ bent, ba @ turned + bb @ bent
            push_turned = transposed(D) @ stretch_turned - (0.5 * h * N) * skew_of(t.rod_pull[2 * p] @ own)
            push_turned = push_turned @ delta
            for k in range(count):
                S_k = t.rod_slope[first + k]
                into = -1.0 * (t.rod_left[3 * k] @ stretch_turned + t.rod_left[3 * k + 1] @ bend_turned)
                if k == l:
                    into += (0.5 * h) * trace_minus(t.rotation1[b] @ director_forces(t, p, k, X, D, S))  # (4.12)
                else:
                    into -= (0.25 * h * (S_k * N - t.rod_value[first + k] * slope)) * _bending_along_rotated(
                        t, p, k, l
                    )
                _add_section_block(
                    t,
                    t.blocks + t.rod_block[t.rod_pairs_begin[p] + k * count + l],
                    t.velocities_count[b],
                    (-S_k * slope) * push_moved,
                    -S_k * push_turned,
                    slope * t.rod_left[3 * k + 2],
                    t.inverse_mean[t.rod_node[first + k]] @ into @ delta,
                )


@compiled
def _crossed_rows(M: Matrix, a: Vector) -> Matrix:
    """Return the 3 x 3 matrix M [a], whose rows are the cross products of the rows of M with the vector a."""
    return matrix(cross(row(M, 0), a), cross(row(M, 1), a), cross(row(M, 2), a))


@compiled
def _scaled(M: Matrix, s: Reals, h: float) -> Matrix:
    """Return the 3 x 3 matrix whose row i is row i of M times h s[i]."""
    return matrix((h * s[0]) * row(M, 0), (h * s[1]) * row(M, 1), (h * s[2]) * row(M, 2))


@compiled
def _add_section_block(t: Tables, block: Reals, width: int, vv: Matrix, vw: Matrix, wv: Matrix, ww: Matrix) -> None:
    """Add the 3 x 3 derivatives vv, vw, wv and ww of rod forces and moments to a block of Newton's matrix. The
    block couples two rod sections; its rows have ``width`` entries. The first letter is the row, the second the
    column: v for linear, w for angular velocities. In plane models only x, y and the rotation about z are added,
    and ``width`` is not used. ``t`` contains all arrays of the model and its state."""
    if t.dimension == 2:
        x, y, z = row(vv, 0), row(vv, 1), row(wv, 2)
        x, y = vector(x.x, x.y, row(vw, 0).z), vector(y.x, y.y, row(vw, 1).z)
        _add_matrix(block, matrix(x, y, vector(z.x, z.y, row(ww, 2).z)), 3)
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
def _bending_along_rotated(t: Tables, p: int, k: int, l: int) -> Matrix:
    """Return the bending part of the derivative of the moments on section k of a rod with respect to the rotation
    of section l. It is a 3 x 3 matrix in world axes, for the rotation of the directors of section l in the bending
    strains of quadrature point p, without the factors of the shape functions; the strains' forces are constant.
    ``t`` contains all arrays of the model and its state.
    """
    b, other = t.rod_node[t.rod_nodes_begin[p] + k], t.rod_node[t.rod_nodes_begin[p] + l]
    return trace_minus(_crossed_rows(t.rotation1[other], t.rod_pull[2 * p + 1]) @ mean_section(t, b))


@compiled
def trace_minus(M: Matrix) -> Matrix:
    """Return tr(M) I - M for a 3 x 3 matrix M; times a vector d it is the sum of u x (d x v), where M is the sum of
    dyads v u^T."""
    return trace(M) * eye() - M
