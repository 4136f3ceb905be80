"""Flexible multibody dynamics in port-Hamiltonian form.

Bodies are immutable descriptions, a ``Model`` places and joins them, ``Model.simulate`` returns a
``Motion``. SI units, angles in radians. ``phlexible.gallery`` holds ready models.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from phlexible import errors
from phlexible.errors import (
    AttachmentError,
    ConvergenceError,
    EquilibriumError,
    FunctionError,
    JointGapError,
    LargeDeflectionWarning,
    LargeStrainWarning,
    LeftOutWarning,
    MeshWarning,
    MissingExtraError,
    ModelError,
    ParameterError,
    PhlexibleError,
    PoleError,
    ReductionWarning,
    RedundancyError,
    RedundancyWarning,
    ResultFileError,
    SingularMassError,
    SlackStringWarning,
    StepWarning,
    StiffeningWarning,
    StructureError,
    UnusedPartWarning,
    VelocityError,
)
from phlexible.version import __version__

if TYPE_CHECKING:
    from phlexible import gallery
    from phlexible.bodies.beam.beam import Beam
    from phlexible.bodies.beam.lumped_mass import LumpedMass
    from phlexible.bodies.flexible.files.read_matrices import read_matrices
    from phlexible.bodies.flexible.flexible_body import FlexibleBody
    from phlexible.bodies.flexible.plates.plate import Plate
    from phlexible.bodies.forms.linearized import linearized
    from phlexible.bodies.forms.momentum import with_momenta
    from phlexible.bodies.material import Material
    from phlexible.bodies.point_mass import PointMass
    from phlexible.bodies.rigid_body import RigidBody
    from phlexible.bodies.rod.rod import Rod
    from phlexible.bodies.soft.law import InvariantLaw, NeoHookean, SoftLaw, StVenantKirchhoff
    from phlexible.bodies.soft.soft_body import SoftBody
    from phlexible.bodies.string.law import LinearLaw, LogarithmicLaw, StVenantKirchhoffLaw
    from phlexible.bodies.string.string import String
    from phlexible.bodies.string.user_law import Law
    from phlexible.derivatives.costs import Cost
    from phlexible.derivatives.gradient import Objective, gradient
    from phlexible.derivatives.linear_models import (
        ModeDerivatives,
        ResponseDerivatives,
        mode_derivatives,
        response_derivatives,
    )
    from phlexible.derivatives.sensitivity import Sensitivity
    from phlexible.elements.general_section import GeneralSection
    from phlexible.elements.sections import CircularSection, RectangularSection, Section
    from phlexible.elements.varying_section import VaryingSection
    from phlexible.interactions.bushing import Bushing
    from phlexible.interactions.distributed_force import DistributedForce
    from phlexible.interactions.feedback import Feedback
    from phlexible.interactions.force_elements import SpringDamper
    from phlexible.interactions.loads import Force, Torque
    from phlexible.interactions.potentials import Potential
    from phlexible.interactions.pressure import Pressure
    from phlexible.interactions.resisting.contact import Contact
    from phlexible.interactions.resisting.contacts import Contacts
    from phlexible.interactions.resisting.surfaces import Capsule, Plane, Surface
    from phlexible.joints.cylindrical import Cylindrical
    from phlexible.joints.distance import Distance
    from phlexible.joints.fixed import Fixed
    from phlexible.joints.planar import Planar
    from phlexible.joints.prismatic import Prismatic
    from phlexible.joints.relations import Belt, Gear, Rack, Relation, Screw
    from phlexible.joints.revolute import Revolute
    from phlexible.joints.rolling import Rolling
    from phlexible.joints.slider import Slider
    from phlexible.joints.spherical import Spherical
    from phlexible.joints.universal import Universal
    from phlexible.linear_analysis.inverse_input import inverse_input
    from phlexible.linear_analysis.signals.joint_signals import JointForce
    from phlexible.model import Model
    from phlexible.port_hamiltonian.adapted import inverted, with_prefix
    from phlexible.port_hamiltonian.interconnection import gyrator, transformer
    from phlexible.port_hamiltonian.linear import LinearPHDAE
    from phlexible.port_hamiltonian.model import PortHamiltonianModel
    from phlexible.port_hamiltonian.structure_check import check_structure
    from phlexible.ports.signal import Signal
    from phlexible.reference.mechanism_model import MechanismModel
    from phlexible.results.linear_model import LinearModel
    from phlexible.results.motion import Motion
    from phlexible.results.pictures.mode_sweep import mode_sweep
    from phlexible.results.port_models.integrate import consistent_state, integrate
    from phlexible.results.port_models.trajectory import Trajectory
    from phlexible.sensors.bodies import EnergyOf, SectionForce, Stress, Tension
    from phlexible.sensors.joints import (
        ElementForce,
        JointAcceleration,
        JointPosition,
        JointRate,
        Reaction,
        ReactionMoment,
    )
    from phlexible.sensors.points import (
        Acceleration,
        Angle,
        AngularAcceleration,
        AngularVelocity,
        Displacement,
        Position,
        Quaternion,
        Rotation,
        Velocity,
    )
    from phlexible.sensors.state_force import StateForce
    from phlexible.sensors.when import When
    from phlexible.shapes.solids import Box, Cylinder, Sphere, TriangleMesh
    from phlexible.studies.parameters import samples
    from phlexible.studies.study import Study, study

__all__ = [
    "Acceleration",
    "Angle",
    "AngularAcceleration",
    "AngularVelocity",
    "AttachmentError",
    "Beam",
    "Belt",
    "Box",
    "Bushing",
    "Capsule",
    "CircularSection",
    "Contact",
    "Contacts",
    "ConvergenceError",
    "Cost",
    "Cylinder",
    "Cylindrical",
    "Displacement",
    "Distance",
    "DistributedForce",
    "ElementForce",
    "EnergyOf",
    "EquilibriumError",
    "Feedback",
    "Fixed",
    "FlexibleBody",
    "Force",
    "FunctionError",
    "Gear",
    "GeneralSection",
    "InvariantLaw",
    "JointAcceleration",
    "JointForce",
    "JointGapError",
    "JointPosition",
    "JointRate",
    "LargeDeflectionWarning",
    "LargeStrainWarning",
    "Law",
    "LeftOutWarning",
    "LinearLaw",
    "LinearModel",
    "LinearPHDAE",
    "LogarithmicLaw",
    "LumpedMass",
    "Material",
    "MechanismModel",
    "MeshWarning",
    "MissingExtraError",
    "ModeDerivatives",
    "Model",
    "ModelError",
    "Motion",
    "NeoHookean",
    "Objective",
    "ParameterError",
    "PhlexibleError",
    "Planar",
    "Plane",
    "Plate",
    "PointMass",
    "PoleError",
    "PortHamiltonianModel",
    "Position",
    "Potential",
    "Pressure",
    "Prismatic",
    "Quaternion",
    "Rack",
    "Reaction",
    "ReactionMoment",
    "RectangularSection",
    "ReductionWarning",
    "RedundancyError",
    "RedundancyWarning",
    "Relation",
    "ResponseDerivatives",
    "ResultFileError",
    "Revolute",
    "RigidBody",
    "Rod",
    "Rolling",
    "Rotation",
    "Screw",
    "Section",
    "SectionForce",
    "Sensitivity",
    "Signal",
    "SingularMassError",
    "SlackStringWarning",
    "Slider",
    "SoftBody",
    "SoftLaw",
    "Sphere",
    "Spherical",
    "SpringDamper",
    "StVenantKirchhoff",
    "StVenantKirchhoffLaw",
    "StateForce",
    "StepWarning",
    "StiffeningWarning",
    "Stress",
    "String",
    "StructureError",
    "Study",
    "Surface",
    "Tension",
    "Torque",
    "Trajectory",
    "TriangleMesh",
    "Universal",
    "UnusedPartWarning",
    "VaryingSection",
    "Velocity",
    "VelocityError",
    "When",
    "__version__",
    "check_structure",
    "consistent_state",
    "damping_injection",
    "energy_shaping",
    "errors",
    "from_urdf",
    "gallery",
    "gradient",
    "gym",
    "gyrator",
    "integrate",
    "inverse_input",
    "inverted",
    "lft",
    "linearized",
    "mode_derivatives",
    "mode_sweep",
    "passive_observer",
    "read_matrices",
    "response_derivatives",
    "samples",
    "shared_energy_shaping",
    "study",
    "transformer",
    "with_momenta",
    "with_prefix",
]

_LATER = {
    "Acceleration": "sensors.points",
    "Angle": "sensors.points",
    "AngularAcceleration": "sensors.points",
    "AngularVelocity": "sensors.points",
    "Beam": "bodies.beam.beam",
    "Belt": "joints.relations",
    "Box": "shapes.solids",
    "Bushing": "interactions.bushing",
    "Capsule": "interactions.resisting.surfaces",
    "CircularSection": "elements.sections",
    "Contact": "interactions.resisting.contact",
    "Contacts": "interactions.resisting.contacts",
    "Cost": "derivatives.costs",
    "Cylinder": "shapes.solids",
    "Cylindrical": "joints.cylindrical",
    "Displacement": "sensors.points",
    "Distance": "joints.distance",
    "DistributedForce": "interactions.distributed_force",
    "ElementForce": "sensors.joints",
    "EnergyOf": "sensors.bodies",
    "Feedback": "interactions.feedback",
    "Fixed": "joints.fixed",
    "FlexibleBody": "bodies.flexible.flexible_body",
    "Force": "interactions.loads",
    "Gear": "joints.relations",
    "GeneralSection": "elements.general_section",
    "InvariantLaw": "bodies.soft.law",
    "JointAcceleration": "sensors.joints",
    "JointForce": "linear_analysis.signals.joint_signals",
    "JointPosition": "sensors.joints",
    "JointRate": "sensors.joints",
    "Law": "bodies.string.user_law",
    "LinearLaw": "bodies.string.law",
    "LinearModel": "results.linear_model",
    "LinearPHDAE": "port_hamiltonian.linear",
    "LogarithmicLaw": "bodies.string.law",
    "LumpedMass": "bodies.beam.lumped_mass",
    "Material": "bodies.material",
    "MechanismModel": "reference.mechanism_model",
    "ModeDerivatives": "derivatives.linear_models",
    "Model": "model",
    "Motion": "results.motion",
    "NeoHookean": "bodies.soft.law",
    "Objective": "derivatives.gradient",
    "Planar": "joints.planar",
    "Plane": "interactions.resisting.surfaces",
    "Plate": "bodies.flexible.plates.plate",
    "PointMass": "bodies.point_mass",
    "PortHamiltonianModel": "port_hamiltonian.model",
    "Position": "sensors.points",
    "Potential": "interactions.potentials",
    "Pressure": "interactions.pressure",
    "Prismatic": "joints.prismatic",
    "Quaternion": "sensors.points",
    "Rack": "joints.relations",
    "Reaction": "sensors.joints",
    "ReactionMoment": "sensors.joints",
    "RectangularSection": "elements.sections",
    "Relation": "joints.relations",
    "ResponseDerivatives": "derivatives.linear_models",
    "Revolute": "joints.revolute",
    "Rolling": "joints.rolling",
    "RigidBody": "bodies.rigid_body",
    "Rod": "bodies.rod.rod",
    "Rotation": "sensors.points",
    "Screw": "joints.relations",
    "Section": "elements.sections",
    "SectionForce": "sensors.bodies",
    "Sensitivity": "derivatives.sensitivity",
    "Signal": "ports.signal",
    "Slider": "joints.slider",
    "SoftBody": "bodies.soft.soft_body",
    "SoftLaw": "bodies.soft.law",
    "Sphere": "shapes.solids",
    "Spherical": "joints.spherical",
    "SpringDamper": "interactions.force_elements",
    "StVenantKirchhoff": "bodies.soft.law",
    "StVenantKirchhoffLaw": "bodies.string.law",
    "StateForce": "sensors.state_force",
    "Stress": "sensors.bodies",
    "String": "bodies.string.string",
    "Study": "studies.study",
    "Surface": "interactions.resisting.surfaces",
    "Tension": "sensors.bodies",
    "Torque": "interactions.loads",
    "Trajectory": "results.port_models.trajectory",
    "TriangleMesh": "shapes.solids",
    "Universal": "joints.universal",
    "VaryingSection": "elements.varying_section",
    "Velocity": "sensors.points",
    "When": "sensors.when",
    "check_structure": "port_hamiltonian.structure_check",
    "damping_injection": "passive_control.energy_shaping",
    "energy_shaping": "passive_control.energy_shaping",
    "passive_observer": "passive_control.observer",
    "shared_energy_shaping": "passive_control.several_joints",
    "lft": "results.control.lft",
    "consistent_state": "results.port_models.integrate",
    "from_urdf": "exchange.urdf",
    "gradient": "derivatives.gradient",
    "gyrator": "port_hamiltonian.interconnection",
    "integrate": "results.port_models.integrate",
    "inverse_input": "linear_analysis.inverse_input",
    "inverted": "port_hamiltonian.adapted",
    "linearized": "bodies.forms.linearized",
    "mode_derivatives": "derivatives.linear_models",
    "mode_sweep": "results.pictures.mode_sweep",
    "read_matrices": "bodies.flexible.files.read_matrices",
    "response_derivatives": "derivatives.linear_models",
    "samples": "studies.parameters",
    "study": "studies.study",
    "transformer": "port_hamiltonian.interconnection",
    "with_momenta": "bodies.forms.momentum",
    "with_prefix": "port_hamiltonian.adapted",
}


def __getattr__(name: str) -> object:
    """Public names, imported when first asked for: NumPy, SciPy's sparse matrices and HDF5 load slowly."""
    if name in ("gallery", "gym"):
        return import_module(f"phlexible.{name}")
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"phlexible.{_LATER[name]}"), name)
    import_module("phlexible.display.signatures").shorten(found)
    return found


def __dir__() -> list[str]:
    """All public names."""
    return __all__
