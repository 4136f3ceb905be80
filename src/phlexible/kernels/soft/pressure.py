"""Pressure on the surfaces of soft bodies over a step, and its work (docs/theory.md, 5).

A face at x(r, s) has the normal n = x,r x x,s, a quadratic function of its nodes: its mean along the way from x_n
to x_{n+1} is mean(x,r) x mean(x,s) + delta(x,r) x delta(x,s)/12, and forces p N n of it do the work p delta(V)
exactly on a closed surface (5.17).
"""

from phlexible.compilation.compiled import compiled, exported
from phlexible.compilation.notation import Tables, Vector, along, cross, dot, vector
from phlexible.kernels.moments import unit
from phlexible.kernels.soft.slopes import slope_along
from phlexible.tables.declarations import PRESSURE


@compiled
def mean_tangent(t: Tables, f: int, p: int, a: int) -> Vector:
    """Mean of x,r (a = 1) or x,s (a = 2) of face f at point p."""
    m, nodes = t.face_count[f], t.face_node + t.face_first[f]
    start = slope_along(t.position, nodes, t.face_number + (t.face_shape[f] + p * m), m, a)
    return start + 0.5 * tangent_change(t, f, p, a)


@compiled
def tangent_change(t: Tables, f: int, p: int, a: int) -> Vector:
    """Its change in the step."""
    m, nodes = t.face_count[f], t.face_node + t.face_first[f]
    return slope_along(t.shift, nodes, t.face_number + (t.face_shape[f] + p * m), m, a)


@compiled
def mean_normal(t: Tables, f: int, p: int) -> Vector:
    """Of x,r x x,s along the way."""
    turn = cross(tangent_change(t, f, p, 1), tangent_change(t, f, p, 2))
    return cross(mean_tangent(t, f, p, 1), mean_tangent(t, f, p, 2)) + (1.0 / 12.0) * turn


@exported
def add_pressures(t: Tables, h: float) -> None:
    """Subtract h times the forces of all pressures from the balances of their nodes."""
    for q in range(t.loads):
        for f in range(t.load_face[q], t.load_face[q] + t.load_face_count[q]):
            m, first = t.face_count[f], t.face_first[f]
            for p in range(t.face_point_count[f]):
                push, shape = (h * t.load_value[q].x) * mean_normal(t, f, p), t.face_shape[f] + p * m
                for i in range(m):
                    rows = t.residual + t.velocity_start[t.face_node[first + i]]
                    weight = t.face_number[shape + i].x
                    for d in range(t.dimension):
                        rows[d] -= weight * along(push, d)


@exported
def pressure_work(t: Tables, q: int) -> float:
    """p delta(V) of load q."""
    work = 0.0
    for f in range(t.load_face[q], t.load_face[q] + t.load_face_count[q]):
        m, first = t.face_count[f], t.face_first[f]
        for p in range(t.face_point_count[f]):
            moved, shape = vector(0.0, 0.0, 0.0), t.face_shape[f] + p * m
            for i in range(m):
                moved += t.face_number[shape + i].x * t.shift[t.face_node[first + i]]
            work += t.load_value[q].x * dot(moved, mean_normal(t, f, p))
    return work


@exported
def pressure_tangent(t: Tables, h: float) -> None:
    """Add the derivative of ``add_pressures`` to the blocks of the nodes."""
    for q in range(t.loads):
        if t.load_kind[q] != PRESSURE:
            continue
        factor = 0.5 * h * h * t.load_value[q].x
        for f in range(t.load_face[q], t.load_face[q] + t.load_face_count[q]):
            m, first, pairs = t.face_count[f], t.face_first[f], t.face_pair[f]
            for p in range(t.face_point_count[f]):
                shape = t.face_shape[f] + p * m
                u = 0.5 * mean_tangent(t, f, p, 1) + (1.0 / 12.0) * tangent_change(t, f, p, 1)
                v = 0.5 * mean_tangent(t, f, p, 2) + (1.0 / 12.0) * tangent_change(t, f, p, 2)
                for j in range(m):
                    n, width = t.face_number[shape + j], t.carrier_stride[t.face_node[first + j]]
                    arm = factor * (n.y * v - n.z * u)
                    for axis in range(t.dimension):
                        push = cross(unit(axis), arm)
                        for i in range(m):
                            block = t.blocks + (t.face_block[pairs + i * m + j] + axis)
                            weight = t.face_number[shape + i].x
                            for d in range(t.dimension):
                                block[d * width] -= weight * along(push, d)
