"""Shells in models: statics of large rotation, integrals of motion, ports, pressure, contact, files."""

import re
from functools import partial

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from mechanisms import grounded
from phlexible.bodies.shell.mesh import sphere_grid
from phlexible.description.ports import PlacedBody
from phlexible.errors import AttachmentError
from refusals import refused

SOFT = ph.Material(2e9, 1000.0, 0.3)
CLAMPED = {"start": "rigid"}


def cantilever(end: str) -> tuple[ph.Model, PlacedBody]:
    """Sze, Liu and Lo's strip of 10 x 1 x 0.1 m, clamped at its start."""
    model = ph.Model()
    strip = ph.Shell.plate(10.0, 1.0, 0.1, ph.Material(1.2e6, 1.0, 0.0), (8, 1), {"start": end})
    placed = model.add(strip, "strip")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), placed["start"]))
    return model, placed


@pytest.mark.parametrize(("end", "allowed"), [("rigid", 6e-3), ("average", 1e-2)])
def test_cantilever_under_a_large_end_load(end: str, allowed: float) -> None:
    model, strip = cantilever(end)
    model.apply(ph.Force(strip["end"], (0.0, 0.0, 4.0)))
    x, y, z = model.equilibrium().position(strip["end"])
    assert (10 - x, z) == pytest.approx((3.286, 6.698), rel=allowed)  # 0.5 % with 8 elements
    assert abs(y) < 1e-9


def test_a_hinged_edge_turns_freely() -> None:
    model, _ = cantilever("hinged")
    lift = model.linearize().modes(1).frequencies[0]
    assert lift < 1e-3 < model.linearize().modes(2).frequencies[1]


def rolled_up(count: int, curved: float = 0.0, angle: float = np.pi) -> tuple:
    """A strip, 12 long, that is ``curved`` without stress and that a moment bends by a further ``angle``."""
    length, bending = 12.0, 1.2e6 / 12 * 0.1**3

    def arc(u: float, v: float) -> tuple[float, float, float]:
        reach = length * u * np.sinc(curved * u / (2 * np.pi))
        return reach * np.cos(curved * u / 2), v, reach * np.sin(curved * u / 2)

    def normals(x: np.ndarray) -> tuple[float, float, float]:
        turn = 2 * np.arctan2(x[2], x[0])
        return -np.sin(turn), 0.0, np.cos(turn)

    edges = {"u0": "rigid", "u1": "rigid"}
    strip = ph.Shell.of(arc, 0.1, ph.Material(1.2e6, 1.0, 0.0), (count, 1), edges, directors=normals)
    model, placed, _ = grounded(strip, by="u0", name="strip")
    bar = model.add(ph.RigidBody(1.0, (1, 1, 1)), "bar", position=placed["u1"].initial_position())
    model.connect(ph.Fixed(bar.origin, placed["u1"]))
    model.apply(ph.Torque(bar.origin, (0.0, -bending * angle / length, 0.0)))
    return model.equilibrium(), bar


def bent(found, bar) -> float:
    """The angle by which the end has turned."""
    R = found.rotation(bar.origin)
    return float(np.arctan2(R[2, 0], R[0, 0]) % (2 * np.pi))


def test_rolled_up_by_a_moment() -> None:
    length, count, angle = 12.0, 8, np.pi
    with pytest.warns(ph.LargeDeflectionWarning, match=r"about 2\.7 % too far: take 1\.6 times as many elements"):
        found, bar = rolled_up(count)
    x, _, z = found.position(bar.origin)
    turn = np.arcsin(angle / count)  # of an element of length a: M = EI sin(turn) / a
    assert np.hypot(x, z) == pytest.approx(length / count * np.sin(count * turn / 2) / np.sin(turn / 2), rel=1e-3)
    assert (x, z) == pytest.approx((0.0, 2 * length / angle), abs=0.03 * length)


