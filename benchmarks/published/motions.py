"""Motions of rigid bodies, mechanisms, strings and contacts."""

import runpy
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from scipy.special import betainc, ellipj, ellipk

import phlexible as ph
from published import elastic_rod
from published.number import Number

SQUEEZER = "Test Set for IVP Solvers (F. Mazzia, C. Magherini), Andrews' squeezer"
SIMEON = "Test Set for IVP Solvers, slider crank with an elastic rod (B. Simeon 1996)"
BRUELS = "O. Bruels, A. Cardona, M. Arnold, heavy top, steps of 2e-6 s (Kynema-FMB)"
IFTOMM = "IFToMM benchmark, spatial slider-crank (E. J. Haug 1989)"
LANDAU = "L. D. Landau, E. M. Lifshitz, *Mechanics*, 37: free asymmetrical top"
IRVINE = "H. M. Irvine, *Cable Structures*, 1981: elastic catenary"
KINON = "P. L. Kinon et al. 2023, string pendulum; independent program of their scheme"
PENDULUM = "compound pendulum, complete elliptic integral (textbook)"
LAGRANGE = "double pendulum, Lagrange's equations to 1e-12 (textbook)"
WILLIS = "R. Willis 1841, planetary gears"
HUNT = "K. H. Hunt, F. R. E. Crossley 1975, impact damping (closed form)"
COULOMB = "block on an incline, g (sin - mu cos) (textbook)"
BOUNCE = "ball on a spring: fall and half a period (textbook)"
ELEMENTS = "independent program: classical displacement finite elements in a floating frame"
EXACT = "independent program: geometrically exact beams"
KANE = "T. R. Kane, R. R. Ryan, A. K. Banerjee 1987, spin-up; steady stretch rho A w^2 L^3 / (3 EA)"
ROLLING = "ball that slides until it rolls, sphere (textbook; Capobianco et al. 2021, example of rolling)"
TURNTABLE = "ball that rolls on a turntable: circles with 2/7 of its speed (S. Earnshaw 1844)"
SAINT_VENANT = "A. Barre de Saint-Venant 1867, elastic bar on a wall, c = sqrt(E / rho) (Siconos, `ImpactingBar`)"
SOLID = "standard linear solid: relaxation, creep, loss (textbook)"
CIRCLE = "pendulum in Cartesian coordinates, Jacobi's elliptic functions (textbook)"
CHAIN = "N. Petit, P. Rouchon 2001, flatness of heavy chains (closed form for small swings)"
EXAMPLES = Path(__file__).parents[2] / "examples"
ORIGIN = (0.0, 0.0, 0.0)


def squeezer() -> Iterator[Number]:
    """Angles of links 1, 2 and 7 after 0.03 s."""
    model = ph.gallery.andrews_squeezer()
    motion = model.simulate(0.03, 1e-4, order=4, progress=False)
    start = {"beta": -0.0617138900142764496, "Theta": 0.0, "epsilon": 1.23054744454982119}
    exact = {"beta": 15.81077119629904, "Theta": -15.75637105984298, "epsilon": 1.048080741042263}
    for name, joint in zip(exact, (0, 1, 7), strict=True):
        ours = float(motion.angle(model.joints[joint])[-1]) + start[name]
        yield Number(SQUEEZER, f"{name} after 0.03 s [rad]", exact[name], ours)


def heavy_top() -> Iterator[Number]:
    """15 kg on an arm of 1 m, spinning with 150 rad/s, after 2 s."""
    model = ph.Model(gravity=(0.0, 0.0, -9.81))
    top = ph.RigidBody(15.0, (0.234375, 0.46875, 0.234375), center=(0.0, 1.0, 0.0))
    body = model.add(top, "top", angular_velocity=(0.0, 150.0, -4.61538))
    model.connect(ph.Spherical(model.ground.at(ORIGIN), body.origin))
    motion = model.simulate(2.0, 1e-3, order=6, every=100, progress=False)
    moved = motion.position(body.point((0, 1, 0)))[-1] - (0, 1, 0)
    exact = (-0.150416985652933, -1.724164450779749, -0.673023460701136)
    for axis, value, ours in zip("xyz", exact, moved, strict=True):
        yield Number(BRUELS, f"heavy top, displacement along {axis} after 2 s [m]", value, float(ours))


