"""What a step leaves behind: the new state, the work of every source, energies."""

from phlexible.kernels import tables as at
from phlexible.kernels.compiled import compiled, inlined
from phlexible.kernels.dense import copy
from phlexible.kernels.elasticity import dissipation, strain_energy
from phlexible.kernels.inertia import kinetic_energy, start_of
from phlexible.kernels.loads import load_work
from phlexible.kernels.quadratic_strains import end_points, point_energies


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
def energies(ints, reals, stored, row):
    """Kinetic, strain and gravity energy of the state of ``begin_step``, into a row; their number."""
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
    return 3
