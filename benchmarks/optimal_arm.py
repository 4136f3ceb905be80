"""Least time of a two-link arm from rest to rest: ph.optimal_inputs beside a direct collocation of its own.

python benchmarks/optimal_arm.py [rigid] [flexible] [intervals]

A planar arm of two links, each with one bending shape (that of a force at its end) and small strains, a motor
of bounded torque and a geared rotor in the shoulder and in the elbow, and a mass at the tip. The collocation
writes its equations of motion out with NumPy (assumed modes, Kane's form), puts cubic Hermite polynomials
through the states at the ends of intervals (Hermite-Simpson; C. R. Hargraves, S. W. Paris, *Direct trajectory
optimization using nonlinear programming and collocation*, 1987), holds torques on each, and finds states,
torques and the time by a sequence of linear programs within trust regions. It shares nothing with the library
but the numbers of the arm, and is compared with it first on one given motion. optimal_inputs has half as many
samples an input as the collocation intervals.

Printed: how far both are apart in that motion; both least times and their ratio; and how far the torques found by
the library miss the end when the other equations of motion are run with them.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from time import process_time

import numpy as np
from scipy import sparse
from scipy.integrate import solve_ivp
from scipy.optimize import linprog
from scipy.sparse.linalg import spsolve

import phlexible as ph

MODULUS, DENSITY = 7e10, 2700.0
GOAL = np.array([1.0, 0.6])
"""Angles of the shoulder and of the elbow at the end [rad]; both are zero at the start."""
LIMITS = np.array([1.5, 0.6])
"""Torques of the motors at most [N m]."""


@dataclass(frozen=True)
class Arm:
    """Two equal links; their thickness tells how far they bend."""

    length: float = 0.5
    thickness: float = 4e-3
    height: float = 0.02
    rotor: tuple[float, float] = (0.1, 0.05)
    stator: tuple[float, float] = (0.4, 1e-3)
    tip: tuple[float, float] = (0.25, 5e-4)
    is_flexible: bool = True


# The arm as a model of the library.


def model_of(arm: Arm, torques: dict) -> ph.Model:
    """With torques by the names "shoulder" and "elbow"."""
    model = ph.Model(dimension=2)
    section = ph.RectangularSection(arm.thickness, arm.height)
    shape = np.array([[0.0], [1.0], [1.5 / arm.length]])  # of u, v and v' at the end: a force bends it so
    link = ph.Beam(
        arm.length,
        section,
        ph.Material(MODULUS, DENSITY),
        elements=1,
        frame="cantilever",
        strain="linear",
        rotary_inertia=False,
        modes=shape,
    )
    if not arm.is_flexible:
        mass = DENSITY * section.area * arm.length
        link = ph.RigidBody(mass, mass * arm.length**2 / 12)
    ends = []
    for k, name in enumerate(["first", "second"]):
        if arm.is_flexible:
            body = model.add(link, name, position=(k * arm.length, 0, 0))
            ends.append((body.start, body.end))
        else:
            body = model.add(link, name, position=((k + 0.5) * arm.length, 0, 0))
            ends.append((body.point((-arm.length / 2, 0, 0)), body.point((arm.length / 2, 0, 0))))
    hub = model.add(ph.RigidBody(*arm.rotor), "hub")
    motor = model.add(ph.RigidBody(*arm.stator), "motor", position=(arm.length, 0, 0))
    rotor = model.add(ph.RigidBody(*arm.rotor), "rotor", position=(arm.length, 0, 0))
    tip = model.add(ph.RigidBody(*arm.tip), "tip", position=(2 * arm.length, 0, 0))
    shoulder = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), hub.origin, name="shoulder"))
    model.connect(ph.Fixed(hub.origin, ends[0][0]))
    model.connect(ph.Fixed(ends[0][1], motor.origin))
    hinge = model.connect(ph.Revolute(motor.origin, rotor.origin, name="elbow"))
    model.connect(ph.Fixed(rotor.origin, ends[1][0]))
    model.connect(ph.Fixed(ends[1][1], tip.origin))
    model.apply(shoulder.torque(torques["shoulder"]))
    model.apply(hinge.torque(torques["elbow"]))
    return model


def sensors_of(arm: Arm, model: ph.Model) -> dict:
    """What is to be reached at the end."""
    shoulder, elbow = model.joint("shoulder"), model.joint("elbow")
    found = {
        "shoulder": ph.JointPosition(shoulder),
        "elbow": ph.JointPosition(elbow),
        "rate of shoulder": ph.JointRate(shoulder),
        "rate of elbow": ph.JointRate(elbow),
    }
    if arm.is_flexible:  # velocities of ends say how fast links bend once the joints stand
        for name, body, point in (
            ("motor", model["first"], model["motor"]),
            ("tip", model["second"], model["tip"]),
        ):
            found[f"bend of {name}"] = ph.ElasticDisplacement(body.end)
            found[f"velocity of {name}"] = ph.Velocity(point.origin, (0, 1, 0))
    return found


def final_of(arm: Arm) -> dict:
    """By the names of sensors."""
    found = {"shoulder": GOAL[0], "elbow": GOAL[1], "rate of shoulder": 0.0, "rate of elbow": 0.0}
    if arm.is_flexible:
        for name in ("motor", "tip"):
            found[f"bend of {name}"] = (np.nan, 0.0, np.nan)
            found[f"velocity of {name}"] = 0.0
    return found


# The same arm by hand: states are (a, p, b, q) and their rates, where a and b are the angles of the frames that are
# clamped to the starts of the links, p and q what the ends are bent by.


class Equations:
    """Accelerations of mass points on both links, in Kane's form."""

    def __init__(self, arm: Arm) -> None:
        self.arm, length = arm, arm.length
        points, weights = np.polynomial.legendre.leggauss(4)
        x = (1 + points) * length / 2
        area = arm.thickness * arm.height
        self.x = np.append(x, length)
        s = self.x / length
        self.shape = (3 * s**2 - s**3) / 2 if arm.is_flexible else 0 * s
        own = weights * length / 2 * DENSITY * area
        self.masses = np.append(own, arm.stator[0] + arm.rotor[0]), np.append(own, arm.tip[0])
        self.slope = 1.5 / length if arm.is_flexible else 0.0
        self.stiffness = 3 * MODULUS * arm.height * arm.thickness**3 / 12 / length**3
        self.count = 4 if arm.is_flexible else 2

    def rates(self, state: np.ndarray, torques: np.ndarray) -> np.ndarray:
        """Of states (n, 2 count) under torques (n, 2)."""
        n, count = len(state), self.count
        if count == 2:
            zero = np.zeros(n)
            a, b, da, db = state.T
            p = q = dp = dq = zero
        else:
            a, p, b, q, da, dp, db, dq = state.T
        x, shape = self.x, self.shape
        frame_a = np.stack([np.stack([np.cos(a), -np.sin(a)], -1), np.stack([np.sin(a), np.cos(a)], -1)], 1)
        frame_b = np.stack([np.stack([np.cos(b), -np.sin(b)], -1), np.stack([np.sin(b), np.cos(b)], -1)], 1)

        def link(frame, bend, turn, bending):
            """Velocities per turn and per bending, and the rest of the acceleration, (n, points, 2) each."""
            side, along = shape * bend[:, None], np.tile(x, (n, 1))
            of_turn = np.stack([-side, along], -1)
            of_bend = np.stack([0 * along, np.tile(shape, (n, 1))], -1)
            rest = np.stack(
                [-(turn**2)[:, None] * along - 2 * (turn * bending)[:, None] * shape, -(turn**2)[:, None] * side],
                -1,
            )
            return [np.einsum("nij,nkj->nki", frame, each) for each in (of_turn, of_bend, rest)]

        turn_a, bend_a, rest_a = link(frame_a, p, da, dp)
        turn_b, bend_b, rest_b = link(frame_b, q, db, dq)
        zero = np.zeros_like(turn_b)
        ways = [
            np.stack([turn_a, bend_a, zero, zero], 1),
            np.stack([turn_a[:, -1:] + zero, bend_a[:, -1:] + zero, turn_b, bend_b], 1),
        ]
        rests = [rest_a, rest_a[:, -1:] + rest_b]
        mass, force = np.zeros((n, 4, 4)), np.zeros((n, 4))
        for way, rest, masses in zip(ways, rests, self.masses, strict=True):
            mass += np.einsum("nikc,njkc,k->nij", way, way, masses)
            force -= np.einsum("nikc,nkc,k->ni", way, rest, masses)
        slope = self.slope
        turns = [
            ([1, 0, 0, 0], self.arm.rotor),
            ([1, slope, 0, 0], self.arm.stator),
            ([0, 0, 1, 0], self.arm.rotor),
            ([0, 0, 1, slope], self.arm.tip),
        ]
        for turned, (_, inertia) in turns:
            mass += inertia * np.outer(turned, turned)
        force += torques[:, :1] * np.array([1.0, 0.0, 0.0, 0.0])
        force += torques[:, 1:] * np.array([-1.0, -slope, 1.0, 0.0])
        force[:, 1] -= self.stiffness * p
        force[:, 3] -= self.stiffness * q
        if count == 2:
            mass, force = mass[:, ::2, ::2], force[:, ::2]
        return np.hstack([state[:, count:], np.linalg.solve(mass, force[:, :, None])[:, :, 0]])

    def goal(self) -> np.ndarray:
        """The state at the end, at rest."""
        found = np.zeros(2 * self.count)
        found[0], found[self.count // 2] = GOAL[0], GOAL.sum()
        return found

    def run(self, torques: Callable[[float], np.ndarray], times: np.ndarray) -> np.ndarray:
        """States at times from rest on; torques may jump there."""
        states = [np.zeros(2 * self.count)]
        for begin, end in pairwise(times):
            middle = torques((begin + end) / 2)
            found = solve_ivp(
                lambda t, y, u=middle: self.rates(y[None], u[None])[0],
                (begin, end),
                states[-1],
                rtol=1e-9,
                atol=1e-11,
            )
            states.append(found.y[:, -1])
        return np.array(states)


# Direct collocation.


@dataclass(frozen=True)
class Collocated:
    """A motion in least time."""

    duration: float
    torques: np.ndarray
    states: np.ndarray
    defect: float
    programs: int


class Collocation:
    """States at the ends of intervals, torques held on each, and the duration as unknowns."""

    def __init__(self, equations: Equations, intervals: int) -> None:
        self.equations, self.intervals = equations, intervals
        self.size = 2 * equations.count
        turns = np.array([1.0, 1.0]) if equations.count == 2 else np.array([1.0, 0.05, 1.0, 0.05])
        self.scales = np.concatenate([turns, 5 * turns])

    def defects(self, before, after, torques, duration) -> np.ndarray:
        """Of Simpson's rule on each interval, over the sizes of states."""
        h, rates = duration / self.intervals, self.equations.rates
        first, last = rates(before, torques), rates(after, torques)
        middle = rates((before + after) / 2 + h / 8 * (first - last), torques)
        return (after - before - h / 6 * (first + 4 * middle + last)) / self.scales

    def split(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """States, torques and the duration of unknowns."""
        n, size = self.intervals, self.size
        states = w[: (n + 1) * size].reshape(n + 1, size) * self.scales
        return states, w[(n + 1) * size : -1].reshape(n, 2) * LIMITS, float(w[-1])

    def values(self, w: np.ndarray) -> np.ndarray:
        """All defects."""
        states, torques, duration = self.split(w)
        return self.defects(states[:-1], states[1:], torques, duration).ravel()

    def slopes(self, w: np.ndarray) -> sparse.csr_array:
        """Of all defects by central differences, all intervals at once."""
        n, size = self.intervals, self.size
        states, torques, duration = self.split(w)
        before, after, change = states[:-1], states[1:], 1e-6
        rows, columns, entries = [], [], []
        row = np.arange(n * size).reshape(n, size)

        def put(column, plus, minus) -> None:
            rows.append(row.ravel())
            columns.append(np.broadcast_to(np.asarray(column).reshape(-1, 1), (n, size)).ravel())
            entries.append(((plus - minus) / (2 * change)).ravel())

        node = np.arange(n)
        for k in range(size):
            by = change * self.scales[k] * np.eye(size)[k]
            moved = [self.defects(before + sign * by, after, torques, duration) for sign in (1, -1)]
            put(node * size + k, *moved)
            moved = [self.defects(before, after + sign * by, torques, duration) for sign in (1, -1)]
            put((node + 1) * size + k, *moved)
        for k in range(2):
            by = change * LIMITS[k] * np.eye(2)[k]
            moved = [self.defects(before, after, torques + sign * by, duration) for sign in (1, -1)]
            put((n + 1) * size + 2 * node + k, *moved)
        moved = [self.defects(before, after, torques, duration + sign * change) for sign in (1, -1)]
        put(np.full(n, len(w) - 1), *moved)
        triple = np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))
        return sparse.csr_array(triple, shape=(n * size, len(w)))

    def best(self, duration: float, programs: int = 200, price: float = 10.0) -> Collocated:
        """The least time, from a straight way of this duration on."""
        n, size, goal = self.intervals, self.size, self.equations.goal() / self.scales
        s = np.linspace(0.0, 1.0, n + 1)[:, None]
        way = s**2 * (3 - 2 * s) * goal
        half = size // 2
        way[:, half:] = 6 * s * (1 - s) / duration * (goal * self.scales)[:half] / self.scales[half:]
        w = np.concatenate([way.ravel(), np.zeros(2 * n), [duration]])
        low, high = np.full(len(w), -np.inf), np.full(len(w), np.inf)
        low[:size] = high[:size] = 0.0
        low[n * size : (n + 1) * size] = high[n * size : (n + 1) * size] = goal
        low[(n + 1) * size : -1], high[(n + 1) * size : -1] = -1.0, 1.0
        low[-1], high[-1] = 0.2 * duration, 5.0 * duration
        w = np.clip(w, low, high)
        radius, missed = 0.3, self.values(w)
        merit = w[-1] + price * np.abs(missed).sum()
        slopes = self.slopes(w)
        costs = np.concatenate([np.zeros(len(w) - 1), [1.0], np.full(2 * len(missed), price)])
        unit = sparse.eye_array(len(missed))
        taken = 0
        while taken < programs and radius > 1e-7:
            taken += 1
            found = linprog(
                costs,
                A_eq=sparse.hstack([slopes, unit, -unit]).tocsc(),
                b_eq=-missed,
                bounds=np.vstack(
                    [
                        np.column_stack([np.maximum(low - w, -radius), np.minimum(high - w, radius)]),
                        np.tile([0.0, np.inf], (2 * len(missed), 1)),
                    ]
                ),
                method="highs",
            )
            change = found.x[: len(w)]
            foreseen = merit - (w[-1] + found.fun)
            if foreseen < 1e-9:
                break
            other = np.clip(w + change, low, high)
            left = self.values(other)
            gain = (merit - other[-1] - price * np.abs(left).sum()) / foreseen
            for _ in range(3):  # to what was foreseen of the defects, by the least change
                if gain > 0.9:
                    break
                is_inside = (other > low + 1e-9) & (other < high - 1e-9)
                own = slopes[:, is_inside]
                less, more = found.x[len(w) :].reshape(2, -1)
                again = other.copy()
                normal = (own @ own.T + 1e-12 * unit).tocsc()
                again[is_inside] -= own.T @ spsolve(normal, left - (more - less))
                again = np.clip(again, low, high)
                again_left = self.values(again)
                again_gain = (merit - again[-1] - price * np.abs(again_left).sum()) / foreseen
                if not again_gain > gain:
                    break
                other, left, gain = again, again_left, again_gain
            reached = other[-1] + price * np.abs(left).sum()
            if gain > 0.1:
                w, missed, merit, slopes = other, left, reached, self.slopes(other)
            radius *= 2.0 if gain > 0.7 else 1.0 if gain > 0.3 else 0.4
        states, torques, lasts = self.split(w)
        return Collocated(lasts, torques, states, float(np.abs(missed).max()), taken)


