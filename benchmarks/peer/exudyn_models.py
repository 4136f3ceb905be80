"""The cases of ``compare.py`` in Exudyn: a program of its own, because each library runs in its own environment.

``python exudyn_models.py CASE KEY=NUMBER ...`` prints one line of JSON: seconds of the solver, steps, and what is
compared. Numbers as in ``phlexible.gallery``. Beams are geometrically exact: ``shear=0`` cubic absolute nodal
coordinates without shear, ``shear=1`` two-node elements with shear.
"""

import json
import sys
import time

import exudyn
import numpy as np
from exudyn import itemInterface as item  # noqa: N813
from exudyn.FEM import FEMinterface, ObjectFFRFreducedOrderInterface
from scipy import sparse

GRAVITY = 9.81
POISSON = 0.3


class Beam:
    """A straight beam along +x from ``begin`` as a row of equal elements; its first and last node hold joints."""

    def __init__(self, mbs, begin, length, diameter, modulus, density, elements, shear, rates=None, gravity=0.0):
        area, second = np.pi * diameter**2 / 4, np.pi * diameter**4 / 64
        places = np.linspace(0.0, length, elements + 1)
        self.nodes = []
        for x in places:
            speed, turning = (0.0, 0.0) if rates is None else (rates[0] + rates[1] * x, rates[1])
            if shear:
                node = item.NodeRigidBody2D(
                    referenceCoordinates=[begin + x, 0, 0], initialVelocities=[0, speed, turning]
                )
            else:
                node = item.NodePoint2DSlope1(
                    referenceCoordinates=[begin + x, 0, 1, 0], initialVelocities=[0, speed, 0, turning]
                )
            self.nodes.append(mbs.AddNode(node))
        common = {
            "physicsLength": length / elements,
            "physicsMassPerLength": density * area,
            "physicsBendingStiffness": modulus * second,
            "physicsAxialStiffness": modulus * area,
        }
        for pair in zip(self.nodes[:-1], self.nodes[1:], strict=True):
            if shear:
                element = item.ObjectBeamGeometricallyExact2D(
                    nodeNumbers=list(pair),
                    physicsCrossSectionInertia=density * second,
                    physicsShearStiffness=0.9 * modulus * area / (2 * (1 + POISSON)),
                    **common,
                )
            else:
                element = item.ObjectANCFCable2D(nodeNumbers=list(pair), **common)
            number = mbs.AddObject(element)
            if gravity:
                marker = mbs.AddMarker(item.MarkerBodyMass(bodyNumber=number))
                mbs.AddLoad(item.LoadMassProportional(markerNumber=marker, loadVector=[0, -gravity, 0]))
        self.start, self.end = (mbs.AddMarker(item.MarkerNodePosition(nodeNumber=self.nodes[k])) for k in (0, -1))


def hinge(mbs, first, second):
    """A revolute joint between two markers."""
    mbs.AddObject(item.ObjectJointRevolute2D(markerNumbers=[first, second]))


def crank_slider(mbs, elements=8, shear=0, modulus=0.2e12):
    """The crank is a heavy disc that turns freely: no function of time is called."""
    node = mbs.AddNode(item.NodeRigidBody2D(initialVelocities=[0, 0, 150.0]))
    crank = mbs.AddObject(item.ObjectRigidBody2D(physicsMass=1e6, physicsInertia=1e6, nodeNumber=node))
    ground = mbs.AddObject(item.ObjectGround())
    fixed = mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=ground))
    hinge(mbs, fixed, mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=crank)))
    pin = mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=crank, localPosition=[0.15, 0, 0]))
    coupler = Beam(mbs, 0.15, 0.3, 6e-3, modulus, 7870.0, elements, shear, rates=(22.5, -75.0))
    hinge(mbs, pin, coupler.start)
    point = mbs.AddNode(item.NodePoint2D(referenceCoordinates=[0.45, 0]))
    mbs.AddObject(item.ObjectMassPoint2D(physicsMass=0.033, nodeNumber=point))
    hinge(mbs, coupler.end, mbs.AddMarker(item.MarkerNodePosition(nodeNumber=point)))
    height = mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=point, coordinate=1))
    zero = mbs.AddNode(item.NodePointGround())
    still = mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=zero, coordinate=0))
    mbs.AddObject(item.ObjectConnectorCoordinate(markerNumbers=[still, height]))
    return [coupler.nodes[0], coupler.nodes[elements // 2], coupler.nodes[-1]]


def chain(mbs, links=10, elements=4, shear=0, modulus=7.0e10):
    """Falling from the horizontal."""
    ground = mbs.AddObject(item.ObjectGround())
    before = mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=ground))
    for k in range(links):
        link = Beam(mbs, 0.2 * k, 0.2, 2e-3, modulus, 2700.0, elements, shear, gravity=GRAVITY)
        hinge(mbs, before, link.start)
        before = link.end
    return [link.nodes[-1]]


