"""A model as one page of a browser that steps it: from how its runs begin to the text of the page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from phlexible.description.interactions.sensor import Sensor
from phlexible.errors import PhlexibleError
from phlexible.libraries.description import check_events, described
from phlexible.libraries.grips import AnyMechanism, gripped
from phlexible.libraries.linking import TARGETS, WASM, check_linker, linked, sources
from phlexible.libraries.outputs import page_outputs
from phlexible.libraries.programs import object_files_of
from phlexible.libraries.web_page import PageParts, page_of, run_ahead
from phlexible.results.live import LiveRun
from phlexible.state.recorded_run import RecordedRun


@dataclass(frozen=True, eq=False)
class PageChoices:
    """What a page shows.

    Attributes:
        name: of the model, the title of the page.
        inputs: names of those that have sliders; None: all.
        outputs: sensors whose curves are drawn, by name; none: coordinates of joints and energies.
        duration: up to which functions of time are known [s]; None: without end.
        seen: a run of the model, which says how far things go; None: one is taken beforehand.
        sections: of the page, before those of the model.
    """

    name: str
    inputs: Sequence[str] | None = None
    outputs: Mapping[str, Sensor] | None = None
    duration: float | None = None
    seen: RecordedRun | None = None
    sections: Sequence[str] = ()


def live_page(model: AnyMechanism, start: Callable[[AnyMechanism], LiveRun], choices: PageChoices) -> str:
    """The page as text; what became of functions of time is printed.

    Args:
        model: stays as it is.
        start: begins a run of it, or of a copy with further loads.
        choices: what it shows.

    Raises:
        ModelError, ParameterError, MissingExtraError: as of ``ph.build``.
    """
    check_linker(TARGETS[WASM])
    check_events(model)
    outputs = page_outputs(model) if choices.outputs is None else choices.outputs
    pulled, grips = gripped(model)
    run = start(pulled)
    loads = [load for grip in grips for load in grip.loads]
    data = described(
        run, run.step_size, choices.name, choices.inputs, outputs, choices.duration, loads, from_start=True
    )
    parts = PageParts(model, run, data, grips, choices.duration)
    seen = run_ahead(start(pulled), parts) if choices.seen is None else choices.seen
    for words in data.words:
        print(words)
    try:
        codes = object_files_of(data.memory, {WASM: TARGETS[WASM]}, data.energies.modules)
    except RuntimeError as error:
        raise PhlexibleError(f"the programs of the model cannot be compiled: {error}") from error
    module = linked(TARGETS[WASM], sources(codes[WASM], data.header()))
    return page_of(parts, seen, module, choices.sections)
