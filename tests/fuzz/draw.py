"""The case of a seed: a random mechanism with anything in it, and how it is run."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import phlexible as ph
from formulas import formula
from fuzz.additions import push_by_state, roll, switch_joints, touch_a_piece
from fuzz.case import EQUILIBRIUM, Case
from fuzz.copies import Change, copied
from fuzz.lines import hang_shell, haul, slide
from fuzz.rods import hang_rod
from laws.cases import BODY_CASES, Scale, random_place
from laws.elements import ELEMENT_CASES, Adding, with_elements, with_relation
from laws.models import DEFORMED, H_OMEGA, UNDEFORMED, Sample, Wishes, random_mechanism
from ordinary.models import HEIGHT, LENGTH, MATERIALS, model
from ordinary.table import POINTS, drawn_rows
from phlexible.bodies.rod import RodNode
from phlexible.description.interactions.drives import Servo
from phlexible.description.interactions.rod_element import RodElement
from phlexible.description.joints.joint import Joint
from phlexible.description.ports import PlacedBody
from phlexible.step.integration.composition import check_lossless

STEPS = 40
FEW_STEPS = 10  # of small cases
FEW_MOVING = 0.4, 0.4, 0.2
ORDINARY = 0.1
"""Share of cases that begin with an ordinary model: clamps at the origin, axes along gravity, at rest."""

DRAWN = [kind for kind in ELEMENT_CASES if kind not in (RodElement, Servo, ph.Tendon)]
"""Elements that are put between any bodies; rods make elements, servos and tendons are drawn by themselves."""


def drawn(seed: int, is_small: bool = False) -> Case:
    """The case of a seed; a small one has two bodies, and one or two more on a string, and takes few steps."""
    rng = np.random.default_rng([seed, 1])
    body = rng.choice([None, None, None, *(k for k in BODY_CASES if k not in (RodNode, ph.Plate, ph.Shell))])
    wishes = Wishes(
        dimension=int(rng.integers(2, 4)),
        h_omega=float(rng.choice(H_OMEGA)),
        ground=str(rng.choice(["free", "fixed", "moving"], p=FEW_MOVING if is_small else None)),
        gravity=bool(rng.integers(2)),
        loads=int(rng.integers(4)),
        loop=bool(rng.random() < 0.15),
        body=body,
        bodies=2 if is_small else None,
    )
    limit = BODY_CASES[body].h_omega if body else np.inf
    if wishes.loop:  # all is at rest, and at large steps it jumps between its two closures
        wishes, limit = replace(wishes, gravity=True), min(limit, 10.0)
    elif rng.random() < (0.05 if is_small else 0.2):
        wishes = replace(wishes, initial=DEFORMED)
    if np.random.default_rng([seed, 5]).random() < ORDINARY:
        sample = _ordinary(np.random.default_rng([seed, 6]))
    else:
        sample = random_mechanism(seed, replace(wishes, h_omega=min(wishes.h_omega, limit)))
    damped = bool(rng.random() < 0.3)
    if rng.random() < 0.2:
        hang_rod(rng, sample)
    for kind in DRAWN:
        if rng.random() < 0.2:
            with_elements(seed, sample, [kind], damped)
    if np.random.default_rng([seed, 7]).random() < 0.2:
        with_elements(seed, sample, [Servo], damped)
    if np.random.default_rng([seed, 9]).random() < 0.2:
        with_elements(seed, sample, [ph.Tendon], damped)
    if (own := np.random.default_rng([seed, 8])).random() < 0.05:
        push_by_state(own, sample, damped)
    if rng.random() < 0.1:
        _lay_down(rng, sample, damped)
    steps = FEW_STEPS if is_small else STEPS
    lines = np.random.default_rng([seed, 10])  # what follows has dice of its own, so that older mechanisms stay
    for kind, share in ((hang_shell, 0.1), (slide, 0.5), (haul, 0.15)):
        if lines.random() < share:
            kind(lines, sample, damped, steps * sample.step)
    is_driven = _act(rng, sample, steps)
    if not is_driven and sample.initial is not DEFORMED and rng.random() < 0.1:
        with_relation(seed, sample)
    if rng.random() < 0.3:
        sample = sample.damped(**{str(rng.choice(["viscosity", "damping_ratio"])): 0.05})
    is_displaced = bool(rng.random() < (0.1 if is_small else 0.25))
    if is_displaced:
        if rng.random() < 0.5:
            _close_a_loop(rng, sample)
        sample = replace(sample, model=_displaced(rng, sample))
    options, more = _options(rng, sample), np.random.default_rng([seed, 3])
    if more.random() < 0.08:
        touch_a_piece(more, sample, damped)
    is_rolling = not is_displaced and more.random() < 0.05 and roll(more, sample)
    is_assembled = is_displaced or is_driven or is_rolling
    made = Case(sample.model, float(sample.step), steps, options, is_assembled, is_small)
    return _with_beginning_and_end(np.random.default_rng([seed, 4]), sample, made)


def _with_beginning_and_end(rng: np.random.Generator, sample: Sample, case: Case) -> Case:
    """Maybe at rest or in equilibrium at the start, with joints that lock and let go, ended by a condition."""
    options, duration = case.options, case.steps * case.step
    if rng.random() < 0.15:
        sample = replace(sample, model=copied(sample.model, is_at_rest=True))
        if rng.random() < 0.3 and not case.is_small:  # to find that there is none takes its time
            options = options | {"initial": EQUILIBRIUM}
    if rng.random() < 0.15:
        switch_joints(rng, sample, duration)
    end = duration * rng.uniform(0.3, 0.9) if rng.random() < 0.1 else None
    return replace(case, model=sample.model, options=options, end=end)


def _ordinary(rng: np.random.Generator) -> Sample:
    """A model of the table of ordinary ones, whose body carries another and can carry more."""
    row = next(row for row in drawn_rows(rng) if row.body not in POINTS and row.tip != "nothing")
    scale = Scale(LENGTH, HEIGHT, MATERIALS[row.material].density, MATERIALS[row.material].youngs_modulus)
    return Sample(model(row), row.step, DEFORMED if row.start == DEFORMED.value else UNDEFORMED, scale)


def _options(rng: np.random.Generator, sample: Sample) -> dict[str, Any]:
    options: dict[str, Any] = {"initial": sample.initial.value}
    kind = rng.random()
    if kind < 0.15:
        options["numerical_damping"] = 0.05
    elif kind < 0.3 and _is_lossless(sample.model):
        options["order"] = 4
    return options


def _is_lossless(model: ph.Model) -> bool:
    """Whether steps of order 4 are possible, one part of which goes backwards."""
    try:
        check_lossless(model, 0.0)
    except ph.ModelError:
        return False
    return True


def _act(rng: np.random.Generator, sample: Sample, steps: int) -> bool:
    """A prescribed force, a motor or a drive in a coordinate of a joint, or nothing; whether it is a drive."""
    adding, kind = Adding(rng, sample), rng.random()
    found = adding.coordinate()
    if kind > 0.35 or found is None:
        return False
    joint, name = found
    is_angle = name.endswith("angle")
    size, rate = 1.0 if is_angle else sample.scale.length, 1 / (steps * sample.step)
    force = 0.1 * adding.stiffness * sample.scale.length**2 / size
    names = list(joint.coordinate_names)
    if kind < 0.12:
        value = formula("lambda time: {force} * np.cos({rate} * time)", force=force, rate=rate)
        sample.model.apply((joint.torque if is_angle else joint.force)(value, of=name))
    elif kind < 0.22 and len(names) == 1:
        begin = joint.initial_coordinate(sample.model.dimension, name)
        text = "lambda time, measured: {gains} @ ({target} - measured)"
        inertia = sample.scale.mass * (sample.scale.length / size) ** 2
        gain = min(
            0.1 * force / size, 0.1 * inertia * rate / sample.step
        )  # held over a step, more would feed energy
        target, gains = np.array([begin + 0.3 * size, 0.0]), gain * np.array([1.0, 1 / rate])
        sample.model.apply(joint.motor(formula(text, gains=gains, target=target), of=name))
    elif joint.second.has_orientation or not is_angle:
        begin = joint.initial_coordinate(sample.model.dimension, name)
        # It starts without acceleration: one of this rate would bend soft beams beyond what they hold at rest.
        text = "lambda time: {begin} + {size} * np.sin({rate} * time) ** 4"
        path = formula(text, begin=begin, size=0.2 * size, rate=rate)
        sample.model.apply(joint.drive(**{"angle" if is_angle else "position": path}, of=name))
        return True
    return False


def _lay_down(rng: np.random.Generator, sample: Sample, damped: bool) -> None:
    model = sample.model
    port = _place(rng, sample, model.bodies[rng.integers(len(model.bodies))])
    chord = sample.scale.length * rng.normal(size=3) * _axes(model)
    foot = model.ground.at(port.initial_position() - chord)
    if contact := Adding(rng, sample).touching(foot, port, chord, damped):
        model.apply(contact)


def _close_a_loop(rng: np.random.Generator, sample: Sample) -> None:
    """A joint between two bodies that have none yet, or between a body and the ground; assembled later."""
    model = sample.model
    joined = [{port.placed for port in (j.first, j.second) if hasattr(port, "placed")} for j in model.joints]
    hanging = {part for rod in model.rods for node in rod.handle.parts for part in (node, *_carried(model, node))}
    bodies = [placed for placed in model.bodies if placed not in hanging]  # loops would tear rods
    if not bodies:
        return
    one, two = bodies[rng.integers(len(bodies))], bodies[rng.integers(len(bodies))]
    port = _place(rng, sample, one)
    if one is two or any({one, two} <= each for each in joined):
        near = port.initial_position() + 0.1 * sample.scale.length * rng.normal(size=3) * _axes(model)
        model.connect(ph.Spherical(model.ground.at(near), port))
        return
    joint: list[Joint] = [ph.Spherical(port, other := _place(rng, sample, two))]
    gap = np.linalg.norm(port.initial_position() - other.initial_position())
    if gap > 0.1 * sample.scale.length:
        joint.append(ph.Distance(port, other, length=gap * rng.uniform(0.9, 1.1)))
    model.connect(joint[rng.integers(len(joint))])


def _place(rng: np.random.Generator, sample: Sample, placed: PlacedBody) -> Any:
    return random_place(rng, placed.body, sample.scale, sample.model.dimension)(placed)


def _carried(model: ph.Model, node: PlacedBody) -> list[PlacedBody]:
    """Bodies that hang on the section of a rod."""
    ends = [(joint.first, joint.second) for joint in model.joints]
    return [two.placed for one, two in ends if getattr(one, "placed", None) is node]


def _displaced(rng: np.random.Generator, sample: Sample) -> ph.Model:
    """With bodies at places that are a little wrong."""
    model, axes = sample.model, _axes(sample.model)
    changes = {}
    for placed in model.bodies:
        turn = 0.05 * rng.normal(size=3) * ((1, 1, 1) if model.dimension == 3 else (0, 0, 1))
        shift = 0.02 * sample.scale.length * rng.normal(size=3) * axes
        changes[placed.name] = Change(Rotation.from_rotvec(turn).as_matrix(), shift)
    for rod in model.rods:  # as a whole
        changes |= {node.name: Change(shift=changes[rod.handle.parts[0].name].shift) for node in rod.handle.parts}
    return copied(model, displaced=changes)


def _axes(model: ph.Model) -> tuple[int, int, int]:
    return 1, 1, int(model.dimension == 3)
