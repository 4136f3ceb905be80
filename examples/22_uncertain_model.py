"""A model with uncertain parameters
===================================

Robust control takes a linear model as y = F_u(M, Delta) u: a fixed model M with further inputs w = Delta z,
where Delta = diag(delta_1 I, delta_2 I, ...) holds parameters that are between -1 and 1, as in the Satellite
Dynamics Toolbox. `model.linearize` returns the matrices that this needs. Between the corners of the ranges, M,
C, K and F are taken as affine in each parameter, with products: that is exact at all corners, and everywhere
for masses, densities, moduli, stiffnesses and dampings. Lengths and poses change the joints and have no such
form.
"""

from itertools import combinations, product

import matplotlib.pyplot as plt
import numpy as np
from scipy import linalg

import phlexible as ph

AXIS = (0, 0, 1)


def satellite(stiffness=50.0, hub_inertia=60.0, density=120.0, damping=0.3):
    """A hub with undamped panels and a wheel on a spring and damper."""
    model = ph.gallery.satellite(elements=2, hub_inertia=hub_inertia, density=density, damping_ratio=0.0)
    hub, wheel = model["hub"], model.add(ph.RigidBody(5.0, 2.0), "wheel")
    pin = model.connect(ph.Revolute(hub.origin, wheel.origin))
    model.apply(pin.spring(stiffness, damping=damping))
    outputs = [ph.AngularVelocity(hub.origin, AXIS), ph.Acceleration(model["right panel"].end, (0, 1, 0))]
    return model.linearize([ph.Torque(hub.origin, AXIS)], outputs)


RANGES = {"stiffness": (30.0, 80.0), "hub_inertia": (40.0, 90.0), "density": (100.0, 150.0), "damping": (0.1, 0.5)}

# %%
# The models at the corners, as [M, C, K, -F] in coordinates that the joints leave free and in which the mean
# mass is the identity. Rows of the outputs do not change.


def free_coordinates(linear, basis):
    """[M, C, K, -F] of a linear model, shape (n, 3 n + inputs)."""
    own = linear.mechanics.projected(basis)
    damping = (own.velocity + own.damping).toarray()
    return np.hstack([own.mass.toarray(), damping, own.stiffness.toarray(), -own.forces])


def normalized(part, lower):
    """The same in coordinates lower.T q."""
    n = len(lower)
    blocks = [part[:, k * n : (k + 1) * n] for k in range(3)]
    blocks = [
        linalg.solve_triangular(lower, linalg.solve_triangular(lower, b, lower=True).T, lower=True).T
        for b in blocks
    ]
    return np.hstack([*blocks, linalg.solve_triangular(lower, part[:, 3 * n :], lower=True)])


def output_rows(rows, levels, motion):
    """Rows of displacements (level 0), rates (1) or accelerations (2) over (q, v, ...)."""
    n, found = rows.shape[1], np.zeros((len(rows), motion.shape[1]))
    for i, level in enumerate(levels):
        if level == 2:
            found[i] = rows[i] @ motion
        else:
            found[i, level * n : (level + 1) * n] = rows[i]
    return found


# %%
# Each product of parameters has a matrix: the mean over the corners times the signs of these parameters. Its
# singular values say how often they are repeated in Delta, one link of a chain for each parameter of a product.


def pulled_out(corners, signs, rows, levels):
    """A, B, C, D of M over (x, w, u) and (z, y), and how often each parameter is in Delta."""
    count, n = signs.shape[1], len(corners[0])
    stack = np.array(corners)
    mean = stack.mean(axis=0)
    inputs = mean.shape[1] - 3 * n
    widths = np.r_[n, n, n, inputs]
    largest = [np.abs(block).max(initial=0.0) or 1.0 for block in np.split(mean, np.cumsum(widths)[:-1], axis=1)]
    scale = np.repeat(largest, widths)
    chains = []
    for size in range(1, count + 1):
        for chosen in combinations(range(count), size):
            part = np.tensordot(np.prod(signs[:, chosen], axis=1), stack, axes=1) / len(signs) / scale
            left, singular, right = np.linalg.svd(part)
            rank = int((singular > 1e-13).sum())
            if rank:
                chains.append((chosen, left[:, :rank] * singular[:rank], right[:rank] * scale))
    links = sorted((chosen[k], c, k) for c, (chosen, _, _) in enumerate(chains) for k in range(len(chosen)))
    ranks = [chains[c][1].shape[1] for _, c, _ in links]
    starts = {link[1:]: sum(ranks[:k]) for k, link in enumerate(links)}
    total = sum(ranks)
    by_w = np.zeros((n, total))
    for c, (chosen, left, _) in enumerate(chains):
        begin = starts[c, len(chosen) - 1]
        by_w[:, begin : begin + left.shape[1]] = -left
    motion = np.hstack([-mean[:, 2 * n : 3 * n], -mean[:, n : 2 * n], by_w, -mean[:, 3 * n :]])
    z = np.zeros((total, 2 * n + total + inputs))
    for c, (chosen, left, right) in enumerate(chains):
        for k in range(len(chosen)):
            begin, width = starts[c, k], left.shape[1]
            own = z[begin : begin + width]
            if k:
                before = 2 * n + starts[c, k - 1]
                own[:, before : before + width] = np.eye(width)
                continue
            own += right[:, :n] @ motion
            own[:, n : 2 * n] += right[:, n : 2 * n]
            own[:, :n] += right[:, 2 * n : 3 * n]
            own[:, 2 * n + total :] += right[:, 3 * n :]
    whole = np.vstack([np.eye(n, z.shape[1], n), motion, z, output_rows(rows, levels, motion)])
    sizes = tuple(sum(r for r, link in zip(ranks, links, strict=True) if link[0] == k) for k in range(count))
    return whole[: 2 * n, : 2 * n], whole[: 2 * n, 2 * n :], whole[2 * n :, : 2 * n], whole[2 * n :, 2 * n :], sizes


