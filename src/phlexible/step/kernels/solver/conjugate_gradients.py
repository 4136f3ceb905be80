"""Conjugate gradients for linear systems of soft bodies, without assembled matrices (docs/theory.md, 5).

The system is a symmetric approximation of Newton's. The preconditioner consists of the inverses of its diagonal
blocks, one for each node. Joints constrain single nodes: the directions of their rows are removed from residuals
and inverses, so that velocities satisfy them, and multipliers follow from the remaining residual.
"""

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.notation import (
    Matrix,
    Number,
    Tables,
    along,
    cross,
    dot,
    matrix,
    row,
    transposed,
    vector,
)
from phlexible.step.kernels.floating_bodies import components_of, eye
from phlexible.step.kernels.functions import compute_gradients
from phlexible.step.kernels.locks import is_active
from phlexible.step.kernels.soft import (
    branch_gain,
    branch_stress,
    deformation_gradient,
    mean_stress,
    metric_change,
    set_stress_tangent,
    soft_gamma,
    strained_point,
    symmetric,
    tangent_product,
)
from phlexible.step.kernels.solver.newton import AT_ROUND_OFF, PREDICTED, STALLED, TOLERANCE, velocity_norm
from phlexible.step.kernels.step import residuals
from phlexible.step.kernels.vectors import outer, zero_matrix

EXACT = 1e-14  # of the energy: what is left of the residual times the velocities
INEXACT = 1e-3  # share of its residual that an update of Newton's method leaves
MOST_UPDATES = 30
SLOW = 0.5  # updates that fall by less
GROWN = 1e3  # times the velocities: no update of a step
DEPENDENT = 1e-20  # a row whose direction is held already, relative, squared


@compiled
def inverse_matrix(A: Matrix) -> Matrix:
    """Return the inverse of a 3 x 3 matrix A as its adjugate divided by its determinant. That the determinant is
    not zero is not checked."""
    x, y, z = row(A, 0), row(A, 1), row(A, 2)
    adjugate = transposed(matrix(cross(y, z), cross(z, x), cross(x, y)))
    return (1.0 / dot(x, cross(y, z))) * adjugate


@compiled
def set_preconditioner(t: Tables, h: float, damping: float) -> None:
    """Compute the preconditioner of conjugate gradients for soft bodies: the inverse of the 3 x 3 diagonal block
    of each node, stored in ``t.node_inverse``. The block is the nodal mass plus h^2 / 4 times the material
    stiffness of the linear law, raised by damping. All directions are marked as free: ``t.node_free`` becomes the
    identity. h is the length of the time step [s], ``damping`` numerical damping, a multiple of the stiffness."""
    for b in range(t.carriers):
        t.node_free[b] = eye()
    for p in range(t.mass_pairs):
        if t.mass_first[p] == t.mass_second[p]:
            t.node_inverse[t.mass_first[p]] = t.mass[p] * eye()
    for e in range(t.soft_elements):
        g, k, first = t.soft_group[e], t.soft_nodes_count[e], t.soft_nodes_begin[e]
        factor = 0.25 * h * h * (1.0 + 2.0 * (soft_gamma(t, e, h, damping) + branch_gain(t, t.soft_group[e], h)))
        for p in range(t.soft_points_count[e]):
            slope = t.soft_slopes_begin[e] + p * k
            weight = factor * t.soft_weight[t.soft_points_begin[e] + p]
            F = deformation_gradient(t, e, p, t.position)
            spread = transposed(F) @ F
            for i in range(k):
                n, b = t.soft_gradient[slope + i], t.soft_node[first + i]
                a = n @ F
                own = (weight * (t.soft_lame[g] + t.soft_shear[g])) * outer(a, a)
                t.node_inverse[b] = t.node_inverse[b] + own + (weight * t.soft_shear[g] * dot(n, n)) * spread
    for b in range(t.carriers):
        t.node_inverse[b] = inverse_matrix(t.node_inverse[b])


