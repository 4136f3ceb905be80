"""A crank-slider whose coupler bends
=====================================

A crank-slider whose coupler bends: describe, simulate, look.

A crank of 150 mm turns at 150 rad/s and drags a slider over a steel rod, 300 mm long and 6 mm thick.
The rod is so slender that it bends by 1.5 % of its length. Run it with
``python examples/01_crank_slider.py``; it writes ``crank_slider.png`` and ``crank_slider_energy.png``
into the current folder.
"""

import numpy as np

import phlexible as ph

# %%
# A body is described once, without a place. The rod lies along its own x axis, from start to end.
# Its body frame passes through both ends ("simply_supported"), so that elastic displacement means
# what one would measure from the straight line between them.

steel = ph.Material(youngs_modulus=2.0e11, density=7870.0)
rod = ph.Beam(
    length=0.3,
    section=ph.CircularSection(diameter=6e-3),
    material=steel,
    elements=8,
    frame="simply_supported",
    rotary_inertia=False,
)

# %%
# A model places bodies. add returns a handle whose start, end, at(x) are ports for joints and loads.

model = ph.Model(dimension=2)
coupler = model.add(rod, "coupler", position=(0.15, 0.0, 0.0))
slider = model.add(ph.PointMass(0.033), "slider", position=(0.45, 0.0, 0.0))

# %%
# The crank is rigid and its motion is given, so it is no body at all but a moving point of the ground.

pin = model.ground.moving(lambda t: (0.15 * np.cos(150 * t), 0.15 * np.sin(150 * t), 0.0))
model.connect(ph.Revolute(pin, coupler.start))
wrist = model.connect(ph.Revolute(coupler.end, slider.origin))
model.connect(ph.Slider(model.ground.at((0, 0, 0)), slider.origin, axis=(1, 0, 0)))

# %%
# Initial velocities are not given, so they are solved from the joints and from the motion of the pin.

motion = model.simulate(duration=0.1, step=2e-5)

# %%
# How far does the middle of the rod bend, relative to its length?

bend = motion.elastic_displacement(coupler.at(0.15))[:, 1] / 0.3
peak, instant = np.abs(bend).max(), motion.time[np.abs(bend).argmax()]
print(f"greatest bend: {100 * peak:.3f} % of the length at t = {1000 * instant:.1f} ms")

# %%
# The pin drives the mechanism. What it supplies is what the mechanism stores, to the last digits.

print(f"energy balance: off by {np.abs(motion.energy.balance_error).max():.1e} J")

# %%
# The wrist holds the slider: its force on the second port, in world axes.

force = np.linalg.norm(motion.reaction(wrist), axis=1)
print(f"greatest force in the wrist: {force.max():.0f} N")

motion.plot_mechanism(times=np.linspace(0.01, 0.05, 8), path="crank_slider.png")
motion.plot_energy("crank_slider_energy.png")
