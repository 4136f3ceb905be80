"""Numbers whose powers overflow or vanish, and other ranges: refused where they are given."""

import pytest

import phlexible as ph
from bad_inputs.wrong_values import STEEL, Hinged
from phlexible.bodies import sizes
from refusals import refused


def bar():
    own = Hinged()
    return own.model, own.joint


def moved():
    return bar()[0].simulate(0.02, 0.01, progress=False)


def inverse(**given):
    model, hinge = bar()
    linear = model.linearize([hinge], [ph.JointAcceleration(hinge)])
    return ph.inverse_input(linear, lambda t: 0.0, step=0.01, **given)


def delayed(delay):
    return ph.Feedback(lambda t, measured: 0.0, measured=[bar()[1]], on=[bar()[1]], period=0.01, delay=delay)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ph.Beam(1e200, ph.CircularSection(0.01), STEEL), "length must be at most 1e"),
        (lambda: ph.Material(1e-300, 7800.0), "youngs_modulus must be at least 1e-100"),
        (lambda: moved().plot_mechanism(times=10**7), "times must be at most 1000 in one picture, got 10000000"),
        (lambda: inverse(duration=1e7), "duration=1e.07 s and twice the lead .* are more than 1000000 steps"),
        (lambda: inverse(duration=1.0, lead=1e7), "lead of 1e.07 s are more than 1000000 steps"),
        (lambda: ph.Model(gravity=(0.0, -1e200, 0.0)), "gravity must be at most 1e"),
        (lambda: bar()[0].simulate(0.1, tolerance=1e-3), "with output_step=; got tolerance= alone"),
        (lambda: bar()[0].simulate(0.1, 0.01, tolerance=1e-300), "tolerance must be at least"),
        (lambda: bar()[0].simulate(0.1, 0.01, tolerance=1e-20), "tolerance must be at least 1e-16"),
        (lambda: bar()[0].simulate(1e-299, 1e-300), "duration must be at least"),
        (lambda: bar()[0].simulate(0.1, 1e-300), "step must be at least"),
        (lambda: bar()[0].start(1e-300), "step must be at least"),
        (lambda: bar()[0].simulate(1e200, 1e200), "duration must be at most"),
        (lambda: delayed(1e9), "delay must be at most 1000000 periods"),
        (lambda: delayed(1e300), "delay must be at most"),
        (lambda: ph.samples(2, a=(1, 0)), r"a must be \(low, high\) with low <= high"),
        (lambda: ph.samples(2, a=(-1e308, 1e308)), "low end of a must be at most"),
    ],
)
def test_ranges(call, words):
    refused(ph.ParameterError, words, call)


def test_models_without_bodies_have_nothing_to_do():
    for method, arguments in (("assemble", ()), ("equilibrium", ()), ("linearize", ()), ("start", (0.1,))):
        with pytest.raises(ph.ModelError, match="the model has no bodies"):
            getattr(ph.Model(), method)(*arguments)
    refused(ph.ModelError, "the model has no bodies", lambda: ph.Model().simulate(1.0, 0.1))


def test_ends_of_a_range_may_be_one():
    assert ph.samples(2, a=(1, 1)) == [{"a": 1.0}, {"a": 1.0}]


STEEL_ROD = ph.CircularSection(0.01), STEEL


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ph.Model().add(ph.Beam(1.0, *STEEL_ROD, elements=10**7)), "elements = 10000000 take about .* GB"),
        (lambda: ph.Model(dimension=2).add(ph.Beam(1.0, *STEEL_ROD, elements=10**6)), r"add\(..., large=True\)"),
        (lambda: ph.Model().add(ph.Beam(1.0, *STEEL_ROD).split(10, elements=10**5)), "elements = 1000000 take"),
        (lambda: ph.Model().add(ph.String(1.0, 0.1, 10**7, ph.LinearLaw(1.0))), "take about 150 GB"),
        (lambda: ph.Model().add(ph.Rod(1.0, *STEEL_ROD, elements=10**7)), "GB of memory"),
        (lambda: ph.Plate(1.0, 1.0, 0.01, STEEL, elements=(2000, 2000)), r"elements = 2000 x 2000 take .* Plate\("),
        (lambda: ph.Beam(1.0, *STEEL_ROD).split(10**7), "parts must be at most 100000"),
        (lambda: ph.gallery.spatial_beam(elements=10**7), "GB of memory"),
    ],
)
def test_sizes_that_cannot_end(make, words):
    refused(ph.ParameterError, words, make)


def test_large_bodies_may_be_meant(monkeypatch, tmp_path):
    """With a limit below what they take, bodies are placed when asked for, copied and read again."""
    monkeypatch.setattr(sizes, "MOST_BYTES", 1e3)
    model, beam = ph.Model(dimension=2), ph.Beam(1.0, *STEEL_ROD, elements=2, frame="cantilever")
    refused(ph.ParameterError, "GB of memory", lambda: model.add(beam))
    placed = model.add(beam, "beam", large=True)
    split = model.add(beam.split(2), "split", position=(0.0, 1.0, 0.0), large=True)
    rod = model.add(ph.Rod(1.0, *STEEL_ROD, elements=2), "rod", position=(0.0, 2.0, 0.0), large=True)
    for body in (placed, split, rod):
        model.connect(ph.Fixed(model.ground.at(body.start.initial_position()), body.start))
    model.copy().simulate(2e-6, 1e-6, progress=False).save(tmp_path / "run.h5")
    assert len(ph.Motion.load(tmp_path / "run.h5")["rod"].parts) == len(rod.parts)
    plate = ph.Plate(1.0, 1.0, 0.01, STEEL, elements=(1, 1), modes=1, large=True)
    assert plate.color is None
