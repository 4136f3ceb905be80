"""Machine code in files: used where it fits these sources and this machine, and called without Numba."""

import ast
import runpy
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import phlexible as ph
from phlexible.step.compilation import entry_points, objects
from phlexible.step.compilation.entry_points import ENDING, MODULE_ENDING, EntryPoint, code_folder
from phlexible.step.compilation.objects import SHIPPED, this_system
from phlexible.step.tables.requests import DerivativeRequest, empty_request

PROGRAM = '''
from math import exp
from phlexible.step.compilation.compiled import entry_point
from phlexible.step.compilation.notation import reals_at
from phlexible.step.compilation.subnormals import flush_subnormals, restore_control
from phlexible.step.tables.requests import RequestRecord, DerivativeRequest, IntegerRow, Floats, Rows2

@entry_point
def weigh(
    places: IntegerRow, table: Rows2, any: Floats, request: RequestRecord[DerivativeRequest], k: int, x: float
) -> tuple[int, int]:
    """Of all kinds of arguments."""
    register = flush_subnormals()
    rows, asked, total = reals_at(any), request[0], 0.0
    for i in range(len(places)):
        total += table[places[i], 1] * exp(x) + asked.numerical_damping * rows[k]
    any.fill(0.5 * table[0, 0])
    restore_control(register)
    table[0, 0] = total
    return len(any), asked.steps
'''
SMALL = 1e-310
SCRIPTS = Path(__file__).parents[3] / ".ci"
WEIGHT = 12.0 * np.exp(0.5) + 3 * 0.25


def arguments():
    """Of ``weigh``; what it returns, the first number of the table and all of the other array follow."""
    request = empty_request(DerivativeRequest)
    request["steps"], request["numerical_damping"] = 7, 0.25
    table = np.array([[SMALL, 2.0, 3.0], [4.0, 5.0, 6.0]])
    return [np.array([1, 0, 1]), table, np.ones((2, 1, 2)), request, 3, 0.5]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The program as entry point, Numba's function, and its code for this machine and for other systems."""
    folder = tmp_path_factory.mktemp("weigh")
    (folder / "weighing.py").write_text(PROGRAM)
    sys.path.insert(0, str(folder))
    try:
        entry = EntryPoint("weighing", "weigh")
        yield entry, {name: entry.compile_for(target)[0] for name, target in SHIPPED.items()}
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("weighing", None)


@pytest.fixture
def entry(made, tmp_path, monkeypatch):
    """The entry point as another process finds it: nothing is shipped and nothing kept."""
    for name in objects.SETTINGS:
        monkeypatch.delenv(f"NUMBA_{name}", raising=False)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(entry_points, "SHIPPED_FOLDER", tmp_path / "shipped")
    return EntryPoint("weighing", "weigh")


def ship(code):
    folder = entry_points.SHIPPED_FOLDER / this_system()
    folder.mkdir(parents=True, exist_ok=True)
    code.write(folder / f"weigh{ENDING}")


HERE = pytest.mark.skipif(this_system() not in SHIPPED, reason="releases have no code for this system")


def test_code_is_kept_and_gives_the_digits_of_numba(made, entry):
    assert not entry.is_ready
    own, numba = arguments(), arguments()
    assert entry(*own) == (4, 7) == (np.prod(own[2].shape), own[3][0]["steps"])
    assert sys.modules["weighing"].weigh(*numba[:2], numba[2].ravel(), *numba[3:]) == (4, 7)
    assert own[1][0, 0] == pytest.approx(WEIGHT, rel=1e-15)
    np.testing.assert_array_equal(own[1], numba[1])
    assert not own[2].any() and 0.5 * np.float64(SMALL) > 0.0  # subnormal numbers were zero inside
    again = EntryPoint("nowhere", "weigh")
    assert again.is_ready and again(*arguments()) == (4, 7)
    assert {file.suffix for file in code_folder().iterdir()} == {ENDING, MODULE_ENDING}


def test_modules_are_kept_beside_code_and_written_where_there_are_none(made, entry, capsys):
    """What Numba takes longest for is there for libraries once a model has been stepped."""
    assert entry(*arguments()) == (4, 7)
    kept = EntryPoint("nowhere", "weigh").module_file()  # which Numba could not write again
    assert kept.declaration.startswith("int32_t ph_k_weigh(void *, int64_t, void *, int64_t, int64_t, void *")
    (file,) = code_folder().glob(f"*{MODULE_ENDING}")
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    again = entry.module_file()
    assert again.declaration == kept.declaration and again == EntryPoint("nowhere", "weigh").module_file()
    assert f"delete the file {file.name}" in capsys.readouterr().err
    replace(kept, sources="0", declaration="stale").write(file)
    assert entry.module_file().declaration == kept.declaration
    shipped = entry_points.SHIPPED_FOLDER / this_system()
    shipped.mkdir(parents=True)
    replace(kept, declaration="shipped").write(shipped / f"weigh{MODULE_ENDING}")
    assert entry.module_file().declaration == "shipped"


