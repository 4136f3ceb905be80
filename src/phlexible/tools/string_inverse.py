"""How the upper end of a string must move so that what hangs on its lower end follows a path.

The motion of the lower end and the load on it give the pull of the lowest element, so where the next node is,
and so on up to the start of the string. Without mass this is the flat output of a crane: M. Fliess, J. Levine,
P. Martin, P. Rouchon, *Flatness and defect of non-linear systems*, International Journal of Control 61, 1995. With
mass waves take time: the start moves before the load and after it. See N. Petit, P. Rouchon, *Flatness of heavy
chain systems*, SIAM Journal on Control and Optimization 40, 2001, and, in space and time at once, T. Stroehle,
P. Betsch, *A simultaneous space-time discretization approach to the inverse dynamics of geometrically exact
strings*, International Journal for Numerical Methods in Engineering 123, 2022.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.interpolate import CubicSpline

from phlexible.algebra.arrays import Array, called, check_callable, non_negative, positive, vector
from phlexible.algebra.sparse import lu_factors
from phlexible.bodies.string import String
from phlexible.bodies.string_law import StringLaw
from phlexible.display import short_repr
from phlexible.errors import ParameterError

TRAVELS = 4  # times that a wave takes along the string, before and after the motion
FEWEST = 10  # steps of these
MOST_INSTANTS = 100_000
ITERATIONS = 30
GOAL = 1e-12  # of the length of an element
GROWTH = 1e5  # of round-off from the end to the start of the string, at frequencies that elements do not carry


@dataclass(frozen=True, eq=False)
class StringInverse:
    """The motion of the start of a string for which its end follows a path.

    Attributes:
        time: from ``-lead`` to ``duration + lead``, shape (N,) [s].
        nodes: of the string, from its start to its end, world axes, shape (N, nodes, 3) [m].
        force: on the start of the string, world axes, shape (N, 3) [N].
        lead: how long the start moves before the motion begins and after it has ended [s].
    """

    time: Array
    nodes: Array
    force: Array
    lead: float

    __repr__ = short_repr

    @cached_property
    def _spline(self) -> CubicSpline:
        return CubicSpline(self.time, self.nodes[:, 0])

    def __call__(self, time: float) -> Array:
        """Position of the start at a time at which the motion begins at 0, cubic between instants, (3,) [m]."""
        return np.asarray(self._spline(np.clip(time, self.time[0], self.time[-1])))

    def delayed(self, time: float) -> Array:
        """The same for a run that begins with the window: the motion begins at ``lead``; for ``ground.moving``."""
        return self(time - self.lead)


def string_inverse(
    string: String,
    path: Callable[[float], ArrayLike],
    duration: float,
    step: float,
    *,
    load: float = 0.0,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
) -> StringInverse:
    """The motion of a string's start that moves a mass on its end along a path, from rest to rest.

    Without linearization: swings may be large, and the start moves up and down with them. Each node from the end to
    the start obeys its balance at all times at once, held at rest before and after (two-sided: nothing is
    integrated forward, so that nothing grows); errors are of second order in the step.

    Args:
        string: with linear elements.
        path: position of the end for 0 <= t <= duration, world axes, shape (3,) [m], at rest at both ends, with
            four smooth derivatives.
        duration: [s].
        step: between instants [s].
        load: mass on the end [kg].
        gravity: acceleration, world axes, shape (3,) [m/s^2]; at rest the string hangs along it.

    Raises:
        ParameterError: no string with linear elements, numbers out of range, no gravity, a path that is no function
            of positions, or on which the string goes slack.
        FunctionError: the path raised.

    Example:
        >>> rope = ph.String(length=5.0, line_density=0.4, elements=8, law=ph.LinearLaw(1e6))
        >>> def path(t):
        ...     s = t / 3.0
        ...     return s**5 * (126 - 420 * s + 540 * s**2 - 315 * s**3 + 70 * s**4), 0, 0
        >>> top = ph.string_inverse(rope, path, 3.0, step=1e-2, load=50.0)
        >>> top(1.0).round(2)  # while the load is at x = 0.145 and gains speed
        array([0.65, 0.  , 4.98])
    """
    if not isinstance(string, String) or string.order != 1:
        raise ParameterError(
            "string must be a String with order=1 (linear elements); others and rods are taken by"
            f" ph.inverse_dynamics of a model with them, got {string!r}"
        )
    check_callable("path", path, "t")
    last, h, mass = positive("duration", duration), positive("step", step), non_negative("load", load)
    g = vector("gravity", gravity)
    if not g.any():
        raise ParameterError("gravity must not vanish: without it nothing says how the string hangs at rest")
    if h > last / 10:
        raise ParameterError(f"step must be at most a tenth of the duration of {last:g} s, got {step!r}")
    own = string.discretize(3)
    element = string.length / string.elements
    carried = mass + string.line_density * element * (np.arange(string.elements) + 0.5)  # by each element
    tension = np.linalg.norm(g) * carried
    travel = float((element * np.sqrt(string.line_density / tension)).sum())
    before = max(FEWEST, int(np.ceil(TRAVELS * travel / h)))
    count = int(np.ceil(last / h)) + 2 * before + 1
    if count > MOST_INSTANTS:
        raise ParameterError(
            f"duration={last:g} s and {TRAVELS} times {travel:.3g} s, which waves take along the string, before and"
            f" after it are more than {MOST_INSTANTS} steps of {h:g} s; take a larger step"
        )
    time: Array = h * (np.arange(count) - before).astype(np.float64)
    end: Array = np.array(
        [
            vector(f"path({t:g})", called(path, "path", t, at=f"at t = {t:g} s"))
            for t in np.clip(time, 0.0, last).tolist()
        ]
    )
    chain = _Chain(own.nodal_mass.toarray(), element, string.law, string.viscosity, h, g)
    nodes, pull = [end], mass * (g - _accelerations(end, h))
    kept = _kept_frequencies(count, h, string.line_density * element**2 / tension)
    for lower in range(string.elements, 0, -1):
        upper = _smooth(chain.next_node(lower, nodes, pull, time), end, kept)
        pull = chain.pull(lower, nodes, pull) - chain.coupling(lower) * _accelerations(upper, h)
        nodes.append(upper)
    force = chain.inertia(0, nodes[-1], nodes[-2]) - pull
    return StringInverse(time, np.stack(nodes[::-1], axis=1), force, before * h)


@dataclass(frozen=True, eq=False)
class _Chain:
    """A string of elements between nodes, all instants at once.

    Attributes:
        mass: of the nodes, shape (nodes, nodes) [kg].
        length: of an element [m].
        law, viscosity: of the string.
        step: between instants [s].
        gravity: shape (3,) [m/s^2].
    """

    mass: Array
    length: float
    law: StringLaw
    viscosity: float
    step: float
    gravity: Array

    def inertia(self, node: int, own: Array, below: Array | None) -> Array:
        """M (a - g) of a node from its own motion and that of the node below it, (N, 3) [N]."""
        row = self.mass[node]
        result: Array = row[node] * _accelerations(own, self.step) - row.sum() * self.gravity
        if below is not None:
            result += row[node + 1] * _accelerations(below, self.step)
        return result

    def coupling(self, lower: int) -> float:
        """Mass of ``lower`` that the acceleration of the node above it moves [kg]."""
        return float(self.mass[lower, lower - 1])

    def pull(self, lower: int, nodes: list[Array], below: Array) -> Array:
        """Pull of the element above ``lower`` while the node above does not accelerate, downwards, (N, 3) [N].

        Args:
            nodes: from the end up to ``lower``.
            below: pull of what is below.
        """
        return below - self.inertia(lower, nodes[-1], nodes[-2] if len(nodes) > 1 else None)

    def next_node(self, lower: int, nodes: list[Array], below: Array, time: Array) -> Array:
        """The node above ``lower``, (N, 3) [m].

        The balance of ``lower`` is an equation of second order for the node above it, whose mass couples them:
        a boundary value problem in time, solved by Newton's method at all instants together.

        Args:
            nodes, below: as of ``pull``.
            time: shape (N,) [s].

        Raises:
            ParameterError: the string goes slack.
        """
        own, coupling, known = nodes[-1], self.coupling(lower), self.pull(lower, nodes, below)
        size = np.linalg.norm(known, axis=1, keepdims=True)
        turning = (known * np.roll(known, 1, axis=0)).sum(axis=1)  # a pull that vanishes changes its sign
        _check_taut(np.minimum(size[:, 0], turning), time)
        found = own - self.length * (1 + size / self.law.modulus) * known / size
        for _ in range(ITERATIONS):
            chord = own - found
            C = (chord**2).sum(axis=1) / self.length**2
            damping = self.viscosity * self.law.modulus / 4
            stress = 2 / self.length * (self.law.derivative(C) + damping * _rates(C, self.step))
            _check_taut(stress, time)
            left = stress[:, None] * chord - known + coupling * _accelerations(found, self.step)
            change = self._change(chord, C, stress, coupling, damping, left)
            found = found - change
            if np.abs(change).max() < GOAL * self.length:
                return np.asarray(found)
        raise ParameterError("no motion of the string was found: take a smaller step, or a slower path")

    def _change(self, chord: Array, C: Array, stress: Array, coupling: float, damping: float, left: Array) -> Array:
        """Newton's step for what is left of the balance, (N, 3) [m]."""
        count, h = len(C), self.step
        inside = np.ones(count)
        inside[[0, -1]] = 0.0  # at rest
        slopes = -2 / self.length**2 * chord  # dC of the upper node
        own = np.einsum("ki,kj->kij", chord, slopes) * (2 / self.length * self.law.curvature(C))[:, None, None]
        own -= (stress + 2 * coupling / h**2 * inside)[:, None, None] * np.eye(3)
        rows, columns, values = [np.arange(count)], [np.arange(count)], [own]
        for sign in (-1, 1):
            row = np.arange(1, count - 1)
            beside = np.einsum("ki,kj->kij", chord[row], slopes[row + sign]) * (sign * damping / (self.length * h))
            rows.append(row)
            columns.append(row + sign)
            values.append(beside + coupling / h**2 * np.eye(3))
        row, column, blocks = (np.concatenate(part) for part in (rows, columns, values))
        each = np.arange(3)
        i = np.broadcast_to(3 * row[:, None, None] + each[:, None], blocks.shape)
        j = np.broadcast_to(3 * column[:, None, None] + each, blocks.shape)
        matrix = sparse.coo_array((blocks.ravel(), (i.ravel(), j.ravel())), (3 * count,) * 2)
        return np.asarray(lu_factors(matrix).solve(left.ravel())).reshape(-1, 3)


