"""Tendons: closed forms, laws of mechanics, one tension along the whole length, winches."""

import numpy as np
import pytest

import phlexible as ph
from laws.figures import energy_error
from phlexible.pictures.scene import scene_of
from refusals import refused

GRAVITY = 9.81


def atwood(stiffness=1e6, damping=0.0, rest_length=None, path=None, masses=(1.0, 2.0), depth=3.0, friction=0.0):
    """Two masses at the ends of a rope over two pulleys at rest."""
    model = ph.Model(gravity=(0, -GRAVITY, 0), dimension=2)
    light, heavy = (
        model.add(ph.PointMass(mass), name, position=(x, -depth, 0))
        for mass, name, x in zip(masses, ("light", "heavy"), (0, 1), strict=True)
    )
    pulleys = [model.ground.at((x, 0, 0)) for x in (0, 1)]
    guides = [light.origin, *pulleys, heavy.origin]
    return model, model.apply(ph.Tendon(guides, stiffness, path or rest_length, damping=damping, friction=friction))


def free_bodies(rest_length=1.5, damping=0.0, path=None, friction=0.0, seed=None):
    """Three bodies in free flight and a tendon through five points; ``tests/fuzz`` holds them to all laws."""
    model, rng, handles = ph.Model(), np.random.default_rng(seed), []
    places = [((0, 0, 0), (0, 0.3, 0)), ((1, 0, 0), (0, 0, 0.5)), ((0.5, 1, 0.2), (0.1, 0, 0))]
    spins = [(0.4, 1, 0), (0, 2, 1), (1, 0, 3)]
    for k, ((place, speed), spin) in enumerate(zip(places, spins, strict=True)):
        more = np.zeros((2, 3)) if seed is None else rng.normal(size=(2, 3))
        body, moving = ph.RigidBody(1.0 + k, (0.1, 0.2, 0.25)), {"velocity": speed + more[0]}
        handles.append(model.add(body, position=place, angular_velocity=spin + 3 * more[1], **moving))
    a, b, c = handles
    guides = [a.origin, b.point((0.1, 0.1, 0)), c.point((0, 0.1, 0.1)), a.point((0, 0, 0.2)), b.point((0, 0, -0.1))]
    return model, model.apply(ph.Tendon(guides, 200.0, path or rest_length, damping=damping, friction=friction))


def test_a_light_and_a_heavy_mass_over_pulleys_fall_as_atwood_says():
    model, rope = atwood(damping=300.0, rest_length=7.0 - 4 / 3 * GRAVITY / 1e6)
    motion = model.simulate(0.5, step=1e-3)
    fall = motion.position(model["light"].origin)[:, 1] + 3
    assert np.abs(fall - GRAVITY / 3 * motion.time**2 / 2).max() <= 1e-4 * fall[-1]
    assert motion[ph.Tension(rope)][200:] == pytest.approx(4 / 3 * GRAVITY, rel=1e-3)
    assert energy_error(motion) <= 1e-12


def test_the_stiffness_of_a_winch_follows_its_rope():
    """EA is constant: at half the rest length the rope is twice as stiff."""
    model = ph.Model(gravity=(0, 0, -GRAVITY))
    bob = model.add(ph.PointMass(1.0), "bob", position=(0, 0, -2))
    winch = model.ground.at((0, 0, 0))
    rope = model.apply(ph.Tendon([winch, bob.origin], 1e3, lambda t: 2.0 - 0.5 * np.minimum(t, 2.0), damping=50.0))
    motion = model.simulate(6.0, step=1e-3)
    assert motion.position(bob.origin)[-1, 2] == pytest.approx(-1 - GRAVITY / 2e3, abs=1e-6)
    assert motion[ph.Tension(rope)][-1] == pytest.approx(GRAVITY, rel=1e-6)


def test_a_tendon_between_two_points_is_a_rope():
    motions = []
    for make in (
        lambda a, b: ph.SpringDamper(a, b, 50.0, 0.4, 0.9, tension_only=True),
        lambda a, b: ph.Tendon([a, b], 50.0, 0.9, damping=0.4),
    ):
        model = ph.Model(gravity=(0, 0, -GRAVITY))
        bob = model.add(ph.PointMass(1.0), "bob", position=(0.7, 0, 0), velocity=(0, 1, 0))
        model.apply(make(model.ground.at((0, 0, 0)), bob.origin))
        motions.append(model.simulate(2.0, step=5e-3).position(bob.origin))
    assert np.abs(motions[0] - motions[1]).max() <= 1e-12


