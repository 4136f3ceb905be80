"""What controllers measure: coordinates and points with their rates, of the places and rates of vectors."""

from math import atan2, isnan, pi, sqrt

from phlexible.compilation.compiled import entry_point
from phlexible.tables.declarations import ANGLE, DISTANCE

POINT = -1
"""Kind of what is no coordinate but a point."""


@entry_point
def measure(places, rates, items, functions, terms, chords, parts, numbers, angles, measured):
    """Write coordinate and rate of each item, of a point place and velocity; the item without a rate, or -1.

    Args:
        places, rates: of all vectors, (vectors, 3).
        items: kind, first function or vector, place in ``measured``, number among ``angles``, a row each.
        functions: first and last + 1 of the terms of each, (functions, 2).
        terms: the two chords of each, (terms, 2).
        chords: first and last + 1 of the parts of each, (chords, 2).
        parts: vector of each.
        numbers: weights of the parts, then coefficients of the terms.
        angles: last values over full turns, NaN before the first; new ones are written.
        measured: receives the numbers.
    """
    none, y, dy = -1, (0.0, 0.0), (0.0, 0.0)
    for m in range(len(items)):
        kind, first, place = items[m, 0], items[m, 1], items[m, 2]
        if kind == POINT:
            for i in range(3):
                measured[place + i], measured[place + 3 + i] = places[first, i], rates[first, i]
            continue
        for f in range(2 if kind == ANGLE else 1):
            value, rate = 0.0, 0.0
            for p in range(functions[first + f, 0], functions[first + f, 1]):
                own, change = 0.0, 0.0
                for i in range(3):
                    a, da, b, db = 0.0, 0.0, 0.0, 0.0
                    for k in range(chords[terms[p, 0], 0], chords[terms[p, 0], 1]):
                        a += numbers[k] * places[parts[k], i]
                        da += numbers[k] * rates[parts[k], i]
                    for k in range(chords[terms[p, 1], 0], chords[terms[p, 1], 1]):
                        b += numbers[k] * places[parts[k], i]
                        db += numbers[k] * rates[parts[k], i]
                    own += a * b
                    change += da * b + a * db
                value += numbers[len(parts) + p] * own
                rate += numbers[len(parts) + p] * change
            y, dy = (value, y[0]), (rate, dy[0])
        if kind == ANGLE:  # y is (sine, cosine)
            theta, before = atan2(y[0], y[1]), angles[items[m, 3]]
            if not isnan(before):  # over full turns: the nearest to the one before
                theta = before + (theta - before + pi) % (2 * pi) - pi
            angles[items[m, 3]] = theta
            speed = (y[1] * dy[0] - y[0] * dy[1]) / (y[0] * y[0] + y[1] * y[1])
        elif kind == DISTANCE:
            theta = sqrt(max(y[0], 0.0))
            if theta == 0.0:
                none = m
            speed = 0.5 * dy[0] / max(theta, 1e-300)
        else:
            theta, speed = y[0], dy[0]
        measured[place], measured[place + 1] = theta, speed
    return none
