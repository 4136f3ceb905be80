"""What looks like a mistake is named: degrees, GPa, a body that nothing holds. What is only unusual is not."""

import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.algebra.rotations import rotations_about_z
from phlexible.pictures.animation import speed_text
from phlexible.pictures.panels import default_panels
from refusals import refused


def test_degrees_and_gigapascals_are_asked_about():
    with pytest.warns(ph.UnitWarning, match=r"radians: .*np.radians\(90\)"):
        ph.Model(dimension=2).add(ph.RigidBody(1.0, 1.0), "body", rotation=90)
    with pytest.warns(ph.UnitWarning, match="youngs_modulus = 210 Pa at 7870 kg/m3"):
        ph.Material(210, 7870.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ph.Model(dimension=2).add(ph.RigidBody(1.0, 1.0), "body", rotation=-2 * np.pi)
        ph.Material(2.1e5, 1e-9)  # almost without mass
        ph.Material(1.0, 1.0)
        ph.Material(2e4, 1000.0)  # a gel


def hinged(gravity=(0, 0, -9.81), dimension=3, center=(0.5, 0, 0), **options):
    model = ph.Model(gravity=gravity, dimension=dimension)
    body = model.add(ph.RigidBody(1.0, 0.1 if dimension == 2 else (0.1, 0.2, 0.2), center=center), "body")
    return model, body, model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.origin, **options))


def rubbing(bristle=None, friction=0.3):
    model = ph.Model(gravity=(0, 0, -9.81))
    ball = model.add(ph.RigidBody.sphere(0.1, 1000.0), position=(0, 0, 0.1))
    ph.Contact(ball, ph.Plane(model.ground.at((0, 0, 0))), friction=friction, bristle=bristle)


def planar():
    return hinged(gravity=(0, -9.81, 0), dimension=2)[2]


def moving(rotation, dimension=2):
    return ph.Model(dimension=dimension).ground.moving(lambda t: (t, 0, 0), rotation)


