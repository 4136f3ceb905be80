"""Motions and running models in a browser, until somebody ends it."""

import time
from pathlib import Path

from phlexible.model import Model
from phlexible.results.motion import Motion

PATIENCE = 1.0
"""Between two looks at a file that may grow [s]."""
BETWEEN = 60.0
"""What is past is forgotten so often [s], for runs without end."""


def follow(results: Path, port: int) -> None:
    """Shows the motion in a file, and what a run adds to it meanwhile."""
    with Motion.load(results).live(port=port) as view:
        print(f"{results} is at {view.url}; Ctrl-C ends it", flush=True)
        view.play()
        seen = results.stat().st_mtime_ns
        while view.is_open:
            time.sleep(PATIENCE)
            if results.stat().st_mtime_ns != seen:
                seen = results.stat().st_mtime_ns
                view.replace(Motion.load(results))


def run_live(model: Model, step: float, speed: float, port: int) -> None:
    """Steps a model in the time of a clock."""
    run = model.start(step=step)
    with run.live(port=port) as view:
        print(f"the model runs at {view.url}; Ctrl-C ends it", flush=True)
        while view.is_running:
            view.run(BETWEEN * speed, speed)
            run.forget()
