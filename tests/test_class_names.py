"""No two classes of the package have one name, so that a name in a message or a search means one thing."""

import re
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "phlexible"


def places_of_classes(sources: dict[str, str]) -> dict[str, list[str]]:
    """Where modules define classes: {name: [file:line, ...]}; classes inside of functions have no name outside."""
    places = defaultdict(list)
    for file, source in sources.items():
        for number, line in enumerate(source.splitlines(), 1):
            if found := re.match(r"class (\w+)", line):
                places[found[1]].append(f"{file}:{number}")
    return dict(places)


def test_no_two_classes_have_one_name() -> None:
    sources = {str(f.relative_to(PACKAGE)): f.read_text(encoding="utf-8") for f in sorted(PACKAGE.rglob("*.py"))}
    assert {name: at for name, at in places_of_classes(sources).items() if len(at) > 1} == {}


def test_classes_of_one_name_are_found() -> None:
    sources = {"a.py": "class Term:\n    pass", "b.py": "x = 1\nclass Term:\n    pass\nclass Row:\n    pass"}
    assert places_of_classes(sources) == {"Term": ["a.py:1", "b.py:2"], "Row": ["b.py:4"]}