def test_linear_model_of_two_masses_over_pulleys():
    """They move against each other freely, and together with the rope's stiffness against both masses."""
    stretch = GRAVITY * 1.0 / 1e4
    model, _ = atwood(1e4, rest_length=7.0 - stretch, masses=(1.0, 1.0))
    frequencies = model.linearize().modes(4).frequencies
    together = np.sqrt(1e4 * 2 / 1.0)
    assert frequencies.max() == pytest.approx(together, rel=1e-6)
    swings = np.sort(frequencies)[-3:-1]  # each is a pendulum of 3 m
    assert swings == pytest.approx(np.sqrt(GRAVITY / 3), rel=1e-6)


def test_equilibrium_of_a_weight_on_a_loop_is_the_middle():
    """A block that a rope carries in two strands from two hooks, each with half of its weight."""
    model = ph.Model(gravity=(0, -GRAVITY, 0), dimension=2)
    block = model.add(ph.PointMass(4.0), "block", position=(0.7, -1, 0))
    hooks = [model.ground.at((x, 0, 0)) for x in (0, 2)]
    rope = model.apply(ph.Tendon([hooks[0], block.origin, hooks[1]], 1e5, 3.0))
    rest = model.equilibrium()
    x, y, _ = rest.position(block.origin)
    assert x == pytest.approx(1.0, abs=1e-9)
    sine = -y / np.hypot(x, y)
    assert rest[ph.Tension(rope)] == pytest.approx(4 * GRAVITY / (2 * sine), rel=1e-9)


def test_tendons_along_a_beam_bend_it():
    """Two ends of a tendon at an offset give a beam a constant moment T r: its tip rises by T r L^2 / 2 EI."""
    model = ph.Model(dimension=2)
    section, steel = ph.CircularSection(0.01), ph.Material(210e9, 7850.0)
    rod = model.add(ph.Rod(1.0, section, steel, elements=8), "rod")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), rod.start))
    guides = [rod.point((s, 0.05, 0)) for s in np.linspace(0, 1, 9)]
    tendon = model.apply(ph.Tendon(guides, 1e5, 0.9999))
    rest = model.equilibrium()
    tension = float(rest[ph.Tension(tendon)])
    bending = 210e9 * np.pi * 0.01**4 / 64
    assert rest.position(rod.end)[1] == pytest.approx(tension * 0.05 / (2 * bending), rel=1e-2)


@pytest.mark.parametrize(
    "guides, message",
    [
        (lambda m, b: [m.ground.at((0, 0, 0))], "2 to"),
        (lambda m, b: [m.ground.at((0, 0, 0)), 3.0], "3.0"),
        (lambda m, b: [m.ground.at((0, 0, 0)), m.ground.at((1, 0, 0))], "ground with itself"),
        (lambda m, b: [b.origin, b.point((1, 0, 0))], "with itself"),
    ],
)
def test_wrong_guides_are_refused(guides, message):
    model = ph.Model()
    body = model.add(ph.RigidBody(1.0, (1, 1, 1)))
    refused(ph.ModelError, message, lambda: ph.Tendon(guides(model, body), 1.0))


def test_guides_that_coincide_and_wrong_rest_lengths_are_refused():
    model = ph.Model()
    body = model.add(ph.RigidBody(1.0, (1, 1, 1)))
    tendon = ph.Tendon([model.ground.at((0, 0, 0)), body.origin], 1.0)
    refused(ph.ModelError, "coincide", lambda: model.apply(tendon))
    with pytest.raises(ph.ParameterError, match="positive"):
        ph.Tendon([model.ground.at((1, 0, 0)), body.origin], 1.0, lambda t: -1.0)


def length(t):
    """Rest length of a tendon that is hauled in and paid out."""
    return 3.0 - np.sin(2 * t)


def test_a_drive_of_an_applied_tendon_is_its_rest_length():
    model, rope = free_bodies(path=length)
    other, applied = free_bodies()
    drive = other.apply(applied.drive(length, name="winch"))
    one, two = (each.simulate(1.0, step=2e-3) for each in (model, other))
    assert np.array_equal(one.position(model.bodies[0].origin), two.position(other.bodies[0].origin))
    assert np.array_equal(one[ph.Tension(rope)], two[ph.Tension(applied)])
    assert abs(two.energy.work["winch"][-1]) > 1
    assert np.array_equal(one.energy.work[str(rope)], two.energy.work[str(drive)])
    other.remove(drive)  # the law of the tendon itself is back
    assert other.simulate(0.01, step=2e-3).energy.work == {}


