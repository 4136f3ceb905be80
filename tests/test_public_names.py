"""The public names and the price of importing them."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import phlexible as ph

STUB = ast.parse(Path(ph.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))


def test_every_name_of_the_stub_is_there_and_nothing_else() -> None:
    listed = [alias for node in ast.walk(STUB) if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert all(alias.name == alias.asname for alias in listed), "type checkers export only names written twice"
    assert sorted(alias.name for alias in listed) == ph.__all__ == dir(ph)
    assert all(getattr(ph, name) is not None for name in ph.__all__)
    with pytest.raises(AttributeError, match="module 'phlexible' has no attribute 'Bean'") as told:
        ph.Bean  # noqa: B018
    assert (told.value.name, told.value.obj) == ("Bean", ph)  # by these Python asks: did you mean 'Beam'?
    for ours, others in ph._ELSEWHERE.items():
        assert hasattr(ph, re.match(r"\w+", ours)[0]) and not set(others.split()) & set(ph.__all__)
        with pytest.raises(AttributeError, match=re.escape(f"; here it is ph.{ours}")):
            getattr(ph, others.split()[-1])


def test_importing_compiles_nothing_and_draws_nothing() -> None:
    heavy = ("numba", "matplotlib", "xarray", "pandas", "control", "pymor", "skfem", "scipy", "h5py")
    program = f"import sys, phlexible; print(*[m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
