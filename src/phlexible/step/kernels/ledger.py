"""Energies and works of a step, its energy balance, and the acceptance of the new state."""

from math import sqrt

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.dense import add_multiple, copy, fill
from phlexible.step.compilation.notation import Number, Tables, Truth, Vector, Vectors, any_of, dot, where
from phlexible.step.kernels.families import add_energies_of_families
from phlexible.step.kernels.floating_bodies import (
    KINETIC,
    LOSS,
    PARTS,
    STRAIN,
    accept_pose,
    advance_frame_branches,
    frame_branch_energy,
    frame_branch_work,
    frame_energies,
)
from phlexible.step.kernels.laws import energy_dissipated_by, stored_energy, work_supplied_by
from phlexible.step.kernels.loads import load_work
from phlexible.step.kernels.many.contacts_among_many import contact_group_energy
from phlexible.step.kernels.rods import rod_round_off
from phlexible.step.kernels.soft import advance_soft_branches
from phlexible.step.kernels.step import prescribed_motion_work
from phlexible.step.kernels.teams import energies_of_teams, is_alone
from phlexible.step.tables.declarations import ANGLE, BRISTLE, CONTACT, FRAME_ENERGIES, PAIR, PIECES, SPRING, TURN

LEDGER_TOLERANCE = 1e-10  # what the laws promise
ROUND_OFF = 1e-14  # of the parts whose differences energies are made of
RELAXED = 1e-12  # measured: 2e-13 where loads begin


@exported
def accept_step(t: Tables, h: float, damping: float) -> None:
    """Copy the end of the time step into the state: pose, velocities, multipliers, angles, element forces and
    history variables. The work of every source (loads, drives) is added to ``t.work`` and the losses to
    ``t.dissipated`` [J]. History variables are strains of Maxwell branches, friction springs, tendon flows and
    impact speeds. h is the length of the time step [s], ``damping`` numerical damping. ``t`` contains all arrays
    of the model and its state."""
    t.dissipated[0] += t.frame_energy[LOSS]  # of the ledger, which closes
    for b in range(t.frames):
        t.dissipated[0] += advance_frame_branches(t, b, h)
    for f in range(t.forces):
        t.dissipated[0] += energy_dissipated_by(t, f, h, damping)
    t.dissipated[0] += t.family_work[2] + advance_soft_branches(t, h) + t.contact_group_loss[0]
    for q in range(t.sources):
        t.work[q] += source_work(t, q)
    for f in range(t.forces):
        t.theta[f] = t.theta0[f] + t.theta_change[f]
        t.force[f] = t.scalar_force[f]
    for b in range(t.carriers):
        t.position[b] += t.shift[b]
    for b in range(t.frames):
        accept_pose(t, b)
    copy_history_ends(t)
    copy(t.velocity1, t.velocity, t.velocities)
    copy(t.multiplier1, t.multiplier, t.rows)


@compiled
def copy_history_ends(t: Tables) -> None:
    """Copy impact speeds, flows of tendons and deflections of friction springs (bristles) from the end of the time
    step to the state. Strains of Maxwell branches, which have no copy at the end, are replaced elsewhere. ``t``
    contains all arrays of the model and its state."""
    copy(t.impact_end, t.impact, t.impacts)
    copy(t.flow_end, t.flow, t.pieces)
    copy(t.bristle_end, t.bristle, BRISTLE * t.bristles)
    copy(t.pair_bristle_end, t.pair_bristle, PAIR * t.kept_pairs)
    copy(t.pair_turn_end, t.pair_turn, TURN * t.kept_turns)


@compiled
def source_work(t: Tables, q: int) -> float:
    """Return the work [J] that source number q has supplied in the time step. Sources are all loads, then all
    constraints, then all force elements. A constraint supplies the work of prescribed motions, a force element that
    and the work of its prescribed force. ``t`` contains all arrays of the model and its state.
    """
    if q < t.loads:
        return load_work(t, q)
    i = q - t.loads
    work = prescribed_motion_work(t, i)
    return work + work_supplied_by(t, i - t.constraints) if i >= t.constraints else work


@compiled
def translational_energy(t: Tables, linear: Vectors) -> float:
    """Return the kinetic energy sum m V_a . V_b / 2 of the linear velocities V of all floating bodies and nodes
    [J]. The sum is over pairs with a common mass: a body with itself, a node also with its neighbours. ``t``
    contains all arrays of the model and its state."""
    total = 0.0
    for p in range(t.mass_pairs):
        total += 0.5 * t.mass[p] * dot(linear[t.mass_first[p]], linear[t.mass_second[p]])
    return total


