"""Derivatives of motions: against differences of whole runs, and against what free motion keeps."""

import numpy as np
import pytest

import phlexible as ph
from derivatives.whole_runs import by_differences
from phlexible.derivatives import gradient as gradients

TIMES = np.linspace(0.0, 1.0, 4)
WHEEL = ph.Signal(TIMES, 20 * np.sin(6 * TIMES))


def crank_slider(p):
    return ph.gallery.crank_slider(**p, elements=2)


def middle_and_slider(model):
    coupler = model["coupler"]
    middle = ph.Displacement(coupler.at(coupler.body.length / 2), (0, 1, 0))
    slid = ph.Cost.final(ph.Position(model["slider"].origin), lambda x: x[:, 0])
    return ph.Cost.integral(middle, lambda y: y**2) + slid


def satellite(p):
    given = {
        "hub_inertia": p["hub inertia"],
        "panel_thickness": p["thickness"],
        "damping_ratio": p["damping ratio"],
    }
    model = ph.gallery.satellite(**given, elements=2)
    model.apply(ph.Torque(model["hub"].origin, lambda t: (0.0 * t, 0.0 * t, p["wheel"](t))))
    return model


def pointing(model):
    rate = ph.Cost.peak(ph.AngularVelocity(model["hub"].origin, (0, 0, 1)), p=8)
    return rate + 0.01 * ph.Cost.final(ph.EnergyOf("strain")) + 1e-4 * model["hub"].body.inertia


def robot_arm(p):
    given = {"rise_time": p["rise time"], "payload": p["payload"], "gains": p["gains"]}
    return ph.gallery.robot_arm(**given, elements=2, sampled=False)


def hand(model):
    height = ph.Cost.integral(ph.Position(model["hand"].origin), lambda x: (x[:, 2] - 0.4) ** 2)
    return height + ph.Cost.final(ph.JointRate(model.joints[-1]))


def crane(p):
    given = {"load_mass": p["load"], "axial_stiffness": p["axial stiffness"], "gravity": p["gravity"]}
    model = ph.gallery.crane(**given, force=1e-9, elements=3)
    model.apply(ph.Force(model["trolley"].origin, lambda t: (p["push"](t), 0.0 * t, 0.0 * t)))
    return model


def swing(model):
    swung = ph.Cost.final(ph.Velocity(model["load"].origin, (1, 0, 0)))
    return ph.Cost.integral(ph.Position(model["load"].origin), lambda x: x[:, 0] ** 2, weight=lambda t: t) + swung


def gear_train(p):
    model = ph.gallery.gear_train(torque=p["torque"])
    arm = model.joints[1]
    model.apply(arm.spring(p["stiffness"], rest=p["rest angle"]))
    model.apply(arm.damper(p["damping"]))
    return model


def sun(model):
    about_z = (0, 0, 1)
    turned = ph.Cost.integral(ph.Angle(model["arm"].origin, about_z), lambda a: a**2)
    return turned + ph.Cost.final(ph.AngularVelocity(model["sun"].origin, about_z))


def thrown(p):
    section = ph.RectangularSection(p.get("width", 0.02), 0.01)
    beam = ph.Beam(1.0, section, ph.Material(2e9, 1000.0, viscosity=p.get("viscosity", 0.0)), elements=2)
    model = ph.Model(gravity=(0.0, 0.0, -p.get("gravity", 0.0)))
    velocity, spin = np.asarray(p["velocity"]), np.asarray(p["spin"])
    placed = model.add(beam, "beam", velocity=velocity, angular_velocity=spin)
    model.apply(ph.SpringDamper(model.ground.at((0, 0, 1)), placed.end, p.get("spring", 0.0), 0.0, 0.9))
    return model


