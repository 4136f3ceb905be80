"""Finds beams that bent or stretched further than their strain measure holds (docs/theory.md, 3)."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.beam.points import BeamPoints
from phlexible.bodies.floating_body import FloatingBody
from phlexible.observables.quality.flexible_validity import large_turns
from phlexible.observables.quality.rod_validity import coarse_rods
from phlexible.observables.run import RecordedRun

GREATEST_SLOPE = 0.2
GREATEST_DEFLECTION = 0.1  # of the length
MOST_PARTS = 32  # of a beam, beyond which cutting it is no remedy
GREATEST_STRAIN = 0.1
INSTANTS = 2000  # at most so many are looked at


@dataclass(frozen=True)
class Excess:
    """The most that a beam deformed, where that is beyond its model.

    Attributes:
        name: of the body.
        text: how much, when, and what to do.
    """

    name: str
    text: str


def large_deflections(run: RecordedRun) -> list[Excess]:
    """Beams whose slopes or deflections in their frame are not small, meshed bodies and rods that turn too far."""
    found = []
    for index, beam, points in _beams(run):
        eta, time = _sampled(run, index)
        fields = points.sampled
        slope = np.hypot(eta @ fields.slope_y.T, eta @ fields.slope_z.T).max(axis=1, initial=0.0)
        away = np.hypot(eta @ fields.deflection_y.T, eta @ fields.deflection_z.T).max(axis=1, initial=0.0)
        far = slope / GREATEST_SLOPE, away / (GREATEST_DEFLECTION * beam.length)
        beyond = np.flatnonzero(np.maximum(*far) > 1)
        if len(beyond):
            parts = int(np.ceil(2 * max(far[0].max(), far[1].max()))) + 1
            name = run.system.bodies[index].name
            remedy = f"cut the beam, model.add(beam.split({parts}), ...), or check its material"
            if parts > MOST_PARTS:
                remedy = "check its material (units?), its loads and whether the motion is stable"
            found.append(
                Excess(
                    name,
                    f"{name} bends further than small slopes allow, from t = {time[beyond[0]]:.4g} s on: slope up "
                    f"to {slope.max():.2g}, deflection up to {away.max() / beam.length:.2g} of its length in its "
                    f"frame (good to {GREATEST_SLOPE:g} and {GREATEST_DEFLECTION:g}); energy and momenta are exact "
                    f"but not the shape: {remedy}",
                )
            )
    return [*found, *(Excess(name, text) for name, text in (*large_turns(run), *coarse_rods(run)))]


def large_strains(run: RecordedRun) -> list[Excess]:
    """Beams that are stretched or bent beyond a strain of a tenth, where no metal and no linear law holds."""
    found = []
    for index, beam, points in _beams(run):
        eta, time = _sampled(run, index)
        strain = _greatest_strain(beam, points, eta)
        beyond = np.flatnonzero(strain > GREATEST_STRAIN)
        if len(beyond):
            name = run.system.bodies[index].name
            found.append(
                Excess(
                    name,
                    f"{name} is strained by up to {100 * strain.max():.3g} %, from t = {time[beyond[0]]:.4g} s on "
                    f"by more than {100 * GREATEST_STRAIN:.0f} %, where no material is linear; check its "
                    f"{_stiffness_of(beam)} and its loads",
                )
            )
    return found


def _greatest_strain(beam: Beam, points: BeamPoints, eta: Array) -> Array:
    """Largest strain at each instant, shape (T,): of a fibre, of the axis and of bending, or of shear."""
    fields = points.sampled
    slopes = (eta @ fields.slope_y.T) ** 2 + (eta @ fields.slope_z.T) ** 2
    axial = np.abs(eta @ fields.stretch.T + slopes / 2)
    radius_y, radius_z = beam.radii_of_gyration(points.stations)  # less than the half height
    bending = radius_y * np.abs(eta @ fields.curvature_y.T) + radius_z * np.abs(eta @ fields.curvature_z.T)
    shear = np.hypot(eta @ fields.shear_y.T, eta @ fields.shear_z.T)
    return np.asarray(np.maximum(axial + bending, shear).max(axis=1, initial=0.0))


def _stiffness_of(beam: Beam) -> str:
    if beam.material is None:
        return "stiffness matrix"
    return f"material (Young's modulus is {beam.material.youngs_modulus:.4g} Pa)"


def _beams(run: RecordedRun) -> list[tuple[int, Beam, BeamPoints]]:
    return [
        (index, placed.held, placed.data.points)
        for index, placed in enumerate(run.system.bodies)
        if isinstance(placed.held, Beam)
        and isinstance(placed.data, FloatingBody)
        and isinstance(placed.data.points, BeamPoints)
    ]


def _sampled(run: RecordedRun, index: int) -> tuple[Array, Array]:
    """eta of a body at some of the stored instants, shape (T, n), and their times."""
    count = len(run.recording.time)
    if count <= INSTANTS:
        return run.elastic(index), run.recording.time
    rows = np.unique(np.linspace(0, count - 1, min(count, INSTANTS)).astype(int))
    return run.elastic(index)[rows], run.recording.time[rows]
