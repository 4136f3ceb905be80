"""Every wrong word on the command line: an exit code and one line that says which, and nothing is computed."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from phlexible.cli import app, commands

OWN = """import phlexible as ph

model = ph.Model(dimension=2, gravity=(0, -9.81, 0))
body = model.add(ph.RigidBody(1.0, 0.1, center=(0, -0.5, 0)), "body")
model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.origin))
duration, step = 0.02, 0.01
"""
FILES = {
    "own.py": OWN,
    "plain.py": "duration, step = 1.0, 0.1\n",
    "other.py": "model, duration, step = 3, 1.0, 0.1\n",
    "syntax.py": "model = (\n",
    "raises.py": 'raise ValueError("no such place")\n',
    "words.py": OWN.replace("0.02, 0.01", '"1", "x"'),
    "quits.py": "raise SystemExit(0)\n",
    "null.py": "\0",
    "text.txt": "text",
    "damaged.h5": "text",
}
MODELS = ("no-such", "no_such.py", "", ".", "folder", *(each for each in FILES if each[:3] not in ("own", "dam")))
NUMBERS = ("-1", "0", "nan", "inf", "x", "", "1e400", "1,5", "True")
COUNTS = ("-1", "0", "1.5", "x", "", "1e3", "9" * 30)
SETTINGS = ("x", "=3", "links=", "links=x", "links=1.5", "links=nan", "links=-1", "nosuch=3", "", "links==3")
SWEEPS = (
    *("x", "", "nosuch=0:1:3", "=0:1:3", "crank_angle=0:1", "crank_angle=0:1:3:4", "crank_angle=a:b:c"),
    *(f"crank_angle=0:1:{count}" for count in ("-3", "0", "1.5", "9999999999")),
    *("crank_angle=nan:1:3", "crank_angle=0:inf:3"),
)
SWEEP = ("modes", "four-bar", "--sweep", "crank_angle=0:1:3")
ENDS = {"--out": ".h5", "--plot": ".png", "--animate": ".gif", "--report": ".html", "--output": ".html"}


def targets(ending):
    name = f"a{ending}"
    return f"text.txt/{name}", f"folder{ending}", "folder", "a.xyz", "", f"/proc/none/{name}", f"a\0b{ending}"


def calls():
    """Words, of which the last is wrong, or all together."""
    for command, options in (("run", ()), ("modes", ()), ("live", ()), ("build", ("-o", "a.so"))):
        yield command, *options
        yield from ((command, *options, model) for model in MODELS)
        yield command, *options, "own.py", "extra"
        yield command, *options, "own.py", "--nosuch"
    for command in ("run", "modes", "live"):
        yield from ((command, "chain", "--set", each) for each in SETTINGS)
        yield command, "own.py", "--set", "x=1"
    for command, options in (
        ("run", ("--out", "--plot", "--animate", "--report")),
        ("modes", ("--plot", "--animate", "--report")),
    ):
        yield from ((command, "own.py", option, path) for option in options for path in targets(ENDS[option]))
    yield from (("run", "own.py", option, number) for option in ("--duration", "--step") for number in NUMBERS)
    yield from (("run", "own.py", "--every", count) for count in COUNTS)
    yield from (("run", "own.py", "--initial", word) for word in ("x", "", "quasi_static"))
    yield from (("run", "own.py", "--resume", *more) for more in ((), ("--out", "no.h5"), ("--out", "damaged.h5")))
    yield "run", "own.py", "--resume", "--overwrite", "--out", "damaged.h5"
    yield "run", "own.py", "--out", "damaged.h5"
    yield from (("modes", "own.py", "--count", count) for count in COUNTS)
    yield from (("modes", "own.py", "--mode", count) for count in (*COUNTS, "2"))
    yield from (("modes", "own.py", "--at", word) for word in ("x", "", "steady_rotation"))
    yield from (("modes", "four-bar", "--sweep", each) for each in SWEEPS)
    yield "modes", "own.py", "--sweep", "x=0:1:3"
    yield from ((*SWEEP, option, path) for option in ("--plot",) for path in targets(".png"))
    yield from ((*SWEEP, *more) for more in (("--animate", "a.gif"), ("--mode", "1"), ("--report", "a.html")))
    yield *SWEEP, "--set", "crank_angle=1"
    yield from (("report", path) for path in ("no.h5", "damaged.h5", "folder", "text.txt", "own.py", ""))
    yield from (("report", "damaged.h5", "--output", path) for path in targets(".html"))
    yield from (("report", "damaged.h5", "--frames", count) for count in COUNTS[:-1])
    yield from (("live", "own.py", option, number) for option in ("--step", "--speed") for number in NUMBERS)
    yield from (("live", "own.py", "--port", port) for port in ("-1", "70000", "x", "1.5", ""))
    yield from (("live", path) for path in ("no.h5", "damaged.h5"))
    yield from (("build", "own.py", "-o", path) for path in targets(".so"))
    yield from (("build", "own.py", "-o", "a.so", *more) for more in (("--target", "x"), ("--duration", "-1")))
    yield from (("report",), ("build", "own.py"), ("warmup", "x"), ("list", "x"), ("nosuch",), ("--nosuch",))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("command_line")
    for name, content in FILES.items():
        (folder / name).write_text(content)
    for name in ("folder", *(f"folder{ending}" for ending in (*ENDS.values(), ".so"))):
        (folder / name).mkdir(exist_ok=True)
    return folder


def said(result):
    """The one line, of this package or in the frame of Typer, without what surrounds it."""
    lines = [line.strip("│ ") for line in result.stderr.splitlines() if line.startswith(("phlexible: ", "│ "))]
    return lines[0].removeprefix("phlexible: ") if len(lines) == 1 else f"{len(lines)} lines: {result.stderr}"


def surprise(words):
    result = CliRunner().invoke(app, list(words), env={"COLUMNS": "400"})
    message = said(result)
    options = [word for word in words if word.startswith("-")] or ["model", "file", "argument", "command", "define"]
    if result.exit_code != 2 or not (result.exception is None or isinstance(result.exception, SystemExit)):
        return f"ends with {result.exit_code}, {result.exception!r}: {message}"
    if result.stdout or "Traceback" in result.stderr:
        return f"prints {result.stdout or result.stderr}"
    meant = [*options, "missing option", *(word.split("=")[0] for word in words[1:])]
    is_named = any(word.lstrip("-") in message.lower() for word in meant if word.lstrip("-"))
    return None if is_named and len(message) > 10 else f"says: {message}"


def test_no_command_is_forgotten() -> None:
    names = {each.name or each.callback.__name__ for each in app.registered_commands}
    assert names <= {words[0] for words in calls()}


def test_wrong_words_are_refused_in_one_line_before_anything_is_done(place: Path, monkeypatch) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setattr(commands, "run_live", lambda *given: print("a page is served"))  # for ever
    found = {" ".join(words): why for words in calls() if (why := surprise(words))}
    assert found == {}