CASES = {
    "crank-slider": (
        crank_slider,
        middle_and_slider,
        {
            "crank_length": 0.15,
            "crank_speed": 150.0,
            "coupler_length": 0.3,
            "diameter": 6e-3,
            "youngs_modulus": 2e11,
            "density": 7870.0,
            "slider_mass": 0.033,
        },
        (2e-3, 5e-5),
    ),
    "satellite": (
        satellite,
        pointing,
        {"hub inertia": 60.0, "thickness": 0.025, "damping ratio": 0.05, "wheel": WHEEL},
        (1.0, 0.05),
    ),
    "robot arm": (robot_arm, hand, {"rise time": 0.3, "payload": 2.0, "gains": 1.0}, (0.05, 2e-3)),
    "string crane": (
        crane,
        swing,
        {"load": 250.0, "axial stiffness": 2e5, "gravity": 9.81, "push": ph.Signal(TIMES, 100 * np.cos(3 * TIMES))},
        (1.0, 0.04),
    ),
    "gear train": (
        gear_train,
        sun,
        {"torque": 0.1, "stiffness": 2.0, "damping": 0.01, "rest angle": 0.1},
        (0.05, 2.5e-3),
    ),
    "thrown beam": (
        thrown,
        lambda model: (
            ph.Cost.integral(ph.Position(model["beam"].end), lambda x: x @ [1.0, 2.0, -1.0])
            + ph.Cost.final(ph.Rotation(model["beam"].end), lambda R: R[:, 1])
        ),
        {"velocity": [1.0, 0.5, 0.0], "spin": [3.0, -2.0, 5.0], "viscosity": 1e-4, "gravity": 9.81, "spring": 10.0},
        (0.2, 0.01),
    ),
}


def flat(gradient):
    return np.concatenate([np.ravel(part) for part in gradient.values()])


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_whole_runs(name):
    build, cost, parameters, (duration, step) = CASES[name]
    value, gradient = ph.gradient(build, cost, parameters, duration=duration, step=step)
    model = build(parameters)
    motion, own = model.simulate(duration, step), cost(model)
    assert value == pytest.approx(own.value(motion.time, [motion[sensor] for sensor in own.sensors]), rel=1e-12)
    expected = by_differences(build, cost, parameters, duration, step)
    assert flat(gradient) == pytest.approx(expected, rel=1e-6)


def test_energy_and_momentum_of_free_motion_say_what_their_derivatives_are():
    """E is kept: its derivative at the end is that at the start, m v to the velocity, I w to the spin, 0 to E."""
    mass, velocity, spin = 0.2, [1.0, 0.5, -0.3], [0.0, 0.0, 40.0]

    def build(p):
        section = ph.RectangularSection(0.02, 0.01)
        beam = ph.Beam(1.0, section, ph.Material(p["modulus"], 1000.0), elements=2, frame="mean_axis")
        model = ph.Model()
        model.add(beam, "beam", velocity=p["velocity"], angular_velocity=p["spin"])
        return model

    parameters = {"velocity": velocity, "spin": spin, "modulus": 2e8}
    options = {"duration": 0.05, "step": 1e-3}
    _, of_energy = ph.gradient(build, lambda model: ph.Cost.final(ph.EnergyOf("total")), parameters, **options)
    # velocity is that of the frame's point, the start of the beam, half a length from its middle
    start_of_middle = np.cross(spin, [0.5, 0.0, 0.0])
    assert of_energy["velocity"] == pytest.approx(mass * (np.array(velocity) + start_of_middle), rel=1e-8)
    assert abs(of_energy["modulus"]) * 2e8 < 1e-8 * build(parameters).simulate(**options).energy.total[0]


def test_samples_of_a_signal_are_differentiated_together_as_one_by_one():
    """As an array they are parameters like others; as a signal two runs of the equations serve many of them."""
    build, cost, parameters, (duration, step) = CASES["satellite"]
    options = {"duration": duration, "step": step}
    signal = {**parameters, "wheel": ph.Signal(np.linspace(0, 1, 9), np.cos(np.linspace(0, 5, 9)))}
    single = {**signal, "wheel": signal["wheel"].values}

    def sampled(p):
        return build({**p, "wheel": signal["wheel"].with_values(p["wheel"])})

    together = ph.gradient(build, cost, signal, **options)[1]["wheel"]
    alone = ph.gradient(sampled, cost, single, **options)[1]["wheel"]
    assert together == pytest.approx(alone, rel=1e-8, abs=1e-10 * np.abs(alone).max())


