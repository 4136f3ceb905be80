"""Matrices in files of finite element programs: the same beam in each format."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import eigh

import phlexible as ph
from bodies.flexible.meshes import STEEL
from refusals import refused

DATA = Path(__file__).parent / "data"
SECTION = ph.RectangularSection(0.01, 0.02)
NODES = (11, 12, 13)
ALL = (1, 2, 3, 4, 5, 6)


def stiffness():
    """From the best of the files; its first entry by hand below."""
    return ph.read_matrices(DATA / "beam_text.op4")["KAA"].matrix.toarray()


def test_stiffness_of_the_file_is_that_of_a_beam():
    K = stiffness()
    assert K[0, 0] == pytest.approx(STEEL.youngs_modulus * SECTION.area / 0.25)
    assert K[1, 1] == pytest.approx(12 * STEEL.youngs_modulus * SECTION.second_moment_z / 0.25**3)
    assert K[1, 5] == pytest.approx(6 * STEEL.youngs_modulus * SECTION.second_moment_z / 0.25**2)


@pytest.mark.parametrize(
    ("file", "name", "of", "digits"),
    [
        ("beam_text.op4", "MAA", "MAA", 0),
        ("beam_sparse.op4", "KAA", "KAA", 0),
        ("beam_sparse.op4", "MAA", "MAA", 0),
        ("beam_records.op4", "KAA", "KAA", 0),
        ("beam_records.op4", "MAA", "MAA", 0),
        ("beam_records.op4", "MBIG", "MAA", 0),
        ("beam.pch", "KAAX", "KAA", 1e-9),
        ("beam.pch", "MAAX", "MAA", 5e-3),  # small fields have three digits
        ("beam_mass.mtx", "beam_mass", "MAA", 0),
        ("beam_MASS1.mtx", "beam_MASS1", "MAA", 1e-15),
        ("beam_STIF1.mtx", "beam_STIF1", "KAA", 0),
    ],
)
def test_every_format_holds_the_same_matrix(file, name, of, digits):
    found = ph.read_matrices(DATA / file)[name]
    exact = ph.read_matrices(DATA / "beam_text.op4")[of].matrix.toarray()
    matrix = found.ordered(NODES, ALL) if len(found.nodes) else found.matrix
    assert matrix.toarray() == pytest.approx(exact, abs=(digits + 1e-16) * np.abs(exact).max())


def test_a_body_from_files():
    """First free bending frequency 22.3733 within 1 %; masses of three digits are refused."""
    K = ph.read_matrices(DATA / "beam_STIF1.mtx")["beam_STIF1"].ordered(NODES, ALL)
    M = ph.read_matrices(DATA / "beam_records.op4")["MAA"].matrix
    places = [(0, 0, 0), (0.25, 0, 0), (0.5, 0, 0)]
    body = ph.FlexibleBody.from_matrices(M, K, places, {"tip": 2}, modes=3)
    rough = ph.read_matrices(DATA / "beam.pch")["MAAX"].ordered(NODES, ALL)
    with pytest.raises(ph.ParameterError, match="mass: it differs with the direction"):
        ph.FlexibleBody.from_matrices(rough, K, places, {"tip": 2}, modes=3)
    line_density = STEEL.density * SECTION.area
    soft = min(SECTION.second_moment_y, SECTION.second_moment_z)
    exact = 22.3733 * np.sqrt(STEEL.youngs_modulus * soft / line_density) / 0.5**2
    assert body.frequencies[0] == pytest.approx(exact, rel=0.01)


def test_labels():
    found = ph.read_matrices(DATA / "beam_STIF1.mtx")["beam_STIF1"]
    assert found.nodes.tolist() == np.repeat(NODES, 6).tolist()
    assert found.components.tolist() == [*ALL] * 3
    with pytest.raises(
        ph.ParameterError, match=r"6 unknowns of the file are left out \(node.component: 13.1, 13.2"
    ):
        found.ordered(NODES[:2], ALL)
    with pytest.raises(ph.ParameterError, match="no labels of nodes"):
        ph.read_matrices(DATA / "beam_mass.mtx")["beam_mass"].ordered(NODES)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.mtx", "1 2 3 4\n", "is no Abaqus matrix"),
        ("a.mtx", "1,1,1,1,2.0\n1,1,2.0\n", "another form than the first"),
        ("a.mtx", "** nothing\n", "holds no entries"),
        ("a.pch", "GRID    1\n", "has no DMIG entries"),
        ("a.pch", "DMIG,STIF,0,9,2\nDMIG,STIF,27,1,,120,3,3.+5\n", "form 9 and type 2"),
        ("a.op4", f"{1:8}{1:8}{6:8}{3:8}ZAA     1P,3E23.16\n", "ZAA of .* is complex"),
        ("a.op4", "", "holds no matrix"),
        ("a.op4", "what is this", "cannot be read"),
    ],
)
def test_files_that_are_something_else(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    refused(ph.ParameterError, message, lambda: ph.read_matrices(tmp_path / name))
    refused(ph.ParameterError, "there is no file", lambda: ph.read_matrices(tmp_path / "other.mtx"))


def _complex_records(order):
    """A complex matrix of one entry in records of OUTPUT4, with the names of a file that has more of them."""
    head = np.array([1, 1, 6, 3], order + "i4").tobytes() + b"ZAA     "
    column = np.array([1, 1, 2], order + "i4").tobytes() + np.array([1, 2], order + "f4").tobytes()
    end = np.array([2, 1, 1], order + "i4").tobytes() + np.zeros(1, order + "f4").tobytes()
    return b"".join(
        np.array(len(each), order + "i4").tobytes() + each + np.array(len(each), order + "i4").tobytes()
        for each in (head, column, end)
    )


def test_a_matrix_that_cannot_be_read_does_not_hide_the_others(tmp_path):
    records, punch = (DATA / "beam_records.op4").read_bytes(), (DATA / "beam.pch").read_text()
    zaa = f"{1:8}{1:8}{6:8}{3:8}ZAA     1P,3E23.16\n{1:8}{1:8}{2:8}\n{1.0:23.16E}{2.0:23.16E}\n"
    zaa += f"{2:8}{1:8}{1:8}\n{0.0:23.16E}\n"
    files = {
        "a.op4": (zaa + (DATA / "beam_text.op4").read_text()).encode(),
        "b.op4": _complex_records("<" if records[0] == 24 else ">") + records,
        "a.pch": ("DMIG,ZAA,0,9,2,0,,,1\nDMIG,ZAA,1,0,,11,1,1.\n" + punch).encode(),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        found = ph.read_matrices(tmp_path / name)
        assert {"KAA", "MAA"} <= {each[:3] for each in found}
        with pytest.raises(ph.ParameterError, match="the matrix ZAA of .* can be read; the file has '"):
            found["ZAA"]
        with pytest.raises(ph.ParameterError, match="there is no matrix 'PAX'; the file has"):
            found["PAX"]
    assert found["KAAX"].matrix.shape == (18, 18)


def test_free_fields_and_numbers_without_an_exponent_letter(tmp_path):
    text = "DMIG,STIF,0,6,2\nDMIG,STIF,27,1,,27,1,2.5+10\n,28,1,-1.-3\n"
    (tmp_path / "a.bdf").write_text(text)
    found = ph.read_matrices(tmp_path / "a.bdf")["STIF"].ordered((27, 28), (1,))
    assert found.toarray().tolist() == [[2.5e10, -1e-3], [-1e-3, 0]]


def test_an_ansys_file_by_its_reader():
    """The example of the reader, a bar 1 x 1 x 5 that is held at one end: bending over axial frequency."""
    found = ph.read_matrices(pytest.importorskip("ansys.mapdl.reader.examples").fullfile)
    mass, stiffness = found["mass"], found["stiffness"]
    assert stiffness.matrix.shape == (900, 900) and set(stiffness.components.tolist()) == {1, 2, 3}
    squares = eigh(stiffness.matrix.toarray(), mass.matrix.toarray(), eigvals_only=True)[:6]
    assert squares[1] == pytest.approx(squares[0], rel=1e-6)
    slender = 4 * 3.516 / (2 * np.pi * np.sqrt(12)) / 5
    assert np.sqrt(squares[0] / squares[5]) == pytest.approx(slender, rel=0.03)  # shear and rotary inertia: -2.4 %


def test_files_that_others_read(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ansys.mapdl", None)
    for name, error, message in (
        ("file.full", ph.MissingExtraError, r"ansys-mapdl-reader; install it with: pip install phlexible\[ansys\]"),
        ("file.op2", ph.ParameterError, "write its matrices with OUTPUT4"),
    ):
        (tmp_path / name).write_bytes(b"1234")
        with pytest.raises(error, match=message):
            ph.read_matrices(tmp_path / name)
