"""No two classes of the package have one name, so that a name in a message or a search means one thing."""

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "phlexible"


def places_of_classes(sources: dict[str, str]) -> dict[str, list[str]]:
    """Where modules define classes: {name: [file:line, ...]}; classes inside of functions have no name outside."""
    places = defaultdict(list)
    for file, source in sources.items():
        for node in ast.parse(source).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{file}:{node.lineno}")
    return dict(places)


def test_no_two_classes_have_one_name() -> None:
    sources = {str(f.relative_to(PACKAGE)): f.read_text(encoding="utf-8") for f in sorted(PACKAGE.rglob("*.py"))}
    assert {name: at for name, at in places_of_classes(sources).items() if len(at) > 1} == {}


def test_classes_of_one_name_are_found() -> None:
    sources = {"a.py": "class Term:\n    pass", "b.py": "x = 1\nclass Term:\n    pass\nclass Row:\n    pass"}
    assert places_of_classes(sources) == {"Term": ["a.py:1", "b.py:2"], "Row": ["b.py:4"]}
