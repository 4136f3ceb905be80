"""Identification: known parameters come back, uncertainty is that of closed forms, what is not seen is named."""

import warnings
from contextlib import suppress

import numpy as np
import pytest
from scipy.io import savemat

import phlexible as ph
from phlexible.tools import identification
from refusals import refused

TIME = np.linspace(0.0, 1.0, 51)
STEP = 0.02


def stone(p):
    """Falls from a height; its mass does not matter."""
    model = ph.Model(gravity=(0.0, 0.0, -p["g"]))
    model.add(ph.PointMass(p.get("mass", 1.0)), "stone", position=(0.0, 0.0, p.get("height", 0.0)))
    return model


def height(model):
    return {"z": ph.Displacement(model["stone"].origin, (0, 0, 1))}


def place(model):
    return {"place": ph.Position(model["stone"].origin)}


def upright(z):
    """Places of which z alone was measured."""
    return np.stack([np.full_like(z, np.nan), np.full_like(z, np.nan), z], axis=1)


def swing(p):
    model = ph.Model(dimension=2)
    block = model.add(ph.RigidBody(p["mass"], 0.1), "block")
    rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), block.origin, name="rail"))
    model.apply(rail.spring(stiffness=p["stiffness"]))
    model.apply(rail.damper(p["damping"]))
    push = p["push"]
    model.apply(rail.force(push if isinstance(push, ph.Signal) else float(push)))
    return model


def travel(model):
    return {"x": ph.JointPosition(model.joint("rail")), "v": ph.JointRate(model.joint("rail"))}


def response(mass, stiffness, damping, t):
    rate = damping / (2 * mass)
    omega = np.sqrt(stiffness / mass - rate**2)
    return (1 - np.exp(-rate * t) * (np.cos(omega * t) + rate / omega * np.sin(omega * t))) / stiffness


def noise(seed):
    return np.random.default_rng(seed).normal(size=len(TIME))


def test_the_uncertainty_of_a_linear_problem_is_its_closed_form():
    """z = z_0 - g t^2 / 2: covariance sigma^2 (A^T A)^-1; a midpoint step is exact for it."""
    sigma, columns = 1e-3, np.stack([-(TIME**2) / 2, np.ones_like(TIME)], axis=1)
    measured = columns @ [9.81, 0.3] + sigma * noise(0)
    best, *_ = np.linalg.lstsq(columns, measured, rcond=None)

    def fit(given):
        recording = ph.Recording(TIME, {"place": upright(measured)}, noise=given)
        start = {"g": 1.0, "height": 0.0}
        return ph.identify(stone, start, recording, sensors=place, step=STEP, scales={"height": 1.0})

    found = fit(sigma)
    assert [found.values["g"], found.values["height"]] == pytest.approx(best, rel=1e-8)
    np.testing.assert_allclose(found.covariance, sigma**2 * np.linalg.inv(columns.T @ columns), rtol=1e-7)
    half = 1.959963985 * np.sqrt(found.covariance[0, 0])
    np.testing.assert_allclose(found.intervals()["g"], [best[0] - half, best[0] + half], rtol=1e-8)
    assert not found.warnings and found.runs <= 8
    left = measured - columns @ best
    unknown = fit(None)
    assert unknown.noise["place"] == pytest.approx(np.sqrt(left @ left / (len(TIME) - 2)), rel=1e-3)
    half = 2.0095752 * np.sqrt(unknown.covariance[0, 0])  # Student's quantile of 49 degrees of freedom
    assert np.diff(unknown.intervals()["g"]) == pytest.approx(2 * half, rel=1e-6)


