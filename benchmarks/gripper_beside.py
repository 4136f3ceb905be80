"""A gripper that lifts a block by friction, beside Exudyn and MuJoCo: slip in the grip, and cost of a step.

    python benchmarks/gripper_beside.py

A block of 0.2 kg stands on four feet on a table. Two jaws on a hand, each with four round pads, close over 1 mm by
a force of 8 N each, and from 0.15 s on a constant force lifts all of it by 1 m/s2, until 1 s. Friction has 3.7
times what the lift needs. All contacts are spheres on flat sides, equally stiff in all programs: those
of MuJoCo are made so soft that pads go as deep. The slip is how much lower the block is in the hand than at 0.25 s.
Errors are those of the height of the block at the end, beside fine steps of the same program. One thread, processor
time; programs that are not installed are left out.
"""

import time
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

import phlexible as ph

BLOCK, MASS = (0.04, 0.04, 0.06), 0.2
JAW, HAND = 0.1, 1.0  # masses
PAD, STIFFNESS, FRICTION, GRAVITY = 5e-3, 1e4, 0.5, 9.81
SQUEEZE, RISE, GAP = 8.0, 1.0, 1e-3
CLOSED, SEEN, END = 0.15, 0.25, 1.0
FEET = [(x, y, -BLOCK[2] / 2 + PAD) for x in (-0.01, 0.01) for y in (-0.01, 0.01)]  # in the block
PADS = [(y, z) for y in (-0.01, 0.01) for z in (-0.015, 0.015)]  # on the jaws
LOW = MASS * GRAVITY / (4 * STIFFNESS)  # depth of the feet [m]
OUT = BLOCK[0] / 2 + GAP + PAD  # from the middle of the block to those of pads [m]
CARRIED = (HAND + 2 * JAW) * GRAVITY
LIFTED = CARRIED + MASS * GRAVITY + (HAND + 2 * JAW + MASS) * RISE
SHARE = 0.2  # of critical damping of a pad and its share of a jaw
DAMPER = 2 * SHARE * np.sqrt(STIFFNESS * JAW / 4)
BESIDE = 2.0  # stiffnesses of both bodies are in series in Exudyn


class Gripped(NamedTuple):
    """How a program did: seconds, steps, the block's height, that above the hand at two instants, depth of pads."""

    used: float
    steps: int
    height: float
    seen: float
    end: float
    deep: float

    @property
    def slip(self) -> float:
        """By how much the block sank in the grip [m]."""
        return self.seen - self.end


def ours(step: float, longest: float | None = None) -> Gripped:
    model = ph.Model(gravity=(0, 0, -GRAVITY))
    block = model.add(
        ph.RigidBody.box(BLOCK, density=MASS / np.prod(BLOCK)), "block", position=(0, 0, BLOCK[2] / 2 - LOW)
    )
    hand = model.add(ph.RigidBody(HAND, inertia=(1e-3, 1e-3, 1e-3)), "hand", position=(0, 0, BLOCK[2] / 2))
    model.connect(ph.Prismatic(model.ground.at((0, 0, BLOCK[2] / 2)), hand.origin, axis=(0, 0, 1)))
    pads = []
    for side in (-1.0, 1.0):
        place = (side * OUT, 0, BLOCK[2] / 2)
        jaw = model.add(ph.RigidBody(JAW, inertia=(1e-5, 1e-5, 1e-5)), f"jaw {side:+.0f}", position=place)
        model.connect(ph.Prismatic(hand.point((side * OUT, 0, 0)), jaw.origin, axis=(1, 0, 0)))
        model.apply(ph.Force(jaw.origin, (-side * SQUEEZE, 0, 0)))
        pads += [jaw.point((0, y, z)) for y, z in PADS]
    model.apply(ph.Force(hand.origin, lambda t: (0, 0, CARRIED if t < CLOSED else LIFTED), breakpoints=(CLOSED,)))
    law = {"stiffness": STIFFNESS, "friction": FRICTION, "damping": 50 * STIFFNESS}
    if longest is not None:
        law["longest_part"] = longest
    model.apply(ph.Contact(pads, [block], radius=PAD, **law))
    floor = ph.Plane(model.ground.at((0, 0, 0)))
    model.apply(ph.Contact([block.point(x) for x in FEET], [floor], radius=PAD, **law))
    model.simulate(step, step, progress=False)
    begin = time.process_time()
    motion = model.simulate(END, step, progress=False)
    used = time.process_time() - begin
    block_height, hand_height = (motion.position(each.origin)[:, 2] for each in (block, hand))
    inside = block_height - hand_height
    seen = int(np.argmin(np.abs(motion.time - SEEN)))
    deep = OUT - GAP - motion.position(pads[0])[seen, 0] * -1
    parts = len(motion.time) - 1 + int(motion.contact_steps[-1])
    return Gripped(used, parts, block_height[-1], inside[seen], inside[-1], deep)