def linked(p):
    model = ph.gallery.chain(len(p["damping"]))
    stiffness = np.broadcast_to(p["stiffness"], np.shape(p["damping"]))
    for joint, own, damping in zip(model.joints, stiffness, p["damping"], strict=False):
        model.apply(joint.spring(float(own), damping=damping))
    return model


def in_common(p):
    """Dampers of a chain, of which one number is in all of them."""
    return linked({"stiffness": 0.02, "damping": p["damping"] + 0.5 * p["damping"][0]})


def stopped(p):
    """A cart that is on its stop for a few steps alone, with a spring whose force is there."""
    model = ph.Model(dimension=2)
    body = model.add(ph.RigidBody(p["mass"], 0.1), "cart", velocity=(-1.0, 0, 0))
    rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), body.origin, name="rail"))
    model.apply(rail.spring(p["spring"]))
    model.apply(rail.stop(lower=-0.03, stiffness=p["stop"], restitution=1))
    return model


@pytest.mark.parametrize(
    ("build", "parameters", "models"),
    [
        (linked, {"stiffness": 1e-2 * np.arange(1.0, 5.0), "damping": 1e-3 * np.arange(1.0, 5.0)}, 10),
        (linked, {"stiffness": 0.02, "damping": 1e-3 * np.arange(1.0, 6.0)}, 6),
        (in_common, {"damping": 1e-3 * np.arange(1.0, 6.0)}, 11),
        (stopped, {"mass": 1.0, "spring": 0.3, "stop": 1e5}, 5),
    ],
    ids=["chain", "one array", "an array of what others move", "stop"],
)
def test_parameters_that_move_other_numbers_share_models(build, parameters, models):
    """One model each, or three for an array, and one to the other side; the derivatives are those of each alone."""
    built = []

    def cost(model):
        last = model["cart"].origin if build is stopped else model["link 4"].end
        squares = ph.Cost.integral(ph.Position(last), lambda x: x[:, 0] ** 2)
        return squares if build is linked else ph.Cost.final(ph.Position(last), lambda x: x[:, 0])

    def counted(p):
        built.append(p)
        return build(p)

    _, together = ph.gradient(counted, cost, parameters, duration=1.0, step=5e-3)
    assert len(built) == models
    for name, value in parameters.items():
        for k in np.ndindex(np.shape(value)):

            def alone(p, name=name, k=k):
                changed = np.array(parameters[name])
                changed[k] = p["one"]
                return build({**parameters, name: changed})

            _, single = ph.gradient(alone, cost, {"one": np.asarray(value)[k]}, duration=1.0, step=5e-3)
            assert np.asarray(together[name])[k] == pytest.approx(single["one"], rel=1e-7)


@pytest.mark.parametrize(("options", "is_signal"), [({}, True), ({"tolerance": 1e-6}, False)], ids=str)
def test_steps_that_memory_does_not_hold_are_taken_once_more(monkeypatch, options, is_signal):
    """With the same digits; gradients differ by round-off of sums and of differences of readings."""
    build, cost, parameters, (duration, _) = CASES["satellite"]
    signal = {**parameters, "wheel": ph.Signal(np.linspace(0, 1, 9), np.cos(np.linspace(0, 5, 9)))}
    runs, made = {}, gradients.run_from_log

    def kept(*arguments):
        run = made(*arguments)
        runs.setdefault(run.times.tobytes(), []).append(run)
        return run

    monkeypatch.setattr(gradients, "run_from_log", kept)
    given = signal if is_signal else {**signal, "wheel": signal["wheel"].values}

    def whole(p):
        return build({**p, "wheel": p["wheel"] if is_signal else signal["wheel"].with_values(p["wheel"])})

    value, slopes = ph.gradient(whole, cost, given, duration=duration, step=1e-2, memory=3.2e5, **options)
    assert len(runs) > 3
    for first, again in runs.values():
        for own, other in zip(first.stretches, again.stretches, strict=True):
            assert np.array_equal(own.states, other.states)
    expected, alone = ph.gradient(whole, cost, given, duration=duration, step=1e-2, **options)
    assert value == pytest.approx(expected, rel=1e-12)
    for name in alone:
        assert slopes[name] == pytest.approx(alone[name], rel=1e-7, abs=1e-9 * np.abs(alone[name]).max())