def test_the_last_short_step_needs_no_run(monkeypatch):
    """It ends within a thousandth of a standard deviation of where a search ends that goes on to 1e-9."""
    t = np.linspace(0.0, 2.0, 101)
    clean = response(1.5, 60.0, 2.0, t)
    data = ph.Recording(t, {"x": clean + 3e-3 * np.random.default_rng(3).normal(size=len(t))}, noise=3e-3)

    def fit():
        start = {"mass": 1.2, "stiffness": 50.0, "damping": 1.0}
        return ph.identify(lambda p: swing({**p, "push": 1.0}), start, data, sensors=travel, step=STEP)

    short = fit()
    monkeypatch.setattr(identification, "CLOSE", 0.0)
    exact = fit()
    apart = np.array([short.values[name] - exact.values[name] for name in exact.values])
    assert apart @ np.linalg.solve(exact.covariance, apart) < 1e-6
    assert short.runs <= exact.runs - 2
    assert short.covariance == pytest.approx(exact.covariance, rel=1e-2)
    assert short.predictions[0].model == pytest.approx(exact.predictions[0].model, abs=2e-7)


def test_several_recordings_with_inputs_biases_gains_and_delays():
    """From exact readings of the model itself: everything comes back to many digits."""
    push = ph.Signal([0.0, 0.2, 0.6, 1.0], [0.0, 3.0, -2.0, 1.0])
    true = {"mass": 2.0, "stiffness": 300.0, "damping": 4.0}
    recordings = []
    for force in (push, 1.5):
        motion = swing({**true, "push": force}).simulate(1.0, STEP)
        rail = motion.mechanism.joint("rail")
        x, v = motion[ph.JointPosition(rail)], motion[ph.JointRate(rail)]
        late = np.interp(TIME - STEP, motion.time, v)  # by one step of the simulation, where a spline is exact
        outputs = {"x": 1.2 * np.asarray(x) + 0.01, "v": late}
        recordings.append(ph.Recording(TIME, outputs, noise={"x": 1e-5, "v": 1e-4}, inputs={"push": force}))
    start, more = {"mass": 1.5, "stiffness": 200.0, "damping": 1.0}, {"bias": {"x": 0.1}, "delay": {"v": 0.01}}
    fit = ph.identify(swing, start, recordings, sensors=travel, step=STEP, gain=["x"], **more)
    expected = {**true, "bias of x": 0.01, "gain of x": 1.2, "delay of v": STEP}
    assert fit.values == pytest.approx(expected, rel=1e-6)


def test_a_start_of_its_own_in_each_recording():
    heights = (0.5, -0.2, 1.0)
    data = [ph.Recording(TIME, {"place": upright(h - 9.81 * TIME**2 / 2)}, noise=1e-3) for h in heights]
    start = {"g": 5.0, "height": 0.1}
    fit = ph.identify(stone, start, data, sensors=place, step=STEP, separate=["height"])
    assert fit.values["g"] == pytest.approx(9.81, rel=1e-9)
    np.testing.assert_allclose(fit.values["height"], heights, rtol=1e-9)
    assert fit.labels == ("g", "height[0]", "height[1]", "height[2]") and fit.intervals()["height"].shape == (3, 2)


def test_what_the_data_does_not_see_is_named():
    falling = ph.Recording(TIME, {"z": -9.81 * TIME**2 / 2 + 1e-3 * noise(1)}, noise=1e-3)
    fit = ph.identify(stone, {"g": 9.0, "mass": 2.0}, falling, sensors=height, step=STEP)
    assert fit.values["g"] == pytest.approx(9.81, rel=1e-3)
    assert any("does not see mass" in words for words in fit.warnings)
    free = ph.Recording(TIME, {"x": 2 * response(2.0, 300.0, 4.0, TIME)}, noise=1e-5)
    start = {"mass": 1.0, "stiffness": 150.0, "damping": 2.0, "push": 1.0}  # all of them twice: the same motion
    fit = ph.identify(swing, start, free, sensors=travel, step=STEP)
    (words,) = [each for each in fit.warnings if "combination" in each]
    assert all(f"+0.50 {name}" in words for name in start)
    told = ph.identify(swing, start, free, sensors=travel, step=STEP, priors={"push": (2.0, 1e-6)})
    assert not any("does not see" in words for words in told.warnings)
    assert told.values["mass"] == pytest.approx(2.0, rel=2e-2)  # a step of 0.02 s errs by so much


