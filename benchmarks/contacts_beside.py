"""Balls that settle in a box, and a ball bearing, beside Exudyn and MuJoCo: cost of a contact and step.

    python benchmarks/contacts_beside.py [balls along an edge]

1000 balls of one stiffness fall into a box by half a millimetre and settle; MuJoCo's contacts are made so soft that
they go as deep. How far the mean height of the balls, before chance decides where they go, misses that of the same
program with fine steps compares programs at equal error. Twenty-four balls roll between a ring that turns and one
that stays. The default of ``longest_part`` is 0.3 here. One thread, processor time; programs that are not installed
are left out. MuJoCo solves by conjugate gradients with sparse matrices: its default, Newton's method, factors
matrices of the whole heap in each iteration, and takes some thirty times as long.
A gripper: ``gripper_beside.py``.
"""

import sys
import time
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

import phlexible as ph

RADIUS, DENSITY, STIFFNESS, FRICTION, GRAVITY = 0.01, 2500.0, 2e3, 0.4, 9.81
MASS = DENSITY * 4 / 3 * np.pi * RADIUS**3
INERTIA = 0.4 * MASS * RADIUS**2
SHARE = 0.2  # of critical damping, of those that are linear
DAMPER = 2 * SHARE * np.sqrt(STIFFNESS * MASS / 2)
SETTLED = 0.3  # [s]
COMPARED = 0.06  # [s]
SOFTENED = 1 / 9  # MuJoCo's impedance is 0.9 by default, so that contacts are so many times stiffer
BESIDE = 2.0  # stiffnesses of both bodies are in series in Exudyn


class Settled(NamedTuple):
    """How a program did: seconds, steps, where the balls are and the fastest of them."""

    used: float
    steps: int
    places: np.ndarray
    speed: float


def start(side: int) -> tuple[np.ndarray, float]:
    """Places of columns of balls that hardly touch, half a millimetre over the floor, and how wide the box is."""
    rng, pitch = np.random.default_rng(5), 2.0 * RADIUS + 1e-4
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 3), axis=-1).reshape(-1, 3) + 0.5
    return pitch * grid + rng.uniform(-4e-5, 4e-5, grid.shape) + (0, 0, 5e-4), side * pitch


def ours(side: int, step: float = 1e-3, longest: float = 0.3, duration: float = SETTLED) -> Settled:
    places, wide = start(side)
    model, body = ph.Model(gravity=(0, 0, -GRAVITY)), ph.RigidBody.sphere(RADIUS, DENSITY)
    balls = [model.add(body, position=x) for x in places]
    box = ph.Surface(model.ground.at((wide / 2, wide / 2, wide)), ph.Box((wide, wide, 2 * wide)), inside=True)
    law = {"stiffness": STIFFNESS, "friction": FRICTION, "damping": 6 * STIFFNESS, "longest_part": longest}
    model.apply(ph.Contact(balls, [*balls, box], **law))
    model.simulate(step, step, progress=False)
    begin = time.process_time()
    motion = model.simulate(duration, step, every=10, progress=False)
    used = time.process_time() - begin
    parts = int(motion.contact_steps[-1]) + round(duration / step)  # with the whole steps that were tried
    speed = np.linalg.norm(motion.recording.velocity[-1].reshape(-1, 6)[:, :3], axis=1).max()
    return Settled(used, parts, motion.recording.position[-1], float(speed))


def settings_of_exudyn(end: float, step: float):
    """Of a silent run without files."""
    import exudyn as exu

    settings = exu.SimulationSettings()
    settings.timeIntegration.endTime, settings.timeIntegration.numberOfSteps = end, round(end / step)
    settings.timeIntegration.verboseMode = 0
    settings.solution.file.write = False
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    return settings


