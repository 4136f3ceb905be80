"""The report of mode shapes."""

from os import PathLike
from typing import Any

import numpy as np

from phlexible.algebra.options import optional_text
from phlexible.display.html import table
from phlexible.linear_analysis.linearize import Linearization
from phlexible.linear_analysis.modes.natural_modes import Modes
from phlexible.mechanism.naming import counted
from phlexible.results.report.packing import Packing
from phlexible.results.report.page import html_path, model_tree, page, section, versions, write_page
from phlexible.results.report.scene_data import scene_data
from phlexible.results.summaries.model_tree import model_parts
from phlexible.scene.modes import PHASES, scene_of_modes
from phlexible.scene.palette import PALETTE


def report_modes(modes: Modes, linear: Linearization, path: str | PathLike[str], title: str | None = None) -> None:
    """Writes the page; see ``ModeShapes.report``."""
    target, heading = html_path(path), optional_text("title", title) or "modes"
    pack, count = Packing(), len(modes.eigenvalues)
    scene = scene_of_modes(linear, [modes.shapes[:, number] for number in range(count)])
    head: dict[str, Any] = scene_data(scene, {}, pack)
    names = [f"mode {k + 1}: {omega:.5g} rad/s" for k, omega in enumerate(modes.frequencies)]
    head["clips"] = [
        {"name": name, "first": k * (PHASES + 1), "count": PHASES + 1, "loop": True} for k, name in enumerate(names)
    ]
    head |= {"loop": True, "panels": [], "palette": PALETTE, "can_amplify": False, "arrows": []}
    rows = [
        (f"{k + 1}", f"{omega:.6g}", f"{omega / (2 * np.pi):.6g}", f"{ratio:.3g}")
        for k, (omega, ratio) in enumerate(zip(modes.frequencies, modes.damping_ratios, strict=True))
    ]
    mechanism = linear.system.mechanism
    gravity = ", ".join(f"{each:g}" for each in mechanism.gravity)
    sections = [
        section("Frequencies", table(rows, ("mode", "frequency [rad/s]", "[Hz]", "damping ratio")), is_open=True),
        section("Model", model_tree(model_parts(mechanism), f"gravity ({gravity}) m/s²")),
        section("Versions", versions()),
    ]
    subtitle = f"{counted(mechanism)}; {count} modes, {modes.rigid_modes} of them rigid"
    write_page(target, page(heading, subtitle, head, pack, sections))
