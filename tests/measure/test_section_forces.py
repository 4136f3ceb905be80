"""Section forces and stress against closed forms, joint reactions and the inertia of what they carry."""

import numpy as np
import pytest

import phlexible as ph
from mechanisms import grounded
from phlexible.measure.section_forces import interpolated_along

LENGTH = 0.8
STEEL = ph.Material(2.0e11, 7870.0)
WIDE = ph.RectangularSection(width=0.01, height=0.02)
NAMES = ("normal", "shear_y", "shear_z", "torsion", "moment_y", "moment_z")
FRAMES = ("cantilever", "simply_supported", "mean_axis")


def cantilever(dimension=3, gravity=(0.0, 0.0, 0.0), split=None, **options):
    beam = ph.Beam(LENGTH, WIDE, options.pop("material", STEEL), **{"elements": 4, **options})
    body = beam if split is None else beam.split(split)
    model, placed, _ = grounded(body, gravity=gravity, dimension=dimension, name="beam")
    return model, placed


def at_rest(model):
    return model.simulate(1e-6, 1e-6, initial="quasi_static", progress=False)


def first(motion, body, x=None):
    forces = motion.section_forces(body, x)
    return forces.x, np.array([getattr(forces, name)[0] for name in NAMES])


@pytest.mark.parametrize("split", [None, 3])
@pytest.mark.parametrize("strain", ["linear", "von_karman"])
@pytest.mark.parametrize("is_modal", [False, True])
def test_an_end_force_and_an_end_moment_give_what_statics_says(strain, is_modal, split) -> None:
    """All modes are another basis of the same space."""
    modes = {None: 20, 3: 10}[split] if is_modal else None
    model, beam = cantilever(strain=strain, modes=modes, split=split)
    force, moment = np.array([3.0, 0.02, 0.03]), np.array([0.02, 0.015, -0.01])
    model.apply(ph.Force(beam.end, force))
    model.apply(ph.Torque(beam.end, moment))
    x, found = first(at_rest(model), beam)
    arm = LENGTH - x
    even = [np.full(len(x), each) for each in (*force, moment[0])]
    expected = np.array([*even, moment[1] - force[2] * arm, moment[2] + force[1] * arm])
    assert found == pytest.approx(expected, rel=2e-3, abs=2e-6)


@pytest.mark.parametrize("dimension", [2, 3])
def test_own_weight_is_exact_at_the_stations(dimension) -> None:
    model, beam = cantilever(dimension, gravity=(0.0, -9.81, 0.0), elements=3)
    weight = STEEL.density * WIDE.area * 9.81
    x, found = first(at_rest(model), beam)
    assert found[5] == pytest.approx(-weight * (LENGTH - x) ** 2 / 2, rel=2e-5, abs=1e-7)
    middle = (np.arange(3) + 0.5) * LENGTH / 3
    x, found = first(at_rest(model), beam, middle)
    assert x == pytest.approx(middle)
    assert found[1] == pytest.approx(-weight * (LENGTH - middle), rel=1e-5)
    assert np.abs(found[[2, 3, 4]]).max() < 1e-9


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_rotating_beam_carries_its_centrifugal_force(dimension, frame) -> None:
    """N = rho A Omega^2 (L^2 - x^2) / 2; its mean over an element is the element's value."""
    speed, elements = 40.0, 5
    model = ph.Model(dimension=dimension)
    body = ph.Beam(LENGTH, WIDE, STEEL, elements=elements, frame=frame)
    beam = model.add(body, "beam", angular_velocity=(0, 0, speed))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), beam.start))
    ends = np.linspace(0, LENGTH, elements + 1)
    a, b = ends[:-1], ends[1:]
    mean = STEEL.density * WIDE.area * speed**2 / 2 * (LENGTH**2 - (a * a + a * b + b * b) / 3)
    _, found = first(at_rest(model), beam, (a + b) / 2)
    assert found[0] == pytest.approx(mean, rel=1e-4)