def _kept_frequencies(count: int, step: float, squares: Array) -> int:
    """How many of the lowest frequencies of the window nodes are to have.

    On linear elements waves have cos(k l) = (1 - 2 b) / (1 + b) with b = omega^2 rho A l^2 / (6 N). Above
    sqrt(12 N / (rho A)) / l nothing travels, and an inverse multiplies what is there by 2 + sqrt(3) an element.

    Args:
        squares: rho A l^2 / N of the elements [s^2].
    """
    omega = 2 * np.pi * np.fft.rfftfreq(count, step)
    b = omega[:, None] ** 2 * squares / 6
    cosine = np.abs((1 - 2 * b) / (1 + b))
    growth = np.log(np.maximum(cosine, 1.0) + np.sqrt(np.maximum(cosine**2 - 1, 0.0))).sum(axis=1)
    return int((growth <= np.log(GROWTH)).sum())


def _smooth(node: Array, end: Array, kept: int) -> Array:
    """A node without the frequencies that elements do not carry, beside the path of the end, (N, 3)."""
    beside = node - end
    spectrum = np.fft.rfft(beside - beside[0], axis=0)
    spectrum[kept:] = 0.0
    return np.asarray(end + beside[0] + np.fft.irfft(spectrum, len(node), axis=0))


def _accelerations(places: Array, step: float) -> Array:
    """Second differences, at rest at both ends, (N, 3) [m/s^2]."""
    result = np.zeros_like(places)
    result[1:-1] = (places[2:] - 2 * places[1:-1] + places[:-2]) / step**2
    return result


def _rates(values: Array, step: float) -> Array:
    """Central differences, at rest at both ends, (N,)."""
    result = np.zeros_like(values)
    result[1:-1] = (values[2:] - values[:-2]) / (2 * step)
    return result


def _check_taut(tension: Array, time: Array) -> None:
    slack = np.flatnonzero(~(tension > 0))
    if len(slack):
        raise ParameterError(
            f"the string goes slack at t = {time[slack[0]]:.3g} s: the path falls as fast as gravity pulls,"
            " and what hangs there would have to be pushed; take a slower path"
        )
