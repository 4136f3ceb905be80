"""A hanging chain with 20 000 linear unknowns: linearize, six modes, a frequency response.

python benchmarks/linear_chain.py
"""

import resource
import time

import numpy as np

import phlexible as ph

UNKNOWNS = 20_000
FREQUENCIES = 200


def hanging_chain(links: int, elements: int = 4) -> ph.Model:
    """Flexible links along the direction of gravity, pinned to each other, near their equilibrium."""
    link = ph.Beam(0.2, ph.CircularSection(2e-3), ph.Material(7.0e10, 2700.0), elements, "simply_supported")
    model = ph.Model(gravity=(9.81, 0.0, 0.0), dimension=2)
    port: object = model.ground.at((0.0, 0.0, 0.0))
    for k in range(links):
        body = model.add(link, f"link {k + 1}", position=(0.2 * k, 0.0, 0.0))
        model.connect(ph.Revolute(port, body.start))  # type: ignore[arg-type]
        port = body.end
    return model


def main() -> None:
    """Prints wall times, frequencies and the memory that was needed."""
    for at in ("unloaded", "static"):
        model = hanging_chain(UNKNOWNS // 17 + 1)
        end = model.bodies[-1].end
        begin = time.perf_counter()
        linear = model.linearize([ph.Force(end, (0.0, 1.0, 0.0))], at=at)
        linearized = time.perf_counter()
        modes = linear.modes(6)
        found = time.perf_counter()
        mechanics = linear.mechanics
        assert mechanics is not None
        size = mechanics.size + mechanics.constraint_matrix.shape[0]
        print(f"about the {at} pose: {size} unknowns (order {linear.order})")
        print(f"  linearize {linearized - begin:6.2f} s   six modes {found - linearized:6.2f} s")
        print(f"  rigid modes {modes.rigid_modes}, frequencies {np.round(modes.frequencies, 5)} rad/s")
        begin = time.perf_counter()
        linear.frequency_response(np.geomspace(0.05, 50.0, FREQUENCIES) * 1.000123)
        print(f"  response at {FREQUENCIES} frequencies {time.perf_counter() - begin:6.2f} s")
    print(f"largest memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
