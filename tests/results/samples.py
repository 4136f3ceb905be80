"""Small recorded motions with one of everything that files hold."""

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

import phlexible as ph
from measure.synthetic import recorded, wandering
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.state.recorded_run import RecordedRun

TIMES = np.linspace(0.0, 1.0, 21)


def mechanism(length: float = 0.5, shift: float = 0.0, dimension: int = 3) -> Mechanism:
    """An arm on a moving, turning frame, a rotor at its end and a ball."""
    model = Mechanism(gravity=(0, -9.81, 0), dimension=dimension)
    arm = ph.Beam(length, ph.CircularSection(0.01), ph.Material(7e10, 2700.0, viscosity=1e-5), elements=2)
    beam = model.add(arm, "arm", velocity=(0.0, 0.1, 0.0), rotation=Rotation.from_rotvec([0, 0, 0.3]))
    rotor = model.add(ph.RigidBody(0.2, (1e-3, 1e-3, 1e-3), (0.05, 0, 0)), "rotor", (0.5, 0, 0))
    ball = model.add(ph.PointMass(0.1), "ball", (0, 0.4, 0))
    turning = Rotation.from_euler
    frame = model.ground.moving(lambda t: (shift + np.sin(t), t, 0), lambda t: turning("z", t * t))
    model.connect(ph.Revolute(frame, beam.start))
    model.connect(ph.Revolute(beam.end, rotor.origin))
    model.connect(ph.Distance(beam.at(0.1), ball.origin))
    model.connect(ph.Slider(model.ground.at((0, 0.4, 0)), ball.origin, axis=(1, 0, 0)))
    model.apply(ph.Force(beam.end, lambda t: (0, 1 + t, 0), name="push", breakpoints=(0.5,)))
    model.apply(ph.Torque(rotor.point((0.02, 0.01, 0)), (0, 0, 1.0), axes="body"))
    return model


def run_of(model: Mechanism) -> RecordedRun:
    poses = [wandering(k, part.data.elastic_count, model.dimension, 1e-3) for k, part in enumerate(model.bodies)]
    return recorded(model, poses, TIMES)


def sample(dimension: int = 3) -> ph.Motion:
    return motion_of(run_of(mechanism(dimension=dimension)))


def motion_of(run: RecordedRun) -> ph.Motion:
    return ph.Motion(run.system, run.recording)


def balanced(motion: ph.Motion) -> ph.Motion:
    time = motion.time
    quiet = 0 * time
    ledger = dict(kinetic=1 + np.cos(9 * time), strain=1 - np.cos(9 * time), gravity=quiet)
    ledger |= dict(spring=quiet, dissipated=quiet)
    recording = replace(motion.recording, **ledger, work=np.zeros((len(time), 2)))
    return ph.Motion(motion.run.system, recording)


def pendulum() -> ph.Motion:
    model = Mechanism(dimension=2)
    ball = model.add(ph.PointMass(1.0), "ball", (1.0, 0, 0))
    model.connect(ph.Distance(model.ground.at((0, 0, 0)), ball.origin))
    run = recorded(model, [lambda t: (np.array([np.cos(t), -np.sin(t), 0]), np.eye(3), np.zeros(0))], TIMES)
    return motion_of(run)


def untouched() -> ph.Motion:
    model = Mechanism()
    model.add(ph.RigidBody(1.0, (1.0, 1.2, 1.5)), "body")
    return motion_of(recorded(model, [wandering(2, 0)], TIMES))
