"""The list of tables is consistent and used; mechanisms that differ in numbers alone have the same counts."""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import phlexible
import phlexible as ph
from phlexible.state.system import system_of
from phlexible.step.assembly.assembly import _known_plan, assemble
from phlexible.step.tables.declarations import TABLES, Kind, Writer
from phlexible.step.tables.memory import PLACES, SHAPES, LaneMemory, Memory, packed

SOURCES = Path(phlexible.__file__).parent


def test_names_are_unique_and_sizes_are_counts():
    names = [table.name for table in TABLES]
    assert len(set(names)) == len(names)
    counts = {table.name for table in TABLES if table.kind is Kind.COUNT} | {"one"}
    assert {table.sized_by[1] for table in TABLES if table.kind is not Kind.COUNT} <= counts
    assert {table.owner for table in TABLES} <= counts | {""}


def test_every_table_is_read_by_a_kernel():
    text = "\n".join(file.read_text() for file in (SOURCES / "step" / "kernels").rglob("*.py"))
    used = set(re.findall(r"\b(?:t|model)\.(\w+)", text))
    used = {re.sub(r"^(\w+)_(end|count)$", r"\1_begin", name) if name not in PLACES else name for name in used}
    sizes = {table.sized_by[1] for table in TABLES if table.kind is not Kind.COUNT}
    of_events = {"event_time", "event_loss"}  # kept in the state between steps, where kernels have no part
    unused = {table.name for table in TABLES} - used - sizes - of_events - {"dimension"}
    assert unused == set()
    assert used <= {table.name for table in TABLES}


def memory() -> Memory:
    return assemble(system_of(ph.gallery.crane())).memory


def test_tables_lie_apart_and_stored_ones_side_by_side():
    made = memory()
    spans = []
    for table in TABLES:
        if table.kind is not Kind.COUNT and table.writer not in (Writer.VIEW, Writer.STATE, Writer.GUESS):
            array = made[table.name]
            assert array.shape == (table.entries(made.counts), *SHAPES[table.kind])
            spans.append((array.ctypes.data, array.ctypes.data + array.nbytes))
    spans = sorted(span for span in spans if span[0] < span[1])
    assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))
    made.state[:] = np.arange(len(made.state))
    stored, rest = (
        np.concatenate([made[table.name].ravel() for table in TABLES if table.writer is writer])
        for writer in (Writer.STATE, Writer.GUESS)
    )
    assert np.array_equal(np.concatenate([stored, rest]), made.state)
    assert len(stored) == made.counts["row_size"] < len(made.state)
    assert np.array_equal(made["reaction"], stored[-made.counts["reactions"] :])
    rows = np.stack([stored, 2 * stored])
    assert made.rows(rows)["velocity"][1] == pytest.approx(2 * made["velocity"], abs=0)


def test_a_table_of_a_wrong_size_is_refused():
    made = memory()
    given = {t.name: made[t.name] for t in TABLES if t.kind is not Kind.COUNT and t.writer is Writer.SYSTEM}
    given |= {t.name: made.counts[t.name] for t in TABLES if t.kind is Kind.COUNT and not t.name.endswith("_size")}
    Memory(given)
    with pytest.raises(AssertionError, match="mass has shape"):
        Memory({**given, "mass": made["mass"][:-1]})


def test_lengths_of_tables_give_counts_and_those_of_ragged_lists_offsets():
    """Lists of arrays become one array."""
    given = {
        "rod_nodes": [2, 0, 3],
        "rod_node": [(4, 5), (6, 7, 8)],
        "rod_share": [np.ones((3, 3, 3))] * 2,
    }
    counts, tables = packed({**given, "rod_strains": 6})
    assert counts == {"rod_points": 3, "rod_nodes": 5, "rod_strains": 6}
    assert tables["rod_nodes_begin"].tolist() == [0, 2, 2, 5]
    assert tables["rod_node"].tolist() == [4, 5, 6, 7, 8]
    assert tables["rod_share"].shape == (6, 3, 3)
    made = memory()
    assert made["functions_count"].sum() == made.counts["functions"] == made["functions_begin"][-1]