@compiled
def constrain_nodes(t: Tables) -> None:
    """Set the start of conjugate gradients, ``t.cg_solution``, to changes of nodal velocities that close the
    linearized joints at nodes of soft bodies. It is 0 at other nodes. The constrained directions are removed from
    the projections ``t.node_free`` and the preconditioner ``t.node_inverse`` of these nodes; both are zero for a
    node that is completely fixed. Directions that depend on earlier ones are skipped. ``t`` contains all arrays of
    the model and its state.
    """
    for b in range(t.carriers):
        t.cg_solution[b] = vector(0.0, 0.0, 0.0)
    for i in range(t.constraints):
        taken, node, rows = 0, -1, t.residual + t.node_row[t.constraint_node[i]]
        for r in range(t.functions_count[i]):
            b = constrained_node(t, t.functions_begin[i] + r)
            if b < 0:
                continue
            g, Z = t.cg_direction[b], t.node_inverse[b]
            free, way = t.node_free[b] @ g, Z @ g
            if dot(free, free) > DEPENDENT * dot(g, g):
                node, taken = b, taken + 1
                size, missing = dot(g, way), -2.0 * rows[r] - dot(g, t.cg_solution[b])
                t.cg_solution[b] += (missing / size) * way
                t.node_inverse[b] = Z - (1.0 / size) * outer(way, way)
                t.node_free[b] = t.node_free[b] - (1.0 / dot(free, free)) * outer(free, free)
        if node >= 0 and taken == t.dimension:
            t.node_free[node] = t.node_inverse[node] = zero_matrix()


@compiled
def constrained_node(t: Tables, m: int) -> int:
    """Return the node of a soft body that constraint row m acts on, and store the gradient of the row in
    ``t.cg_direction``. The gradient is that with respect to the position of the node. The result is negative if
    the row is inactive or acts on no node. A row is one scalar equation of a joint or drive. ``t`` contains all
    arrays of the model and its state."""
    if not is_active(t, m):
        return -1
    compute_gradients(t, m)
    node, total = -1, vector(0.0, 0.0, 0.0)
    for e in range(t.function_parts_begin[m], t.function_parts_end[m]):
        node = t.vector_carrier[t.part_vector[e]]
        total += t.left[t.part_vector[e]]
    if node >= 0:
        t.cg_direction[node] = total
    return node


@compiled
def add_multipliers(t: Tables, h: float) -> None:
    """Add to the multipliers ``t.multiplier1`` of joints at nodes of soft bodies the forces that balance the
    residual in the constrained directions. For each joint, G^T times the added multipliers is -``t.cg_residual`` /
    h at its node (for one row only the component along it). G contains the gradients of the joint's rows; h is the
    length of the time step [s]. ``t`` contains all arrays of the model and its state."""
    for i in range(t.constraints):
        begin, count = t.functions_begin[i], t.functions_count[i]
        first, second, third = vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)
        node = -1
        for r in range(count):
            b = constrained_node(t, begin + r)
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
        force = missing @ inverse_matrix(matrix(first, second, third))
        for r in range(count):
            t.multiplier1[begin + r] += along(force, r)


@compiled
def set_nodal_residual(t: Tables) -> None:
    """Set ``t.cg_residual``, the right side of conjugate gradients, to minus the residual of the momentum balances
    of all nodes of soft bodies. The residual is read from ``t.residual``; components that a model in a plane or on
    a line lacks are zero. ``t`` contains all arrays of the model and its state."""
    for b in range(t.carriers):
        t.cg_residual[b] = -1.0 * components_of(t.residual + t.velocities_begin[b], t.dimension)


