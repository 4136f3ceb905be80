"""Compiled code for the wheel: python .ci/ship_compiled.py [SYSTEM ...], for all that ``SHIPPED`` names.

LLVM makes code for any of them on any of them. It goes to src/phlexible/step/shipped, which git does not know and
the wheel contains (pyproject.toml).
"""

import sys
import time

from phlexible.step.compilation.entry_points import ENDING, SHIPPED_FOLDER
from phlexible.step.compilation.objects import SHIPPED
from phlexible.step.programs import ENTRY_POINTS

if __name__ == "__main__":
    for system in sys.argv[1:] or SHIPPED:
        begin, size = time.perf_counter(), 0
        folder = SHIPPED_FOLDER / system
        folder.mkdir(parents=True, exist_ok=True)
        for entry in ENTRY_POINTS:
            made = entry.object_for(SHIPPED[system])
            made.write(folder / f"{entry.name}{ENDING}")
            size += len(made.code)
        print(f"{system:15} {size / 1024:5.0f} kB  {time.perf_counter() - begin:5.1f} s", flush=True)
