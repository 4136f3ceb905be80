"""A crane that does not swing
============================

A trolley on a rail carries a load on a cable with mass. Pushed and braked without thought the load swings for ever;
braked one period after it was pushed it stands still. The period comes from the linear model.
"""

import matplotlib.pyplot as plt
import numpy as np

import phlexible as ph

TROLLEY, LOAD, LENGTH, LINE, STIFFNESS, GRAVITY = 100.0, 250.0, 6.0, 1.2, 2.0e6, 9.81
FORCE, PUSH = 150.0, 0.6  # [N], [s]

# %%
# A string has no bending stiffness and is described by its mass per length and a law of its tension. Its shape
# at the start is a function of the undeformed length s: here straight down, stretched by what hangs below each
# place.


def crane(brake_after=None):
    model = ph.Model(gravity=(0.0, -GRAVITY, 0.0), dimension=2)
    cable = ph.String(LENGTH, LINE, 12, ph.LinearLaw(STIFFNESS), viscosity=2e-3)

    def depth(s):
        return s + GRAVITY * (LOAD * s + LINE * (LENGTH * s - s**2 / 2)) / STIFFNESS

    trolley = model.add(ph.PointMass(TROLLEY), "trolley")
    rope = model.add(cable, "cable", shape=lambda s: (0.0, -depth(s)))
    load = model.add(ph.PointMass(LOAD), "load", position=(0.0, -depth(LENGTH), 0.0))
    model.connect(ph.Slider(model.ground.at((0.0, 0.0, 0.0)), trolley.origin, axis=(1.0, 0.0, 0.0)))
    model.connect(ph.Spherical(trolley.origin, rope.start))
    model.connect(ph.Spherical(rope.end, load.origin))
    if brake_after is not None:
        switches = (PUSH, brake_after, brake_after + PUSH)

        def push(time):
            is_pushed, is_braked = time < PUSH, brake_after <= time < brake_after + PUSH
            return (FORCE if is_pushed else -FORCE if is_braked else 0.0, 0.0, 0.0)

        model.apply(ph.Force(trolley.origin, push, breakpoints=switches))
    return model


# %%
# The small swings about the hanging equilibrium. A massless cable and a point load would swing with
# :math:`\sqrt{g / l \, (1 + m_l / m_t)}`; the mass of the cable changes that by less than a percent.

swing = crane().linearize(at="static").modes(3).elastic_frequencies[0]
simple = np.sqrt(GRAVITY / LENGTH * (1 + LOAD / TROLLEY))
period = 2 * np.pi / swing
print(f"swings with {swing:.4f} rad/s, the massless cable with {simple:.4f}; period {period:.3f} s")

# %%
# Two runs: braked after one and a half periods, and after a whole number of periods. ``breakpoints`` tell the
# run when the force jumps, so that no step goes over a jump.

figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
swings = {}
for name, instant in {"braked after 1.5 periods": 1.5 * period, "after 2 periods": 2 * period}.items():
    model = crane(instant)
    motion = model.simulate(duration=14.0, step=1e-2)
    offset = motion.position(model["load"].origin)[:, 0] - motion.position(model["trolley"].origin)[:, 0]
    swings[name] = np.abs(offset[motion.time > 7.0]).max()
    axes.plot(motion.time, 1000 * offset, label=name)
axes.set(xlabel="time [s]", ylabel="load beside the trolley [mm]")
axes.legend()
figure.savefig("crane.png", dpi=120)
for name, size in swings.items():
    print(f"{name}: swings on by {1000 * size:.1f} mm")

# %%
# What the cable carries, at its upper and lower end, against the weights of cable and load.

tension = motion.tension(model["cable"])[0]
upper, weight = tension[0], (LOAD + LINE * LENGTH) * GRAVITY
print(f"at the start {upper:.1f} N above, {tension[-1]:.1f} N below")
print(f"weights {weight:.1f} N and {LOAD * GRAVITY:.1f} N")
motion.report("crane.html", title="A crane that does not swing")
