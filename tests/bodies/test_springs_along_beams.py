"""Springs, turning springs and elastic hinges along beams: five frequencies each against transfer matrices."""

from functools import reduce

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq

import phlexible as ph
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import Port, StateBlock

LENGTH, PLACE, ELEMENTS = 1.0, 0.4, 45
SECTION, MATERIAL = ph.CircularSection(0.01), ph.Material(2e11, 7800.0)
BENDING = MATERIAL.youngs_modulus * SECTION.second_moment_z
UNIT = np.sqrt(BENDING / (MATERIAL.density * SECTION.area)) / LENGTH**2
SPRING, TURNING, HINGE = 200.0, 8.0, 3.0  # k L^3, c L and c L over EI


def field(wave, length):
    """Of (v, theta, M L / EI, Q L^2 / EI) along a uniform piece; M' = -Q."""
    rates = np.zeros((4, 4))
    rates[0, 1], rates[1, 2], rates[2, 3], rates[3, 0] = 1.0, 1.0, -1.0, -(wave**4)
    return expm(rates * length)


def step(row, column, value):
    """A jump at a point."""
    result = np.eye(4)
    result[row, column] = value
    return result


JUMPS = {"spring": step(3, 0, SPRING), "turning spring": step(2, 1, TURNING), "hinge": step(1, 2, 1 / HINGE)}


def exact(kind, count=5):
    """Frequencies of the cantilever with that at its place [rad/s]."""

    def free_end(wave):
        pieces = (field(wave, LENGTH - PLACE), JUMPS[kind], field(wave, PLACE))
        return np.linalg.det(reduce(np.matmul, pieces)[2:, 2:])  # what M and Q of the clamp leave at the free end

    waves = np.linspace(0.5, 17.0, 1200)
    values = np.array([free_end(wave) for wave in waves])
    found = [brentq(free_end, waves[i], waves[i + 1]) for i in np.flatnonzero(values[:-1] * values[1:] < 0)]
    return np.array(found[:count]) ** 2 * UNIT


def beam(length=LENGTH, elements=ELEMENTS, **options):
    options = {"rotary_inertia": False, "frame": "cantilever"} | options
    return ph.Beam(length, SECTION, MATERIAL, elements, **options)


def on_the_ground(kind, **options):
    """One beam, and a spring between the ground and a point of it."""
    model = ph.Model(dimension=2)
    placed = model.add(beam(**options), "beam")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), placed.start))
    here = model.ground.at((PLACE, 0, 0))
    if kind == "spring":
        stiffness = {"stiffness": (0, SPRING * BENDING / LENGTH**3, 0)}
    else:
        stiffness = {"rotational_stiffness": (0, 0, TURNING * BENDING / LENGTH)}
    model.apply(ph.Bushing(here, placed.at(PLACE), **stiffness))
    return model


def hinged(**options):
    """Two beams on a pin with a spring about it."""
    model = ph.Model(dimension=2)
    first = model.add(beam(PLACE, int(ELEMENTS * PLACE), **options), "first")
    rest = LENGTH - PLACE
    second = model.add(beam(rest, ELEMENTS - first.body.elements, **options), "second", position=(PLACE, 0, 0))
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), first.start))
    pin = model.connect(ph.Revolute(first.end, second.start))
    model.apply(pin.spring(HINGE * BENDING / LENGTH))
    return model


def nearest(values, wanted):
    return np.array([values[np.argmin(np.abs(values - each))] for each in wanted])


@pytest.mark.parametrize("kind", JUMPS)
def test_five_frequencies_of_transfer_matrices(kind):
    model = hinged() if kind == "hinge" else on_the_ground(kind)
    wanted = exact(kind)
    assert nearest(model.linearize().modes(6).frequencies, wanted) == pytest.approx(wanted, rel=1e-5)
    bare = np.array([1.8751040687, 4.6940911330]) ** 2 * UNIT
    assert np.abs(wanted[:2] / bare - 1).max() > 0.1  # no small effect


@pytest.mark.parametrize("kind", ["spring", "hinge"])
def test_they_are_the_same_with_shear_that_is_small(kind):
    options = {"rotary_inertia": True, "theory": "timoshenko"}
    model = hinged(**options) if kind == "hinge" else on_the_ground(kind, **options)
    wanted = exact(kind, 2)
    assert nearest(model.linearize().modes(3).frequencies, wanted) == pytest.approx(wanted, rel=2e-3)


def elastic_hinge(stiffness):
    """dM/dt = c (difference of the rates), with a port for each side."""
    ports = (Port("before", "rad/s", "N m", 1), Port("after", "rad/s", "N m", 1))
    nothing = np.zeros((1, 1))
    return LinearPHDAE(
        [[1 / stiffness]], nothing, nothing, [[-1.0, 1.0]], (StateBlock("hinge.moment", "N m", 1),), ports
    )


def test_the_same_hinge_from_ports():
    """In port-Hamiltonian form: a transformer for the pin and gyrators for the spring about it."""
    parts = []
    for name, length, count in (("a", PLACE, 18), ("b", LENGTH - PLACE, 27)):
        form = beam(length, count, strain="linear").port_hamiltonian(dimension=2)
        parts.append(ph.with_prefix(ph.linearized(form), name))
    spring = elastic_hinge(HINGE * BENDING / LENGTH)
    first = ph.gyrator(parts[0], spring, [[1.0]], ("a.end moment", "before"))
    whole = ph.transformer(
        first, parts[1].with_ports(pin=parts[1].port("b.start force")), np.eye(2), ("a.end force", "pin")
    )
    assert whole.state_size == sum(part.state_size for part in parts) + 3
    both = ph.LinearModel.of(_closed(whole))
    wanted = exact("hinge", 3)
    assert nearest(both.modes(4).frequencies, wanted) == pytest.approx(wanted, rel=1e-4)


def _closed(whole):
    """The other side of the spring on the second beam, and the clamp of the first one.

    Both ports are of one model by now: u = B K y with a skew K is a gyrator of the model with itself.
    """
    after, moment = (whole.port_map[:, [whole.port_slice(name).start]] for name in ("after", "b.start moment"))
    between = moment @ after.T
    joined = LinearPHDAE(
        whole.descriptor,
        whole.structure - between + between.T,
        whole.dissipation,
        whole.port_map,
        whole.states,
        whole.ports,
    )
    return ph.inverted(ph.inverted(joined, "a.start force"), "a.start moment")
