"""Bodies that the tests of port-Hamiltonian forms take, and states of them that are no special case."""

import numpy as np
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.bodies.mechanics.floating import split_velocity
from phlexible.papers.floating_forms import BodyState

SOFT = ph.Material(youngs_modulus=2e6, density=1000.0, poissons_ratio=0.3)


def beam(**options):
    chosen = {"elements": 2, "material": SOFT, "frame": "mean_axis", **options}
    return ph.Beam(length=0.5, section=ph.RectangularSection(0.03, 0.05), **chosen)


BODIES = {
    "point mass": ph.PointMass(2.0),
    "rigid body": ph.RigidBody(2.0, (1.0, 2.0, 2.5), center=(0.1, 0.2, 0.0)),
    "beam": beam(),
    "cantilever": beam(frame="cantilever", rotary_inertia=False),
    "linear beam": beam(frame="simply_supported", strain="linear"),
    "damped modal beam": beam(material=ph.Material(2e6, 1000.0, 0.3, viscosity=1e-3), modes=3, damping_ratio=0.02),
}
FORMS = [(name, dimension) for name in BODIES for dimension in (2, 3)]


def random_state(form, seed=0, bend=0.02):
    """x of a form, eta and nu; the body turned, bent (stress to match) and moving at random."""
    rng, body = np.random.default_rng(seed), form.body
    turn = rng.normal(size=3) * (np.array([0, 0, 1]) if body.dimension == 2 else 1)
    rotation = Rotation.from_rotvec(turn).as_matrix() if body.rotates else form.fixed_rotation
    eta, nu = bend * rng.normal(size=body.elastic_count), rng.normal(size=body.velocity_count)
    place = rng.normal(size=3)
    state = BodyState(place, rotation, eta, *split_velocity(body, nu), form.stress_space.stress(eta))
    return form.joined(state), eta, nu


def velocity_slice(form):
    end = form.state_size - form.stress_space.size
    return slice(end - form.body.velocity_count, end)
