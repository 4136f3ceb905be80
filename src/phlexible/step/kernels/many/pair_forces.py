"""Forces of contact pairs at an instant without a step (docs/theory.md, 4; (4.23))."""

from phlexible.step.compilation.compiled import entry_point
from phlexible.step.compilation.dense import copy
from phlexible.step.compilation.notation import dot, reals_at, tables_at, vector
from phlexible.step.compilation.subnormals import flush_subnormals, restore_control
from phlexible.step.kernels.loop import set_vectors
from phlexible.step.kernels.many.contacts_among_many import apply_contact_forces
from phlexible.step.kernels.step import begin_step, motion_and_forces
from phlexible.step.kernels.vectors import levers_and_motions, velocity_count, velocity_index
from phlexible.step.tables.requests import Floats, IntegerRow, Rows1


@entry_point
def pair_forces(header: IntegerRow, h: float, moving: Floats, ending: Floats, forces: Rows1) -> None:
    """Add the generalized forces of all contact pairs, with friction, at the velocities of the state to
    ``forces``, shape (velocities,); ``h`` is a very short time step over which they are evaluated [s].
    ``moving`` and ``ending`` are the prescribed vectors at its start and end, ``header`` is that of the
    tables.

    The state stays, and tables of an attempted step are those of this evaluation.

    Args:
        header: of the tables.
        h: so short that nothing moves much, or less than zero [s].
        moving, ending: prescribed vectors at the state and at the end of the step, (3 vectors,).
        forces: receive the sums, (velocities,).
    """
    register = flush_subnormals()
    t = tables_at(header)
    set_vectors(t.moving0, reals_at(moving), t.moving)
    set_vectors(t.moving1, reals_at(ending), t.moving)
    begin_step(t)
    copy(t.velocity1, t.saved_velocity, t.velocities)
    copy(t.velocity, t.velocity1, t.velocities)
    motion_and_forces(t, h, 0.0)
    for k in range(t.vectors):
        t.pull[k] = vector(0.0, 0.0, 0.0)
    apply_contact_forces(t, h)
    for k in range(t.vectors):
        b = t.vector_carrier[k]
        if b >= 0 and dot(t.pull[k], t.pull[k]) > 0.0:
            levers_and_motions(t, k, h)
            for i in range(velocity_count(t, k)):
                own = t.velocities_begin[b] + velocity_index(t, k, i)
                forces[own] += dot((t.lever + t.lever_vectors_begin[k])[i], t.pull[k])
    copy(t.saved_velocity, t.velocity1, t.velocities)
    restore_control(register)