# Side by side.


def difference(arm: Arm) -> float:
    """Of the angles and bends of one motion under held torques, relative to the largest each."""
    intervals, last = 10, 1.0
    times = np.linspace(0.0, last, intervals + 1)
    draw = np.random.default_rng(2)
    torques = draw.uniform(-1, 1, (intervals, 2)) * LIMITS / 3  # small bends, as both suppose
    signals = signals_of(times, torques)
    model = model_of(arm, signals)
    motion = model.simulate(last, step=last / 2000, progress=False)
    equations = Equations(arm)
    states = equations.run(lambda t: torques[int(t / last * intervals)], times)
    at = np.arange(intervals + 1) * 200
    half = equations.count // 2
    bend = equations.slope * states[:, 1] if arm.is_flexible else 0.0
    pairs = [
        (motion[ph.JointPosition(model.joint("shoulder"))].reshape(-1)[at], states[:, 0]),
        (motion[ph.JointPosition(model.joint("elbow"))].reshape(-1)[at], states[:, half] - states[:, 0] - bend),
    ]
    if arm.is_flexible:
        for name, k in (("first", 1), ("second", 3)):
            pairs.append((motion.elastic_displacement(model[name].end)[at, 1], states[:, k]))
    return max(float(np.abs(one - other).max() / np.abs(other).max()) for one, other in pairs)


