"""A body from the matrices of NGSolve against Exudyn's floating frame with the same modes.

``python benchmarks/ngsolve_bar.py PYTHON``, with a Python that has ngsolve and exudyn: a bar falls about a pin at
its end for a second; how far the tips are apart at smaller and smaller steps of both.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from compare import theirs
from scipy import sparse

import phlexible as ph

WRITER = Path(__file__).parent / "peer" / "ngsolve_bar.py"
LENGTH, GRAVITY, MODES = 0.5, 9.81, 6


def body(given: dict[str, np.ndarray]) -> ph.FlexibleBody:
    """Of free matrices, held by the mean axis."""
    mass, stiffness = (
        sparse.csr_array(tuple(given[f"{name}_{part}"] for part in ("data", "indices", "indptr")))
        for name in ("mass", "stiffness")
    )
    ends = {"pin": given["pin"], "tip": given["tip"]}
    return ph.FlexibleBody.from_matrices(
        mass, stiffness, given["nodes"], ends, MODES, moments=False, inertial_shapes=False
    )


def tip(bar: ph.FlexibleBody, step: float, every: int) -> np.ndarray:
    """Its path, shape (times, 2) [m]."""
    model = ph.Model(gravity=(0.0, -GRAVITY, 0.0))
    placed = model.add(bar, "bar")
    model.connect(ph.Spherical(model.ground.at((0.0, 0.0, 0.0)), placed["pin"]))
    return model.simulate(1.0, step, every=every, progress=False).position(placed["tip"])[:, :2]


def main() -> None:
    """One line a step."""
    python = sys.argv[1]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "bar.npz"
        subprocess.run([python, str(WRITER), str(path)], check=True)
        given = dict(np.load(path))
        for name, x in (("pin", 0.0), ("tip", LENGTH)):
            given[name] = np.flatnonzero(np.abs(given["nodes"][:, 0] - x) < 1e-9)
        bar = body(given)
        shapes = bar.points.shapes.reshape(len(given["nodes"]) * 3, -1)
        np.savez(path, shapes=shapes, **given)
        print(bar.summary())
        print("step [s]   apart, of the length")
        for parts in (1, 4, 16):
            step = 1e-3 / parts
            keys = {"duration": 1.0, "every": 1e-2, "damping": 0.8, "file": path, "sparse": 0}
            run, version = theirs(python, "pinned_bar", **keys, step=step)
            apart = tip(bar, step, 10 * parts)[: len(run.times)] - run.values.mean(axis=0)
            print(f"{step:8.2e}   {100 * np.linalg.norm(apart, axis=1).max() / LENGTH:.3g} %   (Exudyn {version})")


if __name__ == "__main__":
    main()