def swinging(frame="cantilever", dimension=2, split=None, elements=6):
    """A soft light beam clamped to a ground that shakes, with a heavy tip."""
    beam = ph.Beam(LENGTH, WIDE, ph.Material(2.0e10, 1.0), elements=elements, frame=frame)
    model = ph.Model(gravity=(0.5, -9.81, 0.0), dimension=dimension)
    placed = model.add(beam if split is None else beam.split(split), "beam")
    tip = model.add(ph.PointMass(0.2), "tip", position=(LENGTH, 0, 0))
    joint = model.connect(ph.Fixed(model.ground.at((0, 0, 0)), placed.start))
    model.connect(ph.Spherical(placed.end, tip.origin))
    return model, placed, joint


@pytest.mark.parametrize("dimension", [2, 3])
def test_section_forces_at_the_clamp_are_the_reactions_of_the_joint(dimension) -> None:
    model, beam, joint = swinging(dimension=dimension)
    motion = model.simulate(0.2, 1e-3, initial="quasi_static", progress=False)
    forces = motion.section_forces(beam, 0.0)
    # The ground holds the start with minus what the beam beyond the cut exerts on the face there.
    reaction, moment = motion.reaction(joint), motion.reaction_moment(joint)
    along = [forces.normal, forces.shear_y, forces.shear_z]
    about = [forces.torsion, forces.moment_y, forces.moment_z]
    scale, size = np.abs(reaction[2:]).max(), np.abs(moment[2:]).max()
    assert -np.stack([each[2:, 0] for each in along], axis=1) == pytest.approx(reaction[2:], abs=0.01 * scale)
    assert -np.stack([each[2:, 0] for each in about], axis=1) == pytest.approx(moment[2:], abs=0.01 * size)


def test_section_forces_do_not_depend_on_the_frame_or_on_parts() -> None:
    found = []
    for frame, split in [*((frame, None) for frame in FRAMES), ("simply_supported", 2)]:
        model, beam, _ = swinging(frame, split=split)
        forces = model.simulate(0.2, 1e-3, initial="quasi_static", progress=False).section_forces(beam)
        found.append(np.array([forces.shear_y[-1], forces.moment_z[-1]]))
    for other in found[1:]:
        for name in (0, 1):
            assert other[name] == pytest.approx(found[0][name], abs=0.01 * np.abs(found[0][name]).max())


@pytest.mark.parametrize("strain", ["linear", "von_karman"])
def test_the_viscous_part_of_the_stress_is_in_the_normal_force(strain) -> None:
    """A light strut between the ground and a mass that bounces on it: N = F - m a."""
    mass, viscosity = 2.0, 1e-3
    model, beam = cantilever(2, material=ph.Material(2.0e8, 1.0, viscosity=viscosity), strain=strain, elements=1)
    tip = model.add(ph.PointMass(mass), "tip", position=(LENGTH, 0, 0))
    model.connect(ph.Spherical(beam.end, tip.origin))
    model.apply(ph.Force(tip.origin, (100.0, 0, 0)))
    step = 2e-5
    motion = model.simulate(0.02, step, progress=False)
    place = motion.position(tip.origin)[:, 0]
    acceleration = np.diff(place, 2) / step**2
    normal = motion.section_forces(beam).normal[1:-1, 0]
    assert normal == pytest.approx(100.0 - mass * acceleration, abs=2e-3 * np.abs(normal).max())
    elastic = 2.0e8 * WIDE.area * (place[1:-1] - LENGTH) / LENGTH
    assert np.abs(normal - elastic).max() > 0.02 * np.abs(normal).max()


