"""Gravity, loads and force elements: their power, their slopes, and what torques do."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import phlexible as ph
from mechanisms import arbitrary_state, moved_along, slope, tangle, with_elements
from phlexible.algebra.sparse import as_array
from phlexible.description.interactions.functions import PointOf
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.linear.mechanics import _body_matrices
from phlexible.state.forces import (
    applied_forces,
    body_axes,
    body_forces,
    elastic_force,
    element_state,
    load_stiffness,
    stiffness_matrix,
)

EPS = 1e-5


def forces_only(dimension):
    model = tangle(dimension)
    del model._loads[2:]
    return model


@pytest.mark.parametrize("dimension", [2, 3])
def test_slope_of_gravity_forces_and_moments(dimension):
    """Also where the directions that moments act on are strained, in world and body axes."""
    system, state = arbitrary_state(tangle(dimension))
    expected = slope(lambda s: applied_forces(system, s), system, state, 5e-7)
    assert load_stiffness(system, state).toarray() == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("dimension", [2, 3])
def test_slopes_of_force_elements(dimension):
    """To the pose at rest, where dampers do nothing, and to the velocities."""
    system, state = arbitrary_state(with_elements(dimension))
    rest = replace(state, velocity=0 * state.velocity)
    expected = slope(lambda s: applied_forces(system, s), system, rest)
    assert np.abs(expected).max() > 1
    assert load_stiffness(system, rest).toarray() == pytest.approx(expected, abs=1e-7)
    units = np.eye(len(state.velocity))
    held = applied_forces(system, rest)
    braked = np.array([held - applied_forces(system, replace(rest, velocity=unit)) for unit in units]).T
    dampers = element_state(system, system.at(state), state).damper_rows
    assert (dampers.T @ dampers).toarray() == pytest.approx(braked, abs=1e-13)
    assert np.abs(braked).max() > 0.1


@pytest.mark.parametrize("dimension", [2, 3])
def test_loads_do_the_work_of_force_times_way(dimension):
    """Gravity and forces, world and follower: power = f . dx/dt."""
    model = forces_only(dimension)
    system, state = arbitrary_state(model)
    masses = np.array([placed.data.mass for placed in model.bodies])
    ends = system.vectors([PointOf(load.attachment) for load in model.loads])
    triad = system.vectors(body_axes(model.loads[1].attachment)).values(system.at(state))[0]
    forces = np.array([(1, 2, 0), triad[0] + 2 * triad[1]])
    before, after = (moved_along(system, state, t) for t in (-EPS, EPS))
    ways = ends.values(system.at(after))[0] - ends.values(system.at(before))[0]
    work = (forces * ways).sum() + masses @ (after.position - before.position) @ model.gravity
    assert applied_forces(system, state) @ state.velocity == pytest.approx(work / (2 * EPS), abs=1e-6)


def test_a_torque_on_a_rigid_material_turns_it_and_nothing_else():
    model = Mechanism()
    body = model.add(ph.RigidBody(1.0, (1, 2, 2.5)))
    model.apply(ph.Torque(body.origin, (1, 2, 3)))
    model.apply(ph.Torque(body.origin, (3, 2, 1), axes="body"))
    system, state = arbitrary_state(model)
    force = applied_forces(system, state)
    assert force[:3] == pytest.approx([0, 0, 0], abs=1e-14)
    assert force[3:] == pytest.approx(state.rotation[0].T @ [1, 2, 3] + [3, 2, 1], abs=1e-14)


@pytest.mark.filterwarnings("ignore::phlexible.SlackStringWarning")
@pytest.mark.parametrize(("together", "sizes"), [(1, [1] * 4), (200, [3, 1]), (2**18, [4])])
def test_equal_bodies_are_evaluated_together_as_they_are_one_by_one(monkeypatch, together, sizes):
    """In lots of one, a few and all, among others of few, in any order."""
    monkeypatch.setattr("phlexible.state.system.TOGETHER", together)
    model = ph.Model(dimension=2)
    beam = ph.Beam(1.0, ph.CircularSection(0.01), ph.Material(2e11, 7850.0), elements=3)
    for _ in range(4):
        model.add(beam)
        model.add(ph.RigidBody(1.0, 0.1))
    model.add(ph.String(1.0, 0.1, 3, ph.LinearLaw(1e3)))
    system, state = arbitrary_state(model)
    lots = [numbers for data, numbers in system.identical if data is system.bodies[0].data]
    assert [len(lot) for lot in lots] == sizes
    assert sorted(index for _, numbers in system.identical for index in numbers) == list(range(len(system.bodies)))
    forces = body_forces(system, state)
    for index, placed in enumerate(system.bodies):
        own = forces[system.layout.span(index)][placed.data.rigid_count :]
        alone = elastic_force(placed.data, system.elastic(state, index))
        assert own == pytest.approx(alone, rel=1e-13, abs=1e-12 * np.abs(alone).max(initial=0.0))
    data = system.bodies[0].data
    eta = np.array([system.elastic(state, index) for lot in lots for index in lot])
    for slopes, one in zip(stiffness_matrix(data, eta), eta, strict=True):
        assert slopes == pytest.approx(stiffness_matrix(data, one), rel=1e-13, abs=1e-13 * np.abs(slopes).max())
    masses, still = system.body_masses(state), replace(state, velocity=0 * state.velocity)
    small = system.evaluate_bodies(still, partial(_body_matrices, system, still))
    for index in range(len(system.bodies)):
        assert as_array(masses[index]) == pytest.approx(
            as_array(system.body_mass(state, index)), rel=1e-13, abs=1e-13
        )
        alone = _body_matrices(system, still, [index], system.elastic(still, index))
        for name, own in vars(small[index]).items():
            one = as_array(getattr(alone, name))
            assert as_array(own) == pytest.approx(one, rel=1e-12, abs=1e-13 * np.abs(one).max(initial=0.0))
