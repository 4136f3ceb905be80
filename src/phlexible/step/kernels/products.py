"""Elements whose energy is a form of products of nodal vectors, over one step (docs/theory.md, 5).

The vectors y of an element are differences of its places to the first one, then its directors; its strains are
products p = y_a . y_b, its energy is (p - p0) . H (p - p0) / 2. With the mean m of y over the step and its change
d, delta(p) = d_a . m_b + m_a . d_b exactly, so that stresses s = H (mean(p) - p0) as forces s m_b on y_a and s m_a
on y_b do the work delta(U) (5.28).
"""

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.dense import add_multiple, add_rows, copy, fill, product
from phlexible.step.compilation.notation import (
    Number,
    Reals,
    Tables,
    Vectors,
    along,
    any_of,
    dot,
    is_nonzero,
    vector,
    where,
)
from phlexible.step.kernels.floating_bodies import add_components, components_of


@compiled
def set_element_vectors(t: Tables, e: int) -> None:
    """Write the nodal vectors of shell element e at the mean of the time step to ``t.product_mean``, and their
    changes in the step to ``t.product_change``. Strains of the element are scalar products of these vectors.
    Position vectors are relative to the element's first node, directors are not. ``t`` contains all arrays of the
    model and its state."""
    nodes, places = t.product_node + t.product_nodes_begin[e], t.product_positions[t.product_group[e]]
    for i in range(t.product_nodes_count[e]):
        start, change = t.position[nodes[i]], t.shift[nodes[i]]
        if i < places:
            start, change = start - t.position[nodes[0]], change - t.shift[nodes[0]]
        t.product_mean[i], t.product_change[i] = start + 0.5 * change, change


@compiled
def multiply_by_stiffness(t: Tables, e: int, x: Reals, y: Reals) -> None:
    """Compute y = H x with the stiffness H of shell element e, whose strains are scalar products of nodal vectors.
    H consists of a few symmetric diagonal blocks; x and y have one entry for each scalar product. y is
    overwritten. ``t`` contains all arrays of the model and its state."""
    g, H, row = t.product_group[e], t.product_stiffness + t.product_entries_begin[e], 0
    fill(y, t.product_pairs_count[g], 0.0)
    for b in range(t.product_blocks_begin[g], t.product_blocks_end[g]):
        size = t.product_size[b]
        add_rows(x + row, size, H, size, y + row, size)
        H, row = H + size * size, row + size


@compiled
def product_gamma(t: Tables, e: int, h: float, damping: float) -> float:
    """Return the ratio of damping stress to the increment of elastic stress of product element e in a time step.
    It is viscosity tau over the length h of the step [s], plus numerical ``damping``. A product element is a shell
    element whose strains are scalar products of nodal vectors. ``t`` contains all arrays of the model and its
    state."""
    return t.product_viscosity[t.product_group[e]] / h + damping


@compiled
def slope_index(t: Tables, e: int, h: float, damping: float) -> float:
    """Return the factor k such that the stresses of product element e are differentiated at the nodal vectors mean
    + k change. Mean and change are those of the time step. For means of the stresses at both ends k is 1/2, which
    is the end of the step, for stresses at the mean vectors 0; damping of the ratio gamma moves it to 1/2. h is the
    length of the step [s], ``damping`` numerical damping. A product element is a shell element whose strains are
    scalar products of nodal vectors.
    """
    gamma = product_gamma(t, e, h, damping)
    return (t.product_square[t.product_group[e]] + 0.5 * gamma) / (0.5 + gamma)


