"""Elastic force, damping and their exact derivative over one step (docs/theory.md, 3 and 4).

The stress is D (mean(eps) + gamma delta(eps)) with gamma = tau / h + numerical damping: a step loses
exactly gamma delta(eps)^T D delta(eps) (3.4).
"""

from phlexible.compilation.compiled import compiled
from phlexible.compilation.notation import Reals, Tables
from phlexible.kernels.dense import multiply, product


@compiled
def strain_value(t: Tables, s: int, eta: Reals, slopes: Reals) -> float:
    """eps_s(eta); the slopes of its squares go to ``slopes``."""
    value = 0.0
    for i in range(t.strain_first[s], t.strain_last[s]):
        value += t.type_number[t.strain_row[s] + i] * eta[i]
    for g in range(t.square_start[s], t.square_start[s] + t.square_count[s]):
        first = t.square_first[g]
        slope = product(t.type_number + (t.square_row[g] + first), eta + first, t.square_last[g] - first)
        slopes[g] = slope
        value += 0.5 * t.square_factor[g] * slope * slope
    return value


@compiled
def strain_gradient(t: Tables, s: int, slopes_a: Reals, slopes_b: Reals, out: Reals) -> None:
    """B + Q eta of strain s in its support, at the mean of the states with those slopes."""
    for i in range(t.strain_first[s], t.strain_last[s]):
        out[i] = t.type_number[t.strain_row[s] + i]
    for g in range(t.square_start[s], t.square_start[s] + t.square_count[s]):
        value = 0.5 * t.square_factor[g] * (slopes_a[g] + slopes_b[g])
        for i in range(t.square_first[g], t.square_last[g]):
            out[i] += value * t.type_number[t.square_row[g] + i]


@compiled
def begin_strains(t: Tables, b: int) -> None:
    """All strains of frame b and the slopes of their squares at the start of the step."""
    kind, eta = t.type_of[b], t.eta + t.elastic_start[b]
    for s in range(t.strain_start[kind], t.strain_start[kind] + t.strain_count[kind]):
        t.strain0[t.frame_strain[b] + s] = strain_value(t, s, eta, t.slope0 + t.frame_square[b])


@compiled
def strain_energy(t: Tables, b: int, eta: Reals, strain: Reals) -> float:
    """V(eta) of frame b; the strains must be up to date."""
    kind = t.type_of[b]
    n, K, own = t.elastic_count[kind], t.type_number + t.stiffness[kind], strain + t.frame_strain[b]
    energy = 0.0
    for i in range(n):
        energy += 0.5 * eta[i] * product(K + i * n, eta, n)
    for s in range(t.strain_start[kind], t.strain_start[kind] + t.strain_count[kind]):
        energy += 0.5 * t.strain_weight[s] * own[s] * own[s]
    return energy


@compiled
def elastic_forces(t: Tables, b: int, h: float, damping: float) -> None:
    """Elastic and damping forces of frame b against eta (4.8), and its strains at the end."""
    kind, c = t.type_of[b], t.coordinate_start[b] + 1
    n = t.elastic_count[kind]
    eta1 = t.xi1 + c
    gamma, mean, force = t.viscosity[kind] / h + damping, t.elastic_mean + c, t.elastic_force + c
    for i in range(n):
        start, end = t.xi0[c + i], eta1[i]
        mean[i] = 0.5 * (start + end) + gamma * (end - start)
    multiply(t.type_number + t.stiffness[kind], n, n, mean, force)
    slopes0, slopes1, gradient = t.slope0 + t.frame_square[b], t.slope1 + t.frame_square[b], t.gradient + c
    for s in range(t.strain_start[kind], t.strain_start[kind] + t.strain_count[kind]):
        k = t.frame_strain[b] + s
        t.strain1[k] = strain_value(t, s, eta1, slopes1)
        strain_gradient(t, s, slopes0, slopes1, gradient)
        change = 0.0
        for i in range(t.strain_first[s], t.strain_last[s]):
            change += gradient[i] * (eta1[i] - t.xi0[c + i])
        t.strain_change[k] = change
        stress = t.strain_weight[s] * (t.strain0[k] + (0.5 + gamma) * change)
        for i in range(t.strain_first[s], t.strain_last[s]):
            force[i] += stress * gradient[i]
    if t.damping[kind] >= 0:
        C = t.type_number + t.damping[kind]
        for i in range(n):
            mean[i] = 0.5 * (t.rate0[c + i] + t.rate1[c + i])
        for i in range(n):
            force[i] += product(C + i * n, mean, n)


