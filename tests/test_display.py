"""How objects show themselves: short texts that count everything, tables and pictures for notebooks."""

import inspect
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest

import phlexible as ph
from phlexible.display import as_text, written
from phlexible.results.progress import is_bar_shown

pytest.importorskip("matplotlib")


def hinge(model):
    wheel = model.add(ph.RigidBody(1.0, 0.1), "wheel", position=(0, 2, 0))
    return model.connect(ph.Revolute(model.ground.at((0, 2, 0)), wheel.origin))


def hung(parameters):
    model = ph.Model(dimension=2, gravity=(0, -9.81, 0))
    ball = model.add(ph.PointMass(1.0), "ball", position=(0, -2, 0))
    model.apply(ph.SpringDamper(model.ground.at((0, 0, 0)), ball.origin, parameters["k"], length=1.0))
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), ball.origin, axis=(0, 1, 0)))
    return model


@pytest.fixture(scope="module")
def everything() -> dict[str, object]:
    model = ph.gallery.crank_slider()
    motion = model.simulate(4e-4, 2e-5, progress=False)
    coupler = model["coupler"]
    hub = ph.gallery.satellite()
    linear = hub.linearize(inputs=[hub["hub"].origin])
    reduced = linear.reduce(12)
    line = ph.Model(dimension=2)
    rod = line.add(ph.Rod(1.0, ph.RectangularSection(0.02, 0.02), coupler.body.material, 2), "rod")
    triangles = ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    cloth = line.add(ph.SoftBody(triangles, ph.NeoHookean(1e6, 0.3), 1000.0, 0.01), "cloth", position=(3, 0, 0))
    line.connect(ph.Gear(line.connect(ph.Revolute(line.ground.at((0, 0, 0)), rod.start)), hinge(line), 2.0))
    sprung = ph.Model(dimension=2)
    ball = sprung.add(ph.PointMass(1.0), "ball", position=(1, 0, 0))
    sprung.apply(ph.SpringDamper(sprung.ground.at((0, 0, 0)), ball.origin, 9.0, 0.1))
    swung = hung({"k": 9.0}).simulate(0.1, 0.01, progress=False)
    live = sprung.start(step=0.01)
    return {
        "rods": line,
        "rod": rod,
        "soft body": cloth,
        "equilibrium": hung({"k": 9.0}).equilibrium(),
        "saved": live.save(),
        "live": live,
        "sensitivity": swung.sensitivity(hung, {"k": 9.0}, lambda m: [ph.Position(m["ball"].origin)]),
        "mode derivatives": ph.mode_derivatives(lambda p: hung(p).linearize(at="unloaded"), {"k": 9.0}, 2),
        "model": model,
        "body": coupler,
        "string": ph.gallery.crane()["cable"],
        "point mass": model["slider"],
        "description": coupler.body,
        "rigid body": ph.RigidBody.box((1, 1, 1), 1.0),
        "mesh": ph.TriangleMesh(np.zeros((30, 3)), [[0, 1, 2]] * 20),
        "motion": motion,
        "energy": motion.energy,
        "momentum": motion.momentum,
        "section forces": motion.section_forces(coupler),
        "stress": motion.stress(coupler),
        "linear model": linear,
        "reduced model": reduced,
        "error": reduced.error([1.0, 2.0]),
        "modes": linear.modes(4),
        "responses": linear.frequency_response([1.0, 2.0]),
        "state": motion.at(0.0),
        "recording": motion.recording,
        "data": coupler.data,
        "system": motion.run.system,
        "assembled": model.assemble(),
    }


def test_no_repr_dumps_an_array_or_an_address(everything):
    for name, each in everything.items():
        text = repr(each)
        assert "array(" not in text and " object at 0x" not in text, name
        assert len(text) < 1000 and "\n" not in text, name