def closed(A, B, C, D, delta):
    """F_u(M, Delta)."""
    k = len(delta)
    back = delta[:, None] * np.linalg.solve(np.eye(k) - D[:k, :k] * delta, np.hstack([C[:k], D[:k, k:]]))
    n = len(A)
    A, C = A + B[:, :k] @ back[:, :n], C[k:] + D[k:, :k] @ back[:, :n]
    return A, B[:, k:] + B[:, :k] @ back[:, n:], C, D[k:, k:] + D[k:, :k] @ back[:, n:]


def response(A, B, C, D, frequencies):
    return np.array([C @ np.linalg.solve(1j * w * np.eye(len(A)) - A, B) + D for w in frequencies])[:, :, 0]


def lft(linearized, ranges):
    """(A, B, C, D, sizes) of a function of parameters that returns linear models, for ranges by name."""
    signs = np.array(list(product((-1.0, 1.0), repeat=len(ranges))))
    middle, half = halves(ranges)
    models = [linearized(**dict(zip(ranges, (middle + half * s).tolist(), strict=True))) for s in signs]
    first = models[0].mechanics
    basis = linalg.null_space(first.constraint_matrix.toarray())
    parts = [free_coordinates(linear, basis) for linear in models]
    lower = linalg.cholesky(np.mean(parts, axis=0)[:, : basis.shape[1]], lower=True)
    rows = linalg.solve_triangular(lower, np.asarray(first.rows @ basis).T, lower=True).T
    return pulled_out([normalized(part, lower) for part in parts], signs, rows, first.differentiations)


def halves(ranges):
    """Middles and half lengths of ranges."""
    ends = np.array(list(ranges.values()))
    return ends.mean(axis=1), np.diff(ends, axis=1)[:, 0] / 2


# %%
# Three of the four parameters are in Delta once; the model for values between the corners is the linearized
# one.

*uncertain, sizes = lft(satellite, RANGES)
middle, half = halves(RANGES)
frequencies = np.geomspace(0.3, 30.0, 200)


def gap(values):
    """Difference of the responses of M closed and of a model that is linearized anew, of the largest."""
    given = np.array([values.get(name, m) for name, m in zip(RANGES, middle, strict=True)])
    found = response(*closed(*uncertain, np.repeat((given - middle) / half, sizes)), frequencies[::40])
    control = satellite(**dict(zip(RANGES, given.tolist(), strict=True))).to_state_space()
    expected = response(control.A, control.B, control.C, control.D, frequencies[::40])
    return np.abs(found - expected).max() / np.abs(expected).max()


corner, inside = gap({name: low for name, (low, _) in RANGES.items()}), gap({"stiffness": 41.0, "density": 133.0})
print(f"Repetitions {sizes}; off by {corner:.0e} at a corner, by {inside:.0e} inside")

figure, axes = plt.subplots()
for delta in product((-1.0, 1.0), repeat=len(RANGES)):
    seen = np.abs(response(*closed(*uncertain, np.repeat(delta, sizes)), frequencies)[:, 0])
    axes.loglog(frequencies, seen, color="0.6")
axes.loglog(
    frequencies, np.abs(response(*closed(*uncertain, np.zeros(sum(sizes))), frequencies)[:, 0]), label="middle"
)
axes.set(xlabel="frequency [rad/s]", ylabel="rate of the hub per torque [rad/s/(N m)]")
axes.legend()
figure.savefig("uncertain_model.png", dpi=120)