def slider_crank() -> Iterator[Number]:
    motion = ph.gallery.spatial_slider_crank().simulate(1e-3, 1e-4, progress=False)
    spin = motion.angular_velocity(motion.mechanism["rod"])[0]
    for axis, exact, ours in zip("xyz", (1.92, -0.96, 0.48), spin, strict=True):
        yield Number(
            IFTOMM, f"rod of the spatial slider-crank, spin about {axis} at the start [rad/s]", exact, float(ours)
        )


def elastic_slider_crank() -> Iterator[Number]:
    """After 0.1 s; differences of coordinates over the greatest of them. The axial masses are the test set's."""
    model, start = elastic_rod.mechanism()
    motion = model.simulate(0.1, 1e-5, initial=start, order=6, every=1000, progress=False)
    units = {"phi2": "[rad]", "x3": "[m]"}
    for name, ours in elastic_rod.end_values(motion).items():
        scale = None if name in units else elastic_rod.END["q1"]
        what = f"slider crank with elastic rod, {name} after 0.1 s {units.get(name, '[m]')}"
        yield Number(SIMEON, what, elastic_rod.END[name], ours, scale)


def free_top() -> Iterator[Number]:
    """Jacobi's functions for a turn about the middle axis; L^2 < 2 E I_2, so that 1 and 3 change places."""
    model = ph.gallery.dzhanibekov()
    motion = model.simulate(10.0, 1e-2, order=4, progress=False)
    body = model["body"]
    middle = np.einsum("tji,tj->ti", motion.rotation(body), motion.angular_velocity(body))[:, 1]
    one, two, three, twice, squared = 3.0, 2.0, 1.0, 0.05**2 + 2 * 4.0, 0.05**2 + 4 * 4.0
    rate = np.sqrt((three - two) * (squared - twice * one) / (one * two * three))
    m = (two - one) * (twice * three - squared) / ((three - two) * (squared - twice * one))
    _, cn, dn, _ = ellipj(rate * 10.0, m)
    first = int(np.argmax(middle < 0))
    flips = float(np.interp(0.0, middle[[first, first - 1]], motion.time[[first, first - 1]]))
    yield Number(LANDAU, "middle axis, first instant without spin [s]", float(ellipk(m) / rate), flips)
    yield Number(LANDAU, "middle axis, spin after 10 s [rad/s]", float(2 * cn / dn), float(middle[-1]))


def cable() -> Iterator[Number]:
    model = ph.gallery.hanging_cable(push=0.0, elements=24, order=2)
    motion = model.simulate(0.01, 1e-2, progress=False)
    sag = -float(motion.position(model["cable"].at(25.25))[0, 1])
    pull = float(np.abs(motion.reaction(model.joints[0])[0, 0]))
    yield Number(IRVINE, "cable of 50.5 m over 50 m, sag [m]", 3.10374, sag)
    yield Number(IRVINE, "the same, horizontal force [N]", 1985.11, pull)


def string() -> Iterator[Number]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.SlackStringWarning)
        motion = ph.gallery.string_pendulum().simulate(1.0, 1e-2, progress=False)
    tip = motion.position(motion.mechanism["string"].end)[-1]
    yield Number(
        KINON, "string pendulum, energy after the loading [J]", -3.403761620753, float(motion.energy.total[-1])
    )
    yield Number(KINON, "the same, tip after 1 s, x [m]", -0.65901, float(tip[0]))
    yield Number(KINON, "the same, tip after 1 s, y [m]", -1.07386, float(tip[1]))


def heavy_chain() -> Iterator[Number]:
    """Where the top of a chain of 5 m is while its free end moves by 0.03 m in 3 s; 32 elements."""
    duration, length = 3.0, 5.0

    def path(time):
        return 0.03 * betainc(8, 8, np.clip(time / duration, 0.0, 1.0))

    chain = ph.String(length, 0.4, 32, ph.LinearLaw(1e7))
    example = runpy.run_path(str(EXAMPLES / "21_load_on_a_string.py"))
    instants, nodes, _ = example["string_inverse"](chain, lambda t: (path(t), 0, 0), duration, 5e-3)
    delays = 2 * np.sqrt(length / 9.81) * np.sin(np.linspace(0, 2 * np.pi, 400, endpoint=False))
    for time in (0.0, 1.0):
        what = f"top of a heavy chain {time:g} s after its free end began to move [m]"
        yield Number(
            CHAIN, what, float(path(time + delays).mean()), float(np.interp(time, instants, nodes[:, 0, 0])), 0.03
        )


