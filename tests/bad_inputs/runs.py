"""What models and motions are asked."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

import phlexible as ph
from bad_inputs.outcomes import NAMED, Call, call_of, calling
from bad_inputs.usual import COUNT, EMPTY, END, FILE, FINITE, FLAG, NON_NEGATIVE, NONE, POINT, REFUSED, ZERO, usual
from bad_inputs.wrong_values import FUNCTIONS, ROD, ROPE, Hinged
from mechanisms import grounded

BODY = frozenset({"body"})
PARTS = frozenset({"attachment", "ground", "frame", "foreign attachment", "foreign ground", "foreign frame"})
BODIES = frozenset({"body", "rope", "split", "foreign body", "foreign rope", "foreign split"})
TURNED = (PARTS | BODIES) - {"rope", "foreign rope"}
FORCES = frozenset({"element", "drive", "foreign element", "foreign drive"})


RUN_BY_RUN = frozenset({"a class", "f raises", "f -> nothing", "f -> '1'", "f -> 1j", "f -> {}", "f -> nan"})
RUN_BY_RUN |= {"f -> True", "f -> 1.0", "f -> object()", "f -> (0, 0)", "f -> (0, 0, 0)", "f -> ('0', 0, 0)"}
RUN_BY_RUN |= {"f -> (1j, 0, 0)", "f -> 3 x 3"}  # what fails is recorded as a failure


class Runnable:
    """A beam on a driven pin with a rope at its end, for short runs."""

    def __init__(self):
        self.model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
        self.body = self.model.add(ROD, "beam")
        self.rope = self.model.add(ROPE, "rope", position=(1.0, 0.0, 0.0))
        self.attachment = self.body.end
        self.ground = self.model.ground.at((0.0, 0.0, 0.0))
        self.joint = self.model.connect(ph.Revolute(self.ground, self.body.start))
        self.model.connect(ph.Spherical(self.body.end, self.rope.start))
        self.element = self.model.apply(self.joint.spring(1.0))
        self.drive = self.model.apply(self.joint.drive(angle=lambda t: 0.0 * t))
        self.load = self.model.apply(ph.Force(self.body.end, (0.0, 1.0, 0.0)))


@cache
def runnable():
    return Runnable()


@cache
def flying():
    model = ph.Model(dimension=2)
    model.add(ph.PointMass(1.0), "ball", velocity=(1.0, 0.0, 0.0))
    return model


@cache
def hanging():
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    model.connect(ph.Fixed(model.ground.at((0.0, 0.0, 0.0)), model.add(ROD, "beam").start))
    return model


@cache
def motion():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return runnable().model.simulate(2e-4, 1e-4, progress=False)


@cache
def linear():
    model, beam, _ = grounded(ROD, dimension=2, name="beam")
    return model.linearize(inputs=[ph.Force(beam.end, (0, 1, 0))])


@cache
def swung():
    own = Hinged()
    return own.model.linearize(inputs=[own.joint], outputs=[ph.JointAcceleration(own.joint)])


@cache
def turned():
    own = Hinged()
    own.model.apply(own.joint.torque(0.0, name="motor"))
    paths = {ph.JointPosition(own.joint): smooth_turn}
    return dict(model=own.model, paths=paths, inputs=["motor"], duration=1.0, step=0.05)


@cache
def studied():
    return ph.study(lambda x: x, dict(x=[1.0]), lambda x: dict(twice=2 * x), progress=False)


def smooth_turn(t):
    return t**5 * (126 - 420 * t + 540 * t**2 - 315 * t**3 + 70 * t**4)


def public(function, good=lambda s: {}, names=None, /, **takes):
    return calling(function, good, names, make_stage=runnable, **takes)


def of(label, function, good, names=None, /, **takes):
    return call_of(label, function, good, names, takes, runnable)


def served(port):
    """A live view of the motion; ports that a server could have are not tried."""
    is_right = type(port) is int and port in (0, 1)
    return motion().live(port=70_000 if is_right else port, frames=2)


def asked(name, good, names=None, /, ends="(?!)", **takes):
    """A method of the motion; ``good`` maps the model to its arguments."""
    return call_of(f"motion.{name}", lambda s: getattr(motion(), name), good, names, takes, runnable, ends=ends)


def at_end(s):
    return dict(attachment=s.attachment)


RUNS = [
    of(
        "simulate",
        lambda s: flying().simulate,
        lambda s: dict(duration=1.0, step=0.5, progress=False),
        ("duration step initial order every numerical_damping tolerance output_step output overwrite progress"),
        of=REFUSED,
    ),
    Call(
        "simulate of nothing",
        lambda s: ph.Model().simulate,
        lambda s: dict(duration=1.0, step=0.5, progress=False),
        usual("specialize"),
        runnable,
        ends="the model has no bodies",  # of which a program would be compiled
    ),
    Call(
        "resume",
        lambda s: s.model.resume,
        lambda s: dict(path="there_is_no_such_file.h5", duration=1.0, step=0.5, progress=False),
        usual("path duration step order every numerical_damping tolerance progress"),
        runnable,
        ends="there is no file .*there_is_no_such_file.h5",
    ),
    of(
        "linearize",
        lambda s: s.model.linearize,
        lambda s: dict(at="unloaded"),
        inputs=EMPTY,
        outputs=EMPTY | NONE,
        stress=NONE,
    ),
    of("start", lambda s: flying().start, lambda s: dict(step=0.5)),
    of("equilibrium", lambda s: hanging().equilibrium, lambda s: {}, time=FINITE | NONE),
    of("assemble", lambda s: s.model.assemble, lambda s: {}),
    asked("position", at_end, attachment=POINT),
    asked("velocity", at_end, attachment=POINT),
    asked("rotation", lambda s: dict(target=s.body)),
    asked("angular_velocity", lambda s: dict(target=s.body)),
    asked("elastic_displacement", at_end, attachment=END),
    asked("elastic_coordinates", lambda s: dict(body=s.body), body=BODY | END),
    asked("tension", lambda s: dict(string=s.rope)),
    asked("stretch", lambda s: dict(string=s.rope)),
    asked("reaction", lambda s: dict(joint=s.joint)),
    asked("reaction_moment", lambda s: dict(joint=s.joint)),
    asked("element_force", lambda s: dict(element=s.drive), element=frozenset({"element", "drive"})),
    asked("required", lambda s: dict(joint=s.drive.joint)),
    asked("angle", lambda s: dict(joint=s.joint)),
    asked("translation", lambda s: dict(joint=s.joint), joint=REFUSED),
    asked("translation_rate", lambda s: dict(joint=s.joint), joint=REFUSED),
    asked("rate", lambda s: dict(joint=s.joint)),
    asked("section_forces", lambda s: dict(body=s.body), body=BODY, x=NONE | NON_NEGATIVE),
    asked("stress", lambda s: dict(body=s.body), body=BODY, x=NONE | NON_NEGATIVE),
    of("run_error", lambda s: lambda sensors: motion().run_error(sensors), lambda s: {}, sensors=REFUSED),
    asked("long_steps", lambda s: {}),
    asked("at", lambda s: dict(time=0.0)),
    asked("to_dataframe", lambda s: dict(sensors=[ph.Position(s.attachment)])),
    asked("to_csv", lambda s: dict(path="x", sensors=[ph.Position(s.attachment)]), path=FILE),
    public(ph.Position),
    public(ph.ElasticDisplacement, lambda s: dict(attachment=s.body.end), direction=NONE | {"(1, 2, 3)"}),
    *(public(kind, target=TURNED) for kind in (ph.Rotation, ph.Quaternion)),
    *(public(kind, lambda s: dict(joint=s.joint)) for kind in (ph.Reaction, ph.ReactionMoment)),
    public(ph.ElementForce, element=FORCES),
    *(public(k, lambda s: dict(body=s.body, x=0.5), body=BODIES, x=FINITE) for k in (ph.SectionForce, ph.Stress)),
    public(ph.Tension, string=frozenset({"rope", "foreign rope"})),
    public(ph.EnergyOf),
    asked("save", lambda s: {}, path=FILE),
    of("Motion.load", lambda s: ph.Motion.load, lambda s: {}),
    Call("motion[...]", lambda s: lambda name: motion()[name], lambda s: {}, usual(name=REFUSED), runnable, NAMED),
    asked("plot", lambda s: {}, path=FILE | NONE),
    asked("plot_energy", lambda s: {}, path=FILE | NONE, axes=NONE),
    asked("plot_elastic_displacement", at_end, attachment=END, path=FILE | NONE, axes=NONE),
    asked("plot_reaction", lambda s: dict(joint=s.joint), "joint", axes=NONE),
    asked("report", lambda s: dict(path="run.html"), ends="ziglang is needed to link a model for wasm32"),
    asked("show", lambda s: {}, height=COUNT),
    of("motion.live", lambda s: served, lambda s: {}, "", port=REFUSED),
    asked("live", lambda s: dict(port=70_000), "frames", ends="port must be at most 65535"),
    of("plot", lambda s: s.model.plot, lambda s: {}, path=FILE | NONE, axes=NONE, frames=FLAG),
    asked("plot_section_forces", lambda s: dict(body=s.body), body=BODY, path=FILE | NONE),
    asked("plot_mechanism", lambda s: {}, "times", path=FILE | NONE, scale=FINITE),
    asked(
        "animate",
        lambda s: dict(path="film.txt"),
        ends="path must end in .mp4 or .gif, got 'film.txt'",
        scale=FINITE,
        progress=NONE
        | frozenset({"a class", "f raises", *(label for label in FUNCTIONS if label.startswith("f ->"))}),
    ),
    *(
        public(
            kind,
            lambda s: dict(attachment=ph.Model().add(ph.RigidBody(1.0, (1.0, 1.0, 1.0)), "in space").origin),
            direction=NONE | {"(1, 2, 3)"},
        )
        for kind in (
            ph.Displacement,
            ph.Velocity,
            ph.Acceleration,
            ph.Angle,
            ph.AngularVelocity,
            ph.AngularAcceleration,
        )
    ),
    *(
        public(kind, lambda s: dict(joint=s.joint))
        for kind in (ph.JointForce, ph.JointPosition, ph.JointRate, ph.JointAcceleration)
    ),
    of("linear.modes", lambda s: linear().modes, lambda s: {}),
    of("frequency_response", lambda s: linear().frequency_response, lambda s: dict(frequencies=(1,)), inputs=NONE),
    of(
        "linear.reduce",
        lambda s: linear().reduce,
        lambda s: dict(order=2),
        frequencies=NONE | NON_NEGATIVE | {"(1, 2)", "(1, 2, 3)"},
        inputs=NONE,
    ),
    of("linear.to_state_space", lambda s: linear().to_state_space, lambda s: {}),
    public(
        ph.inverse_input,
        lambda s: dict(model=swung(), path=smooth_turn, duration=1.0, step=0.02),
        path=frozenset({"f -> 1.0"}),
        duration=COUNT,
        step=REFUSED,
        accuracy=ZERO,
    ),
    public(ph.inverse_dynamics, lambda s: turned(), inputs=REFUSED, step=REFUSED),
    of("linear.body_model", lambda s: linear().body_model, lambda s: {}),
    of("linear.save_mat", lambda s: linear().save_mat, lambda s: {}, "path"),
    of("linear.save_mat of", lambda s: linear().save_mat, lambda s: dict(path="linear.mat"), "accelerations"),
    *(
        Call(
            f"linear.{name}",
            lambda s, name=name: getattr(linear(), name),
            lambda s, name=name: dict(x=np.zeros(linear().state_size)) if name == "output_coordinates" else {},
            usual(name=REFUSED),
            runnable,
            NAMED,
        )
        for name in ("port", "port_slice", "state_slice", "output_coordinates")
    ),
    public(ph.check_structure, lambda s: dict(model=linear(), x=np.zeros(linear().state_size)), x=REFUSED),
    public(
        ph.integrate,
        lambda s: dict(model=linear(), x0=np.zeros(linear().state_size), inputs=None, duration=0.5, step=0.5),
    ),
    public(ph.consistent_state, lambda s: dict(model=linear(), x=np.zeros(linear().state_size)), x=REFUSED),
    public(ph.MechanismModel, lambda s: dict(mechanism=ph.gallery.heavy_top())),
    of("linear.with_ports", lambda s: linear().with_ports, lambda s: {}),
    public(ph.inverted, lambda s: dict(model=linear(), port="x"), port=REFUSED),
    public(ph.linearized, lambda s: dict(form=ROD.port_hamiltonian())),
    public(ph.with_momenta, lambda s: dict(form=ph.PointMass(1.0).port_hamiltonian())),
    public(ph.with_prefix, lambda s: dict(model=linear(), prefix="a")),
    *(
        public(
            join,
            lambda s, other=other: dict(
                a=ph.with_prefix(linear(), "a"),
                b=ph.with_prefix(other(linear()), "b"),
                coupling=np.eye(1),
                ports=tuple(f"{each}.{linear().ports[0].name}" for each in "ab"),
            ),
        )
        for join, other in (
            (ph.gyrator, lambda model: ph.inverted(model, model.ports[0].name)),
            (ph.transformer, lambda model: model),
        )
    ),
    public(ph.mode_sweep, lambda s: dict(build=lambda x: s.model, values=[1.0], count=1, at="unloaded")),
    public(
        ph.study,
        lambda s: dict(
            build=lambda length: 1.0,
            parameters=dict(length=[1.0]),
            measure=lambda model: model,
            executor=ThreadPoolExecutor(1),
        ),
        build=frozenset({"a class"}),
    ),
    of("study[...]", lambda s: lambda name: studied()[name], lambda s: {}, name=REFUSED),
    public(ph.samples, lambda s: dict(count=1, length=(1.0, 2.0)), "count seed method"),
]
