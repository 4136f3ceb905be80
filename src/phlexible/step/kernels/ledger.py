"""Energies and works of a step, its energy balance, and the acceptance of the new state."""

from math import sqrt

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.dense import add_multiple, copy, fill
from phlexible.step.compilation.notation import Number, Tables, Truth, Vector, Vectors, any_of, dot, where
from phlexible.step.kernels.floating_bodies import (
    KINETIC,
    LOSS,
    PARTS,
    STRAIN,
    end_inertia,
    end_inner,
    frame_energies,
    inner_energy,
    inner_work,
)
from phlexible.step.kernels.laws import dissipated_by, stored_energy, supplied_by
from phlexible.step.kernels.loads import load_work
from phlexible.step.kernels.many.contacts_among_many import contact_group_energy, end_contact_groups
from phlexible.step.kernels.rods import round_off_of_rods
from phlexible.step.kernels.soft import end_soft, soft_energy
from phlexible.step.kernels.step import given_work
from phlexible.step.kernels.teams import energies_of_teams, is_alone
from phlexible.step.tables.declarations import ANGLE, BRISTLE, CONTACT, FRAME_ENERGIES, SPRING

LEDGER_TOLERANCE = 1e-10  # what the laws promise
ROUND_OFF = 1e-14  # of the parts whose differences energies are made of
RELAXED = 1e-12  # measured: 2e-13 where loads begin


@exported
def end_step(t: Tables, h: float, damping: float) -> None:
    """Accept the step and write the new state, the work of every source and the dissipated energy."""
    t.dissipated[0] += t.frame_energy[LOSS]  # of the ledger, which closes
    for b in range(t.frames):
        t.dissipated[0] += end_inner(t, b, h)
    for f in range(t.forces):
        t.dissipated[0] += dissipated_by(t, f, h, damping)
    t.dissipated[0] += t.soft_loss[0] + end_soft(t, h) + t.contact_group_loss[0]
    for q in range(t.sources):
        t.work[q] += source_work(t, q)
    for f in range(t.forces):
        t.theta[f] = t.theta0[f] + t.theta_change[f]
        t.force[f] = t.scalar_force[f]
    for b in range(t.carriers):
        t.position[b] += t.shift[b]
    for b in range(t.frames):
        end_inertia(t, b)
    copy(t.bristle_end, t.bristle, BRISTLE * t.bristles)
    copy(t.impact_end, t.impact, t.impacts)
    end_contact_groups(t)
    copy(t.velocity1, t.velocity, t.velocities)
    copy(t.multiplier1, t.multiplier, t.rows)


@compiled
def source_work(t: Tables, q: int) -> float:
    """Work of a load, or of prescribed parts of an interaction, in the step [J]."""
    if q < t.loads:
        return load_work(t, q)
    i = q - t.loads
    work = given_work(t, i)
    return work + supplied_by(t, i - t.constraints) if i >= t.constraints else work


@compiled
def translational_energy(t: Tables, linear: Vectors) -> float:
    """Kinetic energy of the linear velocities V, sum m V_a . V_b / 2 [J]."""
    total = 0.0
    for p in range(t.mass_pairs):
        total += 0.5 * t.mass[p] * dot(linear[t.mass_first[p]], linear[t.mass_second[p]])
    return total