def test_stress_at_the_extreme_fibres() -> None:
    model, beam = cantilever()
    model.apply(ph.Force(beam.end, (1000.0, 0.0, 0.0)))
    model.apply(ph.Torque(beam.end, (0.0, 2.0, 3.0)))
    motion = at_rest(model)
    stress = motion.stress(beam, 0.0)
    forces = motion.section_forces(beam, 0.0)
    bending = abs(forces.moment_y[0, 0]) * 6 / (0.01 * 0.02**2) + abs(forces.moment_z[0, 0]) * 6 / (0.02 * 0.01**2)
    assert stress.greatest[0, 0] == pytest.approx(forces.normal[0, 0] / 2e-4 + bending, rel=1e-12)
    assert stress.smallest[0, 0] == pytest.approx(forces.normal[0, 0] / 2e-4 - bending, rel=1e-12)
    # M_y > 0 pulls at +z, M_z > 0 at -y.
    corners = motion.stress(beam, 0.0, fibres=[(-0.005, 0.01), (0.005, -0.01)])
    assert corners.greatest[0, 0] == pytest.approx(stress.greatest[0, 0], rel=1e-12)
    assert corners.smallest[0, 0] == pytest.approx(stress.smallest[0, 0], rel=1e-12)


def test_stress_of_a_circle_and_of_a_section_without_outline() -> None:
    tube = ph.Section(area=1e-4, second_moment_y=2e-9)
    for section in (ph.CircularSection(0.01), tube):
        model, beam, _ = grounded(ph.Beam(LENGTH, section, STEEL, elements=2))
        model.apply(ph.Torque(beam.end, (0.0, 0.03, 0.04)))
        motion = at_rest(model)
        if section is tube:
            with pytest.raises(ph.ParameterError, match=r"fibres=\(\(y1, z1\)"):
                motion.stress(beam)
            found = motion.stress(beam, fibres=((-0.01, 0.0),)).greatest[0]
            assert found == pytest.approx(0.04 * 0.01 / 2e-9, rel=1e-2)
        else:
            assert motion.stress(beam).greatest[0] == pytest.approx(32 * 0.05 / (np.pi * 0.01**3), rel=1e-2)


def test_stations_come_back_as_they_were_asked_for() -> None:
    model, beam = cantilever(split=4, gravity=(9.81, 0.0, 0.0))
    model.apply(ph.Force(beam.end, (0.0, 0.05, 0.0)))
    motion = at_rest(model)
    places = [0.79, 0.01, 0.5, 0.2, LENGTH]
    forces = motion.section_forces(beam, places)
    assert forces.x == pytest.approx(places)
    assert forces.moment_z[0] == pytest.approx(0.05 * (LENGTH - forces.x), rel=1e-2, abs=1e-5)
    one_by_one = [motion.section_forces(beam, x).normal[0, 0] for x in places]
    assert forces.normal[0].tolist() == one_by_one
    assert len(set(one_by_one)) > 3


def test_the_normal_force_of_a_viscous_rod_grows_with_the_rate():
    """N = E A (e + viscosity de/dt) of one element whose end is pulled away evenly."""
    modulus, viscosity, speed, length = 2e6, 0.05, 0.02, 0.8
    model = ph.Model(dimension=2)
    section, soft = ph.RectangularSection(0.02, 0.03), ph.Material(modulus, 1000.0, viscosity=viscosity)
    rod = model.add(ph.Rod(length, section, soft, elements=1, order=1), "rod")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), rod.start))
    slide = model.connect(ph.Prismatic(model.ground.at((length, 0, 0)), rod.end, axis=(1, 0, 0)))
    model.apply(slide.drive(position=lambda t: speed * t))
    motion = model.simulate(0.5, 0.05, progress=False)
    strain = speed * motion.time / length
    expected = modulus * 6e-4 * (strain + viscosity * speed / length)
    assert motion.section_forces(rod).normal == pytest.approx(expected[:, None], rel=1e-8)


def test_between_the_quadrature_points_of_rods_forces_are_linear():
    places, values = np.array([0.0, 1.0, 3.0]), np.arange(18.0).reshape(1, 3, 6) ** 2
    between = interpolated_along(places, values, np.array([0.25, 2.0, 4.0]))[0]
    first, second, third = values[0]
    assert between[0] == pytest.approx(0.75 * first + 0.25 * second)
    assert between[1] == pytest.approx((second + third) / 2)
    assert between[2] == pytest.approx(third + (third - second) / 2)  # beyond the ends, too