def exudyn(step: float, is_explicit: bool) -> Gripped:
    """Hand and jaws are a kinematic tree, since explicit steps know no joints; flat sides are triangles."""
    import exudyn as exu
    from exudyn.utilities import (
        Force,
        MarkerBodyRigid,
        MarkerKinematicTreeRigid,
        NodeGenericODE2,
        NodeRigidBodyRotVecLG,
        ObjectGround,
        ObjectKinematicTree,
        ObjectRigidBody,
    )

    container = exu.SystemContainer()
    mbs = container.AddSystem()
    contact = mbs.AddGeneralContact()
    contact.verboseMode = 0
    contact.SetFrictionPairings(FRICTION * np.ones((1, 1)))
    contact.SetFrictionProportionalZone(1e-3)
    contact.SetSearchTreeCellSize(numberOfCells=[8, 8, 8])
    contact.SetSearchTreeBox(pMin=[-0.1, -0.1, -0.1], pMax=[0.1, 0.1, 1.0])
    law = {
        "contactStiffness": BESIDE * STIFFNESS,
        "contactDamping": BESIDE * DAMPER,
        "frictionMaterialIndex": 0,
    }
    a, b, c = BLOCK
    moments = MASS / 12 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    block = mbs.AddNode(
        NodeRigidBodyRotVecLG(referenceCoordinates=[0, 0, c / 2 - LOW, 0, 0, 0], initialVelocities=[0] * 6)
    )
    number = mbs.AddObject(ObjectRigidBody(mass=MASS, inertia=[*moments, 0, 0, 0], nodeNumber=block))
    own = mbs.AddMarker(MarkerBodyRigid(bodyNumber=number))
    mbs.AddLoad(Force(markerNumber=own, loadVector=[0, 0, -MASS * GRAVITY]))
    for x in FEET:
        foot = mbs.AddMarker(MarkerBodyRigid(bodyNumber=number, localPosition=list(x)))
        contact.AddSphereWithMarker(foot, radius=PAD, **law)
    slides = mbs.AddNode(
        NodeGenericODE2(
            referenceCoordinates=[0] * 3,
            initialCoordinates=[0] * 3,
            initialCoordinates_t=[0] * 3,
            numberOfODE2Coordinates=3,
        )
    )
    joint = exu.JointType
    tree = mbs.AddObject(
        ObjectKinematicTree(
            nodeNumber=slides,
            gravity=[0, 0, -GRAVITY],
            jointTypes=[joint.PrismaticZ, joint.PrismaticX, joint.PrismaticX],
            linkParents=[-1, 0, 0],
            jointTransformations=exu.Matrix3DList([np.eye(3)] * 3),
            jointOffsets=exu.Vector3DList([[0, 0, c / 2], [-OUT, 0, 0], [OUT, 0, 0]]),
            linkInertiasCOM=exu.Matrix3DList([1e-3 * np.eye(3), 1e-5 * np.eye(3), 1e-5 * np.eye(3)]),
            linkCOMs=exu.Vector3DList([[0, 0, 0]] * 3),
            linkMasses=[HAND, JAW, JAW],
        )
    )

    def on_tree(link, place=(0, 0, 0)):
        return mbs.AddMarker(
            MarkerKinematicTreeRigid(objectNumber=tree, linkNumber=link, localPosition=list(place))
        )

    for link, side in ((1, -1.0), (2, 1.0)):
        mbs.AddLoad(Force(markerNumber=on_tree(link), loadVector=[-side * SQUEEZE, 0, 0]))
        for y, z in PADS:
            contact.AddSphereWithMarker(on_tree(link, (0, y, z)), radius=PAD, **law)
    lift = mbs.AddLoad(Force(markerNumber=on_tree(0), loadVector=[0, 0, CARRIED]))
    for x in (-a / 2, a / 2):  # both sides that pads touch, normals outwards
        corners = [[x, -b / 2, -c / 2], [x, b / 2, -c / 2], [x, b / 2, c / 2], [x, -b / 2, c / 2]]
        faces = [[0, 1, 2], [0, 2, 3]] if x > 0 else [[0, 2, 1], [0, 3, 2]]
        contact.AddTrianglesRigidBodyBased(own, pointList=corners, triangleList=faces, **law)
    corners = [[-0.1, -0.1, 0], [0.1, -0.1, 0], [0.1, 0.1, 0], [-0.1, 0.1, 0]]
    table = mbs.AddMarker(MarkerBodyRigid(bodyNumber=mbs.AddObject(ObjectGround())))
    contact.AddTrianglesRigidBodyBased(table, pointList=corners, triangleList=[[0, 1, 2], [0, 2, 3]], **law)
    mbs.Assemble()
    values, inside, used, deep = exu.OutputVariableType, [], 0.0, 0.0
    solvers = exu.DynamicSolverType
    for begin, end, force in ((0.0, CLOSED, CARRIED), (CLOSED, SEEN, LIFTED), (SEEN, END, LIFTED)):
        settings = exu.SimulationSettings()
        settings.timeIntegration.startTime, settings.timeIntegration.endTime = begin, end
        settings.timeIntegration.numberOfSteps = round((end - begin) / step)
        settings.timeIntegration.verboseMode = 0
        settings.solution.file.write = False
        settings.timeIntegration.explicit.computeEndOfStepAccelerations = False
        mbs.SetLoadParameter(lift, "loadVector", [0, 0, force])
        started = time.process_time()
        mbs.SolveDynamic(settings, solverType=solvers.ExplicitEuler if is_explicit else solvers.GeneralizedAlpha)
        used += time.process_time() - started
        mbs.systemData.SetSystemState(mbs.systemData.GetSystemState(), exu.ConfigurationType.Initial)
        height = mbs.GetNodeOutput(block, values.Position)[2]
        rise, left, _ = mbs.GetNodeOutput(slides, values.Coordinates)
        inside.append(height - c / 2 - rise)
        deep = deep or left - GAP
    return Gripped(used, round(END / step), float(height), inside[1], inside[2], float(deep))


