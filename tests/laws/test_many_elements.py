"""Bodies of 10, 100 and 300 elements rest, sag and swing alike: nothing depends on how finely they are divided."""

import numpy as np
import pytest
import skfem

import phlexible as ph

LENGTH, THICK, GRAVITY = 1.0, 0.02, 9.81
STEEL = ph.Material(2e11, 7800.0, 0.0)
SQUARE = ph.RectangularSection(THICK, THICK)
WEIGHT = STEEL.density * THICK**2 * GRAVITY  # of a metre
BENDING = STEEL.youngs_modulus * THICK**4 / 12
SAG = WEIGHT * LENGTH**4 / (8 * BENDING)
FIRST = 1.8751040687**2 * np.sqrt(BENDING * GRAVITY / WEIGHT) / LENGTH**2
SOLID = ph.StVenantKirchhoff(STEEL.youngs_modulus, 0.0)
ENDS = {"start": (lambda x: x[0] < 1e-9, "rigid"), "end": (lambda x: x[0] > LENGTH - 1e-9, "rigid")}


def clamp(model, placed):
    """Holds the nodes of a soft body at its start; one at its end."""
    for number in placed.body.points_where(lambda x: x[0] < 1e-9).tolist():
        model.connect(ph.Spherical(model.ground.at(placed.node(number).initial_position()), placed.node(number)))
    return placed.node(int(placed.body.points_where(lambda x: x[0] > LENGTH - 1e-9)[0]))


def strip(elements: int, layers: int) -> skfem.MeshQuad:
    across = np.linspace(-THICK / 2, THICK / 2, layers + 1)
    return skfem.MeshQuad.init_tensor(np.linspace(0, LENGTH, elements + 1), across)


BODIES = {
    "beam in the plane": (2, lambda n: ph.Beam(LENGTH, SQUARE, STEEL, elements=n)),
    "beam": (3, lambda n: ph.Beam(LENGTH, SQUARE, STEEL, elements=n)),
    "beam with shear": (2, lambda n: ph.Beam(LENGTH, SQUARE, STEEL, elements=n, theory="timoshenko")),
    "mean-axis beam": (2, lambda n: ph.Beam(LENGTH, SQUARE, STEEL, elements=n, frame="mean_axis")),
    "rod": (2, lambda n: ph.Rod(LENGTH, SQUARE, STEEL, elements=n // 2, order=2)),
    "rod in space": (3, lambda n: ph.Rod(LENGTH, SQUARE, STEEL, elements=n // 2, order=2)),
    "soft": (2, lambda n: ph.SoftBody(strip(n, 1), SOLID, STEEL.density, order=2, thickness=THICK)),
    "plate": (3, lambda n: ph.Plate(LENGTH, THICK, THICK, STEEL, (n, 1), interfaces=dict.fromkeys(ENDS, "rigid"))),
    "mesh": (2, lambda n: ph.FlexibleBody.from_mesh(strip(n, 2), STEEL, ENDS, thickness=THICK, modes=3)),
}


QUICK = [(300, "beam in the plane"), (300, "mesh")]


@pytest.mark.parametrize(
    ("name", "elements"),
    [
        pytest.param(name, n, marks=() if n == 10 or (n, name) in QUICK else pytest.mark.thorough)
        for name in BODIES
        for n in (10, 100, 300)
    ],
)
def test_cantilevers_sag_and_swing_alike(name, elements):
    dimension, make = BODIES[name]
    across = 1 if dimension == 2 or name in ("beam", "rod in space") else 2
    model = ph.Model(gravity=-GRAVITY * np.eye(3)[across], dimension=dimension)
    placed = model.add(make(elements), "body")
    if name == "soft":
        end = clamp(model, placed)
    else:
        start, end = (placed[each] if name in ("plate", "mesh") else getattr(placed, each) for each in ENDS)
        model.connect(ph.Fixed(model.ground.at((0, 0, 0)), start))
    rest = model.equilibrium()
    assert (rest.position(end) - end.initial_position())[across] == pytest.approx(-SAG, rel=3e-3)
    assert model.linearize(at="static").modes(1).frequencies == pytest.approx(FIRST, rel=2e-3)
    for initial in (rest,) if name == "soft" else (rest, "quasi_static"):  # soft bodies start as they are placed
        position = model.simulate(2e-5, 1e-5, initial=initial, progress=False).position(end)
        assert position == pytest.approx(np.tile(rest.position(end), (3, 1)), abs=1e-5 * SAG)


@pytest.mark.parametrize("elements", [10, 100, 300])
@pytest.mark.parametrize(("kind", "dimension"), [("soft", 2), ("string", 2), ("string", 3), ("soft of order 2", 2)])
def test_what_hangs_is_stretched_by_its_weight_alike(kind, dimension, elements):
    """A string, and a bar of a soft solid: w L^2 / (2 E A)."""
    model = ph.Model(gravity=(GRAVITY, 0, 0), dimension=dimension)
    stretch = WEIGHT * LENGTH**2 / (2 * STEEL.youngs_modulus * THICK**2)
    if kind == "string":
        law = ph.LinearLaw(STEEL.youngs_modulus * THICK**2)
        string = model.add(ph.String(LENGTH, WEIGHT / GRAVITY, elements, law), "string")
        model.connect(ph.Spherical(model.ground.at((0, 0, 0)), string.start))
        end = string.end
    else:
        order = 2 if kind.endswith("2") else 1
        bar = ph.SoftBody(strip(elements, 1), SOLID, STEEL.density, order=order, thickness=THICK)
        end = clamp(model, model.add(bar, "bar"))
    rest = model.equilibrium()
    assert rest.position(end)[0] - LENGTH == pytest.approx(stretch, rel=1e-3)
    if kind == "string":  # half the first zero of J0, times sqrt(g / L)
        assert model.linearize(at="static").modes(1).frequencies == pytest.approx(1.2024 * GRAVITY**0.5, rel=1e-3)
    motion = model.simulate(2e-7, 1e-7, initial=rest, progress=False)
    assert motion.position(end) == pytest.approx(np.tile(rest.position(end), (3, 1)), abs=1e-3 * stretch)


@pytest.mark.parametrize("elements", [10, 100, 300])
@pytest.mark.parametrize("name", ["beam", "beam in the plane", "rod", "plate"])
def test_steps_at_rest_take_few_iterations(name, elements):
    """Elastic forces of thin elements are small differences of large numbers, whose round-off is none of motion."""
    dimension, make = BODIES[name]
    model = ph.Model(gravity=-GRAVITY * np.eye(3)[dimension - 1], dimension=dimension)
    placed = model.add(make(elements), "body")
    start = placed["start"] if name == "plate" else placed.start
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), start))
    motion = model.simulate(0.1, 1e-2, initial="quasi_static", progress=False)
    assert motion.iterations[-1] <= 40
    assert not motion.halvings.any()


@pytest.mark.parametrize("elements", [10, 40])
def test_what_a_quasi_static_start_leaves_as_placed_is_named(elements):
    model = ph.Model(gravity=(0, 0, -GRAVITY))
    sheet = ph.Shell.plate(LENGTH, THICK, THICK / 10, STEEL, (elements, 1), interfaces={"start": "rigid"})
    placed = model.add(sheet, "sheet")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), placed["start"]))
    with pytest.warns(ph.errors.LeftOutWarning, match="leaves sheet as placed; take initial=model.equilibrium"):
        motion = model.simulate(1e-3, 1e-3, initial="quasi_static", progress=False)
    assert motion.position(placed["end"])[0] == pytest.approx([LENGTH, 0, 0], abs=1e-12)
