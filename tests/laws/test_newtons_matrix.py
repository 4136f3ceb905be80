"""Newton's matrix is the derivative of the equations of a step by dual numbers, of all that the laws draw.

Of contacts it leaves out on purpose how normals turn, and couplings of pairs, which the step corrects for.
"""

from dataclasses import replace

import numpy as np
import pytest

import phlexible as ph
from fuzz.additions import touch_a_piece
from laws.cases import BEAM_KINDS, BODY_CASES, LAW_CASES, LOAD_CASES, joint_types
from laws.elements import ELEMENT_CASES, Adding, with_elements, with_relation
from laws.examples import EVERY_BODY
from laws.models import Wishes, random_mechanism
from phlexible.derivatives.variations import pose_sizes
from phlexible.state.initial_velocity import undeformed
from phlexible.state.small_motions import displaced
from phlexible.state.system import system_of
from step.kernels.newton import Newton, largest_slope_error

LIMIT, DAMPING = 1e-12, 0.1
MOVED, FASTER = 1e-3, 1e-2  # of the size of the bodies, from the start and in the step
FEW, SEVERAL, MOST = 2, 4, 8  # mechanisms; with an element, each with other parameters; until one of them is seen
LEFT_OUT = 1e-3  # normals of contacts that turn, by the depth over the radius
SEEN = 1e-9  # of the matrix, at least, by which an element changes it


def a_step(sample, seed):
    """A step from a random pose near the start, joints open, and its unknowns."""
    system, rng = system_of(sample.model), np.random.default_rng(seed)
    start = undeformed(system)
    weights = Newton(sample.model, start, sample.step).memory["velocity_weight"]
    sizes = pose_sizes(system, system.largest_length, weights)
    pose = displaced(system, start, MOVED * sizes * rng.normal(size=len(sizes)))
    before, after = np.cumsum(FASTER * sizes / sample.step * rng.normal(size=(2, len(sizes))), axis=0)
    newton = Newton(sample.model, replace(pose, velocity=before, time=0.4 * sample.step), sample.step, DAMPING)
    pull = np.abs(newton.residual(np.concatenate([after, np.zeros(newton.rows)]))).max()
    return newton, np.concatenate([after, pull * rng.normal(size=newton.rows)])


def check(wishes):
    for seed in range(FEW):
        sample = random_mechanism(seed, wishes).damped(viscosity=0.1, damping_ratio=0.02)
        assert largest_slope_error(*a_step(sample, seed)) <= LIMIT


@EVERY_BODY
def test_bodies_on_ground_that_moves(dimension, body):
    check(Wishes(dimension, min(1.0, BODY_CASES[body].h_omega), "moving", True, loads=2, body=body))


@pytest.mark.parametrize(("dimension", "kind"), [(d, kind) for d in (2, 3) for kind in BEAM_KINDS])
def test_beams_of_all_kinds(dimension, kind):
    check(Wishes(dimension, body=ph.Beam, beam={"kind": kind}, loads=2))


@pytest.mark.parametrize(("dimension", "kind"), [(d, kind) for d in (2, 3) for kind in joint_types(d)])
def test_joints(dimension, kind):
    check(Wishes(dimension, ground="moving", bodies=2, first_joint=kind, flexible=True))


@pytest.mark.parametrize(("dimension", "kind"), [(d, kind) for kind, c in LOAD_CASES.items() for d in c.dimensions])
def test_loads(dimension, kind):
    check(Wishes(dimension, loads=4, flexible=True, load=kind, body=LOAD_CASES[kind].body))


@pytest.mark.parametrize(("dimension", "law"), [(d, law) for d in (2, 3) for law in LAW_CASES])
def test_strings(dimension, law):
    check(Wishes(dimension, ground="fixed", gravity=True, law=law))


def contact_of_two(seed, sample):
    contact = Adding(np.random.default_rng(seed), sample).contact(seed % 2 == 0)
    if contact:
        sample.model.apply(contact)


def coordinate(seed, sample):
    """Draws; a joint, the name of a coordinate, and whether that is an angle; None: there is none."""
    adding = Adding(np.random.default_rng(seed), sample)
    found = adding.coordinate()
    return found and (adding, *found, "angle" in found[1])


def drive(seed, sample):
    if found := coordinate(seed, sample):
        adding, joint, name, is_angle = found
        begin = joint.initial_coordinate(adding.dimension, name)
        sample.model.apply(joint.drive(**{"angle" if is_angle else "position": lambda t: begin + t}, of=name))


def friction_that_breaks_loose(seed, sample):
    if found := coordinate(seed, sample):
        adding, joint, name, is_angle = found
        stiffness = adding.stiffness * (adding.length**2 if is_angle else 1.0)
        limit = 1e-4 * stiffness * (1.0 if is_angle else adding.length)
        sample.model.apply(joint.friction(limit, static=1.5 * limit, bristle=stiffness, of=name))


def spring_of_a_potential(seed, sample):
    adding = Adding(np.random.default_rng(seed), sample)
    potential = ph.Potential(lambda x: adding.stiffness * x**4, lambda x: 4 * adding.stiffness * x**3)
    one, other = adding.ends(False)
    if np.abs(one.initial_position() - other.initial_position()).max() > 0.05 * adding.length:
        sample.model.apply(ph.SpringDamper(one, other, damping=adding.damping, potential=potential))


ELEMENTS = {
    **{
        kind.__name__: lambda seed, sample, kind=kind: with_elements(seed, sample, [kind], True)
        for kind in ELEMENT_CASES
        if kind is not ph.Contact
    },
    "contact of two": contact_of_two,
    "capsule": lambda seed, sample: touch_a_piece(np.random.default_rng(seed), sample, True),
    "drive": drive,
    "friction that breaks loose": friction_that_breaks_loose,
    "spring of a potential": spring_of_a_potential,
    "relation": with_relation,
}


@pytest.mark.parametrize("name", ELEMENTS)
@pytest.mark.parametrize("dimension", [2, 3])
def test_elements_and_drives(dimension, name):
    are_seen, wishes = False, Wishes(dimension, h_omega=10.0, bodies=3)
    for seed in range(MOST):
        if are_seen and seed >= SEVERAL:
            break
        sample = random_mechanism(seed, wishes)
        ELEMENTS[name](seed, sample)
        newton, unknowns = a_step(sample, seed)
        touches = any(isinstance(each, ph.Contact) for each in sample.model.elements)
        assert largest_slope_error(newton, unknowns) <= (LEFT_OUT if touches else LIMIT)
        if not are_seen:
            alone, others = a_step(random_mechanism(seed, wishes), seed)
            matrix, is_longer = newton.matrix(unknowns), len(others) < len(unknowns)
            difference = np.inf if is_longer else np.abs(matrix - alone.matrix(others)).max()
            are_seen = difference > SEEN * np.abs(matrix).max()
    assert are_seen
