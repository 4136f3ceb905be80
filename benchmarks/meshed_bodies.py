"""What a body from a mesh costs to make: ``python benchmarks/meshed_bodies.py [elements along one side ...]``.

Blocks of quadratic hexahedra, two interfaces, ten modes. Processor time and peak memory of the process;
set OMP_NUM_THREADS, OPENBLAS_NUM_THREADS and RAYON_NUM_THREADS to 1 for one core.
"""

import resource
import sys
import time

import numpy as np
from skfem import MeshHex

import phlexible as ph


def block(side: int) -> ph.FlexibleBody:
    """A steel block of 1.5 side x side x side elements."""
    along = round(1.5 * side)
    lines = [np.linspace(0, 0.3, along + 1), np.linspace(0, 0.2, side + 1), np.linspace(0, 0.2, side + 1)]
    interfaces = {"start": lambda x: x[0] < 1e-9, "end": lambda x: x[0] > 0.3 - 1e-9}
    return ph.FlexibleBody.from_mesh(MeshHex.init_tensor(*lines), ph.Material(2e11, 7870.0), interfaces, modes=10)


def main() -> None:
    """One line a size."""
    print("unknowns   solver      time [s]   memory [GB]")
    for side in map(int, sys.argv[1:] or ["4", "6", "8"]):
        begin = time.process_time()
        body = block(side)
        spent = time.process_time() - begin
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
        print(f"{3 * len(body.points.nodes):8d}   {body.solver:9s} {spent:10.1f} {memory:13.2f}", flush=True)


if __name__ == "__main__":
    main()
