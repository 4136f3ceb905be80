"""The equations of one conserving step and their exact derivative, for everything (docs/theory.md, 4)."""

from phlexible.compilation.compiled import compiled, exported
from phlexible.compilation.dense import add_multiple, copy, fill
from phlexible.compilation.notation import Reals, Tables, Vectors, vector
from phlexible.kernels.contacts.crowds import push_crowds
from phlexible.kernels.elasticity import begin_strains, elastic_forces, elastic_tangent
from phlexible.kernels.forces.loads import load_tangent, pull_of_loads
from phlexible.kernels.forces.rod_tangent import rod_tangent
from phlexible.kernels.forces.rods import rod_laws
from phlexible.kernels.inertia import angular_momentum, end_rotation, inertia_balance, inertia_tangent, read
from phlexible.kernels.interactions import (
    begin_interactions,
    constraint_residuals,
    interaction_tangent,
    pull_on_vectors,
)
from phlexible.kernels.moments import moments, moments_at_end
from phlexible.kernels.soft.elements import add_soft_forces, soft_tangent
from phlexible.kernels.soft.pressure import add_pressures, pressure_tangent
from phlexible.kernels.vectors import (
    apply_forces,
    begin_vectors,
    end_vectors,
    force_tangent,
    levers_and_motions,
)


@compiled
def unpack_velocity(t: Tables, b: int, nu: Reals, linear: Vectors, spin: Vectors, rate: Reals) -> None:
    """nu of carrier b into V, w and (0, deta/dt)."""
    own, d = nu + t.velocity_start[b], t.dimension
    linear[b] = vector(own[0], own[1] if d > 1 else 0.0, own[2] if d == 3 else 0.0)
    if b < t.frames:
        spin[b] = read(own + d, t.axes_of[b])
        copy(own + t.rigid_of[b], rate + (t.coordinate_start[b] + 1), t.width_of[b] - t.rigid_of[b])


@compiled
def begin_step(t: Tables) -> None:
    """Everything at t_n that does not change during the step, from the state."""
    begin_bodies(t)
    begin_ports(t)


@exported
def begin_bodies(t: Tables) -> None:
    """Velocities, coordinates, moments and strains of all carriers at t_n, from the state."""
    for b in range(t.carriers):
        unpack_velocity(t, b, t.velocity, t.linear0, t.spin0, t.rate0)
    for b in range(t.frames):
        c = t.coordinate_start[b]
        t.xi0[c], t.xi1[c] = 1.0, 1.0
        copy(t.eta + t.elastic_start[b], t.xi0 + (c + 1), t.width_of[b] - t.rigid_of[b])
        moments(t, b, t.xi0, t.moment0)
        moments(t, b, t.rate0, t.moment_rate0)
        t.angular0[b] = angular_momentum(t, b, t.spin0[b], t.xi0, t.moment0, t.moment_rate0)
        begin_strains(t, b)


@exported
def begin_ports(t: Tables) -> None:
    """Vectors and functions of them at t_n; vectors that are given, at both ends."""
    begin_vectors(t)
    begin_interactions(t)


@exported
def hand_over(t: Tables) -> None:
    """What ``begin_bodies`` would find after an accepted step, from the end of that step.

    Moments of the points, which the step has added to, are made anew: so they stay those of eta.
    """
    for b in range(t.carriers):
        t.linear0[b] = t.linear1[b]
    copy(t.xi1, t.xi0, t.coordinates)
    copy(t.rate1, t.rate0, t.coordinates)
    copy(t.strain1, t.strain0, t.frame_strains)
    copy(t.slope1, t.slope0, t.frame_squares)
    for b in range(t.frames):
        c, m = 9 * t.coordinate_start[b], t.elastic_count[t.type_of[b]] + 1
        t.spin0[b] = t.spin1[b]
        copy(t.moment_rate1 + c, t.moment_rate0 + c, t.planes * m)
        moments(t, b, t.xi0, t.moment0)
        t.angular0[b] = angular_momentum(t, b, t.spin0[b], t.xi0, t.moment0, t.moment_rate0)


