"""A part from a mesh
===================

A finite element mesh, from CAD or any mesher, becomes a body with a dozen coordinates. Here a tapered steel arm is
meshed, written to a file as a mesher would do, read again, put on a hinge and shaken. Needs ``phlexible[mesh]``.
"""

import tempfile
from pathlib import Path

import meshio
import numpy as np
from skfem import MeshHex

import phlexible as ph

HEXAHEDRON = [0, 1, 4, 2, 3, 5, 7, 6]  # corners of scikit-fem in the order of meshio

# %%
# The part: 0.3 m long, from 20 mm by 10 mm to 10 mm by 5 mm. Any file that meshio reads will do: gmsh ``.msh``,
# Abaqus ``.inp``, Nastran ``.bdf``, VTK. Lengths are metres.

mesh = MeshHex.init_tensor(np.linspace(0, 0.3, 13), np.linspace(-0.01, 0.01, 3), np.linspace(-0.005, 0.005, 2))
taper = 1 - 0.5 * mesh.p[0] / 0.3
tapered = np.array([mesh.p[0], mesh.p[1] * taper, mesh.p[2] * taper])
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "arm.vtu"
meshio.write(path, meshio.Mesh(tapered.T, [("hexahedron", mesh.t.T[:, HEXAHEDRON])]))

# %%
# Interfaces are the places for joints and loads: node numbers, groups of the file, or functions of places.
# ``"rigid"`` lets all nodes of an interface move as one. Six modes and the answers to forces on the interfaces
# are kept.

steel = ph.Material(2.0e11, 7870.0, 0.3)
arm = ph.FlexibleBody.from_mesh(
    path,
    steel,
    interfaces={"hub": (lambda x: x[0] < 1e-9, "rigid"), "tip": lambda x: x[0] > 0.3 - 1e-9},
    modes=6,
)
print(arm)

# %%
# Is it right? The mass is that of a truncated pyramid, and the first frequency of the arm, clamped at its hub,
# is that of a tapered beam: 64 beam elements on the same hub.

mass = 7870.0 * 0.3 / 3 * (2e-4 + 5e-5 + np.sqrt(2e-4 * 5e-5))


def first_frequency(body, root, end):
    model = ph.Model()
    placed = model.add(body, "arm")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), root(placed)))
    return model.linearize([ph.Force(end(placed), (0, 0, 1))]).modes(1).frequencies[0]


beam = ph.Beam(
    0.3, lambda x: ph.RectangularSection(0.02 * (1 - x / 0.6), 0.01 * (1 - x / 0.6)), steel, 64, theory="timoshenko"
)
meshed = first_frequency(arm, lambda body: body["hub"], lambda body: body["tip"])
exact = first_frequency(beam, lambda body: body.start, lambda body: body.end)
deviation = meshed / exact - 1
print(f"mass {arm.mass:.5f} kg, exactly {mass:.5f} kg")
print(f"first mode {meshed:.2f} rad/s, of the tapered beam {exact:.2f} rad/s: {100 * deviation:+.2f} %")

# %%
# On a hinge, pushed at its tip. ``point`` is any place in the mesh, for sensors.

model = ph.Model(gravity=(0.0, 0.0, -9.81))
part = model.add(arm, "arm", position=(0.1, 0.0, 0.0))
model.connect(ph.Revolute(model.ground.at((0.1, 0.0, 0.0)), part["hub"], axis=(0.0, 1.0, 0.0)))
model.apply(ph.Force(part["tip"], lambda t: (0.0, 40.0 * np.sin(900 * t), 0.0)))
motion = model.simulate(duration=0.05, step=1e-4)
bend = motion.elastic_displacement(part.point((0.15, 0.0, 0.0)))
stress = motion.mesh_stress(part, every=10).von_mises
print(f"middle moves by {1e6 * np.abs(bend[:, 1]).max():.1f} um, greatest stress {stress.max() / 1e6:.1f} MPa")
motion.plot("imported_mesh.png")
motion.report("imported_mesh.html", title="A meshed arm, pushed at its tip")
folder.cleanup()

# %%
# ``motion.export("run.pvd")`` writes all nodes for ParaView; docs/meshes.md tells what is kept and what it costs.
