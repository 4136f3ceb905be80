"""The public names, each in one place: loaded when asked for, and read by type checkers."""

from . import errors as errors, gallery as gallery, gym as gym
from .bodies.beam.beam import Beam as Beam
from .bodies.beam.lumped_mass import LumpedMass as LumpedMass
from .bodies.flexible.files.read_matrices import read_matrices as read_matrices
from .bodies.flexible.flexible_body import FlexibleBody as FlexibleBody
from .bodies.flexible.plates.plate import Plate as Plate
from .bodies.forms.linearized import linearized as linearized
from .bodies.forms.momentum import with_momenta as with_momenta
from .bodies.material import Material as Material
from .bodies.point_mass import PointMass as PointMass
from .bodies.rigid_body import RigidBody as RigidBody
from .bodies.rod.rod import Rod as Rod
from .bodies.soft.law import (
    InvariantLaw as InvariantLaw,
    NeoHookean as NeoHookean,
    SoftLaw as SoftLaw,
    StVenantKirchhoff as StVenantKirchhoff,
)
from .bodies.soft.soft_body import SoftBody as SoftBody
from .bodies.string.law import (
    LinearLaw as LinearLaw,
    LogarithmicLaw as LogarithmicLaw,
    StVenantKirchhoffLaw as StVenantKirchhoffLaw,
)
from .bodies.string.string import String as String
from .bodies.string.user_law import Law as Law
from .derivatives.costs import Cost as Cost
from .derivatives.gradient import Objective as Objective, gradient as gradient
from .derivatives.linear_models import (
    ModeDerivatives as ModeDerivatives,
    ResponseDerivatives as ResponseDerivatives,
    mode_derivatives as mode_derivatives,
    response_derivatives as response_derivatives,
)
from .derivatives.sensitivity import Sensitivity as Sensitivity
from .elements.general_section import GeneralSection as GeneralSection
from .elements.sections import (
    CircularSection as CircularSection,
    RectangularSection as RectangularSection,
    Section as Section,
)
from .elements.varying_section import VaryingSection as VaryingSection
from .errors import (
    AttachmentError as AttachmentError,
    ConvergenceError as ConvergenceError,
    EquilibriumError as EquilibriumError,
    FunctionError as FunctionError,
    JointGapError as JointGapError,
    LargeDeflectionWarning as LargeDeflectionWarning,
    LargeStrainWarning as LargeStrainWarning,
    LeftOutWarning as LeftOutWarning,
    MeshWarning as MeshWarning,
    MissingExtraError as MissingExtraError,
    ModelError as ModelError,
    ParameterError as ParameterError,
    PhlexibleError as PhlexibleError,
    PoleError as PoleError,
    ReductionWarning as ReductionWarning,
    RedundancyError as RedundancyError,
    RedundancyWarning as RedundancyWarning,
    ResultFileError as ResultFileError,
    SingularMassError as SingularMassError,
    SlackStringWarning as SlackStringWarning,
    StepWarning as StepWarning,
    StiffeningWarning as StiffeningWarning,
    StructureError as StructureError,
    UnitWarning as UnitWarning,
    UnusedPartWarning as UnusedPartWarning,
    VelocityError as VelocityError,
)
from .exchange.urdf import from_urdf as from_urdf
from .interactions.bushing import Bushing as Bushing
from .interactions.distributed_force import DistributedForce as DistributedForce
from .interactions.feedback import Feedback as Feedback
from .interactions.force_elements import SpringDamper as SpringDamper
from .interactions.loads import Force as Force, Torque as Torque
from .interactions.potentials import Potential as Potential
from .interactions.pressure import Pressure as Pressure
from .interactions.resisting.contact import Contact as Contact
from .interactions.resisting.contacts import Contacts as Contacts
from .interactions.resisting.surfaces import Capsule as Capsule, Plane as Plane, Surface as Surface
from .joints.cylindrical import Cylindrical as Cylindrical
from .joints.distance import Distance as Distance
from .joints.fixed import Fixed as Fixed
from .joints.planar import Planar as Planar
from .joints.prismatic import Prismatic as Prismatic
from .joints.relations import Belt as Belt, Gear as Gear, Rack as Rack, Relation as Relation, Screw as Screw
from .joints.revolute import Revolute as Revolute
from .joints.rolling import Rolling as Rolling
from .joints.slider import Slider as Slider
from .joints.spherical import Spherical as Spherical
from .joints.universal import Universal as Universal
from .linear_analysis.inverse_input import inverse_input as inverse_input
from .linear_analysis.signals.joint_signals import JointForce as JointForce
from .model import Model as Model
from .passive_control.energy_shaping import (
    damping_injection as damping_injection,
    energy_shaping as energy_shaping,
)
from .passive_control.observer import passive_observer as passive_observer
from .passive_control.several_joints import shared_energy_shaping as shared_energy_shaping
from .port_hamiltonian.adapted import inverted as inverted, with_prefix as with_prefix
from .port_hamiltonian.interconnection import gyrator as gyrator, transformer as transformer
from .port_hamiltonian.linear import LinearPHDAE as LinearPHDAE
from .port_hamiltonian.model import PortHamiltonianModel as PortHamiltonianModel
from .port_hamiltonian.structure_check import check_structure as check_structure
from .ports.signal import Signal as Signal
from .reference.mechanism_model import MechanismModel as MechanismModel
from .results.control.lft import lft as lft
from .results.linear_model import LinearModel as LinearModel
from .results.motion import Motion as Motion
from .results.pictures.mode_sweep import mode_sweep as mode_sweep
from .results.port_models.integrate import consistent_state as consistent_state, integrate as integrate
from .results.port_models.trajectory import Trajectory as Trajectory
from .sensors.bodies import (
    EnergyOf as EnergyOf,
    SectionForce as SectionForce,
    Stress as Stress,
    Tension as Tension,
)
from .sensors.joints import (
    ElementForce as ElementForce,
    JointAcceleration as JointAcceleration,
    JointPosition as JointPosition,
    JointRate as JointRate,
    Reaction as Reaction,
    ReactionMoment as ReactionMoment,
)
from .sensors.points import (
    Acceleration as Acceleration,
    Angle as Angle,
    AngularAcceleration as AngularAcceleration,
    AngularVelocity as AngularVelocity,
    Displacement as Displacement,
    ElasticDisplacement as ElasticDisplacement,
    Position as Position,
    Quaternion as Quaternion,
    Rotation as Rotation,
    Velocity as Velocity,
)
from .sensors.state_force import StateForce as StateForce
from .sensors.when import When as When
from .shapes.solids import Box as Box, Cylinder as Cylinder, Sphere as Sphere, TriangleMesh as TriangleMesh
from .studies.parameters import samples as samples
from .studies.study import Study as Study, study as study
from .version import __version__ as __version__
