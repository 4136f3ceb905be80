"""A flexible pole learns to stand
===============================

``ph.gym.Env`` makes an environment of a model, as libraries for reinforcement learning take it. Here the learner is
the simplest there is: it changes a linear policy at random and keeps what stood longer and with less pushing.
"""

import matplotlib.pyplot as plt
import numpy as np

import phlexible as ph

# %%
# A cart on a rail, a thin pole with a weight at its tip on a hinge; an action is a push between -20 and 20 N. Each
# episode begins with another lean. The pole bends: what counts is where its tip is, not how its foot is turned.


def pole(random):
    return ph.gallery.flexible_pole(angle=random.uniform(-0.08, 0.08), thickness=2e-3)


def observe(model):
    return [ph.Position(model["cart"].origin), ph.Position(model["tip"].origin)]


def lean(seen):
    """Of the tip beside the cart [m]."""
    return seen[3] - seen[0]


env = ph.gym.Env(
    pole,
    step=5e-3,
    interval=0.02,
    actions={"push": (-20.0, 20.0)},
    observe=observe,
    reward=lambda seen, push: 1.0 - 10.0 * abs(lean(seen)) - 0.5 * abs(seen[0]),
    is_over=lambda seen: bool(abs(lean(seen)) > 0.3 or abs(seen[0]) > 1.0),
    duration=2.0,
)


def episode(policy, seed):
    """What a policy earns: four numbers that scale place and speed of the cart, lean and its speed."""
    seen, _ = env.reset(seed=seed)
    before, earned, is_over, is_late = seen, 0.0, False, False
    while not (is_over or is_late):
        now = np.array([seen[0], lean(seen)])
        speed = (now - [before[0], lean(before)]) / 0.02
        push = policy @ [now[0], speed[0], now[1], speed[1]]
        before = seen
        seen, reward, is_over, is_late, _ = env.step(np.clip([push], -1.0, 1.0))
        earned += reward
    return earned


# %%
# Random search: a step in a random direction, and the other way round; each trial has the same two leans.

random = np.random.default_rng(1)
policy, best, earned = np.zeros(4), -np.inf, []
size = np.array([1.0, 2.0, 10.0, 3.0])
for _ in range(9):
    step = size * random.normal(size=4)
    for trial in (policy, policy + step, policy - step)[not earned :]:
        mean = float(np.mean([episode(trial, seed) for seed in range(2)]))
        if mean > best:
            policy, best = trial, mean
        earned.append(mean)
    size *= 0.9
print(f"policy {np.round(policy, 2)} earns {best:.1f} of 100")

# %%
# Does it stand from leans that it was never shown? ``env.run.motion`` is the episode as a motion, with its
# energies: a push is an input like any other, and the ledger closes.

figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
axes[0].plot(np.maximum.accumulate(earned), drawstyle="steps-post")
axes[0].plot(earned, "k.", ms=4)
axes[0].set(xlabel="trial", ylabel="earned, of 100")
stands = 0
for seed in range(10, 15):
    episode(policy, seed)
    motion, model = env.run.motion, env.run.motion.mechanism
    tip = motion.position(model["tip"].origin)[:, 0] - motion.position(model["cart"].origin)[:, 0]
    stands += motion.time[-1] > 1.99 and np.abs(tip[motion.time > 1.0]).max() < 0.5 * abs(tip[0])
    axes[1].plot(motion.time, 1000 * tip)
axes[1].set(xlabel="time [s]", ylabel="tip beside the cart [mm]")
figure.savefig("balancing.png", dpi=120)
missing = float(np.abs(motion.energy.balance_error).max())
print(f"{stands} of 5 new leans stand; the energy balance closes to {missing:.0e} J")

# %%
# A check from outside: left alone a stiff pole falls as :math:`\\cosh kt` with
# :math:`k^2 = g s (M + m) / ((M + m) I - s^2)`, and so does this one, since nothing bends it as long as it falls.

M, length, line, load = 1.0, 1.0, 2700.0 * 0.02 * 2e-3, 0.1
m, s, I = line * length + load, line * length**2 / 2 + load * length, line * length**3 / 3 + load * length**2
k = np.sqrt(9.81 * s * (M + m) / ((M + m) * I - s**2))

falling = ph.gallery.flexible_pole(angle=1e-3, thickness=2e-3).simulate(1.0, 5e-3, progress=False)
tip, cart = (falling.position(falling.mechanism[name].origin)[:, 0] for name in ("tip", "cart"))
fallen = (tip - cart)[-1] / (1e-3 * np.cosh(k))
print(f"after a second it is {fallen:.4f} times as far beside the cart as a stiff one")