def test_long_steps_are_told_as_simulate_tells_them():
    def build(p):
        return ph.gallery.heavy_top(gravity=p["gravity"])

    def cost(model):
        return ph.Cost.final(ph.Position(model.bodies[0].origin), lambda x: x[:, 0])

    with pytest.warns(ph.StepWarning) as simulated:
        build({"gravity": 9.81}).simulate(0.5, 1e-2)
    for memory in (None, 1.3e5):
        with pytest.warns(ph.StepWarning) as told:
            ph.gradient(build, cost, {"gravity": 9.81}, duration=0.5, step=1e-2, memory=memory)
        assert [(str(each.message), each.filename) for each in told] == [
            (str(each.message), __file__) for each in simulated
        ]


def test_memory_for_too_few_steps_is_refused():
    build, cost, parameters, (duration, step) = CASES["satellite"]
    with pytest.raises(ph.ParameterError, match="memory must be at least"):
        ph.gradient(build, cost, parameters, duration=duration, step=step, memory=1e3)


def test_delayed_samples_are_refused():
    build, cost, parameters, (duration, step) = CASES["satellite"]

    def delayed(p):
        return build({**p, "wheel": lambda t: p["wheel"](t - 0.53)})

    with pytest.raises(ph.ParameterError, match="samples of wheel act at other times"):
        signal = ph.Signal(np.linspace(0, 1, 21), np.cos(np.linspace(0, 5, 21)))
        ph.gradient(delayed, cost, {**parameters, "wheel": signal}, duration=duration, step=step)


def pendulum(p):
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    bob = model.add(ph.RigidBody(1.0, 0.1), "bob", position=(p["length"], 0, 0))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bob.point((-p["length"], 0, 0))))
    return model


def height(model):
    return ph.Cost.final(ph.Position(model["bob"].origin), lambda x: x[:, 1])


def refused(build, match, cost=height, error=ph.ModelError, **options):
    with pytest.raises(error, match=match):
        ph.gradient(build, cost, {"length": 1.0}, **{"duration": 0.1, "step": 0.01, **options})


def creeping(p):
    model = pendulum(p)
    model.apply(model.joints[0].spring(3.0, relaxation=ph.Maxwell([(0.5, 0.1)])))
    model.at(ph.When(ph.Displacement(model["bob"].origin, (0, 1, 0)), below=-0.05), lock=model.joints[0])
    return model


def timed(p):
    model = pendulum(p)
    model.at(0.05 * p["length"], lock=model.joints[0])
    return model


def sticking(p):
    model = lawful_event(p)
    model.apply(model.joints[0].friction(0.1, bristle=1e3))
    return model


def crowded(p):
    model = lawful_event(p)
    floor = ph.Plane(model.ground.at((0, -5.0, 0)), (0, 1, 0))
    model.apply(ph.Contact([model["bob"].origin, floor], radius=0.1, stiffness=1e4, friction=0.3))
    return model


def lawful_event(p):
    model = pendulum(p)
    model.apply(ph.StateForce(lambda t, x, v: -v, of=[model.joints[0]], on=[model.joints[0]]))
    model.at(ph.When(ph.Displacement(model["bob"].origin, (0, 1, 0)), below=-0.05), lock=model.joints[0])
    return model


def test_what_cannot_be_differentiated_is_refused_by_name():
    refused(creeping, "is viscoelastic .* together with events that conditions begin")
    refused(
        sticking, "has friction with a bristle .with bristle=0 it does not., and .* events that conditions begin"
    )
    refused(timed, r"length changes a time that is given to model\.at")
    refused(
        crowded, "has friction with a bristle for each pair, and cannot be .* together with events that conditions"
    )
    refused(pendulum, "accelerations", lambda m: ph.Cost.final(ph.Acceleration(m["bob"].origin)))
    refused(pendulum, "forces of joints", lambda m: ph.Cost.final(ph.Reaction(m.joints[0]), lambda r: r[:, 0]))
    refused(pendulum, "no function of the state", lambda m: ph.Cost.final(ph.EnergyOf("supplied")))
    refused(
        lambda p: ph.gallery.chain(3 if p["length"] > 1.0 else 2),
        "the model has a body .link 3. once length changes",
        lambda m: chained(m),
    )
    refused(lawful_event, "a condition that ends a step .* and StateForce", duration=0.5)
    refused(lambda p: None, "must return a ph.Model", error=ph.ParameterError)
    refused(lambda *, length: None, r"as one dict, by name: build=lambda p: .*\(\*\*p\)", error=ph.ParameterError)
    refused(pendulum, "returns a ph.Cost", lambda m: 1.0, ph.ParameterError)
    refused(
        pendulum, "one number an instant", lambda m: ph.Cost.final(ph.Position(m["bob"].origin)), ph.ParameterError
    )


