"""Whether intervals of ph.identify hold as often as they say.

python benchmarks/identification.py [replicas] [case ...]
python benchmarks/identification.py published

A motion (or modes) of known parameters gets 1 % of noise, again and again; each time they are identified from first
values that are 5 to 20 % off. Printed: how often the 95 % interval of each parameter holds the true one, how large
the deviation of the values is beside the one that the fit says, how many runs with derivatives a fit took, how many
runs SciPy takes on the same data with differences (of the first replicas), and the seconds of a fit.

``published``: the modulus of the rod of the Test Set for IVP Solvers from its published last state alone.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from published import elastic_rod
from scipy.optimize import least_squares

import phlexible as ph


@dataclass(frozen=True)
class Case:
    """A model with parameters that are known, what is measured, and where the search begins."""

    build: Callable[[Mapping[str, float]], ph.Model]
    true: dict[str, float]
    start: dict[str, float]
    sensors: Callable[[ph.Model], dict[str, Any]] | None = None
    duration: float = 0.0
    step: float = 0.0
    linear: Callable[[ph.Model], Any] | None = None


def arm(p):
    """A strip that is held at its root sags and swings."""
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    material = ph.Material(p["modulus"], 2700.0, viscosity=p["viscosity"])
    beam = model.add(ph.Beam(1.0, ph.RectangularSection(0.02, 2e-3), material, elements=2), "arm")
    model.connect(ph.Fixed(model.ground.at((0.0, 0.0, 0.0)), beam.start))
    return model


def crank(p):
    """The crank-slider of the gallery."""
    return ph.gallery.crank_slider(diameter=p["diameter"], slider_mass=p["mass"], elements=2)


def whole_crank(p):
    """The same with four unknown numbers."""
    return ph.gallery.crank_slider(elements=2, **p)


def crane(p):
    """A trolley whose load hangs on a string, pulled from rest."""
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    trolley = model.add(ph.PointMass(p["trolley"]), "trolley")
    model.connect(ph.Slider(model.ground.at((0.0, 0.0, 0.0)), trolley.origin, axis=(1.0, 0.0, 0.0)))
    cable = ph.String(1.0, 0.05, 3, ph.LinearLaw(p["stiffness"]))
    rope = model.add(cable, "rope", shape=((0.0, 0.0, 0.0), (0.0, -1.0, 0.0)))
    load = model.add(ph.PointMass(1.0), "load", position=(0.0, -1.0, 0.0))
    model.connect(ph.Spherical(trolley.origin, rope.start))
    model.connect(ph.Spherical(rope.end, load.origin))
    model.apply(ph.Force(trolley.origin, (5.0, 0.0, 0.0)))
    return model


def bracket(p):
    """A plate that is held along an edge; six of its modes are measured."""
    model = ph.Model()
    material = ph.Material(p["modulus"], 2700.0, poissons_ratio=p["poissons_ratio"])
    plate = model.add(
        ph.Plate(0.3, 0.2, 3e-3, material, elements=(6, 4), interfaces={"start": "rigid"}, modes=8), "plate"
    )
    model.connect(ph.Fixed(model.ground.at((0.0, 0.0, 0.0)), plate["start"]))
    return model


CASES = {
    "flexible arm": Case(
        arm,
        {"modulus": 7e10, "viscosity": 2e-3},
        {"modulus": 6e10, "viscosity": 1.6e-3},
        lambda model: {"tip": ph.Displacement(model["arm"].end, (0, 1, 0))},
        1.0,
        5e-3,
    ),
    "crank-slider": Case(
        crank,
        {"diameter": 6e-3, "mass": 0.033},
        {"diameter": 6.3e-3, "mass": 0.03},
        lambda model: {"bend": ph.Displacement(model["coupler"].at(0.15), (0, 1, 0))},
        0.04,
        2e-4,
    ),
    "crank-slider, four": Case(
        whole_crank,
        {"diameter": 6e-3, "slider_mass": 0.033, "crank_length": 0.15, "crank_speed": 150.0},
        {"diameter": 6.3e-3, "slider_mass": 0.03, "crank_length": 0.148, "crank_speed": 149.0},
        lambda model: {
            "bend": ph.Displacement(model["coupler"].at(0.15), (0, 1, 0)),
            "slider": ph.Displacement(model["slider"].origin, (1, 0, 0)),
        },
        0.04,
        2e-4,
    ),
    "crane with a string": Case(
        crane,
        {"trolley": 2.0, "stiffness": 2e3},
        {"trolley": 1.8, "stiffness": 1.8e3},
        lambda model: {"load": ph.Position(model["load"].origin)},
        1.0,
        5e-3,
    ),
    "plate with modes": Case(
        bracket,
        {"modulus": 7e10, "poissons_ratio": 0.3},
        {"modulus": 6e10, "poissons_ratio": 0.25},
        linear=lambda model: model.linearize(),
    ),
}
NOISE, MODES = 0.01, 6
COUNTED = 5
"""Replicas in which runs of differences are counted."""


def exact(case: Case) -> tuple[Any, dict[str, Any]]:
    """Instants and readings, or no instants and frequencies, of the true parameters."""
    model = case.build(case.true)
    if case.linear is not None:
        return None, {"modes": np.asarray(case.linear(model).modes(MODES).frequencies)}
    motion = model.simulate(case.duration, case.step)
    return motion.time, {name: np.asarray(motion[sensor]) for name, sensor in case.sensors(model).items()}


def noisy(case: Case, time: Any, clean: dict[str, Any], random: np.random.Generator) -> Any:
    """What an experiment would give."""
    if case.linear is not None:
        deviation = NOISE * clean["modes"]
        return ph.RecordedModes(clean["modes"] + deviation * random.normal(size=MODES), deviation)
    deviations = {name: NOISE * float(values.std()) for name, values in clean.items()}
    values = {name: each + deviations[name] * random.normal(size=each.shape) for name, each in clean.items()}
    return ph.Recording(time, values, deviations)


def runs_of_differences(case: Case, data: Any) -> int:
    """Runs without derivatives that the same fit takes by forward differences, until SciPy's own tolerances."""
    taken = 0

    def residuals(shares):
        nonlocal taken
        taken += 1
        model = case.build({name: case.start[name] * share for name, share in zip(case.start, shares, strict=True)})
        if case.linear is not None:
            return (case.linear(model).modes(MODES).frequencies - data.frequencies) / data.noise
        motion = model.simulate(case.duration, case.step, progress=False)
        left = [
            (np.asarray(motion[sensor]) - data.outputs[name]) / data.noise[name]
            for name, sensor in case.sensors(model).items()
        ]
        return np.concatenate([each.ravel() for each in left])

    least_squares(residuals, np.ones(len(case.start)))
    return taken


