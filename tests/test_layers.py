"""Imports go downwards only, compiled code stays in one place, files stay short."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "phlexible"
LONGEST_FILE = 300

# Low to high. A module imports from its own layer and from those before it.
LAYERS = (
    "version",
    "errors",
    "algebra",
    "elements",
    "port_hamiltonian",
    "bodies",
    "ports",
    "interactions",
    "joints",
    "kernels",
    "mechanism",
    "system",
    "rank",
    "initial",
    "time_integration",
    "observables",
    "linear_analysis",
    "reduction",
    "results",
    "model",
    "gallery",
    "cli",
    "__init__",
    "__main__",
)


def layer_of(module: str) -> str:
    """``phlexible.system.assembly`` is in ``model``; ``phlexible`` itself in ``__init__``."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imported_modules(source: str, package: str) -> Iterator[str]:
    """Full names of all imported modules, also those inside functions and relative ones."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join(base + ([node.module] if node.module else []))
            if module == "phlexible":  # from phlexible import model
                known = {alias.name for alias in node.names if alias.name in LAYERS}
                yield from (f"phlexible.{name}" for name in known)
                if known != {alias.name for alias in node.names}:
                    yield module
            else:
                yield module


def upward_imports(source: str, package: str, layer: str) -> list[str]:
    """Modules that a file of the layer imports from higher layers, or from none of them."""
    ours = [m for m in imported_modules(source, package) if m.split(".")[0] == "phlexible"]
    return [m for m in ours if layer_of(m) not in LAYERS[: LAYERS.index(layer) + 1]]


def files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def package_and_layer(file: Path) -> tuple[str, str]:
    relative = file.relative_to(PACKAGE)
    return ".".join(("phlexible", *relative.parent.parts)), relative.parts[0].removesuffix(".py")


@pytest.mark.parametrize("file", files(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_a_file_imports_downwards_only_and_is_short(file: Path) -> None:
    source = file.read_text(encoding="utf-8")
    package, layer = package_and_layer(file)
    assert layer in LAYERS, f"{layer} has no place in LAYERS; add it where it belongs"
    assert upward_imports(source, package, layer) == []
    if layer != "kernels":
        assert "numba" not in {m.split(".")[0] for m in imported_modules(source, package)}
    assert len(source.splitlines()) <= LONGEST_FILE, "one idea a file: split it"


def test_every_folder_is_a_layer() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= set(LAYERS)


@pytest.mark.parametrize(
    ("source", "layer", "found"),
    [
        ("from phlexible.errors import ModelError", "bodies", []),
        ("from phlexible.system.state import State", "bodies", ["phlexible.system.state"]),
        ("def f():\n    import phlexible.results.motion", "bodies", ["phlexible.results.motion"]),
        ("from ..system import Model", "bodies", ["phlexible.model"]),
        ("from .beam import Beam", "bodies", []),
        ("from phlexible import gallery", "bodies", ["phlexible.gallery"]),
        ("from phlexible import Model", "gallery", ["phlexible"]),
        ("import phlexible.unheard_of", "cli", ["phlexible.unheard_of"]),
        ("import numpy.linalg", "bodies", []),
    ],
)
def test_an_upward_import_is_found(source: str, layer: str, found: list[str]) -> None:
    assert upward_imports(source, f"phlexible.{layer}", layer) == found