@exported
def add_product_forces(t: Tables, h: float, damping: float) -> None:
    """Add h times the mean forces of all shell elements to the residuals of their nodes in ``t.residual``,
    positive where they resist a displacement. Strains of these elements are scalar products of nodal vectors.
    Stresses are written to ``t.product_stress``; the energies stored and lost in the time step of length h [s] are
    added to ``t.family_work`` [J]. ``damping`` is numerical damping."""
    for e in range(t.product_elements):
        g, gamma = t.product_group[e], product_gamma(t, e, h, damping)
        square = t.product_square[g]
        first, second = t.product_first + t.product_pairs_begin[g], t.product_second + t.product_pairs_begin[g]
        stress, rest = t.product_stress + t.product_rests_begin[e], t.product_rest + t.product_rests_begin[e]
        set_element_vectors(t, e)
        for p in range(t.product_pairs_count[g]):
            a, b = first[p], second[p]
            m, n, c, d = t.product_mean[a], t.product_mean[b], t.product_change[a], t.product_change[b]
            t.product_step[p] = dot(c, n) + dot(m, d)
            t.product_strain[p] = dot(m, n) - rest[p] + square * dot(c, d)
        multiply_by_stiffness(t, e, t.product_strain, stress)
        work, size = 0.0, 0.0
        for p in range(t.product_pairs_count[g]):
            work += stress[p] * t.product_step[p]
            size += abs(stress[p] * t.product_step[p])
        t.family_work[0] += work
        t.family_work[1] += size
        if any_of(is_nonzero(gamma)):
            multiply_by_stiffness(t, e, t.product_step, t.product_strain)
            t.family_work[2] += gamma * product(t.product_strain, t.product_step, t.product_pairs_count[g])
            add_multiple(stress, gamma, t.product_strain, t.product_pairs_count[g])
        add_element_forces(t, e, h, stress, t.product_mean)


@compiled
def add_element_forces(t: Tables, e: int, factor: float, stress: Reals, vectors: Vectors) -> None:
    """Add ``factor`` times the nodal forces of the stresses in shell element e to the residuals of its nodes,
    ``t.residual``. Strains are scalar products of nodal vectors a and b, and ``stress`` has one entry for each. A
    force on a is stress times the vector of b in ``vectors``, and conversely; nodal vectors after the first
    position are differences from it. ``t`` contains all arrays of the model and its state."""
    g, nodes = t.product_group[e], t.product_node + t.product_nodes_begin[e]
    first, second = t.product_first + t.product_pairs_begin[g], t.product_second + t.product_pairs_begin[g]
    for i in range(t.product_nodes_count[e]):
        t.product_force[i] = vector(0.0, 0.0, 0.0)
    for p in range(t.product_pairs_count[g]):
        a, b, own = first[p], second[p], factor * stress[p]
        t.product_force[a] += own * vectors[b]
        t.product_force[b] += own * vectors[a]
    for i in range(t.product_nodes_count[e] - 1, -1, -1):
        force = t.product_force[i]
        if 0 < i < t.product_positions[g]:
            t.product_force[0] -= force
        add_components(t.residual + t.velocities_begin[nodes[i]], 1, force, t.dimension)


@exported
def add_product_tangents(t: Tables, h: float, damping: float) -> None:
    """Add h times the derivatives of the forces of all shell elements to Newton's matrix ``t.blocks``, for a time
    step of length h [s]. The derivatives are with respect to nodal velocities at the end, with material and
    geometric stiffness; stresses are read from ``t.product_stress``. Strains of these elements are scalar products
    of nodal vectors. ``damping`` is numerical damping, a multiple of the stiffness. See docs/theory.md, 5, (5.29).
    ``t`` contains all arrays of the model and its state."""
    for e in range(t.product_elements):
        k, places = t.product_nodes_count[e], t.product_positions[t.product_group[e]]
        nodes, K = t.product_node + t.product_nodes_begin[e], t.product_matrix
        set_element_vectors(t, e)
        place = slope_index(t, e, h, damping)
        set_element_tangent(t, e, 0.5 * h * h, 0.5 + product_gamma(t, e, h, damping), place)
        for row in range(3 * k):  # of places, the first one moves against the others
            for j in range(1, places):
                for axis in range(3):
                    K[3 * k * row + axis] -= K[3 * (k * row + j) + axis]
        for row in range(3, 3 * places):
            add_multiple(K + 3 * k * (row % 3), -1.0, K + 3 * k * row, 3 * k)
        for i in range(k):
            for j in range(k):
                block = t.blocks + t.product_block[t.product_couples_begin[e] + i * k + j]
                own, width = K + (9 * k * i + 3 * j), t.carrier_stride[nodes[j]]
                for d in range(t.dimension):
                    for axis in range(t.dimension):
                        block[d * width + axis] += own[3 * k * d + axis]


