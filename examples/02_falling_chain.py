"""A falling chain
==================

A chain of flexible links falls: build models in a loop, damp them, compare.

Ten aluminium rods hang on a nail, held out horizontally, and are let go. Without damping the energy
stays what it was; with a viscosity of the material the step loses energy in every step, never gains any.
"""

import numpy as np

import phlexible as ph


def chain(viscosity: float) -> ph.Model:
    """Ten links along +x, gravity along -y."""
    aluminium = ph.Material(youngs_modulus=7.0e10, density=2700.0, viscosity=viscosity)
    link = ph.Beam(
        length=0.1,
        section=ph.CircularSection(diameter=3e-3),
        material=aluminium,
        elements=2,
        frame="simply_supported",
    )
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    last = model.ground.at((0.0, 0.0, 0.0))
    for k in range(10):
        body = model.add(link, f"link {k + 1}", position=(0.1 * k, 0.0, 0.0))
        model.connect(ph.Revolute(last, body.start))
        last = body.end
    return model


# %%
# The same fall, twice. Bodies are found by their names.

undamped = chain(viscosity=0.0).simulate(duration=0.5, step=2e-4)
damped = chain(viscosity=1e-4).simulate(duration=0.5, step=2e-4)

total = undamped.energy.total
drift = np.abs(total - total[0]).max() / undamped.energy.kinetic.max()
print(f"without damping the energy stays within {drift:.1e} of the kinetic energy")

losses = np.diff(damped.energy.dissipated)
print(f"with damping {damped.energy.dissipated[-1]:.2e} J are gone; least loss of a step {losses.min():.1e} J")

# %%
# Where is the free end after half a second?

tip = undamped.position(undamped["link 10"].end)[-1]
undamped.plot("falling_chain.png", points=[undamped["link 1"].at(0.05)])
print(f"free end at x = {tip[0]:.4f} m, y = {tip[1]:.4f} m")
