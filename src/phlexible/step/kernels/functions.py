"""Functions w that are sums of products of chords: their changes, forces and derivatives (docs/theory.md, 8).

A chord y = sum_i c_i x_i is a sum of vectors, most often a difference of two points or one direction, and w = sum_t
c_t y_a . y_b - constant. Over a step delta(w) = dw/dx(mean) . delta(x) exactly (8.2), so that forces g dw/dx(mean)
do the work g delta(w) (8.3).
"""

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import Tables, Vector, Vectors, along, dot, vector
from phlexible.step.kernels.vectors import couple, end_chord, mean_chord, moved_by, velocity_of


@compiled
def timed(moving: Vectors, component: int) -> float:
    """Return a component of the prescribed vectors, by its number."""
    return along(moving[component // 3], component % 3)


@compiled
def chord_of(t: Tables, y: int, x: Vectors) -> Vector:
    """Return the chord sum c_i x_i, from differences to the first vector: far from the origin sums would cancel."""
    parts, weights = t.chord_vector + t.chord_parts_begin[y], t.chord_weight + t.chord_parts_begin[y]
    first = x[parts[0]]
    total = t.chord_total[y] * first
    for i in range(1, t.chord_parts_count[y]):
        total += weights[i] * (x[parts[i]] - first)
    return total


@compiled
def change_of(t: Tables, m: int) -> float:
    """Return delta(w) of function m at constant coefficients, from changes only (8.2)."""
    total = 0.0
    for p in range(t.terms_begin[m], t.terms_end[m]):
        a, b = t.term_first[p], t.term_second[p]
        product = dot(t.chord_change[a], mean_chord(t, b)) + dot(mean_chord(t, a), t.chord_change[b])
        total += t.term_mean[p] * product
    return total


@compiled
def pull_of(t: Tables, m: int, g: float) -> None:
    """Add g dw/dx(mean) of function m to the forces on the vectors (8.3)."""
    for p in range(t.terms_begin[m], t.terms_end[m]):
        a, b, factor = t.term_first[p], t.term_second[p], g * t.term_mean[p]
        if t.chord_moves[a] == 1:
            _pull(t, a, factor * mean_chord(t, b))
        if t.chord_moves[b] == 1:
            _pull(t, b, factor * mean_chord(t, a))


@compiled
def _pull(t: Tables, y: int, force: Vector) -> None:
    for i in range(t.chord_parts_begin[y], t.chord_parts_end[y]):
        t.pull[t.chord_vector[i]] += t.chord_weight[i] * force


@compiled
def gradients(t: Tables, m: int) -> None:
    """Compute dw/dx of function m at the mean and at the end, into ``left`` and ``right`` of its vectors."""
    for e in range(t.function_parts_begin[m], t.function_parts_end[m]):
        k = t.part_vector[e]
        t.left[k], t.right[k] = vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)
    for p in range(t.terms_begin[m], t.terms_end[m]):
        a, b = t.term_first[p], t.term_second[p]
        for _ in range(2):  # both sides of the product
            if t.chord_moves[a] == 1:
                mean, end = t.term_mean[p] * mean_chord(t, b), t.term_end[p] * end_chord(t, b)
                for i in range(t.chord_parts_begin[a], t.chord_parts_end[a]):
                    k = t.chord_vector[i]
                    t.left[k] += t.chord_weight[i] * mean
                    t.right[k] += t.chord_weight[i] * end
            a, b = b, a


@compiled
def add_curvature(t: Tables, m: int, g: float, h: float) -> None:
    """Subtract g d2w/dx2 at the mean from the blocks of all pairs of vectors in products of function m (8.4)."""
    for q in range(t.pairs_begin[m], t.pairs_end[m]):
        c = 0.5 * h * g * t.term_mean[t.pair_term[q]] * t.pair_weight[q]
        couple(t, c, t.blocks + t.pair_upper[q], t.pair_first[q], t.pair_second[q], h)
        couple(t, c, t.blocks + t.pair_lower[q], t.pair_second[q], t.pair_first[q], h)


@compiled
def rate_of(t: Tables, m: int) -> float:
    """Rate of function m at the velocities of the state, after ``gradients``."""
    total = 0.0
    for e in range(t.function_parts_begin[m], t.function_parts_end[m]):
        k = t.part_vector[e]
        nu, motion = t.velocity + t.velocities_begin[t.vector_carrier[k]], t.motion + t.lever_vectors_begin[k]
        for i in range(moved_by(t, k)):
            total += dot(motion[i], t.right[k]) * nu[velocity_of(t, k, i)]
    return total