def test_code_of_sources_that_change_under_a_process_is_neither_stored_nor_taken(made, entry, monkeypatch):
    """A checkout changes files of a process that has loaded some of them: its code would be of both versions."""
    monkeypatch.setattr(objects, "LOADED", max(file.stat().st_mtime for file in objects._source_files()) - 1e-3)
    assert entry(*arguments()) == (4, 7)
    assert not list(code_folder().iterdir())
    kept = made[1][this_system()]
    objects.sources_digest.cache_clear()
    try:
        assert not kept.fits()
        monkeypatch.undo()
        objects.sources_digest.cache_clear()
        assert kept.fits()
    finally:
        objects.sources_digest.cache_clear()


@HERE
def test_shipped_code_is_used_where_it_fits_and_nowhere_else(made, entry, monkeypatch):
    code = made[1][this_system()]
    assert "PyEval_SaveThread" in code.calls, "other threads go on"
    for other in (
        replace(code, sources="0"),
        replace(code, needs=("avx99",)),
        replace(code, calls=(*code.calls, "no_such_function")),
    ):
        ship(other)
        assert not entry.is_ready and not entry.is_shipped
    ship(code)
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    assert not entry.is_ready and not entry.is_shipped
    monkeypatch.delenv("NUMBA_CPU_NAME")
    assert entry.is_shipped and entry.is_ready
    assert not list(code_folder().iterdir())
    own = arguments()
    assert entry(*own) == (4, 7) and own[1][0, 0] == pytest.approx(WEIGHT, rel=1e-15)


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (0, [1, 0, 1], "argument 1 of weigh must be a contiguous array of int64 with 1 axes"),
        (0, np.zeros(3), "argument 1 of weigh must be a contiguous array of int64 with 1 axes"),
        (1, np.zeros(4), "argument 2 of weigh must be a contiguous array of float64 with 2 axes"),
        (1, np.zeros((2, 6))[:, ::2], "argument 2 of weigh must be a contiguous array of float64 with 2 axes"),
        (2, np.zeros(4, np.float32), "argument 3 of weigh must be a contiguous array of float64"),
        (3, np.zeros(1), "argument 4 of weigh must be a contiguous array of records"),
        (4, "three", "str"),
        (5, None, "must be real number"),
    ],
)
def test_what_does_not_fit_is_refused(made, entry, place, value, told):
    if this_system() in SHIPPED:
        ship(made[1][this_system()])
    given = arguments()
    given[place] = value
    with pytest.raises(TypeError, match=told):
        entry(*given)
    with pytest.raises(TypeError, match="weigh takes 6 arguments"):
        entry(*given[:3])


@HERE
@pytest.mark.parametrize("damage", [lambda content: b"", lambda content: content[:-9] + b"x" + content[-8:]])
def test_damaged_files_are_named_and_not_used(made, entry, damage, capsys):
    ship(made[1][this_system()])
    (file,) = entry_points.SHIPPED_FOLDER.rglob(f"*{ENDING}")
    file.write_bytes(damage(file.read_bytes()))
    assert not entry.is_ready
    told = capsys.readouterr().err
    assert str(file.parent) in told and "is damaged" in told and f"delete the file {file.name}" in told


def test_code_for_other_systems_is_theirs(made):
    """ELF's and Mach-O's numbers say which processor an object is for; each sets its own register."""
    heads = {name: code.code[:20] for name, code in made[1].items()}
    for name, processor in (("linux-x86_64", 62), ("linux-aarch64", 183), ("windows-amd64", 62)):
        assert heads[name][:4] == b"\x7fELF" and struct.unpack_from("<H", heads[name], 18) == (processor,), name
    assert struct.unpack_from("<II", heads["darwin-arm64"]) == (0xFEEDFACF, 0x0100000C)
    fpcr = bytes.fromhex("441bd5")  # msr fpcr, of any register
    arm = {name for name, code in made[1].items() if fpcr in code.code}
    assert arm == {"linux-aarch64", "darwin-arm64"}


def test_a_model_runs_without_numba_once_code_is_there():
    ph.gallery.four_bar().simulate(1e-3, 1e-3, progress=False)
    program = """
import sys
import phlexible as ph
ph.gallery.four_bar().simulate(1e-3, 1e-3, progress=False)
assert "numba" not in sys.modules and "phlexible.step.kernels" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("script", sorted(name.stem for name in SCRIPTS.glob("*.py")))
def test_scripts_of_releases_find_what_they_import_from_the_package(script, monkeypatch):
    """Nothing but a release runs some of them: a name that the package no longer has would be told then only."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    runpy.run_path(str(SCRIPTS / f"{script}.py"), run_name="not run")


def test_the_digest_of_sources_leaves_out_docstrings_alone():
    """A text that is a value must stay in the digest: machine code of another source would pass for the same."""
    step = Path(objects.__file__).parents[1]
    files = [file for each in ("compilation", "kernels", "tables") for file in (step / each).rglob("*.py")]
    for file in (file for file in files if file.name not in objects.NOT_IN_CODE):
        source = file.read_text(encoding="utf-8")
        digested, nodes = objects._without_docstrings(source.encode()).decode(), [*ast.walk(ast.parse(source))]
        docstrings = {node.value for node in nodes if isinstance(node, ast.Expr)}
        lines = source.splitlines()
        for text in (node for node in nodes if isinstance(node, ast.Constant)):
            if lines[text.lineno - 1][text.col_offset :].startswith('"""'):
                written = "\n".join(lines[text.lineno - 1 : text.end_lineno])
                assert (text in docstrings) != (written in digested), f"{file}:{text.lineno}"
