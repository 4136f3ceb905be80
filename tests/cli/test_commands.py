"""The command line: what it prints, what it writes, what it refuses and with which exit code."""

import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

import phlexible as ph
from phlexible.cli import app
from phlexible.cli.programs import parse_settings
from phlexible.gallery.entries import TOPICS
from phlexible.gallery.table import ENTRIES
from phlexible.pictures import animation, modes as mode_shapes

TAUT = """import phlexible as ph
model = ph.Model()
ball = model.add(ph.PointMass(1.0), "ball", velocity=(1e-3, 0.0, 0.0))
for side in (-1.0, 1.0):
    model.apply(ph.SpringDamper(model.ground.at((side, 0.0, 0.0)), ball.origin, stiffness=1e4, length=0.1))
"""
OWN_MODEL = """
import phlexible as ph

model = ph.Model(dimension=2, gravity=(0, -9.81, 0))
body = model.add(ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0)), "body")
model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.origin))
"""


def call(*words: object):
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"})


def refusal(*words: object) -> str:
    result = call(*words)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("phlexible: ")
    return lines[0].removeprefix("phlexible: ")


def program(*words: object, **options) -> subprocess.Popen:
    command = [sys.executable, "-m", "phlexible", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def test_version() -> None:
    assert call("--version").stdout == f"phlexible {ph.__version__}\n"


def test_list_shows_every_model_with_its_parameters_below_its_topic() -> None:
    text = call("list").stdout
    begins = {topic: text.index(f"{topic}\n") for topic in TOPICS.values()}
    for entry in ENTRIES:
        place = text.index(f"\n  {entry.name} ")
        assert entry.topic == max((topic for topic in begins if begins[topic] < place), key=begins.__getitem__)
        assert entry.title in text
    assert "crank_speed=150" in text and "strain=von_karman" in text and "modes=none" in text


def test_list_starts_without_compiler_and_pictures() -> None:
    code = (
        "import sys; from phlexible.cli import app; app(['list'], standalone_mode=False);"
        "print('LOADED', *[m for m in ('numba', 'matplotlib', 'xarray') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "LOADED"


def test_run_prints_a_table_and_writes_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(animation, "SECONDS", 0.2)  # of the film
    out, plot, film = tmp_path / "new" / "run.h5", tmp_path / "run.png", tmp_path / "run.mp4"
    result = call(
        *("run", "crank-slider", "--duration", 0.002, "--every", 2, "--set", "elements=2"),
        *("--out", out, "--plot", plot, "--animate", film),
    )
    assert result.exit_code == 0, result.output
    for word in ("bodies: 2, joints: 3", "in 100 steps", "wall time", "iterations a step", "halved steps"):
        assert word in result.stdout
    for word in ("coupler.at(0.15) u_y/L", "kinetic energy", "strain energy", "supplied, dissipated"):
        assert word in result.stdout
    balance = re.search(r"off by \S+ J, (\S+) of the greatest energy", result.stdout)
    assert balance and float(balance[1]) < 1e-11
    assert len(ph.Motion.load(out).time) == 51
    assert plot.read_bytes().startswith(b"\x89PNG") and film.read_bytes()[4:8] == b"ftyp"


def test_run_says_once_what_should_be_looked_at() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what the summary says is said there only
        coarse = call("run", "double-pendulum", "--duration", 2, "--step", 0.1)
        fine = call("run", "double-pendulum", "--duration", 0.1, "--step", 1e-3)
    assert coarse.exit_code == fine.exit_code == 0, (coarse.output, fine.output)
    steps = re.findall(r"- .*has an error of .*smaller step", coarse.stdout)
    assert len(steps) == 1 and "look at" in coarse.stdout and "no problems found" not in coarse.stdout
    assert "no problems found" in fine.stdout and "look at" not in fine.stdout
    for result in (coarse, fine):
        gap = re.search(r"open by at most (\S+) of the largest body", result.stdout)
        assert gap and float(gap[1]) < 1e-12
    error = re.search(r"at most (\S+) of the longest body, estimated", fine.stdout)
    assert error and 1e-9 < float(error[1]) < 1e-5


def test_reports_of_a_run_of_a_results_file_and_of_modes(tmp_path: Path) -> None:
    out, page, again, modes = (tmp_path / name for name in ("run.h5", "new/a.html", "run.html", "modes.html"))
    result = call("run", "deployable-panels", "--duration", 0.01, "--out", out, "--report", page)
    assert result.exit_code == 0 and f"wrote {page}" in result.stdout
    assert call("report", out).stdout == f"wrote {again}\n"
    assert "<h1>deployable-panels</h1>" in page.read_text() and "<h1>run</h1>" in again.read_text()
    assert call("modes", "satellite", "--report", modes).exit_code == 0
    assert "mode 4: 3.0481 rad/s" in modes.read_text()
    assert "must end with .html" in refusal("report", out, "-o", "run.pdf")
    assert "leave out --sweep" in refusal("modes", "four-bar", "--sweep", "crank_angle=0:1:3", "--report", modes)


def test_run_of_the_crank_slider_agrees_with_its_references() -> None:
    result = call("run", "crank-slider")
    away = [float(x) for x in re.findall(r"([\d.]+) %", result.stdout)]
    assert len(away) == 2 and away[0] < 0.5 and away[1] < 1.0
    (away,) = re.findall(r"([\d.]+) %", call("run", "crank-slider", "--set", "strain=linear").stdout)
    assert float(away) < 0.3


def test_references_are_shown_for_their_own_model_only() -> None:
    shorter = call("run", "crank-slider", "--duration", 0.001)
    faster = call("run", "crank-slider", "--set", "crank_speed=160", "--step", 1e-4)
    assert "reference" not in shorter.stdout and "reference" not in faster.stdout


def test_set_reaches_the_model() -> None:
    result = call("run", "chain", "--set", "links=3", "--set", "modes=none", "--duration", 0.01)
    assert "bodies: 3, joints: 3" in result.stdout


def test_initial_is_passed_on() -> None:
    strains = [
        re.search(r"strain energy\s+(\S+) J ->", call("run", "crank-slider", "--duration", 1e-4, *more).stdout)
        for more in ((), ("--initial", "quasi-static"))
    ]
    assert strains[0] and float(strains[0][1]) == 0
    assert strains[1] and float(strains[1][1]) > 0


def test_own_file(tmp_path: Path) -> None:
    file = tmp_path / "my_model.py"
    file.write_text(OWN_MODEL + "duration, step = 0.1, 1e-3\n")
    result = call("run", file)
    assert result.exit_code == 0 and "my_model, bodies: 1" in result.stdout and "in 100 steps" in result.stdout


def test_springs_are_among_the_energies_that_errors_are_compared_with(tmp_path: Path) -> None:
    file = tmp_path / "taut.py"
    file.write_text(TAUT + "duration, step = 0.02, 1e-3\n")
    balance = re.search(r"off by \S+ J, (\S+) of the greatest energy", call("run", file).stdout)
    assert balance and float(balance[1]) < 1e-13


def test_a_file_imports_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_my_model.py").write_text(OWN_MODEL)
    file = tmp_path / "my_model.py"
    file.write_text("from neighbour_of_my_model import model\nduration, step = 0.01, 1e-3\n")
    assert call("run", file).exit_code == 0


def test_resume_goes_on_to_the_new_end(tmp_path: Path) -> None:
    out = tmp_path / "run.h5"
    words = ("run", "double-pendulum", "--out", out, "--step", 1e-3)
    assert call(*words, "--duration", 0.05).exit_code == 0
    other = refusal("run", "double-pendulum", "--out", out, "--duration", 0.1, "--step", 2e-3, "--resume")
    assert "holds steps of 0.001 s, and 0.002 s are requested" in other
    assert call(*words, "--duration", 0.1, "--resume").exit_code == 0
    resumed = ph.Motion.load(out)
    whole = ph.gallery.double_pendulum().simulate(duration=0.1, step=1e-3)
    assert resumed.time == pytest.approx(whole.time)
    end = whole["lower"].point((1.0, 0.0, 0.0))
    assert resumed.position(end) == pytest.approx(whole.position(end), abs=1e-10)


def test_results_are_replaced_only_where_that_is_asked_for(tmp_path: Path) -> None:
    out = tmp_path / "run.h5"
    words = ("run", "double-pendulum", "--out", out, "--step", 1e-3, "--duration", 0.01)
    assert call(*words).exit_code == 0
    before = out.read_bytes()
    assert "exists: add --overwrite to replace it, --resume to go on" in refusal(*words)
    assert "leave one out" in refusal(*words, "--resume", "--overwrite")
    assert out.read_bytes() == before
    assert call(*words, "--every", 2, "--overwrite").exit_code == 0
    assert len(ph.Motion.load(out).time) == 6


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["run", "crank-slidr"],
            "no model is named 'crank-slidr'; `phlexible list` shows all, such as crank-slider",
        ),
        (["run", "absent.py"], "there is no file 'absent.py'"),
        (["run", "chain", "--set", "link=3"], "--set link: there is no such parameter; it is one of links, "),
        (["run", "chain", "--set", "links=many"], "--set links=many: expected an integer"),
        (["run", "chain", "--set", "modes=few"], "--set modes=few: expected an integer or none"),
        (["run", "chain", "--set", "links"], "--set takes key=value, got 'links'"),
        (["run", "chain", "--set", "links=2", "--set", "links=3"], "--set links is given twice"),
        (["run", "crank-slider", "--set", "diameter=x"], "--set diameter=x: expected a number"),
        (["run", "crank-slider", "--set", "diameter=-1"], "diameter must be positive, got -1"),
        (["run", "crank-slider", "--set", "strain=cubic"], "strain must be one of"),
        (["run", "free-pair", "--set", "velocity=1,2"], "velocity=1,2: expected 3 numbers, such as 1,2,3"),
        (["run", "chain", "--duration", "0"], "--duration must be positive, got 0"),
        (["run", "chain", "--step=-1"], "--step must be positive, got -1"),
        (["run", "chain", "--out", "run.csv"], "--out run.csv: the name must end with .h5 or .hdf5"),
        (["run", "chain", "--plot", "run.doc"], "--plot run.doc: the name must end with .png"),
        (["run", "chain", "--animate", "run.avi"], "--animate run.avi: the name must end with .mp4 or .gif"),
        (["run", "chain", "--overwrite"], "--overwrite replaces the results file of --out: name it"),
        (["run", "chain", "--resume"], "--resume continues the run in a results file: name it with --out"),
        (["run", "chain", "--resume", "--out", "absent.h5"], "absent.h5"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refusals(words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in refusal(*words)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1", "must define a phlexible.Model named model, or build() that returns one, defines none"),
        ("model = 3", "or build() that returns one, it is 3"),
        ("1 +", "line 1: SyntaxError"),
        ("\n\nraise KeyError('left')", "line 3: KeyError: 'left'"),
        ("raise SystemExit(0)", "SystemExit"),
        (OWN_MODEL, "--duration is missing: pass it, or write duration = ... into the file"),
        (OWN_MODEL + "duration = 'long'", "duration must be a number of seconds, got 'long'"),
    ],
)
def test_files_that_cannot_be_run(source: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "my_model.py"
    file.write_text(source)
    assert message in refusal("run", file)


def test_a_file_may_define_build(tmp_path: Path) -> None:
    file = tmp_path / "my_model.py"
    body = OWN_MODEL.replace("\n", "\n    ")
    file.write_text(f"step, duration = 1e-3, 1e-2\ndef build(unused=1.0):\n    {body}\n    return model\n")
    assert call("run", file).exit_code == 0


def test_a_file_takes_no_settings(tmp_path: Path) -> None:
    file = tmp_path / "my_model.py"
    file.write_text(OWN_MODEL)
    assert "--set changes parameters of gallery models" in refusal("run", file, "--set", "a=1")


def test_debug_shows_the_traceback() -> None:
    result = call("run", "nothing", "--debug")
    assert result.exit_code == 2
    assert "Traceback" in result.stderr and result.stderr.splitlines()[-1].startswith("phlexible: no model")


def test_unknown_options_are_refused_by_the_parser() -> None:
    assert call("run", "chain", "--speed", "3").exit_code == 2
    assert call("run", "chain", "--initial", "bent").exit_code == 2


def test_settings_take_their_types_from_the_function() -> None:
    def function(
        a: float = 1.0, n_m: int = 2, name: str = "x", m: int | None = None, v: tuple[float, float] = (0, 0)
    ) -> None: ...

    settings = ["a=2", "n-m=3", "name=y=z", "m=4", "v=(1, 2)"]
    assert parse_settings(function, settings) == {"a": 2.0, "n_m": 3, "name": "y=z", "m": 4, "v": (1.0, 2.0)}
    assert parse_settings(function, ["m=None"]) == {"m": None}


@pytest.mark.slow
def test_interrupt_keeps_what_was_computed(tmp_path: Path) -> None:
    out = tmp_path / "run.h5"
    call("run", "double-pendulum", "--duration", 0.01)  # compiled code is in the cache now
    process = program(
        *("run", "double-pendulum", "--duration", 10000, "--every", 1000, "--out", out, "--debug"),
        env=os.environ | {"COLUMNS": "200"},
    )
    deadline = time.monotonic() + 60
    while not out.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    output, complaint = process.communicate(timeout=60)
    assert process.returncode == 130, complaint
    assert "interrupted at t = " in complaint and "Traceback" not in complaint
    assert "energy balance" in output
    assert 0 < ph.Motion.load(out).time[-1] < 10000


def test_modes_of_the_four_bar(tmp_path: Path) -> None:
    done = call("modes", "four-bar", "--set", "crank_angle=0", "--count", 2, "--plot", tmp_path / "modes.png")
    assert done.exit_code == 0
    assert "0 rigid modes" in done.output and "269.619" in done.output and "305.718" in done.output
    assert (tmp_path / "modes.png").stat().st_size > 1000


def test_modes_turn_with_a_rotating_model_unless_asked_otherwise() -> None:
    assert "steady rotation: 1 rigid mode\n" in call("modes", "spinning-shaft", "--set", "elements=6").output
    with pytest.warns(ph.errors.LeftOutWarning, match="leaves out the initial rotation of shaft"):
        still = call("modes", "spinning-shaft", "--set", "elements=6", "--at", "given", "--count", 3).output
    assert still.count("255.") == 2


def test_sweep_of_the_four_bar(tmp_path: Path) -> None:
    sweep = ("modes", "four-bar", "--sweep", "crank-angle=0:1.5707963268:3", "--count", 2)
    done = call(*sweep, "--plot", tmp_path / "sweep.png")
    assert done.exit_code == 0
    assert "crank_angle" in done.output and "269.619" in done.output and "314.909" in done.output
    assert (tmp_path / "sweep.png").stat().st_size > 1000


def test_a_mode_can_be_picked_and_filmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = mode_shapes.ModeShapes.animate
    monkeypatch.setattr(mode_shapes.ModeShapes, "animate", lambda *words: whole(*words, frames=3))
    files = ("--plot", tmp_path / "mode.png", "--animate", tmp_path / "mode.gif")
    assert call("modes", "four-bar", "--set", "elements=3", "--count", 2, "--mode", 2, *files).exit_code == 0
    assert all((tmp_path / name).stat().st_size > 1000 for name in ("mode.png", "mode.gif"))


def test_what_a_sweep_refuses() -> None:
    assert "no such parameter with numbers; it is one of crank_angle" in refusal(
        "modes", "four-bar", "--sweep", "elements=1:3:3"
    )
    for text in ("crank_angle=0:1", "crank_angle=0:1:1", "crank_angle=a:b:3", "crank_angle"):
        assert "key=start:stop:count" in refusal("modes", "four-bar", "--sweep", text)
    swept = ("--sweep", "crank_angle=0:1:3")
    assert "set and swept" in refusal("modes", "four-bar", *swept, "--set", "crank_angle=1")
    assert "leave out --sweep" in refusal("modes", "four-bar", *swept, "--mode", 1)
    assert "parameter of a gallery model" in refusal("modes", "my_model.py", *swept)
    number = call("modes", "four-bar", "--count", 2, "--mode", 3)
    assert number.exit_code == 2 and "--mode must be 1 to 2, got 3" in number.stderr


def test_warming_up_says_where_compiled_code_is_kept() -> None:
    done = call("warmup")
    assert done.exit_code == 0
    assert re.search("the time step is compiled, (kept in .|in the package as it came)", done.output)
