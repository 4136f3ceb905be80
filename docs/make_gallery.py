"""Runs every model of the gallery for the site: python docs/make_gallery.py.

Writes ``docs/gallery/index.md`` with a small picture of each model and a page of each topic, a report of each model
under ``docs/extra/reports``, and under ``docs/extra/live`` a page that moves of each that can be built without
Python. Models run in as many processes as there are processors. Runs are kept until a program of the package
changes; ``--all`` runs all of them again.
"""

import hashlib
import json
import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import redirect_stdout
from html import escape
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from site_parts import SCENES, draw_scene  # noqa: E402

import phlexible as ph  # noqa: E402
from phlexible.cli import app  # noqa: E402
from phlexible.gallery.entries import TOPICS, GalleryEntry  # noqa: E402
from phlexible.gallery.table import ENTRIES  # noqa: E402

PACKAGE = HERE.parent / "src" / "phlexible"
PAGE, REPORTS, LIVE = HERE / "gallery", HERE / "extra" / "reports", HERE / "extra" / "live"
KEPT = PAGE / "runs.json"
COMMANDS = {
    "four-bar": "run four-bar --set crank_speed=10 --duration 0.7 --step 5e-4",
    "satellite": "modes satellite --count 8",
    "spinning-shaft": "modes spinning-shaft --count 6",
}
"""Of models that rest with their defaults, or whose motion shows nothing; of the others ``run NAME``."""
MOVED = {"four-bar": {"crank_speed": 10.0}}
"""Parameters of models that rest with their defaults."""
SLIDERS = {
    "crank-slider": {"youngs_modulus": (2e10, 2e11, 4e11, "Pa"), "slider_mass": (0.01, 0.033, 0.1, "kg")},
    "flexible-pendulum": {"youngs_modulus": (1e10, 2e11, 4e11, "Pa")},
}
"""Parameters of pages that move, which get sliders."""
OUTPUTS = {
    "crank-slider": lambda model: {
        "deflection of the middle of the rod": ph.ElasticDisplacement(model["coupler"].at(0.15), (0.0, 1.0, 0.0)),
        "strain energy of the rod": ph.EnergyOf("strain"),
    },
}
"""Sensors of pages that move, whose curves tell more than coordinates of joints."""
LONGER = 3
"""Times the usual duration: up to which functions of time are known on pages that move."""
HEAD = """# Gallery

Every model of `ph.gallery`. A picture leads to the model: how it moves, its report to play and turn, its command
and its source. `ph.gallery.NAME(...)` is the model in Python, with the parameters that `phlexible list` prints.

```{toctree}
:hidden:

"""
TOPIC_HEAD = """
Pictures and reports as `phlexible run NAME --plot picture.png --report report.html` writes them. A picture opens
its report: space plays, dragging turns. "It moves" is the model itself, stepped by your browser, to be pulled at
with the mouse ([how](../how_to/models_without_python.md)).

"""


def state_of_the_package() -> str:
    """Changes with every program of the package."""
    digest = hashlib.sha256()
    for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.[ch]"), *PACKAGE.rglob("assets/*")]):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def command(entry: GalleryEntry) -> str:
    """What shows the model, without ``phlexible``."""
    return COMMANDS.get(entry.name, f"run {entry.name}")


def run(entry: GalleryEntry) -> None:
    """Picture and report of one model, as the command line makes them."""
    outputs = ["--plot", str(PAGE / f"{entry.name}.png"), "--report", str(REPORTS / f"{entry.name}.html")]
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = Path(folder) / "run.h5"
        is_run = command(entry).startswith("run")
        app(
            [*command(entry).split(), *outputs, *(["--out", str(results)] if is_run else [])], standalone_mode=False
        )
        motion = ph.Motion.load(results) if is_run else entry.function().simulate(entry.step, entry.step)
        draw_scene(motion, SCENES / f"{entry.name}.png")


def build_page(entry: GalleryEntry) -> bool:
    """The page that moves, where the model needs no Python; whether there is one."""
    ranges, path = SLIDERS.get(entry.name), LIVE / f"{entry.name}.html"
    model = entry.function(**MOVED.get(entry.name, {})) if ranges is None else entry.function
    path.unlink(missing_ok=True)
    with redirect_stdout(StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            outputs = OUTPUTS.get(entry.name)
            ph.build(model, entry.step, path, outputs=outputs, duration=LONGER * entry.duration, parameters=ranges)
        except (ph.errors.ModelError, ph.errors.ParameterError):  # controllers, events, functions without pattern
            return False
    return True


def text(entry: GalleryEntry) -> str:
    """What the page says of one model."""
    documentation = entry.function.__doc__ or ""
    reference = documentation.partition("Source:")[2].partition("Reference:")[0]
    source = " ".join(reference.split()).replace("``", "`")
    name = entry.name
    live = f'<a href="../live/{name}.html">It moves</a>; ' if (LIVE / f"{name}.html").exists() else ""
    return f"""## {name}

{entry.title}

```{{raw}} html
<a class="gallery-model" href="../reports/{name}.html" title="report of {name}">
```

```{{image}} {name}.png
:alt: {name}: how it moves, and what tells most of it
:class: gallery-model
```

```{{raw}} html
</a>
```

{live}`phlexible {command(entry)}`, `ph.gallery.{entry.function.__name__}()`; source: {source}
"""


def card(entry: GalleryEntry, page: str) -> str:
    """Small picture of a model with its name and a sentence, which leads to the model on a page."""
    name, title = entry.name, escape(entry.title)
    picture = f'<img src="../scenes/{name}.png" alt="" loading="lazy" width="480" height="336">'
    return f'<a href="{page}.html#{name}">{picture}<b>{name}</b><span>{title}</span></a>'


def write_pages() -> None:
    """The overview, and a page of each topic."""
    parts = [HEAD, *(f"{page}\n" for page in TOPICS), "```\n"]
    for page, title in TOPICS.items():
        members = [entry for entry in ENTRIES if entry.topic == title]
        cards = "\n".join(card(entry, page) for entry in members)
        parts.append(f'\n## {title}\n\n```{{raw}} html\n<div class="cards">\n{cards}\n</div>\n```\n')
        texts = "\n".join(map(text, members))
        (PAGE / f"{page}.md").write_text(f"# {title}\n{TOPIC_HEAD}{texts}", encoding="utf-8")
    (PAGE / "index.md").write_text("".join(parts), encoding="utf-8")


def make(number: int) -> int:
    """Write the files of the model of a number, and return the number."""
    run(ENTRIES[number])
    build_page(ENTRIES[number])
    return number


def main(everything: bool) -> None:
    for folder in (PAGE, REPORTS, LIVE, SCENES):
        folder.mkdir(parents=True, exist_ok=True)
    state = state_of_the_package()
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() and not everything else {}

    def is_kept(entry: GalleryEntry) -> bool:
        files = (PAGE / f"{entry.name}.png", REPORTS / f"{entry.name}.html", SCENES / f"{entry.name}.png")
        return kept.get(entry.name) == state and all(path.exists() for path in files)

    def keep(number: int) -> None:
        print(f"made {ENTRIES[number].name}", flush=True)
        kept[ENTRIES[number].name] = state
        KEPT.write_text(json.dumps(kept, indent=1), encoding="utf-8")

    numbers = [number for number, entry in enumerate(ENTRIES) if not is_kept(entry)]
    if numbers:
        keep(make(numbers[0]))  # compiles for all processes
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        for done in as_completed([pool.submit(make, number) for number in numbers[1:]]):
            keep(done.result())
    write_pages()


if __name__ == "__main__":
    main("--all" in sys.argv[1:])
