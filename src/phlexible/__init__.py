"""Flexible multibody dynamics in port-Hamiltonian form.

Bodies are immutable descriptions, a ``Model`` places and joins them, ``Model.simulate`` returns a
``Motion``. SI units, angles in radians. ``phlexible.gallery`` holds ready models.
"""

import sys

import lazy_loader

from phlexible.leaves import register_leaf_functions

_module = sys.modules[__name__]
_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

_LEAF_FUNCTIONS = {  # called by methods of lower modules, with the modules that define them
    "Shell": "phlexible.bodies.shell.shell",
    "body_form": "phlexible.papers.floating_forms",
    "live_page": "phlexible.libraries.web_page",
    "rod_form": "phlexible.papers.rod_form",
    "soft_body_form": "phlexible.papers.soft_form",
    "string_form": "phlexible.papers.strain_form",
}
register_leaf_functions(_LEAF_FUNCTIONS)

_ELSEWHERE = {  # names in other programs
    "Fixed": "Weld WeldJoint FixedJoint Rigid Clamp Lock LockJoint",
    "Revolute": "Hinge HingeJoint RevoluteJoint Pin PinJoint",
    "Spherical": "Ball BallJoint BallSocket SphericalJoint",
    "Prismatic": "Slide Translational TranslationalJoint PrismaticJoint SliderJoint",
    "Cylindrical": "CylindricalJoint",
    "Universal": "UniversalJoint Cardan CardanJoint Hooke HookeJoint",
    "Planar": "PlanarJoint",
    "Distance": "DistanceJoint DistanceConstraint ConstantDistance",
    "Screw": "ScrewJoint LeadScrew",
    "Gear": "GearJoint Gearbox GearPair",
    "Rack": "RackAndPinion RackPinion",
    "String": "Cable Wire ANCFCable ANCFCable2D CableANCF",
    "Rod": "GeometricallyExactBeam CosseratRod",
    "Shell": "ShellElement",
    "Laminate": "LayeredShellSection CompositeLayup Layup CompositeShell",
    "OrthotropicMaterial": "Ply Lamina",
    "PointMass": "Mass MassPoint Particle",
    "RigidBody": "Body Link BodyEasyBox InertialBody",
    "FlexibleBody": "FlexBody FFRF ObjectFFRF ModalBody ReducedOrderFlexibleSolid",
    "SpringDamper": "Spring Damper Dashpot TSDA TranslationalSpringDamper",
    "Bushing": "Bush BushingJoint",
    "Tendon": "Rope SpatialTendon Pulley PulleySystem ReevingSystem",
    "Model(gravity=...)": "Gravity",
    "Model": "System World MainSystem SystemContainer MultibodySystem Mechanism",
    "Model().ground": "Ground Environment",
    "Revolute(...).servo(kp, kd, angle=...)": "Servo PositionServo PDController",
    "Revolute(...).torque(...)": "Motor Actuator Drive",
}


def __getattr__(name: str) -> object:
    """A public name of ``__init__.pyi``, imported when first asked for: NumPy, SciPy and HDF5 load slowly."""
    try:
        found: object = _load(name)
    except AttributeError:  # with these two, Python says which name may be meant
        ours = next((f"; here it is ph.{own}" for own, others in _ELSEWHERE.items() if name in others.split()), "")
        text = f"module 'phlexible' has no attribute {name!r}{ours}"
        raise AttributeError(text, name=name, obj=_module) from None
    from phlexible.display import shorten

    shorten(found)
    return found
