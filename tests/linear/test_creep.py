"""Linear models of laws that creep against closed forms and the step (docs/theory.md, 8; (8.38))."""

from dataclasses import replace

import numpy as np
import pytest
import skfem
from scipy.spatial.transform import Rotation

import phlexible as ph
from linear.test_pieces_at_rest import kicked
from phlexible.errors import ModelError
from phlexible.linear import modes

LENGTH, AREA, MODULUS = 0.8, 4e-4, 2e6
FREQUENCIES = np.array([1e-3, 0.2, 3.0, 40.0, 600.0])
RUBBER = ph.Maxwell([(3e6, 0.02), (1e6, 0.5)])
RIGID = {"start": "rigid", "end": "rigid"}
LIGHT = 1e-9
"""kg/m3: no inertia to speak of at these frequencies."""


def string(law):
    own = ph.String(LENGTH, LIGHT * AREA, 3, ph.StVenantKirchhoffLaw(AREA * MODULUS), relaxation=law.scaled(AREA))
    return own, lambda placed: placed.start, lambda placed: placed.end, ph.Spherical


def rod(law):
    material = ph.Material(MODULUS, LIGHT, 0.0, relaxation=law)
    own = ph.Rod(LENGTH, ph.RectangularSection(0.02, 0.02), material, elements=3)
    return own, lambda placed: placed.start, lambda placed: placed.end, ph.Fixed


def soft(law):
    bar = skfem.MeshHex.init_tensor(np.linspace(0, LENGTH, 3), *[np.linspace(0, 0.02, 2)] * 2)
    ends = {"left": lambda x: x[0] < 1e-9, "right": lambda x: x[0] > LENGTH - 1e-9}
    own = ph.SoftBody(bar, ph.StVenantKirchhoff(MODULUS, 0.0), LIGHT, interfaces=ends, order=1, relaxation=law)
    return own, lambda placed: placed["left"], lambda placed: placed["right"], ph.Spherical


def beam(law):
    material = ph.Material(MODULUS, LIGHT, relaxation=law)
    own = ph.Beam(LENGTH, ph.RectangularSection(0.02, 0.02), material, elements=2)
    return own, lambda placed: placed.start, lambda placed: placed.end, ph.Fixed


def general(law):
    """Shares of a stiffness matrix."""
    section = ph.GeneralSection(
        AREA * MODULUS * np.diag([1, 0.4, 0.4, 1e-4, 1e-4, 1e-4]),
        AREA * LIGHT * np.diag([1, 1, 1, 2e-4, 1e-4, 1e-4]),
        relaxation=law.scaled(1 / MODULUS),
    )
    own = ph.Beam(LENGTH, section, elements=2, theory="timoshenko")
    return own, lambda placed: placed.start, lambda placed: placed.end, ph.Fixed


def general_rod(law):
    own = ph.Rod(LENGTH, general(law)[0].section, elements=2)
    return own, lambda placed: placed.start, lambda placed: placed.end, ph.Fixed


def meshed(law):
    bar = skfem.MeshHex.init_tensor(np.linspace(0, LENGTH, 3), *[np.linspace(0, 0.02, 2)] * 2)
    ends = {"left": (lambda x: x[0] < 1e-9, "rigid"), "right": (lambda x: x[0] > LENGTH - 1e-9, "rigid")}
    material = ph.Material(MODULUS, LIGHT, 0.0, relaxation=law)
    own = ph.FlexibleBody.from_mesh(bar, material, ends, modes=2, frame="left", strain="linear", order=1)
    return own, lambda placed: placed["left"], lambda placed: placed["right"], ph.Fixed


def plate(law):
    """Pulled in its plane."""
    material = ph.Material(MODULUS, LIGHT, 0.0, relaxation=law)
    options = {"strain": "linear", "modes": 2, "frame": "start", "interfaces": RIGID}
    own = ph.Plate(LENGTH, 0.02, 0.02, material, elements=(2, 1), **options)
    return own, lambda placed: placed["start"], lambda placed: placed["end"], ph.Fixed


