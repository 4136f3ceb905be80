"""How ``simulate(tolerance=)`` keeps its promise: python benchmarks/tolerance.py.

Prints the table of docs/validation.md; with ``--write`` puts it there.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from step.integration.step_truth import CASES, with_tolerance  # noqa: E402  # the tests' own measure

PAGE = ROOT / "docs" / "validation.md"
BEGIN = "<!-- tolerances: written by benchmarks/tolerance.py -->\n"
END = "<!-- end of tolerances -->"
TOLERANCES = (1e-3, 1e-4, 1e-5)


def table() -> str:
    """One row a case: duration and interval, then error over tolerance and number of steps."""
    lines = [
        "| case | duration, interval [s] | " + " | ".join(f"{each:.0e}" for each in TOLERANCES) + " |",
        "| --- | --- |" + " --- |" * len(TOLERANCES),
    ]
    for case, (_, duration, interval) in CASES.items():
        cells = []
        for tolerance in TOLERANCES:
            _, error, steps = with_tolerance(case, tolerance)
            cells.append(f"{error / tolerance:.2f} ({steps})")
        lines.append(f"| {case} | {duration:g}, {interval:g} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Prints the table, or writes it."""
    found = table()
    print(found, end="")
    if "--write" in sys.argv[1:]:
        page = PAGE.read_text(encoding="utf-8")
        begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
        PAGE.write_text(page[:begin] + found + page[end:], encoding="utf-8")


if __name__ == "__main__":
    main()