def exudyn(side: int, step: float, duration: float = SETTLED) -> Settled:
    """Explicit, the search of its general contact; walls are triangles of the ground."""
    import exudyn as exu
    from exudyn.utilities import (
        Force,
        InertiaSphere,
        MarkerBodyRigid,
        NodeRigidBodyRotVecLG,
        ObjectGround,
        ObjectRigidBody,
    )

    places, wide = start(side)
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    contact = mbs.AddGeneralContact()
    contact.verboseMode = 0
    ground = mbs.AddObject(ObjectGround())
    wall = mbs.AddMarker(MarkerBodyRigid(bodyNumber=ground))
    own = InertiaSphere(MASS, RADIUS)
    contact.SetFrictionPairings(FRICTION * np.ones((1, 1)))
    contact.SetFrictionProportionalZone(1e-3)
    contact.SetSearchTreeCellSize(numberOfCells=[side, side, side])
    contact.SetSearchTreeBox(pMin=[-RADIUS] * 3, pMax=[wide + RADIUS] * 3)
    nodes = []
    for x in places:
        node = mbs.AddNode(NodeRigidBodyRotVecLG(referenceCoordinates=[*x, 0, 0, 0], initialVelocities=[0] * 6))
        nodes.append(node)
        body = mbs.AddObject(ObjectRigidBody(mass=MASS, inertia=own.GetInertia6D(), nodeNumber=node))
        marker = mbs.AddMarker(MarkerBodyRigid(bodyNumber=body))
        mbs.AddLoad(Force(markerNumber=marker, loadVector=[0, 0, -MASS * GRAVITY]))
        contact.AddSphereWithMarker(
            marker,
            radius=RADIUS,
            contactStiffness=BESIDE * STIFFNESS,
            contactDamping=BESIDE * DAMPER,
            frictionMaterialIndex=0,
        )
    corners, faces = box_of_triangles(wide)
    contact.AddTrianglesRigidBodyBased(
        wall,
        contactStiffness=BESIDE * STIFFNESS,
        contactDamping=BESIDE * DAMPER,
        frictionMaterialIndex=0,
        pointList=corners,
        triangleList=faces,
    )
    mbs.Assemble()
    settings = settings_of_exudyn(duration, step)
    settings.timeIntegration.explicit.computeEndOfStepAccelerations = False
    settings.timeIntegration.explicit.computeMassMatrixInversePerBody = True
    begin = time.process_time()
    mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.ExplicitEuler)
    used = time.process_time() - begin
    values = exu.OutputVariableType
    found = np.array([mbs.GetNodeOutput(node, values.Position) for node in nodes])
    speeds = np.array([mbs.GetNodeOutput(node, values.Velocity) for node in nodes])
    return Settled(used, round(duration / step), found, float(np.linalg.norm(speeds, axis=1).max()))


def box_of_triangles(wide: float) -> tuple[list, list]:
    """Floor and walls, normals inwards."""
    a, b, h = -1e-9, wide, 2 * wide
    corners = [[a, a, 0], [b, a, 0], [b, b, 0], [a, b, 0], [a, a, h], [b, a, h], [b, b, h], [a, b, h]]
    quads = [(0, 1, 2, 3), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)]
    faces = [[q[0], q[1], q[2]] for q in quads] + [[q[0], q[2], q[3]] for q in quads]
    return corners, faces


def mujoco(side: int, step: float, rigidity: float, duration: float = SETTLED) -> Settled:
    """Implicit in velocity; contacts with ``rigidity`` [1/s2] and critical damping."""
    import mujoco as mj

    places, wide = start(side)
    reference = f"{-rigidity} {-2 * np.sqrt(rigidity)}"
    walls = [((0, 0, 0), (0, 0, 1)), ((0, 0, 0), (1, 0, 0)), ((0, 0, 0), (0, 1, 0))]
    walls += [((wide, 0, 0), (-1, 0, 0)), ((0, wide, 0), (0, -1, 0))]
    planes = "".join(
        f'<geom type="plane" size="1 1 1" pos="{x} {y} {z}" zaxis="{a} {b} {c}"/>' for (x, y, z), (a, b, c) in walls
    )
    balls = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><geom type="sphere" size="{RADIUS}" density="{DENSITY}"/></body>'
        for x, y, z in places
    )
    model = mj.MjModel.from_xml_string(
        f'<mujoco><option timestep="{step}" gravity="0 0 {-GRAVITY}" integrator="implicitfast" cone="elliptic"'
        f' solver="CG" jacobian="sparse"/><size memory="2G"/>'
        f'<default><geom friction="{FRICTION} 0 0" condim="3" solref="{reference}"/></default>'
        f"<worldbody>{planes}{balls}</worldbody></mujoco>"
    )
    data = mj.MjData(model)
    count = round(duration / step)
    begin = time.process_time()
    for _ in range(count):
        mj.mj_step(model, data)
    used = time.process_time() - begin
    found = np.array(data.qpos).reshape(-1, 7)[:, :3]
    return Settled(
        used, count, found, float(np.linalg.norm(np.array(data.qvel).reshape(-1, 6)[:, :3], axis=1).max())
    )


# A ball bearing in its plane, both without a drive: the ring is so heavy that it keeps its speed.

BALLS, RACE, BALL, SQUEEZED, SPEED, ROLLED = 24, 0.04, 5e-3, 2e-5, 20.0, 0.5
RING = 10.0  # [kg m2]
BEARING = {"stiffness": 2e4, "friction": 0.2}


