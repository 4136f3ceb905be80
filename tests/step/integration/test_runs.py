"""Runs: instants, breakpoints, blocks of steps, jumps of loads, projections, functions that fail."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.errors import ParameterError
from phlexible.step.integration import simulation
from phlexible.step.integration.clock import clock
from phlexible.tools.study import carry_out, packed_task


def falling_mass(force=None, breakpoints=()):
    model = ph.Model(dimension=2)
    mass = model.add(ph.PointMass(2.0), "mass", velocity=(1.0, 0.0, 0.0))
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), mass.origin, axis=(1, 0, 0)))
    if force is not None:
        model.apply(ph.Force(mass.origin, force, breakpoints=breakpoints))
    return model


def pendulum():
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    rod = model.add(ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0)), "rod")
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), rod.origin))
    return model


def test_every_and_the_last_instant_are_stored():
    motion = falling_mass().simulate(1.0, 0.1, every=4)
    assert motion.time == pytest.approx([0.0, 0.4, 0.8, 1.0])
    assert motion.position(motion["mass"].origin)[:, 0] == pytest.approx([0.0, 0.4, 0.8, 1.0], abs=1e-14)


def test_a_jump_of_a_load_on_a_breakpoint_is_exact():
    """Constant force 4 N up to 0.13 s: dv = 2 * 0.13, dx exact for a constant force (order 2)."""

    def force(t):
        return (4.0 if t < 0.13 else 0.0, 0.0, 0.0)

    motion = falling_mass(force, breakpoints=[0.13]).simulate(0.5, 0.1)
    v, x = motion.recording.velocity[-1, 0], motion.position(motion["mass"].origin)[-1, 0]
    assert v == pytest.approx(1.26, abs=1e-13)
    assert x == pytest.approx(0.5 + 0.13**2 + 0.26 * 0.37, abs=1e-13)
    assert abs(falling_mass(force).simulate(0.5, 0.1).recording.velocity[-1, 0] - 1.26) > 0.01


def test_multipliers_are_the_mean_of_the_adjacent_steps():
    """Weight of the mass on a rail, with a load that jumps on the grid: 3 N, then 7 N."""
    model = falling_mass(lambda t: (0.0, -3.0 if t < 0.2 else -7.0, 0.0))
    reaction = model.simulate(0.4, 0.1).reaction(model.joints[0])[:, 1]
    assert reaction == pytest.approx([3.0, 3.0, 5.0, 7.0, 7.0], abs=1e-9)


@pytest.mark.parametrize("block", [1, 3, 1000])
def test_blocks_leave_no_trace(monkeypatch, block):
    reference = pendulum().simulate(0.5, 0.01, every=3)
    monkeypatch.setattr(simulation.Simulation, "_longest_chunk", lambda self: block)
    monkeypatch.setattr(simulation, "FIRST_CHUNK", block)
    motion = pendulum().simulate(0.5, 0.01, every=3)
    assert motion.time == pytest.approx(reference.time, abs=1e-15)
    assert motion.recording.velocity == pytest.approx(reference.recording.velocity, abs=1e-12)
    assert motion.recording.multipliers == pytest.approx(reference.recording.multipliers, abs=1e-7)


def test_a_step_around_contacts_that_is_taken_alone_is_tried_once(tmp_path):
    """A run that is resumed for its last step has the iterations of one that did not stop."""
    model, path = ph.Model(gravity=(0, -9.81, 0), dimension=2), tmp_path / "run.h5"
    ball = model.add(ph.PointMass(1.0), "ball", (0, 0.1, 0))
    model.apply(ph.Contact(ball.origin, ph.Plane(model.ground.at((0, 0, 0)), (0, 1, 0)), stiffness=1e4))
    whole = model.simulate(0.15, 0.01)
    assert whole.contact_steps[-2] == 0 < whole.contact_steps[-1]
    model.simulate(0.14, 0.01, output=path)
    assert (model.resume(path, 0.15, 0.01).iterations == whole.iterations).all()


def test_a_much_smaller_step_after_a_long_one_goes_on_smoothly(tmp_path):
    """Velocities are brought back onto the joints; without that forces of single steps swing by their size."""
    model, path = ph.gallery.double_pendulum(), tmp_path / "run.h5"
    model.simulate(0.4, 0.02, output=path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion = model.resume(path, 0.4 + 8e-5, 1e-5)
    forces = motion.multipliers[-9:, 0]
    assert len(motion.time) == 29
    assert np.ptp(forces) < 0.01 * np.abs(forces).max()
    assert 0 < motion.energy.dissipated[-1] < 1e-3 * motion.energy.kinetic[-1]
    assert np.abs(motion.energy.balance_error).max() < 1e-13


def test_projection_keeps_momenta_of_bodies_in_free_flight():
    """Where steps change their length velocities are brought back onto the joints."""
    model = ph.Model()
    rod = ph.RigidBody(1.0, (0.01, 0.08, 0.08), center=(0.5, 0, 0))
    one = model.add(rod, "one", angular_velocity=(0.3, 1.0, 4.0))
    two = model.add(rod, "two", (1, 0, 0), angular_velocity=(0.3, -2.0, 1.0))
    model.connect(ph.Spherical(one.point((1, 0, 0)), two.origin))
    model.apply(ph.Force(two.origin, (0, 0, 0), breakpoints=tuple(np.arange(0, 1.0, 0.02) + 0.01 / 3)))
    motion = model.simulate(1.0, 0.01)
    assert motion.energy.dissipated[-1] > 0
    assert np.ptp(motion.momentum.linear, axis=0) == pytest.approx(0, abs=1e-13)
    assert np.ptp(motion.momentum.angular, axis=0) == pytest.approx(0, abs=1e-13)


class Interrupting:
    def __init__(self, error, after):
        self.error, self.after = error, after

    def __call__(self, t):
        if t > self.after:
            raise self.error
        return (0.0, 0.0, 0.0)


def interrupted(p=None):
    return falling_mass(Interrupting(KeyboardInterrupt(), after=1.0))


def simulated(model):
    return model.simulate(2.0, 0.01, progress=False)


def final_position(model):
    return {"x": ph.Position(model["mass"].origin)}


def final_cost(model):
    return ph.Cost.final(ph.Position(model["mass"].origin), lambda x: x[:, 0])


def run_before(p):
    simulated(interrupted())
    return falling_mass()


PARTS = {
    "gradient": lambda: ph.gradient(interrupted, final_cost, {"m": 1.0}, duration=2.0, step=0.01),
    "run of a build function": lambda: ph.gradient(run_before, final_cost, {"m": 1.0}, duration=0.1, step=0.01),
    "identify": lambda: ph.identify(
        interrupted,
        {"m": 1.0},
        ph.Recording([0.0, 1.0, 2.0], {"x": np.zeros((3, 3))}),
        sensors=final_position,
        step=0.01,
        progress=False,
    ),
    "batch": lambda: ph.batch(lambda m: interrupted(), {"m": [1.0, 2.0]}).simulate(
        2.0, 0.01, sensors=final_position, progress=False
    ),
    "study": lambda: carry_out(packed_task(lambda m: interrupted(), simulated), {"m": 1.0}),
    "tolerance": lambda: interrupted().simulate(2.0, tolerance=1e-3, output_step=0.1, of="run", progress=False),
}


@pytest.mark.parametrize("name", PARTS)
def test_nothing_is_computed_from_a_part_of_a_run(name):
    with pytest.raises(KeyboardInterrupt):
        PARTS[name]()


def test_the_error_of_a_run_is_not_estimated_from_parts_of_runs():
    force = Interrupting(KeyboardInterrupt(), after=10.0)
    motion = simulated(falling_mass(force))
    force.after = 1.0
    with pytest.raises(KeyboardInterrupt):
        motion.run_error(ph.Position(motion["mass"].origin))


def test_a_load_that_becomes_nan_is_named_with_its_time():
    model = falling_mass(lambda t: (np.where(t > 0.5, np.nan, 1.0), 0.0, 0.0))
    with pytest.raises(ph.errors.ParameterError, match=r"force on mass.origin at t = 0\.505 s must be finite"):
        model.simulate(1.0, 0.01)


def test_axes_of_the_world_do_not_decide_what_too_long_a_step_finds():
    """Five times 1/omega, where steps have several solutions: the turned scene finds the same ones."""

    def swung(angle):
        turn, random = Rotation.from_euler("z", angle).as_matrix(), np.random.default_rng(0)
        model = ph.Model(dimension=2)
        for number in range(3):
            place, velocity = ([*random.normal(size=2), 0.0] for _ in range(2))
            model.add(ph.PointMass(1.0), f"mass {number}", turn @ place, velocity=turn @ velocity)
        for first, second in combinations(model.bodies, 2):
            model.apply(ph.SpringDamper(first.origin, second.origin, stiffness=1e3, length=1.0))
        with pytest.warns(ph.errors.StepWarning, match="too long"):
            motion = model.simulate(3.0, 0.1)
        return motion.recording.position @ turn, motion.iterations[-1]

    (here, count), (there, other) = swung(0.0), swung(0.8)
    assert abs(count - other) <= 2
    assert there == pytest.approx(here, abs=1e-10)


def sliding(**stop):
    return falling_mass().simulate(0.1, 0.01, progress=False, **stop)


def locked(when):
    model = falling_mass()
    model.at(when, lock=model.joints[0])
    return simulated(model)


def pushed(answer):
    model = falling_mass()
    mass = model["mass"].origin
    model.apply(ph.StateForce(lambda t, x, v: answer() if t > 0.5 else (0.0, 0.0, 0.0), of=[mass], on=[mass]))
    return simulated(model)


def cost_of(function=None, weight=None):
    def cost(model):
        return ph.Cost.integral(ph.Displacement(model["mass"].origin, (1, 0, 0)), function, weight)

    return ph.gradient(lambda p: falling_mass(), cost, {"m": 1.0}, duration=0.1, step=0.01)


def broken(*given):
    raise KeyError("broken")


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (
            lambda: sliding(stop=ph.When(broken, above=1.0)),
            "the condition a function > 1 raised KeyError at t = 0 s",
        ),
        (lambda: locked(ph.When(broken, below=1.0)), "the condition a function < 1 raised KeyError at t = 0 s"),
        (lambda: locked(ph.When(lambda t: np.nan, below=1.0)), "value of a function < 1 at t = 0 s must be finite"),
        (lambda: pushed(broken), r"the function of state force on mass.origin raised KeyError at t = 0\.50\d* s"),
        (
            lambda: pushed(lambda: (np.nan, 0.0, 0.0)),
            r"must return 3 finite numbers .* got \(nan.* at t = 0\.50\d* s",
        ),
        (lambda: cost_of(function=broken), "the function of a cost raised KeyError for the readings of the run"),
        (lambda: cost_of(function=lambda y: "text"), "values of a cost's function must be numbers, got 'text'"),
        (lambda: cost_of(weight=broken), "weight of a cost raised KeyError at t = 0 s"),
        (lambda: 2.0 * ph.Cost.final(ph.EnergyOf("total")) + "text", "number added to a cost must be"),
        (lambda: ph.Cost.final(ph.EnergyOf("total")) * "text", "factor of a cost must be"),
    ],
)
def test_functions_that_fail_are_named_with_their_time(run, words):
    with pytest.raises(ph.ParameterError, match=words):
        run()


def test_a_whole_number_of_steps_has_no_remainder():
    times = clock(0.0, 0.1, 2e-5, [])
    assert (times.full, times.remainder, times.count) == (5000, 0.0, 5000)
    assert times.end == pytest.approx(0.1, abs=1e-15)


def test_the_last_step_is_shorter():
    times = clock(1.0, 0.25, 0.1, [])
    assert (times.full, times.count) == (2, 3)
    assert times.end == pytest.approx(1.25, abs=1e-15)
    assert times.regular_run(0, 3) == 2
    assert times.intervals(2) == [(pytest.approx(1.2), pytest.approx(1.25))]


def test_instants_do_not_add_up_round_off():
    assert clock(0.0, 1000.0, 0.1, []).instants(9998, 2) == pytest.approx([999.8, 999.9, 1000.0], abs=1e-12)


def test_breakpoints_cut_the_step_that_they_lie_in():
    times = clock(0.0, 1.0, 0.1, [0.25, 0.22, 0.3, 5.0, -1.0])
    assert set(times.breakpoints) == {2}
    assert times.intervals(2) == pytest.approx(np.array([(0.2, 0.22), (0.22, 0.25), (0.25, 0.3)]))
    assert times.regular_run(0, 100) == 2
    assert times.regular_run(3, 100) == 7
    assert times.regular_run(3, 4) == 4


@pytest.mark.parametrize("breakpoint", [0.3, 0.30000000000001, 0.0, 1.0])
def test_breakpoints_on_the_grid_cut_nothing(breakpoint):
    assert clock(0.0, 1.0, 0.1, [breakpoint]).breakpoints == {}


def test_steps_that_are_lost_beside_the_time_are_refused():
    with pytest.raises(ParameterError, match="lost beside the time"):
        clock(1e6, 1e-9, 1e-12, [])


def measured_run(steps, every=1):
    """Recording of a pendulum that turns over, and how often its controller was asked."""
    model = ph.Model(gravity=(0.0, -9.81, 0.0))
    rod = model.add(ph.RigidBody(1.0, 0.1 * np.eye(3)), "rod", (0.5, 0.0, 0.0))
    pin = model.ground.moving(lambda t: (0.1 * np.sin(3 * t), 0 * t, 0 * t))
    joint = model.connect(ph.Revolute(pin, rod.point((-0.5, 0.0, 0.0)), axis=(0, 0, 1)))
    asked = []

    def controller(time, numbers):
        asked.append(time)
        return 6.0 - 0.1 * numbers[1]

    model.apply(joint.torque(ph.Feedback(controller, [joint, rod.origin]), name="motor"))
    return model.simulate(steps * 1e-2, 1e-2, every=every).run.recording, len(asked)


def test_blocks_of_steps_have_the_digits_and_forces_of_single_ones():
    long, _ = measured_run(40)
    for every in (1, 3):
        record, _ = measured_run(40, every)
        rows = np.searchsorted(long.time, record.time - 1e-9)
        assert np.array_equal(record.velocity, long.velocity[rows])
        assert np.array_equal(record.multipliers, long.multipliers[rows])
    short, asked = measured_run(5)
    assert np.array_equal(short.multipliers[:5], long.multipliers[:5]) and asked == 5


def test_the_start_and_the_steps_of_a_block_are_stored_in_one_array():
    model = ph.gallery.chain(2)
    recording = model.simulate(0.01, 1e-3, progress=False).run.recording
    assert len(recording.time) == 11 and recording.position.base is not None
    assert recording.position.base is recording.velocity.base
