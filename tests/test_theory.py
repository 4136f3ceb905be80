"""Every equation and section that the code cites is in docs/theory.md or docs/theory/, each equation once.

The convention: ``(4.7)``, ``(4.1, 4.3)``, ``(4.6 to 4.9)`` in docstrings, comments and pages are equations,
``docs/theory.md, 4`` and ``docs/theory.md, 2 and 3`` are sections. An equation is defined by ``\\tag{4.7}`` in a
displayed formula, a section by the title ``# 4. Title`` of a page in docs/theory/. A section has one page or more.
"""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CONTENTS = ROOT / "docs" / "theory.md"
PAGES = sorted((ROOT / "docs" / "theory").glob("*.md"))
FOLDERS = ("src", "tests", "benchmarks", "examples", "docs")

NUMBER = r"[1-9]\.[1-9]\d?"
EQUATIONS = re.compile(rf"(?<![\w\])])\(({NUMBER}(?:(?:, | and | to ){NUMBER})*)\)")
SECTIONS = re.compile(r"docs/theory\.md, (\d+(?:(?:, | and | to )\d+)*)(?!\.?\d)")
NAMED = re.compile(r"theory\.md")
DEFINITION = re.compile(rf"^\\tag\{{({NUMBER})\}}$", re.MULTILINE)
HEADING = re.compile(r"^# (\d+)\. ", re.MULTILINE)
LISTED_SECTION = re.compile(r"^- \[(\d+)\. ", re.MULTILINE)
DISPLAYED = re.compile(r"^\$\$\n(.*?)\n\$\$$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^(?: {4,})[^ `|].*$", re.MULTILINE)
MODULE = re.compile(r"`([a-z_]+(?:/[a-z_]+)*(?:\.py|/))`")
OTHER_SOURCE = re.compile(
    r"(?<![Pp]ort-Hamiltonian )(?<!Hu-Washizu-type )\bformulation\b", re.IGNORECASE
)  # titles of papers have it


@cache
def texts() -> dict[Path, str]:
    found = [path for folder in FOLDERS for kind in ("*.py", "*.md") for path in (ROOT / folder).rglob(kind)]
    others = sorted({*found, *ROOT.glob("*.md")} - {Path(__file__)})
    return {path: path.read_text(encoding="utf-8") for path in others}


def formulas(path: Path) -> list[str]:
    return DISPLAYED.findall(texts()[path]) if path.suffix == ".md" else []


@cache
def said(path: Path) -> str:
    """A program without the signs of its comments, a page without its programs; white space as single spaces."""
    signs = r"^\s*#" if path.suffix == ".py" else r"^```.*?^```"
    return " ".join(re.sub(signs, "", texts()[path], flags=re.MULTILINE | re.DOTALL).split())


def programs() -> list[Path]:
    return [path for path in texts() if path.suffix == ".py"]


def listed(paths: list[Path]) -> str:
    return ", ".join(path.relative_to(ROOT).as_posix() for path in paths)


def cited_equations(text: str) -> set[str]:
    """Numbers of the equations that a text cites; of a range its ends."""
    return {number for match in EQUATIONS.finditer(text) for number in re.findall(NUMBER, match[1])}


def cited_sections(text: str) -> set[str]:
    return {number for match in SECTIONS.finditer(text) for number in re.findall(r"\d+", match[1])}


def unknown_citations(text: str, page: str) -> set[str]:
    """Equations and sections that a text cites and the theory does not have."""
    equations, sections = defined(page)
    return (cited_equations(text) - equations) | (cited_sections(text) - sections)


@cache
def theory() -> str:
    return "\n".join(texts()[path] for path in PAGES)


@cache
def defined(page: str) -> tuple[set[str], set[str]]:
    return set(DEFINITION.findall(page)), set(HEADING.findall(page))


def repeated_definitions(page: str) -> list[str]:
    return [number for number, count in Counter(DEFINITION.findall(page)).items() if count > 1]


def says_other_source(text: str) -> bool:
    """Whether a text speaks of formulas that stand elsewhere than on the page."""
    return "formulation" in text.lower() and OTHER_SOURCE.search(" ".join(text.split())) is not None


