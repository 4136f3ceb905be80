"""Maxwell branches, springs in series with dashpots, parallel to a law: the exact path of a step (docs/theory.md,
8)."""

from math import exp, expm1

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import Tables, all_of, where

# While theta moves evenly in a step h, a branch has e(s) = e^(-x s) e_n + s A(x s) delta(theta) with x = h / tau,
# s = t / h, A(x) = (1 - e^-x) / x. Its mean is A e_n + B delta(theta), B = (1 - A) / x, and the integral of e^2 is
# A(2x) e_n^2 + 2 Q e_n delta(theta) + R delta(theta)^2, Q = (A(x) - A(2x)) / x, R = (1 - 2 A(x) + A(2x)) / x^2.

SHORT = 0.5  # x below which differences are summed as series
TERMS = 22


@compiled
def update_relaxation(t: Tables, k: int, h: float) -> None:
    """Compute the exponential coefficients of Maxwell branches (spring and dashpot in series) with relaxation time
    number k for time steps of length h [s]. They are the factor by which a strain decays, its mean and gain in the
    time step, and three coefficients of the loss. Short steps use power series. Results are stored at index k of
    ``t.fading_left``, ``t.fading_mean``, ``t.fading_gain`` and ``t.fading_loss...``. Nothing happens if h is the
    step of the last call."""
    if all_of(t.fading_step[k] == h):
        return
    x = h / t.fading_time[k]
    once, twice = -expm1(-x) / x, -0.5 * expm1(-2.0 * x) / x
    is_long = x > SHORT
    B, Q, R = 0.5, 0.5, 1.0 / 3.0
    if not all_of(is_long):
        power, double = 0.5, 2.0  # x^(n-1) / (n+1)! with its sign, 2^n
        for n in range(2, TERMS):
            power *= -x / (n + 1.0)
            double *= 2.0
            B += power
            Q += power * (double - 1.0)
            if n > 2:
                R -= power / x * (double - 2.0)
    B, Q = where(is_long, (1.0 - once) / x, B), where(is_long, (once - twice) / x, Q)
    R = where(is_long, (1.0 - 2.0 * once + twice) / (x * x), R)
    t.fading_step[k] = h
    t.fading_left[k], t.fading_mean[k], t.fading_gain[k] = exp(-x), once, B
    t.fading_loss[k], t.fading_loss_both[k], t.fading_loss_change[k] = x * twice, 2.0 * x * Q, x * R


@compiled
def branch_force(t: Tables, f: int, h: float) -> tuple[float, float]:
    """Return the mean force of the Maxwell branches (springs and dashpots in series) of force element f in a time
    step of length h [s]. It is stiffness times mean spring strain, so that callers subtract it from the force along
    the coordinate theta. The second result is its derivative with respect to theta at the end. Relaxation factors
    are first updated to h. ``t`` contains all arrays of the model and its state.
    """
    pull, slope = 0.0, 0.0
    for b in range(t.branches_begin[f], t.branches_end[f]):
        k = t.branch_fading[b]
        update_relaxation(t, k, h)
        pull += t.branch_stiffness[b] * (
            t.fading_mean[k] * t.branch_strain[b] + t.fading_gain[k] * t.theta_change[f]
        )
        slope += t.branch_stiffness[b] * t.fading_gain[k]
    return pull, slope


@compiled
def advance_branches(t: Tables, f: int, h: float) -> float:
    """Replace the spring strains of the Maxwell branches of force element f by their values at the end of a time
    step. A Maxwell branch is a spring and a dashpot in series; its strain e becomes a e + b times the change of
    the coordinate, with relaxation factors a and b of the step length h [s]. They are stored in
    ``t.branch_strain``. Return the energy that the dashpots lose [J]. ``t`` contains all arrays of the model and
    its state."""
    lost, change = 0.0, t.theta_change[f]
    for b in range(t.branches_begin[f], t.branches_end[f]):
        k, e = t.branch_fading[b], t.branch_strain[b]
        update_relaxation(t, k, h)
        lost += t.branch_stiffness[b] * dashpot_loss(t, k, e * e, e * change, change * change)
        t.branch_strain[b] = t.fading_left[k] * e + t.fading_mean[k] * change
    return lost


@compiled
def dashpot_loss(t: Tables, k: int, strain: float, both: float, change: float) -> float:
    """Return the energy that the dashpot of a Maxwell branch of unit stiffness loses in a time step, by
    docs/theory.md, 8, (8.37). The branch has relaxation time number k. The loss is a quadratic form of the spring
    strain e at the start and the change c of the coordinate: ``strain`` is e e, ``both`` is e c, ``change`` is c c.
    ``t`` contains all arrays of the model and its state.
    """
    return t.fading_loss[k] * strain + t.fading_loss_both[k] * both + t.fading_loss_change[k] * change


@compiled
def branch_energy(t: Tables, f: int) -> float:
    """Return the elastic energy [J] in the springs of the Maxwell branches of force element f at the start of the
    time step. A branch is a spring and a dashpot in series. The energy is the sum of k e^2 / 2 with stiffness k
    and spring strain e. ``t`` contains all arrays of the model and its state."""
    total = 0.0
    for b in range(t.branches_begin[f], t.branches_end[f]):
        total += 0.5 * t.branch_stiffness[b] * t.branch_strain[b] * t.branch_strain[b]
    return total
