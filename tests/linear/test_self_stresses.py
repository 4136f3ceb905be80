"""Rigid motions and self-stresses are counted apart, for models of any form; Fig. 6 in the spaces of the paper."""

from dataclasses import replace

import numpy as np
import pytest
from skfem import MeshTet, MeshTri

import phlexible as ph
from linear.four_bar_by_hand import EXACT, exact, four_bar
from phlexible.linear.first_order import StateKind, kind_of_unit
from phlexible.papers.elastodynamics import rod, solid

STEEL = (2e11, 0.3, 7800.0)


def beam(elements=4):
    return ph.Beam(1.0, ph.RectangularSection(0.02, 0.03), ph.Material(2e11, 7800.0), elements, "cantilever")


def alone(dimension, stress):
    return ph.linearized(beam().port_hamiltonian(dimension=dimension, stress=stress))


def held(model, *ports):
    for port in ports:
        model = ph.inverted(model, port)
    return model


def square_frame(form):
    """Four beams, each fixed to the next: a closed frame."""
    model = ph.Model(dimension=2)
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    sides = [model.add(beam(), position=corner, rotation=k * np.pi / 2) for k, corner in enumerate(corners)]
    for one, other in zip(sides, [*sides[1:], sides[0]], strict=True):
        model.connect(ph.Fixed(one.end, other.start))
    return model.linearize(form=form)


def plate(clamped):
    mesh = MeshTri().refined(2).with_boundaries({"left": lambda x: x[0] < 1e-9})
    return solid(mesh, *STEEL, thickness=0.01, clamped=clamped)


def block(clamped):
    return solid(MeshTet().refined(1).with_boundaries({"left": lambda x: x[0] < 1e-9}), *STEEL, clamped=clamped)


ENDS = ("start force", "start moment", "end force", "end moment")
CASES = {
    "free beam": (lambda: alone(2, "discontinuous"), 3, 0),
    "free beam in space": (lambda: alone(3, "discontinuous"), 6, 0),
    "clamped beam": (lambda: held(alone(2, "discontinuous"), *ENDS[:2]), 0, 0),
    # clamped at both ends, as texts on statics have it: three times indeterminate in the plane, six times in space
    "beam between walls": (lambda: held(alone(2, "discontinuous"), *ENDS), 0, 3),
    "beam between walls in space": (lambda: held(alone(3, "discontinuous"), *ENDS), 0, 6),
    "closed frame, composed of displacements": (lambda: square_frame("displacement").composed(), 3, 3),
    "closed frame in stresses": (lambda: square_frame("stress"), 3, 3),
    "free rod": (lambda: rod(1.0, 5, 2e11, 7800.0), 1, 0),
    "rod between walls": (lambda: held(rod(1.0, 5, 2e11, 7800.0), "boundary force"), 0, 1),
    # (n + 1) cubic moments of the nodes, 2 each, and n + 1 normal forces: 3 more than motions
    "clamped beam in Hermite spaces": (lambda: held(alone(2, "hermite"), *ENDS[:2]), 0, 3),
    "free beam in Hermite spaces in space": (lambda: alone(3, "hermite"), 6, 6),
    "four-bar in Hermite spaces": (lambda: four_bar(EXACT[1], elements=3), 0, 9),
    # meshes by Maxwell's rule: motions - stresses = rigid motions - self-stresses
    "free plate in its plane": (lambda: plate(None), 3, 32 * 3 - 25 * 2 + 3),
    "clamped plate in its plane": (lambda: plate("left"), 0, 32 * 3 - 20 * 2),
    "free block": (lambda: block(None), 6, 40 * 6 - 26 * 3 + 6),
    "clamped block": (lambda: block("left"), 0, 40 * 6 - 17 * 3),
}


@pytest.mark.parametrize("case", CASES)
def test_rigid_motions_and_self_stresses_are_counted_apart(case):
    make, rigid, self_stresses = CASES[case]
    modes = ph.LinearModel.of(make()).modes(rigid + 2)
    assert (modes.rigid_modes, modes.self_stresses) == (rigid, self_stresses)
    assert (modes.frequencies[:rigid] == 0).all()
    assert modes.frequencies[rigid:].min() > 100.0
    assert modes.shapes.shape[1] == rigid + 2


def test_shapes_are_states_that_solve_the_equations():
    model = replace(square_frame("stress"), mechanics=None)
    modes = model.modes(6)
    assert (modes.rigid_modes, modes.self_stresses) == (3, 3)
    for value, shape in zip(modes.eigenvalues, modes.shapes.T, strict=True):
        missed = value * (model.descriptor @ shape) - model.system_matrix @ shape
        multipliers = model.structure[:, -12:].toarray()  # joint forces take up the rest
        rest = missed - multipliers @ np.linalg.lstsq(multipliers, missed, rcond=None)[0]
        assert np.abs(rest).max() < 1e-9 * np.abs(model.system_matrix @ shape).max(initial=1.0)
        assert np.vdot(shape, model.energy_matrix @ shape).real == pytest.approx(1.0)


@pytest.mark.parametrize("row", EXACT, ids=lambda row: row["crank_angle_deg"])
def test_fig_6_in_the_spaces_of_the_paper(row):
    """Twelve elements a link."""
    modes = four_bar(row).modes(3)
    assert modes.frequencies == pytest.approx(exact(row), rel=1e-6)
    assert (modes.rigid_modes, modes.self_stresses) == (0, 9)
    assert not modes.eigenvalues.real.any()


@pytest.mark.parametrize(
    ("units", "kind"),
    [
        (("m/s", "rad/s", "kg m/s", "kg m^2/s", "1/s", "m^2/s", "J s"), StateKind.VELOCITY),
        (("m", "rad", "1", "N", "N m", "Pa", "N/m", "N/m^3", "N/kg"), StateKind.STRESS),
        (("", "J^0.5", "kg^0.5 m", "furlong/s"), StateKind.UNKNOWN),
    ],
)
def test_time_reversal_tells_velocities_from_stresses(units, kind):
    assert {kind_of_unit(unit) for unit in units} == {kind}


@pytest.mark.filterwarnings("ignore:the linear model leaves out the initial rotation")
def test_bodies_without_any_stiffness_have_rigid_motions_only():
    """Six of a free rigid body, two of a double pendulum without gravity; also in the stress form."""
    for model, rigid in ((ph.gallery.dzhanibekov(), 6), (ph.gallery.double_pendulum(), 2)):
        for form in ("displacement", "stress"):
            linear = model.linearize(at="unloaded", form=form)
            for found in (linear.modes(8), replace(linear, mechanics=None).modes(8)):
                assert (found.rigid_modes, found.self_stresses) == (rigid, 0)
                assert (found.frequencies == 0).all() and len(found.frequencies) == rigid


def test_a_spring_that_the_free_motion_does_not_stretch_is_a_self_stress():
    """Andrews' mechanism at its initial pose: one freedom, across which its spring stands."""
    linear = ph.gallery.andrews_squeezer().linearize(at="unloaded", form="stress")
    for found in (linear.modes(2), replace(linear, mechanics=None).modes(2)):
        assert (found.rigid_modes, found.self_stresses) == (1, 1)
