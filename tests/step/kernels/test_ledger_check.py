"""A step is accepted only where its energies change by its work: true at a solution, false beside it."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.state.initial_state import initial_state
from phlexible.state.system import system_of
from step.kernels.newton import Newton


def driven_beam(place, viscosity=1e-3):
    """Every entry of the ledger: gravity, a force, a moving frame, strain, dissipation."""
    steel = ph.Material(youngs_modulus=2e11, density=7870.0, poissons_ratio=0.3, viscosity=viscosity)
    beam = ph.Beam(length=0.5, section=ph.CircularSection(diameter=0.01), material=steel, elements=2)
    place = np.array(place)
    model = ph.Model(gravity=(0, -9.81, 0))
    body = model.add(beam, "beam", place)
    model.connect(ph.Spherical(model.ground.moving(lambda t: place + (0.1 * np.sin(20 * t), 0.0, 0.0)), body.start))
    model.connect(ph.Distance(model.ground.at(place + (0.5, 0.4, 0.1)), body.end))
    model.apply(ph.Force(body.end, (1.0, 20.0, 3.0)))
    return model


@pytest.mark.parametrize("place", [(0, 0, 0), (1e4, 0, -1e4)], ids=["here", "far"])
@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_the_ledger_closes_at_solutions_only(place, damping):
    model, h = driven_beam(place), 1e-3
    live = model.start(h, numerical_damping=damping)
    live.step()
    motion = live.motion  # with the multipliers of the step itself
    system = system_of(model)
    newton = Newton(model, initial_state(system), h, damping)
    solution = np.concatenate([motion.recording.velocity[-1], motion.recording.multipliers[-1]])
    assert newton.energies_balance(solution)
    rates = system.layout.velocity[0] + 6
    for place_of_error, size in ((0, 1e-2), (rates, 1e-2), (newton.velocities, 30.0)):
        wrong = solution.copy()
        wrong[place_of_error] += size
        assert not newton.energies_balance(wrong)


@pytest.mark.parametrize("step", [1e-3, 1e-2])
def test_a_rod_that_nothing_moves_stays_at_rest(step, recwarn):
    """Stresses of round-off move it by 1e-14 of its length: energies of 1e-25 J need not add up."""
    steel = ph.Material(youngs_modulus=2e11, density=7870.0)
    model = ph.Model(dimension=2)
    rod = model.add(ph.Rod(0.8, ph.RectangularSection(0.01, 0.02), steel, elements=4), "rod")
    model.at(5 * step, release=model.connect(ph.Revolute(model.ground.at((0, 0, 0)), rod.start)))
    motion = model.simulate(10 * step, step, progress=False)
    assert motion.halvings[-1] == 0
    assert np.ptp(motion.position(rod.end), axis=0).max() < 1e-12
    assert not any("energies miss" in str(each.message) for each in recwarn)


@pytest.mark.parametrize("strain", ["linear", "von_karman"])
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("joint", [ph.Fixed, ph.Revolute])
def test_a_beam_that_hangs_from_the_origin_stays_at_rest(joint, dimension, strain):
    """Its energies are 1e-7 J and less, and its joint closes to the round-off of parts of 0.4 m, for 12 N."""
    steel = ph.Material(youngs_modulus=2e11, density=7870.0)
    for along in (9.81, -9.81):
        for step in (1e-5, 1e-3):
            model = ph.Model(gravity=(along, 0.0, 0.0), dimension=dimension)
            section = ph.RectangularSection(width=0.01, height=0.02)
            beam = model.add(ph.Beam(0.8, section, steel, elements=4, strain=strain), "beam")
            model.connect(joint(model.ground.at((0, 0, 0)), beam.start))
            motion = model.simulate(5 * step, step, initial="quasi_static", progress=False)
            assert motion.halvings[-1] == 0
            assert np.ptp(motion.position(beam.end), axis=0).max() < 1e-12


@pytest.mark.filterwarnings("ignore")  # of such steps
@pytest.mark.parametrize("end", [(-0.66, -0.44, 0.19), (-0.69, -0.44, 0.2), (-0.61, -0.44, 0.16)])
def test_moving_frames_work_with_the_forces_of_the_step_where_joints_nearly_depend_on_each_other(end):
    """Steps far too long, of a beam that two frames stretch and turn round: each passes a singular position."""
    material = ph.Material(youngs_modulus=5.6e8, density=1000.0)
    model = ph.Model()
    beam = ph.Beam(0.4, ph.CircularSection(0.1), material, elements=2, strain="linear", frame="simply_supported")
    body = model.add(beam, "beam")
    both = np.array([0.14, -0.04, -0.12])
    first = model.ground.moving(lambda t: both * (1 - np.cos(0.84 * t)))
    last = model.ground.moving(
        lambda t: (0.4, 0, 0) + np.array(end) * (1 - np.cos(1.2 * t)) + both * (1 - np.cos(0.84 * t))
    )
    model.connect(ph.Revolute(first, body.start))
    model.connect(ph.Spherical(last, body.end))
    assert model.simulate(12 * 0.76, 0.76, progress=False).check().balance_error < 1e-10