def pendulums() -> Iterator[Number]:
    rod = ph.RigidBody(1.0, 1 / 12, center=(0.5, 0.0, 0.0))
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    hinge = model.connect(ph.Revolute(model.ground.at(ORIGIN), model.add(rod, "rod").origin))
    motion = model.simulate(0.6, 1e-3, order=4, progress=False)
    angle = motion.angle(hinge)
    first = int(np.argmax(angle < -np.pi / 2))
    passed = float(np.interp(-np.pi / 2, angle[[first, first - 1]], motion.time[[first, first - 1]]))
    yield Number(
        PENDULUM,
        "rod of 1 m from the horizontal to the vertical [s]",
        ellipk(0.5) * np.sqrt(2 / (3 * 9.81)),
        passed,
    )
    double = ph.gallery.double_pendulum()
    end = double.simulate(1.0, 1e-3, order=4, progress=False).position(double["lower"].point((1, 0, 0)))[-1]
    for axis, exact, ours in zip("xy", (-1.750529, -0.961285), end, strict=False):
        yield Number(LAGRANGE, f"free end of a double pendulum after 1 s, {axis} [m]", exact, float(ours))


def gears() -> Iterator[Number]:
    model = ph.gallery.gear_train()
    motion = model.simulate(0.1, 1e-3, progress=False)
    sun = motion.rate(model.joints[0])
    yield Number(WILLIS, "planetary gear, sun over arm", 4.0, float(sun[-1] / motion.rate(model.joints[1])[-1]))


def bounces() -> Iterator[Number]:
    """Dropped from 0.5 m on a spring of 1e5 N/m; thrown with 2 m/s on an impact damper."""
    model = ph.gallery.bouncing_ball()
    motion = model.simulate(2.0, 5e-5, progress=False)
    height = motion.position(model["ball"].origin)[:, 2]
    tops = motion.time[1:-1][(height[1:-1] > height[:-2]) & (height[1:-1] >= height[2:])]
    speed, omega = np.sqrt(9.81), np.sqrt(1e5)
    exact = 2 * speed / 9.81 + 2 * (np.pi - np.arctan(speed * omega / 9.81)) / omega
    yield Number(BOUNCE, "bouncing ball, from top to top [s]", exact, float(np.diff(tops).mean()))

    alpha = 0.5
    thrown = ph.Model(dimension=2)
    ball = thrown.add(ph.PointMass(1.0), "ball", position=(0, 0.05, 0), velocity=(0, -2.0, 0))
    floor = ph.Plane(thrown.ground.at(ORIGIN), (0, 1, 0))
    thrown.apply(ph.Contact(ball.origin, floor, 1e4, damping=alpha * 1e4))
    rebound = thrown.simulate(0.2, 5e-5, progress=False).velocity(ball.origin)[-1, 1]
    exact = brentq(
        lambda v: 2 * alpha + np.log1p(-alpha * v) - np.log1p(2 * alpha) + alpha * v, 1e-6, (1 - 1e-12) / alpha
    )
    yield Number(HUNT, "rebound from 2 m/s, k (1 + v / 2) x [m/s]", exact, float(rebound))


def friction() -> Iterator[Number]:
    """A point mass on a plane, tilted gravity, mu = 0.3, slope 0.5 rad."""
    slope, mu = 0.5, 0.3
    model = ph.Model(gravity=(9.81 * np.sin(slope), 0.0, -9.81 * np.cos(slope)))
    block = model.add(
        ph.PointMass(1.0), "block", position=(0, 0, -9.81 * np.cos(slope) / 1e5), velocity=(1.0, 0, 0)
    )
    floor = ph.Plane(model.ground.at(ORIGIN), normal=(0, 0, 1))
    model.apply(ph.Contact(block.origin, floor, 1e5, damping=1e5, friction=mu))
    motion = model.simulate(1.0, 2e-4, progress=False)
    gained = float(motion.velocity(block.origin)[-1, 0] - motion.velocity(block.origin)[0, 0])
    yield Number(
        COULOMB, "sliding down an incline, acceleration [m/s2]", 9.81 * (np.sin(slope) - mu * np.cos(slope)), gained
    )