def test_lanes_read_the_numbers_of_types_that_they_share_from_whoever_is_in_them():
    def memory(diameter, mass):
        return ph.gallery.crank_slider(modes=2, diameter=diameter, slider_mass=mass).start(1e-4).stepper.memory

    first, same, other = memory(6e-3, 0.033), memory(6e-3, 0.04), memory(5e-3, 0.033)
    assert (
        first.type_digest == same.type_digest != other.type_digest
        and first.structure == same.structure == other.structure
    )
    lanes = LaneMemory(first, 4, have_types=True)
    for each in (same, other):
        lanes.set_memories([each])
        assert lanes.header.view(np.int64)[PLACES["type_value"]] == each["type_value"].ctypes.data
    assert first.with_changed_tables({"type_value": 2.0 * first["type_value"]}).type_digest != first.type_digest


STEEL = ph.Material(2e11, 7850.0)
AXES = {2: (0, 0, 1), 3: (0, 1, 0)}


def structure(section, frame, dimension, elements, length=0.6):
    model = ph.Model(dimension=dimension)
    beam = ph.Beam(length, section, STEEL, elements=elements, modes=4, frame=frame)
    arm = model.add(beam, "arm", position=(0.1, 0.2, 0))
    bob = model.add(ph.PointMass(0.2), "bob", position=(0.1 + length, 0.2, 0))
    model.connect(ph.Revolute(model.ground.at((0.1, 0.2, 0)), arm.start, axis=AXES[dimension]))
    model.connect(ph.Spherical(arm.end, bob.origin))
    return assemble(system_of(model)).memory.structure


@pytest.mark.parametrize("elements", [4, 5, 6])
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("frame", ["cantilever", "mean_axis", "simply_supported"])
def test_beams_with_modes_that_differ_in_numbers(frame, dimension, elements):
    """Modes of a symmetric beam are odd or even, so that many of its numbers are zero but for round-off."""
    kind = frame, dimension, elements
    flat = {structure(ph.RectangularSection(w, 0.004), *kind) for w in np.linspace(0.0165, 0.021, 7)}
    assert len(flat) == 1
    assert len({structure(ph.CircularSection(d), *kind, length=60 * d) for d in np.linspace(5e-3, 9e-3, 7)}) == 1


def tables(length, stiffness, loads):
    model = ph.Model(dimension=2)
    arm = model.add(ph.Beam(length, ph.CircularSection(0.01), STEEL, elements=4, modes=2), "arm")
    bob = model.add(ph.PointMass(0.2), "bob", position=(length, 0, 0))
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.start, axis=AXES[2]))
    model.connect(ph.Spherical(arm.end, bob.origin))
    model.apply(hinge.spring(stiffness))
    for _ in range(loads):
        model.apply(ph.Force(bob.origin, (0, -1.0, 0)))
    found = assemble(system_of(model)).memory.system_tables
    return {name: (own.shape, own.dtype, own.tobytes()) for name, own in found.items()}


def test_tables_after_those_of_other_mechanisms_are_those_of_the_mechanism_alone():
    """Tables that did not change since the last mechanism of a structure are taken from it."""
    kinds = [
        (0.6, 1.0, 1),
        (0.7, 1.0, 1),
        (0.7, 2.0, 1),
        (0.7, 2.0, 2),
        (0.6, 1.0, 1),
        (0.6, 1.0, 0),
        (0.6, 0.0, 0),
    ]
    together = [tables(*kind) for kind in kinds]
    for kind, found in zip(kinds, together, strict=True):
        _known_plan.cache_clear()
        assert found == tables(*kind)
    assert together[0] == together[4] and len({repr(found) for found in together}) == len(kinds) - 1
