"""The documentation is complete: pages are reached, links lead somewhere, public names are in the reference."""

import inspect
import re
import runpy
import tomllib
from pathlib import Path

import pytest

import phlexible as ph
from phlexible.gallery.table import ENTRIES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
WRITTEN_AT_BUILD = {"tutorials/index", "gallery/index"}
TREE = re.compile(r"^```\{toctree\}\n(?:^:[^\n]*\n)*\n?(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def pages() -> dict[str, str]:
    """Text of every page by its name without ending; those that a build writes are left out."""
    found = (path for path in DOCS.rglob("*.md") if path.relative_to(DOCS).parts[0] not in ("gallery", "tutorials"))
    return {path.relative_to(DOCS).with_suffix("").as_posix(): path.read_text(encoding="utf-8") for path in found}


def resolved(page: str, target: str) -> str:
    """A place relative to a page, as a name within the folder of the documentation."""
    return (DOCS / page).parent.joinpath(target).resolve().relative_to(DOCS.resolve()).as_posix()


def test_every_page_is_in_the_tree_of_contents_once() -> None:
    texts = pages()
    reached = [
        resolved(page, line.strip())
        for page, text in texts.items()
        for tree in TREE.findall(text)
        for line in tree.splitlines()
        if line.strip()
    ]
    assert sorted(reached) == sorted((texts.keys() | WRITTEN_AT_BUILD) - {"index"})


def test_every_link_between_pages_leads_somewhere() -> None:
    missing = [
        (page, target)
        for page, text in pages().items()
        for target in LINK.findall(text)
        if not target.startswith("http") and resolved(page, target).removesuffix(".md") not in WRITTEN_AT_BUILD
        if not (DOCS / page).parent.joinpath(target).exists()
    ]
    assert missing == []


def test_every_public_name_is_in_the_reference_once() -> None:
    listed = re.findall(r"^   (\w+)$", (DOCS / "api" / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    elsewhere = {"gallery", "gym", "errors", "__version__"}  # modules, which are described in words
    assert sorted(listed) == sorted(set(ph.__all__) - elsewhere)


def test_docstrings_mean_to_sphinx_what_they_say() -> None:
    """Stars and bars outside of ``literals`` are markup there; a build finds that out, but minutes later."""
    said = {}
    for name in set(ph.__all__) - {"gallery", "gym", "errors"}:
        public = getattr(ph, name)
        said[name] = inspect.getdoc(public) or ""
        if inspect.isclass(public):
            members = (each for each in dir(public) if not each.startswith("_"))
            said |= {f"{name}.{each}": inspect.getdoc(getattr(public, each)) or "" for each in members}
    plain = {name: re.sub(r"``.*?``|\*\w[^*]*\w\*", "", text, flags=re.DOTALL) for name, text in said.items()}
    marked = {name for name, text in plain.items() if re.search(r"(?<![\w*])\*\w|(?<!\w)\|\w[^|\n]*\|", text)}
    assert marked == set()


def test_every_gallery_model_has_a_kind_and_a_command_on_the_page_of_the_gallery() -> None:
    program = runpy.run_path(str(DOCS / "make_gallery.py"), run_name="not main")
    assert set(program["KINDS"]) == {entry.function.__module__.split(".")[2] for entry in ENTRIES}
    assert set(program["COMMANDS"]) <= {entry.name for entry in ENTRIES}


def test_the_page_of_validation_has_its_numbers() -> None:
    """At least 60 from 25 sources, each with a reference, a number from here and a small difference."""
    text = (DOCS / "validation.md").read_text(encoding="utf-8").split("published numbers: written")[1]
    rows = re.findall(r"^\| (.+) \| (\S+) \| (\S+) \| (\S+) \| (.+) \|$", text.split("end of published")[0], re.M)
    rows = [row for row in rows if row[1] not in ("---", "reference")]
    assert len(rows) >= 60
    assert len({source for *_, source in rows}) >= 25
    assert max(float(difference) for *_, difference, _ in rows) <= 0.02


def test_files_of_the_project_agree_on_versions() -> None:
    """The version in the citation, and the Pythons of the tests with those that the package names."""
    yaml = pytest.importorskip("yaml")
    found = [*(ROOT / ".github").rglob("*.yml"), ROOT / ".pre-commit-config.yaml", ROOT / "CITATION.cff"]
    files = {path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in found}
    assert files["CITATION.cff"]["version"] == ph.__version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [each.rpartition(" ")[2] for each in project["classifiers"] if "Python :: 3." in each]
    assert files["tests.yml"]["jobs"]["tests"]["strategy"]["matrix"]["python"] == named
    assert project["requires-python"] == f">={named[0]}"
