"""Imports of the package go downwards, as the contracts in ``pyproject.toml`` say, and never in a circle."""

from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest
from importlinter import cli

from phlexible import _LEAF_FUNCTIONS
from phlexible.leaves import leaf_function


def test_the_contracts_of_pyproject_are_kept(monkeypatch) -> None:
    monkeypatch.chdir(Path(__file__).parent.parent)
    assert cli.lint_imports(no_cache=True) == cli.EXIT_STATUS_SUCCESS


def test_no_files_import_each_other_in_a_circle_also_inside_functions() -> None:
    graph = grimp.build_graph("phlexible", cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert "phlexible.bodies.body" in imported["phlexible.bodies.rod"]
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")


def test_leaf_functions_are_where_they_are_registered() -> None:
    for name, module in _LEAF_FUNCTIONS.items():
        assert leaf_function(name).__module__ == module
