"""What a first run compiles, in an empty cache: python benchmarks/first_compilation.py."""

import os
import subprocess
import sys
import tempfile

MODELS = (
    "crank_slider",
    "gear_train",
    "rotating_cantilever",
    "bouncing_ball",
    "flying_spaghetti",
    "inflated_membrane",
)
RUN = """
import sys, time
import phlexible as ph
from phlexible.gallery.table import ENTRIES

entry = next(each for each in ENTRIES if each.function.__name__ == sys.argv[1])
model, begin, processor = entry.function(), time.perf_counter(), time.process_time()
model.simulate(entry.step, entry.step, progress=False)
print(f"{time.perf_counter() - begin:5.1f} s, of the processor {time.process_time() - processor:5.1f} s")
"""


def in_empty_cache(*command: str) -> str:
    """What a program prints that finds nothing compiled."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    for name in MODELS:
        print(f"{name:20}", in_empty_cache(sys.executable, "-c", RUN, name).strip(), flush=True)
    print(in_empty_cache(sys.executable, "-m", "phlexible", "warmup"))