def mujoco(step: float, rigidity: float, options: str = "") -> Gripped:
    """Implicit in velocity, Newton's method; contacts with ``rigidity`` [1/s2] and critical damping."""
    import mujoco as mj

    reference = f"{-rigidity} {-2 * np.sqrt(rigidity)}"
    a, b, c = (each / 2 for each in BLOCK)
    feet = "".join(f'<geom type="sphere" size="{PAD}" pos="{x} {y} {z}" mass="0" class="pad"/>' for x, y, z in FEET)
    jaws = ""
    for name, side in (("left", -1.0), ("right", 1.0)):
        pads = "".join(f'<geom type="sphere" size="{PAD}" pos="0 {y} {z}" mass="0" class="pad"/>' for y, z in PADS)
        jaws += (
            f'<body name="{name}" pos="{side * OUT} 0 0"><joint name="{name}" type="slide" axis="1 0 0"/>'
            f'<inertial pos="0 0 0" mass="{JAW}" diaginertia="1e-5 1e-5 1e-5"/>{pads}</body>'
        )
    model = mj.MjModel.from_xml_string(
        f'<mujoco><option timestep="{step}" gravity="0 0 {-GRAVITY}" integrator="implicitfast" cone="elliptic"'
        f' {options}/><default><default class="pad"><geom contype="1" conaffinity="2"/></default>'
        f'<geom friction="{FRICTION} 0 0" condim="3" solref="{reference}"/></default>'
        f'<worldbody><geom type="plane" size="1 1 1" contype="2" conaffinity="1"/>'
        f'<body name="block" pos="0 0 {c - LOW}"><freejoint/>'
        f'<geom type="box" size="{a} {b} {c}" mass="{MASS}" contype="4" conaffinity="1"/>{feet}</body>'
        f'<body name="hand" pos="0 0 {c}"><joint name="lift" type="slide" axis="0 0 1"/>'
        f'<inertial pos="0 0 0" mass="{HAND}" diaginertia="1e-3 1e-3 1e-3"/>{jaws}</body></worldbody></mujoco>'
    )
    data = mj.MjData(model)
    block, hand, left, right = (model.body(name).id for name in ("block", "hand", "left", "right"))
    data.xfrc_applied[left, 0], data.xfrc_applied[right, 0] = SQUEEZE, -SQUEEZE
    used, inside, deep, done = 0.0, [], 0.0, 0
    for end, force in ((CLOSED, CARRIED), (SEEN, LIFTED), (END, LIFTED)):
        data.xfrc_applied[hand, 2] = force
        count = round(end / step) - done
        done += count
        begin = time.process_time()
        for _ in range(count):
            mj.mj_step(model, data)
        used += time.process_time() - begin
        mj.mj_kinematics(model, data)
        inside.append(data.xpos[block, 2] - data.xpos[hand, 2])
        deep = deep or OUT - GAP + data.xpos[left, 0]
    return Gripped(used, done, float(data.xpos[block, 2]), float(inside[1]), float(inside[2]), float(deep))


