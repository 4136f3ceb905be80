"""Random bodies of all kinds that meet and rub: ``python -m fuzz --meetings`` in the folder ``tests``.

Two or three bodies fly at each other, maybe into a surface of the ground. The ledger closes, what is free keeps its
momenta, nothing but an error of the package ends a run.
"""

import traceback
from collections.abc import Callable, Iterator

import numpy as np
import skfem

import phlexible as ph
from fuzz.outcomes import Outcome

LEDGER, MOMENTUM = 1e-10, 1e-10
LIGHT = 1e-9  # [J] of what hardly moves
SIZE, STEP, STEPS = 0.1, 2e-3, 40
RUBBER = ph.Material(1e7, 1000.0, poissons_ratio=0.3)

Adding = Callable[[ph.Model, np.ndarray, dict], object]


def rigid(make: Callable[[], ph.RigidBody]) -> Adding:
    return lambda model, place, moving: model.add(make(), position=place, **moving)


def shaped(shape: object) -> ph.RigidBody:
    return ph.RigidBody(1.0, (2e-3, 3e-3, 2.5e-3), shape=shape)


def line(body: object) -> Adding:
    def add(model: ph.Model, place: np.ndarray, moving: dict) -> object:
        if isinstance(body, ph.String):
            ends = [place - (SIZE, 0, 0), place + (SIZE, 0, 0)]
            return model.add(body, shape=ends, velocity=moving["velocity"])
        return model.add(body, position=place - (SIZE, 0, 0), **({} if isinstance(body, ph.Rod) else moving))

    return add


def soft(model: ph.Model, place: np.ndarray, moving: dict) -> object:
    body = ph.SoftBody(skfem.MeshHex().scaled((SIZE,) * 3), ph.NeoHookean(1e5, 0.3), 1000.0, order=1)
    return model.add(body, position=place - SIZE / 2, velocity=moving["velocity"])


STONE = ph.TriangleMesh(  # a wedge
    SIZE * np.array([[-1, -0.4, 0], [1, -0.4, 0], [0, -0.4, 0.9], [-1, 0.4, 0], [1, 0.4, 0], [0.2, 0.4, 0.8]]),
    [[0, 1, 2], [3, 5, 4], [0, 3, 4], [0, 4, 1], [1, 4, 5], [1, 5, 2], [2, 5, 3], [2, 3, 0]],
)


def meshed(model: ph.Model, place: np.ndarray, moving: dict) -> object:
    """All of the surface of a block that keeps eight modes."""
    mesh = skfem.MeshHex.init_tensor(*(np.linspace(-0.5 * SIZE, 0.5 * SIZE, 3),) * 3)
    body = ph.FlexibleBody.from_mesh(mesh, ph.Material(1e6, 1000.0, poissons_ratio=0.3), modes=8)
    return ph.MeshSurface(model.add(body, position=place, **moving))


BODIES: dict[str, Adding] = {
    "ball": rigid(lambda: ph.RigidBody.sphere(SIZE / 2, 1000.0)),
    "box": rigid(lambda: ph.RigidBody.box((SIZE, 0.7 * SIZE, 0.5 * SIZE), 1000.0)),
    "drum": rigid(lambda: ph.RigidBody.cylinder(SIZE / 2, SIZE, 1000.0)),
    "bar": rigid(lambda: ph.RigidBody.box((2.6 * SIZE, 0.4 * SIZE, 0.5 * SIZE), 1000.0)),
    "log": rigid(lambda: ph.RigidBody.cylinder(0.3 * SIZE, 2.4 * SIZE, 1000.0, axis=(0, 1, 0))),
    "stone": rigid(lambda: ph.RigidBody.from_mesh(STONE.vertices, STONE.triangles, 1000.0)),
    "ring": rigid(lambda: shaped(ph.Torus(SIZE, 0.3 * SIZE))),
    "rod": line(ph.Rod(2 * SIZE, ph.CircularSection(0.1 * SIZE), RUBBER, elements=3)),
    "beam": line(ph.Beam(2 * SIZE, ph.CircularSection(0.1 * SIZE), RUBBER)),
    "string": line(ph.String(2 * SIZE, 0.5, 4, ph.LinearLaw(1e3))),
    "soft": soft,
    "meshed": meshed,
}
SURFACES: dict[str, Callable[[ph.Model], object]] = {
    "plane": lambda model: ph.Plane(model.ground.at((0, 0, -3 * SIZE)), normal=(0.1, 0.2, 1)),
    "sphere": lambda model: ph.Surface(model.ground.at((0, 0, -6 * SIZE)), ph.Sphere(3 * SIZE)),
    "bowl": lambda model: ph.Surface(model.ground.at((0, 0, 0)), ph.Sphere(8 * SIZE), inside=True),
    "block": lambda model: ph.Surface(model.ground.at((0, 0, -4 * SIZE)), ph.Box((3 * SIZE, 3 * SIZE, 2 * SIZE))),
    "rail": lambda model: ph.Surface(
        model.ground.at((0, 0, -3 * SIZE)), ph.Box((9 * SIZE, 0.3 * SIZE, 0.3 * SIZE))
    ),
    "walls": lambda model: ph.Surface(model.ground.at((0, 0, 0)), ph.Box((12 * SIZE,) * 3), inside=True),
    "tube": lambda model: ph.Surface(model.ground.at((0, 0, -4 * SIZE)), ph.Cylinder(SIZE, 1.0, axis=(0, 1, 0))),
    "pipe": lambda model: ph.Surface(
        model.ground.at((0, 0, 0)), ph.Cylinder(6 * SIZE, 1.0, axis=(0, 1, 0)), inside=True
    ),
    "torus": lambda model: ph.Surface(model.ground.at((0, 0, -5 * SIZE)), ph.Torus(2 * SIZE, SIZE)),
    "bar": lambda model: ph.Capsule(
        model.ground.at((-4 * SIZE, 0, -4 * SIZE)), model.ground.at((4 * SIZE, 0, -4 * SIZE)), SIZE
    ),
}