@exported
def residuals(t: Tables, h: float, damping: float) -> None:
    """Balances of all carriers and gaps of all constraints at velocity1 and multiplier1."""
    motion_and_forces(t, h, damping)
    for b in range(t.carriers):
        fill(t.residual + t.velocity_start[b], t.dimension, 0.0)
    for p in range(t.mass_pairs):  # m delta(V) (4.6)
        a, b, d = t.mass_first[p], t.mass_second[p], t.dimension
        rows, old, new = (
            t.residual + t.velocity_start[a],
            t.velocity + t.velocity_start[b],
            t.velocity1 + t.velocity_start[b],
        )
        for i in range(d):
            rows[i] += t.mass[p] * (new[i] - old[i])
    for b in range(t.frames):
        inertia_balance(t, b, h)
        c, n = t.coordinate_start[b] + 1, t.width_of[b] - t.rigid_of[b]
        add_multiple(t.residual + (t.velocity_start[b] + t.rigid_of[b]), h, t.elastic_force + c, n)
    apply_forces(t, h)
    add_soft_forces(t, h, damping)
    add_pressures(t, h)
    constraint_residuals(t, h)


@exported
def motion_and_forces(t: Tables, h: float, damping: float) -> None:
    """Where everything is at velocity1, and the forces over the step."""
    for b in range(t.carriers):
        unpack_velocity(t, b, t.velocity1, t.linear1, t.spin1, t.rate1)
        t.shift[b] = (0.5 * h) * (t.linear0[b] + t.linear1[b])  # h mean(V) (4.4)
    for b in range(t.frames):
        c = t.coordinate_start[b]
        for j in range(c + 1, c + 1 + t.width_of[b] - t.rigid_of[b]):
            t.xi1[j] = t.xi0[j] + 0.5 * h * (t.rate0[j] + t.rate1[j])
        moments(t, b, t.rate1, t.moment_rate1)
        moments_at_end(t, b, h)
        t.angular1[b] = angular_momentum(t, b, t.spin1[b], t.xi1, t.moment1, t.moment_rate1)
        end_rotation(t, b, h)
        elastic_forces(t, b, h, damping)
    end_vectors(t)
    pull_on_vectors(t, h, damping)
    push_crowds(t, h)
    rod_laws(t, h, damping)
    pull_of_loads(t)


@exported
def jacobian(t: Tables, h: float, damping: float) -> None:
    """Newton's matrix at the point of the last ``residuals``, as blocks."""
    inertia_matrix(t, h, 1.0)
    for b in range(t.frames):
        elastic_tangent(t, b, h, damping)
    force_tangent(t, h)
    soft_tangent(t, h, damping)
    pressure_tangent(t, h)
    rod_tangent(t, h)
    interaction_tangent(t, h)
    load_tangent(t, h)


@exported
def inertia_matrix(t: Tables, h: float, moves: float) -> None:
    """The part of it that inertia has, and what the velocities do to all vectors.

    With ``moves`` 0 the derivative of the left sides of (4.6) to (4.8) at constant pose, with 1 all of it.
    """
    fill(t.blocks, t.block_numbers, 0.0)
    for b in range(t.frames):
        inertia_tangent(t, b, h, moves)
    add_masses(t)
    for k in range(t.vectors):
        if t.vector_carrier[k] >= 0:
            levers_and_motions(t, k, h)


@compiled
def add_masses(t: Tables) -> None:
    """To the blocks of V."""
    for p in range(t.mass_pairs):
        b = t.mass_second[p]
        block, width = t.blocks + t.mass_block[p], t.corner_stride[b] if b < t.frames else t.carrier_stride[b]
        for i in range(t.dimension):
            block[i * width + i] += t.mass[p]