def test_a_motor_sets_the_tension():
    """Atwood with T = 12 N in place of 4/3 g; the motor supplies what both masses gain."""
    model, rope = atwood()
    motor = model.apply(rope.motor(12.0, name="motor"))
    motion = model.simulate(0.5, step=1e-3)
    for name, mass in (("light", 1.0), ("heavy", 2.0)):
        fall = motion.position(model[name].origin)[:, 1] + 3
        assert fall == pytest.approx((12.0 / mass - GRAVITY) * motion.time**2 / 2, abs=1e-10)
    assert motion[ph.Tension(rope)] == pytest.approx(12.0)
    hauled = (12.0 * 1.5 - 2 * GRAVITY) * motion.time[-1] ** 2 / 2
    assert motion.energy.work["motor"][-1] == pytest.approx(12.0 * hauled, rel=1e-9)
    assert energy_error(motion) <= 1e-12
    assert str(motor) == "motor"


def test_a_motor_takes_functions_of_time_controllers_and_new_values():
    def end(value):
        model, rope = free_bodies()
        first = model.bodies[0].origin
        model.apply(rope.motor(value(first), name="motor"))
        return model.simulate(0.2, step=1e-2).position(first)[-1]

    expected = end(lambda first: 5.0)
    assert end(lambda first: lambda t: 5.0) == pytest.approx(expected, abs=1e-12)
    controlled = end(lambda first: ph.Feedback(lambda t, measured: 5.0, measured=[ph.Position(first)]))
    assert controlled == pytest.approx(expected, abs=1e-12)
    model, rope = free_bodies()
    model.apply(rope.motor(1.0, name="motor"))
    live = model.start(step=1e-2)
    live.inputs["motor"] = 5.0
    live.step(20)
    assert live.read(ph.Position(model.bodies[0].origin)) == pytest.approx(expected, abs=1e-12)


def test_a_motor_is_an_input_of_a_linear_model():
    """The velocity of a free mass is F / (i omega m)."""
    model = ph.Model(dimension=2)
    bob = model.add(ph.PointMass(2.0), "bob", position=(0, -3, 0))
    rope = model.apply(ph.Tendon([model.ground.at((0, 0, 0)), bob.origin], 1e3))
    motor = model.apply(rope.motor(0.0, name="pull"))
    linear = model.linearize(inputs=[motor], outputs=[ph.Velocity(bob.origin, (0, 1, 0))])
    assert linear.frequency_response([2.0]).values.ravel() == pytest.approx(1 / (2j * 2.0), rel=1e-9)
    refused(ph.ModelError, "not applied", lambda: model.linearize(inputs=[rope.motor(1.0)]))


def test_winches_are_refused_without_their_tendon_and_twice():
    model, rope = free_bodies()
    with pytest.raises(ph.ModelError, match="not in this model"):
        model.apply(ph.Tendon([model.ground.at((9, 0, 0)), model.bodies[0].origin], 1.0).drive(length))
    model.apply(rope.drive(length))
    refused(ph.ModelError, "already driven", lambda: model.apply(rope.motor(1.0)))
    refused(ph.ParameterError, "positive", lambda: rope.drive(lambda t: -1.0))
    with pytest.raises(ph.ParameterError):
        rope.motor("tight")


def test_copies_and_files_keep_winches(tmp_path):
    for make in (lambda rope: rope.drive(length), lambda rope: rope.motor(lambda t: 2.0 + t)):
        model, rope = free_bodies()
        model.apply(make(rope))
        copy = model.copy()
        motions = [each.simulate(0.2, step=2e-3) for each in (model, copy)]
        assert np.array_equal(
            motions[0].position(model.bodies[0].origin), motions[1].position(copy.bodies[0].origin)
        )
        motions[0].save(tmp_path / "run.h5")
        loaded = ph.Motion.load(tmp_path / "run.h5")
        assert np.array_equal(loaded[ph.Tension(loaded.mechanism.part(str(rope)))], motions[0][ph.Tension(rope)])


def test_pictures_of_winches_are_as_large_as_the_model():
    model, rope = atwood(path=lambda t: 7.0 + 100.0 * t)
    scene = scene_of(model.simulate(0.1, step=1e-2).run, np.arange(2))
    assert scene.paths.size == 0
    assert scene.corners[1][0] < 2.0
    assert sum(symbol.label == str(rope) for symbol in scene.symbols) == 3


def test_what_a_slow_winch_does_is_the_weight_it_lifts():
    """It lifts two masses of 1 kg, each by half of what it hauls in."""
    stretch = GRAVITY / 1e5
    model, rope = atwood(
        1e5, 200.0, path=lambda t: 7.0 - stretch - 0.25 * (t - np.sin(2 * np.pi * t) / (2 * np.pi)), masses=(1, 1)
    )
    motion = model.simulate(1.0, step=1e-3)
    assert motion.energy.work[str(rope)][-1] == pytest.approx(GRAVITY * 0.25, rel=1e-3)
    assert motion.position(model["light"].origin)[-1, 1] == pytest.approx(-3 + 0.125, abs=1e-4)
