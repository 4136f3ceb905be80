"""What the retained shapes of meshed bodies are worth: python benchmarks/basis_of_meshes.py.

The coupler of the fast crank-slider, as a plane and a solid mesh with area and second moment of the round section:
error of its bending from the chord over two turns, of the greatest, against geometrically exact beams that do not
shear, and cost of a step. The blade of 8 m that is spun up: its greatest lag, geometrically exact -0.7506 m.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from skfem import MeshHex, MeshQuad, MeshTet

import phlexible as ph

REFERENCE = Path(__file__).parents[1] / "tests" / "gallery" / "reference" / "crank_slider_geometrically_exact.csv"
LENGTH, RADIUS, SPEED = 0.3, 0.15, 150.0
AREA, MOMENT = np.pi * 6e-3**2 / 4, np.pi * 6e-3**4 / 64
REPEATS = 5
CHORD = ("start", "end")
PLANE, SPACE = {"modes": 5}, {"modes": 4}
CASES: list[tuple[str, str, int, dict[str, Any], dict[str, Any] | None]] = [  # the last: of the spin-up
    ("24 x 2 quadrilaterals", "mean axis, 5 modes", 24, PLANE, {}),
    ("", "chord, 5 modes", 24, {**PLANE, "frame": CHORD}, {}),
    (
        "",
        "chord, 5 modes, no moments (spin-up: with)",
        24,
        {**PLANE, "frame": CHORD, "moments": False},
        {"moments": True},
    ),
    ("", "mean axis, 2 modes", 24, {"modes": 2}, {}),
    ("", "mean axis, 10 modes", 24, {"modes": 10}, {}),
    ("", "mean axis, 5 modes, modal derivatives", 24, {**PLANE, "modal_derivatives": True}, {}),
    ("", "at the start, 5 modes", 24, {**PLANE, "frame": "start"}, {}),
    (
        "",
        "at the start, 5 modes, modal derivatives",
        24,
        {**PLANE, "frame": "start", "modal_derivatives": True},
        {},
    ),
    ("", "at the start, no inertial shapes", 24, {**PLANE, "frame": "start", "inertial_shapes": False}, {}),
    ("", '`strain="linear"`', 24, {**PLANE, "strain": "linear"}, None),
    ("12 x 2 quadrilaterals", "mean axis, 5 modes", 12, PLANE, None),
    ("48 x 2 quadrilaterals", "mean axis, 5 modes", 48, PLANE, None),
    ("24 x 1 x 1 hexahedra", "mean axis, 4 modes (spin-up: 10)", 24, SPACE, {"modes": 10}),
    ("", "chord, 4 modes", 24, {**SPACE, "frame": CHORD}, {"modes": 10}),
    ("", "4 modes, no moments", 24, {**SPACE, "moments": False}, None),
    (
        "",
        "4 modes, no moments, no inertial shapes",
        24,
        {**SPACE, "moments": False, "inertial_shapes": False},
        None,
    ),
    ("", "chord, 4 modes, modal derivatives", 24, {**SPACE, "frame": CHORD, "modal_derivatives": True}, {}),
    ("24 x 1 x 1 x 6 tetrahedra", "mean axis, 4 modes", -24, SPACE, None),
]


def strip(sides: tuple[float, ...], along: int, material: ph.Material, **options: Any) -> ph.FlexibleBody:
    """Of quadrilaterals, hexahedra or, with a negative number, tetrahedra along x."""
    counts = (abs(along), 2 if len(sides) == 2 else 1, 1)
    lines = [np.linspace(0, sides[0], counts[0] + 1)]
    lines += [
        np.linspace(-side / 2, side / 2, count + 1) for side, count in zip(sides[1:], counts[1:], strict=False)
    ]
    kind = MeshQuad if len(sides) == 2 else MeshHex if along > 0 else MeshTet
    interfaces = {"start": lambda x: x[0] < 1e-9, "end": lambda x: x[0] > sides[0] * (1 - 1e-9)}
    return ph.FlexibleBody.from_mesh(kind.init_tensor(*lines), material, interfaces, **options)


def coupler(along: int, in_plane: bool, **options: Any) -> ph.FlexibleBody:
    """With area and second moment of the round section; Poisson's ratio 0, as a beam."""
    high = np.sqrt(12 * MOMENT / AREA)
    material = ph.Material(0.2e12, 7870.0, 0.0)
    if in_plane:
        return strip((LENGTH, high), along, material, thickness=AREA / high, **options)
    return strip((LENGTH, high, AREA / high), along, material, **options)