BARS = [string, rod, soft, beam, general, general_rod, meshed, plate]
CENTRE = {soft: (0.01, 0.01), meshed: (0.01, 0.01)}


@pytest.mark.filterwarnings("ignore::phlexible.MeshWarning")  # without inertia sound is quick
@pytest.mark.parametrize("bar", BARS)
def test_the_compliance_of_a_bar_is_that_of_the_complex_modulus(bar):
    """u / F = L / (A E(i w)), E(i w) = E + sum E_b i w tau_b / (1 + i w tau_b), whichever form."""
    body, left, right, join = bar(RUBBER)
    model = ph.Model()
    placed = model.add(body, "bar")
    model.connect(join(model.ground.at((0, *CENTRE.get(bar, (0, 0)))), left(placed)))
    linear = model.linearize([ph.Force(right(placed), (1, 0, 0))], [ph.Displacement(right(placed), (1, 0, 0))])
    wanted = LENGTH / AREA / (MODULUS + RUBBER.complex_stiffness(FREQUENCIES))
    found = linear.frequency_response(FREQUENCIES).values[:, 0, 0]
    assert found == pytest.approx(wanted, rel=1e-7)
    general = replace(linear, mechanics=None)  # by the states, strains among them
    assert general.frequency_response(FREQUENCIES).values[:, 0, 0] == pytest.approx(found, rel=1e-9)
    assert linear.passivity().is_passive and max(linear.structure_errors().values()) <= 1e-12


def hanging():
    """A rod and a taut string that creep, with a spring of other times, joined in one point; at rest."""
    model = ph.Model(gravity=(0, 0, -9.81))
    rope = ph.String(0.5, 0.1, 2, ph.LinearLaw(200.0), order=2, relaxation=ph.Maxwell([(500.0, 0.02), (90.0, 0.5)]))
    placed = model.add(rope, "rope", shape=lambda s: (1.2 * s, 0.0, 0.0))
    material = ph.Material(4e7, 1e3, relaxation=ph.Maxwell((5e7, 0.02)))
    bar = ph.Rod(0.3, ph.RectangularSection(0.02, 0.01), material, elements=2)
    place = model.add(bar, "rod", position=(0.3, 0, 0), rotation=Rotation.from_rotvec((0, np.pi / 2, 0)))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), placed.start))
    model.connect(ph.Spherical(model.ground.at((0.6, 0, 0)), placed.end))
    model.connect(ph.Spherical(placed.at(0.25), place.start))
    law = ph.Maxwell((40.0, 3.0))
    model.apply(ph.SpringDamper(model.ground.at((0.6, 0, -1)), place.end, 5.0, 0.7, relaxation=law))
    return model, placed, place


def cantilevers():
    """A beam of quadratic strains and a meshed body that creep, clamped and joined, bent by their weight."""
    model = ph.Model(gravity=(0, 0, -9.81))
    material = ph.Material(4e7, 1e3, relaxation=ph.Maxwell([(5e7, 0.02), (1e7, 0.5)]))
    beam = ph.Beam(0.3, ph.RectangularSection(0.02, 0.02), material, elements=2, frame="cantilever")
    first = model.add(beam, "beam")
    box = skfem.MeshHex.init_tensor(np.linspace(0, 0.2, 3), *[np.linspace(-0.01, 0.01, 2)] * 2)
    ends = {"left": (lambda x: x[0] < 1e-9, "rigid"), "right": lambda x: x[0] > 0.199}
    mesh = ph.FlexibleBody.from_mesh(box, material, ends, modes=2, frame="left")
    second = model.add(mesh, "mesh", position=(0.3, 0, 0))
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), first.start))
    model.connect(ph.Fixed(first.end, second["left"]))
    return model, first, second["right"]


