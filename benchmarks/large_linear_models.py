"""Modes and reductions of large meshes and mechanisms: python benchmarks/large_linear_models.py.

Linear triangles of velocities and stresses, twice as long as wide, clamped on one side or free; all ports, one for
each velocity and traction. A chain of 6667 flexible links, where nothing stretches it (thousands of motions strain
nothing) and hanging at rest, where each of them is a mode of a string.
Processor time of one thread (OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1) and the greatest memory so far.
"""

import resource
import time

import numpy as np
from skfem import MeshTri

import phlexible as ph
from phlexible.papers import solid

CASES = ((160, "left", True), (160, None, True), (500, "left", False))  # triangles along, clamped, with bases
ONE = {"inputs": ["boundary traction 40"], "outputs": ["boundary traction 40"]}
ORDER = 30
LINKS = 6667


def sheet(along: int, clamped: str | None) -> ph.LinearModel:
    """As a linear model."""
    sides = np.linspace(0, 2, along + 1), np.linspace(0, 1, along // 2 + 1)
    mesh = MeshTri.init_tensor(*sides).with_boundaries({"left": lambda x: x[0] < 1e-9})
    return ph.LinearModel.of(solid(mesh, 2e11, 0.3, 7800.0, 0.01, clamped))


class Clock:
    """Prints how long what it stands around took."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        self._begin = time.process_time()

    def __exit__(self, *_: object) -> None:
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"  {self._name}: {time.process_time() - self._begin:.2f} s, {memory:.2f} GB in all", flush=True)


def chains() -> None:
    """Of mechanisms."""
    model = ph.gallery.chain(LINKS, elements=4)
    for at in ("unloaded", "static"):
        print(f"chain of {LINKS} links, {at}")
        with Clock("linear model"):
            linear = model.linearize(at=at)
        with Clock(f"six modes of {linear.mechanics.size} coordinates"):
            modes = linear.modes(6)
        print(f"  {np.round(modes.frequencies, 4)} rad/s, {modes.rigid_modes} rigid modes")


def main() -> None:
    """All cases."""
    for along, clamped, with_bases in CASES:
        model = sheet(along, clamped)
        print(f"{model.order} states, {len(model.inputs)} inputs, {'clamped' if clamped else 'free'}")
        with Clock("six modes"):
            modes = model.modes(6)
        print(f"  {np.round(modes.frequencies, 2)} rad/s")
        if not with_bases:
            continue
        with Clock(f"Krylov, order {ORDER}, all ports"):
            model.reduce(ORDER)
        band = np.linspace(0.05, 0.99, 10) * model.modes(9).elastic_frequencies[4]
        for method in ("krylov", "modal", "craig_bampton"):
            with Clock(f"{method}, order {ORDER}, one port"):
                small = model.reduce(ORDER, method, **ONE)
            print(f"    error up to the fifth mode {small.error(band).peak.max():.1e}")


if __name__ == "__main__":
    main()
    chains()
