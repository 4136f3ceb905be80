"""The equations of one conserving step and their exact derivative, for all bodies, joints and loads."""

from phlexible.kernels import tables as at
from phlexible.kernels.compiled import compiled, inlined
from phlexible.kernels.couplings import begin_links, joint_blocks, joint_forces, joint_residuals
from phlexible.kernels.dense import fill
from phlexible.kernels.elasticity import begin_strains, elastic_balance, elastic_tangent
from phlexible.kernels.inertia import end_pose, inertia_balance, momenta, start_of
from phlexible.kernels.inertia_tangent import inertia_tangent
from phlexible.kernels.loads import load_forces, load_tangent
from phlexible.kernels.quadratic_strains import begin_points, point_residuals, point_tangent
from phlexible.kernels.vector_tangent import force_tangent, vector_derivatives
from phlexible.kernels.vectors import apply_force, body_vector, end_vectors, world_vector


@compiled
def unpack_velocity(ints, reals, b, flat, v, w, rate):
    """nu of body b into v[b], w[b] and (0, deta/dt)."""
    kind = ints[ints[at.TYPE_OF] + b]
    row = ints[ints[at.VELOCITY_START] + b]
    for i in range(ints[at.DIMENSION]):
        reals[v + 3 * b + i] = reals[flat + row + i]
    row += ints[at.DIMENSION]
    axes = ints[ints[at.AXIS_COUNT] + kind]
    if axes == 1:
        reals[w + 3 * b + 2] = reals[flat + row]
    elif axes == 3:
        for i in range(3):
            reals[w + 3 * b + i] = reals[flat + row + i]
    row += axes
    x0 = start_of(ints, b)
    for j in range(ints[ints[at.ELASTIC_COUNT] + kind]):
        reals[rate + x0 + 1 + j] = reals[flat + row + j]


@compiled
def begin_step(ints, reals):
    """Everything at t_n that does not change during the step; vectors that are given, at both ends."""
    begin_points(ints, reals)
    for b in range(ints[at.FLOATING]):
        x0 = start_of(ints, b)
        reals[ints[at.XI0] + x0] = 1.0
        reals[ints[at.XI1] + x0] = 1.0
        for j in range(ints[ints[at.ELASTIC_COUNT] + ints[ints[at.TYPE_OF] + b]]):
            reals[ints[at.XI0] + x0 + 1 + j] = reals[
                ints[at.STATE_ELASTIC] + (ints[ints[at.ELASTIC_START] + b] + j)
            ]
        unpack_velocity(ints, reals, b, ints[at.STATE_VELOCITY], ints[at.V0], ints[at.W0], ints[at.RATE0])
        momenta(
            ints,
            reals,
            b,
            ints[at.V0],
            ints[at.W0],
            ints[at.XI0],
            ints[at.RATE0],
            ints[at.LINEAR0],
            ints[at.ANGULAR0],
            ints[at.ELASTIC0],
            ints[at.MOMENT1],
            ints[at.Z_RATE0],
            ints[at.Z_XI],
            ints[at.Y_XI0],
        )
        begin_strains(ints, reals, b)
    for k in range(ints[at.VECTORS]):
        b = ints[ints[at.VECTOR_BODY] + k]
        if b >= 0:
            n = ints[ints[at.ELASTIC_COUNT] + ints[ints[at.TYPE_OF] + b]]
            body_vector(ints, reals, k, ints[at.XI0], start_of(ints, b), n, ints[at.RHO0])
            world_vector(
                ints,
                reals,
                k,
                ints[at.RHO0],
                ints[at.STATE_ROTATION],
                ints[at.STATE_POSITION],
                b,
                ints[at.X0],
            )
        else:
            for i in range(3):
                if b == at.MOVING:
                    reals[ints[at.X0] + 3 * k + i] = reals[
                        ints[at.MOVING0] + 3 * ints[ints[at.VECTOR_MOVING] + k] + i
                    ]
                    reals[ints[at.X1] + 3 * k + i] = reals[
                        ints[at.MOVING1] + 3 * ints[ints[at.VECTOR_MOVING] + k] + i
                    ]
                else:
                    reals[ints[at.X0] + 3 * k + i] = reals[ints[at.VECTOR_BASE] + 3 * k + i]
                    reals[ints[at.X1] + 3 * k + i] = reals[ints[at.VECTOR_BASE] + 3 * k + i]
                reals[ints[at.X_MEAN] + 3 * k + i] = 0.5 * (
                    reals[ints[at.X0] + 3 * k + i] + reals[ints[at.X1] + 3 * k + i]
                )
    begin_links(ints, reals)


@compiled
def residuals(ints, reals, h, damping):
    """Balances of all bodies and joint functions at VELOCITY and MULTIPLIER."""
    point_residuals(ints, reals, h, damping)
    for b in range(ints[at.FLOATING]):
        unpack_velocity(ints, reals, b, ints[at.VELOCITY], ints[at.V1], ints[at.W1], ints[at.RATE1])
        x0 = start_of(ints, b)
        for j in range(1, ints[ints[at.ELASTIC_COUNT] + ints[ints[at.TYPE_OF] + b]] + 1):
            reals[ints[at.XI1] + x0 + j] = reals[ints[at.XI0] + x0 + j] + 0.5 * h * (
                reals[ints[at.RATE0] + x0 + j] + reals[ints[at.RATE1] + x0 + j]
            )
        momenta(
            ints,
            reals,
            b,
            ints[at.V1],
            ints[at.W1],
            ints[at.XI1],
            ints[at.RATE1],
            ints[at.LINEAR1],
            ints[at.ANGULAR1],
            ints[at.ELASTIC1],
            ints[at.MOMENT1],
            ints[at.Z_RATE1],
            ints[at.Z_XI],
            ints[at.Y_XI1],
        )
        end_pose(ints, reals, b, h)
        inertia_balance(ints, reals, b, h)
        elastic_balance(ints, reals, b, h, damping)
    end_vectors(ints, reals)
    fill(reals, ints[at.VECTOR_FORCE], 3 * ints[at.VECTORS], 0.0)
    joint_forces(ints, reals)
    load_forces(ints, reals)
    for k in range(ints[at.VECTORS]):
        if ints[ints[at.VECTOR_BODY] + k] >= 0:
            apply_force(ints, reals, h, k)
    joint_residuals(ints, reals, h)


@inlined
def jacobian(ints, reals, h, damping):
    """Newton's matrix at the point of the last ``residuals``, as blocks."""
    fill(reals, ints[at.BLOCKS], ints[at.BLOCK_LENGTH], 0.0)
    point_tangent(ints, reals, h, damping)
    for b in range(ints[at.FLOATING]):
        place = ints[ints[at.NODE_DIAGONAL] + b]
        inertia_tangent(ints, reals, b, h, place)
        elastic_tangent(ints, reals, b, h, damping, place)
    for k in range(ints[at.VECTORS]):
        b = ints[ints[at.VECTOR_BODY] + k]
        if b >= 0:
            vector_derivatives(ints, reals, h, k)
            force_tangent(ints, reals, h, k, ints[ints[at.NODE_DIAGONAL] + b])
    joint_blocks(ints, reals, h)
    load_tangent(ints, reals, h)
