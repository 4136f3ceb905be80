"""Rods in models: one handle for many sections, invariants, files, copies."""

import re

import numpy as np
import pytest

import phlexible as ph
from mechanisms import grounded

RUBBER = ph.Material(5e6, 1100.0, 0.4)
SECTION = ph.RectangularSection(0.02, 0.03)


def hanging(rod=None, **options):
    """A rod on a hinge, under gravity, with a weight in its middle."""
    model = ph.Model(gravity=(0, -9.81, 0), **options)
    placed = model.add(rod or ph.Rod(1.0, SECTION, RUBBER, elements=14), "rod")
    bob = model.add(ph.RigidBody(0.2, (1e-4, 1e-4, 1e-4)), "bob", position=(0.55, 0, 0))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), placed.start))
    model.connect(ph.Fixed(placed.at(0.55), bob.origin))
    model.apply(ph.DistributedForce(placed, (0.0, 2.0, 0.0), "body"))
    return model, placed


def test_the_pieces_of_a_rod_are_one_body_to_joints_loads_and_sensors():
    model, rod = hanging()
    motion = model.simulate(0.3, 1e-3, progress=False)
    assert motion["rod"] is rod
    assert model["rod"].length == 1.0
    places = np.array([motion.position(rod.at(s))[-1] for s in (0.0, 0.31, 0.55, 0.8, 1.0)])
    assert np.linalg.norm(np.diff(places, axis=0), axis=1).sum() == pytest.approx(1.0, abs=5e-3)
    assert motion.position(rod.at(0.55)) == pytest.approx(motion.position(model["bob"].origin), abs=1e-12)
    assert not motion.energy.spring.any()
    with pytest.raises(ph.AttachmentError, match="s must lie in 0 <= s <= 1"):
        rod.at(1.2)


def test_section_forces_hold_the_energy_and_balance_the_support():
    """sum l (N^2 / EA + Q^2 / GA + M^2 / EI) / 2; the moment at a clamp is the reaction there."""
    part = ph.Rod(1.0, SECTION, ph.Material(5e7, 1100.0, 0.4), elements=32)
    model, rod, clamp = grounded(part, gravity=(0, -9.81, 0), dimension=2, name="rod")
    motion = model.simulate(0.4, 1e-3, progress=False)
    forces = motion.section_forces(rod)
    stiffness = rod.body.stiffness_at(np.zeros(1))[0]
    parts = ((forces.normal, 0), (forces.shear_y, 1), (forces.moment_z, 5))
    energy = sum(force**2 / stiffness[k, k] for force, k in parts).sum(axis=1) / 64
    assert energy == pytest.approx(motion.energy.strain, rel=1e-10)
    moment = motion.section_forces(rod, [0.0]).moment_z[:, 0]
    reaction = motion.reaction_moment(clamp)[:, 2]  # on the rod, whose face there is the negative one
    assert moment[5:-5] == pytest.approx(-reaction[5:-5], abs=0.02 * np.abs(reaction).max())
    stress = motion.stress(rod, [0.0]).greatest[:, 0]
    normal = motion.section_forces(rod, [0.0]).normal[:, 0] / SECTION.area
    assert stress == pytest.approx(np.abs(moment) * 0.01 / SECTION.second_moment_z + normal, rel=1e-9)


def test_viscosity_takes_what_the_ledger_says():
    model, _ = hanging(ph.Rod(1.0, SECTION, ph.Material(5e6, 1100.0, 0.4, viscosity=0.05), elements=6, order=2))
    motion = model.simulate(0.3, 1e-3, progress=False)
    assert motion.energy.dissipated[-1] > 0.01 * motion.energy.kinetic.max()
    assert np.abs(motion.energy.balance_error).max() < 1e-12 * motion.energy.kinetic.max()
    pole = model.linearize(at="unloaded").modes(3).eigenvalues[-1]  # Kelvin-Voigt: ratio tau omega / 2
    assert -pole.real == pytest.approx(0.05 * abs(pole) ** 2 / 2, rel=1e-6)


