"""Functions w that are sums of products of chords: their changes, forces and derivatives (docs/theory.md, 8).

A chord y = sum_i c_i x_i is a sum of vectors, most often a difference of two points or one direction, and w = sum_t
c_t y_a . y_b - constant. Over a step delta(w) = dw/dx(mean) . delta(x) exactly (8.2), so that forces g dw/dx(mean)
do the work g delta(w) (8.3).
"""

from math import sqrt

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import Tables, Vector, Vectors, along, dot, vector
from phlexible.step.kernels.vectors import (
    end_difference,
    mean_difference,
    subtract_coupling,
    velocity_count,
    velocity_index,
)


@compiled
def prescribed_component(moving: Vectors, component: int) -> float:
    """Return number ``component`` of all components of the prescribed vectors ``moving``, which are functions
    of time with three components each."""
    return along(moving[component // 3], component % 3)


@compiled
def weighted_sum(t: Tables, y: int, x: Vectors) -> Vector:
    """Return weighted sum number y of vectors x in world axes, sum_i c_i x_i, with indices and weights from the
    model. Mostly it is the difference of two positions. It is computed from differences to the first vector, since
    plain sums would lose digits far from the origin. ``t`` contains all arrays of the model and its state."""
    parts, weights = t.chord_vector + t.chord_parts_begin[y], t.chord_weight + t.chord_parts_begin[y]
    first = x[parts[0]]
    total = t.chord_total[y] * first
    for i in range(1, t.chord_parts_count[y]):
        total += weights[i] * (x[parts[i]] - first)
    return total


@compiled
def change_of_function(t: Tables, m: int) -> float:
    """Return the change in the time step of scalar function m of the pose, computed from changes of difference
    vectors, so that nothing cancels. Such functions are sums of products of difference vectors, minus a prescribed
    function of time. Coefficients that depend on time count with their means; forces act along the functions. See
    docs/theory.md, 8, (8.2). ``t`` contains all arrays of the model and its state."""
    total, time = 0.0, t.function_time[m]
    if time >= 0:
        total = prescribed_component(t.moving0, time) - prescribed_component(t.moving1, time)
    for p in range(t.terms_begin[m], t.terms_end[m]):
        a, b = t.term_first[p], t.term_second[p]
        product = dot(t.chord_change[a], mean_difference(t, b)) + dot(mean_difference(t, a), t.chord_change[b])
        total += t.term_mean[p] * product
    return total


@compiled
def apply_function_force(t: Tables, m: int, g: float) -> None:
    """Add the forces g dw/dx of scalar function w, number m, to the forces ``t.pull`` on all points and directions
    x that it contains. g is the generalized force along w; the derivative is the one at the mean pose of the time
    step. See docs/theory.md, 8, (8.3). ``t`` contains all arrays of the model and its state."""
    for p in range(t.terms_begin[m], t.terms_end[m]):
        a, b, factor = t.term_first[p], t.term_second[p], g * t.term_mean[p]
        if t.chord_moves[a] == 1:
            _apply_vector_force(t, a, factor * mean_difference(t, b))
        if t.chord_moves[b] == 1:
            _apply_vector_force(t, b, factor * mean_difference(t, a))


@compiled
def _apply_vector_force(t: Tables, y: int, force: Vector) -> None:
    for i in range(t.chord_parts_begin[y], t.chord_parts_end[y]):
        t.pull[t.chord_vector[i]] += t.chord_weight[i] * force


@compiled
def compute_gradients(t: Tables, m: int) -> None:
    """Compute the derivatives of scalar function m of the pose with respect to the points and directions that it
    contains. They are stored in ``t.left`` for the mean pose of the time step, and in ``t.right`` for its end.
    ``t`` contains all arrays of the model and its state."""
    for e in range(t.function_parts_begin[m], t.function_parts_end[m]):
        k = t.part_vector[e]
        t.left[k], t.right[k] = vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)
    for p in range(t.terms_begin[m], t.terms_end[m]):
        a, b = t.term_first[p], t.term_second[p]
        for _ in range(2):  # both sides of the product
            if t.chord_moves[a] == 1:
                mean, end = t.term_mean[p] * mean_difference(t, b), t.term_end[p] * end_difference(t, b)
                for i in range(t.chord_parts_begin[a], t.chord_parts_end[a]):
                    k = t.chord_vector[i]
                    t.left[k] += t.chord_weight[i] * mean
                    t.right[k] += t.chord_weight[i] * end
            a, b = b, a


@compiled
def add_second_derivatives(t: Tables, m: int, g: float, h: float) -> None:
    """Subtract the geometric stiffness of scalar function m of the pose from Newton's matrix, for a time step of
    length h. It is the generalized force g times the second derivatives, in the blocks of pairs of its points and
    directions. See docs/theory.md, 8, (8.4). ``t`` contains all arrays of the model and its state."""
    for q in range(t.pairs_begin[m], t.pairs_end[m]):
        c = 0.5 * h * g * t.term_mean[t.pair_term[q]] * t.pair_weight[q]
        subtract_coupling(t, c, t.blocks + t.pair_upper[q], t.pair_first[q], t.pair_second[q], h)
        subtract_coupling(t, c, t.blocks + t.pair_lower[q], t.pair_second[q], t.pair_first[q], h)


@compiled
def rotational_curvature(t: Tables, k: int) -> float:
    """Return how much a unit generalized force along a scalar function changes the rotational stiffness of a
    floating body, over its inertia [1/(N s2)]. It is a bound: the length of the function's derivative at point or
    direction k of the body, stored by ``compute_gradients``, times the largest ratio of a lever to the inertia. It
    is zero for nodes. ``t`` contains all arrays of the model and its state.

    Half the square of the step times a generalized force along the function times this is the fraction of the
    inertia by which that force changes Newton's matrix.
    """
    b, largest = t.vector_carrier[k], 0.0
    for i in range(t.dimension, t.rigid_of[b]):
        inverse, arm = t.inverse_inertia[t.velocities_begin[b] + i], (t.lever + t.lever_vectors_begin[k])[i]
        largest = max(largest, inverse * inverse * dot(arm, arm))
    return sqrt(dot(t.left[k], t.left[k]) * largest)


@compiled
def rate_of_function(t: Tables, m: int) -> float:
    """Return the time derivative of scalar function m of the pose (a sum of products of vector differences) at the
    velocities of the state. Prescribed motion does not count. It is the sum of point velocities times the
    derivatives that ``compute_gradients`` has stored in ``t.right``. ``t`` contains all arrays of the model and
    its state."""
    total = 0.0
    for e in range(t.function_parts_begin[m], t.function_parts_end[m]):
        k = t.part_vector[e]
        nu, motion = t.velocity + t.velocities_begin[t.vector_carrier[k]], t.motion + t.lever_vectors_begin[k]
        for i in range(velocity_count(t, k)):
            total += dot(motion[i], t.right[k]) * nu[velocity_index(t, k, i)]
    return total
