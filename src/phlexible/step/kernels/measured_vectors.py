"""Positions and rates of vectors that need not be in the tables (docs/theory.md, 2 and 4; (2.1), (4.9))."""

from math import nan

from phlexible.step.compilation.compiled import entry_point
from phlexible.step.kernels.laws import measure
from phlexible.step.tables.requests import NODE, IntegerRow, IntegerRows, Rows1, Rows2, Rows3, Rows4

CARRIER, IS_POINT, VELOCITY, AXES, ELASTIC, SHAPE, SHAPES = range(7)
"""What a row of ``vectors`` holds."""


@entry_point
def measured_vectors(
    position: Rows2,
    rotation: Rows3,
    eta: Rows1,
    velocity: Rows1,
    dimension: int,
    vectors: IntegerRows,
    base: Rows2,
    shapes: Rows2,
    positions: Rows2,
    rates: Rows2,
) -> None:
    """Write the world positions of many points and directions, fixed to bodies or nodes, into ``positions``, and
    their rates into ``rates``. Both have the shape (vectors, 3). The state is ``position``, ``rotation``, elastic
    coordinates ``eta`` and ``velocity`` of all bodies, in 1 to 3 axes (``dimension``). ``vectors`` lists the body
    and offsets of each, ``base`` its components without deformation, ``shapes`` their derivatives with respect to
    eta.

    Args:
        position, rotation, eta: of the state.
        velocity: nu of all carriers.
        dimension: components of V.
        vectors: carrier, or a negative number where nothing moves it; 1 of points, 0 of directions; first entry of
            nu; axes of rotation (0, 1: z, 3), or NODE; first entry of eta; first shape, and how many, a row each.
        base: rho without deformation, or the vector itself, (vectors, 3).
        shapes: d rho/d eta of all vectors, one after the other, (shapes, 3).
        positions, rates: receive them, (vectors, 3).
    """
    for k in range(len(vectors)):
        b, first, axes = vectors[k, CARRIER], vectors[k, VELOCITY], vectors[k, AXES]
        for i in range(3):
            positions[k, i], rates[k, i] = base[k, i], 0.0
        if b < 0:
            continue
        if axes != NODE:
            x, y, z, u, v, w = base[k, 0], base[k, 1], base[k, 2], 0.0, 0.0, 0.0
            for j in range(vectors[k, SHAPES]):
                s, deta = vectors[k, SHAPE] + j, velocity[first + dimension + axes + j]
                bend = eta[vectors[k, ELASTIC] + j]
                x, y, z = x + shapes[s, 0] * bend, y + shapes[s, 1] * bend, z + shapes[s, 2] * bend
                u, v, w = u + shapes[s, 0] * deta, v + shapes[s, 1] * deta, w + shapes[s, 2] * deta
            spin = first + dimension
            if axes == 3:
                p, q, r = velocity[spin], velocity[spin + 1], velocity[spin + 2]
            else:
                p, q, r = 0.0, 0.0, velocity[spin] if axes == 1 else 0.0
            u, v, w = u + q * z - r * y, v + r * x - p * z, w + p * y - q * x
            for i in range(3):
                R = rotation[b, i]
                positions[k, i] = R[0] * x + R[1] * y + R[2] * z
                rates[k, i] = R[0] * u + R[1] * v + R[2] * w
        if vectors[k, IS_POINT] == 1:
            for i in range(3):
                positions[k, i] += position[b, i]
            for i in range(dimension):
                rates[k, i] += velocity[first + i]


@entry_point
def measure_rows(
    position: Rows3,
    rotation: Rows4,
    eta: Rows2,
    velocity: Rows2,
    dimension: int,
    vectors: IntegerRows,
    base: Rows3,
    shapes: Rows3,
    items: IntegerRows,
    functions: IntegerRows,
    terms: IntegerRows,
    chords: IntegerRows,
    parts: IntegerRow,
    coefficients: Rows2,
    positions: Rows2,
    rates: Rows2,
    angles: Rows1,
    measured: Rows2,
) -> None:
    """Compute the sensor readings of many mechanisms of one structure, one after the other, and write them to
    ``measured``, one row for each mechanism. For each, ``measured_vectors`` computes the positions and rates of
    points, and ``measure`` then sensor coordinates and rates. Arguments with a row for each mechanism are the state
    (``position``, ``rotation``, elastic coordinates ``eta``, ``velocity``), ``base``, ``shapes`` and
    ``coefficients``. ``positions``, ``rates`` and ``angles`` are scratch memory; the other arguments are common to
    all mechanisms.

    Args:
        position, rotation, eta, velocity, base, shapes, numbers, measured: their arguments, a row for each
            mechanism.
        dimension, vectors, items, functions, terms, chords, parts: their arguments, the same for all mechanisms.
        positions, rates, angles: memory for one mechanism.
    """
    for k in range(len(measured)):
        x, R, q, nu = position[k], rotation[k], eta[k], velocity[k]
        measured_vectors(x, R, q, nu, dimension, vectors, base[k], shapes[k], positions, rates)
        angles[:] = nan
        measure(positions, rates, items, functions, terms, chords, parts, coefficients[k], angles, measured[k])