@exported
def energies_balance(t: Tables, h: float, damping: float, still: Number, is_relaxed: bool, share: Number) -> Truth:
    """Return whether the change of all energies in a time step of length h [s] equals the work of loads and drives
    minus losses. The tolerance is ``share`` times a fixed fraction of the sum of absolute energies and works; only
    if that is exceeded, an estimate of round-off is added. ``damping`` is numerical damping; velocities below
    ``still`` [m/s] count as round-off, and more is allowed if ``is_relaxed`` (relaxed factors of redundant joints).
    Error and tolerance are stored in ``t.ledger`` [J]. ``t`` contains all arrays of the model and its state.
    """
    start, end = translational_energy(t, t.linear0), translational_energy(t, t.linear1)
    change, size = end - start, end + start
    translation = size
    sum_frame_energies(t, h, damping, False)
    energy, lost = t.frame_energy, t.frame_energy[LOSS]
    change += (energy[KINETIC + 1] - energy[KINETIC]) + (energy[STRAIN + 1] - energy[STRAIN])
    size += energy[KINETIC + 1] + energy[KINETIC] + energy[STRAIN + 1] + energy[STRAIN]
    for b in range(t.frames):
        change += frame_branch_work(t, b, h)
    for b in range(t.carriers):
        work = dot(t.weight[b], t.shift[b])
        change -= work
        size += abs(work)
    for q in range(t.loads):
        work = load_work(t, q)
        change -= work
        size += abs(work)
    for i in range(t.interactions):
        work = prescribed_motion_work(t, i)
        f = i - t.constraints
        if f >= 0 and t.force_row[f] < 0:  # what a law takes from the motion it stores, loses or has from outside
            work += t.scalar_force[f] * t.theta_change[f]
            if t.coordinate_of[i] == PIECES:
                for m in range(t.functions_begin[i], t.functions_end[i]):
                    work += t.generalized[m] * t.function_change[m]
        change -= work
        size += abs(work)
    change += t.family_work[0] + t.family_work[2] + t.contact_group_work[0] + t.contact_group_loss[0]
    size += t.family_work[1] + t.contact_group_work[1] + t.contact_group_loss[0]
    t.ledger[0], t.ledger[1] = abs(change + lost), share * LEDGER_TOLERANCE * (size + lost)
    opens = t.ledger[0] > t.ledger[1]
    if any_of(opens):
        mass = total_mass(t)
        explained = (RELAXED if is_relaxed else ROUND_OFF) * round_off_scale(t, h, damping)
        explained += still * (mass * still + sqrt(2.0 * mass * translation))
        t.ledger[1] += where(opens, explained, 0.0)
    return t.ledger[0] <= t.ledger[1]


@compiled
def sum_frame_energies(t: Tables, h: float, damping: float, with_parts: bool) -> None:
    """Add up the energies and losses of all floating bodies in the time step, and store the sums in
    ``t.frame_energy``, shape (6,) [J]. They are kinetic and strain energy at start and end, the loss, and if
    ``with_parts`` a scale of round-off. h is the length of the time step [s], ``damping`` numerical damping. ``t``
    contains all arrays of the model and its state."""
    fill(t.frame_energy, FRAME_ENERGIES, 0.0)
    energies_of_teams(t, h, damping, with_parts)
    for b in range(t.frames):
        if is_alone(t, b):
            frame_energies(t, b, h, damping, with_parts, t.summand)
            add_multiple(t.frame_energy, 1.0, t.summand, FRAME_ENERGIES)


@compiled
def round_off_scale(t: Tables, h: float, damping: float) -> float:
    """Return the sum of absolute values [J] of all terms whose differences are the energies of the time step. This
    sum times the precision of floats is the round-off of the energy balance. It contains strain energies, rods,
    and forces times displacements and position terms of all points. h is the length of the time step [s],
    ``damping`` numerical damping. ``t`` contains all arrays of the model and its state.

    Joints close to the round-off of the positions that they connect, and their forces work on it: a position is the
    centre of mass and an arm, which may cancel. Strains and elastic forces are sums that may cancel as well.
    """
    sum_frame_energies(t, h, damping, True)
    total = rod_round_off(t) + t.frame_energy[PARTS]
    for k in range(t.vectors):
        total += vector_length(t.pull[k]) * (vector_length(t.change[k]) + sum_of_position_terms(t, k))
    return total


@compiled
def total_mass(t: Tables) -> float:
    """Return the total mass of all carriers (floating bodies and nodes) [kg]. ``t`` contains all arrays of the
    model and its state."""
    total = 0.0
    for p in range(t.mass_pairs):
        total += t.mass[p]
    return total


@compiled
def vector_length(v: Vector) -> float:
    """Return the Euclidean length of a vector v."""
    return sqrt(dot(v, v))


@compiled
def sum_of_position_terms(t: Tables, k: int) -> float:
    """Return the sum of the lengths [m] of the terms of point or direction k at the start of the time step. It is
    a scale of round-off. For a floating body the terms are the centre of mass (points only), the undeformed vector
    and the elastic displacements. For other vectors it is the length. ``t`` contains all arrays of the model and
    its state."""
    b = t.vector_carrier[k]
    if b < 0 or b >= t.frames:
        return vector_length(t.world0[k])
    eta, P, first = t.xi0 + (t.coordinates_begin[b] + 1), t.shape + t.shape_vectors_begin[k], t.vector_first[k]
    total = vector_length(t.vector_base[k])
    for j in range(t.vector_last[k] - first):
        total += abs(eta[first + j]) * vector_length(P[j])
    return total + vector_length(t.position[b]) if t.vector_is_point[k] == 1 else total


@exported
def compute_energies(t: Tables) -> None:
    """Store the kinetic, strain, gravity and spring energy of the mechanism at the start of the time step in
    ``t.energy``, shape (4,) [J]. Springs include contacts; strain energy includes soft bodies, shells and Maxwell
    branches of bodies. ``t`` contains all arrays of the model and its state."""
    sum_frame_energies(t, 1.0, 0.0, False)
    kinetic = translational_energy(t, t.linear0) + t.frame_energy[KINETIC]
    strain, gravity, spring = t.frame_energy[STRAIN], 0.0, 0.0
    for b in range(t.frames):
        strain += frame_branch_energy(t, b)
    for b in range(t.carriers):
        gravity -= dot(t.weight[b], t.position[b])
    for f in range(t.forces):
        theta = t.theta[f] if t.coordinate_of[t.constraints + f] == ANGLE else t.theta0[f]
        energy = stored_energy(t, f, theta)
        if t.energy_of[f] == SPRING or t.energy_of[f] == CONTACT:
            spring += energy
        else:
            strain += energy
    spring += contact_group_energy(t)
    t.energy[0], t.energy[1], t.energy[2], t.energy[3] = kinetic, strain, gravity, spring
    add_energies_of_families(t, 0.0, 0.0)