@compiled
def apply_matrix(t: Tables, h: float) -> None:
    """Multiply the symmetric system matrix of soft bodies by the nodal vectors ``t.shift`` and store the product
    in ``t.force_sum``. The matrix, which is never assembled, is the mass plus a stiffness in proportion to h^2.
    The stiffness at ``t.position`` follows from ``t.point_tangent`` (material) and ``t.point_stress`` (geometric),
    summed over quadrature points. h is the length of the time step [s]. ``t`` contains all arrays of the model and
    its state."""
    for b in range(t.carriers):
        t.force_sum[b] = vector(0.0, 0.0, 0.0)
    for p in range(t.mass_pairs):
        t.force_sum[t.mass_first[p]] += t.mass[p] * t.shift[t.mass_second[p]]
    for e in range(t.soft_elements):
        k, first = t.soft_nodes_count[e], t.soft_nodes_begin[e]
        for p in range(t.soft_points_count[e]):
            slope, own = t.soft_slopes_begin[e] + p * k, t.soft_points_begin[e] + p
            F, G = deformation_gradient(t, e, p, t.position), deformation_gradient(t, e, p, t.shift)
            strains, shears = metric_change(F, G)
            a, x = tangent_product(t.point_tangent + 36 * own, 0.5 * strains, shears)
            held = symmetric(0.5 * t.point_stress[2 * own], 0.5 * t.point_stress[2 * own + 1])
            stress = (0.5 * h * h * t.soft_weight[own]) * (symmetric(a, x) @ F + held @ G)
            for i in range(k):
                t.force_sum[t.soft_node[first + i]] += t.soft_gradient[slope + i] @ stress


@compiled
def conjugate_gradients(t: Tables, h: float, least_speed: float, most: int) -> int:
    """Solve the linear system of soft bodies for the change of nodal velocities by preconditioned conjugate
    gradients. The solution starts from and replaces ``t.cg_solution``, the right side is ``t.cg_residual``. Return
    the number of iterations, or -1 if ``most`` do not suffice or the matrix is not positive definite. h is the
    length of the time step [s]; the tolerance is relative to the kinetic energy, at least that at ``least_speed``
    [m/s].

    Iterations end at the fraction ``INEXACT`` of the residual, or where it is round-off of the energy.
    """
    goal = 0.0
    for p in range(t.mass_pairs):
        a, b = t.mass_first[p], t.mass_second[p]
        goal += t.mass[p] * (dot(t.linear1[a], t.linear1[b]) + (least_speed * least_speed if a == b else 0.0))
    goal *= EXACT * EXACT
    for b in range(t.carriers):
        t.shift[b] = t.cg_solution[b]
    apply_matrix(t, h)
    size = 0.0
    for b in range(t.carriers):
        t.cg_residual[b] = t.node_free[b] @ (t.cg_residual[b] - t.force_sum[b])
        t.shift[b] = t.node_inverse[b] @ t.cg_residual[b]
        size += dot(t.shift[b], t.cg_residual[b])
    goal = max(goal, INEXACT * INEXACT * size)
    for iteration in range(most):
        if size <= goal:
            return iteration
        apply_matrix(t, h)
        curvature = 0.0
        for b in range(t.carriers):
            curvature += dot(t.shift[b], t.force_sum[b])
        if not curvature > 0.0:
            return -1
        length, before, size = size / curvature, size, 0.0
        for b in range(t.carriers):
            t.cg_solution[b] += length * t.shift[b]
            t.cg_residual[b] = t.node_free[b] @ (t.cg_residual[b] - length * t.force_sum[b])
            t.cg_direction[b] = t.node_inverse[b] @ t.cg_residual[b]
            size += dot(t.cg_direction[b], t.cg_residual[b])
        for b in range(t.carriers):
            t.shift[b] = t.cg_direction[b] + (size / before) * t.shift[b]
    return -1


# Newton's method for the conserving step of soft bodies, with conjugate gradients.
#
# Its matrix has mean vectors on the left and those of the end on the right (5.13). With mean ones on both sides and
# the symmetric part of dS/dE it is symmetric, and updates fall by the share of a strain in a step.


