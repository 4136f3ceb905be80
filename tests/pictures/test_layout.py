"""Pictures of gallery models: nothing is cut off, covered or squeezed."""

import warnings
from itertools import combinations

import numpy as np
import pytest

import phlexible as ph
from phlexible.gallery.table import ENTRIES
from phlexible.pictures import mechanism_plot
from phlexible.pictures.style import silhouette
from refusals import refused

pytest.importorskip("matplotlib")

STEPS = 24
SMALLEST = 0.2  # of the figure, in each direction, the panels that show something
LOOSE = 2.0  # [pixels]
OF_A_KIND = set("dropped-bracket roll-up tippe-top cable-robot soft-gripper spatial-beam wind-turbine".split())
"""Models whose panels, legends and colours those of all others are like."""


def faults(figure) -> list[str]:
    """What is cut off, covered or squeezed, in words."""
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    width, height = figure.bbox.size
    bars = [each for each in figure.axes if each.get_label() == "bar of colours"]
    axes = [each for each in figure.axes if each.get_visible() and each not in bars]
    boxes = [each.get_window_extent(renderer) for each in axes]
    legends = [each.get_legend().get_window_extent(renderer) for each in axes if each.get_legend()]
    found = []
    for place in legends + [text.get_window_extent(renderer) for each in axes for text in labels_of(each)]:
        if min(place.x0, place.y0, width - place.x1, height - place.y1) < -LOOSE:
            found.append(f"something at {place} is cut off by the edge of the figure {width} x {height}")
    for each in axes:
        numbers = numbers_of(each) if each.name == "3d" else []
        for a, b in combinations(numbers, 2):
            if a.get_window_extent(renderer).overlaps(b.get_window_extent(renderer)):
                found.append(f"{a.get_text()} and {b.get_text()} touch")
    for own, place in zip([each for each in axes if each.get_legend()], legends, strict=True):
        for other, box in zip(axes, boxes, strict=True):
            if other is not own and overlap(place, box):
                found.append(f"the legend of {own.get_ylabel()} covers {other.get_ylabel()}")
        if own.name != "3d" and place.y0 < own.get_window_extent(renderer).y1 - LOOSE:
            found.append(f"the legend of {own.get_ylabel()} covers its own curves")
    found += [f"the bar of {each.get_xlabel()} is cut off" for each in bars if not fits(each, renderer)]
    found += ["two panels overlap" for a, b in combinations(boxes, 2) if overlap(a, b)]
    for each, box in zip(axes, boxes, strict=True):
        if box.width < SMALLEST * width or box.height < 0.1 * height:
            found.append(f"{each.get_ylabel()} is squeezed to {box.width:.0f} x {box.height:.0f} pixels")
    return found


def fits(bar, renderer) -> bool:
    place, whole = bar.get_tightbbox(renderer), bar.get_figure(root=True).bbox
    return place.x0 >= 0 and place.y0 >= 0 and place.x1 <= whole.width and place.y1 <= whole.height


def labels_of(axes) -> list:
    texts = [axes.xaxis.label, axes.yaxis.label]
    texts += [axes.zaxis.label] if axes.name == "3d" else [*axes.texts, axes.title]
    return [text for text in texts if text.get_visible() and text.get_text().strip()]


def numbers_of(axes) -> list:
    shown = []
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        low, high = sorted(axis.get_view_interval())
        shown += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [number for number in shown if number.get_text()]


def overlap(a, b) -> bool:
    return min(a.x1, b.x1) - max(a.x0, b.x0) > LOOSE and min(a.y1, b.y1) - max(a.y0, b.y0) > LOOSE


@pytest.mark.parametrize(
    "entry",
    [pytest.param(e, id=e.name, marks=() if e.name in OF_A_KIND else pytest.mark.thorough) for e in ENTRIES],
)
def test_the_picture_of_a_run_of_every_gallery_model(entry):
    model = entry.function()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of steps that are too long here
        motion = model.simulate(STEPS * 4 * entry.step, 4 * entry.step, progress=False)
    points = [model[p.body].at(p.fraction * model[p.body].body.length) for p in entry.points]
    figure = motion.plot(points=points)
    assert faults(figure) == []
    assert len(figure.axes) >= 2


