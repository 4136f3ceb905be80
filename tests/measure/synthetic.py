"""Motions written down as functions of time, recorded as a simulation would record them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.bodies.mechanics.floating import velocity_components
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.ports import PlacedBody
from phlexible.state.recorded_run import RecordedRun, RecordedStates
from phlexible.state.system import system_of

BEAM = ph.Beam(0.8, ph.RectangularSection(0.03, 0.02), ph.Material(7e10, 2700.0), elements=2, frame="cantilever")
STEP = 1e-3  # of the differences; the motions are slow, so that their error is about 1e-12

Pose = tuple[np.ndarray, np.ndarray, np.ndarray]


def slope(function: Callable[[float], np.ndarray], time: float) -> np.ndarray:
    """Fourth-order central difference."""
    near, far = (function(time + k * STEP) - function(time - k * STEP) for k in (1, 2))
    return (8 * near - far) / (12 * STEP)


def vee(skew: np.ndarray) -> np.ndarray:
    """The vector of a skew matrix."""
    return np.array([skew[2, 1] - skew[1, 2], skew[0, 2] - skew[2, 0], skew[1, 0] - skew[0, 1]]) / 2


def wandering(
    seed: int, elastic_count: int, dimension: int = 3, amplitude: float = 0.02
) -> Callable[[float], Pose]:
    """A smooth pose of a body as a function of time: reference point r, rotation R, eta."""
    draw = np.random.default_rng(seed)
    place, swing, turn = draw.normal(size=(3, 2, 3))
    bend = amplitude * draw.normal(size=(2, elastic_count))
    if dimension == 2:
        place[:, 2] = swing[:, 2] = 0
        turn[:, :2] = 0

    def pose(time: float) -> Pose:
        c, s = np.cos(1.3 * time), np.sin(0.9 * time)
        rotation = Rotation.from_rotvec(turn[0] * s + turn[1] * c).as_matrix()
        return place[0] + swing[0] * s + swing[1] * c, rotation, bend[0] * c + bend[1] * s

    return pose


def centre(placed: PlacedBody, pose: Pose) -> np.ndarray:
    """Centre of mass of a body, r + R S (1, eta) / m."""
    place, turn, eta = pose
    return place + turn @ placed.data.first_moments @ [1.0, *eta] / placed.data.mass


def recorded(mechanism: Mechanism, poses: list[Callable[[float], Pose]], times: np.ndarray) -> RecordedRun:
    """The poses and their exact velocities; the ledger is made up."""
    system, count = system_of(mechanism), len(times)
    position, rotation, eta, velocity = [], [], [], []
    for time in times:
        now = [pose(time) for pose in poses]
        position.append([centre(*pair) for pair in zip(mechanism.bodies, now, strict=True)])
        rotation.append([turn for _, turn, _ in now])
        eta.append(np.concatenate([bend for _, _, bend in now]))
        nus = []
        for placed, pose, (_, turn, _) in zip(mechanism.bodies, poses, now, strict=True):
            v = slope(lambda t, placed=placed, pose=pose: centre(placed, pose(t)), time)
            w = vee(turn.T @ slope(lambda t, pose=pose: pose(t)[1], time))
            full = np.concatenate([v, w, slope(lambda t, pose=pose: pose(t)[2], time)])
            nus.append(full[velocity_components(placed.data)])
        velocity.append(np.concatenate(nus))
    frames = system.moving_frames
    turns = [frame.rotation or (lambda t: np.eye(3)) for frame in frames]
    draw = np.random.default_rng(5)

    def over_time(values: list[list[np.ndarray]], *shape: int) -> np.ndarray:
        return np.array(values, dtype=float).reshape(count, len(frames), *shape)

    kinetic, strain, gravity, spring, lost = draw.random((5, count))
    work = draw.random((count, 2))
    nothing = np.zeros((count, 0))
    recording = RecordedStates(
        time=times,
        position=np.array(position),
        rotation=np.array(rotation),
        eta=np.array(eta),
        velocity=np.array(velocity),
        multipliers=draw.normal(size=(count, len(system.owners))),
        forces=nothing,
        theta=nothing,
        branches=nothing,
        locked_at=nothing,
        event_times=nothing,
        event_losses=nothing,
        paths=nothing,
        path_rates=nothing,
        frames=over_time([[frame.path(t) for frame in frames] for t in times], 3),
        frame_rotations=over_time([[turn(t) for turn in turns] for t in times], 3, 3),
        frame_velocities=over_time([[slope(frame.path, t) for frame in frames] for t in times], 3),
        frame_angular_velocities=over_time([[vee(slope(turn, t) @ turn(t).T) for turn in turns] for t in times], 3),
        kinetic=kinetic,
        strain=strain,
        gravity=gravity,
        spring=spring,
        work=work,
        dissipated=lost,
        iterations=np.arange(count),
        halvings=np.zeros(count, dtype=np.int64),
        contact_steps=np.zeros(count, dtype=np.int64),
        step_error=np.zeros(count),
        work_names=("force on beam.end", "moving frame 1"),
    )
    return RecordedRun(system, recording)


def as_stepped(run: RecordedRun) -> RecordedRun:
    """The run with velocities as they are recorded, not brought onto the joints."""
    return replace(run, is_projected=False)


def two_beams(dimension: int = 3) -> Mechanism:
    mechanism = Mechanism(dimension=dimension)
    for seed, name in enumerate(("one", "two")):
        position, rotation, _ = wandering(seed, 0, dimension)(0.3)
        mechanism.add(BEAM, name, position, rotation)
    return mechanism


def wandering_poses(mechanism: Mechanism) -> list[Callable[[float], Pose]]:
    return [
        wandering(seed, placed.data.elastic_count, mechanism.dimension)
        for seed, placed in enumerate(mechanism.bodies)
    ]
