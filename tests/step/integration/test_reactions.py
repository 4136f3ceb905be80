"""Reactions are of second order at every instant: at both ends of a run, and where steps change their length."""

import pickle
from functools import cache

import numpy as np
import pytest

import phlexible as ph
from phlexible.state.initial_state import function_contents
from phlexible.state.system import system_of
from phlexible.step.integration.stepper import Stepper
from phlexible.step.integration.stored_rows import Advance

INSTANTS = 10  # at which runs are compared, and both ends


def pendulum(breakpoints=()):
    model = ph.Model((0, -9.81, 0))
    rod = ph.RigidBody(1.0, (0.01, 0.08, 0.08), center=(0.5, 0, 0))
    upper = model.add(rod, "upper", angular_velocity=(0.3, 1.0, 4.0))
    lower = model.add(rod, "lower", (1, 0, 0), angular_velocity=(0.3, -2.0, 1.0))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), upper.origin))
    elbow = model.connect(ph.Spherical(upper.point((1, 0, 0)), lower.origin))
    model.apply(ph.SpringDamper(model.ground.at((1, 1, 0)), lower.origin, 20.0, damping=2.0))
    model.apply(ph.Force(lower.origin, lambda t: (0, 0, 3 * np.sin(4 * t)), breakpoints=breakpoints))
    return model, elbow


def crank_slider(breakpoints=()):
    """Driven through its angle, with an elastic coupler of resolved vibrations, damped by its material."""
    model = ph.Model((0, -9.81, 0), 2)
    crank = model.add(ph.RigidBody(1.0, 0.01, center=(0.05, 0, 0)), "crank")
    soft = ph.Material(youngs_modulus=2e7, density=1000.0, viscosity=1e-3)
    coupler = model.add(ph.Beam(0.3, ph.CircularSection(0.02), soft, elements=2), "coupler", position=(0.1, 0, 0))
    slider = model.add(ph.PointMass(0.1), "slider", position=(0.4, 0, 0))
    shaft = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), crank.origin))
    model.apply(shaft.drive(angle=lambda t: 6 * t + 5 * t**3))
    pin = model.connect(ph.Revolute(crank.point((0.1, 0, 0)), coupler.start))
    model.connect(ph.Revolute(coupler.end, slider.origin))
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), slider.origin, axis=(1, 0, 0)))
    model.apply(ph.Force(slider.origin, (0, 0, 0), breakpoints=breakpoints))
    return model, pin


CASES = {"pendulum": (pendulum, 1.0, 0.01), "crank-slider": (crank_slider, 0.2, 1e-3)}


def forces_of(model, joint, duration, step):
    """Reactions of a joint, and forces of all elements and drives, at the instants; and |G nu + g_t| at all."""
    motion = model.simulate(duration, step, initial="quasi_static" if model.drives else "undeformed")
    rows = [int(np.argmin(np.abs(motion.time - t))) for t in np.linspace(0, duration, INSTANTS + 1)]
    forces = [motion.reaction(joint)]
    forces += [motion.element_force(part)[:, None] for part in (*model.elements, *model.drives)]
    functions, record = motion.run.system.rows, motion.recording
    gap = np.abs(functions.rates(record.instants(), record.velocity)).max()
    return np.concatenate(forces, axis=1)[rows], gap, motion


@cache
def reference(case):
    """With steps of a sixteenth of the smallest."""
    make, duration, step = CASES[case]
    return forces_of(*make(), duration, step / 64)[0]


def irregular(duration, step):
    """Numbers of the steps after and before every second of the instants."""
    instants = np.round(np.linspace(0, duration, INSTANTS + 1) / step).astype(int)
    return np.concatenate([instants[:-1:2], instants[1::2] - 1])


def cut(duration, step):
    """A third of the way into some steps."""
    return tuple((irregular(duration, step) + 1 / 3) * step)


def halving(monkeypatch, duration, step):
    """Some steps do not converge at full length."""
    original, bad = Stepper.advance, irregular(duration, step)

    def advance(self, instants, size, storage):
        is_bad = np.isin(np.round(instants[:-1] / step).astype(int), bad) & (abs(size - step) < 1e-9 * step)
        if not is_bad.any():
            return (yield from original(self, instants, size, storage))
        if not (done := int(np.argmax(is_bad))):
            return Advance(0, False, {"position": np.zeros((0, 0, 3))}, np.zeros(0), 0.0)
        return (yield from original(self, instants[: done + 1], size, storage))

    monkeypatch.setattr(Stepper, "advance", advance)


