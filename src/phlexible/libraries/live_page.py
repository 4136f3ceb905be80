"""Page for a browser that steps a model, from the start of its runs to the text of the page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from phlexible.description.interactions.sensor import Sensor
from phlexible.errors import ParameterError, PhlexibleError
from phlexible.libraries.data import ModelData
from phlexible.libraries.description import check_events, library_data
from phlexible.libraries.grips import AnyMechanism, with_grips
from phlexible.libraries.linking import TARGETS, WASM, check_linker, linked_library, sources
from phlexible.libraries.outputs import page_outputs
from phlexible.libraries.parameter_models import Variants, usual_values, with_parameters
from phlexible.libraries.programs import object_files_of
from phlexible.libraries.web_page import PageParts, drawn_differently, page_of, run_ahead
from phlexible.results.live import LiveRun
from phlexible.state.recorded_run import RecordedRun


def live_page(
    model: AnyMechanism,
    start: Callable[[AnyMechanism], LiveRun],
    name: str,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Mapping[str, Sensor] | None = None,
    duration: float | None = None,
    seen: RecordedRun | None = None,
    sections: Sequence[str] = (),
    variants: Variants[Any] | None = None,
) -> str:
    """Return the HTML text of a page that simulates a model in the browser by WebAssembly. ``name`` is its title.
    The function ``start`` is called with the model, or a copy with further loads, and returns its run. ``inputs``
    get sliders, ``outputs`` (sensors by name) curves; functions of time are tabulated up to ``duration`` [s]. The
    run ``seen`` sets the view, ``sections`` are texts, ``variants`` makes models of parameters. Messages are
    printed.

    Args:
        model: stays as it is.
        start: begins a run of it, or of a copy with further loads.
        name: of the model, the title of the page.
        inputs: names of those that have sliders; None: all.
        outputs: sensors whose curves are drawn, by name; none: coordinates of joints and energies.
        duration: up to which functions of time are known [s]; None: without end.
        seen: a run of the model, which says how far things go; None: one is taken beforehand.
        sections: of the page, before those of the model.
        variants: the model as a function of parameters, which get sliders; None: there are none.

    Raises:
        ModelError, ParameterError, MissingExtraError: as of ``ph.build``.
    """
    check_linker(TARGETS[WASM])
    check_events(model)

    def parts_of(
        model: AnyMechanism, outputs: Mapping[str, Sensor] | None, inputs: Sequence[str] | None
    ) -> PageParts:
        pulled, grips = with_grips(model)
        run = start(pulled)
        loads = [load for grip in grips for load in grip.loads]
        sensors = page_outputs(model) if outputs is None else outputs
        known = name, inputs, sensors, duration
        has_parameters = variants is not None
        data = library_data(run, run.step_size, *known, loads, from_start=True, has_parameters=has_parameters)
        return PageParts(model, run, data, grips, duration, sensors)

    parts = parts_of(model, outputs, inputs)
    if variants is not None:
        parts = _with_sliders(parts, variants, parts_of, inputs)
    data = parts.data
    seen = run_ahead(start(with_grips(model)[0]), parts) if seen is None else seen
    for words in data.messages:
        print(words)
    try:
        codes = object_files_of(data.memory, {WASM: TARGETS[WASM]}, data.energies.modules)
    except RuntimeError as error:
        raise PhlexibleError(f"the programs of the model cannot be compiled: {error}") from error
    module = linked_library(TARGETS[WASM], sources(codes[WASM], data.header()))
    return page_of(parts, seen, module, sections)


def _with_sliders(
    parts: PageParts,
    variants: Variants[Any],
    parts_of: Callable[[Any, Mapping[str, Sensor] | None, Sequence[str] | None], PageParts],
    inputs: Sequence[str] | None,
) -> PageParts:
    """Return the data of a live page (``parts``) with sliders for parameters of the model added. ``variants`` is
    the model as a function of parameters. The function ``parts_of`` is called with the model of some parameter
    values, its outputs and the names of its inputs, and returns the data of its page. ``inputs`` are those with
    sliders.

    Raises:
        ParameterError: as of ``with_parameters``, and one that changes how the page draws bodies.
    """

    def data_of(values: Mapping[str, float], inputs: Sequence[str] | None) -> ModelData:
        return parts_of(*variants.made(values), inputs).data

    usual = usual_values(variants.ranges)
    for own in variants.ranges:
        for value in (own.low, own.high):
            other = parts_of(*variants.made(usual | {own.name: value}), inputs)
            has_parts = other.data.memory.counts == parts.data.memory.counts  # ``with_parameters`` refuses others
            if has_parts and (names := drawn_differently(parts, other)):
                raise ParameterError(
                    f"{own.name} changes the shape or the path of {', '.join(names)}: a page steps the model with"
                    f" other numbers, and draws it as it was built. Leave {own.name} out of parameters=, or build a"
                    " page for each value; a library or FMU takes it"
                )
    grips = [str(load) for grip in parts.grips for load in grip.loads]
    return replace(parts, data=with_parameters(data_of, parts.data, variants.ranges, inputs, grips))
