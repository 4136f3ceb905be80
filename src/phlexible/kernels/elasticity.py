"""Elastic force, damping and their exact derivative over one step (docs/theory.md, 3 and 4).

The quadratic part of a strain is a sum of weighted squares of slopes L_g.eta, or eta.C eta / 2 with a matrix, whose
rows then stand in place of the L_g: one row for each coordinate in the support of the strain (3.1).

The stress is D (mean(eps) + gamma delta(eps)) with gamma = tau / h + numerical damping: a step loses
exactly gamma delta(eps)^T D delta(eps) (3.4). Matrices of a type are dense patches, which hold their columns one
after the other, and zero outside of these: those of long bodies are banded.
"""

from phlexible.compilation.compiled import compiled
from phlexible.compilation.dense import add_multiple, add_rows, fill, product
from phlexible.compilation.notation import Integers, Reals, Tables


@compiled
def strain_value(t: Tables, s: int, eta: Reals, slopes: Reals) -> float:
    """eps_s(eta); the slopes of its squares go to ``slopes``."""
    value = 0.0
    for i in range(t.strain_first[s], t.strain_last[s]):
        value += t.type_number[t.strain_row[s] + i] * eta[i]
    start, end = t.square_start[s], t.square_start[s] + t.square_count[s]
    if t.strain_has_matrix[s] == 1:
        for g in range(start, end):
            slopes[g] = slope_of(t, g, eta)
            value += 0.5 * eta[t.strain_first[s] + g - start] * slopes[g]
        return value
    for g in range(start, end):
        slope = slope_of(t, g, eta)
        slopes[g] = slope
        value += 0.5 * t.square_factor[g] * slope * slope
    return value


@compiled
def slope_of(t: Tables, g: int, eta: Reals) -> float:
    """L_g.eta."""
    first = t.square_first[g]
    return product(t.type_number + (t.square_row[g] + first), eta + first, t.square_last[g] - first)


@compiled
def strain_gradient(t: Tables, s: int, slopes_a: Reals, slopes_b: Reals, out: Reals) -> None:
    """B + Q eta of strain s in its support, at the mean of the states with those slopes."""
    for i in range(t.strain_first[s], t.strain_last[s]):
        out[i] = t.type_number[t.strain_row[s] + i]
    start = t.square_start[s]
    if t.strain_has_matrix[s] == 1:
        for g in range(start, start + t.square_count[s]):
            out[t.strain_first[s] + g - start] += 0.5 * (slopes_a[g] + slopes_b[g])
        return
    for g in range(start, start + t.square_count[s]):
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
    own = strain + t.frame_strain[b]
    energy = 0.5 * quadratic_form(t, t.stiffness_start[kind], t.stiffness_count[kind], eta)
    for s in range(t.strain_start[kind], t.strain_start[kind] + t.strain_count[kind]):
        energy += 0.5 * t.strain_weight[s] * own[s] * own[s]
    return energy


@compiled
def parts_of_strain_energy(t: Tables, b: int, eta: Reals, strain: Reals, slopes: Reals) -> float:
    """Sizes of the parts that V(eta) is the sum of, many times V where they cancel; strains must be up to date."""
    kind, own = t.type_of[b], strain + t.frame_strain[b]
    total, at = 0.0, slopes + t.frame_square[b]
    for k in range(t.stiffness_start[kind], t.stiffness_start[kind] + t.stiffness_count[kind]):
        A, length = t.type_number + t.patch_number[k], t.patch_rows[k]
        for j in range(t.patch_columns[k]):
            x = abs(eta[t.patch_column[k] + j])
            for i in range(length):
                total += 0.5 * x * abs(A[j * length + i] * eta[t.patch_row[k] + i])
    for s in range(t.strain_start[kind], t.strain_start[kind] + t.strain_count[kind]):
        parts, stress, start = 0.0, t.strain_weight[s] * abs(own[s]), t.square_start[s]
        for i in range(t.strain_first[s], t.strain_last[s]):
            parts += abs(t.type_number[t.strain_row[s] + i] * eta[i])
        for g in range(start, start + t.square_count[s]):
            factor = (
                eta[t.strain_first[s] + g - start] if t.strain_has_matrix[s] == 1 else t.square_factor[g] * at[g]
            )
            for i in range(t.square_first[g], t.square_last[g]):
                parts += abs(factor * t.type_number[t.square_row[g] + i] * eta[i])
        total += stress * parts
    return total


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
    fill(force, n, 0.0)
    add_image(t, t.stiffness_start[kind], t.stiffness_count[kind], mean, force)
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
    if t.damping_count[kind] > 0:
        for i in range(n):
            mean[i] = 0.5 * (t.rate0[c + i] + t.rate1[c + i])
        add_image(t, t.damping_start[kind], t.damping_count[kind], mean, force)


