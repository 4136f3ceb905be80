"""Bricard's mechanism on its own: a chain of six hinges, closed by Newton's method, one motion s.

Independent of the library: joint angles q, their one-dimensional set followed in arc length s, kinetic
energy m(s) s'^2 / 2 and potential V(s) on that set, and ``m s'' = -V' - m' s'^2 / 2``.
"""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
EDGES = np.roll(CORNERS, -1, axis=0) - CORNERS  # the last one is the ground
AXES = np.cross(np.roll(EDGES, 1, axis=0), EDGES)  # of the hinge at each corner
WIDTH = 0.1


def turned(axis, angle):
    a = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * a + (1 - np.cos(angle)) * a @ a


def chain(q):
    """Corners (7, 3), rotations (7, 3, 3) and axes (6, 3); the last link should lie on the ground again."""
    corner, rotation = CORNERS[0], np.eye(3)
    corners, rotations, axes = [corner], [], []
    for k in range(6):
        axes.append(rotation @ AXES[k])
        rotation = rotation @ turned(AXES[k], q[k])
        rotations.append(rotation)
        corner = corner + rotation @ EDGES[k]
        corners.append(corner)
    return np.array(corners), np.array(rotations), np.array(axes)


def gap_and_slope(q):
    """Distance and turn of the last link from the ground, (6,), and their derivative to q, (6, 6)."""
    corners, rotations, axes = chain(q)
    turn = rotations[-1]
    skew = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2
    slope = np.vstack([np.cross(axes, corners[-1] - corners[:-1]).T, axes.T])
    return np.concatenate([corners[-1] - CORNERS[0], skew]), slope


def energies(q, rate):
    """Twice the kinetic energy and the potential at q."""
    corners, rotations, axes = chain(q)
    doubled, potential = 0.0, 0.0
    for k in range(5):
        middle = (corners[k] + corners[k + 1]) / 2
        spin = (axes[: k + 1] * rate[: k + 1, None]).sum(axis=0)
        velocity = (np.cross(axes[: k + 1], middle - corners[: k + 1]) * rate[: k + 1, None]).sum(axis=0)
        along = spin @ rotations[k] @ EDGES[k]
        doubled += velocity @ velocity + (1 + WIDTH**2) / 12 * (spin @ spin - along**2)
        doubled += WIDTH**2 / 6 * along**2
        potential += 9.81 * middle[1]
    return doubled, potential


def far_corner(times, span=4.0, points=1001):
    """The corner that starts at (1, -1, 1), at the given times after the release, shape (times, 3)."""
    q, tangent, table = np.zeros(6), None, []
    step = span / (points - 1)
    for _ in range(points):
        gap, slope = gap_and_slope(q)
        for _ in range(4):
            q = q - np.linalg.pinv(slope, rcond=1e-6) @ gap
            gap, slope = gap_and_slope(q)
        null = np.linalg.svd(slope)[2][-1]
        if tangent is None:  # downwards
            null = null * -np.sign(energies(1e-4 * null, null)[1] - energies(-1e-4 * null, null)[1])
        elif null @ tangent < 0:
            null = -null
        tangent = null
        table.append((*energies(q, tangent), *chain(q)[0][3]))
        q = q + step * tangent
    s, table = np.linspace(0, span, points), np.array(table)
    mass, potential = CubicSpline(s, table[:, 0]), CubicSpline(s, table[:, 1])

    def rates(_, y):
        pull = -potential(y[0], 1) - mass(y[0], 1) * y[1] ** 2 / 2
        return [y[1], pull / mass(y[0])]

    found = solve_ivp(rates, (0, max(times)), [0.0, 0.0], t_eval=times, rtol=1e-11, atol=1e-12)
    assert found.y[0].max() < span
    return CubicSpline(s, table[:, 2:])(found.y[0])