def test_sections_start_with_the_velocities_of_one_body():
    """The rod on a turning frame; and a field of velocities, which turns the sections with the axis."""
    model = ph.Model(dimension=2)
    rod = model.add(ph.Rod(1.0, SECTION, RUBBER, elements=4), "rod")
    model.connect(ph.Fixed(model.ground.moving(lambda t: (0, 0, 0), rotation=lambda t: 2.0 * t), rod.start))
    motion = model.simulate(1e-3, 1e-3, progress=False)
    assert motion.velocity(rod.end)[0] == pytest.approx((0, 2.0, 0), abs=1e-9)
    model = ph.Model()
    rod = model.add(ph.Rod(1.0, SECTION, RUBBER, elements=4), "rod", velocity=lambda s: (0, 0, s**2))
    motion = model.simulate(1e-3, 1e-3, progress=False)
    assert motion.velocity(rod.at(0.5))[0] == pytest.approx((0, 0, 0.25), abs=1e-12)
    assert motion.angular_velocity(rod.at(0.5))[0] == pytest.approx((0, -1.0, 0), abs=1e-12)


@pytest.mark.parametrize(
    ("force", "told"),
    [
        ((0.0, 3.0, 0.0), "\\(an error below 1 %\\), order=2, or check its material and loads"),
        ((20.0, 0.1, 0.0), "or a String: it is pulled by"),
    ],
)
def test_rods_that_bend_too_much_between_sections_are_told(force, told):
    """Bent, or pulled so that sections far apart turn to and fro."""
    model, rod, _ = grounded(ph.Rod(1.0, SECTION, RUBBER, elements=4), dimension=2, name="rod")
    model.apply(ph.Force(rod.end, force))
    words = rf"neighbouring sections turn by up to .* take elements=\d+ or more {told}"
    with pytest.warns(ph.LargeDeflectionWarning, match=words):
        model.simulate(0.5, 1e-3, progress=False)


@pytest.mark.parametrize("is_curved", [False, True])
@pytest.mark.parametrize(("order", "elements"), [(1, 10), (2, 3)])
def test_the_warning_says_how_much_too_far_a_moment_bends_a_rod(order, elements, is_curved):
    """The closed form is the angle M L / EI, which the number of elements of the warning meets to 1 %."""

    def excess(count):
        turn, model = 3.3, ph.Model(dimension=2)
        body = ph.Rod(1.0, SECTION, RUBBER, elements=count, order=order)
        arc = (lambda s: (np.sin(turn * s) / turn, (1 - np.cos(turn * s)) / turn, 0)) if is_curved else None
        rod = model.add(body, "rod", shape=arc)
        model.connect(ph.Fixed(model.ground.at((0, 0, 0)), rod.start))
        angle = 0.01 if is_curved else turn
        model.apply(ph.Torque(rod.end, (0, 0, angle * body.stiffness_at(np.zeros(1))[0, 5, 5])))
        rotation = model.equilibrium().rotation(rod.end)
        return (np.arctan2(*rotation[1::-1, 0]) - turn * is_curved) % (2 * np.pi) / angle - 1

    with pytest.warns(ph.LargeDeflectionWarning) as given:
        far = excess(elements)
    percent, count = re.search(
        r"bends it about (\S+) % too far: take elements=(\d+)", str(given[0].message)
    ).groups()
    assert 100 * far == pytest.approx(float(percent), rel=0.15)
    assert 0.005 < excess(int(count)) < 0.0105


def test_modes_about_a_loaded_shape():
    """A tie rod between pins: Bernoulli's with the normal force."""
    steel, section, pull = ph.Material(2e11, 7800.0), ph.RectangularSection(0.002, 0.01), 500.0
    body = ph.Rod(1.0, section, steel, elements=16, order=2)
    model, rod, _ = grounded(body, ph.Revolute, dimension=2, name="rod")
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), rod.end, axis=(1, 0, 0)))
    model.apply(ph.Force(rod.end, (pull, 0, 0)))
    assert model.equilibrium().position(rod.end)[0] == pytest.approx(1 + pull / (2e11 * section.area), rel=1e-9)
    bending, line = 2e11 * section.second_moment_z, 7800 * section.area
    exact = np.sqrt((np.pi**4 * bending + np.pi**2 * pull) / line)
    assert model.linearize(at="static").modes(1).frequencies == pytest.approx([exact], rel=2e-4)
