"""Files of somebody else: damaged ones, and those that point elsewhere or claim more than they have."""

import json
import os

import h5py
import numpy as np
import pytest

import phlexible as ph
from phlexible.results.files.description import describe_mechanism
from phlexible.state.recorded_run import ARRAYS
from results.samples import sample, untouched


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("files") / "run.h5"
    sample().save(path)
    return path.read_bytes()


def replace(file: h5py.File, name: str, **options) -> None:
    del file[name]
    file.create_dataset(name, **options)


def describe(file: h5py.File, change) -> None:
    tree = json.loads(file["description"][0])
    text = change if isinstance(change, str) else json.dumps(change(tree) or tree)
    replace(file, "description", data=np.array([text.encode()]))


def other_file(file: h5py.File) -> str:
    """A file of numbers beside the results, as one of the system might be."""
    path = os.path.join(os.path.dirname(file.filename), "secret")
    with open(path, "wb") as secret:
        secret.write(np.arange(21.0).tobytes())
    return path


def external(file):
    replace(file, "kinetic", shape=(21,), dtype="f8", external=[(other_file(file), 0, 168)])


def virtual(file):
    with h5py.File(other_file(file) + ".h5", "w") as other:
        other["x"] = np.arange(21.0)
    layout = h5py.VirtualLayout(shape=(21,), dtype="f8")
    layout[:] = h5py.VirtualSource(other_file(file) + ".h5", "x", shape=(21,))
    del file["kinetic"]
    file.create_virtual_dataset("kinetic", layout)


def soft_link(file):
    file.move("kinetic", "elsewhere")
    file["kinetic"] = h5py.SoftLink("/elsewhere")


def external_link(file):
    del file["kinetic"]
    file["kinetic"] = h5py.ExternalLink("other.h5", "x")


def huge(file):
    replace(file, "time", shape=(10**12,), dtype="f8", chunks=(1000,))
    replace(file, "position", shape=(10**12, 3, 3), dtype="f8", chunks=(1000, 3, 3))


def huge_beyond_counting(file):
    replace(file, "position", shape=(2**32, 2**16, 2**16), dtype="f8", chunks=(8, 8, 8))


def many_elements(tree):
    tree["bodies"][0]["body"]["fields"]["elements"] = 10**9


FOREIGN = {
    "an external dataset": (external, "takes kinetic from another file"),
    "a virtual dataset": (virtual, "takes kinetic from another file"),
    "a soft link": (soft_link, "kinetic is missing, or only a link"),
    "an external link": (external_link, "kinetic is missing, or only a link"),
    "a missing dataset": (lambda file: file.pop("eta"), "eta is missing"),
    "a group": (lambda file: (file.pop("eta"), file.create_group("eta")), "takes eta from another file"),
    "a huge dataset": (huge, "fewer bytes than time claims"),
    "a dataset beyond counting": (huge_beyond_counting, "fewer bytes than position claims"),
    "texts for numbers": (lambda file: replace(file, "time", data=np.array([b"a"])), "time holds .S1, not numbers"),
    "numbers for texts": (lambda file: replace(file, "description", data=[1.0]), "description holds float64"),
    "another shape": (lambda file: replace(file, "eta", data=np.zeros((21, 5))), r"eta has shape \(21, 5\), and"),
    "fewer instants": (lambda file: replace(file, "eta", data=file["eta"][:3]), r"eta has shape \(3, "),
    "time that stands still": (lambda file: file["time"].__setitem__(3, 0.1), "do not follow each other"),
    "another program": (lambda file: file.attrs.pop("format"), "not one of phlexible's results"),
    "another version": (lambda file: file.attrs.update(format_version=99), "has format version 99, written by"),
}

DESCRIPTIONS = {
    "another class": (lambda tree: tree["bodies"][0]["body"].update({"class": "os.system"}), "class os.system"),
    "another body": (lambda tree: tree["bodies"][0]["fingerprint"].__setitem__(5, 1.0), "discretizes 'arm' otherw"),
    "no joints": (lambda tree: {key: tree[key] for key in tree if key != "joints"}, "description in the file can"),
    "bad numbers": (lambda tree: tree["bodies"][0]["body"]["fields"].update(length=-1), "length must be positive"),
    "many elements": (many_elements, "gives 'arm' elements = 1000000000, but holds"),
    "no tree": (lambda tree: [1, 2], "description in the file cannot be read"),
    "nested without end": ("[" * 100_000 + "]" * 100_000, "not a results file, or it is damaged"),
    "no JSON": ("{", "not a results file, or it is damaged"),
}


def refused(path, content: bytes, change, message: str) -> None:
    path.write_bytes(content)
    with h5py.File(path, "r+") as file:
        change(file)
    with pytest.raises(ph.ResultFileError, match=message):
        ph.Motion.load(path)


@pytest.mark.parametrize(("change", "message"), FOREIGN.values(), ids=FOREIGN)
def test_numbers_that_no_run_has_written_are_refused(tmp_path, whole, change, message):
    refused(tmp_path / "run.h5", whole, change, message)


@pytest.mark.parametrize(("change", "message"), DESCRIPTIONS.values(), ids=DESCRIPTIONS)
def test_descriptions_that_no_run_has_written_are_refused(tmp_path, whole, change, message):
    refused(tmp_path / "run.h5", whole, lambda file: describe(file, change), message)


def test_other_and_missing_files_are_refused(tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = 1
    (tmp_path / "text.h5").write_text("time, position\n")
    (tmp_path / "empty.h5").write_bytes(b"")
    for name, message in (
        ("other.h5", "not one of phlexible's results"),
        ("text.h5", "not a results file, or it is damaged"),
        ("empty.h5", "not a results file, or it is damaged"),
        ("none.h5", "there is no file"),
        ("", "there is no file"),
    ):
        with pytest.raises(ph.ResultFileError, match=message):
            ph.Motion.load(tmp_path / name)
    for name, message in (("no folder/run.h5", "there is no folder"), ("", "it is not a file")):
        with pytest.raises(ph.ResultFileError, match=f"cannot write .*{message}"):
            sample().save(tmp_path / name)


def test_truncated_files_are_refused(tmp_path, whole):
    for size in (1, 100, 3000, len(whole) // 2, len(whole) - 1000, len(whole) - 1):
        (tmp_path / "cut.h5").write_bytes(whole[:size])
        with pytest.raises(ph.ResultFileError, match=r"cut.h5 is not a results file, or it is damaged"):
            ph.Motion.load(tmp_path / "cut.h5")


def test_a_changed_bit_is_found_or_changes_nothing(tmp_path):
    path, draw, refused = tmp_path / "run.h5", np.random.default_rng(2), 0
    untouched().save(path)
    content, whole = path.read_bytes(), ph.Motion.load(path)
    for place in draw.integers(0, len(content), 150):
        changed = bytearray(content)
        changed[place] ^= 1 << int(draw.integers(8))
        path.write_bytes(bytes(changed))
        try:
            found = ph.Motion.load(path)
        except ph.ResultFileError:
            refused += 1
            continue
        assert found.is_complete and describe_mechanism(found.mechanism) == describe_mechanism(whole.mechanism)
        assert all(np.array_equal(getattr(found.recording, k), getattr(whole.recording, k)) for k in ARRAYS)
    assert refused > 20