def published() -> None:
    """The modulus from where slider and rod are after 0.1 s, of searches that begin up to a tenth off."""
    q1, q2, q3, q4 = (elastic_rod.END[f"q{k}"] for k in range(1, 5))
    nothing = np.full(3, np.nan)
    last = {
        "middle": [q3, q1, np.nan],
        "quarter": [0.75 * q3 - 0.125 * q4, q1 / np.sqrt(2) + q2, np.nan],
        "slider": [elastic_rod.END["x3"], np.nan, np.nan],
    }
    data = ph.Recording([0.0, 0.1], {name: np.array([nothing, each]) for name, each in last.items()}, noise=2e-8)

    def sensors(model):
        points = {"middle": elastic_rod.ROD / 2, "quarter": elastic_rod.ROD / 4}
        found = {name: ph.ElasticDisplacement(model["rod"].point((x, 0, 0))) for name, x in points.items()}
        return found | {"slider": ph.Position(model["slider"].origin)}

    for young in np.linspace(0.9, 1.1, 9) * elastic_rod.YOUNG:
        fit = ph.identify(
            lambda p: elastic_rod.mechanism(young=p["young"])[0],
            {"young": young},
            data,
            sensors=sensors,
            step=5e-6,
            initial=elastic_rod.start_of,
        )
        (low, high) = fit.intervals(0.95)["young"]
        print(
            f"from {young:.4g}: {fit.values['young']:.7g} ({low:.7g} to {high:.7g}), {fit.runs} runs {fit.warnings}"
        )


def main() -> None:
    if sys.argv[1:] == ["published"]:
        published()
        return
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(
        f"{'case':20s} {'parameter':15s} {'holds':>7s} {'deviation':>10s} {'runs':>6s}"
        f" {'differences':>12s} {'s a fit':>8s}"
    )
    for name in sys.argv[2:] or CASES:
        case, random = CASES[name], np.random.default_rng(0)
        time, clean = exact(case)
        holds, errors, runs = dict.fromkeys(case.true, 0), {each: [] for each in case.true}, 0
        counted, seconds = [], 0.0
        for replica in range(count):
            data = noisy(case, time, clean, random)
            if replica < COUNTED:
                counted.append(runs_of_differences(case, data))
            begin = process_time()
            fit = ph.identify(
                case.build, case.start, data, sensors=case.sensors, step=case.step or None, linear=case.linear
            )
            seconds += (process_time() - begin) / count
            runs += fit.runs
            for k, (parameter, (low, high)) in enumerate(fit.intervals(0.95).items()):
                holds[parameter] += bool(low <= case.true[parameter] <= high)
                deviation = float(np.sqrt(fit.covariance[k, k]))
                errors[parameter].append((fit.values[parameter] - case.true[parameter]) / deviation)
        for parameter in case.true:
            share, spread = holds[parameter] / count, float(np.sqrt(np.mean(np.square(errors[parameter]))))
            print(
                f"{name:20s} {parameter:15s} {share:7.1%} {spread:10.3f} {runs / count:6.1f}"
                f" {np.mean(counted):12.1f} {seconds:8.2f}"
            )


if __name__ == "__main__":
    main()
