"""Two beams in free flight
===========================

Two flexible beams tumble in space: what a free system keeps.

No support, no load: linear and angular momentum and the energy must stay what they were, although both
beams bend, twist and turn over. The gallery has this model ready; ``phlexible run free-pair`` runs it too.
"""

import numpy as np

import phlexible as ph

model = ph.gallery.free_pair()
motion = model.simulate(duration=2.0, step=1e-3)


def change(values: np.ndarray) -> float:
    """Greatest change of a quantity over the motion, relative to its size."""
    return float(np.abs(values - values[0]).max() / np.abs(values[0]).max())


changes = {
    "energy": change(motion.energy.total),
    "linear momentum": change(motion.momentum.linear),
    "angular momentum": change(motion.momentum.angular),
}
for name, value in changes.items():
    print(f"{name:<17} changes by {value:.1e}")
worst = max(changes.values())

# %%
# The joint holds: both ports are one point, however far they have come.

first, second = model["first"].end, model["second"].start
gap = np.abs(motion.position(first) - motion.position(second)).max()
print(f"joint gap {gap:.1e} m after a way of {np.linalg.norm(motion.position(first)[-1]):.1f} m")

# %%
# The energy wanders between motion and deformation all the time.

share = motion.energy.strain.max() / motion.energy.total[0]
print(f"up to {100 * share:.1f} % of the energy is in the deformation")
motion.plot("free_flight.png")
