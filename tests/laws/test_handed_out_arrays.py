"""Arrays that results hand out cannot be written to, or writing to them changes no later answer."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import phlexible as ph

DEPTH = 3
INTERNAL = {"mechanism", "run", "linearization", "mechanics", "full", "checkpoint"}
INTERNAL |= {"row", "memory", "stepper", "now", "loads", "loads_of_model", "system"}  # of live runs, for batches


def pendulum() -> ph.Model:
    """A crank with an elastic link, a rope and a spring, damped, driven and loaded."""
    steel = ph.Material(youngs_modulus=2e11, density=7800.0)
    model = ph.Model(gravity=(0.0, -9.81, 0.0))
    link = model.add(ph.Beam(1.0, ph.CircularSection(0.02), steel, elements=2), "link")
    bob = model.add(ph.RigidBody(1.0, (0.1, 0.2, 0.3)), "bob", position=(1.0, 0.0, 0.0))
    rope = model.add(ph.String(1.0, 0.1, 3, ph.LinearLaw(1e3)), "rope", shape=[(1.0, 0.0, 0.0), (2.1, 0.0, 0.0)])
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), link.start, name="hinge"))
    model.connect(ph.Fixed(link.end, bob.origin))
    model.connect(ph.Spherical(bob.origin, rope.start))
    model.apply(hinge.spring(20.0, name="spring"))
    model.apply(ph.Force(bob.origin, (0.0, 0.0, 0.1), name="push"))
    model.connect(ph.Spherical(model.ground.moving(lambda t: (2.1 + 0.1 * t, 0.0, 0.0)), rope.end))
    return model


def readings(motion: ph.Motion) -> Any:
    link, bob, rope = (motion[name] for name in ("link", "bob", "rope"))
    hinge, spring = motion.mechanism.joint("hinge"), motion.mechanism.part("spring")
    return {
        **{
            f"{name} of {port}": getattr(motion, name)(port)
            for name in ("position", "velocity", "rotation", "angular_velocity", "elastic_displacement")
            for port in (link.end, bob.origin)
        },
        **{name: getattr(motion, name)(rope) for name in ("tension", "stretch", "elastic_coordinates")},
        **{name: getattr(motion, name)(hinge) for name in ("reaction", "reaction_moment", "angle", "rate")},
        "rotation of a body": motion.rotation(bob),
        "elastic": motion.elastic_coordinates(link),
        "element_force": motion.element_force(spring),
        "section_forces": motion.section_forces(link),
        "stress": motion.stress(link),
        "state": motion.at(motion.time[-1]),
        **{str(each): motion[each] for each in (ph.Position(link.end), ph.JointRate(hinge), ph.Reaction(hinge))},
    }


def live() -> Any:
    run = pendulum().start(2e-3)
    run.run(0.01)
    return run


def linear() -> ph.LinearModel:
    model = pendulum()
    hinge = model.joint("hinge")
    return model.linearize(inputs=[hinge], about=model.equilibrium(), outputs=[ph.JointPosition(hinge)])


ROOTS: dict[str, Callable[[], Any]] = {
    "motion": lambda: pendulum().simulate(0.02, 2e-3),
    "equilibrium": lambda: pendulum().equilibrium(),
    "linear model": linear,
    "live": live,
}
ASKED: dict[str, Callable[[Any], Any]] = {
    "motion": readings,
    "equilibrium": lambda found: readings(found.motion),
    "linear model": lambda m: {
        "modes": m.modes(3),
        "response": m.frequency_response([1, 2]),
        "reduced": m.reduce(4),
    },
    "live": lambda run: {
        **{name: getattr(run, name) for name in ("motion", "instant", "state")},
        "saved": run.save(),
        "reading": run.read(ph.Position(run.motion["link"].end)),
    },
}


def arrays(value: Any, place: str = "", depth: int = DEPTH) -> Iterator[tuple[str, np.ndarray]]:
    """All arrays in public attributes, in mappings and tuples, with where they are."""
    if isinstance(value, np.ndarray):
        yield place, value
    elif sparse.issparse(value):
        yield place, value.data
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from arrays(each, f"{place}[{name}]", depth)
    elif isinstance(value, tuple | list):
        for k, each in enumerate(value[:2]):
            yield from arrays(each, f"{place}[{k}]", depth)
    elif depth and type(value).__module__.startswith("phlexible."):
        names = {name for name, _ in vars(type(value)).items() if not name.startswith("_")}
        names |= {name for kind in type(value).__mro__ for name in vars(kind) if not name.startswith("_")}
        names |= {each.name for each in dataclasses.fields(value)} if dataclasses.is_dataclass(value) else set()
        names |= {name for name in getattr(value, "__dict__", ()) if not name.startswith("_")}
        for name in sorted(names - INTERNAL):
            try:
                own = getattr(value, name)
            except (ph.PhlexibleError, NotImplementedError):
                continue
            if not callable(own):
                yield from arrays(own, f"{place}.{name}", depth - 1)


@pytest.mark.parametrize("kind", ROOTS)
def test_what_is_handed_out_is_not_what_is_kept(kind: str) -> None:
    root = ROOTS[kind]()

    def found() -> dict[str, np.ndarray]:
        return {**dict(arrays(root, kind)), **dict(arrays(ASKED[kind](root), kind))}

    before = {place: array.copy() for place, array in found().items()}
    assert len(before) > 10
    for array in found().values():
        if array.flags.writeable and array.size:
            array[...] = 7
    after = found()
    assert after.keys() == before.keys()
    changed = [place for place, array in before.items() if not np.array_equal(after[place], array, equal_nan=True)]
    assert changed == []