def chained(model):
    return ph.Cost.final(ph.Position(model["link 1"].end), lambda x: x[:, 0])


def test_equations_that_jump_with_a_parameter_are_refused():
    def kinked(p):
        model = pendulum({"length": 1.0})
        model.apply(ph.Force(model["bob"].origin, (abs(p["length"] - 1.0), 0, 0)))
        return model

    def rubbed(p):
        model = kinked(p)
        model.apply(model.joints[0].friction(0.5 * p["length"], bristle=1e3))
        return model

    refused(kinked, "no smooth function of length")
    refused(rubbed, "no smooth function of length", duration=1.5)


def test_optimisers_take_the_cost_as_a_function_of_one_array():
    build, cost, parameters, (duration, step) = CASES["satellite"]
    objective = ph.Objective(build, cost, parameters, duration=duration, step=step)
    value, slopes = objective(objective.start)
    expected, named = ph.gradient(build, cost, parameters, duration=duration, step=step)
    assert value == expected
    assert slopes == pytest.approx(flat(named), rel=1e-14)
    assert objective.parameters(objective.start)["wheel"].values == pytest.approx(parameters["wheel"].values)


def test_a_start_may_be_a_function_of_the_model():
    """A cantilever that rests in its equilibrium: its tip is rho A g L^4 / 8 E I below, for ever."""

    def build(p):
        section, material = ph.RectangularSection(0.02, p["height"]), ph.Material(p["modulus"], 1000.0)
        model = ph.Model(gravity=(0, 0, -10.0))
        beam = model.add(ph.Beam(1.0, section, material, 4, strain="linear"), "beam")
        model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
        return model

    def sag(model):
        return ph.Cost.final(ph.Position(model["beam"].end), lambda x: x[:, 2])

    options = {"duration": 0.2, "step": 0.01, "initial": lambda model: model.equilibrium()}
    value, slopes = ph.gradient(build, sag, {"height": 0.02, "modulus": 2e9}, **options)
    depth = 1000.0 * 10.0 * 12 / (8 * 2e9 * 0.02**2)
    assert value == pytest.approx(-depth, rel=1e-6)
    assert slopes["modulus"] == pytest.approx(depth / 2e9, rel=1e-5)
    assert slopes["height"] == pytest.approx(2 * depth / 0.02, rel=1e-5)


def test_a_plate_whose_shapes_are_symmetric():
    """Largest components of its shapes have both signs: what chose one of them by round-off gave other shapes."""

    def build(p):
        model = ph.Model(gravity=(0.0, 0.0, -9.81))
        material = ph.Material(p["modulus"], 2700.0, poissons_ratio=0.3)
        interfaces = {"start": "rigid", "end": "average"}
        plate = ph.Plate(0.3, 0.2, 1e-3, material, elements=(4, 2), interfaces=interfaces, modes=2)
        placed = model.add(plate, "plate")
        model.connect(ph.Fixed(model.ground.at((0, 0, 0)), placed["start"]))
        return model

    def cost(model):
        return ph.Cost.final(ph.Displacement(model["plate"]["end"], (0, 0, 1)))

    options = {"duration": 0.01, "step": 1e-3}
    value, slopes = ph.gradient(build, cost, {"modulus": 7e10}, **options)
    ends = [ph.gradient(build, cost, {"modulus": 7e10 * (1 + sign * 1e-4)}, **options)[0] for sign in (1, -1)]
    assert slopes["modulus"] == pytest.approx((ends[0] - ends[1]) / 1.4e7, rel=1e-6) and abs(value) > 1e-5