def told(name: str, found: Gripped, fine: Gripped) -> None:
    """Prints it."""
    print(
        f"{name}: {found.used:.3f} s for {END:g} s, {found.steps} steps, {1e6 * found.used / found.steps:.1f} us a"
        f" step; pads {1e6 * found.deep:.0f} um deep, block {1e3 * found.height:.3f} mm high, to"
        f" {1e6 * abs(found.height - fine.height):.2f} um, slips {1e6 * found.slip:.2f} um in {END - SEEN:g} s",
        flush=True,
    )


def main() -> None:
    """Prints a line for each program and step."""
    fine = ours(5e-5)
    for step in (2e-3, 1e-3, 5e-4):
        told(f"phlexible, {1e3 * step:g} ms", ours(step), fine)
    if find_spec("exudyn"):
        for is_explicit, name, steps in ((False, "implicit", (1e-3, 5e-4, 2e-4)), (True, "explicit", (1e-4, 5e-5))):
            fine = exudyn(steps[-1] / 10, is_explicit)
            for step in steps:
                told(f"Exudyn, {name}, {1e3 * step:g} ms", exudyn(step, is_explicit), fine)
    if find_spec("mujoco"):
        rigidity, wanted = 1e4, SQUEEZE / (4 * STIFFNESS)
        for _ in range(3):
            rigidity *= mujoco(1e-4, rigidity).deep / wanted
        for options in ("", 'impratio="10" noslip_iterations="5"'):
            fine = mujoco(2e-5, rigidity, options)
            for step in (2e-3, 1e-3, 5e-4):
                told(f"MuJoCo {options}, {1e3 * step:g} ms", mujoco(step, rigidity, options), fine)


if __name__ == "__main__":
    main()
