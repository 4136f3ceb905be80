"""What a step leaves behind: the new state, the work of every source, energies."""

from phlexible.kernels import tables as at
from phlexible.kernels.compiled import compiled, inlined
from phlexible.kernels.couplings import dot, measured, origin_of
from phlexible.kernels.dense import copy
from phlexible.kernels.elasticity import dissipation, strain_energy
from phlexible.kernels.forces import element_loss, element_work, spring_energy, stored_energy
from phlexible.kernels.inertia import kinetic_energy, start_of
from phlexible.kernels.loads import load_work
from phlexible.kernels.quadratic_strains import end_points, point_energies, point_ledger

LEDGER_TOLERANCE = 1e-7  # Newton's worst accepted update is 1e-8
ROUND_OFF = 1e-12


@inlined
def end_step(ints, reals, h, damping):
    """Accept the step: new state, work of every source, dissipated energy."""
    reals[ints[at.STATE_DISSIPATED]] += end_points(ints, reals, h, damping)
    for b in range(ints[at.FLOATING]):
        reals[ints[at.STATE_DISSIPATED]] += dissipation(ints, reals, b, h, damping)
    count = ints[at.LOADS]
    for q in range(count):
        reals[ints[at.STATE_WORK] + q] += load_work(ints, reals, q)
    for j in range(ints[at.JOINTS]):
        reals[ints[at.STATE_WORK] + count + j] += frame_work(ints, reals, j)
    links = ints[at.JOINTS] - ints[at.FORCES]
    for force in range(ints[at.FORCES]):
        reals[ints[at.STATE_WORK] + count + links + force] += element_work(ints, reals, links + force)
        reals[ints[at.STATE_DISSIPATED]] += element_loss(ints, reals, force, h)
        reals[ints[at.STATE_THETA] + force] = reals[ints[at.FORCE_THETA1] + force]
    for b in range(ints[at.FLOATING]):
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
def frame_work(ints, reals, j):
    """Work of moving frames and of the path of a drive on link j: -lambda dg/dx_0(mean) . delta(x_0)."""
    total = 0.0
    for row in range(ints[ints[at.JOINT_ROW_START] + j], ints[ints[at.JOINT_ROW_START] + j + 1]):
        time = ints[ints[at.ROW_TIME] + row]
        if time >= 0:
            total += reals[ints[at.MULTIPLIER] + row] * (
                reals[ints[at.MOVING1] + time] - reals[ints[at.MOVING0] + time]
            )
        o0, o1, o2 = origin_of(ints, reals, row)
        for t in range(ints[ints[at.ROW_TERM_START] + row], ints[ints[at.ROW_TERM_START] + row + 1]):
            k, l = ints[ints[at.TERM_FIRST] + t], ints[ints[at.TERM_SECOND] + t]
            c = reals[ints[at.TERM_MEAN] + t] * reals[ints[at.MULTIPLIER] + row]
            if ints[ints[at.TERM_TIME] + t] >= 0:
                change = reals[ints[at.TERM_END] + t] - reals[ints[at.TERM_MEAN] + t]
                total -= (
                    change
                    * reals[ints[at.MULTIPLIER] + row]
                    * (
                        dot(reals, ints[at.X0] + 3 * k, ints[at.X0] + 3 * l)
                        + dot(reals, ints[at.X1] + 3 * k, ints[at.X1] + 3 * l)
                    )
                )
            for vector, other in ((k, l), (l, k)):
                if ints[ints[at.VECTOR_BODY] + vector] == at.MOVING:
                    x0, x1, x2 = measured(ints, reals, ints[at.X_MEAN], other, o0, o1, o2)
                    d, e = ints[at.X1] + 3 * vector, ints[at.X0] + 3 * vector
                    total -= c * (
                        x0 * (reals[d] - reals[e])
                        + x1 * (reals[d + 1] - reals[e + 1])
                        + x2 * (reals[d + 2] - reals[e + 2])
                    )
    return total


@compiled
def ledger_closes(ints, reals, h, damping):
    """Whether the energies of the step change by the work of its sources less what it dissipates.

    They do up to Newton's tolerance and round-off. A step far longer than a period can stop where
    Newton's updates are small and the equations are not: such a point is no solution.
    """
    change, size = point_ledger(ints, reals, h, damping)
    for b in range(ints[at.FLOATING]):
        start = kinetic_energy(
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
        start += strain_energy(ints, reals, b, ints[at.XI0], ints[at.STRAIN0])
        end = kinetic_energy(
            ints,
            reals,
            b,
            ints[at.V1],
            ints[at.W1],
            ints[at.RATE1],
            ints[at.LINEAR1],
            ints[at.ANGULAR1],
            ints[at.ELASTIC1],
        )
        end += strain_energy(ints, reals, b, ints[at.XI1], ints[at.STRAIN1])
        lost = dissipation(ints, reals, b, h, damping)
        change += end - start + lost
        size += end + start + lost
    for q in range(ints[at.WEIGHTS]):
        x = 3 * ints[ints[at.WEIGHT_POINT] + q]
        for i in range(3):
            work = reals[ints[at.WEIGHT] + 3 * q + i] * (
                reals[ints[at.X1] + x + i] - reals[ints[at.X0] + x + i]
            )
            change -= work
            size += abs(work)
    for q in range(ints[at.LOADS]):
        work = load_work(ints, reals, q)
        change -= work
        size += abs(work)
    for j in range(ints[at.JOINTS]):
        work = frame_work(ints, reals, j)
        change -= work
        size += abs(work)
    links = ints[at.JOINTS] - ints[at.FORCES]
    for force in range(ints[at.FORCES]):
        theta0, theta1 = reals[ints[at.STATE_THETA] + force], reals[ints[at.FORCE_THETA1] + force]
        start, end = stored_energy(ints, reals, force, theta0), stored_energy(ints, reals, force, theta1)
        lost, work = element_loss(ints, reals, force, h), element_work(ints, reals, links + force)
        change += end - start + lost - work
        size += abs(end) + abs(start) + abs(lost) + abs(work)
    round_off = 0.0  # of forces on vectors far from the world's origin
    for k in range(ints[at.VECTORS]):
        pull, place = 0.0, 0.0
        for i in range(3):
            pull += abs(reals[ints[at.VECTOR_FORCE] + 3 * k + i])
            place += abs(reals[ints[at.X1] + 3 * k + i])
        round_off += pull * place
    return abs(change) <= LEDGER_TOLERANCE * size + ROUND_OFF * round_off


@compiled
def energies(ints, reals, stored, row):
    """Kinetic, strain, gravity and spring energy of the state of ``begin_step``; their number."""
    kinetic, strain, gravity = point_energies(ints, reals)
    for b in range(ints[at.FLOATING]):
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
    stored[row, 3] = spring_energy(ints, reals)
    return 4