@compiled
def set_element_tangent(t: Tables, e: int, factor: float, share: float, change_factor: float) -> None:
    """Compute ``factor`` times the derivative of the nodal forces of product element e (of a shell) with respect to
    its nodal vectors. It is ``share`` B(mean)^T H B(mean + ``change_factor`` change), plus half of the stresses as
    geometric stiffness, and is written to ``t.product_matrix``, shape (3 k, 3 k) for k nodes. B(y) is the
    derivative of the strains, scalar products of nodal vectors, at the vectors y, and H the stiffness. Mean and
    change are those of ``set_element_vectors``.
    """
    g, k = t.product_group[e], t.product_nodes_count[e]
    first, second = t.product_first + t.product_pairs_begin[g], t.product_second + t.product_pairs_begin[g]
    stress, H = t.product_stress + t.product_rests_begin[e], t.product_stiffness + t.product_entries_begin[e]
    width, pairs, begin = 3 * k, t.product_pairs_count[g], 0
    K, slopes, ends = t.product_matrix, t.product_matrix + width * width, t.product_matrix + width * (width + pairs)
    fill(K, width * (width + 2 * pairs), 0.0)
    for p in range(pairs):
        i, j, scaled = first[p], second[p], factor * share
        u = scaled * (t.product_mean[j] + change_factor * t.product_change[j])
        v = scaled * (t.product_mean[i] + change_factor * t.product_change[i])
        for axis in range(3):
            ends[width * p + 3 * i + axis] += along(u, axis)
            ends[width * p + 3 * j + axis] += along(v, axis)
    for b in range(t.product_blocks_begin[g], t.product_blocks_end[g]):
        size = t.product_size[b]
        for p in range(size):
            add_rows(H + size * p, size, ends + width * begin, width, slopes + width * (begin + p), width)
        H, begin = H + size * size, begin + size
    for p in range(pairs):
        carried = where(t.carries_stress[0] > 0.0, t.product_carried[t.product_rests_begin[e] + p], stress[p])
        i, j, half = first[p], second[p], 0.5 * factor * carried
        for axis in range(3):
            row, other = K + width * (3 * i + axis), K + width * (3 * j + axis)
            add_multiple(row, along(t.product_mean[j], axis), slopes + width * p, width)
            add_multiple(other, along(t.product_mean[i], axis), slopes + width * p, width)
            row[3 * j + axis] += half
            other[3 * i + axis] += half


@compiled
def set_start_stress(t: Tables, e: int) -> None:
    """Write the strains p - p0 of shell element e at the present state to ``t.product_strain`` and its stresses H
    (p - p0) to ``t.product_step``. p are scalar products of nodal vectors, p0 their values without stress, and H
    is the stiffness of the element. Positions are taken relative to the first node. ``t`` contains all arrays of
    the model and its state."""
    g, nodes = t.product_group[e], t.product_node + t.product_nodes_begin[e]
    for p in range(t.product_pairs_count[g]):
        a, b = t.product_first[t.product_pairs_begin[g] + p], t.product_second[t.product_pairs_begin[g] + p]
        x, y = t.position[nodes[a]], t.position[nodes[b]]
        if a < t.product_positions[g]:
            x -= t.position[nodes[0]]
        if b < t.product_positions[g]:
            y -= t.position[nodes[0]]
        t.product_strain[p] = dot(x, y) - t.product_rest[t.product_rests_begin[e] + p]
    multiply_by_stiffness(t, e, t.product_strain, t.product_step)


@exported
def add_product_energy(t: Tables) -> None:
    """Add the elastic energy of all shell elements at the present state to the strain energy ``t.energy[1]`` [J].
    It is half the scalar product of stresses and strains; strains of these elements are scalar products of nodal
    vectors. ``t`` contains all arrays of the model and its state."""
    for e in range(t.product_elements):
        set_start_stress(t, e)
        count = t.product_pairs_count[t.product_group[e]]
        t.energy[1] += 0.5 * product(t.product_strain, t.product_step, count)


# Stresses carried along in Newton's method (docs/theory.md, 5).
#
# Thin shells are far stiffer to stretching than to bending. An update d of positions changes products by B d and a
# quadratic part, which stiff directions turn into stress. Newton's matrix therefore takes stresses s* that follow
# updates linearly (5.30), the first of a step those at its start, and a trial is judged with them, not by the
# residual alone (5.31): Newton's method for positions and stresses, from which stresses are eliminated.