@pytest.mark.parametrize("build", [hanging, cantilevers])
def test_small_motions_of_the_step_are_those_of_the_linear_model(build):
    """From a state beside the equilibrium, strains of branches and all: expm(A t), with an error of order 2."""
    model, _, last = build()
    tip = last.end if build is hanging else last
    sensors = [ph.Velocity(tip, axis) for axis in np.eye(3)]
    rest = model.equilibrium()
    assert rest.state.branches is None or not np.any(rest.state.branches)  # held for ever
    start, readings = kicked(model, rest, sensors, 5 if build is hanging else 2)
    wanted, apart = readings(0.2), []
    for step in (2e-3, 1e-3):
        apart.append(model.simulate(0.2, step=step, initial=start).velocity(tip)[-1] - wanted)
    sizes = np.linalg.norm(apart, axis=1) / np.linalg.norm(wanted)
    assert sizes[1] <= 0.02 and np.log2(sizes[0] / sizes[1]) == pytest.approx(2, abs=0.3)


def test_modes_are_the_eigenvalues_large_models_too(monkeypatch):
    """Those that swing among the modes, those that fade in ``relaxations``; none is lost."""
    model, _, rod = hanging()
    linear = model.linearize([rod.end], about=model.equilibrium())
    found = linear.modes(1000)
    wanted = np.linalg.eigvals(linear.to_state_space().A)
    fading = np.sort(-wanted[(wanted.imag == 0) & (wanted.real < -1e-6)].real)
    swinging = wanted[wanted.imag > 1e-6]
    assert found.relaxations == pytest.approx(fading, rel=1e-6) and len(fading) > 3
    swinging = swinging[np.argsort(np.abs(swinging))]
    assert found.eigenvalues[found.rigid_modes :] == pytest.approx(swinging, rel=1e-6)
    assert (found.damping_ratios[found.rigid_modes :] > 0).all()
    monkeypatch.setattr(modes, "DENSE", 0)
    few = linear.modes(4)
    # round-off of the stiffness moves the slowest by up to eps (63054 / 0.185)^2 = 3e-5: 4e-7 on some processors
    assert few.relaxations is None and few.eigenvalues[0] == pytest.approx(found.eigenvalues[0], rel=1e-6)
    assert few.eigenvalues[1:] == pytest.approx(found.eigenvalues[1:4], rel=1e-7)
    assert np.abs(few.displacement(rod.end)) == pytest.approx(np.abs(found.displacement(rod.end)[:4]), abs=1e-6)


@pytest.mark.parametrize("method", ["modal", "krylov", "craig_bampton", "balanced"])
def test_reduced_models_creep_too_and_are_passive(method):
    material = ph.Material(4e7, 1e3, relaxation=ph.Maxwell([(5e7, 0.02), (3e7, 1.0)]))
    model = ph.Model(dimension=2)
    rod = model.add(ph.Rod(0.5, ph.RectangularSection(0.02, 0.01), material, elements=6), "rod")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), rod.start))
    linear = model.linearize([ph.Force(rod.end, (0, 1, 0))], [ph.Velocity(rod.end, (0, 1, 0))])
    frequencies, errors = np.geomspace(0.1, 100.0, 20), []
    for order in (8, 16, 24):
        small = linear.reduce(order, method)
        assert small.state_size <= order and small.passivity().is_passive
        errors.append(float(small.error(frequencies).peak.max()))
    assert errors[2] <= min(0.05 * errors[0], 1e-2)
    lowest = small.modes(20).eigenvalues
    assert lowest[lowest.imag > 0][0] == pytest.approx(linear.modes(1).eigenvalues[0], rel=5e-3)


def test_forms_without_such_states_are_refused_by_name():
    model, _, rod = hanging()
    linear = model.linearize([rod.end], at="unloaded")
    with pytest.raises(ModelError, match="does not support viscoelastic laws"):
        linear.reduce(8, keep_rigid=True)
    with pytest.raises(ModelError, match="a spring or damper acts between rope and rod"):
        pair = ph.Model()
        ends = [pair.add(ph.PointMass(1.0), name, (k, 0, 0)).origin for k, name in enumerate(("rope", "rod"))]
        pair.apply(ph.SpringDamper(*ends, 0.0, relaxation=ph.Maxwell((3.0, 1.0))))
        pair.linearize().composed()
