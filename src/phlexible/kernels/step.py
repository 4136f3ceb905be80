"""One conserving step: residual, exact Jacobian and Newton's method with a monotone line search."""

from phlexible.kernels import tables as at
from phlexible.kernels.compiled import compiled, inlined
from phlexible.kernels.couplings import joint_blocks, joint_forces, joint_residuals
from phlexible.kernels.elasticity import dissipation, elastic_balance, elastic_tangent, strain_energy, strains
from phlexible.kernels.dense import copy, fill
from phlexible.kernels.elimination import eliminate, substitute
from phlexible.kernels.inertia import end_pose, inertia_balance, kinetic_energy, momenta, start_of
from phlexible.kernels.inertia_tangent import inertia_tangent
from phlexible.kernels.loads import load_forces, load_tangent, load_work
from phlexible.kernels.vectors import (
    apply_force,
    body_vector,
    end_vectors,
    force_tangent,
    vector_derivatives,
    world_vector,
)

CONVERGED = 0
NOT_CONVERGED = 1
SINGULAR = 2
MAXIMAL_ITERATIONS = 60
TOLERANCE = 1e-14
ACCEPTABLE = 1e-8
MULTIPLIER_TOLERANCE = 1e-10  # relative
LEAST_DAMPING = 1.0 / 128.0
KEEP_JACOBIAN = 0.05


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
    for b in range(ints[at.BODIES]):
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
        strains(ints, reals, b, ints[at.XI0], ints[at.STRAIN0])
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


@compiled
def residuals(ints, reals, h, damping):
    """Balances of all bodies and joint functions at VELOCITY and MULTIPLIER."""
    for b in range(ints[at.BODIES]):
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
    for b in range(ints[at.BODIES]):
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


@compiled
def velocity_norm(ints, reals, x):
    """Largest weighted velocity of a body [m/s]."""
    largest = 0.0
    for b in range(ints[at.BODIES]):
        total = 0.0
        for i in range(ints[ints[at.VELOCITY_START] + b], ints[ints[at.VELOCITY_START] + b + 1]):
            total += (reals[ints[at.VELOCITY_WEIGHT] + i] * reals[x + i]) ** 2
        if total != total:
            return total
        largest = max(largest, total)
    return largest**0.5


@compiled
def move(ints, reals, length):
    """saved + length * update into the unknowns; partners' rows are not unknowns of their own."""
    for i in range(ints[at.VELOCITIES]):
        reals[ints[at.VELOCITY] + i] = (
            reals[ints[at.SAVED_VELOCITY] + i] + length * reals[ints[at.UPDATE] + i]
        )
    for j in range(ints[at.JOINTS]):
        begin = ints[ints[at.JOINT_ROW_START] + j]
        for r in range(begin, ints[ints[at.JOINT_ROW_START] + j + 1]):
            reals[ints[at.MULTIPLIER] + r] = (
                reals[ints[at.SAVED_MULTIPLIER] + r]
                + length * reals[ints[at.UPDATE] + (ints[ints[at.JOINT_NODE_ROW] + j] + r - begin)]
            )


@compiled
def next_multiplier_update(ints, reals):
    """Relative change of the multipliers after the trial update, if it falls as from the last to the trial.

    Joint forces do no work, so that the velocities alone do not show whether they have converged.
    """
    last, trial, largest = 0.0, 0.0, 0.0
    for j in range(ints[at.JOINTS]):
        begin = ints[ints[at.JOINT_ROW_START] + j]
        place = ints[ints[at.JOINT_NODE_ROW] + j]
        for r in range(ints[ints[at.JOINT_ROW_START] + j + 1] - begin):
            last = max(last, abs(reals[ints[at.UPDATE] + place + r]))
            trial = max(trial, abs(reals[ints[at.TRIAL_UPDATE] + place + r]))
            largest = max(largest, abs(reals[ints[at.MULTIPLIER] + begin + r]))
    return trial * trial / (last * largest) if last * largest > 0.0 else 0.0


@compiled
def finish(ints, reals):
    """Add the last trial update without asking for another one."""
    copy(reals, ints[at.TRIAL_UPDATE], ints[at.UPDATE], ints[at.UNKNOWNS])
    copy(reals, ints[at.VELOCITY], ints[at.SAVED_VELOCITY], ints[at.VELOCITIES])
    copy(reals, ints[at.MULTIPLIER], ints[at.SAVED_MULTIPLIER], ints[at.ROWS])
    move(ints, reals, 1.0)