ROBOT = Path(__file__).parents[1] / "tools" / "ur5.urdf"
STEEL, ROUND = ph.Material(2.1e11, 7850.0), ph.CircularSection(0.01)
MISTAKES = {
    "g/cm3": (lambda: ph.Material(2.1e11, 7.85), "7850 kg/m3"),
    "t/mm3": (
        lambda: ph.Material(2.1e5, 7.85e-9),
        r"in t/mm3\? Then it is 7850 kg/m3; a modulus in MPa is 2.1e\+11",
    ),
    "t/mm3 alone": (lambda: ph.Material(2.1e11, 7.85e-9), "7850 kg/m3"),
    "kg/mm3": (lambda: ph.Material(2.1e11, 7.85e-6), r"in kg/mm3\? Then it is 7850 kg/m3"),
    "MPa": (lambda: ph.Material(2.1e5, 7850.0), "MPa or GPa"),
    "MPa of aluminium": (lambda: ph.Material(7e4, 2700.0), "MPa or GPa"),
    "g/cm3 of a layer": (lambda: ph.OrthotropicMaterial(1.4e11, 1e10, 5e9, 0.3, 1.6), "1600 kg/m3"),
    "GPa of a layer": (lambda: ph.OrthotropicMaterial(140, 10, 5, 0.3, 1600.0), "MPa or GPa"),
    "g/cm3 of a rigid body": (lambda: ph.RigidBody.sphere(0.1, 7.85), "g/cm3"),
    "percent": (lambda: ph.Beam(1.0, ROUND, STEEL, damping_ratio=2), "damping_ratio=0.02"),
    "damping of parts": (
        lambda: ph.Beam(1.0, ROUND, STEEL, damping_ratio=0.02).split(8),
        "of each of the 8 parts.*viscosity",
        ph.DampingWarning,
    ),
    "Pa s": (lambda: ph.Material(2.1e11, 7850.0, viscosity=2e3), "a time in s"),
    "bristle": (lambda: rubbing(1e-5), "a stiffness along the surface"),
    "friction in percent": (lambda: rubbing(friction=30), "in percent"),
    "constant servo": (lambda: planar().servo(1.0, 1.0, angle=lambda t: 45.0), r"np.radians\(45\)"),
    "position of a robot": (
        lambda: ph.from_urdf(ROBOT, positions={"elbow_joint": 90}, stop_stiffness=0),
        r"np.radians\(90\)",
    ),
    "drive": (lambda: planar().drive(angle=lambda t: 90 * t), r"np.radians\(90\)"),
    "harmonic drive": (lambda: planar().drive(angle=lambda t: 90 * np.sin(np.pi * t)), "amplitude"),
    "harmonic servo": (lambda: planar().servo(1.0, 1.0, angle=lambda t: 30 - 30 * np.cos(t / 3)), "= 30"),
    "spring": (lambda: planar().spring(1.0, rest=-90), "rest angle of a spring"),
    "servo": (lambda: planar().servo(1.0, 1.0, angle=-45), r"np.radians\(-45\)"),
    "stop": (lambda: planar().stop(stiffness=1.0, upper=90.0), "upper end of a stop"),
    "moving frame": (lambda: moving(lambda t: 360 * t), r"np.radians\(360\)"),
    "harmonic frame": (lambda: moving(lambda t: 45 * np.sin(t)), "amplitude of rotation of moving"),
    "gravity": (lambda: ph.Model(gravity=(0, -9810, 0), dimension=2), "is it in mm/s2"),
    "millimetres": (lambda: ph.Beam(1000, ph.RectangularSection(20, 10), STEEL), "millimetres"),
    "rod": (lambda: ph.Rod(200, ph.CircularSection(5), STEEL), "millimetres"),
    "axis": (lambda: hinged(), "default axis", ph.DirectionWarning),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_likely_mistake_is_named_once_at_the_line_that_makes_it(case):
    make, text, category = (*MISTAKES[case], ph.UnitWarning)[:3]
    with pytest.warns(category, match=text) as given:
        make()
    assert len(given) == 1 and given[0].filename == __file__


def test_what_is_only_unusual_is_not_named():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (
            ph.Material(1e5, 1000.0, viscosity=1.0),
            ph.Material(1e5, 30.0),
            ph.Material(1e7, 3.0),
        )  # rubber, foam, aerogel
        ph.Material(1e6, 3000.0), ph.Material(2e14, 7800.0), ph.Material(2.1e11, 1e-6), ph.Material(2.0, 3.0)
        ph.Material(1e7, 20.0)  # a foam
        ph.RigidBody.sphere(1.0, 1.0)
        ph.Beam(1.0, ROUND, STEEL, damping_ratio=0.7)
        rubbing(10.0), rubbing(friction=2.0), planar().servo(1.0, 1.0, angle=lambda t: 1.5)
        planar().servo(1.0, 1.0, angle=lambda t: 90.0 * (t > 0.5))
        hinge = planar()
        hinge.drive(angle=lambda t: 150 * t), hinge.drive(angle=lambda t: 0 * t), hinge.drive(angle=np.sin)
        hinge.drive(angle=lambda t: 100 * np.pi * t), hinge.servo(1.0, 1.0, angle=-np.pi)
        hinge.drive(angle=lambda t: 10 * np.pi * (1 - np.cos(t))), hinge.drive(angle=lambda t: 90 - 90 * np.exp(-t))
        hinge.servo(1.0, 1.0, angle=lambda t: 50 * t**2), hinge.servo(1.0, 1.0, angle=ph.Signal([0, 0.5], [0, 1.0]))
        hinge.spring(1.0, rest=2 * np.pi), hinge.stop(stiffness=1.0, lower=-6.0, upper=2 * np.pi)
        moving(np.cos), moving(lambda t: 100 * np.pi * t), moving(lambda t: Rotation.from_euler("z", 90 * t), 3)
        moving(lambda t: rotations_about_z(np.array([90.0 * t]))[0], 3)
        ph.Beam(40.0, ph.RectangularSection(10.0, 2.0), ph.Material(35e9, 2500.0, 0.2))  # a bridge of concrete
        ph.Model(gravity=(0, 0, -98100)), ph.Beam(2000.0, ph.CircularSection(0.2), STEEL)
        hinged(axis=(0, 0, 1)), hinged(gravity=(0, 0, 0)), hinged(center=(0, 0, 0.3)), hinged(gravity=(0, -9.81, 0))


def test_a_load_that_is_not_applied_is_named_and_checks_say_so():
    model, body, _ = hinged(gravity=(0, 0, 0))
    ph.Force(body.point((1, 0, 0)), (0, 1.0, 0))  # the direction of an input
    used = ph.Force(body.point((1, 0, 0)), (0, 3.0, 0))
    model.linearize([used])
    assert model.simulate(0.01, 1e-3, progress=False).check().is_clean
    ph.Force(body.point((1, 0, 0)), (0, 3.0, 0))
    with pytest.warns(ph.UnusedPartWarning, match="force on body") as given:
        motion = model.simulate(0.01, 1e-3, progress=False)
    assert motion.check().findings == (str(given[0].message),)
    assert given[0].filename == __file__ and len(given) == 1


def forgotten(size=2.0, model=None):
    """A hinged body whose two hinges are one too many, and a force that is not applied."""
    model, body, _ = hinged(gravity=(0, 0, 0), dimension=2)
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.origin))
    ph.Force(body.point((1, 0, 0)), (0, size, 0))
    return model


