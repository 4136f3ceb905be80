"""Large deflections: a beam in parts
===================================

A beam bends little in its own frame. A beam that bends far is cut into parts, each with a frame of its own;
how many are needed is seen here on the elastica, the exact shape of a cantilever under a dead load at its
end.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import phlexible as ph

# %%
# A unit cantilever with EI = 1, practically inextensible, under P = 2: the exact tip moves by 0.160642 back and by
# 0.493457 up (elliptic integrals). ``beam.split(n)`` cuts it; ports and results are those of one beam.

EXACT = (1 - 0.160642, 0.493457)
beam = ph.Beam(1.0, ph.Section(area=1.0, second_moment_y=1e-6), ph.Material(1e6, 1.0), elements=8)


def cantilever(parts, load=2.0):
    model = ph.Model(dimension=2)
    body = model.add(beam.split(parts) if parts > 1 else beam, "beam")
    model.connect(ph.Fixed(model.ground.at((0.0, 0.0, 0.0)), body.start))
    model.apply(ph.Force(body.end, (0.0, load, 0.0)))
    return model, body


# %%
# ``equilibrium`` looks for the pose at which everything balances. It warns of one body and of two parts, which bend
# further than a beam may in its own frame: that is what is compared here, so these warnings are expected.

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
errors = {}
for parts in (1, 2, 4, 8):
    model, body = cantilever(parts)
    with warnings.catch_warnings():
        if parts < 4:
            warnings.simplefilter("ignore", ph.LargeDeflectionWarning)
        rest = model.equilibrium()
    x, y = np.array([rest.position(body.at(s))[:2] for s in np.linspace(0, 1, 65)]).T
    errors[parts] = float(np.hypot(x[-1] - EXACT[0], y[-1] - EXACT[1]))
    axes.plot(x, y, label=f"{parts} parts" if parts > 1 else "one body")
    print(f"{parts} parts: tip off by {100 * errors[parts]:.3f} % of the length")
error = errors[8]
axes.plot(*EXACT, "o", mfc="none", mec="black", label="tip of the elastica")
axes.set(aspect="equal", xlabel="x / L", ylabel="y / L")
axes.legend()
figure.savefig("large_deflections.png", dpi=120)

# %%
# The library tells when one body is not enough: a run of the uncut beam warns as its equilibrium does,
# and says what to do.

model, body = cantilever(1)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model.simulate(duration=0.5, step=1e-2)
print(next(str(warning.message) for warning in caught if issubclass(warning.category, ph.LargeDeflectionWarning)))

# %%
# In motion: half of the load is there at once, and the beam in eight parts swings about its shape.

model, body = cantilever(8, load=1.0)
motion = model.simulate(duration=4.0, step=1e-2)
print(f"energy changes by {np.abs(motion.energy.balance_error).max():.1e} J of {motion.energy.kinetic.max():.2f} J")
motion.report("large_deflections.html", title="A cantilever under a sudden load")

# %%
# Where a body bends and twists without limit in space, take a :doc:`rod </tutorials/14_rods>`.