@compiled
def trial_update(ints, reals):
    """-J^-1 residual with the factored Jacobian into TRIAL_UPDATE; its norm."""
    for i in range(ints[at.UNKNOWNS]):
        reals[ints[at.TRIAL_UPDATE] + i] = -reals[ints[at.RESIDUAL] + i]
    substitute(ints, reals, ints[at.TRIAL_UPDATE])
    return velocity_norm(ints, reals, ints[at.TRIAL_UPDATE])


@inlined
def solve_step(ints, reals, h, damping, least_scale):
    """Newton's method from VELOCITY and MULTIPLIER; (status, iterations).

    Natural monotonicity: a step length t is accepted when the simplified update |J^-1 r| at the
    trial point has fallen to (1 - t / 4) of the update. While it falls fast the factored
    Jacobian is used again. ``least_scale`` [m/s] keeps the tolerance above round-off at rest.
    """
    start_norm = velocity_norm(ints, reals, ints[at.PREVIOUS_VELOCITY])
    residuals(ints, reals, h, damping)
    iterations = 0
    while iterations < MAXIMAL_ITERATIONS:
        jacobian(ints, reals, h, damping)
        if not eliminate(ints, reals):
            return (SINGULAR, iterations)
        size = trial_update(ints, reals)
        fresh = True
        while iterations < MAXIMAL_ITERATIONS:
            copy(reals, ints[at.TRIAL_UPDATE], ints[at.UPDATE], ints[at.UNKNOWNS])
            copy(reals, ints[at.VELOCITY], ints[at.SAVED_VELOCITY], ints[at.VELOCITIES])
            copy(reals, ints[at.MULTIPLIER], ints[at.SAVED_MULTIPLIER], ints[at.ROWS])
            scale = max(start_norm, velocity_norm(ints, reals, ints[at.VELOCITY]), least_scale)
            reals[ints[at.HISTORY] + iterations] = size / scale
            iterations += 1
            length = 1.0
            while True:
                move(ints, reals, length)
                residuals(ints, reals, h, damping)
                trial = trial_update(ints, reals)
                if trial <= (1.0 - 0.25 * length) * size or size <= TOLERANCE * scale:
                    break
                if size <= ACCEPTABLE * scale and fresh:
                    break
                if length <= LEAST_DAMPING or not fresh:
                    length = 0.0
                    break
                length *= 0.5
            if length == 0.0:
                move(ints, reals, 0.0)
                residuals(ints, reals, h, damping)
                if fresh:
                    return (NOT_CONVERGED, iterations)
                break
            contraction = trial / size if size > 0.0 else 0.0
            if size <= TOLERANCE * scale:
                return (CONVERGED, iterations)
            # The next update would be contraction * trial.
            if (
                length == 1.0
                and contraction * trial <= 0.01 * TOLERANCE * scale
                and next_multiplier_update(ints, reals) <= MULTIPLIER_TOLERANCE
            ):
                finish(ints, reals)
                residuals(ints, reals, h, damping)
                return (CONVERGED, iterations + 1)
            if fresh and length == 1.0 and (contraction > 0.75) and (size <= ACCEPTABLE * scale):
                return (CONVERGED, iterations)
            size = trial
            fresh = False
            if contraction > KEEP_JACOBIAN:
                break
    return (NOT_CONVERGED, iterations)


@inlined
def end_step(ints, reals, h, damping):
    """Accept the step: new state, work of every source, dissipated energy."""
    for b in range(ints[at.BODIES]):
        reals[ints[at.STATE_DISSIPATED]] += dissipation(ints, reals, b, h, damping)
    count = ints[at.LOADS]
    for q in range(count):
        reals[ints[at.STATE_WORK] + q] += load_work(ints, reals, q)
    for j in range(ints[at.JOINTS]):
        reals[ints[at.STATE_WORK] + count + j] += frame_work(ints, reals, j)
    for b in range(ints[at.BODIES]):
        x0 = start_of(ints, b)
        for j in range(ints[ints[at.ELASTIC_COUNT] + ints[ints[at.TYPE_OF] + b]]):
            reals[ints[at.STATE_ELASTIC] + (ints[ints[at.ELASTIC_START] + b] + j)] = reals[
                ints[at.XI1] + x0 + 1 + j
            ]
        for i in range(3):
            reals[ints[at.STATE_POSITION] + 3 * b + i] = reals[ints[at.POSITION1] + 3 * b + i]
        orthogonalize(reals, ints[at.ROTATION1], b, ints[at.STATE_ROTATION])
    copy(reals, ints[at.VELOCITY], ints[at.STATE_VELOCITY], ints[at.VELOCITIES])
    copy(reals, ints[at.MULTIPLIER], ints[at.STATE_MULTIPLIER], ints[at.ROWS])


