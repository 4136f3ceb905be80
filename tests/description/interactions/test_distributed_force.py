"""Forces along beams: resultants, closed forms, the work in the ledger, static and linear paths, files."""

import numpy as np
import pytest

import phlexible as ph
from mechanisms import grounded
from phlexible.state.forces import applied_forces
from phlexible.state.initial_velocity import undeformed
from phlexible.state.system import system_of

LENGTH = 1.5
STEEL = ph.Material(2.0e11, 7870.0)
BEAM = ph.Beam(LENGTH, ph.RectangularSection(0.02, 0.03), STEEL, elements=3)


def cantilever(dimension=3, beam=BEAM, split=None):
    model, placed, _ = grounded(beam if split is None else beam.split(split), dimension=dimension, name="beam")
    return model, placed


def at_rest(model):
    return model.simulate(1e-6, 1e-6, initial="quasi_static", progress=False)


def tip(motion, body):
    return motion.position(body.end)[0] - [LENGTH, 0, 0]


@pytest.mark.parametrize("split", [None, 2])
@pytest.mark.parametrize("axes", ["world", "body"])
def test_uniform_force_bends_as_the_closed_form_says(axes, split) -> None:
    """v = q L^4 / (8 E I), w likewise; what the clamp carries is the resultant."""
    model, body = cantilever(split=split)
    q = np.array([0.0, 3.0, -2.0])
    model.apply(ph.DistributedForce(body, q, axes=axes))
    motion = at_rest(model)
    stiffness = 2.0e11 * np.array([BEAM.section.second_moment_z, BEAM.section.second_moment_y])
    assert tip(motion, body)[1:] == pytest.approx(q[1:] * LENGTH**4 / 8 / stiffness, rel=1e-5)
    assert motion.reaction(model.joints[-1])[0, 1:] == pytest.approx(-q[1:] * LENGTH, rel=1e-4)


def test_a_function_of_place_a_table_and_part_of_the_beam() -> None:
    """The triangle q x / L gives 11 q L^4 / (120 E I) at the end, q on the half at the clamp 7/384."""
    stiffness = 2.0e11 * BEAM.section.second_moment_z
    q, unit = 4.0, 4.0 * LENGTH**4 / stiffness
    for values, places, expected in (
        ({"value": lambda x, t: (0.0, q * x / LENGTH, 0.0)}, {}, 11 / 120),
        ({"value": [(0, 0, 0), (0, q, 0)]}, {"at": [0, LENGTH]}, 11 / 120),
        ({"value": (0, q, 0)}, {"end": LENGTH / 2}, 7 / 384),
        ({"value": (0, q, 0)}, {"start": LENGTH / 2}, 1 / 8 - 7 / 384),
        ({"value": [(0, q, 0), (0, q, 0)]}, {"at": [0, LENGTH / 2]}, 7 / 384),
    ):
        model, body = cantilever(2)
        model.apply(ph.DistributedForce(body, **values, **places))
        assert tip(at_rest(model), body)[1] == pytest.approx(expected * unit, rel=1e-5)


def test_the_table_has_its_kinks_where_it_says() -> None:
    """A hat that ends inside elements: resultant and moment about the start."""
    model, body = cantilever(2)
    load = model.apply(ph.DistributedForce(body, [(0, 0, 0), (0, 6, 0), (0, 0, 0)], at=[0.2, 0.31, 1.1]))
    motion = at_rest(model)
    assert motion.reaction(model.joints[0])[0] == pytest.approx([0, -2.7, 0], abs=1e-3)
    center = (0.2 + 0.31 + 1.1) / 3
    assert motion.reaction_moment(model.joints[0])[0, 2] == pytest.approx(-2.7 * center, rel=1e-4)
    places, weights = load.quadrature()
    assert weights.sum() == pytest.approx(0.9) and places.min() > 0.2 and places.max() < 1.1


def test_weight_as_a_distributed_force_is_gravity() -> None:
    """The same motion as under gravity, and its work is the potential energy that gravity gives."""
    motions = []
    weight = 7870.0 * BEAM.section.area * np.array([0.3, -9.81, 1.0])
    for gravity in (weight / (7870.0 * BEAM.section.area), (0, 0, 0)):
        model, body, _ = grounded(BEAM, ph.Spherical, gravity=gravity, name="beam")
        if not np.any(gravity):
            model.apply(ph.DistributedForce(body, weight, name="weight"))
        motions.append(model.simulate(0.3, 1e-3, progress=False))
    first, second = motions
    assert second.position(second["beam"].end) == pytest.approx(first.position(first["beam"].end), abs=1e-9)
    work = first.energy.gravity[0] - first.energy.gravity
    assert second.energy.work["weight"] == pytest.approx(work, abs=1e-9 * np.abs(work).max())


def test_a_follower_load_turns_with_the_sections() -> None:
    """A pressure on a beam that has turned by a quarter pushes along minus x."""
    model = ph.Model(dimension=2)
    body = model.add(BEAM, "beam", rotation=np.pi / 2)
    model.apply(ph.DistributedForce(body, (0.0, 5.0, 0.0), axes="body"))
    system = system_of(model)
    force = applied_forces(system, undeformed(system))
    assert force[:3] == pytest.approx([-5 * LENGTH, 0, 0], abs=1e-12)  # V of the centre in world axes, w
    motion = model.simulate(1e-3, 1e-4, progress=False)
    assert motion.momentum.linear[-1] == pytest.approx([-5 * LENGTH * 1e-3, 0, 0], abs=1e-7)


def test_static_and_linear_paths() -> None:
    """Equilibrium under the load; as an input it is the resultant on the rigid motion."""
    model, body = cantilever(2)
    load = model.apply(ph.DistributedForce(body, (0.0, -50.0, 0.0)))
    static = model.linearize(inputs=[load], outputs=[ph.Displacement(body.end, (0, 1, 0))], at="static")
    gain = static.to_state_space().dcgain()
    expected = -50 * LENGTH**4 / (8 * 2.0e11 * BEAM.section.second_moment_z)
    assert float(np.squeeze(gain)) == pytest.approx(expected, rel=1e-4)
    with pytest.raises(ph.ModelError, match="constant"):
        model.linearize(inputs=[ph.DistributedForce(body, lambda x, t: (0.0, x, 0.0))], at="static")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"value": (0, 1, 0), "start": 1.0, "end": 0.5}, "must act within"),
        ({"value": (0, 1, 0), "end": 2.0}, "must act within"),
        ({"value": [(0, 1, 0)], "at": [0.1]}, "at least two places"),
        ({"value": [(0, 1, 0), (0, 1, 0)], "at": [0.2, 0.1]}, "must ascend"),
        ({"value": [(0, 1, 0), (0, 1, 0)], "at": [0.1, 0.2], "start": 0.0}, "leave start and end"),
        ({"value": lambda x, t: (1.0, np.inf, 0.0)}, "finite"),
        ({"value": (0, 0, 1.0)}, r"\(f_x, f_y, 0\)"),
    ],
)
def test_refusals(options, message) -> None:
    model, body = cantilever(2)
    with pytest.raises(ph.ParameterError, match=message):
        model.apply(ph.DistributedForce(body, **options))
    assert model.loads == ()