def test_a_model_that_lacks_something_is_told():
    data = 2 * response(2.0, 300.0, 4.0, TIME) + 1e-5 * noise(2)

    def undamped(p):
        return swing({**p, "mass": 2.0, "damping": 0.5, "push": 2.0})

    def fitted(noise, **bounds):
        recording = ph.Recording(TIME, {"x": data}, noise=noise)
        return ph.identify(undamped, {"stiffness": 250.0}, recording, sensors=travel, step=STEP, bounds=bounds)

    assert any("not white" in words for words in fitted(None).warnings)
    assert any("times the noise" in words for words in fitted(1e-5).warnings)
    fit = fitted(1e-5, stiffness=(200.0, 260.0))
    assert any("bound 260" in words for words in fit.warnings) and fit.values["stiffness"] == pytest.approx(260.0)


def cantilever(p):
    model = ph.Model(dimension=2)
    material = ph.Material(p["modulus"], p["density"], poissons_ratio=0.3, viscosity=1e-4)
    beam = model.add(ph.Beam(1.0, ph.RectangularSection(0.02, 0.01), material, elements=2), "beam")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
    return model


def linear(model):
    tip = model["beam"].end
    return model.linearize(inputs=[ph.Force(tip, (0, 1, 0))], outputs=[ph.Velocity(tip, (0, 1, 0))])


def test_modes_and_responses_are_data_too():
    true = {"modulus": 7e10, "density": 2700.0}
    model = linear(cantilever(true))
    modes = ph.RecordedModes(model.modes(3).frequencies, noise=1e-3)
    omega = np.array([5.0, 15.0, 25.0])
    answer = ph.RecordedResponse(omega, model.frequency_response(omega).values, noise=1e-6)
    start = {"modulus": 5e10, "density": 3000.0}
    assert ph.identify(cantilever, start, [modes, answer], linear=linear).values == pytest.approx(true, rel=1e-7)
    alone = ph.identify(cantilever, start, modes, linear=linear)
    assert any("combination" in words for words in alone.warnings)
    values = alone.values["modulus"] / alone.values["density"]
    assert values == pytest.approx(7e10 / 2700.0, rel=1e-6)


def test_tables_of_files_are_read(tmp_path):
    columns = {"t": TIME, "z": -9.81 * TIME**2 / 2, "push": np.sin(TIME)}
    table, head = np.stack(list(columns.values()), axis=1), ",".join(columns)
    np.savetxt(tmp_path / "run.csv", table, delimiter=",", header=head, comments="")
    savemat(tmp_path / "run.mat", columns)
    for source in (tmp_path / "run.csv", tmp_path / "run.mat", columns):
        outputs, given = {"z": "z", "both": ["z", "push"]}, {"inputs": {"force": "push"}, "noise": 0.1}
        found = ph.Recording.of(source, outputs, time="t", **given)
        np.testing.assert_allclose(found.outputs["z"], columns["z"], rtol=1e-15)
        assert found.outputs["both"].shape == (51, 2) and found.inputs["force"](0.5) == pytest.approx(np.sin(0.5))
    assert repr(found).startswith("Recording(z, both: 51 instants, t = 0 to ") and len(repr(found)) < 80
    for source in (tmp_path / "run.csv", columns):
        with pytest.raises(ph.ParameterError, match="no column 'y' .*; there are t, z"):
            ph.Recording.of(source, {"z": "y"}, time="t")
    refused(ph.ParameterError, "csv", lambda: ph.Recording.of("run.txt", {"z": "z"}))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("empty.csv", "", "separated by commas.*: it is empty"),
        ("blank.csv", "\n\n", "separated by commas.*: it is empty"),
        ("tabs.csv", "time\tz\n0\t1\n1\t2\n", "separated by commas.*: its line of names is one column"),
        ("empty.mat", "", "is no .mat file that scipy.io.loadmat reads"),
        ("text.mat", 50 * "time,z\n", "is no .mat file that scipy.io.loadmat reads"),
    ],
)
def test_files_that_hold_no_table_are_refused_with_the_reason(name, content, reason, tmp_path):
    (tmp_path / name).write_text(content, encoding="utf-8")
    refused(ph.ParameterError, reason, lambda: ph.Recording.of(tmp_path / name, {"z": "z"}))


