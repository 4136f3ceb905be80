"""Faults of docstrings and names that a machine can see, counted by kind: their numbers only fall.

python .ci/language.py            # the counts
python .ci/language.py --list     # each fault with its line
python .ci/language.py --lower    # writes .ci/language.json, whose sum only falls
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from baseline import lower

ROOT = Path(__file__).parent.parent
NO_SUBJECT = frozenset(
    "And Also As At By For From How In It It. Its Of On That Then These This Those To What Where Which With".split()
)
"""First words of sentences that cannot be read alone."""
SHORTEST, LONGEST = 4, 25
"""Words of a first sentence."""


def private_words() -> frozenset[str]:
    """Words of names that have another meaning here than in textbooks: the first column of the last table there."""
    table = (ROOT / "GLOSSARY.md").read_text(encoding="utf-8").split("## Words that are not used in names")[1]
    rows = re.findall(r"^\| ([a-z, ]+) \|", table, re.MULTILINE)
    return frozenset(word for row in rows[1:] for word in row.split(", "))


PRIVATE = private_words()

Fault = tuple[str, str, int, str]
"""Kind, file, line and words."""


def faults() -> Iterator[Fault]:
    """All faults of the package."""
    for path in sorted((ROOT / "src" / "phlexible").rglob("*.py")):
        tree, file = ast.parse(path.read_text(encoding="utf-8")), path.relative_to(ROOT).as_posix()
        for node in filter(_is_relevant, ast.walk(tree)):
            for kind, line, words in (*_faults_of_docstring(node), *_faults_of_names(node)):
                yield kind, file, line, words


def counts() -> dict[str, int]:
    """The number of faults of each kind."""
    return dict(sorted(Counter(kind for kind, *_ in faults()).items()))


def _is_relevant(node: ast.AST) -> bool:
    return isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.Attribute)


def _faults_of_docstring(node: ast.AST) -> Iterator[tuple[str, int, str]]:
    documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    text = ast.get_docstring(node) if documented else None
    if not text:
        return
    first = re.split(r"(?<=[.:;?])\s|\n\n", text, maxsplit=1)[0]
    line, count = getattr(node, "lineno", 1), len(first.split())
    if first.split()[0] in NO_SUBJECT or first.startswith("The same"):
        yield "docstring begins without a subject", line, first
    if count < SHORTEST:
        yield f"docstring begins with fewer than {SHORTEST} words", line, first
    if count > LONGEST:
        yield f"docstring begins with more than {LONGEST} words", line, first


def _faults_of_names(node: ast.AST) -> Iterator[tuple[str, int, str]]:
    """Names that reach further than the body of a function."""
    match node:
        case ast.FunctionDef(name=name, lineno=line, args=args):
            names = [name, *(each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs))]
        case ast.ClassDef(name=name, lineno=line, body=body):
            fields = [each.target for each in body if isinstance(each, ast.AnnAssign)]
            names = [name, *(each.id for each in fields if isinstance(each, ast.Name))]
        case ast.Attribute(attr=name, lineno=line, ctx=ast.Store()):
            names = [name]
        case _:
            return
    for name in names:
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_")
        if PRIVATE.intersection(words):
            yield "private word in a name", line, name


def main() -> None:
    if "--list" in sys.argv[1:]:
        print("\n".join(f"{file}:{line}: {kind}: {words}" for kind, file, line, words in faults()))
        return
    found = counts()
    if "--lower" in sys.argv[1:]:
        lower("language.json", found)
    print("\n".join(f"{count:6d}  {kind}" for kind, count in found.items()))


if __name__ == "__main__":
    main()