def run_alone():
    return forgotten().simulate(0.01, 1e-3, progress=False)


def run_live():
    run = forgotten().start(1e-3)
    run.step(3)
    return pickle.loads(pickle.dumps(run)).motion


def run_batch():
    runs = ph.batch(forgotten, {"size": [2.0, 3.0]}).simulate(0.01, 1e-3, angular_speeds, progress=False, threads=2)
    assert all(text.startswith("UnusedPartWarning: force") for text in (runs.warnings[k][0] for k in (0, 1)))


def run_live_batch():
    ph.batch(forgotten, {"size": [2.0, 3.0]}).start(1e-3).step(3)


def run_study():
    ph.study(forgotten, {"size": [2.0, 3.0]}, lambda model: model.simulate(1e-3, 1e-3).time, executor=1)


def angular_speeds(model):
    return {"speed": ph.AngularVelocity(model["body"].origin)}


@pytest.mark.parametrize("run", [run_alone, run_live, run_batch, run_live_batch, run_study])
def test_one_list_of_warnings_is_given_once_by_runs_of_each_kind(run):
    with pytest.warns() as given:
        motion = run()
    categories = [each.category for each in given]
    assert categories == [ph.UnusedPartWarning, ph.RedundancyWarning] and {w.filename for w in given} == {__file__}
    if motion is not None:
        texts = tuple(str(each.message) for each in given)
        assert motion.check().findings == pickle.loads(pickle.dumps(motion)).check().findings == texts
    else:
        assert all(str(each.message).startswith("2 of 2 runs, first number 0: ") for each in given)


def test_a_lock_of_a_joint_that_was_released_is_refused():
    for is_timed in (True, False):
        model, body, hinge = hinged(axis=(0, 1, 0))
        model.at(0.05, lock=hinge), model.at(0.1, release=hinge)
        later = 0.2 if is_timed else ph.When(ph.Displacement(body.origin, (0, 0, 1)), below=-0.01)
        with pytest.raises(ph.ModelError, match="released at t = 0.1 s" if is_timed else "released before"):
            model.at(later, lock=hinge)
            model.simulate(0.3, 1e-2, progress=False)


def thrown_through(speed, step, thickness=2e-3):
    model = ph.Model()
    ball = model.add(ph.RigidBody.sphere(0.01, 7800.0), "ball", position=(0, 0, 0.55), velocity=(0, 0, -speed))
    plate = model.add(ph.RigidBody.box((1, 1, thickness), 7800.0), "plate", position=(0, 0, -thickness / 2))
    model.connect(ph.Fixed(model.ground.at((0, 0, -thickness / 2)), plate.origin))
    model.apply(ph.Contact(ball, plate, stiffness=1e7))
    return model.simulate(0.012, step, progress=False)


def test_what_flies_through_a_thin_body_is_named():
    with pytest.warns(ph.StepWarning, match="ball.*passes through plate.*both together are 0.022 m thick") as given:
        motion = thrown_through(100.0, 1e-3)
    assert motion.velocity(motion["ball"].origin)[-1, 2] == -100.0 and len(given) == 1
    assert str(given[0].message) in motion.check().findings
    assert thrown_through(100.0, 1e-4).check().is_clean
    assert thrown_through(100.0, 1e-3, thickness=0.2).check().is_clean


def test_a_plate_that_sags_beyond_its_strain_is_named():
    model = ph.Model(gravity=(0, 0, -9.81))
    rubber = ph.Material(2e7, 1000.0)
    body = ph.Plate(1.0, 1.0, 1e-3, rubber, (2, 2), interfaces={"boundary": "rigid"}, strain="linear")
    port = model.add(body, "plate")["boundary"]
    model.connect(ph.Fixed(model.ground.at(port.initial_position()), port))
    with pytest.warns(ph.LargeDeflectionWarning, match="plate.*of its size in its frame"):
        model.simulate(0.5, 1e-2, progress=False)
    for at_rest in (model.equilibrium, lambda: model.linearize(at="static")):
        with pytest.warns(ph.LargeDeflectionWarning, match="plate.*of its size in its frame") as given:
            at_rest()
        assert len(given) == 1


