"""Parts of the site that Sphinx asks for by name: the order of tutorials, and what examples wrote."""

import shutil
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
REPORTS = HERE / "extra" / "reports" / "tutorials"
"""Reports that examples wrote, copied to reports/tutorials of the site; beside it those of the gallery."""

# From the first pendulum to what needs more than one idea.
ORDER = (
    *("06", "01", "07", "08", "09", "10", "11", "12", "13", "14", "15", "16", "20", "19", "17", "18"),
    *("02", "03", "04", "05"),
)

INTERNAL = {
    "bodies": "craig_bampton_basis described_coordinates discretize element_forces element_shapes resolved "
    "initial_nodes memory node_places paint contact_positions port_locations sections_at skin with_rotation "
    "stiffness_at "
    "stress_space with_axial",
    "description.joints": "across parts rows unit_axes unit_axis coordinates",
    "description.interactions": "area at_time availability check_inside check_size continued coordinate "
    "coordinate_name coordinates direction entries extent forces gaps initial_coordinate is_active "
    "is_actuator is_lossy is_plain members parts periods_of_delay quadrature "
    "read rows share target_at times touchers",
    "measure": "continued of of_kind read rows share",
    "shapes": "centred placed",
    "description.mechanism": "applied_elements expect group group_rod switches with_locks set_events",
    "description": "drawn elastic expect receive settle waiting",
}
"""What the parts of the library ask of each other, by folder; pages of the reference show what users call."""


def is_internal(app, what: str, name: str, member: object, skip: bool, options: object) -> bool | None:
    """Whether the reference leaves a member out; None: as Sphinx thinks best."""
    function = getattr(member, "fget", None) or getattr(member, "func", None) or member
    module = str(getattr(function, "__module__", "")).removeprefix("phlexible.")
    folder = max((each for each in INTERNAL if module.startswith(f"{each}.")), key=len, default=None)
    return True if folder and name.rpartition(".")[2] in INTERNAL[folder].split() else None


def example_order(name: str) -> int:
    """Place of an example in the list of tutorials; one that nobody placed comes last."""
    number = Path(name).name[:2]
    return ORDER.index(number) if number in ORDER else len(ORDER)


def _new(folder: Path, kind: str) -> Iterator[Path]:
    yield from sorted(folder.glob(f"*.{kind}"))


def written_files(block, block_vars: dict[str, object], gallery_conf: dict[str, object]) -> str:
    """Pictures and reports that a part of an example wrote beside itself, as text of its page."""
    folder = Path(str(block_vars["src_file"])).parent
    pages = []
    for picture in _new(folder, "png"):
        path = Path(next(block_vars["image_path_iterator"]))  # type: ignore[call-overload]
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(picture, path)
        shown = path.relative_to(Path(str(gallery_conf["src_dir"]))).as_posix()
        pages.append(
            f".. image:: /{shown}\n   :alt: {picture.stem.replace('_', ' ')}\n   :class: sphx-glr-single-img\n"
        )
    for report in _new(folder, "html"):
        REPORTS.mkdir(parents=True, exist_ok=True)
        shutil.move(report, REPORTS / report.name)
        frame = (
            f'<iframe class="report" src="../reports/tutorials/{report.name}" title="interactive report"></iframe>'
        )
        pages.append(f".. raw:: html\n\n   {frame}\n")
    return "\n".join(pages)