def spun_up() -> Iterator[Number]:
    """L = 10, EA = 2.8e7, EI = 1.4e4, rho A = 1.2, 6 rad/s."""
    beam = ph.Beam(10.0, ph.Section(1.0, 5e-4), ph.Material(2.8e7, 1.2), 16, rotary_inertia=False)
    model = ph.Model(dimension=2)
    placed = model.add(beam, "beam")
    hub = model.ground.moving(lambda t: ORIGIN, rotation=lambda t: 6.0 * t)
    model.connect(ph.Fixed(hub, placed.start))
    motion = model.simulate(1e-5, 1e-5, initial="quasi_static", progress=False)
    yield Number(
        KANE, "steady stretch at 6 rad/s [m]", 5.143e-4, float(motion.elastic_displacement(placed.end)[0, 0])
    )


def crank_slider() -> Iterator[Number]:
    """Deepest bend of the coupler over 0.1 s, over its length."""
    cases = (
        (ELEMENTS, {}, -0.01554659),
        (EXACT, {"slider_mass": 0.033378}, -0.01552910),
        (ELEMENTS, {"strain": "linear"}, -0.01868704),
    )
    for source, parameters, exact in cases:
        model = ph.gallery.crank_slider(elements=16, **parameters)
        motion = model.simulate(0.1, 5e-6, every=4, progress=False)
        bend = motion.elastic_displacement(model["coupler"].at(0.15))[:, 1] / 0.3
        kind = "linear strain" if "strain" in parameters else "von Karman strain"
        yield Number(source, f"crank-slider, least u_y / L, {kind} here", exact, float(bend.min()))


def rolling() -> Iterator[Number]:
    """A ball that spins with 50 rad/s is put on a floor (mu = 0.2); another rolls on a turntable."""
    radius = 0.1
    model = ph.Model(gravity=(0, 0, -9.81))
    ball = model.add(
        ph.RigidBody.sphere(radius, 500.0), "ball", position=(0, 0, radius), angular_velocity=(0, 50, 0)
    )
    floor = ph.Plane(model.ground.at(ORIGIN), normal=(0, 0, 1))
    model.apply(ph.Contact(ball.origin, floor, stiffness=1e6, radius=radius, friction=0.2))
    motion = model.simulate(1.0, 1e-3, progress=False)
    speed = motion.velocity(ball.origin)[:, 0]
    yield Number(ROLLING, "speed after 0.5 s of sliding, mu g t [m/s]", 0.2 * 9.81 * 0.5, float(speed[500]))
    yield Number(ROLLING, "speed when it rolls, 2/7 of omega R [m/s]", 2 / 7 * 50 * radius, float(speed[-1]))

    turn = 2.0
    model = ph.Model(gravity=(0, 0, -9.81))
    table = model.ground.moving(lambda t: ORIGIN, rotation=lambda t: Rotation.from_rotvec((0, 0, turn * t)))
    sphere = ph.RigidBody.sphere(radius, 500.0)
    ball = model.add(sphere, "ball", position=(0.5, 0, radius), velocity=(0, 0.3, 0))
    model.connect(ph.Rolling(ball.origin, ph.Plane(table, (0, 0, 1)), radius=radius))
    motion = model.simulate(5.0, 2e-3, progress=False)
    x, y, _ = motion.velocity(ball.origin).T
    rate = np.unwrap(np.arctan2(y, x))
    yield Number(
        TURNTABLE, "speed of the circle over that of the table", 2 / 7, float((rate[-1] - rate[0]) / 5 / turn)
    )


def bar() -> Iterator[Number]:
    """1 m of steel flies against a wall with 0.1 m/s; 100 elements."""
    area, young, density, speed = 3.14e-4, 210e9, 7800.0, 0.1
    wave = float(np.sqrt(young / density))
    model = ph.Model(dimension=2)
    beam = ph.Beam(
        1.0, ph.Section(area, 1e-9), ph.Material(young, density), 100, frame="mean_axis", strain="linear"
    )
    rod = model.add(beam, "bar", position=(5e-5, 0, 0), velocity=(-speed, 0, 0))
    wall = ph.Plane(model.ground.at(ORIGIN), normal=(1, 0, 0))
    contact = model.apply(ph.Contact(rod.start, wall, stiffness=1e11, restitution=1))
    motion = model.simulate(1.2e-3, 2e-6, progress=False)
    push = motion.element_force(contact)
    touching = motion.time[np.abs(push) > 1.0]
    momentum = motion.momentum.linear[:, 0]
    yield Number(SAINT_VENANT, "time on the wall, 2 L / c [s]", 2 / wave, float(touching[-1] - touching[0]))
    force = (momentum[-1] - momentum[0]) / (touching[-1] - touching[0])
    yield Number(SAINT_VENANT, "mean force, E A v / c [N]", young * area * speed / wave, float(force))
    yield Number(SAINT_VENANT, "speed away from it [m/s]", speed, float(momentum[-1] / (density * area)))