@exported
def ledger_closes(t: Tables, h: float, damping: float, still: Number, is_relaxed: bool, share: Number) -> Truth:
    """Whether the energies of the step change by the work of its sources minus what it dissipates.

    They do at a solution, up to Newton's tolerance and round-off; error and allowed error are written to
    ``ledger``. Velocities of less than ``still`` [m/s] are round-off. ``is_relaxed``: joints close up to the error
    that relaxed factors leave for forces that change at once. ``share``: factor of the allowed error besides
    round-off.
    """
    start, end = translational_energy(t, t.linear0), translational_energy(t, t.linear1)
    change, size = end - start, end + start
    translation = size
    sum_frame_energies(t, h, damping, False)
    energy, lost = t.frame_energy, t.frame_energy[LOSS]
    change += (energy[KINETIC + 1] - energy[KINETIC]) + (energy[STRAIN + 1] - energy[STRAIN])
    size += energy[KINETIC + 1] + energy[KINETIC] + energy[STRAIN + 1] + energy[STRAIN]
    for b in range(t.frames):
        change += inner_work(t, b, h)
    for b in range(t.carriers):
        work = dot(t.weight[b], t.shift[b])
        change -= work
        size += abs(work)
    for q in range(t.loads):
        work = load_work(t, q)
        change -= work
        size += abs(work)
    for i in range(t.interactions):
        work = given_work(t, i)
        if i >= t.constraints:  # what a law takes from the motion it stores, loses or has from outside
            f = i - t.constraints
            work += t.scalar_force[f] * t.theta_change[f]
        change -= work
        size += abs(work)
    change += t.soft_work[0] + t.soft_loss[0] + t.contact_group_work[0] + t.contact_group_loss[0]
    size += t.soft_work[1] + t.contact_group_work[1] + t.contact_group_loss[0]
    t.ledger[0], t.ledger[1] = abs(change + lost), share * LEDGER_TOLERANCE * (size + lost)
    opens = t.ledger[0] > t.ledger[1]
    if any_of(opens):
        mass = total_mass(t)
        explained = (RELAXED if is_relaxed else ROUND_OFF) * round_off(t, h, damping)
        explained += still * (mass * still + sqrt(2.0 * mass * translation))
        t.ledger[1] += where(opens, explained, 0.0)
    return t.ledger[0] <= t.ledger[1]


@compiled
def sum_frame_energies(t: Tables, h: float, damping: float, with_parts: bool) -> None:
    """Sum ``frame_energies`` over all frames into the table ``frame_energy``."""
    fill(t.frame_energy, FRAME_ENERGIES, 0.0)
    energies_of_teams(t, h, damping, with_parts)
    for b in range(t.frames):
        if is_alone(t, b):
            frame_energies(t, b, h, damping, with_parts, t.copied)
            add_multiple(t.frame_energy, 1.0, t.copied, FRAME_ENERGIES)


@compiled
def round_off(t: Tables, h: float, damping: float) -> float:
    """Sum of the absolute terms whose differences are the energies of the step [J].

    Joints close to the round-off of the positions that they connect, and their forces work on it: a position is the
    centre of mass and an arm, which may cancel. Strains and elastic forces are sums that may cancel as well.
    """
    sum_frame_energies(t, h, damping, True)
    total = round_off_of_rods(t) + t.frame_energy[PARTS]
    for k in range(t.vectors):
        total += length(t.pull[k]) * (length(t.change[k]) + parts_of_place(t, k))
    return total


@compiled
def total_mass(t: Tables) -> float:
    """Total mass of all carriers [kg]."""
    total = 0.0
    for p in range(t.mass_pairs):
        total += t.mass[p]
    return total


@compiled
def length(v: Vector) -> float:
    """Return the length of a vector."""
    return sqrt(dot(v, v))


@compiled
def parts_of_place(t: Tables, k: int) -> float:
    """Sum of the lengths of the terms of vector k at the start of the step."""
    b = t.vector_carrier[k]
    if b < 0 or b >= t.frames:
        return length(t.place0[k])
    eta, P, first = t.xi0 + (t.coordinates_begin[b] + 1), t.shape + t.shape_vectors_begin[k], t.vector_first[k]
    total = length(t.vector_base[k])
    for j in range(t.vector_last[k] - first):
        total += abs(eta[first + j]) * length(P[j])
    return total + length(t.position[b]) if t.vector_is_point[k] == 1 else total


@exported
def energies(t: Tables) -> None:
    """Compute kinetic, strain, gravity and spring energy at the state of ``begin_step`` into ``energy`` [J]."""
    sum_frame_energies(t, 1.0, 0.0, False)
    kinetic = translational_energy(t, t.linear0) + t.frame_energy[KINETIC]
    strain, gravity, spring = t.frame_energy[STRAIN], 0.0, 0.0
    for b in range(t.frames):
        strain += inner_energy(t, b)
    for b in range(t.carriers):
        gravity -= dot(t.weight[b], t.position[b])
    for f in range(t.forces):
        theta = t.theta[f] if t.coordinate_of[t.constraints + f] == ANGLE else t.theta0[f]
        energy = stored_energy(t, f, theta)
        if t.energy_of[f] == SPRING or t.energy_of[f] == CONTACT:
            spring += energy
        else:
            strain += energy
    strain += soft_energy(t)
    spring += contact_group_energy(t)
    t.energy[0], t.energy[1], t.energy[2], t.energy[3] = kinetic, strain, gravity, spring
