"""How many equal parts a step takes around contacts, so that it sees them (docs/theory.md, 8).

The frequency of contacts on a body is at most that of all of them together, omega^2 = sum of N' g M^-1 g^T with the
row g of each gap (8.23); joints, which can only lower it, are left out.
"""

from math import sqrt

from phlexible.compilation.compiled import compiled, exported
from phlexible.compilation.dense import copy, fill
from phlexible.compilation.notation import Tables
from phlexible.kernels.contacts.crowds import members_push
from phlexible.kernels.contacts.mobility import harden_pair, hardness_of_pair, mobility, steepest
from phlexible.kernels.elimination import factor_frame
from phlexible.kernels.forces.laws_of_functions import gather_gap
from phlexible.kernels.step import inertia_matrix, motion_and_forces
from phlexible.tables.declarations import CONTACT, MOST_PARTS

LONGEST = 0.1  # step times frequency: a rebound comes 0.003 / omega late


@exported
def contacts_push(t: Tables) -> bool:
    """Whether a contact pushes at either end of the step that was tried last; notes which."""
    found = False
    for f in range(t.forces):
        t.touching[f] = 0.0
        if t.energy_of[f] != CONTACT:
            continue
        depth = t.push_side[f] * (t.force_rest[f] - t.theta0[f])
        if depth > 0.0 or depth - t.push_side[f] * t.theta_change[f] > 0.0:
            t.touching[f], found = 1.0, True
    return members_push(t) or found


@exported
def parts_around_contacts(t: Tables, h: float, longest: float, damping: float) -> int:
    """Parts of the steps, the longest of which is ``longest``, for the contacts that were noted in one of length h.

    A power of two, so that it stays the same where the frequency changes little; 1: the steps are short enough.
    Unknowns and forces of the step that was tried are as they were afterwards.
    """
    copy(t.velocity1, t.saved_velocity, t.velocities)
    copy(t.velocity, t.velocity1, t.velocities)
    motion_and_forces(t, h, damping)  # without a change of the velocities
    inertia_matrix(t, h, 1.0)
    fill(t.hardness, t.carriers, 0.0)
    for b in range(t.frames):
        t.hardness[b] = 0.0 if factor_frame(t, b) else -1.0
    for f in range(t.forces):
        if t.touching[f] > 0.0:
            _harden(t, f, h)
    for n in range(t.met_count[0]):
        harden_pair(t, n, h)
    largest = 0.0
    for f in range(t.forces):
        if t.touching[f] > 0.0:
            total = 0.0
            for a in range(t.carrier_count[f]):
                total += max(t.hardness[t.group_node[t.group_start[f] + a]], 0.0)
            largest = max(largest, total)
    for n in range(t.met_count[0]):
        largest = max(largest, hardness_of_pair(t, n))
    copy(t.saved_velocity, t.velocity1, t.velocities)
    motion_and_forces(t, h, damping)
    parts = 1
    while parts < MOST_PARTS and longest * sqrt(largest) > LONGEST * parts:
        parts *= 2
    return parts


@compiled
def _harden(t: Tables, f: int, h: float) -> None:
    """Add N' g M^-1 g^T of a contact to each of its carriers."""
    total = 0.0
    gather_gap(t, f)
    for a in range(t.carrier_count[f]):
        group = t.group_start[f] + a
        t.scratch[a] = mobility(
            t, t.group_node[group], t.left_gradient + t.group_place[group], t.group_width[group]
        )
        total += t.scratch[a]
    depth, change = t.push_side[f] * (t.force_rest[f] - t.theta0[f]), abs(t.theta_change[f])
    slope = steepest(t.force_stiffness[f], t.push_exponent[f], depth, change, total, h)
    for a in range(t.carrier_count[f]):
        t.hardness[t.group_node[t.group_start[f] + a]] += slope * t.scratch[a]
