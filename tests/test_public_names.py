"""The public names and the price of importing them."""

import subprocess
import sys

import phlexible as ph

NAMES = {
    *("Model", "Motion", "Material", "CircularSection", "RectangularSection", "Section"),
    *("Beam", "RigidBody", "PointMass", "Force", "Torque", "gallery", "errors"),
    *("Fixed", "Revolute", "Prismatic", "Cylindrical", "Universal", "Spherical", "Planar", "Slider"),
    "Distance",
    "DistributedForce",
    *("PortHamiltonianModel", "LinearPHDAE", "check_structure", "gyrator", "transformer"),
}


def test_every_promised_name_is_there_and_listed() -> None:
    assert set(ph.__all__) >= NAMES
    assert all(hasattr(ph, name) for name in ph.__all__)
    assert ph.__all__ == sorted(ph.__all__)


def test_gallery_names_are_functions_that_return_models() -> None:
    for name in ph.gallery.__all__:
        assert isinstance(getattr(ph.gallery, name)(), ph.Model)


def test_importing_compiles_nothing_and_draws_nothing() -> None:
    heavy = ("numba", "matplotlib", "xarray", "pandas", "control", "pymor", "skfem", "scipy", "h5py")
    program = f"import sys, phlexible; print(*[m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