def test_text_in_a_table_is_refused_and_an_empty_cell_is_missing(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("\ufefftime,z,remark\n0,1.5,begin\n0.1, ,\n0.2,NaN,x\n0.3,2,end\n", encoding="utf-8")
    np.testing.assert_array_equal(ph.Recording.of(path, {"z": "z"}).outputs["z"], [1.5, np.nan, np.nan, 2.0])
    for cell in ("0;5", "fail", '"1.5"', "1.5 m"):
        path.write_text(f"time,z\n0,1\n0.1,{cell}\n0.2,2\n", encoding="utf-8")
        with pytest.raises(ph.ParameterError, match=f"no column 'z' of numbers.*: row 2 has '{cell}'; there are"):
            ph.Recording.of(path, {"z": "z"})
    for row in ("0,1;2,5", "0,1,2"):
        path.write_text(f"time;z\n0;1\n{row}\n", encoding="utf-8")
        words = "separated by commas, with decimal points; .*sep=';'.*: Line #3"
        refused(ph.ParameterError, words, lambda: ph.Recording.of(path, {"z": "z"}))
    path.write_text("time;z\n0;1\n1;2\n", encoding="utf-8")
    with pytest.raises(ph.ParameterError, match="sep=';'.*: its line of names is one column, 'time;z'"):
        ph.Recording.of(path, {"z": "z"})


def test_pictures_and_pages(tmp_path):
    recording = ph.Recording(TIME, {"z": -9.81 * TIME**2 / 2 + 1e-3 * noise(1)}, noise=1e-3)
    fit = ph.identify(stone, {"g": 9.0}, recording, sensors=height, step=STEP)
    figure = fit.plot(tmp_path / "fit.png")
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "time [s]"] and (tmp_path / "fit.png").is_file()
    fit.report(tmp_path / "fit.html")
    page = (tmp_path / "fit.html").read_text()
    for words in (
        "data:image/png",
        "95 % interval",
        "No problems found.",
        "<h1>fit</h1>",
        "moved by half the step",
    ):
        assert words in page
    low, high = fit.intervals()["g"]
    assert str(fit).startswith("g  9.8") and f"(95 %: {low:.6g} to {high:.6g})" in str(fit)


FALL = ph.Recording(TIME, {"z": TIME}, noise=1.0)


def fall(recording=FALL, **options):
    return ph.identify(stone, {"g": 9.0}, recording, **{"sensors": height, "step": STEP, **options})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ph.Recording(TIME, {"z": TIME[:-1]}), "each of 51 instants"),
        (lambda: ph.Recording(TIME[::-1], {"z": TIME}), "ascending"),
        (lambda: ph.Recording(TIME, {"z": TIME}, noise={"y": 1.0}), "no output"),
        (lambda: ph.Recording(TIME, {}), "names of sensors"),
        (lambda: ph.RecordedModes([1.0, -1.0], 0.1), "must be positive"),
        (lambda: ph.RecordedResponse([1.0], [1.0, 2.0], 0.1), "must be finite, of shape"),
        (lambda: ph.identify(stone, {"g": 9.0}, FALL), "need sensors= and step="),
        (lambda: ph.identify(stone, {"g": 9.0}, ph.RecordedModes([1.0], 1.0)), "need linear="),
        (lambda: fall(sensors=lambda m: 1), "by the names z"),
        (lambda: fall(separate=["mass"]), "mass"),
        (lambda: fall(bias={"y": 1.0}), "not measured"),
        (lambda: fall(bounds={"g": (10, 20)}), "within"),
        (lambda: fall(bounds={"h": (0, 1)}), "there are g"),
        (lambda: fall(bounds={"g": ("a", 2)}), r"bounds of g must be \(least, greatest\), got \('a', 2\)"),
        (lambda: fall(scales={"h": 1.0}), "scales names 'h'"),
        (lambda: fall(ph.Recording([0.0, 1.0], {"z": [0, np.nan]})), "too few"),
    ],
)
def test_mistakes_are_named(call, words):
    refused(ph.ParameterError, words, call)