class Rolled(NamedTuple):
    """How a program did: seconds, steps, the mean speed of the balls around the axis at the end."""

    used: float
    steps: int
    around: float


def circle() -> np.ndarray:
    """Where the balls begin."""
    turns = 2 * np.pi * np.arange(BALLS) / BALLS
    return (RACE + BALL - SQUEEZED / 2) * np.stack([np.cos(turns), np.sin(turns), 0 * turns], axis=1)


def speed_around(places: np.ndarray, speeds: np.ndarray) -> float:
    """Mean of the balls [rad/s]."""
    return float(np.mean(np.cross(places, speeds)[:, 2] / (places**2).sum(axis=1)))


def our_bearing(step: float, longest: float) -> Rolled:
    model = ph.Model(dimension=2)
    ring = ph.RigidBody(1.0, RING, shape=ph.Cylinder(RACE, 0.01))
    inner = model.add(ring, "inner ring", angular_velocity=(0, 0, SPEED))
    model.connect(ph.Revolute(model.ground.at((0.0, 0.0, 0.0)), inner.origin))
    body = ph.RigidBody.sphere(BALL, 7800.0)
    balls = [model.add(body, position=x) for x in circle()]
    outer = ph.Surface(model.ground.at((0, 0, 0)), ph.Sphere(RACE + 2 * BALL - SQUEEZED), inside=True)
    model.apply(ph.Contact(balls, [inner, outer], damping=2e5, longest_part=longest, **BEARING))
    model.simulate(step, step, progress=False)
    begin = time.process_time()
    motion = model.simulate(ROLLED, step, every=10, progress=False)
    used = time.process_time() - begin
    parts = int(motion.contact_steps[-1]) + round(ROLLED / step)
    speeds = np.array([motion.velocity(each.origin)[-1] for each in balls])
    return Rolled(used, parts, speed_around(motion.recording.position[-1][1:], speeds))


def exudyn_bearing(step: float) -> Rolled:
    """Contacts of two spheres, one of them hollow, implicit."""
    import exudyn as exu
    from exudyn.utilities import (
        CoordinateConstraint,
        MarkerBodyRigid,
        MarkerNodeCoordinate,
        NodeGenericData,
        NodePointGround,
        NodeRigidBody2D,
        ObjectContactSphereSphere,
        ObjectGround,
        ObjectRigidBody2D,
    )

    mbs = exu.SystemContainer().AddSystem()
    ground = mbs.AddMarker(MarkerBodyRigid(bodyNumber=mbs.AddObject(ObjectGround())))
    fixed = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=mbs.AddNode(NodePointGround()), coordinate=0))
    middle = mbs.AddNode(NodeRigidBody2D(referenceCoordinates=[0, 0, 0], initialVelocities=[0, 0, SPEED]))
    ring = mbs.AddObject(ObjectRigidBody2D(mass=1.0, inertia=RING, nodeNumber=middle))
    inner = mbs.AddMarker(MarkerBodyRigid(bodyNumber=ring))
    for axis in range(2):
        own = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=middle, coordinate=axis))
        mbs.AddObject(CoordinateConstraint(markerNumbers=[fixed, own]))
    mass = 7800.0 * 4 / 3 * np.pi * BALL**3
    nodes = []
    for x in circle():
        node = mbs.AddNode(NodeRigidBody2D(referenceCoordinates=[x[0], x[1], 0], initialVelocities=[0] * 3))
        nodes.append(node)
        ball = mbs.AddObject(ObjectRigidBody2D(mass=mass, inertia=0.4 * mass * BALL**2, nodeNumber=node))
        marker = mbs.AddMarker(MarkerBodyRigid(bodyNumber=ball))
        law = {
            "dynamicFriction": BEARING["friction"],
            "frictionProportionalZone": 1e-3,
            "contactStiffness": BEARING["stiffness"],
            "contactDamping": 2 * SHARE * np.sqrt(BEARING["stiffness"] * mass),
            "impactModel": 2,
            "restitutionCoefficient": 1.0,
        }
        for other, radius, is_hollow in ((inner, RACE, False), (ground, RACE + 2 * BALL - SQUEEZED, True)):
            data = mbs.AddNode(NodeGenericData(initialCoordinates=[0.1, 0, 0, 0], numberOfDataCoordinates=4))
            mbs.AddObject(
                ObjectContactSphereSphere(
                    markerNumbers=[marker, other],
                    nodeNumber=data,
                    spheresRadii=[BALL, radius],
                    isHollowSphere1=is_hollow,
                    **law,
                )
            )
    mbs.Assemble()
    settings = settings_of_exudyn(ROLLED, step)
    begin = time.process_time()
    mbs.SolveDynamic(settings)
    used = time.process_time() - begin
    values = exu.OutputVariableType
    places, speeds = (
        np.array([mbs.GetNodeOutput(node, kind) for node in nodes]) for kind in (values.Position, values.Velocity)
    )
    return Rolled(used, round(ROLLED / step), speed_around(places, speeds))


