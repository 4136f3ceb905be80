"""The slider crank with an elastic rod of the Test Set for IVP Solvers: its rod with its own shapes, its start.

B. Simeon, *Modelling a flexible slider crank mechanism by a mixed system of DAEs and PDEs*, Mathematical Modelling
of Systems 2, 1996; F. Mazzia, C. Magherini, *Test Set for Initial Value Problem Solvers*, 2008 (24 unknowns).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import phlexible as ph
from phlexible.bodies.body import Body
from phlexible.bodies.floating_body import FloatingBody, StrainEnergy
from phlexible.bodies.locations import Along, End, Location, MaterialPoint, MaterialPoints, MaterialPosition, Origin
from phlexible.state.layout import State

CRANK, ROD, SPEED = 0.15, 0.30, 150.0
CRANK_MASS, ROD_MASS, SLIDER_MASS = 0.36, 0.151104, 0.075552
CRANK_INERTIA, ROD_INERTIA = 0.002727, 0.0045339259  # about the crank's hinge, about the rod's start [kg m2]
YOUNG, SIDE, DENSITY = 2e11, 0.008, 7870.0
PI = 3.1415927  # the test set's
HEAVY = 15.0
"""Quadratic functions have the masses 8, 1, 2 of 15; the program of the test set leaves out the division by 15."""

START = np.array([0.0, 0.0, 0.103339863e-4, 0.169327969e-4])  # q
RATES = np.array([0.444896105, 0.463434311e-2, -0.178591076e-5, -0.268938672e-5])  # dq/dt
END = {
    "phi2": -0.3311734987910881,
    "x3": 0.1697373326718410,
    "q1": 1.893192460247178e-4,
    "q2": 2.375751865617931e-5,
    "q3": -5.323907988763734e-6,
    "q4": -8.363283141616840e-6,
}
"""Of the test set, at 0.1 s [rad, m]."""


@dataclass(frozen=True, eq=False)
class RodPoints(MaterialPoints):
    """Points of the axis."""

    def locate(self, location: Location) -> MaterialPoint:
        match location:
            case Origin():
                x = 0.0
            case End():
                x = ROD
            case MaterialPosition((x, _, _)):
                pass
            case _:
                raise ph.AttachmentError(f"the rod has no {location}; it has `origin` and `point((x, 0, 0))`")
        shapes = self.shapes(np.array([x]))[0]
        s = x / ROD
        turns = np.zeros((3, 4))
        turns[2, :2] = PI / ROD * np.array([np.cos(PI * s), 2 * np.cos(2 * PI * s)])
        return MaterialPoint(np.array([x, 0.0, 0.0]), shapes, turns)

    def outline(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        x = np.linspace(0, ROD, count)
        return np.stack([x, 0 * x, 0 * x], axis=1), self.shapes(x)

    @staticmethod
    def shapes(x: np.ndarray) -> np.ndarray:
        """Displacements of unit coordinates, shape (k, 3, 4)."""
        s, found = x / ROD, np.zeros((len(x), 3, 4))
        found[:, 1, 0], found[:, 1, 1] = np.sin(np.pi * s), np.sin(2 * np.pi * s)
        found[:, 0, 2], found[:, 0, 3] = 4 * s * (1 - s), s * (2 * s - 1)
        return found


@dataclass(frozen=True, eq=False)
class ElasticRod(Body):
    """Deflections sin(pi x / L), sin(2 pi x / L); stretches quadratic in x, of the middle and of the end.

    Attributes:
        heaviness: of the axial masses: 1, or 15 as in the program of the test set.
        young: Young's modulus [Pa].
        color: in pictures.
    """

    heaviness: float = HEAVY
    young: float = YOUNG
    color: str | None = field(default=None, kw_only=True)

    def discretize(self, dimension: int) -> FloatingBody:
        """S and W of Psi = (x + 4 s (1 - s) q3 + s (2 s - 1) q4, sin(pi s) q1 + sin(2 pi s) q2), s = x / L."""
        m, L = ROD_MASS, ROD
        S, W = np.zeros((3, 5)), np.zeros((3, 3, 5, 5))
        S[0] = m * np.array([L / 2, 0, 0, 2 / 3, 1 / 6])
        S[1] = m * np.array([0, 2 / PI, 0, 0, 0])
        W[0, 0, 0, 0] = ROD_INERTIA  # of the section, too: m L^2 / 3 + m h^2 / 12
        W[0, 0, 0, 3:] = W[0, 0, 3:, 0] = m * L * np.array([1 / 3, 1 / 6])
        W[0, 0, 3:, 3:] = self.heaviness * m / 15 * np.array([[8, 1], [1, 2]])
        W[1, 1, 1:3, 1:3] = m / 2 * np.eye(2)
        W[0, 1, 0, 1:3] = m * L / PI * np.array([1, -0.5])
        W[0, 1, 3, 1], W[0, 1, 4, 1:3] = m * 16 / PI**3, m * np.array([1 / PI - 8 / PI**3, -0.5 / PI])
        W[1, 0] = W[0, 1].T
        K, slenderness = np.zeros((4, 4)), SIDE / L
        K[:2, :2] = PI**4 / 24 * slenderness**2 * np.diag([1, 16])
        K[2:, 2:] = np.array([[16, -8], [-8, 7]]) / 3
        none = np.zeros((0, 4))
        strain = StrainEnergy(
            self.young * SIDE**2 / L * K, none, np.zeros(0), none, np.zeros(0), np.zeros(0, dtype=np.int64)
        )
        return FloatingBody(
            dimension=2,
            mass=m,
            first_moments=S,
            second_moments=W,
            rotates=True,
            strain=strain,
            damping=np.zeros((4, 4)),
            viscosity=0.0,
            points=RodPoints(),
            size=L,
            elastic_units=("m",) * 4,
        )

    def port_locations(self) -> dict[str, Location]:
        return {"start": Origin(), "end": End()}


def mechanism(heaviness: float = HEAVY, body=None, young: float = YOUNG, slider_mass: float = SLIDER_MASS):
    """Crank, rod and slider, and the state of the test set that is close to a motion without axial vibration.

    Args:
        heaviness: of the axial masses of the rod.
        body: in the place of the rod, with the same four coordinates.
        young: Young's modulus of the rod [Pa].
        slider_mass: [kg].
    """
    model = ph.Model(dimension=2)
    inertia = CRANK_INERTIA - CRANK_MASS * (CRANK / 2) ** 2
    crank = model.add(ph.RigidBody(CRANK_MASS, inertia, (CRANK / 2, 0, 0)), "crank")
    rod = model.add(body or ElasticRod(heaviness, young), "rod", position=(CRANK, 0, 0))
    end = rod.point((ROD, 0, 0)) if body is None else rod.end
    slider = model.add(ph.PointMass(slider_mass), "slider", position=(CRANK + ROD, 0, 0))
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), crank.origin))
    model.connect(ph.Revolute(crank.point((CRANK, 0, 0)), rod.origin if body is None else rod.start))
    model.connect(ph.Revolute(end, slider.origin))
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), slider.origin, axis=(1, 0, 0)))
    model.apply(hinge.drive(angle=lambda t: SPEED * t))
    return model, start_of(model)


def start_of(model: ph.Model):
    """The start of the test set, on the joints to all digits."""
    turn = -SPEED * CRANK / (ROD + START[3])
    S = model["rod"].data.first_moments / ROD_MASS
    center, drift = S[0, 0] + S[0, 1:] @ START, S[:2, 1:] @ RATES
    velocity = np.concatenate(
        [
            [0.0, SPEED * CRANK / 2, SPEED],
            [drift[0], SPEED * CRANK + turn * center + drift[1], turn],
            RATES,
            [RATES[3], 0.0],
        ]
    )
    position = np.array([[CRANK / 2, 0, 0], [CRANK + center, 0, 0], [CRANK + ROD + START[3], 0, 0]])
    return State(0.0, position, np.tile(np.eye(3), (3, 1, 1)), START, velocity)


def composed():
    """Rod and slider as one port-Hamiltonian model, held by velocities: the model, its start, its inputs."""
    form = ElasticRod().port_hamiltonian(dimension=2)
    mass = ph.PointMass(SLIDER_MASS).port_hamiltonian(dimension=2)
    port = mass.port("origin force")
    slider = ph.with_prefix(mass.with_ports(joint=port, guide=port.select(1)), "slider")
    rows = form.state_slice("rotation_rows")

    def rotation(x):
        return x[rows].reshape(2, 2)

    whole = ph.transformer(
        ph.with_prefix(form, "rod"), slider, lambda a, b: rotation(a).T, ("rod.end force", "slider.joint")
    )
    whole = ph.inverted(ph.inverted(whole, "slider.guide"), "rod.start force")
    x = whole.rest_state.copy()
    length = ROD + START[3]
    for block, values in {
        "rod.position": [CRANK, 0.0],
        "rod.displacement": START,
        "rod.velocity": [0.0, SPEED * CRANK],
        "rod.angular_velocity": -SPEED * CRANK / length,
        "rod.elastic_velocity": RATES,
        "rod.stress": form.stress_space.stress(START),
        "slider.position": [CRANK + length, 0.0],
        "slider.velocity": [RATES[3], 0.0],
    }.items():
        x[whole.state_slice(block)] = values

    def crank(t, x):
        return rotation(x).T @ (SPEED * CRANK * np.array([-np.sin(SPEED * t), np.cos(SPEED * t)]))

    return whole, x, {"rod.start force": crank}


def composed_end_values(run) -> dict[str, float]:
    """phi2, x3 and q at the last instant of a trajectory of ``composed``."""
    turn = run.state("rod.rotation_rows")[-1].reshape(2, 2)
    found = [
        np.arctan2(turn[1, 0], turn[0, 0]),
        run.state("slider.position")[-1, 0],
        *run.state("rod.displacement")[-1],
    ]
    return {name: float(value) for name, value in zip(END, found, strict=True)}


def interpolated(elements: int) -> ph.Beam:
    """A beam with the four shapes interpolated on its nodes."""
    nodes = [element * ROD / elements for element in range(elements + 1)]

    def beam(modes=None) -> ph.Beam:
        section, material = ph.RectangularSection(SIDE, SIDE), ph.Material(YOUNG, DENSITY)
        return ph.Beam(
            ROD, section, material, elements, "simply_supported", "linear", rotary_inertia=False, modes=modes
        )

    def motions(points: MaterialPoints, place: Callable[[float], Location]) -> np.ndarray:
        found = [points.locate(place(x)) for x in nodes]
        return np.concatenate([row for at in found for row in (at.shapes[:2], at.rotations[2:])])

    own = motions(beam().discretize(2).points, Along)
    asked = motions(RodPoints(), lambda x: MaterialPosition((x, 0.0, 0.0)))
    return beam(np.linalg.lstsq(own, asked, rcond=None)[0])


def end_values(motion) -> dict[str, float]:
    """phi2, x3 and q at the last instant."""
    turn = motion.rotation(motion["rod"])[-1]
    q = motion.elastic_coordinates(motion["rod"])[-1]
    found = [np.arctan2(turn[1, 0], turn[0, 0]), motion.position(motion["slider"].origin)[-1, 0], *q]
    return {name: float(value) for name, value in zip(END, found, strict=True)}