def test_inputs_and_delays_beyond_the_data_are_refused():
    time = np.linspace(0.0, 1.0, 41)
    readings = 0.05 * np.sin(3.0 * time) ** 2
    push = ph.Signal(time[:21], np.ones(21))
    words = r"input push has 21 samples up to 0\.5 s, the outputs go on to 1 s"
    refused(ph.ParameterError, words, lambda: ph.Recording(time, {"x": readings}, inputs={"push": push}))
    ph.Recording(time, {"x": readings}, inputs={"push": ph.Signal([0.0, 0.1], [0.0, 1.0])})
    with pytest.raises(ph.ParameterError, match=r"delay of z, 2 s, is not within its 1 s of data"):
        fall(ph.Recording(time, {"z": readings}), step=0.1, delay={"z": 2.0})


def pendulum(p):
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    bob = model.add(ph.RigidBody(1.0, 0.1, center=(p["length"], 0.0, 0.0)), "bob", rotation=0.3 - np.pi / 2)
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bob.origin, name="hinge"))
    return model


def turned(model):
    return {"angle": ph.JointPosition(model.joint("hinge"))}


SWING = {"mass": 2.0, "stiffness": 300.0, "damping": 0.4, "push": 1.5}
MEASURED = {
    "fall beyond the size of the body": (stone, {"g": 9.81}, {"g": 8.0}, height, 1e3),
    "wrong frequency": (swing, SWING, {**SWING, "stiffness": 450.0}, lambda m: {"x": travel(m)["x"]}, 1e3),
    "angle": (pendulum, {"length": 1.0}, {"length": 0.8}, turned, 180 / np.pi),
}


@pytest.mark.parametrize("duration", [0.2, 2.0])
@pytest.mark.parametrize("case", MEASURED)
def test_data_in_another_unit_are_told_however_long_they_are(case, duration):
    """In mm or degrees, or of a model in mm or degrees; data in the unit of the model are silent."""
    build, true, first, sensors, factor = MEASURED[case]
    model = build(true)
    motion = model.simulate(duration, STEP, progress=False)
    ((name, sensor),) = sensors(model).items()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ph.UnitWarning)
        for unit, words in ((factor, "if data is in"), (1 / factor, "if the model is in"), (1.0, None)):
            data = ph.Recording(motion.time, {name: unit * motion[sensor]})
            with pytest.raises(ph.UnitWarning, match=words) if words else suppress(ph.ConvergenceError):
                ph.identify(build, first, data, sensors=sensors, step=STEP, progress=False)


def bent(p):
    """A cantilever that its load bends by a twentieth of its length, more than linear strains bear exactly."""
    model = ph.Model(dimension=2)
    beam = ph.Beam(1.0, ph.RectangularSection(0.02, 0.004), ph.Material(p["E"], 7850.0), elements=4)
    beam = model.add(beam.split(4) if "parts" in p else beam, "beam")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
    model.apply(ph.Force(beam.end, (0, 40.0, 0)))
    return model


def tip(model):
    return {"tip": ph.Displacement(model["beam"].end, (0, 1, 0))}


def test_another_discretization_moves_what_the_interval_misses():
    true = bent({"E": 200e9, "parts": True})
    motion = true.simulate(0.1, 1e-3, progress=False)
    noisy = motion[tip(true)["tip"]] + 1e-6 * np.random.default_rng(0).normal(size=101)
    data = ph.Recording(motion.time, {"tip": noisy})
    fit = ph.identify(bent, {"E": 190e9}, data, sensors=tip, step=1e-3, progress=False)
    missed = abs(fit.values["E"] - 200e9)
    assert missed > 3 * np.sqrt(fit.covariance[0, 0])
    assert list(fit.shifts) == ["half the step", "half the elements", "another frame"]
    assert missed < 3 * max(abs(float(moved[0])) for moved in fit.shifts.values()) < 30 * missed
    assert "another frame moves E by" in str(fit)
    assert any("the model's errors exceed the noise" in words for words in fit.warnings)
