"""The architecture: imports point downwards and never in a circle, compiled code in one place, short files."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "phlexible"
LONGEST_FILE = 1000
LARGEST_FOLDER = 25

# Low to high. A module imports from its own layer and from those before it.
LAYERS = (
    "version",
    "errors",
    "display",
    "extras",
    "algebra",
    "elements",
    "shapes",
    "port_hamiltonian",
    "step.tables",
    "step.compilation",
    "step.kernels",
    "bodies",
    "description",
    "state",
    "step",
    "step.gpu",
    "measure",
    "linear",
    "derivatives",
    "pictures",
    "results",
    "libraries",
    "papers",
    "model",
    "tools",
    "gym",
    "torch",
    "jax",
    "gallery",
    "cli",
    "__init__",
    "__main__",
)
COMPILED = ("step.compilation", "step.kernels", "step.gpu")
LATE = "papers"  # what bodies have of the papers they import when it is asked for: nothing else needs it


def layer_of(module: str) -> str:
    """``phlexible.state.layout`` is in ``state``; ``phlexible`` itself in ``__init__``."""
    _, *parts = module.split(".")
    folder = ".".join(parts[:2])
    return folder if folder in LAYERS else parts[0] if parts else "__init__"


@cache
def imported_modules(source: str, package: str) -> tuple[str, ...]:
    """Full names of all imported modules: also inside functions, for type checkers only, and relative ones.

    Of the layer of the papers only those at the top of the file.
    """
    return tuple(_imported(ast.parse(source), package))


def _imported(tree: ast.Module, package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and layer_of(node.module or "") == LATE and node not in tree.body:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join(base + ([node.module] if node.module else []))
            if module.split(".")[0] != "phlexible":
                yield module
                continue
            modules = [name for alias in node.names if is_module(name := f"{module}.{alias.name}")]
            yield from modules
            if len(modules) < len(node.names):
                yield module


def is_module(name: str) -> bool:
    """Whether a dotted name is a file or folder of the package."""
    path = PACKAGE.parent.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def upward_imports(source: str, package: str, layer: str) -> list[str]:
    """Modules that a file of the layer imports from higher layers, or from none of them."""
    ours = [m for m in imported_modules(source, package) if m.split(".")[0] == "phlexible"]
    return [m for m in ours if layer_of(m) not in LAYERS[: LAYERS.index(layer) + 1]]


def circle(sources: dict[str, tuple[str, str]]) -> list[str]:
    """Modules that import each other in a circle, of {module: (package, source)}; empty where there is none."""
    graph = {
        module: {other for other in imported_modules(source, package) if other in sources and other != module}
        for module, (package, source) in sources.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def package_of(file: Path) -> str:
    return ".".join(("phlexible", *file.relative_to(PACKAGE).parent.parts))


def module_of(file: Path) -> str:
    return package_of(file) if file.stem == "__init__" else f"{package_of(file)}.{file.stem}"


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_imports_downwards_only_and_its_files_are_short(layer: str) -> None:
    own = [f for f in files() if layer_of(module_of(f)) == layer]
    assert own, f"there is no {layer}: take it out of LAYERS"
    for file in own:
        source, package = file.read_text(encoding="utf-8"), package_of(file)
        assert upward_imports(source, package, layer) == [], file
        if layer not in COMPILED:
            assert "numba" not in {m.split(".")[0] for m in imported_modules(source, package)}, file
        assert len(source.splitlines()) <= LONGEST_FILE, f"{file}: one idea a file, split it"


def test_every_folder_is_a_layer_and_none_is_overfull() -> None:
    names = {Path(file.relative_to(PACKAGE).parts[0]).stem for file in files()}
    assert names == {layer.split(".")[0] for layer in LAYERS}, (
        "every file and folder of the package has its place in LAYERS"
    )
    for folder in {file.parent for file in files()}:
        count = sum(1 for file in folder.glob("*.py") if file.stem != "__init__")
        assert count <= LARGEST_FOLDER, f"{folder} holds {count} files: make sub-packages"


def test_no_files_import_each_other_in_a_circle() -> None:
    found = circle({module_of(f): (package_of(f), f.read_text(encoding="utf-8")) for f in files()})
    assert found == []


def test_a_circle_is_found_also_where_only_type_checkers_see_it() -> None:
    package = "phlexible.description"
    sources = {
        package: (package, ""),
        f"{package}.ports": (package, "from phlexible.description.ground import Ground"),
        f"{package}.ground": (package, "if TYPE_CHECKING:\n    from phlexible.description import ports"),
    }
    assert set(circle(sources)) == {f"{package}.ports", f"{package}.ground"}
    sources[f"{package}.ground"] = (package, "from phlexible.description import Unheard")
    assert circle(sources) == []


@pytest.mark.parametrize(
    ("source", "layer", "found"),
    [
        ("from phlexible.errors import ModelError", "bodies", []),
        ("from phlexible.state.layout import State", "bodies", ["phlexible.state.layout"]),
        ("def f():\n    import phlexible.results.motion", "bodies", ["phlexible.results.motion"]),
        ("from ..state import State", "bodies", ["phlexible.state"]),
        ("from .point_mass import PointMass", "bodies", []),
        ("from phlexible import gallery", "bodies", ["phlexible.gallery"]),
        ("from phlexible import Model", "gallery", ["phlexible"]),
        ("import phlexible.unheard_of", "cli", ["phlexible.unheard_of"]),
        ("import numpy.linalg", "bodies", []),
        ("from phlexible.papers.equations import Equations", "bodies", ["phlexible.papers.equations"]),
        ("def f():\n    from phlexible.papers.equations import Equations", "bodies", []),
        ("from phlexible.step.tables.memory import Memory", "bodies", []),
        ("from phlexible.step.assembly.assembly import Assembly", "bodies", ["phlexible.step.assembly.assembly"]),
    ],
)
def test_an_upward_import_is_found(source: str, layer: str, found: list[str]) -> None:
    assert upward_imports(source, f"phlexible.{layer}", layer) == found
