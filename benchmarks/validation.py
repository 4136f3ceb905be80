"""Numbers that others published, computed again: python benchmarks/validation.py.

Prints the table of docs/validation.md; with ``--write`` puts it there. Takes some four minutes on one core; names
of cases, such as ``elastica``, run these alone.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from published import beams, motions, plates, rods, sliding, solids, stability
from published.number import Number

PAGE = Path(__file__).parent.parent / "docs" / "validation.md"
BEGIN = "<!-- published numbers: written by benchmarks/validation.py -->\n"
END = "<!-- end of published numbers -->"
HEADER = "| what | reference | here | difference | source |"
GROUPS = {
    "Beams: frequencies, sections": beams,
    "Rods and beams in parts: large deflections, large motions": rods,
    "Mechanisms, tops, strings, contact": motions,
    "Sliding joints, tendons along rods": sliding,
    "Solid bodies from meshes": solids,
    "Plates": plates,
    "Buckling": stability,
}


def numbers(chosen: list[str]) -> Iterator[tuple[str, Number]]:
    """All of them with their group, or those of the cases that are named."""
    for title, group in GROUPS.items():
        for case in group.CASES:
            if not chosen or case.__name__ in chosen:
                yield from ((title, number) for number in case())


def table(found: list[tuple[str, Number]]) -> str:
    """In Markdown, one table for each group; a difference is relative to the reference unless it says otherwise."""
    sources = {number.source for _, number in found}
    lines = [f"{len(found)} numbers from {len(sources)} sources.", ""]
    for title in dict.fromkeys(title for title, _ in found):
        lines += [f"### {title}", "", HEADER, "| --- | --- | --- | --- | --- |"]
        lines += [row(number) for group, number in found if group == title]
        lines.append("")
    return "\n".join(lines)


def row(number: Number) -> str:
    values = f"{number.reference:.8g} | {number.ours:.8g} | {number.difference:.0e}"
    return f"| {number.what} | {values} | {number.source} |"


def write(text: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + BEGIN + text + END + after, encoding="utf-8")


def main(arguments: list[str]) -> None:
    chosen = [argument for argument in arguments if not argument.startswith("--")]
    text = table(list(numbers(chosen)))
    print(text)
    if "--write" in arguments:
        write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
