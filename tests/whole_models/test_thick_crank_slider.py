"""A crank-slider with a coupler a fifth as high as long: beams against a plane mesh of quadratic elements."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import skfem
from scipy.linalg import eigh
from skfem.helpers import ddot, dot, eye, sym_grad, trace

import phlexible as ph
from phlexible.bodies.body import Body
from phlexible.bodies.floating_body import FloatingBody, no_strain
from phlexible.bodies.locations import Along, End, Location, MaterialPoint, MaterialPoints, Origin, Start

LENGTH, HEIGHT, DEPTH = 0.3, 0.06, 0.01
SOFT = ph.Material(youngs_modulus=1e8, density=1000.0, poissons_ratio=0.3)
ALONG, ACROSS, MODES, SHIFT = 24, 4, 12, 1e3
MIDDLE = LENGTH / 2


@dataclass(frozen=True)
class Sheet(Body):
    """The rectangle in plane stress: free modes and the answers of its ends, with the frame along the chord."""

    def discretize(self, dimension: int) -> FloatingBody:
        """S, W and K of all nodes, projected; nothing here knows of beams."""
        x, y, mass, stiffness = plane_stress()
        rigid = np.zeros((2 * len(x), 3))
        rigid[::2, 0] = rigid[1::2, 1] = 1.0
        rigid[::2, 2], rigid[1::2, 2] = -y, x
        means = {place: mean_over_height(x, y, place) for place in (0.0, MIDDLE, LENGTH)}

        both = np.kron(mass, np.eye(2))
        loads = np.vstack([means[0.0], means[LENGTH]]).T
        loads -= both @ rigid @ np.linalg.solve(rigid.T @ both @ rigid, rigid.T @ loads)
        free = eigh(stiffness, both, subset_by_index=(3, MODES + 2))[1]
        shapes = np.hstack([free, np.linalg.solve(stiffness + SHIFT**2 * both, loads)])
        chord = np.vstack([means[0.0], means[LENGTH][1:]])
        shapes -= rigid @ np.linalg.solve(chord @ rigid, chord @ shapes)
        shapes /= np.sqrt(np.einsum("ij,ij->j", shapes, both @ shapes))
        squares, vectors = eigh(shapes.T @ both @ shapes)
        shapes = shapes @ vectors[:, squares > 1e-9 * squares[-1]]

        count, nodal = shapes.shape[1], np.column_stack([np.column_stack([x, y]).ravel(), shapes])
        psi = [nodal[::2], nodal[1::2]]
        first, second = np.zeros((3, count + 1)), np.zeros((3, 3, count + 1, count + 1))
        for a in (0, 1):
            first[a] = mass.sum(axis=0) @ psi[a]
            for b in (0, 1):
                second[a, b] = psi[a].T @ mass @ psi[b]
        projected, empty = shapes.T @ stiffness @ shapes, np.zeros((0, count))
        return FloatingBody(
            dimension=2,
            mass=float(mass.sum()),
            first_moments=first,
            second_moments=second,
            rotates=True,
            strain=replace(no_strain(), stiffness=(projected + projected.T) / 2, rows=empty, squares=empty),
            damping=np.zeros((count, count)),
            viscosity=0.0,
            points=SheetPoints({place: mean @ shapes for place, mean in means.items()}),
            size=LENGTH,
        )


@dataclass(frozen=True, eq=False)
class SheetPoints(MaterialPoints):
    """Means over the height at the ends and in the middle."""

    shapes: dict[float, np.ndarray]

    def locate(self, location: Location) -> MaterialPoint:
        """By x."""
        places: dict[type, float] = {Start: 0.0, Origin: 0.0, End: LENGTH}
        x = location.x if isinstance(location, Along) else places[type(location)]
        count = self.shapes[x].shape[1]
        shapes = np.vstack([self.shapes[x], np.zeros(count)])
        return MaterialPoint(np.array([x, 0.0, 0.0]), shapes, np.zeros((3, count)))

    def outline(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Both ends."""
        ends = [self.locate(Start()), self.locate(End())]
        return np.array([end.position for end in ends]), np.stack([end.shapes for end in ends])


def plane_stress():
    """Nodes x, y (N,), mass of one component (N, N), stiffness (2 N, 2 N) of components in turn."""
    mesh = skfem.MeshQuad.init_tensor(
        np.linspace(0, LENGTH, ALONG + 1), np.linspace(-HEIGHT / 2, HEIGHT / 2, ACROSS + 1)
    )
    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementQuad2()), intorder=6)
    young, nu = SOFT.youngs_modulus, SOFT.poissons_ratio

    @skfem.BilinearForm
    def elastic(u, v, w):
        strain = sym_grad(u)
        stress = (1 - nu) * strain + nu * eye(trace(strain), 2)
        return DEPTH * young / (1 - nu**2) * ddot(stress, sym_grad(v))

    @skfem.BilinearForm
    def inertia(u, v, w):
        return DEPTH * SOFT.density * dot(u, v)

    x, y = basis.doflocs[:, ::2]
    return x, y, inertia.assemble(basis)[::2, ::2].toarray(), elastic.assemble(basis).toarray()


def mean_over_height(x, y, place):
    """Rows (2, 2 N) that give the mean displacement at one x, by Simpson's rule."""
    column = np.flatnonzero(np.isclose(x, place))
    column = column[np.argsort(y[column])]
    weights = np.ones(len(column))
    weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
    rows = np.zeros((2, 2 * len(x)))
    rows[0, 2 * column] = rows[1, 2 * column + 1] = weights / weights.sum()
    return rows


def middle_of(coupler):
    """Elastic displacement of the coupler's middle across its chord over two turns of the crank [m]."""
    model = ph.Model(dimension=2)
    placed = model.add(coupler, "coupler", position=(0.1, 0.0, 0.0))
    slider = model.add(ph.PointMass(0.1), "slider", position=(0.1 + LENGTH, 0.0, 0.0))
    pin = model.ground.moving(lambda t: (0.1 * np.cos(150 * t), 0.1 * np.sin(150 * t), 0.0))
    model.connect(ph.Revolute(pin, placed.start))
    model.connect(ph.Revolute(placed.end, slider.origin))
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), slider.origin, axis=(1, 0, 0)))
    motion = model.simulate(0.08, 1e-4, initial="quasi_static", progress=False)
    return motion.elastic_displacement(placed.at(MIDDLE))[:, 1]


@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
def test_with_shear_the_beam_is_the_mesh():
    section = ph.RectangularSection(HEIGHT, DEPTH)
    beam = ph.Beam(LENGTH, section, SOFT, 8, "simply_supported", "linear", theory="timoshenko")
    mesh, sheared = middle_of(Sheet()), middle_of(beam)
    unsheared = middle_of(replace(beam, theory="euler_bernoulli"))
    errors = [np.abs(each - mesh).max() / np.abs(mesh).max() for each in (sheared, unsheared)]
    assert errors[0] < 0.003
    assert errors[1] > 0.3  # its vibration is 4.6 % too fast, and out of step after two turns
