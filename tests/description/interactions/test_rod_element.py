"""Strains of rods: closed forms, invariance, energy of any stiffness matrix."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.state.forces import element_state
from phlexible.state.initial_velocity import undeformed
from phlexible.state.system import system_of

EULER = ph.GeneralSection(np.diag([9.0, 4.0, 5.0, 2.0, 3.0, 1.0]), np.diag([1.0, 1, 1, 2, 1, 1]))


def coupled_section(rng):
    factors = rng.normal(size=(6, 6))
    return ph.GeneralSection(factors @ factors.T + np.eye(6), np.diag([1.0, 1, 1, 2, 1, 1]))


def strains(system, state):
    return system.rod_strains.values(system.at(state))[0]


def moved(state, rng, size):
    turns = Rotation.from_rotvec(size * rng.normal(size=(len(state.rotation), 3))).as_matrix()
    away = size * rng.normal(size=state.position.shape)
    return type(state)(**{**vars(state), "position": state.position + away, "rotation": state.rotation @ turns})


@pytest.mark.parametrize("order", [1, 2])
def test_an_arc_has_its_curvature_and_no_shear(order):
    """Gamma = sin(t) / t and K = sin(2 t) / 2 t with half the turn t of an element of order 1."""
    model = ph.Model()
    rod = ph.Rod(1.0, EULER, elements=4, order=order)
    model.add(rod, "rod", shape=lambda s: (np.sin(s), 0.0, np.cos(s) - 1))  # turns about y
    found = strains(system_of(model), undeformed(system_of(model))).reshape(-1, 6)
    half = 1 / 8
    if order == 1:
        expected = [np.sin(half) / half * np.cos(half), 0, 0, 0, np.sin(2 * half) / (2 * half), 0]
        assert found == pytest.approx(np.tile(expected, (4, 1)), abs=1e-9)
    else:
        assert found == pytest.approx(np.tile([1.0, 0, 0, 0, 1.0, 0], (8, 1)), abs=1e-3)


@pytest.mark.parametrize("order", [1, 2])
def test_the_energy_is_that_of_the_matrix_and_no_rigid_motion_changes_it(order):
    rng = np.random.default_rng(order)
    model = ph.Model()
    rod = ph.Rod(1.3, coupled_section(rng), elements=3, order=order)
    model.add(rod, "rod", shape=lambda s: (1.3 * np.sin(s / 1.3), 1.3 - 1.3 * np.cos(s / 1.3), 0.0))
    system = system_of(model)
    start = undeformed(system)
    state = moved(start, rng, 0.1)
    away = (strains(system, state) - strains(system, start)).reshape(-1, 6)
    measures = np.concatenate([shape.measures for shape in rod.element_shapes()])
    expected = 0.5 * np.einsum("g,gi,ij,gj->", measures, away, rod.section.stiffness_matrix, away)
    theta = element_state(system, system.at(state), state).theta
    energy = sum(force.energy(float(each)) for (_, force), each in zip(system.forces, theta, strict=True))
    assert energy == pytest.approx(expected, rel=1e-12)
    turn = Rotation.from_rotvec([0.3, -1.2, 2.0]).as_matrix()
    there = {"position": (state.position + (5.0, -3.0, 1.0)) @ turn.T, "rotation": turn @ state.rotation}
    assert strains(system, type(state)(**{**vars(state), **there})) == pytest.approx(
        strains(system, state), abs=1e-13
    )


def test_a_rod_that_is_straight_without_stress_is_bent_along_a_curve():
    model = ph.Model(dimension=2)
    rod = ph.Rod(1.0, EULER, elements=20, stress_free="straight")
    model.add(rod, "rod", shape=lambda s: (np.sin(s), 1 - np.cos(s), 0.0))
    motion = model.simulate(1e-3, 1e-3, progress=False)
    assert motion.energy.strain[0] == pytest.approx(0.5, rel=1e-3)  # EI / 2 R^2
    forces = motion.section_forces(motion["rod"])
    assert forces.moment_z[0] == pytest.approx(np.ones(20), rel=1e-3)
    assert np.abs(forces.moment_y).max() == np.abs(forces.torsion).max() == 0
