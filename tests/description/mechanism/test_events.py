"""Events that cannot be: refused where they are asked for, by name."""

from collections.abc import Callable

import pytest

import phlexible as ph


@pytest.fixture
def parts() -> tuple[ph.Model, ph.Revolute, ph.Fixed]:
    model = ph.Model()
    one, two = (model.add(ph.RigidBody(1.0, (1, 1, 1)), name) for name in ("one", "two"))
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), one.origin))
    return model, pin, model.connect(ph.Fixed(one.origin, two.origin))


def bushing(model: ph.Model) -> ph.Bushing:
    return model.apply(ph.Bushing(model.ground.at((0, 0, 0)), model["two"].origin, 10.0, 1.0, 10.0))


Refused = Callable[[ph.Model, ph.Revolute, ph.Fixed], object]

CASES: dict[str, tuple[Refused, type[Exception], str]] = {
    "both": (lambda m, p, f: m.at(1.0, lock=p, release=f), ph.ParameterError, "either lock= or release="),
    "nothing free": (lambda m, p, f: m.at(1.0, lock=f), ph.ModelError, "no free coordinate"),
    "driven": (
        lambda m, p, f: (m.apply(p.drive(angle=lambda t: 0.1 * t**2)), m.at(1.0, lock=p)),
        ph.ModelError,
        "cannot be locked while drive of .* release the drive first",
    ),
    "unknown": (
        lambda m, p, f: m.at(1.0, lock=ph.Revolute(m.ground.at((0, 0, 0)), m["two"].origin)),
        ph.ModelError,
        "not connected in this model",
    ),
    "unknown release": (lambda m, p, f: m.at(1.0, release=ph.Gear(p, p, 2.0)), ph.ModelError, "twice"),
    "no lock": (lambda m, p, f: m.at(2.0, release=m.at(1.0, release=f)), ph.ModelError, "locks nothing"),
    "several numbers": (
        lambda m, p, f: ph.When(ph.Position(m["one"].origin), above=0.0),
        ph.ParameterError,
        "a sensor of one number",
    ),
    "several forces": (
        lambda m, p, f: m.simulate(1.0, 0.1, stop=ph.When(ph.ElementForce(bushing(m)), above=0.0)),
        ph.ParameterError,
        "a sensor of one number, .* has 6",
    ),
    "two thresholds": (
        lambda m, p, f: ph.When(ph.JointPosition(p), above=0.0, below=1.0),
        ph.ParameterError,
        "either above= or below=",
    ),
    "live": (lambda m, p, f: (m.at(1.0, lock=p), m.start(0.1)), ph.ModelError, "with events"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_happen_is_refused(case: str, parts: tuple[ph.Model, ph.Revolute, ph.Fixed]) -> None:
    ask, error, words = CASES[case]
    with pytest.raises(error, match=words):
        ask(*parts)
