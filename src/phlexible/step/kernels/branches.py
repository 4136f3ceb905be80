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
def fade(t: Tables, k: int, h: float) -> None:
    """Compute the coefficients of relaxation time k for steps of length h [s]; they are cached while h stays the
    same."""
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
def pull_of_branches(t: Tables, f: int, h: float) -> tuple[float, float]:
    """Return the mean force of the branches of force f, opposite to its coordinate, and its derivative to
    theta_{n+1}."""
    pull, slope = 0.0, 0.0
    for b in range(t.branches_begin[f], t.branches_end[f]):
        k = t.branch_fading[b]
        fade(t, k, h)
        pull += t.branch_stiffness[b] * (
            t.fading_mean[k] * t.branch_strain[b] + t.fading_gain[k] * t.theta_change[f]
        )
        slope += t.branch_stiffness[b] * t.fading_gain[k]
    return pull, slope


@compiled
def end_branches(t: Tables, f: int, h: float) -> float:
    """Advance the branch strains of force f to the end of the step, and return the energy that its dashpots lose
    [J]."""
    lost, change = 0.0, t.theta_change[f]
    for b in range(t.branches_begin[f], t.branches_end[f]):
        k, e = t.branch_fading[b], t.branch_strain[b]
        fade(t, k, h)
        lost += t.branch_stiffness[b] * lost_of_strain(t, k, e * e, e * change, change * change)
        t.branch_strain[b] = t.fading_left[k] * e + t.fading_mean[k] * change
    return lost


@compiled
def lost_of_strain(t: Tables, k: int, strain: float, both: float, change: float) -> float:
    """Energy that dashpots lose for unit stiffness, from products of strain and change: e e, e change, change^2
    (8.37)."""
    return t.fading_loss[k] * strain + t.fading_loss_both[k] * both + t.fading_loss_change[k] * change


@compiled
def energy_of_branches(t: Tables, f: int) -> float:
    """Energy stored in the springs of the branches of force f [J]."""
    total = 0.0
    for b in range(t.branches_begin[f], t.branches_end[f]):
        total += 0.5 * t.branch_stiffness[b] * t.branch_strain[b] * t.branch_strain[b]
    return total
