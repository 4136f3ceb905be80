"""Whether type checkers know every public name: none is ``object`` or ``Any`` in a user's program.

python .ci/typed_names.py        # after mypy, whose cache it uses
"""

import re
import sys
import tempfile
from pathlib import Path

from mypy import api

import phlexible as ph


def main() -> None:
    names = [name for name in ph.__all__ if name != "__version__"]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text("\n".join(["import phlexible as ph", *(f"reveal_type(ph.{name})" for name in names)]))
        report, trouble, status = api.run(["--strict", str(script)])
    types = re.findall(r'Revealed type is "(.*)"', report)
    vague = [name for name, kind in zip(names, types, strict=False) if kind in ("Any", "builtins.object")]
    if status or trouble or len(types) != len(names) or vague:
        sys.exit(f"{report}{trouble}{len(names)} names, {len(types)} types; without a type: {vague}")
    print(f"{len(names)} public names have types")


if __name__ == "__main__":
    main()
