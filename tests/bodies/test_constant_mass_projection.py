"""What the projection of u_f x w costs the constant-mass form, and where more elements do not help."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.bodies.locations import Along

STRAIN, SPIN = 1e-2, 3.0


def angular_acceleration(variant, elements, stretch):
    """dw/dt of a clamped beam that spins, bent by v = e x^2 and stretched, at rest in its frame."""
    section, material = ph.RectangularSection(0.03, 0.05), ph.Material(2e6, 1000.0)
    beam = ph.Beam(1.0, section, material, elements, "cantilever", strain="linear", rotary_inertia=False)
    form = beam.port_hamiltonian(variant, dimension=2)
    rows, values = [], []
    for x in np.arange(1, elements + 1) / elements:
        point = form.body.points.locate(Along(float(x)))
        rows += [point.shapes[0], point.shapes[1], point.rotations[2]]
        values += [stretch(x), STRAIN * x**2, 2 * STRAIN * x]
    eta = np.linalg.solve(np.array(rows), values)
    x = np.zeros(form.state_size)
    x[form.state_slice("rotation_rows")] = np.eye(2).ravel()
    x[form.state_slice("displacement")] = eta
    x[form.state_slice("angular_velocity")] = SPIN
    x[form.state_slice("elastic_velocity")] = -form.convection(eta)[:, 2] * SPIN
    x[form.state_slice("stress")] = form.stress_space.stress(eta)
    rate = np.linalg.solve(form.descriptor_matrix(x), form.forces(x, np.zeros(form.port_size)))
    return rate[form.state_slice("angular_velocity")].item()


def gaps(stretch, elements):
    """Of the constant-mass form from the full form, relative."""
    both = [[angular_acceleration(v, n, stretch) for v in ("constant_mass", "full")] for n in elements]
    return np.array([constant / full - 1 for constant, full in both])


def test_a_beam_stretched_at_its_clamp_stays_two_percent_off():
    assert gaps(lambda x: STRAIN * x, (8, 16, 32)) == pytest.approx([0.0175, 0.0195, 0.0199], abs=1e-4)


def test_without_stretch_at_the_clamp_the_gap_halves_with_the_elements():
    found = gaps(lambda x: STRAIN * x**2, (8, 16, 32))
    assert found == pytest.approx([0.00527, 0.00269, 0.00135], abs=1e-5)