def crank_slider(body: ph.FlexibleBody) -> ph.Model:
    """The crank turns one end of the coupler, the slider of the other end moves along x."""
    model = ph.Model(dimension=body.dimension)
    part = model.add(body, "coupler", position=(RADIUS, 0, 0))
    slider = model.add(ph.PointMass(0.033378), "slider", position=(RADIUS + LENGTH, 0, 0))
    pin = model.ground.moving(
        lambda t: (RADIUS * np.cos(SPEED * t), RADIUS * np.sin(SPEED * t), 0.0),
        velocity=lambda t: (-RADIUS * SPEED * np.sin(SPEED * t), RADIUS * SPEED * np.cos(SPEED * t), 0.0),
    )
    model.connect(ph.Revolute(pin, part["start"]))
    model.connect((ph.Revolute if body.dimension == 2 else ph.Spherical)(part["end"], slider.origin))
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), slider.origin, axis=(1, 0, 0)))
    return model


def bending_error(body: ph.FlexibleBody) -> tuple[float, float]:
    """Greatest error of two turns, and least processor time of a step [s]."""
    times, bend = np.loadtxt(REFERENCE, delimiter=",", skiprows=1, usecols=(0, 1)).T
    chosen = times <= 0.1 + 1e-9
    model, best = crank_slider(body), float("inf")
    for _ in range(REPEATS):
        begin = time.process_time()
        motion = model.simulate(0.1, 2e-5, progress=False)
        best = min(best, time.process_time() - begin)
    part = model["coupler"]
    places = part["start"], part["end"], part.point((LENGTH / 2, 0, 0))
    start, end, middle = (motion.position(place) for place in places)
    chord = (end - start) / np.linalg.norm(end - start, axis=1)[:, None]
    own = np.cross(chord, middle - start)[:, 2] / LENGTH
    wrong = CubicSpline(motion.time, own)(times[chosen]) - bend[chosen]
    return float(np.abs(wrong).max() / np.abs(bend[chosen]).max()), best / 5000


def spun_up(along: int, in_plane: bool, **options: Any) -> float:
    """Greatest lag of the tip of the blade [m]; in space of a square section with the same E I and rho A."""
    length, modulus, area, moment, density = 8.0, 6.895e10, 7.2968e-5, 8.2181e-9, 2766.67
    high = np.sqrt(12 * moment / area)
    if in_plane:
        material = ph.Material(modulus, density, 0.0)
        body = strip((length, high), 2 * along, material, thickness=area / high, **options)
    else:
        material = ph.Material(modulus * moment / (high**4 / 12), density * area / high**2, 0.0)
        body = strip((length, high, high), 2 * along, material, **options)
    angle = next(iter(ph.gallery.spinning_beam().joints)).first.rotation
    model = ph.Model(dimension=body.dimension)
    blade = model.add(body, "blade")
    model.connect(ph.Fixed(model.ground.moving(lambda t: (0.0, 0.0, 0.0), rotation=angle), blade["start"]))
    motion = model.simulate(8.0, 0.02, progress=False)
    hub = np.array([np.asarray(angle(t)) for t in motion.time])
    return float(np.einsum("ta,ta->t", hub[:, :, 1], motion.position(blade["end"])).min())


if __name__ == "__main__":
    print("| mesh | frame, shapes | coordinates | error | step | spin-up |\n| --- | --- | --- | --- | --- | --- |")
    last = ""
    for mesh, shapes, along, options, more in CASES:
        last = mesh or last
        in_plane = "quadrilaterals" in last
        body = coupler(along, in_plane, **options)
        error, cost = bending_error(body)
        lag = "" if more is None else f"{spun_up(along, in_plane, **{**options, **more}):.4f} m"
        numbers = f"{body.data.elastic_count} | {100 * error:.2f} % | {1e6 * cost:.1f} us | {lag}"
        print(f"| {mesh} | {shapes} | {numbers} |", flush=True)