def test_reprs_count_everything(everything):
    panels = ph.gallery.deployable_panels()
    assert repr(panels) == "Model(dimension=2, 4 bodies, 3 joints, 3 force elements)"
    assert repr(ph.gallery.crane()) == "Model(dimension=2, 3 bodies, 3 joints, 1 load)"
    assert repr(ph.gallery.robot_arm()) == "Model(dimension=3, 10 bodies, 10 joints, 6 force elements)"
    assert repr(everything["rods"]) == "Model(dimension=2, 3 bodies, 2 joints, 1 relation)"
    assert repr(ph.Model()) == "Model(dimension=3, no bodies)"
    assert "3 rigid" in repr(ph.gallery.satellite().linearize().modes(4))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("model", ["Model: 2 bodies, 3 joints", "coupler", "data:image/png"]),
        ("body", ["coupler: Beam", "youngs_modulus=2e+11", "<svg"]),
        ("string", ["cable: String", "axial_stiffness=2e+06", "<svg"]),
        ("point mass", ["slider: PointMass", "0.033 kg"]),
        ("motion", ["Motion of 2 bodies, 3 joints", "largest balance error [J]", "kinetic", "data:image/png"]),
        ("rods", ["rod</th>", "Rod</td>", "cloth</th>"]),
        ("rod", ["rod: Rod", "elements", "<polygon"]),
        ("soft body", ["cloth: SoftBody", "NeoHookean", "<polygon"]),
        ("equilibrium", ["stability", "stable", "potential energy", "data:image/png"]),
        ("sensitivity", ["reading 1 to k", "<polyline"]),
        ("mode derivatives", ["d/d k", "<td"]),
        ("energy", ["kinetic", "strain", "<polyline", "balance error"]),
        ("linear model", ["states", "hub.origin", "LinearModel"]),
        ("modes", ["3.04811", "damping ratio", "data:image/png"]),
    ],
)
def test_notebooks_show_a_table_and_a_picture(everything, name, said):
    page = everything[name]._repr_html_()
    for word in said:
        assert word in page, (name, word)
    assert len(page) < 200_000
    closed = re.sub(r"(<img [^>]*[^/])>", r"\1/>", page)
    ElementTree.fromstring(f"<p>{closed}</p>")  # every element is closed
    assert all("alt=" in image for image in re.findall(r"<img [^>]*>", page))
    assert all("aria-label=" in picture for picture in re.findall(r"<svg [^>]*>", page))


def test_the_energy_table_has_the_numbers(everything):
    energy = everything["energy"]
    row = re.search(r"total</th>(.*?)<td[^>]*><svg", energy._repr_html_())[1]
    numbers = [float(cell) for cell in re.findall(r"<td[^>]*>([^<]+)</td>", row)]
    total = energy.total
    assert numbers == pytest.approx([total[0], total[-1], total.min(), total.max()], rel=1e-4)


def test_names_are_offered(everything):
    model = ph.Model(dimension=2)
    steel = ph.Material(2e11, 7800.0)
    model.add(ph.Beam(1.0, ph.CircularSection(0.01), steel, elements=2).split(2), "arm")
    assert model._ipython_key_completions_() == ["arm", "arm part 1", "arm part 2"]
    rod = ph.Rod(1.0, ph.CircularSection(0.02), ph.Material(1e7, 1000.0, 0.3), elements=1)
    model.add(rod, "hose", position=(0, 3, 0))
    assert model._ipython_key_completions_()[:2] == ["arm", "hose"]
    assert everything["motion"]._ipython_key_completions_() == ["coupler", "slider"]


def test_a_report_is_shown_in_a_cell(everything):
    motion = everything["motion"]
    inline = motion.show(height=500, frames=5, sensors=[ph.Position(everything["body"].end)])
    page = inline._repr_html_()
    assert page.startswith("<iframe srcdoc=") and 'height="500"' in page
    assert "<script" not in page  # it is inside of the attribute
    assert "position of coupler.end [m]" in inline.page
    assert len(repr(inline)) < 60


def test_signatures_are_short_in_help():
    """Types by the names that they are written with; what they stand for is pages long."""
    assert str(inspect.signature(ph.Contact)).startswith(
        "(first: Attachment | MovingFrame | PlacedBody | PlacedWhole | Touchable | MeshSurface | Sequence[Attach"
    )
    assert "position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike | Rotation | None" in str(
        inspect.signature(ph.Model.add)
    )
    assert "initial: InitialKind | str | State | Equilibrium = 'undeformed'" in str(
        inspect.signature(ph.Model.simulate)
    )
    assert as_text(np.ndarray | None) == "ndarray | None"
    assert as_text(Callable[[float], int] | Literal["a"]) == "Callable | Literal['a']"
    for name in ph.__all__:
        public = getattr(ph, name)
        methods = [getattr(public, each) for each in dir(public) if not each.startswith("_")]
        for each in [public, *methods] if inspect.isclass(public) else [public]:
            if inspect.isfunction(each):
                text = str(inspect.signature(each))
                assert "_typing" not in text and len(text) < 700, (name, each)


def test_values_in_a_few_characters():
    assert written(-(10**400)) == "a whole number of 1329 bits"
    assert written(np.zeros((3, 4))) == "array 3 x 4"
    assert written(np.array([1.0, 2.5])) == "(1, 2.5)"
    assert written((1.0, None, "a")) == "(1, None, a)"
    assert written(list(range(20))) == "20 entries"
    assert written(lambda t: t) == "function <lambda>"
    assert written(ph.CircularSection(0.1)) == "CircularSection(diameter=0.1)"


def test_progress_is_shown_where_somebody_watches(monkeypatch):
    assert is_bar_shown(True) is True and is_bar_shown(False) is False
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    assert is_bar_shown(None) is False
    with pytest.raises(ph.ParameterError, match="progress"):
        is_bar_shown("yes")