@pytest.mark.parametrize("kind", ["equal", "cut", "halved"])
@pytest.mark.parametrize("case", CASES)
def test_reactions_converge_at_all_instants(case, kind, monkeypatch):
    make, duration, longest = CASES[case]
    errors, gaps = [], []
    expected = reference(case)
    for step in (longest, longest / 2, longest / 4):
        with monkeypatch.context() as patch:
            if kind == "halved":
                halving(patch, duration, step)
            model, joint = make(cut(duration, step) if kind == "cut" else ())
            found, gap, motion = forces_of(model, joint, duration, step)
        assert bool(motion.halvings[-1]) == (kind == "halved")
        energy = motion.energy
        assert np.abs(energy.balance_error).max() <= 1e-12 * energy.kinetic.max()
        errors.append(np.abs(found - expected).max(axis=1))
        gaps.append(gap)
    ends, inside = np.array(errors)[:, [0, -1]].max(axis=1), np.array(errors)[:, 1:-1].max(axis=1)
    ends = np.maximum(ends, 1e-9 * np.abs(expected).max())  # the first one is exact
    for values in (ends, inside, np.array(gaps)):
        assert np.log2(values[1] / values[2]) == pytest.approx(2, abs=0.3), (ends, inside, gaps)
    assert np.abs(np.array(errors)[:, 0]).max() <= 1e-6 * np.abs(expected).max()


def test_reactions_at_both_ends_are_those_of_the_run_whenever_they_are_asked_for(tmp_path):
    """Users may change what their functions read once a run has ended; files hold the reactions at once."""
    speed = [2.0]
    model = ph.Model((0.0, -9.81, 0.0), 2)
    rod = model.add(ph.RigidBody(1.0, 0.1 * np.eye(3)), "rod", position=(0.5, 0.0, 0.0))
    pin = model.ground.moving(lambda t: (0.1 * np.sin(speed[0] * t), 0 * t, 0 * t))
    model.connect(ph.Revolute(pin, rod.point((-0.5, 0.0, 0.0))))
    model.apply(ph.SpringDamper(pin, rod.origin, 20.0, damping=2.0))
    model.simulate(0.1, 0.01, output=tmp_path / "run.h5", progress=False)
    stored = ph.Motion.load(tmp_path / "run.h5").recording
    motion, copied = (model.simulate(0.1, 0.01, progress=False) for _ in range(2))
    copied = pickle.loads(pickle.dumps(copied))
    speed[0] = 5.0
    for record in (motion.recording, copied.recording):
        assert np.array_equal(record.multipliers, stored.multipliers)
        assert np.array_equal(record.forces, stored.forces)


@pytest.mark.filterwarnings("ignore:.* damps too strongly for the step")
@pytest.mark.parametrize("kind", ["clamped", "pendulum", "damper"])
def test_reactions_at_the_end_leave_out_what_stiff_damping_lets_alternate(kind):
    """Rates of an overdamped vibration that ends far faster than a step change their sign in each one."""
    model = ph.Model(dimension=2, gravity=(0, -9.81, 0))
    ground = model.ground.at((0, 0, 0))
    if kind == "damper":
        bob = model.add(ph.PointMass(1.0), "bob", position=(0, 1.0, 0))
        model.connect(ph.Slider(ground, bob.origin, axis=(0, 1, 0)))
        part = model.apply(ph.SpringDamper(ground, bob.origin, stiffness=1e3, damping=1e4, length=1.0))
        force = model.simulate(0.5, 1e-2).element_force(part)
    else:
        steel = ph.Material(2e11, 7800.0, viscosity=5e-3)
        beam = model.add(ph.Beam(1.0, ph.RectangularSection(0.02, 0.005), steel, elements=4), "beam")
        joint = model.connect((ph.Fixed if kind == "clamped" else ph.Revolute)(ground, beam.start))
        force = model.simulate(0.5, 1e-2).reaction(joint)[:, 1]
    assert force[-1] == pytest.approx(2 * force[-2] - force[-3], rel=0.01)


def turning(path):
    """Pendulum on a pin that goes around a circle."""
    model = ph.Model((0, -9.81, 0), dimension=2)
    body = model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.1), center=(0.5, 0, 0)), "body", (0.1, 0, 0))
    return model, model.connect(ph.Revolute(model.ground.moving(path), body.origin))


def test_reactions_at_both_ends_are_computed_later_where_functions_keep_their_values():
    """Those of functions that may change are computed in the run; both have the same digits."""
    radius, forces = [0.1], []
    for path in (
        lambda t: (0.1 * np.cos(5 * t), 0.1 * np.sin(5 * t), 0.0 * t),
        lambda t: (radius[0] * np.cos(5 * t), radius[0] * np.sin(5 * t), 0.0 * t),
    ):
        model, pin = turning(path)
        motion = model.simulate(0.1, 1e-2)
        radius[0] = 0.3
        forces.append(motion.reaction(pin))
        radius[0] = 0.1
    assert np.array_equal(*forces)
    assert function_contents(system_of(turning(lambda t: (0.1, 0.0, 0.0))[0])) is not None
    assert function_contents(system_of(model)) is None