def creep() -> Iterator[Number]:
    """A rod of E = 1 MPa beside a branch of 3 MPa and 0.5 s, stretched, and a spring that is shaken."""
    elastic, branch, tau, area, strain, ramp = 1e6, 3e6, 0.5, 1e-4, 0.01, 0.01
    rubber = ph.Material(elastic, 1000.0, 0.45, relaxation=ph.Maxwell((branch, tau)))
    model = ph.Model(dimension=2)
    rod = model.add(ph.Rod(1.0, ph.Section(area, 1e-9, 1e-9), rubber, elements=1), "rod")
    cart = model.add(ph.PointMass(1.0), "cart", position=(1.0, 0.0, 0.0))
    model.connect(ph.Fixed(model.ground.at(ORIGIN), rod.start))
    model.connect(ph.Revolute(rod.end, cart.origin))
    rail = model.connect(ph.Slider(model.ground.at((1.0, 0.0, 0.0)), cart.origin, axis=(1.0, 0.0, 0.0)))
    model.apply(rail.drive(position=lambda t: strain * np.minimum(t / ramp, 1.0)))
    motion = model.simulate(0.5, 0.01, progress=False)
    left = branch * tau / ramp * -np.expm1(-ramp / tau) * np.exp(-(0.5 - ramp) / tau)
    ours = float(motion.section_forces(rod).normal[-1, 0])
    yield Number(
        SOLID, "rod stretched by 1 % for 0.5 s, tau = 0.5 s, force [N]", (elastic + left) * area * strain, ours
    )

    law = ph.Maxwell((300.0, 0.5))
    model = ph.Model(dimension=2)
    cart = model.add(ph.PointMass(0.1), "cart")
    rail = model.connect(ph.Slider(model.ground.at(ORIGIN), cart.origin, axis=(1.0, 0.0, 0.0)))
    model.apply(rail.spring(100.0, relaxation=law))
    model.apply(rail.drive(position=lambda t: 0.01 * np.sin(3.0 * t)))
    lost = model.simulate(4 * np.pi, 2 * np.pi / 3 / 400, progress=False).energy.dissipated
    loss = (lost[-1] - lost[-401]) / (np.pi * 0.01**2)
    stiffness = 100.0 + law.complex_stiffness(3.0)
    ours = float(loss / stiffness.real)
    yield Number(SOLID, "spring at 3 rad/s, loss tangent", float(stiffness.imag / stiffness.real), ours)


def circle() -> Iterator[Number]:
    """1 kg on 0.8 m, let go 2 rad from below: a model with a multiplier by discrete gradients, after 1 s."""
    length, k = 0.8, np.sin(1.0)
    model = ph.Model(dimension=2, gravity=(0.0, -9.81, 0.0))
    bob = model.add(ph.PointMass(1.0), "bob", position=(length * np.sin(2.0), -length * np.cos(2.0), 0.0))
    model.connect(ph.Distance(model.ground.at(ORIGIN), bob.origin))
    form = ph.MechanismModel(model)
    run = ph.integrate(form, form.initial_state, None, 1.0, 1e-3, "discrete_gradient")
    sn = ellipj(ellipk(k**2) - np.sqrt(9.81 / length), k**2)[0]
    angle = 2 * np.arcsin(k * sn)
    place = run.states[-1][form.state_slice("bob.position")]
    yield Number(CIRCLE, "pendulum of 0.8 m after 1 s, angle [rad]", angle, float(np.arctan2(place[0], -place[1])))
    tension = 9.81 * (3 * np.cos(angle) - 2 * np.cos(2.0))
    pull = float(np.abs(run.states[-1][form.state_slice("multipliers")]).max())
    yield Number(CIRCLE, "the same, tension [N]", tension, pull)


CASES = (
    rolling,
    bar,
    squeezer,
    heavy_top,
    slider_crank,
    elastic_slider_crank,
    free_top,
    cable,
    string,
    heavy_chain,
    pendulums,
    gears,
    bounces,
    friction,
    creep,
    circle,
    spun_up,
    crank_slider,
)