@exported
def solve_by_gradients(t: Tables, h: float, damping: float, least_speed: Number, most: int) -> int:
    """Solve the equations of one time step of soft bodies by Newton's method with conjugate gradients, without a
    matrix. It starts from the present guess of velocities and multipliers. Return the number of Newton iterations,
    or -1 if it converges slowly or not at all. At the end the multipliers of joints are computed from the
    residual. h is the length of the step [s], ``damping`` numerical damping, ``least_speed`` [m/s] the least
    reference of tolerances. ``most`` bounds the gradient iterations in total."""
    start_norm, last, left = velocity_norm(t, t.velocity), 0.0, most
    residuals(t, h, damping)
    for iteration in range(MOST_UPDATES):
        taken = update_by_gradients(t, h, damping, least_speed, left)
        if taken < 0:
            return -1
        left -= taken
        residuals(t, h, damping)
        size = velocity_norm(t, t.trial_update)
        scale = max(start_norm, velocity_norm(t, t.velocity1), least_speed)
        t.history[iteration] = size / scale
        if not size <= GROWN * scale:
            return -1
        rate = size / last if iteration > 0 and last > 0.0 else 1.0
        is_done = size <= TOLERANCE * scale or (rate < STALLED and rate * size <= PREDICTED * scale)
        if is_done or (rate > STALLED and size <= AT_ROUND_OFF * scale):
            set_nodal_residual(t)
            add_multipliers(t, h)
            residuals(t, h, damping)
            return iteration + 1
        if iteration > 0 and rate > SLOW:
            return -1
        last = size
    return -1


@compiled
def update_by_gradients(t: Tables, h: float, damping: float, least_speed: Number, most: int) -> int:
    """Compute the velocity update of one Newton iteration for soft bodies by preconditioned conjugate gradients.
    It is stored in ``t.trial_update`` and added to ``t.velocity1``; the matrix is taken at the middle of the time
    step. Return the number of conjugate gradient iterations, -1 if ``most`` do not suffice. h is the length of the
    time step [s], ``damping`` numerical damping, ``least_speed`` [m/s] the least reference of tolerances."""
    set_point_tangents(t, h, damping)
    for b in range(t.carriers):
        t.cg_position[b] = t.position[b]
        t.position[b] += 0.5 * t.shift[b]
    set_preconditioner(t, h, damping)
    constrain_nodes(t)
    set_nodal_residual(t)
    taken = conjugate_gradients(t, h, least_speed, most)
    for b in range(t.carriers):
        t.position[b] = t.cg_position[b]
        for i in range(t.dimension):
            place = t.velocities_begin[b] + i
            t.trial_update[place] = along(t.cg_solution[b], i)
            t.velocity1[place] += t.trial_update[place]
    return taken


@compiled
def set_point_tangents(t: Tables, h: float, damping: float) -> None:
    """Compute the mean stress over a time step and its symmetric 6 x 6 tangent at each quadrature point of all soft
    elements. The stress includes numerical damping (``damping``, a multiple of the stiffness) and viscoelastic
    branches. The tangent is the symmetric part of its derivative with respect to the strain at the end of the step,
    which lasts h [s]. Results are stored in ``t.point_stress`` and ``t.point_tangent``, which ``apply_matrix``
    reads; ``t`` contains all arrays of the model and its state.
    """
    for e in range(t.soft_elements):
        g, gamma = t.soft_group[e], soft_gamma(t, e, h, damping)
        for p in range(t.soft_points_count[e]):
            own = t.soft_points_begin[e] + p
            _, _, c, o, dc, do = strained_point(t, e, p)
            s, r = mean_stress(t, g, c, o, dc, do, gamma)
            a, b = branch_stress(t, e, p, dc, do, h)
            t.point_stress[2 * own], t.point_stress[2 * own + 1] = s + a, r + b
            set_stress_tangent(t, g, c, o, dc, do, gamma + branch_gain(t, g, h))
            D = t.point_tangent + 36 * own
            for i in range(6):
                for j in range(6):
                    D[6 * i + j] = 0.5 * (t.soft_tangent[6 * i + j] + t.soft_tangent[6 * j + i])
