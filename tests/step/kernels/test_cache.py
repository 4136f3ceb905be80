"""Compiled code is never older than the sources that were inlined into it."""

import sys
from importlib import util
from pathlib import Path

import pytest
from numba import njit

from phlexible.step.compilation import compiled
from phlexible.step.compilation.compiled import discard_stale_cache, entry_point


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "loop.py").write_text("a = 1")
    (tmp_path / "inertia.py").write_text("b = 1")
    (tmp_path / "forces").mkdir()
    (tmp_path / "forces" / "laws.py").write_text("c = 1")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "loop.advance.nbi").write_text("index")
    (tmp_path / "__pycache__" / "loop.advance.1.nbc").write_text("code")
    return tmp_path


def compiled_files(folder):
    return sorted(file.suffix for file in (folder / "__pycache__").glob("*.nb*"))


def test_code_without_a_stamp_is_removed(folder):
    assert discard_stale_cache([folder], folder / "__pycache__")
    assert compiled_files(folder) == []


def test_code_of_the_same_sources_stays(folder):
    discard_stale_cache([folder], folder / "__pycache__")
    (folder / "__pycache__" / "loop.advance.1.nbc").write_text("code")
    assert not discard_stale_cache([folder], folder / "__pycache__")
    assert compiled_files(folder) == [".nbc"]


@pytest.mark.parametrize("source", ["inertia.py", "forces/laws.py"])
def test_a_change_in_any_source_removes_the_code(folder, source):
    discard_stale_cache([folder], folder / "__pycache__")
    (folder / "__pycache__" / "loop.advance.1.nbc").write_text("code")
    (folder / source).write_text("b = 2")
    assert discard_stale_cache([folder], folder / "__pycache__")
    assert compiled_files(folder) == []


def test_where_no_folder_can_be_written_code_is_compiled_in_each_process(monkeypatch):
    """As Numba does it on a read-only installation with a home that cannot be written."""

    def njit_without_a_folder(cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function 'double': no locator available for file")
        return njit(**options)

    monkeypatch.setattr(compiled, "njit", njit_without_a_folder)
    entry = entry_point(lambda x: 2 * x)
    assert entry.stats.cache_path is None and not entry.overloads
    assert entry(2.0) == 4.0 and entry.overloads


@pytest.fixture
def doubled(tmp_path, monkeypatch):
    """Makes an entry point of the same function anew, as another process would."""
    file = tmp_path / "doubled.py"
    file.write_text("def double(x):\n    return 2 * x\n")

    def made():
        spec = util.spec_from_file_location("doubled", file)
        module = util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "doubled", module)
        spec.loader.exec_module(module)
        entry = entry_point(module.double)
        assert entry(2.0) == 4.0
        return entry

    return made


@pytest.mark.parametrize(
    ("kind", "damage"),
    [
        ("nbi", lambda content: b""),
        ("nbi", lambda content: content[: len(content) // 2]),
        ("nbc", lambda content: b""),
        ("nbc", lambda content: content[:-9] + b"x" + content[-8:]),
    ],
)
def test_damaged_files_are_made_again_and_named(doubled, kind, damage, capsys):
    folder = Path(doubled().stats.cache_path)
    assert sum(doubled().stats.cache_hits.values()) == 1
    (file,) = folder.glob(f"doubled*.{kind}")
    file.write_bytes(damage(file.read_bytes()))
    assert sum(doubled().stats.cache_hits.values()) == 0
    told = capsys.readouterr().err
    assert str(folder) in told and "is damaged" in told and "delete the files" in told
    assert sum(doubled().stats.cache_hits.values()) == 1
    assert capsys.readouterr().err == ""
