"""The raw numbers of a run: what a results file holds and every observable is computed from."""

from dataclasses import dataclass

from phlexible.algebra.arrays import Array, IntArray


@dataclass(frozen=True, eq=False)
class Recording:
    """States and ledger at the stored instants 0 .. N of a system of b bodies.

    Attributes:
        time: shape (N + 1,) [s].
        position: shape (N + 1, b, 3) [m].
        rotation: body to world, shape (N + 1, b, 3, 3).
        elastic: eta of all bodies, shape (N + 1, sum n).
        velocity: nu of all bodies (unprojected), shape (N + 1, sum of velocity counts).
        multipliers: mean of the adjacent steps' multipliers of joints, drives and force elements,
            shape (N + 1, rows) [N or N m].
        coordinates: of the scalar forces of elements, angles over full turns, shape (N + 1, forces).
        paths: p(t) of the drives, shape (N + 1, drives) [rad or m].
        path_rates: dp/dt, shape (N + 1, drives).
        frames: origin of each moving frame (``ground.moving``), shape (N + 1, f, 3) [m].
        frame_rotations: turn of each moving frame since t = 0, shape (N + 1, f, 3, 3).
        frame_velocities: shape (N + 1, f, 3) [m/s].
        frame_angular_velocities: world axes, shape (N + 1, f, 3) [rad/s].
        kinetic, strain, gravity, spring: energies, each of shape (N + 1,) [J].
        work: work done since t = 0 by each source of ``work_names``, shape (N + 1, sources) [J].
        dissipated: energy lost since t = 0, shape (N + 1,) [J].
        iterations: Newton iterations since t = 0, shape (N + 1,).
        halvings: halved steps since t = 0, shape (N + 1,).
        work_names: loads, then joints that are driven by moving frames, drives, force elements.
    """

    time: Array
    position: Array
    rotation: Array
    elastic: Array
    velocity: Array
    multipliers: Array
    coordinates: Array
    paths: Array
    path_rates: Array
    frames: Array
    frame_rotations: Array
    frame_velocities: Array
    frame_angular_velocities: Array
    kinetic: Array
    strain: Array
    gravity: Array
    spring: Array
    work: Array
    dissipated: Array
    iterations: IntArray
    halvings: IntArray
    work_names: tuple[str, ...]
