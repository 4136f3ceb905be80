"""Files that are cut off, empty, or hold what there is not: refused by name, whatever their readers raise."""

import meshio
import numpy as np
import pytest
import skfem

import phlexible as ph
from bad_inputs.wrong_values import STEEL

MARKET = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n2 1 {}\n"
ENDINGS = (".inp", ".msh", ".vtk", ".vtu", ".bdf")
PUNCH = "DMIG,K,0,6,1,0,,,\nDMIG,K,1,{0},,1,{0},2.0\n"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("nan.mtx", MARKET.format("nan"), "it has nan in row 2, column 1"),
        ("infinite.mtx", MARKET.format("-inf"), "it has -inf in row 2"),
        ("abaqus.mtx", "1,1,1,1,nan\n", "must be finite"),
        ("empty.mtx", "", "no entries"),
        ("empty.pch", "", "no DMIG entries"),
        ("nine.pch", PUNCH.format(9), "component 9 of point 1; DMIG has 1 .. 6"),
        ("negative.pch", PUNCH.format(-1), "component -1"),
    ],
)
def test_matrices(name, content, words, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(ph.ParameterError, match=words) as caught:
        ph.read_matrices(tmp_path / name)
    assert str(caught.value).startswith("path: ")


@pytest.mark.parametrize(
    "name", [*(f"empty{end}" for end in ENDINGS), *(f"half{end}" for end in ENDINGS if end != ".vtu")]
)
def test_meshes_that_are_not_complete(name, tmp_path):
    cube = skfem.MeshTet.init_tensor(*3 * [np.linspace(0, 1, 3)])
    file, ending = tmp_path / name, name[-4:]
    options = {".msh": {"file_format": "gmsh", "binary": False}, ".vtk": {"binary": False}}.get(ending, {})
    meshio.write(file, meshio.Mesh(cube.p.T, [("tetra", cube.t.T)]), **options)
    content = file.read_bytes()
    file.write_bytes(b"" if name.startswith("empty") else content[: len(content) // 3])
    with pytest.raises(ph.ParameterError, match="is it complete"):
        ph.FlexibleBody.from_mesh(file, STEEL, interfaces={"root": lambda x: x[0] < 1e-9}, modes=1)


def test_a_study_does_not_write_into_a_picture(tmp_path):
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(ph.ResultFileError, match="is no study of the parameters length"):
        ph.study(lambda length: length, {"length": [1.0]}, float, output=tmp_path / "picture.png", progress=False)
