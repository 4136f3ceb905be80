"""Mechanisms that tests of one subject have made obey every law that random ones have to obey.

Energy, momenta, joints, the way of the centre of mass, the same digits from files and in runs that go on, time
reversal, and the same motion elsewhere and in other units.
"""

from functools import partial

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from bodies.shell import test_shells_in_models as shells
from description.interactions import (
    test_balls_on_lines as lines,
    test_contact_of_many as contacts,
    test_contacts as pairs,
    test_friction_that_sticks as bristles,
    test_pieces_on_solids as pieces,
    test_tendon_friction as rubbing,
    test_tendons as tendons,
)
from description.joints import test_sliding as sliding
from fuzz.case import Case
from fuzz.checks import failures, file_failures, law_errors, resume_failures
from fuzz.copies import Change
from laws import test_creep as creep

LIMIT = 1e-12
ELSEWHERE = Change(Rotation.from_rotvec((0.7, -1.1, 0.4)).as_matrix(), np.array([3.0, -2.0, 1.0]))
FRICTION = (0.0, 0.4)


def free_ring(count=6):
    """Bricard's ring with a sixth rod instead of the ground, tumbling freely."""
    model = ph.Model()
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
    edges = np.roll(corners, -1, axis=0) - corners
    spin, drift = np.array([0.7, -1.1, 0.4]), np.array([0.3, 0.1, -0.2])
    rods = []
    for k, (corner, edge) in enumerate(zip(corners, edges, strict=True)):
        side = np.roll(edge, 1)
        rotation = np.column_stack([edge, side, np.cross(edge, side)])
        body = ph.RigidBody(1.0 + 0.2 * k, (0.01, 0.08, 0.085), center=(0.5, 0, 0))
        rods.append(model.add(body, f"rod {k}", corner, rotation, drift + np.cross(spin, corner), spin))
    for k in range(count):
        first, second = rods[k - 1], rods[k]
        axis = np.cross(edges[k - 1], edges[k])
        model.connect(ph.Revolute(first.point((1, 0, 0)), second.origin, axis=axis))
    return model


def bent_beams(connect):
    """Two beams that bend far, with a joint between their ends along no axis of the world."""
    model = ph.Model(gravity=(1.0, -9.81, 2.0))
    section, rubber = ph.RectangularSection(0.05, 0.04), ph.Material(youngs_modulus=1e8, density=1000.0)
    beam, turns = ph.Beam(1.0, section, rubber, elements=2), ([0.2, 0.5, -0.3], [0.9, -0.4, 0.6])
    first, second = (Rotation.from_rotvec(turn) for turn in turns)
    one = model.add(beam, rotation=first)
    two = model.add(beam, position=one.end.initial_position(), rotation=second)
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), one.start))
    joint = model.connect(connect(one.end, two.start))
    if isinstance(joint, ph.Revolute):
        model.apply(joint.spring(5.0, rest=0.5))
    return model


ASKEW = {"axis": (0.3, -0.5, 0.8)}
MECHANISMS = {
    "rope that goes slack and taut": (partial(tendons.free_bodies, 3.0), 5e-3, 600),
    "damped rope": (partial(tendons.free_bodies, damping=2.0), 5e-3, 200),
    **{
        f"rope that rubs with {friction}, damped with {damping}": (
            partial(rubbing.free_bodies, 3.0, friction, damping),
            *(5e-3, 100),
        )
        for friction, damping in ((1e-4, 0.0), (0.1, 2.0), (0.5, 0.0))
    },
    **{
        f"bead in {line_in.__name__}, {spin}, {dimension}D": (
            partial(sliding.bead_in_flight, line_in, spin, dimension),
            *(5e-3, 100),
        )
        for line_in, spin, dimension in sliding.FREE
    },
    **{
        f"ball that sticks to a {surface}, {sticks}": (
            partial(bristles.free_pair, surface, bristle=8e3, **sticks),
            *(step, 150),
        )
        for surface in ("plane", "sphere")
        for step, sticks in ((1e-3, {}), (1e-2, bristles.ALL_LOSSES))
    },
    **{
        f"balls of a list, {step} s, {law}": (partial(pairs.free_balls, **law), step, 100)
        for step, law in zip((2e-3, 2e-2, 2e-3, 2e-2), pairs.RESISTANCES, strict=True)
    },
    **{
        f"ball and {kind}, {friction}": (partial(contacts.ball_that_meets, kind, friction), 2e-3, 250)
        for kind in contacts.SHAPES
        for friction in FRICTION
    },
    **{
        f"{kind} on an edge, {friction}": (partial(make, friction), 1e-3, 50)
        for kind, make in pieces.CASES.items()
        for friction in FRICTION
    },
    **{f"ball on a line, {law}": (partial(lines.ball_and_line, **law), 1e-3, 100) for law in lines.LAWS},
    "what creeps": (creep.swinging, 2e-3, 20, (("another place", ELSEWHERE),)),
    "ring of redundant joints": (free_ring, 1e-2, 100),
    "beams, fixed": (partial(bent_beams, ph.Fixed), 1e-2, 30),
    "beams on a rail": (partial(bent_beams, partial(ph.Prismatic, **ASKEW)), 1e-2, 30),
    "beams on a hinge with a spring": (partial(bent_beams, partial(ph.Revolute, **ASKEW)), 1e-2, 30),
    "shell that tumbles": (shells.tumbling, 5e-3, 40),
}


SECOND_ORDER = {("bead in string_in, None, 3D", "angular momentum"): 2e-4}
"""Nothing has directions there."""


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", MECHANISMS)
def test_special_mechanisms_obey_every_law(name):
    make, step, steps, *changes = MECHANISMS[name]
    made = make()
    case = Case(made if isinstance(made, ph.Model) else made[0], step, steps, changes=changes[0] if changes else ())
    motion = case.run()
    errors = {law: error for law, error in law_errors(case, motion) if not error <= LIMIT}
    assert all(error <= SECOND_ORDER.get((name, law), 0.0) for law, error in errors.items()), errors
    found = [*file_failures(motion), *resume_failures(case, motion), *failures(case, motion, seed=2)]
    assert [each for each in found if (name, each[0]) not in SECOND_ORDER] == []