def double_pendulum(mbs):
    """Two rigid rods."""
    ground = mbs.AddObject(item.ObjectGround())
    before, place = mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=ground)), np.zeros(2)
    for angle in (2.0 - np.pi / 2, 2.5 - np.pi / 2):
        way = np.array([np.cos(angle), np.sin(angle)])
        center = place + 0.5 * way
        node = mbs.AddNode(item.NodeRigidBody2D(referenceCoordinates=[*center, angle]))
        body = mbs.AddObject(item.ObjectRigidBody2D(physicsMass=1.0, physicsInertia=1 / 12, nodeNumber=node))
        mass = mbs.AddMarker(item.MarkerBodyMass(bodyNumber=body))
        mbs.AddLoad(item.LoadMassProportional(markerNumber=mass, loadVector=[0, -GRAVITY, 0]))
        start, end = (
            mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=body, localPosition=[x, 0, 0])) for x in (-0.5, 0.5)
        )
        hinge(mbs, before, start)
        before, place = end, place + way
    return [node]


def pinned_bar(mbs, file=""):
    """A body in a floating frame with the shapes of a file of ``pinned_bar.py``, falling about its pin."""
    given = np.load(file)
    model = FEMinterface()
    model.nodes = {"Position": given["nodes"]}
    for name in ("mass", "stiffness"):
        parts = tuple(given[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
        setattr(model, f"{name}Matrix", sparse.csr_matrix(parts))
    model.modeBasis = {"matrix": given["shapes"], "type": "NormalModes"}
    body = ObjectFFRFreducedOrderInterface(model).AddObjectFFRFreducedOrder(mbs, gravity=[0, -GRAVITY, 0])
    ground = mbs.AddObject(item.ObjectGround())
    fixed = mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=ground))
    pin, number = given["pin"].tolist(), body["oFFRFreducedOrder"]
    ends = item.MarkerSuperElementPosition(
        bodyNumber=number, meshNodeNumbers=pin, weightingFactors=[1 / len(pin)] * len(pin)
    )
    mbs.AddObject(item.ObjectJointSpherical(markerNumbers=[fixed, mbs.AddMarker(ends)]))
    return [(number, node) for node in given["tip"].tolist()]


CASES = {each.__name__: each for each in (crank_slider, chain, double_pendulum, pinned_bar)}


def solve(case, duration, step, every, sparse, damping, **parameters):
    """Seconds of the solver, and places of the nodes that are watched, shape (times, nodes, 2)."""
    system = exudyn.SystemContainer()
    mbs = system.AddSystem()
    watched = CASES[case](mbs, **parameters)
    kind = exudyn.OutputVariableType.Position
    common = {"outputVariableType": kind, "storeInternal": True, "writeToFile": False}
    sensors = [
        mbs.AddSensor(
            item.SensorSuperElement(bodyNumber=each[0], meshNodeNumber=each[1], **common)
            if isinstance(each, tuple)
            else item.SensorNode(nodeNumber=each, **common)
        )
        for each in watched
    ]
    mbs.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps = round(duration / step)
    settings.timeIntegration.endTime = duration
    settings.timeIntegration.generalizedAlpha.spectralRadius = damping
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.newton.relativeTolerance = 1e-6  # of stiff chains 1e-8 is below round-off
    settings.timeIntegration.verboseMode = 0
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = every
    solver = exudyn.LinearSolverType.EigenSparse if sparse else exudyn.LinearSolverType.EXUdense
    settings.linearSolverType = solver
    begin = time.process_time()
    mbs.SolveDynamic(settings)
    seconds = time.process_time() - begin
    rows = [np.array(mbs.GetSensorStoredData(sensor)) for sensor in sensors]
    return seconds, rows[0][:, 0].tolist(), [row[:, 1:3].tolist() for row in rows]


if __name__ == "__main__":
    given = dict(each.split("=", 1) for each in sys.argv[2:])
    given = {key: value if key == "file" else float(value) for key, value in given.items()}
    whole = {"elements", "shear", "links", "sparse", "repeats"}
    given = {key: int(value) if key in whole else value for key, value in given.items()}
    repeats = given.pop("repeats", 1)
    runs = [solve(sys.argv[1], **given) for _ in range(repeats)]
    seconds, times, places = min(runs, key=lambda run: run[0])
    print(json.dumps({"version": exudyn.__version__, "seconds": seconds, "times": times, "places": places}))
