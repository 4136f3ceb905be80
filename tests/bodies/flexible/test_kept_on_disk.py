"""Bodies whose retained shapes are kept in a folder."""

import numpy as np
import pytest

import phlexible as ph
from bodies.flexible.meshes import STEEL, ends, grid


def body(folder, length=0.3, **options):
    chosen = {"interfaces": {"start": (ends(length)["start"], "rigid"), "end": ends(length)["end"]}, "modes": 3}
    return ph.FlexibleBody.from_mesh(
        grid(length, 0.03, 0.02, cells=(3, 1, 1)), STEEL, cache=folder, **{**chosen, **options}
    )


def same(one, other):
    assert np.array_equal(one.frequencies, other.frequencies)
    assert np.array_equal(one.points.shapes, other.points.shapes)
    assert np.array_equal(one.data.strain.squares, other.data.strain.squares)
    assert one.summary() == other.summary()


def test_the_same_body_is_found_again_and_another_is_not(tmp_path, monkeypatch):
    plain, first = body(None), body(tmp_path / "shapes")
    same(plain, first)
    assert len(list((tmp_path / "shapes").iterdir())) == 1
    found = []
    monkeypatch.setattr(
        "phlexible.bodies.flexible.flexible_body.condense", lambda *_: found.append(1) or pytest.fail("made anew")
    )
    same(plain, body(tmp_path / "shapes"))
    monkeypatch.undo()
    for options in ({"modes": 4}, {"strain": "linear"}, {"length": 0.31}, {"moments": False}, {"frame": "start"}):
        body(tmp_path / "shapes", **options)
    assert len(list((tmp_path / "shapes").iterdir())) == 6


def test_a_spoilt_file_is_made_anew(tmp_path):
    first = body(tmp_path)
    (file,) = tmp_path.iterdir()
    for spoilt in (b"", b"no zip", file.read_bytes()[:2000]):
        file.write_bytes(spoilt)
        same(first, body(tmp_path))
    assert list(tmp_path.iterdir()) == [file]


def test_plates_are_kept_too(tmp_path):
    def plate():
        mesh = grid(0.3, 0.2, cells=(2, 2))
        return ph.FlexibleBody.from_mesh(mesh, STEEL, modes=3, thickness=0.01, theory="mindlin", cache=tmp_path)

    same(plate(), plate())
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ph.ParameterError, match="cache"):
        body(tmp_path / "file")
