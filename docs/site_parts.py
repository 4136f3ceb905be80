"""Parts of the site that Sphinx asks for by name: order and thumbnails of tutorials, and what examples wrote."""

import shutil
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

import phlexible as ph

HERE = Path(__file__).parent
SCENES = HERE / "extra" / "scenes"
"""Small pictures of mechanisms: of the gallery, and of tutorials in a folder of its own."""
SIZE, MARGIN = (480, 336), 16  # [pixels]
REPORTS = HERE / "extra" / "reports" / "tutorials"
"""Reports that examples wrote, copied to reports/tutorials of the site; beside it those of the gallery."""

# From the first pendulum to what needs more than one idea.
ORDER = (
    *("06", "01", "07", "08", "09", "10", "11", "12", "13", "14", "15", "16", "20", "19", "17", "18"),
    *("02", "03", "04", "05"),
)

INTERNAL = {
    "bodies": "craig_bampton_basis described_coordinates discretize element_forces element_shapes resolved "
    "initial_nodes memory node_positions paint contact_positions port_locations sections_at skin with_rotation "
    "stiffness_at "
    "stress_space with_axial",
    "description.joints": "perpendicular_directions parts constraints unit_axes unit_axis coordinates "
    "warn_of_gravity",
    "description.interactions": "area at_time check_components check_size coordinate "
    "coordinate_name coordinates constraints direction entries extent forces gaps initial_coordinate is_active "
    "is_actuator is_lossy is_of_motion is_plain_function members parts delay_periods quadrature "
    "read rows linear_reading target_at times touching_ports unwrapped",
    "measure": "unwrapped readings_of of_kind read rows linear_reading",
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


def draw_scene(motion: ph.Motion, path: Path) -> None:
    """Write a small picture of a mechanism at some instants: bodies alone, without axes and words."""
    dimension = motion.mechanism.dimension
    figure = Figure(figsize=(8.0, 5.6) if dimension == 3 else (4.0, 2.8))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d" if dimension == 3 else None)
    motion.plot_mechanism(3 if dimension == 3 else 5, axes=axes)
    axes.set_axis_off()
    axes.set_title("", loc="right")
    for words in (axes.get_legend(), *axes.texts, *axes.child_axes, *figure.axes[1:]):
        if words is not None:
            words.remove()
    content = BytesIO()
    figure.savefig(content, dpi=150, transparent=True)
    drawn = Image.open(content)
    drawn = drawn.crop(drawn.getchannel("A").getbbox())
    whole = Image.new("RGBA", SIZE)
    drawn.thumbnail((SIZE[0] - 2 * MARGIN, SIZE[1] - 2 * MARGIN))
    whole.paste(drawn, ((SIZE[0] - drawn.width) // 2, (SIZE[1] - drawn.height) // 2))
    whole.save(path)


def show_scenes(app) -> None:
    """Give tutorials the pictures of their mechanisms as thumbnails, once they have run."""
    for scene in (SCENES / "tutorials").glob("*.png"):
        shutil.copy(scene, HERE / "tutorials" / "images" / "thumb" / f"sphx_glr_{scene.stem}_thumb.png")


def example_order(name: str) -> int:
    """Place of an example in the list of tutorials; one that nobody placed comes last."""
    number = Path(name).name[:2]
    return ORDER.index(number) if number in ORDER else len(ORDER)


def _new(folder: Path, kind: str) -> Iterator[Path]:
    yield from sorted(folder.glob(f"*.{kind}"))


def written_files(block, block_vars: dict[str, object], gallery_conf: dict[str, object]) -> str:
    """Pictures and reports that a part of an example wrote beside itself, as text of its page."""
    source = Path(str(block_vars["src_file"]))
    folder = source.parent
    pages = []
    values = list(block_vars["example_globals"].values())  # type: ignore[attr-defined]
    if motions := [each for each in values if isinstance(each, ph.Motion)]:
        (SCENES / "tutorials").mkdir(parents=True, exist_ok=True)
        draw_scene(motions[-1], SCENES / "tutorials" / f"{source.stem}.png")
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
