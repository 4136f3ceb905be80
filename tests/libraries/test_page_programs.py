"""The programs of docs/how_to/models_without_python.md, as a reader copies them."""

import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

import phlexible as ph
from phlexible.libraries.linking import host

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "models_without_python.md"
CC = shutil.which("cc")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """With the libraries that the page builds first."""
    if CC is None or host() is None or not host().startswith("linux"):
        pytest.skip("no C compiler of Linux")
    folder = tmp_path_factory.mktemp("page")
    (model,) = blocks("python")
    lines = [line for line in blocks("py")[0].splitlines() if '"arm.so", outputs=tip)' in line or ".zip" in line]
    assert len(lines) == 2
    text = "\n".join([model, *lines]).replace('"arm.', f'"{folder}/arm.')
    exec(compile(text, str(PAGE), "exec"), {})
    return folder


def test_programs_in_c_compile_and_run_as_the_page_says(folder) -> None:
    shared, own = blocks("c")
    (folder / "program.c").write_text(shared)
    words = [CC, "-Wall", "-Werror", "program.c", "./arm.so", "-o", "program"]
    subprocess.run(words, cwd=folder, check=True)
    said = subprocess.run(["./program"], cwd=folder, capture_output=True, text=True, check=True).stdout
    rows = np.array([line.split() for line in said.splitlines()], dtype=float)
    library = ph.load_library(folder / "arm.so")
    library.inputs["motor"] = 0.5
    library.step(1000)
    assert len(rows) == 100 and rows[-1] == pytest.approx([1.0, *library.read("tip")[:2]], rel=1e-4, abs=1e-5)
    ZipFile(folder / "arm.zip").extractall(folder / "sources")
    (folder / "sources" / "control.c").write_text(own)
    (command,) = re.findall(r"`(cc [^`]*control\.c [^`]*)`", PAGE.read_text(encoding="utf-8"))
    subprocess.run(command, cwd=folder / "sources", shell=True, check=True)
    assert subprocess.run(["./control"], cwd=folder / "sources", env={}).returncode == 1  # it hangs down by then


@pytest.mark.skipif(find_spec("ziglang") is None or shutil.which("node") is None, reason="no Zig, or no Node")
def test_the_program_of_a_web_page_runs(folder) -> None:
    (model,) = blocks("python")
    (line,) = [line for line in blocks("py")[0].splitlines() if ".wasm" in line]
    exec(compile(f"{model}\n{line}".replace('"arm.', f'"{folder}/arm.'), str(PAGE), "exec"), {})
    (script,) = blocks("js")
    script = script.replace("instantiateStreaming(fetch(", "instantiate(readFileSync(")
    text = f'import {{ readFileSync }} from "node:fs";\n{script}console.log(x, y);\n'
    (folder / "page.mjs").write_text(text)
    said = subprocess.run(["node", "page.mjs"], cwd=folder, capture_output=True, text=True, check=True).stdout
    library = ph.load_library(folder / "arm.so")
    library.step(100)
    assert [float(x) for x in said.split()] == pytest.approx(library.read("tip")[:2], abs=1e-12)