@pytest.mark.parametrize(("curved", "angle"), [(0.0, 3.0), (2.0, 1.0), (3.5, -1.0)])
def test_a_coarse_shell_says_how_far_a_moment_bends_it_and_how_many_elements_help(curved, angle) -> None:
    """Closed form: a moment M turns the end by M L / EI, whatever curvature is without stress."""
    with pytest.warns(ph.LargeDeflectionWarning, match="strip bends further than its elements follow") as given:
        found = rolled_up(6, curved, angle)
    told, times = map(float, re.findall(r"about (\S+) % too far: take (\S+) times", str(given[0].message))[0])
    assert 100 * ((bent(*found) % (np.sign(angle) * 2 * np.pi)) / angle - 1) == pytest.approx(told, rel=0.15)
    finer = rolled_up(int(np.ceil(6 * times)), curved, angle)
    assert 0 < (bent(*finer) % (np.sign(angle) * 2 * np.pi)) / angle - 1 < 0.01


def test_a_coarse_shell_that_does_not_bend_is_not_warned_of() -> None:
    assert bent(*rolled_up(6, 3.0, 0.01)) == pytest.approx(0.01, rel=0.07)


def test_angles_without_stress_are_computed_once(monkeypatch) -> None:
    shell = ph.Shell.plate(2.0, 0.3, 4e-3, SOFT, (6, 2))
    computed, angles = [], type(shell.mesh).bending_angles
    monkeypatch.setattr(type(shell.mesh), "bending_angles", lambda *args: computed.append(1) or angles(*args))
    undeformed = shell.mesh.vectors(shell.nodes, shell.mesh.gyration * shell.mesh.directors)
    assert [shell.largest_excess_bending(undeformed)[0] for _ in range(3)] == [0.0] * 3
    assert len(computed) == 4  # of three instants, and without stress


def tumbling(offset: float = 0.0) -> ph.Model:
    """A bent strip that flies with a hub clamped to it, a wheel on a patch and a rod on a node."""
    model = ph.Model()
    interfaces = CLAMPED | {"patch": (lambda x: x[0] > 1.4, "average")}
    strip = ph.Shell.plate(2.0, 0.3, 4e-3, SOFT, (6, 2), interfaces, offset=offset)
    shell = model.add(strip, "shell", position=(0, 1, 0), velocity=lambda x: (0.1, 0.2 * x[0], 2 * x[0] ** 2))
    hub = model.add(ph.RigidBody(2.0, (0.1, 0.2, 0.15), center=(0.05, 0.02, 0.1)), "hub", position=(0, 1, 0))
    model.connect(ph.Fixed(hub.origin, shell["start"]))
    there = shell["patch"].initial_position()
    wheel = model.add(ph.RigidBody(0.3, (0.01, 0.02, 0.015)), "wheel", position=there)
    model.connect(ph.Revolute(shell["patch"], wheel.origin, axis=(0, 1, 0)))
    along = Rotation.from_rotvec((0, 0, np.pi / 2))
    rod = model.add(ph.Rod(0.5, ph.CircularSection(0.01), SOFT, elements=2), "rod", (1.0, 1.15, 0), along)
    corner = strip.points_where(lambda x: (np.abs(x[0] - 1) < 1e-9) & (x[1] > 0.149))
    model.connect(ph.Spherical(shell.node(int(corner[0])), rod.start))
    return model


def test_ten_integrals_of_a_tumbling_shell_beside_its_nodes_with_bodies_on_it() -> None:
    motion = tumbling(offset=1e-3).simulate(0.5, step=5e-3)
    assert np.abs(motion.energy.balance_error).max() < 1e-12 * motion.energy.total.max()
    momentum = motion.momentum
    for each in (momentum.linear, momentum.angular):
        assert np.abs(each - each[0]).max() < 1e-12 * np.abs(each).max()
    center, mass = momentum.center_of_mass, sum(placed.data.mass for placed in motion.mechanism.bodies)
    assert np.abs(center - center[0] - np.outer(motion.time, momentum.linear[0]) / mass).max() < 1e-12
    assert motion.energy.strain.max() > 0.02 * motion.energy.total.max()


