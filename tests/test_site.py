"""The documentation is complete: pages are reached, links lead somewhere, public names are in the reference."""

import inspect
import re
import runpy
import tomllib
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

import phlexible as ph
from phlexible import papers
from phlexible.description.interactions.force_elements import ForceElement
from phlexible.description.interactions.loads import Load
from phlexible.description.interactions.state_force import CompoundForce
from phlexible.description.ports import PlacedBody
from phlexible.gallery.entries import TOPICS
from phlexible.gallery.table import ENTRIES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
WRITTEN_AT_BUILD = {"tutorials/index", "gallery/index"}
TUTORIALS = {f"tutorials/{path.stem}" for path in (ROOT / "examples").glob("*.py")}
TREE = re.compile(r"^```\{toctree\}\n(?:^:[^\n]*\n)*\n?(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def pages() -> dict[str, str]:
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
        if not target.startswith("http")
        if resolved(page, target).removesuffix(".md") not in WRITTEN_AT_BUILD | TUTORIALS
        if not (DOCS / page).parent.joinpath(target).exists()
    ]
    assert missing == []


def test_every_public_name_is_in_the_reference_once() -> None:
    listed = re.findall(r"^   (\w+)$", (DOCS / "api" / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    elsewhere = {"gallery", "gym", "jax", "torch", "errors", "__version__"}  # modules, which are described in words
    names = [*(set(ph.__all__) - elsewhere), *papers.__all__]
    assert set(names) - set(listed) == set(), "these have no line in docs/api/index.md"
    assert sorted(listed) == sorted(names)


def test_what_methods_return_is_where_the_reference_says() -> None:
    page = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^   ([a-z_.]+)\.(\w+)$", page, re.MULTILINE)
    assert len(listed) > 10
    for module, name in listed:
        assert inspect.isclass(getattr(import_module(f"phlexible.{module}"), name))


def test_the_reference_shows_what_users_call_and_not_what_parts_ask_of_each_other() -> None:
    program = runpy.run_path(str(DOCS / "site_parts.py"))

    def shown(kind: type) -> set[str]:
        public = {name: inspect.getattr_static(kind, name) for name in dir(kind) if not name.startswith("_")}
        return {k for k, each in public.items() if not program["is_internal"](None, "", k, each, False, None)}

    assert {"spring", "motor", "servo", "drive", "stop", "friction"} <= shown(ph.Revolute)
    assert not shown(ph.Revolute) & {"constraints", "coordinates", "initial_coordinate", "unit_axis"}
    assert {"split", "radii_of_gyration"} <= shown(ph.Beam) and not shown(ph.Beam) & {"discretize", "skin"}
    assert {"add", "connect", "apply", "at", "simulate"} <= shown(ph.Model)
    classes = [each for each in map(partial(getattr, ph), ph.__all__) if inspect.isclass(each)] + [PlacedBody]
    members = [pair for each in classes for kind in each.__mro__ for pair in vars(kind).items()]
    functions = [(getattr(e, "fget", None) or getattr(e, "func", None) or e, name) for name, e in members]
    modules = [(str(getattr(each, "__module__", "")).removeprefix("phlexible."), name) for each, name in functions]
    listed = [(folder, name) for folder, names in program["INTERNAL"].items() for name in names.split()]
    stale = [pair for pair in listed if not any(m.startswith(f"{pair[0]}.") and n == pair[1] for m, n in modules)]
    assert stale == []


def test_every_warning_is_on_the_page_of_the_checks() -> None:
    page = (DOCS / "how_to" / "why_did_my_run_warn.md").read_text(encoding="utf-8")
    classes = {name for name in ph.__all__ if inspect.isclass(getattr(ph, name))}
    assert {name for name in classes if issubclass(getattr(ph, name), Warning) and f"`{name}`" not in page} == set()


def test_apply_says_all_that_it_takes() -> None:
    said = inspect.getdoc(ph.Model.apply)
    classes = {name for name in ph.__all__ if inspect.isclass(getattr(ph, name))}
    taken = {name for name in classes if issubclass(getattr(ph, name), Load | ForceElement | CompoundForce)}
    made = {name for name in dir(ph.Revolute) if name in ("spring", "damper", "force", "torque", "motor", "servo")}
    assert len(taken) >= 8
    assert {k for k in taken | made | {"drive", "stop", "friction", "Feedback"} if f"``{k}``" not in said} == set()


def test_docstrings_mean_to_sphinx_what_they_say() -> None:
    """Stars and bars outside of ``literals`` are markup there; a build finds that out, but minutes later."""
    said = {}
    for name in set(ph.__all__) - {"gallery", "gym", "jax", "torch", "errors"}:
        public = getattr(ph, name)
        said[name] = inspect.getdoc(public) or ""
        if inspect.isclass(public):
            members = (each for each in dir(public) if not each.startswith("_"))
            said |= {f"{name}.{each}": inspect.getdoc(getattr(public, each)) or "" for each in members}
    plain = {name: re.sub(r"``.*?``|\*\w[^*]*\w\*", "", text, flags=re.DOTALL) for name, text in said.items()}
    marked = {name for name, text in plain.items() if re.search(r"(?<![\w*])\*\w|(?<!\w)\|\w[^|\n]*\|", text)}
    assert marked == set()


def test_every_line_of_the_reference_is_a_whole_sentence() -> None:
    """Sphinx ends the sentence of its tables at the first dot before a space: "0 .. N" is cut to "0 ."."""
    page = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    listed = [getattr(papers, name, None) or getattr(ph, name) for name in re.findall(r"^   (\w+)$", page, re.M)]
    returned = re.findall(r"^   ([a-z_.]+)\.(\w+)$", page, re.MULTILINE)
    listed += [getattr(import_module(f"phlexible.{module}"), name) for module, name in returned]
    texts = {each.__name__: inspect.getdoc(each) or "" for each in listed}
    paragraphs = {name: " ".join(text.partition("\n\n")[0].split()) for name, text in texts.items()}
    sentences = {name: re.split(r"(?<=\.)\s", text)[0] for name, text in paragraphs.items()}
    assert {name for name, text in sentences.items() if len(text.split()) < 3 or not text.endswith(".")} == set()
    cut = {name: text for name, text in sentences.items() if text != paragraphs[name]}
    assert {name: text for name, text in cut.items() if re.search(r"(\d|\s|\.|``\w)\.$", text)} == {}
    heads = re.compile(r"^ +(Args|Attributes|Returns|Raises|Example):$", re.MULTILINE)
    assert {name for name, text in texts.items() if heads.search(text)} == set()


def test_every_gallery_model_has_a_topic_and_a_command_on_the_page_of_the_gallery() -> None:
    program = runpy.run_path(str(DOCS / "make_gallery.py"), run_name="not main")
    assert set(TOPICS.values()) == {entry.topic for entry in ENTRIES}
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