def test_all_citations_exist() -> None:
    unknown = {path: sorted(unknown_citations(said(path), theory())) for path in texts()}
    lines = [f"{path.relative_to(ROOT)} cites {', '.join(found)}" for path, found in unknown.items() if found]
    assert not lines, f"not in docs/theory.md: {'; '.join(lines)}"


def test_equations_are_defined_once_and_without_a_gap() -> None:
    assert repeated_definitions(theory()) == []
    numbers = sorted(tuple(map(int, number.split("."))) for number in DEFINITION.findall(theory()))
    last = {section: number for section, number in numbers}
    assert numbers == [(section, k + 1) for section, number in last.items() for k in range(number)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_has_the_equations_of_its_section_in_order(path: Path) -> None:
    (section,) = HEADING.findall(texts()[path])
    numbers = [tuple(map(int, number.split("."))) for number in DEFINITION.findall(texts()[path])]
    assert numbers == sorted(numbers) and {first for first, _ in numbers} <= {int(section)}


def test_the_contents_list_all_sections_in_order() -> None:
    sections = [int(number) for number in LISTED_SECTION.findall(texts()[CONTENTS])]
    assert sections == sorted(sections) and set(sections) == set(range(1, max(sections) + 1))
    assert sorted(sections) == sorted(int(number) for number in HEADING.findall(theory()))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_formulas_are_displayed_and_not_indented(path: Path) -> None:
    assert INDENTED.findall(texts()[path]) == []


def test_lines_of_formulas_end_in_cr() -> None:
    """Sphinx puts a formula with a double backslash into ``split``, in which MathJax refuses a tag."""
    wrong = [path for path in texts() if any(r"\\" in each for each in formulas(path))]
    assert not wrong, f"write \\cr in formulas of {listed(wrong)}"


def test_lines_of_formulas_do_not_begin_a_list() -> None:
    """Parsers of Markdown that find lists before formulas break a line that begins with a sign and a space."""
    wrong = [path for path in texts() if any(re.search(r"^[+-] ", each, re.MULTILINE) for each in formulas(path))]
    assert not wrong, f"write {{}} + at the start of a line in formulas of {listed(wrong)}"


def test_programs_cite_sections_in_one_form() -> None:
    wrong = [path for path in programs() if len(NAMED.findall(said(path))) != len(SECTIONS.findall(said(path)))]
    assert not wrong, f"write docs/theory.md, 4 in {listed(wrong)}"


def test_programs_that_cite_equations_say_where_these_are() -> None:
    silent = [path for path in programs() if cited_equations(said(path)) and not SECTIONS.search(said(path))]
    assert not silent, f"name docs/theory.md and the section once in {listed(silent)}"


def test_nothing_cites_another_source() -> None:
    others = [path for path, text in texts().items() if says_other_source(text)]
    assert not others, f"cite docs/theory.md in {listed(others)}"


def test_the_theory_names_modules_that_exist() -> None:
    folders = (ROOT, ROOT / "src" / "phlexible")
    named = set(MODULE.findall(theory() + texts()[CONTENTS]))
    assert {name for name in named if not any((folder / name).exists() for folder in folders)} == set()


@pytest.mark.parametrize("text", ["force (4.98) of", "at both ends (4.1, 4.98)", "in docs/theory.md, 4 and 12"])
def test_a_missing_equation_or_section_is_found(text: str) -> None:
    assert len(unknown_citations(text, theory())) == 1


@pytest.mark.parametrize("text", ["[B] (42)", "body.at(4.5)", "of (8)", "f(1.5) = 2", "([B] 5.3)", "(1.5 m)"])
def test_other_brackets_are_no_equations(text: str) -> None:
    assert cited_equations(text) == set()


def test_an_equation_that_is_defined_twice_is_found() -> None:
    page = "$$\na = b\n\\tag{4.1}\n$$\n\nwith (4.1)\n\n$$\nc = d\n\\tag{4.2}\n$$\n\n$$\ne = f\n\\tag{4.1}\n$$\n"
    assert repeated_definitions(page) == ["4.1"]


def test_another_source_is_found_and_titles_of_papers_are_none() -> None:
    assert says_other_source("(formulation,\n    section 4)")
    assert not says_other_source("*Port-Hamiltonian\nformulation of strings*")
