"""Force elements and drives obey the same laws: energy, momenta, the coordinate that is driven."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import phlexible as ph
from laws.elements import ELEMENT_CASES, Adding, with_elements, with_relation
from laws.examples import SEEDS, STEP_SIZES, YES_OR_NO, examples, resolved
from laws.figures import energy_error, momentum_errors
from laws.models import DEFORMED, STEPS, Wishes, random_mechanism
from phlexible.description.interactions.drives import Servo
from phlexible.description.interactions.joint_limits import JointStop
from phlexible.state.initial_state import initial_state
from phlexible.state.redundancy import check_redundancy
from phlexible.state.system import system_of

LIMIT = 1e-11
pytestmark = pytest.mark.filterwarnings("ignore::phlexible.StiffeningWarning")
KINDS = list(ELEMENT_CASES)
ANY = {"seed": SEEDS, "h_omega": st.sampled_from(STEP_SIZES)}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("dimension", [2, 3])
@examples(2)
@given(**ANY, damped=YES_OR_NO)
def test_elements_between_bodies_keep_energy_and_momenta_in_free_flight(dimension, kind, seed, h_omega, damped):
    sample = random_mechanism(seed, Wishes(dimension, h_omega, bodies=3))
    added = with_elements(seed, sample, [kind], damped)
    assume(added)
    motion = resolved(sample.simulate)
    assert energy_error(motion) <= LIMIT
    assert max(momentum_errors(motion)) <= LIMIT
    if kind is ph.Contact and added[0].is_contact_group:  # of pairs, without a coordinate
        assert motion.energy.spring.max() > 0
        assert (motion.energy.dissipated[-1] > 0) == damped
        return
    acts = np.abs(motion.element_force(added[0])).max() > 0
    acts = acts or motion.energy.spring.max() > 0  # what is strongly damped may part without a push
    is_rope = kind is ph.Tendon or (kind is ph.SpringDamper and added[0].tension_only)
    assert acts or is_rope or kind is JointStop  # a slack rope, or a stop that is not reached, does nothing
    loses = damped and kind is not Servo  # all that a servo does is supplied
    assert (motion.energy.dissipated[-1] > 0) == (acts and loses and np.ptp(motion.recording.theta) > 0)


@pytest.mark.parametrize("dimension", [2, 3])
@examples(2)
@given(**ANY, damped=YES_OR_NO, ground=st.sampled_from(["fixed", "moving"]), gravity=YES_OR_NO)
def test_the_balance_closes_with_all_elements(dimension, seed, h_omega, damped, ground, gravity):
    sample = random_mechanism(seed, Wishes(dimension, h_omega, ground, gravity, 1, DEFORMED))
    assume(with_elements(seed, sample, KINDS, damped))
    assert energy_error(resolved(sample.simulate)) <= LIMIT


@pytest.mark.parametrize("dimension", [2, 3])
@examples(3)
@given(**ANY, ground=st.sampled_from(["fixed", "moving"]))
@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
@pytest.mark.filterwarnings("ignore::phlexible.LargeStrainWarning")
@pytest.mark.filterwarnings("ignore::phlexible.StepWarning")
def test_driven_coordinates_follow_and_their_work_is_in_the_balance(dimension, seed, h_omega, ground):
    sample = random_mechanism(seed, Wishes(dimension, h_omega, ground))
    model, rng = sample.model, np.random.default_rng(seed)
    found = Adding(rng, sample).coordinate()
    assume(found)
    joint, name = found
    begin = joint.initial_coordinate(dimension, name)
    size = 0.3 * (1.0 if "angle" in name else sample.scale.length)
    rate = 2 / (STEPS * sample.step)

    def path(time):
        return begin + size * np.sin(rate * time)

    kind = "angle" if "angle" in name else "position"
    assume(joint.second.has_orientation or kind != "angle")
    drive = model.apply(joint.drive(**{kind: path}, of=name))
    moving = model.replace()
    assume(_has_freedom(moving))
    motion = resolved(lambda: moving.simulate(STEPS * sample.step, sample.step, progress=False))
    own = moving.joints[model.joints.index(joint)]
    reported = motion.angle(own) if kind == "angle" else motion.translation(own)
    names = [each for each in own.coordinate_names if ("angle" in each) == (kind == "angle")]
    reported = reported if reported.ndim == 1 else reported[:, names.index(name)]
    scale = 1.0 if kind == "angle" else sample.scale.length + np.abs(motion.position(own.second)).max()
    assert np.abs(reported - path(motion.time)).max() <= 1e-11 * scale
    assert energy_error(motion) <= LIMIT
    assert str(drive) in motion.energy.work


@pytest.mark.parametrize("dimension", [2, 3])
@examples(3)
@given(**ANY, ground=st.sampled_from(["free", "fixed", "moving"]))
def test_relations_keep_energy_momenta_and_what_they_relate(dimension, seed, h_omega, ground):
    sample = random_mechanism(seed, Wishes(dimension, h_omega, ground, bodies=3))
    assume(with_relation(seed, sample))
    assume(_has_freedom(sample.model))
    motion = resolved(sample.simulate)
    assert energy_error(motion) <= LIMIT
    if ground == "free":
        assert max(momentum_errors(motion)) <= LIMIT
    row = motion.run.gaps()[:, -1]
    assert np.ptp(motion.recording.theta[:, -2:], axis=0).min() > 0
    assert np.abs(row).max() <= 1e-11 * max(np.abs(motion.recording.theta[:, -2:]).max(), 1.0)


def _has_freedom(model):
    """Whether velocities that nobody gave fit the drive."""
    system = system_of(model)
    try:
        check_redundancy(system, initial_state(system))
    except ph.ModelError:
        return False
    return True


def test_the_reported_force_is_that_of_the_law():
    """F at the stored instants, the mean of adjacent steps, against the law in the coordinate."""
    model = ph.Model(dimension=2)
    body = model.add(ph.RigidBody(1.0, 0.2, center=(0.4, 0, 0)), angular_velocity=(0, 0, 3.0))
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.origin))
    spring = model.apply(pin.spring(7.0, rest=0.2))
    damper = model.apply(pin.damper(0.3))
    motion = model.simulate(2.0, 5e-4, progress=False)
    angle, rate = motion.angle(pin), motion.rate(pin)
    assert motion.element_force(spring)[1:-1] == pytest.approx(-7.0 * (angle - 0.2)[1:-1], abs=2e-5)
    assert motion.element_force(damper)[1:-1] == pytest.approx(-0.3 * rate[1:-1], abs=2e-5)
    assert motion.energy.spring == pytest.approx(3.5 * (angle - 0.2) ** 2, abs=1e-13)


def test_a_spring_between_coincident_points_is_refused():
    model = ph.Model()
    one, two = (model.add(ph.PointMass(1.0)) for _ in range(2))
    with pytest.raises(ph.ModelError, match="coincide"):
        model.apply(ph.SpringDamper(one.origin, two.origin, 3.0))