def drawn(seed: int) -> tuple[ph.Model, bool, str]:
    """A model of a seed, whether it is free, and what it has."""
    rng = np.random.default_rng([seed, 31])
    names = [str(name) for name in rng.choice(list(BODIES), int(rng.integers(2, 4)))]
    surface = str(rng.choice([*SURFACES, "", "", ""]))
    gravity = (0, 0, -9.81) if surface and rng.random() < 0.7 else (0, 0, 0)
    model = ph.Model(gravity=gravity)
    ways = np.array([[1, 0, 0], [-0.5, 0.8, 0], [-0.5, -0.8, 0]]) + rng.uniform(-0.2, 0.2, (3, 3))
    bodies = []
    for name, way in zip(names, ways, strict=False):
        moving = {"velocity": -rng.uniform(2, 6) * way, "angular_velocity": rng.normal(size=3)}
        bodies.append(BODIES[name](model, 2.6 * SIZE * way, moving))
    sides = [*bodies, SURFACES[surface](model)] if surface else bodies
    stiffness = float(10 ** rng.uniform(3, 4.5))
    friction = float(rng.choice([0.0, 0.3, 1.0]))
    options = {
        "stiffness": stiffness,
        "friction": friction,
        "damping": float(rng.choice([0.0, 3.0])) * stiffness,
        "exponent": float(rng.choice([1.0, 1.0, 1.5])),
        "bristle": float(rng.uniform(0.1, 1.0)) * stiffness,
        "static_friction": 1.3 * friction if friction and rng.random() < 0.3 else None,
    }
    if not friction:
        options["bristle"] = None
    second = None
    if rng.random() < 0.3:
        half = int(rng.integers(1, len(sides)))
        sides, second = sides[:half], sides[half:]
    radius = 0.1 * SIZE * float(rng.random() < 0.7)  # points touch what has a thickness
    model.apply(ph.Contact(sides, second, radius=radius, **options))
    words = f"{', '.join(names)}{' on ' + surface if surface else ''}, {options}, {second is not None}"
    return model, not surface, words


def failures(seed: int) -> Iterator[str]:
    """What the run of a seed does not obey; errors of the package that draw or end it are no failures of it."""
    try:
        model, is_free, words = drawn(seed)
        motion = model.simulate(STEPS * STEP, STEP, progress=False)
    except ph.PhlexibleError as error:
        yield f"refused: {error}"
        return
    energy = motion.energy.total + motion.energy.dissipated
    scale = LIGHT + motion.energy.kinetic.max() + motion.energy.spring.max() + motion.energy.strain.max()
    missed = float(np.abs(motion.energy.balance_error).max() / scale)
    if not missed <= LEDGER or not np.isfinite(energy).all():
        yield f"ledger {missed:.1e}: {words}"
    if np.diff(motion.energy.dissipated).min() < -1e-12 * scale:
        yield f"gains {np.diff(motion.energy.dissipated).min():.1e}: {words}"
    for name, momentum in (("momentum", motion.momentum.linear), ("angular", motion.momentum.angular)):
        missed = float(np.ptp(momentum, axis=0).max() / max(np.abs(momentum).max(), 1e-2))
        if is_free and not missed <= MOMENTUM:
            yield f"{name} {missed:.1e}: {words}"
    yield "" if motion.contact_steps[-1] else "apart"


def outcome_of_meeting(seed: int) -> Outcome:
    """What becomes of bodies that fly at each other: "fine" where they have met."""
    try:
        told = list(failures(seed))
    except Exception as error:  # what must not happen
        return Outcome(f"raw {type(error).__name__}", True, traceback.format_exc())
    if wrong := [text for text in told if text not in ("", "apart") and not text.startswith("refused")]:
        return Outcome("breaks a law", True, "; ".join(wrong))
    return Outcome(told[0].split(":")[0] or "fine", False, told[0])