def told_of_bearing(name: str, found: Rolled) -> None:
    """Prints it."""
    right = SPEED * RACE / (2 * (RACE + BALL))
    cost = 1e6 * found.used / (found.steps * 2 * BALLS)
    print(
        f"bearing, {name}: {found.used:.2f} s for {ROLLED} s, {found.steps} steps, {cost:.2f} us a contact and"
        f" step, balls go round by {found.around:.4f} rad/s, {right:.4f} without slip or squeeze",
        flush=True,
    )


def told(name: str, found: Settled, side: int) -> float:
    """Prints it; the mean depth of the contacts with the floor [m]."""
    _, wide = start(side)
    x = found.places
    pairs = cKDTree(x).query_pairs(2 * RADIUS, output_type="ndarray")
    depths = 2 * RADIUS - np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)
    floor = RADIUS - x[:, 2]
    sides = np.concatenate([RADIUS - x[:, :2].ravel(), RADIUS - (wide - x[:, :2]).ravel()])
    count = len(depths) + int((floor > 0).sum() + (sides > 0).sum())
    carried = floor[floor > 0].mean()
    cost = 1e6 * found.used / (found.steps * count)
    print(
        f"{name}: {found.used:.2f} s for {SETTLED} s, {found.steps} steps, {count} contacts, {cost:.2f} us a"
        f" contact and step; on the floor {1e6 * carried:.1f} um deep, fastest {1e3 * found.speed:.1f} mm/s",
        flush=True,
    )
    return float(carried)


def told_of_heights(side: int, rigidity: float) -> None:
    """Prints how far mean heights miss those of fine steps, for what time; ``rigidity``: of MuJoCo's contacts."""
    runs = {
        "phlexible, 1 ms": [
            (f"longest_part={part:g}", ours(side, 1e-3, part, COMPARED)) for part in (0.1, 0.3, 1.0)
        ]
    }
    fine = {"phlexible, 1 ms": ours(side, 2.5e-4, 0.03, COMPARED)}
    if find_spec("exudyn"):
        steps = 2e-4, 1e-4, 5e-5
        runs["Exudyn"] = [(f"{1e3 * step:g} ms", exudyn(side, step, COMPARED)) for step in steps]
        fine["Exudyn"] = exudyn(side, 1e-5, COMPARED)
    if find_spec("mujoco"):
        steps = 1e-3, 5e-4, 2.5e-4
        runs["MuJoCo"] = [(f"{1e3 * step:g} ms", mujoco(side, step, rigidity, COMPARED)) for step in steps]
        fine["MuJoCo"] = mujoco(side, 5e-5, rigidity, COMPARED)
    for name, found in runs.items():
        for how, run in found:
            misses = abs(run.places[:, 2].mean() - fine[name].places[:, 2].mean())
            print(
                f"{name}, {how}: mean height after {COMPARED} s to {1e6 * misses:.2f} um in {run.used:.2f} s",
                flush=True,
            )


def main() -> None:
    """Prints a line for each program and step."""
    side = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    for longest in (0.3, 1.0, 4.0):
        told_of_bearing(f"phlexible, 1 ms, longest_part={longest:g}", our_bearing(1e-3, longest))
    if find_spec("exudyn"):
        for step in (1e-3, 1e-4, 2e-5):
            told_of_bearing(f"Exudyn, {1e3 * step:g} ms", exudyn_bearing(step))
    deep = told("phlexible, 1 ms", ours(side), side)
    rigidity = SOFTENED * side * GRAVITY / deep
    for longest in (0.1, 1.0):
        told(f"phlexible, 1 ms, longest_part={longest:g}", ours(side, longest=longest), side)
    if find_spec("exudyn"):
        for step in (2e-4, 1e-4):
            told(f"Exudyn, explicit, {1e3 * step:g} ms", exudyn(side, step), side)
    if find_spec("mujoco"):
        for step in (1e-3, 5e-4):
            told(f"MuJoCo, {1e3 * step:g} ms", mujoco(side, step, rigidity), side)
    told_of_heights(side, rigidity)


if __name__ == "__main__":
    main()
