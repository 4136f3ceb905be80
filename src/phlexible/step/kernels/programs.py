"""The compiled step in programs: each family of forces is one, and models have those that they need.

A program is one entry point, compiled and kept as one (``step/programs.py``). It exports functions, which others
call by their addresses in the tables (``step/tables/functions.py``). Where a model has no use for a program the
addresses are zero, and calls of its functions do nothing. Functions come after those of the same program that they
call, so that these calls are direct.
"""

from phlexible.step.compilation.compiled import entry_point, export
from phlexible.step.kernels.conjugate_gradients import solve_by_gradients
from phlexible.step.kernels.contact import begin_gap, gap_weights, push, slide
from phlexible.step.kernels.contact_steps import contacts_push, harden_pair, hardness_of_pair, parts_around_contacts
from phlexible.step.kernels.elimination import (
    eliminate,
    factor_frame,
    solve_frame,
    substitute,
)
from phlexible.step.kernels.friction import begins_sliding, pull_of_sliding, sliding_gradient, sliding_work
from phlexible.step.kernels.laws import forces_of_laws, stored_energy
from phlexible.step.kernels.laws_of_functions import (
    begin_laws,
    gather_gap,
    law_tangent,
    pull_of_laws,
    related_rate,
)
from phlexible.step.kernels.ledger import end_step, energies, ledger_closes
from phlexible.step.kernels.loads import load_tangent, load_work, pull_of_loads
from phlexible.step.kernels.many.contacts_among_many import (
    contact_group_energy,
    end_contact_groups,
    members_push,
    push_contact_groups,
)
from phlexible.step.kernels.many.pairs_in_matrix import (
    correct_for_pairs,
    forget_held_pairs,
    frequency_of_pairs,
    pair_tangent,
)
from phlexible.step.kernels.rods import add_rod_pulls, begin_rods, rod_laws, rod_tangent, round_off_of_rods
from phlexible.step.kernels.segments import add_border, centre_moments, factor_segments, solve_segments
from phlexible.step.kernels.soft import (
    add_pressures,
    add_soft_forces,
    end_soft,
    pressure_tangent,
    pressure_work,
    soft_energy,
    soft_tangent,
)
from phlexible.step.kernels.step import (
    begin_bodies,
    begin_ports,
    constraints_close,
    inertia_matrix,
    jacobian,
    motion_and_forces,
    residuals,
    start_from_end,
)
from phlexible.step.tables.requests import DualHeader, IntegerRow


@entry_point
def step(header: IntegerRow) -> None:
    """Bodies, joints, elimination, energies: of every model."""
    export(header, begin_bodies)
    export(header, begin_ports)
    export(header, start_from_end)
    export(header, motion_and_forces)
    export(header, residuals)
    export(header, inertia_matrix)
    export(header, jacobian)
    export(header, constraints_close)
    export(header, eliminate)
    export(header, substitute)
    export(header, factor_frame)
    export(header, solve_frame)
    export(header, end_step)
    export(header, ledger_closes)
    export(header, energies)


@entry_point
def long_bodies(header: IntegerRow) -> None:
    """Bodies with segments."""
    export(header, factor_segments)
    export(header, solve_segments)
    export(header, centre_moments)
    export(header, add_border)


@entry_point
def laws(header: IntegerRow) -> None:
    """Force elements, strings, coordinates of relations."""
    export(header, begin_laws)
    export(header, pull_of_laws)
    export(header, law_tangent)
    export(header, related_rate)
    export(header, forces_of_laws)
    export(header, gather_gap)
    export(header, stored_energy)


@entry_point
def contacts(header: IntegerRow) -> None:
    """Contacts, stops, wheels that roll."""
    export(header, begin_gap)
    export(header, gap_weights)
    export(header, push)
    export(header, slide)
    export(header, begins_sliding)
    export(header, pull_of_sliding)
    export(header, sliding_gradient)
    export(header, sliding_work)


@entry_point
def contact_groups(header: IntegerRow) -> None:
    """Contacts among many."""
    export(header, push_contact_groups)
    export(header, contact_group_energy)
    export(header, end_contact_groups)
    export(header, members_push)
    export(header, harden_pair)
    export(header, hardness_of_pair)
    export(header, forget_held_pairs)
    export(header, frequency_of_pairs)
    export(header, pair_tangent)
    export(header, correct_for_pairs)


@entry_point
def contact_steps(header: IntegerRow) -> None:
    """Parts of steps around contacts of either kind."""
    export(header, contacts_push)
    export(header, parts_around_contacts)


@entry_point
def loads(header: IntegerRow) -> None:
    """Forces and moments on attachments."""
    export(header, pull_of_loads)
    export(header, load_work)
    export(header, load_tangent)


@entry_point
def rods(header: IntegerRow) -> None:
    """Rods; their laws are those of ``laws``."""
    export(header, begin_rods)
    export(header, rod_laws)
    export(header, add_rod_pulls)
    export(header, rod_tangent)
    export(header, round_off_of_rods)


@entry_point
def soft(header: IntegerRow) -> None:
    """Elements of soft bodies."""
    export(header, add_soft_forces)
    export(header, soft_tangent)
    export(header, soft_energy)
    export(header, end_soft)


@entry_point
def gradients(header: IntegerRow) -> None:
    """Linear systems of large soft bodies."""
    export(header, solve_by_gradients)


@entry_point
def pressure(header: IntegerRow) -> None:
    """Pressure on surfaces."""
    export(header, add_pressures)
    export(header, pressure_work)
    export(header, pressure_tangent)


# Programs of dual numbers: what the equations of a step call, without energies, Newton's matrix and elimination.


@entry_point
def dual_step(header: DualHeader) -> None:
    """Bodies and joints."""
    export(header, begin_bodies)
    export(header, begin_ports)
    export(header, motion_and_forces)
    export(header, residuals)


@entry_point
def dual_long_bodies(header: DualHeader) -> None:
    """Bodies with segments."""
    export(header, centre_moments)


@entry_point
def dual_laws(header: DualHeader) -> None:
    """Force elements, strings, coordinates of relations."""
    export(header, begin_laws)
    export(header, pull_of_laws)
    export(header, related_rate)
    export(header, gather_gap)


@entry_point
def dual_contacts(header: DualHeader) -> None:
    """Contacts, stops, wheels that roll."""
    export(header, begin_gap)
    export(header, gap_weights)
    export(header, push)
    export(header, slide)
    export(header, begins_sliding)
    export(header, pull_of_sliding)


@entry_point
def dual_contact_groups(header: DualHeader) -> None:
    """Contacts among many."""
    export(header, push_contact_groups)


@entry_point
def dual_loads(header: DualHeader) -> None:
    """Forces and moments on attachments."""
    export(header, pull_of_loads)


@entry_point
def dual_rods(header: DualHeader) -> None:
    """Rods."""
    export(header, begin_rods)
    export(header, rod_laws)
    export(header, add_rod_pulls)


@entry_point
def dual_soft(header: DualHeader) -> None:
    """Elements of soft bodies."""
    export(header, add_soft_forces)
    export(header, end_soft)


@entry_point
def dual_pressure(header: DualHeader) -> None:
    """Pressure on surfaces."""
    export(header, add_pressures)