@pytest.mark.parametrize("name", ["robot_arm", "crane", "heavy_top"])
def test_a_model_is_drawn_before_it_runs(name, tmp_path):
    model = getattr(ph.gallery, name)()
    figure = model.plot(tmp_path / "model.png", frames=True)
    assert faults(figure) == []
    named = {text.get_text() for text in figure.axes[0].texts}
    assert {placed.name for placed in model.bodies} <= named
    assert (tmp_path / "model.png").stat().st_size > 10_000


def test_a_high_model_in_space_has_room_for_its_labels():
    model = ph.Model(gravity=(0, 0, -9.81))
    ball = model.add(ph.PointMass(1.0), "ball", position=(1, 0, -0.5))
    model.apply(ph.SpringDamper(model.ground.at((1, 0, 1)), ball.origin, 500.0))
    model.add(ph.RigidBody.box((1, 0.1, 0.1), 100.0, (0.5, 0, 0)), "bar")
    assert faults(model.plot()) == []
    assert faults(model.simulate(0.1, 0.01, progress=False).plot()) == []


def test_what_comes_back_to_its_place_is_drawn_elsewhere_too():
    """A ball that is at the top of its flight at evenly spread instants."""
    model = ph.Model(gravity=(0, 0, -9.81))
    ball = model.add(ph.RigidBody.sphere(0.1, 100.0), "ball", position=(0, 0, 1))
    model.apply(ph.SpringDamper(model.ground.at((0, 0, 2)), ball.origin, 400.0, length=1.0))
    period = 2 * np.pi * np.sqrt(ball.body.mass / 400.0)
    motion = model.simulate(3 * period, period / 100, progress=False)
    chosen = mechanism_plot._overview_instants(motion.run)
    heights = np.sort(motion.position(ball.origin)[chosen, 2])
    assert len(chosen) == 4 and np.all(np.diff(chosen) > 0)
    assert np.diff(heights).min() > 0.2 * np.ptp(motion.position(ball.origin)[:, 2])


def test_names_do_not_cover_each_other():
    figure = ph.gallery.robot_arm().plot()
    renderer = figure.canvas.get_renderer()
    names = [text.get_window_extent(renderer) for text in figure.axes[0].texts]
    assert len(names) == 10
    assert not any(overlap(a, b) for a, b in combinations(names, 2))


def test_other_pictures_have_room_too():
    model = ph.gallery.crank_slider()
    motion = model.simulate(1e-3, 1e-4, progress=False)
    linear = ph.gallery.satellite().linearize(inputs=[ph.gallery.satellite()["hub"].origin][:0])
    figures = [motion.plot_energy(), motion.plot_mechanism(3), motion.plot_reaction(model.joints[1])]
    figures += [
        motion.plot_elastic_displacement(model["coupler"].end),
        motion.plot_section_forces(model["coupler"]),
    ]
    for figure in (*figures, linear.modes(6).plot()):
        assert faults(figure) == []


def test_outlines_of_solids():
    """Of a cube seen along z its square; of a ball a closed ring."""
    cube = ph.Box((1.0, 1.0, 1.0)).centred()
    edges = cube.vertices[silhouette(cube.vertices, cube.triangles)]
    assert np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1) == pytest.approx(np.ones(4))
    ball = ph.Sphere(1.0).centred()
    ring = ball.vertices[silhouette(ball.vertices, ball.triangles)]
    assert len(ring) >= 12
    assert np.linalg.norm(ring[..., :2], axis=-1) == pytest.approx(1.0, abs=0.05)


def test_a_model_without_bodies_is_refused_and_pictures_of_other_dimensions_too():
    from matplotlib.figure import Figure

    refused(ph.ModelError, "no bodies", ph.Model().plot)
    refused(ph.ParameterError, "dimension 3", lambda: ph.gallery.heavy_top().plot(axes=Figure().subplots()))
