"""Finds runs that went astray because linear strain knows no geometric stiffening (docs/theory.md, 3)."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.beam.strain import Strain, linear_stiffness
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import elastic_mass
from phlexible.observables.run import RecordedRun

FAR = 0.3  # of a beam's length; small deflections are far below
FAST = 0.3  # of the lowest frequency; slower rotation changes stiffness by less than a tenth


def missing_stiffening(run: RecordedRun) -> list[str]:
    """One explanation for each spinning beam of linear strain that was driven far from its axis.

    The centrifugal force pulls a bent beam straight, but only through the square of the slope in its
    strain; without it the same force pushes the beam out, past its lowest frequency without bound
    ((3.7); T. R. Kane, R. R. Ryan, A. K. Banerjee, 1987).
    """
    found = []
    for index, placed in enumerate(run.system.bodies):
        beam = placed.body
        if not isinstance(beam, Beam) or beam.strain is not Strain.LINEAR:
            continue
        away = np.maximum(*(_deflections(run, index, x) for x in (beam.length / 2, beam.length)))
        far = np.flatnonzero(~(away <= FAR * beam.length))
        if not len(far):
            continue
        spins = run.spin(index, run.recording.velocity)[0]
        spin = float(np.linalg.norm(spins[: far[0] + 1], axis=1).max())
        assert isinstance(placed.data, FloatingBody), "beams have a frame"
        lowest = _lowest_frequency(placed.data)
        if spin > FAST * lowest:
            found.append(
                f"{placed.name} left its axis by {100 * FAR:.0f} % of its length at"
                f" t = {run.recording.time[far[0]]:.4g} s and by {away.max() / beam.length:.3g} lengths at"
                f" most, while it turned at up to {spin:.3g} rad/s (its lowest frequency in its frame is"
                f' {lowest:.3g} rad/s): strain="linear" has no geometric stiffening, so the centrifugal force'
                ' pushes it out instead of pulling it straight; use strain="von_karman"'
            )
    return found


def _deflections(run: RecordedRun, index: int, x: float) -> Array:
    """Transverse displacement of an axis point in the frame of the beam, shape (T,) [m]."""
    shapes = run.system.bodies[index].at(x).point.shapes[1:]
    return np.asarray(np.linalg.norm(run.elastic(index) @ shapes.T, axis=1))


def _lowest_frequency(data: FloatingBody) -> float:
    """Of the body held by its frame [rad/s]."""
    from scipy.linalg import eigh

    square = eigh(linear_stiffness(data.strain), elastic_mass(data), eigvals_only=True, subset_by_index=(0, 0))[0]
    return float(np.sqrt(max(float(square), 0.0)))
