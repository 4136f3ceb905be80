"""Runs every model of the gallery for the site: python docs/make_gallery.py.

Writes ``docs/gallery/index.md`` with a picture of each, a report of each under ``docs/extra/reports``, and under
``docs/extra/live`` a page that moves of each that can be built without Python. Runs are kept until a program of the
package changes; ``--all`` runs all of them again.
"""

import hashlib
import json
import sys
import warnings
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import phlexible as ph
from phlexible.cli import app
from phlexible.gallery.entries import TOPICS, GalleryEntry
from phlexible.gallery.table import ENTRIES

HERE = Path(__file__).parent
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
LONGER = 3
"""Times the usual duration: up to which functions of time are known on pages that move."""
HEAD = """# Gallery

Every model of `ph.gallery`, as `phlexible run NAME --plot picture.png --report report.html` shows it. A picture
opens its report: space plays, dragging turns. "It moves" is the model itself, stepped by your browser, to be pulled
at with the mouse ([how](../how_to/models_without_python.md)). `ph.gallery.NAME(...)` is the model in Python, with
the parameters that `phlexible list` prints; its docstring has the source and the numbers that tests hold it to.
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
    with redirect_stdout(StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        app([*command(entry).split(), *outputs], standalone_mode=False)


def build_page(entry: GalleryEntry) -> bool:
    """The page that moves, where the model needs no Python; whether there is one."""
    ranges, path = SLIDERS.get(entry.name), LIVE / f"{entry.name}.html"
    model = entry.function(**MOVED.get(entry.name, {})) if ranges is None else entry.function
    path.unlink(missing_ok=True)
    with redirect_stdout(StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ph.build(model, entry.step, path, duration=LONGER * entry.duration, parameters=ranges)
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
    return f"""### {name}

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


def main(everything: bool) -> None:
    for folder in (PAGE, REPORTS, LIVE):
        folder.mkdir(parents=True, exist_ok=True)
    state = state_of_the_package()
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() and not everything else {}
    for entry in ENTRIES:
        files = (PAGE / f"{entry.name}.png", REPORTS / f"{entry.name}.html")
        if kept.get(entry.name) == state and all(path.exists() for path in files):
            continue
        print(f"running {entry.name}", flush=True)
        run(entry)
        build_page(entry)
        kept[entry.name] = state
        KEPT.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    parts = [HEAD]
    for title in TOPICS.values():
        members = [entry for entry in ENTRIES if entry.topic == title]
        parts += [f"## {title}\n", *map(text, members)]
    (PAGE / "index.md").write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main("--all" in sys.argv[1:])
