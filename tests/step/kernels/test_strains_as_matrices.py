"""Strains of many squares stand in the kernels as the matrix of their sum."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

import phlexible as ph
from bodies.flexible.meshes import bar
from phlexible.bodies.mechanics.floating import strain_energy, without_round_off
from phlexible.state.initial_state import initial_state
from phlexible.state.system import system_of
from phlexible.step.assembly.bodies import PATCH, TypeTables
from phlexible.step.tables.memory import packed
from step.kernels.newton import Newton, largest_slope_error

BODY = bar((3, 1, 1), modes=2)


def test_which_strains_do():
    """Those of retained shapes in space; those of beams, three squares each, stay squares."""
    beam = ph.Beam(1.0, ph.RectangularSection(0.05, 0.03), ph.Material(2e9, 2000.0), elements=2).discretize(3)
    _, tables = packed(TypeTables([BODY.data, beam], [BODY.data, beam]).tables())
    own = len(BODY.data.strain.rows)
    assert tables["strain_has_matrix"][:own].mean() > 0.5
    assert not tables["strain_has_matrix"][own:].any()


@pytest.mark.parametrize("dimension", [2, 3])
def test_types_that_differ_in_numbers_alone_have_the_same_rows_and_their_own_values(dimension):
    steel = ph.Material(2e9, 2000.0)
    thin, thick = (
        without_round_off(ph.Beam(1.0, ph.CircularSection(d), steel, elements=3, modes=2).discretize(dimension))
        for d in (0.01, 0.02)
    )
    _, tables = packed(TypeTables([thin, thick], [thin, thick]).tables())
    own, count = tables["patches_begin"].tolist()[1], len(tables["type_value"]) // 2
    for name in PATCH[2:]:
        shift = count if name == "patch_number" else 0
        np.testing.assert_array_equal(tables[name][own:], tables[name][:own] + shift)
    begin = tables["stiffness_patch"][1]
    for k in range(begin, tables["damping_patch"][1]):
        row, rows, column, columns, first = (
            tables[f"patch_{n}"][k] for n in ("row", "rows", "column", "columns", "number")
        )
        block = tables["type_value"][first : first + rows * columns].reshape(columns, rows).T
        np.testing.assert_array_equal(block, thick.strain.stiffness[row : row + rows, column : column + columns])
    np.testing.assert_array_equal(tables["square_factor"], [*thin.strain.factors, *thick.strain.factors])


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("options", [{}, {"modes": 12}])
def test_squares_of_a_strain_go_together(dimension, options):
    """Those with one support have rows that follow each other; none loses a number."""
    section, steel = ph.RectangularSection(0.02, 0.01), ph.Material(2e11, 7850.0)
    beam = ph.Beam(1.0, section, steel, elements=6, **options).discretize(dimension)
    _, tables = packed(TypeTables([beam], [beam]).tables())
    rows, first, last, alike = (tables[f"square_{name}"] for name in ("row", "first", "last", "alike"))
    assert not any(tables["strain_has_matrix"])
    found = np.zeros_like(beam.strain.with_arrays().squares)
    for g, (row, begin, end, count) in enumerate(zip(rows, first, last, alike, strict=True)):
        found[g, begin:end] = tables["type_value"][row + begin : row + end]
        for k in range(1, count):
            assert (first[g + k], last[g + k], rows[g + k]) == (begin, end, row + k * (end - begin))
    assert found == pytest.approx(beam.strain.with_arrays().squares, rel=1e-12, abs=1e-12 * np.abs(found).max())
    begins = tables["squares_begin"]
    for start, end in pairwise(begins[1:-1]):  # three points about each axis of bending
        are_mixed = dimension == 3 and not options  # elements have the coordinates of both, modes are of one axis
        expected = [4, 4, 4, 3, 2, 1] if are_mixed else [3, 2, 1] * (dimension - 1)
        assert list(alike[start:end]) == expected


def test_force_and_tangent_are_those_of_the_squares():
    """Newton's matrix against differences; the energy that the ledger counts is that of the squares."""
    model = ph.Model()
    part = model.add(BODY, "bar", angular_velocity=(30.0, 20.0, 50.0))
    state = initial_state(system_of(model))
    rng = np.random.default_rng(3)
    bent = 0.05 * rng.normal(size=len(state.velocity))
    newton = Newton(model, dataclasses.replace(state, velocity=state.velocity + bent), 2e-4, 0.1)
    assert largest_slope_error(newton, state.velocity + bent + 0.1 * rng.normal(size=len(bent))) <= 1e-12
    model.apply(ph.Force(part["end"], lambda t: (0, 3e3 * np.sin(900 * t), 0)))
    motion = model.simulate(5e-3, 1e-4, progress=False)
    eta = motion.elastic_coordinates(part)
    exact = np.array([strain_energy(BODY.data, each) for each in eta])
    assert motion.energy.strain == pytest.approx(exact, rel=1e-10, abs=1e-12 * exact.max())
    linear = ((eta * BODY.frequencies) ** 2).sum(axis=1) / 2
    assert np.abs(linear - exact).max() > 1e-6 * exact.max()  # squares matter here
    assert np.abs(motion.energy.balance_error).max() < 1e-12 * motion.energy.kinetic.max()
