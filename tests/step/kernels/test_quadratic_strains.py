"""Quadratic strains in the kernels: forces, tangents, and many squares as the matrix of their sum."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import phlexible as ph
from bodies.flexible.meshes import bar
from mechanisms import grounded
from phlexible.bodies.mechanics import floating
from phlexible.bodies.mechanics.absolute import (
    elastic_force,
    elastic_tangent,
    mass_matrix,
    strain_energy,
    viscous_matrix,
)
from phlexible.bodies.mechanics.floating import without_round_off
from phlexible.state.initial_state import initial_state
from phlexible.state.system import system_of
from phlexible.step.assembly.assembly import assemble
from phlexible.step.assembly.bodies import PATCH, TypeTables
from phlexible.step.tables.memory import packed
from step.kernels.newton import Newton, largest_slope_error

LAWS = {
    "logarithmic": ph.LogarithmicLaw(20.0),
    "linear": ph.LinearLaw(20.0),
    "St. Venant-Kirchhoff": ph.StVenantKirchhoffLaw(20.0),
    "user": ph.Law(lambda C: 5 * (C - np.log(C) - 1), lambda C: 5 * (1 - 1 / C)),
}


def string(law="logarithmic", order=1, elements=3, viscosity=0.02):
    return ph.String(0.9, 0.6, elements, LAWS[law], order=order, viscosity=viscosity)


def curve(dimension):
    return lambda s: (1.1 * s, 0.2 * np.sin(3 * s), 0.3 * s**2 * (dimension == 3))


def check(model, h=0.05, damping=0.1):
    """The matrix at velocities far from the start."""
    rng = np.random.default_rng(7)
    state = initial_state(system_of(model))
    start = 0.5 * rng.normal(size=len(state.velocity))
    newton = Newton(model, dataclasses.replace(state, velocity=start), h, damping)
    unknowns = np.concatenate([start + 0.5 * rng.normal(size=len(start)), 10 * rng.normal(size=newton.rows)])
    assert largest_slope_error(newton, unknowns) <= 1e-12


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", [ph.Spherical, ph.Distance, ph.Slider])
@pytest.mark.parametrize("dimension", [2, 3])
def test_tangent_of_a_viscous_string_on_a_joint(dimension, kind, order):
    model = ph.Model(gravity=(1.0, -9.0, 0), dimension=dimension)
    placed = model.add(string(order=order, elements=2), shape=curve(dimension))
    port = model.ground.at(placed.at(0.45).initial_position() - (0.0 if kind is ph.Spherical else 0.3, 0, 0))
    model.connect(kind(port, placed.at(0.45), **({"axis": (1.0, 0, 0)} if kind is ph.Slider else {})))
    model.apply(ph.Force(placed.end, (1.0, 2.0, 0.0)))
    check(model)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("order", [1, 2])
def test_a_short_step_feels_the_forces_of_the_written_out_body(law, order):
    """At equal velocities residual / h tends to dV/dq + C dq/dt - weight, its slope is M + ..."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    placed = model.add(string(law, order), shape=curve(2))
    h = 1e-6
    system = system_of(model)
    state = initial_state(system)
    rates = np.random.default_rng(3).normal(size=len(state.velocity))
    newton = Newton(model, dataclasses.replace(state, velocity=rates), h)
    data, q0 = placed.data, system.elastic(state, 0)
    q = q0 + h / 2 * rates
    weight = np.outer(data.nodal_mass.sum(axis=1), (0, -9.81)).ravel()
    force = elastic_force(data, q) + viscous_matrix(data, q) @ rates - weight
    assert newton.residual(rates) / h == pytest.approx(force, rel=1e-7, abs=1e-7 * np.abs(force).max())
    newton.h = h = 1e-3
    newton.begin(state)
    found = (newton.matrix(0 * rates) - mass_matrix(data).toarray()) * 2 / h
    expected = h / 2 * elastic_tangent(data, q0).toarray() + viscous_matrix(data, q0).toarray()
    assert found == pytest.approx(expected, abs=1e-8 * np.abs(expected).max())


def test_work_of_an_elimination_grows_with_the_elements():
    """Also with a mass on every second node: as many numbers for each element of a longer string."""

    def numbers(elements, beads):
        model, placed, _ = grounded(string(elements=elements), ph.Spherical)
        for s in placed.body.mesh.nodes[2::2] if beads else []:
            bead = model.add(ph.PointMass(0.1), position=(s, 0, 0))
            model.connect(ph.Spherical(placed.at(s), bead.origin))
        return assemble(system_of(model)).memory.counts["block_entries"]

    for beads in (False, True):
        few, many, most = (numbers(elements, beads) for elements in (20, 60, 100))
        assert most - many == many - few
        assert most < (200 if beads else 46) * 101


class Woven(ph.String):
    """A string whose strains are products of two different vectors, as those of a rod with directors.

    C = (q_2 - q_0) . (q_2 - 0.2 q_1 - 0.8 q_0) / l^2 and the like: no square, so that the rows differ.
    """

    def discretize(self, dimension):
        data = super().discretize(dimension)
        (group,) = data.strains
        nodes = np.array([[k, k + 1, k + 2] for k in range(data.node_count - 2)])
        first, second = np.array([-1.0, 0.0, 1.0]), np.array([-0.8, -0.2, 1.0])
        count, length = len(nodes), 2 * self.mesh.element_length
        own = dataclasses.replace(
            group,
            nodes=nodes,
            first=np.tile(first / length, (count, 1)),
            second=np.tile(second / length, (count, 1)),
            weights=np.full(count, length / 2),
            elements=np.arange(count),
        )
        return dataclasses.replace(data, strains=(own, group))


@pytest.mark.filterwarnings("ignore::phlexible.SlackStringWarning")
@pytest.mark.parametrize("dimension", [2, 3])
def test_strains_that_are_no_squares_have_exact_tangents_and_keep_all_invariants(dimension):
    body = Woven(0.9, 0.6, 5, ph.StVenantKirchhoffLaw(20.0), viscosity=0.0)
    model = ph.Model(dimension=dimension)
    placed = model.add(body, shape=curve(dimension), velocity=lambda s: (s, np.sin(5 * s), 0))
    check(model)
    motion = model.simulate(2.0, 0.01, progress=False)
    assert np.ptp(motion.energy.total) <= 1e-12 * motion.energy.total[0]
    spin = motion.momentum.angular
    assert np.abs(spin - spin[0]).max() <= 1e-12 * np.abs(spin).max()
    data, q = placed.data, motion.run.elastic(0)[-1]
    assert motion.energy.strain[-1] == pytest.approx(strain_energy(data, q))
    slope = approx_fprime(q, lambda x: strain_energy(data, x), 1e-7)
    assert elastic_force(data, q) == pytest.approx(slope, abs=1e-5 * np.abs(slope).max())
    bend = approx_fprime(q, lambda x: elastic_force(data, x), 1e-7)
    assert elastic_tangent(data, q).toarray() == pytest.approx(bend, abs=1e-5 * np.abs(bend).max())


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
    exact = np.array([floating.strain_energy(BODY.data, each) for each in eta])
    assert motion.energy.strain == pytest.approx(exact, rel=1e-10, abs=1e-12 * exact.max())
    linear = ((eta * BODY.frequencies) ** 2).sum(axis=1) / 2
    assert np.abs(linear - exact).max() > 1e-6 * exact.max()  # squares matter here
    assert np.abs(motion.energy.balance_error).max() < 1e-12 * motion.energy.kinetic.max()
