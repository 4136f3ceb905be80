"""A pendulum, rigid and flexible
================================

The first model: a rod on a hinge. A rigid rod shows how models are put together and what a motion can be
asked; then a steel ruler takes its place and bends while it swings. Nothing but NumPy is assumed.
"""

# sphinx_gallery_thumbnail_number = 2
import numpy as np
from scipy.special import ellipk

import phlexible as ph

# %%
# A body is described once: here a box of aluminium, 1 m long, whose mass and inertia follow from its shape. Its
# origin is where the hinge will be, so its centre is half a metre along its own x axis.

rod = ph.RigidBody.box((1.0, 0.03, 0.03), density=2700.0, center=(0.5, 0.0, 0.0))

# %%
# A model places bodies and joins them. All lengths are metres, angles radians. In a planar model (``dimension=2``)
# everything moves in the xy plane; gravity is given, never assumed. ``model.add`` returns a handle with places for
# joints: ``origin``, any ``point((x, y, z))`` of the body, and for beams ``start``, ``end`` and ``at(x)``.

model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
swing = model.add(rod, "rod")
hinge = model.connect(ph.Revolute(model.ground.at((0.0, 0.0, 0.0)), swing.origin))
model.plot("pendulum_model.png")

# %%
# It starts where it was placed: along x, at rest. The run gives back a motion, which answers questions with arrays
# whose first axis is time.

motion = model.simulate(duration=2.0, step=1e-3)
angle = motion.angle(hinge)
end = motion.position(swing.point((1.0, 0.0, 0.0)))  # shape (2001, 3)
print(f"{len(motion.time)} instants, lowest angle {angle.min():.4f} rad, end at {end[-1]}")

# %%
# Is it right? The time from the horizontal to the vertical is known in closed form, with a complete elliptic
# integral: :math:`T = K(1/2) \sqrt{2 l / (3 g)}`, up to the small width of the box.

inertia = (1.0**2 + 0.03**2) / 12 + 0.5**2  # about the hinge, per mass
exact = ellipk(0.5) * np.sqrt(inertia / (0.5 * 9.81))
first = int(np.argmax(angle < -np.pi / 2))
quarter = np.interp(-np.pi / 2, angle[[first, first - 1]], motion.time[[first, first - 1]])
print(f"vertical after {quarter:.6f} s, exactly {exact:.6f} s")

# %%
# No energy is lost: the total stays what it was, whatever the step. ``motion.plot`` shows what tells most about a
# run, ``motion.report`` writes one file for a browser, with a 3D view that plays.

print(f"energy changes by {np.ptp(motion.energy.total):.1e} J of {motion.energy.kinetic.max():.1f} J")
motion.plot("pendulum.png")

# %%
# Now the ruler: 1 m of steel, 2 mm thick. A flexible body is placed and joined as a rigid one. ``elements`` is the
# number of pieces between which it bends.

steel = ph.Material(youngs_modulus=2.0e11, density=7850.0)
ruler = ph.Beam(1.0, ph.RectangularSection(width=2e-3, height=30e-3), steel, elements=6)
flexible = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
beam = flexible.add(ruler, "ruler")
pin = flexible.connect(ph.Revolute(flexible.ground.at((0.0, 0.0, 0.0)), beam.start))
wobble = flexible.simulate(duration=2.0, step=1e-3)

# %%
# How far is its middle from the straight line between its ends? And what did the hinge have to hold?

bend = wobble.elastic_displacement(beam.at(0.5))[:, 1]
force = np.linalg.norm(wobble.reaction(pin), axis=1)
print(f"bends by {1000 * np.abs(bend).max():.1f} mm; the hinge holds up to {force.max():.1f} N")
wobble.report("pendulum.html", title="A ruler that swings")

# %%
# Things to try: give the material ``viscosity=1e-3`` and see where the energy goes
# (``wobble.energy.dissipated``), make the ruler thinner until a warning tells that it bends too far for one
# body, hang a ``ph.PointMass(0.2)`` on its end with a second ``ph.Revolute``.