def signals_of(times: np.ndarray, torques: np.ndarray) -> dict:
    """Held from the first time of each interval on."""
    return {name: ph.Signal(times[:-1], torques[:, k], "constant") for k, name in enumerate(["shoulder", "elbow"])}


def compare(arm: Arm, intervals: int, guess: float) -> None:
    """Prints what this program is for."""
    print("flexible" if arm.is_flexible else "rigid", "links")
    print(f"  one motion by both: apart by {difference(arm):.1e}")
    began = process_time()
    other = Collocation(Equations(arm), intervals).best(guess)
    print(
        f"  collocation: {other.duration:.5f} s ({intervals} intervals, largest defect {other.defect:.0e},"
        f" {other.programs} linear programs, {process_time() - began:.0f} s)",
        flush=True,
    )
    began = process_time()
    samples = intervals // 2
    times = np.linspace(0.0, guess, samples + 1)
    best = ph.optimal_inputs(
        lambda torques: model_of(arm, torques),
        None,
        signals_of(times, np.zeros((samples, 2))),
        guess,
        guess / (8 * samples),
        sensors=lambda model: sensors_of(arm, model),
        final=final_of(arm),
        weights={"duration": 1.0},
        bounds={
            "shoulder": (-LIMITS[0], LIMITS[0]),
            "elbow": (-LIMITS[1], LIMITS[1]),
            "duration": (0.2 * guess, 5.0 * guess),
        },
        progress=False,
    )
    print(
        f"  optimal_inputs: {best.duration:.5f} s ({samples} samples an input, {best.runs} runs,"
        f" {process_time() - began:.0f} s)"
    )
    print(f"  ratio {best.duration / other.duration:.5f}", flush=True)
    torques = np.column_stack([best["shoulder"].values, best["elbow"].values])
    ends = np.linspace(0.0, best.duration, samples + 1)
    equations = Equations(arm)
    last = equations.run(lambda t: torques[min(int(t / best.duration * samples), samples - 1)], ends)[-1]
    missed = np.abs(last - equations.goal())[: equations.count].max()
    print(f"  its torques in the other equations: angles [rad] and bends [m] missed by {missed:.1e}", flush=True)


def main() -> None:
    """Runs what is asked for."""
    words = sys.argv[1:]
    counts = [int(each) for each in words if each.isdigit()]
    kinds = [each for each in words if not each.isdigit()] or ["rigid", "flexible"]
    for kind in kinds:
        compare(replace(Arm(), is_flexible=kind == "flexible"), counts[0] if counts else 40, 1.5)


if __name__ == "__main__":
    main()
