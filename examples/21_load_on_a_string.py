"""A load on a string along a path
==================================

How must the upper end of a string move so that the load on its lower end follows a path? The motion of the load
gives the pull of the lowest element, so where the node above it is, and so on up to the top. Without mass that
is the flat output of a crane (M. Fliess, J. Levine, P. Martin, P. Rouchon, *Flatness and defect of non-linear
systems*, 1995). With mass waves take time: the top moves before the load does and after it (N. Petit, P.
Rouchon, *Flatness of heavy chain systems*, 2001; T. Stroehle, P. Betsch, *A simultaneous space-time
discretization approach to the inverse dynamics of geometrically exact strings*, 2022). `ph.inverse_dynamics`
answers the same question for whole models; here the balance of each node is written out, for all instants at
once.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.interpolate import CubicSpline
from scipy.sparse import coo_array
from scipy.sparse.linalg import spsolve
from scipy.special import betainc

import phlexible as ph

GRAVITY = np.array([0.0, -9.81, 0.0])
LENGTH, DURATION = 5.0, 3.0
TRAVELS = 4  # times that a wave takes along the string, before and after the motion
GROWTH = 1e5  # of round-off from the end to the top, at frequencies that elements do not carry


def acceleration(positions, step):
    """Second differences, at rest at both ends."""
    result = np.zeros_like(positions)
    result[1:-1] = (positions[2:] - 2 * positions[1:-1] + positions[:-2]) / step**2
    return result


def rate(values, step):
    """Central differences, at rest at both ends."""
    result = np.zeros_like(values)
    result[1:-1] = (values[2:] - values[:-2]) / (2 * step)
    return result


# %%
# The balance of a node is an equation of second order in time for the node above it, since the mass of an
# element couples its two nodes. It is a boundary value problem between rest and rest, which Newton's method
# solves at all instants together: nothing is integrated forward, so that nothing grows.


def node_above(node, pull, string, step):
    """Positions of the node above one whose lower side needs a pull (instants, 3) [N]."""
    law, element, count = string.law, string.length / string.elements, len(node)
    coupling = string.line_density * element / 6
    damping = string.viscosity * law.modulus / 4
    size = np.linalg.norm(pull, axis=1, keepdims=True)
    upper = node - element * (1 + size / law.modulus) * pull / size
    inside = np.ones(count)
    inside[[0, -1]] = 0.0
    for _ in range(30):
        line = node - upper
        C = (line**2).sum(axis=1) / element**2
        stress = 2 / element * (law.derivative(C) + damping * rate(C, step))
        if (stress <= 0).any():
            raise ValueError("the string goes slack: the path falls as fast as gravity pulls; take a slower path")
        left = stress[:, None] * line - pull + coupling * acceleration(upper, step)
        slopes = -2 / element**2 * line  # dC of the upper node
        blocks = np.einsum("ki,kj->kij", line, slopes) * (2 / element * law.curvature(C))[:, None, None]
        blocks -= (stress + 2 * coupling / step**2 * inside)[:, None, None] * np.eye(3)
        rows, columns, values = [np.arange(count)], [np.arange(count)], [blocks]
        for sign in (-1, 1):
            row = np.arange(1, count - 1)
            viscous = np.einsum("ki,kj->kij", line[row], slopes[row + sign]) * (sign * damping / (element * step))
            rows.append(row)
            columns.append(row + sign)
            values.append(viscous + coupling / step**2 * np.eye(3))
        row, column, blocks = (np.concatenate(part) for part in (rows, columns, values))
        axes = np.arange(3)
        i = np.broadcast_to(3 * row[:, None, None] + axes[:, None], blocks.shape)
        j = np.broadcast_to(3 * column[:, None, None] + axes, blocks.shape)
        matrix = coo_array((blocks.ravel(), (i.ravel(), j.ravel())), (3 * count,) * 2)
        change = spsolve(matrix.tocsc(), left.ravel()).reshape(-1, 3)
        upper = upper - change
        if np.abs(change).max() < 1e-12 * element:
            return upper
    raise ValueError("no motion of the string was found: take a smaller step, or a slower path")


# %%
# On linear elements waves have cos(k l) = (1 - 2 b) / (1 + b) with b = omega^2 rho A l^2 / (6 N). Above sqrt(12
# N / (rho A)) / l nothing travels, and an inverse multiplies what is there by 2 + sqrt(3) an element. These
# frequencies are left out.


def carried_frequencies(count, step, squares):
    """How many of the lowest frequencies of the window elements carry; ``squares`` are rho A l^2 / N [s^2]."""
    omega = 2 * np.pi * np.fft.rfftfreq(count, step)
    b = omega[:, None] ** 2 * squares / 6
    cosine = np.abs((1 - 2 * b) / (1 + b))
    growth = np.log(np.maximum(cosine, 1.0) + np.sqrt(np.maximum(cosine**2 - 1, 0.0))).sum(axis=1)
    return int((growth <= np.log(GROWTH)).sum())


def string_inverse(string, path, duration, step, load=0.0, gravity=GRAVITY):
    """Instants from -lead to duration + lead, nodes (instants, nodes, 3) from the top down, and the lead [s]."""
    element = string.length / string.elements
    weights = string.line_density * element * np.array([1 / 3, 1 / 6])  # of a node of an element, and its coupling
    tension = np.linalg.norm(gravity) * (load + string.line_density * element * (np.arange(string.elements) + 0.5))
    before = max(10, int(np.ceil(TRAVELS * (element * np.sqrt(string.line_density / tension)).sum() / step)))
    time = step * (np.arange(int(np.ceil(duration / step)) + 2 * before + 1) - before)
    end = np.array([path(t) for t in np.clip(time, 0.0, duration)])
    kept = carried_frequencies(len(time), step, string.line_density * element**2 / tension)
    nodes, pull = [end], load * (gravity - acceleration(end, step))
    for k in range(string.elements):
        node, inner = nodes[-1], min(k, 1)  # the lowest node is at one element only
        pull = pull + (1 + inner) * (weights.sum() * gravity - weights[0] * acceleration(node, step))
        if inner:
            pull = pull - weights[1] * acceleration(nodes[-2], step)
        from_end = node_above(node, pull, string, step) - end
        spectrum = np.fft.rfft(from_end - from_end[0], axis=0)
        spectrum[kept:] = 0.0
        nodes.append(end + from_end[0] + np.fft.irfft(spectrum, len(end), axis=0))
        pull = pull - weights[1] * acceleration(nodes[-1], step)
    return time, np.stack(nodes[::-1], axis=1), before * step


# %%
# A load of 50 kg goes three metres to the right, over a hill. The crane whose top moves as found carries it
# there.


def path(t):
    s = betainc(8, 8, np.clip(t / DURATION, 0.0, 1.0))
    return np.stack([3 * s, 0.3 * np.sin(np.pi * s) ** 2, 0 * s], axis=-1)


def carried(step):
    """The greatest distance of the load from its path [m], and the inverse."""
    string = ph.String(LENGTH, 0.4, 6, ph.LinearLaw(1e5), viscosity=2e-3)
    time, nodes, lead = string_inverse(string, path, DURATION, step, load=50.0)
    top = CubicSpline(time + lead, nodes[:, 0])
    model = ph.Model(gravity=GRAVITY, dimension=2)
    cable = model.add(string, "cable", shape=nodes[0])
    load = model.add(ph.PointMass(50.0), "load", position=nodes[0, -1])
    model.connect(ph.Spherical(model.ground.moving(lambda t: top(np.clip(t, 0.0, time[-1] + lead))), cable.start))
    model.connect(ph.Spherical(cable.end, load.origin))
    motion = model.simulate(DURATION + 2 * lead, step, progress=False)
    return np.abs(motion.position(load.origin) - path(motion.time - lead)).max(), time, nodes


strayed, time, nodes = carried(1e-2)
order = np.log2(carried(2e-2)[0] / strayed)
line = nodes[:, -1] - nodes[:, 0]
swing = np.abs(np.arctan2(line[:, 0], -line[:, 1])).max()
print(f"The load strays by {1e3 * strayed:.2f} mm, of order {order:.1f} in the step, at swings of {swing:.2f} rad")

# %%
# The top of a heavy chain without a load moves as the mean of y(t + 2 sqrt(L / g) sin a) over all angles a. A
# string without mass is one length from its load, against the pull m (g - a).

chain = ph.String(LENGTH, 0.4, 16, ph.LinearLaw(1e6))
chain_time, chain_nodes, _ = string_inverse(chain, lambda t: 0.01 * path(t) * [1, 0, 0], DURATION, 1e-2)
delays = chain_time[:, None] + 2 * np.sqrt(LENGTH / 9.81) * np.sin(np.linspace(0, 2 * np.pi, 200, endpoint=False))
chain_error = np.abs(chain_nodes[:, 0, 0] - 0.01 * path(delays)[..., 0].mean(axis=1)).max() / 0.03
light_time, light_nodes, _ = string_inverse(
    ph.String(LENGTH, 1e-7, 4, ph.LinearLaw(1e9)), path, DURATION, 5e-3, load=50.0
)
h = 1e-3
against = GRAVITY - (path(light_time + h) - 2 * path(light_time) + path(light_time - h)) / h**2
flat = path(light_time) - LENGTH * against / np.linalg.norm(against, axis=1, keepdims=True)
flat_error = np.abs(light_nodes[:, 0] - flat).max()
print(f"The heavy chain is off by {chain_error:.1e} of the path, the massless string by {flat_error:.1e} m")

figure, axes = plt.subplots()
for k in range(0, len(time), len(time) // 12):
    axes.plot(nodes[k, :, 0], nodes[k, :, 1], color="0.6")
axes.plot(nodes[:, 0, 0], nodes[:, 0, 1], label="top")
axes.plot(nodes[:, -1, 0], nodes[:, -1, 1], label="load")
axes.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
axes.legend()
figure.savefig("load_on_a_string.png", dpi=120)
