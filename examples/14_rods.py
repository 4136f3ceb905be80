"""Rods: bending without limit
============================

A ``Rod`` stretches, shears, bends and twists as far as it likes. A moment rolls a strip up to a circle, a
weight bends the Princeton beam in two planes at once, and a bent strip is let go.
"""

import matplotlib.pyplot as plt
import numpy as np

import phlexible as ph

# %%
# A cantilever under a moment bends to an arc of a circle; with :math:`M = 2 \pi EI / L` the circle closes and
# the tip is back at the clamp.

section = ph.RectangularSection(width=10e-3, height=20e-3)
rubber = ph.Material(youngs_modulus=1e7, density=1100.0, poissons_ratio=0.0, viscosity=0.05)
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for turns in (0.5, 1.0):
    model = ph.Model(dimension=2)
    strip = model.add(ph.Rod(1.0, section, rubber, elements=10, order=2), "strip")
    model.connect(ph.Fixed(model.ground.at((0.0, 0.0, 0.0)), strip.start))
    moment = 2 * np.pi * turns * rubber.youngs_modulus * section.second_moment_z
    model.apply(ph.Torque(strip.end, (0.0, 0.0, moment)))
    rest = model.equilibrium()
    x, y = np.array([rest.position(strip.at(s))[:2] for s in strip.body.node_positions]).T
    axes.plot(x, y, label=f"{turns:g} turns")
gap = float(np.hypot(x[-1], y[-1]))
axes.set(aspect="equal", xlabel="x [m]", ylabel="y [m]")
axes.legend()
figure.savefig("roll_up.png", dpi=120)
print(f"after a full turn the tip is {1000 * gap:.4f} mm from the clamp")

# %%
# The Princeton beam: an aluminium strip under a tip weight at an angle to its section. Bending in two planes and
# torsion act on each other. Beam elements of another program find 0.10899 m across the thin side.

princeton = ph.gallery.princeton_beam()
tip = princeton.equilibrium().position(princeton["beam"].end)
print(f"tip moves by {tip[2]:.5f} m across the thin side, {tip[1]:.5f} m across the wide side")

# %%
# ``shape=`` places a rod along a curve; it stores no energy there, unless ``stress_free="straight"``. Here a
# straight strip was bent to a quarter of a circle and is let go: its energy swings between bending and motion.

free = ph.Model(dimension=2)
steel = ph.Material(youngs_modulus=2.0e11, density=7850.0)
bow = ph.Rod(
    1.0, ph.RectangularSection(width=1e-3, height=20e-3), steel, elements=12, order=2, stress_free="straight"
)
radius = 2 / np.pi
arc = free.add(bow, "strip", shape=lambda s: (radius * np.sin(s / radius), radius * (1 - np.cos(s / radius)), 0.0))
free.connect(ph.Fixed(free.ground.at((0.0, 0.0, 0.0)), arc.start))
motion = free.simulate(duration=0.6, step=1e-3)
stored = motion.energy.strain[0]
exact = 0.5 * steel.youngs_modulus * bow.section.second_moment_z / radius**2
print(f"stored at the start {stored:.5f} J, exactly {exact:.5f} J")
print(f"the total changes by {np.ptp(motion.energy.total):.1e} J")
motion.report("rods.html", title="A bent strip is let go")
