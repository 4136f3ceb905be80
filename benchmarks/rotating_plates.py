"""Frequencies of a square cantilever plate that turns: python benchmarks/rotating_plates.py.

Plate elements against 18 x 16 x 1 quadratic hexahedra, thickness 0.02 of the length; about an axis across the plate
and about its clamped edge, at five speeds in units of sqrt(D / (rho h)) / a^2.
"""

import numpy as np
from scipy.spatial.transform import Rotation
from skfem import MeshHex

import phlexible as ph

STEEL, THICKNESS, COUNT = ph.Material(2.0e11, 8000.0, 0.3), 0.02, 5
UNIT = float(np.sqrt(STEEL.youngs_modulus * THICKNESS**2 / 12 / (1 - 0.3**2) / STEEL.density))
SPEEDS = (0, 1, 2, 4, 10)
AXES = {"across": (0.0, 0.0, 1.0), "along the edge": (0.0, 1.0, 0.0)}


def solid() -> ph.FlexibleBody:
    """Finer at the clamped edge."""
    lines = np.concatenate([np.linspace(0, 0.06, 4)[:-1], np.linspace(0.06, 1, 16)])
    mesh = MeshHex.init_tensor(lines, np.linspace(-0.5, 0.5, 17), np.array([-THICKNESS / 2, THICKNESS / 2]))
    return ph.FlexibleBody.from_mesh(mesh, STEEL, {"start": (lambda x: x[0] < 1e-9, "rigid")}, modes=14)


def plate(theory: str) -> ph.FlexibleBody:
    """12 x 12 elements."""
    return ph.Plate(
        1.0, 1.0, THICKNESS, STEEL, elements=(12, 12), theory=theory, interfaces={"start": "rigid"}, modes=10
    )


def frequencies(body: ph.FlexibleBody, speed: float, axis: tuple[float, float, float]) -> np.ndarray:
    """The lowest in steady rotation, in units."""
    model = ph.Model()
    part = model.add(body, "plate")
    rate = speed * UNIT * np.array(axis)
    hub = model.ground.moving(lambda t: (0, 0, 0), rotation=lambda t: Rotation.from_rotvec(rate * t))
    model.connect(ph.Fixed(hub, part["start"]))
    return np.asarray(model.linearize(at="steady_rotation").modes(COUNT).frequencies / UNIT)


if __name__ == "__main__":
    bodies = {"hexahedra": solid(), "mindlin": plate("mindlin"), "kirchhoff": plate("kirchhoff")}
    for name, axis in AXES.items():
        for speed in SPEEDS:
            found = {kind: frequencies(body, speed, axis) for kind, body in bodies.items()}
            exact = found.pop("hexahedra")
            shown = "".join(f"  {k} off by {100 * np.abs(f / exact - 1).max():.2f} %" for k, f in found.items())
            print(f"axis {name}, speed {speed}: {np.array2string(exact, precision=4)}{shown}", flush=True)
