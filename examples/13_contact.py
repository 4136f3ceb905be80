"""Contact: bounces, losses, stops
================================

Things touch: a ball bounces on the ground, with and without loss, and a pendulum swings between stops.
Contact is a force that is there while bodies overlap; the step conserves its energy like that of any spring.
"""

import matplotlib.pyplot as plt
import numpy as np

import phlexible as ph

# %%
# A ball of 1 kg falls from 0.5 m. The ground is a plane on a port, with a stiffness; a step should be shorter than
# about 0.3 / sqrt(stiffness / mass).

GRAVITY, DROP, STIFFNESS = 9.81, 0.5, 1e5


def ball(**loss):
    model = ph.Model(gravity=(0.0, 0.0, -GRAVITY))
    body = ph.RigidBody(1.0, (4e-3, 4e-3, 4e-3), shape=ph.Sphere(0.1))
    placed = model.add(body, "ball", position=(0.0, 0.0, 0.1 + DROP))
    floor = ph.Plane(model.ground.at((0.0, 0.0, 0.0)), normal=(0.0, 0.0, 1.0))
    contact = model.apply(ph.Contact(placed.origin, floor, STIFFNESS, radius=0.1, **loss))
    return model, placed, contact


# %%
# Contacts have a restitution of 0.3 if nothing is given. Without loss the ball comes back for ever. The time from
# top to top is known: twice the fall, and half a period of the ground's spring, longer by the weight.

model, placed, contact = ball(restitution=1)
motion = model.simulate(duration=4.0, step=2e-4)
height = motion.position(placed.origin)[:, 2] - 0.1
tops = motion.time[1:-1][(height[1:-1] > height[:-2]) & (height[1:-1] >= height[2:])]
speed, omega = np.sqrt(2 * GRAVITY * DROP), np.sqrt(STIFFNESS)
exact = 2 * speed / GRAVITY + 2 * (np.pi - np.arctan(speed * omega / GRAVITY)) / omega
period = float(np.diff(tops).mean())
force = motion.element_force(contact).max()
print(f"from top to top {period:.5f} s, exactly {exact:.5f} s; highest force {force:.0f} N")
print(f"height after {len(tops)} bounces: {height[motion.time.searchsorted(tops[-1])]:.9f} m")

# %%
# With damping of the impact each bounce takes a share, which the ledger has.

model, placed, _ = ball(damping=2e4)
damped = model.simulate(duration=4.0, step=2e-4)
figure, axes = plt.subplots(figsize=(8, 3), layout="constrained")
axes.plot(motion.time, height, label="without loss")
axes.plot(damped.time, damped.position(placed.origin)[:, 2] - 0.1, label="with impact damping")
axes.set(xlabel="time [s]", ylabel="height [m]")
axes.legend(loc="upper right")
figure.savefig("contact.png", dpi=120)
lost = damped.energy.dissipated[-1]
print(f"of {GRAVITY * DROP:.3f} J {lost:.3f} J were lost in bounces")

# %%
# Joints have stops and friction of their own: ``joint.stop`` and ``joint.friction``.

swing = ph.Model(gravity=(0.0, -GRAVITY, 0.0), dimension=2)
arm = swing.add(ph.RigidBody.box((0.5, 0.03, 0.03), density=2700.0, center=(0.25, 0.0, 0.0)), "arm")
pin = swing.connect(ph.Revolute(swing.ground.at((0.0, 0.0, 0.0)), arm.origin))
swing.apply(pin.stop(lower=-2.2, upper=0.0, stiffness=500.0))
swing.apply(pin.friction(coulomb=0.05))
between = swing.simulate(duration=4.0, step=5e-4)
angle = between.angle(pin)
lost = between.energy.dissipated[-1]
print(f"angle between {angle.min():.3f} and {angle.max():.3f} rad, friction took {lost:.3f} J")
between.report("contact.html", title="A pendulum between stops")