@compiled
def frame_work(ints, reals, j):
    """Work of the moving frames on joint j: -lambda dg/dx_0(mean) . delta(x_0)."""
    total = 0.0
    for row in range(ints[ints[at.JOINT_ROW_START] + j], ints[ints[at.JOINT_ROW_START] + j + 1]):
        for t in range(ints[ints[at.ROW_TERM_START] + row], ints[ints[at.ROW_TERM_START] + row + 1]):
            k, l = ints[ints[at.TERM_FIRST] + t], ints[ints[at.TERM_SECOND] + t]
            c = reals[ints[at.TERM_COEFFICIENT] + t] * reals[ints[at.MULTIPLIER] + row]
            if ints[ints[at.VECTOR_BODY] + k] == at.MOVING:
                for i in range(3):
                    total -= (
                        c
                        * reals[ints[at.X_MEAN] + 3 * l + i]
                        * (reals[ints[at.X1] + 3 * k + i] - reals[ints[at.X0] + 3 * k + i])
                    )
            if ints[ints[at.VECTOR_BODY] + l] == at.MOVING:
                for i in range(3):
                    total -= (
                        c
                        * reals[ints[at.X_MEAN] + 3 * k + i]
                        * (reals[ints[at.X1] + 3 * l + i] - reals[ints[at.X0] + 3 * l + i])
                    )
    return total


@compiled
def orthogonalize(reals, source, b, out):
    """R (3 I - R^T R) / 2: round-off must not add up over millions of steps."""
    for i in range(3):
        s0, s1, s2 = 0.0, 0.0, 0.0
        for j in range(3):
            p = (
                reals[source + 9 * b + 3 * i] * reals[source + 9 * b + 3 * j]
                + reals[source + 9 * b + 3 * i + 1] * reals[source + 9 * b + 3 * j + 1]
                + reals[source + 9 * b + 3 * i + 2] * reals[source + 9 * b + 3 * j + 2]
            )
            s0 += p * reals[source + 9 * b + 3 * j]
            s1 += p * reals[source + 9 * b + 3 * j + 1]
            s2 += p * reals[source + 9 * b + 3 * j + 2]
        reals[out + 9 * b + 3 * i] = 1.5 * reals[source + 9 * b + 3 * i] - 0.5 * s0
        reals[out + 9 * b + 3 * i + 1] = 1.5 * reals[source + 9 * b + 3 * i + 1] - 0.5 * s1
        reals[out + 9 * b + 3 * i + 2] = 1.5 * reals[source + 9 * b + 3 * i + 2] - 0.5 * s2


@compiled
def energies(ints, reals, stored, row):
    """Kinetic, strain and gravity energy of the state that ``begin_step`` has seen, into a row; their number."""
    kinetic, strain, gravity = 0.0, 0.0, 0.0
    for b in range(ints[at.BODIES]):
        kinetic += kinetic_energy(
            ints,
            reals,
            b,
            ints[at.V0],
            ints[at.W0],
            ints[at.RATE0],
            ints[at.LINEAR0],
            ints[at.ANGULAR0],
            ints[at.ELASTIC0],
        )
        strain += strain_energy(ints, reals, b, ints[at.XI0], ints[at.STRAIN0])
    for q in range(ints[at.WEIGHTS]):
        x = ints[at.X0] + 3 * ints[ints[at.WEIGHT_POINT] + q]
        for i in range(3):
            gravity -= reals[ints[at.WEIGHT] + 3 * q + i] * reals[x + i]
    stored[row, 0], stored[row, 1], stored[row, 2] = kinetic, strain, gravity
    return 3
