"""A string that goes slack
===========================

A rubber string that is pulled, goes slack and swings: figures 2 to 5 of Kinon et al. (2023).

The same string is integrated by the conserving step of ``simulate`` and, in the paper's form with the strain
as a state, by the implicit midpoint rule. Run it with ``python examples/04_string_pendulum.py``; it writes
``string_pendulum.png`` into the current folder.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import phlexible as ph

# %%
# Table 1: 30 linear elements, L = 1 m, EA = 20 N, rho A = 1 kg/m, h = 10 ms, tip force until 0.2 s.

model = ph.gallery.string_pendulum()
string = model["string"]

# %%
# From 0.22 s on parts of the string are slack. Energy stays exact there, but a real string would buckle in
# its own way, so the library warns; here that is known.

with warnings.catch_warnings():
    warnings.simplefilter("ignore", ph.SlackStringWarning)
    motion = model.simulate(duration=1.0, step=0.01)
print(f"slack first: {motion.slack_parts()[0]}")

# %%
# The paper's form of the same string: states (r, v, C), port forces and velocities of the free end.

down = np.array([1.0, -1.0, 0.0]) / np.sqrt(2)
form = string.body.port_hamiltonian(dimension=2, gravity=(0, -9.81, 0), shape=lambda s: s * down, start="fixed")


def tip_force(time: float, x: np.ndarray) -> np.ndarray:
    return np.ones(2) * np.sin(np.pi * time / 0.2) * (time < 0.2)


other = ph.integrate(form, form.initial_state, tip_force, duration=1.0, step=0.01, method="midpoint").energy

# %%
# After the loading the one keeps its energy to round-off, the other does not.

energy = motion.energy
changes, other_changes = np.abs(np.diff(energy.total)), np.abs(np.diff(other))
kept, lost = changes[20:].max(), other_changes[20:].max()
print(f"largest change of energy in a step: {kept:.1e} J, with implicit midpoint {lost:.1e} J")

# %%
# Figure 2: snapshots; 3: energies; 4: total energy of both schemes; 5: its change in each step.

figure, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
nodes = [motion.position(string.at(s)) for s in string.body.mesh.nodes]
for k in range(0, 101, 10):
    shape = np.array([node[k, :2] for node in nodes])
    axes[0, 0].plot(*shape.T, color=plt.cm.viridis(k / 100), label=f"{motion.time[k]:.1f} s")
axes[0, 0].set(title="snapshots", xlabel="x [m]", ylabel="y [m]", aspect="equal")
axes[0, 0].legend(fontsize=6, loc="upper left")
axes[0, 1].plot(motion.time, energy.total, label="total")
axes[0, 1].plot(motion.time, energy.kinetic, label="kinetic")
axes[0, 1].plot(motion.time, energy.strain + energy.gravity, label="potential")
axes[0, 1].set(title="energies", xlabel="t [s]", ylabel="[J]")
axes[0, 1].legend()
axes[1, 0].plot(motion.time, energy.total, label="discrete gradient")
axes[1, 0].plot(motion.time, other, "--", label="implicit midpoint")
axes[1, 0].set(title="total energy", xlabel="t [s]", ylabel="[J]")
axes[1, 0].legend()
axes[1, 1].semilogy(motion.time[1:], np.maximum(changes, 1e-17), ".", label="discrete gradient")
axes[1, 1].semilogy(motion.time[1:], other_changes, ".", label="implicit midpoint")
axes[1, 1].axhline(1e-11, color="0.5", lw=0.8, label="Newton's tolerance of the paper")
axes[1, 1].set(title="change of energy in a step", xlabel="t [s]", ylabel="[J]")
axes[1, 1].legend(fontsize=8)
figure.savefig("string_pendulum.png", dpi=120)
