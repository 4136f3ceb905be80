"""Compiled code for the wheel: python .ci/ship_compiled.py [SYSTEM ...], for all that ``SHIPPED`` names.

Beside the code of each program that built models have lies its module, so that ``ph.build`` needs no Numba.
LLVM makes code for any of them on any of them. It goes to src/phlexible/step/shipped, which git does not know and
the wheel contains (pyproject.toml).
"""

import sys
import time

from phlexible.libraries.programs import BUILT
from phlexible.step.compilation.entry_points import ENDING, MODULE_ENDING, SHIPPED_FOLDER
from phlexible.step.compilation.objects import SHIPPED
from phlexible.step.programs import ENTRY_POINTS

if __name__ == "__main__":
    for system in sys.argv[1:] or SHIPPED:
        begin, size = time.perf_counter(), 0
        folder = SHIPPED_FOLDER / system
        folder.mkdir(parents=True, exist_ok=True)
        for entry in ENTRY_POINTS:
            made, module = entry.compile_for(SHIPPED[system])
            files = [(made, folder / f"{entry.name}{ENDING}")]
            if entry in BUILT:
                files.append((module, folder / f"{entry.name}{MODULE_ENDING}"))
            for found, file in files:
                found.write(file)
                size += file.stat().st_size
        print(f"{system:15} {size / 1024:5.0f} kB  {time.perf_counter() - begin:5.1f} s", flush=True)