def test_a_beam_that_sags_by_its_length_at_rest_is_named():
    """Its own equations give w L^4 / (8 EI), 0.74 of the length; the elastica hangs by 0.55 of it."""
    model = ph.Model(gravity=(0, 0, -9.81))
    beam = model.add(ph.Beam(1.0, ph.CircularSection(4e-3), ph.Material(2e9, 1200.0)), "beam")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
    for at_rest in (model.equilibrium, lambda: model.linearize(at="static")):
        with pytest.warns(ph.LargeDeflectionWarning, match="beam bends further.*deflection up to 0.74") as given:
            at_rest()
        assert len(given) == 1


def fallen(hold, gravity=(0, -9.81, 0), velocity=None):
    model = ph.Model(gravity=gravity, dimension=2)
    boxes = [model.add(ph.RigidBody(1.0, 1.0), f"box {k}", position=(k, 0, 0), velocity=velocity) for k in (1, 2)]
    hold(model, *boxes)
    return model.simulate(0.01, 1e-3, progress=False).check()


def test_bodies_that_nothing_holds_are_named():
    def hinge(model, one, two):
        model.connect(ph.Revolute(one.origin, two.point((-1, 0, 0))))

    def hung(model, one, two):
        hinge(model, one, two)
        model.apply(ph.SpringDamper(model.ground.at((0, 1, 0)), one.origin, 10.0, 1.0))

    def pushed(model, one, two):
        hinge(model, one, two)
        model.apply(ph.Force(two.origin, (0, 19.0, 0)))

    assert any("nothing holds box 1, box 2:" in text for text in fallen(hinge).findings)
    alone = fallen(lambda model, one, two: model.connect(ph.Fixed(model.ground.at((1, 0, 0)), one.origin)))
    assert any("nothing holds box 2:" in text for text in alone.findings)
    falling = fallen(hinge, gravity=(0, 0, 0)), fallen(hinge, velocity=(1, 5, 0))
    for quiet in (fallen(hung), fallen(pushed), *falling):
        assert not any("nothing holds" in text for text in quiet.findings)


def test_pictures_take_the_names_of_joints_and_films_say_how_fast_they_are():
    model, *_ = hinged((0, -9.81, 0), 2, name="elbow")
    motion = model.simulate(0.1, 1e-3, progress=False)
    panels = {panel.label: panel for panel in default_panels(motion.run, [], most=9)}
    assert [name for name, _ in panels["angle of joints [rad]"].curves] == ["elbow"]
    words = [speed_text(speed) for speed in (1.0, 0.1, 2.5)]
    assert words == ["real time", "10 times slower", "2.5 times as fast"]


def test_a_driven_arm_at_rest_says_what_holds_it():
    """m g l/2 cos(angle) of a rod that leans by its drive; and it has all sensors."""
    model, arm, elbow = hinged((0, -9.81, 0), 2, name="elbow")
    model.apply(elbow.drive(angle=lambda t: 0.0))
    rest = model.equilibrium()
    assert rest.required(elbow) == pytest.approx(9.81 * 0.5, rel=1e-12) and rest.required(elbow).shape == ()
    assert rest[ph.Acceleration(arm.point((0.3, 0, 0)), (0, 1, 0))] == 0.0
    assert rest.elastic_coordinates(arm).shape == (0,)


def test_a_place_on_a_body_by_three_numbers_is_told_its_method():
    hub = ph.Model().add(ph.RigidBody(1.0, (0.1, 0.1, 0.1)), "hub")
    text = r"distance along this body, got .*; body.point\(\(0.5, 0, 0\)\) is a place"
    refused(ph.ParameterError, text, lambda: hub.at((0.5, 0, 0)))


def on_floor(height, load):
    model = ph.Model(gravity=(0, 0, -9.81))
    ball = model.add(ph.RigidBody.sphere(0.1, 500.0), "ball", position=(0, 0, 0.1 + height))
    model.apply(ph.Contact(ball, ph.Plane(model.ground.at((0, 0, 0)))))
    model.apply(ph.Force(ball.origin, (0, 0, -load)))
    return model


def at_stop(torque):
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    arm = model.add(ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0)), "arm")
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.origin))
    model.apply(hinge.stop(lower=-0.5, upper=0.5))
    model.apply(hinge.torque(torque))
    return model


@pytest.mark.parametrize(
    ("loaded", "usual"), [(on_floor(0.0, 3e4), on_floor(1.0, 20.0)), (at_stop(2e4), at_stop(0.0))]
)
def test_guessed_stiffness_that_gives_way(loaded, usual):
    with pytest.warns(ph.LargeDeflectionWarning, match=r"guessed.* gives way by .* times as far"):
        loaded.simulate(0.2, 1e-3)
    with pytest.warns(ph.LargeDeflectionWarning, match="give the stiffness= of what is pressed there"):
        loaded.equilibrium()
    assert usual.simulate(0.6, 1e-3).check().is_clean