@compiled
def elastic_tangent(t: Tables, b: int, h: float, damping: float, block: Reals) -> None:
    """Add the exact derivative of h ``elastic_forces`` to the frame's block."""
    kind, c, width, rigid = t.type_of[b], t.coordinate_start[b] + 1, t.width_of[b], t.rigid_of[b]
    n, corner = width - rigid, block + rigid * (width + 1)
    gamma = t.viscosity[kind] / h + damping
    slopes0, slopes1 = t.slope0 + t.frame_square[b], t.slope1 + t.frame_square[b]
    mean, end = t.gradient + c, t.gradient1 + c
    K, C = t.type_number + t.stiffness[kind], t.type_number + max(t.damping[kind], 0)
    k_factor, c_factor = 0.5 * h * h * (0.5 + gamma), 0.5 * h if t.damping[kind] >= 0 else 0.0
    for i in range(n):
        for j in range(n):
            corner[i * width + j] += k_factor * K[i * n + j] + c_factor * C[i * n + j]
    for s in range(t.strain_start[kind], t.strain_start[kind] + t.strain_count[kind]):
        k = t.frame_strain[b] + s
        strain_gradient(t, s, slopes0, slopes1, mean)
        strain_gradient(t, s, slopes1, slopes1, end)
        first, last = t.strain_first[s], t.strain_last[s]
        weight = 0.5 * h * h * (0.5 + gamma) * t.strain_weight[s]
        for i in range(first, last):
            x, line = weight * mean[i], corner + i * width
            for j in range(first, last):
                line[j] += x * end[j]
        stress = 0.25 * h * h * t.strain_weight[s] * (t.strain0[k] + (0.5 + gamma) * t.strain_change[k])
        for g in range(t.square_start[s], t.square_start[s] + t.square_count[s]):
            slope, begin, stop = t.type_number + t.square_row[g], t.square_first[g], t.square_last[g]
            for i in range(begin, stop):
                x, line = stress * t.square_factor[g] * slope[i], corner + i * width
                for j in range(begin, stop):
                    line[j] += x * slope[j]


@compiled
def dissipation(t: Tables, b: int, h: float, damping: float) -> float:
    """Energy that frame b loses in the step, from the last residual (3.4)."""
    kind, c = t.type_of[b], t.coordinate_start[b] + 1
    n, gamma, lost = t.elastic_count[kind], t.viscosity[kind] / h + damping, 0.0
    if gamma != 0.0:
        K = t.type_number + t.stiffness[kind]
        change = t.elastic_mean + c
        for i in range(n):
            change[i] = t.xi1[c + i] - t.xi0[c + i]
        for i in range(n):
            lost += gamma * change[i] * product(K + i * n, change, n)
        for s in range(t.strain_start[kind], t.strain_start[kind] + t.strain_count[kind]):
            lost += gamma * t.strain_weight[s] * t.strain_change[t.frame_strain[b] + s] ** 2
    if t.damping[kind] >= 0:
        C, mean = t.type_number + t.damping[kind], t.elastic_mean + c
        for i in range(n):
            mean[i] = 0.5 * (t.rate0[c + i] + t.rate1[c + i])
        for i in range(n):
            lost += h * mean[i] * product(C + i * n, mean, n)
    return lost
