"""Code lines by folder, without docstrings, comments, blank lines and imports, and the change since the last tag.

python .ci/size.py            # a table
python .ci/size.py --check    # one line; fails where a folder has more lines than .ci/size.json says,
                              # a file more than 1000 lines, or a folder more than 25 files
python .ci/size.py --lower    # writes .ci/size.json, whose sum only falls
"""

import ast
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from baseline import exceeded, lower

ROOT = Path(__file__).parent.parent
PACKAGE = "src/phlexible"
LONGEST_FILE, LARGEST_FOLDER = 1000, 25
QUIET = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def code_lines(source: bytes) -> int:
    """Lines with a token of code on them; docstrings and imports are none."""
    tree = ast.parse(source)
    lines: set[int] = set()
    for token in tokenize.tokenize(BytesIO(source).readline):
        if token.type not in QUIET:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        is_text = (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        )
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def today() -> Iterator[tuple[str, bytes]]:
    """Files of the package as they are in the working tree."""
    for file in sorted((ROOT / PACKAGE).rglob("*.py")):
        yield file.relative_to(ROOT).as_posix(), file.read_bytes()


def at(tag: str) -> Iterator[tuple[str, bytes]]:
    """Files of the package at a commit."""
    for path in git("ls-tree", "-r", "--name-only", tag, PACKAGE).decode().split():
        if path.endswith(".py"):
            yield path, git("show", f"{tag}:{path}")


def git(*arguments: str) -> bytes:
    return subprocess.run(("git", *arguments), cwd=ROOT, capture_output=True, check=True).stdout


def last_tag() -> str | None:
    try:
        return git("describe", "--tags", "--abbrev=0").decode().strip()
    except (subprocess.CalledProcessError, FileNotFoundError):  # no tag yet, or no checkout
        return None


def by_folder(files: Iterator[tuple[str, bytes]]) -> tuple[Counter[str], Counter[str]]:
    """Code lines and numbers of files by folder of the package."""
    lines: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for path, source in files:
        parts = Path(path).relative_to(PACKAGE).parts
        folder = parts[0] if len(parts) > 1 else "."
        lines[folder] += code_lines(source)
        counts[folder] += 1
    return lines, counts


def overfull() -> Iterator[str]:
    """Lines about files and folders that hold too much."""
    folders: Counter[Path] = Counter()
    for path, source in today():
        folders[Path(path).parent] += Path(path).stem != "__init__"
        if (length := len(source.splitlines())) > LONGEST_FILE:
            yield f"{path} has {length} lines, at most {LONGEST_FILE}: one subject a file, split it"
    for folder, count in folders.items():
        if count > LARGEST_FOLDER:
            yield f"{folder} holds {count} files, at most {LARGEST_FOLDER}: make sub-packages"


def main() -> None:
    lines, counts = by_folder(today())
    folders = {file.parent for file in (ROOT / PACKAGE).rglob("*.py")} - {ROOT / PACKAGE}
    total = f"{lines.total()} code lines in {counts.total()} files and {len(folders)} folders"
    if "--lower" in sys.argv[1:]:
        lower("size.json", dict(sorted(lines.items())))
    if {"--check", "--lower"} & set(sys.argv[1:]):
        print(total)
        sys.exit("\n".join((*exceeded("size.json", lines), *overfull())) or 0)
    tag = last_tag()
    before = by_folder(at(tag))[0] if tag else Counter()
    for folder in sorted(lines | before):
        change = f"{lines[folder] - before[folder]:+8d} since {tag}" if tag else ""
        print(f"{folder:22s}{lines[folder]:8d} lines{counts[folder]:5d} files{change}")
    print(total)


if __name__ == "__main__":
    main()