def test_files_and_stress(tmp_path) -> None:
    motion = tumbling().simulate(0.05, step=5e-3)
    motion.save(tmp_path / "run.h5")
    read = ph.Motion.load(tmp_path / "run.h5")
    own, other = motion.mechanism["shell"], read.mechanism["shell"]
    assert np.array_equal(motion.position(own["patch"]), read.position(other["patch"]))
    stress, again = (m.mesh_stress(s, every=5) for m, s in ((motion, own), (read, other)))
    assert stress.von_mises.max() > 1e4
    assert np.array_equal(stress.components, again.components)


def test_bending_stress_of_a_cantilever() -> None:
    model, strip = cantilever("rigid")
    model.apply(ph.Force(strip["end"], (0.0, 0.0, 1e-4)))
    stress = model.equilibrium().mesh_stress(strip)
    at = np.flatnonzero(np.abs(stress.positions[:, 0] - 5.0) < 1e-9)  # two nodes on three surfaces
    heights = stress.positions[at, 2]
    assert stress.components[0, at, 0] == pytest.approx(-heights * 12 / 0.1**3 * 5e-4, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("ratio", [30.0, 300.0])
def test_pressure_inflates_a_sphere(ratio: float) -> None:
    """Its radius R grows by p R^2 (1 - nu) / (2 E t) everywhere, also where three elements meet."""
    E, t = 1e6, 1 / ratio
    p = 0.1 * t
    model = ph.Model()
    ball = model.add(ph.Shell.sphere(1.0, t, ph.Material(E, 1000.0, 0.3)), "ball")
    model.apply(ph.Pressure(ball, p))
    before = np.linalg.norm(ball.body.nodes, axis=1)
    assert np.median(before) == pytest.approx(1.0, rel=1e-12)
    assert before == pytest.approx(1.0, rel=3e-3)
    rest = model.equilibrium()
    after = np.linalg.norm([rest.position(ball.node(k)) for k in range(len(before))], axis=1)
    assert after - before == pytest.approx(p * 0.7 / (2 * E * t), rel=0.05)
    assert rest.mesh_stress(ball).von_mises == pytest.approx(p / (2 * t), rel=0.06)


@pytest.mark.parametrize(("count", "beside"), [(1, 1e-9), (2, 0.033), (3, 0.015), (4, 0.01)])
def test_spheres_of_few_elements(count: int, beside: float) -> None:
    points, cells = sphere_grid(count)
    assert len(cells) == 6 * count**2
    assert np.linalg.norm(points, axis=1) == pytest.approx(1.0, abs=beside)


def test_a_sheet_falls_on_a_ball_with_its_face() -> None:
    model = ph.Model(gravity=(0, 0, -9.81))
    sheet = model.add(ph.Shell.plate(0.4, 0.4, 4e-3, SOFT, (2, 2)), "sheet", position=(-0.2, 0, 0.103))
    ball = ph.Surface(model.ground.at((0, 0, 0)), ph.Sphere(0.1))
    model.apply(ph.Contact(sheet, ball, radius=2e-3, stiffness=1e4))
    motion = model.simulate(0.04, step=1e-3)
    middle = sheet.node(int(sheet.body.points_where(lambda x: (abs(x[0] - 0.2) < 1e-9) & (abs(x[1]) < 1e-9))[0]))
    assert motion.position(middle)[:, 2].min() == pytest.approx(0.102, abs=2e-3)


@pytest.mark.parametrize("kind", ["rigid", "average"])
@pytest.mark.parametrize("is_second", [True, False])
def test_reactions_of_a_clamped_edge_bear_the_weight(kind: str, is_second: bool) -> None:
    model = ph.Model(gravity=(0, 0, -9.81))
    stiff = ph.Shell.plate(2.0, 0.5, 0.01, ph.Material(2e11, 1000.0), (4, 2), {"start": kind})
    ports = [model.ground.at((1, 0, 0)), model.add(stiff, "shell", position=(1, 0, 0))["start"]]
    clamp = model.connect(ph.Fixed(*(ports if is_second else ports[::-1])))
    held, sign = model.equilibrium(), 1.0 if is_second else -1.0
    weight = 9.81 * stiff.mass
    assert held.reaction(clamp) == pytest.approx((0, 0, sign * weight), abs=1e-5 * weight)
    assert held.reaction_moment(clamp) == pytest.approx((0, -sign * weight, 0), abs=1e-4 * weight)


def test_points_between_nodes_carry_positions_and_forces() -> None:
    """``at(u, v)`` of a surface whose elements face the other way than u and v, because of its directors."""

    def surface(u: float, v: float) -> tuple[float, float, float]:
        return 2.0 * u, 0.5 * v + 0.1 * u, 0.0

    for normal in ((0, 0, 1.0), (0, 0, -1.0)):
        shell = ph.Shell.of(surface, 0.01, SOFT, (4, 2), {"u0": "rigid"}, directors=lambda x, n=normal: n)
        model = ph.Model()
        placed = model.add(shell, "shell", position=(1, 0, 0))
        for u, v in ((0.0, 0.0), (0.3, 0.9), (0.75, 0.5), (1.0, 1.0)):
            assert placed.at(u, v).initial_position() == pytest.approx(np.add(surface(u, v), (1, 0, 0)), abs=1e-15)
            assert placed.at(u, v).initial_directors() == pytest.approx(np.array([normal]), abs=1e-15)
        assert placed.at(0.75, 0.5).point.node is not None
        clamp = model.connect(ph.Fixed(model.ground.at((1, 0, 0)), placed["u0"]))
        model.apply(ph.Force(placed.at(0.9, 0.7), (0.0, 0.0, 0.1)))
        held = model.equilibrium()
        strain = 1e-15  # round-off of positions, in a sheet that is stiff in its plane
        limit = strain * SOFT.youngs_modulus * shell.thickness * 0.5
        assert held.reaction(clamp) == pytest.approx((0, 0, -0.1), abs=limit)
        stone = model.add(ph.PointMass(0.5), "stone", position=placed.at(0.4, 0.2).initial_position())
        model.connect(ph.Spherical(placed.at(0.4, 0.2), stone.origin))
        motion = model.simulate(0.02, step=2e-3)
        gap = motion.position(placed.at(0.4, 0.2)) - motion.position(stone.origin)
        assert np.abs(gap).max() < 1e-12


def test_points_that_a_shell_lacks_are_refused() -> None:
    model = ph.Model()
    sheet = model.add(ph.Shell.plate(1.0, 0.2, 0.01, SOFT), "sheet")
    ball = model.add(ph.Shell.sphere(1.0, 0.01, SOFT, 4), "ball")
    refused(AttachmentError, "u and v of a shell are from 0 to 1", lambda: sheet.at(1.2, 0.5))
    refused(AttachmentError, "has parameters u and v", lambda: ball.at(0.2, 0.5))
    refused(AttachmentError, r"no at\(0.5\)", lambda: sheet.at(0.5))
    beam = model.add(ph.Beam(1.0, ph.CircularSection(0.01), SOFT), "beam")
    refused(AttachmentError, r"at\(0.5, 0.5\)", lambda: beam.at(0.5, 0.5))


def test_what_an_edge_and_a_node_do_not_carry_is_refused() -> None:
    model = ph.Model()
    shell = model.add(ph.Shell.plate(1.0, 0.2, 0.01, SOFT, interfaces=CLAMPED), "shell")
    wall = model.ground.at((0, 0, 0))
    with pytest.raises(ph.ModelError, match="rigid, hinged or symmetric edge, which Fixed holds alone"):
        ph.Revolute(wall, shell["start"], axis=(0, 1, 0))
    for port in (shell["end"], shell.node(0), shell.at(0.1, 0.3)):
        for make in (
            partial(ph.Torque, port, (0.0, 1.0, 0.0)),
            partial(ph.Force, port, (0.0, 1.0, 0.0), axes="body"),
            partial(ph.Angle, port),
            partial(ph.AngularVelocity, port),
            partial(ph.Rotation, port),
        ):
            with pytest.raises(ph.ModelError, match="has no orientation .*; fix a RigidBody to an edge or a patch"):
                make()
    refused(ph.ModelError, "has no orientation", lambda: model.connect(ph.Fixed(wall, shell.node(0))))
    refused(AttachmentError, "no interface", lambda: shell["middle"])
    with pytest.raises(ph.ParameterError, match="make an element flat"):
        model.add(shell.body, "line", shape=lambda x: (x[0], 0.0, 0.0))
    honey = model.add(ph.Shell.plate(1.0, 0.2, 0.01, ph.Material(2e9, 1000.0, viscosity=0.1)), "honey")
    refused(ph.ModelError, "damping of honey", lambda: model.simulate(0.1, step=0.01, order=4))
    assert honey.kind == "shell"
    refused(ph.ParameterError, "model in space", lambda: ph.Model(dimension=2).add(shell.body, "flat"))


@pytest.mark.parametrize("as_array", [False, True])
def test_a_strip_that_starts_bent_stores_what_bending_needs(as_array: bool) -> None:
    """An arc of radius R stores E I L / 2 R^2, and by its chords E A L / 2 (a^2 / 24 R^2)^2, a of an element."""
    length, radius, count, E = 0.5, 0.8, 12, 7e10
    strip = ph.Shell.plate(length, 0.05, 2e-3, ph.Material(E, 2700.0, 0.0), elements=(count, 1))

    def arc(x):
        return radius * np.sin(x[0] / radius), x[1], radius * (1 - np.cos(x[0] / radius))

    model = ph.Model()
    model.add(strip, "strip", shape=np.array([arc(x) for x in strip.nodes]) if as_array else arc)
    bending = E * 0.05 * 2e-3**3 / 12 * length / 2 / radius**2
    chords = E * 0.05 * 2e-3 * length / 2 * ((length / count / radius) ** 2 / 24) ** 2
    assert model.simulate(1e-5, 1e-5).energy.strain[0] == pytest.approx(bending + chords, rel=5e-3)


@pytest.mark.parametrize("end", ["rigid", "hinged", "average"])
@pytest.mark.parametrize("gap", [(0.0, 0.0, 5.0), (0.0, 0.2, 0.0), (1e-4, 0.0, 0.0)])
def test_an_edge_is_fixed_where_it_is(end: str, gap: tuple[float, float, float]) -> None:
    """To the ground, a body, another shell: a gap is told as that of other joints, and closed by ``assemble``."""
    for kind in ("ground", "body", "shell"):
        model = ph.Model()
        strip = model.add(ph.Shell.plate(1.0, 0.3, 0.01, SOFT, (4, 2), {"start": end, "end": end}), "strip")
        place = np.add(strip["start"].initial_position(), gap)
        port = model.ground.at(place)
        if kind == "body":
            port = model.add(ph.RigidBody(1.0, (1, 1, 1)), "body", position=place).origin
        if kind == "shell":
            other = ph.Shell.plate(1.0, 0.3, 0.01, SOFT, (4, 2), {"start": end, "end": end})
            port = model.add(other, "other", position=np.add(gap, (-1, 0, 0)))["end"]
        model.connect(ph.Fixed(port, strip["start"]))
        with pytest.raises(ph.JointGapError, match="does not close at the initial pose"):
            model.simulate(1e-3, 1e-3, progress=False)
    closed = model.assemble().model
    assert closed["strip"]["start"].initial_position() == pytest.approx(closed["other"]["end"].initial_position())


@pytest.mark.parametrize("place", [(0, 0, 0), (0, 0.15, 0), (0, -0.1, 0)])
def test_an_edge_is_clamped_at_any_of_its_points(place: tuple[float, float, float]) -> None:
    model, *_ = grounded(ph.Shell.plate(1.0, 0.3, 0.01, SOFT, (4, 2), CLAMPED), at=place, by="start", name="strip")
    assert model.linearize().modes(1).frequencies[0] > 0.1