@compiled
def elastic_tangent(t: Tables, b: int, h: float, damping: float) -> None:
    """Add the exact derivative of h ``elastic_forces`` to the block (eta, eta) of frame b."""
    kind, c, lines = t.type_of[b], t.coordinate_start[b] + 1, t.line + t.elastic_start[b]
    gamma = t.viscosity[kind] / h + damping
    slopes0, slopes1 = t.slope0 + t.frame_square[b], t.slope1 + t.frame_square[b]
    mean, end = t.gradient + c, t.gradient1 + c
    _add_matrix(t, lines, t.stiffness_start[kind], t.stiffness_count[kind], 0.5 * h * h * (0.5 + gamma))
    _add_matrix(t, lines, t.damping_start[kind], t.damping_count[kind], 0.5 * h)
    for s in range(t.strain_start[kind], t.strain_start[kind] + t.strain_count[kind]):
        k = t.frame_strain[b] + s
        strain_gradient(t, s, slopes0, slopes1, mean)
        strain_gradient(t, s, slopes1, slopes1, end)
        first, last = t.strain_first[s], t.strain_last[s]
        weight = 0.5 * h * h * (0.5 + gamma) * t.strain_weight[s]
        for i in range(first, last):
            x, line = weight * mean[i], t.blocks + lines[i]
            for j in range(first, last):
                line[j] += x * end[j]
        stress = 0.25 * h * h * t.strain_weight[s] * (t.strain0[k] + (0.5 + gamma) * t.strain_change[k])
        _add_curvature(t, s, lines, stress)


@compiled
def _add_curvature(t: Tables, s: int, lines: Integers, stress: float) -> None:
    """Add stress times the second derivative of strain s to the block (eta, eta)."""
    start, end = t.square_start[s], t.square_start[s] + t.square_count[s]
    if t.strain_has_matrix[s] == 1:
        for g in range(start, end):
            begin = t.square_first[g]
            line = t.blocks + (lines[t.strain_first[s] + g - start] + begin)
            add_multiple(line, stress, t.type_number + (t.square_row[g] + begin), t.square_last[g] - begin)
        return
    for g in range(start, end):
        slope, begin, stop = t.type_number + t.square_row[g], t.square_first[g], t.square_last[g]
        for i in range(begin, stop):
            x, line = stress * t.square_factor[g] * slope[i], t.blocks + lines[i]
            for j in range(begin, stop):
                line[j] += x * slope[j]


@compiled
def _add_matrix(t: Tables, lines: Integers, first: int, count: int, factor: float) -> None:
    """Add a symmetric matrix in patches to the block (eta, eta): a column is a row."""
    for s in range(first, first + count):
        length = t.patch_rows[s]
        for k in range(t.patch_columns[s]):
            A = t.type_number + (t.patch_number[s] + k * length)
            add_multiple(t.blocks + (lines[t.patch_column[s] + k] + t.patch_row[s]), factor, A, length)


@compiled
def dissipation(t: Tables, b: int, h: float, damping: float) -> float:
    """Energy that frame b loses in the step, from the last residual (3.4)."""
    kind, c = t.type_of[b], t.coordinate_start[b] + 1
    n, gamma, lost = t.elastic_count[kind], t.viscosity[kind] / h + damping, 0.0
    if gamma != 0.0:
        change = t.elastic_mean + c
        for i in range(n):
            change[i] = t.xi1[c + i] - t.xi0[c + i]
        lost += gamma * quadratic_form(t, t.stiffness_start[kind], t.stiffness_count[kind], change)
        for s in range(t.strain_start[kind], t.strain_start[kind] + t.strain_count[kind]):
            lost += gamma * t.strain_weight[s] * t.strain_change[t.frame_strain[b] + s] ** 2
    if t.damping_count[kind] > 0:
        mean = t.elastic_mean + c
        for i in range(n):
            mean[i] = 0.5 * (t.rate0[c + i] + t.rate1[c + i])
        lost += h * quadratic_form(t, t.damping_start[kind], t.damping_count[kind], mean)
    return lost


@compiled
def add_image(t: Tables, first: int, count: int, x: Reals, y: Reals) -> None:
    """y += A x for the matrix A of ``count`` patches from ``first`` on."""
    for s in range(first, first + count):
        A, rows = t.type_number + t.patch_number[s], t.patch_rows[s]
        add_rows(x + t.patch_column[s], t.patch_columns[s], A, rows, y + t.patch_row[s], rows)


@compiled
def quadratic_form(t: Tables, first: int, count: int, x: Reals) -> float:
    """x . A x."""
    total = 0.0
    for s in range(first, first + count):
        A, rows = t.type_number + t.patch_number[s], t.patch_rows[s]
        for k in range(t.patch_columns[s]):
            total += x[t.patch_column[s] + k] * product(A + k * rows, x + t.patch_row[s], rows)
    return total