@exported
def start_carried_stresses(t: Tables) -> None:
    """Set the independent stress unknowns of Newton's method, ``t.product_carried``, to the stresses of all shell
    elements at the start of the time step. A stress is H (p - p0) with the stiffness H of the element and scalar
    products p of its nodal vectors, p0 without stress. ``t`` contains all arrays of the model and its state."""
    for e in range(t.product_elements):
        set_start_stress(t, e)
        count = t.product_pairs_count[t.product_group[e]]
        copy(t.product_step, t.product_carried + t.product_rests_begin[e], count)


@exported
def keep_stresses(t: Tables) -> None:
    """Copy the stresses of all product elements (shell elements) from ``t.product_stress`` to ``t.product_here``.
    An update of Newton's method reads from there the stresses at which it starts. ``t`` contains all arrays of the
    model and its state."""
    copy(t.product_stress, t.product_here, t.product_rests)


@compiled
def set_carried_stress(t: Tables, e: int, h: float, damping: float, share: float) -> None:
    """Compute the stresses s* of shell element e, unknowns of Newton's method besides the motion, after the
    fraction ``share`` of an update. A full update leads to the stress where it starts plus stiffness (with damping)
    times the strain of the update ``t.update``; the result, ``share`` of the way from the last s* there, is written
    to ``t.product_strain``. The motion of the nodal vectors since the matrix was factored is written to
    ``t.product_change``. h is the length of the step [s], ``damping`` numerical damping.
    """
    g, nodes, begin = t.product_group[e], t.product_node + t.product_nodes_begin[e], t.product_rests_begin[e]
    first, second = t.product_first + t.product_pairs_begin[g], t.product_second + t.product_pairs_begin[g]
    set_element_vectors(t, e)
    place = slope_index(t, e, h, damping)
    for i in range(t.product_nodes_count[e]):
        t.product_update[i] = (0.5 * h) * components_of(t.update + t.velocities_begin[nodes[i]], t.dimension)
        moved = t.shift[nodes[i]] - t.factored_shift[nodes[i]]
        if 0 < i < t.product_positions[g]:
            t.product_update[i] -= t.product_update[0]
            moved -= t.shift[nodes[0]] - t.factored_shift[nodes[0]]
        t.product_mean[i] += place * (t.product_change[i] - moved) - 0.5 * moved
        t.product_change[i] = moved
    for p in range(t.product_pairs_count[g]):
        a, b = first[p], second[p]
        own, other = dot(t.product_mean[a], t.product_update[b]), dot(t.product_update[a], t.product_mean[b])
        t.product_step[p] = own + other
    multiply_by_stiffness(t, e, t.product_step, t.product_strain)
    gain = 0.5 + product_gamma(t, e, h, damping)
    for p in range(t.product_pairs_count[g]):
        whole = t.product_here[begin + p] + gain * t.product_strain[p]
        before = where(t.carries_stress[0] > 0.0, t.product_carried[begin + p], t.product_here[begin + p])
        t.product_strain[p] = before + share * (whole - before)


@exported
def add_carried_residual(t: Tables, h: float, damping: float, share: Number) -> None:
    """Add the nodal forces h / 2 B(d)^T (s* - s) of all shell elements to ``t.residual``. s are the stresses of the
    present motion; s* are stresses that Newton's method iterates as unknowns besides the motion, here after the
    fraction ``share`` of an update. They are written to ``t.product_trial``. B(y) is the derivative of the strains
    with respect to the nodal vectors at y, linear in y; d is the motion of these vectors since the matrix was
    factored. h is the length of the time step [s], ``damping`` numerical damping. See docs/theory.md, 5, (5.31).
    """
    for e in range(t.product_elements):
        set_carried_stress(t, e, h, damping, share)
        begin, count = t.product_rests_begin[e], t.product_pairs_count[t.product_group[e]]
        copy(t.product_strain, t.product_trial + begin, count)
        add_multiple(t.product_strain, -1.0, t.product_stress + begin, count)
        add_element_forces(t, e, 0.5 * h, t.product_strain, t.product_change)


@exported
def carry_stresses(t: Tables, h: float, damping: float, share: Number) -> None:
    """Copy the stresses of the last trial, ``t.product_trial``, to the independent stress unknowns of Newton's
    method, ``t.product_carried``. Only lanes in which ``share``, the fraction of the update that was used, is
    above 0 change. h and ``damping`` are not used. ``t`` contains all arrays of the model and its state."""
    for p in range(t.product_rests):
        t.product_carried[p] = where(share > 0.0, t.product_trial[p], t.product_carried[p])
